# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script run_race: its answers, and a model that is loaded from its folder.

What it has in common with other scripts is in test_training_scripts.py.
"""

import numpy as np
import pytest

import albert
from albert import run_race
from albert.tasks.race import examples, head
from albert.tasks.race import task as race_task
from tests.support import read_json, training_scripts


@pytest.fixture
def path(trained):
    return trained("run_race")[0]


@pytest.fixture
def questions(training_data):
    return examples.read_examples(str(training_data), "test")


def values_in(path):
    lines = path.read_text().splitlines()
    return {name: float(value) for name, value in (line.split(" = ") for line in lines)}


def test_predictions_are_letters_of_each_question(path, questions):
    answers = read_json(path / "predictions.json")
    assert list(answers) == [item.name for item in questions]
    probabilities = np.loadtxt(path / "test_results.tsv")
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    assert ["ABCD"[row] for row in probabilities.argmax(axis=1)] == list(answers.values())
    right = np.mean(["ABCD"[item.label] == answers[item.name] for item in questions])
    results = values_in(path / "predict_results.txt")
    assert results["eval_accuracy"] == pytest.approx(right)
    assert results["num_questions"] == len(questions) == 16
    assert {"eval_accuracy_middle", "eval_accuracy_high", "eval_loss"} <= set(results)


def test_load_chooses_as_the_script(path, questions):
    asked = [(item.context_sentence, "", item.endings) for item in questions]
    expected = np.loadtxt(path / "test_results.tsv")
    with albert.load(str(path), batch_size=3) as model:
        choices = model.predict(asked)
        np.testing.assert_allclose([item.probabilities for item in choices], expected, atol=1e-5)


def test_questions_may_differ_in_their_number_of_options(path, monkeypatch):
    monkeypatch.setattr(head, "LOWEST", 0.0)  # Exports of earlier versions do not mask padding.
    asked = [
        ("The king left.", "Who left?", ["king", "he", "it", "a dog", "no"][:n])
        for n in (2, 5, 2, 1)
    ]
    with albert.load(str(path)) as model:
        together, alone = model.predict(asked), [model.answer(*one) for one in asked]
        model.predict([("the " * 999, "a", ["a"]), ("a", "a", ["the " * 999]), ("", "a", ["a"])])
    assert sorted(model.notes.values()) == [0, 1, 2]  # in windows; empty; cut
    assert model.predict([]) == []
    for found, expected, (_, _, options) in zip(together, alone, asked):
        assert (found.number, found.option) == (expected.number, options[found.number])
        np.testing.assert_allclose(found.probabilities, expected.probabilities, atol=1e-5)
        assert sum(found.probabilities) == pytest.approx(1)


def test_measure_skips_questions_without_an_answer():
    questions = [
        examples.InputExample("a", "", None, [], label, level=level)
        for label, level in ((1, "middle"), (None, "middle"), (2, "high"), (3, "high"))
    ]
    outputs = {"predictions": np.array([1, 0, 2, 0]), "per_example_loss": np.arange(4.0)}
    measured = object.__new__(race_task.RaceTask).measure(questions, outputs)
    assert (measured["eval_accuracy_middle"], measured["eval_accuracy_high"]) == (1, 0.5)
    assert (measured["eval_accuracy"], measured["eval_loss"]) == pytest.approx((2 / 3, 5 / 3))


@pytest.mark.slow
def test_windows_of_an_article_are_trained_on_and_averaged(training_data, questions, tmp_path):
    arguments = "--max_seq_length=26 --truncation=windows --do_predict"
    flags = training_scripts.settings_for("run_race", training_data, tmp_path, arguments)
    outcome = run_race.answer(flags.replace(num_train_epochs=1.0))
    asked = [(item.context_sentence, "", item.endings) for item in questions]
    train = examples.read_examples(str(training_data), "train")
    with albert.load(str(tmp_path)) as model:
        found = [item.probabilities for item in model.predict(asked)]
        test_count, train_count = (
            len(model.task.encode(items, False).records["label_ids"])
            for items in (questions, train)
        )
    np.testing.assert_allclose(found, np.loadtxt(tmp_path / "test_results.tsv"), atol=1e-5)
    assert test_count > len(questions) and train_count > len(train)
    assert outcome.evaluation.results[-1].step == train_count // 4
