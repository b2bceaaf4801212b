# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining data on real servers: Spark, Beam's job service and Dask, with workers that die."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

from tests.support import FIXTURES, ROOT
from tests.support.shared import sha256

FILES = 12
NO_JAVA = pytest.mark.skipif(
    not shutil.which("java"), reason="Spark needs Java: apt-get install default-jre-headless"
)
pytestmark = pytest.mark.slow


def free_port():
    with contextlib.closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Servers:
    """Processes on loopback, each with its log; all end with the test."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []
        variables = {"SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": str(ROOT)}
        self.environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", **variables)

    def start(self, *command, **more):
        log = self.folder / f"{len(self.processes)}.log"
        with log.open("w") as stream:
            process = subprocess.Popen(
                [str(one) for one in command],
                stdout=stream,
                stderr=subprocess.STDOUT,
                env=dict(self.environment, **more),
                cwd=str(self.folder),
                start_new_session=True,
            )
        process.log = log
        self.processes.append(process)
        return process

    def python(self, *command, **more):
        return self.start(sys.executable, *command, **more)

    def script(self, name, output, *arguments):
        """Starts a script that makes records of `FILES` copies of the corpus."""
        text = f"""--input_file={self.folder}/text/*.txt --output_file={output} --num_shards=3
            --vocab_file={FIXTURES}/wordpiece_vocab.txt --max_seq_length=32 --dupe_factor=10
            --max_predictions_per_seq=5"""
        return self.python("-m", "albert", name, *text.split(), *arguments)


def wait_for(words, process, pattern=None):
    """Waits until the log of a process, or a file of the pattern, has the words."""
    end = time.time() + 120
    while time.time() < end:
        logs = process.log.parent.glob(pattern) if pattern else [process.log]
        if any(re.search(words, log.read_text("utf-8", "replace")) for log in logs):
            return
        assert process.poll() is None, process.log.read_text("utf-8", "replace")
        time.sleep(0.1)
    raise AssertionError(f"{words}: {process.log.read_text('utf-8', 'replace')}")


def wait_for_port(port):
    end = time.time() + 120
    while time.time() < end:
        with contextlib.closing(socket.socket()) as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"Nothing listens at port {port}.")


def kill(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def finish(process):
    """Returns the exit code of a script and what it said."""
    code = process.wait(timeout=300)
    return code, process.log.read_text("utf-8", "replace")


def shards(output):
    output = pathlib.Path(output)
    return sorted(map(str, output.parent.glob(f"{output.name}-*-of-*")))


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    corpus = (FIXTURES / "corpus.txt").read_bytes()
    for number in range(FILES):
        (folder / f"{number}.txt").write_bytes(corpus * 5)
    return folder


@pytest.fixture
def servers(text, tmp_path):
    (tmp_path / "text").symlink_to(text)
    group = Servers(tmp_path)
    yield group
    for process in group.processes:
        kill(process)
        process.wait()


@pytest.fixture(scope="module")
def expected(text, tmp_path_factory):
    """The hash of the shards that Beam makes in one process."""
    group = Servers(tmp_path_factory.mktemp("one"))
    (group.folder / "text").symlink_to(text)
    output = group.folder / "out/a"
    code, said = finish(group.script("create_pretraining_data_beam", output))
    assert code == 0, said
    return sha256(*shards(output))


# ---- Spark ---------------------------------------------------------------------------------------


def start_spark(servers):
    """Returns the URL of a standalone cluster on loopback, and its two workers."""
    import pyspark

    home = pathlib.Path(pyspark.__file__).parent
    servers.environment["SPARK_HOME"] = str(home)
    begin = [home / "bin/spark-class", "org.apache.spark.deploy"]
    port, local = free_port(), ["--host", "127.0.0.1", "--webui-port", "0"]
    master = servers.start(begin[0], f"{begin[1]}.master.Master", *local, "--port", port)
    wait_for("I have been elected leader", master)
    url = f"spark://127.0.0.1:{port}"
    workers = []
    for number in range(2):
        own = ["--cores", 1, "--memory", "1g", "--work-dir", servers.folder / f"work{number}"]
        workers.append(servers.start(begin[0], f"{begin[1]}.worker.Worker", url, *local, *own))
    for worker in workers:
        wait_for("Successfully registered with master", worker)
    return url, workers


@NO_JAVA
def test_spark_survives_killed_worker(servers, expected):
    output = servers.folder / "out/a"
    # While the real one starts, another job looks for a master that does not exist, for a minute.
    nowhere = f"spark://127.0.0.1:{free_port()}"
    lost = servers.script("create_pretraining_data_spark", output, f"--master={nowhere}")
    url, workers = start_spark(servers)
    job = servers.script("create_pretraining_data_spark", output, f"--master={url}")
    wait_for(r"Running task \d+\.0 in stage [1-9]", job, pattern="work1/app-*/*/stderr")
    kill(workers[1])
    code, said = finish(job)
    assert code == 0, said
    assert sha256(*shards(output)) == expected
    code, said = finish(lost)
    assert code == 1 and re.search(f"(?m)^ERROR: .*{nowhere}", said), said


# ---- Beam ----------------------------------------------------------------------------------------


def start_beam(servers, **pool_variables):
    """Returns the options of a job service and of the pool that starts its worker process."""
    service, pool = free_port(), free_port()
    runners = "apache_beam.runners"
    jobs = servers.python("-m", f"{runners}.portability.local_job_service_main", "-p", service)
    # It starts "python".
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    command = ["-m", f"{runners}.worker.worker_pool_main", "--service_port", pool]
    servers.python(*command, PATH=path, **pool_variables)
    wait_for("Listening for beam jobs", jobs)
    wait_for_port(pool)
    options = f"""--runner=PortableRunner --job_endpoint=127.0.0.1:{service}
        --environment_type=EXTERNAL --environment_config=127.0.0.1:{pool}"""
    return options.split()


def assert_fails(job, output, named):
    code, said = finish(job)
    last = said.splitlines()[-1]
    assert code == 1 and last.startswith("ERROR: ") and named in last, said
    assert not shards(output)


# Imported by each worker: ends it when it makes records and the file `kill` is there.
KILLER = """
import os, signal, sys, threading, time
def watch():
    kill = os.path.join(os.path.dirname(__file__), "kill")
    while "albert.pretraining_data.cluster" not in sys.modules or not os.path.exists(kill):
        time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=watch, daemon=True).start()
"""


def test_beam_service_and_killed_worker(servers, expected):
    (servers.folder / "sitecustomize.py").write_text(KILLER)
    options = start_beam(servers, PYTHONPATH=f"{servers.folder}{os.pathsep}{ROOT}")
    script, output = "create_pretraining_data_beam", servers.folder / "out/a"
    code, said = finish(servers.script(script, output, *options))
    assert code == 0, said
    assert sha256(*shards(output)) == expected
    (servers.folder / "kill").touch()
    output = servers.folder / "killed/a"
    job = servers.script(script, output, *options)
    assert_fails(job, output, options[1].split("=")[1])


def test_beam_worker_without_package_is_named(servers):
    options = start_beam(servers, PYTHONPATH="")
    output = servers.folder / "out/a"
    job = servers.script("create_pretraining_data_beam", output, *options)
    assert_fails(job, output, "'albert'")


def test_dask_writes_same_bytes(servers, expected):
    pytest.importorskip("distributed", "2024.1", reason="Beam's runner needs a newer Dask")
    address = f"tcp://127.0.0.1:{free_port()}"
    port = address.split(":")[-1]
    local = ["--host", "127.0.0.1", "--no-dashboard"]
    scheduler = servers.python("-m", "distributed.cli.dask_scheduler", "--port", port, *local)
    wait_for("Scheduler at", scheduler)
    two = ["--nworkers", 2, "--nthreads", 1, *local]
    workers = servers.python("-m", "distributed.cli.dask_worker", address, *two)
    wait_for("(?s)Registered to.*Registered to", workers)
    runner = "--runner=apache_beam.runners.dask.dask_runner.DaskRunner"
    output = servers.folder / "out/a"
    options = [runner, f"--dask_client_address={address}"]
    code, said = finish(servers.script("create_pretraining_data_beam", output, *options))
    assert code == 0, said
    assert sha256(*shards(output)) == expected
