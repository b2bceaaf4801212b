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

import gzip
import itertools
import json
import os
import re
import zlib
from typing import (
    Any,
    BinaryIO,
    Callable,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.pretraining.settings import TEXT_FIELD, DataSettings
from albert.util import files, many_files, wording
from albert.util.errors import UserError

DOCUMENT_BYTES = 1 << 18  # a longer document comes in parts
BLOCK_BYTES = 1 << 17  # documents are added to a block until it has these
MOST_EMPTY = 1 << 12  # or so many without text, which take memory all the same

_MEGABYTE = 1 << 20
_LONGEST_LINE_BYTES = 1 << 26
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_JSON_NAME = re.compile(r"\.jsonl?(\.gz)?\Z", re.IGNORECASE)
# Of files that are read from a folder: these endings, or .gz alone.
_TEXT_NAME = re.compile(r"(.*\.(txt|jsonl?)(\.gz)?|[^.]*\.gz)\Z", re.IGNORECASE | re.DOTALL)
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")  # JSON's escapes can write half of a character

# A line with its number, or with its byte offset in the file (compressed: in the text).
Line = Tuple[int, bytes]


class RawDocument(NamedTuple):
    """A document, or a part of a long one, as bytes."""

    index: int  # type: ignore[assignment]  # in the file or corpus; parts count one by one
    source: int  # the same for all parts of a long document
    part: int  # 0, or which later part of a long document it is
    path: str
    first_line: int  # the number of its first line, from 1; read by range: the line's byte offset
    text: bytes  # its lines, joined by newlines


class BadLine(NamedTuple):
    """A line of a JSON file that holds no document."""

    path: str
    line: int  # as RawDocument.first_line
    reason: str
    content: bytes


OnBadLine = Callable[[BadLine], None]


def raise_bad_line(bad: BadLine) -> None:
    """Raises ValueError: the default treatment of a bad line."""
    raise UserError(
        f"'{bad.path}', line {bad.line} {bad.reason}: {bad.content[:60]!r}. Repair the line, or "
        "let bad lines be dropped and counted by --input_file_mode=rb."
    )


class TextRange(NamedTuple):
    """The bytes [start, end) of a file; end is -1 for a compressed file, which is read whole."""

    path: str
    start: int
    end: int


class TextBlock(NamedTuple):
    """What a worker treats at a time."""

    number: int
    window: int  # of the shuffle
    bytes: int
    documents: Tuple[RawDocument, ...]
    # A document of another source, if that was asked for and the block has one source only.
    neighbour: Optional[RawDocument] = None


# ----------------------------------------------------------------------------------------- reading


def read_documents(
    paths: Sequence[str],
    *,
    text_field: str = TEXT_FIELD,
    on_bad_line: OnBadLine = raise_bad_line,
) -> Iterator[RawDocument]:
    """Yields the documents of text files in their order, numbered through all.

    Args:
      text_field: the field of a JSON object that holds the text.
      on_bad_line: called with each line of a JSON file that holds no document. If it returns, the
        line is left out.

    Raises:
      ValueError: a bad line, unless on_bad_line does otherwise; a line that is too long; a damaged
        compressed file.
    """
    index = source = -1
    for path in paths:
        with files.open_to_read(path) as stream:
            lines = enumerate((line for _, line in _lines(stream, path)), start=1)
            for document in _documents(path, lines, text_field=text_field, on_bad_line=on_bad_line):
                index += 1
                source += document.part == 0
                yield document._replace(index=index, source=source)


def split(path: str, size: int, range_bytes: int) -> List[TextRange]:
    """Returns the ranges of a file of `size` bytes; none for an empty one."""
    if is_compressed(path):
        return [TextRange(path, 0, -1)] if size else []
    starts = range(0, size, range_bytes)
    return [TextRange(path, start, min(start + range_bytes, size)) for start in starts]


def read_range(
    one: TextRange,
    stream: BinaryIO,
    *,
    text_field: str = TEXT_FIELD,
    on_bad_line: OnBadLine = raise_bad_line,
) -> Iterator[RawDocument]:
    """Yields the documents of a range, so that many machines read one large file together.

    A document belongs to exactly one range, and which one follows from the file alone: in plain
    text to that in which the last blank line before it begins (the first document: to the first
    range), in JSON lines to that in which its own line begins. Reading continues behind the end of
    a range until the last of its documents is whole. Lines are known by their byte offset, because
    a reader in the middle of a file cannot know their number; documents are not numbered.

    Arguments and errors are those of `read_documents`; `stream` is the file, open at its start.
    """
    lines = _lines_of(one, _lines(stream, one.path, one.start))
    return _documents(one.path, lines, text_field=text_field, on_bad_line=on_bad_line)


def _lines_of(one: TextRange, lines: Iterable[Line]) -> Iterator[Line]:
    """The lines of the documents that belong to the range, and blank ones."""
    has_documents = is_json(one.path)  # in single lines
    has_begun = one.start == 0 or has_documents
    for offset, line in lines:
        is_border = has_documents or _is_blank(line)
        if 0 <= one.end <= offset and (is_border or not has_begun):
            return
        has_begun = has_begun or is_border
        if has_begun:
            yield offset, line


def _documents(
    path: str, lines: Iterable[Line], *, text_field: str, on_bad_line: OnBadLine
) -> Iterator[RawDocument]:
    """The documents in lines of a file, all with index and source 0."""
    if is_json(path):
        texts = _json_lines(path, lines, text_field=text_field, on_bad_line=on_bad_line)
    else:
        texts = ((number, None if _is_blank(line) else line) for number, line in lines)
    collected: List[bytes] = []
    size = first = part = 0
    for number, line in itertools.chain(texts, [(0, None)]):
        if line is not None:
            first = first if collected else number
            collected.append(line)
            size += len(line) + 1
        if collected and (line is None or size >= DOCUMENT_BYTES):
            yield RawDocument(0, 0, part, path, first, b"\n".join(collected))
            part += 1
            collected, size = [], 0
        if line is None:
            part = 0


def is_json(path: str) -> bool:
    """Returns whether a file's name says that it holds JSON lines."""
    return bool(_JSON_NAME.search(path))


def is_compressed(path: str) -> bool:
    """Returns whether a file's name says that it is compressed."""
    return path.lower().endswith(".gz")


def _json_lines(
    path: str, lines: Iterable[Line], *, text_field: str, on_bad_line: OnBadLine
) -> Iterator[Tuple[int, Optional[bytes]]]:
    """The lines of the documents in a JSON file, with the numbers of the documents' own lines.

    None ends a document.
    """
    for number, content in lines:
        if _is_blank(content):
            continue
        try:
            text = _HALF_CHARACTER.sub("\ufffd", _text_of(content, text_field))
        except (ValueError, RecursionError) as error:
            on_bad_line(BadLine(path, number, f"is no JSON object with text ({error})", content))
            continue
        found = [line for line in text.encode("utf-8").split(b"\n") if not _is_blank(line)]
        for line in found or [b""]:  # a document without text is counted as one
            yield number, line
        yield number, None


def _text_of(content: bytes, text_field: str) -> str:
    """The text of a JSON object, or a ValueError or RecursionError."""
    record = json.loads(content.decode("utf-8"))
    if not isinstance(record, dict) or not isinstance(record.get(text_field), str):
        raise ValueError(f"the field of --text_field is '{text_field}'")
    return record[text_field]


def _lines(stream: Any, path: str, start: int = 0) -> Iterator[Line]:
    """The lines that begin at byte `start` or later, with their offsets and without newlines."""
    offset = max(start - 1, 0)  # the newline before `start` shows whether a line begins there
    stream.seek(offset)
    is_cut = start > 0
    for line in _unpacked(stream, path):
        if len(line) > _LONGEST_LINE_BYTES:
            raise UserError(
                f"'{path}': a line is longer than {_LONGEST_LINE_BYTES} bytes. The input is "
                "text with a sentence (or, for --split_sentences, a paragraph) a line and a blank "
                "line between documents, or JSON lines (.jsonl)."
            )
        if not is_cut:
            has_mark = offset == 0 and line.startswith(_BYTE_ORDER_MARK)
            text = line[len(_BYTE_ORDER_MARK) :] if has_mark else line
            yield offset, text[:-1] if text.endswith(b"\n") else text
        is_cut = False
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
            f"'{path}' is damaged or no gzip file ({error}). Copy it again, or name it without .gz "
            "if it is not compressed."
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


def read_blocks(
    paths: Sequence[str], settings: DataSettings, on_bad_line: OnBadLine = raise_bad_line
) -> Iterator[TextBlock]:
    """Yields the text as blocks of whole documents, or parts of long ones.

    A block that has text of one document only gets a neighbour with random_next_sentence.

    Raises:
      ValueError: as read_documents; no text at all; random_next_sentence and a single document.
    """
    text = read_documents(paths, text_field=settings.text_field, on_bad_line=on_bad_line)
    count = done = 0
    last: Optional[RawDocument] = None
    other: Optional[RawDocument] = None  # the last one of another source than `last`
    for documents in grouped(text):
        for document in documents:
            if last and last.source != document.source:
                other = last
            last = document
        neighbour = None
        if settings.random_next_sentence and documents[0].source == last.source:
            neighbour = other or _next_document(paths, last.source, settings.text_field)
        size = sum(len(document.text) for document in documents)
        window = done // (settings.shuffle_window_mb * _MEGABYTE)
        yield TextBlock(count, window, size, tuple(documents), neighbour)
        count += 1
        done += size
    if not count:
        raise UserError(
            f"--input_file: there is no text in {wording.listed(paths)}. The input is text with a "
            "sentence a line and a blank line between documents, or JSON lines."
        )


def grouped(documents: Iterable[RawDocument]) -> Iterator[List[RawDocument]]:
    """Yields documents in groups of about BLOCK_BYTES."""
    group: List[RawDocument] = []
    size = empty = 0
    for document in documents:
        group.append(document)
        size += len(document.text)
        empty += not document.text
        if size >= BLOCK_BYTES or empty >= MOST_EMPTY:
            yield group
            group, size, empty = [], 0, 0
    if group:
        yield group


def _next_document(paths: Sequence[str], source: int, text_field: str) -> RawDocument:
    """The first document of another source; bad lines are reported where blocks are read."""
    for document in read_documents(paths, text_field=text_field, on_bad_line=lambda bad: None):
        if document.source != source:
            return document
    raise UserError(
        "--random_next_sentence takes text from another document, and the input holds one only "
        "(a blank line separates documents). Use --norandom_next_sentence."
    )


def decode_lines(document: RawDocument, mode: str) -> Tuple[List[str], int]:
    """Returns the lines of a document as text, and how many were not UTF-8.

    The mode decides what happens to a line that is not UTF-8. "r": ValueError with file and line;
    "rb": its bad bytes are dropped; "lines": the line is dropped.
    """
    try:
        return document.text.decode("utf-8").split("\n"), 0
    except UnicodeDecodeError:
        lines, bad = [], 0
    for number, line in enumerate(document.text.split(b"\n"), start=document.first_line):
        text = line.decode("utf-8", "ignore")
        is_bad = text.encode("utf-8") != line
        if is_bad and mode == "r":
            raise UserError(
                f"'{document.path}', line {number} is not UTF-8: {line[:60]!r}. Convert the file, "
                "or drop the bad bytes by --input_file_mode=rb."
            )
        bad += is_bad
        if not (is_bad and mode == "lines"):
            lines.append(text)
    return lines, bad


# ----------------------------------------------------------------------------------------- finding


def find_files(
    patterns: Union[str, Iterable[str]], flag_name: str, *, but: Sequence[str] = ()
) -> List[str]:
    """Returns the text files that names, patterns and folders stand for, sorted, each once.

    In a folder and below it these are the files named .txt, .jsonl or .json, or these with .gz, or
    .gz alone; hidden files and records (files with a sidecar) are left out.

    Args:
      patterns: with commas between them, or several of those. A file under exactly that name is
        taken as it is.
      flag_name: the flag that messages name.
      but: files that are not taken from folders, such as outputs and vocabularies.

    Raises:
      ValueError: no pattern, one that matches nothing, or a folder without text files.
    """
    found = set()
    for part in files.split_paths(patterns) or [""]:
        named = [part] if is_folder(part) else files.expand_patterns(part, flag_name)
        for path, is_one in zip(named, many_files.each(is_folder, named, "Looking at the text")):
            found.update(_below(path, flag_name, but) if is_one else [path])
    # Of two spellings of a path the first one is taken.
    return sorted({os.path.abspath(path): path for path in sorted(found, reverse=True)}.values())


def is_folder(path: str) -> bool:
    """Returns whether a path is that of an existing folder."""
    return tf.io.gfile.isdir(path)


def _below(folder: str, flag_name: str, but: Sequence[str]) -> List[str]:
    """The text files in a folder and below it."""
    excluded = set(map(os.path.abspath, but))
    found = [
        path
        for path in _walk(folder)
        if _TEXT_NAME.match(os.path.basename(path))
        and "/." not in path[len(folder) - 1 :]  # hidden, or in a hidden folder
        and os.path.abspath(path) not in excluded
    ]
    sidecars = many_files.each(record_files.read_sidecar, found, "Looking at the text")
    found = [path for path, sidecar in zip(found, sidecars) if sidecar is None]
    if not found:
        raise UserError(
            f"--{flag_name}: no text file lies in the folder '{folder}' or below it. Files of a "
            "folder are read if they end in .txt, .jsonl or .json, also with .gz; give other names "
            "by a pattern."
        )
    return found


def _walk(folder: str) -> Iterator[str]:
    """All files in a folder and below it; links are followed, each folder once."""

    def refuse(error: OSError) -> None:
        raise UserError(f"The folder '{error.filename}' cannot be read: {error.strerror}.")

    if "://" in folder:
        walk = tf.io.gfile.walk(folder)
    else:
        walk = os.walk(folder, onerror=refuse, followlinks=True)
    entered = set()
    for parent, folders, names in walk:
        if os.path.realpath(parent) in entered:
            folders[:] = []
            continue
        entered.add(os.path.realpath(parent))
        folders.sort()  # so that of two paths to a folder the same one is always taken
        yield from (os.path.join(parent, name) for name in names)
