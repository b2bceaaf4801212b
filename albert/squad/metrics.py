# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The official scores of SQuAD v1.1 and v2.0.

Definitions: Rajpurkar et al. 2016 (arXiv:1606.05250, section 6.1) and 2018 (arXiv:1806.03822), as
the data set's evaluate-v1.1.py and evaluate-v2.0.py compute them. Gold answers map a question's id
to people's answers, predictions map it to one answer, which is empty for "no answer".
"""

import collections
import re
import string
from typing import Any, Callable, Dict, Mapping, NamedTuple, Sequence, Tuple

from albert.util.errors import UserError

_ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)

GoldAnswers = Mapping[str, Sequence[str]]
Scores = Dict[str, float]


def gold_answers(dataset: Sequence[Mapping[str, Any]]) -> Dict[str, Sequence[str]]:
    """Returns the answers in the "data" list of a SQuAD file, in order."""
    return {
        question["id"]: [answer["text"] for answer in question.get("answers") or ()]
        for article in dataset
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    }


# ---- one answer ----


def normalize_answer(s: str) -> str:
    """Returns the text in lower case, without punctuation, English articles and extra space."""
    bare = s.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact_match_score(prediction: str, ground_truth: str) -> float:
    """Returns 1 if the two are the same after `normalize_answer`, else 0."""
    return float(normalize_answer(prediction) == normalize_answer(ground_truth))


def f1_score(prediction: str, ground_truth: str) -> float:
    """Returns the F1 of the two bags of words; 0 without a common word (SQuAD v1.1)."""
    found, wanted = normalize_answer(prediction).split(), normalize_answer(ground_truth).split()
    common = sum((collections.Counter(found) & collections.Counter(wanted)).values())
    if not common:
        return 0.0
    precision, recall = common / len(found), common / len(wanted)
    return 2 * precision * recall / (precision + recall)


def f1_score_or_none(prediction: str, ground_truth: str) -> float:
    """Returns `f1_score`; where either has no word, whether both have none (SQuAD v2.0)."""
    found, wanted = normalize_answer(prediction).split(), normalize_answer(ground_truth).split()
    if not found or not wanted:
        return float(found == wanted)
    return f1_score(prediction, ground_truth)


def metric_max_over_ground_truths(
    metric_fn: Callable[[str, str], float], prediction: str, ground_truths: Sequence[str]
) -> float:
    """Returns the best score of a prediction against any of the answers."""
    return max(metric_fn(prediction, truth) for truth in ground_truths)


# ---- SQuAD v1.1 ----


def evaluate_v1(gold: GoldAnswers, predictions: Mapping[str, str]) -> Scores:
    """Returns exact_match and f1 in percent; a question without a prediction counts as wrong.

    Raises:
      ValueError: there is no question, or one without an answer.
    """
    _check_any(len(gold))
    exact = f1 = 0.0
    for qas_id, answers in gold.items():
        if not answers:
            raise UserError(
                f"Question {qas_id} has no answer to compare with. SQuAD v1.1 has no unanswerable "
                "questions; for v2.0 use run_squad_v2."
            )
        if qas_id in predictions:
            compared = predictions[qas_id], answers
            exact += metric_max_over_ground_truths(exact_match_score, *compared)
            f1 += metric_max_over_ground_truths(f1_score, *compared)
    return {"exact_match": 100.0 * exact / len(gold), "f1": 100.0 * f1 / len(gold)}


def _check_any(total: int) -> None:
    if not total:
        raise UserError("There are no questions to score. Check the prediction file.")


# ---- SQuAD v2.0 ----


class RawScores(NamedTuple):
    """Of each predicted question, before any threshold; in the order of the data set."""

    exact: Scores
    f1: Scores


def raw_scores(gold: GoldAnswers, predictions: Mapping[str, str]) -> RawScores:
    """Returns each prediction's scores; the right answer to an unanswerable question is none."""
    exact, f1 = {}, {}
    for qas_id, answers in gold.items():
        if qas_id in predictions:
            truths = [text for text in answers if normalize_answer(text)] or [""]
            compared = predictions[qas_id], truths
            exact[qas_id] = metric_max_over_ground_truths(exact_match_score, *compared)
            f1[qas_id] = metric_max_over_ground_truths(f1_score_or_none, *compared)
    return RawScores(exact, f1)


def evaluate_v2(
    gold: GoldAnswers, predictions: Mapping[str, str], null_scores: Mapping[str, float]
) -> Scores:
    """Returns what evaluate-v2.0.py prints, in percent.

    exact, f1, total, the same with HasAns_ and NoAns_ before it where there are such questions,
    and best_exact, best_exact_thresh, best_f1 and best_f1_thresh: what other thresholds of the
    null score would make of the same predictions.

    Args:
      gold: none for an unanswerable question.
      predictions: those without an answer are empty already.
      null_scores: by question; the higher, the likelier it has no answer.

    Raises:
      ValueError: no question of the data set was predicted.
    """
    scores = raw_scores(gold, predictions)
    result = mean_scores(scores, list(scores.exact))
    for prefix, wanted in (("HasAns", True), ("NoAns", False)):
        group = [qas_id for qas_id in scores.exact if bool(gold[qas_id]) is wanted]
        if group:
            means = mean_scores(scores, group)
            result.update({f"{prefix}_{name}": value for name, value in means.items()})
    return dict(result, **best_scores(scores, gold, predictions, null_scores=null_scores))


def mean_scores(scores: RawScores, group: Sequence[str]) -> Scores:
    """Returns exact and f1 in percent, and total, of the questions in `group`.

    Raises:
      ValueError: the group is empty.
    """
    _check_any(len(group))
    return {
        "exact": 100.0 * sum(scores.exact[qas_id] for qas_id in group) / len(group),
        "f1": 100.0 * sum(scores.f1[qas_id] for qas_id in group) / len(group),
        "total": len(group),
    }


def best_scores(
    scores: RawScores,
    gold: GoldAnswers,
    predictions: Mapping[str, str],
    *,
    null_scores: Mapping[str, float],
) -> Scores:
    """Returns best_exact, best_exact_thresh, best_f1 and best_f1_thresh; see `best_threshold`."""
    result = {}
    for name, by_question in (("best_exact", scores.exact), ("best_f1", scores.f1)):
        best = best_threshold(by_question, gold, predictions, null_scores=null_scores)
        result[name], result[f"{name}_thresh"] = best
    return result


def best_threshold(
    scores: Scores,
    gold: GoldAnswers,
    predictions: Mapping[str, str],
    *,
    null_scores: Mapping[str, float],
    no_answers: float = 0.0,
    ties_as_one: bool = False,
) -> Tuple[float, float]:
    """Returns the best mean score in percent, and the null score up to which answers are kept.

    Answers are admitted in the order of their null scores, as by the official script; the first of
    equally good thresholds is the best.

    Args:
      scores: by predicted question.
      gold, predictions, null_scores: see evaluate_v2; of gold only counts whether there are any.
      no_answers: the threshold to return where giving no answer at all is the best.
      ties_as_one: keep or empty answers with equal null scores together.
    """
    order = sorted(scores, key=lambda qas_id: null_scores[qas_id])
    # As the official script has it: of all questions, predicted or not.
    current = best = float(sum(not answers for answers in gold.values()))
    best_threshold = no_answers
    for place, qas_id in enumerate(order):
        # By how much giving this answer changes the sum of scores.
        wrong = -1.0 if predictions[qas_id] else 0.0
        current += scores[qas_id] if gold[qas_id] else wrong
        threshold = null_scores[qas_id]
        splits_tie = place + 1 < len(order) and null_scores[order[place + 1]] == threshold
        if current > best and not (ties_as_one and splits_tie):
            best, best_threshold = current, threshold
    return 100.0 * best / len(order), best_threshold


def usable_threshold(
    gold: GoldAnswers, predictions: Mapping[str, str], null_scores: Mapping[str, float]
) -> float:
    """Returns the null score up to which keeping the answer gives the best F1.

    Unlike the official threshold this one reaches its F1: questions with equal null scores are kept
    or emptied together, and no answer at all is a threshold below all scores. The predictions are
    the best answers there are, none of them emptied by a threshold.

    Raises:
      ValueError: no question of the data set was predicted.
    """
    scores = raw_scores(gold, predictions).f1
    _check_any(len(scores))
    below = min(null_scores[qas_id] for qas_id in scores) - 1.0
    _, threshold = best_threshold(
        scores, gold, predictions, null_scores=null_scores, no_answers=below, ties_as_one=True
    )
    return threshold
