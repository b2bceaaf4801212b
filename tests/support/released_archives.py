# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Folders and archives in the shape of the released ones, with random weights."""

import pathlib
import tarfile

from albert import run_classifier
from albert.formats import checkpoints
from albert.models import released
from albert.util import flags as flags_lib
from tests.support import fine_tuned_models, pretrained_models

SPM_MODEL = pretrained_models.VOCABULARY  # 400 tokens
WORDPIECES = pretrained_models.WORDPIECES  # 257 tokens

CONFIG = dict(
    fine_tuned_models.CONFIG,
    max_position_embeddings=64,
    **fine_tuned_models.NO_DROPOUT,
    # Keys of the released files that name nothing in this package.
    net_structure_type=0,
    gap_size=0,
    num_memory_blocks=0,
)


def write_checkpoint(prefix, config, **options):
    """Writes random weights, see fine_tuned_models.random_weights, and returns them."""
    values = fine_tuned_models.random_weights(config, pretrained_models.build, **options)
    save(prefix, values)
    return values


def save(prefix, values):
    """Writes a checkpoint of these values."""
    checkpoints.write(str(prefix), values)


def write_model(folder, *, chinese=False, **changes):
    """Writes the folder that a released archive unpacks to, of a tiny model; returns its path."""
    sizes = {"vocab_size": 257} if chinese else {}
    options = {**CONFIG, **sizes, **changes}
    folder = pathlib.Path(pretrained_models.write_archive(folder, wordpiece=chinese, **options))
    (folder / "model.ckpt-best.meta").write_bytes(b"")
    return folder


def write_archive(path, folder):
    """Packs a folder as the released archives are packed; returns the archive."""
    with tarfile.open(path, "w:gz") as archive:
        archive.add(str(folder), arcname="albert_base")
    return pathlib.Path(path)


def resolved(*arguments):
    """The settings of a fine-tuning with these flags, and the files that they name."""
    flags = flags_lib.parse(
        run_classifier.Flags, ["--task_name=mrpc", "--output_dir=o", *arguments]
    )
    return released.resolve_model_files(flags)
