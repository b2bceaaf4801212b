# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A task small enough to be learnt in seconds: which of two words does a text hold?

Texts differ in length. Pairs come in MRPC's columns, single texts in a layout of one's own.
"""

import pathlib
import random

from albert.models import text_files
from albert.models.flags import TextFlags
from albert.training import evaluation
from tests.support import fine_tuned_models, write_json

VOCABULARY = fine_tuned_models.VOCABULARY
NO_DROPOUT = fine_tuned_models.NO_DROPOUT
WORDS = ["the", "old", "man", "went", "home", "with", "his", "friend", "and", "a", "dog"]

CONFIG = dict(
    fine_tuned_models.CONFIG,
    num_hidden_layers=1,
    max_position_embeddings=64,
    hidden_dropout_prob=0.1,
    attention_probs_dropout_prob=0.1,
    initializer_range=0.1,
)


def write_config(folder, **changes):
    """Writes the configuration of a tiny model and returns its path."""
    path = pathlib.Path(folder) / "config.json"
    write_json(path, dict(CONFIG, **changes))
    return str(path)


def text(generator, word, times=1):
    words = [generator.choice(WORDS) for _ in range(generator.randint(1, 14))]
    for _ in range(times):
        words.insert(generator.randint(0, len(words)), word)
    return " ".join(words)


def _pair(generator):
    """Returns a label, and two texts that tell it."""
    label = generator.randint(0, 1)
    return label, [text(generator, "king" if label else "bird") for _ in "ab"]


def write_mrpc(folder, *, make_pair=_pair, train=40, dev=21, test=13):
    """Writes MRPC/{train,dev,test}.tsv below `folder` and returns `folder`."""
    generator = random.Random(0)
    target = pathlib.Path(folder) / "MRPC"
    target.mkdir(parents=True, exist_ok=True)
    for name, count in (("train", train), ("dev", dev), ("test", test)):
        is_test = name == "test"
        rows = [["index" if is_test else "Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"]]
        for number in range(count):
            label, texts = make_pair(generator)
            rows.append([number if is_test else label, 1, 2, *texts])
        write_rows(target / f"{name}.tsv", rows)
    return str(folder)


def write_own(folder):
    """Writes {train,dev,test}.tsv with the columns `words` and `answer`; returns `folder`."""
    generator = random.Random(1)
    for name, count in (("train", 40), ("dev", 20), ("test", 10)):
        answers = [generator.choice(["bird", "king"]) for _ in range(count)]
        rows = [["words", "answer"], *([text(generator, one), one] for one in answers)]
        write_rows(pathlib.Path(folder) / f"{name}.tsv", rows)
    return str(folder)


def write_nli(folder, names):
    """Writes files in MNLI's columns, and with texts where diagnostic.tsv has them."""
    folder.mkdir()
    for name in names:
        rows = [["index"] + ["x"] * 10]
        for row, label in enumerate(["contradiction", "entailment", "neutral"] * 2):
            texts = ["the king", "went home"]
            rows.append([row, *texts, *["x"] * 5, *texts, label])
        write_rows(folder / f"{name}.tsv", rows)


def write_rows(path, rows):
    """Writes tab-separated rows."""
    lines = ["\t".join(map(str, row)) + "\n" for row in rows]
    path.write_text("".join(lines))


def texts_in(path, columns=None, known=()):
    """The texts that the scripts which answer texts find in a file."""
    flags = TextFlags(input_file=str(path), columns=columns)
    return [row.texts for rows in text_files.read_rows(flags, known) for row in rows]


# What a run has left behind.


def steps_in(folder):
    """Returns the steps of the checkpoints."""
    return [item.step for item in evaluation.list_checkpoints(str(folder))]


def contents(folder):
    """Returns the bytes of every file that is no log."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and not path.name.startswith("events")
    }
