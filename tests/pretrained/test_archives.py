# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Archives from elsewhere: only plain files below the folder come out of them."""

import errno
import io
import os
import tarfile

import numpy as np
import pytest

from albert.pretrained import archives

NOISE = np.random.RandomState(0).bytes(200000)


def member(name, content=b"text", **attributes):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in attributes.items():
        setattr(info, key, value)
    return info, content


def write(path, *members, mode="w:gz"):
    with tarfile.open(str(path), mode) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return str(path)


def tree(folder):
    return sorted(
        os.path.relpath(os.path.join(place, name), str(folder))
        for place, _, names in os.walk(str(folder))
        for name in names
    )


@pytest.mark.parametrize("mode", ["w:gz", "w"])
def test_files_and_folders_come_out_as_they_went_in(tmp_path, mode):
    archive = write(
        tmp_path / "a.tar",
        member("model", b"", type=tarfile.DIRTYPE),
        member("./model/weights", NOISE),
        member("model/inner/config", b"{}"),
        mode=mode,
    )
    names = archives.unpack(archive, str(tmp_path / "out"))
    assert names == ["model/weights", "model/inner/config"]
    assert tree(tmp_path / "out") == ["model/inner/config", "model/weights"]
    assert (tmp_path / "out" / "model" / "weights").read_bytes() == NOISE


def test_permissions_of_the_archive_are_ignored(tmp_path):
    archive = write(tmp_path / "a.tar.gz", member("tool", mode=0o4777, uid=0))
    archives.unpack(archive, str(tmp_path / "out"))
    assert (tmp_path / "out" / "tool").stat().st_mode & 0o7111 == 0


@pytest.mark.parametrize(
    "name", ["../evil", "model/../../evil", "/evil", "model/..", "..\\evil", "C:/evil", "."]
)
def test_a_path_that_leads_out_of_the_folder_is_refused(tmp_path, name):
    archive = write(tmp_path / "a.tar.gz", member("model/good"), member(name))
    with pytest.raises(ValueError, match="leads out of its folder"):
        archives.unpack(archive, str(tmp_path / "out"))
    assert tree(tmp_path) == ["a.tar.gz", "out/model/good"]


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE]
)
def test_links_and_devices_are_refused(tmp_path, kind):
    link = member("model/link", b"", type=kind, linkname="../../evil")
    archive = write(tmp_path / "a.tar.gz", link, member("model/link/x"))
    with pytest.raises(ValueError, match="is a link or a device"):
        archives.unpack(archive, str(tmp_path / "out"))
    assert tree(tmp_path) == ["a.tar.gz"]


@pytest.mark.parametrize("second", ["model/a", "model/a/b", "./model//a"])
def test_two_members_in_one_place_are_refused(tmp_path, second):
    archive = write(tmp_path / "a.tar.gz", member("model/a"), member(second))
    with pytest.raises(ValueError, match="twice"):
        archives.unpack(archive, str(tmp_path / "out"))


def test_an_archive_made_to_fill_the_disk_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "_ALWAYS_ALLOWED_BYTES", 1000)
    archive = write(tmp_path / "a.tar.gz", member("zeros", bytes(1 << 20)))
    with pytest.raises(ValueError, match="unpacks to more than"):
        archives.unpack(archive, str(tmp_path / "out"))
    assert tree(tmp_path) == ["a.tar.gz"]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.999])
def test_an_archive_that_was_cut_off_is_damaged(tmp_path, share):
    archive = write(tmp_path / "a.tar.gz", member("weights", NOISE))
    content = (tmp_path / "a.tar.gz").read_bytes()
    (tmp_path / "a.tar.gz").write_bytes(content[: int(share * len(content))])
    with pytest.raises(archives.DamagedArchiveError, match="no whole archive"):
        archives.unpack(archive, str(tmp_path / "out"))


@pytest.mark.parametrize("place", [0.2, 0.5, 0.9, -6])
def test_a_changed_byte_is_noticed(tmp_path, place):
    """The last place is in the checksum, behind all members."""
    archive = write(tmp_path / "a.tar.gz", member("weights", NOISE))
    content = bytearray((tmp_path / "a.tar.gz").read_bytes())
    content[place if place < 0 else int(place * len(content))] ^= 0x55
    (tmp_path / "a.tar.gz").write_bytes(bytes(content))
    with pytest.raises(archives.DamagedArchiveError):
        archives.unpack(archive, str(tmp_path / "out"))


def test_another_kind_of_file_is_no_archive(tmp_path):
    (tmp_path / "page").write_text("<html>" * 1000, encoding="utf-8")
    with pytest.raises(archives.DamagedArchiveError):
        archives.unpack(str(tmp_path / "page"), str(tmp_path / "out"))


def test_a_full_disk_is_not_the_archives_fault(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(archives.shutil, "copyfileobj", fail)
    archive = write(tmp_path / "a.tar.gz", member("weights"))
    with pytest.raises(OSError, match="No space left"):
        archives.unpack(archive, str(tmp_path / "out"))
