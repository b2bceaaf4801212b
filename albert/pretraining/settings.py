# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What records are made of: the settings, and the flags of both scripts that make them."""

import dataclasses
import functools
from typing import NamedTuple, Optional

from absl import flags

from albert.util import flags as flags_lib

INPUT_MODES = ("r", "rb")
LANGUAGES = ("any", "zh")
WORD_STARTS = ("reference", "underline")
TEXT_FIELD = "text"  # of JSON lines


class DataSettings(NamedTuple):
    """The settings of the records; names and defaults are those of the flags."""

    max_seq_length: int = 512
    max_predictions_per_seq: int = 20
    masked_lm_prob: float = 0.15
    ngram: int = 3
    favor_shorter_ngram: bool = True
    do_whole_word_mask: bool = True
    do_permutation: bool = False
    random_next_sentence: bool = False
    short_seq_prob: float = 0.1
    dupe_factor: int = 40
    random_seed: int = 12345
    word_start: str = "reference"
    input_file_mode: str = "r"
    shuffle_window_mb: int = 256
    language: str = "any"
    user_dictionary: Optional[str] = None
    split_sentences: bool = False
    text_field: str = TEXT_FIELD

    @property
    def slots(self) -> int:
        """Predictions a record has room for."""
        return self.max_predictions_per_seq * (1 + self.do_permutation)


_DEFAULTS = DataSettings()
# The settings of the records, for one machine and for a cluster: kind of flag, name, help.
_DATA_FLAGS = (
    (flags_lib.string, "text_field", "The field of JSON lines that holds the text."),
    (
        flags_lib.boolean,
        "split_sentences",
        "A line is a paragraph: split it into sentences, by rules for English and Chinese.",
    ),
    (
        functools.partial(flags_lib.choice, choices=LANGUAGES),
        "language",
        "any: words begin where the vocabulary marks it (## and --word_start). zh: jieba finds the "
        "words of Chinese; tokens and their ids stay the same.",
    ),
    (
        flags_lib.path,
        "user_dictionary",
        "More words for --language=zh, one a line, perhaps with a frequency behind a space.",
    ),
    (flags_lib.floating, "masked_lm_prob", "Share of tokens to predict."),
    (flags_lib.integer, "max_predictions_per_seq", "Most tokens to predict in a sequence."),
    (flags_lib.integer, "ngram", "Most words that are masked together."),
    (
        flags_lib.boolean,
        "favor_shorter_ngram",
        "n words are masked together with a probability in proportion to 1/n; off: reversed.",
    ),
    (flags_lib.boolean, "do_whole_word_mask", "Mask all tokens of a word or none."),
    (
        functools.partial(flags_lib.choice, choices=WORD_STARTS),
        "word_start",
        "Where a word starts in SentencePiece text. reference: as in the published English models, "
        "where every token with a letter other than a-z starts a word. underline: at spaces only, "
        "for every language that writes them.",
    ),
    (
        flags_lib.boolean,
        "do_permutation",
        "Also shuffle as many other tokens and predict them: twice the predictions.",
    ),
    (flags_lib.integer, "max_seq_length", "Tokens of a sequence, [CLS] and two [SEP] included."),
    (flags_lib.floating, "short_seq_prob", "Share of passes over a document that are cut shorter."),
    (flags_lib.integer, "dupe_factor", "Passes over the text, each cut and masked anew."),
    (
        flags_lib.boolean,
        "random_next_sentence",
        "BERT's next-sentence task in place of ALBERT's sentence order.",
    ),
    (flags_lib.integer, "random_seed", "The seed of all random numbers."),
)


@dataclasses.dataclass(frozen=True)
class TextSettings(flags_lib.Settings):
    """The flags of the text, the tokens and the records, on one machine or on a cluster."""

    input_file: str
    input_file_mode: str
    output_file: str
    overwrite: bool
    vocab_file: Optional[str]
    spm_model_file: Optional[str]
    do_lower_case: bool
    text_field: str
    split_sentences: bool
    language: str
    user_dictionary: Optional[str]
    masked_lm_prob: float
    max_predictions_per_seq: int
    ngram: int
    favor_shorter_ngram: bool
    do_whole_word_mask: bool
    word_start: str
    do_permutation: bool
    max_seq_length: int
    short_seq_prob: float
    dupe_factor: int
    random_next_sentence: bool
    random_seed: int


def define_data_flags(flag_values: flags.FlagValues, *, mode_help: str):
    """Defines the flags of the input and of DataSettings; `mode_help`: of input_file_mode."""
    flags_lib.path(
        flag_values,
        "input_file",
        required=True,
        help="Text files: names, patterns and folders, with commas between them. .jsonl and .json "
        "hold JSON lines, other files plain text; with .gz at its end a file is compressed.",
    )
    flags_lib.define_tokenizer_flags(flag_values)
    flags_lib.mark(flag_values, "one of two required", "vocab_file", "spm_model_file")
    flags_lib.choice(
        flag_values,
        "input_file_mode",
        _DEFAULTS.input_file_mode,
        choices=INPUT_MODES,
        help=mode_help,
    )
    for define, name, text in _DATA_FLAGS:
        define(flag_values, name, getattr(_DEFAULTS, name), help=text)


def data_settings(settings: flags_lib.Settings) -> DataSettings:
    """Returns the settings of the records; those without a flag in this script are defaults."""
    given = settings.to_dict()
    return _DEFAULTS._replace(**{name: given[name] for name in _DEFAULTS._fields if name in given})
