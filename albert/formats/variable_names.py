# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The names of a model's variables here, in albert_zh, and in Hugging Face's transformers.

`rename` renames and transposes weights, and checks every shape.

The names come from the public code of brightmart/albert_zh (TensorFlow 1) and from transformers'
modeling_albert.py.

Shapes: V vocabulary, E embedding, D all embeddings together, H hidden, I intermediate, S positions,
T types, C labels.
"""

from typing import (
    Collection,
    Container,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Sequence,
    Tuple,
)

import numpy as np

from albert import modeling
from albert.formats import checkpoints
from albert.formats.checkpoints import Entry, Values
from albert.util import wording

ENCODER = "encoder"
POOLER = "pooler"
MASKED_WORDS = "masked words"
SENTENCE_ORDER = "sentence order"
CLASSIFIER = "classifier"
SPANS = "question answering"
TAGS = "tagging"

# The variables of the head that run_squad_v2 trains; no other code has it.
SQUAD_V2_SCOPES = ("start_logits/", "end_logits/", "answer_class/")

MAPPING = "bert/encoder/embedding_hidden_mapping_in"
THEIR_MAPPING = "albert.encoder.embedding_hidden_mapping_in"
_EMBEDDINGS, _THEIRS = "bert/embeddings/", "albert.embeddings."
_BLOCK = "bert/encoder/transformer/group_{}/inner_group_{}/"


Shape = Tuple[int, ...]


class Name(NamedTuple):
    """A variable's name in this package and in the other project."""

    ours: str
    theirs: str
    shape: Shape  # in this package
    is_transposed: bool = False  # in the other project

    def sides(self, to_ours: bool) -> List[Tuple[str, Shape]]:
        """Returns name and shape in the source, and name and shape in the target."""
        theirs = self.shape[::-1] if self.is_transposed else self.shape
        sides = [(self.ours, self.shape), (self.theirs, theirs)]
        return sides[::-1] if to_ours else sides


Parts = Dict[str, List[Name]]

# A row is (our name, their name, letters of our shape). If the names end with / or . the row stands
# for both variables of a layer. One letter means a LayerNorm, two letters a dense layer.
_Row = Tuple[str, str, str]


def _output(ours: str, theirs: str, count: str) -> Tuple[_Row, _Row]:
    """The rows of an output layer. Its weights are [outputs, H] in both projects."""
    return (
        (f"{ours}output_weights", f"{theirs}.weight", f"{count}H"),
        (f"{ours}output_bias", f"{theirs}.bias", count),
    )


# Ours and Hugging Face's; albert_zh has our names.
_SHARED: Dict[str, Sequence[_Row]] = {
    ENCODER: (
        (f"{_EMBEDDINGS}word_embeddings", f"{_THEIRS}word_embeddings.weight", "VE"),
        (f"{_EMBEDDINGS}token_type_embeddings", f"{_THEIRS}token_type_embeddings.weight", "TD"),
        (f"{_EMBEDDINGS}position_embeddings", f"{_THEIRS}position_embeddings.weight", "SD"),
        (f"{_EMBEDDINGS}LayerNorm/", f"{_THEIRS}LayerNorm.", "D"),
    ),
    POOLER: (("bert/pooler/dense/", "albert.pooler.", "HH"),),
    MASKED_WORDS: (
        ("cls/predictions/transform/dense/", "predictions.dense.", "HD"),
        ("cls/predictions/transform/LayerNorm/", "predictions.LayerNorm.", "D"),
        ("cls/predictions/output_bias", "predictions.bias", "V"),
    ),
    SENTENCE_ORDER: _output("cls/seq_relationship/", "sop_classifier.classifier", "2"),
    CLASSIFIER: _output("", "classifier", "C"),
}

# Within a block: ours, albert_zh's, Hugging Face's.
_BLOCK_LAYERS = (
    ("attention_1/self/query/", "attention/self/query/", "attention.query.", "HH"),
    ("attention_1/self/key/", "attention/self/key/", "attention.key.", "HH"),
    ("attention_1/self/value/", "attention/self/value/", "attention.value.", "HH"),
    ("attention_1/output/dense/", "attention/output/dense/", "attention.dense.", "HH"),
    ("LayerNorm/", "attention/output/LayerNorm/", "attention.LayerNorm.", "H"),
    ("ffn_1/intermediate/dense/", "intermediate/dense/", "ffn.", "HI"),
    ("ffn_1/intermediate/output/dense/", "output/dense/", "ffn_output.", "IH"),
    ("LayerNorm_1/", "output/LayerNorm/", "full_layer_layer_norm.", "H"),
)
_TORCH_ENDINGS = {"kernel": "weight", "gamma": "weight", "bias": "bias", "beta": "bias"}


def _expand(
    parts: Mapping[str, Sequence[_Row]], config: modeling.AlbertConfig, label_count: int
) -> Parts:
    sizes = {
        "V": config.vocab_size,
        "D": config.embedding_size if config.embedding_layout == "google" else config.hidden_size,
        "E": config.embedding_size,
        "H": config.hidden_size,
        "I": config.intermediate_size,
        "S": config.max_position_embeddings,
        "T": config.type_vocab_size,
        "C": label_count,
        "2": 2,
    }

    def expand(ours: str, theirs: str, letters: str) -> Iterator[Name]:
        is_torch, endings = theirs.endswith("."), [""]
        if ours.endswith("/"):
            endings = ["gamma", "beta"] if len(letters) == 1 else ["kernel", "bias"]
        for ending, part in zip(endings, (letters, letters[-1])):
            their_ending = _TORCH_ENDINGS[ending] if is_torch else ending
            shape = tuple(sizes[letter] for letter in part)
            yield Name(ours + ending, theirs + their_ending, shape, is_torch and len(part) == 2)

    return {part: [name for row in rows for name in expand(*row)] for part, rows in parts.items()}


def albert_zh(config: modeling.AlbertConfig, label_count: int = 0) -> Parts:
    """Returns the names of albert_zh's layout. Only the encoder's names differ from ours.

    Args:
      config: with embedding_layout albert_zh, share_type all and one group.
      label_count: number of the classifier's labels.
    """
    rows = {
        part: [(ours, ours, size) for ours, _, size in names] for part, names in _SHARED.items()
    }
    if config.embedding_size != config.hidden_size:
        rows[ENCODER].append((f"{MAPPING}/kernel", f"{_EMBEDDINGS}word_embeddings_2", "EH"))
    block, layer = _BLOCK.format(0, 0), "bert/encoder/layer_shared/"
    rows[ENCODER] += [(block + ours, layer + zh, size) for ours, zh, _, size in _BLOCK_LAYERS]
    if config.ln_type == "preln":
        rows[CLASSIFIER].append(("loss/LayerNorm/", "loss/LayerNorm/", "H"))
    return _expand(rows, config, label_count)


def huggingface(config: modeling.AlbertConfig, label_count: int = 0) -> Parts:
    """Returns the names of transformers' ALBERT models.

    If E equals H, transformers still maps E to H. This package does not, so the mapping is omitted.

    Args:
      config: of Google's layout, with share_type all or none.
      label_count: number of the classifier's labels.
    """
    encoder = list(_SHARED[ENCODER])
    if config.embedding_size != config.hidden_size:
        encoder.append((f"{MAPPING}/", f"{THEIR_MAPPING}.", "EH"))
    for group in range(huggingface_groups(config)):
        for inner in range(config.inner_group_num):
            block = _BLOCK.format(group, inner)
            theirs = f"albert.encoder.albert_layer_groups.{group}.albert_layers.{inner}."
            encoder += [(block + ours, theirs + hf, size) for ours, _, hf, size in _BLOCK_LAYERS]
    spans, tags = _output("cls/squad/", "qa_outputs", "2"), [("tagging/", "classifier.", "HC")]
    return _expand({**_SHARED, ENCODER: encoder, SPANS: spans, TAGS: tags}, config, label_count)


def is_in(values: Container[str], names: List[Name], *, to_ours: bool) -> bool:
    """Returns whether the source of a conversion has any of the variables."""
    return any((name.theirs if to_ours else name.ours) in values for name in names)


def huggingface_groups(config: modeling.AlbertConfig) -> int:
    """Returns the number of groups. Without shared weights, each layer is a group."""
    if config.share_type == "none":
        return config.num_hidden_layers
    return config.num_hidden_groups


# ---- renaming ----


class Report(NamedTuple):
    """Every variable of the source and of the target, without optimizer state."""

    converted: List[Entry]  # variables of the source
    ignored: List[Entry]  # variables of the source that the target lacks
    missing: List[Entry]  # variables of the target that the source lacks

    def __str__(self) -> str:
        lines = []
        for title, entries in zip(self._fields, self):
            lines.append(f"{title}: {wording.counted(len(entries), 'variable')}")
            lines += [f"  {entry}" for entry in entries]
        return "\n".join(lines)


def rename(
    parts: Parts,
    values: Values,
    *,
    to_ours: bool,
    required: Collection[str],
    strict: Tuple[str, ...],
) -> Tuple[Values, Report]:
    """Returns the variables under their new names.

    Args:
      parts: the table of names.
      values: the variables to rename.
      to_ours: whether to convert to this package's names.
      required: parts that must exist. Any other part must be complete or absent.
      strict: prefixes of source names that must be in the table. Other unknown names are ignored.

    Raises:
      UserError: a variable is missing, has another shape, or must not be ignored.
    """
    report, unused = Report([], [], []), dict(values)
    result: Values = {}
    lacking: List[Entry] = []
    for part, names in parts.items():
        has_part = part in required or is_in(values, names, to_ours=to_ours)
        for name in names:
            (source, shape), (target, new_shape) = name.sides(to_ours)
            if not has_part:
                report.missing.append(Entry(target, new_shape))
            elif source in values and values[source].shape == shape:
                value = unused.pop(source)
                result[target] = np.ascontiguousarray(value.T if name.is_transposed else value)
                entry = Entry(source, shape, remark=f" -> {target} {list(new_shape)}")
                report.converted.append(entry)
            else:
                lacking.append(Entry(source, shape))
    report.ignored.extend(Entry(source, unused[source].shape) for source in sorted(unused))
    unknown = [entry for entry in report.ignored if entry.name.startswith(strict)]
    if lacking or unknown:
        remedy = (
            "Use the configuration that came with the weights. If you gave --head, try another."
        )
        raise checkpoints.misfit("The model to convert", remedy, lacking=lacking, unknown=unknown)
    return result, report
