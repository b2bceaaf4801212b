# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The head of multiple choice against the reference's outputs, and the names programs rely on."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import modeling, race_utils, tokenization
from albert.data import padded_batches
from albert.race import features as race_features
from albert.race import model
from albert.runtimes import estimator as tf_estimator
from tests.support import classification_data, golden_heads, race_data
from tests.support.shared import needs_shared


@needs_shared
def test_the_model_gives_the_references_outputs_by_variables_of_the_published_names():
    config = golden_heads.config()
    golden_heads.check_outputs(
        "race",
        lambda inputs: race_utils.create_model(
            config, False, *inputs, 4, False, 32, dropout_prob=0.0, hub_module=None
        ),
    )


@needs_shared
@pytest.mark.parametrize("shape", [[5, 4 * 32], [5, 4, 32]])
def test_the_model_function_measures_what_the_references_did(shape):
    arrays = golden_heads.arrays("race")
    batch = {key: arrays[key].reshape(shape) for key in model.SEQUENCES}
    batch.update({key: arrays[key] for key in ("label_ids", "is_real_example")})
    checkpoint = golden_heads.checkpoint("race")
    model_fn = race_utils.model_fn_builder(
        golden_heads.config(), 4, checkpoint, 1e-3, 10, 0, False, False, 32, 0.0, None
    )
    measured = golden_heads.measured(model_fn, [batch])
    assert measured == pytest.approx(golden_heads.expected_metrics("race"), abs=1e-4)


def test_an_options_number_depends_on_its_own_sequence_only():
    config = modeling.AlbertConfig.from_dict(classification_data.CONFIG)
    ids = np.random.RandomState(0).randint(5, 300, [2, 4, 8])
    changed = ids.copy()
    changed[1, 2] += 1
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(tf.int32, [None, 4, 8])
        ones = tf.ones_like(given)
        loss, _, probabilities, logits, predictions = race_utils.create_model(
            config, False, given, ones, 0 * ones, None, 4, False, 8, 0.1, None
        )
        assert loss is None
        session.run(tf.global_variables_initializer())
        outputs = (logits, probabilities, predictions)
        first, shares, chosen = session.run(outputs, {given: ids})
        second = session.run(logits, {given: changed})
    assert np.argwhere(np.abs(first - second) > 1e-7).tolist() == [[1, 2]]
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-6)
    assert chosen.tolist() == first.argmax(axis=1).tolist()


def test_processor_prepares_texts_as_the_tokenizer_wants_them(tmp_path):
    text = (
        '{"article": "Caf\\u00e9  noir", "questions": ["Is  it _ ?"], '
        '"options": [["A", "B", "C", "D"]], "answers": ["C"]}'
    )
    (tmp_path / "train" / "high").mkdir(parents=True)
    (tmp_path / "train" / "high" / "1.txt").write_text(text, encoding="utf-8")
    for use_spm, expected in (
        (True, "cafe noir, is it c ?"),
        (False, "Caf\u00e9  noir, Is  it C ?"),
    ):
        processor = race_utils.RaceProcessor(use_spm, True, True, False)
        (example,) = processor.get_train_examples(str(tmp_path))
        assert f"{example.context_sentence}, {example.endings[2]}" == expected
        assert (example.example_id, example.label) == ("high1.txt", 2)
    assert processor.get_labels() == ["A", "B", "C", "D"]


# ---------------------------------------------------------------------------------------------
# Training.

LENGTH = 64


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = race_data.write_race(tmp_path_factory.mktemp("data"), splits=("dev",), passages=3)
    path = str(tmp_path_factory.mktemp("records") / "records")
    processor = race_utils.RaceProcessor(True, True, False, False)
    tokenizer = tokenization.FullTokenizer(None, True, str(race_data.VOCABULARY))
    race_utils.file_based_convert_examples_to_features(
        processor.get_dev_examples(folder), processor.get_labels(), LENGTH, tokenizer, path, 24
    )
    return path


def losses_of(file, padding="max", **settings):
    """The losses and lengths of a training without dropout."""
    config = modeling.AlbertConfig.from_dict(
        dict(classification_data.CONFIG, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    )
    model_fn = race_utils.model_fn_builder(
        config, 4, None, 1e-2, 100, 0, False, False, LENGTH, 0.0, seed=5, **settings
    )
    input_fn = padded_batches.input_fn(
        file,
        race_features.feature_spec(LENGTH),
        is_training=True,
        batch_size=4,
        padding=padded_batches.Padding(padding),
        seed=5,
    )
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(5)
        features = tf.data.make_one_shot_iterator(input_fn({})).get_next()
        length = tf.shape(features["input_ids"])[2]
        spec = model_fn(features, None, tf_estimator.ModeKeys.TRAIN, {})
        session.run(tf.global_variables_initializer())
        fetched = [session.run([spec.loss, length, spec.train_op])[:2] for _ in range(4)]
    return [loss for loss, _ in fetched], [length for _, length in fetched]


@pytest.mark.slow
def test_padding_micro_batches_and_recomputation_change_no_loss(file):
    full, lengths = losses_of(file)
    cut, cut_lengths = losses_of(file, "longest")
    assert set(lengths) == {LENGTH} and min(cut_lengths) < LENGTH
    np.testing.assert_allclose(cut, full, atol=1e-5)
    split, _ = losses_of(file, gradient_accumulation_steps=2, recompute=True)
    np.testing.assert_allclose(split, full, atol=1e-4)
    assert full[0] == pytest.approx(np.log(4), abs=0.1)
