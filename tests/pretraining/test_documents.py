# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Documents from plain text and JSON lines: whole files, ranges and blocks; finding the files."""

import gzip
import io
import json
import os
import random

import pytest

from albert.data import record_files
from albert.pretraining import documents as text_documents
from albert.pretraining.settings import DataSettings

TEXT = "One h\u00e9.\nTwo.\n\n\u4e2d\u6587\u3002\n"
DOCUMENTS = ["One h\u00e9.\nTwo.", "\u4e2d\u6587\u3002"]


def as_json(*values):
    return "".join(json.dumps(value) + "\n" for value in values).encode("utf-8")


TEXTS = as_json(*({"id": n, "text": text} for n, text in enumerate(DOCUMENTS)))


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return str(path)


def read(paths, **options):
    return [one.text.decode("utf-8") for one in text_documents.read_documents(paths, **options)]


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
    plain = text_documents.read_documents([write(tmp_path, "plain", TEXT)])
    expected = [one._replace(path=path, first_line=None) for one in plain]
    found = text_documents.read_documents([path])
    assert [one._replace(first_line=None) for one in found] == expected
    assert [one.text.decode("utf-8") for one in expected] == DOCUMENTS


def test_documents_in_json_know_their_line_and_may_have_blank_lines_or_no_text(tmp_path):
    values = as_json({"body": "one\n\n \u3000\ntwo"}, {"body": ""}, {"body": "x"}, {"body": " \n"})
    path = write(tmp_path, "a.jsonl", b"\n" + values)
    documents = list(text_documents.read_documents([path], text_field="body"))
    # Those without text are there to be counted.
    expected = [(b"one\ntwo", 2), (b"", 3), (b"x", 4), (b"", 5)]
    assert [(one.text, one.first_line) for one in documents] == expected


def test_long_documents_in_json_come_in_parts_as_in_plain_text(tmp_path, monkeypatch):
    monkeypatch.setattr(text_documents, "DOCUMENT_BYTES", 20)
    lines = "\n".join(f"line {n:03d}" for n in range(7))
    plain = write(tmp_path, "a.txt", lines + "\n\nshort")
    packed = write(tmp_path, "a.json", as_json({"text": lines}, {"text": "short"}))
    plain, packed = (list(text_documents.read_documents([path])) for path in (plain, packed))
    assert [(one.part, one.first_line) for one in plain] == [(0, 1), (1, 4), (2, 7), (0, 9)]
    same = {"path": "", "first_line": 0}
    assert [one._replace(**same) for one in packed] == [one._replace(**same) for one in plain]


@pytest.mark.parametrize(
    "content, expected",
    [
        (b"one\ntwo\n\n\n \t\nthree\n", ["one\ntwo", "three"]),
        (b"\nfour\n\nfive", ["four", "five"]),
        (
            "a\u2028b\x85c\r\nd\r\n\u3000 \u2003\r\ne\x0bf\n\x1c\ng\n".encode("utf-8"),
            ["a\u2028b\x85c\r\nd\r", "e\x0bf", "g"],
        ),
        # A byte order mark is text inside a line only.
        (b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n", ["one\n\ufefftwo"]),
        (b"A\n\xef\xbb\xbf\nB\n", ["A", "B"]),
    ],
)
def test_blank_lines_of_any_white_space_end_documents_and_newlines_end_lines(
    content, expected, tmp_path
):
    assert read([write(tmp_path, "a.txt", content)]) == expected


def test_a_compressed_file_may_have_several_members_and_padding(tmp_path):
    packed = gzip.compress(b"\xef\xbb\xbf" + TEXTS[:30]) + gzip.compress(TEXTS[30:]) + b"\0" * 5
    assert read([write(tmp_path, "a.jsonl.gz", packed)]) == DOCUMENTS


# ---- mistakes ------------------------------------------------------------------------------------

BAD_LINES = [
    b"{'text': 'x'}",
    b"[",
    b'["x"]',
    b'{"id": 1, "body": ""}',
    b"{}",
    b'{"text": null}',
    b'{"text": "b\xe9"}',
    b"[" * 100000,
]


def test_a_bad_line_is_an_error_that_names_file_and_line(tmp_path):
    path = write(tmp_path, "a.jsonl", TEXTS + BAD_LINES[0])
    with pytest.raises(ValueError, match=r"a\.jsonl', line 3 "):
        read([path])


def test_bad_lines_can_be_kept_as_such_and_change_no_number(tmp_path):
    content = b"\n".join([*BAD_LINES, TEXTS[:-1], BAD_LINES[0]])
    path = write(tmp_path, "a.jsonl", content)
    found = list(text_documents.read_documents([path], keeps_bad=True))
    bad = [document.first_line for document in found if document.bad]
    assert bad == [*range(1, len(BAD_LINES) + 1), len(BAD_LINES) + 3]
    good = [(one.index, one.source, one.text.decode()) for one in found if not one.bad]
    assert good == [(number, number, text) for number, text in enumerate(DOCUMENTS)]


@pytest.mark.parametrize("name", ["a.txt.gz", "a.jsonl.gz"])
def test_a_damaged_compressed_file_is_an_error_that_names_it(name, tmp_path):
    content = TEXTS if "json" in name else TEXT.encode("utf-8") * 100
    whole = gzip.compress(content)
    flipped = whole[:20] + bytes([whole[20] ^ 255]) + whole[21:]
    for damaged in (whole[:-9], content, whole + b"more", flipped):
        with pytest.raises(ValueError, match=name.replace(".", r"\.")):
            read([write(tmp_path, name, damaged)])


# ---- blocks --------------------------------------------------------------------------------------


WITH_NEIGHBOURS = DataSettings(random_next_sentence=True)


def test_blocks_hold_whole_documents_and_windows_follow_the_text(tmp_path, monkeypatch):
    monkeypatch.setattr(text_documents, "BLOCK_BYTES", 30)
    monkeypatch.setattr(text_documents, "_MEGABYTE", 66)
    path = write(tmp_path, "a.txt", "".join(f"document {n:02d}\n\n" for n in range(11)))
    blocks = text_documents.read_blocks([path], DataSettings(shuffle_window_mb=1))
    found = [(one.number, len(one.documents), one.bytes, one.window) for one in blocks]
    assert found == [(0, 3, 33, 0), (1, 3, 33, 0), (2, 3, 33, 1), (3, 2, 22, 1)]


def test_blocks_of_one_document_have_a_neighbour_before_or_after(tmp_path, monkeypatch):
    monkeypatch.setattr(text_documents, "DOCUMENT_BYTES", 12)
    monkeypatch.setattr(text_documents, "BLOCK_BYTES", 11)
    lines = ["document aa", "second part", "", "document bb", "second part", "", "c", "", "d", ""]
    path = write(tmp_path, "a.txt", "\n".join(lines))
    blocks = list(text_documents.read_blocks([path], WITH_NEIGHBOURS))
    neighbours = [block.neighbour and block.neighbour.text for block in blocks]
    assert neighbours == [b"document bb", b"document bb", b"second part", b"second part", None]
    for block in blocks[:4]:
        assert block.neighbour.source != block.documents[0].source


def test_a_single_document_has_no_neighbour(tmp_path):
    with pytest.raises(ValueError, match="--random_next_sentence"):
        list(text_documents.read_blocks([write(tmp_path, "a.txt", "one\ntwo\n")], WITH_NEIGHBOURS))


def test_bad_utf8_is_an_error_or_dropped_and_counted(tmp_path):
    path = write(tmp_path, "a.txt", b"good\n\nfine\nb\xe9d \xff line\n\xff\nlast\n")
    _, document = text_documents.read_documents([path])
    with pytest.raises(ValueError, match=r"a\.txt', line 4 is not UTF-8"):
        text_documents.decode_lines(document, "r")
    decoded = text_documents.decode_lines(document, "rb")
    assert decoded == (["fine", "bd  line", "", "last"], 2)
    assert text_documents.decode_lines(document, "lines") == (["fine", "last"], 2)


# ---- ranges --------------------------------------------------------------------------------------

# Blank lines in a row and of white space, one at the start, none at the end, and a byte order mark.
RANGED = (
    "\ufeffone two\nthree\n\n\n \t\nfour\n\u3000\nfive six seven eight nine ten\neleven\n\n"
    "zw\u00f6lf \u5b57\n\n\n\nthirteen"
).encode()
JSON = b"".join(
    json.dumps({"text": text}).encode() + b"\n"
    for text in ("one two\nthree", "four", "", "five\n\nsix")
)


def documents(name, content, range_bytes):
    """The documents of all ranges, one range after another."""
    found = []
    for one in text_documents.split(name, len(content), range_bytes):
        found += text_documents.read_range(one, io.BytesIO(content))
    return [(document.first_line, document.part, document.text) for document in found]


def made_up_text(seed):
    choice = random.Random(seed).choice
    options = ["", "", " ", "a", "bc", "def ghi", "\u00e4\u5b57"]
    return "\n".join(choice(options) for _ in range(30)).encode()


@pytest.mark.parametrize(
    "name, text",
    [
        ("a.txt", RANGED),
        *(("a.txt", made_up_text(seed)) for seed in range(4)),
        ("a.jsonl", JSON),
        # With the parts of a long document.
        ("a.txt", b"short\n\n" + b"a line of eighteen\n" * 7 + b"\nlast\n"),
    ],
)
def test_ranges_of_every_size_give_each_document_once_and_in_order(
    name, text, tmp_path, monkeypatch
):
    monkeypatch.setattr(text_documents, "DOCUMENT_BYTES", 70)
    whole = list(text_documents.read_documents([write(tmp_path, name, text)]))
    assert len(whole) > 3
    for size in range(1, len(text) + 1):
        found = documents(name, text, size)
        assert [row[1:] for row in found] == [(one.part, one.text) for one in whole], size
        assert found == documents(name, text, len(text))


def test_a_compressed_file_is_one_range_with_the_offsets_of_its_text():
    packed = gzip.compress(RANGED)
    assert len(text_documents.split("a.txt.gz", len(packed), 3)) == 1
    assert documents("a.txt.gz", packed, 3) == documents("a.txt", RANGED, 3)
    assert documents("a.jsonl.gz", gzip.compress(JSON), 3) == documents("a.jsonl", JSON, 3)


# ---- finding -------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """A folder with text and with much that is none."""
    names = """
        b.txt a.jsonl deep/er/c.JSON.gz deep/d.txt.gz wiki_00.gz vocab.txt .hidden.txt .work/x.txt
        notes.md model.tar.gz records.txt 0.tf_record
    """
    for name in names.split():
        write(tmp_path, name, "x\n")
    record_files.write_sidecar(record_files.RecordFile(str(tmp_path / "records.txt")))
    return tmp_path


def find(named, folder, but=()):
    found = text_documents.find_files(named, "input_file", but=but)
    return [os.path.relpath(path, str(folder)) for path in found]


def test_a_folder_stands_for_the_texts_in_it_and_below(folder):
    expected = ["a.jsonl", "b.txt", "deep/d.txt.gz", "deep/er/c.JSON.gz", "wiki_00.gz"]
    for named in (str(folder), f"{folder}/"):
        assert find(named, folder, [str(folder / "vocab.txt")]) == expected


def test_names_patterns_and_folders_may_be_mixed_and_each_file_comes_once(folder):
    spelt = f"{folder}/../{folder.name}/b.txt"
    named = f"{folder}/notes.md, {folder}/d*,{folder}/deep,{folder}/*.txt,{folder}/b.txt,{spelt}"
    found = find(named, folder)
    expected = ["deep/d.txt.gz", "deep/er/c.JSON.gz", "notes.md", "records.txt", "vocab.txt"]
    assert sorted(found) == ["b.txt", *expected]


@pytest.mark.parametrize("named", ["{}", "{}/*.gz", " , "])
def test_a_folder_without_text_and_a_pattern_without_files_are_errors(named, tmp_path):
    write(tmp_path, "picture.png", "x")
    with pytest.raises(ValueError, match="--input_file"):
        text_documents.find_files(named.format(tmp_path), "input_file")
