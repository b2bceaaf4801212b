# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The command that downloads data sets, from a server on this machine."""

import os
import shlex

import pytest

from albert.commands import download_data
from albert.downloads import data_set_table, transfer
from albert.tasks.classification import registry
from albert.tasks.race import examples as race_examples
from albert.tasks.squad import examples as squad_examples
from albert.util import flags as flags_lib
from tests.support import file_server, public_archives
from tests.support.damaged_files import small_disk
from tests.support.public_archives import sha256, visible

FILES = public_archives.files()
SOME = FILES["RTE.zip"]
ANOTHER = public_archives.zipped({"RTE/train.tsv": "x", "RTE/dev.tsv": "y", "RTE/test.tsv": "z"})


@pytest.fixture
def server(monkeypatch):
    """A server with all files; the table has their hashes."""
    monkeypatch.setattr(data_set_table, "DATA_SETS", public_archives.table_of(FILES))
    monkeypatch.setattr(transfer, "PAUSES", [])
    with file_server.serving() as state:
        state.files.update({f"/{name}": content for name, content in FILES.items()})
        yield state


@pytest.fixture
def download(server, tmp_path):
    """Runs the command into `download.folder`."""

    def run(name, **changes):
        arguments = [f"--name={name}", f"--data_dir={run.folder}", f"--base_url={server.url}"]
        flags = flags_lib.parse(download_data.Flags, arguments)
        download_data.main(flags.replace(**changes))

    run.folder = tmp_path / "my data"
    return run


def names_of(*scripts):
    """The data sets of these scripts that a server has."""
    return [
        name
        for name, item in data_set_table.DATA_SETS.items()
        if item.script.startswith(scripts) and name != "lcqmc"
    ]


every_data_set = pytest.mark.parametrize("name", names_of("run_"))


@every_data_set
def test_download_makes_each_data_set(download, server, name):
    download(name)
    data_set = data_set_table.DATA_SETS[name]
    assert visible(download.folder) == sorted([data_set.folder, f"{data_set.folder}.json"])
    assert not list(download.folder.glob("*/original"))  # earlier versions in GLUE's archives
    assert len(server.ranges) == len(data_set.sources)


@every_data_set
def test_second_download_asks_for_nothing(download, server, name):
    download(name)
    server.files.clear()
    server.ranges = []
    download(name)
    assert server.ranges == []


@pytest.fixture
def printed(download, capsys):
    """Downloads; returns the flags of the command that is printed."""

    def flags_of(name):
        download(name)
        script, *flags = shlex.split(capsys.readouterr().out)
        assert script.startswith(data_set_table.DATA_SETS[name].script)
        return flags

    return flags_of


@pytest.mark.parametrize("name", names_of("run_classifier"))
def test_classification_data_are_read(download, printed, name):
    folder = str(download.folder)
    assert printed(name) == [f"--task_name={name}", f"--data_dir={folder}"]
    task = registry.get_task(name)
    for split in task.splits:
        data = registry.read_examples(task, folder, split)
        assert (
            len(data.examples) in (1, 2) and data_set_table.DATA_SETS[name].folder in data.files[0]
        )


@pytest.mark.parametrize("name", names_of("run_squad"))
def test_squad_data_are_read(printed, name):
    paths = [flag.partition("=")[2] for flag in printed(name)]
    assert len(paths) == 2
    for path in paths:
        (example,) = squad_examples.read_squad_examples(path, True)
        assert example.orig_answer_text == "king"


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_race_data_are_read(download, split):
    download("race")
    assert len(race_examples.read_examples(str(download.folder), split)) == 2


def test_download_makes_mrpc_as_in_glue(download):
    download("mrpc")
    found = {path.name: path.read_text(encoding="utf-8") for path in download.folder.glob("MRPC/*")}
    header = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    assert found == {
        "train.tsv": header + '1\t11\t12\ta "b\tc\n1\t31\t32\tf\tg\n',
        "dev.tsv": header + "0\t21\t22\td\te\n",
        "test.tsv": "index\t#1 ID\t#2 ID\t#1 String\t#2 String\n0\t41\t42\th\ti\n",
    }


def test_group_continues_after_a_failure(download, server):
    del server.files["/QNLIv2.zip"]
    with pytest.raises(ValueError, match="1 of 10 .*qnli"):
        download("glue")
    there = [item.folder for item in data_set_table.DATA_SETS.values() if item.group == "glue"]
    there.remove("QNLI")
    assert [name for name in visible(download.folder) if "." not in name] == sorted(there)
    server.files["/QNLIv2.zip"] = FILES["QNLIv2.zip"]
    server.ranges = []
    download("glue")
    assert len(server.ranges) == 1 and "QNLI" in visible(download.folder)


def test_wrong_hash_is_refused(download, server):
    server.files["/RTE.zip"] = ANOTHER
    with pytest.raises(ValueError, match=f"{sha256(ANOTHER)}.*{sha256(SOME)}"):
        download("rte")
    assert visible(download.folder) == []
    download("rte", sha256=sha256(ANOTHER))
    for name, wrong in (("rte", sha256(SOME)), ("rte,wnli", sha256(SOME))):
        with pytest.raises(ValueError, match="--sha256"):
            download(name, sha256=wrong)


def test_incomplete_archive_is_removed(download, server, tmp_path):
    content = public_archives.zipped({"RTE/train.tsv": "x", "RTE/dev.tsv": "x"})
    server.files["/RTE.zip"] = content
    for names in ([], ["RTE.zip"]):
        with pytest.raises(ValueError, match="RTE.zip"):
            download("rte", sha256=sha256(content))
        assert visible(download.folder) == names and visible(tmp_path) == ["my data"]
        (download.folder / "RTE.zip").write_bytes(content)


def test_full_disk_keeps_the_archive(download, server):
    texts = {"RTE/train.tsv": os.urandom(1 << 17).hex(), "RTE/dev.tsv": "x", "RTE/test.tsv": "x"}
    content = server.files["/RTE.zip"] = public_archives.zipped(texts)
    with small_disk(len(content)), pytest.raises((OSError, ValueError), match="RTE"):
        download("rte", sha256=sha256(content))  # refuses the unpacked file
    assert visible(download.folder) == [".RTE.zip", ".RTE.zip.json"]
    server.ranges = []
    download("rte", sha256=sha256(content))
    assert server.ranges == [] and visible(download.folder) == ["RTE", "RTE.json"]


def test_existing_data_is_not_overwritten(download, server):
    own = download.folder / "RTE"
    own.mkdir(parents=True)
    (download.folder / "WNLI").write_text("mine")
    for name in ("rte", "wnli"):
        with pytest.raises(ValueError, match=name.upper()):
            download(name)
    assert visible(own) == [] and (download.folder / "WNLI").read_text() == "mine"
    assert server.ranges == []


def test_archive_of_a_user_needs_no_network(download):
    nowhere = {"base_url": "http://127.0.0.1:9"}
    for names, kind, words in (
        ("rte", ConnectionError, "RTE.zip"),
        ("rte,wnli", ValueError, "rte, wnli"),
    ):
        with pytest.raises(kind, match=words):
            download(names, **nowhere)
    own = download.folder / "RTE.zip"
    own.write_bytes(SOME)
    download("rte", **nowhere)
    assert own.read_bytes() == SOME and (download.folder / "RTE" / "dev.tsv").exists()


def test_data_given_on_request(download):
    folder = download.folder / "LCQMC"
    with pytest.raises(ValueError, match=f"http.*{folder}"):
        download("lcqmc")
    folder.mkdir(parents=True)
    for name in ("train.txt", "dev.txt", "test.txt"):
        (folder / name).write_text("a\tb\t1\n")
    download("lcqmc")


@pytest.mark.parametrize("name", ["rte", "wsc", "mismnli"])
def test_suggested_command_gets_missing_data(download, name):
    def read():
        task = registry.get_task(name)
        return registry.read_examples(task, str(download.folder), task.split_names("dev")[0])

    with pytest.raises(ValueError) as error:
        read()
    found, data_dir = shlex.split(str(error.value).rpartition("albert download_data ")[2])
    assert data_dir == f"--data_dir={download.folder}"
    download(found)
    assert read().examples


def test_existing_folder_gets_no_suggested_command(download):
    (download.folder / "RACE").mkdir(parents=True)  # which a download leaves as it is
    with pytest.raises(ValueError) as error:
        race_examples.read_examples(str(download.folder), "dev")
    assert "download_data" not in str(error.value)
