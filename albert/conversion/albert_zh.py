# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""albert_zh's models as models of ours, and these in Google's layout."""

from albert import modeling
from albert.conversion import folders, names, weights
from albert.conversion.weights import Report, Values


def from_albert_zh(settings: folders.ConversionSettings) -> Report:
    """Converts a folder of albert_zh's.

    Raises:
      ValueError: the folder is not one of albert_zh's, or its parts do not fit together.
    """
    model = folders.read_model(settings)
    source = model.weights.values
    _check_albert_zh(source)
    changes = dict(model.config.to_dict(), embedding_layout="albert_zh")
    config = modeling.AlbertConfig.from_dict(changes)
    if config.num_hidden_groups != 1 or config.inner_group_num != 1 or config.share_type != "all":
        raise ValueError(
            f"{model.files.albert_config_file}: num_hidden_groups {config.num_hidden_groups}, "
            f"inner_group_num {config.inner_group_num} and share_type {config.share_type} do not "
            "fit albert_zh's layout, in which all layers share one set of weights."
        )
    label_count = folders.output_count(source, "output_bias")
    conversion = weights.rename(
        folders.wanted_parts(names.albert_zh(config, label_count), source),
        source,
        to_ours=True,
        # The whole encoder must be converted.
        reason=lambda name: None if name.startswith("bert/") else "not part of this model",
    )
    ignored, values = (*conversion.report.ignored, *model.weights.ignored), conversion.values
    report = conversion.report._replace(ignored=ignored)
    if settings.layout == "google":
        report = report._replace(notes=(_product_note(config),))
        config, values = weights.to_google_layout(config, values)
    with folders.new_folder(settings.output_dir) as folder:
        folders.write_model(folder, config, values, vocabulary=model.vocabulary)
    return report


def _check_albert_zh(values: Values) -> None:
    """Refuses other layouts that have files of the same names."""
    if any(name.startswith("bert/encoder/layer_shared/") for name in values):
        return
    if any(name.startswith("bert/encoder/transformer/group_0/") for name in values):
        raise ValueError(
            "The checkpoint has this package's variable names (Google's) already, as have the "
            "*_google models of albert_zh: it needs no conversion."
        )
    raise ValueError(
        "The checkpoint has not albert_zh's layout: no variable begins with "
        f"bert/encoder/layer_shared/ (the first are {', '.join(sorted(values)[:3])})."
    )


def _product_note(config: modeling.AlbertConfig) -> str:
    return (
        f"word_embeddings is the product W P, [{config.vocab_size}, {config.embedding_size}] times "
        f"[{config.embedding_size}, {config.hidden_size}]; embedding_size is now "
        f"{config.hidden_size}."
    )


def to_google_layout(settings: folders.ConversionSettings) -> Report:
    """Converts a model of ours from albert_zh's layout to Google's.

    Raises:
      ValueError: the model has Google's layout already, or lacks a variable.
    """
    model = folders.read_model(settings)
    source = model.weights.values
    required = ["bert/embeddings/word_embeddings"]
    if model.config.embedding_size != model.config.hidden_size:
        required.append(f"{names.MAPPING}/kernel")
    missing = [name for name in required if name not in source]
    if missing:
        raise ValueError(
            f"The checkpoint lacks {', '.join(missing)}, so it is not one of this package's in "
            "albert_zh's layout. One of albert_zh itself is converted by from_albert_zh."
        )
    config, values = weights.to_google_layout(model.config, source)
    renamed = [
        weights.Renamed(name, source[name].shape, name, values[name].shape)
        for name in sorted(values)
    ]
    report = Report(tuple(renamed), model.weights.ignored, (), (_product_note(model.config),))
    with folders.new_folder(settings.output_dir) as folder:
        folders.write_model(folder, config, values, vocabulary=model.vocabulary)
    return report
