# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The rules of the house that ruff does not know (see pyproject.toml), checked on the source."""

import ast
import collections
import functools
import sys

import pytest

from tests.support import FIXTURES, ROOT, read_json
from tools import size

LONGEST = 60
MOST_POSITIONAL = 3

# Folders of albert/ and the modules at its top that they may import, from the ground up: a module
# imports from its own place and from lines above its own. "" is for the other modules at the top.
ORDER = (
    ("util",),
    ("runtimes",),
    ("configs", "downloads"),
    ("ops", "data", "tokenization", "optimization"),
    ("modeling",),
    ("fine_tuning_utils",),
    ("formats",),
    ("models", "pretraining_data"),
    ("training",),
    ("tasks.pretraining", "tasks.classification", "tasks.squad", "tasks.race", "tasks.tagging"),
    ("",),
    ("commands",),
    ("__main__",),
)
LEVEL_OF = {place: level for level, places in enumerate(ORDER) for place in places}
PACKAGE = sorted((ROOT / "albert").rglob("*.py"))
PROGRAM = PACKAGE + sorted((ROOT / "benchmarks").rglob("*.py"))


@functools.lru_cache(maxsize=None)
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def module_of(path):
    """albert/ops/plain.py: albert.ops.plain; albert/ops/__init__.py: albert.ops."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).replace(".__init__", "")


MODULES = {module_of(path) for path in PACKAGE} - {"albert"}


def imports_of(path):
    """The package's modules that import statements name, anywhere in a file."""
    names = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            whole = (f"{node.module}.{alias.name}" for alias in node.names)
            names.update(name if name in MODULES else node.module for name in whole)
    return names & MODULES


# ---- who imports whom ----


def place_of(module):
    """A module's folder; the name of a module at the top that ORDER has; "" for the others."""
    _, *parts = module.split(".")
    places = (".".join(parts[:2]), parts[0], "")
    return next(place for place in places if place in LEVEL_OF)


def test_imports_follow_the_order_of_folders():
    edges = {module_of(path): imports_of(path) for path in PACKAGE}
    edges.pop("albert")
    against = [
        (module, imported)
        for module, names in edges.items()
        for imported in names
        if place_of(module) != place_of(imported)
        and LEVEL_OF[place_of(imported)] >= LEVEL_OF[place_of(module)]
    ]
    assert against == []


# ---- functions ----


def functions(paths):
    """Yields the place of every function, its node, and whether it is a method."""
    for path in paths:
        nodes = list(ast.walk(tree_of(path)))
        classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
        methods = {method for one in classes for method in one.body}
        for node in nodes:
            if isinstance(node, ast.FunctionDef):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node, node in methods


@pytest.mark.skipif(sys.version_info < (3, 8), reason="the tree does not know where functions end")
def test_functions_have_at_most_sixty_lines():
    found = functions(PROGRAM)
    assert [place for place, node, _ in found if node.end_lineno - node.lineno >= LONGEST] == []


def test_fourth_parameter_is_keyword_only():
    # Programs call the published names by position; TPUEstimator calls model_fn.
    published = (FIXTURES / "reference_names.json").read_text(encoding="utf-8")
    published += '"model_fn"'
    many = [
        place
        for place, node, is_method in functions(PROGRAM)
        if len(node.args.args) - is_method > MOST_POSITIONAL and f'"{node.name}"' not in published
    ]
    assert many == []


# ---- classes ----


def test_each_class_has_its_own_name():
    """Exceptions: each script has Flags; google-research/albert has a name in several modules."""
    modules = read_json(FIXTURES / "reference_names.json").values()
    published = collections.Counter(name for names in modules for name in names)
    nodes = (node for path in PACKAGE for node in ast.walk(tree_of(path)))
    classes = (node.name.lstrip("_") for node in nodes if isinstance(node, ast.ClassDef))
    counts = collections.Counter(name for name in classes if name != "Flags")
    assert [name for name, count in counts.items() if count > max(1, published[name])] == []


# ---- files ----


def test_reference_folder_is_named_only_by_tests():
    patterns = ("Makefile", "setup.py", "*.md", "*.txt", "tools/*.*", "docs/**/*.md")
    files = PROGRAM + [path for pattern in patterns for path in ROOT.glob(pattern)]
    assert [path for path in files if b"../" + b"shared" in path.read_bytes()] == []


def test_size_is_within_the_limits():
    counts, limits = size.sizes(), read_json(size.LIMITS)
    above = {name: (counts[name], limit) for name, limit in limits.items() if counts[name] > limit}
    assert above == {}, "Make something simpler, or raise the limit and give the reason"
