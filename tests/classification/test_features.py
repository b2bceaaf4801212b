# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From examples to records: truncation, segments, labels, and equality with the reference."""

import functools
import hashlib
import json
import pathlib
import random
import struct

import pytest
import tensorflow.compat.v1 as tf

from albert import classifier_utils, tokenization
from albert.classification import features as classifier_features
from albert.classification import tasks as classifier_tasks
from albert.classification.examples import InputExample, TaskData
from albert.data import batches as input_pipeline
from albert.data import feature_cache
from albert.data.records import PaddingInputExample
from tests.support.shared import needs_shared, shared_path

FIXTURES = pathlib.Path(__file__).parents[1] / "fixtures"
GOLDEN_TASKS = ("mrpc", "cola", "sts-b", "rte", "sst-2")


@functools.lru_cache(maxsize=None)
def _spm():
    return tokenization.FullTokenizer(None, True, str(FIXTURES / "tiny.model"))


@functools.lru_cache(maxsize=None)
def _wordpiece():
    return tokenization.FullTokenizer(str(FIXTURES / "wordpiece_vocab.txt"), True)


def _convert(example, length=16, labels=("0", "1"), tokenizer=None):
    return classifier_features.convert_single_example(
        0, example, list(labels), length, tokenizer or _spm(), "mrpc"
    )


def _records(path):
    return list(tf.python_io.tf_record_iterator(str(path)))


def _canonical_sha256(path):
    digest = hashlib.sha256()
    for record in _records(path):
        canonical = tf.train.Example.FromString(record).SerializeToString(deterministic=True)
        digest.update(struct.pack("<Q", len(canonical)) + canonical)
    return digest.hexdigest()


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


def test_a_pair_is_two_segments_padded_with_zeros():
    tokenizer = _spm()
    first, separator = tokenizer.required_ids(["[CLS]", "[SEP]"])
    ids_a, ids_b = tokenizer.encode_ids_batch(["the cat", "a dog"])
    features = _convert(InputExample("g", "the cat", "a dog", "1"), length=24)
    expected = [first] + ids_a + [separator] + ids_b + [separator]
    padding = [0] * (24 - len(expected))
    assert features.input_ids == expected + padding
    assert features.input_mask == [1] * len(expected) + padding
    ones = len(ids_b) + 1
    assert features.segment_ids == [0] * (len(ids_a) + 2) + [1] * ones + padding
    assert (features.label_id, features.is_real_example) == (1, True)


def test_a_single_text_is_one_segment_and_cut_at_its_end():
    tokenizer = _spm()
    ids = tokenizer.convert_tokens_to_ids(tokenizer.tokenize("the cat and the dog"))
    features = _convert(InputExample("g", "the cat and the dog", None, "0"), length=6)
    first, separator = tokenizer.required_ids(["[CLS]", "[SEP]"])
    assert features.input_ids == [first] + ids[:4] + [separator]
    assert (features.input_mask, features.segment_ids) == ([1] * 6, [0] * 6)


def test_a_padding_example_is_all_zeros_and_not_real():
    features = _convert(PaddingInputExample(), length=4)
    assert features.input_ids == features.input_mask == features.segment_ids == [0] * 4
    assert (features.label_id, features.is_real_example) == (0, False)


def test_labels_of_regression_stay_numbers_and_integers_are_taken_too():
    assert _convert(InputExample("g", "a", None, 2.5), labels=[None]).label_id == 2.5
    label = _convert(InputExample("g", "a", None, 3), labels=[None]).label_id
    assert (label, type(label)) == (3.0, float)


def test_an_unknown_label_is_refused_and_a_missing_one_is_zero():
    with pytest.raises(ValueError, match="max_seq_length is 3"):
        _convert(InputExample("g", "a", None, "0"), length=3)
    with pytest.raises(ValueError, match="Example g: unknown label 'yes'; the labels are 0, 1"):
        _convert(InputExample("g", "a", None, "yes"))
    assert _convert(InputExample("g", "a", None, None)).label_id == 0
    assert _convert(InputExample("g", "a", None, None), labels=[None]).label_id == 0.0


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
        classifier_tasks.get_task(task),
        data,
        output_file=str(path),
        max_seq_length=length,
        tokenizer=tokenizer or _spm(),
        **options,
    )


@pytest.mark.parametrize("tokenizer", [_spm, _wordpiece])
def test_the_fast_way_gives_what_prepared_examples_give_one_by_one(tokenizer, tmp_path):
    tokenizer = tokenizer()
    data = _data(40, tmp_path)
    fast = classifier_features.convert_examples(
        data.examples, ["0", "1"], max_seq_length=16, tokenizer=tokenizer
    )
    for example, features in zip(data.examples, fast):
        prepared = InputExample(
            example.guid,
            tokenizer.preprocess(example.text_a),
            tokenizer.preprocess(example.text_b),
            example.label,
        )
        assert vars(_convert(prepared, tokenizer=tokenizer)) == vars(features)


def test_records_are_the_same_bytes_for_any_number_of_processes_and_either_way(tmp_path):
    data = _data(400, tmp_path)
    paths = [
        _write(data, tmp_path / f"{count}.tf_record", num_processes=count).path for count in (1, 2)
    ]
    prepared = [
        InputExample(e.guid, _spm().preprocess(e.text_a), _spm().preprocess(e.text_b), e.label)
        for e in data.examples
    ]
    classifier_features.file_based_convert_examples_to_features(
        prepared, ["0", "1"], 16, _spm(), str(tmp_path / "one_by_one.tf_record"), "mrpc"
    )
    paths.append(str(tmp_path / "one_by_one.tf_record"))
    assert len({pathlib.Path(path).read_bytes() for path in paths}) == 1


def test_how_many_examples_were_cut_is_counted(tmp_path):
    data = TaskData([InputExample("0", "cat " * 20), InputExample("1", "a")], [], [])
    built = _write(data, tmp_path / "a.tf_record", task="sst-2", length=8)
    assert built.notes["cut to 8 tokens"] == 1


@pytest.mark.parametrize("task", ["mrpc", "sts-b"])
def test_the_declaration_parses_what_was_written(task, tmp_path):
    is_regression = task == "sts-b"
    example = InputExample("0", "the cat", "a dog", 2.5 if is_regression else "1")
    built = _write(TaskData([example], [], []), tmp_path / "a.tf_record", task=task)
    spec = classifier_features.feature_spec(16, is_regression)
    spec.check_file(built.path)
    with tf.Graph().as_default(), tf.Session() as session:
        parsed = session.run(spec.parse_batch(tf.constant(_records(built.path))))
    assert parsed["input_ids"].shape == (1, 16)
    assert parsed["label_ids"].tolist() == [2.5 if is_regression else 1]
    assert parsed["label_ids"].dtype == ("float32" if is_regression else "int32")
    assert parsed["is_real_example"].tolist() == [1]


# -------------------------------------------------------------------------------------- the cache


def _changed_label(data):
    examples = list(data.examples)
    examples[0] = InputExample("0", examples[0].text_a, examples[0].text_b, "1")
    return data._replace(examples=examples)


@pytest.mark.parametrize(
    "change",
    [
        {"length": 24},
        {"tokenizer": "wordpiece"},
        {"tokenizer": "cased"},
        {"task": "qqp", "expected": True},
        {"task": "mnli"},
        {"data": _changed_label},
    ],
)
def test_whatever_decides_the_records_decides_whether_they_are_current(change, tmp_path):
    data = _data(5, tmp_path)
    path = tmp_path / "a.tf_record"
    _write(data, path)
    change = dict(change)
    expected = change.pop("expected", False)
    data = change.pop("data", lambda same: same)(data)
    if change.get("task") == "mnli":
        data = data._replace(examples=[InputExample("0", "a", "b", "neutral")])
    tokenizers = {
        "wordpiece": _wordpiece,
        "cased": lambda: tokenization.FullTokenizer(None, False, str(FIXTURES / "tiny.model")),
    }
    if "tokenizer" in change:
        change["tokenizer"] = tokenizers[change["tokenizer"]]()
    assert _write(data, path, **change).was_current is expected


def test_a_changed_source_file_rebuilds(tmp_path):
    data = _data(5, tmp_path)
    path = tmp_path / "a.tf_record"
    _write(data, path)
    pathlib.Path(data.files[0]).write_text("another content", encoding="utf-8")
    assert not _write(data, path).was_current


def test_tokenizers_are_told_apart_by_their_content_not_by_their_path(tmp_path):
    copy = tmp_path / "copy.model"
    copy.write_bytes((FIXTURES / "tiny.model").read_bytes())
    other = tokenization.FullTokenizer(None, True, str(copy))
    fingerprint = feature_cache.tokenizer_fingerprint
    assert fingerprint(other) == fingerprint(_spm()) != fingerprint(_wordpiece())


def test_cache_files_are_named_by_task_use_and_length():
    def name(task, split):
        declared = classifier_tasks.get_task(task)
        return classifier_features.cache_path("c", declared, split, max_seq_length=128)

    assert name("mrpc", "train") == "c/mrpc_train.128.tf_record"
    assert name("mrpc", "dev") == "c/mrpc_eval.128.tf_record"
    assert name("mnli", "dev_matched") == name("mnli", "dev") == "c/mnli_eval.128.tf_record"
    assert name("mnli", "dev_mismatched") == "c/mnli_eval_mismatched.128.tf_record"
    assert name("sts-b", "test") == "c/sts-b_predict.128.tf_record"


def test_a_split_is_read_and_its_features_cached(tmp_path):
    text = "index\tsentence1\tsentence2\tlabel\n0\tThe cat.\tA dog.\tentailment\n"
    (tmp_path / "dev.tsv").write_text(text, encoding="utf-8")

    def cached():
        return classifier_features.cached_features(
            classifier_tasks.get_task("rte"),
            str(tmp_path),
            "dev",
            cached_dir=str(tmp_path / "cache"),
            max_seq_length=16,
            tokenizer=_spm(),
        )

    built = cached()
    assert [example.guid for example in built.data.examples] == ["0"]
    assert (built.records.count, built.records.was_current) == (1, False)
    assert cached().records.was_current


# ---------------------------------------------------------------------------------- fixed numbers

TOKENIZERS = {"tiny.model": _spm, "wordpiece_vocab.txt": _wordpiece}


def _fixed(vocabulary):
    text = (FIXTURES / "classifier_features.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.split("\n") if line]
    return [row for row in rows if row["vocabulary"] == vocabulary]


def _prepared(row, tokenizer):
    texts = [row["text_a"], row["text_b"]]
    texts = [None if text is None else tokenizer.preprocess(text) for text in texts]
    return InputExample("g", *texts, label=row["label"])


@pytest.mark.parametrize("vocabulary", list(TOKENIZERS))
def test_features_are_the_numbers_that_were_worked_out_by_hand(vocabulary):
    tokenizer = TOKENIZERS[vocabulary]()
    rows = _fixed(vocabulary)
    assert len(rows) == 14
    for row in rows:
        length = row["max_seq_length"]
        one = _convert(_prepared(row, tokenizer), length=length, tokenizer=tokenizer)
        raw = InputExample("g", row["text_a"], row["text_b"], row["label"])
        (fast,) = classifier_features.convert_examples(
            [raw], ["0", "1"], max_seq_length=length, tokenizer=tokenizer
        )
        for features in (one, fast):
            for name in ("input_ids", "input_mask", "segment_ids", "label_id"):
                assert getattr(features, name) == row[name], (row["pieces"], name)


@pytest.mark.parametrize(
    "vocabulary, sha256",
    [
        ("tiny.model", "7c89bf6c2081ab8fba76931fbebfeeffb8a45d9bb99fec0ece024356e15ea9f6"),
        ("wordpiece_vocab.txt", "e0cd11f9142ce78721aad8444e52e5c6f77ddd4895042789bd2be545ea360816"),
    ],
)
def test_records_hold_the_fixed_numbers(vocabulary, sha256, tmp_path):
    tokenizer, path = TOKENIZERS[vocabulary](), str(tmp_path / "a.tf_record")
    rows = [row for row in _fixed(vocabulary) if row["max_seq_length"] == 24]
    examples = [_prepared(row, tokenizer) for row in rows]
    classifier_features.file_based_convert_examples_to_features(
        examples, ["0", "1"], 24, tokenizer, path, "mrpc"
    )
    for row, record in zip(rows, _records(path)):
        values = tf.train.Example.FromString(record).features.feature
        for name in ("input_ids", "input_mask", "segment_ids"):
            assert list(values[name].int64_list.value) == row[name]
        assert list(values["label_ids"].int64_list.value) == [row["label_id"]]
        assert list(values["is_real_example"].int64_list.value) == [1]
    # Of the length and the bytes of each record, written with its features in order.
    assert _canonical_sha256(path) == sha256


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
def test_features_equal_the_references_token_for_token(name, tmp_path):
    processor = classifier_utils.PROCESSORS[name](use_spm=True, do_lower_case=True)
    expected = [row for row in _golden() if row["task"] == name and row["kind"] == "example"]
    (task,) = [row for row in _golden() if row["task"] == name and row["kind"] == "task"]
    examples = processor.get_dev_examples(str(shared_path("data/glue")))[: task["count"]]
    labels = processor.get_labels()
    assert labels == task["label_list"]
    for index, (example, row) in enumerate(zip(examples, expected)):
        for key, value in vars(example).items():
            assert row[key] == value, key
        features = classifier_features.convert_single_example(
            index, example, labels, task["max_seq_length"], _golden_tokenizer(), name
        )
        for key in ("input_ids", "input_mask", "segment_ids", "label_id", "is_real_example"):
            assert row[key] == getattr(features, key), key
    path = str(tmp_path / "golden.tf_record")
    classifier_features.file_based_convert_examples_to_features(
        examples, labels, task["max_seq_length"], _golden_tokenizer(), path, name
    )
    assert _canonical_sha256(path) == task["canonical_sha256"]
    assert pathlib.Path(path).stat().st_size == task["tf_record_bytes"]


@needs_shared
@pytest.mark.parametrize("name", GOLDEN_TASKS)
def test_the_fast_way_equals_the_reference_record_for_record(name, tmp_path):
    (golden,) = [row for row in _golden() if row["task"] == name and row["kind"] == "task"]
    task = classifier_tasks.get_task(name)
    data = classifier_tasks.read_examples(task, str(shared_path("data/glue")), "dev")
    data = data._replace(examples=data.examples[: golden["count"]])
    length, tokenizer = golden["max_seq_length"], _golden_tokenizer()
    built = _write(data, tmp_path / "a.tf_record", task=name, length=length, tokenizer=tokenizer)
    assert _canonical_sha256(built.path) == golden["canonical_sha256"]


@needs_shared
def test_a_chinese_task_is_encoded_by_wordpiece(tmp_path):
    vocab_file = str(shared_path("data/wordpiece/zh_vocab.txt"))
    tokenizer = tokenization.FullTokenizer(vocab_file, True)
    task = classifier_tasks.get_task("lcqmc")
    data = classifier_tasks.read_examples(task, str(shared_path("data/clue")), "dev")
    data = data._replace(examples=data.examples[:3])
    built = _write(data, tmp_path / "a.tf_record", task="lcqmc", length=64, tokenizer=tokenizer)
    spec = classifier_features.feature_spec(64, is_regression=False)
    assert input_pipeline.count_records(built.path) == 3
    with tf.Graph().as_default(), tf.Session() as session:
        parsed = session.run(spec.parse_batch(tf.constant(_records(built.path))))
    pieces = tokenizer.convert_ids_to_tokens(
        parsed["input_ids"][0][: parsed["input_mask"][0].sum()]
    )
    assert "".join(pieces) == "[CLS]开初婚未育证明怎么弄？[SEP]初婚未育情况证明怎么开？[SEP]"
    assert parsed["label_ids"].tolist() == [1, 0, 1]
