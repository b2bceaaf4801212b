# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The reference's outputs for heads of fine-tuning, and how ours are compared with them."""

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.runtimes import estimator as tf_estimator
from tests.support import graphs, read_json, recorded
from tests.support.shared import shared_path

INPUTS = ("input_ids", "input_mask", "segment_ids", "label_ids")


def arrays(name):
    """Returns the inputs and outputs of a head, by name."""
    return recorded.read(shared_path("golden/classifier_loss.npz"), name)


def config():
    return modeling.AlbertConfig.from_json_file(str(shared_path("golden/heads/albert_config.json")))


def checkpoint(name):
    return str(shared_path(f"golden/heads/{name}/model.ckpt"))


def check_outputs(name, build):
    """Checks what `build` makes of the inputs, with the weights of the checkpoint."""
    expected = arrays(name)
    with graphs.new_session() as session:
        outputs = build([tf.constant(expected[key]) for key in INPUTS])
        tf.train.Saver(tf.trainable_variables()).restore(session, checkpoint(name))
        values = session.run(list(outputs))
        built = {
            f"{variable.op.name}\t{variable.shape.as_list()}"
            for variable in tf.trainable_variables()
        }
    keys = ("loss", "per_example_loss", "probabilities", "logits", "predictions")
    for key, value in zip(keys, values):
        assert value.shape == expected[key].shape and value.dtype == expected[key].dtype
        np.testing.assert_allclose(value, expected[key], atol=1e-4, err_msg=key)
    names = shared_path(f"golden/heads/{name}/variables.txt").read_text()
    assert built == set(names.split("\n")) - {""}


def measured(model_fn, batches):
    """Returns the metrics inside the graph, over batches of one shape."""
    with graphs.new_session() as session:
        tf.set_random_seed(1)
        feeds = {key: tf.placeholder(array.dtype, array.shape) for key, array in batches[0].items()}
        metric_fn, tensors = model_fn(feeds, None, tf_estimator.ModeKeys.EVAL, {}).eval_metrics
        pairs = metric_fn(**tensors)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for batch in batches:
            session.run(
                [update for _, update in pairs.values()], {feeds[k]: batch[k] for k in feeds}
            )
        return session.run({key: value for key, (value, _) in pairs.items()})


def expected_metrics(name):
    metrics = read_json(shared_path("golden/heads/eval_metrics.json"))[name]["metrics"]
    return {key: value for key, value in metrics.items() if not isinstance(value, list)}
