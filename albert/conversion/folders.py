# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Model folders read and written whole, for every direction of convert_checkpoint."""

import contextlib
import os
from typing import Any, Dict, Iterator, NamedTuple, Optional

import tensorflow.compat.v1 as tf

from albert import modeling
from albert.conversion import names as checkpoint_names
from albert.conversion import weights as checkpoint_conversion
from albert.conversion.names import ENCODER, MASKED_WORDS, POOLER, SENTENCE_ORDER
from albert.conversion.settings import ConversionSettings
from albert.conversion.weights import Values
from albert.pretrained import model_vocabulary, released, warm_start
from albert.util import files

PRETRAINING = (MASKED_WORDS, SENTENCE_ORDER)


class OurModel(NamedTuple):
    """A folder of ours, or of albert_zh, read."""

    files: released.ModelFiles
    vocabulary: Optional[model_vocabulary.Vocabulary]
    config: modeling.AlbertConfig
    weights: checkpoint_conversion.Weights
    description: Dict[str, Any]
    description_name: str


def read_model(settings: ConversionSettings) -> OurModel:
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
        raise ValueError(f"--output_dir={path} exists already. Choose a new folder.")
    with files.atomic_folder(path) as temporary:
        tf.io.gfile.makedirs(temporary)
        yield temporary


def write_model(
    folder: str,
    config: modeling.AlbertConfig,
    values: Values,
    *,
    vocabulary: Optional[model_vocabulary.Vocabulary] = None,
) -> None:
    """Writes configuration, checkpoint and, if there is one, the vocabulary under its own name."""
    path = os.path.join(folder, released.CONFIG_NAME)
    files.atomic_write_text(path, config.to_json_string())
    checkpoint_conversion.write_checkpoint(os.path.join(folder, warm_start.BEST_CHECKPOINT), values)
    if vocabulary:
        model_vocabulary.put(folder, vocabulary)


def wanted_parts(parts: checkpoint_names.Parts, values: Values) -> checkpoint_names.Parts:
    """Returns encoder, pooler and the heads of a foreign model; pretraining heads go together."""
    there = {part for part, names in parts.items() if any(name.theirs in values for name in names)}
    wanted = {ENCODER, POOLER, *there}
    if wanted & set(PRETRAINING):
        wanted.update(PRETRAINING)
    return {part: names for part, names in parts.items() if part in wanted}


def output_count(values: Values, name: str) -> Optional[int]:
    """Returns the number of outputs of a head, by the name of its bias; None without a head."""
    return int(values[name].shape[0]) if name in values and values[name].ndim == 1 else None
