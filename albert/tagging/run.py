# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tagging, such as the recognition of entities, as a task.

A word's tag is predicted at its first token (BERT, arXiv:1810.04805, section 5.3). A sentence that
is too long is several records.

Dimensions: B batch, S sequence, H hidden, L labels.
"""

import json
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling, tokenization
from albert.data import batches, feature_cache
from albert.ops import plain
from albert.pretrained.network import SEQUENCES
from albert.tagging import sentences
from albert.tagging.sentences import Entity, Sentence
from albert.tagging.settings import TaggerFlags
from albert.training import fine_tuned
from albert.training.task import Outputs, Task
from albert.util.errors import UserError

_DROPOUT = 0.1
_OUTSIDE = "O"


class Tagged(NamedTuple):
    """What a model says of a text: a tag for each word, and the entities that they make."""

    tags: List[str]
    entities: List[Entity]


class TaggingTask(Task):
    """A tag for each word of a sentence."""

    settings: TaggerFlags
    flags = TaggerFlags
    name = "tagging"
    description_name = "tagging.json"
    best_metric = "f1"
    sequences = (*SEQUENCES, "label_ids")

    def __init__(
        self,
        settings: TaggerFlags,
        tokenizer: tokenization.FullTokenizer,
        description: Mapping[str, Any],
    ):
        super().__init__(settings, tokenizer, description)
        self.labels = description.get("labels", ())
        if not self.labels:
            found = {tag for sentence in self.examples("train") for tag in sentence.tags or ()}
            self.labels = sorted(found | {_OUTSIDE}, key=lambda tag: (tag != _OUTSIDE, tag))

    def describe(self) -> Dict[str, Any]:
        """Returns what tagging.json says of the task."""
        return dict(super().describe(), labels=list(self.labels))

    def examples(self, split: str) -> List[Sentence]:
        """Reads a split."""
        settings, found = self.settings, []
        for path in sentences.find(settings.data_dir, split):
            found += sentences.read(path, settings.token_column, settings.tag_column)
            if split != "test" and any(sentence.tags is None for sentence in found):
                raise UserError(f"{path}: a sentence has no tags, and the {split} data need them.")
        return found

    def parse(self, text: Any) -> Sentence:
        """Returns the example for a text, or for a list of words."""
        if isinstance(text, str):
            return sentences.of_text(text)
        return sentences.of_words(text, None)

    def spec(self, is_training: bool) -> batches.FeatureSpec:
        """Returns the declaration of the records; label_ids are 0 but at first tokens."""
        shape = (self.settings.max_seq_length,)
        return batches.FeatureSpec([batches.Feature(name, shape) for name in self.sequences])

    def encode(self, examples: Sequence[Sentence], is_training: bool) -> feature_cache.Conversion:
        """Returns the records of sentences, each word in one of them."""
        length = self.settings.max_seq_length
        start, end = self.tokenizer.required_ids(["[CLS]", "[SEP]"])
        unknown = self.tokenizer.vocab.get("[UNK]", self.tokenizer.vocab.get("<unk>"))
        numbers = {label: number for number, label in enumerate(self.labels, 1)}
        records = []
        for text, words, tags in examples:
            ids = self.tokenizer.encode_ids_batch([text[first:last] for first, last in words])
            rows: List[List[Any]] = [[]]
            for pieces, tag in zip(ids, tags or [_OUTSIDE] * len(words)):
                # A tag that the training data lack is learnt as O.
                marks = [numbers.get(tag, 1), *[0] * length]
                word = [*zip(pieces or [unknown], marks)][: length - 2]
                if len(rows[-1]) + len(word) > length - 2:
                    rows.append([])
                rows[-1] += word
            for row in rows:
                rest = [0] * (length - 2 - len(row))
                tokens, labels = zip((start, 0), *row, (end, 0), *((0, 0) for _ in rest))
                mask = [1] * (len(row) + 2) + rest
                columns = (list(tokens), mask, [0] * length, list(labels))
                records.append(dict(zip(self.sequences, columns)))
        return feature_cache.Conversion(records)

    def head(
        self, features: fine_tuning_utils.Features, encoder: fine_tuning_utils.Encoder
    ) -> fine_tuning_utils.HeadOutput:
        """Builds dropout and a dense layer on the output for each token."""
        encoded = encoder(*(features[name] for name in SEQUENCES))
        sequence = encoder.dropout(encoded.sequence_output, _DROPOUT)  # [B, S, H]
        shape = [int(sequence.shape[-1]), len(self.labels)]
        weights = modeling.get_dense("tagging", shape, fine_tuning_utils.HEAD_INITIALIZER_RANGE)
        logits = plain.dense(tf.reshape(sequence, [-1, shape[0]]), weights)
        logits = tf.reshape(logits, [-1, tf.shape(sequence)[1], shape[1]])
        outputs = {"predictions": tf.argmax(logits, axis=-1, output_type=tf.int32)}
        labels = features.get("label_ids")
        if labels is None:
            return fine_tuning_utils.HeadOutput(None, dict(outputs, logits=logits), {})
        is_first = tf.cast(labels > 0, tf.float32)  # [B, S]
        losses = is_first * tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.maximum(labels - 1, 0), logits=logits
        )
        count = tf.maximum(tf.reduce_sum(is_first, axis=-1), 1.0)
        loss = tf.reduce_sum(losses, axis=-1) / count
        return fine_tuning_utils.HeadOutput(loss, dict(outputs, label_ids=labels), {})

    def _tags(self, examples: Sequence[Sentence], outputs: Outputs) -> List[List[str]]:
        """The tag of each word: first tokens follow each other as the words do."""
        numbers = iter(outputs["predictions"][outputs["label_ids"] > 0].tolist())
        return [[self.labels[next(numbers)] for _ in sentence.words] for sentence in examples]

    def decode(self, examples: Sequence[Sentence], outputs: Outputs) -> List[Tagged]:
        """Returns tags and entities."""
        found = zip(examples, self._tags(examples, outputs))
        return [Tagged(tags, sentences.entities(sentence, tags)) for sentence, tags in found]

    def measure(self, examples: Sequence[Sentence], outputs: Outputs) -> Dict[str, float]:
        """Returns precision, recall and F1 of entities by seqeval, the share of right tags, loss."""
        from seqeval import metrics

        pair = [list(sentence.tags or ()) for sentence in examples], self._tags(examples, outputs)
        return {
            "precision": float(metrics.precision_score(*pair, zero_division=0)),
            "recall": float(metrics.recall_score(*pair, zero_division=0)),
            "f1": float(metrics.f1_score(*pair, zero_division=0)),
            "eval_accuracy": float(metrics.accuracy_score(*pair)),
        }

    def predictions(
        self, split: str, examples: Sequence[Sentence], outputs: Outputs
    ) -> Dict[str, str]:
        """Returns the predictions as CoNLL, and as JSON lines with the entities' characters."""
        words, spans = "", ""
        for (text, places, _), found in zip(examples, self.decode(examples, outputs)):
            rows = zip(places, found.tags)
            words += "".join(f"{text[start:end]}\t{tag}\n" for (start, end), tag in rows) + "\n"
            entities = [entity._asdict() for entity in found.entities]
            spans += json.dumps({"text": text, "entities": entities}, ensure_ascii=False) + "\n"
        return {"predictions.conll": words, "predictions.jsonl": spans}


class Tagger(fine_tuned.Model):
    """A tagger; options are those of `fine_tuned.Model`."""

    def __init__(self, model_dir: str, checkpoint: Optional[str] = None, **options: Any):
        super().__init__(TaggingTask, model_dir, checkpoint, **options)

    def tag(self, text: str) -> Tagged:
        """Returns the tags and entities of a text."""
        return self.predict([text])[0]
