# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining as a task: its records, losses, metrics and model function.

Dimensions: B batch, S sequence, H hidden, E embedding, V vocabulary, P predictions a sequence.
"""

import tensorflow.compat.v1 as tf

from albert import input_pipeline


def feature_spec(max_seq_length: int, max_predictions_per_seq: int) -> input_pipeline.FeatureSpec:
    """Returns the declaration of a pretraining record, to write and to read it by.

    Args:
      max_seq_length: S, pieces in a sequence, padding included.
      max_predictions_per_seq: P, slots for masked pieces. Records made with do_permutation have
        twice the number that data creation was told.
    """
    sequence, predictions = (max_seq_length,), (max_predictions_per_seq,)
    feature = input_pipeline.Feature
    return input_pipeline.FeatureSpec(
        (
            feature("input_ids", sequence, tf.int64),
            feature("input_mask", sequence, tf.int64),
            feature("segment_ids", sequence, tf.int64),
            # Only masking on the fly needs it, and records of other makers may lack it.
            feature("token_boundary", sequence, tf.int64, default=0),
            feature("masked_lm_positions", predictions, tf.int64),
            feature("masked_lm_ids", predictions, tf.int64),
            feature("masked_lm_weights", predictions, tf.float32),
            # The name is historic: it holds the label of the sentence order.
            feature("next_sentence_labels", (1,), tf.int64),
        )
    )
