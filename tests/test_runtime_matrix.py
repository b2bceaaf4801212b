# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What one runtime writes, the other reads: checkpoints, records, SavedModels, modules.

Hub modules and exported classifiers have their own such tests beside the others of theirs.
"""

import numpy as np
import pytest

from albert import run_squad_v1
from albert.squad import export as squad_export
from albert.util import flags as flags_lib
from albert.util import runtime as precision
from tests.support import (
    classification_data,
    other_runtime,
    pretrained_models,
    squad_data,
    squad_runs,
)

pytestmark = other_runtime.needs_other_runtime


@pytest.mark.slow
def test_a_checkpoint_means_the_same_to_the_other_runtime(tmp_path):
    archive = pretrained_models.write_archive(tmp_path)
    found = other_runtime.evaluate(
        "{name: value.tolist() for name, value in"
        " test.outputs(sys.argv[2], test.inputs()).items()}",
        "support.pretrained_models",
        archive,
    )
    expected = pretrained_models.outputs(archive, pretrained_models.inputs())
    assert set(found) == set(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, atol=1e-5, err_msg=name)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder where SQuAD was trained on this runtime, and its export."""
    folder = tmp_path_factory.mktemp("squad")
    classification_data.write_config(folder, hidden_dropout_prob=0, attention_probs_dropout_prob=0)
    context = squad_runs.CONTEXT
    asked = [squad_data.answered(f"q{n}", context, word) for n, word in enumerate(["king", "bird"])]
    squad_data.write_squad(folder, [squad_data.paragraph(context, *asked)], "v1.json")
    arguments = squad_runs.arguments_for(
        folder, folder / "out", "v1", "--do_train", "--do_predict", f"--export_dir={folder / 'ex'}"
    )
    settings = flags_lib.parse(run_squad_v1.define_flags, arguments)
    return folder, run_squad_v1.answer(settings)


def answers_elsewhere(folder):
    """Evaluates again in the folder, and returns what it says; runs on the other runtime."""
    import pathlib

    arguments = squad_runs.arguments_for(
        pathlib.Path(folder),
        f"{folder}/elsewhere",
        "v1",
        "--do_predict",
        f"--checkpoint={folder}/out",
    )
    features = f"--predict_feature_file={folder}/predict.tf_record"
    settings = flags_lib.parse(run_squad_v1.define_flags, [*arguments, features])
    outcome = run_squad_v1.answer(settings)
    return [outcome.metrics, squad_runs.read_json(outcome.predictions[0])]


@pytest.mark.slow
def test_a_model_trained_here_answers_the_same_there(trained):
    folder, outcome = trained
    scores, answers = other_runtime.evaluate(
        "test.answers_elsewhere(sys.argv[2])", "test_runtime_matrix", str(folder)
    )
    assert scores == pytest.approx(outcome.metrics)
    assert answers == squad_runs.read_json(folder / "out" / "predictions.json")


@pytest.mark.slow
def test_records_written_there_are_current_here(trained):
    folder, _ = trained
    other_runtime.evaluate(
        "test.answers_elsewhere(sys.argv[2])", "test_runtime_matrix", str(folder)
    )
    written = folder / "predict.tf_record"
    before = written.stat().st_mtime_ns
    answers_elsewhere(str(folder))
    assert written.stat().st_mtime_ns == before


@pytest.mark.slow
def test_a_saved_model_and_a_lite_model_give_the_same_there(trained):
    folder, outcome = trained
    batch = squad_runs.model_inputs(32)
    expected = squad_runs.load_export(outcome.export)("ids", batch)["start_logits"]
    saved = other_runtime.evaluate(
        "test.load_export(sys.argv[2])('ids', test.model_inputs(32))['start_logits'].tolist()",
        "support.squad_runs",
        outcome.export,
    )
    np.testing.assert_allclose(saved, expected, atol=1e-5)
    if precision.is_tf2():
        return  # an older interpreter need not know what a newer converter writes
    lite = other_runtime.evaluate(
        "test.squad_export.run_tflite(open(sys.argv[2], 'rb').read(), "
        "test.squad_runs.model_inputs(32))['start_logits'].tolist()",
        "test_runtime_matrix",
        str(folder / "ex" / squad_export.TFLITE_NAME),
    )
    np.testing.assert_allclose(lite, expected, atol=1e-4)
