# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The model and its heads as an ONNX graph, made from a checkpoint's arrays.

The operations are those of opset 13 in the forms that ONNX Runtime joins (LayerNorm, gelu, products
of bytes). Weights stand in the file once, however many layers use them. With is_int8 the kernels
and the table of words are bytes with a scale for each output (for each word), and activations
become bytes as they come, by the smallest and largest of them (arXiv:1910.06188, section 2, has
the same for BERT). The weights stay within +-63, because processors without VNNI add two products
of bytes in 16 bits.

Dimensions: B batch, S sequence, E embedding, H hidden, N heads, D = H / N, V vocabulary, K starts.
"""

from typing import Any, Callable, Dict, List, NamedTuple, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.checkpoints import weights
from albert.ops import plain
from albert.pretrained import exported
from albert.pretrained.saved_model import Inputs
from albert.squad import heads
from albert.util.errors import UserError

OPSET = 13
IR_VERSION = 7  # what went with this opset: older runtimes read it

_LARGEST = 63  # of a weight as a byte
_FEW_OUTPUTS = 16  # a kernel with fewer stays as it is: its bytes would be few
_SHORT_TABLE = 1024  # rows; likewise
_FLOAT, _INT32 = 1, 6  # of onnx.TensorProto


class Graph:
    """Collects nodes and constants; a value is known by its name."""

    def __init__(self, values: weights.Values, *, is_int8: bool):
        """Takes the checkpoint's arrays by name; ValueError where onnx is not installed."""
        try:
            import onnx
        except ImportError as error:
            raise UserError(f"--format=onnx {exported.HOW_TO_INSTALL}") from error
        self._onnx, self._values, self._is_int8 = onnx, values, is_int8
        self._nodes: List[Any] = []
        self._constants: Dict[Any, Any] = {}

    def op(self, kind: str, *inputs: str, count: int = 1, **attributes: Any) -> Any:
        """Adds an operation; returns the name of its output, or a list of `count` names."""
        names = [f"{kind}_{len(self._nodes)}_{number}" for number in range(count)]
        node = self._onnx.helper.make_node(kind, list(inputs), names, **attributes)
        self._nodes.append(node)
        return names[0] if count == 1 else names

    def constant(self, value: Any, dtype: Any = np.float32, *, name: str = "") -> str:
        """Returns the name of a constant; equal ones, or those of one name, are one."""
        array = np.array(value, dtype)
        key = name or (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            label = name or f"constant_{len(self._constants)}"
            self._constants[key] = self._onnx.numpy_helper.from_array(array, label)
        return self._constants[key].name

    def weight(self, name: str) -> np.ndarray:
        """Returns a variable of the checkpoint; ValueError if it is not there."""
        if name not in self._values:
            raise UserError(f"The checkpoint has no variable {name}, which the model needs.")
        return self._values[name]

    def ints(self, *values: int) -> str:
        """Returns the name of an int64 constant [n]."""
        return self.constant(values, np.int64)

    def add(self, left: str, right: str) -> str:
        """Returns left + right."""
        return self.op("Add", left, right)

    def minus(self, left: str, right: str) -> str:
        """Returns left - right."""
        return self.op("Sub", left, right)

    def multiply(self, left: str, right: str) -> str:
        """Returns left * right."""
        return self.op("Mul", left, right)

    def dense(self, x: str, path: str) -> str:
        """Returns x [..., in] times the kernel at `path`, plus its bias."""
        bias = self.constant(self.weight(f"{path}/bias"), name=f"{path}/bias")
        return self.add(self.product(x, self.weight(f"{path}/kernel"), path), bias)

    def product(self, x: str, kernel: np.ndarray, name: str) -> str:
        """Returns x [..., in] times kernel [in, out], in bytes where the graph has them."""
        if not self._is_int8 or kernel.shape[1] < _FEW_OUTPUTS:
            return self.op("MatMul", x, self.constant(kernel, name=f"{name}/kernel"))
        whole, scales = _as_bytes(kernel, axis=0)
        rows, scale, zero = self.op("DynamicQuantizeLinear", x, count=3)
        stored = self.constant(whole, np.int8, name=f"{name}/kernel")
        zeros = self.constant(np.zeros(kernel.shape[1]), np.int8)
        total = self.op("MatMulInteger", rows, stored, zero, zeros)
        factors = self.multiply(scale, self.constant(scales[0], name=f"{name}/scale"))
        return self.multiply(self.op("Cast", total, to=_FLOAT), factors)

    def rows(self, path: str, ids: str) -> str:
        """Returns rows of the table at `path` for ids [B, S]."""
        table = self.weight(path)
        if not self._is_int8 or len(table) < _SHORT_TABLE:
            return self.op("Gather", self.constant(table, name=path), ids)
        whole, scales = _as_bytes(table, axis=1)
        found = self.op("Gather", self.constant(whole, np.int8, name=path), ids)
        factors = self.op("Gather", self.constant(scales, name=f"{path}/scale"), ids)
        return self.multiply(self.op("Cast", found, to=_FLOAT), factors)

    def norm(self, x: str, path: str) -> str:
        """Returns LayerNorm over the last axis (arXiv:1607.06450)."""
        centred = self.minus(x, self.op("ReduceMean", x, axes=[-1]))
        squares = self.op("Pow", centred, self.constant(2.0))
        variance = self.op("ReduceMean", squares, axes=[-1])
        deviation = self.op("Sqrt", self.add(variance, self.constant(plain.LAYER_NORM_EPSILON)))
        scaled = self.op("Div", centred, deviation)
        gamma, beta = (
            self.constant(self.weight(f"{path}/{part}"), name=f"{path}/{part}")
            for part in ("gamma", "beta")
        )
        return self.add(self.multiply(scaled, gamma), beta)

    def activation(self, x: str, name: Any) -> str:
        """Returns the activation that a configuration names."""
        simple = {tf.nn.relu: "Relu", tf.tanh: "Tanh", None: "Identity"}
        function = modeling.get_activation(name)
        if function is not plain.gelu:
            return self.op(simple[function], x)
        cubic = self.multiply(self.constant(0.044715), self.op("Pow", x, self.constant(3.0)))
        inner = self.multiply(self.add(x, cubic), self.constant(np.sqrt(2.0 / np.pi)))
        outer = self.add(self.op("Tanh", inner), self.constant(1.0))
        return self.multiply(self.multiply(x, self.constant(0.5)), outer)

    def shifted(self, x: str, *, first: Any = None) -> str:
        """Returns [B, S] moved to the left, with 0 at the end; or not moved, with another first."""
        rest = self.op("Slice", x, self.ints(1), self.ints(np.iinfo(np.int64).max), self.ints(1))
        pads = self.ints(0, 0, 0, 1) if first is None else self.ints(0, 1, 0, 0)
        return self.op("Pad", rest, pads, self.constant(first or 0.0))

    def model(self, outputs: Dict[str, str], shapes: Dict[str, Sequence[Any]]) -> bytes:
        """Returns the file of the graph with these outputs, whose inputs are those of Inputs."""
        make = self._onnx.helper
        for name, value in outputs.items():
            self._nodes.append(make.make_node("Identity", [value], [name]))
        kinds = {name: _INT32 if name.endswith("index") else _FLOAT for name in outputs}
        describe = make.make_tensor_value_info
        graph = make.make_graph(
            self._nodes,
            "albert",
            [describe(name, _INT32, ["B", "S"]) for name in Inputs._fields],
            [describe(name, kinds[name], ["B", *shapes[name]]) for name in outputs],
            list(self._constants.values()),
        )
        model = make.make_model(graph, opset_imports=[make.make_opsetid("", OPSET)])
        model.ir_version = IR_VERSION
        return model.SerializeToString()


def _as_bytes(array: np.ndarray, *, axis: int) -> Tuple[np.ndarray, np.ndarray]:
    """Whole numbers and the scales by which they are the array, as nearly as they can be."""
    scales = np.maximum(np.abs(array).max(axis=axis, keepdims=True), 1e-12) / _LARGEST
    return np.rint(array / scales), scales.astype(np.float32)


class Encoded(NamedTuple):
    """The encoder's outputs by the names of their values."""

    sequence: str  # [B, S, H]
    pooled: str  # [B, H]


def encode(graph: Graph, config: modeling.AlbertConfig, scope: str = "bert") -> Encoded:
    """Adds the encoder of a configuration to a graph."""
    hidden = _embed(graph, config, scope)
    mask = graph.op("Cast", "input_mask", to=_FLOAT)
    mask = graph.multiply(
        graph.minus(graph.constant(1.0), mask), graph.constant(modeling.MASK_BIAS)
    )
    mask = graph.op("Unsqueeze", mask, graph.ints(1, 2))  # [B, 1, 1, S]
    for layer in range(config.num_hidden_layers):
        groups = modeling.layer_groups(config, layer)
        for inner in range(config.inner_group_num):
            place = f"{scope}/encoder/transformer/group_{{}}/inner_group_{inner}"
            paths = [place.format(group) for group in groups]
            hidden = _block(graph, config, hidden, mask=mask, paths=paths)
    pooled = graph.op("Tanh", graph.dense(_first(graph, hidden), f"{scope}/pooler/dense"))
    return Encoded(hidden, pooled)


def _length(graph: Graph) -> str:
    """S of the batch, [1]."""
    return graph.op("Slice", graph.op("Shape", "input_ids"), graph.ints(1), graph.ints(2))


def _first(graph: Graph, sequence: str) -> str:
    """The first position [B, H] of [B, S, H]."""
    return graph.op("Gather", sequence, graph.constant(0, np.int64), axis=1)


def _embed(graph: Graph, config: modeling.AlbertConfig, scope: str) -> str:
    """The encoder's input [B, S, H]."""
    mapping, embeddings = f"{scope}/encoder/embedding_hidden_mapping_in", f"{scope}/embeddings"
    is_narrow = config.embedding_size != config.hidden_size
    is_zh = config.embedding_layout == "albert_zh"
    words = graph.rows(f"{embeddings}/word_embeddings", "input_ids")
    if is_zh and is_narrow:
        words = graph.product(words, graph.weight(f"{mapping}/kernel"), mapping)
    types = graph.rows(f"{embeddings}/token_type_embeddings", "segment_ids")
    table = f"{embeddings}/position_embeddings"
    positions = graph.constant(graph.weight(table), name=table)
    positions = graph.op("Slice", positions, graph.ints(0), _length(graph), graph.ints(0))
    total = graph.norm(graph.add(graph.add(words, types), positions), f"{embeddings}/LayerNorm")
    return graph.dense(total, mapping) if is_narrow and not is_zh else total


def _block(
    graph: Graph, config: modeling.AlbertConfig, hidden: str, *, mask: str, paths: List[str]
) -> str:
    """One attention and one feed-forward part, [B, S, H] -> [B, S, H]."""
    attention, feed_forward = paths
    is_pre = config.ln_type == "preln"

    def sub_layer(x: str, function: Callable[[str], str], norm: str) -> str:
        if is_pre:
            return graph.add(x, function(graph.norm(x, norm)))
        return graph.norm(graph.add(x, function(x)), norm)

    def feed(x: str) -> str:
        path = f"{feed_forward}/ffn_1/intermediate"
        inside = graph.activation(graph.dense(x, f"{path}/dense"), config.hidden_act)
        return graph.dense(inside, f"{path}/output/dense")

    def attend(x: str) -> str:
        return _attend(graph, config, x, mask=mask, path=f"{attention}/attention_1")

    middle = sub_layer(hidden, attend, f"{attention}/LayerNorm")
    return sub_layer(middle, feed, f"{feed_forward}/LayerNorm_1")


def _attend(graph: Graph, config: modeling.AlbertConfig, x: str, *, mask: str, path: str) -> str:
    """Attention of all heads with its output layer (arXiv:1706.03762, section 3.2)."""
    heads, size = config.num_attention_heads, config.hidden_size // config.num_attention_heads
    factors = {"query": 1.0 / np.sqrt(size), "key": 1.0, "value": 1.0}
    kernel, bias = (
        np.concatenate(
            [graph.weight(f"{path}/self/{name}/{part}") * by for name, by in factors.items()], -1
        )
        for part in ("kernel", "bias")
    )
    joined = graph.product(x, kernel, f"{path}/self")  # [B, S, 3H]
    joined = graph.add(joined, graph.constant(bias, name=f"{path}/self/bias"))
    joined = graph.op("Reshape", joined, graph.ints(0, 0, 3 * heads, size))
    query, key, value = graph.op("Split", joined, axis=2, count=3)  # [B, S, N, D]
    query, value = (graph.op("Transpose", part, perm=[0, 2, 1, 3]) for part in (query, value))
    key = graph.op("Transpose", key, perm=[0, 2, 3, 1])  # [B, N, D, S]
    scores = graph.add(graph.op("MatMul", query, key), mask)  # [B, N, S, S]
    context = graph.op("MatMul", graph.op("Softmax", scores, axis=-1), value)  # [B, N, S, D]
    context = graph.op("Transpose", context, perm=[0, 2, 1, 3])
    context = graph.op("Reshape", context, graph.ints(0, 0, config.hidden_size))
    return graph.dense(context, f"{path}/output/dense")


# ---------------------------------------------------------------------------------------------
# Heads: the file of a model with each of them.


def classifier(
    graph: Graph, config: modeling.AlbertConfig, *, output_count: int, is_regression: bool
) -> bytes:
    """Returns a classifier with probabilities (regression: scores) and logits [B, C]."""
    pooled = encode(graph, config).pooled
    if config.ln_type == "preln":
        pooled = graph.norm(pooled, "loss/LayerNorm")
    logits = graph.product(pooled, graph.weight("output_weights").T, "output_weights")
    logits = graph.add(logits, graph.constant(graph.weight("output_bias")))
    shares = logits if is_regression else graph.op("Softmax", logits, axis=-1)
    outputs = {"probabilities": shares, "logits": logits}
    return graph.model(outputs, dict.fromkeys(outputs, [output_count]))


def vectors(graph: Graph, config: modeling.AlbertConfig) -> bytes:
    """Returns an encoder with the outputs of inference.encoder_outputs."""
    encoded = encode(graph, config)
    used = graph.op("Cast", "input_mask", to=_FLOAT)
    segment = graph.op("Cast", "segment_ids", to=_FLOAT)
    borders = graph.op("Relu", graph.minus(graph.shifted(segment), segment))
    inner = graph.multiply(
        graph.multiply(used, graph.shifted(used)), graph.minus(graph.constant(1.0), borders)
    )
    inner = graph.shifted(inner, first=0.0)  # without [CLS]
    total = graph.op("ReduceSum", inner, graph.ints(1))
    total = graph.op("Max", total, graph.constant(1.0))
    mean = graph.op("Div", _weighted(graph, inner, encoded.sequence), total)
    outputs = {
        "pooled_output": encoded.pooled,
        "mean_output": mean,
        "sequence_output": encoded.sequence,
    }
    width = config.hidden_size
    shapes: Dict[str, Sequence[Any]] = {
        "pooled_output": [width],
        "mean_output": [width],
        "sequence_output": ["S", width],
    }
    return graph.model(outputs, shapes)


def _weighted(graph: Graph, shares: str, sequence: str) -> str:
    """The sum [B, H] of the positions of [B, S, H], each times its share [B, S]."""
    rows = graph.op("Unsqueeze", shares, graph.ints(1))
    return graph.op("Squeeze", graph.op("MatMul", rows, sequence), graph.ints(1))


def spans(graph: Graph, config: modeling.AlbertConfig, *, max_seq_length: int) -> bytes:
    """Returns a reader for SQuAD v1.1 with the outputs of heads.v1_head(max_seq_length)."""
    sequence = encode(graph, config).sequence
    kernel = graph.weight("cls/squad/output_weights").T
    logits = graph.product(sequence, kernel, "cls/squad/output")
    logits = graph.add(logits, graph.constant(graph.weight("cls/squad/output_bias")))
    missing = graph.minus(graph.ints(max_seq_length), _length(graph))
    pads = graph.op("Concat", graph.ints(0, 0, 0), missing, axis=0)
    outputs = {}
    parts = graph.op("Split", logits, axis=2, count=2)
    for name, part in zip(("start_logits", "end_logits"), parts):
        part = graph.op("Squeeze", part, graph.ints(2))
        outputs[name] = graph.op("Pad", part, pads, graph.constant(heads.IMPOSSIBLE))
    return graph.model(outputs, dict.fromkeys(outputs, [max_seq_length]))


def beams(graph: Graph, config: modeling.AlbertConfig, beam: heads.BeamSize) -> bytes:
    """Returns a reader for SQuAD v2.0 with the outputs of heads.v2_head."""
    sequence = encode(graph, config).sequence
    outside = _outside(graph)
    start_logits = graph.op("Squeeze", graph.dense(sequence, "start_logits/dense"), graph.ints(2))
    start_logits = _masked(graph, start_logits, outside)
    start_log_probs, starts = _top(graph, start_logits, beam.start_n_top, rank=2)
    # The end depends on the start: a layer on [token; start].
    path, hidden = "end_logits/dense_0", config.hidden_size
    kernel = graph.weight(f"{path}/kernel")
    places = graph.op("Unsqueeze", starts, graph.ints(2))
    chosen = graph.op("GatherND", sequence, places, batch_dims=1)  # [B, K, H]
    chosen = graph.product(chosen, kernel[hidden:], f"{path}/start")
    chosen = graph.add(chosen, graph.constant(graph.weight(f"{path}/bias")))
    tokens = graph.product(sequence, kernel[:hidden], f"{path}/token")
    both = graph.add(
        graph.op("Unsqueeze", tokens, graph.ints(1)), graph.op("Unsqueeze", chosen, graph.ints(2))
    )
    state = graph.norm(graph.op("Tanh", both), "end_logits/LayerNorm")  # [B, K, S, H]
    end_logits = graph.op("Squeeze", graph.dense(state, "end_logits/dense_1"), graph.ints(3))
    end_logits = _masked(graph, end_logits, graph.op("Unsqueeze", outside, graph.ints(1)))
    end_log_probs, ends = _top(graph, end_logits, beam.end_n_top, rank=3)
    expected = _weighted(graph, graph.op("Softmax", start_logits, axis=-1), sequence)
    whole = graph.op("Concat", expected, _first(graph, sequence), axis=1)
    state = graph.op("Tanh", graph.dense(whole, "answer_class/dense_0"))
    path = "answer_class/dense_1"
    none = graph.op(
        "Squeeze", graph.product(state, graph.weight(f"{path}/kernel"), path), graph.ints(1)
    )
    count = beam.start_n_top * beam.end_n_top
    flat = graph.ints(0, count)
    outputs = {
        "start_top_log_probs": start_log_probs,
        "start_top_index": graph.op("Cast", starts, to=_INT32),
        "end_top_log_probs": graph.op("Reshape", end_log_probs, flat),
        "end_top_index": graph.op("Cast", graph.op("Reshape", ends, flat), to=_INT32),
        "cls_logits": none,
    }
    sizes = [[beam.start_n_top]] * 2 + [[count]] * 2 + [[]]
    return graph.model(outputs, dict(zip(outputs, sizes)))


def _outside(graph: Graph) -> str:
    """export.answer_mask: 0 at [CLS] and the paragraph's tokens, else 1; [B, S]."""
    used = graph.op("Cast", "input_mask", to=_FLOAT)
    segment = graph.op("Cast", "segment_ids", to=_FLOAT)
    inside = graph.multiply(graph.multiply(segment, used), graph.shifted(used))
    return graph.minus(graph.constant(1.0), graph.shifted(inside, first=1.0))


def _masked(graph: Graph, logits: str, outside: str) -> str:
    kept = graph.multiply(logits, graph.minus(graph.constant(1.0), outside))
    return graph.add(kept, graph.multiply(graph.constant(heads.IMPOSSIBLE), outside))


def _top(graph: Graph, logits: str, count: int, *, rank: int) -> Tuple[str, str]:
    """The best log probabilities and their positions, [..., count] each; as squad.heads has it."""
    length = _length(graph)
    missing = graph.op("Max", graph.minus(graph.ints(count), length), graph.ints(0))
    pads = graph.op("Concat", graph.ints(*[0] * (2 * rank - 1)), missing, axis=0)
    log_probs = graph.op("LogSoftmax", logits, axis=-1)
    log_probs = graph.op("Pad", log_probs, pads, graph.constant(heads.IMPOSSIBLE))
    best, index = graph.op("TopK", log_probs, graph.ints(count), count=2)
    return best, graph.op("Min", index, graph.minus(length, graph.ints(1)))
