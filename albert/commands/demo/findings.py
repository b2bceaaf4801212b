# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Measures what the demo's model has learned, on documents that it did not train on.

For each document, the model guesses a missing word, and whether the two halves are in order. The
report shows the first documents, and the scores over all of them. A fixed rule chooses documents
and words.

Dimensions: B batch, P masked positions, L layers, N heads, S sequence, Q questions, V vocabulary, E
embedding.
"""

import bisect
import collections
import itertools
import math
import pathlib
import zlib
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.commands.demo.corpus import Corpus, Finder, by_frequency, word_finder
from albert.data import record_files
from albert.data.packing import POSITIONS, pack
from albert.formats.warm_start import Tensors
from albert.models import encoder, inference
from albert.training import evaluation

_GUESSES = 5
_MOST_QUESTIONS = 400
_MOST_TOKENS = 4  # of a missing word
_COUNTED_DOCUMENTS = 3000  # of training, for how frequent words are
# Words whose neighbours are shown: each so many-th of those from a place in the order of frequency.
_FIRST_RANK, _RANKS_APART, _LAST_RANK, _NEIGHBOURS = 50, 18, 230, 4
_EMBEDDINGS = "bert/embeddings/word_embeddings"

Shares = Dict[str, float]  # words with probabilities or cosines, the highest first


class Question(NamedTuple):
    """A text of two halves, of which a word is missing. Places are in `text`, in characters."""

    parts: Tuple[str, str]
    text: str  # both halves
    word: str  # as a model without capital letters has it
    start: int  # of the word
    end: int
    places: List[Tuple[int, int]]  # where each token starts and ends; the same: no text
    masked: List[int]  # the tokens of the word
    rows: List[encoder.Row]  # with the gap, without it, and with the halves swapped

    @property
    def with_gap(self) -> str:
        """The text as `fill_mask` takes it."""
        return self.text[: self.start] + "[MASK]" * len(self.masked) + self.text[self.end :]


class Score(NamedTuple):
    """The scores at a step, or of the baseline."""

    step: int
    first: float  # share of the gaps where the best guess is the missing word
    five: float  # where one of five guesses is
    order: float  # share of the pairs of texts whose order is told
    loss: float
    similarity: float = 0.0  # mean cosine of neighbours


class Findings(NamedTuple):
    """Everything that is reported; Q questions, the examples first."""

    scores: List[Score]  # that of the untrained model first
    baseline: Score  # of the most frequent words, of guessing the order, of how frequent tokens are
    questions: List[Question]
    guesses: List[Shares]
    orders: np.ndarray  # [2, Q]: probability that halves are in order, as they are and swapped
    neighbours: Dict[str, Shares]
    attention: Dict[str, Any]

    @property
    def verdict(self) -> str:
        """Whether both shares are above the baseline, by two standard errors or more."""
        margin, trained = 1 / math.sqrt(len(self.questions)), self.scores[-1]
        failed = []
        if trained.five < self.baseline.five + margin:
            failed.append("to fill gaps")
        if trained.order < self.baseline.order + margin:
            failed.append("to recognise the order of two texts")
        if not failed:
            return "Both results are clearly better than the baseline."
        return (
            f"The model has not learned {' or '.join(failed)} in {trained.step:,} steps. "
            "Try more steps. The default (3,000) takes a few minutes."
        )


class Reader(encoder.MaskTask):
    """Both pretraining heads of a checkpoint, and the attention of its layers."""

    def build(self, features: Tensors, **options: Any) -> Tensors:
        """Builds all of this."""
        config, positions = self.config, features[POSITIONS]
        outputs = encoder.pretraining_outputs(config, features, with_attention=True)
        layers = tf.transpose(outputs["attention_probs"], [0, 3, 1, 2, 4])  # [B, S, L, N, S]
        shares = tf.nn.softmax(outputs["mlm_logits"])  # [B * P, V]
        return {
            # Probability of each token in place of the masked ones: [B, P, V].
            "shares": tf.reshape(shares, [-1, tf.shape(positions)[1], config.vocab_size]),
            # Probability that the texts are in order: [B].
            "order": tf.exp(outputs["sop_log_probs"])[:, 0],
            # Where the first masked token looks: [B, L, N, S].
            "looks": tf.gather(layers, positions[:, :1], batch_dims=1)[:, 0],
        }

    def _question(self, parts: Tuple[str, str], find: Finder) -> Optional[Question]:
        """Returns the question of two texts, or None if they are too long or have no short word.

        The texts' checksum chooses the word, or the next of few tokens.
        """
        text = " ".join(parts)
        _, ids, starts, ends = self.tokenizer.encode_with_offsets(text)
        half = bisect.bisect(starts, len(parts[0]))
        first, second, spans = ids[:half], ids[half:], list(zip(starts, ends))
        spans_of_tokens = [(0, 0), *spans[:half], (0, 0), *spans[half:], (0, 0)]
        gaps = find(text) if len(spans_of_tokens) <= self.source.max_seq_length else []
        chosen = zlib.crc32(text.encode()) % max(1, len(gaps))
        for start, end in gaps[chosen:] + gaps[:chosen]:
            masked = [n for n, (a, b) in enumerate(spans_of_tokens) if start <= a < b <= end]
            if 1 <= len(masked) <= _MOST_TOKENS:
                whole = pack([first, second], self.ends)
                ids = [self.mask if n in masked else i for n, i in enumerate(whole["input_ids"])]
                gap = {**whole, "input_ids": ids, POSITIONS: masked}
                rows = [gap, whole, pack([second, first], self.ends)]
                word = text[start:end].lower()
                return Question(parts, text, word, start, end, spans_of_tokens, masked, rows)
        return None

    def examine(
        self, path: pathlib.Path, corpus: Corpus, names: Optional[pathlib.Path]
    ) -> Findings:
        """Collects a run's evaluations and asks its checkpoints.

        Args:
          path: the run's folder.
          corpus: what it trained on.
          names: file of names in a Chinese corpus.
        """
        output_dir, find = str(path / "model"), word_finder(names)
        losses = {row.step: row.metrics["loss"] for row in evaluation.read_results(output_dir)}
        questions = list(self._questions(corpus, "" if names else " ", find))
        # First all that have a gap, then all that have none, then the swapped ones.
        rows = [row for kind in zip(*(question.rows for question in questions)) for row in kind]
        lines = (line for text in corpus.training[:_COUNTED_DOCUMENTS] for line in text.sentences)
        frequent = by_frequency(line[a:b].lower() for line in lines for a, b in find(line))
        ids = {word: self.ids_after_mask(word) for word in frequent}
        by_length = [{w: t for w, t in ids.items() if len(t) == n} for n in range(_MOST_TOKENS + 1)]
        candidates = [by_length[len(question.masked)] for question in questions]
        scores, model = [], inference.Model(self)
        for step, checkpoint in evaluation.list_checkpoints(output_dir):
            model.load(checkpoint)
            answers = model.outputs(rows)
            guesses = list(map(_guess, answers["shares"], candidates))
            orders = answers["order"].reshape(3, -1)[1:]
            neighbours = _neighbours(ids, tf.train.load_variable(checkpoint, _EMBEDDINGS))
            cosines = [list(near.values()) for near in neighbours.values()]
            order_accuracy = float(np.mean([orders[0] > 0.5, orders[1] <= 0.5]))
            first, five = _shares_right(questions, guesses)
            scores.append(
                Score(step, first, five, order_accuracy, losses[step], float(np.mean(cosines)))
            )
        loss = loss_baseline(str(path / "held_out.tf_record"))
        first, five = _shares_right(questions, [list(words)[:_GUESSES] for words in candidates])
        return Findings(
            scores,
            Score(0, first, five, 0.5, loss),
            questions=questions,
            guesses=guesses,
            orders=orders,
            neighbours=neighbours,
            attention=_attention(questions, answers["looks"][: len(questions)]),
        )

    def _questions(self, corpus: Corpus, joint: str, find: Finder) -> Iterator[Question]:
        """Those of the held-out documents' halves; first of one document of each kind."""
        numbers: Dict[str, Iterator[int]] = collections.defaultdict(itertools.count)
        ranked = sorted(corpus.held_out, key=lambda text: next(numbers[text.key.split(":")[0]]))
        for _, sentences in ranked[:_MOST_QUESTIONS]:
            for count in range(len(sentences), 1, -1):  # as many as fit
                half = count // 2
                parts = joint.join(sentences[:half]), joint.join(sentences[half:count])
                question = self._question(parts, find)
                if question:
                    yield question
                    break


def _best(words: Sequence[str], values: np.ndarray, count: int) -> Shares:
    """The words with the highest values."""
    return {words[n]: float(values[n]) for n in np.argsort(-values, kind="stable")[:count]}


def _guess(shares: np.ndarray, candidates: Dict[str, List[int]]) -> Shares:
    """The best words with as many tokens as are masked.

    A word is as probable as its tokens, each for itself, in proportion to the other words.
    """
    words, ids = list(candidates), np.array(list(candidates.values()))  # [n, tokens]
    chances = np.prod(shares[np.arange(ids.shape[1]), ids], axis=1)
    chances /= chances.sum()
    return _best(words, chances, _GUESSES)


def _shares_right(questions: Sequence[Question], guesses: Sequence[Iterable[str]]) -> Any:
    """The shares of the gaps where the first guess is right, and where any one is."""
    hits = [
        [guess == question.word for guess in best] for question, best in zip(questions, guesses)
    ]
    return np.mean([[hit[0], any(hit)] for hit in hits], axis=0)


def loss_baseline(record_file: str) -> float:
    """Returns the loss of knowing how frequent each token to predict is, and no order (ln 2)."""
    labels: List[int] = []
    for record in record_files.records(record_file):
        features = tf.train.Example.FromString(record).features.feature
        count = sum(features["masked_lm_weights"].float_list.value)
        labels += features["masked_lm_ids"].int64_list.value[: int(count)]  # the rest is padding
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return float(np.log(2) - shares @ np.log(shares))


def _neighbours(ids: Dict[str, List[int]], table: np.ndarray) -> Dict[str, Shares]:
    """The words nearest to some, which are chosen by how frequent they are; `table` is [V, E]."""
    words: List[str] = []
    used: Set[int] = set()
    for word in list(ids)[: 2 * _LAST_RANK]:
        if used.isdisjoint(ids[word]):  # no more frequent word has its tokens
            used.update(ids[word])
            words.append(word)
    vectors = np.array([table[ids[word]].mean(axis=0) for word in words])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors @ vectors.T  # [n, n]
    np.fill_diagonal(cosines, -1)  # no word is its own neighbour
    ranks = range(len(words))[_FIRST_RANK:_LAST_RANK:_RANKS_APART]
    return {words[rank]: _best(words, cosines[rank], _NEIGHBOURS) for rank in ranks}


def _attention(questions: Sequence[Question], looks: np.ndarray) -> Dict[str, Any]:
    """The head that looks most at a single token of another word; `looks` is [Q, L, N, S]."""
    others = looks.copy()
    for question, weights in zip(questions, others):
        special = [n for n, (start, end) in enumerate(question.places) if start == end]
        weights[:, :, special + question.masked[:1]] = 0
    means = others.max(axis=3).mean(axis=0)  # [L, N]
    layer, head = np.unravel_index(np.argmax(means), means.shape)
    gaps = np.array([question.masked[0] for question in questions])
    return {
        "layer": layer + 1,
        "head": head + 1,
        "share": means[layer, head],  # of its attention that goes to that token, the mean
        "even": np.mean([1 / len(question.places) for question in questions]),  # if all get alike
        "near": np.mean(abs(others[:, layer, head].argmax(axis=1) - gaps) <= 2),  # tokens away
        "looks": looks[:, layer, head],  # [Q, S]
    }


_SUMMARY = """\
  Held-out documents: {4:<10}untrained         baseline  trained
  right word: the first guess  {0.first:>9.1%} {1.first:>16.1%} {2.first:>8.1%}
  right word: among five       {0.five:>9.1%} {1.five:>16.1%} {2.five:>8.1%}
  order of two texts           {0.order:>9.1%} {1.order:>16.1%} {2.order:>8.1%}
  loss                         {0.loss:>9.3f} {1.loss:>16.3f} {2.loss:>8.3f}

  Baseline: guesses the most frequent words and a random order, without reading the text.
  {3}"""


def summary(findings: Findings) -> str:
    """Returns what the terminal shows."""
    scores, verdict, count = findings.scores, findings.verdict, len(findings.questions)
    return _SUMMARY.format(scores[0], findings.baseline, scores[-1], verdict, count)
