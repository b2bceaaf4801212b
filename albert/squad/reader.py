# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A model that run_squad_v1 or run_squad_v2 has trained, in memory, to ask it questions.

with Reader("output/squad") as model:
    model.answer("Who left?", "He saw the king. The king left.").text
"""

from typing import List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.pretrained import inference
from albert.pretrained.saved_model import Inputs
from albert.squad import decoding, features, heads
from albert.squad import export as squad_export
from albert.squad.examples import SquadExample
from albert.training import evaluation

DESCRIPTION_NAME = "squad.json"


class Answer(NamedTuple):
    """The answer to a question.

    Attributes:
      text: as it stands in the context; "" where there is none (v2), "empty" where none was found
        (v1).
      probability: among the best answers.
      null_odds: the higher, the likelier there is no answer; None of a model of v1.
    """

    text: str
    probability: float
    null_odds: Optional[float]


class Reader(inference.Model):
    """A model for SQuAD v1.1 or v2.0. Calls from several threads take turns.

    Attributes:
      threshold: null odds above which a model of v2 gives no answer: what its evaluation has found,
        or 0.
    """

    def __init__(
        self,
        model_dir: str,
        checkpoint: Optional[str] = None,
        *,
        precision_name: str = "float32",
        batch_size: int = 8,
    ):
        """Loads the model.

        Args:
          model_dir: output_dir of run_squad_v1 or run_squad_v2.
          checkpoint: weights to take in place of model.ckpt-best.
          precision_name: "float32", or "bfloat16" where the processor is faster with it.
          batch_size: most windows of a context to run together.

        Raises:
          ValueError: no such model, or a vocabulary that is gone or has changed.
        """
        keys = ("doc_stride", "max_query_length")
        trained = inference.read_trained(model_dir, DESCRIPTION_NAME, checkpoint, keys=keys)
        self._trained, self._tokenizer = trained, trained.tokenizer()
        self._is_v2 = trained.description["task"] == "squad_v2"
        metrics = evaluation.recorded_metrics(trained.checkpoint, model_dir)
        self.threshold = metrics.get("null_score_diff_threshold", 0.0)
        self.network = trained.network(
            self._build, precision_name=precision_name, batch_size=batch_size
        )

    def answer(self, question: str, context: str) -> Answer:
        """Returns the answer that the context, of any length, gives to a question."""
        return self.predict([(question, context)])[0]

    def predict(self, texts: Sequence[Tuple[str, str]]) -> List[Answer]:
        """Returns an answer for each pair (question, context), in order.

        Raises:
          ValueError: an item is no pair of texts.
        """
        examples = []
        for number, parts in enumerate(inference.checked(texts)):
            if len(parts) != 2:
                raise ValueError(f"Text number {number + 1} must be a pair (question, context).")
            examples.append(SquadExample(str(number), *parts))
        if not examples:
            return []
        found = self._windows(examples)
        windows = features.windows_of(found, self._trained.description["max_seq_length"])
        rows = []
        for item in found:
            used = item.paragraph_len
            rows.append(
                {"input_ids": item.input_ids[:used], "segment_ids": item.segment_ids[:used]}
            )
        predictions = self._decode(self.network.run(rows), windows, examples)
        odds = predictions.null_odds or {}
        best = {name: entries[0] for name, entries in predictions.nbest.items()}
        return [
            Answer(
                predictions.answers[item.qas_id],
                best[item.qas_id]["probability"],
                odds.get(item.qas_id),
            )
            for item in examples
        ]

    def _build(self, inputs: inference.Tensors, dtype: tf.DType) -> inference.Tensors:
        read = Inputs(*(inputs[name] for name in Inputs._fields))
        length = self._trained.description["max_seq_length"]
        head = heads.v2_head(heads.BeamSize(), 0.0) if self._is_v2 else heads.v1_head(length)
        sequences = dict(read._asdict(), p_mask=squad_export.answer_mask(read))
        return head(sequences, self._trained.encoder(dtype)).outputs

    def _windows(self, examples: Sequence[SquadExample]) -> List[features.InputFeatures]:
        found: List[features.InputFeatures] = []
        description = self._trained.description
        features.convert_examples_to_features(
            examples,
            self._tokenizer,
            description["max_seq_length"],
            description["doc_stride"],
            description["max_query_length"],
            False,
            found.append,
            description["do_lower_case"],
        )
        return found

    def _decode(
        self,
        rows: Sequence[inference.Tensors],
        windows: features.Windows,
        examples: Sequence[SquadExample],
    ) -> decoding.Predictions:
        outputs = {name: np.array([row[name] for row in rows]) for name in self.network.outputs}
        limits = decoding.Limits()
        if not self._is_v2:
            logits = outputs["start_logits"], outputs["end_logits"]
            spans = decoding.v1_spans(*logits, windows, limits=limits)
        else:
            beams = decoding.Beams(**{name: outputs[name] for name in decoding.Beams._fields})
            spans = decoding.v2_spans(beams, windows, limits.max_answer_length)
        best = decoding.best_answers(spans, windows, examples, n_best_size=limits.n_best_size)
        if not self._is_v2:
            return decoding.v1_predictions(best, examples)
        odds = decoding.null_scores(beams.cls_logits, windows, len(examples))
        return decoding.v2_predictions(best, odds, examples, threshold=self.threshold)
