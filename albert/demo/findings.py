# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the demo's model has learnt."""

import itertools
import pathlib
from typing import Dict, Iterator, List, Mapping, NamedTuple, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.data import batches as input_pipeline
from albert.demo import corpus as demo_corpus
from albert.pretrained import inference
from albert.pretraining import model as pretraining_utils
from albert.training import evaluation as checkpoint_evaluator
from albert.training import hooks as training_hooks

# Gaps in the style of the corpus, but not from it: text before, the word, text after. Words that
# grammar asks for come first, words that need an idea of the subject after them.
GAPS = (
    ("Return the name ", "of", " the current directory. The name is a string."),
    ("If the argument ", "is", " not given, the default value is used."),
    ("Raise an error if the file ", "does", " not exist."),
    ("Write the data ", "to", " the file. The file must be open."),
    ("If the file cannot be opened, an exception is ", "raised", "."),
    ("Return the ", "number", " of items in the list. The list may be empty."),
)
_SHORTEST_EXAMPLE, _LONGEST_EXAMPLE = 25, 90  # characters of a sentence that is shown
_MOST_EXAMPLES = 6
_CANDIDATES = 5

TASKS = (("Masked words found", "masked_lm_accuracy"), ("Order told", "sentence_order_accuracy"))
HEAD = ("On held-out documents", "untrained", "without reading", "trained")


class Baselines(NamedTuple):
    """What can be got right without reading: see `baselines_without_reading`."""

    masked_lm_accuracy: float
    sentence_order_accuracy: float


class Gap(NamedTuple):
    """A sentence with a gap, and what the model proposes for it, the most probable first."""

    before: str
    word: str
    after: str
    candidates: List[Tuple[str, float]]  # words and their probabilities
    was: float  # probability of the word that was meant, before training
    became: float  # and after


class Order(NamedTuple):
    """Two neighbouring sentences, and what the model says when it sees them in either order."""

    first: str
    second: str
    shown_right: float  # probability that they are in order when they are
    shown_swapped: float  # and when they are not


class Findings(NamedTuple):
    """All there is to report; accuracies are those on held-out documents."""

    evaluations: List[checkpoint_evaluator.Evaluation]  # that of the untrained model first
    baselines: Baselines
    gaps: List[Gap]
    orders: List[Order]
    curve: List[Dict[str, float]]  # of training, a row for each interval
    characters: int  # of the text that was trained on
    held_out_documents: int
    config: modeling.AlbertConfig
    parameters: int

    @property
    def untrained(self) -> Mapping[str, float]:
        """Metrics before the first step."""
        return self.evaluations[0].metrics

    @property
    def trained(self) -> Mapping[str, float]:
        """Metrics after the last step."""
        return self.evaluations[-1].metrics


# ---------------------------------------------------------------------------------------------
# Looking.


def examine(
    path: pathlib.Path,
    corpus: demo_corpus.Corpus,
    *,
    max_seq_length: int,
    max_predictions_per_seq: int,
) -> Findings:
    """Collects the evaluations in a run's folder, and questions its untrained and trained model."""
    model_dir = str(path / "model")
    config = modeling.AlbertConfig.from_json_file(str(path / "albert_config.json"))
    tokenizer = tokenization.FullTokenizer(None, spm_model_file=str(path / "vocabulary.model"))
    checkpoints = checkpoint_evaluator.list_checkpoints(model_dir)
    untrained = inference.PretrainedModel(config, checkpoints[0].path, tokenizer)
    trained = inference.PretrainedModel(config, checkpoints[-1].path, tokenizer)
    with untrained, trained:
        gaps = [_fill(gap, untrained, trained) for gap in _fillable(trained)]
        pairs = (pair for pair in _sentence_pairs(corpus.held_out) if trained.fits(*pair))
        orders = [_order(pair, trained) for pair in itertools.islice(pairs, _MOST_EXAMPLES)]
    return Findings(
        evaluations=checkpoint_evaluator.read_results(model_dir),
        baselines=baselines_without_reading(
            str(path / "held_out.tf_record"),
            pretraining_utils.feature_spec(max_seq_length, max_predictions_per_seq),
            tokenizer.vocab["[MASK]"],
        ),
        gaps=gaps,
        orders=orders,
        curve=_read_curve(path / "model" / "training_curve.csv"),
        characters=sum(len(item) for text in corpus.training for item in text.sentences),
        held_out_documents=len(corpus.held_out),
        config=config,
        parameters=trained.parameters,
    )


def baselines_without_reading(
    record_file: str, spec: input_pipeline.FeatureSpec, mask: int
) -> Baselines:
    """Returns the shares that the best answers without a look at the context get right.

    A tenth of the words to find are not masked: there the word that is seen is the answer. Behind
    [MASK] (the piece `mask`) it is the most frequent word; of orders it is the more frequent one.
    """
    words, seen, orders = [], [], []
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = input_pipeline.evaluation_batches([record_file], spec, batch_size=64)
        batch = tf.data.make_one_shot_iterator(dataset).get_next()
        for _ in range(pretraining_utils.evaluation_steps([record_file], 64, 10**9)):
            values = session.run(batch)
            counts = values["masked_lm_weights"] > 0
            words.append(values["masked_lm_ids"][counts])
            shown = np.take_along_axis(values["input_ids"], values["masked_lm_positions"], axis=1)
            seen.append(shown[counts])
            orders.append(values["next_sentence_labels"][values["is_real_example"] > 0])
    words, seen, orders = (np.concatenate(parts).reshape(-1) for parts in (words, seen, orders))
    hidden = words[seen == mask]
    found = np.sum(words == seen) + (np.bincount(hidden).max() if len(hidden) else 0)
    return Baselines(float(found / len(words)), float(np.bincount(orders).max() / len(orders)))


def _read_curve(path: pathlib.Path) -> List[Dict[str, float]]:
    return [
        {name: float(value) for name, value in row.items() if value}
        for row in training_hooks.read_curve(str(path))
    ]


def _fillable(model: inference.PretrainedModel) -> Iterator[Tuple[str, str, str]]:
    """The first gaps whose word is one piece of the vocabulary."""
    found = (gap for gap in GAPS if model.piece_of(gap[1]) is not None and model.fits(*gap))
    return itertools.islice(found, _MOST_EXAMPLES)


def _fill(
    gap: Tuple[str, str, str],
    untrained: inference.PretrainedModel,
    trained: inference.PretrainedModel,
) -> Gap:
    before, word, after = gap
    was, became = (model.probability(before, after, word) for model in (untrained, trained))
    ((found,),) = trained.fill([f"{before}{inference.MASK}{after}"])
    candidates = [(item.word, item.probability) for item in found[:_CANDIDATES]]
    return Gap(before, word, after, candidates, was=was, became=became)


def _sentence_pairs(documents: Sequence[demo_corpus.Document]) -> Iterator[Tuple[str, str]]:
    """The first two sentences of held-out documents of a length to show, one pair a source."""
    shown = set()
    for document in documents:
        pair = (document.sentences[0], document.sentences[1])
        lengths = [len(sentence) for sentence in pair]
        is_short = min(lengths) >= _SHORTEST_EXAMPLE and max(lengths) <= _LONGEST_EXAMPLE
        if is_short and document.source not in shown:
            shown.add(document.source)
            yield pair


def _order(pair: Tuple[str, str], model: inference.PretrainedModel) -> Order:
    first, second = pair
    return Order(
        first,
        second,
        shown_right=model.order_probability(first, second),
        shown_swapped=model.order_probability(second, first),
    )


# ---------------------------------------------------------------------------------------------
# In words.


def percent(share: float) -> str:
    """Returns "12.3%" for 0.123."""
    return f"{share:.1%}"


def comparison(findings: Findings) -> List[Tuple[str, ...]]:
    """Returns the rows of the table with the head HEAD."""
    rows: List[Tuple[str, ...]] = []
    for title, metric in TASKS:
        shares = (
            findings.untrained[metric],
            getattr(findings.baselines, metric),
            findings.trained[metric],
        )
        rows.append((title, *map(percent, shares)))
    losses = [f"{metrics['loss']:.3f}" for metrics in (findings.untrained, findings.trained)]
    return rows + [("Loss", losses[0], "", losses[1])]


def summary(findings: Findings) -> str:
    """Returns what the terminal shows."""
    rows = [HEAD, *comparison(findings)]
    lines = ["    {:<24}{:>12}{:>18}{:>12}".format(*row) for row in rows]
    lines += ["", "    Fill the gap:"]
    for gap in findings.gaps:
        best = ", ".join(f"{word} {percent(share)}" for word, share in gap.candidates[:3])
        lines.append(f"      {gap.before}[{gap.word}]{gap.after}  ->  {best}")
    return "\n".join(lines)
