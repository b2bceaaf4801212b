# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of run_tagger."""

import dataclasses
import functools

from albert.configs import flags as shared
from albert.util.flags import flag

_data = functools.partial(flag, group="Data")


@dataclasses.dataclass(frozen=True)
class TaggerFlags(shared.TaskFlags):
    """The flags of run_tagger."""

    data_dir: str = _data(
        None, "Folder with a train, a dev and a test file.", path=True, required=True
    )
    token_column: int = _data(
        0, "Column of the token in CoNLL files, from 0; -1 is the last.", lower=-1
    )
    tag_column: int = _data(
        -1, "Column of the tag in CoNLL files, from 0; -1 is the last.", lower=-1
    )
    max_seq_length: int = flag(128)
    num_train_epochs: float = flag(3.0)
    warmup_proportion: float = flag(0.1)
    keep_checkpoint_max: int = shared.keep_checkpoint_max()
    export_dir: str = flag(
        None, "Export the best checkpoint into this folder.", path=True, group="Output"
    )
