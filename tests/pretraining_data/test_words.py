# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where sentences end, and which tokens begin a word."""

import pickle
import random
import time

import pytest
import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.pretraining_data import words
from albert.pretraining_data.sentences import split_sentences
from tests.support import FIXTURES, squad_data

TOKENIZER = tokenization.FullTokenizer(f"{FIXTURES}/chinese_vocab.txt")
VOCAB = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]", "<S>", "w", "##c", "x"]

# A bar marks each place where a sentence ends; spaces around it are the paragraph's own.
PARAGRAPHS = """One. |Two! |Three? |Four.
It costs $3.50 or 1.200,50. |At .5 it ends. |Version 2.15.1 is out.
Dr. Smith met Mrs. Brown and Gen. Lee. |Prof. White left. |He met Mr. X.
J. R. R. Tolkien met C. S. Lewis. |George W. Bush too. |We had plan B. |It won.
The U.S. Army left the U.S. |They went to the U.K. |This was at 5 p.m. |He slept.
See e.g. Smith, i.e. Him, cf. Miller et al. (1999), etc. |And so on.
Smith Inc. Ltd. and Co. Bros. were sold. |He was Martin Jr. |She was not.
See No. 5, Fig. 3 and Vol. 2 (p. 7). |On Jan. 5 he left. |No. |He came.
1. First of all. |2. Then that. |IV. A roman one.
“Go!” |She went. |'No.' |"Why?" |(He left.) |[So.] |She said «No.» |Well.
"Really?" he asked. |"Stop!" — he said. |So... and then? |Yahoo!, he said.
Wait... |What? |Well… |He left. |No...no.
What?! |No!!! |Really?... |Yes.
Mail a.b@c.de or see www.a.com/x?y=1!z now. |Use x.y() here.
It is so.[3] |Others say no.[12][13] |True.
今天很好。|你呢？|我也是！|再见｡|好……|是吗？！|对。。。|完
他说：“好。”|然后走了。|『真的？』|（是的。）|完。
他说"你好。"|她走了。|"再见"，他说。|'好。'|完。
《你好！中国》很好看。|他（是谁？我不知道。）走了。|〈为什么？〉也是。
“好！”，他说。|他走了……，我没有。|春；夏；秋；冬。
你好吗?|我很好!|好.|好OK?|是的。|圆周率是3.14。|图３．１在这.|第2.3节。
微软.NET好用。|看www.a.com吧。|用a.b吧!|I.E.也可以。|Yes! |对。
好。 |是。　|完。
यह है।|वह है॥|क्या?
هل هذا صحيح؟|نعم۔|شكرا.
Բարև։|ሰላም።|မင်္ဂလာပါ။|សួស្តី។|x
no end at all
  One  two.\t\u3000 |Three.
...
""".splitlines()


@pytest.mark.parametrize("marked", PARAGRAPHS)
def test_split_sentences(marked):
    expected = [sentence.strip() for sentence in marked.split("|") if sentence]
    assert split_sentences(marked.replace("|", "")) == expected


def without_space(sentences):
    return "".join("".join(sentences).split())


def test_split_sentences_loses_nothing():
    generator = random.Random(0)
    alphabet = "..!?。！？…．।؟\"'”“’()（）《》[] \t　abAB19中文，,;-Dr"
    for _ in range(2000):
        text = "".join(generator.choice(alphabet) for _ in range(generator.randrange(40)))
        sentences = split_sentences(text)
        assert without_space(sentences) == without_space([text])
        place = 0
        for sentence in sentences:
            assert sentence == sentence.strip() != ""
            place = text.index(sentence, place) + len(sentence)


@pytest.mark.parametrize("text", ['.")' * 9000 + "x", "(《（" * 7000])
def test_split_sentences_is_linear(text):
    started = time.perf_counter()
    assert without_space(split_sentences(text)) == text
    assert time.perf_counter() - started < 5


# ---- Chinese words -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def segmenter():
    return words.ChineseSegmenter()


def marked(text, segmenter, tokenizer):
    """The pieces of a text with a bar before each that begins a word."""
    encoding = tokenizer.encode_with_offsets(text)
    starts = segmenter.word_starts(text, encoding)
    assert len(starts) == len(encoding.pieces)
    return "".join("|" * start + piece for start, piece in zip(starts, encoding.pieces))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("使用语言模型，好的", "|使用|语言|模型|，|好|的"),
        ("模型提高了12.5%。", "|模型|提高|了|12.5%|。"),
        ("内存24GB", "|内存|24##gb"),
        ("用TensorFlow训练  ALBERT model", "|用|tensor##flow|训练|albert|model"),
        ("\u200b模型\u3000图书馆\t学校", "|模型|图书馆|学校"),
        ("樱花开放", "|[UNK]花|开放"),
        ("市长在说话", "|市长|在|说[UNK]"),
        ("南京市长江大桥", "|[UNK]京市|长[UNK]大[UNK]"),
        ("", ""),
    ],
)
def test_word_starts_of_wordpieces(text, expected, segmenter):
    assert marked(text, segmenter, TOKENIZER) == expected


def test_word_starts_of_sentencepieces(segmenter):
    found = marked("The model 模型 is here.", segmenter, squad_data.sentencepiece())
    words = [word.replace("\u2581", "") for word in found.split("|")]
    assert words == ["", "the", "model", "模型", "is", "here", "."]


# ---- the dictionary of the user ------------------------------------------------------------------


@pytest.mark.slow
def test_user_dictionary_of_one_segmenter(tmp_path, segmenter):
    before = segmenter.words("小型语言模型好")
    assert "语言模型" not in before
    path = tmp_path / "words.txt"
    path.write_text("\ufeff语言模型\r\n\r\n好模 5\n小型语 100000000 n\n", "utf-8")
    pickled = pickle.dumps(words.ChineseSegmenter(str(path)))
    assert len(pickled) < 1000
    own = pickle.loads(pickled)
    assert own.words("语言模型好") == ["语言模型", "好"]
    assert own.words("小型语言模型")[0] == "小型语"
    assert segmenter.words("小型语言模型好") == before


@pytest.mark.parametrize("content", [None, "\ud800"])
def test_user_dictionary_unreadable(content, tmp_path):
    path = tmp_path / "words.txt"
    if content:
        path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises((ValueError, tf.errors.NotFoundError), match="words.txt"):
        words.ChineseSegmenter(str(path))


# ---- vocabularies --------------------------------------------------------------------------------


def test_starts_word():
    starting = ["\u2581the", "\u2581", ".", "\u00a3", "<unk>", "'s", "=", "1", "\u00e9t", "a\u4e2d"]
    pieces = [*starting, "s", "ing", "ING", "..."]
    assert [piece for piece in pieces if words.starts_word(piece)] == starting


@pytest.mark.parametrize("pieces", [VOCAB[:7], VOCAB[:3] + VOCAB[5:]])
def test_piece_table_refuses(pieces):
    with pytest.raises(ValueError):
        words.piece_table({piece: number for number, piece in enumerate(pieces)})
