# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A model that run_race has trained, in memory, to choose among the options of a question.

    with Answerer("output/race") as model:
        model.answer("He saw the king leave.", "Who left?", ["the king", "he", "nobody"]).option

Dimensions: B batch, S sequence.
"""

from typing import List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.pretrained import inference
from albert.race import examples, features, model
from albert.util.errors import UserError

DESCRIPTION_NAME = "race.json"


class Choice(NamedTuple):
    """The option that a model has chosen."""

    option: str
    number: int  # its index
    probabilities: List[float]  # of all options, in their order


class Answerer(inference.Model):
    """A model for RACE. Calls from several threads take turns."""

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
          model_dir: output_dir of run_race.
          checkpoint: weights to take in place of model.ckpt-best.
          precision_name: "float32", or "bfloat16" or "float16" where the device is faster with it.
          batch_size: most options to run together.

        Raises:
          ValueError: no such model, or a vocabulary that is gone or has changed.
        """
        types = {"max_qa_length": int}
        trained = inference.read_trained(model_dir, DESCRIPTION_NAME, checkpoint, types=types)
        self._trained, self._tokenizer = trained, trained.tokenizer()
        names = ("max_seq_length", "max_qa_length")
        self._lengths = {name: trained.description[name] for name in names}
        self.network = trained.network(
            self._build, precision_name=precision_name, batch_size=batch_size
        )

    def _build(self, inputs: inference.Tensors, dtype: tf.DType) -> inference.Tensors:
        sequences = {name: inputs[name] for name in inference.SEQUENCES}
        sequences["label_ids"] = tf.zeros_like(sequences["input_ids"][:, 0])
        # Each option is scored alone; `predict` compares those of a question.
        head = model.choice_head(0.0, num_choices=1)
        outputs = head(sequences, self._trained.encoder(dtype)).outputs
        return {"score": outputs["logits"][:, 0]}  # [B]

    def answer(self, article: str, question: str, options: Sequence[str]) -> Choice:
        """Returns the option that answers a question on an article.

        An article that is too long is cut at its end. The question may have a blank (_) for the
        option, as in RACE.
        """
        return self.predict([(article, question, options)])[0]

    def predict(self, texts: Sequence[Tuple[str, str, Sequence[str]]]) -> List[Choice]:
        """Returns a choice for each (article, question, options); ValueError without options."""
        asked = []
        for number, (article, question, options) in enumerate(texts):
            if isinstance(options, str) or not options:
                raise UserError(f"Question number {number + 1} needs a list of options.")
            endings = examples.endings_of(question, options)
            asked.append(examples.InputExample(str(number), article, None, endings))
        converted = features.convert_examples(asked, tokenizer=self._tokenizer, **self._lengths)
        rows = []
        for record in converted.records:
            columns = (record[name] for name in inference.SEQUENCES)
            for ids, mask, segments in zip(*columns):
                used = sum(mask)
                rows.append({"input_ids": ids[:used], "segment_ids": segments[:used]})
        scores = iter(float(row["score"]) for row in self.network.run(rows))
        return [_chosen(options, [next(scores) for _ in options]) for _, _, options in texts]


def _chosen(options: Sequence[str], scores: Sequence[float]) -> Choice:
    weights = np.exp(np.array(scores) - max(scores))
    number = int(np.argmax(weights))
    return Choice(options[number], number, (weights / weights.sum()).tolist())
