# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A trained model without its optimiser: what is written, and that it loads back equal."""

import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import export_checkpoints, modeling
from albert.pretrained import released as released_models
from albert.pretrained import warm_start as checkpoint_init
from albert.util import flags as flags_lib
from tests.support import released_archives
from tests.support.shared import needs_shared, shared_path


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a trained model with the slots of an optimizer."""
    folder = tmp_path_factory.mktemp("lamb") / "trained"
    return released_archives.write_model(folder, slots="lamb")


def settings_of(folder, export_path, *arguments):
    required = [f"--albert_directory={folder}", f"--export_path={export_path}"]
    return flags_lib.parse(export_checkpoints.define_flags, required + list(arguments))


def values_in(prefix):
    reader = tf.train.load_checkpoint(str(prefix))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def files_in(folder):
    return sorted(os.listdir(str(folder)))


@pytest.mark.parametrize("slots", ["adam", "lamb"])
def test_weights_stay_and_optimizer_state_goes(slots, tmp_path):
    folder = released_archives.write_model(tmp_path / "trained", slots=slots)
    exported = export_checkpoints.export(settings_of(folder, f"{tmp_path}/new/"))
    before, after = values_in(folder / "model.ckpt-best"), values_in(exported.checkpoint)
    dropped = {name for name in before if re.search(r"/(adam|lamb)_[mv]$|^global_step$", name)}
    assert set(before) - set(after) == dropped and len(after) == 32
    for name, value in after.items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)
    assert exported.bytes_before >= 2 * exported.bytes_after
    files = [f"{exported.checkpoint}{ending}" for ending in (".index", ".data-00000-of-00001")]
    assert exported.bytes_after == sum(map(os.path.getsize, files))


@pytest.mark.slow
def test_new_folder_is_an_archive(trained, tmp_path):
    exported = export_checkpoints.export(settings_of(trained, f"{tmp_path}/new/"))
    assert files_in(tmp_path / "new") == [
        "30k-clean.model",
        "30k-clean.vocab",
        "albert_config.json",
        "model.ckpt-best.data-00000-of-00001",
        "model.ckpt-best.index",
        "vocabulary.json",
    ]
    found = released_models.find_files(str(tmp_path / "new"), label="new")
    assert found.init_checkpoint == exported.checkpoint
    config = (tmp_path / "new" / "albert_config.json").read_bytes()
    assert config == (trained / "albert_config.json").read_bytes()  # unknown keys too
    model = modeling.AlbertConfig.from_json_file(found.albert_config_file)
    with tf.Graph().as_default():
        released_archives.build_pretraining_model(model)
        report = checkpoint_init.warm_start(
            found.init_checkpoint, tf.trainable_variables(), required_scopes=("bert", "cls")
        ).report
    assert not report.new and not report.left_over and not report.optimizer_state


def test_a_path_that_is_no_folder_is_a_prefix(trained, tmp_path):
    exported = export_checkpoints.export(settings_of(trained, tmp_path / "small"))
    assert exported.checkpoint == str(tmp_path / "small")
    assert (tmp_path / "small.index").exists() and (tmp_path / "albert_config.json").exists()


@pytest.mark.parametrize("name", ["model.ckpt-best.index", "albert_config.json", "30k-clean.model"])
def test_nothing_is_overwritten(trained, tmp_path, name):
    (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match=name):
        export_checkpoints.export(settings_of(trained, tmp_path))
    assert files_in(tmp_path) == [name]
    assert (tmp_path / name).read_text(encoding="utf-8") == "mine"


@pytest.mark.slow
def test_nothing_remains_of_an_export_that_fails(trained, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(export_checkpoints, "_compare", fail)
    with pytest.raises(OSError, match="disk full"):
        export_checkpoints.export(settings_of(trained, tmp_path / "new" / "model.ckpt-best"))
    assert files_in(tmp_path) == []


def test_what_was_written_wrongly_is_noticed(trained, tmp_path):
    values = values_in(trained / "model.ckpt-best")
    name = "bert/pooler/dense/bias"
    released_archives.save(tmp_path / "model.ckpt", {name: values[name] + 1})
    with pytest.raises(OSError, match="is not what was read"):
        export_checkpoints._compare(
            str(trained / "model.ckpt-best"), str(tmp_path / "model.ckpt"), [name]
        )


@pytest.mark.slow
def test_the_checkpoint_is_chosen_by_its_name(trained, tmp_path):
    config = modeling.AlbertConfig.from_dict(released_archives.CONFIG)
    folder = tmp_path / "trained"
    shutil.copytree(str(trained), str(folder))
    values = released_archives.write_checkpoint(folder / "model.ckpt-7", config, seed=7)
    settings = settings_of(folder, f"{tmp_path}/new/", "--checkpoint_name=model.ckpt-7")
    exported = export_checkpoints.export(settings)
    for name, value in values_in(exported.checkpoint).items():
        np.testing.assert_array_equal(value, values[name])
    with pytest.raises(ValueError, match="model.ckpt-8"):
        export_checkpoints.export(settings.replace(checkpoint_name="model.ckpt-8"))


@pytest.mark.slow
def test_a_vocabulary_may_be_named_or_missing(trained, tmp_path, caplog):
    folder = tmp_path / "trained"
    shutil.copytree(str(trained), str(folder))
    for name in ("30k-clean.model", "30k-clean.vocab"):
        (folder / name).unlink()
    export_checkpoints.export(settings_of(folder, f"{tmp_path}/without/"))
    assert "--spm_model_file" in caplog.text
    named = f"--spm_model_file={released_archives.SPM_MODEL}"
    export_checkpoints.export(settings_of(folder, f"{tmp_path}/with/", named))
    new = set(files_in(tmp_path / "with")) - set(files_in(tmp_path / "without"))
    assert new == {"tiny.model", "tiny.vocab", "vocabulary.json"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"num_hidden_groups": 2, "inner_group_num": 2},
        {"embedding_layout": "albert_zh"},
        {"share_type": "attention"},
        {"ln_type": "preln", "chinese": True},
    ],
)
def test_every_architecture_is_exported_whole(tmp_path, changes):
    folder = released_archives.write_model(tmp_path / "model", slots="adam", **changes)
    exported = export_checkpoints.export(settings_of(folder, f"{tmp_path}/new/"))
    before = values_in(folder / "model.ckpt-best")
    weights = {name for name in before if not re.search(r"/adam_[mv]$|^global_step$", name)}
    assert set(values_in(exported.checkpoint)) == weights
    if "chinese" in changes:  # they keep their WordPieces
        assert "vocab_chinese.txt" in files_in(tmp_path / "new")


@pytest.mark.slow
def test_a_model_without_pretraining_heads_is_refused(trained, tmp_path):
    folder = tmp_path / "tuned"
    shutil.copytree(str(trained), str(folder))
    values = values_in(trained / "model.ckpt-best")
    encoder = {name: value for name, value in values.items() if name.startswith("bert/")}
    released_archives.save(folder / "model.ckpt-9", encoder)
    settings = settings_of(folder, f"{tmp_path}/new/", "--checkpoint_name=model.ckpt-9")
    with pytest.raises(ValueError, match="model.ckpt-9"):
        export_checkpoints.export(settings)


@pytest.mark.parametrize(
    "damage, words",
    [
        ({"hidden_size": 24}, "24"),
        ({"vocab_size": 300}, "400"),
    ],
)
def test_a_configuration_of_another_model_is_refused(trained, tmp_path, damage, words):
    folder = tmp_path / "trained"
    shutil.copytree(str(trained), str(folder))
    config = modeling.AlbertConfig.from_dict(dict(released_archives.CONFIG, **damage))
    (folder / "albert_config.json").write_text(config.to_json_string(), encoding="utf-8")
    with pytest.raises(ValueError, match=words):
        export_checkpoints.export(settings_of(folder, f"{tmp_path}/new/"))
    assert files_in(tmp_path) == ["trained"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ValueError, match="--albert_directory=/nowhere"):
        export_checkpoints.export(settings_of("/nowhere", tmp_path / "new"))


@pytest.mark.slow
def test_the_command_says_what_it_left_behind(trained, tmp_path):
    command = [sys.executable, "-m", "albert.export_checkpoints", f"--albert_directory={trained}"]
    command.append(f"--export_path={tmp_path}/new/")
    done = subprocess.run(command, capture_output=True, check=True)
    text = done.stderr.decode("utf-8")
    assert "Wrote 32 variables" in text and "left behind 65" in text and "Beside it" in text
    again = subprocess.run(command, capture_output=True)
    assert again.returncode == 1 and b"nothing is overwritten" in again.stderr


@needs_shared
def test_a_checkpoint_of_the_reference_is_exported(tmp_path):
    folder = tmp_path / "reference"
    folder.mkdir()
    trace = shared_path("golden/model_tiny/train_trace/base_lamb")
    for path in trace.glob("model.ckpt-8.*"):
        shutil.copy(str(path), str(folder))
    config = shared_path("golden/model_tiny/base/albert_config.json")
    (folder / "albert_config.json").write_bytes(config.read_bytes())
    settings = settings_of(folder, f"{tmp_path}/new/", "--checkpoint_name=model.ckpt-8")
    exported = export_checkpoints.export(settings)
    text = shared_path("golden/model_tiny/base/variables.txt").read_text(encoding="utf-8")
    names = {line.split("\t")[0] for line in text.splitlines()}
    assert set(values_in(exported.checkpoint)) == names
    assert exported.bytes_before >= 2 * exported.bytes_after
