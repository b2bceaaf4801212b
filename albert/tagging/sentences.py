# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Sentences with a tag for each word, as CoNLL, JSON lines or Parquet files have them.

read("wnut/train.conll")    # [Sentence(text="He left .", words=..., tags=("O", "O", "O"))]
"""

import itertools
import os
import re
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

from albert.data import parquet
from albert.util import files
from albert.util.errors import UserError

_BREAK = "-DOCSTART-"
_NAMES = {"dev": ("dev", "valid")}  # of splits that have several
_ENDINGS = (".conll", ".txt", ".json", ".jsonl", parquet.ENDING)
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


def find(data_dir: str, split: str) -> List[str]:
    """Returns the files with a split's name in theirs; raises UserError if there is none."""
    names = _NAMES.get(split, (split,))
    paths = [path for ending in _ENDINGS for path in parquet.find(f"{data_dir}/*{ending}")]
    found = [path for path in paths if any(name in os.path.basename(path) for name in names)]
    if not found:
        raise UserError(
            f"--data_dir={data_dir} has no file *{names[0]}* that ends in {', '.join(_ENDINGS)}."
        )
    return found


def read(path: str, token_column: int = 0, tag_column: int = -1) -> List[Sentence]:
    """Returns the sentences of a file.

    CoNLL: a line a word, blank lines and -DOCSTART- between sentences. JSON lines and Parquet:
    `tokens` and `tags` (or `ner_tags`), which test data may lack.

    Raises:
      UserError: a line is not as it must be; file and line are named.
    """
    if path.endswith(parquet.ENDING):
        names = parquet.label_names(path).get("ner_tags", ())
        rows = enumerate(parquet.read_rows(path), 1)
        return [_of_row(row, f"'{path}', row {number}", names) for number, row in rows]
    lines = enumerate([*files.read_text(path).split("\n"), ""], 1)
    if path.endswith((".json", ".jsonl")):
        places = {f"'{path}', line {number}": line for number, line in lines if line.strip()}
        return [_of_row(files.parse_json(line, place), place) for place, line in places.items()]
    found = []
    words: List[str] = []
    tags: List[str] = []
    for number, line in lines:
        cells = line.split()
        if cells and cells[0] != _BREAK:
            try:
                words.append(cells[token_column])
                tags.append(cells[tag_column])
            except IndexError:
                raise UserError(
                    f"'{path}', line {number}, has {len(cells)} columns. See --token_column and "
                    "--tag_column."
                ) from None
        elif words:
            found.append(of_words(words, tags))
            words, tags = [], []
    return found


def _of_row(row: Any, place: str, names: Sequence[str] = ()) -> Sentence:
    """The sentence of a JSON object or of a row."""
    files.check_types(row, {"tokens": list}, place)
    tokens, tags = row["tokens"], row.get("tags", row.get("ner_tags"))
    if tags is not None and len(tags) != len(tokens):
        raise UserError(f"{place} has {len(tokens)} tokens and {len(tags)} tags.")
    return of_words(tokens, tags and [names[tag] if names else tag for tag in tags])


def entities(sentence: Sentence, tags: Sequence[str]) -> List[Entity]:
    """Returns the entities of a sentence with these tags, as seqeval reads them."""
    from seqeval.metrics import sequence_labeling

    found = []
    for kind, first, last in sequence_labeling.get_entities(list(tags)):
        start, end = sentence.words[first][0], sentence.words[last][1]
        found.append(Entity(kind, sentence.text[start:end], start, end))
    return found
