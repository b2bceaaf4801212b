# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of the download scripts, and the description of a published file."""

import dataclasses
import functools
from typing import NamedTuple, Optional

from albert.util.flags import BaseFlags, flag


class Source(NamedTuple):
    """A published file."""

    url: str
    sha256: Optional[str] = None  # the file's SHA-256; None if unknown
    size: int = 0  # bytes; 0 if unknown

    @property
    def name(self) -> str:
        """Returns the file's name on the server."""
        return self.url.rpartition("/")[2]


_transfer = functools.partial(flag, group="Transfer")


@dataclasses.dataclass(frozen=True)
class TransferFlags(BaseFlags):
    """The flags for the source and the limits of a download."""

    base_url: Optional[str] = _transfer(None, "URL of a mirror's folder with the same files.")
    sha256: Optional[str] = _transfer(None, "Expected SHA-256 of each file, comma-separated.")
    time_limit_minutes: float = _transfer(
        120.0, "Stop after this time; run the command again to resume.", lower=0.001
    )
    size_limit_gb: float = _transfer(4.0, "Refuse files larger than this.", lower=0.001)


USUAL = TransferFlags()
