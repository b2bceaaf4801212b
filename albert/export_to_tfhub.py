# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exports a pretrained model as a TF-Hub module.

  python -m albert.export_to_tfhub --albert_directory=albert_base --export_path=modules/albert_base

--albert_directory is a folder of run_pretraining or export_checkpoints, an unpacked archive, or the
name of a released model. If the folder has several checkpoints or vocabularies, choose one with the
flags below. --format=tf1 (the default) writes a module for --albert_hub_module_handle of the other
commands and for hub.Module. --format=tf2 writes one for hub.load and hub.KerasLayer.
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
