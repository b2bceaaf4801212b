# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The table over tasks and seeds: its numbers, computed by hand, and its three forms."""

import json
import math
import os
import re
import sys

import pytest

from albert import sweep_table


def make_run(task, seed, value, **changes):
    metrics = {"eval_accuracy": value, "eval_loss": 0.5, "global_step": 20}
    metrics.update(changes.pop("metrics", {}))
    fields = {
        "metric": "eval_accuracy",
        "best_step": 10 * seed,
        "metrics": metrics,
        "train_examples_per_second": 100.0 * seed,
        "wall_seconds": 60.0 + seed,
    }
    fields.update(changes)
    return sweep_table.Run(task, seed, **fields)


RUNS = [
    make_run("rte", 1, 0.5),
    make_run("rte", 2, 0.75),
    make_run("rte", 3, 0.7),
    make_run("mrpc", 1, 0.875, metrics={"f1": 0.9, "MSE": 3.0}, train_examples_per_second=None),
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
    assert accuracy.examples_per_second is None


def test_losses_counts_and_errors_are_no_scores():
    names = {row.metric for row in sweep_table.make_rows(RUNS)}
    assert names == {"eval_accuracy", "f1"}


def test_a_metric_that_some_seed_lacks_is_left_out():
    runs = [make_run("mnli", 1, 0.5, metrics={"eval_accuracy_mismatched": 0.4}), RUNS[0]]
    runs[1] = runs[1]._replace(task="mnli", seed=2)
    assert [row.metric for row in sweep_table.make_rows(runs)] == ["eval_accuracy"]


def test_the_text_has_a_line_for_each_score():
    lines = sweep_table.format_table(sweep_table.make_rows(RUNS)).splitlines()
    assert [re.split(r"  +", line.strip()) for line in lines[2:]] == [
        ["rte", "eval_accuracy", "3", "65.00", "13.23", "20", "200.0", "1:02"],
        ["mrpc", "eval_accuracy", "1", "87.50", "-", "10", "-", "1:01"],
        ["f1", "1", "90.00", "-"],
    ]
    assert len({line.index("65.00") for line in lines if "65.00" in line}) == 1
    assert lines[0].index("mean") + len("mean") == lines[2].index("65.00") + len("65.00")


def test_a_run_without_a_best_checkpoint_is_shown_as_not_a_number(tmp_path):
    content = {
        "task": "cola",
        "seed": 1,
        "metric": "matthew_corr",
        "value": None,
        "best_step": None,
        "metrics": {},
        "train_examples_per_second": 10.0,
        "wall_seconds": 5.0,
    }
    path = tmp_path / "run_summary.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    run = sweep_table.read_run(str(path))
    other = make_run("rte", 1, 0.5)
    paths = sweep_table.write_results(str(tmp_path), [run, run._replace(seed=2), other], title="x")
    assert "nan" in (tmp_path / "results.txt").read_text(encoding="utf-8")
    rows = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["rows"]
    assert rows[0]["mean"] is None and rows[0]["values"] == {"1": None, "2": None}
    assert len(paths) == 3


@pytest.mark.parametrize("content", ["", "[]", '{"task": "rte"}', '{"task": "rte", "seed": "x"}'])
def test_a_file_that_is_no_summary_is_refused(tmp_path, content):
    path = tmp_path / "run_summary.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match="run_summary.json is no summary of a run"):
        sweep_table.read_run(str(path))


def test_the_picture_is_a_png(tmp_path):
    pytest.importorskip("matplotlib")
    negative = make_run("cola", 1, -0.1, metric="eval_accuracy")
    paths = sweep_table.write_results(str(tmp_path), RUNS + [negative], title="A sweep")
    content = (tmp_path / "results.png").read_bytes()
    assert paths[2].endswith("results.png")
    assert content.startswith(b"\x89PNG") and len(content) > 10000
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "results.json",
        "results.png",
        "results.txt",
    ]


def test_without_matplotlib_there_is_no_picture(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert not sweep_table.has_plots()
    paths = sweep_table.write_results(str(tmp_path), RUNS, title="GLUE")
    assert [os.path.basename(path) for path in paths] == ["results.txt", "results.json"]
    assert all(map(os.path.exists, paths))
