# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The pages a user reads, and the commands and programs in them."""

import importlib
import json
import re
import shlex
from typing import List, NamedTuple

from albert import commands as commands_lib
from albert.commands.demo import __main__ as demo
from albert.util import flags as flags_lib
from tests.support import ROOT

NOTEBOOK = ROOT / "albert_glue_fine_tuning_tutorial.ipynb"
PAGES = sorted(
    [NOTEBOOK, ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
)

_STEP = re.compile(
    r"^```python\n(?P<program>.*?)^```"
    r"|^ {4,}(?P<variables>(?:\w+=\S+ )*)"
    r"(?:(?:\S+/)?python -m albert[. ](?P<module>\w+)|sh run_(?P<suite>\w+)\.sh)"
    r"(?P<arguments>.*?)$",
    re.DOTALL | re.MULTILINE,
)
_BLOCK = re.compile(
    r"^```python\n(?P<program>.*?)^```|(?P<commands>(?:^ {4}[^\n]*\n)+)", re.DOTALL | re.M
)


class Command(NamedTuple):
    """A command in a block of its own: `python -m albert MODULE ARGUMENTS`."""

    module: str
    arguments: List[str]

    @property
    def is_whole(self):
        """Whether nothing is left out."""
        return not any("..." in argument for argument in self.arguments)


def text_of(page):
    """The text of a page, or of a notebook's cells."""
    text = page.read_text(encoding="utf-8")
    if page.suffix != ".ipynb":
        return text
    return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])


def read(name):
    """The text of a page of docs/, such as "tutorials/own_language"."""
    return text_of(ROOT / "docs" / f"{name}.md")


def steps(text):
    """The commands and the Python programs of a page, in its order."""
    found = []
    for match in _STEP.finditer(text.replace("\\\n", " ")):
        if match.group("program") is not None:
            found.append(match.group("program"))
            continue
        arguments = shlex.split(match.group("arguments"), comments=True)
        if match.group("suite"):  # a variable is another way to write a flag
            variables = (variable.split("=", 1) for variable in match.group("variables").split())
            arguments += [f"--{name.lower()}={value}" for name, value in variables]
            arguments.append(f"--suite={match.group('suite')}")
        found.append(Command(match.group("module") or "sweep", arguments))
    return found


def script(text):
    """All blocks of a page as one script of bash; `python` runs its code."""
    blocks = []
    for match in _BLOCK.finditer(text):
        program = match.group("program")
        blocks.append(match.group("commands") or f"python - <<'END'\n{program}END\n")
    return "".join(blocks)


def commands(text):
    """The commands of a page, in its order."""
    return [step for step in steps(text) if isinstance(step, Command)]


def parse(command):
    """The settings that the command's script reads from its arguments.

    Raises:
      ValueError: an argument that the script refuses.
    """
    arguments = list(command.arguments)
    if command.module == "demo":
        phase = arguments.pop(0) if arguments and arguments[0][0] != "-" else "tour"
        try:
            return demo.parser_of(phase).parse_args(arguments)
        except SystemExit as error:
            raise ValueError(f"{command}: refused") from error
    return flags_lib.parse(
        importlib.import_module(commands_lib.module_of(command.module)).Flags, arguments
    )


def run(command, small):
    """Runs a command in this process; `small` has flags of its module that replace its own."""
    arguments = command.arguments + small.get(command.module, "").split()
    flags = parse(Command(command.module, arguments))
    script = importlib.import_module(commands_lib.module_of(command.module))
    script.main(flags)
