# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What tests of several folders share."""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"


def read_json(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def write_json(path, content, **options):
    pathlib.Path(path).write_text(json.dumps(content, **options), encoding="utf-8")
