# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Draws training curves and evaluation results, and prints a table.

  python -m albert plot output/base
  python -m albert plot output/rte-1 output/rte-2 --output_file=rte.png

Give the --output_dir of each run. Lines show training_curve.csv, dots show eval_results.json. A
classifier also has its confusion matrix, with the recall of each label and the precision of each
prediction. The command needs matplotlib: pip install 'albert-tf[plots]'.
"""

import dataclasses
import os
import re
import statistics
import sys
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from albert.training import run_files
from albert.util import cli, files, json_files, wording
from albert.util.errors import UserError, needing
from albert.util.flags import BaseFlags, flag

_FORMATS = (".png", ".pdf", ".svg")


@dataclasses.dataclass(frozen=True)
class Flags(BaseFlags):
    """The script's flags, and the folders to draw."""

    output_file: str = flag("albert.png", "PNG, PDF or SVG file to write.", path=True)
    folders: Tuple[str, ...] = flag((), positional=True)

    def check(self) -> None:
        """Checks the folders and the output file."""
        super().check()
        for name in self.folders:
            if name.startswith("-"):
                raise UserError(f"Unknown flag {name}.")
        if not self.output_file.lower().endswith(_FORMATS):
            raise UserError(
                f"--output_file={self.output_file} must end in {wording.listed(_FORMATS)}."
            )
        if not self.folders:
            raise UserError("Name one or more folders of runs: albert plot output/base.")


_NOT_DRAWN = re.compile(r"step|global_step|exit_.*|.*total")
_HEAD = ("run", "last step", "loss", "metric", "best", "at step", "examples/s")
_COLUMNS = 2
_CONFUSION = {"labels": ([str], None), "matrix": ([[int]], None)}
Curves = Dict[str, List[Tuple[int, float]]]  # metric -> (step, value)


class RunHistory(NamedTuple):
    """The curves and results of the run in a folder."""

    folder: str
    training: Curves
    evaluation: Curves
    metric: str  # chooses the best checkpoint
    best_step: Optional[int]
    confusion: Dict[str, Any]  # "labels" and "matrix"; {}: none


def read_history(folder: str) -> RunHistory:
    """Returns the history of a run. Raises UserError if there is none, or a file is damaged."""
    names = (run_files.CURVE_NAME, run_files.SUMMARY_NAME, run_files.CONFUSION_NAME)
    curve, summary, matrix = (os.path.join(folder, name) for name in names)
    exists = files.exists
    training = _curves(run_files.read_curve(curve) if exists(curve) else [])
    results = run_files.read_results(folder)
    evaluated = _curves({"step": result.step, **result.metrics} for result in results)
    if not training and not evaluated:
        raise UserError(
            f"{folder} has neither {names[0]} nor {run_files.LEDGER_NAME}. Give an --output_dir."
        )
    best_step = run_files.read_ledger(folder).get("best_step")
    metric = next((name for name in sorted(evaluated) if "accuracy" in name), "loss")
    if exists(summary):
        metric = run_files.read_summary(summary)["metric"]
    confusion = json_files.read(matrix, _CONFUSION) if exists(matrix) else {}
    return RunHistory(folder, training, evaluated, _short(metric), best_step, confusion)


def _short(name: str) -> str:
    return re.sub("^eval_", "", name)


def _curves(rows: Iterable[Mapping[str, Any]]) -> Curves:
    """Returns the columns of a table as curves."""
    curves: Curves = {}
    for row in rows:
        for name, value in row.items():
            if value not in ("", None):
                curves.setdefault(_short(name), []).append((int(row["step"]), float(value)))
    return curves


def summary_table(runs: Sequence[RunHistory]) -> List[str]:
    """Returns the lines of a table with a row for each run."""
    cells = [_HEAD]
    for run in runs:
        losses = run.training.get("loss")
        speeds = [speed for _, speed in run.training.get("examples_per_second", ())]
        best = dict(run.evaluation.get(run.metric, ())).get(run.best_step)
        cells.append(
            (
                run.folder,
                str((run.training or run.evaluation)["step"][-1][0]),
                f"{losses[-1][1]:.4f}" if losses else "-",
                run.metric,
                "-" if best is None else f"{best:.4f}",
                str(run.best_step or "-"),
                f"{statistics.median(speeds):.1f}" if speeds else "-",
            )
        )
    return wording.table(cells, left=(0, 3))


def draw(path: str, runs: Sequence[RunHistory]) -> None:
    """Draws a panel for each metric into a PNG, PDF or SVG file."""
    from matplotlib.figure import Figure

    names = dict.fromkeys(name for run in runs for name in (*run.training, *run.evaluation))
    metrics = [name for name in names if not _NOT_DRAWN.fullmatch(name)]
    classifiers = [run for run in runs if run.confusion.get("matrix")]
    height = -(-(len(metrics) + len(classifiers)) // _COLUMNS)
    figure = Figure(figsize=(6.4, 2.2 * height), constrained_layout=True)
    for number, name in enumerate(metrics, 1):
        axes = figure.add_subplot(height, _COLUMNS, number)
        for color, run in enumerate(runs):
            for curves, style in ((run.training, ".-"), (run.evaluation, "o--")):
                points = zip(*curves.get(name, [(None, None)]))
                axes.plot(*points, style, color=f"C{color % 10}", markersize=4)
        axes.set(title=name.replace("_", " "), xlabel="step")
        if name in ("gradient_norm", "loss_scale"):
            axes.set_yscale("log")
            axes.yaxis.set_minor_formatter("{x:g}")
        axes.grid(alpha=0.3)
    for number, run in enumerate(classifiers, len(metrics) + 1):
        _draw_confusion(figure.add_subplot(height, _COLUMNS, number), run)
    figure.legend(
        figure.axes[0].get_lines()[::2],
        [run.folder for run in runs],
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        title="solid lines: training; dashed lines: evaluation",
    )
    with files.atomic_path(path) as temporary:
        figure.savefig(temporary, format=path[-3:].lower(), dpi=130, bbox_inches="tight")


def _draw_confusion(axes: Any, run: RunHistory) -> None:
    """Draws the counts of predictions by label, with the recall and precision of each label."""
    import numpy as np
    from sklearn import metrics

    names, matrix = run.confusion["labels"], np.array(run.confusion["matrix"])
    display = metrics.ConfusionMatrixDisplay(matrix, display_labels=names)
    display.plot(ax=axes, cmap="Blues", colorbar=False, include_values=len(names) < 20)
    axes.set(title=run.folder, xlabel="prediction, precision", ylabel="label, recall")
    axes.tick_params("x", rotation=90)
    for axis, set_labels in enumerate((axes.set_xticklabels, axes.set_yticklabels)):
        shares = matrix.diagonal() / np.maximum(matrix.sum(axis), 1)
        set_labels([f"{name} {share:.0%}" for name, share in zip(names, shares)])


def main(flags: Flags) -> None:
    """Runs the script."""
    with needing("plots", "albert plot"):
        import matplotlib  # noqa: F401
    runs = [read_history(folder) for folder in flags.folders]
    print("\n".join(summary_table(runs)))
    draw(flags.output_file, runs)
    print(f"Wrote {flags.output_file}.", file=sys.stderr)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
