# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""ALBERT: pretraining, fine-tuning, and the steps before and after.

  albert COMMAND --flag=value ...
  albert COMMAND --help

You can also write `python -m albert COMMAND`.
"""

import os
import runpy
import sys
import textwrap

from albert import __version__
from albert.command_line import cli, commands, log
from albert.util import wording


def main() -> None:
    """Runs the command named by the first argument of the process."""
    log.open_closed_streams()
    name = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if name in ("--help", "-h", "-?", "help"):
        cli.show(help_text())
    elif name == "--version":
        cli.show(__version__)
    elif name not in commands.COMMANDS:
        hint = wording.did_you_mean(name, commands.COMMANDS)
        text = f"ERROR: Unknown command {name!r}.{hint} albert --help lists the commands."
        print(text, file=sys.stderr)
        sys.exit(2)
    else:
        is_installed = os.path.splitext(os.path.basename(sys.argv[0]))[0] == "albert"
        commands.program = "albert" if is_installed else "python -m albert"
        del sys.argv[1]
        runpy.run_module(commands.COMMANDS[name], run_name="__main__", alter_sys=True)


def help_text() -> str:
    """Returns what `albert --help` shows: a line for each command."""
    lines = [__doc__]
    for name, module in commands.COMMANDS.items():
        line = f"  {name:<20}{commands.docstring(module).splitlines()[0]}"
        lines.append(textwrap.fill(line, 100, subsequent_indent=" " * 22))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
