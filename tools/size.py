# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Prints the tokens of code in each folder and the lines of Markdown, and the limits of the totals.

    python tools/size.py

A token is one of Python's tokenizer, without comments, docstrings and white space: longer lines
make nothing smaller. An f-string is one token, as before Python 3.12.

tools/size.json has one limit each for the package, the tests, the benchmarks and the Markdown: the
size, rounded up to the next 100 tokens or lines. tests/test_house_rules.py fails above a
limit. Code may go to whichever folder it belongs to. A limit may be raised only by a change that
gives the reason.
"""

import collections
import json
import pathlib
import tokenize
from typing import Dict

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIMITS = ROOT / "tools" / "size.json"
_BLANK = {tokenize.ENCODING, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
_BLANK.add(tokenize.ENDMARKER)
_F_START, _F_END = (getattr(tokenize, f"FSTRING_{name}", -1) for name in ("START", "END"))


def tokens(path: pathlib.Path) -> int:
    """Returns the tokens of a file; a string alone on its lines is a docstring."""
    kinds, depth = [], 0
    with path.open("rb") as stream:
        for token in tokenize.tokenize(stream.readline):
            depth += (token.type == _F_START) - (token.type == _F_END)
            if not depth and token.type != tokenize.COMMENT:
                kinds.append(tokenize.STRING if token.type == _F_END else token.type)
    return sum(
        kind not in _BLANK and not (kind == tokenize.STRING and {before, after} <= _BLANK)
        for before, kind, after in zip(kinds, kinds[1:], kinds[2:])
    )


def sizes() -> Dict[str, int]:
    """Returns the tokens by folder and in total, and the lines of Markdown."""
    counts: Dict[str, int] = collections.Counter()
    for tree in ("albert", "tests", "benchmarks"):
        for path in (ROOT / tree).rglob("*.py"):
            folder = "/".join(path.relative_to(ROOT).parts[:-1][:2])
            for name in (folder, f"{tree} in all"):
                counts[name] += tokens(path)
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        counts["Markdown"] += path.read_bytes().count(b"\n")
    return dict(sorted(counts.items()))


def main() -> None:
    """Prints the table."""
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    for name, size in sizes().items():
        limit = f"{limits[name]:>9,}" if name in limits else ""
        print(f"{name:30}{size:>9,}{limit}")


if __name__ == "__main__":
    main()
