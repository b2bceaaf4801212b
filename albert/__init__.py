# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""ALBERT: A Lite BERT for Self-supervised Learning of Language Representations.

import albert

albert.load("output/squad").answer("Who left?", "He saw the king leave.").text
albert.load("base_v2", pooling="mean").embed(["He left.", "It rains."])
"""

import importlib
import os
from typing import Any, Optional

from albert.runtimes import support

__version__ = "0.1.0"

support.check_python()

# The class of a fine-tuned model, by the file that describes it.
_MODELS = {
    "classifier.json": ("albert.tasks.classification.task", "Predictor"),
    "squad.json": ("albert.tasks.squad.task", "Reader"),
    "race.json": ("albert.tasks.race.task", "Answerer"),
    "tagging.json": ("albert.tasks.tagging.task", "Tagger"),
}


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
        released one, such as base_v2.
      checkpoint: weights to use instead of model.ckpt-best.
      task: the class of your own task, if the model is one of that task.
      **options: precision_name ("float32", or "bfloat16" or "float16" where the device is faster
        with it) and batch_size, the most sequences to run together. Fine-tuned models also take
        flags of their task, such as exit_patience or n_best_size. Encoders take pooling and layer.

    Returns:
      The model in the folder: a classifier (`predict`), a reader for SQuAD (`answer`, `predict`),
      an answerer for RACE (`answer`, `predict`), a tagger (`tag`, `predict`), a model of your own
      task (`predict`), or an encoder (`embed`, `predict`).

    Raises:
      UserError: there is no model, its files do not fit each other, or it does not have an option.
      ConnectionError: a released model cannot be downloaded.
    """
    from albert.models import released
    from albert.util import files

    if task:
        from albert.training import fine_tuned

        return fine_tuned.FineTunedModel(model, checkpoint, task=task, **options)
    folder = released.local_folder(os.path.expanduser(str(model)))
    for name, (module, kind) in _MODELS.items():
        if files.gfile().exists(os.path.join(folder, name)):
            return getattr(importlib.import_module(module), kind)(folder, checkpoint, **options)
    from albert.models import encoder

    source = encoder.find_source(albert_dir=folder, init_checkpoint=checkpoint)
    return encoder.Embedder(source, **options)
