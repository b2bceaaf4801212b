# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Everyday stories made from tables of words and plots, for the demo.

What is said in a story follows from what was said before in it: who has lost what, what day comes
after Tuesday, where a hen lives. So there is something to infer for a small model, which prose of
a million characters does not give it. `stories_en.txt` and `stories_zh.txt` hold the tables and
say how to write more.
"""

import pathlib
import random
import re
import zlib
from typing import Dict, List, NamedTuple, Set, Tuple

from albert.demo.corpus import HELD_OUT_ONE_IN, Corpus, Document

_SLOT = re.compile(r"\{([a-z]+)(\d?)(?:\.([a-z]+))?\}")
_FIRST_LETTER = re.compile(r"^\W*\w")
_A_BEFORE_VOWEL = re.compile(r"\b([Aa]) (?=[aeiou])")

Row = Dict[str, str]  # a table's words by column; that of "" is the row's own


class Sentence(NamedTuple):
    """A line of a plot."""

    forms: List[str]  # one of them is drawn
    is_optional: bool


class Grammar(NamedTuple):
    """What stories are made of."""

    tables: Dict[str, List[Row]]
    plots: List[List[Sentence]]


def read_grammar(language: str) -> Grammar:
    """Returns the tables and plots of a language of options.LANGUAGES."""
    path = pathlib.Path(__file__).with_name(f"stories_{language}.txt")
    grammar = Grammar({}, [])
    for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        name, _, columns = lines[0].strip("[]").partition(":")
        cells = [[cell.strip() for cell in line.split(" | ")] for line in lines[1:]]
        if name == "story":
            forms = [[form.lstrip("? ") for form in row] for row in cells]
            optional = [line.startswith("?") for line in lines[1:]]
            grammar.plots.append([Sentence(*pair) for pair in zip(forms, optional)])
        else:
            grammar.tables[name] = [dict(zip(["", *columns.split()], row)) for row in cells]
    return grammar


def names(language: str) -> List[str]:
    """Returns the names of people."""
    return [row[""] for row in read_grammar(language).tables["person"]]


def make_corpus(language: str, count: int, seed: int = 1) -> Corpus:
    """Returns `count` different stories; about a tenth of them is held out.

    What the first two slots of a plot hold (such as Anna and the key) decides which: a story that
    is held out has a plot with such a pair that training never sees. The same seed gives the same
    stories on every Python.
    """
    grammar = read_grammar(language)
    numbers = random.Random(seed)
    corpus = Corpus([], [])
    seen: Set[Tuple[str, ...]] = set()
    while len(seen) < count:
        key, sentences = _story(grammar, numbers)
        if tuple(sentences) not in seen:
            seen.add(tuple(sentences))
            is_held_out = zlib.crc32(key.encode()) % HELD_OUT_ONE_IN == 0
            (corpus.held_out if is_held_out else corpus.training).append(Document(key, sentences))
    return corpus


def _below(numbers: random.Random, limit: int) -> int:
    """A number below `limit`; of `random`, only this method is the same on every Python."""
    return int(numbers.random() * limit)


def _story(grammar: Grammar, numbers: random.Random) -> Tuple[str, List[str]]:
    """A story, and the plot and the words that it is about."""
    place = _below(numbers, len(grammar.plots))
    plot = grammar.plots[place]
    drawn: Dict[str, Row] = {}
    for table, number, _ in _SLOT.findall(" ".join(form for line in plot for form in line.forms)):
        if table + number not in drawn:
            others = [row for row in grammar.tables[table] if row not in drawn.values()]
            drawn[table + number] = others[_below(numbers, len(others))]
    sentences = []
    for line in plot:
        form = line.forms[_below(numbers, len(line.forms))]
        if not line.is_optional or _below(numbers, 2):
            sentences.append(_filled(form, drawn))
    about = [row[""] for row in drawn.values()][:2]
    return " ".join([f"plot {place + 1}:", *about]), sentences


def _filled(form: str, drawn: Dict[str, Row]) -> str:
    text = _SLOT.sub(lambda slot: drawn[slot[1] + slot[2]][slot[3] or ""], form)
    text = _A_BEFORE_VOWEL.sub(r"\1n ", text)
    return _FIRST_LETTER.sub(lambda start: start[0].upper(), text)
