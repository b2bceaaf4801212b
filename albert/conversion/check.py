# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs a model before and after its conversion on random input, and compares the outputs.

What came from albert_zh is compared with its computation written out in NumPy, on the variables as
they were; models of Hugging Face are run by transformers.

Dimensions: B batch, S sequence, H hidden, V vocabulary, C labels.
"""

import json
import os
import tempfile
from typing import Dict, List, NamedTuple, Optional, Sequence

import numpy as np
import tensorflow.compat.v1 as tf

from albert import classifier_utils, fine_tuning_utils, modeling
from albert.conversion import huggingface_files
from albert.conversion import names as checkpoint_names
from albert.conversion import weights as checkpoint_conversion
from albert.pretrained import warm_start as checkpoint_init
from albert.squad import heads as squad_heads
from albert.util import runtime as precision

Outputs = Dict[str, np.ndarray]

# Of outputs up to 1; of others relative to the largest value.
TOLERANCE = 1e-4


class Batch(NamedTuple):
    """Random input, int32 [B, S]; of each sequence the place 1 is a masked word."""

    input_ids: np.ndarray
    input_mask: np.ndarray
    segment_ids: np.ndarray


class Difference(NamedTuple):
    """How far an output is from what it was.

    Attributes:
      output: its name.
      largest: the largest difference.
      scale: the largest absolute value.
    """

    output: str
    largest: float
    scale: float


def random_batch(config: modeling.AlbertConfig, seed: int = 0) -> Batch:
    """Returns sequences of different lengths, with both segments."""
    generator = np.random.RandomState(seed)
    length = min(24, config.max_position_embeddings)
    lengths = np.array([[length], [max(2, length - 5)], [max(2, length // 3)]])
    places = np.arange(length)[None]  # [1, S]
    mask = (places < lengths).astype(np.int32)  # [B, S]
    segments = (places >= lengths // 2) * mask * min(1, config.type_vocab_size - 1)
    ids = generator.randint(0, config.vocab_size, mask.shape)
    return Batch((ids * mask).astype(np.int32), mask, segments.astype(np.int32))


# ---------------------------------------------------------------------------------------------
# Ours.


def our_outputs(
    config: modeling.AlbertConfig,
    checkpoint: str,
    batch: Batch,
    *,
    parts: Sequence[str],
    label_count: Optional[int] = None,
) -> Outputs:
    """Returns what our model says of a batch.

    Args:
      config: of the model.
      checkpoint: prefix of its weights.
      batch: the input.
      parts: those of checkpoint_names that the checkpoint has.
      label_count: C, with a classifier.

    Returns:
      sequence_output [B, S, H], pooled_output [B, H] and, of the heads there are: mlm_logits [B, V]
      of place 1, sop_logits [B, 2], logits [B, C], start_logits and end_logits [B, S].
    """

    builders = [lambda inputs: _pretrained_outputs(config, inputs, parts)]
    if checkpoint_names.CLASSIFIER in parts:
        builders.append(lambda inputs: _class_logits(config, inputs, label_count))
    if checkpoint_names.SPANS in parts:
        builders.append(lambda inputs: _span_logits(config, inputs))
    result: Outputs = {}
    for build in builders:
        with tf.Graph().as_default():
            outputs = build(Batch(*(tf.constant(value) for value in batch)))
            with tf.Session(config=precision.session_config()) as session:
                checkpoint_init.restore_weights(session, checkpoint)
                result.update(session.run(outputs))
    return result


def _pretrained_outputs(
    config: modeling.AlbertConfig, inputs: Batch, parts: Sequence[str]
) -> Dict[str, tf.Tensor]:
    """What encoder and pretraining heads give."""
    model = modeling.AlbertModel(
        config,
        False,
        inputs.input_ids,
        input_mask=inputs.input_mask,
        token_type_ids=inputs.segment_ids,
        scope="bert",
    )
    sequence, pooled = model.get_sequence_output(), model.get_pooled_output()
    outputs = {"sequence_output": sequence, "pooled_output": pooled}
    if checkpoint_names.SENTENCE_ORDER in parts:
        outputs["sop_logits"] = modeling.sentence_order_logits(config, pooled)
    if checkpoint_names.MASKED_WORDS in parts:
        outputs["mlm_logits"] = modeling.masked_lm_logits(
            config,
            sequence,
            model.get_embedding_table(),
            positions=tf.ones_like(inputs.input_ids[:, :1]),
            projection=model.get_embedding_projection(),
        )
    return outputs


def _class_logits(
    config: modeling.AlbertConfig, inputs: Batch, label_count: int
) -> Dict[str, tf.Tensor]:
    """What the head of run_classifier (and of run_race, for each choice) gives."""
    _, _, _, logits, _ = classifier_utils.create_model(
        config,
        False,
        *inputs,
        None,
        label_count,
        False,
        "",
        None,
        is_regression=label_count == 1,
    )
    return {"logits": tf.reshape(logits, [-1, label_count])}


def _span_logits(config: modeling.AlbertConfig, inputs: Batch) -> Dict[str, tf.Tensor]:
    """What the head of run_squad_v1 gives."""
    encoder = fine_tuning_utils.Encoder(config, False)
    return dict(squad_heads.span_logits(encoder, inputs._asdict())._asdict())


# ---------------------------------------------------------------------------------------------
# albert_zh, in NumPy.


class _AlbertZh:
    """The computation of the public code, on its variables as they are called there.

    Source: modeling.py and run_pretraining.py of brightmart/albert_zh; float64.
    """

    def __init__(self, values: checkpoint_conversion.Values, config: modeling.AlbertConfig):
        self._values = values
        self._config = config

    def outputs(self, batch: Batch) -> Outputs:
        """The outputs of the heads there are, named as in `our_outputs`."""
        hidden = self._embed(batch)
        adder = (1.0 - batch.input_mask[:, None, None, :]) * -10000.0  # [B, 1, 1, S]
        for _ in range(self._config.num_hidden_layers):
            hidden = self._layer(hidden, adder)
        pooled = np.tanh(self._dense(hidden[:, 0], "bert/pooler/dense"))
        found = {"sequence_output": hidden, "pooled_output": pooled}
        if "cls/predictions/output_bias" in self._values:
            found["mlm_logits"] = self._masked_words(hidden[:, 1])
        if "cls/seq_relationship/output_bias" in self._values:
            found["sop_logits"] = self._output(pooled, "cls/seq_relationship/")
        if "output_bias" in self._values:
            if self._config.ln_type == "preln":
                pooled = self._norm(pooled, "loss/LayerNorm")
            found["logits"] = self._output(pooled, "")
        return found

    def _get(self, name: str) -> np.ndarray:
        return self._values[name].astype(np.float64)

    def _words(self) -> np.ndarray:
        names = ("bert/embeddings/word_embeddings", "bert/embeddings/word_embeddings_1")
        return self._get(next(name for name in names if name in self._values))

    def _project(self, vectors: np.ndarray, *, back: bool = False) -> np.ndarray:
        name = "bert/embeddings/word_embeddings_2"
        if name not in self._values:
            return vectors
        matrix = self._get(name)  # [E, H]
        return np.dot(vectors, matrix.T if back else matrix)

    def _dense(self, x: np.ndarray, name: str) -> np.ndarray:
        return np.dot(x, self._get(f"{name}/kernel")) + self._get(f"{name}/bias")

    def _output(self, x: np.ndarray, scope: str) -> np.ndarray:
        return np.dot(x, self._get(f"{scope}output_weights").T) + self._get(f"{scope}output_bias")

    def _norm(self, x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        standard = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return standard * self._get(f"{name}/gamma") + self._get(f"{name}/beta")

    def _activate(self, x: np.ndarray) -> np.ndarray:
        simple = {"linear": lambda y: y, "relu": lambda y: np.maximum(y, 0), "tanh": np.tanh}
        name = (self._config.hidden_act or "linear").lower()
        if name in simple:
            return simple[name](x)
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))

    def _embed(self, batch: Batch) -> np.ndarray:
        scope = "bert/embeddings"
        words = self._project(self._words()[batch.input_ids])  # [B, S, H]
        types = self._get(f"{scope}/token_type_embeddings")[batch.segment_ids]
        positions = self._get(f"{scope}/position_embeddings")[: words.shape[1]]
        return self._norm(words + types + positions, f"{scope}/LayerNorm")

    def _layer(self, hidden: np.ndarray, adder: np.ndarray) -> np.ndarray:
        scope = "bert/encoder/layer_shared"
        first, second = f"{scope}/attention/output/LayerNorm", f"{scope}/output/LayerNorm"
        if self._config.ln_type == "preln":
            hidden = hidden + self._attend(self._norm(hidden, first), adder)
            return hidden + self._feed_forward(self._norm(hidden, second))
        hidden = self._norm(hidden + self._attend(hidden, adder), first)
        return self._norm(hidden + self._feed_forward(hidden), second)

    def _feed_forward(self, hidden: np.ndarray) -> np.ndarray:
        scope = "bert/encoder/layer_shared"
        inner = self._activate(self._dense(hidden, f"{scope}/intermediate/dense"))
        return self._dense(inner, f"{scope}/output/dense")

    def _attend(self, hidden: np.ndarray, adder: np.ndarray) -> np.ndarray:
        scope = "bert/encoder/layer_shared/attention"
        batch, length, width = hidden.shape
        heads = self._config.num_attention_heads
        query, key, value = (
            self._dense(hidden, f"{scope}/self/{name}")
            .reshape(batch, length, heads, width // heads)
            .transpose(0, 2, 1, 3)  # [B, N, S, D]
            for name in ("query", "key", "value")
        )
        scores = np.matmul(query, key.transpose(0, 1, 3, 2)) / np.sqrt(width // heads) + adder
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        context = np.matmul(weights / weights.sum(-1, keepdims=True), value)
        joined = context.transpose(0, 2, 1, 3).reshape(hidden.shape)
        return self._dense(joined, f"{scope}/output/dense")

    def _masked_words(self, hidden: np.ndarray) -> np.ndarray:
        scope = "cls/predictions"
        vectors = self._activate(self._dense(hidden, f"{scope}/transform/dense"))
        vectors = self._norm(vectors, f"{scope}/transform/LayerNorm")
        logits = np.dot(self._project(vectors, back=True), self._words().T)
        return logits + self._get(f"{scope}/output_bias")


def albert_zh_outputs(
    values: checkpoint_conversion.Values, config: modeling.AlbertConfig, batch: Batch
) -> Outputs:
    """Returns what albert_zh computes from its variables; the names are those of `our_outputs`."""
    return _AlbertZh(values, config).outputs(batch)


# ---------------------------------------------------------------------------------------------
# Hugging Face.

_SAME_OUTPUTS = {
    "last_hidden_state": "sequence_output",
    "pooler_output": "pooled_output",
    "sop_logits": "sop_logits",
    "start_logits": "start_logits",
    "end_logits": "end_logits",
}


def huggingface_outputs(
    folder: str, architecture: str, batch: Batch, *, python: Optional[str]
) -> Outputs:
    """Returns what transformers computes, with the names of `our_outputs`.

    Args:
      folder: of the model.
      architecture: the class to load it by.
      batch: the input.
      python: interpreter with torch and transformers; None is this one.

    Raises:
      ValueError: it cannot be run, or does not find all its weights.
    """
    inputs = {
        "input_ids": batch.input_ids.astype(np.int64),
        "attention_mask": batch.input_mask.astype(np.int64),
        "token_type_ids": batch.segment_ids.astype(np.int64),
    }
    with tempfile.TemporaryDirectory() as temporary:
        read, written = (os.path.join(temporary, name) for name in ("in.npz", "out.npz"))
        np.savez(read, **inputs)
        said = huggingface_files.call(python, "run", folder, architecture, read, written)
        with np.load(written) as found:
            theirs = {name: found[name] for name in found.files}
    _check_loaded(json.loads(said.splitlines()[-1]))
    result = {ours: theirs[name] for name, ours in _SAME_OUTPUTS.items() if name in theirs}
    if "prediction_logits" in theirs or architecture == "AlbertForMaskedLM":
        words = theirs.get("prediction_logits", theirs.get("logits"))  # [B, S, V]
        result["mlm_logits"] = words[:, 1]
    elif "logits" in theirs:
        result["logits"] = theirs["logits"]
    return result


def _check_loaded(info: Dict[str, List[str]]) -> None:
    """What transformers did not find it would have filled with random numbers."""
    for kind in ("missing_keys", "mismatched_keys", "error_msgs"):
        if info.get(kind):
            raise ValueError(f"transformers reports {kind}: {', '.join(info[kind])}.")


# ---------------------------------------------------------------------------------------------
# The comparison.


def compare(before: Outputs, after: Outputs) -> List[Difference]:
    """Returns the differences of the outputs that both have.

    Raises:
      ValueError: an output differs by more than TOLERANCE, or that of a head is not there.
    """
    absent = sorted((set(after) ^ set(before)) - {"pooled_output"})
    if absent:
        raise ValueError(f"Only one of the two models gives {', '.join(absent)}.")
    differences = [
        Difference(
            name,
            float(np.max(np.abs(before[name] - after[name]))),
            float(np.max(np.abs(before[name]))),
        )
        for name in sorted(set(before) & set(after))
    ]
    # Heads compute with the numbers of the sequence, large where LayerNorm is not the last step.
    sequence = max([item.scale for item in differences if item.output == "sequence_output"] + [1.0])
    wrong = [
        item for item in differences if not item.largest <= TOLERANCE * max(sequence, item.scale)
    ]
    if wrong:
        raise ValueError(
            "The converted model does not compute what the original does:\n"
            + format_differences(wrong)
        )
    return differences


def format_differences(differences: Sequence[Difference]) -> str:
    """Returns a line for each output."""
    return "\n".join(
        f"  {item.output}: largest difference {item.largest:.2e} (largest value {item.scale:.3g})"
        for item in differences
    )
