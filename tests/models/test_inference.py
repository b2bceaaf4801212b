# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Vectors of texts and words for [MASK], by the tasks and by the scripts embed and fill_mask."""

import json
import tracemalloc

import numpy as np
import pytest

from albert import tokenization
from albert.commands import embed, fill_mask
from albert.formats import model_folder
from albert.models import pretrained
from albert.models.inference import InferenceModel
from albert.util import UserError
from albert.util import flags as flags_lib
from tests.support import pretrained_models

TEXTS = ["the old man went home .", "a bird", ("the king", "his friend and a dog")]
LENGTH = 24


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return pretrained_models.write_archive(tmp_path_factory.mktemp("archive"))


@pytest.fixture(scope="module")
def encoder(archive):
    tokenizer = tokenization.FullTokenizer(None, True, f"{archive}/30k-clean.model")
    checkpoint = f"{archive}/model.ckpt-best"
    return model_folder.PretrainedModel(pretrained_models.config(), checkpoint, tokenizer, LENGTH)


def alone(archive, encoder, text):
    """The vectors of one text, by pooling."""
    texts = (text,) if isinstance(text, str) else text
    batch = pretrained_models.batch_of(encoder.tokenizer, *texts)
    outputs = pretrained_models.outputs(archive, batch)
    (sequence,), (pooled,) = outputs["sequence_output"], outputs["pooled_output"]
    is_text = ~np.isin(batch["input_ids"][0], encoder.tokenizer.required_ids(["[CLS]", "[SEP]"]))
    return {"pooled": pooled, "mean": sequence[is_text].mean(axis=0), "first": sequence[0]}


@pytest.mark.slow
def test_embed_of_mixed_lengths_equals_each_alone(archive, encoder):
    expected = [alone(archive, encoder, text) for text in TEXTS]
    for pooling in ("pooled", "mean", "first"):
        with pretrained.Embedder(encoder, pooling=pooling, batch_size=2) as model:
            vectors = model.embed(TEXTS)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors, [item[pooling] for item in expected], atol=1e-5)


def test_embed_layer_counts_from_1_or_the_last(encoder):
    first, same, last = (
        pretrained.Embedder(encoder, pooling="mean", layer=layer).embed(TEXTS[:1])
        for layer in (1, -2, 2)
    )
    np.testing.assert_array_equal(first, same)
    assert np.abs(first - last).max() > 1e-3


def test_embed_cuts_long_texts(encoder):
    with pretrained.Embedder(encoder, pooling="mean") as model:
        long, longer = model.embed(["bird " * 40, "bird " * 40 + "king"])
        np.testing.assert_array_equal(long, longer)
        assert model.embed([]).shape == (0, 16)
        for wrong in ([("a", "b", "c")], [7], [("a", None)], [()], "a"):
            with pytest.raises(ValueError):
                model.embed(wrong)


def test_encoding_a_long_text_among_short_ones_takes_little_memory(encoder):
    task = pretrained.EmbeddingTask(encoder, pooling="mean")
    items = [("bird",)] * 2000 + [("bird " * 20000,)]
    tracemalloc.start()
    task.encode(items, False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6


def test_embedder_refuses_unknown_precision(encoder):
    with pytest.raises(ValueError, match="float64"):
        pretrained.Embedder(encoder, precision_name="float64")


@pytest.mark.parametrize(
    "pooling, layer, batch_size, named",
    [
        ("max", -1, 8, "max"),
        ("mean", 3, 8, "3"),
        ("mean", 0, 8, "0"),
        ("pooled", 1, 8, "1"),
        ("mean", -1, 0, "0"),
    ],
)
def test_embedder_refuses_wrong_option(encoder, pooling, layer, batch_size, named):
    with pytest.raises(UserError, match=named):
        pretrained.Embedder(encoder, pooling=pooling, layer=layer, batch_size=batch_size)


# ---- Words for [MASK].


@pytest.mark.slow
def test_fill_gives_words_of_the_head_at_the_mask(archive, encoder):
    with InferenceModel(pretrained.MaskTask(encoder, count=3), encoder.checkpoint) as model:
        several = model.predict(["a [MASK] bird [MASK]", "[MASK] went home ."])
    assert [len(masks) for masks in several] == [2, 1]
    first, mask, last = encoder.tokenizer.required_ids(["[CLS]", "[MASK]", "[SEP]"])
    ids = np.array([[first, mask, *encoder.tokenizer.encode_ids_batch(["went home ."])[0], last]])
    batch = {"input_ids": ids, "input_mask": ids > 0, "segment_ids": 0 * ids}
    (logits,) = pretrained_models.outputs(archive, batch)["mlm_logits"]  # at the place 1
    shares = np.exp(logits) / np.exp(logits).sum()
    best, proposals = np.argsort(-shares)[:3], several[1][0]
    tokens = encoder.tokenizer.convert_ids_to_tokens(best.tolist())
    assert [item.word for item in proposals] == [token.strip("\u2581") or token for token in tokens]
    np.testing.assert_allclose([item.probability for item in proposals], shares[best], atol=1e-6)


def test_fill_keeps_the_tokens_around_masks(encoder, monkeypatch):
    found, tokenizer = [], encoder.tokenizer
    with InferenceModel(pretrained.MaskTask(encoder), encoder.checkpoint) as model:
        run = model.network.run
        monkeypatch.setattr(model.network, "run", lambda given: found.append(given) or run(given))
        model.predict(["once the [MASK].", "once the [MASK] near."])
        for wrong in ("the old bird", "[MASK] " + "bird " * 40):
            with pytest.raises(UserError, match="bird"):
                model.predict([wrong])
        for texts in ([None], "a [MASK]"):
            with pytest.raises(UserError):
                model.predict(texts)
    tokens = [tokenizer.convert_ids_to_tokens(ids.tolist()) for ids in found[0]["input_ids"]]
    after = [row[row.index("[MASK]") + 1] for row in tokens]
    assert after[0] == "." and after[1].startswith("\u2581")


# ---- The scripts.


def settings_of(script, archive, *arguments):
    base = [f"--albert_dir={archive}", f"--max_seq_length={LENGTH}"]
    return flags_lib.parse(script.Flags, [*base, *arguments])


def test_embed_writes_array_or_lines(archive, encoder, tmp_path):
    texts, array, lines = (tmp_path / name for name in ("texts", "out.NPY", "out.jsonl"))
    shown = [text if isinstance(text, str) else "\t".join(text) for text in TEXTS]
    texts.write_text("\n".join(shown) + "\n")
    for path in (array, lines):
        arguments = [f"--input_file={texts}", f"--output_file={path}", "--pooling=mean"]
        embed.main(settings_of(embed, archive, *arguments))
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    np.testing.assert_allclose(np.load(array, allow_pickle=False), rows, atol=1e-5)
    np.testing.assert_allclose(rows[2], alone(archive, encoder, TEXTS[2])["mean"], atol=1e-5)
    texts.write_text("bird\n\nbird\n")
    array.unlink()
    with pytest.raises(ValueError, match="texts:2"):
        embed.main(settings_of(embed, archive, f"--input_file={texts}", f"--output_file={array}"))
    assert sorted(item.name for item in tmp_path.iterdir()) == ["out.jsonl", "texts"]


def test_fill_mask_writes_object_for_each_text(archive, tmp_path):
    texts, path = tmp_path / "texts.txt", tmp_path / "words.jsonl"
    texts.write_text("the [MASK] went\na [MASK] [MASK]\n")
    arguments = [f"--input_file={texts}", f"--output_file={path}", "--count=2"]
    fill_mask.main(settings_of(fill_mask, archive, *arguments))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["text"] for row in rows] == ["the [MASK] went", "a [MASK] [MASK]"]
    assert [[len(mask) for mask in row["gaps"]] for row in rows] == [[2], [2, 2]]
    assert set(rows[0]["gaps"][0][0]) == {"word", "probability"}


@pytest.mark.parametrize(
    "script, arguments",
    [(embed, ["--output_file=gs://b/x.npy"]), (fill_mask, ["--input_file=x", "--text=a [MASK]"])],
)
def test_script_mistake_is_named(archive, script, arguments):
    with pytest.raises(UserError, match=arguments[0].split("=")[0]):
        script.main(settings_of(script, archive, *arguments))
