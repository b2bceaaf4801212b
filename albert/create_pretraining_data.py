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
text, disk needs room for the output twice. The same command after a crash goes on where it was, and
says so if there is nothing left to do. The same text, settings and --random_seed give the same
bytes, whatever the number of processes.

Masking has the distribution of the published script. What is different: a chunk of one sentence is
split inside the sentence, where it was paired with another document's text before; labels are
balanced on average; the border between the segments ends a word; random replacements are ordinary
pieces; the end of a file ends a document. `segment_pairs` and `ngram_masking` say more.
"""

from absl import flags

from albert import flags_lib, pretraining_data, pretraining_flags, text_documents, tokenization

_DEFAULTS = pretraining_data.DataSettings()


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags."""
    pretraining_flags.define_text_flags(
        flag_values,
        mode_help="r: text that is not UTF-8, or a line that is no JSON object with text, is an "
        "error. rb: such bytes and lines are dropped and counted.",
    )
    flags_lib.path(
        flag_values,
        "output_file",
        required=True,
        help="Record files to write, with commas between them; each gets the same share.",
    )
    pretraining_flags.define_masking_flags(flag_values)
    pretraining_flags.define_instance_flags(flag_values)
    flags_lib.integer(
        flag_values,
        "num_processes",
        None,
        help="Processes to work with; by default one for each processor.",
    )
    flags_lib.boolean(
        flag_values,
        "overwrite",
        False,
        help="Replace output files that this program did not make.",
    )
    flags_lib.integer(
        flag_values,
        "shuffle_window_mb",
        _DEFAULTS.shuffle_window_mb,
        help="Instances are shuffled over this many megabytes of text. It costs no memory.",
    )
    flags_lib.path(
        flag_values,
        "work_dir",
        help="Local folder for unfinished work; by default that of the first output file.",
    )


@flags_lib.reads_flags(define_flags)
def main(settings: flags_lib.Settings):
    """Runs the script."""
    output_files = [path for path in settings.output_file.split(",") if path]
    tokenizer_file = settings.spm_model_file or settings.vocab_file
    input_files = text_documents.find_files(
        settings.input_file,
        "input_file",
        but=[path for path in (*output_files, tokenizer_file, settings.user_dictionary) if path],
    )
    tokenizer = tokenization.FullTokenizer(
        settings.vocab_file, settings.do_lower_case, settings.spm_model_file
    )
    pretraining_data.create_pretraining_data(
        input_files,
        output_files,
        tokenizer=tokenizer,
        tokenizer_file=tokenizer_file,
        settings=pretraining_flags.data_settings(settings),
        num_processes=settings.num_processes,
        overwrite=settings.overwrite,
        work_dir=settings.work_dir,
    )


def cli():
    """Starts the script from the command line."""
    flags_lib.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
