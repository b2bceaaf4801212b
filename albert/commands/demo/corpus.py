# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The demo's text: everyday stories built from tables, or prose that ships with every CPython.

In a story, sentences follow from earlier sentences: who lost the key, which day comes after
Tuesday, where a hen lives. A small model can learn to infer that. From a million characters of
prose, it learns nothing of the kind. `stories_en.txt` and `stories_zh.txt` have the tables and
plots, and explain how to write more.

The prose is the language reference in `pydoc_data.topics` and the docstrings of the standard
library, which are read from the source files, without code and markup. It depends only on the
Python version.
"""

import collections
import itertools
import pathlib
import random
import re
import sysconfig
import zlib
from pydoc_data import topics
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple

from albert.pretraining_data import words
from albert.pretraining_data.sentences import split_sentences

_HELD_OUT_ONE_IN = 10


class Document(NamedTuple):
    """Sentences in order. Documents with the same key, their topic, are held out together."""

    key: str
    sentences: List[str]


class Corpus(NamedTuple):
    """Documents to train on and documents held out for evaluation."""

    training: List[Document]
    held_out: List[Document]


def _split(documents: Iterable[Document]) -> Corpus:
    corpus = Corpus([], [])
    for document in documents:
        is_held_out = zlib.crc32(document.key.encode()) % _HELD_OUT_ONE_IN == 0
        (corpus.held_out if is_held_out else corpus.training).append(document)
    return corpus


# A word is a run of letters, but not the "s" of "Anna's".
_LETTERS = re.compile(r"((?<![^\W\d_])(?<![^\W\d_]')[^\W\d_]+)")

Finder = Callable[[str], List[Tuple[int, int]]]  # text -> where words start and end


def word_finder(names: Optional[pathlib.Path] = None) -> Finder:
    """Returns a finder of words: runs of letters or, with a file of names, jieba's words."""
    cut: Any = words.ChineseSegmenter(str(names)).words if names else _LETTERS.split

    def find(text: str) -> List[Tuple[int, int]]:
        parts = cut(text)
        ends = zip(parts, itertools.accumulate(map(len, parts)))
        return [(end - len(part), end) for part, end in ends if _LETTERS.fullmatch(part)]

    return find


def by_frequency(names: Iterable[str]) -> List[str]:
    """Returns the different words, the most frequent first, then in alphabetical order."""
    counts = collections.Counter(names)
    return sorted(counts, key=lambda word: (-counts[word], word))


# ---- Stories.

_SLOT = re.compile(r"\{(([a-z]+)\d?)(?:\.([a-z]+))?\}")  # {animal2.home}
_FIRST_LETTER = re.compile(r"^\W*\w")
_A_BEFORE_VOWEL = re.compile(r"\b([Aa]) (?=[aeiou])")

# Table -> its rows: {column: word}. The first column's name is "".
Tables = Dict[str, List[Dict[str, str]]]


def read_grammar(language: str) -> Tuple[Tables, List[List[str]]]:
    """Returns the tables and plots of a language, "en" or "zh".

    A plot is a list of lines: a sentence with slots, or several to draw from, separated by |.
    """
    path = pathlib.Path(__file__).with_name(f"stories_{language}.txt")
    text = re.sub(r"^#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    tables, plots = {}, []
    for head, *lines in map(str.splitlines, re.split(r"\n{2,}", text.strip())):
        name, *columns = re.findall(r"\w+", head)
        if name == "story":
            plots.append(lines)
        else:
            tables[name] = [dict(zip(["", *columns], line.split(" | "))) for line in lines]
    return tables, plots


def make_stories(language: str, count: int, seed: int = 1) -> Corpus:
    """Returns `count` different stories. About a tenth of them is held out.

    The plot and the words in its first two slots (such as Anna and the key) decide: training never
    sees a held-out plot with the same two words. The same seed gives the same stories on every
    Python.
    """
    tables, plots = read_grammar(language)
    numbers = random.Random(seed)
    stories: Dict[Tuple[str, ...], Document] = {}
    while len(stories) < count:
        story = _story(tables, plots, numbers)
        stories.setdefault(tuple(story.sentences), story)
    return _split(stories.values())


def _choice(numbers: random.Random, items: Sequence[Any]) -> Any:
    """Draws an item. Only random.random() gives the same numbers on every Python."""
    return items[int(numbers.random() * len(items))]


def _story(tables: Tables, plots: List[List[str]], numbers: random.Random) -> Document:
    """Returns a story. Its key is the plot, and the words in its first two slots."""
    number, plot = _choice(numbers, list(enumerate(plots, 1)))
    drawn: Dict[str, Dict[str, str]] = {}
    for slot, table, _ in _SLOT.findall(" ".join(plot)):
        if slot not in drawn:
            others = [row for row in tables[table] if row not in drawn.values()]
            drawn[slot] = _choice(numbers, others)
    sentences = []
    for line in plot:
        form = _choice(numbers, line.lstrip("? ").split(" | "))
        if line.startswith("?") and _choice(numbers, ["leave out", ""]):
            continue
        text = _SLOT.sub(lambda slot: drawn[slot[1]][slot[3] or ""], form)
        text = _A_BEFORE_VOWEL.sub(r"\1n ", text)
        sentences.append(_FIRST_LETTER.sub(lambda start: start[0].upper(), text))
    key_words = [row[""] for row in drawn.values()][:2]
    return Document(" ".join([f"plot {number}:", *key_words]), sentences)


# ---- Prose.

# Folders to skip: tests, and third-party packages below the standard library.
_SKIPPED_FOLDERS = {"test", "tests", "idle_test", "site-packages", "dist-packages", "_vendor"}
_DOCSTRING = re.compile(r'"""(.+?)"""', re.DOTALL)
_PARAGRAPH_END = re.compile(r"\n\s*(?:\n|(?:[*+-]|\d+[.)])\s)")
_MARKUP = re.compile(r":[a-z:]+:(?=`)|[`*\"]")
_SENTENCE = re.compile(r"[A-Z][\w.'-]*,?(?: \(?[\w.'-]+(?:\(\))?\)?[,;:]?){3,59}[.!?]")


def extract_sentences(text: str) -> List[str]:
    """Returns the sentences of prose in a docstring or topic, in order."""
    sentences = []
    for paragraph in _PARAGRAPH_END.split(text):
        sentences += split_sentences(" ".join(_MARKUP.sub("", paragraph).split()))
    return list(filter(_SENTENCE.fullmatch, sentences))


def read_prose(library: str = "") -> Corpus:
    """Returns the prose of the Python library in a folder; default: the running Python's.

    Each sentence occurs once. A document has at least two sentences.
    """
    root = pathlib.Path(library or sysconfig.get_paths()["stdlib"])
    texts = list(topics.topics.items())
    for path in sorted(root.rglob("*.py")):
        below = path.relative_to(root)
        if not _SKIPPED_FOLDERS & set(below.parts):
            content = path.read_text(encoding="utf-8", errors="replace")
            texts += [(below.as_posix(), text) for text in _DOCSTRING.findall(content)]
    seen: Set[str] = set()
    documents = []
    for key, text in texts:
        fresh = [sentence for sentence in extract_sentences(text) if sentence not in seen]
        seen.update(fresh)
        if len(fresh) > 1:
            documents.append(Document(key, fresh))
    return _split(documents)
