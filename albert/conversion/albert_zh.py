# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""albert_zh's models as models of ours, and these in Google's layout."""

from albert import modeling
from albert.checkpoints import weights
from albert.checkpoints.weights import Report
from albert.conversion import folders
from albert.pretrained import released
from albert.util import files


def from_albert_zh(settings: folders.ConversionFlags) -> Report:
    """Converts a folder of albert_zh's.

    Raises:
      UserError: the folder is not one of albert_zh's, or its parts do not fit together.
    """
    model = folders.read_model(settings)
    config, values, report = weights.from_albert_zh(model.config, model.weights)
    if settings.layout == "google":
        config, values = weights.to_google_layout(config, values)
    _write(settings.output_dir, model, config=config, values=values)
    return report


def to_google_layout(settings: folders.ConversionFlags) -> Report:
    """Converts a model of ours from albert_zh's layout to Google's.

    Raises:
      UserError: the model is not one of ours in albert_zh's layout.
    """
    model = folders.read_model(settings)
    source = model.weights.values
    config, values = weights.to_google_layout(model.config, source)
    converted = [
        weights.Line(name, source[name].shape, f" -> {name} {list(value.shape)}")
        for name, value in sorted(values.items())
    ]
    _write(settings.output_dir, model, config=config, values=values)
    return Report(converted, model.weights.ignored, ())


def _write(
    output_dir: str,
    model: folders.OurModel,
    *,
    config: modeling.AlbertConfig,
    values: weights.Values,
) -> None:
    with files.atomic_folder(output_dir) as folder:
        released.write_model(folder, config, values, vocabulary=model.vocabulary)
