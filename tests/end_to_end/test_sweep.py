# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""run_glue.sh as a user starts it; and its model, in memory and exported, says the same."""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import predictor
from albert.classification import tasks
from tests.support import classification_data
from tests.support import fine_tuned_models as models

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run_glue(folder, **variables):
    """Runs the script from another folder, with settings from the environment and from flags."""
    environment = dict(os.environ, PYTHON=sys.executable)
    environment.update(variables, TF_CPP_MIN_LOG_LEVEL="3")
    environment.pop("PYTHONPATH", None)
    command = ["sh", str(ROOT / "run_glue.sh"), "--train_step=3", "--train_batch_size=8"]
    process = subprocess.run(
        command + ["--max_seq_length=32", "--run_flags=--export_dir=exported"],
        env=environment,
        cwd=str(folder),
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    return process


@pytest.mark.slow
def test_a_sweep_runs_from_any_folder_and_does_nothing_twice(tmp_path):
    root = tmp_path / "root"  # as the published script has it
    classification_data.write_mrpc(root / "glue")
    models.write_classifier(root)
    shutil.copy(str(models.VOCABULARY), str(root / "30k-clean.model"))

    first = run_glue(tmp_path, ALBERT_ROOT="root", OUTPUT_DIR="out", SEEDS="7")
    assert "[mrpc 7] " in first.stderr and "Trained steps 1 to 3" in first.stderr
    assert first.stdout == (tmp_path / "out" / "results.txt").read_text(encoding="utf-8")
    assert (tmp_path / "out" / "glue_submission.zip").exists()

    places = {"DATA_DIR": "root/glue", "MODEL_DIR": "root", "OUTPUT_DIR": "out"}
    second = run_glue(tmp_path, **places, SEEDS="7")
    assert "mrpc, seed 7: finished before" in second.stderr and "Trained" not in second.stderr
    assert second.stdout == first.stdout

    (exported,) = (tmp_path / "exported").iterdir()
    check_predictions(tmp_path, tmp_path / "out" / "mrpc" / "seed-7", exported)


def check_predictions(folder, run, exported):
    """The run's predictions of the test data, the Predictor's and the exported model's agree."""
    lines = (run / "test_results.tsv").read_text(encoding="utf-8").splitlines()
    written = np.array([[float(cell) for cell in line.split("\t")] for line in lines])
    task = tasks.get_task("mrpc")
    examples = tasks.read_examples(task, str(folder / "root" / "glue"), "test").examples
    with predictor.Predictor(str(run)) as model:
        answers = model.predict_array([(item.text_a, item.text_b) for item in examples])
    np.testing.assert_allclose(answers, written, atol=1e-4)

    (records,) = (folder / "out" / "features").glob("mrpc_predict*")
    serialized = list(tf.python_io.tf_record_iterator(str(records)))
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], str(exported))
        signature = loaded.signature_def["serving_default"]
        served = session.run(
            signature.outputs["probabilities"].name,
            {signature.inputs["examples"].name: serialized},
        )
    np.testing.assert_allclose(served, written, atol=1e-4)
