# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Released models: names, the cache, what is found in a folder, and how the scripts take it."""

import pathlib
import shutil

import pytest

from albert import export_checkpoints, export_to_tfhub, run_pretraining
from albert.commands import convert_checkpoint, plan
from albert.downloads.flags import TransferFlags
from albert.models import pretrained, released
from albert.models.flags import find_release
from tests.support import (
    albert_zh_models,
    cases,
    classification_data,
    conversions,
    file_server,
    hub_modules,
    public_archives,
    read_json,
    released_archives,
    scripts,
)
from tests.support.public_archives import visible
from tests.support.released_archives import resolved

BASE = find_release("base_v2")
PATH = f"/{BASE.archive}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return released_archives.write_model(tmp_path_factory.mktemp("released") / "albert_base")


@pytest.fixture(scope="module")
def archive(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("archives") / "a.tar.gz"
    return released_archives.write_archive(path, folder).read_bytes()


@pytest.fixture
def server(monkeypatch, archive, tmp_path):
    """A server of releases, and an empty folder `cache`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(released, "CACHE_DIR", f"{tmp_path}/cache")
    with file_server.serving() as state:
        monkeypatch.setattr(released, "BASE_URL", state.url)
        state.files[PATH] = archive
        yield state


@pytest.fixture
def copied(folder, tmp_path):
    """A copy of the English model, to be changed."""
    shutil.copytree(folder, tmp_path / "model")
    return tmp_path / "model"


def parts(flags):
    """The names of the files that the settings name."""
    names = ("albert_config_file", "init_checkpoint", "spm_model_file", "vocab_file")
    values = {name: getattr(flags, name) for name in names}
    return {name: value.split("/")[-1] for name, value in values.items() if value}


# ---- The cache.


def test_obtain_downloads_once(server, folder, tmp_path):
    cache = tmp_path / "cache"
    for name in ("base_v2", "albert_base_v2"):
        found = pathlib.Path(resolved(f"--albert_dir={name}").albert_dir)
        assert found == cache / "albert_base_v2" / "albert_base"
    assert visible(cache) == ["albert_base_v2", "albert_base_v2.json"]
    assert visible(found) == visible(folder)
    (source,) = read_json(cache / "albert_base_v2.json")["sources"]
    assert source["url"] == server.url + PATH and source["size"] == len(server.files[PATH])
    released.obtain(BASE, TransferFlags(sha256=source["sha256"].upper()))
    with pytest.raises(ValueError, match="0000.*--sha256"):
        released.obtain(BASE, TransferFlags(sha256="0" * 64))
    assert server.ranges == [None]


def test_cached_model_without_its_record_is_refused(server, tmp_path):
    released.obtain(BASE)
    record = tmp_path / "cache" / "albert_base_v2.json"
    record.unlink()
    with pytest.raises(ValueError, match=str(record)):
        released.obtain(BASE)


def test_folder_with_the_name_of_a_release_takes_precedence(server, folder, tmp_path):
    released.obtain(BASE)
    shutil.copytree(folder, tmp_path / "base_v2")
    assert resolved("--albert_dir=base_v2").init_checkpoint == "base_v2/model.ckpt-best"


@pytest.mark.parametrize("config", [None, "mine.json"])
def test_release_names_first_weights_of_pretraining(server, folder, tmp_path, config):
    flags = run_pretraining.Flags(
        input_file="a", output_dir="o", init_checkpoint="base_v2", albert_config_file=config
    )
    weights = tmp_path / "cache" / "albert_base_v2" / "albert_base"
    named = released.resolve_model_files(flags)
    assert pathlib.Path(named.init_checkpoint) == weights
    assert named.albert_config_file == (config or f"{weights}/albert_config.json")
    shutil.copytree(folder, tmp_path / "base_v2")  # takes precedence
    assert released.resolve_model_files(flags).init_checkpoint == "base_v2"


def test_obtain_names_what_cannot_be_had(server, tmp_path):
    with pytest.raises(ValueError, match="albert_large_v2.tar.gz"):
        released.obtain(find_release("large_v2"))
    with pytest.raises(ValueError, match="gs://b/c"):
        released.obtain(BASE, cache_dir="gs://b/c")
    server.files[PATH] = public_archives.tarred({"albert_base/albert_config.json": "{}"})
    with pytest.raises(ValueError, match="albert_base_v2"):
        released.obtain(BASE)
    assert visible(tmp_path / "cache") == [] and visible(tmp_path) == ["cache"]


# ---- Files in a folder.


def test_folder_gives_config_weights_and_vocabulary(folder, tmp_path):
    chinese = released_archives.write_model(tmp_path / "albert_base_zh", chinese=True)
    others = {"albert_config_file", "init_checkpoint"}
    english = {"spm_model_file": "30k-clean.model"}
    for flag, vocabulary in (
        (f"--albert_dir={folder}", english),
        (f"--albert_dir={chinese}", {"vocab_file": "vocab_chinese.txt"}),
        (f"--init_checkpoint={folder}/model.ckpt-best", english),
        (f"--init_checkpoint={folder}/model.ckpt-best.index", english),
        (f"--init_checkpoint={folder}", english),
    ):
        flags = resolved(flag)
        assert vocabulary.items() < parts(flags).items()
        assert set(parts(flags)) - set(vocabulary) == others


def test_named_files_take_precedence(folder, tmp_path):
    config = classification_data.write_config(tmp_path)
    named = [f"--albert_config_file={config}", "--vocab_file=own"]
    flags = resolved(f"--albert_dir={folder}", *named)
    assert flags.albert_config_file == config
    assert (flags.spm_model_file, flags.vocab_file) == (None, "own")
    # Where nothing is missing, the checkpoint may be gone.
    flags = resolved(*named, "--init_checkpoint=/nowhere/model.ckpt")
    assert flags.init_checkpoint == "/nowhere/model.ckpt" and not flags.albert_dir


@pytest.fixture(scope="module")
def module(folder, tmp_path_factory):
    return hub_modules.export(folder, tmp_path_factory.mktemp("hub") / "m", "--nodo_lower_case")


def test_module_gives_config_weights_and_vocabulary(module):
    flag = f"--albert_hub_module_handle={module}"
    for arguments in ([], ["--spm_model_file=from_tf_hub"]):
        flags = resolved(flag, *arguments)
        assert flags.albert_hub_module_handle is None and flags.do_lower_case is False
        assert parts(flags) == {
            "albert_config_file": "albert_config.json",
            "init_checkpoint": "variables",
            "spm_model_file": "30k-clean.model",
        }
    assert resolved(flag, "--vocab_file=own").do_lower_case is True


@pytest.mark.parametrize(
    "flags, named",
    cases.table("""
        --albert_dir={folder}               | --albert_dir
        --init_checkpoint={folder}          | --init_checkpoint
        --do_lower_case                     | --do_lower_case
        --albert_hub_module_handle={folder} | saved_model.pb
    """),
)
def test_contradicting_flags_are_refused(module, folder, flags, named):
    given = [f"--albert_hub_module_handle={module}", *flags.format(folder=folder).split()]
    with pytest.raises(ValueError, match=named):
        resolved(*given)


def test_folder_without_a_part_is_refused(copied):
    for missing, words in (
        ("30k-clean.model", "spm_model_file"),
        ("albert_config.json", "model/albert_config.json"),
        ("model.ckpt-best.index", "checkpoint"),
    ):
        (copied / missing).unlink()
        with pytest.raises(ValueError, match=words):
            pretrained.find_model(albert_dir=str(copied))


def test_several_vocabularies_are_refused(copied):
    model = copied / "30k-clean.model"
    shutil.copy(model, copied / "other.model")
    assert parts(resolved(f"--albert_dir={copied}"))["spm_model_file"] == "30k-clean.model"
    model.rename(copied / "third.model")
    with pytest.raises(ValueError, match="other.model, third.model"):
        resolved(f"--albert_dir={copied}")


# ---- Names in place of folders.


def test_albert_zh_archive_is_converted(server, tmp_path, monkeypatch):
    """The same as convert_checkpoint makes."""
    monkeypatch.setattr(released, "ALBERT_ZH_URL", f"{server.url}/zh")
    theirs, ours = tmp_path / "packed" / "albert_base_zh", tmp_path / "ours"
    albert_zh_models.write(theirs, slots=True)
    archive = shutil.make_archive(f"{tmp_path}/zh", "zip", str(theirs.parent))
    server.files["/zh/albert_base_zh.zip"] = pathlib.Path(archive).read_bytes()
    conversions.convert("from_albert_zh", theirs, ours)
    for name in ("albert_zh_base", "albert_base_zh.zip"):
        found = resolved(f"--albert_dir={name}")
        folder = pathlib.Path(found.albert_dir)
        assert folder == tmp_path / "cache" / "albert_zh_base" / "albert_zh_base"
        assert visible(folder) == visible(ours)
        for path in folder.iterdir():
            assert path.read_bytes() == (ours / path.name).read_bytes()
    assert server.ranges == [None] and found.do_lower_case
    assert visible(tmp_path / "cache") == ["albert_zh_base", "albert_zh_base.json"]
    # Google's Chinese model has another name, and is another.
    assert find_release("base_zh").archive == "albert_base_zh.tar.gz"


@pytest.mark.slow
def test_every_folder_flag_takes_release_name(server, tmp_path):
    ours = ["--albert_directory=base_v2", "--export_path=new/"]
    theirs = ["--direction=to_huggingface", "--input_dir=base_v2", "--output_dir=theirs"]
    for script, arguments in (
        (plan, ["--albert_dir=base_v2", "--max_seq_length=32"]),
        (export_checkpoints, ours),
        (export_to_tfhub, [*ours, "--export_path=module"]),
        (convert_checkpoint, theirs),
    ):
        scripts.run(script, arguments)
    assert visible(tmp_path / "module" / "assets")[:2] == ["30k-clean.model", "30k-clean.vocab"]
    assert server.ranges == [None]
