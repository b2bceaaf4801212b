# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Damage to checkpoints is found wherever it is; a useless file `checkpoint` stops nothing."""

import os
import pathlib
import re
import threading

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import export_checkpoints, modeling
from albert.commands import embed
from albert.formats import checkpoints, model_paths, warm_start
from albert.util import UserError
from albert.util import flags as flags_lib
from tests.support import damaged_files, fine_tuned_models, graphs, pretrained_models

ENDINGS = (".index", ".data-00000-of-00001")


@pytest.fixture
def checkpoint(tmp_path):
    """The prefix of a checkpoint of two weights and its step; a state names it."""
    with graphs.new_session() as session:
        tf.get_variable("a", initializer=np.float32([1, 2, 3]))
        tf.get_variable("b/c", initializer=np.float32([[4, 5]]))
        tf.train.get_or_create_global_step()
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, f"{tmp_path}/model.ckpt-7")


def values_of(prefix):
    reader = tf.train.load_checkpoint(prefix)
    return {name: reader.get_tensor(name).tolist() for name in reader.get_variable_to_shape_map()}


@pytest.mark.parametrize("end", ENDINGS)
def test_find_damage_finds_flipped_bits_and_cuts(checkpoint, end):
    before, path = values_of(checkpoint), pathlib.Path(checkpoint + end)
    whole, found = path.read_bytes(), 0
    for place in range(len(whole)):
        damaged_files.flip_bit(path, place)
        damage = checkpoints.find_damage(checkpoint)
        assert checkpoint + end.split("-")[0] in damage or values_of(checkpoint) == before
        found += bool(damage)
        path.write_bytes(whole[:place])
        assert checkpoints.find_damage(checkpoint)
        path.write_bytes(whole)
    # The index has unused places.
    assert found == len(whole) or (end == ".index" and found > len(whole) / 2)
    assert checkpoints.find_damage(checkpoint) == ""


def test_find_damage_looks_at_named_values_only(checkpoint):
    damaged_files.flip_bit(checkpoint + ENDINGS[1], 0)
    assert checkpoints.find_damage(checkpoint, ["b/c"]) == ""
    with pytest.raises(ValueError, match="model.ckpt-7"):
        checkpoints.check_whole(checkpoint, ["a"])


@pytest.mark.parametrize("folder", ["run[1]", "a*b", "what?"])
def test_folder_that_is_a_pattern_is_refused(folder, tmp_path):
    path = f"{tmp_path}/{folder}"
    for read in (model_paths.list_checkpoints, checkpoints.check_whole):
        with pytest.raises(UserError, match=re.escape(folder)):
            read(path)


@pytest.mark.parametrize("name", ["checkpoint", *("model.ckpt-7" + end for end in ENDINGS)])
def test_pipe_in_place_of_a_file_is_refused_unopened(checkpoint, name):
    path = pathlib.Path(checkpoint).with_name(name)
    path.unlink()
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"",), daemon=True)
    writer.start()  # and waits for a reader
    with pytest.raises(UserError, match=name):
        checkpoints.read(model_paths.resolve(str(path.parent)))
    assert writer.is_alive()


@pytest.mark.parametrize("kind", damaged_files.DAMAGES)
def test_explained_names_damaged_checkpoint(checkpoint, kind):
    with pytest.raises(IndexError), checkpoints.explained(checkpoint):
        raise IndexError("of something else")
    damaged_files.damage(checkpoint, kind)
    with pytest.raises(ValueError, match="model.ckpt-7"), checkpoints.explained(checkpoint):
        values_of(checkpoint)


# ---------------------------------------------------------------------------------------------
# What reads them.


def script(module, main, *arguments):
    """What runs a script on a pretrained model's folder."""
    return lambda folder, out: main(
        flags_lib.parse(module.Flags, [text.format(folder=folder, out=out) for text in arguments])
    )


def restore(folder, out):
    """As every training does with --init_checkpoint."""
    del out
    with tf.Graph().as_default():
        modeling.AlbertModel(pretrained_models.config(), False, tf.zeros([1, 4], tf.int32))
        warm_start.warm_start(folder, tf.trainable_variables())


TEXT = ("--albert_dir={folder}", "--input_file={folder}/albert_config.json", "--output_file={out}")
READERS = {
    "init_checkpoint": restore,
    "export_checkpoints": script(
        export_checkpoints,
        export_checkpoints.main,
        "--albert_directory={folder}",
        "--export_path={out}",
    ),
    "embed": script(embed, embed.main, *TEXT),
    "convert_checkpoint": lambda folder, out: checkpoints.read(f"{folder}/model.ckpt-best"),
    "saved_model": fine_tuned_models.export,
}


@pytest.fixture(scope="module")
def damaged_models(tmp_path_factory):
    """The folders of a pretrained and of a fine-tuned model, both with a flipped bit."""
    folder = tmp_path_factory.mktemp("models")
    pretrained_models.write_archive(folder / "pretrained")
    fine_tuned_models.write_classifier(folder / "fine_tuned")
    for name in ("pretrained", "fine_tuned"):
        damaged_files.flip_bit(folder / name / "model.ckpt-best.data-00000-of-00001", 0)
    return folder


@pytest.mark.parametrize("reader", READERS)
def test_reader_names_damaged_file(damaged_models, tmp_path, reader):
    kind = "fine_tuned" if reader == "saved_model" else "pretrained"
    with pytest.raises(ValueError, match=r"model\.ckpt-best\.data-"):
        READERS[reader](f"{damaged_models}/{kind}", f"{tmp_path}/out")
    assert list(tmp_path.iterdir()) == []
