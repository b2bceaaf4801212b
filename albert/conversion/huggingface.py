# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Our models as folders that transformers loads, and such folders as models of ours."""

import os
from typing import Callable, Dict, Optional, Sequence, Tuple

import numpy as np

from albert import modeling
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
)
from albert.checkpoints.weights import Remark, Report, Values
from albert.conversion import folders, huggingface_files
from albert.conversion.settings import HEADS
from albert.pretrained import model_vocabulary, released
from albert.pretrained.model_vocabulary import Vocabulary
from albert.training import fine_tuned
from albert.util import files
from albert.util.errors import UserError

# Head -> the parts converted beside encoder and pooler.
_PARTS: Dict[str, Tuple[str, ...]] = {
    "encoder": (),
    "pretraining": weights.PRETRAINING,
    "classification": (CLASSIFIER,),
    "multiple_choice": (CLASSIFIER,),
    "question_answering": (SPANS,),
    "tagging": (TAGS,),
}
_VOCABULARY_NAMES = {"spm_model_file": released.SPM_MODEL_NAME, "vocab_file": "vocab.txt"}
_NO_VOCABULARY = "there is no vocabulary; name it by --spm_model_file or --vocab_file."
_MAPPING = (f"{checkpoint_names.MAPPING}/kernel", f"{checkpoint_names.MAPPING}/bias")

# ---- to Hugging Face ----


def to_huggingface(settings: folders.ConversionFlags) -> Report:
    """Converts a model of ours to a folder that transformers loads.

    Raises:
      ValueError: transformers has no such model, or the weights do not fit the configuration.
    """
    model = folders.read_model(settings)
    config, source = model.config, dict(model.weights.values)
    huggingface_files.check_variant(config)
    name = _head_of_ours(model, settings.head)
    head, notes = _head(name, model), []
    if config.embedding_size == config.hidden_size:
        size = config.hidden_size
        source.update(zip(_MAPPING, (np.eye(size, dtype="float32"), np.zeros(size, "float32"))))
        notes.append(f"{checkpoint_names.MAPPING} is the identity: with E = H ours has none.")
    table = checkpoint_names.huggingface(config, head.label_count)
    conversion = weights.rename(
        {part: table[part] for part in (ENCODER, POOLER, *_PARTS[name])},
        source,
        to_ours=False,
        reason=lambda variable: (
            None if variable.startswith("bert/") else f"no part of the head {name}"
        ),
        missing_remark="transformers would give it new values",
    )
    _check_parts(conversion.parts, name)
    if name == "pretraining" and SENTENCE_ORDER not in conversion.parts:
        head = head._replace(architecture="AlbertForMaskedLM")
    if not model.vocabulary:
        notes.append(_NO_VOCABULARY)
    values = conversion.values
    if "predictions.bias" in values:
        # transformers 4.44 to 4.50 take the bias from its tied copy alone.
        values["predictions.decoder.bias"] = values["predictions.bias"]
    with files.atomic_folder(settings.output_dir) as folder:
        if model.vocabulary:
            huggingface_files.write_vocabulary(folder, model.vocabulary)
        content = huggingface_files.config_dict(config, head, model.vocabulary)
        files.atomic_write_json(os.path.join(folder, huggingface_files.CONFIG_NAME), content)
        path = os.path.join(folder, huggingface_files.SAFETENSORS_NAME)
        huggingface_files.write_safetensors(path, values)
    ignored = (*conversion.report.ignored, *model.weights.ignored)
    return conversion.report._replace(ignored=ignored, notes=tuple(notes))


def _head_of_ours(model: folders.OurModel, asked: str) -> str:
    """The value of --head, or for "auto" the head of the model."""
    values = model.weights.values
    if asked != "auto":
        return asked
    if any(name.startswith(checkpoint_names.SQUAD_V2_SCOPES) for name in values):
        raise UserError(
            "The head of run_squad_v2 has no counterpart in transformers. --head=encoder converts "
            "the encoder alone."
        )
    if "cls/squad/output_bias" in values:
        return "question_answering"
    if "tagging/bias" in values:
        return "tagging"
    if "output_bias" in values:
        is_choice = model.description_name == "race.json"
        return "multiple_choice" if is_choice else "classification"
    return "pretraining" if "cls/predictions/output_bias" in values else "encoder"


def _head(name: str, model: folders.OurModel) -> huggingface_files.Head:
    """The head for config.json."""
    if name not in ("classification", "tagging"):
        count = 1 if name == "multiple_choice" else None
        return huggingface_files.Head(HEADS[name], label_count=count)
    bias = "output_bias" if name == "classification" else "tagging/bias"
    count = weights.output_count(model.weights.values, bias)
    labels = model.description.get("labels") or ()
    if labels and len(labels) != count:
        raise UserError(
            f"{model.description_name} names {len(labels)} labels, and the head has {count} "
            "outputs: they do not belong together."
        )
    is_regression = bool(model.description.get("is_regression"))
    return huggingface_files.Head(HEADS[name], labels, count, is_regression)


def _check_parts(parts: Sequence[str], head: str) -> None:
    absent = [part for part in _PARTS[head] if part not in (*parts, SENTENCE_ORDER)]
    if absent:
        raise UserError(f"--head={head}: the model has no such head ({', '.join(absent)}).")


# ---- from Hugging Face ----


def from_huggingface(settings: folders.ConversionFlags) -> Report:
    """Converts a folder of transformers' to one of ours.

    Raises:
      ValueError: the model has no counterpart here, or the weights do not fit the configuration.
    """
    read = huggingface_files.read_config(
        settings.input_dir, approximate_gelu=settings.approximate_gelu
    )
    source = huggingface_files.read_weights(settings.input_dir)
    converted = _convert_theirs(read, source, settings.head)
    notes, vocabulary = list(read.notes), _their_vocabulary(settings)
    if not vocabulary:
        notes.append(_NO_VOCABULARY)
    elif not vocabulary.do_lower_case:
        notes.append("the model is cased.")
    is_choice = settings.head == "multiple_choice" or "MultipleChoice" in read.architecture
    is_classifier = CLASSIFIER in converted.parts and not is_choice and not read.is_multi_label
    with files.atomic_folder(settings.output_dir) as folder:
        released.write_model(folder, read.config, converted.values)
        if vocabulary:
            name = _VOCABULARY_NAMES[vocabulary.key]
            path = os.path.join(folder, name)
            vocabulary = huggingface_files.copy_keeping_accents(
                vocabulary, settings.input_dir, path
            )
            model_vocabulary.put(folder, vocabulary, name)
        if vocabulary and (is_classifier or TAGS in converted.parts):
            bias = converted.values["output_bias" if is_classifier else "tagging/bias"]
            labels = read.labels or huggingface_files.default_labels(len(bias))
            vocabulary = vocabulary._replace(path=path)
            _write_description(
                folder, read.config, vocabulary, labels=labels, tags=not is_classifier
            )
    return converted.report._replace(notes=tuple(notes))


def _convert_theirs(
    read: huggingface_files.ReadConfig, source: Values, head: str
) -> weights.Conversion:
    """Their weights as ours; `head` is that of the flag."""
    if not any(name.startswith("albert.") for name in source):  # a bare AlbertModel
        own = ("embeddings.", "encoder.", "pooler.")
        source = {
            f"albert.{name}" if name.startswith(own) else name: value
            for name, value in source.items()
        }
    if head == "auto" and read.architecture.endswith("TokenClassification"):
        head = "tagging"
    label_count = weights.output_count(source, "classifier.bias")
    table = checkpoint_names.huggingface(read.config, label_count)
    if head == "auto":
        del table[TAGS]  # which is called like the classifier
        parts = weights.wanted_parts(table, source)
    else:
        parts = {part: table[part] for part in (ENCODER, POOLER, *_PARTS[head])}
    conversion = weights.rename(
        parts,
        source,
        to_ours=True,
        reason=_reason_to_ignore(source, parts, read.is_tied),
        missing_remark="not in the source: new, with random values",
    )
    if head != "auto":
        _check_parts(conversion.parts, head)
    if read.config.embedding_size == read.config.hidden_size:
        conversion = _without_mapping(conversion)
    if POOLER not in conversion.parts:
        _add_pooler(conversion.values, read.config)
    return conversion


def _reason_to_ignore(
    values: Values, parts: checkpoint_names.Parts, is_tied: bool
) -> Callable[[str], Optional[str]]:
    """The reason why these parts can be converted without a variable of theirs."""
    whole = ("albert.", "predictions.") if MASKED_WORDS in parts else ("albert.",)
    ties = {
        "predictions.decoder.weight": "albert.embeddings.word_embeddings.weight",
        "predictions.decoder.bias": "predictions.bias",
    }

    def reason(name: str) -> Optional[str]:
        if name.endswith(("position_ids", "token_type_ids")):
            return "a constant"
        if not name.startswith(whole):
            return "no part of what is converted"
        # Of two that are tied and differ, transformers uses the other one too.
        other = ties.get(name)
        is_same = other in values and (is_tied or np.array_equal(values[name], values[other]))
        return f"tied to {other}" if is_same else None

    return reason


def _without_mapping(conversion: weights.Conversion) -> weights.Conversion:
    """Ours lacks the mapping from E to H where E is H; theirs has to be the identity."""
    values, report = conversion.values, conversion.report
    kernel, bias = (values.pop(name) for name in _MAPPING)
    if not np.array_equal(kernel, np.eye(len(bias))) or bias.any():
        raise UserError(
            "embedding_hidden_mapping_in is not the identity, and embedding_size is hidden_size: "
            "there is no counterpart."
        )
    kept = tuple(item for item in report.converted if item.target not in _MAPPING)
    dropped = (
        Remark(item.source, item.source_shape, "the identity")
        for item in report.converted
        if item.target in _MAPPING
    )
    report = report._replace(converted=kept, ignored=(*report.ignored, *dropped))
    return conversion._replace(report=report)


def _add_pooler(values: Values, config: modeling.AlbertConfig) -> None:
    """Adds a pooler with the weights of a new model: a normal distribution cut at two sigma."""
    size, deviation = config.hidden_size, config.initializer_range
    drawn = np.random.RandomState(0).normal(0, deviation, [size, size])
    kernel = np.clip(drawn, -2 * deviation, 2 * deviation)
    values["bert/pooler/dense/kernel"] = kernel.astype(np.float32)
    values["bert/pooler/dense/bias"] = np.zeros(size, np.float32)


def _their_vocabulary(settings: folders.ConversionFlags) -> Optional[Vocabulary]:
    """The vocabulary that flags name, or the one in the folder."""
    for key in model_vocabulary.KEYS:
        if getattr(settings, key):
            return Vocabulary(key, getattr(settings, key), settings.do_lower_case)
    return huggingface_files.find_vocabulary(settings.input_dir)


def _write_description(
    folder: str,
    config: modeling.AlbertConfig,
    vocabulary: Vocabulary,
    *,
    labels: Sequence[str],
    tags: bool,
) -> None:
    """Writes classifier.json or tagging.json, so that `albert.load` takes the folder."""
    is_regression = len(labels) == 1 and not tags
    paths = dict(dict.fromkeys(model_vocabulary.KEYS), **{vocabulary.key: vocabulary.path})
    description = {
        "format_version": 1,
        "task": "tagging" if tags else "custom",
        "labels": [] if is_regression else list(labels),
        **({} if tags else {"is_regression": is_regression}),
        "max_seq_length": config.max_position_embeddings,
        "do_lower_case": vocabulary.do_lower_case,
    }
    name = "tagging.json" if tags else "classifier.json"
    content = fine_tuned.portable_files(name, description, paths, config=config)[name]
    files.atomic_write_bytes(os.path.join(folder, name), content)
