# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Parts of messages: shortened lists, tables, and suggestions for mistyped names."""

import difflib
from typing import Collection, Iterable, List, Sequence


def did_you_mean(name: str, names: Iterable[str], *, cutoff: float = 0.5) -> str:
    """Returns a hint such as " Did you mean 'mrpc' or 'rte'?"; "" if no name is similar."""
    close = difflib.get_close_matches(name, list(names), n=2, cutoff=cutoff)
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""


def listed(items: Sequence[str], most: int = 6) -> str:
    """Joins items as in "a, b and 3 more"."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more if items else "none"


def counted(count: float, noun: str) -> str:
    """Returns "1 file" or "1,234 files"."""
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def command_of(module: str) -> str:
    """Returns "python -m albert plan" for "albert.commands.plan", as the documents write it."""
    return f"python -m {module.replace('albert.commands.', 'albert ')}"


def table(cells: Sequence[Sequence[str]], *, left: Collection[int] = (0,)) -> List[str]:
    """Formats a table as lines. The first row is the header. Columns in `left` align left."""
    widths = [max(map(len, column)) for column in zip(*cells)]
    rows = [cells[0], ["-" * width for width in widths], *cells[1:]]
    form = "  ".join(f"{{:{'<' if n in left else '>'}{width}}}" for n, width in enumerate(widths))
    return [form.format(*row).rstrip() for row in rows]
