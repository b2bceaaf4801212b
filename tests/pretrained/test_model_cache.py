# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Released models on this machine: fetched once, checked ever after."""

import io
import json
import os
import shutil
import tarfile
import threading

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import configs, modeling
from albert.pretrained import model_cache
from albert.pretrained import released as released_models
from albert.pretrained import warm_start as checkpoint_init
from tests.support import file_server, released_archives
from tests.support.file_server import Answer
from tests.support.shared import needs_shared, shared_path

BASE = released_models.find_release("base_v2")
CHINESE = released_models.find_release("base_zh")
FILES = [
    "30k-clean.model",
    "30k-clean.vocab",
    "albert_config.json",
    "model.ckpt-best.data-00000-of-00001",
    "model.ckpt-best.index",
    "model.ckpt-best.meta",
]


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """The content of an English and of a Chinese archive."""
    place = tmp_path_factory.mktemp("archives")
    contents = {}
    for release, chinese in ((BASE, False), (CHINESE, True)):
        folder = released_archives.write_model(place / release.name, chinese=chinese)
        archive = released_archives.write_archive(place / release.archive, folder)
        contents[release.archive] = archive.read_bytes()
    return contents


@pytest.fixture
def server(monkeypatch, archives):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with file_server.serving() as state:
        state.files.update({f"/models/{name}": content for name, content in archives.items()})
        yield state


@pytest.fixture
def obtain(server, tmp_path):
    """Obtains a release by way of the cache at `obtain.cache`."""

    def run(release=BASE):
        return model_cache.obtain(
            release,
            cache_dir=str(run.cache),
            base_url=f"{server.url}/models/",
            wait=run.waits.append,
        )

    run.cache = tmp_path / "cache"
    run.waits = []
    return run


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
# Downloading.


@pytest.mark.slow
def test_a_model_is_downloaded_once(obtain, server):
    model = obtain()
    assert model.is_new and model.folder == str(obtain.cache / "albert_base_v2" / "albert_base")
    assert sorted(os.listdir(model.folder)) == FILES
    assert visible(obtain.cache) == ["albert_base_v2", "albert_base_v2.json"]
    again = obtain()
    assert again == model._replace(is_new=False)
    assert server.ranges == [None]


def test_the_folder_is_what_albert_dir_takes(obtain):
    for release, vocabulary in ((BASE, "30k-clean.model"), (CHINESE, "vocab_chinese.txt")):
        folder = obtain(release).folder
        found = released_models.find_files(folder, label="folder")
        assert os.path.basename(found.spm_model_file or found.vocab_file) == vocabulary
        config = modeling.AlbertConfig.from_json_file(found.albert_config_file)
        with tf.Graph().as_default():
            released_archives.build_pretraining_model(config)
            checkpoint_init.warm_start(
                found.init_checkpoint, tf.trainable_variables(), required_scopes=("bert", "cls")
            )


def test_the_record_says_where_from_and_what(obtain, server):
    model = obtain()
    record = json.loads((obtain.cache / "albert_base_v2.json").read_text(encoding="utf-8"))
    assert record["url"] == f"{server.url}/models/albert_base_v2.tar.gz"
    assert record["sha256"] == model.sha256 and len(model.sha256) == 64
    assert record["size"] == len(server.files["/models/albert_base_v2.tar.gz"])
    assert sorted(record["files"]) == [f"albert_base/{name}" for name in FILES]


def test_a_cut_connection_goes_on_where_it_stopped(obtain, server):
    server.answers = [Answer(cut_after=len(server.files["/models/albert_base_v2.tar.gz"]) - 7)]
    assert obtain().is_new
    assert len(server.ranges) == 2 and obtain.waits == [1.0]


def test_what_is_cut_for_good_is_kept_for_the_next_start(obtain, server, monkeypatch):
    monkeypatch.setattr(model_cache.downloads, "_CHUNK_BYTES", 1000)
    server.answers = [Answer(cut_after=5000)] + [Answer(cut_after=0)] * 4
    with pytest.raises(ConnectionError, match="are kept"):
        obtain()
    assert visible(obtain.cache) == [".albert_base_v2.tar.gz", ".albert_base_v2.tar.gz.json"]
    server.ranges = []
    assert obtain().is_new
    assert server.ranges == ["bytes=5000-"]
    assert visible(obtain.cache) == ["albert_base_v2", "albert_base_v2.json"]


@pytest.mark.slow
def test_a_missing_archive_and_a_missing_network_are_told_apart(obtain, server):
    with pytest.raises(ValueError, match="albert_large_v2.tar.gz .*404.*--base_url"):
        obtain(released_models.find_release("large_v2"))
    gone = server.url.replace("127.0.0.1", "127.0.0.2")  # where nobody listens
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.2"
    with pytest.raises(ConnectionError, match="Check the network"):
        model_cache.obtain(
            BASE, cache_dir=str(obtain.cache), base_url=gone, wait=obtain.waits.append
        )
    assert visible(obtain.cache) == []


# ---------------------------------------------------------------------------------------------
# Archives that are not what they should be.


@pytest.mark.parametrize("place", [100, 0.5, -5])
def test_a_corrupt_archive_is_removed_and_can_be_fetched_again(obtain, server, place):
    path = "/models/albert_base_v2.tar.gz"
    good = server.files[path]
    bad = bytearray(good)
    bad[int(place * len(bad)) if isinstance(place, float) else place] ^= 0x55
    server.files[path] = bytes(bad)
    with pytest.raises(ValueError, match="is damaged.*run the same command again"):
        obtain()
    assert visible(obtain.cache) == []
    server.files[path] = good
    assert obtain().is_new


def test_an_archive_that_leads_out_of_its_folder_is_refused(obtain, server):
    for name in ("../../evil", "/tmp/evil-of-an-archive"):
        server.files["/models/albert_base_v2.tar.gz"] = packed(("a/b", b""), (name, b"x"))
        with pytest.raises(ValueError, match="albert_base_v2.tar.gz: .* leads out of its folder"):
            obtain()
        assert visible(obtain.cache) == []
    assert visible(obtain.cache.parent) == ["cache"]
    assert not os.path.exists("/tmp/evil-of-an-archive")


@pytest.mark.parametrize(
    "members, words",
    [
        ([("README", b"text")], "holds no albert_config.json"),
        ([("albert_base/albert_config.json", b"{}")], "should hold a SentencePiece model"),
    ],
)
def test_an_archive_without_a_model_is_refused(obtain, server, members, words):
    server.files["/models/albert_base_v2.tar.gz"] = packed(*members)
    with pytest.raises(ValueError, match=f"is not the archive of a model: .*{words}"):
        obtain()
    assert visible(obtain.cache) == []


@pytest.mark.slow
def test_an_archive_whose_vocabulary_does_not_fit_is_refused(obtain, server, tmp_path):
    folder = released_archives.write_model(tmp_path / "model", vocab_size=500)
    archive = released_archives.write_archive(tmp_path / "a.tar.gz", folder)
    server.files["/models/albert_base_v2.tar.gz"] = archive.read_bytes()
    with pytest.raises(ValueError, match="has 400 pieces, but the vocab_size"):
        obtain()


def test_another_archive_than_before_is_refused_until_the_record_is_removed(
    obtain, server, archives
):
    first = obtain()
    shutil.rmtree(str(obtain.cache / "albert_base_v2"))
    server.files["/models/albert_base_v2.tar.gz"] = archives[CHINESE.archive]
    with pytest.raises(ValueError, match=f"SHA-256 was {first.sha256} and is .*remove .*json"):
        obtain()
    assert visible(obtain.cache) == ["albert_base_v2.json"]
    (obtain.cache / "albert_base_v2.json").unlink()
    assert obtain().sha256 != first.sha256


# ---------------------------------------------------------------------------------------------
# Models in the cache.


@pytest.mark.parametrize("name", ["30k-clean.model", "model.ckpt-best.data-00000-of-00001"])
def test_a_file_that_changed_since_the_download_is_noticed(obtain, name):
    path = os.path.join(obtain().folder, name)
    with open(path, "r+b") as stream:
        first = stream.read(1)
        stream.seek(0)
        stream.write(bytes([first[0] ^ 1]))
    with pytest.raises(
        ValueError, match=f"has changed since it was downloaded: albert_base/{name}"
    ):
        obtain()
    shutil.rmtree(str(obtain.cache / "albert_base_v2"))
    assert obtain().is_new


def test_a_file_that_vanished_is_noticed(obtain):
    os.remove(os.path.join(obtain().folder, "albert_config.json"))
    with pytest.raises(ValueError, match="has changed .* albert_base/albert_config.json"):
        obtain()


@pytest.mark.slow
def test_a_folder_of_other_origin_is_left_alone(obtain):
    folder = obtain.cache / "albert_base_v2"
    released_archives.write_model(folder)
    with pytest.raises(ValueError, match="was not downloaded by this command.*--albert_dir"):
        obtain()
    assert visible(folder) == FILES


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"format_version": 7}'])
def test_a_damaged_record_is_refused(obtain, content):
    obtain()
    (obtain.cache / "albert_base_v2.json").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match="no record of a download"):
        obtain()


def test_a_cache_on_another_machine_is_refused():
    with pytest.raises(ValueError, match="--cache_dir=gs://b/c must be a folder of this machine"):
        model_cache.obtain(BASE, cache_dir="gs://b/c")


def test_a_start_after_a_kill_begins_with_a_clean_folder(obtain):
    left = obtain.cache / ".albert_base_v2.unpacked"
    left.mkdir(parents=True)
    (left / "half").write_text("x", encoding="utf-8")
    assert obtain().is_new
    assert visible(obtain.cache) == ["albert_base_v2", "albert_base_v2.json"]


def test_two_processes_download_a_model_once(obtain, server, monkeypatch):
    waiting = threading.Event()
    log = model_cache._LOGGER.info
    monkeypatch.setattr(
        model_cache._LOGGER,
        "info",
        lambda text, *values: waiting.set() if "Another process" in text else log(text, *values),
    )
    obtain.cache.mkdir()
    models = []
    second = threading.Thread(target=lambda: models.append(obtain()))
    places = model_cache._places(str(obtain.cache), BASE)
    with model_cache._locked(places.lock, BASE.name):
        second.start()
        assert waiting.wait(30)
        assert not models
    second.join(30)
    assert models[0].is_new and not obtain().is_new
    assert server.ranges == [None]


# ---------------------------------------------------------------------------------------------
# What is known of a release, and what others may have put in place.


def test_the_hash_of_a_release_is_demanded_where_it_is_known(obtain):
    with pytest.raises(ValueError, match="is not the released one"):
        obtain(BASE._replace(sha256="0" * 64))
    assert visible(obtain.cache) == []
    model = obtain()
    assert obtain(BASE._replace(sha256=model.sha256.upper())).folder == model.folder
    with pytest.raises(ValueError, match="is not the released one"):
        obtain(BASE._replace(sha256="0" * 64))


def test_another_server_has_to_have_the_archive_of_the_first_one(obtain, server, archives):
    obtain()
    shutil.rmtree(str(obtain.cache / "albert_base_v2"))
    server.files[f"/mirror/{BASE.archive}"] = archives[CHINESE.archive]
    with pytest.raises(ValueError, match="its SHA-256 was"):
        model_cache.obtain(BASE, cache_dir=str(obtain.cache), base_url=f"{server.url}/mirror")


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
# The released shapes.


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize("release", [BASE, CHINESE])
def test_an_archive_of_the_released_shape_is_downloaded_and_loaded(
    obtain, server, tmp_path, release
):
    """Names and shapes are those of the published checkpoint; the weights are random."""
    config = modeling.AlbertConfig.from_json_file(configs.preset_path(f"albert_{release.name}"))
    text = shared_path("golden/model_tiny/variables_base.txt").read_text(encoding="utf-8")
    shapes = {
        name: [config.vocab_size if size == 30000 else size for size in json.loads(shape)]
        for name, shape in (line.split("\t") for line in text.splitlines())
    }
    generator = np.random.RandomState(0)
    values = {
        name: (0.02 * generator.standard_normal(shape)).astype(np.float32)
        for name, shape in shapes.items()
    }
    folder = tmp_path / "albert_base"
    folder.mkdir()
    released_archives.save(folder / "model.ckpt-best", values)
    (folder / "albert_config.json").write_text(config.to_json_string(), encoding="utf-8")
    source = "wordpiece/zh_vocab.txt" if release is CHINESE else "spm/30k-clean.model"
    shutil.copy(str(shared_path(f"data/{source}")), str(folder / release.vocabulary))
    archive = released_archives.write_archive(tmp_path / release.archive, folder, level=1)
    server.files[f"/models/{release.archive}"] = archive.read_bytes()
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
