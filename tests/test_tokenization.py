# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests of albert.tokenization."""

import logging
import multiprocessing
import pickle
import random
import string
import types

import pytest
from sentencepiece import sentencepiece_model_pb2

from albert import tokenization
from tests.support import FIXTURES, cases
from tests.support.shared import json_lines, needs_shared, shared_path

MODEL = f"file://{FIXTURES}/tiny.model"  # read by gfile
VOCAB = f"file://{FIXTURES}/wordpiece_vocab.txt"

STORED = (FIXTURES / "tiny.model").read_bytes()
ARGUMENTS = {
    "spm_lower": (None, True, MODEL),
    "spm_cased": (None, False, MODEL),
    "accents_lower": (None, True, "accents"),
    "accents_cased": (None, False, "accents"),
    "wp_lower": (VOCAB, True, None),
    "wp_cased": (VOCAB, False, None),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The tokenizers of ARGUMENTS; those with accents have a model like the tiny one."""
    path = tmp_path_factory.mktemp("model") / "accents.model"
    path.write_bytes(tokenization.with_keep_accents(STORED, True))
    return {
        name: tokenization.FullTokenizer(vocab, lower, str(path) if model == "accents" else model)
        for name, (vocab, lower, model) in ARGUMENTS.items()
    }


@pytest.fixture(scope="module", params=sorted(ARGUMENTS))
def tokenizer(request, made):
    return made[request.param]


@pytest.fixture(scope="module")
def tiny(made):
    return made["spm_lower"]


# ---- against the published code ----


REFERENCE = "golden/tokenization.jsonl"


@needs_shared
def test_preprocess_text_equals_reference():
    for row in json_lines(REFERENCE):
        for case, lower in (("lower", True), ("cased", False)):
            found = tokenization.preprocess_text(row["text"], lower=lower)
            assert found == row[f"preprocess_{case}"]
        found = tokenization.preprocess_text(row["text"], lower=True, remove_space=False)
        assert found == row["preprocess_keepspace_lower"]


@needs_shared
@pytest.mark.parametrize(
    "column, source, vocab",
    cases.table("""
        spm_lower        | preprocess_lower | spm/30k-clean.model
        spm_cased        | preprocess_cased | spm/30k-clean.model
        spm_raw          | text             | spm/30k-clean.model
        wp_uncased_lower | text             | wordpiece/uncased_vocab.txt
        wp_uncased_cased | text             | wordpiece/uncased_vocab.txt
        wp_zh_lower      | text             | wordpiece/zh_vocab.txt
    """),
)
def test_tokenize_equals_reference(column, source, vocab):
    path = str(shared_path(f"data/{vocab}"))
    files = (None, path) if column.startswith("spm") else (path, None)
    full = tokenization.FullTokenizer(files[0], column != "wp_uncased_cased", files[1])
    rows = json_lines(REFERENCE)
    assert len(rows) == 324
    for row in rows:
        tokens = full.tokenize(row[source])
        assert tokens == row[column]["tokens"], row["text"]
        assert full.convert_tokens_to_ids(tokens) == row[column]["ids"], row["text"]


# ---- preparing text ----


def test_preprocess_text_normalizes():
    prepare = tokenization.preprocess_text
    assert prepare("  a \t ´\n b ") == "a   b"
    assert prepare(" a ", remove_space=False) == " a "
    text = "ﬁve Ｆｕｌｌ ½ café e\u0301 Å ㎏ …"
    assert prepare(text) == "five Full 1⁄2 cafe e A kg ..."
    assert prepare("ÀÉÎ", lower=True) == "aei"
    assert prepare("a \ud83d b") == "a \ufffd b"
    assert prepare(b" a  b ") == "a b"


def test_convert_to_unicode_drops_invalid_utf8():
    assert tokenization.convert_to_unicode("café".encode() + b"\xff") == "café"
    assert tokenization.printable_text("café".encode()) == "café"
    with pytest.raises(ValueError):
        tokenization.convert_to_unicode(7)


# ---- SentencePiece ----


def test_encode_pieces_splits_digits_and_commas(tiny):
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


def test_encode_pieces_samples(tiny):
    model, text = tiny.sp_model, "the librarian opened the old library"
    samples = {tuple(tokenization.encode_pieces(model, text, sample=True)) for _ in range(50)}
    assert len(samples) > 1
    assert {"".join(sample) for sample in samples} == {"▁" + text.replace(" ", "▁")}


def test_encode_ids_of_control_symbols(made):
    cased, text = made["spm_cased"], "a [MASK] b"
    mask = cased.vocab["[MASK]"]
    assert cased.sp_model.EncodeAsIds(text) != cased.encode_ids_batch([text])[0]
    assert mask in cased.encode_ids_batch([text])[0]
    assert mask in cased.encode_with_offsets(text).ids


def test_text_keeps_accents(made):
    full, text = made["accents_lower"], "  TIẾNG \t Việt a\u0301 ﬁ İ \ud83d"
    assert full.preprocess(text) == "tiếng việt a\u0301 ﬁ i\u0307 \ufffd"
    assert full.sp_model.Normalize("tiếng a\u0301 ﬁ") == "▁tiếng▁á▁fi"
    assert full.tokenize_text("Má") == full.tokenize_text("ma\u0301") != full.tokenize_text("Ma")
    assert made["accents_cased"].preprocess("Má") == "Má"


def test_model_says_that_it_keeps_accents(made):
    stored = made["accents_lower"].sp_model.serialized_model_proto()
    assert tokenization.keeps_accents(stored)
    assert tokenization.with_keep_accents(stored, True) == stored
    assert tokenization.with_keep_accents(stored, False) == STORED


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """A model of three pieces, with their scores in Google's model, and of all bytes."""
    model = sentencepiece_model_pb2.ModelProto()
    model.trainer_spec.byte_fallback = True
    scores = {"▁": -2.1889710426330566, "e": -6.562606334686279, "ee": -10.232965469360352}
    model.pieces.add(piece="<unk>", type="UNKNOWN")
    for piece, score in scores.items():
        model.pieces.add(piece=piece, score=score)
    for number in range(256):
        model.pieces.add(piece=f"<0x{number:02X}>", type="BYTE")
    path = tmp_path_factory.mktemp("model") / "few.model"
    path.write_bytes(model.SerializeToString())
    return tokenization.FullTokenizer(None, True, str(path))


def test_ties_break_as_in_the_released_models(few):
    """Other releases of SentencePiece put the single letter elsewhere."""
    assert few.tokenize_text("eeeeeeeee") == ["▁", "ee", "ee", "ee", "ee", "e"]


def test_offsets_of_bytes(few):
    """The first byte of a character stands for all of it."""
    spans = [("<0xE2>", "€"), ("<0x82>", ""), ("<0xAC>", ""), ("ee", "ee"), ("<0x61>", "a")]
    assert spans_of(few, "€eea") == [("▁", ""), *spans]


# ---- WordPiece ----


@pytest.mark.parametrize(
    "is_of, chars, others",
    [
        (tokenization._is_whitespace, " \t\r\n\xa0\u3000", "A-\u2028\x0b\u200b"),
        (tokenization._is_control, "\x05\x7f\x00\u200b\xad", "A \t\r\n\xa0\U0001f4a9\ue000"),
        (tokenization._is_punctuation, string.punctuation + "。«—", "A1 é€°"),
    ],
)
def test_classes_of_characters(is_of, chars, others):
    """By the names that programs import."""
    assert list(map(is_of, chars + others)) == [True] * len(chars) + [False] * len(others)


@pytest.mark.parametrize(
    "lower, text, expected",
    [
        (True, " \tHeLLo!how  \n Are\x00 yoU?  ", "hello ! how are you ?"),
        (True, "H\u00e9llo ah\u535a\u63a8zz İX", "hello ah 博 推 zz ix"),
        # Characters are classed as BERT classes them.
        (False, "a\xa0b\u3000c\x0bd\u200be\xadf\ue000g\x7f", "a b cdef\ue000g"),
        (False, "a!b$c^d|e。f§g€h°i£", "a ! b $ c ^ d | e 。 f § g€h°i£"),
    ],
)
def test_basic_tokenizer(lower, text, expected):
    assert tokenization.BasicTokenizer(do_lower_case=lower).tokenize(text) == expected.split(" ")


def test_wordpiece_longest_match():
    tokens = ["[UNK]", "want", "##wa", "##want", "##ed", "wa", "un", "runn", "##ing"]
    wordpiece = tokenization.WordpieceTokenizer({token: i for i, token in enumerate(tokens)})
    assert wordpiece.tokenize("") == []
    assert wordpiece.tokenize("unwanted  running") == ["un", "##want", "##ed", "runn", "##ing"]
    assert wordpiece.tokenize("unwantedx running") == ["[UNK]", "runn", "##ing"]


def test_wordpiece_word_limit():
    short = tokenization.WordpieceTokenizer({"a": 0, "##a": 1}, "?", 2)
    assert short.tokenize("aa aaa") == ["a", "##a", "?"]
    wordpiece = tokenization.WordpieceTokenizer({"a": 0, "##a": 1})
    assert wordpiece.tokenize(f"{'a' * 200} {'a' * 201}") == ["a", *["##a"] * 199, "[UNK]"]


# ---- offsets ----

ALPHABET = [
    *"aeiost  \t\n.,-1239AZ'\"()éÅİßﬁﬃ½…´¨\u0301Ａ１，　㎏①²₂ﷺ™日本。、がガ한국𠀀مש",
    *"\u200f\u200d\u200b\xad\ufeff😀\x00\x07\x7f\x85\u2028Σ\xa0▁\ufffd\ue000€£–“",
    *["the ", " water", "3,", " 12, ", "1887,", "  ", "é", "ẹ́", "ｶﾞ", "中文", "한", "رحبا", "שָׁלוֹם"],
    *["हिन्दी", "ไทย", "👩\u200d👩\u200d👧", "🏳️", "👍🏽", "1️⃣", "##", "[MASK]", "[CLS]", "<unk>"],
]


def random_texts(count):
    generator = random.Random(0)
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


def check_offsets(tokenizer, text):
    pieces, ids, starts, ends = tokenizer.encode_with_offsets(text)
    assert pieces == tokenizer.tokenize_text(text), repr(text)
    assert ids == tokenizer.convert_tokens_to_ids(pieces), repr(text)
    assert len(pieces) == len(starts) == len(ends)
    assert starts == sorted(starts) and ends == sorted(ends), repr(text)
    assert all(0 <= start <= end <= len(text) for start, end in zip(starts, ends)), repr(text)
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


def test_offsets_of_random_text(tokenizer):
    for text in random_texts(500):
        check_offsets(tokenizer, text)


def spans_of(full, text):
    encoding = full.encode_with_offsets(text)
    spans = zip(encoding.starts, encoding.ends)
    return [(piece, text[start:end]) for piece, (start, end) in zip(encoding.pieces, spans)]


def test_offsets_of_known_text(tiny, made):
    encoding = tiny.encode_with_offsets("The miller opened")
    assert encoding.pieces == ["▁the", "▁miller", "▁open", "ed"]
    assert list(zip(encoding.starts, encoding.ends)) == [(0, 3), (4, 10), (11, 15), (15, 17)]
    spans = spans_of(tiny, "wa\u0301ter ½ 中文")
    assert spans[:4] == [("▁water", "wa\u0301ter"), ("▁1", "½"), ("⁄", "½"), ("2", "½")]
    assert spans[4:] == [("▁", ""), ("中文", "中文")]
    spans = spans_of(made["wp_lower"], "文Thé😀 x，")
    assert spans == [("文", "文"), ("[UNK]", "Thé😀"), ("x", "x"), ("[UNK]", "，")]
    assert spans_of(made["accents_lower"], "Vie\u0323\u0302t")[-2] == ("ệ", "e\u0323\u0302")


def test_text_without_tokens(tokenizer):
    for text in ("", " ", "\t\n", "\u3000", "\u200b", b""):
        assert tokenizer.encode_with_offsets(text) == ([], [], [], [])
        assert tokenizer.tokenize_text(text) == []
        assert tokenizer.encode_ids_batch([text]) == [[]]


# ---- batches and processes ----


def test_encode_ids_batch_in_threads_and_forks(tokenizer):
    texts = list(random_texts(100))
    expected = [tokenizer.convert_tokens_to_ids(tokenizer.tokenize_text(text)) for text in texts]
    assert tokenizer.encode_ids_batch([text.encode("utf-8") for text in texts]) == expected
    assert pickle.loads(pickle.dumps(tokenizer)).encode_ids_batch(texts, num_threads=2) == expected
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
        ("[UNK]\n\nb\n\n \nc\n", ["[UNK]", " ", "b", " 3", " 4", "c"]),
        ("\ufeff<pad>\t0\r\n▁the\t-2.5\r\n\r\n\n", ["<pad>", "▁the"]),
    ],
)
def test_load_vocab(tmp_path, content, expected):
    vocab = tokenization.load_vocab(write_vocab(tmp_path, content))
    assert list(vocab.items()) == [(token, index) for index, token in enumerate(expected)]


@pytest.mark.parametrize("content", ["[UNK]\nb\nb\n", "", "[PAD]\nthe\n"])
def test_tokenizer_refuses_vocab_file(tmp_path, content):
    with pytest.raises(ValueError, match="vocab.txt"):
        tokenization.FullTokenizer(write_vocab(tmp_path, content))


@pytest.mark.parametrize(
    "vocab_file, model, named",
    [
        ("no/vocab.txt", None, "no/vocab.txt"),
        ("", "", "spm_model_file"),
        (None, f"{FIXTURES}/tiny.vocab", "tiny.vocab"),
        (f"{FIXTURES}/tiny.model", None, "tiny.model"),
    ],
)
def test_tokenizer_names_unfit_file(vocab_file, model, named):
    with pytest.raises(ValueError, match=named):
        tokenization.FullTokenizer(vocab_file, True, model)


def test_pieces_have_their_ids(tiny):
    assert tiny.convert_tokens_to_ids(["▁the", "no such piece", b"[CLS]"]) == [14, 1, 2]
    assert tiny.convert_ids_to_tokens([14, 1, 2]) == ["▁the", "<unk>", "[CLS]"]
    assert tiny.required_ids(["[SEP]", "<pad>"]) == [3, 0]
    assert list(tiny.inv_vocab.values()) == list(tiny.vocab)


def test_token_or_id_that_is_not_there_is_refused(tiny, made):
    for function, wrong in (
        (tiny.required_ids, ["[CLS]", "[PAD]"]),
        (tiny.convert_ids_to_tokens, [400000]),
        (made["wp_lower"].convert_tokens_to_ids, ["the", "zebra"]),
    ):
        with pytest.raises(ValueError):
            function(wrong)


def test_published_functions_convert_by_a_dictionary():
    assert tokenization.convert_tokens_to_ids({"a": 5, "b": 7}, ["b", "a"]) == [7, 5]
    assert tokenization.convert_ids_to_tokens({5: "a", 7: "b"}, [7, 5]) == ["b", "a"]
    assert tokenization.whitespace_tokenize("  a\tb ") == ["a", "b"]


def test_check_vocab_size(tiny, caplog):
    with caplog.at_level(logging.WARNING, logger="albert"):
        for size, warnings in ((512, 0), (30000, 1)):
            tokenization.check_vocab_size(tiny, size)
            assert len(caplog.records) == warnings
    tokenization.check_vocab_size(types.SimpleNamespace(vocab={"a": 0, "b": 399}), 400)
    with pytest.raises(ValueError, match="399"):
        tokenization.check_vocab_size(tiny, 399)
