# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Parquet files, as the hubs have them."""

import json

import pytest


def write(path, columns, features=None):
    """Writes columns, with the `features` of the library `datasets`; returns the path."""
    pyarrow = pytest.importorskip("pyarrow")
    metadata = {"huggingface": json.dumps({"info": {"features": features}})} if features else None
    table = pyarrow.table(columns).replace_schema_metadata(metadata)
    path.parent.mkdir(parents=True, exist_ok=True)
    pytest.importorskip("pyarrow.parquet").write_table(table, str(path))
    return str(path)
