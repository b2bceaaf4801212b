# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Flags that say what text becomes which pretraining data, for one machine and for a cluster."""

from absl import flags

from albert.pretraining import job as pretraining_data
from albert.pretraining import masking as ngram_masking
from albert.util import flags as flags_lib

_DEFAULTS = pretraining_data.DataSettings()


def data_settings(settings: flags_lib.Settings) -> pretraining_data.DataSettings:
    """Returns the settings of the data; those for which a script has no flag are the defaults."""
    given = settings.to_dict()
    return _DEFAULTS._replace(
        **{name: getattr(settings, name) for name in _DEFAULTS._fields if name in given}
    )


def define_text_flags(flag_values: flags.FlagValues, *, mode_help: str):
    """Which text is read, and how; `mode_help` says what a script does with text that is none."""
    flags_lib.path(
        flag_values,
        "input_file",
        required=True,
        help="Text files: names, patterns and folders, with commas between them. .jsonl and .json "
        "hold JSON lines, other files plain text; with .gz at its end a file is compressed.",
    )
    flags_lib.define_tokenizer_flags(flag_values)
    flags_lib.choice(
        flag_values,
        "input_file_mode",
        _DEFAULTS.input_file_mode,
        choices=pretraining_data.INPUT_MODES,
        help=mode_help,
    )
    flags_lib.string(
        flag_values,
        "text_field",
        _DEFAULTS.text_field,
        help="The field of JSON lines that holds the text.",
    )
    flags_lib.boolean(
        flag_values,
        "split_sentences",
        _DEFAULTS.split_sentences,
        help="A line is a paragraph: split it into sentences, by rules for English and Chinese.",
    )
    flags_lib.choice(
        flag_values,
        "language",
        _DEFAULTS.language,
        choices=pretraining_data.LANGUAGES,
        help="any: words begin where the vocabulary marks it (## and --word_start). zh: the words "
        "of Chinese are found by jieba; pieces and their ids stay the same.",
    )
    flags_lib.path(
        flag_values,
        "user_dictionary",
        help="More words for --language=zh, one a line, perhaps with a frequency behind a space.",
    )


def define_masking_flags(flag_values: flags.FlagValues):
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


def define_instance_flags(flag_values: flags.FlagValues):
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
