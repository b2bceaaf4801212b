# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The plan of a training run, compared with graphs, with arithmetic by hand, and with a run."""

import json
import re
import shutil

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import classifier_utils, configs, modeling, plan, race_utils
from albert.configs.flags import FineTuningFlags
from albert.squad import heads
from albert.training import model_fn as training_graph
from albert.util import flags as flags_lib
from albert.util.errors import UserError

BATCH, LENGTH, PREDICTIONS, LABELS = 4, 12, 3, 5

VARIANTS = {
    "google": {},
    "a mapping less, nothing shared": {"embedding_size": 16, "share_type": "none"},
    "albert_zh, a mapping less, preln": {
        "embedding_layout": "albert_zh",
        "embedding_size": 16,
        "ln_type": "preln",
    },
    "attention shared": {"share_type": "attention"},
    "inner groups": {"inner_group_num": 2, "share_type": "ffn", "num_hidden_groups": 2},
}
HEADS = {
    "classification": lambda: classifier_utils.classification_head(LABELS, False),
    "squad_v1": lambda: heads.v1_head,
    "squad_v2": lambda: heads.v2_head(heads.BeamSize(), 0.1),
    "race": lambda: race_utils.choice_head(0.1),
}


def tiny_config(**changes):
    sizes = {"vocab_size": 50, "embedding_size": 8, "hidden_size": 16, "num_hidden_layers": 3}
    sizes.update(num_attention_heads=2, intermediate_size=24, max_position_embeddings=20)
    return modeling.AlbertConfig(**dict(sizes, **changes))


def tiny_run(task):
    sizes = {"batch": BATCH, "max_seq_length": LENGTH, "max_predictions_per_seq": PREDICTIONS}
    return plan.Flags(task=task, num_labels=LABELS, **sizes)


BASE = modeling.AlbertConfig.from_json_file(configs.preset_path("albert_base_v2"))
CLASSIFICATION = plan.Flags(task="classification", max_seq_length=128, runtime_gb=0.0)


def peak(changes, config=None):
    """The peak of a classification with albert-base, of which `config` changes some values."""
    changed = modeling.AlbertConfig.from_dict(dict(BASE.to_dict(), **(config or {})))
    return plan.memory(changed, CLASSIFICATION.replace(**changes))["peak"]


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
def test_operations_match_the_pretraining_graph(variant):
    config = tiny_config(**VARIANTS[variant])
    with tf.Graph().as_default() as graph:
        build_pretraining(config)
        assert modeling.parameter_counts(config) == sizes_of(tf.trainable_variables())
    found = plan.operations(config, tiny_run("pretraining"))
    assert found["forward"] == product_operations(graph)


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(HEADS))
def test_operations_and_slots_match_the_update_of_a_task(task):
    config = tiny_config(ln_type="preln")
    with tf.Graph().as_default() as graph:
        settings = FineTuningFlags(use_xla=False)
        model_fn = training_graph.build_model_fn(settings, config, HEADS[task]())
        model_fn(features_of(task), None, "train", {})
        counts = modeling.parameter_counts(config, task, num_labels=LABELS)
        assert counts == sizes_of(tf.trainable_variables())
        slots = [
            variable.shape.num_elements()
            for variable in tf.global_variables()
            if variable.op.name.endswith(("/adam_m", "/adam_v"))
        ]
    assert plan.memory(config, tiny_run(task))["slots"] == 4 * sum(slots)
    # The sequences that SQuAD's loss does not pool are pooled in the graph, which never runs that.
    pooling = 2 * BATCH * config.hidden_size**2 if task.startswith("squad") else 0
    total = plan.operations(config, tiny_run(task))["total"] + pooling
    assert total == pytest.approx(product_operations(graph), rel=0.04)


@pytest.mark.parametrize(
    "name, backbone, whole",
    [
        ("albert_base_v2", 11683584, 11813810),
        ("albert_xxlarge_v2", 222595584, 223158450),
        ("albert_zh_base", 10877440, 11492234),
    ],
)
def test_size_has_the_published_parameters(name, backbone, whole):
    row = plan.size(name)
    assert (row["without_heads"], row["parameters"]) == (backbone, whole)


# ---- memory ----


def test_memory_of_activations_is_what_was_counted_by_hand():
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
        ({"max_seq_length": 129}, {}, 1, 2),
        ({"task": "race"}, {}, 1, 5),
        ({}, {"num_hidden_layers": 13}, 1, 2),
        ({}, {"share_type": "none"}, 1, 2),
        ({}, {"hidden_dropout_prob": 0.1}, 1, 2),
        ({}, {"attention_probs_dropout_prob": 0.1}, 1, 2),
        ({"task": "pretraining", "max_predictions_per_seq": 80}, {}, 1, 2),
        ({"recompute": True}, {}, 0, 0.5),
        ({"precision": "bfloat16"}, {}, 0.3, 1),
        ({"gradient_accumulation_steps": 8}, {}, 0, 0.5),
    ],
)
def test_memory_grows_with_the_run_and_shrinks_by_savings(changes, config, lowest, highest):
    assert lowest < peak(changes, config) / peak({}) < highest


def test_checkpoint_bytes_have_two_slots_for_each_trained_parameter():
    sizes = plan.checkpoint_bytes(BASE, CLASSIFICATION.replace(task="squad_v1"))
    assert sizes["weights"] == 4 * (11683584 + 2 * 768 + 2)
    assert sizes["with_slots"] == 3 * sizes["weights"] - 8 * (768 * 768 + 768)


@pytest.mark.parametrize("recompute", [False, True])
def test_largest_batch_fits_and_one_more_does_not(recompute):
    run = CLASSIFICATION.replace(recompute=recompute)
    largest = plan.largest_batch(BASE, run)
    assert largest > 32
    fitting, above = (peak({"recompute": recompute, "batch": largest + more}) for more in (0, 1))
    assert fitting <= 12e9 < above
    assert plan.largest_batch(BASE, run.replace(memory_gb=0.1)) == 0
    # The sums of gradients take a little.
    micro = plan.largest_batch(BASE, run.replace(gradient_accumulation_steps=4))
    assert largest * 0.95 < micro <= largest


# ---- the command ----


def run(*arguments):
    plan.main(flags_lib.parse(plan.Flags, list(arguments)))


def as_json(capsys, *arguments):
    run("--json", *arguments)
    return json.loads(capsys.readouterr().out)


def test_main_prints_a_table_and_the_same_as_json(capsys, tmp_path):
    shutil.copy(configs.preset_path("albert_zh_tiny"), str(tmp_path / "albert_config.json"))
    flags = [f"--albert_dir={tmp_path}", "--batch=64", "--gradient_accumulation_steps=2"]
    flags += ["--recompute", "--precision=float16", "--memory_gb=2", "--runtime_gb=0.5"]
    planned = as_json(capsys, *flags)
    (way,) = [way for way in planned["ways"] if way["is_chosen"]]
    assert (way["precision"], way["recompute"]) == ("float16", True)
    assert way["operations"]["recomputation"] > 0 == way["largest_batch"] % 2
    assert way["memory_bytes"]["runtime"] == 5e8
    run(*flags)
    lines = capsys.readouterr().out.splitlines()
    rows = {cells[0]: cells[1:] for cells in (re.split("  +", line) for line in lines)}
    assert rows["total"] == [f"{way['operations']['total'] / 1e9:,.2f}"]
    assert rows["largest batch in 2 GB"] == [f"{way['largest_batch']:,}" for way in planned["ways"]]


def test_table_agrees_with_the_sizes_that_authors_give(capsys):
    rows = as_json(capsys, "--table")
    assert len(rows) == 12 + 4 + 8
    assert [row["published_millions"] for row in rows[:4]] == [12, 18, 60, 235]
    for row in rows[:3]:
        assert row["published_millions"] == pytest.approx(row["without_heads"] / 1e6, rel=0.03)
    # The parameters that albert_pytorch saves, in 10^6 bytes; the first file is a little larger.
    saved = {row["parameters"]: row["mb"] for row in rows[-8:]}
    assert saved[102882442] == pytest.approx(4 * 119.108746) and 11492234 in saved
    for row in rows[-8:]:
        assert row["published_mb"] == pytest.approx(row["mb"], abs=0.08), row["name"]


@pytest.mark.parametrize(
    "arguments, named",
    [
        ([], "nothing"),
        (["--name=base_v2", "--albert_dir=x"], "--name and --albert_dir"),
        (["--name=bse_v2"], "albert_base_v"),
        (["--albert_dir=nowhere"], "nowhere"),
        (["--name=base_v2", "--max_seq_length=600"], "--max_seq_length=600"),
        (["--name=base_v2", "--gradient_accumulation_steps=5"], "--batch=32"),
    ],
)
def test_main_refuses(arguments, named):
    with pytest.raises(UserError, match=named):
        run(*arguments)
