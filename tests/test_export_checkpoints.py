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
from albert.pretrained import released
from albert.util import flags as flags_lib
from tests.support import released_archives
from tests.support.shared import needs_shared, shared_path

WEIGHTS = ["model.ckpt-best.data-00000-of-00001", "model.ckpt-best.index"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a trained model with the slots of an optimizer."""
    folder = tmp_path_factory.mktemp("lamb") / "trained"
    return released_archives.write_model(folder, slots="lamb")


@pytest.fixture
def copied(trained, tmp_path):
    """A copy of it, to be changed."""
    shutil.copytree(str(trained), str(tmp_path / "trained"))
    return tmp_path / "trained"


def settings_of(folder, export_path, *arguments):
    required = [f"--albert_directory={folder}", f"--export_path={export_path}"]
    return flags_lib.parse(export_checkpoints.Flags, required + list(arguments))


def values_in(prefix):
    reader = tf.train.load_checkpoint(str(prefix))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def files_in(folder):
    return sorted(os.listdir(str(folder)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "slots, changes",
    [
        ("lamb", {}),
        ("adam", {"num_hidden_groups": 2, "inner_group_num": 2}),
        ("adam", {"embedding_layout": "albert_zh"}),
        ("adam", {"share_type": "attention"}),
        ("adam", {"ln_type": "preln", "chinese": True}),
    ],
)
def test_weights_stay_and_optimizer_state_goes(tmp_path, slots, changes):
    folder = released_archives.write_model(tmp_path / "trained", slots=slots, **changes)
    exported = export_checkpoints.export(settings_of(folder, f"{tmp_path}/new/"))
    before, after = values_in(folder / "model.ckpt-best"), values_in(exported.checkpoint)
    weights = {name for name in before if not re.search(r"/(adam|lamb)_[mv]$|^global_step$", name)}
    assert set(after) == weights
    for name, value in after.items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)
    assert exported.bytes_before >= 2 * exported.bytes_after
    sizes = [os.path.getsize(str(tmp_path / "new" / name)) for name in WEIGHTS]
    assert exported.bytes_after == sum(sizes)
    chinese, english = ["vocab_chinese.txt"], ["30k-clean.model", "30k-clean.vocab"]
    others = ["albert_config.json", "vocabulary.json"]
    vocabulary = chinese if "chinese" in changes else english
    graph = "model.ckpt-best.meta"  # bert-for-tf2 asks for it
    assert files_in(tmp_path / "new") == sorted([*vocabulary, *others, *WEIGHTS, graph])
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(str(tmp_path / "new" / graph))
        saver.restore(session, exported.checkpoint)
    found = released.find_files(str(tmp_path / "new"), label="new")
    assert found.init_checkpoint == exported.checkpoint
    config = (tmp_path / "new" / "albert_config.json").read_bytes()
    assert config == (folder / "albert_config.json").read_bytes()  # unknown keys too


@pytest.mark.parametrize("name", ["small.index", "albert_config.json", "30k-clean.model"])
def test_a_path_that_is_no_folder_is_a_prefix_and_nothing_is_overwritten(trained, tmp_path, name):
    settings = settings_of(trained, tmp_path / "small")
    (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match=name):
        export_checkpoints.export(settings)
    assert files_in(tmp_path) == [name]
    assert (tmp_path / name).read_text(encoding="utf-8") == "mine"
    (tmp_path / name).unlink()
    assert export_checkpoints.export(settings).checkpoint == str(tmp_path / "small")
    assert (tmp_path / "small.index").exists() and (tmp_path / "albert_config.json").exists()


def test_what_was_written_wrongly_is_noticed_and_removed(trained, tmp_path, monkeypatch):
    save = tf.train.Saver.save

    def save_another(saver, session, *arguments, **options):
        variable = next(
            v for v in tf.trainable_variables() if v.op.name == "bert/pooler/dense/bias"
        )
        session.run(variable.assign_add(tf.ones_like(variable)))
        return save(saver, session, *arguments, **options)

    monkeypatch.setattr(tf.train.Saver, "save", save_another)
    with pytest.raises(OSError, match="model.ckpt-best"):
        export_checkpoints.export(settings_of(trained, tmp_path / "new" / "model.ckpt-best"))
    assert files_in(tmp_path) == []


@pytest.mark.slow
def test_the_checkpoint_is_chosen_by_its_name(copied, tmp_path):
    config = modeling.AlbertConfig.from_dict(released_archives.CONFIG)
    values = released_archives.write_checkpoint(copied / "model.ckpt-7", config, seed=7)
    settings = settings_of(copied, f"{tmp_path}/new/", "--checkpoint_name=model.ckpt-7")
    exported = export_checkpoints.export(settings)
    for name, value in values_in(exported.checkpoint).items():
        np.testing.assert_array_equal(value, values[name])
    encoder = {name: value for name, value in values.items() if name.startswith("bert/")}
    released_archives.save(copied / "model.ckpt-9", encoder)  # without pretraining heads
    for wrong in ("model.ckpt-8", "model.ckpt-9"):
        with pytest.raises(ValueError, match=wrong):
            export_checkpoints.export(
                settings.replace(checkpoint_name=wrong, export_path=f"{tmp_path}/other/")
            )


@pytest.mark.slow
def test_a_vocabulary_may_be_named_or_missing(copied, tmp_path, caplog):
    for name in ("30k-clean.model", "30k-clean.vocab"):
        (copied / name).unlink()
    export_checkpoints.export(settings_of(copied, f"{tmp_path}/without/"))
    assert "--spm_model_file" in caplog.text
    named = f"--spm_model_file={released_archives.SPM_MODEL}"
    export_checkpoints.export(settings_of(copied, f"{tmp_path}/with/", named))
    new = set(files_in(tmp_path / "with")) - set(files_in(tmp_path / "without"))
    assert new == {"tiny.model", "tiny.vocab", "vocabulary.json"}


@pytest.mark.parametrize("change, words", [({"hidden_size": 24}, "24"), ({"vocab_size": 3}, "400")])
def test_a_configuration_of_another_model_is_refused(copied, tmp_path, change, words):
    config = modeling.AlbertConfig.from_dict(dict(released_archives.CONFIG, **change))
    (copied / "albert_config.json").write_text(config.to_json_string(), encoding="utf-8")
    with pytest.raises(ValueError, match=words):
        export_checkpoints.export(settings_of(copied, f"{tmp_path}/new/"))
    assert files_in(tmp_path) == ["trained"]
    with pytest.raises(ValueError, match="--albert_directory=/nowhere"):
        export_checkpoints.export(settings_of("/nowhere", tmp_path / "new"))


@pytest.mark.slow
def test_the_command_says_what_it_left_behind(trained, tmp_path):
    command = [sys.executable, "-m", "albert.export_checkpoints", f"--albert_directory={trained}"]
    done = subprocess.run([*command, f"--export_path={tmp_path}/"], capture_output=True, check=True)
    text = done.stderr.decode("utf-8")
    assert "32 variables" in text and "left behind 65" in text and "30k-clean.model" in text


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
