# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Small SQuAD files and the tokenizers to read them with, for the tests."""

import functools
import json
import pathlib

from albert import tokenization
from tests.support import FIXTURES

CONTEXT = "the king saw a small bird over the old town and the river . the bird sang ."


@functools.lru_cache(maxsize=None)
def sentencepiece(do_lower_case=True):
    return tokenization.FullTokenizer(None, do_lower_case, f"{FIXTURES}/tiny.model")


@functools.lru_cache(maxsize=None)
def wordpiece(do_lower_case=True):
    return tokenization.FullTokenizer(f"{FIXTURES}/wordpiece_vocab.txt", do_lower_case)


def question(name, text, *answers, **more):
    """A question with answers (text, start)."""
    listed = [{"text": answer, "answer_start": start} for answer, start in answers]
    return {"id": name, "question": text, "answers": listed, **more}


def paragraph(context, *questions):
    return {"context": context, "qas": list(questions)}


def write_squad(folder, paragraphs, name="squad.json"):
    """Writes the paragraphs as one article and returns the file's path."""
    content = {"version": "1", "data": [{"title": "The town", "paragraphs": list(paragraphs)}]}
    path = pathlib.Path(folder) / name
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return str(path)


def answered(name, context, answer, text="which ?"):
    """A question whose answer is where it first stands in the context."""
    return question(name, text, (answer, context.index(answer)))
