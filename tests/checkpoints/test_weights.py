# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Weights as arrays: read, renamed with every shape checked, written, reported."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.checkpoints import names
from albert.checkpoints import weights as checkpoint_conversion
from albert.checkpoints.names import ENCODER, POOLER, Name
from tests.support import pretrained_models, released_archives

PARTS = {
    ENCODER: [
        Name("bert/kernel", "albert.weight", (2, 3), is_transposed=True),
        Name("bert/bias", "albert.bias", (3,), aliases=("albert.offset",)),
    ],
    POOLER: [Name("bert/pooler", "albert.pooler", (2,))],
}
THEIRS = {
    "albert.weight": np.arange(6, dtype=np.float32).reshape(3, 2),
    "albert.bias": np.ones(3, np.float32),
    "albert.pooler": np.zeros(2, np.float32),
}


def renamed(values, to_ours=True, **keywords):
    keywords.setdefault("reason", lambda name: None)
    return checkpoint_conversion.rename(PARTS, values, to_ours=to_ours, **keywords)


@pytest.mark.slow
def test_checkpoints_are_read_without_the_optimizer_and_written_for_a_saver(tmp_path):
    config = pretrained_models.config(num_hidden_groups=2)
    saved = released_archives.write_checkpoint(tmp_path / "old", config, slots="adam")
    weights = checkpoint_conversion.read_checkpoint(str(tmp_path / "old"))
    model = {key for key in saved if "adam" not in key and key != "global_step"}
    assert set(weights.values) == model
    assert {item.name for item in weights.ignored} == set(saved) - model
    assert all(value.dtype == np.float32 for value in weights.values.values())
    checkpoint_conversion.write_checkpoint(str(tmp_path / "new"), weights.values)
    with tf.Graph().as_default(), tf.Session() as session:
        released_archives.build_pretraining_model(config)
        tf.train.Saver().restore(session, str(tmp_path / "new"))
        for variable in tf.trainable_variables():
            np.testing.assert_array_equal(session.run(variable), saved[variable.op.name])


def test_names_and_rows_change_and_come_back():
    conversion = renamed(THEIRS)
    np.testing.assert_array_equal(conversion.values["bert/kernel"], [[0, 2, 4], [1, 3, 5]])
    assert conversion.values["bert/kernel"].flags.c_contiguous
    report = conversion.report
    moved = checkpoint_conversion.Renamed("albert.weight", (3, 2), "bert/kernel", (2, 3))
    assert (report.converted[0], report.ignored, report.missing) == (moved, (), ())
    back = renamed(conversion.values, to_ours=False).values
    assert set(back) == set(THEIRS)
    assert all(np.array_equal(back[key], value) for key, value in THEIRS.items())


def test_an_alias_is_taken():
    values = dict(THEIRS)
    values["albert.offset"] = values.pop("albert.bias")
    np.testing.assert_array_equal(renamed(values).values["bert/bias"], np.ones(3))


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"albert.offset": np.zeros(3)}, "albert.bias and albert.offset"),
        ({"albert.weight": np.zeros((2, 3))}, r"albert.weight .*\[3, 2\].*\[2, 3\]"),
        ({"albert.bias": None}, r"albert.bias \[3\]"),
        ({"extra": np.zeros(4)}, r"extra \[4\]"),
        ({f"extra_{i}": np.zeros(1) for i in range(20)}, "and 8 more"),
    ],
)
def test_weights_that_do_not_fit_are_named(changes, named):
    values = {key: value for key, value in dict(THEIRS, **changes).items() if value is not None}
    with pytest.raises(ValueError, match=f"(?s){named}"):
        renamed(values)


def test_a_missing_part_and_variables_that_may_be_ignored_are_reported():
    values = dict(THEIRS, extra=np.zeros([4], np.float32))
    del values["albert.pooler"]
    conversion = renamed(values, reason=lambda name: "a spare one", missing_remark="new")
    assert conversion.parts == (ENCODER,)
    remark = checkpoint_conversion.Remark
    assert conversion.report.missing == (remark("bert/pooler", (2,), "new"),)
    assert conversion.report.ignored == (remark("extra", (4,), "a spare one"),)


def test_the_product_of_table_and_projection_is_the_table_of_googles_layout():
    config = pretrained_models.config(embedding_layout="albert_zh")
    generator = np.random.RandomState(0)
    table = generator.normal(size=[400, 8]).astype(np.float32)
    projection = generator.normal(size=[8, 16]).astype(np.float32)
    name = "bert/embeddings/word_embeddings"
    values = {name: table, f"{names.MAPPING}/kernel": projection}
    wide, found = checkpoint_conversion.to_google_layout(config, values)
    assert list(found) == [name]
    np.testing.assert_allclose(found[name], table @ projection, atol=1e-5)
    assert (wide.embedding_layout, wide.embedding_size) == ("google", 16)
    assert len(values) == 2  # the caller's own are as they were
