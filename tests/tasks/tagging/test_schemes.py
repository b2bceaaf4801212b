# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Schemes of tags, and the scores of entities by conlleval's definition."""

import random

import pytest

from albert.tasks.tagging import schemes
from tests.support import cases

# Scheme -> how tags are written, its places, and what conlleval calls them.
WRITTEN = {
    "IOB1": ("{0}-{1}", "BI", "BI"),
    "BIO": ("{0}-{1}", "BI", "BI"),
    "BIO, underscore": ("{0}_{1}", "BI", "BI"),
    "BIO, suffix": ("{1}-{0}", "BI", "BI"),
    "BIOES": ("{0}-{1}", "BIES", "BIES"),
    "BILOU": ("{0}-{1}", "BILU", "BIES"),
    "BMES": ("{0}-{1}", "BMES", "BIES"),
    "plain": ("{1}", "I", "I"),
}
TYPES = ("PER", "LOC-x_y")


def chunk_ends(before, now):
    """Whether a chunk ends between two words, as conlleval tells by place and type."""
    if before[0] == "O":
        return False
    return before[0] in "ES" or now[0] in "BSO" or before[1] != now[1]


def chunk_starts(before, now):
    """Whether a chunk starts at the second of two words."""
    if now[0] == "O":
        return False
    return now[0] in "BS" or before[0] in "ESO" or before[1] != now[1]


def chunks(pairs):
    """Type, first and last word of the chunks in a sentence."""
    outside = [("O", "")]
    before, after = outside + pairs, pairs + outside
    starts = [n for n, now in enumerate(pairs) if chunk_starts(before[n], now)]
    ends = [n for n, now in enumerate(pairs) if chunk_ends(now, after[n + 1])]
    return [(pairs[start][1], start, end) for start, end in zip(starts, ends)]


@pytest.mark.parametrize("name", WRITTEN)
def test_scores_equal_conlleval(name):
    form, letters, places = WRITTEN[name]
    as_written = dict(zip(places, letters))

    def write(pairs):
        return [form.format(as_written[place], kind) if kind else place for place, kind in pairs]

    generator = random.Random(name)
    marked = [(place, kind) for place in places for kind in TYPES]
    scheme = schemes.find(["O", *write(marked)])
    assert scheme.name == name.split(",")[0].replace("IOB1", "BIO")
    right, found, expected_right, expected_found = [], [], [], []
    for _ in range(200):
        # Tags in any order, legal or not; most are found.
        tags = generator.choices([("O", ""), *marked], k=generator.randrange(1, 15))
        changed = [pair if generator.random() < 0.8 else generator.choice(marked) for pair in tags]
        right.append(scheme.entities(write(tags)))
        found.append(scheme.entities(write(changed)))
        expected_right.append(chunks(tags))
        expected_found.append(chunks(changed))
    assert (right, found) == (expected_right, expected_found)
    correct = sum(chunk in ours for ours, all_ in zip(found, expected_right) for chunk in all_)
    precision, recall = (correct / sum(map(len, side)) for side in (found, right))
    assert 0.2 < recall < 1
    assert schemes.scores(right, found) == {
        "precision": precision,
        "recall": recall,
        "f1": pytest.approx(2 * precision * recall / (precision + recall)),
    }


@pytest.mark.parametrize(
    "tags, entities",
    cases.table("""
        I-PER I-PER B-PER O I-LOC I-PER               | PER:0-1 PER:2-2 LOC:4-4 PER:5-5
        B-PER I-PER I-LOC O I-LOC                     | PER:0-1 LOC:2-2 LOC:4-4
        B_PER I_PER O                                 | PER:0-1
        PER-B PER-I O LOC-B                           | PER:0-1 LOC:3-3
        B-LOC E-LOC S-LOC S-LOC B-PER I-PER E-PER     | LOC:0-1 LOC:2-2 LOC:3-3 PER:4-6
        B-LOC L-LOC O B-LOC I-LOC L-LOC O U-LOC U-LOC | LOC:0-1 LOC:3-5 LOC:7-7 LOC:8-8
        B-LOC M-LOC E-LOC O S-LOC                     | LOC:0-2 LOC:4-4
        B E S B M E                                   | _:0-1 _:2-2 _:3-5
        I-PER E-PER I-PER O E-PER                     | PER:0-1 PER:2-2 PER:4-4
        PER O LOC ORG ORG PER PER                     | PER:0-0 LOC:2-2 ORG:3-4 PER:5-6
        DET NOUN NOUN M                               | DET:0-0 NOUN:1-2 M:3-3
        O O                                           |
    """),
)
def test_entities_of_each_scheme(tags, entities):
    tags = tags.split()
    found = schemes.find(sorted({*tags})).entities(tags)
    assert " ".join(f"{kind}:{first}-{last}" for kind, first, last in found) == entities


def test_scores_by_hand():
    first, second, third = (schemes.Entity("PER", start, start + 1) for start in (0, 3, 6))
    wrong = schemes.Entity("LOC", 6, 7)
    found = schemes.scores([[first, second, third], []], [[first, wrong], [third]])
    assert found == {"precision": 1 / 3, "recall": 1 / 3, "f1": 1 / 3}
    assert set(schemes.scores([[]], [[]]).values()) == {0.0}


@pytest.mark.parametrize(
    "labels, tag",
    cases.table("""
        B-PER I-PER LOC         | LOC
        B-PER I-PER L-PER S-PER | L-PER
        B-PER I-LOC B           | B
        B-PER B_LOC I-PER       | B_LOC
        PER-B I-PER LOC-B       | I-PER
        b-per i-per             | b-per
        B- B-PER                | B-
        W-PER B-PER             | W-PER
    """),
)
def test_labels_that_fit_no_scheme_are_refused_by_name(labels, tag):
    labels = labels.split()
    with pytest.raises(ValueError, match=f"'{tag}'"):
        schemes.find(labels).check(dict.fromkeys(labels, "a"))
    plain = schemes.find(labels, "plain")
    assert plain.entities(labels) == [
        schemes.Entity(label, number, number) for number, label in enumerate(labels)
    ]


def test_a_named_scheme_overrides():
    tags = ["B-PER", "I-PER"]
    assert len(schemes.find(tags, "plain").entities(tags)) == 2
    assert schemes.find(tags, "BILOU").name == "BILOU"
    for labels, name in ((["S-PER"], "BIO"), (["PER"], "BMES")):
        with pytest.raises(ValueError):
            schemes.find(labels, name).check(dict.fromkeys(labels, "a"))
