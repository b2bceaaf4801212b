# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""ALBERT's forward and backward pass in float64 NumPy, written from the papers.

What the model is compared with where nothing but a clone is at hand. test_numpy_albert.py checks
this file itself: its gradients by differences.

Encoder and pretraining heads of arXiv:1909.11942 on the encoder of arXiv:1706.03762, with the
variable names of the released checkpoints. Dimensions are those of albert/modeling.py.
"""

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

MASK_BIAS = -10000.0
EMBEDDINGS, HEAD = "bert/embeddings", "cls/predictions"


class Node:
    """A value of the forward pass, and the gradient that the backward pass gives it."""

    def __init__(self, value):
        self.value = np.asarray(value, np.float64)
        self.gradient = np.zeros_like(self.value)


class Tape:
    """Keeps how each value was made, and goes back through that."""

    def __init__(self):
        self._steps = []

    def node(self, value, inputs: List[Node], gradients: Callable) -> Node:
        """Keeps a new value; `gradients` takes its gradient to those of the inputs."""
        made = Node(value)
        self._steps.append((made, inputs, gradients))
        return made

    def go_back(self, loss: Node) -> None:
        loss.gradient = np.ones_like(loss.value)
        for made, inputs, gradients in reversed(self._steps):
            for node, gradient in zip(inputs, gradients(made.gradient)):
                node.gradient = node.gradient + gradient

    def add(self, left: Node, right: Node) -> Node:
        return self.node(left.value + right.value, [left, right], lambda up: (up, up))

    def affine(self, x: Node, kernel: Node, bias: Node) -> Node:
        """x [..., in] times [in, out] plus [out]."""

        def gradients(up):
            rows, ups = x.value.reshape(-1, x.value.shape[-1]), up.reshape(-1, up.shape[-1])
            return up @ kernel.value.T, rows.T @ ups, ups.sum(0)

        return self.node(x.value @ kernel.value + bias.value, [x, kernel, bias], gradients)

    def transposed(self, x: Node) -> Node:
        return self.node(x.value.T, [x], lambda up: (up.T,))

    def rows(self, table: Node, ids: np.ndarray) -> Node:
        """Rows of [n, width] by ids of any shape."""

        def gradients(up):
            total = np.zeros_like(table.value)
            np.add.at(total, ids, up)
            return (total,)

        return self.node(table.value[ids], [table], gradients)

    def at_positions(self, x: Node, positions: np.ndarray) -> Node:
        """Vectors [B, P, H] of [B, S, H]."""
        batch = np.arange(len(positions))[:, None]

        def gradients(up):
            total = np.zeros_like(x.value)
            np.add.at(total, (batch, positions), up)
            return (total,)

        return self.node(x.value[batch, positions], [x], gradients)

    def layer_norm(self, x: Node, beta: Node, gamma: Node) -> Node:
        """Over the last axis (arXiv:1607.06450)."""
        centred = x.value - x.value.mean(-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        standard = centred / deviation

        def gradients(up):
            scaled = up * gamma.value
            back = scaled - scaled.mean(-1, keepdims=True)
            back -= standard * (scaled * standard).mean(-1, keepdims=True)
            others = tuple(range(up.ndim - 1))
            return back / deviation, up.sum(others), (up * standard).sum(others)

        return self.node(standard * gamma.value + beta.value, [x, beta, gamma], gradients)

    def activation(self, x: Node, name: str) -> Node:
        if name == "tanh":
            value = np.tanh(x.value)
            return self.node(value, [x], lambda up: (up * (1 - value**2),))
        if name == "relu":
            return self.node(np.maximum(x.value, 0), [x], lambda up: (up * (x.value > 0),))
        assert name == "gelu"  # arXiv:1606.08415, section 2, the form with tanh
        z, scale = x.value, np.sqrt(2 / np.pi)
        tanh = np.tanh(scale * (z + 0.044715 * z**3))
        slope = 0.5 * (1 + tanh) + 0.5 * z * (1 - tanh**2) * scale * (1 + 3 * 0.044715 * z**2)
        return self.node(0.5 * z * (1 + tanh), [x], lambda up: (up * slope,))

    def dropped(self, x: Node, factors: Optional[np.ndarray]) -> Node:
        """x with dropout: times 0 or 1 / (1 - rate), as the factors say; None: as it is."""
        if factors is None:
            return x
        return self.node(x.value * factors, [x], lambda up: (up * factors,))

    def attended(self, qkv: List[Node], mask: np.ndarray, *, heads: int, factors: Any) -> Node:
        """softmax(Q K^T / sqrt(D) + mask) V in heads, joined again: [B, S, H]."""
        batch, length, hidden = qkv[0].value.shape
        root = np.sqrt(hidden / heads)
        kept = 1.0 if factors is None else factors

        def in_heads(x):  # [B, S, H] -> [B, N, S, D]
            return x.reshape(batch, length, heads, -1).transpose(0, 2, 1, 3)

        def joined(x):
            return x.transpose(0, 2, 1, 3).reshape(batch, length, hidden)

        q, k, v = (in_heads(node.value) for node in qkv)
        scores = q @ k.swapaxes(2, 3) / root + MASK_BIAS * (1 - mask[:, None, None, :])
        exponentials = np.exp(scores - scores.max(-1, keepdims=True))
        probabilities = exponentials / exponentials.sum(-1, keepdims=True)

        def gradients(up):
            up = in_heads(up)
            d_probabilities = up @ v.swapaxes(2, 3) * kept
            weighted = d_probabilities * probabilities
            d_scores = (weighted - probabilities * weighted.sum(-1, keepdims=True)) / root
            d_v = (probabilities * kept).swapaxes(2, 3) @ up
            return joined(d_scores @ k), joined(d_scores.swapaxes(2, 3) @ q), joined(d_v)

        return self.node(joined((probabilities * kept) @ v), qkv, gradients)

    def cross_entropy(self, logits: Node, labels: np.ndarray, shares: np.ndarray) -> "Loss":
        """The sum of shares [n] times -log softmax(logits [n, classes]) at labels [n]."""
        shifted = logits.value - logits.value.max(-1, keepdims=True)
        log_probs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
        hit = np.arange(log_probs.shape[-1]) == labels[:, None]
        per_example = -log_probs[hit]
        total = self.node(
            (shares * per_example).sum(),
            [logits],
            lambda up: (up * shares[:, None] * (np.exp(log_probs) - hit),),
        )
        return Loss(total, per_example, log_probs)


class Loss(NamedTuple):
    """A head's loss, as modeling.HeadOutput."""

    loss: Node
    per_example_loss: np.ndarray
    log_probs: np.ndarray


class Result(NamedTuple):
    """What one pass gives, by the names of the reference's recorded outputs and by variable."""

    outputs: Dict[str, np.ndarray]
    gradients: Dict[str, np.ndarray]


class _Pass:
    """One pass over a batch; `config` is a dict as albert_config.json holds it."""

    def __init__(self, config: Dict[str, Any], weights: Dict, *, dropout: Dict[int, np.ndarray]):
        self.tape = Tape()
        self.weights = {name: Node(value) for name, value in weights.items()}
        self._config, self._dropout = config, dropout
        self._place = 0

    def _next_dropout(self, x: Node) -> Node:
        return self.tape.dropped(x, self._next_factors())

    def _next_factors(self) -> Optional[np.ndarray]:
        self._place += 1
        return self._dropout.get(self._place - 1)

    def _dense(self, x: Node, path: str) -> Node:
        return self.tape.affine(x, self.weights[f"{path}/kernel"], self.weights[f"{path}/bias"])

    def _norm(self, x: Node, path: str) -> Node:
        return self.tape.layer_norm(x, self.weights[f"{path}/beta"], self.weights[f"{path}/gamma"])

    def embed(self, batch: Dict, outputs: Dict) -> Node:
        """LayerNorm(words + types + positions) [B, S, E], projected to H where that differs."""
        tape, weights = self.tape, self.weights
        ids = batch["input_ids"]
        words = tape.rows(weights[f"{EMBEDDINGS}/word_embeddings"], ids)
        types = tape.rows(weights[f"{EMBEDDINGS}/token_type_embeddings"], batch["token_type_ids"])
        places = np.broadcast_to(np.arange(ids.shape[1]), ids.shape)
        positions = tape.rows(weights[f"{EMBEDDINGS}/position_embeddings"], places)
        total = tape.add(tape.add(words, types), positions)
        hidden = self._next_dropout(self._norm(total, f"{EMBEDDINGS}/LayerNorm"))
        outputs["word_embedding_output"], outputs["embedding_output"] = words.value, hidden.value
        if self._config["embedding_size"] != self._config["hidden_size"]:
            hidden = self._dense(hidden, "bert/encoder/embedding_hidden_mapping_in")
        return hidden

    def layer(self, x: Node, group: int, *, inner: int, mask: np.ndarray) -> Node:
        """Attention and feed-forward part, each with dropout, residual and LayerNorm."""
        path = f"bert/encoder/transformer/group_{group}/inner_group_{inner}"
        qkv = [
            self._dense(x, f"{path}/attention_1/self/{name}") for name in ("query", "key", "value")
        ]
        heads = self._config["num_attention_heads"]
        context = self.tape.attended(qkv, mask, heads=heads, factors=self._next_factors())
        update = self._next_dropout(self._dense(context, f"{path}/attention_1/output/dense"))
        x = self._norm(self.tape.add(x, update), f"{path}/LayerNorm")
        inside = self._dense(x, f"{path}/ffn_1/intermediate/dense")
        inside = self.tape.activation(inside, self._config["hidden_act"])
        update = self._next_dropout(self._dense(inside, f"{path}/ffn_1/intermediate/output/dense"))
        return self._norm(self.tape.add(x, update), f"{path}/LayerNorm_1")

    def masked_words(self, sequence: Node, batch: Dict) -> Loss:
        tape, weights = self.tape, self.weights
        x = tape.at_positions(sequence, batch["masked_lm_positions"])
        x = tape.activation(self._dense(x, f"{HEAD}/transform/dense"), self._config["hidden_act"])
        x = self._norm(x, f"{HEAD}/transform/LayerNorm")
        table = tape.transposed(weights[f"{EMBEDDINGS}/word_embeddings"])
        logits = tape.affine(x, table, weights[f"{HEAD}/output_bias"])  # [B, P, V]
        flat = tape.node(
            logits.value.reshape(-1, logits.value.shape[-1]),
            [logits],
            lambda up: (up.reshape(logits.value.shape),),
        )
        shares = batch["masked_lm_weights"].reshape(-1).astype(np.float64)
        labels = batch["masked_lm_ids"].reshape(-1)
        return tape.cross_entropy(flat, labels, shares / (shares.sum() + 1e-5))

    def sentence_order(self, pooled: Node, batch: Dict) -> Loss:
        kernel = self.tape.transposed(self.weights["cls/seq_relationship/output_weights"])
        logits = self.tape.affine(pooled, kernel, self.weights["cls/seq_relationship/output_bias"])
        labels = batch["next_sentence_labels"].reshape(-1)
        return self.tape.cross_entropy(logits, labels, np.full(len(labels), 1 / len(labels)))

    def pool(self, sequence: Node) -> Node:
        first = np.zeros([len(sequence.value), 1], int)
        first = self.tape.at_positions(sequence, first)  # [B, 1, H]
        flat = self.tape.node(first.value[:, 0], [first], lambda up: (up[:, None],))
        return self.tape.activation(self._dense(flat, "bert/pooler/dense"), "tanh")


def run(
    config: Dict[str, Any],
    weights: Dict[str, np.ndarray],
    batch: Dict[str, np.ndarray],
    *,
    dropout: Optional[Dict[int, np.ndarray]] = None,
) -> Result:
    """Returns outputs, losses and gradients of a model on a batch.

    Args:
      config: the keys of albert_config.json.
      weights: by variable name.
      batch: the features of a pretraining record file, [B, ...] each.
      dropout: factors by place: 0 is the embedding's, then three a block (attention's
        probabilities, its output, the feed-forward part's output); none where a place is absent.
    """
    forward = _Pass(config, weights, dropout=dropout or {})
    outputs: Dict[str, np.ndarray] = {}
    hidden = forward.embed(batch, outputs)
    for layer in range(config["num_hidden_layers"]):
        group = layer * config["num_hidden_groups"] // config["num_hidden_layers"]
        for inner in range(config["inner_group_num"]):
            hidden = forward.layer(hidden, group, inner=inner, mask=batch["input_mask"])
            place = layer * config["inner_group_num"] + inner
            outputs[f"encoder_layer_{place}"] = outputs["sequence_output"] = hidden.value
    pooled = forward.pool(hidden)
    outputs["pooled_output"] = pooled.value
    heads = {
        "mlm": forward.masked_words(hidden, batch),
        "sop": forward.sentence_order(pooled, batch),
    }
    for name, head in heads.items():
        outputs.update({f"{name}_{field}": value for field, value in head._asdict().items()})
        outputs[f"{name}_loss"] = head.loss.value
    total = forward.tape.add(heads["mlm"].loss, heads["sop"].loss)
    forward.tape.go_back(total)
    outputs["loss"] = total.value
    return Result(
        outputs,
        {name: node.gradient for name, node in forward.weights.items()},
    )


def updated(
    state: Dict,
    gradient: np.ndarray,
    *,
    rate: float,
    decay: float,
    use_ratio: bool,
    betas: Tuple[float, float] = (0.9, 0.999),
    epsilon: float = 1e-6,
) -> Dict:
    """Returns {w, m, v} after an update by AdamW (arXiv:1711.05101) or LAMB (arXiv:1904.00962)."""
    m = betas[0] * state["m"] + (1 - betas[0]) * gradient
    v = betas[1] * state["v"] + (1 - betas[1]) * gradient**2
    direction = m / (np.sqrt(v) + epsilon) + decay * state["w"]
    ratio = 1.0
    if use_ratio and np.any(state["w"]) and np.any(direction):
        ratio = np.linalg.norm(state["w"]) / np.linalg.norm(direction)
    return {"w": state["w"] - rate * ratio * direction, "m": m, "v": v}
