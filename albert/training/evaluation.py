# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Evaluates each checkpoint of a folder once, in step order, and keeps the best.

The folder gets
  eval_results.json   the ledger: results, what they were measured on, which checkpoint is best
  eval_results.txt    the same results as `key = value` lines, sorted, one block a checkpoint
  best_trial.txt      "last_step:best_step:best_value", if asked for
  model.ckpt-best.*   a copy of the best checkpoint

A second evaluation measures what is new and otherwise changes nothing. A deleted checkpoint keeps
its results. Results on other data or settings, or of a checkpoint that was written again, are
measured again. The file `checkpoint`, from which training resumes, is never touched.
"""

import contextlib
import dataclasses
import functools
import logging
import math
import os
import time
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

import numpy as np
import tensorflow.compat.v1 as tf

from albert.checkpoints import checkpoint_files
from albert.checkpoints.checkpoint_files import BEST_CHECKPOINT, Checkpoint, list_checkpoints
from albert.util import files, folder_lock
from albert.util.errors import UserError

LEDGER_NAME = "eval_results.json"
RESULTS_NAME = "eval_results.txt"
BEST_TRIAL_NAME = "best_trial.txt"

_LEDGER_TYPES = {  # see files.check_types
    **{"fingerprint": dict, "best_step": (int, None)},
    # Earlier versions' identity of a checkpoint was no text.
    "results": [
        {"step": int, "metrics": {str: (float, int, str)}, "checkpoint": (str, list, dict)}
    ],
}
_POLL_SECONDS = 10.0

_LOGGER = logging.getLogger("albert")

EvaluateFn = Callable[[str], Mapping[str, float]]  # checkpoint path -> {metric: number}


class Evaluation(NamedTuple):
    """What was measured on the checkpoint of one step."""

    step: int
    metrics: Dict[str, float]


class EvaluationSummary(NamedTuple):
    """All results in step order, the best, its copy, and the steps that were evaluated just now."""

    results: List[Evaluation]
    best: Optional[Evaluation]
    best_checkpoint: Optional[str]
    evaluated_steps: List[int]


# ---- checkpoints on disk ----


def _of_index(read: Callable[[str], Any], checkpoint: str) -> Any:
    """What `read` says of the index, which is written last and deleted first; None without one."""
    try:
        return read(checkpoint + ".index")
    except (UserError, tf.errors.NotFoundError):
        return None


# The index has a checksum of each value: a copy has the same identity.
_identity_of = functools.partial(_of_index, files.sha256)
_state_of = functools.partial(_of_index, files.state_of)


def _step_in(checkpoint: str) -> Optional[int]:
    """The training step that a checkpoint records, if any; UserError if it cannot be read."""
    with checkpoint_files.explained(checkpoint):
        reader = tf.train.load_checkpoint(checkpoint)
        has_step = reader.has_tensor("global_step")
        return int(reader.get_tensor("global_step")) if has_step else None


def _files_of(checkpoint: str) -> List[str]:
    """The index, without which there is no checkpoint, comes first."""
    paths = tf.io.gfile.glob(checkpoint + ".*")
    return sorted(paths, key=lambda path: not path.endswith(".index"))


def _remove(checkpoint: str) -> None:
    for path in _files_of(checkpoint):
        tf.io.gfile.remove(path)


def _copy(source: str, target: str) -> None:
    """Replaces `target`; for a moment there is none."""
    paths = _files_of(source)
    if not paths or not paths[0].endswith(".index"):
        return  # a training has just deleted it
    with contextlib.ExitStack() as stack:
        # The renames happen in reverse order, the index last.
        for path in paths:
            temporary = stack.enter_context(files.atomic_path(target + path[len(source) :]))
            tf.io.gfile.copy(path, temporary, overwrite=True)
        _remove(target)


# ---- the ledger ----


def read_results(output_dir: str) -> List[Evaluation]:
    """Returns a folder's results in step order; raises UserError if the file is another's."""
    return _as_evaluations(_read_ledger(str(output_dir))["results"])


def _as_evaluations(results: Iterable[Mapping[str, Any]]) -> List[Evaluation]:
    found = []
    for result in results:
        metrics = result["metrics"]
        # JSON knows "nan", "inf" and "-inf" as strings only.
        numbers = {key: float(n) for key, n in metrics.items() if isinstance(n, str)}
        found.append(Evaluation(result["step"], {**metrics, **numbers}))
    return found


def _read_ledger(output_dir: str) -> Dict[str, Any]:
    """The content of eval_results.json; its beginning if there is none."""
    path = os.path.join(output_dir, LEDGER_NAME)
    if not tf.io.gfile.exists(path):
        return {"fingerprint": {}, "best_step": None, "results": []}
    try:
        ledger = files.read_json_object(path, _LEDGER_TYPES)
        _as_evaluations(ledger["results"])
        return ledger
    except ValueError as error:
        raise UserError(f"{path} is damaged ({error}). Delete it and evaluate again.") from None


# ---- evaluation of all checkpoints ----


def evaluate_checkpoints(
    output_dir: str,
    evaluate_fn: EvaluateFn,
    *,
    wait_seconds: float = 0.0,
    final_step: Optional[int] = None,
    **rules: Any,
) -> EvaluationSummary:
    """Evaluates the checkpoints that have not been evaluated yet, and keeps a copy of the best.

    Results are on disk after each checkpoint: an interrupted evaluation goes on where it was. The
    best is the one with the best `best_metric` (of equal ones that with the lower `loss` or
    `eval_loss`, then the latest; never one whose value is not finite) among the checkpoints that
    are there and the copy kept so far. A corrupt checkpoint is skipped. model.ckpt-0 is never the
    best.

    Args:
      wait_seconds: > 0 goes on until no new checkpoint of another process has come for so long.
        Other processes may evaluate while this one waits.
      final_step: no waiting after a checkpoint of this step or a later one.
      rules: best_metric, higher_is_better, fingerprint, untrained_too, write_best_trial; see
        _Evaluator.

    Returns:
      The summary; `best` is None if no value of `best_metric` is finite.

    Raises:
      UserError: there is nothing to evaluate, `best_metric` is not measured, eval_results.json is
        damaged or another's, or a model.ckpt-best, not made here, would be lost.
    """
    evaluator = _Evaluator(str(output_dir), evaluate_fn, **rules)
    evaluated: List[int] = []
    end = time.monotonic() + wait_seconds
    while True:
        # Of two evaluations at once the second waits, and reuses the results of the first.
        with folder_lock.held(evaluator.output_dir, folder_lock.EVALUATION, waits=True):
            steps = evaluator.evaluate()
        evaluated += steps
        if steps:
            end = time.monotonic() + wait_seconds
        is_final = final_step is not None and max([0, *evaluator.results]) >= final_step
        if is_final or time.monotonic() >= end:
            return evaluator.summary(evaluated)
        time.sleep(min(_POLL_SECONDS, wait_seconds))


def rank_of(
    metrics: Mapping[str, Any], best_metric: str, higher_is_better: bool
) -> Tuple[float, float]:
    """Returns what orders checkpoints, the best last: the metric and, of equal ones, the loss."""
    value = float(metrics.get(best_metric, "nan"))
    loss = float(metrics.get("loss", metrics.get("eval_loss", "nan")))
    value, gain = value if higher_is_better else -value, -loss
    return value if math.isfinite(value) else -math.inf, gain if math.isfinite(gain) else -math.inf


@dataclasses.dataclass
class _Evaluator:
    """One evaluation of a folder: what has to be measured, and the rule what is best.

    Attributes:
      fingerprint: JSON values that say what was measured on (data, batches, precision, ...). If it
        differs from the recorded one, everything is evaluated again.
      untrained_too: also measures model.ckpt-0.
      write_best_trial: also writes best_trial.txt.
      results: step, ascending -> {"step", "metrics", "checkpoint": identity of what was measured}.
      skipped: path -> size and time of what was corrupt.
    """

    output_dir: str
    evaluate_fn: EvaluateFn
    best_metric: str
    higher_is_better: bool = True
    fingerprint: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    untrained_too: bool = False
    write_best_trial: bool = False
    results: Dict[int, Dict[str, Any]] = dataclasses.field(default_factory=dict)
    skipped: Dict[str, Any] = dataclasses.field(default_factory=dict)
    best_step: Optional[int] = None

    def __post_init__(self) -> None:
        self.best_path = os.path.join(self.output_dir, BEST_CHECKPOINT)

    def evaluate(self) -> List[int]:
        """Evaluates what is new since the ledger was written; returns the steps."""
        self._open_ledger()
        if self.results and not self._present():
            raise UserError(f"'{self.output_dir}' holds results, but no checkpoint to evaluate.")
        evaluated = []
        for step, path in iter(self._next, None):
            written = _state_of(path)
            try:
                self._evaluate_one(step, path)
                evaluated.append(step)
                self._keep_best()
            except Exception:
                damage = checkpoint_files.find_damage(path)
                if not damage:
                    raise
                _LOGGER.warning("Skipping %s, which is corrupt or deleted (%s).", path, damage)
                self.skipped[path] = written
        if self.results:
            self._keep_best()
        return evaluated

    def _open_ledger(self) -> None:
        """Reads the results so far; UserError for a model.ckpt-best that was not made here."""
        ledger = _read_ledger(self.output_dir)
        self.results = {result["step"]: result for result in ledger["results"]}
        ours = [os.path.join(self.output_dir, name) for name in (LEDGER_NAME, RESULTS_NAME)]
        kept = _identity_of(self.best_path)
        copied = (_identity_of(path) for _, path in list_checkpoints(self.output_dir))
        if kept and not any(map(tf.io.gfile.exists, ours)) and kept not in copied:
            raise UserError(
                f"'{self.best_path}' was not made by this evaluation (there is no {LEDGER_NAME}), "
                "and would be lost. Move or rename it, or choose another output folder."
            )
        difference = files.fingerprint_difference(ledger["fingerprint"], self.fingerprint)
        if difference and self.results:
            # They cannot be compared with new ones, but may be all there is of deleted checkpoints.
            old = files.unused_name(ours[0])
            tf.io.gfile.copy(ours[0], old)
            _LOGGER.info("Evaluating all again: %s. Old results: %s.", difference, old)
            self.results = {}

    def _kept_step(self) -> Optional[int]:
        """The step of model.ckpt-best; None if it is not there or cannot be read."""
        try:
            return _step_in(self.best_path)
        except UserError:
            return None

    def _present(self) -> List[Checkpoint]:
        """The checkpoints that are there; first the kept copy of one that is deleted.

        A better one would replace it.
        """
        listed = [
            item
            for item in list_checkpoints(self.output_dir)
            if self.skipped.get(item.path) != _state_of(item.path)
            and (item.step or self.untrained_too)
        ]
        kept = self._kept_step()
        stands_alone = kept is not None and kept not in dict(listed)
        return [Checkpoint(kept, self.best_path)] * stands_alone + listed

    def _is_known(self, checkpoint: Checkpoint) -> bool:
        result = self.results.get(checkpoint.step)
        is_measured = bool(result) and self.best_metric in result["metrics"]
        return is_measured and result["checkpoint"] == _identity_of(checkpoint.path)

    def _next(self) -> Optional[Checkpoint]:
        """What has to be evaluated."""
        return next((item for item in self._present() if not self._is_known(item)), None)

    def _evaluate_one(self, step: int, path: str) -> None:
        """Adds a checkpoint's results."""
        identity = _identity_of(path)
        measured = self.evaluate_fn(path)
        metrics = {"global_step": step, **{name: _number(measured[name]) for name in measured}}
        if self.best_metric not in metrics:
            raise UserError(
                f"The best checkpoint is chosen by '{self.best_metric}', which is not measured; "
                f"measured are {sorted(metrics)}."
            )
        _LOGGER.info("Step %d: %s", step, format_metrics(metrics))
        result = {"step": step, "metrics": metrics, "checkpoint": identity}
        self.results = dict(sorted({**self.results, step: result}.items()))

    def _rank(self, checkpoint: Checkpoint) -> Tuple[Any, int]:
        metrics = self.results[checkpoint.step]["metrics"]
        return rank_of(metrics, self.best_metric, self.higher_is_better), checkpoint.step

    def _keep_best(self) -> None:
        """Writes the results, and copies the best checkpoint if it is not there already."""
        present = self._present()
        known = [item for item in present if item.step and self._is_known(item)]
        finite = [item for item in known if math.isfinite(self._rank(item)[0][0])]
        best = max(finite, key=self._rank, default=None)
        self.best_step = best and best.step
        # Recorded first, so that a crash leaves no copy that seems another's.
        self._save()
        kept = self._kept_step()
        if best is None:
            if kept in (item.step for item in known if item.path != self.best_path):
                _remove(self.best_path)  # of an earlier training
        elif self.results[best.step]["checkpoint"] != _identity_of(self.best_path):
            _copy(best.path, self.best_path)

    def _save(self) -> None:
        """Writes the ledger and the text files with its results, where they differ."""
        results = list(self.results.values())
        ledger = {"fingerprint": self.fingerprint, "best_step": self.best_step, "results": results}
        lines = [f"{line}\n" for result in results for line in _lines(result["metrics"])]
        texts = {LEDGER_NAME: files.json_text({"format_version": 1, **ledger})}
        texts[RESULTS_NAME] = "".join(lines)
        if self.write_best_trial and self.best_step is not None:
            value = self.results[self.best_step]["metrics"][self.best_metric]
            texts[BEST_TRIAL_NAME] = f"{max(self.results)}:{self.best_step}:{value}"
        for name, text in texts.items():
            path = os.path.join(self.output_dir, name)
            if not tf.io.gfile.exists(path) or files.read_text(path) != text:
                files.atomic_write_text(path, text)

    def summary(self, evaluated_steps: List[int]) -> EvaluationSummary:
        """Returns what was found, and logs the best."""
        results = _as_evaluations(self.results.values())
        best = next((result for result in results if result.step == self.best_step), None)
        if not results:
            raise UserError(
                f"There is no readable checkpoint model.ckpt-<step> in '{self.output_dir}' to "
                "evaluate. Train first, or name the folder that was trained in."
            )
        if not best:
            _LOGGER.warning(
                "No trained checkpoint has a finite %s: none is best.", self.best_metric
            )
            return EvaluationSummary(results, None, None, evaluated_steps)
        _LOGGER.info(
            "Best of %d evaluated checkpoints: step %d with %s; kept as %s.",
            *(len(results), best.step),
            format_metrics({self.best_metric: best.metrics[self.best_metric]}),
            self.best_path,
        )
        return EvaluationSummary(results, best, self.best_path, evaluated_steps)


def _number(value: Any) -> Any:
    """What prints as short as the NumPy number: float32 0.1 as 0.1. NaN, no JSON, is a string."""
    value = np.asarray(value)[()]
    if isinstance(value, np.integer):
        return int(value)
    return float(str(value)) if math.isfinite(value) else str(value)


def _lines(metrics: Mapping[str, Any]) -> List[str]:
    """`key = value`, sorted by key."""
    return [f"{name} = {metrics[name]}" for name in sorted(metrics)]


def format_metrics(metrics: Mapping[str, Any]) -> str:
    """Returns results for the log: 4 digits of each, and no step, which the log says itself."""
    rounded = {
        name: value if isinstance(value, int) else f"{float(value):.4g}"
        for name, value in metrics.items()
        if name != "global_step"
    }
    return ", ".join(_lines(rounded))


# ---- single checkpoints, and pruning ----


def evaluate_one(output_dir: str, measure: EvaluateFn, checkpoint: str) -> Dict[str, Any]:
    """Evaluates one checkpoint into eval_results.<its name>.txt and .json; adds global_step."""
    results: Dict[str, Any] = dict(measure(checkpoint))
    step = _step_in(checkpoint)
    if step is not None:
        results["global_step"] = step
    where = checkpoint if step is None else f"{checkpoint}, step {step}"
    _LOGGER.info("%s: %s", where, format_metrics(results))
    stem = os.path.join(output_dir, f"eval_results.{os.path.basename(checkpoint)}")
    files.atomic_write_text(stem + ".txt", "".join(line + "\n" for line in _lines(results)))
    measured = {"checkpoint": checkpoint, "identity": _identity_of(checkpoint)}
    files.atomic_write_json(stem + ".json", dict(results, **measured))
    return results


def recorded_metrics(checkpoint: str, output_dir: str) -> Dict[str, Any]:
    """Returns what was measured on a checkpoint; {} if nothing.

    The ledger in its folder knows it by its step; results of `evaluate_one`, in `output_dir` or its
    folder, by its identity.
    """
    folder, name = os.path.split(checkpoint)
    step, identity = _step_in(checkpoint), _identity_of(checkpoint)
    known = []
    for place in (output_dir, folder):
        if place == folder:
            known = [dict(result.metrics) for result in read_results(place) if result.step == step]
        path = os.path.join(place, f"eval_results.{name}.json")
        alone = files.read_json_object(path) if tf.io.gfile.exists(path) else {}
        # Earlier versions recorded size and time.
        known += [alone] * (alone.get("identity", ...) in (identity, _state_of(checkpoint)))
        if known:
            return known[0]
    return {}


def prune_checkpoints(output_dir: str, keep: int, evaluated: Sequence[int]) -> List[int]:
    """Deletes evaluated checkpoints beyond the newest `keep` (0 keeps all); returns their steps."""
    # An intact older checkpoint is kept where a newer one could not be evaluated.
    known = [item for item in list_checkpoints(output_dir) if item.step in set(evaluated)]
    surplus = known[:-keep] if keep else []
    for checkpoint in surplus:
        _remove(checkpoint.path)
    if surplus:
        _LOGGER.info("Kept the newest %d of %d checkpoints, as the flags say.", keep, len(known))
    return [checkpoint.step for checkpoint in surplus]
