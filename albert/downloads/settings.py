# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is fetched, within which limits, and the flags of the download scripts."""

import dataclasses
import functools
from typing import NamedTuple, Optional

from albert.util.flags import Settings, flag


class Source(NamedTuple):
    """A published file."""

    url: str
    sha256: Optional[str] = None  # that it must have, if that is known
    size: int = 0  # bytes; 0 if that is not known

    @property
    def name(self) -> str:
        """Returns the file's name on the server."""
        return self.url.rpartition("/")[2]


class Limits(NamedTuple):
    """What a transfer may take."""

    seconds: float = 2 * 3600.0  # all attempts and the pauses between them together
    bytes: int = 4 * 10**9


USUAL_LIMITS = Limits()

_transfer = functools.partial(flag, group="Transfer")


@dataclasses.dataclass(frozen=True)
class TransferFlags(Settings):
    """Where files come from, and what a transfer may take."""

    base_url: Optional[str] = _transfer(None, "Address of a mirror's folder with the files.")
    sha256: Optional[str] = _transfer(None, "Expected SHA-256; of several files comma-separated.")
    time_limit_minutes: float = _transfer(
        USUAL_LIMITS.seconds / 60, "Give up after this time; the next start resumes.", lower=0.001
    )
    size_limit_gb: float = _transfer(
        USUAL_LIMITS.bytes / 1e9, "Refuse files larger than this.", lower=0.001
    )

    @property
    def limits(self) -> Limits:
        """Returns what a transfer may take."""
        return Limits(60 * self.time_limit_minutes, int(1e9 * self.size_limit_gb))
