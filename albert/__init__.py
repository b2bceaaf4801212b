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

# The file that describes a fine-tuned model -> (module, class).
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
    from albert.models import released
    from albert.util import files

    if task:
        from albert.training import fine_tuned

        return fine_tuned.FineTunedModel(model, checkpoint, task=task, **options)
    folder = released.local_folder(os.path.expanduser(str(model)))
    for name, (module, class_name) in _MODELS.items():
        if files.gfile().exists(os.path.join(folder, name)):
            model_class = getattr(importlib.import_module(module), class_name)
            return model_class(folder, checkpoint, **options)
    from albert.models import pretrained

    encoder = pretrained.find_model(albert_dir=folder, init_checkpoint=checkpoint)
    return pretrained.Embedder(encoder, **options)
