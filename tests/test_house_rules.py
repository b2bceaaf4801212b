# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The rules of the house that ruff does not know (see pyproject.toml), checked on the source."""

import ast
import functools
import json
import pathlib
import sys

import pytest

from tools import size

ROOT = pathlib.Path(__file__).resolve().parents[1]
LONGEST_FUNCTION = 60
MOST_POSITIONAL = 3

# Folders of albert/ and the modules at its top that they may import, from the ground up: a module
# imports from its own place and from lines above its own. "" is for the other modules at the top.
ORDER = (
    ("util",),
    ("runtimes",),
    ("command_line", "configs", "downloads"),
    ("ops", "data", "tokenization", "optimization"),
    ("modeling",),
    ("fine_tuning_utils", "checkpoints", "datasets"),
    ("pretrained",),
    ("training",),
    ("pretraining", "classification", "squad", "race", "tagging"),
    ("conversion",),
    ("",),
    ("demo",),
)
LEVEL_OF = {place: level for level, places in enumerate(ORDER) for place in places}
PACKAGE = sorted((ROOT / "albert").rglob("*.py"))
PROGRAM = PACKAGE + sorted((ROOT / "benchmarks").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def name_of(path):
    return str(path.relative_to(ROOT))


@functools.lru_cache(maxsize=None)
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def module_of(path):
    """albert/squad/features.py: albert.squad.features; albert/squad/__init__.py: albert.squad."""
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
    part = module.split(".")[1]
    return part if part in LEVEL_OF else ""


def cyclic(edges):
    """Returns the modules in cycles and those that import them."""
    left = dict(edges)
    while True:
        free = [module for module, imported in left.items() if not imported & set(left)]
        if not free:
            return sorted(left)
        for module in free:
            del left[module]


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
    assert against == [] and cyclic(edges) == []


def test_flags_object_is_used_only_by_command_line():
    touching = {
        path.parent.name
        for path in PROGRAM
        for node in ast.walk(tree_of(path))
        if "FLAGS" in (getattr(node, "id", None), getattr(node, "attr", None))
    }
    assert touching == {"command_line"}


# ---- functions ----


def functions_in(tree):
    """Yields every function below `tree`, and whether it is a method."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node, isinstance(tree, ast.ClassDef)
        yield from functions_in(node)


@pytest.mark.skipif(sys.version_info < (3, 8), reason="the tree does not know where functions end")
def test_functions_have_at_most_sixty_lines():
    long = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path in PROGRAM + TESTS
        for node, _ in functions_in(tree_of(path))
        if node.end_lineno - node.lineno >= LONGEST_FUNCTION
    ]
    assert long == []


def test_parameters_from_the_fourth_on_are_keyword_only():
    # Programs call the published names by position; TPUEstimator calls model_fn.
    published = (ROOT / "tests" / "fixtures" / "reference_names.json").read_text(encoding="utf-8")
    many = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path in PROGRAM
        for node, is_method in functions_in(tree_of(path))
        if len(node.args.args) - is_method > MOST_POSITIONAL
        and f'"{node.name}"' not in published + '"model_fn"'
    ]
    assert many == []


# ---- files ----


def test_reference_folder_is_named_only_by_tests():
    files = PROGRAM + [ROOT / "setup.py", ROOT / "Makefile"]
    for pattern in ("*.md", "*.txt", "tools/*.*", "docs/**/*.md"):
        files += sorted(ROOT.glob(pattern))
    named = "../" + "shared"
    assert [name_of(path) for path in files if named in path.read_text(encoding="utf-8")] == []


def test_size_is_within_the_limits():
    limits = json.loads(size.LIMITS.read_text(encoding="utf-8"))
    above = {
        name: f"{count:,} of {limits.get(name, 0):,}"
        for name, count in size.sizes().items()
        if count > limits.get(name, 0)
    }
    assert above == {}, "Make something lighter, or say why not: python tools/size.py --set"
