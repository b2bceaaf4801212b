# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tagging, such as the recognition of entities, as a task.

A word's tag is predicted at its first token (BERT, arXiv:1810.04805, section 5.3). A sentence that
is too long is several records.

Dimensions: B batch, S sequence, H hidden, L labels.
"""

import json
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling, tokenization
from albert.data import batches, feature_cache
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

    @classmethod
    def check_flags(cls, settings: TaggerFlags) -> None:  # type: ignore[override]
        """Checks that there is something to do."""
        names = ("do_train", "do_eval", "do_predict", "export_dir")
        if not any(getattr(settings, name) for name in names):
            raise UserError(f"Nothing to do: give some of --{', --'.join(names)}.")

    def describe(self) -> Dict[str, Any]:
        """Returns what tagging.json says of the task."""
        return dict(super().describe(), labels=list(self.labels))

    def examples(self, split: str) -> List[Sentence]:
        """Reads a split."""
        settings = self.settings
        columns = {"token_column": settings.token_column, "tag_column": settings.tag_column}
        paths = sentences.find(settings.data_dir, split, getattr(settings, f"{split}_file"))
        found = [sentence for path in paths for sentence in sentences.read(path, **columns)]
        if split != "test" and any(sentence.tags is None for sentence in found):
            raise UserError(f"{paths[0]}: a sentence has no tags, and the {split} data need them.")
        return found

    def parse(self, text: Any) -> Sentence:
        """Returns the example for a text, or for a list of words."""
        if isinstance(text, str):
            return sentences.of_text(text)
        if not all(isinstance(word, str) for word in text):
            raise UserError("It must be a text or a list of words.")
        return sentences.of_words(text, None)

    def spec(self, is_training: bool) -> batches.FeatureSpec:
        """Returns the declaration of the records; label_ids are 0 but at first tokens."""
        shape = (self.settings.max_seq_length,)
        return batches.FeatureSpec([batches.Feature(name, shape) for name in self.sequences])

    def encode(self, examples: Sequence[Sentence], is_training: bool) -> feature_cache.Conversion:
        """Returns the records of sentences, each word in one of them."""
        length = self.settings.max_seq_length
        start, end, unknown = self.tokenizer.required_ids(["[CLS]", "[SEP]", self._unknown()])
        numbers = {label: number for number, label in enumerate(self.labels, 1)}
        records = []
        for text, words, tags in examples:
            ids = self.tokenizer.encode_ids_batch([text[first:last] for first, last in words])
            row: List[Tuple[int, int]] = []
            rows = [row]
            for pieces, tag in zip(ids, tags or [_OUTSIDE] * len(words)):
                pieces = list(pieces or [unknown])[: length - 2]
                if len(row) + len(pieces) > length - 2:
                    row = []
                    rows.append(row)
                # A tag that the training data lack is as wrong as can be.
                marks = [numbers.get(tag, numbers[_OUTSIDE]), *[0] * (len(pieces) - 1)]
                row += zip(pieces, marks)
            for row in rows:
                rest = [0] * (length - len(row) - 2)
                columns = (
                    [start, *(piece for piece, _ in row), end, *rest],
                    [1] * (len(row) + 2) + rest,
                    [0] * length,
                    [0, *(mark for _, mark in row), 0, *rest],
                )
                records.append(dict(zip(self.sequences, columns)))
        count = len(records) - len(examples)
        return feature_cache.Conversion(records, {"further record of a long sentence": count})

    def _unknown(self) -> str:
        return "[UNK]" if "[UNK]" in self.tokenizer.vocab else "<unk>"

    def head(
        self, features: fine_tuning_utils.Features, encoder: fine_tuning_utils.Encoder
    ) -> fine_tuning_utils.HeadOutput:
        """Builds dropout and a dense layer on the output for each token."""
        encoded = encoder(*(features[name] for name in SEQUENCES))
        sequence = encoder.dropout(encoded.sequence_output, _DROPOUT)  # [B, S, H]
        shape = [len(self.labels), int(sequence.shape[-1])]
        kernel = modeling.get_weight(
            "output_weights", shape, fine_tuning_utils.HEAD_INITIALIZER_RANGE
        )
        bias = tf.get_variable("output_bias", shape[:1], initializer=tf.zeros_initializer())
        flat = tf.matmul(tf.reshape(sequence, [-1, shape[1]]), kernel, transpose_b=True)
        logits = tf.reshape(tf.nn.bias_add(flat, bias), [-1, tf.shape(sequence)[1], shape[0]])
        predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
        outputs = {"logits": logits, "predictions": predictions}
        if "label_ids" not in features:
            return fine_tuning_utils.HeadOutput(None, outputs, {})
        labels = features["label_ids"]
        is_first = tf.cast(labels > 0, tf.float32)  # [B, S]
        count = tf.maximum(tf.reduce_sum(is_first, axis=-1), 1.0)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.maximum(labels - 1, 0), logits=logits
        )
        loss = tf.reduce_sum(losses * is_first, axis=-1) / count
        is_right = is_first * tf.cast(tf.equal(predictions, labels - 1), tf.float32)
        outputs["label_ids"] = labels
        logged = {"accuracy": tf.reduce_sum(is_right, axis=-1) / count}
        return fine_tuning_utils.HeadOutput(loss, outputs, logged)

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

        right = [list(sentence.tags or ()) for sentence in examples]
        found = self._tags(examples, outputs)
        return {
            "precision": float(metrics.precision_score(right, found, zero_division=0)),
            "recall": float(metrics.recall_score(right, found, zero_division=0)),
            "f1": float(metrics.f1_score(right, found, zero_division=0)),
            "eval_accuracy": float(metrics.accuracy_score(right, found)),
            "eval_loss": float(np.mean(outputs["per_example_loss"])),
        }

    def predictions(
        self, split: str, examples: Sequence[Sentence], outputs: Outputs
    ) -> Dict[str, str]:
        """Returns the predictions as CoNLL, and as JSON lines with the entities' characters."""
        words, spans = [], []
        for sentence, tagged in zip(examples, self.decode(examples, outputs)):
            for (start, end), tag in zip(sentence.words, tagged.tags):
                words.append(f"{sentence.text[start:end]}\t{tag}\n")
            words.append("\n")
            found = [entity._asdict() for entity in tagged.entities]
            row = {"text": sentence.text, "entities": found}
            spans.append(json.dumps(row, ensure_ascii=False) + "\n")
        return {"predictions.conll": "".join(words), "predictions.jsonl": "".join(spans)}


class Tagger(fine_tuned.Model):
    """A tagger; options are those of `fine_tuned.Model`."""

    def __init__(self, model_dir: str, checkpoint: Optional[str] = None, **options: Any):
        super().__init__(TaggingTask, model_dir, checkpoint, **options)

    def tag(self, text: str) -> Tagged:
        """Returns the tags and entities of a text."""
        return self.predict([text])[0]
