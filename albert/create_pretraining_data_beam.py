# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes records for run_pretraining on a cluster, by Apache Beam.

  python -m albert.create_pretraining_data_beam --input_file='gs://bucket/text/*.txt' \\
      --output_file='gs://bucket/data/train-*.tf_record' --spm_model_file=30k-clean.model \\
      --max_seq_length=128 --dupe_factor=5 --runner=DataflowRunner --project=my-project ...

Instances are cut and masked as by create_pretraining_data, by the same flags. All other options are
those of Apache Beam: the runner and its options. Without any, the work is done in this process;
--direct_num_workers=4 --direct_running_mode=multi_processing takes four.

The output is NAME-00000-of-00016 and so on, one shuffle of the whole text, the same bytes whatever
the runner and the number of workers; NAME.counts.json says what was read and made.
docs/cluster_data.md has commands for Dataflow, Flink and Spark.
"""

import logging
import time
from typing import Any

from albert.command_line import cli
from albert.pretraining.settings import BeamFlags as Flags
from albert.util import config_files, wording
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")


def main(settings: Flags) -> None:
    """Runs the script; `settings.pipeline_options` are the arguments for Beam."""
    beam = _import_beam()
    from albert import tokenization
    from albert.pretraining import instances, job

    started = time.time()
    options = beam.parse_options(settings.pipeline_options, own_flags=list(settings.to_dict()))
    tokenizer_file = settings.spm_model_file or settings.vocab_file
    tokenizer = tokenization.FullTokenizer(
        settings.vocab_file, settings.do_lower_case, settings.spm_model_file
    )
    work = beam.make_job(
        settings.input_file,
        settings.output_file,
        tokenizer=tokenizer,
        tokenizer_file=tokenizer_file,
        settings=settings,
        num_shards=settings.num_shards,
    )
    outputs = work.outputs
    report = outputs.report()
    outputs.keep_vocabulary(job.vocabulary_of(tokenizer, tokenizer_file))
    if report:
        _LOGGER.info("Nothing to do: %s has the same text and settings.", outputs.pattern)
    else:
        outputs.make_way(overwrite=settings.overwrite)
        beam.run(work, options)
        report = outputs.report()
    config_files.record(config_files.beside(outputs.counts), settings.given_values())
    shards = wording.counted(report["shards"], "file")
    counts = instances.Counts(**report["counts"])._asdict()
    rows = {name.replace("_", " "): f"{value:,}" for name, value in counts.items()}
    rows.update(records=f"{outputs.pattern} ({shards})", counts=outputs.counts)
    rows.update(seconds=f"{time.time() - started:,.1f}")
    for name, value in rows.items():
        print(f"{name:>16}: {value}")


def _import_beam() -> Any:
    """Imports the module that needs Apache Beam, which is an extra."""
    logging.disable(logging.WARNING)  # on import it lists services without packages
    try:
        from albert.pretraining import beam
    except ImportError as error:
        if error.name != "apache_beam":
            raise
        raise UserError(
            "create_pretraining_data_beam needs Apache Beam: pip install 'albert-tf[beam]', or "
            "from a checkout pip install '.[beam]'."
        ) from error
    finally:
        logging.disable(logging.NOTSET)
    return beam


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
