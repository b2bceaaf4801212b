# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the pages say is run as it stands there, with small numbers."""

import json

import numpy as np
import pytest

from albert import tokenization
from tests.support import classification_data, pages, released_archives
from tests.support.processes import ROOT

# Small values of flags, which replace the page's or are added.
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
def test_pretrainings_commands_lead_from_text_to_a_model_in_use(folder, capsys):
    page = (ROOT / "docs" / "pretraining.md").read_text(encoding="utf-8")
    chain = [command for command in pages.commands(page) if command.module != "demo"]
    assert [command.module for command in chain] == [
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
        pages.run(command, SMALL)
    assert "Paris" in capsys.readouterr().out
    assert np.load("vectors.npy").shape == (2, released_archives.CONFIG["hidden_size"])
    vocabulary = (folder / "vocab" / "my-30k.model").read_bytes()
    for place in ("output/base", "albert_mine", "modules/albert_mine/assets"):
        assert (folder / place / "my-30k.model").read_bytes() == vocabulary
    assert tokenization.hub_vocabulary(str(folder / "modules/albert_mine")).do_lower_case
    assert (folder / "output" / "mine-mrpc" / "eval_results.json").exists()
    # The exported folder is a model's folder too.
    again = pages.Command("fill_mask", ["--albert_dir=albert_mine", "--text=The [MASK]."])
    pages.run(again, SMALL)
