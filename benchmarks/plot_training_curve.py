# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Draws the learning curves of a pretraining run from the files in its output folder.

    python benchmarks/plot_training_curve.py output/base curve.png

Lines are means over the intervals of training_curve.csv, dots the held-out evaluations of
eval_results.json. Needs matplotlib (the extra `plots`).
"""

import csv
import json
import pathlib
import sys

METRICS = ("loss", "masked_lm_accuracy", "sentence_order_accuracy")


def main(output_dir: str, picture: str) -> None:
    """Reads the run's files and writes the picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    folder = pathlib.Path(output_dir)
    rows = list(csv.DictReader((folder / "training_curve.csv").open(encoding="utf-8")))
    results = json.loads((folder / "eval_results.json").read_text(encoding="utf-8"))["results"]
    figure, panels = pyplot.subplots(1, len(METRICS), figsize=(11, 3.2), constrained_layout=True)
    for axes, metric in zip(panels, METRICS):
        axes.plot(
            [int(r["step"]) for r in rows], [float(r[metric]) for r in rows], label="training"
        )
        evaluated = [(r["step"], r["metrics"][metric]) for r in results]
        axes.plot(*zip(*evaluated), "o", label="held-out documents")
        axes.set(title=metric, xlabel="step")
        axes.grid(alpha=0.3)
    panels[0].legend()
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python benchmarks/plot_training_curve.py OUTPUT_DIR PICTURE")
    main(*sys.argv[1:])
