# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Training hooks: progress, training curve, checkpoints, and a stop at NaN.

A model function reports scalars by `report_scalars`. `TrainingHook` shows them on the terminal or
in the log, and writes them to TensorBoard files and training_curve.csv.
"""

import collections
import csv
import math
import os
import time
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np
import tensorflow.compat.v1 as tf
import tensorflow.compat.v2 as tf2

from albert.configs.shared_flags import TrainingFlags
from albert.formats import checkpoints, model_paths
from albert.runtimes import compat
from albert.training import distribution, evaluation, origin
from albert.training.run_files import CURVE_NAME, read_curve
from albert.util import UserError, files, log, progress, stop_signals

# The log is never silent for longer than this, however long a step takes.
_LONGEST_SILENCE_SECONDS = 60.0
_SCALARS = "training_scalars"  # collection and name scope of the reported tensors
_STOP = "stop_request"  # name of the scalar of `stop_request`
_RATE = "learning_rate"
_NORM = "gradient_norm"
_SPEED = "examples_per_second"
_DOES_NOT_FIT = (
    "To resume, use the same configuration, --optimizer and --precision as before. Otherwise, "
    "choose another --output_dir, and pass this checkpoint as --init_checkpoint."
)


class TrainingDivergedError(UserError, ArithmeticError):
    """The loss or the gradient became NaN or infinite. The message has the step and advice."""


def diverged(when: str, reason: str) -> TrainingDivergedError:
    """Returns the error for steps with a NaN or infinite loss or gradient.

    `when` begins with "in step" or "within steps".
    """
    return TrainingDivergedError(
        f"Training diverged {when}: {reason}. No checkpoint has this result. Try a lower "
        "--learning_rate, a longer warm-up or --precision=float32, and check the data. The same "
        "command resumes from the last checkpoint."
    )


# ---------------------------------------------------------------------------------------------
# What a model function reports.


def report_scalars(scalars: Mapping[str, tf.Tensor]):
    """Registers float32 scalars of a training step, to show and record them."""
    for name, tensor in scalars.items():
        tf.add_to_collection(_SCALARS, tf.identity(tensor, name=f"{_SCALARS}/{name}"))


def reported_scalars() -> Dict[str, tf.Tensor]:
    """Returns the scalars that `report_scalars` registered in the default graph, by name."""
    return {tensor.op.name.split("/")[-1]: tensor for tensor in tf.get_collection(_SCALARS)}


def stop_request(flags: TrainingFlags) -> Dict[str, tf.Tensor]:
    """Returns a scalar that makes all workers stop after the same step; {} for one worker.

    It is 1.0 after a signal has asked this worker to stop. All workers see the mean.
    """
    if flags.distribution_strategy != distribution.MULTI_WORKER:
        return {}
    return {_STOP: tf.py_func(lambda: np.float32(stop_signals.is_requested()), [], tf.float32)}


def tpu_host_call(
    scalars: Mapping[str, tf.Tensor], output_dir: str
) -> Tuple[Callable, List[tf.Tensor]]:
    """Returns a TPUEstimatorSpec's host_call that writes `scalars` for TensorBoard.

    A session cannot fetch a TPU's tensors. The TPU sends them to its host instead.
    """
    names = sorted(scalars)

    def write(global_step: tf.Tensor, *values: tf.Tensor) -> List[tf.Operation]:
        """Runs on the host; each argument has one element per core."""
        with tf2.summary.create_file_writer(output_dir).as_default():
            for name, value in zip(names, values):
                tf2.summary.scalar(name, tf.reduce_mean(value), step=global_step[0])
        return tf.summary.all_v2_summary_ops()

    step = tf.reshape(tf.train.get_or_create_global_step(), [1])
    return write, [step, *(tf.reshape(scalars[name], [1]) for name in names)]


# ---------------------------------------------------------------------------------------------
# The curve.


def begin_curve(path: str, first_step: int, columns: Iterable[str]) -> List[str]:
    """Begins a curve with the rows of earlier runs up to `first_step`.

    Later rows are dropped, because training repeats these steps. Returns the columns: the earlier
    ones, then the new ones.
    """
    rows = read_curve(path) if files.exists(path) else []
    rows = [row for row in rows if int(row["step"]) <= first_step]
    columns_before = rows[0] if rows else ()
    names = list(dict.fromkeys([*columns_before, "step", *columns]))
    with files.atomic_path(path) as temporary:
        append_rows(temporary, names, [dict(zip(names, names)), *rows])
    return names


def append_rows(path: str, columns: List[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Appends rows to a curve in one write, so that readers see complete lines."""
    with tf.io.gfile.GFile(path, "a") as stream:
        csv.DictWriter(stream, columns, lineterminator="\n").writerows(rows)


# ---------------------------------------------------------------------------------------------
# Progress.


class TrainingSummary(NamedTuple):
    """The result of a call of `train`."""

    first_step: int
    last_step: int
    seconds: float
    examples_per_second: float  # without the first step
    scalars: Dict[str, float]  # means over the last interval


def steps_per_call(flags: TrainingFlags) -> int:
    """Returns the updates per call of the session. A TPU's host can save only between calls."""
    if not flags.use_tpu:
        return 1
    return min(flags.iterations_per_loop, flags.save_checkpoints_steps)


class TrainingHook(tf.train.SessionRunHook):
    """Checks the checkpoint, shows progress, writes the curve, and stops on NaN or a signal.

    Logs a line every --log_steps steps and after the last step, and draws a bar on a terminal.
    Without a bar, it also logs the first step, and a line at least once a minute.

    Attributes:
      is_chief: whether this process writes files.
      max_steps: the step at which training ends.
      first_step, step: the global step when training began, and after the last update.
      loss: loss of the last step.
      on_saved: see estimators.train.
    """

    def __init__(
        self,
        flags: TrainingFlags,
        *,
        max_steps: int,
        resumed: Optional[model_paths.Checkpoint],
        documents: Mapping[str, bytes],
        on_saved: Callable[[], bool],
    ):
        """`documents`: files to write before the first checkpoint: name -> content."""
        self.flags, self.resumed, self.max_steps = flags, resumed, max_steps
        self._documents, self.on_saved = documents, on_saved
        self._curve = os.path.join(flags.output_dir, CURVE_NAME)
        self.is_chief, self._is_stopping = distribution.is_chief(flags), False
        self._bar: Optional[progress.Progress] = None
        # Reported values since the last row of the curve, and that row.
        self._values: Dict[str, List[float]] = collections.defaultdict(list)
        self._latest: Dict[str, float] = {}
        self._seconds = 0.0  # of all steps but the first
        self.first_step = self.step = 0
        self.loss: Optional[float] = None

    def is_over(self) -> bool:
        """Returns whether the last step is done, so that other workers may exit."""
        return self._is_stopping or self.step >= self.max_steps

    def begin(self):
        """Finds the tensors to fetch; called once the graph is complete."""
        if self.resumed:
            # TensorFlow checks this too, but its message is hard to read.
            checkpoints.match_variables(
                self.resumed.path, tf.global_variables(), remedy=_DOES_NOT_FIT
            )
        # Estimator adds the loss to this collection. On a TPU, nothing else can be fetched.
        self._tensors = {"loss": tf.get_collection(tf.GraphKeys.LOSSES)[-1], **reported_scalars()}
        self._step_tensor = tf.train.get_global_step()

    def after_create_session(self, session, coord):
        """Called once the variables have their values."""
        self.first_step = self.step = int(session.run(self._step_tensor))
        self._began = time.time()
        stop_signals.postpone()
        if self.is_chief:
            folder = self.flags.output_dir
            # Write only now, so that a failed start does not claim the folder.
            if not self.resumed:
                evaluation.set_aside(folder)
            origin.record_flags(self.flags, is_training=True)
            files.atomic_write_all(folder, self._documents)
            columns = [name for name in self._tensors if name != _STOP]
            self._columns = begin_curve(self._curve, self.step, [*columns, _SPEED])
            # Makes TensorBoard discard a killed run's values after the checkpoint.
            writer = tf.summary.FileWriterCache.get(folder)
            writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), self.step + 1)

    def before_run(self, run_context):
        """Fetches the scalars with the step."""
        self._run_began = time.time()
        return tf.train.SessionRunArgs(self._tensors)

    def after_run(self, run_context, run_values):
        """Checks and records the step's scalars, shows progress, and stops if requested."""
        seconds = time.time() - self._run_began
        previous, self.step = self.step, int(run_context.session.run(self._step_tensor))
        scalars = dict(run_values.results)
        stop = scalars.pop(_STOP, None)
        self._check(previous, float(scalars["loss"]))
        for name, value in scalars.items():
            # If float16's loss scale skips an update, its norm is NaN or infinite.
            if name != _NORM or math.isfinite(value):
                self._values[name].append(float(value))
        if stop:
            stop_signals.request("a signal to another worker")
        # If one worker stops alone, the others wait forever in the next step.
        if stop_signals.is_requested() if stop is None else stop:
            self._is_stopping = True
            run_context.request_stop()
        done, is_first = self.step - previous, self._bar is None
        if is_first:
            # The first step includes compilation, so it says nothing about speed and time left.
            self._bar = progress.Progress(
                "Training",
                self.max_steps,
                unit="steps",
                done=self.step,
                has_bar=self.is_chief,
                log_seconds=_LONGEST_SILENCE_SECONDS,
            )
            self._timed_from = self._row_from = (self.step, 0.0)
        else:
            self._seconds += seconds
        log_steps = self.flags.log_steps
        is_due = self.is_over() or self.step // log_steps > previous // log_steps
        note = ", ".join(
            f"{name} {value:.4g}" if abs(value) < 1e4 else f"{name} {value:.0f}"
            for name, value in self._scalars().items()
        )
        self._bar.update(0 if is_first else done, note, logs=is_due or is_first)
        if is_due:
            self._record()

    def _scalars(self) -> Dict[str, float]:
        """Returns the mean of each scalar, the last learning rate, and the speed if known."""
        means = {name: sum(values) / len(values) for name, values in self._values.items()}
        if _RATE in means:
            means[_RATE] = self._values[_RATE][-1]
        if self.step > self._row_from[0]:
            means[_SPEED] = self._speed(*self._row_from)
        return means

    def _speed(self, step: int, seconds: float) -> float:
        """Returns examples per second since `step`, when the steps had taken `seconds`."""
        examples = (self.step - step) * self.flags.train_batch_size
        return examples / max(self._seconds - seconds, 1e-9)

    def _check(self, previous: int, loss: float):
        """Raises TrainingDivergedError if the loss is NaN or infinite. Runs before SaverHook."""
        # A TPU cannot stop within its loop, so it skips updates with NaN gradients.
        expected = min(previous + steps_per_call(self.flags), self.max_steps)
        if self.step < expected:
            reason = f"the gradient norm is not finite in {expected - self.step} of them"
            raise diverged(f"within steps {previous + 1} to {expected}", reason)
        if not math.isfinite(loss):
            raise diverged(f"in step {self.step}", f"the loss is {loss}")
        self.loss = loss

    def _record(self):
        """Writes a row to the curve and to TensorBoard."""
        self._latest = self._scalars()
        self._values.clear()
        self._row_from = (self.step, self._seconds)
        if self.is_chief:
            compat.write_scalars(self.flags.output_dir, self.step, self._latest)
            rounded = {name: f"{value:.6g}" for name, value in self._latest.items()}
            append_rows(self._curve, self._columns, [{"step": self.step, **rounded}])

    def close(self):
        """Closes the progress bar."""
        if self._bar is not None:
            self._bar.close()

    def summary(self) -> TrainingSummary:
        """Returns and logs a summary of the training."""
        summary = TrainingSummary(
            first_step=self.first_step,
            last_step=self.step,
            seconds=time.time() - self._began,
            examples_per_second=self._speed(*self._timed_from),
            scalars=self._latest,
        )
        log.info(
            "Trained steps %d to %d in %s: %.1f examples/s (without the first step), peak memory "
            "%.2f GB.",
            self.first_step + 1,
            self.step,
            progress.format_seconds(summary.seconds),
            summary.examples_per_second,
            progress.peak_memory() / 1e9,
        )
        return summary


# ---------------------------------------------------------------------------------------------
# Checkpoints.


class SaverHook(tf.train.CheckpointSaverHook):
    """Saves at the start, at each multiple of --save_checkpoints_steps, and at the end.

    A checkpoint that was just restored is not written again, because a kill during the write would
    damage the only copy. The graph is not written as text, because that takes longer than building
    it.
    """

    def __init__(self, training: TrainingHook):
        """`training` must run before this hook."""
        super().__init__(training.flags.output_dir, save_steps=1)
        self._training = training

    def after_create_session(self, session, coord):
        """Saves the first weights."""
        step, resumed = self._training.step, self._training.resumed
        if resumed and resumed.step == step:
            self._timer.update_last_triggered_step(step)
        else:
            self._save(session, step)

    def after_run(self, run_context, run_values):
        """Saves at each multiple of --save_checkpoints_steps."""
        training = self._training
        is_due = training.step % training.flags.save_checkpoints_steps == 0
        if is_due and self._save(run_context.session, training.step):
            run_context.request_stop()

    def _save(self, session, step):
        super()._save(session, step)
        self._timer.update_last_triggered_step(step)  # so that the base class does not save twice
        log.info("Saved model.ckpt-%d.", step)
        return bool(step) and self._training.on_saved()
