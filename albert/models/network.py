# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A network with its weights in memory. Outputs have the order of the examples.

    network = Network(task, batch_size=32)
    network.load("output/model.ckpt-best")
    network.run({"input_ids": ids, "input_mask": mask, "segment_ids": segments})

The network sorts examples by length, so that short examples need little padding.

Dimensions: N examples, B batch, S sequence.
"""

import threading
from typing import Any, Callable, Dict, Optional, Sequence

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.data.packing import Arrays
from albert.formats import exported, warm_start
from albert.runtimes import compat
from albert.util import UserError

LOWEST = -1e30  # a float32 logit below all others
_LENGTH_STEP = 8  # batches are padded to a multiple of this


class Network:
    """A graph with weights, or an exported model. Calls from several threads take turns.

    Attributes:
      graph: the network's graph; None for an exported model.
      outputs: the names of the outputs.
    """

    graph: Optional[tf.Graph] = None

    def __init__(self, task: Any, batch_size: int):
        """Takes an inference.InferenceTask, and the batch size for the longest examples."""
        if not (isinstance(batch_size, int) and batch_size >= 1):
            raise UserError(
                f"batch_size is {batch_size!r}; it must be a whole number of at least 1."
            )
        self._task, self._batch_size = task, batch_size
        self._lock = threading.Lock()

    def load(self, path: Optional[str]) -> None:
        """Loads the weights of a checkpoint or a file of export_model; None: initial weights."""
        if exported.is_program(path):
            program = exported.open_program(path)
            self.outputs = program.outputs
            # An exported model does not return inputs such as labels.
            self._compute = lambda batch: {**batch, **program.run(batch)}
            return
        if not self.graph:
            self._build_graph()
        with self.graph.as_default():
            if path:
                warm_start.restore_weights(self._session, path)
            else:
                self._session.run(tf.global_variables_initializer())
            self._session.run(self._weight_copies)

    def _build_graph(self) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default(), tf.variable_scope("", use_resource=True):
            inputs = {
                feature.name: tf.placeholder(
                    tf.int32 if feature.dtype.is_integer else feature.dtype,
                    [None] * (1 + len(feature.shape)),
                    feature.name,
                )
                for feature in self._task.spec(False).features
            }
            dtype = tf.as_dtype(self._task.precision_name)
            options = {"compute_dtype": dtype, "use_onednn": True, "keep_weights": True}
            outputs = dict(self._task.build(inputs, **options))
            variables = tf.get_collection(modeling.KEPT_WEIGHTS)
            self._weight_copies = [variable.initializer for variable in variables]
        self._session = tf.Session(graph=self.graph, config=compat.base_session_config())
        self.outputs = list(outputs)
        self._compute = lambda batch: self._session.run(
            outputs, {inputs[name]: value for name, value in batch.items() if name in inputs}
        )

    def close(self) -> None:
        """Frees the weights. Do not use the network afterwards."""
        if self.graph:
            self._session.close()

    def run(
        self,
        features: Arrays,
        *,
        batch_size: Optional[int] = None,
        on_batch: Callable[[int], None] = lambda count: None,
    ) -> Dict[str, np.ndarray]:
        """Returns the outputs [N, ...] by name, in the order of the N examples.

        Args:
          features: arrays [N, ...] by name; N is at least 1. The last dimension of sequences is S.
          batch_size: replaces the network's batch size.
          on_batch: called after each batch with the number of its examples.
        """
        mask, padding = features["input_mask"], self._task.padding
        longest, size = mask.shape[-1], batch_size or self._batch_size
        used = (mask > 0) * np.arange(1, longest + 1)
        lengths = used.reshape(len(mask), -1).max(axis=1)  # 1 + the last position in use
        order = np.argsort(-lengths, kind="stable")
        lengths = np.clip(-(-lengths // _LENGTH_STEP) * _LENGTH_STEP, _LENGTH_STEP, longest)
        parts, start = [], 0
        with self._lock:
            while start < len(order):
                length = longest if padding == "max" else lengths[order[start]]
                count = size * longest // length if padding == "bucket" else size
                rows = order[start : start + count]
                batch = {
                    name: value[rows][..., :length] if name in self._task.sequences else value[rows]
                    for name, value in features.items()
                }
                parts.append(self._compute(batch))
                on_batch(len(rows))
                start += count
        back = np.argsort(order)
        return {name: value[back] for name, value in joined(parts).items()}


def joined(parts: Sequence[Arrays]) -> Dict[str, np.ndarray]:
    """Joins batches of outputs [B, ...] to [N, ...].

    Pads them to the longest batch: whole numbers with 0, others with LOWEST.
    """
    joined_parts = {}
    for name in parts[0]:
        values = [part[name] for part in parts]
        shape = np.max([value.shape for value in values], axis=0)
        shape[0] = sum(map(len, values))
        fill = LOWEST if values[0].dtype.kind == "f" else 0
        joined_parts[name], start = np.full(shape, fill, values[0].dtype), 0
        for value in values:
            end = start + len(value)
            joined_parts[name][(slice(start, end), *map(slice, value.shape[1:]))] = value
            start = end
    return joined_parts


def check_finite(outputs: Arrays) -> Arrays:
    """Returns the outputs. Raises UserError if a value is not finite."""
    for name, value in outputs.items():
        if not np.isfinite(value).all():
            raise UserError(
                f"The model gives NaN or infinity ({name}). In float16 (--precision), activations "
                "above 65,504 are infinite: choose float32 or bfloat16, or check the checkpoint."
            )
    return outputs
