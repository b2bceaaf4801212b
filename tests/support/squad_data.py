# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Small SQuAD files and the tokenizers to read them with, for the tests."""

import functools
import json
import pathlib
from typing import Any, Iterable

from albert import tokenization

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"


@functools.lru_cache(maxsize=None)
def sentencepiece(do_lower_case: bool = True) -> tokenization.FullTokenizer:
    return tokenization.FullTokenizer(None, do_lower_case, str(FIXTURES / "tiny.model"))


@functools.lru_cache(maxsize=None)
def wordpiece(do_lower_case: bool = True) -> tokenization.FullTokenizer:
    return tokenization.FullTokenizer(str(FIXTURES / "wordpiece_vocab.txt"), do_lower_case)


def question(name: str, text: str, *answers: Any, **more: Any) -> dict:
    """A question with answers (text, start)."""
    listed = [{"text": answer, "answer_start": start} for answer, start in answers]
    return dict({"id": name, "question": text, "answers": listed}, **more)


def paragraph(context: str, *questions: dict) -> dict:
    return {"context": context, "qas": list(questions)}


def write_squad(folder: Any, paragraphs: Iterable[dict], name: str = "squad.json") -> str:
    """Writes the paragraphs as one article and returns the file's path."""
    content = {"version": "1", "data": [{"title": "The town", "paragraphs": list(paragraphs)}]}
    path = pathlib.Path(str(folder)) / name
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return str(path)


def answered(name: str, context: str, answer: str, text: str = "which ?") -> dict:
    """A question whose answer is where it first stands in the context."""
    return question(name, text, (answer, context.index(answer)))
