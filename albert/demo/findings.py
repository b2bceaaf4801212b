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
from typing import Any, Counter, Dict, Iterator, List, NamedTuple, Sequence, Set, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.data import batches
from albert.demo import questions
from albert.demo.corpus import Corpus
from albert.demo.questions import Finder, Question, Reader
from albert.pretrained import inference
from albert.training import evaluation
from albert.util import wording

EXAMPLES = 8
_MOST_QUESTIONS = 400
_COUNTED_DOCUMENTS = 3000  # of training, for how frequent words are
# Words whose neighbours are shown: each so many-th of those from a place in the order of frequency.
_FIRST_RANK, _RANKS_APART, _LAST_RANK, _NEIGHBOURS = 50, 18, 230, 4

Shares = List[Tuple[str, float]]  # words with probabilities or cosines


class Score(NamedTuple):
    """Shares of right answers, and the loss."""

    first: float  # the best guess is the missing word
    five: float  # one of five guesses is
    order: float  # the order of two texts is told
    loss: float


class Attention(NamedTuple):
    """The head that looks most at a single word."""

    layer: int  # from 1
    head: int  # from 1
    share: str  # of its attention that goes to that word, the mean over all gaps
    even: str  # the same if it looked at all tokens alike
    near: str  # share of the gaps where that word is at most two tokens away
    looks: np.ndarray  # [Q, S]: where it looks from each gap


class Findings(NamedTuple):
    """Everything that is reported; Q questions, the examples first."""

    scores: Dict[int, Score]  # by step, that of the untrained model first
    baseline: Score  # of the most frequent words, of guessing the order, of how frequent tokens are
    questions: List[Question]
    guesses: List[Shares]
    orders: np.ndarray  # [2, Q]: probability that halves are in order, as they are and swapped
    neighbours: List[Tuple[str, Shares]]
    similarity: Tuple[float, float]  # mean cosine of neighbours, untrained and trained
    attention: Attention

    @property
    def trained(self) -> Score:
        """After the last step."""
        return self.scores[max(self.scores)]

    def is_learnt(self, name: str) -> bool:
        """Whether a share of Score is above the baseline by more than two standard errors."""
        expected = getattr(self.baseline, name)
        error = math.sqrt(max(expected * (1 - expected), 1e-4) / len(self.questions))
        return getattr(self.trained, name) > expected + 2 * error


def examine(path: pathlib.Path, source: inference.Source, corpus: Corpus, **text: Any) -> Findings:
    """Collects a run's evaluations and asks its checkpoints.

    Args:
      path: the run's folder.
      source: its model and vocabulary.
      corpus: what it trained on.
      **text: joint and find, see Reader.question.
    """
    losses = {row.step: row.metrics["loss"] for row in evaluation.read_results(str(path / "model"))}
    frequent = frequent_words(corpus, text["find"])
    scores, cosines = {}, []
    for step, checkpoint in evaluation.list_checkpoints(str(path / "model")):
        with Reader(source._replace(checkpoint=checkpoint)) as reader:
            asked = list(_questions(reader, corpus, **text))
            known: Dict[int, Dict[str, List[int]]] = collections.defaultdict(dict)
            for word in frequent:
                known[len(reader.ids(word))][word] = reader.ids(word)
            answers = reader.ask(asked)
            candidates = [known[len(question.masked)] for question in asked]
            guesses = list(map(questions.guess, answers["shares"], candidates))
            pairs = [question.parts for question in asked]
            orders = np.array([reader.in_order(pairs), reader.in_order(p[::-1] for p in pairs)])
            neighbours = list(_neighbours(reader, frequent))
        told = np.mean([orders[0] > 0.5, orders[1] <= 0.5])
        words = [[word for word, _ in best] for best in guesses]
        scores[step] = _score(asked, words, order=told, loss=losses[step])
        cosines.append(np.mean([cosine for _, near in neighbours for _, cosine in near]))
    usual = [list(words)[: questions.CANDIDATES] for words in candidates]
    loss = loss_baseline(str(path / "held_out.tf_record"))
    return Findings(
        scores,
        _score(asked, usual, order=0.5, loss=loss),
        questions=asked,
        guesses=guesses,
        orders=orders,
        neighbours=neighbours,
        similarity=(cosines[0], cosines[-1]),
        attention=_attention(asked, answers["looks"]),
    )


def _questions(reader: Reader, corpus: Corpus, *, joint: str, find: Finder) -> Iterator[Question]:
    """One question of each held-out document; first those of one document of each kind."""
    numbers: Dict[str, Any] = collections.defaultdict(itertools.count)
    ranked = sorted(corpus.held_out, key=lambda item: next(numbers[item.key.split(":")[0]]))
    for document in ranked[:_MOST_QUESTIONS]:
        question = reader.question(document.sentences, joint, find)
        if question:
            yield question


def _score(asked: Sequence[Question], words: List[List[str]], **others: float) -> Score:
    pairs = [(question.word, best) for question, best in zip(asked, words)]
    first = np.mean([best[:1] == [word] for word, best in pairs])
    return Score(float(first), float(np.mean([word in best for word, best in pairs])), **others)


def frequent_words(corpus: Corpus, find: Finder) -> List[str]:
    """Returns the words of some training documents, the most frequent first."""
    counts: Counter[str] = collections.Counter()
    for document in corpus.training[:_COUNTED_DOCUMENTS]:
        for sentence in document.sentences:
            counts.update(sentence[start:end].lower() for start, end in find(sentence))
    return sorted(counts, key=lambda word: (-counts[word], word))


def loss_baseline(record_file: str) -> float:
    """Returns the loss of knowing how frequent each token to predict is, and no order (ln 2)."""
    counts: Counter[int] = collections.Counter()
    for record in batches.records(record_file):
        features = tf.train.Example.FromString(record).features.feature
        labels = features["masked_lm_ids"].int64_list.value
        weights = features["masked_lm_weights"].float_list.value
        counts.update(label for label, weight in zip(labels, weights) if weight)
    shares = np.array(list(counts.values())) / sum(counts.values())
    return float(np.log(2) - shares @ np.log(shares))


def _neighbours(reader: Reader, frequent: Sequence[str]) -> Iterator[Tuple[str, Shares]]:
    """The nearest words of some, chosen by how frequent they are."""
    words, used = [], set()  # type: List[str], Set[int]
    for word in frequent[: 2 * _LAST_RANK]:
        if not used & set(reader.ids(word)):  # no more frequent word has its tokens
            used.update(reader.ids(word))
            words.append(word)
    vectors = reader.vectors(words)
    cosines = vectors @ vectors.T  # [n, n]
    first = min(_FIRST_RANK, len(words) // 4)
    for place in range(first, min(_LAST_RANK, len(words)), _RANKS_APART):
        near = [other for other in np.argsort(-cosines[place]) if other != place][:_NEIGHBOURS]
        yield words[place], [(words[other], float(cosines[place, other])) for other in near]


def _attention(asked: Sequence[Question], looks: np.ndarray) -> Attention:
    """The head that looks most at a single token of another word; `looks` is [Q, L, N, S]."""
    most, near = [], []
    for question, weights in zip(asked, looks):
        first = question.masked[0]
        is_other = [part >= 0 and n != first for n, (part, _, _) in enumerate(question.places)]
        weights = weights[:, :, : len(is_other)] * is_other
        most.append(weights.max(axis=2))
        near.append(abs(weights.argmax(axis=2) - first) <= 2)
    means = np.mean(most, axis=0)  # [L, N]
    layer, head = np.unravel_index(np.argmax(means), means.shape)
    return Attention(
        int(layer) + 1,
        int(head) + 1,
        share=f"{means[layer, head]:.0%}",
        even=f"{np.mean([1 / len(question.places) for question in asked]):.1%}",
        near=f"{np.mean(near, axis=0)[layer, head]:.0%}",
        looks=looks[:, layer, head],
    )


# ---- In words.

HEAD = ("untrained", "without reading", "trained")
ROWS = {
    "first": "right word is the first guess",
    "five": "right word among five guesses",
    "order": "order of two texts recognised",
}


def comparison(findings: Findings) -> List[List[str]]:
    """Returns the head and the rows of the table of scores."""
    columns = (findings.scores[0], findings.baseline, findings.trained)
    cells = [[f"Held-out documents: {len(findings.questions)}", *HEAD]]
    cells += [[row, *(f"{getattr(c, name):.1%}" for c in columns)] for name, row in ROWS.items()]
    return [*cells, ["loss", *(f"{column.loss:.3f}" for column in columns)]]


def explanations(findings: Findings) -> List[str]:
    """Returns what follows from the numbers."""
    score, baseline = findings.trained, findings.baseline
    lines = [
        f"The right word is among the model's five guesses in {score.five:.0%} of the gaps; the "
        f"five most frequent words are right in {baseline.five:.0%}.",
        f"It tells in {score.order:.0%} of the cases whether two texts are in order or swapped; "
        "guessing gives 50%.",
    ]
    tasks = {"five": "to fill gaps", "order": "to tell the order of two texts"}
    failed = [task for name, task in tasks.items() if not findings.is_learnt(name)]
    if failed:
        lines.append(
            f"So it has not learnt {' and '.join(failed)}. It trained for "
            f"{max(findings.scores):,} steps. More of them is what to try first: the demo's "
            "default takes a few minutes."
        )
    return lines


def summary(findings: Findings) -> str:
    """Returns what the terminal shows."""
    lines = [*wording.table(comparison(findings), left=(0,)), "", *explanations(findings), ""]
    lines.append("Missing words, and the model's guesses:")
    for question, guesses in list(zip(findings.questions, findings.guesses))[: EXAMPLES // 2]:
        text = question.parts[question.part]
        shown = ", ".join(f'"{word}" {share:.0%}' for word, share in guesses[:3])
        lines.append(f"  {text[: question.start]}____{text[question.end :]}")
        lines.append(f'    missing: "{question.word}"; guesses: {shown}')
    return "\n".join(f"    {line}".rstrip() for line in lines)
