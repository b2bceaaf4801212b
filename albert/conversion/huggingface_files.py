# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The files of a model folder of Hugging Face: configuration, weights, vocabulary.

Neither PyTorch nor transformers is needed.
"""

import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.checkpoints import names as checkpoint_names
from albert.checkpoints import weights
from albert.conversion import huggingface_tokenizer
from albert.pretrained import model_vocabulary
from albert.pretrained.model_vocabulary import Vocabulary
from albert.util import files
from albert.util.errors import UserError

CONFIG_NAME = "config.json"
SAFETENSORS_NAME = "model.safetensors"
VOCABULARY_NAMES = {"spm_model_file": "spiece.model", "vocab_file": "vocab.txt"}
TOKENIZER_NAME = "tokenizer.json"
TOKENIZER_CONFIG_NAME = "tokenizer_config.json"


# ---- configuration ----

_SAME_KEYS = {
    *("vocab_size", "embedding_size", "hidden_size", "num_hidden_layers", "num_hidden_groups"),
    *("num_attention_heads", "intermediate_size", "inner_group_num", "hidden_dropout_prob"),
    *("attention_probs_dropout_prob", "max_position_embeddings", "type_vocab_size"),
    "initializer_range",
    # In the released files, but not used by either library.
    *("down_scale_factor", "gap_size", "net_structure_type", "num_memory_blocks"),
}
# Theirs -> ours. Their "gelu" is the exact form, ours the tanh form.
_ACTIVATIONS = {"gelu_new": "gelu", "gelu_pytorch_tanh": "gelu"}
_ACTIVATIONS.update({name: name for name in ("relu", "tanh", "linear")})
_CONFIG_TYPES = {  # see files.check_types
    "architectures": ([str], None),
    "hidden_act": (str, None),
    "id2label": (dict, None),
}
_HEAD_DROPOUT = 0.1
_FIXED = {"model_type": "albert", "layer_norm_eps": 1e-12, "position_embedding_type": "absolute"}


class ReadConfig(NamedTuple):
    """A configuration of theirs in our terms."""

    config: modeling.AlbertConfig
    labels: Sequence[str]  # of a classifier, in order; () where the file names none
    is_tied: bool  # whether the decoder of masked words uses the word embeddings
    architecture: str  # the class that the weights were saved from; "" if unknown
    is_multi_label: bool  # whether a classifier's labels are independent of each other
    notes: List[str]  # what could not be converted


def read_config(folder: str, *, approximate_gelu: bool = False) -> ReadConfig:
    """Returns the configuration in a folder.

    Args:
      folder: with config.json.
      approximate_gelu: take the tanh form of gelu for the exact one.

    Raises:
      ValueError: there is none, or the model has no counterpart here.
    """
    path = os.path.join(folder, CONFIG_NAME)
    if not tf.io.gfile.exists(path):
        raise UserError(f"--input_dir={folder} is not a Hugging Face model: {path} is missing.")
    theirs = files.read_json_object(path, _CONFIG_TYPES)
    notes: List[str] = []
    activation = theirs.get("hidden_act", "gelu_new")
    if approximate_gelu and activation == "gelu":
        activation = "gelu_new"
        notes.append("gelu is taken in its tanh form; outputs differ in about the third decimal.")
    for key, value in _FIXED.items():
        if theirs.get(key, value) != value:
            raise UserError(f"{path}: {key} is {theirs[key]!r}; it must be {value!r}.")
    if activation not in _ACTIVATIONS:
        raise UserError(
            f"{path}: hidden_act {activation!r} has no counterpart here. Available: "
            f"{', '.join(_ACTIVATIONS)}; --approximate_gelu takes the exact gelu for gelu_new."
        )
    ours = {key: value for key, value in theirs.items() if key in _SAME_KEYS}
    ours = {"vocab_size": 30000, **ours, "hidden_act": _ACTIVATIONS[activation]}
    names = theirs.get("id2label") or {}
    try:
        config = modeling.AlbertConfig.from_dict(ours)
        labels = [str(names[key]) for key in sorted(names, key=int)]
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error
    _check_groups(config)
    dropout = theirs.get("classifier_dropout_prob")
    if dropout not in (None, _HEAD_DROPOUT):
        notes.append(f"classifier_dropout_prob {dropout} is left: heads here have {_HEAD_DROPOUT}.")
    is_multi_label = theirs.get("problem_type") == "multi_label_classification"
    if is_multi_label:
        notes.append("the labels are independent of each other; classifiers here choose one.")
    return ReadConfig(
        config,
        () if labels == default_labels(len(labels)) else labels,
        theirs.get("tie_word_embeddings", True),
        (theirs.get("architectures") or [""])[0],
        is_multi_label,
        notes,
    )


def default_labels(count: int) -> List[str]:
    """Returns the names that transformers gives to labels without names."""
    return [f"LABEL_{number}" for number in range(count)]


def _check_groups(config: modeling.AlbertConfig) -> None:
    """Refuses numbers with which transformers gives a layer another group: it divides floats."""
    layers, groups = config.num_hidden_layers, checkpoint_names.huggingface_groups(config)
    theirs = [int(layer / (layers / groups)) for layer in range(layers)]
    if theirs != [layer * groups // layers for layer in range(layers)]:
        raise UserError(
            f"{layers} layers in {groups} groups have no counterpart: transformers assigns layers "
            "to groups in another way."
        )


class Head(NamedTuple):
    """What a model of theirs is for."""

    architecture: str  # its class
    labels: Sequence[str] = ()  # of a classifier; () where they have no names
    label_count: Optional[int] = None  # of a classifier; None of others
    is_regression: bool = False  # whether its one output is a score


def check_variant(config: modeling.AlbertConfig) -> None:
    """Raises ValueError, with the reason, if transformers has no such model."""
    if config.embedding_layout != "google":
        raise UserError(
            "embedding_layout albert_zh has no counterpart in transformers. Convert the model to "
            "Google's layout first: python -m albert.convert_checkpoint to_google_layout."
        )
    activation = config.hidden_act or "linear"
    supported = {
        "ln_type": config.ln_type == "postln",
        "share_type": config.share_type in ("all", "none"),
        "hidden_act": str(activation).lower() in {*_ACTIVATIONS, *_ACTIVATIONS.values()},
    }
    for key, is_supported in supported.items():
        if not is_supported:
            raise UserError(f"{key} {getattr(config, key)} has no counterpart in transformers.")
    _check_groups(config)


def config_dict(
    config: modeling.AlbertConfig, head: Head, vocabulary: Optional[Vocabulary]
) -> Dict[str, Any]:
    """Returns the content of their config.json."""
    activation = (config.hidden_act or "linear").lower()
    result = {
        **{key: value for key, value in config.to_dict().items() if key in _SAME_KEYS},
        **special_ids(vocabulary),
        "architectures": [head.architecture],
        "classifier_dropout_prob": _HEAD_DROPOUT,
        "dtype": "float32",
        "hidden_act": "gelu_new" if activation == "gelu" else activation,
        "initializer_range": float(config.initializer_range),
        "layer_norm_eps": _FIXED["layer_norm_eps"],
        "model_type": "albert",
        "num_hidden_groups": checkpoint_names.huggingface_groups(config),
        "tie_word_embeddings": True,
        "torch_dtype": "float32",
    }
    if head.label_count:
        labels = head.labels or default_labels(head.label_count)
        result["id2label"] = {str(number): label for number, label in enumerate(labels)}
        result["label2id"] = {label: number for number, label in enumerate(labels)}
    if head.is_regression:
        result["problem_type"] = "regression"
    return result


def special_ids(vocabulary: Optional[Vocabulary]) -> Dict[str, int]:
    """Returns the ids of padding, [CLS] and [SEP]; without a vocabulary the released models'."""
    ids: Tuple[int, ...] = (0, 2, 3)
    if vocabulary:
        paths = dict(dict.fromkeys(model_vocabulary.KEYS), **{vocabulary.key: vocabulary.path})
        tokenizer = tokenization.FullTokenizer(do_lower_case=vocabulary.do_lower_case, **paths)
        padding = tokenizer.vocab.get("<pad>", tokenizer.vocab.get("[PAD]", 0))
        ids = (padding, *tokenizer.required_ids(["[CLS]", "[SEP]"]))
    return dict(zip(("pad_token_id", "bos_token_id", "eos_token_id"), ids))


# ---- weights ----

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}


def read_weights(folder: str) -> weights.Values:
    """Returns the weights in a folder, of one file or several, as float32 arrays by name.

    Raises:
      ValueError: there are no safetensors, or they cannot be read.
    """
    path = os.path.join(folder, SAFETENSORS_NAME)
    index = f"{path}.index.json"
    if tf.io.gfile.exists(path):
        return read_safetensors(path)
    if not tf.io.gfile.exists(index):
        raise UserError(
            f"--input_dir={folder} has no {SAFETENSORS_NAME}. Where it has pytorch_model.bin, let "
            'transformers write one: AutoModel.from_pretrained("FOLDER").save_pretrained("NEW", '
            "safe_serialization=True), with the class that config.json names in place of AutoModel."
        )
    places = files.read_json_object(index, {"weight_map": {str: str}})["weight_map"]
    values: weights.Values = {}
    for part in sorted(set(places.values())):
        values.update(read_safetensors(os.path.join(folder, os.path.basename(part))))
    return values


def read_safetensors(path: str) -> weights.Values:
    """Returns the arrays in a file, those of floating point as float32; ValueError if damaged."""
    import safetensors

    content = files.read_bytes(path)
    try:
        tensors = safetensors.deserialize(content)
    except safetensors.SafetensorError as error:
        raise UserError(f"{path} cannot be read ({error}). Download it again.") from error
    return weights.as_float32({name: _array(path, tensor) for name, tensor in tensors})


def _array(path: str, tensor: Dict[str, Any]) -> np.ndarray:
    """A tensor as safetensors gives it: dtype, shape and bytes."""
    kind, data = tensor["dtype"], bytes(tensor["data"])
    if kind == "BF16":  # the upper half of a float32
        widened = np.frombuffer(data, "<u2").astype(np.uint32) << 16
        return widened.view(np.float32).reshape(tensor["shape"])
    if kind not in _DTYPES:
        raise UserError(f"{path} has weights of type {kind}. Save the model as float32.")
    return np.frombuffer(data, _DTYPES[kind]).reshape(tensor["shape"])


def write_safetensors(path: str, values: weights.Values) -> None:
    """Writes arrays as transformers expects them."""
    import safetensors.numpy

    content = safetensors.numpy.save(values, metadata={"format": "pt"})
    with tf.io.gfile.GFile(path, "wb") as stream:
        stream.write(content)


# ---- vocabulary ----


def find_vocabulary(folder: str) -> Optional[Vocabulary]:
    """Returns the vocabulary in a folder of theirs."""
    for key, name in VOCABULARY_NAMES.items():
        path = os.path.join(folder, name)
        if tf.io.gfile.exists(path):
            lower = _tokenizer_settings(folder).get("do_lower_case", True)
            return Vocabulary(key, path, bool(lower))
    return None


def _tokenizer_settings(folder: str) -> Dict[str, Any]:
    path = os.path.join(folder, TOKENIZER_CONFIG_NAME)
    types = dict.fromkeys(("do_lower_case", "keep_accents"), (bool, None))
    return files.read_json_object(path, types) if tf.io.gfile.exists(path) else {}


def copy_keeping_accents(vocabulary: Vocabulary, folder: str, path: str) -> Vocabulary:
    """Returns a copy at `path` that keeps accents if tokenizer_config.json in `folder` says so.

    Where that does not say anything, or of WordPiece, the vocabulary itself is returned.
    """
    keep_accents = _tokenizer_settings(folder).get("keep_accents")
    if keep_accents is None or vocabulary.key != "spm_model_file":
        return vocabulary
    content = tokenization.with_keep_accents(files.read_bytes(vocabulary.path), keep_accents)
    files.atomic_write_bytes(path, content)
    return vocabulary._replace(path=path)


def write_vocabulary(folder: str, vocabulary: Vocabulary) -> None:
    """Writes the tokenizer's file, tokenizer_config.json and, of SentencePiece, tokenizer.json."""
    lower = bool(vocabulary.do_lower_case)
    settings: Dict[str, Any] = {"do_lower_case": lower, "tokenizer_class": "BertTokenizer"}
    # transformers 5 leaves out the segments of pairs by itself.
    settings["model_input_names"] = ["input_ids", "token_type_ids", "attention_mask"]
    tf.io.gfile.copy(vocabulary.path, os.path.join(folder, VOCABULARY_NAMES[vocabulary.key]))
    if vocabulary.key == "spm_model_file":
        keep_accents = tokenization.keeps_accents(files.read_bytes(vocabulary.path))
        settings.update(tokenizer_class="AlbertTokenizer", remove_space=True)
        settings["keep_accents"] = keep_accents
        content = huggingface_tokenizer.tokenizer_json(vocabulary.path, lower)
        files.atomic_write_json(os.path.join(folder, TOKENIZER_NAME), content)
    files.atomic_write_json(os.path.join(folder, TOKENIZER_CONFIG_NAME), settings)
