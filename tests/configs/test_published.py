# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The published numbers: typing errors, which model they are of, and own results beside them."""

import math

import pytest

from albert import configs
from albert.configs import published
from tests.support import read_json


def config_of(name, **changes):
    return dict(read_json(configs.preset_path(name)), **changes)


BASE_V2 = published.PublishedModel("base", ("albert_base_v2",))

# ---- the data ----


@pytest.mark.parametrize(
    "row, preset, values",
    [
        ("race eval_accuracy test", "albert_xxlarge_v1", [86.5, 86.5]),
        ("lcqmc eval_accuracy dev", "albert_zh_base", [87.2, 86.4, 87.4]),
        ("xnli eval_accuracy dev", "albert_base_v2", []),
    ],
)
def test_rows_by_task_metric_split_and_model(row, preset, values):
    assert [one.value for one in published.rows(*row.split()) if one.preset == preset] == values


# ---- which model ----


@pytest.mark.parametrize("name", configs.preset_names())
def test_recognise_finds_preset(name):
    model = published.recognise(config_of(name))
    # The two versions of xxlarge have the same configuration.
    same = [name] if "xxlarge_v" not in name else ["albert_xxlarge_v1", "albert_xxlarge_v2"]
    assert list(model.presets) == same and model.size in name.split("_")


# Where a folder's name contradicts the sizes, these count.
@pytest.mark.parametrize(
    "changes, places, presets",
    [
        ({"num_attention_heads": 6}, [], "base_v2"),
        ({"hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1}, [], "base_v1"),
        ({"hidden_dropout_prob": 0.1}, ["/models/albert_base_v2", None], "base_v2"),
        ({}, ["models/xlarge_v1"], "base_v2"),
        ({}, ["https://tfhub.dev/google/albert_base/1"], "base_v1"),
        ({"vocab_size": 8000}, ["base_v2"], ""),
        ({"embedding_layout": "albert_zh"}, [], ""),
    ],
)
def test_recognise_finds_release_by_dropout_and_name(changes, places, presets):
    model = published.recognise(config_of("albert_base_v2", **changes), *places)
    assert model == ("base", (f"albert_{presets}",) if presets else ())


@pytest.mark.parametrize(
    "changes", [{"num_hidden_layers": 2}, {"hidden_size": 256}, {"share_type": "none"}]
)
def test_recognise_refuses_another_size(changes):
    assert published.recognise(config_of("albert_base_v2", **changes), "albert_base_v2") is None


# ---- one's own results ----


def test_compare_gives_own_and_published_score():
    (found,) = published.compare("mnli", BASE_V2, {"eval_accuracy": [84.5, 85.5]})
    assert (found.runs, found.mean, found.published) == (2, 85.0, 84.6)
    assert found.deviation == pytest.approx(0.5**0.5)
    assert "+0.40" in published.comparison_table([found])[-1]


def test_compare_leaves_out_unpublished_or_nan():
    scores = {"eval_accuracy": [math.nan, 84.0], "eval_loss": [0.4]}
    assert published.compare("mnli", BASE_V2, scores) == []
    assert published.compare("qnli", BASE_V2, {"eval_accuracy": [90.0]}) == []
    assert published.comparison_table([]) == []
