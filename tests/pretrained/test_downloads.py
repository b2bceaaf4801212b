# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Transfers over HTTP: cut, resumed, changed on the way; against a server on this machine."""

import base64
import hashlib
import os

import numpy as np
import pytest

from albert.pretrained import downloads
from tests.support import file_server
from tests.support.file_server import Answer

CONTENT = np.random.RandomState(0).bytes(700001)
CHUNK = downloads._CHUNK_BYTES
SHA256 = hashlib.sha256(CONTENT).hexdigest()


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

    def run(name="model"):
        return downloads.fetch(f"{server.url}/{name}", run.path, name=name, wait=run.waits.append)

    run.path = str(tmp_path / "file")
    run.waits = []
    return run


def content_of(path):
    with open(path, "rb") as stream:
        return stream.read()


def test_a_file_arrives_with_its_checksum(fetch, server):
    assert fetch() == downloads.Fetched(len(CONTENT), SHA256)
    assert content_of(fetch.path) == CONTENT
    assert server.ranges == [None] and fetch.waits == []


def test_a_cut_connection_goes_on_where_it_stopped(fetch, server):
    server.answers = [Answer(cut_after=4 * CHUNK), Answer(cut_after=2 * CHUNK)]
    assert fetch().sha256 == SHA256
    assert server.ranges == [None, f"bytes={4 * CHUNK}-", f"bytes={6 * CHUNK}-"]
    assert fetch.waits == [1.0, 1.0]  # each attempt brought something


def test_another_process_goes_on_where_the_first_one_stopped(fetch, server):
    server.answers = [Answer(cut_after=CHUNK)] + [Answer(cut_after=0)] * 20
    with pytest.raises(ConnectionError, match="0.1 MB have arrived and are kept"):
        fetch()
    assert fetch.waits == [1.0, 2.0, 4.0, 8.0]
    assert os.path.getsize(fetch.path) == CHUNK
    server.answers, server.ranges = [], []
    assert fetch().sha256 == SHA256
    assert server.ranges == [f"bytes={CHUNK}-"]


def test_what_has_arrived_whole_is_not_asked_for_again(fetch, server):
    fetch()
    server.ranges = []
    assert fetch().sha256 == SHA256
    assert server.ranges == []


@pytest.mark.parametrize("etag", ['"1"', "", 'W/"1"'])
def test_another_version_of_the_file_is_fetched_from_its_beginning(fetch, server, etag):
    """Without a strong mark nobody knows whether it is the same version."""
    server.etag = etag
    server.answers = [Answer(cut_after=4 * CHUNK)]
    wait = fetch.waits.append

    def change(seconds):
        wait(seconds)
        server.files["/model"] = CONTENT[::-1]
        server.etag = etag and etag.replace("1", "2")

    downloads.fetch(f"{server.url}/model", fetch.path, name="model", wait=change)
    assert content_of(fetch.path) == CONTENT[::-1]


def test_the_date_marks_a_version_where_there_is_no_etag(fetch, server):
    date = "Wed, 21 Oct 2020 07:28:00 GMT"
    dated = Answer(headers={"Last-Modified": date}, without=("ETag",), cut_after=CHUNK)
    server.etag = date
    server.answers = [dated]
    assert fetch().sha256 == SHA256
    assert server.ranges == [None, f"bytes={CHUNK}-"]


def test_a_server_that_knows_no_ranges_sends_the_file_again(fetch, server):
    server.answers = [Answer(cut_after=4 * CHUNK), Answer(headers={})]
    server.etag = ""
    assert fetch().sha256 == SHA256


def test_a_part_that_begins_elsewhere_is_not_appended(fetch, server):
    server.answers = [Answer(cut_after=4 * CHUNK), Answer(range_shift=7)]
    assert fetch().sha256 == SHA256
    assert server.ranges == [None, f"bytes={4 * CHUNK}-", None]


def test_a_file_that_became_shorter_is_fetched_from_its_beginning(fetch, server):
    server.answers = [Answer(cut_after=4 * CHUNK)] + [Answer(cut_after=0)] * 4
    with pytest.raises(ConnectionError):
        fetch()
    server.files["/model"] = CONTENT[:200000]
    assert fetch().size == 200000


def test_a_file_of_unknown_length_arrives(fetch, server):
    server.answers = [Answer(without=("Content-Length",))]
    assert fetch().sha256 == SHA256


def test_an_overloaded_server_is_asked_again(fetch, server):
    server.answers = [Answer(status=503), Answer(status=429)]
    assert fetch().sha256 == SHA256
    assert fetch.waits == [1.0, 2.0]


def test_a_missing_file_is_not_asked_for_again(fetch, server):
    with pytest.raises(ValueError, match="answered 404 Not Found. Check the address"):
        fetch("nothing")
    assert fetch.waits == [] and not os.path.exists(fetch.path)


def test_without_a_network_the_reason_and_what_to_do_are_said(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with file_server.serving() as state:
        closed = state.url
    waits = []
    with pytest.raises(ConnectionError, match="in 5 attempts.*refused.*HTTPS_PROXY.*to go on"):
        downloads.fetch(f"{closed}/x", str(tmp_path / "x"), name="x", wait=waits.append)
    assert waits == [1.0, 2.0, 4.0, 8.0]


def test_what_the_server_says_of_the_content_is_checked(fetch, server):
    digest = base64.b64encode(hashlib.md5(CONTENT).digest()).decode("ascii")
    told = {"x-goog-hash": f"crc32c=AAAAAA==,md5={digest}"}
    server.answers = [Answer(headers=told)]
    assert fetch().sha256 == SHA256
    downloads.discard(fetch.path)
    server.answers = [Answer(headers=told)]
    server.files["/model"] = CONTENT[:-1] + b"?"
    with pytest.raises(ValueError, match="is not what the server sent.*It was removed"):
        fetch()
    assert not os.path.exists(fetch.path)


def test_a_damaged_note_on_the_transfer_begins_it_anew(fetch, server, caplog):
    server.answers = [Answer(cut_after=4 * CHUNK)] + [Answer(cut_after=0)] * 4
    with pytest.raises(ConnectionError):
        fetch()
    with open(f"{fetch.path}.json", "w", encoding="utf-8") as stream:
        stream.write("{")
    server.ranges = []
    assert fetch().sha256 == SHA256
    assert server.ranges == [None] and "is unreadable" in caplog.text


def test_what_arrived_from_another_address_is_not_gone_on_with(fetch, server):
    server.files["/other"] = CONTENT[::-1]
    server.answers = [Answer(cut_after=4 * CHUNK)] + [Answer(cut_after=0)] * 4
    with pytest.raises(ConnectionError):
        fetch()
    server.ranges = []
    fetch("other")
    assert content_of(fetch.path) == CONTENT[::-1] and server.ranges == [None]


def test_progress_counts_what_had_arrived_before(fetch, server, monkeypatch):
    counted = []
    bar = downloads.progress.Progress
    monkeypatch.setattr(bar, "skip", lambda _, units: counted.append(("skip", units)))
    monkeypatch.setattr(bar, "update", lambda _, units, note: counted.append(("update", units)))
    server.answers = [Answer(cut_after=4 * CHUNK)]
    fetch()
    skipped = [units for kind, units in counted if kind == "skip"]
    assert skipped == [0.0, 4 * CHUNK / 1e6]
    assert sum(units for kind, units in counted if kind == "update") == pytest.approx(0.700001)


# ---------------------------------------------------------------------------------------------
# Servers, and people on the same machine, that mean no good.


def limited(fetch, server, **limits):
    limits = downloads.USUAL_LIMITS._replace(**limits)
    url = f"{server.url}/model"
    return downloads.fetch(url, fetch.path, name="model", limits=limits, wait=fetch.waits.append)


@pytest.mark.parametrize("is_first", [True, False])
def test_https_never_leads_to_http(fetch, server, monkeypatch, is_first):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", file_server.CERTIFICATE)
    with file_server.serving(is_https=True) as safe:
        safe.files["/model"] = CONTENT
        target = f"{server.url}/model"
        safe.answers = [Answer(location=target)]
        if not is_first:  # by way of another https address
            safe.answers.insert(0, Answer(location=f"{safe.url}/elsewhere"))
        with pytest.raises(ValueError, match=f"leads to {target}"):
            downloads.fetch(f"{safe.url}/model", fetch.path, name="x", wait=fetch.waits.append)
        assert server.ranges == [] and not os.path.exists(fetch.path)
        # The same server is followed to other https addresses.
        safe.answers = [Answer(location=f"{safe.url}/model")]
        fetched = downloads.fetch(f"{safe.url}/a", fetch.path, name="x", wait=fetch.waits.append)
        assert fetched.sha256 == SHA256


def test_a_server_that_drips_is_given_up_when_the_time_is_over(fetch, server):
    server.answers = [Answer(drips=True, headers={"Content-Length": "900000"})]
    with pytest.raises(ConnectionError, match="within 0.02 minutes"):
        limited(fetch, server, seconds=1.2)
    assert fetch.waits == [] and os.path.getsize(fetch.path) >= 10 * CHUNK
    server.files["/model"] = CONTENT[:3]  # at least here it arrives
    downloads.discard(fetch.path)
    assert limited(fetch, server, seconds=60).size == 3


@pytest.mark.parametrize("tells", [True, False])
def test_a_file_that_is_too_large_is_given_up(fetch, server, tells):
    server.answers = [Answer(floods=True, headers={"Content-Length": str(10**12)})]
    if not tells:
        server.answers = [Answer(floods=True, without=("Content-Length",))]
    with pytest.raises(ValueError, match="larger than 0.001 GB"):
        limited(fetch, server, bytes=10**6)
    assert fetch.waits == [] and not os.path.exists(fetch.path)


@pytest.mark.parametrize("ending", ["", ".json"])
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_nothing_is_written_through_a_link_that_was_put_in_place(fetch, tmp_path, link, ending):
    other = tmp_path / "other"
    other.write_text("precious", encoding="utf-8")
    link(str(other), fetch.path + ending)
    assert fetch().sha256 == SHA256
    assert other.read_text(encoding="utf-8") == "precious"
    assert not os.path.islink(fetch.path)
