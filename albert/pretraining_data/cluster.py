# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining data on a cluster: what every engine (Apache Beam, Spark) shares.

    text files -> blocks of documents -> keyed records -> shards in order of key -> files

The records are those of the one-machine job. Each record has a random 64-bit key. The key space is
cut into N equal parts. Shard n holds the records of part n, sorted by key, then by content. So all
shards together are one complete shuffle of the corpus, with the same bytes in each run, whatever
the engine, the number of workers or the ranges of text that they read.
"""

import collections
import contextlib
import dataclasses
import glob
import logging
import os
import re
import tempfile
import time
import traceback
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.formats import model_vocabulary
from albert.pretraining_data import documents, job
from albert.pretraining_data.flags import ClusterFlags
from albert.pretraining_data.instances import (
    Counts,
    InstanceMaker,
    check_counts,
    keyed_records,
    prepare,
)
from albert.util import files, json_files, parallel, provenance
from albert.util import flags as flags_lib
from albert.util.errors import UserError

COUNTS = -1  # in place of the number of a shard, before counts

_KEY_BYTES = 8  # of the key before each record of a shard
_SHARD_TEXT = 1 << 26  # bytes in a shard, where the number is not given; records have about twice
_MOST = 99999  # shards
_UNPACKED = 4  # size of text divided by that of its gzip file
_FORMAT = 2  # raise it when the same settings give other shards than before

_REPORT = {  # the file of counts
    "fingerprint": (dict, None),
    "counts": ({str: json_files.COUNT}, None),
}
_OURS = re.compile(r'File ".*\balbert/(?:pretraining|data|util)/')  # in a traceback

_LOGGER = logging.getLogger("albert")

FileState = Tuple[str, int, Any]  # path, bytes, and time of change with provenance.sample


class Storage:
    """The files of a job as TensorFlow reaches them; an engine may have its own way."""

    @staticmethod
    def find(pattern: str) -> Dict[str, int]:
        """Returns the files that a pattern matches, with their bytes."""
        paths: List[str] = []
        with contextlib.suppress(tf.errors.NotFoundError):  # TensorFlow 1.15: no such folder
            paths = tf.io.gfile.glob(pattern)
        states = parallel.in_threads(files.state_of, paths, "Looking at the output")
        return {path: size for path, (size, _) in zip(paths, states)}

    @staticmethod
    def read(path: str) -> Optional[bytes]:
        """Returns the content of a file; None if there is none."""
        return files.read_bytes(path) if tf.io.gfile.exists(path) else None

    @staticmethod
    def remove(path: str) -> None:
        """Removes a file that may be there."""
        if tf.io.gfile.exists(path):
            tf.io.gfile.remove(path)

    @staticmethod
    def copy(source: str, path: str) -> None:
        """Replaces a file by another one in one step, also while another worker replaces it."""
        with files.atomic_path(path) as temporary:
            tf.io.gfile.copy(source, temporary)


class Engine:
    """What runs a job: Apache Beam or Spark."""

    name = ""
    storage: Any = Storage

    def find_text(self, but: Sequence[str]) -> List[FileState]:
        """Returns the text files, without those in `but`."""
        raise NotImplementedError

    def run(self, text: List[FileState], maker: InstanceMaker, outputs: "Shards") -> None:
        """Makes the outputs."""
        raise NotImplementedError


def create_pretraining_data(flags: ClusterFlags, engine: Engine) -> str:
    """Makes the records of a job, unless they are there already.

    Returns:
      The path of the file of counts.

    Raises:
      ValueError: a setting out of its range or that needs one machine, no text, names of output
        that cannot be used, an unfit vocabulary; or as `Shards.make_way` or the engine.
    """
    started = time.time()
    if flags.random_next_sentence:
        raise UserError(
            "--random_next_sentence does not work on a cluster. Use create_pretraining_data on one "
            "machine."
        )
    maker, vocabulary = prepare(flags)
    base, ending = split_name(flags.output_file)
    others = [vocabulary.path, flags.user_dictionary, f"{base}.counts.json"]
    with explained(f"--input_file: {engine.name}"):
        text = engine.find_text(list(filter(None, others)))
    size = sum(size * _UNPACKED ** documents.is_compressed(path) for path, size, _ in text)
    if not size:
        raise UserError("--input_file: every file is empty.")
    count = flags.num_shards or min(_MOST, 1 + size * flags.dupe_factor // _SHARD_TEXT)
    fingerprint = _fingerprint(text, maker.fingerprint(vocabulary.path))
    outputs = Shards(base, ending, count, fingerprint, engine.storage)
    report = outputs.report()
    if report:
        _LOGGER.info("Nothing to do: the output was made from the same text and settings.")
    else:
        outputs.make_way(overwrite=flags.overwrite)
        copy = model_vocabulary.beside_records(os.path.dirname(base), vocabulary)
        engine.storage.copy(vocabulary.path, copy)
        try:
            with explained(engine.name):
                engine.run(text, maker, outputs)
        except Exception:
            outputs.remove()
            raise
        report = outputs.report()
        if not report:
            raise UserError(f"{engine.name}: the job ended early. Its log says why.")
    job.report(Counts(*map(report["counts"].get, Counts._fields)), started)
    _LOGGER.info("Record files: %d. Counts: %s", outputs.count, outputs.counts)
    flags_lib.write_config(flags_lib.config_beside(outputs.counts), flags.explicit_values())
    return outputs.counts


def _fingerprint(text: Sequence[FileState], identity: Dict[str, Any]) -> Dict[str, Any]:
    """What the records are made from, for their metadata.

    The text is too large to be hashed as a whole, and the list of files too long to be kept with
    each shard.
    """
    named = sorted((os.path.basename(path), size, state) for path, size, state in text)
    names = provenance.digest([name for name, _, _ in named])[:12]
    summary = {"name": f"{len(named)} files ({names})", "states": provenance.digest(named)[:12]}
    identity["format"] = [_FORMAT, identity["format"]]
    return dict(identity, maker="create_pretraining_data on a cluster", text=[summary])


@contextlib.contextmanager
def explained(where: str) -> Iterator[None]:
    """Makes one sentence of what is wrong with the user's text or cluster.

    Raises:
      UserError: with the sentence of a UserError, also of a worker; or `where`, and the line of the
        error that says what is wrong: Python's, Java's or gRPC's. A fault of ours stays as it is.
    """
    try:
        yield
    except Exception as error:
        text = str(error).strip()  # an error of a worker comes as text
        log = "".join(traceback.format_tb(error.__traceback__)[-1:])
        log += f"{type(error).__name__}: {text}"
        sentences = re.findall(r"(?m)UserError: (.*?)(?: \[while running .*)?$", log)
        if sentences:
            raise UserError(sentences[-1]) from error
        if _OURS.search(log):
            raise
        lines = re.findall(r"(?m)^(?:: |\tdetails = )(.+)", text)
        if "Traceback (" in text:
            lines = re.findall(r"(?m)^[\w.]+(?:Error|Exception): .+", text)[-1:] or lines
        reason = (lines or text.split("\n"))[0] or type(error).__name__
        raise UserError(f"{where}: {reason}") from error


@dataclasses.dataclass(frozen=True)
class Shards:
    """The record files NAME-00000-of-00016 and so on, and beside them NAME.counts.json.

    The counts are written last: when they are there, everything is. It is no tuple, because Spark
    3.4 takes the methods of those.
    """

    base: str
    ending: str
    count: int
    fingerprint: Dict[str, Any]
    storage: Any

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
        report, sizes = self._read_report(), self._there()
        current = {"fingerprint": self.fingerprint, "bytes": list(map(sizes.get, self.paths))}
        return report if "counts" in report and report == {**report, **current} else {}

    def make_way(self, *, overwrite: bool) -> None:
        """Removes what an earlier run left that would not be replaced.

        Raises:
          ValueError: without `overwrite`, a file was not made here, was changed since, was made
            from other text, or is of another number of shards.
        """
        sizes = self._there()
        others = set(sizes) - set(self.paths)

        def check(path: str) -> None:
            sidecar = None if path in others else self._sidecar(path)
            job.check_ours(path, sidecar, sizes[path], fingerprint=self.fingerprint)

        if not overwrite:
            list(parallel.in_threads(check, sorted(sizes), "Looking at the output"))
            report = self._read_report()
            if report and "fingerprint" not in report:
                job.check_ours(self.counts, None, 0, fingerprint=self.fingerprint)
            change = provenance.difference(report.get("fingerprint", {}), self.fingerprint)
            if report:
                _LOGGER.info("Making the records, because %s.", change or "some have changed")
        for path in [*others, *map(record_files.sidecar_path, others), self.counts]:
            self.storage.remove(path)

    def remove(self) -> None:
        """Removes what a failed job wrote; shards of an earlier job stay."""
        for path in set(self._there()) & set(self.paths):
            sidecar = self._sidecar(path)
            if not sidecar or self.fingerprint.items() <= sidecar.fingerprint.items():
                self.storage.remove(path)
                self.storage.remove(record_files.sidecar_path(path))

    def write_shard(self, number: int, keyed: Iterable[bytes]) -> int:
        """Writes a shard; returns its bytes. `keyed`: its sorted records with keys."""
        path, sidecar_path = self.paths[number], record_files.sidecar_path
        identity = dict(self.fingerprint, shard=number, shards=self.count)
        with tempfile.TemporaryDirectory() as folder:
            with record_files.create(os.path.join(folder, "shard"), identity) as shard:
                for record in keyed:
                    shard.write(record[_KEY_BYTES:])
            # The old metadata must never describe the new file.
            self.storage.remove(sidecar_path(path))
            self.storage.copy(shard.path, path)
            self.storage.copy(sidecar_path(shard.path), sidecar_path(path))
        return shard.bytes

    def write_counts(self, values: Dict[int, Any]) -> None:
        """Writes the file that marks the output as complete.

        Args:
          values: the bytes of each shard, and at COUNTS the counts.

        Raises:
          ValueError: the counts show that the text is bad.
        """
        counts = Counts(*values.get(COUNTS, ()))
        check_counts(counts)
        report = {
            "counts": counts._asdict(),
            "shards": self.count,
            "bytes": [values[number] for number in range(self.count)],
            "fingerprint": self.fingerprint,
        }
        with tempfile.TemporaryDirectory() as folder:
            local = os.path.join(folder, "counts")
            files.atomic_write_json(local, report)
            self.storage.copy(local, self.counts)

    def _there(self) -> Dict[str, int]:
        """The shards of this name that are there, of whatever number, with their bytes."""
        digits = "[0-9]" * 5
        return self.storage.find(
            f"{glob.escape(self.base)}-{digits}-of-{digits}{glob.escape(self.ending)}"
        )

    def _read_report(self) -> Dict[str, Any]:
        """The content of the file of counts; {} if there is none."""
        content = self.storage.read(self.counts)
        return json_files.parse(content, f"'{self.counts}'", _REPORT) if content else {}

    def _sidecar(self, path: str) -> Optional[record_files.RecordFile]:
        """The metadata of a record file; None if there is none or it is unreadable."""
        content = self.storage.read(record_files.sidecar_path(path))
        return record_files.parse_sidecar(content, path) if content else None


def split_name(output_file: str) -> Tuple[str, str]:
    """Returns what is before and after the number in the names of the shards.

    For data/train the number comes last; data/train-*.tf_record says where it is.

    Raises:
      ValueError: a name that cannot be used.
    """
    match = re.fullmatch(r"([^,*?\[]*[^,*?\[/-])(?:-\*([^,*?\[/]*))?", output_file)
    if not match:
        raise UserError(
            f"--output_file={output_file} must be one name, such as data/train (-00000-of-00016 "
            "is added) or data/train-*.tf_record."
        )
    return absolute(match[1]), match[2] or ""


def absolute(path: str) -> str:
    """Returns a path that means the same in every process on this machine."""
    return path if "://" in path else os.path.abspath(path)


def blocks(
    text_range: documents.TextRange, stream: Any, text_field: str
) -> Iterator[documents.TextBlock]:
    """Yields the documents of a range of an open file, in blocks."""
    raw_documents = documents.read_range(text_range, stream, text_field=text_field)
    return map(documents.TextBlock, documents.grouped(raw_documents))


def rows(
    block: documents.TextBlock, maker: InstanceMaker, num_shards: int
) -> Iterator[Tuple[int, Any]]:
    """Yields (number of a shard, its records of a block, each with its key), and (COUNTS, counts).

    Counts are data, because an engine's own counters count again what is tried again.
    """
    records, counts = keyed_records(maker, block)
    batches = collections.defaultdict(list)
    for key, record in records:
        shard = key * num_shards >> (8 * _KEY_BYTES)
        batches[shard].append(key.to_bytes(_KEY_BYTES, "big") + record)
    yield from batches.items()
    yield COUNTS, tuple(counts)
