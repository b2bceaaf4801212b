# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""TF-Hub modules as folders: found, fetched, and named where they cannot be read."""

import io
import shutil
import tarfile

import pytest

from albert.runtimes import hub_module
from tests.support import file_server, hub_modules, pretrained_models


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    folder = tmp_path_factory.mktemp("module")
    archive = pretrained_models.write_archive(folder / "archive", wordpiece=True)
    arguments = ["--vocab_file=vocab_chinese.txt", "--nodo_lower_case"]
    return hub_modules.export(archive, folder / "m", *arguments)


def test_read_finds_parts_of_module(module):
    assert hub_module.read(module) == (
        f"{module}/assets/albert_config.json",
        f"{module}/variables/variables",
        f"{module}/assets/vocab_chinese.txt",
        False,
    )


def test_read_fetches_module_once(module, tmp_path, monkeypatch):
    monkeypatch.setenv("TFHUB_CACHE_DIR", f"{tmp_path}/cache")
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        archive.add(module, ".")
    with file_server.serving() as server:
        url = f"{server.url}/m.tar.gz"
        asked = "/m.tar.gz?tf-hub-format=compressed"
        server.files = {asked: content.getvalue()[:-200]}
        with pytest.raises(ValueError, match=url):
            hub_module.read(url)
        server.files = {asked: content.getvalue()}
        fetched = hub_module.read(url)
    assert hub_module.read(url) == fetched
    assert fetched.vocab_file.startswith(f"{tmp_path}/cache")


@pytest.mark.parametrize(
    "damage",
    [shutil.rmtree, lambda folder: (folder / "saved_model.pb").write_bytes(b"\x08\x01\x12")],
    ids=["gone", "cut"],
)
def test_read_names_missing_or_damaged_file(module, tmp_path, damage):
    folder = tmp_path / "m"
    shutil.copytree(module, folder)
    damage(folder)
    with pytest.raises(ValueError, match=f"{folder}/saved_model.pb"):
        hub_module.read(str(folder))
