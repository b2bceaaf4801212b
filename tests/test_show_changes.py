# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The three changes: their numbers, the pairs of both tasks, and what a model says of them."""

import pathlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import configs, modeling, show_changes, tokenization
from albert.util import flags as flags_lib
from tests.support import pretrained_models


def shown(*arguments):
    settings = flags_lib.parse(show_changes.Flags, arguments)
    return "\n".join(show_changes.changes(settings))


def config_of(name):
    return modeling.AlbertConfig.from_json_file(configs.preset_path(name))


def test_numbers_are_the_published_ones():
    xxlarge = config_of("albert_xxlarge_v2")
    assert show_changes.embedding_parameters(xxlarge) == (122_880_000, 4_364_288)
    # BERT-base of V=30000: 85,054,464 in its layers, 12 times those of ALBERT-base.
    bert = show_changes.bert_like(config_of("albert_base_v2"))
    assert modeling.parameter_counts(bert)["encoder"] == 85_054_464 == 12 * 7_087_872
    # V * E: no matrix widens them.
    assert modeling.parameter_counts(bert)["embeddings"] == (30000 + 2 + 512 + 2) * 768
    text = shown("--name=xxlarge_v2")
    for number in ("122,880,000", "4,364,288", "28.2", "2,416,558,080", "201,379,840"):
        assert number in text
    assert "7,087,872" in shown("--name=base_v2") and "201,379,840" not in shown("--name=base_v2")


def test_pairs_are_those_of_the_two_tasks():
    first, second, other = ["a", "b"], ["c", "d", "e"], ["x", "y"]
    ordered, swapped = show_changes.labelled_pairs([first, second], other)
    assert ordered == (first, second, 0) and swapped == (second, first, 1)
    following, random = show_changes.labelled_pairs(
        [first, second], other, random_next_sentence=True
    )
    assert following == (first, second, 0) and random == (first, other, 1)


def test_sentences_are_of_the_language_or_ones_own():
    assert "Martha" in shown() and "Martha" not in shown("--language=zh")
    assert "玛 莎" in shown("--language=zh")
    text = shown("--text_a=He left.", "--text_b=It rains.")
    assert "segment 0  [CLS] He left . [SEP]\n       segment 1  It rains . [SEP]" in text
    assert "segment 0  [CLS] It rains . [SEP]\n       segment 1  He left . [SEP]" in text


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["--name=base_v9"], "base_v9"),
        (["--name=zh"], "--language=zh"),
        (["--name=base_v2", "--albert_dir=base_v2"], "--albert_dir"),
        (["--text_a=He left."], "--text_b"),
        (["--text_a=He left.", "--text_b= "], "--text_b"),
        (["--albert_dir=/nowhere"], "/nowhere"),
    ],
)
def test_what_cannot_be_shown_is_named(arguments, named):
    with pytest.raises(ValueError, match=named):
        shown(*arguments)


@pytest.mark.slow
def test_a_model_without_the_head_is_shown_and_one_with_few_positions_says_so(tmp_path):
    folder = pathlib.Path(pretrained_models.write_archive(tmp_path / "model"))
    texts = ["--text_a=the king", "--text_b=went home" + " and on" * 40]
    longest = pretrained_models.config().max_position_embeddings
    assert f" {longest:,}," in shown(f"--albert_dir={folder}", *texts)
    assert f" {longest:,}," not in shown(f"--albert_dir={folder}")
    prefix = str(folder / "model.ckpt-best")
    with tf.Graph().as_default(), tf.Session() as session:
        for name, _ in tf.train.list_variables(prefix):
            if not name.startswith("cls/seq_relationship"):
                tf.get_variable(name, initializer=tf.train.load_variable(prefix, name))
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, prefix, write_meta_graph=False)
    text = shown(f"--albert_dir={folder}")
    assert "label 1, random" in text and "Factorised" in text and "%" not in text


@pytest.mark.slow
def test_a_model_judges_both_orders_of_its_own_tokens(tmp_path):
    folder = pretrained_models.write_archive(tmp_path / "model")
    text = shown(f"--albert_dir={folder}", "--text_a=the king", "--text_b=went home")
    tokenizer = tokenization.FullTokenizer(None, spm_model_file=str(pretrained_models.VOCABULARY))
    ids = {words: tokenizer.encode_ids_batch([words])[0] for words in ("the king", "went home")}
    assert f"[CLS] {' '.join(tokenizer.tokenize('the king'))} [SEP]" in text
    for first, second in (("the king", "went home"), ("went home", "the king")):
        row = [2, *ids[first], 3, *ids[second], 3]
        segments = [0] * (len(ids[first]) + 2) + [1] * (len(ids[second]) + 1)
        batch = {"input_ids": row, "input_mask": [1] * len(row), "segment_ids": segments}
        batch = {name: np.array([values], np.int32) for name, values in batch.items()}
        share = np.exp(pretrained_models.outputs(folder, batch)["sop_log_probs"][0, 0])
        assert f"{share:.1%} in order" in text
