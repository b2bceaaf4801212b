# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of run_squad_v1 and run_squad_v2."""

import dataclasses
import functools
from typing import Optional

from albert.configs import shared_flags
from albert.configs.shared_flags import accepted_flag, data_flag, evaluation_flag, training_flag
from albert.util.flags import flag

_file = functools.partial(data_flag, None, path=True)


@dataclasses.dataclass(frozen=True)
class SquadFlags(shared_flags.ExportFlags, shared_flags.EpochFlags):
    """The flags that both scripts share."""

    train_file: Optional[str] = _file("SQuAD file to train on.")
    predict_file: Optional[str] = _file("SQuAD file to answer, with or without answers.")
    train_feature_file: Optional[str] = _file("Where to cache the features of --train_file.")
    predict_feature_file: Optional[str] = _file("Where to write the features of --predict_file.")
    predict_feature_left_file: Optional[str] = accepted_flag(None)
    do_predict: bool = flag(
        False, "Evaluate every checkpoint in --output_dir, and answer with the best."
    )
    max_seq_length: int = flag(384, "Maximum tokens per input; long paragraphs are split.")
    doc_stride: int = data_flag(
        128, "Tokens from the start of one part of a long paragraph to the next.", lower=1
    )
    max_query_length: int = data_flag(64, "Maximum tokens of a question.", lower=1)
    max_misaligned_answers: float = data_flag(
        0.01, "Stop if a larger fraction of answers is not at answer_start.", lower=0, upper=1
    )
    n_best_size: int = evaluation_flag(
        20, "Answers per question in nbest_predictions.json.", lower=1
    )
    max_answer_length: int = evaluation_flag(30, "Maximum tokens of an answer.", lower=1)


@dataclasses.dataclass(frozen=True)
class SquadV1Flags(SquadFlags):
    """The flags of run_squad_v1."""

    use_einsum: bool = accepted_flag(True)


@dataclasses.dataclass(frozen=True)
class SquadV2Flags(SquadFlags):
    """The flags of run_squad_v2."""

    start_n_top: int = evaluation_flag(5, "Start positions to try per input.", lower=1)
    end_n_top: int = evaluation_flag(5, "End positions to try per start position.", lower=1)
    null_score_diff_threshold: Optional[float] = evaluation_flag(
        None,
        "If the null score is higher, the answer is empty; default: the value with the best F1.",
        lower=float("-inf"),  # refuses NaN
    )
    dropout_prob: float = training_flag(
        0.1, "Dropout of the head that detects empty answers.", lower=0, upper=1
    )
