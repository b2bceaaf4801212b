# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Installs pip into the Python that runs it, from PyPI.

Debian's and Ubuntu's Python can make virtual environments, but has no pip to put into them.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

_INDEX = "https://pypi.org/pypi/pip/json"
_SECONDS = 60


def _read(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=_SECONDS) as answer:
        if not answer.geturl().startswith("https://"):
            raise ValueError(f"it leads to {answer.geturl()}")
        return answer.read()


def main() -> None:
    """Downloads pip's wheel, compares its checksum, and lets it install itself."""
    try:
        files = json.loads(_read(_INDEX).decode())["urls"]
        wheel = next(file for file in files if file["packagetype"] == "bdist_wheel")
        content = _read(urllib.parse.urljoin(_INDEX, wheel["url"]))
    except (OSError, ValueError, LookupError, StopIteration) as error:
        sys.exit(f"ERROR: pip could not be fetched from {_INDEX}: {error!r}.")
    if hashlib.sha256(content).hexdigest() != wheel["digests"]["sha256"]:
        sys.exit(f"ERROR: {wheel['url']} does not have the checksum that {_INDEX} states.")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, wheel["filename"])
        with open(path, "wb") as stream:
            stream.write(content)
        # A wheel is an archive that Python can run from.
        command = [sys.executable, os.path.join(path, "pip"), "install", "--quiet", "--no-index"]
        sys.exit(subprocess.run([*command, path]).returncode)


if __name__ == "__main__":
    main()
