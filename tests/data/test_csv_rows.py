# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""CSV files wherever texts and labels are read."""

import csv

import pytest

from albert.data import rows
from albert.tasks.classification import registry
from albert.util import UserError
from tests.support.classification_data import texts_in

TEXTS = [
    'He said, "no".',
    "two\nlines, and a\ttab",
    " \u00e9t\u00e9 \u2028",
    '{"a": "b"}',
    "long" * 40000,
]
LABELS = ["0", "1", "1", "0", "1"]
OPEN_QUOTE = b'label,text\n0,"two\nlines"\n1,"no end\n0,x\n'
BAD_QUOTE = b'label,text\n\n0,"a" b\n'
NOT_UTF8 = b"label,text\n0,a\xff\n"


@pytest.fixture
def path(tmp_path):
    """A file with texts and labels, as a spreadsheet writes it."""
    rows = [["label", "text"], *zip(LABELS, TEXTS), []]
    with open(tmp_path / "train.csv", "w", newline="", encoding="utf-8-sig") as stream:
        csv.writer(stream).writerows(rows)
    return tmp_path / "train.csv"


@pytest.mark.parametrize("text_a", ["text", 1])
def test_examples_of_csv(path, text_a):
    task = registry.custom_task(train_file="train.csv", label="label", labels="0,1", text_a=text_a)
    data = registry.read_examples(task, str(path.parent), "train")
    assert [item.text_a for item in data.examples] == TEXTS
    assert [item.label for item in data.examples] == LABELS
    assert data.columns == ("text",)
    assert len({item.guid for item in data.examples}) == len(TEXTS)


@pytest.mark.parametrize("columns, known", [("text", ()), ("1", ["text"]), (None, ["text"])])
def test_texts_of_csv(path, columns, known):
    assert texts_in(path, columns, known) == [(text,) for text in TEXTS]


@pytest.mark.parametrize(
    "name, content, texts",
    [
        ("in.csv", '"a, b",c\n{,"d ""e"""\n', [("a, b", "c"), ("{", 'd "e"')]),
        ("in.tsv", '"a\tb, "c""\n', [('"a', 'b, "c""')]),  # quotes of TSV files are text
    ],
)
def test_texts_without_header(tmp_path, name, content, texts):
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert texts_in(tmp_path / name) == texts


def test_parquet_column_that_occurs_twice_is_named(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_arrays([pyarrow.array(["a"])] * 2, names=["text", "text"])
    pytest.importorskip("pyarrow.parquet").write_table(table, str(tmp_path / "a.parquet"))
    with pytest.raises(UserError, match="a.parquet.*'text'"):
        rows.read_rows([str(tmp_path / "a.parquet")])


@pytest.mark.parametrize("content, line", [(OPEN_QUOTE, 4), (BAD_QUOTE, 3), (NOT_UTF8, 2)])
def test_texts_name_wrong_row(tmp_path, content, line):
    path = tmp_path / "train.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"train.csv:{line}: "):
        texts_in(path, "text")
    if content != NOT_UTF8:  # a few such lines are repaired
        with pytest.raises(ValueError, match=f"train.csv:{line}: "):
            rows.read_rows([str(path)])
