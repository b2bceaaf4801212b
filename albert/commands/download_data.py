# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Downloads public data sets into the folders that the scripts read.

  python -m albert download_data glue --data_dir=glue
  python -m albert download_data squad_v2,race --data_dir=data
  python -m albert download_data --list

Each data set becomes a folder in --data_dir. The command prints the flags to use it. To resume an
interrupted download, run the same command again. It does not download a data set twice, and does
not change a folder that you made yourself. --list shows the publishers' licences.
"""

import dataclasses
import shlex
from typing import Optional

from albert.downloads import data_set_table
from albert.downloads.flags import TransferFlags
from albert.util import UserError, cli, log
from albert.util.flags import flag


@dataclasses.dataclass(frozen=True)
class Flags(TransferFlags):
    """The script's flags."""

    name: Optional[str] = flag(
        None,
        "Data sets or groups, comma-separated: glue is short for --name=glue.",
        positional=True,
    )
    list: bool = flag(False, "Show names, sizes and licences, and exit.")
    data_dir: str = flag("data", "Parent folder of the data sets.", path=True)

    def check(self) -> None:
        """Checks the name."""
        super().check()
        if not self.list and not data_set_table.find(self.name or ""):
            raise UserError(
                "Name a data set, for example: python -m albert download_data glue "
                "--data_dir=glue. To see all names, add --list."
            )


def _list() -> str:
    row = "{:<10}{:<7}{:>9}  {:<40}{}".format
    lines = [row("name", "group", "MB", "licence", "from")]
    for item in data_set_table.DATA_SETS.values():
        size = f"{item.size / 1e6:.1f}" if item.size else "?"
        origins = [source.url for source in item.sources] or [f"on request: {item.by_hand}"]
        lines.append(row(item.name, item.group, size, item.licence, origins[0]))
        lines += [row("", "", "", "", origin) for origin in origins[1:]]
    return "\n".join(lines)


def main(flags: Flags):
    """Runs the script.

    Raises:
      UserError: see data_sets.obtain. The other data sets are complete.
    """
    if flags.list:
        print(_list())
        return
    from albert.downloads import data_sets as downloads_data_sets

    data_sets = data_set_table.find(flags.name or "")
    if flags.sha256 and len(data_sets) != 1:
        raise UserError(f"--sha256 works with one data set only, not with {flags.name}.")
    failures = []
    for data_set in data_sets:
        try:
            folder = downloads_data_sets.obtain(data_set, flags.data_dir, flags)
        except UserError as error:
            if len(data_sets) == 1:
                raise
            log.error("%s: %s", data_set.name, error)
            failures.append(data_set.name)
            continue
        log.info("%s is in %s. Licence: %s.", data_set.name, folder, data_set.licence)
        values = {"data_dir": shlex.quote(flags.data_dir), "folder": shlex.quote(folder)}
        print(data_set.script, data_set.flags.format(**values))
    if failures:
        raise UserError(
            f"{len(failures)} of {len(data_sets)} data sets could not be downloaded (see above): "
            f"{', '.join(failures)}."
        )


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
