# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A model kept in memory, by the folder it is in.

with Predictor("output/mrpc") as predictor:
    predictor.predict([("He left.", "He went away."), ("He left.", "It rains.")])

import albert

albert.load("output/squad").answer("Who left?", "He saw the king leave.").text
albert.load("base_v2", pooling="mean").embed(["He left.", "It rains."])
"""

import os
from typing import Any, Dict, Optional, Union

from albert.classification import model_folder
from albert.pretrained import inference, model_vocabulary, released
from albert.race import answerer
from albert.squad import reader

Prediction = model_folder.Prediction
Predictor = model_folder.Classifier

# By the file that describes a model.
_KINDS: Dict[str, Any] = {
    model_folder.DESCRIPTION_NAME: model_folder.Classifier,
    reader.DESCRIPTION_NAME: reader.Reader,
    answerer.DESCRIPTION_NAME: answerer.Answerer,
}
AnyModel = Union[model_folder.Classifier, reader.Reader, answerer.Answerer, inference.Embedder]


def load(place: str, checkpoint: Optional[str] = None, **options: Any) -> AnyModel:
    """Returns the model in a folder, in memory.

    Args:
      place: output_dir of a fine-tuning script, the folder of a pretrained model, or the name of a
        released one, such as base_v2.
      checkpoint: weights to take in place of model.ckpt-best.
      **options: precision_name and batch_size; of a classifier also exit_patience and
        exit_threshold; of an encoder pooling and layer.

    Returns:
      What the folder describes: a classifier (`predict`), a reader of SQuAD (`answer`, `predict`),
      an answerer of RACE (the same), or else an encoder (`embed`, `predict`).

    Raises:
      ValueError: no model, or one whose files do not belong together.
      ConnectionError: a released model cannot be downloaded.
    """
    folder = released.local_folder(os.path.expanduser(str(place)), f"albert.load({str(place)!r})")
    _, name = model_vocabulary.read_description(folder)
    if name in _KINDS:
        return _KINDS[name](folder, checkpoint, **options)
    return inference.Embedder(inference.folder_source(folder, checkpoint), **options)
