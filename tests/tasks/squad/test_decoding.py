# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From logits to answers, by hand and against an exhaustive search."""

import json
import types

import numpy as np
import pytest

from albert.tasks.squad import decoding
from albert.tasks.squad.examples import SquadExample

TEXT = "one two three four five six"
# The words' characters.
FIRST = [0, 4, 8, 14, 19, 24]
LAST = [2, 6, 12, 17, 22, 26]
LENGTH = 10  # [CLS] q [SEP], six words, [SEP]
OFFSET = 3


def _windows(*examples):
    """A window for each number of an example."""
    return [
        types.SimpleNamespace(
            example_index=number,
            tok_start_to_orig_index=FIRST,
            tok_end_to_orig_index=LAST,
            token_is_max_context=dict.fromkeys(range(OFFSET, OFFSET + 6), True),
        )
        for number in examples
    ]


def _examples(count=1):
    return [SquadExample(f"q{number}", "which ?", TEXT) for number in range(count)]


def _logits(**places):
    """Logits [1, LENGTH] that are -10 except at `p<place>`."""
    logits = np.full([1, LENGTH], -10.0, np.float32)
    for name, value in places.items():
        logits[:, int(name[1:])] = value
    return logits


def _outputs(start, end):
    return {"start_logits": start, "end_logits": end}


def _answers(start, end, windows, n_best_size=20):
    """The texts of the best answers, of at most three words, to the first two questions."""
    outputs, limits = _outputs(start, end), decoding.Limits(max_answer_length=3)
    spans = decoding.find_spans(outputs, windows, limits)
    answers = decoding.best_answers(_examples(2), windows, [spans], n_best_size=n_best_size)
    return [[entry["text"] for entry in answer.nbest] for answer in answers]


def test_best_answers_of_equal_scores_in_order():
    texts = _answers(np.zeros([1, LENGTH]), np.zeros([1, LENGTH]), _windows(0))
    assert texts[0][:4] == ["one", "one two", "one two three", "two"]


def test_best_answers_keep_the_best_score_of_a_text():
    start, windows = np.concatenate([_logits(p4=1), _logits(p4=5)]), _windows(0, 0)
    spans = decoding.find_spans(_outputs(start, start), windows, decoding.Limits())
    (answer,) = decoding.best_answers(_examples(), windows, [spans])
    scores = [entry["start_log_prob"] for entry in answer.nbest if entry["text"] == "two"]
    assert (answer.text, scores) == ("two", [5.0])


def test_best_answers_equal_an_exhaustive_search():
    random = np.random.RandomState(0)
    windows = _windows(0, 0, 1, 1, 1)
    for window in windows:
        flags = window.token_is_max_context
        flags.update(zip(list(flags), (random.rand(6) > 0.3).tolist()))
    start, end = random.randn(5, LENGTH), random.randn(5, LENGTH)
    answers = _answers(start, end, windows, n_best_size=4)
    for example in range(2):
        assert answers[example] == _exhaustive(start, end, windows, example)[:4]


def _exhaustive(start, end, windows, example):
    """All texts of an example, the best first, from every window, start and end."""
    plain = {}
    places = range(OFFSET, OFFSET + 6)
    for window, shown in enumerate(windows):
        flags = shown.token_is_max_context
        starts = [place for place in places if flags[place] and shown.example_index == example]
        pairs = [(first, last) for first in starts for last in places if 0 <= last - first < 3]
        for first, last in pairs:
            text = TEXT[FIRST[first - OFFSET] : LAST[last - OFFSET] + 1]
            score = start[window, first] + end[window, last]
            plain[text] = max(score, plain.get(text, -99))
    return sorted(plain, key=plain.get, reverse=True)


def _v2_spans(windows, cls_logits):
    """The spans of a v2 model that finds "two three" in each window."""
    count = len(windows)
    columns = ([[-0.5]] * count, [[4]] * count, [[-1.5]] * count, [[5]] * count, cls_logits)
    beams = dict(zip(decoding.BEAMS, map(np.array, columns)))
    return decoding.find_spans(beams, windows, decoding.Limits())


def test_best_answers_without_candidates():
    logits, windows = _logits(p1=9), _windows(0)
    none = decoding.find_spans(_outputs(logits, logits), windows, decoding.Limits(1))
    null = _v2_spans(windows, [0.5])
    null = null._replace(**{name: getattr(null, name)[:0] for name in null._fields[:5]})
    for spans, expected in ((none, ("empty", "empty", None)), (null, ("", "", 0.5))):
        (answer,) = decoding.best_answers(_examples(), windows, [spans])
        assert (answer.text, answer.nbest[0]["text"], answer.null_odds) == expected


def test_with_threshold_keeps_an_answer_at_it():
    windows = _windows(0, 1, 2)
    answers = decoding.best_answers(_examples(3), windows, [_v2_spans(windows, [0.4, 0.5, 0.6])])
    kept = decoding.with_threshold(answers, 0.5)
    assert [answer.text for answer in kept] == ["two three", "two three", ""]
    assert decoding.with_threshold(answers, None) == answers


def test_null_odds_of_several_windows():
    windows = _windows(0, 0, 1)
    answers = decoding.best_answers(
        _examples(2), windows, [_v2_spans(windows, [2.0, -1.0, 3.0])] * 2
    )
    assert [answer.null_odds for answer in answers] == [-1.0, 3.0]


def test_find_spans_of_beams():
    columns = ([[-0.1, -2.0]], [[4, 6]], [[-0.5, -1.0, -0.2, -0.3]], [[5, 3, 6, 8]], [0.0])
    beams = dict(zip(decoding.BEAMS, map(np.array, columns)))
    limits = decoding.Limits(max_answer_length=3)
    spans = decoding.find_spans(beams, _windows(0), limits)
    assert list(zip(spans.start.tolist(), spans.end.tolist())) == [(1, 2), (3, 3), (3, 5)]
    assert (spans.start_score + spans.end_score).tolist() == pytest.approx([-0.6, -2.2, -2.3])
    spans = decoding.find_spans(beams, _windows(0), limits._replace(start_n_top=1))
    assert spans.end.tolist() == [2]


def test_file_contents_have_probabilities():
    start, end = _logits(p4=1.0, p6=0.5), _logits(p4=0.5, p6=0.0)
    windows, limits = _windows(0), decoding.Limits(2, max_answer_length=1)
    spans = decoding.find_spans(_outputs(start, end), windows, limits)
    spans = spans._replace(null_scores=np.array([-1.5]))
    answers = decoding.best_answers(_examples(), windows, [spans])
    contents = decoding.file_contents(_examples(), answers)
    best, nbest, odds = (json.loads(decoding.file_text(item)) for item in contents.values())
    assert (best, odds) == ({"q0": "two"}, {"q0": -1.5})
    names = ("text", "start_log_prob", "end_log_prob", "probability")
    rows = [("two", 1.0, 0.5, np.e / (np.e + 1)), ("four", 0.5, 0.0, 1 / (np.e + 1))]
    for entry, row in zip(nbest.pop("q0"), rows):
        assert entry == pytest.approx(dict(zip(names, row)))
