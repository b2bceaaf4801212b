# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the documents name exists: scripts, their flags, files, and the pages they point to."""

import functools
import importlib.util
import re

import pytest

from albert import commands
from albert.util import flags as flags_lib
from tests.support import ROOT, pages

FLAG = re.compile(r"(?<![\w-])--([a-z_0-9]+)")
OF_EVERY_SCRIPT = {"config", "help", "verbose"}
# Pages that name flags of other programs as well.
OTHER_PROGRAMS = {
    "README.md",
    "CONTRIBUTING.md",
    "cluster_data.md",
    "gpu.md",
    "hugging_face.md",
    "results.md",
}
every_page = pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)


@functools.lru_cache(maxsize=None)
def known_flags():
    """Names of all scripts' flags, booleans also with `no` in front."""
    known = set(OF_EVERY_SCRIPT)
    for module in map(commands.module_of, set(commands.NAMES) - {"demo"}):
        for name, options in flags_lib.describe(importlib.import_module(module).Flags).items():
            known |= {name, f"no{name}"} if options["kind"] is bool else {name}
    return known


@every_page
def test_page_scripts_and_flags_exist(page):
    text = pages.text_of(page)
    for script in re.findall(r"-m albert\.(\w+)", text):
        assert importlib.util.find_spec(f"albert.{script}"), script
    assert set(re.findall(r"-m albert (?!NAME|COMMAND)(\w+)", text)) - set(commands.NAMES) == set()
    if page.name == "relatives.md":  # only the right-hand cells name ours
        rows = re.findall(r"^\| .+? \| (.+) \|$", text, re.MULTILINE)
        assert len(rows) >= 50
        text = "\n".join(rows)
    if page.name not in OTHER_PROGRAMS:
        text = re.sub("`(python benchmarks/|tensorboard ).*?`", "", text)
        assert set(FLAG.findall(text)) - known_flags() == set()


@every_page
def test_page_commands_parse(page):
    for command in pages.commands(pages.text_of(page)):
        if command.is_whole:
            pages.parse(command)


def test_pages_are_listed_in_readme():
    contents = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = {(ROOT / link).resolve() for link in re.findall(r"\]\(([^)#\s]+)", contents)}
    assert sorted(set(pages.PAGES) - listed - {ROOT / "README.md"}) == []


def test_readme_code_fits_into_ninety_characters():
    code = pages.script(pages.text_of(ROOT / "README.md"))
    assert max(map(len, code.splitlines())) <= 90


def test_pictures_are_small_and_shown():
    text = "".join(map(pages.text_of, pages.PAGES))
    for picture in (ROOT / "docs" / "images").iterdir():
        assert picture.stat().st_size < 200000 and f"images/{picture.name}" in text


def anchors_of(page):
    """What a link can name behind a #: the page's headings, as they are written there."""
    titles = re.findall(r"^#+ (.+)$", pages.text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@every_page
def test_page_links(page):
    missing = []
    for link in re.findall(r"\]\(([^)\s]+)\)", pages.text_of(page)):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        is_here = "://" in link or target.exists()
        if not is_here or ("://" not in link and anchor and anchor not in anchors_of(target)):
            missing.append(link)
    assert missing == []
