# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A pretrained model kept in memory, to ask it for missing words and for the order of sentences.

Legend: B batch, S sequence, V vocabulary.
"""

from typing import List, NamedTuple, Optional, Sequence

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.pretrained import checkpoint_files
from albert.util import runtime as precision

_UNDERLINE = "\u2581"  # SentencePiece's mark of a space
_MOST_MARKS = 4  # [CLS], two [SEP] and [MASK]


class Proposal(NamedTuple):
    """A piece of the vocabulary in place of a gap; `word` has no mark of a space."""

    word: str
    probability: float


class PretrainedModel:
    """Both pretraining heads of a checkpoint, for one text at a time.

    Use it in a `with` statement, or call `close` when done:

        with PretrainedModel(config, "model.ckpt-best", tokenizer) as model:
            model.fill("Return the ", " of the list.")
    """

    def __init__(
        self,
        config: modeling.AlbertConfig,
        checkpoint: str,
        tokenizer: tokenization.FullTokenizer,
    ):
        """Builds the graph and restores the weights from `checkpoint`, a path prefix."""
        tokenization.check_vocab_size(tokenizer, config.vocab_size)
        self._config = config
        self._tokenizer = tokenizer
        graph = tf.Graph()
        with graph.as_default():
            self._build()
            self._session = tf.Session(graph=graph, config=precision.session_config())
            variables = tf.trainable_variables()
            with checkpoint_files.explained(checkpoint):
                tf.train.Saver(variables).restore(self._session, checkpoint)
        self.parameters = sum(variable.shape.num_elements() for variable in variables)

    def _build(self) -> None:
        self._ids = tf.placeholder(tf.int32, [None, None], "input_ids")  # [B, S]
        self._segments = tf.placeholder(tf.int32, [None, None], "segment_ids")  # [B, S]
        self._positions = tf.placeholder(tf.int32, [None, 1], "positions")  # [B, 1]
        model = modeling.AlbertModel(
            self._config, False, self._ids, token_type_ids=self._segments, scope="bert"
        )
        words = modeling.masked_lm_logits(
            self._config,
            model.get_sequence_output(),
            model.get_embedding_table(),
            positions=self._positions,
            projection=model.get_embedding_projection(),
        )
        order = modeling.sentence_order_logits(self._config, model.get_pooled_output())
        self._words = tf.nn.softmax(words)  # [B, V]
        self._order = tf.nn.softmax(order)  # [B, 2]

    def __enter__(self) -> "PretrainedModel":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Frees the session."""
        self._session.close()

    def fits(self, *segments: str) -> bool:
        """Returns whether these texts together, with a gap, are short enough for the model."""
        pieces = sum(len(self._encode(segment)) for segment in segments)
        return pieces + _MOST_MARKS <= self._config.max_position_embeddings

    def piece_of(self, word: str) -> Optional[int]:
        """Returns the id of the one piece that is `word`, or None if it takes several."""
        pieces = self._tokenizer.tokenize_text(word)
        ids = self._tokenizer.convert_tokens_to_ids(pieces)
        return ids[0] if len(ids) == 1 else None

    def probability(self, before: str, after: str, word: str) -> float:
        """Returns the probability of `word`, which must be one piece, between the two texts."""
        return float(self._distribution(before, after)[self.piece_of(word)])

    def fill(self, before: str, after: str, count: int = 5) -> List[Proposal]:
        """Returns the `count` most probable words between the two texts, the best first.

        Raises:
          ValueError: the text is too long for the model, as in the two methods beside this one.
        """
        distribution = self._distribution(before, after)
        best = np.argsort(-distribution, kind="stable")[:count]
        pieces = self._tokenizer.convert_ids_to_tokens(best.tolist())
        return [
            Proposal(piece.replace(_UNDERLINE, "") or piece, float(distribution[number]))
            for piece, number in zip(pieces, best)
        ]

    def order_probability(self, first: str, second: str) -> float:
        """Returns how probable it is that `first` comes before `second` in running text."""
        ids = [self._encode(first), self._encode(second)]
        return float(self._run(self._order, ids, 0)[0])

    def _encode(self, text: str) -> List[int]:
        return self._tokenizer.convert_tokens_to_ids(self._tokenizer.tokenize_text(text))

    def _distribution(self, before: str, after: str) -> np.ndarray:
        """The probability of each piece in the gap, [V]."""
        left, right = self._encode(before), self._encode(after)
        space = self._tokenizer.vocab.get(_UNDERLINE)
        if right and right[0] == space and not after[:1].isspace():
            right = right[1:]  # a mark that follows the gap without a space
        gap = self._tokenizer.vocab["[MASK]"]
        return self._run(self._words, [left + [gap] + right], 1 + len(left))

    def _run(self, output: tf.Tensor, segments: Sequence[List[int]], position: int) -> np.ndarray:
        """[CLS] segment [SEP] segment [SEP] through the network; `position` is that of the gap."""
        vocab = self._tokenizer.vocab
        ids, types = [vocab["[CLS]"]], [0]
        for number, segment in enumerate(segments):
            ids += segment + [vocab["[SEP]"]]
            types += [number] * (len(segment) + 1)
        longest = self._config.max_position_embeddings
        if len(ids) > longest:
            raise ValueError(
                f"The text has {len(ids)} pieces with its marks; the model takes {longest} at "
                "most. Shorten the text."
            )
        feed = {self._ids: [ids], self._segments: [types], self._positions: [[position]]}
        return self._session.run(output, feed)[0]
