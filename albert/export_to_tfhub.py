# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exports a pretrained model as a TF-Hub module.

  python -m albert.export_to_tfhub --albert_directory=albert_base --export_path=modules/albert_base

--albert_directory is a folder of run_pretraining or export_checkpoints, or an unpacked archive, or
the name of a released model. Configuration, checkpoint and vocabulary are found there as by
--albert_dir of the other commands; flags name them where there are several. The module of
--format=tf1 (the default) is for --albert_hub_module_handle of the other commands and for
hub.Module, that of --format=tf2 for hub.load and hub.KerasLayer.
"""

from albert.command_line import cli
from albert.pretrained.settings import HubExportFlags as Flags


@cli.reads_flags(Flags)
def main(settings: Flags) -> None:
    """Runs the script."""
    from albert.pretrained import hub

    hub.export(settings)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
