# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Words of Chinese by their places: which pieces begin one, and whose tables are trusted."""

import builtins
import logging
import marshal
import os
import pathlib
import pickle
import tempfile

import pytest

from albert import tokenization
from albert.pretraining import word_segmentation

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
TOKENIZER = tokenization.FullTokenizer(str(FIXTURES / "chinese_vocab.txt"))


@pytest.fixture(scope="module")
def segmenter():
    return word_segmentation.ChineseSegmenter()


def marked(text, segmenter, tokenizer=TOKENIZER):
    """The pieces of a text with a bar before each that begins a word."""
    encoding = tokenizer.encode_with_offsets(text)
    starts = segmenter.word_starts(text, encoding)
    assert len(starts) == len(encoding.pieces)
    return "".join("|" * start + piece for start, piece in zip(starts, encoding.pieces))


@pytest.mark.parametrize(
    "text,expected",
    [
        ("使用语言模型，好的", "|使用|语言|模型|，|好|的"),
        ("模型提高了12.5%。", "|模型|提高|了|12.5%|。"),
        ("内存24GB", "|内存|24##gb"),
        ("用TensorFlow训练  ALBERT model", "|用|tensor##flow|训练|albert|model"),
        ("\u200b模型\u3000图书馆\t学校", "|模型|图书馆|学校"),
        ("樱花开放", "|[UNK]花|开放"),
        ("", ""),
    ],
)
def test_words_are_those_of_the_segmenter_at_their_places(text, expected, segmenter):
    assert marked(text, segmenter) == expected


def test_the_same_characters_are_a_word_here_and_parts_of_two_there(segmenter):
    # A list of words, matched wherever they occur, could not tell these apart.
    assert segmenter.words("市长在说话") == ["市长", "在", "说话"]
    assert segmenter.words("南京市长江大桥") == ["南京市", "长江大桥"]


def test_place_by_place_with_words_given_by_hand():
    encoding = tokenization.Encoding(
        pieces=["\u2581", "ab", "c", "de", "f", "\u2581"],
        ids=[0] * 6,
        starts=[0, 0, 2, 3, 6, 8],
        ends=[0, 2, 3, 5, 7, 8],
    )
    # Words: abc (0-2), d (3), e (4), a sign that gave no piece (5), fg (6-7).
    numbers = [0, 0, 0, 1, 2, 3, 4, 4]
    assert word_segmentation.piece_starts(numbers, encoding) == [
        True,
        False,
        False,
        True,
        True,
        True,
    ]


def test_words_joined_are_the_text(segmenter):
    text = " 全家人\r\n一起。Müller's 5G-网络\u3000\u200b\U00020000\ud83d 3.14% "
    assert "".join(segmenter.words(text)) == text
    numbers = segmenter.word_numbers(text)
    assert len(numbers) == len(text)
    assert numbers == sorted(numbers)


def test_a_segmenter_may_be_pickled(segmenter):
    copy = pickle.loads(pickle.dumps(segmenter))
    text = "科学家发现，这种植物能够在非常干旱的环境中生长。"
    assert copy.words(text) == segmenter.words(text)
    assert len(pickle.dumps(segmenter)) < 1000


# ---- the dictionary of the user ------------------------------------------------------------------


def user_dictionary(tmp_path, content):
    path = tmp_path / "words.txt"
    path.write_bytes(content.encode("utf-8"))
    return str(path)


def test_words_of_the_user_are_added_for_this_segmenter_alone(tmp_path, segmenter):
    before = segmenter.words("小型语言模型好")
    assert "语言模型" not in before
    path = user_dictionary(tmp_path, "\ufeff语言模型\r\n\r\n好模 5\n小型语 100000000 n\n")
    own = word_segmentation.ChineseSegmenter(path)
    assert own.words("语言模型好") == ["语言模型", "好"]
    assert own.words("小型语言模型")[0] == "小型语"
    assert pickle.loads(pickle.dumps(own)).words("语言模型好") == ["语言模型", "好"]
    assert segmenter.words("小型语言模型好") == before


@pytest.mark.parametrize(
    "content,message",
    [
        ("好的\t5\n", "line 1 holds a TAB"),
        ("好的 0\n", "line 1 gives '好的' the frequency 0"),
        (None, "'.*words.txt' cannot be read"),
    ],
)
def test_mistakes_in_the_dictionary_name_the_flag(content, message, tmp_path):
    path = user_dictionary(tmp_path, content) if content else str(tmp_path / "words.txt")
    with pytest.raises(ValueError, match="--user_dictionary: .*" + message):
        word_segmentation.ChineseSegmenter(path)


def test_a_dictionary_in_another_encoding_is_refused(tmp_path):
    (tmp_path / "words.txt").write_bytes("模型".encode("gbk"))
    with pytest.raises(ValueError, match="--user_dictionary: .* is not UTF-8"):
        word_segmentation.ChineseSegmenter(str(tmp_path / "words.txt"))


def test_the_fingerprint_tells_version_and_dictionaries(tmp_path):
    plain = word_segmentation.fingerprint(None)
    assert plain["segmenter"] == "jieba"
    assert plain["version"].startswith("0.42")
    assert plain["dictionary"]["name"] == "dict.txt"
    own = word_segmentation.fingerprint(user_dictionary(tmp_path, "模型\n"))
    assert own["user_dictionary"]["sha256"]
    assert dict(own, user_dictionary=None) == plain


# ---- what is not there, and what must not be trusted ---------------------------------------------


def test_without_jieba_one_sentence_says_what_to_do(monkeypatch):
    real_import = builtins.__import__

    def without(name, *arguments, **options):
        if name == "jieba":
            raise ImportError(name)
        return real_import(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ValueError, match="--language=zh .* not installed. .*pip install jieba$"):
        word_segmentation.fingerprint(None)


@pytest.mark.slow
def test_a_cache_in_the_folder_for_temporary_files_is_neither_read_nor_written(
    tmp_path, monkeypatch, caplog, capfd
):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    planted = tmp_path / "jieba.cache"
    content = marshal.dumps(({"模": 1}, 1))
    planted.write_bytes(content)
    word_segmentation._frequencies.cache_clear()
    segmenter = word_segmentation.ChineseSegmenter()
    assert segmenter.words("语言模型") == ["语言", "模型"]
    assert os.listdir(str(tmp_path)) == ["jieba.cache"]
    assert planted.read_bytes() == content
    assert not [record for record in caplog.records if record.name.startswith("jieba")]
    assert capfd.readouterr().err == ""
