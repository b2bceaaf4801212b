# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Vectors of texts and words for [MASK], by the classes and by the scripts embed and fill_mask."""

import json
import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import embed, export_to_tfhub, fill_mask, modeling, tokenization
from albert.pretrained import inference
from albert.util import flags as flags_lib
from tests.support import pretrained_models

TEXTS = ["the old man went home .", "a bird", ("the king", "his friend and a dog")]
LENGTH = 24


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return pretrained_models.write_archive(tmp_path_factory.mktemp("archive"))


@pytest.fixture(scope="module")
def module(archive, tmp_path_factory):
    path = tmp_path_factory.mktemp("hub") / "module"
    arguments = [f"--albert_directory={archive}", f"--export_path={path}"]
    return export_to_tfhub.export(flags_lib.parse(export_to_tfhub.define_flags, arguments))


def source_of(archive, **changes):
    source = inference.Source(
        pretrained_models.config(),
        f"{archive}/model.ckpt-best",
        None,
        tokenization.FullTokenizer(None, True, f"{archive}/30k-clean.model"),
        LENGTH,
    )
    return source._replace(**changes)


def ids_of(source, text):
    """[CLS] a [SEP] b [SEP] and where the pieces of the texts are."""
    vocab = source.tokenizer.vocab
    ids, places = [vocab["[CLS]"]], []
    for part in (text,) if isinstance(text, str) else text:
        pieces = source.tokenizer.encode_ids_batch([part])[0]
        places += range(len(ids), len(ids) + len(pieces))
        ids += [*pieces, vocab["[SEP]"]]
    return ids, places


def plain_layers(archive, text):
    """(pooled output [H], all layers [layers, S, H], places of pieces) of one text alone."""
    source = source_of(archive)
    ids, places = ids_of(source, text)
    border = ids.index(source.tokenizer.vocab["[SEP]"])
    segments = [int(place > border) for place in range(len(ids))]
    with tf.Graph().as_default(), tf.Session() as session:
        model = modeling.AlbertModel(
            source.config,
            False,
            tf.constant([ids]),
            token_type_ids=tf.constant([segments]),
            scope="bert",
        )
        tf.train.Saver().restore(session, source.checkpoint)
        pooled, layers = session.run([model.get_pooled_output(), model.get_all_encoder_layers()])
    return pooled[0], np.array(layers)[:, 0], places


@pytest.mark.slow
@pytest.mark.parametrize(
    "pooling, layer", [("pooled", -1), ("mean", -1), ("mean", 1), ("first", 2)]
)
def test_texts_of_any_length_have_the_vectors_they_have_alone(archive, pooling, layer):
    with inference.Embedder(
        source_of(archive), pooling=pooling, layer=layer, batch_size=2
    ) as model:
        vectors = model.embed(TEXTS)
    assert vectors.shape == (3, 16) and vectors.dtype == np.float32
    for text, vector in zip(TEXTS, vectors):
        pooled, layers, places = plain_layers(archive, text)
        chosen = layers[layer - 1 if layer > 0 else layer]
        expected = {"pooled": pooled, "mean": chosen[places].mean(axis=0), "first": chosen[0]}
        np.testing.assert_allclose(vector, expected[pooling], atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("pooling", inference.POOLINGS)
def test_a_hub_module_gives_the_same_vectors(archive, module, pooling):
    from_module = source_of(archive, config=None, checkpoint=None, hub_module=module)
    found = []
    for source in (source_of(archive), from_module):
        with inference.Embedder(source, pooling=pooling) as model:
            found.append(model.embed(TEXTS))
    np.testing.assert_allclose(*found, atol=1e-5)


def test_long_texts_are_cut_and_no_text_has_no_vector(archive):
    with inference.Embedder(source_of(archive), pooling="mean") as model:
        long, longer = model.embed(["bird " * 40, "bird " * 40 + "king"])
        np.testing.assert_array_equal(long, longer)
        assert model.embed([]).shape == (0, 16)
        for wrong in ([("a", "b", "c")], [7], [("a", None)], [()], "a"):
            with pytest.raises(ValueError):
                model.embed(wrong)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"pooling": "max"}, "Unknown pooling 'max'. There are: pooled, mean, first"),
        ({"pooling": "mean", "layer": 3}, "There is no layer 3; the model has 2"),
        ({"pooling": "mean", "layer": 0}, "There is no layer 0"),
        ({"layer": 1}, "pooled vectors are of the last layer only"),
        ({"batch_size": 0}, "batch_size is 0"),
    ],
)
def test_what_there_is_not_is_refused(archive, options, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        inference.Embedder(source_of(archive), **options)


def test_a_hub_module_has_float32_alone(archive):
    from_module = source_of(archive, config=None, checkpoint=None, hub_module="m")
    with pytest.raises(ValueError, match="--precision=bfloat16"):
        inference.Embedder(from_module, precision_name="bfloat16")


# ---------------------------------------------------------------------------------------------
# Gaps.


@pytest.mark.slow
def test_words_are_those_of_the_head_at_the_gap(archive):
    text = "the old [MASK] went home ."
    source = source_of(archive)
    with inference.MaskFiller(source, count=3) as model:
        several = model.fill(["a [MASK] bird [MASK]", text])
    assert [len(gaps) for gaps in several] == [2, 1]
    before, after = text.split("[MASK]")
    ids = [
        *ids_of(source, before)[0][:-1],
        source.tokenizer.vocab["[MASK]"],
        *ids_of(source, after)[0][1:],
    ]
    with tf.Graph().as_default(), tf.Session() as session:
        # Not of one known row: TensorFlow 2.15's graph optimizer fails on such a head.
        given, places = (tf.placeholder(tf.int32, [None, None]) for _ in range(2))
        model = modeling.AlbertModel(source.config, False, given, scope="bert")
        logits = modeling.masked_lm_logits(
            source.config,
            model.get_sequence_output(),
            model.get_embedding_table(),
            positions=places,
        )
        tf.train.Saver().restore(session, source.checkpoint)
        gap = ids.index(source.tokenizer.vocab["[MASK]"])
        shares = session.run(tf.nn.softmax(logits), {given: [ids], places: [[gap]]})[0]
    best = np.argsort(-shares)[:3]
    proposals = several[1][0]
    assert [item.piece for item in proposals] == source.tokenizer.convert_ids_to_tokens(
        best.tolist()
    )
    np.testing.assert_allclose([item.probability for item in proposals], shares[best], atol=1e-6)


def test_a_text_needs_a_gap_and_has_to_fit(archive):
    with inference.MaskFiller(source_of(archive)) as model:
        with pytest.raises(ValueError, match="the old bird"):
            model.fill(["the old bird"])
        with pytest.raises(ValueError, match="22"):
            model.fill(["[MASK] " + "bird " * 40])


def test_punctuation_after_a_gap_is_cut_as_it_would_be_after_a_word(archive, monkeypatch):
    rows, tokenizer = [], source_of(archive).tokenizer
    with inference.MaskFiller(source_of(archive)) as model:
        run = model.network.run
        monkeypatch.setattr(model.network, "run", lambda given: rows.extend(given) or run(given))
        model.fill(["once the [MASK].", "once the [MASK] near."])
    stop, near = (row["input_ids"][row["mlm_positions"][0] + 1 : -1] for row in rows)
    assert stop == tokenizer.encode_ids_batch(["once the the."])[0][-1:]
    assert tokenizer.convert_ids_to_tokens(near)[0].startswith("\u2581")


# ---------------------------------------------------------------------------------------------
# The scripts.


def settings_of(script, archive, *arguments):
    base = [f"--albert_dir={archive}", f"--max_seq_length={LENGTH}"]
    return flags_lib.parse(script.define_flags, base + list(arguments))


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    lines = [text if isinstance(text, str) else "\t".join(text) for text in TEXTS]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.slow
def test_embed_writes_an_array_or_lines(archive, texts, tmp_path):
    array, lines = tmp_path / "out.npy", tmp_path / "out.jsonl"
    for path in (array, lines):
        arguments = [f"--input_file={texts}", f"--output_file={path}", "--pooling=mean"]
        assert embed.embed(settings_of(embed, archive, *arguments)) == 3
    with inference.Embedder(source_of(archive), pooling="mean") as model:
        expected = model.embed(TEXTS)
    np.testing.assert_array_equal(np.load(str(array), allow_pickle=False), expected)
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    np.testing.assert_allclose(rows, expected, rtol=1e-6)


def test_an_array_of_many_groups_is_whole(archive, tmp_path, monkeypatch):
    monkeypatch.setattr(embed.text_lines, "_MOST_LINES", 7)
    many = tmp_path / "many.txt"
    many.write_text("bird\n" * 100, encoding="utf-8")
    path = tmp_path / "out.npy"
    embed.embed(settings_of(embed, archive, f"--input_file={many}", f"--output_file={path}"))
    assert np.load(str(path)).shape == (100, 16)


def test_nothing_is_left_of_an_array_that_was_not_finished(archive, tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text("bird\n\nbird\n", encoding="utf-8")
    path = tmp_path / "out.npy"
    with pytest.raises(ValueError, match="the line is blank"):
        embed.embed(settings_of(embed, archive, f"--input_file={bad}", f"--output_file={path}"))
    assert [item.name for item in tmp_path.iterdir()] == ["bad.txt"]


@pytest.mark.slow
def test_fill_mask_writes_an_object_for_each_text(archive, tmp_path):
    gaps = tmp_path / "gaps.txt"
    gaps.write_text("the [MASK] went\na [MASK] [MASK]\n", encoding="utf-8")
    path = tmp_path / "words.jsonl"
    arguments = [f"--input_file={gaps}", f"--output_file={path}", "--count=2"]
    assert fill_mask.fill_mask(settings_of(fill_mask, archive, *arguments)) == 2
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [row["text"] for row in rows] == ["the [MASK] went", "a [MASK] [MASK]"]
    assert [[len(gap) for gap in row["gaps"]] for row in rows] == [[2], [2, 2]]
    assert set(rows[0]["gaps"][0][0]) == {"word", "probability"}


def test_fill_mask_answers_one_text_of_the_command_line(archive, capsys):
    fill_mask.fill_mask(settings_of(fill_mask, archive, "--text=the [MASK]"))
    assert json.loads(capsys.readouterr().out)["text"] == "the [MASK]"


@pytest.mark.parametrize(
    "script, arguments, words",
    [
        (embed, ["--input_file=/absent"], "--input_file=/absent was not found"),
        (embed, ["--output_file=gs://b/x.npy"], "written on a local disk only"),
        (embed, ["--columns=a,b,c"], "names more than two"),
        (fill_mask, ["--text=a [MASK]", "--input_file=x"], "Give either --text or --input_file"),
    ],
)
def test_mistakes_are_named(archive, texts, script, arguments, words):
    run = embed.embed if script is embed else fill_mask.fill_mask
    base = [] if any("file" in item for item in arguments) else [f"--input_file={texts}"]
    if "--output_file=gs://b/x.npy" in arguments:
        base = [f"--input_file={texts}"]
    with pytest.raises(ValueError, match=re.escape(words)):
        run(settings_of(script, archive, *base, *arguments))


def test_texts_are_as_long_as_the_model_can_read_by_default(archive):
    source = inference.find_source(
        flags_lib.parse(embed.define_flags, [f"--albert_dir={archive}", "--output_file=x"])
    )
    assert source.max_seq_length == source.config.max_position_embeddings != 512


def test_weights_are_needed(archive, texts):
    arguments = [
        f"--albert_config_file={archive}/albert_config.json",
        f"--spm_model_file={archive}/30k-clean.model",
        f"--input_file={texts}",
        f"--max_seq_length={LENGTH}",
    ]
    with pytest.raises(ValueError, match="No weights: give --init_checkpoint or --albert_dir"):
        embed.embed(flags_lib.parse(embed.define_flags, arguments))
