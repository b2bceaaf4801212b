# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From logits to answers, by hand and against an exhaustive search."""

import json

import numpy as np
import pytest

from albert.squad import decoding, features
from albert.squad.examples import SquadExample

TEXT = "one two three four five six"
# The words' characters.
FIRST = [0, 4, 8, 14, 19, 24]
LAST = [2, 6, 12, 17, 22, 26]
LENGTH = 10  # [CLS] q [SEP], six words, [SEP]
OFFSET = 3


def _windows(*examples):
    """A window for each number of an example."""
    shape = (len(examples), LENGTH)
    columns = (*np.full((2, *shape), -1), np.zeros(shape, bool))
    windows = features.Windows(np.arange(len(examples)), np.array(examples), *columns)
    windows.start_chars[:, OFFSET : OFFSET + 6] = FIRST
    windows.end_chars[:, OFFSET : OFFSET + 6] = LAST
    windows.is_max_context[:, OFFSET : OFFSET + 6] = True
    return windows


def _examples(count=1):
    return [SquadExample(f"q{number}", "which ?", TEXT) for number in range(count)]


def _logits(count=1, **places):
    """Logits [count, LENGTH] that are -10 except at `p<place>`."""
    logits = np.full([count, LENGTH], -10.0, np.float32)
    for name, value in places.items():
        logits[:, int(name[1:])] = value
    return logits


def _outputs(start, end):
    return {"start_logits": start, "end_logits": end}


def _answers(start, end, windows, n_best_size=20):
    """The best answers, of at most three words, to the first two questions."""
    outputs, limits = _outputs(start, end), decoding.Limits(max_answer_length=3)
    spans = decoding.v1_spans(outputs, windows, limits)
    return decoding.best_answers(spans, windows, _examples(2), n_best_size=n_best_size)


def _texts(start, end):
    return [answer.text for answer in _answers(start, end, _windows(0))[0]]


def test_the_best_span_comes_first_and_of_equal_ones_the_earlier():
    assert _texts(_logits(p4=3, p6=1), _logits(p5=2, p6=1))[:2] == ["two three", "two three four"]
    texts = _texts(np.zeros([1, LENGTH]), np.zeros([1, LENGTH]))
    assert texts[:4] == ["one", "one two", "one two three", "two"]


def test_answers_are_neither_reversed_nor_too_long_nor_outside_the_paragraph():
    """The best start is in the question, the best end before the start or too far from it."""
    texts = _texts(_logits(p1=9, p6=5), _logits(p9=9, p4=8, p8=5))
    assert texts[0] == "four five six"
    assert all(1 <= len(text.split()) <= 3 and text in TEXT for text in texts)


def test_a_start_counts_only_in_the_window_with_the_most_context():
    windows = _windows(0, 0)
    windows.is_max_context[0, 4] = False
    logits = _logits(2, p4=3)
    spans = decoding.v1_spans(_outputs(logits, logits), windows, decoding.Limits())
    assert spans.window[(spans.start == 4) & (spans.end == 4)].tolist() == [1]


def test_an_answer_is_listed_once_with_its_best_score():
    start = np.concatenate([_logits(p4=1), _logits(p4=5)])
    answers = _answers(start, start, _windows(0, 0))[0]
    assert [answer.text for answer in answers].count("two") == 1
    assert answers[0] == ("two", 5.0, 5.0)


def test_all_windows_are_searched_as_one_by_one_would_be():
    random = np.random.RandomState(0)
    windows = _windows(0, 0, 1, 1, 1)
    windows.is_max_context[:] &= random.rand(5, LENGTH) > 0.3
    start, end = random.randn(5, LENGTH), random.randn(5, LENGTH)
    answers = _answers(start, end, windows, n_best_size=4)
    for example in range(2):
        expected = _exhaustive(start, end, windows, example)
        assert [answer.text for answer in answers[example]] == expected[:4]


def _exhaustive(start, end, windows, example):
    """All texts of an example, the best first, from every window, start and end."""
    plain = {}
    places = range(OFFSET, OFFSET + 6)
    for window in np.flatnonzero(windows.example_index == example):
        starts = [place for place in places if windows.is_max_context[window, place]]
        pairs = [(first, last) for first in starts for last in places if 0 <= last - first < 3]
        for first, last in pairs:
            text = TEXT[FIRST[first - OFFSET] : LAST[last - OFFSET] + 1]
            score = start[window, first] + end[window, last]
            plain[text] = max(score, plain.get(text, -99))
    return sorted(plain, key=plain.get, reverse=True)


def test_a_question_without_a_candidate_has_the_published_answer():
    assert decoding.predictions([[]], _examples()).answers == {"q0": "empty"}
    found = decoding.predictions([[]], _examples(), np.zeros(1))
    assert found.answers == {"q0": ""} and found.nbest["q0"][0]["text"] == ""


def test_an_answer_at_the_threshold_is_kept_and_one_above_it_is_not():
    answers = [[decoding.Answer("a", 0.0, 0.0)]] * 3
    odds = np.array([0.4, 0.5, 0.6])
    found = decoding.predictions(answers, _examples(3), odds, threshold=0.5)
    assert found.answers == {"q0": "a", "q1": "a", "q2": ""}


def test_one_window_with_an_answer_is_enough():
    scores = decoding.null_scores(np.array([2.0, -1.0, 3.0]), _windows(0, 0, 1), 2)
    assert scores.tolist() == [-1.0, 3.0]


def test_beams_are_cut_into_starts_and_their_ends():
    beams = decoding.Beams(
        start_top_log_probs=np.array([[-0.1, -2.0]]),
        start_top_index=np.array([[4, 6]]),
        end_top_log_probs=np.array([[-0.5, -1.0, -0.2, -0.3]]),
        end_top_index=np.array([[5, 3, 6, 8]]),
        cls_logits=np.array([0.0]),
    )
    limits = decoding.Limits(max_answer_length=3)
    spans = decoding.v2_spans(beams._asdict(), _windows(0), limits)
    assert list(zip(spans.start.tolist(), spans.end.tolist())) == [(4, 5), (6, 6), (6, 8)]
    assert (spans.start_score + spans.end_score).tolist() == pytest.approx([-0.6, -2.2, -2.3])


def test_files_hold_the_answers_with_probabilities_among_those_of_a_question():
    answers = [[decoding.Answer("naïve", 1.0, 0.5), decoding.Answer("b", 0.5, 0.0)]]
    found = decoding.predictions(answers, _examples(), np.array([-1.5]))
    best, nbest, odds = map(json.loads, found.files().values())
    assert (best, odds) == ({"q0": "naïve"}, {"q0": -1.5})
    shares = [np.e / (np.e + 1), 1 / (np.e + 1)]
    assert [entry.pop("probability") for entry in nbest["q0"]] == pytest.approx(shares)
    assert nbest["q0"] == [
        {"text": "naïve", "start_log_prob": 1.0, "end_log_prob": 0.5},
        {"text": "b", "start_log_prob": 0.5, "end_log_prob": 0.0},
    ]
