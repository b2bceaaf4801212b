# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the demo asks a pretrained model: missing words, the order of sentences, where it looks.

A question is made of a document by a fixed rule, so that nobody chooses what is shown. Dimensions:
B batch, P masked positions, L layers, N heads, S sequence, C candidates, E embedding.
"""

import collections
import itertools
import re
import zlib
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple, cast

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.pretrained import inference
from albert.pretrained.network import GraphNetwork
from albert.pretraining import words

CANDIDATES = 5
EMBEDDINGS = "bert/embeddings/word_embeddings"
_MOST_TOKENS = 4  # of a word that is a gap
_NO_TEXT = (-1, 0, 0)  # the place of [CLS] and [SEP]
# A word begins where no letter is before it; the "s" of "Anna's" is none.
_LETTERS = re.compile(r"(?<![^\W\d_])(?<![^\W\d_]')[^\W\d_]+")


class Gap(NamedTuple):
    """A text of two parts, of which a word is missing."""

    parts: Tuple[str, str]
    part: int  # which of them has the gap
    start: int  # of the word in that part, in characters
    end: int

    @property
    def word(self) -> str:
        """The word as a model without capital letters has it."""
        return self.parts[self.part][self.start : self.end].lower()


class Answer(NamedTuple):
    """A model's words for a gap, the best first, with probabilities."""

    candidates: List[Tuple[str, float]]
    looks: np.ndarray  # float32 [L, N, S]: where the first masked token looks


class WordFinder:
    """Finds the words of a text: runs of letters, or the words that jieba finds in Chinese."""

    def __init__(self, language: str, user_dictionary: Optional[str] = None):
        """Loads the dictionaries for "zh"; ValueError without jieba."""
        self._segmenter = words.ChineseSegmenter(user_dictionary) if language == "zh" else None

    def places(self, text: str) -> List[Tuple[int, int]]:
        """Returns where words start and end, in characters."""
        if self._segmenter is None:
            return [found.span() for found in _LETTERS.finditer(text)]
        parts = self._segmenter.words(text)
        ends = list(itertools.accumulate(map(len, parts)))
        return [
            (end - len(part), end) for part, end in zip(parts, ends) if _LETTERS.fullmatch(part)
        ]


class Row(NamedTuple):
    """A text as the model reads it."""

    features: Dict[str, List[int]]
    places: List[Tuple[int, int, int]]  # of each token: part, start, end; part -1: no text


class PretrainedModel(inference.MaskFiller):
    """Both pretraining heads of a checkpoint, and the attention of its layers."""

    def __init__(
        self,
        config: modeling.AlbertConfig,
        checkpoint: str,
        tokenizer: tokenization.FullTokenizer,
    ):
        """Loads the weights of `checkpoint`, a path prefix."""
        tokenization.check_vocab_size(tokenizer, config.vocab_size)
        longest = config.max_position_embeddings
        source = inference.Source(config, checkpoint, tokenizer, longest)
        super().__init__(source)
        network = cast(GraphNetwork, self.network)
        variables = network.graph.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)
        self.parameters = sum(variable.shape.num_elements() for variable in variables)

    def _build(self, inputs: inference.Tensors) -> inference.Tensors:
        outputs = inference.pretraining_outputs(
            self.source.config, inputs, False, with_attention=True
        )
        layers = tf.transpose(outputs["attention_probs"], [0, 3, 1, 2, 4])  # [B, S, L, N, S]
        first = inputs[inference.POSITIONS][:, :1]  # [B, 1]
        looks = tf.gather(layers, first, batch_dims=1)[:, 0]  # [B, L, N, S]
        order = tf.exp(outputs["sop_log_probs"])  # [B, 2]
        shares = tf.nn.softmax(outputs["mlm_logits"])  # [B * P, V]
        shape = [-1, tf.shape(inputs[inference.POSITIONS])[1], self.source.config.vocab_size]
        return {"shares": tf.reshape(shares, shape), "order": order, "looks": looks}

    def row(self, parts: Sequence[str], gap: Optional[Gap] = None) -> Row:
        """Returns [CLS] part [SEP] part [SEP], the gap's word masked."""
        encodings = [self.source.tokenizer.encode_with_offsets(part) for part in parts]
        features: Dict[str, Any] = dict(self._row([encoding.ids for encoding in encodings]))
        places = [_NO_TEXT]
        for number, item in enumerate(encodings):
            places += [(number, *span) for span in zip(item.starts, item.ends)] + [_NO_TEXT]
        if gap:
            masked = [
                position
                for position, (part, start, end) in enumerate(places)
                if part == gap.part and gap.start <= start < end <= gap.end
            ]
            for position in masked:
                features["input_ids"][position] = self._mask
            features[inference.POSITIONS] = masked
        return Row(features, places)

    def fits(self, parts: Sequence[str]) -> bool:
        """Returns whether the texts together are short enough for the model."""
        return sum(map(len, map(self._ids, parts))) + 3 <= self.source.max_seq_length

    def fill_gaps(self, gaps: Sequence[Gap], words: Sequence[str]) -> List[Answer]:
        """Returns the most probable of `words` for each gap, of those with as many tokens.

        A word is as probable as its tokens, each for itself, in proportion to the other words.
        """
        by_length: Dict[int, List[Tuple[str, List[int]]]] = collections.defaultdict(list)
        for word, ids in zip(words, map(self._word_ids, words)):
            by_length[len(ids)].append((word, ids))
        rows = [self.row(gap.parts, gap).features for gap in gaps]
        return [
            Answer(_best_words(found, by_length[len(row[inference.POSITIONS])]), found["looks"])
            for row, found in zip(rows, self._found(rows))
        ]

    def in_order(self, pairs: Sequence[Tuple[str, str]]) -> List[float]:
        """Returns how probable it is that the first text comes before the second."""
        found = self._run([self.row(pair).features for pair in pairs])
        return found["order"][:, 0].tolist()

    def _found(self, rows: Sequence[Dict[str, List[int]]]) -> List[Dict[str, np.ndarray]]:
        """The outputs for each row."""
        outputs = self._run(rows)
        return [{name: value[n] for name, value in outputs.items()} for n in range(len(rows))]

    def _word_ids(self, word: str) -> List[int]:
        """The tokens that are masked for a word: not the one that is only the space before it."""
        return self._ids_after_mask(word)

    def tokens(self, text: str) -> Set[int]:
        """Returns the ids of a word's tokens."""
        return set(self._word_ids(text))

    def length(self, text: str) -> int:
        """Returns how many tokens a word has."""
        return len(self._word_ids(text))

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Returns the mean embedding of each word's tokens, float32 [n, E], of length 1."""
        table = tf.train.load_variable(self.source.checkpoint, EMBEDDINGS)
        means = np.array([table[self._word_ids(text)].mean(axis=0) for text in texts])
        return means / np.linalg.norm(means, axis=1, keepdims=True)


def _best_words(
    found: Dict[str, np.ndarray], words: Sequence[Tuple[str, List[int]]]
) -> List[Tuple[str, float]]:
    """The most probable words, whose ids are given, with their shares among all of them."""
    if not words:
        return []
    table = np.array([ids for _, ids in words])  # [n, tokens]
    shares = np.prod([found["shares"][i, table[:, i]] for i in range(table.shape[1])], axis=0)
    shares /= shares.sum()
    best = np.argsort(-shares, kind="stable")[:CANDIDATES]
    return [(words[place][0], float(shares[place])) for place in best]


def halves(sentences: Sequence[str], model: PretrainedModel, joint: str) -> Optional[Tuple]:
    """Returns the first and the second half of as many sentences as fit, or None of one."""
    for count in range(len(sentences), 1, -1):
        parts = joint.join(sentences[: count // 2]), joint.join(sentences[count // 2 : count])
        if model.fits(parts):
            return parts
    return None


def gap_in(parts: Tuple[str, str], finder: WordFinder, model: PretrainedModel) -> Optional[Gap]:
    """Returns the gap of a text: its checksum chooses the word, or the next of few tokens."""
    gaps = [
        Gap(parts, number, start, end)
        for number, part in enumerate(parts)
        for start, end in finder.places(part)
    ]
    chosen = zlib.crc32(" ".join(parts).encode()) % max(1, len(gaps))
    for gap in gaps[chosen:] + gaps[:chosen]:
        if 1 <= len(model.row(parts, gap).features[inference.POSITIONS]) <= _MOST_TOKENS:
            return gap
    return None
