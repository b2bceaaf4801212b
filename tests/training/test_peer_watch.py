# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The roll-call of processes that train together, and what they do when one has gone."""

import concurrent.futures
import contextlib
import json
import socket
import threading

import pytest

from albert.training import peer_watch
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
        killed.sendall(b'{"index": 2, "number": 1}\n')
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


@pytest.mark.parametrize("index, other", [(0, 1), (1, 0)])
def test_workers_that_do_not_begin_at_one_step_stop(monkeypatch, tmp_path, index, other):
    """As where --output_dir is not shared; TensorFlow's would wait for each other for ever."""
    addresses = free_addresses(2)
    task = {"type": "worker", "index": index}
    cluster = {"cluster": {"worker": addresses}, "task": task}
    monkeypatch.setenv("TF_CONFIG", json.dumps(cluster))
    one_weight.save(tmp_path, 300)
    calls = others_call(addresses, {other: 0})
    with pytest.raises(ValueError, match="--output_dir") as error:
        one_weight.train(tmp_path, "--distribution_strategy=multi_worker", max_steps=300)
    assert "300" in str(error.value) and all(name in str(error.value) for name in addresses)
    assert sorted(calls[0].result(60)) == [0, 300]
    others_call(addresses, {other: 300})
    flag = "--distribution_strategy=multi_worker"
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
    never = "localhost:1"
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
    assert watch_of("localhost:1", patience_seconds=60.0).look() == ""
    assert "localhost:1" in caplog.text
