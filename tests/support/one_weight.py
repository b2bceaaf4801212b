# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A model of one weight, trained as the scripts train theirs, in tenths of a second."""

import csv
import functools
import pathlib
from unittest import mock

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.configs.shared_flags import TrainingFlags
from albert.runtimes import estimator as tf_estimator
from albert.training import estimators, hooks
from albert.util import files, flags
from tests.support import graphs
from tests.support.classification_data import steps_in  # noqa: F401

CONFIG = modeling.AlbertConfig(10, hidden_size=4, num_attention_heads=2).to_dict()
DOCUMENTS = {"albert_config.json": files.json_text(CONFIG).encode("utf-8")}


def settings_for(output_dir, *arguments):
    given = [f"--output_dir={output_dir}", "--save_checkpoints_steps=4", "--train_batch_size=1"]
    return flags.parse(TrainingFlags, [*given, *arguments])


def model_fn(features, labels, mode, params):
    """One weight that sums what it sees; a batch of -1 makes its gradient NaN."""
    del labels, params
    step = tf.train.get_or_create_global_step()
    weight = tf.get_variable("weight", initializer=0.0, aggregation=tf.VariableAggregation.MEAN)
    value = tf.reduce_mean(features["x"])
    norm = tf.where(value < 0, np.float32("nan") * value, value)
    message = ["gradient norm is not finite; global step, norm:", step, norm]
    with tf.control_dependencies([tf.debugging.Assert(tf.math.is_finite(norm), message)]):
        update = weight.assign_add(value)
    with tf.control_dependencies([update]):
        train_op = step.assign_add(1).op
    scalars = {"word_accuracy": value, "learning_rate": value / 8, "gradient_norm": norm}
    hooks.report_scalars({"loss": 10.0 - value, **scalars})
    return tf_estimator.tpu.TPUEstimatorSpec(mode=mode, loss=10.0 - value, train_op=train_op)


def train(output_dir, *arguments, max_steps, values=(0.5,), function=model_fn, hook=None, **more):
    """Trains on `values`, again and again, with a line each two steps; `hook` is called first."""

    class Training(hooks.TrainingHook):
        def before_run(self, run_context):
            if hook:
                hook.before_run(run_context)
            return super().before_run(run_context)

    def read(start, params):
        dataset = tf.data.Dataset.from_tensor_slices({"x": np.array(values, np.float32)})
        return dataset.repeat().batch(params["batch_size"], drop_remainder=True).skip(start)

    with mock.patch.object(hooks, "TrainingHook", Training):
        return estimators.train(
            settings_for(output_dir, "--log_steps=2", *arguments),
            function,
            lambda start: functools.partial(read, start),
            max_steps=max_steps,
            documents=DOCUMENTS,
            keep_checkpoint_max=3,
            **more,
        )


def save(folder, *steps, weight=0.0, name="model.ckpt-{}"):
    """Writes checkpoints, as training does, whose weight is the step + `weight`."""
    with graphs.new_session() as session:
        value = tf.get_variable("weight", [3], use_resource=False)
        step = tf.train.get_or_create_global_step()
        saver = tf.train.Saver(max_to_keep=None)
        for number in steps:
            value.load([number + weight] * 3, session)
            step.load(number, session)
            saver.save(session, str(pathlib.Path(folder) / name.format(number)))


def weight_in(folder):
    return tf.train.load_checkpoint(str(folder)).get_tensor("weight")


def values_in(checkpoint):
    """The variables of a checkpoint by name, slots and step included."""
    reader = tf.train.load_checkpoint(str(checkpoint))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def curve_of(folder):
    with open(folder / "training_curve.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def losses_of(folder):
    return [float(row["loss"]) for row in curve_of(folder)]
