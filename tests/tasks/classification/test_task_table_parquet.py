# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Data sets as the hubs keep them, in Parquet files."""

import pathlib
import sys

import numpy as np
import pytest

from albert.data import parquet
from albert.tasks.classification import registry
from tests.support import FIXTURES, parquet_files, read_json

FIRST, SECOND = ["He left.", "A bird", "x"], ["He  went. ", "été", "y"]
FILES = read_json(FIXTURES / "task_files.json")


def write(path, columns, names=None):
    """`names`: of labels that are numbers, as the library `datasets` writes them."""
    features = {"x": [{"dtype": "int64"}], "label": {"names": names, "_type": "ClassLabel"}}
    parquet_files.write(path, columns, features if names else None)


def pairs(labels):
    return {"sentence1": FIRST, "sentence2": SECOND, "label": labels, "idx": [7, 8, 9]}


def read_split(name, folder, split="train"):
    task = registry.get_task(name) if isinstance(name, str) else name
    assert registry.find_file(task, str(folder), split)
    return registry.read_examples(task, str(folder), split)


# The numbers of the labels are those of the hub: nyu-mll/glue, clue/clue, facebook/xnli.
@pytest.mark.parametrize("given", FILES["hubs"], ids=lambda given: given["task"])
def test_parquet_label_numbers(given, tmp_path):
    write(tmp_path / f"{given['file']}.parquet", given["columns"])
    split = given["file"].partition("-")[0].replace("validation", "dev")
    data = read_split(given["task"], tmp_path, split)
    assert [item.label for item in data.examples] == given["labels"]
    if given["task"] == "mrpc":
        found = [(item.guid, item.text_a, item.text_b) for item in data.examples]
        assert found == list(zip("789", FIRST, SECOND))


def test_parquet_scores_are_of_float32(tmp_path):
    write(tmp_path / "train.parquet", pairs(np.float32([5.0, 3.8, 0.0])))
    # Not 3.799999952316284.
    assert [item.label for item in read_split("sts-b", tmp_path).examples] == [5.0, 3.8, 0.0]


def test_parquet_parts_in_order(tmp_path):
    for part, text in ((1, "second"), (0, "first")):
        name = f"train-0000{part}-of-00002.parquet"
        write(tmp_path / "sst2" / name, {"sentence": [text], "label": [part]})
    data = read_split("sst-2", tmp_path)
    assert [item.text_a for item in data.examples] == ["first", "second"]
    assert [pathlib.Path(path).name[:11] for path in data.files] == ["train-00000", "train-00001"]
    (tmp_path / "sst2" / "train.tsv").write_text("sentence\tlabel\nthird\t0\n")
    assert read_split("sst-2", tmp_path).examples[0].text_a == "third"


@pytest.mark.parametrize(
    "names",
    [
        ["00000-of-00003", "00002-of-00003"],
        ["00000-of-00001", "00000-of-00002", "00001-of-00002"],
        ["00000-of-00001", "00000-of-00001-0123456789abcdef"],
        ["00000-of-00001", "more"],
    ],
)
def test_parquet_parts_of_several_tables_are_refused(tmp_path, names):
    for name in names:
        write(tmp_path / f"train-{name}.parquet", pairs([1, 0, 1]))
    with pytest.raises(ValueError, match=f"train-{names[-1][:14]}"):
        read_split("mrpc", tmp_path)
    own = f"{tmp_path}/train-{names[0]}.parquet"
    assert parquet.parts(own) == [own]


@pytest.mark.parametrize("label", [-1, 2, 0.5])
def test_parquet_names_an_unknown_label(tmp_path, label):
    for part, labels in enumerate(([1, 0, 1], [0, label, 1])):
        write(tmp_path / f"train-0000{part}-of-00002.parquet", pairs(labels))
    with pytest.raises(ValueError, match=f"train-00001-of-00002.parquet:2: .* {label}"):
        read_split("mrpc", tmp_path)


@pytest.mark.parametrize(
    "names, labels, numbers, expected",
    [
        (["neg", "pos"], "pos,neg", [0, 1], ["neg", "pos"]),
        (["neg", "pos"], "0,1", [0, 1], ["0", "1"]),
        (["1", "0"], "0,1", [0, 1], ["1", "0"]),
        (["neg", "pos"], "regression", [0, 1], [0.0, 1.0]),
        (None, "0,1", [0.0, 1.0], ["0", "1"]),
    ],
)
def test_parquet_label_names(names, labels, numbers, expected, tmp_path):
    write(tmp_path / "train.parquet", {"q": ["a", "b"], "label": numbers}, names)
    data = read_split(registry.custom_task(text_a="q", labels=labels), tmp_path)
    assert [item.label for item in data.examples] == expected


def test_parquet_hub_folder(tmp_path):
    own = registry.custom_task(text_a="text", labels="negative,positive")
    for there, split in {"train": "train", "validation": "dev", "test": "test"}.items():
        file = tmp_path / "data" / f"{there}-00000-of-00001.parquet"
        write(file, {"text": [there, "b"], "label": [0, 1]}, ["negative", "positive"])
        for task in (own, registry.get_task("chnsenticorp")):
            found = [
                (item.text_a, item.label) for item in read_split(task, tmp_path, split).examples
            ]
            assert found == list(zip([there, "b"], task.labels))


@pytest.mark.parametrize("content", [b"", b"text", b"PAR1" * 9, None])
def test_parquet_names_an_unreadable_file(content, tmp_path, monkeypatch):
    if content is None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    else:
        pytest.importorskip("pyarrow")
    (tmp_path / "validation.parquet").write_bytes(content or b"")
    problem = "pip install" if content is None else "not a Parquet file"
    with pytest.raises(ValueError, match=f"validation.parquet.*{problem}"):
        read_split("sst-2", tmp_path, "dev")
