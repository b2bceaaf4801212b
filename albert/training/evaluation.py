# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Evaluates each checkpoint of a folder once, in step order, and keeps the best.

The folder gets
  eval_results.json   the ledger: results, what they were measured on, which checkpoint is best
  eval_results.txt    the same results as `key = value` lines, sorted, one block a checkpoint
  best_trial.txt      "last_step:best_step:best_value", if asked for
  model.ckpt-best.*   a copy of the best checkpoint

A second evaluation measures what is new and otherwise changes nothing. A deleted checkpoint keeps
its results; results on other data or settings, or of a checkpoint that has been replaced by another
of the same step, are measured again. A model.ckpt-best that was not made here is never overwritten.
The file `checkpoint`, from which training resumes, is never touched.
"""

import contextlib
import logging
import math
import os
import time
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np
import tensorflow.compat.v1 as tf

from albert.checkpoints import checkpoint_files
from albert.checkpoints.checkpoint_files import BEST_CHECKPOINT, Checkpoint, list_checkpoints
from albert.util import files, folder_lock
from albert.util.errors import UserError

LEDGER_NAME = "eval_results.json"
RESULTS_NAME = "eval_results.txt"
BEST_TRIAL_NAME = "best_trial.txt"

_FORMAT_VERSION = 1
_LOSSES = ("loss", "eval_loss")  # by which equal checkpoints are told apart
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


def _stats(path: str) -> Dict[str, Any]:
    """Suffix -> stat of the files of a checkpoint, the index first; {} if it is not whole.

    Another process may delete one at any moment.
    """
    folder, prefix = os.path.split(path)
    if not tf.io.gfile.exists(path + ".index"):
        return {}
    names = {name.rstrip("/") for name in tf.io.gfile.listdir(folder or ".")}
    data = checkpoint_files.data_files(prefix, names)
    wanted = [prefix + ".index", prefix + ".meta", *data] if data else []
    suffixes = [name[len(prefix) :] for name in wanted if name in names]
    try:
        return {suffix: tf.io.gfile.stat(path + suffix) for suffix in suffixes}
    except tf.errors.NotFoundError:
        return {}


def identity_of(path: str) -> Optional[Dict[str, Any]]:
    """Returns what tells a checkpoint's weights from others, as JSON; None if it is not there.

    It is cheap: the index holds a checksum of every tensor in the data.
    """
    stats = _stats(path)
    try:
        index = files.sha256(path + ".index") if stats else None
    except UserError:  # deleted just now
        return None
    data = [stat.length for suffix, stat in stats.items() if suffix.startswith(".data-")]
    return {"index_sha256": index, "data_bytes": sum(data)} if index else None


def _written(path: str) -> List[int]:
    """When the files of a checkpoint were written; a repaired one may be equal in all else."""
    return [stat.mtime_nsec for stat in _stats(path).values()]


def _copy_checkpoint(source: str, target: str) -> None:
    """Replaces `target`; not atomic: for a moment there is none."""
    folder, prefix = os.path.split(target)
    with contextlib.ExitStack() as stack:
        # The renames happen in reverse order: the index, which makes a checkpoint, comes last.
        for suffix in _stats(source):
            temporary = stack.enter_context(files.atomic_path(target + suffix))
            tf.io.gfile.copy(source + suffix, temporary, overwrite=True)
        for name in tf.io.gfile.listdir(folder):
            if name == prefix + ".index" or name.startswith(prefix + ".data-"):
                tf.io.gfile.remove(os.path.join(folder, name))


# ---------------------------------------------------------------------------------------------
# The ledger.


_LEDGER_TYPES = {  # see files.check_types
    **{"format_version": int, "fingerprint": dict, "best_step": (int, None)},
    "results": [{"step": int, "metrics": {str: (float, int, str)}, "checkpoint": dict}],
    "made_here": {"copies": [{"step": int}]},
}


def rank_of(metrics: Mapping[str, float], best_metric: str, higher_is_better: bool) -> List[float]:
    """Returns what orders checkpoints, the best last: the metric, and of equal ones the loss."""
    value = metrics.get(best_metric, math.nan) * (1 if higher_is_better else -1)
    losses = [metrics[name] for name in _LOSSES if name in metrics]
    return [value, *(-loss if math.isfinite(loss) else -math.inf for loss in losses)]


class _Ledger:
    """eval_results.json: what was measured so far, and which copies of checkpoints were made here.

    By step: `metrics`, and `identities` of the checkpoints that were measured. `copies` are the
    identities and steps of what lies, or may lie, as the best.
    """

    def __init__(self, output_dir: str):
        """Reads the file, if there is one; raises ValueError if it is something else."""
        self.path = os.path.join(output_dir, LEDGER_NAME)
        self.fingerprint: Dict[str, Any] = {}
        self.best_step: Optional[int] = None
        self.metrics: Dict[int, Dict[str, float]] = {}
        self.identities: Dict[int, Dict[str, Any]] = {}
        self.copies: List[Dict[str, Any]] = []
        if tf.io.gfile.exists(self.path):
            try:
                self._take(files.read_json_object(self.path, _LEDGER_TYPES))
            except ValueError as error:
                raise UserError(f"'{self.path}' is no record of evaluations ({error}).") from error

    def _take(self, content: Mapping[str, Any]) -> None:
        if content["format_version"] != _FORMAT_VERSION:
            raise UserError(f"format version {content['format_version']}")
        self.fingerprint, self.best_step = dict(content["fingerprint"]), content["best_step"]
        for result in content["results"]:
            step = result["step"]
            # JSON knows no NaN and no infinity: they are the strings "nan", "inf", "-inf".
            self.metrics[step] = {
                name: float(value) if isinstance(value, str) else value
                for name, value in result["metrics"].items()
            }
            self.identities[step] = dict(result["checkpoint"])
        self.copies = content["made_here"]["copies"]

    def results(self) -> List[Evaluation]:
        """Returns the results in step order."""
        return [Evaluation(step, self.metrics[step]) for step in sorted(self.metrics)]

    def forget(self, steps: Iterable[int]) -> None:
        """Removes the results of these steps, but not the identities of their checkpoints."""
        for step in steps:
            self.metrics.pop(step, None)

    def save(self) -> None:
        """Writes the file, unless it says the same."""
        results = []
        for step, metrics in self.results():
            written = {k: v if math.isfinite(v) else str(v) for k, v in metrics.items()}
            entry = {"step": step, "metrics": written, "checkpoint": self.identities[step]}
            results.append(entry)
        content = {
            "format_version": _FORMAT_VERSION,
            "fingerprint": self.fingerprint,
            "best_step": self.best_step,
            "results": results,
            "made_here": {"copies": self.copies},
        }
        _write(self.path, files.json_text(content))


def _write(path: str, text: str) -> None:
    """Leaves an equal file untouched."""
    is_there = tf.io.gfile.exists(path)
    if not is_there or files.read_bytes(path) != text.encode("utf-8"):
        files.atomic_write_text(path, text)


# ---------------------------------------------------------------------------------------------
# Evaluation of all checkpoints.


def read_results(output_dir: str) -> List[Evaluation]:
    """Returns a folder's results in step order; raises ValueError if the file is another's."""
    return _Ledger(str(output_dir)).results()


def evaluate_checkpoints(
    output_dir: str,
    evaluate_fn: EvaluateFn,
    *,
    best_metric: str,
    higher_is_better: bool = True,
    fingerprint: Optional[Mapping[str, Any]] = None,
    untrained_too: bool = False,
    write_best_trial: bool = False,
    wait_seconds: float = 0.0,
    final_step: Optional[int] = None,
) -> EvaluationSummary:
    """Evaluates the checkpoints that have not been evaluated yet, and keeps a copy of the best.

    Results are on disk after each checkpoint: an interrupted evaluation goes on where it was. The
    best is the one with the best `best_metric` (of equal ones that with the lower `loss` or
    `eval_loss`, then the latest; never one whose value is not finite) among the checkpoints that
    are there and the copy kept so far. Before a trained one, model.ckpt-0 is never the best.

    Args:
      fingerprint: JSON values that say what was measured on (data, batches, precision, ...). If it
        differs from the recorded one, everything is evaluated again.
      untrained_too: also measures model.ckpt-0 where it is not the only one.
      write_best_trial: also writes best_trial.txt.
      wait_seconds: > 0 goes on until no new checkpoint of another process has come for so long.
        Other processes may evaluate while this one waits.
      final_step: no waiting after a checkpoint of this step or a later one.

    Returns:
      The summary; `best` is None if no value of `best_metric` is finite.

    Raises:
      ValueError: there is nothing to evaluate, all is damaged, `best_metric` is not measured, or a
        model.ckpt-best, not made here, would be lost.
    """
    output_dir = str(output_dir)
    evaluator = _Evaluator(
        output_dir,
        evaluate_fn,
        best_metric,
        higher_is_better=higher_is_better,
        write_best_trial=write_best_trial,
    )
    evaluated: List[int] = []
    while True:
        # Of two evaluations at once the second waits, and reuses the results of the first.
        with folder_lock.held(output_dir, folder_lock.EVALUATION, waits=True):
            evaluator.read_ledger(files.normalized_fingerprint(fingerprint or {}))
            evaluated += evaluator.evaluate(untrained_too=untrained_too)
            is_final = final_step is not None and evaluator.last_step() >= final_step
            is_over = is_final or wait_seconds <= 0
            if is_over and not evaluator.has_seen_some:
                evaluated += evaluator.evaluate(untrained_too=True)
            if is_over:
                return evaluator.summary(evaluated)
        # Unlocked, so that the training can evaluate meanwhile.
        if not evaluator.wait(wait_seconds):
            wait_seconds = 0.0


class _Reading(NamedTuple):
    """What reading all of a checkpoint has shown."""

    step: int
    written: List[int]  # when its files were
    is_damaged: bool


class _Evaluator:
    """One evaluation of a folder: what has to be measured, and the rule what is best."""

    def __init__(
        self,
        output_dir: str,
        evaluate_fn: EvaluateFn,
        best_metric: str,
        *,
        higher_is_better: bool,
        write_best_trial: bool,
    ):
        self._output_dir = output_dir
        self._evaluate_fn = evaluate_fn
        self._best_metric = best_metric
        self._higher_is_better = higher_is_better
        self._write_best_trial = write_best_trial
        self._best_path = os.path.join(output_dir, BEST_CHECKPOINT)
        self._readings: Dict[str, _Reading] = {}  # by path

    def read_ledger(self, fingerprint: Dict[str, Any]) -> None:
        """Reads what is recorded, perhaps by another process; ValueError: see check_best_copy."""
        try:
            self._ledger = _Ledger(self._output_dir)
        except ValueError as error:
            path = os.path.join(self._output_dir, LEDGER_NAME)
            kept = files.unused_name(path)
            tf.io.gfile.rename(path, kept)
            _LOGGER.warning("%s It is kept as %s; all is evaluated again.", error, kept)
            self._ledger = _Ledger(self._output_dir)
        self.compare_fingerprint(fingerprint)
        self.check_best_copy()

    def compare_fingerprint(self, fingerprint: Dict[str, Any]) -> None:
        """Forgets results of other data or settings: they cannot be compared with new ones."""
        ledger = self._ledger
        difference = files.fingerprint_difference(ledger.fingerprint, fingerprint)
        if difference and ledger.metrics:
            # Copied, because it alone has the results of deleted checkpoints.
            kept = files.unused_name(ledger.path)
            tf.io.gfile.copy(ledger.path, kept)
            _LOGGER.info(
                "Every checkpoint is evaluated again: %s. The old results are kept as %s.",
                *(difference, kept),
            )
            self._ledger.forget(list(self._ledger.metrics))
        ledger.fingerprint = fingerprint

    def check_best_copy(self) -> None:
        """Refuses to overwrite a model.ckpt-best that was not made here, before any work."""
        identity = identity_of(self._best_path)
        if identity is None:
            return
        # A damaged copy still has the same index or the same size of the data.
        ours = [copy for copy in self._ledger.copies if identity.items() & copy.items()]
        if ours and self._is_damaged(Checkpoint(ours[-1]["step"], self._best_path)):
            return  # it is copied anew
        if self._copied_checkpoint():
            return
        for other in list_checkpoints(self._output_dir):
            if identity == identity_of(other.path):
                self._ledger.copies.append(dict(identity, step=other.step))
                return
        raise UserError(
            f"'{self._best_path}' was not made by this evaluation (no {LEDGER_NAME} beside it "
            "says so), and no other checkpoint equals it: it would be lost. Move or rename it, or "
            "choose another output folder."
        )

    def _damaged(self) -> Dict[str, int]:
        """Path -> step of the checkpoints that were found damaged."""
        return {path: found.step for path, found in self._readings.items() if found.is_damaged}

    @property
    def has_seen_some(self) -> bool:
        """Whether there was anything to evaluate, now or before."""
        return bool(self._ledger.metrics or self._damaged())

    def last_step(self) -> int:
        """The last step that was evaluated; 0 if there was none."""
        return max([0, *self._ledger.metrics])

    def wait(self, seconds: float) -> bool:
        """Whether a later checkpoint appears, or a damaged one is written again, in that time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(min(_POLL_SECONDS, seconds))
            self._forget_rewritten()
            later = [c for c in list_checkpoints(self._output_dir) if c.step > self.last_step()]
            if any(checkpoint.path not in self._damaged() for checkpoint in later):
                return True
        _LOGGER.info("No new checkpoint in %s for %g seconds.", self._output_dir, seconds)
        return False

    def _forget_rewritten(self) -> None:
        """Training that resumed before a damaged checkpoint writes it again."""
        for path, found in list(self._readings.items()):
            if found.written != _written(path):
                del self._readings[path]

    def evaluate(self, *, untrained_too: bool) -> List[int]:
        """Evaluates what is new; returns the steps."""
        self._forget_rewritten()
        present = self._present()
        damaged = len(self._damaged())
        pending = [
            checkpoint
            for step, checkpoint in present.items()
            if step not in self._ledger.metrics and (step or untrained_too)
        ]
        # The copy is evaluated first, because a better checkpoint would overwrite it.
        pending.sort(key=lambda c: (c.path != self._best_path, c.step))
        evaluated = []
        for number, checkpoint in enumerate(pending, start=1):
            if list(present) == [0]:
                _LOGGER.warning("No trained checkpoint yet: the results are of an untrained model.")
            if self._evaluate_one(checkpoint, f"{number} of {len(pending)}"):
                evaluated.append(checkpoint.step)
                self._keep_best(present)
            if len(self._damaged()) > damaged:
                # The copy of the best may stand in for it, and then comes first.
                return evaluated + self.evaluate(untrained_too=untrained_too)
        if self._ledger.metrics and not evaluated:
            self._keep_best(present)
        return evaluated

    def _present(self) -> Dict[int, Checkpoint]:
        """Step -> checkpoint that is there now and not known to be damaged, the best included."""
        present = {c.step: c for c in list_checkpoints(self._output_dir)}
        replaced = [step for step, c in present.items() if self._is_replaced(c)]
        damaged = self._damaged()
        present = {step: c for step, c in present.items() if c.path not in damaged}
        copy = self._copied_checkpoint()
        if replaced:
            # After a training from the start, results of checkpoints that are gone are of old
            # weights.
            _LOGGER.info("Evaluated again, since its weights are new: step %s.", sorted(replaced))
            self._ledger.forget(set(replaced) | set(self._ledger.metrics) - set(present))
        elif copy:
            present.setdefault(copy.step, copy)
        return present

    def _is_replaced(self, checkpoint: Checkpoint) -> bool:
        """Whether other weights than these were evaluated under the same step."""
        known, found = self._ledger.identities.get(checkpoint.step), identity_of(checkpoint.path)
        is_other = known is not None and found is not None and known != found
        return is_other and not self._is_damaged(checkpoint)

    def _is_damaged(self, checkpoint: Checkpoint) -> bool:
        """Reads all of it, once; one that is damaged is passed over from now on."""
        path = checkpoint.path
        if path not in self._readings:
            written = _written(path)
            damage = checkpoint_files.find_damage(path)
            if damage and not identity_of(path):
                return False  # it was deleted
            self._readings[path] = _Reading(checkpoint.step, written, bool(damage))
            if damage:
                _LOGGER.warning("%s cannot be read (%s): passed over.", path, damage)
        return self._readings[path].is_damaged

    def _copied_checkpoint(self) -> Optional[Checkpoint]:
        """What lies under model.ckpt-best, if it was put there by an evaluation."""
        identity = identity_of(self._best_path)
        if identity is None or self._best_path in self._damaged():
            return None
        for copy in self._ledger.copies:
            if copy == dict(identity, step=copy["step"]):
                return Checkpoint(copy["step"], self._best_path)
        return None

    def _evaluate_one(self, checkpoint: Checkpoint, place: str) -> bool:
        """False if training deleted the checkpoint meanwhile, or it is damaged."""
        identity = identity_of(checkpoint.path)
        # Checked first, because TensorFlow's own error is long; the check is cheap.
        if identity and self._is_damaged(checkpoint):
            return False
        try:
            measured = self._evaluate_fn(checkpoint.path) if identity else None
        except Exception:
            if identity_of(checkpoint.path):
                raise
            measured = None
        if measured is None:
            _LOGGER.warning("%s was deleted before it was evaluated.", checkpoint.path)
            return False
        metrics = {name: _number(value) for name, value in measured.items()}
        metrics.setdefault("global_step", checkpoint.step)
        if self._best_metric not in metrics:
            raise UserError(
                f"The best checkpoint is chosen by '{self._best_metric}', which is not measured; "
                f"measured are {sorted(metrics)}."
            )
        _LOGGER.info("Step %d (%s): %s", checkpoint.step, place, in_short(metrics))
        self._ledger.metrics[checkpoint.step] = metrics
        self._ledger.identities[checkpoint.step] = identity
        return True

    def _best_step(self, present: Mapping[int, Checkpoint]) -> Optional[int]:
        """The best of the checkpoints that are still there."""
        damaged = self._damaged()
        is_trained = any([*present, *damaged.values()])  # any step above 0
        candidates = []
        for step, metrics in self._ledger.results():
            rank = rank_of(metrics, self._best_metric, self._higher_is_better)
            path = present[step].path if step in present else ""
            is_there = path and path not in damaged and _stats(path)
            if is_there and math.isfinite(rank[0]) and (step or not is_trained):
                candidates.append((rank, step))
        return max(candidates)[-1] if candidates else None

    def _keep_best(self, present: Mapping[int, Checkpoint]) -> None:
        """Writes the results, and copies the best checkpoint if it is not there already.

        Where training deletes the best while it is copied, the next best takes its place.
        """
        ledger = self._ledger
        step = ledger.best_step = self._best_step(present)
        copy = self._copied_checkpoint()
        entry = copy and dict(identity_of(copy.path), step=copy.step)
        wanted = None if step is None else dict(ledger.identities[step], step=step)
        if wanted is None or wanted == entry:
            self._save()
            return
        # Both are recorded before copying, so that a crash leaves no unknown copy.
        ledger.copies = [entry, wanted] if entry else [wanted]
        self._save()
        source = present[step].path
        if self._is_damaged(present[step]):
            self._keep_best(present)
            return
        try:
            _copy_checkpoint(source, self._best_path)
        except (UserError, tf.errors.NotFoundError):
            if _stats(source):
                raise
            _LOGGER.warning("%s was deleted before it was copied.", source)
            self._keep_best(present)
            return
        self._readings.pop(self._best_path, None)

    def _save(self) -> None:
        """Writes the ledger and the text files with its results."""
        self._ledger.save()
        results, best = self._ledger.results(), self._ledger.best_step
        lines = [line for _, metrics in results for line in _lines(metrics)]
        _write(os.path.join(self._output_dir, RESULTS_NAME), "".join(f"{line}\n" for line in lines))
        if self._write_best_trial and best is not None:
            value = self._ledger.metrics[best][self._best_metric]
            text = f"{results[-1].step}:{best}:{value}"
            _write(os.path.join(self._output_dir, BEST_TRIAL_NAME), text)

    def summary(self, evaluated_steps: List[int]) -> EvaluationSummary:
        """Returns what was found, and logs the best."""
        results, step = self._ledger.results(), self._ledger.best_step
        damaged = self._damaged()
        if damaged and (step is None or not results):
            raise UserError(
                f"There is no best checkpoint in '{self._output_dir}': {', '.join(damaged)} cannot "
                f"be read, and no other has a finite {self._best_metric}. Copy what is damaged "
                "again, or train anew in another folder."
            )
        if not results:
            raise UserError(
                f"There is no checkpoint model.ckpt-<step> in '{self._output_dir}' to evaluate. "
                "Train first, or name the folder that was trained in."
            )
        if step is None:
            _LOGGER.warning(
                "No checkpoint has a finite %s, so there is no best checkpoint.", self._best_metric
            )
            return EvaluationSummary(results, None, None, evaluated_steps)
        best = Evaluation(step, self._ledger.metrics[step])
        _LOGGER.info(
            "Best of %d evaluated checkpoints: step %d with %s; kept as %s.",
            *(len(results), step, in_short({self._best_metric: best.metrics[self._best_metric]})),
            self._best_path,
        )
        return EvaluationSummary(results, best, self._best_path, evaluated_steps)


def _number(value: Any) -> float:
    """A Python number that prints as short as the NumPy one: float32 0.1 as 0.1."""
    value = np.asarray(value)[()]
    if isinstance(value, np.integer):
        return int(value)
    return float(str(value)) if isinstance(value, np.float32) else float(value)


def _lines(metrics: Mapping[str, Any]) -> List[str]:
    """`key = value`, sorted by key."""
    return [f"{name} = {metrics[name]}" for name in sorted(metrics)]


def in_short(metrics: Mapping[str, Any]) -> str:
    """Returns results for the log: 4 digits of each, and no step, which the log says itself."""
    rounded = {
        name: value if isinstance(value, int) else f"{value:.4g}"
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
    identity = identity_of(checkpoint)
    results: Dict[str, Any] = dict(measure(checkpoint))
    with checkpoint_files.explained(checkpoint):
        reader = tf.train.load_checkpoint(checkpoint)
        if reader.has_tensor("global_step"):
            results["global_step"] = int(reader.get_tensor("global_step"))
    lines = _lines(results)
    step = f" (step {results['global_step']})" if "global_step" in results else ""
    _LOGGER.info("%s%s: %s", checkpoint, step, in_short(results))
    stem = os.path.join(output_dir, f"eval_results.{os.path.basename(checkpoint)}")
    files.atomic_write_text(stem + ".txt", "".join(line + "\n" for line in lines))
    files.atomic_write_json(stem + ".json", dict(results, checkpoint=checkpoint, identity=identity))
    return results


def recorded_metrics(checkpoint: str, output_dir: str) -> Dict[str, Any]:
    """Returns what was measured on the weights of a checkpoint; {} if nothing.

    In `output_dir`, then in the checkpoint's folder: the ledger's results, then those of
    `evaluate_one`. Earlier versions did not record the identity of the weights beside the latter:
    they count only where there is nothing else.
    """
    folder, name = os.path.split(checkpoint)
    identity = identity_of(checkpoint)
    found, unidentified = [], []
    for place in (output_dir, folder):
        ledger = read_document(os.path.join(place, LEDGER_NAME), _LEDGER_TYPES) or {}
        results = ledger.get("results", [])
        found += [one["metrics"] for one in results if one.get("checkpoint") == identity]
        alone = read_document(os.path.join(place, f"eval_results.{name}.json")) or {}
        if alone.get("identity") == identity:
            found.append(alone)
        elif "identity" not in alone and alone.get("checkpoint") == checkpoint:
            unidentified.append(alone)
    return dict(next(iter(found + unidentified), {}))


def prune_checkpoints(output_dir: str, keep: int, evaluated: Sequence[int]) -> List[int]:
    """Deletes evaluated checkpoints beyond the newest `keep` (0 keeps all); returns their steps."""
    if not keep:
        return []
    found = list_checkpoints(output_dir)
    # An intact older checkpoint is kept where a newer one could not be evaluated.
    checkpoints = [item for item in found if item.step in set(evaluated)]
    surplus = checkpoints[:-keep]
    for checkpoint in surplus:
        # The index is deleted first, so that no partial checkpoint is left.
        paths = tf.io.gfile.glob(checkpoint.path + ".*")
        for path in sorted(paths, key=lambda path: not path.endswith(".index")):
            tf.io.gfile.remove(path)
    if surplus:
        _LOGGER.info(
            "Kept the newest %d of %d checkpoints, as the flags say.", keep, len(checkpoints)
        )
    return [checkpoint.step for checkpoint in surplus]
