# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the documents name exists: scripts, their flags, files, and the pages they point to."""

import importlib
import re
import types

import pytest
import scipy.stats
import sklearn.metrics
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.runtimes import estimator as our_estimator
from albert.util import flags as flags_lib
from tests.support import pages
from tests.support.processes import ROOT

COMMAND = re.compile(r"(?:python|\$PY)\S* -m albert\.(\w+)((?:[^\n`|#]|\\\n)*)")
FLAG = re.compile(r"(?<![\w-])--([a-z_0-9]+)")
# Not absl's flags: sub-commands with options of their own, and a cluster's options behind ours.
OTHER_PARSERS = {"demo", "create_pretraining_data_beam"}
ABSL = {"help", "helpfull", "verbosity"}
OF_EVERY_SCRIPT = {"config", "verbose"}
every_page = pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)


def flags_of(script):
    """Names of a script's flags, booleans also with `no` in front."""
    described = flags_lib.describe(importlib.import_module(f"albert.{script}").Flags)
    booleans = {f"no{name}" for name, options in described.items() if options["kind"] is bool}
    return set(described) | booleans | ABSL | OF_EVERY_SCRIPT


def commands_in(text):
    """(script, flags) of each command; a line that ends in a backslash goes on in the next."""
    joined = text.replace("\\\n", " ")
    return [(match.group(1), FLAG.findall(match.group(2))) for match in COMMAND.finditer(joined)]


@every_page
def test_commands_use_scripts_and_flags_that_exist(page):
    known, wrong = {}, []
    for script, flags in commands_in(pages.text_of(page)):
        module = ROOT / "albert" / script
        if not (module.with_suffix(".py").exists() or (module / "__main__.py").exists()):
            wrong.append(f"albert.{script}")
        elif script not in OTHER_PARSERS:
            names = known.setdefault(script, None) or flags_of(script)
            known[script] = names
            wrong += [f"albert.{script} --{flag}" for flag in flags if flag not in names]
    assert wrong == []


@every_page
def test_the_scripts_read_every_command_of_a_page(page):
    for command in pages.commands(pages.text_of(page)):
        if command.is_whole:
            pages.parse(command)


def moved_names():
    """The code of the right-hand cells of the table of names that TensorFlow 2 does not have."""
    page = (ROOT / "docs" / "from_google_albert.md").read_text(encoding="utf-8")
    rows = page.split("| in the program | write |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    return [code for row in rows for code in re.findall("`(.+?)`", row.split(" | ")[1])]


@pytest.mark.parametrize("code", moved_names())
def test_names_to_write_in_place_of_contrib_work(code):
    names = {"tf": tf, "modeling": modeling, "types": types, "sklearn": sklearn, "scipy": scipy}
    names["tf_estimator"] = tf_estimator = getattr(tf, "estimator", our_estimator)
    names.update(estimator=tf_estimator.Estimator, activation=tf.tanh, initializer=None, name="n")
    names.update(size=3, rate=0.1, is_training=True, words=["a"], values={"a": 1})
    with tf.Graph().as_default():
        names["x"] = tf.ones([2, 4])
        eval(code, names)


def test_every_page_is_in_the_table_of_contents():
    contents = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = {(ROOT / link).resolve() for link in re.findall(r"\]\(([^)#\s]+)", contents)}
    assert sorted(set(pages.PAGES) - listed - {ROOT / "README.md"}) == []


def anchors_of(page):
    """What a link can name behind a #: the page's headings, as they are written there."""
    titles = re.findall(r"^#+ (.+)$", pages.text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@every_page
def test_links_between_pages_lead_somewhere(page):
    missing = []
    for link in re.findall(r"\]\(([^)\s]+)\)", pages.text_of(page)):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        is_here = "://" in link or target.exists()
        if not is_here or ("://" not in link and anchor and anchor not in anchors_of(target)):
            missing.append(link)
    assert missing == []


def test_the_flags_that_replace_those_of_other_projects_exist():
    scripts = [path for path in (ROOT / "albert").glob("*.py") if path.stem not in OTHER_PARSERS]
    source = {path.stem: path.read_text(encoding="utf-8") for path in scripts}
    known = set()
    for script, text in source.items():
        if "    cli.run(" in text:
            known |= flags_of(script)
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", (ROOT / "docs" / "relatives.md").read_text(), re.M)
    assert len(rows) > 60
    ours = {flag for _, right in rows for flag in FLAG.findall(right)}
    assert len(ours) > 25
    assert sorted(ours - known) == []
