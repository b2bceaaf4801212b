# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The options of the demo's phases, which are shown without loading what the phases import."""

import argparse

from albert.demo import runs

TOUR_STEPS = 3000
LANGUAGES = ("en", "zh")  # of stories
TEXTS = ("stories", "python")
DEFAULT_LENGTH, PRETRAINING_EPOCHS = 128, 2.0
OVERFIT_STEPS, OVERFIT_WARMUP_STEPS = 200, 10
FINETUNING_EPOCHS = 2.0
LENGTHS = {"squad": 384, "mrpc": 128}  # of the tasks of fine-tuning


def tour(parser: argparse.ArgumentParser) -> None:
    """Defines the options of the phase."""
    runs.add_folder_option(parser)
    text = f"training steps (default: {TOUR_STEPS})"
    parser.add_argument("--steps", type=int, default=TOUR_STEPS, metavar="N", help=text)
    text = "of the stories: en or zh (Chinese; words are found by jieba) (default: en)"
    parser.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0], help=text)
    text = "stories made by the demo, or English prose that ships with Python (default: stories)"
    parser.add_argument("--text", choices=TEXTS, default=TEXTS[0], help=text)


def pretraining(parser: argparse.ArgumentParser) -> None:
    """Defines the options of the phase."""
    runs.add_options(
        parser,
        ["overfit"],
        length=f"{DEFAULT_LENGTH}, or that of the records",
        epochs=f"{PRETRAINING_EPOCHS:g}; overfit: {OVERFIT_STEPS} steps",
        warmup=f"a tenth of the steps; overfit: {OVERFIT_WARMUP_STEPS}",
    )
    option = parser.add_argument
    option("-i", metavar="DIR", help="folder with your own data, instead of the task's text")
    option("--steps", type=int, metavar="N", help="training steps, instead of -e")
    text = "size of the vocabulary that is trained if -i has none (default: 30000)"
    option("--vocab_size", type=int, default=30000, metavar="N", help=text)


def finetuning(parser: argparse.ArgumentParser) -> None:
    """Defines the options of the phase."""
    runs.add_options(
        parser,
        list(LENGTHS),
        length=", ".join(f"{length} for {name}" for name, length in LENGTHS.items()),
        epochs=f"{FINETUNING_EPOCHS:g}",
        warmup="a tenth of the steps",
    )
    option = parser.add_argument
    option("-i", metavar="DIR", help="folder of the data (default: fetched the first time)")
    text = "(default: the released one of the size, fetched the first time)"
    option("--model", metavar="DIR", help=f"folder of the pretrained model, or its name {text}")


# Phase -> its options; the module of that name runs it, and its docstring says what it does.
PHASES = {"tour": tour, "pretraining": pretraining, "finetuning": finetuning}
