# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Weights of labels from --class_weights and from the data."""

import numpy as np
import pytest
from sklearn.utils import class_weight

from albert.tasks.classification.class_weights import label_weights


def test_named_labels_have_their_weights():
    labels = ["a", "b:c", "d"]
    assert label_weights("b:c:3, a:0.5", labels, ()) == [0.5, 3.0, 1.0]
    several = label_weights("d:3", labels, (), is_multi_label=True)
    assert several == [[1.0, 1.0], [1.0, 1.0], [1.0, 3.0]]


@pytest.mark.parametrize("text", ["yes", "yes:x", "yes:0", "yes:-1", "yes:nan", "ye:2", "yes:2,"])
def test_weights_name_what_is_wrong(text):
    with pytest.raises(ValueError, match=f"--class_weights={text}: .*yes"):
        label_weights(text, ["no", "yes"], ())


def sklearn_weights(labels, values):
    return class_weight.compute_class_weight("balanced", classes=np.array(labels), y=values)


def test_balanced_weights_are_those_of_scikit_learn():
    values = ["no"] * 7 + ["yes"] * 2 + ["maybe"]
    labels = ["maybe", "no", "yes"]
    expected = [1, *sklearn_weights(labels, values)]
    assert label_weights("balanced", ["new", *labels], values) == pytest.approx(expected)


def test_balanced_weights_of_several_labels_are_those_of_each_column():
    values = [("a", "b"), ("a",), (), ("b", "a")]
    columns = [[label in present for present in values] for label in "ab"]
    expected = [sklearn_weights([False, True], column).tolist() for column in columns]
    weights = label_weights("balanced", ["a", "b", "c"], values, is_multi_label=True)
    assert weights == [*expected, [1.0, 1.0]]
