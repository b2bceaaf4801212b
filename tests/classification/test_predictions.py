# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files of predictions for people, GLUE and CLUE; and files of texts to predict."""

import json
import zipfile

import numpy as np
import pytest

from albert.classification import examples, tasks
from albert.classification import predictions as classifier_predictions
from albert.classification.examples import InputExample


def _predictions(probabilities, predictions, guids="0123"):
    examples = [InputExample(guid, "a") for guid, _ in zip(guids, predictions)]
    outputs = {"probabilities": probabilities, "predictions": predictions}
    return examples, {name: np.array(values) for name, values in outputs.items()}


# --------------------------------------------------------------------------------------- writing


@pytest.mark.parametrize(
    "task, split, predictions, expected",
    [
        (
            "rte",
            "test",
            _predictions([[0.25, 0.75], [0.1, 0.9]], [1, 0], ["7", "x"]),
            {
                "test_results.tsv": "0.25\t0.75\n0.1\t0.9\n",
                "submit_results.tsv": "index\tprediction\n7\tnot_entailment\nx\tentailment\n",
                "RTE.tsv": "index\tprediction\n7\tnot_entailment\nx\tentailment\n",
            },
        ),
        (  # scores stay on the scale for GLUE
            "sts-b",
            "test",
            _predictions([[5.25], [-0.5], [2.5]], [5.25, -0.5, 2.5]),
            {
                "test_results.tsv": "5.25\n-0.5\n2.5\n",
                "submit_results.tsv": "index\tprediction\n0\t5.25\n1\t-0.5\n2\t2.5\n",
                "STS-B.tsv": "index\tprediction\n0\t5.000\n1\t0.000\n2\t2.500\n",
            },
        ),
        (
            "mnli",
            "test_mismatched",
            _predictions([[0.5, 0.25, 0.25]], [2]),
            {
                "test_results_mismatched.tsv": "0.5\t0.25\t0.25\n",
                "submit_results_mismatched.tsv": "index\tprediction\n0\tneutral\n",
                "MNLI-mm.tsv": "index\tprediction\n0\tneutral\n",
            },
        ),
        (
            "iflytek",
            "test",
            _predictions([[0.5, 0.25], [0.25, 0.5]], [0, 118], ["test-0", "test-1"]),
            {
                "test_results.tsv": "0.5\t0.25\n0.25\t0.5\n",
                "submit_results.tsv": "index\tprediction\ntest-0\t0\ntest-1\t118\n",
                "iflytek_predict.json": '{"id": 0, "label": "0"}\n{"id": 1, "label": "118"}\n',
            },
        ),
        (  # the more probable of two choices is the answer of a row
            "copa",
            "test",
            _predictions([[0.1, 0.9], [0.05, 0.95], [0.6, 0.4], [0.8, 0.2]], [1, 1, 0, 0]),
            {
                "test_results.tsv": "0.1\t0.9\n0.05\t0.95\n0.6\t0.4\n0.8\t0.2\n",
                "submit_results.tsv": "index\tprediction\n0\t1\n1\t1\n2\t0\n3\t0\n",
                "copa_predict.json": '{"id": 0, "label": "1"}\n{"id": 1, "label": "0"}\n',
            },
        ),
    ],
)
def test_split_files_of_each_task(task, split, predictions, expected):
    found = classifier_predictions.split_files(tasks.get_task(task), *predictions, split=split)
    assert found == expected


# -------------------------------------------------------------------------------- the zip for GLUE


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


COPA = ("premise", "choices", "question", "label")


def _predicted(folder, task, text):
    path = folder / "mine.txt"
    path.write_bytes(text.encode("utf-8"))
    data = examples.read_file(tasks.get_task(task), str(path))
    assert all(example.label is None for example in data.examples)
    return [(example.guid, example.text_a, example.text_b) for example in data.examples]


@pytest.mark.parametrize(
    "task, text, guids",
    [
        ("mrpc", "A\tB\n", "0"),
        ("mrpc", "\ufefftext_a\ttext_b\r\nA\tB\r\n", "0"),
        ("mrpc", "label\tquestion1\tquestion2\n1\tA\tB\n", "0"),
        ("mrpc", "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t11\t12\tA\tB\n", "0"),
        ("mrpc", '{"id": 3, "text_a": "A", "text_b": "B"}\n', "3"),
        ("xnli", '{"premise": "A", "hypo": "B"}\n', "0"),
        ("csl", '{"keyword": ["A"], "abst": "B", "label": "x"}\n', "0"),
        ("copa", '{"text_a": "A", "text_b": "B"}\n' * 2, "01"),
        # Answers are not looked at.
        *[
            ("copa", json.dumps(dict(zip(COPA, ("A", ["B", "B"], "effect", label)))), "01")
            for label in (1, 7)
        ],
        ("sst-2", "A\n", "0"),
        ("sst-2", "id\tsentence\nx7\tA\nx8\tA\n", ["x7", "x8"]),
        ("tnews", '{"sentence": "A", "label": 999}\n', "0"),
        ("tnews", '{"text": "A"}\n', "0"),
    ],
)
def test_read_file_finds_texts_to_predict(task, text, guids, tmp_path):
    text_b = "B" if tasks.get_task(task).is_pair else None
    assert _predicted(tmp_path, task, text) == [(guid, "A", text_b) for guid in guids]


@pytest.mark.parametrize(
    "task, text, problem",
    [
        ("mrpc", "A\n", ".*text_a.*text_b"),
        ("mrpc", '{"text": "A"}\n', ".*text_a.*text_b"),
        # Labels are not taken for texts.
        ("rte", "A\tB\tentailment\nC\tD\tnot_entailment\n", ""),
        ("lcqmc", "A\t1\nC\t0\n", ""),
        ("sts-b", "A\t2.5\nB\t0\n", ""),
        ("sst-2", "\n", ".*empty"),
        ("mrpc", "text_a\ttext_b\nA\tB\nC\n", ":3: "),
        ("wsc", '{"text": "A", "target": {}}\n', ":1: "),
        ("copa", "premise\tchoices\tquestion\nP\tA\tcause\n", ""),
    ],
)
def test_read_file_refuses_a_file_without_texts(task, text, problem, tmp_path):
    with pytest.raises(ValueError, match="mine.txt" + problem):
        _predicted(tmp_path, task, text)
