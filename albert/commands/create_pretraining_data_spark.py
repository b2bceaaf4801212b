# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes records for run_pretraining on a cluster, with Apache Spark.

  python -m albert create_pretraining_data_spark --master=spark://host:7077 \\
      --input_file='hdfs:///text/*.txt' --output_file='/shared/data/train-*.tf_record' \\
      --spm_model_file=30k-clean.model --max_seq_length=128 --dupe_factor=5

Without --master, Spark uses all processors of this machine, or the cluster that spark-submit names.
The records are the same as create_pretraining_data's, but the whole text is shuffled.

The output files are NAME-00000-of-00016 and so on. The bytes do not depend on the number of
workers. NAME.counts.json has the numbers of documents and instances. See docs/cluster_data.md.
"""

from albert.pretraining_data.flags import SparkFlags as Flags
from albert.util import cli
from albert.util.errors import needing


def main(flags: Flags) -> None:
    """Runs the script."""
    with needing("spark", "create_pretraining_data_spark"):
        from albert.pretraining_data import cluster, spark

    cluster.create_pretraining_data(flags, spark.SparkEngine(flags))


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
