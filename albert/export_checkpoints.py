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

import dataclasses
import functools
import os
from typing import Optional

from albert.configs.shared_flags import TokenizerFlags
from albert.util import cli
from albert.util.flags import flag


@dataclasses.dataclass(frozen=True)
class Flags(TokenizerFlags):
    """The script's flags."""

    albert_directory: str = flag(
        None, "Folder with albert_config.json and the checkpoint.", path=True, required=True
    )
    checkpoint_name: Optional[str] = flag(
        None, "Checkpoint in --albert_directory; default: model.ckpt-best, or else the newest."
    )
    export_path: str = flag(
        None, "The new checkpoint: a path prefix, or a folder.", path=True, required=True
    )


@cli.reads_flags(Flags)
def main(flags: Flags) -> None:
    """Runs the script."""
    from albert.formats import model_folder
    from albert.models import pretrained, released

    folder, checkpoint = released.local_folder(flags.albert_directory), flags.checkpoint_name
    model = pretrained.find_model(
        flags,
        needs_vocabulary=False,
        albert_dir=folder,
        init_checkpoint=checkpoint and os.path.join(folder, checkpoint),
    )
    build = functools.partial(pretrained.pretraining_outputs, model.config)
    model_folder.export(model, build, flags.export_path)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
