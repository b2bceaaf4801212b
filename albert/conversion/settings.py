# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of convert_checkpoint as typed settings, and the values that some of them take."""

import dataclasses
from typing import Optional

from albert.util import flags as flags_lib

LAYOUTS = ("native", "google")
# Value of --head, beside auto -> transformers' class.
HEADS = {
    "encoder": "AlbertModel",
    "pretraining": "AlbertForPreTraining",
    "classification": "AlbertForSequenceClassification",
    "multiple_choice": "AlbertForMultipleChoice",
    "question_answering": "AlbertForQuestionAnswering",
}


@dataclasses.dataclass(frozen=True)
class ConversionSettings(flags_lib.Settings):
    """The flags of convert_checkpoint."""

    direction: str
    input_dir: str
    output_dir: str
    albert_config_file: Optional[str]
    init_checkpoint: Optional[str]
    spm_model_file: Optional[str]
    vocab_file: Optional[str]
    do_lower_case: bool
    layout: str
    head: str
    approximate_gelu: bool


QUANTIZATIONS = ("none", "int8")


@dataclasses.dataclass(frozen=True)
class ModelExportSettings(flags_lib.Settings):
    """The flags of export_model."""

    model_dir: str
    checkpoint: Optional[str]
    output_dir: str
    format: str
    quantize: str
    max_seq_length: Optional[int]
    eval_file: str
    eval_examples: int
    max_loss: float
