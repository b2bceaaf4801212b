# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The command that downloads a released model."""

import os
import subprocess
import sys

import pytest

from albert import download_model
from albert.util import flags as flags_lib
from tests.support import file_server, released_archives


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    place = tmp_path_factory.mktemp("archive")
    folder = released_archives.write_model(place / "model")
    return released_archives.write_archive(place / "a.tar.gz", folder).read_bytes()


@pytest.fixture
def arguments(archive, tmp_path, monkeypatch):
    """Where the command finds a server and a cache."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with file_server.serving() as state:
        state.files["/albert_base_v2.tar.gz"] = archive
        yield [f"--base_url={state.url}", f"--cache_dir={tmp_path}/cache"]


def run(*arguments):
    """Starts the command as a user does; returns code, standard output and standard error."""
    done = subprocess.run(
        [sys.executable, "-m", "albert.download_model", *arguments], capture_output=True
    )
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


def parsed(*arguments):
    return flags_lib.parse(download_model.define_flags, arguments)


@pytest.mark.slow
def test_the_command_prints_the_folder_and_the_flag_that_takes_it(arguments, tmp_path):
    folder = f"{tmp_path}/cache/albert_base_v2/albert_base"
    code, output, errors = run("base_v2", *arguments)
    assert (code, output) == (0, f"{folder}\n--albert_dir={folder}\n"), errors
    assert os.path.exists(f"{folder}/albert_config.json")
    # Flags may come first, and without a server the model is still there.
    code, output, errors = run("--base_url=http://127.0.0.1:9", arguments[1], "albert_base_v2")
    assert code == 0 and output.startswith(f"{folder}\n"), errors
    assert "is as it was downloaded" in errors


@pytest.mark.slow
def test_an_argument_too_many_is_refused(arguments):
    code, output, errors = run("base_v2", "large_v2", *arguments)
    assert (code, output) == (1, "") and "Unexpected arguments ['base_v2', 'large_v2']" in errors


@pytest.mark.parametrize(
    "given, words",
    [([], "No model is named"), (["--name=base_v3"], "no released model 'base_v3'. Did you mean")],
)
def test_a_name_is_needed_that_exists(given, words):
    with pytest.raises(ValueError, match=words):
        download_model.main(parsed(*given))


def test_the_list_has_all_names(capsys):
    download_model.main(parsed("--list"))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 13
    assert lines[5].split() == [
        "base_v2",
        "albert_base_v2.tar.gz",
        "albert_base/",
        "30k-clean.model",
    ]
    assert lines[-1].split()[0] == "xxlarge_zh" and lines[-1].endswith("vocab_chinese.txt")


def test_defaults_are_the_public_bucket_and_the_users_cache():
    settings = parsed()
    assert settings.base_url == "https://storage.googleapis.com/albert_models"
    assert settings.cache_dir == os.path.expanduser("~/.cache/albert")


def test_limits_and_the_hash_are_those_of_the_flags(arguments):
    settings = parsed("--name=base_v2", *arguments)
    for limit in ({"size_limit_gb": 1e-9}, {"time_limit_minutes": 1e-9}, {"sha256": "0" * 64}):
        with pytest.raises((ValueError, ConnectionError)):
            download_model.main(settings.replace(**limit))
    download_model.main(settings)
