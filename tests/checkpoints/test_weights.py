# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The table of words in Google's layout."""

import numpy as np

from albert.checkpoints import names, weights
from tests.support import pretrained_models


def test_google_layout_has_product_of_table_and_projection():
    config = pretrained_models.config(embedding_layout="albert_zh")
    generator = np.random.RandomState(0)
    table = generator.normal(size=[400, 8]).astype(np.float32)
    projection = generator.normal(size=[8, 16]).astype(np.float32)
    name = "bert/embeddings/word_embeddings"
    values = {name: table, f"{names.MAPPING}/kernel": projection}
    wide, found = weights.to_google_layout(config, values)
    assert list(found) == [name]
    np.testing.assert_allclose(found[name], table @ projection, atol=1e-5)
    assert (wide.embedding_layout, wide.embedding_size) == ("google", 16)
    assert len(values) == 2  # the caller's own are as they were
