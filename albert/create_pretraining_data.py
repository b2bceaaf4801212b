# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes masked, shuffled records for run_pretraining from text files.

  python -m albert.create_pretraining_data --input_file='text/*.txt' \\
      --output_file=data/train-1.tf_record,data/train-2.tf_record \\
      --spm_model_file=30k-clean.model --max_seq_length=128 --dupe_factor=5

  python -m albert.create_pretraining_data --input_file=corpus --output_file=zh.tf_record \\
      --vocab_file=vocab_chinese.txt --language=zh --split_sentences --max_seq_length=128

The text has one sentence a line, or a paragraph with --split_sentences, and a blank line between
documents; or JSON lines, a document in each. All processors work; memory does not grow with the
text, disk needs room for the output twice. The same command resumes after a crash, and has nothing
to do when all is done. The same text, settings and --random_seed give the same bytes, whatever the
number of processes.

Masking has the distribution of the published script. What is different: a chunk of one sentence is
split inside the sentence, where it was paired with another document's text before; labels are
balanced on average; the border between the segments ends a word; random replacements are ordinary
tokens; the end of a file ends a document. See pretraining/pairs.py and
masking.py.
"""

import dataclasses
from typing import Any, Optional

from albert.command_line import cli
from albert.pretraining.settings import RecordFlags
from albert.util import config_files, files
from albert.util.flags import flag


@dataclasses.dataclass(frozen=True)
class Flags(RecordFlags):
    """The script's flags."""

    num_processes: Optional[int] = flag(
        None, "Processes; default: one per processor.", lower=1, group="Memory and speed"
    )
    shuffle_window_mb: int = flag(
        256, "Megabytes of records that are shuffled at a time.", lower=1, group="Data"
    )
    work_dir: Optional[str] = flag(
        None,
        "Local folder for unfinished work; default: that of --output_file.",
        path=True,
        group="Output",
    )


@cli.reads_flags(Flags)
def main(settings: Flags) -> None:
    """Runs the script."""
    from albert import tokenization
    from albert.pretraining import documents, job

    output_files = files.split_paths(settings.output_file)
    tokenizer_file = settings.spm_model_file or settings.vocab_file
    others = filter(None, [*output_files, tokenizer_file, settings.user_dictionary])
    job.create_pretraining_data(
        documents.find_files(settings.input_file, "input_file", but=list(others)),
        output_files,
        tokenizer=tokenization.FullTokenizer(
            settings.vocab_file, settings.do_lower_case, settings.spm_model_file
        ),
        tokenizer_file=tokenizer_file,
        settings=settings,
        num_processes=settings.num_processes,
        overwrite=settings.overwrite,
        work_dir=settings.work_dir,
    )
    config_files.record(config_files.beside(output_files[0]), settings.given_values())


def __getattr__(name: str) -> Any:
    """TrainingInstance, create_training_instances and so on, for programs that import them."""
    from albert.pretraining import training_instances

    return getattr(training_instances, name)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
