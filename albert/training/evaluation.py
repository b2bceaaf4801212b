# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Evaluates each checkpoint of a folder once, in step order, and keeps the best.

The folder gets
  eval_results.json   the ledger: results, fingerprint of data and flags, best checkpoint
  eval_results.txt    the same results as sorted `key = value` lines, one block per checkpoint
  model.ckpt-best.*   a copy of the best checkpoint

Later evaluations measure only new checkpoints. Results of deleted checkpoints stay. If the data or
flags change, or a checkpoint is written again, it is evaluated again. The file `checkpoint` does
not change.
"""

import contextlib
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
    Set,
)

import tensorflow.compat.v1 as tf

from albert.formats import checkpoints
from albert.formats.model_paths import BEST_CHECKPOINT, list_checkpoints
from albert.training.run_files import (
    IDENTITY_SCHEMA,
    LEDGER_NAME,
    METRICS_SCHEMA,
    STEM,
    Evaluation,
    rank_of,
    read_ledger,
    read_results,
)
from albert.util import UserError, files, folder_lock, json_files, log, provenance

_SINGLE = {"checkpoint": (str, None), "identity": IDENTITY_SCHEMA, **METRICS_SCHEMA}
_POLL_SECONDS = 10.0


EvaluateFn = Callable[[str], Mapping[str, float]]  # checkpoint path -> {metric: number}


class EvaluationSummary(NamedTuple):
    """All results in step order, the best result, its copy, and the steps evaluated in this run."""

    results: List[Evaluation]
    best: Optional[Evaluation]
    best_checkpoint: Optional[str]
    evaluated_steps: List[int]


# ---- checkpoints on disk ----


def step_in(checkpoint: str) -> Optional[int]:
    """Returns the training step in a checkpoint, if any; UserError if the checkpoint is corrupt."""
    with checkpoints.explained(checkpoint):
        reader = checkpoints.open_reader(checkpoint)
        has_step = reader.has_tensor("global_step")
        return int(reader.get_tensor("global_step")) if has_step else None


def identity(checkpoint: str) -> str:
    """Returns the hash of a checkpoint's index, which has all checksums; "" if it was deleted."""
    try:
        return files.sha256(checkpoint + ".index")
    except (UserError, tf.errors.NotFoundError):
        return ""


def _copy(source: str, target: str) -> None:
    """Replaces checkpoint `target`. If a file of `source` is deleted meanwhile, `target` stays."""
    with contextlib.ExitStack() as stack:
        # The renames happen in reverse order, the index last.
        for path in dict.fromkeys([source + ".index", *files.glob(source + ".*")]):
            temporary = stack.enter_context(files.atomic_path(target + path[len(source) :]))
            tf.io.gfile.copy(path, temporary, overwrite=True)
        tf.train.remove_checkpoint(target)


# ---- the ledger ----


def set_aside(output_dir: str) -> None:
    """Moves the results and best checkpoint of an earlier, deleted training to a new folder."""
    if not files.exists(os.path.join(output_dir, LEDGER_NAME)):
        return
    with folder_lock.held(output_dir, folder_lock.EVALUATION, waits=True):
        folder = files.unused_name(os.path.join(output_dir, "results"))
        files.make_folders(folder)
        # Move the results last, because they prove that the other files are ours.
        for pattern in (f"{BEST_CHECKPOINT}.*", "run_summary.json", f"{STEM}.*"):
            for path in files.glob(os.path.join(output_dir, pattern)):
                files.rename(path, os.path.join(folder, os.path.basename(path)))
    log.info("Moved the results of an earlier training to %s.", folder)


def _lines(metrics: Mapping[str, Any]) -> List[str]:
    """Returns lines `key = value`, sorted by key."""
    return [f"{name} = {metrics[name]}" for name in sorted(metrics)]


def _write(stem: str, content: Mapping[str, Any], blocks: Iterable[Mapping[str, Any]]) -> None:
    """Writes results as JSON and as text."""
    files.atomic_write_json(f"{stem}.json", content)
    lines = [f"{line}\n" for metrics in blocks for line in _lines(metrics)]
    files.atomic_write_text(f"{stem}.txt", "".join(lines))


def _in_short(metrics: Mapping[str, Any]) -> str:
    """Returns the metrics with 4 digits, for the log; without global_step, which it has already."""
    rounded = {
        name: value if isinstance(value, int) else f"{value:.4g}"
        for name, value in metrics.items()
        if name != "global_step"
    }
    return ", ".join(_lines(rounded))


# ---- evaluation of all checkpoints ----


class _Rules(NamedTuple):
    """How to measure checkpoints and choose the best.

    Attributes:
      best_metric: name of the metric that chooses the best checkpoint.
      fingerprint: JSON values that describe the evaluation (data, batches, precision, ...). If the
        recorded fingerprint differs, all checkpoints are evaluated again.
      untrained_too: whether to measure model.ckpt-0 too.
    """

    best_metric: str
    fingerprint: Mapping[str, Any]
    untrained_too: bool = False


def evaluate_checkpoints(
    output_dir: str,
    evaluate_fn: EvaluateFn,
    *,
    wait_seconds: float = 0.0,
    final_step: Optional[int] = None,
    **rules: Any,
) -> EvaluationSummary:
    """Evaluates the checkpoints that have not been evaluated yet, and keeps a copy of the best.

    Results are written after each checkpoint, so an interrupted evaluation resumes. The best
    checkpoint has the best finite `best_metric`. In a tie, the lower `loss` or `eval_loss` wins,
    then the later step. The best can be the copy of a deleted checkpoint, but never model.ckpt-0.
    Corrupt checkpoints are skipped.

    Args:
      wait_seconds: wait for new checkpoints of another process; give up after this time without
        one. Meanwhile, other processes may evaluate.
      final_step: stop waiting after a checkpoint of this step or a later one.
      rules: best_metric, fingerprint, untrained_too; see _Rules.

    Returns:
      The summary; `best` is None if `best_metric` is never finite.

    Raises:
      UserError: there is no checkpoint; `best_metric` is not measured; eval_results.json is damaged
        or from another program; or another program's model.ckpt-best would be overwritten.
    """
    folder, rule = str(output_dir), _Rules(**rules)
    evaluated: List[int] = []
    corrupt: Set[str] = set()
    end = time.monotonic() + wait_seconds
    while True:
        # If two evaluations run at once, the second waits, and reuses the results of the first.
        with folder_lock.held(folder, folder_lock.EVALUATION, waits=True):
            steps = _evaluate_new(folder, rule, evaluate_fn, corrupt=corrupt)
            results, best_step = read_results(folder), read_ledger(folder)["best_step"]
        evaluated += steps
        if steps:
            end = time.monotonic() + wait_seconds
        is_final = final_step is not None and results and results[-1].step >= final_step
        if is_final or time.monotonic() >= end:
            break
        time.sleep(min(_POLL_SECONDS, wait_seconds))
    best = dict(results).get(best_step)
    if best:
        copy = os.path.join(folder, BEST_CHECKPOINT)
        score = _in_short({rule.best_metric: best[rule.best_metric]})
        words = "Best of %d evaluated checkpoints: step %d with %s; kept as %s."
        log.info(words, len(results), best_step, score, copy)
        return EvaluationSummary(results, Evaluation(best_step, best), copy, evaluated)
    if not (results and {*map(identity, _present(folder, rule).values())} - corrupt):
        raise UserError(
            f"'{folder}' has no readable checkpoint model.ckpt-<step> to evaluate. Train first, "
            "or give the --output_dir of a training."
        )
    log.warning("No checkpoint has a finite %s, so there is no best one.", rule.best_metric)
    return EvaluationSummary(results, None, None, evaluated)


def _evaluate_new(
    folder: str, rules: _Rules, evaluate_fn: EvaluateFn, *, corrupt: Set[str]
) -> List[int]:
    """Evaluates the checkpoints that have no result; returns their steps.

    `corrupt` has the identities of unreadable checkpoints. They are skipped; new ones are added.
    """
    results, evaluated = _comparable_results(folder, rules.fingerprint), []
    for step, path in _present(folder, rules).items():
        checkpoint, measured = identity(path), results.get(step, {}).get("checkpoint")
        if checkpoint in (measured, *corrupt):
            continue
        try:
            # Convert by text, so that a float32 0.1 is written as 0.1.
            metrics = {
                name: value if isinstance(value, int) else float(str(value))
                for name, value in evaluate_fn(path).items()
            }
            if rules.best_metric not in metrics:
                raise UserError(
                    f"Cannot choose the best checkpoint by {rules.best_metric!r}. The metrics are "
                    f"{sorted(metrics)}."
                )
            metrics["global_step"] = step
            results[step] = {"step": step, "checkpoint": checkpoint, "metrics": metrics}
            log.info("Step %d: %s", step, _in_short(metrics))
            evaluated.append(step)
            _record(folder, rules, results)
        except Exception:
            damage = checkpoints.find_damage(path)
            if not damage:
                raise
            log.warning("Skipping %s, which is corrupt or deleted (%s).", path, damage)
            corrupt.add(checkpoint)
    if results:
        _record(folder, rules, results)
    return evaluated


def _comparable_results(folder: str, fingerprint: Mapping[str, Any]) -> Dict[int, Any]:
    """Returns the results by step. If their fingerprint differs, renames the file and returns {}.

    Raises UserError if another program wrote model.ckpt-best.
    """
    ledger, stem = read_ledger(folder), os.path.join(folder, STEM)
    results = {result["step"]: result for result in ledger["results"]}
    is_ours = results or files.exists(f"{stem}.txt")
    copy = os.path.join(folder, BEST_CHECKPOINT)
    originals = [identity(checkpoint.path) for checkpoint in list_checkpoints(folder)]
    if not is_ours and identity(copy) not in ("", *originals):
        raise UserError(
            f"Evaluation would overwrite '{copy}', which it did not write (there is no "
            f"{LEDGER_NAME}). Rename it, or choose another output folder."
        )
    difference = provenance.difference(ledger["fingerprint"], fingerprint)
    if not (results and difference):
        return results
    # Keep the old results: their checkpoints may be deleted.
    old = files.unused_name(f"{stem}.json")
    files.rename(f"{stem}.json", old)
    log.info("Evaluating all again, because %s. Old results: %s.", difference, old)
    return {}


def _present(folder: str, rules: _Rules) -> Dict[int, str]:
    """Returns the checkpoints by step.

    If the best one was deleted, its copy comes first, so that it is measured before it can be
    replaced.
    """
    present = {step: path for step, path in list_checkpoints(folder) if step or rules.untrained_too}
    copy = os.path.join(folder, BEST_CHECKPOINT)
    with contextlib.suppress(UserError):  # the copy is missing or corrupt
        step = step_in(copy)
        if step not in (None, *present):
            return {step: copy, **present}
    return present


def _record(folder: str, rules: _Rules, results: Mapping[int, Any]) -> None:
    """Writes the results, and copies the best checkpoint that still exists."""
    copy = os.path.join(folder, BEST_CHECKPOINT)
    paths = [copy, *dict(list_checkpoints(folder)).values()]
    present = [identity(path) for path in paths]
    ranks = [
        (rank_of(result["metrics"], rules.best_metric), step)
        for step, result in results.items()
        if step and result.get("checkpoint") in present
    ]
    rank, step = max(ranks, default=((-math.inf,), 0))
    best = step if rank[0] > -math.inf else None
    rows = [results[step] for step in sorted(results)]
    ledger = {
        "format_version": 1,
        "fingerprint": rules.fingerprint,
        "best_step": best,
        "results": rows,
    }
    # Record first. Otherwise a crash could leave a copy that seems to be another program's.
    _write(os.path.join(folder, STEM), ledger, [row["metrics"] for row in rows])
    if best and results[best]["checkpoint"] != present[0]:
        _copy(paths[present.index(results[best]["checkpoint"])], copy)


# ---- single checkpoints, and pruning ----


def evaluate_one(output_dir: str, measure: EvaluateFn, checkpoint: str) -> Dict[str, Any]:
    """Evaluates one checkpoint, and writes eval_results.NAME.txt and .json with global_step."""
    results: Dict[str, Any] = dict(measure(checkpoint))
    step = step_in(checkpoint)
    if step is not None:
        results["global_step"] = step
    log.info("%s, step %s: %s", checkpoint, step, _in_short(results))
    stem = os.path.join(output_dir, f"{STEM}.{os.path.basename(checkpoint)}")
    which = {"checkpoint": checkpoint, "identity": identity(checkpoint)}
    _write(stem, {**results, **which}, [results])
    return results


def recorded_metrics(checkpoint: str, output_dir: str) -> Dict[str, Any]:
    """Returns the metrics of a checkpoint recorded in `output_dir` or its own folder; or {}."""
    folder, name = os.path.split(checkpoint)
    sha256 = identity(checkpoint)
    for directory in (output_dir, folder):
        for result in read_ledger(directory)["results"]:
            if result.get("checkpoint") == sha256:
                return result["metrics"]
        path = os.path.join(directory, f"{STEM}.{name}.json")
        alone = json_files.read(path, _SINGLE, missing={})
        if alone.pop("identity", None) == sha256:
            alone.pop("checkpoint", None)
            return json_files.numbers(alone)
    return {}


def prune_checkpoints(output_dir: str, keep: int, evaluated: List[int]) -> None:
    """Deletes evaluated checkpoints beyond the newest `keep`; 0 keeps all."""
    # Count only evaluated checkpoints: a newer one that failed must not push out an intact one.
    paths = [item.path for item in list_checkpoints(output_dir) if item.step in evaluated]
    surplus = paths[:-keep] if keep else []
    for path in surplus:
        tf.train.remove_checkpoint(path)
    if surplus:
        log.info("Deleted old checkpoints: kept the newest %d of %d.", keep, len(paths))
