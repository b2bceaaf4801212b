# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The scripts run_squad_v1 and run_squad_v2: flags, files and mistakes."""

import functools
import logging
import pathlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling, run_squad_v1, run_squad_v2
from albert.pretrained import exported as exported_files
from albert.squad import metrics as squad_metrics
from albert.squad import run as squad_run
from albert.training import evaluation
from albert.util import flags as flags_lib
from tests.support import classification_data, squad_data
from tests.support.fine_tuned_models import serve
from tests.support.squad_runs import CONTEXT, arguments_for, read_json

SCRIPTS = {"v1": run_squad_v1, "v2": run_squad_v2}
TASKS = {"v1": squad_run.SquadV1, "v2": squad_run.SquadV2}
FILES = {
    "v1": {"predictions.json", "nbest_predictions.json"},
    "v2": {"predictions.json", "nbest_predictions.json", "null_odds.json"},
}
VERSIONS = sorted(SCRIPTS)
every_version = pytest.mark.parametrize("version", VERSIONS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a configuration and questions."""
    path = tmp_path_factory.mktemp("data")
    classification_data.write_config(path)
    answers = ("king", "bird", "old town", "river")
    asked = [squad_data.answered(f"q{n}", CONTEXT, text) for n, text in enumerate(answers)]
    none = squad_data.question("none", "which ship ?", is_impossible=True)
    bare = {"id": "bare", "question": "what sang ?"}
    for name, questions in (("v1", asked), ("v2", [*asked, none]), ("bare", [bare])):
        squad_data.write_squad(path, [squad_data.paragraph(CONTEXT, *questions)], f"{name}.json")
    return path


def run(folder, output_dir, version, *arguments):
    script = SCRIPTS[version]
    arguments = arguments_for(folder, output_dir, version, *arguments)
    return script.answer(flags_lib.parse(script.Flags, arguments))


def steps_in(folder):
    return [item.step for item in evaluation.list_checkpoints(str(folder))]


@pytest.mark.parametrize(
    "version, arguments, named",
    [
        ("v1", "", "--do_train.*--do_predict.*--export_dir"),
        ("v1", "--do_train --train_file=", "--train_file"),
        ("v1", "--do_predict --predict_file=", "--predict_file"),
        ("v1", "--do_train --train_file=/absent.json", "/absent.json"),
        ("v2", "--do_train --do_predict --predict_file=absent.json", "absent.json"),
        ("v1", "--do_train --max_seq_length=3", "max_seq_length=3"),
        ("v2", "--do_predict --null_score_diff_threshold=nan", "null_score_diff_threshold=nan"),
        ("v1", "--do_predict", "checkpoint"),
        ("v1", "--export_dir=export", "checkpoint"),
        ("v1", "--do_train --train_file={folder}/v2.json", "1 of 5 .*run_squad_v2"),
        ("v1", "--do_train --train_feature_file={folder}/bare.json", "bare.json"),
        ("v2", "--do_train --train_feature_file=f --predict_feature_file=f", "_feature_file.* f"),
    ],
)
def test_mistakes_are_named_before_anything_is_trained(folder, tmp_path, version, arguments, named):
    before = (folder / "bare.json").read_bytes()
    with pytest.raises(ValueError, match=f"(?i){named}"):
        run(folder, tmp_path / "out", version, *arguments.format(folder=folder).split())
    assert steps_in(tmp_path / "out") == []
    assert (folder / "bare.json").read_bytes() == before


# ---- training, evaluation and prediction ----


@pytest.fixture(scope="module")
def trained(folder, tmp_path_factory):
    """Version -> folder of a training of a few steps, and its outcome."""

    @functools.lru_cache(maxsize=None)
    def train(version):
        path = tmp_path_factory.mktemp(f"trained_{version}")
        return path, run(folder, path, version, "--do_train", "--do_predict")

    return train


@every_version
def test_one_command_trains_evaluates_and_answers(folder, trained, version):
    path, outcome = trained(version)
    last = outcome.training.last_step
    assert steps_in(path) == sorted({*range(0, last + 1, 2), last})
    assert [item.step for item in outcome.evaluation.results] == steps_in(path)[1:]
    assert {pathlib.Path(name).name for name in outcome.predictions} == FILES[version]
    assert (path / "model.ckpt-best.index").exists() and (path / "eval_results.txt").exists()
    summary = read_json(path / "run_summary.json")
    assert (summary["task"], summary["metric"]) == (f"squad_{version}", "f1")
    assert summary["value"] == outcome.metrics["f1"]
    assert read_json(path / "squad.json")["doc_stride"] == 8
    # The scores are those of the files.
    gold = read_json(folder / f"{version}.json")["data"]
    answers = read_json(path / "predictions.json")
    if version == "v1":
        expected = squad_metrics.evaluate_v1(gold, answers)
    else:
        expected = squad_metrics.evaluate_v2(gold, answers, read_json(path / "null_odds.json"))
    assert {name: outcome.metrics[name] for name in expected} == pytest.approx(expected)
    assert all(text in CONTEXT or text == "empty" for text in answers.values())


@pytest.mark.slow
def test_questions_without_known_answers_get_the_threshold_of_the_evaluation(
    folder, trained, tmp_path, caplog
):
    path, outcome = trained("v2")
    results = (path / "eval_results.txt").read_bytes()
    ledger = read_json(path / "eval_results.json")["results"]
    of_first = next(item["metrics"] for item in ledger if item["step"] == 2)
    for checkpoint, metrics in ((path, outcome.metrics), (path / "model.ckpt-2", of_first)):
        caplog.clear()
        arguments = ["--do_predict", f"--checkpoint={checkpoint}"]
        out = tmp_path / checkpoint.name
        with caplog.at_level(logging.INFO, "albert"):
            bare = f"--predict_file={folder / 'bare.json'}"
            assert run(folder, out, "v2", *arguments, bare).metrics == {}
        assert list(read_json(out / "predictions.json")) == ["bare"]
        assert f"above {metrics['null_score_diff_threshold']:.4g} " in caplog.text
    assert (path / "eval_results.txt").read_bytes() == results


@pytest.mark.slow
def test_a_named_threshold_decides_and_empty_answers_are_noticed(folder, trained, tmp_path, caplog):
    path, _ = trained("v2")
    arguments = ["--do_predict", f"--checkpoint={path}", "--null_score_diff_threshold=-99"]
    outcome = run(folder, tmp_path / "none", "v2", *arguments)
    assert set(read_json(tmp_path / "none" / "predictions.json").values()) == {""}
    assert outcome.metrics["NoAns_exact"] == 100
    assert outcome.metrics["null_score_diff_threshold"] == -99
    assert "None of the 5 questions" in caplog.text


# ---- export ----


@pytest.mark.slow
@every_version
def test_exports_answer_without_being_told_where_answers_may_be(folder, trained, tmp_path, version):
    """Of a record they say the same as prediction."""
    path, _ = trained(version)
    records = tmp_path / "predict.tf_record"
    given = ["--do_predict", f"--predict_feature_file={records}", f"--export_dir={tmp_path}"]
    given = arguments_for(folder, path, version, *given)
    settings = flags_lib.parse(SCRIPTS[version].Flags, given)
    outcome = SCRIPTS[version].answer(settings)
    serialized = next(tf.python_io.tf_record_iterator(str(records)))
    features = tf.train.Example.FromString(serialized).features.feature
    names = ("input_ids", "input_mask", "segment_ids", "p_mask")
    values = {name: np.array([features[name].int64_list.value], np.int32) for name in names}
    expected = _predicted(settings, version, path, values)
    del values["p_mask"]
    signatures = {"ids": values, "serving_default": {"examples": [serialized]}}
    found = [serve(outcome.export, *item) for item in signatures.items()]
    if version == "v1":
        program = exported_files.open_program(str(tmp_path / "albert_model.tflite"))
        found.append(program.run(values))
    for outputs in found:
        assert set(outputs) == set(expected)
        for name, value in outputs.items():
            np.testing.assert_allclose(value, expected[name], atol=1e-4, err_msg=name)
    extra = {item.name for item in (pathlib.Path(outcome.export) / "assets.extra").iterdir()}
    assert {"squad.json", "albert_config.json"} <= extra
    description = read_json(pathlib.Path(outcome.export) / "assets.extra" / "squad.json")
    assert description["max_answer_length"] == 30
    if version == "v2":
        names = ("start_n_top", "null_score_diff_threshold")
        recorded = evaluation.recorded_metrics(str(path / "model.ckpt-best"), str(path))
        assert [description[name] for name in names] == [5, recorded[names[1]]]


def _predicted(settings, version, path, values):
    """The head's outputs for features that say where answers may be."""
    config = modeling.AlbertConfig.from_json_file(settings.albert_config_file)
    with tf.Graph().as_default(), tf.Session() as session:
        features = {name: tf.constant(value) for name, value in values.items()}
        encoder = fine_tuning_utils.Encoder(config, False)
        outputs = TASKS[version](settings, None, {}).head(features, encoder).outputs
        tf.train.Saver().restore(session, str(path / "model.ckpt-best"))
        return session.run(outputs)
