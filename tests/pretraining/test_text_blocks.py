# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Text files as a stream of documents and blocks."""

import pytest

from albert.pretraining import documents as text_documents
from albert.pretraining import text_blocks


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return str(path)


def texts(paths):
    return [document.text.decode("utf-8") for document in text_blocks.read_documents(paths)]


def test_blank_lines_and_ends_of_files_end_documents(tmp_path):
    first = write(tmp_path, "a.txt", "one\ntwo\n\n\n \t\nthree\n")
    second = write(tmp_path, "b.txt", "\nfour\n\nfive")
    assert texts([first, second]) == ["one\ntwo", "three", "four", "five"]


def test_documents_know_their_number_and_line(tmp_path):
    paths = [
        write(tmp_path, "a.txt", "\none\n\n\ntwo\nmore\n"),
        write(tmp_path, "b.txt", "three\n"),
    ]
    documents = list(text_blocks.read_documents(paths))
    assert [document.index for document in documents] == [0, 1, 2]
    assert [document.first_line for document in documents] == [2, 5, 1]
    assert [document.path for document in documents] == [paths[0], paths[0], paths[1]]
    assert len({document.source for document in documents}) == 3


def test_only_newlines_end_lines_and_unicode_space_is_blank(tmp_path):
    path = write(tmp_path, "a.txt", "a\u2028b\x85c\r\nd\r\n\u3000 \u2003\r\ne\x0bf\n\x1c\ng\n")
    assert texts([path]) == ["a\u2028b\x85c\r\nd\r", "e\x0bf", "g"]


def test_a_byte_order_mark_is_not_text(tmp_path):
    path = write(tmp_path, "a.txt", b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n")
    assert texts([path]) == ["one\n\ufefftwo"]


def test_long_documents_come_in_parts_of_one_source(tmp_path, monkeypatch):
    monkeypatch.setattr(text_documents, "DOCUMENT_BYTES", 20)
    path = write(tmp_path, "a.txt", "".join(f"line {n:03d}\n" for n in range(7)) + "\nshort\n")
    documents = list(text_blocks.read_documents([path]))
    assert [document.text.count(b"\n") + 1 for document in documents] == [3, 3, 1, 1]
    assert [document.part for document in documents] == [0, 1, 2, 0]
    assert [document.source == documents[0].source for document in documents] == [True] * 3 + [
        False
    ]
    assert [document.first_line for document in documents] == [1, 4, 7, 9]
    assert [document.index for document in documents] == [0, 1, 2, 3]


def test_what_is_read_does_not_depend_on_where_reading_pauses(tmp_path, monkeypatch):
    path = write(tmp_path, "a.txt", "h\u00e9llo w\u00f6rld\n\n\u4e2d\u6587\nx\n" * 20)
    whole = texts([path])
    for size in (1, 2, 3, 7, 64):
        monkeypatch.setattr(text_documents, "_READ_BYTES", size)
        assert texts([path]) == whole


def test_a_line_that_never_ends_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(text_documents, "_READ_BYTES", 100)
    monkeypatch.setattr(text_documents, "_LONGEST_LINE_BYTES", 1000)
    path = write(tmp_path, "a.txt", "fine\n" + "x" * 5000)
    with pytest.raises(ValueError, match="line 2 is longer than 1000 bytes"):
        texts([path])


def test_blocks_hold_whole_documents_and_windows_follow_the_text(tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 30)
    path = write(tmp_path, "a.txt", "".join(f"document {n:02d}\n\n" for n in range(11)))
    blocks = list(text_blocks.read_blocks([path], window_bytes=66))
    assert [len(block.documents) for block in blocks] == [3, 3, 3, 2]
    assert [block.number for block in blocks] == [0, 1, 2, 3]
    assert [block.bytes for block in blocks] == [33, 33, 33, 22]
    assert [block.window for block in blocks] == [0, 0, 1, 1]
    assert all(block.neighbour is None for block in blocks)


def test_an_empty_corpus_is_refused(tmp_path):
    path = write(tmp_path, "a.txt", "\n \n\n")
    with pytest.raises(ValueError, match="--input_file: there is no text in"):
        list(text_blocks.read_blocks([path], window_bytes=100))


def test_blocks_of_one_document_have_a_neighbour_before_or_after(tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 12)
    monkeypatch.setattr(text_documents, "DOCUMENT_BYTES", 12)
    lines = ["document aa", "second part", "", "document bb", "second part", "", "c", "", "d", ""]
    path = write(tmp_path, "a.txt", "\n".join(lines))
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 11)
    blocks = list(text_blocks.read_blocks([path], window_bytes=100, with_neighbours=True))
    neighbours = [block.neighbour and block.neighbour.text for block in blocks]
    assert neighbours == [b"document bb", b"document bb", b"second part", b"second part", None]
    for block in blocks[:4]:
        assert block.neighbour.source != block.documents[0].source


def test_a_neighbour_needs_a_second_document(tmp_path):
    path = write(tmp_path, "a.txt", "one\ntwo\n")
    with pytest.raises(ValueError, match="--random_next_sentence takes text from another document"):
        list(text_blocks.read_blocks([path], window_bytes=100, with_neighbours=True))


def test_bad_utf8_is_an_error_that_names_file_and_line(tmp_path):
    path = write(tmp_path, "a.txt", b"good\n\nfine\nb\xe9d \xff line\nfine\n")
    document = list(text_blocks.read_documents([path]))[1]
    with pytest.raises(ValueError, match=r"a\.txt', line 4 is not UTF-8: b'b"):
        text_blocks.decode_lines(document, drop_bad=False)


def test_bad_utf8_can_be_dropped_and_is_counted(tmp_path):
    path = write(tmp_path, "a.txt", b"fine\nb\xe9d \xff line\n\xff\nlast\n")
    (document,) = text_blocks.read_documents([path])
    decoded = text_blocks.decode_lines(document, drop_bad=True)
    assert decoded == (["fine", "bd  line", "", "last"], 2)
