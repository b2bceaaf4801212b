# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reading RACE: its layouts, the order of questions, and wrong files."""

import json
import pathlib
import re

import pytest

from albert.tasks.race import examples
from albert.util import UserError
from tests.support import parquet_files, race_data

PASSAGE = {
    "article": "The king went home.",
    "questions": ["Who went home?", "The _ went _ ."],
    "options": [["king", "bird", "dog", "man"], ["a", "b", "c", "d"]],
    "answers": ["A", "D"],
    "id": "high7.txt",
}


def write(folder, name, content, *, split="train", level="high"):
    target = folder / split / level
    target.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (target / name).write_text(text, encoding="utf-8")
    return target / name


def read_passages(folder, split="train", levels=("high",)):
    return [vars(item) for item in examples.read_examples(str(folder), split, levels=levels)]


def without(key):
    return {name: value for name, value in PASSAGE.items() if name != key}


def test_layouts_give_equal_examples(tmp_path):
    folder = pathlib.Path(race_data.write_race(tmp_path / "files", passages=12, splits=("dev",)))
    expected = read_passages(folder, "dev", examples.LEVELS)
    assert [item["name"] for item in expected] == [
        f"{level}{number}.txt-{question}"
        for level in ("middle", "high")
        for number in range(12)  # 10 comes after 9, not after 1
        for question in range(2)
    ]
    for level in examples.LEVELS:
        target = folder / "RACE" / "dev" / level
        texts = [(target / f"{number}.txt").read_text("utf-8") for number in range(12)]
        whole = "\ufeff" + "\n".join(f"{text}\r\n" for text in texts)  # blank lines between
        write(tmp_path / "all", "all.txt", whole, split="dev", level=level)
        rows = [
            (passage["id"], passage["article"], *values)
            for passage in map(json.loads, sorted(texts))
            for values in zip(*(passage[key] for key in ("questions", "options", "answers")))
        ]
        names = ("example_id", "article", "question", "options", "answer")
        path = tmp_path / "hub" / level / "validation-00000-of-00001.parquet"
        parquet_files.write(path, dict(zip(names, map(list, zip(*rows)))))
    for layout in ("all", "hub"):
        assert read_passages(tmp_path / layout, "dev", examples.LEVELS) == expected


def test_passage_without_id_is_named_by_its_file(tmp_path):
    write(tmp_path, "12.txt", without("id"))
    assert read_passages(tmp_path)[1]["name"] == "high12.txt-1"
    write(tmp_path / "all", "all.txt", "\n".join([json.dumps(without("id"))] * 2))
    names = [item["name"] for item in read_passages(tmp_path / "all")]
    assert names[::2] == ["highall.txt-1-0", "highall.txt-2-0"]


def test_option_fills_blanks_or_is_appended(tmp_path):
    write(tmp_path, "1.txt", PASSAGE)
    first, second = read_passages(tmp_path)
    assert first["endings"][0] == "Who went home? king"
    assert second["endings"] == [f"The {letter} went {letter} ." for letter in "abcd"]
    assert (first["label"], second["label"], first["start_ending"]) == (0, 3, None)


def test_test_questions_need_no_answers(tmp_path):
    write(tmp_path, "1.txt", without("answers"), split="test")
    assert [item["label"] for item in read_passages(tmp_path, "test")] == [None, None]


@pytest.mark.parametrize(
    "content,words",
    [
        ("{", "JSON"),
        (without("options"), "options"),
        (without("answers"), "Who went home"),
        (dict(PASSAGE, options=[["a"] * 4]), "questions, options"),
        (dict(PASSAGE, options=[["a"] * 4, []]), "The _ went .* 0 "),
        (dict(PASSAGE, options=["abcd", ["a"] * 4]), r"options\[0\] .*abcd"),
        (dict(PASSAGE, answers=["A", "E"]), "The _ went .* 'E'"),
    ],
)
@pytest.mark.parametrize("name", ["41.txt", "all.txt"])
def test_wrong_passage_is_named(tmp_path, content, words, name):
    path = write(tmp_path, name, content)
    with pytest.raises(UserError, match=re.escape(str(path)) + ".*" + words):
        read_passages(tmp_path)


def test_shared_passage_ids_give_unique_names(tmp_path):
    write(tmp_path, "1.txt", PASSAGE)
    write(tmp_path, "2.txt", PASSAGE)
    assert [item["name"] for item in read_passages(tmp_path)] == [
        f"high7.txt-{n}" for n in range(4)
    ]


def test_missing_data_are_named(tmp_path):
    write(tmp_path, "1.txt", PASSAGE)
    with pytest.raises(UserError, match="middle.*--data_dir.*--high_only"):
        read_passages(tmp_path, levels=examples.LEVELS)
    write(tmp_path, "all.txt", "\n", split="dev")
    with pytest.raises(UserError, match="(?i)no question in"):
        read_passages(tmp_path, "dev")
