# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes pretraining data on one machine: from text files to shuffled tf.train.Example records.

    text files -> blocks of documents -> keyed records, a part for each block -> output files

The text is read as a stream of blocks of documents. A worker process makes the records of all
passes over a block (`keyed_records`) and writes a part: a record file sorted by random 64-bit keys.
When all parts are finished, the shuffle reads one range of keys after another from all parts, sorts
these records in memory, and appends them to the output files.

* Memory depends neither on the size of the text nor on the size of a window. Until the output is
  finished, the parts need as much disk space as the output.
* The output has the same bytes with any number of processes, on every runtime.
* A part gets its name when it is complete. So a job that was stopped resumes after the finished
  parts and output files.
* The shuffle mixes all records of a window: all passes over `shuffle_window_mb` megabytes of text.
  Windows follow one another in the order of the text. Each output file gets the next part of the
  shuffled sequence. The numbers of instances in the files differ by at most one.
"""

import collections
import itertools
import operator
import os
import shutil
import tempfile
import time
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from albert.data import record_files
from albert.formats import model_vocabulary
from albert.pretraining_data import documents
from albert.pretraining_data.flags import JobFlags
from albert.pretraining_data.instances import (
    Counts,
    InstanceMaker,
    check_counts,
    keyed_records,
    prepare,
    total,
)
from albert.util import (
    UserError,
    files,
    folder_lock,
    json_files,
    log,
    parallel,
    progress,
    provenance,
)

_MAKER = "create_pretraining_data"
_BUCKET_BYTES = 1 << 24  # size of the records that the shuffle holds in memory
_KEY_BYTES = 8
_KEY = operator.itemgetter(slice(_KEY_BYTES))  # the key of a record in a part

Output = Tuple[str, Dict[str, Any]]  # path, and fingerprint of the file's inputs and flags


def create_pretraining_data(flags: JobFlags) -> Optional[Counts]:
    """Makes the records of `output_file` from the text of `input_file`, on this machine.

    Each output file gets its name when it is complete, together with its metadata. If all files
    were already made from the same text with the same flags, this function does nothing.

    Returns:
      The counts; None if there was nothing to do.

    Raises:
      UserError: flags are wrong, there is no text, the text is not UTF-8, or an output file must
        not be replaced.
    """
    started = time.time()
    maker, vocabulary = prepare(flags)
    paths = files.split_paths(flags.output_file)
    excluded = list(filter(None, [*paths, vocabulary.path, flags.user_dictionary]))
    input_files = documents.find_text_files(flags.input_file, excluded=excluded)
    all_paths = list(map(os.path.abspath, [*input_files, *paths]))
    if len(set(all_paths)) < len(all_paths):
        raise UserError("--output_file must name each file once, and no input file.")
    text = list(parallel.in_threads(provenance.stamp, input_files, "Looking at the text"))
    identity = dict(maker.fingerprint(vocabulary.path), maker=_MAKER, text=text)
    outputs = [(path, dict(identity, file=n, files=len(paths))) for n, path in enumerate(paths)]
    work = work_folder(flags.work_dir, paths[0])
    parts = os.path.join(work, provenance.digest([identity, *paths])[:12])
    counts = None
    if os.path.exists(parts):
        log.info("Resuming the job that was stopped.")
    elif not flags.overwrite:
        for path in filter(files.exists, paths):
            size, _ = files.state_of(path)
            check_replaceable(path, record_files.read_sidecar(path), size, fingerprint=identity)
    with folder_lock.held(work):
        # This also fails early if a folder is not writable.
        for folder in sorted(set(map(os.path.dirname, paths))):
            copy = model_vocabulary.beside_records(folder, vocabulary)
            files.atomic_write_bytes(copy, files.read_bytes(vocabulary.path))
        reasons = filter(None, itertools.starmap(record_files.why_stale, outputs))
        reason = next(reasons, "")
        if reason:
            log.info("Making the records, because %s.", reason)
            size = sum(file["size"] for file in text)
            windows, counts = _make_parts(parts, input_files, size, maker=maker, flags=flags)
            check_counts(counts)
            _write(outputs, shuffled(windows), counts.instances)
            report(counts, started)
        else:
            log.info("Nothing to do: the output was made from the same text and flags.")
        shutil.rmtree(work)
    return counts


def report(counts: Counts, started: float) -> None:
    """Logs the counts and the time since `started`."""
    parts = [f"{name.replace('_', ' ')}: {n:,}" for name, n in counts._asdict().items() if n]
    log.info("%s; %s.", ", ".join(parts), progress.format_seconds(time.time() - started))


def check_replaceable(
    path: str,
    sidecar: Optional[record_files.RecordFile],
    size: int,
    *,
    fingerprint: Mapping[str, Any],
) -> None:
    """Refuses to replace a record file that another program made, or that has other text.

    If only flags have changed, the file may be replaced. If the text is another, --output_file is
    probably a typing error.

    Args:
      path: a file of `size` bytes with the metadata `sidecar`.
      fingerprint: the fingerprint of the new file, with "maker" and "text", a list of objects with
        a "name".

    Raises:
      UserError: the file must not be replaced.
    """
    identity = sidecar.fingerprint if sidecar and sidecar.bytes == size else {}
    sources = [
        [values.get("maker"), *sorted(text["name"] for text in values.get("text") or ())]
        for values in (identity, fingerprint)
    ]
    if sources[0] != sources[1]:
        raise UserError(
            f"--output_file: '{path}' exists, and has changed, or is from another program, from "
            "other text or from a job with another number of files. Choose another name, or "
            "replace it with --overwrite."
        )


def work_folder(work_dir: Optional[str], output: str) -> str:
    """Returns the folder for unfinished work. A hash tells outputs with the same name apart."""
    parent = work_dir or (tempfile.gettempdir() if "://" in output else os.path.dirname(output))
    digest = provenance.digest(os.path.abspath(output))[:12]
    return os.path.join(parent, f".{os.path.basename(output)}.work-{digest}")


# ------------------------------------------------------------------------------------------- parts


def _make_parts(
    folder: str, input_files: Sequence[str], size: int, *, maker: InstanceMaker, flags: JobFlags
) -> Tuple[List[List[str]], Counts]:
    """Makes the missing parts of `size` bytes of text.

    Returns the paths of the parts of each window, in the order of the text, and the total counts.
    """

    def make(block: documents.TextBlock) -> Tuple[int, str, int, Counts]:
        path = os.path.join(folder, f"{block.number:06d}.part")
        counts = read_counts(path) or make_part(maker, block, path)
        return block.window, path, block.bytes, counts

    megabytes = None if any(map(documents.is_compressed, input_files)) else size / 1e6
    windows: Dict[int, List[str]] = collections.defaultdict(list)
    counts = Counts()
    blocks = documents.read_blocks(input_files, flags)
    processes = flags.num_processes or parallel.default_processes()
    with progress.Progress("Making instances", megabytes, unit="MB") as bar:
        for window, path, text_bytes, block_counts in parallel.ordered_map(make, blocks, processes):
            windows[window].append(path)
            counts = total([counts, block_counts])
            bar.update(text_bytes / 1e6)
    return list(windows.values()), counts


def make_part(maker: InstanceMaker, block: documents.TextBlock, path: str) -> Counts:
    """Writes the records of a block to a record file, each after its key. Returns the counts."""
    records, counts = keyed_records(maker, block)
    with record_files.create(path, {"counts": counts}) as part:
        for key, record in records:
            part.write(key.to_bytes(_KEY_BYTES, "big") + record)
    return counts


def read_counts(path: str) -> Optional[Counts]:
    """Returns the counts of a part; None if the part is missing or incomplete."""
    part = record_files.read_sidecar(path)
    if not (part and os.path.exists(path) and os.path.getsize(path) == part.bytes):
        return None
    schema = {"counts": [json_files.COUNT] * len(Counts._fields)}
    json_files.check(part.fingerprint, schema, f"The metadata of '{path}'")
    return Counts(*part.fingerprint["counts"])


def shuffled(windows: Iterable[Sequence[str]]) -> Iterator[bytes]:
    """Yields the records of all windows; in each window, the records of its parts sorted by key.

    Holds one bucket of keys in memory. Keys are random, so the buckets have about the same size.
    """
    for parts in windows:
        buckets = 1 + sum(map(os.path.getsize, parts)) // _BUCKET_BYTES
        positions = dict.fromkeys(parts, 0)
        for number in range(1, buckets + 1):
            records: List[bytes] = []
            for part in parts:
                records_of_part, positions[part] = _read_below(
                    part, positions[part], (number << 64) // buckets
                )
                records += records_of_part
            # The sort is stable: records with the same key stay in the order of the parts.
            records.sort(key=_KEY)
            yield from (record[_KEY_BYTES:] for record in records)


def _read_below(part: str, position: int, limit: int) -> Tuple[List[bytes], int]:
    """Returns a part's records from `position` on with keys below `limit`, and the new position."""
    records: List[bytes] = []
    with open(part, "rb") as stream:
        for begin, length in record_files.headers(part, stream, position):
            record = stream.read(length)
            if int.from_bytes(record[:_KEY_BYTES], "big") >= limit:
                return records, begin
            records.append(record)
    return records, os.path.getsize(part)


# ----------------------------------------------------------------------------------------- outputs


def _write(outputs: Sequence[Output], records: Iterator[bytes], count: int) -> None:
    """Writes the outputs. The `count` records are divided evenly."""
    with progress.Progress("Writing", count, unit="instances") as bar:
        counted = bar.counting(records)
        for number, output in enumerate(outputs):
            share = (count - number - 1) // len(outputs) + 1
            write_file(output, itertools.islice(counted, share))


def write_file(output: Output, records: Iterable[bytes]) -> None:
    """Writes an output. If it is finished, only skips its records."""
    if not record_files.why_stale(*output):  # written before the job was stopped
        collections.deque(records, maxlen=0)
        return
    with record_files.create(*output) as file:
        for record in records:
            file.write(record)
