# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests of albert.tokenization."""

import json
import logging
import multiprocessing
import pathlib
import pickle
import random
import subprocess
import sys
import unicodedata

import pytest
import sentencepiece as spm

from albert import tokenization
from tests.support.shared import needs_shared, shared_path

FIXTURES = pathlib.Path(__file__).parent / "fixtures"
MODEL = str(FIXTURES / "tiny.model")
VOCAB = str(FIXTURES / "wordpiece_vocab.txt")

TOKENIZERS = {
    "spm_lower": lambda: tokenization.FullTokenizer(None, True, MODEL),
    "spm_cased": lambda: tokenization.FullTokenizer(None, False, MODEL),
    "wp_lower": lambda: tokenization.FullTokenizer(VOCAB, True),
    "wp_cased": lambda: tokenization.FullTokenizer(VOCAB, False),
}


@pytest.fixture(scope="module", params=sorted(TOKENIZERS))
def tokenizer(request):
    return TOKENIZERS[request.param]()


@pytest.fixture(scope="module")
def tiny():
    return TOKENIZERS["spm_lower"]()


@pytest.fixture(scope="module")
def tiny_wordpiece():
    return TOKENIZERS["wp_lower"]()


class LogLines(logging.Handler):
    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


@pytest.fixture
def log_lines():
    logger = logging.getLogger("albert")
    handler, level = LogLines(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield handler.lines
    logger.removeHandler(handler)
    logger.setLevel(level)


# --------------------------------------------------------------------- against the published code


@pytest.fixture(scope="module")
def reference_rows():
    with open(str(shared_path("golden/tokenization.jsonl")), encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def different(rows, actual, expected):
    return [row["text"] for row in rows if actual(row) != expected(row)]


@needs_shared
@pytest.mark.parametrize(
    ("column", "options"),
    [
        ("preprocess_lower", {"lower": True}),
        ("preprocess_cased", {"lower": False}),
        ("preprocess_keepspace_lower", {"lower": True, "remove_space": False}),
    ],
)
def test_text_is_prepared_as_by_the_published_code(reference_rows, column, options):
    assert not different(
        reference_rows,
        lambda row: tokenization.preprocess_text(row["text"], **options),
        lambda row: row[column],
    )


@needs_shared
@pytest.mark.parametrize(
    ("column", "source", "tokenizer_arguments"),
    [
        ("spm_lower", "preprocess_lower", (None, True, "data/spm/30k-clean.model")),
        ("spm_cased", "preprocess_cased", (None, True, "data/spm/30k-clean.model")),
        ("spm_raw", "text", (None, True, "data/spm/30k-clean.model")),
        ("wp_uncased_lower", "text", ("data/wordpiece/uncased_vocab.txt", True)),
        ("wp_uncased_cased", "text", ("data/wordpiece/uncased_vocab.txt", False)),
        ("wp_zh_lower", "text", ("data/wordpiece/zh_vocab.txt", True)),
    ],
)
def test_pieces_and_ids_are_those_of_the_published_code(
    reference_rows, column, source, tokenizer_arguments
):
    paths = [
        str(shared_path(item)) if isinstance(item, str) else item for item in tokenizer_arguments
    ]
    full = tokenization.FullTokenizer(*paths)

    def pieces_and_ids(row):
        pieces = full.tokenize(row[source])
        return pieces, full.convert_tokens_to_ids(pieces)

    assert len(reference_rows) == 324
    assert not different(
        reference_rows, pieces_and_ids, lambda row: (row[column]["tokens"], row[column]["ids"])
    )


@needs_shared
def test_every_path_from_raw_text_gives_the_published_pieces(reference_rows):
    full = tokenization.FullTokenizer(None, True, str(shared_path("data/spm/30k-clean.model")))
    texts = [row["text"] for row in reference_rows]
    expected = [row["spm_lower"] for row in reference_rows]
    assert [full.tokenize_text(text) for text in texts] == [row["tokens"] for row in expected]
    assert full.encode_ids_batch(texts) == [row["ids"] for row in expected]
    assert full.encode_ids_batch(texts, num_threads=2) == [row["ids"] for row in expected]
    encodings = full.encode_batch(texts, num_processes=1)
    assert [encoding.pieces for encoding in encodings] == [row["tokens"] for row in expected]
    assert [encoding.ids for encoding in encodings] == [row["ids"] for row in expected]


@needs_shared
def test_offsets_keep_their_promises_on_the_published_texts(reference_rows):
    for arguments in (
        (None, True, str(shared_path("data/spm/30k-clean.model"))),
        (str(shared_path("data/wordpiece/zh_vocab.txt")), True),
    ):
        full = tokenization.FullTokenizer(*arguments)
        for row in reference_rows:
            check_offsets(full, row["text"])


@needs_shared
def test_tokenizer_of_a_hub_module_is_the_published_one():
    info = json.loads(shared_path("golden/hub/expected_info.json").read_text(encoding="utf-8"))
    full = tokenization.FullTokenizer.from_hub_module(str(shared_path("golden/hub/module")))
    assert full.do_lower_case is info["do_lower_case"]
    for example in info["tokenizer_examples"]:
        assert full.preprocess(example["text"]) == example["preprocessed"]
        assert full.sp_model.EncodeAsPieces(example["preprocessed"]) == example["raw_pieces"]
        assert full.tokenize_text(example["text"]) == example["tokens"]
        assert full.encode_ids_batch([example["text"]]) == [example["ids"]]
        assert full.encode_with_offsets(example["text"]).ids == example["ids"]


@needs_shared
def test_fast_ids_equal_pieces_and_ids_on_a_book():
    full = tokenization.FullTokenizer(None, True, str(shared_path("data/spm/30k-clean.model")))
    with open(str(shared_path("data/text/books_en.txt")), encoding="utf-8") as stream:
        lines = [line for _, line in zip(range(4000), stream)]
    expected = [full.convert_tokens_to_ids(full.tokenize_text(line)) for line in lines]
    assert full.encode_ids_batch(lines) == expected


# --------------------------------------------------------------------------------- preparing text


def test_white_space_is_collapsed_before_characters_decompose():
    assert tokenization.preprocess_text("  a \t ´\n b ") == "a   b"
    assert tokenization.preprocess_text(" a ", remove_space=False) == " a "


def test_compatibility_characters_decompose_and_marks_go():
    text = "ﬁve Ｆｕｌｌ ½ café e\u0301 Å ㎏ …"
    assert tokenization.preprocess_text(text) == "five Full 1⁄2 cafe e A kg ..."
    assert tokenization.preprocess_text("ÀÉÎ", lower=True) == "aei"


ASSIGNED = [chr(i) for i in range(0x30000) if unicodedata.category(chr(i)) not in ("Cn", "Cs")]


def test_decomposing_character_by_character_is_decomposing_the_text():
    text = "".join(random.Random(1).sample(ASSIGNED, len(ASSIGNED)))
    parts = unicodedata.normalize("NFKD", text)
    expected = "".join(part for part in parts if not unicodedata.combining(part))
    assert tokenization.preprocess_text(text, remove_space=False) == expected


def test_lower_case_never_changes_the_number_of_prepared_characters():
    for char in ASSIGNED:
        prepared = tokenization.preprocess_text(char, remove_space=False)
        assert len(prepared.lower()) == len(prepared), hex(ord(char))


def test_half_a_surrogate_pair_becomes_the_replacement_character(tiny):
    text = "a \ud83d b"
    assert tokenization.preprocess_text(text) == "a \ufffd b"
    assert tiny.tokenize_text(text) == tiny.tokenize_text("a \ufffd b")


def test_bytes_are_utf8_and_what_is_not_is_dropped():
    assert tokenization.convert_to_unicode("café".encode() + b"\xff") == "café"
    assert tokenization.printable_text("café".encode()) == "café"
    assert tokenization.preprocess_text(b" a  b ") == "a b"


def test_text_of_another_type_is_refused():
    with pytest.raises(ValueError, match="str or bytes, not int: 7"):
        tokenization.convert_to_unicode(7)


def test_characters_are_classed_as_bert_classes_them():
    assert all(tokenization._is_whitespace(char) for char in " \t\n\r\xa0\u3000")
    assert not any(tokenization._is_whitespace(char) for char in "a\u2028\x0b\u200b")
    assert all(tokenization._is_control(char) for char in "\x00\x0b\x7f\u200d\xad")
    assert not any(tokenization._is_control(char) for char in "a\t\n\r\ue000\u0301")
    assert all(tokenization._is_punctuation(char) for char in "!/:@[`{~$^|-。、¿§")
    assert not any(tokenization._is_punctuation(char) for char in "aZ09 é中€£°\x7f")


# --------------------------------------------------------------------------------- SentencePiece


def test_comma_behind_a_digit_is_a_piece_of_its_own(tiny):
    assert tiny.sp_model.EncodeAsPieces("room 3, page 13,")[-2:] == ["▁1", "3,"]
    pieces = tokenization.encode_pieces(tiny.sp_model, "room 3, page 13,")
    assert pieces == ["▁room", "▁", "3", ",", "▁page", "▁1", "▁", "3", ","]


def test_underline_that_cutting_again_adds_stays_and_is_an_empty_span(tiny):
    encoding = tiny.encode_with_offsets("page 13,")
    assert encoding.pieces[-4:] == ["▁1", "▁", "3", ","]
    assert list(zip(encoding.starts, encoding.ends))[-4:] == [(5, 6), (6, 6), (6, 7), (7, 8)]


def test_comma_behind_a_word_stays_as_the_model_cuts_it(tiny):
    text = "bread, salt"
    assert tokenization.encode_pieces(tiny.sp_model, text) == tiny.sp_model.EncodeAsPieces(text)


def test_encode_ids_are_the_ids_of_encode_pieces(tiny):
    text = "in 1887, 13, or 3, days"
    pieces = tokenization.encode_pieces(tiny.sp_model, text)
    assert tokenization.encode_ids(tiny.sp_model, text) == tiny.convert_tokens_to_ids(pieces)


def test_pieces_are_text_whatever_is_passed_or_asked_for(tiny):
    expected = tokenization.encode_pieces(tiny.sp_model, "the water")
    assert tokenization.encode_pieces(tiny.sp_model, b"the water", False) == expected
    assert all(isinstance(piece, str) for piece in expected)


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info >= (3, 8), reason="TensorFlow 1.15 only")
def test_sampling_after_tensorflow_is_refused_and_does_not_crash():
    program = (
        "import tensorflow\nfrom albert import tokenization\n"
        f"full = tokenization.FullTokenizer(None, True, {str(FIXTURES / 'tiny.model')!r})\n"
        "tokenization.encode_pieces(full.sp_model, 'water', sample=True)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert "Import albert.tokenization (or sentencepiece) before tensorflow" in done.stderr


def test_sampled_pieces_spell_the_same_text_in_several_ways(tiny):
    text = "the librarian opened the old library"
    samples = {
        tuple(tokenization.encode_pieces(tiny.sp_model, text, sample=True)) for _ in range(50)
    }
    assert len(samples) > 1
    assert {"".join(sample) for sample in samples} == {"▁" + text.replace(" ", "▁")}
    assert len(tokenization.encode_ids(tiny.sp_model, text, sample=True)) > 1


def test_tokenize_leaves_case_alone_and_tokenize_text_applies_the_rule(tiny):
    assert tiny.preprocess("  The  Miller ") == "the miller"
    assert tiny.tokenize("the miller") == ["▁the", "▁miller"]
    assert tiny.tokenize("The miller") != ["▁the", "▁miller"]
    assert tiny.tokenize_text("The  Miller") == ["▁the", "▁miller"]
    cased = tokenization.FullTokenizer(None, False, MODEL)
    assert cased.preprocess(" The  Café ") == "The Cafe"
    assert cased.tokenize_text("The") == cased.tokenize("The")


def test_unknown_characters_that_spell_a_control_symbol_get_the_published_id():
    cased = tokenization.FullTokenizer(None, False, MODEL)
    mask = cased.vocab["[MASK]"]
    assert cased.sp_model.EncodeAsIds("a [MASK] b") != cased.encode_ids_batch(["a [MASK] b"])[0]
    assert mask in cased.encode_ids_batch(["a [MASK] b"])[0]
    assert mask in cased.convert_tokens_to_ids(cased.tokenize_text("a [MASK] b"))
    assert mask in cased.encode_with_offsets("a [MASK] b").ids


def test_special_pieces_have_the_ids_of_the_recipe(tiny):
    assert tiny.required_ids(["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]) == [0, 1, 2, 3, 4]


def test_required_piece_that_is_missing_is_an_error(tiny):
    with pytest.raises(ValueError, match=r"400 pieces lacks \[PAD\], \[UNK\]"):
        tiny.required_ids(["[CLS]", "[PAD]", "[UNK]"])


# ------------------------------------------------------------------------------------- WordPiece


def test_basic_tokenizer_cuts_words_signs_and_chinese_characters():
    lower = tokenization.BasicTokenizer(do_lower_case=True)
    assert lower.tokenize(" \tHeLLo!how  \n Are\x00 yoU?  ") == [
        "hello",
        "!",
        "how",
        "are",
        "you",
        "?",
    ]
    assert lower.tokenize("H\u00e9llo ah\u535a\u63a8zz İX") == [
        "hello",
        "ah",
        "博",
        "推",
        "zz",
        "ix",
    ]
    cased = tokenization.BasicTokenizer(do_lower_case=False)
    assert cased.tokenize("Héllo, No-1\u200d\ufffd!") == ["Héllo", ",", "No", "-", "1", "!"]


def test_wordpiece_takes_the_longest_piece_from_the_left():
    pieces = ["[UNK]", "want", "##want", "##ed", "wa", "un", "runn", "##ing"]
    wordpiece = tokenization.WordpieceTokenizer({piece: i for i, piece in enumerate(pieces)})
    assert wordpiece.tokenize("") == []
    assert wordpiece.tokenize("unwanted  running") == ["un", "##want", "##ed", "runn", "##ing"]
    assert wordpiece.tokenize("unwantedx running") == ["[UNK]", "runn", "##ing"]


def test_wordpiece_gives_up_on_words_beyond_the_limit():
    wordpiece = tokenization.WordpieceTokenizer({"a": 0, "##a": 1}, unk_token="?")
    assert wordpiece.tokenize("a" * 200) == ["a"] + ["##a"] * 199
    assert wordpiece.tokenize("a" * 201) == ["?"]
    short = tokenization.WordpieceTokenizer({"a": 0, "##a": 1}, "[UNK]", 2)
    assert short.tokenize("aa aaa") == ["a", "##a", "[UNK]"]


def test_wordpiece_of_lower_case_ignores_case_and_accents(tiny_wordpiece):
    assert tiny_wordpiece.tokenize("Thé WATER.") == ["the", "water", "."]
    cased = tokenization.FullTokenizer(VOCAB, False)
    assert cased.tokenize("Thé WATER.") == ["[UNK]", "[UNK]", "."]


def test_module_functions_convert_by_the_given_table():
    assert tokenization.convert_tokens_to_ids({"a": 5, "b": 7}, ["b", "a"]) == [7, 5]
    assert tokenization.convert_ids_to_tokens({5: "a", 7: "b"}, [7, 5]) == ["b", "a"]
    assert tokenization.whitespace_tokenize("  a\tb ") == ["a", "b"]
    assert tokenization.whitespace_tokenize("") == []


def test_forgetting_words_changes_nothing(tiny_wordpiece, monkeypatch):
    text = "the water, the lamp; the water and the book " + "the" * 50
    expected = tiny_wordpiece.encode_with_offsets(text)
    monkeypatch.setattr(tokenization, "_MAX_REMEMBERED_WORDS", 2)
    assert TOKENIZERS["wp_lower"]().encode_with_offsets(text) == expected


# ---------------------------------------------------------------------------------------- offsets

ALPHABET = (
    list("aeiost  \t\n.,-1239AZ'\"()")
    + ["the ", " water", "3,", " 12, ", "1887,", "  "]
    + ["é", "e\u0301", "e\u0301\u0323", "\u0301", "Å", "İ", "ß", "ﬁ", "ﬃ", "½", "…", "´", "¨"]
    + ["Ａ", "１", "，", "　", "ｶﾞ", "㎏", "①", "²", "₂", "ﷺ", "™"]
    + ["日", "本", "中文", "。", "、", "が", "ガ", "한", "국", "\u1112\u1161\u11ab", "𠀀"]
    + ["م", "رحبا", "ש", "שָׁלוֹם", "हिन्दी", "ไทย", "\u200f", "\u200d", "\u200b", "\xad", "\ufeff"]
    + ["😀", "👩\u200d👩\u200d👧", "🏳️", "👍🏽", "1️⃣", "\x00", "\x07", "\x7f", "\x85", "\u2028"]
    + ["Σ", "\xa0", "▁", "##", "[MASK]", "[CLS]", "<unk>", "\ufffd", "\ue000", "€", "£", "–", "“"]
)  # fmt: skip


def random_texts(count, seed):
    generator = random.Random(seed)
    for _ in range(count):
        yield "".join(generator.choice(ALPHABET) for _ in range(generator.randrange(1, 40)))


def normal_form(tokenizer, text):
    """What pieces spell for `text`, without spaces and marks of pieces."""
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


def check_offsets(tokenizer, text):
    encoding = tokenizer.encode_with_offsets(text)
    pieces, ids, starts, ends = encoding
    assert pieces == tokenizer.tokenize_text(text), repr(text)
    assert ids == tokenizer.convert_tokens_to_ids(pieces), repr(text)
    assert len(pieces) == len(starts) == len(ends)
    assert starts == sorted(starts) and ends == sorted(ends), repr(text)
    spans = list(zip(starts, ends))
    assert all(0 <= start <= end <= len(text) for start, end in spans), repr(text)
    slices = [text[start:end] for start, end in spans]
    assert slices == [part.strip() for part in slices], repr(text)
    covered = {index for start, end in spans for index in range(start, end)}
    lost = [
        index
        for index, char in enumerate(text)
        if index not in covered and normal_form(tokenizer, char)
    ]
    assert not lost, (text, lost)
    for number, (piece, part) in enumerate(zip(pieces, slices)):
        neighbours = spans[max(0, number - 1) : number] + spans[number + 1 : number + 2]
        alone = all(end <= starts[number] or start >= ends[number] for start, end in neighbours)
        if alone and part and piece != "[UNK]":
            assert normal_form(tokenizer, part) == spelled(tokenizer, piece), (text, piece, part)


@pytest.mark.parametrize("seed", range(4))
def test_offsets_keep_their_promises_on_any_text(tokenizer, seed):
    for text in random_texts(500, seed):
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
def test_offsets_keep_their_promises_with_models_of_other_recipes(tmp_path, options):
    vocab_size = 700 if "byte_fallback" in options else 300
    spm.SentencePieceTrainer.train(
        input=str(FIXTURES / "corpus.txt"),
        model_prefix=str(tmp_path / "other"),
        vocab_size=vocab_size,
        hard_vocab_limit=False,
        bos_id=-1,
        eos_id=-1,
        minloglevel=2,
        **options,
    )
    full = tokenization.FullTokenizer(None, True, str(tmp_path / "other.model"))
    for text in random_texts(300, seed=7):
        encoding = full.encode_with_offsets(text)
        assert encoding.pieces == full.tokenize_text(text)
        assert encoding.starts == sorted(encoding.starts)
        assert encoding.ends == sorted(encoding.ends)
        assert all(0 <= start <= end for start, end in zip(encoding.starts, encoding.ends))
        assert all(end <= len(text) for end in encoding.ends)
        if "byte_fallback" not in options:
            check_offsets(full, text)


def spans_of(full, text):
    encoding = full.encode_with_offsets(text)
    return [
        (piece, text[start:end])
        for piece, start, end in zip(encoding.pieces, encoding.starts, encoding.ends)
    ]


def test_offsets_of_plain_text_are_those_one_would_write(tiny):
    encoding = tiny.encode_with_offsets("The miller opened the gate.")
    assert encoding.pieces[:4] == ["▁the", "▁miller", "▁open", "ed"]
    assert list(zip(encoding.starts, encoding.ends))[:4] == [(0, 3), (4, 10), (11, 15), (15, 17)]
    assert (encoding.starts[-1], encoding.ends[-1]) == (26, 27)


def test_offsets_point_into_the_text_before_white_space_is_collapsed(tiny):
    assert spans_of(tiny, " \t the\n\n  water \u3000 ") == [("▁the", "the"), ("▁water", "water")]


def test_offsets_survive_ligatures_fractions_marks_and_full_width_forms(tiny):
    text = "ﬁre  wa\u0301ter ½ ｔｈｅ"
    assert spans_of(tiny, text) == [
        ("▁fire", "ﬁre"),
        ("▁water", "wa\u0301ter"),
        ("▁1", "½"),
        ("⁄", "½"),
        ("2", "½"),
        ("▁the", "ｔｈｅ"),
    ]


def test_offsets_survive_emoji_chinese_and_arabic(tiny, tiny_wordpiece):
    assert spans_of(tiny, "中文 the 😀👍🏽 سلام, the") == [
        ("▁", ""),
        ("中文", "中文"),
        ("▁the", "the"),
        ("▁", ""),
        ("😀👍🏽", "😀👍🏽"),
        ("▁", ""),
        ("سلام", "سلام"),
        (",", ","),
        ("▁the", "the"),
    ]
    assert spans_of(tiny_wordpiece, "中文Thé😀 日x，") == [
        ("中", "中"),
        ("文", "文"),
        ("[UNK]", "Thé😀"),
        ("日", "日"),
        ("x", "x"),
        ("[UNK]", "，"),
    ]


def test_one_character_that_becomes_several_words_never_steps_back(tiny):
    encoding = tiny.encode_with_offsets("the ﷺ the")
    assert encoding.ends == sorted(encoding.ends)
    assert set(zip(encoding.starts, encoding.ends)) == {(0, 3), (4, 4), (4, 5), (6, 9)}


def test_text_without_words_has_no_pieces(tokenizer):
    for text in ("", " ", "\t\n", "\u3000", "\u200b", b""):
        assert tokenizer.encode_with_offsets(text) == ([], [], [], [])
        assert tokenizer.tokenize_text(text) == []
        assert tokenizer.encode_ids_batch([text]) == [[]]


# ---------------------------------------------------------------------------------------- batches


def test_fast_ids_equal_pieces_and_ids_on_any_text(tokenizer):
    texts = list(random_texts(1000, seed=11))
    expected = [tokenizer.convert_tokens_to_ids(tokenizer.tokenize_text(text)) for text in texts]
    assert tokenizer.encode_ids_batch(texts) == expected
    assert tokenizer.encode_ids_batch(texts, num_threads=2) == expected
    assert tokenizer.encode_ids_batch([text.encode("utf-8") for text in texts]) == expected


def test_batches_in_worker_processes_equal_one_text_after_another(tokenizer):
    texts = list(random_texts(2 * tokenization._BATCH_CHUNK + 5, seed=12))
    expected = [tokenizer.encode_with_offsets(text) for text in texts]
    assert tokenizer.encode_batch(texts, num_processes=2) == expected
    assert tokenizer.encode_batch(texts) == expected
    assert tokenizer.encode_batch([]) == []


def encode_in_child(full, texts):
    return (
        full.encode_ids_batch(texts),
        full.encode_batch(texts),
        full.encode_ids_batch(texts, num_threads=2),
    )


def test_tokenizer_works_in_processes_forked_after_threads_ran(tokenizer):
    texts = list(random_texts(tokenization._BATCH_CHUNK + 10, seed=13))
    ids = tokenizer.encode_ids_batch(texts, num_threads=2)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        # A pool's worker may start no processes of its own: encode_batch must not try.
        result = pool.apply_async(encode_in_child, (tokenizer, texts)).get(timeout=60)
    assert result == (ids, [tokenizer.encode_with_offsets(text) for text in texts], ids)


def test_pickled_tokenizer_is_the_same_tokenizer(tokenizer):
    tokenizer.tokenize_text("the water")
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert copy.vocab == tokenizer.vocab
    assert copy.inv_vocab == tokenizer.inv_vocab
    for text in random_texts(20, seed=14):
        assert copy.encode_with_offsets(text) == tokenizer.encode_with_offsets(text)


def test_encoding_text_logs_nothing(tokenizer, log_lines):
    tokenizer.convert_tokens_to_ids(tokenizer.tokenize_text("the water"))
    tokenizer.encode_batch(["the water"])
    tokenizer.encode_ids_batch(["the water"])
    assert log_lines == []


# ------------------------------------------------------------------------------------ vocabularies


def write_vocab(folder, content):
    path = folder / "vocab.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return str(path)


def test_ids_are_line_numbers(tmp_path):
    vocab = tokenization.load_vocab(write_vocab(tmp_path, "[PAD]\n[UNK]\nthe\n##s\n"))
    assert list(vocab.items()) == [("[PAD]", 0), ("[UNK]", 1), ("the", 2), ("##s", 3)]


def test_only_line_feeds_end_a_line_of_a_vocabulary(tmp_path):
    vocab = tokenization.load_vocab(write_vocab(tmp_path, "a\nb\u2028\n\u2028\nc\x85d\n"))
    assert list(vocab) == ["a", "b", " ", "c"]


def test_scores_windows_line_ends_byte_order_mark_and_last_empty_lines_are_no_pieces(tmp_path):
    content = "\ufeff<pad>\t0\r\n▁the\t-2.5\r\n\r\n\n"
    assert list(tokenization.load_vocab(write_vocab(tmp_path, content))) == ["<pad>", "▁the"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\nb\na\n", "Line 3 of vocab_file .* repeats the piece 'a' of line 1"),
        ("a\n\nb\n", "Line 2 of vocab_file .* is empty"),
        ("a\n\r\nb\n", "Line 2 of vocab_file .* is empty"),
        ("", "Line 1 of vocab_file .* is empty"),
        (b"a\n\xff\xfe\n", "is not UTF-8 text .* at byte 2.*spm_model_file"),
    ],
    ids=["repeated", "empty line", "empty windows line", "empty file", "not text"],
)
def test_vocabulary_whose_ids_would_be_wrong_is_refused(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        tokenization.load_vocab(write_vocab(tmp_path, content))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no/vocab.txt", True), "vocab_file 'no/vocab.txt' cannot be read"),
        ((None, True, "no/spm.model"), "spm_model_file 'no/spm.model' cannot be read"),
        ((None, True, str(FIXTURES)), "spm_model_file .* cannot be read"),
        ((None,), "No vocabulary: give spm_model_file"),
        (("", True, ""), "No vocabulary: give spm_model_file"),
        ((None, True, str(FIXTURES / "tiny.vocab")), "not a SentencePiece model.*\\.vocab list"),
        ((str(FIXTURES / "tiny.vocab"),), "lists the pieces of a SentencePiece model"),
        ((MODEL,), "not UTF-8 text"),
    ],
)
def test_missing_and_mistaken_files_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        tokenization.FullTokenizer(*arguments)


def test_empty_model_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"\(0 bytes\) is not a SentencePiece model"):
        tokenization.FullTokenizer(None, True, write_vocab(tmp_path, b""))


def test_wordpiece_vocabulary_without_unk_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"no piece \[UNK\] among its 2"):
        tokenization.FullTokenizer(write_vocab(tmp_path, "[PAD]\nthe\n"))


def test_files_are_read_through_gfile():
    assert len(tokenization.FullTokenizer(None, True, f"file://{MODEL}").vocab) == 400
    assert len(tokenization.FullTokenizer(f"file://{VOCAB}").vocab) == 257


def test_unknown_pieces_and_ids(tiny, tiny_wordpiece):
    assert tiny.convert_tokens_to_ids(["▁the", "no such piece", b"[CLS]"]) == [14, 1, 2]
    assert tiny.convert_ids_to_tokens([14, 1, 2]) == ["▁the", "<unk>", "[CLS]"]
    with pytest.raises(ValueError, match="'zebra' is not in the vocabulary of 257 entries"):
        tiny_wordpiece.convert_tokens_to_ids(["the", "zebra"])
    for full in (tiny, tiny_wordpiece):
        with pytest.raises(ValueError, match="400000 is not in the vocabulary"):
            full.convert_ids_to_tokens([400000])


def test_vocabularies_map_both_ways(tokenizer):
    assert [tokenizer.inv_vocab[index] for index in range(len(tokenizer.vocab))] == list(
        tokenizer.vocab
    )
    assert (tokenizer.sp_model is None) == hasattr(tokenizer, "wordpiece_tokenizer")


def test_tokenizer_from_scratch_is_the_plain_one():
    for arguments in ((VOCAB, False, None), (None, True, MODEL)):
        full = tokenization.FullTokenizer.from_scratch(*arguments)
        assert full.vocab == tokenization.FullTokenizer(*arguments).vocab
        assert full.do_lower_case is arguments[1]


def test_vocabulary_larger_than_the_embedding_table_is_refused(tiny):
    with pytest.raises(ValueError, match="tokenizer has 400 pieces, .* vocab_size is 399"):
        tokenization.check_vocab_size(tiny, 399)


def test_vocabulary_smaller_than_the_embedding_table_is_a_warning(tiny, log_lines):
    tokenization.check_vocab_size(tiny, 400)
    assert log_lines == []
    tokenization.check_vocab_size(tiny, 408)
    assert len(log_lines) == 1 and "400 pieces" in log_lines[0] and "408" in log_lines[0]
