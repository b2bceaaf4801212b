# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The published sizes in albert/configs, against the tables they were published in."""

import json
import pathlib
from typing import NamedTuple

import pytest
import tensorflow.compat.v1 as tf

from albert import configs, modeling


class Published(NamedTuple):
    hidden_size: int
    intermediate_size: int
    num_attention_heads: int
    num_hidden_layers: int
    vocab_size: int
    dropout: float
    backbone: int  # parameters
    with_heads: int  # of pretraining
    variant: dict = {}


ZH = {"embedding_layout": "albert_zh", "ln_type": "postln"}
# Parameters of Google's models and of albert_zh_base are published; those of the others follow.
PUBLISHED = {
    "albert_base_v1": Published(768, 3072, 12, 12, 30000, 0.1, 11683584, 11813810),
    "albert_large_v1": Published(1024, 4096, 16, 24, 30000, 0.1, 17683968, 17847474),
    "albert_xlarge_v1": Published(2048, 8192, 16, 24, 30000, 0.1, 58724864, 59021490),
    "albert_xxlarge_v1": Published(4096, 16384, 64, 12, 30000, 0, 222595584, 223158450),
    "albert_base_v2": Published(768, 3072, 12, 12, 30000, 0, 11683584, 11813810),
    "albert_large_v2": Published(1024, 4096, 16, 24, 30000, 0, 17683968, 17847474),
    "albert_xlarge_v2": Published(2048, 8192, 16, 24, 30000, 0, 58724864, 59021490),
    "albert_xxlarge_v2": Published(4096, 16384, 64, 12, 30000, 0, 222595584, 223158450),
    "albert_base_zh": Published(768, 3072, 12, 12, 21128, 0, 10547968, 10669322),
    "albert_large_zh": Published(1024, 4096, 16, 24, 21128, 0, 16548352, 16702986),
    "albert_xlarge_zh": Published(2048, 8192, 16, 24, 21128, 0, 57589248, 57877002),
    "albert_xxlarge_zh": Published(4096, 16384, 64, 12, 21128, 0, 221459968, 222013962),
    "albert_zh_tiny": Published(312, 1248, 12, 4, 21128, 0, 4175152, 4295186, ZH),
    "albert_zh_small": Published(384, 1536, 12, 6, 21128, 0, 4742272, 4813706),
    "albert_zh_base": Published(768, 3072, 12, 12, 21128, 0, 10877440, 11492234, ZH),
    "albert_zh_large": Published(1024, 4096, 16, 24, 21128, 0, 17009664, 18084490, ZH),
    "albert_zh_xlarge": Published(2048, 8192, 32, 24, 21128, 0, 58577920, 62803594, ZH),
    "albert_zh_xxlarge": Published(
        4096, 16384, 64, 12, 21128, 0, 223503360, 240322186, dict(ZH, ln_type="preln")
    ),
}


def test_every_preset_is_in_the_table_and_the_other_way_round():
    folder = pathlib.Path(configs.__file__).parent
    assert sorted(path.stem for path in folder.glob("albert_*.json")) == sorted(PUBLISHED)
    assert configs.preset_names() == sorted(PUBLISHED)


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_preset_has_its_published_sizes(name):
    published = PUBLISHED[name]
    config = modeling.AlbertConfig.from_json_file(configs.preset_path(name))
    for field in Published._fields[:5]:
        assert getattr(config, field) == getattr(published, field), field
    assert config.hidden_dropout_prob == published.dropout
    assert config.attention_probs_dropout_prob == published.dropout
    assert (config.embedding_size, config.max_position_embeddings) == (128, 512)
    assert (config.num_hidden_groups, config.inner_group_num) == (1, 1)
    assert (config.type_vocab_size, config.initializer_range) == (2, 0.02)
    assert (config.hidden_act, config.down_scale_factor) == ("gelu", 1)
    # A variant is stated only where the model is not Google's.
    keys = json.loads(pathlib.Path(configs.preset_path(name)).read_text(encoding="utf-8"))
    assert {key: keys[key] for key in modeling.VARIANTS if key in keys} == published.variant


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_preset_has_its_published_number_of_parameters(name):
    config = modeling.AlbertConfig.from_json_file(configs.preset_path(name))
    with tf.Graph().as_default():
        ids = tf.zeros([1, 4], tf.int32)
        model = modeling.AlbertModel(config, False, ids)
        outputs = model.get_sequence_output(), model.get_embedding_table()
        projection = model.get_embedding_projection()
        modeling.masked_lm_logits(config, *outputs, positions=ids, projection=projection)
        modeling.sentence_order_logits(config, model.get_pooled_output())
        sizes = {item.op.name: item.shape.num_elements() for item in tf.trainable_variables()}
    backbone = sum(size for variable, size in sizes.items() if variable.startswith("bert/"))
    assert (backbone, sum(sizes.values())) == (PUBLISHED[name].backbone, PUBLISHED[name].with_heads)


@pytest.mark.parametrize("name", ["albert_base_v3", "../configs/albert_base_v1"])
def test_an_unknown_preset_is_an_error_that_names_those_there_are(name):
    with pytest.raises(ValueError, match="albert_base_v1.*albert_zh_xxlarge"):
        configs.preset_path(name)
