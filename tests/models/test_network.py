# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A network in memory: order, padding, what is kept of its weights, and what it refuses."""

import functools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.data.packing import SEQUENCES
from albert.data.record_format import Feature, FeatureSpec
from albert.models import inference, network
from tests.support import damaged_files, graphs, pretrained_models


def features(*rows):
    """Ids in use from 1 on; 0 is padding."""
    ids = np.zeros([len(rows), max(map(len, rows))], np.int32)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
    return {"input_ids": ids, "input_mask": (ids > 0).astype(int), "segment_ids": ids * 0}


class SomeTask(inference.InferenceTask):
    def __init__(self, build, padding="longest"):
        self.build, self.padding = lambda inputs, **_: build(inputs), padding

    def spec(self, is_training):
        return FeatureSpec([Feature(name, (1,)) for name in SEQUENCES])


def loaded_network(*arguments):
    made = network.Network(SomeTask(*arguments), batch_size=2)
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
        ids = inputs["input_ids"]
        return {"first": ids[:, 0], "shape": many, "ids": ids, "scores": tf.cast(ids, tf.float32)}

    counts = []
    rows = [[3], [4] * 20, [5] * 7, [6], [7] * 24]
    found = loaded_network(build, padding).run(features(*rows), on_batch=counts.append)
    assert found["first"].tolist() == [3, 4, 5, 6, 7]
    assert counts == [shape[0] for shape in shapes]
    assert sorted(map(tuple, found["shape"])) == sorted(
        tuple(shape) for shape in shapes for _ in range(shape[0])
    )
    assert not found["ids"][0, 8:].any()
    assert (found["scores"][0, 8:] == (0 if padding == "max" else network.LOWEST)).all()


def encoder(inputs, **options):
    config = pretrained_models.config()
    with tf.variable_scope("", use_resource=True):
        model = modeling.AlbertModel(config, False, inputs["input_ids"], **options)
    return {"vector": tf.identity(model.get_pooled_output(), "vector")}


@pytest.fixture
def checkpoints(tmp_path):
    """Three of an encoder, the last of which is damaged."""
    paths = [f"{tmp_path}/model.ckpt-{step}" for step in (1, 2, 3)]
    with graphs.new_session() as session:
        encoder({"input_ids": tf.zeros([1, 1], tf.int32)})
        for path in paths:
            session.run(tf.global_variables_initializer())
            tf.train.Saver().save(session, path)
    damaged_files.damage(tmp_path / "model.ckpt-3")
    return paths


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
def test_load_takes_checkpoints_in_turn(checkpoints, dtype):
    def network_that(**options):
        build = functools.partial(encoder, compute_dtype=dtype, **options)
        return network.Network(SomeTask(build), batch_size=2)

    keeping, other = network_that(keep_weights=True), network_that()
    first, second, damaged = checkpoints
    vectors = []
    for path in (second, first, second):
        for loaded in (keeping, other):
            loaded.load(path)
            vectors.append(loaded.run(features([5, 6]))["vector"])
    for number in (0, 2, 4):
        np.testing.assert_allclose(vectors[number], vectors[number + 1], rtol=1e-6)
    np.testing.assert_array_equal(vectors[0], vectors[4])
    assert not np.allclose(vectors[0], vectors[2])
    with pytest.raises(ValueError, match=r"model\.ckpt-3"):
        keeping.load(damaged)


def test_joined_and_cast_weights_are_kept():
    def weights_read(**options):
        made = loaded_network(functools.partial(encoder, **options))
        needed = tf.graph_util.extract_sub_graph(made.graph.as_graph_def(), ["vector"])
        kernels = [node.name for node in needed.node if node.name.endswith("kernel")]
        return [kernel for kernel in kernels if "/attention_1/" in kernel]

    assert len(weights_read()) == 4
    assert len(weights_read(keep_weights=True)) == 1  # the output's is not joined
    assert weights_read(keep_weights=True, compute_dtype=tf.bfloat16) == []


def test_nonfinite_output_is_refused():
    network.check_finite({"vector": np.array([64000.0])})
    with pytest.raises(ValueError, match="float16"):
        network.check_finite({"vector": np.array([1.0, np.inf])})
