# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A network with its weights in memory: examples in, outputs in the same order out.

    network = GraphNetwork(build, spec, batch_size=32)
    network.load("output/model.ckpt-best")
    network.run({"input_ids": ids, "input_mask": mask, "segment_ids": segments})

Examples are sorted by length, so that short ones need little padding.

Dimensions: N examples, B batch, S sequence.
"""

import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.data.batches import FeatureSpec
from albert.pretrained import exported, warm_start
from albert.runtimes import compat
from albert.util.errors import UserError

SEQUENCES = ("input_ids", "input_mask", "segment_ids")
MASK = "input_mask"

Arrays = Mapping[str, np.ndarray]
Tensors = Mapping[str, tf.Tensor]

_LENGTH_STEP = 8  # batches are padded to a multiple of this
_READ = "ReadVariableOp"
_OF_VARIABLES = {"VarHandleOp", _READ, "ResourceGather"}  # operations
_CONTROL_FLOW = {"Enter", "Switch", "Merge"}


class Network:
    """What runs batches. Calls from several threads take turns.

    Attributes:
      outputs: an object with a `shape` for each output, by name.
    """

    outputs: Dict[str, Any]

    def __init__(
        self,
        *,
        batch_size: int,
        sequences: Sequence[str] = SEQUENCES,
        padding: str = "longest",
        fills: Mapping[str, float] = {},
    ):
        """Takes the number of examples to run together.

        Args:
          batch_size: of sequences as long as can be.
          sequences: the features that are cut to the longest example of a batch.
          padding: "longest"; "bucket" runs more examples together where they are short; "max" cuts
            nothing.
          fills: what outputs of a shorter batch end with, by name; 0 for the others.
        """
        if batch_size < 1:
            raise UserError(f"batch_size is {batch_size}; it must be at least 1.")
        self._batch_size, self._sequences, self._padding = batch_size, sequences, padding
        self.fills = fills
        self._lock = threading.Lock()

    def close(self) -> None:
        """Frees the weights; no call may follow."""

    def run(
        self,
        features: Arrays,
        *,
        batch_size: Optional[int] = None,
        on_batch: Callable[[int], None] = lambda count: None,
    ) -> Dict[str, np.ndarray]:
        """Returns the outputs of N examples, [N, ...] each, in their order.

        Args:
          features: by name, [N, ...] each; N is at least 1, and the last dimension of the
            sequences is S.
          batch_size: in place of the network's own.
          on_batch: called after each batch with the number of its examples.

        """
        lengths, longest = _lengths(features[MASK]), features[MASK].shape[-1]
        order = np.argsort(-lengths, kind="stable")
        parts, start = [], 0
        with self._lock:
            while start < len(order):
                length, size = longest, batch_size or self._batch_size
                if self._padding != "max":
                    steps = max(1, -(-lengths[order[start]] // _LENGTH_STEP))
                    length = min(longest, steps * _LENGTH_STEP)
                if self._padding == "bucket":
                    size = size * longest // length
                rows = order[start : start + size]
                parts.append(self._compute(self._batch(features, rows, length)))
                on_batch(len(rows))
                start += size
        back = np.argsort(order)
        return {name: value[back] for name, value in joined(parts, self.fills).items()}

    def _batch(self, features: Arrays, rows: np.ndarray, length: int) -> Dict[str, np.ndarray]:
        return {
            name: value[rows][..., :length] if name in self._sequences else value[rows]
            for name, value in features.items()
        }

    def _compute(self, batch: Arrays) -> Dict[str, np.ndarray]:
        """The outputs of a batch, [B, ...] each."""
        raise NotImplementedError


def _lengths(mask: np.ndarray) -> np.ndarray:
    """The length of each example, [N]: one more than the last place in use of any sequence."""
    places = np.arange(1, mask.shape[-1] + 1)
    return ((mask > 0) * places).reshape(len(mask), -1).max(axis=1)


def joined(parts: Sequence[Arrays], fills: Mapping[str, float] = {}) -> Dict[str, np.ndarray]:
    """Returns batches of outputs, [B, ...] each, as one, [N, ...].

    Each is padded to the longest, with zeros or what `fills` says.
    """
    found = {}
    for name in parts[0]:
        values = [part[name] for part in parts]
        longest = np.max([value.shape for value in values], axis=0)
        missing = [[0, *(longest - value.shape)[1:]] for value in values]
        fill = fills.get(name, 0)
        found[name] = np.concatenate(
            [
                np.pad(value, [(0, n) for n in counts], "constant", constant_values=fill)
                for value, counts in zip(values, missing)
            ]
        )
    return found


def check_finite(outputs: Dict[str, np.ndarray]) -> Dict[str, np.ndarray]:
    """Returns outputs; raises UserError if one is not finite."""
    for name, value in outputs.items():
        if not np.isfinite(value).all():
            raise UserError(
                f"The model gives NaN or infinity ({name}). In float16 (--precision) activations "
                "above 65,504 are infinite: choose float32 or bfloat16. In these, look at the "
                "checkpoint."
            )
    return outputs


class ProgramNetwork(Network):
    """A file of export_model, in place of a graph and its weights."""

    def __init__(
        self,
        path: str,
        *,
        precision_name: str = "float32",
        names: Optional[Mapping[str, str]] = None,
        **options: Any,
    ):
        """Loads the file; `names` gives outputs other names than the file's.

        Raises UserError where the file cannot be read, has other outputs, or a precision is asked.
        """
        super().__init__(**options)
        if precision_name != "float32":
            raise UserError(
                f"--precision={precision_name} does not apply to {path}, whose numbers are those "
                "it was exported with. Leave the flag out."
            )
        self._program = exported.open_program(path)
        found = self._program.outputs
        self._names = names or {name: name for name in found}
        for source in set(self._names.values()) - set(found):
            raise UserError(f"{path} has no {source}; it has {', '.join(sorted(found))}.")
        self.outputs = {name: found[source] for name, source in self._names.items()}

    def _compute(self, batch: Arrays) -> Dict[str, np.ndarray]:
        found = self._program.run({name: np.array(batch[name], np.int32) for name in SEQUENCES})
        return {name: found[source] for name, source in self._names.items()}


class GraphNetwork(Network):
    """A TensorFlow graph.

    Attributes:
      graph: in which it was built.
    """

    def __init__(self, build: Callable[[Tensors], Tensors], spec: FeatureSpec, **options: Any):
        """Builds the graph; `load` gives it weights.

        Args:
          build: takes inputs by name, with the leading dimension B; returns outputs like that.
          spec: the inputs.
          **options: of Network.
        """
        super().__init__(**options)
        self._kept: List[tf.Tensor] = []  # initializers of what `_prepare` keeps
        self.graph = tf.Graph()
        with self.graph.as_default(), tf.variable_scope("", use_resource=True):
            self._inputs = {}
            for feature in spec.features:
                dtype = tf.int32 if feature.dtype.is_integer else feature.dtype
                is_cut = feature.name in self._sequences
                sizes = [None if is_cut or size < 0 else size for size in feature.shape]
                shape = [None, *sizes]
                self._inputs[feature.name] = tf.placeholder(dtype, shape, feature.name)
            self.outputs = dict(build(self._inputs))
        self._session = tf.Session(graph=self.graph, config=compat.session_config())
        self._is_prepared = False

    def load(self, checkpoint: Optional[str]) -> None:
        """Takes the weights of a checkpoint; None: the first weights."""
        with self.graph.as_default():
            if checkpoint:
                warm_start.restore_weights(self._session, checkpoint)
            else:
                self._session.run(tf.global_variables_initializer())
            if not self._is_prepared:
                self.outputs, self._kept = _prepared(
                    self.outputs, self._inputs, session=self._session
                )
                self._is_prepared = True
            self._session.run(self._kept)

    def close(self) -> None:
        """Frees the weights; no call may follow."""
        self._session.close()

    def _compute(self, batch: Arrays) -> Dict[str, np.ndarray]:
        feed = {self._inputs[name]: value for name, value in batch.items() if name in self._inputs}
        return self._session.run(self.outputs, feed)


def _prepared(
    outputs: Tensors, inputs: Tensors, *, session: tf.Session
) -> Tuple[Dict[str, tf.Tensor], List[tf.Tensor]]:
    """Returns the outputs of a copy of the graph that keeps what it makes of its weights alone.

    Joined and cast weights would be made again in each call. The second value computes them from
    the weights. A graph with other state than variables, an order of its own, or loops is left as
    it is.
    """
    needed = _needed(outputs)
    types = {op.type for op in needed}
    states = {op.type for op in needed if op.op_def.is_stateful} - _OF_VARIABLES
    if states or types & _CONTROL_FLOW or any(op.control_inputs for op in needed):
        return dict(outputs), []
    replaced = {tensor.name: tensor for tensor in inputs.values() if tensor.op in needed}
    of_inputs = _reached(needed, {tensor.op for tensor in inputs.values()})
    of_weights = _reached(needed, {op for op in needed if op.type == _READ}) - of_inputs
    initializers = []
    for tensor in [tensor for op in needed if op in of_inputs for tensor in op.inputs]:
        if tensor.op in of_weights and tensor.op.type != _READ and tensor.name not in replaced:
            kept = tf.Variable(tensor, trainable=False, collections=[], use_resource=True)
            initializers.append(kept.initializer)
            replaced[tensor.name] = kept.read_value()
    definition = session.graph.as_graph_def()
    del definition.node[:]
    definition.node.extend(op.node_def for op in needed)
    for node in definition.node:
        node.attr.pop("_class", None)  # places beside operations that may not be in the copy
    _multiply_cubes(definition)
    copies = tf.import_graph_def(
        definition, replaced, [tensor.name for tensor in outputs.values()], name="prepared"
    )
    return dict(zip(outputs, copies)), initializers


def _multiply_cubes(definition: tf.GraphDef) -> None:
    """Writes x^3 as square times x, in place.

    TensorFlow 2's graph optimizer recognises gelu in this form only, and joins it with the product
    before it.
    """
    constants = [node for node in definition.node if node.op == "Const"]
    values = {node.name: tf.make_ndarray(node.attr["value"].tensor) for node in constants}
    threes = {name for name, value in values.items() if value.shape == () and value == 3}
    for node in list(definition.node):
        if node.op == "Pow" and node.input[1] in threes:
            square = definition.node.add(op="Square", name=f"{node.name}/square_of_cube")
            square.input.append(node.input[0])
            square.attr["T"].CopyFrom(node.attr["T"])
            node.op, node.input[:] = "Mul", [square.name, node.input[0]]


def _reached(ordered: Sequence[tf.Operation], first: Set[tf.Operation]) -> Set[tf.Operation]:
    """The first operations and all that take something from them, directly or not."""
    found = set(first)
    for op in ordered:
        if any(tensor.op in found for tensor in op.inputs):
            found.add(op)
    return found


def _needed(outputs: Tensors) -> List[tf.Operation]:
    """The operations that outputs need, each after its inputs."""
    waiting = [tensor.op for tensor in outputs.values()]
    found: Set[tf.Operation] = set()
    while waiting:
        op = waiting.pop()
        if op not in found:
            found.add(op)
            waiting += [*(tensor.op for tensor in op.inputs), *op.control_inputs]
    graph = next(iter(outputs.values())).graph
    return [op for op in graph.get_operations() if op in found]
