# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The environment with PyTorch and transformers, if it is there, and models made in it."""

import json
import subprocess

import pytest

from tests.support import ROOT


def python_of(environment):
    """The interpreter of `huggingface` or `huggingface4`."""
    return ROOT / ".venv" / environment / "bin" / "python"


def needs(environment):
    """Skips a test where that environment is missing."""
    reason = f"`sh tools/environments.sh {environment}` installs what this needs"
    return pytest.mark.skipif(not python_of(environment).exists(), reason=reason)


needs_huggingface = needs("huggingface")

CONFIG = {
    "vocab_size": 60,
    "embedding_size": 8,
    "hidden_size": 16,
    "num_hidden_layers": 4,
    "num_hidden_groups": 2,
    "inner_group_num": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 40,
}

_MAKE = """
import json, sys, torch, transformers
for settings in json.loads(sys.argv[1]):
    folder, architecture = settings.pop("folder"), settings.pop("architecture")
    scale = settings.pop("scale")
    torch.manual_seed(0)
    model = getattr(transformers, architecture)(transformers.AlbertConfig(**settings))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            centre = float("LayerNorm.weight" in name or "layer_norm.weight" in name)
            parameter.normal_(centre, scale)
    model.save_pretrained(folder)
"""


def run(script, *arguments, environment="huggingface"):
    """Returns what a Python program prints in that environment."""
    return subprocess.run(
        [str(python_of(environment)), "-I", "-c", script, *arguments],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ).stdout.decode()


def make(folder, models):
    """Saves models of transformers with random weights, by their own code, in one process.

    `models`: name below the folder -> architecture, scale of the weights, and configuration.
    """
    rows = [dict(model, folder=f"{folder}/{name}") for name, model in models.items()]
    run(_MAKE, json.dumps(rows))
