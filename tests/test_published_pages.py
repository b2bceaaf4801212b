# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""docs/published.md and docs/recipes.md show the data as they are now."""

import pytest

from tools import published_pages


@pytest.mark.parametrize("name", published_pages.PAGES)
def test_page_tables_match_the_data(name):
    text = (published_pages.DOCS / name).read_text(encoding="utf-8")
    assert published_pages.filled(text) == text, "run: python -m tools.published_pages"
