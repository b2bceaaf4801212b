# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds the answer to each question in the outputs for its windows.

    spans = find_spans(outputs, windows, limits)
    answers = best_answers(examples, windows, [spans], n_best_size=20)

A span, a start and an end in one window, is a candidate if both are tokens of the paragraph, no
other window shows the start with more context, the end is not before the start, and the span is not
too long. Candidates are ranked by start score plus end score. In a tie, the earlier window comes
first, then the better start, then the better end. Answers are copied from the paragraph.

Dimensions: F windows, S positions per window, K starts, E ends per start, C candidates.
"""

import json
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np

FILE_NAMES = ("predictions.json", "nbest_predictions.json", "null_odds.json")

# The keys of an answer in nbest_predictions.json.
_NBEST_KEYS = ("text", "probability", "start_log_prob", "end_log_prob")
# The scores of the empty answer, if a v2 model finds no candidate.
_NO_SPAN_SCORE = -1e6

# Outputs of the v2 head for F windows.
BEAMS = (
    "start_top_log_probs",  # float32 [F, K]
    "start_top_index",  # int32 [F, K]
    "end_top_log_probs",  # float32 [F, K * E]
    "end_top_index",  # int32 [F, K * E]
    "cls_logits",  # float32 [F]; high if there is probably no answer
)


class Limits(NamedTuple):
    """The limits on candidate answers, with the names and defaults of the flags."""

    n_best_size: int = 20
    max_answer_length: int = 30
    start_n_top: int = 5  # v2
    end_n_top: int = 5  # v2


class Spans(NamedTuple):
    """The candidates of all windows, [C] each, and the null score of each window."""

    window: np.ndarray  # int, index of the window
    start: np.ndarray  # int, index of the token in the window
    end: np.ndarray  # int, inclusive
    start_score: np.ndarray
    end_score: np.ndarray
    null_scores: Optional[np.ndarray] = None  # float64 [F], only v2; see cls_logits


class Answer(NamedTuple):
    """The answer to a question."""

    text: str  # from the context; "" for no answer (v2); "empty" without a candidate (v1)
    probability: float  # of nbest[0]; the probabilities in nbest add up to 1
    null_odds: Optional[float]  # high if there is probably no answer; None for v1
    nbest: List[Dict[str, Any]]  # the best answers: text, probability, start_ and end_log_prob


# ---- candidates ----


def find_spans(outputs: Mapping[str, np.ndarray], windows: Sequence[Any], limits: Any) -> Spans:
    """Returns the candidates. For v1, combines the n_best_size best starts and ends.

    Args:
      outputs: the head's outputs for the windows: start_logits and end_logits [F, S], or BEAMS.
      windows: features.Window or InputFeatures.
      limits: Limits, or flags with these names.
    """
    if "start_logits" in outputs:
        starts, start_scores = _best(outputs["start_logits"], limits.n_best_size)  # [F, K]
        ends, end_scores = _best(outputs["end_logits"][:, None], limits.n_best_size)
        null_scores = None
    else:
        start_scores, starts, end_scores, ends, null_scores = (outputs[name] for name in BEAMS)
        shape, start_n_top = (*starts.shape, -1), limits.start_n_top
        starts, start_scores = starts[:, :start_n_top], start_scores[:, :start_n_top]  # [F, K]
        ends, end_scores = (
            beams.reshape(shape)[:, :start_n_top, : limits.end_n_top]
            for beams in (ends, end_scores)  # [F, K, E]
        )
        null_scores = null_scores.astype(np.float64)
    columns = (starts[..., None], ends, start_scores[..., None], end_scores)
    spans = []
    for number, window in enumerate(windows):
        max_context = window.token_is_max_context
        offset, count = min(max_context, default=0), len(max_context)
        is_max = np.array([*max_context.values(), False])  # False for positions outside
        start, end, *scores = np.broadcast_arrays(*(column[number] for column in columns))
        start, end = start - offset, end - offset  # [K, E]
        fits = is_max[np.clip(start, -1, count)] & (start <= end) & (end < count)
        fits &= end < start + limits.max_answer_length
        # float64, because the published code adds the scores as Python floats.
        scores = [score[fits].astype(np.float64) for score in scores]
        spans.append([np.full(fits.sum(), number), start[fits], end[fits], *scores])
    return Spans(*map(np.concatenate, zip(*spans)))._replace(null_scores=null_scores)


def _best(logits: np.ndarray, count: int) -> Sequence[np.ndarray]:
    """Returns the positions of the highest logits in the last axis, best first, and these logits.

    In a tie, the earlier position comes first.
    """
    order = np.argsort(-logits, axis=-1, kind="stable")[..., :count]
    return order, np.take_along_axis(logits, order, axis=-1)


def _mean(runs: Sequence[Spans]) -> Spans:
    """Returns the candidates of all runs, each with the mean of its scores."""
    all_columns = [np.concatenate(columns) for columns in zip(*(run[:5] for run in runs))]
    keys = np.stack(all_columns[:3], axis=1)
    _, first, run, count = np.unique(
        keys, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    scores = [np.bincount(run.ravel(), column) / count for column in all_columns[3:]]
    columns = [*(column[first] for column in all_columns[:3]), *scores]
    # By window, then in the order of the first run that has the candidate.
    order = np.lexsort((first, columns[0]))
    return Spans(*(column[order] for column in columns))


# ---- answers ----


def best_answers(
    examples: Sequence[Any], windows: Sequence[Any], runs: Sequence[Spans], *, n_best_size: int = 20
) -> List[Answer]:
    """Returns the best answer to each question.

    Args:
      examples: SquadExamples.
      windows: all windows of the examples.
      runs: candidates from `find_spans`; several runs form an ensemble.
      n_best_size: maximum answers in `nbest`; their texts differ.
    """
    spans = _mean(runs) if len(runs) > 1 else runs[0]
    example_indices = np.array([window.example_index for window in windows], np.int64)
    null_odds = _null_odds(runs, example_indices, len(examples))
    examples_of_spans = example_indices[spans.window]
    # lexsort is stable: equal scores stay in the order of the candidates.
    order = np.lexsort((-(spans.start_score + spans.end_score), examples_of_spans))
    bounds = np.searchsorted(examples_of_spans[order], np.arange(len(examples) + 1))
    answers = []
    for example, first, end, odds in zip(examples, bounds, bounds[1:], null_odds):
        scores_of: Dict[str, Any] = {}
        for candidate in order[first:end]:
            if len(scores_of) >= n_best_size:
                break
            number, start, last, *scores = (column[candidate] for column in spans[:5])
            window = windows[number]
            start = window.tok_start_to_orig_index[start]
            last = window.tok_end_to_orig_index[last]
            scores_of.setdefault(example.paragraph_text[start : last + 1].strip(), scores)
        if not scores_of:
            scores_of = {"empty": [0.0] * 2} if odds is None else {"": [_NO_SPAN_SCORE] * 2}
        probabilities = softmax([sum(scores) for scores in scores_of.values()])
        nbest = [
            dict(zip(_NBEST_KEYS, (text, probability, *map(float, scores))))
            for (text, scores), probability in zip(scores_of.items(), probabilities)
        ]
        texts = (text for text in scores_of if text or odds is None)
        answers.append(Answer(next(texts, ""), probabilities[0], odds, nbest))
    return answers


def with_threshold(answers: Sequence[Answer], threshold: Optional[float]) -> List[Answer]:
    """Empties each answer whose null score is above the threshold (None: no threshold)."""
    return [
        answer._replace(text="")
        if threshold is not None and answer.null_odds > threshold
        else answer
        for answer in answers
    ]


def file_contents(examples: Sequence[Any], answers: Sequence[Answer]) -> Dict[str, Dict[str, Any]]:
    """Returns {file name: {question ID: value}}; only v2 has null_odds.json."""
    ids = [example.qas_id for example in examples]
    columns = zip(*((answer.text, answer.nbest, answer.null_odds) for answer in answers))
    contents = {name: dict(zip(ids, column)) for name, column in zip(FILE_NAMES, columns)}
    if None in contents[FILE_NAMES[2]].values():
        del contents[FILE_NAMES[2]]
    return contents


def file_text(content: Mapping[str, Any]) -> str:
    """Returns the text of a file from its value in `file_contents`."""
    return json.dumps(content, indent=4) + "\n"


def _null_odds(
    runs: Sequence[Spans], example_indices: np.ndarray, count: int
) -> List[Optional[float]]:
    """Returns each question's null score: the lowest of its windows, averaged over the runs.

    (It is enough that one window has an answer.)
    """
    if runs[0].null_scores is None:
        return [None] * count
    scores = np.full([len(runs), count], np.inf)
    for row, run in zip(scores, runs):
        np.minimum.at(row, example_indices, run.null_scores)
    return scores.mean(axis=0).tolist()


def softmax(scores: Sequence[float]) -> List[float]:
    """Returns the softmax of one or more logits."""
    weights = np.exp(np.array(scores) - max(scores))
    return (weights / weights.sum()).tolist()
