# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining data on one machine: from text files to shuffled, masked tf.train.Example records.

The text is read as a stream of blocks of a few documents. A worker process makes the instances of
all passes over a block (see `instances`) and writes them as a part: a file sorted by random 64-bit
keys. When all parts are there, they are read together in order of key, which is the shuffle, and
cut into the output files.

* Memory depends neither on the size of the text nor on dupe_factor: the shuffle reads one narrow
  range of keys at a time. On disk the parts need as much room as the output, until it is finished.
* The output is the same bytes whatever the number of processes, on every runtime.
* A part appears under its name when it is whole: a job that was stopped in any way resumes after
  the parts and output files that are finished.
* The shuffle is complete over `shuffle_window_mb` megabytes of text (all passes over it); windows
  follow one another in the order of the text. The output files get consecutive stretches of
  the shuffled sequence, as many instances each as if they were dealt in turn.

Legend: N records of a part.
"""

import collections
import contextlib
import fcntl
import hashlib
import itertools
import json
import logging
import os
import re
import stat
import struct
import tempfile
import time
import zlib
from typing import (
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

import numpy as np
import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.data import batches as input_pipeline
from albert.data import record_files
from albert.data import records as example_batches
from albert.pretrained import model_vocabulary
from albert.pretraining import documents, masking
from albert.pretraining.instances import (
    Counts,
    DataSettings,
    InstanceMaker,
    check_counts,
    check_settings,
)
from albert.util import files, many_files, parallel, progress, wording
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

_MEGABYTE = 1 << 20
_RANGE_BYTES = 1 << 24  # of the records that the shuffle has in memory
_SHOWN_LINES = 5
_MAKER = "create_pretraining_data"
_PART_NAME = re.compile(r"[0-9a-f]{16}-\d+\.part(\.tmp-[0-9a-f]+)?|[0-9a-f]{16}\.started")
_FOOTER = struct.Struct("<QI")  # of a part: length of its JSON, checksum of all before the footer


class Summary(NamedTuple):
    """What a job did."""

    counts: Counts
    was_current: bool  # all output files were there already


def create_pretraining_data(
    input_files: Sequence[str],
    output_files: Sequence[str],
    *,
    tokenizer: tokenization.FullTokenizer,
    tokenizer_file: str,
    settings: DataSettings,
    num_processes: Optional[int] = None,
    overwrite: bool = False,
    work_dir: Optional[str] = None,
) -> Summary:
    """Makes the records of `output_files` from the text of `input_files`, in their order.

    Each output file is written in one step when it is finished, with its metadata. If all are there
    already, made from the same text by the same settings, nothing is done.

    Args:
      tokenizer_file: the vocabulary or model that the tokenizer was loaded from.
      num_processes: worker processes; all processors by default. 1 works in this process.
      overwrite: replace output files that this function did not make.
      work_dir: local folder for unfinished work. By default a hidden folder beside the first
        output file, or one in the system's folder for temporary files if that is remote.

    Raises:
      ValueError: settings out of range, no text, bad UTF-8, an output file that must not be
        overwritten or cannot be written.
    """
    started = time.time()
    check_settings(settings)
    if num_processes is not None and num_processes < 1:
        raise UserError(f"--num_processes is {num_processes}; it must be at least 1.")
    _check_outputs(input_files, output_files)
    maker = InstanceMaker(tokenizer, settings)
    fingerprint = _fingerprint(input_files, maker.fingerprint(tokenizer_file))
    outputs = _Outputs(output_files, fingerprint, vocabulary_of(tokenizer, tokenizer_file))
    if not any(outputs.why_stale()):
        outputs.put_vocabulary()
        kept = sum(one.count for one in many_files.each(record_files.read_sidecar, output_files))
        _LOGGER.info("Nothing to do: the output was made from the same text by the same settings.")
        return Summary(Counts(instances=kept), was_current=True)
    with _work_folder(_work_path(work_dir, output_files[0]), outputs.key()) as work:
        outputs.make_way(overwrite=overwrite or os.path.exists(work.started))
        with open(work.started, "w", encoding="ascii") as stream:
            stream.write(f"The parts in this folder are unfinished work of {_MAKER}.\n")
        parts, counts, fresh = _make_parts(
            work,
            input_files,
            maker=maker,
            settings=settings,
            processes=num_processes or parallel.default_processes(),
        )
        _check_unchanged(input_files, fingerprint["text"])
        check_counts(counts)
        outputs.put_vocabulary()
        outputs.write(parts, counts.instances)
    _report(counts, fresh, time.time() - started)
    return Summary(counts, was_current=False)


def vocabulary_of(
    tokenizer: tokenization.FullTokenizer, tokenizer_file: str
) -> model_vocabulary.Vocabulary:
    """Returns what is kept beside the records, so that the model they train gets it."""
    key = "vocab_file" if tokenizer.sp_model is None else "spm_model_file"
    return model_vocabulary.Vocabulary(key, tokenizer_file, tokenizer.do_lower_case)


def read_blocks(
    paths: Sequence[str],
    settings: DataSettings,
    on_bad_line: documents.OnBadLine = documents.raise_bad_line,
) -> Iterator[documents.TextBlock]:
    """Yields the blocks of text files; see documents.read_blocks."""
    return documents.read_blocks(
        paths,
        window_bytes=settings.shuffle_window_mb * _MEGABYTE,
        with_neighbours=settings.random_next_sentence,
        text_field=settings.text_field,
        on_bad_line=on_bad_line,
    )


def _check_unchanged(input_files: Sequence[str], text: Sequence[Mapping[str, Any]]) -> None:
    sizes = many_files.each(_size, input_files)
    for path, size, before in zip(input_files, sizes, text):
        if size != before["size"]:
            raise UserError(f"--input_file: '{path}' was changed while it was read. Start again.")


def _fingerprint(input_files: Sequence[str], made_from: Mapping[str, Any]) -> Dict[str, Any]:
    """What the records are made from, for their metadata."""
    text = list(many_files.each(files.file_fingerprint, input_files, "Looking at the text"))
    return files.normalized_fingerprint(dict(made_from, maker=_MAKER, text=text))


def _check_outputs(input_files: Sequence[str], output_files: Sequence[str]) -> None:
    """Refuses names that cannot be written, and creates the folders, before any work is done."""
    if not output_files:
        raise UserError("--output_file names no file. Give one path, or several with commas.")
    twice = [path for path, count in collections.Counter(output_files).items() if count > 1]
    if twice:
        raise UserError(f"--output_file names '{twice[0]}' more than once.")
    both = {os.path.abspath(path) for path in input_files}
    folders = many_files.each(documents.is_folder, output_files)
    for path, is_folder in zip(output_files, folders):
        if os.path.abspath(path) in both:
            raise UserError(f"--output_file: '{path}' is also an input file; choose another name.")
        if is_folder:
            raise UserError(f"--output_file: '{path}' is a folder; name a file in it.")
    for folder in sorted(set(map(os.path.dirname, output_files))):
        probe = os.path.join(folder, f".write-test-{files.random_suffix()}")
        try:
            if folder:
                tf.io.gfile.makedirs(folder)
            with tf.io.gfile.GFile(probe, "w") as stream:
                stream.write("?")
            tf.io.gfile.remove(probe)
        except tf.errors.OpError as error:
            raise UserError(
                f"--output_file: cannot write in the folder '{folder or '.'}' ({error.message})."
            ) from error


def _size(path: str) -> int:
    return tf.io.gfile.stat(path).length


def _report(counts: Counts, fresh: int, seconds: float) -> None:
    """Logs what was read and made; `fresh`: instances that were made in these `seconds`."""
    _LOGGER.info(
        f"{wording.counted(counts.documents, 'document')}, "
        f"{wording.counted(counts.sentences, 'sentence')} -> "
        f"{wording.counted(counts.instances, 'instance')} with "
        f"{wording.counted(counts.predictions, 'prediction')} in "
        f"{progress.format_seconds(seconds)} ({fresh / seconds:,.0f} instances/s)."
    )
    oddities = {
        "empty document": counts.empty_documents,
        "JSON line without a document, now left out": counts.bad_documents,
        "line that was not UTF-8, now without the bad bytes": counts.bad_lines,
        "single token at a document's end without a pair, over all passes": counts.left_out,
    }
    for what, count in oddities.items():
        if count:
            _LOGGER.warning("%d times: %s.", count, what)


# ------------------------------------------------------------------------------------------- parts


class Part(NamedTuple):
    """What is known about a part without reading its records.

    The file: the records, their keys (8 bytes each), where they end (8 bytes each), this in JSON,
    and _FOOTER.
    """

    path: str
    count: int  # type: ignore[assignment]  # a tuple's method
    bytes: int  # of the records
    note: Dict[str, Any]  # the maker's own, JSON


def write_part(
    path: str,
    keys: np.ndarray,
    batches: Iterable[example_batches.EncodedExamples],
    *,
    note: Dict[str, Any],
) -> Part:
    """Writes a part to `path`, where it appears only when it is whole, and returns it.

    `keys` are uint64 [N], ascending, and the N records in their order. One batch of them is in
    memory at a time, and `note` is read after the last.
    """
    ends = [np.zeros([0], np.int64)]
    checksum = size = 0
    temporary = f"{path}.tmp-{files.random_suffix()}"
    try:
        with files.naming_path(path), open(temporary, "xb") as stream:
            for batch in batches:
                stream.write(batch.data)
                checksum = zlib.crc32(batch.data, checksum)
                ends.append(batch.ends + size)
                size += len(batch.data)
            part = Part(path, len(keys), size, note)
            text = json.dumps(dict(part._asdict(), path=None), sort_keys=True).encode("utf-8")
            index = keys.astype("<u8").tobytes() + np.concatenate(ends).astype("<u8").tobytes()
            stream.write(index + text + _FOOTER.pack(len(text), zlib.crc32(index + text, checksum)))
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
    return part


def read_part(path: str) -> Optional[Part]:
    """Returns the part at `path`; None if there is none or it is not whole."""
    if not os.path.isfile(path) or os.path.getsize(path) < _FOOTER.size:
        return None
    with open(path, "rb") as stream:
        content = memoryview(stream.read())
    text_bytes, checksum = _FOOTER.unpack(content[-_FOOTER.size :])
    content = content[: -_FOOTER.size]
    if zlib.crc32(content) != checksum:
        return None
    text = bytes(content[len(content) - text_bytes :]).decode("utf-8")
    return Part(**dict(json.loads(text), path=path))


def _read_rows(part: Part, first: int, last: int) -> Tuple[np.ndarray, List[bytes]]:
    """Keys and records first .. last - 1 of a part."""
    with open(part.path, "rb", buffering=0) as stream:
        stream.seek(part.bytes + 8 * first)
        keys = np.frombuffer(stream.read(8 * (last - first)), "<u8")
        before = 1 if first else 0
        stream.seek(part.bytes + 8 * (part.count + first - before))
        borders = np.frombuffer(stream.read(8 * (last - first + before)), "<u8").tolist()
        borders = borders if before else [0] + borders
        start = borders[0]
        stream.seek(start)
        data = stream.read(borders[-1] - start)
    return keys, [data[a - start : b - start] for a, b in zip(borders, borders[1:])]


def shuffled(
    parts: Sequence[Part], start: int = 0, *, range_bytes: int = _RANGE_BYTES
) -> Iterator[bytes]:
    """Yields the records of parts, each window in order of key, without the first `start`.

    About `range_bytes` of records are in memory at a time; ranges before `start` are not read.
    """
    for _, group in itertools.groupby(parts, key=lambda part: part.note["window"]):
        window = list(group)
        ranges = max(1, -(-sum(part.bytes for part in window) // range_bytes))
        # Keys are random, so ranges of equal width are of equal size.
        edges = np.array([(number << 64) // ranges for number in range(ranges)], np.uint64)
        borders = np.empty([len(window), ranges + 1], np.int32)  # where each range starts
        for row, part in enumerate(window):
            with open(part.path, "rb") as stream:
                stream.seek(part.bytes)
                keys = np.fromfile(stream, "<u8", part.count)
            borders[row] = np.append(np.searchsorted(keys, edges), part.count)
        counts = np.diff(borders, axis=1).sum(axis=0).tolist()
        for number, count in enumerate(counts):
            if start < count:
                stretches = borders[:, number : number + 2].tolist()
                yield from itertools.islice(_read_range(window, stretches), start, None)
            start = max(0, start - count)


def _read_range(parts: Sequence[Part], stretches: Sequence[Sequence[int]]) -> List[bytes]:
    """The records first .. last - 1 of each part, merged."""
    keys: List[np.ndarray] = []
    records: List[bytes] = []
    for part, (first, last) in zip(parts, stretches):
        if first < last:
            part_keys, part_records = _read_rows(part, first, last)
            keys.append(part_keys)
            records += part_records
    # Stable: records with the same key stay in order of part.
    order = np.argsort(np.concatenate(keys), kind="stable")
    return [records[row] for row in order.tolist()]


# ------------------------------------------------------------------------------------------ making


class _Work(NamedTuple):
    """The folder of the parts.

    The names of the parts hold a hash of what they are made from: those of other jobs are never
    taken for this one's, not even if a worker of a job that was killed finishes its last part now.
    """

    path: str
    key: str

    @property
    def started(self) -> str:
        """A file that is there if output files without metadata are this job's own."""
        return os.path.join(self.path, f"{self.key}.started")

    def part_path(self, number: int) -> str:
        """Returns where the part of a block lies."""
        return os.path.join(self.path, f"{self.key}-{number:06d}.part")

    def remove_files(self, *, but: str = "-") -> None:
        """Removes parts of all jobs but one, and what killed workers were writing."""
        for name in os.listdir(self.path):
            if _PART_NAME.fullmatch(name) and (not name.startswith(but) or ".tmp" in name):
                os.remove(os.path.join(self.path, name))

    def remove(self) -> None:
        """Removes the folder; files of others in it stay."""
        with contextlib.suppress(FileNotFoundError):  # removed by hand
            self.remove_files()
            os.remove(os.path.join(self.path, "lock"))
            if not os.listdir(self.path):
                os.rmdir(self.path)


def _work_path(base: Optional[str], output: str) -> str:
    """Where the folder for unfinished work of the first output file lies."""
    name = f".{os.path.basename(output)}.work"
    if base is not None and "://" in base:
        raise UserError(f"--work_dir is '{base}'; it must be a local folder.")
    if base is None and "://" not in output:
        return os.path.join(os.path.dirname(output), name)
    # Outputs of other jobs may have the same name, so the full path is part of the name.
    own = hashlib.sha256(os.path.abspath(output).encode()).hexdigest()[:12]
    return os.path.join(base or tempfile.gettempdir(), f"{name}-{own}")


@contextlib.contextmanager
def _work_folder(path: str, key: str) -> Iterator[_Work]:
    """Locks the folder; removes it at the end, unless a job that has started was interrupted."""
    with files.naming_path(path):
        os.makedirs(path, exist_ok=True)
    found, parent = os.lstat(path), os.stat(os.path.dirname(path) or ".")
    is_shared = bool(parent.st_mode & stat.S_IWOTH) and found.st_uid != os.geteuid()
    if stat.S_ISLNK(found.st_mode) or is_shared:  # the name is predictable
        raise UserError(
            f"The folder for unfinished work, '{path}', is a link or another user's. Remove it, or "
            "choose another --work_dir."
        )
    work = _Work(path, key)
    with _locked(os.path.join(path, "lock")):
        work.remove_files(but=key)
        try:
            yield work
        except BaseException as error:
            # After a ValueError, a corrected text or command makes other parts.
            if isinstance(error, ValueError) or not os.path.exists(work.started):
                work.remove()
            raise
        work.remove()


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    with open(path, "a") as stream:
        try:
            # This kind of lock is not inherited by workers and ends with this process.
            fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(
                f"Another process is making the same output now ('{path}' is locked). Wait for it, "
                "or choose another --output_file."
            ) from None
        yield


def make_part(maker: InstanceMaker, block: documents.TextBlock, path: str) -> Part:
    """Writes the records of `block` as a part and returns it."""
    features, keys, counts = maker.instances(block)
    note: Dict[str, Any] = {"number": block.number, "window": block.window, "bytes": block.bytes}

    def encoded() -> Iterator[example_batches.EncodedExamples]:
        predictions = 0
        for batch in features:
            predictions += masking.count_predictions(batch)
            yield example_batches.encode_examples(batch)
        note["counts"] = counts._replace(predictions=predictions)

    return write_part(path, keys, encoded(), note=note)


class _Made(NamedTuple):
    """The parts of a job in the order of the text, and how many instances are new."""

    parts: List[Part]
    counts: Counts
    fresh: int


def _make_parts(
    work: _Work,
    input_files: Sequence[str],
    *,
    maker: InstanceMaker,
    settings: DataSettings,
    processes: int,
) -> _Made:
    """Makes the parts that are not there yet."""
    parts: Dict[int, Part] = {}
    started, fresh, reused, dropped = time.time(), 0, 0, 0

    def drop(bad: documents.BadLine) -> None:
        nonlocal dropped
        dropped += 1
        if dropped <= _SHOWN_LINES:
            _LOGGER.warning("Dropped: '%s', line %d %s.", bad.path, bad.line, bad.reason)

    def missing() -> Iterator[documents.TextBlock]:
        nonlocal reused
        on_bad_line = drop if settings.input_file_mode == "rb" else documents.raise_bad_line
        for block in read_blocks(input_files, settings, on_bad_line):
            # A part may have been cut off by a crash of the whole machine.
            part = read_part(work.part_path(block.number))
            if part is None:
                yield block
            else:
                parts[block.number] = part
                reused += part.count
                bar.skip(block.bytes / 1e6)

    def make(block: documents.TextBlock) -> Part:
        return make_part(maker, block, work.part_path(block.number))

    megabytes = None
    if not any(map(documents.is_compressed, input_files)):
        megabytes = sum(many_files.each(_size, input_files)) / 1e6
    with progress.Progress("Making instances", megabytes, unit="MB") as bar:
        for part in parallel.ordered_map(make, missing(), processes):
            parts[part.note["number"]] = part
            fresh += part.count
            rate = fresh / (time.time() - started)
            bar.update(part.note["bytes"] / 1e6, f"{rate:,.0f} instances/s")
    if reused:
        _LOGGER.info("%d instances were finished when this job was stopped.", reused)
    counts = Counts(bad_documents=dropped)
    for part in parts.values():
        counts = counts.plus(part.note["counts"])
    return _Made([parts[number] for number in sorted(parts)], counts, fresh)


# ----------------------------------------------------------------------------------------- outputs


class _Outputs:
    """The output files: whether they are current, may be replaced, and their writing."""

    def __init__(
        self,
        paths: Sequence[str],
        fingerprint: Dict[str, Any],
        vocabulary: model_vocabulary.Vocabulary,
    ):
        self._paths = list(paths)
        self._fingerprint = fingerprint
        self._vocabulary = vocabulary

    def key(self) -> str:
        """Returns a hash of origin and paths: unfinished work replaces its own output only."""
        text = json.dumps([self._fingerprint, self._paths], sort_keys=True)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]

    def _fingerprint_of(self, number: int) -> Dict[str, Any]:
        """That of one file: it also tells which share of the records it holds."""
        return dict(self._fingerprint, file=number, files=len(self._paths))

    def _why_one_is(self, number: int) -> str:
        return record_files.why_stale(self._paths[number], self._fingerprint_of(number))

    def why_stale(self) -> Iterator[str]:
        """Yields why each file is stale, or ""."""
        return many_files.each(self._why_one_is, range(len(self._paths)), "Looking at the output")

    def put_vocabulary(self) -> None:
        """Copies the vocabulary into each folder of output, where training finds it."""
        for folder in sorted(set(map(os.path.dirname, self._paths))):
            model_vocabulary.put_beside_records(folder, self._vocabulary)

    def make_way(self, *, overwrite: bool) -> None:
        """Logs what will be replaced.

        Raises:
          ValueError: a file is there that was not made here, or was changed since.
        """
        for path, reason in zip(self._paths, self.why_stale()):
            if reason == record_files.NOT_THERE:
                continue
            if not overwrite:
                sidecar, size = record_files.read_sidecar(path), _size(path)
                check_ours(path, sidecar, size, fingerprint=self._fingerprint)
            if reason:
                _LOGGER.info("%s will be made again: %s.", path, reason)

    def write(self, parts: Sequence[Part], instances: int) -> None:
        """Writes those files that are not current."""
        count = len(self._paths)
        if instances < count:
            _LOGGER.warning(
                "There are %d instances for %d output files: some will be empty.", instances, count
            )
        shares = [(instances - n - 1) // count + 1 for n in range(count)]  # round-robin
        stale = [bool(reason) for reason in self.why_stale()]
        if True not in stale:  # another job has made them meanwhile
            return
        first = stale.index(True)
        records = shuffled(parts, sum(shares[:first]))
        with progress.Progress("Writing", instances, unit="instances") as bar:
            bar.skip(sum(shares[:first]))
            for number in range(first, count):
                share = bar.counting(itertools.islice(records, shares[number]))
                if stale[number]:
                    self._write_file(number, share)
                else:
                    collections.deque(share, maxlen=0)

    def _write_file(self, number: int, records: Iterable[bytes]) -> None:
        made_from = self._fingerprint_of(number)
        with input_pipeline.AtomicRecordWriter(self._paths[number], made_from) as writer:
            for record in records:
                writer.write(record)


def check_ours(
    path: str, sidecar: Optional[record_files.Sidecar], size: int, *, fingerprint: Mapping[str, Any]
) -> None:
    """Refuses to replace a record file that is not of this program, or of other text.

    Other settings make a file anew; other text is rather a name that was mistyped.

    Args:
      path: a file of `size` bytes with the metadata `sidecar`.
      fingerprint: of what is to replace it: "maker", and "text": a list of objects with a "name".

    Raises:
      ValueError: it must stay.
    """
    made_from = sidecar.fingerprint if sidecar else {}
    if made_from.get("maker") != fingerprint["maker"] or sidecar.bytes != size:
        raise UserError(
            f"--output_file: '{path}' exists, and this program did not make it as it is. Choose "
            "another name, or replace it by --overwrite."
        )
    # An older version recorded the text in another way.
    old, new = (
        sorted(one["name"] for one in made["text"]) if isinstance(made["text"], list) else []
        for made in (made_from, fingerprint)
    )
    if old != new:
        raise UserError(
            f"--output_file: '{path}' was made from {', '.join(old[:3])} "
            f"({wording.counted(len(old), 'file')}), and --input_file is {', '.join(new[:3])} "
            f"({wording.counted(len(new), 'file')}). Choose another name, or replace it by "
            "--overwrite."
        )
