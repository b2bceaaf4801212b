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
from albert.data.packing import POSITIONS
from albert.formats.warm_start import Tensors
from albert.models import inference, pretrained
from albert.training import evaluation

_GUESSES = 5
_MOST_QUESTIONS = 400
_MOST_TOKENS = 4  # of a missing word
_COUNTED_DOCUMENTS = 3000  # training documents in which words are counted
# The report shows neighbours of words at these ranks of the words by frequency.
_FIRST_RANK, _RANKS_APART, _LAST_RANK, _NEIGHBOURS = 50, 18, 230, 4
_EMBEDDINGS = "bert/embeddings/word_embeddings"

Ranking = Dict[str, float]  # words with probabilities or cosines, the highest first


class Question(NamedTuple):
    """A text of two halves that lacks a word. Positions are characters of `text`."""

    parts: Tuple[str, str]
    text: str  # both halves
    word: str  # in lower case
    start: int  # of the word
    end: int
    spans: List[Tuple[int, int]]  # start and end of each token; equal for [CLS] and [SEP]
    masked: List[int]  # the word's tokens
    rows: List[pretrained.MaskedText]  # with the gap, without it, and with the halves swapped

    @property
    def with_gap(self) -> str:
        """The text with [MASK], for `fill_mask`."""
        return self.text[: self.start] + "[MASK]" * len(self.masked) + self.text[self.end :]


class Score(NamedTuple):
    """The scores at a step, or of the baseline."""

    step: int
    first: float  # share of the gaps where the best guess is the missing word
    five: float  # share of the gaps where one of five guesses is the missing word
    order: float  # share of the pairs of texts whose order the model recognises
    loss: float
    similarity: float = 0.0  # mean cosine of neighbours


class Findings(NamedTuple):
    """The content of the report, with Q questions. The first are the examples."""

    scores: List[Score]  # the untrained model's first
    baseline: Score  # guesses the most frequent words and a random order
    questions: List[Question]
    guesses: List[Ranking]
    orders: np.ndarray  # [2, Q]: probability of "in order", for the halves in order and swapped
    neighbours: Dict[str, Ranking]
    attention: Dict[str, Any]

    @property
    def verdict(self) -> str:
        """Says whether both scores are above the baseline, by two standard errors or more."""
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


class ProbeTask(pretrained.MaskTask):
    """Answers questions with both pretraining heads, and with the attention of the layers."""

    def build(self, features: Tensors, **options: Any) -> Tensors:
        """Builds the heads and the attention."""
        config, positions = self.config, features[POSITIONS]
        outputs = pretrained.pretraining_outputs(config, features, with_attention=True)
        layers = tf.transpose(outputs["attention_probs"], [0, 3, 1, 2, 4])  # [B, S, L, N, S]
        words = tf.nn.softmax(outputs["mlm_logits"])  # [B * P, V]
        return {
            # Probability of each token at the masked positions: [B, P, V].
            "probabilities": tf.reshape(words, [-1, tf.shape(positions)[1], config.vocab_size]),
            # Probability that the texts are in order: [B].
            "order": tf.exp(outputs["sop_log_probs"])[:, 0],
            # Attention of the first masked token: [B, L, N, S].
            "attention": tf.gather(layers, positions[:, :1], batch_dims=1)[:, 0],
        }

    def _question(self, parts: Tuple[str, str], find: Finder) -> Optional[Question]:
        """Returns the question of two texts, or None if they are too long or have no short word.

        The texts' checksum chooses the word. If it has too many tokens, the next word is missing.
        """
        text = " ".join(parts)
        _, ids, starts, ends = self.tokenizer.encode_with_offsets(text)
        half = bisect.bisect(starts, len(parts[0]))
        first, second, spans = ids[:half], ids[half:], list(zip(starts, ends))
        spans_of_tokens = [(0, 0), *spans[:half], (0, 0), *spans[half:], (0, 0)]
        gaps = find(text) if len(spans_of_tokens) <= self.model.max_seq_length else []
        first_gap = zlib.crc32(text.encode()) % max(1, len(gaps))
        for start, end in gaps[first_gap:] + gaps[:first_gap]:
            masked = [n for n, (a, b) in enumerate(spans_of_tokens) if start <= a < b <= end]
            if 1 <= len(masked) <= _MOST_TOKENS:
                tokens = [0, *first, 0, *second]
                ids = [self.mask if n in masked else i for n, i in enumerate(tokens)]
                rows = [
                    pretrained.MaskedText([ids[1 : half + 1], ids[half + 2 :]], masked),
                    pretrained.MaskedText([first, second]),
                    pretrained.MaskedText([second, first]),
                ]
                word = text[start:end].lower()
                return Question(parts, text, word, start, end, spans_of_tokens, masked, rows)
        return None

    def examine(
        self, path: pathlib.Path, corpus: Corpus, names: Optional[pathlib.Path]
    ) -> Findings:
        """Collects a run's evaluations, and asks its checkpoints the questions.

        Args:
          path: the run's folder.
          corpus: its documents.
          names: the file of names of a Chinese corpus.
        """
        output_dir, find = str(path / "model"), word_finder(names)
        losses = {row.step: row.metrics["loss"] for row in evaluation.read_results(output_dir)}
        questions = list(self._questions(corpus, "" if names else " ", find))
        # First all rows with a gap, then all rows without, then all swapped rows.
        rows = [row for kind in zip(*(question.rows for question in questions)) for row in kind]
        lines = (line for text in corpus.training[:_COUNTED_DOCUMENTS] for line in text.sentences)
        frequent = by_frequency(line[a:b].lower() for line in lines for a, b in find(line))
        ids = {word: self.ids_after_mask(word) for word in frequent}
        by_length = [{w: t for w, t in ids.items() if len(t) == n} for n in range(_MOST_TOKENS + 1)]
        candidates = [by_length[len(question.masked)] for question in questions]
        scores, model = [], inference.InferenceModel(self)
        for step, checkpoint in evaluation.list_checkpoints(output_dir):
            model.load(checkpoint)
            answers = model.outputs(rows)
            guesses = list(map(_guess, answers["probabilities"], candidates))
            orders = answers["order"].reshape(3, -1)[1:]
            neighbours = _neighbours(ids, tf.train.load_variable(checkpoint, _EMBEDDINGS))
            cosines = [list(near.values()) for near in neighbours.values()]
            order_accuracy = float(np.mean([orders[0] > 0.5, orders[1] <= 0.5]))
            first, five = _accuracies(questions, guesses)
            scores.append(
                Score(step, first, five, order_accuracy, losses[step], float(np.mean(cosines)))
            )
        loss = loss_baseline(str(path / "held_out.tf_record"))
        first, five = _accuracies(questions, [list(words)[:_GUESSES] for words in candidates])
        return Findings(
            scores,
            Score(0, first, five, 0.5, loss),
            questions=questions,
            guesses=guesses,
            orders=orders,
            neighbours=neighbours,
            attention=_attention(questions, answers["attention"][: len(questions)]),
        )

    def _questions(self, corpus: Corpus, separator: str, find: Finder) -> Iterator[Question]:
        """Yields a question for each held-out document, first for one document of each kind."""
        numbers: Dict[str, Iterator[int]] = collections.defaultdict(itertools.count)
        ranked = sorted(corpus.held_out, key=lambda text: next(numbers[text.key.split(":")[0]]))
        for _, sentences in ranked[:_MOST_QUESTIONS]:
            for count in range(len(sentences), 1, -1):  # as many as fit
                half = count // 2
                halves = sentences[:half], sentences[half:count]
                parts = separator.join(halves[0]), separator.join(halves[1])
                question = self._question(parts, find)
                if question:
                    yield question
                    break


def _best(words: Sequence[str], values: np.ndarray, count: int) -> Ranking:
    """Returns the words with the highest values."""
    return {words[n]: float(values[n]) for n in np.argsort(-values, kind="stable")[:count]}


def _guess(probabilities: np.ndarray, candidates: Dict[str, List[int]]) -> Ranking:
    """Returns the most probable candidates, words with as many tokens as the missing word.

    A word's probability is the product of its tokens' probabilities, normalized over the words.
    """
    words, ids = list(candidates), np.array(list(candidates.values()))  # [n, tokens]
    chances = np.prod(probabilities[np.arange(ids.shape[1]), ids], axis=1)
    chances /= chances.sum()
    return _best(words, chances, _GUESSES)


def _accuracies(questions: Sequence[Question], guesses: Sequence[Iterable[str]]) -> Any:
    """Returns the shares of gaps where the first guess is right, and where any guess is."""
    hits = [
        [guess == question.word for guess in best] for question, best in zip(questions, guesses)
    ]
    return np.mean([[hit[0], any(hit)] for hit in hits], axis=0)


def loss_baseline(record_file: str) -> float:
    """Returns the loss of a model that knows only token frequencies, and no order (ln 2)."""
    labels: List[int] = []
    for record in record_files.records(record_file):
        features = tf.train.Example.FromString(record).features.feature
        count = sum(features["masked_lm_weights"].float_list.value)
        labels += features["masked_lm_ids"].int64_list.value[: int(count)]  # the others are padding
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return float(np.log(2) - shares @ np.log(shares))


def _neighbours(ids: Dict[str, List[int]], table: np.ndarray) -> Dict[str, Ranking]:
    """Returns the nearest words of words at fixed ranks; `table` has the embeddings [V, E]."""
    words: List[str] = []
    used: Set[int] = set()
    for word in list(ids)[: 2 * _LAST_RANK]:
        if used.isdisjoint(ids[word]):  # No more frequent word has these tokens.
            used.update(ids[word])
            words.append(word)
    vectors = np.array([table[ids[word]].mean(axis=0) for word in words])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors @ vectors.T  # [n, n]
    np.fill_diagonal(cosines, -1)  # A word is not its own neighbour.
    ranks = range(len(words))[_FIRST_RANK:_LAST_RANK:_RANKS_APART]
    return {words[rank]: _best(words, cosines[rank], _NEIGHBOURS) for rank in ranks}


def _attention(questions: Sequence[Question], attention: np.ndarray) -> Dict[str, Any]:
    """Finds the head with the most attention [Q, L, N, S] to a single token of another word."""
    others = attention.copy()
    for question, weights in zip(questions, others):
        special = [n for n, (start, end) in enumerate(question.spans) if start == end]
        weights[:, :, special + question.masked[:1]] = 0
    means = others.max(axis=3).mean(axis=0)  # [L, N]
    layer, head = np.unravel_index(np.argmax(means), means.shape)
    gaps = np.array([question.masked[0] for question in questions])
    return {
        "layer": layer + 1,
        "head": head + 1,
        "share": means[layer, head],  # mean attention to that token
        "even": np.mean([1 / len(question.spans) for question in questions]),  # if evenly spread
        "near": np.mean(abs(others[:, layer, head].argmax(axis=1) - gaps) <= 2),  # tokens away
        "looks": attention[:, layer, head],  # [Q, S]
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
    """Returns the lines for the terminal."""
    scores, verdict, count = findings.scores, findings.verdict, len(findings.questions)
    return _SUMMARY.format(scores[0], findings.baseline, scores[-1], verdict, count)
