# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining data on one machine: from text files to shuffled, masked tf.train.Example records.

    text files -> blocks of documents -> keyed records, a part for each block -> output files

The text is read as a stream of blocks of a few documents. A worker process makes the records of all
passes over a block, `keyed_records`, and writes them as a part: a file sorted by random 64-bit
keys. When all parts are there, one range of keys after another is read from all of them, sorted in
memory and appended to the output files; that is the shuffle.

* Memory depends neither on the size of the text nor on the size of a window. On disk the parts need
  as much room as the output, until it is finished.
* The output is the same bytes whatever the number of processes, on every runtime.
* A part appears under its name when it is whole: a job that was stopped in any way resumes after
  the parts and output files that are finished.
* The shuffle is complete over `shuffle_window_mb` megabytes of text (all passes over it); windows
  follow one another in the order of the text. The output files get consecutive stretches of
  the shuffled sequence, as many instances each as if they were dealt in turn.
"""

import collections
import contextlib
import hashlib
import itertools
import json
import logging
import operator
import os
import shutil
import struct
import tempfile
import time
from typing import (
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
)

from albert import tokenization
from albert.data import batches, record_files
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
from albert.util import files, folder_lock, many_files, parallel, progress, wording
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

_MAKER = "create_pretraining_data"
_SHOWN_LINES = 5
_RANGE_BYTES = 1 << 24  # of the records that the shuffle has in memory
# A part: its size and the counts, then each record behind its key and length.
_HEADER = struct.Struct(f"<{1 + len(Counts._fields)}Q")
_FRAME = struct.Struct("<QI")

KeyedRecord = Tuple[int, bytes]  # a place in the shuffle, below 2^64, and a tf.train.Example


def keyed_records(
    maker: InstanceMaker, block: documents.TextBlock
) -> Tuple[List[KeyedRecord], Counts]:
    """Returns the records of all passes over a block, sorted by key, and what was read and made.

    This is all the work that engines share: this job, and `beam`.
    """
    features, keys, counts = maker.instances(block)
    records: List[bytes] = []
    predictions = 0
    for batch in features:
        predictions += masking.count_predictions(batch)
        data, ends = example_batches.encode_examples(batch)
        borders = [0, *ends.tolist()]
        records += (data[start:end] for start, end in zip(borders, borders[1:]))
    return list(zip(keys.tolist(), records)), counts._replace(predictions=predictions)


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
) -> Optional[Counts]:
    """Makes the records of `output_files` from the text of `input_files`, in their order.

    Each output file is written in one step when it is finished, with its metadata. If all are there
    already, made from the same text by the same settings, nothing is done.

    Args:
      tokenizer_file: the vocabulary or model that the tokenizer was loaded from.
      num_processes: worker processes; all processors by default. 1 works in this process.
      overwrite: replace output files that this function did not make.
      work_dir: local folder for unfinished work; by default that of the first output file.

    Returns:
      What was read and made; None if there was nothing to do.

    Raises:
      ValueError: wrong settings, no text, bad UTF-8, an output file that must not be replaced.
    """
    started = time.time()
    check_settings(settings)
    _check_names(input_files, output_files)
    maker = InstanceMaker(tokenizer, settings)
    text = list(many_files.each(files.file_fingerprint, input_files, "Looking at the text"))
    made_from = dict(maker.fingerprint(tokenizer_file), maker=_MAKER, text=text)
    count = len(output_files)
    outputs = [(path, dict(made_from, file=n, files=count)) for n, path in enumerate(output_files)]
    # This also shows whether the folders can be written.
    for folder in sorted(set(map(os.path.dirname, output_files))):
        model_vocabulary.put_beside_records(folder, vocabulary_of(tokenizer, tokenizer_file))
    identity = _short_hash(json.dumps([made_from, *output_files], sort_keys=True))
    with _parts_folder(work_dir, output_files[0], identity) as parts:
        reasons = list(many_files.each(_why_stale, outputs, "Looking at the output"))
        if not any(reasons):
            _LOGGER.info("Nothing to do: the output was made from the same text and settings.")
            return None
        if os.path.exists(parts):
            _LOGGER.info("Resuming the job that was stopped.")
        elif not overwrite:
            _check_replaceable(outputs, reasons)
        windows, counts = _make_parts(
            parts,
            input_files,
            maker=maker,
            settings=settings,
            processes=num_processes or parallel.default_processes(),
        )
        check_counts(counts)
        _write(list(zip(outputs, reasons)), shuffled(windows), counts.instances)
    _report(counts, time.time() - started)
    return counts


def _report(counts: Counts, seconds: float) -> None:
    made = {name.replace("_", " "): count for name, count in counts._asdict().items() if count}
    listed = ", ".join(f"{name}: {count:,}" for name, count in made.items())
    _LOGGER.info("%s; %s.", listed, progress.format_seconds(seconds))


def vocabulary_of(
    tokenizer: tokenization.FullTokenizer, tokenizer_file: str
) -> model_vocabulary.Vocabulary:
    """Returns what is kept beside the records, so that the model they train gets it."""
    key = "vocab_file" if tokenizer.sp_model is None else "spm_model_file"
    return model_vocabulary.Vocabulary(key, tokenizer_file, tokenizer.do_lower_case)


def _check_names(input_files: Sequence[str], output_files: Sequence[str]) -> None:
    inputs, outputs = (list(map(os.path.abspath, paths)) for paths in (input_files, output_files))
    if not outputs or len(set(outputs)) < len(outputs) or set(outputs) & set(inputs):
        raise UserError(
            f"--output_file={','.join(output_files)} must name files, each once, and no input file."
        )


# ------------------------------------------------------------------------------------------- parts


@contextlib.contextmanager
def _parts_folder(work_dir: Optional[str], output: str, job: str) -> Iterator[str]:
    """Yields the path of the folder for a job's parts, locked; they stay if the job fails.

    Parts of other jobs for the same output are removed.
    """
    name = f".{os.path.basename(output)}.work"
    if work_dir is None and "://" not in output:
        work = os.path.join(os.path.dirname(output), name)
    else:  # outputs in other folders may have the same name
        name += f"-{_short_hash(os.path.abspath(output))}"
        work = os.path.join(work_dir or tempfile.gettempdir(), name)
    parts = os.path.join(work, job)
    try:
        with folder_lock.held(work):
            folders = [entry.path for entry in os.scandir(work) if entry.is_dir()]
            for folder in set(folders) - {parts}:
                shutil.rmtree(folder)
            yield parts
            shutil.rmtree(parts, ignore_errors=True)
    finally:
        with contextlib.suppress(OSError):  # it is not empty
            os.rmdir(work)


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]


def _make_parts(
    folder: str,
    input_files: Sequence[str],
    *,
    maker: InstanceMaker,
    settings: DataSettings,
    processes: int,
) -> Tuple[List[List[str]], Counts]:
    """Makes the parts that are not there yet.

    Returns the paths of each window's parts, in the order of the text, and the sum of the counts.
    """
    windows: Dict[int, List[str]] = {}
    started, fresh, dropped = time.time(), 0, 0

    def drop(bad: documents.BadLine) -> None:
        nonlocal dropped
        dropped += 1
        if dropped <= _SHOWN_LINES:
            _LOGGER.warning("Dropped: '%s', line %d %s.", bad.path, bad.line, bad.reason)

    def missing() -> Iterator[Tuple[documents.TextBlock, str]]:
        on_bad_line = drop if settings.input_file_mode == "rb" else documents.raise_bad_line
        for block in documents.read_blocks(input_files, settings, on_bad_line):
            path = os.path.join(folder, f"{block.number:06d}.part")
            windows.setdefault(block.window, []).append(path)
            if read_counts(path) is None:
                yield block, path
            else:
                bar.skip(block.bytes / 1e6)

    def make(task: Tuple[documents.TextBlock, str]) -> Tuple[int, int]:
        block, path = task
        return block.bytes, make_part(maker, block, path).instances

    megabytes = None
    if not any(map(documents.is_compressed, input_files)):
        megabytes = sum(size for size, _ in many_files.each(files.state_of, input_files)) / 1e6
    with progress.Progress("Making instances", megabytes, unit="MB") as bar:
        for size, instances in parallel.ordered_map(make, missing(), processes):
            fresh += instances
            rate = fresh / (time.time() - started)
            bar.update(size / 1e6, f"{rate:,.0f} instances/s")
    counts = Counts(bad_documents=dropped)
    for path in itertools.chain.from_iterable(windows.values()):
        counts = counts.plus(read_counts(path))
    return list(windows.values()), counts


def make_part(maker: InstanceMaker, block: documents.TextBlock, path: str) -> Counts:
    """Writes the records of a block to `path`, where they appear together; returns the counts."""
    records, counts = keyed_records(maker, block)
    size = _HEADER.size + sum(_FRAME.size + len(record) for _, record in records)
    with files.atomic_path(path) as temporary, open(temporary, "wb", 1 << 20) as stream:
        stream.write(_HEADER.pack(size, *counts))
        stream.writelines(_FRAME.pack(key, len(record)) + record for key, record in records)
    return counts


def read_counts(path: str) -> Optional[Counts]:
    """Returns the counts of a part; None if it is not there or not whole."""
    if not os.path.exists(path) or os.path.getsize(path) < _HEADER.size:
        return None
    with open(path, "rb") as stream:
        size, *counts = _HEADER.unpack(stream.read(_HEADER.size))
    return Counts(*counts) if size == os.path.getsize(path) else None


def shuffled(windows: Iterable[Sequence[str]]) -> Iterator[bytes]:
    """Yields the records of all parts, those of each window in the order of their keys."""
    for parts in windows:
        # Keys are random, so ranges of equal width are of equal size.
        ranges = 1 + sum(map(os.path.getsize, parts)) // _RANGE_BYTES
        positions = dict.fromkeys(parts, _HEADER.size)
        for number in range(1, ranges + 1):
            records: List[KeyedRecord] = []
            for part in parts:
                found, positions[part] = _read_below(
                    part, positions[part], (number << 64) // ranges
                )
                records += found
            # Stable: records with the same key stay in order of part.
            records.sort(key=operator.itemgetter(0))
            for _, record in records:
                yield record


def _read_below(part: str, position: int, limit: int) -> Tuple[List[KeyedRecord], int]:
    """The records of a part from `position` on with keys below `limit`; where the next one is."""
    records: List[KeyedRecord] = []
    with open(part, "rb") as stream:
        stream.seek(position)
        for frame in iter(lambda: stream.read(_FRAME.size), b""):
            key, length = _FRAME.unpack(frame)
            if key >= limit:
                break
            records.append((key, stream.read(length)))
            position += _FRAME.size + length
    return records, position


# ----------------------------------------------------------------------------------------- outputs

_Output = Tuple[str, Dict[str, Any]]  # a path, and the metadata: what the file is made from


def _why_stale(output: _Output) -> str:
    return record_files.why_stale(*output)


def _check_replaceable(outputs: Sequence[_Output], reasons: Sequence[str]) -> None:
    """Raises ValueError for a file that was not made here, was changed, or is of other text."""
    for (path, made_from), reason in zip(outputs, reasons):
        if reason and reason != record_files.NOT_THERE:
            size, _ = files.state_of(path)
            check_ours(path, record_files.read_sidecar(path), size, fingerprint=made_from)
            _LOGGER.info("%s will be made again: %s.", path, reason)


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
    problem = ""
    if not sidecar or sidecar.bytes != size or sidecar.fingerprint["maker"] != fingerprint["maker"]:
        problem = "this program did not make it as it is"
    else:
        old, new = (
            sorted(one["name"] for one in made["text"])
            for made in (sidecar.fingerprint, fingerprint)
        )
        if old != new:
            problem = (
                f"it was made from {wording.listed(old, 3)}, not from {wording.listed(new, 3)}"
            )
    if problem:
        raise UserError(
            f"--output_file: '{path}' exists, and {problem}. Choose another name, or replace it by "
            "--overwrite."
        )


def _write(outputs: Sequence[Tuple[_Output, str]], records: Iterator[bytes], total: int) -> None:
    """Writes the outputs that have a reason; each gets as many of the records as the others."""
    with progress.Progress("Writing", total, unit="instances") as bar:
        counted = bar.counting(records)
        for number, ((path, made_from), reason) in enumerate(outputs):
            share = itertools.islice(counted, (total - number - 1) // len(outputs) + 1)
            if reason:
                _write_file(path, made_from, share)
            else:  # finished before the job was stopped
                collections.deque(share, maxlen=0)


def _write_file(path: str, made_from: Mapping[str, Any], records: Iterable[bytes]) -> None:
    with batches.AtomicRecordWriter(path, made_from) as writer:
        for record in records:
            writer.write(record)
