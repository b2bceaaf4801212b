# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Scripts in processes of their own, which are killed: the same bytes as of a run in one."""

import collections
import shutil
import signal

import pytest

from tests.support import one_weight, processes, training_scripts

pytestmark = pytest.mark.slow

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


# A training that was killed, interrupted and finished: the exit code and the output of the
# interrupted process, the temporary folders after it, the output of the last process, the folder;
# and the folder of a training without a stop.
Stopped = collections.namedtuple("Stopped", "code said leftovers finish folder whole")


@pytest.fixture(scope="module")
def stopped(training_data, tmp_path_factory):
    scratch = tmp_path_factory.mktemp("kills")
    whole, killed = scratch / "whole", scratch / "killed"
    training_scripts.run("run_pretraining", training_data, whole, LONGER)

    process = start(training_data, killed)
    said = stop_at(process, "Saved model.ckpt-9")
    assert process.returncode == -signal.SIGKILL, said
    damage_last_checkpoint(killed)

    for attempt in range(3):
        folder = scratch / f"attempt-{attempt}"
        shutil.copytree(killed, folder)
        process = start(training_data, folder)
        # Steps of a model this small may be over before the signal arrives; building the graph is
        # not. Bare `except:` clauses of TensorFlow swallow an interrupt here and there.
        said = stop_at(process, "model.ckpt-6, step 6", signal.SIGINT)
        if process.returncode:
            break
    leftovers = list(folder.glob("*_temp"))

    last = start(training_data, folder, "--do_eval")
    finish = processes.finish(last)
    assert last.returncode == 0, finish
    return Stopped(process.returncode, said, leftovers, finish, folder, whole)


def test_interrupt_ends_in_one_line(stopped):
    assert stopped.code == 130, stopped.said
    assert stopped.said.splitlines()[-1] == "Interrupted."
    assert "Traceback" not in stopped.said


def test_damaged_checkpoint_is_passed_over(stopped):
    assert "model.ckpt-9 (" in stopped.said
    assert "model.ckpt-6, step 6" in stopped.said


def test_half_written_checkpoint_is_removed(stopped):
    assert stopped.leftovers == []


def test_resumed_training_goes_to_its_end(stopped):
    assert "12/12 steps" in stopped.finish and "Best of 2" in stopped.finish


def test_resumed_training_has_the_same_weights(stopped):
    resumed, expected = (
        processes.weights(folder / "model.ckpt-12") for folder in (stopped.folder, stopped.whole)
    )
    assert resumed == expected


def test_resumed_training_has_the_same_curve(stopped):
    curves = [one_weight.curve_of(folder) for folder in (stopped.folder, stopped.whole)]
    for row in curves[0] + curves[1]:
        del row["examples_per_second"]
    assert curves[0] == curves[1]
