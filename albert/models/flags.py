# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""URLs of released models, and the flags of scripts that read texts."""

import dataclasses
import os
from typing import Optional

from albert.configs.flags import (
    PRECISIONS,
    data_flag,
    output_flag,
    speed_flag,
)
from albert.util.errors import UserError
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
        None, "Columns or JSON fields of the text (or of both texts)."
    )
    output_file: str = output_flag("-", "File to write; - is standard output.", path=True)
    predict_batch_size: int = speed_flag(32, "Texts per batch.", lower=1)
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
