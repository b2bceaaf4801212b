# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Records from declaration to batch: one FeatureSpec writes, parses and serves a record format.

    spec = FeatureSpec([Feature("input_ids", (128,), tf.int64), ...])
    with AtomicRecordWriter("train.tfrecord", fingerprint) as writer:
        writer.write(spec.encode({"input_ids": ids, ...}))
    training = seeded_batches(files, spec, batch_size=32, seed=1, start_batch=global_step)
    evaluation = evaluation_batches(files, spec, batch_size=32)

Batch n of a training run is a function of (seed, n) alone, on every runtime, so that a run that was
stopped goes on with exactly the batches it would have seen.

Legend: B batch, F files, W records of a shuffle window, R records of an epoch.
"""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import files as file_utils

# The file functions belong to `albert.files`; whoever works with records finds them here too.
Sidecar = file_utils.Sidecar
read_sidecar = file_utils.read_sidecar
is_current = file_utils.is_current
why_stale = file_utils.why_stale
count_records = file_utils.count_records
file_fingerprint = file_utils.file_fingerprint
expand_patterns = file_utils.expand_patterns


# ---------------------------------------------------------------------------------- declaration


class Feature(NamedTuple):
    """One feature of a record.

    `shape` is that of one example. With a `default` (a number that fills the shape) the feature may
    be absent from a record; with None it is required.
    """

    name: str
    shape: Tuple[int, ...]
    dtype: tf.DType = tf.int64
    default: Optional[float] = None


class FeatureSpec:
    """The declaration of a record format: writes records and parses them."""

    def __init__(self, features: Sequence[Feature]):
        """Takes the features in any order.

        Raises:
          ValueError: a name occurs twice, or a dtype is neither tf.int64 nor tf.float32.
        """
        self.features = tuple(
            feature._replace(shape=tuple(feature.shape), dtype=tf.as_dtype(feature.dtype))
            for feature in features
        )
        self._sizes = {f.name: int(np.prod(f.shape, dtype=np.int64)) for f in self.features}
        if len(self._sizes) != len(self.features):
            raise ValueError(f"A feature name occurs twice in {[f.name for f in features]}.")
        for feature in self.features:
            if feature.dtype not in (tf.int64, tf.float32):
                raise ValueError(
                    f"Feature '{feature.name}' has dtype {feature.dtype.name}; records hold "
                    "tf.int64 or tf.float32."
                )

    @property
    def names(self) -> Tuple[str, ...]:
        """The feature names in declared order."""
        return tuple(feature.name for feature in self.features)

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """Returns one record, a serialised tf.train.Example, as the same bytes everywhere.

        Args:
          values: for each feature a number, list or array with as many values as its shape has.
            A feature with a default may be left out.

        Raises:
          ValueError: a required feature is missing, one is unknown, or a length is wrong.
        """
        unknown = sorted(set(values) - set(self._sizes))
        if unknown:
            raise ValueError(f"Unknown features {unknown}; declared are {sorted(self._sizes)}.")
        example = tf.train.Example()
        for feature in self.features:
            if feature.name in values:
                self._encode_feature(example, feature, values[feature.name])
            elif feature.default is None:
                raise ValueError(f"Feature '{feature.name}' is required and missing.")
        # Map entries have no order of their own; sorted ones make equal records equal bytes.
        return example.SerializeToString(deterministic=True)

    def _encode_feature(self, example: tf.train.Example, feature: Feature, value: Any) -> None:
        """Checks the length here, where the mistake is made, not where the record is read."""
        flat = np.reshape(value, [-1]).tolist()
        if len(flat) != self._sizes[feature.name]:
            raise ValueError(
                f"Feature '{feature.name}' has {len(flat)} values; its shape {feature.shape} "
                f"takes {self._sizes[feature.name]}."
            )
        target = example.features.feature[feature.name]
        if feature.dtype == tf.int64:
            target.int64_list.value.extend(flat)
        else:
            target.float_list.value.extend(flat)

    def _parsing_spec(self) -> Dict[str, tf.io.FixedLenFeature]:
        """The declaration in tf.io's words."""
        return {
            feature.name: tf.io.FixedLenFeature(
                feature.shape,
                feature.dtype,
                default_value=None
                if feature.default is None
                else np.full(feature.shape, feature.default, feature.dtype.as_numpy_dtype),
            )
            for feature in self.features
        }

    def parse(self, serialized: tf.Tensor) -> Dict[str, tf.Tensor]:
        """Parses one record (string []) to tensors of the declared shapes, int64 as int32."""
        return _integers_to_int32(tf.io.parse_single_example(serialized, self._parsing_spec()))

    def parse_batch(self, serialized: tf.Tensor) -> Dict[str, tf.Tensor]:
        """Parses records (string [B]) to tensors [B] + declared shape, int64 as int32."""
        return _integers_to_int32(tf.io.parse_example(serialized, self._parsing_spec()))


def _integers_to_int32(features: Dict[str, tf.Tensor]) -> Dict[str, tf.Tensor]:
    """TPUs and gathers want int32; records hold int64 only."""
    return {
        name: tf.cast(value, tf.int32) if value.dtype == tf.int64 else value
        for name, value in features.items()
    }


# -------------------------------------------------------------------------------------- writing


class AtomicRecordWriter:
    """Writes a TFRecord file that exists only when it is whole, and its sidecar.

        with AtomicRecordWriter(path, {"max_seq_length": 128, ...}) as writer:
            writer.write(serialized)

    The file appears under its name when the block ends well; if it ends with an exception nothing
    remains and an older file stays as it was.
    """

    def __init__(self, path: str, fingerprint: Mapping[str, Any]):
        """`fingerprint`: JSON values that say what the records were made from."""
        self.path = str(path)
        self.count = 0
        self._fingerprint = file_utils.normalized_fingerprint(fingerprint)
        self._replacement = file_utils.atomic_path(self.path)
        self._writer = None

    def __enter__(self) -> "AtomicRecordWriter":
        self._writer = tf.io.TFRecordWriter(self._replacement.__enter__())
        return self

    def write(self, serialized: bytes) -> None:
        """Appends one serialised record."""
        self._writer.write(serialized)
        self.count += 1

    def __exit__(self, kind, error, trace) -> None:
        try:
            self._writer.close()
            if kind is None:
                # First the old sidecar goes: it must never describe the new file, not even if
                # this process is killed between the two renames.
                file_utils.remove_sidecar(self.path)
        except Exception as failure:
            self._replacement.__exit__(type(failure), failure, failure.__traceback__)
            raise
        self._replacement.__exit__(kind, error, trace)
        if kind is None:
            file_utils.write_sidecar(self.path, self.count, self._fingerprint)
