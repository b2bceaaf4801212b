# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the input functions serve that are called as google-research/albert's programs call them.

The records are written by tf.train.Example, as those programs do.
"""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import classifier_utils, squad_utils

LENGTH = 12
SEQUENCES = ["input_ids", "input_mask", "segment_ids"]
NUMBERS = ["label_ids", "is_real_example"]
POSITIONS = ["start_positions", "end_positions", "is_impossible"]


def write(path, rows):
    """Writes {name: list} each; lists of floats become float_list."""
    with tf.io.TFRecordWriter(str(path)) as writer:
        for row in rows:
            example = tf.train.Example()
            for name, values in row.items():
                is_float = isinstance(values[0], float)
                feature = example.features.feature[name]
                (feature.float_list if is_float else feature.int64_list).value.extend(values)
            writer.write(example.SerializeToString())
    return str(path)


def rows_of(count, *, length=LENGTH, label=int, squad=()):
    for number in range(count):
        used = 3 + number % 4
        row = {
            "input_ids": [2] + [number + 5] * (used - 1) + [0] * (length - used),
            "input_mask": [1] * used + [0] * (length - used),
            "segment_ids": [0] * length,
        }
        if squad:
            row.update({name: [number % 3] for name in squad}, unique_ids=[1000 + number])
        else:
            row.update(label_ids=[label(number % 3)], is_real_example=[1])
        yield row


def batches_of(input_fn, params, most=4):
    """The static shapes by name, and what the first batches hold."""
    with tf.Graph().as_default(), tf.Session() as session:
        features = tf.data.make_one_shot_iterator(input_fn(params)).get_next()
        shapes = {name: tensor.shape.as_list() for name, tensor in features.items()}
        batches = []
        try:
            for _ in range(most):
                batches.append(session.run(features))
        except tf.errors.OutOfRangeError:
            return shapes, batches
    return shapes, batches


def check(batch, size, sequences, numbers, *, width=LENGTH):
    """The names, and no other, the shapes and the dtypes."""
    assert set(batch) == {*sequences, *numbers}
    for name in batch:
        assert batch[name].shape == ((size, width) if name in sequences else (size,)), name
        assert batch[name].dtype == np.int32, name


def classifier(file, is_training, drop_remainder, *, use_tpu=False, task="mrpc", **options):
    return classifier_utils.file_based_input_fn_builder(
        file, LENGTH, is_training, drop_remainder, task, use_tpu, 4, **options
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write(tmp_path_factory.mktemp("records") / "records", rows_of(10))


def test_evaluation_serves_the_records_in_order_and_at_full_length(file):
    shapes, batches = batches_of(classifier(file, False, False), {"batch_size": 7})
    assert shapes["input_ids"] == [None, LENGTH]
    assert [len(batch["input_ids"]) for batch in batches] == [4, 4, 2]
    check(batches[0], 4, SEQUENCES, NUMBERS)
    found = np.concatenate([batch["input_ids"][:, 1] for batch in batches])
    assert found.tolist() == list(range(5, 15))


@pytest.mark.parametrize("use_tpu, size", [(False, 4), (True, 7)])
def test_the_last_batch_is_dropped_where_that_is_asked_for(file, use_tpu, size):
    input_fn = classifier(file, False, True, use_tpu=use_tpu)
    shapes, batches = batches_of(input_fn, {"batch_size": 7})
    assert shapes["input_ids"] == [size, LENGTH] and len(batches) == 10 // size
    for batch in batches:
        check(batch, size, SEQUENCES, NUMBERS)
        assert batch["is_real_example"].all()


@pytest.mark.slow
@pytest.mark.parametrize("is_v2", [False, True])
@pytest.mark.parametrize("is_training", [False, True])
def test_windows_have_p_mask_in_v2_only(tmp_path, is_v2, is_training):
    rows = list(rows_of(6, squad=POSITIONS if is_training else ["unused"]))
    if is_v2:
        rows = [dict(row, p_mask=[0] * LENGTH) for row in rows]
    file = write(tmp_path / "squad", rows)
    input_fn = squad_utils.input_fn_builder(file, LENGTH, is_training, False, False, 4, is_v2)
    shapes, batches = batches_of(input_fn, {"batch_size": 7}, most=2)
    sequences = SEQUENCES + ["p_mask"] * is_v2
    check(batches[0], 4, sequences, ["unique_ids"] + POSITIONS * is_training)
    assert shapes["input_ids"][1] == LENGTH
    assert len(batches[1]["unique_ids"]) == (4 if is_training else 2)


# ---- features in memory ----


def features_of(labels):
    return [
        classifier_utils.InputFeatures([2, number, 0], [1, 1, 0], [0, 0, 0], label, f"g{number}")
        for number, label in enumerate(labels)
    ]


@pytest.mark.parametrize("is_training", [False, True])
def test_features_in_memory_are_served_in_order_or_shuffled_without_end(is_training):
    features = features_of([1, 0, 2])
    input_fn = classifier_utils.input_fn_builder(features, 3, is_training, is_training)
    shapes, batches = batches_of(input_fn, {"batch_size": 3})
    assert shapes["input_ids"] == [3 if is_training else None, 3]
    check(batches[0], 3, SEQUENCES, ["label_ids"], width=3)
    if is_training:
        assert [sorted(batch["label_ids"]) for batch in batches] == [[0, 1, 2]] * 4
        return
    (batch,) = batches
    assert batch["input_ids"][:, 1].tolist() == [0, 1, 2]
    assert batch["label_ids"].tolist() == [1, 0, 2]
