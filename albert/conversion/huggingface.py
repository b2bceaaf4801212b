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
)
from albert.checkpoints.weights import Remark, Report, Values
from albert.classification import model_folder
from albert.conversion import folders, huggingface_files
from albert.conversion.settings import HEADS
from albert.pretrained import model_vocabulary, released
from albert.pretrained.model_vocabulary import Vocabulary
from albert.util import files
from albert.util.errors import UserError

# Head -> the parts converted beside encoder and pooler.
_PARTS: Dict[str, Tuple[str, ...]] = {
    "encoder": (),
    "pretraining": weights.PRETRAINING,
    "classification": (CLASSIFIER,),
    "multiple_choice": (CLASSIFIER,),
    "question_answering": (SPANS,),
}
_VOCABULARY_NAMES = {"spm_model_file": released.SPM_MODEL_NAME, "vocab_file": "vocab.txt"}

# ---- to Hugging Face ----


def to_huggingface(settings: folders.ConversionFlags) -> Report:
    """Converts a model of ours to a folder that transformers loads.

    Raises:
      ValueError: transformers has no such model, or the weights do not fit the configuration.
    """
    model = folders.read_model(settings)
    config, vocabulary = model.config, model.vocabulary
    huggingface_files.check_variant(config)
    name = _head_of_ours(model, settings.head)
    head = _head(name, model)
    values, notes = _with_mapping(config, model.weights.values)
    table = checkpoint_names.huggingface(config, head.label_count)
    conversion = weights.rename(
        {part: table[part] for part in (ENCODER, POOLER, *_PARTS[name])},
        values,
        to_ours=False,
        reason=lambda variable: (
            None if variable.startswith("bert/") else f"no part of the head {name}"
        ),
        missing_remark="transformers would give it new values",
    )
    _check_parts(conversion.parts, name, settings.head)
    if name == "pretraining" and SENTENCE_ORDER not in conversion.parts:
        head = head._replace(architecture="AlbertForMaskedLM")
    if not vocabulary:
        note = "no vocabulary was found, so none is in the new folder; name it by --spm_model_file"
        notes += (f"{note} or --vocab_file.",)
    with folders.new_folder(settings.output_dir) as folder:
        ids = huggingface_files.ENGLISH_IDS
        if vocabulary:
            ids = huggingface_files.special_ids(vocabulary)
            huggingface_files.write_vocabulary(folder, vocabulary)
        content = huggingface_files.config_dict(config, head, ids)
        files.atomic_write_json(os.path.join(folder, huggingface_files.CONFIG_NAME), content)
        path = os.path.join(folder, huggingface_files.SAFETENSORS_NAME)
        values = dict(conversion.values)
        if "predictions.bias" in values:
            # transformers 4.44 to 4.50 take the bias from its tied copy alone.
            values["predictions.decoder.bias"] = values["predictions.bias"]
        huggingface_files.write_safetensors(path, values)
    ignored = (*conversion.report.ignored, *model.weights.ignored)
    return conversion.report._replace(ignored=ignored, notes=notes)


def _head_of_ours(model: folders.OurModel, asked: str) -> str:
    """The value of --head, or for "auto" the head of the model."""
    values = model.weights.values
    if asked != "auto":
        return asked
    if any(name.startswith(checkpoint_names.SQUAD_V2_SCOPES) for name in values):
        raise UserError(
            "The head of run_squad_v2 (start_logits, end_logits, answer_class) has no counterpart "
            "in transformers. --head=encoder converts the encoder alone."
        )
    if "cls/squad/output_bias" in values:
        return "question_answering"
    if "output_bias" in values:
        is_choice = model.description_name == "race.json"
        return "multiple_choice" if is_choice else "classification"
    return "pretraining" if "cls/predictions/output_bias" in values else "encoder"


def _head(name: str, model: folders.OurModel) -> huggingface_files.Head:
    """The head for config.json."""
    architecture = HEADS[name]
    if name != "classification":
        count = 1 if name == "multiple_choice" else None
        return huggingface_files.Head(architecture, label_count=count)
    count = weights.output_count(model.weights.values, "output_bias")
    labels = tuple(model.description.get("labels") or ())
    if labels and len(labels) != count:
        raise UserError(
            f"{model.description_name} names {len(labels)} labels, and the head has {count} "
            "outputs: they do not belong together."
        )
    is_regression = bool(model.description.get("is_regression"))
    return huggingface_files.Head(architecture, labels, count, is_regression)


def _check_parts(parts: Sequence[str], name: str, asked: str) -> None:
    needed = [part for part in _PARTS[name] if part != SENTENCE_ORDER]
    absent = [part for part in needed if part not in parts]
    if absent:
        raise UserError(f"--head={asked}: the model has no such head ({', '.join(absent)}).")


def _with_mapping(config: modeling.AlbertConfig, values: Values) -> Tuple[Values, Tuple[str, ...]]:
    """Adds the mapping from E to H that transformers has also where E is H: the identity."""
    if config.embedding_size != config.hidden_size:
        return values, ()
    size = config.hidden_size
    added = {
        f"{checkpoint_names.MAPPING}/kernel": np.eye(size, dtype=np.float32),
        f"{checkpoint_names.MAPPING}/bias": np.zeros(size, np.float32),
    }
    note = f"{checkpoint_names.MAPPING} is the identity: with E = H only transformers has it."
    return dict(values, **added), (note,)


# ---- from Hugging Face ----


def from_huggingface(settings: folders.ConversionFlags) -> Report:
    """Converts a folder of transformers' to one of ours.

    Raises:
      ValueError: the model has no counterpart here, or the weights do not fit the configuration.
    """
    read = huggingface_files.read_config(
        settings.input_dir, approximate_gelu=settings.approximate_gelu
    )
    config = read.config
    source = huggingface_files.read_weights(settings.input_dir)
    if not any(name.startswith("albert.") for name in source):  # a bare AlbertModel
        own = ("embeddings.", "encoder.", "pooler.")
        source = {
            f"albert.{name}" if name.startswith(own) else name: value
            for name, value in source.items()
        }
    head = settings.head
    if head == "auto" and (read.architecture or "").endswith("TokenClassification"):
        raise UserError(
            f"{read.architecture} has no counterpart here: no head labels each token. "
            "--head=encoder converts the encoder alone."
        )
    label_count = weights.output_count(source, "classifier.bias")
    parts = checkpoint_names.huggingface(config, label_count)
    if head == "auto":
        parts = weights.wanted_parts(parts, source)
    else:
        parts = {part: parts[part] for part in (ENCODER, POOLER, *_PARTS[head])}
    conversion = weights.rename(
        parts, source, to_ours=True, reason=_reason_to_ignore_theirs(source, parts, read.is_tied)
    )
    if head != "auto":
        _check_parts(conversion.parts, head, head)
    values, report = _finished_values(config, conversion)
    vocabulary, notes = _their_vocabulary(settings), read.notes
    if not vocabulary:
        notes.append(
            f"the folder has neither {huggingface_files.SPM_MODEL_NAME} nor "
            f"{huggingface_files.VOCAB_NAME} (tokenizer.json cannot be read here). Take it from "
            "where the model came from, and name it by --spm_model_file or --vocab_file."
        )
    elif not vocabulary.do_lower_case:
        notes.append("the model is cased.")
    is_choice = head == "multiple_choice" or read.architecture == "AlbertForMultipleChoice"
    is_classifier = CLASSIFIER in conversion.parts and not is_choice and not read.is_multi_label
    with folders.new_folder(settings.output_dir) as folder:
        released.write_model(folder, config, values)
        if vocabulary:
            name = _VOCABULARY_NAMES[vocabulary.key]
            path = os.path.join(folder, name)
            vocabulary = huggingface_files.copy_keeping_accents(
                vocabulary, settings.input_dir, path
            )
            model_vocabulary.put(folder, vocabulary, name)
        if vocabulary and is_classifier:
            labels = read.labels or [f"LABEL_{number}" for number in range(label_count)]
            vocabulary = vocabulary._replace(path=path)
            _write_description(folder, config, vocabulary, labels=labels)
    return report._replace(notes=tuple(notes))


def _reason_to_ignore_theirs(
    values: Values, parts: checkpoint_names.Parts, is_tied: bool
) -> Callable[[str], Optional[str]]:
    """The reason why these parts can be converted without a variable of theirs."""
    whole = ("albert.", "predictions.") if MASKED_WORDS in parts else ("albert.",)
    ties = {
        "predictions.decoder.weight": "albert.embeddings.word_embeddings.weight",
        "predictions.decoder.bias": "predictions.bias",
    }

    def reason(name: str) -> Optional[str]:
        if name.startswith(whole) and name in ties and ties[name] in values:
            if np.array_equal(values[name], values[ties[name]]):
                return f"the same as {ties[name]}"
            # transformers uses the other one in this case too.
            return f"replaced by {ties[name]}, to which it is tied" if is_tied else None
        if name.endswith(("position_ids", "token_type_ids")):
            return "a constant"
        return None if name.startswith(whole) else "no part of what is converted"

    return reason


def _finished_values(
    config: modeling.AlbertConfig, conversion: weights.Conversion
) -> Tuple[Values, Report]:
    """Removes the mapping, which ours lacks where E is H, and adds a pooler where there is none."""
    values, report = dict(conversion.values), conversion.report
    if config.embedding_size == config.hidden_size:
        names = (f"{checkpoint_names.MAPPING}/kernel", f"{checkpoint_names.MAPPING}/bias")
        kernel, bias = (values.pop(name) for name in names)
        if not np.array_equal(kernel, np.eye(len(bias))) or bias.any():
            raise UserError(
                "embedding_hidden_mapping_in is not the identity. With embedding_size equal to "
                "hidden_size our model has no such mapping, so there is no counterpart."
            )
        moved = [item for item in report.converted if item.target in names]
        dropped = [Remark(item.source, item.source_shape, "the identity") for item in moved]
        kept = tuple(item for item in report.converted if item not in moved)
        report = report._replace(converted=kept, ignored=(*report.ignored, *dropped))
    if POOLER not in conversion.parts:
        size = config.hidden_size
        # As a new model's: a normal distribution cut at two deviations.
        drawn = np.random.RandomState(0).normal(0, config.initializer_range, [size, size])
        limit = 2 * config.initializer_range
        values["bert/pooler/dense/kernel"] = np.clip(drawn, -limit, limit).astype(np.float32)
        values["bert/pooler/dense/bias"] = np.zeros(size, np.float32)
        remark = "new, with the random values of an untrained model"
        missing = (
            item._replace(remark=remark) if item.name.startswith("bert/pooler/") else item
            for item in report.missing
        )
        report = report._replace(missing=tuple(missing))
    return values, report


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
) -> None:
    """Writes classifier.json, so that `predict` takes the folder."""
    is_regression = len(labels) == 1
    paths = dict.fromkeys(model_vocabulary.KEYS)
    paths[vocabulary.key] = vocabulary.path
    classifier = model_folder.FineTunedClassifier(
        config=config,
        checkpoint="",
        task="custom",
        labels=() if is_regression else tuple(labels),
        is_regression=is_regression,
        max_seq_length=config.max_position_embeddings,
        do_lower_case=vocabulary.do_lower_case,
        **paths,
    )
    content = model_folder.portable_files(classifier)
    text = content[model_folder.DESCRIPTION_NAME].decode("utf-8")
    files.atomic_write_text(os.path.join(folder, model_folder.DESCRIPTION_NAME), text)
