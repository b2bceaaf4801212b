# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files with predictions, in the formats of google-research/albert, GLUE and CLUE.

test_results.tsv      a line per example: the tab-separated probabilities of the labels
submit_results.tsv    a header (index, prediction), then ID and label of each example
MRPC.tsv              the same for GLUE (gluebenchmark.com: "Submission format")
afqmc_predict.json    CLUE: a line {"id": row, "label": name} per example
"""

import itertools
import json
import os
import zipfile
from typing import Dict, Iterable, List, Sequence

import numpy as np

from albert.data.packing import Arrays
from albert.tasks.classification.examples import InputExample, TaskSpec
from albert.tasks.classification.task_table import GLUE
from albert.util import files as file_utils

# GLUE's site accepts only submissions with all these files.
GLUE_SUBMISSION_FILES = tuple(sorted({file for task in GLUE for file in task.submissions.values()}))
_HIGHEST_STSB_SCORE = 5.0
# CLUE's names ("Submission" in its repository) if they differ from the task's name. {} is the
# version of the test data.
_CLUE_NAMES = {"tnews": "tnews{}", "wsc": "cluewsc{}", "ocnli": "ocnli_50k"}


def split_files(
    task: TaskSpec,
    examples: Sequence[InputExample],
    outputs: Arrays,
    *,
    split: str,
    is_old: bool = False,
) -> Dict[str, str]:
    """Returns the files with a test split's predictions: name -> text.

    The files of the first split have the published names. Files of other splits have the split's
    name, as in test_results_mismatched.tsv. With is_old, the data are CLUE's test1.0.json.
    """
    suffix, answers = task.suffix(split), _answers(task, outputs)
    written = result_files(task, examples, outputs, suffix=suffix)
    if task.submissions:
        if task.is_regression:
            scores = np.clip(np.ravel(outputs["predictions"]), 0.0, _HIGHEST_STSB_SCORE)
            answers = [f"{score:.3f}" for score in scores]
        written[task.submissions[split]] = _submission(examples, answers)
    elif not suffix:
        if task.examples_per_row > 1:
            # COPA's answer is the choice with the higher probability of the last label.
            belongs = outputs["probabilities"][:, -1].reshape([-1, task.examples_per_row])
            answers = list(map(str, belongs.argmax(axis=1)))
        name = _CLUE_NAMES.get(task.name, task.name).format("10" if is_old else "11")
        written[f"{name}_predict.json"] = _text(
            json.dumps({"id": row, "label": answer}, ensure_ascii=False)
            for row, answer in enumerate(answers)
        )
    return written


def result_files(
    task: TaskSpec, examples: Sequence[InputExample], outputs: Arrays, *, suffix: str = ""
) -> Dict[str, str]:
    """Returns test_results.tsv and submit_results.tsv: name -> text.

    Args:
      task: a task with L labels.
      examples: N examples.
      outputs: probabilities, float32 [N, L] (regression: scores [N, 1]), and predictions, label ids
        [N] (regression: float scores [N]).
      suffix: suffix of the names, such as "_mismatched".
    """
    rows = np.reshape(outputs["probabilities"], [len(examples), -1])
    return {
        f"test_results{suffix}.tsv": _text("\t".join(map(str, row)) for row in rows),
        f"submit_results{suffix}.tsv": _submission(examples, _answers(task, outputs)),
    }


def _answers(task: TaskSpec, outputs: Arrays) -> List[str]:
    """Returns the name of each predicted label, or its labels; for regression, the score."""
    if task.is_multi_label:
        return [
            task.label_separator.join(itertools.compress(task.labels, row))
            for row in outputs["predictions"]
        ]
    predictions = np.ravel(outputs["predictions"])
    return [str(number) if task.is_regression else task.labels[number] for number in predictions]


def _submission(examples: Sequence[InputExample], answers: Sequence[str]) -> str:
    rows = [f"{example.guid}\t{answer}" for example, answer in zip(examples, answers)]
    return _text(["index\tprediction", *rows])


def _text(lines: Iterable[str]) -> str:
    return "".join(line + "\n" for line in lines)


def zip_glue_submission(zip_path: str, paths: Iterable[str]) -> List[str]:
    """Packs files with GLUE's names into a zip file. Returns the names that GLUE needs in addition.

    The same content gives the same bytes.
    """
    contents = {os.path.basename(path): file_utils.read_bytes(path) for path in paths}
    with file_utils.atomic_path(zip_path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name in sorted(contents):
            archive.writestr(zipfile.ZipInfo(name), contents[name], zipfile.ZIP_DEFLATED)
    return [name for name in GLUE_SUBMISSION_FILES if name not in contents]
