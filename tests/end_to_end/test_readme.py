# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""README's commands from your own text to a model in use, run as they are written there."""

import importlib
import json
import re
import shlex
from typing import Dict, List

import numpy as np
import pytest

from albert import tokenization
from albert.util import flags as flags_lib
from tests.support import classification_data, released_archives
from tests.support.processes import ROOT

# Small values of flags, which replace README's or are added.
SMALL = {
    "train_vocab": {"vocab_size": 200},
    "create_pretraining_data": {"max_seq_length": 32, "dupe_factor": 1, "num_processes": 1},
    "run_pretraining": {
        "albert_config_file": "tiny.json",
        "max_seq_length": 32,
        "train_batch_size": 4,
        "num_train_steps": 2,
        "num_warmup_steps": 1,
        "max_eval_steps": 2,
        "use_xla": False,
    },
    "run_classifier": {
        "max_seq_length": 32,
        "train_batch_size": 4,
        "train_step": 2,
        "warmup_step": 1,
        "use_xla": False,
    },
}
FUNCTIONS = {"run_pretraining": "pretrain", "run_classifier": "classify"}  # else main


def commands(title: str) -> List[List[str]]:
    """The commands in the blocks of a section of README.md: module and arguments."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = re.split(r"^##+ ", text.split(f"\n## {title}\n")[1], flags=re.MULTILINE)[0]
    lines = section.replace("\\\n", " ").splitlines()
    return [shlex.split(line)[2:] for line in lines if re.match(r" {4,}python -m albert\.", line)]


def run(command: List[str]) -> None:
    """Runs a command in this process, with small numbers."""
    name = command[0].split(".")[1]
    flags: Dict[str, object] = SMALL.get(name, {})
    arguments = command[1:] + [f"--{flag}={value}" for flag, value in flags.items()]
    module = importlib.import_module(command[0])
    settings = flags_lib.parse(module.define_flags, arguments)
    getattr(module, FUNCTIONS.get(name, "main"))(settings)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder a reader is in: text, a few sentences, a task's data."""
    monkeypatch.chdir(tmp_path)
    corpus = (released_archives.FIXTURES / "corpus.txt").read_text(encoding="utf-8")
    (tmp_path / "text").mkdir()
    for name in ("train-1.txt", "eval-1.txt"):
        (tmp_path / "text" / name).write_text(corpus, encoding="utf-8")
    (tmp_path / "sentences.txt").write_text("One sentence.\nAnother one.\n", encoding="utf-8")
    (tmp_path / "glue").mkdir()
    classification_data.write_mrpc(tmp_path / "glue", train=8, dev=4, test=2)
    config = dict(released_archives.CONFIG, vocab_size=200, max_position_embeddings=512)
    (tmp_path / "tiny.json").write_text(json.dumps(config), encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_readmes_commands_lead_from_text_to_a_model_in_use(folder, capsys):
    chain = commands("Pretrain on your own text")
    assert [command[0].split(".")[1] for command in chain] == [
        "train_vocab",
        "create_pretraining_data",
        "create_pretraining_data",
        "run_pretraining",
        "fill_mask",
        "embed",
        "run_classifier",
        "export_checkpoints",
        "export_to_tfhub",
    ]
    for command in chain:
        run(command)
    assert "Paris" in capsys.readouterr().out
    assert np.load("vectors.npy").shape == (2, released_archives.CONFIG["hidden_size"])
    vocabulary = (folder / "vocab" / "my-30k.model").read_bytes()
    for place in ("output/base", "albert_mine", "modules/albert_mine/assets"):
        assert (folder / place / "my-30k.model").read_bytes() == vocabulary
    assert tokenization.hub_vocabulary(str(folder / "modules/albert_mine")).do_lower_case
    assert (folder / "output" / "mine-mrpc" / "eval_results.json").exists()
    # The exported folder is a model's folder too.
    run(["albert.fill_mask", "--albert_dir=albert_mine", "--text=The [MASK]."])
