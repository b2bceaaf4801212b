# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A model's folder: its configuration, checkpoint and vocabulary.

A released archive unpacks to a folder with albert_config.json, model.ckpt-best.* and a vocabulary:
30k-clean.model (SentencePiece) or vocab_chinese.txt (WordPiece). Models trained here also record
which vocabulary they have (see `model_vocabulary`). An exported model has an ONNX or TensorFlow
Lite file instead of the checkpoint (see `exported`).
"""

import fnmatch
import logging
import os
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional

import tensorflow.compat.v1 as tf

from albert.configs import model_config
from albert.data.packing import POSITIONS, SEQUENCES
from albert.formats import checkpoints, exported, model_vocabulary, warm_start
from albert.formats.checkpoints import BEST_CHECKPOINT, Values
from albert.formats.flags import CONFIG_NAME, SPM_MODEL_NAME
from albert.formats.model_vocabulary import Vocabulary
from albert.formats.warm_start import Tensors
from albert.util import files
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

# Flag -> (pattern of the file's name, preferred name if several files match).
FILE_PATTERNS = {
    "albert_config_file": ("albert_config*.json", CONFIG_NAME),
    "spm_model_file": ("*.model", SPM_MODEL_NAME),
    "vocab_file": ("*vocab*.txt", "vocab.txt"),
}

ModelFiles = Dict[str, Any]  # paths by flag, and do_lower_case if the folder records it


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


# ---- reading ----


def find_model_files(
    folder: str, named: Mapping[str, str] = {}, *, with_vocabulary: bool = True
) -> ModelFiles:
    """Returns the paths of a model's files: `named`, and the files in the folder.

    The vocabulary is the one that the folder records, or else a file with a usual name. It may be
    missing. Without a checkpoint, an exported model replaces it.

    Args:
      folder: such as an unpacked archive.
      named: paths that you know already, by flag.
      with_vocabulary: whether to search for a vocabulary.

    Raises:
      UserError: the folder has no checkpoint, or several files of a kind; or its vocabulary has
        changed.
    """
    model_files: ModelFiles = dict(named)
    if "albert_config_file" not in model_files:
        config = _file_by_name(folder, "albert_config_file")
        model_files["albert_config_file"] = config or os.path.join(folder, CONFIG_NAME)
    if "init_checkpoint" not in model_files:
        program = None if checkpoints.checkpoint_names(folder) else exported.find(folder)
        model_files["init_checkpoint"] = program or checkpoints.resolve(folder)
    if with_vocabulary:
        path = model_files.get("spm_model_file") or model_files.get("vocab_file")
        vocabulary = model_vocabulary.recorded(folder, path)
        if vocabulary:
            lower = vocabulary.do_lower_case
            model_files.update({vocabulary.key: vocabulary.path, "do_lower_case": lower})
        elif not path:
            by_name = ((key, _file_by_name(folder, key)) for key in model_vocabulary.KEYS)
            model_files.update([item for item in by_name if item[1]][:1])
    return model_files


def _file_by_name(folder: str, key: str) -> Optional[str]:
    """Returns the only file that matches a flag's pattern, or the one with the usual name."""
    pattern, usual = FILE_PATTERNS[key]
    present = fnmatch.filter(files.names_in(folder), pattern)
    names = [name for name in present if name[0] != "."]
    if usual in names:
        names = [usual]
    if len(names) > 1:
        raise UserError(f"{folder!r} has several: {', '.join(names)}. Choose one with --{key}.")
    return os.path.join(folder, names[0]) if names else None


# ---- writing ----


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
    tf.io.gfile.copy(model.config_file, os.path.join(target, CONFIG_NAME))
    if model.vocabulary:
        model_vocabulary.put(target, model.vocabulary)
    _LOGGER.info("Wrote %s.", prefix)
    return prefix
