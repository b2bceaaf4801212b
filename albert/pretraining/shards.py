# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The output of pretraining data: may it be replaced, and what a cluster's output consists of.

`Shards` knows nothing of Apache Beam: an engine hands it its own way to reach files.
"""

import glob
import logging
import os
import re
import tempfile
import time
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence

import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.pretraining.instances import Counts, check_counts
from albert.util import files, many_files, progress
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")
_CHUNK_BYTES = 1 << 22


def report(counts: Counts, started: float) -> None:
    """Logs what was read and made since the time `started`."""
    made = [f"{name.replace('_', ' ')}: {n:,}" for name, n in counts._asdict().items() if n]
    _LOGGER.info("%s; %s.", ", ".join(made), progress.format_seconds(time.time() - started))


def check_ours(
    path: str,
    sidecar: Optional[record_files.RecordFile],
    size: int,
    *,
    fingerprint: Mapping[str, Any],
) -> None:
    """Refuses to replace a record file that is not of this program, or of other text.

    Other settings make a file anew; other text is rather a name that was mistyped.

    Args:
      path: a file of `size` bytes with the metadata `sidecar`.
      fingerprint: of what is to replace it: "maker", and "text": a list of objects with a "name".

    Raises:
      ValueError: it must stay.
    """

    def source(made_from: Mapping[str, Any]) -> Any:
        return made_from.get("maker"), sorted(one["name"] for one in made_from.get("text", []))

    is_whole = sidecar and sidecar.bytes == size
    if not is_whole or source(sidecar.fingerprint) != source(fingerprint):
        raise UserError(
            f"--output_file: '{path}' exists, and has changed, or was made by another program, "
            "from other text or with another number of files. Choose another name, or replace it "
            "with --overwrite."
        )


class Storage(NamedTuple):
    """How an engine reaches files, by functions that can be pickled."""

    find: Callable[[str], Dict[str, int]]  # the files that a pattern matches, with their bytes
    read: Callable[[str], Optional[bytes]]  # None if the file is not there
    write: Callable[[str, Iterable[bytes]], None]  # replaces a file in one step
    remove: Callable[[str], None]  # a file that may be there


class Shards(NamedTuple):
    """The record files NAME-00000-of-00016 and so on, and beside them NAME.counts.json.

    The counts are written last: when they are there, everything is.
    """

    storage: Storage
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
            found = dict(zip(ours, many_files.each(self._sidecar, ours, "Looking at the output")))
            report = self._read_report()
            if report and "fingerprint" not in report:
                there[self.counts] = 0
            for path, size in there.items():
                check_ours(path, found.get(path), size, fingerprint=self.fingerprint)
        for path in others:
            self.storage.remove(path)
            self.storage.remove(record_files.sidecar_path(path))
        self.storage.remove(self.counts)

    def write(self, number: int, records: Iterable[bytes], counts: Counts) -> int:
        """Writes the records of a shard if the counts are good; returns its bytes."""
        check_counts(counts)
        path = self.paths[number]
        sidecar = record_files.sidecar_path(path)
        made_from = dict(self.fingerprint, shard=number, shards=self.count)
        blocks = record_files.RecordFile(path, fingerprint=made_from)
        with tempfile.NamedTemporaryFile() as local:
            with tf.io.TFRecordWriter(local.name) as writer:
                for record in records:
                    writer.write(record)
                    blocks.add(len(record))
            # The old metadata must never describe the new file.
            self.storage.remove(sidecar)
            self.storage.write(path, iter(lambda: local.read(_CHUNK_BYTES), b""))
        self.storage.write(sidecar, [files.json_text(blocks.as_json()).encode("utf-8")])
        return blocks.bytes

    def write_counts(self, counts: Counts, sizes: Sequence[int]) -> None:
        """Writes the file that marks the output as complete; `sizes`: bytes of each shard."""
        report = {
            "counts": counts._asdict(),
            "shards": self.count,
            "bytes": list(sizes),
            "fingerprint": self.fingerprint,
        }
        self.storage.write(self.counts, [files.json_text(report).encode("utf-8")])

    def _there(self) -> Dict[str, int]:
        """The shards of this name that are there, of whatever number, with their bytes."""
        digits = "[0-9]" * 5
        base, ending = glob.escape(self.base), glob.escape(self.ending)
        return self.storage.find(f"{base}-{digits}-of-{digits}{ending}")

    def _read_report(self) -> Dict[str, Any]:
        """The content of the file of counts; {} if there is none."""
        return files.parse_json(self.storage.read(self.counts) or "{}", f"'{self.counts}'")

    def _sidecar(self, path: str) -> Optional[record_files.RecordFile]:
        """The metadata of a record file; None if there is none or it is unreadable."""
        content = self.storage.read(record_files.sidecar_path(path))
        return record_files.parse_sidecar(content, path) if content else None


def absolute(path: str) -> str:
    """Returns a path that means the same in every process on this machine."""
    return path if "://" in path else os.path.abspath(path)


def shards_of(output_file: str, storage: Storage) -> Shards:
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
    return Shards(storage, absolute(match.group(1)), match.group(2) or "")
