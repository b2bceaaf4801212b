# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Rows of TSV and JSON-lines files, and the dirt in them."""

import subprocess
import sys

import pytest

from albert.classification import tables


def _file(folder, content):
    path = folder / "data.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return str(path)


def test_the_module_is_imported_without_tensorflow():
    code = "import sys, albert.classification.tables; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.call([sys.executable, "-c", code]) == 0


def test_cells_end_at_tabs_and_quotes_are_text(tmp_path):
    path = _file(tmp_path, '1\t"He said\t"yes" \u2028too\n')
    table = tables.read_tsv(path)
    assert table.rows == [tables.Row(0, ["1", '"He said', '"yes" \u2028too'])]
    assert table.dirt == {"line with an unpaired quote, kept as text": 1}


def test_dirt_is_mended_and_counted(tmp_path):
    path = _file(tmp_path, b"\xef\xbb\xbfa\tb\r\n\r\n1\t2\r\n \n3\t4")
    table = tables.read_tsv(path)
    assert [row.values for row in table.rows] == [["a", "b"], ["1", "2"], ["3", "4"]]
    assert [row.number for row in table.rows] == [0, 2, 4]
    assert table.dirt == {
        "byte-order mark removed": 1,
        "line with a carriage return at its end": 3,
        "blank line": 2,
    }
    assert table.where(table.rows[1]) == f"{path}:3"


def test_a_clean_file_has_no_dirt(tmp_path):
    assert tables.read_tsv(_file(tmp_path, "a\tb\n1\t2\n")).dirt == {}


def test_a_few_bytes_that_are_not_utf_8_are_replaced_and_counted(tmp_path):
    table = tables.read_tsv(_file(tmp_path, b"caf\xe9\t1\nok \xef\xbf\xbd\t0\n"))
    assert table.rows[0].values == ["caf\ufffd", "1"]
    assert table.dirt == {"line with bytes that are not UTF-8, replaced": 1}


def test_a_file_in_another_encoding_is_refused_with_the_way_to_convert_it(tmp_path):
    path = _file(tmp_path, "中文\t1\n".encode("gb18030") * 20)
    with pytest.raises(ValueError, match="not UTF-8 text: 20 lines.* first is line 1.*iconv"):
        tables.read_tsv(path)
    with pytest.raises(ValueError, match="UTF-16 text.*iconv"):
        tables.read_tsv(_file(tmp_path, "a\tb".encode("utf-16")))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match="nowhere.tsv' does not exist"):
        tables.read_tsv(str(tmp_path / "nowhere.tsv"))


def test_json_objects_are_read_one_a_line_or_as_one_array(tmp_path):
    rows = [{"a": 1}, {"a": "é"}]
    lines = tables.read_json_lines(_file(tmp_path, '{"a": 1}\r\n\n{"a": "é"}\r\n'))
    assert [row.values for row in lines.rows] == rows
    assert [row.number for row in lines.rows] == [0, 2]
    array = tables.read_json_lines(_file(tmp_path, '[\n{"a": 1},\n{"a": "é"}\n]\n'))
    assert [row.values for row in array.rows] == rows


@pytest.mark.parametrize(
    "content, problem",
    [
        ('{"a": 1}\n{"a": \n', ":2: not JSON"),
        ('{"a": 1}\n[2]\n', r":2: '\[2\]' is not a JSON object"),
    ],
)
def test_a_line_that_is_no_json_object_is_named(tmp_path, content, problem):
    with pytest.raises(ValueError, match=problem):
        tables.read_json_lines(_file(tmp_path, content))


@pytest.mark.parametrize(
    "content, expected",
    [('\n {"a": 1}\n', True), ('[{"a": 1}]', True), ("[\n{}]", True), ("[a] b\tc\n", False)],
)
def test_json_is_told_from_other_text(tmp_path, content, expected):
    assert tables.looks_like_json(_file(tmp_path, content)) is expected


def test_few_damaged_rows_are_accepted_and_many_refused():
    def table(rows):
        return tables.Table("data.tsv", [tables.Row(n, []) for n in range(rows)], {})

    tables.check_share(table(20), {"short": 10}, "data.tsv:3")
    tables.check_share(table(2000), {"short": 20}, "data.tsv:3")
    with pytest.raises(ValueError, match="21 of 2000 rows.*21 x short.*data.tsv:3"):
        tables.check_share(table(2000), {"short": 21}, "data.tsv:3")
