# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of convert_checkpoint and export_model, and the names of a model's files."""

import dataclasses
import functools
from typing import Optional

from albert.configs.shared_flags import TokenizerFlags
from albert.util.flags import BaseFlags, flag

CONFIG_NAME, SPM_MODEL_NAME = "albert_config.json", "30k-clean.model"  # in a model's folder
# Value of --head (except auto) -> class of transformers.
HEADS = {
    "encoder": "AlbertModel",
    "pretraining": "AlbertForPreTraining",
    "classification": "AlbertForSequenceClassification",
    "multiple_choice": "AlbertForMultipleChoice",
    "question_answering": "AlbertForQuestionAnswering",
    "tagging": "AlbertForTokenClassification",
}
DIRECTIONS = ("from_albert_zh", "from_huggingface", "to_huggingface", "to_google_layout")
_folder = functools.partial(flag, None, path=True, required=True)
_path = functools.partial(flag, None, path=True)


@dataclasses.dataclass(frozen=True)
class ConversionFlags(TokenizerFlags):
    """The flags of convert_checkpoint."""

    direction: str = flag(
        None, "The conversion.", choices=DIRECTIONS, required=True, positional=True
    )
    input_dir: str = _folder("Folder of the model to convert, or a released model's name.")
    output_dir: str = _folder("The new folder.")
    albert_config_file: Optional[str] = _path("Configuration, if not in --input_dir.")
    init_checkpoint: Optional[str] = _path("Checkpoint, if not in --input_dir.")
    layout: str = flag(
        "native",
        "from_albert_zh: native keeps the embeddings; google converts them to Google's layout.",
        choices=("native", "google"),
    )
    head: str = flag("auto", "Head to convert (Hugging Face).", choices=("auto", *HEADS))
    approximate_gelu: bool = flag(False, "from_huggingface: replace exact gelu with tanh gelu.")


@dataclasses.dataclass(frozen=True)
class ModelExportFlags(BaseFlags):
    """The flags of export_model."""

    model_dir: str = _folder("Folder of the model, or the name of a released model.")
    checkpoint: Optional[str] = _path("Weights to use in place of model.ckpt-best.")
    output_dir: str = _folder("The new folder.")
    task: Optional[str] = flag(None, "Your own task's class, as module:Class.")
    format: str = flag(
        "onnx",
        "onnx needs pip install 'albert-tf[onnx]'; tflite is TensorFlow Lite.",
        choices=("onnx", "tflite"),
    )
    quantize: str = flag("none", "int8 makes the file 4 times smaller.", choices=("none", "int8"))
    max_seq_length: Optional[int] = flag(
        None, "For a pretrained model: maximum tokens per text.", lower=8
    )
    eval_file: str = _folder(
        "Evaluation data: a data folder or dev file; for a pretrained model, texts."
    )
    eval_examples: int = flag(0, "Number of examples to evaluate on; 0: all.", lower=0)
    max_loss: float = flag(0.5, "Maximum drop of the score, in points.", lower=0)
