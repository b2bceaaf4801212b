# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The files of a model folder of Hugging Face: configuration, weights, vocabulary.

Neither PyTorch nor transformers is needed.
"""

import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

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
SAFETENSORS_INDEX_NAME = "model.safetensors.index.json"
PYTORCH_NAME = "pytorch_model.bin"
SPM_MODEL_NAME = "spiece.model"
VOCAB_NAME = "vocab.txt"
TOKENIZER_NAME = "tokenizer.json"
TOKENIZER_CONFIG_NAME = "tokenizer_config.json"


# ---- configuration ----

_SAME_KEYS = (
    *("vocab_size", "embedding_size", "hidden_size", "num_hidden_layers", "num_hidden_groups"),
    *("num_attention_heads", "intermediate_size", "inner_group_num", "hidden_dropout_prob"),
    *("attention_probs_dropout_prob", "max_position_embeddings", "type_vocab_size"),
    "initializer_range",
)
# In the released files, but not used by either library.
_KEPT_KEYS = ("down_scale_factor", "gap_size", "net_structure_type", "num_memory_blocks")
# Theirs -> ours. Their "gelu" is the exact form, ours the tanh form.
_ACTIVATIONS = {
    "gelu_new": "gelu",
    "gelu_pytorch_tanh": "gelu",
    "relu": "relu",
    "tanh": "tanh",
    "linear": "linear",
}
_CONFIG_TYPES = {  # see files.check_types
    "architectures": ([str], None),
    "hidden_act": (str, None),
    "id2label": (dict, None),
}
_EXACT_GELU = "gelu"
_HEAD_DROPOUT = 0.1
_EPSILON = 1e-12


class ReadConfig(NamedTuple):
    """A configuration of theirs in our terms."""

    config: modeling.AlbertConfig
    labels: Sequence[str]  # of a classifier, in order; () where the file names none
    is_tied: bool  # whether the decoder of masked words uses the word embeddings
    architecture: Optional[str]  # the class that the weights were saved from, if known
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
        found = ", ".join(sorted(tf.io.gfile.listdir(folder))) if tf.io.gfile.isdir(folder) else ""
        raise UserError(
            f"--input_dir={folder} is no model folder of Hugging Face: it has no {CONFIG_NAME} "
            f"(found: {found or 'nothing'})."
        )
    theirs = files.read_json_object(path, _CONFIG_TYPES)
    notes: List[str] = []
    if approximate_gelu and theirs.get("hidden_act") == _EXACT_GELU:
        theirs["hidden_act"] = "gelu_new"
        notes.append("gelu is taken in its tanh form; outputs differ in about the third decimal.")
    _check_counterpart(path, theirs)
    ours = {key: theirs[key] for key in (*_SAME_KEYS, *_KEPT_KEYS) if key in theirs}
    ours.setdefault("vocab_size", 30000)
    ours["hidden_act"] = _ACTIVATIONS[theirs.get("hidden_act", "gelu_new")]
    try:
        config = modeling.AlbertConfig.from_dict(ours)
        labels = _labels(theirs)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error
    check_groups(config)
    dropout = theirs.get("classifier_dropout_prob")
    if dropout not in (None, _HEAD_DROPOUT):
        notes.append(f"classifier_dropout_prob {dropout} is left: heads here have {_HEAD_DROPOUT}.")
    is_multi_label = theirs.get("problem_type") == "multi_label_classification"
    if is_multi_label:
        notes.append("the labels are independent of each other; classifiers here choose one.")
    return ReadConfig(
        config,
        labels,
        theirs.get("tie_word_embeddings", True),
        (theirs.get("architectures") or [None])[0],
        is_multi_label,
        notes,
    )


def _check_counterpart(path: str, theirs: Dict[str, Any]) -> None:
    """Refuses models that ours cannot compute."""
    expected = (
        ("model_type", "albert"),
        ("layer_norm_eps", _EPSILON),
        ("position_embedding_type", "absolute"),
    )
    for key, value in expected:
        if theirs.get(key, value) != value:
            raise UserError(f"{path}: {key} is {theirs[key]!r}; it must be {value!r}.")
    activation = theirs.get("hidden_act", "gelu_new")
    if activation not in _ACTIVATIONS:
        remedy = (
            "That is the exact gelu, where ALBERT has the tanh form (gelu_new); "
            "--approximate_gelu uses that."
            if activation == _EXACT_GELU
            else f"There are: {', '.join(sorted(_ACTIVATIONS))}."
        )
        raise UserError(f"{path}: hidden_act {activation!r} has no counterpart here. {remedy}")


def _labels(theirs: Dict[str, Any]) -> Sequence[str]:
    """The names of the labels, unless they are transformers' default names."""
    names = theirs.get("id2label") or {}
    ordered = [str(names[key]) for key in sorted(names, key=int)]
    return () if ordered == _default_labels(len(ordered)) else tuple(ordered)


def _default_labels(count: int) -> List[str]:
    return [f"LABEL_{number}" for number in range(count)]


def check_groups(config: modeling.AlbertConfig) -> None:
    """Raises ValueError if transformers gives some layer another group, as it rounds otherwise."""
    layers, groups = config.num_hidden_layers, checkpoint_names.huggingface_groups(config)
    for layer in range(layers):
        theirs = int(layer / (layers / groups))  # as modeling_albert.py of transformers has it
        if theirs != layer * groups // layers:
            raise UserError(
                f"With {layers} layers in {groups} groups, transformers gives layer {layer} the "
                f"group {theirs} (it divides in floating point), and ALBERT gives it "
                f"{layer * groups // layers}: there is no counterpart."
            )


ENGLISH_IDS = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}  # of the released models


def special_ids(vocabulary: Vocabulary) -> Dict[str, int]:
    """Returns the ids of padding, [CLS] and [SEP], by their keys in config.json."""
    paths = dict.fromkeys(model_vocabulary.KEYS)
    paths[vocabulary.key] = vocabulary.path
    tokenizer = tokenization.FullTokenizer(do_lower_case=vocabulary.do_lower_case, **paths)
    first, last = tokenizer.required_ids(["[CLS]", "[SEP]"])
    padding = tokenizer.vocab.get("<pad>", tokenizer.vocab.get("[PAD]", 0))
    return dict(zip(ENGLISH_IDS, (padding, first, last)))


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
            "embedding_layout albert_zh has no counterpart in transformers, which normalises the "
            "embeddings before their projection. Convert the model to Google's layout first: "
            "python -m albert.convert_checkpoint to_google_layout."
        )
    if config.ln_type != "postln":
        raise UserError(
            f"ln_type {config.ln_type} has no counterpart in transformers, whose ALBERT has "
            "LayerNorm after each sub-layer only."
        )
    if config.share_type not in ("all", "none"):
        raise UserError(
            f"share_type {config.share_type} has no counterpart in transformers, where layers "
            "share attention and feed-forward together or not at all."
        )
    activation = config.hidden_act or "linear"
    names = {*_ACTIVATIONS, *_ACTIVATIONS.values()}
    if not isinstance(activation, str) or activation.lower() not in names:
        raise UserError(f"hidden_act {activation!r} has no counterpart in transformers.")
    check_groups(config)


def config_dict(config: modeling.AlbertConfig, head: Head, ids: Dict[str, int]) -> Dict[str, Any]:
    """Returns the content of their config.json."""
    ours = config.to_dict()
    result = {key: value for key, value in ours.items() if key in (*_SAME_KEYS, *_KEPT_KEYS)}
    activation = (config.hidden_act or "linear").lower()
    result.update(
        ids,
        architectures=[head.architecture],
        classifier_dropout_prob=_HEAD_DROPOUT,
        dtype="float32",
        hidden_act="gelu_new" if activation == "gelu" else activation,
        initializer_range=float(config.initializer_range),
        layer_norm_eps=_EPSILON,
        model_type="albert",
        num_hidden_groups=checkpoint_names.huggingface_groups(config),
        tie_word_embeddings=True,
        torch_dtype="float32",
    )
    if head.label_count:
        labels = head.labels or _default_labels(head.label_count)
        result["id2label"] = {str(number): label for number, label in enumerate(labels)}
        result["label2id"] = {label: number for number, label in enumerate(labels)}
        if head.is_regression:
            result["problem_type"] = "regression"
    return result


# ---- weights ----

_DTYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
    "I32": np.int32,
    "U8": np.uint8,
    "BOOL": np.bool_,
}


def read_weights(folder: str) -> weights.Values:
    """Returns the weights in a folder as float32 arrays by name.

    Args:
      folder: with model.safetensors (or its parts and their index).

    Raises:
      ValueError: there are no weights, or they cannot be read.
    """
    names = set(tf.io.gfile.listdir(folder))
    if SAFETENSORS_NAME in names:
        return read_safetensors(os.path.join(folder, SAFETENSORS_NAME))
    if SAFETENSORS_INDEX_NAME in names:
        path = os.path.join(folder, SAFETENSORS_INDEX_NAME)
        index = files.read_json_object(path, {"weight_map": {str: str}})
        values: weights.Values = {}
        for part in sorted(set(index["weight_map"].values())):
            values.update(read_safetensors(os.path.join(folder, os.path.basename(part))))
        return values
    advice = ""
    if PYTORCH_NAME in names:
        advice = " Save it by save_pretrained of transformers 4.35 or newer."
    raise UserError(
        f"--input_dir={folder} has no {SAFETENSORS_NAME} (found: {', '.join(sorted(names))})."
        f"{advice}"
    )


def read_safetensors(path: str) -> weights.Values:
    """Returns the arrays in a file, those of floating point as float32; ValueError if damaged."""
    import safetensors

    content = files.read_bytes(path)
    try:
        tensors = safetensors.deserialize(content)
    except safetensors.SafetensorError as error:
        raise UserError(
            f"{path} cannot be read ({error}). It may be cut off, or be a pointer of git-lfs: "
            "download it again."
        ) from error
    return {name: _array(name, tensor) for name, tensor in tensors}


def _array(name: str, tensor: Dict[str, Any]) -> np.ndarray:
    """A tensor as safetensors gives it: dtype, shape and bytes."""
    kind, data = tensor["dtype"], bytes(tensor["data"])
    if kind == "BF16":  # the upper half of a float32
        widened = np.frombuffer(data, "<u2").astype(np.uint32) << 16
        return widened.view(np.float32).reshape(tensor["shape"])
    if kind not in _DTYPES:
        raise UserError(f"The weights {name} have the type {kind}, which no model here has.")
    value = np.frombuffer(data, _DTYPES[kind]).reshape(tensor["shape"])
    return weights.as_float32({name: value})[name]


def write_safetensors(path: str, values: weights.Values) -> None:
    """Writes arrays as transformers expects them."""
    import safetensors.numpy

    content = safetensors.numpy.save(values, metadata={"format": "pt"})
    with tf.io.gfile.GFile(path, "wb") as stream:
        stream.write(content)


# ---- vocabulary ----

_NAMES = {"spm_model_file": SPM_MODEL_NAME, "vocab_file": VOCAB_NAME}


def find_vocabulary(folder: str) -> Optional[Vocabulary]:
    """Returns the vocabulary in a folder of theirs."""
    settings = _tokenizer_settings(folder)
    for key, name in _NAMES.items():
        path = os.path.join(folder, name)
        if tf.io.gfile.exists(path):
            return Vocabulary(key, path, bool(settings.get("do_lower_case", True)))
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
    content = files.read_bytes(vocabulary.path)
    with tf.io.gfile.GFile(path, "wb") as stream:
        stream.write(tokenization.with_keep_accents(content, bool(keep_accents)))
    return vocabulary._replace(path=path)


def write_vocabulary(folder: str, vocabulary: Vocabulary) -> None:
    """Writes the tokenizer's file, tokenizer_config.json and, of SentencePiece, tokenizer.json."""
    lower = bool(vocabulary.do_lower_case)
    settings: Dict[str, Any] = {"do_lower_case": lower, "tokenizer_class": "BertTokenizer"}
    # transformers 5 leaves out the segments of pairs by itself.
    settings["model_input_names"] = ["input_ids", "token_type_ids", "attention_mask"]
    tf.io.gfile.copy(vocabulary.path, os.path.join(folder, _NAMES[vocabulary.key]))
    if vocabulary.key == "spm_model_file":
        keep_accents = tokenization.keeps_accents(files.read_bytes(vocabulary.path))
        settings.update(tokenizer_class="AlbertTokenizer", remove_space=True)
        settings["keep_accents"] = keep_accents
        content = huggingface_tokenizer.tokenizer_json(vocabulary.path, lower)
        files.atomic_write_json(os.path.join(folder, TOKENIZER_NAME), content)
    files.atomic_write_json(os.path.join(folder, TOKENIZER_CONFIG_NAME), settings)
