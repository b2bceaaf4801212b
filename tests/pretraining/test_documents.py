# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Documents from plain text and JSON lines, compressed or not; finding the files."""

import gzip
import json
import os

import pytest

from albert.pretraining import documents as text_documents
from albert.pretraining import text_blocks
from albert.util import files

TEXT = "One h\u00e9.\nTwo.\n\n\u4e2d\u6587\u3002\n"
DOCUMENTS = ["One h\u00e9.\nTwo.", "\u4e2d\u6587\u3002"]


def blocks_of(count):
    """What a writer of `count` records knows of them."""
    blocks = files.BlockOffsets()
    for _ in range(count):
        blocks.add(1)
    return blocks


def as_json(*values):
    return "".join(json.dumps(value) + "\n" for value in values).encode("utf-8")


TEXTS = as_json(*({"id": n, "text": text} for n, text in enumerate(DOCUMENTS)))


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return str(path)


def texts(path, **options):
    return [one.text.decode("utf-8") for one in text_documents.read_file(path, **options)]


# ---- formats -------------------------------------------------------------------------------------


FILES = {
    "a.txt": TEXT.encode("utf-8"),
    "a": TEXT.encode("utf-8"),
    "a.txt.gz": gzip.compress(TEXT.encode("utf-8")),
    "a.GZ": gzip.compress(TEXT.encode("utf-8")),
    "a.jsonl": TEXTS,
    "a.json": b"\xef\xbb\xbf" + TEXTS.replace(b"\n", b"\r\n\r\n"),
    "a.jsonl.gz": gzip.compress(TEXTS),
}


# By name: the compressed bytes hold the time, and test processes must collect the same tests.
@pytest.mark.parametrize("name", sorted(FILES))
def test_the_name_tells_the_format_and_all_hold_the_same_documents(name, tmp_path):
    path = write(tmp_path, name, FILES[name])
    documents = list(text_documents.read_file(path))
    assert [one.text.decode("utf-8") for one in documents] == DOCUMENTS
    assert [one.index for one in documents] == [0, 1]
    assert documents[0].source != documents[1].source
    assert {one.path for one in documents} == {path}


def test_documents_in_json_know_their_line_and_may_have_blank_lines(tmp_path):
    path = write(
        tmp_path,
        "a.jsonl",
        b"\n" + as_json({"body": "one\n\n \u3000\ntwo"}) + b"\n" + as_json({"body": "three"}),
    )
    documents = list(text_documents.read_file(path, text_field="body"))
    assert [(one.text, one.first_line) for one in documents] == [(b"one\ntwo", 2), (b"three", 4)]


def test_documents_are_numbered_through_files_of_all_kinds(tmp_path):
    paths = [
        write(tmp_path, "1.txt", TEXT),
        write(tmp_path, "2.jsonl.gz", gzip.compress(TEXTS)),
        write(tmp_path, "3.txt", "\n"),
        write(tmp_path, "4.txt", "last"),
    ]
    documents = list(text_blocks.read_documents(paths))
    assert [one.index for one in documents] == [0, 1, 2, 3, 4]
    assert len({one.source for one in documents}) == 5


def test_long_documents_in_json_come_in_parts_as_in_plain_text(tmp_path, monkeypatch):
    monkeypatch.setattr(text_documents, "DOCUMENT_BYTES", 20)
    lines = "\n".join(f"line {n:03d}" for n in range(7))
    plain = list(text_documents.read_file(write(tmp_path, "a.txt", lines + "\n\nshort")))
    packed = list(
        text_documents.read_file(
            write(tmp_path, "a.json", as_json({"text": lines}, {"text": "short"}))
        )
    )
    assert [one.part for one in packed] == [0, 1, 2, 0]
    for name in ("index", "source", "part", "text"):
        assert [getattr(one, name) for one in packed] == [getattr(one, name) for one in plain]


def test_a_document_without_text_is_there_to_be_counted(tmp_path):
    path = write(tmp_path, "a.json", as_json({"text": ""}, {"text": " \n"}, {"text": "x"}))
    assert texts(path) == ["", "", "x"]


def test_half_a_character_from_an_escape_is_replaced(tmp_path):
    path = write(tmp_path, "a.json", b'{"text": "a\\ud83d b \\ud83d\\ude00"}\n')
    assert texts(path) == ["a\ufffd b \U0001f600"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_what_is_read_does_not_depend_on_where_reading_pauses(size, tmp_path, monkeypatch):
    monkeypatch.setattr(text_documents, "_READ_BYTES", size)
    packed = gzip.compress(b"\xef\xbb\xbf" + TEXTS[:30]) + gzip.compress(TEXTS[30:]) + b"\0" * 5
    assert texts(write(tmp_path, "a.jsonl.gz", packed)) == DOCUMENTS


# ---- mistakes ------------------------------------------------------------------------------------

BAD_LINES = [
    (b"{'text': 'x'}", r"is not JSON, one object a line \(Expecting property name"),
    (b"[", "is not JSON, one object a line"),
    (b'["x"]', "is not a JSON object with the text in a field"),
    (b'{"id": 1, "body": ""}', "has no text in the field 'text' of --text_field, but id, body"),
    (b"{}", "has no text in the field 'text' of --text_field, but no fields"),
    (b'{"text": null}', "has NoneType and no text in the field 'text'"),
    (b'{"text": "b\xe9"}', "is not UTF-8"),
    (b"[" * 100000, "is not JSON"),
]


@pytest.mark.parametrize("line,message", BAD_LINES)
def test_a_bad_line_is_an_error_that_names_file_and_line(line, message, tmp_path):
    path = write(tmp_path, "a.jsonl", TEXTS + line + b"\n")
    with pytest.raises(ValueError, match=r"a\.jsonl', line 3 " + message):
        texts(path)


def test_bad_lines_can_be_collected_instead(tmp_path):
    bad = []
    content = b"\n".join([line for line, _ in BAD_LINES] + [TEXTS])
    path = write(tmp_path, "a.jsonl", content)
    assert texts(path, on_bad_line=bad.append) == DOCUMENTS
    assert [one.line for one in bad] == list(range(1, len(BAD_LINES) + 1))
    assert bad[2].content == b'["x"]'
    assert bad[2].path == path


@pytest.mark.parametrize("name", ["a.txt", "a.json"])
def test_a_line_that_never_ends_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.setattr(text_documents, "_READ_BYTES", 100)
    monkeypatch.setattr(text_documents, "_LONGEST_LINE_BYTES", 1000)
    monkeypatch.setattr(text_documents, "_LONGEST_JSON_BYTES", 1000)
    path = write(tmp_path, name, '{"text": "fine"}\n"' + "x" * 5000)
    with pytest.raises(ValueError, match="line 2 is longer than 1000 bytes"):
        texts(path)


@pytest.mark.parametrize("name", ["a.txt.gz", "a.jsonl.gz"])
def test_a_damaged_compressed_file_is_an_error_that_names_it(name, tmp_path):
    content = TEXTS if "json" in name else TEXT.encode("utf-8") * 100
    whole = gzip.compress(content)
    for damaged, message in (
        (whole[:-9], "it ends in the middle"),
        (content, "incorrect header check"),
        (whole + b"more", "incorrect header check"),
        (whole[:20] + bytes([whole[20] ^ 255]) + whole[21:], "Error -3"),
    ):
        with pytest.raises(
            ValueError, match=name.replace(".", r"\.") + "' is damaged or no gzip file .*" + message
        ):
            texts(write(tmp_path, name, damaged))


# ---- finding -------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """A folder with text and with much that is none."""
    for name in (
        "b.txt",
        "a.jsonl",
        "deep/er/c.JSON.gz",
        "deep/d.txt.gz",
        "wiki_00.gz",
        "vocab.txt",
        ".hidden.txt",
        ".work/x.txt",
        "notes.md",
        "model.tar.gz",
        "records.txt",
        "0.tf_record",
    ):
        write(tmp_path, name, "x\n")
    files.write_sidecar(str(tmp_path / "records.txt"), blocks_of(1), {})
    return tmp_path


def test_a_folder_stands_for_the_texts_in_it_and_below(folder):
    found = text_documents.find_files(str(folder), "input_file", but=[str(folder / "vocab.txt")])
    assert [os.path.relpath(path, str(folder)) for path in found] == [
        "a.jsonl",
        "b.txt",
        "deep/d.txt.gz",
        "deep/er/c.JSON.gz",
        "wiki_00.gz",
    ]


def test_folders_that_are_links_are_entered_once(tmp_path):
    write(tmp_path / "elsewhere", "a.txt", TEXT)
    texts_folder = tmp_path / "texts"
    write(texts_folder, "b.txt", TEXT)
    for name, target in [("one", "elsewhere"), ("two", "elsewhere"), ("self", "texts")]:
        (texts_folder / name).symlink_to(tmp_path / target)
    found = text_documents.find_files(str(texts_folder), "input_file")
    assert [os.path.relpath(path, str(texts_folder)) for path in found] == ["b.txt", "one/a.txt"]


def test_a_link_to_nothing_is_an_error(tmp_path):
    (tmp_path / "a.txt").symlink_to(tmp_path / "gone.txt")
    with pytest.raises(
        ValueError, match="--input_file: '.*a.txt' is a link to '.*gone.txt', which"
    ):
        text_documents.find_files(str(tmp_path), "input_file")


def test_a_folder_that_cannot_be_read_is_an_error(tmp_path, monkeypatch):
    write(tmp_path, "a.txt", TEXT)

    def walk(folder, onerror, followlinks):
        onerror(PermissionError(13, "Permission denied", str(tmp_path / "closed")))
        return []

    monkeypatch.setattr(text_documents.os, "walk", walk)
    with pytest.raises(
        ValueError, match="--input_file: the folder '.*closed' cannot be read: Perm"
    ):
        text_documents.find_files(str(tmp_path), "input_file")


def test_names_patterns_and_folders_may_be_mixed_and_each_file_comes_once(folder):
    named = f"{folder}/notes.md, {folder}/d*,{folder}/deep,{folder}/*.txt,{folder}/b.txt"
    found = text_documents.find_files(named, "input_file")
    assert [os.path.relpath(path, str(folder)) for path in found] == [
        "b.txt",
        "deep/d.txt.gz",
        "deep/er/c.JSON.gz",
        "notes.md",
        "records.txt",
        "vocab.txt",
    ]


def test_a_folder_without_text_and_a_pattern_without_files_are_errors(tmp_path):
    write(tmp_path, "picture.png", "x")
    with pytest.raises(ValueError, match="--input_file: no text file lies in the folder"):
        text_documents.find_files(str(tmp_path), "input_file")
    with pytest.raises(ValueError, match="--input_file: no file matches"):
        text_documents.find_files(f"{tmp_path}/*.gz", "input_file")
    with pytest.raises(ValueError, match="--input_file names no file"):
        text_documents.find_files(" , ", "input_file")


def test_a_byte_order_mark_in_the_middle_does_not_join_documents(tmp_path):
    path = tmp_path / "joined.txt"
    path.write_bytes(b"A\n\xef\xbb\xbf\nB\n")
    assert [one.text for one in text_documents.read_file(str(path))] == [b"A", b"B"]


def test_a_file_under_two_spellings_comes_once(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("text\n")
    other = tmp_path / "." / ".." / tmp_path.name / "a.txt"
    assert len(text_documents.find_files(f"{path},{other},{tmp_path}", "input_file")) == 1
