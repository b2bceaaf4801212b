# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Passages in RACE's layout, small enough to be learnt in seconds: the king is the answer."""

import pathlib
import random

from tests.support import classification_data, write_json

VOCABULARY = classification_data.VOCABULARY
QUESTIONS = ("Who went home?", "The friend of the old man is _ .")


def passage(identity, generator):
    """Returns a passage whose right options hold the word "king"."""
    options, answers = [], []
    for _ in range(2):
        right = generator.randrange(4)
        words = ["king" if number == right else "bird" for number in range(4)]
        options.append([classification_data.text(generator, word)[:40] for word in words])
        options[-1][right] = "a king with " + options[-1][right][:10]
        answers.append("ABCD"[right])
    return {
        "article": classification_data.text(generator, "the", 3),
        "questions": list(QUESTIONS),
        "options": options,
        "answers": answers,
        "id": identity,
    }


def write_race(folder, *, passages=4, splits=("train", "dev", "test")):
    """Writes RACE/<split>/<level>/<number>.txt below `folder` and returns `folder`."""
    generator = random.Random(0)
    for split in splits:
        for level in ("middle", "high"):
            target = pathlib.Path(folder) / "RACE" / split / level
            target.mkdir(parents=True)
            for number in range(passages):
                content = passage(f"{level}{number}.txt", generator)
                # As distributed: one line without an end.
                write_json(target / f"{number}.txt", content)
    return str(folder)
