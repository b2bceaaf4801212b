# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The tables of names against the variables that models really have."""

import pytest
import tensorflow.compat.v1 as tf

from albert import classifier_utils, modeling
from albert.checkpoints import names as checkpoint_names
from tests.support import albert_zh_models, pretrained_models, squad_models

CONFIG = {
    "vocab_size": 50,
    "embedding_size": 8,
    "hidden_size": 16,
    "num_hidden_layers": 4,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 24,
    "type_vocab_size": 3,
}


PRETRAINING = (checkpoint_names.MASKED_WORDS, checkpoint_names.SENTENCE_ORDER)
FINE_TUNING = (checkpoint_names.CLASSIFIER, checkpoint_names.SPANS, checkpoint_names.TAGS)


def model_shapes(build):
    with tf.Graph().as_default():
        build(*[tf.zeros([1, 4], tf.int32)] * 3)
        return {item.op.name: tuple(item.shape.as_list()) for item in tf.trainable_variables()}


def pretraining_shapes(config):
    return model_shapes(lambda *inputs: pretrained_models.build(config, *inputs))


def classifier_shapes(config, labels):
    return model_shapes(
        lambda *inputs: classifier_utils.create_model(
            config, False, *inputs, None, labels, False, "custom", None
        )
    )


def names_in(parts, *left_out):
    return [name for part, names in parts.items() if part not in left_out for name in names]


def table_shapes(parts, *left_out):
    return {name.ours: name.shape for name in names_in(parts, *left_out)}


@pytest.mark.parametrize(
    "changes",
    [
        {"num_hidden_groups": 3, "embedding_size": 16},
        {"num_hidden_groups": 2, "inner_group_num": 2},
        {"share_type": "none"},
    ],
)
def test_huggingface_table_has_pretraining_variables(changes):
    config = modeling.AlbertConfig.from_dict(dict(CONFIG, **changes))
    table = table_shapes(checkpoint_names.huggingface(config), *FINE_TUNING)
    assert table == pretraining_shapes(config)


def test_huggingface_table_has_fine_tuning_heads():
    config = modeling.AlbertConfig.from_dict(CONFIG)
    parts = checkpoint_names.huggingface(config, 5)
    classifier = table_shapes(parts, *FINE_TUNING[1:], *PRETRAINING)
    assert classifier == classifier_shapes(config, 5)
    spans = model_shapes(lambda *inputs: squad_models.build(config, *inputs))
    assert table_shapes(parts, *FINE_TUNING[::2], *PRETRAINING) == spans


@pytest.mark.parametrize("labels, ln_type", [(None, "postln"), (None, "preln"), (4, "postln")])
def test_albert_zh_table_has_variables_of_both(labels, ln_type):
    settings = dict(albert_zh_models.CONFIG, ln_type=ln_type)
    config = modeling.AlbertConfig.from_dict(dict(settings, embedding_layout="albert_zh"))
    parts = checkpoint_names.albert_zh(config, labels)
    left_out = PRETRAINING if labels else FINE_TUNING
    ours = classifier_shapes(config, labels) if labels else pretraining_shapes(config)
    assert table_shapes(parts, *left_out) == ours
    theirs = dict(name.sides(True)[0] for name in names_in(parts, *left_out))
    assert theirs == albert_zh_models.shapes(settings, labels)
