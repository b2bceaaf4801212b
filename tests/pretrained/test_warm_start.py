# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests of the warm start: what is found, loaded, refused and reported."""

import os
import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.pretrained import warm_start as checkpoint_init
from tests.support import damaged_files
from tests.support.shared import needs_shared, shared_path

TABLE = "bert/embeddings/word_embeddings"
BLOCK = "bert/encoder/transformer/group_{}/inner_group_{}"
QUERY = BLOCK + "/attention_1/self/query/kernel"
NORM = BLOCK + "/LayerNorm/gamma"
FEED_FORWARD = BLOCK + "/ffn_1/intermediate/dense/kernel"
NORM_1 = BLOCK + "/LayerNorm_1/gamma"
POOLER = "bert/pooler/dense/bias"
MLM_BIAS = "cls/predictions/output_bias"
ONE_BLOCK_PATTERNS = (QUERY, NORM, FEED_FORWARD, NORM_1)
ONE_BLOCK = [pattern.format(0, 0) for pattern in ONE_BLOCK_PATTERNS]
BACKBONE = [TABLE] + ONE_BLOCK + [POOLER]


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def value_of(name, shape=(2, 3)):
    """A value that is different for each name."""
    start = float(sum(ord(letter) * place for place, letter in enumerate(name, 1)))
    return np.arange(start, start + np.prod(shape), dtype=np.float32).reshape(shape)


def write_checkpoint(prefix, names, *, shapes=None, global_step=None, dtype=np.float32):
    """Writes variables of these names; returns the prefix as a string."""
    with tf.Graph().as_default(), tf.Session() as session:
        for name in names:
            shape = (shapes or {}).get(name, (2, 3))
            tf.get_variable(name, initializer=value_of(name, shape).astype(dtype))
        if global_step is not None:
            step = tf.train.get_or_create_global_step()
            session.run(step.initializer)
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        return saver.save(session, str(prefix), global_step=global_step, write_meta_graph=False)


def make_variables(names, shapes=None, use_resource=None):
    return [
        tf.get_variable(
            name,
            shape=(shapes or {}).get(name, (2, 3)),
            initializer=tf.zeros_initializer(),
            use_resource=use_resource,
        )
        for name in names
    ]


def initial_values(variables):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return {item.op.name: session.run(item) for item in variables}


def names_of(entries):
    return [entry.name for entry in entries]


class TestResolveCheckpoint:
    @pytest.mark.parametrize("ending", ["", ".index", ".data-00000-of-00001", ".meta"])
    def test_a_file_of_the_checkpoint_means_its_prefix(self, ending, tmp_path, monkeypatch):
        folder = tmp_path / "run [1]"  # which is no pattern
        folder.mkdir()
        prefix = write_checkpoint(folder / "model.ckpt-5", [TABLE])
        assert checkpoint_init.resolve_checkpoint(prefix + ending) == prefix
        monkeypatch.setenv("HOME", str(tmp_path))
        assert checkpoint_init.resolve_checkpoint(f"~/run [1]/model.ckpt-5{ending}") == prefix

    def test_a_folder_means_its_best_checkpoint_or_the_one_its_state_names(self, tmp_path):
        write_checkpoint(tmp_path / "model.ckpt-9", [TABLE])
        named = write_checkpoint(tmp_path / "model.ckpt-7", [TABLE])
        assert checkpoint_init.resolve_checkpoint(tmp_path) == named
        best = write_checkpoint(tmp_path / "model.ckpt-best", [TABLE])
        write_checkpoint(tmp_path / "model.ckpt-11", [TABLE])
        assert checkpoint_init.resolve_checkpoint(f"{tmp_path}/") == best

    @pytest.mark.parametrize("kind", damaged_files.STATES)
    def test_a_folder_whose_state_helps_nobody_means_its_newest_one(self, tmp_path, kind):
        newest = write_checkpoint(tmp_path / "model.ckpt-10", [TABLE])
        write_checkpoint(tmp_path / "model.ckpt-9", [TABLE])
        (tmp_path / "checkpoint").write_bytes(damaged_files.STATES[kind])
        assert checkpoint_init.resolve_checkpoint(str(tmp_path)) == newest

    def test_a_folder_without_a_state_means_its_only_checkpoint(self, tmp_path):
        prefix = write_checkpoint(tmp_path / "first", [TABLE])
        os.remove(str(tmp_path / "checkpoint"))
        assert checkpoint_init.resolve_checkpoint(str(tmp_path)) == prefix
        write_checkpoint(tmp_path / "second", [TABLE])
        os.remove(str(tmp_path / "checkpoint"))
        with pytest.raises(ValueError, match="first.*second"):
            checkpoint_init.resolve_checkpoint(str(tmp_path))

    @pytest.mark.parametrize(
        "path, words",
        [
            ("", "other.index"),
            ("/model.ckpt-bset", "model.ckpt-best"),
            ("/nowhere/model.ckpt", "nowhere"),
            ("/model.safetensors", "from_huggingface"),
            ("/model.ckpt-best.index", "no .data file"),
        ],
    )
    def test_what_is_no_checkpoint_is_refused_with_what_there_is(self, tmp_path, path, words):
        if path:
            prefix = write_checkpoint(tmp_path / "model.ckpt-best", [TABLE])
            os.remove(f"{prefix}.data-00000-of-00001")
        else:
            (tmp_path / "other.index.bin").write_bytes(b"")
        with pytest.raises(ValueError, match=words):
            checkpoint_init.resolve_checkpoint(f"{tmp_path}{path}")

    def test_an_empty_path_is_refused(self):
        with pytest.raises(ValueError, match="empty"):
            checkpoint_init.resolve_checkpoint("")


class TestWarmStart:
    @pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
    def test_backbone_and_heads_take_the_checkpoints_values(self, use_resource, tmp_path):
        names = BACKBONE + [MLM_BIAS]
        prefix = write_checkpoint(tmp_path / "model.ckpt", names)
        variables = make_variables(names, use_resource=use_resource)
        start = checkpoint_init.warm_start(prefix, variables)
        for name, value in initial_values(variables).items():
            np.testing.assert_array_equal(value, value_of(name))
        assert start.report.checkpoint == prefix
        assert start.scaffold_fn is None
        assert names_of(start.report.loaded) == names
        assert start.report.new == start.report.left_over == start.report.optimizer_state == ()

    def test_missing_heads_are_new_and_unused_ones_left_over(self, tmp_path):
        slots = [f"{TABLE}/adam_m", f"{TABLE}/adam_v", f"{POOLER}/lamb_m"]
        write_checkpoint(tmp_path / "model.ckpt", BACKBONE + [MLM_BIAS] + slots, global_step=0)
        variables = make_variables(BACKBONE + ["output_weights"])
        report = checkpoint_init.warm_start(str(tmp_path), variables).report
        assert names_of(report.loaded) == BACKBONE
        assert report.new == (checkpoint_init.Entry("output_weights", (2, 3)),)
        assert names_of(report.left_over) == [MLM_BIAS]
        assert names_of(report.optimizer_state) == sorted(slots) + ["global_step"]
        assert not initial_values(variables)["output_weights"].any()

    def test_head_of_another_shape_is_new_and_says_so(self, tmp_path):
        prefix = write_checkpoint(tmp_path / "model.ckpt", BACKBONE + ["output_weights"])
        variables = make_variables(BACKBONE + ["output_weights"], {"output_weights": (3, 3)})
        report = checkpoint_init.warm_start(prefix, variables).report
        assert report.new == (
            checkpoint_init.Entry("output_weights", (3, 3), "has the shape [2, 3]"),
        )
        assert "output_weights [3, 3] (in the checkpoint it has the shape [2, 3])" in (
            checkpoint_init.format_report(report)
        )

    def test_values_survive_two_replicas(self, tmp_path):
        prefix = write_checkpoint(tmp_path / "model.ckpt", BACKBONE)
        strategy = tf.distribute.MirroredStrategy(
            ["/cpu:0", "/cpu:1"], cross_device_ops=tf.distribute.ReductionToOneDevice()
        )

        def replica():
            checkpoint_init.warm_start(prefix, make_variables(BACKBONE))
            return tf.constant(0)

        with strategy.scope():
            (getattr(strategy, "run", None) or strategy.experimental_run_v2)(replica)
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            session.run(tf.global_variables_initializer())
            for item in tf.global_variables():
                copies = session.run(list(strategy.experimental_local_results(item)))
                assert len(copies) == 2
                for copy in copies:
                    np.testing.assert_array_equal(copy, value_of(item.name.split(":")[0]))

    def test_tpu_initialises_in_the_scaffold_function(self, tmp_path):
        prefix = write_checkpoint(tmp_path / "model.ckpt", BACKBONE)
        variables = make_variables(BACKBONE)
        start = checkpoint_init.warm_start(prefix, variables, use_tpu=True)
        assert not initial_values(variables)[TABLE].any()
        assert isinstance(start.scaffold_fn(), tf.train.Scaffold)
        np.testing.assert_array_equal(initial_values(variables)[TABLE], value_of(TABLE))


class TestGroups:
    """Starting a model of many groups from a checkpoint of one."""

    def start(self, tmp_path, names, **options):
        prefix = write_checkpoint(tmp_path / "model.ckpt", BACKBONE)
        variables = make_variables(names)
        report = checkpoint_init.warm_start(prefix, variables, **options).report
        return initial_values(variables), report

    @pytest.mark.parametrize(
        "names",
        [
            [pattern.format(group, 0) for group in range(3) for pattern in ONE_BLOCK_PATTERNS],
            # Layers that share only attention.
            [QUERY.format(0, 0), NORM.format(0, 0)]
            + [part.format(layer, 0) for layer in range(4) for part in (FEED_FORWARD, NORM_1)],
            [*ONE_BLOCK, QUERY.format(1, 1)],
            [*ONE_BLOCK, QUERY.format(1, 0).replace("attention_1", "attention_2")],
        ],
        ids=["groups", "layers", "inner groups", "more attention"],
    )
    def test_every_variable_of_every_group_takes_the_value_of_group_0(self, tmp_path, names):
        values, report = self.start(tmp_path, [TABLE, POOLER] + names, init_from_group0=True)
        for name in names:
            source = re.sub(r"group_\d+", "group_0", name).replace("attention_2", "attention_1")
            np.testing.assert_array_equal(values[name], value_of(source))
        assert sorted(names_of(report.loaded)) == sorted([TABLE, POOLER] + names)
        assert report.left_over == report.new == ()

    def test_inner_groups_the_checkpoint_has_take_its_own(self, tmp_path):
        inner = QUERY.format(0, 1)
        prefix = write_checkpoint(tmp_path / "inner.ckpt", [*BACKBONE, inner])
        variables = make_variables([*BACKBONE, inner, QUERY.format(1, 1)])
        checkpoint_init.warm_start(prefix, variables, init_from_group0=True)
        values = initial_values(variables)
        np.testing.assert_array_equal(values[QUERY.format(1, 1)], value_of(inner))

    def test_missing_groups_are_refused_with_the_flag_that_helps(self, tmp_path):
        with pytest.raises(ValueError, match="fewer groups .*--init_from_group0"):
            self.start(tmp_path, BACKBONE + [QUERY.format(1, 0)])


class TestRefusals:
    def refusal(self, tmp_path, saved, names=tuple(BACKBONE), **options):
        shapes = options.pop("shapes", None)
        prefix = write_checkpoint(tmp_path / "model.ckpt", saved, **options)
        with pytest.raises(ValueError) as caught:
            checkpoint_init.warm_start(prefix, make_variables(names, shapes))
        assert prefix in str(caught.value)
        return str(caught.value)

    def test_missing_backbone_variables_are_listed(self, tmp_path):
        message = self.refusal(tmp_path, BACKBONE[:-2])
        assert f"{NORM_1.format(0, 0)} [2, 3]" in message and f"{POOLER} [2, 3]" in message
        assert TABLE not in message.split("begins with")[0]

    @pytest.mark.parametrize(
        "options, words",
        [
            (
                {"shapes": {POOLER: (5,)}},
                f"{POOLER} [5]: in the checkpoint it has the shape [2, 3]",
            ),
            ({"shapes": {TABLE: (7, 3)}}, "vocab_size or embedding_size differ"),
            ({"dtype": np.float64}, "float64"),
        ],
    )
    def test_another_shape_or_type_is_refused_with_the_reason(self, tmp_path, options, words):
        assert words in self.refusal(tmp_path, BACKBONE, **options)

    def test_long_lists_are_cut(self, tmp_path):
        names = [f"bert/part_{number}/kernel" for number in range(20)]
        message = self.refusal(tmp_path, [TABLE], names=names)
        assert message.count("is missing") == 12 and "8 more" in message

    @pytest.mark.parametrize(
        "saved, advice",
        [
            ("bert/encoder/layer_shared/attention/self/query/kernel", "from_albert_zh"),
            ("bert/encoder/layer_0/attention/self/query/kernel", "one of BERT"),
            ("albert/encoder/albert_layer_groups_._0/kernel", "from_huggingface"),
            ("model/kernel/.ATTRIBUTES/VARIABLE_VALUE", "tf.train.Checkpoint or Keras"),
            ("module/bert/pooler/dense/bias", "TF-Hub module"),
        ],
    )
    def test_a_foreign_layout_is_recognised(self, saved, advice, tmp_path):
        assert advice in self.refusal(tmp_path, [TABLE, saved])

    def test_a_checkpoint_with_nothing_of_the_model_is_refused(self, tmp_path):
        message = self.refusal(tmp_path, [TABLE], names=["head/kernel"])
        assert "None of the model's variables is in it" in message

    def test_required_scopes_are_the_callers(self, tmp_path):
        prefix = write_checkpoint(tmp_path / "model.ckpt", [TABLE])
        variables = make_variables([TABLE, MLM_BIAS])
        with pytest.raises(ValueError, match=f"{MLM_BIAS} .*is missing"):
            checkpoint_init.warm_start(prefix, variables, required_scopes=["bert", "cls"])

    def test_a_truncated_index_is_refused(self, tmp_path):
        prefix = write_checkpoint(tmp_path / "model.ckpt", BACKBONE)
        with open(prefix + ".index", "r+b") as index:
            index.truncate(20)
        with pytest.raises(ValueError, match="cannot be read .* may be truncated"):
            checkpoint_init.warm_start(prefix, make_variables(BACKBONE))


class TestReport:
    def test_few_lines_say_what_was_loaded_with_numbers_of_parameters(self, tmp_path):
        slots = [f"{TABLE}/adam_m"]
        prefix = write_checkpoint(tmp_path / "model.ckpt", BACKBONE + [MLM_BIAS] + slots)
        variables = make_variables(BACKBONE + ["output_weights"], {"output_weights": (400, 3)})
        report = checkpoint_init.warm_start(prefix, variables).report
        assert checkpoint_init.format_report(report).splitlines() == [
            f"Warm start from {prefix}",
            "  loaded: 6 variables, 36 parameters",
            "  new: 1 variable, 1,200 parameters: output_weights [400, 3]",
            f"  left over in the checkpoint: 1 variable, 6 parameters: {MLM_BIAS} [2, 3]",
            "  optimizer state, not loaded: 1 variable, 6 parameters",
        ]

    def test_without_a_checkpoint_and_with_scalars(self):
        assert "--init_checkpoint" in checkpoint_init.format_report(None)
        assert checkpoint_init.count_parameters([checkpoint_init.Entry("global_step", ())]) == 1


def build_model(config, **changes):
    config = modeling.AlbertConfig(**dict(config.to_dict(), **changes))
    ids = tf.ones([1, 8], tf.int32)
    model = modeling.AlbertModel(config, False, ids)
    labels = tf.ones([1, 1], tf.int32)
    modeling.get_masked_lm_output(
        config,
        model.get_sequence_output(),
        model.get_embedding_table(),
        labels,
        labels,
        tf.ones([1, 1]),
        projection=model.get_embedding_projection(),
    )
    modeling.get_sentence_order_output(config, model.get_pooled_output(), labels)
    return tf.trainable_variables()


@needs_shared
class TestCheckpointsOfTheReference:
    @pytest.mark.parametrize(
        "case", ["base", "groups3", "inner2", "groups2_inner2", "equal", "relu", "tanh", "dropout"]
    )
    def test_every_variable_of_the_model_is_loaded(self, case):
        folder = shared_path(f"golden/model_tiny/{case}")
        config = modeling.AlbertConfig.from_json_file(str(folder / "albert_config.json"))
        variables = build_model(config)
        report = checkpoint_init.warm_start(str(folder), variables).report
        assert report.new == report.left_over == report.optimizer_state == ()
        reader = tf.train.load_checkpoint(report.checkpoint)
        for name, value in initial_values(variables).items():
            np.testing.assert_array_equal(value, reader.get_tensor(name), err_msg=name)

    @pytest.mark.slow
    @pytest.mark.parametrize("changes", [{"num_hidden_groups": 3}, {"share_type": "none"}])
    def test_more_groups_start_from_group_0(self, changes):
        folder = shared_path("golden/model_tiny/base")
        config = modeling.AlbertConfig.from_json_file(str(folder / "albert_config.json"))
        variables = build_model(config, **changes)
        report = checkpoint_init.warm_start(str(folder), variables, init_from_group0=True).report
        assert report.new == report.left_over == ()
        assert len(report.loaded) > len({entry.source for entry in report.loaded})
        reader = tf.train.load_checkpoint(report.checkpoint)
        values = initial_values(variables)
        for entry in report.loaded:
            np.testing.assert_array_equal(values[entry.name], reader.get_tensor(entry.source))

    def test_training_checkpoint_leaves_slots_and_step_alone(self):
        folder = shared_path("golden/model_tiny")
        config = modeling.AlbertConfig.from_json_file(str(folder / "base/albert_config.json"))
        trained = folder / "train_trace/base_lamb/model.ckpt-8.index"
        report = checkpoint_init.warm_start(str(trained), build_model(config)).report
        assert report.new == report.left_over == ()
        assert len(report.optimizer_state) == 2 * len(report.loaded) + 1

    def test_other_config_is_refused(self):
        folder = shared_path("golden/model_tiny/base")
        config = modeling.AlbertConfig.from_json_file(str(folder / "albert_config.json"))
        variables = build_model(config, vocab_size=config.vocab_size + 1)
        with pytest.raises(ValueError, match="vocab_size or embedding_size differ"):
            checkpoint_init.warm_start(str(folder), variables)
