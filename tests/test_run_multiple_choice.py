# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script run_multiple_choice: questions with different numbers of choices in one file."""

import json
import random

import numpy as np
import pytest

import albert
from albert import run_multiple_choice
from albert.tasks.race import choice_rows
from albert.util import flags as flags_lib
from tests.support import classification_data, race_data

pytestmark = pytest.mark.slow


def write_rows(path, count, seed, *, has_labels=True):
    """Writes questions with 2 to 5 choices, of which the one about a king is right."""
    generator, lines = random.Random(seed), []
    for number in range(count):
        choices = ["a bird", "a dog", "a man", "the home"][: generator.randint(1, 4)]
        right = generator.randint(0, len(choices))
        choices.insert(right, "a king")
        row = {"question": "who went home ?", "choices": choices}
        if number % 2:
            row["context"] = classification_data.text(generator, "the")
        if has_labels:
            row["label"] = (right, "ABCDE"[right], "a king")[number % 3]
        lines.append(json.dumps(row) + "\n")
    path.write_text("".join(lines), encoding="utf-8")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The folder of a training; its data are in the folder `data`."""
    folder = tmp_path_factory.mktemp("choices")
    data = folder / "data"
    data.mkdir()
    for seed, split in enumerate(("train", "dev", "test")):
        write_rows(data / f"{split}.jsonl", 24, seed, has_labels=split != "test")
    config = classification_data.write_config(folder, **classification_data.NO_DROPOUT)
    arguments = f"""--data_dir={data} --output_dir={folder}/out --albert_config_file={config}
        --spm_model_file={race_data.VOCABULARY} --max_seq_length=40 --max_qa_length=16
        --train_batch_size=8 --learning_rate=3e-3 --num_train_epochs=20 --dropout_prob=0
        --save_checkpoints_steps=60 --do_train --do_eval --do_predict --nouse_xla"""
    flags = flags_lib.parse(run_multiple_choice.Flags, arguments.split())
    assert run_multiple_choice.choose(flags).metrics["eval_accuracy"] > 0.9
    return folder


def questions_of(path, split):
    return choice_rows.read([str(path / "data" / f"{split}.jsonl")])


def test_predictions_have_a_probability_for_each_choice(path):
    lines = (path / "out" / "multiple_choice_test.jsonl").read_text().splitlines()
    questions = questions_of(path, "test")
    assert len({len(question.options) for question in questions}) == 4
    with albert.load(str(path / "out")) as model:
        for line, question in zip(map(json.loads, lines), questions):
            asked = (question.context_sentence, "who went home ?", question.options)
            if question.endings == question.options:
                asked = ("", *asked[1:])
            alone = model.answer(*asked)
            assert (line["option"], line["number"]) == (alone.option, alone.number)
            assert line["probabilities"] == pytest.approx(alone.probabilities, abs=1e-5)
            assert sum(line["probabilities"]) == pytest.approx(1)
        assert model.task.spec(False).features[0].shape == (2, 40)  # for export_model
        first = {"question": "who went home ?", "choices": ["a king", "a dog"]}
        assert model.predict([first])[0].option == "a king"
        score = model.evaluate(str(path / "data" / "dev.jsonl"))["eval_accuracy"]
    results = json.loads((path / "out" / "eval_results.json").read_text())["results"]
    assert score in [result["metrics"]["eval_accuracy"] for result in results]


def test_loss_ignores_choices_that_are_padding(path):
    questions = questions_of(path, "dev")
    with albert.load(str(path / "out")) as model:
        chosen = model.task.decode(questions, model.outputs(questions))
        together = model.run(questions)
    expected = [
        -np.log(choice.probabilities[question.label]) for choice, question in zip(chosen, questions)
    ]
    np.testing.assert_allclose(together["per_example_loss"], expected, atol=1e-5)
    counts = [len(question.options) for question in questions]
    padding = np.arange(max(counts)) >= np.array(counts)[:, np.newaxis]
    assert not together["probabilities"][padding].any()
