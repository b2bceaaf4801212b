# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Settings of the whole test suite."""

import logging
import os

import pytest

# Before any test imports TensorFlow: where TensorFlow 1.15 is loaded first, SentencePiece crashes
# when it draws random numbers (sampling, training).
import sentencepiece  # noqa: F401

# TensorFlow's start-up notices would bury what a failing test prints.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


@pytest.fixture(autouse=True)
def _untouched_logging():
    """Scripts that tests start in-process set up the project's log; each test begins without."""
    logger = logging.getLogger("albert")
    logger.handlers[:], logger.propagate = [], True
    logger.setLevel(logging.NOTSET)
