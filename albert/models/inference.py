# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Models in memory: load once, then call them many times.

    with Embedder(source) as model:
        model.embed(["He left.", "It rains."])  # float32 [2, H]
    with MaskFiller(source) as model:
        model.fill(["The [MASK] sang."])

Models of the tasks are in training.fine_tuned.

Dimensions: B batch, S sequence, P positions of [MASK] in a text, H hidden, N texts, V vocabulary.
"""

import collections
import collections.abc
import contextlib
import itertools
import logging
from typing import (
    Any,
    Callable,
    Counter,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.configs.flags import PRECISIONS, EncoderFlags
from albert.data import feature_cache, text_lines
from albert.data.batches import Feature, FeatureSpec
from albert.data.packing import POSITIONS, SEQUENCES, pack
from albert.formats import checkpoints, exported, model_folder
from albert.formats.model_folder import Source
from albert.models import released
from albert.models.flags import LAST_LAYER, TextFlags
from albert.models.network import Network, Tensors, check_finite, joined
from albert.runtimes import devices
from albert.util import flags as flags_lib
from albert.util import progress
from albert.util.errors import UserError
from albert.util.flags import BaseFlags

_LOGGER = logging.getLogger("albert")

MASK = "[MASK]"

Text = Union[str, Sequence[str]]
Texts = List[Tuple[str, ...]]
Row = Dict[str, List[int]]

_ENCODER_FLAGS, _NO_FLAGS = flags_lib.describe(EncoderFlags), EncoderFlags()
_SPEC = FeatureSpec([Feature(name, (-1,)) for name in (*SEQUENCES, POSITIONS)])
_SPACE = "\u2581"  # in SentencePiece's tokens

# ---- what all models have in common ----


class Model(contextlib.AbstractContextManager):
    """A `Network` and the conversion of texts to its inputs. Use it in a `with` statement.

    Attributes:
      notes: how many texts were cut or empty so far; the end of the `with` statement logs it.
    """

    network: Network

    def __init__(self) -> None:
        self.notes: Counter[str] = collections.Counter()

    def __exit__(self, *_) -> None:
        self.network.close()
        notes = feature_cache.in_words(self.notes)
        if notes:
            _LOGGER.warning("Texts: %s.", notes)

    def __reduce__(self) -> str:
        raise UserError("A loaded model cannot be pickled. Call albert.load in each process.")


def parse_texts(texts: Sequence[Any], parse: Callable[[Any], Any]) -> List[Any]:
    """Applies `parse` to each text; raises UserError with the number of a wrong text."""
    is_unordered = isinstance(texts, (str, bytes, collections.abc.Mapping, collections.abc.Set))
    is_frame = hasattr(texts, "columns")  # of pandas: gives the names of its columns
    if is_unordered or is_frame or not isinstance(texts, collections.abc.Iterable):
        raise UserError(
            f"A list of texts is needed, not a {type(texts).__name__}. Write [text], or of a "
            "pandas frame frame['column'].tolist()."
        )
    parsed = []
    for number, text in enumerate(texts, 1):
        try:
            parsed.append(parse(text))
        except (TypeError, ValueError) as error:
            reason = (
                error
                if isinstance(error, UserError)
                else "docs/python.md says what `predict` takes."
            )
            raise UserError(f"Text number {number} is {str(text)[:60]!r}. {reason}") from error
    return parsed


def parts_of(text: Text) -> Tuple[str, ...]:
    """Returns a text, or a pair of texts, as a tuple; raises UserError for anything else."""
    parts = tuple(text) if isinstance(text, (list, tuple, np.ndarray)) else (text,)
    if len(parts) not in (1, 2) or not all(isinstance(part, str) for part in parts):
        raise UserError("It must be a text or a pair of texts.")
    return parts


# ---- texts from files and pipes ----


def read_texts(flags: TextFlags, training_columns: Sequence[str] = ()) -> Iterator[Texts]:
    """Yields the texts of --input_file in groups that arrived together.

    `training_columns` are those of `text_lines.TextReader`.
    """
    path = flags.input_file
    reader = text_lines.TextReader(path, flags.columns, training_columns)
    has_bar = path != text_lines.STANDARD
    bar = progress.Progress("Answering", None, unit="texts", has_bar=has_bar)
    with text_lines.open_input(path) as stream, bar:
        for lines in text_lines.read_lines(stream, path):
            texts = reader.texts(lines)
            yield texts
            bar.update(len(texts), "")
    if reader.first_empty:
        _LOGGER.warning("The first empty text is in %s.", reader.first_empty)


def announce(config: modeling.AlbertConfig, checkpoint: str, flags: TextFlags) -> None:
    """Logs the first line of a script that answers texts: model, precision and device."""
    is_program = exported.is_program(checkpoint)
    runs = f"as {checkpoint}" if is_program else f"in {flags.precision}"
    where = devices.training_line(0 if is_program else 1, "Running")
    _LOGGER.info("%s %s. %s", model_folder.model_summary(config), runs, where)


def answer_texts(
    path: str,
    groups: Iterable[Texts],
    answer: Callable[[Texts], Iterable[str]],
    *,
    heading: str = "",
) -> None:
    """Writes a heading and the line of `answer` for each text to a file, group by group.

    Raises:
      UserError: texts that cannot be read or answered.
    """
    with text_lines.open_output(path) as output:
        output.write(heading)
        for texts in groups:
            output.write("".join(f"{line}\n" for line in answer(texts)))
            output.flush()
    if path != text_lines.STANDARD:
        _LOGGER.info("Wrote %s.", path)


# ---- pretrained models ----


def find_source(
    flags: BaseFlags = _NO_FLAGS, *, needs_vocabulary: bool = True, **parts: Optional[str]
) -> Source:
    """Returns the model that a script's flags, or the values in `parts`, name.

    Raises:
      UserError: none, or files that do not belong together.
    """
    encoder_flags = {
        name: value for name, value in flags.given_values().items() if name in _ENCODER_FLAGS
    }
    model_flags = released.resolve_model_files(
        flags_lib.make(EncoderFlags, **{**encoder_flags, **parts})
    )
    config, checkpoint = fine_tuning_utils.load_config(model_flags), model_flags.init_checkpoint
    tokenizer = vocabulary = None
    if needs_vocabulary or model_flags.spm_model_file or model_flags.vocab_file:
        tokenizer, vocabulary = fine_tuning_utils.load_vocabulary(model_flags, config)
    else:
        _LOGGER.warning("No vocabulary found. Name it with --spm_model_file or --vocab_file.")
    longest = model_flags.max_seq_length or config.max_position_embeddings
    if exported.is_program(checkpoint):
        longest = min(longest, exported.max_seq_length(checkpoint))
    else:
        checkpoint = checkpoints.resolve(checkpoint)
    path = model_flags.albert_config_file or ""
    return Source(config, checkpoint, tokenizer, longest, vocabulary, path)


class _Pretrained(Model):
    """A pretrained model; subclasses say in `_build` what is computed with it.

    Attributes:
      source: the model.
      output: an output that the network must have.
    """

    output: str

    def __init__(self, source: Source, *, precision_name: str = "float32", batch_size: int = 32):
        super().__init__()
        self.source = source
        if precision_name not in PRECISIONS:
            raise UserError(f"precision_name={precision_name!r} must be one of {PRECISIONS}.")
        self._options = {"compute_dtype": tf.as_dtype(precision_name), "keep_weights": True}
        *self._ends, self._mask = source.tokenizer.required_ids(["[CLS]", "[SEP]", MASK])
        self.network = Network(self._build, _SPEC, batch_size=batch_size)
        self.network.load(source.checkpoint)
        if self.output not in self.network.outputs:
            raise UserError(
                f"{source.checkpoint} has only {', '.join(self.network.outputs)}, and no "
                f"{self.output}. Use the model from which it was exported."
            )

    def _run(self, rows: Sequence[Row]) -> Dict[str, np.ndarray]:
        """Returns the outputs of the network for rows of `_row`, [N, ...] each; {} without rows."""
        if not rows:
            return {}
        names = (*SEQUENCES, POSITIONS)
        arrays = [
            {name: np.array([row.get(name, [0])], np.int32) for name in names} for row in rows
        ]
        return check_finite(self.network.run(joined(arrays)))

    def _build(self, inputs: Tensors) -> Tensors:
        raise NotImplementedError

    def _row(self, segments: Sequence[Sequence[int]]) -> Row:
        """Returns [CLS] a [SEP], or [CLS] a [SEP] b [SEP], cut at the end to the longest length."""
        longest = self.source.max_seq_length
        packed = pack(segments, self._ends)
        self.notes[f"cut to {longest} tokens"] += len(packed["input_ids"]) > longest
        self.notes["empty"] += not all(segments)
        row = {name: ids[:longest] for name, ids in packed.items()}
        row["input_ids"][-1] = self._ends[-1]
        return row


class Embedder(_Pretrained):
    """Gives texts, or pairs of texts, their vectors."""

    def __init__(
        self,
        source: Source,
        *,
        pooling: str = "pooled",
        layer: int = LAST_LAYER,
        **options: Any,
    ):
        """Loads the model.

        Args:
          source: the model.
          pooling: "pooled", what classifiers build on (of the last layer); "mean", over the tokens
            of the text without [CLS] and [SEP]; "first", the vector of [CLS].
          layer: 1 is the first layer and -1 the last.
          **options: precision_name, "float32", or "bfloat16" or "float16" where the device is
            faster with it; batch_size, the most texts to run together.

        Raises:
          UserError: an unknown pooling or layer, or a model that does not fit.
        """
        if layer != LAST_LAYER and (pooling == "pooled" or exported.is_program(source.checkpoint)):
            raise UserError(
                f"Layer {layer} needs the pooling mean or first, and a checkpoint. Pooled vectors "
                "and exported models have only the last layer."
            )
        self._layer, self.output = layer, f"{pooling}_output"
        super().__init__(source, **options)

    def embed(self, texts: Sequence[Text]) -> np.ndarray:
        """Returns the vectors, float32 [N, H], in the order of the texts.

        Each is a text or a pair, else UserError; what is too long is cut at its end.
        """
        items = parse_texts(texts, parts_of)
        ids = iter(self.source.tokenizer.encode_ids_batch(list(itertools.chain(*items))))
        outputs = self._run([self._row([next(ids) for _ in item]) for item in items])
        return outputs.get(self.output, np.zeros([0, self.source.config.hidden_size], np.float32))

    predict = embed  # the name that all models have

    def _build(self, inputs: Tensors) -> Tensors:
        config, layer = self.source.config, self._layer
        outputs = pretraining_outputs(config, inputs, heads=(), layer=layer, **self._options)
        outputs["first_output"] = outputs.pop("sequence_output")[:, 0]
        return outputs


class Proposal(NamedTuple):
    """A proposed token for [MASK], without SentencePiece's mark of a space."""

    word: str
    probability: float


class MaskFiller(_Pretrained):
    """Proposes words for each [MASK] in a text; several are filled independently."""

    output = "shares"

    def __init__(self, source: Source, *, count: int = 5, **options: Any):
        """Loads the model for `count` proposals; UserError if it has no masked-word head.

        The options, precision_name and batch_size, are those of `Embedder`.
        """
        self._count = count
        super().__init__(source, **options)

    def fill(self, texts: Sequence[str]) -> List[List[List[Proposal]]]:
        """Returns for each text, for each [MASK] in it, the most probable words, the best first.

        Raises:
          UserError: a text without [MASK], or one that is too long for the model.
        """
        rows = parse_texts(texts, self._masked_row)
        outputs = self._run(rows)
        return [
            [
                self._proposals(outputs["ids"][n, p], outputs["shares"][n, p])
                for p in range(len(masks))
            ]
            for n, masks in enumerate(row[POSITIONS] for row in rows)
        ]

    def _build(self, inputs: Tensors) -> Tensors:
        config, masks = self.source.config, tf.shape(inputs[POSITIONS])[1]
        outputs = pretraining_outputs(config, inputs, heads=("mlm",), **self._options)
        logits = tf.reshape(outputs["mlm_logits"], [-1, masks, config.vocab_size])  # [B, P, V]
        shares, ids = tf.nn.top_k(tf.nn.softmax(logits), k=min(self._count, config.vocab_size))
        return {"ids": ids, "shares": shares}

    def _masked_row(self, text: str) -> Row:
        if not isinstance(text, str):
            raise UserError("It must be a text.")
        first, *others = text.split(MASK)
        if not others:
            raise UserError(f"{text[:60]!r} has no {MASK}. Write it where a word is missing.")
        ids = list(self.source.tokenizer.encode_ids_batch([first])[0])
        for part in others:
            ids += [self._mask, *self._ids_after_mask(part)]
        longest = self.source.max_seq_length - 2
        if len(ids) > longest:
            raise UserError(f"{text[:60]!r} has {len(ids)} tokens; at most {longest} fit.")
        row = self._row([ids])
        row[POSITIONS] = [n for n, token in enumerate(row["input_ids"]) if token == self._mask]
        return row

    def _ids_after_mask(self, part: str) -> List[int]:
        """Punctuation that follows [MASK] without a space has no token for the space either."""
        tokenizer = self.source.tokenizer
        ids, space = list(tokenizer.encode_ids_batch([part])[0]), tokenizer.vocab.get(_SPACE)
        return ids[1:] if ids[:1] == [space] and not part[:1].isspace() else ids

    def _proposals(self, ids: np.ndarray, shares: np.ndarray) -> List[Proposal]:
        pieces = self.source.tokenizer.convert_ids_to_tokens(ids.tolist())
        words = (piece.replace(_SPACE, "") or piece for piece in pieces)
        return list(map(Proposal, words, shares.tolist()))


class OrderJudge(_Pretrained):
    """Predicts the order of two texts; needs a model with the sentence-order head."""

    output = "order"

    def in_order(self, texts: Sequence[Sequence[str]]) -> List[float]:
        """Returns for each pair of texts the probability that the second follows the first."""
        encode = self.source.tokenizer.encode_ids_batch
        rows = [self._row(encode(list(pair))) for pair in texts]
        return self._run(rows)["order"][:, 0].tolist()

    def _build(self, inputs: Tensors) -> Tensors:
        config = self.source.config
        outputs = pretraining_outputs(config, inputs, heads=("sop",), keep_weights=True)
        return {"order": tf.exp(outputs["sop_log_probs"])}  # [B, 2]


# ---- their graphs ----


def _mean(sequence: tf.Tensor, inputs: Tensors) -> tf.Tensor:
    """Returns the mean [B, H] of the positions of [B, S, H] that hold tokens of the text.

    [CLS] is the first position, [SEP] the last one in use and, of pairs, the last of segment 0.
    """
    shift = [[0, 0], [0, 1]]
    following = tf.pad(inputs["input_mask"][:, 1:], shift)  # 0 at the last position in use
    segment = inputs["segment_ids"]
    changes = tf.pad(segment[:, 1:], shift) - segment  # 1 where segment 0 ends
    weights = tf.cast(following * (1 - changes), tf.float32)[:, 1:]
    total = tf.maximum(tf.reduce_sum(weights, axis=1, keepdims=True), 1.0)
    # No product of matrices: TensorFlow Lite of 1.15 has none for batches.
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
    """Builds the encoder and pretraining heads; returns all outputs, float32, by name.

    Inputs are int32 [B, S] named as SEQUENCES and [B, P] named POSITIONS. `sequence_output` is that
    of a layer: 1 is the first and -1 the last. The options are AlbertModel's. Raises UserError if
    there is no such layer.
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
