# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The released models by name. This module does not import TensorFlow."""

from typing import NamedTuple

from albert.formats.flags import SPM_MODEL_NAME
from albert.util import wording
from albert.util.errors import UserError


class Release(NamedTuple):
    """A published model."""

    name: str  # such as base_v2
    archive: str  # the published file
    folder: str  # name of the unpacked folder
    vocabulary: str  # file in the folder
    is_albert_zh: bool = False  # whether albert_zh published it, not Google


_VOCABULARIES = {"v1": SPM_MODEL_NAME, "v2": SPM_MODEL_NAME, "zh": "vocab_chinese.txt"}
_GOOGLE = [
    Release(f"{size}_{version}", f"albert_{size}_{version}.tar.gz", f"albert_{size}", vocabulary)
    for version, vocabulary in _VOCABULARIES.items()
    for size in ("base", "large", "xlarge", "xxlarge")
]
_ALBERT_ZH = [
    Release(f"albert_zh_{size}", f"albert_{size}_zh.zip", f"albert_zh_{size}", "vocab.txt", True)
    for size in ("base", "large", "xlarge")
]
RELEASES = {release.name: release for release in _GOOGLE + _ALBERT_ZH}


def find_release(name: str) -> Release:
    """Returns a release: base_v2, albert_base_v2 or albert_base_v2.tar.gz; albert_zh_base.

    Raises:
      UserError: the name is unknown. The message lists all names.
    """
    key = name.strip().lower()
    for release in RELEASES.values():
        if key in (release.name, f"albert_{release.name}", release.archive):
            return release
    hint = wording.did_you_mean(name, RELEASES)
    raise UserError(
        f"{name!r} is neither a folder nor a released model.{hint} Names: {', '.join(RELEASES)}."
    )
