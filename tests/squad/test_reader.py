# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A reader in memory answers as the script that trained it."""

import pytest

import albert
from albert import predictor
from tests.support import classification_data, squad_data, training_scripts
from tests.support.classification_data import read_json
from tests.support.squad_data import CONTEXT

LIMITS = {"n_best_size": 3, "max_answer_length": 2}
BEAM = {"start_n_top": 2, "end_n_top": 3}


def texts_of(answers):
    return {str(number): answer.text for number, answer in enumerate(answers)}


@pytest.mark.slow
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_reader_answers_as_the_script(tmp_path, version):
    """Also where the script's flags say how answers are looked for."""
    classification_data.write_config(tmp_path)
    asked = [
        squad_data.answered(str(number), CONTEXT, text, f"which {text} ?")
        for number, text in enumerate(("king", "bird", "old town", "river"))
    ]
    squad_data.write_squad(tmp_path, [squad_data.paragraph(CONTEXT, *asked)], f"{version}.json")
    script, out = f"run_squad_{version}", tmp_path / "out"
    limits = dict(LIMITS, **(BEAM if version == "v2" else {}))

    def run(flags):
        given = " ".join(f"--{name}={value}" for name, value in flags.items())
        phases = training_scripts.SCRIPTS[script].phases
        training_scripts.run(script, tmp_path, out, f"{phases} {given}")

    run(limits)
    pairs = [(item["question"], CONTEXT) for item in asked]
    with albert.load(str(out), batch_size=3) as model:
        assert isinstance(model, predictor.Reader)
        answers = model.predict(pairs)
        assert model.answer(*pairs[1]).text == answers[1].text
        with pytest.raises(ValueError, match="2"):
            model.predict([pairs[0], "a text"])
    assert texts_of(answers) == read_json(out / "predictions.json")
    nbest = read_json(out / "nbest_predictions.json")
    expected = [nbest[name][0]["probability"] for name in sorted(nbest)]
    assert [answer.probability for answer in answers] == pytest.approx(expected, abs=1e-5)
    if version == "v2":
        odds = read_json(out / "null_odds.json")
        found = {str(number): answer.null_odds for number, answer in enumerate(answers)}
        assert found == pytest.approx(odds, abs=1e-5)
    # Any run may choose others, and so may a program.
    others = {"n_best_size": 1, "max_answer_length": 1}
    if version == "v2":
        others.update(start_n_top=1, end_n_top=1, null_score_diff_threshold=100.0)
    run({**limits, **others})
    with albert.load(str(out), **others) as model:
        assert texts_of(model.predict(pairs)) == read_json(out / "predictions.json")
