# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretrains an ALBERT of a published size, and reports sentences a second.

Without -i it trains on a very small text, again and again, until the model knows it by heart: a
quick proof that model, optimiser and precision work. With -i it trains on your data:

  text files (*.txt, one sentence a line, a blank line between documents), with a vocabulary beside
  them (one *.model file of SentencePiece, or vocab.txt); without one, a vocabulary is made; or
  records that create_pretraining_data has made (*.tf_record, *.tfrecord).
"""

import argparse
import math
import os
import pathlib
from typing import Dict, NamedTuple, Optional, Sequence

import tensorflow.compat.v1 as tf

from albert import create_pretraining_data, run_pretraining, train_vocab
from albert.data import record_files
from albert.demo import runs as demo_runs
from albert.util import files, folder_lock

DEFAULT_LENGTH = 128
DEFAULT_EPOCHS = 2.0
_LEARNING_RATE = 0.00176
_MASKED_SHARE = 0.15
_WARMUP_SHARE = 0.1


class Task(NamedTuple):
    """A text of ours, and how long to train on it."""

    documents: Sequence[str]  # one sentence a line
    vocab_size: int
    dupe_factor: int  # passes over the text, each masked anew
    steps: int
    warmup_steps: int


OVERFIT = Task(
    documents=(
        "The old lighthouse stands on the last rock before the open sea.\n"
        "Every evening Martha climbs its stairs with a can of oil.\n"
        "She counts the steps aloud, although she has known their number for years.\n"
        "At the top she cleans the glass and lights the lamp.\n"
        "Far away a fishing boat answers with three short signals.\n"
        "Then she sits down by the window and writes a line about the weather.",
        "Our bakery opens at five, when the street is still dark.\n"
        "The first loaves come out of the oven half an hour later.\n"
        "Bus drivers are always the first guests, and they take their coffee black.\n"
        "After them come the children on their way to school.\n"
        "By noon nothing is left but two rolls and a smell of cinnamon.",
        "A river has no memory, my grandfather used to say.\n"
        "He had seen it carry away three bridges and his best hat.\n"
        "In summer it was so shallow that we walked across with dry knees.\n"
        "In spring it filled the cellar and brought us other people's chairs.\n"
        "Nobody in the village ever thought of moving.",
        "To repair a clock you need patience more than tools.\n"
        "First open the case and look for what does not move.\n"
        "Often a grain of dust between two wheels is all there is to find.\n"
        "Clean it away with a soft brush and put a drop of oil on the pivot.\n"
        "Close the case again, wind the spring, and listen.\n"
        "If it ticks evenly, you are done.",
    ),
    vocab_size=160,
    dupe_factor=2,
    steps=200,
    warmup_steps=10,
)
TASKS = {"overfit": OVERFIT}


class Data(NamedTuple):
    """Records to train on, and what must be known about them."""

    pattern: str
    max_seq_length: int
    max_predictions_per_seq: int


class Plan(NamedTuple):
    """How many steps to make, and which."""

    steps: int
    warmup_steps: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Defines the options of the phase."""
    option = parser.add_argument
    demo_runs.add_model_options(parser)
    option("-t", choices=list(TASKS), default="overfit", help="what to train on (default: overfit)")
    option("-i", metavar="DIR", help="folder with your own data, in place of the task's text")
    demo_runs.add_batch_option(parser)
    option(
        "-s",
        type=int,
        metavar="N",
        help=f"length of a sequence (default: {DEFAULT_LENGTH}, or that of the records)",
    )
    option(
        "-e",
        type=float,
        metavar="N",
        help=f"passes over the data (default: {DEFAULT_EPOCHS:g}; overfit: {OVERFIT.steps} steps)",
    )
    option("--steps", type=int, metavar="N", help="training steps, in place of -e")
    option(
        "-w",
        type=int,
        metavar="N",
        help=f"warm-up steps (default: a tenth of the steps; overfit: {OVERFIT.warmup_steps})",
    )
    option("-c", type=int, default=5000, metavar="N", help="steps between checkpoints (5000)")
    option(
        "-o",
        metavar="DIR",
        help="output folder; training that was interrupted there goes on (default: a new folder in "
        f"{demo_runs.DEFAULT_FOLDER})",
    )
    option(
        "--vocab_size",
        type=int,
        default=30000,
        metavar="N",
        help="pieces of the vocabulary that is made if -i has none (default: 30000)",
    )


def run(options: argparse.Namespace) -> None:
    """Runs the phase."""
    _check(options)
    folder = options.o or demo_runs.new_folder(f"pretraining-{options.m}-{options.d}")
    path = pathlib.Path(os.path.expanduser(folder))
    # The vocabulary of an earlier start in this folder is used again, so it has to be the same.
    identity = {"phase": "pretraining", "model": options.m, "data": options.i or options.t}
    with folder_lock.held(str(path)):
        demo_runs.claim_folder(str(path), dict(identity, vocab_size=options.vocab_size))
        print(f"Output folder: {path}")
        commands = demo_runs.Commands()
        make = _own_data if options.i else _task_data
        data = make(path, options, commands)
        _report(_train(path, options, commands, data=data), path)


def _check(options: argparse.Namespace) -> None:
    """Refuses numbers that make no sense.

    Raises:
      ValueError: with the option and the remedy.
    """
    demo_runs.check_numbers(options)
    if options.steps is not None and options.steps < 1:
        raise ValueError(f"--steps {options.steps} must be at least 1.")
    if options.e is not None and options.steps is not None:
        raise ValueError("Give -e or --steps, not both: they say the same.")
    if options.i and not os.path.isdir(os.path.expanduser(options.i)):
        raise ValueError(f"-i {options.i} is not a folder.")


# ---------------------------------------------------------------------------------------------
# Data.


def _task_data(
    path: pathlib.Path, options: argparse.Namespace, commands: demo_runs.Commands
) -> Data:
    """Writes the task's text, and makes its vocabulary and records."""
    task = TASKS[options.t]
    text = path / "text.txt"
    files.atomic_write_text(str(text), "\n\n".join(task.documents) + "\n")
    vocabulary = _make_vocabulary(path, str(text), task.vocab_size, commands=commands)
    return _make_records(
        path, options, commands, text=str(text), vocabulary=vocabulary, passes=task.dupe_factor
    )


def _own_data(
    path: pathlib.Path, options: argparse.Namespace, commands: demo_runs.Commands
) -> Data:
    """Finds records in the user's folder, or makes them from its text."""
    folder = pathlib.Path(os.path.expanduser(options.i))
    records = [f"{folder}/{name}" for name in ("*.tf_record", "*.tfrecord", "*.tfrecords")]
    found = [pattern for pattern in records if tf.io.gfile.glob(pattern)]
    if found:
        return _described(",".join(found), options.s)
    texts = sorted(str(item) for item in folder.glob("*.txt") if item.name != "vocab.txt")
    if not texts:
        raise ValueError(
            f"-i {options.i} holds neither text (*.txt) nor records (*.tf_record). Text has one "
            "sentence a line and a blank line between documents."
        )
    text = ",".join(texts)
    vocabulary = demo_runs.find_vocabulary(folder) or _make_vocabulary(
        path, text, options.vocab_size, commands=commands
    )
    return _make_records(path, options, commands, text=text, vocabulary=vocabulary, passes=5)


def _described(pattern: str, length: Optional[int]) -> Data:
    """Takes the lengths from the first record; the training command checks all files."""
    first = files.expand_patterns(pattern, "-i")[0]
    record = record_files.read_first_record(first)
    features = tf.train.Example.FromString(record or b"").features.feature
    found = len(features["input_ids"].int64_list.value)
    if length is not None and found != length:
        raise ValueError(f"-s {length}: the records in {first} have length {found}. Leave -s out.")
    return Data(pattern, found, len(features["masked_lm_ids"].int64_list.value))


def _make_vocabulary(
    path: pathlib.Path, text: str, vocab_size: int, *, commands: demo_runs.Commands
) -> Dict[str, str]:
    model = path / "vocabulary.model"
    if not model.exists():
        prefix = path / "vocabulary"
        commands(train_vocab, input_file=text, model_prefix=prefix, vocab_size=vocab_size)
    return {"spm_model_file": str(model)}


def _make_records(
    path: pathlib.Path,
    options: argparse.Namespace,
    commands: demo_runs.Commands,
    *,
    text: str,
    vocabulary: Dict[str, str],
    passes: int,
) -> Data:
    length = options.s or DEFAULT_LENGTH
    predictions = max(1, int(round(length * _MASKED_SHARE)))
    records = path / "train.tf_record"
    commands(
        create_pretraining_data,
        input_file=text,
        output_file=records,
        max_seq_length=length,
        max_predictions_per_seq=predictions,
        dupe_factor=passes,
        **vocabulary,
    )
    return Data(str(records), length, predictions)


# ---------------------------------------------------------------------------------------------
# Training.


def plan(options: argparse.Namespace, records: int, batch_size: int) -> Plan:
    """Returns the steps for the options -e, --steps and -w and this many records."""
    task = None if options.i else TASKS[options.t]
    if options.steps is not None:
        steps = options.steps
    elif task and options.e is None:
        steps = task.steps
    else:
        steps = int(math.ceil(records * (options.e or DEFAULT_EPOCHS) / batch_size))
    if options.w is not None:
        return Plan(steps, options.w)
    warmup_steps = int(steps * _WARMUP_SHARE)
    return Plan(steps, min(task.warmup_steps, warmup_steps) if task else warmup_steps)


def _train(
    path: pathlib.Path, options: argparse.Namespace, commands: demo_runs.Commands, *, data: Data
) -> run_pretraining.Outcome:
    batch_size = options.b or demo_runs.BATCH_SIZES[options.m][options.d]
    paths = files.expand_patterns(data.pattern, "-i")
    steps = plan(options, sum(record_files.count_records(item) for item in paths), batch_size)
    return commands(
        run_pretraining,
        run_pretraining.pretrain,
        albert_config_file=demo_runs.preset(options.m),
        input_file=data.pattern,
        output_dir=path / "model",
        do_train=True,
        do_eval=True,
        max_seq_length=data.max_seq_length,
        max_predictions_per_seq=data.max_predictions_per_seq,
        train_batch_size=batch_size,
        eval_batch_size=8,
        optimizer="lamb",
        learning_rate=_LEARNING_RATE,
        num_train_steps=steps.steps,
        num_warmup_steps=steps.warmup_steps,
        save_checkpoints_steps=options.c,
        precision=demo_runs.PRECISIONS[options.d],
        log_steps=10,
    )


def _report(outcome: run_pretraining.Outcome, path: pathlib.Path) -> None:
    print()
    training, evaluation = outcome.training, outcome.evaluation
    if training:
        scalars = training.scalars
        print(
            f"Speed: {training.examples_per_second:.2f} sentences/s (mean without the first step)\n"
            f"Training, last steps: masked words found {scalars['masked_lm_accuracy']:.1%}, "
            f"order told {scalars['sentence_order_accuracy']:.1%}, loss {scalars['loss']:.4f}"
        )
    last = evaluation.results[-1]
    print(
        f"The same data after step {last.step}: masked words found "
        f"{last.metrics['masked_lm_accuracy']:.1%}, order told "
        f"{last.metrics['sentence_order_accuracy']:.1%}, loss {last.metrics['loss']:.4f}\n"
        f"Model: {path / 'model'}"
    )
