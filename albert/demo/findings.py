# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the demo's model has learnt, measured on documents that it did not train on.

Each document is asked two things: a word of it that is missing, and whether its two halves are in
order. Shown are the first of these questions, and what was measured over all of them.
"""

import collections
import itertools
import math
import pathlib
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Sequence, Set

import numpy as np
import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.demo.corpus import Corpus, by_frequency
from albert.demo.questions import Finder, Question, Reader
from albert.pretrained import inference
from albert.training import evaluation

_GUESSES = 5
_MOST_QUESTIONS = 400
_COUNTED_DOCUMENTS = 3000  # of training, for how frequent words are
# Words whose neighbours are shown: each so many-th of those from a place in the order of frequency.
_FIRST_RANK, _RANKS_APART, _LAST_RANK, _NEIGHBOURS = 50, 18, 230, 4
_EMBEDDINGS = "bert/embeddings/word_embeddings"

Shares = Dict[str, float]  # words with probabilities or cosines, the highest first


class Score(NamedTuple):
    """Shares of right answers, and the loss."""

    first: float  # the best guess is the missing word
    five: float  # one of five guesses is
    order: float  # the order of two texts is told
    loss: float


class Findings(NamedTuple):
    """Everything that is reported; Q questions, the examples first."""

    scores: Dict[int, Score]  # by step, that of the untrained model first
    baseline: Score  # of the most frequent words, of guessing the order, of how frequent tokens are
    questions: List[Question]
    guesses: List[Shares]
    orders: np.ndarray  # [2, Q]: probability that halves are in order, as they are and swapped
    neighbours: Dict[str, Shares]
    similarity: List[Any]  # mean cosine of neighbours, untrained and trained
    attention: Dict[str, Any]

    @property
    def asked(self) -> int:
        """The number of questions."""
        return len(self.questions)

    @property
    def untrained(self) -> Score:
        """Before the first step."""
        return self.scores[min(self.scores)]

    @property
    def trained(self) -> Score:
        """After the last step."""
        return self.scores[max(self.scores)]

    @property
    def verdict(self) -> str:
        """Whether both shares are above the baseline, by two standard errors or more."""
        margin = 1 / math.sqrt(self.asked)
        failed = []
        if self.trained.five < self.baseline.five + margin:
            failed.append("to fill gaps")
        if self.trained.order < self.baseline.order + margin:
            failed.append("to tell the order of two texts")
        if not failed:
            return "Both are better than without reading, by more than chance."
        return (
            f"So it has not learnt {', nor '.join(failed)}. It trained for {max(self.scores):,} "
            "steps. More of them is what to try first: the demo's default takes a few minutes."
        )


def examine(
    path: pathlib.Path, source: inference.Source, corpus: Corpus, *, joint: str, find: Finder
) -> Findings:
    """Collects a run's evaluations and asks its checkpoints.

    Args:
      path: the run's folder.
      source: its model and vocabulary.
      corpus: what it trained on.
      joint: stands between two sentences.
      find: finds words.
    """
    output_dir = str(path / "model")
    losses = {row.step: row.metrics["loss"] for row in evaluation.read_results(output_dir)}
    checkpoints = evaluation.list_checkpoints(output_dir)
    scores, similarity = {}, []
    with Reader(source._replace(checkpoint=checkpoints[0][1])) as reader:
        asked = _questions(reader, corpus, joint, find=find)
        ids = {word: reader.ids(word) for word in frequent_words(corpus, find)}
        known = [[word for word in ids if len(ids[word]) == len(q.masked)] for q in asked]
        for step, checkpoint in checkpoints:
            reader.network.load(checkpoint)
            answers = reader.ask(asked)
            guesses = [
                _guess(shares, {word: ids[word] for word in words})
                for words, shares in zip(known, answers["shares"])
            ]
            orders = answers["order"].reshape(3, -1)[1:]
            told = np.mean([orders[0] > 0.5, orders[1] <= 0.5])
            scores[step] = _score(asked, guesses, order=told, loss=losses[step])
            neighbours = _neighbours(ids, tf.train.load_variable(checkpoint, _EMBEDDINGS))
            similarity.append(np.mean([list(near.values()) for near in neighbours.values()]))
    loss = loss_baseline(str(path / "held_out.tf_record"))
    return Findings(
        scores,
        _score(asked, [words[:_GUESSES] for words in known], order=0.5, loss=loss),
        questions=asked,
        guesses=guesses,
        orders=orders,
        neighbours=neighbours,
        similarity=[similarity[0], similarity[-1]],
        attention=_attention(asked, answers["looks"][: len(asked)]),
    )


def _questions(reader: Reader, corpus: Corpus, joint: str, *, find: Finder) -> List[Question]:
    """Those of the held-out documents' halves; first of one document of each kind."""
    numbers: Dict[str, Iterator[int]] = collections.defaultdict(itertools.count)
    ranked = sorted(corpus.held_out, key=lambda text: next(numbers[text.key.split(":")[0]]))
    found = []
    for sentences in (document.sentences for document in ranked[:_MOST_QUESTIONS]):
        for count in range(len(sentences), 1, -1):  # as many as fit
            half = count // 2
            parts = joint.join(sentences[:half]), joint.join(sentences[half:count])
            question = reader.question(parts, find)
            if question:
                found.append(question)
                break
    return found


def _best(words: Sequence[str], values: np.ndarray, count: int) -> Shares:
    """The words with the highest values."""
    return {words[n]: float(values[n]) for n in np.argsort(-values, kind="stable")[:count]}


def _guess(shares: np.ndarray, known: Dict[str, List[int]]) -> Shares:
    """The best words with as many tokens as are masked.

    A word is as probable as its tokens, each for itself, in proportion to the other words.
    """
    words, ids = list(known), np.array(list(known.values()))  # [n, tokens]
    chances = np.prod(shares[np.arange(ids.shape[1]), ids], axis=1)
    chances /= chances.sum()
    return _best(words, chances, _GUESSES)


def _score(asked: Sequence[Question], guesses: Sequence[Iterable[str]], **others: float) -> Score:
    pairs = [(question.word, list(best)) for question, best in zip(asked, guesses)]
    first = sum([word] == best[:1] for word, best in pairs)
    five = sum(word in best for word, best in pairs)
    return Score(first / len(pairs), five / len(pairs), **others)


def frequent_words(corpus: Corpus, find: Finder) -> List[str]:
    """Returns the words of some training documents, the most frequent first."""
    lines = (line for text in corpus.training[:_COUNTED_DOCUMENTS] for line in text.sentences)
    return by_frequency(line[start:end].lower() for line in lines for start, end in find(line))


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


def _attention(asked: Sequence[Question], looks: np.ndarray) -> Dict[str, Any]:
    """The head that looks most at a single token of another word; `looks` is [Q, L, N, S]."""
    others = looks.copy()
    for question, weights in zip(asked, others):
        special = [n for n, (start, end) in enumerate(question.places) if start == end]
        weights[:, :, special + question.masked[:1]] = 0
    means = others.max(axis=3).mean(axis=0)  # [L, N]
    layer, head = np.unravel_index(np.argmax(means), means.shape)
    gaps = np.array([question.masked[0] for question in asked])
    return {
        "layer": layer + 1,
        "head": head + 1,
        "share": means[layer, head],  # of its attention that goes to that token, the mean
        "even": np.mean([1 / len(question.places) for question in asked]),  # if all get alike
        "near": np.mean(abs(others[:, layer, head].argmax(axis=1) - gaps) <= 2),  # tokens away
        "looks": looks[:, layer, head],  # [Q, S]
    }


_SUMMARY = """\
  Held-out documents: {3.asked:<10}untrained  without reading  trained
  right word: the first guess  {0.first:>9.1%} {1.first:>16.1%} {2.first:>8.1%}
  right word: among five       {0.five:>9.1%} {1.five:>16.1%} {2.five:>8.1%}
  order of two texts           {0.order:>9.1%} {1.order:>16.1%} {2.order:>8.1%}
  loss                         {0.loss:>9.3f} {1.loss:>16.3f} {2.loss:>8.3f}

  Without reading: the most frequent words, a coin, and how frequent each token is.
  {3.verdict}"""


def summary(findings: Findings) -> str:
    """Returns what the terminal shows."""
    return _SUMMARY.format(findings.untrained, findings.baseline, findings.trained, findings)
