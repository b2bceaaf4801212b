# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A SQuAD model as a SavedModel, and as a TensorFlow Lite file.

Both read input_ids, input_mask and segment_ids, from which it follows where an answer may be. The
operations are plain ones on float32.

Dimensions: B batch, S max_seq_length.
"""

import logging
import os
from typing import Callable, Dict, Mapping

import numpy as np
import tensorflow.compat.v1 as tf

from albert.pretrained import exported, warm_start
from albert.pretrained.saved_model import Inputs
from albert.runtimes import compat, estimator
from albert.util import files

TFLITE_NAME = "albert_model.tflite"

_LOGGER = logging.getLogger("albert")

_TOLERANCE = 1e-4  # of the converted model's logits


def answer_mask(inputs: Inputs) -> tf.Tensor:
    """Returns p_mask, float32 [B, S]: 0 at [CLS] and the paragraph's tokens, else 1.

    The paragraph is segment 1 without its last place in use, which is [SEP].
    """
    used = tf.cast(inputs.input_mask, tf.float32)
    has_next = tf.pad(used[:, 1:], [[0, 0], [0, 1]])
    paragraph = tf.cast(inputs.segment_ids, tf.float32) * used * has_next
    first = tf.pad(tf.ones_like(used[:, :1]), [[0, 0], [0, tf.shape(used)[1] - 1]])
    return 1.0 - tf.maximum(paragraph, first)


def export_tflite(
    export_dir: str,
    build: Callable[[Inputs], Mapping[str, tf.Tensor]],
    checkpoint: str,
    *,
    max_seq_length: int,
    vocab_size: int,
) -> str:
    """Writes export_dir/albert_model.tflite, which reads int32 [1, S], and compares it.

    Args:
      export_dir: folder; made if need be.
      build: builds the network of v1 on its inputs; start_logits and end_logits are [1, S].
      checkpoint: path prefix of the weights.
      max_seq_length: S.
      vocab_size: tokens to compare with.

    Returns:
      The file.

    Raises:
      ValueError: the checkpoint does not fit the model.
      RuntimeError: the converted model gives other logits than the model.
    """
    graph = tf.Graph()
    with graph.as_default():
        shape = [1, max_seq_length]
        inputs = Inputs(*(tf.placeholder(tf.int32, shape, name) for name in Inputs._fields))
        outputs = dict(build(inputs))
        with tf.Session(graph=graph, config=compat.session_config()) as session:
            warm_start.restore_weights(session, checkpoint)
            content = exported.converted(session, inputs, outputs)
            sample = _sample(max_seq_length, vocab_size)
            feed = {inputs._asdict()[name]: value for name, value in sample.items()}
            expected = session.run(outputs, feed)
    found = run_tflite(content, sample)
    difference = max(np.abs(found[name] - value).max() for name, value in expected.items())
    if not difference <= _TOLERANCE:
        raise RuntimeError(
            f"The TensorFlow Lite model's logits differ by {difference:.3g} from the model's. It "
            f"was not written. Try the converter of another TensorFlow than {tf.__version__}."
        )
    tf.io.gfile.makedirs(export_dir)
    path = os.path.join(export_dir, TFLITE_NAME)
    files.atomic_write_bytes(path, content)
    _LOGGER.info("Wrote %s; its logits differ from the model's by %.2g at most.", path, difference)
    return path


def _sample(length: int, vocab_size: int) -> Dict[str, np.ndarray]:
    """A sequence of three quarters of the length."""
    places = np.arange(length)[None]
    used = (places < 3 * length // 4).astype(np.int32)
    ids = np.random.RandomState(0).randint(0, vocab_size, [1, length])
    return {
        "input_ids": (ids * used).astype(np.int32),
        "input_mask": used,
        "segment_ids": ((places > length // 8) * used).astype(np.int32),
    }


def run_tflite(content: bytes, inputs: Mapping[str, np.ndarray]) -> Dict[str, np.ndarray]:
    """Returns what a TensorFlow Lite model makes of inputs [1, S], by its outputs' names."""
    interpreter = tf.lite.Interpreter(model_content=content)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], inputs[detail["name"].split(":")[0]])
    interpreter.invoke()
    return {
        detail["name"].split(":")[0]: interpreter.get_tensor(detail["index"])
        for detail in interpreter.get_output_details()
    }


def build_serving_input_fn(seq_length):
    """Returns a function that makes a ServingInputReceiver of int32 [1, seq_length] each."""

    def input_fn():
        shape = [1, seq_length]
        inputs = {name: tf.placeholder(tf.int32, shape, name) for name in Inputs._fields}
        return estimator.export.ServingInputReceiver(inputs, inputs)

    return input_fn
