# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The output of a cluster's pretraining data, wherever Apache Beam can write: local, gs://, hdfs://."""

import glob
import os
import re
import tempfile
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple

import tensorflow.compat.v1 as tf
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from albert.data import record_files
from albert.pretraining import job
from albert.pretraining.instances import Counts, check_counts
from albert.util import files, many_files
from albert.util.errors import UserError

_CHUNK_BYTES = 1 << 22

KEY_BYTES = 8  # of the key before each record that write_shard takes
Counted = Tuple[int, ...]  # the values of Counts


class Shards(NamedTuple):
    """The record files NAME-00000-of-00016 and so on, and beside them NAME.counts.json.

    The counts are written last: when they are there, everything is.
    """

    base: str
    ending: str
    count: int = 0  # type: ignore[assignment]  # a tuple's method
    fingerprint: Dict[str, Any] = {}

    @property
    def counts(self) -> str:
        """The path of the file of counts."""
        return f"{self.base}.counts.json"

    @property
    def paths(self) -> List[str]:
        """The record files."""
        name = f"{self.base}-{{:05d}}-of-{self.count:05d}{self.ending}"
        return [name.format(number) for number in range(self.count)]

    def report(self) -> Dict[str, Any]:
        """Returns the content of the file of counts; {} unless all files are there and current."""
        report, there = self._read_report(), self._there()
        current = {"fingerprint": self.fingerprint, "bytes": list(map(there.get, self.paths))}
        return report if report == dict(report, **current) else {}

    def make_way(self, *, overwrite: bool) -> None:
        """Removes what an earlier run left that would not be replaced.

        Raises:
          ValueError: without `overwrite`, a file was not made here, was changed since, was made
            from other text, or is of another number of shards.
        """
        there = self._there()
        others = set(there) - set(self.paths)
        if not overwrite:
            ours = [path for path in self.paths if path in there]
            found = dict(zip(ours, many_files.each(_sidecar, ours, "Looking at the output")))
            report = self._read_report()
            if report and "fingerprint" not in report:
                there[self.counts] = 0
            for path, size in there.items():
                job.check_ours(path, found.get(path), size, fingerprint=self.fingerprint)
        for path in [*others, *map(record_files.sidecar_path, others), self.counts]:
            remove(path)

    def write_shard(
        self, shard: Tuple[int, Iterable[List[bytes]]], counts: Counted
    ) -> Tuple[int, int]:
        """Writes the records of a shard if the counts are good; returns its number and bytes.

        Args:
          shard: its number, and records, each behind its key.
          counts: of the whole job.
        """
        check_counts(Counts(*counts))
        number, batches = shard
        path = self.paths[number]
        sidecar = record_files.sidecar_path(path)
        made_from = dict(self.fingerprint, shard=number, shards=self.count)
        blocks = record_files.RecordFile(path, fingerprint=made_from)
        with tempfile.NamedTemporaryFile() as local:
            with tf.io.TFRecordWriter(local.name) as blocks.writer:
                for keyed in sorted(record for batch in batches for record in batch):
                    blocks.write(keyed[KEY_BYTES:])
            # The old metadata must never describe the new file.
            remove(sidecar)
            write(path, iter(lambda: local.read(_CHUNK_BYTES), b""))
        _write_json(sidecar, blocks.as_json())
        return number, blocks.bytes

    def write_counts(self, counts: Counted, sizes: Dict[int, int]) -> None:
        """Writes the file that marks the output as complete; `sizes`: bytes of each shard."""
        report = {
            "counts": Counts(*counts)._asdict(),
            "shards": self.count,
            "bytes": [sizes[number] for number in range(self.count)],
            "fingerprint": self.fingerprint,
        }
        _write_json(self.counts, report)

    def _there(self) -> Dict[str, int]:
        """The shards of this name that are there, of whatever number, with their bytes."""
        digits = "[0-9]" * 5
        return find(f"{glob.escape(self.base)}-{digits}-of-{digits}{glob.escape(self.ending)}")

    def _read_report(self) -> Dict[str, Any]:
        """The content of the file of counts; {} if there is none."""
        return files.parse_json(_content(self.counts) or "{}", f"'{self.counts}'")


def shards_of(output_file: str) -> Shards:
    """Returns the files of data/train, or of data/train-*.tf_record for names that end like this.

    Raises:
      ValueError: a name that cannot be used.
    """
    match = re.fullmatch(r"([^,*?\[]*[^,*?\[/-])(?:-\*([^,*?\[/]*))?", output_file)
    if not match:
        raise UserError(
            f"--output_file={output_file} must be one name, such as data/train (-00000-of-00016 "
            "is added) or data/train-*.tf_record."
        )
    return Shards(absolute(match[1]), match[2] or "")


def absolute(path: str) -> str:
    """Returns a path that means the same in every process on this machine."""
    return path if "://" in path else os.path.abspath(path)


# ------------------------------------------------------------------------------------------- files


def open_raw(path: str) -> Any:
    """Returns a seekable stream of a file's bytes, without decompressing them."""
    return FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)


def find(pattern: str) -> Dict[str, int]:
    """Returns the files that a pattern matches, with their bytes."""
    (match,) = FileSystems.match([pattern])
    return {metadata.path: metadata.size_in_bytes for metadata in match.metadata_list}


def _content(path: str) -> Optional[bytes]:
    if not FileSystems.exists(path):
        return None
    with open_raw(path) as stream:
        return stream.read()


def _sidecar(path: str) -> Optional[record_files.RecordFile]:
    """The metadata of a record file; None if there is none or it is unreadable."""
    content = _content(record_files.sidecar_path(path))
    return record_files.parse_sidecar(content, path) if content else None


def remove(path: str) -> None:
    """Removes a file that may be there."""
    if FileSystems.exists(path):
        FileSystems.delete([path])


def write(path: str, chunks: Iterable[bytes]) -> None:
    """Replaces a file in one step.

    Runners may let two workers write the same file at the same time when one is slow: each has a
    name of its own until the last step.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.tmp-{files.random_suffix()}")
    try:
        with files.naming_path(path):
            with FileSystems.create(
                temporary, compression_type=CompressionTypes.UNCOMPRESSED
            ) as target:
                target.writelines(chunks)
            remove(path)  # some file systems do not replace one that is there (HDFS)
            FileSystems.rename([temporary], [path])
    finally:
        remove(temporary)


def _write_json(path: str, value: Any) -> None:
    write(path, [files.json_text(value).encode("utf-8")])
