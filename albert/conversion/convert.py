# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts a model's folder: see convert_checkpoint."""

import tensorflow.compat.v1 as tf

from albert.checkpoints import weights
from albert.checkpoints.comparison import Entry
from albert.checkpoints.weights import Report
from albert.conversion import huggingface
from albert.conversion.settings import ConversionFlags
from albert.pretrained import released
from albert.util import files


def convert(settings: ConversionFlags) -> Report:
    """Converts a model, and prints and returns what became of each variable.

    Raises:
      UserError: --output_dir exists, the model has no counterpart, or its weights do not fit its
        configuration. Nothing is written.
    """
    place = settings.input_dir
    if settings.direction.startswith("to_"):  # from a model of ours
        settings = settings.replace(input_dir=released.local_folder(place, f"--input_dir={place}"))
    with files.atomic_folder(settings.output_dir) as new:
        if settings.direction == "from_huggingface":
            report = huggingface.from_huggingface(settings, new)
        elif settings.direction == "to_huggingface":
            report = huggingface.to_huggingface(settings, _open(settings), new)
        else:
            report = _convert_albert_zh(settings, _open(settings), new)
        names = sorted(tf.io.gfile.listdir(new))
    print(f"{report}\nWrote {settings.output_dir}: {', '.join(names)}.")
    return report


def _open(settings: ConversionFlags) -> released.OpenModel:
    """The model of ours or of albert_zh in --input_dir; files that flags name come first."""
    folder, fields = settings.input_dir, released.ModelFiles._fields
    return released.open_model(
        folder,
        settings,
        label=f"--input_dir={folder}",
        named=released.ModelFiles(*(getattr(settings, name) for name in fields)),
        vocabulary="optional",
    )


def _convert_albert_zh(settings: ConversionFlags, model: released.OpenModel, folder: str) -> Report:
    """Converts albert_zh's model to one of ours, or one of ours in its layout to Google's."""
    config, values = model.config, weights.read_checkpoint(model.files.init_checkpoint)
    report = Report([Entry(name, value.shape) for name, value in values.items()], [], [])
    if settings.direction == "from_albert_zh":
        config, values, report = weights.from_albert_zh(config, values)
    if settings.direction == "to_google_layout" or settings.layout == "google":
        config, values = weights.to_google_layout(config, values)
    released.write_model(folder, config, values, vocabulary=model.vocabulary)
    return report
