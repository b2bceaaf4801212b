# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts models to folders that transformers loads, and back."""

import os
from typing import Any, Dict, Mapping, Optional, Tuple

import numpy as np

from albert import modeling, tokenization
from albert.formats import (
    checkpoints,
    huggingface_files,
    huggingface_tokenizer,
    model_folder,
    model_vocabulary,
    variable_names,
)
from albert.formats.checkpoints import Values
from albert.formats.flags import HEADS, SPM_MODEL_NAME, ConversionFlags
from albert.formats.model_folder import PretrainedModel
from albert.formats.model_vocabulary import Vocabulary
from albert.formats.variable_names import (
    CLASSIFIER,
    ENCODER,
    MASKED_WORDS,
    POOLER,
    SENTENCE_ORDER,
    SPANS,
    TAGS,
    THEIR_MAPPING,
    Report,
)
from albert.util import UserError, files, log

# Head -> parts to convert besides encoder and pooler. `auto` takes the first head that fits.
_MULTI_LABEL = "multi_label_classification"  # a problem_type
_QUESTION_LENGTH = "max_qa_length"  # of multiple choice; transformers ignore and keep it
_PARTS: Dict[str, Tuple[str, ...]] = {
    "question_answering": (SPANS,),
    "classification": (CLASSIFIER,),
    "multiple_choice": (CLASSIFIER,),
    "tagging": (TAGS,),
    "pretraining": (MASKED_WORDS, SENTENCE_ORDER),
    "encoder": (),
}
# transformers uses tokenizer.json unchanged for this class, as for PreTrainedTokenizerFast. With
# that one, transformers.js would omit the token_type_ids of pairs.
ONNX_TOKENIZER = "ConvBertTokenizer"
# Description of a model -> its head.
_HEAD_OF = {
    "classifier.json": "classification",
    "squad.json": "question_answering",
    "race.json": "multiple_choice",
    "tagging.json": "tagging",
}


def _rename(
    config: modeling.AlbertConfig, source: Values, head: str, *, to_ours: bool
) -> Tuple[str, Values, Report]:
    """Returns the head's name, the renamed weights of encoder, pooler and head, and the report."""
    biases = ("classifier.bias", "output_bias", "tagging/bias")
    label_count = next((len(source[name]) for name in biases if name in source), 0)
    table = variable_names.huggingface(config, label_count)
    present = {part for part in table if variable_names.is_in(source, table[part], to_ours=to_ours)}
    if head == "auto":
        head = next(head for head, parts in _PARTS.items() if present.issuperset(parts[:1]))
    parts = _PARTS[head]
    strict = ("albert.",) if to_ours else ("bert/",)
    values, report = variable_names.rename(
        {part: table[part] for part in (ENCODER, POOLER, *parts)},
        source,
        to_ours=to_ours,
        required={ENCODER, *parts} - {SENTENCE_ORDER},
        strict=(*strict, "predictions.") if MASKED_WORDS in parts else strict,
    )
    return head, values, report


# ---- to Hugging Face ----


def to_huggingface(flags: ConversionFlags, model: PretrainedModel, folder: str) -> Report:
    """Converts a model to files that transformers loads.

    Raises:
      UserError: transformers has no such model, or the weights do not fit the configuration.
    """
    config = model.config
    huggingface_files.check_variant(config)
    description, description_name = model_vocabulary.read_description(flags.input_dir)
    source, head = checkpoints.read(model.checkpoint), flags.head
    is_v2 = any(name.startswith(variable_names.SQUAD_V2_SCOPES) for name in source)
    if head == "auto" and is_v2:
        raise UserError(
            "transformers does not support the head of run_squad_v2. To convert only the encoder, "
            "add --head=encoder."
        )
    if head == "auto" and description_name == "race.json":
        head = "multiple_choice"
    head, values, report = _rename(config, source, head, to_ours=False)
    if config.embedding_size == config.hidden_size:  # transformers maps E to H even then
        values[f"{THEIR_MAPPING}.weight"] = np.eye(config.hidden_size, dtype=np.float32)
        values[f"{THEIR_MAPPING}.bias"] = np.zeros(config.hidden_size, np.float32)
    architecture = HEADS[head]
    if head == "pretraining":
        # transformers 4.44 to 4.50 read the bias only from its tied copy.
        values["predictions.decoder.bias"] = values["predictions.bias"]
        if "sop_classifier.classifier.bias" not in values:
            architecture = "AlbertForMaskedLM"
    content = {
        **huggingface_files.config_dict(config, architecture),
        **_task_keys(head, description, len(values.get("classifier.bias", ()))),
    }
    if model.vocabulary:
        longest = description.get("max_seq_length") or config.max_position_embeddings
        huggingface_tokenizer.write_vocabulary(folder, model.vocabulary, longest)
    files.atomic_write_json(os.path.join(folder, huggingface_files.CONFIG_NAME), content)
    huggingface_files.write_weights(folder, values)
    return report


def _task_keys(head: str, description: Mapping[str, Any], count: int) -> Dict[str, Any]:
    """Returns the keys of config.json about a task: `count` labels, if they have no names."""
    if head not in ("classification", "tagging"):
        return {key: description[key] for key in description.keys() & {_QUESTION_LENGTH}}
    labels = description.get("labels") or [f"LABEL_{number}" for number in range(count)]
    problem_type = "regression" if description.get("is_regression") else None
    if description.get("label_separator"):
        problem_type = _MULTI_LABEL
    return {
        "id2label": {str(number): label for number, label in enumerate(labels)},
        "label2id": {label: number for number, label in enumerate(labels)},
        "problem_type": problem_type,
    }


def write_onnx_settings(folder: str, model: PretrainedModel, dtype: str) -> None:
    """Writes what Optimum and transformers.js read beside an ONNX file: configuration, tokenizer.

    Args:
      folder: has the ONNX file and the description of the model.
      model: the original model.
      dtype: transformers.js loads the file of this type.
    """
    description, description_name = model_vocabulary.read_description(folder)
    head = _HEAD_OF.get(description_name, "encoder")
    if "start_n_top" in description:  # of SQuAD v2.0, whose head transformers does not have
        head = "encoder"
    content = {
        **huggingface_files.config_dict(model.config, HEADS[head]),
        **_task_keys(head, description, 1),
        "transformers.js_config": {"dtype": dtype},
    }
    files.atomic_write_json(os.path.join(folder, huggingface_files.CONFIG_NAME), content)
    try:
        huggingface_tokenizer.write_vocabulary(
            folder, model.vocabulary, model.max_seq_length, tokenizer_class=ONNX_TOKENIZER
        )
    except UserError as error:
        log.warning("Wrote no tokenizer.json for Optimum and transformers.js: %s", error)


# ---- from Hugging Face ----


def from_huggingface(flags: ConversionFlags, new: str) -> Report:
    """Converts a model folder of transformers to a model folder of this package.

    Raises:
      UserError: the model has no counterpart here, or the weights do not fit the configuration.
    """
    folder = flags.input_dir
    config, theirs = huggingface_files.read_model_config(
        folder, approximate_gelu=flags.approximate_gelu
    )
    source = _their_weights(folder, config, is_tied=theirs.get("tie_word_embeddings", True))
    head = flags.head
    for name in ("tagging", "multiple_choice"):  # their weights have a classifier's names
        if head == "auto" and HEADS[name] in (theirs.get("architectures") or ()):
            head = name
    head, values, report = _rename(config, source, head, to_ours=True)
    if "bert/pooler/dense/bias" not in values:  # draw a normal distribution, clipped at 2 sigma
        log.warning("The weights have no pooler. The new one is random.")
        size, deviation = config.hidden_size, config.initializer_range
        drawn = np.random.RandomState(0).normal(0, deviation, [size, size])
        kernel = drawn.clip(-2 * deviation, 2 * deviation).astype(np.float32)
        values["bert/pooler/dense/kernel"] = kernel
        values["bert/pooler/dense/bias"] = np.zeros(size, np.float32)
    model_folder.write_model(new, config, values)
    vocabulary, keep_accents = huggingface_tokenizer.read_vocabulary(flags)
    if vocabulary:
        _put_vocabulary(new, vocabulary, keep_accents)
    else:
        log.warning("No vocabulary found. Name it with --spm_model_file or --vocab_file.")
    longest = huggingface_tokenizer.read_tokenizer_config(folder).get("model_max_length")
    length = min(config.max_position_embeddings, longest or 1 << 31)
    description = _description(head, theirs, len(source.get("classifier.bias", ())), length=length)
    if description:
        recorded = {"do_lower_case": True, **model_vocabulary.read_description(new)[0]}
        name, content = description
        content.update(format_version=1, max_seq_length=length)
        files.atomic_write_json(os.path.join(new, name), {**recorded, **content})
    return report


def _their_weights(folder: str, config: modeling.AlbertConfig, *, is_tied: bool) -> Values:
    """Reads a folder's weights, without constants, tied copies and an identity mapping."""
    values = {}
    for name, value in huggingface_files.read_weights(folder).items():
        is_bare = name.startswith(("embeddings.", "encoder.", "pooler."))  # of AlbertModel
        is_copy = is_tied and name.startswith("predictions.decoder.")
        if not is_copy and not name.endswith(("position_ids", "token_type_ids")):
            values[f"albert.{name}" if is_bare else name] = value
    if config.embedding_size == config.hidden_size:
        kernel = values.pop(f"{THEIR_MAPPING}.weight", None)
        bias = values.pop(f"{THEIR_MAPPING}.bias", None)
        if not np.array_equal(kernel, np.eye(config.hidden_size)) or bias.any():
            raise UserError(
                f"{THEIR_MAPPING} is not the identity matrix. Such a model cannot be converted if "
                "embedding_size equals hidden_size."
            )
    return values


def _put_vocabulary(folder: str, vocabulary: Vocabulary, keep_accents: Optional[bool]) -> None:
    """Copies a vocabulary. If keep_accents is None, the model's setting stays."""
    is_pieces = vocabulary.key == "spm_model_file"
    path = os.path.join(folder, SPM_MODEL_NAME if is_pieces else "vocab.txt")
    content = files.read_bytes(vocabulary.path)
    if is_pieces and keep_accents is not None:
        content = tokenization.with_keep_accents(content, keep_accents)
    files.atomic_write_bytes(path, content)
    model_vocabulary.put(folder, vocabulary._replace(path=path))


def _description(
    head: str, theirs: Dict[str, Any], count: int, *, length: int
) -> Optional[Tuple[str, Dict[str, Any]]]:
    """Returns the name and content of the description that `albert.load` reads.

    Args:
      head: the converted head.
      theirs: content of config.json.
      count: number of labels.
      length: maximum tokens of an input.
    """
    if head == "question_answering":
        return "squad.json", {
            "task": "squad_v1",
            "doc_stride": length // 4,
            "max_query_length": length // 8,
            "n_best_size": 20,
            "max_answer_length": 30,
        }
    if head == "multiple_choice":
        longest = theirs.get(_QUESTION_LENGTH, length // 4)
        return "race.json", {"task": "race", _QUESTION_LENGTH: longest}
    label_of = theirs.get("id2label") or {}
    labels = [str(label_of.get(str(number), f"LABEL_{number}")) for number in range(count)]
    if head == "tagging":
        return "tagging.json", {"task": "tagging", "labels": labels}
    if head != "classification":
        return None
    problem, is_regression = theirs.get("problem_type"), count == 1
    if problem in ("regression", _MULTI_LABEL) and is_regression != (problem == "regression"):
        log.warning(
            "The problem_type is %s with %d labels: there is no such model here.",
            problem,
            count,
        )
        return None
    labels = [] if is_regression else labels
    content = {"task": "custom", "labels": labels, "is_regression": is_regression}
    if problem == _MULTI_LABEL:
        content["label_separator"] = "|"
    return "classifier.json", content
