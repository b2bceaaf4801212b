# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Downloads a released ALBERT model once, and prints its folder.

  python -m albert download_model base_v2
  python -m albert download_model --list

The model goes to ~/.cache/albert (or --cache_dir). The command prints --albert_dir=FOLDER, the flag
for the other commands. To resume an interrupted download, run the same command again. A downloaded
model needs no network.
"""

import dataclasses
import shlex
from typing import Optional

from albert.downloads.flags import TransferFlags
from albert.models.flags import CACHE_DIR, RELEASES, find_release
from albert.util import UserError, cli
from albert.util.flags import flag


@dataclasses.dataclass(frozen=True)
class Flags(TransferFlags):
    """The script's flags."""

    name: Optional[str] = flag(
        None, "The model: base_v2 is short for --name=base_v2.", positional=True
    )
    list: bool = flag(False, "Show the names, and exit.")
    cache_dir: str = flag(CACHE_DIR, "Folder for downloaded models.", path=True)

    def check(self) -> None:
        """Checks the name."""
        super().check()
        if self.list:
            return
        if not self.name:
            raise UserError(
                "Name a model, for example: python -m albert download_model base_v2. To see all "
                "names, add --list."
            )
        find_release(self.name)


def _list() -> str:
    row = "{:<18}{:<30}{:<19}{:<20}{}".format
    lines = [row("name", "archive", "folder", "vocabulary", "by")]
    for release in RELEASES.values():
        by = "albert_zh (converted)" if release.is_albert_zh else "Google"
        lines.append(row(*release[:2], f"{release.folder}/", release.vocabulary, by))
    return "\n".join(lines)


def main(flags: Flags):
    """Runs the script.

    Raises:
      UserError: see released.obtain.
    """
    if flags.list:
        print(_list())
        return
    from albert.models import released

    folder = released.obtain(find_release(flags.name or ""), flags, cache_dir=flags.cache_dir)
    print(folder)
    print(f"--albert_dir={shlex.quote(folder)}")


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
