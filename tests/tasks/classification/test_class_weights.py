# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Weights of labels from --class_weights and from the data."""

import numpy as np
import pytest
from sklearn.utils import class_weight

from albert.tasks.classification import class_weights


def test_named_labels_have_their_weights():
    assert class_weights.parse("b:c:3, a:0.5", ["a", "b:c", "d"]) == [0.5, 3.0, 1.0]


@pytest.mark.parametrize("text", ["yes", "yes:x", "yes:0", "yes:-1", "yes:nan", "ye:2", "yes:2,"])
def test_weights_name_what_is_wrong(text):
    with pytest.raises(ValueError, match=f"--class_weights={text}: .*yes"):
        class_weights.parse(text, ["no", "yes"])


def test_balanced_weights_are_those_of_scikit_learn():
    examples = ["no"] * 7 + ["yes"] * 2 + ["maybe"]
    labels = ["maybe", "no", "yes"]
    expected = class_weight.compute_class_weight("balanced", classes=np.array(labels), y=examples)
    assert class_weights.balanced(examples, labels) == pytest.approx(expected.tolist())
    weights = dict(zip(["new", *labels], class_weights.balanced(examples, ["new", *labels])))
    assert weights == pytest.approx({"new": 1, **dict(zip(labels, expected))})
