# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the demo asks a pretrained model: missing words, the order of texts, where it looks.

A question is made of a document by a fixed rule, so that nobody chooses what is shown. Dimensions:
B batch, P masked positions, L layers, N heads, S sequence, Q questions, V vocabulary, E embedding.
"""

import pathlib
import re
import zlib
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.pretrained import inference
from albert.pretraining import words

CANDIDATES = 5
_EMBEDDINGS = "bert/embeddings/word_embeddings"
_MOST_TOKENS = 4  # of a missing word
# A word begins where no letter is before it; the "s" of "Anna's" is none.
_LETTERS = re.compile(r"(?<![^\W\d_])(?<![^\W\d_]')[^\W\d_]+")

Finder = Callable[[str], Iterable[Tuple[int, int]]]  # text -> where words start and end


def word_finder(names: Optional[pathlib.Path] = None) -> Finder:
    """Returns what finds runs of letters, or, given a file of names, what jieba finds."""
    if not names:
        return lambda text: (found.span() for found in _LETTERS.finditer(text))
    segmenter = words.ChineseSegmenter(str(names))

    def find(text: str) -> Iterable[Tuple[int, int]]:
        start = 0
        for word in segmenter.words(text):
            if _LETTERS.fullmatch(word):
                yield start, start + len(word)
            start += len(word)

    return find


class Question(NamedTuple):
    """A text of two halves, of which a word is missing, as the model reads it."""

    parts: Tuple[str, str]
    part: int  # which of them has the gap
    start: int  # of the word in that part, in characters
    end: int
    places: List[Tuple[int, int, int]]  # of each token: part, start, end; part -1: no text
    masked: List[int]  # the tokens of the word

    @property
    def word(self) -> str:
        """The word as a model without capital letters has it."""
        return self.parts[self.part][self.start : self.end].lower()


class Reader(inference.MaskFiller):
    """Both pretraining heads of a checkpoint, and the attention of its layers."""

    def _build(self, inputs: inference.Tensors) -> inference.Tensors:
        config = self.source.config
        outputs = inference.pretraining_outputs(config, inputs, with_attention=True)
        positions = inputs[inference.POSITIONS]
        layers = tf.transpose(outputs["attention_probs"], [0, 3, 1, 2, 4])  # [B, S, L, N, S]
        shares = tf.nn.softmax(outputs["mlm_logits"])  # [B * P, V]
        return {
            "shares": tf.reshape(shares, [-1, tf.shape(positions)[1], config.vocab_size]),
            "order": tf.exp(outputs["sop_log_probs"])[:, 0],  # [B]
            # Where the first masked token looks: [B, L, N, S].
            "looks": tf.gather(layers, positions[:, :1], batch_dims=1)[:, 0],
        }

    def question(self, sentences: Sequence[str], joint: str, find: Finder) -> Optional[Question]:
        """Returns the question of a document, or None if it has none.

        Args:
          sentences: as many of them as fit are halved.
          joint: stands between two.
          find: finds words; the text's checksum chooses one, or the next of few tokens.
        """
        for count in range(len(sentences), 1, -1):
            half = count // 2
            parts = joint.join(sentences[:half]), joint.join(sentences[half:count])
            places = self._places(parts)
            if len(places) <= self.source.max_seq_length:
                return _question(parts, places, find)
        return None

    def _places(self, parts: Sequence[str]) -> List[Tuple[int, int, int]]:
        places = [(-1, 0, 0)]
        for number, part in enumerate(parts):
            found = self.source.tokenizer.encode_with_offsets(part)
            places += [(number, *span) for span in zip(found.starts, found.ends)] + [(-1, 0, 0)]
        return places

    def ask(self, questions: Sequence[Question]) -> Dict[str, np.ndarray]:
        """Returns shares [Q, P, V] and looks [Q, L, N, S] of the masked texts."""
        rows = []
        for question in questions:
            row: Dict[str, Any] = self._row(list(map(self._ids, question.parts)))
            for place in question.masked:
                row["input_ids"][place] = self._mask
            rows.append({**row, inference.POSITIONS: question.masked})
        return self._run(rows)

    def in_order(self, pairs: Iterable[Sequence[str]]) -> np.ndarray:
        """Returns how probable it is that the first text comes before the second, [Q]."""
        return self._run([self._row(list(map(self._ids, pair))) for pair in pairs])["order"]

    def ids(self, word: str) -> List[int]:
        """Returns the tokens that are masked for a word: not the one that is only its space."""
        return self._ids_after_mask(word)

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Returns the mean embedding of each word's tokens, float32 [n, E], of length 1."""
        table = tf.train.load_variable(self.source.checkpoint, _EMBEDDINGS)
        means = np.array([table[self.ids(text)].mean(axis=0) for text in texts])
        return means / np.linalg.norm(means, axis=1, keepdims=True)


def _question(
    parts: Tuple[str, str], places: List[Tuple[int, int, int]], find: Finder
) -> Optional[Question]:
    found = [(part, *span) for part, text in enumerate(parts) for span in find(text)]
    chosen = zlib.crc32(" ".join(parts).encode()) % max(1, len(found))
    for part, first, last in found[chosen:] + found[:chosen]:
        masked = [
            token
            for token, (number, start, end) in enumerate(places)
            if number == part and first <= start < end <= last
        ]
        if 1 <= len(masked) <= _MOST_TOKENS:
            return Question(parts, part, first, last, places, masked)
    return None


def guess(shares: np.ndarray, candidates: Dict[str, List[int]]) -> List[Tuple[str, float]]:
    """Returns the best of some words with as many tokens as are masked, and their shares.

    A word is as probable as its tokens, each for itself, in proportion to the other words.

    Args:
      shares: of each token at the masked positions, [P, V].
      candidates: the words and their ids, of one length.
    """
    if not candidates:
        return []
    names, table = list(candidates), np.array(list(candidates.values()))  # [n, tokens]
    found = np.prod(shares[np.arange(table.shape[1]), table], axis=1)
    found /= found.sum()
    best = np.argsort(-found, kind="stable")[:CANDIDATES]
    return [(names[place], float(found[place])) for place in best]
