# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The plan of a training run, compared with graphs, with arithmetic by hand, and with a run."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import classifier_utils, configs, modeling, plan, race_utils
from albert.squad import heads
from albert.training import model_fn as training_graph
from albert.util import flags as flags_lib

ROOT = pathlib.Path(__file__).resolve().parents[1]
BATCH, LENGTH, PREDICTIONS, LABELS = 4, 12, 3, 5
NO_RUNTIME = plan.TF2._replace(standing=0.0)

VARIANTS = {
    "google": {},
    "a mapping less, nothing shared": {"embedding_size": 16, "share_type": "none"},
    "albert_zh": {"embedding_layout": "albert_zh"},
    "albert_zh, a mapping less, preln": {
        "embedding_layout": "albert_zh",
        "embedding_size": 16,
        "ln_type": "preln",
    },
    "attention shared": {"share_type": "attention"},
    "ffn shared": {"share_type": "ffn"},
    "groups": {"num_hidden_groups": 2},
    "inner groups": {"inner_group_num": 2, "share_type": "ffn", "num_hidden_groups": 2},
}
HEADS = {
    "classification": lambda: classifier_utils.classification_head(LABELS, False),
    "squad_v1": lambda: heads.v1_head(LENGTH),
    "squad_v2": lambda: heads.v2_head(heads.BeamSize(), 0.1),
    "race": lambda: race_utils.choice_head(0.1),
}


def tiny_config(**changes):
    sizes = {"vocab_size": 50, "embedding_size": 8, "hidden_size": 16, "num_hidden_layers": 3}
    sizes.update(num_attention_heads=2, intermediate_size=24, max_position_embeddings=20)
    return modeling.AlbertConfig(**dict(sizes, **changes))


def tiny_job(config, task):
    return plan.Job(config, task, BATCH, LENGTH, predictions=PREDICTIONS, num_labels=LABELS)


def base_job(config=None, **changes):
    """A classification with albert-base, of which `config` changes some values."""
    preset = modeling.AlbertConfig.from_json_file(configs.preset_path("albert_base_v2"))
    of_config = modeling.AlbertConfig.from_dict(dict(preset.to_dict(), **(config or {})))
    return plan.Job(of_config, "classification", 32, 128)._replace(**changes)


def peak(job):
    return plan.memory(job, NO_RUNTIME)["peak"]


# ---- against graphs ----


def features_of(task):
    """Placeholders for a batch of the task."""
    ints = {name: [BATCH, LENGTH] for name in ("input_ids", "input_mask", "segment_ids")}
    if task == "race":
        ints = {name: [BATCH, 4, LENGTH] for name in ints}
    ints.update(label_ids=[BATCH], next_sentence_labels=[BATCH, 1], is_impossible=[BATCH])
    ints.update(start_positions=[BATCH], end_positions=[BATCH])
    ints.update(masked_lm_positions=[BATCH, PREDICTIONS], masked_lm_ids=[BATCH, PREDICTIONS])
    floats = {"p_mask": [BATCH, LENGTH], "masked_lm_weights": [BATCH, PREDICTIONS]}
    features = {name: tf.placeholder(tf.int32, shape) for name, shape in ints.items()}
    features.update({name: tf.placeholder(tf.float32, shape) for name, shape in floats.items()})
    return features


def build_pretraining(config):
    """The forward pass with both heads."""
    features = features_of("pretraining")
    model = modeling.AlbertModel(config, False, features["input_ids"], scope="bert")
    sequence, table = model.get_sequence_output(), model.get_embedding_table()
    names = ("masked_lm_positions", "masked_lm_ids", "masked_lm_weights")
    words = [features[name] for name in names]
    projection = model.get_embedding_projection()
    modeling.get_masked_lm_output(config, sequence, table, *words, projection=projection)
    labels = features["next_sentence_labels"]
    modeling.get_sentence_order_output(config, model.get_pooled_output(), labels)


def sizes_of(variables):
    """Elements by the part of the model."""
    found = {"embeddings": 0, "encoder": 0, "pooler": 0, "head": 0}
    for variable in variables:
        name = variable.op.name.replace("encoder/embedding_hidden_mapping_in", "embeddings")
        part = name.split("/")[1] if name.startswith("bert/") else "head"
        found[part] += variable.shape.num_elements()
    return found


def product_operations(graph):
    """Two for each multiply-add of the matrix products in a graph."""
    total = 0
    for operation in graph.get_operations():
        if "MatMul" in operation.type:
            left = operation.inputs[0].shape.as_list()
            flag = "transpose_a" if operation.type == "MatMul" else "adj_x"
            inner = left[-2] if operation.get_attr(flag) else left[-1]
            total += 2 * inner * int(np.prod(operation.outputs[0].shape.as_list()))
    return total


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_parameters_and_products_are_those_of_the_pretraining_graph(variant):
    config = tiny_config(**VARIANTS[variant])
    with tf.Graph().as_default() as graph:
        build_pretraining(config)
        assert modeling.parameter_counts(config) == sizes_of(tf.trainable_variables())
    found = plan.operations(tiny_job(config, "pretraining"))
    assert found["forward"] == product_operations(graph)


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(HEADS))
def test_parameters_slots_and_products_are_those_of_each_tasks_update(task):
    config = tiny_config(ln_type="preln")
    with tf.Graph().as_default() as graph:
        settings = training_graph.FineTuningModel(config)
        model_fn = training_graph.build_model_fn(settings, HEADS[task]())
        model_fn(features_of(task), None, "train", {})
        counts = modeling.parameter_counts(config, task, num_labels=LABELS)
        assert counts == sizes_of(tf.trainable_variables())
        slots = [
            variable.shape.num_elements()
            for variable in tf.global_variables()
            if variable.op.name.endswith(("/adam_m", "/adam_v"))
        ]
    assert plan.memory(tiny_job(config, task), NO_RUNTIME)["slots"] == 4 * sum(slots)
    # The sequences that SQuAD's loss does not pool are pooled in the graph, which never runs that.
    pooling = 2 * BATCH * config.hidden_size**2 if task.startswith("squad") else 0
    total = plan.operations(tiny_job(config, task))["total"] + pooling
    assert total == pytest.approx(product_operations(graph), rel=0.04)


@pytest.mark.parametrize(
    "name, backbone, whole",
    [
        ("albert_base_v2", 11683584, 11813810),
        ("albert_xxlarge_v2", 222595584, 223158450),
        ("albert_zh_base", 10877440, 11492234),
    ],
)
def test_published_sizes_have_their_published_parameters(name, backbone, whole):
    row = plan.published_size(name)
    assert (row["without_heads"], row["parameters"]) == (backbone, whole)


# ---- memory ----


def test_activations_are_those_that_were_counted_by_hand():
    # T = 32 * 128 tokens, H = 768: 8 T H (input, query, key, value, attention's sum, results of the
    # two sub-layers and the LayerNorm between), 4 T H before gelu, and 32 * 12 * 128 * 128 scores.
    runtime = NO_RUNTIME._replace(activations_factor=1.0)
    tokens = 32 * 128
    blocks = 4 * (12 * (12 * tokens * 768 + 32 * 12 * 128 * 128) + tokens * 768)
    embeddings = 4 * 2 * tokens * 128
    assert plan.memory(base_job(), runtime)["activations"] == blocks + embeddings


@pytest.mark.parametrize(
    "changes, lowest, highest",
    [
        ({"batch": 33}, 1, 2),
        ({"length": 129}, 1, 2),
        ({"task": "race"}, 1, 5),
        ({"config": {"num_hidden_layers": 13}}, 1, 2),
        ({"config": {"share_type": "none"}}, 1, 2),
        ({"config": {"hidden_dropout_prob": 0.1}}, 1, 2),
        ({"config": {"attention_probs_dropout_prob": 0.1}}, 1, 2),
        ({"task": "pretraining", "predictions": 80}, 1, 2),
        ({"recompute": True}, 0, 0.5),
        ({"precision": "bfloat16"}, 0.3, 1),
        ({"recompute": True, "precision": "bfloat16"}, 0, 0.5),
        ({"accumulation": 8}, 0, 0.5),
    ],
)
def test_larger_runs_take_more_memory_and_savings_less(changes, lowest, highest):
    assert lowest < peak(base_job(**changes)) / peak(base_job()) < highest


def test_both_formats_of_two_bytes_take_the_same():
    assert peak(base_job(precision="float16")) == peak(base_job(precision="bfloat16"))


def test_checkpoints_have_two_slots_for_each_trained_parameter():
    sizes = plan.checkpoint_bytes(base_job(task="squad_v1"))
    assert sizes["weights"] == 4 * (11683584 + 2 * 768 + 2)
    assert sizes["with_slots"] == 3 * sizes["weights"] - 8 * (768 * 768 + 768)


@pytest.mark.parametrize("recompute", [False, True])
def test_the_largest_batch_fits_and_one_more_does_not(recompute):
    job = base_job(recompute=recompute)
    found = plan.largest_batch(job, NO_RUNTIME, memory_bytes=12e9)
    assert found > 32
    assert peak(job._replace(batch=found)) <= 12e9 < peak(job._replace(batch=found + 1))
    assert plan.largest_batch(job, NO_RUNTIME, memory_bytes=1e8) == 0
    # The sums of gradients take a little.
    micro = plan.largest_batch(job._replace(accumulation=4), NO_RUNTIME, memory_bytes=12e9)
    assert found * 0.95 < micro <= found


def test_recomputation_runs_the_blocks_once_more():
    once, again = plan.operations(base_job()), plan.operations(base_job(recompute=True))
    assert again["recomputation"] == pytest.approx(once["forward"], rel=0.02)
    assert once["recomputation"] == 0
    assert plan.operations(base_job(accumulation=4)) == once


@pytest.mark.slow
def test_the_sum_is_near_what_a_process_takes(tmp_path):
    """A model of a few megabytes on a batch that takes some hundreds; float32."""
    tiny = modeling.AlbertConfig.from_json_file(configs.preset_path("albert_zh_tiny"))
    settings = dict(tiny.to_dict(), num_hidden_layers=2, vocab_size=100)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(settings), encoding="utf-8")
    job = {"config": str(path), "task": "classification", "batch": 48, "length": 128}
    command = [sys.executable, str(ROOT / "benchmarks" / "training_process.py"), json.dumps(job)]
    environment = dict(os.environ, PYTHONPATH=str(ROOT), TF_CPP_MIN_LOG_LEVEL="3")
    # Without it the C library keeps freed memory, depending on the order of threads: 0.88-1.14 GB.
    environment["MALLOC_MMAP_THRESHOLD_"] = "131072"
    printed = subprocess.check_output(command, env=environment, universal_newlines=True)
    found = json.loads(printed.splitlines()[-1])
    runtime = plan.runtime_of(found["tensorflow"])
    planned = plan.memory(base_job(settings, batch=48), runtime)
    assert planned["peak"] == pytest.approx(found["peak_memory"], rel=0.2)


# ---- the command ----


def run(*arguments):
    plan.main(flags_lib.parse(plan.Flags, list(arguments)))


def as_json(capsys, *arguments):
    run("--json", *arguments)
    return json.loads(capsys.readouterr().out)


def test_tables_tell_parameters_operations_memory_and_batches(capsys):
    run("--name=base_v2", "--task=classification", "--max_seq_length=128")
    printed = capsys.readouterr().out
    lines = {line.strip()[:32].strip(): line for line in printed.splitlines()}
    assert lines["total"].split()[-1] == "2,147.9"
    assert "11,685,122" in printed
    assert "46.7 MB" in lines["checkpoint, weights alone"]
    assert "140.2 MB" in lines["checkpoint with slots"]
    assert lines["fits 12 GB"].split()[3:] == ["yes"] * 4
    assert len(lines["largest batch in 12 GB"].split()) == 9
    assert printed.count("*") == 2  # at a column, and what it means


def test_json_holds_the_same_numbers(capsys):
    sizes = ["--batch=64", "--max_seq_length=128", "--gradient_accumulation_steps=2"]
    ways = ["--recompute", "--precision=float16", "--memory_gb=2", "--runtime_gb=0.5"]
    found = as_json(capsys, "--name=albert_zh_tiny", *sizes, *ways)
    assert found["parameters"]["total"] == 4295186
    (way,) = [way for way in found["ways"] if way["is_chosen"]]
    assert (way["precision"], way["recompute"]) == ("float16", True)
    assert way["largest_batch"] == 2 * way["largest_micro_batch"] > 0
    assert way["fits"] == (way["memory_bytes"]["peak"] <= 2e9)
    assert [way["memory_bytes"]["runtime"] for way in found["ways"]] == [5e8] * 4


def test_a_folder_and_a_file_name_the_model_as_well(capsys, tmp_path):
    path = tmp_path / "albert_config.json"
    shutil.copy(configs.preset_path("albert_large_v2"), str(path))
    for flag in (f"--albert_config_file={path}", f"--albert_dir={tmp_path}"):
        assert as_json(capsys, flag)["parameters"]["total"] == 17847474


def test_the_list_shows_every_published_size(capsys):
    run("--list")
    printed = capsys.readouterr().out
    assert [line.split()[0] for line in printed.splitlines()[1:]] == configs.preset_names()
    assert "223,158,450" in printed
    assert [row["name"] for row in as_json(capsys, "--list")] == configs.preset_names()


def test_the_table_has_every_size_beside_the_one_that_its_authors_give(capsys):
    run("--table")
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("  albert") for line in lines) == 12 + 4 + 8
    rows = as_json(capsys, "--table")
    assert [row["published_millions"] for row in rows[:4]] == [12, 18, 60, 235]
    for row in rows[:3]:
        assert row["published_millions"] == pytest.approx(row["without_heads"] / 1e6, rel=0.03)
    # The parameters that albert_pytorch saves, in 10^6 bytes; the first file is a little larger.
    saved = {row["parameters"]: row["megabytes"] for row in rows[-8:]}
    assert saved[102882442] == pytest.approx(4 * 119.108746) and 11492234 in saved
    for row in rows[-8:]:
        assert row["published_megabytes"] == pytest.approx(row["megabytes"], abs=0.08), row["name"]


@pytest.mark.parametrize(
    "arguments, value",
    [
        ([], "nothing"),
        (["--name=base_v2", "--albert_dir=x"], "--name and --albert_dir"),
        (["--name=bse_v2"], "albert_base_v"),
        (["--albert_dir=nowhere"], "nowhere"),
        (["--name=base_v2", "--memory_gb=inf"], "memory_gb"),
        (["--name=base_v2", "--task=glue"], "glue"),
        (["--name=base_v2", "--max_seq_length=600"], "--max_seq_length=600"),
        (["--name=base_v2", "--gradient_accumulation_steps=5"], "--batch=32"),
    ],
)
def test_mistakes_are_refused(arguments, value):
    with pytest.raises(ValueError, match=value):
        run(*arguments)
