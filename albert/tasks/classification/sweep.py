# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A sweep: a run of run_classifier for each task, setting and seed, in a process of its own.

This process does not import TensorFlow. A server does it once, and each run is a fork of the
server.
"""

import json
import math
import multiprocessing
import os
import shlex
import sys
import tempfile
from typing import Any, Dict, List, Mapping, Sequence, Tuple

import numpy as np

from albert.configs import published
from albert.tasks.classification import predictions, sweep_run
from albert.tasks.classification.flags import SweepFlags
from albert.tasks.classification.sweep_run import LENDERS, MARKER_NAME, SweepRun, is_finished
from albert.training import metrics, run_files
from albert.util import UserError, files, folder_lock, log, parallel, wording
from albert.util import flags as flags_lib

# The server's socket needs a short path. Elsewhere, and on other systems, each run starts alone.
_CAN_FORK = sys.platform == "linux" and len(tempfile.gettempdir()) < 60
_SERVER = multiprocessing.get_context("forkserver" if _CAN_FORK else "spawn")
_SERVER.set_forkserver_preload(["albert.tasks.classification.sweep_server"])
LOG_NAME = "log.txt"  # in a run's folder
TEXT_NAME, JSON_NAME, SUBMISSION_NAME = "results.txt", "results.json", "glue_submission.zip"
# Other metrics in run_summary.json are no scores.
_SCORES = tuple(set(metrics.METRICS) - set(run_files.LOSSES))

Result = Mapping[str, Any]  # run_summary.json of a run, with its setting


# ---- The runs.


def _make_plan(flags: SweepFlags) -> List[SweepRun]:
    from albert.tasks.classification import sweep_plan

    return sweep_plan.make_plan(flags)


def sweep(flags: SweepFlags) -> None:
    """Does the runs that are not finished, and writes the results after each.

    Raises:
      UserError: inputs that cannot be used, another sweep into the same folder, or a failed run.
    """
    # The plan needs TensorFlow. Another process makes it, unless this one has TensorFlow already.
    processes = 1 if "tensorflow" in sys.modules else 2
    (plan,) = parallel.ordered_map(_make_plan, [flags], processes)
    folder = flags.output_dir
    if flags.dry_run:
        for run in plan:
            state = "finished" if is_finished(run) else "to do"
            print(f"# {run.name}: {state}\n{' '.join(map(shlex.quote, run.command))}")
        return
    results: List[Result] = []
    text = ""
    with folder_lock.held(folder):
        path = os.path.join(folder, flags_lib.RECORD_NAME)
        flags_lib.write_config(path, flags.explicit_values())
        for number, run in enumerate(plan, 1):
            if not is_finished(run):
                log.info("Run %s of %s: %s.", number, len(plan), run.name)
                _start(run)
            if run.task.name not in LENDERS:
                path = os.path.join(run.folder, run_files.SUMMARY_NAME)
                results.append(dict(run_files.read_summary(path), setting=run.setting))
                text, content = tabulate(results)
                files.atomic_write_text(os.path.join(folder, TEXT_NAME), text)
                no_nan = json.loads(json.dumps(content), parse_constant=lambda name: None)
                files.atomic_write_json(os.path.join(folder, JSON_NAME), no_nan)
        if flags.do_predict:
            _submit(os.path.join(folder, SUBMISSION_NAME), plan, results)
    print(text, end="", flush=True)


def _start(run: SweepRun) -> None:
    """Does a run; its output goes into its log, and to standard error behind its name."""
    marker, path = (os.path.join(run.folder, name) for name in (MARKER_NAME, LOG_NAME))
    files.atomic_write_json(marker, run.identity)
    reader, writer = _SERVER.Pipe(duplex=False)
    process = _SERVER.Process(  # type: ignore
        target=sweep_run.work, args=(run.command[2:], writer)
    )
    process.start()
    writer.close()
    line = ""
    with open(path, "a", encoding="utf-8") as log_file, open(
        reader.fileno(), encoding="utf-8", closefd=False
    ) as output:
        try:
            for line in output:
                print(line, end="", file=log_file, flush=True)
                print(f"[{run.name}] {line}", end="", file=sys.stderr, flush=True)
        except BaseException:
            process.terminate()  # it saves its steps
            log_file.write(output.read())  # to its end
            raise
    process.join()
    if process.exitcode:
        raise UserError(
            f"{run.name} failed with exit code {process.exitcode}, see {path}: {line.strip()}"
        )
    files.atomic_write_json(marker, dict(run.identity, is_finished=True))


# ---- The results.


def score_of(result: Result) -> float:
    """Returns the score of the best checkpoint, with larger values for better; -inf for none."""
    return run_files.rank_of(result["metrics"], result["metric"])[0]


def tabulate(results: Sequence[Result]) -> Tuple[str, Dict[str, Any]]:
    """Returns the table, with scores in per cent, and the content of results.json."""
    groups: Dict[Tuple[str, str], List[Result]] = {}
    for result in results:
        groups.setdefault((result["task"], result["setting"]), []).append(result)
    means = {key: np.mean(list(map(score_of, group))) for key, group in groups.items()}
    model, rows, beside = results[0].get("model"), [], []
    cells = [("task", "metric", "seeds", "mean", "deviation")]
    for (task, setting), group in groups.items():
        is_best = all(mean <= means[task, setting] for key, mean in means.items() if key[0] == task)
        label = task
        if setting:
            label += f", {setting} (best)" if is_best else f", {setting}"
        others = sorted(name for name in group[0]["metrics"] if name.startswith(_SCORES))
        for metric in dict.fromkeys([group[0]["metric"], *others]):
            values = {result["seed"]: result["metrics"].get(metric, math.nan) for result in group}
            scores = np.array(list(values.values()))
            spread = scores.std(ddof=1) if len(scores) > 1 else math.nan  # of the sample
            row = {"task": task, "setting": setting, "is_best": is_best, "metric": metric}
            rows.append(dict(row, mean=scores.mean(), deviation=spread, values=values))
            shown = (_shown(metric, value) for value in (scores.mean(), spread))
            cells.append((label, metric, str(len(group)), *shown))
            if model and is_best:
                percent = {metric: (100 * scores).tolist()}
                published_model = published.PublishedModel(model["size"], tuple(model["presets"]))
                beside += published.compare(task, published_model, percent)
    lines = wording.table(cells, left=(0, 1))
    if beside:
        lines += ["", "Your and published results, in per cent", ""]
        lines += published.comparison_table(beside)
    comparisons = [comparison._asdict() for comparison in beside]
    content = {"format_version": 1, "rows": rows, "published": comparisons, "runs": results}
    return "\n".join([*lines, ""]), content


def _shown(metric: str, value: float) -> str:
    """A score in per cent, or a loss as it is; "-" for NaN."""
    text = f"{value:.4f}" if metric in run_files.LOSSES else f"{100 * value:.2f}"
    return text.replace("nan", "-")


def _submit(path: str, plan: Sequence[SweepRun], results: Sequence[Result]) -> None:
    """Zips the predictions for GLUE of each task's best run; a borrower's is its lender's."""
    best = {}  # the last of equal ones
    for result in sorted(results, key=score_of):
        best[result["task"]] = result["setting"], result["seed"]
    chosen = [
        os.path.join(run.folder, name)
        for run in plan
        if best[LENDERS.get(run.task.name, run.task.name)] == (run.setting, run.seed)
        for name in run.task.submissions.values()
    ]
    written = list(filter(files.exists, chosen))
    if written:
        missing = predictions.zip_glue_submission(path, written)
        log.info("Wrote %s. Missing: %s.", path, ", ".join(missing) or "none")
