# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The heads for SQuAD."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.squad import decoding as squad_decoding
from albert.squad import heads as squad_heads
from tests.support.shared import needs_shared, shared_path

BEAM = squad_heads.BeamSize(start_n_top=4, end_n_top=3)


def _golden(name):
    arrays = np.load(str(shared_path("golden/classifier_loss.npz")))
    return {key.split("/", 1)[1]: arrays[key] for key in arrays if key.startswith(name + "/")}


def _tiny_config():
    return modeling.AlbertConfig(
        vocab_size=50,
        embedding_size=8,
        hidden_size=12,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )


def _batch(length=16, batch=3, seed=0):
    """Three windows of different length; [CLS] and the places after position 3 may be answers."""
    random = np.random.RandomState(seed)
    used = np.array([[length], [length - 4], [length - 6]])[:batch]
    places = np.arange(length)[None]
    mask = (places < used).astype(np.int32)
    allowed = ((places == 0) | (places > 3)) & (places < used - 1)
    return {
        "input_ids": random.randint(5, 50, [batch, length]).astype(np.int32) * mask,
        "input_mask": mask,
        "segment_ids": (places > 3).astype(np.int32) * mask,
        "p_mask": 1.0 - allowed.astype(np.float32),
        "start_positions": np.array([4, 5, 0], np.int32)[:batch],
        "end_positions": np.array([6, 5, 0], np.int32)[:batch],
        "is_impossible": np.array([0, 0, 1], np.int32)[:batch],
        "unique_ids": np.array([7, 8, 9], np.int32)[:batch],
    }


def _run(head, batch, *, is_training, config=None, checkpoint=None):
    """The head's HeadOutput as arrays, and the names of its variables."""
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        features = {name: tf.constant(value) for name, value in batch.items()}
        encoder = fine_tuning_utils.Encoder(config or _tiny_config(), is_training)
        output = head(features, encoder)
        names = [variable.op.name for variable in tf.trainable_variables()]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            if checkpoint:
                tf.train.Saver(tf.trainable_variables()).restore(session, checkpoint)
            wanted = {"outputs": output.outputs, "watched": output.watched}
            if output.per_example_loss is not None:
                wanted["losses"] = output.per_example_loss
            return session.run(wanted), names


def test_answers_have_all_places_whatever_the_batch_was_cut_to():
    batch = _batch()
    head = squad_heads.v1_head(max_seq_length=24)
    outputs = _run(head, batch, is_training=False)[0]["outputs"]
    assert outputs["start_logits"].shape == outputs["end_logits"].shape == (3, 24)
    assert outputs["start_logits"][:, 16:].max() <= -1e30 < outputs["start_logits"][:, :16].min()
    np.testing.assert_array_equal(outputs["unique_ids"], [7, 8, 9])


@pytest.mark.slow
def test_the_v1_loss_is_the_mean_of_two_cross_entropies():
    batch = _batch()
    trained = _run(squad_heads.v1_head(16), batch, is_training=True)[0]
    logits = _run(squad_heads.v1_head(16), batch, is_training=False)[0]["outputs"]
    expected = np.zeros(3)
    for side in ("start", "end"):
        scores = logits[f"{side}_logits"].astype(np.float64)
        right = scores[np.arange(3), batch[f"{side}_positions"]]
        expected += 0.5 * (np.log(np.exp(scores).sum(axis=1)) - right)
    np.testing.assert_allclose(trained["losses"], expected, atol=1e-5)
    assert trained["watched"]["span_accuracy"].dtype == bool


def test_v2_answers_lie_where_the_mask_allows_them():
    batch = _batch()
    outputs = _run(squad_heads.v2_head(BEAM, 0.1), batch, is_training=False)[0]["outputs"]
    allowed = batch["p_mask"] == 0
    for row in range(3):
        assert allowed[row, outputs["start_top_index"][row]].all()
        assert allowed[row, outputs["end_top_index"][row]].all()
    assert outputs["end_top_index"].shape == (3, 12) and outputs["cls_logits"].shape == (3,)


@pytest.mark.slow
def test_what_fills_a_window_up_changes_nothing_in_v2():
    batch = _batch()
    cut = {name: value[2:3] for name, value in batch.items()}
    short = {name: value[:, :10] if value.ndim > 1 else value for name, value in cut.items()}
    head = squad_heads.v2_head(BEAM, 0.0)
    for is_training, part in ((True, "losses"), (False, "outputs")):
        full, of_short = (_run(head, x, is_training=is_training)[0][part] for x in (cut, short))
        pairs = (
            [(full, of_short)] if is_training else [(full[name], of_short[name]) for name in full]
        )
        for one, other in pairs:
            np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.slow
def test_the_end_is_scored_given_its_own_start():
    """Beams of one start at a time give what a beam of all gives for that start."""
    batch = _batch()
    wide = _run(squad_heads.v2_head(BEAM, 0.0), batch, is_training=False)[0]["outputs"]
    narrow = squad_heads.BeamSize(start_n_top=1, end_n_top=3)
    best = _run(squad_heads.v2_head(narrow, 0.0), batch, is_training=False)[0]["outputs"]
    np.testing.assert_array_equal(wide["end_top_index"][:, :3], best["end_top_index"])
    np.testing.assert_allclose(
        wide["end_top_log_probs"][:, :3], best["end_top_log_probs"], atol=1e-5
    )


@pytest.mark.slow
def test_the_v2_head_has_the_published_variables():
    names = _run(squad_heads.v2_head(BEAM, 0.1), _batch(), is_training=True)[1]
    heads = sorted(name for name in names if not name.startswith("bert/"))
    predicting = _run(squad_heads.v2_head(BEAM, 0.1), _batch(), is_training=False)[1]
    assert sorted(names) == sorted(predicting)
    assert heads == [
        "answer_class/dense_0/bias",
        "answer_class/dense_0/kernel",
        "answer_class/dense_1/kernel",
        "end_logits/LayerNorm/beta",
        "end_logits/LayerNorm/gamma",
        "end_logits/dense_0/bias",
        "end_logits/dense_0/kernel",
        "end_logits/dense_1/bias",
        "end_logits/dense_1/kernel",
        "start_logits/dense/bias",
        "start_logits/dense/kernel",
    ]


# ---- against the reference ----


def _golden_run(name, head, *, is_training):
    folder = shared_path("golden/heads")
    config = modeling.AlbertConfig.from_json_file(str(folder / "albert_config.json"))
    arrays = _golden(name)
    inputs = {key: value for key, value in arrays.items() if value.ndim and "/" not in key}
    inputs.pop("start_logits", None)
    inputs.pop("end_logits", None)
    checkpoint = str(folder / name / "model.ckpt")
    result = _run(head, inputs, is_training=is_training, config=config, checkpoint=checkpoint)
    return arrays, result[0]


@pytest.mark.slow
@needs_shared
def test_v1_logits_and_loss_equal_the_reference():
    head = squad_heads.v1_head(32)
    arrays, predicted = _golden_run("squad_v1", head, is_training=False)
    for name in ("start_logits", "end_logits"):
        np.testing.assert_allclose(predicted["outputs"][name], arrays[name], atol=1e-4)
    _, trained = _golden_run("squad_v1", head, is_training=True)
    assert trained["losses"].mean() == pytest.approx(float(arrays["loss"]), abs=1e-4)


@pytest.mark.slow
@needs_shared
def test_v2_loss_and_beams_equal_the_reference():
    head = squad_heads.v2_head(BEAM, 0.0)
    arrays, trained = _golden_run("squad_v2", head, is_training=True)
    assert trained["losses"].mean() == pytest.approx(float(arrays["train/loss"]), abs=1e-4)
    _, predicted = _golden_run("squad_v2", head, is_training=False)
    for name in squad_decoding.Beams._fields:
        expected = arrays[f"predict/{name}"]
        np.testing.assert_allclose(predicted["outputs"][name], expected, atol=1e-4, err_msg=name)
