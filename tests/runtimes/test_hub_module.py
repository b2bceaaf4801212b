# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The reader of TF-Hub modules, on a module with all that TensorFlow 1 could put into one."""

import io
import pathlib
import shutil
import tarfile

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
import tensorflow_hub as hub
from tensorflow.python.framework import function

from albert.runtimes import hub_module
from tests.support import file_server

WORDS = ("a", "bird", "sings")
X = np.array([[0.5, -1.0], [0.25, 2.0]], np.float32)
WEIGHTS = {
    "w": np.array([[0.3, -0.2], [0.1, 0.4]], np.float32),
    "table": np.array([[1, 2], [3, 4], [5, 6], [7, 8]], np.float32),
    "b": np.array([0.1, -0.1], np.float32),
}
# hub.Module itself, where there is one, says what a reader must do.
READERS = [hub_module.Module] + [reader for reader in [getattr(hub, "Module", None)] if reader]


def variable(name, **options):
    return tf.get_variable(name, WEIGHTS[name].shape, **options)


def build(is_training, words_file):
    """Loops, branches, functions, parts of variables, variables of both kinds, tables, assets."""

    @function.Defun(tf.float32)
    def doubled(value):
        return 2.0 * value

    x = tf.placeholder(tf.float32, [None, 2], "x")
    unused = tf.placeholder(tf.int32, [], "unused")
    w = variable("w", use_resource=False)
    parts = variable("table", use_resource=False, partitioner=tf.fixed_size_partitioner(2))
    b = variable("b", use_resource=True, trainable=False)
    with tf.control_dependencies([x.op, w.op]):
        controlled = x + 1.0
    rows = tf.nn.embedding_lookup(list(parts), [3, 0], partition_strategy="div")
    with tf.colocate_with(w):
        start = doubled(tf.cond(tf.reduce_sum(x) > 0.0, lambda: x + rows, lambda: x - rows))

    def step(number, value):
        return number + 1, tf.tanh(tf.matmul(value, w) + b)

    _, y = tf.while_loop(lambda number, _: number < 3, step, (0, start))
    if is_training:
        y = tf.nn.dropout(y, rate=0.5)
    path = tf.constant(str(words_file))
    tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
    lines = tf.lookup.TextFileInitializer(
        path,
        tf.string,
        tf.lookup.TextFileIndex.WHOLE_LINE,
        tf.int64,
        tf.lookup.TextFileIndex.LINE_NUMBER,
    )
    table = tf.lookup.StaticHashTable(lines, -1)
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, table.initializer)
    words = tf.placeholder(tf.string, [None], "words")
    return {
        "default": ({"x": x, "unused": unused}, {"default": y, "input": x}),
        "controlled": ({"x": x}, {"default": controlled}),
        "words": ({"words": words}, {"ids": table.lookup(words), "file": path}),
    }


def load(session):
    session.run(tf.global_variables_initializer())
    for one in tf.global_variables():
        name = one.op.name.split("/")[0]
        value = WEIGHTS[name]
        if "part_" in one.op.name:
            value = value[:2] if one.op.name.endswith("part_0") else value[2:]
        session.run(one.assign(value))


def expected(x):
    """The output, by the weights."""
    rows = WEIGHTS["table"][[3, 0]]
    value = 2.0 * (x + rows if x.sum() > 0 else x - rows)
    for _ in range(3):
        value = np.tanh(value @ WEIGHTS["w"] + WEIGHTS["b"])
    return value


@pytest.fixture(scope="module", params=["loops of TensorFlow 1", "loops of TensorFlow 2"])
def module(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("module")
    (folder / "words.txt").write_text("\n".join(WORDS), encoding="utf-8")
    old = tf.control_flow_v2_enabled()
    (tf.enable_control_flow_v2 if request.param[-1] == "2" else tf.disable_control_flow_v2)()
    try:
        hub_module.write(
            str(folder / "m"), lambda training: build(training, folder / "words.txt"), load
        )
    finally:
        (tf.enable_control_flow_v2 if old else tf.disable_control_flow_v2)()
    (folder / "words.txt").unlink()
    return str(folder / "m")


@pytest.mark.parametrize("reader", READERS)
def test_a_module_gives_its_outputs_and_gradients(module, reader):
    with tf.Graph().as_default(), tf.Session() as session:
        made = reader(module, trainable=True)
        inputs = {"x": X, "unused": 0}
        outputs = made(inputs, as_dict=True)
        ids = made({"words": ["bird", "cat"]}, signature="words", as_dict=True)
        trained = sorted(tf.trainable_variables(), key=lambda one: one.name)
        gradients = tf.gradients(outputs["default"], trained)
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        found, ids, gradients = session.run([outputs, ids, gradients])
        names = [one.op.name for one in trained]
        if reader is hub_module.Module:  # hub.Module asks for values of its placeholders here
            np.testing.assert_array_equal(session.run(made({"x": X}, "controlled")), X + 1)
        before = session.run(tf.reduce_sum(made({"x": X, "unused": 0})))
        session.run(made.variable_map["w"].assign_add([[0.0, 1e-2], [0.0, 0.0]]))
        after = session.run(tf.reduce_sum(made({"x": X, "unused": 0})))
    np.testing.assert_allclose(found["default"], expected(X), rtol=1e-5)
    np.testing.assert_array_equal(found["input"], X)
    assert names == ["module/table/part_0", "module/table/part_1", "module/w"]
    assert gradients[-1][0, 1] == pytest.approx((after - before) / 1e-2, rel=0.05)
    np.testing.assert_array_equal(ids["ids"], [1, -1])
    words = pathlib.Path(tf.compat.as_str(ids["file"]))
    assert words.read_text(encoding="utf-8").split() == list(WORDS)
