# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs the tutorial's notebook from top to bottom, with this Python.

python -m tests.support.paraphrases FOLDER
python -m tests.support.notebooks FOLDER      # with what is in FOLDER; saves the outputs
"""

import contextlib
import json
import os
import pathlib
import re
import sys
import tempfile
from unittest import mock

import nbclient
import nbformat

from tests.support import pages
from tests.support.processes import ROOT

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


@contextlib.contextmanager
def _kernel_of_this_python():
    """The folder where Jupyter finds a kernel that is this interpreter, whatever is installed."""
    with tempfile.TemporaryDirectory() as folder:
        kernel = pathlib.Path(folder) / "kernels" / "python3" / "kernel.json"
        kernel.parent.mkdir(parents=True)
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        content = {"argv": argv, "display_name": "Python 3", "language": "python"}
        kernel.write_text(json.dumps(content), encoding="utf-8")
        yield folder


def run(folder, settings, **options):
    """Returns the notebook with its outputs; it runs in `folder` with variables of `settings`.

    `options` are those of nbclient.NotebookClient.

    Raises:
      nbclient.exceptions.CellExecutionError: a cell failed.
    """
    notebook = nbformat.read(str(pages.NOTEBOOK), as_version=4)
    variables = {name: str(value) for name, value in settings.items()}
    variables["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    place = {"metadata": {"path": str(folder)}}
    client = nbclient.NotebookClient(notebook, timeout=1800, resources=place, **options)
    with _kernel_of_this_python() as path, mock.patch.dict(os.environ, JUPYTER_PATH=path):
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
