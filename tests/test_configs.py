# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The published sizes in albert/configs, against the tables they were published in."""

import pytest

from albert import configs
from albert.commands import plan
from albert.configs import model_config
from tests.support import read_json

# Presets; hidden and intermediate size, heads and layers; words; parameters of the encoder and with
# the heads of pretraining. Parameters of Google's models and of albert_zh_base are published; those
# of the others follow.
PUBLISHED = [
    ("base_v1 base_v2", [768, 3072, 12, 12], 30000, 11683584, 11813810),
    ("large_v1 large_v2", [1024, 4096, 16, 24], 30000, 17683968, 17847474),
    ("xlarge_v1 xlarge_v2", [2048, 8192, 16, 24], 30000, 58724864, 59021490),
    ("xxlarge_v1 xxlarge_v2", [4096, 16384, 64, 12], 30000, 222595584, 223158450),
    ("base_zh", [768, 3072, 12, 12], 21128, 10547968, 10669322),
    ("large_zh", [1024, 4096, 16, 24], 21128, 16548352, 16702986),
    ("xlarge_zh", [2048, 8192, 16, 24], 21128, 57589248, 57877002),
    ("xxlarge_zh", [4096, 16384, 64, 12], 21128, 221459968, 222013962),
    ("zh_tiny", [312, 1248, 12, 4], 21128, 4175152, 4295186),
    ("zh_small", [384, 1536, 12, 6], 21128, 4742272, 4813706),
    ("zh_base", [768, 3072, 12, 12], 21128, 10877440, 11492234),
    ("zh_large", [1024, 4096, 16, 24], 21128, 17009664, 18084490),
    ("zh_xlarge", [2048, 8192, 32, 24], 21128, 58577920, 62803594),
    ("zh_xxlarge", [4096, 16384, 64, 12], 21128, 223503360, 240322186),
]
PRESETS = {f"albert_{name}": row for names, *row in PUBLISHED for name in names.split()}
WITH_DROPOUT = ("albert_base_v1", "albert_large_v1", "albert_xlarge_v1")


def test_presets_are_the_published_models():
    assert configs.preset_names() == sorted(PRESETS)


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_preset_has_its_published_sizes(name):
    keys = read_json(configs.preset_path(name))
    # A variant is stated only where the model is not Google's.
    variants = {}
    if name.startswith("albert_zh_") and name != "albert_zh_small":
        ln_type = "preln" if name == "albert_zh_xxlarge" else "postln"
        variants = {"embedding_layout": "albert_zh", "ln_type": ln_type}
    assert {key: keys[key] for key in model_config.VARIANTS if key in keys} == variants
    sizes, words, *parameters = PRESETS[name]
    counted = plan.size(name)
    assert [counted["without_heads"], counted["parameters"]] == parameters
    names = ("hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers")
    dropout = 0.1 if name in WITH_DROPOUT else 0
    expected = dict(zip(names, sizes), vocab_size=words, embedding_size=128, hidden_act="gelu")
    expected.update(hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    expected.update(max_position_embeddings=512, type_vocab_size=2, initializer_range=0.02)
    expected.update(num_hidden_groups=1, inner_group_num=1, down_scale_factor=1)
    config = model_config.AlbertConfig.from_json_file(configs.preset_path(name))
    assert {field: getattr(config, field) for field in expected} == expected


@pytest.mark.parametrize("name", ["albert_base_v3", "../configs/albert_base_v1"])
def test_unknown_preset_is_refused(name):
    with pytest.raises(ValueError, match="albert_base_v1.*albert_zh_xxlarge"):
        configs.preset_path(name)
