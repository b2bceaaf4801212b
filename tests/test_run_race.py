# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script run_race: flags, files, and what it says to mistakes."""

import numpy as np
import pytest

import albert
from albert import run_race
from albert.race import examples
from albert.race import run as race_run
from albert.util import flags as flags_lib
from tests.support import classification_data, race_data
from tests.support.classification_data import contents, read_json, steps_in


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
    return flags_lib.parse(run_race.Flags, defaults + list(arguments))


def run(folder, output_dir, *arguments):
    return run_race.answer(settings_for(folder, output_dir, *arguments))


def values_in(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return {name: float(value) for name, value in (line.split(" = ") for line in lines)}


@pytest.mark.parametrize(
    "arguments,words",
    [
        (["--nodo_train", "--nodo_eval"], "--do_train"),
        (["--data_dir=/absent"], "/absent/RACE"),
        (["--high_only", "--middle_only"], "--high_only"),
        (["--train_file=a", "--eval_file=a"], "--train_file"),
        (["--max_qa_length=45"], "--max_qa_length=45"),
        (["--nodo_train", "--nodo_eval", "--do_predict"], "no checkpoint"),
        (["--do_predict", "--data_dir={}"], "0.txt"),
    ],
)
def test_mistakes_are_named_before_training(folder, tmp_path, arguments, words):
    race_data.write_race(tmp_path, passages=1)
    (tmp_path / "RACE" / "test" / "high" / "0.txt").write_text('{"article": ')
    with pytest.raises(ValueError, match=words):
        run(folder, tmp_path / "out", *(item.format(tmp_path) for item in arguments))
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
    assert steps_in(path) == [0, 2, 4]
    assert [result.step for result in outcome.evaluation.results] == [2, 4]
    best = outcome.evaluation.best.metrics
    levels = {"eval_accuracy_middle", "eval_accuracy_high"}
    assert set(best) == {"eval_accuracy", "eval_loss", "global_step", *levels}
    trial = (path / "best_trial.txt").read_text(encoding="utf-8")
    assert trial == f"4:{outcome.evaluation.best.step}:{best['eval_accuracy']}"
    summary = read_json(path / "run_summary.json")
    assert (summary["task"], summary["metric"]) == ("race", "eval_accuracy")
    assert summary["value"] == best["eval_accuracy"]
    assert {"eval_results.txt", "race.json"} <= set(contents(path))


def test_each_question_gets_its_letter(folder, trained):
    path, _ = trained
    answers = read_json(path / "predictions.json")
    questions = examples.read_examples(str(folder), "test")
    assert list(answers) == [item.name for item in questions]
    probabilities = np.loadtxt(str(path / "test_results.tsv"))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    assert ["ABCD"[row] for row in probabilities.argmax(axis=1)] == list(answers.values())
    right = np.mean(["ABCD"[item.label] == answers[item.name] for item in questions])
    results = values_in(path / "predict_results.txt")
    assert results["eval_accuracy"] == pytest.approx(right)
    assert results["num_questions"] == len(questions) == 16
    assert {"eval_accuracy_middle", "eval_accuracy_high", "eval_loss"} <= set(results)


def test_folder_of_another_run_is_refused(folder, trained):
    with pytest.raises(ValueError, match="another run.*max_qa_length"):
        run(folder, trained[0], "--max_qa_length=21")


def test_loaded_model_chooses_as_the_script(folder, trained):
    passages = examples.read_examples(str(folder), "test")
    asked = [(item.context_sentence, "", item.endings) for item in passages]
    expected = np.loadtxt(str(trained[0] / "test_results.tsv"))
    with albert.load(str(trained[0]), batch_size=3) as model:
        choices = model.predict(asked)
        np.testing.assert_allclose([item.probabilities for item in choices], expected, atol=1e-5)
        assert [item.number for item in choices] == expected.argmax(axis=1).tolist()
        assert choices[0].option == asked[0][2][choices[0].number]
        assert (
            len(model.answer("The king left.", "Who left?", ["the king", "he"]).probabilities) == 2
        )
        with pytest.raises(ValueError, match="list of options"):
            model.answer("The king left.", "Who left?", "the king")


def test_only_questions_with_known_answers_are_measured():
    levels, labels = ["middle", "middle", "high", "high"], [1, None, 2, 3]
    questions = [
        examples.InputExample("a", "", None, [], label, level=level)
        for label, level in zip(labels, levels)
    ]
    outputs = {
        "predictions": np.array([1, 0, 2, 0]),
        "per_example_loss": np.array([1.0, 100.0, 2.0, 3.0], np.float32),
    }
    expected = {
        "eval_accuracy": 2 / 3,
        "eval_accuracy_middle": 1.0,
        "eval_accuracy_high": 0.5,
        "eval_loss": 2.0,
    }
    measure = object.__new__(race_run.RaceTask).measure
    assert measure(questions, outputs) == pytest.approx(expected)
    assert measure(questions[1:2], {name: v[1:2] for name, v in outputs.items()}) == {}
