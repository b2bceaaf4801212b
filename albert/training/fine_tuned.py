# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A fine-tuned model: its folder's description, and the model in memory.

    with Model(MyTask, "output/mine") as model:
        model.predict(["He left.", "It rains."])

The description is a JSON file that says which task the weights are of, with what vocabulary and
flags. Dimensions: N texts.
"""

import math
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Type

import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.configs.flags import FineTuningFlags
from albert.pretrained import (
    exported,
    inference,
    model_vocabulary,
    released,
    saved_model,
    warm_start,
)
from albert.pretrained.network import Network, check_finite
from albert.runtimes import compat
from albert.training import evaluation
from albert.training.task import Outputs, Task, records_in_memory
from albert.util import files, flags, provenance
from albert.util.errors import UserError

CONFIG_NAME = released.CONFIG_NAME
# Of a description; see files.check_types.
_TYPES = {"format_version": int, "task": str, "max_seq_length": int, "do_lower_case": bool}
# Flags of training that a model in memory uses too.
_HEARD_IN_MEMORY = {
    "max_seq_length",
    "padding",
    "vocab_file",
    "spm_model_file",
    "do_lower_case",
}
_MODELS = ("albert_dir", "albert_config_file", "init_checkpoint", "albert_hub_module_handle")


# ---- the description ----


def check_description(
    path: str, description: Mapping[str, Any], task: Task, *, is_training: bool
) -> None:
    """Raises UserError if a folder's description is there and not that of this run.

    A flag that only the training depends on may differ where the model is used.
    """
    if not tf.io.gfile.exists(path):
        return
    may_differ = set(task.free_keys)
    if not is_training:
        may_differ.update(("max_seq_length", *task.recorded_flags))
    present, wanted = (
        {
            # Of a vocabulary the content counts, not the name.
            key: value["sha256"] if key in model_vocabulary.KEYS and value else value
            for key, value in content.items()
            if key not in may_differ
        }
        for content in (files.read_json_object(path, _TYPES), description)
    )
    difference = provenance.difference(present, wanted)
    if difference:
        raise UserError(
            f"--output_dir={os.path.dirname(path)} belongs to another run: {difference}. Choose "
            f"another --output_dir; if the change is meant, remove {path} first."
        )


def portable_files(
    name: str,
    description: Mapping[str, Any],
    vocabulary: fine_tuning_utils.Vocabulary,
    *,
    config: modeling.AlbertConfig,
    folder: str = "",
) -> Dict[str, bytes]:
    """Returns the content of the files that, with the weights, make a model usable elsewhere.

    Args:
      name: of the description.
      description: its content, but for the vocabulary.
      vocabulary: the tokenizer's.
      config: of the encoder.
      folder: where they go, if other files may be there; see model_vocabulary.name_in.
    """
    base = os.path.basename(vocabulary.path)
    if folder:
        model_vocabulary.name_in(folder, vocabulary.path)
    content = {**description, **vocabulary.record()}
    return {
        base: files.read_bytes(vocabulary.path),
        name: files.json_text(content).encode("utf-8"),
        CONFIG_NAME: config.to_json_string().encode("utf-8"),
    }


# ---- settings, model and task, found together ----


class Setup(NamedTuple):
    """What a run or a program works with.

    Attributes:
      settings: with the parts of the model that --albert_dir or the folder stands for.
      config: of the encoder.
      vocabulary: the file of the task's tokenizer.
      task: of these settings.
    """

    settings: FineTuningFlags
    config: modeling.AlbertConfig
    vocabulary: fine_tuning_utils.Vocabulary
    task: Task

    def description(self) -> Dict[str, Any]:
        """Returns the content of the description."""
        return {**self.task.describe(), **self.vocabulary.record()}

    def portable_files(self, folder: str = "", **more: Any) -> Dict[str, bytes]:
        """Returns what the function of this name does; `more` goes into the description."""
        return portable_files(
            self.task.description_name,
            {**self.task.describe(), **more},
            self.vocabulary,
            config=self.config,
            folder=folder,
        )

    def network(self, batch_size: int) -> Network:
        """Returns the network of prediction, without weights."""
        dtype = compat.compute_dtype(self.settings.precision)
        return Network(
            lambda features: self._outputs(features, dtype),
            self.task.spec(False),
            batch_size=batch_size,
            sequences=self.task.sequences,
            padding=self.settings.padding or "longest",
            fills=self.task.fills,
        )

    def serving_outputs(self, inputs: exported.Tensors) -> Dict[str, tf.Tensor]:
        """Builds the network as it is exported, on int32 [B, S]; returns its outputs by name."""
        return self._outputs(inputs, tf.float32)

    def _outputs(
        self, features: fine_tuning_utils.Features, dtype: tf.DType
    ) -> Dict[str, tf.Tensor]:
        # Compiled parts gain nothing without gradients, and each length would be compiled.
        encoder = fine_tuning_utils.Encoder(self.config, False, compute_dtype=dtype)
        outputs = self.task.head(features, encoder).with_losses()
        return {name: tf.identity(value, name=name) for name, value in outputs.items()}


def set_up(settings: FineTuningFlags, task: Type[Task]) -> Setup:
    """Finds the model, the vocabulary and the task that flags stand for.

    Without training, a model that no flag names is that of --output_dir, or of --checkpoint's
    folder; its vocabulary is taken too, and what its description says of flags that are not given.

    Raises:
      UserError: they are not there, or do not belong together.
    """
    folder, start, name = settings.output_dir, settings.checkpoint, task.description_name
    if start and not tf.io.gfile.exists(os.path.join(folder, name)):
        folder = start if tf.io.gfile.isdir(start) else os.path.dirname(start)
    path, description = os.path.join(folder, name), {}
    if not settings.do_train and tf.io.gfile.exists(path):
        description = files.read_json_object(path, _TYPES)
    if not (settings.do_train or any(getattr(settings, model) for model in _MODELS)):
        if not description:
            raise UserError(
                f"{folder!r} has no {name}. Give the --output_dir of a training of this kind."
            )
        recorded = {"do_lower_case", "max_seq_length", *task.recorded_flags} - settings.given
        changes = {key: description[key] for key in recorded & description.keys()}
        if not (settings.spm_model_file or settings.vocab_file):
            found = model_vocabulary.recorded(folder, description=description)
            changes.update({found.key: found.path} if found else {})
        settings = settings.replace(albert_config_file=os.path.join(folder, CONFIG_NAME), **changes)
    settings = released.resolve_model_files(settings)
    config = fine_tuning_utils.load_config(settings)
    tokenizer, vocabulary = fine_tuning_utils.load_vocabulary(settings, config)
    return Setup(settings, config, vocabulary, task(settings, tokenizer, description))


def chosen_checkpoint(settings: FineTuningFlags) -> str:
    """Returns --checkpoint, the best one, or the newest; raises UserError if there is none."""
    return warm_start.resolve_checkpoint(settings.checkpoint or settings.output_dir)


def open_folder(task: Type[Task], folder: str, **options: Any) -> Setup:
    """Returns what a training has left in its --output_dir; `options` are flags of the task."""
    return set_up(flags.make(task.flags, output_dir=folder, do_train=False, **options), task)


def export(setup: Setup, checkpoint: str, export_dir: str, *, threshold: float = math.nan) -> str:
    """Exports a fine-tuned model as a SavedModel into a new folder below export_dir; returns it.

    Both signatures give the outputs of the task's head, and `threshold` if that is a number.

    Raises:
      UserError: the checkpoint does not fit the model.
    """

    def build(inputs: exported.Tensors) -> exported.Tensors:
        constant = {} if math.isnan(threshold) else {"threshold": tf.constant(threshold)}
        return {**setup.serving_outputs(inputs), **constant}

    folder = saved_model.export_saved_model(
        export_dir,
        build,
        checkpoint,
        max_seq_length=setup.settings.max_seq_length,
        extra_files=setup.portable_files(**setup.task.served()),
    )
    setup.task.export_more(export_dir, setup.serving_outputs, checkpoint)
    return folder


# ---- the model in memory ----


class Model(inference.Model):
    """A fine-tuned model in memory. Calls from several threads take turns.

    Attributes:
      setup: settings, config, vocabulary and task.
      checkpoint: path prefix of the weights, or the file of an exported model.
    """

    network: Network

    def __init__(
        self,
        task: Type[Task],
        folder: str,
        checkpoint: Optional[str] = None,
        *,
        precision_name: str = "float32",
        batch_size: int = 32,
        **options: Any,
    ):
        """Loads the model.

        Args:
          task: what was trained.
          folder: output_dir of the training, or what export_model wrote.
          checkpoint: weights to take in place of model.ckpt-best.
          precision_name: "float32", or "bfloat16" or "float16" where the device is faster with it.
          batch_size: most sequences to run together.
          **options: flags of the task, such as those of decoding.

        Raises:
          UserError: no such model, or an option that it cannot have.
        """
        heard = {*_HEARD_IN_MEMORY, *task.recorded_flags, *task.heard_flags}
        unheard = options.keys() & set(flags.describe(task.flags)) - heard
        if unheard:
            raise UserError(f"{', '.join(sorted(unheard))}: no effect on a model in memory.")
        folder = os.path.expanduser(str(folder))
        self.setup = open_folder(task, folder, **{"precision": precision_name, **options})
        self.task = self.setup.task
        program = None if checkpoint else exported.find(folder)
        self.checkpoint = program or warm_start.resolve_checkpoint(checkpoint or folder)
        if not program:
            self.task.metrics = evaluation.recorded_metrics(self.checkpoint, folder)
        self.network = self.setup.network(batch_size)
        self.network.load(self.checkpoint)

    def predict(self, texts: Sequence[Any]) -> List[Any]:
        """Returns the task's answer to each text, in order; what is too long is cut as in training.

        Raises:
          UserError: an item is not what the task takes.
        """
        examples = inference.parse_texts(texts, self.task.parse)
        return self.task.decode(examples, self.outputs(examples)) if examples else []

    def outputs(self, examples: Sequence[Any]) -> Outputs:
        """Returns the outputs of the head for examples of the task, and what their records hold."""
        records = records_in_memory(self.task, examples)
        return check_finite({**records, **self.network.run(records)})
