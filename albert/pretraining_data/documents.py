# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Documents from text files: whole files, byte ranges of them, and blocks for the workers.

    for document in read_documents(["corpus/part-1.jsonl.gz"]):
        document.path, document.first_line, document.text  # bytes: its lines, joined by newlines

The name of a file tells its format, and `.gz` at its end that it is compressed:

* `.jsonl` and `.json`: one JSON object a line, which is one document. Its text is in a field.
* any other name: plain text, a blank line (white space only) between documents. The end of the file
  ends a document.

A line of the text is a sentence, or a paragraph that is split later. Files are UTF-8, with or
without a byte order mark; only "\\n" ends a line, and white space around a line does not count. A
document longer than 256 KiB comes in parts of about that size, which have the same `source`. Memory
holds a part of a document (with JSON, its longest line).
"""

import codecs
import gzip
import hashlib
import itertools
import os
import re
import sys
import zlib
from typing import Any, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.pretraining_data.flags import TEXT_FIELD, DataFlags
from albert.util import files, json_files, parallel
from albert.util.errors import UserError

DOCUMENT_BYTES = 1 << 18  # a longer document comes in parts
BLOCK_BYTES = 1 << 17  # documents are added to a block until it has these

_MEGABYTE = 1 << 20
_JSON_NAME = re.compile(r"\.jsonl?(\.gz)?\Z", re.IGNORECASE)
# The names of text files in a folder: these endings, or .gz alone.
_TEXT_NAME = re.compile(r"(.*\.(txt|jsonl?)(\.gz)?|[^.]*\.gz)\Z", re.IGNORECASE | re.DOTALL)

# A line: its number from 1 (0: not known), its byte offset in the text of the file, its bytes.
Line = Tuple[int, int, bytes]
# The bytes [start, end) of a file; a compressed file is one range.
TextRange = Tuple[str, int, int]


class RawDocument(NamedTuple):
    """A document, or a part of a long one, as bytes."""

    part: int  # 0, or which later part of a long document it is
    path: str
    first_line: int  # number of its first line, from 1; 0 if it was read by range
    offset: int  # bytes of text in the file before its first line
    text: bytes  # its lines, joined by newlines
    bad: str = ""  # what is wrong with a bad line of a JSON file; the document has no text
    source: int = 0  # the same for all parts of a long document

    @property
    def key(self) -> int:
        """A number below 2^63 that names it: the key of its random numbers.

        It follows from the file's name without folders, the place in the file and the text. So a
        machine that reads a byte range finds the same key as one that reads everything, and moved
        files keep theirs. The text alone would give equal documents the same masks.
        """
        position = f"{os.path.basename(self.path)}\n{self.offset}\n{self.part}\n"
        digest = hashlib.sha256(position.encode("utf-8") + self.text).digest()
        return int.from_bytes(digest[:8], "big") >> 1

    @property
    def place(self) -> str:
        """Where it begins, for messages."""
        where = f"line {self.first_line}" if self.first_line else f"byte {self.offset}"
        return f"'{self.path}', {where}"

    @property
    def is_counted(self) -> bool:
        """Whether it is a document of its own, not a later part of one or a bad line."""
        return self.part == 0 and not self.bad


class TextBlock(NamedTuple):
    """What a worker treats at a time."""

    documents: Sequence[RawDocument]
    # A document of another source, if that was asked for and the block has one source only.
    neighbour: Optional[RawDocument] = None
    number: int = 0
    window: int = 0  # of the shuffle

    @property
    def bytes(self) -> int:
        """The size of its text."""
        return sum(len(document.text) for document in self.documents)


# ----------------------------------------------------------------------------------------- reading


def read_documents(
    paths: Sequence[str], *, text_field: str = TEXT_FIELD, keeps_bad: bool = False
) -> Iterator[RawDocument]:
    """Yields the documents of text files in their order, with the numbers of lines and sources.

    Args:
      text_field: the field of a JSON object that holds the text.
      keeps_bad: a line of a JSON file that holds no document is yielded as `bad`, not raised.

    Raises:
      ValueError: such a line; a damaged compressed file.
    """
    source = -1
    for path in paths:
        with files.open_to_read(path) as stream:
            documents = read_range(whole(path), stream, text_field=text_field, keeps_bad=keeps_bad)
            for document in documents:
                source += document.is_counted
                yield document._replace(source=max(source, 0))


def whole(path: str) -> TextRange:
    """Returns the range of a whole file."""
    return path, 0, sys.maxsize


def split(path: str, size: int, range_bytes: int) -> List[TextRange]:
    """Returns the ranges of a file of `size` bytes."""
    if is_compressed(path):
        return [whole(path)]
    return [(path, start, start + range_bytes) for start in range(0, size, range_bytes)]


def read_range(
    text_range: TextRange, stream: Any, *, text_field: str = TEXT_FIELD, keeps_bad: bool = True
) -> Iterator[RawDocument]:
    """Yields the documents of a range, so that many machines can read one large file together.

    Each document belongs to one range: the range where its JSON line starts or, in plain text,
    where the blank line before it starts (for the first document: the first range). Its end may lie
    behind the range. Line numbers are unknown, except in the first range of a file. All documents
    have source 0.

    `stream` is the file, open at its start; the rest and errors are those of `read_documents`.
    """
    path, lines = text_range[0], _lines_of(text_range, stream)
    if not is_json(path):
        for is_blank, group in itertools.groupby(lines, lambda line: _is_blank(line[2])):
            yield from () if is_blank else _parts(path, group)
        return
    for number, offset, line in lines:
        if _is_blank(line):
            continue
        try:
            row = json_files.parse_data(line.decode("utf-8"), "The line", {text_field: str})
        except ValueError as error:  # also of bytes that are not UTF-8
            bad = RawDocument(0, path, number, offset, b"", str(error))
            if not keeps_bad:
                raise UserError(
                    f"{bad.place}: {error} --text_field={text_field} names the text. To drop bad "
                    "lines, add --input_file_mode=rb."
                ) from error
            yield bad
            continue
        lines_of_text = row[text_field].encode("utf-8").split(b"\n")
        with_text = [text for text in lines_of_text if not _is_blank(text)]
        # A document without text is counted as one.
        yield from _parts(path, ((number, offset, text) for text in with_text or [b""]))


def _lines_of(text_range: TextRange, stream: Any) -> Iterator[Line]:
    """The lines of the documents that belong to the range, and blank ones."""
    path, start, end = text_range
    has_documents = is_json(path)  # in single lines
    has_begun = start == 0 or has_documents
    for number, (offset, line) in enumerate(_lines(stream, path, start), 1):
        if offset >= end and (not has_begun or has_documents or _is_blank(line)):
            return
        has_begun = has_begun or _is_blank(line)
        if has_begun:
            yield 0 if start else number, offset, line


def _parts(path: str, lines: Iterable[Line]) -> Iterator[RawDocument]:
    """The document with these lines, in parts of about DOCUMENT_BYTES."""
    collected: List[bytes] = []
    part = size = 0
    first = (0, 0)
    for number, offset, line in lines:
        first = first if collected else (number, offset)
        collected.append(line)
        size += len(line) + 1
        if size >= DOCUMENT_BYTES:
            yield RawDocument(part, path, *first, b"\n".join(collected))
            part += 1
            collected, size = [], 0
    if collected:
        yield RawDocument(part, path, *first, b"\n".join(collected))


def is_json(path: str) -> bool:
    """Returns whether a file's name says that it holds JSON lines."""
    return bool(_JSON_NAME.search(path))


def is_text(path: str) -> bool:
    """Returns whether a file's name has the ending of a text."""
    return bool(_TEXT_NAME.match(os.path.basename(path)))


def is_compressed(path: str) -> bool:
    """Returns whether a file's name says that it is compressed."""
    return files.ending(path) == ".gz"


def _lines(stream: Any, path: str, start: int) -> Iterator[Tuple[int, bytes]]:
    """The lines that begin at byte `start` or later, with their offsets and without newlines."""
    offset = max(start - 1, 0)  # the newline before `start` shows whether a line begins there
    stream.seek(offset)
    for line in _unpacked(stream, path):
        if offset == 0:
            files.check_line_ends(line, path)
        if offset >= start:
            has_mark = offset == 0 and line.startswith(codecs.BOM_UTF8)
            yield offset, line[len(codecs.BOM_UTF8) * has_mark :].rstrip(b"\n")
        offset += len(line)


def _unpacked(stream: Any, path: str) -> Iterator[bytes]:
    """The lines of a file, decompressed."""
    if not is_compressed(path):
        yield from stream
        return
    try:
        yield from gzip.GzipFile(fileobj=stream)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(
            f"'{path}' is damaged or not a gzip file ({error}). Copy it again."
        ) from error


def _is_blank(line: bytes) -> bool:
    """Whether a line is white space only, also Unicode's; bad UTF-8 is not."""
    if not line or line.isspace():
        return True
    if 0x20 < line[0] <= 0x7F:  # the usual case, without decoding
        return False
    # Files that were joined one after another hold byte order marks in the middle.
    return not line.decode("utf-8", "replace").strip().strip("\ufeff")


# ------------------------------------------------------------------------------------------ blocks


def read_blocks(paths: Sequence[str], flags: DataFlags) -> Iterator[TextBlock]:
    """Yields the text as blocks of whole documents, or parts of long ones.

    A block that has text of one document only gets a neighbour with random_next_sentence.

    Raises:
      ValueError: as read_documents; random_next_sentence and a single document.
    """
    keeps_bad = flags.input_file_mode == "rb"
    text = read_documents(paths, text_field=flags.text_field, keeps_bad=keeps_bad)
    window_bytes = flags.shuffle_window_mb * _MEGABYTE
    done = 0
    last: Optional[RawDocument] = None
    other: Optional[RawDocument] = None  # the last one of another source than `last`
    for number, documents in enumerate(grouped(text)):
        for document in documents:
            if last and last.source != document.source:
                other = last
            last = document
        neighbour = None
        if flags.random_next_sentence and documents[0].source == last.source:
            neighbour = other or _next_document(paths, last.source, flags.text_field)
        block = TextBlock(documents, neighbour, number, done // window_bytes)
        yield block
        done += block.bytes


def grouped(documents: Iterable[RawDocument]) -> Iterator[List[RawDocument]]:
    """Yields documents in groups of about BLOCK_BYTES, or of that many without text."""
    group: List[RawDocument] = []
    size = 0
    for document in documents:
        group.append(document)
        size += len(document.text)
        if max(size, len(group)) >= BLOCK_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _next_document(paths: Sequence[str], source: int, text_field: str) -> RawDocument:
    """The first document of another source."""
    for document in read_documents(paths, text_field=text_field, keeps_bad=True):
        if document.source != source and not document.bad:
            return document
    raise UserError(
        "--random_next_sentence needs two documents, and the input has one (a blank line "
        "separates documents). Use --norandom_next_sentence."
    )


def decode_lines(document: RawDocument, mode: str) -> Tuple[List[str], int]:
    """Returns the lines of a document as text, and how many were not UTF-8.

    The mode decides what happens to a line that is not UTF-8. "r": ValueError with file and line;
    "rb": its bad bytes are dropped; "lines": the line is dropped.
    """
    lines, bad = [], 0
    for number, line in enumerate(document.text.split(b"\n"), start=document.first_line):
        try:
            lines.append(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            if mode == "r":
                raise UserError(
                    f"'{document.path}', line {number} is not UTF-8: {line[:60]!r}. Convert the "
                    "file, or drop the bad bytes by --input_file_mode=rb."
                ) from error
            bad += 1
            if mode == "rb":
                lines.append(line.decode("utf-8", "ignore"))
    return lines, bad


# ----------------------------------------------------------------------------------------- finding


def find_files(patterns: str, flag_name: str, *, but: Sequence[str] = ()) -> List[str]:
    """Returns the text files that names, patterns and folders stand for, sorted, each once.

    In a folder and below it these are the files named .txt, .jsonl or .json, or these with .gz, or
    .gz alone; hidden files and records (files with a sidecar) are left out.

    Args:
      patterns: with commas between them. A file under exactly that name is taken as it is.
      flag_name: the flag that messages name.
      but: files that are not taken from folders, such as outputs and vocabularies.

    Raises:
      ValueError: no pattern, one that matches nothing, or a folder without text files.
    """
    paths = set()
    is_folder = tf.io.gfile.isdir
    for part in files.split_paths(patterns) or [""]:
        named = [part] if is_folder(part) else files.expand_patterns(part, flag_name)
        for path, is_directory in zip(
            named, parallel.in_threads(is_folder, named, "Looking at the text")
        ):
            paths.update(_below(path, flag_name, but) if is_directory else [path])
    # If a path has two spellings, keep the first.
    return sorted({os.path.abspath(path): path for path in sorted(paths, reverse=True)}.values())


def _below(folder: str, flag_name: str, but: Sequence[str]) -> List[str]:
    """The text files in a folder and below it."""
    excluded = set(map(os.path.abspath, but))
    paths = []
    with files.naming_odd_names(f"--{flag_name}: '{folder}'"):
        walked = list(tf.io.gfile.walk(folder))
    for parent, _, names in walked:
        present = set(names)
        for name in filter(_TEXT_NAME.match, names):
            path = os.path.join(parent, name)
            is_hidden = "/." in path[len(folder) - 1 :]  # or in a hidden folder
            is_record = record_files.sidecar_path(name) in present
            if not (is_hidden or is_record or os.path.abspath(path) in excluded):
                paths.append(path)
    if not paths:
        raise UserError(
            f"--{flag_name}: no file in '{folder}' or below it ends in .txt, .jsonl, .json or .gz. "
            "Name other files by a pattern."
        )
    return paths
