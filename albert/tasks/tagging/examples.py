# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads sentences with a tag for each word from CoNLL, JSON lines or Parquet files.

read("wnut/train.conll")    # [Sentence("He left .", ("He", "left", "."), ("O", "O", "O"), ...)]
"""

import re
import unicodedata
from typing import Any, Dict, List, Mapping, Match, NamedTuple, Optional, Sequence, Tuple

from albert.data import parquet
from albert.data.rows import Row, read_rows
from albert.tasks.tagging import schemes
from albert.util import UserError, files, json_files

_CONLL = ("", ".bio", ".bmes", ".conll", ".conllu", ".iob", ".tsv", ".txt")
_CONLL_2003 = (".train", ".testa", ".testb")  # eng.testa is its development data
ENDINGS = {*_CONLL, *_CONLL_2003, *files.JSON_LINES, parquet.ENDING}
_TAG_COLUMNS = ("tags", "ner_tags", "labels")
# Usual names of the columns of a CoNLL file.
_HEADER = re.compile(r"(?i)(words?|tokens?|form|text)\t(ner|pos|((ner|pos)_)?(tag|label)s?)")
_WORD_NUMBER = re.compile(r"\d+([-.]\d+)?")  # in CoNLL-U: a word, a range or an empty node

# Patterns for the result of _plain_mark, where each mark is \u0301. A Chinese character is a word.
_CHARACTER = r"[^\W\u3400-\u9fff][\u0301\u200d]*"
_LETTER = r"[^\W\d_\u3400-\u9fff][\u0301\u200d]*"
_WORD = re.compile(
    rf"(?:{_LETTER}\.)+{_LETTER}(?![\w\u0301\u200d])\.?"  # U.S.
    rf"|(?:{_CHARACTER})+(?:(?:['\u2019]|(?<=\d)[.,](?=\d))(?:{_CHARACTER})+)*"  # O'Brien, 3.14
    r"|\S\u0301*(?:\u200d[^\w\s]?\u0301*)*"  # a Chinese character, a sign, joined emoji
)


class Sentence(NamedTuple):
    """The words of a text in order, a tag for each word (or None), and the location in a file."""

    text: str
    words: Sequence[str]
    tags: Optional[Sequence[str]] = None
    where: str = ""


def of_text(text: str) -> Sentence:
    """Splits a text into words. A combining mark belongs to the word before it."""
    with_plain_marks = re.sub(r"[^\w\s]", _plain_mark, text)
    spans = (match.span() for match in _WORD.finditer(with_plain_marks))
    return Sentence(text, [text[start:end] for start, end in spans])


def _plain_mark(match: Match) -> str:
    """Returns \\u0301 for each mark, and other characters unchanged."""
    character = match.group()
    is_skin_tone = "\U0001f3fb" <= character <= "\U0001f3ff"
    is_mark = unicodedata.category(character)[0] == "M" or character == "\u200c"
    return "\u0301" if is_mark or is_skin_tone else character


def of_words(
    words: Sequence[str], tags: Optional[Sequence[str]] = None, where: str = ""
) -> Sentence:
    """Joins words by spaces; UserError if a word is empty, or has a tab or a line break."""
    if any(re.search(r"^ *$|[\t\r\n]", word) for word in words):
        raise UserError(f"{where or 'It'} has a word that is empty, or has a tab or line break.")
    return Sentence(" ".join(words), words, tags, where)


def tag_locations(sentences: Sequence[Sentence]) -> Dict[str, str]:
    """Returns {tag: location of the first sentence with this tag}."""
    return {tag: sentence.where for sentence in reversed(sentences) for tag in sentence.tags or ()}


def read(
    path: str, token_column: int = 0, tag_column: int = -1, *, needs_tags: bool = False
) -> List[Sentence]:
    """Returns the sentences of a file.

    CoNLL: a word per line, blank lines and -DOCSTART- between sentences. JSON lines and Parquet:
    `tokens` and `tags` (or `ner_tags` or `labels`). Test data may lack tags.

    Raises:
      UserError: a line has another format, or with `needs_tags`, a word has no tag.
    """
    if files.ending(path) in (*files.JSON_LINES, parquet.ENDING):
        names = parquet.label_names(path) if files.ending(path) == parquet.ENDING else {}
        sentences = [_of_row(row, names) for row in read_rows([path])]
    else:
        sentences = _of_conll(path, token_column, tag_column)
    for sentence in sentences:
        if needs_tags and (sentence.tags is None or "" in sentence.tags):
            raise UserError(
                f"{sentence.where}: in {sentence.text[:60]!r} a word has no tag. See --tag_column."
            )
    return sentences


def _rows(path: str) -> List[Tuple[str, List[str]]]:
    """Returns (location, cells) for each line of a CoNLL file; no cells between sentences.

    The first row decides whether tabs or spaces separate columns, and how many columns there are. A
    line that begins with "#" and has another number of columns is a comment.
    """
    lines = files.read_text(path).split("\n")
    lines = ["" if line.startswith("-DOCSTART-") else line.strip(" \r") for line in lines]
    texts = [line for line in lines if line.strip("\t")]
    first = min(texts, key=lambda line: line.startswith("#"), default="")  # after comments
    separator = "\t" if "\t" in first else "[ \t]+"
    columns = len(re.split(separator, first))
    rows: List[Tuple[str, List[str]]] = []
    for number, line in enumerate([*lines, ""], 1):
        where = f"{path}:{number}"
        cells = [cell.strip(" ") for cell in re.split(separator, line)]
        if not any(cells):
            rows.append((where, []))
        elif len(cells) == columns:
            rows.append((where, cells))
        elif not line.startswith("#"):
            raise UserError(
                f"{where} has {len(cells)} columns, but the first row has {columns}. Correct the "
                "line."
            )
    return rows


def _of_conll(path: str, token_column: int, tag_column: int) -> List[Sentence]:
    """Returns a file's sentences; without tags if tag_column is missing, or is the token column."""
    rows, sentences = _rows(path), []
    numbers = {cells[0] for _, cells in rows if len(cells) > 1}
    is_numbered = {"1", "2"} <= numbers and all(map(_WORD_NUMBER.fullmatch, numbers))  # CoNLL-U
    words: List[str] = []
    tags: List[str] = []
    start = ""
    for where, cells in rows:
        if not cells and words:
            sentences.append(of_words(tuple(words), tuple(tags) or None, start))
            words, tags = [], []
        if not cells or (is_numbered and not cells[0].isdigit()):
            continue
        columns = len(cells)
        if is_numbered and token_column % columns == 0:
            raise UserError(f"'{path}' has numbers, not words, in column 0. See --token_column.")
        if token_column >= columns or not cells[token_column]:
            raise UserError(f"{where}: no word in column {token_column}. See --token_column.")
        word, tag = cells[token_column], None
        if tag_column < columns and (tag_column - token_column) % columns:
            tag = cells[tag_column]
        if not (sentences or words) and _HEADER.fullmatch(f"{word}\t{tag}"):
            continue
        start = start if words else where
        words.append(word)
        if tag is not None:
            tags.append(tag)
    return sentences


def _of_row(row: Row, names: Mapping[str, List[str]]) -> Sentence:
    """Returns the sentence of a row. `names`: column of numbered tags -> the tags' names."""
    where, fields = row.where, row.fields
    json_files.check(fields, {"tokens": [str]}, where)
    column = next((name for name in _TAG_COLUMNS if fields.get(name) is not None), "tags")
    labels = names.get(column)
    tag_type = range(-1, len(labels)) if labels else str
    json_files.check(fields, {column: ([tag_type], None)}, where)
    tokens, tags = fields["tokens"], fields.get(column)
    if tags is not None and len(tags) != len(tokens):
        raise UserError(f"{where} has {len(tokens)} tokens and {len(tags)} tags.")
    if labels and tags:
        tags = ["" if tag == -1 else labels[tag] for tag in tags]  # -1: no label
    return of_words(tokens, tags, where)


def spans(
    text: str, words: Sequence[str], entities: Sequence[schemes.Entity]
) -> List[Dict[str, Any]]:
    """Returns type, text, and first and last character (exclusive) of each entity."""
    word_spans, end = [], 0
    for word in words:
        start = text.index(word, end)
        end = start + len(word)
        word_spans.append((start, end))
    entity_spans = []
    for entity_type, first, last in entities:
        start, end = word_spans[first][0], word_spans[last][1]
        entity_spans.append(
            {"type": entity_type, "text": text[start:end], "start": start, "end": end}
        )
    return entity_spans
