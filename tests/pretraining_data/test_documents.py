# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Documents from plain text and JSON lines: whole files and ranges of them; finding the files."""

import gzip
import io
import json
import os

import pytest

from albert.data import record_files
from albert.pretraining_data import documents

TEXT, HELD = (
    "One h\u00e9.\nTwo.\n\n\u4e2d\u6587\u3002\n",
    ["One h\u00e9.\nTwo.", "\u4e2d\u6587\u3002"],
)
LONG = "a line of eighteen"
IN_PARTS = ["short", "\n".join([LONG] * 4), "\n".join([LONG] * 3), "last"]


def as_json(*texts):
    return "".join(json.dumps({"id": 1, "text": text}) + "\n" for text in texts)


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return str(path)


def ranges(name, content, range_bytes):
    """Keys and texts of the documents of all ranges, one range after another."""
    found = []
    for one in documents.split(name, len(content), range_bytes):
        found += documents.read_range(one, io.BytesIO(content))
    return [(document.key, document.text) for document in found]


@pytest.mark.parametrize(
    "name, text, expected",
    [
        # The name tells the format.
        *((name, TEXT, HELD) for name in ("a.txt", "a", "a.txt.gz", "a.GZ")),
        ("a.jsonl", as_json(*HELD), HELD),
        ("a.jsonl.gz", as_json(*HELD), HELD),
        ("a.json", "\ufeff" + as_json(*HELD).replace("\n", "\r\n\r\n"), HELD),
        # Newlines end lines, and lines of any white space end documents.
        ("a.txt", "one\ntwo\n\n\n \t\nthree\n", ["one\ntwo", "three"]),
        ("a.txt", "\nfour\n\nfive", ["four", "five"]),
        (
            "a.txt",
            "a\u2028b\x85c\r\nd\r\n\u3000 \u2003\r\ne\x0bf\n\x1c\ng\n",
            ["a\u2028b\x85c\r\nd\r", "e\x0bf", "g"],
        ),
        ("a.jsonl", as_json("one\n\n \u3000\ntwo", "", "x"), ["one\ntwo", "", "x"]),
        # A byte order mark is text inside a line only.
        ("a.txt", "\ufeffone\n\ufefftwo\n", ["one\n\ufefftwo"]),
        ("a.txt", "A\n\ufeff\nB\n", ["A", "B"]),
        # Long documents come in parts.
        ("a.txt", "short\n\n" + f"{LONG}\n" * 7 + "\nlast\n", IN_PARTS),
        ("a.jsonl", as_json("short", "\n".join([LONG] * 7), "last"), IN_PARTS),
    ],
)
def test_ranges_have_each_document_once(name, text, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "DOCUMENT_BYTES", 70)
    content = text.encode("utf-8")
    if name.lower().endswith(".gz"):  # of several members, with padding
        content = gzip.compress(content[:9]) + gzip.compress(content[9:]) + b"\0" * 5
    found = list(documents.read_documents([write(tmp_path, name, content)]))
    assert [one.text.decode("utf-8") for one in found] == expected
    keys = [one.key for one in found]
    assert len(set(keys)) == len(keys)
    whole = list(zip(keys, (one.text for one in found)))
    assert all(ranges(name, content, size) == whole for size in range(1, len(content) + 1))


@pytest.mark.parametrize(
    "bad",
    [b"{'text': 'x'}", b"[", b'["x"]', b"{}", b'{"text": null}', b'{"text": "\xe9"}', b"[" * 10**5],
)
def test_bad_line_is_named_or_kept(bad, tmp_path):
    lines = [as_json("one").encode(), b"\n", bad + b"\n", b'{"text": "two"}']
    path = write(tmp_path, "a.jsonl", b"".join(lines))
    with pytest.raises(ValueError, match=r"a\.jsonl', line 3\b"):
        list(documents.read_documents([path]))
    found = documents.read_documents([path], keeps_bad=True)
    found = [(one.first_line, one.text, bool(one.error)) for one in found]
    assert found == [(1, b"one", False), (3, b"", True), (4, b"two", False)]


def test_damaged_gzip_is_named(tmp_path):
    content = TEXT.encode("utf-8") * 100
    whole = gzip.compress(content)
    flipped = whole[:20] + bytes([whole[20] ^ 255]) + whole[21:]
    for damaged in (whole[:-9], content, whole + b"more", flipped):
        path = write(tmp_path, "a.txt.gz", damaged)
        with pytest.raises(ValueError, match=path):
            list(documents.read_documents([path]))


# ---- finding -------------------------------------------------------------------------------------


def test_find_files_in_folders(tmp_path):
    names = """
        b.txt a.jsonl deep/er/c.JSON.gz deep/d.txt.gz wiki_00.gz vocab.txt .hidden.txt .work/x.txt
        notes.md model.tar.gz records.txt 0.tf_record none/picture.png
    """
    for name in names.split():
        write(tmp_path, name, b"x\n")
    record_files.write_sidecar(record_files.RecordFile(f"{tmp_path}/records.txt"))

    def find(named, *excluded):
        found = documents.find_text_files(named.replace("HERE", str(tmp_path)), excluded=excluded)
        return {os.path.relpath(path, tmp_path) for path in found}

    deep = {"deep/d.txt.gz", "deep/er/c.JSON.gz"}
    expected = {"a.jsonl", "b.txt", "wiki_00.gz", *deep}
    assert find("HERE/", f"{tmp_path}/vocab.txt") == expected
    mixed = f"HERE/notes.md, HERE/d*,HERE/deep,HERE/*.txt,HERE/../{tmp_path.name}/b.txt"
    assert find(mixed) == {"b.txt", "notes.md", "records.txt", "vocab.txt", *deep}
    for named in ("HERE/none", "HERE/*.zip", " , "):
        with pytest.raises(ValueError, match="--input_file"):
            find(named)
