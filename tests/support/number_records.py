# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Record files of numbers, and what a data set serves."""

import contextlib
import itertools

import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.data.record_format import Feature, FeatureSpec
from tests.support import graphs

NUMBER = FeatureSpec([Feature("number", (), tf.int64)])


def write(folder, sizes):
    """Writes files that hold 0, 1, 2, ... in their order; returns their paths."""
    paths, rows = [], ({"number": number} for number in itertools.count())
    for index, size in enumerate(sizes):
        paths.append(f"{folder}/{index:04d}.tfrecord")
        with record_files.create(paths[-1]) as file:
            for record in NUMBER.encode_each(itertools.islice(rows, size)):
                file.write(record)
    return paths


def served(build, count=None):
    """Returns the first `count` elements (all with None) of the data set that `build` makes."""
    with graphs.new_session() as session:
        following = tf.data.make_one_shot_iterator(build()).get_next()
        elements = []
        with contextlib.suppress(tf.errors.OutOfRangeError):
            while count is None or len(elements) < count:
                elements.append(session.run(following))
        return elements
