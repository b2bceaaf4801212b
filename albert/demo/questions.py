# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the demo asks a pretrained model: missing words, the order of texts, where it looks.

A question is made of a document by a fixed rule, so that nobody chooses what is shown. Dimensions:
B batch, P masked positions, L layers, N heads, S sequence, Q questions, V vocabulary, E embedding.
"""

import pathlib
import re
import zlib
from itertools import accumulate
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.pretrained import inference
from albert.pretraining import words

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
        found = segmenter.words(text)
        for word, end in zip(found, accumulate(map(len, found))):
            if _LETTERS.fullmatch(word):
                yield end - len(word), end

    return find


class Question(NamedTuple):
    """A text of two halves, of which a word is missing. Places are in `text`, in characters."""

    parts: Tuple[str, str]
    start: int  # of the word
    end: int
    places: List[Tuple[int, int]]  # where each token starts and ends; the same: no text
    masked: List[int]  # the tokens of the word
    rows: List[inference.Row]  # with the gap, without it, and with the halves swapped

    @property
    def text(self) -> str:
        """Both halves."""
        return " ".join(self.parts)

    @property
    def word(self) -> str:
        """The word as a model without capital letters has it."""
        return self.text[self.start : self.end].lower()


class Reader(inference.MaskFiller):
    """Both pretraining heads of a checkpoint, and the attention of its layers."""

    def _build(self, inputs: inference.Tensors) -> inference.Tensors:
        config, positions = self.source.config, inputs[inference.POSITIONS]
        outputs = inference.pretraining_outputs(config, inputs, with_attention=True)
        layers = tf.transpose(outputs["attention_probs"], [0, 3, 1, 2, 4])  # [B, S, L, N, S]
        shares = tf.nn.softmax(outputs["mlm_logits"])  # [B * P, V]
        return {
            # Of each token in place of the masked ones: [B, P, V].
            "shares": tf.reshape(shares, [-1, tf.shape(positions)[1], config.vocab_size]),
            # That the texts are in order: [B].
            "order": tf.exp(outputs["sop_log_probs"])[:, 0],
            # Where the first masked token looks: [B, L, N, S].
            "looks": tf.gather(layers, positions[:, :1], batch_dims=1)[:, 0],
        }

    def question(self, parts: Tuple[str, str], find: Finder) -> Optional[Question]:
        """Returns the question of two texts, or None if they are too long or have no short word.

        The texts' checksum chooses the word, or the next of few tokens.
        """
        first, second = map(self.source.tokenizer.encode_with_offsets, parts)
        places = [(0, 0), *zip(first.starts, first.ends), (0, 0)]
        shift = len(parts[0]) + 1
        places += [(shift + a, shift + b) for a, b in zip(second.starts, second.ends)]
        places += [(0, 0)]
        if len(places) > self.source.max_seq_length:
            return None
        text = " ".join(parts)
        spans = list(find(text))
        chosen = zlib.crc32(text.encode()) % max(1, len(spans))
        for start, end in spans[chosen:] + spans[:chosen]:
            masked = [n for n, (a, b) in enumerate(places) if start <= a < b <= end]
            if 1 <= len(masked) <= _MOST_TOKENS:
                whole = self._row([first.ids, second.ids])
                ids = [self._mask if n in masked else i for n, i in enumerate(whole["input_ids"])]
                gap = {**whole, "input_ids": ids, inference.POSITIONS: masked}
                rows = [gap, whole, self._row([second.ids, first.ids])]
                return Question(parts, start, end, places, masked, rows)
        return None

    def ask(self, questions: Sequence[Question]) -> Dict[str, np.ndarray]:
        """Returns what `_build` gives for all first rows, then the second, then the third ones."""
        return self._run([question.rows[n] for n in range(3) for question in questions])

    def ids(self, word: str) -> List[int]:
        """Returns the tokens that are masked for a word: not the one that is only its space."""
        return self._ids_after_mask(word)
