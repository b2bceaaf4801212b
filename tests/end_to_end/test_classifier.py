# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""run_classifier in processes of its own: train, evaluate, predict, again, and after a kill."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf

from tests.support import classification_data

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    # With dropout: its masks too must be those of an uninterrupted run.
    classification_data.write_config(folder)
    classification_data.write_mrpc(folder)
    return folder


def start(data, output_dir, *arguments):
    """Starts a training of 12 steps with a checkpoint every three."""
    command = [
        sys.executable,
        "-m",
        "albert.run_classifier",
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
    names = ("eval_results.txt", "best_trial.txt", "test_results.tsv", "submit_results.tsv")
    return {name: (folder / name).read_bytes() for name in names}


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_ends_in_the_same_results(data, tmp_path):
    everything = ("--do_train", "--do_eval", "--do_predict")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    process = start(data, whole, *everything)
    said = finish(process)
    assert process.returncode == 0, said
    assert "Best of 4 evaluated checkpoints" in said

    for words in ("step 5/12", "(2 of 4)"):
        process = start(data, killed, *everything)
        said = kill_at(process, words)
        assert process.returncode == -signal.SIGKILL, said
    process = start(data, killed, *everything)
    said = finish(process)
    assert process.returncode == 0, said
    assert "Nothing to train" in said and "records are there already" in said

    expected, actual = weights(whole / "model.ckpt-12"), weights(killed / "model.ckpt-12")
    assert sorted(actual) == sorted(expected)
    assert [name for name in expected if actual[name] != expected[name]] == []
    assert results(killed) == results(whole)


@pytest.mark.slow
def test_a_mistake_is_one_line_and_exit_code_one(data, tmp_path):
    process = start(data, tmp_path, "--do_train", "--task_name=mprc")
    said = finish(process)
    assert process.returncode == 1
    assert said.splitlines()[-1].startswith("ERROR: Unknown task 'mprc'. Did you mean 'mrpc'")
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []
