# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Archives that are not to be trusted, of both kinds."""

import gzip
import tarfile
import tracemalloc

import numpy as np
import pytest

from albert.downloads import archives
from albert.util import UserError
from tests.support.public_archives import member, tar_of, zip_of

CONTENT = np.random.RandomState(0).bytes(700001)


@pytest.fixture(params=[(tar_of, ".tar.gz"), (zip_of, ".zip")], ids=["tar", "zip"])
def unpack(tmp_path, request):
    """Unpacks an archive of members; `unpack.files` are those that are there then."""
    pack, ending = request.param

    def run(*members, damage=lambda content: content, **options):
        path = tmp_path / f"archive{ending}"
        path.write_bytes(damage(pack(members)))
        return archives.unpack(str(path), f"{tmp_path}/out", **options)

    run.folder = tmp_path / "out"
    run.files = lambda: sorted(
        str(path.relative_to(tmp_path))
        for path in tmp_path.rglob("*")
        if path.is_file() and not path.name.startswith("archive")
    )
    return run


def test_unpack_writes_wanted_files(unpack):
    members = [
        member("model", b"", "folder"),
        member("./model/weights", CONTENT),
        member("model/inner/config", b"{}"),
        *map(member, ("model/._weights", "__MACOSX/model/weights", "model/c")),
    ]
    names = unpack(*members, is_wanted=lambda path: path != "model/c")
    assert names == ["model/weights", "model/inner/config"]
    assert unpack.files() == ["out/model/inner/config", "out/model/weights"]
    assert (unpack.folder / "model" / "weights").read_bytes() == CONTENT
    assert (unpack.folder / "model" / "weights").stat().st_mode & 0o7111 == 0


@pytest.mark.parametrize(
    "bad",
    [member(name) for name in ("../evil", "m/../../evil", "/evil", "model/..")]
    + [member("model/bad", b"", kind) for kind in ("link", "hard link", "device")],
)
def test_unpack_refuses_harmful_members(unpack, bad):
    with pytest.raises(ValueError, match=bad[0]):
        unpack(member("model/good"), bad, is_wanted=lambda path: path == "model/good")
    assert unpack.files() == ["out/model/good"]


def test_unpack_limits_the_size(unpack, monkeypatch):
    monkeypatch.setattr(archives, "_ALWAYS_ALLOWED_BYTES", 10**6)
    with pytest.raises(ValueError, match="archive"):
        unpack(member("zeros", bytes(3 * 10**6)), is_wanted=lambda path: False)
    assert unpack.files() == []


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_unpack_reads_no_long_header_of_a_tar(tmp_path, kind):
    info = tarfile.TarInfo("header")
    info.type, info.size = kind, 3 * 10**8
    path = tmp_path / "archive.tar.gz"
    with gzip.open(path, "wb", 1) as stream:
        stream.write(info.tobuf())
        for _ in range(info.size // 10**6):
            stream.write(bytes(10**6))
    tracemalloc.start()
    with pytest.raises(UserError, match="archive"):
        archives.unpack(str(path), f"{tmp_path}/out")
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


def test_unpack_charges_for_empty_files(unpack, monkeypatch):
    monkeypatch.setattr(archives, "_ALWAYS_ALLOWED_BYTES", 10**5)
    monkeypatch.setattr(archives, "_MAX_GROWTH", 1)
    with pytest.raises(UserError, match="archive"):
        unpack(*(member(str(number), b"") for number in range(2000)))
    assert len(unpack.files()) < 1000


def test_archive_with_a_wrong_offset_or_two_equal_names_is_damaged(unpack, tmp_path):
    with pytest.raises(UserError, match="archive"):
        unpack(member("a"), member("a"))

    def damage(content):  # where the first file begins
        place = content.rindex(b"PK\1\2") + 42
        return content[:place] + b"\xff\xff\xff\x7f" + content[place + 4 :]

    path = tmp_path / "wrong.zip"
    path.write_bytes(damage(zip_of([member("b")])))
    with pytest.raises(UserError, match="wrong.zip"):
        archives.unpack(str(path), f"{tmp_path}/other")


def flipped(place):
    def damage(content):
        content = bytearray(content)
        content[place if place < 0 else int(place * len(content))] ^= 0x55
        return bytes(content)

    return damage


@pytest.mark.parametrize(
    "damage",
    # The last place is in the checksum, behind all members.
    [*map(flipped, (0.2, 0.9, -6)), *(lambda content, n=n: content[:n] for n in (0, 210000, -7))],
)
def test_unpack_refuses_a_damaged_archive(unpack, damage):
    with pytest.raises(ValueError, match="damaged"):
        unpack(member("weights", CONTENT), damage=damage)
