# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes ALBERT on SQuAD v1.1, evaluates it, answers questions and exports the model.

  python -m albert.run_squad_v1 --output_dir=output/squad_v1 --train_file=train-v1.1.json \\
      --predict_file=dev-v1.1.json --albert_dir=base_v2 --do_train --do_predict

Training goes on from the newest checkpoint in --output_dir. --do_predict evaluates every checkpoint
there once, keeps the one with the best F1 as model.ckpt-best, and writes what it answers to
predictions.json and nbest_predictions.json; scores are in eval_results.txt. Questions without
answers in --predict_file are answered too, without scores. --export_dir gets a SavedModel and
albert_model.tflite.
"""

import logging
from typing import Any, Callable, Type

from absl import flags

from albert.command_line import process_flags, script
from albert.squad import settings as squad_settings
from albert.squad.settings import SquadV1Settings
from albert.util import flags as flags_lib


def define_flags(flag_values: flags.FlagValues) -> Type[SquadV1Settings]:
    """Defines the script's flags; returns the class of its settings."""
    squad_settings.define_flags(flag_values)
    text = "Ignored; kept for existing command lines."
    flags_lib.boolean(flag_values, "use_einsum", True, help=text)
    return SquadV1Settings


if __name__ == "__main__":  # before TensorFlow is imported
    script.answer_early(define_flags, usage=__doc__)

import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils
from albert.pretrained.saved_model import Inputs
from albert.runtimes import estimator
from albert.squad import run
from albert.training import fine_tuning

_LOGGER = logging.getLogger("albert")


def answer(settings: SquadV1Settings) -> fine_tuning.Outcome:
    """Trains, evaluates, answers and exports as the settings say; see fine_tuning.run."""
    return fine_tuning.run(settings, run.SquadV1)


def validate_flags_or_throw(albert_config) -> None:
    """Raises ValueError where FLAGS do not fit each other or the AlbertConfig."""
    settings: Any = process_flags.read_settings(define_flags, whole=False)
    run.SquadV1.check_flags(settings)
    fine_tuning_utils.check_length(settings.max_seq_length, albert_config)


def build_squad_serving_input_fn(seq_length) -> Callable[[], Any]:
    """Returns a function that makes a ServingInputReceiver of int32 [1, seq_length] each."""

    def input_fn():
        shape = [1, seq_length]
        inputs = {name: tf.placeholder(tf.int32, shape, name) for name in Inputs._fields}
        return estimator.export.ServingInputReceiver(inputs, inputs)

    return input_fn


@process_flags.reads_flags(define_flags)
def main(settings: SquadV1Settings):
    """Runs the script."""
    if not settings.use_einsum:
        _LOGGER.info("--use_einsum=false changes nothing: the graph has no einsum.")
    fine_tuning.main(settings, run.SquadV1)


def cli():
    """Runs the script with the process's own arguments."""
    script.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
