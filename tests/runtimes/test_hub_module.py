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
        controlled = tf.matmul(x, w)
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


def write(folder, *, has_new_loops=False):
    """Writes the module; returns its folder."""
    (folder / "words.txt").write_text("\n".join(WORDS), encoding="utf-8")
    had = tf.control_flow_v2_enabled()
    (tf.enable_control_flow_v2 if has_new_loops else tf.disable_control_flow_v2)()
    try:
        hub_module.write(
            str(folder / "m"), lambda training: build(training, folder / "words.txt"), load
        )
    finally:
        (tf.enable_control_flow_v2 if had else tf.disable_control_flow_v2)()
    (folder / "words.txt").unlink()
    return str(folder / "m")


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    return write(tmp_path_factory.mktemp("module"))


@pytest.fixture(scope="module")
def module_with_new_loops(tmp_path_factory):
    return write(tmp_path_factory.mktemp("module"), has_new_loops=True)


@pytest.mark.parametrize("name", ["module", "module_with_new_loops"])
@pytest.mark.parametrize("reader", READERS)
def test_a_module_gives_its_outputs_and_gradients(request, name, reader):
    module = request.getfixturevalue(name)
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
            np.testing.assert_allclose(session.run(made({"x": X}, "controlled")), X @ WEIGHTS["w"])
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


def run(*fetched):
    """The values in a session of the current graph."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(fetched)


INPUTS = {"x": X, "unused": 0}


def test_modules_and_graphs_of_any_tags_keep_apart_and_calls_share_variables(module):
    with tf.Graph().as_default():
        first = hub_module.Module(module)
        second = hub_module.Module(module, trainable=True, tags={"train"})
        calls = [first(INPUTS), first(INPUTS), second(INPUTS)]
        names = [[one.op.name for one in made.variable_map.values()] for made in (first, second)]
        trained = [one.op.name for one in tf.trainable_variables()]
        found = run(*calls)
    assert sorted(names[0]) == ["module/" + name for name in sorted(first.variable_map)]
    assert sorted(names[1]) == ["module_1/" + name for name in sorted(first.variable_map)]
    assert sorted(trained) == [f"module_1/{name}" for name in ("table/part_0", "table/part_1", "w")]
    np.testing.assert_array_equal(found[0], found[1])
    kept = np.isclose(found[2], 2.0 * found[0])  # the graph for training has dropout
    assert np.all(kept | (found[2] == 0.0))


def test_the_scope_around_a_module_gives_it_a_name_and_nothing_else(module):
    def forbidden(*args, **kwargs):
        raise AssertionError

    options = {"custom_getter": forbidden, "partitioner": tf.fixed_size_partitioner(2)}
    with tf.Graph().as_default():
        with tf.variable_scope("outer", reuse=True, **options):
            made = hub_module.Module(module, name="m")
        with tf.variable_scope("outer", reuse=True):
            again = hub_module.Module(module, name="m")
        assert made.variable_map["w"].op.name == "outer/m/w"
        assert again.variable_map["w"] is made.variable_map["w"]
        with tf.control_dependencies([tf.constant(1)]), tf.name_scope("deep"):
            (found,) = run(made(INPUTS))
    np.testing.assert_allclose(found, expected(X), rtol=1e-5)


def test_devices_train_one_copy_of_a_module_each(module):
    with tf.Graph().as_default():
        strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])

        def step():
            made = hub_module.Module(module, trainable=True)
            gradients = tf.gradients(made({"x": X}, "controlled"), made.variable_map["w"])
            return made.variable_map["w"].read_value(), gradients[0]

        with strategy.scope():
            copies = strategy.extended.call_for_each_replica(step)
        copies = [strategy.experimental_local_results(values) for values in copies]
        assert [one.op.name for one in tf.trainable_variables() if "w" in one.name] == ["module/w"]
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            session.run(tf.global_variables_initializer())
            values, gradients = session.run(copies)
    np.testing.assert_allclose(values, [WEIGHTS["w"]] * 2)
    np.testing.assert_allclose(gradients, [np.tile(X.sum(0)[:, None], 2)] * 2)


# ---------------------------------------------------------------------------------------------
# Addresses.


def test_a_module_is_fetched_once(module, tmp_path, monkeypatch):
    monkeypatch.setenv("TFHUB_CACHE_DIR", str(tmp_path / "cache"))
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        archive.add(module, ".")
    with file_server.serving() as server:
        url = f"{server.url}/m.tar.gz"
        asked = "/m.tar.gz?tf-hub-format=compressed"
        server.files = {asked: content.getvalue()[:-200]}
        with pytest.raises(ValueError, match=url):
            hub_module.Module(url)
        server.files = {asked: content.getvalue()}
        with tf.Graph().as_default():
            hub_module.Module(url)
    with tf.Graph().as_default():
        (found,) = run(hub_module.Module(url)(INPUTS))
    np.testing.assert_allclose(found, expected(X), rtol=1e-5)
    with pytest.raises(ValueError, match=f"{server.url}/other"):
        hub_module.Module(f"{server.url}/other.tar.gz")


# ---------------------------------------------------------------------------------------------
# Mistakes.


DATA = "variables/variables.data-00000-of-00001"


def without(name):
    return lambda folder: (folder / name).unlink()


def cut(name):
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-10])


def flip(folder):
    content = bytearray((folder / DATA).read_bytes())
    content[1] ^= 255  # of the first variable
    (folder / DATA).write_bytes(content)


@pytest.mark.parametrize(
    "damage, named",
    [
        (shutil.rmtree, "m: "),
        (without("saved_model.pb"), "no saved_model.pb"),
        (without("tfhub_module.pb"), "--format=tf1"),
        (cut("saved_model.pb"), "saved_model.pb"),
        (without("variables/variables.index"), "variables/variables"),
        (cut("variables/variables.index"), "variables/variables"),
        (without(DATA), "variables/variables"),
        (cut(DATA), "variables/variables"),
        (flip, "variables/variables"),
    ],
)
def test_a_broken_module_is_named(module, tmp_path, damage, named):
    folder = tmp_path / "m"
    shutil.copytree(module, str(folder))
    damage(folder)
    with tf.Graph().as_default(), pytest.raises(ValueError, match=named) as found:
        hub_module.Module(str(folder))
    assert str(folder) in str(found.value)


def test_what_a_module_does_not_have_is_named(module):
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="tags.*'tpu'"):
            hub_module.Module(module, tags={"tpu"})
        made = hub_module.Module(module)
        with pytest.raises(ValueError, match="'tokens'.* words"):
            made(signature="tokens")
        for inputs in (None, {"x": X}, dict(INPUTS, y=X)):
            with pytest.raises(ValueError, match="unused, x"):
                made(inputs)
