# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Batches of sequences that are only as long as they need to be.

Records are padded to the longest sequence a model takes. `max` serves them so (TPUs want static
shapes); `longest` cuts each batch to its longest sequence, which changes no result (but dropout in
the encoder draws its masks by shape, and the training loss of SQuAD v1.1 counts padding); `bucket`
also lets sequences of like length share a batch, which changes the order of training only. In
evaluation `longest` serves the longest sequences first, `bucket` more of the shorter ones at once;
`example_index` says which record a row was.

Legend: B batch, S sequence as stored, L sequence as served, K updates of a pool, N its records.
"""

from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import tensorflow.compat.v1 as tf

from albert.data import batches as input_pipeline
from albert.data import record_index
from albert.util.errors import UserError

MODES = ("longest", "bucket", "max")
# Each distinct length is a separate shape, with its own memory and compiled code.
LENGTH_MULTIPLE = 16
# Batches sorted by length together. More make lengths more equal; fewer keep the order random.
_BATCHES_OF_A_POOL = 100
_PLACES_OF_A_POOL = 1 << 24  # at most, of all its sequences: 64 MB a feature

Features = Dict[str, tf.Tensor]


class Padding(NamedTuple):
    """How sequences are padded."""

    mode: str = "longest"  # one of MODES
    mask: str = "input_mask"  # the feature that is 1 in use and 0 beyond the end of a sequence
    # What is cut, along its last dimension.
    features: Tuple[str, ...] = ("input_ids", "input_mask", "segment_ids")


def default_mode(use_tpu: bool) -> str:
    """Returns the mode to use where the user names none."""
    return "max" if use_tpu else "longest"


def input_fn(
    file: Union[str, Sequence[str]],
    spec: input_pipeline.FeatureSpec,
    *,
    is_training: bool,
    batch_size: Optional[int],
    padding: Optional[Padding] = None,
    drop_remainder: bool = True,
    use_tpu: bool = False,
    seed: int = 0,
    start_step: int = 0,
) -> Callable[[Mapping[str, Any]], tf.data.Dataset]:
    """Returns `input_fn` for a TPUEstimator: params -> tf.data.Dataset of feature dicts.

    With `padding` they are batches of this module, all full. Without, they are what programs for
    the published scripts expect: sequences of full length and the features of `spec` alone.

    Args:
      file: a record file, or several.
      spec: declaration of the records.
      is_training: see training_batches; otherwise each record once.
      batch_size: B; params["batch_size"] takes precedence with `padding`, and on a TPU.
      padding: how sequences are padded, or None.
      drop_remainder: without padding: leave out the last batch of an evaluation if it is not full.
      use_tpu: without padding: take B from params.
      seed: of the order of training.
      start_step: training resumes with the batch of this step.
    """
    paths = [file] if isinstance(file, str) else list(file)

    def batches(params: Mapping[str, Any]) -> tf.data.Dataset:
        """Reads the batches of one core."""
        size = params.get("batch_size", batch_size) if padding or use_tpu else batch_size
        if is_training:
            shard = input_pipeline.input_shard(params)
            return training_batches(
                paths,
                spec,
                padding=padding or Padding("max"),
                batch_size=size,
                seed=seed,
                start_batch=start_step * shard.batches_per_step,
                shard=shard,
            )
        if padding:
            return evaluation_batches(paths, spec, padding=padding, batch_size=size)
        found = input_pipeline.evaluation_batches(
            paths, spec, batch_size=size, pad_final_batch=drop_remainder
        )
        if drop_remainder:
            found = found.take(_count(paths) // size)
        keep = input_pipeline.as_written(lambda batch: {name: batch[name] for name in spec.names})
        return found.map(keep)

    return batches


def training_batches(
    files: Sequence[str],
    spec: input_pipeline.FeatureSpec,
    *,
    padding: Padding,
    batch_size: int,
    seed: int,
    start_batch: int = 0,
    shard: input_pipeline.InputShard = input_pipeline.WHOLE,
    shuffle_window: int = 10000,
    transform: Optional[Callable] = None,
    index_folder: Optional[str] = None,
) -> tf.data.Dataset:
    """Returns an endless dataset of shuffled batches; batch n depends on (seed, n) only.

    The shards' batches of one update are together those of one reader with batches as large as
    all of them; with `bucket` each reads all records. `start_batch` is the number of this reader's
    first batch, from 0, a multiple of shard.batches_per_step; for the others see
    `batches.seeded_batches`, whose `transform` sees sequences of full length.

    Returns:
      A dataset of {name: [B] + declared shape}, the sequences cut to a common length L.

    Raises:
      ValueError: an unknown mode, and what seeded_batches raises.
    """
    _check_mode(padding.mode)
    reading = _Reading(seed, shuffle_window, transform, index_folder)
    if padding.mode != "bucket":
        batches = input_pipeline.seeded_batches(
            files,
            spec,
            batch_size=batch_size,
            start_batch=start_batch,
            shard_index=shard.index,
            shard_count=shard.count,
            **reading._asdict(),
        )
        return batches if padding.mode == "max" else cut(batches, padding)
    first_step = start_batch // shard.batches_per_step
    steps: Dict[str, Any] = {"batch_size": batch_size, "first_step": first_step, "shard": shard}
    return cut(_buckets(files, spec, padding, **steps, reading=reading), padding)


class _Reading(NamedTuple):
    """How records are read, see `batches.seeded_batches`."""

    seed: int
    shuffle_window: int
    transform: Optional[Callable]
    index_folder: Optional[str]


def _buckets(
    files: Sequence[str],
    spec: input_pipeline.FeatureSpec,
    padding: Padding,
    *,
    batch_size: int,
    first_step: int,
    shard: input_pipeline.InputShard,
    reading: _Reading,
) -> tf.data.Dataset:
    """Batches of like length among the records of all readers, in a random order."""
    parts = shard.count * shard.batches_per_step
    total = parts * batch_size
    pool = _pool_size(files, spec, padding, total=total, index_folder=reading.index_folder)
    first_pool, skipped = divmod(first_step, pool)
    pools = input_pipeline.seeded_batches(
        files,
        spec,
        batch_size=pool * total,
        start_batch=first_pool,
        **reading._asdict(),
    )
    numbers = tf.data.Dataset.range(first_pool, np.iinfo(np.int64).max)
    first = shard.index * shard.batches_per_step
    ours = slice(first, first + shard.batches_per_step)

    def split(features: Features, number: tf.Tensor) -> Features:
        order = tf.argsort(_lengths(features, padding), stable=True)  # [N]
        # A key of its own: the windows of the stream take (seed, number) themselves.
        key = tf.stack([tf.constant(reading.seed % (1 << 62), tf.int64), -2 - number])
        turns = tf.argsort(tf.random.stateless_uniform([pool], seed=key))  # [K]
        order = tf.gather(tf.reshape(order, [pool, parts, batch_size]), turns)  # [K, parts, B]
        order = tf.reshape(order[:, ours], [-1, batch_size])  # [K * batches_per_step, B]
        return {name: tf.gather(value, order) for name, value in features.items()}

    batches = tf.data.Dataset.zip((pools, numbers)).map(input_pipeline.as_written(split)).unbatch()
    return batches.skip(skipped * shard.batches_per_step)


def _pool_size(
    files: Sequence[str],
    spec: input_pipeline.FeatureSpec,
    padding: Padding,
    *,
    total: int,
    index_folder: Optional[str],
) -> int:
    """The updates of `total` records that are sorted together: no more than an epoch has."""
    mask = next(one for one in spec.features if one.name == padding.mask)
    places = int(np.prod(mask.shape, dtype=np.int64))
    most = min(_BATCHES_OF_A_POOL, _PLACES_OF_A_POOL // (total * places))
    found = record_index.load(list(map(str, files)), folder=index_folder, enough=most * total)
    return max(1, min(most, sum(one.count for one in found) // total))


def evaluation_batches(
    files: Sequence[str],
    spec: input_pipeline.FeatureSpec,
    *,
    padding: Padding,
    batch_size: int,
) -> tf.data.Dataset:
    """Returns a dataset that serves each record once, in batches of B.

    With `longest` the records of a pool are sorted by length, the longest first. With `bucket`
    batches hold as many places as B sequences of the full length do.

    Returns:
      A dataset of {name: [B] + declared shape}, with `is_real_example` int32 [B], 0 for rows that
      only fill a batch, and `example_index` int32 [B], the number of the record, -1 for those.

    Raises:
      ValueError: an unknown mode, and what batches.evaluation_batches raises.
    """
    _check_mode(padding.mode)
    pool = 1
    if padding.mode != "max":
        pool = max(1, min(_BATCHES_OF_A_POOL, -(-_count(files) // batch_size)))
    size = pool * batch_size
    pools = input_pipeline.evaluation_batches(files, spec, batch_size=size)
    starts = tf.data.Dataset.range(0, np.iinfo(np.int64).max, size)

    def numbered(features: Features, start: tf.Tensor) -> Features:
        index = tf.cast(start, tf.int32) + tf.range(size)
        is_filler = tf.equal(features["is_real_example"], 0)
        return dict(features, example_index=tf.where(is_filler, -tf.ones_like(index), index))

    def split(features: Features) -> Features:
        real = features["is_real_example"]
        order = tf.argsort(-_lengths(features, padding) * real, stable=True)  # [N]
        order = tf.reshape(order, [pool, batch_size])
        return {name: tf.gather(value, order) for name, value in features.items()}

    batches = tf.data.Dataset.zip((pools, starts)).map(input_pipeline.as_written(numbered))
    if padding.mode == "max":
        return batches.prefetch(1)
    if padding.mode == "bucket":
        return cut(_even_batches(batches, padding, batch_size), padding)
    batches = batches.map(input_pipeline.as_written(split)).unbatch()
    batches = batches.filter(
        input_pipeline.as_written(lambda batch: tf.reduce_any(batch["is_real_example"] > 0))
    )
    return cut(batches, padding)


def _even_batches(batches: tf.data.Dataset, padding: Padding, batch_size: int) -> tf.data.Dataset:
    """The records of batches again, in batches of like lengths and of like work."""
    full = int(tf.data.get_output_shapes(batches)[padding.mask][-1])  # S
    lengths = [*range(LENGTH_MULTIPLE, full, LENGTH_MULTIPLE), full]
    records = batches.unbatch().filter(
        input_pipeline.as_written(lambda record: record["is_real_example"] > 0)
    )

    def length(record: Features) -> tf.Tensor:
        return _lengths({padding.mask: record[padding.mask][tf.newaxis]}, padding)[0]

    return records.apply(
        tf.data.experimental.bucket_by_sequence_length(
            input_pipeline.as_written(length),
            bucket_boundaries=[longest + 1 for longest in lengths[:-1]],
            bucket_batch_sizes=[batch_size * full // longest for longest in lengths],
        )
    )


def _check_mode(mode: str) -> None:
    if mode not in MODES:
        raise UserError(f"Unknown padding {mode!r}. Choose one of: {', '.join(MODES)}.")


def _count(files: Sequence[str]) -> int:
    return sum(input_pipeline.count_records(str(path)) for path in files)


def _lengths(features: Features, padding: Padding) -> tf.Tensor:
    """The length of each row, int32 [N]: one more than the last place in use of any sequence."""
    mask = features[padding.mask]
    places = tf.range(1, tf.shape(mask)[-1] + 1)
    used = tf.cast(mask > 0, tf.int32) * places
    return tf.reduce_max(tf.reshape(used, [tf.shape(mask)[0], -1]), axis=1)


def cut(batches: tf.data.Dataset, padding: Padding) -> tf.data.Dataset:
    """Returns the batches, each cut to its longest sequence, rounded up."""

    def shorter(features: Features) -> Features:
        lengths = _lengths(features, padding)
        if "is_real_example" in features:
            lengths *= tf.cast(tf.reshape(features["is_real_example"], [-1]) > 0, tf.int32)
        longest = tf.maximum(tf.reduce_max(lengths), 1)
        rounded = -(-longest // LENGTH_MULTIPLE) * LENGTH_MULTIPLE  # L; slicing stops at S
        cut_features = {name: features[name][..., :rounded] for name in padding.features}
        return dict(features, **cut_features)

    return batches.map(input_pipeline.as_written(shorter)).prefetch(tf.data.experimental.AUTOTUNE)
