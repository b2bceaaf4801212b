# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The results of a sweep: a table over tasks, settings and seeds, as text, JSON and picture."""

import logging
import math
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from albert.classification.task_table import METRICS
from albert.configs import published
from albert.util import files, progress, wording

_LOGGER = logging.getLogger("albert")

TEXT_NAME, JSON_NAME, PICTURE_NAME = "results.txt", "results.json", "results.png"
FORMAT_VERSION = 1
# Other metrics in run_summary.json are no scores.
_SCORES = tuple(name for name, higher_is_better in METRICS.items() if higher_is_better)
_HEAD = ("task", "metric", "seeds", "mean", "deviation", "best step", "examples/s", "wall time")


class Run(NamedTuple):
    """A finished run, as its run_summary.json describes it."""

    task: str
    seed: int
    metric: str  # the one that chose the checkpoint
    best_step: float  # NaN: no checkpoint was chosen
    metrics: Dict[str, Any]  # of that checkpoint
    train_examples_per_second: Optional[float]
    wall_seconds: float
    model: Optional[Dict[str, Any]] = None  # a published.Model, if it is of a published size
    setting: str = ""  # such as "learning_rate=1e-5"; "" where there is only one

    @property
    def score(self) -> float:
        """Returns the deciding metric, negative where less is better, and -inf for NaN."""
        value = self.metrics[self.metric] * (1 if METRICS.get(self.metric, True) else -1)
        return -math.inf if math.isnan(value) else value


_SUMMARY_TYPES = {  # see files.check_types
    **{"task": str, "seed": int, "metric": str, "best_step": (int, None), "model": (dict, None)},
    **{"metrics": {str: (float, int)}, "wall_seconds": (float, int)},
    "train_examples_per_second": (float, int, None),
}


def read_run(path: str, setting: str = "") -> Run:
    """Returns the run that a run_summary.json describes; raises UserError for another file."""
    content = files.read_json_object(path, _SUMMARY_TYPES)
    run = Run(**{name: content[name] for name in _SUMMARY_TYPES}, setting=setting)
    if run.best_step is None:
        run = run._replace(best_step=math.nan, metrics={**run.metrics, run.metric: math.nan})
    return run


class Row(NamedTuple):
    """One metric of one task and setting over all seeds."""

    task: str
    setting: str
    is_best: bool  # among the task's settings
    metric: str
    decides: bool  # whether this metric chose the checkpoints
    values: Dict[int, float]  # by seed
    mean: float
    deviation: Optional[float]  # of the sample; None for a single seed
    best_step: float  # this and the next two are means
    examples_per_second: Optional[float]
    wall_seconds: float

    @property
    def name(self) -> str:
        """Returns task and setting, and whether it is the best."""
        best = " (best)" if self.setting and self.is_best else ""
        return ", ".join(filter(None, [self.task, self.setting])) + best

    @property
    def percent(self) -> Tuple[str, str]:
        """Returns mean and deviation in per cent."""
        deviation = "-" if self.deviation is None else f"{100 * self.deviation:.2f}"
        return f"{100 * self.mean:.2f}", deviation


def make_rows(runs: Sequence[Run]) -> List[Row]:
    """Returns the table's rows: of each task and setting the deciding metric, then the others."""
    groups: Dict[Tuple[str, str], List[Run]] = {}
    for run in runs:
        groups.setdefault((run.task, run.setting), []).append(run)
    best: Dict[str, str] = {}  # task -> setting; of equal ones the first
    for task, setting in sorted(groups, key=lambda key: -_mean([run.score for run in groups[key]])):
        best.setdefault(task, setting)
    rows = []
    for (task, setting), group in groups.items():
        decides = group[0].metric
        common = set.intersection(*(set(run.metrics) for run in group)) - {decides}
        speeds = [run.train_examples_per_second for run in group if run.train_examples_per_second]
        for metric in [decides, *sorted(name for name in common if name.startswith(_SCORES))]:
            values = {run.seed: float(run.metrics[metric]) for run in group}
            row = Row(
                *(task, setting, best[task] == setting, metric, metric == decides, values),
                mean=_mean([*values.values()]),
                deviation=float(np.std([*values.values()], ddof=1)) if len(values) > 1 else None,
                best_step=_mean([run.best_step for run in group]),
                examples_per_second=_mean(speeds) if speeds else None,
                wall_seconds=_mean([run.wall_seconds for run in group]),
            )
            rows.append(row)
    return rows


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def compare(runs: Sequence[Run]) -> List[published.Comparison]:
    """Returns each task's scores, at its best setting, beside what is published of the model."""
    found = []
    for row in filter(lambda row: row.is_best, make_rows(runs)):
        models = [run.model for run in runs if (run.task, run.setting) == (row.task, row.setting)]
        if models[0] and models.count(models[0]) == len(models):
            model = published.Model(models[0]["size"], tuple(models[0]["presets"]))
            scores = {row.metric: [100 * value for value in row.values.values()]}
            found += published.compare(row.task, model, scores)
    return found


def format_results(runs: Sequence[Run]) -> str:
    """Returns the table and what is published of its scores; per cent, times are means."""
    cells = [_HEAD]
    for row in make_rows(runs):
        score = (row.metric, str(len(row.values)), *row.percent)
        speed = f"{row.examples_per_second:.1f}" if row.examples_per_second else "-"
        times = (f"{row.best_step:.0f}", speed, progress.format_seconds(row.wall_seconds))
        # The first row of a task and setting has what its rows share.
        cells.append((row.name, *score, *times) if row.decides else ("", *score, "", "", ""))
    lines = wording.table(cells, left=(0, 1))
    beside = published.table(compare(runs))
    if beside:
        lines += ["", "Beside published results, in per cent", "", *beside]
    return "".join(f"{line}\n" for line in lines)


def write_results(folder: str, runs: Sequence[Run], *, title: str) -> List[str]:
    """Writes the table as text, JSON and, with matplotlib, a picture; returns the paths."""
    rows = make_rows(runs)
    names = (TEXT_NAME, JSON_NAME, PICTURE_NAME)
    text, content, picture = (os.path.join(folder, name) for name in names)
    files.atomic_write_text(text, format_results(runs))
    value = {
        "format_version": FORMAT_VERSION,
        "rows": [_as_json(row._asdict()) for row in rows],
        "published": [comparison._asdict() for comparison in compare(runs)],
        "runs": [_as_json(run._asdict()) for run in runs],
    }
    files.atomic_write_json(content, value)
    try:
        _draw(picture, rows, title)
    except ImportError:
        _LOGGER.info("For a picture of the results: pip install 'albert-tf[plots]'.")
        return [text, content]
    return [text, content, picture]


def _as_json(value: Any) -> Any:
    """NaN becomes null, which JSON can write."""
    if isinstance(value, Mapping):
        return {str(key): _as_json(item) for key, item in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value


def _draw(path: str, rows: Sequence[Row], title: str) -> None:
    """Draws each metric's seeds as dots, with mean and deviation, into a PNG file."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    rows = [row for row in rows if math.isfinite(row.mean)]
    figure, axes = pyplot.subplots(figsize=(8.5, 1.8 + 0.34 * len(rows)))
    axes.barh(
        range(len(rows)),
        [100 * row.mean for row in rows],
        xerr=[100 * (row.deviation or 0) for row in rows],
        tick_label=[f"{row.name}  {row.metric}" for row in rows],
        color=["#a9c0e2" if row.decides else "#dbe4f3" for row in rows],
    )
    for index, row in enumerate(rows):
        values = [100 * value for value in row.values.values()]
        axes.plot(values, [index] * len(values), "o", color="#2457a6", markersize=4)
        axes.text(103, index, " ± ".join(row.percent), va="center")
    axes.invert_yaxis()
    axes.set_xlim(right=128)  # room for the numbers
    axes.set_xlabel("% (dots: seeds; bar: mean; whisker: standard deviation)")
    axes.set_title(title, loc="left")
    figure.tight_layout()
    with files.atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=150)
    pyplot.close(figure)
