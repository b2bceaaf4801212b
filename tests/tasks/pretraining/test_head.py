# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Input, losses and metrics of pretraining, by the functions that programs call."""

import collections

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.data import record_files
from albert.run_pretraining import input_fn_builder, model_fn_builder
from albert.runtimes import estimator as tf_estimator
from albert.tasks.pretraining.features import evaluation_part, read_files
from albert.tasks.pretraining.flags import PretrainingFlags
from albert.tasks.pretraining.head import evaluation_results
from albert.training import hooks, program
from albert.util import UserError
from tests.support import damaged_files, golden_heads, graphs, read_json, training_scripts
from tests.support import pretraining_records as records
from tests.support.fine_tuned_models import NO_DROPOUT
from tests.support.number_records import served
from tests.support.recorded import assert_close
from tests.support.shared import needs_shared, shared_path

CONFIG = dict(records.CONFIG, num_hidden_layers=1, **NO_DROPOUT)
SIZES = records.LENGTH, records.PREDICTIONS


@pytest.fixture(scope="module")
def record_file(tmp_path_factory):
    return records.write_records(tmp_path_factory.mktemp("records") / "a.tf_record", 21)


@pytest.fixture(scope="module")
def uneven(tmp_path_factory):
    """A batch in which some rows have fewer predictions than others."""
    path = records.write_records(tmp_path_factory.mktemp("uneven") / "a", 8)
    batch = records.read(path, *SIZES)
    batch["masked_lm_weights"][:3, 1] = 0.0
    batch["masked_lm_weights"][5] = 0.0
    return batch


def built(config=None, first_weights=None, **flags):
    """A model function without dropout."""
    values = {"learning_rate": 0.02, "num_train_steps": 20, "num_warmup_steps": 0, "seed": 1}
    config = config or modeling.AlbertConfig.from_dict(CONFIG)
    return model_fn_builder(
        config,
        first_weights,
        **{**values, **flags},
        use_tpu=False,
        use_one_hot_embeddings=False,
    )


# Losses before each update, variables after the last, and what was logged of each.
Trace = collections.namedtuple("Trace", "losses variables scalars")


def train(model_fn, batch, steps):
    """Runs the model function's update on one batch."""
    with graphs.new_session() as session:
        tf.set_random_seed(1)
        tensors = {name: tf.constant(value) for name, value in batch.items()}
        spec = model_fn(tensors, None, tf_estimator.ModeKeys.TRAIN, {})
        fetches = [spec.loss, hooks.reported_scalars(), spec.train_op]
        session.run(tf.global_variables_initializer())
        losses, scalars, _ = zip(*(session.run(fetches) for _ in range(steps)))
        values = session.run({item.op.name: item for item in tf.global_variables()})
    return Trace(losses, values, scalars)


# ---- input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "flags, named",
    [
        ("--max_seq_length=12", "input_ids.* 16 .* 12"),
        ("--max_predictions_per_seq=5", "masked_lm_positions.* 3 .* 5"),
        ("--albert_config_file={}", "vocab_size"),
    ],
)
def test_unfit_records_are_refused(training_data, tmp_path, flags, named):
    small = records.write_config(tmp_path / "small.json", vocab_size=10)
    with pytest.raises(ValueError, match=f"{training_data}/train-0.tf_record.*{named}"):
        training_scripts.run(
            "run_pretraining", training_data, tmp_path / "out", flags.format(small)
        )


def test_start_names_damaged_record(tmp_path):
    path = records.write_records(tmp_path / "records", 3)
    flags = PretrainingFlags(max_seq_length=SIZES[0], max_predictions_per_seq=SIZES[1])
    length = len(record_files.first_records(path)[0])
    damaged_files.flip_bit(path, length + 16 + 13)  # how long the second record's content is
    with pytest.raises(ValueError, match=f"{path}.* record 1 "):
        read_files([path], flags, modeling.AlbertConfig.from_dict(CONFIG))


def test_evaluation_on_tpu_reads_each_record_once(record_file):
    # The cores of a TPU never lack a batch.
    input_fn = input_fn_builder([record_file], *SIZES, False)
    found = served(lambda: input_fn({"batch_size": 8, "use_tpu": True}), 5)
    assert [one["is_real_example"].sum() for one in found] == [8, 8, 5, 0, 0]


def test_evaluation_part(record_file):
    assert evaluation_part([record_file, record_file], 8, 100)[1] == 6
    assert evaluation_part([record_file, record_file], 8, 2) == ([record_file], 2)


# ---- training and evaluation ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def trace(uneven):
    """Three updates without anything special, for others to be compared with."""
    return train(built(), uneven, 3)


def test_loss_is_sum_of_means(trace, uneven):
    assert trace.losses == pytest.approx([4.196631, 4.085454, 3.8438716], rel=1e-5)
    scalars = trace.scalars[0]
    parts = {name: scalars[name] for name in ("masked_lm_loss", "sentence_order_loss")}
    assert scalars["loss"] == pytest.approx(sum(parts.values()), abs=1e-6)
    metrics = golden_heads.measured(built(), [uneven])
    results = evaluation_results(dict(metrics, loss=9.0, global_step=np.int64(7)))
    assert results["loss"] == metrics["masked_lm_loss"] + metrics["sentence_order_loss"]
    assert {name: metrics[name] for name in parts} == pytest.approx(parts, abs=1e-4)


def test_masked_words_alone(trace, uneven):
    alone = train(built(sentence_order=False), uneven, 3)
    first = trace.scalars[0]["masked_lm_loss"]
    assert alone.losses[0] == alone.scalars[0]["loss"] == pytest.approx(first, rel=1e-6)
    assert trace.scalars[0].keys() - alone.scalars[0].keys() == {
        "sentence_order_loss",
        "sentence_order_accuracy",
    }
    # The checkpoint has all variables. Those without a loss keep their values.
    start = train(built(sentence_order=False), uneven, 1).variables
    untrained = ("bert/pooler/", "cls/seq_relationship/")
    for name, value in alone.variables.items():
        if "adam" not in name and "/" in name:
            assert np.array_equal(value, start[name]) == name.startswith(untrained), name
    slots = {name for name in trace.variables if name.startswith(untrained) and "adam" in name}
    assert slots and trace.variables.keys() - alone.variables.keys() == slots
    metrics = golden_heads.measured(built(sentence_order=False), [uneven])
    assert set(metrics) == {"masked_lm_loss", "masked_lm_accuracy"}
    results = evaluation_results(dict(metrics, loss=9.0, global_step=np.int64(7)))
    assert results["loss"] == metrics["masked_lm_loss"]


@pytest.mark.slow
def test_accumulation_equals_whole_batch(trace, uneven):
    parts = train(built(gradient_accumulation_steps=8), uneven, 3)
    assert parts.losses == pytest.approx(trace.losses, abs=1e-5)
    assert parts.variables.keys() == trace.variables.keys()
    assert_close(parts.variables, trace.variables)
    for name in ("masked_lm_accuracy", "sentence_order_accuracy", "gradient_norm"):
        assert parts.scalars[2][name] == pytest.approx(trace.scalars[2][name], abs=1e-4)


def test_records_that_fill_a_batch_count_nothing(uneven):
    is_real = np.array([1, 1, 1, 1, 1, 0, 0, 0], np.int32)
    five = {name: array[:5] for name, array in uneven.items()}
    filled = golden_heads.measured(built(), [dict(uneven, is_real_example=is_real)])
    assert filled == pytest.approx(golden_heads.measured(built(), [five]), rel=1e-5)
    with graphs.new_session() as session:
        none = dict(uneven, is_real_example=np.zeros_like(is_real))
        tensors = {name: tf.constant(array) for name, array in none.items()}
        loss = built()(tensors, None, tf_estimator.ModeKeys.EVAL, {}).loss
        session.run(tf.global_variables_initializer())
        assert session.run(loss) == 0.0


def test_pretraining_predicts_nothing(uneven):
    with tf.Graph().as_default(), pytest.raises(UserError):
        built()(uneven, None, tf_estimator.ModeKeys.PREDICT, {})


def test_dropout_differs_by_step_and_micro_batch():
    flags = PretrainingFlags(gradient_accumulation_steps=2, seed=1)
    with graphs.new_session() as session:
        keys = [program.dropout_seed(flags, {}, tf.constant(part)) for part in (0, 1)]
        for piece in (7, 8):  # the cores of a TPU go by what they read
            batch = {"input_ids": tf.constant([[2, piece, 3]])}
            keys.append(program.dropout_seed(flags.replace(use_tpu=True), batch, 0))
        session.run(tf.global_variables_initializer())
        first = session.run(keys)
        session.run(tf.train.get_global_step().assign_add(1))
        assert len({tuple(key) for key in [*first, *session.run(keys)]}) == 8


# ---- the reference's numbers ---------------------------------------------------------------------


def golden(name, **flags):
    """A run of the reference, our model function with its settings, and its batch."""
    run = read_json(shared_path("golden/model_tiny/train_trace/trace.json"))[name]
    folder = shared_path(f"golden/model_tiny/{run['config']}")
    with np.load(folder / "io.npz") as values:
        batch = dict(values)
    batch["segment_ids"] = batch["token_type_ids"]
    config = modeling.AlbertConfig.from_json_file(f"{folder}/albert_config.json")
    names = ["learning_rate", "num_train_steps", "num_warmup_steps"]
    names += ["optimizer", "poly_power", "start_warmup_step"]
    flags.update({key: run[key] for key in names})
    first_weights = str(shared_path("golden") / run["init_checkpoint"])
    return run, built(config, first_weights, **flags), batch


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize("use_xla", [False, True])
@pytest.mark.parametrize("name", ["base_lamb", "base_adamw", "groups2_inner2_lamb"])
def test_training_equals_reference(name, use_xla):
    run, model_fn, batch = golden(name, use_xla=use_xla)
    trace = train(model_fn, batch, 12)
    np.testing.assert_allclose(trace.losses, run["losses"], atol=1e-3)
    final = np.load(shared_path(f"golden/model_tiny/train_trace/{name}/final_step12.npz"))
    assert_close(final, trace.variables, 5e-3)
    assert len(trace.variables) == run["global_variables"]
    assert trace.variables["global_step"] == run["final_global_step"]
    expected = run.get("eval_metrics_at_init", {})
    results = evaluation_results(dict(golden_heads.measured(model_fn, [batch]), global_step=0))
    assert {name: results[name] for name in expected} == pytest.approx(expected, abs=1e-4)
