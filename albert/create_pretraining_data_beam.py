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

import dataclasses
import importlib
import logging
import time
from typing import Any, Optional, Tuple, Type

from absl import flags

from albert.command_line import script
from albert.pretraining.settings import TextSettings, data_settings, define_data_flags
from albert.util import flags as flags_lib
from albert.util.errors import UserError


@dataclasses.dataclass(frozen=True)
class BeamSettings(TextSettings):
    """The flags of this script, and the arguments for Beam."""

    num_shards: Optional[int]
    pipeline_options: Tuple[str, ...] = ()


def define_flags(flag_values: flags.FlagValues) -> Type[BeamSettings]:
    """Defines the script's flags; returns the class of its settings."""
    define_data_flags(
        flag_values,
        mode_help="r: a line that is not UTF-8 is left out. rb: only its bad bytes are. Both are "
        "counted, as are lines that are no JSON object with text, which are left out; more than a "
        "tenth is an error.",
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
        help="Record files to write. A worker holds one in memory; by default they have about 128 "
        "MiB each.",
    )
    flags_lib.boolean(
        flag_values,
        "overwrite",
        False,
        help="Replace output files of others, or of another --num_shards.",
    )
    return BeamSettings


if __name__ == "__main__":  # before TensorFlow is imported
    script.answer_early(define_flags, usage=__doc__, others="pipeline_options")

from albert import tokenization
from albert.pretraining import instances, job
from albert.util import config_files, wording

_LOGGER = logging.getLogger("albert")


def main(settings: BeamSettings):
    """Runs the script; `settings.pipeline_options` are the arguments for Beam."""
    beam = _import_beam()
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
        settings=data_settings(settings),
        num_shards=settings.num_shards,
    )
    report = work.outputs.report()
    work.outputs.keep_vocabulary(job.vocabulary_of(tokenizer, tokenizer_file))
    if report:
        _LOGGER.info(
            "Nothing to do: %s was made from the same text by the same settings.",
            work.outputs.pattern,
        )
    else:
        work.outputs.make_way(overwrite=settings.overwrite)
        beam.run(options, lambda pipeline: beam.add_steps(pipeline, work))
        report = work.outputs.report()
    config_files.record(config_files.beside(work.outputs.counts), settings.given_values())
    for name, value in instances.Counts(**report["counts"])._asdict().items():
        print(f"{name.replace('_', ' '):>16}: {value:,}")
    print(f"{'records':>16}: {work.outputs.pattern} ({wording.counted(report['shards'], 'file')})")
    print(f"{'counts':>16}: {work.outputs.counts}")
    print(f"{'seconds':>16}: {time.time() - started:,.1f}")


def _import_beam() -> Any:
    """Imports the module that needs Apache Beam, which is an extra."""
    if not _LOGGER.isEnabledFor(logging.DEBUG):
        for quiet in (logging.getLogger(), logging.getLogger("apache_beam")):
            quiet.setLevel(logging.WARNING)
        logging.disable(logging.WARNING)  # on import it lists services without packages
    try:
        return importlib.import_module("albert.pretraining.beam")
    except ImportError as error:
        if error.name != "apache_beam":
            raise
        raise UserError(
            "create_pretraining_data_beam needs Apache Beam, which is not installed: pip install "
            "'albert-tf[beam]', or from a checkout pip install '.[beam]'."
        ) from error
    finally:
        logging.disable(logging.NOTSET)


def cli():
    """Starts the script from the command line."""
    script.run(main, define_flags, usage=__doc__, others="pipeline_options")


if __name__ == "__main__":
    cli()
