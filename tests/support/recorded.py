# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Arrays that were computed once, see tests/fixtures/README.md."""

import pathlib

import numpy as np

_FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"


def read(path, name):
    """Returns what an .npz file has below a name, such as "batch" or "plain/outputs"."""
    with np.load(str(path)) as found:
        return {
            key[len(name) + 1 :]: found[key] for key in found.files if key.startswith(f"{name}/")
        }


def arrays(file, name):
    """Returns what a file of the fixtures has below a name."""
    return read(_FIXTURES / f"{file}.npz", name)
