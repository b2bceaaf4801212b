# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds the answer to each question in the outputs for its windows.

    spans = find_spans(outputs, windows, limits)
    answers = best_answers(examples, windows, [spans], n_best_size=20)

A span is a candidate if its start is in the paragraph and has this window as the one with the most
context, its end is in the paragraph, and it is neither reversed nor too long. Candidates are
ordered by the sum of their two scores; of equal ones the earlier window, then the better start,
then the better end comes first. Answers are the paragraph's own characters.

Dimensions: F windows, S positions of a window, K starts, E ends of each, C candidates, N examples.
"""

import json
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np

FILE_NAMES = ("predictions.json", "nbest_predictions.json", "null_odds.json")

_ENTRY = ("text", "probability", "start_log_prob", "end_log_prob")  # of nbest_predictions.json
# Scores of a v2 model's empty answer where it finds no other.
_NO_SPAN_SCORE = -1e6

# Outputs of the v2 head for F windows.
BEAMS = (
    "start_top_log_probs",  # float32 [F, K]
    "start_top_index",  # int32 [F, K]
    "end_top_log_probs",  # float32 [F, K * E]
    "end_top_index",  # int32 [F, K * E]
    "cls_logits",  # float32 [F]; the higher, the likelier there is no answer
)


class Limits(NamedTuple):
    """The limits on candidate answers, with the names and defaults of the flags."""

    n_best_size: int = 20
    max_answer_length: int = 30
    start_n_top: int = 5  # v2
    end_n_top: int = 5  # v2


class Spans(NamedTuple):
    """Candidates of all windows, [C] each, and the null scores of the windows."""

    window: np.ndarray  # int, the number of the window
    start: np.ndarray  # int, the number of the token in the window
    end: np.ndarray  # int, inclusive
    start_score: np.ndarray
    end_score: np.ndarray
    null_scores: Optional[np.ndarray] = None  # float64 [F]; the higher, the likelier no answer; v2


class Answer(NamedTuple):
    """The answer to a question."""

    text: str  # from the context; "" where there is none (v2), "empty" where none was found (v1)
    probability: float  # of the first of the best answers, among them
    null_odds: Optional[float]  # the higher, the likelier there is no answer; None of a v1 model
    nbest: List[Dict[str, Any]]  # the best answers: text, probability, start_ and end_log_prob


# ---- candidates ----


def find_spans(outputs: Mapping[str, np.ndarray], windows: Sequence[Any], limits: Any) -> Spans:
    """Returns the candidates.

    Args:
      outputs: of the head, in the order of the windows: start_logits and end_logits [F, S], of
        which the best n_best_size are combined, or BEAMS.
      windows: features.Window or InputFeatures.
      limits: Limits, or flags of these names.
    """
    if "start_logits" in outputs:
        starts, start_scores = _best(outputs["start_logits"], limits.n_best_size)  # [F, K]
        ends, end_scores = _best(outputs["end_logits"][:, None], limits.n_best_size)
        null_scores = None
    else:
        start_scores, starts, end_scores, ends, null_scores = (outputs[name] for name in BEAMS)
        shape, count, top = (*starts.shape, -1), limits.start_n_top, limits.end_n_top
        starts, start_scores = starts[:, :count], start_scores[:, :count]  # [F, K]
        ends, end_scores = (
            part.reshape(shape)[:, :count, :top]
            for part in (ends, end_scores)  # [F, K, E]
        )
        null_scores = null_scores.astype(np.float64)
    columns = (starts[..., None], ends, start_scores[..., None], end_scores)
    spans = []
    for number, window in enumerate(windows):
        flags = window.token_is_max_context
        offset, count = min(flags, default=0), len(flags)
        is_max = np.array([*flags.values(), False])  # the last for positions outside
        start, end, *scores = np.broadcast_arrays(*(column[number] for column in columns))
        start, end = start - offset, end - offset  # [K, E]
        fits = is_max[np.clip(start, -1, count)] & (start <= end) & (end < count)
        fits &= end < start + limits.max_answer_length
        # Scores are added as Python's floats.
        kept = [start[fits], end[fits], *(part[fits].astype(np.float64) for part in scores)]
        spans.append([np.full(len(kept[0]), number), *kept])
    return Spans(*map(np.concatenate, zip(*spans)))._replace(null_scores=null_scores)


def _best(logits: np.ndarray, count: int) -> Sequence[np.ndarray]:
    """The positions with the highest logits of the last axis, best first, and these; of equal ones
    the earlier.
    """
    order = np.argsort(-logits, axis=-1, kind="stable")[..., :count]
    return order, np.take_along_axis(logits, order, axis=-1)


def _mean(runs: Sequence[Spans]) -> Spans:
    """The candidates of several runs, each with the mean of its scores."""
    every = [np.concatenate(columns) for columns in zip(*(run[:5] for run in runs))]
    keys = np.stack(every[:3], axis=1)
    _, first, run, count = np.unique(
        keys, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    scores = [np.bincount(run.ravel(), column) / count for column in every[3:]]
    columns = [*(column[first] for column in every[:3]), *scores]
    # Best first of equals is the first that a run named.
    order = np.lexsort((first, columns[0]))
    return Spans(*(column[order] for column in columns))


# ---- answers ----


def best_answers(
    examples: Sequence[Any], windows: Sequence[Any], runs: Sequence[Spans], *, n_best_size: int = 20
) -> List[Answer]:
    """Returns the best answer to each question.

    Args:
      examples: N SquadExamples.
      windows: theirs.
      runs: candidates from `find_spans`; several runs make an ensemble.
      n_best_size: answers with different texts that are listed for a question.
    """
    spans = _mean(runs) if len(runs) > 1 else runs[0]
    owners = np.array([window.example_index for window in windows], np.int64)
    null_odds = _null_odds(runs, owners, len(examples))
    example = owners[spans.window]
    # lexsort is stable: equal scores stay in the order of the candidates.
    order = np.lexsort((-(spans.start_score + spans.end_score), example))
    bounds = np.searchsorted(example[order], np.arange(len(examples) + 1))
    answers = []
    for item, first, end, odds in zip(examples, bounds, bounds[1:], null_odds):
        scores_of: Dict[str, Any] = {}
        for candidate in order[first:end]:
            if len(scores_of) >= n_best_size:
                break
            number, start, last, *scores = (column[candidate] for column in spans[:5])
            window = windows[number]
            start = window.tok_start_to_orig_index[start]
            last = window.tok_end_to_orig_index[last]
            scores_of.setdefault(item.paragraph_text[start : last + 1].strip(), scores)
        if not scores_of:
            scores_of = {"empty": [0.0] * 2} if odds is None else {"": [_NO_SPAN_SCORE] * 2}
        shares = softmax([sum(scores) for scores in scores_of.values()])
        nbest = [
            dict(zip(_ENTRY, (text, share, *map(float, scores))))
            for (text, scores), share in zip(scores_of.items(), shares)
        ]
        texts = [text for text in scores_of if text or odds is None]
        answers.append(Answer([*texts, ""][0], shares[0], odds, nbest))
    return answers


def with_threshold(answers: Sequence[Answer], threshold: Optional[float]) -> List[Answer]:
    """Returns the answers, empty where the null score is above the threshold (None: never)."""
    return [
        answer._replace(text="")
        if threshold is not None and answer.null_odds > threshold
        else answer
        for answer in answers
    ]


def file_contents(examples: Sequence[Any], answers: Sequence[Answer]) -> Dict[str, Dict[str, Any]]:
    """Returns {question's id: value} for each of the model's files in FILE_NAMES."""
    ids = [item.qas_id for item in examples]
    columns = zip(*((answer.text, answer.nbest, answer.null_odds) for answer in answers))
    contents = {name: dict(zip(ids, column)) for name, column in zip(FILE_NAMES, columns)}
    if None in contents[FILE_NAMES[2]].values():
        del contents[FILE_NAMES[2]]
    return contents


def file_text(content: Mapping[str, Any]) -> str:
    """Returns the text of a file of `file_contents`."""
    return json.dumps(content, indent=4) + "\n"


def _null_odds(runs: Sequence[Spans], owners: np.ndarray, count: int) -> List[Optional[float]]:
    """The lowest null score of any window, as one with an answer is enough; the runs' mean."""
    if runs[0].null_scores is None:
        return [None] * count
    scores = np.full([len(runs), count], np.inf)
    for row, run in zip(scores, runs):
        np.minimum.at(row, owners, run.null_scores)
    return scores.mean(axis=0).tolist()


def softmax(scores: Sequence[float]) -> List[float]:
    """Returns the softmax of one or more logits."""
    weights = np.exp(np.array(scores) - max(scores))
    return (weights / weights.sum()).tolist()
