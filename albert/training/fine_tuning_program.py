# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The trainable model of fine-tuning: an encoder with a task's head.

Dimensions: B batch.
"""

from typing import Any, Callable, Dict, Optional, Tuple

import tensorflow.compat.v1 as tf

from albert import modeling
from albert.configs.flags import FineTuningFlags
from albert.fine_tuning_utils import Encoder, Head
from albert.runtimes import hub_module as hub_modules
from albert.training import metrics, program
from albert.training.program import Schedule, Tensors
from albert.util.errors import UserError


class FineTuningProgram(program.Program):
    """An encoder with a head. The loss is the mean of the head's per_example_loss.

    Each feature's first dimension is B.
    """

    def __init__(
        self,
        flags: FineTuningFlags,
        config: Optional[modeling.AlbertConfig],
        head: Head,
        *,
        schedule: Schedule,
    ):
        """`head`: see `HeadOutput`; the other arguments are as for Program."""
        super().__init__(flags, config, schedule)
        self._head = head

    def values(self, features: Tensors, encoder: Encoder) -> program.Values:
        """Returns the loss of each example, and the values that the head logs."""
        output = self._head(features, encoder)
        logged = {name: tf.cast(value, tf.float32) for name, value in output.logged.items()}
        return {"": {**logged, "loss": output.per_example_loss}}

    def predict(self, features: Tensors, encoder: Encoder) -> Tensors:
        """Returns the head's outputs; copies is_real_example and example_index if present."""
        predictions = self._head(features, encoder).with_losses()
        for name in ("is_real_example", "example_index"):
            if name in features:
                predictions[name] = tf.reshape(features[name], [-1])
        return predictions

    def evaluate(self, features: Tensors, encoder: Encoder) -> Dict[str, Any]:
        """Returns the mean loss of the batch, and `evaluation_metrics` as eval_metrics."""
        output = self._head(features, encoder)
        losses, real = output.per_example_loss, features.get("is_real_example")
        real = tf.ones_like(losses) if real is None else tf.reshape(real, [-1])
        tensors = dict(output.outputs, per_example_loss=losses, is_real_example=real)
        return {"loss": tf.reduce_mean(losses), "eval_metrics": (evaluation_metrics, tensors)}


def published_model_fn(
    head: Head,
    config: Optional[modeling.AlbertConfig],
    *,
    hub_module: Optional[str],
    num_train_steps: int,
    num_warmup_steps: int,
    use_one_hot_embeddings: bool,
    **flags: Any,
) -> Callable:
    """Returns the model function of a head, as model_fn_builder of google-research/albert does.

    A hub module replaces the configuration and the initial weights. `flags` are fields of
    FineTuningFlags.
    """
    if hub_module:
        module = hub_modules.read(hub_module)
        config = modeling.AlbertConfig.from_json_file(module.config_file)
        flags["init_checkpoint"] = module.checkpoint
    trained = FineTuningProgram(
        FineTuningFlags(**{**program.PROGRAM_DEFAULTS, **flags}),
        config,
        head,
        schedule=Schedule(num_train_steps, num_warmup_steps),
    )
    trained.use_one_hot_embeddings = use_one_hot_embeddings
    return trained.model_fn


def evaluation_metrics(
    *, per_example_loss: tf.Tensor, is_real_example: tf.Tensor, **outputs: tf.Tensor
) -> Dict[str, Tuple]:
    """Returns tf.metrics by name.

    All heads have the mean loss. Labels add the accuracy, and two labels also Matthews'
    coefficient. Scores add Pearson's correlation and the mean squared error.
    """
    metric_ops = {"eval_loss": tf.metrics.mean(per_example_loss, is_real_example)}
    if "label_ids" not in outputs:
        return metric_ops
    predictions = outputs["predictions"]
    sides = (tf.cast(outputs["label_ids"], predictions.dtype), predictions, is_real_example)
    if not predictions.dtype.is_integer:
        metric_ops["pearson"] = metrics.streaming_correlation(*sides)
        metric_ops["MSE"] = tf.metrics.mean_squared_error(*sides)
        return metric_ops
    metric_ops["eval_accuracy"] = tf.metrics.accuracy(*sides)
    if "probabilities" in outputs and outputs["probabilities"].shape[-1] == 2:
        metric_ops["matthew_corr"] = metrics.streaming_correlation(*sides)
    return metric_ops


def training_length(flags: FineTuningFlags, examples: int) -> Schedule:
    """Returns the steps of training and warm-up; ValueError if there is no step.

    num_train_epochs takes precedence over train_step, warmup_proportion over warmup_step.
    """
    steps, warmup = flags.train_step, flags.warmup_step
    if flags.num_train_epochs is not None:
        steps = int(examples / flags.train_batch_size * flags.num_train_epochs)
        if not steps:
            raise UserError(
                f"--num_train_epochs={flags.num_train_epochs:g} of {examples} examples is less "
                f"than one batch of {flags.train_batch_size}. Give more epochs or a smaller "
                "--train_batch_size."
            )
    if flags.warmup_proportion is not None:
        warmup = int(steps * flags.warmup_proportion)
    program.check_warmup(steps, warmup)
    return Schedule(steps, warmup)
