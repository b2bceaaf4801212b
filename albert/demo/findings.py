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
from collections import Counter
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.data import batches
from albert.demo.corpus import Corpus
from albert.demo.questions import Finder, Question, Reader
from albert.pretrained import inference
from albert.training import evaluation

_GUESSES = 5
_MOST_QUESTIONS = 400
_COUNTED_DOCUMENTS = 3000  # of training, for how frequent words are
# Words whose neighbours are shown: each so many-th of those from a place in the order of frequency.
_FIRST_RANK, _RANKS_APART, _LAST_RANK, _NEIGHBOURS = 50, 18, 230, 4
_EMBEDDINGS = "bert/embeddings/word_embeddings"

Shares = List[Tuple[str, float]]  # words with probabilities or cosines
Known = Dict[int, Dict[str, List[int]]]  # words by their number of tokens, frequent ones first


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
    neighbours: List[Tuple[str, Shares]]
    similarity: List[Any]  # mean cosine of neighbours, untrained and trained
    attention: Dict[str, Any]

    @property
    def untrained(self) -> Score:
        """Before the first step."""
        return self.scores[min(self.scores)]

    @property
    def trained(self) -> Score:
        """After the last step."""
        return self.scores[max(self.scores)]

    def verdict(self) -> str:
        """Returns whether both shares are above the baseline, by two standard errors or more."""
        margin = 1 / math.sqrt(len(self.questions))
        tasks = {"five": "to fill gaps", "order": "to tell the order of two texts"}
        failed = [
            task
            for name, task in tasks.items()
            if getattr(self.trained, name) < getattr(self.baseline, name) + margin
        ]
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
    losses = {row.step: row.metrics["loss"] for row in evaluation.read_results(str(path / "model"))}
    frequent = frequent_words(corpus, find)
    scores, similarity = {}, []
    for step, checkpoint in evaluation.list_checkpoints(str(path / "model")):
        with Reader(source._replace(checkpoint=checkpoint)) as reader:
            asked = _questions(reader, corpus, joint, find=find)
            answers = reader.ask(asked)
            known: Known = collections.defaultdict(dict)
            for word in frequent:
                known[len(reader.ids(word))][word] = reader.ids(word)
            neighbours = _neighbours(reader, frequent)
        orders = answers["order"].reshape(3, -1)[1:]
        guesses = [
            _guess(shares, known[len(question.masked)])
            for question, shares in zip(asked, answers["shares"])
        ]
        told = np.mean([orders[0] > 0.5, orders[1] <= 0.5])
        scores[step] = _score(asked, guesses, order=told, loss=losses[step])
        similarity.append(np.mean([cosine for _, near in neighbours for _, cosine in near]))
    usual = [[(word, 0.0) for word in known[len(q.masked)]][:_GUESSES] for q in asked]
    loss = loss_baseline(str(path / "held_out.tf_record"))
    return Findings(
        scores,
        _score(asked, usual, order=0.5, loss=loss),
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


def _guess(shares: np.ndarray, known: Dict[str, List[int]]) -> Shares:
    """The best words with as many tokens as are masked.

    A word is as probable as its tokens, each for itself, in proportion to the other words.
    """
    words, ids = list(known), np.array(list(known.values()))  # [n, tokens]
    chances = np.prod(shares[np.arange(ids.shape[1]), ids], axis=1)
    chances /= chances.sum()
    best = np.argsort(-chances, kind="stable")[:_GUESSES]
    return [(words[n], float(chances[n])) for n in best]


def _score(asked: Sequence[Question], guesses: List[Shares], **others: float) -> Score:
    pairs = [(question.word, list(dict(best))) for question, best in zip(asked, guesses)]
    first, five = zip(*(([word] == best[:1], word in best) for word, best in pairs))
    return Score(first.count(True) / len(pairs), five.count(True) / len(pairs), **others)


def frequent_words(corpus: Corpus, find: Finder) -> List[str]:
    """Returns the words of some training documents, the most frequent first."""
    lines = (line for text in corpus.training[:_COUNTED_DOCUMENTS] for line in text.sentences)
    counts = Counter(line[start:end].lower() for line in lines for start, end in find(line))
    return sorted(counts, key=lambda word: (-counts[word], word))


def loss_baseline(record_file: str) -> float:
    """Returns the loss of knowing how frequent each token to predict is, and no order (ln 2)."""
    labels: List[int] = []
    for record in batches.records(record_file):
        features = tf.train.Example.FromString(record).features.feature
        count = sum(features["masked_lm_weights"].float_list.value)
        labels += features["masked_lm_ids"].int64_list.value[: int(count)]  # the rest is padding
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return float(np.log(2) - shares @ np.log(shares))


def _neighbours(reader: Reader, frequent: Sequence[str]) -> List[Tuple[str, Shares]]:
    """The nearest words of some, chosen by how frequent they are."""
    words: List[str] = []
    used: List[int] = []
    for word in frequent[: 2 * _LAST_RANK]:
        if not set(used) & set(reader.ids(word)):  # no more frequent word has its tokens
            used += reader.ids(word)
            words.append(word)
    table = tf.train.load_variable(reader.source.checkpoint, _EMBEDDINGS)
    vectors = np.array([table[reader.ids(word)].mean(axis=0) for word in words])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors @ vectors.T  # [n, n]
    found = []
    for place in range(len(words))[_FIRST_RANK:_LAST_RANK:_RANKS_APART]:
        near = np.argsort(-cosines[place])[1 : _NEIGHBOURS + 1]  # the first is the word itself
        found.append((words[place], [(words[n], float(cosines[place, n])) for n in near]))
    return found


def _attention(asked: Sequence[Question], looks: np.ndarray) -> Dict[str, Any]:
    """The head that looks most at a single token of another word; `looks` is [Q, L, N, S]."""
    others = looks.copy()
    for question, weights in zip(asked, others):
        special = [n for n, (part, _, _) in enumerate(question.places) if part < 0]
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
  Held-out documents: {count:<10}untrained  without reading  trained
  right word: the first guess  {untrained.first:>9.1%} {baseline.first:>16.1%} {trained.first:>8.1%}
  right word: among five       {untrained.five:>9.1%} {baseline.five:>16.1%} {trained.five:>8.1%}
  order of two texts           {untrained.order:>9.1%} {baseline.order:>16.1%} {trained.order:>8.1%}
  loss                         {untrained.loss:>9.3f} {baseline.loss:>16.3f} {trained.loss:>8.3f}

  Without reading: the most frequent words, a coin, and how frequent each token is.
  {verdict}"""


def summary(findings: Findings) -> str:
    """Returns what the terminal shows."""
    return _SUMMARY.format(
        count=len(findings.questions),
        untrained=findings.untrained,
        trained=findings.trained,
        baseline=findings.baseline,
        verdict=findings.verdict(),
    )
