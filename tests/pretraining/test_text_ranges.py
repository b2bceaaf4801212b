# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Byte ranges of text files: together they give each document once, whatever their size."""

import gzip
import io
import json
import random

import pytest

from albert.pretraining import documents as text_documents
from albert.pretraining import text_ranges

# Blank lines in a row and of white space, one at the start, none at the end, and a byte order mark.
TEXT = (
    "\ufeffone two\nthree\n\n\n \t\nfour\n\u3000\nfive six seven eight nine ten\neleven\n\n"
    "zw\u00f6lf \u5b57\n\n\n\nthirteen"
).encode()
JSON = b"".join(
    json.dumps({"text": text}).encode() + b"\n"
    for text in ("one two\nthree", "four", "", "five\n\nsix")
)


def documents(name, content, range_bytes, *, keep_bad=False, bad=None):
    """The documents of all ranges, one range after another."""
    found = []
    for one in text_ranges.split(name, len(content), range_bytes):
        found += text_ranges.read_range(
            one,
            io.BytesIO(content),
            text_field="text",
            on_bad_line=(bad if bad is not None else []).append,
            keep_bad=keep_bad,
        )
    return [(document.first_line, document.part, document.text) for document in found]


def made_up_text(generator):
    lines = [
        generator.choice(["", "", " ", "a", "bc", "def ghi", "\u00e4\u5b57"]) for _ in range(30)
    ]
    return "\n".join(lines).encode()


@pytest.mark.parametrize("seed", range(5))
def test_ranges_of_every_size_give_each_document_once_and_in_order(seed):
    text = made_up_text(random.Random(seed)) if seed else TEXT
    whole = documents("a.txt", text, len(text))
    words = b"\n".join(text for _, _, text in whole).decode().split()
    assert words == text.decode("utf-8-sig").split()
    for range_bytes in range(1, len(text) + 1):
        assert documents("a.txt", text, range_bytes) == whole, range_bytes


def test_json_lines_belong_to_the_range_they_begin_in():
    whole = documents("a.jsonl", JSON, len(JSON))
    assert [text for _, _, text in whole] == [b"one two\nthree", b"four", b"", b"five\nsix"]
    for range_bytes in range(1, len(JSON) + 1):
        assert documents("a.jsonl", JSON, range_bytes) == whole, range_bytes


def test_a_document_is_known_by_the_offset_of_its_first_line():
    offsets = [offset for offset, _, _ in documents("a.txt", TEXT, 7)]
    assert [TEXT[offset:].split(b"\n")[0] for offset in offsets[1:]] == [
        b"four",
        b"five six seven eight nine ten",
        "zw\u00f6lf \u5b57".encode(),
        b"thirteen",
    ]
    assert offsets[0] == 0


def test_documents_are_those_of_the_whole_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT)
    one_machine = [document.text for document in text_documents.read_file(str(path))]
    assert [text for _, _, text in documents("a.txt", TEXT, 5)] == one_machine


def test_a_compressed_file_is_one_range_with_the_offsets_of_its_text():
    packed = gzip.compress(TEXT)
    assert text_ranges.split("a.txt.gz", len(packed), 3) == [
        text_ranges.TextRange("a.txt.gz", 0, -1)
    ]
    assert documents("a.txt.gz", packed, 3) == documents("a.txt", TEXT, 3)
    assert documents("a.jsonl.gz", gzip.compress(JSON), 3) == documents("a.jsonl", JSON, 3)
    assert text_ranges.split("a.txt", 0, 3) == text_ranges.split("a.gz", 0, 3) == []


def test_parts_of_a_long_document_are_the_same_in_every_range(monkeypatch):
    monkeypatch.setattr(text_documents, "DOCUMENT_BYTES", 20)
    text = b"short\n\n" + b"a line of eighteen\n" * 7 + b"\nlast\n"
    whole = documents("a.txt", text, len(text))
    assert [part for _, part, _ in whole] == [0, 0, 1, 2, 3, 0]
    assert all(documents("a.txt", text, size) == whole for size in (1, 10, 19, 50))


@pytest.mark.parametrize("range_bytes", [1, 4, 9, 100])
def test_lines_that_are_not_utf8_are_told_once_and_left_out_or_kept(range_bytes):
    text = b"good\nb\xe9d line\nmore\n\n\xff\n\nlast\n"
    bad = []
    texts = [text for _, _, text in documents("a.txt", text, range_bytes, bad=bad)]
    assert texts == [b"good\nmore", b"last"]
    assert [(one.line, one.reason) for one in bad] == [(5, "is not UTF-8"), (20, "is not UTF-8")]
    assert bad[0].content == b"b\xe9d line"
    kept = documents("a.txt", text, range_bytes, keep_bad=True)
    assert [text for _, _, text in kept] == [b"good\nb\xe9d line\nmore", b"\xff", b"last"]


def test_json_lines_without_a_document_are_told_by_offset():
    bad = []
    content = b'{"text": "a b"}\n[1]\n{"text": "c d"}\n'
    assert [text for _, _, text in documents("a.json", content, 5, bad=bad)] == [b"a b", b"c d"]
    assert [(one.line, one.content) for one in bad] == [(16, b"[1]")]


def test_a_line_without_end_is_refused_with_its_offset(monkeypatch):
    monkeypatch.setattr(text_documents, "longest_line", lambda path: 10)
    with pytest.raises(ValueError, match=r"'a.txt', the line at byte 4 is longer than 10 bytes"):
        documents("a.txt", b"abc\n" + b"x" * 20, 100)
