# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Scripts in processes of their own, which are killed: the same bytes as of a run in one."""

import shutil
import signal

import pytest

from tests.support import one_weight, processes, training_scripts

LONGER = """--num_train_steps=12 --num_warmup_steps=4 --save_checkpoints_steps=3
    --keep_checkpoint_max=2 --log_steps=1 --train_batch_size=10"""


def start(data, output_dir, more=""):
    """Starts a run of 12 steps with a checkpoint every three; its dropout has masks to resume."""
    arguments = f"{training_scripts.SCRIPTS['run_pretraining'].arguments} {LONGER} {more}"
    arguments = f"--output_dir={output_dir} --nouse_xla {arguments}".format(data=data).split()
    return processes.start("-m", "albert.run_pretraining", *arguments)


def stop_at(process, words, with_signal=signal.SIGKILL):
    """Sends a signal as soon as a line holds `words`; returns what was said until the end."""
    said = processes.read_until(process, words)
    process.send_signal(with_signal)
    return said + processes.finish(process)


def damage_last_checkpoint(folder):
    """Leaves what a kill leaves in the middle of a checkpoint, at each stage of its writing."""
    index = folder / "model.ckpt-9.index"
    index.write_bytes(index.read_bytes()[:100])
    (folder / "model.ckpt-12.data-00000-of-00001").write_bytes(b"\0" * 1000)
    (folder / "model.ckpt-12_temp").mkdir()


@pytest.mark.slow
def test_stopped_pretraining_resumes(training_data, tmp_path):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    training_scripts.run("run_pretraining", training_data, whole, LONGER)

    process = start(training_data, stopped)
    said = stop_at(process, "Saved model.ckpt-9")
    assert process.returncode == -signal.SIGKILL, said
    damage_last_checkpoint(stopped)

    for attempt in range(3):
        folder = tmp_path / f"attempt-{attempt}"
        shutil.copytree(stopped, folder)
        process = start(training_data, folder)
        # Steps of a model this small may be over before the signal arrives; building the graph is
        # not. Bare `except:` clauses of TensorFlow swallow an interrupt here and there.
        said = stop_at(process, "model.ckpt-6, step 6", signal.SIGINT)
        if process.returncode:
            break
    assert process.returncode == 130, said
    assert said.splitlines()[-1] == "Interrupted." and "Traceback" not in said
    assert "model.ckpt-9 (" in said and "model.ckpt-6, step 6" in said
    assert not (folder / "model.ckpt-12_temp").exists()

    process = start(training_data, folder, "--do_eval")
    said = processes.finish(process)
    assert process.returncode == 0 and "12/12 steps" in said and "Best of 2" in said, said
    found, expected = (processes.weights(path / "model.ckpt-12") for path in (folder, whole))
    assert found == expected
    curves = [one_weight.curve_of(path) for path in (folder, whole)]
    for row in curves[0] + curves[1]:
        del row["examples_per_second"]
    assert curves[0] == curves[1]
