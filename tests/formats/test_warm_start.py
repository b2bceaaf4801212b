# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The warm start: what is found, loaded, refused and reported."""

import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.formats import checkpoints, model_paths, warm_start
from albert.util import UserError
from tests.support import damaged_files

TABLE = "bert/embeddings/word_embeddings"
BLOCK = "bert/encoder/transformer/group_{}/inner_group_{}"
QUERY = BLOCK + "/attention_1/self/query/kernel"
NORM = BLOCK + "/LayerNorm/gamma"
FEED_FORWARD = BLOCK + "/ffn_1/intermediate/dense/kernel"
POOLER = "bert/pooler/dense/bias"
MLM_BIAS = "cls/predictions/output_bias"
PARTS = (QUERY, NORM, FEED_FORWARD)
ONE_BLOCK = [part.format(0, 0) for part in PARTS]
BACKBONE = [TABLE] + ONE_BLOCK + [POOLER]


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def value_of(name):
    """A value that is different for each name."""
    start = float(sum(ord(letter) * place for place, letter in enumerate(name, 1)))
    return np.arange(start, start + 6, dtype=np.float32).reshape([2, 3])


def write_checkpoint(prefix, names, **others):
    """Writes variables of these names; returns the prefix as a string."""
    values = {name: value_of(name) for name in names}
    checkpoints.write(str(prefix), {**values, **others})
    return str(prefix)


def make_variables(names, shapes=None, use_resource=None):
    return [
        tf.get_variable(
            name,
            shape=(shapes or {}).get(name, (2, 3)),
            initializer=tf.zeros_initializer(),
            use_resource=use_resource,
        )
        for name in names
    ]


def initial_values(variables):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return {item.op.name: session.run(item) for item in variables}


def names_of(entries):
    return [entry.name for entry in entries]


# ---- Which checkpoint.


@pytest.mark.parametrize("ending", ["", ".index", ".data-00000-of-00001", ".meta"])
def test_resolve_checkpoint_takes_any_file_of_it(ending, tmp_path, monkeypatch):
    (tmp_path / "run (1)").mkdir()
    prefix = write_checkpoint(tmp_path / "run (1)" / "model.ckpt-5", [TABLE])
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in (prefix, "~/run (1)/model.ckpt-5"):
        assert model_paths.resolve(path + ending) == prefix
    monkeypatch.chdir(tmp_path / "run (1)")
    assert model_paths.resolve(f"model.ckpt-5{ending}") == "model.ckpt-5"


def test_resolve_checkpoint_takes_best_named_or_only_one(tmp_path):
    first = write_checkpoint(tmp_path / "first", [TABLE])
    assert model_paths.resolve(str(tmp_path)) == first
    newest, named = (write_checkpoint(tmp_path / f"model.ckpt-{n}", [TABLE]) for n in (10, 9))
    tf.train.update_checkpoint_state(str(tmp_path), named)
    assert model_paths.resolve(tmp_path) == named
    for content in damaged_files.STATES.values():
        (tmp_path / "checkpoint").write_bytes(content)
        assert model_paths.resolve(str(tmp_path)) == newest
    best = write_checkpoint(tmp_path / "model.ckpt-best", [TABLE])
    tf.train.update_checkpoint_state(str(tmp_path), named)
    assert model_paths.resolve(f"{tmp_path}/") == best


def test_resolve_checkpoint_names_what_there_is(tmp_path):
    write_checkpoint(tmp_path / "model.ckpt-best", [TABLE])
    (tmp_path / "empty").mkdir()
    for name in ("first", "second"):
        write_checkpoint(tmp_path / "two" / name, [TABLE])
    for path in ("model.ckpt-bset", "nowhere/model.ckpt", "empty", "two"):
        with pytest.raises(UserError, match=path):
            model_paths.resolve(f"{tmp_path}/{path}")


# ---- What is loaded.


OWN = ["own_head", *BACKBONE]


@pytest.fixture(params=[False, True], ids=["reference", "resource"])
def start(request, tmp_path):
    """(checkpoint, variables, report) of a warm start with other heads and an optimizer's slots."""
    slots = [f"{TABLE}/adam_m", f"{POOLER}/lamb_v"]
    saved = [*OWN, MLM_BIAS, *slots, "differs"]
    prefix = write_checkpoint(tmp_path / "model.ckpt", saved, global_step=np.array(0, np.int64))
    names = [*OWN, "output_weights", "differs"]
    variables = make_variables(names, {"differs": (400, 3)}, request.param)
    return prefix, variables, warm_start.warm_start(str(tmp_path), variables)


def test_missing_heads_are_new_and_unused_left_over(start):
    prefix, _, report = start
    assert report.checkpoint == prefix and report.scaffold_fn is None
    assert names_of(report.loaded) == OWN
    assert names_of(report.new) == ["output_weights", "differs"]
    assert names_of(report.left_over) == [MLM_BIAS, "differs"]
    assert all(name in str(report) for name in ("output_weights", "differs", MLM_BIAS))


def test_loaded_variables_have_the_values_of_the_checkpoint(start):
    values = initial_values(start[1])
    assert not values["output_weights"].any()
    for name in OWN:
        np.testing.assert_array_equal(values[name], value_of(name))


def test_checkpoint_trained_from_module_is_loaded(tmp_path):
    prefix = write_checkpoint(tmp_path / "model.ckpt", [f"module/{name}" for name in BACKBONE])
    variables = make_variables(BACKBONE)
    report = warm_start.warm_start(prefix, variables)
    assert [entry.source for entry in report.loaded] == [f"module/{name}" for name in BACKBONE]
    with tf.Session() as session:
        warm_start.restore_weights(session, prefix)
        value = session.run(variables[0])
    np.testing.assert_array_equal(value, value_of(f"module/{TABLE}"))


def test_tpu_initializes_in_scaffold_fn(tmp_path):
    prefix = write_checkpoint(tmp_path / "model.ckpt", BACKBONE)
    variables = make_variables(BACKBONE)
    start = warm_start.warm_start(prefix, variables, use_tpu=True)
    assert not initial_values(variables)[TABLE].any()
    start.scaffold_fn()
    np.testing.assert_array_equal(initial_values(variables)[TABLE], value_of(TABLE))


@pytest.mark.parametrize(
    "names",
    [
        [part.format(group, 0) for group in range(3) for part in PARTS],
        # Layers that share only attention.
        [*ONE_BLOCK[:2], *(FEED_FORWARD.format(layer, 0) for layer in range(4))],
        [*ONE_BLOCK, QUERY.format(1, 1)],
        [*ONE_BLOCK, QUERY.format(1, 0).replace("attention_1", "attention_2")],
    ],
)
def test_init_from_group0_fills_every_group(tmp_path, names):
    prefix = write_checkpoint(tmp_path / "model.ckpt", BACKBONE)
    names = [TABLE, POOLER, *names]
    variables = make_variables(names)
    if QUERY.format(1, 0) in names:
        with pytest.raises(ValueError, match="--init_from_group0"):
            warm_start.warm_start(prefix, variables)
    report = warm_start.warm_start(prefix, variables, init_from_group0=True)
    for name, value in initial_values(variables).items():
        source = re.sub(r"group_\d+", "group_0", name).replace("attention_2", "attention_1")
        np.testing.assert_array_equal(value, value_of(source))
    assert sorted(names_of(report.loaded)) == sorted(names)
    assert report.left_over == report.new == []


def test_init_from_group0_keeps_inner_groups(tmp_path):
    inner = [QUERY.format(group, 1) for group in (0, 1)]
    prefix = write_checkpoint(tmp_path / "model.ckpt", [*BACKBONE, inner[0]])
    variables = make_variables([*BACKBONE, inner[1]])
    warm_start.warm_start(prefix, variables, init_from_group0=True)
    np.testing.assert_array_equal(initial_values(variables)[inner[1]], value_of(inner[0]))


# ---- What is refused.


@pytest.mark.parametrize(
    "saved, shapes, named",
    [
        (BACKBONE[:-2], {}, [FEED_FORWARD.format(0, 0), POOLER]),
        (BACKBONE, {POOLER: (5,)}, [POOLER, "[5]", "[2, 3]"]),
        (BACKBONE, {TABLE: (7, 3)}, [TABLE, "[7, 3]"]),
        ([TABLE, "bert/encoder/layer_shared/output/bias"], {}, ["from_albert_zh"]),
        ([TABLE, "albert/encoder/albert_layer_groups._0/kernel"], {}, ["from_huggingface"]),
        (["head/kernel"], {}, BACKBONE),
        (BACKBONE, {}, ["float64"]),
    ],
)
def test_checkpoint_that_does_not_fit_is_refused(tmp_path, saved, shapes, named):
    doubles = {TABLE: np.zeros([2, 3])} if "float64" in named else {}
    prefix = write_checkpoint(tmp_path / "model.ckpt", saved, **doubles)
    with pytest.raises(UserError) as caught:
        warm_start.warm_start(prefix, make_variables(BACKBONE, shapes))
    assert all(part in str(caught.value) for part in [prefix, *named])


def test_checkpoint_with_nothing_of_the_model_is_refused(tmp_path):
    prefix = write_checkpoint(tmp_path / "table.ckpt", [TABLE])
    with pytest.raises(UserError, match=r"table\.ckpt"):
        warm_start.warm_start(prefix, make_variables([MLM_BIAS]))
