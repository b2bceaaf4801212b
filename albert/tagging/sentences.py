# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads sentences with a tag for each word from CoNLL, JSON lines or Parquet files.

read("wnut/train.conll")    # [Sentence("He left .", ("He", "left", "."), ("O", "O", "O"))]
"""

import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from albert.data import parquet
from albert.tagging import schemes
from albert.util import files, json_files
from albert.util.errors import UserError

_BREAK = "-DOCSTART-"
_JSON = (".json", ".jsonl")
_ENDINGS = (".conll", ".txt", *_JSON, parquet.ENDING)
_WORD = re.compile(r"[^\W\u3400-\u9fff]+|\S")  # a Chinese character is a word


class Sentence(NamedTuple):
    """Words of a text, in order; one BIO or BIOES tag a word, or None."""

    text: str
    words: Sequence[str]
    tags: Optional[Sequence[str]] = None


def of_text(text: str) -> Sentence:
    """Returns the words of a text as it is written."""
    return Sentence(text, _WORD.findall(text))


def of_words(words: Sequence[str], tags: Optional[Sequence[str]] = None) -> Sentence:
    """Returns words with spaces between them."""
    return Sentence(" ".join(words), words, tags)


def find(data_dir: str, split: str) -> List[str]:
    """Returns the files whose names contain a split's name; raises UserError for none."""
    names = ("dev", "valid") if split == "dev" else (split,)
    near = [path for name in names for path in parquet.find(f"{data_dir}/*{name}*")]
    found = [path for path in near if path.endswith(_ENDINGS)]
    if not found:
        raise UserError(f"--data_dir={data_dir} has no *{split}* file that ends in {_ENDINGS}.")
    return found


def read(
    path: str, token_column: int = 0, tag_column: int = -1, *, needs_tags: bool = False
) -> List[Sentence]:
    """Returns the sentences of a file.

    CoNLL: a line a word, blank lines and -DOCSTART- between sentences. JSON lines and Parquet:
    `tokens` and `tags` (or `ner_tags`), which test data may lack.

    Raises:
      UserError: a line is not as it must be, or a word has no tag where `needs_tags`.
    """
    if path.endswith(parquet.ENDING):
        names = parquet.label_names(path).get("ner_tags")
        rows = enumerate(parquet.read_rows(path), 1)
        found = [_of_row(row, f"'{path}', row {number}", names) for number, row in rows]
    elif path.endswith(_JSON):
        lines = enumerate(files.read_text(path).split("\n"), 1)
        places = ((f"'{path}', line {number}", line) for number, line in lines if line.strip())
        found = [_of_row(json_files.parse_data(line, place), place) for place, line in places]
    else:
        found = _of_conll(path, token_column, tag_column)
    for sentence in found:
        if needs_tags and (sentence.tags is None or "" in sentence.tags):
            raise UserError(
                f"'{path}': in {sentence.text[:60]!r} a word has no tag. See --tag_column."
            )
    return found


def _of_conll(path: str, token_column: int, tag_column: int) -> List[Sentence]:
    """The sentences of CoNLL; the tag of a line without its own column is ""."""
    found: List[Sentence] = []
    words: List[Any] = []
    for number, line in enumerate([*files.read_text(path).split("\n"), ""], 1):
        cells = [cell.strip() for cell in line.split("\t" if "\t" in line else None)]
        if not any(cells) or cells[0] == _BREAK:
            found += [of_words(*zip(*words))] if words else []
            words = []
        elif len(cells) > max(token_column, tag_column):
            has_tag = (tag_column - token_column) % len(cells)
            words.append((cells[token_column], cells[tag_column] if has_tag else ""))
        else:
            raise UserError(
                f"'{path}', line {number}, has {len(cells)} columns. See --token_column and "
                "--tag_column."
            )
    return found


def _of_row(row: Any, place: str, names: Optional[Sequence[str]] = None) -> Sentence:
    """The sentence of a JSON object or of a row, whose tags are numbers of `names` or texts."""
    types = [int if names else str], None
    json_files.check(row, {"tokens": [str], "tags": types, "ner_tags": types}, place)
    tokens, tags = row["tokens"], row.get("tags", row.get("ner_tags"))
    if any(re.search(r"^\s*$|[\t\r\n]", token) for token in tokens):
        raise UserError(f"{place}: a token is empty, or has a tab or line break.")
    if tags is not None and len(tags) != len(tokens):
        raise UserError(f"{place} has {len(tokens)} tokens and {len(tags)} tags.")
    return of_words(tokens, [names[tag] for tag in tags] if tags and names else tags)


def spans(
    text: str, words: Sequence[str], entities: Sequence[schemes.Entity]
) -> List[Dict[str, Any]]:
    """Returns type, text, and first and last character (exclusive) of the entities of a text."""
    starts, end = [], 0
    for word in words:
        starts.append(text.index(word, end))
        end = starts[-1] + len(word)
    found = []
    for kind, first, last in entities:
        start, end = starts[first], starts[last] + len(words[last])
        found.append({"type": kind, "text": text[start:end], "start": start, "end": end})
    return found
