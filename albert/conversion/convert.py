# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts a model's folder: see convert_checkpoint."""

import sys

import tensorflow.compat.v1 as tf

from albert.checkpoints import weights
from albert.checkpoints.comparison import Entry
from albert.checkpoints.weights import Report
from albert.conversion import huggingface
from albert.conversion.settings import ConversionFlags
from albert.pretrained import inference, released
from albert.util import files


def convert(settings: ConversionFlags) -> Report:
    """Converts a model; prints and returns a report on each variable.

    Raises:
      UserError: --output_dir exists, the model has no counterpart, or its weights do not fit its
        configuration. Nothing is written.
    """
    settings = settings.replace(input_dir=released.local_folder(settings.input_dir))
    with files.atomic_folder(settings.output_dir) as new:
        if settings.direction == "from_huggingface":
            report = huggingface.from_huggingface(settings, new)
        else:
            model = inference.find_source(
                settings, needs_vocabulary=False, albert_dir=settings.input_dir
            )
            is_theirs = settings.direction == "to_huggingface"
            write = huggingface.to_huggingface if is_theirs else _convert_albert_zh
            report = write(settings, model, new)
        names = sorted(tf.io.gfile.listdir(new))
    print(report)
    print(f"Wrote {settings.output_dir}: {', '.join(names)}.", file=sys.stderr)
    return report


def _convert_albert_zh(settings: ConversionFlags, model: inference.Source, folder: str) -> Report:
    """Converts albert_zh's model to one of ours, or one of ours in its layout to Google's."""
    config, values = model.config, weights.read_checkpoint(model.checkpoint)
    report = Report([Entry(name, value.shape) for name, value in values.items()], [], [])
    if settings.direction == "from_albert_zh":
        config, values, report = weights.from_albert_zh(config, values)
    if settings.direction == "to_google_layout" or settings.layout == "google":
        config, values = weights.to_google_layout(config, values)
    released.write_model(folder, config, values, vocabulary=model.vocabulary)
    return report
