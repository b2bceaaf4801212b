# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The table of data sets, and its page."""

import re

import pytest

from albert.datasets import table
from tests.support.processes import ROOT


def test_the_page_has_the_data_of_the_table():
    page = (ROOT / "docs" / "data_sets.md").read_text(encoding="utf-8")
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in page.splitlines()]
    written = {row[0]: row[1:6] for row in rows if len(row) == 7}
    for name, item in table.DATA_SETS.items():
        size = f"{item.size / 1e6:.1f}" if item.size else "?"
        known = bool(item.sources) and all(source.sha256 for source in item.sources)
        expected = [item.group, f"{item.folder}/", size, "yes" if known else "no", item.licence]
        assert written[name] == expected


def test_hashes_are_hashes_and_each_file_has_a_name_of_its_own():
    sources = [source for item in table.DATA_SETS.values() for source in item.sources]
    names = [source.url.rpartition("/")[2] for source in sources]
    assert len(set(names)) == len(names)
    hashes = [source.sha256 for source in sources if source.sha256]
    assert len(set(hashes)) == len(hashes) == len(sources) - 2
    assert all(re.fullmatch("[0-9a-f]{64}", value) for value in hashes)


def test_names_stand_for_data_sets_and_groups_once_each():
    assert [item.name for item in table.find("squad, race,SQuAD_v1")] == [
        "squad_v1",
        "squad_v2",
        "race",
    ]
    assert len(table.find("clue")) == 8
    with pytest.raises(ValueError, match="[Dd]id you mean 'mrpc'"):
        table.find("glue,mprc")
