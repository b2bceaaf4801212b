# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes ALBERT on SQuAD v1.1, and answers questions.

  python -m albert.run_squad_v1 --output_dir=output/squad_v1 --train_file=train-v1.1.json \\
      --predict_file=dev-v1.1.json --albert_dir=base_v2 --do_train --do_predict

Training resumes from the newest checkpoint in --output_dir. --do_predict evaluates every checkpoint
once, and keeps the checkpoint with the best F1 as model.ckpt-best. It writes the answers of this
checkpoint to predictions.json and nbest_predictions.json, and the scores to eval_results.txt.
If --predict_file has no answers, there are no scores. --export_dir writes a SavedModel and
albert_model.tflite.
"""

from albert.configs import model_config
from albert.tasks.squad.flags import SquadV1Flags as Flags
from albert.util import cli


def answer(flags: Flags):
    """Trains, evaluates, answers and exports; returns training.workflow.Outcome."""
    from albert.tasks.squad import task
    from albert.training import fine_tuning

    return fine_tuning.run(flags, task.SquadV1)


@cli.reads_flags(Flags)
def main(flags: Flags) -> None:
    """Runs the script, or this worker's part of it."""
    answer(flags)


def validate_flags_or_throw(albert_config) -> None:
    """Raises UserError if FLAGS do not fit each other or the AlbertConfig."""
    from albert.tasks.squad import task

    flags = cli.current_flags(Flags)
    task.SquadV1.check_flags(flags)
    model_config.check_length(flags.max_seq_length, albert_config)


def build_squad_serving_input_fn(seq_length):
    """Returns a function that returns a ServingInputReceiver; inputs are int32 [1, seq_length]."""
    import tensorflow.compat.v1 as tf

    from albert.data.packing import SEQUENCES
    from albert.runtimes import estimator

    def input_fn():
        inputs = {name: tf.placeholder(tf.int32, [1, seq_length], name) for name in SEQUENCES}
        return estimator.export.ServingInputReceiver(inputs, inputs)

    return input_fn


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
