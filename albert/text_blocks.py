# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Text files as a stream of documents and of blocks of documents, in bounded memory.

The layout: one sentence a line, a blank line (white space only) between documents. The end of a
file ends a document. A document longer than 256 KiB comes in parts of about that size, which have
the same `source`. Files are UTF-8, with or without a byte order mark; only "\\n" ends a line, and
white space around a line does not count.
"""

from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

DOCUMENT_BYTES = 1 << 18  # a longer document comes in parts
BLOCK_BYTES = 1 << 17  # documents are added to a block until it has these

_READ_BYTES = 1 << 20
_LONGEST_LINE_BYTES = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class RawDocument(NamedTuple):
    """A document, or a part of a long one, as bytes."""

    index: int  # its number in the corpus; parts count one by one
    source: int  # the same for all parts of a long document
    part: int  # 0 but for the later parts of a long document
    path: str
    first_line: int  # where its first line stands in the file, counted from 1
    text: bytes  # its lines, joined by newlines


class TextBlock(NamedTuple):
    """What a worker treats at a time."""

    number: int
    window: int  # of the shuffle
    bytes: int
    documents: Tuple[RawDocument, ...]
    # A document of another source, if that was asked for and the block has one source only.
    neighbour: Optional[RawDocument] = None


class DecodedLines(NamedTuple):
    """Lines as text, and how many of them were not UTF-8."""

    lines: List[str]
    bad: int


def read_documents(paths: Sequence[str]) -> Iterator[RawDocument]:
    """Yields the documents of text files, one after another.

    Raises:
      ValueError: a line is longer than a mebibyte.
    """
    index = source = 0
    for path in paths:
        lines: List[bytes] = []
        size = first = part = 0
        for number, line in enumerate(_read_lines(path), start=1):
            is_blank = _is_blank(line)
            if not is_blank:
                first = first or number
                lines.append(line)
                size += len(line) + 1
            if lines and (is_blank or size >= DOCUMENT_BYTES):
                yield RawDocument(index, source, part, path, first, b"\n".join(lines))
                index, part = index + 1, part + 1
                lines, size, first = [], 0, 0
            if is_blank:
                source, part = source + 1, 0
        if lines:
            yield RawDocument(index, source, part, path, first, b"\n".join(lines))
            index += 1
        source += 1


def _read_lines(path: str) -> Iterator[bytes]:
    """The lines of a file without their newlines."""
    rest = b""
    number = 0
    with tf.io.gfile.GFile(path, "rb") as stream:
        chunk = stream.read(_READ_BYTES)
        if chunk.startswith(_BYTE_ORDER_MARK):
            chunk = chunk[len(_BYTE_ORDER_MARK) :]
        while chunk:
            lines = (rest + chunk).split(b"\n")
            rest = lines.pop()
            number += len(lines)
            if len(rest) > _LONGEST_LINE_BYTES:
                raise ValueError(
                    f"'{path}', line {number + 1} is longer than {_LONGEST_LINE_BYTES} bytes. The "
                    "input is text with one sentence a line and a blank line between documents."
                )
            yield from lines
            chunk = stream.read(_READ_BYTES)
    if rest:
        yield rest


def _is_blank(line: bytes) -> bool:
    """Whether a line is white space only, Unicode's included. Bytes that are no UTF-8 are not."""
    if not line or line.isspace():
        return True
    if 0x20 < line[0] <= 0x7F:  # the usual case, without decoding
        return False
    return not line.decode("utf-8", "replace").strip()


def read_blocks(
    paths: Sequence[str], *, window_bytes: int, with_neighbours: bool = False
) -> Iterator[TextBlock]:
    """Yields the text as blocks of whole documents, or parts of long ones.

    Args:
      paths: text files.
      window_bytes: how many bytes of text make a window of the shuffle.
      with_neighbours: give each block with text of one document only a document beside it.

    Raises:
      ValueError: no text at all; or with_neighbours and a single document.
    """
    number = done = size = 0
    documents: List[RawDocument] = []
    finder = _NeighbourFinder(paths) if with_neighbours else None
    for document in read_documents(paths):
        documents.append(document)
        size += len(document.text)
        if size >= BLOCK_BYTES:
            yield _block(documents, number, window=done // window_bytes, finder=finder)
            number, done, documents, size = number + 1, done + size, [], 0
    if documents:
        yield _block(documents, number, window=done // window_bytes, finder=finder)
    elif not number:
        raise ValueError(
            f"--input_file: there is no text in {', '.join(paths)}. What is read is one sentence "
            "a line and a blank line between documents."
        )


def _block(
    documents: List[RawDocument], number: int, *, window: int, finder: Optional["_NeighbourFinder"]
) -> TextBlock:
    """A block; with its neighbour, if one is called for."""
    size = sum(len(document.text) for document in documents)
    neighbour = finder.neighbour(documents) if finder else None
    return TextBlock(number, window, size, tuple(documents), neighbour)


class _NeighbourFinder:
    """Finds the document before a block of one document; for the first, the one after it."""

    def __init__(self, paths: Sequence[str]):
        self._paths = paths
        self._last: Optional[RawDocument] = None  # read last
        self._other: Optional[RawDocument] = None  # read last of another source than `_last`

    def neighbour(self, documents: Sequence[RawDocument]) -> Optional[RawDocument]:
        """Returns the neighbour of the block of `documents`; None if it needs none."""
        for document in documents:
            if self._last is not None and self._last.source != document.source:
                self._other = self._last
            self._last = document
        if documents[0].source != documents[-1].source:
            return None
        return self._other or self._next(documents[0].source)

    def _next(self, source: int) -> RawDocument:
        """The first document of another source than the first."""
        for document in read_documents(self._paths):
            if document.source != source:
                return document
        raise ValueError(
            "--random_next_sentence takes text from another document, and the input holds one only "
            "(a blank line separates documents). Use --norandom_next_sentence."
        )


def decode_lines(document: RawDocument, *, drop_bad: bool) -> DecodedLines:
    """Returns the lines of a document as text.

    Args:
      document: what `read_documents` yields.
      drop_bad: drop bytes that are not UTF-8 and count the lines that had some.

    Raises:
      ValueError: bytes that are not UTF-8, with file and line, unless drop_bad.
    """
    try:
        return DecodedLines(document.text.decode("utf-8").split("\n"), 0)
    except UnicodeDecodeError:
        lines, bad = [], 0
    for number, line in enumerate(document.text.split(b"\n"), start=document.first_line):
        text = line.decode("utf-8", "ignore")
        if text.encode("utf-8") != line:
            bad += 1
            if not drop_bad:
                raise ValueError(
                    f"'{document.path}', line {number} is not UTF-8: {line[:60]!r}. Convert the "
                    "file, or drop the bytes that are not by --input_file_mode=rb."
                )
        lines.append(text)
    return DecodedLines(lines, bad)
