# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Questions with any number of choices: layouts, labels, and wrong rows."""

import json

import pytest

from albert.tasks.race import choice_rows
from tests.support import parquet_files

COPA = {
    "premise": "It rained.",
    "choice1": "a",
    "choice2": "b",
    "question": "effect",
    "idx": 3,
    "label": 1,
}
CSQA = {
    "id": "x",
    "question": "Where?",
    "question_concept": "place",
    "choices": {"label": ["A", "B", "C"], "text": ["here", "there", "A"]},
    "answerKey": "B",
}
SWAG = {
    "video-id": "v",
    "fold-ind": "3416",
    "startphrase": "He sits. He",
    "gold-source": "gold",
    "sent1": "He sits.",
    "sent2": "He",
    **{f"ending{number}": f"falls {number}" for number in range(4)},
    "label": 2,
}
C3 = {"id": 0, "context": ["男：你好", "女：好"], "question": "谁？", "choice": ["男", "女", "无"]}
C3["answer"] = "女"
OWN = {"question": "Who?", "choices": ["he", "she"], "label": "she"}


def write(path, *rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "row, context, endings, label",
    [
        (COPA, "It rained.", [f"What happened as a result? {a}" for a in "ab"], 1),
        (dict(COPA, question="cause"), "It rained.", None, 1),
        (CSQA, "Where?", ["here", "there", "A"], 1),
        (dict(CSQA, answerKey="A"), "Where?", None, 0),  # the key, not the third text
        (SWAG, "He sits.", [f"He falls {number}" for number in range(4)], 2),
        ({**OWN, **{f"choice{n}": f"{n}" for n in range(12)}, "label": "L"}, "Who?", None, 11),
        (C3, "男：你好\n女：好", ["谁？ 男", "谁？ 女", "谁？ 无"], 1),
        (OWN, "Who?", ["he", "she"], 1),
        (dict(OWN, context="It."), "It.", ["Who? he", "Who? she"], 1),
        (dict(OWN, context="It.", question="_ left"), "It.", ["he left", "she left"], 1),
    ],
)
def test_each_layout_is_read(row, context, endings, label, tmp_path):
    paths = [write(tmp_path / "a.jsonl", row)]
    parquet_files.write(tmp_path / "a.parquet", {key: [value] for key, value in row.items()})
    for path in (*paths, str(tmp_path / "a.parquet")):
        (example,) = choice_rows.read([path], needs_labels=True)
        assert (example.context_sentence, example.label) == (context, label)
        assert endings is None or example.endings == endings
        assert len(example.options) == len(example.endings)


@pytest.mark.parametrize(
    "label, choices, expected",
    [
        (0, ["a", "b"], 0),
        ("B", ["a", "b"], 1),
        ("b", ["a", "b"], 1),
        ("A", ["B", "A"], 1),  # a text beats a letter
        ("A", ["a", "a"], 0),
        ("E", list("vwxyz"), 4),
        ("1", ["a", "b"], 1),
        ("1", ["1", "2"], 0),
        (None, ["a", "b"], None),
        (-1, ["a", "b"], None),
        ("", ["a", "b"], None),
    ],
)
def test_label_is_an_index_a_letter_or_a_text(label, choices, expected):
    row = {"question": "Who?", "choices": choices, "label": label}
    assert choice_rows.of_row(row, "it").label == expected


@pytest.mark.parametrize(
    "change, words",
    [
        ({"label": 2}, "label 2"),
        ({"label": "C"}, "'C'"),
        ({"label": "they"}, "'they'"),
        ({"label": True}, "label"),
        ({"label": None}, "label"),
        ({"choices": ["he"]}, "choices"),
        ({"choices": "he"}, "choices"),
        ({"question": None}, "question"),
        ({"context": 1}, "context"),
        ({"choices": ["a", "a"], "label": "a"}, "'a'"),
        ({"choices": {"label": ["A", "B"]}}, "text"),
        ({"documents": ["a"]}, "questions"),
        ({"documents": ["a"], "questions": {"question": ["b", "c"], "answer": ["d"]}}, "length"),
    ],
)
def test_wrong_row_is_named_with_its_line(change, words, tmp_path):
    path = write(tmp_path / "a.jsonl", OWN, {**OWN, **change})
    with pytest.raises(ValueError, match=f"a.jsonl:2.*{words}"):
        choice_rows.read([path], needs_labels=True)


def test_row_of_c3_may_have_several_questions(tmp_path):
    questions = {
        "question": ["谁？", "几？"],
        "answer": ["女", "三"],
        "choice": [["男", "女"], ["三", "一"]],
    }
    path = write(tmp_path / "a.jsonl", {"documents": C3["context"], "questions": questions})
    first, second = choice_rows.read([path], needs_labels=True)
    assert (first.endings, first.label) == (["谁？ 男", "谁？ 女"], 1)
    assert (second.context_sentence, second.label) == ("男：你好\n女：好", 0)


def test_only_objects_are_rows(tmp_path):
    (tmp_path / "a.tsv").write_text("a\tb\n", encoding="utf-8")
    with pytest.raises(ValueError, match="a.tsv:1"):
        choice_rows.read([str(tmp_path / "a.tsv")])
    unlabelled = write(tmp_path / "a.jsonl", {**OWN, "label": None})
    assert choice_rows.read([unlabelled])[0].label is None
