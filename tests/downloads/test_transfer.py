# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Transfers over HTTP from a server on this machine."""

import base64
import hashlib
import os
import pathlib
import socket

import numpy as np
import pytest

from albert.downloads import cache, transfer
from tests.support import file_server
from tests.support.file_server import Answer

CONTENT = np.random.RandomState(0).bytes(700001)
CHUNK = transfer.CHUNK_BYTES
SHA256 = hashlib.sha256(CONTENT).hexdigest()
# The first answer brings something, the others nothing: the transfer is given up.
CUT_FOR_GOOD = [Answer(cut_after=4 * CHUNK)] + [Answer(cut_after=0)] * 4
DATE = "Wed, 21 Oct 2020 07:28:00 GMT"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with file_server.serving() as state:
        state.files["/model"] = CONTENT
        yield state


@pytest.fixture
def fetch(server, tmp_path):
    """Fetches the file into `fetch.path`; `fetch.waits` has the pauses between attempts."""

    def run(url="", **limits):
        limits = transfer.USUAL_LIMITS._replace(**limits)
        url = url or f"{server.url}/model"
        return transfer.fetch(url, str(run.path), limits=limits, wait=run.waits.append)

    run.path = tmp_path / "file"
    run.waits = []
    return run


def test_a_login_in_the_address_is_used_and_not_shown(server, tmp_path, caplog):
    caplog.set_level("DEBUG", "albert")
    shown = []
    for name in ("nothing", "model"):
        source = cache.Source(server.url.replace("//", "//me:p@ssword@") + f"/{name}")
        server.answers = [Answer(status=503)]
        options = {"make": lambda paths, folder: None, "wait": lambda seconds: None}
        try:
            cache.obtain(str(tmp_path / name), [source], **options)
        except ValueError as error:
            shown.append(str(error))
    shown += [path.read_text("utf-8") for path in tmp_path.glob("*.json")] + caplog.messages
    assert "ssword" not in str(shown)
    assert sum(server.url in text for text in shown) >= 4
    login = base64.b64encode(b"me:p@ssword").decode("ascii")
    assert server.logins == [f"Basic {login}"] * 4


def test_a_file_arrives_once_with_its_checksum(fetch, server):
    for _ in range(2):
        assert fetch() == transfer.Fetched(len(CONTENT), SHA256)
    assert fetch.path.read_bytes() == CONTENT
    assert server.ranges == [None] and fetch.waits == []


@pytest.mark.parametrize(
    "etag, answers, asked",
    [
        # Each attempt brings something, so the pauses do not grow.
        (
            '"1"',
            [Answer(cut_after=4 * CHUNK), Answer(cut_after=2 * CHUNK)],
            [None, f"bytes={4 * CHUNK}-", f"bytes={6 * CHUNK}-"],
        ),
        # The date names the version.
        (
            DATE,
            [Answer(headers={"Last-Modified": DATE, "ETag": ""}, cut_after=CHUNK)],
            [None, f"bytes={CHUNK}-"],
        ),
        # A weak tag does not promise the same bytes.
        ('W/"1"', [Answer(cut_after=CHUNK)], [None, None]),
        ('"1"', [Answer(headers={"Content-Length": ""})], [None]),
        ('"1"', [Answer(headers={"Content-Length": "\xc2\xb2", "x-goog-hash": "md5=AAA"})], [None]),
        ('"1"', [Answer(headers={"Content-Length": "-5"})], [None]),
        ('"1"', [Answer(headers={"Content-Length": "9" * 5000})], [None]),
        ('"1"', [Answer(status=503), Answer(status=429)], [None, None, None]),
    ],
    ids=["cut", "date", "weak tag", "unknown length", "odd", "negative", "long", "overloaded"],
)
def test_a_transfer_goes_on_where_it_stopped(fetch, server, etag, answers, asked):
    server.etag, server.answers = etag, list(answers)
    assert fetch().sha256 == SHA256
    assert server.ranges == asked
    if etag == '"1"' and len(answers) == 2 and answers[0].cut_after:
        assert fetch.waits == [1.0, 1.0]


@pytest.mark.parametrize("change", ["nothing", "address", "metadata", "shorter"])
def test_another_process_goes_on_if_the_file_is_the_same(fetch, server, change):
    server.answers = list(CUT_FOR_GOOD)
    with pytest.raises(ConnectionError):
        fetch()
    assert fetch.waits == [1.0, 2.0, 4.0, 8.0][: len(fetch.waits)]
    assert fetch.path.stat().st_size == 4 * CHUNK
    server.files["/other"], server.answers, server.ranges = CONTENT[::-1], [], []
    expected, url = CONTENT, ""
    if change == "address":
        expected, url = CONTENT[::-1], f"{server.url}/other"
    elif change == "metadata":
        pathlib.Path(f"{fetch.path}.json").write_text("{", encoding="utf-8")
    elif change == "shorter":
        expected = server.files["/model"] = CONTENT[:200000]
    fetch(url)
    assert fetch.path.read_bytes() == expected
    is_resumed = change in ("nothing", "shorter")
    assert server.ranges[0] == (f"bytes={4 * CHUNK}-" if is_resumed else None)


@pytest.mark.parametrize("etag", ['"1"', ""])
def test_another_version_of_the_file_is_fetched_from_its_beginning(fetch, server, etag):
    server.etag, server.answers = etag, [Answer(cut_after=4 * CHUNK)]

    def change(_):
        server.files["/model"] = CONTENT[::-1]
        server.etag = etag.replace("1", "2")

    transfer.fetch(f"{server.url}/model", str(fetch.path), wait=change)
    assert fetch.path.read_bytes() == CONTENT[::-1]


def test_another_part_than_asked_for_is_not_taken(fetch, server):
    other_file = {"Content-Range": f"bytes {4 * CHUNK}-{len(CONTENT) - 1}/{len(CONTENT) + 1}"}
    for answer in (Answer(range_shift=CHUNK), Answer(headers=other_file)):
        transfer.discard(str(fetch.path))
        server.ranges, server.answers = [], [Answer(cut_after=4 * CHUNK), answer]
        fetch()
        assert fetch.path.read_bytes() == CONTENT
        assert server.ranges == [None, f"bytes={4 * CHUNK}-", None]


def test_neither_a_missing_file_nor_an_unreachable_server_is_asked_again(
    fetch, server, monkeypatch
):
    with pytest.raises(ValueError, match="404"):
        fetch(f"{server.url}/nothing")
    assert fetch.waits == [] and not fetch.path.exists()
    with file_server.serving() as state:
        closed = state.url
    with pytest.raises(transfer.UnreachableError, match="refused"):
        fetch(f"{closed}/x")

    def resolve(*_, **__):
        raise socket.gaierror(socket.EAI_AGAIN, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with pytest.raises(transfer.UnreachableError, match="no such name"):
        fetch("https://server.invalid/x")
    assert fetch.waits == []


def test_a_server_that_vanishes_on_the_way_is_asked_again(fetch, server, monkeypatch):
    server.answers = [Answer(cut_after=CHUNK)]
    answers, connect = [True, False, True], socket.socket.connect

    def refuse(self, address):
        if not answers.pop(0):
            raise ConnectionRefusedError
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert fetch().sha256 == SHA256 and len(fetch.waits) == 2


def test_an_answer_that_cannot_be_read_is_one_message(fetch, server):
    for answer in (Answer(location="/model"), Answer(headers={"Content-Encoding": "gzip"})):
        server.answers = [answer] * 40
        with pytest.raises(ValueError, match=f"{server.url}/model"):
            fetch()


@pytest.mark.parametrize("name, allowed", [("model", 5), ("nothing", 10**9)])
def test_flags_are_named_where_there_are_any(fetch, server, name, allowed):
    for advice in ("", " Give --flag."):
        with pytest.raises(ValueError) as error:
            fetch(f"{server.url}/{name}", bytes=allowed, advice=advice)
        assert ("--" in str(error.value)) == bool(advice)


def test_what_the_server_says_of_the_content_is_checked(fetch, server):
    digest = base64.b64encode(hashlib.md5(CONTENT).digest()).decode("ascii")
    answer = Answer(headers={"x-goog-hash": f"crc32c=AAAAAA==,md5={digest}"})
    server.answers = [answer]
    assert fetch().sha256 == SHA256
    transfer.discard(str(fetch.path))
    server.answers, server.files["/model"] = [answer], CONTENT[:-1] + b"?"
    with pytest.raises(ValueError, match="MD5"):
        fetch()
    assert not fetch.path.exists()


@pytest.mark.parametrize("is_first", [True, False])
def test_https_never_leads_to_http(fetch, server, monkeypatch, is_first):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", file_server.CERTIFICATE)
    with file_server.serving(is_https=True) as safe:
        safe.files["/model"] = CONTENT
        target = f"{server.url}/model"
        safe.answers = [Answer(location=target)]
        if not is_first:  # by way of another https address
            safe.answers.insert(0, Answer(location=f"{safe.url}/elsewhere"))
        with pytest.raises(ValueError, match=target):
            fetch(f"{safe.url}/model")
        assert server.ranges == [] and not fetch.path.exists()
        # The same server is followed to other https addresses.
        safe.answers = [Answer(location=f"{safe.url}/model")]
        assert fetch(f"{safe.url}/a").sha256 == SHA256


def test_a_server_that_drips_is_given_up_when_the_time_is_over(fetch, server):
    server.answers = [Answer(drips=True, headers={"Content-Length": "900000"})]
    with pytest.raises(ConnectionError, match="minutes"):
        fetch(seconds=1.2)
    assert fetch.waits == [] and fetch.path.stat().st_size >= 10 * CHUNK


@pytest.mark.parametrize("headers", [{}, {"Content-Length": ""}], ids=["told", "untold"])
def test_a_file_that_is_too_large_is_given_up(fetch, server, headers):
    server.answers = [Answer(headers=headers)]
    with pytest.raises(ValueError, match="0.0005 GB"):
        fetch(bytes=5 * 10**5)
    assert fetch.waits == [] and not fetch.path.exists()


@pytest.mark.parametrize("ending", ["", ".json"])
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_nothing_is_written_through_a_link_that_was_put_in_place(fetch, tmp_path, link, ending):
    other = tmp_path / "other"
    other.write_text("precious", encoding="utf-8")
    link(str(other), f"{fetch.path}{ending}")
    assert fetch().sha256 == SHA256
    assert other.read_text(encoding="utf-8") == "precious"
