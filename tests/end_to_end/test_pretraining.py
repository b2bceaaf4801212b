# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""run_pretraining in processes of its own, some of which are killed."""

import os
import shutil
import signal
import subprocess
import sys

import pytest

from tests.support import pretraining_records as records
from tests.support import processes


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    # With dropout: its masks too must be those of an uninterrupted run.
    records.write_config(folder / "tiny.json", num_hidden_layers=1)
    for number in range(3):
        records.write_records(folder / f"train-{number}.tf_record", 17, seed=number)
    return folder


# A training that is asked to end when it has made its seventh step.
ASKED = """
import os, signal
from albert import run_pretraining
from albert.command_line import cli
from albert.training import hooks as training_hooks

report = training_hooks.ProgressHook.after_run

def after_run(self, *arguments):
    report(self, *arguments)
    if self.step == 7:
        os.kill(os.getpid(), signal.SIGUSR1)

training_hooks.ProgressHook.after_run = after_run
cli.run(run_pretraining.Flags, run_pretraining.main, "")
"""


def start(data, output_dir, *arguments, program=("-m", "albert.run_pretraining")):
    """Starts a training of 12 steps over 51 records, with a checkpoint every three steps."""
    command = [
        sys.executable,
        *program,
        f"--albert_config_file={data / 'tiny.json'}",
        f"--input_file={data / 'train-*.tf_record'}",
        f"--output_dir={output_dir}",
        f"--max_seq_length={records.LENGTH}",
        f"--max_predictions_per_seq={records.PREDICTIONS}",
        "--train_batch_size=8",
        "--num_train_steps=12",
        "--num_warmup_steps=4",
        "--save_checkpoints_steps=3",
        "--keep_checkpoint_max=2",
        "--log_steps=1",
    ]
    environment = dict(os.environ, PYTHONPATH=str(processes.ROOT), TF_CPP_MIN_LOG_LEVEL="3")
    return subprocess.Popen(
        command + list(arguments),
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        # What runs the tests in the background may have them ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def stop_at(process, words, with_signal=signal.SIGKILL):
    """Sends a signal as soon as a line holds `words`; returns what was said until the end."""
    lines = []
    for line in process.stderr:
        lines.append(line)
        if words in line:
            process.send_signal(with_signal)
            break
    return "".join(lines) + processes.finish(process)


def curve_without_speed(folder):
    lines = (folder / "training_curve.csv").read_text(encoding="utf-8").splitlines()
    return [line.rsplit(",", 1)[0] for line in lines]


def damage_last_checkpoint(folder):
    """Leaves what a kill leaves in the middle of a checkpoint, at each stage of its writing."""
    index = folder / "model.ckpt-9.index"
    index.write_bytes(index.read_bytes()[:100])
    (folder / "model.ckpt-12.data-00000-of-00001").write_bytes(b"\0" * 1000)
    (folder / "model.ckpt-12_temp").mkdir()


@pytest.mark.slow
def test_a_run_that_is_stopped_again_and_again_ends_in_the_same_bytes(data, tmp_path):
    process = start(data, tmp_path / "whole")
    said = processes.finish(process)
    assert process.returncode == 0, said

    stopped = tmp_path / "stopped"
    process = start(data, stopped)
    said = stop_at(process, "5/12 steps")  # between two checkpoints
    assert process.returncode == -signal.SIGKILL, said

    process = start(data, stopped)
    said = stop_at(process, "Saved model.ckpt-9")
    assert process.returncode == -signal.SIGKILL, said
    assert "model.ckpt-3, step 3" in said
    damage_last_checkpoint(stopped)

    for attempt in range(3):
        folder = tmp_path / f"attempt-{attempt}"
        shutil.copytree(str(stopped), str(folder))
        process = start(data, folder)
        # Steps of a model this small may be over before the signal arrives; building the graph is
        # not. Bare `except:` clauses of TensorFlow swallow an interrupt here and there.
        said = stop_at(process, "Going on from", signal.SIGINT)
        if process.returncode:
            break
    stopped = folder
    assert process.returncode == 130, said
    assert said.splitlines()[-1] == "Interrupted." and "Traceback" not in said
    assert "model.ckpt-9 (" in said and "model.ckpt-6, step 6" in said
    assert not (stopped / "model.ckpt-12_temp").exists()

    process = start(data, stopped, program=("-c", ASKED))
    said = processes.finish(process)
    assert process.returncode == 143, said
    assert "SIGUSR1" in said.splitlines()[-1] and (stopped / "model.ckpt-8.index").exists()

    process = start(data, stopped, "--do_eval")
    said = processes.finish(process)
    assert process.returncode == 0, said
    assert "12/12 steps" in said and "Best of 2" in said
    expected = processes.weights(tmp_path / "whole" / "model.ckpt-12")
    actual = processes.weights(stopped / "model.ckpt-12")
    assert sorted(actual) == sorted(expected)
    assert [name for name in expected if actual[name] != expected[name]] == []
    assert curve_without_speed(stopped) == curve_without_speed(tmp_path / "whole")
