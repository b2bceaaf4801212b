# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What others have published of ALBERT, and one's own results beside it; without TensorFlow.

    model = recognise(config.to_dict(), "albert_base_v2")
    compare("squad_v1", model, {"f1": [89.9, 90.3]})

The numbers are in published.json: tables of results, the sizes of files, hyper-parameters by task
and model, and what is known to go wrong; each with its source. docs/published.md shows them all.
Scores are in per cent.
"""

import functools
import json
import math
import pathlib
import re
import statistics
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from albert import configs
from albert.util import wording

_SHAPE = {  # configuration key -> default; they make the size
    "embedding_size": 128,
    "hidden_size": 4096,
    "num_hidden_layers": 12,
    "intermediate_size": 16384,
    "num_hidden_groups": 1,
    "inner_group_num": 1,
    "share_type": "all",
}
# Heads are not compared: xlarge was published with 16 and with 32.
_RELEASE = {"vocab_size": None, "embedding_layout": "google", "ln_type": "postln"}
_DROPOUT = {"hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0}
_NAMED = re.compile(r"(?<![a-z])(base|x{0,2}large)_(v1|v2|zh)(?![a-z0-9])")
_HUB_MODULE = re.compile(r"google/albert_(base|x{0,2}large)/([123])$")
_HUB_VERSIONS = {"1": "v1", "2": "v2", "3": "v2"}


@functools.lru_cache(maxsize=None)
def document() -> Dict[str, Any]:
    """Returns the content of published.json."""
    path = pathlib.Path(__file__).with_suffix(".json")
    return json.loads(path.read_text(encoding="utf-8"))


# ---- which model ----


class Model(NamedTuple):
    """A model as published ones are told apart: its size, and which of them it may be."""

    size: str
    presets: Tuple[str, ...]  # several where releases have equal configurations; () for none

    @property
    def name(self) -> str:
        """Returns the preset's name, or several, or the size of an unpublished model."""
        return " or ".join(self.presets) or f"a model of the size {self.size}"


def recognise(config: Optional[Mapping[str, Any]], *places: Optional[str]) -> Optional[Model]:
    """Returns the published model that a model is; None for another size than the published ones.

    Args:
      config: the keys of its configuration; None if it is not known.
      places: folders and handles, whose names tell releases with equal configurations apart.
    """
    named = [name for place in places if place for name in _names_in(place)]
    presets = configs.preset_names()
    if config is None:
        found = tuple(dict.fromkeys(named))[:1]
        return Model(_size_of(found[0]), found) if found else None
    read = {
        name: json.loads(pathlib.Path(configs.preset_path(name)).read_text()) for name in presets
    }
    same_size = [name for name in presets if _equal(read[name], config, _SHAPE)]
    if not same_size:
        return None
    fitting = [name for name in same_size if _equal(read[name], config, _RELEASE)]
    chosen = [name for name in fitting if name in named]
    chosen = chosen or [name for name in fitting if _equal(read[name], config, _DROPOUT)]
    return Model(_size_of(same_size[0]), tuple(chosen))


def _names_in(place: str) -> List[str]:
    """The releases that a path or handle names."""
    found = [f"albert_{size}_{version}" for size, version in _NAMED.findall(place)]
    for size, number in _HUB_MODULE.findall(place):
        found.append(f"albert_{size}_{_HUB_VERSIONS[number]}")
    return found


def _equal(one: Mapping[str, Any], other: Mapping[str, Any], defaults: Mapping[str, Any]) -> bool:
    return all(one.get(key, value) == other.get(key, value) for key, value in defaults.items())


def _size_of(preset: str) -> str:
    """The part of a preset's name that is its size; "" of a name without one."""
    return next((part for part in preset.split("_") if part not in _NO_SIZES), "")


_NO_SIZES = ("albert", "v1", "v2", "zh")


# ---- results ----


class Row(NamedTuple):
    """A published score, in per cent."""

    source: str  # a key of `sources`
    model: str  # as it was published
    preset: str  # the same in our names; without version where that was not said; "" for others
    task: str
    metric: str
    split: str  # "" where it was not said
    value: float


def rows(task: str, metric: str, split: str = "dev") -> List[Row]:
    """Returns the published scores of a task, those of a split that was not said included."""
    task = document()["same_data"].get(task, task)
    return [
        row
        for result in document()["results"]
        for row in _rows_of(result)
        if (row.task, row.metric) == (task, metric) and row.split in (split, "")
    ]


def _rows_of(result: Mapping[str, Any]) -> Iterator[Row]:
    """The numbers of a published table."""
    for line in result["rows"]:
        for column, value in zip(result["columns"], line["values"]):
            if value is not None:
                about = (result["source"], line["model"], line["preset"])
                yield Row(*about, column["task"], column["metric"], column["split"], float(value))


def fair_rows(task: str, metric: str, model: Model, *, split: str = "dev") -> List[Row]:
    """Returns the scores to compare a model with: of its release, or else of its size."""
    found = [row for row in rows(task, metric, split) if row.preset]
    unsaid = {preset.rpartition("_")[0] for preset in model.presets if "zh" not in preset}
    same = [row for row in found if row.preset in model.presets or row.preset in unsaid]
    near = [row for row in found if _size_of(row.preset) == model.size]
    unique = {(row.source, row.preset, row.value): row for row in reversed(same or near)}
    return list(reversed(list(unique.values())))


class Comparison(NamedTuple):
    """One's own score beside a published one; in per cent."""

    task: str
    metric: str
    split: str
    model: str  # one's own
    runs: int
    mean: float
    deviation: Optional[float]  # of the sample; None for a single run
    published: float
    published_model: str
    source: str


def compare(
    task: str,
    model: Optional[Model],
    scores: Mapping[str, Sequence[float]],
    *,
    split: str = "dev",
) -> List[Comparison]:
    """Returns one's own scores, one for each seed, beside what is published of the model.

    Args:
      task: name of a task, such as "mnli" or "squad_v2".
      model: see `recognise`; None is compared with nothing.
      scores: by metric, in per cent; metrics without a published score are left out.
      split: "dev" or "test".
    """
    found: List[Comparison] = []
    for metric, values in scores.items():
        if model is None or not all(map(math.isfinite, values)):
            continue
        mean = statistics.mean(map(float, values))
        spread = statistics.stdev(map(float, values)) if len(values) > 1 else None
        own = (task, metric, split, model.name, len(values), mean, spread)
        for row in fair_rows(task, metric, model, split=split):
            project = document()["sources"][row.source]["project"]
            found.append(Comparison(*own, row.value, row.model, project))
    return found


def table(comparisons: Sequence[Comparison]) -> List[str]:
    """Returns comparisons as the lines of a table; none for none."""
    cells = [("task", "metric", "own", "deviation", "n", "published", "difference", "of")]
    for one in comparisons:
        spread = "-" if one.deviation is None else f"{one.deviation:.2f}"
        scores = (f"{one.mean:.2f}", spread, str(one.runs), f"{one.published:.1f}")
        origin = f"{one.published_model}, {one.source}"
        cells.append((one.task, one.metric, *scores, f"{one.mean - one.published:+.2f}", origin))
    return wording.table(cells, left=(0, 1, 7)) if comparisons else []
