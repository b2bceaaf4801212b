# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""One process at a time trains into a folder."""

import os
import socket
import threading

import pytest

from albert.util import folder_lock
from tests.support import training_scripts
from tests.support.processes import holding


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_held_names_other_process(tmp_path):
    folder = tmp_path / "new" / "out"
    with holding(folder) as process:
        with pytest.raises(ValueError) as error, folder_lock.held(str(folder)):
            pytest.fail("held twice")
        for part in (str(folder), socket.gethostname(), str(process.pid)):
            assert part in str(error.value)
        # An evaluation may run beside it.
        with folder_lock.held(str(folder), folder_lock.EVALUATION):
            assert len(names_in(folder)) == 2
        process.kill()
        process.wait()
        assert names_in(folder) == [folder_lock.lock_name()]
        with folder_lock.held(str(folder)):
            pass
    assert names_in(folder) == []


def test_held_waits(tmp_path):
    with holding(tmp_path, folder_lock.EVALUATION) as process:
        threading.Timer(0.2, process.stdin.close).start()
        with folder_lock.held(str(tmp_path), folder_lock.EVALUATION, waits=True):
            assert process.wait() == 0


def test_held_twice_in_one_process(tmp_path):
    with folder_lock.held(str(tmp_path)):
        with folder_lock.held(os.path.join(tmp_path, ".")):
            assert names_in(tmp_path) == [folder_lock.lock_name()]
        with pytest.raises(AssertionError), holding(tmp_path):
            pass
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("script", ["run_pretraining", "run_classifier"])
def test_second_training_into_folder(training_data, tmp_path, script):
    with holding(tmp_path) as other, pytest.raises(ValueError, match=f"{tmp_path}.*{other.pid}"):
        training_scripts.run(script, training_data, tmp_path, "--do_train")
