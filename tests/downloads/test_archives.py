# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Archives that are not to be trusted, of both kinds."""

import errno
import gzip
import io
import stat
import tarfile
import zipfile

import numpy as np
import pytest

from albert.downloads import archives

CONTENT = np.random.RandomState(0).bytes(700001)
KINDS = {"folder": tarfile.DIRTYPE, "link": tarfile.SYMTYPE, "hard link": tarfile.LNKTYPE}
KINDS.update({"pipe": tarfile.FIFOTYPE, "device": tarfile.CHRTYPE, "file": tarfile.REGTYPE})
MODES = {"folder": stat.S_IFDIR, "link": stat.S_IFLNK, "hard link": stat.S_IFLNK}
MODES.update({"pipe": stat.S_IFIFO, "device": stat.S_IFCHR, "file": stat.S_IFREG})


def tar_of(members):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content, kind in members:
            info = tarfile.TarInfo(name)
            info.size, info.type, info.mode = len(content), KINDS[kind], 0o4777
            info.linkname = "../../evil" if "link" in kind else ""
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def zip_of(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, kind in members:
            info = zipfile.ZipInfo(name + "/" * (kind == "folder"))
            info.external_attr = (MODES[kind] | 0o4777) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, b"../../evil" if "link" in kind else content)
    return stream.getvalue()


def member(name, content=b"text", kind="file"):
    return name, content, kind


@pytest.fixture(params=[tar_of, zip_of], ids=["tar", "zip"])
def unpack(tmp_path, request):
    """Unpacks an archive of members; `unpack.files` are those that are there then."""

    def run(*members, damage=lambda content: content, **options):
        path = tmp_path / "archive"
        path.write_bytes(damage(request.param(members)))
        return archives.unpack(str(path), str(tmp_path / "out"), **options)

    run.folder = tmp_path / "out"
    run.files = lambda: sorted(
        str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()
    )
    return run


def test_files_and_folders_come_out_as_they_went_in(unpack):
    names = unpack(
        member("model", b"", "folder"),
        member("./model/weights", CONTENT),
        member("model/inner/config", b"{}"),
    )
    assert names == ["model/weights", "model/inner/config"]
    assert unpack.files() == ["archive", "out/model/inner/config", "out/model/weights"]
    assert (unpack.folder / "model" / "weights").read_bytes() == CONTENT
    assert (unpack.folder / "model" / "inner" / "config").stat().st_mode & 0o7111 == 0


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "members, kept",
    [
        ([member("model/good"), member(name)], ["out/model/good"])
        for name in ("../evil", "m/../../evil", "/evil", "model/..", "..\\evil", "C:/evil", ".")
    ]
    + [
        ([member("model/link", b"", kind), member("model/link/x")], [])
        for kind in ("link", "hard link", "pipe", "device")
    ]
    + [
        ([member("model/a"), member(second)], ["out/model/a"])
        for second in ("model/a", "model/a/b", "./model//a")
    ],
)
def test_members_that_could_do_harm_are_refused(unpack, members, kept):
    with pytest.raises(ValueError) as caught:
        unpack(*members)
    assert not isinstance(caught.value, archives.DamagedArchiveError)
    assert unpack.files() == ["archive", *kept]


def test_only_what_is_wanted_is_written_but_all_is_checked(unpack):
    members = [member("a/b"), member("a/._b"), member("__MACOSX/a/b"), member("a/c")]
    assert unpack(*members, is_wanted=lambda path: path != "a/c") == ["a/b"]
    assert unpack.files() == ["archive", "out/a/b"]
    with pytest.raises(ValueError, match="evil"):
        unpack(member("../evil"), is_wanted=lambda path: False)


def test_empty_files_without_end_are_refused(unpack):
    members = [member(str(number), b"") for number in range(3)]
    with pytest.raises(ValueError, match="more than 2 "):
        unpack(*members, most_members=2)
    unpack(member("ready"), most_members=1)


def test_an_archive_made_to_fill_the_disk_is_refused(unpack):
    with pytest.raises(ValueError, match="MB"):
        unpack(member("zeros", bytes(120 * 10**6)))
    assert unpack.files() == ["archive"]


def bomb(kind, size, *, behind=0):
    """A tar archive whose first header gives `size` and is followed by zeros."""
    header = tarfile.TarInfo("model")
    header.type, header.size = kind, size
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as stream:
        stream.write(header.tobuf(tarfile.GNU_FORMAT))
        stream.write(tarfile.TarInfo("model/a").tobuf() + bytes(1024 + behind))
    return packed.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        bomb(tarfile.DIRTYPE, -(10**15)),
        *(bomb(kind, 1 << 21, behind=1 << 21) for kind in (tarfile.XHDTYPE, b"L")),
        bomb(tarfile.DIRTYPE, 0, behind=200 * 10**6),
    ],
    ids=["negative", "pax", "long name", "behind the end"],
)
def test_a_tar_archive_with_odd_headers_is_refused(tmp_path, content):
    (tmp_path / "archive").write_bytes(content)
    with pytest.raises(ValueError) as caught:
        archives.unpack(str(tmp_path / "archive"), str(tmp_path / "out"))
    assert not isinstance(caught.value, archives.DamagedArchiveError)


def flipped(place):
    def damage(content):
        at = place if place < 0 else int(place * len(content))
        return content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 or len(content) :]

    return damage


@pytest.mark.parametrize(
    "damage",
    [lambda content, share=share: content[: int(share * len(content))] for share in (0, 0.3, 0.999)]
    # The last place is in the checksum, behind all members.
    + [flipped(place) for place in (0.2, 0.9, -6)]
    + [lambda content: b"<html>" * 1000],
)
def test_what_is_no_whole_archive_is_damaged(unpack, damage):
    with pytest.raises(archives.DamagedArchiveError):
        unpack(member("weights", CONTENT), damage=damage)


def test_a_full_disk_is_not_the_archives_fault(unpack, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(archives.shutil, "copyfileobj", fail)
    with pytest.raises(OSError, match="No space left"):
        unpack(member("weights"))
