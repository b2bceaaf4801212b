# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""SQuAD files as they should be, and as they should not be."""

import gzip
import json

import pytest

from albert.tasks.squad import examples as squad_examples
from tests.support import parquet_files
from tests.support.squad_data import paragraph, question, write_squad

TOWN = "The old town lies by the river. The river is cold."
OLD = question("r", "?", ("old", 4))


def _read(folder, *questions, is_training=True, context=TOWN, **options):
    path = write_squad(folder, [paragraph(context, *questions)])
    return squad_examples.read_squad_examples(path, is_training, **options)


# ------------------------------------------------------------------------------------- what is read


def test_read_squad_examples_fields(tmp_path):
    several = question("q", "which ?", ("the river", 21), ("river", 25))
    impossible = question("i", "who ?", ("old", 4), is_impossible=True)
    example, none = _read(tmp_path, several, impossible)
    assert vars(example) == {
        "qas_id": "q",
        "question_text": "which ?",
        "paragraph_text": TOWN,
        "orig_answer_text": "the river",
        "start_position": 21,
        "end_position": None,
        "is_impossible": False,
        "answers": ("the river", "river"),
    }
    assert (none.is_impossible, none.answers) == (True, ())
    assert (none.orig_answer_text, none.start_position) == ("", -1)
    (unread,) = _read(tmp_path, several, is_training=False)
    unknown = dict.fromkeys(("orig_answer_text", "start_position"))
    assert vars(unread) == {**vars(example), **unknown}


_ANSWERS = {"text": ["the river", "river"], "answer_start": [21, 25]}
_ROWS = [
    {"id": "q", "question": "which ?", "context": TOWN, "answers": _ANSWERS},
    {"id": "i", "question": "who ?", "context": TOWN, "answers": {"text": [], "answer_start": []}},
]
_ASKED = paragraph(
    TOWN,
    question("q", "which ?", ("the river", "21"), ("river", "25")),
    question("i", "who ?", is_impossible=True),
)
_LAYOUTS = {
    "rows.jsonl": "\n".join(map(json.dumps, _ROWS)) + "\n",
    "rows.json": json.dumps(_ROWS, indent=2),
    "data.json": json.dumps({"data": _ROWS}),
    "places_as_text.json": json.dumps({"data": [{"paragraphs": [_ASKED]}]}, indent=2),
    "rows.json.gz": gzip.compress("\n".join(map(json.dumps, _ROWS)).encode()),
    "train-00000-of-00001.parquet": {name: [row[name] for row in _ROWS] for name in _ROWS[0]},
}


def _write(path, content):
    if isinstance(content, dict):
        parquet_files.write(path, content)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize("name", _LAYOUTS)
def test_read_squad_examples_of_each_layout(tmp_path, name, is_training):
    found = squad_examples.read_squad_examples(_write(tmp_path / name, _LAYOUTS[name]), is_training)
    asked = question("q", "which ?", ("the river", 21), ("river", 25))
    impossible = question("i", "who ?", is_impossible=True)
    expected = _read(tmp_path, asked, impossible, is_training=is_training)
    assert list(map(vars, found)) == list(map(vars, expected))


def test_article_with_one_answer_a_question(tmp_path):
    """As in KorQuAD 2."""
    asked = {"id": "q", "question": "?", "answer": {"text": "old", "answer_start": 4}}
    content = json.dumps({"data": [{"context": TOWN, "qas": [asked]}]})
    path = _write(tmp_path / "a.json", content)
    (example,) = squad_examples.read_squad_examples(path, True)
    assert (example.answers, example.start_position) == (("old",), 4)


def test_rows_of_which_none_has_an_answer_are_not_impossible(tmp_path):
    path = _write(tmp_path / "a.json", json.dumps(_ROWS[1:]))
    (example,) = squad_examples.read_squad_examples(path, False)
    assert not example.is_impossible


def test_read_squad_examples_with_bom_and_number_ids(tmp_path):
    path = tmp_path / "a.json"
    content = {"data": [{"paragraphs": [paragraph(TOWN, dict(OLD, id=7))]}]}
    path.write_text("\ufeff" + json.dumps(content), encoding="utf-8")
    (example,) = squad_examples.read_squad_examples(str(path), True)
    assert example.qas_id == "7"


# -------------------------------------------------------------------------- answers that are off


@pytest.mark.parametrize(
    "answer, start",
    [("town", 6), ("old", -46), ("x", -1), ("old", 4000), ("", 4), ("Old", 4)],
)
def test_misaligned_answer_is_refused(tmp_path, answer, start):
    with pytest.raises(ValueError, match="--max_misaligned_answers"):
        _read(tmp_path, question("q", "which ?", (answer, start)))


def _many(count, bad):
    """Questions, the first `bad` of which have answers that are not there."""
    return [question(f"q{n}", "?", ("new" if n < bad else "old", 4)) for n in range(count)]


def test_misaligned_answers_are_dropped_up_to_a_share(tmp_path):
    assert [example.qas_id for example in _read(tmp_path, *_many(200, 2))[:2]] == ["q2", "q3"]
    assert len(_read(tmp_path, *_many(4, 2), max_misaligned=0.5)) == 2
    assert len(_read(tmp_path, *_many(3, 3), is_training=False)) == 3
    impossible = [question(f"i{n}", "?", is_impossible=True) for n in range(500)]
    for questions, options, named in (
        (_many(200, 5), {}, "5 of 200 .*q0: 'new'.*q1"),
        (_many(200, 1), {"max_misaligned": 0.0}, "1 of 200"),
        (_many(2, 2), {"max_misaligned": 1.0}, "answer_start"),
        ([*impossible, *_many(1, 1)], {}, "1 of 1 "),  # those without an answer do not count
    ):
        with pytest.raises(ValueError, match=named):
            _read(tmp_path, *questions, **options)


# ---------------------------------------------------------------------------------- broken files


@pytest.mark.parametrize(
    "content, named",
    [
        ({"data": ["text"]}, r"data\[0\]"),
        ({"data": []}, ""),
        ([{"context_text": "a", "qas": [{"query_text": "b"}]}], "context.*paragraphs"),
        ({"id": "a", "question": "b"}, "'a': context.*paragraphs"),
        ('{"id": "a", "question": "b"}\n{"id"', "line 2"),
    ],
)
def test_read_squad_examples_names_the_file(tmp_path, content, named):
    text = content if isinstance(content, str) else json.dumps(content)
    (tmp_path / "squad.json").write_text(text)
    with pytest.raises(ValueError, match=f"squad.json.*{named}"):
        squad_examples.read_squad_examples(f"{tmp_path}/squad.json", is_training=False)


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"id": None}, "id"),
        ({"answers": []}, "'r'"),
        ({"answers": [{"text": "old", "answer_start": "four"}]}, "'r'"),
        ({"answers": ["old"]}, "'r': answers.*paragraphs"),
        ({"answers": {"text": [], "answer_start": [4]}}, "'r'.*paragraphs"),
    ],
)
def test_read_squad_examples_names_file_and_question(tmp_path, changes, named):
    with pytest.raises(ValueError, match=f"squad.json.*{named}"):
        _read(tmp_path, dict(OLD, **changes))


def test_question_that_comes_twice_is_named(tmp_path):
    with pytest.raises(ValueError, match="squad.json.*'r'"):
        _read(tmp_path, OLD, OLD)
