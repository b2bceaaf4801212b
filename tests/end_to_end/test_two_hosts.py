# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""run_pretraining on two hosts, each with its own network and /tmp, of which one is killed.

The hosts are two shells with namespaces of Linux. All is gone when the shells' input ends.
"""

import contextlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

from tests.support import ROOT, processes, workers
from tests.support import pretraining_records as records

pytestmark = pytest.mark.slow

NETWORK = "10.99.0"
ADDRESSES = [f"{NETWORK}.{number}:2222" for number in (1, 2)]
STEPS, BETWEEN = 120, 10


def join(number):
    """The commands that give a host its address."""
    return f"ip address add {NETWORK}.{number}/24 dev eth0 && ip link set eth0 up"


@contextlib.contextmanager
def host(folder, *commands):
    """A shell with a network of its own, and `folder` as /tmp; yields its process number."""
    setup = " && ".join([f"mount --bind {folder} /tmp", "ip link set lo up", *commands])
    command = f"exec unshare --net --mount sh -c '{setup} && echo ready; read end'"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(["sh", "-c", command], **pipes) as shell:
        said = shell.stdout.readline().decode()
        if said != "ready\n":
            pytest.skip(f"two hosts need root's rights, `unshare` and `ip`: {said.strip()}")
        yield shell.pid


@pytest.fixture(scope="module")
def train(tmp_path_factory):
    """The folder that the hosts share, and a function that starts a training on both."""
    if "/tmp/" in f"{ROOT}:{sys.prefix}":
        pytest.skip("the hosts do not see this folder: each has its own /tmp")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name, contextlib.ExitStack() as stack:
        shared = pathlib.Path(name)
        data = tmp_path_factory.mktemp("data")
        records.write_config(data / "tiny.json", num_hidden_layers=1)
        for number in range(4):
            records.write_records(data / f"{number}.tf_record", 20, seed=number)
        for number in "12":
            shutil.copytree(data, shared / number)
        first = stack.enter_context(host(shared / "1"))
        link = f"ip link add eth0 type veth peer name eth0 netns {first}"
        other = f'nsenter --target {first} --net sh -c "{join(1)}"'
        second = stack.enter_context(host(shared / "2", link, join(2), other))
        enter = "nsenter --net --mount --target {} setpriv --pdeathsig KILL"
        hosts = [enter.format(pid).split() for pid in (first, second)]

        def start(output_dir, of_second=""):
            arguments = f"""--albert_config_file=/tmp/tiny.json --input_file=/tmp/*.tf_record
                --output_dir={shared / output_dir} --max_seq_length={records.LENGTH}
                --max_predictions_per_seq={records.PREDICTIONS} --train_batch_size=8
                --num_train_steps={STEPS} --num_warmup_steps=4 --learning_rate=0.003
                --save_checkpoints_steps={BETWEEN} --log_steps={BETWEEN} --nouse_xla"""
            return workers.two_workers(arguments, of_second, addresses=ADDRESSES, hosts=hosts)

        yield shared, start


def test_killed_host_ends_the_other_and_both_resume(train):
    shared, start = train
    for step, lost in ((BETWEEN, 1), (3 * BETWEEN, 0)):
        with start("killed") as started:
            said = processes.read_until(started[0], f"Saved model.ckpt-{step}")
            started[lost].kill()
            begin, other = time.monotonic(), started[1 - lost]
            said = processes.finish(other)
            seconds = time.monotonic() - begin
        print(f"killed {ADDRESSES[lost]}: {other.returncode} after {seconds:.1f} s", said[-130:])
        assert other.returncode == 1 and seconds < 60, said
        assert f"worker {ADDRESSES[lost]}" in said.splitlines()[-1], said
        assert not (shared / f"killed/model.ckpt-{STEPS}.index").exists()
    for name in ("killed", "whole"):
        with start(name) as started:
            said = processes.finish_all(started, 0)
        assert ("Resuming from" in said[0]) == (name == "killed"), said
    found, expected = (
        processes.weights(shared / name / f"model.ckpt-{STEPS}") for name in ("killed", "whole")
    )
    assert found == expected
