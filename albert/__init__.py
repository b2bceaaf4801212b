# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""ALBERT: A Lite BERT for Self-supervised Learning of Language Representations.

import albert

model = albert.fine_tune("train.csv", "dev.csv", model="base_v2", output_dir="output/mine")
albert.load("output/squad").answer("Who left?", "He saw the king leave.").text
albert.load("base_v2", pooling="mean").embed(["He left.", "It rains."])
"""

import importlib
import os
from typing import Any, Callable, Dict, Optional

from albert.runtimes import support

__version__ = "0.1.0"

support.check_python()

# The file that describes a fine-tuned model -> (module, class).
_MODELS = {
    "classifier.json": ("albert.tasks.classification.task", "Predictor"),
    "squad.json": ("albert.tasks.squad.task", "Reader"),
    "race.json": ("albert.tasks.race.task", "Answerer"),
    "tagging.json": ("albert.tasks.tagging.task", "Tagger"),
}

# Task -> (script, module, class). The other tasks are published tasks of run_classifier.
_TASKS = {
    "custom": ("albert.run_classifier", "albert.tasks.classification.task", "ClassifierTask"),
    "squad_v1": ("albert.run_squad_v1", "albert.tasks.squad.task", "SquadV1"),
    "squad_v2": ("albert.run_squad_v2", "albert.tasks.squad.task", "SquadV2"),
    "race": ("albert.run_race", "albert.tasks.race.task", "RaceTask"),
    "multiple_choice": (
        "albert.run_multiple_choice",
        "albert.tasks.race.task",
        "MultipleChoiceTask",
    ),
    "tagging": ("albert.run_tagger", "albert.tasks.tagging.task", "TaggingTask"),
}
_PUBLISHED = ("albert.run_classifier", "albert.tasks.classification.task", "PublishedTask")


def fine_tune(
    train: Any,
    dev: Any = None,
    *,
    output_dir: str,
    model: Optional[str] = None,
    task: Any = "custom",
    callback: Optional[Callable[[int, Dict[str, float]], Optional[bool]]] = None,
    **flags: Any,
) -> Any:
    """Fine-tunes a model as a script does, and loads the best checkpoint.

    Args:
      train: training data: a file or folder that the script reads, a list of tuples (text, label)
        or (text, text, label), a list of dicts, or a pandas frame.
      dev: development data, likewise, to choose the best checkpoint. None: in the folder `train`,
        or none.
      output_dir: folder of the training, which resumes there. Gets what the script writes.
      model: the script's --albert_dir: a folder, or the name of a released model.
      task: "custom" or a name of run_classifier, "squad_v1", "squad_v2", "race",
        "multiple_choice", "tagging", or your own Task class.
      callback: called as callback(step, metrics) when a checkpoint is saved and evaluated; returns
        False to stop the training.
      **flags: the script's other flags, such as learning_rate.

    Returns:
      The model, as from `load`; model.evaluate(data) returns metrics by name.

    Raises:
      UserError: an unknown flag, or a wrong value, row or file.
    """
    from albert.util import cli

    cli.import_tensorflow()
    from albert.training import fine_tuning, labelled_data

    kind, script = task, ""
    if isinstance(task, str):
        script, module, class_name = _TASKS.get(task.lower(), _PUBLISHED)
        kind = getattr(importlib.import_module(module), class_name)
        if script == _PUBLISHED[0]:
            flags["task_name"] = task
    flags.update(output_dir=output_dir, albert_dir=flags.get("albert_dir", model))
    run_flags = labelled_data.flags_for(kind, train, dev, script=script, **flags)
    fine_tuning.run(run_flags, kind, callback)
    return load(run_flags.output_dir, task=None if script else kind)


def load(
    model: str,
    checkpoint: Optional[str] = None,
    *,
    task: Any = None,
    **options: Any,
) -> Any:
    """Loads the model in a folder into memory.

    Args:
      model: output_dir of a fine-tuning script, the folder of a pretrained model, or the name of a
        released model, such as base_v2.
      checkpoint: weights to use instead of model.ckpt-best.
      task: your own Task class, if the model was trained for that task.
      **options: batch_size, the maximum number of sequences to run together, and precision_name,
        "float32", "bfloat16" or "float16"; the last two are faster on some devices. Fine-tuned
        models also take flags of their task, such as exit_patience or n_best_size. Encoders take
        pooling and layer.

    Returns:
      The model in the folder: a classifier (`predict`), a reader for SQuAD (`answer`, `predict`),
      an answerer for RACE (`answer`, `predict`), a tagger (`tag`, `predict`), a model of your own
      task (`predict`), or an encoder (`embed`, `predict`).

    Raises:
      UserError: the folder has no model, or its files do not fit each other; or an option is
        unknown.
      ConnectionError: a released model cannot be downloaded.
    """
    from albert.util import cli, files

    cli.import_tensorflow(is_quiet=False)
    from albert.models import released

    if task:
        from albert.training import fine_tuned

        return fine_tuned.FineTunedModel(model, checkpoint, task=task, **options)
    folder = released.local_folder(os.path.expanduser(str(model)))
    for name, (module, class_name) in _MODELS.items():
        if files.exists(os.path.join(folder, name)):
            model_class = getattr(importlib.import_module(module), class_name)
            return model_class(folder, checkpoint, **options)
    from albert.models import pretrained

    encoder = pretrained.find_model(albert_dir=folder, init_checkpoint=checkpoint)
    return pretrained.Embedder(encoder, **options)
