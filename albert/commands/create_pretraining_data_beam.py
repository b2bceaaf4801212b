# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes records for run_pretraining on a cluster, with Apache Beam.

  python -m albert create_pretraining_data_beam --input_file='gs://bucket/text/*.txt' \\
      --output_file='gs://bucket/data/train-*.tf_record' --spm_model_file=30k-clean.model \\
      --max_seq_length=128 --dupe_factor=5 --runner=DataflowRunner --project=my-project ...

This command takes most flags of create_pretraining_data. Other options, such as --runner and the
runner's options, go to Apache Beam. Without --runner, this process does the work. To use four
processes, add --direct_num_workers=4 --direct_running_mode=multi_processing.

The output files are NAME-00000-of-00016 and so on. The whole text is shuffled, and the bytes do not
depend on the runner or the number of workers. NAME.counts.json has the numbers of documents and
instances. docs/cluster_data.md has commands for Dataflow, Flink and Spark.
"""

import logging

from albert.pretraining_data.flags import BeamFlags as Flags
from albert.util import cli
from albert.util.errors import needing


def main(flags: Flags) -> None:
    """Runs the script; `flags.pipeline_options` are the arguments for Beam."""
    logging.disable(logging.WARNING)  # on import, Beam warns of services it has no packages for
    try:
        with needing("beam", "create_pretraining_data_beam"):
            from albert.pretraining_data import beam, cluster
    finally:
        logging.disable(logging.NOTSET)

    cluster.create_pretraining_data(flags, beam.BeamEngine(flags))


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
