# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes masked, shuffled records for run_pretraining from text files.

  python -m albert.create_pretraining_data --input_file='text/*.txt' \\
      --output_file=data/train-1.tf_record,data/train-2.tf_record \\
      --spm_model_file=30k-clean.model --max_seq_length=128 --dupe_factor=5

The text has one sentence a line and a blank line between documents. All processors work; memory
does not grow with the text, disk needs room for the output twice. The same command after a crash
goes on where it was, and says so if there is nothing left to do. The same text, settings and
--random_seed give the same bytes, whatever the number of processes.

Masking has the distribution of the published script. What is different: a chunk of one sentence is
split inside the sentence, where it was paired with another document's text before; labels are
balanced; the border between the segments ends a word; random replacements are ordinary pieces; the
end of a file ends a document. `segment_pairs` and `ngram_masking` say more.
"""

from absl import flags

from albert import flags_lib, ngram_masking, pretraining_data, text_documents, tokenization

_DEFAULTS = pretraining_data.DataSettings()


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags."""
    flags_lib.path(
        flag_values,
        "input_file",
        required=True,
        help="Text files: names and patterns, with commas between them.",
    )
    flags_lib.path(
        flag_values,
        "output_file",
        required=True,
        help="Record files to write, with commas between them; each gets the same share.",
    )
    flags_lib.define_tokenizer_flags(flag_values)
    flags_lib.choice(
        flag_values,
        "input_file_mode",
        _DEFAULTS.input_file_mode,
        choices=pretraining_data.INPUT_MODES,
        help="r: text that is not UTF-8 is an error. rb: bytes that are not are dropped and the "
        "lines counted.",
    )
    _define_masking_flags(flag_values)
    _define_instance_flags(flag_values)
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


def _define_masking_flags(flag_values: flags.FlagValues):
    """What is masked, and how."""
    flags_lib.floating(
        flag_values, "masked_lm_prob", _DEFAULTS.masked_lm_prob, help="Share of pieces to predict."
    )
    flags_lib.integer(
        flag_values,
        "max_predictions_per_seq",
        _DEFAULTS.max_predictions_per_seq,
        help="Most pieces to predict in a sequence.",
    )
    flags_lib.integer(
        flag_values, "ngram", _DEFAULTS.ngram, help="Most words that are masked together."
    )
    flags_lib.boolean(
        flag_values,
        "favor_shorter_ngram",
        _DEFAULTS.favor_shorter_ngram,
        help="n words are masked together with a probability in proportion to 1/n; off: reversed.",
    )
    flags_lib.boolean(
        flag_values,
        "do_whole_word_mask",
        _DEFAULTS.do_whole_word_mask,
        help="Mask all pieces of a word or none.",
    )
    flags_lib.choice(
        flag_values,
        "word_start",
        _DEFAULTS.word_start,
        choices=ngram_masking.WORD_STARTS,
        help="Where a word starts in SentencePiece text. reference: as in the published English "
        "models, where every piece with a letter other than a-z starts a word. underline: at "
        "spaces only, for every language that writes them.",
    )
    flags_lib.boolean(
        flag_values,
        "do_permutation",
        _DEFAULTS.do_permutation,
        help="Also shuffle as many other pieces and predict them: twice the predictions.",
    )


def _define_instance_flags(flag_values: flags.FlagValues):
    """How instances are cut from the text."""
    flags_lib.integer(
        flag_values,
        "max_seq_length",
        _DEFAULTS.max_seq_length,
        help="Pieces of a sequence, [CLS] and two [SEP] included.",
    )
    flags_lib.floating(
        flag_values,
        "short_seq_prob",
        _DEFAULTS.short_seq_prob,
        help="Share of passes over a document that make shorter sequences.",
    )
    flags_lib.integer(
        flag_values,
        "dupe_factor",
        _DEFAULTS.dupe_factor,
        help="Passes over the text, each cut and masked anew.",
    )
    flags_lib.boolean(
        flag_values,
        "random_next_sentence",
        _DEFAULTS.random_next_sentence,
        help="BERT's next-sentence task in place of ALBERT's sentence order.",
    )
    flags_lib.integer(
        flag_values,
        "random_seed",
        _DEFAULTS.random_seed,
        help="Everything random is a function of this number and the text.",
    )


def main(settings: flags_lib.Settings):
    """Runs the script."""
    output_files = [path for path in settings.output_file.split(",") if path]
    tokenizer_file = settings.spm_model_file or settings.vocab_file
    input_files = text_documents.find_files(
        settings.input_file, "input_file", but=[*output_files, tokenizer_file or ""]
    )
    tokenizer = tokenization.FullTokenizer(
        settings.vocab_file, settings.do_lower_case, settings.spm_model_file
    )
    pretraining_data.create_pretraining_data(
        input_files,
        output_files,
        tokenizer=tokenizer,
        tokenizer_file=tokenizer_file,
        settings=pretraining_data.DataSettings(
            **{name: getattr(settings, name) for name in _DEFAULTS._fields}
        ),
        num_processes=settings.num_processes,
        overwrite=settings.overwrite,
        work_dir=settings.work_dir,
    )


def cli():
    """Starts the script from the command line."""
    flags_lib.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
