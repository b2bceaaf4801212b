# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""TF-Hub modules of a tiny model: written, and read in every way they are meant for."""

import numpy as np
import tensorflow.compat.v1 as tf
import tensorflow_hub as hub

from albert import export_to_tfhub, fine_tuning_utils
from albert.runtimes import compat
from tests.support import fine_tuned_models, graphs, pretrained_models, scripts

BATCH = pretrained_models.inputs()
MLM_BATCH = dict(BATCH, mlm_positions=np.ones([len(BATCH["input_ids"]), 1], np.int32))
SIGNATURES = {"tokens": BATCH, "sop": BATCH, "mlm": MLM_BATCH}
HAS_HUB_MODULE = hasattr(hub, "Module")


def export(archive, path, *arguments):
    given = [f"--albert_directory={archive}", f"--export_path={path}", *arguments]
    scripts.run(export_to_tfhub, given)
    return str(path)


def call(path, signature, batch):
    """What the graph of a signature makes of a batch."""
    return fine_tuned_models.serve(path, signature, batch, ())


def call_by_hub_module(path):
    """What each signature makes of BATCH."""
    with graphs.new_session() as session:
        module = hub.Module(path)
        made = {
            name: module(
                {key: tf.constant(value) for key, value in batch.items()},
                signature=name,
                as_dict=True,
            )
            for name, batch in SIGNATURES.items()
        }
        session.run(tf.global_variables_initializer())
        return session.run(made)


def encode(path):
    """The pooled output of an encoder in fine-tuning, and how many variables have gradients."""
    with graphs.new_session() as session:
        encoder = fine_tuning_utils.Encoder(None, True, hub_module=path)
        encoded = encoder(*(tf.constant(value) for value in BATCH.values()))
        gradients = tf.gradients(encoded.pooled_output, tf.trainable_variables())
        session.run(tf.global_variables_initializer())
        pooled = session.run(encoded.pooled_output)
    return [pooled, sum(gradient is not None for gradient in gradients)]


def call_loaded(path):
    """What each function and signature of a hub.load makes of BATCH; and its trained gradients."""
    with compat.eager_mode():
        root = hub.load(path)
        tensors = {name: tf.constant(value) for name, value in MLM_BATCH.items()}
        tokens = {name: tensors[name] for name in BATCH}
        found = [root(tokens), root.sop(tokens), root.mlm(tensors)]
        found.append(root.signatures["serving_default"](**tokens))
        with tf.GradientTape() as tape:
            found.append(root(tokens, training=True))
            loss = tf.reduce_mean(tf.square(found[-1]["pooled_output"] - 0.5))
        gradients = tape.gradient(loss, list(root.trainable_variables))
        assert set(root.signatures) == {"serving_default", *SIGNATURES}
        assert root.do_lower_case.numpy()
        assert root.vocab_file.asset_path.numpy().endswith(b"30k-clean.model")
        assert len([one for one in gradients if one is not None]) == 25
        return [{name: value.numpy() for name, value in one.items()} for one in found]
