# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Documents from text files: whole files, byte ranges of them, and blocks for the workers.

    for document in read_file("corpus/part-1.jsonl.gz"):
        document.path, document.first_line, document.text  # bytes: its lines, joined by newlines

The name of a file tells its format, and `.gz` at its end that it is compressed:

* `.jsonl` and `.json`: one JSON object a line, which is one document. Its text is in a field.
* any other name: plain text, a blank line (white space only) between documents. The end of the file
  ends a document.

A line of the text is a sentence, or a paragraph that is split later. Files are UTF-8, with or
without a byte order mark; only "\\n" ends a line, and white space around a line does not count. A
document longer than 256 KiB comes in parts of about that size, which have the same `source`. Memory
holds a part of a document and a mebibyte of the file (with JSON, its longest line).
"""

import gzip
import json
import os
import re
import zlib
from typing import (
    Any,
    BinaryIO,
    Callable,
    Container,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.pretraining.settings import TEXT_FIELD
from albert.util import files, many_files
from albert.util.errors import UserError

DOCUMENT_BYTES = 1 << 18  # a longer document comes in parts
BLOCK_BYTES = 1 << 17  # documents are added to a block until it has these
MOST_EMPTY = 1 << 12  # or so many without text, which take memory all the same

_READ_BYTES = 1 << 20
_LONGEST_LINE_BYTES = 1 << 20
_LONGEST_JSON_BYTES = 1 << 26
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_COMPRESSED = ".gz"
_JSON_ENDINGS = (".jsonl", ".json")
_TEXT_ENDINGS = (".txt",)
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


def read_file(
    path: str,
    *,
    text_field: str = TEXT_FIELD,
    on_bad_line: OnBadLine = raise_bad_line,
) -> Iterator[RawDocument]:
    """Yields the documents of one file in their order, `index` and `source` counted from 0.

    Args:
      text_field: the field of a JSON object that holds the text.
      on_bad_line: called with each line of a JSON file that holds no document. If it returns, the
        line is left out.

    Raises:
      ValueError: a bad line, unless on_bad_line does otherwise; a line that is too long; a damaged
        compressed file.
    """
    with files.open_to_read(path) as stream:
        numbered = enumerate((line for _, line in _lines(stream, path)), start=1)
        yield from _documents(path, numbered, text_field=text_field, on_bad_line=on_bad_line)


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
    a reader in the middle of a file cannot know their number.

    Arguments and errors are those of `read_file`; `stream` is the file, open at its start.
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
    """The documents in lines of a file."""
    texts = _text_lines(lines)
    if is_json(path):
        texts = _json_lines(lines, path, text_field=text_field, on_bad_line=on_bad_line)
    index = source = 0
    collected: List[bytes] = []
    size = first = part = 0
    for number, line in texts:
        if line is not None:
            first = first if collected else number
            collected.append(line)
            size += len(line) + 1
        if collected and (line is None or size >= DOCUMENT_BYTES):
            yield RawDocument(index, source, part, path, first, b"\n".join(collected))
            index, part = index + 1, part + 1
            collected, size = [], 0
        if line is None:
            source, part = source + 1, 0


def is_json(path: str) -> bool:
    """Returns whether a file's name says that it holds JSON lines."""
    return _without_compression(path).endswith(_JSON_ENDINGS)


def is_compressed(path: str) -> bool:
    """Returns whether a file's name says that it is compressed."""
    return str(path).lower().endswith(_COMPRESSED)


def _without_compression(path: str) -> str:
    """The name in small letters, without .gz."""
    name = os.path.basename(str(path)).lower()
    return name[: -len(_COMPRESSED)] if is_compressed(name) else name


def _text_lines(lines: Iterable[Line]) -> Iterator[Tuple[int, Optional[bytes]]]:
    """The lines of plain text; None ends a document."""
    number = 0
    for number, line in lines:
        yield number, None if _is_blank(line) else line
    yield number, None


def _json_lines(
    lines: Iterable[Line], path: str, *, text_field: str, on_bad_line: OnBadLine
) -> Iterator[Tuple[int, Optional[bytes]]]:
    """The lines of the documents in a JSON file, with the numbers of the documents' own lines."""
    for number, content in lines:
        if _is_blank(content):
            continue
        try:
            text = _text_of(content, text_field)
        except ValueError as error:
            on_bad_line(BadLine(path, number, str(error), content))
            continue
        found = [line for line in text.split(b"\n") if not _is_blank(line)]
        for line in found or [b""]:  # a document without text is counted as one
            yield number, line
        yield number, None


def _text_of(content: bytes, text_field: str) -> bytes:
    """The text of a JSON object; the messages of its ValueErrors follow "line 3 ..."."""
    try:
        record = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise UserError("is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"is not JSON, one object a line ({error})") from None
    if not isinstance(record, dict):
        raise UserError("is not a JSON object with the text in a field")
    text = record.get(text_field)
    if not isinstance(text, str):
        raise UserError(
            f"has no text in the field '{text_field}' of --text_field; its fields are "
            f"{', '.join(record) or 'none'}"
        )
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return _HALF_CHARACTER.sub("\ufffd", text).encode("utf-8")


def _lines(stream: BinaryIO, path: str, start: int = 0) -> Iterator[Line]:
    """The lines that begin at byte `start` or later, with their offsets and without newlines."""
    offset = max(start - 1, 0)  # the newline before `start` shows whether a line begins there
    if offset:
        stream.seek(offset)
    longest = _LONGEST_JSON_BYTES if is_json(path) else _LONGEST_LINE_BYTES
    is_cut, rest = start > 0, b""
    for chunk in _chunks(stream, path):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            if not is_cut:
                yield offset, _without_mark(offset, line)
            is_cut = False
            offset += len(line) + 1
        if len(rest) > longest:
            raise UserError(
                f"'{path}', the line at byte {offset} is longer than {longest} bytes. The input is "
                "text with a sentence (or, for --split_sentences, a paragraph) a line and a blank "
                "line between documents, or JSON lines (.jsonl)."
            )
    if rest and not is_cut:
        yield offset, _without_mark(offset, rest)


def _without_mark(offset: int, line: bytes) -> bytes:
    """A line without the byte order mark that a file may start with."""
    has_mark = offset == 0 and line.startswith(_BYTE_ORDER_MARK)
    return line[len(_BYTE_ORDER_MARK) :] if has_mark else line


def _chunks(stream: BinaryIO, path: str) -> Iterator[bytes]:
    """The content of a file, decompressed, a mebibyte at a time."""
    if not is_compressed(path):
        yield from iter(lambda: stream.read(_READ_BYTES), b"")
        return
    try:
        with gzip.GzipFile(fileobj=stream, mode="rb") as unpacked:
            yield from iter(lambda: unpacked.read(_READ_BYTES), b"")
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


def read_documents(paths: Sequence[str], **reading: Any) -> Iterator[RawDocument]:
    """Yields the documents of text files, numbered through all; `reading`: see read_file."""
    index = source = 0  # of the file's first document
    for path in paths:
        last = None
        for last in read_file(path, **reading):
            yield last._replace(index=index + last.index, source=source + last.source)
        if last is not None:
            index, source = index + last.index + 1, source + last.source + 1


def read_blocks(
    paths: Sequence[str], *, window_bytes: int, with_neighbours: bool = False, **reading: Any
) -> Iterator[TextBlock]:
    """Yields the text as blocks of whole documents, or parts of long ones.

    Args:
      window_bytes: how many bytes of text make a window of the shuffle.
      with_neighbours: give each block with text of one document only a document beside it.
      **reading: see read_file.

    Raises:
      ValueError: as read_file; no text at all; with_neighbours and a single document.
    """
    number = done = 0
    last: Optional[RawDocument] = None
    other: Optional[RawDocument] = None  # the last one of another source than `last`
    for number, documents in enumerate(grouped(read_documents(paths, **reading)), start=1):
        neighbour = None
        if with_neighbours:
            for document in documents:
                other = last if last is not None and last.source != document.source else other
                last = document
            if documents[0].source == last.source:
                neighbour = other or _next_document(paths, last.source, reading)
        size = sum(len(document.text) for document in documents)
        yield TextBlock(number - 1, done // window_bytes, size, tuple(documents), neighbour)
        done += size
    if not number:
        raise UserError(
            f"--input_file: there is no text in {', '.join(paths)}. The input is text with a "
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


def _next_document(paths: Sequence[str], source: int, reading: Mapping[str, Any]) -> RawDocument:
    """The first document of another source; bad lines are reported where blocks are read."""
    for document in read_documents(paths, **dict(reading, on_bad_line=lambda bad: None)):
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
    excluded = {os.path.abspath(path) for path in but}
    found = set()
    parts = files.split_paths(patterns)
    for part in parts:
        named = [part] if is_folder(part) else files.expand_patterns(part, flag_name)
        for path, is_one in zip(named, many_files.each(is_folder, named, "Looking at the text")):
            found.update(_below(path, flag_name, excluded) if is_one else [path])
    spellings: Dict[str, str] = {}
    for path in sorted(found):
        spellings.setdefault(path if "://" in path else os.path.abspath(path), path)
    return sorted(spellings.values()) or files.expand_patterns(parts, flag_name)


def is_folder(path: str) -> bool:
    """Returns whether a path is that of an existing folder."""
    return tf.io.gfile.exists(path) and tf.io.gfile.isdir(path)


def _below(folder: str, flag_name: str, excluded: Container[str]) -> List[str]:
    """The text files in a folder and below it."""
    found = []
    for parent, folders, names in _walk(folder, flag_name):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = [os.path.join(parent, name) for name in names if _is_text_name(name)]
        # gfile's walk enters hidden folders all the same.
        paths = [path for path in paths if "/." not in path[len(folder) - 1 :]]
        found += [path for path in paths if os.path.abspath(path) not in excluded]
    sidecars = many_files.each(record_files.read_sidecar, found, "Looking at the text")
    found = [path for path, sidecar in zip(found, sidecars) if sidecar is None]
    if not found:
        raise UserError(
            f"--{flag_name}: no text file lies in the folder '{folder}' or below it. Files of a "
            "folder are read if they end in .txt, .jsonl or .json, also with .gz; give other names "
            "by a pattern."
        )
    return found


def _walk(folder: str, flag_name: str) -> Iterator[Tuple[str, List[str], List[str]]]:
    """(folder, folders in it, files in it) of a folder and all below; links are followed once."""
    if "://" in folder:
        yield from tf.io.gfile.walk(folder)
        return

    def refuse(error: OSError) -> None:
        raise UserError(
            f"--{flag_name}: the folder '{error.filename}' cannot be read: {error.strerror}."
        )

    entered = set()
    for parent, folders, names in os.walk(folder, onerror=refuse, followlinks=True):
        real = os.path.realpath(parent)
        if real in entered:  # a link to a folder that was entered before
            folders[:] = []
            continue
        entered.add(real)
        folders.sort()  # so that of two paths to a folder the same one is always taken
        yield parent, folders, names


def _is_text_name(name: str) -> bool:
    plain = _without_compression(name)
    is_bare = is_compressed(name) and "." not in plain
    return is_bare or plain.endswith(_TEXT_ENDINGS + _JSON_ENDINGS)
