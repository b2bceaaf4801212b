# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""run_pretraining in two processes that train together, of which one is killed."""

import re
import shutil

import numpy as np
import pytest

from albert import run_pretraining
from tests.support import one_weight, processes, scripts
from tests.support import pretraining_records as records
from tests.support.fine_tuned_models import NO_DROPOUT
from tests.support.recorded import assert_close
from tests.support.workers import two_workers

STEPS, FIRST = 90, 30  # of all the training, and of what one process makes


@pytest.fixture(scope="module")
def arguments(tmp_path_factory):
    """The flags of a training by LAMB with micro-batches, without --output_dir."""
    folder = tmp_path_factory.mktemp("data")
    config = records.write_config(folder / "tiny.json", num_hidden_layers=1, **NO_DROPOUT)
    return f"""--albert_config_file={config} --max_seq_length={records.LENGTH}
        --input_file={records.write_records(folder / "records", 51, is_uneven=True)}
        --max_predictions_per_seq={records.PREDICTIONS} --train_batch_size=8
        --gradient_accumulation_steps=2 --num_train_steps={STEPS} --num_warmup_steps=4
        --learning_rate=0.003 --save_checkpoints_steps={FIRST} --log_steps=30 --nouse_xla"""


def remove_checkpoints_after(folder, step):
    for path in folder.glob("model.ckpt-*"):
        if int(path.name.split("-")[1].split(".")[0]) > step:
            path.unlink()


@pytest.mark.slow
def test_two_workers_train_as_one_and_resume(arguments, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    scripts.run(run_pretraining, f"{arguments} --output_dir={one}")
    arguments += f" --output_dir={two}"
    shutil.copytree(one, two)
    remove_checkpoints_after(two, FIRST)

    # One worker is killed: the other one does not wait for it for ever.
    with two_workers(arguments) as (chief, worker):
        said = processes.read_until(chief, f" {FIRST + 1}/{STEPS} steps")
        worker.kill()
        said += processes.finish(chief)
    assert f"model.ckpt-{FIRST}, step {FIRST}" in said
    # Ours or TensorFlow finds out first.
    assert chief.returncode == 1, said
    assert re.match("ERROR: Lost (the session|worker)", said.splitlines()[-1]), said

    # A scheduler ends one: all save after the same step.
    remove_checkpoints_after(two, FIRST)
    with two_workers(arguments) as (chief, worker):
        processes.read_until(chief, f" {FIRST + 1}/{STEPS} steps")
        worker.terminate()
        processes.finish_all([chief, worker], 143)
    saved = max(int(path.stem.split("-")[1]) for path in two.glob("model.ckpt-*.index"))
    assert saved > FIRST

    # Both are started again.
    remove_checkpoints_after(two, FIRST)
    arguments += " --do_eval --max_eval_steps=1"
    with two_workers(arguments) as started:
        said, said_by_worker = processes.finish_all(started, 0)
    assert "each with 4 of the 8 examples" in said and "Best of" in said
    assert "Trained steps" in said_by_worker

    found, expected = (
        one_weight.values_in(folder / f"model.ckpt-{STEPS}") for folder in (two, one)
    )
    assert sorted(found) == sorted(expected)
    assert_close(found, expected)
    np.testing.assert_allclose(one_weight.losses_of(two), one_weight.losses_of(one), rtol=1e-5)
