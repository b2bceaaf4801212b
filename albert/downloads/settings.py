# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of the download scripts, as typed settings."""

import dataclasses
from typing import NamedTuple, Optional

from absl import flags

from albert.util import flags as flags_lib


class Limits(NamedTuple):
    """What a transfer may take."""

    seconds: float = 2 * 3600.0  # all attempts and the pauses between them together
    bytes: int = 4 * 10**9
    advice: str = ""  # what messages say of flags for another server or other limits


USUAL_LIMITS = Limits()
_ADVICE = " --base_url names another server and folder; --size_limit_gb allows larger files."


@dataclasses.dataclass(frozen=True)
class TransferSettings(flags_lib.Settings):
    """The flags of define_transfer_flags."""

    base_url: Optional[str]
    sha256: Optional[str]
    time_limit_minutes: float
    size_limit_gb: float

    @property
    def limits(self) -> Limits:
        """Returns what a transfer may take."""
        return Limits(60 * self.time_limit_minutes, int(1e9 * self.size_limit_gb), _ADVICE)


def define_transfer_flags(flag_values: flags.FlagValues, *, base_url: str):
    """Defines the flags of both download scripts; `base_url` is the help of the flag so called."""
    flags_lib.string(flag_values, "base_url", None, help=base_url)
    flags_lib.string(
        flag_values,
        "sha256",
        None,
        help="SHA-256 that the file must have, if you know it; of several files, with commas "
        "between them. That of the first download is recorded, and every later one must have the "
        "same.",
    )
    flags_lib.floating(
        flag_values,
        "time_limit_minutes",
        USUAL_LIMITS.seconds / 60,
        lower_bound=0.001,
        help="Give up after so long; what has arrived is kept for the next start.",
    )
    flags_lib.floating(
        flag_values,
        "size_limit_gb",
        USUAL_LIMITS.bytes / 1e9,
        lower_bound=0.001,
        help="Refuse a file of more than this.",
    )
