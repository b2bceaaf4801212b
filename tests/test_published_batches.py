# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the input function of SQuAD serves that is called as google-research/albert calls it.

The records are written by tf.train.Example, as those programs do; test_published_programs.py runs
the input functions of the other tasks.
"""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import squad_utils

LENGTH = 12
SEQUENCES = ["input_ids", "input_mask", "segment_ids"]
POSITIONS = ["start_positions", "end_positions", "is_impossible"]


@pytest.mark.parametrize("is_v2", [False, True])
@pytest.mark.parametrize("is_training", [False, True])
def test_windows_have_p_mask_in_v2_only(tmp_path, is_v2, is_training):
    sequences = SEQUENCES + ["p_mask"] * is_v2
    numbers = ["unique_ids"] + POSITIONS * is_training
    with tf.io.TFRecordWriter(str(tmp_path / "squad")) as writer:
        for number in range(6):
            example = tf.train.Example()
            for name in [*sequences, *numbers]:
                values = [number] * (LENGTH if name in sequences else 1)
                example.features.feature[name].int64_list.value.extend(values)
            writer.write(example.SerializeToString())
    input_fn = squad_utils.input_fn_builder(
        str(tmp_path / "squad"), LENGTH, is_training, False, False, 4, is_v2
    )
    with tf.Graph().as_default(), tf.Session() as session:
        features = tf.data.make_one_shot_iterator(input_fn({"batch_size": 7})).get_next()
        first, second = session.run(features), session.run(features)
    assert set(first) == {*sequences, *numbers}
    for name, values in first.items():
        assert values.shape == ((4, LENGTH) if name in sequences else (4,)), name
        assert values.dtype == np.int32, name
    assert len(second["unique_ids"]) == (4 if is_training else 2)
    if not is_training:
        assert [*first["unique_ids"], *second["unique_ids"]] == list(range(6))
