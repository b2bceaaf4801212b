# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From the outputs for each window to the n best answers of each question.

    spans = v1_spans(outputs, windows, limits)
    answers = best_answers(spans, windows, examples, n_best_size=20)
    found = predictions(answers, examples)

A span is a candidate if its start is in the paragraph and has this window as the one with the most
context, its end is in the paragraph, and it is neither reversed nor too long. Candidates are
ordered by the sum of their two scores; of equal ones the earlier window, then the better start,
then the better end comes first. Answers are the paragraph's own characters.

Dimensions: F windows, S positions of a window, C candidates, N n_best_size.
"""

import json
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np

from albert.squad.features import Windows

FILE_NAMES = ("predictions.json", "nbest_predictions.json", "null_odds.json")

# Scores of a v2 model's empty answer where it finds no other.
_NO_SPAN_SCORE = -1e6
# Windows looked at together: bounds the memory, about N * N * 30 bytes for each.
_WINDOWS_AT_ONCE = 2048


class Limits(NamedTuple):
    """How many answers are looked at, by the flags' names; the defaults are the flags'."""

    n_best_size: int = 20
    max_answer_length: int = 30
    start_n_top: int = 5  # v2
    end_n_top: int = 5  # v2


class Beams(NamedTuple):
    """What the v2 head says of F windows: K starts, E ends for each of them; arrays or tensors."""

    start_top_log_probs: Any  # float32 [F, K]
    start_top_index: Any  # int32 [F, K]
    end_top_log_probs: Any  # float32 [F, K * E]
    end_top_index: Any  # int32 [F, K * E]
    cls_logits: Any  # float32 [F]; the higher, the likelier there is no answer


class Spans(NamedTuple):
    """Candidates of all windows, [C] each; windows in order."""

    window: np.ndarray  # int, the number of the window
    start: np.ndarray  # int, position in it
    end: np.ndarray  # int, position in it, inclusive
    start_score: np.ndarray  # float64
    end_score: np.ndarray  # float64


class Answer(NamedTuple):
    """One of a question's best answers."""

    text: str
    start_log_prob: float
    end_log_prob: float


# ---- candidates ----


def v1_spans(outputs: Mapping[str, Any], windows: Windows, limits: Limits) -> Spans:
    """Returns the candidates among the best starts and ends, by start_logits, end_logits [F, S]."""
    logits = [np.asarray(outputs[name]) for name in ("start_logits", "end_logits")]
    parts = []
    for first in range(0, max(len(logits[0]), 1), _WINDOWS_AT_ONCE):
        start_logits, end_logits = (part[first : first + _WINDOWS_AT_ONCE] for part in logits)
        starts = _best_places(start_logits, limits.n_best_size)  # [F, N]
        ends = _best_places(end_logits, limits.n_best_size)  # [F, N]
        pairs = Spans(
            np.arange(first, first + len(starts))[:, None, None],
            starts[:, :, None],
            ends[:, None, :],
            np.take_along_axis(start_logits, starts, axis=1)[:, :, None],
            np.take_along_axis(end_logits, ends, axis=1)[:, None, :],
        )
        parts.append(_candidates(pairs, windows, limits.max_answer_length))
    return _concatenated(parts)


def v2_spans(outputs: Mapping[str, Any], windows: Windows, limits: Limits) -> Spans:
    """Returns the candidates among the best start_n_top starts and end_n_top ends of `Beams`."""
    beams = Beams(*(np.asarray(outputs[name]) for name in Beams._fields))
    count, width = beams.start_top_index.shape
    pairs = Spans(
        np.arange(count)[:, None, None],
        beams.start_top_index[:, :, None],
        beams.end_top_index.reshape(count, width, -1),
        beams.start_top_log_probs[:, :, None],
        beams.end_top_log_probs.reshape(count, width, -1),
    )
    best = Spans(*(part[:, : limits.start_n_top, : limits.end_n_top] for part in pairs))
    return _candidates(best, windows, limits.max_answer_length)


def mean_spans(runs: Sequence[Spans]) -> Spans:
    """Returns the candidates of several runs, with the mean scores over those runs that have it."""
    every = _concatenated(runs)
    keys = np.stack(every[:3], axis=1)
    _, first, run, count = np.unique(
        keys, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    scores = [np.bincount(run.ravel(), column) / count for column in every[3:]]
    spans = Spans(*(column[first] for column in every[:3]), *scores)
    # Best first of equals is the first that a run named.
    order = np.lexsort((first, spans.window))
    return Spans(*(column[order] for column in spans))


def _concatenated(parts: Sequence[Spans]) -> Spans:
    return Spans(*(np.concatenate(columns) for columns in zip(*parts)))


def _best_places(logits: np.ndarray, count: int) -> np.ndarray:
    """The positions [F, count] with the highest logits, best first; of equal ones the earlier."""
    return np.argsort(-logits, axis=1, kind="stable")[:, :count]


def _candidates(pairs: Spans, windows: Windows, max_answer_length: int) -> Spans:
    """Those of the pairs, which broadcast to [F, N, N], that may be an answer."""
    pairs = Spans(*np.broadcast_arrays(*pairs))
    fits = windows.is_max_context[pairs.window, pairs.start] & (
        windows.start_chars[pairs.window, pairs.start] >= 0
    )
    fits &= windows.end_chars[pairs.window, pairs.end] >= 0
    length = pairs.end - pairs.start + 1
    fits &= (length >= 1) & (length <= max_answer_length)
    window, start, end, *scores = (column[fits] for column in pairs)
    return Spans(window, start, end, *(score.astype(np.float64) for score in scores))


# ---- answers ----


def best_answers(
    spans: Spans, windows: Windows, examples: Sequence[Any], *, n_best_size: int = 20
) -> List[List[Answer]]:
    """Returns for each SquadExample its best answers with different texts, the best first.

    There are at most n_best_size, and there may be none.
    """
    example = np.asarray(windows.example_index)[spans.window]
    # lexsort is stable: equal scores stay in the order of the candidates.
    order = np.lexsort((-(spans.start_score + spans.end_score), example))
    bounds = np.searchsorted(example[order], np.arange(len(examples) + 1))
    start_chars = windows.start_chars[spans.window, spans.start]
    end_chars = windows.end_chars[spans.window, spans.end]
    answers = []
    for number, item in enumerate(examples):
        found: Dict[str, Answer] = {}
        for place in order[bounds[number] : bounds[number + 1]]:
            if len(found) >= n_best_size:
                break
            text = item.paragraph_text[start_chars[place] : end_chars[place] + 1].strip()
            if text not in found:
                scores = float(spans.start_score[place]), float(spans.end_score[place])
                found[text] = Answer(text, *scores)
        answers.append(list(found.values()))
    return answers


def null_scores(cls_logits: np.ndarray, windows: Windows, count: int) -> np.ndarray:
    """Returns the lowest no-answer logit of each of `count` examples, float64: one window with an
    answer is enough.
    """
    scores = np.full([count], np.inf)
    np.minimum.at(scores, np.asarray(windows.example_index), np.asarray(cls_logits, np.float64))
    return scores


# ---- predictions ----


class Predictions(NamedTuple):
    """Answers as they are written."""

    answers: Dict[str, str]  # question's id -> answer
    nbest: Dict[str, List[Dict[str, Any]]]  # question's id -> text, probability, scores
    null_odds: Optional[Dict[str, float]]  # v2: question's id -> the higher, the likelier none

    def files(self) -> Dict[str, str]:
        """Returns the contents of the files by FILE_NAMES."""
        return {
            name: json.dumps(content, indent=4) + "\n"
            for name, content in zip(FILE_NAMES, self)
            if content is not None
        }


def predictions(
    answers: Sequence[Sequence[Answer]],
    examples: Sequence[Any],
    odds: Optional[np.ndarray] = None,
    *,
    threshold: Optional[float] = None,
) -> Predictions:
    """Returns the best answer of each question.

    Without any answer that is "empty" in v1; in v2 it is "" there, and above the threshold.

    Args:
      answers: from `best_answers`.
      examples: N SquadExamples.
      odds: null scores [N] in v2, None in v1.
      threshold: None keeps every answer.
    """
    nothing = Answer("empty", 0.0, 0.0)
    if odds is not None:
        nothing = Answer("", _NO_SPAN_SCORE, _NO_SPAN_SCORE)
    best, nbest, null_odds = {}, {}, {}
    for number, (item, found) in enumerate(zip(examples, answers)):
        found = found or [nothing]
        shares = softmax([answer.start_log_prob + answer.end_log_prob for answer in found])
        nbest[item.qas_id] = [
            {
                "text": answer.text,
                "probability": share,
                "start_log_prob": answer.start_log_prob,
                "end_log_prob": answer.end_log_prob,
            }
            for answer, share in zip(found, shares.tolist())
        ]
        best[item.qas_id] = found[0].text
        if odds is not None:
            null_odds[item.qas_id] = float(odds[number])
            is_answered = threshold is None or odds[number] <= threshold
            texts = [answer.text for answer in found if answer.text and is_answered]
            best[item.qas_id] = texts[0] if texts else ""
    return Predictions(best, nbest, None if odds is None else null_odds)


def softmax(scores: Sequence[float]) -> np.ndarray:
    """Returns the probabilities that logits stand for, [N]; N is at least 1."""
    weights = np.exp(np.array(scores) - max(scores))
    return weights / weights.sum()
