# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Feature files: made once, in order, whole; made again when anything they depend on changed."""

import logging
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
        "num_processes": 1,
        "description": "numbers",
    }
    return feature_cache.build_records(str(path), **dict(settings, **changes))


def _never(chunk):
    raise AssertionError("nothing needs to be converted")


def _values(path):
    records = tf.python_io.tf_record_iterator(str(path))
    examples = [tf.train.Example.FromString(record) for record in records]
    return [list(example.features.feature["value"].int64_list.value) for example in examples]


def test_records_are_written_in_the_order_of_the_items(tmp_path):
    built = _build(tmp_path / "a.tf_record")
    assert _values(built.path) == [[n, n * n] for n in range(20) if n != 13]
    assert (built.count, built.was_current, built.notes) == (19, False, {"unlucky": 1})
    assert _build(tmp_path / "b.tf_record", items=[]).count == 0
    with pytest.raises(ValueError, match="num_processes"):
        _build(tmp_path / "c.tf_record", num_processes=0)


def test_the_bytes_do_not_depend_on_the_number_of_processes(tmp_path):
    contents = set()
    for count in (1, 3):
        built = _build(tmp_path / f"{count}.tf_record", items=range(1000), num_processes=count)
        assert built.notes == {"unlucky": 1}
        contents.add(pathlib.Path(built.path).read_bytes())
    assert len(contents) == 1


def test_a_file_made_from_something_else_has_another_name_and_both_stay(tmp_path):
    path = tmp_path / "a.tf_record"
    paths = {length: _build(path, fingerprint={"length": length}).path for length in (2, 3)}
    assert len(set(paths.values())) == 2
    for length, built in paths.items():
        again = _build(path, fingerprint={"length": length}, convert=_never)
        assert again == (built, 19, True, {})


def test_a_file_named_by_the_user_keeps_its_name_and_is_replaced(tmp_path, caplog):
    path = tmp_path / "a.tf_record"
    first = _build(path, exact_path=True)
    assert _build(path, exact_path=True, convert=_never).was_current
    with caplog.at_level(logging.INFO):
        second = _build(path, exact_path=True, fingerprint={"length": 3}, items=range(5))
    assert "length was 2 and is 3" in caplog.text
    assert first.path == second.path == str(path)
    assert (second.was_current, _values(path)) == (False, [[n, n * n] for n in range(5)])
    record_files.remove_sidecar(str(path))  # as the records of another program
    assert not _build(path, exact_path=True).was_current


def test_a_file_of_another_kind_is_not_replaced(tmp_path):
    path = tmp_path / "mine"
    path.write_text('{"data": [1, 2, 3]}')
    with pytest.raises(ValueError, match="mine"):
        _build(path, exact_path=True)
    assert path.read_text() == '{"data": [1, 2, 3]}'


def test_items_are_asked_for_only_if_the_file_has_to_be_made(tmp_path):
    asked = []

    def items():
        asked.append(True)
        return range(20)

    assert _build(tmp_path / "a.tf_record", items=items).count == 19
    assert _build(tmp_path / "a.tf_record", items=items).was_current
    assert asked == [True]


def _cut(kept):
    def damage(path):
        path.write_bytes(path.read_bytes()[:kept])

    return damage


def _of_something_else(path):
    blocks = record_files.BlockOffsets()
    for _ in range(19):
        blocks.add(1)
    record_files.write_sidecar(str(path), blocks, {"length": 7})


@pytest.mark.parametrize(
    "damage",
    [
        _cut(0),
        _cut(30),
        _cut(-1),
        _of_something_else,
        lambda path: os.remove(record_files.sidecar_path(str(path))),
    ],
    ids=["empty", "the beginning", "a byte less", "another sidecar", "no sidecar"],
)
def test_a_file_that_cannot_be_trusted_is_made_again(tmp_path, damage):
    path = pathlib.Path(_build(tmp_path / "a.tf_record").path)
    whole = path.read_bytes()
    damage(path)
    assert not _build(tmp_path / "a.tf_record").was_current
    assert path.read_bytes() == whole


@pytest.mark.parametrize("processes", [1, 2])
def test_a_failed_conversion_leaves_the_old_file_alone(tmp_path, processes):
    def fail_late(chunk):
        if chunk[-1] > 300:
            raise ValueError("item 301 cannot be converted")
        return _convert(chunk)

    path = tmp_path / "a.tf_record"
    _build(path, exact_path=True)
    os.remove(record_files.sidecar_path(str(path)))
    before = path.read_bytes()
    with pytest.raises(ValueError, match="item 301"):
        _build(path, items=range(500), convert=fail_late, num_processes=processes, exact_path=True)
    assert path.read_bytes() == before
    assert os.listdir(str(tmp_path)) == ["a.tf_record"]
