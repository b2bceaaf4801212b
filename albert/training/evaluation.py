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
import logging
import math
import os
import time
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
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
    "results": [{"step": int, "metrics": {str: (float, int, str)}}],
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


# ---------------------------------------------------------------------------------------------
# Checkpoints on disk.


def identity_of(checkpoint: str) -> Optional[List[int]]:
    """Returns size and time (ns) of the index, which is written last; None if there is none."""
    try:
        return files.state_of(checkpoint + ".index")
    except (UserError, tf.errors.NotFoundError):
        return None


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
    with contextlib.ExitStack() as stack:
        # The renames happen in reverse order, the index last.
        for path in _files_of(source):
            temporary = stack.enter_context(files.atomic_path(target + path[len(source) :]))
            tf.io.gfile.copy(path, temporary, overwrite=True)
        _remove(target)


# ---------------------------------------------------------------------------------------------
# Evaluation of all checkpoints.


def read_results(output_dir: str) -> List[Evaluation]:
    """Returns a folder's results in step order; raises UserError if the file is another's."""
    return _evaluations(_read_ledger(str(output_dir))["results"])


def _read_ledger(output_dir: str) -> Dict[str, Any]:
    """The content of eval_results.json; its beginning if there is none."""
    path = os.path.join(output_dir, LEDGER_NAME)
    if tf.io.gfile.exists(path):
        return files.read_json_object(path, _LEDGER_TYPES)
    return {"format_version": 1, "fingerprint": {}, "best_step": None, "results": []}


def _evaluations(results: Iterable[Mapping[str, Any]]) -> List[Evaluation]:
    """Makes numbers of "nan", "inf" and "-inf", which JSON knows as strings only."""
    evaluations = []
    for result in results:
        metrics = result["metrics"].items()
        numbers = {name: float(n) if isinstance(n, str) else n for name, n in metrics}
        evaluations.append(Evaluation(result["step"], numbers))
    return evaluations


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
        another's, or a model.ckpt-best, not made here, would be lost.
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
    gain = -loss if math.isfinite(loss) else -math.inf
    value = value if higher_is_better else -value
    return (value if math.isfinite(value) else -math.inf, gain)


@dataclasses.dataclass
class _Evaluator:
    """One evaluation of a folder: what has to be measured, and the rule what is best.

    Attributes:
      fingerprint: JSON values that say what was measured on (data, batches, precision, ...). If it
        differs from the recorded one, everything is evaluated again.
      untrained_too: also measures model.ckpt-0.
      write_best_trial: also writes best_trial.txt.
      results: step, ascending -> {"step", "metrics", "checkpoint": identity of what was measured}.
      skipped: path -> identity of what was corrupt.
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

    @property
    def best_path(self) -> str:
        """The path of the kept copy."""
        return os.path.join(self.output_dir, BEST_CHECKPOINT)

    def evaluate(self) -> List[int]:
        """Evaluates what is new since the ledger was written; returns the steps."""
        self._open_ledger()
        evaluated = []
        for checkpoint in iter(self._next, None):
            with self._skipping(checkpoint.path):
                self._evaluate_one(*checkpoint)
                evaluated.append(checkpoint.step)
                self._keep_best()
        if self.results:
            self._keep_best()
        return evaluated

    def _open_ledger(self) -> None:
        """Reads the results so far; UserError for a model.ckpt-best that was not made here."""
        ledger = _read_ledger(self.output_dir)
        self.results = {result["step"]: result for result in ledger["results"]}
        steps = [checkpoint.step for checkpoint in list_checkpoints(self.output_dir)]
        is_ours = ledger["best_step"] is not None or self._kept_step() in steps
        if identity_of(self.best_path) and not is_ours:
            raise UserError(
                f"'{self.best_path}' was not made by this evaluation (no {LEDGER_NAME} beside it "
                "says so), and would be lost. Move or rename it, or choose another output folder."
            )
        difference = files.fingerprint_difference(ledger["fingerprint"], self.fingerprint)
        if difference and self.results:
            # They cannot be compared with new ones, but may be all there is of deleted checkpoints.
            path = os.path.join(self.output_dir, LEDGER_NAME)
            kept = files.unused_name(path)
            tf.io.gfile.copy(path, kept)
            _LOGGER.info("Evaluating all again: %s. Old results: %s.", difference, kept)
            self.results = {}

    def _kept_step(self) -> Optional[int]:
        """The step of model.ckpt-best; None if it is not there or cannot be read."""
        try:
            return _step_in(self.best_path)
        except UserError:
            return None

    def _present(self) -> Dict[int, str]:
        """Step -> path of the checkpoints that are there; the copy stands for a deleted one."""
        kept = self._kept_step()
        found = [] if kept is None else [Checkpoint(kept, self.best_path)]
        found += list_checkpoints(self.output_dir)
        return dict(item for item in found if self.skipped.get(item.path) != identity_of(item.path))

    def _next(self) -> Optional[Checkpoint]:
        """What has to be evaluated; the kept copy first, because a better one will replace it."""
        pending = []
        for step, path in self._present().items():
            known = self.results.get(step)
            is_known = known and (
                path == self.best_path or known["checkpoint"] == identity_of(path)
            )
            if (step or self.untrained_too) and not is_known:
                pending.append(Checkpoint(step, path))
        return min(pending, key=lambda item: (item.path != self.best_path, item.step), default=None)

    @contextlib.contextmanager
    def _skipping(self, path: str) -> Iterator[None]:
        """Skips a checkpoint that is corrupt, or that training deletes in the meantime."""
        identity = identity_of(path)
        try:
            yield
        except Exception:
            damage = checkpoint_files.find_damage(path)
            if not damage:
                raise
            _LOGGER.warning("Skipping %s, which is corrupt or deleted (%s).", path, damage)
            self.skipped[path] = identity

    def _evaluate_one(self, step: int, path: str) -> None:
        """Adds a checkpoint's results."""
        identity = identity_of(path)
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

    def _best(self, steps: Iterable[int]) -> Optional[int]:
        """The step of the best of these results."""
        ranks = []
        for step in steps:
            metrics = self.results[step]["metrics"]
            rank = rank_of(metrics, self.best_metric, self.higher_is_better)
            if step and math.isfinite(rank[0]):
                ranks.append((rank, step))
        return max(ranks)[-1] if ranks else None

    def _keep_best(self) -> None:
        """Writes the results, and copies the best checkpoint if it is not there already."""
        present = self._present()
        self.best_step = self._best(present.keys() & self.results.keys())
        # Recorded first, so that a crash leaves no copy that seems another's.
        self._save()
        if self.best_step is None:
            return
        path = present[self.best_step]
        written, kept = ((identity_of(item) or [0, 0])[1] for item in (path, self.best_path))
        if written > kept or self._kept_step() != self.best_step:
            with self._skipping(path):
                _copy(path, self.best_path)
                return
            self._keep_best()

    def _save(self) -> None:
        """Writes the ledger and the text files with its results, where they differ."""
        results = list(self.results.values())
        content = {
            "format_version": 1,
            "fingerprint": self.fingerprint,
            "best_step": self.best_step,
            "results": results,
        }
        lines = [f"{line}\n" for result in results for line in _lines(result["metrics"])]
        texts = {LEDGER_NAME: files.json_text(content), RESULTS_NAME: "".join(lines)}
        if self.write_best_trial and self.best_step is not None:
            value = self.results[self.best_step]["metrics"][self.best_metric]
            texts[BEST_TRIAL_NAME] = f"{max(self.results)}:{self.best_step}:{value}"
        for name, text in texts.items():
            path = os.path.join(self.output_dir, name)
            if not tf.io.gfile.exists(path) or files.read_text(path) != text:
                files.atomic_write_text(path, text)

    def summary(self, evaluated_steps: List[int]) -> EvaluationSummary:
        """Returns what was found, and logs the best."""
        results = _evaluations(self.results.values())
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


def _number(value: Any) -> Union[int, float, str]:
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


# ---------------------------------------------------------------------------------------------
# Single checkpoints, and pruning.


def read_document(path: str, types: Any = dict) -> Optional[Dict[str, Any]]:
    """Returns the object in a JSON file of ours; None, with a warning, if it cannot be read.

    `types` are those of files.check_types.
    """
    if not tf.io.gfile.exists(path):
        return None
    try:
        return files.read_json_object(path, types)
    except ValueError as error:
        _LOGGER.warning("%s It is written anew.", error)
        return None


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
    measured = {"checkpoint": checkpoint, "identity": identity_of(checkpoint)}
    files.atomic_write_json(stem + ".json", dict(results, **measured))
    return results


def recorded_metrics(checkpoint: str, output_dir: str) -> Dict[str, Any]:
    """Returns what was measured on a checkpoint; {} if nothing.

    The ledger in its folder knows it by its step, also after the folder was copied; results of
    `evaluate_one`, in `output_dir` or its folder, by its identity.
    """
    folder, name = os.path.split(checkpoint)
    step = _step_in(checkpoint)
    for place in (output_dir, folder):
        ledger = read_document(os.path.join(place, LEDGER_NAME), _LEDGER_TYPES) or {}
        results = _evaluations(ledger.get("results", []) if place == folder else [])
        known = [result.metrics for result in results if result.step == step]
        alone = read_document(os.path.join(place, f"eval_results.{name}.json")) or {}
        if known or alone.get("identity", ...) == identity_of(checkpoint):
            return known[0] if known else alone
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
