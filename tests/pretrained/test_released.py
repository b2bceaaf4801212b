# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Released models: names, the cache, what is found in a folder, and how the scripts take it."""

import io
import json
import os
import shutil
import tarfile
import threading

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import (
    configs,
    export_checkpoints,
    export_to_tfhub,
    fill_mask,
    modeling,
    plan,
    run_classifier,
    run_pretraining,
    run_race,
    run_squad_v1,
    run_squad_v2,
    sweep,
)
from albert.pretrained import downloads, inference
from albert.pretrained import released as released_models
from albert.pretrained import warm_start as checkpoint_init
from albert.util import flags as flags_lib
from tests.support import classification_data, file_server, released_archives
from tests.support.file_server import Answer
from tests.support.shared import needs_shared, shared_path

SIZES = ("base", "large", "xlarge", "xxlarge")
BASE = released_models.find_release("base_v2")
CHINESE = released_models.find_release("base_zh")
PATH = f"/{BASE.archive}"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The folders of an English and of a Chinese model."""
    place = tmp_path_factory.mktemp("released")
    return {
        "english": released_archives.write_model(place / "albert_base"),
        "chinese": released_archives.write_model(place / "albert_base_zh", chinese=True),
    }


@pytest.fixture(scope="module")
def archives(folders, tmp_path_factory):
    """The content of their archives."""
    place = tmp_path_factory.mktemp("archives")
    return {
        f"/{release.archive}": released_archives.write_archive(
            place / release.archive, folders[language]
        ).read_bytes()
        for release, language in ((BASE, "english"), (CHINESE, "chinese"))
    }


@pytest.fixture
def server(monkeypatch, archives):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with file_server.serving() as state:
        state.files.update(archives)
        yield state


@pytest.fixture
def obtain(server, tmp_path):
    """Obtains a release by way of the cache at `obtain.cache`."""

    def run(release=BASE):
        return released_models.obtain(
            release,
            cache_dir=str(run.cache),
            base_url=f"{server.url}/",
            wait=run.waits.append,
        )

    run.cache = tmp_path / "cache"
    run.waits = []
    return run


def classifier_settings(*arguments):
    required = ["--task_name=mrpc", "--output_dir=out"]
    return flags_lib.parse(run_classifier.define_flags, required + list(arguments))


def completed(*arguments):
    return released_models.completed(classifier_settings(*arguments))


def parts(settings):
    """The names of the files that the settings name."""
    fields = released_models.ModelFiles._fields
    values = {name: getattr(settings, name) for name in fields}
    return {name: value.split("/")[-1] for name, value in values.items() if value}


def visible(folder):
    return sorted(name for name in os.listdir(str(folder)) if not name.endswith(".lock"))


def packed(*members):
    """An archive of (name, content)."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


# ---------------------------------------------------------------------------------------------
# Names.


def test_there_are_twelve_releases_with_the_published_names():
    assert len(released_models.RELEASES) == 12
    chinese = released_models.RELEASES["xxlarge_zh"]
    assert chinese.archive == "albert_xxlarge_zh.tar.gz" and chinese.folder == "albert_xxlarge"
    assert (CHINESE.vocabulary, BASE.vocabulary) == ("vocab_chinese.txt", "30k-clean.model")
    for name in ("base_v2", "albert_base_v2", "Albert_Base_V2.tar.gz"):
        assert released_models.find_release(name).name == "base_v2"
    with pytest.raises(ValueError, match="Did you mean 'base_v2'"):
        released_models.find_release("bse_v2")


# ---------------------------------------------------------------------------------------------
# The cache.


def test_a_model_is_downloaded_once_and_recorded(obtain, server, folders):
    model = obtain()
    assert model.is_new and model.folder == str(obtain.cache / "albert_base_v2" / "albert_base")
    assert visible(obtain.cache) == ["albert_base_v2", "albert_base_v2.json"]
    assert obtain() == model._replace(is_new=False)
    assert server.ranges == [None]
    record = json.loads((obtain.cache / "albert_base_v2.json").read_text(encoding="utf-8"))
    assert record["url"] == server.url + PATH
    assert record["sha256"] == model.sha256 and len(model.sha256) == 64
    assert record["size"] == len(server.files[PATH])
    names = os.listdir(str(folders["english"]))
    assert sorted(record["files"]) == sorted(f"albert_base/{name}" for name in names)


def test_what_is_cut_for_good_is_kept_for_the_next_start(obtain, server, monkeypatch):
    monkeypatch.setattr(downloads, "CHUNK_BYTES", 1000)
    server.answers = [Answer(cut_after=5000)] + [Answer(cut_after=0)] * 4
    with pytest.raises(ConnectionError):
        obtain()
    assert ".albert_base_v2.tar.gz" in os.listdir(str(obtain.cache))
    server.ranges = []
    assert obtain().is_new
    assert server.ranges == ["bytes=5000-"]
    assert visible(obtain.cache) == ["albert_base_v2", "albert_base_v2.json"]


def test_a_missing_archive_is_named(obtain):
    with pytest.raises(ValueError, match="albert_large_v2.tar.gz"):
        obtain(released_models.find_release("large_v2"))
    assert visible(obtain.cache) == []


@pytest.mark.parametrize(
    "content",
    [
        lambda good: good[: len(good) // 2],
        lambda good: good[:-5] + bytes([good[-5] ^ 0x55]) + good[-4:],
        lambda good: packed(("a/b", b""), ("../../evil", b"x")),
        lambda good: packed(("README", b"text")),
        lambda good: packed(("albert_base/albert_config.json", b"{}")),
    ],
    ids=["cut", "checksum", "leads out", "no configuration", "no vocabulary"],
)
def test_an_archive_that_is_of_no_use_is_removed_and_can_be_fetched_again(obtain, server, content):
    good = server.files[PATH]
    server.files[PATH] = content(good)
    with pytest.raises(ValueError, match="albert_base_v2.tar.gz"):
        obtain()
    assert visible(obtain.cache) == [] and visible(obtain.cache.parent) == ["cache"]
    server.files[PATH] = good
    assert obtain().is_new


def test_another_archive_than_before_is_refused_until_the_record_is_removed(obtain, server):
    first = obtain()
    shutil.rmtree(str(obtain.cache / "albert_base_v2"))
    server.files[PATH] = server.files[f"/{CHINESE.archive}"]
    with pytest.raises(ValueError, match=first.sha256):
        obtain()
    assert visible(obtain.cache) == ["albert_base_v2.json"]
    (obtain.cache / "albert_base_v2.json").unlink()
    assert obtain().sha256 != first.sha256


def test_the_hash_of_a_release_is_demanded_where_it_is_known(obtain):
    with pytest.raises(ValueError, match="SHA-256"):
        obtain(BASE._replace(sha256="0" * 64))
    assert visible(obtain.cache) == []
    model = obtain()
    assert obtain(BASE._replace(sha256=model.sha256.upper())).folder == model.folder
    with pytest.raises(ValueError, match="SHA-256"):
        obtain(BASE._replace(sha256="0" * 64))


@pytest.mark.parametrize("name", ["30k-clean.model", "model.ckpt-best.data-00000-of-00001"])
@pytest.mark.parametrize("is_removed", [True, False])
def test_a_file_that_changed_since_the_download_is_noticed(obtain, name, is_removed):
    path = os.path.join(obtain().folder, name)
    with open(path, "r+b") as stream:
        first = stream.read(1)
        stream.seek(0)
        stream.write(bytes([first[0] ^ 1]))
    if is_removed:
        os.remove(path)
    with pytest.raises(ValueError, match=f"albert_base/{name}"):
        obtain()
    shutil.rmtree(str(obtain.cache / "albert_base_v2"))
    assert obtain().is_new


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"format_version": 7}', None])
def test_a_folder_without_its_record_is_left_alone(obtain, content):
    folder = obtain().folder
    names, record = visible(folder), obtain.cache / "albert_base_v2.json"
    record.unlink()
    if content is not None:
        record.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match="albert_base_v2.json"):
        obtain()
    assert visible(folder) == names


def test_a_cache_on_another_machine_is_refused():
    with pytest.raises(ValueError, match="gs://b/c"):
        released_models.obtain(BASE, cache_dir="gs://b/c")


def test_a_start_after_a_kill_begins_with_a_clean_folder(obtain):
    left = obtain.cache / ".albert_base_v2.unpacked"
    left.mkdir(parents=True)
    (left / "half").write_text("x", encoding="utf-8")
    assert obtain().is_new
    assert visible(obtain.cache) == ["albert_base_v2", "albert_base_v2.json"]


def test_two_starts_download_a_model_once(obtain, server):
    obtain.cache.mkdir()
    models = []
    threads = [threading.Thread(target=lambda: models.append(obtain())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(model.is_new for model in models) == [False, True]
    assert server.ranges == [None]


@pytest.mark.parametrize("name", [".albert_base_v2.lock", ".albert_base_v2.tar.gz"])
def test_a_link_in_the_cache_is_not_written_through(obtain, tmp_path, name):
    other = tmp_path / "other"
    other.write_text("precious", encoding="utf-8")
    obtain.cache.mkdir()
    (obtain.cache / name).symlink_to(other)
    if name.endswith(".lock"):
        with pytest.raises(OSError, match="lock"):
            obtain()
    else:
        assert obtain().is_new
    assert other.read_text(encoding="utf-8") == "precious"


# ---------------------------------------------------------------------------------------------
# Files in a folder.


@pytest.mark.parametrize(
    "language, vocabulary",
    [
        ("english", {"spm_model_file": "30k-clean.model"}),
        ("chinese", {"vocab_file": "vocab_chinese.txt"}),
    ],
)
def test_albert_dir_stands_for_configuration_weights_and_vocabulary(folders, language, vocabulary):
    settings = completed(f"--albert_dir={folders[language]}")
    others = {"albert_config_file": "albert_config.json", "init_checkpoint": "model.ckpt-best"}
    assert parts(settings) == {**others, **vocabulary}
    assert released_models.completed(settings) == settings


@pytest.mark.parametrize("ending", ["", "/model.ckpt-best", "/model.ckpt-best.index"])
def test_init_checkpoint_finds_configuration_and_vocabulary_beside_it(folders, ending):
    place = f"{folders['english']}{ending}"
    settings = completed(f"--init_checkpoint={place}")
    assert settings.init_checkpoint == place
    assert parts(settings)["albert_config_file"] == "albert_config.json"
    assert parts(settings)["spm_model_file"] == "30k-clean.model"


def test_files_that_flags_name_go_before_those_of_the_folder(folders, tmp_path):
    config = classification_data.write_config(tmp_path)
    settings = completed(
        f"--albert_dir={folders['english']}", f"--albert_config_file={config}", "--vocab_file=own"
    )
    assert settings.albert_config_file == config
    assert (settings.spm_model_file, settings.vocab_file) == (None, "own")


def test_without_a_folder_nothing_is_looked_for():
    settings = classifier_settings("--albert_config_file=c", "--spm_model_file=s")
    assert released_models.completed(settings) is settings
    named = settings.replace(init_checkpoint="/nowhere/model.ckpt")
    assert released_models.completed(named) is named


def test_the_folder_of_a_checkpoint_need_not_hold_a_vocabulary(folders, tmp_path):
    """Pretraining leaves none; whoever needs one says so."""
    shutil.copytree(str(folders["english"]), str(tmp_path / "model"))
    (tmp_path / "model" / "30k-clean.model").unlink()
    settings = completed(f"--init_checkpoint={tmp_path / 'model'}")
    assert set(parts(settings)) == {"albert_config_file", "init_checkpoint"}


def test_a_module_beside_a_folder_is_refused(folders):
    with pytest.raises(ValueError, match="--albert_hub_module_handle"):
        completed(f"--albert_dir={folders['english']}", "--albert_hub_module_handle=m")


@pytest.mark.parametrize(
    "missing, words",
    [
        ("albert_config.json", "albert_config.json"),
        ("30k-clean.model", "SentencePiece model or vocab.txt"),
        ("model.ckpt-best.index", "no checkpoint"),
        ("model.ckpt-best.data-00000-of-00001", "incomplete"),
    ],
)
def test_a_folder_that_lacks_a_part_is_refused(folders, tmp_path, missing, words):
    folder = tmp_path / "model"
    shutil.copytree(str(folders["english"]), str(folder))
    (folder / missing).unlink()
    with pytest.raises(ValueError, match=words):
        completed(f"--albert_dir={folder}")


def test_several_files_of_a_kind_are_refused_unless_one_has_the_usual_name(folders, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(str(folders["english"]), str(folder))
    model = folder / "30k-clean.model"
    shutil.copy(str(model), str(folder / "other.model"))
    assert parts(completed(f"--albert_dir={folder}"))["spm_model_file"] == "30k-clean.model"
    model.rename(folder / "third.model")
    with pytest.raises(ValueError, match="other.model, third.model"):
        completed(f"--albert_dir={folder}")


@pytest.mark.parametrize("place, words", [("/nowhere", "/nowhere"), ("", "albert_base")])
def test_a_missing_folder_and_the_one_around_the_model_are_told_apart(folders, place, words):
    with pytest.raises(ValueError, match=words):
        completed(f"--albert_dir={place or folders['english'].parent}")


@pytest.mark.slow
@pytest.mark.parametrize("vocab_size", [399, 401])
def test_a_vocabulary_that_is_not_the_models_is_refused(tmp_path, vocab_size):
    folder = released_archives.write_model(tmp_path / "model", vocab_size=vocab_size)
    with pytest.raises(ValueError, match=f"400 .* {vocab_size}"):
        completed(f"--albert_dir={folder}")
    # A vocabulary that is named may be smaller.
    named = f"--spm_model_file={folder / '30k-clean.model'}"
    assert completed(f"--albert_dir={folder}", named)


# ---------------------------------------------------------------------------------------------
# Scripts.


@pytest.mark.parametrize(
    "script, arguments",
    [
        (run_race, ["--data_dir=d"]),
        (run_squad_v1, []),
        (run_squad_v2, []),
        (run_pretraining, ["--input_file=i"]),
    ],
)
def test_every_script_takes_the_folder(folders, script, arguments):
    arguments = arguments + ["--output_dir=out", f"--albert_dir={folders['english']}"]
    settings = released_models.completed(flags_lib.parse(script.define_flags, arguments))
    assert settings.albert_config_file.endswith("albert_base/albert_config.json")
    assert settings.init_checkpoint.endswith("albert_base/model.ckpt-best")
    if script is not run_pretraining:
        assert settings.spm_model_file.endswith("albert_base/30k-clean.model")


@pytest.mark.slow
@pytest.mark.parametrize("language", ["english", "chinese"])
@pytest.mark.parametrize("flag", ["albert_dir", "init_checkpoint"])
def test_a_folder_is_all_that_fine_tuning_needs(folders, tmp_path, caplog, flag, language):
    classification_data.write_mrpc(tmp_path, train=8)
    settings = classifier_settings(
        f"--{flag}={folders[language]}",
        f"--data_dir={tmp_path}",
        "--max_seq_length=16",
        "--train_batch_size=4",
        "--train_step=1",
        "--learning_rate=0",
        "--do_train",
    ).replace(output_dir=str(tmp_path / "out"))
    with caplog.at_level("INFO", "albert"):
        run_classifier.main(settings)
    assert "new: 2 variables" in caplog.text
    name = "bert/encoder/transformer/group_0/inner_group_0/ffn_1/intermediate/dense/kernel"
    expected = tf.train.load_variable(str(folders[language] / "model.ckpt-best"), name)
    actual = tf.train.load_variable(str(tmp_path / "out" / "model.ckpt-1"), name)
    np.testing.assert_array_equal(actual, expected)


# ---------------------------------------------------------------------------------------------
# Names in place of folders.


@pytest.fixture
def cached(server, tmp_path, monkeypatch):
    """A server of releases and an empty cache; yields the server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(released_models, "BASE_URL", server.url)
    monkeypatch.setattr(released_models, "CACHE_DIR", str(tmp_path / "cache"))
    return server


def test_a_released_model_is_fetched_once_by_its_name(cached, folders, tmp_path):
    inner = tmp_path / "cache" / "albert_base_v2" / "albert_base"
    for name in ("base_v2", "albert_base_v2"):
        settings = completed(f"--albert_dir={name}")
        assert settings.init_checkpoint == str(inner / "model.ckpt-best")
        assert released_models.completed(settings) == settings
    assert cached.ranges == [None]
    shutil.copytree(str(folders["english"]), str(tmp_path / "base_v2"))  # goes first
    assert completed("--albert_dir=base_v2").init_checkpoint == "base_v2/model.ckpt-best"


@pytest.mark.slow
def test_every_flag_for_a_folder_takes_the_name(cached, tmp_path):
    def parsed(script, *arguments):
        return flags_lib.parse(script.define_flags, arguments)

    place = ("--data_dir=d", "--output_dir=o")
    sweep.find_model(parsed(sweep, "--model_dir=base_v2", *place))
    plan.main(parsed(plan, "--albert_dir=base_v2", "--max_seq_length=32"))
    inference.find_source(parsed(fill_mask, "--albert_dir=base_v2", "--max_seq_length=32"))
    export_checkpoints.export(
        parsed(export_checkpoints, "--albert_directory=base_v2", "--export_path=new/")
    )
    export_to_tfhub.export(
        parsed(export_to_tfhub, "--albert_directory=base_v2", "--export_path=module")
    )
    assert (tmp_path / "new" / "30k-clean.model").exists()
    assert (tmp_path / "module" / "assets" / "30k-clean.vocab").exists()
    assert cached.ranges == [None]


def test_without_a_network_the_name_is_explained(cached, monkeypatch):
    def fail(*_, **__):
        raise ConnectionError("nobody answers.")

    monkeypatch.setattr(released_models, "obtain", fail)
    with pytest.raises(ConnectionError, match="--albert_dir=base_v2 .* nobody answers"):
        completed("--albert_dir=base_v2")
    with pytest.raises(ValueError, match="Did you mean 'base_v2'"):
        completed("--albert_dir=bse_v2")


# ---------------------------------------------------------------------------------------------
# The released shapes.


@needs_shared
def test_a_folder_as_the_reference_exports_from_is_found():
    folder = shared_path("golden/hub/albert_directory")
    found = released_models.find_files(str(folder), label="folder")
    assert found == released_models.ModelFiles(
        *(str(folder / name) for name in ("albert_config.json", "model.ckpt-best")),
        spm_model_file=str(folder / "30k-clean.model"),
    )


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_presets_have_the_variables_of_the_released_checkpoints(size, version):
    path = configs.preset_path(f"albert_{size}_{version}")
    with tf.Graph().as_default():
        released_archives.build_pretraining_model(modeling.AlbertConfig.from_json_file(path))
        made = {item.op.name: item.shape.as_list() for item in tf.trainable_variables()}
    text = shared_path(f"golden/model_tiny/variables_{size}.txt").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines()]
    assert made == {name: json.loads(shape) for name, shape in lines}


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize("release", [BASE, CHINESE])
def test_an_archive_of_the_released_shape_is_downloaded_and_loaded(
    obtain, server, tmp_path, release
):
    """Names and shapes are those of the published checkpoint; the weights are random."""
    config = modeling.AlbertConfig.from_json_file(configs.preset_path(f"albert_{release.name}"))
    text = shared_path("golden/model_tiny/variables_base.txt").read_text(encoding="utf-8")
    generator, values = np.random.RandomState(0), {}
    for name, shape in (line.split("\t") for line in text.splitlines()):
        shape = [config.vocab_size if size == 30000 else size for size in json.loads(shape)]
        values[name] = (0.02 * generator.standard_normal(shape)).astype(np.float32)
    folder = tmp_path / "albert_base"
    folder.mkdir()
    released_archives.save(folder / "model.ckpt-best", values)
    (folder / "albert_config.json").write_text(config.to_json_string(), encoding="utf-8")
    source = "wordpiece/zh_vocab.txt" if release is CHINESE else "spm/30k-clean.model"
    shutil.copy(str(shared_path(f"data/{source}")), str(folder / release.vocabulary))
    archive = released_archives.write_archive(tmp_path / release.archive, folder, level=1)
    server.files[f"/{release.archive}"] = archive.read_bytes()
    server.answers = [Answer(cut_after=10**7), Answer(cut_after=2 * 10**7)]

    found = released_models.find_files(obtain(release).folder, label="folder")
    assert len(server.ranges) == 3
    with tf.Graph().as_default():
        loaded = modeling.AlbertConfig.from_json_file(found.albert_config_file)
        released_archives.build_pretraining_model(loaded)
        report = checkpoint_init.warm_start(
            found.init_checkpoint, tf.trainable_variables(), required_scopes=("bert", "cls")
        ).report
        assert not report.new and not report.left_over
        if release is BASE:
            assert checkpoint_init.count_parameters(report.loaded) == 11813810
