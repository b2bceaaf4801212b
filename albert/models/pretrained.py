# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A pretrained model: its files, its tasks and its graph.

    model = find_model(albert_dir="base_v2")
    with Embedder(model) as embedder:
        embedder.embed(["He left.", "It rains."])  # float32 [2, H]
    with InferenceModel(MaskTask(model), model.checkpoint) as fill_mask:
        fill_mask.predict(["The [MASK] sang."])

Dimensions: B batch, S sequence, P positions of [MASK] in a text, H hidden, N texts, V vocabulary.
"""

import itertools
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.configs import model_config
from albert.configs.shared_flags import PRECISIONS, EncoderFlags
from albert.data import feature_cache
from albert.data.packing import POSITIONS, SEQUENCES, pack
from albert.data.record_format import Feature, FeatureSpec
from albert.formats import exported, model_paths, model_vocabulary
from albert.formats.model_folder import PretrainedModel
from albert.formats.warm_start import Tensors
from albert.models import inference, released
from albert.models.flags import LAST_LAYER
from albert.models.inference import Outputs
from albert.util import UserError, log
from albert.util import flags as flags_lib
from albert.util.flags import BaseFlags

MASK = "[MASK]"

_ENCODER_FLAGS, _NO_FLAGS = flags_lib.describe(EncoderFlags), EncoderFlags()
_INPUTS = (*SEQUENCES, POSITIONS)
_SPACE = "\u2581"  # in SentencePiece's tokens


def find_model(
    flags: BaseFlags = _NO_FLAGS, *, needs_vocabulary: bool = True, **parts: Optional[str]
) -> PretrainedModel:
    """Returns the model that a script's flags and `parts`, more values of flags, describe.

    Raises:
      UserError: no flag names a model, or its files do not fit each other.
    """
    encoder_flags = {
        name: value for name, value in flags.explicit_values().items() if name in _ENCODER_FLAGS
    }
    model_flags = released.resolve_model_files(
        flags_lib.make(EncoderFlags, **{**encoder_flags, **parts})
    )
    config, checkpoint = model_config.load_config(model_flags), model_flags.init_checkpoint
    tokenizer = vocabulary = None
    if needs_vocabulary or model_flags.spm_model_file or model_flags.vocab_file:
        tokenizer, vocabulary = model_vocabulary.load_vocabulary(model_flags, config)
    else:
        log.warning("No vocabulary found. Name it with --spm_model_file or --vocab_file.")
    longest = model_flags.max_seq_length or config.max_position_embeddings
    if exported.is_program(checkpoint):
        longest = min(longest, exported.max_seq_length(checkpoint))
    else:
        checkpoint = model_paths.resolve(checkpoint)
    path = model_flags.albert_config_file or ""
    return PretrainedModel(config, checkpoint, tokenizer, longest, vocabulary, path)


# ---- its tasks ----


class EncoderTask(inference.InferenceTask):
    """Answers texts with a pretrained encoder. Subclasses compute their outputs in `build`.

    Attributes:
      model, config, tokenizer: the model and its parts.
      ends, mask: the ids of [CLS] and [SEP], and of [MASK].
    """

    def __init__(self, model: PretrainedModel, *, precision_name: str = "float32"):
        """Takes a model. Raises UserError if `precision_name` is not in PRECISIONS."""
        if precision_name not in PRECISIONS:
            raise UserError(f"precision_name={precision_name!r} must be one of {PRECISIONS}.")
        self.model, self.config, self.precision_name = model, model.config, precision_name
        self.tokenizer = model.tokenizer
        *self.ends, self.mask = self.tokenizer.required_ids(["[CLS]", "[SEP]", MASK])

    def parse(self, text: Any) -> Any:
        """Returns the parts of a text, or of a pair of texts."""
        return inference.parts_of(text)

    def spec(self, is_training: bool) -> FeatureSpec:
        """Returns the declaration of the inputs, which have any length."""
        return FeatureSpec([Feature(name, (-1,)) for name in _INPUTS])

    def encode(self, items: Sequence[Any], is_training: bool) -> feature_cache.Conversion:
        """Returns [CLS] a [SEP] or [CLS] a [SEP] b [SEP], cut at the end to max_seq_length."""
        longest = self.model.max_seq_length
        ids = iter(self.tokenizer.encode_ids_batch(list(itertools.chain(*items))))
        rows = [[next(ids)[:longest] for _ in item] for item in items]
        records = pack(rows, self.ends)
        is_cut = records["input_mask"][:, longest:].any(axis=1)
        records = {name: values[:, :longest] for name, values in records.items()}
        records["input_ids"][is_cut, -1] = self.ends[-1]
        records[POSITIONS] = np.zeros([len(rows), 1], np.int32)
        notes = {
            f"cut to {longest} tokens": int(is_cut.sum()),
            "empty": sum(not all(row) for row in rows),
        }
        return feature_cache.Conversion(records, notes)


class EmbeddingTask(EncoderTask):
    """Computes vectors of texts, or of pairs of texts."""

    def __init__(
        self,
        model: PretrainedModel,
        *,
        pooling: str = "pooled",
        layer: int = LAST_LAYER,
        **options: Any,
    ):
        """Takes a model, and chooses the vectors.

        Args:
          model: the model.
          pooling: "pooled", the input of classifiers, from the last layer; "mean" of the text's
            tokens without [CLS] and [SEP]; "first", the vector of [CLS].
          layer: 1 is the first layer and -1 the last.
          **options: precision_name, one of PRECISIONS.

        Raises:
          UserError: the pooling or the model does not have this layer.
        """
        if layer != LAST_LAYER and (pooling == "pooled" or exported.is_program(model.checkpoint)):
            raise UserError(
                f"Layer {layer} needs the pooling mean or first, and a checkpoint. Pooled vectors "
                "and exported models have only the last layer."
            )
        super().__init__(model, **options)
        self._layer, self.output = layer, f"{pooling}_output"

    def build(self, features: Tensors, **options: Any) -> Tensors:
        """Builds the encoder. Returns the vectors [B, H] of each pooling."""
        outputs = pretraining_outputs(self.config, features, heads=(), layer=self._layer, **options)
        outputs["first_output"] = outputs.pop("sequence_output")[:, 0]
        return outputs

    def decode(self, examples: Sequence[Any], outputs: Outputs) -> np.ndarray:
        """Returns the vectors, [N, H]."""
        return outputs[self.output]


class Embedder(inference.InferenceModel):
    """A model in memory that computes vectors of texts, or of pairs of texts."""

    def __init__(self, model: PretrainedModel, *, batch_size: int = 32, **options: Any):
        """Loads the model. For the options, see EmbeddingTask."""
        super().__init__(EmbeddingTask(model, **options), model.checkpoint, batch_size=batch_size)

    def embed(self, texts: Sequence[inference.Text]) -> np.ndarray:
        """Returns the vectors, float32 [N, H], in the order of the texts.

        Cuts long texts at the end. Raises UserError if an item is no text or pair of texts.
        """
        width = self.task.config.hidden_size
        return np.asarray(super().predict(texts), np.float32).reshape([-1, width])

    predict = embed  # All models have `predict`.


class Proposal(NamedTuple):
    """A proposed token for [MASK], without SentencePiece's mark of a space."""

    word: str
    probability: float


class MaskedText(NamedTuple):
    """A text, or two, with [MASK] at positions of [CLS] a [SEP] b [SEP]."""

    segments: Sequence[Sequence[int]]  # token ids
    positions: Sequence[int] = (0,)


class MaskTask(EncoderTask):
    """Proposes the most probable words for each [MASK] in a text, independently."""

    output = "probabilities"

    def __init__(self, model: PretrainedModel, *, count: int = 5, **options: Any):
        """Takes a model with the masked-word head. `count`: number of words."""
        super().__init__(model, **options)
        self._count = count

    def parse(self, text: Any) -> MaskedText:
        """Returns the tokens of a text. Raises UserError if it has no [MASK] or is too long."""
        if not isinstance(text, str):
            raise UserError("It must be a text.")
        first, *others = text.split(MASK)
        if not others:
            raise UserError(f"It has no {MASK}. Write it where a word is missing.")
        ids = list(self.tokenizer.encode_ids_batch([first])[0])
        for part in others:
            ids += [self.mask, *self.ids_after_mask(part)]
        longest = self.model.max_seq_length - 2
        if len(ids) > longest:
            raise UserError(f"It has {len(ids)} tokens; at most {longest} fit.")
        return MaskedText([ids], [n for n, token in enumerate(ids, 1) if token == self.mask])

    def ids_after_mask(self, part: str) -> List[int]:
        """Returns the ids of a text after [MASK].

        If the text begins without a space, as a comma does, so do the ids.
        """
        ids = list(self.tokenizer.encode_ids_batch([part])[0])
        has_space = ids[:1] == [self.tokenizer.vocab.get(_SPACE)]
        return ids[1:] if has_space and not part[:1].isspace() else ids

    def encode(self, items: Sequence[MaskedText], is_training: bool) -> feature_cache.Conversion:
        """Returns the records of texts. Zeros follow the positions of a text with fewer gaps."""
        records = pack([item.segments for item in items], self.ends)
        positions = itertools.zip_longest(*(item.positions for item in items), fillvalue=0)
        records[POSITIONS] = np.array(list(positions)).T
        return feature_cache.Conversion(records)

    def build(self, features: Tensors, **options: Any) -> Tensors:
        """Builds the head. Returns the ids and probabilities [B, P, count] of the best words."""
        config, masks = self.config, tf.shape(features[POSITIONS])[1]
        outputs = pretraining_outputs(config, features, heads=("mlm",), **options)
        logits = tf.reshape(outputs["mlm_logits"], [-1, masks, config.vocab_size])  # [B, P, V]
        probabilities, ids = tf.nn.top_k(
            tf.nn.softmax(logits), k=min(self._count, config.vocab_size)
        )
        return {"ids": ids, "probabilities": probabilities}

    def decode(
        self, examples: Sequence[MaskedText], outputs: Outputs
    ) -> List[List[List[Proposal]]]:
        """Returns the most probable words of each [MASK] of each text, best first."""
        rows = zip(examples, outputs["ids"].tolist(), outputs["probabilities"].tolist())
        return [
            [self._proposals(ids[n], probabilities[n]) for n in range(len(text.positions))]
            for text, ids, probabilities in rows
        ]

    def _proposals(self, ids: List[int], probabilities: List[float]) -> List[Proposal]:
        pieces = self.tokenizer.convert_ids_to_tokens(ids)
        words = (piece.replace(_SPACE, "") or piece for piece in pieces)
        return list(map(Proposal, words, probabilities))


class OrderTask(EncoderTask):
    """The probability that the second text of a pair follows the first."""

    output = "order"

    def build(self, features: Tensors, **options: Any) -> Tensors:
        """Builds the sentence-order head. Returns the probabilities [B, 2] of both orders."""
        outputs = pretraining_outputs(self.config, features, heads=("sop",), **options)
        return {"order": tf.exp(outputs["sop_log_probs"])}

    def decode(self, examples: Sequence[Any], outputs: Outputs) -> List[float]:
        """Returns the probability for each pair."""
        return outputs["order"][:, 0].tolist()


# ---- its graph ----


def _mean(sequence: tf.Tensor, inputs: Tensors) -> tf.Tensor:
    """Returns the mean [B, H] of a sequence [B, S, H] over the tokens of the text.

    Leaves out [CLS], the first position, and [SEP], the last position of each segment.
    """
    shift = [[0, 0], [0, 1]]
    following = tf.pad(inputs["input_mask"][:, 1:], shift)  # 0 at the last position in use
    segment = inputs["segment_ids"]
    changes = tf.pad(segment[:, 1:], shift) - segment  # 1 where segment 0 ends
    weights = tf.cast(following * (1 - changes), tf.float32)[:, 1:]
    total = tf.maximum(tf.reduce_sum(weights, axis=1, keepdims=True), 1.0)
    # Not tf.matmul: TensorFlow Lite 1.15 multiplies no batches.
    return tf.reduce_sum(tf.expand_dims(weights, -1) * sequence[:, 1:], axis=1) / total


def pretraining_outputs(
    config: modeling.AlbertConfig,
    inputs: Tensors,
    is_training: bool = False,
    *,
    heads: Sequence[str] = ("sop", "mlm"),
    layer: int = LAST_LAYER,
    with_attention: bool = False,
    **options: Any,
) -> Dict[str, tf.Tensor]:
    """Builds the encoder and pretraining heads. Returns all outputs, float32, by name.

    Inputs are int32: SEQUENCES [B, S] and POSITIONS [B, P]. `layer` is the layer of
    `sequence_output`: 1 is the first and -1 the last. For the options, see AlbertModel. Raises
    UserError if there is no such layer.
    """
    model = modeling.AlbertModel(
        config,
        is_training,
        inputs["input_ids"],
        input_mask=inputs["input_mask"],
        token_type_ids=inputs["segment_ids"],
        scope="bert",
        **options,
    )
    layers = model.get_all_encoder_layers()
    if not 1 <= abs(layer) <= len(layers):
        raise UserError(f"There is no layer {layer}: the model has {len(layers)} layers.")
    sequence = layers[layer - 1 if layer > 0 else layer]
    outputs = {
        "pooled_output": model.get_pooled_output(),  # [B, H]
        "sequence_output": sequence,  # [B, S, H]
        "mean_output": _mean(sequence, inputs),  # [B, H], of the same layer
    }
    if "sop" in heads:
        logits = modeling.sentence_order_logits(config, outputs["pooled_output"])
        outputs["sop_log_probs"] = tf.nn.log_softmax(logits)  # [B, 2]
    if "mlm" in heads:
        outputs["mlm_logits"] = modeling.masked_lm_logits(
            config,
            sequence,
            model.get_embedding_table(),
            positions=inputs[POSITIONS],
            projection=model.get_embedding_projection(),
        )  # [B * P, V]
    if with_attention:  # [B, L, N, S, S] of L blocks
        outputs["attention_probs"] = tf.stack(model.get_attention_probs(), axis=1)
    return outputs
