# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Model folders read and written whole, which every direction of convert_checkpoint does."""

import contextlib
import os
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence

import tensorflow.compat.v1 as tf

from albert import modeling
from albert.conversion import check as conversion_check
from albert.conversion import huggingface_files
from albert.conversion import names as checkpoint_names
from albert.conversion import weights as checkpoint_conversion
from albert.conversion.names import CLASSIFIER, ENCODER, MASKED_WORDS, POOLER, SENTENCE_ORDER, SPANS
from albert.conversion.weights import Remark, Report, Values
from albert.pretrained import model_vocabulary
from albert.pretrained import released as released_models
from albert.pretrained import warm_start as checkpoint_init
from albert.util import files

PRETRAINING = (MASKED_WORDS, SENTENCE_ORDER)

RACE_NAME = "race.json"


class Converted(NamedTuple):
    """What was done.

    Attributes:
      folder: the new one.
      report: what became of each variable.
      differences: of the outputs before and after; None where nothing was run.
      other_files: names of what lies beside the weights.
    """

    folder: str
    report: Report
    differences: Optional[List[conversion_check.Difference]]
    other_files: List[str]


class OurModel(NamedTuple):
    """A folder of ours, or of albert_zh, read."""

    files: released_models.ModelFiles
    vocabulary: Optional[model_vocabulary.Vocabulary]
    config: modeling.AlbertConfig
    weights: checkpoint_conversion.Weights
    description: Dict[str, Any]
    description_name: str


def read_model(settings: Any) -> OurModel:
    """Returns the model in --input_dir; files that flags name come first.

    Raises:
      ValueError: a part is missing or cannot be read.
    """
    folder = settings.input_dir
    label = f"--input_dir={folder}"
    found = released_models.find_files(
        folder,
        released_models.ModelFiles(
            settings.albert_config_file,
            settings.init_checkpoint,
            settings.spm_model_file,
            settings.vocab_file,
        ),
        label=label,
        vocabulary="optional",
    )
    description, name = model_vocabulary.read_description(folder)
    checkpoint = checkpoint_init.resolve_checkpoint(found.init_checkpoint)
    return OurModel(
        found,
        released_models.vocabulary_of(found, folder, settings, label=label),
        modeling.AlbertConfig.from_json_file(found.albert_config_file),
        checkpoint_conversion.read_checkpoint(checkpoint),
        description,
        name,
    )


@contextlib.contextmanager
def new_folder(path: str) -> Iterator[str]:
    """Yields a folder that gets the name `path` if the block succeeds.

    Raises:
      ValueError: the path exists.
    """
    if tf.io.gfile.exists(path):
        raise ValueError(f"--output_dir={path} exists already. Choose a new folder.")
    with files.atomic_folder(path) as temporary:
        tf.io.gfile.makedirs(temporary)
        yield temporary


def write_model(folder: str, config: modeling.AlbertConfig, values: Values) -> str:
    """Writes configuration and checkpoint; returns the checkpoint's prefix."""
    text = config.to_json_string()
    files.atomic_write_text(os.path.join(folder, released_models.CONFIG_NAME), text)
    prefix = os.path.join(folder, checkpoint_init.BEST_CHECKPOINT)
    checkpoint_conversion.write_checkpoint(prefix, values)
    return prefix


def copy_vocabulary(model: OurModel, folder: str) -> None:
    """Puts the vocabulary, if there is one, into the new folder under its own name."""
    if model.vocabulary:
        model_vocabulary.put(folder, model.vocabulary)


def finished(
    settings: Any, report: Report, differences: Optional[List[conversion_check.Difference]]
) -> Converted:
    """Returns what was done, once the new folder is there."""
    folder = settings.output_dir
    weights = (checkpoint_init.BEST_CHECKPOINT, huggingface_files.SAFETENSORS_NAME)
    names = sorted(tf.io.gfile.listdir(folder))
    others = [name for name in names if not name.startswith(weights)]
    return Converted(folder, report, differences, others)


def wanted_parts(
    parts: checkpoint_names.Parts, values: Values, *, to_ours: bool
) -> checkpoint_names.Parts:
    """Returns the parts of a table that are in the source, and those that belong to these."""

    def is_there(part: str) -> bool:
        names = parts.get(part, ())
        return any((name.theirs if to_ours else name.ours) in values for name in names)

    wanted = {ENCODER, POOLER, *filter(is_there, parts)}
    if wanted & set(PRETRAINING):
        wanted.update(PRETRAINING)
    return {part: names for part, names in parts.items() if part in wanted}


def output_count(values: Values, name: str) -> Optional[int]:
    """Returns how many outputs a head has, by its bias; None if it is not there."""
    return int(values[name].shape[0]) if name in values and values[name].ndim == 1 else None


_MARKS = {
    "cls/predictions/output_bias": MASKED_WORDS,
    "cls/seq_relationship/output_bias": SENTENCE_ORDER,
    "output_bias": CLASSIFIER,
    "cls/squad/output_bias": SPANS,
}


def parts_of_ours(values: Values) -> List[str]:
    """Returns the parts in a checkpoint of ours."""
    return [ENCODER, *(part for name, part in _MARKS.items() if name in values)]


# ---------------------------------------------------------------------------------------------
# Reports.


def with_ignored(report: Report, remarks: Sequence[Remark]) -> Report:
    """Returns the report with further ignored variables."""
    return report._replace(ignored=(*report.ignored, *remarks))


def with_note(report: Report, *notes: str) -> Report:
    """Returns the report with further notes."""
    return report._replace(notes=(*report.notes, *notes))


def explained(
    report: Report,
    remarks: Dict[str, str],
    *,
    default: str = "not in the new checkpoint; new when a model with it is trained",
) -> Report:
    """Returns a report that says of each missing variable what became of it."""
    missing = [item._replace(remark=remarks.get(item.name, default)) for item in report.missing]
    return report._replace(missing=tuple(missing))
