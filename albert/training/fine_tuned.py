# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A fine-tuned model: its folder's description, and the model in memory.

    with FineTunedModel("output/mine", task=MyTask) as model:
        model.predict(["He left.", "It rains."])

The description is a JSON file that says which task the weights are of, with what vocabulary and
flags.
"""

import math
import os
from typing import Any, Dict, Optional, Sequence, Tuple, Type

import tensorflow.compat.v1 as tf

from albert.configs import model_config
from albert.configs.shared_flags import FineTuningFlags
from albert.formats import (
    model_folder,
    model_paths,
    model_vocabulary,
    saved_model,
    warm_start,
)
from albert.models import inference, released
from albert.training import evaluation, labelled_data
from albert.training.task import Task
from albert.util import UserError, files, json_files, provenance, wording
from albert.util import flags as flags_lib

# Flags of training that a model in memory uses too.
_HEARD_IN_MEMORY = {
    "max_seq_length",
    "padding",
    "vocab_file",
    "spm_model_file",
    "do_lower_case",
}
_MODELS = ("albert_dir", "albert_config_file", "init_checkpoint", "albert_hub_module_handle")


def _read_description(
    folder: str, kinds: Sequence[Type[Task]]
) -> Tuple[Type[Task], Dict[str, Any]]:
    """The task of the model in a folder, and its description; {} without the file."""
    path = os.path.join(folder, kinds[0].description_name)
    if not files.exists(path):
        return kinds[0], {}
    content = json_files.read(path)
    kind = next((kind for kind in kinds if kind.name == content.get("task")), kinds[0])
    required = {"task": str, "max_seq_length": range(1, 1 << 31), "do_lower_case": bool}
    recorded = flags_lib.schema(kind.flags_class, kind.recorded_flags)
    schema = {**model_vocabulary.DESCRIPTION, **required, **recorded, **kind.description_schema}
    json_files.check(content, schema, f"'{path}'")
    return kind, {key: value for key, value in content.items() if value is not None}


def check_description(task: Task, folder: str = "") -> None:
    """Raises UserError if the description in --output_dir differs from this run's.

    A flag that only the training depends on may differ where the model is used. `folder` is that of
    a model to use, whose task may have another name.
    """
    may_differ = ["path", *task.decoding()]  # of a vocabulary the content counts
    if folder:
        may_differ.append("task")
    folder = folder or task.flags.output_dir
    _, description = _read_description(folder, [type(task)])
    if not description:
        return
    if not task.flags.do_train:
        may_differ += ["max_seq_length", *task.recorded_flags]
    expected = {**task.describe(), **task.vocabulary.record()}
    difference = provenance.difference(description, expected, may_differ)
    if difference:
        raise UserError(
            f"--output_dir={folder} has a run with other settings: {difference}. Choose another "
            "--output_dir. If you want the change, first remove "
            f"{os.path.join(folder, task.description_name)}."
        )


def portable_files(task: Task, is_export: bool = False) -> Dict[str, bytes]:
    """Returns what a trained or exported model needs besides its weights."""
    return model_folder.portable_files(
        task.config,
        task.vocabulary,
        task.description_name,
        description=task.describe(is_export),
    )


def set_up(
    flags: FineTuningFlags, kind: Type[Task], description: Optional[Dict[str, Any]] = None
) -> Task:
    """Returns the task for a script's flags, with its model and vocabulary.

    Its flags name the model's files, found in --albert_dir. Without training and without a flag
    for the model, the model is the one in --output_dir, or in the folder of --checkpoint or of a
    trained --init_checkpoint. Then its vocabulary and the flags in its description are used too,
    unless flags are given. `description` is the one in --output_dir, if it was read.

    Raises:
      UserError: files are missing, or do not fit each other.
    """
    folder, name = flags.output_dir, kind.description_name
    start = flags.checkpoint or flags.init_checkpoint
    if start and not files.exists(os.path.join(folder, name)):
        folder = start if files.is_folder(start) else os.path.dirname(start)
    models = {model for model in _MODELS if getattr(flags, model)}
    if description is None:
        description = {} if flags.do_train else _read_description(folder, [kind])[1]
    if description:
        models.discard("init_checkpoint")
    if not (flags.do_train or models):
        if not description:
            raise UserError(
                f"{folder!r} has no {name}. Give the --output_dir of a training of this kind."
            )
        recorded = {"do_lower_case", "max_seq_length", *kind.recorded_flags} - flags.explicit
        changes = {key: description[key] for key in recorded & description.keys()}
        if not (flags.spm_model_file or flags.vocab_file):
            vocabulary = model_vocabulary.recorded(folder, description=description)
            if vocabulary:
                changes[vocabulary.key] = vocabulary.path
        flags = flags.fill_in(
            albert_config_file=os.path.join(folder, model_folder.CONFIG_NAME), **changes
        )
    flags = released.resolve_model_files(flags)
    if not (
        flags.do_train
        or flags.checkpoint
        or flags.wait_for_checkpoints_minutes
        or model_paths.checkpoint_names(flags.output_dir)
    ):
        flags = flags.fill_in(checkpoint=flags.init_checkpoint)
    config = model_config.load_config(flags)
    tokenizer, vocabulary = model_vocabulary.load_vocabulary(flags, config)
    task = kind(flags, tokenizer, description)
    task.config, task.vocabulary = config, vocabulary
    return task


def export(task: Task, checkpoint: str, export_dir: str) -> str:
    """Exports a fine-tuned model as a SavedModel into a new folder below export_dir; returns it.

    Both signatures give the outputs of the task's head, and `threshold` if --threshold_to_export is
    a number.

    Raises:
      UserError: the checkpoint does not fit the model.
    """
    threshold = getattr(task.flags, "threshold_to_export", math.nan)

    def build(inputs: warm_start.Tensors) -> warm_start.Tensors:
        constant = {} if math.isnan(threshold) else {"threshold": tf.constant(threshold)}
        return {**task.build(inputs), **constant}

    return saved_model.write(
        export_dir,
        build,
        checkpoint,
        tokenizer=task.tokenizer,
        max_seq_length=task.flags.max_seq_length,
        extra_files=portable_files(task, is_export=True),
    )


# ---- the model in memory ----


class FineTunedModel(inference.InferenceModel):
    """A model of a task, from the folder of its training or export.

    Attributes:
      kinds: the tasks that it may be of; the first, if the description names no other.
      batch_size: most sequences to run together, where no argument names it.
    """

    kinds: Sequence[Type[Task]]
    batch_size = 32

    def __init__(
        self,
        model_dir: str,
        checkpoint: Optional[str] = None,
        *,
        task: Optional[Type[Task]] = None,
        precision_name: str = "float32",
        batch_size: Optional[int] = None,
        **options: Any,
    ):
        """Loads the model, as albert.load does; raises UserError."""
        folder = os.path.expanduser(str(model_dir))
        kind, description = _read_description(folder, [task] if task else self.kinds)
        heard = {*_HEARD_IN_MEMORY, *kind.recorded_flags, *kind.heard_flags}
        unheard = options.keys() & set(flags_lib.describe(kind.flags_class)) - heard
        if unheard:
            hint = wording.did_you_mean(min(unheard), ["precision_name", "batch_size", *heard])
            raise UserError(f"A loaded model has no option {', '.join(sorted(unheard))}.{hint}")
        values = {"precision": precision_name, **options, "output_dir": folder, "do_train": False}
        loaded = set_up(flags_lib.make(kind.flags_class, **values), kind, description)
        program = None if checkpoint else model_paths.find_program(folder)
        weights = program or model_paths.resolve(checkpoint or folder)
        if not program:
            loaded.metrics = evaluation.recorded_metrics(weights, folder)
        size = self.batch_size if batch_size is None else batch_size
        super().__init__(loaded, weights, batch_size=size)
        self._folder = folder

    def evaluate(self, data: Any) -> Dict[str, float]:
        """Returns the metrics by name on labelled data, as albert.fine_tune takes them."""
        task, examples = labelled_data.read(self.task, self._folder, data)
        if not len(examples):
            raise UserError("There are no labelled examples to evaluate.")
        return task.measure_all(examples, self.outputs(examples))
