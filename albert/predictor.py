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
from albert.pretrained import inference, model_vocabulary, released
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
    place: str,
    checkpoint: Optional[str] = None,
    *,
    task: Optional[Type[Task]] = None,
    **options: Any,
) -> Any:
    """Returns the model in a folder, in memory.

    Args:
      place: output_dir of a fine-tuning script, the folder of a pretrained model, or the name of a
        released one, such as base_v2.
      checkpoint: weights to take in place of model.ckpt-best.
      task: a task of your own, which was trained there.
      **options: precision_name and batch_size; of a fine-tuned model also the flags of its task,
        such as exit_patience or n_best_size; of an encoder pooling and layer.

    Returns:
      What the folder describes: a classifier (`predict`), a reader of SQuAD (`answer`, `predict`),
      an answerer of RACE (the same), a tagger (`tag`, `predict`), your task's model (`predict`), or
      else an encoder (`embed`, `predict`).

    Raises:
      UserError: no model, one whose files do not belong together, or an option that it cannot have.
      ConnectionError: a released model cannot be downloaded.
    """
    if task:
        return fine_tuned.Model(place, checkpoint, task=task, **options)
    folder = released.local_folder(os.path.expanduser(str(place)))
    _, name = model_vocabulary.read_description(folder)
    if name in _KINDS:
        return _KINDS[name](folder, checkpoint, **options)
    source = inference.find_source(albert_dir=folder, init_checkpoint=checkpoint)
    return inference.Embedder(source, **options)
