# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tagging words, for example to recognize entities, as a task.

A word's tag is predicted at its first token (BERT, arXiv:1810.04805, section 5.3). A sentence that
is too long is split into several records.

Dimensions: B batch, S sequence, H hidden, L labels.
"""

import functools
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.data import feature_cache, split_files
from albert.data.packing import SEQUENCES, pack
from albert.data.record_format import Feature, FeatureSpec
from albert.fine_tuning_utils import HEAD_INITIALIZER_RANGE, Encoder, Features, HeadOutput
from albert.tasks.tagging import decoding, schemes
from albert.tasks.tagging import examples as tagging_examples
from albert.tasks.tagging.examples import Sentence
from albert.tasks.tagging.flags import TaggerFlags
from albert.training import fine_tuned
from albert.training.task import Outputs, Task
from albert.util import UserError, log, wording


class Tagged(NamedTuple):
    """The prediction for a text.

    Attributes:
      words, tags: the words of the text, and a tag for each word.
      entities: type, text, first character and last character (exclusive) of each entity.
    """

    text: str
    words: Sequence[str]
    tags: List[str]
    entities: List[Dict[str, Any]]


class TaggingTask(Task):
    """A tag for each word of a sentence."""

    flags: TaggerFlags
    flags_class = TaggerFlags
    name = "tagging"
    description_name = "tagging.json"
    best_metric = "f1"
    file_flags = {"train": "train_file", "dev": "dev_file"}
    row_names = {2: ("tokens", "tags")}
    sequences = (*SEQUENCES, "label_ids")
    heard_flags = ("tag_scheme", "valid_tags")
    description_schema = {
        "labels": [str],
        "tag_scheme": (set(schemes.SCHEME_NAMES), None),
        "valid_tags": (bool, None),
    }

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.scheme: Any = None
        self.labels = self.description.get("labels")
        first_sentences = dict.fromkeys(self.labels or [], self.description_name)
        training_data: Sequence[Sentence] = ()
        if not self.labels:
            training_data = self.examples("train")
            first_sentences = tagging_examples.tag_locations(training_data)
            self.labels = [schemes.OUTSIDE, *sorted(first_sentences.keys() - {schemes.OUTSIDE})]
        name = self.flags.tag_scheme or self.description.get("tag_scheme")
        self.scheme = schemes.find(self.labels, name)
        self.scheme.check(first_sentences)
        costs = decoding.transition_costs(self.scheme, self.labels)
        is_valid = self.description.get("valid_tags", False)
        if training_data:
            tags_of_sentences = [sentence.tags or () for sentence in training_data]
            is_valid = decoding.follow(tags_of_sentences, self.labels, costs)
            if not is_valid:  # IOB1, for example
                log.info("The training data break the scheme. --valid_tags enforces it.")
        is_valid = self.flags.valid_tags and (is_valid or "valid_tags" in self.flags.explicit)
        # None: each word gets its best tag.
        self._costs = costs if is_valid and costs.any() else None
        if self.flags.do_train or self.flags.do_eval:
            log.info("The tags are %s: %s.", self.scheme.name, wording.listed(self.labels))

    def describe(self, is_export: bool = False) -> Dict[str, Any]:
        """Returns the values of tagging.json."""
        return {**super().describe(is_export), "labels": list(self.labels), **self.decoding()}

    def decoding(self) -> Dict[str, Any]:
        """Returns how tags form entities, and whether only valid sequences are predicted."""
        return {"tag_scheme": self.scheme.name, "valid_tags": self._costs is not None}

    @functools.lru_cache(maxsize=None)  # noqa: B019, it lives as long as the process
    def examples(self, split: str) -> List[Sentence]:
        """Reads a split: from the files that a flag names, or that have the split's name."""
        paths = split_files.find(self.flags, split, tagging_examples.ENDINGS)
        sentences_of_split = [
            sentence for path in paths for sentence in self.read_file(path, split != "test")
        ]
        log.info("%s data: %d sentences from %s.", split, len(sentences_of_split), ", ".join(paths))
        return sentences_of_split

    def read_file(self, path: str, needs_tags: bool = True) -> List[Sentence]:
        """Reads a file, and checks its tags if `scheme` is set."""
        columns = (self.flags.token_column, self.flags.tag_column)
        sentences_of_file = tagging_examples.read(path, *columns, needs_tags=needs_tags)
        if needs_tags and self.scheme:
            self.scheme.check(tagging_examples.tag_locations(sentences_of_file))
        return sentences_of_file

    def parse(self, text: Any) -> Sentence:
        """Returns the example for a text or a list of words."""
        if isinstance(text, str):
            return tagging_examples.of_text(text)
        if not isinstance(text, (list, tuple)) or not all(isinstance(word, str) for word in text):
            raise UserError("It must be a text or a list of words.")
        return tagging_examples.of_words(text)

    def spec(self, is_training: bool) -> FeatureSpec:
        """Returns the declaration of the records. Only the first token of a word has a label_id."""
        return FeatureSpec([Feature(name, (self.flags.max_seq_length,)) for name in self.sequences])

    def encode(self, examples: Sequence[Sentence], is_training: bool) -> feature_cache.Conversion:
        """Returns the records of sentences. Each token is in one record."""
        length = self.flags.max_seq_length
        *ends, mask = self.tokenizer.required_ids(["[CLS]", "[SEP]", "[MASK]"])
        numbers = {label: number for number, label in enumerate(self.labels, 1)}
        rows, labels = [], []
        for _, words, tags, _ in examples:
            tokens: List[Any] = []
            for pieces, tag in zip(self.tokenizer.encode_ids_batch(list(words)), tags or words):
                # A tag that is not in the training data counts as O. A word of invisible characters
                # has no pieces.
                tokens += zip(pieces or [mask], [numbers.get(tag, 1)] + [0] * len(pieces))
            for first in range(0, len(tokens) or 1, length - 2):
                part = tokens[first : first + length - 2]
                rows.append([[token for token, _ in part]])
                padding = [0] * (length - 1 - len(part))
                labels.append([0, *(label for _, label in part), *padding])
        records = {**pack(rows, ends, length), "label_ids": labels}
        notes = {"empty": sum(not sentence.words for sentence in examples)}
        return feature_cache.Conversion(records, notes)

    def head(self, features: Features, encoder: Encoder) -> HeadOutput:
        """Builds dropout and a dense layer on the output for each token."""
        encoded = encoder(*(features[name] for name in SEQUENCES))
        sequence = encoder.dropout(encoded.sequence_output, 0.1)  # [B, S, H]
        shape = [int(sequence.shape[-1]), len(self.labels)]
        dense = modeling.get_dense("tagging", shape, HEAD_INITIALIZER_RANGE)
        logits = tf.tensordot(sequence, dense.kernel, 1) + dense.bias  # [B, S, L]
        outputs = {"predictions": tf.argmax(logits, axis=-1, output_type=tf.int32)}
        is_export = "label_ids" not in features
        if is_export or self._costs is not None:
            outputs["logits"] = logits
        if is_export:
            return HeadOutput(None, outputs, {})
        labels = features["label_ids"]
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.maximum(labels - 1, 0), logits=logits
        )
        weights = tf.cast(labels > 0, tf.float32)  # [B, S]; 1 for the first token of a word
        loss = tf.reduce_sum(weights * losses, 1) / tf.maximum(tf.reduce_sum(weights, 1), 1.0)
        return HeadOutput(loss, dict(outputs, label_ids=labels), {})

    def label_pairs(
        self, examples: Sequence[Sentence], outputs: Outputs
    ) -> Tuple[np.ndarray, np.ndarray]:
        """Returns label and prediction of each word; with --valid_tags in valid sequences."""
        if self._costs is None:
            return super().label_pairs(examples, outputs)
        all_scores = {**outputs, "predictions": outputs["logits"]}
        right, logits = super().label_pairs(examples, all_scores)  # logits: [N, L]
        ends = np.cumsum([len(sentence.words) for sentence in examples])
        sentences = np.split(logits, ends[:-1])
        return right, np.concatenate(
            [decoding.best_tags(words, self._costs) for words in sentences]
        )

    def decode(self, examples: Sequence[Sentence], outputs: Outputs) -> List[Tagged]:
        """Returns tags and entities. Outputs at first tokens are in the order of the words."""
        answers, numbers = [], iter(self.label_pairs(examples, outputs)[1].tolist())
        for text, words, *_ in examples:
            tags = [self.labels[next(numbers)] for _ in words]
            spans = tagging_examples.spans(text, words, self.scheme.entities(tags))
            answers.append(Tagged(text, words, tags, spans))
        return answers

    def measure(self, examples: Sequence[Sentence], outputs: Outputs) -> Dict[str, float]:
        """Returns precision, recall and F1 of entities."""
        right = [self.scheme.entities(sentence.tags) for sentence in examples]
        predicted = [self.scheme.entities(tagged.tags) for tagged in self.decode(examples, outputs)]
        return schemes.scores(right, predicted)

    def predictions(
        self, split: str, examples: Sequence[Sentence], outputs: Outputs
    ) -> Dict[str, str]:
        """Returns the predictions as JSON lines, and as CoNLL."""
        (spans,) = super().predictions(split, examples, outputs).values()
        conll = [
            "".join(f"{word}\t{tag}\n" for word, tag in zip(tagged.words, tagged.tags))
            for tagged in self.decode(examples, outputs)
        ]
        return {"predictions.conll": "\n".join(conll), "predictions.jsonl": spans}


class Tagger(fine_tuned.FineTunedModel):
    """A tagger."""

    kinds = (TaggingTask,)

    def tag(self, text: str) -> Tagged:
        """Returns the tags and entities of a text."""
        return self.predict([text])[0]
