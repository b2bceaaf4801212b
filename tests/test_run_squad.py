# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The scripts run_squad_v1 and run_squad_v2: flags, files, and what they say to mistakes."""

import json
import logging
import pathlib
import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import export_to_tfhub, fine_tuning_utils, modeling, run_squad_v1, run_squad_v2
from albert.squad import export as squad_export
from albert.squad import metrics as squad_metrics
from albert.squad import run as squad_run
from albert.training import evaluation as checkpoint_evaluator
from albert.util import flags as flags_lib
from tests.support import classification_data, pretrained_models, squad_data
from tests.support.squad_runs import CONTEXT, arguments_for, load_export, model_inputs, read_json

SCRIPTS = {"v1": run_squad_v1, "v2": run_squad_v2}
TASKS = {"v1": squad_run.SquadV1, "v2": squad_run.SquadV2}
VERSIONS = sorted(SCRIPTS)


def _paragraphs(version):
    answers = ("king", "bird", "old town", "river")
    asked = [squad_data.answered(f"q{n}", CONTEXT, text) for n, text in enumerate(answers)]
    if version == "v2":
        asked.append(squad_data.question("none", "which ship ?", is_impossible=True))
    return [squad_data.paragraph(CONTEXT, *asked)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a configuration and questions."""
    path = tmp_path_factory.mktemp("data")
    classification_data.write_config(path)
    for version in VERSIONS:
        squad_data.write_squad(path, _paragraphs(version), f"{version}.json")
    bare = {"id": "bare", "question": "what sang ?"}
    squad_data.write_squad(path, [squad_data.paragraph(CONTEXT, bare)], "bare.json")
    return path


def run(folder, output_dir, version, *arguments):
    script = SCRIPTS[version]
    arguments = arguments_for(folder, output_dir, version, *arguments)
    return script.answer(flags_lib.parse(script.define_flags, arguments))


def steps_in(folder):
    return [item.step for item in checkpoint_evaluator.list_checkpoints(str(folder))]


# ---------------------------------------------------------------------------------------------
# Flags.

PUBLISHED_DEFAULTS = dict(
    classification_data.PUBLISHED_DEFAULTS,
    spm_model_file=None,
    train_file=None,
    predict_file=None,
    train_feature_file=None,
    predict_feature_file=None,
    predict_feature_left_file=None,
    max_seq_length=384,
    doc_stride=128,
    max_query_length=64,
    num_train_epochs=3.0,
    warmup_proportion=0.1,
    n_best_size=20,
    max_answer_length=30,
)
OWN_DEFAULTS = {
    "v1": {"use_einsum": True, "export_dir": None},
    "v2": {"start_n_top": 5, "end_n_top": 5, "dropout_prob": 0.1},
}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_published_flags_have_their_published_defaults(version):
    script = SCRIPTS[version]
    settings = flags_lib.parse(script.define_flags, ["--output_dir=o"]).to_dict()
    expected = dict(PUBLISHED_DEFAULTS, **OWN_DEFAULTS[version])
    assert {name: settings[name] for name in expected} == expected


@pytest.mark.parametrize(
    "arguments,words",
    [
        ([], "Nothing to do"),
        (["--do_train", "--train_file="], "--train_file must be given with --do_train"),
        (["--do_predict", "--predict_file="], "--predict_file must be given with --do_predict"),
        (["--do_train", "--train_file=/absent.json"], "/absent.json"),
        (["--do_train", "--num_train_epochs=0"], "--num_train_epochs=0 trains nothing"),
        (["--do_train", "--num_train_epochs=0.1"], "is less than one batch of 2"),
        (["--do_train", "--gradient_accumulation_steps=3"], "must be a multiple of 3"),
        (["--do_train", "--max_seq_length=65"], "max_position_embeddings, 64"),
        (["--do_train", "--max_seq_length=3"], "--max_seq_length=3: 3 is not integer >= 4"),
        (["--do_train", "--spm_model_file="], "No vocabulary"),
        (["--do_predict"], "no checkpoint"),
        (["--export_dir=export"], "no checkpoint"),
    ],
)
def test_mistakes_are_named_before_anything_is_trained(folder, tmp_path, arguments, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        run(folder, tmp_path / "out", "v1", *arguments)
    assert steps_in(tmp_path / "out") == []


def test_a_question_needs_room_for_its_paragraph(folder, tmp_path):
    with pytest.raises(ValueError, match="--max_query_length=29 leaves no room"):
        run(folder, tmp_path / "out", "v1", "--do_train", "--max_query_length=29")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--train_feature_file=f", "--predict_feature_file=f"], "are both f"),
        (["--predict_feature_file=f", "--predict_feature_left_file=./f"], "are both ./f"),
        (["--start_n_top=33"], "--start_n_top=33 is more than there are positions"),
        (["--null_score_diff_threshold=nan"], "--null_score_diff_threshold=nan"),
    ],
)
def test_flags_that_exclude_each_other_are_refused(folder, tmp_path, arguments, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        run(folder, tmp_path / "out", "v2", "--do_train", *arguments)


def test_features_never_replace_what_holds_other_data(folder, tmp_path):
    mine = tmp_path / "mine.json"
    mine.write_text('{"data": []}')
    with pytest.raises(ValueError, match="mine.json exists and .*not replaced"):
        run(folder, tmp_path / "out", "v1", "--do_train", f"--train_feature_file={mine}")
    assert mine.read_text() == '{"data": []}'


def test_a_prediction_file_is_read_before_training(folder, tmp_path):
    with pytest.raises(ValueError, match="absent.json"):
        run(
            folder,
            tmp_path / "out",
            "v2",
            "--do_train",
            "--do_predict",
            "--predict_file=absent.json",
        )
    assert steps_in(tmp_path / "out") == []


def test_questions_without_an_answer_are_refused_by_v1(folder, tmp_path):
    file = folder / "v2.json"
    for part in ("train", "predict"):
        with pytest.raises(ValueError, match="1 of 5 questions have no answer.*run_squad_v2"):
            # With the training, since there is nothing yet to predict with.
            run(
                folder,
                tmp_path / "out",
                "v1",
                "--do_train",
                f"--do_{part}",
                f"--{part}_file={file}",
            )


# ---------------------------------------------------------------------------------------------
# Training, evaluation and prediction.


@pytest.fixture(scope="module", params=VERSIONS)
def trained(request, folder, tmp_path_factory):
    """(version, folder of a training of a few steps, what it did)."""
    path = tmp_path_factory.mktemp(f"trained_{request.param}")
    return request.param, path, run(folder, path, request.param, "--do_train", "--do_predict")


FILES = {
    "v1": {"predictions.json", "nbest_predictions.json"},
    "v2": {"predictions.json", "nbest_predictions.json", "null_odds.json"},
}


def test_one_command_trains_evaluates_and_answers(trained):
    version, path, outcome = trained
    last = outcome.training.last_step
    assert steps_in(path) == sorted({*range(0, last + 1, 2), last})
    assert [item.step for item in outcome.evaluation.results] == steps_in(path)[1:]
    assert {pathlib.Path(name).name for name in outcome.predictions} == FILES[version]
    assert (path / "model.ckpt-best.index").exists() and (path / "eval_results.txt").exists()
    summary = read_json(path / "run_summary.json")
    assert (summary["task"], summary["metric"]) == (f"squad_{version}", "f1")
    assert summary["value"] == outcome.metrics["f1"]
    assert read_json(path / "squad.json")["doc_stride"] == 8


def test_the_scores_are_those_of_the_files_that_are_left(folder, trained):
    version, path, outcome = trained
    gold = squad_metrics.gold_answers(read_json(folder / f"{version}.json")["data"])
    answers = read_json(path / "predictions.json")
    if version == "v1":
        expected = squad_metrics.evaluate_v1(gold, answers)
    else:
        expected = squad_metrics.evaluate_v2(gold, answers, read_json(path / "null_odds.json"))
    scores = outcome.metrics
    assert {name: scores[name] for name in expected} == pytest.approx(expected)
    assert all(text in CONTEXT or text == "empty" for text in answers.values())


@pytest.mark.slow
def test_run_again_nothing_is_computed_but_the_answers(folder, trained, caplog):
    version, path, _ = trained
    before = {name: (path / name).read_bytes() for name in FILES[version] | {"eval_results.txt"}}
    with caplog.at_level(logging.INFO, "albert"):
        outcome = run(folder, path, version, "--do_train", "--do_predict")
    assert outcome.training is None
    assert outcome.evaluation.evaluated_steps == []
    assert {name: (path / name).read_bytes() for name in before} == before


@pytest.mark.slow
def test_answers_to_other_questions_are_set_aside(folder, trained, tmp_path, caplog):
    version, path, _ = trained
    arguments = ["--do_predict", f"--checkpoint={path}"]
    run(folder, tmp_path, version, *arguments)
    before = {name: (tmp_path / name).read_bytes() for name in FILES[version]}
    run(folder, tmp_path, version, *arguments)
    assert not list(tmp_path.glob("*.old-1"))
    with caplog.at_level(logging.INFO, "albert"):
        run(folder, tmp_path, version, *arguments, f"--predict_file={folder / 'bare.json'}")
    assert {name: (tmp_path / f"{name}.old-1").read_bytes() for name in before} == before
    assert "Kept answers to other questions as" in caplog.text


@pytest.mark.slow
def test_the_named_checkpoint_answers(folder, trained, tmp_path):
    version, path, _ = trained
    arguments = ["--do_predict", f"--checkpoint={path / 'model.ckpt-2'}"]
    outcome = run(folder, tmp_path / "one", version, *arguments)
    results = read_json(tmp_path / "one" / "eval_results.model.ckpt-2.json")
    assert results["f1"] == outcome.metrics["f1"] and results["global_step"] == 2
    assert outcome.evaluation is None


@pytest.mark.slow
def test_questions_without_known_answers_are_answered_without_scores(folder, trained, caplog):
    version, path, _ = trained
    results = (path / "eval_results.txt").read_bytes()
    out = path / "bare"
    arguments = [f"--predict_file={folder / 'bare.json'}", f"--checkpoint={path}"]
    with caplog.at_level(logging.INFO, "albert"):
        outcome = run(folder, out, version, "--do_predict", *arguments)
    assert outcome.metrics == {}
    assert list(read_json(out / "predictions.json")) == ["bare"]
    assert "1 of 1 questions" in caplog.text and "without scores" in caplog.text
    assert (path / "eval_results.txt").read_bytes() == results


@pytest.mark.slow
def test_the_threshold_of_the_evaluation_serves_questions_without_known_answers(
    folder, trained, caplog
):
    version, path, outcome = trained
    if version == "v1":
        pytest.skip("version 1.1 has no threshold")
    with caplog.at_level(logging.INFO, "albert"):
        run(folder, path, version, "--do_predict", f"--predict_file={folder / 'bare.json'}")
    found = outcome.metrics["null_score_diff_threshold"]
    assert f"above {found:.4g} are left empty, as its evaluation has found" in caplog.text
    caplog.clear()
    bare = f"--predict_file={folder / 'bare.json'}"
    with caplog.at_level(logging.INFO, "albert"):
        run(folder, path / "elsewhere", version, "--do_predict", bare, f"--checkpoint={path}")
        assert f"above {found:.4g} are left empty" in caplog.text
        caplog.clear()
        first = f"--checkpoint={path / 'model.ckpt-2'}"
        run(folder, path / "first", version, "--do_predict", bare, first)
    ledger = read_json(path / "eval_results.json")["results"]
    of_first = next(item["metrics"] for item in ledger if item["step"] == 2)
    assert f"above {of_first['null_score_diff_threshold']:.4g} are left empty" in caplog.text
    run(folder, path, version, "--do_predict")  # leaves the folder as it was


@pytest.mark.slow
def test_a_named_threshold_decides_and_empty_answers_are_noticed(folder, trained, tmp_path, caplog):
    version, path, _ = trained
    if version == "v1":
        pytest.skip("version 1.1 has no threshold")
    arguments = ["--do_predict", f"--checkpoint={path}", "--null_score_diff_threshold=-99"]
    outcome = run(folder, tmp_path / "none", version, *arguments)
    assert set(read_json(tmp_path / "none" / "predictions.json").values()) == {""}
    assert outcome.metrics["NoAns_exact"] == 100
    assert outcome.metrics["null_score_diff_threshold"] == -99
    assert "None of the 5 questions got an answer" in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_answers_and_checkpoints_are_as_many_as_the_flags_say(folder, tmp_path, version):
    flags = ["--n_best_size=2", "--max_answer_length=1", "--keep_checkpoint_max=1"]
    run(folder, tmp_path, version, "--do_train", "--do_predict", "--num_train_epochs=2", *flags)
    found = read_json(tmp_path / "nbest_predictions.json").values()
    texts = [best["text"] for answers in found for best in answers]
    assert texts and max(map(len, found)) <= 2
    assert max(len(text.split()) for text in texts) <= 1
    assert [step for step in steps_in(tmp_path) if step] == steps_in(tmp_path)[-1:]


@pytest.mark.slow
def test_other_answers_are_scored_anew(folder, tmp_path):
    """The same questions, whose features are the same, with other answers."""
    file = tmp_path / "mine.json"
    file.write_bytes((folder / "v1.json").read_bytes())
    arguments = ["--do_train", "--do_predict", f"--predict_file={file}", "--num_train_epochs=1"]
    first = run(folder, tmp_path / "out", "v1", *arguments)
    answers = read_json(tmp_path / "out" / "predictions.json")
    content = read_json(file)
    for question in content["data"][0]["paragraphs"][0]["qas"]:
        question["answers"] = [{"text": answers[question["id"]], "answer_start": 0}]
    file.write_text(json.dumps(content))
    again = run(folder, tmp_path / "out", "v1", *arguments)
    trained_steps = [step for step in steps_in(tmp_path / "out") if step]
    assert len(again.evaluation.evaluated_steps) == len(trained_steps) > 0
    assert again.metrics["exact_match"] == 100 != first.metrics["exact_match"]


def test_a_model_without_any_answer_is_noticed_in_v1_too(folder, trained, tmp_path, caplog):
    version, path, _ = trained
    if version == "v2":
        pytest.skip("tested by its threshold")
    blank = [squad_data.paragraph(" ", squad_data.question("a", "who ?"))]
    file = squad_data.write_squad(tmp_path, blank)
    arguments = ["--do_predict", f"--predict_file={file}", f"--checkpoint={path}"]
    run(folder, tmp_path / "out", version, *arguments)
    assert read_json(tmp_path / "out" / "predictions.json") == {"a": "empty"}
    assert "None of the 1 questions got an answer" in caplog.text


def test_wide_beams_serve_short_batches(folder, trained, tmp_path):
    version, path, _ = trained
    if version == "v1":
        pytest.skip("version 1.1 has no beams")
    arguments = ["--do_predict", f"--checkpoint={path}", "--start_n_top=30", "--end_n_top=31"]
    outcome = run(folder, tmp_path / "out", version, *arguments)
    assert outcome.metrics["total"] == 5


@pytest.mark.slow
def test_feature_files_have_the_names_the_user_gives(folder, trained, tmp_path):
    version, path, _ = trained
    names = [f"--predict_feature_file={tmp_path / 'p.tf_record'}"]
    out = tmp_path / "out"
    run(folder, out, version, "--do_predict", f"--checkpoint={path}", *names)
    assert (tmp_path / "p.tf_record").exists()
    assert not list(out.glob("*.tf_record"))


@pytest.mark.slow
def test_another_length_is_refused_for_training_and_allowed_for_answers(folder, trained, caplog):
    version, path, _ = trained
    with pytest.raises(ValueError, match="belongs to another run: max_seq_length"):
        run(folder, path, version, "--do_train", "--max_seq_length=48")
    outcome = run(folder, path, version, "--do_predict", "--max_seq_length=48")
    assert outcome.metrics
    assert "was trained with --max_seq_length=32, and is run with 48 now" in caplog.text
    run(folder, path, version, "--do_predict")  # leaves the folder as it was


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_a_hub_module_takes_the_place_of_configuration_checkpoint_and_vocabulary(
    version, folder, tmp_path
):
    archive = pretrained_models.write_archive(tmp_path / "archive")
    module = tmp_path / "module"
    export_to_tfhub.export(
        flags_lib.parse(
            export_to_tfhub.define_flags,
            [f"--albert_directory={archive}", f"--export_path={module}"],
        )
    )
    given = arguments_for(folder, tmp_path / "out", version, "--do_train", "--do_predict")
    own = ("--albert_config_file", "--spm_model_file")
    given = [item for item in given if not item.startswith(own)]
    given += [f"--albert_hub_module_handle={module}", "--num_train_epochs=1"]
    script = SCRIPTS[version]
    outcome = script.answer(flags_lib.parse(script.define_flags, given))
    assert outcome.training.last_step == 2 and outcome.metrics["f1"] >= 0
    described = read_json(tmp_path / "out" / "squad.json")
    assert described["hub_module"] == str(module)


# ---------------------------------------------------------------------------------------------
# Export.


@pytest.mark.slow
def test_the_saved_model_answers_without_being_told_where_answers_may_be(folder, trained, tmp_path):
    """What it says of a record is what prediction says of it."""
    version, path, _ = trained
    outcome = run(folder, path, version, f"--export_dir={tmp_path}")
    records = tmp_path / "predict.tf_record"
    settings = flags_lib.parse(
        SCRIPTS[version].define_flags,
        arguments_for(folder, path, version, "--do_predict", f"--predict_feature_file={records}"),
    )
    SCRIPTS[version].answer(settings)
    serialized = next(tf.python_io.tf_record_iterator(str(records)))
    features = tf.train.Example.FromString(serialized).features.feature
    names = ("input_ids", "input_mask", "segment_ids", "p_mask")
    values = {name: np.array([features[name].int64_list.value], np.int32) for name in names}
    expected = _predicted(settings, version, path, values)
    del values["p_mask"]
    for outputs in (
        load_export(outcome.export)("ids", values),
        load_export(outcome.export)("serving_default", {"examples": [serialized]}),
    ):
        assert set(outputs) == set(expected)
        for name, value in outputs.items():
            np.testing.assert_allclose(value, expected[name], atol=1e-5, err_msg=name)
    extra = {item.name for item in (pathlib.Path(outcome.export) / "assets.extra").iterdir()}
    assert {"squad.json", "albert_config.json"} <= extra


def _predicted(settings, version, path, values):
    """The head's outputs for features that say where answers may be."""
    config = modeling.AlbertConfig.from_json_file(settings.albert_config_file)
    with tf.Graph().as_default(), tf.Session() as session:
        features = {name: tf.constant(value) for name, value in values.items()}
        encoder = fine_tuning_utils.Encoder(config, False)
        outputs = TASKS[version](settings, None).build_head(None)(features, encoder).outputs
        tf.train.Saver().restore(session, str(path / "model.ckpt-best"))
        return session.run(outputs)


@pytest.mark.slow
def test_the_lite_model_gives_the_logits_of_the_saved_model(folder, trained, tmp_path):
    version, path, _ = trained
    if version == "v2":
        pytest.skip("there is no TensorFlow Lite model of version 2.0")
    outcome = run(folder, path, version, f"--export_dir={tmp_path}")
    inputs = model_inputs(32)
    expected = load_export(outcome.export)("ids", inputs)
    found = squad_export.run_tflite((tmp_path / "albert_model.tflite").read_bytes(), inputs)
    assert set(found) == set(expected) == {"start_logits", "end_logits"}
    for name, value in expected.items():
        assert value.shape == (1, 32)
        np.testing.assert_allclose(found[name], value, atol=1e-4)
