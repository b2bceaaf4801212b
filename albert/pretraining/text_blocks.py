# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Text files as a stream of blocks of documents, in bounded memory.

What a document is in which kind of file, `text_documents` says. Here they are numbered through all
files and put together in blocks, and their bytes become lines of text.
"""

from typing import Any, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from albert.pretraining import documents as text_documents

BLOCK_BYTES = 1 << 17  # documents are added to a block until it has these
MOST_EMPTY = 1 << 12  # or so many without text, which take memory all the same

RawDocument = text_documents.RawDocument


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


def read_documents(paths: Sequence[str], **reading: Any) -> Iterator[RawDocument]:
    """Yields the documents of text files, one after another, numbered through all of them.

    Args:
      paths: text files.
      **reading: further arguments of text_documents.read_file.

    Raises:
      ValueError: as text_documents.read_file does.
    """
    index = source = 0  # of the file's first document
    for path in paths:
        last = None
        for last in text_documents.read_file(path, **reading):
            yield last._replace(index=index + last.index, source=source + last.source)
        if last is not None:
            index, source = index + last.index + 1, source + last.source + 1


def read_blocks(
    paths: Sequence[str], *, window_bytes: int, with_neighbours: bool = False, **reading: Any
) -> Iterator[TextBlock]:
    """Yields the text as blocks of whole documents, or parts of long ones.

    Args:
      paths: text files.
      window_bytes: how many bytes of text make a window of the shuffle.
      with_neighbours: give each block with text of one document only a document beside it.
      **reading: further arguments of text_documents.read_file.

    Raises:
      ValueError: no text at all; or with_neighbours and a single document; or as read_file does.
    """
    number = done = size = empty = 0
    documents: List[RawDocument] = []
    finder = _NeighbourFinder(paths, reading) if with_neighbours else None
    for document in read_documents(paths, **reading):
        documents.append(document)
        size += len(document.text)
        empty += not document.text
        if size >= BLOCK_BYTES or empty >= MOST_EMPTY:
            yield _block(documents, number, window=done // window_bytes, finder=finder)
            number, done, documents, size, empty = number + 1, done + size, [], 0, 0
    if documents:
        yield _block(documents, number, window=done // window_bytes, finder=finder)
    elif not number:
        raise ValueError(
            f"--input_file: there is no text in {', '.join(paths)}. What is read is one sentence "
            "a line and a blank line between documents, or JSON lines."
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

    def __init__(self, paths: Sequence[str], reading: Mapping[str, Any]):
        self._paths = paths
        # The bad lines are told of by the reader of the blocks.
        self._reading = dict(reading, on_bad_line=lambda bad: None)
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
        for document in read_documents(self._paths, **self._reading):
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
