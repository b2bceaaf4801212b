# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Short runs of the SQuAD scripts for tests, and what they export."""

from tests.support import classification_data, pretrained_models
from tests.support.classification_data import read_json  # noqa: F401

CONTEXT = "the king saw a small bird over the old town and the river . the bird sang ."


def arguments_for(folder, output_dir, version, *arguments):
    return [
        f"--output_dir={output_dir}",
        f"--train_file={folder / version}.json",
        f"--predict_file={folder / version}.json",
        f"--albert_config_file={folder / 'config.json'}",
        f"--spm_model_file={classification_data.VOCABULARY}",
        "--max_seq_length=32",
        "--doc_stride=8",
        "--max_query_length=8",
        "--train_batch_size=2",
        "--num_train_epochs=2",
        "--learning_rate=0.003",
        "--save_checkpoints_steps=2",
        "--keep_checkpoint_max=0",
        "--nouse_xla",
        *arguments,
    ]


def model_inputs(length=20):
    return pretrained_models.inputs(length, 1)
