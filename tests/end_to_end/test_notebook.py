# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The tutorial's notebook: what is saved in it was run, and it runs from top to bottom."""

import re

import nbformat
import pytest

from tests.support import notebooks, pages, paraphrases

SMALL = {
    "ALBERT_HUB_MODULE_HANDLE": "module",
    "DATA_DIR": "glue",
    "OUTPUT_DIR": "output",
    "MAX_SEQ_LENGTH": 32,
    "TRAIN_STEP": 4,
    "WARMUP_STEP": 1,
    "SAVE_CHECKPOINTS_STEPS": 2,
}


def programs(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def pictures(notebook):
    outputs = [output for cell in programs(notebook) for output in cell.outputs]
    return sum("image/png" in output.get("data", {}) for output in outputs)


def test_saved_outputs_are_of_one_run():
    notebook = nbformat.read(str(pages.NOTEBOOK), as_version=4)
    counts = [cell.execution_count for cell in programs(notebook)]
    assert counts == list(range(1, len(counts) + 1))
    outputs = [output for cell in programs(notebook) for output in cell.outputs]
    assert "error" not in [output.output_type for output in outputs]
    assert pictures(notebook) == 2


@pytest.mark.slow
def test_notebook_runs(tmp_path):
    pytest.importorskip("matplotlib")
    paraphrases.write_mrpc(tmp_path / "glue", train=32, dev=8, test=4)
    paraphrases.write_module(tmp_path)
    notebook = notebooks.run(tmp_path, SMALL)
    assert pictures(notebook) == 2
    said = "".join(output.get("text", "") for output in programs(notebook)[-1].outputs)
    assert len(re.findall(r"^\d+% the same: ", said, re.MULTILINE)) == 3
