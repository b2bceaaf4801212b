# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads the curve and the results that a training writes into its folder. Needs no TensorFlow."""

import csv
import io
import math
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Tuple

from albert.util import UserError, files, json_files

CURVE_NAME = "training_curve.csv"
SUMMARY_NAME, CONFUSION_NAME = "run_summary.json", "confusion_matrix.json"
STEM = "eval_results"
LEDGER_NAME = f"{STEM}.json"
LOSSES = ("MSE", "eval_loss")  # metrics whose lowest value is the best

METRICS_SCHEMA: Dict[Any, Any] = {str: json_files.NUMBER}
IDENTITY_SCHEMA = (str, dict, None)  # dict: written by an older version, so evaluate again
_LEDGER = {
    "fingerprint": dict,
    "best_step": (json_files.COUNT, None),
    "results": [
        {"step": json_files.COUNT, "checkpoint": IDENTITY_SCHEMA, "metrics": METRICS_SCHEMA}
    ],
}
_SUMMARY = {
    "task": str,
    "metric": str,
    "seed": int,
    "metrics": ({str: json_files.NUMBER}, None),
    "model": ({"size": str, "presets": [str]}, None),
}


class Evaluation(NamedTuple):
    """The metrics of the checkpoint of one step."""

    step: int
    metrics: Dict[str, float]


def read_curve(path: str) -> List[Dict[str, str]]:
    """Returns the rows of a training curve. Values are text: a number, or "" if missing.

    Skips a last line without a line break. Raises UserError if the file is damaged.
    """
    text = files.read_text(path)
    try:
        rows = list(csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1])))
        if text and not text.startswith("step,"):
            raise UserError("it does not begin with 'step'")
        for row in rows:
            int(row["step"])
            for value in row.values():
                float(value or 0)
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise UserError(f"'{path}' is not a training curve ({error}). Rename it.") from None
    return rows


def read_results(output_dir: str) -> List[Evaluation]:
    """Returns a folder's results in step order; UserError if another program wrote the file."""
    results = read_ledger(str(output_dir))["results"]
    return [Evaluation(result["step"], result["metrics"]) for result in results]


def read_ledger(output_dir: str) -> Dict[str, Any]:
    """Returns the content of eval_results.json; without results if there is none."""
    path = os.path.join(output_dir, LEDGER_NAME)
    ledger = json_files.read(
        path, _LEDGER, missing={"fingerprint": {}, "best_step": None, "results": []}
    )
    for result in ledger["results"]:
        result["metrics"] = json_files.numbers(result["metrics"])
    return ledger


def rank_of(metrics: Mapping[str, Any], best_metric: str) -> Tuple[float, ...]:
    """Returns a sort key that is highest for the best checkpoint: the metric, then minus loss."""
    value = metrics.get(best_metric, math.nan) * (-1 if best_metric in LOSSES else 1)
    gain = -metrics.get("loss", metrics.get("eval_loss", math.nan))
    return tuple(number if math.isfinite(number) else -math.inf for number in (value, gain))


def read_summary(path: str, *, missing: Any = None) -> Dict[str, Any]:
    """Returns a run_summary.json, its metrics as numbers; `missing`, if any, without the file."""
    summary = json_files.read(path, _SUMMARY, missing=missing)
    if summary:
        summary["metrics"] = json_files.numbers(summary.get("metrics") or {})
    return summary
