# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""docs/published.md and docs/recipes.md show the data as they are now."""

import re

import pytest

from albert.configs import published
from tools import published_pages


@pytest.mark.parametrize("name", published_pages.PAGES)
def test_page_tables_match_the_data(name):
    text = (published_pages.DOCS / name).read_text(encoding="utf-8")
    assert published_pages.filled(text) == text, "run: python -m tools.published_pages"


def test_pages_show_every_published_table():
    text = "".join((published_pages.DOCS / name).read_text() for name in published_pages.PAGES)
    shown = set(re.findall("<!-- table: (.+?) -->", text))
    tables = {result["name"] for result in published.document()["results"]}
    sources = {size["source"] for size in published.document()["sizes"]}
    projects = {published.document()["sources"][source]["project"] for source in sources}
    sizes = {f"sizes of {project}" for project in projects}
    assert shown == tables | sizes | {"recipes", "glue and clue"}
