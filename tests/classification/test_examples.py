# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From rows to examples: columns, fields, headers, labels."""

import pytest

from albert.classification import examples, tasks
from albert.classification.examples import Columns, InputExample

SINGLE = Columns(0, None, 1)
PAIRS = Columns(0, 1, 2)
BY_NAME = Columns("text_a", None, "label")
FIELDS = Columns("q", "r", "label")
GOOD = ("good", None, "1")
TWO_PAIRS = [("Q", "label", "1"), ("q", "r", "0")]


def read(folder, text, columns, *, name="train", **changes):
    content = text if isinstance(text, bytes) else text.encode("utf-8")
    (folder / "data.txt").write_bytes(content)
    own = tasks.custom_task(text_a=0, labels="0,1")
    task = own._replace(columns=(columns,), **changes)
    return examples.read_file(task, str(folder / "data.txt"), name)


def twice(values):
    ends = (("?", "0"), ("!", "1"))
    return [InputExample("", values["q"] + end, None, label) for end, label in ends]


@pytest.mark.parametrize(
    "text, columns, expected, names",
    [
        ("x\tA\tB\t1\n", Columns(1, 2, -1, 0), [("A", "B", "1")], ""),
        ("qid\tlabel\ttext_a\n7\t1\tgood\n", BY_NAME, [GOOD], ["text_a"]),
        # The first row is a header where its words say so and its label is none.
        ("label\tQ\tR\n1\ta\tb\n", Columns(1, -1, 0), [("a", "b", "1")], "QR"),
        ("Q\tlabel\t1\nq\tr\t0\n", PAIRS, TWO_PAIRS, ""),
        ("A\tB\tLabel\nQ\tlabel\t1\nq\tr\t0\n", PAIRS, TWO_PAIRS, "AB"),
        ("Q\tR\tS\nq\tr\t1\n", PAIRS._replace(header=True), [("q", "r", "1")], "QR"),
        ("text\t1\n", SINGLE._replace(header=False), [("text", None, "1")], ""),
        ("good\t1\n\t0\n", SINGLE, [GOOD, ("", None, "0")], ""),
        ('\ufeffgood\t1\r\n\r\n"a" \u2028\t0', SINGLE, [GOOD, ('"a" \u2028', None, "0")], ""),
        ('{"q": ["x", "y"], "r": "é", "label": 1}', FIELDS, [("x y", "é", "1")], "qr"),
        ('{"q": "a"}', Columns("q", render=twice), [("a?", None, "0"), ("a!", None, "1")], ""),
    ],
)
def test_read_file_by_columns(text, columns, expected, names, tmp_path):
    data = read(tmp_path, text, columns)
    assert [(item.text_a, item.text_b, item.label) for item in data.examples] == expected
    assert data.columns == tuple(names)


@pytest.mark.parametrize(
    "text, columns, guids",
    [
        ("text_a\tlabel\ngood\t1\n\nbad\t0\n", BY_NAME, ["dev-1", "dev-3"]),
        ("text_a\tlabel\ngood\t1\n", BY_NAME._replace(guid="text_a"), ["good"]),
        ('{"q": "a"}\n{"q": "b"}', Columns("q", render=twice), [f"dev-{n}" for n in range(4)]),
    ],
)
def test_guid_is_a_column_or_the_row(text, columns, guids, tmp_path):
    data = read(tmp_path, text, columns, name="dev_matched")
    assert [item.guid for item in data.examples] == guids


def test_short_rows_are_skipped_or_refused(tmp_path):
    data = read(tmp_path, "a\tb\t1\n" * 198 + "cut short\n" * 2, PAIRS)
    assert len(data.examples) == 198
    with pytest.raises(ValueError, match="data.txt:198: .*3 of 200"):
        read(tmp_path, "a\tb\t1\n" * 197 + "cut short\n" * 3, PAIRS)
    with pytest.raises(ValueError, match="data.*:198: 3 of 200"):  # a tab in a text
        read(tmp_path, "a\tb\t1\n" * 197 + "a\tb\t1\t1\n" * 3, PAIRS)


@pytest.mark.parametrize(
    "text, columns, place",
    [
        ("a\tb\t1\nq\tr\n", PAIRS, ":2: .*1 of 2 rows"),
        ("a\t1\nb\tyes\n", SINGLE, ":2: .*'yes'.* 0, 1"),
        ('{"sentence": "a", "label": "0"}', FIELDS, ":1: .*q, r, label"),
        ('{"q": "a", "r": "b", "label": 1}\n{"q": "a"}', FIELDS, ":2: .*'r'"),
        ('{"q": {"a": 1}, "r": "b", "label": "0"}', FIELDS, ":1: "),
        ('{"q": "a", "r": "b", "label": null}', FIELDS, ":1: .*None"),
        ('{"q": "a", "r": "b", "label": 2}', FIELDS, ":1: .* 2"),
        ('{"q": "a", "r": "b", "label": 1}\n{"a": ', FIELDS, ":2 .*JSON"),
        ('{"q": "a", "r": "b", "label": 1}\n[2]', FIELDS, ":2 "),
        ("", BY_NAME, "' is empty"),
        ("text_a\tlabel\n", BY_NAME, ""),
        ("a\tb\n", BY_NAME, ":1: .*text_a, label"),
        ("a\tb\n", PAIRS, ":1: .*0, 1, 2"),
        ("a\t0\n中文\t1\n".encode("gb18030"), SINGLE, "', line 2"),
    ],
)
def test_read_file_names_file_and_line(text, columns, place, tmp_path):
    with pytest.raises(ValueError, match="data.txt" + place):
        read(tmp_path, text, columns)


def test_a_score_is_a_number(tmp_path):
    with pytest.raises(ValueError, match="data.txt:2: .*'nan'"):
        read(tmp_path, "sentence\tscore\na\tnan\n", SINGLE, labels=())


@pytest.mark.parametrize(
    "name, text, columns, changes, expected",
    [
        ("train", "sentence\tscore\na\t5.000\nb\t0\n", SINGLE, {"labels": ()}, [5.0, 0.0]),
        # Other spellings are known; an example on which annotators disagreed is dropped.
        ("train", "a\tyes\nb\t-\nc\t 0 \n", SINGLE, {"label_aliases": {"yes": "1", "-": ""}}, "10"),
        # Test files may lack labels, and those that are there are not read.
        ("test", "a\tb\t-1\n", PAIRS, {}, [None]),
        ("test", "text_a\na\n", BY_NAME, {}, [None]),
        ("dev", '{"label": true}', Columns("label", None, "label"), {"labels": ["true"]}, ["true"]),
    ],
)
def test_labels_of_each_kind(name, text, columns, changes, expected, tmp_path):
    data = read(tmp_path, text, columns, name=name, **changes)
    assert [example.label for example in data.examples] == list(expected)
