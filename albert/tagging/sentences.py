# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Sentences with a tag for each word, as CoNLL, JSON lines or Parquet files have them.

    read("wnut/train.conll")    # [Sentence(text="He left .", words=..., tags=("O", "O", "O"))]
"""

import itertools
import os
import re
from typing import Any, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from albert.data import parquet
from albert.util import files
from albert.util.errors import UserError

_BREAK = "-DOCSTART-"
_NAMES = {"train": ("train",), "dev": ("dev", "validation", "valid"), "test": ("test",)}
_ENDINGS = (".conll", ".txt", ".tsv", ".json", ".jsonl")
_WORD = re.compile(r"[^\W\u3400-\u9fff]+|\S")  # a Chinese character is a word


class Sentence(NamedTuple):
    """Words of a text.

    Attributes:
      words: first and last character, exclusive, of each in the text.
      tags: BIO or BIOES, one a word; None: unknown.
    """

    text: str
    words: Tuple[Tuple[int, int], ...]
    tags: Optional[Tuple[str, ...]] = None


class Entity(NamedTuple):
    """Words with one meaning; the text's characters from start to end, exclusive."""

    type: str
    text: str
    start: int
    end: int


def of_text(text: str) -> Sentence:
    """Returns the words of a text as it is written."""
    return Sentence(text, tuple(found.span() for found in _WORD.finditer(text)))


def of_words(words: Sequence[str], tags: Optional[Sequence[str]]) -> Sentence:
    """Returns words with spaces between them."""
    ends = list(itertools.accumulate(len(word) + 1 for word in words))
    spans = tuple((end - len(word) - 1, end - 1) for word, end in zip(words, ends))
    return Sentence(" ".join(words), spans, None if tags is None else tuple(tags))


def find(data_dir: str, split: str, name: Optional[str] = None) -> List[str]:
    """Returns the files of a split; raises UserError if there is none."""
    patterns = [name] if name else [f"{stem}{end}" for stem in _NAMES[split] for end in _ENDINGS]
    patterns += [] if name else [f"{stem}-*{parquet.ENDING}" for stem in _NAMES[split]]
    for pattern in patterns:
        found = parquet.parts(os.path.join(data_dir, pattern))
        if found:
            return found
    raise UserError(
        f"--data_dir={data_dir} has no {' or '.join(patterns[:3])}. Name the file with "
        f"--{split}_file."
    )


def read(path: str, *, token_column: int = 0, tag_column: int = -1) -> List[Sentence]:
    """Returns the sentences of a file.

    CoNLL: a line a word, blank lines and -DOCSTART- between sentences. JSON lines and Parquet:
    `tokens` and `tags` (or `ner_tags`), which test data may lack.

    Raises:
      UserError: a line is not as it must be; file and line are named.
    """
    if path.endswith(parquet.ENDING):
        names = parquet.label_names(path)
        rows = enumerate(parquet.read_rows(path), 1)
        return [_of_row(row, f"'{path}', row {n}", names) for n, row in rows]
    lines = files.read_text(path).split("\n")
    if path.endswith((".json", ".jsonl")):
        places = ((line, f"'{path}', line {n}") for n, line in enumerate(lines, 1) if line.strip())
        return [_of_row(files.parse_json(line, place), place, {}) for line, place in places]
    return list(_of_lines(path, lines, token_column, tag_column=tag_column))


def _of_row(row: Any, place: str, names: Any) -> Sentence:
    """The sentence of a JSON object or of a row."""
    tokens = row.get("tokens") if isinstance(row, dict) else None
    key = next((key for key in ("tags", "ner_tags") if isinstance(row, dict) and key in row), None)
    tags = key and row[key]
    if key and names.get(key):
        tags = [names[key][number] for number in tags]
    values = [*(tokens or [None]), *(tags or [])]
    if not all(isinstance(value, str) for value in values):
        raise UserError(f"{place} needs `tokens` and `tags`, two lists of texts.")
    if tags and len(tags) != len(tokens):
        raise UserError(f"{place} has {len(tokens)} tokens and {len(tags)} tags.")
    return of_words(tokens, tags)


def _of_lines(
    path: str, lines: Sequence[str], token_column: int, *, tag_column: int
) -> Iterator[Sentence]:
    """The sentences of a CoNLL file."""
    words: List[str] = []
    tags: List[str] = []
    for number, line in enumerate([*lines, ""], 1):
        cells = line.split("\t") if "\t" in line else line.split()
        if line.strip() and not line.startswith(_BREAK):
            try:
                words.append(cells[token_column])
                tags.append(cells[tag_column])
            except IndexError:
                raise UserError(
                    f"'{path}', line {number}, has {len(cells)} columns. See --token_column and "
                    "--tag_column."
                ) from None
        elif words:
            yield of_words(words, tags)
            words, tags = [], []


def entities(sentence: Sentence, tags: Sequence[str]) -> List[Entity]:
    """Returns the entities of a sentence with these tags, as seqeval reads them."""
    from seqeval.metrics import sequence_labeling

    found = []
    for kind, first, last in sequence_labeling.get_entities(list(tags)):
        start, end = sentence.words[first][0], sentence.words[last][1]
        found.append(Entity(kind, sentence.text[start:end], start, end))
    return found
