# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The official scores of SQuAD v1.1 and v2.0.

Definitions: Rajpurkar et al. 2016 (arXiv:1606.05250, section 6.1) and 2018 (arXiv:1806.03822).
Functions have the names and results of evaluate-v1.1.py and evaluate-v2.0.py. `dataset` is the
"data" list of a SQuAD file, or the result of `gold_answers`. Predictions map a question's ID to an
answer; "" means "no answer".
"""

import collections
import difflib
import re
import string
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from albert.util import UserError, log

_ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)

# The units of F1 by character: Chinese characters, kana, Hangul, and NLTK's words of other scripts.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff"
_UNIT = re.compile(
    rf"""[{_CJK}]
    | (?: [^{_CJK}\s.,;@#$%&?!()\[\]{{}}<>"‘–—']
        | , (?=\d)                                          # 1,000
        | \. (?! \. | \s* (?: [{_CJK}] | $ ))                # U.S. is a word and a full stop
        | ' (?! (?: s | m | d | ll | re | ve )? (?: [\s{_CJK}] | $ )) )+
    | '[a-z]* | \.+ | \S""",
    re.VERBOSE,
)
_IGNORED = str.maketrans("", "", "-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』")

Dataset = Union[Mapping[str, Sequence[str]], Sequence[Mapping[str, Any]]]
Answers = Mapping[str, str]  # by question ID
Scores = Dict[str, float]  # by question ID, or by name


def gold_answers(dataset: Dataset) -> Mapping[str, Sequence[str]]:
    """Returns the right answers by question ID; [] for a question without an answer."""
    if isinstance(dataset, Mapping):
        return dataset
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


def get_tokens(s: Optional[str]) -> List[str]:
    """Returns the words of an answer after `normalize_answer`; [] for None."""
    return normalize_answer(s or "").split()


def exact_match_score(prediction: str, ground_truth: str) -> float:
    """Returns 1 if both texts are equal after `normalize_answer`, else 0."""
    return float(normalize_answer(prediction) == normalize_answer(ground_truth))


def f1_score(prediction: str, ground_truth: str) -> float:
    """Returns the F1 of both texts' words; 0 without a common word (SQuAD v1.1)."""
    predicted, right = get_tokens(prediction), get_tokens(ground_truth)
    common = sum((collections.Counter(predicted) & collections.Counter(right)).values())
    if not common:
        return 0.0
    precision, recall = common / len(predicted), common / len(right)
    return 2 * precision * recall / (precision + recall)


def compute_exact(a_gold: str, a_pred: str) -> int:
    """Returns `exact_match_score` as an integer (SQuAD v2.0)."""
    return int(exact_match_score(a_pred, a_gold))


def compute_f1(a_gold: str, a_pred: str) -> float:
    """Returns `f1_score`. If either text has no words, returns 1 if both have none, else 0."""
    predicted, right = get_tokens(a_pred), get_tokens(a_gold)
    return f1_score(a_pred, a_gold) if predicted and right else float(predicted == right)


def character_f1(prediction: str, ground_truth: str) -> float:
    """Returns the F1 of both texts' longest common part, as cmrc2018_evaluate.py counts it.

    The units are Chinese characters, kana, Hangul, and the words of other scripts. If either text
    has none, returns 1 if both have none, else 0.
    """
    predicted, right = (
        _UNIT.findall(text.lower().translate(_IGNORED)) for text in (prediction, ground_truth)
    )
    if not (predicted and right):
        return float(predicted == right)
    matcher = difflib.SequenceMatcher(None, predicted, right, autojunk=False)
    common = matcher.find_longest_match(0, len(predicted), 0, len(right)).size
    return 2 * common / (len(predicted) + len(right))


def metric_max_over_ground_truths(
    metric_fn: Callable[[str, str], float], prediction: str, ground_truths: Sequence[str]
) -> float:
    """Returns the best score of a prediction over all right answers."""
    return max(metric_fn(prediction, truth) for truth in ground_truths)


def _best_scores(
    metric: Callable, gold: Mapping[str, Sequence[str]], predictions: Answers
) -> Scores:
    """Returns the best score of each prediction; the right answer to some questions is ""."""
    missing = len(gold.keys() - predictions.keys())
    if missing:
        log.warning("%d of %d questions have no prediction.", missing, len(gold))
    return {
        qas_id: metric_max_over_ground_truths(metric, predictions[qas_id], answers or [""])
        for qas_id, answers in gold.items()
        if qas_id in predictions
    }


def character_scores(dataset: Dataset, predictions: Answers) -> Scores:
    """Returns the mean `character_f1` in percent; {} if few right answers have such characters.

    A question without a prediction counts as wrong.
    """
    gold = gold_answers(dataset)
    are_cjk = [bool(re.search(f"[{_CJK}]", texts[0])) for texts in gold.values() if texts]
    if 2 * sum(are_cjk) <= len(are_cjk):
        return {}
    scores = _best_scores(character_f1, gold, predictions)
    return {"character_f1": 100.0 * sum(scores.values()) / len(gold)}


# ---- SQuAD v1.1 ----


def evaluate_v1(dataset: Dataset, predictions: Answers) -> Scores:
    """Returns exact_match and f1 in percent; a question without a prediction counts as wrong.

    Raises:
      UserError: there are no questions, or a question has no answer.
    """
    gold = gold_answers(dataset)
    unanswered = [qas_id for qas_id, answers in gold.items() if not answers]
    if unanswered or not gold:
        raise UserError(
            f"No answers to compare with: {unanswered[:1] or 'no questions'}. For "
            "questions without an answer use run_squad_v2."
        )
    exact, f1 = (
        100.0 * sum(_best_scores(metric, gold, predictions).values()) / len(gold)
        for metric in (exact_match_score, f1_score)
    )
    return {"exact_match": exact, "f1": f1}


# ---- SQuAD v2.0 ----


def make_qid_to_has_ans(dataset: Dataset) -> Dict[str, bool]:
    """Returns {question ID: whether the question has an answer}."""
    return {qas_id: bool(answers) for qas_id, answers in gold_answers(dataset).items()}


def get_raw_scores(dataset: Dataset, preds: Answers) -> Tuple[Scores, Scores]:
    """Returns (exact match, F1) of each predicted question, before any threshold.

    The right answer to an unanswerable question is "".
    """
    gold = {
        qas_id: [text for text in answers if normalize_answer(text)]
        for qas_id, answers in gold_answers(dataset).items()
    }
    return _best_scores(compute_exact, gold, preds), _best_scores(compute_f1, gold, preds)


def apply_no_ans_threshold(
    scores: Scores,
    na_probs: Scores,
    qid_to_has_ans: Dict[str, bool],
    na_prob_thresh: float,
) -> Scores:
    """Returns the scores if questions whose null score is above the threshold get no answer."""
    return {
        qas_id: float(not qid_to_has_ans[qas_id]) if na_probs[qas_id] > na_prob_thresh else score
        for qas_id, score in scores.items()
    }


def make_eval_dict(
    exact_scores: Scores, f1_scores: Scores, qid_list: Optional[Sequence[str]] = None
) -> Scores:
    """Returns exact and f1 in percent, and the number of questions, of qid_list or of all.

    Raises:
      UserError: there are no questions.
    """
    group = qid_list or list(exact_scores)
    if not group:
        raise UserError("No questions to score. Check the prediction file.")
    return {
        "exact": 100.0 * sum(exact_scores[qas_id] for qas_id in group) / len(group),
        "f1": 100.0 * sum(f1_scores[qas_id] for qas_id in group) / len(group),
        "total": len(group),
    }


def merge_eval(main_eval: Scores, new_eval: Scores, prefix: str) -> None:
    """Adds the values of new_eval to main_eval, with names PREFIX_name."""
    main_eval.update({f"{prefix}_{name}": value for name, value in new_eval.items()})


def find_best_thresh(
    preds: Mapping[Any, Any],
    scores: Mapping[Any, float],
    na_probs: Mapping[Any, float],
    qid_to_has_ans: Mapping[Any, bool],
) -> Tuple[float, float]:
    """Returns (best mean score in percent, best threshold on the null score).

    An answer whose null score is above the threshold becomes empty. As in the official script,
    starts without answers, whose threshold is 0, and gives the answers one by one in the order of
    their null scores (equal scores: of na_probs). In a tie, the first threshold is the best.
    """
    # Like the official script, counts all questions, with or without a prediction.
    current = best = float(sum(not has_answer for has_answer in qid_to_has_ans.values()))
    best_threshold = 0.0
    for qas_id in sorted(na_probs, key=na_probs.__getitem__):
        if qas_id in scores:
            # This answer adds its score. To a question without an answer, it costs 1.
            current += scores[qas_id] if qid_to_has_ans[qas_id] else -float(bool(preds[qas_id]))
            if current > best:
                best, best_threshold = current, na_probs[qas_id]
    return 100.0 * best / len(scores), best_threshold


def find_all_best_thresh(
    main_eval: Scores,
    preds: Answers,
    exact_raw: Scores,
    f1_raw: Scores,
    na_probs: Scores,
    qid_to_has_ans: Dict[str, bool],
) -> None:
    """Adds best_exact, best_exact_thresh, best_f1 and best_f1_thresh to main_eval."""
    for name, scores in (("best_exact", exact_raw), ("best_f1", f1_raw)):
        best = find_best_thresh(preds, scores, na_probs, qid_to_has_ans)
        main_eval[name], main_eval[f"{name}_thresh"] = best


def evaluate_v2(dataset: Dataset, predictions: Answers, null_scores: Scores) -> Scores:
    """Returns the values that evaluate-v2.0.py prints, in percent.

    exact, f1 and total count all predictions, HasAns_* and NoAns_* count the questions with and
    without answers, if there are any. best_exact and best_f1 are the scores of the best thresholds
    on the null score, best_exact_thresh and best_f1_thresh.

    Args:
      dataset: see the module.
      predictions: answers after your threshold.
      null_scores: by question ID; a higher score means that "no answer" is more probable.

    Raises:
      UserError: no question of the data set has a prediction.
    """
    exact, f1 = get_raw_scores(dataset, predictions)
    has_answer = make_qid_to_has_ans(dataset)
    result = make_eval_dict(exact, f1)
    for prefix, is_answerable in (("HasAns", True), ("NoAns", False)):
        group = [qas_id for qas_id in exact if has_answer[qas_id] is is_answerable]
        if group:
            merge_eval(result, make_eval_dict(exact, f1, group), prefix)
    find_all_best_thresh(result, predictions, exact, f1, null_scores, has_answer)
    return result
