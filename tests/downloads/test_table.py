# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The table of data sets, and its page."""

import pytest

from albert.downloads import data_set_table
from tests.support import ROOT


def test_data_sets_page_equals_the_table():
    page = (ROOT / "docs" / "data_sets.md").read_text(encoding="utf-8")
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in page.splitlines()]
    written = {row[0]: row[1:6] for row in rows if len(row) == 7}
    for name, item in data_set_table.DATA_SETS.items():
        size = f"{item.size / 1e6:.1f}" if item.size else "?"
        known = bool(item.sources) and all(source.sha256 for source in item.sources)
        expected = [item.group, f"{item.folder}/", size, "yes" if known else "no", item.licence]
        assert written[name] == expected


def test_find_names_and_groups():
    assert [item.name for item in data_set_table.find("squad, race,SQuAD_v1")] == [
        "squad_v1",
        "squad_v2",
        "race",
    ]
    assert len(data_set_table.find("clue")) == 8
    with pytest.raises(ValueError, match="[Dd]id you mean 'mrpc'"):
        data_set_table.find("glue,mprc")
