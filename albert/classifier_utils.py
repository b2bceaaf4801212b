# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Classification and regression of texts and pairs: the head, its model and its input.

The tasks and how text becomes features are in classifier_tasks and classifier_features; programs
that know them from here find them here.

Dimensions: B batch, S sequence, H hidden, C labels (1 for regression).
"""

from typing import Any, Callable, Dict, NamedTuple, Sequence

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.classification import features as classifier_features
from albert.classification import tasks as classifier_tasks
from albert.classification.features import (  # noqa: F401  by the names users know
    InputFeatures,
    convert_examples_to_features,
    convert_single_example,
    file_based_convert_examples_to_features,
)
from albert.classification.tasks import (  # noqa: F401
    PROCESSORS,
    AFQMCProcessor,
    AXProcessor,
    ChnSentiCorpProcessor,
    CMNLIProcessor,
    ColaProcessor,
    COPAProcessor,
    CslProcessor,
    DataProcessor,
    InputExample,
    LCQMCPairClassificationProcessor,
    LcqmcProcessor,
    MisMnliProcessor,
    MnliProcessor,
    MrpcProcessor,
    OcnliProcessor,
    PaddingInputExample,
    QnliProcessor,
    QqpProcessor,
    RteProcessor,
    SentencePairClassificationProcessor,
    Sst2Processor,
    StsbProcessor,
    TnewsProcessor,
    WnliProcessor,
    WSCProcessor,
    XnliProcessor,
    iFLYTEKDataProcessor,
)
from albert.data import padded_batches
from albert.training import fine_tuning, metrics

HEAD_DROPOUT = 0.1


# ---------------------------------------------------------------------------------------------
# The head.


class Logits(NamedTuple):
    """What the head says about a batch."""

    logits: tf.Tensor  # float32 [B, C]; of a regressor [B]
    probabilities: tf.Tensor  # float32 [B, C]; of a regressor its score, [B, 1]
    predictions: tf.Tensor  # int32 [B]; of a regressor its score, float32 [B]


def _logits(
    encoder: fine_tuning_utils.Encoder,
    features: fine_tuning_utils.Features,
    *,
    num_labels: int,
    is_regression: bool,
) -> Logits:
    """Dropout and one dense layer on the pooled output."""
    encoded = encoder(features["input_ids"], features["input_mask"], features["segment_ids"])
    pooled = encoded.pooled_output  # [B, H]
    if encoder.config is not None and encoder.config.ln_type == "preln":
        # Such an encoder ends without a LayerNorm; albert_zh's classifier adds it here.
        with tf.variable_scope("loss"):
            pooled = modeling.layer_norm(pooled)
    hidden = int(pooled.shape[-1])
    weights = modeling.get_weight(
        "output_weights", [num_labels, hidden], fine_tuning_utils.HEAD_INITIALIZER_RANGE
    )
    bias = tf.get_variable("output_bias", [num_labels], initializer=tf.zeros_initializer())
    pooled = encoder.dropout(pooled, HEAD_DROPOUT)
    logits = tf.nn.bias_add(tf.matmul(pooled, weights, transpose_b=True), bias)  # [B, C]
    if is_regression:
        score = tf.squeeze(logits, [-1])  # [B]
        return Logits(score, logits, score)
    predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
    return Logits(logits, tf.nn.softmax(logits, axis=-1), predictions)


def _losses(logits: tf.Tensor, labels: tf.Tensor, is_regression: bool) -> tf.Tensor:
    """Cross entropy, or the squared error, of each example; [B]."""
    labels = tf.reshape(labels, [-1])
    if is_regression:
        return tf.square(logits - tf.cast(labels, tf.float32))
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


def classification_head(num_labels: int, is_regression: bool) -> fine_tuning_utils.Head:
    """Returns the head for fine_tuning_utils.build_model_fn.

    Its outputs are those of `Logits` and, where features have them, label_ids.
    """

    def head(
        features: fine_tuning_utils.Features, encoder: fine_tuning_utils.Encoder
    ) -> fine_tuning_utils.HeadOutput:
        found = _logits(encoder, features, num_labels=num_labels, is_regression=is_regression)
        outputs = dict(found._asdict())
        if "label_ids" not in features:
            return fine_tuning_utils.HeadOutput(None, outputs, {})
        labels = tf.reshape(features["label_ids"], [-1])
        outputs["label_ids"] = labels
        watched = {} if is_regression else {"accuracy": tf.equal(found.predictions, labels)}
        losses = _losses(found.logits, labels, is_regression)
        return fine_tuning_utils.HeadOutput(losses, outputs, watched)

    return head


def tpu_metrics(names: Sequence[str], num_labels: int = 2) -> Callable:
    """Returns the metric_fn for fine_tuning_utils.build_model_fn: `names` inside the graph."""

    def metric_fn(
        *, per_example_loss: tf.Tensor, is_real_example: tf.Tensor, **outputs: tf.Tensor
    ) -> Dict[str, Any]:
        return metrics.in_graph(
            names,
            labels=outputs["label_ids"],
            predictions=outputs["predictions"],
            losses=per_example_loss,
            weights=is_real_example,
            num_labels=num_labels,
        )

    return metric_fn


# ---------------------------------------------------------------------------------------------
# Functions that existing programs call by these names and arguments.


def create_model(
    albert_config,
    is_training,
    input_ids,
    input_mask,
    segment_ids,
    labels,
    num_labels,
    use_one_hot_embeddings,
    task_name,
    hub_module,
    *,
    is_regression=None,
    dropout_seed=None,
    **options,
):
    """Builds a classification model in the default graph.

    Args:
      albert_config: AlbertConfig; None with a hub module.
      is_training: whether there is dropout.
      input_ids, input_mask, segment_ids: int32 [B, S].
      labels: int32 [B], or float32 for regression; None where they are not known.
      num_labels: C.
      use_one_hot_embeddings: see modeling.AlbertModel.
      task_name: says whether it is a regression, unless is_regression does.
      hub_module: handle of a TF-Hub module, or None.
      is_regression: True or False.
      dropout_seed: see modeling.AlbertModel.
      **options: compute_dtype, recompute and use_xla of modeling.AlbertModel.

    Returns:
      (loss [], per_example_loss [B], probabilities [B, C], logits [B, C], predictions [B]); for
      regression logits and predictions are the scores [B]. Losses are None without labels.
    """
    if is_regression is None:
        is_regression = classifier_tasks.is_regression(task_name)
    encoder = fine_tuning_utils.Encoder(
        albert_config,
        is_training,
        hub_module=hub_module,
        dropout_seed=dropout_seed,
        use_one_hot_embeddings=use_one_hot_embeddings,
        **options,
    )
    features = {"input_ids": input_ids, "input_mask": input_mask, "segment_ids": segment_ids}
    found = _logits(encoder, features, num_labels=num_labels, is_regression=is_regression)
    loss = per_example_loss = None
    if labels is not None:
        per_example_loss = _losses(found.logits, labels, is_regression)
        loss = tf.reduce_mean(per_example_loss)
    return loss, per_example_loss, found.probabilities, found.logits, found.predictions


def model_fn_builder(
    albert_config,
    num_labels,
    init_checkpoint,
    learning_rate,
    num_train_steps,
    num_warmup_steps,
    use_tpu,
    use_one_hot_embeddings,
    task_name,
    hub_module=None,
    optimizer="adamw",
    *,
    is_regression=None,
    metric_names=None,
    **settings,
):
    """Returns `model_fn` for a TPUEstimator.

    The arguments, and any keyword besides, are the fields of fine_tuning_utils.ModelSettings, but
    for num_labels; task_name, which says whether it is a regression and what is measured inside
    the graph, unless is_regression and metric_names (keys of metrics.METRICS) do.
    """
    task = classifier_tasks.TASKS.get(task_name.strip().lower())
    if is_regression is None:
        is_regression = classifier_tasks.is_regression(task_name)
    if metric_names is None:
        metric_names = (task.metrics if task else ("eval_accuracy",)) + ("eval_loss",)
    return fine_tuning_utils.build_model_fn(
        fine_tuning_utils.ModelSettings(
            config=albert_config,
            init_checkpoint=init_checkpoint,
            learning_rate=learning_rate,
            num_train_steps=num_train_steps,
            num_warmup_steps=num_warmup_steps,
            use_tpu=use_tpu,
            use_one_hot_embeddings=use_one_hot_embeddings,
            hub_module=hub_module,
            optimizer=optimizer,
            **settings,
        ),
        classification_head(num_labels, is_regression),
        metric_fn=tpu_metrics(metric_names, num_labels),
    )


def file_based_input_fn_builder(
    input_file,
    seq_length,
    is_training,
    drop_remainder,
    task_name,
    use_tpu,
    bsz,
    multiple=1,
    *,
    is_regression=None,
    padding=None,
    seed=0,
    start_step=0,
):
    """Returns `input_fn` for a TPUEstimator: params -> tf.data.Dataset of feature dicts.

    input_ids, input_mask and segment_ids are int32 [B, S * multiple], label_ids (float32 for
    regression) and is_real_example int32 [B].

    Args:
      input_file: a record file, or several as a list.
      seq_length: S.
      is_training: endless shuffled batches, of which number n is a function of the seed and n;
        otherwise each record once, in order.
      drop_remainder: leave the last batch of an evaluation out if it is not full.
      task_name: says whether labels are numbers, unless is_regression does.
      use_tpu: take B from params.
      bsz: B elsewhere.
      multiple: sequences of one example, one after another.
      is_regression: True or False.
      padding: one of padded_batches.MODES: batches of padded_batches, which are all full and in
        evaluation have example_index; B is that of params if they have one.
      seed: of the order of training.
      start_step: training goes on with the batch of this step.
    """
    if is_regression is None:
        is_regression = classifier_tasks.is_regression(task_name)
    spec = classifier_features.feature_spec(seq_length * multiple, is_regression)
    options = {
        "is_training": is_training,
        "batch_size": bsz,
        "seed": seed,
        "start_step": start_step,
    }
    if padding:
        padding = padded_batches.Padding(padding)
        return fine_tuning.record_input_fn(input_file, spec, padding=padding, **options)
    return fine_tuning.published_input_fn(
        input_file, spec, drop_remainder=drop_remainder, use_tpu=use_tpu, **options
    )


def input_fn_builder(features, seq_length, is_training, drop_remainder):
    """Returns `input_fn` for a TPUEstimator from features in memory; B is params["batch_size"].

    Args:
      features: InputFeatures with sequences of length S.
      seq_length: S.
      is_training: endless batches, shuffled anew in each epoch; otherwise each example once.
      drop_remainder: leave a last batch out that is not full.

    Raises:
      ValueError: a sequence has another length.
    """
    columns = {
        name: [getattr(item, name) for item in features]
        for name in ("input_ids", "input_mask", "segment_ids")
    }
    for name, rows in columns.items():
        lengths = {len(row) for row in rows} - {seq_length}
        if lengths:
            raise ValueError(
                f"{name} of some features has the length {min(lengths)}, not seq_length "
                f"{seq_length}. Give the length that they were made with."
            )
    arrays = {name: np.array(rows, np.int32) for name, rows in columns.items()}  # [N, S]
    labels = np.array([item.label_id for item in features])
    arrays["label_ids"] = labels.astype(np.float32 if labels.dtype.kind == "f" else np.int32)

    def input_fn(params):
        """Serves the batches."""
        examples = tf.data.Dataset.from_tensor_slices(arrays)
        if is_training:
            examples = examples.shuffle(max(len(features), 1)).repeat()
        return examples.batch(params["batch_size"], drop_remainder=drop_remainder)

    return input_fn
