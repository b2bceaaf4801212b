# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The classification tasks: declarations, the layouts people have, and tasks of one's own."""

import json

import pytest

from albert.tasks.classification import registry, task_table
from albert.training import metrics
from tests.support import FIXTURES, read_json
from tests.support.shared import needs_shared, shared_path

# Rows in the layouts that people have.
FILES = read_json(FIXTURES / "task_files.json")


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))


def _read(task, folder, split):
    data = registry.read_examples(registry.get_task(task), str(folder), split)
    return [(example.text_a, example.text_b, example.label) for example in data.examples]


# ----------------------------------------------------------------------------------- declarations


@pytest.mark.parametrize("name", list(registry.TASKS))
def test_declaration_is_consistent(name):
    task = registry.get_task(name)
    assert set(task.metrics) <= set(metrics.METRICS)
    best = {"cola": "matthew_corr", "sts-b": "pearson"}
    assert task.metrics[0] == best.get(name, "eval_accuracy")
    assert bool(task.recipe.train_step) != bool(task.recipe.num_train_epochs)


def test_get_task_by_name():
    assert registry.get_task("STS-B").name == "sts-b"
    assert registry.get_task("mnli").split_names("dev") == ["dev_matched", "dev_mismatched"]
    assert registry.get_task("mismnli").split_names("dev") == ["dev_mismatched"]
    with pytest.raises(ValueError, match="'mprc'.* 'mrpc'.*cola"):
        registry.get_task("mprc")


# ------------------------------------------------------------------------------------ GLUE layouts


@pytest.mark.parametrize("name", FILES["glue"])
def test_glue_layouts_are_read(name, tmp_path):
    task, given = registry.get_task(name), FILES["glue"][name]
    folder = tmp_path / task.folders[0]
    _write(folder / "train.tsv", given["train"] + "\n")
    cases = [("train", place, "one", given["label"], given["guid"]) for place in (tmp_path, folder)]
    for split in task.split_names("test"):  # without labels, with the site's index
        _write(folder / f"{split}.tsv", given["test"])
        cases.append((split, tmp_path, "two", None, "0"))
    for split, data_dir, number, *expected in cases:
        (item,) = registry.read_examples(task, str(data_dir), split).examples
        texts = f"A {number}.", f"B {number}." if task.is_pair else None
        assert [item.text_a, item.text_b, item.label, item.guid] == [*texts, *expected]


def test_glue_columns_without_known_header(tmp_path):
    _write(tmp_path / "MRPC" / "train.tsv", "q\ti\tj\tx\ty\n1\t7\t8\tA\tB\n")
    assert _read("mrpc", tmp_path, "train") == [("A", "B", "1")]


def test_task_folder_in_any_case(tmp_path):
    _write(tmp_path / "tnews_public" / "dev.json", '{"sentence": "好", "label": 100}\n')
    assert _read("tnews", tmp_path, "dev") == [("好", None, "100")]
    _write(tmp_path / "rte" / "model.ckpt-1.index", "an output folder")
    _write(tmp_path / "dev.tsv", FILES["glue"]["rte"]["train"])
    assert len(_read("rte", tmp_path, "dev")) == 1
    _write(tmp_path / "rte" / "train.tsv", FILES["glue"]["rte"]["train"])
    assert not registry.find_file(registry.get_task("rte"), str(tmp_path), "dev")
    with pytest.raises(ValueError, match="dev.tsv.*RTE"):
        _read("rte", tmp_path, "dev")


# --------------------------------------------------------------------------------- Chinese layouts


def test_splits_in_several_folders_are_found(tmp_path):
    files = {  # as the two archives of XNLI unpack
        "train": "XNLI-MT-1.0/multinli/multinli.train.zh.tsv",
        "dev": "XNLI-1.0/xnli.dev.tsv",
        "test": "XNLI-1.0/xnli.test.tsv",
    }
    for file in files.values():
        _write(tmp_path / file, "premise\thypo\tlabel\nA\tB\tneutral\n")
    for split, file in files.items():
        assert _read("xnli", tmp_path, split) == [("A", "B", "neutral")]
        assert registry.find_file(registry.get_task("xnli"), str(tmp_path), split).endswith(file)


@pytest.mark.parametrize("given", FILES["clue"], ids=lambda given: given["file"])
def test_clue_layouts_are_read(given, tmp_path):
    split = next(split for split in ("train", "dev", "test") if split in given["file"])
    for name in given["tasks"]:
        _write(tmp_path / name.upper() / given["file"], given["text"])
        assert list(map(list, _read(name, tmp_path / name.upper(), split))) == given["examples"]


@pytest.mark.parametrize(
    "split, files",
    [
        ("train", ("train.1k.json", "train.30k.json", "train.50k.json", "train.json")),
        ("test", ("test1.0.json", "test1.1.json", "test.json")),
    ],
)
def test_clue_files_with_numbers_are_found(split, files, tmp_path):
    task = registry.get_task("ocnli" if split == "train" else "tnews")
    row = {"sentence1": "甲", "sentence2": "乙", "sentence": "甲", "label": "neutral"}
    for file in files:  # a later one is preferred
        path = tmp_path / task.folders[0] / file
        _write(path, json.dumps(row))
        data = registry.read_examples(task, str(tmp_path), split)
        assert (data.files, len(data.examples)) == ([str(path)], 1)


@pytest.mark.parametrize("task, row, problem", FILES["wrong objects"])
def test_clue_names_a_wrong_object(task, row, problem, tmp_path):
    _write(tmp_path / "dev.json", json.dumps(row))
    with pytest.raises(ValueError, match=f"dev.json:1: .*{problem}"):
        _read(task, tmp_path, "dev")


# ------------------------------------------------------------------------------ a task of one's own


@pytest.mark.parametrize("given", FILES["custom"], ids=lambda given: given["file"])
def test_custom_task_reads_as_described(given, tmp_path):
    _write(tmp_path / given["file"], given["text"])
    task = registry.custom_task(train_file=given["file"], **given["settings"])
    found = registry.read_examples(task, str(tmp_path), "train").examples
    assert [[e.guid, e.text_a, e.text_b, e.label] for e in found] == given["examples"]
    assert task.is_pair == ("text_b" in given["settings"])
    assert task.metrics[0] == ("pearson" if task.is_regression else "eval_accuracy")


def test_custom_task_flags_override_its_file(tmp_path):
    flags = """{"text_a": "q", "label": "y", "labels": ["no", "yes"], "metric": "f1",
        "metrics": ["eval_accuracy"], "train_file": "train.jsonl", "name": "mine"}"""
    _write(tmp_path / "task.json", flags)
    _write(tmp_path / "mine" / "train.jsonl", '{"question": "Who?", "y": "yes"}\n')
    task = registry.custom_task(f"{tmp_path}/task.json", text_a="question", text_b="", labels=None)
    (example,) = registry.read_examples(task, str(tmp_path), "train").examples
    assert (example.text_a, example.label) == ("Who?", "yes")
    assert (task.name, task.metrics) == ("mine", ("f1", "eval_accuracy"))


@pytest.mark.parametrize(
    "metric, metrics, expected",
    [
        ("", "recall,macro_f1", "macro_f1 eval_accuracy f1 recall_0 recall_a_f1"),
        ("precision_0", "macro_f1", "precision_0 eval_accuracy f1 macro_f1"),
        ("", "recall_a_f1,matthew_corr", "eval_accuracy f1 recall_a_f1 matthew_corr"),
    ],
)
def test_first_mean_f1_of_further_metrics_chooses_the_checkpoint(metric, metrics, expected):
    task = registry.get_task("MRPC")._replace(labels=("0", "a_f1"))
    task = registry.with_metrics(task, metric, metrics)
    assert task.metrics == tuple(expected.split())


@pytest.mark.parametrize(
    "task, metric, metrics",
    [("mrpc", "recall", ""), ("sts-b", "", "recall"), ("mnli", "f1", ""), ("mnli", "", "recall_x")],
)
def test_metric_must_suit_the_labels(task, metric, metrics):
    with pytest.raises(ValueError, match=f"'{metric or metrics}'.*eval_loss"):
        registry.with_metrics(registry.get_task(task), metric, metrics)


@pytest.mark.parametrize("flags, named", FILES["wrong settings"])
def test_custom_task_names_a_wrong_setting(flags, named, tmp_path):
    with pytest.raises(ValueError, match=named):
        registry.custom_task(**flags)
    _write(tmp_path / "task.json", json.dumps(flags))
    with pytest.raises(ValueError, match=f"task.json.*{named}"):
        registry.custom_task(f"{tmp_path}/task.json")


@pytest.mark.parametrize(
    "text, expected",
    [("text\nA vote.\n", ["A vote."]), ("Inhalt\nA vote.\n", ["Inhalt", "A vote."])],
)
def test_custom_test_file_without_header(text, expected, tmp_path, caplog):
    task = registry.custom_task(text_a=0, label=1, labels="sport,politics")
    _write(tmp_path / "test.tsv", text)
    data = registry.read_examples(task, str(tmp_path), "test")
    assert [example.text_a for example in data.examples] == expected
    assert len(caplog.records) == len(expected) - 1


# ------------------------------------------------------------------------- a trained model's task


# In the second, the label is a number.
@pytest.mark.parametrize(
    "description, text, expected",
    [
        ({}, "text_a\ttext_b\tlabel\nA\tB\tyes\n", ["A", "B", "yes"]),
        ({}, "sentence\tlabel\nA\t1\n", ["A", None, "yes"]),
        ({"labels": ["1", "0"]}, "text\tlabel\nA\t1\n", ["A", None, "1"]),
        ({"is_pair": False}, "text\ttext_a\ttext_b\tlabel\n?\tA\tB\tno\n", ["A", None, "no"]),
        ({"labels": []}, "text\tscore\nA\t2.5\n", ["A", None, 2.5]),
        ({"task": "mrpc", "labels": ["0", "1"]}, "x\ty\tz\ta\tb\n1\t\t\tA\tB\n", ["A", "B", "1"]),
    ],
)
def test_described_task_reads_usual_columns(description, text, expected, tmp_path):
    content = {"task": "custom", "labels": ["no", "yes"], **description}
    task = task_table.described_task(content)
    _write(tmp_path / "dev.tsv", text)
    (example,) = registry.read_examples(task, str(tmp_path), "dev").examples
    assert [example.text_a, example.text_b, example.label] == expected
    assert (task.name, list(task.labels)) == (content["task"], content["labels"])


@pytest.mark.parametrize("labels, expected", [(["no", "yes"], "yes"), (["1", "0"], "1")])
@pytest.mark.parametrize("value", ["1", 1, 1.0])
def test_described_task_reads_numbers_of_labels_in_json(value, labels, expected, tmp_path):
    task = task_table.described_task({"task": "custom", "labels": labels})
    _write(tmp_path / "dev.json", json.dumps({"text": "A", "label": value}))
    (example,) = registry.read_examples(task, str(tmp_path), "dev").examples
    assert example.label == expected


# ---------------------------------------------------------------------------------------- real data


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize("name", FILES["rows"])
def test_real_files_are_read_whole(name):
    folder, task_name = name.split("/")
    task, data_dir = registry.get_task(task_name), str(shared_path("data") / folder)
    for split, count in zip(("train", "dev", "test"), FILES["rows"][name]):
        assert bool(registry.find_file(task, data_dir, split)) == bool(count)
        if count:
            data = registry.read_examples(task, data_dir, split)
            assert len(data.examples) == count
            assert all(example.text_a.strip() for example in data.examples)
