# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining data by Apache Beam: the steps of `pretraining_data`, on any number of machines.

    byte ranges of files -> documents in blocks -> instances -> shards in order of key -> files

The instances are made by the same InstanceMaker as on one machine: the unit is the document, or a
part of 256 KiB of a long one, and how documents come together in blocks changes nothing.

Random numbers are a function of (random_seed, document, pass, what is decided), where a document is
known by the name of its file without folders, the byte offset of its first line and its text. On
one machine it is known by its number in the corpus, which nobody knows who reads a range in the
middle. Its text alone would give documents that are there twice the same masks, so that twice the
text would teach nothing new; its place alone would let files of the same name in two folders draw
the same numbers. So neither runner, number of workers, bundles, size of the ranges nor the order of
work changes an instance, nor does moving the files to another folder.

Every instance has a random 64-bit key. Shard n of N holds, sorted, the keys of the n-th N-th of all
keys: the shards one after another are one complete shuffle of the whole corpus, whatever N. Equal
keys are put in order of their records. So the shards are the same bytes in every run.

A worker holds a shard's records, and some 100 bytes for each, while it writes them. DirectRunner
holds all records in memory.

The counts are summed up as data, not taken from Beam's counters, which count again what is tried
again and which not every runner gives back. The counters are there for watching a job.
"""

import hashlib
import json
import math
import os
import zlib
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import apache_beam as beam
import numpy as np
import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.data import records as example_batches
from albert.pretrained import model_vocabulary
from albert.pretraining import beam_files, sharded_outputs, text_blocks, text_ranges
from albert.pretraining import documents as text_documents
from albert.pretraining import job as pretraining_data
from albert.pretraining import masking as ngram_masking
from albert.util import files, many_files

MAKER = "create_pretraining_data_beam"
FORMAT = 1  # raise it when the same settings give other records than before

_SHARD_BYTES = 1 << 27  # of records, where the number of shards is not given
_LARGEST_RANGE = 1 << 26
_SMALLEST_RANGE = 1 << 20
_RANGES_A_FILE = 64
_BYTES_A_PIECE = 3.5  # of text: rather few, so that shards are rather small
_UNPACKED = 4  # times as large is text as its gzip file
_SHOWN_BYTES = 200  # of a bad line
_KEYS = 1 << 64

_BAD_LINES, _COUNTS = "bad_lines", "counts"

# Records with ascending keys: keys (uint64), ends (int64) and records, all as bytes.
_Batch = Tuple[bytes, bytes, bytes]
_EMPTY: _Batch = (b"", b"", b"")
# A bad line: the file, the offset, and what is written about it.
_BadLine = Tuple[str, int, str]
_NO_BAD_LINE: _BadLine = ("", -1, "")


class Job(NamedTuple):
    """What a pipeline is to do."""

    ranges: List[text_ranges.TextRange]
    settings: pretraining_data.DataSettings
    maker: pretraining_data.InstanceMaker
    outputs: sharded_outputs.ShardedOutputs


def make_job(
    input_file: str,
    output_file: str,
    *,
    tokenizer: tokenization.FullTokenizer,
    tokenizer_file: str,
    settings: pretraining_data.DataSettings,
    num_shards: Optional[int] = None,
) -> Job:
    """Returns what is to be done, with all mistakes found that can be found before it starts.

    Args:
      input_file: names, patterns and folders of text files, with commas between them.
      output_file: see sharded_outputs.names.
      tokenizer: cuts the text.
      tokenizer_file: the vocabulary or model it was loaded from, for the fingerprint.
      settings: see pretraining_data.DataSettings.
      num_shards: record files to write; None for about 128 MiB each.

    Raises:
      ValueError: a setting out of its range or that needs one machine, no text, names of output
        that cannot be used, an unfit vocabulary.
    """
    pretraining_data.check_settings(settings)
    if settings.random_next_sentence:
        raise ValueError(
            "--random_next_sentence takes text from the documents beside one, which a cluster "
            "does not read together. Use create_pretraining_data on one machine, or "
            "--norandom_next_sentence."
        )
    maker = pretraining_data.InstanceMaker(tokenizer, settings)
    outputs = sharded_outputs.names(output_file, 1 if num_shards is None else num_shards)
    but = [tokenizer_file, *filter(None, [settings.user_dictionary])]
    paths = [path for path in find_input(input_file, but=but) if not outputs.is_one(path)]
    states = list(many_files.each(beam_files.state, paths, "Looking at the text"))
    if not sum(state.size for state in states):
        raise ValueError(f"--input_file: there is no text in {', '.join(paths[:3])}.")
    if num_shards is None:
        outputs = outputs._replace(count=default_shards(states, settings))
    made_from = _fingerprint(states, maker.fingerprint(tokenizer_file))
    return Job(
        ranges=split_files(states),
        settings=settings,
        maker=maker,
        outputs=sharded_outputs.ShardedOutputs(outputs, made_from),
    )


def keep_vocabulary(job: Job, vocabulary: model_vocabulary.Vocabulary) -> None:
    """Copies the vocabulary into the folder of the shards, where training finds it."""
    sha256 = model_vocabulary.sha256_of(vocabulary.path)
    folder = os.path.dirname(job.outputs.names.base)
    path = model_vocabulary.beside_records(folder, sha256, vocabulary.key)
    if not beam_files.exists(path):
        with beam_files.replacement(path) as temporary:
            tf.io.gfile.copy(vocabulary.path, temporary, overwrite=True)


def find_input(patterns: str, *, but: Sequence[str] = ()) -> List[str]:
    """Returns the text files that names, patterns and folders stand for, sorted, each once.

    Raises:
      ValueError: a pattern that matches nothing.
    """
    found = set()
    for pattern in filter(None, (part.strip() for part in patterns.split(","))):
        if not beam_files.is_remote(pattern):
            paths = text_documents.find_files(pattern, "input_file", but=list(but))
            found.update(map(beam_files.absolute, paths))
            continue
        paths = beam_files.find(pattern)
        if not paths:
            raise ValueError(
                f"--input_file: no file matches '{pattern}'. Check the path; a folder on a remote "
                "file system is named by a pattern such as gs://bucket/text/*."
            )
        found.update(paths)
    return sorted(found)


def split_files(states: Sequence[beam_files.FileState]) -> List[text_ranges.TextRange]:
    """Returns the byte ranges of the input, large enough to be worth a worker's while."""
    ranges = []
    for path, size, _ in states:
        range_bytes = max(_SMALLEST_RANGE, min(_LARGEST_RANGE, size // _RANGES_A_FILE))
        ranges += text_ranges.split(path, size, range_bytes)
    return ranges


def default_shards(
    states: Sequence[beam_files.FileState], settings: pretraining_data.DataSettings
) -> int:
    """Returns a number of shards with about 128 MiB of records each, or fewer."""
    text = sum(
        size * (_UNPACKED if text_documents.is_compressed(path) else 1) for path, size, _ in states
    )
    instances = text / _BYTES_A_PIECE / settings.max_seq_length * settings.dupe_factor
    # Ids of two bytes and three flags for each piece; id, position and weight of each prediction.
    record = 5 * settings.max_seq_length + 8 * settings.slots + 200
    shards = math.ceil(instances * record / _SHARD_BYTES)
    return max(1, min(shards, sharded_outputs.MOST_SHARDS))


def _fingerprint(
    states: Sequence[beam_files.FileState], made_from: Dict[str, Any]
) -> Dict[str, Any]:
    """What the records are made from, for the sidecars.

    The text is too large to be read for this; a file is taken for the same while its name, size and
    time are.
    """
    named = [(beam_files.base_name(one.path), one.size, one.changed) for one in states]
    text = {
        "names": _digest(sorted(name for name, _, _ in named)),
        "files": len(named),
        "bytes": sum(size for _, size, _ in named),
        "states": _digest(sorted(named)),
    }
    return dict(made_from, maker=MAKER, format=[FORMAT, made_from["format"]], text=text)


def _digest(value: Any) -> str:
    """A hash of JSON values: lists of all files would be too long for every sidecar."""
    return hashlib.sha256(json.dumps(value).encode("utf-8")).hexdigest()


def add_steps(pipeline: beam.Pipeline, job: Job) -> None:
    """Adds the steps of `job` to a pipeline, from reading to the file of counts."""
    blocks, bad_lines, counts_of_reading = (
        pipeline
        | "Ranges" >> beam.Create([tuple(one) for one in job.ranges])
        | "SpreadRanges" >> beam.Reshuffle()
        | "Read"
        >> beam.ParDo(_Read(job.settings, job.outputs.names.count)).with_outputs(
            _BAD_LINES, _COUNTS, main="blocks"
        )
    )
    records, counts_of_making = (
        blocks
        | "SpreadBlocks" >> beam.Reshuffle()
        | "MakeInstances"
        >> beam.ParDo(_MakeInstances(job.maker, job.outputs.names.count)).with_outputs(
            _COUNTS, main="records"
        )
    )
    counts = (
        (counts_of_reading, counts_of_making)
        | "AllCounts" >> beam.Flatten()
        | "SumCounts" >> beam.CombineGlobally(_sum)
        | "CheckCounts" >> beam.Map(_checked)
    )
    # A shard without a record is a file, too.
    empty = (
        pipeline
        | "ShardNumbers" >> beam.Create(range(job.outputs.names.count))
        | "EmptyBatches" >> beam.Map(lambda number: (number, _EMPTY))
    )
    written = (
        (records, empty)
        | "AllRecords" >> beam.Flatten()
        | "GroupByShard" >> beam.GroupByKey()
        | "WriteShards" >> beam.ParDo(_WriteShard(job.outputs), beam.pvalue.AsSingleton(counts))
        | "CountWritten" >> beam.CombineGlobally(sum)
    )
    # Beam 2.48 cannot group nothing in several processes.
    no_bad_line = pipeline | "NoBadLine" >> beam.Create([(0, _NO_BAD_LINE)])
    bad_line_files = (
        (bad_lines, no_bad_line)
        | "AllBadLines" >> beam.Flatten()
        | "GroupBadLines" >> beam.GroupByKey()
        | "WriteBadLines" >> beam.FlatMap(_write_bad_lines, job.outputs.names)
    )
    _ = counts | "WriteCounts" >> beam.Map(
        _write_counts,
        job.outputs,
        written=beam.pvalue.AsSingleton(written),
        bad_line_files=beam.pvalue.AsIter(bad_line_files),
    )


# ------------------------------------------------------------------------------------------ reading


class _Read(beam.DoFn):
    """A range -> blocks of documents; bad lines with the number of their file; counts."""

    def __init__(self, settings: pretraining_data.DataSettings, num_files: int):
        self._settings = settings
        self._num_files = num_files

    def process(self, one: Tuple[str, int, int]) -> Iterator[Any]:
        text_range = text_ranges.TextRange(*one)
        keeps_bad = self._settings.input_file_mode == "rb"
        bad: List[Tuple[int, _BadLine]] = []
        block: List[text_documents.RawDocument] = []
        size = empty = 0

        def add_bad_line(line: text_documents.BadLine) -> None:
            bad.append(_described(line, self._num_files))

        with beam_files.open_to_read(text_range.path) as stream:
            for document in text_ranges.read_range(
                text_range,
                stream,
                text_field=self._settings.text_field,
                on_bad_line=add_bad_line,
                keep_bad=keeps_bad,
            ):
                block.append(document._replace(index=document_index(document)))
                size += len(document.text)
                empty += not document.text
                if size >= text_blocks.BLOCK_BYTES or empty >= text_blocks.MOST_EMPTY:
                    yield [tuple(document) for document in block]
                    block, size, empty = [], 0, 0
        # Also an empty one: Beam 2.48 cannot group nothing in several processes.
        yield [tuple(document) for document in block]
        for line in bad:
            yield beam.pvalue.TaggedOutput(_BAD_LINES, line)
        counts = pretraining_data.Counts()
        if text_documents.is_json(text_range.path):
            counts = counts._replace(bad_documents=len(bad))
        elif not keeps_bad:  # those that stay are counted where they are mended
            counts = counts._replace(bad_lines=len(bad))
        _count(counts)
        yield beam.pvalue.TaggedOutput(_COUNTS, tuple(counts))


def document_index(document: text_documents.RawDocument) -> int:
    """Returns a number below 2^63 that names a document: the key of its random numbers."""
    name = beam_files.base_name(document.path)
    place = f"{name}\n{document.first_line}\n{document.part}\n"
    digest = hashlib.sha256(place.encode("utf-8") + document.text).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _described(bad: text_documents.BadLine, num_files: int) -> Tuple[int, _BadLine]:
    """A bad line as JSON with its place, for sorting, and the number of the file it goes to."""
    text = json.dumps(
        {
            "file": bad.path,
            "offset": bad.line,
            "reason": bad.reason,
            "line": bad.content[:_SHOWN_BYTES].decode("utf-8", "backslashreplace"),
        },
        sort_keys=True,
    )
    # Even a single file full of them is no more than some can hold.
    place = f"{bad.path}\n{bad.line // _LARGEST_RANGE}".encode()
    return zlib.crc32(place) % num_files, (bad.path, bad.line, text)


def _write_bad_lines(
    element: Tuple[int, Iterable[_BadLine]], names: sharded_outputs.ShardNames
) -> List[str]:
    """Writes the bad lines of one file in the order of the text; returns its path if there are."""
    number, lines = element
    texts = [f"{text}\n" for _, _, text in sorted(lines) if text]
    if not texts:
        return []
    path = names.bad_lines(number)
    beam_files.write_text(path, "".join(texts))
    return [path]


# ------------------------------------------------------------------------------------------- making


class _MakeInstances(beam.DoFn):
    """A block -> (shard, batch of records), counts."""

    def __init__(self, maker: pretraining_data.InstanceMaker, num_shards: int):
        self._maker = maker  # it travels with all it needs, so workers read no vocabulary
        self._num_shards = num_shards

    def process(self, block: List[Tuple[Any, ...]]) -> Iterator[Any]:
        if not block:
            return
        documents = tuple(text_documents.RawDocument(*document) for document in block)
        size = sum(len(document.text) for document in documents)
        features, keys, counts = self._maker.instances(text_blocks.TextBlock(0, 0, size, documents))
        data, ends, predictions = [], [np.zeros([1], np.int64)], 0
        for batch in features:
            predictions += ngram_masking.count_predictions(batch)
            encoded = example_batches.encode_examples(batch)
            data.append(encoded.data)
            ends.append(encoded.ends + ends[-1][-1])
        counts = counts._replace(predictions=predictions)
        yield from _cut(keys, np.concatenate(ends), b"".join(data), num_shards=self._num_shards)
        _count(counts)
        yield beam.pvalue.TaggedOutput(_COUNTS, tuple(counts))


def _cut(
    keys: np.ndarray, ends: np.ndarray, data: bytes, *, num_shards: int
) -> Iterator[Tuple[int, _Batch]]:
    """Cuts the records of ascending `keys` (uint64 [N]) by shard; ends[0] of N + 1 is 0."""
    starts = np.array([-(-_KEYS * shard // num_shards) for shard in range(num_shards)], np.uint64)
    borders = np.append(np.searchsorted(keys, starts), len(keys))
    for shard in np.flatnonzero(np.diff(borders)).tolist():
        first, last = borders[shard], borders[shard + 1]
        yield (
            shard,
            (
                keys[first:last].astype("<u8").tobytes(),
                (ends[first + 1 : last + 1] - ends[first]).astype("<i8").tobytes(),
                data[ends[first] : ends[last]],
            ),
        )


# ------------------------------------------------------------------------------------------ writing


class _WriteShard(beam.DoFn):
    """(shard, batches) -> number of records; the counts are waited for because they may be bad."""

    def __init__(self, outputs: sharded_outputs.ShardedOutputs):
        self._outputs = outputs

    def process(self, element: Tuple[int, Iterable[_Batch]], _: Tuple[int, ...]) -> Iterator[int]:
        number, batches = element
        path = self._outputs.names.shard(number)
        made_from = self._outputs.fingerprint_of(number)
        if not beam_files.why_stale(path, made_from):
            yield beam_files.read_sidecar(path).count
            return
        blocks = files.BlockOffsets()
        # The old sidecar must never describe the new file.
        beam_files.remove(files.sidecar_path(path))
        with beam_files.replacement(path) as temporary, tf.io.TFRecordWriter(temporary) as writer:
            for record in sorted_records(batches):
                writer.write(record)
                blocks.add(len(record))
        beam_files.write_sidecar(path, blocks, made_from)
        yield blocks.count


def sorted_records(batches: Iterable[_Batch]) -> Iterator[bytes]:
    """Yields the records of batches in order of key, those of equal keys in order of content."""
    keys, starts, ends, texts = [], [], [], []
    for batch_keys, batch_ends, data in batches:
        keys.append(np.frombuffer(batch_keys, "<u8"))
        ends.append(np.frombuffer(batch_ends, "<i8"))
        starts.append(np.append(np.zeros([1], np.int64), ends[-1])[: len(ends[-1])])
        texts.append(data)
    batch_of = np.repeat(np.arange(len(keys)), [len(one) for one in keys])
    key, start, end = np.concatenate(keys), np.concatenate(starts), np.concatenate(ends)

    def record(row: int) -> bytes:
        return texts[batch_of[row]][start[row] : end[row]]

    order = np.argsort(key, kind="stable").tolist()
    if len(np.unique(key)) < len(key):
        order.sort(key=lambda row: (key[row], record(row)))
    return map(record, order)


def _write_counts(
    counts: Tuple[int, ...],
    outputs: sharded_outputs.ShardedOutputs,
    *,
    written: int,
    bad_line_files: Iterable[str],
) -> None:
    """Writes the file that says that all is there."""
    named = pretraining_data.Counts(*counts)
    if written != named.instances:
        raise RuntimeError(f"{named.instances} instances were made, and {written} written.")
    text = outputs.report_text(named._asdict(), list(bad_line_files))
    beam_files.write_text(outputs.names.counts, text)


# ------------------------------------------------------------------------------------------- counts


def _sum(rows: Iterable[Tuple[int, ...]]) -> Tuple[int, ...]:
    """The sum of counts; also of sums."""
    total = pretraining_data.Counts()
    for row in rows:
        total = total.plus(row)
    return tuple(total)


def _checked(counts: Tuple[int, ...]) -> Tuple[int, ...]:
    """The counts of the whole text, if it was text."""
    pretraining_data.check_counts(pretraining_data.Counts(*counts))
    return counts


def _count(counts: pretraining_data.Counts) -> None:
    """Adds to Beam's counters."""
    for name, value in counts._asdict().items():
        if value:
            beam.metrics.Metrics.counter(MAKER, name).inc(value)
