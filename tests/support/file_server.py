# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""An HTTP server on this machine that serves files from memory, and misbehaves when told to."""

import contextlib
import http.server
import os
import re
import select
import ssl
import threading
from typing import Dict, NamedTuple, Optional
from unittest import mock

from tests.support import FIXTURES


class Answer(NamedTuple):
    """How the next request is answered."""

    status: Optional[int] = None  # in place of the file
    cut_after: Optional[int] = None  # bytes of the body after which the connection is closed
    headers: Optional[Dict[str, str]] = None  # in place of the usual ones; "" leaves one out
    location: Optional[str] = None  # where the request is sent instead
    range_shift: int = 0  # bytes by which a part begins later than asked for
    drips: bool = False  # after the file, a zero every few milliseconds until the server ends
    waits: bool = False  # after the file, until the client goes or for ten seconds


# Key and certificate of 127.0.0.1, which no client trusts unasked.
CERTIFICATE = f"{FIXTURES}/localhost.pem"


class FileServer(http.server.ThreadingHTTPServer):
    """What is served, and what was asked for."""

    def __init__(self, scheme):
        super().__init__(("127.0.0.1", 0), _Handler)
        if scheme == "https":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = f"{scheme}://127.0.0.1:{self.server_address[1]}"
        self.files = {}  # by path
        self.etag = '"1"'  # of every file; "" for none
        self.answers = []  # for the next requests; then the usual ones
        self.ranges = []  # the header Range of each request so far
        self.logins = []  # the header Authorization of each request
        self.is_closed = threading.Event()


class _Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        """Tests do not want to see requests."""

    def do_GET(self):  # noqa: N802
        state = self.server
        answer = state.answers.pop(0) if state.answers else Answer()
        asked = self.headers.get("Range")
        state.ranges.append(asked)
        state.logins.append(self.headers.get("Authorization"))
        content = state.files.get(self.path)
        if answer.location:
            self._start(302, {"Location": answer.location, "Content-Length": "0"})
            return
        if answer.status or content is None:
            self.send_error(answer.status or 404)
            return
        is_same = asked and self.headers.get("If-Range") == state.etag
        start = int(re.fullmatch(r"bytes=(\d+)-", asked).group(1)) if is_same else 0
        if start >= len(content):
            self.send_error(416)
            return
        headers = {"Content-Length": str(len(content) - start), "ETag": state.etag}
        if start:
            first = start + answer.range_shift
            headers["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
        self._start(206 if start else 200, {**headers, **(answer.headers or {})})
        self.wfile.write(content[start:][: answer.cut_after])
        with contextlib.suppress(OSError):  # the client has gone
            if answer.waits:
                select.select([self.connection], [], [], 10)
            while answer.drips and not state.is_closed.wait(0.01):
                self.wfile.write(bytes(4096))

    def _start(self, status, headers):
        self.send_response(status)
        for name, value in headers.items():
            if value:
                self.send_header(name, value)
        self.end_headers()


@contextlib.contextmanager
def serving(*, is_https=False):
    """Yields a running server, which is asked without a proxy."""
    environment = mock.patch.dict(os.environ, NO_PROXY="127.0.0.1", no_proxy="127.0.0.1")
    with environment, FileServer("https" if is_https else "http") as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.is_closed.set()
            server.shutdown()
            thread.join()
