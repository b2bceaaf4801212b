# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The official scores of SQuAD."""

import re

import pytest

from albert.tasks.squad import metrics
from tests.support import read_json
from tests.support.shared import needs_shared, shared_path


def test_normalize_answer():
    texts = ("The  Cat!", "an A.B. the theatre", "the", "L'été,\t2020", "—")
    found = [metrics.normalize_answer(text) for text in texts]
    assert found == ["cat", "ab theatre", "", "lété 2020", "—"]


def test_f1_score_of_repeated_words():
    assert metrics.f1_score("red red blue", "red green") == pytest.approx(2 * 1 / 5)
    assert metrics.f1_score("red red blue", "red red") == pytest.approx(2 * 2 / 5)
    assert metrics.f1_score("", "") == 0


@pytest.mark.parametrize(
    "prediction, right, expected",
    [
        ("《红楼梦》", "红楼梦。", 2 * 3 / 6),
        ("在北京大学", "北京的大学", 2 * 2 / 10),  # the longest part in one piece
        ("iPhone 4S手机", "iphone 4s", 2 * 2 / 6),
        ("1,000.5 km.", "1,000.5 km", 2 * 2 / 5),
        ("Jack's茶", "Jack", 2 * 1 / 4),
        ("東京タワー", "タワー", 2 * 3 / 8),
        ("서울 특별시", "서울특별시", 1),
        ("红", "蓝", 0),
        ("。", "红", 0),
        ("", "", 1),
    ],
)
def test_character_f1(prediction, right, expected):
    assert metrics.character_f1(prediction, right) == pytest.approx(expected)
    assert metrics.character_f1(right, prediction) == pytest.approx(expected)


def test_character_scores_count_all_questions():
    gold = {"a": ["红楼", "红楼梦"], "b": [], "c": ["红"], "d": ["4"]}
    predictions = {"a": "红楼梦", "b": "", "c": ""}
    assert metrics.character_scores(gold, predictions) == {"character_f1": 50}
    assert metrics.character_scores(dict(gold, a=["4"]), predictions) == {}


def cmrc_parts(text):
    """All parts of a text in the units of cmrc2018_evaluate.py."""
    words = pytest.importorskip("nltk.tokenize").NLTKWordTokenizer().tokenize
    text = re.sub(
        "[-:_*^/\\\\~`+=，。：？！“”；’《》·、「」（）－～『』]", "", text.lower().strip()
    )
    units = [unit for part in re.split("([\u4e00-\u9fa5])", text) for unit in words(part)]
    ends = range(len(units) + 1)
    return [tuple(units[start:end]) for start in ends for end in ends[start:]]


@needs_shared
def test_character_f1_equals_cmrc():
    content = read_json(shared_path("data/squad/xquad.zh.json"))
    paragraphs = [paragraph for item in content["data"] for paragraph in item["paragraphs"]]
    for paragraph in paragraphs[:60]:
        context = paragraph["context"]
        for answer in (answer for question in paragraph["qas"] for answer in question["answers"]):
            right, start = answer["text"], answer["answer_start"]
            prediction = context[max(start - 4, 0) : start + len(right) // 2 + 3]
            # NLTK writes quotes as `` and ''. Its versions differ in dashes.
            if not {*prediction + right} & {*'"–—'}:
                ours, theirs = cmrc_parts(prediction), cmrc_parts(right)
                common = max(map(len, {*ours} & {*theirs}))
                expected = 2 * common / (max(map(len, ours)) + max(map(len, theirs)))
                assert metrics.character_f1(prediction, right) == pytest.approx(expected)


def test_v1_scores_the_best_answer():
    gold = {"a": ["one two", "two"], "b": ["three"]}
    assert metrics.evaluate_v1(gold, {"a": "Two."}) == {"exact_match": 50.0, "f1": 50.0}
    scores = metrics.evaluate_v1(gold, {"a": "two four", "b": "three"})
    assert scores == {"exact_match": 50.0, "f1": pytest.approx(100 * (2 / 3 + 1) / 2)}


def test_v1_refuses_unanswerable_questions():
    with pytest.raises(ValueError, match="b.*run_squad_v2"):
        metrics.evaluate_v1({"a": ["x"], "b": []}, {"a": "x", "b": ""})
    with pytest.raises(ValueError):
        metrics.evaluate_v1({}, {})


ANSWERS = {"a": ["one two", "the"], "b": [], "c": [], "d": ["four"], "e": ["five"]}
ODDS = {"c": -1.0, "a": -2.0, "b": 1.0, "d": 2.0}


def test_v2_scores_of_each_kind():
    questions = [
        {"id": name, "answers": [{"text": text} for text in texts]}
        for name, texts in ANSWERS.items()
    ]
    predictions = {"a": "One!", "b": "", "c": "three", "d": ""}  # "e" is not counted
    scores = metrics.evaluate_v2([{"paragraphs": [{"qas": questions}]}], predictions, ODDS)
    two_thirds = pytest.approx(100 * 2 / 3 / 2)
    assert scores == {
        "exact": 25.0,
        "f1": pytest.approx(100 * (2 / 3 + 1) / 4),
        "total": 4,
        "HasAns_exact": 0.0,
        "HasAns_f1": two_thirds,
        "HasAns_total": 2,
        "NoAns_exact": 50.0,
        "NoAns_f1": 50.0,
        "NoAns_total": 2,
        "best_exact": 50.0,
        "best_exact_thresh": 0.0,
        "best_f1": pytest.approx(100 * (2 / 3 + 2) / 4),
        "best_f1_thresh": -2.0,
    }


def test_v2_leaves_out_an_absent_kind():
    scores = metrics.evaluate_v2({"a": []}, {"a": ""}, {"a": 0.0})
    assert scores["NoAns_total"] == 1 and "HasAns_total" not in scores
    with pytest.raises(ValueError):  # predictions of other questions
        metrics.evaluate_v2({"a": []}, {"z": ""}, {"z": 0.0})


def test_v2_best_threshold():
    gold = {"a": ["one"], "b": [], "c": ["three"]}
    predictions = {"a": "one", "b": "two", "c": "three"}
    for of_b, best in ((3.0, 2.5), (2.0, -1.0)):
        null_scores = {"a": -1.0, "b": of_b, "c": 2.5}
        assert metrics.evaluate_v2(gold, predictions, null_scores)["best_f1_thresh"] == best


@needs_shared
def test_v1_scores_equal_the_reference():
    dataset = read_json(shared_path("data/squad/xquad.en.json"))["data"]
    name = "data/squad/predictions_bert_ensemble_v1.1.json"
    predictions = read_json(shared_path(name))
    summary = read_json(shared_path("golden/squad_postprocess/summary.json"))
    scores = metrics.evaluate_v1(dataset, predictions)
    assert scores == pytest.approx(summary["bert_ensemble_on_xquad_en"], abs=1e-9)
