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
from typing import Optional

from absl import flags

from albert.pretrained.settings import BASE_URL, CACHE_DIR, USUAL_LIMITS
from albert.util import flags as flags_lib


@dataclasses.dataclass(frozen=True)
class DownloadSettings(flags_lib.Settings):
    """The script's flags."""

    name: Optional[str]
    list: bool
    cache_dir: str
    base_url: str
    sha256: Optional[str]
    time_limit_minutes: float
    size_limit_gb: float


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags and returns the class of its settings."""
    flags_lib.string(
        flag_values,
        "name",
        None,
        help="The model, such as base_v2 or xxlarge_zh; --name= may be left out.",
    )
    flags_lib.mark(flag_values, "required, except with --list", "name")
    flags_lib.boolean(flag_values, "list", False, help="Show the names there are, and end.")
    flags_lib.path(flag_values, "cache_dir", CACHE_DIR, help="Folder for downloaded models.")
    flags_lib.string(
        flag_values,
        "base_url",
        BASE_URL,
        help="Address of the folder that holds the archives: a mirror of the public one.",
    )
    flags_lib.string(
        flag_values,
        "sha256",
        None,
        help="SHA-256 that the archive must have, if you know it. That of the first download is "
        "recorded, and every later one must have the same.",
    )
    flags_lib.floating(
        flag_values,
        "time_limit_minutes",
        USUAL_LIMITS.seconds / 60,
        lower_bound=0.001,
        help="Give up after so long; what has arrived is kept for the next start.",
    )
    flags_lib.floating(
        flag_values,
        "size_limit_gb",
        USUAL_LIMITS.bytes / 1e9,
        lower_bound=0.001,
        help="Refuse an archive of more than this.",
    )
    return DownloadSettings


if __name__ == "__main__":  # before TensorFlow is imported
    flags_lib.answer_early(define_flags, usage=__doc__, positional="name")

from albert.pretrained import downloads, released


def main(settings: DownloadSettings):
    """Runs the script.

    Raises:
      ValueError: no such model, or what released.obtain raises.
    """
    if settings.list:
        row = "{:<12}{:<30}{:<16}{}".format
        print(row("name", "archive", "folder in it", "vocabulary"))
        for name, archive, folder, vocabulary in released.RELEASES.values():
            print(row(name, archive, f"{folder}/", vocabulary))
        return
    if not settings.name:
        raise ValueError(
            "No model is named. Write for example `python -m albert.download_model base_v2`; "
            "--list shows the names."
        )
    folder = released.obtain(
        released.find_release(settings.name),
        sha256=settings.sha256,
        cache_dir=settings.cache_dir,
        base_url=settings.base_url,
        limits=downloads.Limits(
            60 * settings.time_limit_minutes, int(1e9 * settings.size_limit_gb)
        ),
    )
    print(folder)
    print(f"--albert_dir={folder}")


def cli():
    """Runs the script with the process's own arguments."""
    flags_lib.run(main, define_flags, usage=__doc__, positional="name")


if __name__ == "__main__":
    cli()
