# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Training from a program: the same as the script's, of any task, stopped by a callback."""

import importlib
import random
import re

import nbformat
import numpy as np
import pytest

import albert
from albert import run_classifier
from albert.tasks.classification.task import ClassifierTask, PublishedTask
from albert.tasks.race.task import RaceTask
from albert.training import evaluation, labelled_data
from albert.util import UserError, files
from albert.util import flags as flags_lib
from tests.support import (
    classification_data,
    notebooks,
    pages,
    race_data,
    read_json,
    squad_data,
)
from tests.training import test_fine_tuning_tutorial as tutorial

slow = pytest.mark.slow
FLAGS = {
    "spm_model_file": str(classification_data.VOCABULARY),
    "max_seq_length": 32,
    "train_batch_size": 4,
    "learning_rate": 0.003,
    "train_step": 6,
    "warmup_step": 1,
    "save_checkpoints_steps": 2,
    "use_xla": False,
}


def rows(count, seed=0):
    generator = random.Random(seed)
    words = [generator.choice(["bird", "king"]) for _ in range(count)]
    return [(classification_data.text(generator, word), word) for word in words]


TRAIN, DEV = rows(32), rows(12, seed=1)


_fine_tune = albert.fine_tune


def fine_tune(folder, train=TRAIN, dev=DEV, **flags):
    config = classification_data.write_config(folder)
    flags = {"output_dir": folder / "out", **flags, "model": None, "albert_config_file": config}
    return _fine_tune(train, dev, **{**FLAGS, **flags})


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a training that a callback saw, its model, and what the callback got."""
    folder, calls = tmp_path_factory.mktemp("trained"), []
    model = fine_tune(folder, callback=lambda *call: calls.append(call))
    return folder, model, calls


@slow
def test_folder_equals_the_script_that_run_toml_repeats(trained, tmp_path):
    folder, again = trained[0] / "out", tmp_path / "out"
    arguments = [f"--config={folder}/run.toml", f"--output_dir={again}"]
    run_classifier.classify(flags_lib.parse(run_classifier.Flags, arguments))
    own = {"run.toml", "run_summary.json", "training_curve.csv"}  # folder's name, times
    names, same = ({path.name for path in one.glob("[!e]*.*")} - own for one in (folder, again))
    assert names == same and "model.ckpt-best.index" in same
    for name in ["eval_results.json", *(name for name in names if not name.endswith(".meta"))]:
        assert (again / name).read_bytes() == (folder / name).read_bytes(), name
    assert "python -m albert.run_classifier --config=" in (folder / "run.toml").read_text()


@slow
def test_callback_gets_each_evaluation_and_the_model_measures_alike(trained):
    folder, model, calls = trained
    assert calls == evaluation.read_results(str(folder / "out"))
    assert [step for step, _ in calls] == [2, 4, 6]
    best = read_json(folder / "out" / "run_summary.json")["metrics"]
    best.pop("global_step")
    assert model.evaluate(DEV) == pytest.approx(best, abs=1e-6)
    frame = pytest.importorskip("pandas").DataFrame(DEV, columns=["text_a", "label"])
    assert model.evaluate(frame) == model.evaluate(DEV)


@slow
@pytest.mark.parametrize("devices", [{}, {"distribution_strategy": "mirrored", "num_devices": 2}])
def test_callback_stops_the_training(devices, tmp_path):
    fine_tune(tmp_path, callback=lambda step, metrics: np.bool_(step < 4), **devices)
    assert [step for step, _ in evaluation.read_results(str(tmp_path / "out"))] == [2, 4]


@slow
def test_callback_without_development_data_is_refused(tmp_path):
    with pytest.raises(UserError, match="callback"):
        fine_tune(tmp_path, dev=None, callback=print)


@slow
def test_stopped_training_resumes_in_a_renamed_folder(trained, tmp_path):
    fine_tune(tmp_path, callback=lambda step, metrics: step < 4)
    (tmp_path / "out").rename(tmp_path / "new")
    assert fine_tune(tmp_path, output_dir=tmp_path / "new").evaluate(DEV)
    for name in ("model.ckpt-6.data-00000-of-00001", "eval_results.json"):
        assert files.sha256(f"{tmp_path}/new/{name}") == files.sha256(f"{trained[0]}/out/{name}")


@slow
def test_wrong_row_to_evaluate_is_named(trained):
    with pytest.raises(UserError, match="^row 13: "):
        trained[1].evaluate([*DEV, ("a", "queen")])


def squad_rows():
    context = squad_data.CONTEXT
    return [
        {**squad_data.answered(text, context, text, f"which {text} ?"), "context": context}
        for text in ("king", "bird", "old town", "river")
    ]


def tagged():
    return [(["king", "went", "to", "river"], ["B-PER", "O", "O", "B-LOC"])] * 4


TASKS = {
    "squad_v2": (squad_rows, ("who ?", squad_data.CONTEXT)),
    "tagging": (tagged, "the king went"),
    "race": (
        lambda: [race_data.passage(f"{n}", random.Random(n)) for n in range(4)],
        ("a b", "who ?", list("abcd")),
    ),
}


@slow
@pytest.mark.parametrize("task", TASKS)
def test_other_tasks_train_on_rows_and_measure(task, tmp_path):
    make_rows, text = TASKS[task]
    lengths = {"squad_v2": {"doc_stride": 8, "max_query_length": 8}, "race": {"max_qa_length": 12}}
    model = fine_tune(tmp_path, make_rows(), make_rows(), task=task, **lengths.get(task, {}))
    best = read_json(tmp_path / "out" / "run_summary.json")["metrics"]
    measured = model.evaluate(make_rows())
    assert {**best, **measured} == pytest.approx(best, abs=1e-5) and len(measured) > 2
    assert len(model.predict([text])) == 1


@slow
def test_a_class_of_ones_own_trains_on_rows(tmp_path, monkeypatch):
    (tmp_path / "own_topics.py").write_text(tutorial.code(), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("own_topics")
    data = [{"text": "the king", "topics": ["money"]}, {"text": "a bird", "topics": ["sport"]}] * 4
    model = fine_tune(tmp_path, data, data, task=module.Topics)
    assert model.evaluate(data).keys() == {"exact", "eval_loss"}
    assert len(model.predict(["the king"])) == 1


@slow
def test_study_of_the_page_prunes_a_trial(tmp_path, monkeypatch, capsys):
    optuna = pytest.importorskip("optuna")

    class ThirdTrial(optuna.pruners.BasePruner):
        def prune(self, study, trial):
            return trial.number == 2

    sizes = {"train_step": 4, "num_train_epochs": None, "save_checkpoints_steps": 2}
    monkeypatch.setattr(
        albert, "fine_tune", lambda *data, **flags: fine_tune(tmp_path, *data, **{**flags, **sizes})
    )
    monkeypatch.chdir(tmp_path)
    program = "".join(re.findall("```python\n(.*?)```", pages.read("train_in_python"), re.S))
    names = {"third": ThirdTrial()}
    exec(program.replace("optuna.pruners.MedianPruner(2)", "third"), names)
    states = [trial.state.name for trial in names["study"].trials]
    assert states == ["COMPLETE", "COMPLETE", "PRUNED"]
    assert [step for step, _ in evaluation.read_results("output/trial-2")] == [2]


@slow
def test_other_flags_for_a_finished_training_are_named(trained, caplog):
    fine_tune(trained[0], learning_rate=0.1)
    assert "learning_rate was 0.003 and is 0.1" in caplog.text


@slow
@pytest.mark.parametrize(
    "hidden, shown", [("", "widget-view+json"), ("sys.modules['ipywidgets'] = None", "a:   0%")]
)
def test_progress_is_a_widget_or_text_in_a_notebook(hidden, shown, tmp_path):
    pytest.importorskip("ipywidgets")
    program = "from albert.util.progress import Progress\nProgress('a', 2, unit='steps').update(1)"
    cell = nbformat.v4.new_code_cell(f"import sys\n{hidden}\n{program}")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    assert shown in str(notebooks.run(tmp_path, {}, notebook=notebook).cells[0].outputs)


# ---- data and flags ----


def flags_for(folder, train, dev=None, **flags):
    flags = {"task_name": "custom", "albert_dir": "base_v2", "output_dir": folder, **flags}
    return labelled_data.flags_for(ClassifierTask, train, dev, **flags)


def test_rows_of_each_kind_are_the_same_file(tmp_path):
    pandas = pytest.importorskip("pandas")
    dicts = [{"text_a": text, "label": label} for text, label in DEV]
    contents = set()
    for data in (DEV, dicts, pandas.DataFrame(dicts)):
        flags_for(tmp_path, data)
        contents.add((tmp_path / "data" / "train.jsonl").read_text())
    assert len(contents) == 1


@pytest.mark.parametrize(
    "labels, expected",
    [
        ([True, False, True], ["false", "true"]),
        ([0.5, 2.0, 1.0], "regression"),
        ([2.0, 10.0, -1.0], ["-1", "2", "10"]),
        (["b, c", "a", "b, c"], ["a", "b, c"]),
        ([["b", "a"], [], ["c"]], ["a", "b", "c"]),
    ],
)
def test_labels_of_rows_declare_the_task(labels, expected, tmp_path):
    declared = read_json(flags_for(tmp_path, [("a", "b", label) for label in labels]).task_file)
    assert declared.pop("multi_label", False) == isinstance(labels[0], list)
    names = {name: name for name in ("text_a", "text_b", "label")}
    assert declared == {**names, "labels": expected}


def test_columns_of_a_table_are_found_or_named(tmp_path):
    path = tmp_path / "my.csv"
    path.write_text("review,stars,label\ngood,5,x\nbad,1,y\n")
    flags = flags_for(tmp_path, path)
    assert (flags.data_dir, flags.train_file) == (str(tmp_path), "my.csv")
    assert read_json(flags.task_file) == {
        "text_a": "review",
        "label": "label",
        "labels": ["x", "y"],
    }
    options = {"text_a_column": 0, "label_column": "stars", "class_weights": {1: 0.5, "5": 2}}
    named = flags_for(tmp_path, path, **options)
    assert read_json(named.task_file)["labels"] == ["1", "5"]
    assert named.class_weights == "1:0.5,5:2"
    path.write_text("review,anger,joy\ngood,0,1\nbad,1,0\n")
    several = flags_for(tmp_path, path, label_columns=["anger", "joy"])
    assert read_json(several.task_file) == {"text_a": "review", "labels": []}
    with pytest.raises(UserError, match="my.csv:1.*review"):
        flags_for(tmp_path, path, text_a_column="text")


@pytest.mark.parametrize(
    "train, flags, words",
    [
        (DEV, {"learning_rat": 1}, "learning_rat.*learning_rate"),
        (5, {}, "Row 1 is '5'"),
        (["ab", "cd"], {}, "Row 1 is 'ab'"),
        (DEV, {"output_dir": None}, "output_dir"),
        ([("a", "x"), ("b",)], {}, "Row 2"),
        ([("a", "x"), ("b", "x")], {"label_column": "stars"}, "stars"),
    ],
)
def test_wrong_flags_and_rows_are_named(train, flags, words, tmp_path):
    with pytest.raises(UserError, match=words):
        flags_for(tmp_path, train, **flags)


@pytest.mark.parametrize(
    "kind, name, copy",
    [
        (PublishedTask, "x.tsv", "train.tsv"),
        (PublishedTask, "x.json", "train.jsonl"),
        (RaceTask, "1.txt", "train/high/all.txt"),
        (RaceTask, "x.parquet", "train/high/all.parquet"),
    ],
)
def test_file_is_copied_for_a_task_that_reads_folders(kind, name, copy, tmp_path):
    (tmp_path / name).write_bytes(b"data")
    flags = {"output_dir": tmp_path, "albert_dir": "base_v2", "task_name": "mnli"}
    made = labelled_data.flags_for(kind, tmp_path / name, **flags)
    assert (made.data_dir, made.do_eval) == (f"{tmp_path}/data", False)
    assert (tmp_path / "data" / copy).read_bytes() == b"data"


def test_folder_has_the_development_data(tmp_path):
    assert flags_for(tmp_path, tmp_path, text_a_column="a", labels="x,y").do_eval
    with pytest.raises(UserError, match="folder"):
        flags_for(tmp_path, tmp_path, DEV)
