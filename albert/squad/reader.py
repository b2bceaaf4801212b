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
from albert.squad import decoding, export, features, heads
from albert.squad.examples import SquadExample
from albert.training import evaluation
from albert.util.errors import UserError

DESCRIPTION_NAME = "squad.json"
THRESHOLD_KEY = "null_score_diff_threshold"


class Answer(NamedTuple):
    """The answer to a question."""

    text: str  # from the context; "" where there is none (v2), "empty" where none was found (v1)
    probability: float  # among the best answers
    null_odds: Optional[float]  # the higher, the likelier there is no answer; None of a v1 model


class Reader(inference.Model):
    """A model for SQuAD v1.1 or v2.0. Calls from several threads take turns.

    Attributes:
      trained: what the model's folder says about it.
      is_v2: whether it may find no answer.
      threshold: the null odds above which it gives none.
      limits: how many answers it looks at, as in the training.
      beam: the part of `limits` that its graph has.
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
          precision_name: "float32", or "bfloat16" or "float16" where the device is faster with it.
          batch_size: most windows of a context to run together.

        Raises:
          ValueError: no such model, or a vocabulary that is gone or has changed.
        """
        types = {"doc_stride": int, "max_query_length": int, THRESHOLD_KEY: (float, int, None)}
        types.update(dict.fromkeys(decoding.Limits._fields, (int, None)))
        trained = inference.read_trained(model_dir, DESCRIPTION_NAME, checkpoint, types=types)
        self.trained, self._tokenizer = trained, trained.tokenizer()
        self.is_v2 = trained.description["task"] == "squad_v2"
        self.limits = decoding.Limits.of(trained.description)
        self.beam = heads.BeamSize(self.limits.start_n_top, self.limits.end_n_top)
        metrics = evaluation.recorded_metrics(trained.checkpoint, model_dir)
        # The null odds above which a v2 model gives no answer.
        known = trained.description.get(THRESHOLD_KEY, 0.0)
        self.threshold = metrics.get(THRESHOLD_KEY, known)
        self.network = trained.network(
            self.build, precision_name=precision_name, batch_size=batch_size
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
                raise UserError(f"Text number {number + 1} must be a pair (question, context).")
            examples.append(SquadExample(str(number), *parts))
        if not examples:
            return []
        about = self.trained.description
        lengths = about["max_seq_length"], about["doc_stride"], about["max_query_length"]
        found: List[features.InputFeatures] = []
        features.convert_examples_to_features(
            examples, self._tokenizer, *lengths, False, found.append, about["do_lower_case"]
        )
        rows = [
            {
                name: getattr(item, name)[: item.paragraph_len]
                for name in ("input_ids", "segment_ids")
            }
            for item in found
        ]
        windows = features.windows_of(found, about["max_seq_length"])
        predictions = self._decode(self.network.run(rows), windows, examples)
        answers = []
        for name, text in predictions.answers.items():
            probability = predictions.nbest[name][0]["probability"]
            answers.append(Answer(text, probability, (predictions.null_odds or {}).get(name)))
        return answers

    def build(self, inputs: inference.Tensors, dtype: tf.DType) -> inference.Tensors:
        """Builds the network on int32 [B, S]; returns the head's outputs by name."""
        read = Inputs(*(inputs[name] for name in Inputs._fields))
        length = self.trained.description["max_seq_length"]
        head = heads.v2_head(self.beam, 0.0) if self.is_v2 else heads.v1_head(length)
        sequences = dict(read._asdict(), p_mask=export.answer_mask(read))
        return head(sequences, self.trained.encoder(dtype)).outputs

    def _decode(
        self,
        rows: Sequence[inference.Tensors],
        windows: features.Windows,
        examples: Sequence[SquadExample],
    ) -> decoding.Predictions:
        outputs = {name: np.array([row[name] for row in rows]) for name in self.network.outputs}
        if not self.is_v2:
            answers = decoding.v1_answers(outputs, windows, examples, limits=self.limits)
            return decoding.v1_predictions(answers, examples)
        answers, odds = decoding.v2_answers(outputs, windows, examples, limits=self.limits)
        return decoding.v2_predictions(answers, odds, examples, threshold=self.threshold)
