# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The outputs of a model with both pretraining heads, by the names of the reference's records."""

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from tests.support import graphs


def build(
    config,
    features,
    *,
    is_training=False,
    **options,
):
    """Builds the model on the features of a pretraining record; options are AlbertModel's."""

    def given(*names):
        return [tf.constant(features[name]) for name in names]

    inputs = given("input_ids", "input_mask", "token_type_ids")
    model = modeling.AlbertModel(config, is_training, *inputs, **options)
    masked_lm = modeling.get_masked_lm_output(
        config,
        model.get_sequence_output(),
        model.get_embedding_table(),
        *given("masked_lm_positions", "masked_lm_ids", "masked_lm_weights"),
        projection=model.get_embedding_projection(),
    )
    labels = given("next_sentence_labels")
    order = modeling.get_sentence_order_output(config, model.get_pooled_output(), *labels)
    outputs = {
        "word_embedding_output": model.get_word_embedding_output(),
        "embedding_output": model.get_embedding_output(),
        "sequence_output": model.get_sequence_output(),
        "pooled_output": model.get_pooled_output(),
        "loss": masked_lm.loss + order.loss,
    }
    for index, layer in enumerate(model.get_all_encoder_layers()):
        outputs[f"encoder_layer_{index}"] = layer
    for name, head in (("mlm", masked_lm), ("sop", order)):
        outputs.update({f"{name}_{field}": value for field, value in head._asdict().items()})
    return outputs


def outputs_and_gradients(config, features, others=(), *, weights=None, **options):
    """Outputs and gradients by name, and the others, a list that may grow while it is built.

    oneDNN's operations have no gradients.
    """
    with graphs.new_session() as session:
        tf.set_random_seed(3)
        outputs = build(config, features, **options)
        variables = {variable.op.name: variable for variable in tf.trainable_variables()}
        trained = [] if options.get("use_onednn") else list(variables.values())
        gradients = map(tf.convert_to_tensor, tf.gradients(outputs["loss"], trained))
        gradients = dict(zip(variables, gradients))
        session.run(tf.global_variables_initializer())
        for name, value in (weights or {}).items():
            variables[name].load(value, session)
        return session.run([outputs, gradients, list(others)])


def assert_near(actual, expected, tolerance):
    """Compares by name, relative to each array's largest value and (a little) to the largest."""
    scale = max(np.abs(value).max() for value in expected.values())
    assert sorted(actual) == sorted(expected)
    for name, value in expected.items():
        bound = tolerance * (np.abs(value).max() + 0.01 * scale)
        difference = np.abs(actual[name].reshape(value.shape) - value).max()
        assert difference <= bound, f"{name}: {difference} where {bound} is allowed"
