# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes on several tasks, with several seeds and settings.

  python -m albert sweep --data_dir=glue --model_dir=base_v2 --output_dir=output/glue
  python -m albert sweep --suite=clue --data_dir=clue --model_dir=albert_base_zh \\
      --output_dir=output/clue --tasks=afqmc,tnews --seeds=1-3
  python -m albert sweep --tasks=mrpc --learning_rate=1e-5,3e-5 --train_batch_size=16,32 \\
      --seeds=1-3 --data_dir=glue --model_dir=base_v2 --output_dir=output/search

Each task uses its published hyper-parameters unless you give others. If you give several values,
separated by commas, the sweep trains all combinations. The table then has one row per combination
and marks the best one. For a task of your own, use --tasks=custom and the flags of run_classifier
that describe it.

The sweep checks all inputs before the first run starts. Each run writes to its own folder,
output_dir/TASK/seed-N or output_dir/TASK/SETTING/seed-N. If a run fails, the sweep stops. To skip
finished runs and resume the others, run the same command again. Results go to results.txt and
results.json in --output_dir. For GLUE, glue_submission.zip has the predictions of each task's best
run.

You can also set each flag as an environment variable in capital letters, such as DATA_DIR=glue.
Flags override variables. If you set ALBERT_ROOT, as for run_glue.sh of google-research/albert, the
defaults are --data_dir=ALBERT_ROOT/glue and --output_dir=ALBERT_ROOT/output. The default model is
ALBERT_ROOT if that folder has an albert_config.json, otherwise base_v1. INIT_CHECKPOINT replaces
the model's checkpoint.
"""

import os
from typing import Dict, Iterable, Mapping

from albert.formats.flags import CONFIG_NAME
from albert.tasks.classification.flags import SweepFlags as Flags
from albert.util import cli, files
from albert.util import flags as flags_lib


def environment_flags(names: Iterable[str], environment: Mapping[str, str]) -> Dict[str, str]:
    """Returns the flags that environment variables, such as DATA_DIR, set.

    ALBERT_ROOT sets the flags that the published run_glue.sh derives from it.
    """
    values = {name: environment[name.upper()] for name in names if environment.get(name.upper())}
    root = environment.get("ALBERT_ROOT")
    if not root:
        return values
    derived = {"data_dir": os.path.join(root, "glue"), "output_dir": os.path.join(root, "output")}
    holds_model = files.exists(os.path.join(root, CONFIG_NAME))
    model_flags = ["model_dir", "albert_dir", "albert_hub_module_handle"]
    if not holds_model:
        model_flags.append("init_checkpoint")
    if not set(model_flags) & set(values):
        derived["model_dir"] = root if holds_model else "base_v1"
    return {**derived, **values}


def main(flags: Flags) -> None:
    """Runs the script."""
    from albert.tasks.classification import sweep

    sweep.sweep(flags)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__, fallback=environment_flags(flags_lib.describe(Flags), os.environ))
