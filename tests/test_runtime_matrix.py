# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What one runtime writes, the other reads: checkpoints, records, SavedModels, modules.

Hub modules and exported classifiers have such tests beside their others.
"""

import pathlib

import numpy as np
import pytest

from albert import run_squad_v1
from albert.runtimes import compat
from albert.squad import export as squad_export
from albert.util import flags as flags_lib
from tests.support import (
    classification_data,
    other_runtime,
    pretrained_models,
    squad_data,
    squad_runs,
)

pytestmark = [other_runtime.needs_other_runtime, pytest.mark.slow]


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


def answer(folder, output, *arguments):
    settings = flags_lib.parse(
        run_squad_v1.define_flags,
        squad_runs.arguments_for(folder, output, "v1", "--do_predict", *arguments),
    )
    return run_squad_v1.answer(settings)


def answers_elsewhere(folder):
    """Evaluates again in the folder; gives metrics and answers."""
    folder = pathlib.Path(folder)
    features = f"--predict_feature_file={folder}/predict.tf_record"
    outcome = answer(folder, folder / "elsewhere", f"--checkpoint={folder}/out", features)
    return [outcome.metrics, squad_runs.read_json(outcome.predictions[0])]


def found_elsewhere(folder, export, is_lite_read):
    """What the other runtime makes of a training and its exports; runs there."""
    batch = squad_runs.model_inputs(32)
    saved = squad_runs.load_export(export)("ids", batch)["start_logits"].tolist()
    lite = None
    if is_lite_read:
        content = (pathlib.Path(folder) / "ex" / squad_export.TFLITE_NAME).read_bytes()
        lite = squad_export.run_tflite(content, batch)["start_logits"].tolist()
    return [*answers_elsewhere(folder), saved, lite]


def test_what_was_trained_here_answers_the_same_there(tmp_path):
    classification_data.write_config(
        tmp_path, hidden_dropout_prob=0, attention_probs_dropout_prob=0
    )
    context = squad_runs.CONTEXT
    asked = [squad_data.answered(f"q{n}", context, word) for n, word in enumerate(["king", "bird"])]
    squad_data.write_squad(tmp_path, [squad_data.paragraph(context, *asked)], "v1.json")
    outcome = answer(tmp_path, tmp_path / "out", "--do_train", f"--export_dir={tmp_path / 'ex'}")
    is_lite_read = not compat.is_tf2()  # an older interpreter may not know a newer converter
    scores, answers, saved, lite = other_runtime.evaluate(
        f"test.found_elsewhere(sys.argv[2], {outcome.export!r}, {is_lite_read})",
        "test_runtime_matrix",
        str(tmp_path),
    )
    assert scores == pytest.approx(outcome.metrics)
    assert answers == squad_runs.read_json(tmp_path / "out" / "predictions.json")
    batch = squad_runs.model_inputs(32)
    expected = squad_runs.load_export(outcome.export)("ids", batch)["start_logits"]
    np.testing.assert_allclose(saved, expected, atol=1e-5)
    if is_lite_read:
        np.testing.assert_allclose(lite, expected, atol=1e-4)
    # The records written there are current here.
    written = tmp_path / "predict.tf_record"
    before = written.stat().st_mtime_ns
    answers_elsewhere(str(tmp_path))
    assert written.stat().st_mtime_ns == before
