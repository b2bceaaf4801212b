# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Batches from record files: shuffled for training, in order for evaluation.

    training = seeded_batches(files, spec, batch_size=32, seed=1, start_batch=global_step)
    evaluation = evaluation_batches(files, spec, batch_size=32)

Batch n of a training depends only on (seed, n), on every runtime, so that a resumed run gets the
same batches as an uninterrupted one.

Legend: B batch, U runs, W records of a shuffle window, R records of an epoch.
"""

import math
from typing import (
    Any,
    Callable,
    Dict,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

import numpy as np
import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.data.record_format import FeatureSpec
from albert.util import UserError, parallel


class InputShard(NamedTuple):
    """The part of every batch that this host reads, and the number of batches per update."""

    index: int  # type: ignore[assignment]  # `index` and `count` are also methods of a tuple
    count: int  # type: ignore[assignment]
    batches_per_step: int


WHOLE = InputShard(0, 1, 1)


def input_shard(params: Mapping[str, Any]) -> InputShard:
    """Returns the shard of the host that calls an input function.

    On TPUs, each host calls its input function, and each core takes one batch per update. The same
    holds for workers and their devices. Otherwise there are one host and one batch.
    """
    replicas = params.get("input_context")
    if replicas is not None:
        workers = replicas.num_input_pipelines
        devices = replicas.num_replicas_in_sync // workers
        return InputShard(replicas.input_pipeline_id, workers, devices)
    if params.get("use_tpu") and "context" in params:
        return InputShard(*params["context"].current_input_fn_deployment()[1:])
    return WHOLE


# --------------------------------------------------------------- reading: training and evaluation

_LANES = 64
_RUNS_OF_A_STRETCH = 8
# The least number of runs, if an epoch is larger than a shuffle window.
_RUNS_OF_AN_EPOCH = 384
_READ_BUFFER_BYTES = 1 << 20
_AUTOTUNE = tf.data.experimental.AUTOTUNE
_MAX_INT64 = np.iinfo(np.int64).max


def _checked_index(
    files: Sequence[str], spec: FeatureSpec, *, folder: Optional[str], enough: int = _MAX_INT64
) -> List[record_files.RecordFile]:
    """Indexes the records of each file, and checks its first record, before the graph is built."""
    index = record_files.load_metadata(files, folder=folder, enough=enough)
    list(
        parallel.in_threads(spec.check_file, [file.path for file in index], "Checking the records")
    )
    if not any(file.count for file in index):
        raise UserError(f"The record files have no records: {list(files)}.")
    return index


def _parsed(batches: tf.data.Dataset, parse: Callable) -> tf.data.Dataset:
    """Parses batches in parallel, in order. Prevents tf.distribute from sharding them again.

    Turns TensorFlow's tuning off: parallel calls and buffers adapt without its thread, which took a
    tenth of the processor time of reading, and for which the end of a session waits.
    """
    options = tf.data.Options()
    if hasattr(options, "autotune"):
        options.autotune.enabled = False
        no_sharding = tf.data.experimental.AutoShardPolicy.OFF
        options.experimental_distribute.auto_shard_policy = no_sharding
    else:  # TF 1.15
        options.experimental_optimization.autotune = False
        options.experimental_distribute.auto_shard = False
    return batches.map(as_written(parse), _AUTOTUNE).prefetch(_AUTOTUNE).with_options(options)


# Use it for the functions that `map` and similar methods take. Otherwise AutoGraph rewrites them,
# which takes seconds at every start. They do not need it: no Python branch depends on a tensor.
as_written = tf.autograph.experimental.do_not_convert

# ------------------------------------------------------------------------------ reading: training

Features = Dict[str, tf.Tensor]
Transform = Callable[[Features, tf.Tensor], Features]  # (features, positions) of a batch


def seeded_batches(
    files: Sequence[str],
    spec: FeatureSpec,
    *,
    batch_size: int,
    seed: int,
    start_batch: int = 0,
    shuffle_window: int = 10000,
    shard: InputShard = WHOLE,
    transform: Optional[Transform] = None,
    index_folder: Optional[str] = None,
) -> tf.data.Dataset:
    """Returns an endless dataset of shuffled batches. Batch n depends only on (seed, n).

    Each epoch puts the runs (see `_runs`) in a random order, which spreads neighbouring runs over
    the epoch. If the data is large, the runs are assigned to 64 lanes, and the stream takes one
    record from each lane in turn. Each lane is cut into windows, which are shuffled. Each epoch has
    each record once.

    Shard i of n serves the positions p of the stream with p % n == i. So batch k of n shards with
    b examples each has the same examples as batch k of one reader with n * b. If n divides 64, each
    shard reads 1/n of large data. Otherwise it reads more: at most all of it. (On TensorFlow 1.15,
    this needs 384 files or more; see `_runs`.)

    Args:
      files: record files, in any order.
      spec: the declaration of the records.
      batch_size: B, examples per batch of this shard.
      seed: any integer.
      start_batch: the first batch to serve.
      shuffle_window: W, records to shuffle at a time. A reader holds two windows in memory, or its
        share of them.
      shard: the part of every batch that this reader serves.
      transform: (features, positions of the records, int64 [B]) -> features. If it derives its
        random numbers from the positions, batch n still depends only on (seed, n).
      index_folder: see record_files.load_metadata.

    Returns:
      A dataset of {name: [B] + declared shape}, int64 as int32.

    Raises:
      UserError: a file is damaged, a record has another format, or there are no records.
    """
    files = sorted(str(name) for name in files)
    index = _checked_index(files, spec, folder=index_folder)
    start = start_batch * batch_size * shard.count
    runs = _runs(index, shuffle_window)
    stream = _Stream(runs, shuffle_window, seed=seed, start=start, shard=shard)

    def parse(texts: tf.Tensor, positions: tf.Tensor) -> Features:
        features = spec.parse_batch(texts)
        return transform(features, positions) if transform else features

    return _parsed(stream.records().batch(batch_size, drop_remainder=True), parse)


class _Runs(NamedTuple):
    """All records, in runs. Training reads the runs in a random order."""

    paths: np.ndarray  # [U]
    # [U, 4]: first byte, number of bytes, first record's number in the file, number of records
    extents: np.ndarray


def _runs(index: Sequence[record_files.RecordFile], window: int) -> _Runs:
    """Cuts files into runs. With many files, or few records, each file is one run.

    TensorFlow 1.15 reads each file from the start: to serve a run, it also reads the part of the
    file before the run. So this function does not cut files if there are many.
    """
    total = sum(file.count for file in index)
    paths: List[str] = []
    extents = []
    for file in index:
        num_runs = max(-(-_RUNS_OF_AN_EPOCH * file.count // total), 1) if total > window else 1
        step = -(-len(file.offsets or [0]) // num_runs)  # blocks per run
        offsets = (file.offsets or [0])[::step]
        firsts = [run * step * file.block_records for run in range(len(offsets))]
        sizes, counts = np.diff([*offsets, file.bytes]), np.diff([*firsts, file.count])
        paths += [file.path] * len(offsets)
        extents.append(np.stack([offsets, sizes, firsts, counts], axis=1))
    return _Runs(np.array(paths), np.concatenate(extents))


class _Stream:
    """The endless stream of serialised records, in an order that depends on the seed.

    Epoch e has the positions e * R to (e + 1) * R - 1. Its position number s is in lane s % lanes.
    All lanes have equal shares of an epoch. A reader reads the lanes that have its positions.
    """

    def __init__(self, runs: _Runs, window: int, *, seed: int, start: int, shard: InputShard):
        """`start`: the first position, counted over all shards."""
        self._runs, self._start, self._counts = runs, start, runs.extents[:, 3]
        self._shard, self._shards = shard.index, shard.count
        self._seed = np.array(seed % (1 << 64), np.uint64).astype(np.int64)
        self._epoch_size = int(sum(self._counts))  # R
        self._lanes = _LANES if self._epoch_size > window and len(runs.paths) >= _LANES else 1
        self._stride = math.gcd(
            self._shards, self._lanes
        )  # from one lane of this shard to the next
        self._window = max(1, window // self._lanes)  # records in a window of a lane
        self._windows_of_lane = -(-self._epoch_size // (self._lanes * self._window))

    def records(self) -> tf.data.Dataset:
        """Returns this shard's (serialised string [], position int64 []) from `start` on."""
        epochs = tf.data.Dataset.range(self._start // self._epoch_size, _MAX_INT64)
        records = epochs.flat_map(as_written(self._epoch))
        if self._stride == self._shards:
            return records
        count, index = self._shards, self._shard
        return records.filter(as_written(lambda _, position: tf.equal(position % count, index)))

    def _epoch(self, epoch: tf.Tensor) -> tf.data.Dataset:
        """Returns the records of one epoch in this shard's lanes, from `start` on."""
        dealt, borders = self._deal(self._run_order(epoch))
        begin = epoch * self._epoch_size
        start = tf.maximum(begin, self._start)
        window = (start - begin) // (self._lanes * self._window)
        lanes = tf.data.Dataset.range(
            tf.math.floormod(self._shard - begin, self._stride), self._lanes, self._stride
        )
        records = lanes.interleave(
            as_written(lambda lane: self._lane(dealt, borders, epoch, lane=lane, window=window)),
            cycle_length=self._lanes // self._stride,
            block_length=1,
        )
        # Skip this shard's positions between the beginning of the window and `start`.
        first = begin + self._lanes * self._window * window
        first += tf.math.floormod(self._shard - first, self._stride)
        return records.skip((start - first + self._stride - 1) // self._stride)

    def _run_order(self, epoch: tf.Tensor) -> tf.Tensor:
        """Returns the numbers of the runs in the order of an epoch, int32 [U].

        The data is cut into stretches of runs, and the epoch into parts. Each part has one run of
        each stretch, in a random order. So each part has runs from all of the data.
        """
        size = len(self._runs.paths)  # U
        stretch = np.arange(size) // _RUNS_OF_A_STRETCH  # [U]
        length = np.bincount(stretch)[stretch]
        rank = np.arange(size) - np.searchsorted(stretch, stretch)
        # Windows use the keys 0, 1, ...; the order of the runs of epoch e uses -1 - e.
        draws = self._draws(-1 - epoch, [2, size])
        shuffled = tf.argsort((stretch << 40) + draws[0] // (1 << 23))
        times = (rank + tf.cast(draws[1], tf.float64) * 2.0**-63) / length
        return tf.gather(shuffled, tf.argsort(times))

    def _deal(self, run_order: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
        """Assigns the runs to the lanes round-robin.

        Each lane must serve the same number of records. Lanes with too many give the rest to lanes
        with too few.

        Returns:
          (parts of runs, borders). The parts (see _read) are first each lane's own records, then
          the records that each lane gets from others. The borders, [2 * lanes + 1], are the record
          numbers at which each lane's own records, and then its others, begin.
        """
        turns = np.arange(len(self._runs.paths)) % self._lanes
        by_lane = np.argsort(turns, kind="stable")
        lane_of = turns[by_lane]
        lanes = np.arange(self._lanes)
        shares = (self._epoch_size + self._lanes - 1 - lanes) // self._lanes
        order = tf.gather(run_order, by_lane)
        counts = tf.gather(self._counts, order)
        in_lane = tf.cumsum(counts, exclusive=True)
        in_lane -= tf.gather(in_lane, np.searchsorted(lane_of, lane_of))
        own = tf.clip_by_value(shares[lane_of] - in_lane, np.int64(0), counts)
        own_of_lane = tf.math.segment_sum(own, lane_of)
        order, zeros = tf.cast(order, tf.int64), tf.zeros_like(own)
        columns = ([order, order], [zeros, own], [own, counts - own])
        parts = tf.stack([tf.concat(column, axis=0) for column in columns], axis=1)
        return parts, tf.cumsum(tf.concat([[0], own_of_lane, shares - own_of_lane], axis=0))

    def _lane(self, dealt, borders, epoch, *, lane, window) -> tf.data.Dataset:
        """Returns a lane's (serialised string [], position int64 []), from a window on."""
        own, own_end = borders[lane], borders[lane + 1]
        lent, lent_end = borders[self._lanes + lane], borders[self._lanes + lane + 1]
        passed = window * self._window
        own_passed = tf.minimum(passed, own_end - own)
        texts = _read(self._runs, dealt, own + own_passed, end=own_end)
        lent_texts = _read(self._runs, dealt, lent + passed - own_passed, end=lent_end)

        def shuffle(texts, number) -> Tuple[tf.Tensor, tf.Tensor]:
            key = (epoch * self._lanes + lane) * self._windows_of_lane + number
            size = tf.shape(texts, out_type=tf.int64)[0]
            turns = number * self._window + tf.range(size)
            positions = epoch * self._epoch_size + turns * self._lanes + lane
            return tf.gather(texts, tf.argsort(self._draws(key, [size]))), positions

        numbers = tf.data.Dataset.range(window, _MAX_INT64)
        windows = tf.data.Dataset.zip((texts.concatenate(lent_texts).batch(self._window), numbers))
        # Each lane prefetches its next window, so that the lanes read in parallel.
        return windows.map(as_written(shuffle)).prefetch(1).unbatch()

    def _draws(self, key: tf.Tensor, shape: Sequence[Any]) -> tf.Tensor:
        """Draws numbers from 0 to 2^63 - 1 that depend only on the seed and the key."""
        return tf.random.stateless_uniform(
            shape, seed=[self._seed, key], minval=0, maxval=_MAX_INT64, dtype=tf.int64
        )


def _read(runs: _Runs, parts: tf.Tensor, begin: Any, *, end: Any) -> tf.data.Dataset:
    """Returns the serialised records `begin` to `end` - 1, counted over all parts.

    `parts`: int64 [N, 3], for each part: the run, the number of its records to skip, and the number
    of records to read.
    """
    starts = tf.cumsum(parts[:, 2], exclusive=True)
    first = tf.searchsorted(starts, tf.cast([begin], tf.int64), "right", tf.int64)[0] - 1

    def read(number: tf.Tensor) -> tf.data.Dataset:
        part = tf.gather(parts, number)
        return _read_run(runs, part[0]).skip(part[1]).take(part[2])

    texts = tf.data.Dataset.range(first, tf.size(starts, out_type=tf.int64)).flat_map(
        as_written(read)
    )
    return texts.skip(begin - starts[first]).take(end - begin)


def _read_run(runs: _Runs, run: tf.Tensor) -> tf.data.Dataset:
    """Returns the serialised records of a run. Starts at the run's first byte if possible."""
    path, extent = tf.gather(runs.paths, run), tf.gather(runs.extents, run)
    offset, size, passed, count = (extent[column] for column in range(4))
    if not _READS_FROM_OFFSETS:
        texts = tf.data.TFRecordDataset(path, buffer_size=_READ_BUFFER_BYTES)
        return texts.skip(passed).take(count)
    from_offset = tf.raw_ops.TFRecordDatasetV2(
        filenames=[path],
        compression_type="",
        buffer_size=tf.minimum(size, _READ_BUFFER_BYTES),
        byte_offsets=[offset],
    )
    return tf.data.experimental.from_variant(from_offset, tf.TensorSpec([], tf.string)).take(count)


# TensorFlow 1.15 reads files only from the start.
_READS_FROM_OFFSETS = hasattr(tf.raw_ops, "TFRecordDatasetV2")


# ---------------------------------------------------------------------------- reading: evaluation


def evaluation_batches(
    files: Sequence[str],
    spec: FeatureSpec,
    *,
    batch_size: int,
    max_batches: Optional[int] = None,
    pad_final_batch: bool = True,
    shard: InputShard = WHOLE,
    transform: Optional[Transform] = None,
    index_folder: Optional[str] = None,
) -> tf.data.Dataset:
    """Returns a dataset that serves each record once, in the order of the files.

    Args:
      files: record files.
      spec: the declaration of the records.
      batch_size: B, examples per batch.
      max_batches: the number of batches to serve; None or 0 for all.
      pad_final_batch: fill the last batch with copies of weight 0, so that B is static.
      shard: the consecutive part of the records that this reader serves. The parts have equal
        sizes, or differ by one record. A part may be empty.
      transform: (features, numbers of the records, int64 [B]) -> features.
      index_folder: see record_files.load_metadata.

    Returns:
      A dataset of {name: [B] + declared shape}, int64 as int32, with `is_real_example`, int32 [B],
      which is 0 for copies that only fill the batch.

    Raises:
      UserError: see seeded_batches.
    """
    enough = max_batches * batch_size * shard.count if max_batches else _MAX_INT64
    index = _checked_index(list(map(str, files)), spec, folder=index_folder, enough=enough)
    total = min(sum(file.count for file in index), enough)
    begin, end = (total * number // shard.count for number in (shard.index, shard.index + 1))
    runs = _runs(index, 0 if _READS_FROM_OFFSETS else _MAX_INT64)
    in_order = tf.constant(
        [(run, 0, extent[3]) for run, extent in enumerate(runs.extents)], tf.int64
    )

    def parse(texts: tf.Tensor, numbers: tf.Tensor) -> Features:
        size = batch_size if pad_final_batch else tf.size(texts)
        is_real = tf.sequence_mask(tf.size(texts), size, tf.int32)  # [B]
        rows = tf.range(size) * is_real  # Copies of row 0 fill the batch.
        features = spec.parse_batch(tf.gather(texts, rows))
        if transform:
            features = transform(features, tf.gather(numbers, rows))
        if "is_real_example" in features:  # Some records only fill a batch, too.
            is_real *= tf.reshape(features["is_real_example"], [-1])
        return dict(features, is_real_example=is_real)

    texts = _read(runs, in_order, begin, end=end)
    numbered = tf.data.Dataset.zip((texts, tf.data.Dataset.range(begin, end)))
    return _parsed(numbered.batch(batch_size), parse)
