# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Weights as arrays: read, renamed with every shape checked, written, reported."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.conversion import names as checkpoint_names
from albert.conversion import weights as checkpoint_conversion
from tests.support import pretrained_models, released_archives

ENCODER, POOLER = checkpoint_names.ENCODER, checkpoint_names.POOLER


def name(ours, theirs, shape, **more):
    return checkpoint_names.Name(ours, theirs, shape, **more)


PARTS = {
    ENCODER: [
        name("bert/kernel", "albert.weight", (2, 3), is_transposed=True),
        name("bert/bias", "albert.bias", (3,), aliases=("albert.offset",)),
    ],
    POOLER: [name("bert/pooler", "albert.pooler", (2,))],
}
THEIRS = {
    "albert.weight": np.arange(6, dtype=np.float32).reshape(3, 2),
    "albert.bias": np.ones(3, np.float32),
    "albert.pooler": np.zeros(2, np.float32),
}


def renamed(values, to_ours=True, **keywords):
    keywords.setdefault("reason", lambda name: None)
    return checkpoint_conversion.rename(PARTS, values, to_ours=to_ours, **keywords)


class TestCheckpoints:
    @pytest.mark.slow
    def test_what_is_written_is_restored_by_a_saver(self, tmp_path):
        config = pretrained_models.config(num_hidden_groups=2)
        written = released_archives.write_checkpoint(tmp_path / "old", config)
        checkpoint_conversion.write_checkpoint(str(tmp_path / "new"), written)
        with tf.Graph().as_default(), tf.Session() as session:
            released_archives.build_pretraining_model(config)
            tf.train.Saver().restore(session, str(tmp_path / "new"))
            for variable in tf.trainable_variables():
                np.testing.assert_array_equal(session.run(variable), written[variable.op.name])

    @pytest.mark.slow
    def test_the_optimisers_variables_are_not_read_but_reported(self, tmp_path):
        config = pretrained_models.config()
        written = released_archives.write_checkpoint(tmp_path / "model", config, slots="adam")
        weights = checkpoint_conversion.read_checkpoint(str(tmp_path / "model"))
        model = {key for key in written if "adam" not in key and key != "global_step"}
        assert set(weights.values) == model
        assert {item.name for item in weights.ignored} == set(written) - model
        assert all(value.dtype == np.float32 for value in weights.values.values())

    def test_a_damaged_checkpoint_is_refused(self, tmp_path):
        released_archives.write_checkpoint(tmp_path / "model", pretrained_models.config())
        (tmp_path / "model.index").write_bytes(b"nothing")
        with pytest.raises(ValueError, match="cannot be read"):
            checkpoint_conversion.read_checkpoint(str(tmp_path / "model"))


class TestRenaming:
    def test_names_and_rows_change_and_come_back(self):
        conversion = renamed(THEIRS)
        np.testing.assert_array_equal(conversion.values["bert/kernel"], [[0, 2, 4], [1, 3, 5]])
        assert conversion.values["bert/kernel"].flags.c_contiguous
        back = renamed(conversion.values, to_ours=False)
        assert set(back.values) == set(THEIRS)
        for key, value in THEIRS.items():
            np.testing.assert_array_equal(back.values[key], value)

    def test_the_report_has_both_names_and_shapes(self):
        report = renamed(THEIRS).report
        assert report.converted[0] == checkpoint_conversion.Renamed(
            "albert.weight", (3, 2), "bert/kernel", (2, 3)
        )
        assert (report.ignored, report.missing) == ((), ())

    def test_an_alias_is_taken(self):
        values = dict(THEIRS)
        values["albert.offset"] = values.pop("albert.bias")
        np.testing.assert_array_equal(renamed(values).values["bert/bias"], np.ones(3))

    def test_aliases_that_differ_are_refused(self):
        values = dict(THEIRS, **{"albert.offset": np.zeros(3, np.float32)})
        with pytest.raises(ValueError, match="albert.bias and albert.offset should be one"):
            renamed(values)

    def test_another_shape_is_refused(self):
        values = dict(THEIRS, **{"albert.weight": np.zeros((2, 3), np.float32)})
        with pytest.raises(ValueError, match=r"albert.weight should be \[3, 2\] and is \[2, 3\]"):
            renamed(values)

    def test_a_missing_variable_of_the_encoder_is_refused(self):
        values = {key: THEIRS[key] for key in ("albert.weight", "albert.pooler")}
        with pytest.raises(ValueError, match=r"albert.bias \[3\] is missing"):
            renamed(values)

    def test_a_missing_part_is_reported(self):
        values = {key: THEIRS[key] for key in ("albert.weight", "albert.bias")}
        conversion = renamed(values)
        assert conversion.parts == (ENCODER,)
        assert [item.name for item in conversion.report.missing] == ["bert/pooler"]

    def test_an_unknown_variable_is_refused_unless_there_is_a_reason(self):
        values = dict(THEIRS, extra=np.zeros([4], np.float32))
        with pytest.raises(ValueError, match=r"extra \[4\] is not known"):
            renamed(values)
        report = renamed(values, reason=lambda name: "a spare one").report
        assert report.ignored == (checkpoint_conversion.Remark("extra", (4,), "a spare one"),)

    def test_long_lists_of_faults_are_cut(self):
        values = dict(THEIRS, **{f"extra_{i}": np.zeros(1, np.float32) for i in range(20)})
        with pytest.raises(ValueError, match="and 8 more"):
            renamed(values)


class TestGoogleLayout:
    def test_the_product_of_table_and_projection_is_the_new_table(self):
        config = pretrained_models.config(embedding_layout="albert_zh")
        generator = np.random.RandomState(0)
        table = generator.normal(size=[400, 8]).astype(np.float32)
        projection = generator.normal(size=[8, 16]).astype(np.float32)
        values = {
            "bert/embeddings/word_embeddings": table,
            "bert/encoder/embedding_hidden_mapping_in/kernel": projection,
        }
        wide = checkpoint_conversion.to_google_layout(config, values)
        assert list(wide.values) == ["bert/embeddings/word_embeddings"]
        np.testing.assert_allclose(
            wide.values["bert/embeddings/word_embeddings"], table @ projection, atol=1e-5
        )
        assert (wide.config.embedding_layout, wide.config.embedding_size) == ("google", 16)
        assert len(values) == 2  # the caller's own are as they were

    def test_googles_own_layout_is_refused(self):
        config = modeling.AlbertConfig.from_dict(released_archives.CONFIG)
        with pytest.raises(ValueError, match="has Google's layout already"):
            checkpoint_conversion.to_google_layout(config, {})


def test_the_report_in_words_counts_variables_and_parameters():
    remark = checkpoint_conversion.Remark
    report = renamed(THEIRS).report._replace(
        ignored=(remark("w/lamb_m", (5,), "of the optimiser"), remark("old", (2, 2), "why")),
        missing=(remark("head", (7,), "new"),),
        notes=("a note.",),
    )
    lines = checkpoint_conversion.format_report(report).splitlines()
    assert lines[0] == "converted: 3 variables, 11 parameters"
    assert lines[1] == "  albert.weight [3, 2] -> bert/kernel [2, 3]"
    assert lines[4:] == [
        "ignored: 2 variables, 9 parameters",
        "  1 of the optimiser, such as w/lamb_m",
        "  old [2, 2]: why",
        "missing: 1 variable, 7 parameters",
        "  head [7]: new",
        "note: a note.",
    ]
