# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Progress, the curve, TensorBoard, and what a TPU refuses."""

import logging
import logging.handlers

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.training import hooks
from tests.support.one_weight import curve_of, settings_for, train

NAMES = ["loss", "word_accuracy", "learning_rate", "gradient_norm", "examples_per_second"]


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    """(folder, summary, log) of five steps, logged every two."""
    folder = tmp_path_factory.mktemp("training")
    logger, log = logging.getLogger("albert"), logging.handlers.BufferingHandler(1000)
    logger.addHandler(log)
    logger.setLevel(logging.INFO)  # not `level`: loggers remember what they let through
    summary = train(folder, max_steps=5, values=(1.0, 2.0, 3.0, 4.0, 5.0))
    logger.removeHandler(log)
    logger.setLevel(logging.NOTSET)
    return folder, summary, [record.getMessage() for record in log.buffer]


def test_log_has_means(training):
    lines = [message for message in training[2] if message.startswith("Training: ")]
    assert [line.split()[1] for line in lines] == ["1/5", "2/5", "4/5", "5/5"]
    for part in ("loss 6.5,", "word_accuracy 3.5,", "learning_rate 0.5,", "examples_per_second"):
        assert part in lines[2]  # the learning rate is that of step 4
    assert lines[2].endswith("left")


def test_summary_has_speed_and_last_scalars(training):
    summary = training[1]
    assert summary.examples_per_second > 0 and summary.scalars["loss"] == 5.0


def test_curve_has_means(training):
    rows = curve_of(training[0])
    assert list(rows[0]) == ["step", *NAMES]
    assert [(row["step"], row["loss"]) for row in rows] == [("2", "8.5"), ("4", "6.5"), ("5", "5")]


def test_tensorboard_has_means(training):
    (events,) = training[0].glob("events.out.tfevents.*")
    scalars = {
        (event.step, value.tag): value.simple_value
        for event in tf.train.summary_iterator(str(events))
        for value in event.summary.value
        if value.HasField("simple_value")
    }
    assert scalars[(2, "loss")] == 8.5 and {tag for _, tag in scalars} == set(NAMES)


def test_curve_keeps_rows_before_first_step(tmp_path):
    path = tmp_path / "training_curve.csv"
    columns = hooks.begin_curve(str(path), 0, ["loss"])
    file = path.stat().st_ino
    for step in range(1, 6):
        hooks.append_rows(str(path), columns, [{"step": step, "loss": 0.5}])
    assert path.stat().st_ino == file  # a replaced file is another one
    assert path.read_text() == "step,loss\n" + "".join(f"{n},0.5\n" for n in range(1, 6))
    columns = hooks.begin_curve(str(path), 2, ["loss", "accuracy"])
    hooks.append_rows(str(path), columns, [{"step": 4, "loss": 1.0, "accuracy": 0.5}])
    assert path.read_text() == "step,loss,accuracy\n1,0.5,\n2,0.5,\n4,1.0,0.5\n"


@pytest.mark.parametrize("unfinished", ["4", "40,0.5", "40,0.5,7"])
def test_curve_drops_cut_line(tmp_path, unfinished):
    path = tmp_path / "training_curve.csv"
    path.write_text("step,loss\n10,0.5\n20,0.4\n30,0.3\n" + unfinished)
    hooks.begin_curve(str(path), 20, ["loss"])
    assert path.read_text() == "step,loss\n10,0.5\n20,0.4\n"


def run_loops(folder, loops, *, max_steps):
    """Runs loops of at most four steps, as a TPU does: (steps made, loss) of each."""
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        count, value = tf.placeholder(tf.int64, []), tf.placeholder(tf.float32, [])
        tf.losses.add_loss(value)
        update = step.assign_add(count)
        flags = settings_for(folder, "--use_tpu", "--iterations_per_loop=4", "--log_steps=1")
        hook = hooks.TrainingHook(
            flags, max_steps=max_steps, resumed=None, documents={}, on_saved=bool
        )
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for made, loss in loops:
                session.run(update, {count: made, value: loss})
        return hook.step


@pytest.mark.parametrize("made, loss", [(3, 1.0), (4, np.nan), (2, 1.0)])
def test_tpu_loop_with_refused_updates_stops_training(tmp_path, made, loss):
    loops = [(4, 1.0), (made, loss)]
    if made == 2:  # the last loop may be shorter
        assert run_loops(tmp_path, loops, max_steps=6) == 6
        return
    with pytest.raises(hooks.TrainingDivergedError, match="8.*--learning_rate"):
        run_loops(tmp_path, loops, max_steps=10)
