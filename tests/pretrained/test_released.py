# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The folder of a released model: what is found in it, and how the scripts take it."""

import json
import shutil

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
from albert.pretrained import model_cache, text_encoder_flags
from albert.pretrained import released as released_models
from albert.util import flags as flags_lib
from tests.support import classification_data, file_server, released_archives
from tests.support.shared import needs_shared, shared_path

SIZES = ("base", "large", "xlarge", "xxlarge")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The folders of an English and of a Chinese model."""
    place = tmp_path_factory.mktemp("released")
    return {
        "english": released_archives.write_model(place / "albert_base"),
        "chinese": released_archives.write_model(place / "albert_base_zh", chinese=True),
    }


def classifier_settings(*arguments):
    required = ["--task_name=mrpc", "--output_dir=out"]
    return flags_lib.parse(run_classifier.define_flags, required + list(arguments))


def parts(settings):
    """The names of the files that the settings name."""
    fields = released_models.ModelFiles._fields
    values = {name: getattr(settings, name) for name in fields}
    return {name: value.split("/")[-1] for name, value in values.items() if value}


# ---------------------------------------------------------------------------------------------
# Names.


def test_there_are_twelve_releases_with_the_published_names():
    assert len(released_models.RELEASES) == 12
    chinese = released_models.RELEASES["xxlarge_zh"]
    assert chinese.archive == "albert_xxlarge_zh.tar.gz" and chinese.folder == "albert_xxlarge"
    assert chinese.vocabulary == "vocab_chinese.txt"
    assert released_models.RELEASES["base_v2"].vocabulary == "30k-clean.model"


@pytest.mark.parametrize("name", ["base_v2", "albert_base_v2", "Albert_Base_V2.tar.gz"])
def test_a_release_is_found_by_each_way_to_write_its_name(name):
    assert released_models.find_release(name).name == "base_v2"


def test_an_unknown_release_is_refused_with_the_closest_name():
    with pytest.raises(ValueError, match="no released model 'bse_v2'. Did you mean base_v2"):
        released_models.find_release("bse_v2")


# ---------------------------------------------------------------------------------------------
# Files in a folder.


@pytest.mark.slow
def test_albert_dir_stands_for_configuration_weights_and_vocabulary(folders):
    settings = released_models.completed(classifier_settings(f"--albert_dir={folders['english']}"))
    assert parts(settings) == {
        "albert_config_file": "albert_config.json",
        "init_checkpoint": "model.ckpt-best",
        "spm_model_file": "30k-clean.model",
    }
    assert released_models.completed(settings) == settings


def test_a_chinese_archive_brings_its_wordpieces(folders):
    settings = released_models.completed(classifier_settings(f"--albert_dir={folders['chinese']}"))
    assert parts(settings)["vocab_file"] == "vocab_chinese.txt"
    assert settings.spm_model_file is None


@pytest.mark.parametrize("ending", ["", "/model.ckpt-best", "/model.ckpt-best.index"])
def test_init_checkpoint_finds_configuration_and_vocabulary_beside_it(folders, ending):
    place = f"{folders['english']}{ending}"
    settings = released_models.completed(classifier_settings(f"--init_checkpoint={place}"))
    assert settings.init_checkpoint == place
    assert parts(settings)["albert_config_file"] == "albert_config.json"
    assert parts(settings)["spm_model_file"] == "30k-clean.model"


def test_files_that_flags_name_go_before_those_of_the_folder(folders, tmp_path):
    config = classification_data.write_config(tmp_path)
    settings = released_models.completed(
        classifier_settings(
            f"--albert_dir={folders['english']}",
            f"--albert_config_file={config}",
            "--vocab_file=own.txt",
        )
    )
    assert settings.albert_config_file == config
    assert (settings.spm_model_file, settings.vocab_file) == (None, "own.txt")


def test_without_a_folder_nothing_is_looked_for():
    settings = classifier_settings("--albert_config_file=c", "--spm_model_file=s")
    assert released_models.completed(settings) is settings
    named = settings.replace(init_checkpoint="/nowhere/model.ckpt")
    assert released_models.completed(named) is named


def test_the_folder_of_a_checkpoint_need_not_hold_a_vocabulary(folders, tmp_path):
    """Pretraining leaves none; whoever needs one says so."""
    folder = tmp_path / "model"
    shutil.copytree(str(folders["english"]), str(folder))
    (folder / "30k-clean.model").unlink()
    settings = released_models.completed(classifier_settings(f"--init_checkpoint={folder}"))
    assert set(parts(settings)) == {"albert_config_file", "init_checkpoint"}


def test_a_module_beside_a_folder_is_refused(folders):
    settings = classifier_settings(
        f"--albert_dir={folders['english']}", "--albert_hub_module_handle=m"
    )
    with pytest.raises(ValueError, match="no place beside --albert_hub_module_handle"):
        released_models.completed(settings)


@pytest.mark.parametrize(
    "missing, words",
    [
        ("albert_config.json", "--albert_dir=.* should hold albert_config.json; found: 30k"),
        ("30k-clean.model", "should hold a SentencePiece model or vocab.txt"),
        ("model.ckpt-best.index", "there is no checkpoint.*To start from random weights"),
        ("model.ckpt-best.data-00000-of-00001", "is incomplete"),
    ],
)
def test_a_folder_that_lacks_a_part_is_refused(folders, tmp_path, missing, words):
    folder = tmp_path / "model"
    shutil.copytree(str(folders["english"]), str(folder))
    (folder / missing).unlink()
    with pytest.raises(ValueError, match=words):
        released_models.completed(classifier_settings(f"--albert_dir={folder}"))


def test_several_files_of_a_kind_are_refused_unless_one_has_the_usual_name(folders, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(str(folders["english"]), str(folder))
    model = folder / "30k-clean.model"
    shutil.copy(str(model), str(folder / "other.model"))
    settings = classifier_settings(f"--albert_dir={folder}")
    assert parts(released_models.completed(settings))["spm_model_file"] == "30k-clean.model"
    model.rename(folder / "third.model")
    with pytest.raises(ValueError, match="found: other.model, third.model"):
        released_models.completed(settings)


def test_a_missing_folder_and_the_one_around_the_model_are_told_apart(folders):
    with pytest.raises(ValueError, match="--albert_dir=/nowhere is not a folder"):
        released_models.completed(classifier_settings("--albert_dir=/nowhere"))
    around = folders["english"].parent
    with pytest.raises(ValueError, match="Did you mean .*/albert_base"):
        released_models.completed(classifier_settings(f"--albert_dir={around}"))


@pytest.mark.slow
@pytest.mark.parametrize("vocab_size", [399, 401])
def test_a_vocabulary_that_is_not_the_models_is_refused(tmp_path, vocab_size):
    folder = released_archives.write_model(tmp_path / "model", vocab_size=vocab_size)
    with pytest.raises(ValueError, match=f"has 400 pieces, but the vocab_size .* {vocab_size}"):
        released_models.completed(classifier_settings(f"--albert_dir={folder}"))
    # A vocabulary that is named may be smaller.
    named = f"--spm_model_file={folder / '30k-clean.model'}"
    assert released_models.completed(classifier_settings(f"--albert_dir={folder}", named))


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
def cached(folders, tmp_path, monkeypatch):
    """A server of releases and an empty cache; yields the server."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.chdir(tmp_path)
    with file_server.serving() as state:
        archive = released_archives.write_archive(tmp_path / "a.tar.gz", folders["english"])
        state.files["/albert_base_v2.tar.gz"] = archive.read_bytes()
        monkeypatch.setattr(model_cache, "BASE_URL", state.url)
        monkeypatch.setattr(model_cache, "CACHE_DIR", str(tmp_path / "cache"))
        yield state


def test_a_released_model_is_fetched_once_by_its_name(cached, folders, tmp_path):
    inner = tmp_path / "cache" / "albert_base_v2" / "albert_base"
    for name in ("base_v2", "albert_base_v2"):
        settings = released_models.completed(classifier_settings(f"--albert_dir={name}"))
        assert settings.init_checkpoint == str(inner / "model.ckpt-best")
        assert released_models.completed(settings) == settings
    assert cached.ranges == [None]
    shutil.copytree(str(folders["english"]), str(tmp_path / "base_v2"))  # goes first
    settings = released_models.completed(classifier_settings("--albert_dir=base_v2"))
    assert settings.init_checkpoint == "base_v2/model.ckpt-best"


@pytest.mark.slow
def test_every_flag_for_a_folder_takes_the_name(cached, tmp_path):
    def parsed(script, *arguments):
        return flags_lib.parse(script.define_flags, arguments)

    place = ("--data_dir=d", "--output_dir=o")
    sweep.find_model(parsed(sweep, "--model_dir=base_v2", *place))
    plan.main(parsed(plan, "--albert_dir=base_v2", "--max_seq_length=32"))
    text_encoder_flags.find_source(parsed(fill_mask, "--albert_dir=base_v2", "--max_seq_length=32"))
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

    monkeypatch.setattr(model_cache, "obtain", fail)
    with pytest.raises(ConnectionError, match="--albert_dir=base_v2 .* nobody answers. .*folder"):
        released_models.completed(classifier_settings("--albert_dir=base_v2"))
    with pytest.raises(ValueError, match="did you mean base_v2"):
        released_models.completed(classifier_settings("--albert_dir=bse_v2"))


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
