# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Evaluates each checkpoint of a folder once, in step order, and keeps the best.

The folder gets
  eval_results.json   the ledger: results, what they were measured on, which checkpoint is best
  eval_results.txt    the same results as `key = value` lines, sorted, one block a checkpoint
  best_trial.txt      "last_step:best_step:best_value", if asked for
  model.ckpt-best.*   a copy of the best checkpoint
The work ends when the checkpoints that are there have been evaluated. Doing it again evaluates
what is new, and otherwise changes nothing. model.ckpt-0, from before the first step, is measured
only where it is asked for or alone; a damaged checkpoint is passed over. One that training has
deleted meanwhile keeps its line; results measured on other data or settings, or of a checkpoint
that has been replaced by another of the same step, are measured again.

Nothing that was not made here is deleted or overwritten: a results file of somebody else is kept
under another name, and a foreign model.ckpt-best stops the evaluation before it starts. The file
`checkpoint`, from which training resumes, is never touched.
"""

import contextlib
import hashlib
import json
import logging
import math
import os
import time
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Set

import numpy as np
import tensorflow.compat.v1 as tf

from albert.pretrained import checkpoint_files
from albert.pretrained.checkpoint_files import BEST_CHECKPOINT, Checkpoint, list_checkpoints
from albert.util import files, folder_lock

LEDGER_NAME = "eval_results.json"
RESULTS_NAME = "eval_results.txt"
BEST_TRIAL_NAME = "best_trial.txt"

_FORMAT_VERSION = 1
_LOSSES = ("loss", "eval_loss")  # by which equal checkpoints are told apart
_POLL_SECONDS = 10.0

_LOGGER = logging.getLogger("albert")


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


# ------------------------------------------------------------------------------ checkpoints on disk


def _suffixes(path: str) -> List[str]:
    """Of the files of a checkpoint, the index first; [] if it is not there or not whole."""
    folder, prefix = os.path.split(path)
    if not tf.io.gfile.exists(path + ".index"):
        return []
    names = {name.rstrip("/") for name in tf.io.gfile.listdir(folder or ".")}
    data = checkpoint_files.data_files(prefix, names)
    wanted = [prefix + ".index", prefix + ".meta", *data] if data else []
    return [name[len(prefix) :] for name in wanted if name in names]


def _identity(path: str) -> Optional[Dict[str, Any]]:
    """Tells checkpoints apart cheaply: the index holds a checksum of every tensor in the data.

    None if there is no whole checkpoint; another process may delete one at any moment.
    """
    sizes = dict.fromkeys(_suffixes(path), 0)
    if not sizes:
        return None
    try:
        for suffix in sizes:
            sizes[suffix] = tf.io.gfile.stat(path + suffix).length
        index = files.file_fingerprint(path + ".index")
    except tf.errors.NotFoundError:
        return None
    data_bytes = sum(size for suffix, size in sizes.items() if suffix.startswith(".data-"))
    return {"index_sha256": index["sha256"], "data_bytes": data_bytes}


def _written(path: str) -> List[int]:
    """When the files of a checkpoint were written; a repaired one may be equal in all else."""
    try:
        return [tf.io.gfile.stat(path + suffix).mtime_nsec for suffix in _suffixes(path)]
    except tf.errors.NotFoundError:
        return []


def _copy_checkpoint(source: str, target: str) -> None:
    """Replaces `target`; whoever looks finds the old one, none, or the new one."""
    folder, prefix = os.path.split(target)
    with contextlib.ExitStack() as stack:
        # The renames happen in reverse order: the index, which makes a checkpoint, comes last.
        for suffix in _suffixes(source):
            temporary = stack.enter_context(files.atomic_path(target + suffix))
            tf.io.gfile.copy(source + suffix, temporary, overwrite=True)
        for name in tf.io.gfile.listdir(folder):
            if name == prefix + ".index" or name.startswith(prefix + ".data-"):
                tf.io.gfile.remove(os.path.join(folder, name))


# ----------------------------------------------------------------------------------------- ledger


class _Content(NamedTuple):
    """What the ledger remembers."""

    fingerprint: Dict[str, Any]
    best_step: Optional[int]
    metrics: Dict[int, Dict[str, float]]  # by step
    identities: Dict[int, Dict[str, Any]]  # by step: of the checkpoint that was measured
    copies: List[Dict[str, Any]]  # identities and steps of what lies, or may lie, as the best
    texts: Dict[str, List[str]]  # by name: hashes of what lies, or may lie, in the text file


def _parse_ledger(path: str) -> _Content:
    """Reads eval_results.json; ValueError if it is something else."""
    try:
        content = files.read_json_object(path)
        if content["format_version"] != _FORMAT_VERSION:
            raise ValueError(f"format version {content['format_version']}")
        results, made_here = content["results"], content["made_here"]
        return _Content(
            fingerprint=dict(content["fingerprint"]),
            best_step=content["best_step"],
            metrics={int(result["step"]): _from_json(result["metrics"]) for result in results},
            identities={int(result["step"]): dict(result["checkpoint"]) for result in results},
            copies=[dict(copy, step=int(copy["step"])) for copy in made_here["copies"]],
            texts={name: list(hashes) for name, hashes in made_here["texts"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"'{path}' is no record of evaluations ({error!r}).") from error


class _Ledger:
    """What was measured so far, and what of the folder's content was made here."""

    def __init__(self, output_dir: str):
        self._output_dir = output_dir
        content = self._load()
        self.fingerprint = content.fingerprint
        self.best_step = content.best_step
        self.metrics = content.metrics
        self.identities = content.identities
        self.copies = content.copies
        self._texts = content.texts

    def _path(self, name: str) -> str:
        """A file of the folder."""
        return os.path.join(self._output_dir, name)

    def _load(self) -> _Content:
        """An unreadable ledger is put aside, not overwritten; its evaluations are done again."""
        path = self._path(LEDGER_NAME)
        if tf.io.gfile.exists(path):
            try:
                return _parse_ledger(path)
            except ValueError as error:
                _LOGGER.warning("%s Every checkpoint is evaluated again.", error)
                _put_aside(path)
        return _Content({}, None, {}, {}, [], {})

    def results(self) -> List[Evaluation]:
        """The results in step order."""
        return [Evaluation(step, self.metrics[step]) for step in sorted(self.metrics)]

    def add(self, step: int, metrics: Mapping[str, float], identity: Mapping[str, Any]) -> None:
        """Records a result."""
        self.metrics[step] = dict(metrics)
        self.identities[step] = dict(identity)

    def forget(self, steps: Iterable[int]) -> None:
        """Removes the results of these steps; which weights they were of stays known."""
        for step in steps:
            self.metrics.pop(step, None)

    def save(self, texts: Mapping[str, str]) -> None:
        """Writes the ledger and the text files that go with it; equal ones stay untouched."""
        for name, text in texts.items():
            self._claim(name, text)
        content = {
            "format_version": _FORMAT_VERSION,
            "fingerprint": self.fingerprint,
            "best_step": self.best_step,
            "results": [
                {
                    "step": step,
                    "metrics": _to_json(metrics),
                    "checkpoint": self.identities[step],
                }
                for step, metrics in self.results()
            ],
            "made_here": {"copies": self.copies, "texts": self._texts},
        }
        ledger = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        # The ledger first: it then knows the texts even if this process is killed in between.
        for name, text in [(LEDGER_NAME, ledger), *texts.items()]:
            if _hash_on_disk(self._path(name)) != _hash(text):
                files.atomic_write_text(self._path(name), text)

    def _claim(self, name: str, text: str) -> None:
        """Records the hash of what will be written; puts aside what somebody else wrote there."""
        present, known = _hash_on_disk(self._path(name)), self._texts.get(name, [])
        if present == _hash(text) and known:
            return
        if present not in (None, _hash(text), *known):
            _put_aside(self._path(name))
            present = None
        self._texts[name] = sorted({_hash(text), present or _hash(text)})


def _hash(text: str) -> str:
    """Of a text file's content."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _hash_on_disk(path: str) -> Optional[str]:
    """None if there is no such file."""
    return files.file_fingerprint(path)["sha256"] if tf.io.gfile.exists(path) else None


def _put_aside(path: str) -> None:
    """Keeps a file that is not ours under another name."""
    kept = files.unused_name(path)
    tf.io.gfile.rename(path, kept)
    _LOGGER.warning(
        "%s was not written by this evaluation, or changed since: kept as %s.",
        path,
        os.path.basename(kept),
    )


def _keep_copy(path: str) -> str:
    """Copies a file of ours before it is made anew: checkpoints that are gone are only in it."""
    kept = files.unused_name(path)
    tf.io.gfile.copy(path, kept)
    return kept


def _to_json(metrics: Mapping[str, float]) -> Dict[str, Any]:
    """JSON knows no NaN and no infinity: they are written as the strings "nan", "inf", "-inf"."""
    return {name: value if math.isfinite(value) else str(value) for name, value in metrics.items()}


def _from_json(metrics: Mapping[str, Any]) -> Dict[str, float]:
    """The reverse of _to_json."""
    return {
        name: float(value) if isinstance(value, str) else value for name, value in metrics.items()
    }


# -------------------------------------------------------------------------------------- evaluation


def read_results(output_dir: str) -> List[Evaluation]:
    """Returns the recorded results of a folder in step order; [] if there are none.

    Raises:
      ValueError: eval_results.json was not written by this module.
    """
    path = os.path.join(str(output_dir), LEDGER_NAME)
    if not tf.io.gfile.exists(path):
        return []
    return [
        Evaluation(step, values) for step, values in sorted(_parse_ledger(path).metrics.items())
    ]


def evaluate_checkpoints(
    output_dir: str,
    evaluate_fn: Callable[[str], Mapping[str, float]],
    *,
    best_metric: str,
    higher_is_better: bool = True,
    fingerprint: Optional[Mapping[str, Any]] = None,
    checkpoints: Optional[Sequence[Checkpoint]] = None,
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
      output_dir: folder of the checkpoints and the results.
      evaluate_fn: checkpoint path -> {metric: number}.
      best_metric: name of the metric that decides.
      higher_is_better: its direction.
      fingerprint: JSON values that say what was measured on (data, batches, precision, ...). If it
        differs from the recorded one, everything is evaluated again.
      checkpoints: evaluates these in place of all in `output_dir`; None or [] means all.
      untrained_too: also measures model.ckpt-0 where it is not the only one.
      write_best_trial: also writes best_trial.txt.
      wait_seconds: > 0 goes on until no new checkpoint of another process has come for so long.
      final_step: no waiting after a checkpoint of this step or a later one.

    Returns:
      The summary; `best` is None if no value of `best_metric` is finite.

    Raises:
      ValueError: there is nothing to evaluate, all is damaged, one of `checkpoints` is not there,
        `best_metric` is not measured, or a model.ckpt-best, not made here, would be lost.
    """
    # Of two evaluations the second finds what the first has measured.
    with folder_lock.held(str(output_dir), folder_lock.EVALUATION, waits=True):
        evaluator = _Evaluator(
            str(output_dir),
            best_metric=best_metric,
            higher_is_better=higher_is_better,
            write_best_trial=write_best_trial,
        )
        evaluator.compare_fingerprint(files.normalized_fingerprint(fingerprint or {}))
        evaluator.check_best_copy(checkpoints)
        evaluated = []
        while True:
            evaluated += evaluator.evaluate(checkpoints, evaluate_fn, untrained_too=untrained_too)
            is_final = final_step is not None and evaluator.last_step() >= final_step
            is_over = wait_seconds <= 0 or checkpoints or is_final
            if is_over or not evaluator.wait(wait_seconds):
                break
        if not evaluator.has_seen_some:
            evaluated += evaluator.evaluate(checkpoints, evaluate_fn, untrained_too=True)
        return evaluator.summary(evaluated)


class _Evaluator:
    """One evaluation of a folder: what has to be measured, and the rule what is best."""

    def __init__(
        self,
        output_dir: str,
        *,
        best_metric: str,
        higher_is_better: bool,
        write_best_trial: bool,
    ):
        self._output_dir = output_dir
        self._best_metric = best_metric
        self._higher_is_better = higher_is_better
        self._write_best_trial = write_best_trial
        self._best_path = os.path.join(output_dir, BEST_CHECKPOINT)
        self._ledger = _Ledger(output_dir)
        self._damaged: Dict[str, int] = {}  # path -> step
        self._whole: Set[str] = set()  # paths of those whose values were compared
        self._read: Dict[str, List[int]] = {}  # path -> when its files were written

    def compare_fingerprint(self, fingerprint: Dict[str, Any]) -> None:
        """Results of other data or settings cannot be compared with new ones."""
        difference = files.fingerprint_difference(self._ledger.fingerprint, fingerprint)
        if difference and self._ledger.metrics:
            kept = _keep_copy(os.path.join(self._output_dir, LEDGER_NAME))
            _LOGGER.info(
                "Every checkpoint is evaluated again: %s. The old results are kept as %s.",
                difference,
                kept,
            )
            self._ledger.forget(list(self._ledger.metrics))
        self._ledger.fingerprint = fingerprint

    def check_best_copy(self, checkpoints: Optional[Sequence[Checkpoint]]) -> None:
        """Refuses to lose a model.ckpt-best that was not made here, before any work is done."""
        identity = _identity(self._best_path)
        if identity is None:
            return
        # Damage leaves the index or the size of the data as it was.
        ours = [copy for copy in self._ledger.copies if identity.items() & copy.items()]
        if ours and self._is_damaged(Checkpoint(ours[-1]["step"], self._best_path)):
            return  # it is copied anew
        if self._copied_checkpoint():
            return
        for other in list_checkpoints(self._output_dir) + list(checkpoints or []):
            if identity == _identity(other.path):
                self._ledger.copies.append(dict(identity, step=other.step))
                return
        raise ValueError(
            f"'{self._best_path}' was not made by this evaluation (no {LEDGER_NAME} beside it "
            "says so), and no other checkpoint equals it: it would be lost. Move or rename it, or "
            "choose another output folder."
        )

    @property
    def has_seen_some(self) -> bool:
        """Whether there was anything to evaluate, now or before."""
        return bool(self._ledger.metrics or self._damaged)

    def last_step(self) -> int:
        """The last step that was evaluated; 0 if there was none."""
        return max([0, *self._ledger.metrics])

    def wait(self, seconds: float) -> bool:
        """Whether a later checkpoint appears, or one that was damaged anew, in so many seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(min(_POLL_SECONDS, seconds))
            self._forget_rewritten()
            later = [c for c in list_checkpoints(self._output_dir) if c.step > self.last_step()]
            if any(checkpoint.path not in self._damaged for checkpoint in later):
                return True
        _LOGGER.info("No new checkpoint in %s for %g seconds.", self._output_dir, seconds)
        return False

    def _forget_rewritten(self) -> None:
        """Training that goes on before a damaged checkpoint comes to write it again."""
        for path, written in list(self._read.items()):
            if written != _written(path):
                del self._read[path]
                self._damaged.pop(path, None)
                self._whole.discard(path)

    def evaluate(
        self,
        checkpoints: Optional[Sequence[Checkpoint]],
        evaluate_fn: Callable[[str], Mapping[str, float]],
        *,
        untrained_too: bool,
    ) -> List[int]:
        """Evaluates what is new among `checkpoints` (None: all there are); returns the steps."""
        self._forget_rewritten()
        present = self._present(checkpoints)
        damaged = len(self._damaged)
        wanted = {c.path for c in checkpoints or present.values()} | {self._best_path}
        pending = [
            checkpoint
            for step, checkpoint in present.items()
            if step not in self._ledger.metrics
            and checkpoint.path in wanted
            and (step or untrained_too or checkpoints)
        ]
        # The copy comes first: a better one would replace it before its turn.
        pending.sort(key=lambda c: (c.path != self._best_path, c.step))
        evaluated = []
        for number, checkpoint in enumerate(pending, start=1):
            position = f"{number} of {len(pending)}"
            _LOGGER.info("Evaluating %s (%s)", checkpoint.path, position)
            if list(present) == [0]:
                _LOGGER.warning("No other is there: the results are of an untrained model.")
            if self._evaluate_one(checkpoint, evaluate_fn):
                evaluated.append(checkpoint.step)
                self._keep_best(present)
            if len(self._damaged) > damaged:
                # The copy of the best may stand in for it, and then comes first.
                more = self.evaluate(checkpoints, evaluate_fn, untrained_too=untrained_too)
                return evaluated + more
        if self._ledger.metrics and not evaluated:
            self._keep_best(present)
        return evaluated

    def _present(self, checkpoints: Optional[Sequence[Checkpoint]]) -> Dict[int, Checkpoint]:
        """Step -> checkpoint that is there now and not known to be damaged, the best included."""
        present = {c.step: c for c in list_checkpoints(self._output_dir)}
        for checkpoint in checkpoints or []:
            if not _suffixes(checkpoint.path):
                raise ValueError(f"There is no whole checkpoint '{checkpoint.path}' to evaluate.")
            present[checkpoint.step] = checkpoint
        replaced = [step for step, c in present.items() if self._is_replaced(c)]
        present = {step: c for step, c in present.items() if c.path not in self._damaged}
        copy = self._copied_checkpoint()
        if replaced:
            # Somebody trained anew: what is known of checkpoints that are gone is of old weights.
            _LOGGER.info("Evaluated again, since its weights are new: step %s.", sorted(replaced))
            self._ledger.forget(set(replaced) | set(self._ledger.metrics) - set(present))
        elif copy:
            present.setdefault(copy.step, copy)
        return present

    def _is_replaced(self, checkpoint: Checkpoint) -> bool:
        """Whether other weights than these were evaluated under the same step."""
        known, found = self._ledger.identities.get(checkpoint.step), _identity(checkpoint.path)
        is_other = known is not None and found is not None and known != found
        return is_other and not self._is_damaged(checkpoint)

    def _is_damaged(self, checkpoint: Checkpoint) -> bool:
        """Reads all of it, once; one that is damaged is passed over from now on."""
        path = checkpoint.path
        if path not in self._whole and path not in self._damaged:
            self._read[path] = _written(path)
            damage = checkpoint_files.find_damage(path)
            if damage and _identity(path):  # otherwise it was deleted
                self._damaged[path] = checkpoint.step
                _LOGGER.warning("%s cannot be read (%s): passed over.", path, damage)
            elif not damage:
                self._whole.add(path)
        return path in self._damaged

    def _copied_checkpoint(self) -> Optional[Checkpoint]:
        """What lies under model.ckpt-best, if it was put there by an evaluation."""
        identity = _identity(self._best_path)
        if identity is None or self._best_path in self._damaged:
            return None
        for copy in self._ledger.copies:
            if copy == dict(identity, step=copy["step"]):
                return Checkpoint(copy["step"], self._best_path)
        return None

    def _evaluate_one(
        self, checkpoint: Checkpoint, evaluate_fn: Callable[[str], Mapping[str, float]]
    ) -> bool:
        """False if training deleted the checkpoint meanwhile, or it is damaged."""
        identity = _identity(checkpoint.path)
        # Before, since TensorFlow would complain at length. It costs little beside an evaluation.
        if identity and self._is_damaged(checkpoint):
            return False
        try:
            measured = evaluate_fn(checkpoint.path) if identity else None
        except Exception:
            if _identity(checkpoint.path):
                raise
            measured = None
        if measured is None:
            _LOGGER.warning("%s was deleted before it was evaluated.", checkpoint.path)
            return False
        metrics = {name: _number(value) for name, value in measured.items()}
        metrics.setdefault("global_step", checkpoint.step)
        if self._best_metric not in metrics:
            raise ValueError(
                f"The best checkpoint is chosen by '{self._best_metric}', which is not measured; "
                f"measured are {sorted(metrics)}."
            )
        _LOGGER.info(
            "Step %d: %s", checkpoint.step, ", ".join(_lines(metrics, skipped="global_step"))
        )
        self._ledger.add(checkpoint.step, metrics, identity)
        return True

    def _best_step(self, present: Mapping[int, Checkpoint]) -> Optional[int]:
        """The best of the checkpoints that are still there."""
        sign = 1.0 if self._higher_is_better else -1.0
        is_trained = any([*present, *self._damaged.values()])  # any step above 0
        candidates = []
        for step, metrics in self._ledger.results():
            value = sign * metrics.get(self._best_metric, math.nan)
            path = present[step].path if step in present else ""
            is_there = path and path not in self._damaged and _suffixes(path)
            if is_there and math.isfinite(value) and (step or not is_trained):
                losses = [metrics[name] for name in _LOSSES if name in metrics]
                gains = [-loss if math.isfinite(loss) else -math.inf for loss in losses]
                candidates.append((value, gains, step))
        return max(candidates, default=(None,))[-1]

    def _keep_best(self, present: Mapping[int, Checkpoint]) -> None:
        """Writes the results, and copies the best checkpoint if it is not there already."""
        step = self._ledger.best_step = self._best_step(present)
        copy = self._copied_checkpoint()
        wanted = None if step is None else dict(self._ledger.identities[step], step=step)
        is_copied = wanted is None or (copy is not None and wanted == self._entry(copy))
        if not is_copied:
            # Before the copy is begun the ledger knows what lies there and what will.
            kept = [self._entry(copy)] if copy else []
            self._ledger.copies = [*kept, wanted]
        self._ledger.save(self._texts())
        if not is_copied:
            self._copy_best(step, present)

    def _copy_best(self, step: int, present: Mapping[int, Checkpoint]) -> None:
        """Falls back to the next best where training deletes the best while it is copied."""
        source = present[step].path
        if self._is_damaged(present[step]):
            self._keep_best(present)
            return
        try:
            _copy_checkpoint(source, self._best_path)
        except tf.errors.NotFoundError:
            if _suffixes(source):
                raise
            _LOGGER.warning("%s was deleted before it was copied.", source)
            self._keep_best(present)
            return
        self._damaged.pop(self._best_path, None)
        value = self._ledger.metrics[step][self._best_metric]
        _LOGGER.info("Best so far: step %d with %s = %s", step, self._best_metric, value)

    @staticmethod
    def _entry(copy: Checkpoint) -> Dict[str, Any]:
        """How the ledger names a copy."""
        return dict(_identity(copy.path), step=copy.step)

    def _texts(self) -> Dict[str, str]:
        """The text files that tell the ledger's results."""
        results = self._ledger.results()
        lines = [line for _, metrics in results for line in _lines(metrics)]
        texts = {RESULTS_NAME: "".join(f"{line}\n" for line in lines)}
        best = self._ledger.best_step
        if self._write_best_trial and best is not None:
            value = self._ledger.metrics[best][self._best_metric]
            texts[BEST_TRIAL_NAME] = f"{results[-1].step}:{best}:{value}"
        return texts

    def summary(self, evaluated_steps: Sequence[int]) -> EvaluationSummary:
        """What the caller gets."""
        results, step = self._ledger.results(), self._ledger.best_step
        if self._damaged and (step is None or not results):
            damaged = ", ".join(self._damaged)
            raise ValueError(
                f"There is no best checkpoint in '{self._output_dir}': {damaged} cannot be read, "
                f"and no other has a finite {self._best_metric}. Copy what is damaged again, or "
                "train anew in another folder."
            )
        if not results:
            raise ValueError(
                f"There is no checkpoint model.ckpt-<step> in '{self._output_dir}' to evaluate. "
                "Train first, or name the folder that was trained in."
            )
        if step is None:
            _LOGGER.warning("No checkpoint has a finite %s: none is best.", self._best_metric)
            return EvaluationSummary(results, None, None, list(evaluated_steps))
        best = Evaluation(step, self._ledger.metrics[step])
        return EvaluationSummary(results, best, self._best_path, list(evaluated_steps))


def _number(value: Any) -> float:
    """A Python number that prints as short as the NumPy one: float32 0.1 as 0.1."""
    value = np.asarray(value)[()]
    if isinstance(value, np.integer):
        return int(value)
    return float(str(value)) if isinstance(value, np.float32) else float(value)


def _lines(metrics: Mapping[str, float], skipped: str = "") -> List[str]:
    """`key = value`, sorted by key."""
    return [f"{name} = {metrics[name]}" for name in sorted(metrics) if name != skipped]
