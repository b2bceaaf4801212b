# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""run_classifier in processes of its own: train, evaluate, predict, again, and after a kill."""

import signal

import pytest

from tests.support import classification_data, processes


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    # With dropout: its masks too must be those of an uninterrupted run.
    classification_data.write_config(folder)
    classification_data.write_mrpc(folder)
    return folder


def start(data, output_dir, *arguments):
    """Starts a run of 12 steps with a checkpoint every three."""
    return processes.start(
        "albert.run_classifier",
        [
            "--task_name=mrpc",
            f"--data_dir={data}",
            f"--output_dir={output_dir}",
            f"--albert_config_file={data / 'config.json'}",
            f"--spm_model_file={classification_data.VOCABULARY}",
            "--max_seq_length=32",
            "--train_batch_size=8",
            "--learning_rate=0.003",
            "--train_step=12",
            "--warmup_step=4",
            "--save_checkpoints_steps=3",
            "--padding=bucket",
            "--log_steps=1",
            "--do_train",
            "--do_eval",
            "--do_predict",
            *arguments,
        ],
    )


def results(folder):
    """The files one compares runs by."""
    names = ("eval_results.txt", "best_trial.txt", "test_results.tsv", "submit_results.tsv")
    return {name: (folder / name).read_bytes() for name in names}


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_ends_in_the_same_results(data, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    process = start(data, whole)
    said = processes.finish(process)
    assert process.returncode == 0, said
    assert "Best of 4 evaluated checkpoints" in said

    for words in ("5/12 steps", "Step 6: "):
        process = start(data, killed)
        said = processes.kill_at(process, words)
        assert process.returncode == -signal.SIGKILL, said
    process = start(data, killed)
    said = processes.finish(process)
    assert process.returncode == 0, said
    assert "Nothing to train" in said and ": using " in said

    expected = processes.weights(whole / "model.ckpt-12")
    actual = processes.weights(killed / "model.ckpt-12")
    assert sorted(actual) == sorted(expected)
    assert [name for name in expected if actual[name] != expected[name]] == []
    assert results(killed) == results(whole)
