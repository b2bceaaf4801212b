# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Compares the losses of trainings, each with the first one's: the largest relative difference.

    python -m albert.run_pretraining --log_steps=1 --output_dir=a ...     # on another runtime: b
    python benchmarks/compare_losses.py a b

--log_steps=1 writes the loss of every update, in full, for TensorBoard.
"""

import glob
import os
import sys
from typing import Dict

import tensorflow.compat.v1 as tf


def losses_in(folder: str) -> Dict[int, float]:
    """Returns the loss of each update that the events in a training's folder have."""
    return {
        event.step: value.simple_value
        for path in sorted(glob.glob(os.path.join(folder, "events.*")))
        for event in tf.train.summary_iterator(path)
        for value in event.summary.value
        if value.tag == "loss"
    }


def main(first: str, *others: str) -> None:
    """Prints a line for each of the others: after 1, 20, 100 updates and all of them."""
    expected = losses_in(first)
    for folder in others:
        found = losses_in(folder)
        assert sorted(found) == sorted(expected), f"{folder}: other updates than in {first}"
        differences = {step: abs(found[step] / loss - 1) for step, loss in expected.items()}
        counts = [count for count in (1, 20, 100) if count < max(found)] + [max(found)]
        columns = [
            f"{count}: {max(value for step, value in differences.items() if step <= count):.1e}"
            for count in counts
        ]
        print(folder, *columns, sep="  ")


if __name__ == "__main__":
    main(*sys.argv[1:])
