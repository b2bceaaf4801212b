# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A reader in memory answers as the script that trained it."""

import pytest

import albert
from albert.tasks.squad.task import Reader
from tests.support import read_json, squad_models, training_scripts
from tests.support.squad_data import CONTEXT

pytestmark = pytest.mark.slow

TRAINED = {"n_best_size": 3, "max_answer_length": 2}
OTHERS = {"n_best_size": 1, "max_answer_length": 1}
BEAM = {"start_n_top": 2, "end_n_top": 3}
OTHER_BEAM = {"start_n_top": 1, "end_n_top": 1, "null_score_diff_threshold": 100.0}


@pytest.mark.parametrize("is_v2", [False, True])
def test_answers_are_the_same_in_every_batch(tmp_path, is_v2):
    folder = squad_models.write_reader(tmp_path / "reader", is_v2=is_v2)
    pairs = [("who ?", "the old king ."), ("who ?", CONTEXT)]
    limits, answers = {"start_n_top": 20} if is_v2 else {"n_best_size": 10}, []
    for options in ({"padding": "max"}, {"batch_size": 1}, {"batch_size": 8}):
        with albert.load(folder, **limits, **options) as model:
            answers.append(model.predict(pairs))
    for batched in answers[1:]:
        for answer, expected in zip(batched, answers[0]):
            for entry, other in zip(answer.nbest, expected.nbest):
                assert entry == pytest.approx(other, abs=1e-5)


@pytest.mark.parametrize(
    "script, trained_by, others",
    [
        ("run_squad_v1", TRAINED, OTHERS),
        ("run_squad_v2", {**TRAINED, **BEAM}, {**OTHERS, **OTHER_BEAM}),
    ],
)
def test_reader_answers_as_the_script(training_data, tmp_path, script, trained_by, others):
    """Also where the script's flags say how answers are looked for."""
    out, file = tmp_path / "out", f"{script[len('run_squad_') :]}.json"
    ((passage,),) = (one["paragraphs"] for one in read_json(training_data / file)["data"])
    pairs = [(item["question"], CONTEXT) for item in passage["qas"]]

    def run(flags):
        given = " ".join(f"--{name}={value}" for name, value in flags.items())
        phases = training_scripts.SCRIPTS[script].phases
        training_scripts.run(script, training_data, out, f"{phases} {given}")

    run(trained_by)
    with albert.load(str(out), batch_size=3) as model:
        assert isinstance(model, Reader)
        answers = model.predict(pairs)
        assert model.answer(*pairs[1]).text == answers[1].text
        with pytest.raises(ValueError, match="2"):
            model.predict([pairs[0], "a text"])
    assert [one.text for one in answers] == list(read_json(out / "predictions.json").values())
    nbest = read_json(out / "nbest_predictions.json").values()
    expected = [entries[0]["probability"] for entries in nbest]
    assert [one.probability for one in answers] == pytest.approx(expected, abs=1e-5)
    if "start_n_top" in others:
        odds = list(read_json(out / "null_odds.json").values())
        assert [one.null_odds for one in answers] == pytest.approx(odds, abs=1e-5)
    # Any run may choose others, and so may a program.
    run({**trained_by, **others})
    with albert.load(str(out), **others) as model:
        found = [one.text for one in model.predict(pairs)]
    assert found == list(read_json(out / "predictions.json").values())
