# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The plan of a training run, compared with graphs, with arithmetic by hand, and with a run."""

import json
import re
import shutil

import pytest

from albert import configs
from albert.commands import plan
from albert.configs import model_config
from albert.util import UserError
from tests.support import FIXTURES, cases, read_json, scripts

BATCH, LENGTH, PREDICTIONS, LABELS = 4, 12, 3, 5

# Of each task: its sizes and operations, counted in TensorFlow's graphs of training.
GRAPHS = read_json(FIXTURES / "plan.json")


def tiny_config(**changes):
    sizes = {"vocab_size": 50, "embedding_size": 8, "hidden_size": 16, "num_hidden_layers": 3}
    sizes.update(num_attention_heads=2, intermediate_size=24, max_position_embeddings=20)
    return model_config.AlbertConfig(**dict(sizes, **changes))


def tiny_run(task):
    sizes = {"batch": BATCH, "max_seq_length": LENGTH, "max_predictions_per_seq": PREDICTIONS}
    return plan.Flags(task=task, num_labels=LABELS, **sizes)


BASE = model_config.AlbertConfig.from_json_file(configs.preset_path("albert_base_v2"))
CLASSIFICATION = plan.Flags(task="classification", max_seq_length=128, runtime_gb=0.0)


def peak(changes, config=None):
    """The peak of a classification with albert-base, of which `config` changes some values."""
    changed = model_config.AlbertConfig.from_dict(dict(BASE.to_dict(), **(config or {})))
    return plan.memory(changed, CLASSIFICATION.replace(**changes))["peak"]


# ---- against graphs ----


@pytest.mark.parametrize("name", GRAPHS)
def test_sizes_and_operations_equal_graphs(name):
    graph, task = GRAPHS[name], GRAPHS[name]["task"]
    config = tiny_config(**graph["changes"])
    assert model_config.parameter_counts(config, task, num_labels=LABELS) == graph["sizes"]
    operations = plan.operations(config, tiny_run(task))
    if task == "pretraining":
        assert operations["forward"] == graph["operations"]
    else:
        assert plan.memory(config, tiny_run(task))["slots"] == 4 * graph["slots"]
        assert operations["total"] == pytest.approx(graph["operations"], rel=0.04)


# ---- memory ----


def test_activation_memory_is_counted_by_hand():
    # T = 32 * 128 tokens, H = 768: 8 T H (input, query, key, value, attention's sum, results of the
    # two sub-layers and the LayerNorm between), 4 T H before gelu, and 32 * 12 * 128 * 128 scores.
    tokens = 32 * 128
    blocks = 4 * (12 * (12 * tokens * 768 + 32 * 12 * 128 * 128) + tokens * 768)
    counted = plan.FRAGMENTATION * (blocks + 4 * 2 * tokens * 128)
    assert plan.memory(BASE, CLASSIFICATION)["activations"] == pytest.approx(counted)


@pytest.mark.parametrize(
    "changes, config, lowest, highest",
    [
        ({"batch": 33}, {}, 1, 2),
        ({"task": "race"}, {}, 1, 5),
        ({}, {"share_type": "none"}, 1, 2),
        ({}, {"hidden_dropout_prob": 0.1}, 1, 2),
        ({"task": "pretraining", "max_predictions_per_seq": 80}, {}, 1, 2),
        ({"recompute": True}, {}, 0, 0.5),
        ({"precision": "bfloat16"}, {}, 0.3, 1),
        ({"gradient_accumulation_steps": 8}, {}, 0, 0.5),
    ],
)
def test_peak_memory_changes_with_run(changes, config, lowest, highest):
    assert lowest < peak(changes, config) / peak({}) < highest


def test_checkpoint_bytes_have_two_slots():
    sizes = plan.checkpoint_bytes(BASE, CLASSIFICATION.replace(task="squad_v1"))
    assert sizes["weights"] == 4 * (11683584 + 2 * 768 + 2)
    assert sizes["with_slots"] == 3 * sizes["weights"] - 8 * (768 * 768 + 768)


def test_largest_batch_fits_and_one_more_does_not():
    largest = plan.largest_batch(BASE, CLASSIFICATION)
    assert peak({"batch": largest}) <= 12e9 < peak({"batch": largest + 1})
    assert plan.largest_batch(BASE, CLASSIFICATION.replace(memory_gb=0.1)) == 0
    # The sums of gradients take a little.
    accumulated = CLASSIFICATION.replace(gradient_accumulation_steps=4)
    assert largest * 0.95 < plan.largest_batch(BASE, accumulated) <= largest


def test_devices_share_the_batch():
    alone = CLASSIFICATION.replace(batch=8)
    shared = CLASSIFICATION.replace(batch=32, devices=4)
    assert plan.memory(BASE, shared) == plan.memory(BASE, alone)
    assert plan.operations(BASE, shared)["total"] == 4 * plan.operations(BASE, alone)["total"]
    assert plan.largest_batch(BASE, shared) == plan.largest_batch(BASE, alone)


# ---- the command ----


def run_plan(*arguments):
    scripts.run(plan, arguments)


def as_json(capsys, *arguments):
    run_plan("--json", *arguments)
    return json.loads(capsys.readouterr().out)


def test_main_prints_table_and_json(capsys, tmp_path):
    shutil.copy(configs.preset_path("albert_zh_tiny"), tmp_path / "albert_config.json")
    flags = [f"--albert_dir={tmp_path}", "--batch=64", "--gradient_accumulation_steps=2"]
    flags += ["--recompute", "--precision=float16", "--memory_gb=2", "--runtime_gb=0.5"]
    ways = as_json(capsys, *flags)["ways"]
    (way,) = [way for way in ways if way["is_chosen"]]
    assert (way["precision"], way["recompute"]) == ("float16", True)
    assert way["operations"]["recomputation"] > 0 == way["largest_batch"] % 2
    assert way["memory_bytes"]["runtime"] == 5e8
    run_plan(*flags)
    lines = capsys.readouterr().out.splitlines()
    rows = {cells[0]: cells[1:] for cells in (re.split("  +", line) for line in lines)}
    assert rows["total"] == [f"{way['operations']['total'] / 1e9:,.2f}"]
    assert rows["largest batch in 2 GB"] == [f"{way['largest_batch']:,}" for way in ways]


def test_time_of_a_step_needs_the_speed_of_a_device(capsys):
    ways = as_json(capsys, "base_v2", "--devices=2", "--tflops=50")["ways"]
    seconds = ways[0]["operations"]["total"] / 100e12
    assert [way["seconds_per_step"] for way in ways[::2]] == [pytest.approx(seconds), None]
    assert "seconds_per_step" not in as_json(capsys, "base_v2")["ways"][0]


def test_table_agrees_with_published_sizes(capsys):
    rows = as_json(capsys, "--table")
    assert len(rows) == 12 + 4 + 8
    for row in rows[:3]:
        assert row["published_millions"] == pytest.approx(row["without_heads"] / 1e6, rel=0.03)
    for row in rows[-8:]:
        assert row["published_mb"] == pytest.approx(row["mb"], abs=0.08), row["name"]


@pytest.mark.parametrize(
    "arguments, named",
    cases.table("""
        --name=base_v2 --albert_dir=x         | --name and --albert_dir
        --name=base_v2 --albert_config_file=x | --name and --albert_config_file
        --name=bse_v2                         | albert_base_v
        --albert_dir=nowhere                  | nowhere
        --name=base_v2 --max_seq_length=600   | --max_seq_length=600
        --name=base_v2 --batch=30 --devices=4 | --batch=30
    """),
)
def test_main_refuses(arguments, named):
    with pytest.raises(UserError, match=named):
        run_plan(*arguments.split())
