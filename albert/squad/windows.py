# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What decoding has to know of each window, as arrays that can be kept in a file.

The file is numpy's .npz: numbers and a text, never code, so that reading one runs nothing.

Legend: F windows, S sequence.
"""

import io
import json
import logging
import zipfile
import zlib
from typing import Any, Callable, Mapping, NamedTuple, Optional

import numpy as np
import tensorflow.compat.v1 as tf

from albert.util import files

_LOGGER = logging.getLogger(__name__)

_FORMAT_VERSION = 1
_ABOUT = "about"  # beside the arrays: JSON with the format's version and the fingerprint


class Windows(NamedTuple):
    """Where the positions of each window lie in its paragraph.

    Attributes:
      unique_ids: int64 [F], as in the records.
      example_index: int32 [F], the example whose paragraph it is of; -1 where that is not known.
      start_chars, end_chars: int32 [F, S], the first and the last character that a position stands
        for; -1 where the position is not of the paragraph.
      is_max_context: bool [F, S], whether no other window shows that piece with more around it.
    """

    unique_ids: np.ndarray
    example_index: np.ndarray
    start_chars: np.ndarray
    end_chars: np.ndarray
    is_max_context: np.ndarray


# How files begin that hold features: archives of arrays (or cut off ones), pickles of others.
_REPLACEABLE = (b"PK", b"\x80")
_KINDS = Windows("int64", "int32", "int32", "int32", "bool")


def empty_windows(count: int, max_seq_length: int) -> Windows:
    """Returns arrays for `count` windows that hold nothing of any paragraph yet."""
    shape = (count, max_seq_length)
    return Windows(
        unique_ids=np.zeros(count, np.int64),
        example_index=np.full(count, -1, np.int32),
        start_chars=np.full(shape, -1, np.int32),
        end_chars=np.full(shape, -1, np.int32),
        is_max_context=np.zeros(shape, bool),
    )


def save_windows(path: str, windows: Windows, fingerprint: Mapping[str, Any]) -> None:
    """Replaces the file by these windows in one step.

    Args:
      path: written under exactly this name.
      windows: the arrays.
      fingerprint: JSON values that say what they were made from.
    """
    about = {
        "format_version": _FORMAT_VERSION,
        "fingerprint": files.normalized_fingerprint(fingerprint),
    }
    stream = io.BytesIO()
    text = np.array(json.dumps(about, sort_keys=True))
    np.savez_compressed(stream, **dict(windows._asdict(), **{_ABOUT: text}))
    with files.atomic_path(path) as temporary, tf.io.gfile.GFile(temporary, "wb") as output:
        output.write(stream.getvalue())


def load_windows(path: str, fingerprint: Optional[Mapping[str, Any]] = None) -> Windows:
    """Returns the windows in a file; nothing in it is ever run.

    Args:
      path: what `save_windows` wrote.
      fingerprint: what they must have been made from; None: whatever it was.

    Raises:
      ValueError: the file is missing, damaged or something else (such as a pickle), or was made
        from something else. The message goes well behind "because".
    """
    if not tf.io.gfile.exists(str(path)):
        raise ValueError("it does not exist")
    content = io.BytesIO(files.read_bytes(path))
    if not zipfile.is_zipfile(content):
        raise ValueError("it is not a whole file of windows (it is no archive)")
    content.seek(0)
    try:
        with np.load(content, allow_pickle=False) as arrays:
            about = files.parse_json(str(arrays[_ABOUT]), _ABOUT)
            windows = Windows(*(arrays[name] for name in Windows._fields))
            version, made_from = about["format_version"], about["fingerprint"]
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"it is not a whole file of windows ({_short(error)})") from None
    except (zlib.error, AttributeError, RuntimeError) as error:
        raise ValueError(f"it is damaged ({_short(error)})") from None
    if version != _FORMAT_VERSION:
        raise ValueError(f"its format version was {version} and is {_FORMAT_VERSION}")
    if not isinstance(made_from, dict):
        raise ValueError("it does not say what it was made from")
    difference = fingerprint is not None and files.fingerprint_difference(made_from, fingerprint)
    if difference:
        raise ValueError(difference)
    _check_shapes(windows)
    return windows


def cached_windows(
    path: str,
    fingerprint: Mapping[str, Any],
    make: Callable[[], Windows],
    *,
    description: str,
) -> Windows:
    """Returns the windows in the file if they can be used; else makes them and says why.

    Args:
      path: the file.
      fingerprint: what they must have been made from.
      make: called if need be; the file then gets what it returns.
      description: for the log.

    Raises:
      ValueError: the file holds something that no program's features do.
    """
    try:
        return load_windows(path, fingerprint)
    except ValueError as error:
        _refuse_to_replace_other_data(path)
        _LOGGER.info("%s: creating %s, because %s.", description, path, error)
    windows = make()
    save_windows(path, windows, fingerprint)
    return windows


def _refuse_to_replace_other_data(path: str) -> None:
    """Archives of arrays and pickles may be replaced; so may an empty file."""
    if not tf.io.gfile.exists(path):
        return
    with files.open_to_read(path) as stream:
        beginning = stream.read(2)
    if beginning and not beginning.startswith(_REPLACEABLE):
        raise ValueError(
            f"{path} exists and holds no features, so it is not replaced by them. Name another "
            "file (--predict_feature_left_file), or remove this one."
        )


def _check_shapes(windows: Windows) -> None:
    """Refuses arrays that do not belong together."""
    shape = windows.start_chars.shape
    shapes = Windows(shape[:1], shape[:1], shape, shape, shape)
    for name, array, expected, kind in zip(Windows._fields, windows, shapes, _KINDS):
        if array.shape != expected or array.dtype != kind or len(shape) != 2:
            raise ValueError(f"its '{name}' is {array.dtype} {list(array.shape)}")


def _short(error: Exception) -> str:
    """The message on one short line."""
    text = " ".join((str(error) or type(error).__name__).split())
    return text if len(text) <= 80 else text[:77] + "..."
