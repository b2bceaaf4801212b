# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A trained model without its optimizer: what is written, and that it loads back equal."""

import json
import os
import re
import shutil

import pytest
import tensorflow.compat.v1 as tf

from albert import export_checkpoints, modeling
from tests.support import graphs, released_archives, scripts
from tests.support.conversions import values_in
from tests.support.recorded import assert_equal


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a trained model with the slots of an optimizer."""
    return released_archives.write_model(tmp_path_factory.mktemp("lamb") / "trained", slots="lamb")


@pytest.fixture
def copied(trained, tmp_path):
    """A copy of it, to be changed."""
    shutil.copytree(trained, tmp_path / "trained")
    return tmp_path / "trained"


def export(folder, export_path, more=""):
    arguments = f"--albert_directory={folder} --export_path={export_path} {more}"
    scripts.run(export_checkpoints, arguments)


def files_in(folder):
    return sorted(os.listdir(folder))


@pytest.mark.slow
@pytest.mark.parametrize(
    "slots, changes",
    [
        ("lamb", {}),
        ("adam", {"num_hidden_groups": 2, "inner_group_num": 2}),
        ("adam", {"ln_type": "preln", "chinese": True}),
    ],
)
def test_export_keeps_weights_without_optimizer_state(tmp_path, slots, changes):
    folder, new = tmp_path / "trained", tmp_path / "new"
    released_archives.write_model(folder, slots=slots, **changes)
    export(folder, f"{new}/")
    before, after = values_in(folder), values_in(new)
    weights = {name for name in before if not re.search(r"/(adam|lamb)_[mv]$|^global_step$", name)}
    assert set(after) == weights
    assert_equal(after, before)
    assert set(files_in(new)) == {"vocabulary.json", *files_in(folder)} - {"30k-clean.vocab"}
    with graphs.new_session() as session:
        saver = tf.train.import_meta_graph(f"{new}/model.ckpt-best.meta")
        saver.restore(session, f"{new}/model.ckpt-best")
    config = (new / "albert_config.json").read_bytes()
    assert config == (folder / "albert_config.json").read_bytes()  # unknown keys too


@pytest.mark.parametrize("name", ["small.index", "albert_config.json", "30k-clean.model"])
def test_export_keeps_existing_file(trained, tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(ValueError, match=name):
        export(trained, tmp_path / "small")
    assert files_in(tmp_path) == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_export_takes_named_checkpoint_vocabulary_and_prefix(copied, tmp_path):
    config = modeling.AlbertConfig.from_dict(released_archives.CONFIG)
    values = released_archives.write_checkpoint(copied / "model.ckpt-7", config, seed=7)
    (copied / "30k-clean.model").unlink()
    export(copied, f"{tmp_path}/without/", "--checkpoint_name=model.ckpt-7")
    assert_equal(values_in(tmp_path / "without"), values)
    export(copied, f"{tmp_path}/with/small", f"--spm_model_file={released_archives.SPM_MODEL}")
    assert {"tiny.model", "vocabulary.json", "small.index"} < set(files_in(tmp_path / "with"))
    assert not {"tiny.model", "vocabulary.json"} & set(files_in(tmp_path / "without"))
    with pytest.raises(ValueError, match="model.ckpt-8"):
        export(copied, f"{tmp_path}/other/", "--checkpoint_name=model.ckpt-8")


@pytest.mark.parametrize("key, value, named", [("hidden_size", 24, "24"), ("vocab_size", 3, "400")])
def test_export_refuses_config_of_another_model(copied, tmp_path, key, value, named):
    config = json.dumps(dict(released_archives.CONFIG, **{key: value}))
    (copied / "albert_config.json").write_text(config)
    with pytest.raises(ValueError, match=named):
        export(copied, f"{tmp_path}/new/")
    assert files_in(tmp_path) == ["trained"]
