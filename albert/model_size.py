# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""How large a model is and how much it computes, from its configuration alone.

Nothing is built: variables are listed with their shapes, and floating-point operations are those
of the matrix products, two for each multiply-add, as the field counts them. The backward pass has
twice the forward pass's (a product with the transposed weight, one with the transposed input).

Dimensions: B sequences, S sequence, T = B * S tokens, E embedding, H hidden, I intermediate,
V vocabulary, P predictions a sequence, C classes.
"""

import difflib
from typing import Dict, List, NamedTuple, Tuple

from albert import modeling

Shape = Tuple[int, ...]

EMBEDDINGS, ENCODER, POOLER, HEAD = PARTS = ("embeddings", "encoder", "pooler", "head")
FLOAT32_BYTES = 4


class Task(NamedTuple):
    """What a training task adds to the encoder.

    Attributes:
      sequences: sequences of one example.
      uses_pooler: whether the loss depends on the pooler; if not, it has no optimiser slots.
      optimizer: the default of the task's script.
    """

    sequences: int = 1
    uses_pooler: bool = True
    optimizer: str = "adamw"


TASKS = {
    "pretraining": Task(optimizer="lamb"),
    "classification": Task(),
    "squad_v1": Task(uses_pooler=False),
    "squad_v2": Task(uses_pooler=False),
    "race": Task(sequences=4),
}


def find_task(name: str) -> Task:
    """Returns the task of a name.

    Raises:
      ValueError: there is none of this name.
    """
    if name not in TASKS:
        close = difflib.get_close_matches(name, TASKS, n=1)
        suggestion = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"Unknown task {name!r}.{suggestion} Tasks: {', '.join(TASKS)}.")
    return TASKS[name]


# ---------------------------------------------------------------------------------------------
# Variables.


def variables(
    config: modeling.AlbertConfig, task: str = "pretraining", *, num_labels: int = 2
) -> Dict[str, Dict[str, Shape]]:
    """Returns the trainable variables by part: name in checkpoints -> shape.

    Args:
      config: the model.
      task: a key of TASKS, which decides the head.
      num_labels: C, of a classification.

    Raises:
      ValueError: an unknown task.
    """
    find_task(task)
    hidden = config.hidden_size
    return {
        EMBEDDINGS: _embeddings(config),
        ENCODER: _blocks(config),
        POOLER: _dense("bert/pooler/dense", hidden, hidden),
        HEAD: _HEADS[task](config, num_labels),
    }


def parameter_counts(
    config: modeling.AlbertConfig, task: str = "pretraining", *, num_labels: int = 2
) -> Dict[str, int]:
    """Returns the number of parameters of each part; see `variables`."""
    parts = variables(config, task, num_labels=num_labels)
    return {part: sum(map(elements, shapes.values())) for part, shapes in parts.items()}


def elements(shape: Shape) -> int:
    """Returns how many numbers a tensor of this shape has."""
    count = 1
    for size in shape:
        count *= size
    return count


def _dense(path: str, rows: int, columns: int) -> Dict[str, Shape]:
    return {f"{path}/kernel": (rows, columns), f"{path}/bias": (columns,)}


def _norm(path: str, size: int) -> Dict[str, Shape]:
    return {f"{path}/beta": (size,), f"{path}/gamma": (size,)}


def _output(path: str, classes: int, hidden: int) -> Dict[str, Shape]:
    """A last layer, whose weights are [C, H]."""
    return {f"{path}output_weights": (classes, hidden), f"{path}output_bias": (classes,)}


def _embeddings(config: modeling.AlbertConfig) -> Dict[str, Shape]:
    """The tables, their LayerNorm, and the mapping from E to H, which only differing sizes need."""
    embedding, hidden = config.embedding_size, config.hidden_size
    is_google = config.embedding_layout == "google"
    width = embedding if is_google else hidden
    found = {
        "bert/embeddings/word_embeddings": (config.vocab_size, embedding),
        "bert/embeddings/token_type_embeddings": (config.type_vocab_size, width),
        "bert/embeddings/position_embeddings": (config.max_position_embeddings, width),
        **_norm("bert/embeddings/LayerNorm", width),
    }
    if embedding != hidden:
        mapping = _dense("bert/encoder/embedding_hidden_mapping_in", embedding, hidden)
        found.update(list(mapping.items()) if is_google else list(mapping.items())[:1])
    return found


def attention_groups(config: modeling.AlbertConfig) -> List[int]:
    """Returns the groups whose attention weights some layer uses."""
    layers = range(config.num_hidden_layers)
    return sorted({modeling.layer_groups(config, layer).attention for layer in layers})


def feed_forward_groups(config: modeling.AlbertConfig) -> List[int]:
    """Returns the groups whose feed-forward weights some layer uses."""
    layers = range(config.num_hidden_layers)
    return sorted({modeling.layer_groups(config, layer).feed_forward for layer in layers})


def _blocks(config: modeling.AlbertConfig) -> Dict[str, Shape]:
    hidden, inner = config.hidden_size, config.intermediate_size
    found: Dict[str, Shape] = {}
    for part in range(config.inner_group_num):
        for group in attention_groups(config):
            path = f"bert/encoder/transformer/group_{group}/inner_group_{part}"
            for name in ("self/query", "self/key", "self/value", "output/dense"):
                found.update(_dense(f"{path}/attention_1/{name}", hidden, hidden))
            found.update(_norm(f"{path}/LayerNorm", hidden))
        for group in feed_forward_groups(config):
            path = f"bert/encoder/transformer/group_{group}/inner_group_{part}"
            found.update(_dense(f"{path}/ffn_1/intermediate/dense", hidden, inner))
            found.update(_dense(f"{path}/ffn_1/intermediate/output/dense", inner, hidden))
            found.update(_norm(f"{path}/LayerNorm_1", hidden))
    return found


def _pretraining_head(config: modeling.AlbertConfig, num_labels: int) -> Dict[str, Shape]:
    del num_labels
    hidden = config.hidden_size
    width = masked_lm_width(config)
    return {
        **_dense("cls/predictions/transform/dense", hidden, width),
        **_norm("cls/predictions/transform/LayerNorm", width),
        "cls/predictions/output_bias": (config.vocab_size,),
        **_output("cls/seq_relationship/", 2, hidden),
    }


def masked_lm_width(config: modeling.AlbertConfig) -> int:
    """Returns the size the masked words' vectors are transformed to: E, or H in albert_zh's way."""
    if config.embedding_layout == "google":
        return config.embedding_size
    return config.hidden_size


def _classification_head(config: modeling.AlbertConfig, num_labels: int) -> Dict[str, Shape]:
    found = _output("", num_labels, config.hidden_size)
    if config.ln_type == "preln":
        found.update(_norm("loss/LayerNorm", config.hidden_size))
    return found


def _squad_v2_head(config: modeling.AlbertConfig, num_labels: int) -> Dict[str, Shape]:
    del num_labels
    hidden = config.hidden_size
    return {
        **_dense("start_logits/dense", hidden, 1),
        **_dense("end_logits/dense_0", 2 * hidden, hidden),
        **_norm("end_logits/LayerNorm", hidden),
        **_dense("end_logits/dense_1", hidden, 1),
        **_dense("answer_class/dense_0", 2 * hidden, hidden),
        "answer_class/dense_1/kernel": (hidden, 1),
    }


_HEADS = {
    "pretraining": _pretraining_head,
    "classification": _classification_head,
    "squad_v1": lambda config, _: _output("cls/squad/", 2, config.hidden_size),
    "squad_v2": _squad_v2_head,
    "race": lambda config, _: _output("", 1, config.hidden_size),
}


# ---------------------------------------------------------------------------------------------
# Floating-point operations.


class Operations(NamedTuple):
    """Floating-point operations of the matrix products of one forward pass, by part."""

    embeddings: int
    encoder: int
    head: int  # with the pooler

    @property
    def forward(self) -> int:
        """Returns those of the whole forward pass."""
        return sum(self)

    @property
    def backward(self) -> int:
        """Returns those of the backward pass: two products for each one of the forward pass."""
        return 2 * self.forward


def operations(
    config: modeling.AlbertConfig,
    task: str,
    *,
    sequences: int,
    length: int,
    predictions: int = 20,
    num_labels: int = 2,
) -> Operations:
    """Returns the operations of a batch.

    A block (attention and feed-forward) has 4 H^2 + 2 H I multiply-adds a token for the dense
    layers, and 2 S H for the scores and the weighted sum.

    Args:
      config: the model.
      task: a key of TASKS.
      sequences: B; an example of race is four sequences.
      length: S.
      predictions: P, of pretraining.
      num_labels: C, of a classification.

    Raises:
      ValueError: an unknown task.
    """
    hidden, inner = config.hidden_size, config.intermediate_size
    tokens = sequences * length
    block = 4 * hidden * hidden + 2 * hidden * inner + 2 * length * hidden
    embedding = config.embedding_size
    mapping = 0 if embedding == hidden else embedding * hidden
    head = _head_products(
        config, task, sequences=sequences, length=length, words=predictions, num_labels=num_labels
    )
    if find_task(task).uses_pooler:
        head += sequences * hidden * hidden
    blocks = config.num_hidden_layers * config.inner_group_num
    return Operations(2 * tokens * mapping, 2 * tokens * blocks * block, 2 * head)


def _head_products(
    config: modeling.AlbertConfig,
    task: str,
    *,
    sequences: int,
    length: int,
    words: int,
    num_labels: int,
) -> int:
    """Multiply-adds of a head."""
    hidden, embedding = config.hidden_size, config.embedding_size
    if task == "pretraining":
        width = masked_lm_width(config)
        projection = width * embedding if width != embedding else 0
        word = hidden * width + projection + embedding * config.vocab_size
        return sequences * (words * word + 2 * hidden)
    weights = sum(
        elements(shape) for shape in _HEADS[task](config, num_labels).values() if len(shape) == 2
    )
    # Of SQuAD's layers those that see every token: all but the class of the answer, and the half
    # of end_logits/dense_0 that sees the start.
    if task == "squad_v1":
        return sequences * length * weights
    if task == "squad_v2":
        every_token = hidden * hidden + 2 * hidden
        return sequences * (length * every_token + weights - every_token)
    return sequences * weights
