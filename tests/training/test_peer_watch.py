# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The roll-call of processes that train together, and what they do when one has gone."""

import concurrent.futures
import contextlib
import os
import resource
import socket
import threading
import time
from unittest import mock

import pytest

from albert import run_pretraining
from albert.training import distribution, estimators, resuming
from albert.util import flags as flags_lib
from tests.support import one_weight
from tests.support.workers import MULTI_WORKER, free_addresses, tf_config


def others_call(addresses, numbers):
    """The other processes' part of a roll-call, in threads that end with the tests."""
    calls = []
    for index, number in numbers.items():
        call = concurrent.futures.Future()

        def take_part(call=call, index=index, number=number):
            call.set_result(distribution.roll_call(addresses, index, number))

        threading.Thread(target=take_part, daemon=True).start()
        calls.append(call)
    return calls


def test_roll_call_gives_all_answers_to_all(monkeypatch):
    for name in ("_SECONDS_BETWEEN_CALLS", "_CALL_SECONDS"):
        monkeypatch.setattr(distribution, name, 0.05)
    addresses = free_addresses(3)
    host, port = addresses[0].split(":")
    chief = others_call(addresses, {0: 7})
    while not distribution.is_reachable(addresses[0]):
        assert not chief[0].done()
    # Strangers, one of another cluster, and a worker that is killed and started again.
    messages = ("[3, 5]", "[2, 5]", "5", '[1, {"a": 5}]', "[1]", "[" * 100000)
    lines = [f"{text}\n".encode("ascii") for text in messages]
    for noise in (b"PRI * HTTP/2.0\r\n\r\n", *lines):
        with socket.create_connection((host, int(port))) as caller:
            caller.sendall(noise)
    # One says nothing, and one stops after the first byte.
    with socket.create_connection((host, int(port))), socket.create_connection(
        (host, int(port))
    ) as stranger:
        stranger.sendall(b"[")
        workers = others_call(addresses, {2: 9, 1: 8})
        assert [call.result(60) for call in chief + workers] == [[7, 8, 9]] * 3


@pytest.mark.skipif(
    resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 2000, reason="few files may be open here"
)
def test_roll_call_with_many_open_files():
    with contextlib.ExitStack() as stack:
        for _ in range(1100):
            stack.enter_context(open(os.devnull, "rb"))
        calls = others_call(free_addresses(2), {0: 7, 1: 8})
        assert [call.result(60) for call in calls] == [[7, 8]] * 2


def test_worker_connected_to_itself_calls_again(monkeypatch):
    """As happens where the system gives it the port that it calls, while nothing listens there."""
    monkeypatch.setattr(distribution, "_SECONDS_BETWEEN_CALLS", 0.05)
    addresses = free_addresses(2)
    connect, calls = socket.create_connection, []

    def to_itself(address, *options, **named):
        calls.append(address)
        if len(calls) > 1:
            return connect(address, *options, **named)
        called = socket.socket()
        called.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        called.bind(address)
        called.connect(address)
        return called

    monkeypatch.setattr(socket, "create_connection", to_itself)
    (worker,) = others_call(addresses, {1: 8})
    while len(calls) < 2:
        assert not worker.done()
    assert distribution.roll_call(addresses, 0, 7) == worker.result(60) == [7, 8]


def meet(monkeypatch, flags, others=()):
    """One worker's part of a meeting with what `others` say; returns what it says itself."""
    said = []

    def roll_call(addresses, index, content):
        said.append(content)
        return [content, *others]

    with monkeypatch.context() as patch:
        patch.setattr(distribution, "roll_call", roll_call)
        resuming.agreed_resume_point(flags)
    return said[0]


def test_workers_of_other_flags_stop(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", tf_config(["here:1", "there:2"], 0))
    arguments = ["--albert_dir=model", "--output_dir=out", MULTI_WORKER, "--input_file=records"]
    flags = flags_lib.parse(run_pretraining.Flags, arguments)
    ours = meet(monkeypatch, flags)
    for name, value in flags.to_dict().items():
        theirs = dict(ours, **{f"--{name}": f"{value}7"})
        if name == "output_dir":
            meet(monkeypatch, flags, [theirs])
            continue
        with pytest.raises(ValueError) as error:
            meet(monkeypatch, flags, [theirs])
        for part in (f"--{name}", "here:1", "there:2"):
            assert part in str(error.value)


def test_workers_of_other_data_or_models_stop(monkeypatch, tmp_path):
    monkeypatch.setenv("TF_CONFIG", tf_config(["here:1", "there:2"], 0))
    monkeypatch.setattr(distribution, "roll_call", lambda *content: roll_call(*content))
    one_weight.save(tmp_path, 1)
    flags = [MULTI_WORKER, f"--init_checkpoint={tmp_path}/model.ckpt-1"]
    made_from = {"training_data": "a", "configuration": "b", "vocabulary": "c"}
    said = []

    def roll_call(addresses, index, content):
        said.append(content)
        return [said[0], content]

    def start(**changes):
        folder = tmp_path / "out"
        one_weight.train(folder, *flags, max_steps=1, input_hashes={**made_from, **changes})

    monkeypatch.setattr(estimators, "_run_estimator", mock.Mock(side_effect=InterruptedError))
    with pytest.raises(InterruptedError):  # they agree, and begin
        start()
    for name in made_from:
        with pytest.raises(ValueError, match=f"{name.replace('_', ' ')} .*here:1.*there:2"):
            start(**{name: "another"})
    one_weight.save(tmp_path, 1, weight=0.5)
    with pytest.raises(ValueError, match="initial weights .*here:1.*there:2"):
        start()


@pytest.mark.parametrize("index, other", [(0, 1), (1, 0)])
def test_workers_at_other_steps_stop(monkeypatch, tmp_path, index, other):
    """As where --output_dir is not shared; TensorFlow's would wait for each other for ever."""
    addresses = free_addresses(2)
    monkeypatch.setenv("TF_CONFIG", tf_config(addresses, index))
    start = meet(
        monkeypatch, one_weight.settings_for(tmp_path / "new", "--log_steps=2", MULTI_WORKER)
    )
    one_weight.save(tmp_path, 300)
    calls = others_call(addresses, {other: start})
    with pytest.raises(ValueError, match="--output_dir") as error:
        one_weight.train(tmp_path, MULTI_WORKER, max_steps=300)
    assert "300" in str(error.value) and all(name in str(error.value) for name in addresses)
    starts = calls[0].result(60)
    others_call(addresses, {other: starts[index]})
    assert one_weight.train(tmp_path, MULTI_WORKER, max_steps=300) is None


def test_taken_port_is_named():
    with socket.socket() as server:
        server.bind(("localhost", 0))
        server.listen(1)
        address = f"localhost:{server.getsockname()[1]}"
        with pytest.raises(ValueError, match=address):
            distribution.roll_call([address, "localhost:1"], 0, 3)


@pytest.mark.parametrize("is_over, ends", [(False, True), (True, False)])
def test_heartbeat_ends_process_when_peer_is_gone(monkeypatch, capsys, is_over, ends):
    ended, began = threading.Event(), time.monotonic()
    never, there = free_addresses(2)

    def is_reachable(address):
        return address == there and time.monotonic() < began + 0.1

    def leave(code):
        assert code == 1 and time.monotonic() > began + 0.2
        ended.set()

    monkeypatch.setattr(distribution, "is_reachable", is_reachable)
    monkeypatch.setattr(distribution, "_SECONDS_BETWEEN_CHECKS", 0.01)
    monkeypatch.setattr(distribution, "_MIN_PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(distribution.os, "_exit", leave)
    watch = distribution.heartbeat(
        [never, there],
        is_over=lambda: is_over,
        patience_seconds=0.2,
    )
    with watch:
        assert ended.wait(60 if ends else 0.5) == ends
    assert (there in capsys.readouterr().err) == ends
