# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files of predictions for people, GLUE and CLUE; and files of texts to predict."""

import json
import pathlib
import zipfile

import numpy as np
import pytest

from albert.classification import examples, tasks
from albert.classification import predictions as classifier_predictions
from albert.classification.examples import InputExample

FIXTURE = pathlib.Path(__file__).parents[1] / "fixtures" / "prediction_files.json"
FILES = json.loads(FIXTURE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("given", FILES["written"], ids=lambda given: given["task"])
def test_split_files_of_each_task(given):
    rows = [InputExample(guid, "a") for guid in given["guids"]]
    outputs = {name: np.array(given[name]) for name in ("probabilities", "predictions")}
    task = tasks.get_task(given["task"])
    found = classifier_predictions.split_files(task, rows, outputs, split=given["split"])
    assert found == given["files"]


def test_zip_glue_submission_is_reproducible(tmp_path):
    paths = [tmp_path / "RTE.tsv", tmp_path / "AX.tsv"]
    for path in paths:
        path.write_text(path.stem)
    archives = [tmp_path / "glue.zip", tmp_path / "again.zip"]
    for archive in archives:
        missing = classifier_predictions.zip_glue_submission(str(archive), map(str, paths))
        assert len(missing) == 9 and "MNLI-mm.tsv" in missing
    with zipfile.ZipFile(str(archives[0])) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    assert found == {"AX.tsv": b"AX", "RTE.tsv": b"RTE"}
    assert archives[0].read_bytes() == archives[1].read_bytes()


# ------------------------------------------------------------------------- what is to be predicted


def _predicted(folder, task, text):
    path = folder / "mine.txt"
    path.write_bytes(text.encode("utf-8"))
    data = examples.read_file(tasks.get_task(task), str(path))
    assert all(example.label is None for example in data.examples)
    return [(example.guid, example.text_a, example.text_b) for example in data.examples]


@pytest.mark.parametrize("task, text, guids", FILES["found"])
def test_read_file_finds_texts_to_predict(task, text, guids, tmp_path):
    text_b = "B" if tasks.get_task(task).is_pair else None
    assert _predicted(tmp_path, task, text) == [(guid, "A", text_b) for guid in guids]


@pytest.mark.parametrize("task, text, problem", FILES["refused"])
def test_read_file_refuses_a_file_without_texts(task, text, problem, tmp_path):
    with pytest.raises(ValueError, match="mine.txt" + problem):
        _predicted(tmp_path, task, text)
