# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Records, input, losses and metrics of pretraining."""

import collections
import dataclasses
import functools
import json
from unittest import mock

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import modeling, run_pretraining
from albert.pretraining import model, words
from albert.pretraining.settings import PretrainingFlags
from albert.runtimes import estimator as tf_estimator
from albert.training import hooks
from albert.training import model_fn as training_graph
from tests.support import golden_heads
from tests.support import pretraining_records as records
from tests.support.number_records import served
from tests.support.shared import needs_shared, shared_path

TRAIN, EVAL = tf_estimator.ModeKeys.TRAIN, tf_estimator.ModeKeys.EVAL


def tiny_config(**changes):
    return modeling.AlbertConfig.from_dict(dict(records.CONFIG, **changes))


NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def batch_of(count, seed=0):
    rows = records.make_records(count, seed)
    return {
        name: np.array([row[name] for row in rows], np.float32 if "weights" in name else np.int32)
        for name in rows[0]
    }


def uneven_batch():
    """A batch in which some rows have fewer predictions than others."""
    batch = batch_of(8)
    batch["masked_lm_weights"][:3, 1] = 0.0
    batch["masked_lm_weights"][5] = 0.0
    return batch


def settings_for(config, init_checkpoint=None, **changes):
    """The arguments of build_model_fn."""
    values = {"num_train_steps": 20, "num_warmup_steps": 0, "learning_rate": 0.02, "seed": 1}
    values.update(use_xla=False)
    return PretrainingFlags(**{**values, **changes}), config, init_checkpoint


# Losses before each update, variables after the last, and what was logged of each.
Trace = collections.namedtuple("Trace", "losses variables scalars")


def train(settings, batch, steps):
    """Runs the model function's update on one batch."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        tensors = {name: tf.constant(value) for name, value in batch.items()}
        spec = model.build_model_fn(*settings)(tensors, None, TRAIN, {})
        fetches = [spec.loss, hooks.reported_scalars(), spec.train_op]
        session.run(tf.global_variables_initializer())
        losses, scalars, _ = zip(*(session.run(fetches) for _ in range(steps)))
        values = session.run({item.op.name: item for item in tf.global_variables()})
    return Trace(losses, values, scalars)


def evaluate(settings, batches):
    """Returns the model function's metrics over batches of one size."""
    return golden_heads.measured(model.build_model_fn(*settings), batches)


# ---------------------------------------------------------------------------------------------
# Records and input.


@pytest.fixture(scope="module")
def record_file(tmp_path_factory):
    return records.write_records(tmp_path_factory.mktemp("records") / "a.tf_record", 21)


def flags_of(**changes):
    """Flags for the records of these tests."""
    values = {"max_seq_length": records.LENGTH, "max_predictions_per_seq": records.PREDICTIONS}
    return PretrainingFlags(**{**values, **changes})


def check(file, vocab_size=records.VOCAB_SIZE, type_vocab_size=2, **changes):
    config = tiny_config(vocab_size=vocab_size, type_vocab_size=type_vocab_size)
    return model.read_files([file], flags_of(**changes), config)


@pytest.mark.parametrize(
    "options, named",
    [
        ({"max_seq_length": 12}, "input_ids.* 16 .* 12"),
        ({"max_predictions_per_seq": 5}, "masked_lm_positions.* 3 .* 5"),
        ({"vocab_size": 10}, "vocab_size"),
        ({"type_vocab_size": 1}, "type_vocab_size"),
    ],
)
def test_records_that_do_not_fit_flags_or_model_are_refused(record_file, options, named):
    check(record_file)
    with pytest.raises(ValueError, match=f"{record_file}.*{named}"):
        check(record_file, **options)


def transform_of(file, *, is_training=True, masked_lm_budget=0.2, **changes):
    """What draws the masks of a file on the fly."""
    files = check(file, masked_lm_budget=masked_lm_budget, **changes)
    ordinary = np.arange(records.FIRST_PIECE, records.VOCAB_SIZE)
    return model.masks_on_the_fly(
        flags_of(masked_lm_budget=masked_lm_budget, **changes),
        files,
        is_training=is_training,
        vocabulary=words.PieceTable(records.MASK, ordinary),
    )


@pytest.mark.parametrize("budget, is_warned", [(0.2, False), (0.3, True)])
def test_masks_on_the_fly_without_enough_slots_are_warned_of(tmp_path, caplog, budget, is_warned):
    file = records.write_records(tmp_path / "a.tf_record", 9, seed=1)
    transform_of(file, masked_lm_budget=budget)
    assert ("--max_predictions_per_seq=4" in caplog.text) == is_warned


def read(file, params, count, *, length=records.LENGTH, is_training=False, **settings):
    build = functools.partial(model.input_fn_builder, [file], length, records.PREDICTIONS)
    return served(lambda: build(is_training, **settings)(params), count)


@pytest.mark.parametrize("is_training", [True, False])
def test_sequences_that_are_cut_differ_in_padding_alone(tmp_path, is_training):
    file = records.write_records(tmp_path / "records", 24, length=48)
    transform = transform_of(file, is_training=is_training, max_seq_length=48, seed=4)
    assert bool(transform) == is_training  # in evaluation the records' own masks serve
    (whole,), (cut,) = (
        read(
            *(file, {"batch_size": 6}, 1),
            length=48,
            is_training=is_training,
            seed=4,
            transform=transform,
            padding=padding,
        )
        for padding in ("max", "longest")
    )
    assert sorted(whole) == sorted(cut)
    for name, full in whole.items():
        if full.shape == (6, 48):
            assert not full[:, 16:].any()
            full = full[:, :16]
        np.testing.assert_array_equal(cut[name], full)


def real_examples(file, count, **params):
    batches = read(file, params, count)
    return [int(batch["is_real_example"].sum()) for batch in batches]


def test_evaluation_reads_each_record_once_and_fills_up_with_weight_zero(record_file):
    assert model.evaluation_part([record_file, record_file], 8, 100)[1] == 6
    assert model.evaluation_part([record_file, record_file], 8, 2) == ([record_file], 2)
    assert real_examples(record_file, 9, batch_size=8) == [8, 8, 5]
    # The cores of a TPU never lack a batch.
    assert real_examples(record_file, 8, batch_size=8, use_tpu=True) == [8, 8, 5] + [0] * 5


def host(index, **params):
    """The parameters of a host of two, as a TPU has them."""
    context = mock.Mock(current_input_fn_deployment=lambda: (None, index, 2, 4))
    return {"use_tpu": True, "context": context, **params}


@pytest.mark.slow
def test_the_hosts_of_a_tpu_share_the_records_of_evaluation(record_file):
    def real_rows(params, batches):
        served = read(record_file, params, batches, max_batches=1)
        rows = [batch["input_ids"][batch["is_real_example"] > 0].tolist() for batch in served]
        return sorted(sum(rows, []))

    # One batch of 24 examples, on two hosts of four cores: four batches of three on each.
    hosts = [real_rows(host(index, batch_size=3), 6) for index in (0, 1)]
    assert [len(rows) for rows in hosts] == [10, 11]
    assert sorted(sum(hosts, [])) == real_rows({"batch_size": 24}, 1)


@pytest.mark.slow
def test_the_hosts_of_a_tpu_read_the_parts_of_one_batch(record_file):
    training = {"is_training": True, "seed": 4, "start_step": 3}
    (whole,) = read(record_file, {"batch_size": 16}, 1, **training)
    # One batch for each of four cores.
    parts = [
        part
        for index in (0, 1)
        for part in read(record_file, host(index, batch_size=2), 4, **training)
    ]
    together = np.concatenate([part["input_ids"] for part in parts])
    assert sorted(map(tuple, together)) == sorted(map(tuple, whole["input_ids"]))


# ---------------------------------------------------------------------------------------------
# Training.


@functools.lru_cache(maxsize=None)
def plain_trace():
    """Three updates without anything special, for others to be compared with."""
    return train(settings_for(tiny_config(**NO_DROPOUT)), uneven_batch(), 3)


def test_the_loss_is_the_sum_of_the_two_means():
    scalars = plain_trace().scalars[0]
    parts = {name: scalars[name] for name in ("masked_lm_loss", "sentence_order_loss")}
    assert scalars["loss"] == pytest.approx(sum(parts.values()), abs=1e-6)
    metrics = evaluate(settings_for(tiny_config(**NO_DROPOUT)), [uneven_batch()])
    results = model.evaluation_results(dict(metrics, loss=9.0, global_step=np.int64(7)))
    assert results["loss"] == metrics["masked_lm_loss"] + metrics["sentence_order_loss"]
    assert {name: metrics[name] for name in parts} == pytest.approx(parts, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [2, 8])
def test_accumulation_over_micro_batches_equals_the_whole_batch(steps):
    settings = settings_for(tiny_config(**NO_DROPOUT), gradient_accumulation_steps=steps)
    parts, whole = train(settings, uneven_batch(), 3), plain_trace()
    assert parts.losses == pytest.approx(whole.losses, abs=1e-5)
    assert parts.variables.keys() == whole.variables.keys()
    for name, value in whole.variables.items():
        np.testing.assert_allclose(parts.variables[name], value, atol=1e-5, err_msg=name)
    for name in ("masked_lm_accuracy", "sentence_order_accuracy", "gradient_norm"):
        assert parts.scalars[2][name] == pytest.approx(whole.scalars[2][name], abs=1e-4)


def test_steps_and_micro_batches_have_dropout_masks_of_their_own():
    flags = settings_for(tiny_config(), gradient_accumulation_steps=2)[0]
    on_tpu = dataclasses.replace(flags, use_tpu=True)
    with tf.Graph().as_default(), tf.Session() as session:
        batch = {name: tf.constant(value) for name, value in batch_of(2).items()}
        other = dict(batch, input_ids=batch["input_ids"] + 1)
        keys = [training_graph.dropout_seed(flags, batch, tf.constant(n)) for n in (0, 1)]
        keys += [training_graph.dropout_seed(on_tpu, part, 0) for part in (batch, other)]
        session.run(tf.global_variables_initializer())
        first = session.run(keys)
        session.run(tf.train.get_global_step().assign_add(1))
        assert len({tuple(key) for key in [*first, *session.run(keys)]}) == 8


# ---------------------------------------------------------------------------------------------
# Evaluation.


@pytest.mark.slow
def test_evaluation_is_exact_however_records_fall_into_batches():
    settings, batch = settings_for(tiny_config()), uneven_batch()
    batch["is_real_example"] = np.ones(8, np.int32)
    whole = evaluate(settings, [batch])
    filled = {name: np.concatenate([value, value[:1]]) for name, value in batch.items()}
    filled["is_real_example"][8] = 0
    parts = [
        {name: value[start : start + 3] for name, value in filled.items()} for start in (0, 3, 6)
    ]
    assert evaluate(settings, parts) == pytest.approx(whole, abs=1e-6)


# ---------------------------------------------------------------------------------------------
# The reference's numbers.


def golden_batch(run):
    values = np.load(str(shared_path(f"golden/model_tiny/{run['config']}/io.npz")))
    names = ["input_ids", "input_mask", "next_sentence_labels", "masked_lm_positions"]
    batch = {name: values[name].astype(np.int32) for name in names + ["masked_lm_ids"]}
    batch["segment_ids"] = values["token_type_ids"].astype(np.int32)
    batch["masked_lm_weights"] = values["masked_lm_weights"].astype(np.float32)
    return batch


def golden_settings(run, **changes):
    config = modeling.AlbertConfig.from_json_file(
        str(shared_path(f"golden/model_tiny/{run['config']}/albert_config.json"))
    )
    names = ["learning_rate", "num_train_steps", "num_warmup_steps"]
    names += ["optimizer", "poly_power", "start_warmup_step"]
    return settings_for(
        config,
        init_checkpoint=str(shared_path("golden") / run["init_checkpoint"]),
        **dict({name: run[name] for name in names}, **changes),
    )


def golden_run(name):
    path = shared_path("golden/model_tiny/train_trace/trace.json")
    return json.loads(path.read_text(encoding="utf-8"))[name]


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize(
    "name, use_xla",
    [
        ("base_lamb", False),
        ("base_adamw", False),
        ("base_adamw", True),
        ("groups2_inner2_lamb", False),
    ],
)
def test_training_follows_the_trace_of_the_reference(name, use_xla):
    run = golden_run(name)
    trace = train(golden_settings(run, use_xla=use_xla), golden_batch(run), 12)
    np.testing.assert_allclose(trace.losses, run["losses"], atol=1e-3)
    final = np.load(str(shared_path(f"golden/model_tiny/train_trace/{name}/final_step12.npz")))
    assert set(final.files) <= set(trace.variables) | {"global_step"}
    for variable in final.files:
        np.testing.assert_allclose(
            trace.variables[variable], final[variable], atol=5e-3, err_msg=variable
        )
    assert len(trace.variables) == run["global_variables"]
    assert trace.variables["global_step"] == run["final_global_step"]


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize("name", ["base_lamb", "groups2_inner2_lamb"])
def test_evaluation_gives_the_metrics_of_the_reference(name):
    run = golden_run(name)
    metrics = evaluate(golden_settings(run), [golden_batch(run)])
    results = model.evaluation_results(dict(metrics, global_step=0))
    for metric, value in run["eval_metrics_at_init"].items():
        assert results[metric] == pytest.approx(value, abs=1e-4), metric


# ---------------------------------------------------------------------------------------------
# The frozen names.


def test_the_published_arguments_work():
    model_fn = run_pretraining.model_fn_builder(
        tiny_config(**NO_DROPOUT), None, 0.02, 20, 0, False, False, "adamw", 2.0, 1
    )
    with tf.Graph().as_default():
        features = {name: tf.constant(value) for name, value in batch_of(2).items()}
        assert model_fn(features=features, labels=None, mode=EVAL, params={}).loss.shape == []
