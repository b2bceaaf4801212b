# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Feature files: made once, in order, whole; made again when anything they depend on changed."""

import logging
import os
import pathlib

import pytest
import tensorflow.compat.v1 as tf

from albert.data import batches as input_pipeline
from albert.data import feature_cache
from albert.util import files

SPEC = input_pipeline.FeatureSpec([input_pipeline.Feature("value", (2,))])


def blocks_of(count):
    """What a writer of `count` records knows of them."""
    blocks = files.BlockOffsets()
    for _ in range(count):
        blocks.add(1)
    return blocks


def _convert(chunk):
    records = [{"value": [item, item * item]} for item in chunk if item != 13]
    return feature_cache.Conversion(records, {"unlucky": sum(item == 13 for item in chunk)})


def _build(
    path,
    *,
    items=range(20),
    fingerprint=None,
    spec=SPEC,
    convert=_convert,
    processes=1,
    exact_path=False,
):
    return feature_cache.build_records(
        str(path),
        fingerprint={"length": 2} if fingerprint is None else fingerprint,
        spec=spec,
        items=items,
        convert=convert,
        exact_path=exact_path,
        num_processes=processes,
        description="numbers",
    )


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


def test_the_bytes_do_not_depend_on_the_number_of_processes(tmp_path):
    contents = set()
    for count in (1, 2, 3):
        built = _build(tmp_path / f"{count}.tf_record", items=range(1000), processes=count)
        assert built.notes == {"unlucky": 1}
        contents.add(pathlib.Path(built.path).read_bytes())
    assert len(contents) == 1


def test_a_current_file_is_used_as_it_is(tmp_path, caplog):
    path = tmp_path / "a.tf_record"
    _build(path)
    with caplog.at_level(logging.INFO):
        again = _build(path, convert=_never)
    assert (again.count, again.was_current) == (19, True)
    assert "numbers: 19 records are there already" in caplog.text


def test_a_file_made_from_something_else_has_another_name_and_both_stay(tmp_path, caplog):
    path = tmp_path / "a.tf_record"
    with caplog.at_level(logging.INFO):
        first = _build(path).path
        second = _build(path, fingerprint={"length": 3}).path
    lines = [line for line in caplog.messages if "because" in line]
    assert lines == [
        f"numbers: creating {first}, because it does not exist.",
        f"numbers: creating {second}, because it does not exist (of {os.path.basename(first)}: "
        "length was 2 and is 3).",
    ]
    assert first != second
    for number, built in ((2, first), (3, second)):
        assert _build(path, fingerprint={"length": number}, convert=_never).path == built


def test_the_digits_stand_before_the_extension_and_are_the_same_everywhere():
    path = feature_cache.fingerprinted_path("cache/mrpc.128.tf_record", {"b": (1,), "a": 2})
    # sha256sum of {"a": 2, "b": [1]}
    assert path == "cache/mrpc.128.d1f8284b.tf_record"


def test_a_file_of_the_name_that_was_made_from_something_else_is_made_anew(tmp_path):
    built = _build(tmp_path / "a.tf_record").path
    files.write_sidecar(built, blocks_of(19), {"length": 7})
    assert not _build(tmp_path / "a.tf_record").was_current


def test_a_file_named_by_the_user_keeps_its_name_and_is_replaced(tmp_path, caplog):
    path = tmp_path / "a.tf_record"
    with caplog.at_level(logging.INFO):
        first = _build(path, exact_path=True)
        assert _build(path, exact_path=True, convert=_never).was_current
        second = _build(path, exact_path=True, fingerprint={"length": 3}, items=range(5))
    assert [line for line in caplog.messages if "because" in line] == [
        f"numbers: creating {path}, because it does not exist.",
        f"numbers: creating {path}, because length was 2 and is 3.",
    ]
    assert first.path == second.path == str(path)
    assert (second.was_current, _values(path)) == (False, [[n, n * n] for n in range(5)])


@pytest.mark.parametrize("content", ["{}", '{"data": [1, 2, 3]}'])
def test_a_file_of_another_kind_is_not_replaced(tmp_path, content):
    path = tmp_path / "mine"
    path.write_text(content)
    with pytest.raises(ValueError, match="mine exists and is no record file"):
        _build(path, exact_path=True)
    assert path.read_text() == content


def test_records_of_another_program_are_replaced(tmp_path):
    path = tmp_path / "a.tf_record"
    _build(path, exact_path=True)
    files.remove_sidecar(str(path))
    assert not _build(path, exact_path=True).was_current


def test_items_are_asked_for_only_if_the_file_has_to_be_made(tmp_path):
    asked = []

    def items():
        asked.append(True)
        return range(20)

    assert _build(tmp_path / "a.tf_record", items=items).count == 19
    assert _build(tmp_path / "a.tf_record", items=items).was_current
    assert asked == [True]


def test_a_changed_declaration_of_the_records_rebuilds_the_file(tmp_path):
    path = tmp_path / "a.tf_record"
    _build(path)
    optional = input_pipeline.Feature("weight", (), tf.float32, 0.0)
    wider = input_pipeline.FeatureSpec(list(SPEC.features) + [optional])
    assert not _build(path, spec=wider).was_current


@pytest.mark.parametrize("kept", [0, 30, -1])
def test_a_file_that_was_cut_off_is_rebuilt(tmp_path, kept, caplog):
    path = pathlib.Path(_build(tmp_path / "a.tf_record").path)
    whole = path.read_bytes()
    path.write_bytes(whole[:kept])
    with caplog.at_level(logging.INFO):
        assert not _build(tmp_path / "a.tf_record").was_current
    assert "bytes where" in caplog.text
    assert path.read_bytes() == whole


def test_a_file_of_unknown_origin_is_rebuilt(tmp_path, caplog):
    path = _build(tmp_path / "a.tf_record").path
    os.remove(files.sidecar_path(path))
    with caplog.at_level(logging.INFO):
        _build(tmp_path / "a.tf_record")
    assert "it has no sidecar that says what it was made from" in caplog.text
    assert len(_values(path)) == 19


@pytest.mark.parametrize("processes", [1, 2])
def test_a_failed_conversion_leaves_the_old_file_alone(tmp_path, processes):
    def fail_late(chunk):
        if chunk[-1] > 300:
            raise ValueError("item 301 cannot be converted")
        return _convert(chunk)

    path = tmp_path / "a.tf_record"
    built = _build(path).path
    os.remove(files.sidecar_path(built))
    before = pathlib.Path(built).read_bytes()
    for settings in ({"length": 2}, {}):
        with pytest.raises(ValueError, match="item 301"):
            _build(
                path,
                items=range(500),
                fingerprint=settings,
                convert=fail_late,
                processes=processes,
            )
    assert pathlib.Path(built).read_bytes() == before
    assert os.listdir(str(tmp_path)) == [os.path.basename(built)]


def test_no_items_make_an_empty_file(tmp_path):
    assert _build(tmp_path / "a.tf_record", items=[]).count == 0


def test_a_number_of_processes_below_one_is_refused(tmp_path):
    with pytest.raises(ValueError, match="num_processes is 0; it must be at least 1"):
        _build(tmp_path / "a.tf_record", processes=0)
