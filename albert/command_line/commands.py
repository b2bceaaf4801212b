# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The commands of `albert` and their modules. Listing the commands imports no module."""

import ast
import importlib.util
import pathlib
import re

# Command -> module, which `python -m` runs too.
COMMANDS = {
    "train-vocab": "albert.train_vocab",
    "create-data": "albert.create_pretraining_data",
    "create-data-beam": "albert.create_pretraining_data_beam",
    "create-data-spark": "albert.create_pretraining_data_spark",
    "pretrain": "albert.run_pretraining",
    "finetune": "albert.run_classifier",
    "squad": "albert.run_squad_v1",
    "squad2": "albert.run_squad_v2",
    "race": "albert.run_race",
    "tag": "albert.run_tagger",
    "sweep": "albert.sweep",
    "predict": "albert.predict",
    "embed": "albert.embed",
    "fill-mask": "albert.fill_mask",
    "download-model": "albert.download_model",
    "download-data": "albert.download_data",
    "convert": "albert.convert_checkpoint",
    "export-checkpoints": "albert.export_checkpoints",
    "export-hub": "albert.export_to_tfhub",
    "export-model": "albert.export_model",
    "plan": "albert.plan",
    "plot": "albert.plot",
    "show-changes": "albert.show_changes",
    "doctor": "albert.doctor",
    "demo": "albert.demo.__main__",
}


# How `albert` was called, where this process runs one of its commands.
program = ""


def as_started(text: str) -> str:
    """Returns a usage text with commands written as the user started this process."""
    for command, module in COMMANDS.items() if program else ():
        name = re.escape(module.replace(".__main__", ""))
        text = re.sub(rf"python -m {name}\b", f"{program} {command}", text)
    return text


def docstring(module: str) -> str:
    """Returns the docstring of a module of this package, without importing the module."""
    text = pathlib.Path(importlib.util.find_spec(module).origin).read_text(encoding="utf-8")
    return ast.get_docstring(ast.parse(text))
