# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Feature files: made once, in order, whole; made again when anything they depend on changed."""

import os
import pathlib

import pytest
import tensorflow.compat.v1 as tf

from albert.data import batches, feature_cache, record_files

SPEC = batches.FeatureSpec([batches.Feature("value", (2,))])


def _convert(chunk):
    records = [{"value": [item, item * item]} for item in chunk if item != 13]
    return feature_cache.Conversion(records, {"unlucky": sum(item == 13 for item in chunk)})


def _build(path, **changes):
    settings = {
        "items": range(20),
        "fingerprint": {"length": 2},
        "spec": SPEC,
        "convert": _convert,
        "description": "numbers",
    }
    settings.update(changes)
    items = settings.pop("items")
    return feature_cache.build_records(str(path), items=lambda: items, **settings)


def _never(*_):
    raise AssertionError("nothing needs to be converted")


def _remove_sidecar(path):
    os.remove(record_files.sidecar_path(str(path)))


def _values(path):
    records = tf.python_io.tf_record_iterator(str(path))
    examples = [tf.train.Example.FromString(record) for record in records]
    return [list(example.features.feature["value"].int64_list.value) for example in examples]


@pytest.mark.parametrize("count", [1, 3])
def test_bytes_are_in_order_for_any_number_of_processes(tmp_path, count):
    built = _build(tmp_path / "a.tf_record", items=range(300), num_processes=count)
    assert built.count == 299
    assert _values(built.path) == [[n, n * n] for n in range(300) if n != 13]
    assert _build(tmp_path / "empty.tf_record", items=[]).count == 0


def test_file_made_from_something_else_has_another_name(tmp_path):
    path = tmp_path / "a.tf_record"
    paths = {length: _build(path, fingerprint={"length": length}).path for length in (2, 3)}
    assert len(set(paths.values())) == 2
    for length, built in paths.items():
        again = _build(path, fingerprint={"length": length}, convert=_never)
        assert (again.path, again.count) == (built, 19)


def test_named_file_keeps_its_name_and_is_replaced(tmp_path):
    path = tmp_path / "a.tf_record"
    _build(path, exact_path=True)
    _build(path, exact_path=True, convert=_never)
    second = _build(path, exact_path=True, fingerprint={"length": 3}, items=range(5))
    assert second.path == str(path)
    assert _values(path) == [[n, n * n] for n in range(5)]
    _remove_sidecar(path)  # as the records of another program
    assert _build(path, exact_path=True).count == 19


def test_file_of_another_kind_is_not_replaced(tmp_path):
    path = tmp_path / "mine"
    path.write_text('{"data": [1, 2, 3]}')
    with pytest.raises(ValueError, match="mine"):
        _build(path, exact_path=True)
    assert path.read_text() == '{"data": [1, 2, 3]}'


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        _remove_sidecar,
    ],
)
def test_damaged_file_is_made_again(tmp_path, damage):
    path = pathlib.Path(_build(tmp_path / "a.tf_record").path)
    whole = path.read_bytes()
    damage(path)
    _build(tmp_path / "a.tf_record")
    assert path.read_bytes() == whole and os.path.exists(record_files.sidecar_path(str(path)))


@pytest.mark.parametrize("processes", [1, 2])
def test_failed_conversion_leaves_the_old_file_alone(tmp_path, processes):
    def fail_late(chunk):
        if chunk[-1] > 300:
            raise ValueError("item 301 cannot be converted")
        return _convert(chunk)

    path = tmp_path / "a.tf_record"
    _build(path, exact_path=True)
    before = path.read_bytes()
    changes = {"items": range(500), "fingerprint": {"length": 3}, "num_processes": processes}
    with pytest.raises(ValueError, match="item 301"):
        _build(path, convert=fail_late, exact_path=True, **changes)
    assert path.read_bytes() == before
    assert len(os.listdir(str(tmp_path))) == 2  # with the sidecar
