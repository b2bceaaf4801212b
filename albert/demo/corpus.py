# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The demo's text: prose that ships with every CPython, or everyday stories made of tables.

The language reference in `pydoc_data.topics` and the docstrings of the standard library are read
from their source files (nothing is imported or run), stripped of code, tables and markup, and split
into sentences. A topic or a docstring is a document. Each sentence occurs once, and a source file
is either for training or held out. The result depends only on the Python version.

What is said in a story follows from what was said before in it: who has lost what, what day comes
after Tuesday, where a hen lives. So there is something to infer for a small model, which prose of
a million characters does not give it. `stories_en.txt` and `stories_zh.txt` hold the tables and
plots, and say how to write more.
"""

import ast
import logging
import os
import pathlib
import random
import re
import sysconfig
import textwrap
import zlib
from typing import Dict, Iterable, Iterator, List, NamedTuple, Set, Tuple

_LOGGER = logging.getLogger("albert")

# Not read: tests, and third-party packages that lie below the standard library.
_SKIPPED_FOLDERS = frozenset(
    {"test", "tests", "idle_test", "site-packages", "dist-packages", "__pycache__", "_vendor"}
)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_HELD_OUT_ONE_IN = 10

_ABBREVIATIONS = ("e.g.", "i.e.", "etc.", "vs.", "cf.", "resp.", "approx.", "incl.", "no.", "fig.")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[\"'(]?[A-Z])")
_PLAIN_WORD = re.compile(r"[\"'(]*(?:[A-Za-z]+(?:['-][A-Za-z]+)*|[0-9]+)[\"')]*[.,;:!?]*[\"')]*$")
_CODE_LINE = re.compile(
    r"^\s*(?:>>>|\.\.\. |[-=~*+|#]{3,}|\||::=|@|import |from \w+ import |def |class )"
)
_MARKUP = (
    (re.compile(r":[a-z]+(?::[a-z]+)?:`~?([^`]*)`"), r"\1"),  # :class:`name`
    (re.compile(r"``?([^`]+)``?"), r"\1"),
    (re.compile(r"\*\*?([^*\s][^*]*)\*\*?"), r"\1"),
    (re.compile(r"\"([\w.()-]+)\""), r"\1"),  # how topics mark code
    (re.compile(r" ?\[\d+\]_?"), ""),
    (re.compile(r"\s+"), " "),
)


class Document(NamedTuple):
    """A source file's name, and sentences in order."""

    source: str
    sentences: List[str]


class Corpus(NamedTuple):
    """Documents to train on and documents held out for evaluation."""

    training: List[Document]
    held_out: List[Document]


def _library_files(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    for parent, folders, names in os.walk(str(folder)):
        folders[:] = sorted(set(folders) - _SKIPPED_FOLDERS)
        yield from (pathlib.Path(parent, name) for name in sorted(names) if name.endswith(".py"))


def _docstrings(node: ast.AST) -> Iterator[str]:
    """The docstrings in a syntax tree; expressions, most of its nodes, are not searched."""
    text = ast.get_docstring(node) if isinstance(node, _DOCUMENTED) else None
    if text:
        yield text
    for part in ("body", "orelse", "handlers", "finalbody"):
        for child in getattr(node, part, ()):
            yield from _docstrings(child)


def _topics(tree: ast.Module) -> Iterator[str]:
    """The values of the file's dictionary literal."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from (ast.literal_eval(value) for value in node.values)


def _paragraphs(text: str) -> Iterator[str]:
    """Blocks of lines between blank lines; a bullet starts a paragraph."""
    for block in re.split(r"\n\s*\n", textwrap.dedent(text)):
        for item in re.split(r"\n(?=\s*(?:[*+-]|\d+[.)]|\([a-z0-9]\))\s)", block):
            lines = item.splitlines()
            if not any(_CODE_LINE.match(line) for line in lines):
                joined = " ".join(line.strip() for line in lines)
                yield re.sub(r"^(?:[*+-]|\d+[.)]|\([a-z0-9]\))\s+", "", joined)


def _clean(paragraph: str) -> str:
    for pattern, replacement in _MARKUP:
        paragraph = pattern.sub(replacement, paragraph)
    return paragraph.strip()


def _is_prose(sentence: str) -> bool:
    """Whether it looks like an English sentence and not like code."""
    words = sentence.split()
    if not 4 <= len(words) <= 60 or not sentence[0].isupper() or sentence[-1] not in ".!?":
        return False
    plain = sum(bool(_PLAIN_WORD.match(word)) for word in words)
    small = sum(word[:1].islower() for word in words)
    return plain >= 0.8 * len(words) and small >= 0.5 * len(words)


def _split_sentences(paragraph: str) -> List[str]:
    """Splits after full stops, but not after abbreviations."""
    sentences, start = [], 0
    for end in _SENTENCE_END.finditer(paragraph):
        if not paragraph[start : end.start()].lower().endswith(_ABBREVIATIONS):
            sentences.append(paragraph[start : end.end()].strip())
            start = end.end()
    return sentences + [paragraph[start:].strip()]


def extract_sentences(text: str) -> List[str]:
    """Returns the sentences of prose in a docstring or topic, in order."""
    sentences = []
    for paragraph in _paragraphs(text):
        sentences += _split_sentences(_clean(paragraph))
    return [sentence for sentence in sentences if sentence and _is_prose(sentence)]


def _documents(source: str, texts: Iterable[str], seen: Set[str]) -> Iterator[Document]:
    """Documents of at least two sentences that did not occur before."""
    for text in texts:
        fresh = []
        for sentence in extract_sentences(text):
            if sentence.lower() not in seen:
                seen.add(sentence.lower())
                fresh.append(sentence)
        if len(fresh) >= 2:
            yield Document(source, fresh)


def _read(folder: pathlib.Path) -> Iterator[Document]:
    seen: Set[str] = set()
    unreadable = 0
    for path in _library_files(folder):
        source = path.relative_to(folder).as_posix()
        try:
            tree = ast.parse(path.read_bytes())
        except SyntaxError:  # on purpose, such as in lib2to3's samples
            unreadable += 1
            continue
        texts = _topics(tree) if source == "pydoc_data/topics.py" else _docstrings(tree)
        yield from _documents(source, texts, seen)
    if unreadable:
        _LOGGER.info("Left out %d files that are not valid Python.", unreadable)


def read_corpus(folder: str = "") -> Corpus:
    """Returns the prose of the Python library in `folder` (default: the running Python's)."""
    root = pathlib.Path(folder or sysconfig.get_paths()["stdlib"])
    corpus = Corpus([], [])
    for number, document in enumerate(_read(root)):
        # Topics are one file, so each has a key of its own.
        key = document.source if "topics" not in document.source else f"topic {number}"
        held_out = zlib.crc32(key.encode()) % _HELD_OUT_ONE_IN == 0
        (corpus.held_out if held_out else corpus.training).append(document)
    return corpus


def write_documents(documents: Iterable[Document], path: str) -> None:
    """Writes one sentence per line and a blank line after each document."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for document in documents:
            file.write("\n".join(document.sentences) + "\n\n")


# ---- Stories.

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


def names_of_people(language: str) -> List[str]:
    """Returns the names of people."""
    return [row[""] for row in read_grammar(language).tables["person"]]


def make_stories(language: str, count: int, seed: int = 1) -> Corpus:
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
            is_held_out = zlib.crc32(key.encode()) % _HELD_OUT_ONE_IN == 0
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
