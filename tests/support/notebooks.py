# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs the tutorial's notebook from top to bottom, with this Python.

python -m tests.support.paraphrases FOLDER
python -m tests.support.notebooks FOLDER      # with what is in FOLDER; saves the outputs
"""

import os
import re
import sys
import tempfile
from unittest import mock

import nbclient
import nbformat
from ipykernel import kernelspec

from tests.support import ROOT, pages

# Lines in which TensorFlow speaks of itself: they are not saved.
_NOTICE = re.compile(
    r"^(?:[IWE]\d{4} |WARNING: All log |(?:WARNING|INFO):tensorflow:|Instructions for updating"
    r"|This API was designed).*\n",
    re.MULTILINE,
)

# Of the run whose outputs are saved.
SETTINGS = {
    "ALBERT_HUB_MODULE_HANDLE": "module",
    "DATA_DIR": "glue",
    "OUTPUT_DIR": "output/mrpc_hub",
    "MAX_SEQ_LENGTH": 32,
    "LEARNING_RATE": 5e-4,
    "TRAIN_STEP": 1500,
    "SAVE_CHECKPOINTS_STEPS": 150,
}


def run(folder, flags, *, notebook=None, **options):
    """Returns the notebook with its outputs; it runs in `folder` with variables of `flags`.

    `notebook`: another one than the tutorial's. `options` are those of nbclient.NotebookClient.

    Raises:
      nbclient.exceptions.CellExecutionError: a cell failed.
    """
    notebook = notebook or nbformat.read(str(pages.NOTEBOOK), as_version=4)
    variables = {name: str(value) for name, value in flags.items()}
    variables["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    place = {"metadata": {"path": str(folder)}}
    client = nbclient.NotebookClient(notebook, timeout=1800, resources=place, **options)
    with tempfile.TemporaryDirectory() as path, mock.patch.dict(os.environ, JUPYTER_PATH=path):
        # This interpreter, whatever is installed.
        kernelspec.write_kernel_spec(f"{path}/kernels/python3")
        client.execute(env=dict(os.environ, **variables))
    return notebook


def main(folder):
    """Runs the notebook in `folder` and saves it with its outputs."""
    notebook = run(folder, SETTINGS, coalesce_streams=True)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when it ran
        for output in cell.get("outputs", []):
            if "text" in output:
                output["text"] = _NOTICE.sub("", output["text"])
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if output.get("text") != ""]
    nbformat.write(notebook, str(pages.NOTEBOOK))


if __name__ == "__main__":
    main(sys.argv[1])
