# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretrains an ALBERT of a published size, and reports sentences per second.

By default, the demo trains on a very small text until the model has memorized it. This is a quick
test of the model, the optimizer and the precision. With -i, it trains on your text files (*.txt,
one sentence per line, a blank line between documents). If that folder has a vocabulary (a
SentencePiece *.model file, or vocab.txt), the demo uses it. Otherwise it trains one.
"""

import argparse
import math
import pathlib
from typing import Any, Dict, Tuple

from albert import configs, create_pretraining_data, run_pretraining
from albert.commands import train_vocab
from albert.commands.demo import runs
from albert.data import record_files
from albert.util import files

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
_OVERFIT_STEPS, _OVERFIT_WARMUP_STEPS = 200, 10


def run_phase(options: argparse.Namespace) -> None:
    """Runs the phase."""
    length = options.s or 128
    lengths = {"max_seq_length": length, "max_predictions_per_seq": max(1, round(length * 0.15))}
    # A resumed run uses its vocabulary again, so the size must be the same.
    identity = {"size": options.m, "data": options.i, "vocab_size": options.vocab_size}
    with runs.open_run(options.o, f"pretraining-{options.m}-{options.d}", **identity) as run:
        make_records(options, run, lengths)
        train(options, run, lengths)


def make_records(options: argparse.Namespace, run: runs.DemoRun, lengths: Dict[str, Any]) -> None:
    """Makes train.tf_record from the text in -i, or from the demo's own text."""
    path, vocab_size, passes = run.path, options.vocab_size, 5
    folder = pathlib.Path(options.i or path).expanduser()
    if not options.i:
        files.atomic_write_text(str(path / "text.txt"), OVERFIT_TEXT)
        vocab_size, passes = 160, 2
    texts = [str(file) for file in sorted(folder.glob("*.txt")) if file.name != "vocab.txt"]
    text = {"input_file": ",".join(texts) or folder / "*.txt"}
    if not (runs.vocabulary_of(folder) or runs.vocabulary_of(path)):
        run(train_vocab, model_prefix=path / "vocabulary", vocab_size=vocab_size, **text)
    vocabulary = runs.vocabulary_of(folder) or runs.vocabulary_of(path)
    run(
        create_pretraining_data,
        output_file=path / "train.tf_record",
        dupe_factor=passes,
        **text,
        **lengths,
        **vocabulary,
    )


def train(options: argparse.Namespace, run: runs.DemoRun, lengths: Dict[str, Any]) -> None:
    """Trains and evaluates on the same records."""
    records = str(run.path / "train.tf_record")
    steps, warmup_steps = steps_of(options, record_files.count_records(records))
    runs.train(
        run,
        options,
        run_pretraining,
        albert_config_file=configs.preset_path(f"albert_{options.m}_v2"),
        input_file=records,
        do_eval=True,
        optimizer="lamb",
        learning_rate=0.00176,
        num_train_steps=steps,
        num_warmup_steps=warmup_steps,
        **lengths,
    )


def steps_of(options: argparse.Namespace, records: int) -> Tuple[int, int]:
    """Returns the training steps and warm-up steps for -e, --steps, -w and this many records."""
    steps = options.steps or math.ceil(records * (options.e or 2) / runs.batch_size(options))
    if not (options.i or options.e or options.steps):
        steps = _OVERFIT_STEPS
    warmup_steps = min(steps // 10, steps if options.i else _OVERFIT_WARMUP_STEPS)
    return steps, warmup_steps if options.w is None else options.w
