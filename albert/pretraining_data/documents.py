# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads documents from text files: whole files, byte ranges of files, and blocks for workers.

    for document in read_documents(["corpus/part-1.jsonl.gz"]):
        document.path, document.first_line, document.text  # bytes: lines, joined by newlines

The name of a file tells its format:

* `.jsonl` and `.json`: each line is a JSON object and holds one document. A field has the text.
* Any other name: plain text. Blank lines (only white space) separate documents. The end of the file
  ends the last document.

If the name ends in `.gz`, the file is compressed.

Each line of the text is a sentence, or a paragraph that is split later. Files are UTF-8, with or
without a byte order mark. Only "\\n" ends a line. White space around a line is ignored. A document
longer than 256 KiB comes in parts of about that size with the same `source`. A reader holds one
part in memory (for JSON, one line of the file).
"""

import codecs
import gzip
import hashlib
import itertools
import os
import re
import sys
import zlib
from typing import (
    Any,
    Container,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from albert.data import record_files
from albert.pretraining_data.flags import TEXT_FIELD, DataFlags
from albert.util import UserError, files, json_files, parallel

DOCUMENT_BYTES = 1 << 18  # a longer document comes in parts
BLOCK_BYTES = 1 << 17  # documents are added to a block until it has this size

_MEGABYTE = 1 << 20
_JSON_NAME = re.compile(r"\.jsonl?(\.gz)?\Z", re.IGNORECASE)
# The text files in a folder have one of these endings, or .gz alone.
_TEXT_NAME = re.compile(r"(.*\.(txt|jsonl?)(\.gz)?|[^.]*\.gz)\Z", re.IGNORECASE | re.DOTALL)

# (number from 1, or 0 if unknown; byte offset in the decompressed file; content without newline)
TextLine = Tuple[int, int, bytes]
# (path, start, end): the bytes [start, end) of a file; a compressed file is one range.
TextRange = Tuple[str, int, int]


class RawDocument(NamedTuple):
    """A document, or a part of a long one, as bytes."""

    part: int  # the number of this part, from 0
    path: str
    first_line: int  # number of the first line, from 1; 0 if unknown
    offset: int  # byte offset of the first line in the decompressed file
    text: bytes  # lines, joined by newlines
    error: str = ""  # why a line of a JSON file holds no document; `text` is empty
    source: int = 0  # the same for all parts of a long document

    @property
    def key(self) -> int:
        """A number below 2^63, the key of the document's random numbers.

        It depends on the file's name without folders, the offset, the part and the text. So a
        machine that reads a byte range computes the same key as a machine that reads the whole
        file, and moved files keep their keys. The offset gives equal texts different masks.
        """
        position = f"{os.path.basename(self.path)}\n{self.offset}\n{self.part}\n"
        digest = hashlib.sha256(position.encode("utf-8") + self.text).digest()
        return int.from_bytes(digest[:8], "big") >> 1

    @property
    def location(self) -> str:
        """The path and the first line or byte, for messages."""
        position = f"line {self.first_line}" if self.first_line else f"byte {self.offset}"
        return f"'{self.path}', {position}"

    @property
    def is_counted(self) -> bool:
        """Whether to count it as a document: no bad line, and no later part of a document."""
        return self.part == 0 and not self.error


class TextBlock(NamedTuple):
    """The documents that a worker processes together."""

    documents: Sequence[RawDocument]
    # With random_next_sentence: a document of another source, if all documents have the same one.
    neighbour: Optional[RawDocument] = None
    number: int = 0
    window: int = 0  # number of the shuffle window

    @property
    def bytes(self) -> int:
        """The size of the text in bytes."""
        return sum(len(document.text) for document in self.documents)


# ----------------------------------------------------------------------------------------- reading


def read_documents(
    paths: Sequence[str], *, text_field: str = TEXT_FIELD, keeps_bad: bool = False
) -> Iterator[RawDocument]:
    """Yields the documents of text files in order, with line numbers and sources.

    Args:
      text_field: the field of a JSON object that holds the text.
      keeps_bad: yield a document with an `error` for each bad line of a JSON file; do not raise.

    Raises:
      UserError: a line of a JSON file holds no document, or a compressed file is damaged.
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
    """Returns the ranges, of `range_bytes` each, of a file of `size` bytes."""
    if is_compressed(path):
        return [whole(path)]
    return [(path, start, start + range_bytes) for start in range(0, size, range_bytes)]


def read_range(
    text_range: TextRange, stream: Any, *, text_field: str = TEXT_FIELD, keeps_bad: bool = True
) -> Iterator[RawDocument]:
    """Yields the documents of a range, so that many machines can read one large file together.

    Each document belongs to one range: the range where its JSON line starts or, in plain text,
    where the blank line before it starts (for the first document: the first range). A document may
    end after its range. Line numbers are unknown, except in the first range of a file. All
    documents have source 0.

    `stream` is the file, open at its start. See `read_documents` for the other arguments and the
    errors.
    """
    path, lines = text_range[0], _lines_of(text_range, stream)
    if not is_json(path):
        for is_blank, group in itertools.groupby(lines, lambda line: _is_blank(line[2])):
            if not is_blank:
                yield from _parts(path, group)
        return
    for number, offset, line in lines:
        if _is_blank(line):
            continue
        try:
            row = json_files.parse_data(line.decode("utf-8"), "The line", {text_field: str})
        except ValueError as error:  # not JSON with the field, or not UTF-8
            bad_line = RawDocument(0, path, number, offset, b"", str(error))
            if not keeps_bad:
                raise UserError(
                    f"{bad_line.location}: {error} --text_field={text_field} names the text. To "
                    "drop bad lines, add --input_file_mode=rb."
                ) from error
            yield bad_line
            continue
        text_lines = row[text_field].encode("utf-8").split(b"\n")
        text_lines = [line for line in text_lines if not _is_blank(line)]
        # A document without text gets an empty line, so that it is counted.
        yield from _parts(path, ((number, offset, line) for line in text_lines or [b""]))


def _lines_of(text_range: TextRange, stream: Any) -> Iterator[TextLine]:
    """Yields the lines of the documents that belong to the range, and blank lines."""
    path, start, end = text_range
    line_is_document = is_json(path)
    has_begun = start == 0 or line_is_document
    for number, (offset, line) in enumerate(_lines(stream, path, start), 1):
        if offset >= end and (not has_begun or line_is_document or _is_blank(line)):
            return
        has_begun = has_begun or _is_blank(line)
        if has_begun:
            yield 0 if start else number, offset, line


def _parts(path: str, lines: Iterable[TextLine]) -> Iterator[RawDocument]:
    """Yields the document with these lines, in parts of about DOCUMENT_BYTES."""
    texts: List[bytes] = []
    part = size = 0
    start = (0, 0)
    for number, offset, text in lines:
        if not texts:
            start = (number, offset)
        texts.append(text)
        size += len(text) + 1
        if size >= DOCUMENT_BYTES:
            yield RawDocument(part, path, *start, b"\n".join(texts))
            part += 1
            texts, size = [], 0
    if texts:
        yield RawDocument(part, path, *start, b"\n".join(texts))


def is_json(path: str) -> bool:
    """Returns whether a file is JSON lines, by its name."""
    return bool(_JSON_NAME.search(path))


def is_text(path: str) -> bool:
    """Returns whether a file is text, by the ending of its name."""
    return bool(_TEXT_NAME.match(os.path.basename(path)))


def is_compressed(path: str) -> bool:
    """Returns whether a file is compressed, by its name."""
    return files.ending(path) == ".gz"


def _lines(stream: Any, path: str, start: int) -> Iterator[Tuple[int, bytes]]:
    """Yields (offset, line without newline) for the lines that begin at byte `start` or later."""
    offset = max(start - 1, 0)  # a line begins at `start` if the byte before it is a newline
    stream.seek(offset)
    for line in _unpacked(stream, path):
        length = len(line)
        if offset == 0:
            files.check_line_ends(line, path)
            if line.startswith(codecs.BOM_UTF8):
                line = line[len(codecs.BOM_UTF8) :]
        if offset >= start:
            yield offset, line.rstrip(b"\n")
        offset += length


def _unpacked(stream: Any, path: str) -> Iterator[bytes]:
    """Yields the lines of a file, decompressed."""
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
    """Whether a line has only white space (ASCII or Unicode). Bad UTF-8 is not blank."""
    if not line or line.isspace():
        return True
    if 0x20 < line[0] <= 0x7F:  # the usual case, which needs no decoding
        return False
    # Concatenated files have byte order marks in the middle.
    return not line.decode("utf-8", "replace").strip().strip("\ufeff")


# ------------------------------------------------------------------------------------------ blocks


def read_blocks(paths: Sequence[str], flags: DataFlags) -> Iterator[TextBlock]:
    """Yields the text as blocks of documents, or parts of long documents.

    With random_next_sentence, a block with text of only one document gets a neighbour.

    Raises:
      UserError: see read_documents; or the input is one document, with random_next_sentence.
    """
    text = read_documents(
        paths, text_field=flags.text_field, keeps_bad=flags.input_file_mode == "rb"
    )
    window_bytes = flags.shuffle_window_mb * _MEGABYTE
    position = 0  # bytes of text in the blocks before
    last: Optional[RawDocument] = None
    previous: Optional[RawDocument] = None  # the last document of a source other than last.source
    for number, documents in enumerate(grouped(text)):
        for document in documents:
            if last and last.source != document.source:
                previous = last
            last = document
        neighbour = None
        if flags.random_next_sentence and documents[0].source == last.source:
            neighbour = previous or _next_document(paths, last.source, flags.text_field)
        block = TextBlock(documents, neighbour, number, position // window_bytes)
        yield block
        position += block.bytes


def grouped(documents: Iterable[RawDocument]) -> Iterator[List[RawDocument]]:
    """Yields documents in groups of about BLOCK_BYTES, or at most BLOCK_BYTES empty documents."""
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
    """Returns the first document of another source than `source`."""
    for document in read_documents(paths, text_field=text_field, keeps_bad=True):
        if document.source != source and not document.error:
            return document
    raise UserError(
        "--random_next_sentence needs two documents, and the input has one (a blank line "
        "separates documents). Use --norandom_next_sentence."
    )


def decode_lines(document: RawDocument, mode: str) -> Tuple[List[str], int]:
    """Returns the decoded lines of a document, and the number of lines that are not UTF-8.

    `mode` says what to do if a line is not UTF-8. "r": raise UserError with file and line; "rb":
    drop the bad bytes; "lines": drop the line.
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


def find_text_files(patterns: str, *, excluded: Sequence[str] = ()) -> List[str]:
    """Returns the sorted paths of text files, without duplicates.

    In folders, including subfolders, text files end in .txt, .jsonl or .json, with or without .gz,
    or have no other ending than .gz. Hidden files and record files (with a sidecar) do not count.

    Args:
      patterns: comma-separated paths, patterns and folders. An existing path is not a pattern.
      excluded: files in folders to leave out, such as outputs and vocabularies.

    Raises:
      UserError: there is no pattern, a pattern matches nothing, or a folder has no text files.
    """
    paths: Set[str] = set()
    excluded_paths = set(map(os.path.abspath, excluded))
    for pattern in files.split_paths(patterns) or [""]:
        matches = [pattern]
        if not files.is_folder(pattern):
            matches = files.expand_patterns(pattern, "input_file")
        are_folders = parallel.in_threads(files.is_folder, matches, "Looking at the text")
        for path, is_folder in zip(matches, are_folders):
            text_files = list(_below(path, excluded_paths)) if is_folder else [path]
            if not text_files:
                raise UserError(
                    f"--input_file: no file in '{path}' or below it ends in .txt, .jsonl, .json "
                    "or .gz. Name other files by a pattern."
                )
            paths.update(text_files)
    # If a path has two spellings, keep the first.
    return sorted({os.path.abspath(path): path for path in sorted(paths, reverse=True)}.values())


def _below(folder: str, excluded: Container[str]) -> Iterator[str]:
    """Yields the text files in a folder and its subfolders."""
    names = dict.fromkeys(files.names_in(folder))
    for name in names:
        path = os.path.join(folder, name)
        if name.startswith(".") or record_files.sidecar_path(name) in names:
            continue
        if files.is_folder(path):
            yield from _below(path, excluded)
        elif is_text(name) and os.path.abspath(path) not in excluded:
            yield path
