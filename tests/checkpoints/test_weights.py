# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Weights as arrays: read, renamed with every shape checked, written, reported."""

import numpy as np
import pytest

from albert.checkpoints import names, weights
from albert.checkpoints.names import ENCODER, POOLER, Name
from albert.util.errors import UserError
from tests.support import pretrained_models

PARTS = {
    ENCODER: [
        Name("bert/kernel", "albert.weight", (2, 3), is_transposed=True),
        Name("bert/bias", "albert.bias", (3,)),
    ],
    POOLER: [Name("bert/pooler", "albert.pooler", (2,))],
}
THEIRS = {
    "albert.weight": np.arange(6, dtype=np.float32).reshape(3, 2),
    "albert.bias": np.ones(3, np.float32),
    "albert.pooler": np.zeros(2, np.float32),
}


def renamed(values, to_ours=True, strict=("",)):
    return weights.rename(PARTS, values, to_ours=to_ours, required=[ENCODER], strict=strict)


def test_rename_is_inverted_by_the_other_direction():
    values, report = renamed(THEIRS)
    np.testing.assert_array_equal(values["bert/kernel"], [[0, 2, 4], [1, 3, 5]])
    assert values["bert/kernel"].flags.c_contiguous
    assert [entry.name for entry in report.converted] == list(THEIRS)
    assert (report.ignored, report.missing) == ([], [])
    back, _ = renamed(values, to_ours=False)
    assert set(back) == set(THEIRS)
    assert all(np.array_equal(back[key], value) for key, value in THEIRS.items())


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"albert.weight": np.zeros((2, 3))}, ["albert.weight [3, 2]", "albert.weight [2, 3]"]),
        ({"albert.bias": None}, ["albert.bias [3]"]),
        ({"extra": np.zeros(4)}, ["extra [4]"]),
    ],
)
def test_rename_names_weights_that_do_not_fit(changes, named):
    values = {key: value for key, value in dict(THEIRS, **changes).items() if value is not None}
    with pytest.raises(UserError) as caught:
        renamed(values)
    assert all(name in str(caught.value) for name in named)


def test_rename_reports_missing_and_ignored():
    values = dict(THEIRS, extra=np.zeros([4], np.float32))
    del values["albert.pooler"]
    _, report = renamed(values, strict=("albert.",))
    assert list(map(str, report.missing)) == ["bert/pooler [2]"]
    assert list(map(str, report.ignored)) == ["extra [4]"]


def test_google_layout_has_product_of_table_and_projection():
    config = pretrained_models.config(embedding_layout="albert_zh")
    generator = np.random.RandomState(0)
    table = generator.normal(size=[400, 8]).astype(np.float32)
    projection = generator.normal(size=[8, 16]).astype(np.float32)
    name = "bert/embeddings/word_embeddings"
    values = {name: table, f"{names.MAPPING}/kernel": projection}
    wide, found = weights.to_google_layout(config, values)
    assert list(found) == [name]
    np.testing.assert_allclose(found[name], table @ projection, atol=1e-5)
    assert (wide.embedding_layout, wide.embedding_size) == ("google", 16)
    assert len(values) == 2  # the caller's own are as they were
