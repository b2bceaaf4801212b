# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of run_tagger."""

import dataclasses
from typing import Optional

from albert.configs import shared_flags
from albert.configs.shared_flags import data_flag, evaluation_flag
from albert.tasks.tagging import schemes
from albert.util.flags import flag


@dataclasses.dataclass(frozen=True)
class TaggerFlags(shared_flags.ExportFlags, shared_flags.SplitFileFlags):
    """The flags of run_tagger."""

    train_file: Optional[str] = flag(
        None,
        "CoNLL, JSON lines or Parquet file in --data_dir to train on; default: files named train.",
    )
    token_column: int = data_flag(
        0, "Column of the token in CoNLL files, from 0; -1 is the last.", lower=-1
    )
    tag_column: int = data_flag(
        -1, "Column of the tag in CoNLL files, from 0; -1 is the last.", lower=-1
    )
    tag_scheme: Optional[str] = data_flag(
        None, "How tags mark entities; default: detect.", choices=schemes.SCHEME_NAMES
    )
    valid_tags: bool = evaluation_flag(
        True, "Predict only valid sequences of tags, unless the training data often have others."
    )
    max_seq_length: int = flag(128)
