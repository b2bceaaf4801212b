# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What happens beside the steps of a training: progress, the curve, checkpoints, the stop on NaN.

A model function names numbers by `report_scalars`; `ProgressHook` shows them on the terminal or in
the log, and writes them for TensorBoard and into training_curve.csv.
"""

import collections
import csv
import io
import logging
import math
import os
import time
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf
import tensorflow.compat.v2 as tf2

from albert.checkpoints import checkpoint_files, comparison
from albert.configs.flags import TrainingFlags
from albert.training import distribution
from albert.util import files, progress, stop_signals
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

CURVE_NAME = "training_curve.csv"

# The log is never silent for longer than this, however long a step takes.
_LONGEST_SILENCE_SECONDS = 60.0
_SCALARS = "training_scalars"  # the collection and name scope of the tensors to report
_RATE = "learning_rate"
_NORM = "gradient_norm"
_SPEED = "examples_per_second"
_FORMATS = {
    "loss": "loss {:.4f}",
    _RATE: "learning_rate {:.3g}",
    _NORM: "gradient_norm {:.3g}",
    "loss_scale": "loss_scale {:.0f}",
    _SPEED: "{:.1f} examples/s",
}


class TrainingDivergedError(UserError, ArithmeticError):
    """The loss or the gradient became NaN or infinite; says at which step, and what to try."""


def diverged(place: str, reason: str) -> TrainingDivergedError:
    """Returns the error for a step that was refused."""
    return TrainingDivergedError(
        f"Training diverged {place}: {reason}. No checkpoint holds it. Try a lower "
        "--learning_rate, a longer warm-up, --precision=float32, or look at the data; the same "
        "command goes on from the last checkpoint."
    )


# ---------------------------------------------------------------------------------------------
# What a model function reports.


def report_scalars(scalars: Mapping[str, tf.Tensor]):
    """Names the float scalars of a training step that progress shows and records."""
    for name, tensor in scalars.items():
        named = tf.identity(tf.cast(tensor, tf.float32), name=f"{_SCALARS}/{name}")
        tf.add_to_collection(_SCALARS, named)


def reported_scalars() -> Dict[str, tf.Tensor]:
    """Returns what was given to `report_scalars` in the default graph, by name."""
    return {
        tensor.op.name.split(f"{_SCALARS}/")[-1]: tensor for tensor in tf.get_collection(_SCALARS)
    }


def tpu_host_call(
    scalars: Mapping[str, tf.Tensor], output_dir: str
) -> Tuple[Callable, List[tf.Tensor]]:
    """Returns a TPUEstimatorSpec's host_call that writes `scalars` for TensorBoard.

    A TPU's tensors cannot be fetched as those of a CPU are; it sends them to its host instead.
    """
    names = sorted(scalars)

    def write(global_step: tf.Tensor, *values: tf.Tensor) -> List[tf.Operation]:
        """Runs on the host; each argument has one element for each core."""
        with tf2.summary.create_file_writer(output_dir).as_default():
            for name, value in zip(names, values):
                tf2.summary.scalar(name, tf.reduce_mean(value), step=global_step[0])
        return tf.summary.all_v2_summary_ops()

    step = tf.reshape(tf.train.get_or_create_global_step(), [1])
    values = [tf.reshape(tf.cast(scalars[name], tf.float32), [1]) for name in names]
    return write, [step] + values


# ---------------------------------------------------------------------------------------------
# The curve.


def read_curve(path: str) -> List[Dict[str, str]]:
    """Returns the rows of a training curve as text: numbers, or "" where there is none.

    Leaves out a last line without an end. Raises UserError if the file is damaged.
    """
    try:
        text = files.read_text(path)
        reader = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1]))
        rows = [dict(row) for row in reader]
        if text and not text.startswith("step,"):
            raise UserError("it does not begin with 'step'")
        for row in rows:
            int(row["step"])
            for value in row.values():
                float(value or 0)
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise UserError(f"'{path}' is no training curve ({error!r}). Rename it.") from None
    return rows


class TrainingCurve:
    """The table `training_curve.csv`: one row for each interval of the log.

    A row is appended in one write, so that a reader finds complete lines.
    """

    def __init__(self, output_dir: str, first_step: int, columns: Sequence[str]):
        """Begins the file with the rows of earlier runs up to `first_step`; others come again."""
        self._path = os.path.join(output_dir, CURVE_NAME)
        rows = read_curve(self._path) if tf.io.gfile.exists(self._path) else []
        rows = [row for row in rows if int(row["step"]) <= first_step]
        self._columns = list(dict.fromkeys([*(rows[0] if rows else ()), "step", *columns]))
        header = dict(zip(self._columns, self._columns))
        files.atomic_write_text(self._path, self._text([header, *rows]))

    def add(self, row: Mapping[str, Any]) -> None:
        """Appends a row; raises where it cannot be written."""
        with files.naming_path(self._path), tf.io.gfile.GFile(self._path, "a") as stream:
            stream.write(self._text([row]))

    def _text(self, rows: Sequence[Mapping[str, Any]]) -> str:
        text = io.StringIO()
        csv.DictWriter(text, self._columns, restval="", lineterminator="\n").writerows(rows)
        return text.getvalue()


# ---------------------------------------------------------------------------------------------
# Progress.


class TrainingSummary(NamedTuple):
    """What a call of `train` did."""

    first_step: int
    last_step: int
    seconds: float
    examples_per_second: float  # over the time of the steps, the first of them left out
    peak_memory_bytes: int  # of the process, since it began
    scalars: Dict[str, float]  # means over the last interval


class _Means:
    """Means over some steps: of the numbers that they report, and the speed."""

    def __init__(self):
        self._values: Dict[str, List[float]] = collections.defaultdict(list)
        self._examples, self._seconds = 0, 0.0

    def add(self, values: Mapping[str, float]) -> None:
        """Adds the numbers of one call of the session."""
        for name, value in values.items():
            # An update that float16's loss scale leaves out has no norm.
            if name != _NORM or math.isfinite(value):
                self._values[name].append(float(value))

    def add_time(self, examples: int, seconds: float) -> None:
        """Adds the time that a call took."""
        self._examples += examples
        self._seconds += seconds

    def speed(self) -> float:
        """Returns examples a second; 0 where no call was timed."""
        return self._examples / max(self._seconds, 1e-9)

    def scalars(self) -> Dict[str, float]:
        """Returns the mean of each number, but the last learning rate, and the speed if known."""
        means = {name: sum(values) / len(values) for name, values in self._values.items()}
        if _RATE in means:
            means[_RATE] = self._values[_RATE][-1]
        if self._examples:
            means[_SPEED] = self.speed()
        return means


def _brief(scalars: Mapping[str, float]) -> str:
    """The numbers to watch; the others are in the curve."""
    formats = {name: f"{name} {{:.3f}}" for name in scalars if name.endswith("accuracy")}
    formats.update(_FORMATS)
    return ", ".join(formats[name].format(scalars[name]) for name in scalars if name in formats)


class ProgressHook(tf.train.SessionRunHook):
    """Shows progress, measures throughput, and keeps the curve.

    Logs a line each `log_steps` steps and after the last, and draws a bar on a terminal; without a
    bar, also logs the first step, and a line at least once a minute.
    """

    def __init__(
        self,
        output_dir: str,
        *,
        max_steps: int,
        batch_size: int,
        log_steps: int,
        on_progress: Optional[Callable[["TrainingSummary"], None]] = None,
        has_bar: bool = True,
        steps_per_loop: Optional[int] = None,
    ):
        """`on_progress` is called for each row of the curve; `steps_per_loop` is a TPU's."""
        self._steps_per_loop = steps_per_loop
        self._has_bar = has_bar
        self._output_dir = output_dir
        self._on_progress = on_progress
        self._max_steps = max_steps
        self._batch_size = batch_size
        self._log_steps = log_steps
        self._bar: Optional[progress.Progress] = None
        self._curve: Optional[TrainingCurve] = None
        self._latest: Dict[str, float] = {}
        self._total = _Means()
        self.first_step = self.step = 0
        self.loss: Optional[float] = None  # of the last step
        self.is_last_step = False  # although there are steps left

    def begin(self):
        """Finds the tensors to fetch; called once the graph is complete."""
        # Estimator leaves the loss here, on a TPU too, where nothing else can be fetched.
        self._tensors = {"loss": tf.get_collection(tf.GraphKeys.LOSSES)[-1]}
        self._tensors.update(reported_scalars())
        self._step_tensor = tf.train.get_global_step()

    def after_create_session(self, session, coord):
        """Called once the variables have their values."""
        del coord
        self.step = int(session.run(self._step_tensor))
        if self._curve is None:  # not after a lost session
            self.first_step, self._began = self.step, time.time()
        self._curve = TrainingCurve(self._output_dir, self.step, [*self._tensors, _SPEED])
        self._interval = _Means()
        self._writer = tf.summary.FileWriterCache.get(self._output_dir)
        # TensorBoard forgets what a killed run wrote past the checkpoint.
        start = tf.SessionLog(status=tf.SessionLog.START)
        self._writer.add_session_log(start, self.step + 1)
        self._bar = None

    def before_run(self, run_context):
        """Asks for the scalars along with the step."""
        del run_context
        self._run_began = time.time()
        return tf.train.SessionRunArgs(self._tensors)

    def after_run(self, run_context, run_values):
        """Takes in what the step gave."""
        seconds = time.time() - self._run_began
        previous, self.step = self.step, int(run_context.session.run(self._step_tensor))
        self._check(previous, float(run_values.results["loss"]))
        self._interval.add(run_values.results)
        is_first = self._bar is None
        if is_first:
            # It includes graph optimization and compilation, and gives neither speed nor time left.
            self._bar = progress.Progress(
                *("Training", self._max_steps),
                unit="steps",
                has_bar=self._has_bar,
                log_seconds=_LONGEST_SILENCE_SECONDS,
            )
            self._bar.skip(self.step)
        else:
            for means in (self._interval, self._total):
                means.add_time((self.step - previous) * self._batch_size, seconds)
        is_due = (
            self.step // self._log_steps > previous // self._log_steps
            or self.step >= self._max_steps
            or run_context.stop_requested
        )
        note = _brief(self._interval.scalars())
        self._bar.update(0 if is_first else self.step - previous, note, logs=is_due or is_first)
        if is_due:
            self._record()

    def _check(self, previous: int, loss: float):
        """Stops on a loss that is not finite; this runs before the step is saved."""
        if self._steps_per_loop:  # a TPU cannot stop in its loop and leaves updates out
            wanted = min(previous + self._steps_per_loop, self._max_steps)
            if self.step < wanted:
                reason = f"in {wanted - self.step} of them the gradient norm is not finite"
                raise diverged(f"within steps {previous + 1} to {wanted}", reason)
        if not math.isfinite(loss):
            raise diverged(f"in step {self.step}", f"the loss is {loss}")
        self.loss = loss

    def _record(self):
        """Ends an interval: a row of the curve and the same for TensorBoard."""
        self._latest = self._interval.scalars()
        self._interval = _Means()
        summary = tf.Summary()
        for tag, value in self._latest.items():
            summary.value.add(tag=tag, simple_value=value)
        self._writer.add_summary(summary, self.step)
        self._writer.flush()
        rounded = {name: f"{value:.6g}" for name, value in self._latest.items()}
        self._curve.add({"step": self.step, **rounded})
        if self._on_progress is not None:
            self._on_progress(self.summary())

    def close(self):
        """Closes the bar, whether training ended well or not."""
        if self._bar is not None:
            self._bar.close()

    def summary(self) -> TrainingSummary:
        """Returns what was done since the session was created."""
        return TrainingSummary(
            first_step=self.first_step,
            last_step=self.step,
            seconds=time.time() - self._began,
            examples_per_second=self._total.speed(),
            peak_memory_bytes=progress.peak_memory(),
            scalars=self._latest,
        )


# ---------------------------------------------------------------------------------------------
# Checkpoints.


class _SaveTimer:
    """A checkpoint is due at each multiple of `steps`, whenever the others came."""

    def __init__(self, steps: int):
        self._steps, self._last_step = steps, 0

    def should_trigger_for_step(self, step: int) -> bool:
        return step // self._steps > self._last_step // self._steps

    def update_last_triggered_step(self, step: int):
        self._last_step = step

    def last_triggered_step(self) -> int:
        return self._last_step


class _SaverHook(tf.train.CheckpointSaverHook):
    """Saves as its base class does, but for three things.

    The checkpoint that was just restored is not written again: while a file is replaced by its
    equal, a kill would leave the only copy unreadable. The graph is not written as text, which
    takes longer than to build it. And a checkpoint out of turn, after a signal, does not
    move the others.
    """

    def __init__(self, output_dir: str, timer: _SaveTimer, restored_step: Optional[int]):
        super().__init__(output_dir, save_steps=1)
        self._timer = timer
        self._restored_step = restored_step

    def after_create_session(self, session, coord):
        del coord
        self._summary_writer.add_graph(session.graph)
        step = session.run(self._global_step_tensor)
        if step != self._restored_step:
            self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def _save(self, session, step):
        with files.naming_path(os.path.join(self._checkpoint_dir, f"model.ckpt-{step}")):
            stop = super()._save(session, step)
        _LOGGER.info("Saved model.ckpt-%d.", step)
        return stop


class _StartHook(tf.train.SessionRunHook):
    """Checks and writes what is due before the first step, and removes a worker's copy."""

    def __init__(
        self, output_dir: str, on_start: Callable[[], None], resumed: Any, *, is_copy: bool
    ):
        """`is_copy`: whether `resumed` is a worker's own, in a folder that was made for it."""
        self._output_dir = output_dir
        self._on_start = on_start
        self._resumed = resumed
        self._is_copy = is_copy

    def begin(self):
        if self._resumed:
            # TensorFlow would find out too, but its message is hard to read.
            comparison.compare(
                self._resumed.path,
                tf.global_variables(),
                remedy="To resume, use the configuration, --optimizer and --precision it was made "
                "with. Otherwise choose another --output_dir, and start by --init_checkpoint.",
            )

    def after_create_session(self, session, coord):
        del session, coord
        self._on_start()  # only now, so that a failed start does not claim the folder
        if self._resumed and self._is_copy:
            # Removed now, because it would be left behind if this process were killed.
            state = os.path.join(self._output_dir, checkpoint_files.STATE_NAME)
            for path in [state, *tf.io.gfile.glob(self._resumed.path + ".*")]:
                if tf.io.gfile.exists(path):
                    tf.io.gfile.remove(path)
            self._is_copy = False


class _StopHook(tf.train.SessionRunHook):
    """Ends the training after the step in which a signal asked for it; the saver then saves.

    Only the chief ends it. The other workers take part in steps until it has gone: the step that it
    is in would never end without them.
    """

    def __init__(self, is_chief: bool, reporter: ProgressHook):
        self._is_chief = is_chief
        self._reporter = reporter

    def before_run(self, run_context):
        del run_context
        stop_signals.postpone()

    def after_run(self, run_context, run_values):
        del run_values
        if self._is_chief and stop_signals.is_requested():
            self._reporter.is_last_step = True  # the others leave while this one saves
            run_context.request_stop()


def around(
    reporter: ProgressHook,
    settings: TrainingFlags,
    *,
    on_start: Callable[[], None],
    resumed: Optional[checkpoint_files.Checkpoint],
) -> List[tf.train.SessionRunHook]:
    """Returns the hooks of a training in the order of their calls.

    `on_start` is called before the first checkpoint is written.
    """
    folder, is_chief = settings.output_dir, distribution.is_chief(settings)
    is_copy = not is_chief and os.path.basename(folder).startswith(distribution.WORKERS_FOLDER)
    start = _StartHook(folder, on_start, resumed, is_copy=is_copy)
    hooks = [_StopHook(is_chief, reporter), reporter, start]
    if is_chief and not settings.use_tpu:
        timer = _SaveTimer(settings.save_checkpoints_steps)
        hooks.append(_SaverHook(folder, timer, resumed.step if resumed else None))
    return hooks
