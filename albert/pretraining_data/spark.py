# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining data by Apache Spark: the cluster job with Spark's file reading and shuffle."""

import glob
import io
import os
import pathlib
import re
import shutil
import sys
from typing import Any, Iterable, Iterator, List, Sequence, Tuple

from pyspark import Broadcast, sql

from albert.pretraining_data import cluster, documents
from albert.pretraining_data.flags import SparkFlags
from albert.pretraining_data.instances import Counts, InstanceMaker, check_counts, total
from albert.util import files, parallel, provenance
from albert.util.errors import UserError

_FILE_BYTES = 2**31 - 1  # what Spark reads as one value

Key = Tuple[int, Any]  # number of a shard, and a record with its key; or COUNTS, and the counts


class SparkEngine(cluster.Engine):
    """Spark on the cluster `master`, or that of spark-submit, or this machine.

    Raises:
      ValueError: there is no Java, or the cluster cannot be reached.
    """

    def __init__(self, flags: SparkFlags):
        self._settings = flags
        self._patterns = files.split_paths(flags.input_file)
        if re.match(r"(?!gs:)\w+://", flags.output_file):
            raise UserError("--output_file must be in a shared folder or on gs://.")
        if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
            raise UserError("Spark needs Java, such as Debian's package default-jre-headless.")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # of workers on this machine
        builder = sql.SparkSession.builder.appName("create_pretraining_data_spark")
        builder = builder.config("spark.ui.showConsoleProgress", "true")
        if flags.master:
            builder = builder.master(flags.master)
        with cluster.explained(f"--master={flags.master}: Spark does not start"):
            self._session = builder.getOrCreate()
        self.name = f"Spark at {self._session.sparkContext.master}"

    def find_text(self, but: Sequence[str]) -> List[cluster.FileState]:
        """Returns what the patterns match, and below folders the files with a text's ending."""
        reader = self._session.read.format("binaryFile").option("recursiveFileLookup", "true")
        self._files = reader.load(_present(self._patterns))
        rows = self._files.select("path", "length", "modificationTime").collect()
        rows = [row for row in rows if self._is_text(row.path, but)]
        return list(parallel.in_threads(_state, rows, "Looking at the text"))

    def _is_text(self, uri: str, but: Sequence[str]) -> bool:
        """Whether a pattern names a file itself, or the file's name is that of a text."""
        path = _path(uri)
        is_named = any(map(pathlib.PurePath(path).match, map(cluster.absolute, self._patterns)))
        return (is_named or documents.is_text(path)) and path not in map(cluster.absolute, but)

    def run(
        self, text: List[cluster.FileState], maker: InstanceMaker, outputs: cluster.Shards
    ) -> None:
        """Counts have a partition of their own, after those of the shards, which is read first."""
        context = self._session.sparkContext
        shared = context.broadcast((maker, {path for path, _, _ in text}))
        count, field = outputs.count, self._settings.text_field
        shuffled = (
            self._files.where(f"length <= {_FILE_BYTES}")
            .select("path", "content")
            .rdd.flatMap(lambda row: _read(row, shared, field))
            .flatMap(lambda block: _keyed(block, shared, count))
            .repartitionAndSortWithinPartitions(count + 1, lambda key: key[0] % (count + 1))
            .keys()
        )
        try:
            (counts,) = context.runJob(shuffled, _total, [count])
            check_counts(counts)
            sizes = shuffled.mapPartitionsWithIndex(
                lambda number, keys: _write(number, keys, outputs)
            ).collectAsMap()
        except Exception:
            self._session.stop()  # no task writes on
            raise
        outputs.write_counts({**sizes, cluster.COUNTS: counts})


def _present(patterns: Sequence[str]) -> List[str]:
    """The local files and folders that patterns match; other patterns stay as they are.

    Spark logs an exception for a single path that is a pattern.
    """
    paths: List[str] = []
    for pattern in patterns:
        # Spark takes these for patterns, too.
        matches = [re.sub(r"([\[\]{}*?\\])", r"\\\1", path) for path in glob.glob(pattern)]
        paths += matches or [pattern]
    return paths


def _state(row: sql.Row) -> cluster.FileState:
    """The state of a file. The time of a local one may have been restored."""
    path = _path(row.path)
    if row.length > _FILE_BYTES:
        raise UserError(f"--input_file: '{path}' is larger than 2 GB. Split it.")
    sample = "" if "://" in path else provenance.stamp(path)["sample"]
    return row.path, row.length, [row.modificationTime.timestamp(), sample]


def _path(uri: str) -> str:
    """The path of a local file, or the address of another."""
    return re.sub("^file:/+", "/", uri)


def _read(row: Any, shared: Broadcast, text_field: str) -> Iterator[documents.TextBlock]:
    """A file -> blocks of documents."""
    path, content = row
    if path in shared.value[1]:
        yield from cluster.blocks(documents.whole(path), io.BytesIO(content), text_field)


def _keyed(
    block: documents.TextBlock, shared: Broadcast, num_shards: int
) -> Iterator[Tuple[Key, None]]:
    """A block -> its records and counts, in the form that Spark sorts."""
    for shard, rows in cluster.rows(block, shared.value[0], num_shards):
        for row in [rows] if shard == cluster.COUNTS else rows:
            yield (shard, row), None


def _total(keys: Iterable[Key]) -> Iterable[Counts]:
    return [total(counts for _, counts in keys)]


def _write(number: int, keys: Iterable[Key], outputs: cluster.Shards) -> Iterator[Tuple[int, int]]:
    """The sorted records of a partition -> a file; yields the number of the shard and its bytes."""
    if number < outputs.count:
        yield number, outputs.write_shard(number, (record for _, record in keys))
