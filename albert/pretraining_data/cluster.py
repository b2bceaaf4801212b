# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes pretraining data on a cluster: the code that all engines (Apache Beam, Spark) share.

    text files -> blocks of documents -> keyed records -> shards in order of key -> files

The records are the same as on one machine. Each record has a random 64-bit key. The key space is
cut into N equal parts. Shard n holds the records of part n, sorted by key, then by content. So all
shards together are one complete shuffle of the corpus. Each run gives the same bytes, with any
engine, any number of workers and any ranges of text.
"""

import collections
import contextlib
import dataclasses
import glob
import os
import re
import tempfile
import time
import traceback
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

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
from albert.util import UserError, files, json_files, log, parallel, provenance
from albert.util import flags as flags_lib

COUNTS = -1  # marks counts, in place of the number of a shard

_KEY_BYTES = 8
_SHARD_TEXT = 1 << 26  # default bytes of text per shard; its records have about twice this size
_MOST = 99999  # maximum number of shards
_UNPACKED = 4  # size of text divided by the size of its gzip file
_FORMAT = 2  # raise it if the shards change although the flags are the same

_REPORT = {  # the schema of NAME.counts.json
    "fingerprint": (dict, None),
    "counts": ({str: json_files.COUNT}, None),
}
_OURS = re.compile(r'File ".*\balbert/(?:pretraining_data|data|util)/')  # in a traceback


FileState = Tuple[str, int, Any]  # path, bytes, [modification time, provenance.sample]


class Storage:
    """File operations. An engine may replace them."""

    @staticmethod
    def find(pattern: str) -> Dict[str, int]:
        """Returns the paths that match a pattern, with the sizes in bytes."""
        paths: List[str] = []
        # TensorFlow 1.15 raises an error if there is no such folder.
        with contextlib.suppress(UserError), files.naming_path(pattern):
            paths = files.glob(pattern)
        states = parallel.in_threads(files.state_of, paths, "Looking at the output")
        return {path: size for path, (size, _) in zip(paths, states)}

    @staticmethod
    def read(path: str) -> Optional[bytes]:
        """Returns the content of a file; None if it does not exist."""
        return files.read_bytes(path) if files.exists(path) else None

    @staticmethod
    def remove(path: str) -> None:
        """Removes a file if it exists."""
        if files.exists(path):
            files.remove(path)

    @staticmethod
    def copy(source: str, path: str) -> None:
        """Copies a local file to `path` atomically. Several workers may do so at a time."""
        with files.atomic_path(path) as temporary:
            files.copy(source, temporary)


class Engine:
    """Runs a job on a cluster. The base class of the engines."""

    name = ""
    storage: Any = Storage

    def find_text(self, excluded: Sequence[str]) -> List[FileState]:
        """Returns the text files, except the paths in `excluded`."""
        raise NotImplementedError

    def run(self, text: List[FileState], maker: InstanceMaker, outputs: "Shards") -> None:
        """Writes the shards and their counts."""
        raise NotImplementedError


def create_pretraining_data(flags: ClusterFlags, engine: Engine) -> str:
    """Makes the records of a job, unless they exist already.

    Returns:
      The path of NAME.counts.json.

    Raises:
      UserError: flags are wrong or need one machine, there is no text, or the vocabulary does not
        fit; or the errors of `split_name`, `Shards.make_way` and the engine.
    """
    started = time.time()
    if flags.random_next_sentence:
        raise UserError(
            "--random_next_sentence does not work on a cluster. Use create_pretraining_data on one "
            "machine."
        )
    maker, vocabulary = prepare(flags)
    base, ending = split_name(flags.output_file)
    excluded = [vocabulary.path, flags.user_dictionary, f"{base}.counts.json"]
    with explained(f"--input_file: {engine.name}"):
        text = engine.find_text(list(filter(None, excluded)))
    size = sum(_UNPACKED * n if documents.is_compressed(path) else n for path, n, _ in text)
    if not size:
        raise UserError("--input_file: every file is empty.")
    count = flags.num_shards or min(_MOST, 1 + size * flags.dupe_factor // _SHARD_TEXT)
    fingerprint = _fingerprint(text, maker.fingerprint(vocabulary.path))
    outputs = Shards(base, ending, count, fingerprint, engine.storage)
    report = outputs.report()
    if report:
        log.info("Nothing to do: the output was made from the same text and flags.")
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
    log.info("Record files: %d. Counts: %s", outputs.count, outputs.counts)
    flags_lib.write_config(flags_lib.config_beside(outputs.counts), flags.explicit_values())
    return outputs.counts


def _fingerprint(text: Sequence[FileState], identity: Dict[str, Any]) -> Dict[str, Any]:
    """Returns all that the records depend on, for the metadata of each shard.

    The text is too large to be hashed, and the list of files too long for each shard's metadata. So
    the fingerprint has a hash of the names, sizes and states of the files.
    """
    named = sorted((os.path.basename(path), size, state) for path, size, state in text)
    names = provenance.digest([name for name, _, _ in named])[:12]
    summary = {"name": f"{len(named)} files ({names})", "states": provenance.digest(named)[:12]}
    identity["format"] = [_FORMAT, identity["format"]]
    return dict(identity, maker="create_pretraining_data on a cluster", text=[summary])


@contextlib.contextmanager
def explained(prefix: str) -> Iterator[None]:
    """Turns an error of the user's text or cluster into a UserError of one sentence.

    If it is a UserError, also of a worker, the sentence is its message. Otherwise the sentence is
    `prefix` and the line of a Python, Java or gRPC error that gives the reason. Errors in the code
    of this package are raised unchanged.
    """
    try:
        yield
    except Exception as error:
        text = str(error).strip()  # with the traceback of the worker's error, if there is one
        trace = "".join(traceback.format_tb(error.__traceback__)[-1:])
        trace += f"{type(error).__name__}: {text}"
        messages = re.findall(r"(?m)UserError: (.*?)(?: \[while running .*)?$", trace)
        if messages:
            raise UserError(messages[-1]) from error
        if _OURS.search(trace):
            raise
        lines = re.findall(r"(?m)^(?:: |\tdetails = )(.+)", text)
        if "Traceback (" in text:
            lines = re.findall(r"(?m)^[\w.]+(?:Error|Exception): .+", text)[-1:] or lines
        reason = (lines or text.split("\n"))[0] or type(error).__name__
        raise UserError(f"{prefix}: {reason}") from error


@dataclasses.dataclass(frozen=True)
class Shards:
    """The record files NAME-00000-of-00016 and so on, and NAME.counts.json.

    The counts are written last, so they exist only if all files do. The class is no NamedTuple,
    because Spark 3.4 loses the methods of NamedTuples.
    """

    base: str
    ending: str
    count: int
    fingerprint: Dict[str, Any]
    storage: Any

    @property
    def counts(self) -> str:
        """The path of NAME.counts.json."""
        return f"{self.base}.counts.json"

    @property
    def paths(self) -> List[str]:
        """The paths of the record files."""
        name = f"{self.base}-{{:05d}}-of-{self.count:05d}{self.ending}"
        return [name.format(number) for number in range(self.count)]

    def report(self) -> Dict[str, Any]:
        """Returns the content of NAME.counts.json; {} unless all files exist and are current."""
        report, sizes = self._read_report(), self._sizes()
        current = {"fingerprint": self.fingerprint, "bytes": list(map(sizes.get, self.paths))}
        return report if "counts" in report and report == {**report, **current} else {}

    def make_way(self, *, overwrite: bool) -> None:
        """Removes the counts of an earlier run, and its shards if their number differs.

        Raises:
          UserError: overwrite is False, and a file has changed since it was made, or is from
            another program, from other text or of another number of shards.
        """
        sizes = self._sizes()
        other_paths = set(sizes) - set(self.paths)

        def check(path: str) -> None:
            sidecar = None if path in other_paths else self._sidecar(path)
            job.check_replaceable(path, sidecar, sizes[path], fingerprint=self.fingerprint)

        if not overwrite:
            list(parallel.in_threads(check, sorted(sizes), "Looking at the output"))
            report = self._read_report()
            if report and "fingerprint" not in report:
                job.check_replaceable(self.counts, None, 0, fingerprint=self.fingerprint)
            if report:
                change = provenance.difference(report["fingerprint"], self.fingerprint)
                log.info("Making the records, because %s.", change or "record files have changed")
        for path in [*other_paths, *map(record_files.sidecar_path, other_paths), self.counts]:
            self.storage.remove(path)

    def remove(self) -> None:
        """Removes the shards that a failed job wrote. Shards of an earlier job stay."""
        for path in set(self._sizes()) & set(self.paths):
            sidecar = self._sidecar(path)
            if not sidecar or self.fingerprint.items() <= sidecar.fingerprint.items():
                self.storage.remove(path)
                self.storage.remove(record_files.sidecar_path(path))

    def write_shard(self, number: int, keyed: Iterable[bytes]) -> int:
        """Writes a shard from its sorted records with keys. Returns the size in bytes."""
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
        """Writes NAME.counts.json, which marks the output as complete.

        Args:
          values: the size of each shard in bytes by its number, and the counts by COUNTS.

        Raises:
          UserError: see check_counts.
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

    def _sizes(self) -> Dict[str, int]:
        """The sizes of the existing shards with this name, of any number of shards."""
        digits = "[0-9]" * 5
        return self.storage.find(
            f"{glob.escape(self.base)}-{digits}-of-{digits}{glob.escape(self.ending)}"
        )

    def _read_report(self) -> Dict[str, Any]:
        """The content of NAME.counts.json; {} if it does not exist."""
        content = self.storage.read(self.counts)
        return json_files.parse(content, f"'{self.counts}'", _REPORT) if content else {}

    def _sidecar(self, path: str) -> Optional[record_files.RecordFile]:
        """The metadata of a record file; None if it is missing or unreadable."""
        content = self.storage.read(record_files.sidecar_path(path))
        return record_files.parse_sidecar(content, path) if content else None


def split_name(output_file: str) -> Tuple[str, str]:
    """Returns the parts of the shards' names before and after the number.

    The number takes the place of * in data/train-*.tf_record. Without *, it comes last.

    Raises:
      UserError: the name is empty, or has characters with another meaning.
    """
    match = re.fullmatch(r"([^,*?\[]*[^,*?\[/-])(?:-\*([^,*?\[/]*))?", output_file)
    if not match:
        raise UserError(
            f"--output_file={output_file} must be one name, such as data/train (-00000-of-00016 "
            "is added) or data/train-*.tf_record."
        )
    return absolute(match[1]), match[2] or ""


def absolute(path: str) -> str:
    """Returns a path that does not depend on the current folder."""
    return path if "://" in path else os.path.abspath(path)


def blocks(
    text_range: documents.TextRange, stream: Any, text_field: str
) -> Iterator[documents.TextBlock]:
    """Yields the documents of a range of an open file, in blocks."""
    raw_documents = documents.read_range(text_range, stream, text_field=text_field)
    return map(documents.TextBlock, documents.grouped(raw_documents))


def shard_records(
    block: documents.TextBlock, maker: InstanceMaker, num_shards: int
) -> Iterator[Tuple[int, Any]]:
    """Yields (number of a shard, the block's records with keys for it), and (COUNTS, counts).

    The counts travel as data, because an engine's own counters count a block twice if a worker
    fails and the engine tries again.
    """
    records, counts = keyed_records(maker, block)
    batches = collections.defaultdict(list)
    for key, record in records:
        shard = key * num_shards >> (8 * _KEY_BYTES)
        batches[shard].append(key.to_bytes(_KEY_BYTES, "big") + record)
    yield from batches.items()
    yield COUNTS, tuple(counts)
