# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Batches with little padding.

Records are padded to --max_seq_length. Padding `max` keeps this length, which TPUs need. `longest`
cuts each batch to its longest sequence. The results stay the same, with two exceptions: dropout in
the encoder draws different masks, and the training loss of SQuAD v1.1 counts padding. `bucket` also
groups sequences of similar length in training, which changes only their order, and cuts short ones
more closely. Evaluation keeps the order of the records; `example_index` is the number of a row's
record.

Legend: B batch, S stored sequence length, L served sequence length, K updates per pool, N records
per pool.
"""

import functools
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import tensorflow.compat.v1 as tf

from albert.data import record_files, record_format, shuffling

# Each distinct length is a separate shape, with its own memory and compiled code.
LENGTH_MULTIPLE = 16
_MASK = "input_mask"  # the feature that is 1 for tokens and 0 for padding
# The number of batches to sort by length at a time. With more, lengths are more equal. With fewer,
# the order is more random.
_BATCHES_PER_POOL = 100
_TOKENS_PER_POOL = 1 << 24  # at most, with padding: 64 MB per feature

Features = Dict[str, tf.Tensor]


class Padding(NamedTuple):
    """How to pad sequences."""

    mode: str = "longest"  # one of configs.shared_flags.PADDINGS
    # The features to cut, along the last dimension.
    features: Tuple[str, ...] = ("input_ids", "input_mask", "segment_ids")


def input_fn(
    file: Union[str, Sequence[str]],
    spec: record_format.FeatureSpec,
    *,
    is_training: bool,
    batch_size: Optional[int] = None,
    padding: Optional[Padding] = None,
    drop_remainder: bool = True,
    use_tpu: bool = False,
    seed: int = 0,
    start_step: int = 0,
    **reading: Any,
) -> Callable[[Mapping[str, Any]], tf.data.Dataset]:
    """Returns `input_fn` for a TPUEstimator: params -> tf.data.Dataset of feature dicts.

    With `padding`, all batches are full. Without it, batches are as programs for the published
    scripts expect them: sequences of full length, and only the features of `spec`.

    Args:
      file: a record file, or several.
      spec: the declaration of the records.
      is_training: serve training_batches; otherwise serve each record once.
      batch_size: B; params["batch_size"] takes precedence with `padding`, and on a TPU.
      padding: how to pad sequences, or None.
      drop_remainder: without padding: drop the last batch of an evaluation if it is not full.
      use_tpu: without padding: take B from params.
      seed: the seed of the training order.
      start_step: the step at which training starts or resumes.
      reading: for training; see training_batches.
    """
    paths = [file] if isinstance(file, str) else list(file)

    def batches(params: Mapping[str, Any]) -> tf.data.Dataset:
        """Returns the batches for one core."""
        size = params.get("batch_size", batch_size) if padding or use_tpu else batch_size
        if is_training:
            shard = shuffling.input_shard(params)
            return training_batches(
                paths,
                spec,
                padding=padding or Padding("max"),
                batch_size=size,
                start_batch=start_step * shard.batches_per_step,
                shard=shard,
                seed=seed,
                **reading,
            )
        read = functools.partial(shuffling.evaluation_batches, paths, spec, batch_size=size)
        if padding:
            return cut(read(transform=_with_numbers), padding)
        served = read(pad_final_batch=drop_remainder)
        if drop_remainder:
            served = served.take(sum(map(record_files.count_records, paths)) // size)
        keep = shuffling.as_written(lambda batch: {name: batch[name] for name in spec.names})
        return served.map(keep)

    return batches


def training_batches(
    files: Sequence[str],
    spec: record_format.FeatureSpec,
    *,
    padding: Padding,
    batch_size: int,
    start_batch: int = 0,
    shard: shuffling.InputShard = shuffling.WHOLE,
    **reading: Any,
) -> tf.data.Dataset:
    """Returns an endless dataset of shuffled batches. Batch n depends only on (seed, n).

    In one update, the batches of all shards together have the examples of one large batch of a
    single reader. With `bucket`, each shard reads all records.

    Args:
      files: record files.
      spec: the declaration of the records.
      padding: how to pad sequences.
      batch_size: B.
      start_batch: the number of this reader's first batch, from 0; a multiple of
        shard.batches_per_step.
      shard: the batches of an update that this reader serves.
      reading: seed, shuffle_window, transform (which sees sequences of full length) and
        index_folder of `shuffling.seeded_batches`.

    Returns:
      A dataset of {name: [B] + declared shape}, the sequences cut to a common length L.
    """
    if padding.mode != "bucket":
        reading.update(batch_size=batch_size, start_batch=start_batch, shard=shard)
        return cut(shuffling.seeded_batches(files, spec, **reading), padding)
    sizes = [shard.count * shard.batches_per_step, batch_size]  # batches per update, B
    total = sizes[0] * batch_size
    mask = next(feature for feature in spec.features if feature.name == _MASK)
    most = min(_BATCHES_PER_POOL, _TOKENS_PER_POOL // (total * record_format.size_of(mask.shape)))
    index = record_files.load_metadata(
        files, folder=reading.get("index_folder"), enough=most * total
    )
    pool = max(1, min(most, sum(file.count for file in index) // total))  # K, at most an epoch
    first_pool, skipped = divmod(start_batch, pool * shard.batches_per_step)
    reading.update(batch_size=pool * total, start_batch=first_pool)
    own = slice(shard.index * shard.batches_per_step, (shard.index + 1) * shard.batches_per_step)

    def split(number: tf.Tensor, features: Features) -> Features:
        order = tf.argsort(_lengths(features), stable=True)  # [N]
        # The windows of the stream use the keys (seed, number), so pools use different keys.
        key = tf.stack([tf.constant(reading["seed"] % (1 << 62), tf.int64), -2 - number])
        turns = tf.argsort(tf.random.stateless_uniform([pool], seed=key))  # [K]
        order = tf.gather(tf.reshape(order, [pool, *sizes]), turns)[:, own]
        order = tf.reshape(order, [-1, batch_size])  # [K * batches_per_step, B]
        return {name: tf.gather(value, order) for name, value in features.items()}

    pools = shuffling.seeded_batches(files, spec, **reading).enumerate(first_pool)
    batches = pools.map(shuffling.as_written(split)).unbatch()
    return cut(batches.skip(skipped), padding)


def _with_numbers(features: Features, numbers: tf.Tensor) -> Features:
    return dict(features, example_index=tf.cast(numbers, tf.int32))


def _lengths(features: Features) -> tf.Tensor:
    """Returns the length of each row, int32 [N]: the number of tokens up to the last mask of 1."""
    mask = features[_MASK]
    positions = tf.range(1, tf.shape(mask)[-1] + 1)
    used = tf.cast(mask > 0, tf.int32) * positions
    return tf.reduce_max(tf.reshape(used, [tf.shape(mask)[0], -1]), axis=1)


def cut(batches: tf.data.Dataset, padding: Padding) -> tf.data.Dataset:
    """Cuts each batch to its longest sequence, rounded up, unless the padding is `max`."""
    if padding.mode == "max":
        return batches

    def shorter(features: Features) -> Features:
        longest = tf.maximum(tf.reduce_max(_lengths(features)), 1)
        multiple = LENGTH_MULTIPLE
        if padding.mode == "bucket":  # compiling more lengths pays, as each is used often
            multiple = tf.where(longest > 64, 16, tf.where(longest > 32, 8, 4))
        rounded = -(-longest // multiple) * multiple  # L; slicing stops at S
        return dict(features, **{name: features[name][..., :rounded] for name in padding.features})

    return batches.map(shuffling.as_written(shorter)).prefetch(tf.data.experimental.AUTOTUNE)
