# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Model folders read and written whole, for every direction of convert_checkpoint."""

import contextlib
from typing import Any, Dict, Iterator, NamedTuple, Optional

import tensorflow.compat.v1 as tf

from albert import modeling
from albert.checkpoints import weights as checkpoint_conversion
from albert.conversion.settings import ConversionFlags
from albert.pretrained import model_vocabulary, released, warm_start
from albert.util import files
from albert.util.errors import UserError


class OurModel(NamedTuple):
    """A folder of ours, or of albert_zh, read."""

    files: released.ModelFiles
    vocabulary: Optional[model_vocabulary.Vocabulary]
    config: modeling.AlbertConfig
    weights: checkpoint_conversion.Weights
    description: Dict[str, Any]
    description_name: str


def read_model(settings: ConversionFlags) -> OurModel:
    """Returns the model in --input_dir; files that flags name come first.

    Raises:
      ValueError: a part is missing or cannot be read.
    """
    folder = settings.input_dir
    label = f"--input_dir={folder}"
    named = (getattr(settings, name) for name in released.ModelFiles._fields)
    found = released.find_files(
        folder, released.ModelFiles(*named), label=label, vocabulary="optional"
    )
    description, name = model_vocabulary.read_description(folder)
    checkpoint = warm_start.resolve_checkpoint(found.init_checkpoint)
    return OurModel(
        found,
        released.vocabulary_of(found, folder, settings, label=label),
        modeling.AlbertConfig.from_json_file(found.albert_config_file),
        checkpoint_conversion.read_checkpoint(checkpoint),
        description,
        name,
    )


@contextlib.contextmanager
def new_folder(path: str) -> Iterator[str]:
    """Yields a folder that gets the name `path` if the block succeeds.

    Raises:
      ValueError: the path exists.
    """
    if tf.io.gfile.exists(path):
        raise UserError(f"--output_dir={path} exists already. Choose a new folder.")
    with files.atomic_folder(path) as temporary:
        tf.io.gfile.makedirs(temporary)
        yield temporary
