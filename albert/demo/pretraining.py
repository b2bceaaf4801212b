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
from typing import Dict, NamedTuple, Optional, Tuple

import tensorflow.compat.v1 as tf

from albert import create_pretraining_data, run_pretraining, train_vocab
from albert.data import record_files
from albert.demo import runs
from albert.demo.options import (
    DEFAULT_LENGTH,
    OVERFIT_STEPS,
    OVERFIT_WARMUP_STEPS,
    PRETRAINING_EPOCHS,
)
from albert.util import files
from albert.util.errors import UserError

_LEARNING_RATE = 0.00176
_MASKED_SHARE = 0.15
_WARMUP_SHARE = 0.1
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
_OVERFIT_VOCAB_SIZE, _OVERFIT_PASSES = 160, 2


class Data(NamedTuple):
    """Records to train on."""

    pattern: str
    max_seq_length: int
    max_predictions_per_seq: int


def run(options: argparse.Namespace) -> None:
    """Runs the phase."""
    runs.check_options(options)
    if options.e is not None and options.steps is not None:
        raise UserError("Give either -e or --steps, not both.")
    if options.i:
        runs.input_folder(options)
    path = runs.output_folder(options.o, f"pretraining-{options.m}-{options.d}")
    # A vocabulary that an earlier start made here is used again, so its size must be the same.
    identity = {"phase": "pretraining", "model": options.m, "data": options.i or options.t}
    with runs.held(path, options.o):
        runs.claim_folder(str(path), dict(identity, vocab_size=options.vocab_size))
        print(f"Output folder: {path}")
        phase = _Phase(path, options)
        phase.train(phase.own_data() if options.i else phase.overfit_data())


def steps_of(options: argparse.Namespace, records: int, batch_size: int) -> Tuple[int, int]:
    """Returns the training steps and warm-up steps for -e, --steps, -w and this many records."""
    if options.steps is not None:
        steps = options.steps
    elif not options.i and options.e is None:
        steps = OVERFIT_STEPS
    else:
        steps = int(math.ceil(records * (options.e or PRETRAINING_EPOCHS) / batch_size))
    warmup_steps = int(steps * _WARMUP_SHARE)
    if not options.i:
        warmup_steps = min(warmup_steps, OVERFIT_WARMUP_STEPS)
    return steps, warmup_steps if options.w is None else options.w


class _Phase:
    """One run into `path`."""

    def __init__(self, path: pathlib.Path, options: argparse.Namespace):
        self._path, self._options = path, options
        self._commands = runs.Commands()

    def overfit_data(self) -> Data:
        """Writes the task's text, and makes its vocabulary and records."""
        text = str(self._path / "text.txt")
        files.atomic_write_text(text, OVERFIT_TEXT)
        vocabulary = self._vocabulary(text, _OVERFIT_VOCAB_SIZE)
        return self._records(text, vocabulary, passes=_OVERFIT_PASSES)

    def own_data(self) -> Data:
        """Finds records in the user's folder, or makes them from its text."""
        folder = runs.input_folder(self._options)
        patterns = [f"{folder}/{name}" for name in ("*.tf_record", "*.tfrecord", "*.tfrecords")]
        found = [pattern for pattern in patterns if tf.io.gfile.glob(pattern)]
        if found:
            return _described(",".join(found), self._options.s)
        texts = sorted(str(item) for item in folder.glob("*.txt") if item.name != "vocab.txt")
        if not texts:
            raise UserError(
                f"-i {folder} holds neither text (*.txt) nor records (*.tf_record). Text has one "
                "sentence per line and a blank line between documents."
            )
        text = ",".join(texts)
        vocabulary = runs.find_vocabulary(folder)
        vocabulary = vocabulary or self._vocabulary(text, self._options.vocab_size)
        return self._records(text, vocabulary, passes=5)

    def _vocabulary(self, text: str, vocab_size: int) -> Dict[str, str]:
        prefix = self._path / "vocabulary"
        model = f"{prefix}.model"
        if not pathlib.Path(model).exists():
            self._commands(train_vocab, input_file=text, model_prefix=prefix, vocab_size=vocab_size)
        return {"spm_model_file": model}

    def _records(self, text: str, vocabulary: Dict[str, str], *, passes: int) -> Data:
        length = self._options.s or DEFAULT_LENGTH
        predictions = max(1, int(round(length * _MASKED_SHARE)))
        records = self._path / "train.tf_record"
        self._commands(
            create_pretraining_data,
            input_file=text,
            output_file=records,
            max_seq_length=length,
            max_predictions_per_seq=predictions,
            dupe_factor=passes,
            **vocabulary,
        )
        return Data(str(records), length, predictions)

    def train(self, data: Data) -> None:
        """Trains on the records, evaluates on the same ones, and reports."""
        options = self._options
        batch_size = runs.batch_size(options)
        paths = files.expand_patterns(data.pattern, "-i")
        records = sum(record_files.count_records(item) for item in paths)
        steps, warmup_steps = steps_of(options, records, batch_size)
        outcome = self._commands(
            run_pretraining,
            run_pretraining.pretrain,
            albert_config_file=runs.preset(options.m),
            input_file=data.pattern,
            output_dir=self._path / "model",
            do_train=True,
            do_eval=True,
            max_seq_length=data.max_seq_length,
            max_predictions_per_seq=data.max_predictions_per_seq,
            train_batch_size=batch_size,
            eval_batch_size=8,
            optimizer="lamb",
            learning_rate=_LEARNING_RATE,
            num_train_steps=steps,
            num_warmup_steps=warmup_steps,
            save_checkpoints_steps=options.c,
            precision=runs.PRECISIONS[options.d],
            log_steps=10,
        )
        print()
        if outcome.training:
            runs.print_speed(outcome.training)
            print(f"Training, last steps: {_scores(outcome.training.scalars)}")
        last = outcome.evaluation.results[-1]
        print(f"The same data after step {last.step}: {_scores(last.metrics)}")
        print(f"Model: {self._path / 'model'}")


def _described(pattern: str, length: Optional[int]) -> Data:
    """Takes the lengths from the first record; the training command checks all files."""
    first = files.expand_patterns(pattern, "-i")[0]
    record = record_files.read_first_record(first)
    features = tf.train.Example.FromString(record or b"").features.feature
    found = len(features["input_ids"].int64_list.value)
    if length is not None and found != length:
        raise UserError(f"-s {length}: the records in {first} have length {found}. Omit -s.")
    return Data(pattern, found, len(features["masked_lm_ids"].int64_list.value))


def _scores(metrics: Dict[str, float]) -> str:
    shares = ("masked_lm_accuracy", "sentence_order_accuracy")
    return ", ".join(f"{name} {metrics[name]:.1%}" for name in shares) + (
        f", loss {metrics['loss']:.4f}"
    )
