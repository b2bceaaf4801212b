# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The files of a model folder of Hugging Face: configuration and weights.

Neither PyTorch nor transformers is needed.
"""

import glob
import os
from typing import Any, Dict, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.checkpoints import names as checkpoint_names
from albert.checkpoints import weights
from albert.conversion import their_settings
from albert.util import files, json_files
from albert.util.errors import UserError

CONFIG_NAME = "config.json"
_WEIGHTS_NAME = "model.safetensors"


# ---- configuration ----

_SAME_KEYS = their_settings.TABLES[CONFIG_NAME]["same"]
_CONFIG = {
    "hidden_act": (str, None),
    "architectures": ([str], None),
    "problem_type": (str, None),
    "tie_word_embeddings": (bool, None),
    "id2label": ({str: (str, float, None)}, None),
}


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
    if theirs["hidden_act"] == "gelu":  # the exact form; theirs has names for ours, the tanh form
        if not approximate_gelu:
            raise UserError(f"{path}: hidden_act is gelu. --approximate_gelu reads it as gelu_new.")
        theirs["hidden_act"] = "gelu_new"
    their_settings.check(theirs, CONFIG_NAME, path)
    ours = {key: value for key, value in theirs.items() if key in _SAME_KEYS}
    ours = {"vocab_size": 30000, **ours, "hidden_act": str(theirs["hidden_act"]).split("_")[0]}
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
        **{key: values[0] for key, values in modeling.FIXED.items()},
        "model_type": "albert",
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
