# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The records of pretraining, and the input functions that read them.

Dimensions: B batch, S sequence, P predictions per sequence.
"""

import collections
import functools
import math
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf
from google.protobuf import message

from albert import modeling
from albert.data import padded_batches, record_files, record_format, shuffling
from albert.pretraining_data import instances, masking, words
from albert.pretraining_data.flags import DataFlags
from albert.tasks.pretraining.flags import PretrainingFlags
from albert.util import UserError, json_files, log, parallel
from albert.util import flags as flags_lib

Tensors = Mapping[str, tf.Tensor]

_RECORDS_TO_CHECK = 10  # in each file
# The metadata that training needs. Other metadata can be long, and there can be many files.
_MASK_SETTINGS = ("ngram", "favor_shorter_ngram", "do_whole_word_mask")
_ID = range(1 << 24)
_METADATA = {
    "vocab_size": (_ID, None),
    "tokenizer": ({"name": str, "sha256": json_files.SHA256}, None),
    "do_lower_case": (bool, None),
    "settings": (flags_lib.schema(DataFlags, (*_MASK_SETTINGS, "sentence_order")), None),
    "vocabulary": ({"mask_id": _ID, "ordinary": [[_ID, _ID]]}, None),
}
_SEQUENCES = ("input_ids", "input_mask", "segment_ids", "token_boundary")
_EVALUATION_SEED = 0  # results must not depend on the training's seed


# ---------------------------------------------------------------------------------------------
# Records.


def feature_spec(max_seq_length: int, max_predictions_per_seq: int) -> record_format.FeatureSpec:
    """Returns the declaration of a pretraining record: S tokens, and up to P predictions.

    With --do_permutation, data creation writes records with room for twice as many predictions.
    """
    sequence, predictions = (max_seq_length,), (max_predictions_per_seq,)
    feature = record_format.Feature
    return record_format.FeatureSpec(
        (
            feature("input_ids", sequence),
            feature("input_mask", sequence),
            feature("segment_ids", sequence),
            # Only --masked_lm_budget needs it. Records of other programs may lack it.
            feature("token_boundary", sequence, default=0),
            # Records without masks lack these three.
            feature("masked_lm_positions", predictions, default=0),
            feature("masked_lm_ids", predictions, default=0),
            feature("masked_lm_weights", predictions, tf.float32, default=0),
            # BERT's name; here it is the label of the sentence order.
            feature("next_sentence_labels", (1,)),
        )
    )


class PretrainingFile(NamedTuple):
    """The metadata of a file of pretraining records, and a summary of its first records."""

    path: str
    metadata: Dict[str, Any]  # {} if there is none
    largest: Dict[str, float]  # feature -> largest value; 0 if the feature is missing

    @property
    def has_masks(self) -> bool:
        """Whether the records hold masks."""
        return self.largest["masked_lm_weights"] > 0


def read_files(
    paths: Sequence[str], flags: PretrainingFlags, config: modeling.AlbertConfig
) -> List[PretrainingFile]:
    """Reads the metadata and the first records of files.

    Raises:
      ValueError: a file is empty, has other features than `feature_spec`, or does not fit the
        model; or it has no masks, and --masked_lm_budget is 0; or it has single segments, and
        sentence_order is true.
    """
    spec = feature_spec(flags.max_seq_length, flags.max_predictions_per_seq)

    def read(path: str) -> PretrainingFile:
        spec.check_file(path)
        sidecar = record_files.read_sidecar(path)
        fingerprint = sidecar.fingerprint if sidecar else {}
        json_files.check(fingerprint, _METADATA, f"The metadata of '{path}'")
        metadata = {name: fingerprint[name] for name in _METADATA if name in fingerprint}
        largest: Dict[str, float] = collections.defaultdict(float)
        for record in record_files.first_records(path, _RECORDS_TO_CHECK):
            try:
                features = tf.train.Example.FromString(record).features.feature
            except message.DecodeError:
                collections.deque(
                    record_files.records(path), maxlen=0
                )  # its error names the record
                raise
            for name, feature in features.items():
                values = feature.int64_list.value or feature.float_list.value
                largest[name] = max([largest[name], *values])
        if not largest:
            raise UserError(f"{path} holds no records. Create the pretraining data again.")
        file = PretrainingFile(path, metadata, largest)
        _check_fits(file, config)
        if not file.has_masks and not flags.masked_lm_budget:
            raise UserError(
                f"{path}: the records have no masks. To draw masks during training, add "
                "--masked_lm_budget=0.1765 (15% of the tokens), or create the records with a "
                "--masked_lm_prob above 0."
            )
        if flags.sentence_order and not metadata.get("settings", {}).get("sentence_order", True):
            raise UserError(
                f"{path}: the records are single segments, which have no order. Add "
                "--nosentence_order, or create the records without it."
            )
        return file

    return list(parallel.in_threads(read, paths, "Checking the records"))


def _check_fits(file: PretrainingFile, config: modeling.AlbertConfig) -> None:
    ids = max(file.largest["input_ids"], file.largest["masked_lm_ids"])
    sizes = {
        "vocab_size": max(int(ids) + 1, file.metadata.get("vocab_size") or 0),
        "type_vocab_size": int(file.largest["segment_ids"]) + 1,
    }
    for name, size in sizes.items():
        if size > getattr(config, name):
            raise UserError(
                f"{file.path} was made for {name}={size}, but the model's {name} is "
                f"{getattr(config, name)}. Use the model's vocabulary, or change the model."
            )


# ---------------------------------------------------------------------------------------------
# Input.


def input_fn_builder(
    input_files,
    max_seq_length,
    max_predictions_per_seq,
    is_training,
    num_cpu_threads=4,
    *,
    seed: int = 0,
    start_step: int = 0,
    max_batches: Optional[int] = None,
    index_folder: Optional[str] = None,
    padding: str = "max",
    transform: Optional[Callable] = None,
) -> Callable:
    """Returns an estimator's input function: params -> tf.data.Dataset of feature dicts.

    In training, the batches are endless, and batch n depends only on the seed and n. In evaluation,
    each record comes once, and records of weight zero fill up the last batch.

    Args:
      num_cpu_threads: ignored; tf.data chooses the number.
      start_step: training begins with the batch of this step.
      max_batches: maximum batches of an evaluation.
      index_folder: cache folder for the records' offsets.
      padding: one of configs.shared_flags.PADDINGS; in evaluation, bucket works like longest.
      transform: the result of `masks_on_the_fly`.
    """
    spec = feature_spec(max_seq_length, max_predictions_per_seq)
    pad = padded_batches.Padding(padding, features=_SEQUENCES)
    options: Dict[str, Any] = {"transform": transform, "index_folder": index_folder}
    if is_training:
        options.update(seed=seed, start_step=start_step)
        return padded_batches.input_fn(input_files, spec, is_training=True, padding=pad, **options)

    def input_fn(params: Mapping[str, Any]) -> tf.data.Dataset:
        """Reads batches of params["batch_size"], which is the size for one core."""
        shard = shuffling.input_shard(params)
        read = functools.partial(
            shuffling.evaluation_batches,
            input_files,
            spec,
            batch_size=params["batch_size"],
            **options,
        )
        # In each evaluation step, a TPU's host serves a batch to each of its cores.
        core_batches = max_batches and max_batches * shard.batches_per_step
        dataset = read(max_batches=core_batches, shard=shard)
        if not params.get("use_tpu"):
            return padded_batches.cut(dataset, pad)
        # Each TPU core needs a batch in each step, even after the last record.
        weightless = shuffling.as_written(
            lambda batch: dict(batch, is_real_example=tf.zeros_like(batch["is_real_example"]))
        )
        return dataset.concatenate(read(max_batches=1).map(weightless).repeat())

    return input_fn


def _decode_record(record, name_to_features):
    """Returns the features of a serialized tf.Example, with integers as int32."""
    return record_format.integers_to_int32(tf.io.parse_single_example(record, name_to_features))


def masks_on_the_fly(
    flags: PretrainingFlags,
    files: Sequence[PretrainingFile],
    *,
    is_training: bool,
    vocabulary: Optional[words.PieceTable] = None,
) -> Optional[Callable]:
    """Returns the transform that draws masks for --masked_lm_budget; None uses the records' masks.

    The records' metadata choose the kind of masks; the default is the paper's. Evaluation uses the
    records' masks. If the records have no masks, every evaluation draws the same masks.

    Args:
      vocabulary: used if the metadata have none.

    Raises:
      ValueError: files have different kinds of masks, or lack data that masking needs.
    """
    budget = flags.masked_lm_budget
    if not budget or (not is_training and all(file.has_masks for file in files)):
        return None
    mask_settings, recorded = _recorded_masks(files)
    vocabulary = words.described_vocabulary(recorded) if recorded else vocabulary
    if not vocabulary:
        raise UserError(
            "--masked_lm_budget cannot tell which token is [MASK]: the records have no metadata "
            "(.NAME.meta.json, a hidden file). Copy it too, or give --spm_model_file or "
            "--vocab_file."
        )
    masks = DataFlags(
        max_seq_length=flags.max_seq_length,
        max_predictions_per_seq=flags.max_predictions_per_seq,
        masked_lm_prob=budget / (1.0 + budget),  # the budget is masked / unmasked tokens
        **mask_settings,
    )
    without_words = [file.path for file in files if not file.largest["token_boundary"]]
    if masks.do_whole_word_mask and without_words:
        raise UserError(
            f"{without_words[0]} has no token_boundary, which says where words begin. "
            "--masked_lm_budget needs it. Create the records again with create_pretraining_data."
        )
    log.info(
        "Drawing masks on the fly: %.1f%% of the tokens, at most %d, in n-grams of up to %d %s.",
        100.0 * masks.masked_lm_prob,
        masks.max_predictions_per_seq,
        masks.ngram,
        "whole words" if masks.do_whole_word_mask else "tokens",
    )
    instances.warn_of_few_slots(masks)
    seed = flags.seed if is_training else _EVALUATION_SEED
    redraw = functools.partial(masking.redraw, flags=masks, seed=seed, vocabulary=vocabulary)
    draw = functools.partial(_in_python, redraw)

    def draw_missing(features: Tensors, numbers: tf.Tensor) -> Dict[str, tf.Tensor]:
        drawn = draw(features, numbers)
        has_masks = tf.reduce_any(features["masked_lm_weights"] > 0, axis=1)  # [B]
        return {name: tf.where(has_masks, features[name], drawn[name]) for name in features}

    return draw if is_training else draw_missing


def _in_python(function: Callable, features: Tensors, numbers: tf.Tensor) -> Dict[str, tf.Tensor]:
    """Returns tensors with the values of function({name: array}, numbers)."""

    def in_python(numbers: np.ndarray, *values: np.ndarray) -> List[np.ndarray]:
        results = function(dict(zip(features, values)), numbers)
        return [results[name] for name in features]

    columns = features.values()
    types = [column.dtype for column in columns]
    results = tf.numpy_function(in_python, [numbers, *columns], types)
    for result, column in zip(results, columns):
        result.set_shape(column.shape)
    return dict(zip(features, results))


def _recorded_masks(
    files: Sequence[PretrainingFile],
) -> Tuple[Dict[str, Any], Optional[Mapping[str, Any]]]:
    """Returns (masking flags, vocabulary) from the metadata; UserError if files differ."""
    first: Any = None
    for path, metadata, _ in files:
        if not metadata:
            continue
        flags = metadata.get("settings", {})
        masks = {name: flags[name] for name in _MASK_SETTINGS if name in flags}
        recorded = masks, metadata.get("vocabulary")
        first = first or recorded
        if recorded != first:
            raise UserError(
                f"--masked_lm_budget: {path} was made with other masks ({masks}) or another "
                f"vocabulary than the files before it ({first[0]}). Create them with the same "
                "flags, or train on one after the other."
            )
    return first or ({}, None)


def evaluation_part(
    files: Sequence[str], batch_size: int, max_steps: int, *, index_folder: Optional[str] = None
) -> Tuple[List[str], int]:
    """Returns (files that an evaluation of at most `max_steps` batches reads, steps)."""
    index = record_files.load_metadata(files, folder=index_folder, enough=batch_size * max_steps)
    batch_count = math.ceil(sum(file.count for file in index) / batch_size)
    return [file.path for file in index], min(max_steps, batch_count)
