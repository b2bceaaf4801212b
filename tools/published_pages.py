# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of README.md, docs/published.md and docs/recipes.md.

The numbers come from albert/configs/published.json.

    python -m tools.published_pages

A table stands between the lines <!-- table: its name --> and <!-- end -->; the rest of a page is
left as it is.
"""

import pathlib
import re
from typing import Any, List, Optional, Sequence

from albert.commands import plan
from albert.configs import published
from albert.models.flags import RELEASES
from albert.tasks.classification import task_table

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"
PAGES = ("../README.md", "published.md", "recipes.md")
# Language of released models -> their table: a result, and its columns.
_SCORES = {
    "English": {
        "versions": ("average", "SQuAD 1.1 F1", "SQuAD 2.0 F1", "MNLI", "SST-2", "RACE"),
    },
    "Chinese": {"xnli": ("test",), "lcqmc": ("test",)},
}
_NUMBER = re.compile(r"[-+\d]")
_TABLE = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(text: str) -> str:
    """Returns a page with its tables as the data has them."""
    return _TABLE.sub(lambda found: f"{found[1]}{_table(found[2])}{found[3]}", text)


def _table(name: str) -> str:
    if name == "recipes":
        return _recipes()
    if name == "glue and clue":
        tasks = task_table.GLUE + task_table.CHINESE
        return _markdown(
            ("task", "learning rate", "batch", "length", "updates or epochs", "warm-up"),
            [(task.name, *_numbers(task.recipe)) for task in tasks],
        )
    if name.startswith("released, "):
        return _released(name[len("released, ") :])
    if name.startswith("sizes of "):
        rows = [
            row for row in plan.compared_sizes() if row.pop("source") == name[len("sizes of ") :]
        ]
        head = [key.replace("_", " ") for key in rows[0]]
        return _markdown(head, [tuple(map(plan.cell, row.values())) for row in rows])
    result = _result(name)
    titles = [column["title"] for column in result["columns"]]
    rows = [(row["model"], *map(_cell, row["values"])) for row in result["rows"]]
    return _markdown(("", *titles), rows)


def _result(name: str) -> Any:
    (result,) = [one for one in published.document()["results"] if one["name"] == name]
    return result


def _released(language: str) -> str:
    """The names, sizes and published scores of the models that can be downloaded."""
    sizes = {row["name"]: row["without_heads"] for row in plan.compared_sizes()}
    head, rows = ["name", "size"], {}
    for release in RELEASES.values():
        if ("zh" in release.name) == (language == "Chinese"):
            preset = release.name if release.is_albert_zh else f"albert_{release.name}"
            rows[preset] = [f"`{release.name}`", f"{sizes[preset] / 1e6:.1f}M"]
    for name, titles in _SCORES[language].items():
        result = _result(name)
        scores = {row["preset"]: row["values"] for row in result["rows"]}
        columns = [column["title"] for column in result["columns"]]
        for title in titles:
            head.append(result["title"] if title == "test" else title)
            for preset, row in rows.items():
                values = scores.get(preset, {})
                row.append(_cell(values[columns.index(title)] if values else None))
    return _markdown(head, rows.values())


def _recipes() -> str:
    head = ("task", "models", "learning rate", "batch", "length", "updates or epochs", "warm-up")
    rows = []
    for recipe in published.document()["recipes"]:
        steps, epochs = recipe["train_step"], recipe["num_train_epochs"]
        rows.append(
            (
                *(recipe["task"], ", ".join(recipe["models"]), _rate(recipe["learning_rate"])),
                *(_cell(recipe["train_batch_size"]), _cell(recipe["max_seq_length"])),
                f"{steps:,}" if steps else f"{epochs:g} epochs",
                _share(recipe["warmup"]),
                *(_cell(recipe["dropout"]), _cell(recipe["head_dropout"])),
                published.document()["sources"][recipe["source"]]["project"],
            )
        )
    return _markdown((*head, "dropout", "dropout of the head", "source"), rows)


def _numbers(recipe: task_table.Recipe) -> Sequence[str]:
    steps = f"{recipe.train_step:,}" if recipe.train_step else f"{recipe.num_train_epochs:g} epochs"
    warmup = _share(recipe.warmup_step or recipe.warmup_proportion)
    sizes = (_cell(recipe.train_batch_size), _cell(recipe.max_seq_length))
    return (_rate(recipe.learning_rate), *sizes, steps, warmup)


def _rate(value: float) -> str:
    return f"{value:g}".replace("e-0", "e-")


def _share(value: float) -> str:
    return f"{value:,g}" if value >= 1 else f"{100 * value:g}%"


def _cell(value: Optional[float]) -> str:
    return "-" if value is None else str(value)


def _markdown(head: Sequence[str], rows: Any) -> str:
    rows = list(rows)
    # Numbers to the right.
    rules = ["---:" if all(map(_NUMBER.match, column)) else "---" for column in zip(*rows)]
    lines: List[Sequence[str]] = [head, rules, *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Rewrites the pages."""
    for name in PAGES:
        path = DOCS / name
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
