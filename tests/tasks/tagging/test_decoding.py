# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Valid sequences of tags: which there are, and the most probable one against all of them."""

import itertools
import re

import numpy as np
import pytest

from albert.tasks.tagging import decoding, schemes
from tests.support import cases

TYPES = ("PER", "LOC")
# A sentence is valid if it is made of these parts; a part is of one type.
PARTS = {
    "BIO": "O|BI*",
    "BIOES": "O|S|BI*E",
    "BILOU": "O|U|BI*L",
    "BMES": "O|S|BM*E",
}


def is_valid(scheme, tags):
    """Whether a regular expression over whole tags describes a sentence."""
    parts = [PARTS[scheme].replace("O", "(?:O )" if kind == "PER" else "(?!)") for kind in TYPES]
    parts = [re.sub("([BIESMLU])", rf"(?:\1-{kind} )", part) for part, kind in zip(parts, TYPES)]
    return re.fullmatch(f"(?:{'|'.join(parts)})*", "".join(f"{tag} " for tag in tags)) is not None


@pytest.mark.parametrize("name", PARTS)
def test_best_valid_sequence_is_the_best_of_all(name):
    letters = sorted({*PARTS[name]} & {*"BIESMLU"})
    labels = ["O", *(f"{letter}-{kind}" for letter in letters for kind in TYPES)]
    scheme = schemes.find(labels)
    assert scheme.name == name
    costs = decoding.transition_costs(scheme, labels)
    generator, changes = np.random.RandomState(1), 0
    for length in (1, 2, 3, 4) * 5:
        logits = generator.normal(size=[length, len(labels)]).astype(np.float32)
        best = logits.argmax(axis=1)
        expected = max(
            (
                numbers
                for numbers in itertools.product(range(len(labels)), repeat=length)
                if is_valid(name, [labels[number] for number in numbers])
            ),
            key=lambda numbers: logits[range(length), numbers].sum(dtype=np.float64),
        )
        assert decoding.best_tags(logits, costs).tolist() == list(expected)
        changes += list(expected) != best.tolist()
    assert 0 < changes < 20


def test_labels_without_a_valid_sequence_give_the_fewest_errors():
    labels = ["B-PER", "E-PER"]
    costs = decoding.transition_costs(schemes.find(labels), labels)
    assert decoding.best_tags(np.array([[0, 3], [0, 1], [0, 1]]), costs).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "sentences, follows",
    cases.table("""
        I-PER I-PER B-PER O I-LOC, O B-LOC       | no
        B-PER I-PER O, I-LOC, B-LOC, B-PER       | no
        B-PER I-PER O, O O, O                    | yes
        B-PER O, I-LOC, B-LOC, O, O, O, O, O, O  | no
        B-PER I-PER O I-LOC, I-LOC               | yes
        B-PER E-PER, S-LOC O, S-LOC S-PER        | yes
        B-PER E-PER, B-LOC O                     | yes
        B-PER, B-PER E-PER                       | no
        PER PER O                                | yes
        O                                        | yes
    """),
)
def test_training_data_that_break_the_scheme_are_recognized(sentences, follows):
    sentences = [tags.split() for tags in sentences.split(",")]
    labels = {tag for tags in sentences for tag in tags}
    scheme = schemes.find(labels)
    labels = ["S-PER", *labels]
    costs = decoding.transition_costs(scheme, labels)
    assert decoding.follow(sentences, labels, costs) == (follows == "yes")
    assert decoding.follow([["S-PER"] * 99, *sentences], labels, costs)  # few errors
    assert costs.any() == any(tag[0] in "BE" for tag in labels)
    logits = np.eye(len(labels))  # No label is impossible.
    assert all(
        label in decoding.best_tags(logits[[label] * 3], costs) for label in range(len(labels))
    )
