# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From the outputs for each window to the n best answers of each question.

    spans = v1_spans(start_logits, end_logits, windows)
    answers = best_answers(spans, windows, examples, n_best_size=20)

A span is a candidate if its start is in the paragraph and has this window as the one with the most
context, its end is in the paragraph, and it is neither reversed nor too long. Candidates are
ordered by the sum of their two scores; of equal ones the earlier window, then the better start,
then the better end comes first. Answers are the paragraph's own characters.

Dimensions: F windows, S positions of a window, C candidates, N n_best_size.
"""

import json
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from albert.squad.features import Windows
from albert.util import files

PREDICTIONS_NAME = "predictions.json"
NBEST_NAME = "nbest_predictions.json"
NULL_ODDS_NAME = "null_odds.json"
NAMES = (PREDICTIONS_NAME, NBEST_NAME, NULL_ODDS_NAME)

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

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> "Limits":
        """Returns those that a model's description names; earlier versions did not record them."""
        return cls(**{name: description[name] for name in cls._fields if description.get(name)})


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

    @property
    def score(self) -> float:
        """Returns what answers are ordered by."""
        return self.start_log_prob + self.end_log_prob


# ---- candidates ----


def v1_spans(
    start_logits: np.ndarray,
    end_logits: np.ndarray,
    windows: Windows,
    *,
    n_best_size: int = 20,
    max_answer_length: int = 30,
) -> Spans:
    """Returns the candidates among the best starts and ends of each window, by logits [F, S]."""
    parts = []
    for first in range(0, max(len(start_logits), 1), _WINDOWS_AT_ONCE):
        rows = slice(first, first + _WINDOWS_AT_ONCE)
        starts = _best_places(start_logits[rows], n_best_size)  # [F, N]
        ends = _best_places(end_logits[rows], n_best_size)  # [F, N]
        pairs = Spans(
            np.arange(first, first + len(starts))[:, None, None],
            starts[:, :, None],
            ends[:, None, :],
            np.take_along_axis(start_logits[rows], starts, axis=1)[:, :, None],
            np.take_along_axis(end_logits[rows], ends, axis=1)[:, None, :],
        )
        parts.append(_candidates(pairs, windows, max_answer_length))
    return Spans(*(np.concatenate(columns) for columns in zip(*parts)))


def v2_spans(beams: Beams, windows: Windows, max_answer_length: int = 30) -> Spans:
    """Returns the candidates among the beams' spans."""
    count, width = np.shape(beams.start_top_index)
    pairs = Spans(
        np.arange(count)[:, None, None],
        np.asarray(beams.start_top_index)[:, :, None],
        np.reshape(beams.end_top_index, (count, width, -1)),
        np.asarray(beams.start_top_log_probs)[:, :, None],
        np.reshape(beams.end_top_log_probs, (count, width, -1)),
    )
    return _candidates(pairs, windows, max_answer_length)


def _best_places(logits: np.ndarray, count: int) -> np.ndarray:
    """The positions [F, count] with the highest logits, best first; of equal ones the earlier."""
    return np.argsort(-np.asarray(logits), axis=1, kind="stable")[:, :count]


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


def v1_answers(
    outputs: Mapping[str, Any], windows: Windows, examples: Sequence[Any], *, limits: Limits
) -> List[List[Answer]]:
    """Returns the best answers of each example, from the v1 head's outputs by name."""
    size, length = limits.n_best_size, limits.max_answer_length
    logits = outputs["start_logits"], outputs["end_logits"]
    spans = v1_spans(*logits, windows, n_best_size=size, max_answer_length=length)
    return best_answers(spans, windows, examples, n_best_size=size)


def v2_answers(
    outputs: Mapping[str, Any], windows: Windows, examples: Sequence[Any], *, limits: Limits
) -> Tuple[List[List[Answer]], np.ndarray]:
    """Returns the best answers of each example and its null score, from the v2 head's outputs."""
    beams = Beams(*map(outputs.get, Beams._fields))
    spans = v2_spans(beams, windows, limits.max_answer_length)
    answers = best_answers(spans, windows, examples, n_best_size=limits.n_best_size)
    return answers, null_scores(beams.cls_logits, windows, len(examples))


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

    def write(self, paths: Mapping[str, str]) -> List[str]:
        """Writes the files, whose paths are given by NAMES; returns the paths."""
        contents = {PREDICTIONS_NAME: self.answers, NBEST_NAME: self.nbest}
        if self.null_odds is not None:
            contents[NULL_ODDS_NAME] = self.null_odds
        for name, content in contents.items():
            files.atomic_write_text(paths[name], json.dumps(content, indent=4) + "\n")
        return [paths[name] for name in contents]


def v1_predictions(answers: Sequence[Sequence[Answer]], examples: Sequence[Any]) -> Predictions:
    """Returns the best answer of each question, "empty" where there is none."""
    nothing = [Answer("empty", 0.0, 0.0)]
    nbest = _nbest([list(found) or nothing for found in answers], examples)
    best = {qas_id: entries[0]["text"] for qas_id, entries in nbest.items()}
    return Predictions(best, nbest, None)


def v2_predictions(
    answers: Sequence[Sequence[Answer]],
    odds: np.ndarray,
    examples: Sequence[Any],
    *,
    threshold: Optional[float] = None,
) -> Predictions:
    """Returns the best answer of each question, or none where its null score is above a threshold.

    Args:
      answers: from `best_answers`.
      odds: null scores, [N].
      examples: N SquadExamples.
      threshold: None keeps every answer.
    """
    nothing = [Answer("", _NO_SPAN_SCORE, _NO_SPAN_SCORE)]
    nbest = _nbest([list(found) or nothing for found in answers], examples)
    by_question = {item.qas_id: float(score) for item, score in zip(examples, odds)}
    best = {}
    for qas_id, entries in nbest.items():
        texts = (entry["text"] for entry in entries if entry["text"])
        is_answered = threshold is None or by_question[qas_id] <= threshold
        best[qas_id] = next(texts, "") if is_answered else ""
    return Predictions(best, nbest, by_question)


def softmax(scores: Sequence[float]) -> np.ndarray:
    """Returns the probabilities that logits stand for, [N]; N is at least 1."""
    weights = np.exp(np.array(scores) - max(scores))
    return weights / weights.sum()


def _nbest(
    answers: Sequence[Sequence[Answer]], examples: Sequence[Any]
) -> Dict[str, List[Dict[str, Any]]]:
    """The answers as JSON values, with probabilities among the answers of a question."""
    result = {}
    for item, found in zip(examples, answers):
        shares = softmax([answer.score for answer in found])
        result[item.qas_id] = [
            {
                "text": answer.text,
                "probability": float(share),
                "start_log_prob": answer.start_log_prob,
                "end_log_prob": answer.end_log_prob,
            }
            for answer, share in zip(found, shares)
        ]
    return result
