# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The command that downloads a released model."""

import os

import pytest

from albert.commands import download_model
from albert.models import released
from albert.util import flags as flags_lib
from tests.support import file_server, released_archives


@pytest.fixture
def arguments(tmp_path):
    """Where the command finds a server and a cache."""
    folder = released_archives.write_model(tmp_path / "model")
    archive = released_archives.write_archive(tmp_path / "a.tar.gz", folder)
    with file_server.serving() as state:
        state.files["/albert_base_v2.tar.gz"] = archive.read_bytes()
        yield [f"--base_url={state.url}", f"--cache_dir={tmp_path}/cache"]


def parsed(*arguments):
    return flags_lib.parse(download_model.Flags, arguments)


@pytest.mark.slow
def test_download_model_prints_the_folder(arguments, tmp_path, capsys):
    folder = f"{tmp_path}/cache/albert_base_v2/albert_base"
    download_model.main(parsed("--name=base_v2", *arguments))
    assert capsys.readouterr().out == f"{folder}\n--albert_dir={folder}\n"
    # Without a server the model is still there.
    download_model.main(parsed("--name=base_v2", "--base_url=http://127.0.0.1:9", arguments[1]))
    assert capsys.readouterr().out.startswith(folder)


def test_download_model_lists_and_suggests_names(capsys):
    download_model.main(parsed("--list"))
    assert len(capsys.readouterr().out.splitlines()) == 1 + 12 + 3
    assert released.BASE_URL == "https://storage.googleapis.com/albert_models"
    assert released.ALBERT_ZH_URL == "https://storage.googleapis.com/albert_zh"
    assert parsed("--list").cache_dir == os.path.expanduser("~/.cache/albert")
    for given in ([], ["--name=base_v3"]):
        with pytest.raises(ValueError, match="base_v2"):
            download_model.main(parsed(*given))


def test_download_model_enforces_limits(arguments):
    flags = parsed("--name=Albert_Base_V2.tar.gz", *arguments)
    with pytest.raises(ValueError):
        download_model.main(flags.replace(size_limit_gb=1e-9))
    download_model.main(flags)
