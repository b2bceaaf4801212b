# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""convert_checkpoint: models of albert_zh, in their layout and in Google's, and its flags."""

import os
import pathlib
import shutil

import numpy as np
import pytest

from albert.formats import model_paths
from tests.support import (
    albert_zh_models,
    conversion_check,
    pretrained_models,
    read_json,
    recorded,
    released_archives,
    write_json,
)
from tests.support.conversion_check import config_in
from tests.support.conversions import convert, restore, values_in


def change(source, keep=lambda name: True, **more):
    """Rewrites albert_zh's checkpoint with the variables to keep, and others."""
    values = values_in(source, "albert_model.ckpt")
    values = {name: value for name, value in values.items() if keep(name)}
    values.update({name.replace("__", "/"): value for name, value in more.items()})
    released_archives.save(pathlib.Path(source) / "albert_model.ckpt", values)


def assert_recorded_outputs(target, outputs, source):
    """Our outputs are those of albert_zh's own computation, recorded by LayerNorm and model."""
    after = conversion_check.our_outputs(target, conversion_check.random_batch(config_in(target)))
    assert set(after) == {"sequence_output", "pooled_output", *outputs}
    stored = recorded.arrays("albert_zh", source)
    before = {name: stored[name] for name in after}
    assert max(conversion_check.largest_differences(before, after).values()) < 2e-5


slow = pytest.mark.slow


@slow
@pytest.mark.parametrize("ln_type", ["postln", "preln"])
@pytest.mark.parametrize("layout, labels", [("native", None), ("google", None), ("native", 3)])
def test_from_albert_zh_keeps_the_outputs(layout, labels, ln_type, tmp_path):
    source = albert_zh_models.write(tmp_path / "zh", ln_type=ln_type, labels=labels, slots=True)
    convert("from_albert_zh", source, tmp_path / "ours", f"--layout={layout}")
    if labels:
        assert_recorded_outputs(tmp_path / "ours", ["logits"], f"{ln_type}/classifier")
    else:
        assert_recorded_outputs(
            tmp_path / "ours", ["mlm_logits", "sop_logits"], f"{ln_type}/pretrained"
        )
        restore(tmp_path / "ours")
    config = config_in(tmp_path / "ours")
    assert config.ln_type == ln_type
    assert config.embedding_layout == ("albert_zh" if layout == "native" else "google")
    assert not [name for name in values_in(tmp_path / "ours") if "lamb" in name]
    written = read_json(tmp_path / "ours" / "albert_config.json")
    for key, value in albert_zh_models.CONFIG.items():
        assert layout == "google" or key == "ln_type" or written.get(key, value) == value
    # The new folder is used as an archive is.
    found = model_paths.find_model_files(f"{tmp_path}/ours")
    assert os.path.basename(found["vocab_file"]) == "vocab.txt"


@slow
def test_from_albert_zh_takes_encoder_with_old_table_name(tmp_path):
    source = albert_zh_models.write(tmp_path / "zh", alias=True)
    change(source, keep=lambda name: name.startswith("bert/"))
    convert("from_albert_zh", source, tmp_path / "ours")
    assert_recorded_outputs(tmp_path / "ours", [], "postln/pretrained")


@slow
@pytest.mark.parametrize(
    "changes", [{"ln_type": "postln"}, {"ln_type": "preln"}, {"embedding_size": 16}]
)
def test_to_google_layout_keeps_the_outputs(changes, tmp_path):
    source = pretrained_models.write_archive(
        tmp_path / "ours", embedding_layout="albert_zh", **changes
    )
    convert("to_google_layout", source, tmp_path / "wide")
    assert restore(tmp_path / "wide")["bert/embeddings/word_embeddings"] == [400, 16]
    batch = pretrained_models.inputs()
    before = pretrained_models.outputs(source, batch)
    after = pretrained_models.outputs(f"{tmp_path}/wide", batch)
    for name, value in before.items():
        np.testing.assert_allclose(value, after[name], rtol=1e-5, atol=5e-5)


@slow
def test_convert_takes_named_files(tmp_path):
    source = albert_zh_models.write(tmp_path / "zh", config_name="other.json")
    shutil.move(os.path.join(source, "vocab.txt"), f"{tmp_path}/words.txt")
    flags = [
        f"--albert_config_file={source}/other.json",
        f"--init_checkpoint={source}/albert_model.ckpt.index",
        f"--vocab_file={tmp_path}/words.txt",
    ]
    convert("from_albert_zh", source, tmp_path / "ours", *flags)
    assert (tmp_path / "ours" / "words.txt").exists()
    with pytest.raises(ValueError, match="ours"):  # an existing folder is kept
        convert("from_albert_zh", source, tmp_path / "ours", *flags)


@pytest.mark.parametrize(
    "direction, named",
    [
        ("", "from_albert_zh, from_huggingface"),
        ("albert_zh", "from_albert_zh, from_huggingface"),
        pytest.param("from_albert_zh", "layer_shared", marks=slow),
        pytest.param("to_google_layout", "Google", marks=slow),
    ],
)
def test_convert_refuses_direction(direction, named, tmp_path):
    source = direction and pretrained_models.write_archive(tmp_path / "ours")
    with pytest.raises(ValueError, match=named):
        convert(direction, source, tmp_path / "new")


@slow
def test_from_albert_zh_refuses_other_shapes_and_variables(tmp_path):
    source = albert_zh_models.write(tmp_path / "zh")
    path = tmp_path / "zh" / "albert_config_base.json"
    write_json(path, dict(albert_zh_models.CONFIG, intermediate_size=64))
    with pytest.raises(ValueError, match=r"intermediate/dense/kernel \[16, 64\]"):
        convert("from_albert_zh", source, tmp_path / "ours")
    write_json(path, albert_zh_models.CONFIG)
    change(source, bert__encoder__extra__kernel=np.zeros([2, 2], np.float32))
    with pytest.raises(ValueError, match="bert/encoder/extra/kernel"):
        convert("from_albert_zh", source, tmp_path / "ours")
    assert not (tmp_path / "ours").exists()
