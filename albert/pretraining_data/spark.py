# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes pretraining data with Apache Spark, which reads the files and shuffles the records."""

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
from albert.util import UserError, files, parallel, provenance

_FILE_BYTES = 2**31 - 1  # the largest file that Spark reads as one value

Key = Tuple[int, Any]  # (number of a shard, record with its key), or (COUNTS, counts)


class SparkEngine(cluster.Engine):
    """Spark on the cluster `master`, on the cluster of spark-submit, or on this machine.

    Raises:
      UserError: Java is missing, or Spark cannot connect to the cluster.
    """

    def __init__(self, flags: SparkFlags):
        self._flags = flags
        self._patterns = files.split_paths(flags.input_file)
        if re.match(r"(?!gs:)\w+://", flags.output_file):
            raise UserError("--output_file must be in a shared folder or on gs://.")
        if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
            raise UserError("Spark needs Java, such as Debian's package default-jre-headless.")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # for workers on this machine
        builder = sql.SparkSession.builder.appName("create_pretraining_data_spark")
        builder = builder.config("spark.ui.showConsoleProgress", "true")
        if flags.master:
            builder = builder.master(flags.master)
        with cluster.explained(f"--master={flags.master}: Spark does not start"):
            self._session = builder.getOrCreate()
        self.name = f"Spark at {self._session.sparkContext.master}"

    def find_text(self, excluded: Sequence[str]) -> List[cluster.FileState]:
        """Returns the files that match the patterns, and the text files in matching folders."""
        reader = self._session.read.format("binaryFile").option("recursiveFileLookup", "true")
        self._files = reader.load(_local_matches(self._patterns))
        rows = self._files.select("path", "length", "modificationTime").collect()
        rows = [row for row in rows if self._is_text(row.path, excluded)]
        return list(parallel.in_threads(_state, rows, "Looking at the text"))

    def _is_text(self, uri: str, excluded: Sequence[str]) -> bool:
        """Whether a file matches a pattern, or its name has the ending of a text file."""
        path = _path(uri)
        if path in map(cluster.absolute, excluded):
            return False
        matches = any(map(pathlib.PurePath(path).match, map(cluster.absolute, self._patterns)))
        return matches or documents.is_text(path)

    def run(
        self, text: List[cluster.FileState], maker: InstanceMaker, outputs: cluster.Shards
    ) -> None:
        """Runs the job. The partitions are the shards and, last, the counts.

        The counts are read and checked first, before a shard is written.
        """
        context = self._session.sparkContext
        shared = context.broadcast((maker, {path for path, _, _ in text}))
        count, field = outputs.count, self._flags.text_field
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
            self._session.stop()  # stops the tasks that still write
            raise
        outputs.write_counts({**sizes, cluster.COUNTS: counts})


def _local_matches(patterns: Sequence[str]) -> List[str]:
    """Replaces each pattern by the local files and folders that match it, if there are any.

    Otherwise Spark logs an exception if the only path is a pattern.
    """
    paths: List[str] = []
    for pattern in patterns:
        # Spark treats paths as patterns, so special characters are escaped.
        matches = [re.sub(r"([\[\]{}*?\\])", r"\\\1", path) for path in glob.glob(pattern)]
        paths += matches or [pattern]
    return paths


def _state(row: sql.Row) -> cluster.FileState:
    """Returns the state of a file. For local files it has a sample, too, as times can be reset."""
    path = _path(row.path)
    if row.length > _FILE_BYTES:
        raise UserError(f"--input_file: '{path}' is larger than 2 GB. Split it.")
    sample = "" if "://" in path else provenance.stamp(path)["sample"]
    return row.path, row.length, [row.modificationTime.timestamp(), sample]


def _path(uri: str) -> str:
    """Returns the path of a local file. Other URIs stay as they are."""
    return re.sub("^file:/+", "/", uri)


def _read(row: Any, shared: Broadcast, text_field: str) -> Iterator[documents.TextBlock]:
    """Turns a file into blocks of documents."""
    path, content = row
    if path in shared.value[1]:
        yield from cluster.blocks(documents.whole(path), io.BytesIO(content), text_field)


def _keyed(
    block: documents.TextBlock, shared: Broadcast, num_shards: int
) -> Iterator[Tuple[Key, None]]:
    """Turns a block into keys, which hold its records and counts, with empty values."""
    for shard, rows in cluster.shard_records(block, shared.value[0], num_shards):
        for row in [rows] if shard == cluster.COUNTS else rows:
            yield (shard, row), None


def _total(keys: Iterable[Key]) -> Iterable[Counts]:
    return [total(counts for _, counts in keys)]


def _write(number: int, keys: Iterable[Key], outputs: cluster.Shards) -> Iterator[Tuple[int, int]]:
    """Writes the sorted records of a partition. Yields the shard's number and size in bytes."""
    if number < outputs.count:
        yield number, outputs.write_shard(number, (record for _, record in keys))
