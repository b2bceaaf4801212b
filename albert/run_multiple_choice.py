# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes ALBERT on multiple choice with any number of choices.

  python -m albert.run_multiple_choice --data_dir=mine --output_dir=output/mine \\
      --albert_dir=base_v2 --do_train --do_eval --do_predict

--data_dir holds train, dev and test data as JSON lines or Parquet files. A row has `question`,
`choices` (two or more), perhaps `context`, and `label` (index, letter or text of the right choice).
COPA, CommonsenseQA, SWAG and C3 are read as the library datasets writes them. For RACE's files, use
run_race. Evaluation keeps the checkpoint with the best accuracy as model.ckpt-best. --output_dir
then holds eval_results.txt and multiple_choice_test.jsonl.
"""

from albert.tasks.race.flags import MultipleChoiceFlags as Flags
from albert.util import cli


def choose(flags: Flags):
    """Trains, evaluates and predicts; returns training.workflow.Outcome."""
    from albert.tasks.race import task
    from albert.training import fine_tuning

    return fine_tuning.run(flags, task.MultipleChoiceTask)


@cli.reads_flags(Flags)
def main(flags: Flags) -> None:
    """Runs the script, or this worker's part of it."""
    choose(flags)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
