# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""SQuAD by the names that existing programs use, up to predictions and their scores."""

import collections

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import squad_utils, tokenization
from albert.runtimes import estimator as tf_estimator
from tests.support import fine_tuned_models, pretrained_models, read_json
from tests.support.shared import needs_shared, shared_path

N_BEST, LONGEST = 20, 30
LIMITS = (N_BEST, LONGEST)


class _Golden:
    """A data set of golden/squad_postprocess: its examples, features and files."""

    def __init__(self, name):
        self.name = name
        path = self.path("_examples.json")
        model = str(shared_path("data/spm/30k-clean.model"))
        tokenizer = tokenization.FullTokenizer(None, True, model)
        self.dataset = read_json(path)["data"]
        self.examples = squad_utils.read_squad_examples(str(path), False)
        self.features = []
        squad_utils.convert_examples_to_features(
            self.examples, tokenizer, 128, 48, 64, False, self.features.append, True
        )

    def path(self, ending):
        return shared_path(f"golden/squad_postprocess/{self.name}{ending}")

    def json(self, ending):
        return read_json(self.path(ending))

    def results(self, result_type, ending):
        arrays = dict(np.load(self.path(ending)))
        arrays["unique_id"] = arrays["unique_ids"]
        rows = zip(*(arrays[field].tolist() for field in result_type._fields))
        return [result_type(*row) for row in rows]


def _assert_nbest(folder, golden, prefix=""):
    """Top 3 and lengths; probabilities to 1e-9."""
    written = read_json(folder / "nbest")
    for qas_id, entries in golden.json(f"{prefix}_nbest_top3.json").items():
        for mine, reference in zip(written[qas_id], entries):
            assert mine["text"] == reference["text"], qas_id
            for key in ("probability", "start_log_prob", "end_log_prob"):
                assert mine[key] == pytest.approx(reference[key], abs=1e-9)
    if not prefix:
        assert {key: len(value) for key, value in written.items()} == golden.json("_nbest_len.json")


def _answers_v1(data, folder, *runs):
    """The answers to (examples, features) by one or several runs' results."""
    found, paths = {}, [f"{folder}/{name}" for name in ("predictions", "nbest")]
    for results in runs:
        squad_utils.accumulate_predictions_v1(found, *data, results, *LIMITS)
    answers = squad_utils.write_predictions_v1(found, *data, runs[-1], *LIMITS, *paths)
    assert read_json(folder / "predictions") == answers
    return answers


def _answers_v2(data, folder, results, dataset=None):
    """The answers without a threshold; the scores with the best one, if a data set is given."""
    found, cls, paths = {}, {}, [f"{folder}/{name}" for name in ("predictions", "nbest", "odds")]
    squad_utils.accumulate_predictions_v2(found, cls, *data, results, *LIMITS, 5, 5)
    arguments = (*data, results, *LIMITS, *paths)
    answers, _ = squad_utils.write_predictions_v2(found, cls, *arguments, None)
    scores = dataset and squad_utils.evaluate_v2(found, cls, dataset, *arguments)
    return answers, scores


def _summary(name):
    return read_json(shared_path("golden/squad_postprocess/summary.json"))[name]


@needs_shared
@pytest.mark.parametrize(
    "name, prefix, second",
    [("v1", "", []), ("v1ties", "", []), ("v1", "ensemble", ["ensemble_second_logits.npz"])],
)
def test_v1_predictions_equal_the_reference(name, prefix, second, tmp_path):
    golden = _Golden(name)
    runs = [golden.results(squad_utils.RawResult, file) for file in ("_logits.npz", *second)]
    predictions = _answers_v1((golden.examples, golden.features), tmp_path, *runs)
    assert predictions == golden.json(f"{prefix}_predictions.json")
    _assert_nbest(tmp_path, golden, prefix)
    scores = squad_utils.evaluate_v1(golden.dataset, predictions)
    assert scores == pytest.approx(_summary(name + prefix)["metrics"], abs=1e-9)


# What is made of the reference's outputs for SQuAD 2.0: answers without a threshold, scores, files.
V2 = collections.namedtuple("V2", "golden answers scores folder")


@pytest.fixture(scope="module")
def v2(tmp_path_factory):
    golden, folder = _Golden("v2"), tmp_path_factory.mktemp("v2")
    results = golden.results(squad_utils.RawResultV2, "_topk.npz")
    data = (golden.examples, golden.features)
    return V2(golden, *_answers_v2(data, folder, results, golden.dataset), folder)


@needs_shared
def test_v2_answers_and_null_odds_equal_the_reference(v2):
    assert v2.answers == v2.golden.json("_predictions_no_threshold.json")
    _assert_nbest(v2.folder, v2.golden)
    expected = v2.golden.json("_null_odds.json")
    assert read_json(v2.folder / "odds") == pytest.approx(expected, abs=1e-6)


@needs_shared
def test_v2_threshold_and_scores_equal_the_reference(v2):
    summary, scores = _summary("v2"), v2.scores
    best = {key[5:]: value for key, value in summary["first_pass_thresholds"].items()}
    threshold = summary["metrics"]["null_score_diff_threshold"]
    expected = {"null_score_diff_threshold": threshold, "exact": best["exact"]}
    expected.update(f1=best["f1"], best_f1=best["f1"])
    assert {name: scores[name] for name in expected} == pytest.approx(expected, abs=1e-9)
    assert scores["total"] == scores["HasAns_total"] + scores["NoAns_total"] == 80


@needs_shared
def test_v2_keeps_the_answer_at_the_threshold(v2):
    """The reference drops the very answer that it chose the threshold for."""
    predictions, odds = (read_json(v2.folder / name) for name in ("predictions", "odds"))
    reference = v2.golden.json("_predictions.json")
    different = [key for key in reference if reference[key] != predictions[key]]
    threshold = _summary("v2")["metrics"]["null_score_diff_threshold"]
    assert [odds[key] for key in different] == [pytest.approx(threshold, abs=1e-9)]
    assert [reference[key] for key in different] == [""]


def test_apply_no_ans_threshold():
    scores, odds = dict.fromkeys("abc", 0.5), {"a": 1.0, "b": 2.0, "c": 2.0}
    cut = squad_utils.apply_no_ans_threshold(scores, odds, {"a": True, "b": True, "c": False}, 1.0)
    assert cut == {"a": 0.5, "b": 0.0, "c": 1.0}


# ---- all names together ----


@pytest.mark.parametrize("version", [1, 2])
def test_squad_utils_from_features_to_answers(version, tmp_path):
    tokenizer = tokenization.FullTokenizer(None, True, str(fine_tuned_models.VOCABULARY))
    examples, features = [squad_utils.SquadExample("q", "who ?", "the old town")], []
    squad_utils.convert_examples_to_features(
        examples, tokenizer, 16, 4, 8, False, features.append, True
    )
    (feature,), path = features, f"{tmp_path}/features"
    writer = squad_utils.FeatureWriter(path, False)
    writer.process_feature(feature)
    writer.close()
    input_fn = squad_utils.input_fn_builder(path, 16, False, False, False, 4, version == 2)
    options = (pretrained_models.config(), None, 5e-5, None, None, False, False)
    if version == 1:
        model_fn = squad_utils.v1_model_fn_builder(*options, True, None)
        shapes = {"start_log_prob": [16], "end_log_prob": [16]}
    else:
        model_fn = squad_utils.v2_model_fn_builder(*options, 16, 3, 2, 0.1, None)
        shapes = {"start_top_log_probs": [3], "start_top_index": [3], "cls_logits": []}
        shapes.update(end_top_log_probs=[6], end_top_index=[6])
    with tf.Graph().as_default() as graph, tf.Session() as session:
        inputs = tf.data.make_one_shot_iterator(input_fn({"batch_size": 7})).get_next()
        spec = model_fn(inputs, None, tf_estimator.ModeKeys.PREDICT, {})
        session.run(tf.global_variables_initializer())
        batch, found = session.run([inputs, spec.predictions])
        assert version == 2 or graph.get_tensor_by_name("start_logits:0") is not None
    assert ("p_mask" in batch) == (version == 2)
    for name, values in batch.items():
        assert values.tolist() == [getattr(feature, name.replace("unique_ids", "unique_id"))]
    assert found.pop("unique_ids").tolist() == [feature.unique_id]
    assert {name: list(value.shape[1:]) for name, value in found.items()} == shapes
    start, end = feature.tokens.index("▁old"), len(feature.tokens) - 2
    data, number = (examples, features), feature.unique_id
    if version == 1:
        result = squad_utils.RawResult(number, list(np.eye(16)[start]), list(np.eye(16)[end]))
        answers = _answers_v1(data, tmp_path, [result])
    else:
        result = squad_utils.RawResultV2(number, [0.0], [start], [0.0], [end], 0.5)
        answers, _ = _answers_v2(data, tmp_path, [result])
    assert answers == {"q": "old town"}
