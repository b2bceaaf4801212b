# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reading RACE: both layouts, the order of questions, and what is wrong with bad files."""

import json
import pathlib
import re

import pytest

from albert.race import examples
from tests.support import race_data

PASSAGE = {
    "article": "The king went home.",
    "questions": ["Who went home?", "The _ went _ ."],
    "options": [["king", "bird", "dog", "man"], ["a", "b", "c", "d"]],
    "answers": ["A", "d"],
    "id": "high7.txt",
}


def write(folder, name, content, *, split="train", level="high"):
    target = folder / split / level
    target.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (target / name).write_text(text, encoding="utf-8")
    return target / name


def read(folder, split="train"):
    return examples.read_split(str(folder), split, levels=("high",))


def without(key):
    return {name: value for name, value in PASSAGE.items() if name != key}


def test_the_parquet_files_of_the_hubs_give_the_same(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    folder = race_data.write_race(tmp_path / "files", passages=12)
    expected = examples.read_split(folder, "dev")
    for level in examples.LEVELS:
        paths = sorted((tmp_path / "files" / "RACE" / "dev" / level).iterdir())  # 10 before 9
        passages = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
        rows = [
            (passage["id"], passage["article"], *values)
            for passage in passages
            for values in zip(*(passage[key] for key in ("questions", "options", "answers")))
        ]
        names = ("example_id", "article", "question", "options", "answer")
        columns = dict(zip(names, map(list, zip(*rows))))
        (tmp_path / "hub" / level).mkdir(parents=True)
        path = tmp_path / "hub" / level / "validation-00000-of-00001.parquet"
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns), str(path))
    found = examples.read_split(str(tmp_path / "hub"), "dev")
    assert (found.passages, found.questions) == (expected.passages, expected.questions)
    with pytest.raises(ValueError, match="train"):
        examples.read_split(str(tmp_path / "hub"), "train")


def test_both_layouts_give_the_questions_in_order_of_level_and_number(tmp_path):
    folder = race_data.write_race(tmp_path / "files", passages=12)
    split = examples.read_split(folder, "dev")
    expected = [
        f"{level}{number}.txt-{question}"
        for level in ("middle", "high")
        for number in range(12)  # 10 comes after 9, not after 1
        for question in range(2)
    ]
    assert [key.identity for key in split.questions] == expected
    assert {key.level for key in split.questions[:24]} == {"middle"}
    assert [passage.identity for passage in split.passages][:2] == ["middle0.txt", "middle1.txt"]
    for number, text in enumerate(["{}\n", "\n{}\r\n"]):  # blank lines
        for level in ("middle", "high"):
            files = [pathlib.Path(folder, "RACE", "dev", level, f"{n}.txt") for n in range(12)]
            lines = [text.format(file.read_text(encoding="utf-8")) for file in files]
            whole = "\ufeff" + "".join(lines)
            write(tmp_path / str(number), "all.txt", whole, split="dev", level=level)
        found = examples.read_split(str(tmp_path / str(number)), "dev")
        assert (found.questions, found.passages) == (split.questions, split.passages)
        assert found.notes == []


def test_a_passage_without_an_id_is_named_by_its_file(tmp_path):
    write(tmp_path, "12.txt", without("id"))
    assert read(tmp_path).questions[1].identity == "high12.txt-1"
    write(tmp_path / "all", "all.txt", "\n".join([json.dumps(without("id"))] * 2))
    keys = read(tmp_path / "all").questions
    assert [key.identity for key in keys[::2]] == ["highall.txt-1-0", "highall.txt-2-0"]


def test_an_option_takes_the_place_of_the_blanks_or_comes_at_the_end(tmp_path):
    write(tmp_path, "1.txt", PASSAGE)
    first, second = read(tmp_path).passages[0].examples()
    assert first.endings[0] == "Who went home? king"
    assert second.endings == [f"The {letter} went {letter} ." for letter in "abcd"]
    assert (first.label, second.label, first.start_ending) == (0, 3, None)


def test_only_test_questions_need_no_answers(tmp_path):
    write(tmp_path, "1.txt", without("answers"), split="test")
    write(tmp_path, "1.txt", without("answers"))
    split = read(tmp_path, "test")
    assert [key.answer for key in split.questions] == [None, None]
    assert split.notes == ["2 x question without an answer"]
    with pytest.raises(ValueError, match=r"1\.txt'.*question 1"):
        read(tmp_path)


def test_empty_texts_and_passages_without_questions_are_counted(tmp_path):
    write(tmp_path, "1.txt", dict(PASSAGE, article=" "))
    write(tmp_path, "2.txt", dict(PASSAGE, id="x", questions=[], options=[], answers=[]))
    write(tmp_path, "3.txt", "")
    assert sorted(read(tmp_path).notes) == [
        "1 x empty text",
        "1 x file without a passage",
        "1 x passage without questions",
    ]


@pytest.mark.parametrize(
    "content,words",
    [
        ("{", "JSON"),
        ("[1]", "wrong type"),
        (without("options"), "options"),
        (dict(PASSAGE, options=[["a"] * 4]), "2 questions, 1 .* 2 answers"),
        (dict(PASSAGE, options=[["a"] * 4, []]), "question 2: .* 0 options"),
        (dict(PASSAGE, options=["abcd", ["a"] * 4]), r"options\[0\] .*abcd"),
        (dict(PASSAGE, answers=["A", "E"]), "question 2: .* 'E'"),
        (dict(PASSAGE, article=["a"]), "article"),
        (dict(PASSAGE, questions=None), "questions is null"),
        (dict(PASSAGE, options=[["a"] * 4, ["a", "b", "c", 4]]), r"options\[1\]\[3\] is 4"),
    ],
)
@pytest.mark.parametrize("name", ["41.txt", "all.txt"])
def test_what_is_wrong_with_a_passage_is_said_with_its_file(tmp_path, content, words, name):
    path = write(tmp_path, name, content)
    with pytest.raises(ValueError, match=re.escape(str(path)) + ".*" + words):
        read(tmp_path)


def test_another_encoding_and_an_id_that_occurs_twice_are_refused(tmp_path):
    write(tmp_path, "1.txt", PASSAGE)
    second = write(tmp_path, "2.txt", PASSAGE)
    with pytest.raises(ValueError, match=r"2\.txt.*'high7.txt'.*1\.txt'"):
        read(tmp_path)
    second.write_bytes(b'{"article": "\xff\xfe"}')
    with pytest.raises(ValueError, match=r"2\.txt'.* is not UTF-8"):
        read(tmp_path)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(ValueError, match="RACE.*train.*--data_dir"):
        read(tmp_path)
    write(tmp_path, "1.txt", PASSAGE)
    with pytest.raises(ValueError, match="middle.*--high_only"):
        examples.read_split(str(tmp_path), "train")
    (tmp_path / "dev" / "high").mkdir(parents=True)
    with pytest.raises(ValueError, match="dev/high"):
        read(tmp_path, "dev")
    write(tmp_path, "all.txt", "\n", split="dev")
    with pytest.raises(ValueError, match="no question in"):
        read(tmp_path, "dev")


def test_one_level_excludes_the_other():
    assert examples.levels_of(True, False) == ("high",)
    assert examples.levels_of(False, True) == ("middle",)
    assert examples.levels_of(False, False) == ("middle", "high")
    with pytest.raises(ValueError, match="--high_only"):
        examples.levels_of(True, True)
