# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Byte ranges of text files, so that many machines read one large file together.

A document belongs to exactly one range, and which one follows from the file alone: in plain text to
that in which the last blank line before it begins (for the first document: the first range), in
JSON lines to that in which its own line begins. The reader of a range goes on behind its end until
the last of its documents is whole, and starts with the first line that begins in the range; it
needs to know nothing about the lines before. A compressed file is one range.

Lines are known by their byte offset in the file (compressed: in the text), which a reader can tell
without those before; the number of a line it could not.
"""

from typing import BinaryIO, Callable, Iterable, Iterator, List, NamedTuple, Tuple

from albert.pretraining import documents as text_documents

_READ_BYTES = 1 << 20

# A line with its offset.
Line = Tuple[int, bytes]


class TextRange(NamedTuple):
    """The bytes [start, end) of a file; end is -1 for a compressed file, which is read whole."""

    path: str
    start: int
    end: int


def split(path: str, size: int, range_bytes: int) -> List[TextRange]:
    """Returns the ranges of a file of `size` bytes; none for an empty one."""
    if text_documents.is_compressed(path):
        return [TextRange(path, 0, -1)] if size else []
    return [
        TextRange(path, start, min(start + range_bytes, size))
        for start in range(0, size, range_bytes)
    ]


def read_range(
    one: TextRange,
    stream: BinaryIO,
    *,
    text_field: str,
    on_bad_line: Callable[[text_documents.BadLine], None],
    keep_bad: bool,
) -> Iterator[text_documents.RawDocument]:
    """Yields the documents of a range. Their `first_line`, and a bad line's `line`, are offsets.

    Args:
      one: the range.
      stream: the file, open at its start; compressed files are unpacked here.
      text_field: see text_documents.read_file.
      on_bad_line: called with each line that is not UTF-8, or not a document in JSON.
      keep_bad: whether a line of plain text that is not UTF-8 stays in its document, where
        text_blocks.decode_lines can mend it.

    Raises:
      ValueError: a line that is too long; a damaged compressed file.
    """
    lines = _lines(one, stream, text_documents.longest_line(one.path))
    if text_documents.is_json(one.path):
        lines = _json_lines(lines, one.end)
    else:
        lines = _checked(_text_lines(lines, one), one.path, on_bad_line, keep_bad=keep_bad)
    return text_documents.documents_of(
        one.path, lines, text_field=text_field, on_bad_line=on_bad_line
    )


def _json_lines(lines: Iterable[Line], end: int) -> Iterator[Line]:
    """Those that begin before `end`."""
    for offset, line in lines:
        if 0 <= end <= offset:
            return
        yield offset, line


def _text_lines(lines: Iterable[Line], one: TextRange) -> Iterator[Line]:
    """Those of the documents that belong to the range, and the blank ones."""
    is_ours = one.start == 0
    for offset, line in lines:
        is_behind = 0 <= one.end <= offset
        if is_behind and not is_ours:
            return
        if text_documents.is_blank(line):
            if is_behind:
                return
            is_ours = True
        if is_ours:
            yield offset, line


def _checked(
    lines: Iterable[Line],
    path: str,
    on_bad_line: Callable[[text_documents.BadLine], None],
    *,
    keep_bad: bool,
) -> Iterator[Line]:
    """The lines that are UTF-8, and perhaps the others; those are told of."""
    for offset, line in lines:
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            on_bad_line(text_documents.BadLine(path, offset, "is not UTF-8", line))
            if not keep_bad:
                continue
        yield offset, line


def _lines(one: TextRange, stream: BinaryIO, longest: int) -> Iterator[Line]:
    """The lines that begin at one.start or later, to the end of the file, without newlines."""
    # The newline before the range shows whether a line begins with it.
    offset = max(one.start - 1, 0)
    stream.seek(offset)
    chunks = iter(lambda: stream.read(_READ_BYTES), b"")
    if text_documents.is_compressed(one.path):
        chunks = text_documents.decompressed(chunks, one.path)
    is_first_cut = one.start > 0
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            if not is_first_cut:
                yield offset, _without_mark(offset, line)
            is_first_cut = False
            offset += len(line) + 1
        if len(rest) > longest:
            raise ValueError(
                text_documents.too_long(f"'{one.path}', the line at byte {offset}", longest)
            )
    if rest and not is_first_cut:
        yield offset, _without_mark(offset, rest)


def _without_mark(offset: int, line: bytes) -> bytes:
    """A line without the byte order mark that a file may start with."""
    mark = text_documents.BYTE_ORDER_MARK
    return line[len(mark) :] if offset == 0 and line.startswith(mark) else line
