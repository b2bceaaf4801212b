# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The configuration of a model, and the sizes that follow from it."""

import dataclasses
import json
import numbers
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from albert.configs.shared_flags import EncoderFlags
from albert.util import UserError, files, json_files, wording

# The keys that choose a variant of the model, and their values. The first is Google's ALBERT.
VARIANTS = {
    "share_type": ("all", "attention", "ffn", "none"),
    "ln_type": ("postln", "preln"),
    "embedding_layout": ("google", "albert_zh"),
}
# Keys of other libraries that change the outputs, and the values that this model implements.
FIXED: Dict[str, Tuple[Any, ...]] = {
    "layer_norm_eps": (1e-12,),
    "position_embedding_type": ("absolute",),
}
# Names of activations; the last two are Hugging Face's for gelu.
ACTIVATIONS = ("linear", "relu", "gelu", "tanh", "gelu_new", "gelu_pytorch_tanh")


@dataclasses.dataclass(eq=False, repr=False)
class AlbertConfig:
    """The settings of a model's architecture, as in albert_config.json.

    The defaults are the xxlarge model's. Unknown keys of a JSON file are kept and written back.
    Three keys choose variants:

      share_type: the part of a layer that all layers share: "all", only the "attention" (each with
        its LayerNorm), only the "ffn", or "none". An unshared part has one group per layer.
      ln_type: "postln", or "preln": LayerNorm before each sub-layer and none at the end.
      embedding_layout: "google": LayerNorm(words + types + positions) in E, then projected to H;
        "albert_zh": words projected to H without bias, then types, positions and LayerNorm in H.
    """

    vocab_size: int
    embedding_size: int = 128
    hidden_size: int = 4096
    num_hidden_layers: int = 12
    num_hidden_groups: int = 1
    num_attention_heads: int = 64
    intermediate_size: int = 16384
    inner_group_num: int = 1
    down_scale_factor: Any = 1  # in published files; without effect
    hidden_act: Any = "gelu"
    hidden_dropout_prob: float = 0
    attention_probs_dropout_prob: float = 0
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    initializer_range: float = 0.02
    share_type: str = "all"
    ln_type: str = "postln"
    embedding_layout: str = "google"

    @classmethod
    def from_dict(cls, json_object: Dict[str, Any]) -> "AlbertConfig":
        """Returns the config for a dict of settings; unknown keys become attributes.

        Raises ValueError if vocab_size is missing, a key is misspelt, a value is out of range, or a
        key of FIXED has a value that is not implemented.
        """
        if "vocab_size" not in json_object:
            raise UserError(
                "The model config has no 'vocab_size'. Add the number of tokens in the vocabulary"
                f" (keys found: {', '.join(sorted(json_object)) or 'none'})."
            )
        config = cls(vocab_size=None)
        _check_spelling(json_object, names=list(config.__dict__))
        for key, value in json_object.items():
            if value is not None and value not in FIXED.get(key, (value,)):
                raise UserError(f"{key} is {value!r}. It must be {FIXED[key][0]!r}.")
            if hasattr(cls, key) and key not in cls.__dataclass_fields__:
                raise UserError(f"{key!r} is not a key of a model config. Remove it.")
            setattr(config, key, value)
        config.validate()
        return config

    @classmethod
    def from_json_file(cls, json_file: str) -> "AlbertConfig":
        """Returns the config in a JSON file. Raises ValueError if it is missing or invalid."""
        if not files.exists(json_file):
            raise UserError(f"Model config {json_file!r} was not found.")
        try:
            return cls.from_dict(json_files.read(json_file))
        except ValueError as error:
            raise UserError(f"Model config {json_file!r}: {error}") from error

    def to_dict(self) -> Dict[str, Any]:
        """Returns every setting, except variants that have Google's value."""
        return {
            key: value.item() if hasattr(value, "item") else value  # of NumPy
            for key, value in self.__dict__.items()
            if key not in VARIANTS or value != VARIANTS[key][0]
        }

    def to_json_string(self) -> str:
        """Returns the settings as indented JSON with sorted keys and a final newline."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True) + "\n"

    def validate(self) -> None:
        """Raises ValueError if a value is out of range. The message has key, value and limits."""
        for key in (field.name for field in dataclasses.fields(self) if field.type is int):
            value = getattr(self, key)
            is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
            if not is_whole or not 0 < value < 1 << 31:
                raise UserError(f"{key} must be a positive whole number below 2^31, not {value!r}.")
        for key in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
            value = getattr(self, key)
            if not _is_number(value) or not 0 <= value < 1:
                raise UserError(f"{key} must be at least 0 and below 1, not {value!r}.")
        if isinstance(self.hidden_act, str):
            check_activation(self.hidden_act)
        elif not (self.hidden_act is None or callable(self.hidden_act)):
            raise UserError(f"hidden_act must be a name, such as gelu, not {self.hidden_act!r}.")
        if not _is_number(self.initializer_range) or self.initializer_range <= 0:
            raise UserError(f"initializer_range must be positive, not {self.initializer_range!r}.")
        check_heads(self.hidden_size, self.num_attention_heads)
        if self.num_hidden_groups > self.num_hidden_layers:
            raise UserError(
                f"num_hidden_groups {self.num_hidden_groups} exceeds num_hidden_layers"
                f" {self.num_hidden_layers}. Each group needs a layer."
            )
        for key, choices in VARIANTS.items():
            if getattr(self, key) not in choices:
                raise UserError(
                    f"{key} {getattr(self, key)!r} is unknown. Choose one of: {', '.join(choices)}."
                )


def _check_spelling(content: Dict[str, Any], *, names: List[str]) -> None:
    """Refuses a key that looks like a typing error of a missing key."""
    absent = [key for key in names if key not in content]
    for key in content:
        hint = wording.did_you_mean(key, absent, cutoff=0.85)
        if key not in names and hint:
            raise UserError(f"Unknown key {key!r}.{hint} Correct it.")


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def check_activation(name: str) -> None:
    """Raises UserError if `name`, in any case, is not in ACTIVATIONS; "" is none."""
    if name and name.lower() not in ACTIVATIONS:
        raise UserError(f"Unknown activation {name!r}. Choose one of: {', '.join(ACTIVATIONS)}.")


def check_heads(hidden_size: int, num_attention_heads: int) -> None:
    """Raises UserError if hidden_size is not a multiple of num_attention_heads."""
    if hidden_size % num_attention_heads:
        raise UserError(
            f"hidden_size {hidden_size} is not a multiple of num_attention_heads"
            f" {num_attention_heads}. Each head needs the same size."
        )


# ---- sizes ----


class LayerGroups(NamedTuple):
    """The groups whose weights a layer's two parts use."""

    attention: int
    feed_forward: int


def layer_groups(config: AlbertConfig, layer: int) -> LayerGroups:
    """Returns the groups of a layer.

    If layers share a part (`share_type`), num_hidden_groups decides its groups (paper, section
    3.1). Otherwise, each layer has a group of its own.
    """
    shared = layer * config.num_hidden_groups // config.num_hidden_layers
    return LayerGroups(
        attention=shared if config.share_type in ("all", "attention") else layer,
        feed_forward=shared if config.share_type in ("all", "ffn") else layer,
    )


def weight_sets(config: AlbertConfig, part: str) -> int:
    """Returns how many sets of weights the layers have for "attention" or "feed_forward"."""
    used = {getattr(layer_groups(config, layer), part) for layer in range(config.num_hidden_layers)}
    return len(used) * config.inner_group_num


def masked_lm_width(config: AlbertConfig) -> int:
    """Returns the width of the masked tokens' transform: E, or H in albert_zh's layout."""
    return config.embedding_size if config.embedding_layout == "google" else config.hidden_size


def parameter_counts(
    config: AlbertConfig, task: str = "pretraining", *, num_labels: int = 2
) -> Dict[str, int]:
    """Returns the number of parameters of the embeddings, encoder, pooler and head."""
    embedding, hidden, inner = config.embedding_size, config.hidden_size, config.intermediate_size
    is_google = config.embedding_layout == "google"
    width = embedding if is_google else hidden  # for positions, segments and their LayerNorm
    embeddings = config.vocab_size * embedding
    embeddings += (config.type_vocab_size + config.max_position_embeddings + 2) * width
    if embedding != hidden:
        embeddings += embedding * hidden + (hidden if is_google else 0)
    attention = 4 * (hidden + 1) * hidden + 2 * hidden
    feed_forward = (hidden + 1) * inner + (inner + 1) * hidden + 2 * hidden
    encoder = weight_sets(config, "attention") * attention
    encoder += weight_sets(config, "feed_forward") * feed_forward
    words = masked_lm_width(config)
    norm = 2 * hidden if config.ln_type == "preln" else 0
    head = {
        "pretraining": (hidden + 3) * words + config.vocab_size + 2 * (hidden + 1),
        "classification": num_labels * (hidden + 1) + norm,
        "squad_v1": 2 * (hidden + 1),
        # start_logits; end_logits: two layers and a LayerNorm; answer_class: two layers.
        "squad_v2": 2 * (hidden + 1) + 2 * (2 * hidden + 1) * hidden + 3 * hidden,
        "race": hidden + 1,
    }[task]
    return {
        "embeddings": embeddings,
        "encoder": encoder,
        "pooler": (hidden + 1) * hidden,
        "head": head,
    }


# ---- from flags ----


def load_config(flags: EncoderFlags) -> AlbertConfig:
    """Returns the configuration that the flags name.

    Raises:
      UserError: the flags name no configuration, or --max_seq_length is too long for the model.
    """
    if not flags.albert_config_file:
        raise UserError(
            "Name a model: --albert_dir=base_v2 (a name or a folder), or --albert_config_file with "
            "--init_checkpoint, or --albert_hub_module_handle."
        )
    config = AlbertConfig.from_json_file(flags.albert_config_file)
    check_length(flags.max_seq_length, config)
    return config


def check_length(max_seq_length: Optional[int], config: AlbertConfig) -> None:
    """Raises UserError if max_seq_length exceeds the model's max_position_embeddings."""
    if max_seq_length and max_seq_length > config.max_position_embeddings:
        raise UserError(
            f"--max_seq_length={max_seq_length} is longer than the model's "
            f"max_position_embeddings. Give at most {config.max_position_embeddings}."
        )
