# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From rows to examples by declaration: columns, fields, headers, labels."""

import json

import pytest

from albert.classification import examples
from albert.classification.examples import Columns, Fields, Labels, Source, Split, Texts, read_table

BINARY = Labels(("0", "1"))
NLI = Labels(("contradiction", "neutral"), {"contradictory": "contradiction"}, ("-",))
REGRESSION = Labels(())
SINGLE = Columns(0, None, 1, header=False)
PAIRS = Columns(0, 1, 2, header=False)
SCORES = Columns(0, None, 1, header=True)
BY_NAME = Columns("text_a", None, "label")
GOOD = ("good", None, "1")
TWO_PAIRS = [("Q", "label", "1"), ("q", "r", "0")]


def read(folder, text, reading, *, name="train", labels=BINARY):
    content = text if isinstance(text, bytes) else text.encode("utf-8")
    (folder / "data.txt").write_bytes(content)
    split = Split(name, (Source("data.txt", reading),))
    return examples.read_split(split, [str(folder)], labels)


def texts(data):
    return [(example.text_a, example.text_b, example.label) for example in data.examples]


def twice(values):
    return [Texts(values["q"] + end, None, label) for end, label in (("?", "0"), ("!", "1"))]


@pytest.mark.parametrize(
    "text, reading, expected, notes, columns",
    [
        ("x\tA\tB\t1\n", Columns(1, 2, -1, guid=0, header=False), [("A", "B", "1")], 0, ()),
        ("qid\tlabel\ttext_a\n7\t1\tgood\n", BY_NAME, [GOOD], 0, ("text_a",)),
        ("label\tQ\tR\n1\ta\tb\n", Columns(1, -1, 0, header=True), [("a", "b", "1")], 0, "QR"),
        # Where the declaration leaves the header open, the first row decides.
        ("Q\tlabel\t1\nq\tr\t0\n", Columns(0, 1, 2), TWO_PAIRS, 0, ()),
        ("A\tB\tLabel\nQ\tlabel\t1\nq\tr\t0\n", Columns(0, 1, 2), TWO_PAIRS, 0, "AB"),
        # A header that is missing costs no example; an unexpected one is none.
        ("good\t1\n", SCORES, [GOOD], 1, ()),
        ("sentence\tlabel\ngood\t1\n", SINGLE, [GOOD], 1, ("sentence",)),
        (
            "language\ttext\tlabel\nzh\tgood\t1\nfr\tbon\t1\n",
            Columns("text", None, "label", filter="language", filter_value="zh"),
            [GOOD],
            1,
            ("text",),
        ),
        ("good\t1\n\t0\n", SINGLE, [GOOD, ("", None, "0")], 1, ()),
        ('\ufeffgood\t1\r\n\r\n"a" \u2028\t0', SINGLE, [GOOD, ('"a" \u2028', None, "0")], 1, ()),
        ('{"q": ["x", "y"], "r": "é", "label": 1}', Fields("q", "r"), [("x y", "é", "1")], 0, "qr"),
        ('{"q": "a"}', Fields("q", render=twice), [("a?", None, "0"), ("a!", None, "1")], 0, ()),
    ],
)
def test_rows_are_examples_as_declared(text, reading, expected, notes, columns, tmp_path):
    data = read(tmp_path, text, reading)
    assert texts(data) == expected and data.columns == tuple(columns)
    assert len(data.notes) == notes


@pytest.mark.parametrize(
    "text, reading, guids",
    [
        ("text_a\tlabel\ngood\t1\n\nbad\t0\n", BY_NAME, ["dev-1", "dev-3"]),
        ("text_a\tlabel\ngood\t1\n", BY_NAME._replace(guid="text_a"), ["good"]),
        ('{"q": "a"}\n{"q": "b"}', Fields("q", render=twice), [f"dev-{n}" for n in range(4)]),
    ],
)
def test_examples_are_named_by_a_column_or_by_split_and_row(text, reading, guids, tmp_path):
    data = read(tmp_path, text, reading, name="dev_matched")
    assert [item.guid for item in data.examples] == guids


def test_short_rows_are_skipped_up_to_a_limit_where_some_are_known(tmp_path):
    columns = PAIRS._replace(short_rows_are_skipped=True)
    data = read(tmp_path, "a\tb\t1\nbroken\nc\td\t0\n", columns)
    assert [example.guid for example in data.examples] == ["train-0", "train-2"]
    assert len(data.notes) == 1
    read(tmp_path, "a\tb\t1\n" * 1980 + "broken\n" * 20, columns)
    for whole, broken in ((1, 11), (1979, 21)):
        with pytest.raises(ValueError, match=f"{broken} of .*data.txt:{whole + 1}"):
            read(tmp_path, "a\tb\t1\n" * whole + "broken\n" * broken, columns)


@pytest.mark.parametrize(
    "text, reading, labels, place",
    [
        ("a\tb\t1\nq\tr\n", PAIRS, BINARY, ":2: .*'q'"),
        ("a\t1\nb\tyes\n", SINGLE, BINARY, ":2: .*'yes'.* 0, 1"),
        ("sentence\tscore\na\thigh\n", SCORES, REGRESSION, ":2: .*'high'"),
        ("sentence\tscore\na\tnan\n", SCORES, REGRESSION, ":2: .*'nan'"),
        ('{"sentence": "a", "label": "0"}', Fields("text"), BINARY, ":1: .*'text'"),
        ('{"text": {"a": 1}, "label": "0"}', Fields("text"), BINARY, ":1: "),
        ('{"text": "a"}', Fields("text"), BINARY, ":1: no label"),
        ('{"text": "a", "label": 2}', Fields("text"), BINARY, ":1: .*'2'"),
        ('{"text": "a", "label": 1}\n{"a": ', Fields("text"), BINARY, ":2 .*JSON"),
        ('{"text": "a", "label": 1}\n[2]', Fields("text"), BINARY, ":2 "),
        ("", BY_NAME, BINARY, "' is empty"),
        ("a\tb\n", BY_NAME, BINARY, "' .*'text_a'"),
        ("a\t0\n中文\t1\n".encode("gb18030"), SINGLE, BINARY, "', line 2"),
    ],
)
def test_what_cannot_be_used_is_named_with_file_and_line(text, reading, labels, place, tmp_path):
    with pytest.raises(ValueError, match="data.txt" + place):
        read(tmp_path, text, reading, labels=labels)


@pytest.mark.parametrize(
    "name, text, reading, labels, expected",
    [
        ("train", "sentence\tscore\na\t5.000\nb\t0\n", SCORES, REGRESSION, [5.0, 0.0]),
        # Other spellings are known; an example on which annotators disagreed is dropped.
        (
            "train",
            "a\tcontradictory\nb\t-\nc\t neutral \n",
            SINGLE,
            NLI,
            ["contradiction", "neutral"],
        ),
        ("test", "a\tcontradictory\nb\t-\n", SINGLE, NLI, ["contradiction", None]),
        # Test files may lack labels.
        ("test", "a\tb\n", PAIRS, BINARY, [None]),
        ("test", "a\tb\t-1\n", PAIRS, BINARY, [None]),
        ("test", "text_a\na\n", BY_NAME, BINARY, [None]),
        ("dev", '{"q": "a", "label": true}', Fields("q"), Labels(("true", "false")), ["true"]),
    ],
)
def test_labels_are_names_numbers_or_unknown(name, text, reading, labels, expected, tmp_path):
    data = read(tmp_path, text, reading, labels=labels, name=name)
    assert [example.label for example in data.examples] == expected
    assert len(data.notes) == (labels is NLI and name == "train")


def test_the_first_source_that_exists_and_fits_is_read(tmp_path):
    sources = (
        Source("train.json", Fields("text")),
        Source("train.tsv", BY_NAME),
        Source("train.tsv", Columns(1, None, 0)),
    )
    split = Split("train", sources)
    with pytest.raises(ValueError, match="train.tsv .*--data_dir"):
        examples.read_split(split, [str(tmp_path)], BINARY)
    (tmp_path / "train.tsv").write_text("1\tgood\n", encoding="utf-8")
    assert texts(examples.read_split(split, [str(tmp_path)], BINARY)) == [GOOD]
    assert [source.file for source in examples.find_files(split, [str(tmp_path)])] == [
        str(tmp_path / "train.tsv")
    ] * 2


@pytest.mark.parametrize("name, text", [("a.txt", "q\t0"), ("a.csv", 'q,"0"'), ("a.json", None)])
def test_the_kind_of_a_file_is_recognized(name, text, tmp_path):
    row = {"q": "0"} if text is None else ["q", "0"]
    (tmp_path / name).write_text(text or json.dumps(row), encoding="utf-8")
    assert [row.values for row in read_table(tmp_path / name).rows] == [row]
