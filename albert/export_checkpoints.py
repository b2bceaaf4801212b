# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes a pretrained model without the state of its optimizer.

  python -m albert.export_checkpoints --albert_directory=output/base \\
      --export_path=albert_mine/model.ckpt-best

--albert_directory is the --output_dir of run_pretraining, another folder with albert_config.json
and checkpoints, or the name of a released model. The new checkpoint has a third of the size.
The new folder also holds the configuration and the vocabulary, so you can pass it as --albert_dir.
The command does not overwrite files.
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
