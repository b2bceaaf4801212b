# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Trains a SentencePiece vocabulary by ALBERT's recipe.

    python -m albert.train_vocab --input_file=corpus/*.txt --model_prefix=my-30k --vocab_size=30000

writes my-30k.model (for --spm_model_file) and my-30k.vocab (the same tokens as text). The recipe is
the published one: unigram tokens, <pad> 0, <unk> 1, [CLS] 2, [SEP] 3, [MASK] 4, some signs always
tokens of their own, at most ten million sentences. The text is prepared exactly as the other
commands prepare it, so --do_lower_case must have the same value there. --keep_accents is recorded
in the model file: every command that uses it, albert.load and Hugging Face's models obey it.

Input is the text that create_pretraining_data takes: one sentence a line, empty lines ignored, in
plain text or JSON lines. It is read twice; a prepared copy of the drawn sentences lies in the
folder for temporary files ($TMPDIR) while it runs, and SentencePiece holds them in memory. The same
input, flags and version of sentencepiece give the same bytes.
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
        None, "Where to write: <model_prefix>.model and .vocab.", path=True, required=True
    )
    vocab_size: int = flag(30000, "Number of tokens, special ones included.", lower=1)
    do_lower_case: bool = flag(True, "Lower-case the text; give later commands the same value.")
    keep_accents: bool = flag(False, "Keep accents, which Google's models drop.")
    input_sentence_size: int = flag(
        10000000, "Maximum sentences to train on, drawn at random and held in memory.", lower=1
    )
    character_coverage: float = flag(
        0.99995, "Fraction of the characters that get tokens.", lower=0.98, upper=1
    )
    seed: int = flag(12345, "Random seed of the drawn sentences.", lower=0, upper=2**32 - 1)
    overwrite: bool = flag(False, "Replace existing files.")
    text_field: str = flag(TEXT_FIELD, "Field of JSON lines that holds the text.")


def main(settings: Flags) -> None:
    """Runs the script."""
    from albert.pretraining import vocabulary

    trained = vocabulary.train(**settings.to_dict())
    config_files.record(config_files.beside(trained.model_file), settings.given_values())


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
