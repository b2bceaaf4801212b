# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""An answerer in memory chooses as the script that trained it."""

import numpy as np
import pytest

import albert
from albert import run_race
from albert.race import answerer
from albert.race import examples as race_examples
from albert.util import flags as flags_lib
from tests.support import classification_data, race_data


@pytest.mark.slow
def test_choices_are_those_of_the_script(tmp_path):
    config = classification_data.write_config(tmp_path)
    arguments = [
        f"--data_dir={race_data.write_race(tmp_path, passages=2)}",
        f"--output_dir={tmp_path / 'out'}",
        f"--albert_config_file={config}",
        f"--spm_model_file={race_data.VOCABULARY}",
        "--max_seq_length=48",
        "--max_qa_length=20",
        "--train_batch_size=4",
        "--train_step=2",
        "--warmup_step=1",
        "--save_checkpoints_steps=2",
        "--nouse_xla",
        "--do_predict",
    ]
    run_race.main(flags_lib.parse(run_race.define_flags, arguments))
    split = race_examples.read_split(str(tmp_path), "test")
    asked = [
        (passage.article, question.text, question.options)
        for passage in split.passages[:]
        for question in passage.questions
    ]
    expected = np.loadtxt(str(tmp_path / "out" / "test_results.tsv"))
    with albert.load(str(tmp_path / "out"), batch_size=3) as model:
        assert isinstance(model, answerer.Answerer)
        choices = model.predict(asked)
        np.testing.assert_allclose([item.probabilities for item in choices], expected, atol=1e-5)
        assert [item.number for item in choices] == expected.argmax(axis=1).tolist()
        assert choices[0].option == asked[0][2][choices[0].number]
        assert (
            len(model.answer("The king left.", "Who left?", ["the king", "he"]).probabilities) == 2
        )
        with pytest.raises(ValueError, match="Question number 1"):
            model.answer("The king left.", "Who left?", "the king")
