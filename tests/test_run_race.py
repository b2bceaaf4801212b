# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script run_race: flags, files, and what it says to mistakes."""

import json
import logging
import pathlib
import re

import numpy as np
import pytest

from albert import run_race
from albert.data import record_files
from albert.race import examples as race_examples
from albert.race import run as race_run
from albert.training import evaluation as checkpoint_evaluator
from albert.util import flags as flags_lib
from tests.support import classification_data, race_data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a configuration and passages."""
    path = tmp_path_factory.mktemp("data")
    classification_data.write_config(path)
    race_data.write_race(path)
    return path


def settings_for(folder, output_dir, *arguments):
    defaults = [
        f"--data_dir={folder}",
        f"--output_dir={output_dir}",
        f"--albert_config_file={folder / 'config.json'}",
        f"--spm_model_file={race_data.VOCABULARY}",
        "--max_seq_length=48",
        "--max_qa_length=20",
        "--train_batch_size=4",
        "--learning_rate=0.003",
        "--train_step=4",
        "--warmup_step=1",
        "--save_checkpoints_steps=2",
        "--num_keep_checkpoint=0",
        "--nouse_xla",
    ]
    return flags_lib.parse(run_race.define_flags, defaults + list(arguments))


def run(folder, output_dir, *arguments):
    return run_race.answer(settings_for(folder, output_dir, *arguments))


def steps_in(folder):
    return [item.step for item in checkpoint_evaluator.list_checkpoints(str(folder))]


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def values_in(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return {name: float(value) for name, value in (line.split(" = ") for line in lines)}


def contents(folder):
    """The bytes of every file that is no log."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and not path.name.startswith("events")
    }


# ---------------------------------------------------------------------------------------------
# Flags.

PUBLISHED_DEFAULTS = dict(
    classification_data.PUBLISHED_DEFAULTS,
    train_file=None,
    eval_file=None,
    predict_file=None,
    task_name="race",
    dropout_prob=0.1,
    max_seq_length=512,
    max_qa_length=128,
    high_only=False,
    middle_only=False,
    do_train=True,
    do_eval=True,
    eval_batch_size=8,
    learning_rate=1e-05,
    train_step=12000,
    warmup_step=1000,
    save_checkpoints_steps=100,
    num_keep_checkpoint=5,
)


def test_the_published_flags_have_their_published_defaults():
    arguments = ["--output_dir=o", "--data_dir=d"]
    settings = flags_lib.parse(run_race.define_flags, arguments).to_dict()
    assert {name: settings[name] for name in PUBLISHED_DEFAULTS} == PUBLISHED_DEFAULTS


@pytest.mark.parametrize(
    "arguments,words",
    [
        (["--nodo_train", "--nodo_eval"], "Nothing to do"),
        (["--data_dir=/absent"], "train data was not found"),
        (["--high_only", "--middle_only"], "exclude each other"),
        (["--train_file=a", "--eval_file=a"], "hold the features of different data"),
        (["--eval_file=a", "--predict_file=a"], "hold the features of different data"),
        (["--gradient_accumulation_steps=3"], "must be a multiple of 3"),
        (["--max_qa_length=45"], "leave room for the article in --max_seq_length=48"),
        (["--max_seq_length=65"], "max_position_embeddings, 64"),
        (["--albert_config_file="], "Give either --albert_config_file"),
        (["--spm_model_file="], "No vocabulary"),
        (["--num_train_epochs=0.1"], "is less than one batch of 4"),
        (["--nodo_train"], "no checkpoint model.ckpt-<step>"),
        (["--nodo_train", "--nodo_eval", "--do_predict"], "no checkpoint"),
    ],
)
def test_mistakes_are_named_before_anything_is_trained(folder, tmp_path, arguments, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        run(folder, tmp_path / "out", *arguments)
    assert steps_in(tmp_path / "out") == []


def test_data_of_a_later_part_is_looked_for_before_training(tmp_path):
    classification_data.write_config(tmp_path)
    race_data.write_race(tmp_path, splits=("train", "dev"))
    with pytest.raises(ValueError, match="test data was not found"):
        run(tmp_path, tmp_path / "out", "--do_predict")
    assert steps_in(tmp_path / "out") == []


@pytest.mark.parametrize("split", ["dev", "test"])
def test_mistakes_in_the_data_of_a_later_part_are_found_before_training(tmp_path, split):
    classification_data.write_config(tmp_path)
    race_data.write_race(tmp_path)
    (tmp_path / "RACE" / split / "high" / "0.txt").write_text('{"article": ')
    with pytest.raises(ValueError, match="0.txt' is not JSON"):
        run(tmp_path, tmp_path / "out", "--do_predict")
    assert steps_in(tmp_path / "out") == []


# ---------------------------------------------------------------------------------------------
# Training, evaluation and prediction.


@pytest.fixture(scope="module")
def trained(folder, tmp_path_factory):
    """The folder of a training of four steps, evaluated, with predictions."""
    path = tmp_path_factory.mktemp("trained")
    return path, run(folder, path, "--do_predict")


def test_one_command_trains_evaluates_and_predicts(trained):
    path, outcome = trained
    assert (outcome.training.first_step, outcome.training.last_step) == (0, 4)
    assert steps_in(path) == [0, 2, 4]
    assert [result.step for result in outcome.evaluation.results] == [2, 4]
    names = {pathlib.Path(file).name for file in outcome.predictions}
    assert names == {"predictions.json", "test_results.tsv", "predict_results.txt"}
    written = set(contents(path))
    assert {"eval_results.txt", "best_trial.txt", "race.json", "run_summary.json"} <= written


def test_one_evaluation_has_the_accuracy_of_each_level_and_of_all(trained):
    path, outcome = trained
    best = outcome.evaluation.best.metrics
    assert set(best) == {
        "eval_accuracy",
        "eval_accuracy_middle",
        "eval_accuracy_high",
        "eval_loss",
        "global_step",
    }
    # As many questions of each level.
    mean = (best["eval_accuracy_middle"] + best["eval_accuracy_high"]) / 2
    assert best["eval_accuracy"] == pytest.approx(mean)
    trial = (path / "best_trial.txt").read_text(encoding="utf-8")
    assert trial == f"4:{outcome.evaluation.best.step}:{best['eval_accuracy']}"
    summary = read_json(path / "run_summary.json")
    assert (summary["task"], summary["metric"]) == ("race", "eval_accuracy")
    assert summary["value"] == best["eval_accuracy"] and summary["train_seconds"] > 0


def test_each_question_gets_its_letter(folder, trained):
    path, _ = trained
    answers = read_json(path / "predictions.json")
    keys = race_examples.read_split(str(folder), "test").questions
    assert list(answers) == [key.identity for key in keys]
    probabilities = np.loadtxt(str(path / "test_results.tsv"))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    assert ["ABCD"[row] for row in probabilities.argmax(axis=1)] == list(answers.values())
    right = np.mean(["ABCD"[key.answer] == answers[key.identity] for key in keys])
    results = values_in(path / "predict_results.txt")
    assert results["eval_accuracy"] == pytest.approx(right)
    assert results["num_questions"] == len(keys) == 16
    assert {"eval_accuracy_middle", "eval_accuracy_high", "eval_loss"} <= set(results)


def test_the_folder_says_what_was_trained(trained):
    described = read_json(trained[0] / "race.json")
    assert described.pop("spm_model_file")["path"] == str(race_data.VOCABULARY)
    assert described == {
        "format_version": 1,
        "task": "race",
        "max_qa_length": 20,
        "max_seq_length": 48,
        "do_lower_case": True,
    }


@pytest.mark.parametrize(
    "arguments,words",
    [
        (["--max_qa_length=21"], "max_qa_length"),
        (["--max_seq_length=40"], "max_seq_length"),
        (["--nodo_lower_case"], "do_lower_case"),
        (["--task_name=other"], "task was race and is other"),
    ],
)
def test_a_folder_of_another_run_is_refused(folder, trained, arguments, words):
    with pytest.raises(ValueError, match=f"belongs to another run.*{words}"):
        run(folder, trained[0], *arguments)


@pytest.mark.slow
def test_padding_and_batch_size_change_no_result(folder, trained, tmp_path):
    path, outcome = trained
    expected = outcome.evaluation.results[-1].metrics
    for padding in ("max", "bucket"):
        again = run(
            folder,
            tmp_path / padding,
            "--nodo_train",
            f"--checkpoint={path / 'model.ckpt-4'}",
            f"--padding={padding}",
            "--eval_batch_size=3",
        )
        assert again.evaluation is None
        found = read_json(tmp_path / padding / "eval_results.model.ckpt-4.json")
        for name in expected:
            assert found[name] == pytest.approx(expected[name], abs=1e-6), name


@pytest.mark.slow
def test_files_of_features_have_the_names_they_are_given(folder, tmp_path, caplog):
    train, evaluation = tmp_path / "features" / "train.tf_record", tmp_path / "eval.tf_record"
    arguments = [f"--train_file={train}", f"--eval_file={evaluation}", "--train_step=1"]
    run(folder, tmp_path / "out", *arguments)
    assert train.exists() and evaluation.exists()
    assert not list((tmp_path / "out").glob("*.tf_record"))
    before = train.read_bytes()
    with caplog.at_level(logging.INFO, "albert"):
        run(folder, tmp_path / "other", *arguments, "--max_qa_length=12")
    assert "max_qa_length was 20 and is 12" in caplog.text
    assert train.read_bytes() != before


@pytest.mark.slow
def test_the_features_of_the_test_data_have_the_name_they_are_given(folder, trained, tmp_path):
    named = tmp_path / "features" / "test.tf_record"
    alone = ["--nodo_train", "--nodo_eval", "--do_predict", f"--predict_file={named}"]
    alone.append(f"--checkpoint={trained[0] / 'model.ckpt-4'}")
    run(folder, tmp_path / "out", *alone)
    assert record_files.count_records(str(named)) == 16
    assert not list((tmp_path / "out").glob("*.tf_record"))
    own = tmp_path / "mine.txt"
    own.write_text("Which of these?")
    with pytest.raises(ValueError, match="mine.txt"):
        run(folder, tmp_path / "out", *alone, f"--predict_file={own}")
    assert own.read_text() == "Which of these?"


@pytest.mark.slow
@pytest.mark.parametrize("level", ["middle", "high"])
def test_one_level_alone_is_trained_evaluated_and_predicted(folder, tmp_path, level):
    outcome = run(folder, tmp_path, f"--{level}_only", "--do_predict", "--train_step=1")
    metrics = outcome.evaluation.best.metrics
    assert metrics[f"eval_accuracy_{level}"] == metrics["eval_accuracy"]
    assert len([name for name in metrics if name.startswith("eval_accuracy")]) == 2
    answers = read_json(tmp_path / "predictions.json")
    assert len(answers) == 8 and all(name.startswith(level) for name in answers)


@pytest.mark.slow
def test_questions_without_answers_are_predicted_without_scores(folder, trained, tmp_path):
    race_data.write_race(tmp_path, splits=("test",), passages=2)
    for path in tmp_path.glob("RACE/test/*/*.txt"):
        content = read_json(path)
        del content["answers"]
        path.write_text(json.dumps(content), encoding="utf-8")
    run(
        folder,
        tmp_path / "out",
        "--nodo_train",
        "--nodo_eval",
        "--do_predict",
        f"--data_dir={tmp_path}",
        f"--checkpoint={trained[0] / 'model.ckpt-2'}",
    )
    assert len(read_json(tmp_path / "out" / "predictions.json")) == 8
    assert values_in(tmp_path / "out" / "predict_results.txt") == {"num_questions": 8}


def test_what_is_measured_are_the_questions_whose_answer_is_known():
    keys = [
        race_examples.Key("a", "middle", 1),
        race_examples.Key("b", "middle", None),
        race_examples.Key("c", "high", 2),
        race_examples.Key("d", "high", 3),
    ]
    outputs = {
        "predictions": np.array([1, 0, 2, 0]),
        "per_example_loss": np.array([1.0, 100.0, 2.0, 3.0], np.float32),
    }
    assert race_run.measure(keys, outputs) == pytest.approx(
        {
            "eval_accuracy": 2 / 3,
            "eval_accuracy_middle": 1.0,
            "eval_accuracy_high": 0.5,
            "eval_loss": 2.0,
        }
    )
    assert race_run.measure(keys[1:2], {name: v[1:2] for name, v in outputs.items()}) == {}


@pytest.mark.slow
def test_checkpoints_beyond_the_newest_go_once_they_are_evaluated(folder, tmp_path):
    outcome = run(folder, tmp_path, "--num_keep_checkpoint=1")
    assert steps_in(tmp_path) == [4]
    assert [result.step for result in outcome.evaluation.results] == [2, 4]
    assert (tmp_path / "model.ckpt-best.index").exists()


@pytest.mark.slow
def test_questions_can_be_learnt_by_heart(tmp_path):
    race_data.write_race(tmp_path, splits=("train",), passages=8)
    (tmp_path / "RACE" / "dev").symlink_to(tmp_path / "RACE" / "train")
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    classification_data.write_config(tmp_path, hidden_size=32, intermediate_size=64, **no_dropout)
    outcome = run(
        tmp_path,
        tmp_path / "out",
        "--train_batch_size=16",
        "--train_step=100",
        "--warmup_step=10",
        "--save_checkpoints_steps=100",
        "--dropout_prob=0",
    )
    assert outcome.evaluation.results[-1].metrics["eval_accuracy"] > 0.95
