# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Loads a model from its folder into memory.

with Predictor("output/mrpc") as predictor:
    predictor.predict([("He left.", "He went away."), ("He left.", "It rains.")])

import albert

albert.load("output/squad").answer("Who left?", "He saw the king leave.").text
albert.load("base_v2", pooling="mean").embed(["He left.", "It rains."])
"""

import os
from typing import Any, Dict, Optional, Type

from albert.classification.run import ClassifierTask, Prediction, Predictor
from albert.formats import model_vocabulary
from albert.pretrained import inference, released
from albert.race.run import Answerer, RaceTask
from albert.squad.run import Reader, SquadV1
from albert.tagging.run import Tagger, TaggingTask
from albert.training import fine_tuned
from albert.training.task import Task

__all__ = ["Answerer", "Prediction", "Predictor", "Reader", "Tagger", "load"]


# By the file that describes a model.
_KINDS: Dict[str, Any] = {
    ClassifierTask.description_name: Predictor,
    SquadV1.description_name: Reader,
    RaceTask.description_name: Answerer,
    TaggingTask.description_name: Tagger,
}


def load(
    model: str,
    checkpoint: Optional[str] = None,
    *,
    task: Optional[Type[Task]] = None,
    **options: Any,
) -> Any:
    """Loads the model in a folder into memory.

    Args:
      model: output_dir of a fine-tuning script, the folder of a pretrained model, or the name of a
        released one, such as base_v2.
      checkpoint: weights to use instead of model.ckpt-best.
      task: the class of your own task, if the model is one of that task.
      **options: precision_name and batch_size. Fine-tuned models also take flags of their task,
        such as exit_patience or n_best_size. Encoders take pooling and layer.

    Returns:
      The model in the folder: a classifier (`predict`), a reader for SQuAD (`answer`, `predict`),
      an answerer for RACE (`answer`, `predict`), a tagger (`tag`, `predict`), a model of your own
      task (`predict`), or an encoder (`embed`, `predict`).

    Raises:
      UserError: there is no model, its files do not fit each other, or it does not have an option.
      ConnectionError: a released model cannot be downloaded.
    """
    if task:
        return fine_tuned.Model(model, checkpoint, task=task, **options)
    folder = released.local_folder(os.path.expanduser(str(model)))
    _, name = model_vocabulary.read_description(folder)
    if name in _KINDS:
        return _KINDS[name](folder, checkpoint, **options)
    source = inference.find_source(albert_dir=folder, init_checkpoint=checkpoint)
    return inference.Embedder(source, **options)
