# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From lines to examples by declaration: dirt, columns, fields, headers, labels."""

import json

import pytest

from albert.classification import examples
from albert.classification.examples import (
    Columns,
    Fields,
    Labels,
    Source,
    Split,
    Texts,
    read_json_lines,
    read_tsv,
)

BINARY = Labels(("0", "1"))
NLI = Labels(("contradiction", "neutral"), {"contradictory": "contradiction"}, ("-",))
PAIRS = Columns(0, 1, 2, header=False)
BY_NAME = Columns("text_a", None, "label")


def _read(folder, text, reading, *, name="train", labels=BINARY):
    (folder / "data.txt").write_bytes(text.encode("utf-8"))
    split = Split(name, (Source("data.txt", reading),))
    return examples.read_split(split, [str(folder)], labels)


def _texts(data):
    return [(example.text_a, example.text_b, example.label) for example in data.examples]


@pytest.mark.parametrize(
    "text, reading, columns",
    [
        ("qid\tlabel\ttext_a\n7\t1\tgood\n", BY_NAME, ("text_a",)),
        ("label\tQ\tR\n1\ta\tb\n", Columns(1, -1, 0, header=True), ("Q", "R")),
        ("a\tb\t1\n", PAIRS, ()),
        ('{"q": "a", "r": "b", "label": "1"}', Fields("q", "r"), ("q", "r")),
        ('{"q": "a"}', Fields("q", render=lambda _: [Texts("a", None, "1")]), ()),
    ],
)
def test_the_names_of_the_texts_are_known_where_the_file_has_them(tmp_path, text, reading, columns):
    assert _read(tmp_path, text, reading).columns == columns


TWO_PAIRS = [("Q", "label", "1"), ("q", "r", "0")]
GOOD = [("good", None, "1")]


@pytest.mark.parametrize(
    "text, columns, expected, notes",
    [
        ("x\tA\tB\t1\n", Columns(1, 2, -1, guid=0, header=False), [("A", "B", "1")], 0),
        ("qid\tlabel\ttext_a\n7\t1\tgood\n", BY_NAME, GOOD, 0),
        # Where the declaration leaves the header open, the first row decides.
        ("Q\tlabel\t1\nq\tr\t0\n", Columns(0, 1, 2), TWO_PAIRS, 0),
        ("sentence1\tsentence2\tlabel\nQ\tlabel\t1\nq\tr\t0\n", Columns(0, 1, 2), TWO_PAIRS, 0),
        ("A\tB\tLabel\nQ\tlabel\t1\nq\tr\t0\n", Columns(0, 1, 2), TWO_PAIRS, 0),
        # A header that is missing costs no example; an unexpected one is none.
        ("good\t1\n", Columns(0, None, 1, header=True), GOOD, 1),
        ("sentence\tlabel\ngood\t1\n", Columns(0, None, 1, header=False), GOOD, 1),
        (
            "language\ttext\tlabel\nzh\tgood\t1\nfr\tbon\t1\n",
            Columns("text", None, "label", only=("language", "zh")),
            GOOD,
            1,
        ),
        ("good\t1\n\t0\n", Columns(0, None, 1, header=False), [*GOOD, ("", None, "0")], 1),
    ],
)
def test_columns_are_found_by_number_or_name(text, columns, expected, notes, tmp_path):
    data = _read(tmp_path, text, columns)
    assert _texts(data) == expected
    assert len(data.notes) == notes


def test_examples_are_named_by_a_column_or_by_split_and_row(tmp_path):
    text = "text_a\tlabel\ngood\t1\nbad\t0\n"
    guids = [item.guid for item in _read(tmp_path, text, BY_NAME, name="dev_matched").examples]
    assert guids == ["dev-1", "dev-2"]
    named = BY_NAME._replace(guid="text_a")
    assert [item.guid for item in _read(tmp_path, text, named).examples] == ["good", "bad"]


def test_short_rows_are_skipped_and_counted_where_the_data_is_known_to_hold_some(tmp_path):
    columns = PAIRS._replace(short_rows_are_skipped=True)
    data = _read(tmp_path, "a\tb\t1\nbroken\nc\td\t0\n", columns)
    assert [example.guid for example in data.examples] == ["train-0", "train-2"]
    assert len(data.notes) == 1
    with pytest.raises(ValueError, match="11 of 12 rows .*data.txt:2"):
        _read(tmp_path, "a\tb\t1\n" + "broken\n" * 11, columns)
    _read(tmp_path, "a\tb\t1\n" * 1980 + "broken\n" * 20, columns)
    with pytest.raises(ValueError, match="data.txt:1980"):
        _read(tmp_path, "a\tb\t1\n" * 1979 + "broken\n" * 21, columns)


REGRESSION = Labels(())


@pytest.mark.parametrize(
    "text, reading, labels, place",
    [
        ("a\tb\t1\nq\tr\n", PAIRS, BINARY, ":2: .*'q'"),
        ("a\tentailment\n", Columns(0, 1, -1, header=False), BINARY, ":1: "),
        ("a\t1\nb\tyes\n", Columns(0, None, 1, header=False), BINARY, ":2: .*'yes'.* 0, 1"),
        (
            "sentence\tscore\na\thigh\n",
            Columns(0, None, 1, header=True),
            REGRESSION,
            ":2: .*'high'",
        ),
        ("sentence\tscore\na\tnan\n", Columns(0, None, 1, header=True), REGRESSION, ":2: .*'nan'"),
        ('{"sentence": "a", "label": "0"}', Fields("text"), BINARY, ":1: .*'text'"),
        ('{"text": {"a": 1}, "label": "0"}', Fields("text"), BINARY, ":1: "),
        ('{"text": "a"}', Fields("text"), BINARY, ":1: .* no label"),
        ('{"text": "a", "label": 2}', Fields("text"), BINARY, ":1: .*'2'"),
        ("", BY_NAME, BINARY, "' cannot be read for train: .*empty"),
        ("a\tb\n", BY_NAME, BINARY, "' cannot be read for train: .*'text_a'"),
    ],
)
def test_what_cannot_be_used_is_named_with_file_and_line(text, reading, labels, place, tmp_path):
    with pytest.raises(ValueError, match="data.txt" + place):
        _read(tmp_path, text, reading, labels=labels)


def test_labels_of_regression_are_numbers(tmp_path):
    columns = Columns(0, None, 1, header=True)
    data = _read(tmp_path, "sentence\tscore\na\t5.000\nb\t0\n", columns, labels=REGRESSION)
    assert [example.label for example in data.examples] == [5.0, 0.0]


def test_other_spellings_of_labels_are_understood_and_disagreement_is_dropped(tmp_path):
    text = "a\tcontradictory\nb\t-\nc\t neutral \n"
    columns = Columns(0, None, 1, header=False)
    data = _read(tmp_path, text, columns, labels=NLI)
    assert _texts(data) == [("a", None, "contradiction"), ("c", None, "neutral")]
    assert data.notes == ["1 x example dropped: its label is '-'"]
    data = _read(tmp_path, text, columns, labels=NLI, name="test")
    assert [example.label for example in data.examples] == ["contradiction", None, "neutral"]


@pytest.mark.parametrize(
    "text, columns",
    [
        ("a\tb\n", PAIRS),
        ("a\tb\t-1\n", PAIRS),
        ("text_a\ttext_b\na\tb\n", Columns("text_a", "text_b", "label")),
    ],
)
def test_test_files_may_lack_labels(text, columns, tmp_path):
    assert _texts(_read(tmp_path, text, columns, name="test")) == [("a", "b", None)]


def test_fields_of_json_objects_are_texts_lists_of_texts_or_rendered(tmp_path):
    row = {"keyword": ["x", "y"], "abst": "an abstract", "label": 1}
    data = _read(tmp_path, json.dumps(row) + "\n", Fields("keyword", "abst"))
    assert _texts(data) == [("x y", "an abstract", "1")]
    assert data.examples[0].guid == "train-0"

    def twice(values):
        return [Texts(values["text"] + end, None, label) for end, label in (("?", "0"), ("!", "1"))]

    text = '{"text": "a"}\n{"text": "b"}\n'
    data = _read(tmp_path, text, Fields("text", render=twice), name="dev")
    assert _texts(data)[2:] == [("b?", None, "0"), ("b!", None, "1")]
    assert [example.guid for example in data.examples] == ["dev-0", "dev-1", "dev-2", "dev-3"]


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
    assert _texts(examples.read_split(split, [str(tmp_path)], BINARY)) == GOOD
    assert examples.find_files(split, [str(tmp_path)]) == [str(tmp_path / "train.tsv")]


# ------------------------------------------------------------------------------------------ lines


def _file(folder, content):
    path = folder / "data.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return str(path)


@pytest.mark.parametrize(
    "read, content, rows, dirt",
    [
        (read_tsv, '1\t"a\t"b" \u2028c\n', [(0, ["1", '"a', '"b" \u2028c'])], {}),
        (
            read_tsv,
            b"\xef\xbb\xbfa\tb\r\n\r\n1\t2\r\n \n3\t4",
            [(0, ["a", "b"]), (2, ["1", "2"]), (4, ["3", "4"])],
            {"blank line": 2},
        ),
        (
            read_tsv,
            b"caf\xe9\t1\nok \xef\xbf\xbd\t0\n",
            [(0, ["caf\ufffd", "1"]), (1, ["ok \ufffd", "0"])],
            {"line with bytes that are not UTF-8, replaced": 1},
        ),
        (
            read_json_lines,
            '{"a": 1}\r\n\n{"a": "é"}\r\n',
            [(0, {"a": 1}), (2, {"a": "é"})],
            {"blank line": 1},
        ),
    ],
)
def test_dirt_is_repaired_and_counted(read, content, rows, dirt, tmp_path):
    table = read(_file(tmp_path, content))
    assert table.rows == rows
    assert table.dirt == dirt


@pytest.mark.parametrize(
    "read, content, problem",
    [
        (read_tsv, "中文\t1\n".encode("gb18030") * 20, "20 lines.* line 1.*iconv"),
        (read_tsv, "a\tb".encode("utf-16"), "iconv"),
        (read_json_lines, '{"a": 1}\n{"a": \n', ":2: "),
        (read_json_lines, '{"a": 1}\n[2]', ":2: "),
    ],
)
def test_a_file_of_another_kind_is_refused(read, content, problem, tmp_path):
    with pytest.raises(ValueError, match=f"data.txt.*{problem}"):
        read(_file(tmp_path, content))
