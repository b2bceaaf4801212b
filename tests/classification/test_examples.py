# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From lines to examples by declaration: dirt, columns, fields, headers, labels."""

import json
import subprocess
import sys

import pytest

from albert.classification import examples as labelled_examples
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


def _read(folder, text, reading, *, name="train", labels=BINARY):
    (folder / "data.txt").write_bytes(text.encode("utf-8"))
    split = Split(name, (Source("data.txt", reading),))
    return labelled_examples.read_split(split, [str(folder)], labels)


def _texts(data):
    return [(example.text_a, example.text_b, example.label) for example in data.examples]


def test_columns_are_found_by_number_from_either_end(tmp_path):
    data = _read(tmp_path, "x\tA one\tB one\t1\n", Columns(1, 2, -1, guid=0, header=False))
    assert _texts(data) == [("A one", "B one", "1")]
    assert data.examples[0].guid == "x"


def test_columns_are_found_by_name_wherever_they_are(tmp_path):
    text = "qid\tlabel\ttext_a\n7\t1\tgood\n8\t0\tbad\n"
    data = _read(tmp_path, text, Columns("text_a", None, "label"))
    assert _texts(data) == [("good", None, "1"), ("bad", None, "0")]


def test_rows_are_named_by_split_and_row_counted_with_the_header(tmp_path):
    text = "text_a\tlabel\ngood\t1\nbad\t0\n"
    data = _read(tmp_path, text, Columns("text_a", None, "label"), name="dev_matched")
    assert [example.guid for example in data.examples] == ["dev-1", "dev-2"]


@pytest.mark.parametrize("header", ["", "sentence1\tsentence2\tlabel\n", "A\tB\tLabel\n"])
def test_a_header_may_be_there_or_not(tmp_path, header):
    data = _read(tmp_path, header + "Q\tlabel\t1\nq\tr\t0\n", Columns(0, 1, 2))
    assert _texts(data) == [("Q", "label", "1"), ("q", "r", "0")]


def test_a_missing_header_costs_no_example(tmp_path):
    data = _read(tmp_path, "good\t1\nbad\t0\n", Columns(0, None, 1, header=True))
    assert len(data.examples) == 2
    assert data.notes == ["1 x header row missing: the first row is an example"]


def test_a_header_that_should_not_be_there_is_no_example(tmp_path):
    data = _read(tmp_path, "sentence\tlabel\ngood\t1\n", Columns(0, None, 1, header=False))
    assert _texts(data) == [("good", None, "1")]
    assert data.notes == ["1 x header row left out that such files do not have"]


def test_only_rows_of_the_wanted_value_are_taken_and_the_others_counted(tmp_path):
    text = "language\ttext\tlabel\nzh\t好\t1\nfr\tbon\t1\nzh\t坏\t0\n"
    data = _read(tmp_path, text, Columns("text", None, "label", only=("language", "zh")))
    assert [example.text_a for example in data.examples] == ["好", "坏"]
    assert data.notes == ["1 x row left out: not 'zh'"]


def test_a_row_with_too_few_columns_is_named(tmp_path):
    with pytest.raises(
        ValueError, match=r"data.txt:2: the row has 2 columns where at least 3.*'q'"
    ):
        _read(tmp_path, "a\tb\t1\nq\tr\n", Columns(0, 1, 2, header=False))
    with pytest.raises(ValueError, match="data.txt:1: the row has 2 columns where at least 3"):
        _read(tmp_path, "a\tentailment\n", Columns(0, 1, -1, header=False))


def test_short_rows_are_skipped_and_counted_where_the_data_is_known_to_hold_some(tmp_path):
    columns = Columns(0, 1, 2, header=False, short_rows_are_skipped=True)
    data = _read(tmp_path, "a\tb\t1\nbroken\nc\td\t0\n", columns)
    assert [example.guid for example in data.examples] == ["train-0", "train-2"]
    assert data.notes == ["1 x row with too few columns, skipped"]
    with pytest.raises(ValueError, match="11 of 12 rows cannot be used.*data.txt:2"):
        _read(tmp_path, "a\tb\t1\n" + "broken\n" * 11, columns)


def test_unknown_labels_are_named_with_file_and_line(tmp_path):
    with pytest.raises(ValueError, match="data.txt:2: unknown label 'yes'; the labels are: 0, 1"):
        _read(tmp_path, "a\t1\nb\tyes\n", Columns(0, None, 1, header=False))


def test_numbers_are_labels_of_regression_and_nothing_else_is(tmp_path):
    columns = Columns(0, None, 1, header=True)
    data = _read(tmp_path, "sentence\tscore\na\t5.000\nb\t0\n", columns, labels=Labels(()))
    assert [example.label for example in data.examples] == [5.0, 0.0]
    for wrong in ("high", "nan"):
        with pytest.raises(ValueError, match=f"data.txt:2: the label '{wrong}' is not a number"):
            _read(tmp_path, f"sentence\tscore\na\t{wrong}\n", columns, labels=Labels(()))


def test_other_spellings_of_labels_are_understood_and_unagreed_ones_dropped(tmp_path):
    labels = Labels(("contradiction", "neutral"), {"contradictory": "contradiction"}, ("-",))
    text = "a\tcontradictory\nb\t-\nc\t neutral \n"
    data = _read(tmp_path, text, Columns(0, None, 1, header=False), labels=labels)
    assert _texts(data) == [("a", None, "contradiction"), ("c", None, "neutral")]
    assert data.notes == ["1 x example dropped: its label is '-'"]
    data = _read(tmp_path, text, Columns(0, None, 1, header=False), labels=labels, name="test")
    assert [example.label for example in data.examples] == ["contradiction", None, "neutral"]


@pytest.mark.parametrize("text", ["a\tb\n", "a\tb\t-1\n"])
def test_test_files_may_lack_labels(tmp_path, text):
    data = _read(tmp_path, text, Columns(0, 1, 2, header=False), name="test")
    assert _texts(data) == [("a", "b", None)]
    data = _read(tmp_path, "text_a\tx\na\tb\n", Columns("text_a", None, "label"), name="test")
    assert _texts(data) == [("a", None, None)]


def test_fields_of_json_objects_are_texts_and_lists_of_texts(tmp_path):
    row = {"keyword": ["x", "y"], "abst": "an abstract", "label": 1}
    data = _read(tmp_path, json.dumps(row) + "\n", Fields("keyword", "abst"))
    assert _texts(data) == [("x y", "an abstract", "1")]
    assert data.examples[0].guid == "train-0"


def test_a_rendered_object_may_be_several_examples(tmp_path):
    def twice(values):
        return [Texts(values["text"] + end, None, label) for end, label in (("?", "0"), ("!", "1"))]

    text = '{"text": "a"}\n{"text": "b"}\n'
    data = _read(tmp_path, text, Fields("text", render=twice), name="dev")
    assert _texts(data)[2:] == [("b?", None, "0"), ("b!", None, "1")]
    assert [example.guid for example in data.examples] == ["dev-0", "dev-1", "dev-2", "dev-3"]


@pytest.mark.parametrize(
    "row, problem",
    [
        ('{"sentence": "a", "label": "0"}', r":1: the object has not the fields.*'text'"),
        ('{"text": {"a": 1}, "label": "0"}', ":1: the object has not the fields.*is no text"),
        ('{"text": "a"}', ":1: the example has no label"),
        ('{"text": "a", "label": 2}', ":1: unknown label '2'"),
    ],
)
def test_an_object_that_does_not_fit_is_named(tmp_path, row, problem):
    with pytest.raises(ValueError, match="data.txt" + problem):
        _read(tmp_path, row + "\n", Fields("text"))


def test_what_a_renderer_refuses_is_named_with_file_and_line(tmp_path):
    def refuse(values):
        raise ValueError("no span")

    with pytest.raises(ValueError, match="data.txt:1: no span"):
        _read(tmp_path, "{}\n", Fields("text", render=refuse))


def test_the_first_source_that_is_there_and_fits_is_read(tmp_path):
    named = Columns("text_a", None, "label")
    sources = (
        Source("train.json", Fields("text")),
        Source("train.tsv", named),
        Source("train.tsv", Columns(1, None, 0)),
    )
    split = Split("train", sources)
    (tmp_path / "train.tsv").write_text("1\tgood\n", encoding="utf-8")
    data = labelled_examples.read_split(split, [str(tmp_path)], BINARY)
    assert _texts(data) == [("good", None, "1")]
    assert labelled_examples.find_files(split, [str(tmp_path)]) == [str(tmp_path / "train.tsv")]


def test_a_split_that_is_nowhere_is_named_with_the_places(tmp_path):
    split = Split("train", (Source("train.tsv", Columns(0)), Source("train.json", Fields("text"))))
    with pytest.raises(
        ValueError, match=r"train data was not found: none of train.tsv, train.json"
    ):
        labelled_examples.read_split(split, [str(tmp_path)], BINARY)


@pytest.mark.parametrize("text, problem", [("", "it is empty"), ("a\tb\n", "no column 'text_a'")])
def test_a_file_that_does_not_fit_is_refused_with_the_reason(tmp_path, text, problem):
    with pytest.raises(ValueError, match=f"cannot be read for train: .*{problem}"):
        _read(tmp_path, text, Columns("text_a", None, "label"))


def test_a_file_with_a_header_alone_is_refused(tmp_path):
    with pytest.raises(ValueError, match="data.txt' holds no example for train"):
        _read(tmp_path, "text_a\tlabel\n", Columns("text_a", None, "label"))


def test_empty_texts_are_kept_and_counted(tmp_path):
    data = _read(tmp_path, "a\t1\n\t0\n", Columns(0, None, 1, header=False))
    assert len(data.examples) == 2
    assert data.notes == ["1 x example with an empty text"]


def test_the_log_line_tells_what_was_read_and_what_was_dirty(tmp_path):
    data = _read(tmp_path, "\ufeffa\t1\r\n\n", Columns(0, None, 1, header=False))
    line = labelled_examples.dirt_line("mine train", data)
    assert line == f"mine train: 1 examples from {tmp_path / 'data.txt'} (1 x blank line)"


# ------------------------------------------------------------------------------------------ lines


def _file(folder, content):
    path = folder / "data.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return str(path)


def test_the_module_is_imported_without_tensorflow():
    code = "import sys, albert.classification.examples; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.call([sys.executable, "-c", code]) == 0


def test_cells_end_at_tabs_and_quotes_are_text(tmp_path):
    table = read_tsv(_file(tmp_path, '1\t"He said\t"yes" \u2028too\n'))
    assert table.rows == [(0, ["1", '"He said', '"yes" \u2028too'])]
    assert table.dirt == {}


def test_dirt_is_mended_and_counted(tmp_path):
    path = _file(tmp_path, b"\xef\xbb\xbfa\tb\r\n\r\n1\t2\r\n \n3\t4")
    table = read_tsv(path)
    assert table.rows == [(0, ["a", "b"]), (2, ["1", "2"]), (4, ["3", "4"])]
    assert table.dirt == {"blank line": 2}
    assert table.where(table.rows[1]) == f"{path}:3"
    table = read_tsv(_file(tmp_path, b"caf\xe9\t1\nok \xef\xbf\xbd\t0\n"))
    assert table.rows[0].values == ["caf\ufffd", "1"]
    assert table.dirt == {"line with bytes that are not UTF-8, replaced": 1}


@pytest.mark.parametrize(
    "content, problem",
    [
        ("中文\t1\n".encode("gb18030") * 20, "20 lines.* first is line 1.*iconv"),
        ("a\tb".encode("utf-16"), "UTF-16 text.*iconv"),
    ],
)
def test_a_file_in_another_encoding_is_refused_with_the_way_to_convert_it(
    tmp_path, content, problem
):
    with pytest.raises(ValueError, match=problem):
        read_tsv(_file(tmp_path, content))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match="nowhere.tsv"):
        read_tsv(str(tmp_path / "nowhere.tsv"))


def test_json_objects_are_read_one_a_line(tmp_path):
    lines = read_json_lines(_file(tmp_path, '{"a": 1}\r\n\n{"a": "é"}\r\n'))
    assert lines.rows == [(0, {"a": 1}), (2, {"a": "é"})]
    for line in ('{"a": \n', "[2]"):
        with pytest.raises(ValueError, match="data.txt:2: "):
            read_json_lines(_file(tmp_path, '{"a": 1}\n' + line))


def test_few_damaged_rows_are_accepted_and_many_refused():
    def table(rows):
        return labelled_examples.Table("data.tsv", [(n, []) for n in range(rows)], {})

    table(20).check_damage({"short": 10}, "data.tsv:3")
    table(2000).check_damage({"short": 20}, "data.tsv:3")
    with pytest.raises(ValueError, match="21 of 2000 rows.*21 x short.*data.tsv:3"):
        table(2000).check_damage({"short": 21}, "data.tsv:3")
