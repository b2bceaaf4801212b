# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads and writes configuration and weights in model folders of Hugging Face.

PyTorch and transformers are not needed. huggingface_settings.json has a table for each file of
Hugging Face and SentencePiece: "fixed" has the values that albert implements, "same" the keys that
albert_config.json shares, and "converted" the keys that the conversion reads. Other keys have no
effect on ids and outputs. For tokenizer.json, "steps" has the steps that albert implements.
"""

import glob
import itertools
import json
import os
import pathlib
from typing import Any, Dict, Mapping, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.configs import model_config
from albert.formats.checkpoints import Values
from albert.formats.variable_names import huggingface_groups
from albert.util import UserError, files, json_files

CONFIG_NAME = "config.json"
_WEIGHTS_NAME = "model.safetensors"

_SETTINGS_PATH = pathlib.Path(__file__).with_name("huggingface_settings.json")
TABLES = json.loads(_SETTINGS_PATH.read_text(encoding="utf-8"))


def check_supported(flags: Mapping[str, Any], table: str, where: str) -> None:
    """Raises UserError for a key or value that a table does not allow.

    None counts as not set. A token may be an object with its text as `content`.
    """
    groups = dict(TABLES[table])
    fixed, free = groups.pop("fixed"), itertools.chain(*groups.values())
    for key in flags.keys() - set(free):
        value = flags[key]
        value = value.get("content", value) if isinstance(value, dict) else value
        if value is not None and value not in fixed.get(key, ()):
            hint = "albert does not know this setting. If it has no effect, remove it."
            if key in fixed:
                hint = f"It must be {' or '.join(map(json.dumps, fixed[key]))}."
            raise UserError(f"{where}: {key} is {json.dumps(value)[:60]}. {hint}")


# ---- configuration ----

_SAME_KEYS = TABLES[CONFIG_NAME]["same"]
_CONFIG = {
    "hidden_act": (str, None),
    "architectures": ([str], None),
    "problem_type": (str, None),
    "tie_word_embeddings": (bool, None),
    "id2label": ({str: (str, float, None)}, None),
}


def read_model_config(
    folder: str, *, approximate_gelu: bool = False
) -> Tuple[model_config.AlbertConfig, Dict[str, Any]]:
    """Returns the configuration in a folder, as AlbertConfig and as a dict of its own keys.

    Args:
      folder: with config.json.
      approximate_gelu: replace the exact gelu by its tanh form.

    Raises:
      UserError: there is no configuration, or the model has no counterpart here.
    """
    path = os.path.join(folder, CONFIG_NAME)
    theirs = {"hidden_act": "gelu_new", **json_files.read(path, _CONFIG)}
    if theirs["hidden_act"] == "gelu":  # transformers: gelu is exact, gelu_new is the tanh form
        if not approximate_gelu:
            raise UserError(f"{path}: hidden_act is gelu. --approximate_gelu reads it as gelu_new.")
        theirs["hidden_act"] = "gelu_new"
    check_supported(theirs, CONFIG_NAME, path)
    ours = {key: value for key, value in theirs.items() if key in _SAME_KEYS}
    ours = {"vocab_size": 30000, **ours, "hidden_act": str(theirs["hidden_act"]).split("_")[0]}
    try:
        config = model_config.AlbertConfig.from_dict(ours)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error
    _check_groups(config)
    return config, theirs


def _check_groups(config: model_config.AlbertConfig) -> None:
    """Raises UserError if transformers, which divides floats, would group the layers otherwise."""
    layers, groups = config.num_hidden_layers, huggingface_groups(config)
    theirs = [int(layer / (layers / groups)) for layer in range(layers)]
    if theirs != [layer * groups // layers for layer in range(layers)]:
        raise UserError(
            f"A model of {layers} layers in {groups} groups cannot be converted: transformers puts "
            "some layers into other groups."
        )


def check_variant(config: model_config.AlbertConfig) -> None:
    """Raises UserError, with the reason, if transformers has no such model."""
    for key in model_config.VARIANTS:
        if getattr(config, key) not in ("google", "postln", "all", "none"):
            raise UserError(
                f"transformers does not support {key} {getattr(config, key)}. For "
                "embedding_layout, first run python -m albert convert_checkpoint to_google_layout."
            )
    _check_groups(config)


def config_dict(config: model_config.AlbertConfig, architecture: str) -> Dict[str, Any]:
    """Returns the content of config.json for transformers, without labels."""
    return {
        **{key: value for key, value in config.to_dict().items() if key in _SAME_KEYS},
        **{key: values[0] for key, values in model_config.FIXED.items()},
        "model_type": "albert",
        "architectures": [architecture],
        "classifier_dropout_prob": 0.1,
        "hidden_act": "gelu_new" if config.hidden_act == "gelu" else config.hidden_act or "linear",
        "num_hidden_groups": huggingface_groups(config),
        "tie_word_embeddings": True,
    }


# ---- weights ----

_DTYPES = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"},
    "BF16": tf.bfloat16.as_numpy_dtype,
}


def read_weights(folder: str) -> Values:
    """Returns the weights in a folder's safetensors files, as float32.

    Raises:
      UserError: there is no safetensors file, or it cannot be read.
    """
    import safetensors

    names = (_WEIGHTS_NAME, "model-*-of-*.safetensors")
    paths = tf.io.gfile.glob([os.path.join(glob.escape(folder), name) for name in names])
    if not paths:
        raise UserError(
            f"--input_dir={folder} has no {_WEIGHTS_NAME}. If it has pytorch_model.bin, load it "
            "with transformers, and save it with model.save_pretrained(NEW_FOLDER)."
        )
    values: Values = {}
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


def write_weights(folder: str, values: Values) -> None:
    """Writes arrays as transformers expects them."""
    import safetensors.numpy

    content = safetensors.numpy.save(values, metadata={"format": "pt"})
    files.atomic_write_bytes(os.path.join(folder, _WEIGHTS_NAME), content)
