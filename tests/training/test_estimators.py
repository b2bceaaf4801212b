# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Configuration, resumption, progress and the stop on NaN, on a model of one variable."""

import csv
import json
import logging
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from absl import flags

from albert import modeling
from albert.training import estimators as estimator_utils
from albert.training import evaluation as checkpoint_evaluator
from albert.training import hooks as training_hooks
from albert.util import flags as flags_lib
from albert.util import stop_signals
from tests.support import damaged_files

SAVING = {"save_checkpoints_steps": 4, "save_checkpoints_minutes": 0.0}
CONFIG = modeling.AlbertConfig(10, hidden_size=4, num_attention_heads=2).to_dict()


def settings_for(output_dir, *arguments):
    def define_flags(flag_values: flags.FlagValues):
        flags_lib.define_model_flags(flag_values, config_required=False)
        flags_lib.define_training_flags(flag_values, **SAVING, train_batch_size=1)
        flags_lib.define_tpu_flags(flag_values)
        flags_lib.define_runtime_flags(flag_values)

    return flags_lib.parse(define_flags, [f"--output_dir={output_dir}"] + list(arguments))


def model_fn(features, labels, mode, params):
    """One weight that sums what it sees; a batch of -1 makes its gradient NaN."""
    del labels, params
    step = tf.train.get_or_create_global_step()
    weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
    value = tf.reduce_mean(features["x"])
    norm = tf.where(value < 0, np.float32("nan") * value, value)
    message = ["gradient norm is not finite; global step, norm:", step, norm]
    with tf.control_dependencies([tf.debugging.Assert(tf.math.is_finite(norm), message)]):
        update = weight.assign_add(value)
    with tf.control_dependencies([update]):
        train_op = step.assign_add(1).op
    training_hooks.report_scalars(
        {
            "loss": 10.0 - value,
            "word_accuracy": value,
            "learning_rate": value / 8,
            "gradient_norm": norm,
        }
    )
    return tf.estimator.tpu.TPUEstimatorSpec(mode=mode, loss=10.0 - value, train_op=train_op)


def input_of(values):
    def input_fn(params):
        dataset = tf.data.Dataset.from_tensor_slices({"x": np.array(values, np.float32)})
        return dataset.repeat().batch(params["batch_size"], drop_remainder=True)

    return input_fn


def train(output_dir, *arguments, max_steps, values=(0.5,), log_steps=2, function=model_fn, **more):
    settings = settings_for(output_dir, f"--log_steps={log_steps}", *arguments)
    resumed = estimator_utils.resume_point(settings.output_dir)
    return estimator_utils.train(
        estimator_utils.build_training_estimator(function, settings, keep_checkpoint_max=3),
        input_of(values),
        settings,
        max_steps=max_steps,
        model_config=CONFIG,
        resumed=resumed,
        **more,
    )


def steps_in(folder):
    return [checkpoint.step for checkpoint in checkpoint_evaluator.list_checkpoints(str(folder))]


def curve_of(folder):
    with open(str(folder / "training_curve.csv"), encoding="utf-8") as file:
        return list(csv.DictReader(file))


def variable(folder, name):
    return tf.train.load_checkpoint(str(folder)).get_tensor(name)


# ---------------------------------------------------------------------------------------------
# The output folder.


def test_an_output_folder_keeps_to_one_configuration(tmp_path):
    estimator_utils.check_output_dir(str(tmp_path / "new"), CONFIG)
    train(tmp_path, max_steps=1)
    assert json.loads((tmp_path / "albert_config.json").read_text(encoding="utf-8")) == CONFIG
    estimator_utils.check_output_dir(str(tmp_path), CONFIG)
    with pytest.raises(ValueError) as error:
        estimator_utils.check_output_dir(str(tmp_path), dict(CONFIG, hidden_size=8))
    for part in (str(tmp_path), "hidden_size was 4 and is 8", "--init_checkpoint"):
        assert part in str(error.value)


def test_a_configuration_that_leaves_out_defaults_is_the_same_one(tmp_path):
    written = {"vocab_size": 10, "hidden_size": 4, "num_attention_heads": 2, "share_type": "all"}
    (tmp_path / "albert_config.json").write_text(json.dumps(written), encoding="utf-8")
    estimator_utils.check_output_dir(str(tmp_path), CONFIG)


def test_a_start_that_fails_does_not_claim_the_folder(tmp_path):
    def failing(features, labels, mode, params):
        raise ValueError("the checkpoint does not fit")

    with pytest.raises(ValueError, match="does not fit"):
        train(tmp_path, max_steps=1, function=failing)
    assert not (tmp_path / "albert_config.json").exists()


def test_there_is_nothing_to_resume_in_a_new_folder(tmp_path):
    assert estimator_utils.resume_point(str(tmp_path / "missing")) is None
    assert estimator_utils.resume_point(str(tmp_path)) is None


@pytest.mark.slow
def test_training_goes_on_where_it_stopped(tmp_path):
    first = train(tmp_path, max_steps=6)
    assert (first.first_step, first.last_step) == (0, 6)
    assert steps_in(tmp_path) == [0, 4, 6]
    second = train(tmp_path, max_steps=9)
    assert (second.first_step, second.last_step) == (6, 9)
    assert variable(tmp_path, "weight") == 4.5
    assert [row["step"] for row in curve_of(tmp_path)] == ["2", "4", "6", "8", "9"]


class SignalHook(tf.train.SessionRunHook):
    """Asks this process to end, in the middle of a step."""

    def __init__(self, step):
        self._left = step

    def before_run(self, run_context):
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.slow
def test_a_signal_ends_training_after_its_step_and_saves_it(tmp_path):
    with pytest.raises(SystemExit) as stop, stop_signals.handled():
        train(tmp_path, max_steps=9, hooks=[SignalHook(3)])
    assert stop.value.code == 143
    assert steps_in(tmp_path) == [0, 3] and variable(tmp_path, "weight") == 1.5
    train(tmp_path, max_steps=9)
    assert variable(tmp_path, "weight") == 4.5
    # The others are where they would have been, but for those that are beyond the newest three.
    assert steps_in(tmp_path) == [4, 8, 9]
    assert [row["step"] for row in curve_of(tmp_path)] == ["2", "3", "4", "6", "8", "9"]


def test_a_checkpoint_comes_after_so_many_minutes_too(tmp_path):
    train(tmp_path, "--save_checkpoints_minutes=1e-9", max_steps=3)
    assert steps_in(tmp_path) == [1, 2, 3]


def test_another_process_that_trains_there_is_named(tmp_path):
    owner = f"""
from albert.util import folder_lock
with folder_lock.held({str(tmp_path)!r}):
    print("held", flush=True)
    input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", owner], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        with pytest.raises(ValueError, match=str(process.pid)):
            train(tmp_path, max_steps=1)


@pytest.mark.slow
def test_a_checkpoint_that_was_restored_is_not_written_again(tmp_path):
    train(tmp_path, max_steps=4)
    index = tmp_path / "model.ckpt-4.index"
    before = index.stat().st_mtime_ns
    train(tmp_path, max_steps=5)
    assert index.stat().st_mtime_ns == before


@pytest.mark.slow
def test_a_half_written_checkpoint_is_passed_over(tmp_path, caplog):
    train(tmp_path, max_steps=8)
    index = tmp_path / "model.ckpt-8.index"
    index.write_bytes(index.read_bytes()[:20])
    leftover = tmp_path / "model.ckpt-12_temp_abc"
    leftover.mkdir()
    with caplog.at_level(logging.WARNING, logger="albert"):
        assert estimator_utils.resume_point(str(tmp_path)).step == 4
    assert "model.ckpt-8" in caplog.text
    assert not leftover.exists()
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-4")
    assert train(tmp_path, max_steps=8).first_step == 4
    assert variable(tmp_path, "weight") == 4.0
    # The curve has no row twice.
    assert [row["step"] for row in curve_of(tmp_path)] == ["2", "4", "6", "8"]


@pytest.mark.slow
def test_checkpoints_without_the_file_that_lists_them_are_found(tmp_path):
    train(tmp_path, max_steps=8)
    (tmp_path / "checkpoint").unlink()
    assert estimator_utils.resume_point(str(tmp_path)).step == 8
    assert train(tmp_path, max_steps=9).first_step == 8


def save(folder, *steps, weight=0.0):
    """Writes checkpoints as training does."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("weight", initializer=np.full([3], weight, np.float32))
        step = tf.train.get_or_create_global_step()
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(max_to_keep=None)
        for number in steps:
            session.run(step.assign(number))
            saver.save(session, str(folder / "model.ckpt"), number)


def restored_by_tensorflow(folder):
    """The name of the checkpoint that Estimator would restore, None if there is none."""
    state = tf.train.get_checkpoint_state(str(folder))
    return state and pathlib.Path(state.model_checkpoint_path).name


@pytest.mark.parametrize("kind", damaged_files.DAMAGES)
def test_training_goes_on_from_the_newest_whole_checkpoint(tmp_path, caplog, kind):
    save(tmp_path, 0, 4, 8, 12)
    damaged_files.damage(tmp_path / "model.ckpt-8")
    damaged_files.damage(tmp_path / "model.ckpt-12", kind)
    before = {path.name: path.read_bytes() for path in tmp_path.glob("model.*")}
    # Workers, who mend nothing, find the same.
    assert estimator_utils.resume_point(str(tmp_path), is_ours=False).step == 4
    assert restored_by_tensorflow(tmp_path) == "model.ckpt-12"
    caplog.clear()
    assert estimator_utils.resume_point(str(tmp_path)).step == 4
    assert restored_by_tensorflow(tmp_path) == "model.ckpt-4"
    lines = [line for line in caplog.messages if "model.ckpt" in line]
    assert len(lines) == 2 and "model.ckpt-12" in lines[0] and "step 4" in lines[0]
    assert {path.name: path.read_bytes() for path in tmp_path.glob("model.*")} == before


@pytest.mark.parametrize("fault", [np.nan, np.inf])
def test_a_checkpoint_with_numbers_that_are_not_finite_is_passed_over(tmp_path, caplog, fault):
    save(tmp_path, 4)
    save(tmp_path, 8, weight=fault)
    assert estimator_utils.resume_point(str(tmp_path)).step == 4
    assert restored_by_tensorflow(tmp_path) == "model.ckpt-4"
    (line,) = [line for line in caplog.messages if "model.ckpt-8" in line]
    for part in ("weight in ", str(tmp_path / "model.ckpt-8.data-00000-of-00001"), "step 8"):
        assert part in line


def test_where_no_checkpoint_is_whole_training_does_not_begin_anew(tmp_path):
    save(tmp_path, 4, 8)
    for step in (4, 8):
        damaged_files.damage(tmp_path / f"model.ckpt-{step}")
    with pytest.raises(ValueError, match="model.ckpt-8"):
        estimator_utils.resume_point(str(tmp_path))


def test_a_damaged_checkpoint_of_step_0_is_begun_anew(tmp_path):
    save(tmp_path, 0)
    damaged_files.damage(tmp_path / "model.ckpt-0")
    assert estimator_utils.resume_point(str(tmp_path)) is None
    assert restored_by_tensorflow(tmp_path) is None


@pytest.mark.parametrize("kind", damaged_files.STATES)
def test_checkpoints_are_found_whatever_their_state_says(tmp_path, kind):
    save(tmp_path, 0, 4)
    content = damaged_files.STATES[kind]
    (tmp_path / "checkpoint").write_bytes(content)
    assert estimator_utils.resume_point(str(tmp_path), is_ours=False).step == 4
    assert (tmp_path / "checkpoint").read_bytes() == content
    assert estimator_utils.resume_point(str(tmp_path)).step == 4
    assert restored_by_tensorflow(tmp_path) == "model.ckpt-4"
    assert (tmp_path / "checkpoint.old-1").read_bytes() == content


@pytest.mark.parametrize("kind", damaged_files.STATES)
def test_a_state_without_checkpoints_is_set_aside(tmp_path, kind):
    (tmp_path / "checkpoint").write_bytes(damaged_files.STATES[kind])
    assert estimator_utils.resume_point(str(tmp_path)) is None
    assert restored_by_tensorflow(tmp_path) is None


def test_training_in_a_copy_of_a_folder_leaves_the_original_alone(tmp_path):
    original, copy = tmp_path / "original", tmp_path / "copy"
    original.mkdir()
    save(original, 4, 8)
    shutil.copytree(str(original), str(copy))
    assert estimator_utils.resume_point(str(copy)).path == str(copy / "model.ckpt-8")
    state = tf.train.get_checkpoint_state(str(copy))
    for path in state.all_model_checkpoint_paths:
        assert pathlib.Path(path).parent == copy  # those that TensorFlow deletes by and by


def test_the_state_may_name_an_older_checkpoint(tmp_path):
    save(tmp_path, 4, 8)
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-4"\n')
    assert estimator_utils.resume_point(str(tmp_path)).step == 4


@pytest.mark.slow
def test_training_survives_a_flipped_bit_and_a_garbled_state(tmp_path):
    train(tmp_path, max_steps=8)
    damaged_files.damage(tmp_path / "model.ckpt-8")
    (tmp_path / "checkpoint").write_bytes(damaged_files.STATES["not UTF-8"])
    assert train(tmp_path, max_steps=9).first_step == 4
    assert variable(tmp_path, "weight") == 4.5


@pytest.mark.parametrize("is_chief", [False, True])
def test_a_worker_needs_its_copy_of_the_checkpoint_only_until_it_is_restored(
    tmp_path, monkeypatch, is_chief
):
    """Whoever kills a worker does not leave it behind; a folder of that name may be a user's."""
    folder = tmp_path / "albert_worker_x"
    train(folder, max_steps=3)
    monkeypatch.setattr(estimator_utils.distribution, "is_chief", lambda settings: is_chief)
    assert train(folder, max_steps=4).first_step == 3
    assert bool(list(folder.glob("model.ckpt-3.*"))) == is_chief


def test_the_checkpoint_of_another_model_is_refused_with_its_variables(tmp_path):
    train(tmp_path, max_steps=4)

    def wider(features, labels, mode, params):
        tf.get_variable("weights", [3])
        return model_fn(features, labels, mode, params)

    with pytest.raises(ValueError, match=r"1 variables do not fit.*\n.*weights \[3\] is not in it"):
        train(tmp_path, max_steps=8, function=wider)
    with tf.Graph().as_default():
        weight = tf.get_variable("weight", [2])
        with pytest.raises(ValueError, match=r"weight is \[2\] here and \[\] in it"):
            training_hooks.check_restorable(str(tmp_path / "model.ckpt-4"), [weight])


@pytest.mark.parametrize(
    "init_checkpoint, resumed, first, words",
    [
        (None, None, None, "randomly initialised"),
        ("a", None, "a", ""),
        ("a", checkpoint_evaluator.Checkpoint(3, "b-3"), None, "--init_checkpoint=a is not used"),
        (None, checkpoint_evaluator.Checkpoint(3, "b-3"), None, "Going on from b-3, step 3."),
    ],
)
def test_the_log_says_where_the_first_weights_come_from(
    init_checkpoint, resumed, first, words, caplog
):
    settings = settings_for("x").replace(init_checkpoint=init_checkpoint)
    with caplog.at_level(logging.INFO, logger="albert"):
        assert estimator_utils.first_weights(settings, resumed) == first
    assert words in caplog.text


# ---------------------------------------------------------------------------------------------
# Progress.


def test_progress_shows_means_throughput_and_time_left(tmp_path, caplog):
    with caplog.at_level(logging.INFO, logger="albert"):
        summary = train(tmp_path, max_steps=5, values=(1.0, 2.0, 3.0, 4.0, 5.0))
    lines = [message for message in caplog.messages if message.startswith("step ")]
    steps = [line.split(",")[0] for line in lines]
    assert steps == ["step 1/5", "step 2/5", "step 4/5", "step 5/5"]
    assert "loss 6.5000" in lines[2] and "word_accuracy 3.500" in lines[2]
    assert "learning_rate 0.5," in lines[2]  # that of step 4
    assert "examples/s" in lines[2] and lines[2].endswith("left")
    assert "Trained steps 1 to 5" in caplog.messages[-1]
    assert summary.examples_per_second > 0 and summary.peak_memory_bytes > 1e7
    assert summary.scalars["loss"] == 5.0


def test_the_curve_has_a_row_for_each_interval(tmp_path):
    train(tmp_path, max_steps=5, values=(1.0, 2.0, 3.0, 4.0, 5.0))
    rows = curve_of(tmp_path)
    assert list(rows[0]) == [
        "step",
        "loss",
        "word_accuracy",
        "learning_rate",
        "gradient_norm",
        "examples_per_second",
    ]
    assert [(row["step"], row["loss"]) for row in rows] == [("2", "8.5"), ("4", "6.5"), ("5", "5")]


def test_tensorboard_gets_the_same_scalars(tmp_path):
    train(tmp_path, max_steps=4, values=(1.0, 2.0))
    (events,) = tmp_path.glob("events.out.tfevents.*")
    found = {
        (event.step, value.tag): value.simple_value
        for event in tf.train.summary_iterator(str(events))
        for value in event.summary.value
        if value.HasField("simple_value")
    }
    assert found[(2, "loss")] == 8.5
    assert {tag for _, tag in found} == {
        "loss",
        "word_accuracy",
        "learning_rate",
        "gradient_norm",
        "examples_per_second",
    }


def test_a_terminal_gets_a_bar_too(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    train(tmp_path, max_steps=5)
    said = capsys.readouterr().err
    assert "5/5" in said and "loss 9.5000" in said and "examples/s" in said


def test_a_curve_of_other_columns_is_continued(tmp_path):
    curve = training_hooks.TrainingCurve(str(tmp_path), 0)
    curve.add({"step": 2, "loss": 1.5})
    curve = training_hooks.TrainingCurve(str(tmp_path), 2)
    curve.add({"step": 4, "loss": 1.0, "accuracy": 0.5})
    text = (tmp_path / "training_curve.csv").read_text(encoding="utf-8")
    assert text == "step,loss,accuracy\n2,1.5,\n4,1.0,0.5\n"
    assert pathlib.Path(str(tmp_path / "training_curve.csv")).exists()


def test_a_row_is_added_to_the_curve_without_writing_the_others_again(tmp_path):
    path = tmp_path / "training_curve.csv"
    curve = training_hooks.TrainingCurve(str(tmp_path), 0)
    curve.add({"step": 1, "loss": 0.5})
    for step in range(2, 6):
        file = path.stat().st_ino
        curve.add({"step": step, "loss": 0.5})
        assert path.stat().st_ino == file  # a replaced file is another one
    assert path.read_text() == "step,loss\n" + "".join(f"{n},0.5\n" for n in range(1, 6))
    path.unlink()
    curve.add({"step": 6, "loss": 0.5})
    assert path.read_text() == "step,loss\n6,0.5\n"


@pytest.mark.parametrize("unfinished", ["4", "40,0.5", "40,0.5,7"])
def test_a_curve_goes_on_after_a_line_that_a_crash_cut_off(tmp_path, unfinished):
    path = tmp_path / "training_curve.csv"
    path.write_text("step,loss\n10,0.5\n20,0.4\n30,0.3\n" + unfinished)
    curve = training_hooks.TrainingCurve(str(tmp_path), 20)
    assert path.read_text() == "step,loss\n10,0.5\n20,0.4\n"
    curve.add({"step": 30, "loss": 0.2})
    assert path.read_text() == "step,loss\n10,0.5\n20,0.4\n30,0.2\n"


def test_the_host_of_a_tpu_writes_the_means_over_its_cores(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.get_or_create_global_step()
        write, tensors = training_hooks.tpu_host_call(
            {"loss": tf.constant(1.0), "gradient_norm": tf.constant(2.0)}, str(tmp_path)
        )
        assert [tensor.shape.as_list() for tensor in tensors] == [[1], [1], [1]]
        step = tf.constant([7, 7], tf.int64)
        operations = write(step, tf.constant([2.0, 4.0]), tf.constant([1.0, 2.0]))
        # As TPUEstimator does: writers are opened, used, and flushed.
        writers = tf.get_collection("_SUMMARY_WRITER_V2")
        session.run(writers)
        session.run(operations)
        session.run(tf.raw_ops.FlushSummaryWriter(writer=writers[0].inputs[0]))
    (events,) = tmp_path.iterdir()
    found = {
        (event.step, value.tag): float(tf.make_ndarray(value.tensor))
        for event in tf.train.summary_iterator(str(events))
        for value in event.summary.value
    }
    assert found == {(7, "gradient_norm"): 3.0, (7, "loss"): 1.5}


# ---------------------------------------------------------------------------------------------
# The stop on NaN.


def test_a_gradient_that_is_not_finite_stops_with_the_step_and_what_to_try(tmp_path):
    with pytest.raises(training_hooks.TrainingDivergedError) as error:
        train(tmp_path, max_steps=9, values=(1.0, 2.0, 3.0, 4.0, 5.0, -1.0))
    words = ("step 6: the gradient norm is", "nan (the loss was 5 in the step", "--learning_rate")
    for part in words:
        assert part in str(error.value)
    assert steps_in(tmp_path) == [0, 4]
    assert variable(tmp_path, "weight") == 10.0


def test_a_loss_that_is_not_a_number_stops_before_a_checkpoint(tmp_path):
    def diverging(features, labels, mode, params):
        spec = model_fn(features, labels, mode, params)
        tf.get_collection_ref("training_scalars")[:] = []
        return spec._replace(loss=tf.math.log(5.5 - tf.reduce_mean(features["x"])))

    with pytest.raises(training_hooks.TrainingDivergedError, match="step 4: the loss is nan"):
        train(tmp_path, max_steps=9, values=(1.0, 2.0, 3.0, 6.0), function=diverging)
    assert steps_in(tmp_path) == [0]


@pytest.mark.parametrize("made, loss", [((4, 3), 1.0), ((4, 0), np.nan), ((4, 4), np.nan)])
def test_updates_that_a_tpu_refused_in_its_loop_stop_the_training_after_it(tmp_path, made, loss):
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        count, value = tf.placeholder(tf.int64, []), tf.placeholder(tf.float32, [])
        tf.losses.add_loss(value)
        update = step.assign_add(count)
        hook = training_hooks.ProgressHook(
            str(tmp_path), max_steps=10, batch_size=1, log_steps=1, steps_per_loop=4
        )
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(update, {count: made[0], value: 1.0})
            with pytest.raises(training_hooks.TrainingDivergedError) as error:
                session.run(update, {count: made[1], value: loss})
        assert "8" in str(error.value) and "--learning_rate" in str(error.value)


def test_the_last_loop_of_a_tpu_may_be_shorter(tmp_path):
    with tf.Graph().as_default():
        count = tf.placeholder(tf.int64, [])
        update = tf.train.get_or_create_global_step().assign_add(count)
        tf.losses.add_loss(tf.constant(1.0))
        hook = training_hooks.ProgressHook(
            str(tmp_path), max_steps=6, batch_size=1, log_steps=9, steps_per_loop=4
        )
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for steps in (4, 2):
                session.run(update, {count: steps})
        assert hook.step == 6


def test_other_errors_are_passed_on(tmp_path):
    def broken(features, labels, mode, params):
        spec = model_fn(features, labels, mode, params)
        check = tf.debugging.Assert(tf.reduce_mean(features["x"]) > 1, ["something else"])
        with tf.control_dependencies([check]):
            return spec._replace(loss=tf.identity(spec.loss))

    with pytest.raises(tf.errors.InvalidArgumentError, match="something else"):
        train(tmp_path, max_steps=9, function=broken)


# ---------------------------------------------------------------------------------------------
# Configuration.


def test_the_runtime_flags_become_the_configuration(tmp_path):
    settings = settings_for(tmp_path, "--seed=7", "--save_checkpoints_steps=11")
    config = estimator_utils.run_config(settings, keep_checkpoint_max=0)
    assert (config.tf_random_seed, config.save_checkpoints_steps) == (7, 11)
    assert (config.keep_checkpoint_max, config.model_dir) == (0, str(tmp_path))


def test_the_tpu_flags_become_the_configuration(tmp_path):
    settings = settings_for(
        tmp_path,
        "--use_tpu",
        "--tpu_name=grpc://10.0.0.2:8470",
        "--num_tpu_cores=16",
        "--iterations_per_loop=50",
        "--save_checkpoints_steps=100",
    )
    config = estimator_utils.run_config(settings, keep_checkpoint_max=5)
    assert config.master == "grpc://10.0.0.2:8470"
    assert (config.tpu_config.iterations_per_loop, config.tpu_config.num_shards) == (50, 16)
    per_host = tf.estimator.tpu.InputPipelineConfig.PER_HOST_V2
    assert config.tpu_config.per_host_input_for_training == per_host
    estimator = estimator_utils.build_estimator(
        model_fn, config, use_tpu=True, train_batch_size=32, eval_batch_size=16
    )
    assert estimator.params["model_dir"] == str(tmp_path)


@pytest.mark.parametrize("saved, loop", [(100, 100), (2000, 1000)])
def test_a_tpu_makes_no_more_steps_at_a_time_than_lie_between_checkpoints(tmp_path, saved, loop):
    """The host saves between two loops, so that a longer one would leave checkpoints out."""
    settings = settings_for(tmp_path, "--use_tpu", f"--save_checkpoints_steps={saved}")
    config = estimator_utils.run_config(settings, keep_checkpoint_max=5)
    assert config.tpu_config.iterations_per_loop == loop
    assert config.save_checkpoints_steps == saved


def test_a_master_is_used_where_no_tpu_is_named(tmp_path):
    settings = settings_for(tmp_path, "--use_tpu", "--master=grpc://10.0.0.3:8470")
    config = estimator_utils.run_config(settings, keep_checkpoint_max=5)
    assert config.master == "grpc://10.0.0.3:8470"


def test_a_host_without_a_tpu_reads_whole_batches():
    assert estimator_utils.input_shard({"batch_size": 8}) == (0, 1, 1)
