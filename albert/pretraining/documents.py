# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Documents from one text file after another: plain text or JSON lines, compressed or not.

    for document in read_file("corpus/part-1.jsonl.gz"):
        document.path, document.first_line, document.text  # bytes: its lines, joined by newlines

The name of a file says what is in it, and `.gz` behind it that it is compressed:

* `.jsonl` and `.json`: one JSON object a line, which is one document. Its text is in a field.
* any other name: plain text, a blank line (white space only) between documents. The end of the file
  ends a document.

A line of the text is a sentence, or a paragraph that is split later. Files are UTF-8, with or
without a byte order mark; only "\\n" ends a line, and white space around a line does not count. A
document longer than 256 KiB comes in parts of about that size, which have the same `source`. What
memory holds is a document's part, and a mebibyte of the file (with JSON, its longest line).
"""

import json
import os
import re
import zlib
from typing import (
    Callable,
    Dict,
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

from albert.util import files, many_files

DOCUMENT_BYTES = 1 << 18  # a longer document comes in parts
TEXT_FIELD = "text"

_READ_BYTES = 1 << 20
_LONGEST_LINE_BYTES = 1 << 20
_LONGEST_JSON_BYTES = 1 << 26
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_COMPRESSED = ".gz"
_JSON_ENDINGS = (".jsonl", ".json")
_TEXT_ENDINGS = (".txt",)
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")  # JSON's escapes can write half of a character
_GZIP = 16 + zlib.MAX_WBITS  # zlib's code for this format


class RawDocument(NamedTuple):
    """A document, or a part of a long one, as bytes."""

    index: int  # its number in the file or corpus; parts count one by one
    source: int  # the same for all parts of a long document
    part: int  # 0 but for the later parts of a long document
    path: str
    first_line: int  # where its first line stands in the file, counted from 1
    text: bytes  # its lines, joined by newlines


class BadLine(NamedTuple):
    """A line of a JSON file that holds no document."""

    path: str
    line: int  # its number, counted from 1
    reason: str
    content: bytes

    @property
    def message(self) -> str:
        """Returns one sentence or two that say where it is and what to do."""
        return (
            f"'{self.path}', line {self.line} {self.reason}: {self.content[:60]!r}. Mend the line, "
            "or let bad lines be dropped and counted by --input_file_mode=rb."
        )


def raise_bad_line(bad: BadLine) -> None:
    """Raises ValueError: what `read_file` does with a bad line unless told otherwise."""
    raise ValueError(bad.message)


# ----------------------------------------------------------------------------------------- reading


def read_file(
    path: str,
    *,
    text_field: str = TEXT_FIELD,
    on_bad_line: Callable[[BadLine], None] = raise_bad_line,
) -> Iterator[RawDocument]:
    """Yields the documents of one file in their order, `index` and `source` counted from 0.

    Args:
      path: local or on gs://; its name tells the format.
      text_field: the field of a JSON object that holds the text.
      on_bad_line: called with each line of a JSON file that holds no document. If it returns, the
        line is left out.

    Raises:
      ValueError: a bad line, unless on_bad_line does otherwise; a line that is too long; a damaged
        compressed file.
    """
    numbered = enumerate(_read_lines(path, longest_line(path)), start=1)
    yield from documents_of(path, numbered, text_field=text_field, on_bad_line=on_bad_line)


def documents_of(
    path: str,
    numbered: Iterable[Tuple[int, bytes]],
    *,
    text_field: str = TEXT_FIELD,
    on_bad_line: Callable[[BadLine], None] = raise_bad_line,
) -> Iterator[RawDocument]:
    """Yields the documents in lines of a file, as `read_file` does in all of them.

    Args:
      path: the file; its name tells the format.
      numbered: lines without their newlines, each with its number, or whatever else is to be
        `first_line` of the documents and `line` of a BadLine.
      text_field: see read_file.
      on_bad_line: see read_file.
    """
    if is_json(path):
        lines = _json_lines(numbered, path, text_field=text_field, on_bad_line=on_bad_line)
    else:
        lines = _text_lines(numbered)
    index = source = 0
    collected: List[bytes] = []
    size = first = part = 0
    for number, line in lines:
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


def longest_line(path: str) -> int:
    """Returns how many bytes a line of a file may have."""
    return _LONGEST_JSON_BYTES if is_json(path) else _LONGEST_LINE_BYTES


def _text_lines(numbered: Iterable[Tuple[int, bytes]]) -> Iterator[Tuple[int, Optional[bytes]]]:
    """The lines of plain text with their numbers; None ends a document."""
    number = 0
    for number, line in numbered:
        yield number, None if is_blank(line) else line
    yield number, None


def _json_lines(
    numbered: Iterable[Tuple[int, bytes]],
    path: str,
    *,
    text_field: str,
    on_bad_line: Callable[[BadLine], None],
) -> Iterator[Tuple[int, Optional[bytes]]]:
    """The lines of the documents in a JSON file, with the numbers of the documents' own lines."""
    for number, content in numbered:
        if is_blank(content):
            continue
        try:
            text = _text_of(content, text_field)
        except ValueError as error:
            on_bad_line(BadLine(path, number, str(error), content))
            continue
        lines = [line for line in text.split(b"\n") if not is_blank(line)]
        for line in lines or [b""]:  # a document without text is counted as one
            yield number, line
        yield number, None


def _text_of(content: bytes, text_field: str) -> bytes:
    """The text of a JSON object; ValueErrors say what is wrong, to follow "line 3 ..."."""
    try:
        record = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON, one object a line ({error})") from None
    if not isinstance(record, dict):
        raise ValueError("is not a JSON object with the text in a field")
    text = record.get(text_field)
    if text_field in record and not isinstance(text, str):
        raise ValueError(f"has {type(text).__name__} and no text in the field '{text_field}'")
    if not isinstance(text, str):
        found = ", ".join(record) or "no fields"
        raise ValueError(f"has no text in the field '{text_field}' of --text_field, but {found}")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return _HALF_CHARACTER.sub("\ufffd", text).encode("utf-8")


def _read_lines(path: str, longest: int) -> Iterator[bytes]:
    """The lines of a file without their newlines."""
    rest = b""
    number = 0
    for chunk in _without_mark(_read_chunks(path)):
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        number += len(lines)
        if len(rest) > longest:
            raise ValueError(too_long(f"'{path}', line {number + 1}", longest))
        yield from lines
    if rest:
        yield rest


def too_long(where: str, longest: int) -> str:
    """Returns the message for a line, `where`, of more than `longest` bytes."""
    return (
        f"{where} is longer than {longest} bytes. The input is text with a sentence (or, for "
        "--split_sentences, a paragraph) a line and a blank line between documents, or JSON lines "
        "(.jsonl)."
    )


def _without_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Drops a byte order mark at the start."""
    start: Optional[bytes] = b""
    for chunk in chunks:
        if start is not None:
            chunk = start + chunk
            if len(chunk) < len(BYTE_ORDER_MARK):
                start = chunk
                continue
            start = None
            if chunk.startswith(BYTE_ORDER_MARK):
                chunk = chunk[len(BYTE_ORDER_MARK) :]
        yield chunk
    if start:
        yield start


def _read_chunks(path: str) -> Iterator[bytes]:
    """The content of a file, a mebibyte at a time."""
    with files.open_to_read(path) as stream:
        chunks = iter(lambda: stream.read(_READ_BYTES), b"")
        yield from decompressed(chunks, path) if is_compressed(path) else chunks


def decompressed(chunks: Iterable[bytes], path: str) -> Iterator[bytes]:
    """Yields what gzip packed, with an error that names the file."""
    try:
        yield from _unpacked(chunks)
    except zlib.error as error:
        raise ValueError(
            f"'{path}' is damaged or no gzip file ({error}). Copy it again, or name it without .gz "
            "if it is not compressed."
        ) from error


def _unpacked(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """A file may hold several packed ones after another, and zeros between and behind them."""
    unpacker, is_behind_one = None, False
    for chunk in chunks:
        if is_behind_one and not unpacker:
            chunk = chunk.lstrip(b"\0")
        is_more = True
        while is_more and (chunk or unpacker):
            unpacker = unpacker or zlib.decompressobj(_GZIP)
            content = unpacker.decompress(chunk, _READ_BYTES)
            yield content
            chunk = unpacker.unconsumed_tail
            is_more = bool(chunk) or len(content) == _READ_BYTES
            if unpacker.eof:
                chunk = unpacker.unused_data.lstrip(b"\0")
                unpacker, is_more, is_behind_one = None, True, True
    if unpacker:
        raise zlib.error("it ends in the middle")


def is_blank(line: bytes) -> bool:
    """Returns whether a line is white space only, also Unicode's; bad UTF-8 is not."""
    if not line or line.isspace():
        return True
    if 0x20 < line[0] <= 0x7F:  # the usual case, without decoding
        return False
    # Files that were joined one after another hold byte order marks in the middle.
    return not line.decode("utf-8", "replace").strip().strip("\ufeff")


# ----------------------------------------------------------------------------------------- finding


def find_files(
    patterns: Union[str, Iterable[str]], flag_name: str, *, but: Sequence[str] = ()
) -> List[str]:
    """Returns the text files that names, patterns and folders stand for, sorted, each once.

    In a folder and below it these are the files named .txt, .jsonl or .json, or these with .gz, or
    .gz alone; but no hidden ones, and no records (files with a sidecar).

    Args:
      patterns: with commas between them, or several of those. A file under exactly that name is
        taken as it is.
      flag_name: where the user wrote them, for messages.
      but: files that are not taken from folders, such as outputs and vocabularies.

    Raises:
      ValueError: no pattern, one that matches nothing, or a folder without text files.
    """
    excluded = {os.path.abspath(path) for path in but}
    found = set()
    texts = [patterns] if isinstance(patterns, (str, os.PathLike)) else patterns
    parts = [part.strip() for text in texts for part in str(text).split(",") if part.strip()]
    for pattern in parts:
        folder = os.path.expanduser(pattern)
        named = [folder] if is_folder(folder) else files.expand_patterns(pattern, flag_name)
        for path, is_one in zip(named, many_files.each(is_folder, named, "Looking at the text")):
            found.update(_below(path, flag_name, excluded) if is_one else [path])
    spellings: Dict[str, str] = {}
    for path in sorted(found):
        spellings.setdefault(path if "://" in path else os.path.abspath(path), path)
    return sorted(spellings.values()) or files.expand_patterns(parts, flag_name)


def is_folder(path: str) -> bool:
    """Returns whether a path is that of a folder that is there."""
    return tf.io.gfile.exists(path) and tf.io.gfile.isdir(path)


def _below(folder: str, flag_name: str, excluded: Sequence[str]) -> List[str]:
    """The text files in a folder and below it."""
    found = []
    for parent, folders, names in _walk(folder, flag_name):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = [os.path.join(parent, name) for name in names if _is_text_name(name)]
        dead = [path for path in paths if os.path.islink(path) and not os.path.exists(path)]
        if dead:
            raise ValueError(
                f"--{flag_name}: '{dead[0]}' is a link to '{os.readlink(dead[0])}', which is not "
                "there. Remove the link or mend it."
            )
        found += [path for path in paths if os.path.abspath(path) not in excluded]
    hidden = {path for path in found if "/." in path[len(folder) :]}  # gfile's walk goes there too
    found = [path for path in found if path not in hidden]
    sidecars = many_files.each(files.read_sidecar, found, "Looking at the text")
    found = [path for path, sidecar in zip(found, sidecars) if sidecar is None]
    if not found:
        raise ValueError(
            f"--{flag_name}: no text file lies in the folder '{folder}' or below it. What is "
            "looked for there is .txt, .jsonl and .json, also with .gz; other names can be given "
            "by a pattern."
        )
    return found


def _walk(folder: str, flag_name: str) -> Iterator[Tuple[str, List[str], List[str]]]:
    """(folder, folders in it, files in it) of a folder and all below; links are followed once."""
    if "://" in folder:
        yield from tf.io.gfile.walk(folder)
        return

    def refuse(error: OSError) -> None:
        raise ValueError(
            f"--{flag_name}: the folder '{error.filename}' cannot be read: {error.strerror}."
        )

    entered = set()
    for parent, folders, names in os.walk(folder, onerror=refuse, followlinks=True):
        real = os.path.realpath(parent)
        if real in entered:  # a link to a folder above, or to one that was there already
            folders[:] = []
            continue
        entered.add(real)
        folders.sort()  # of two ways to a folder it is always the same that is taken
        yield parent, folders, names


def _is_text_name(name: str) -> bool:
    """Whether a file's name in a folder is that of a text."""
    plain = _without_compression(name)
    if name.startswith("."):
        return False
    is_bare = is_compressed(name) and "." not in plain
    return is_bare or plain.endswith(_TEXT_ENDINGS + _JSON_ENDINGS)
