# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The public names of google-research/albert, which programs import, with their arguments.

fixtures/reference_names.json: module -> function -> [[argument, its default by repr, or null], ...]
and module -> class -> method -> the same, without self and cls.
"""

import importlib
import inspect
import json
import pathlib

import pytest

PATH = pathlib.Path(__file__).resolve().parent / "fixtures" / "reference_names.json"
NAMES = json.loads(PATH.read_text(encoding="utf-8"))
POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
REPEATED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def differences(function, published):
    """What is wrong for a call with the published arguments, in words."""
    found = list(inspect.signature(function).parameters.values())
    if len(found) < len(published):
        return [f"takes {len(found)} arguments of {len(published)}"]
    wrong = []
    for parameter, (name, default) in zip(found, published):
        # A name like "_" is not given as a keyword.
        if parameter.kind != POSITIONAL or (not name.startswith("_") and parameter.name != name):
            wrong.append(f"{parameter} stands where {name} is expected")
        if default is not None and repr(parameter.default) != default:
            wrong.append(f"{parameter} should have the default {default}")
    for parameter in found[len(published) :]:
        if parameter.default is inspect.Parameter.empty and parameter.kind not in REPEATED:
            wrong.append(f"{parameter} must be optional")
    return wrong


def check(item, published):
    """The differences of a function, or of a class's methods."""
    if isinstance(published, list):
        return differences(item, published)
    wrong = []
    for method, arguments in published.items():
        if method == "__init__":
            wrong += differences(item, arguments)
            continue
        function = inspect.getattr_static(item, method, None)
        # Bound where the class binds it; else without its first argument, self.
        if function is None:
            wrong.append(f"{method} is missing")
        elif isinstance(function, (classmethod, staticmethod)):
            wrong += differences(getattr(item, method), arguments)
        else:
            wrong += differences(function, [["_", None], *arguments])
    return wrong


def test_the_list_is_whole():
    counted = [name for names in NAMES.values() for name in names if name != "main"]
    assert len(counted) == 115


@pytest.mark.parametrize(
    "module, name", [(module, name) for module, names in NAMES.items() for name in names]
)
def test_a_published_name_takes_the_published_arguments(module, name):
    found = importlib.import_module(f"albert.{module}")
    assert hasattr(found, name), f"albert.{module}.{name} is missing"
    wrong = check(getattr(found, name), NAMES[module][name])
    assert not wrong, f"albert.{module}.{name}: {wrong}"
