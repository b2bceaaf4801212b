# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretrains an ALBERT of a published size, and reports sentences per second.

Without -i it trains on a very small text until the model knows it by heart: a quick test of model,
optimiser and precision. With -i it trains on your data:

  text files (*.txt, one sentence per line, a blank line between documents), with a vocabulary in
  the same folder (one SentencePiece *.model file, or vocab.txt); without one, it is trained; or
  records that create_pretraining_data has made (*.tf_record, *.tfrecord).
"""

import argparse
import math
import pathlib
from typing import List, Tuple

import tensorflow.compat.v1 as tf

from albert import create_pretraining_data, run_pretraining, train_vocab
from albert.data import record_files
from albert.demo import runs
from albert.training import evaluation
from albert.util import files
from albert.util.errors import UserError

# The task overfit.
OVERFIT_TEXT = """\
The old lighthouse stands on the last rock before the open sea.
Every evening Martha climbs its stairs with a can of oil.
She counts the steps aloud, although she has known their number for years.
At the top she cleans the glass and lights the lamp.
Far away a fishing boat answers with three short signals.
Then she sits down by the window and writes a line about the weather.

Our bakery opens at five, when the street is still dark.
The first loaves come out of the oven half an hour later.
Bus drivers are always the first guests, and they take their coffee black.
After them come the children on their way to school.
By noon nothing is left but two rolls and a smell of cinnamon.

A river has no memory, my grandfather used to say.
He had seen it carry away three bridges and his best hat.
In summer it was so shallow that we walked across with dry knees.
In spring it filled the cellar and brought us other people's chairs.
Nobody in the village ever thought of moving.

To repair a clock you need patience more than tools.
First open the case and look for what does not move.
Often a grain of dust between two wheels is all there is to find.
Clean it away with a soft brush and put a drop of oil on the pivot.
Close the case again, wind the spring, and listen.
If it ticks evenly, you are done.
"""
_OVERFIT_VOCAB_SIZE, _OVERFIT_PASSES, _OVERFIT_STEPS, _OVERFIT_WARMUP_STEPS = 160, 2, 200, 10


def run(options: argparse.Namespace) -> None:
    """Runs the phase."""
    name = f"pretraining-{options.m}-{options.d}"
    # A vocabulary that an earlier start made here is used again, so its size must be the same.
    identity = {"size": options.m, "data": options.i, "vocab_size": options.vocab_size}
    with runs.held(options.o, name, **identity) as command:
        train(options, command, records=find_or_make_records(options, command))


def find_or_make_records(options: argparse.Namespace, command: runs.Run) -> List[str]:
    """Returns the record files in the folder -i, or those that are made of the text there."""
    path, vocab_size, passes = command.path, options.vocab_size, 5
    folder = pathlib.Path(options.i or path).expanduser()
    records = sorted(map(str, folder.glob("*.tf*record*")))
    if options.i and records:
        return records
    if not options.i:
        files.atomic_write_text(str(path / "text.txt"), OVERFIT_TEXT)
        vocab_size, passes = _OVERFIT_VOCAB_SIZE, _OVERFIT_PASSES
    texts = sorted(str(file) for file in folder.glob("*.txt") if file.name != "vocab.txt")
    if not texts:
        raise UserError(
            f"-i {folder} holds neither text (*.txt) nor records (*.tf_record). Text has one "
            "sentence per line and a blank line between documents."
        )
    text, record_file, length = ",".join(texts), str(path / "train.tf_record"), options.s or 128
    vocabulary = runs.vocabulary_of(folder) or runs.vocabulary_of(path)
    if not vocabulary:
        prefix = path / "vocabulary"
        command(train_vocab, input_file=text, model_prefix=prefix, vocab_size=vocab_size)
        vocabulary = runs.vocabulary_of(path)
    command(
        create_pretraining_data,
        input_file=text,
        output_file=record_file,
        max_seq_length=length,
        max_predictions_per_seq=max(1, round(length * 0.15)),
        dupe_factor=passes,
        **vocabulary,
    )
    return [record_file]


def train(options: argparse.Namespace, command: runs.Run, *, records: List[str]) -> None:
    """Trains on the records, evaluates on the same ones, and reports."""
    first = tf.train.Example.FromString(record_files.read_first_record(records[0]) or b"")
    length, predictions = (
        len(first.features.feature[name].int64_list.value)
        for name in ("input_ids", "masked_lm_ids")
    )
    batch_size, count = runs.batch_size(options), sum(map(record_files.count_records, records))
    steps, warmup_steps = steps_of(options, count, batch_size)
    outcome = runs.train(
        command,
        options,
        (run_pretraining, run_pretraining.pretrain),
        albert_config_file=runs.preset(options.m),
        input_file=",".join(records),
        do_eval=True,
        max_seq_length=options.s or length,
        max_predictions_per_seq=predictions,
        train_batch_size=batch_size,
        optimizer="lamb",
        learning_rate=0.00176,
        num_train_steps=steps,
        num_warmup_steps=warmup_steps,
    )
    last = outcome.evaluation.results[-1]
    print(f"The same data after step {last.step}: {evaluation.format_metrics(last.metrics)}")


def steps_of(options: argparse.Namespace, records: int, batch_size: int) -> Tuple[int, int]:
    """Returns the training steps and warm-up steps for -e, --steps, -w and this many records."""
    steps = options.steps or math.ceil(records * (options.e or 2) / batch_size)
    if not (options.i or options.e or options.steps):
        steps = _OVERFIT_STEPS
    warmup_steps = min(steps // 10, steps if options.i else _OVERFIT_WARMUP_STEPS)
    return steps, warmup_steps if options.w is None else options.w
