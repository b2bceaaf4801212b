# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Trains a SentencePiece vocabulary by ALBERT's recipe.

    python -m albert train_vocab --input_file=corpus/*.txt --model_prefix=my-30k --vocab_size=30000

This command writes my-30k.model, which you pass to other commands as --spm_model_file, and
my-30k.vocab, which lists the same tokens as text. The model has the same type as the published
models: a unigram model with <pad> 0, <unk> 1, [CLS] 2, [SEP] 3 and [MASK] 4.

The input is plain text with one sentence per line, or JSON lines, as for create_pretraining_data.
Empty lines are ignored. The command trains on at most --input_sentence_size sentences. They must
fit into memory and $TMPDIR. The same input, flags and version of sentencepiece give the same bytes.

If you use --nodo_lower_case, use it in all later commands too. --keep_accents is stored in the
model file, so later commands need no flag.
"""

from albert.pretraining_data.flags import VocabularyFlags as Flags
from albert.util import cli
from albert.util import flags as flags_lib


def main(flags: Flags) -> None:
    """Runs the script."""
    from albert.pretraining_data import vocabulary

    trained = vocabulary.train_vocabulary(flags)
    flags_lib.write_config(flags_lib.config_beside(trained.model_file), flags.explicit_values())


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
