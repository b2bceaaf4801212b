# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script plot: its picture, its table, and folders that cannot be drawn."""

import re

import pytest

from albert.commands import plot
from albert.util import UserError
from albert.util import flags as flags_lib
from tests.support import scripts, write_json

CURVE = "step,loss,gradient_norm,examples_per_second\n10,2.5,0.1,100\n20,1.25,,300\n"


def write_run(folder, values=(0.5, 0.75), best_step=20, curve=CURVE, summary=True):
    folder.mkdir(parents=True)
    if curve:
        (folder / "training_curve.csv").write_text(curve)
    results = [
        {"step": 10 * n, "metrics": {"eval_accuracy": value, "eval_loss": 1}, "checkpoint": ""}
        for n, value in enumerate(values, 1)
    ]
    ledger = {"fingerprint": {}, "best_step": best_step, "results": results}
    if values:
        write_json(folder / "eval_results.json", ledger)
    if summary:
        summary = {"task": "custom", "metric": "eval_loss", "seed": 1}
        write_json(folder / "run_summary.json", summary)
    return str(folder)


def plot_runs(folder, *names):
    output = f"--output_file={folder / 'runs.png'}"
    names = [f"{folder}/{name}" for name in names]
    scripts.run(plot, [*names, output])
    return folder / "runs.png"


def test_plot_draws_and_prints_a_row_for_each_run(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    write_run(tmp_path / "a" / "x")
    write_run(tmp_path / "b", summary=False)
    write_run(tmp_path / "curve alone", values=(), summary=False)
    write_run(tmp_path / "results alone", curve="", values=(0.25, float("nan")), best_step=None)
    picture = plot_runs(tmp_path, "a/x", "b", "curve alone", "results alone")
    assert picture.read_bytes().startswith(b"\x89PNG") and len(picture.read_bytes()) > 10000
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [re.sub(" {2,}", "|", line) for line in lines] == [
        f"{tmp_path}/a/x|20|1.2500|loss|1.0000|20|200.0",
        f"{tmp_path}/b|20|1.2500|accuracy|0.7500|20|200.0",
        f"{tmp_path}/curve alone|20|1.2500|loss|-|-|200.0",
        f"{tmp_path}/results alone|20|-|loss|-|-|-",
    ]


def test_confusion_matrix_has_counts_recall_and_precision(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    folder = write_run(tmp_path / "a")
    matrix = {"labels": ["no", "yes"], "matrix": [[41, 123], [0, 0]]}
    write_json(tmp_path / "a" / "confusion_matrix.json", matrix)
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        scripts.run(plot, [folder, f"--output_file={tmp_path / 'a.svg'}"])
    texts = re.findall(">([^<>]+)</t", (tmp_path / "a.svg").read_text(encoding="utf-8"))
    for text in ("41", "123", "no 25%", "no 100%", "yes 0%"):
        assert text in texts


@pytest.mark.parametrize("name, start", [("a.PDF", b"%PDF"), ("a.svg", b"<?xml"), ("a.jpg", None)])
def test_ending_of_the_name_decides_the_format(tmp_path, name, start):
    pytest.importorskip("matplotlib")
    arguments = [write_run(tmp_path / "a"), f"--output_file={tmp_path / name}"]
    if start is None:
        with pytest.raises(UserError, match=name):
            flags_lib.parse(plot.Flags, arguments)
    else:
        scripts.run(plot, arguments)
        assert (tmp_path / name).read_bytes().startswith(start)


def test_plot_names_a_damaged_file(tmp_path):
    pytest.importorskip("matplotlib")
    write_run(tmp_path / "bad")
    (tmp_path / "bad" / "confusion_matrix.json").write_text('{"matrix": 5}')
    for folder, named in (("bad", "bad.confusion_matrix.json"), ("nowhere", "nowhere")):
        with pytest.raises(UserError, match=named):
            plot_runs(tmp_path, folder)
