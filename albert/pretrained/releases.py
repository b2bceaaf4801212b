# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The released models by name; TensorFlow is not needed to find one."""

import re
from typing import NamedTuple

from albert.pretrained.settings import SPM_MODEL_NAME
from albert.util import wording
from albert.util.errors import UserError

CHINESE_VOCAB_NAME = "vocab_chinese.txt"


class Release(NamedTuple):
    """A published model."""

    name: str  # such as base_v2
    archive: str  # the published file
    folder: str  # in the cache: Google's archives unpack to it
    vocabulary: str  # file in it
    is_albert_zh: bool = False  # and not Google's

    @property
    def bare_name(self) -> str:
        """Returns the name without "albert_"."""
        return re.sub("^albert_", "", self.name)


RELEASES = {
    release.name: release
    for release in (
        *(
            Release(
                f"{size}_{version}",
                f"albert_{size}_{version}.tar.gz",
                f"albert_{size}",
                CHINESE_VOCAB_NAME if version == "zh" else SPM_MODEL_NAME,
            )
            for version in ("v1", "v2", "zh")
            for size in ("base", "large", "xlarge", "xxlarge")
        ),
        *(
            Release(
                f"albert_zh_{size}", f"albert_{size}_zh.zip", f"albert_zh_{size}", "vocab.txt", True
            )
            for size in ("base", "large", "xlarge")
        ),
    )
}


def find_release(name: str) -> Release:
    """Returns a release: base_v2, albert_base_v2 or albert_base_v2.tar.gz; albert_zh_base.

    Raises:
      UserError: there is none of this name; the message has the nearest, and all.
    """
    wanted = name.strip().lower()
    for release in RELEASES.values():
        if wanted in (release.name, f"albert_{release.name}", release.archive):
            return release
    hint = wording.did_you_mean(re.sub("^albert_(?!zh)", "", wanted), RELEASES, cutoff=0.6)
    raise UserError(f"There is no released model {name!r}.{hint} Names: {', '.join(RELEASES)}.")
