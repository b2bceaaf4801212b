# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes records for run_pretraining on a cluster, by Apache Beam.

  python -m albert.create_pretraining_data_beam --input_file='gs://bucket/text/*.txt' \\
      --output_file='gs://bucket/data/train-*.tf_record' --spm_model_file=30k-clean.model \\
      --max_seq_length=128 --dupe_factor=5 --runner=DataflowRunner --project=my-project ...

Instances are cut and masked as by create_pretraining_data, by the same flags. All other options are
those of Apache Beam: the runner and what it takes. Without any, the work is done in this process;
--direct_num_workers=4 --direct_running_mode=multi_processing takes four.

The output is NAME-00000-of-00016 and so on, one shuffle of the whole text, the same bytes whatever
the runner and the number of workers. NAME.counts.json says what was read and made, and lines that
could not be read are in NAME.bad_lines-*. docs/cluster_data.md has commands for Dataflow, Flink and
Spark.
"""

import importlib
import logging
import time
from typing import Any, Mapping

from absl import flags

from albert import pretraining_flags, tokenization
from albert.pretraining import job as pretraining_data
from albert.util import flags as flags_lib

_PROGRAM = "create_pretraining_data_beam"

_LOGGER = logging.getLogger("albert")


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags."""
    pretraining_flags.define_text_flags(
        flag_values,
        mode_help="r: a line that is not UTF-8 is left out. rb: only the bytes that are not UTF-8 "
        "are. Both are counted and listed, as are lines that are no JSON object with text; more "
        "than a tenth is an error.",
    )
    flags_lib.path(
        flag_values,
        "output_file",
        required=True,
        help="Name of the record files, to which -00000-of-00016 and so on is added; a '*' may "
        "stand where it goes: data/train-*.tf_record.",
    )
    flags_lib.integer(
        flag_values,
        "num_shards",
        None,
        help="Record files to write. A worker holds the records of one in memory; by default there "
        "are as many as make about 128 MiB each.",
    )
    pretraining_flags.define_masking_flags(flag_values)
    pretraining_flags.define_instance_flags(flag_values)
    flags_lib.boolean(
        flag_values,
        "overwrite",
        False,
        help="Replace output files that this program did not make, or that are of another "
        "--num_shards.",
    )


def main(settings: flags_lib.Settings):
    """Runs the script; `settings.pipeline_options` are the arguments for Beam."""
    beam_runs, pipeline = _beam_module("beam_runs"), _beam_module("beam")
    started = time.time()
    options = beam_runs.parse_options(
        settings.pipeline_options, program=_PROGRAM, own_flags=list(settings.to_dict())
    )
    tokenizer_file = settings.spm_model_file or settings.vocab_file
    tokenizer = tokenization.FullTokenizer(
        settings.vocab_file, settings.do_lower_case, settings.spm_model_file
    )
    job = pipeline.make_job(
        settings.input_file,
        settings.output_file,
        tokenizer=tokenizer,
        tokenizer_file=tokenizer_file,
        settings=pretraining_flags.data_settings(settings),
        num_shards=settings.num_shards,
    )
    report = job.outputs.report()
    vocabulary = pretraining_data.vocabulary_of(tokenizer, tokenizer_file)
    if report:
        _LOGGER.info(
            "Nothing to do: %s was made from the same text by the same settings.",
            job.outputs.names.pattern,
        )
    else:
        job.outputs.make_way(overwrite=settings.overwrite)
        beam_runs.run(options, lambda steps: pipeline.add_steps(steps, job))
        report = job.outputs.report()
    pipeline.keep_vocabulary(job, vocabulary)
    _show(report, job.outputs.names, seconds=time.time() - started)


def _beam_module(name: str) -> Any:
    """A module that needs Apache Beam, which is an extra."""
    if not _LOGGER.isEnabledFor(logging.DEBUG):
        for quiet in (logging.getLogger(), logging.getLogger("apache_beam")):
            quiet.setLevel(logging.WARNING)
        logging.disable(logging.WARNING)  # on import it tells which services it lacks packages for
    try:
        return importlib.import_module(f"albert.pretraining.{name}")
    except ImportError as error:
        if error.name != "apache_beam":
            raise
        raise ValueError(
            f"{_PROGRAM} needs Apache Beam, which is not installed: pip install 'albert[beam]', or "
            "from a checkout pip install '.[beam]'. create_pretraining_data does without."
        ) from error
    finally:
        logging.disable(logging.NOTSET)


def _show(report: Mapping[str, Any], names: Any, *, seconds: float) -> None:
    """Prints the counts, and where everything is."""
    counts = pretraining_data.Counts(**report["counts"])
    for name, value in counts._asdict().items():
        print(f"{name.replace('_', ' '):>16}: {value:,}")
    print(f"{'records':>16}: {names.pattern} ({report['shards']} files)")
    print(f"{'counts':>16}: {names.counts}")
    for name in report["bad_line_files"]:
        print(f"{'bad lines':>16}: {name}")
    print(f"{'seconds':>16}: {seconds:,.1f}")


def cli():
    """Starts the script from the command line."""
    flags_lib.run(main, define_flags, usage=__doc__, others="pipeline_options")


if __name__ == "__main__":
    cli()
