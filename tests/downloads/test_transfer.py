# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Transfers over HTTP from a server on this machine."""

import base64

import numpy as np
import pytest

from albert.downloads import transfer, verified_cache
from albert.downloads.flags import TransferFlags
from albert.util import UserError
from tests.support import file_server
from tests.support.file_server import Answer

CONTENT = np.random.RandomState(0).bytes(700001)
OTHER = CONTENT[::-1]
CHUNK = transfer.CHUNK_BYTES
CUT = Answer(cut_after=4 * CHUNK)
LONGER = {"Content-Length": "9000000"}
SLOW = {"drips": True, "headers": LONGER}
SILENT = {"waits": True, "headers": LONGER}
OTHER_FILE = f"bytes {4 * CHUNK}-700000/700002"


def ranges_from(chunks):
    return [f"bytes={n * CHUNK}-" if n else None for n in chunks]


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(transfer, "PAUSES", [0, 0, 0])
    with file_server.serving() as state:
        state.files["/model"] = CONTENT
        yield state


@pytest.fixture
def fetch(server, tmp_path):
    """Fetches the file into `fetch.path`."""

    def run(url="", **limits):
        flags = TransferFlags(**limits)
        transfer.fetch(url or f"{server.url}/model", str(run.path), flags)
        return run.path.read_bytes()

    run.path = tmp_path / "file"
    return run


def test_fetch_uses_a_login_and_does_not_show_it(server, tmp_path, caplog):
    caplog.set_level("DEBUG", "albert")
    shown = []
    for name in ("nothing", "model"):
        source = verified_cache.Source(server.url.replace("//", "//me:p@ssword@") + f"/{name}")
        server.answers = [CUT] if name == "model" else []
        try:
            verified_cache.obtain(f"{tmp_path}/{name}", [source], lambda paths, folder: None)
        except ValueError as error:
            shown.append(str(error))
    shown += [path.read_text("utf-8") for path in tmp_path.glob("*.json")] + caplog.messages
    assert "ssword" not in str(shown)
    assert sum(server.url in text for text in shown) >= 4
    login = base64.b64encode(b"me:p@ssword").decode("ascii")
    assert server.logins == [f"Basic {login}"] * 3


@pytest.mark.parametrize(
    "etag, answers, chunks",
    [
        ('"1"', [], [0]),
        ('"1"', [CUT, Answer(cut_after=CHUNK), Answer(status=503)], [0, 4, 5, 5]),
        # A weak tag does not promise the same bytes.
        ('W/"1"', [CUT], [0, 0]),
        ('"1"', [Answer(headers={"Content-Length": ""})], [0]),
        # Another part than asked for, and one of another file.
        ('"1"', [CUT, Answer(range_shift=CHUNK)], [0, 4, 0]),
        ('"1"', [CUT, Answer(headers={"Content-Range": OTHER_FILE})], [0, 4, 0]),
    ],
)
def test_fetch_resumes_a_cut_transfer(fetch, server, etag, answers, chunks):
    server.etag, server.answers = etag, list(answers)
    assert fetch() == CONTENT
    assert server.ranges == ranges_from(chunks)


@pytest.mark.parametrize(
    "etag, name, content, chunks",
    [
        ('"1"', "model", CONTENT, [4]),
        ('"1"', "other", OTHER, [0]),
        ('"1"', "model", CONTENT[:200000], [4, 0]),
        ('"2"', "model", OTHER, [4]),
        ("", "model", OTHER, [0]),  # a server without versions
    ],
)
def test_fetch_resumes_an_earlier_process(fetch, server, etag, name, content, chunks):
    server.etag, server.answers = etag and '"1"', [CUT] + [Answer(cut_after=0)] * 4
    with pytest.raises(ConnectionError, match="broken"):
        fetch()
    server.etag, server.answers, server.ranges = etag, [], []
    server.files[f"/{name}"] = content
    assert fetch(f"{server.url}/{name}") == content
    assert server.ranges == ranges_from(chunks)


@pytest.mark.parametrize(
    "answer, limits, kind, words",
    [
        ({"status": 404}, {}, UserError, "404"),
        ({"status": 503}, {}, ConnectionError, "503"),
        ({"location": "/model"}, {}, UserError, "redirects"),
        ({"headers": {"Content-Length": ""}}, {"size_limit_gb": 5e-4}, UserError, "0.0005 GB"),
        (SLOW, {"time_limit_minutes": 0.5 / 60}, ConnectionError, "--time_limit_minutes"),
        (SILENT, {"time_limit_minutes": 0.5 / 60}, ConnectionError, "--time_limit_minutes"),
    ],
)
def test_fetch_names_the_address_and_the_reason(fetch, server, answer, limits, kind, words):
    server.answers = [Answer(**answer)] * 40
    with pytest.raises(kind, match=f"{server.url}/model.*{words}") as error:
        fetch(**limits)
    assert isinstance(error.value, UserError)
    assert len(server.ranges) == {"redirects": 31, "503": 4}.get(words, 1)


def test_fetch_from_an_unreachable_server(fetch, server, monkeypatch):
    with file_server.serving() as state:
        state.files["/x"], state.answers = CONTENT, [CUT] + [Answer(cut_after=0)] * 3
        url = f"{state.url}/x"
        with pytest.raises(transfer.UnreachableError, match="broken"):
            fetch(url)
    for pause in (0, "none: it does not try again"):
        monkeypatch.setattr(transfer, "PAUSES", [pause])
        with pytest.raises(transfer.UnreachableError, match="refused"):
            fetch(url)
        transfer.discard(str(fetch.path))


@pytest.mark.parametrize("is_first", [True, False])
def test_fetch_never_follows_https_to_http(fetch, server, monkeypatch, is_first):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", file_server.CERTIFICATE)
    with file_server.serving(is_https=True) as safe:
        safe.files["/model"] = CONTENT
        safe.answers = [Answer(location=f"{server.url}/model")]
        if not is_first:  # by way of another https address
            safe.answers.insert(0, Answer(location=f"{safe.url}/elsewhere"))
        with pytest.raises(ValueError, match=f"{server.url}/model"):
            fetch(f"{safe.url}/model")
        assert server.ranges == [] and not fetch.path.exists()
        safe.answers = [Answer(location=f"{safe.url}/model")]
        assert fetch(f"{safe.url}/a") == CONTENT
