# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Settings of the whole test suite."""

import functools
import logging
import os

import pytest

# Before any test imports TensorFlow: where TensorFlow 1.15 is loaded first, SentencePiece crashes
# when it draws random numbers (sampling, training).
import sentencepiece  # noqa: F401

# Once a test has run a Beam pipeline, gRPC would restart its threads in each forked worker of later
# tests, and crash there.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
# TensorFlow's start-up notices would bury what a failing test prints.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


@pytest.fixture(autouse=True)
def _untouched_logging():
    """Scripts that tests start in-process set up the project's log; each test begins without."""
    logger = logging.getLogger("albert")
    logger.handlers[:], logger.propagate = [], True
    logger.setLevel(logging.NOTSET)


@pytest.fixture(scope="session")
def training_data(tmp_path_factory):
    """The folder with the data of all scripts that train, which tests only read."""
    from tests.support import training_scripts  # which takes seconds to import

    return training_scripts.write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def trained(training_data, tmp_path_factory):
    """Script -> folder and outcome of one short training, which tests only read."""
    from tests.support import training_scripts

    @functools.lru_cache(maxsize=None)
    def train(name):
        folder, phases = tmp_path_factory.mktemp(name), training_scripts.SCRIPTS[name].phases
        return folder, training_scripts.run(name, training_data, folder, phases)

    return train


def pytest_addoption(parser):
    """Tests of more than a second run when they are asked for, by option or by name."""
    parser.addoption("--slow", action="store_true", help="run the tests marked slow as well")


def pytest_collection_modifyitems(config, items):
    if config.option.slow or any("::" in argument for argument in config.args):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)


def pytest_terminal_summary(terminalreporter):
    for report in terminalreporter.stats.get("skipped", []):  # one line for each reason
        report.longrepr = ("tests", None, report.longrepr[2])
    if not terminalreporter.config.option.slow:
        terminalreporter.write_line("Slow tests that are not named are left out: --slow runs them.")
