# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Programs that set FLAGS and call a script's main, as google-research/albert's own test does."""

import importlib
import sys

import pytest
from absl import flags
from absl.testing import flagsaver

from albert import run_classifier, run_pretraining, run_race
from albert.util import cli
from albert.util import flags as flags_lib
from tests.support import FIXTURES, read_json, scripts

FLAGS = flags.FLAGS
PUBLISHED = read_json(FIXTURES / "published_flags.json")
SCRIPTS = [
    importlib.import_module(f"albert.{name}")
    for name in (*PUBLISHED, "export_to_tfhub", "export_checkpoints")
]


@pytest.fixture(autouse=True)
def _restored_flags():
    was_parsed = FLAGS.is_parsed()
    with flagsaver.flagsaver():
        FLAGS.mark_as_parsed()
        yield
    if not was_parsed:
        FLAGS.unparse_flags()
    for script in SCRIPTS:
        cli.reads_flags(script.Flags)


def only(script):
    """Leaves the flags of one script alone on FLAGS, as where a program imports it."""
    for other in SCRIPTS:
        for name in set(flags_lib.describe(other.Flags)) & set(FLAGS):
            delattr(FLAGS, name)
    cli.reads_flags(script.Flags)


def heard(script, *names):
    values = cli.current_flags(script.Flags).to_dict()
    return {name: values[name] for name in names}


# ---------------------------------------------------------------------------------------------
# What is heard.


@pytest.mark.parametrize("script", PUBLISHED)
def test_flags_have_their_published_defaults(script):
    described = flags_lib.describe(importlib.import_module(f"albert.{script}").Flags)
    found = {name: str(described[name]["default"]) for name in PUBLISHED[script]}
    assert found == {name: str(default) for name, default in PUBLISHED[script].items()}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__[7:])
def test_main_names_missing_flag(script):
    only(script)
    shown = {name for name, o in flags_lib.describe(script.Flags).items() if "help" in o}
    assert sorted(shown - set(FLAGS)) == []
    for given in (None, ["program"]):
        with pytest.raises(ValueError, match="must be given"):
            script.main(given)


def test_current_flags_reads_set_flags():
    FLAGS.max_seq_length, FLAGS.do_train = 13, True
    FLAGS.set_default("train_batch_size", 7)
    expected = {"max_seq_length": 13, "do_train": True, "train_batch_size": 7}
    for script in (run_pretraining, run_classifier, run_race):
        assert heard(script, *expected) == expected
    assert "train_batch_size" not in cli.current_flags(run_race.Flags).explicit
    FLAGS.train_batch_size = 0
    with pytest.raises(ValueError, match="train_batch_size.*0"):
        heard(run_pretraining)


def test_current_flags_keeps_own_flag():
    try:
        flags.DEFINE_integer("seed", 99, "A program's own.")
        assert heard(run_classifier, "seed") == {"seed": 99}
    finally:
        delattr(FLAGS, "seed")
        cli.reads_flags(run_classifier.Flags)


def test_main_takes_settings():
    FLAGS.input_file = "mine"
    required = ["--albert_config_file=c", "--input_file=other", "--output_dir=o"]
    with pytest.raises(ValueError, match="'c'"):
        scripts.run(run_pretraining, required)


def test_current_flags_ignores_foreign_arguments(monkeypatch):
    FLAGS.unparse_flags()
    monkeypatch.setattr(sys, "argv", ["pytest", "-q", "--no_such_flag"])
    usual = FLAGS["learning_rate"].default  # of the script that defined it first
    assert heard(run_pretraining, "learning_rate") == {"learning_rate": usual}
    FLAGS.unparse_flags()
    monkeypatch.setattr(sys, "argv", ["program", "--learning_rate=3"])
    assert heard(run_pretraining, "learning_rate") == {"learning_rate": 3.0}
