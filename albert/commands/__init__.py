# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The commands of `albert` that google-research/albert does not have. No other folder imports them.

`albert NAME` runs albert/commands/NAME.py or, for a script of google-research/albert,
albert/NAME.py.
"""

import importlib.util

GROUPS = {
    "Data": (
        "download_data",
        "train_vocab",
        "create_pretraining_data",
        "create_pretraining_data_beam",
        "create_pretraining_data_spark",
    ),
    "Training": (
        "run_pretraining",
        "run_classifier",
        "run_squad_v1",
        "run_squad_v2",
        "run_race",
        "run_multiple_choice",
        "run_tagger",
        "sweep",
    ),
    "Inference": ("predict", "embed", "fill_mask"),
    "Models": (
        "download_model",
        "convert_checkpoint",
        "export_checkpoints",
        "export_to_tfhub",
        "export_model",
    ),
    "Help": ("demo", "plan", "doctor", "plot", "show_changes"),
}
NAMES = [name for names in GROUPS.values() for name in names]


def module_of(name: str) -> str:
    """Returns the module of a command, without importing it."""
    own = f"{__name__}.{name}"
    return own if importlib.util.find_spec(own) else f"albert.{name}"
