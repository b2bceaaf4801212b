# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes ALBERT to tag words, for example to find entities.

  python -m albert.run_tagger --data_dir=wnut --output_dir=output/wnut --albert_dir=base_v2 \\
      --do_train --do_eval --do_predict

--data_dir holds train, dev and test data as CoNLL files (one word and its tag per line, a blank
line between sentences), JSON lines (`tokens`, `tags`), or Parquet files of Hugging Face. Tags are
BIO, BIOES, BILOU, BMES or plain names. Evaluation measures whole entities and keeps the checkpoint
with the best F1 as model.ckpt-best. --output_dir then holds eval_results.txt, predictions.conll and
predictions.jsonl.
"""

from albert.tasks.tagging.flags import TaggerFlags as Flags
from albert.util import cli


def tag(flags: Flags):
    """Trains, evaluates, predicts and exports; returns training.workflow.Outcome."""
    from albert.tasks.tagging import task
    from albert.training import fine_tuning

    return fine_tuning.run(flags, task.TaggingTask)


@cli.reads_flags(Flags)
def main(flags: Flags) -> None:
    """Runs the script, or this worker's part of it."""
    tag(flags)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
