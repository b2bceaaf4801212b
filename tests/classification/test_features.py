# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From examples to records: truncation, segments, labels, and equality with the reference."""

import functools
import json
import pathlib
import random

import pytest
import tensorflow.compat.v1 as tf

from albert import classifier_utils, tokenization
from albert.classification import features as classifier_features
from albert.classification import tasks
from albert.classification.examples import InputExample, TaskData
from albert.data.records import PaddingInputExample
from tests.support.shared import canonical_sha256, needs_shared, shared_path

FIXTURES = pathlib.Path(__file__).parents[1] / "fixtures"
GOLDEN_TASKS = ("mrpc", "cola", "sts-b", "rte", "sst-2")


@functools.lru_cache(maxsize=None)
def _spm(lower=True):
    return tokenization.FullTokenizer(None, lower, str(FIXTURES / "tiny.model"))


@functools.lru_cache(maxsize=None)
def _wordpiece():
    return tokenization.FullTokenizer(str(FIXTURES / "wordpiece_vocab.txt"), True)


def _convert(example, length=16, labels=("0", "1"), tokenizer=None):
    return classifier_features.convert_single_example(
        0, example, list(labels), length, tokenizer or _spm(), "mrpc"
    )


def _records(path):
    return list(tf.python_io.tf_record_iterator(str(path)))


# ------------------------------------------------------------------------------------- truncation


def test_truncation_equals_taking_pieces_one_by_one():
    numbers = random.Random(1)
    for _ in range(300):
        length_a, length_b = numbers.randrange(30), numbers.randrange(30)
        available = numbers.randrange(40)
        kept_a, kept_b = length_a, length_b
        while kept_a + kept_b > available:
            kept_a, kept_b = (kept_a - 1, kept_b) if kept_a > kept_b else (kept_a, kept_b - 1)
        kept = classifier_features.truncated_lengths(length_a, length_b, available)
        assert kept == (kept_a, kept_b)


# ------------------------------------------------------------------------------------- one example


def test_a_padding_example_is_all_zeros_and_not_real():
    features = _convert(PaddingInputExample(), length=4)
    assert features.input_ids == features.input_mask == features.segment_ids == [0] * 4
    assert (features.label_id, features.is_real_example) == (0, False)


@pytest.mark.parametrize(
    "label, labels, expected",
    [
        ("1", ("0", "1"), 1),
        (2.5, (None,), 2.5),
        (3, (None,), 3.0),
        (None, ("0", "1"), 0),
        (None, (None,), 0.0),
    ],
)
def test_labels_become_their_ids_and_scores_floats(label, labels, expected):
    found = _convert(InputExample("g", "a", None, label), labels=labels).label_id
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    "label, length, problem", [("yes", 16, "Example g: .*'yes'.* 0, 1"), ("0", 3, "max_seq_length")]
)
def test_unknown_labels_and_lengths_without_room_are_refused(label, length, problem):
    with pytest.raises(ValueError, match=problem):
        _convert(InputExample("g", "a", None, label), length=length)


# ------------------------------------------------------------------------------------ many examples


def _data(count, folder):
    sentence = "the cat saw a dog and The Café was old while rain fell on stone"
    words = sentence.split()
    numbers = random.Random(2)
    examples = []
    for index in range(count):
        texts = [" ".join(numbers.choices(words, k=numbers.randrange(1, 9))) for _ in "ab"]
        examples.append(InputExample(str(index), texts[0], texts[1], str(index % 2)))
    source = folder / "train.tsv"
    source.write_text(repr(count), encoding="utf-8")
    return TaskData(examples, [str(source)], [])


def _write(data, path, *, task="mrpc", length=16, tokenizer=None, **options):
    return classifier_features.write_features(
        tasks.get_task(task),
        data,
        output_file=str(path),
        max_seq_length=length,
        tokenizer=tokenizer or _spm(),
        **options,
    )


@pytest.mark.parametrize("tokenizer", [_spm, _wordpiece])
def test_records_are_the_same_bytes_for_any_number_of_processes_and_either_way(tokenizer, tmp_path):
    data, tokenizer = _data(400, tmp_path), tokenizer()
    paths = [
        _write(data, tmp_path / f"{count}.tf_record", num_processes=count, tokenizer=tokenizer).path
        for count in (1, 2)
    ]
    prepared = [
        InputExample(e.guid, *map(tokenizer.preprocess, (e.text_a, e.text_b)), label=e.label)
        for e in data.examples
    ]
    paths.append(str(tmp_path / "one_by_one.tf_record"))
    classifier_features.file_based_convert_examples_to_features(
        prepared, ["0", "1"], 16, tokenizer, paths[-1], "mrpc"
    )
    assert len({pathlib.Path(path).read_bytes() for path in paths}) == 1


def test_how_many_examples_were_cut_is_counted(tmp_path):
    data = TaskData([InputExample("0", "cat " * 20), InputExample("1", "a")], [], [])
    built = _write(data, tmp_path / "a.tf_record", task="sst-2", length=8)
    assert built.notes["cut to 8 tokens"] == 1


@pytest.mark.parametrize(
    "task, label, expected, kind", [("mrpc", "1", 1, "int32"), ("sts-b", 2.5, 2.5, "float32")]
)
def test_the_declaration_parses_what_was_written(task, label, expected, kind, tmp_path):
    example = InputExample("0", "the cat", "a dog", label)
    built = _write(TaskData([example], [], []), tmp_path / "a.tf_record", task=task)
    spec = classifier_features.feature_spec(16, task == "sts-b")
    spec.check_file(built.path)
    with tf.Graph().as_default(), tf.Session() as session:
        parsed = session.run(spec.parse_batch(tf.constant(_records(built.path))))
    assert parsed["input_ids"].shape == (1, 16)
    assert (parsed["label_ids"].tolist(), parsed["label_ids"].dtype) == ([expected], kind)
    assert parsed["is_real_example"].tolist() == [1]


# -------------------------------------------------------------------------------------- the cache


@pytest.mark.parametrize(
    "change, is_current",
    [
        ({}, True),
        ({"task": "qqp"}, True),  # the labels are the same
        ({"length": 24}, False),
        ({"tokenizer": _wordpiece}, False),
        ({"tokenizer": lambda: _spm(lower=False)}, False),
        ({"task": "mnli", "label": "neutral"}, False),
        ({"label": "1"}, False),
        ({"source": "another content"}, False),
    ],
)
def test_whatever_decides_the_records_decides_whether_they_are_current(
    change, is_current, tmp_path
):
    data, path = _data(1, tmp_path), tmp_path / "a.tf_record"
    _write(data, path)
    change = dict(change)
    if "label" in change:
        data.examples[0].label = change.pop("label")
    if "source" in change:
        pathlib.Path(data.files[0]).write_text(change.pop("source"), encoding="utf-8")
    if "tokenizer" in change:
        change["tokenizer"] = change["tokenizer"]()
    assert _write(data, path, **change).was_current is is_current


# ---------------------------------------------------------------------------------- fixed numbers


@pytest.mark.parametrize(
    "vocabulary, tokenizer, sha256",
    [
        ("tiny.model", _spm, "7c89bf6c2081ab8fba76931fbebfeeffb8a45d9bb99fec0ece024356e15ea9f6"),
        (
            "wordpiece_vocab.txt",
            _wordpiece,
            "e0cd11f9142ce78721aad8444e52e5c6f77ddd4895042789bd2be545ea360816",
        ),
    ],
)
def test_features_are_the_numbers_that_were_worked_out_by_hand(
    vocabulary, tokenizer, sha256, tmp_path
):
    tokenizer, path = tokenizer(), str(tmp_path / "a.tf_record")
    text = (FIXTURES / "classifier_features.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.split("\n") if line]
    rows = [row for row in rows if row["vocabulary"] == vocabulary]
    assert len(rows) == 14
    of_length_24 = []
    for row in rows:
        length = row["max_seq_length"]
        raw = InputExample("g", row["text_a"], row["text_b"], row["label"])
        (fast,) = classifier_features.convert_examples(
            [raw], ["0", "1"], max_seq_length=length, tokenizer=tokenizer
        )
        texts = [text and tokenizer.preprocess(text) for text in (raw.text_a, raw.text_b)]
        prepared = InputExample("g", *texts, label=row["label"])
        of_length_24 += [prepared] * (length == 24)
        for features in (_convert(prepared, length=length, tokenizer=tokenizer), fast):
            for name in ("input_ids", "input_mask", "segment_ids", "label_id"):
                assert getattr(features, name) == row[name], (row["pieces"], name)
            assert features.is_real_example
    classifier_features.file_based_convert_examples_to_features(
        of_length_24, ["0", "1"], 24, tokenizer, path, "mrpc"
    )
    # Of the length and the bytes of each record, written with its features in order.
    assert canonical_sha256(path) == sha256


# --------------------------------------------------------------------------------------- reference


@functools.lru_cache(maxsize=None)
def _golden():
    lines = shared_path("golden/classifier_features.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


@functools.lru_cache(maxsize=None)
def _golden_tokenizer():
    return tokenization.FullTokenizer(None, True, str(shared_path("data/spm/30k-clean.model")))


@needs_shared
@pytest.mark.parametrize("name", GOLDEN_TASKS)
def test_features_equal_the_references_token_for_token_either_way(name, tmp_path):
    processor = classifier_utils.PROCESSORS[name](use_spm=True, do_lower_case=True)
    expected = [row for row in _golden() if row["task"] == name and row["kind"] == "example"]
    (golden,) = [row for row in _golden() if row["task"] == name and row["kind"] == "task"]
    data_dir, length = str(shared_path("data/glue")), golden["max_seq_length"]
    examples = processor.get_dev_examples(data_dir)[: golden["count"]]
    labels = processor.get_labels()
    assert labels == golden["label_list"]
    for index, (example, row) in enumerate(zip(examples, expected)):
        for key, value in vars(example).items():
            assert row[key] == value, key
        features = classifier_features.convert_single_example(
            index, example, labels, length, _golden_tokenizer(), name
        )
        for key in ("input_ids", "input_mask", "segment_ids", "label_id", "is_real_example"):
            assert row[key] == getattr(features, key), key
    path = str(tmp_path / "golden.tf_record")
    classifier_features.file_based_convert_examples_to_features(
        examples, labels, length, _golden_tokenizer(), path, name
    )
    assert canonical_sha256(path) == golden["canonical_sha256"]
    assert pathlib.Path(path).stat().st_size == golden["tf_record_bytes"]

    data = tasks.read_examples(tasks.get_task(name), data_dir, "dev")
    data = data._replace(examples=data.examples[: golden["count"]])
    built = _write(
        data, tmp_path / "a.tf_record", task=name, length=length, tokenizer=_golden_tokenizer()
    )
    assert pathlib.Path(built.path).read_bytes() == pathlib.Path(path).read_bytes()
