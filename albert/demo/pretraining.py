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
from typing import Any, Dict, Tuple

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
_RECORDS = ("*.tf_record", "*.tfrecord", "*.tfrecords")


def run(options: argparse.Namespace) -> None:
    """Runs the phase."""
    if options.e is not None and options.steps is not None:
        raise UserError("Give either -e or --steps, not both.")
    if options.i:
        runs.input_folder(options.i)
    # A vocabulary that an earlier start made here is used again, so its size must be the same.
    identity = {"model": options.m, "data": options.i, "vocab_size": options.vocab_size}
    with runs.held(options.o, f"pretraining-{options.m}-{options.d}", identity) as path:
        commands = runs.Commands()
        train(options, path, commands, data=make_data(options, path, commands))


def make_data(
    options: argparse.Namespace, path: pathlib.Path, commands: runs.Commands
) -> Dict[str, Any]:
    """Finds or makes the records; returns the flags that name and describe them."""
    text, vocab_size, passes = str(path / "text.txt"), _OVERFIT_VOCAB_SIZE, _OVERFIT_PASSES
    vocabulary = None
    if options.i:
        folder = runs.input_folder(options.i)
        records = sorted(str(file) for name in _RECORDS for file in folder.glob(name))
        if records:
            return _described(records, options.s)
        texts = sorted(str(file) for file in folder.glob("*.txt") if file.name != "vocab.txt")
        if not texts:
            raise UserError(
                f"-i {folder} holds neither text (*.txt) nor records (*.tf_record). Text has one "
                "sentence per line and a blank line between documents."
            )
        text, vocab_size, passes = ",".join(texts), options.vocab_size, 5
        vocabulary = runs.find_vocabulary(folder)
    else:
        files.atomic_write_text(text, OVERFIT_TEXT)
    vocabulary = vocabulary or runs.find_vocabulary(path)
    if not vocabulary:
        prefix = path / "vocabulary"
        commands(train_vocab, input_file=text, model_prefix=prefix, vocab_size=vocab_size)
        vocabulary = runs.find_vocabulary(path) or {}
    length = options.s or 128
    lengths = {"max_seq_length": length, "max_predictions_per_seq": max(1, round(length * 0.15))}
    records = path / "train.tf_record"
    commands(
        create_pretraining_data,
        input_file=text,
        output_file=records,
        dupe_factor=passes,
        **lengths,
        **vocabulary,
    )
    return {"input_file": str(records), **lengths}


def _described(records: Any, length: Any) -> Dict[str, Any]:
    """Takes the lengths from the first record; training checks all files."""
    record = record_files.read_first_record(records[0])
    features = tf.train.Example.FromString(record or b"").features.feature
    return {
        "input_file": ",".join(records),
        "max_seq_length": length or len(features["input_ids"].int64_list.value),
        "max_predictions_per_seq": len(features["masked_lm_ids"].int64_list.value),
    }


def train(
    options: argparse.Namespace,
    path: pathlib.Path,
    commands: runs.Commands,
    *,
    data: Dict[str, Any],
) -> None:
    """Trains on the records, evaluates on the same ones, and reports."""
    flags = runs.sized_flags(options)
    records = sum(map(record_files.count_records, data["input_file"].split(",")))
    steps, warmup_steps = steps_of(options, records, flags["train_batch_size"])
    outcome = commands(
        run_pretraining,
        run_pretraining.pretrain,
        albert_config_file=runs.preset(options.m),
        output_dir=path / "model",
        do_train=True,
        do_eval=True,
        optimizer="lamb",
        learning_rate=0.00176,
        num_train_steps=steps,
        num_warmup_steps=warmup_steps,
        **data,
        **flags,
    )
    runs.print_speed(outcome.training)
    last = outcome.evaluation.results[-1]
    print(f"The same data after step {last.step}: {evaluation.format_metrics(last.metrics)}")
    print(f"Model: {path / 'model'}")


def steps_of(options: argparse.Namespace, records: int, batch_size: int) -> Tuple[int, int]:
    """Returns the training steps and warm-up steps for -e, --steps, -w and this many records."""
    steps = options.steps or int(math.ceil(records * (options.e or 2) / batch_size))
    if not (options.i or options.e or options.steps):
        steps = _OVERFIT_STEPS
    warmup_steps = steps // 10 if options.i else min(steps // 10, _OVERFIT_WARMUP_STEPS)
    return steps, warmup_steps if options.w is None else options.w
