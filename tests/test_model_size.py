# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Sizes from a configuration alone, against graphs that are built."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import classifier_utils, configs, model_size, modeling, race_utils
from albert.squad import heads as squad_heads
from albert.training import model_fn as training_graph

BATCH, LENGTH, PREDICTIONS = 4, 12, 3

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


def tiny_config(**changes):
    settings = {
        "vocab_size": 50,
        "embedding_size": 8,
        "hidden_size": 16,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "intermediate_size": 24,
        "max_position_embeddings": 20,
    }
    settings.update(changes)
    return modeling.AlbertConfig(**settings)


def features_of(task):
    """Placeholders for a batch of the task."""
    count = BATCH * model_size.TASKS[task].sequences
    ints = {name: [count, LENGTH] for name in ("input_ids", "input_mask", "segment_ids")}
    if task == "race":
        ints = {name: [BATCH, 4, LENGTH] for name in ints}
    ints.update(label_ids=[BATCH], next_sentence_labels=[BATCH, 1], is_impossible=[BATCH])
    ints.update(start_positions=[BATCH], end_positions=[BATCH])
    ints.update(masked_lm_positions=[BATCH, PREDICTIONS], masked_lm_ids=[BATCH, PREDICTIONS])
    floats = {"p_mask": [BATCH, LENGTH], "masked_lm_weights": [BATCH, PREDICTIONS]}
    features = {name: tf.placeholder(tf.int32, shape) for name, shape in ints.items()}
    features.update({name: tf.placeholder(tf.float32, shape) for name, shape in floats.items()})
    return features


HEADS = {
    "classification": lambda: classifier_utils.classification_head(5, False),
    "squad_v1": lambda: squad_heads.v1_head(LENGTH),
    "squad_v2": lambda: squad_heads.v2_head(squad_heads.BeamSize(), 0.1),
    "race": lambda: race_utils.choice_head(0.1),
}


def build_pretraining(config):
    """The forward pass with both heads."""
    features = features_of("pretraining")
    model = modeling.AlbertModel(config, False, features["input_ids"], scope="bert")
    modeling.get_masked_lm_output(
        config,
        model.get_sequence_output(),
        model.get_embedding_table(),
        features["masked_lm_positions"],
        features["masked_lm_ids"],
        features["masked_lm_weights"],
        projection=model.get_embedding_projection(),
    )
    modeling.get_sentence_order_output(
        config, model.get_pooled_output(), features["next_sentence_labels"]
    )


def build_training(config, task):
    """A task's update."""
    settings = training_graph.FineTuningModel(config)
    model_fn = training_graph.build_model_fn(settings, HEADS[task]())
    model_fn(features_of(task), None, "train", {})


def shapes_of(variables):
    return {variable.op.name: tuple(variable.shape.as_list()) for variable in variables}


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


def operations_of(config, task):
    return model_size.operations(
        config,
        task,
        sequences=BATCH * model_size.TASKS[task].sequences,
        length=LENGTH,
        predictions=PREDICTIONS,
        num_labels=5,
    )


def flat(parts):
    return {name: shape for shapes in parts.values() for name, shape in shapes.items()}


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_variables_and_products_are_those_of_the_pretraining_graph(variant):
    config = tiny_config(**VARIANTS[variant])
    with tf.Graph().as_default() as graph:
        build_pretraining(config)
        assert flat(model_size.variables(config)) == shapes_of(tf.trainable_variables())
    assert operations_of(config, "pretraining").forward == product_operations(graph)


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(HEADS))
def test_variables_slots_and_products_are_those_of_each_tasks_update(task):
    config = tiny_config(ln_type="preln")
    with tf.Graph().as_default() as graph:
        build_training(config, task)
        assert flat(model_size.variables(config, task, num_labels=5)) == shapes_of(
            tf.trainable_variables()
        )
        slots = [
            shape
            for name, shape in shapes_of(tf.global_variables()).items()
            if name.endswith(("/adam_m", "/adam_v"))
        ]
    counts = model_size.parameter_counts(config, task, num_labels=5)
    unused = 0 if model_size.TASKS[task].uses_pooler else counts[model_size.POOLER]
    assert sum(map(model_size.elements, slots)) == 2 * (sum(counts.values()) - unused)
    # The sequences that SQuAD's loss does not pool are pooled in the graph, which never runs that.
    pooling = 2 * BATCH * config.hidden_size**2 if unused else 0
    expected = operations_of(config, task)
    total = expected.forward + expected.backward + pooling
    assert total == pytest.approx(product_operations(graph), rel=0.04)


def test_published_sizes_have_their_published_parameters():
    published = {
        "albert_base_v2": (11683584, 11813810),
        "albert_xxlarge_v2": (222595584, 223158450),
        "albert_zh_base": (10877440, 11492234),
    }
    for name, (backbone, whole) in published.items():
        config = modeling.AlbertConfig.from_json_file(configs.preset_path(name))
        counts = model_size.parameter_counts(config)
        assert sum(counts.values()) == whole
        assert sum(counts.values()) - counts[model_size.HEAD] == backbone


def test_an_unknown_task_is_refused_with_a_suggestion():
    with pytest.raises(ValueError, match="'squad_v3'.*Did you mean 'squad_v[12]'.*pretraining"):
        model_size.parameter_counts(tiny_config(), "squad_v3")
