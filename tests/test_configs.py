# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The published sizes in albert/configs, against the tables they were published in."""

import json
import pathlib
from typing import NamedTuple, Optional

import pytest

from albert import configs, modeling


class Published(NamedTuple):
    hidden_size: int
    intermediate_size: int
    num_attention_heads: int
    num_hidden_layers: int
    vocab_size: int
    dropout: float
    embedding_layout: Optional[str] = None
    ln_type: Optional[str] = None


PUBLISHED = {
    "albert_base_v1": Published(768, 3072, 12, 12, 30000, 0.1),
    "albert_large_v1": Published(1024, 4096, 16, 24, 30000, 0.1),
    "albert_xlarge_v1": Published(2048, 8192, 16, 24, 30000, 0.1),
    "albert_xxlarge_v1": Published(4096, 16384, 64, 12, 30000, 0),
    "albert_base_v2": Published(768, 3072, 12, 12, 30000, 0),
    "albert_large_v2": Published(1024, 4096, 16, 24, 30000, 0),
    "albert_xlarge_v2": Published(2048, 8192, 16, 24, 30000, 0),
    "albert_xxlarge_v2": Published(4096, 16384, 64, 12, 30000, 0),
    "albert_base_zh": Published(768, 3072, 12, 12, 21128, 0),
    "albert_large_zh": Published(1024, 4096, 16, 24, 21128, 0),
    "albert_xlarge_zh": Published(2048, 8192, 16, 24, 21128, 0),
    "albert_xxlarge_zh": Published(4096, 16384, 64, 12, 21128, 0),
    "albert_zh_tiny": Published(312, 1248, 12, 4, 21128, 0, "albert_zh", "postln"),
    "albert_zh_small": Published(384, 1536, 12, 6, 21128, 0),
    "albert_zh_base": Published(768, 3072, 12, 12, 21128, 0, "albert_zh", "postln"),
    "albert_zh_large": Published(1024, 4096, 16, 24, 21128, 0, "albert_zh", "postln"),
    "albert_zh_xlarge": Published(2048, 8192, 32, 24, 21128, 0, "albert_zh", "postln"),
    "albert_zh_xxlarge": Published(4096, 16384, 64, 12, 21128, 0, "albert_zh", "preln"),
}


def test_every_preset_is_in_the_table_and_the_other_way_round():
    folder = pathlib.Path(configs.__file__).parent
    assert sorted(path.stem for path in folder.glob("*.json")) == sorted(PUBLISHED)
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


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_preset_states_its_variant_only_where_it_differs_from_googles_model(name):
    with open(configs.preset_path(name), encoding="utf-8") as file:
        keys = json.load(file)
    assert keys.get("embedding_layout") == PUBLISHED[name].embedding_layout
    assert keys.get("ln_type") == PUBLISHED[name].ln_type
    assert "share_type" not in keys


def test_unknown_preset_suggests_close_names_and_lists_all():
    with pytest.raises(ValueError, match="'albert_base_v3'.*'albert_base_v[12]'") as caught:
        configs.preset_path("albert_base_v3")
    assert "albert_zh_xxlarge" in str(caught.value)


def test_preset_path_does_not_leave_the_folder():
    with pytest.raises(ValueError, match="Unknown preset"):
        configs.preset_path("../configs/albert_base_v1")
