# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Compares your results with published results of ALBERT. Does not import TensorFlow.

    model = recognise(config.to_dict(), "albert_base_v2")
    compare("squad_v1", model, {"f1": [89.9, 90.3]})

published.json has the numbers, each with its source: tables of results, sizes of files,
hyper-parameters by task and model, and known problems. docs/published.md shows them all. Scores are
in per cent.
"""

import functools
import json
import math
import pathlib
import re
import statistics
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from albert import configs
from albert.util import wording

_SHAPE = {  # the keys that define a size, with their defaults
    "embedding_size": 128,
    "hidden_size": 4096,
    "num_hidden_layers": 12,
    "intermediate_size": 16384,
    "num_hidden_groups": 1,
    "inner_group_num": 1,
    "share_type": "all",
}
_IN_PER_CENT = ("squad_v1", "squad_v2")  # The official scripts of these tasks give per cent.
# The number of heads does not count: xlarge was published with 16 and with 32.
_RELEASE = {"vocab_size": None, "embedding_layout": "google", "ln_type": "postln"}
_DROPOUT = {"hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0}
# A model's name in the name of a folder, or at the end of a TF-Hub handle.
_NAMED = re.compile(r"(?<![a-z])(base|x{0,2}large)(?:_(v1|v2|zh)(?![a-z0-9])|/([123])$)")
_HUB_VERSIONS = {"1": "v1", "2": "v2", "3": "v2"}


@functools.lru_cache(maxsize=None)
def document() -> Dict[str, Any]:
    """Returns the content of published.json."""
    return json.loads(pathlib.Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))


# ---- which model ----


class PublishedModel(NamedTuple):
    """A published size, and the published models that have it."""

    size: str
    presets: Tuple[str, ...]  # several if releases have equal configurations; () if unpublished

    @property
    def name(self) -> str:
        """Returns the names of the presets or, for an unpublished model, its size."""
        return " or ".join(self.presets) or f"a model of the size {self.size}"


def recognise(config: Mapping[str, Any], *sources: Optional[str]) -> Optional[PublishedModel]:
    """Returns the published model with this configuration; None if its size was not published.

    Args:
      config: the model's configuration.
      sources: folders and TF-Hub handles. If releases have equal configurations, names such as
        base_v2 in the sources decide between them.
    """

    def equals(name: str, defaults: Mapping[str, Any]) -> bool:
        preset = json.loads(pathlib.Path(configs.preset_path(name)).read_text())
        return all(
            preset.get(key, default) == config.get(key, default)
            for key, default in defaults.items()
        )

    same_size = [name for name in configs.preset_names() if equals(name, _SHAPE)]
    if not same_size:
        return None
    named = [
        f"albert_{size}_{version or _HUB_VERSIONS[number]}"
        for source in filter(None, sources)
        for size, version, number in _NAMED.findall(source)
    ]
    fitting = [name for name in same_size if equals(name, _RELEASE)]
    chosen = [name for name in fitting if name in named]
    chosen = chosen or [name for name in fitting if equals(name, _DROPOUT)]
    return PublishedModel(_size_of(same_size[0]), tuple(chosen))


def _size_of(preset: str) -> str:
    """Returns the size in a preset's name, such as "base"; "" if the name has no size."""
    return re.sub("albert|v1|v2|zh|_", "", preset)


# ---- results ----


class PublishedScore(NamedTuple):
    """A published score, in per cent."""

    source: str  # a key of `sources` in published.json
    model: str  # the name in the source
    preset: str  # our name, without a version if the source does not give one; "" if not ours
    value: float


def rows(task: str, metric: str, split: str = "dev") -> List[PublishedScore]:
    """Returns the published scores of a task, including scores whose split is unknown."""
    task = document()["same_data"].get(task, task)
    return [
        PublishedScore(result["source"], line["model"], line["preset"], float(value))
        for result in document()["results"]
        for line in result["rows"]
        for column, value in zip(result["columns"], line["values"])
        if (column["task"], column["metric"]) == (task, metric)
        and column["split"] in (split, "")
        and value is not None
    ]


def per_cent(task: str, value: float) -> float:
    """Returns a score in per cent. SQuAD's scores are in per cent already."""
    return value if task in _IN_PER_CENT else 100.0 * value


class Comparison(NamedTuple):
    """Your score and a published score, in per cent."""

    task: str
    metric: str
    split: str
    model: str  # your model
    runs: int
    mean: float
    deviation: Optional[float]  # sample standard deviation; None for a single run
    published: float
    published_model: str
    source: str


def compare(
    task: str, model: Optional[PublishedModel], scores: Mapping[str, Sequence[float]]
) -> List[Comparison]:
    """Compares your scores on dev data, one per seed, with the published ones.

    Args:
      task: the name of a task, such as "mnli" or "squad_v2".
      model: see `recognise`; None gives no comparisons. The published scores are of the model's
        release or, if there are none, of its size.
      scores: {metric: scores in per cent}. Metrics without published scores are left out.
    """
    comparisons: List[Comparison] = []
    if model is None:
        return comparisons
    releases = {*model.presets, *(re.sub("_v[12]$", "", name) for name in model.presets)}
    for metric, values in scores.items():
        if not all(map(math.isfinite, values)):
            continue
        mean = statistics.mean(values)
        spread = statistics.stdev(values) if len(values) > 1 else None
        own = (task, metric, "dev", model.name, len(values), mean, spread)
        published = rows(task, metric)
        same_release = [row for row in published if row.preset in releases]
        same_size = [row for row in published if _size_of(row.preset) == model.size]
        # A source may have the same score in two tables.
        unique = {(row.source, row.preset, row.value): row for row in same_release or same_size}
        for row in unique.values():
            project = document()["sources"][row.source]["project"]
            comparisons.append(Comparison(*own, row.value, row.model, project))
    return comparisons


def comparison_table(comparisons: Sequence[Comparison]) -> List[str]:
    """Formats comparisons as the lines of a table."""
    cells = [("task", "metric", "own", "deviation", "n", "published", "difference", "of")]
    for comparison in comparisons:
        cells.append(
            (
                comparison.task,
                comparison.metric,
                f"{comparison.mean:.2f}",
                "-" if comparison.deviation is None else f"{comparison.deviation:.2f}",
                str(comparison.runs),
                f"{comparison.published:.1f}",
                f"{comparison.mean - comparison.published:+.2f}",
                f"{comparison.published_model}, {comparison.source}",
            )
        )
    return wording.table(cells, left=(0, 1, 7)) if comparisons else []
