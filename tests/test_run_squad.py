# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The scripts run_squad_v1 and run_squad_v2: scores, thresholds and exports.

What they have in common with other scripts is in test_training_scripts.py.
"""

import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.formats import exported
from albert.tasks.squad import metrics as squad_metrics
from tests.support import read_json, squad_data, training_scripts
from tests.support.classification_data import contents
from tests.support.fine_tuned_models import serve
from tests.support.recorded import assert_close
from tests.support.squad_data import CONTEXT

every_version = pytest.mark.parametrize("version", ["v1", "v2"])


def run_squad(data, output_dir, version, arguments):
    return training_scripts.run(f"run_squad_{version}", data, output_dir, arguments)


@every_version
def test_metrics_equal_the_scores_of_files(training_data, trained, version):
    path, outcome = trained(f"run_squad_{version}")
    gold = read_json(training_data / f"{version}.json")["data"]
    answers = read_json(path / "predictions.json")
    if version == "v1":
        expected = squad_metrics.evaluate_v1(gold, answers)
    else:
        expected = squad_metrics.evaluate_v2(gold, answers, read_json(path / "null_odds.json"))
    assert {name: outcome.metrics[name] for name in expected} == pytest.approx(expected)
    assert all(text in CONTEXT or text == "empty" for text in answers.values())


def test_partly_answered_file_is_refused_before_the_training(training_data, tmp_path):
    questions = [squad_data.answered("q", CONTEXT, "king"), squad_data.question("half", "who ?")]
    path = squad_data.write_squad(tmp_path, [squad_data.paragraph(CONTEXT, *questions)])
    flags = f"--do_train --do_predict --predict_file={path}"
    with pytest.raises(ValueError, match="half"):
        run_squad(training_data, tmp_path / "out", "v1", flags)
    assert not list(tmp_path.glob("out/model.ckpt*"))


@pytest.mark.slow
def test_prediction_threshold(training_data, trained, tmp_path, caplog):
    path, outcome = trained("run_squad_v2")
    before, of_first = contents(path), outcome.evaluation.results[0].metrics
    for checkpoint, metrics in ((path, outcome.metrics), (path / "model.ckpt-2", of_first)):
        caplog.clear()
        out = tmp_path / checkpoint.name
        flags = f"--do_predict --checkpoint={checkpoint} --predict_file={{data}}/bare.json"
        with caplog.at_level(logging.INFO, "albert"):
            assert run_squad(training_data, out, "v2", flags).metrics == {}
        assert list(read_json(out / "predictions.json")) == ["bare"]
        assert f"above {metrics['null_score_diff_threshold']:.4g}," in caplog.text
    assert contents(path) == before
    flags = f"--do_predict --checkpoint={path} --null_score_diff_threshold=-99"
    metrics = run_squad(training_data, tmp_path / "given", "v2", flags).metrics
    assert set(read_json(tmp_path / "given" / "predictions.json").values()) == {""}
    assert (metrics["NoAns_exact"], metrics["null_score_diff_threshold"]) == (100, -99)


@pytest.mark.slow
@every_version
def test_export_answers_arrays_and_records_alike(training_data, trained, tmp_path, version):
    path, outcome = trained(f"run_squad_{version}")
    records = tmp_path / "predict.tf_record"
    flags = f"--do_predict --checkpoint={path} --export_dir={tmp_path}"
    flags += f" --predict_feature_file={records}"
    export = run_squad(training_data, tmp_path / "out", version, flags).export
    serialized = next(tf.python_io.tf_record_iterator(str(records)))
    features = tf.train.Example.FromString(serialized).features.feature
    names = ("input_ids", "input_mask", "segment_ids")
    values = {name: np.array([features[name].int64_list.value], np.int32) for name in names}
    expected = serve(export, "ids", values)
    found = [serve(export, "serving_default", {"examples": [serialized]})]
    if version == "v1":
        found.append(exported.open_program(f"{tmp_path}/albert_model.tflite").run(values))
    for outputs in found:
        assert set(outputs) == set(expected)
        assert_close(outputs, expected, 1e-4)
    threshold = read_json(f"{export}/assets.extra/squad.json").get("null_score_diff_threshold")
    assert threshold == outcome.metrics.get("null_score_diff_threshold")
