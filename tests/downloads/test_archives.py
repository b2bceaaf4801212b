# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Archives that are not to be trusted, of both kinds."""

import io
import stat
import tarfile
import zipfile

import numpy as np
import pytest

from albert.downloads import archives

CONTENT = np.random.RandomState(0).bytes(700001)
# The type in a .tar and the mode in a .zip.
KINDS = {
    "file": (tarfile.REGTYPE, stat.S_IFREG),
    "folder": (tarfile.DIRTYPE, stat.S_IFDIR),
    "link": (tarfile.SYMTYPE, stat.S_IFLNK),
    "hard link": (tarfile.LNKTYPE, stat.S_IFLNK),
    "device": (tarfile.CHRTYPE, stat.S_IFCHR),
}


def tar_of(members):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content, kind in members:
            info = tarfile.TarInfo(name)
            info.size, info.type, info.mode = len(content), KINDS[kind][0], 0o4777
            info.linkname = "../../evil" if "link" in kind else ""
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def zip_of(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, kind in members:
            info = zipfile.ZipInfo(name + "/" * (kind == "folder"))
            info.external_attr = (KINDS[kind][1] | 0o4777) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, b"../../evil" if "link" in kind else content)
    return stream.getvalue()


def member(name, content=b"text", kind="file"):
    return name, content, kind


@pytest.fixture(params=[(tar_of, ".tar.gz"), (zip_of, ".zip")], ids=["tar", "zip"])
def unpack(tmp_path, request):
    """Unpacks an archive of members; `unpack.files` are those that are there then."""
    pack, ending = request.param

    def run(*members, damage=lambda content: content, **options):
        path = tmp_path / f"archive{ending}"
        path.write_bytes(damage(pack(members)))
        return archives.unpack(str(path), str(tmp_path / "out"), **options)

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
