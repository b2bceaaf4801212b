# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Feature files: made once, in order, whole; made again when anything they depend on changed."""

import os
import pathlib

import pytest
import tensorflow.compat.v1 as tf

from albert.data import feature_cache, record_files, record_format
from albert.util import parallel

SPEC = record_format.FeatureSpec([record_format.Feature("value", (2,))])


def _convert(chunk):
    if 301 in chunk:
        raise ValueError("item 301 cannot be converted")
    records = {"value": [[item, item * item] for item in chunk if item != 13]}
    return feature_cache.Conversion(records, {"unlucky": sum(item == 13 for item in chunk)})


def _build(path, *, items=range(20), length=2, **changes):
    flags = {"spec": SPEC, "convert": _convert, "description": "numbers", **changes}
    return feature_cache.build_records(
        str(path), items=lambda: items, fingerprint={"length": length}, **flags
    )


def _never(*_):
    raise AssertionError("nothing needs to be converted")


def _remove_sidecar(path):
    os.remove(record_files.sidecar_path(str(path)))


def _values(path):
    examples = map(tf.train.Example.FromString, record_files.records(str(path)))
    return [list(example.features.feature["value"].int64_list.value) for example in examples]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.tf_record"


@pytest.fixture(params=[1, 3])
def processes(request, monkeypatch):
    """This number of processes, for any work."""
    monkeypatch.setattr(parallel, "_WORTH_FORKING", 0)
    monkeypatch.setattr(parallel, "default_processes", lambda: request.param)


def test_build_keeps_order_with_any_number_of_processes(path, processes):
    built = _build(path, items=range(300))
    assert built.count == 299
    assert _values(built.path) == [[n, n * n] for n in range(300) if n != 13]


def test_build_names_file_by_fingerprint(path):
    built = {length: _build(path, length=length) for length in (2, 3)}
    assert built[2].path != built[3].path
    for length, file in built.items():
        again = _build(path, length=length, convert=_never)
        assert (again.path, again.count) == (file.path, 19)


def test_build_of_exact_path_replaces_stale_file(path):
    _build(path, exact_path=True)
    _build(path, exact_path=True, convert=_never)
    assert _build(path, exact_path=True, length=3, items=range(5)).path == str(path)
    assert _values(path) == [[n, n * n] for n in range(5)]


def _write_records(path):
    """As another program of the package."""
    with record_files.create(str(path), {"maker": "another", "length": 2}) as file:
        file.write(b"a record")


@pytest.mark.parametrize(
    "replace",
    [
        lambda path: path.write_text('{"data": [1, 2, 3]}'),
        lambda path: path.write_bytes(path.read_bytes() + b"more"),
        _remove_sidecar,  # as a file of another project
        _write_records,
    ],
)
def test_build_refuses_to_replace_other_files(path, replace):
    _build(path, exact_path=True)
    replace(path)
    before = path.read_bytes()
    for length in (2, 3):
        with pytest.raises(ValueError, match=path.name):
            _build(path, exact_path=True, length=length)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        _remove_sidecar,
    ],
)
def test_build_repairs_damaged_file(path, damage):
    built = pathlib.Path(_build(path).path)
    whole = built.read_bytes()
    damage(built)
    _build(path)
    assert built.read_bytes() == whole and os.path.exists(record_files.sidecar_path(str(built)))


def test_build_that_fails_keeps_old_file(path, processes):
    _build(path, exact_path=True)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="item 301"):
        _build(path, exact_path=True, items=range(500), length=3)
    assert path.read_bytes() == before
    assert len(os.listdir(path.parent)) == 2  # with the sidecar
