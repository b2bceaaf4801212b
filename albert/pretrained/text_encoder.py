# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A pretrained model kept in memory: vectors of texts, and words for the gaps in them.

    with Embedder(source) as model:
        model.embed(["He left.", "It rains."])  # float32 [2, H]
    with MaskFiller(source) as model:
        model.fill(["The [MASK] sang."], count=5)

The model comes from a checkpoint or from a TF-Hub module. The texts of a call are sorted by length,
so that short ones do not wait for padding.

Dimensions: B batch, S sequence, P gaps of a text, H hidden, N texts, V vocabulary.
"""

import threading
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling, tokenization
from albert.pretrained import hub as hub_export
from albert.pretrained import warm_start as checkpoint_init
from albert.util import runtime as precision

POOLINGS = ("pooled", "mean", "first")
LAST_LAYER = -1
MASK = "[MASK]"

Text = Union[str, Sequence[str]]

_LENGTH_STEP = 8  # batches are padded to a multiple of this
_UNDERLINE = "\u2581"  # SentencePiece's mark of a space


class Source(NamedTuple):
    """A pretrained model.

    Attributes:
      config: of the model; None with a hub module that does not bring it along.
      checkpoint: path prefix of the weights; None with a hub module.
      hub_module: handle, or None.
      tokenizer: the model's.
      max_seq_length: longer texts are cut.
    """

    config: Optional[modeling.AlbertConfig]
    checkpoint: Optional[str]
    hub_module: Optional[str]
    tokenizer: tokenization.FullTokenizer
    max_seq_length: int


class _Sequence(NamedTuple):
    """A text as the model reads it."""

    ids: List[int]
    segments: List[int]
    is_cut: bool


class _Model:
    """A graph with weights, and batches of sequences through it. Calls take turns."""

    def __init__(self, source: Source, *, precision_name: str, batch_size: int):
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; it must be at least 1.")
        self.source = source
        self._dtype = precision.compute_dtype(precision_name)
        fine_tuning_utils.check_module(source.hub_module, self._dtype)
        self._batch_size = batch_size
        self._lock = threading.Lock()
        self._first, self._separator, self._mask = source.tokenizer.required_ids(
            ["[CLS]", "[SEP]", MASK]
        )
        graph = tf.Graph()
        with graph.as_default():
            placeholders = (
                tf.placeholder(tf.int32, [None, None]) for _ in hub_export.Inputs._fields
            )
            self._inputs = hub_export.Inputs(*placeholders)
            self._output = self._build(self._inputs)
            self._session = tf.Session(graph=graph, config=precision.session_config())
            self._load()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Frees the weights; no call may follow."""
        self._session.close()

    def _build(self, inputs: hub_export.Inputs) -> Any:
        """The outputs, a tensor or a structure of them with the leading dimension B."""
        raise NotImplementedError

    def _load(self) -> None:
        if self.source.hub_module:
            self._session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        else:
            checkpoint_init.restore_weights(self._session, self.source.checkpoint)

    def _hub_outputs(self, inputs: Mapping[str, tf.Tensor], signature: str) -> Dict[str, tf.Tensor]:
        import tensorflow_hub as hub  # takes long to import

        module = hub.Module(self.source.hub_module, name="module")
        return module(dict(inputs), signature=signature, as_dict=True)

    def _albert(self, inputs: hub_export.Inputs) -> modeling.AlbertModel:
        return modeling.AlbertModel(
            self.source.config,
            False,
            inputs.input_ids,
            input_mask=inputs.input_mask,
            token_type_ids=inputs.segment_ids,
            scope="bert",
            compute_dtype=self._dtype,
        )

    def _sequence(self, segments: Sequence[List[int]]) -> _Sequence:
        """[CLS] a [SEP], or [CLS] a [SEP] b [SEP], cut at the end to the longest length."""
        ids, types = [self._first], [0]
        for number, segment in enumerate(segments):
            ids += [*segment, self._separator]
            types += [number] * (len(segment) + 1)
        longest = self.source.max_seq_length
        if len(ids) <= longest:
            return _Sequence(ids, types, False)
        return _Sequence([*ids[: longest - 1], self._separator], types[:longest], True)

    def _run(self, sequences: Sequence[_Sequence], positions: Sequence[List[int]]) -> List[Any]:
        """What the model gives for each sequence; positions are those of gaps."""
        results: List[Any] = [None] * len(sequences)
        order = np.argsort([len(item.ids) for item in sequences], kind="stable")
        with self._lock:
            for start in range(0, len(order), self._batch_size):
                places = order[start : start + self._batch_size]
                outputs = self._run_batch(
                    [sequences[place] for place in places], [positions[place] for place in places]
                )
                for place, output in zip(places, outputs):
                    results[place] = output
        return results

    def _run_batch(
        self, sequences: Sequence[_Sequence], positions: Sequence[List[int]]
    ) -> Sequence[Any]:
        """One batch: for each sequence its row of the output."""
        length = max(len(item.ids) for item in sequences)
        length = min(-(-length // _LENGTH_STEP) * _LENGTH_STEP, self.source.max_seq_length)
        gaps = max(1, max(len(places) for places in positions))
        feed = {
            self._inputs.input_ids: [_filled(item.ids, length) for item in sequences],
            self._inputs.input_mask: [_filled([1] * len(item.ids), length) for item in sequences],
            self._inputs.segment_ids: [_filled(item.segments, length) for item in sequences],
            self._inputs.mlm_positions: [_filled(places, gaps) for places in positions],
        }
        return self._rows(self._session.run(self._output, feed))

    def _rows(self, outputs: Any) -> Sequence[Any]:
        """What was computed, for each sequence."""
        return outputs


def _filled(values: Sequence[int], length: int) -> List[int]:
    return [*values, *[0] * (length - len(values))]


def _parts(text: Text) -> Tuple[str, ...]:
    """A text, or a pair of them."""
    parts = (text,) if isinstance(text, str) else tuple(text)
    if len(parts) not in (1, 2) or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"{str(text)[:60]!r} is neither a text nor a pair of texts.")
    return parts


# ---------------------------------------------------------------------------------------------
# Vectors.


class Embedder(_Model):
    """Gives texts, or pairs of texts, their vectors."""

    def __init__(
        self,
        source: Source,
        *,
        pooling: str = "pooled",
        layer: int = LAST_LAYER,
        precision_name: str = "float32",
        batch_size: int = 32,
    ):
        """Loads the model.

        Args:
          source: the model.
          pooling: "pooled", what classifiers build on (of the last layer); "mean", over the pieces
            of the text without [CLS] and [SEP]; "first", the vector of [CLS].
          layer: 1 is the first layer and -1 the last.
          precision_name: "float32", or "bfloat16" where the processor is faster with it.
          batch_size: most texts to run together.

        Raises:
          ValueError: an unknown pooling or layer, or a model that does not fit.
        """
        if pooling not in POOLINGS:
            raise ValueError(f"Unknown pooling {pooling!r}. There are: {', '.join(POOLINGS)}.")
        if layer != LAST_LAYER and (pooling == "pooled" or source.hub_module):
            reason = "pooled vectors are" if pooling == "pooled" else "a hub module gives"
            raise ValueError(
                f"layer {layer} cannot be taken: {reason} of the last layer only. Use mean or "
                "first, with a checkpoint."
            )
        self._pooling = pooling
        self._layer = layer
        super().__init__(source, precision_name=precision_name, batch_size=batch_size)

    def embed(self, texts: Sequence[Text]) -> np.ndarray:
        """Returns the vectors, float32 [N, H], in the order of the texts.

        Args:
          texts: each a text or a pair; what is too long is cut at its end.

        Raises:
          ValueError: an item is neither.
        """
        parts = [_parts(text) for text in texts]
        flat = [part for item in parts for part in item]
        ids = iter(self.source.tokenizer.encode_ids_batch(flat))
        sequences = [self._sequence([next(ids) for _ in item]) for item in parts]
        rows = self._run(sequences, [[] for _ in sequences])
        return np.array(rows, np.float32).reshape([len(sequences), self.width])

    @property
    def width(self) -> int:
        """Returns H."""
        return int(self._output.shape[-1])

    def _build(self, inputs: hub_export.Inputs) -> tf.Tensor:
        if self.source.hub_module:
            tokens = {name: getattr(inputs, name) for name in hub_export.TOKENS}
            outputs = self._hub_outputs(tokens, "tokens")
            pooled, sequence = outputs["pooled_output"], outputs["sequence_output"]
        else:
            model = self._albert(inputs)
            pooled, sequence = model.get_pooled_output(), self._chosen_layer(model)
        if self._pooling == "pooled":
            return pooled
        if self._pooling == "first":
            return sequence[:, 0]
        return _mean(sequence, inputs)

    def _chosen_layer(self, model: modeling.AlbertModel) -> tf.Tensor:
        layers = model.get_all_encoder_layers()
        if not 1 <= abs(self._layer) <= len(layers):
            raise ValueError(
                f"There is no layer {self._layer}; the model has {len(layers)}, counted from 1, or "
                "from -1 backwards."
            )
        return layers[self._layer - 1 if self._layer > 0 else self._layer]


def _mean(sequence: tf.Tensor, inputs: hub_export.Inputs) -> tf.Tensor:
    """The mean [B, H] over the places of a sequence [B, S, H] that hold pieces of the text.

    [CLS] is the first place, [SEP] the last one in use and, of pairs, the last of segment 0.
    """
    used = tf.cast(inputs.input_mask, tf.float32)
    segment = tf.cast(inputs.segment_ids, tf.float32)
    following = tf.pad(used[:, 1:], [[0, 0], [0, 1]])  # 0 at the last place in use
    changes = tf.pad(segment[:, 1:], [[0, 0], [0, 1]]) - segment
    is_border = tf.maximum(changes, 0.0)  # 1 where segment 0 ends
    weights = used * following * (1.0 - is_border)
    weights = tf.concat([tf.zeros_like(weights[:, :1]), weights[:, 1:]], axis=1)
    total = tf.maximum(tf.reduce_sum(weights, axis=1, keepdims=True), 1.0)
    return tf.squeeze(tf.matmul(weights[:, tf.newaxis], sequence), [1]) / total


# ---------------------------------------------------------------------------------------------
# Missing words.


class Proposal(NamedTuple):
    """A piece of the vocabulary for a gap; `word` has no mark of a space."""

    word: str
    piece: str
    probability: float


class MaskFiller(_Model):
    """Proposes words for each [MASK] in a text; several gaps are filled independently."""

    def __init__(
        self,
        source: Source,
        *,
        count: int = 5,
        precision_name: str = "float32",
        batch_size: int = 32,
    ):
        """Loads the model, with its head for masked words.

        Args:
          source: the model.
          count: proposals for each gap.
          precision_name: see `Embedder`.
          batch_size: most texts to run together.

        Raises:
          ValueError: a model without that head, or one that does not fit.
        """
        self._count = count
        super().__init__(source, precision_name=precision_name, batch_size=batch_size)

    def fill(self, texts: Sequence[str]) -> List[List[List[Proposal]]]:
        """Returns for each text, for each of its gaps, the most probable words, the best first.

        Args:
          texts: each with at least one [MASK].

        Raises:
          ValueError: a text without a gap, or one that is too long for the model.
        """
        prepared = [self._prepared(text) for text in texts]
        rows = self._run([item[0] for item in prepared], [item[1] for item in prepared])
        return [
            [self._proposals(*gap) for gap in list(zip(*row))[: len(positions)]]
            for row, (_, positions) in zip(rows, prepared)
        ]

    def _build(self, inputs: hub_export.Inputs) -> Tuple[tf.Tensor, tf.Tensor]:
        if self.source.hub_module:
            logits = self._hub_outputs(inputs._asdict(), "mlm")["mlm_logits"]  # [B * P, V]
        else:
            model = self._albert(inputs)
            logits = modeling.masked_lm_logits(
                self.source.config,
                model.get_sequence_output(),
                model.get_embedding_table(),
                positions=inputs.mlm_positions,
                projection=model.get_embedding_projection(),
            )
        count = min(self._count, int(logits.shape[-1]))
        shares, ids = tf.nn.top_k(tf.nn.softmax(logits), k=count)
        shape = [-1, tf.shape(inputs.mlm_positions)[1], count]
        return tf.reshape(ids, shape), tf.reshape(shares, shape)  # [B, P, count]

    def _rows(self, outputs: Any) -> Sequence[Any]:
        return list(zip(*outputs))

    def _prepared(self, text: str) -> Tuple[_Sequence, List[int]]:
        """The sequence of a text, and where its gaps are in it."""
        parts = text.split(MASK)
        if len(parts) == 1:
            raise ValueError(f"{text[:60]!r} has no gap. Write {MASK} where a word is missing.")
        ids: List[int] = []
        for number, part in enumerate(parts):
            ids += [self._mask] * bool(number) + self._pieces_after_gap(part, bool(number))
        sequence = self._sequence([ids])
        if sequence.is_cut:
            raise ValueError(
                f"{text[:60]!r} has {len(ids)} pieces; the model takes "
                f"{self.source.max_seq_length - 2}. Shorten the text, or raise max_seq_length."
            )
        return sequence, [place for place, item in enumerate(sequence.ids) if item == self._mask]

    def _pieces_after_gap(self, part: str, is_after_gap: bool) -> List[int]:
        """A mark that follows the gap without a space has no piece for the space either."""
        ids = self.source.tokenizer.encode_ids_batch([part])[0]
        space = self.source.tokenizer.vocab.get(_UNDERLINE)
        glued = is_after_gap and not part[:1].isspace()
        return ids[1:] if glued and ids and ids[0] == space else ids

    def _proposals(self, ids: np.ndarray, shares: np.ndarray) -> List[Proposal]:
        pieces = self.source.tokenizer.convert_ids_to_tokens(ids.tolist())
        words = (piece.replace(_UNDERLINE, "") or piece for piece in pieces)
        return [Proposal(*row) for row in zip(words, pieces, shares.tolist())]
