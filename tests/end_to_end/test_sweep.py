# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""run_glue.sh as a user starts it."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.support import ROOT, classification_data
from tests.support import fine_tuned_models as models


def run_glue(folder, **variables):
    """Runs the script from another folder, with settings from the environment and from flags."""
    environment = dict(os.environ, PYTHON=sys.executable)
    environment.update(variables, TF_CPP_MIN_LOG_LEVEL="3")
    environment.pop("PYTHONPATH", None)
    command = ["sh", f"{ROOT}/run_glue.sh", "--train_step=3", "--train_batch_size=8"]
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
def test_sweep_runs_once_from_any_folder(tmp_path):
    root = tmp_path / "root"  # as the published script has it
    classification_data.write_mrpc(root / "glue")
    models.write_classifier(root)
    shutil.copy(models.VOCABULARY, root / "30k-clean.model")

    first = run_glue(tmp_path, ALBERT_ROOT="root", OUTPUT_DIR="out", SEEDS="7,8")
    assert "[mrpc, seed 8] " in first.stderr and "Trained steps 1 to 3" in first.stderr
    assert first.stdout == (tmp_path / "out" / "results.txt").read_text()
    assert (tmp_path / "out" / "glue_submission.zip").exists()

    second = run_glue(
        tmp_path, DATA_DIR="root/glue", MODEL_DIR="root", OUTPUT_DIR="out", SEEDS="7,8"
    )
    assert "Trained" not in second.stderr and second.stdout == first.stdout
    assert len(list((tmp_path / "exported").iterdir())) == 2

    # The second run of a sweep has the bytes of a run of its own.
    config = f"--config={tmp_path}/out/mrpc/seed-8/run.toml"
    script = [sys.executable, "-m", "albert.run_classifier", config, "--output_dir=alone"]
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    subprocess.run(script, env=environment, cwd=str(tmp_path), check=True)
    for name in ("model.ckpt-best.data-00000-of-00001", "eval_results.json", "test_results.tsv"):
        swept = tmp_path / "out" / "mrpc" / "seed-8" / name
        assert (tmp_path / "alone" / name).read_bytes() == swept.read_bytes(), name
