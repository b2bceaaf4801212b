# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Training, evaluation and prediction as the fine-tuning scripts run them.

Nothing here knows a task. What a model gives for every example comes back as arrays in the order
of the examples, and the caller measures on them.

Legend: B batch, N examples.
"""

import logging
import os
import shutil
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np
import tensorflow.compat.v1 as tf

from albert.data import record_damage
from albert.pretrained import checkpoint_files
from albert.pretrained import warm_start as checkpoint_init
from albert.training import distribution
from albert.training import estimators as estimator_utils
from albert.training import evaluation as checkpoint_evaluator
from albert.util import progress
from albert.util import runtime as precision

_LOGGER = logging.getLogger("albert")

# A mean loss above this share of a constant predictor's is one that has learnt nothing.
_COLLAPSED_SHARE = 0.97
_COLLAPSE_STEPS = 100  # the loss of fewer is chance
_REMEDIES = (
    "Usual remedies: a lower --learning_rate, a longer warm-up, another --seed, more steps; and "
    "check in the log's report on the first weights that --init_checkpoint was loaded."
)
_WORTH_A_LINE_BYTES = 1e9
_NOTHING_TO_TRAIN = (
    "Nothing to train: %s is at step %d of %d. To train anew, with other settings, choose another "
    "--output_dir."
)


# ---------------------------------------------------------------------------------------------
# Training.


class TrainingLength(NamedTuple):
    """How long training is."""

    num_train_steps: int
    num_warmup_steps: int


def training_length(settings: Any, examples: int) -> TrainingLength:
    """Returns the steps of training and of its warm-up.

    Args:
      settings: has train_step or num_train_epochs (which goes before), warmup_step or
        warmup_proportion (which goes before), and train_batch_size.
      examples: of the training data.

    Raises:
      ValueError: the epochs make no whole step.
    """
    if not settings.num_train_epochs:
        steps = settings.train_step
    else:
        steps = int(examples / settings.train_batch_size * settings.num_train_epochs)
        if not steps:
            raise ValueError(
                f"--num_train_epochs={settings.num_train_epochs:g} of {examples} examples is less "
                f"than one batch of {settings.train_batch_size}. Give more epochs or a smaller "
                "--train_batch_size."
            )
    if settings.warmup_proportion is None:
        warmup = settings.warmup_step
    else:
        warmup = int(steps * settings.warmup_proportion)
    if warmup >= steps:
        _LOGGER.warning(
            "The warm-up of %d steps is not below the %d of training: the learning rate never "
            "reaches its peak.",
            warmup,
            steps,
        )
    return TrainingLength(steps, warmup)


def train(
    settings: Any,
    model_fn: Callable[[Optional[str]], Callable],
    input_fn: Callable[[int], Callable],
    *,
    num_train_steps: int,
    model_config: Optional[Mapping[str, Any]],
    documents: Mapping[str, Any],
    on_progress: Optional[Callable[[estimator_utils.TrainingSummary], None]] = None,
) -> Optional[estimator_utils.TrainingSummary]:
    """Trains from the newest checkpoint in the output folder, or from the first weights.

    A run that was stopped goes on as if it had not been. All checkpoints are kept; see
    `prune_checkpoints`.

    Args:
      settings: the training, TPU and runtime flags.
      model_fn: checkpoint to start from, or None -> a model function.
      input_fn: step to start with -> an input function.
      num_train_steps: where training ends.
      model_config: written as albert_config.json unless it is None.
      documents: JSON values by file name, to be left in the output folder.
      on_progress: called with what was done so far, each time the log has a line.

    Returns:
      What was done; None if that had been done before.

    Raises:
      ValueError: checkpoints that do not fit the model, or the disk.
      estimator_utils.TrainingDivergedError: the loss or the gradient is not finite any more.
    """
    resumed = estimator_utils.agreed_resume_point(settings)
    if resumed and resumed.step >= num_train_steps:
        _LOGGER.info(_NOTHING_TO_TRAIN, resumed.path, resumed.step, num_train_steps)
        return None
    first = _first_weights(settings, resumed)
    start = resumed.step if resumed else 0
    checkpoints = -(-(num_train_steps - start) // settings.save_checkpoints_steps)
    hooks = []
    if distribution.is_chief(settings):
        hooks.append(_RoomHook(settings, checkpoints + (not resumed)))  # a new run saves step 0 too
    estimator = estimator_utils.build_training_estimator(
        model_fn(first), settings, keep_checkpoint_max=0
    )
    return estimator_utils.train(
        estimator,
        input_fn(start),
        settings,
        max_steps=num_train_steps,
        resumed=resumed,
        model_config=model_config,
        documents=documents,
        hooks=hooks,
        on_progress=on_progress,
    )


def _first_weights(settings: Any, resumed: Any) -> Optional[str]:
    """The checkpoint to start from, if any; a module brings its own weights."""
    if settings.albert_hub_module_handle and not resumed:
        _LOGGER.info("First weights of the encoder: %s.", settings.albert_hub_module_handle)
        return None
    return estimator_utils.first_weights(settings, resumed)


class _RoomHook(tf.train.SessionRunHook):
    """Looks, once the graph stands, whether the disk will hold the checkpoints of a training."""

    def __init__(self, settings: Any, count: int):
        self._settings = settings
        self._count = count

    def begin(self):
        """Called before anything is written."""
        size = sum(item.shape.num_elements() * item.dtype.size for item in tf.global_variables())
        check_room(self._settings, self._count, size)


def check_room(settings: Any, count: int, size: int) -> None:
    """Says how much the checkpoints of a training will take, if it is much.

    Args:
      settings: has output_dir and save_checkpoints_steps.
      count: of the checkpoints, which are all kept until they are evaluated.
      size: bytes of one.

    Raises:
      ValueError: a local disk has less room.
    """
    folder, needed = settings.output_dir, count * size
    room = None if "://" in folder else _free_bytes(folder)
    described = f"{count} checkpoints of {_gigabytes(size)}, {_gigabytes(needed)} in all"
    if room is not None and room < needed:
        raise ValueError(
            f"Training would write {described}, and the disk of --output_dir={folder} has "
            f"{_gigabytes(room)} left. All are kept until they are evaluated. Save less often "
            f"(--save_checkpoints_steps, now {settings.save_checkpoints_steps}), or choose an "
            "--output_dir with more room."
        )
    if needed > _WORTH_A_LINE_BYTES:
        _LOGGER.info(
            "Training will write %s; all are kept until they are evaluated. A higher "
            "--save_checkpoints_steps makes fewer.",
            described,
        )


def _free_bytes(folder: str) -> int:
    """The room on the disk of a folder that may not be there yet."""
    folder = os.path.abspath(folder)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return shutil.disk_usage(folder).free


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.3g} GB"


def recent_loss(output_dir: str, epoch_steps: int) -> Optional[float]:
    """Returns the mean loss of the last steps of a training: of 100, or of an epoch if it is less.

    Args:
      output_dir: where the curve of the training is.
      epoch_steps: steps of an epoch.

    Returns:
      None where there is no curve that can be read.
    """
    path = os.path.join(output_dir, estimator_utils.CURVE_NAME)
    if not tf.io.gfile.exists(path):
        return None
    try:
        rows = estimator_utils.read_curve(path)
    except ValueError as error:
        _LOGGER.warning("%s How training ended is not known.", error)
        return None
    steps = [0] + [int(row["step"]) for row in rows]
    wanted = max(1, min(_COLLAPSE_STEPS, epoch_steps))
    covered, total = 0, 0.0
    for row, first, last in reversed(list(zip(rows, steps, steps[1:]))):
        if covered >= wanted:
            break
        covered += last - first
        total += (last - first) * float(row.get("loss") or "nan")
    return total / covered if covered else None


def warn_of_collapse(loss: float, constant_loss: float) -> bool:
    """Says so if training ended with the loss of a prediction that never looks at the input.

    Args:
      loss: mean over the end of training; see recent_loss.
      constant_loss: the lowest a constant prediction has; see metrics.constant_loss.

    Returns:
      Whether it did.
    """
    if not constant_loss or loss < _COLLAPSED_SHARE * constant_loss:
        return False
    _LOGGER.warning(
        "Training collapsed or has hardly begun: it ended with a loss of %.4f, and a constant "
        "prediction has %.4f. %s",
        loss,
        constant_loss,
        _REMEDIES,
    )
    return True


def warn_of_constant_predictions(confusion: np.ndarray, labels: Sequence[str]) -> bool:
    """Says so if all predictions are the same though the labels are not; returns whether.

    Args:
      confusion: see metrics.confusion_matrix.
      labels: their names.
    """
    predicted = np.flatnonzero(confusion.sum(axis=0))
    if len(predicted) > 1 or np.count_nonzero(confusion.sum(axis=1)) <= 1:
        return False
    _LOGGER.warning(
        "The best checkpoint predicts %s for every example: it has learnt nothing that counts. %s",
        labels[int(predicted[0])],
        _REMEDIES,
    )
    return True


# ---------------------------------------------------------------------------------------------
# What a model gives for every example.


class OutputCollector:
    """Runs checkpoints over a data set; builds the graph once.

    with OutputCollector(settings, model_fn, input_fn, examples=408, ...) as collector:
        outputs = collector.run("model.ckpt-100")  # name -> [N, ...]
    """

    def __init__(
        self,
        settings: Any,
        model_fn: Callable,
        input_fn: Callable,
        *,
        batch_size: int,
        examples: int,
        name: str,
    ):
        """Remembers what to run; nothing is built before the first checkpoint.

        Args:
          settings: the TPU flags, output_dir and seed.
          model_fn: model function whose predictions have example_index and is_real_example.
          input_fn: input function that serves each example once.
          batch_size: B.
          examples: N.
          name: of the data, for progress.
        """
        self._settings = settings
        self._model_fn = model_fn
        self._input_fn = input_fn
        self._batch_size = batch_size
        self._examples = examples
        self._name = name
        self._session: Optional[tf.Session] = None
        self._readings: List[record_damage.Reading] = []

    def __enter__(self) -> "OutputCollector":
        return self

    def __exit__(self, *_) -> None:
        if self._session is not None:
            self._session.close()

    def run(self, checkpoint: str) -> Dict[str, np.ndarray]:
        """Returns the model's predictions for all examples, in their order.

        Args:
          checkpoint: path prefix.

        Raises:
          ValueError: the checkpoint does not fit the model.
        """
        if self._settings.use_tpu:
            batches = self._tpu_batches(checkpoint)
        else:
            batches = self._batches(checkpoint)
        parts: Dict[str, List[np.ndarray]] = {}
        bar = progress.Progress(self._name, self._examples, unit="examples")
        with bar, record_damage.explained(readings=self._readings):
            for batch in batches:
                real = batch["is_real_example"] > 0
                for name, value in batch.items():
                    parts.setdefault(name, []).append(value[real])
                bar.update(int(real.sum()), "")
        outputs = {name: np.concatenate(values) for name, values in parts.items()}
        order = np.argsort(outputs.pop("example_index"), kind="stable")
        del outputs["is_real_example"]
        return {name: value[order] for name, value in outputs.items()}

    def _build(self) -> None:
        """The graph of prediction, and a session in it."""
        graph = tf.Graph()
        with graph.as_default():
            tf.set_random_seed(self._settings.seed)
            dataset = self._input_fn({"batch_size": self._batch_size})
            self._iterator = tf.data.make_initializable_iterator(dataset)
            features = self._iterator.get_next()
            spec = self._model_fn(features, None, tf.estimator.ModeKeys.PREDICT, {})
            self._predictions = spec.predictions
            self._variables = tf.global_variables()
            self._saver = tf.train.Saver(self._variables)
            self._tables = tf.tables_initializer()
            graph.finalize()
        self._session = tf.Session(graph=graph, config=precision.session_config())

    def _batches(self, checkpoint: str):
        """Yields the predictions of each batch."""
        if self._session is None:
            self._build()
        with checkpoint_files.explained(checkpoint), self._session.graph.as_default():
            # Outside of a graph, TensorFlow 2 means eager mode.
            purpose = "There is no predicting with"
            estimator_utils.check_restorable(checkpoint, self._variables, purpose)
            self._saver.restore(self._session, checkpoint)
        self._session.run([self._iterator.initializer, self._tables])
        while True:
            try:
                yield self._session.run(self._predictions)
            except tf.errors.OutOfRangeError:
                return

    def _tpu_batches(self, checkpoint: str):
        """The same by a TPUEstimator."""
        estimator = estimator_utils.build_estimator(
            self._model_fn,
            estimator_utils.run_config(self._settings, keep_checkpoint_max=0),
            use_tpu=True,
            train_batch_size=self._settings.train_batch_size,
            predict_batch_size=self._batch_size,
        )
        with checkpoint_files.explained(checkpoint):
            yield from estimator.predict(
                self._input_fn, checkpoint_path=checkpoint, yield_single_examples=False
            )


# ---------------------------------------------------------------------------------------------
# Evaluation.


def evaluate(
    settings: Any,
    measure: Callable[[str], Mapping[str, float]],
    *,
    best_metric: str,
    higher_is_better: bool,
    fingerprint: Mapping[str, Any],
    final_step: Optional[int] = None,
) -> checkpoint_evaluator.EvaluationSummary:
    """Evaluates each checkpoint of the output folder once, and keeps the best.

    Args:
      settings: has output_dir and wait_for_checkpoints_minutes.
      measure: checkpoint path -> {metric: number}.
      best_metric, higher_is_better, fingerprint, final_step: see
        checkpoint_evaluator.evaluate_checkpoints.
    """
    summary = checkpoint_evaluator.evaluate_checkpoints(
        settings.output_dir,
        measure,
        best_metric=best_metric,
        higher_is_better=higher_is_better,
        fingerprint=fingerprint,
        write_best_trial=True,
        wait_seconds=60.0 * settings.wait_for_checkpoints_minutes,
        final_step=final_step,
    )
    if summary.best:
        metrics = ", ".join(
            f"{name} {value:.4f}"
            for name, value in sorted(summary.best.metrics.items())
            if name != "global_step"
        )
        _LOGGER.info(
            "Best of %d evaluated checkpoints: step %d, %s; kept as %s.",
            len(summary.results),
            summary.best.step,
            metrics,
            summary.best_checkpoint,
        )
    return summary


def chosen_checkpoint(settings: Any) -> str:
    """Returns the checkpoint to predict with: --checkpoint, the best one, or else the newest.

    Args:
      settings: has checkpoint and output_dir.

    Raises:
      ValueError: there is none.
    """
    if settings.checkpoint:
        return checkpoint_init.resolve_checkpoint(settings.checkpoint)
    path = _folders_checkpoint(settings)
    if os.path.basename(path) != checkpoint_evaluator.BEST_CHECKPOINT:
        _LOGGER.info("No checkpoint was chosen by evaluation; predicting with the newest.")
    if os.path.basename(path) == "model.ckpt-0":
        _LOGGER.warning("%s is untrained: it holds the first weights.", path)
    return path


def check_checkpoint(settings: Any) -> None:
    """Checks that there is a checkpoint to predict with, or that one may come.

    Args:
      settings: has checkpoint, output_dir, do_train and wait_for_checkpoints_minutes.

    Raises:
      ValueError: there is none.
    """
    if settings.checkpoint:
        checkpoint_init.resolve_checkpoint(settings.checkpoint)
    elif not settings.do_train and not settings.wait_for_checkpoints_minutes:
        _folders_checkpoint(settings)


def _folders_checkpoint(settings: Any) -> str:
    """What --output_dir holds."""
    folder = settings.output_dir
    if not tf.io.gfile.isdir(folder) or not tf.io.gfile.glob(os.path.join(folder, "*.index")):
        raise ValueError(
            f"--output_dir={folder} holds no checkpoint to predict with. Train first (--do_train), "
            "or name one by --checkpoint=..."
        )
    return checkpoint_init.resolve_checkpoint(folder)


def prune_checkpoints(output_dir: str, keep: int, evaluated: Sequence[int]) -> List[int]:
    """Deletes evaluated checkpoints beyond the newest ones; model.ckpt-best is not among them.

    Args:
      output_dir: where this process trained.
      keep: how many of the newest stay; 0 keeps all.
      evaluated: the steps whose results are recorded.

    Returns:
      The steps that were deleted.
    """
    if not keep:
        return []
    found = checkpoint_evaluator.list_checkpoints(output_dir)
    # One that could not be evaluated does not make an older, whole one superfluous.
    checkpoints = [item for item in found if item.step in set(evaluated)]
    surplus = checkpoints[:-keep]
    for checkpoint in surplus:
        # The index first: without it there is no checkpoint, and never half a one.
        for path in sorted(tf.io.gfile.glob(checkpoint.path + ".*"), key=_index_first):
            tf.io.gfile.remove(path)
    if surplus:
        _LOGGER.info(
            "Kept the newest %d of %d checkpoints, as the flags say.", keep, len(checkpoints)
        )
    return [checkpoint.step for checkpoint in surplus]


def _index_first(path: str) -> bool:
    return not path.endswith(".index")
