# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From rows to examples: columns, fields, headers, labels."""

import math

import pytest

from albert.tasks.classification import examples, registry
from albert.tasks.classification.examples import Columns, InputExample
from tests.support import FIXTURES, read_json

SINGLE = Columns(0, None, 1)
PAIRS = Columns(0, 1, 2)
BY_NAME = Columns("text_a", None, "label")
ROWS = read_json(FIXTURES / "rows.json")


def read_text(folder, text, columns, *, name="train", **changes):
    content = text if isinstance(text, bytes) else text.encode("utf-8")
    (folder / "data.txt").write_bytes(content)
    task = registry.custom_task(text_a=0, labels="0,1")._replace(columns=(columns,), **changes)
    return examples.read_file(task, f"{folder}/data.txt", name)


def twice(values):
    ends = (("?", "0"), ("!", "1"))
    return [InputExample("", values["q"] + end, None, label) for end, label in ends]


@pytest.mark.parametrize("given", ROWS["read"], ids=lambda given: given["text"][:20])
def test_read_file_by_columns(given, tmp_path):
    data = read_text(tmp_path, given["text"], Columns(**given["columns"]))
    assert [[item.text_a, item.text_b, item.label] for item in data.examples] == given["expected"]
    assert list(data.columns) == given["names"]


def test_guid_is_a_column_or_the_row(tmp_path):
    for columns, expected in (
        (BY_NAME, ["dev-1", "dev-3"]),
        (BY_NAME._replace(guid="text_a"), ["good", "bad"]),
    ):
        data = read_text(
            tmp_path, "text_a\tlabel\ngood\t1\n\nbad\t0\n", columns, name="dev_matched"
        )
        assert [item.guid for item in data.examples] == expected


def test_read_file_renders_rows(tmp_path):
    data = read_text(tmp_path, '{"q": "a"}\n{"q": "b"}', Columns("q", render=twice), name="dev")
    found = [(item.guid, item.text_a, item.label) for item in data.examples]
    expected = zip("0123", ("a?", "a!", "b?", "b!"), "0101")
    assert found == [(f"dev-{row}", text, label) for row, text, label in expected]


def test_short_rows_are_skipped_or_refused(tmp_path):
    data = read_text(tmp_path, "a\tb\t1\n" * 198 + "cut short\n" * 2, PAIRS)
    assert len(data.examples) == 198
    with pytest.raises(ValueError, match="data.txt:198: .*3 of 200"):
        read_text(tmp_path, "a\tb\t1\n" * 197 + "cut short\n" * 3, PAIRS)
    with pytest.raises(ValueError, match="data.*:198: 3 of 200"):  # a tab in a text
        read_text(tmp_path, "a\tb\t1\n" * 197 + "a\tb\t1\t1\n" * 3, PAIRS)


@pytest.mark.parametrize(
    "columns, text, named",
    [
        (PAIRS, "a\tb\t1\n" * 100 + "a\tb\t1\tc\n", ":101"),  # the rest of b is not read
        (SINGLE, "a\t1\n \t0\nb\t1\n\t0\n", ":2"),
        (PAIRS, "a\tb\t0\na\t\t1\n", ":2"),
        (BY_NAME, '{"text_a": "a", "label": 0}\n{"text_a": [], "label": 1}', ":2"),
        (SINGLE, 'a\t1\n"say ""a"""\t0\n"""b"""\t1\n', '"say ""a"""'),
        (SINGLE, 'a "b"\t1\n"say ""a"""\t0\n"""b"""\t1\n', ""),  # quotes of the texts
        (SINGLE, 'a\t1\n"b"\t0\n', ""),
    ],
)
def test_odd_rows_are_counted_and_named(columns, text, named, tmp_path, caplog):
    found = read_text(tmp_path, text, columns).examples
    assert len(found) == text.count("\n") + text.startswith("{")
    assert bool(caplog.records) == bool(named) and named in caplog.text
    assert all("data.txt" in record.getMessage() for record in caplog.records)


def test_header_is_named_in_the_log(tmp_path, caplog):
    caplog.set_level("INFO")
    read_text(tmp_path, "text_a\tlabel\na\t1\n", BY_NAME)
    assert "text_a, label" in caplog.text


@pytest.mark.parametrize("value", [None, True, math.nan, math.inf, {"a": "b"}, ["a", False]])
def test_what_is_no_text_is_refused(value):
    with pytest.raises(TypeError):
        examples.text_of(value)


def test_row_that_may_be_a_header_names_the_flag(tmp_path):
    with pytest.raises(ValueError, match="data.txt:1: .*'polarity'.* --header"):
        read_text(tmp_path, "review text\tpolarity\na\t1\n", SINGLE)
    with pytest.raises(ValueError, match="^(?!.*--header)"):
        read_text(tmp_path, "a\t1\nreview text\tpolarity\n", SINGLE)


@pytest.mark.parametrize("given", ROWS["refused"], ids=lambda given: given["named"])
def test_read_file_names_file_and_line(given, tmp_path):
    with pytest.raises(ValueError, match="data.txt" + given["named"]):
        read_text(tmp_path, given["text"], Columns(**given["columns"]))


def test_read_file_names_a_line_that_is_not_utf8(tmp_path):
    with pytest.raises(ValueError, match="data.txt', line 2"):
        read_text(tmp_path, "a\t0\n\u4e2d\u6587\t1\n".encode("gb18030"), SINGLE)


@pytest.mark.parametrize("cell, labels", [("nan", ()), ("yes.0", ["yes"])])
def test_wrong_score_or_label_is_named(cell, labels, tmp_path):
    with pytest.raises(ValueError, match=f"data.txt:2: .*'{cell}'"):
        read_text(tmp_path, f"sentence\tscore\na\t{cell}\n", SINGLE, labels=labels)


@pytest.mark.parametrize(
    "name, text, columns, changes, expected",
    [
        ("train", "sentence\tscore\na\t5.000\nb\t0\n", SINGLE, {"labels": ()}, [5.0, 0.0]),
        # Other spellings are known; an example on which annotators disagreed is dropped.
        ("train", "a\tyes\nb\t-\nc\t 0 \n", SINGLE, {"label_aliases": {"yes": "1", "-": ""}}, "10"),
        # Test files may lack labels, and those that are there are not read.
        ("test", "a\tb\t-1\n", PAIRS, {}, [None]),
        ("test", "text_a\na\n", BY_NAME, {}, [None]),
        ("dev", '{"text_a": 1, "label": true}', BY_NAME, {"labels": ["true"]}, ["true"]),
    ],
)
def test_labels_of_each_kind(name, text, columns, changes, expected, tmp_path):
    data = read_text(tmp_path, text, columns, name=name, **changes)
    assert [example.label for example in data.examples] == list(expected)
