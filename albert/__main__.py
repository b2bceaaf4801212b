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

from albert import __version__, commands
from albert.util import cli, wording


def main() -> None:
    """Runs the command named by the first argument of the process."""
    cli.open_closed_streams()
    name = sys.argv[1] if len(sys.argv) > 1 else "--help"
    command = name.replace("-", "_")
    if name in ("--help", "-h", "-?", "help"):
        cli.show(help_text())
    elif name == "--version":
        cli.show(__version__)
    elif command not in commands.NAMES:
        hint = wording.did_you_mean(command, commands.NAMES)
        text = f"ERROR: Unknown command {name!r}.{hint} albert --help lists the commands."
        print(text, file=sys.stderr)
        sys.exit(2)
    else:
        cli.is_installed = os.path.splitext(os.path.basename(sys.argv[0]))[0] == "albert"
        del sys.argv[1]
        runpy.run_module(commands.module_of(command), run_name="__main__", alter_sys=True)


def help_text() -> str:
    """Returns the text of `albert --help`, with a line for each command."""
    lines = [__doc__.rstrip()]
    for group, names in commands.GROUPS.items():
        lines.append(f"\n{group}:")
        for name in names:
            summary = cli.docstring(commands.module_of(name)).splitlines()[0]
            lines.append(f"  {name:<30}{summary}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
