# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""albert_zh's models as models of ours, and these in Google's layout."""

from albert import modeling
from albert.checkpoints import weights
from albert.checkpoints.weights import Report
from albert.conversion import folders
from albert.pretrained import released
from albert.util import files
from albert.util.errors import UserError


def from_albert_zh(settings: folders.ConversionFlags) -> Report:
    """Converts a folder of albert_zh's.

    Raises:
      ValueError: the folder is not one of albert_zh's, or its parts do not fit together.
    """
    model = folders.read_model(settings)
    config, values, report = weights.from_albert_zh(model.config, model.weights)
    if settings.layout == "google":
        report = report._replace(notes=(_product_note(config),))
        config, values = weights.to_google_layout(config, values)
    with files.atomic_folder(settings.output_dir) as folder:
        released.write_model(folder, config, values, vocabulary=model.vocabulary)
    return report


def _product_note(config: modeling.AlbertConfig) -> str:
    return (
        f"word_embeddings is the product W P, [{config.vocab_size}, {config.embedding_size}] times "
        f"[{config.embedding_size}, {config.hidden_size}]; embedding_size is now "
        f"{config.hidden_size}."
    )


def to_google_layout(settings: folders.ConversionFlags) -> Report:
    """Converts a model of ours from albert_zh's layout to Google's.

    Raises:
      ValueError: the model has Google's layout already, or lacks a variable.
    """
    model = folders.read_model(settings)
    source = model.weights.values
    if any("/layer_shared/" in name for name in source):
        raise UserError(
            "The checkpoint has albert_zh's variable names. Convert it by from_albert_zh "
            "--layout=google."
        )
    config, values = weights.to_google_layout(model.config, source)
    renamed = [
        weights.Renamed(name, source[name].shape, name, values[name].shape)
        for name in sorted(values)
    ]
    report = Report(tuple(renamed), model.weights.ignored, (), (_product_note(model.config),))
    with files.atomic_folder(settings.output_dir) as folder:
        released.write_model(folder, config, values, vocabulary=model.vocabulary)
    return report
