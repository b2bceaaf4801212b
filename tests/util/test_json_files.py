# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Schemas of JSON: what fits, and which key does not."""

import json
import math
import re

import pytest

from albert.util import UserError, json_files

SCHEMA = {
    "count": range(3),
    "share": float,
    "kind": ({"a", "b"}, None),
    "digits": (re.compile("[0-9]+"), int, None),
    "pair": ([str, bool], None),
    "rows": ([{"x": int}], None),
    "any": (object, None),
    str: (list, None),
}


@pytest.mark.parametrize(
    "content",
    [
        {"count": 2, "share": 1, "kind": "b", "digits": "07", "pair": ["x", True]},
        {"count": 0, "share": -0.5, "kind": None, "rows": [{"x": 1}], "any": {}, "y": []},
    ],
)
def test_value_that_fits_is_given(content):
    assert json_files.parse(json.dumps(content), "file", SCHEMA) == content


@pytest.mark.parametrize(
    "content, key",
    [
        ({"count": 3, "share": 1}, "count"),
        ({"count": "2", "share": 1}, "count"),
        ({"count": True, "share": 1}, "count"),
        ({"count": 2}, "share"),
        ({"count": 2, "share": math.nan}, "share"),
        ({"count": 2, "share": math.inf}, "share"),
        ({"count": 2, "share": 1, "kind": "c"}, "kind"),
        ({"count": 2, "share": 1, "digits": "7a"}, "digits"),
        ({"count": 2, "share": 1, "pair": ["x"]}, "pair"),
        ({"count": 2, "share": 1, "rows": [{"x": 1}, {"x": 1.0}]}, r"rows\[1\]: x"),
        ({"count": 2, "share": 1, "other": 5}, "other"),
        ({"count": 2, "share": 1, "any": "\ud800"}, "file"),
        ([], "file"),
    ],
)
def test_value_that_does_not_fit_is_named(content, key):
    with pytest.raises(UserError, match=rf"^file\b.*{key}" if key != "file" else "^file"):
        json_files.parse(json.dumps(content), "file", SCHEMA)


@pytest.mark.parametrize(
    "text", ['{"count": 2, "share": 1', '{"share": 1e999}', "[" * 100000, b"\xff"]
)
def test_text_that_is_no_json_is_refused(text):
    with pytest.raises(UserError, match="^file"):
        json_files.parse(text, "file", SCHEMA)


def test_data_have_no_nan_and_no_half_characters():
    text = r'{"a": NaN, "b": "\ud83d\ude00 \ud800 \\ud800 \uDE00", "c": [-Infinity]}'
    right = {"a": None, "b": "\U0001f600 \ufffd \\ud800 \ufffd", "c": [None]}
    assert json_files.parse_data(text, "row") == right


def test_numbers_that_are_not_finite_come_back(tmp_path):
    path = f"{tmp_path}/a.json"
    json_files.files.atomic_write_json(path, {"a": math.nan, "b": math.inf, "c": 1})
    numbers = json_files.numbers(json_files.read(path, {str: json_files.NUMBER}))
    assert math.isnan(numbers.pop("a")) and numbers == {"b": math.inf, "c": 1}
