# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""An HTTP server on this machine that serves files from memory, and misbehaves when told to."""

import contextlib
import http.server
import pathlib
import re
import ssl
import threading
from typing import Dict, NamedTuple, Optional


class Answer(NamedTuple):
    """How the next request is answered."""

    status: Optional[int] = None  # in place of the file
    cut_after: Optional[int] = None  # bytes of the body after which the connection is closed
    headers: Optional[Dict[str, str]] = None  # in place of the usual ones; "" leaves one out
    location: Optional[str] = None  # where the request is sent instead
    range_shift: int = 0  # bytes by which a part begins later than asked for
    drips: bool = False  # after the file, a zero every few milliseconds until the server ends


class FileServer:
    """What is served, and what was asked for."""

    def __init__(self, url):
        self.url = url  # without a slash at the end
        self.files = {}  # by path
        self.etag = '"1"'  # of every file; "" for none
        self.answers = []  # for the next requests; then the usual ones
        self.ranges = []  # the header Range of each request so far
        self.logins = []  # the header Authorization of each request
        self.is_closed = threading.Event()


class _Handler(http.server.BaseHTTPRequestHandler):
    state: FileServer

    def log_message(self, *_):
        """Tests do not want to see requests."""

    def do_GET(self):  # noqa: N802
        state = self.state
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
            while answer.drips and not state.is_closed.wait(0.01):
                self.wfile.write(bytes(4096))

    def _start(self, status, headers):
        self.send_response(status)
        for name, value in headers.items():
            if value:
                self.send_header(name, value)
        self.end_headers()


# Key and certificate of 127.0.0.1, which no client trusts unasked.
CERTIFICATE = str(pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "localhost.pem")


@contextlib.contextmanager
def serving(*, is_https=False):
    """Yields a running server."""
    handler = type("Handler", (_Handler,), {})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if is_https:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    scheme = "https" if is_https else "http"
    handler.state = FileServer(f"{scheme}://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield handler.state
    finally:
        handler.state.is_closed.set()
        server.shutdown()
        server.server_close()
        thread.join()
