# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes a trained model without its optimizer: encoder and pretraining heads only.

  python -m albert.export_checkpoints --albert_directory=output/base \\
      --export_path=albert_mine/model.ckpt-best

--albert_directory is what run_pretraining has written, or any folder with albert_config.json and
checkpoints, or the name of a released model. The new checkpoint has less than half of the bytes.
Configuration and vocabulary are put beside it, so that the new folder is used as a released archive
is: by --albert_dir. The vocabulary is the one in --albert_directory unless a flag names another.
Nothing is overwritten.
"""

from albert.command_line import cli
from albert.pretrained.settings import CheckpointExportFlags as Flags


@cli.reads_flags(Flags)
def main(settings: Flags) -> None:
    """Runs the script."""
    from albert.pretrained import checkpoint_export

    checkpoint_export.export(settings)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
