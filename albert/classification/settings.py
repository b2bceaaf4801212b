# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of run_classifier, and those of a custom task, which sweep and predict have too."""

import dataclasses
import functools
from typing import Optional

from albert.classification.task_table import CUSTOM, TASKS, get_task
from albert.configs import flags as shared
from albert.util.errors import UserError
from albert.util.flags import Settings, flag

EXIT_THRESHOLD = 0.1  # of scores

_data = functools.partial(flag, group="Data")
_custom = functools.partial(flag, None, group="Custom task (--task_name=custom)")
_prediction = functools.partial(flag, group="Evaluation and prediction")


@dataclasses.dataclass(frozen=True)
class CustomTaskFlags(Settings):
    """The flags of a custom task; a task file has the same names without "_column"."""

    task_file: Optional[str] = _custom("JSON file with the values of these flags.", path=True)
    text_a_column: Optional[str] = _custom("Column of the text: number from 0, or name.")
    text_b_column: Optional[str] = _custom("Column of the second text, for pairs.")
    label_column: Optional[str] = _custom("Column of the label.")
    guid_column: Optional[str] = _custom("Column of the example's name.")
    header: Optional[bool] = _custom("Whether TSV and CSV files have a header row.")
    labels: Optional[str] = _custom("Labels, comma-separated, or the word regression.")
    metric: Optional[str] = _custom("Metric that chooses the best checkpoint, such as f1.")
    metrics: Optional[str] = _custom("Other metrics, comma-separated.")
    train_file: Optional[str] = _custom("Training data below --data_dir: TSV, CSV, JSON, Parquet.")
    dev_file: Optional[str] = _custom("Data to evaluate on, in the same format.")
    test_file: Optional[str] = _custom("Data to predict, in the same format.")


@dataclasses.dataclass(frozen=True)
class ExitFlags(Settings):
    """The flags of answers before the last layer (arXiv:2006.04152)."""

    exit_patience: Optional[int] = _prediction(
        None, "Answer once this many layers agree; needs a model of --early_exit.", lower=1
    )
    exit_threshold: float = _prediction(
        EXIT_THRESHOLD, "Scores of a regression that differ by less agree.", above=0
    )

    def check(self) -> None:
        """Refuses --exit_threshold where nothing asks for it."""
        super().check()
        if self.exit_threshold != EXIT_THRESHOLD and not self.exit_patience:
            raise UserError(
                f"--exit_threshold={self.exit_threshold} needs --exit_patience. Give both."
            )


@dataclasses.dataclass(frozen=True)
class ClassifierFlags(shared.TaskFlags, CustomTaskFlags, ExitFlags):
    """The flags of run_classifier."""

    task_name: str = _data(None, f"{', '.join(TASKS)}, or {CUSTOM}.", required=True)
    data_dir: Optional[str] = _data(
        None, "Folder of the data sets (with MRPC and so on in it), or of the task.", path=True
    )
    predict_file: Optional[str] = _data(
        None, "Predict this file (TSV, CSV, JSON lines, Parquet), not the test data.", path=True
    )
    early_exit: bool = flag(False, "Train a head after each layer, for --exit_patience.")
    keep_checkpoint_max: int = shared.keep_checkpoint_max()
    export_dir: Optional[str] = flag(
        None, "Export the best checkpoint into this folder.", path=True, group="Output"
    )
    threshold_to_export: float = flag(
        float("nan"), "Constant output `threshold` of the exported model.", group="Output"
    )

    def check(self) -> None:
        """Checks the task's name."""
        super().check()
        if self.task_name.strip().lower() != CUSTOM:
            get_task(self.task_name)
