# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes a model's folder: its configuration, checkpoint and vocabulary."""

import os
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional

import tensorflow.compat.v1 as tf

from albert.configs import model_config
from albert.data.packing import POSITIONS, SEQUENCES
from albert.formats import checkpoints, model_vocabulary, warm_start
from albert.formats.checkpoints import Values
from albert.formats.flags import CONFIG_NAME
from albert.formats.model_paths import BEST_CHECKPOINT
from albert.formats.model_vocabulary import Vocabulary
from albert.formats.warm_start import Tensors
from albert.util import UserError, files, log


class PretrainedModel(NamedTuple):
    """A pretrained model."""

    config: model_config.AlbertConfig
    checkpoint: str  # path prefix of a checkpoint, or the file of an exported model
    tokenizer: Any  # tokenization.FullTokenizer; None without a vocabulary, if it is optional
    max_seq_length: int  # longer texts are truncated
    vocabulary: Optional[Vocabulary] = None
    config_file: str = ""


def model_summary(config: model_config.AlbertConfig, is_cased: bool = False) -> str:
    """Returns "ALBERT (12 layers of 768, 11,683,584 parameters)"; heads are not counted."""
    counts = model_config.parameter_counts(config)
    count = sum(counts.values()) - counts["head"]
    shape = f"{config.num_hidden_layers} layers of {config.hidden_size}"
    return f"ALBERT ({shape}, {count:,} parameters{', cased' if is_cased else ''})"


def write_model(
    folder: str,
    config: model_config.AlbertConfig,
    values: Values,
    *,
    vocabulary: Optional[Vocabulary] = None,
) -> None:
    """Writes the configuration, the checkpoint and the vocabulary, if any, under its own name."""
    files.atomic_write_all(folder, portable_files(config, vocabulary))
    checkpoints.write(os.path.join(folder, BEST_CHECKPOINT), values)


def portable_files(
    config: model_config.AlbertConfig,
    vocabulary: Optional[Vocabulary],
    name: str = model_vocabulary.RECORD_NAME,
    *,
    description: Mapping[str, Any] = {},
) -> Dict[str, bytes]:
    """Returns the files that a model needs on another machine, besides its weights.

    For a fine-tuned model, `name` and `description` are the name and content of its description,
    without the vocabulary.
    """
    contents = {CONFIG_NAME: config.to_json_string().encode("utf-8")}
    if vocabulary:
        contents.update(model_vocabulary.documents(vocabulary, name, description))
    return contents


def export(model: PretrainedModel, build: Callable[[Tensors], Tensors], export_path: str) -> str:
    """Writes a pretrained model without its optimizer's state. Returns the checkpoint's prefix.

    Args:
      model: the model; the vocabulary is optional.
      build: builds the network on SEQUENCES and POSITIONS, int32; returns the outputs by name.
      export_path: the prefix of the new checkpoint, or a folder.

    Raises:
      UserError: the checkpoint does not fit the network, or a target file exists.
    """
    target, name = os.path.split(export_path)
    if not name or files.is_folder(export_path):
        target, name = export_path, BEST_CHECKPOINT
    names = [f"{name}.index", CONFIG_NAME, model_vocabulary.RECORD_NAME]
    if model.vocabulary:
        names.append(os.path.basename(model.vocabulary.path))
    for path in (os.path.join(target, name) for name in names):
        if files.exists(path):
            raise UserError(f"{path} exists. Choose another --export_path, best in a new folder.")
    prefix = os.path.join(target, name)
    with warm_start.open_graph(build, (*SEQUENCES, POSITIONS), model.checkpoint) as (session, *_):
        files.make_folders(target or ".")
        # bert-for-tf2 needs the graph, the .meta file.
        tf.train.Saver().save(session, prefix, write_state=False)
    files.copy(model.config_file, os.path.join(target, CONFIG_NAME))
    if model.vocabulary:
        model_vocabulary.put(target, model.vocabulary)
    log.info("Wrote %s.", prefix)
    return prefix
