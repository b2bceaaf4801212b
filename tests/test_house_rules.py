# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The rules of the house that ruff does not know, checked on the source from the folders alone.

ruff checks format, docstrings, licence, complexity, nesting, swallowed errors and reminders: see
pyproject.toml. Here: where modules lie, who imports whom, and what defines flags.
"""

import ast
import functools
import json
import pathlib
import sys
from typing import Dict, FrozenSet, Iterator, List, Set, Tuple

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
LONGEST_FUNCTION = 60
MOST_POSITIONAL = 3
MOST_MODULES_AT_THE_TOP = 32
MOST_MODULES_IN_A_FOLDER = 10

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
    ("pretraining", "classification", "squad", "race"),
    ("conversion",),
    ("",),
    ("demo",),
)
LEVEL_OF = {place: level for level, places in enumerate(ORDER) for place in places}
# Where flags are defined: scripts, at the top, and these.
MAY_DEFINE_FLAGS = {
    "albert.util.flags",
    "albert.classification.settings",
    "albert.downloads.settings",
    "albert.pretraining.settings",
    "albert.squad.settings",
}
# What declares the types of settings; it defines no flags.
DECLARE_SETTINGS = {
    "albert.conversion.settings",
    "albert.fine_tuning_utils",
    "albert.pretrained.settings",
    "albert.training.settings",
}
# Folders of tests/ that mirror none of albert/.
OTHER_TEST_FOLDERS = {"support", "end_to_end", "fixtures"}

# ---- the files, each read and parsed once ----


def python_files(*folders: str) -> List[pathlib.Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


PACKAGE = python_files("albert")
PROGRAM = python_files("albert", "benchmarks")
TESTS = python_files("tests")
CODE = PROGRAM + TESTS + [ROOT / "setup.py"]


def name_of(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT))


@functools.lru_cache(maxsize=None)
def tree_of(path: pathlib.Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=None)
def nodes_of(path: pathlib.Path) -> List[ast.AST]:
    return list(ast.walk(tree_of(path)))


def module_of(path: pathlib.Path) -> str:
    """albert/squad/features.py: albert.squad.features; albert/squad/__init__.py: albert.squad."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in PACKAGE + TESTS}


def imported_by(node: ast.AST, modules) -> Iterator[str]:
    """The modules of `modules` that an import statement names."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name in modules:
                yield alias.name
    elif isinstance(node, ast.Call) and "import_module" in ast.dump(node.func):
        for argument in node.args:  # a literal name; others are not known before they run
            if isinstance(argument, (ast.Constant, ast.Str)) and argument.s in modules:
                yield argument.s
    elif isinstance(node, ast.ImportFrom) and node.level == 0:
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            if whole in modules or node.module in modules:
                yield whole if whole in modules else node.module


@functools.lru_cache(maxsize=None)
def imports_of(path: pathlib.Path) -> FrozenSet[str]:
    """Our modules that a file imports, anywhere in it; not the packages that hold them."""
    found = {name for node in nodes_of(path) for name in imported_by(node, MODULES)}
    return frozenset(found - {"albert", "tests"})


def graph() -> Dict[str, Set[str]]:
    """module -> the modules of the package that it imports."""
    edges = {module_of(path): set(imports_of(path)) for path in PACKAGE}
    edges.pop("albert")
    return edges


# ---- folders ----


def modules_in(folder: pathlib.Path) -> List[str]:
    return sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")


def folders_of(folder: pathlib.Path) -> List[pathlib.Path]:
    return sorted({path.parent for path in folder.rglob("*.py")} - {folder})


def test_no_folder_is_crowded():
    crowded = {}
    for folder in [ROOT / "albert", *folders_of(ROOT / "albert")]:
        count = len(modules_in(folder))
        if count > (
            MOST_MODULES_AT_THE_TOP if folder.name == "albert" else MOST_MODULES_IN_A_FOLDER
        ):
            crowded[folder.name] = count
    assert crowded == {}


def test_folders_lie_below_the_top_alone_and_say_what_they_hold():
    folders = folders_of(ROOT / "albert")
    assert [name_of(folder) for folder in folders if folder.parent != ROOT / "albert"] == []
    assert [name_of(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_each_folder_has_its_place_and_says_what_it_holds():
    for folder in folders_of(ROOT / "albert"):
        assert folder.name in LEVEL_OF, f"{folder.name} has no line in ORDER"
        if folder.name != "configs":
            (statement,) = tree_of(folder / "__init__.py").body
            assert isinstance(statement, ast.Expr), folder


def test_below_the_top_the_folder_says_the_topic():
    below = [path for path in PACKAGE if path.parent != ROOT / "albert"]
    assert [name_of(path) for path in below if path.stem.endswith("_utils")] == []


# ---- who imports whom ----


def place_of(module: str) -> str:
    """A module's folder; the name of a module at the top that ORDER has; "" for the others."""
    parts = module.split(".")[1:]
    if len(parts) > 1 or (ROOT / "albert" / parts[0]).is_dir():
        return parts[0]
    return parts[0] if parts[0] in LEVEL_OF else ""


def is_against_the_order(module: str, imported: str) -> bool:
    here, there = place_of(module), place_of(imported)
    return here != there and LEVEL_OF[there] >= LEVEL_OF[here]


def cycles(edges: Dict[str, Set[str]]) -> List[Tuple[str, str]]:
    """The arrows that close a cycle, as a walk from the first module on meets them."""
    closing, done, on_the_way = [], set(), []

    def visit(module):
        on_the_way.append(module)
        for imported in sorted(edges.get(module, ())):
            if imported in on_the_way:
                closing.append((module, imported))
            elif imported not in done:
                visit(imported)
        on_the_way.pop()
        done.add(module)

    for module in sorted(edges):
        if module not in done:
            visit(module)
    return closing


def test_imports_follow_the_order_of_folders_without_a_cycle():
    edges = graph()
    against = {
        (module, imported)
        for module, names in edges.items()
        for imported in names
        if is_against_the_order(module, imported)
    }
    along = {
        module: {name for name in names if (module, name) not in against}
        for module, names in edges.items()
    }
    assert against.union(cycles(along)) == set()


# ---- flags ----


def test_only_scripts_know_flags():
    allowed = MAY_DEFINE_FLAGS | DECLARE_SETTINGS
    know = [
        module
        for module, imported in graph().items()
        if place_of(module) not in ("", "demo", "command_line")
        and "albert.util.flags" in imported
        and module not in allowed
    ]
    assert know == []


def test_only_one_module_touches_the_global_flags():
    touched = [
        f"{name_of(path)}:{node.lineno}"
        for path in PROGRAM
        if path != ROOT / "albert" / "command_line" / "cli.py"
        for node in nodes_of(path)
        if "FLAGS" in (getattr(node, "id", None), getattr(node, "attr", None))
    ]
    assert touched == []


# ---- functions ----


def functions_in(tree: ast.AST, prefix: str = "") -> Iterator[Tuple[str, ast.AST, bool]]:
    """Yields (name with its classes, node, is it a method) of every function below `tree`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + node.name, node, isinstance(tree, ast.ClassDef)
            yield from functions_in(node)
        elif isinstance(node, ast.ClassDef):
            yield from functions_in(node, f"{prefix}{node.name}.")
        else:
            yield from functions_in(node, prefix)


@pytest.mark.skipif(sys.version_info < (3, 8), reason="the tree does not know where functions end")
def test_functions_have_at_most_sixty_lines():
    long = [
        f"{name_of(path)}:{node.lineno} {name}"
        for path in CODE
        for name, node, _ in functions_in(tree_of(path))
        if node.end_lineno - node.lineno >= LONGEST_FUNCTION
    ]
    assert long == []


def positional_parameters(node: ast.AST, is_method: bool) -> int:
    is_static = any(getattr(item, "id", "") == "staticmethod" for item in node.decorator_list)
    return len(node.args.args) - (is_method and not is_static)


def published_signatures() -> Set[str]:
    """Functions and methods that programs call by position, wherever they are defined."""
    text = (ROOT / "tests" / "fixtures" / "reference_names.json").read_text(encoding="utf-8")
    names = {"model_fn"}  # TPUEstimator calls it
    for module in json.loads(text).values():
        for name, published in module.items():
            methods = (
                [f"{name}.{method}" for method in published] if type(published) is dict else []
            )
            names.update(methods or [name])
    return names


def test_parameters_from_the_fourth_on_are_keyword_only():
    published = published_signatures()
    many = [
        f"{name_of(path)}:{node.lineno} {name} takes {positional_parameters(node, method)}"
        for path in PROGRAM
        for name, node, method in functions_in(tree_of(path))
        if positional_parameters(node, method) > MOST_POSITIONAL and name not in published
    ]
    assert many == []


# ---- tests ----


def test_tests_mirror_the_package():
    folders = {folder.name for folder in folders_of(ROOT / "albert")}
    wrong = []
    for path in TESTS:
        folder = path.parent.name if path.parent != ROOT / "tests" else ""
        if path.stem in ("__init__", "conftest"):
            continue
        if not path.stem.startswith("test_"):
            if folder != "support":
                wrong.append(f"{name_of(path)} is a helper: tests/support/ is their place")
        elif folder in folders:
            named = [folder, *modules_in(ROOT / "albert" / folder)]
            if not any(f"{path.stem}_".startswith(f"test_{name}_") for name in named):
                wrong.append(f"{name_of(path)} has no module in albert/{folder}")
        elif folder and folder not in OTHER_TEST_FOLDERS:
            wrong.append(f"albert/ has no folder for {name_of(path)}")
    assert not wrong, "\n".join(wrong)


def test_tests_of_a_room_lie_in_its_folder():
    at_the_top = set(modules_in(ROOT / "albert"))
    below = {path.stem for path in PACKAGE if path.parent != ROOT / "albert"} - at_the_top
    topics = {path.stem[len("test_") :]: path for path in (ROOT / "tests").glob("test_*.py")}
    assert [name_of(path) for topic, path in topics.items() if topic in below] == []


def test_no_test_file_imports_another():
    found = [
        f"{name_of(path)} imports {name}"
        for path in TESTS
        for name in imports_of(path)
        if name.rpartition(".")[2].startswith("test_")
    ]
    assert found == []


# ---- words ----


def test_the_folder_of_reference_outputs_is_named_only_by_tests():
    named = "../" + "shared"
    files = PROGRAM + [ROOT / "setup.py", ROOT / "Makefile"]
    for pattern in ("*.md", "*.txt", "tools/*", "docs/**/*.md"):
        files += sorted(ROOT.glob(pattern))
    assert [name_of(path) for path in files if named in path.read_text(encoding="utf-8")] == []


# ---- the checks themselves ----


def test_the_checks_find_what_they_look_for():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == [("c", "a")]
    assert cycles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
    assert is_against_the_order("albert.squad.run", "albert.classification.run")
    assert is_against_the_order("albert.util.files", "albert.data.batches")
    assert is_against_the_order("albert.training.model_fn", "albert.sweep")
    assert not is_against_the_order("albert.sweep", "albert.plan")
    assert not is_against_the_order("albert.squad.run", "albert.modeling")
    source = "import os, albert.files\nfrom albert.squad import features as f, x\nfrom a import b\n"
    names = {"albert.squad.features", "albert.files"}
    imports = [set(imported_by(node, names)) for node in ast.parse(source).body]
    assert imports == [{"albert.files"}, {"albert.squad.features"}, set()]
