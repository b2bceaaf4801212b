# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From examples to records: truncation, segments, labels, and equality with the reference."""

import itertools
import json
import pathlib

import pytest
import tensorflow.compat.v1 as tf

from albert import classifier_utils
from albert.data.inputs import PaddingInputExample
from albert.tasks.classification import features as classification_features
from albert.tasks.classification import registry
from albert.tasks.classification.examples import InputExample
from albert.tasks.classification.flags import ClassifierFlags
from albert.tasks.classification.task import ClassifierTask
from albert.training import fine_tuning
from tests.support import FIXTURES, graphs
from tests.support.recorded import assert_checksum
from tests.support.shared import (
    canonical_sha256,
    english_tokenizer,
    json_lines,
    needs_shared,
    shared_path,
)
from tests.support.squad_data import sentencepiece as spm
from tests.support.squad_data import wordpiece

GOLDEN_TASKS = ("mrpc", "cola", "sts-b", "rte", "sst-2")
SEQUENCES = ("input_ids", "input_mask", "segment_ids")
BINARY = ["0", "1"]


def write(examples, path, *, labels=BINARY, length=16, tokenizer=None):
    """The record file that the task makes of raw examples."""
    flags = ClassifierFlags(max_seq_length=length, cached_dir=str(path.parent))
    about = {"task": "t", "labels": [label for label in labels if label]}
    task = ClassifierTask(flags, tokenizer or spm(), about)
    task.examples = lambda _: examples
    return fine_tuning.read_split(task, "train").records


def write_prepared(examples, path, *, labels=BINARY, length, tokenizer):
    """The path of what programs make of prepared examples."""
    classification_features.file_based_convert_examples_to_features(
        examples, labels, length, tokenizer, str(path), ""
    )
    return path


def prepared(example, tokenizer):
    texts = [text and tokenizer.preprocess(text) for text in (example.text_a, example.text_b)]
    return InputExample(example.guid, *texts, label=example.label)


def test_truncated_lengths():
    for given in itertools.product(range(0, 30, 3), range(0, 30, 3), range(0, 40, 3)):
        *kept, available = given
        while sum(kept) > available:
            kept[kept[0] <= kept[1]] -= 1
        assert classification_features.truncated_lengths(*given) == tuple(kept)


@pytest.mark.parametrize(
    "label, labels, expected",
    [
        ("1", BINARY, 1),
        (2.5, [None], 2.5),
        (None, BINARY, 0),
        (None, [None], 0.0),
    ],
)
def test_convert_single_example_label_ids(label, labels, expected):
    def convert(label):
        example = InputExample("g", "a", None, label)
        return classification_features.convert_single_example(0, example, labels, 16, spm(), "mrpc")

    found = convert(label).label_id
    assert (found, type(found)) == (expected, type(expected))
    with pytest.raises(ValueError, match="'yes'"):
        convert("yes")


@pytest.mark.parametrize("label, labels", [("1", BINARY), (2.5, [None])])
def test_feature_spec_parses_records(label, labels, tmp_path, caplog):
    examples = [InputExample("0", "cat " * 20, "a", label), PaddingInputExample()]
    caplog.set_level("INFO")
    built = write(examples, tmp_path / "a.tf_record", labels=labels)
    assert "1 x cut to 16 tokens" in caplog.text
    spec = classification_features.feature_spec(16, labels == [None])
    with graphs.new_session() as session:
        parsed = session.run(spec.parse_batch(list(tf.python_io.tf_record_iterator(built.path))))
    assert parsed["input_mask"].tolist() == [[1] * 16, [0] * 16]
    assert not any(parsed[name][1].any() for name in SEQUENCES)
    assert parsed["label_ids"].tolist() == [float(label), 0]
    assert parsed["label_ids"].dtype == ("float32" if labels == [None] else "int32")
    assert parsed["is_real_example"].tolist() == [1, 0]


@pytest.mark.parametrize(
    "change",
    [
        {"length": 24},
        {"tokenizer": wordpiece},
        {"tokenizer": lambda: spm(False)},
        {"labels": ["0", "1", "2"]},
        {"examples": [InputExample("0", "a", "b", "1")]},
    ],
)
def test_record_file_depends_on(change, tmp_path):
    given = {"examples": [InputExample("0", "a", "b", "0")], "path": tmp_path / "a.tf_record"}
    first = write(**given).path
    given.update({name: value() if callable(value) else value for name, value in change.items()})
    assert write(**given).path != first


@pytest.mark.parametrize(
    "vocabulary, tokenizer", [("tiny.model", spm), ("wordpiece_vocab.txt", wordpiece)]
)
def test_features_equal_handmade_numbers(vocabulary, tokenizer, tmp_path):
    text = (FIXTURES / "classifier_features.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.split("\n") if vocabulary in line]
    assert len(rows) == 14
    of_length_24 = []
    for row in rows:
        length = row["max_seq_length"]
        raw = InputExample("g", row["text_a"], row["text_b"], row["label"])
        if length == 24:
            of_length_24.append(raw)
        for example, is_raw in ((raw, True), (prepared(raw, tokenizer()), False)):
            (features,) = classification_features.convert_examples_to_features(
                [example], BINARY, length, tokenizer(), "mrpc", is_raw=is_raw
            )
            for name in (*SEQUENCES, "label_id"):
                assert getattr(features, name) == row[name], (row["pieces"], name)
    options = {"length": 24, "tokenizer": tokenizer()}
    built = write(of_length_24, tmp_path / "a.tf_record", **options)
    assert_checksum(f"classifier records, {vocabulary}", canonical_sha256(built.path))
    ready = [prepared(example, tokenizer()) for example in of_length_24]
    path = write_prepared(ready, tmp_path / "b.tf_record", **options)
    assert path.read_bytes() == pathlib.Path(built.path).read_bytes()


@needs_shared
@pytest.mark.parametrize("name", GOLDEN_TASKS)
def test_features_equal_the_reference(name, tmp_path):
    rows = [row for row in json_lines("golden/classifier_features.jsonl") if row["task"] == name]
    (golden,) = [row for row in rows if row["kind"] == "task"]
    tokenizer, length = english_tokenizer(), golden["max_seq_length"]
    processor = classifier_utils.PROCESSORS[name](use_spm=True, do_lower_case=True)
    data_dir, labels = str(shared_path("data/glue")), processor.get_labels()
    assert labels == golden["label_list"]
    examples = processor.get_dev_examples(data_dir)[: golden["count"]]
    for row, example in zip((row for row in rows if row["kind"] == "example"), examples):
        assert {key: row[key] for key in vars(example)} == vars(example)
    raw = registry.read_examples(registry.get_task(name), data_dir, "dev").examples[
        : golden["count"]
    ]
    options = {"labels": labels, "length": length, "tokenizer": tokenizer}
    prepared_file = write_prepared(examples, tmp_path / "a.tf_record", **options)
    for path in (prepared_file, write(raw, tmp_path / "b.tf_record", **options).path):
        assert canonical_sha256(str(path)) == golden["canonical_sha256"]
        assert pathlib.Path(path).stat().st_size == golden["tf_record_bytes"]


def test_labels_are_numbered_once_for_all_examples():
    class Labels(tuple):
        """Labels that may be many."""

        def __iter__(self):
            raise AssertionError("numbered anew")

    about = {"task": "t", "labels": ["a", "b"]}
    task = ClassifierTask(ClassifierFlags(max_seq_length=16), spm(), about)
    task.labels = Labels(task.labels)
    records = task.encode([InputExample("0", "a", None, "b"), InputExample("1", "a")], True).records
    assert records["label_ids"] == [1, 0]


LONG = ("a b c d e f g", None)


@pytest.mark.parametrize(
    "truncation, texts, length, expected, is_cut",
    [
        ("end", LONG, 7, ["abcde"], 1),
        ("head_tail", LONG, 7, ["abefg"], 1),
        ("windows", LONG, 7, ["abcde", "cdefg"], 0),
        ("windows", ("a b", "c d e f g"), 9, ["ab[SEP]cdef", "ab[SEP]defg"], 0),
        ("windows", ("a b c d e", ""), 9, ["abcde[SEP]"], 0),
        ("windows", ("a b c d e", "f g h i"), 9, ["abc[SEP]fgh", "cde[SEP]fgh"], 1),
    ],
)
def test_truncation_decides_what_is_kept_of_long_texts(truncation, texts, length, expected, is_cut):
    flags = ClassifierFlags(max_seq_length=length, truncation=truncation)
    task = ClassifierTask(flags, wordpiece(), {"task": "t", "labels": BINARY})
    records, notes = task.encode([InputExample("", *texts, label="1")], True)
    count = len(expected)
    for ids, mask, segments in zip(records["input_ids"], records["input_mask"], expected):
        used = task.tokenizer.convert_ids_to_tokens(ids[: sum(mask)].tolist())
        assert "".join(used) == f"[CLS]{segments}[SEP]"
    assert (records["label_ids"], records["num_windows"]) == ([1] * count, [count] * count)
    assert list(notes.values()) == [is_cut, texts[1] == "", count > 1]


def test_truncation_is_recorded_unless_it_is_the_usual_one():
    for truncation, recorded in (("end", None), ("windows", "windows")):
        flags = ClassifierFlags(truncation=truncation)
        task = ClassifierTask(flags, spm(), {"task": "t", "labels": BINARY})
        assert task.describe().get("truncation") == recorded
        assert ("num_windows" in task.spec(True).names) == (truncation == "windows")
