# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Downloads a released ALBERT model, or finds it where it was downloaded before.

  python -m albert.download_model base_v2
  python -m albert.download_model --list

The model goes to ~/.cache/albert (or --cache_dir), and its folder is printed with the flag by which
the other commands take it. A transfer that was cut goes on where it stopped when the command is run
again. Checksums of the archive and of each of its files are kept beside the model; each later call
compares the files with them, and needs no network.
"""

import dataclasses
import shlex
from typing import Optional

from absl import flags

from albert.command_line import commands, script
from albert.downloads import settings as transfer_settings
from albert.pretrained import releases
from albert.pretrained.settings import ALBERT_ZH_URL, BASE_URL, CACHE_DIR
from albert.util import flags as flags_lib
from albert.util.errors import UserError


@dataclasses.dataclass(frozen=True)
class DownloadSettings(transfer_settings.TransferSettings):
    """The script's flags."""

    name: Optional[str]
    list: bool
    cache_dir: str


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags and returns the class of its settings."""
    flags_lib.string(
        flag_values,
        "name",
        None,
        help="The model, such as base_v2, xxlarge_zh (Google's) or albert_zh_base; --name= may be "
        "left out.",
    )
    flags_lib.mark(flag_values, "required, except with --list", "name")
    flags_lib.boolean(flag_values, "list", False, help="Show the names there are, and end.")
    flags_lib.path(flag_values, "cache_dir", CACHE_DIR, help="Folder for downloaded models.")
    transfer_settings.define_transfer_flags(
        flag_values,
        base_url="Address of the folder that holds the archives: a mirror. The public ones are "
        f"{BASE_URL} and, of albert_zh's, {ALBERT_ZH_URL}.",
    )
    return DownloadSettings


def answer(settings: DownloadSettings) -> bool:
    """Prints the list if it is asked for, and returns whether it was.

    Raises:
      ValueError: no model is named, or none of this name.
    """
    if settings.list:
        commands.show(_list())
    elif not settings.name:
        raise UserError(
            "No model is named. Write for example `python -m albert.download_model base_v2`; "
            "--list shows the names."
        )
    else:
        releases.find_release(settings.name)
    return settings.list


def _list() -> str:
    row = "{:<18}{:<30}{:<19}{:<20}{}".format
    lines = [row("name", "archive", "folder", "vocabulary", "by")]
    for release in releases.RELEASES.values():
        by = "albert_zh (converted)" if release.is_albert_zh else "Google"
        lines.append(row(*release[:2], f"{release.folder}/", release.vocabulary, by))
    return "\n".join(lines)


if __name__ == "__main__":  # before TensorFlow is imported
    script.answer_early(define_flags, usage=__doc__, positional="name", answer=answer)

from albert.pretrained import released


def main(settings: DownloadSettings):
    """Runs the script.

    Raises:
      ValueError: no such model, or what released.obtain raises.
    """
    if answer(settings):
        return
    folder = released.obtain(
        releases.find_release(settings.name or ""),
        sha256=settings.sha256,
        cache_dir=settings.cache_dir,
        base_url=settings.base_url,
        limits=settings.limits,
    )
    print(folder)
    print(f"--albert_dir={shlex.quote(folder)}")


def cli():
    """Runs the script with the process's own arguments."""
    script.run(main, define_flags, usage=__doc__, positional="name")


if __name__ == "__main__":
    cli()
