# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""run_race in processes of its own: train, evaluate, predict, again, and after a kill."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf

from tests import classification_data, race_data

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    # With dropout: its masks too must be those of an uninterrupted run.
    classification_data.write_config(folder)
    race_data.write_race(folder)
    return folder


def start(data, output_dir, *arguments):
    """Starts a run of 9 steps with a checkpoint every three."""
    command = [
        sys.executable,
        "-m",
        "albert.run_race",
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
    ]
    environment = dict(os.environ, PYTHONPATH=str(ROOT), TF_CPP_MIN_LOG_LEVEL="3")
    return subprocess.Popen(
        command + list(arguments),
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )


def finish(process):
    """Waits for a process; returns what it said."""
    _, said = process.communicate()
    return said


def kill_at(process, words):
    """Kills a process as soon as a line holds `words`; returns what it said."""
    lines = []
    for line in process.stderr:
        lines.append(line)
        if words in line:
            process.send_signal(signal.SIGKILL)
            break
    return "".join(lines) + finish(process)


def weights(checkpoint):
    """Returns the bytes of every variable, slots and step included."""
    reader = tf.train.load_checkpoint(str(checkpoint))
    return {name: reader.get_tensor(name).tobytes() for name in reader.get_variable_to_shape_map()}


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


def test_a_run_that_is_killed_again_and_again_ends_in_the_same_results(data, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    process = start(data, whole)
    said = finish(process)
    assert process.returncode == 0, said
    assert "Best of 4 evaluated checkpoints" in said

    for words in ("step 5/9", "(2 of 4)"):
        process = start(data, killed)
        said = kill_at(process, words)
        assert process.returncode == -signal.SIGKILL, said
    process = start(data, killed)
    said = finish(process)
    assert process.returncode == 0, said
    assert "Nothing to train" in said and "records are there already" in said

    expected, actual = weights(whole / "model.ckpt-9"), weights(killed / "model.ckpt-9")
    assert sorted(actual) == sorted(expected)
    assert [name for name in expected if actual[name] != expected[name]] == []
    assert results(killed) == results(whole)


def test_a_bad_passage_is_one_line_with_its_file_and_exit_code_one(data, tmp_path):
    bad = race_data.write_race(tmp_path / "bad", passages=1)
    path = tmp_path / "bad" / "RACE" / "train" / "high" / "0.txt"
    path.write_text(path.read_text().replace('"answers": ["', '"answers": ["x'))
    process = start(data, tmp_path / "out", f"--data_dir={bad}")
    said = finish(process)
    assert process.returncode == 1
    assert said.splitlines()[-1].startswith(f"ERROR: '{path}', passage 'high0.txt', question 1")
    assert "Traceback" not in said
    assert not (tmp_path / "out").exists()
