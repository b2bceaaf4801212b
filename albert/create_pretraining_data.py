# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes masked, shuffled records for run_pretraining from text files.

  python -m albert.create_pretraining_data --input_file='text/*.txt' \\
      --output_file=data/train-1.tf_record,data/train-2.tf_record \\
      --spm_model_file=30k-clean.model --max_seq_length=128 --dupe_factor=5

  python -m albert.create_pretraining_data --input_file=corpus --output_file=zh.tf_record \\
      --vocab_file=vocab_chinese.txt --language=zh --split_sentences --max_seq_length=128

Plain text has one sentence per line (or, with --split_sentences, one paragraph per line) and a
blank line between documents. JSON lines have one document per line.

The command uses all processors. Memory does not grow with the text. The disk needs twice the space
of the output. To resume after a crash, run the same command again. The same text, settings and
--random_seed give the same bytes with any number of processes.

docs/from_google_albert.md lists the differences from google-research/albert's script.
"""

from albert.pretraining_data.flags import JobFlags as Flags
from albert.util import cli, files
from albert.util import flags as flags_lib


@cli.reads_flags(Flags)
def main(flags: Flags) -> None:
    """Runs the script."""
    from albert.pretraining_data import job

    job.create_pretraining_data(flags)
    first_file = files.split_paths(flags.output_file)[0]
    flags_lib.write_config(flags_lib.config_beside(first_file), flags.explicit_values())


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
else:  # for programs; the script answers --help before TensorFlow is imported
    from albert.tasks.pretraining.training_instances import (  # noqa: F401
        TrainingInstance,
        create_float_feature,
        create_instances_from_document,
        create_int_feature,
        create_masked_lm_predictions,
        create_training_instances,
        is_start_piece,
        truncate_seq_pair,
        write_instance_to_example_files,
    )
