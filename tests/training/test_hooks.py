# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Progress, the curve, TensorBoard, what a TPU reports, and a training that learns nothing."""

import json
import logging
import math
import types

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.squad.run import SquadTask
from albert.training import hooks, metrics
from tests.support.one_weight import curve_of, train
from tests.support.runtimes import needs_tf_estimator

NAMES = ["loss", "word_accuracy", "learning_rate", "gradient_norm", "examples_per_second"]


def test_log_curve_and_tensorboard_show_means_throughput_and_time_left(tmp_path, caplog):
    with caplog.at_level(logging.INFO, logger="albert"):
        summary = train(tmp_path, max_steps=5, values=(1.0, 2.0, 3.0, 4.0, 5.0))
    lines = [message for message in caplog.messages if message.startswith("Training: ")]
    assert [line.split()[1] for line in lines] == ["1/5", "2/5", "4/5", "5/5"]
    for part in ("loss 6.5000", "word_accuracy 3.500", "examples/s"):
        assert part in lines[2]
    assert "learning_rate 0.5," in lines[2]  # that of step 4
    assert lines[2].endswith("left")
    assert summary.examples_per_second > 0 and summary.peak_memory_bytes > 1e7
    assert summary.scalars["loss"] == 5.0
    rows = curve_of(tmp_path)
    assert list(rows[0]) == ["step", *NAMES]
    assert [(row["step"], row["loss"]) for row in rows] == [("2", "8.5"), ("4", "6.5"), ("5", "5")]
    (events,) = tmp_path.glob("events.out.tfevents.*")
    found = {
        (event.step, value.tag): value.simple_value
        for event in tf.train.summary_iterator(str(events))
        for value in event.summary.value
        if value.HasField("simple_value")
    }
    assert found[(2, "loss")] == 8.5 and {tag for _, tag in found} == set(NAMES)


def test_a_terminal_gets_a_bar_too(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    train(tmp_path, max_steps=5)
    said = capsys.readouterr().err
    assert "5/5" in said and "loss 9.5000" in said and "examples/s" in said


def test_a_row_is_appended_unless_its_columns_are_others(tmp_path):
    path = tmp_path / "training_curve.csv"
    curve = hooks.TrainingCurve(str(tmp_path), 0)
    curve.add({"step": 1, "loss": 0.5})
    for step in range(2, 6):
        file = path.stat().st_ino
        curve.add({"step": step, "loss": 0.5})
        assert path.stat().st_ino == file  # a replaced file is another one
    assert path.read_text() == "step,loss\n" + "".join(f"{n},0.5\n" for n in range(1, 6))
    curve = hooks.TrainingCurve(str(tmp_path), 2)
    curve.add({"step": 4, "loss": 1.0, "accuracy": 0.5})
    assert path.read_text() == "step,loss,accuracy\n1,0.5,\n2,0.5,\n4,1.0,0.5\n"
    path.unlink()
    curve.add({"step": 6, "loss": 0.5})
    assert path.read_text() == "step,loss\n6,0.5\n"


@pytest.mark.parametrize("unfinished", ["4", "40,0.5", "40,0.5,7"])
def test_a_curve_goes_on_after_a_line_that_a_crash_cut_off(tmp_path, unfinished):
    path = tmp_path / "training_curve.csv"
    path.write_text("step,loss\n10,0.5\n20,0.4\n30,0.3\n" + unfinished)
    curve = hooks.TrainingCurve(str(tmp_path), 20)
    assert path.read_text() == "step,loss\n10,0.5\n20,0.4\n"
    curve.add({"step": 30, "loss": 0.2})
    assert path.read_text() == "step,loss\n10,0.5\n20,0.4\n30,0.2\n"


@needs_tf_estimator
def test_the_host_of_a_tpu_writes_the_means_over_its_cores(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.get_or_create_global_step()
        write, tensors = hooks.tpu_host_call(
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


def run_loops(folder, loops, *, max_steps):
    """Runs loops of at most four steps, as a TPU does: (steps made, loss) of each."""
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        count, value = tf.placeholder(tf.int64, []), tf.placeholder(tf.float32, [])
        tf.losses.add_loss(value)
        update = step.assign_add(count)
        hook = hooks.ProgressHook(
            str(folder), max_steps=max_steps, batch_size=1, log_steps=1, steps_per_loop=4
        )
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for made, loss in loops:
                session.run(update, {count: made, value: loss})
        return hook.step


@pytest.mark.parametrize("loop", [(3, 1.0), (0, np.nan), (4, np.nan)])
def test_updates_that_a_tpu_refused_in_its_loop_stop_the_training_after_it(tmp_path, loop):
    with pytest.raises(hooks.TrainingDivergedError, match="8.*--learning_rate"):
        run_loops(tmp_path, [(4, 1.0), loop], max_steps=10)


def test_the_time_left_is_that_of_the_steps_after_a_tpu_s_first_loop(tmp_path, caplog, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("time.time", lambda: clock[0])

    def loops():
        for seconds in (300.0, 40.0, 40.0, 20.0):
            clock[0] += seconds
            yield (int(min(seconds // 10, 4)), 1.0)

    with caplog.at_level(logging.INFO, logger="albert"):
        run_loops(tmp_path, loops(), max_steps=14)
    left = [line.split(", ")[-1] for line in caplog.messages if line.startswith("Training: ")]
    assert left[1:] == ["01:00 left", "00:20 left", "00:00 left"]
    assert "00:00" not in left[0]


def test_the_last_loop_of_a_tpu_may_be_shorter(tmp_path):
    assert run_loops(tmp_path, [(4, 1.0), (2, 1.0)], max_steps=6) == 6


# ---------------------------------------------------------------------------------------------
# A training that learns nothing.

LN2 = math.log(2)


def feed(watch, losses, *, each=10):
    """Gives a watch rows of `each` steps of a curve; returns what it said, and when."""
    said = []
    for step in range(each, len(losses) + 1, each):
        found = watch.add(step, each, {"loss": float(np.mean(losses[step - each : step]))})
        said += [(found.kind, found.step)] if found else []
    return said


def loss_watch(steps, constant_loss=LN2, *, first_steps=100, batch_size=32, **options):
    if not isinstance(constant_loss, metrics.ConstantLoss):
        constant_loss = metrics.ConstantLoss(constant_loss)
    return hooks.LossWatch(
        constant_loss,
        batch_size=batch_size,
        first_steps=first_steps,
        num_train_steps=steps,
        remedy=lambda kind: f"<{kind}>",
        **options,
    )


def noisy(*parts):
    """(steps, from, to) each, as one curve with the noise of small batches."""
    curve = np.concatenate([np.linspace(first, last, steps) for steps, first, last in parts])
    return curve + np.random.RandomState(1).normal(0, 0.1, len(curve)) * (curve > 0)


HEALTHY = noisy((150, 0.75, 0.69), (650, 0.69, 0.2))
LATE = noisy((280, 0.7, 0.69), (520, 0.69, 0.3))  # warm-up of 200, as RTE's
FLAT = noisy((2000, LN2, LN2))


@pytest.mark.parametrize("each", [1, 10, 100])
@pytest.mark.parametrize(
    "curve,first_steps,constant_loss",
    [
        (HEALTHY, 100, LN2),
        (LATE, 200, LN2),
        (FLAT[:60], 10, LN2),  # too few updates to tell
        (FLAT[:290], 100, LN2),
        (noisy((150, 9.5, 1.8), (650, 1.8, 0.5)), 50, 2.2),  # a regression's first updates
        (noisy((800, 0.69, 0.0)), 100, 0.0),  # one label only: nothing to compare with
    ],
)
def test_nothing_is_said_of_a_healthy_or_a_short_training(curve, first_steps, constant_loss, each):
    watch = loss_watch(800, constant_loss, first_steps=first_steps)
    assert feed(watch, curve, each=each) == []


@pytest.mark.parametrize("each", [1, 50, 100])
def test_a_loss_that_never_falls_is_called_flat_once(each):
    watch = loss_watch(800)
    assert feed(watch, FLAT, each=each) == [("flat", 300)]
    assert "<flat>" in watch.warnings[0].text and "0.69" in watch.warnings[0].text


def test_a_long_training_has_a_twentieth_of_its_updates_before_it_is_judged():
    assert feed(loss_watch(12000, first_steps=1000), FLAT[:1590]) == []
    assert feed(loss_watch(12000, first_steps=1000), FLAT) == [("flat", 1600)]


@pytest.mark.parametrize("end", [LN2, 3.0])
def test_a_loss_that_goes_back_to_guessing_is_called_lost_within_a_hundred_updates(end):
    curve = noisy((200, 0.7, 0.3), (1500, end, end))
    ((kind, step),) = feed(loss_watch(20000), curve)
    assert kind == "lost" and 200 < step <= 300


def test_a_training_far_above_guessing_has_collapsed_though_it_never_learnt():
    assert feed(loss_watch(800), noisy((800, 0.7, 40.0))) == [("lost", 300)]


def test_after_a_recovery_a_second_event_is_said():
    curve = noisy((400, LN2, LN2), (300, 0.6, 0.2), (300, LN2, LN2))
    watch = loss_watch(800)
    assert [kind for kind, _ in feed(watch, curve)] == ["flat", "lost"]
    first, second = watch.warnings
    assert first.step < first.recovered_step < second.step and second.recovered_step is None


@pytest.mark.parametrize(
    "parts,found",
    [
        ([(3000, 5.5, 4.8)], [("flat", 1000)]),
        ([(300, 5.9, 2.0), (2700, 1.5, 1.2)], []),
        ([(3000, 1.1, 0.9)], []),  # begins with a model that answers already
    ],
)
def test_the_loss_of_answers_is_judged_by_that_of_guessing_however_long_a_row(parts, found):
    task = SquadTask(types.SimpleNamespace(max_seq_length=384), None)
    options = {"share": task.constant_loss_share, "first_steps": 100}
    watch = loss_watch(3000, task.constant_loss(None), **options)
    assert feed(watch, noisy(*parts), each=1000) == found


def batch_losses(share, batch_size, shares, random):
    """Mean losses of batches with `share` of a rare class.

    The loss of an example is the one of guessing, times a value that goes through `shares`.
    """
    rare = random.rand(len(shares), batch_size) < share
    return np.where(rare, -math.log(share), -math.log(1 - share)).mean(axis=1) * shares


@pytest.mark.parametrize("level", [0.7, 0.85])
@pytest.mark.parametrize("batch_size", [8, 32])
@pytest.mark.parametrize("share", [0.05, 0.1, 0.3])
def test_noise_of_a_rare_class_is_no_collapse(share, batch_size, level):
    said = []
    labels = ["rare"] * int(1000 * share) + ["common"] * int(1000 - 1000 * share)
    constant = metrics.constant_loss(labels, is_regression=False)
    for seed in range(5):
        shares = np.concatenate([np.linspace(1, level, 300), np.full(3700, level)])
        losses = batch_losses(share, batch_size, shares, np.random.RandomState(seed))
        watch = loss_watch(4000, constant, batch_size=batch_size)
        said += feed(watch, losses, each=100)
        assert not watch.is_without_gain(watch.final_loss(100))
    assert said == []


def test_the_steps_that_average_noise_out_begin_after_warm_up():
    constant = metrics.constant_loss(["rare"] + ["common"] * 9, is_regression=False)
    shares = np.concatenate([np.full(1850, 1.0), np.full(2150, 0.5)])
    losses = batch_losses(0.1, 8, shares, np.random.RandomState(1))
    assert feed(loss_watch(4000, constant, batch_size=8, first_steps=1700), losses) == []


def test_too_few_examples_of_a_rare_class_have_no_mean_loss():
    constant = metrics.constant_loss(["rare"] + ["common"] * 9, is_regression=False)
    watch = loss_watch(1000, constant, batch_size=8)
    assert feed(watch, np.full(1000, 0.4)) == []
    assert math.isnan(watch.final_loss(100)) and not watch.is_without_gain(math.nan)


def test_a_loss_far_above_guessing_needs_no_long_mean():
    constant = metrics.constant_loss(["rare"] + ["common"] * 99, is_regression=False)
    ((kind, step),) = feed(loss_watch(1000, constant, batch_size=8), np.full(1000, 5.0))
    assert (kind, step) == ("lost", 300)


@pytest.mark.parametrize("steps,epoch_steps", [(40, 10), (40, 100), (1000, 100), (1000, 5)])
def test_the_last_loss_is_that_of_an_epoch_or_of_as_many_steps_as_tell(steps, epoch_steps):
    constant = metrics.constant_loss(["rare", "common", "common"], is_regression=False)
    watch = loss_watch(steps, constant, batch_size=32)
    losses = np.linspace(1, 0, steps)
    feed(watch, losses, each=1)
    fewest = 30 if steps == 1000 else 0  # (3 / 0.05 x deviation / mean)^2 / 32
    counted = max(min(100, epoch_steps, steps), fewest)
    assert watch.final_loss(epoch_steps) == pytest.approx(losses[-counted:].mean())


def test_a_collapse_on_a_rare_class_is_told_from_noise():
    constant = metrics.constant_loss(["rare"] + ["common"] * 9, is_regression=False)
    shares = np.concatenate([np.linspace(1, 0.3, 2000), np.full(2000, 1.0)])
    losses = batch_losses(0.1, 32, shares, np.random.RandomState(1))
    ((kind, step),) = feed(loss_watch(4000, constant), losses, each=100)
    assert kind == "lost" and 2000 < step <= 2700


def pretraining_said(parts, *, order=LN2, each=100, steps=20000, first_steps=500):
    watch = hooks.PlateauWatch(
        30000, first_steps=first_steps, num_train_steps=steps, remedy=lambda kind: f"<{kind}>"
    )
    said, step = [], 0
    for value in np.concatenate([np.linspace(a, b, n // each) for n, a, b in parts]):
        step += each
        found = watch.add(step, each, {"masked_lm_loss": value, "sentence_order_loss": order})
        said += [(found.kind, found.step)] if found else []
    return said


PLATEAU = [(500, 10.3, 7.0), (9500, 7.0, 6.95)]


@pytest.mark.parametrize("each", [10, 100])
def test_masked_words_by_frequency_and_no_order_are_a_plateau(each):
    assert pretraining_said(PLATEAU, each=each) == [("plateau", 2500)]


@pytest.mark.parametrize(
    "each,steps,first_steps,found", [(300, 20000, 500, 2700), (100, 125000, 3125, 15700)]
)
def test_rows_need_not_divide_the_spans_of_a_plateau(each, steps, first_steps, found):
    options = {"each": each, "steps": steps, "first_steps": first_steps}
    assert pretraining_said([(25000, 9.5, 6.0)], **options) == []
    assert pretraining_said([(25000, 7.0, 7.0)], **options) == [("plateau", found)]


@pytest.mark.parametrize(
    "parts,options",
    [
        ([(1000, 10.3, 7.0), (9000, 7.0, 5.5)], {}),  # slow, but it falls
        (PLATEAU, {"order": 0.6}),  # it learns the order
        (PLATEAU, {"steps": 400000}),  # a long training may stay on it for longer
        (PLATEAU, {"first_steps": 9000}),  # the learning rate is still rising
        ([(1000, 10.3, 3.0), (9000, 3.0, 2.99)], {}),  # it has learnt
        ([(2400, 7.0, 7.0)], {}),  # too few updates to tell
    ],
)
def test_nothing_is_said_of_a_pretraining_that_moves_or_is_short(parts, options):
    assert pretraining_said(parts, **options) == []


def test_a_sudden_rise_in_pretraining_is_said_though_the_order_stays():
    parts = [(1000, 10.3, 7.0), (3000, 7.0, 4.0), (6000, 7.0, 7.0)]
    assert [kind for kind, _ in pretraining_said(parts, order=0.3)] == ["lost"]


def test_a_resumed_training_is_judged_as_one_and_says_nothing_twice(tmp_path, caplog):
    """Rows of ten steps; the curve that the first part leaves is all that the second knows."""

    def train(watch, first, last):
        with tf.Graph().as_default():
            step = tf.Variable(first, trainable=False, dtype=tf.int64)
            tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, step)
            value = tf.placeholder(tf.float32, [])
            tf.losses.add_loss(value)
            update = step.assign_add(1)
            options = {"max_steps": last, "batch_size": 1, "log_steps": 10, "has_bar": False}
            hook = hooks.ProgressHook(str(tmp_path), watch=watch, **options)
            with tf.train.MonitoredSession(hooks=[hook]) as session:
                for loss in FLAT[first:last]:
                    session.run(update, {value: loss})
            return [(one.kind, one.step) for one in hook.summary().warnings]

    assert train(loss_watch(800), 0, 250) == []
    assert train(loss_watch(800), 250, 400) == [("flat", 300)]
    kept = json.loads((tmp_path / "training_warnings.json").read_text(encoding="utf-8"))
    assert [one["step"] for one in kept] == [300]
    assert len(caplog.records) == 1
    assert train(loss_watch(800), 400, 450) == [("flat", 300)]
    assert len(caplog.records) == 1
