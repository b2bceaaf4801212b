# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What every fine-tuning task shares: the encoder, its vocabulary, and what a head is.

A head is a function that takes features and an `Encoder`, and returns a `HeadOutput`:

    def head(features, encoder):
        encoded = encoder(features["input_ids"], features["input_mask"], features["segment_ids"])
        return HeadOutput(per_example_loss=..., outputs={"probabilities": ...}, logged={})

Dimensions: B batch, S sequence, H hidden.
"""

import logging
import os
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional

import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.configs.flags import EncoderFlags
from albert.runtimes import compat
from albert.util import files
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

# Of the head's kernels; the published scripts use it whatever the configuration says.
HEAD_INITIALIZER_RANGE = 0.02

Features = Mapping[str, tf.Tensor]

# ---- the encoder ----


class Encoded(NamedTuple):
    """The encoder's outputs."""

    pooled_output: tf.Tensor  # float32 [B, H]
    sequence_output: tf.Tensor  # float32 [B, S, H]


class Encoder:
    """The encoder of a configuration or of a TF-Hub module, and the dropout of a head on it.

    Attributes:
      config: AlbertConfig; None with a hub module whose configuration is not known.
      is_training: whether there is dropout.
    """

    def __init__(
        self,
        config: Optional[modeling.AlbertConfig],
        is_training: bool,
        *,
        hub_module: Optional[str] = None,
        dropout_seed: Optional[tf.Tensor] = None,
        **options: Any,
    ):
        """Takes either a configuration or a TF1 hub module with the signature `tokens`.

        `dropout_seed` and the options (scope, use_one_hot_embeddings, compute_dtype, recompute,
        use_xla) are those of AlbertModel; a module has its own dropout and none of the options.
        A trained model needs no module where it has the configuration: its checkpoint holds the
        module's variables. Raises ValueError where neither is given.
        """
        if hub_module and config is not None and not is_training and not _is_there(hub_module):
            hub_module, options["scope"] = None, "module/bert"
        if not hub_module and config is None:
            raise UserError("The encoder needs a configuration or the handle of a hub module.")
        self.config = config
        self.is_training = is_training
        self._hub_module = hub_module
        self._dropout_seed = dropout_seed
        self._options = {"scope": "bert", **options}

    def __call__(
        self,
        input_ids: tf.Tensor,
        input_mask: tf.Tensor,
        segment_ids: tf.Tensor,
        *,
        after_layer: Optional[Callable] = None,
    ) -> Encoded:
        """Encodes int32 [B, S] ids, mask and segments; `after_layer` is AlbertModel's."""
        if self._hub_module:
            if after_layer is not None:
                raise UserError(f"The hub module {self._hub_module} does not show its layers.")
            module = _module_in_graph(self._hub_module, self.is_training)
            inputs = {"input_ids": input_ids, "input_mask": input_mask, "segment_ids": segment_ids}
            outputs = module(inputs, signature="tokens", as_dict=True)
            return Encoded(outputs["pooled_output"], outputs["sequence_output"])
        model = modeling.AlbertModel(
            self.config,
            self.is_training,
            input_ids,
            input_mask=input_mask,
            token_type_ids=segment_ids,
            dropout_seed=self._dropout_seed,
            after_layer=after_layer,
            **self._options,
        )
        return Encoded(model.get_pooled_output(), model.get_sequence_output())

    def dropout(self, tensor: tf.Tensor, rate: float, position: int = -1) -> tf.Tensor:
        """Returns the tensor with dropout when training; heads use negative positions."""
        if not self.is_training:
            return tensor
        return modeling.dropout(tensor, rate, seed=self._dropout_seed, position=position)


def _is_there(handle: str) -> bool:
    return "://" in handle or tf.io.gfile.isdir(handle)


_MODULES = "fine_tuning_hub_modules"


def _module_in_graph(handle: str, is_training: bool) -> Any:
    """The module of this graph; its variables are made once, outside any loop."""
    from albert.runtimes import hub_module as hub

    present = dict(tf.get_collection(_MODULES))
    if handle not in present:
        tags = {"train"} if is_training else set()
        present[handle] = hub.Module(handle, trainable=True, tags=tags)
        tf.add_to_collection(_MODULES, (handle, present[handle]))
    return present[handle]


# ---- a head ----


class HeadOutput(NamedTuple):
    """A head's outputs for a batch.

    Attributes:
      per_example_loss: float32 [B]; None where there are no labels.
      outputs: predictions by name, with the leading dimension B.
      logged: float32 [B] by name: metrics whose means are logged in training.
    """

    per_example_loss: Optional[tf.Tensor]
    outputs: Dict[str, tf.Tensor]
    logged: Dict[str, tf.Tensor]


Head = Callable[[Features, Encoder], HeadOutput]


# ---- configuration and vocabulary, as flags name them ----


class Vocabulary(NamedTuple):
    """A tokenizer and where it comes from."""

    tokenizer: tokenization.FullTokenizer
    kind: str  # "spm_model_file" or "vocab_file"
    file: str

    def description(self) -> Dict[str, Any]:
        """Returns the JSON values by which another process makes the same tokenizer."""
        sha256 = files.sha256(self.file)
        return {
            "do_lower_case": self.tokenizer.do_lower_case,
            self.kind: {"path": os.path.basename(self.file), "sha256": sha256},
        }


def load_vocabulary(settings: EncoderFlags, config: Optional[modeling.AlbertConfig]) -> Vocabulary:
    """Returns the tokenizer that the flags name, or else the hub module's.

    `config` is the model that must have a row for each token; None if it is not known.

    Raises:
      ValueError: no vocabulary, an unreadable one, or one that is not the model's.
    """
    do_lower_case = settings.do_lower_case
    spm_model_file, vocab_file = settings.spm_model_file, settings.vocab_file
    if settings.albert_hub_module_handle and not spm_model_file and not vocab_file:
        info = tokenization.hub_vocabulary(settings.albert_hub_module_handle)
        given = getattr(settings, "given", ())
        if "do_lower_case" in given and do_lower_case != info.do_lower_case:
            raise UserError(
                f"--do_lower_case={str(do_lower_case).lower()} contradicts the module, which has "
                f"do_lower_case={str(info.do_lower_case).lower()}. Leave the flag out."
            )
        do_lower_case = info.do_lower_case
        spm_model_file = info.vocab_file if info.is_sentencepiece else None
        vocab_file = info.vocab_file
    tokenizer = tokenization.FullTokenizer(vocab_file, do_lower_case, spm_model_file)
    if config is not None:
        tokenization.check_vocab_size(tokenizer, config.vocab_size)
    kind = "spm_model_file" if spm_model_file else "vocab_file"
    return Vocabulary(tokenizer, kind, spm_model_file or vocab_file)


def check_module(handle: Optional[str], compute_dtype: tf.DType, *, recompute: bool = False):
    """Raises ValueError where another dtype or recomputation is asked of a hub module."""
    if handle and (recompute or compute_dtype != tf.float32):
        refused = "--recompute" if recompute else f"--precision={compute_dtype.name}"
        raise UserError(
            f"{refused} does not apply to the hub module {handle}, whose graph is fixed. Leave the "
            "flag out, or start from a checkpoint (--albert_dir)."
        )


def load_config(settings: EncoderFlags) -> Optional[modeling.AlbertConfig]:
    """Returns the model's configuration; None for a hub module that has none.

    Raises:
      ValueError: neither or both of configuration and module, a checkpoint beside a module, what a
        module cannot do, or sequences that are too long for the model.
    """
    handle = settings.albert_hub_module_handle
    if bool(handle) == bool(settings.albert_config_file):
        raise UserError(
            f"Name one model{' only' if handle else ''}: --albert_dir=base_v2 (a name or a folder),"
            " or --albert_config_file with --init_checkpoint, or --albert_hub_module_handle."
        )
    if handle and settings.init_checkpoint:
        raise UserError(
            f"--init_checkpoint={settings.init_checkpoint} and --albert_hub_module_handle both "
            "give weights. Leave one of them out."
        )
    path = settings.albert_config_file or ""
    if handle:
        dtype = compat.compute_dtype(getattr(settings, "precision", "float32"))
        check_module(handle, dtype, recompute=getattr(settings, "recompute", False))
        if "use_xla" in getattr(settings, "given", ()) and getattr(settings, "use_xla", False):
            _LOGGER.warning(
                "--use_xla compiles the optimizer alone: the hub module %s is run as it is.", handle
            )
        folder = getattr(settings, "output_dir", "")  # of a trained model, which needs no module
        folder = os.path.join(handle, "assets") if _is_there(handle) else folder
        path = os.path.join(folder, "albert_config.json")
        if "://" in handle or not tf.io.gfile.exists(path):
            return None
    config = modeling.AlbertConfig.from_json_file(path)
    check_length(settings.max_seq_length, config)
    return config


def check_length(max_seq_length: Optional[int], config: modeling.AlbertConfig) -> None:
    """Raises ValueError where sequences are longer than the model takes."""
    if max_seq_length and max_seq_length > config.max_position_embeddings:
        raise UserError(
            f"--max_seq_length={max_seq_length} is longer than the model's "
            f"max_position_embeddings, {config.max_position_embeddings}."
        )


# ---- functions that existing programs call by these names and arguments ----


def create_albert(
    albert_config,
    is_training,
    input_ids,
    input_mask,
    segment_ids,
    use_one_hot_embeddings,
    use_einsum,
    hub_module,
) -> Encoded:
    """Returns (pooled output [B, H], sequence output [B, S, H]) for int32 [B, S] inputs.

    The handle of a TF-Hub module replaces the configuration. use_einsum is ignored.
    """
    del use_einsum
    encoder = Encoder(
        albert_config,
        is_training,
        hub_module=hub_module,
        use_one_hot_embeddings=use_one_hot_embeddings,
        scope=None,
    )
    return encoder(input_ids, input_mask, segment_ids)


def create_vocab(
    vocab_file, do_lower_case, spm_model_file, hub_module
) -> tokenization.FullTokenizer:
    """Returns the tokenizer of a hub module, whatever the files, or else of the files."""
    if hub_module:
        info = tokenization.hub_vocabulary(hub_module)
        vocab_file, do_lower_case = info.vocab_file, info.do_lower_case
        spm_model_file = info.vocab_file if info.is_sentencepiece else None
    return tokenization.FullTokenizer(vocab_file, do_lower_case, spm_model_file)
