# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The table of a sweep's results."""

import json
import math
import re
import sys

import pytest

from albert.classification import sweep_table
from albert.util import progress


def make_run(task, seed, value, *, speed=100.0, **metrics):
    metrics.update(eval_accuracy=value, eval_loss=0.5, global_step=20)
    return sweep_table.Run(
        task, seed, "eval_accuracy", 10 * seed, metrics, speed * seed, 60.0 + seed
    )


RUNS = [
    make_run("rte", 1, 0.5),
    make_run("rte", 2, 0.75),
    make_run("rte", 3, 0.7),
    make_run("mrpc", 1, 0.875, f1=0.9, MSE=3.0, speed=0),
]


def test_mean_and_deviation_are_those_of_the_seeds():
    rte, accuracy, f1 = sweep_table.make_rows(RUNS)
    assert (rte.task, rte.metric, rte.decides) == ("rte", "eval_accuracy", True)
    assert rte.values == {1: 0.5, 2: 0.75, 3: 0.7}
    assert rte.mean == pytest.approx(0.65)
    # Deviations -0.15, 0.1, 0.05: squares sum to 0.035, over two degrees of freedom.
    assert rte.deviation == pytest.approx(math.sqrt(0.0175))
    assert (rte.best_step, rte.examples_per_second, rte.wall_seconds) == (20, 200, 62)
    assert (accuracy.task, accuracy.mean, accuracy.deviation) == ("mrpc", 0.875, None)
    assert (f1.metric, f1.mean, f1.decides) == ("f1", 0.9, False)
    assert accuracy.examples_per_second is None  # and losses, counts and errors are no scores


@pytest.mark.parametrize("metric, best", [("eval_accuracy", "b"), ("eval_loss", "a")])
def test_the_best_setting_is_that_of_the_best_mean(tmp_path, metric, best):
    scores = {"a": (0.1, 0.6), "b": (0.4, 0.5), "c": (0.3, 0.6), "d": (0.6, 0.1)}
    runs = [
        sweep_table.Run("custom", seed, metric, 1, {metric: value}, None, 1.0, setting=f"x={name}")
        for name, values in scores.items()
        for seed, value in enumerate(values)
    ]
    rows = sweep_table.make_rows(runs)
    assert [row.setting for row in rows if row.is_best] == [f"x={best}"]
    assert [row.mean for row in rows] == pytest.approx([0.35, 0.45, 0.45, 0.35])
    lines = sweep_table.format_results(runs).splitlines()
    assert [line.split("  ")[0] for line in lines if "(best)" in line] == [
        f"custom, x={best} (best)"
    ]


def test_a_metric_that_some_seed_lacks_is_left_out():
    runs = [make_run("mnli", 1, 0.5, eval_accuracy_mismatched=0.4), make_run("mnli", 2, 0.5)]
    assert [row.metric for row in sweep_table.make_rows(runs)] == ["eval_accuracy"]


def test_the_text_has_a_line_for_each_score():
    lines = sweep_table.format_results(RUNS).splitlines()
    assert [re.split(r"  +", line.strip()) for line in lines[2:]] == [
        ["rte", "eval_accuracy", "3", "65.00", "13.23", "20", "200.0", progress.format_seconds(62)],
        ["mrpc", "eval_accuracy", "1", "87.50", "-", "10", "-", progress.format_seconds(61)],
        ["f1", "1", "90.00", "-"],
    ]
    assert len({line.index("65.00") for line in lines if "65.00" in line}) == 1
    assert lines[0].index("mean") + len("mean") == lines[2].index("65.00") + len("65.00")


def test_a_run_without_a_best_checkpoint_is_shown_as_not_a_number(tmp_path):
    content = {"task": "cola", "seed": 1, "metric": "matthew_corr", "metrics": {}}
    content.update(value=None, best_step=None, train_examples_per_second=10.0, wall_seconds=5.0)
    path = tmp_path / "run_summary.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    run = sweep_table.read_run(str(path))
    other = make_run("rte", 1, 0.5)
    sweep_table.write_results(str(tmp_path), [run, run._replace(seed=2), other], title="x")
    assert "nan" in (tmp_path / "results.txt").read_text(encoding="utf-8")
    rows = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["rows"]
    assert rows[0]["mean"] is None and rows[0]["values"] == {"1": None, "2": None}


@pytest.mark.parametrize("has_plots", [False, True])
def test_the_picture_is_a_png_where_there_is_matplotlib(monkeypatch, tmp_path, has_plots):
    if has_plots:
        pytest.importorskip("matplotlib")
    else:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
    paths = sweep_table.write_results(
        str(tmp_path), [*RUNS, make_run("cola", 1, -0.1)], title="A sweep"
    )
    assert set(paths) == {str(path) for path in tmp_path.iterdir()}
    assert len(paths) == 2 + has_plots
    if has_plots:
        content = (tmp_path / "results.png").read_bytes()
        assert content.startswith(b"\x89PNG") and len(content) > 10000


# ---- Beside published results, and what the runs have said.

BASE = {"size": "base", "presets": ["albert_base_v2"]}


def results_of(folder, runs):
    sweep_table.write_results(str(folder), runs, title="x")
    content = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return content["published"], (folder / "results.txt").read_text(encoding="utf-8")


def test_seeds_are_compared_with_what_is_published_of_the_model(tmp_path):
    values = (0.84, 0.85, 0.86)
    runs = [make_run("mnli", seed, value)._replace(model=BASE) for seed, value in enumerate(values)]
    (found,), text = results_of(tmp_path, [*runs, make_run("rte", 1, 0.7)._replace(model=BASE)])
    assert (found["published"], found["runs"], found["verdict"]) == (84.6, 3, "within")
    assert found["mean"] == pytest.approx(85) and found["deviation"] == pytest.approx(1)
    assert found["tolerance"] == pytest.approx(2 * math.sqrt(4 / 3) + 0.05)
    assert "google-research/albert" in text


@pytest.mark.parametrize("models", [(None, None), (BASE, None), (BASE, dict(BASE, size="large"))])
def test_runs_of_unknown_or_several_models_are_compared_with_nothing(tmp_path, models):
    runs = [make_run("mnli", 1, 0.8)._replace(model=model) for model in models]
    found, text = results_of(tmp_path, runs)
    assert found == [] and "google-research" not in text
