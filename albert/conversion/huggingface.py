# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Our models as folders that transformers loads, and such folders as models of ours."""

import os
from typing import Dict, Optional, Sequence, Tuple

import numpy as np

from albert import tokenization
from albert.checkpoints import names as checkpoint_names
from albert.checkpoints import weights
from albert.checkpoints.names import (
    CLASSIFIER,
    ENCODER,
    MASKED_WORDS,
    POOLER,
    SENTENCE_ORDER,
    SPANS,
    TAGS,
    THEIR_MAPPING,
)
from albert.checkpoints.weights import Report, Values
from albert.conversion import folders, huggingface_files
from albert.conversion.settings import HEADS
from albert.pretrained import model_vocabulary, released
from albert.pretrained.model_vocabulary import Vocabulary
from albert.util import files
from albert.util.errors import UserError

# Head -> a variable of ours that shows it, and the parts converted beside encoder and pooler.
_HEADS: Dict[str, Tuple[str, Tuple[str, ...]]] = {
    "question_answering": ("cls/squad/output_bias", (SPANS,)),
    "tagging": ("tagging/bias", (TAGS,)),
    "classification": ("output_bias", (CLASSIFIER,)),
    "multiple_choice": ("output_bias", (CLASSIFIER,)),
    "pretraining": ("cls/predictions/output_bias", weights.PRETRAINING),
    "encoder": ("bert/embeddings/word_embeddings", ()),
}
# What transformers may write twice -> the one that counts.
_TIES = {
    "predictions.decoder.weight": "albert.embeddings.word_embeddings.weight",
    "predictions.decoder.bias": "predictions.bias",
}
_NO_VOCABULARY = "there is no vocabulary; name it by --spm_model_file or --vocab_file."


def _parts(table: checkpoint_names.Parts, head: str) -> checkpoint_names.Parts:
    return {part: table[part] for part in (ENCODER, POOLER, *_HEADS[head][1])}


def _count(values: Values, bias: str) -> Optional[int]:
    """The number of a head's outputs; None without the head."""
    return len(values[bias]) if bias in values else None


# ---- to Hugging Face ----


def to_huggingface(settings: folders.ConversionFlags) -> Report:
    """Converts a model of ours to a folder that transformers loads.

    Raises:
      UserError: transformers has no such model, or the weights do not fit the configuration.
    """
    model = folders.read_model(settings)
    config, source = model.config, model.weights.values
    huggingface_files.check_variant(config)
    head = _head_of_ours(model) if settings.head == "auto" else settings.head
    bias, parts = _HEADS[head]
    count = _count(source, bias)
    values, report = weights.rename(
        _parts(checkpoint_names.huggingface(config, count), head),
        source,
        to_ours=False,
        required={ENCODER, *parts} - {SENTENCE_ORDER},
        reason=lambda name: None if name.startswith("bert/") else f"no part of the head {head}",
    )
    if config.embedding_size == config.hidden_size:  # theirs maps E to H even so
        values[f"{THEIR_MAPPING}.weight"] = np.eye(config.hidden_size, dtype=np.float32)
        values[f"{THEIR_MAPPING}.bias"] = np.zeros(config.hidden_size, np.float32)
    architecture = HEADS[head]
    if head == "pretraining":
        # transformers 4.44 to 4.50 take the bias from its tied copy alone.
        values["predictions.decoder.bias"] = values["predictions.bias"]
        if "sop_classifier.classifier.bias" not in values:
            architecture = "AlbertForMaskedLM"
    content = huggingface_files.config_dict(config, architecture)
    if head in ("classification", "tagging"):
        labels = _labels(model.description.get("labels"), count or 0, model.description_name)
        content["id2label"] = {str(number): label for number, label in enumerate(labels)}
        content["label2id"] = {label: number for number, label in enumerate(labels)}
        is_regression = model.description.get("is_regression")
        content["problem_type"] = "regression" if is_regression else None
    with files.atomic_folder(settings.output_dir) as folder:
        if model.vocabulary:
            longest = model.description.get("max_seq_length") or config.max_position_embeddings
            huggingface_files.write_vocabulary(folder, model.vocabulary, longest)
        files.atomic_write_json(os.path.join(folder, huggingface_files.CONFIG_NAME), content)
        huggingface_files.write_safetensors(
            os.path.join(folder, huggingface_files.SAFETENSORS_NAME), values
        )
    notes = () if model.vocabulary else (_NO_VOCABULARY,)
    return report._replace(ignored=[*report.ignored, *model.weights.ignored], notes=notes)


def _head_of_ours(model: folders.OurModel) -> str:
    """The head of a model, as --head calls it."""
    values = model.weights.values
    if any(name.startswith(checkpoint_names.SQUAD_V2_SCOPES) for name in values):
        raise UserError(
            "The head of run_squad_v2 has no counterpart in transformers. --head=encoder converts "
            "the encoder alone."
        )
    if model.description_name == "race.json":
        return "multiple_choice"
    return next((head for head, (shown_by, _) in _HEADS.items() if shown_by in values), "encoder")


def _labels(names: Optional[Sequence[str]], count: int, file: str) -> Sequence[str]:
    """The names of a head's outputs in a file; where it has none, those that transformers gives."""
    names = names or [f"LABEL_{number}" for number in range(count)]
    if not len(set(names)) == len(names) == count:
        raise UserError(
            f"{file} names {len(names)} labels, which must differ, and the head has {count} "
            "outputs. Use the file that belongs to the weights."
        )
    return names


# ---- from Hugging Face ----


def from_huggingface(settings: folders.ConversionFlags) -> Report:
    """Converts a folder of transformers' to one of ours.

    Raises:
      UserError: the model has no counterpart here, or the weights do not fit the configuration.
    """
    folder = settings.input_dir
    theirs = huggingface_files.read_config(folder, approximate_gelu=settings.approximate_gelu)
    values, report = _convert(theirs, huggingface_files.read_weights(folder), settings.head)
    vocabulary, tokenizer = huggingface_files.find_vocabulary(folder)
    for key in model_vocabulary.KEYS:
        if getattr(settings, key):
            vocabulary = Vocabulary(key, getattr(settings, key), settings.do_lower_case)
    bias = "tagging/bias" if "tagging/bias" in values else "output_bias"
    is_choice = settings.head == "multiple_choice" or "MultipleChoice" in theirs.architecture
    with files.atomic_folder(settings.output_dir) as new:
        released.write_model(new, theirs.config, values)
        if vocabulary:
            _put_vocabulary(new, vocabulary, tokenizer.get("keep_accents"))
            if bias in values and theirs.labels is not None and not is_choice:
                labels = _labels(theirs.labels, len(values[bias]), huggingface_files.CONFIG_NAME)
                length = theirs.config.max_position_embeddings
                length = min(length, tokenizer.get("model_max_length") or length)
                _write_description(new, length, labels, is_tagger=bias == "tagging/bias")
    notes = theirs.notes if vocabulary else [*theirs.notes, _NO_VOCABULARY]
    return report._replace(notes=notes)


def _convert(
    theirs: huggingface_files.TheirConfig, source: Values, head: str
) -> Tuple[Values, Report]:
    """Their weights as ours; `head` is that of the flag."""
    config = theirs.config
    bare = ("embeddings.", "encoder.", "pooler.")  # of AlbertModel
    source = {
        f"albert.{name}" if name.startswith(bare) else name: value for name, value in source.items()
    }
    if config.embedding_size == config.hidden_size:
        names = [f"{THEIR_MAPPING}.{ending}" for ending in ("weight", "bias")]
        kernel, bias = (source.pop(name, np.zeros(0)) for name in names)
        if not np.array_equal(kernel, np.eye(config.hidden_size)) or bias.any():
            raise UserError(
                f"{THEIR_MAPPING} is not the identity. With embedding_size = hidden_size there is "
                "no counterpart."
            )
    if head == "auto" and theirs.architecture.endswith("TokenClassification"):
        head = "tagging"
    table = checkpoint_names.huggingface(config, _count(source, "classifier.bias"))
    if head == "auto":
        del table[TAGS]  # which is called like the classifier
        parts, required = weights.wanted_parts(table, source), {ENCODER}
    else:
        parts, required = _parts(table, head), {ENCODER, *_HEADS[head][1]} - {SENTENCE_ORDER}
    whole = ("albert.", "predictions.") if MASKED_WORDS in parts else ("albert.",)

    def reason(name: str) -> Optional[str]:
        """Why a variable without a counterpart may be ignored."""
        if name.endswith(("position_ids", "token_type_ids")):
            return "a constant"
        if not name.startswith(whole):
            return "no part of what is converted"
        # Of two that are tied and differ, transformers uses the other one too.
        is_tied = theirs.is_tied and _TIES.get(name) in source
        return f"tied to {_TIES[name]}" if is_tied else None

    values, report = weights.rename(parts, source, to_ours=True, required=required, reason=reason)
    if "bert/pooler/dense/bias" not in values:  # a normal distribution cut at two sigma
        size, deviation = config.hidden_size, config.initializer_range
        drawn = np.random.RandomState(0).normal(0, deviation, [size, size])
        kernel = drawn.clip(-2 * deviation, 2 * deviation).astype(np.float32)
        values["bert/pooler/dense/kernel"] = kernel
        values["bert/pooler/dense/bias"] = np.zeros(size, np.float32)
        theirs.notes.append("the pooler is new, with random values.")
    return values, report


def _put_vocabulary(folder: str, vocabulary: Vocabulary, keep_accents: Optional[bool]) -> None:
    """Copies a vocabulary; None: it keeps accents as it did."""
    is_pieces = vocabulary.key == "spm_model_file"
    path = os.path.join(folder, released.SPM_MODEL_NAME if is_pieces else "vocab.txt")
    content = files.read_bytes(vocabulary.path)
    if is_pieces and keep_accents is not None:
        content = tokenization.with_keep_accents(content, keep_accents)
    files.atomic_write_bytes(path, content)
    model_vocabulary.put(folder, vocabulary._replace(path=path))


def _write_description(
    folder: str, max_seq_length: int, labels: Sequence[str], *, is_tagger: bool
) -> None:
    """Writes classifier.json or tagging.json, so that `albert.load` takes the folder."""
    recorded, _ = model_vocabulary.read_description(folder)
    is_regression = len(labels) == 1 and not is_tagger
    content = {
        **{"do_lower_case": True, **recorded},
        "format_version": 1,
        "task": "tagging" if is_tagger else "custom",
        "labels": [] if is_regression else labels,
        "max_seq_length": max_seq_length,
    }
    if not is_tagger:
        content["is_regression"] = is_regression
    name = "tagging.json" if is_tagger else "classifier.json"
    files.atomic_write_json(os.path.join(folder, name), content)
