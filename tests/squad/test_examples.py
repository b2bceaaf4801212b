# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""SQuAD files as they should be, and as they should not be."""

import json
import subprocess
import sys

import pytest

from albert.squad import examples as squad_examples
from tests.support.shared import needs_shared, shared_path
from tests.support.squad_data import answered, paragraph, question, write_squad

TOWN = "The old town lies by the river. The river is cold."


def _read(folder, *paragraphs, is_training=True, **options):
    path = write_squad(folder, paragraphs)
    return squad_examples.read_dataset(path, is_training, **options)


def _one(folder, context, answer, start, **options):
    """The only example, to learn from."""
    data = _read(folder, paragraph(context, question("q", "which ?", (answer, start))), **options)
    (example,) = data.examples
    return example, data.notes


def test_the_module_is_imported_without_tensorflow():
    code = "import sys, albert.squad.examples; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.call([sys.executable, "-c", code]) == 0


# ------------------------------------------------------------------------------------- what is read


def test_an_answered_question_has_its_answer_and_where_it_stands(tmp_path):
    example, notes = _one(tmp_path, TOWN, "the river", 21)
    assert vars(example) == {
        "qas_id": "q",
        "question_text": "which ?",
        "paragraph_text": TOWN,
        "orig_answer_text": "the river",
        "start_position": 21,
        "end_position": 29,
        "is_impossible": False,
        "answers": ("the river",),
        "has_gold": True,
    }
    assert notes == []


def test_an_unanswerable_question_is_learnt_as_such(tmp_path):
    (example,) = _read(
        tmp_path, paragraph(TOWN, question("q", "who ?", is_impossible=True))
    ).examples
    assert (example.is_impossible, example.has_gold, example.answers) == (True, True, ())
    assert (example.orig_answer_text, example.start_position) == ("", -1)


def test_for_prediction_all_answers_count_and_none_is_learnt(tmp_path):
    both = question("q", "which ?", ("river", 25), ("the river", 21), is_impossible=False)
    (example,) = _read(tmp_path, paragraph(TOWN, both), is_training=False).examples
    assert example.answers == ("river", "the river")
    assert example.has_gold
    assert (example.orig_answer_text, example.start_position) == (None, None)


@pytest.mark.parametrize(
    "changes, has_gold",
    [
        ({"answers": None}, False),
        ({"answers": []}, False),
        ({"answers": [], "is_impossible": False}, False),
        ({"answers": [], "is_impossible": True}, True),
        ({"answers": [{"text": "river"}]}, True),
    ],
)
def test_whether_the_answers_are_known_is_told_question_by_question(tmp_path, changes, has_gold):
    changed = dict(question("q", "which ?"), **changes)
    (example,) = _read(tmp_path, paragraph(TOWN, changed), is_training=False).examples
    assert example.has_gold is has_gold


def test_a_question_without_answers_among_others_with_some_has_none(tmp_path):
    asked = [question("q", "?"), question("r", "?", ("old", 4))]
    examples = _read(tmp_path, paragraph(TOWN, *asked), is_training=False).examples
    assert [(item.has_gold, item.answers) for item in examples] == [(True, ()), (True, ("old",))]


def test_a_file_without_answers_is_for_prediction_only(tmp_path):
    unanswered = {"id": "q", "question": "which ?"}
    assert not _read(tmp_path, paragraph(TOWN, unanswered), is_training=False).examples[0].has_gold
    with pytest.raises(ValueError, match=r"id 'q'\) has no answer. .* files without answers are"):
        _read(tmp_path, paragraph(TOWN, unanswered))


def test_of_several_answers_the_first_is_learnt_and_the_rest_counted(tmp_path):
    several = question("q", "which ?", ("river", 25), ("the river", 21))
    data = _read(tmp_path, paragraph(TOWN, several, question("r", "?", ("old", 4))))
    assert [example.orig_answer_text for example in data.examples] == ["river", "old"]
    assert data.examples[0].answers == ("river", "the river")
    assert data.notes == ["1 x question with several answers, of which the first is learnt"]


def test_a_byte_order_mark_and_whole_numbers_as_ids_are_taken(tmp_path):
    path = tmp_path / "a.json"
    content = {"data": [{"paragraphs": [paragraph(TOWN, question(7, "?", ("old", 4)))]}]}
    path.write_text("\ufeff" + json.dumps(content), encoding="utf-8")
    (example,) = squad_examples.read_squad_examples(str(path), True)
    assert example.qas_id == "7"


# -------------------------------------------------------------------------- answers that are off


@pytest.mark.parametrize(
    "context, answer, start, found, is_repaired",
    [
        ("It is  forty   two now.", "forty two", 7, (7, 17), True),
        ("It is  forty   two now.", "forty two", 5, (7, 17), True),
        ("The OLD town.", "old", 4, (4, 6), True),
        ("US let us go", "us", 0, (0, 1), True),
        ("town town", "town", 5, (5, 8), False),
        (TOWN, " old ", 3, (3, 7), False),
    ],
)
def test_an_answer_in_its_place_is_taken_as_the_paragraph_writes_it(
    tmp_path, context, answer, start, found, is_repaired
):
    example, notes = _one(tmp_path, context, answer, start)
    assert (example.start_position, example.end_position) == found
    assert example.orig_answer_text == context[found[0] : found[1] + 1]
    assert len(notes) == is_repaired


@pytest.mark.parametrize(
    "answer, start",
    [("village", 8), ("town", 6), ("river", 30), ("old", -200), ("old", 4000), ("", 4), ("  ", 3)],
)
def test_an_answer_that_is_not_there_is_an_error_above_one_per_cent(tmp_path, answer, start):
    with pytest.raises(ValueError, match="1 of 1 answers"):
        _one(tmp_path, TOWN, answer, start)


def _many(count, bad):
    """Questions, the first `bad` of which have answers that are not there."""
    return [question(f"q{n}", "?", ("new" if n < bad else "old", 4)) for n in range(count)]


def test_a_few_answers_that_are_not_there_are_left_out_and_counted(tmp_path):
    data = _read(tmp_path, paragraph(TOWN, *_many(200, 2)))
    assert [example.qas_id for example in data.examples[:2]] == ["q2", "q3"]
    assert data.notes == ["2 x question left out, as its answer is not where it is said to be"]
    with pytest.raises(ValueError, match="5 of 200 .*q0: 'new' at 4, where 'old' stands; q1"):
        _read(tmp_path, paragraph(TOWN, *_many(200, 5)))


def test_the_share_that_is_suffered_can_be_set(tmp_path):
    assert len(_read(tmp_path, paragraph(TOWN, *_many(4, 2)), max_misaligned=0.5).examples) == 2
    with pytest.raises(ValueError, match="1 of 200"):
        _read(tmp_path, paragraph(TOWN, *_many(200, 1)), max_misaligned=0.0)
    impossible = [question(f"i{n}", "?", is_impossible=True) for n in range(500)]
    with pytest.raises(ValueError, match="1 of 1 "):  # those that have no answer do not count
        _read(tmp_path, paragraph(TOWN, *impossible, *_many(1, 1)))
    assert len(_read(tmp_path, paragraph(TOWN, *_many(3, 3)), is_training=False).examples) == 3


# ---------------------------------------------------------------------------------- broken files


def test_an_id_that_occurs_twice_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="paragraph 2, question 1 .*: the id 'q' occurs twice"):
        _read(
            tmp_path,
            paragraph(TOWN, answered("q", TOWN, "old")),
            paragraph("Other.", answered("q", "Other.", "Other")),
        )


@pytest.mark.parametrize(
    "content, message",
    [
        ("{", "is not JSON"),
        ("", "is not JSON"),
        ("[]", 'has no "data"'),
        ('{"version": "1"}', 'has no "data"'),
        ('{"data": {}}', '"data" is .*; it must be a list'),
        ('{"data": ["text"]}', "article 1: 'text' is not a JSON object"),
        ('{"data": [{"title": "T"}]}', r"article 1 \('T'\): \"paragraphs\" is missing; there are"),
        ('{"data": []}', "holds no question"),
    ],
)
def test_a_file_of_another_layout_is_named_with_what_is_wrong(tmp_path, content, message):
    path = tmp_path / "a.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=f"a.json.*{message}"):
        squad_examples.read_dataset(str(path), is_training=False)


def _without(mapping, key):
    return {name: value for name, value in mapping.items() if name != key}


GOOD = question("q", "which ?", ("old", 4))


@pytest.mark.parametrize(
    "broken, message",
    [
        (_without(paragraph(TOWN, GOOD), "context"), 'paragraph 1: "context" is missing'),
        (_without(paragraph(TOWN, GOOD), "qas"), 'paragraph 1: "qas" is missing'),
        (paragraph(TOWN, _without(GOOD, "id")), 'question 1: "id" is missing'),
        (paragraph(TOWN, _without(GOOD, "question")), r"\(id 'q'\): \"question\" is missing"),
        (paragraph(TOWN, dict(GOOD, question=3)), "\"question\" is '3'; it must be text"),
        (paragraph(TOWN, dict(GOOD, answers="old")), "\"answers\" is 'old'; it must be a list"),
        (paragraph(TOWN, dict(GOOD, answers=["old"])), "'old' is not a JSON object"),
        (paragraph(TOWN, dict(GOOD, answers=[{"text": "old"}])), '"answer_start" is missing'),
        (
            paragraph(TOWN, dict(GOOD, answers=[{"text": "old", "answer_start": True}])),
            '"answer_start" is ',
        ),
        (paragraph(TOWN, dict(GOOD, is_impossible="no")), "must be true or false"),
        (paragraph(TOWN, dict(GOOD, is_impossible=True)), "but there are answers. .*plausible"),
    ],
)
def test_what_is_missing_or_wrong_is_said_with_its_place(tmp_path, broken, message):
    with pytest.raises(ValueError, match=f"squad.json, article 1 .'The town'..*{message}"):
        _read(tmp_path, broken)


# ------------------------------------------------------------------------------------- real files


@needs_shared
@pytest.mark.parametrize(
    "name, questions, impossible, several",
    [
        ("xquad.en", 1190, 0, 0),
        ("xquad.zh", 1190, 0, 0),
        ("dev-v2.0-part", 1749, 918, 831),
    ],
)
def test_real_files_are_read_whole(name, questions, impossible, several):
    path = str(shared_path(f"data/squad/{name}.json"))
    data = squad_examples.read_dataset(path, is_training=True)
    assert len(data.examples) == questions
    assert sum(example.is_impossible for example in data.examples) == impossible
    assert sum("several" in note for note in data.notes) == (several > 0)
    for example in data.examples:
        there = example.paragraph_text[max(example.start_position, 0) :]
        assert there.startswith(example.orig_answer_text)
        assert example.has_gold
