# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""SQuAD with the names and arguments of google-research/albert. The folder squad/ does the work.

Dimensions: B batch, S max_seq_length, H hidden.
"""

import collections
import functools
from typing import Any, Dict, List, Mapping, Optional, Sequence

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils
from albert.data import padded_batches
from albert.data.record_format import FeatureSpec
from albert.tasks.squad import decoding, head, metrics
from albert.tasks.squad import features as squad_features
from albert.tasks.squad.examples import SquadExample, read_squad_examples  # noqa: F401
from albert.tasks.squad.features import FeatureWriter, InputFeatures, convert_examples_to_features  # noqa: F401
from albert.tasks.squad.metrics import (  # noqa: F401
    apply_no_ans_threshold,
    compute_exact,
    compute_f1,
    evaluate_v1,
    exact_match_score,
    f1_score,
    find_all_best_thresh,
    find_best_thresh,
    get_raw_scores,
    get_tokens,
    make_eval_dict,
    make_qid_to_has_ans,
    merge_eval,
    metric_max_over_ground_truths,
)
from albert.training import program
from albert.util import files

# ---- models and input ----


def input_fn_builder(input_file, seq_length, is_training, drop_remainder, use_tpu, bsz, is_v2):
    """Returns `input_fn` for a TPUEstimator: params -> tf.data.Dataset of feature dicts.

    input_ids, input_mask, segment_ids and, for v2, p_mask are int32 [B, S]. unique_ids and, in
    training, start_positions, end_positions and is_impossible are int32 [B].

    Args:
      input_file: a record file, or a list of record files.
      seq_length: S.
      is_training: endless shuffled batches; otherwise each record once, in order.
      drop_remainder: in prediction, leave out the last batch if it is not full.
      use_tpu: take B from params, not from bsz.
      bsz: B.
      is_v2: whether to read p_mask.
    """
    features = squad_features.feature_spec(seq_length, is_training).features
    spec = FeatureSpec([feature for feature in features if is_v2 or feature.name != "p_mask"])
    return padded_batches.input_fn(
        input_file,
        spec,
        is_training=is_training,
        batch_size=bsz,
        drop_remainder=drop_remainder,
        use_tpu=use_tpu,
    )


def create_v1_model(
    albert_config,
    is_training,
    input_ids,
    input_mask,
    segment_ids,
    use_one_hot_embeddings,
    use_einsum,
    hub_module,
):
    """Returns (start_logits, end_logits) of the v1 model, float32 [B, S]; ignores use_einsum."""
    encoder = fine_tuning_utils.Encoder(
        albert_config,
        is_training,
        hub_module=hub_module,
        use_one_hot_embeddings=use_one_hot_embeddings,
    )
    features = {"input_ids": input_ids, "input_mask": input_mask, "segment_ids": segment_ids}
    return tuple(head.span_logits(encoder, features).values())


def create_v2_model(
    albert_config,
    is_training,
    input_ids,
    input_mask,
    segment_ids,
    use_one_hot_embeddings,
    features,
    max_seq_length,
    start_n_top,
    end_n_top,
    dropout_prob,
    hub_module,
):
    """Builds the v2 model; ignores max_seq_length, because the ids have a shape.

    Args:
      features: p_mask [B, S] and, in training, start_positions [B].

    Returns:
      In training {start_log_probs [B, S], end_log_probs [B, S], cls_logits [B]}, else
      squad.decoding.BEAMS by name.
    """
    encoder = fine_tuning_utils.Encoder(
        albert_config,
        is_training,
        hub_module=hub_module,
        use_one_hot_embeddings=use_one_hot_embeddings,
    )
    inputs = {"input_ids": input_ids, "input_mask": input_mask, "segment_ids": segment_ids}
    v2_options = head.V2Options(start_n_top, end_n_top, dropout_prob)
    outputs = head.answer_logits(encoder, {**features, **inputs}, v2_options)
    if is_training:
        for side in ("start", "end"):
            outputs[f"{side}_log_probs"] = tf.nn.log_softmax(outputs.pop(f"{side}_logits"))
    return outputs


def _published_v1_head(
    features: fine_tuning_utils.Features, encoder: fine_tuning_utils.Encoder
) -> fine_tuning_utils.HeadOutput:
    """Builds the v1 head with the output and tensor names of google-research/albert."""
    output = head.v1_head(features, encoder)
    outputs = {
        name.replace("logits", "log_prob"): tf.identity(tensor, name=name)
        for name, tensor in output.outputs.items()
    }
    return output._replace(outputs=outputs)


def v1_model_fn_builder(
    albert_config,
    init_checkpoint,
    learning_rate,
    num_train_steps,
    num_warmup_steps,
    use_tpu,
    use_one_hot_embeddings,
    use_einsum,
    hub_module=None,
    **flags,
):
    """Returns `model_fn` for a TPUEstimator.

    Predictions are start_log_prob and end_log_prob, which are logits [B, S], and unique_ids [B].
    Other keywords are fields of FineTuningFlags. Ignores use_einsum.
    """
    return program.published_model_fn(
        _published_v1_head,
        albert_config,
        hub_module=hub_module,
        num_train_steps=num_train_steps,
        num_warmup_steps=num_warmup_steps,
        use_one_hot_embeddings=use_one_hot_embeddings,
        init_checkpoint=init_checkpoint,
        learning_rate=learning_rate,
        use_tpu=use_tpu,
        **flags,
    )


def v2_model_fn_builder(
    albert_config,
    init_checkpoint,
    learning_rate,
    num_train_steps,
    num_warmup_steps,
    use_tpu,
    use_one_hot_embeddings,
    max_seq_length,
    start_n_top,
    end_n_top,
    dropout_prob,
    hub_module=None,
    **flags,
):
    """Returns `model_fn` for a TPUEstimator.

    Other keywords are fields of FineTuningFlags. Ignores max_seq_length.
    """
    options = head.V2Options(start_n_top, end_n_top, dropout_prob)
    return program.published_model_fn(
        functools.partial(head.v2_head, options=options),
        albert_config,
        hub_module=hub_module,
        num_train_steps=num_train_steps,
        num_warmup_steps=num_warmup_steps,
        use_one_hot_embeddings=use_one_hot_embeddings,
        init_checkpoint=init_checkpoint,
        learning_rate=learning_rate,
        use_tpu=use_tpu,
        **flags,
    )


# ---- scores (see squad.metrics), and private functions that programs use ----

normalize_answer_v1 = normalize_answer_v2 = metrics.normalize_answer


def _get_best_indexes(logits, n_best_size) -> List[int]:
    """Returns the indices of the highest logits, best first; the lower index first in a tie."""
    return np.argsort(-np.asarray(logits), kind="stable")[:n_best_size].tolist()


def _compute_softmax(scores) -> List[float]:
    """Returns the softmax of logits; [] for no logits."""
    return decoding.softmax(scores) if len(scores) else []


# ---- answers from the outputs of a model, or of several models ----

RawResult = collections.namedtuple("RawResult", ["unique_id", "start_log_prob", "end_log_prob"])
RawResultV2 = collections.namedtuple(  # type: ignore[misc]
    "RawResultV2", ["unique_id", *decoding.BEAMS]
)

_RUNS = "runs"  # the key, in the caller's dict, of a list with the candidates of each run


def _accumulate(
    result_dict: Dict[str, Any], features: Sequence[Any], results: Sequence[Any], *limits: int
) -> None:
    """Adds the candidates of one run to result_dict."""
    by_id = {result.unique_id: result for result in results}
    columns = zip(*(by_id[feature.unique_id] for feature in features))
    names = {"start_log_prob": "start_logits", "end_log_prob": "end_logits"}
    fields = type(results[0])._fields
    outputs = {names.get(name, name): np.array(column) for name, column in zip(fields, columns)}
    spans = decoding.find_spans(outputs, features, decoding.Limits(*limits))
    result_dict.setdefault(_RUNS, []).append(spans)


def _write(
    result_dict: Mapping[str, Any],
    examples: Sequence[Any],
    features: Sequence[Any],
    *,
    n_best_size: int,
    paths: Sequence[str],
    threshold: Optional[float] = None,
) -> List[Dict[str, Any]]:
    """Writes and returns the contents of decoding.FILE_NAMES."""
    answers = decoding.best_answers(examples, features, result_dict[_RUNS], n_best_size=n_best_size)
    answers = decoding.with_threshold(answers, threshold)
    contents = list(decoding.file_contents(examples, answers).values())
    for path, content in zip(paths, contents):
        files.atomic_write_text(path, decoding.file_text(content))
    return contents


# ---- v1 ----


def accumulate_predictions_v1(
    result_dict, all_examples, all_features, all_results, n_best_size, max_answer_length
) -> None:
    """Adds the candidates of one run to result_dict, at first {}. Several runs form an ensemble.

    Args:
      result_dict: for `write_predictions_v1`.
      all_examples: ignored.
      all_features: InputFeatures of their windows.
      all_results: a RawResult for each window.
      n_best_size: number of starts and of ends per window to combine.
      max_answer_length: maximum tokens of an answer.
    """
    _accumulate(result_dict, all_features, all_results, n_best_size, max_answer_length)


def write_predictions_v1(
    result_dict,
    all_examples,
    all_features,
    all_results,
    n_best_size,
    max_answer_length,
    output_prediction_file,
    output_nbest_file,
) -> Dict[str, str]:
    """Writes and returns {question ID: best answer}, after `accumulate_predictions_v1`.

    Ignores all_results and max_answer_length.
    """
    return _write(
        result_dict,
        all_examples,
        all_features,
        n_best_size=n_best_size,
        paths=(output_prediction_file, output_nbest_file),
    )[0]


# ---- v2 ----


def accumulate_predictions_v2(
    result_dict,
    cls_dict,
    all_examples,
    all_features,
    all_results,
    n_best_size,
    max_answer_length,
    start_n_top,
    end_n_top,
) -> None:
    """Adds the candidates and null scores of one run to result_dict.

    all_results are RawResultV2s. start_n_top and end_n_top replace n_best_size. Ignores cls_dict.
    For the other arguments, see `accumulate_predictions_v1`.
    """
    _accumulate(
        result_dict,
        all_features,
        all_results,
        n_best_size,
        max_answer_length,
        start_n_top,
        end_n_top,
    )


def write_predictions_v2(
    result_dict,
    cls_dict,
    all_examples,
    all_features,
    all_results,
    n_best_size,
    max_answer_length,
    output_prediction_file,
    output_nbest_file,
    output_null_log_odds_file,
    null_score_diff_threshold,
):
    """Writes and returns the best answers and the null scores, after `accumulate_predictions_v2`.

    If the null score is above null_score_diff_threshold, the answer is empty. None: no threshold.
    Ignores cls_dict, all_results and max_answer_length.
    """
    answers, _, null_odds = _write(
        result_dict,
        all_examples,
        all_features,
        n_best_size=n_best_size,
        paths=(output_prediction_file, output_nbest_file, output_null_log_odds_file),
        threshold=null_score_diff_threshold,
    )
    return answers, null_odds


def evaluate_v2(
    result_dict,
    cls_dict,
    prediction_json,
    eval_examples,
    eval_features,
    all_results,
    n_best_size,
    max_answer_length,
    output_prediction_file,
    output_nbest_file,
    output_null_log_odds_file,
):
    """Finds the threshold with the best F1, and writes and scores the predictions with it.

    prediction_json is the "data" list of a SQuAD file. Returns the scores of
    squad.metrics.evaluate_v2, and null_score_diff_threshold.
    """
    arguments = (result_dict, cls_dict, eval_examples, eval_features, all_results, n_best_size)
    paths = (output_prediction_file, output_nbest_file, output_null_log_odds_file)
    answers, null_odds = write_predictions_v2(*arguments, max_answer_length, *paths, None)
    threshold = metrics.evaluate_v2(prediction_json, answers, null_odds)["best_f1_thresh"]
    answers, _ = write_predictions_v2(*arguments, max_answer_length, *paths, threshold)
    scores = metrics.evaluate_v2(prediction_json, answers, null_odds)
    return dict(scores, null_score_diff_threshold=threshold)
