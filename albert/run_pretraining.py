# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretrains ALBERT on the records of create_pretraining_data.

  python -m albert.run_pretraining --albert_config_file=albert/configs/albert_base_v2.json \\
      --input_file='data/train*.tf_record' --eval_file='data/eval*.tf_record' \\
      --output_dir=output/base --max_seq_length=128 --train_batch_size=32 --do_train --do_eval

To resume after a crash, run the same command again. Training resumes from the newest checkpoint in
--output_dir and gives the same weights as without the crash. Evaluation writes eval_results.txt and
eval_results.json, and keeps the checkpoint with the best masked_lm_accuracy as model.ckpt-best.
The terminal shows the progress. training_curve.csv and TensorBoard files record it.
"""

from albert.tasks.pretraining.flags import PretrainingFlags as Flags
from albert.util import cli


@cli.reads_flags(Flags)
def main(flags: Flags) -> None:
    """Trains and evaluates."""
    from albert.tasks.pretraining import run

    run.Pretraining(flags).run()


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
else:  # for programs; the script answers --help before TensorFlow is imported
    from albert.modeling import (  # noqa: F401
        gather_indexes,
        get_masked_lm_output,
        get_sentence_order_output,
    )
    from albert.tasks.pretraining.features import _decode_record, input_fn_builder  # noqa: F401
    from albert.tasks.pretraining.head import model_fn_builder  # noqa: F401
