# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The files of a model folder of Hugging Face: configuration, weights, vocabulary.

Neither PyTorch nor transformers is needed.
"""

import dataclasses
import glob
import os
from typing import Any, Dict, Optional, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.checkpoints import names as checkpoint_names
from albert.checkpoints import weights
from albert.conversion import huggingface_tokenizer
from albert.pretrained.model_vocabulary import Vocabulary
from albert.util import files, json_files
from albert.util.errors import UserError

CONFIG_NAME = "config.json"
_WEIGHTS_NAME = "model.safetensors"
_VOCABULARY_NAMES = {"spm_model_file": "spiece.model", "vocab_file": "vocab.txt"}
_TOKENIZER_CONFIG_NAME = "tokenizer_config.json"


# ---- configuration ----

_SAME_KEYS = {field.name for field in dataclasses.fields(modeling.AlbertConfig)}
_SAME_KEYS -= {"hidden_act", *modeling.VARIANTS}
# In the released files, but not used by either library.
_SAME_KEYS |= {"gap_size", "net_structure_type", "num_memory_blocks"}
# Theirs -> ours. Their "gelu" is the exact form, ours the tanh form.
_ACTIVATIONS = {"gelu_new": "gelu", "gelu_pytorch_tanh": "gelu"}
_ACTIVATIONS.update({name: name for name in ("relu", "tanh", "linear")})
_CONFIG = {
    "hidden_act": (str, None),
    "architectures": ([str], None),
    "problem_type": (str, None),
    "tie_word_embeddings": (bool, None),
    "id2label": ({str: (str, float, None)}, None),
}
_TOKENIZER_CONFIG = {
    "do_lower_case": (bool, None),
    "keep_accents": (bool, None),
    "model_max_length": (range(1, 1 << 200), None),
}
_FIXED = {"model_type": "albert", "layer_norm_eps": 1e-12, "position_embedding_type": "absolute"}


def read_config(
    folder: str, *, approximate_gelu: bool = False
) -> Tuple[modeling.AlbertConfig, Dict[str, Any]]:
    """Returns the configuration in a folder, as AlbertConfig and as a dict of its own keys.

    Args:
      folder: with config.json.
      approximate_gelu: take the tanh form of gelu for the exact one.

    Raises:
      UserError: there is none, or the model has no counterpart here.
    """
    path = os.path.join(folder, CONFIG_NAME)
    theirs = {"hidden_act": "gelu_new", **json_files.read(path, _CONFIG)}
    for key, value in _FIXED.items():
        if theirs.get(key, value) != value:
            raise UserError(f"{path}: {key} is {theirs[key]!r}; it must be {value!r}.")
    activations = dict(_ACTIVATIONS, gelu="gelu") if approximate_gelu else _ACTIVATIONS
    if theirs["hidden_act"] not in activations:
        raise UserError(
            f"{path}: hidden_act {theirs['hidden_act']!r} is not supported. Supported: "
            f"{', '.join(activations)}. --approximate_gelu reads gelu as gelu_new."
        )
    ours = {key: value for key, value in theirs.items() if key in _SAME_KEYS}
    ours = {"vocab_size": 30000, **ours, "hidden_act": activations[theirs["hidden_act"]]}
    try:
        config = modeling.AlbertConfig.from_dict(ours)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error
    _check_groups(config)
    return config, theirs


def _check_groups(config: modeling.AlbertConfig) -> None:
    """Refuses numbers of groups for which transformers, dividing floats, puts layers elsewhere."""
    layers, groups = config.num_hidden_layers, checkpoint_names.huggingface_groups(config)
    theirs = [int(layer / (layers / groups)) for layer in range(layers)]
    if theirs != [layer * groups // layers for layer in range(layers)]:
        raise UserError(
            f"A model of {layers} layers in {groups} groups cannot be converted: transformers puts "
            "some layers into other groups."
        )


def check_variant(config: modeling.AlbertConfig) -> None:
    """Raises UserError, with the reason, if transformers has no such model."""
    for key in modeling.VARIANTS:
        if getattr(config, key) not in ("google", "postln", "all", "none"):
            raise UserError(
                f"transformers does not support {key} {getattr(config, key)}. For "
                "embedding_layout, first run python -m albert.convert_checkpoint to_google_layout."
            )
    _check_groups(config)


def config_dict(config: modeling.AlbertConfig, architecture: str) -> Dict[str, Any]:
    """Returns the content of their config.json, but for labels."""
    return {
        **{key: value for key, value in config.to_dict().items() if key in _SAME_KEYS},
        **_FIXED,
        "architectures": [architecture],
        "classifier_dropout_prob": 0.1,
        "hidden_act": "gelu_new" if config.hidden_act == "gelu" else config.hidden_act or "linear",
        "num_hidden_groups": checkpoint_names.huggingface_groups(config),
        "tie_word_embeddings": True,
    }


# ---- weights ----

_DTYPES = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"},
    "BF16": tf.bfloat16.as_numpy_dtype,
}


def read_weights(folder: str) -> weights.Values:
    """Returns the weights in a folder, of one file or several, as float32.

    Raises:
      UserError: there are no safetensors, or they cannot be read.
    """
    import safetensors

    names = (_WEIGHTS_NAME, "model-*-of-*.safetensors")
    paths = tf.io.gfile.glob([os.path.join(glob.escape(folder), name) for name in names])
    if not paths:
        raise UserError(
            f"--input_dir={folder} has no {_WEIGHTS_NAME}. If it has pytorch_model.bin, load it "
            "with transformers, and save it with model.save_pretrained(NEW_FOLDER)."
        )
    values: weights.Values = {}
    for path in paths:
        try:
            for name, tensor in safetensors.deserialize(files.read_bytes(path)):
                array = np.frombuffer(tensor["data"], _DTYPES[tensor["dtype"]])
                values[name] = array.astype(np.float32).reshape(tensor["shape"])
        except (safetensors.SafetensorError, KeyError) as error:
            raise UserError(
                f"{path} cannot be read ({error!r}). Download it again, or save it as float32."
            ) from error
    return values


def write_weights(folder: str, values: weights.Values) -> None:
    """Writes arrays as transformers expects them."""
    import safetensors.numpy

    content = safetensors.numpy.save(values, metadata={"format": "pt"})
    files.atomic_write_bytes(os.path.join(folder, _WEIGHTS_NAME), content)


# ---- vocabulary ----


def find_vocabulary(folder: str) -> Tuple[Optional[Vocabulary], Dict[str, Any]]:
    """Returns the vocabulary in a folder of theirs, and what tokenizer_config.json says, or {}."""
    path, settings = os.path.join(folder, _TOKENIZER_CONFIG_NAME), {}
    if tf.io.gfile.exists(path):
        settings = json_files.read(path, _TOKENIZER_CONFIG)
    for key, name in _VOCABULARY_NAMES.items():
        path = os.path.join(folder, name)
        if tf.io.gfile.exists(path):
            return Vocabulary(key, path, bool(settings.get("do_lower_case", True))), settings
    return None, settings


def write_vocabulary(folder: str, vocabulary: Vocabulary, max_seq_length: int) -> None:
    """Writes the tokenizer's file, tokenizer_config.json and, of SentencePiece, tokenizer.json."""
    content = files.read_bytes(vocabulary.path)
    lower = bool(vocabulary.do_lower_case)
    settings: Dict[str, Any] = {
        "do_lower_case": lower,
        "model_max_length": max_seq_length,
        "tokenizer_class": "BertTokenizer",
        # transformers 5 leaves out the segments of pairs by itself.
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
    }
    if vocabulary.key == "spm_model_file":
        settings.update(
            tokenizer_class="AlbertTokenizer",
            remove_space=True,
            keep_accents=tokenization.keeps_accents(content),
        )
        tokenizer = huggingface_tokenizer.tokenizer_json(content, lower)
        files.atomic_write_json(os.path.join(folder, "tokenizer.json"), tokenizer)
    files.atomic_write_bytes(os.path.join(folder, _VOCABULARY_NAMES[vocabulary.key]), content)
    files.atomic_write_json(os.path.join(folder, _TOKENIZER_CONFIG_NAME), settings)
