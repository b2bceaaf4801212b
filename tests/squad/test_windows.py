# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The file of what decoding needs: whole, current, and never code."""

import io
import json
import logging
import os
import pathlib
import pickle
import random

import numpy as np
import pytest

from albert.squad import windows as squad_windows

FINGERPRINT = {"max_seq_length": 8, "files": ("a", "b")}


def _windows(count=3, length=8):
    windows = squad_windows.empty_windows(count, length)
    windows.unique_ids[:] = 1000000000 + np.arange(count)
    windows.example_index[:] = np.arange(count)
    windows.start_chars[:, 2:5] = [[0, 4, 8]]
    windows.end_chars[:, 2:5] = [[3, 7, 11]]
    windows.is_max_context[:, 2] = True
    return windows


def _saved(folder):
    path = folder / "left.npz"
    squad_windows.save_windows(str(path), _windows(), FINGERPRINT)
    return path


def test_what_was_saved_is_loaded(tmp_path):
    loaded = squad_windows.load_windows(str(_saved(tmp_path)), FINGERPRINT)
    for before, after in zip(_windows(), loaded):
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after)
    assert os.listdir(str(tmp_path)) == ["left.npz"]


def test_no_windows_at_all_can_be_saved_too(tmp_path):
    path = str(tmp_path / "left.npz")
    squad_windows.save_windows(path, squad_windows.empty_windows(0, 8), {})
    assert squad_windows.load_windows(path, {}).start_chars.shape == (0, 8)


def test_the_file_keeps_the_name_it_was_given(tmp_path):
    path = tmp_path / "new" / "left.tf_record"
    squad_windows.save_windows(str(path), _windows(), FINGERPRINT)
    assert os.listdir(str(path.parent)) == ["left.tf_record"]
    squad_windows.load_windows(str(path))


def test_equal_windows_are_equal_bytes(tmp_path):
    first = _saved(tmp_path).read_bytes()
    assert _saved(tmp_path).read_bytes() == first


def test_positions_outside_the_paragraph_are_marked():
    windows = squad_windows.empty_windows(2, 3)
    assert (windows.start_chars == -1).all()
    assert (windows.end_chars == -1).all()
    assert (windows.example_index == -1).all()
    assert not windows.is_max_context.any()


def _why_not(path, fingerprint=FINGERPRINT):
    with pytest.raises(ValueError) as error:
        squad_windows.load_windows(str(path), fingerprint)
    return str(error.value)


def test_a_file_made_from_something_else_is_refused(tmp_path):
    path = _saved(tmp_path)
    assert _why_not(path, {"max_seq_length": 9, "files": ["a", "b"]}) == (
        "max_seq_length was 8 and is 9"
    )
    assert "it does not exist" in _why_not(tmp_path / "none")


def test_another_format_version_is_refused(tmp_path, monkeypatch):
    path = _saved(tmp_path)
    monkeypatch.setattr(squad_windows, "_FORMAT_VERSION", 2)
    assert _why_not(path) == "its format version was 1 and is 2"


class _Code:
    """Unpickled, it leaves a trace."""

    def __init__(self, trace):
        self._trace = trace

    def __reduce__(self):
        return os.mkdir, (self._trace,)


def _npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def test_a_pickle_is_never_loaded(tmp_path):
    trace = str(tmp_path / "trace")
    code = np.array([_Code(trace)], dtype=object)
    about = '{"format_version": 1, "fingerprint": {}}'
    alone = io.BytesIO()
    np.save(alone, code, allow_pickle=True)
    inside = _npz(about=np.array(about), **dict(_windows()._asdict(), unique_ids=code))
    for content in (pickle.dumps([_Code(trace)]), alone.getvalue(), inside):
        path = tmp_path / "left.npz"
        path.write_bytes(content)
        _why_not(path, {})
    assert not os.path.exists(trace)


def test_a_damaged_file_is_refused_wherever_the_damage_is(tmp_path):
    path = _saved(tmp_path)
    whole = path.read_bytes()
    numbers = random.Random(1)
    refused = 0
    for _ in range(200):
        place = numbers.randrange(len(whole))
        damaged = bytearray(whole)
        damaged[place] ^= 1 << numbers.randrange(8)
        path.write_bytes(bytes(damaged))
        try:
            loaded = squad_windows.load_windows(str(path), FINGERPRINT)
        except ValueError:
            refused += 1
            continue
        # Some bits, such as a file's date, mean nothing.
        for before, after in zip(_windows(), loaded):
            np.testing.assert_array_equal(before, after)
    assert refused > 50
    for kept in (0, 1, 30, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:kept])
        assert "it is" in _why_not(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"start_chars": np.zeros((3, 9), np.int32)},
        {"start_chars": np.zeros(3, np.int32)},
        {"unique_ids": np.zeros(2, np.int64)},
        {"is_max_context": np.zeros((3, 8), np.int32)},
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(tmp_path, changes):
    path = str(tmp_path / "left.npz")
    squad_windows.save_windows(path, _windows()._replace(**changes), FINGERPRINT)
    assert "its '" in _why_not(path)


def test_an_archive_of_something_else_is_refused(tmp_path):
    path = tmp_path / "left.npz"
    for content in (_npz(a=np.zeros(3)), _npz(about=np.array("[]")), _npz(about=np.zeros(3))):
        path.write_bytes(content)
        assert "it is not a whole file of windows" in _why_not(path)


def test_why_a_file_cannot_be_used_is_one_line_in_the_log(tmp_path, caplog):
    made = []

    def cached(path):
        def make():
            made.append(path)
            return _windows()

        found = squad_windows.cached_windows(path, FINGERPRINT, make, description="dev")
        assert found.unique_ids.tolist() == _windows().unique_ids.tolist()

    path = str(_saved(tmp_path))
    with caplog.at_level(logging.INFO):
        cached(path)
        assert caplog.messages == made == []
        pathlib.Path(path).write_bytes(pickle.dumps(["features"]))
        cached(path)
        cached(path)
    (line,) = caplog.messages
    assert line.startswith(f"dev: creating {path}, because it is not a whole file of windows (")
    assert "\n" not in line and made == [path]


@pytest.mark.parametrize("content", [b"{}", b"my own notes"])
def test_what_holds_no_features_is_not_replaced(tmp_path, content):
    path = tmp_path / "mine"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="mine exists and holds no features"):
        squad_windows.cached_windows(str(path), FINGERPRINT, _windows, description="dev")
    assert path.read_bytes() == content


def test_a_fingerprint_of_another_kind_is_a_reason_to_make_windows_anew(tmp_path):
    path = str(tmp_path / "left")
    about = json.dumps({"format_version": 1, "fingerprint": 7})
    (tmp_path / "left").write_bytes(_npz(**dict(_windows()._asdict(), about=np.array(about))))
    assert "does not say what it was made from" in _why_not(path)
