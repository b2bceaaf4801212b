# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The public names of google-research/albert, which programs import, with their arguments.

fixtures/reference_names.json: module -> function -> [[argument, its default by repr, or null], ...]
and module -> class -> method -> the same, without self and cls.
"""

import importlib
import inspect

import pytest
import tensorflow.compat.v1 as tf

from albert import run_squad_v1
from tests.support import FIXTURES, read_json

PATH = FIXTURES / "reference_names.json"
NAMES = read_json(PATH)


def check_call(function, published):
    """The published arguments fit, by position and by name, and have their published defaults."""
    signature = inspect.signature(function)
    signature.bind(*published)
    for found, (name, default) in zip(signature.parameters.values(), published):
        # A name like "_" is not given as a keyword.
        assert name.startswith("_") or found.name == name
        assert found.kind == found.POSITIONAL_OR_KEYWORD
        assert default in (None, repr(found.default))


def check_arguments(item, published):
    """Checks a function, or a class's methods."""
    if isinstance(published, list):
        check_call(item, published)
        return
    for method, arguments in published.items():
        function = inspect.getattr_static(item, method)
        # Bound where the class binds it; else without its first argument, self.
        if method == "__init__":
            check_call(item, arguments)
        elif isinstance(function, (classmethod, staticmethod)):
            check_call(getattr(item, method), arguments)
        else:
            check_call(function, [["_", None], *arguments])


@pytest.mark.parametrize(
    "module, name", [(module, name) for module, names in NAMES.items() for name in names]
)
def test_name_takes_published_arguments(module, name):
    check_arguments(getattr(importlib.import_module(f"albert.{module}"), name), NAMES[module][name])


def test_squad_serving_input_fn_takes_one_sequence():
    with tf.Graph().as_default():
        found = run_squad_v1.build_squad_serving_input_fn(12)()
    assert set(found.features) == {"input_ids", "input_mask", "segment_ids"}
    for name, tensor in found.receiver_tensors.items():
        assert found.features[name] is tensor and tensor.op.name == name
        assert (tensor.dtype, tensor.shape.as_list()) == (tf.int32, [1, 12])
