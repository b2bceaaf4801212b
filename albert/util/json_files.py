# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads JSON, and checks it against a schema.

    read("run.json", {"step": COUNT, "metrics": {str: float}, "note": (str, None)})

A schema is
    str, bool, int, list, dict     a value of this type; float: a finite number, whole or not
    object                         any value
    range(1, 9)                    a whole number in this range
    {"a", "b"}                     one of these texts
    re.compile("(?#digits)[0-9]+") a text that matches as a whole; error messages say "digits"
    [schema]                       a list of any length, whose items have this schema
    [schema, schema]               a list with one item for each schema
    {key: schema, str: schema}     an object with these keys; `str` stands for all other keys
    (schema, ..., None)            one of these; None: null, or a missing key
"""

import collections
import json
import re
from typing import Any, Dict, List, Mapping, Tuple, Union

from albert.util import UserError, files

COUNT = range(10**18)
SHA256 = re.compile("(?#a SHA-256)[0-9a-f]{64}")
# JSON has no NaN and no infinity, so files.json_text writes them as text.
NUMBER = (float, {"NaN", "Infinity", "-Infinity"}, None)

_MISSING = ...  # no schema names its type
_LARGEST = 1e308
# An escape in JSON. Group 1 is half a surrogate pair.
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)")
_NOUNS = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
    object: "a value",
    type(None): "null",
}


def read(path: str, schema: Any = dict, *, missing: Any = None) -> Any:
    """Returns the JSON value in a file.

    If the file does not exist, returns `missing`, unless that is None. Raises UserError with the
    file and the wrong key.
    """
    if missing is not None and not files.exists(path):
        return missing
    return parse(files.read_bytes(path), f"'{path}'", schema)


def parse(content: Union[str, bytes], where: str, schema: Any = dict) -> Any:
    """Parses JSON and checks it. A UserError begins with `where`."""
    value = _loaded(content, where)
    check(value, schema, where)
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where} has a value that JSON cannot have ({error}).") from None
    return value


def parse_data(text: str, where: str, schema: Any = object) -> Any:
    """Returns the JSON value of a user's data; a UserError begins with `where`.

    Half a surrogate pair becomes U+FFFD.
    """
    if "\\ud" in text.lower():
        text = _ESCAPE.sub(lambda match: "\ufffd" if match[1] else match[0], text)
    value = _loaded(text, where)
    check(value, schema, where)
    return value


def _loaded(content: Union[str, bytes], where: str) -> Any:
    """Parses JSON. NaN, which pandas writes for a missing value, becomes None."""
    try:
        if isinstance(content, bytes):
            content = content.decode(json.detect_encoding(content))
        return json.loads(content, parse_constant=lambda name: None, object_pairs_hook=_object_of)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where} is not JSON ({error}).") from None


def _object_of(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        ((key, _),) = collections.Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the key {key!r} occurs twice")
    return value


def check(value: Any, schema: Any, where: str) -> None:
    """Raises UserError, with `where` and the key, if a JSON value does not match the schema."""
    kinds = schema if isinstance(schema, tuple) else (schema,)
    if type(value) in kinds and type(value) is not float:
        return  # soon, because most values are text
    kind = next((kind for kind in kinds if _has_kind(value, kind)), _MISSING)
    if kind is _MISSING:
        shown = "missing" if value is _MISSING else json.dumps(value, default=str)[:60]
        raise UserError(f"{where} is {shown}. It must be {' or '.join(map(_noun, kinds))}.")
    if isinstance(kind, dict):
        others = value if str in kind else ()
        for key in dict.fromkeys([*kind, *others]):
            if key is not str:
                check(value.get(key, _MISSING), kind.get(key, kind.get(str)), f"{where}: {key}")
    elif isinstance(kind, list):
        for number, item in enumerate(value):
            check(item, kind[number if len(kind) > 1 else 0], f"{where}[{number}]")


def _has_kind(value: Any, kind: Any) -> bool:
    """Returns whether a value matches one kind. Does not check its items."""
    if kind is None:
        return value is None or value is _MISSING
    if kind is object:
        return value is not _MISSING
    if kind is float:
        return type(value) in (int, float) and abs(value) < _LARGEST
    if isinstance(kind, re.Pattern):
        return isinstance(value, str) and bool(kind.fullmatch(value))
    if isinstance(kind, range):
        return type(value) is int and value in kind  # For other types, `in` tries every number.
    if isinstance(kind, set):
        return isinstance(value, str) and value in kind
    if isinstance(kind, list):
        return isinstance(value, list) and len(kind) in (1, len(value))
    return type(value) is type(kind)


def _noun(kind: Any) -> str:
    """Describes a kind for an error message."""
    if isinstance(kind, range):
        return f"a whole number from {kind.start} to {kind.stop - 1}"
    if isinstance(kind, set):
        return " or ".join(sorted(kind))
    if isinstance(kind, re.Pattern):
        return re.sub(r"\(\?#(.*?)\).*", r"\1", kind.pattern)
    return _NOUNS[kind if isinstance(kind, type) else type(kind)]


def numbers(metrics: Mapping[str, Any]) -> Dict[str, Any]:
    """Converts values of the schema {str: NUMBER} to numbers. None becomes NaN."""
    return {
        name: value if isinstance(value, (int, float)) else float(value or "NaN")
        for name, value in metrics.items()
    }
