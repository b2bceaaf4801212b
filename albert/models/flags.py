# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The released models by name, and the flags of scripts that read texts.

This module does not import TensorFlow.
"""

import dataclasses
import os
from typing import NamedTuple, Optional

from albert.configs.shared_flags import PRECISIONS, data_flag, output_flag, speed_flag
from albert.formats.flags import SPM_MODEL_NAME
from albert.util import UserError, wording
from albert.util.flags import BaseFlags, describe

BASE_URL = "https://storage.googleapis.com/albert_models"  # Google's models
ALBERT_ZH_URL = "https://storage.googleapis.com/albert_zh"  # models of albert_zh
CACHE_DIR = "~/.cache/albert"
POOLINGS = ("pooled", "mean", "first")
LAST_LAYER = -1


@dataclasses.dataclass(frozen=True)
class TextFlags(BaseFlags):
    """The flags for the input texts and the output."""

    input_file: str = data_flag("-", "Texts, one per line; - is standard input.", path=True)
    columns: Optional[str] = data_flag(
        None, "Column or JSON field of the text, or of both texts, comma-separated."
    )
    output_file: str = output_flag("-", "File to write; - is standard output.", path=True)
    batch_size: int = speed_flag(32, "Texts per batch.", lower=1)
    precision: str = speed_flag("float32", "Number format of activations.", choices=PRECISIONS)

    def check(self) -> None:
        """Checks that --output_file is no input file."""
        super().check()
        output = os.path.realpath(self.output_file)
        inputs = {
            os.path.realpath(str(getattr(self, name)))
            for name, options in describe(type(self)).items()
            if options.get("path") and name != "output_file"
        }
        if self.output_file != "-" and output in inputs:
            raise UserError(f"--output_file={self.output_file} is read too. Write to another file.")


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
