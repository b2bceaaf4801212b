# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the demo's model has learnt: scores on held-out text, masked words, sentence orders."""

import itertools
import pathlib
from typing import Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.data import batches
from albert.demo import corpus as demo_corpus
from albert.pretrained import inference
from albert.pretraining import model
from albert.training import evaluation, hooks

# Text before, masked word, text after: in the style of the corpus, but not from it. The first ones
# need grammar, the last ones an idea of the subject.
SENTENCES = (
    ("Return the name ", "of", " the current directory. The name is a string."),
    ("If the argument ", "is", " not given, the default value is used."),
    ("Raise an error if the file ", "does", " not exist."),
    ("Write the data ", "to", " the file. The file must be open."),
    ("If the file cannot be opened, an exception is ", "raised", "."),
    ("Return the ", "number", " of items in the list. The list may be empty."),
)
METRICS = ("masked_lm_accuracy", "sentence_order_accuracy")
HEAD = ("On held-out documents", "untrained", "baseline", "trained")
EXPLANATIONS = {
    "masked_lm_accuracy": "share of the masked words that the model predicts correctly",
    "sentence_order_accuracy": "share of the sentence pairs of which it says correctly whether "
    "they are in order or swapped",
    "baseline": "the best accuracy without looking at the context: keep the input word where it is "
    "not [MASK] (a tenth of the words to predict), else predict the most frequent word; always "
    "predict the more frequent order",
}
_SHORTEST_EXAMPLE, _LONGEST_EXAMPLE = 25, 90  # characters of a sentence that is shown
_MOST_EXAMPLES = 6
_CANDIDATES = 5


class Masked(NamedTuple):
    """A sentence with a masked word, and the model's candidates."""

    before: str
    word: str
    after: str
    candidates: List[Tuple[str, float]]  # words and probabilities, in descending order
    untrained: float  # probability of the word before training
    trained: float  # and after


class Order(NamedTuple):
    """Two neighbouring sentences, and the model's probability of "in order" for either order."""

    first: str
    second: str
    in_order: float
    swapped: float


class Findings(NamedTuple):
    """Everything that is reported."""

    evaluations: List[evaluation.Evaluation]  # on held-out text, the untrained one first
    baselines: Dict[str, float]  # by metric
    masked: List[Masked]
    orders: List[Order]
    curve: List[Dict[str, float]]  # the training curve, a row per interval
    characters: int  # of the training text
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


class PretrainedModel(inference.MaskFiller):
    """Both pretraining heads of a checkpoint: missing words, and the order of sentences."""

    def __init__(
        self,
        config: modeling.AlbertConfig,
        checkpoint: str,
        tokenizer: tokenization.FullTokenizer,
    ):
        """Loads the weights of `checkpoint`, a path prefix."""
        tokenization.check_vocab_size(tokenizer, config.vocab_size)
        longest = config.max_position_embeddings
        source = inference.Source(config, checkpoint, None, tokenizer, longest)
        super().__init__(source, count=config.vocab_size)
        variables = self.network.graph.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)
        self.parameters = sum(variable.shape.num_elements() for variable in variables)

    def _build(self, inputs: inference.Tensors) -> inference.Tensors:
        outputs = inference.pretraining_outputs(self.source.config, inputs, False)
        order = tf.exp(outputs["sop_log_probs"])  # [B, 2]
        return dict(self._best(outputs["mlm_logits"], inputs), order=order)

    def fits(self, *segments: str) -> bool:
        """Returns whether these texts together, with [MASK], are short enough for the model."""
        # [CLS], two [SEP] and [MASK]
        return sum(len(self._ids(text)) for text in segments) + 4 <= self.source.max_seq_length

    def piece_of(self, word: str) -> Optional[int]:
        """Returns the id of the one token that is `word`, or None if it takes several."""
        ids = self._ids(word)
        return ids[0] if len(ids) == 1 else None

    def probability(self, before: str, after: str, word: str) -> float:
        """Returns the probability of `word`, which must be one token, between the two texts."""
        (found,) = self.network.run([self._masked_row(f"{before}{inference.MASK}{after}")])
        return float(found["shares"][0][found["ids"][0].tolist().index(self.piece_of(word))])

    def order_probability(self, first: str, second: str) -> float:
        """Returns how probable it is that `first` comes before `second` in running text."""
        if not self.fits(first, second):
            raise ValueError(f"{first[:60]!r} and the text after it are too long for the model.")
        (found,) = self.network.run([self._row([self._ids(first), self._ids(second)])])
        return float(found["order"][0])


def examine(path: pathlib.Path, corpus: demo_corpus.Corpus, spec: batches.FeatureSpec) -> Findings:
    """Collects a run's evaluations and queries its untrained and trained model.

    Args:
      path: the run's folder.
      corpus: the text.
      spec: of the records.
    """
    model_dir = str(path / "model")
    config = modeling.AlbertConfig.from_json_file(str(path / "albert_config.json"))
    tokenizer = tokenization.FullTokenizer(None, spm_model_file=str(path / "vocabulary.model"))
    checkpoints = evaluation.list_checkpoints(model_dir)
    untrained = PretrainedModel(config, checkpoints[0].path, tokenizer)
    trained = PretrainedModel(config, checkpoints[-1].path, tokenizer)
    with untrained, trained:
        masked = [
            _fill(sentence, untrained, trained)
            for sentence in SENTENCES
            if trained.piece_of(sentence[1]) is not None and trained.fits(*sentence)
        ]
        pairs = (pair for pair in _sentence_pairs(corpus.held_out) if trained.fits(*pair))
        orders = [
            Order(
                first,
                second,
                in_order=trained.order_probability(first, second),
                swapped=trained.order_probability(second, first),
            )
            for first, second in itertools.islice(pairs, _MOST_EXAMPLES)
        ]
    curve = hooks.read_curve(str(path / "model" / "training_curve.csv"))
    return Findings(
        evaluations=evaluation.read_results(model_dir),
        baselines=baselines(str(path / "held_out.tf_record"), spec, tokenizer.vocab["[MASK]"]),
        masked=masked,
        orders=orders,
        curve=[{name: float(value) for name, value in row.items() if value} for row in curve],
        characters=sum(len(item) for text in corpus.training for item in text.sentences),
        held_out_documents=len(corpus.held_out),
        config=config,
        parameters=trained.parameters,
    )


def baselines(record_file: str, spec: batches.FeatureSpec, mask_id: int) -> Dict[str, float]:
    """Returns the accuracies that are possible without looking at the context, see EXPLANATIONS."""
    words, inputs, orders = [], [], []
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = batches.evaluation_batches([record_file], spec, batch_size=64)
        batch = tf.data.make_one_shot_iterator(dataset).get_next()
        for _ in range(model.evaluation_steps([record_file], 64, 10**9)):
            values = session.run(batch)
            counts = values["masked_lm_weights"] > 0
            words.append(values["masked_lm_ids"][counts])
            shown = np.take_along_axis(values["input_ids"], values["masked_lm_positions"], axis=1)
            inputs.append(shown[counts])
            orders.append(values["next_sentence_labels"][values["is_real_example"] > 0])
    word, seen, order = (np.concatenate(parts).reshape(-1) for parts in (words, inputs, orders))
    hidden = word[seen == mask_id]
    right = np.sum(word == seen) + (np.bincount(hidden).max() if len(hidden) else 0)
    accuracies = (right / len(word), np.bincount(order).max() / len(order))
    return dict(zip(METRICS, map(float, accuracies)))


def _fill(
    sentence: Tuple[str, str, str],
    untrained: PretrainedModel,
    trained: PretrainedModel,
) -> Masked:
    before, word, after = sentence
    ((found,),) = trained.fill([f"{before}{inference.MASK}{after}"])
    return Masked(
        before,
        word,
        after,
        candidates=[(item.word, item.probability) for item in found[:_CANDIDATES]],
        untrained=untrained.probability(before, after, word),
        trained=trained.probability(before, after, word),
    )


def _sentence_pairs(documents: Sequence[demo_corpus.Document]) -> Iterator[Tuple[str, str]]:
    """The first two sentences of documents if they are short, one pair per source."""
    shown = set()
    for document in documents:
        pair = (document.sentences[0], document.sentences[1])
        lengths = [len(sentence) for sentence in pair]
        is_short = min(lengths) >= _SHORTEST_EXAMPLE and max(lengths) <= _LONGEST_EXAMPLE
        if is_short and document.source not in shown:
            shown.add(document.source)
            yield pair


def comparison(findings: Findings) -> List[Tuple[str, ...]]:
    """Returns the rows of the table with the head HEAD."""
    rows: List[Tuple[str, ...]] = []
    for metric in METRICS:
        shares = (findings.untrained, findings.baselines, findings.trained)
        rows.append((metric, *(f"{values[metric]:.1%}" for values in shares)))
    losses = [f"{metrics['loss']:.3f}" for metrics in (findings.untrained, findings.trained)]
    return rows + [("loss", losses[0], "", losses[1])]


def summary(findings: Findings) -> str:
    """Returns what the terminal shows."""
    rows = [HEAD, *comparison(findings)]
    lines = ["    {:<26}{:>12}{:>12}{:>12}".format(*row) for row in rows]
    lines += ["", *(f"    {name}: {text}." for name, text in EXPLANATIONS.items())]
    lines += ["", "    Masked words and the model's best candidates:"]
    for item in findings.masked:
        best = ", ".join(f"{word} {share:.1%}" for word, share in item.candidates[:3])
        lines.append(f"      {item.before}[{item.word}]{item.after}  ->  {best}")
    return "\n".join(lines)
