# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the demo's model has learnt, measured on documents that it did not train on.

Each document is asked two things: a word of it that is missing, and whether its two halves are in
order. Shown are the first of these questions, and what was measured over all of them.
"""

import collections
import math
import pathlib
from typing import Counter, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.data import batches
from albert.demo import corpus as demo_corpus
from albert.demo import questions, runs
from albert.demo.questions import Gap, PretrainedModel, WordFinder
from albert.pretrained import inference
from albert.pretraining import model
from albert.training import evaluation, hooks

EXAMPLES = 8
_MOST_QUESTIONS = 400
_LOOKS, _NEAR = 4, 2  # texts whose attention is shown; tokens away
_COUNTED_DOCUMENTS = 3000  # of training, for how frequent words are
# Words whose neighbours are shown: each so many-th of those from a place in the order of frequency.
_FIRST_RANK, _RANKS_APART, _LAST_RANK, _NEIGHBOURS = 50, 18, 230, 4


class Score(NamedTuple):
    """Shares of right answers."""

    first: float  # the best guess is the missing word
    five: float  # one of five guesses is
    order: float  # the order of two texts is told


class Filled(NamedTuple):
    """A gap and the model's words for it, the best first, with probabilities."""

    gap: Gap
    candidates: List[Tuple[str, float]]


class Order(NamedTuple):
    """Two texts that follow each other, and the model's probability of that in both orders."""

    first: str
    second: str
    in_order: float
    swapped: float


class Neighbours(NamedTuple):
    """A word, and the words with the most similar embeddings, with cosines."""

    word: str
    others: List[Tuple[str, float]]


class Look(NamedTuple):
    """Where a head looks from a gap."""

    gap: Gap
    weights: List[List[Tuple[str, float]]]  # of each part: pieces of text and their shares


class Attention(NamedTuple):
    """The head that looks most at a single word."""

    layer: int  # from 1
    head: int  # from 1
    share: float  # of its attention that goes to that word, the mean over all gaps
    even: float  # the same if it looked at all tokens alike
    near: float  # share of the gaps where that word is at most two tokens away
    looks: List[Look]


class Findings(NamedTuple):
    """Everything that is reported."""

    evaluations: List[evaluation.Evaluation]  # on held-out text, the untrained one first
    scores: Dict[int, Score]  # by step, on held-out text
    baseline: Score  # of the most frequent words, and of guessing the order
    loss_baseline: float  # of knowing only how frequent tokens are
    questions: int  # gaps, and pairs of texts in both orders
    fills: List[Filled]
    orders: List[Order]
    neighbours: List[Neighbours]
    similarity: Tuple[float, float]  # mean cosine of all these neighbours, untrained and trained
    attention: Attention
    curve: List[Dict[str, float]]  # the training curve, a row per interval
    characters: int  # of the training text
    documents: Tuple[int, int]  # for training, held out
    seen_sentences: float  # share of the held-out sentences that training has too
    config: modeling.AlbertConfig
    parameters: int

    @property
    def untrained(self) -> Score:
        """Before the first step."""
        return self.scores[min(self.scores)]

    @property
    def trained(self) -> Score:
        """After the last step."""
        return self.scores[max(self.scores)]

    def is_learnt(self, name: str) -> bool:
        """Whether a share of Score is above the baseline by more than two standard errors."""
        expected = getattr(self.baseline, name)
        error = math.sqrt(max(expected * (1 - expected), 1e-4) / self.questions)
        return getattr(self.trained, name) > expected + 2 * error


class Text(NamedTuple):
    """The text of a run."""

    corpus: demo_corpus.Corpus
    language: str
    user_dictionary: Optional[str]

    @property
    def joint(self) -> str:
        """What stands between sentences."""
        return "" if self.language == "zh" else " "


def examine(path: pathlib.Path, text: Text, spec: batches.FeatureSpec) -> Findings:
    """Collects a run's evaluations and asks its checkpoints.

    Args:
      path: the run's folder.
      text: what it trained on.
      spec: of the records.
    """
    folder = str(path / "model")
    config = modeling.AlbertConfig.from_json_file(str(path / "albert_config.json"))
    tokenizer = load_tokenizer(path)
    checkpoints = evaluation.list_checkpoints(folder)
    finder = WordFinder(text.language, text.user_dictionary)
    scores = {}
    with PretrainedModel(config, checkpoints[0].path, tokenizer) as untrained:
        gaps, pairs = _questions(text, finder, untrained)
        frequent = _frequent_words(text, finder)
        words, vectors = _word_vectors(untrained, frequent)
        similarity = _mean_similarity(_neighbours(words, vectors))
        scores[checkpoints[0].step] = _asked(untrained, gaps, pairs, words=frequent)[0]
    for checkpoint in checkpoints[1:]:
        with PretrainedModel(config, checkpoint.path, tokenizer) as trained:
            score, answers, orders = _asked(trained, gaps, pairs, words=frequent)
            scores[checkpoint.step] = score
            neighbours = _neighbours(*_word_vectors(trained, words))
            attention = _attention(trained, gaps, answers)
            parameters = trained.parameters
    corpus, curve = text.corpus, hooks.read_curve(str(path / "model" / "training_curve.csv"))
    seen = {sentence for document in corpus.training for sentence in document.sentences}
    held_out = [sentence for document in corpus.held_out for sentence in document.sentences]
    return Findings(
        evaluations=evaluation.read_results(folder),
        scores=scores,
        baseline=_baseline(gaps, frequent, untrained),
        loss_baseline=loss_baseline(str(path / "held_out.tf_record"), spec),
        questions=len(gaps),
        fills=[Filled(gap, item.candidates) for gap, item in zip(gaps, answers)][:EXAMPLES],
        orders=orders[:EXAMPLES],
        neighbours=neighbours,
        similarity=(similarity, _mean_similarity(neighbours)),
        attention=attention,
        curve=[{name: float(value) for name, value in row.items() if value} for row in curve],
        characters=sum(len(item) for document in corpus.training for item in document.sentences),
        documents=(len(corpus.training), len(corpus.held_out)),
        seen_sentences=sum(sentence in seen for sentence in held_out) / len(held_out),
        config=config,
        parameters=parameters,
    )


def load_tokenizer(path: pathlib.Path) -> tokenization.FullTokenizer:
    """Returns the tokenizer of a run's vocabulary."""
    found = runs.find_vocabulary(path) or {}
    return tokenization.FullTokenizer(
        found.get("vocab_file"), spm_model_file=found.get("spm_model_file")
    )


def _questions(
    text: Text, finder: WordFinder, asked: PretrainedModel
) -> Tuple[List[Gap], List[Tuple[str, str]]]:
    """A gap and a pair of each held-out document; first one document of each kind."""
    kinds: Counter[str] = collections.Counter()
    ranked = []
    for place, document in enumerate(text.corpus.held_out):
        kind = document.source.split(":")[0]
        ranked.append((kinds[kind], place))
        kinds[kind] += 1
    gaps, pairs = [], []
    for _, place in sorted(ranked)[:_MOST_QUESTIONS]:
        sentences = text.corpus.held_out[place].sentences
        parts = questions.halves(sentences, asked, text.joint)
        gap = questions.gap_in(parts, finder, asked) if parts else None
        if gap:
            gaps.append(gap)
            pairs.append(gap.parts)
    return gaps, pairs


def _asked(
    asked: PretrainedModel,
    gaps: Sequence[Gap],
    pairs: Sequence[Tuple[str, str]],
    *,
    words: Sequence[str],
) -> Tuple[Score, List[questions.Answer], List[Order]]:
    answers = asked.fill_gaps(gaps, words)
    guesses = [[word for word, _ in answer.candidates] for answer in answers]
    swapped = asked.in_order([(second, first) for first, second in pairs])
    orders = [Order(*pair, *both) for pair, both in zip(pairs, zip(asked.in_order(pairs), swapped))]
    told = [(item.in_order > 0.5) + (item.swapped <= 0.5) for item in orders]
    score = Score(
        first=float(np.mean([[gap.word] == best[:1] for gap, best in zip(gaps, guesses)])),
        five=float(np.mean([gap.word in best for gap, best in zip(gaps, guesses)])),
        order=float(np.mean(told)) / 2,
    )
    return score, answers, orders


def _frequent_words(text: Text, finder: WordFinder) -> List[str]:
    """The words of some training documents, the most frequent first."""
    counts: Counter[str] = collections.Counter()
    for document in text.corpus.training[:_COUNTED_DOCUMENTS]:
        for sentence in document.sentences:
            counts.update(sentence[start:end].lower() for start, end in finder.places(sentence))
    return sorted(counts, key=lambda word: (-counts[word], word))


def _baseline(gaps: Sequence[Gap], frequent: Sequence[str], asked: PretrainedModel) -> Score:
    """Always the most frequent words, of as many tokens as are missing, which a model sees too."""
    by_length: Dict[int, List[str]] = collections.defaultdict(list)
    for word in frequent:
        by_length[asked.length(word)].append(word)
    guesses = [by_length[asked.length(gap.word)][: questions.CANDIDATES] for gap in gaps]
    return Score(
        first=float(np.mean([[gap.word] == words[:1] for gap, words in zip(gaps, guesses)])),
        five=float(np.mean([gap.word in words for gap, words in zip(gaps, guesses)])),
        order=0.5,
    )


def loss_baseline(record_file: str, spec: batches.FeatureSpec) -> float:
    """Returns the loss of knowing how frequent each token to predict is, and no order (ln 2)."""
    labels = []
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = batches.evaluation_batches([record_file], spec, batch_size=64)
        batch = tf.data.make_one_shot_iterator(dataset).get_next()
        for _ in range(model.evaluation_steps([record_file], 64, 10**9)):
            values = session.run(batch)
            labels.append(values["masked_lm_ids"][values["masked_lm_weights"] > 0])
    counts = np.bincount(np.concatenate(labels))
    shares = counts[counts > 0] / counts.sum()
    return float(-np.sum(shares * np.log(shares)) + np.log(2))


# ---- Embeddings and attention.


def _word_vectors(asked: PretrainedModel, words: Sequence[str]) -> Tuple[List[str], np.ndarray]:
    """The frequent words whose tokens no more frequent word has, and their vectors."""
    kept: List[str] = []
    used: Set[int] = set()
    for word in words[: 2 * _LAST_RANK]:
        tokens = asked.tokens(word)
        if not used & tokens:
            used |= tokens
            kept.append(word)
    return kept, asked.vectors(kept)


def _neighbours(words: Sequence[str], vectors: np.ndarray) -> List[Neighbours]:
    """The nearest words of some: which, decides how frequent they are."""
    cosines = vectors @ vectors.T  # [n, n]
    first = min(_FIRST_RANK, len(words) // 4)
    found = []
    for place in range(first, min(_LAST_RANK, len(words)), _RANKS_APART):
        near = [other for other in np.argsort(-cosines[place]) if other != place][:_NEIGHBOURS]
        others = [(words[other], float(cosines[place, other])) for other in near]
        found.append(Neighbours(words[place], others))
    return found


def _mean_similarity(neighbours: Sequence[Neighbours]) -> float:
    cosines = [cosine for item in neighbours for _, cosine in item.others]
    return float(np.mean(cosines)) if cosines else 0.0


def _attention(
    asked: PretrainedModel, gaps: Sequence[Gap], answers: Sequence[questions.Answer]
) -> Attention:
    """The head that looks most at a single word, and the first texts as it sees them."""
    shares, near, evens = [], [], []
    rows = [asked.row(gap.parts, gap) for gap in gaps]
    for row, answer in zip(rows, answers):
        first = row.features[inference.POSITIONS][0]
        is_other = [part >= 0 and place != first for place, (part, _, _) in enumerate(row.places)]
        looks = answer.looks[:, :, : len(row.places)] * np.array(is_other)  # [L, N, S]
        shares.append(looks.max(axis=2))
        near.append(np.abs(looks.argmax(axis=2) - first) <= _NEAR)
        evens.append(1 / len(row.places))
    means = np.mean(shares, axis=0)  # [L, N]
    layer, head = np.unravel_index(np.argmax(means), means.shape)
    return Attention(
        layer=int(layer) + 1,
        head=int(head) + 1,
        share=float(means[layer, head]),
        even=float(np.mean(evens)),
        near=float(np.mean(near, axis=0)[layer, head]),
        looks=[
            Look(gap, _painted(gap, row, answer.looks[layer, head]))
            for gap, row, answer in zip(gaps[:_LOOKS], rows, answers)
        ],
    )


def _painted(gap: Gap, row: questions.Row, weights: np.ndarray) -> List[List[Tuple[str, float]]]:
    """Both parts as pieces of text, each with the share of attention that goes to it."""
    painted: List[List[Tuple[str, float]]] = [[] for _ in gap.parts]
    ends = [0 for _ in gap.parts]
    for (part, start, stop), weight in zip(row.places, weights.tolist()):
        end = ends[part]
        if part < 0 or stop <= end:
            continue
        painted[part].append((gap.parts[part][end:start], 0.0))
        painted[part].append((gap.parts[part][max(start, end) : stop], weight))
        ends[part] = stop
    return painted


# ---- In words.

HEAD = ("Held-out documents: {}", "untrained", "without reading", "trained")
_ROWS = (
    ("right word is the first guess", "first"),
    ("right word among five guesses", "five"),
    ("order of two texts recognised", "order"),
)


def comparison(findings: Findings) -> List[Tuple[str, ...]]:
    """Returns the head and the rows of the table of scores."""
    rows: List[Tuple[str, ...]] = [(HEAD[0].format(findings.questions), *HEAD[1:])]
    columns = (findings.untrained, findings.baseline, findings.trained)
    for label, name in _ROWS:
        rows.append((label, *(f"{getattr(score, name):.1%}" for score in columns)))
    losses = [
        item.metrics["loss"]
        for item in findings.evaluations[:: max(1, len(findings.evaluations) - 1)]
    ]
    return rows + [
        ("loss", f"{losses[0]:.3f}", f"{findings.loss_baseline:.3f}", f"{losses[-1]:.3f}")
    ]


def explanations(findings: Findings) -> List[str]:
    """Returns what the table's numbers are, and what follows from them."""
    trained, baseline = findings.trained, findings.baseline
    lines = [
        "Without reading: what can be had without looking at the text. The guesses are then the "
        "most frequent words of the training text, the order is a coin's, and the loss is that of "
        "knowing only how frequent each token is."
    ]
    if findings.is_learnt("five"):
        lines.append(
            f"The right word is among the model's five guesses in {trained.five:.0%} of the gaps; "
            f"the five most frequent words are right in {baseline.five:.0%}."
        )
    else:
        lines.append(
            "The model has not learnt to fill gaps: it does no better than the five most frequent "
            "words."
        )
    if findings.is_learnt("order"):
        lines.append(
            f"It tells in {trained.order:.0%} of the cases whether two texts are in order or "
            "swapped; guessing gives 50%."
        )
    else:
        lines.append("It has not learnt to tell the order of two texts: guessing does as well.")
    if not (findings.is_learnt("five") and findings.is_learnt("order")):
        lines.append(
            f"It trained for {findings.evaluations[-1].step:,} steps. More of them is what to try "
            "first: the demo's default takes a few minutes."
        )
    return lines


def summary(findings: Findings) -> str:
    """Returns what the terminal shows."""
    lines = ["    {:<36}{:>10}{:>17}{:>10}".format(*row) for row in comparison(findings)]
    lines += ["", *(f"    {line}" for line in explanations(findings))]
    lines += ["", "    Missing words, and the model's guesses:"]
    for item in findings.fills[: EXAMPLES // 2]:
        gap = item.gap
        text = gap.parts[gap.part]
        guesses = ", ".join(f'"{word}" {share:.0%}' for word, share in item.candidates[:3])
        lines += [
            f"      {text[: gap.start]}____{text[gap.end :]}",
            f'        missing: "{gap.word}"; guesses: {guesses}',
        ]
    return "\n".join(lines)
