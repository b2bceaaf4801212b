# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The results of many fine-tuning runs: a table over tasks and seeds, as text, JSON and picture."""

import math
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np

from albert.util import files, progress

TEXT_NAME = "results.txt"
JSON_NAME = "results.json"
PICTURE_NAME = "results.png"
FORMAT_VERSION = 1

# What run_summary.json calls metrics but nobody compares tasks by.
_NOT_SCORES = ("loss", "confusion", "global_step", "MSE", "examples")

_HEAD = ("task", "metric", "seeds", "mean", "deviation", "best step", "examples/s", "wall time")
_BLUE, _PALE, _GREY = "#2457a6", "#9db7e0", "#4a5166"


class Run(NamedTuple):
    """One finished run: what its run_summary.json says.

    Attributes:
      task, seed: which run.
      metric: name of the metric that chose the checkpoint.
      best_step: step of that checkpoint; not a number if none could be chosen.
      metrics: all numbers of that checkpoint, by name.
      train_examples_per_second: speed of the training; None if nothing was trained.
      wall_seconds: from start to end of the process, over all its starts.
    """

    task: str
    seed: int
    metric: str
    best_step: float
    metrics: Dict[str, Any]
    train_examples_per_second: Optional[float]
    wall_seconds: float


class Row(NamedTuple):
    """One metric of one task over all its seeds.

    Attributes:
      task, metric: which numbers.
      decides: whether this metric chose the checkpoints.
      values: by seed.
      mean: of the values.
      deviation: their sample standard deviation; None for a single seed.
      best_step: mean over the seeds.
      examples_per_second: mean speed of training over the seeds, or None.
      wall_seconds: mean over the seeds.
    """

    task: str
    metric: str
    decides: bool
    values: Dict[int, float]
    mean: float
    deviation: Optional[float]
    best_step: float
    examples_per_second: Optional[float]
    wall_seconds: float


def read_run(path: str) -> Run:
    """Returns the run that a run_summary.json describes.

    Raises:
      ValueError: the file is something else.
    """
    try:
        content = files.read_json_object(path)
        return Run(
            task=content["task"],
            seed=int(content["seed"]),
            metric=content["metric"],
            best_step=_number(content["best_step"]),
            metrics=dict(content["metrics"], **{content["metric"]: _number(content["value"])}),
            train_examples_per_second=content["train_examples_per_second"],
            wall_seconds=float(content["wall_seconds"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no summary of a run ({error!r}). Remove it.") from error


def _number(value: Any) -> float:
    """Not a number where no checkpoint could be chosen."""
    return float("nan") if value is None else float(value)


def make_rows(runs: Sequence[Run]) -> List[Row]:
    """Returns the rows of the table, tasks in the order of the runs.

    The metric that chose the checkpoints comes first; after it the task's other scores by name.
    """
    by_task: Dict[str, List[Run]] = {}
    for run in runs:
        by_task.setdefault(run.task, []).append(run)
    return [
        _make_row(group, metric, decides=metric == group[0].metric)
        for group in by_task.values()
        for metric in _scores(group)
    ]


def _scores(runs: Sequence[Run]) -> List[str]:
    """The metrics that every run of a task has and that are shares or correlations."""
    first = runs[0].metric
    others = [
        name
        for name, value in sorted(runs[0].metrics.items())
        if isinstance(value, (int, float))
        and not isinstance(value, bool)
        and name != first
        and not any(word in name for word in _NOT_SCORES)
        and all(name in run.metrics for run in runs)
    ]
    return [first] + others


def _make_row(runs: Sequence[Run], metric: str, *, decides: bool) -> Row:
    values = {run.seed: float(run.metrics[metric]) for run in runs}
    speeds = [run.train_examples_per_second for run in runs if run.train_examples_per_second]
    return Row(
        task=runs[0].task,
        metric=metric,
        decides=decides,
        values=values,
        mean=float(np.mean(list(values.values()))),
        deviation=float(np.std(list(values.values()), ddof=1)) if len(values) > 1 else None,
        best_step=float(np.mean([run.best_step for run in runs])),
        examples_per_second=float(np.mean(speeds)) if speeds else None,
        wall_seconds=float(np.mean([run.wall_seconds for run in runs])),
    )


def format_table(rows: Sequence[Row]) -> str:
    """Returns the table as text; scores in per cent, times as means over the seeds."""
    cells = [_HEAD] + [_cells(row) for row in rows]
    widths = [max(len(line[place]) for line in cells) for place in range(len(_HEAD))]
    lines = []
    for line in cells:
        # Names to the left, numbers to the right.
        padded = [
            text.ljust(width) if place < 2 else text.rjust(width)
            for place, (text, width) in enumerate(zip(line, widths))
        ]
        lines.append("  ".join(padded).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> List[str]:
    score = [row.metric, str(len(row.values)), _percent(row.mean), _percent(row.deviation)]
    if not row.decides:  # the run is described in the task's first row
        return ["", *score, "", "", ""]
    speed = "-" if row.examples_per_second is None else f"{row.examples_per_second:.1f}"
    time = progress.format_seconds(row.wall_seconds)
    return [row.task, *score, f"{row.best_step:.0f}", speed, time]


def _percent(value: Optional[float]) -> str:
    """nan stays visible: a constant predictor has no correlation."""
    return "-" if value is None else f"{100 * value:.2f}"


def write_results(folder: str, runs: Sequence[Run], *, title: str) -> List[str]:
    """Writes the table into a folder as text, as JSON and, if matplotlib is there, as a picture.

    Args:
      folder: made if need be.
      runs: at least one.
      title: heading of the picture.

    Returns:
      The files' paths.
    """
    rows = make_rows(runs)
    paths = [os.path.join(folder, name) for name in (TEXT_NAME, JSON_NAME, PICTURE_NAME)]
    files.atomic_write_text(paths[0], format_table(rows))
    content = {
        "format_version": FORMAT_VERSION,
        "rows": [_as_json(row._asdict()) for row in rows],
        "runs": [_as_json(run._asdict()) for run in runs],
    }
    files.atomic_write_json(paths[1], content)
    if not has_plots():
        return paths[:2]
    draw(paths[2], rows, title=title)
    return paths


def _as_json(value: Any) -> Any:
    """JSON knows no NaN: it becomes null."""
    if isinstance(value, Mapping):
        return {str(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def draw(path: str, rows: Sequence[Row], *, title: str) -> None:
    """Draws each metric's seeds as dots, with mean and deviation, into a PNG file."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    finite = [row for row in rows if math.isfinite(row.mean)]
    places = _places(finite)
    with matplotlib.rc_context({"font.family": "sans-serif", "font.size": 10}):
        figure, axes = pyplot.subplots(figsize=(8.5, 1.5 + 0.34 * max(places, default=1)))
        for place, row in zip(places, finite):
            _draw_row(axes, place, row)
        axes.set_yticks(places)
        axes.set_yticklabels([_label(row) for row in finite])
        axes.set_ylim(max(places, default=0) + 0.7, -0.7)
        # Room on the right for the numbers.
        lowest = min([0.0] + [100 * min(row.values.values()) for row in finite])
        axes.set_xlim(lowest - 2, 128)
        axes.set_xticks(range(int(lowest // 20) * 20, 101, 20))
        axes.set_xlabel("% (dots: seeds; bar: mean; whisker: standard deviation)", color=_GREY)
        axes.set_title(title, loc="left", fontsize=12, fontweight="bold")
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_bounds(lowest, 100)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="#e4e8f0")
        axes.set_axisbelow(True)
        figure.tight_layout()
        with files.atomic_path(path) as temporary:
            figure.savefig(temporary, format="png", dpi=150)
        pyplot.close(figure)


def has_plots() -> bool:
    """Returns whether a picture can be drawn, that is, whether matplotlib is installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def _places(rows: Sequence[Row]) -> List[float]:
    """Heights from the top, with a gap before each task."""
    places, place = [], -1.0
    for row in rows:
        place += 1.4 if row.decides and places else 1.0
        places.append(place)
    return places


def _label(row: Row) -> str:
    name = row.metric[len("eval_") :] if row.metric.startswith("eval_") else row.metric
    return f"{row.task}  {name}" if row.decides else name


def _draw_row(axes: Any, place: float, row: Row) -> None:
    mean = 100 * row.mean
    colour = _BLUE if row.decides else _PALE
    axes.barh(place, mean, height=0.62, color=colour, alpha=0.35, linewidth=0)
    if row.deviation is not None and math.isfinite(row.deviation):
        axes.errorbar(mean, place, xerr=100 * row.deviation, color=_BLUE, capsize=3, lw=1.4)
    values = [100 * value for value in row.values.values()]
    axes.plot(values, [place] * len(values), "o", color=_BLUE, ms=4, alpha=0.8, mew=0)
    spread = "" if row.deviation is None else f" ± {_percent(row.deviation)}"
    axes.text(103, place, f"{_percent(row.mean)}{spread}", va="center", color=_GREY)
