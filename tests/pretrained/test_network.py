# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A network in memory: order, padding, what is kept of its weights, and what it refuses."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.data.batches import Feature, FeatureSpec
from albert.pretrained import network
from tests.support import damaged_files

SPEC = FeatureSpec([Feature(name, (1,)) for name in network.SEQUENCES])


def features(*rows):
    """Ids in use from 1 on; 0 is padding."""
    ids = np.zeros([len(rows), max(map(len, rows))], np.int32)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
    return {"input_ids": ids, "input_mask": (ids > 0).astype(int), "segment_ids": ids * 0}


def a_network(build, **options):
    made = network.Network(build, SPEC, **{"batch_size": 2, **options})
    made.load(None)
    return made


@pytest.mark.parametrize(
    "padding, shapes",
    [
        ("longest", [[2, 24], [2, 8], [1, 8]]),
        ("bucket", [[2, 24], [3, 8]]),
        ("max", [[2, 24], [2, 24], [1, 24]]),
    ],
)
def test_run_keeps_order_of_examples(padding, shapes):
    def build(inputs):
        shape = tf.shape(inputs["input_ids"])
        many = tf.tile(shape[None], [shape[0], 1])
        return {"first": inputs["input_ids"][:, 0], "shape": many, "ids": inputs["input_ids"]}

    counts = []
    rows = [[3], [4] * 20, [5] * 7, [6], [7] * 24]
    found = a_network(build, padding=padding, fills={"ids": -1}).run(
        features(*rows), on_batch=counts.append
    )
    assert found["first"].tolist() == [3, 4, 5, 6, 7]
    assert counts == [shape[0] for shape in shapes]
    assert sorted(map(tuple, found["shape"])) == sorted(
        tuple(shape) for shape in shapes for _ in range(shape[0])
    )
    assert (found["ids"][0, 8:] == (0 if padding == "max" else -1)).all()


def test_load_takes_checkpoints_in_turn(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        weight = tf.get_variable("weight", [2])
        for step in (1, 2, 3):
            session.run(weight.assign([step, step]))
            tf.train.Saver().save(session, str(tmp_path / f"model.ckpt-{step}"))
    damaged_files.damage(tmp_path / "model.ckpt-3")

    def build(inputs):
        doubled = tf.get_variable("weight", [2]) * 2  # kept, and made anew for each checkpoint
        return {"made": tf.cast(inputs["input_ids"][:, :1], tf.float32) * doubled}

    made = network.Network(build, SPEC, batch_size=2)
    for step in (2, 1, 2):
        made.load(str(tmp_path / f"model.ckpt-{step}"))
        assert made.run(features([5]))["made"].tolist() == [[10.0 * step] * 2]
    with pytest.raises(ValueError, match=r"model\.ckpt-3"):
        made.load(str(tmp_path / "model.ckpt-3"))


def test_nonfinite_output_is_refused():
    network.check_finite({"vector": np.array([64000.0])})
    with pytest.raises(ValueError, match="float16"):
        network.check_finite({"vector": np.array([1.0, np.inf])})


def test_graph_folds_weights_and_cubes():
    built = []

    def joined(inputs):
        weights = tf.get_variable("weights", [2], initializer=tf.ones_initializer())
        ids = tf.cast(inputs["input_ids"], tf.float32)
        built.append(tf.pow(ids[:, :1], 3.0) * tf.concat([weights * 2, [1.0]], 0))
        return {"made": built[0]}

    made = a_network(joined)
    assert made.run(features([3], [5]))["made"].tolist() == [[54, 54, 27], [250, 250, 125]]
    needed = tf.graph_util.extract_sub_graph(made.graph.as_graph_def(), [built[0].op.name])
    assert not {"ConcatV2", "Pow"} & {node.op for node in needed.node}


def test_graph_with_random_state_is_kept():
    def random(inputs):
        weights = tf.get_variable("weights", [], initializer=tf.ones_initializer())
        ids = tf.cast(inputs["input_ids"][:, 0], tf.float32)
        return {"made": tf.random.uniform([1]) * weights + ids}

    made = a_network(random)
    assert made.run(features([4]))["made"] != made.run(features([4]))["made"]
