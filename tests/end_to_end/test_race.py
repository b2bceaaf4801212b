# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""run_race in processes of its own: train, evaluate, predict, again, and after a kill."""

import signal

import pytest

from tests.support import classification_data, processes, race_data


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    # With dropout: its masks too must be those of an uninterrupted run.
    classification_data.write_config(folder)
    race_data.write_race(folder)
    return folder


def start(data, output_dir, *arguments):
    """Starts a run of 9 steps with a checkpoint every three."""
    return processes.start(
        "albert.run_race",
        [
            f"--data_dir={data}",
            f"--output_dir={output_dir}",
            f"--albert_config_file={data / 'config.json'}",
            f"--spm_model_file={race_data.VOCABULARY}",
            "--max_seq_length=48",
            "--max_qa_length=20",
            "--train_batch_size=4",
            "--learning_rate=0.003",
            "--train_step=9",
            "--warmup_step=3",
            "--save_checkpoints_steps=3",
            "--log_steps=1",
            "--do_predict",
            *arguments,
        ],
    )


def results(folder):
    """The files one compares runs by."""
    names = (
        "eval_results.txt",
        "best_trial.txt",
        "predictions.json",
        "test_results.tsv",
        "predict_results.txt",
    )
    return {name: (folder / name).read_bytes() for name in names}


@pytest.mark.slow
def test_a_run_that_is_killed_while_it_evaluates_ends_in_the_same_results(data, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    process = start(data, whole)
    said = processes.finish(process)
    assert process.returncode == 0, said
    assert "Best of 3 evaluated checkpoints" in said

    # Kills in training are tested with the other scripts: the flow is the same.
    process = start(data, killed)
    said = processes.kill_at(process, "(2 of 3)")
    assert process.returncode == -signal.SIGKILL, said
    process = start(data, killed)
    said = processes.finish(process)
    assert process.returncode == 0, said
    assert "Nothing to train" in said and "records are there already" in said

    expected, actual = (
        processes.weights(whole / "model.ckpt-9"),
        processes.weights(killed / "model.ckpt-9"),
    )
    assert sorted(actual) == sorted(expected)
    assert [name for name in expected if actual[name] != expected[name]] == []
    assert results(killed) == results(whole)


@pytest.mark.slow
def test_a_bad_passage_is_one_line_with_its_file_and_exit_code_one(data, tmp_path):
    bad = race_data.write_race(tmp_path / "bad", passages=1)
    path = tmp_path / "bad" / "RACE" / "train" / "high" / "0.txt"
    path.write_text(path.read_text().replace('"answers": ["', '"answers": ["x'))
    process = start(data, tmp_path / "out", f"--data_dir={bad}")
    said = processes.finish(process)
    assert process.returncode == 1
    assert said.splitlines()[-1].startswith(f"ERROR: '{path}', passage 'high0.txt', question 1")
    assert "Traceback" not in said
    assert not (tmp_path / "out").exists()
