# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the demo's model has learnt: on the terminal in a few lines, and as a report page."""

import itertools
import pathlib
import platform
from typing import Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.data import batches as input_pipeline
from albert.demo import corpus as demo_corpus
from albert.demo import page as report
from albert.pretrained import inference
from albert.pretraining import model as pretraining_utils
from albert.training import estimators as estimator_utils
from albert.training import evaluation as checkpoint_evaluator
from albert.util import progress

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

_TASKS = (("Masked words found", "masked_lm_accuracy"), ("Order told", "sentence_order_accuracy"))


class Baselines(NamedTuple):
    """What can be got right without reading: see `baselines_without_reading`."""

    masked_lm_accuracy: float
    sentence_order_accuracy: float


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
    gaps: List[report.Fill]
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
        for row in estimator_utils.read_curve(str(path))
    ]


def _fillable(model: inference.PretrainedModel) -> Iterator[Tuple[str, str, str]]:
    """The first gaps whose word is one piece of the vocabulary."""
    found = (gap for gap in GAPS if model.piece_of(gap[1]) is not None and model.fits(*gap))
    return itertools.islice(found, _MOST_EXAMPLES)


def _fill(
    gap: Tuple[str, str, str],
    untrained: inference.PretrainedModel,
    trained: inference.PretrainedModel,
) -> report.Fill:
    before, word, after = gap
    was, became = (model.probability(before, after, word) for model in (untrained, trained))
    return report.Fill(
        before,
        after,
        expected=word,
        candidates=[
            report.Candidate(item.word, item.probability)
            for item in trained.fill([f"{before}{inference.MASK}{after}"])[0][0][:_CANDIDATES]
        ],
        note=f"“{word}” had a probability of {report.percent(was)} before training, "
        f"{report.percent(became)} after.",
    )


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
# Telling.


def _comparison(findings: Findings) -> List[Tuple[str, str, str, str]]:
    """Rows of the table: task, untrained, without reading, trained."""
    rows = [
        (
            title,
            report.percent(findings.untrained[metric]),
            report.percent(getattr(findings.baselines, metric)),
            report.percent(findings.trained[metric]),
        )
        for title, metric in _TASKS
    ]
    losses = [f"{metrics['loss']:.3f}" for metrics in (findings.untrained, findings.trained)]
    return rows + [("Loss", losses[0], "", losses[1])]


_HEAD = ("On held-out documents", "untrained", "without reading", "trained")


def summary(findings: Findings) -> str:
    """Returns what the terminal shows."""
    rows = [_HEAD, *_comparison(findings)]
    lines = ["    {:<24}{:>12}{:>18}{:>12}".format(*row) for row in rows]
    lines += ["", "    Fill the gap:"]
    for gap in findings.gaps:
        best = ", ".join(
            f"{item.word} {report.percent(item.probability)}" for item in gap.candidates[:3]
        )
        lines.append(f"      {gap.before}[{gap.expected}]{gap.after}  ->  {best}")
    return "\n".join(lines)


def _charts(findings: Findings) -> str:
    steps = [evaluation.step for evaluation in findings.evaluations]
    curve_steps = [row["step"] for row in findings.curve]

    def curves(metric: str) -> List[report.Curve]:
        held_out = [evaluation.metrics[metric] for evaluation in findings.evaluations]
        training = [row[metric] for row in findings.curve]
        return [
            report.Curve("held-out documents", steps, held_out),
            report.Curve("training", curve_steps, training, is_faint=True),
        ]

    items = [report.Chart("Loss", curves("loss"), {})]
    for title, metric in _TASKS:
        baselines = {
            "without reading": getattr(findings.baselines, metric),
            "untrained": findings.untrained[metric],
        }
        items.append(report.Chart(title, curves(metric), baselines, is_share=True))
    return report.charts(items)


def _cards(
    findings: Findings, seconds: Mapping[str, float], examples_per_second: Optional[float]
) -> str:
    items = []
    for title, metric in _TASKS:
        note = (
            f"untrained {report.percent(findings.untrained[metric])}, without reading "
            f"{report.percent(getattr(findings.baselines, metric))}"
        )
        items.append(report.Card(title, report.percent(findings.trained[metric]), note))
    if examples_per_second:
        note = f"sequences of {findings.config.max_position_embeddings} pieces a second"
        items.append(report.Card("Training speed", f"{examples_per_second:,.0f}", note))
    note = ", ".join(
        f"{label} {progress.format_seconds(seconds[name])}"
        for label, name in (
            ("vocabulary", "train_vocab"),
            ("records", "create_pretraining_data"),
            ("training and evaluation", "run_pretraining"),
        )
    )
    items.append(report.Card("Time in all", progress.format_seconds(seconds["all"]), note))
    return report.cards(items)


def _orders(findings: Findings) -> str:
    rows = [
        (
            order.first,
            order.second,
            report.percent(order.shown_right),
            report.percent(order.shown_swapped),
        )
        for order in findings.orders
    ]
    head = ("first sentence", "second sentence", "“in order” when so", "“in order” when swapped")
    return report.table(head, rows, text_columns=2)


def write_report(
    path: pathlib.Path,
    findings: Findings,
    *,
    commands: Sequence[str],
    seconds: Mapping[str, float],
    examples_per_second: Optional[float],
) -> None:
    """Writes the page.

    Args:
      path, findings: of the page, and what to tell on it.
      commands: the lines that were run.
      seconds: how long each command took, by name, and "all".
      examples_per_second: of training; None if there was nothing left to train.
    """
    config, taken = findings.config, progress.format_seconds(seconds["run_pretraining"])
    lead = (
        f"An ALBERT of {config.num_hidden_layers} layers and {findings.parameters:,} parameters, "
        f"pretrained with TensorFlow {tf.__version__} on {findings.characters / 1e6:.2f} million "
        f"characters of English prose that ship with Python {platform.python_version()}. The "
        f"numbers are those on {findings.held_out_documents} documents it never saw."
    )
    report.write_page(
        path,
        "From text to a trained ALBERT",
        lead,
        _cards(findings, seconds, examples_per_second),
        report.section("Learning curves", _charts(findings)),
        report.section(
            "Before and after",
            report.table(_HEAD, _comparison(findings))
            + report.paragraph(
                '"Without reading" is the best answer that does not look at the context: the word '
                "that is seen where the word to find is not masked (a tenth of them are not), else "
                "the most frequent word; of orders the more frequent one."
            ),
        ),
        report.section(
            "Fill the gap",
            report.paragraph(
                "What the model proposes for a missing word; the one that was meant has a green "
                f"border. After {findings.evaluations[-1].step:,} steps ({taken} with the "
                "evaluations) a model this small knows which words are frequent and little of what "
                "fits a sentence; that takes a larger model, more text and more time."
            ),
            report.fills(findings.gaps),
        ),
        report.section(
            "Which sentence comes first?",
            report.paragraph("Neighbouring sentences of held-out documents, shown both ways."),
            _orders(findings),
        ),
        report.section(
            "How it was made",
            report.paragraph("These commands were run; on your own text they are the same."),
            report.commands(commands),
        ),
    )
