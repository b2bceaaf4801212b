# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Ways in which the files of a checkpoint, and the file `checkpoint` beside them, get damaged."""

import contextlib
import os
import pathlib
import resource

# Contents of `checkpoint` that help nobody.
STATES = {
    "empty": b"",
    "not UTF-8": b'model_checkpoint_path: "\xff\xfe"',
    "no protobuf": b"the newest one, please {",
    "of another machine": b'model_checkpoint_path: "/another/machine/model.ckpt-1"\n',
}


def flip_bit(path, place=-1):
    """Changes one bit of the byte at a place."""
    path = pathlib.Path(path)
    content = bytearray(path.read_bytes())
    content[place] ^= 16
    path.write_bytes(bytes(content))


def _cut(path, length):
    path.write_bytes(path.read_bytes()[:length])


# What is done to the index and to the data.
DAMAGES = {
    "a bit of the data": lambda index, data: flip_bit(data),
    "a bit of the index": lambda index, data: flip_bit(index, 40),
    "data cut": lambda index, data: _cut(data, 3),
    "no data": lambda index, data: data.unlink(),
    "empty data": lambda index, data: _cut(data, 0),
    "empty index": lambda index, data: _cut(index, 0),
}


@contextlib.contextmanager
def small_disk(size):
    """Files of this process hold at most `size` bytes: more is refused as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def damage(prefix, kind="a bit of the data"):
    """Damages a checkpoint of one data file in one of the ways of DAMAGES."""
    paths = [pathlib.Path(f"{prefix}{end}") for end in (".index", ".data-00000-of-00001")]
    DAMAGES[kind](*paths)


def replace_silently(path, old, new):
    """Replaces bytes in a file; its size and its time stay as they are."""
    content, times = path.read_bytes(), os.stat(path)
    assert old in content and len(old) == len(new)
    path.write_bytes(content.replace(old, new))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
