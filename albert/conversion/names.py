# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the variables of a model are called here, in albert_zh, and in Hugging Face's transformers.

A table lists the variables of a model part by part, each with its two names and its shape. The
names of the foreign models are those of their public code: brightmart/albert_zh (TensorFlow 1) and
transformers' modeling_albert.py.

Shapes: V vocabulary, E embedding, H hidden, I intermediate, S positions, T types, C labels.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from albert import modeling

ENCODER = "encoder"
POOLER = "pooler"
MASKED_WORDS = "masked words"
SENTENCE_ORDER = "sentence order"
CLASSIFIER = "classifier"
SPANS = "question answering"

# The variables of the head that run_squad_v2 trains; no other code has it.
SQUAD_V2_SCOPES = ("start_logits/", "end_logits/", "answer_class/")


class Name(NamedTuple):
    """A variable.

    Attributes:
      ours: its name in our checkpoints.
      theirs: its name in the foreign model.
      shape: ours.
      is_transposed: whether the foreign one has rows and columns exchanged.
      aliases: other foreign names it goes by.
    """

    ours: str
    theirs: str
    shape: Tuple[int, ...]
    is_transposed: bool = False
    aliases: Tuple[str, ...] = ()

    @property
    def their_shape(self) -> Tuple[int, ...]:
        """Returns the shape in the foreign model."""
        return self.shape[::-1] if self.is_transposed else self.shape


Parts = Dict[str, List[Name]]

_BLOCK = "bert/encoder/transformer/group_{group}/inner_group_{inner}"

# Ours below a block, the foreign name below its own, the shape of the kernel (of a LayerNorm: H).
_ZH_BLOCK = (
    ("attention_1/self/query", "attention/self/query", "HH"),
    ("attention_1/self/key", "attention/self/key", "HH"),
    ("attention_1/self/value", "attention/self/value", "HH"),
    ("attention_1/output/dense", "attention/output/dense", "HH"),
    ("LayerNorm", "attention/output/LayerNorm", "H"),
    ("ffn_1/intermediate/dense", "intermediate/dense", "HI"),
    ("ffn_1/intermediate/output/dense", "output/dense", "IH"),
    ("LayerNorm_1", "output/LayerNorm", "H"),
)
_HF_BLOCK = (
    ("attention_1/self/query", "attention.query", "HH"),
    ("attention_1/self/key", "attention.key", "HH"),
    ("attention_1/self/value", "attention.value", "HH"),
    ("attention_1/output/dense", "attention.dense", "HH"),
    ("LayerNorm", "attention.LayerNorm", "H"),
    ("ffn_1/intermediate/dense", "ffn", "HI"),
    ("ffn_1/intermediate/output/dense", "ffn_output", "IH"),
    ("LayerNorm_1", "full_layer_layer_norm", "H"),
)
MAPPING = "bert/encoder/embedding_hidden_mapping_in"


class _Shapes:
    """Shapes of letters: of a config, and of a head's number of labels."""

    def __init__(self, config: modeling.AlbertConfig, label_count: Optional[int]):
        self._sizes = {
            "V": config.vocab_size,
            "E": config.embedding_size,
            "H": config.hidden_size,
            "I": config.intermediate_size,
            "S": config.max_position_embeddings,
            "T": config.type_vocab_size,
            "C": label_count,
            "2": 2,
        }

    def of(self, letters: str) -> Tuple[int, ...]:
        """The shape that letters stand for."""
        return tuple(self._sizes[letter] for letter in letters)

    def same(self, ours: str, theirs: str, letters: str, *aliases: str) -> Name:
        """A variable that is alike in both."""
        return Name(ours, theirs, self.of(letters), aliases=aliases)

    def both(self, ours: str, theirs: str, letters: str) -> List[Name]:
        """The two variables of a layer, which both sides call by the same names."""
        return [
            self.same(f"{ours}/{ending}", f"{theirs}/{ending}", part)
            for ending, part in _endings(letters)
        ]

    def torch_layer(self, ours: str, theirs: str, letters: str) -> List[Name]:
        """The two variables of a layer, which PyTorch calls weight and bias."""
        named = {"kernel": "weight", "gamma": "weight", "bias": "bias", "beta": "bias"}
        return [
            Name(f"{ours}/{ending}", f"{theirs}.{named[ending]}", self.of(part), ending == "kernel")
            for ending, part in _endings(letters)
        ]


def _endings(letters: str) -> Tuple[Tuple[str, str], ...]:
    """(ending of the name, letters of the shape) of a LayerNorm [H] or a dense layer [in, out]."""
    if len(letters) == 1:
        return (("beta", letters), ("gamma", letters))
    return (("kernel", letters), ("bias", letters[-1]))


# ---------------------------------------------------------------------------------------------
# albert_zh.


def albert_zh(config: modeling.AlbertConfig, label_count: Optional[int] = None) -> Parts:
    """Returns the names of albert_zh's layout.

    Args:
      config: with embedding_layout albert_zh, share_type all and one group.
      label_count: of a classifier's head.
    """
    shapes = _Shapes(config, label_count)
    return {
        ENCODER: _zh_encoder(shapes, config),
        POOLER: shapes.both("bert/pooler/dense", "bert/pooler/dense", "HH"),
        MASKED_WORDS: [
            *_unchanged(shapes.both, "cls/predictions/transform/dense", "HH"),
            *_unchanged(shapes.both, "cls/predictions/transform/LayerNorm", "H"),
            _unchanged(shapes.same, "cls/predictions/output_bias", "V"),
        ],
        SENTENCE_ORDER: [
            _unchanged(shapes.same, "cls/seq_relationship/output_weights", "2H"),
            _unchanged(shapes.same, "cls/seq_relationship/output_bias", "2"),
        ],
        CLASSIFIER: [
            _unchanged(shapes.same, "output_weights", "CH"),
            _unchanged(shapes.same, "output_bias", "C"),
            *(_unchanged(shapes.both, "loss/LayerNorm", "H") if config.ln_type == "preln" else []),
        ],
    }


def _unchanged(make: Any, name: str, letters: str) -> Any:
    """One or two variables that have the same name in both."""
    return make(name, name, letters)


def _zh_encoder(shapes: _Shapes, config: modeling.AlbertConfig) -> List[Name]:
    embeddings = "bert/embeddings"
    names = [
        shapes.same(
            f"{embeddings}/word_embeddings",
            f"{embeddings}/word_embeddings",
            "VE",
            f"{embeddings}/word_embeddings_1",
        ),
        _unchanged(shapes.same, f"{embeddings}/token_type_embeddings", "TH"),
        _unchanged(shapes.same, f"{embeddings}/position_embeddings", "SH"),
        *_unchanged(shapes.both, f"{embeddings}/LayerNorm", "H"),
    ]
    if config.embedding_size != config.hidden_size:
        names.append(shapes.same(f"{MAPPING}/kernel", f"{embeddings}/word_embeddings_2", "EH"))
    block = _BLOCK.format(group=0, inner=0)
    for ours, theirs, letters in _ZH_BLOCK:
        names += shapes.both(f"{block}/{ours}", f"bert/encoder/layer_shared/{theirs}", letters)
    return names


# ---------------------------------------------------------------------------------------------
# Hugging Face.


def huggingface(config: modeling.AlbertConfig, label_count: Optional[int] = None) -> Parts:
    """Returns the names of transformers' ALBERT models.

    The mapping from E to H is listed also where E is H: theirs has it then, ours has not.

    Args:
      config: of Google's layout, with share_type all or none.
      label_count: of a classifier's head.
    """
    shapes = _Shapes(config, label_count)
    return {
        ENCODER: _hf_encoder(shapes, config),
        POOLER: shapes.torch_layer("bert/pooler/dense", "albert.pooler", "HH"),
        MASKED_WORDS: [
            *shapes.torch_layer("cls/predictions/transform/dense", "predictions.dense", "HE"),
            *shapes.torch_layer(
                "cls/predictions/transform/LayerNorm", "predictions.LayerNorm", "E"
            ),
            shapes.same("cls/predictions/output_bias", "predictions.bias", "V"),
        ],
        SENTENCE_ORDER: _hf_output(shapes, "cls/seq_relationship/", "sop_classifier.classifier"),
        CLASSIFIER: _hf_output(shapes, "", "classifier", count="C"),
        SPANS: _hf_output(shapes, "cls/squad/", "qa_outputs"),
    }


def _hf_output(shapes: _Shapes, ours: str, theirs: str, *, count: str = "2") -> List[Name]:
    """A last layer, whose weights are [outputs, H] on both sides."""
    return [
        shapes.same(f"{ours}output_weights", f"{theirs}.weight", count + "H"),
        shapes.same(f"{ours}output_bias", f"{theirs}.bias", count),
    ]


def _hf_encoder(shapes: _Shapes, config: modeling.AlbertConfig) -> List[Name]:
    tables = (("word", "VE"), ("token_type", "TE"), ("position", "SE"))
    names = [
        shapes.same(
            f"bert/embeddings/{kind}_embeddings",
            f"albert.embeddings.{kind}_embeddings.weight",
            size,
        )
        for kind, size in tables
    ]
    names += shapes.torch_layer("bert/embeddings/LayerNorm", "albert.embeddings.LayerNorm", "E")
    names += shapes.torch_layer(MAPPING, "albert.encoder.embedding_hidden_mapping_in", "EH")
    for group in range(huggingface_groups(config)):
        for inner in range(config.inner_group_num):
            block = _BLOCK.format(group=group, inner=inner)
            theirs = f"albert.encoder.albert_layer_groups.{group}.albert_layers.{inner}"
            for ending, their_ending, letters in _HF_BLOCK:
                names += shapes.torch_layer(
                    f"{block}/{ending}", f"{theirs}.{their_ending}", letters
                )
    return names


def huggingface_groups(config: modeling.AlbertConfig) -> int:
    """Returns the number of groups: without shared weights there is one for each layer."""
    if config.share_type == "none":
        return config.num_hidden_layers
    return config.num_hidden_groups
