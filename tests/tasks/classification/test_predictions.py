# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files of predictions for people, GLUE and CLUE; and files of texts to predict."""

import zipfile

import numpy as np
import pytest

from albert.tasks.classification import examples, registry
from albert.tasks.classification import predictions as classification_predictions
from albert.tasks.classification.examples import InputExample
from albert.tasks.classification.task import ClassifierTask
from albert.training import metrics
from albert.util import UserError
from albert.util import flags as flags_lib
from tests.support import FIXTURES, cases, read_json

FILES = read_json(FIXTURES / "prediction_files.json")


@pytest.mark.parametrize("given", FILES["written"], ids=lambda given: given["task"])
def test_split_files_of_each_task(given):
    rows = [InputExample(guid, "a") for guid in given["guids"]]
    outputs = {name: np.array(given[name]) for name in ("probabilities", "predictions")}
    task = registry.get_task(given["task"])
    found = classification_predictions.split_files(task, rows, outputs, split=given["split"])
    assert found == given["files"]


@pytest.mark.parametrize(
    "name, file, expected",
    cases.table("""
        afqmc   | test.json    | afqmc_predict.json
        iflytek | test.json    | iflytek_predict.json
        cmnli   | test.json    | cmnli_predict.json
        csl     | test.json    | csl_predict.json
        ocnli   | test.json    | ocnli_50k_predict.json
        tnews   | test.json    | tnews11_predict.json
        tnews   | test1.0.json | tnews10_predict.json
        wsc     | test1.1.json | cluewsc11_predict.json
        wsc     | test1.0.json | cluewsc10_predict.json
    """),
)
def test_clue_files_have_the_names_of_its_page(name, file, expected, tmp_path):
    (tmp_path / file).write_text("{}")
    flags = flags_lib.make(ClassifierTask.flags_class, task_name=name, data_dir=str(tmp_path))
    rows = {"probabilities": np.array([[0.5]]), "predictions": np.array([0])}
    found = ClassifierTask(flags, None, {}).predictions("test", [InputExample("0", "a")], rows)
    assert set(found) == {"test_results.tsv", "submit_results.tsv", expected}


def test_glue_files_have_the_names_of_its_page():
    names = ["AX", "CoLA", "MNLI-m", "MNLI-mm", "MRPC", "QNLI", "QQP", "RTE", "SST-2", "STS-B"]
    expected = [f"{name}.tsv" for name in (*names, "WNLI")]
    assert list(classification_predictions.GLUE_SUBMISSION_FILES) == expected


@pytest.mark.parametrize("count", [3, 5000])
def test_confusions_are_a_matrix_or_pairs_of_many_labels(count):
    labels = [f"label {number}" for number in range(count)]
    right, predicted = np.array([1, 0, 1, 0]), np.array([1, 2, 1, 0])
    content = metrics.confusion_matrix(labels, right, predicted)
    if count == 3:
        assert (content["labels"], content["rows"]) == (labels, "labels")
        assert content["matrix"] == [[1, 0, 1], [0, 2, 0], [0, 0, 0]]
        return
    pairs = [["label 0", "label 0", 1], ["label 0", "label 2", 1], ["label 1", "label 1", 2]]
    assert content == {"pairs": pairs}


def test_zip_glue_submission_is_reproducible(tmp_path):
    paths = [tmp_path / "RTE.tsv", tmp_path / "AX.tsv"]
    for path in paths:
        path.write_text(path.stem)
    archives = [tmp_path / "glue.zip", tmp_path / "again.zip"]
    for archive in archives:
        missing = classification_predictions.zip_glue_submission(str(archive), map(str, paths))
        assert len(missing) == 9 and "MNLI-mm.tsv" in missing
    with zipfile.ZipFile(archives[0]) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    assert found == {"AX.tsv": b"AX", "RTE.tsv": b"RTE"}
    assert archives[0].read_bytes() == archives[1].read_bytes()


# ------------------------------------------------------------------------- what is to be predicted


def _predicted(folder, task, text):
    path = folder / "mine.txt"
    path.write_bytes(text.encode("utf-8"))
    data = examples.read_file(registry.get_task(task), str(path))
    assert all(example.label is None for example in data.examples)
    return [(example.guid, example.text_a, example.text_b) for example in data.examples]


@pytest.mark.parametrize("task, text, guids", FILES["found"])
def test_read_file_finds_texts_to_predict(task, text, guids, tmp_path):
    text_b = "B" if registry.get_task(task).is_pair else None
    assert _predicted(tmp_path, task, text) == [(guid, "A", text_b) for guid in guids]


@pytest.mark.parametrize(
    "texts",
    [
        ["None", "hello there", "bye"],
        ["0", "1", "text about cats"],
        ["Score", "a vote"],
        ["label", "a vote"],
        ["0\t1", "question\tsentence1"],
        ["sentence\tnothing", "a\tb"],
    ],
)
def test_first_line_is_a_text_unless_it_names_the_columns(texts, tmp_path):
    task = registry.get_task("rte" if "\t" in texts[0] else "sst-2")
    (tmp_path / "mine.txt").write_text("\n".join(texts))
    found = examples.read_file(task, f"{tmp_path}/mine.txt", names=("question", "answer")).examples
    assert ["\t".join(filter(None, (item.text_a, item.text_b))) for item in found] == texts


@pytest.mark.parametrize(
    "description, do_train, count",
    [({}, True, 1), ({"columns": ["frage"]}, False, 1), ({}, False, 2)],
)
def test_header_has_the_names_of_the_training_data(description, do_train, count, tmp_path):
    (tmp_path / "train.tsv").write_text("frage\tlabel\nA?\ta\n")
    (tmp_path / "mine.tsv").write_text("frage\nB?\n")
    flags = {"task_name": "custom", "text_a_column": "0", "label_column": "1", "labels": "a,b"}
    flags.update(data_dir=str(tmp_path), predict_file=f"{tmp_path}/mine.tsv", do_train=do_train)
    task = ClassifierTask(flags_lib.make(ClassifierTask.flags_class, **flags), None, description)
    assert [example.text_a for example in task.examples("predict_file")] == ["frage", "B?"][-count:]


def test_predictions_have_the_ids_of_the_column_that_a_flag_names(tmp_path):
    (tmp_path / "mine.tsv").write_text("frage\tkey\nA?\tk7\n")
    task = registry.custom_task(text_a="frage", guid="key", labels="a,b")
    (example,) = examples.read_file(task, f"{tmp_path}/mine.tsv", names=["frage"]).examples
    assert example.guid == "k7"


def test_predict_file_without_the_columns_is_named(tmp_path):
    (tmp_path / "mine.tsv").write_text("x\ty\tz\n")
    flags = {"task_name": "custom", "text_a_column": "0", "label_column": "1", "labels": "a,b"}
    flags.update(predict_file=f"{tmp_path}/mine.tsv", do_train=False)
    task = ClassifierTask(flags_lib.make(ClassifierTask.flags_class, **flags), None, {})
    with pytest.raises(UserError, match="--predict_file.*mine.tsv:1: .* text_a or sentence or "):
        task.examples("predict_file")


@pytest.mark.parametrize("task, text, problem", FILES["refused"])
def test_read_file_refuses_a_file_without_texts(task, text, problem, tmp_path):
    with pytest.raises(ValueError, match="mine.txt" + problem):
        _predicted(tmp_path, task, text)
