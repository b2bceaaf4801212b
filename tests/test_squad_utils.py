# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""SQuAD by the names that existing programs use, up to predictions and their scores."""

import json

import numpy as np
import pytest

from albert import squad_utils, tokenization
from tests.shared import needs_shared, shared_path

N_BEST, LONGEST = 20, 30


class _Golden:
    """A data set of golden/squad_postprocess: its examples, features and files."""

    def __init__(self, name):
        self.name = name
        path = self.path("_examples.json")
        tokenizer = tokenization.FullTokenizer(
            None, True, str(shared_path("data/spm/30k-clean.model"))
        )
        self.dataset = json.loads(path.read_text())["data"]
        self.examples = squad_utils.read_squad_examples(str(path), False)
        self.features = []
        squad_utils.convert_examples_to_features(
            self.examples, tokenizer, 128, 48, 64, False, self.features.append, True
        )

    def path(self, ending):
        return shared_path(f"golden/squad_postprocess/{self.name}{ending}")

    def json(self, ending):
        return json.loads(self.path(ending).read_text())

    def results(self, result_type, ending):
        arrays = dict(np.load(str(self.path(ending))))
        arrays["unique_id"] = arrays["unique_ids"]
        rows = zip(*(arrays[field].tolist() for field in result_type._fields))
        return [result_type(*row) for row in rows]


def _assert_nbest(folder, golden, prefix=""):
    """Top 3 and lengths; probabilities to 1e-9."""
    written = json.loads((folder / "nbest.json").read_text())
    for qas_id, entries in golden.json(f"{prefix}_nbest_top3.json").items():
        for mine, reference in zip(written[qas_id], entries):
            assert mine["text"] == reference["text"], qas_id
            for key in ("probability", "start_log_prob", "end_log_prob"):
                assert mine[key] == pytest.approx(reference[key], abs=1e-9)
    return written


def _run_v1(golden, folder, *endings):
    result_dict = {}
    for ending in endings:
        results = golden.results(squad_utils.RawResult, ending)
        squad_utils.accumulate_predictions_v1(
            result_dict, golden.examples, golden.features, results, N_BEST, LONGEST
        )
    predictions = squad_utils.write_predictions_v1(
        result_dict,
        golden.examples,
        golden.features,
        results,
        N_BEST,
        LONGEST,
        str(folder / "predictions.json"),
        str(folder / "nbest.json"),
    )
    assert json.loads((folder / "predictions.json").read_text()) == predictions
    return predictions


def _summary(name):
    return json.loads(shared_path("golden/squad_postprocess/summary.json").read_text())[name]


@needs_shared
@pytest.mark.parametrize("name", ["v1", "v1ties"])
def test_v1_predictions_equal_the_reference(name, tmp_path):
    golden = _Golden(name)
    predictions = _run_v1(golden, tmp_path, "_logits.npz")
    assert predictions == golden.json("_predictions.json")
    written = _assert_nbest(tmp_path, golden)
    assert {key: len(value) for key, value in written.items()} == golden.json("_nbest_len.json")
    scores = squad_utils.evaluate_v1(golden.dataset, predictions)
    assert scores == pytest.approx(_summary(name)["metrics"], abs=1e-9)


@needs_shared
def test_an_ensemble_of_two_equals_the_reference(tmp_path):
    golden = _Golden("v1")
    predictions = _run_v1(golden, tmp_path, "_logits.npz", "ensemble_second_logits.npz")
    assert predictions == golden.json("ensemble_predictions.json")
    _assert_nbest(tmp_path, golden, "ensemble")
    scores = squad_utils.evaluate_v1(golden.dataset, predictions)
    assert scores == pytest.approx(_summary("v1ensemble")["metrics"], abs=1e-9)


# ---------------------------------------------------------------------------------------------
# v2.


def _run_v2(golden, folder):
    results = golden.results(squad_utils.RawResultV2, "_topk.npz")
    result_dict, cls_dict = {}, {}
    squad_utils.accumulate_predictions_v2(
        result_dict, cls_dict, golden.examples, golden.features, results, N_BEST, LONGEST, 5, 5
    )
    paths = [str(folder / name) for name in ("predictions.json", "nbest.json", "null_odds.json")]
    arguments = (golden.examples, golden.features, results, N_BEST, LONGEST, *paths)
    first, _ = squad_utils.write_predictions_v2(result_dict, cls_dict, *arguments, None)
    scores = squad_utils.evaluate_v2(result_dict, cls_dict, golden.dataset, *arguments)
    return first, scores


@needs_shared
def test_v2_predictions_equal_the_reference_but_for_answers_at_the_threshold(tmp_path):
    golden = _Golden("v2")
    first, scores = _run_v2(golden, tmp_path)
    assert first == golden.json("_predictions_no_threshold.json")
    written = _assert_nbest(tmp_path, golden)
    assert {key: len(value) for key, value in written.items()} == golden.json("_nbest_len.json")
    null_odds = json.loads((tmp_path / "null_odds.json").read_text())
    assert null_odds == pytest.approx(golden.json("_null_odds.json"), abs=1e-6)
    summary = _summary("v2")
    threshold = summary["metrics"]["null_score_diff_threshold"]
    assert scores["null_score_diff_threshold"] == pytest.approx(threshold, abs=1e-9)
    predictions = json.loads((tmp_path / "predictions.json").read_text())
    # The reference drops the very answer that it chose the threshold for.
    reference = golden.json("_predictions.json")
    different = [key for key in reference if reference[key] != predictions[key]]
    assert [null_odds[key] for key in different] == [pytest.approx(threshold, abs=1e-9)]
    assert [reference[key] for key in different] == [""]


@needs_shared
def test_v2_reaches_the_scores_that_its_threshold_was_chosen_for(tmp_path):
    _, scores = _run_v2(_Golden("v2"), tmp_path)
    best = _summary("v2")["first_pass_thresholds"]
    assert scores["exact"] == pytest.approx(best["best_exact"], abs=1e-9)
    assert scores["f1"] == scores["best_f1"] == pytest.approx(best["best_f1"], abs=1e-9)
    assert scores["total"] == 80
    assert scores["HasAns_total"] + scores["NoAns_total"] == 80
