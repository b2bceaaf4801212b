# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests of albert.tokenization."""

import json
import logging
import multiprocessing
import pathlib
import pickle
import random
import types

import pytest
import sentencepiece as spm

from albert import tokenization
from tests.support.shared import needs_shared, shared_path

FIXTURES = pathlib.Path(__file__).parent / "fixtures"
MODEL = str(FIXTURES / "tiny.model")
VOCAB = str(FIXTURES / "wordpiece_vocab.txt")

ARGUMENTS = {
    "spm_lower": (None, True, MODEL),
    "spm_cased": (None, False, MODEL),
    "accents_lower": (None, True, "{accents}"),
    "accents_cased": (None, False, "{accents}"),
    "wp_lower": (VOCAB, True, None),
    "wp_cased": (VOCAB, False, None),
}


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """Makes one of ARGUMENTS; those with accents have a model like the tiny one."""
    path = tmp_path_factory.mktemp("model") / "accents.model"
    path.write_bytes(tokenization.with_keep_accents(pathlib.Path(MODEL).read_bytes(), True))

    def make(name):
        vocab_file, lower, model = ARGUMENTS[name]
        return tokenization.FullTokenizer(vocab_file, lower, model and model.format(accents=path))

    return make


@pytest.fixture(scope="module", params=sorted(ARGUMENTS))
def tokenizer(request, make):
    return make(request.param)


@pytest.fixture(scope="module")
def tiny(make):
    return make("spm_lower")


@pytest.fixture(scope="module")
def tiny_wordpiece(make):
    return make("wp_lower")


# ---- against the published code ----


@pytest.fixture(scope="module")
def reference_rows():
    with open(str(shared_path("golden/tokenization.jsonl")), encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    assert len(rows) == 324
    return rows


@needs_shared
def test_preprocess_text_equals_the_reference(reference_rows):
    columns = {
        "preprocess_lower": {"lower": True},
        "preprocess_cased": {"lower": False},
        "preprocess_keepspace_lower": {"lower": True, "remove_space": False},
    }
    for row in reference_rows:
        for column, options in columns.items():
            assert tokenization.preprocess_text(row["text"], **options) == row[column]


@needs_shared
@pytest.mark.parametrize(
    "column, source, arguments",
    [
        ("spm_lower", "preprocess_lower", (None, True, "data/spm/30k-clean.model")),
        ("spm_cased", "preprocess_cased", (None, True, "data/spm/30k-clean.model")),
        ("spm_raw", "text", (None, True, "data/spm/30k-clean.model")),
        ("wp_uncased_lower", "text", ("data/wordpiece/uncased_vocab.txt", True)),
        ("wp_uncased_cased", "text", ("data/wordpiece/uncased_vocab.txt", False)),
        ("wp_zh_lower", "text", ("data/wordpiece/zh_vocab.txt", True)),
    ],
)
def test_tokens_and_ids_equal_the_references(reference_rows, column, source, arguments):
    paths = [str(shared_path(item)) if isinstance(item, str) else item for item in arguments]
    full = tokenization.FullTokenizer(*paths)
    for row in reference_rows:
        tokens = full.tokenize(row[source])
        assert tokens == row[column]["tokens"], row["text"]
        assert full.convert_tokens_to_ids(tokens) == row[column]["ids"], row["text"]


@needs_shared
def test_from_hub_module_equals_the_reference():
    info = json.loads(shared_path("golden/hub/expected_info.json").read_text(encoding="utf-8"))
    full = tokenization.FullTokenizer.from_hub_module(str(shared_path("golden/hub/module")))
    assert full.do_lower_case is info["do_lower_case"]
    for example in info["tokenizer_examples"]:
        assert full.preprocess(example["text"]) == example["preprocessed"]
        assert full.sp_model.EncodeAsPieces(example["preprocessed"]) == example["raw_pieces"]
        encoding = full.encode_with_offsets(example["text"])
        assert (encoding.pieces, encoding.ids) == (example["tokens"], example["ids"])


# ---- preparing text ----


def test_preprocess_text_collapses_decomposes_and_lowers():
    prepare = tokenization.preprocess_text
    assert prepare("  a \t ´\n b ") == "a   b"
    assert prepare(" a ", remove_space=False) == " a "
    text = "ﬁve Ｆｕｌｌ ½ café e\u0301 Å ㎏ …"
    assert prepare(text) == "five Full 1⁄2 cafe e A kg ..."
    assert prepare("ÀÉÎ", lower=True) == "aei"
    assert prepare("a \ud83d b") == "a \ufffd b"
    assert prepare(b" a  b ") == "a b"


def test_convert_to_unicode_drops_what_is_not_utf8():
    assert tokenization.convert_to_unicode("café".encode() + b"\xff") == "café"
    assert tokenization.printable_text("café".encode()) == "café"
    with pytest.raises(ValueError):
        tokenization.convert_to_unicode(7)


# ---- SentencePiece ----


def test_encode_pieces_separates_commas_behind_digits(tiny):
    model = tiny.sp_model
    assert model.EncodeAsPieces("room 3, page 13,")[-2:] == ["▁1", "3,"]
    pieces = tokenization.encode_pieces(model, "room 3, page 13,")
    assert pieces == ["▁room", "▁", "3", ",", "▁page", "▁1", "▁", "3", ","]
    # The underline that cutting again adds has an empty span.
    assert spans_of(tiny, "page 13,")[-4:] == [("▁1", "1"), ("▁", ""), ("3", "3"), (",", ",")]
    assert tokenization.encode_pieces(model, "bread, salt") == model.EncodeAsPieces("bread, salt")
    text = "in 1887, 13, or 3, days"
    pieces = tokenization.encode_pieces(model, text.encode(), False)
    assert tokenization.encode_ids(model, text) == tiny.convert_tokens_to_ids(pieces)


def test_encode_pieces_samples_spellings_of_one_text(tiny):
    model, text = tiny.sp_model, "the librarian opened the old library"
    samples = {tuple(tokenization.encode_pieces(model, text, sample=True)) for _ in range(50)}
    assert len(samples) > 1
    assert {"".join(sample) for sample in samples} == {"▁" + text.replace(" ", "▁")}


def test_tokenize_keeps_case_and_tokenize_text_lowers(tiny, make):
    assert tiny.preprocess("  The  Miller ") == "the miller"
    assert tiny.tokenize("the miller") == ["▁the", "▁miller"] != tiny.tokenize("The miller")
    assert tiny.tokenize_text("The  Miller") == ["▁the", "▁miller"]
    cased = make("spm_cased")
    assert cased.preprocess(" The  Café ") == "The Cafe"
    assert cased.tokenize_text("The") == cased.tokenize("The")


def test_encode_ids_finds_written_control_symbols(make):
    cased, text = make("spm_cased"), "a [MASK] b"
    mask = cased.vocab["[MASK]"]
    assert cased.sp_model.EncodeAsIds(text) != cased.encode_ids_batch([text])[0]
    assert mask in cased.encode_ids_batch([text])[0]
    assert mask in cased.encode_with_offsets(text).ids


def test_keep_accents_is_read_from_the_model(make):
    full, text = make("accents_lower"), "  TIẾNG \t Việt a\u0301 ﬁ İ \ud83d"
    assert full.preprocess(text) == "tiếng việt a\u0301 ﬁ i\u0307 \ufffd"
    assert full.sp_model.Normalize("tiếng a\u0301 ﬁ") == "▁tiếng▁á▁fi"
    assert full.tokenize_text("Má") == full.tokenize_text("ma\u0301") != full.tokenize_text("Ma")
    assert make("accents_cased").preprocess("Má") == "Má"
    stored = full.sp_model.serialized_model_proto()
    assert tokenization.keeps_accents(stored)
    assert tokenization.with_keep_accents(stored, True) == stored
    assert tokenization.with_keep_accents(stored, False) == pathlib.Path(MODEL).read_bytes()


# ---- WordPiece ----


@pytest.mark.parametrize(
    "lower, text, expected",
    [
        (True, " \tHeLLo!how  \n Are\x00 yoU?  ", "hello ! how are you ?"),
        (True, "H\u00e9llo ah\u535a\u63a8zz İX", "hello ah 博 推 zz ix"),
        (False, "Héllo, No-1\u200d\ufffd!", "Héllo , No - 1 !"),
        # Characters are classed as BERT classes them.
        (False, "a\xa0b\u3000c\x0bd\u200be\xadf\ue000g\x7f", "a b cdef\ue000g"),
        (False, "a!b$c^d|e。f§g€h°i£", "a ! b $ c ^ d | e 。 f § g€h°i£"),
    ],
)
def test_basic_tokenizer_cuts_words_signs_and_chinese_characters(lower, text, expected):
    assert tokenization.BasicTokenizer(do_lower_case=lower).tokenize(text) == expected.split(" ")


def test_wordpiece_takes_the_longest_token_from_the_left():
    tokens = ["[UNK]", "want", "##wa", "##want", "##ed", "wa", "un", "runn", "##ing"]
    wordpiece = tokenization.WordpieceTokenizer({token: i for i, token in enumerate(tokens)})
    assert wordpiece.tokenize("") == []
    assert wordpiece.tokenize("unwanted  running") == ["un", "##want", "##ed", "runn", "##ing"]
    assert wordpiece.tokenize("unwantedx running") == ["[UNK]", "runn", "##ing"]


def test_wordpiece_gives_up_on_words_beyond_the_limit():
    wordpiece = tokenization.WordpieceTokenizer({"a": 0, "##a": 1}, unk_token="?")
    assert wordpiece.tokenize("a" * 200) == ["a"] + ["##a"] * 199
    assert wordpiece.tokenize("a" * 201) == ["?"]
    short = tokenization.WordpieceTokenizer({"a": 0, "##a": 1}, "[UNK]", 2)
    assert short.tokenize("aa aaa") == ["a", "##a", "[UNK]"]


# ---- offsets ----

ALPHABET = [
    *"aeiost  \t\n.,-1239AZ'\"()éÅİßﬁﬃ½…´¨\u0301Ａ１，　㎏①²₂ﷺ™日本。、がガ한국𠀀مש",
    *"\u200f\u200d\u200b\xad\ufeff😀\x00\x07\x7f\x85\u2028Σ\xa0▁\ufffd\ue000€£–“",
    *["the ", " water", "3,", " 12, ", "1887,", "  ", "é", "ẹ́", "ｶﾞ", "中文", "한", "رحبا", "שָׁלוֹם"],
    *["हिन्दी", "ไทย", "👩\u200d👩\u200d👧", "🏳️", "👍🏽", "1️⃣", "##", "[MASK]", "[CLS]", "<unk>"],
]


def random_texts(count, seed=0):
    generator = random.Random(seed)
    for _ in range(count):
        yield "".join(generator.choice(ALPHABET) for _ in range(generator.randrange(1, 40)))


def normal_form(tokenizer, text):
    """What tokens spell for `text`, without spaces and the tokens' own signs."""
    if tokenizer.sp_model is None:
        form = "".join(tokenizer.basic_tokenizer.tokenize(text))
    else:
        form = tokenizer.sp_model.Normalize(tokenizer.preprocess(text)).replace("▁", "")
    return form.replace("ς", "σ")  # which of the two a capital sigma becomes depends on the word


def spelled(tokenizer, piece):
    if tokenizer.sp_model is not None:
        piece = piece.replace("▁", "")
    elif piece.startswith("##"):
        piece = piece[2:]
    return piece.replace("ς", "σ")


def check_order(tokenizer, text):
    encoding = tokenizer.encode_with_offsets(text)
    pieces, ids, starts, ends = encoding
    assert pieces == tokenizer.tokenize_text(text), repr(text)
    assert ids == tokenizer.convert_tokens_to_ids(pieces), repr(text)
    assert len(pieces) == len(starts) == len(ends)
    assert starts == sorted(starts) and ends == sorted(ends), repr(text)
    assert all(0 <= start <= end <= len(text) for start, end in zip(starts, ends)), repr(text)
    return encoding


def check_offsets(tokenizer, text):
    pieces, _, starts, ends = check_order(tokenizer, text)
    slices = [text[start:end] for start, end in zip(starts, ends)]
    assert slices == [part.strip() for part in slices], repr(text)
    covered = {index for span in zip(starts, ends) for index in range(*span)}
    lost = [char for index, char in enumerate(text) if index not in covered]
    assert not any(normal_form(tokenizer, char) for char in lost), (text, lost)
    for piece, part, start, end, before, after in zip(
        pieces, slices, starts, ends, [0, *ends], [*starts[1:], len(text)]
    ):
        if before <= start < end <= after and piece != "[UNK]":  # shares no character
            assert normal_form(tokenizer, part) == spelled(tokenizer, piece), (text, piece, part)


def test_offsets_are_consistent_on_random_text(tokenizer):
    for text in random_texts(2000):
        check_offsets(tokenizer, text)


@pytest.mark.parametrize(
    "options",
    [
        {"byte_fallback": True},
        {"add_dummy_prefix": False},
        {"remove_extra_whitespaces": False},
        {"normalization_rule_name": "nmt_nfkc_cf"},
        {"normalization_rule_name": "identity"},
    ],
    ids=lambda options: "-".join(map(str, list(options.items())[0])),
)
def test_offsets_are_consistent_for_other_sentencepiece_models(tmp_path, options):
    spm.SentencePieceTrainer.train(
        input=str(FIXTURES / "corpus.txt"),
        model_prefix=str(tmp_path / "other"),
        vocab_size=700 if "byte_fallback" in options else 300,
        hard_vocab_limit=False,
        bos_id=-1,
        eos_id=-1,
        minloglevel=2,
        **options,
    )
    full = tokenization.FullTokenizer(None, True, str(tmp_path / "other.model"))
    check = check_order if "byte_fallback" in options else check_offsets
    for text in random_texts(300):
        check(full, text)


def spans_of(full, text):
    encoding = full.encode_with_offsets(text)
    spans = zip(encoding.starts, encoding.ends)
    return [(piece, text[start:end]) for piece, (start, end) in zip(encoding.pieces, spans)]


def test_offsets_point_into_the_original_text(tiny, tiny_wordpiece, make):
    encoding = tiny.encode_with_offsets("The miller opened")
    assert encoding.pieces == ["▁the", "▁miller", "▁open", "ed"]
    assert list(zip(encoding.starts, encoding.ends)) == [(0, 3), (4, 10), (11, 15), (15, 17)]
    spans = spans_of(tiny, "wa\u0301ter ½ 中文")
    assert spans[:4] == [("▁water", "wa\u0301ter"), ("▁1", "½"), ("⁄", "½"), ("2", "½")]
    assert spans[4:] == [("▁", ""), ("中文", "中文")]
    spans = spans_of(tiny_wordpiece, "文Thé😀 x，")
    assert spans == [("文", "文"), ("[UNK]", "Thé😀"), ("x", "x"), ("[UNK]", "，")]
    assert spans_of(make("accents_lower"), "Vie\u0323\u0302t")[-2] == ("ệ", "e\u0323\u0302")


def test_text_without_words_has_no_tokens(tokenizer):
    for text in ("", " ", "\t\n", "\u3000", "\u200b", b""):
        assert tokenizer.encode_with_offsets(text) == ([], [], [], [])
        assert tokenizer.tokenize_text(text) == []
        assert tokenizer.encode_ids_batch([text]) == [[]]


# ---- batches and processes ----


def test_encode_ids_batch_equals_tokens_and_ids_also_after_a_fork(tokenizer):
    texts = list(random_texts(1000))
    expected = [tokenizer.convert_tokens_to_ids(tokenizer.tokenize_text(text)) for text in texts]
    assert tokenizer.encode_ids_batch(texts, num_threads=2) == expected
    assert tokenizer.encode_ids_batch([text.encode("utf-8") for text in texts]) == expected
    assert pickle.loads(pickle.dumps(tokenizer)).encode_ids_batch(texts) == expected
    with multiprocessing.get_context("fork").Pool(1) as pool:
        result = pool.apply_async(tokenizer.encode_ids_batch, (texts,), {"num_threads": 2})
        assert result.get(timeout=60) == expected


# ---- vocabularies ----


def write_vocab(folder, content):
    path = folder / "vocab.txt"
    path.write_bytes(content.encode("utf-8"))
    return str(path)


@pytest.mark.parametrize(
    "content, expected",
    [
        ("[PAD]\n[UNK]\nthe\n##s\n", ["[PAD]", "[UNK]", "the", "##s"]),
        ("a\nb\u2028\n\u2028\nc\x85d\n", ["a", "b", " ", "c"]),
        ("\ufeff<pad>\t0\r\n▁the\t-2.5\r\n\r\n\n", ["<pad>", "▁the"]),
    ],
    ids=["plain", "other line separators", "scores, Windows line ends, byte order mark"],
)
def test_load_vocab_numbers_lines(tmp_path, content, expected):
    vocab = tokenization.load_vocab(write_vocab(tmp_path, content))
    assert list(vocab.items()) == [(token, index) for index, token in enumerate(expected)]


@pytest.mark.parametrize("content", ["[UNK]\nb\nb\n", "[UNK]\n\nb\n\n\nc", "", "[PAD]\nthe\n"])
def test_vocabulary_with_wrong_ids_is_refused(tmp_path, content):
    with pytest.raises(ValueError, match="vocab.txt"):
        tokenization.FullTokenizer(write_vocab(tmp_path, content))


@pytest.mark.parametrize(
    "arguments, named",
    [
        (("no/vocab.txt", True), "no/vocab.txt"),
        ((None, True, str(FIXTURES)), "fixtures"),
        (("", True, ""), "spm_model_file"),
        ((None, True, str(FIXTURES / "tiny.vocab")), "tiny.vocab"),
        ((MODEL,), "tiny.model"),
    ],
)
def test_tokenizer_names_a_wrong_file(arguments, named):
    with pytest.raises(ValueError, match=named):
        tokenization.FullTokenizer(*arguments)


def test_tokenizer_reads_through_gfile():
    assert len(tokenization.FullTokenizer(None, True, f"file://{MODEL}").vocab) == 400
    assert len(tokenization.FullTokenizer(f"file://{VOCAB}").vocab) == 257


def test_convert_tokens_and_ids(tiny, tiny_wordpiece):
    assert tiny.convert_tokens_to_ids(["▁the", "no such piece", b"[CLS]"]) == [14, 1, 2]
    assert tiny.convert_ids_to_tokens([14, 1, 2]) == ["▁the", "<unk>", "[CLS]"]
    assert tiny.required_ids(["[SEP]", "<pad>"]) == [3, 0]
    for function, wrong in (
        (tiny.required_ids, ["[CLS]", "[PAD]"]),
        (tiny.convert_ids_to_tokens, [400000]),
        (tiny_wordpiece.convert_tokens_to_ids, ["the", "zebra"]),
    ):
        with pytest.raises(ValueError):
            function(wrong)
    assert list(tiny.inv_vocab.items()) == list(enumerate(tiny.vocab))
    assert tokenization.convert_tokens_to_ids({"a": 5, "b": 7}, ["b", "a"]) == [7, 5]
    assert tokenization.convert_ids_to_tokens({5: "a", 7: "b"}, [7, 5]) == ["b", "a"]
    assert tokenization.whitespace_tokenize("  a\tb ") == ["a", "b"]


def test_check_vocab_size_needs_a_row_for_each_id(tiny, caplog):
    with caplog.at_level(logging.WARNING, logger="albert"):
        tokenization.check_vocab_size(tiny, 512)
        assert not caplog.records
        tokenization.check_vocab_size(tiny, 30000)
    assert len(caplog.records) == 1
    with_gaps = types.SimpleNamespace(vocab={"a": 0, "b": 9})
    tokenization.check_vocab_size(with_gaps, 10)
    for full, size in ((with_gaps, 9), (tiny, 399)):
        with pytest.raises(ValueError, match=str(size)):
            tokenization.check_vocab_size(full, size)
