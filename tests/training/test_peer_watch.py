# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The roll-call of processes that train together, and what they do when one has gone."""

import concurrent.futures
import contextlib
import json
import socket
import threading

import pytest

from albert import run_classifier, run_pretraining, run_race, run_squad_v2
from albert.training import estimators, peer_watch
from albert.util import flags as flags_lib
from tests.support import one_weight


def free_addresses(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for item in sockets:
            item.bind(("localhost", 0))
        return [f"localhost:{item.getsockname()[1]}" for item in sockets]


def others_call(addresses, numbers):
    """The other processes' part of a roll-call, in threads that end with the tests."""
    calls = []
    for index, number in numbers.items():
        call = concurrent.futures.Future()

        def take_part(call=call, index=index, number=number):
            call.set_result(peer_watch.roll_call(addresses, index, number))

        threading.Thread(target=take_part, daemon=True).start()
        calls.append(call)
    return calls


def test_every_process_learns_what_all_have_to_say():
    addresses = free_addresses(3)
    host, port = addresses[0].split(":")
    chief = others_call(addresses, {0: 7})
    for noise in (b"", b"PRI * HTTP/2.0\r\n\r\n", b"[1, 2]\n", b'{"index": 9}\n'):
        while not peer_watch.is_reachable(addresses[0]):
            assert not chief[0].done()
        with socket.create_connection((host, int(port))) as stranger:
            stranger.sendall(noise)
    with socket.create_connection((host, int(port))) as killed:
        killed.sendall(b'{"index": 2, "content": 1}\n')
    workers = others_call(addresses, {2: 9, 1: 8})
    assert [call.result(60) for call in chief + workers] == [[7, 8, 9]] * 3


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


@pytest.mark.skipif(not has_ipv6(), reason="no IPv6 here")
def test_processes_meet_at_a_name_that_stands_for_ipv6(monkeypatch):
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, port, *_, **__: [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", port, 0, 0))
        ],
    )
    calls = others_call(free_addresses(2), {0: 7, 1: 8})
    assert [call.result(10) for call in calls] == [[7, 8]] * 2


def enter_cluster(monkeypatch, addresses, index):
    task = {"type": "worker", "index": index}
    cluster = {"cluster": {"worker": addresses}, "task": task}
    monkeypatch.setenv("TF_CONFIG", json.dumps(cluster))


def meet(monkeypatch, settings, others=()):
    """One worker's part of a meeting with what `others` say; returns what it says itself."""
    said = []

    def roll_call(addresses, index, content):
        said.append(content)
        return [content, *others]

    with monkeypatch.context() as patch:
        patch.setattr(peer_watch, "roll_call", roll_call)
        estimators.agreed_resume_point(settings, settings)
    return said[0]


@pytest.mark.parametrize(
    "script, required",
    [
        (run_pretraining, ["--input_file=records"]),
        (run_classifier, ["--data_dir=data", "--task_name=mrpc"]),
        (run_squad_v2, []),
        (run_race, ["--data_dir=data"]),
    ],
)
def test_workers_with_another_flag_stop(monkeypatch, script, required):
    enter_cluster(monkeypatch, ["here:1", "there:2"], 0)
    strategy = "--distribution_strategy=multi_worker"
    arguments = ["--albert_dir=model", "--output_dir=out", strategy, *required]
    settings = flags_lib.parse(script.Flags, arguments)
    may_differ = {"output_dir", "cached_dir", "do_eval", "do_predict", "predict_file", "export_dir"}
    may_differ |= {"train_feature_file", "predict_feature_file", "predict_feature_left_file"}
    for name, value in settings.to_dict().items():
        flags = {name: str(value) for name, value in settings.to_dict().items()}
        theirs = {"step": 0, "flags": dict(flags, **{name: f"{value}7"})}
        if name in may_differ:
            meet(monkeypatch, settings, [theirs])
            continue
        with pytest.raises(ValueError) as error:
            meet(monkeypatch, settings, [theirs])
        assert f"--{name}={value} at here:1 and {value}7 at there:2." in str(error.value)


@pytest.mark.parametrize("index, other", [(0, 1), (1, 0)])
def test_workers_that_do_not_begin_at_one_step_stop(monkeypatch, tmp_path, index, other):
    """As where --output_dir is not shared; TensorFlow's would wait for each other for ever."""
    addresses = free_addresses(2)
    enter_cluster(monkeypatch, addresses, index)
    flag = "--distribution_strategy=multi_worker"
    start = meet(monkeypatch, one_weight.settings_for(tmp_path / "new", "--log_steps=2", flag))
    one_weight.save(tmp_path, 300)
    calls = others_call(addresses, {other: start})
    with pytest.raises(ValueError, match="--output_dir") as error:
        one_weight.train(tmp_path, flag, max_steps=300)
    assert "300" in str(error.value) and all(name in str(error.value) for name in addresses)
    assert sorted(said["step"] for said in calls[0].result(60)) == [0, 300]
    others_call(addresses, {other: dict(start, step=300)})
    assert one_weight.train(tmp_path, flag, max_steps=300) is None


def test_a_port_that_is_taken_is_named(tmp_path):
    with socket.socket() as server:
        server.bind(("localhost", 0))
        server.listen(1)
        address = f"localhost:{server.getsockname()[1]}"
        with pytest.raises(ValueError, match=address):
            peer_watch.roll_call([address, "localhost:1"], 0, 3)


def watch_of(*addresses, patience_seconds):
    return peer_watch.PeerWatch(
        addresses, is_over=lambda: False, patience_seconds=patience_seconds, leftovers=[]
    )


def test_a_worker_that_was_there_and_is_gone_is_noticed():
    (never,) = free_addresses(1)
    with socket.socket() as server:
        server.bind(("localhost", 0))
        server.listen(1)
        there = f"localhost:{server.getsockname()[1]}"
        watches = [watch_of(never, there, patience_seconds=seconds) for seconds in (0.0, 1e9)]
        assert [watch.look() for watch in watches] == ["", ""]
    hasty, patient = watches
    assert [hasty.look() for _ in range(3)] == ["", "", there], "one miss proves nothing"
    assert [patient.look() for _ in range(3)] == ["", "", ""]


def test_the_log_says_which_workers_are_waited_for(monkeypatch, caplog):
    monkeypatch.setattr(peer_watch, "_SECONDS_BETWEEN_REMINDERS", -1.0)
    (address,) = free_addresses(1)
    assert watch_of(address, patience_seconds=60.0).look() == ""
    assert address in caplog.text
