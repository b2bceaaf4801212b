# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Paragraphs to sentences: the rules one by one, and that nothing is lost."""

import random
import time

import pytest

from albert.pretraining import sentence_splitting
from tests.support.shared import needs_shared, shared_path

# A bar marks each place where a sentence ends; spaces around it are the paragraph's own.
PARAGRAPHS = {
    "plain": "One. |Two! |Three? |Four.",
    "numbers": "It costs $3.50 or 1.200,50. |At .5 it ends. |Version 2.15.1 is out.",
    "titles": "Dr. Smith met Mrs. Brown and Gen. Lee. |Prof. White left. |He met Mr. X.",
    "initials": "J. R. R. Tolkien met C. S. Lewis. |George W. Bush too. |We had plan B. |It won.",
    "acronyms": "The U.S. Army left the U.S. |They went to the U.K. |This was at 5 p.m. |He slept.",
    "latin": "See e.g. Smith, i.e. Him, cf. Miller et al. (1999), etc. |And so on.",
    "companies": "Smith Inc. Ltd. and Co. Bros. were sold. |He was Martin Jr. |She was not.",
    "before numbers": "See No. 5, Fig. 3 and Vol. 2 (p. 7). |On Jan. 5 he left. |No. |He came.",
    "items": "1. First of all. |2. Then that. |IV. A roman one.",
    "quotes": "“Go!” |She went. |'No.' |\"Why?\" |(He left.) |[So.] |She said «No.» |Well.",
    "goes on": '"Really?" he asked. |"Stop!" — he said. |So... and then? |Yahoo!, he said.',
    "ellipses": "Wait... |What? |Well… |He left. |No...no.",
    "many marks": "What?! |No!!! |Really?... |Yes.",
    "addresses": "Mail a.b@c.de or see www.a.com/x?y=1!z now. |Use x.y() here.",
    "notes": "It is so.[3] |Others say no.[12][13] |True.",
    "chinese": "今天很好。|你呢？|我也是！|再见｡|好……|是吗？！|对。。。|完",
    "chinese quotes": "他说：“好。”|然后走了。|『真的？』|（是的。）|完。",
    "straight quotes": '他说"你好。"|她走了。|"再见"，他说。|\'好。\'|完。',
    "chinese asides": "《你好！中国》很好看。|他（是谁？我不知道。）走了。|〈为什么？〉也是。",
    "chinese commas": "“好！”，他说。|他走了……，我没有。|春；夏；秋；冬。",
    "ascii in chinese": "你好吗?|我很好!|好.|好OK?|是的。|圆周率是3.14。|图３．１在这.|第2.3节。",
    "latin in chinese": "微软.NET好用。|看www.a.com吧。|用a.b吧!|I.E.也可以。|Yes! |对。",
    "spaces in chinese": "好。 |是。　|完。",
    "hindi": "यह है।|वह है॥|क्या?",
    "arabic": "هل هذا صحيح؟|نعم۔|شكرا.",
    "others": "Բարև։|ሰላም።|မင်္ဂလာပါ။|សួស្តី។|x",
    "one": "no end at all",
}


@pytest.mark.parametrize("name", sorted(PARAGRAPHS))
def test_rules(name):
    marked = PARAGRAPHS[name]
    expected = [sentence.strip() for sentence in marked.split("|")]
    assert sentence_splitting.split(marked.replace("|", "")) == expected


def test_white_space_around_sentences_is_dropped_and_that_inside_is_kept():
    assert sentence_splitting.split("  One  two.\t\u3000 Three. \r") == ["One  two.", "Three."]
    assert sentence_splitting.split("") == sentence_splitting.split(" \u3000") == []
    assert sentence_splitting.split("...") == ["..."]


def test_paragraphs_end_sentences():
    assert sentence_splitting.split_all(["Go. Be", "", "c"]) == ["Go.", "Be", "c"]


def without_space(sentences):
    return "".join("".join(sentences).split())


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_lost_or_changed_and_sentences_are_parts_of_the_text(seed):
    generator = random.Random(seed)
    alphabet = "..!?。！？…．।؟\"'”“’()（）《》[] \t　abAB19中文，,;-Dr"
    for _ in range(1500):
        text = "".join(generator.choice(alphabet) for _ in range(generator.randrange(40)))
        sentences = sentence_splitting.split(text)
        assert without_space(sentences) == without_space([text])
        place = 0
        for sentence in sentences:
            assert sentence == sentence.strip() != ""
            place = text.index(sentence, place) + len(sentence)


@pytest.mark.parametrize(
    "text", ["." * 20000 + "x", '.")' * 9000 + "x", "。" * 20000, "(《（" * 7000]
)
def test_time_does_not_explode(text):
    started = time.perf_counter()
    assert without_space(sentence_splitting.split(text)) == text
    assert time.perf_counter() - started < 5


def borders(sentences):
    """Where sentences end, counted in characters that are no space."""
    lengths = [len(without_space([sentence])) for sentence in sentences]
    return {sum(lengths[: number + 1]) for number in range(len(lengths) - 1)}


@needs_shared
@pytest.mark.parametrize("name,joint", [("books_en.txt", " "), ("zh.txt", "")])
def test_real_text_joined_to_paragraphs_is_mostly_split_where_it_was(name, joint):
    with open(str(shared_path(f"data/text/{name}")), encoding="utf-8") as stream:
        documents = stream.read(1200000).split("\n\n")[:-1]
    found = missed = wrong = 0
    for document in documents:
        lines = [line.strip() for line in document.split("\n") if line.strip()]
        for start in range(0, len(lines), 6):
            paragraph = lines[start : start + 6]
            expected = borders(paragraph)
            made = borders(sentence_splitting.split(joint.join(paragraph)))
            found += len(made & expected)
            missed += len(expected - made)
            wrong += len(made - expected)
    assert found / (found + missed) > 0.93
    assert found / (found + wrong) > 0.93
