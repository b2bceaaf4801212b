# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Trains a SentencePiece vocabulary by ALBERT's recipe.

    python -m albert.train_vocab --input_file=corpus/*.txt --model_prefix=my-30k --vocab_size=30000

This command writes my-30k.model, which you pass to other commands as --spm_model_file, and
my-30k.vocab, the same tokens as text. The settings are those of the published models: a unigram
model with <pad> 0, <unk> 1, [CLS] 2, [SEP] 3 and [MASK] 4.

The input is plain text with one sentence per line, or JSON lines, as for create_pretraining_data.
Empty lines are ignored. The command trains on at most --input_sentence_size sentences. It needs
memory and space in $TMPDIR for them. The same input, flags and version of sentencepiece give the
same bytes.

If you use --nodo_lower_case, use it in all later commands too. --keep_accents is stored in the
model file, so later commands need no flag.
"""

import dataclasses

from albert.command_line import cli
from albert.pretraining.settings import TEXT_FIELD
from albert.util import config_files
from albert.util.flags import Settings, flag


@dataclasses.dataclass(frozen=True)
class Flags(Settings):
    """The script's flags."""

    input_file: str = flag(
        None,
        "Text or JSON lines, one sentence per line: files, patterns, folders.",
        path=True,
        required=True,
    )
    model_prefix: str = flag(
        None, "Write MODEL_PREFIX.model and MODEL_PREFIX.vocab.", path=True, required=True
    )
    vocab_size: int = flag(30000, "Number of tokens, special ones included.", lower=1)
    do_lower_case: bool = flag(True, "Lower-case the text; use the same value later.")
    keep_accents: bool = flag(False, "Keep accents, which Google's models drop.")
    input_sentence_size: int = flag(
        10000000, "Train on this many sentences at most, drawn at random.", lower=1
    )
    character_coverage: float = flag(
        0.99995, "Fraction of the text's characters that get a token.", lower=0.98, upper=1
    )
    seed: int = flag(12345, "Random seed for the choice of sentences.", lower=0, upper=2**32 - 1)
    overwrite: bool = flag(False, "Replace existing files.")
    text_field: str = flag(TEXT_FIELD, "Field of JSON lines that holds the text.")


def main(settings: Flags) -> None:
    """Runs the script."""
    from albert.pretraining import vocabulary

    trained = vocabulary.train(**settings.to_dict())
    config_files.record(config_files.beside(trained.model_file), settings.given_values())


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
