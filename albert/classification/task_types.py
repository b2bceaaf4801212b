# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a classification task is made of.

See `task_table` for the tasks there are and `tasks` for how to use them.
"""

from typing import List, Mapping, NamedTuple, Optional, Tuple

from albert.classification.examples import Split

# Metrics, by the names they have in eval_results.txt, and whether more is better.
METRICS = {
    "eval_accuracy": True,
    "f1": True,
    "matthew_corr": True,
    "pearson": True,
    "spearman": True,
    "MSE": False,
    "eval_loss": False,
}


class Recipe(NamedTuple):
    """Hyper-parameters that are known to work. A run is given in steps or in epochs; 0: not so."""

    max_seq_length: int
    train_batch_size: int
    learning_rate: float
    train_step: int = 0
    warmup_step: int = 0
    save_checkpoints_steps: int = 0  # 0: once an epoch
    num_train_epochs: float = 0.0
    warmup_proportion: float = 0.0


class Task(NamedTuple):
    """A classification or regression task."""

    name: str
    folders: Tuple[str, ...]  # names of its folder, the official one first; any case is accepted
    splits: Tuple[Split, ...]
    labels: Tuple[str, ...]  # in the order of their ids; () is regression
    recipe: Recipe
    metrics: Tuple[str, ...] = ("eval_accuracy",)  # beside eval_loss; keys of METRICS
    best_metric: str = "eval_accuracy"  # chooses the checkpoint, on the first dev split
    label_aliases: Mapping[str, str] = {}
    dropped_labels: Tuple[str, ...] = ()
    submissions: Mapping[str, str] = {}  # test split -> file name in GLUE's zip
    clue_name: str = ""  # CLUE's predictions go to <clue_name>_predict.json
    examples_per_row: int = 1  # in the data file; of several, the likeliest one is the answer

    @property
    def folder(self) -> str:
        """Returns the official name of the task's folder."""
        return self.folders[0] if self.folders else ""

    @property
    def is_regression(self) -> bool:
        """Returns whether the label is a number."""
        return not self.labels

    @property
    def is_pair(self) -> bool:
        """Returns whether an example has two texts."""
        return any(
            source.reading.text_b is not None for split in self.splits for source in split.sources
        )

    @property
    def num_labels(self) -> int:
        """Returns the number of outputs of the head."""
        return len(self.labels) or 1

    @property
    def label_list(self) -> List[Optional[str]]:
        """Returns the labels as processors do: [None] for regression."""
        return list(self.labels) or [None]

    @property
    def higher_is_better(self) -> bool:
        """Returns whether a larger best_metric is better."""
        return METRICS[self.best_metric]

    @property
    def dev_splits(self) -> Tuple[str, ...]:
        """Returns the names of the splits to evaluate on; the first decides."""
        return tuple(split.name for split in self.splits if split.role == "dev")

    @property
    def test_splits(self) -> Tuple[str, ...]:
        """Returns the names of the splits to predict."""
        return tuple(split.name for split in self.splits if split.role == "test")

    def split(self, name: str) -> Split:
        """Returns a split; "dev" and "test" stand for the first one.

        Raises:
          ValueError: the task has no such split.
        """
        for split in self.splits:
            if name in (split.name, split.role):
                return split
        names = ", ".join(split.name for split in self.splits)
        raise ValueError(f"Task '{self.name}' has no {name} data; it has: {names}.")
