# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining data by Apache Beam: the same instances as on one machine, made by many.

    byte ranges of files -> documents in blocks -> instances -> shards in order of key -> files

Random numbers are a function of (random_seed, document, pass, what is decided), where a document is
known by the name of its file without folders, the byte offset of its first line and its text: a
worker that reads a byte range cannot know the document number it has on one machine. Its text alone
would give documents that are there twice the same masks; its place alone would give files of the
same name in two folders the same numbers. So neither runner, number of workers, bundles nor ranges
change an instance, nor does moving the files.

Every instance has a random 64-bit key. Shard n of N holds, sorted, the keys of the n-th N-th of all
keys, equal ones in order of their records: all shards together are one complete shuffle of the
corpus, and the same bytes in every run. A worker holds a shard's records while it writes them.

The counts are summed up as data, because Beam's counters count again what is tried again, and not
every runner returns them.
"""

import collections
import hashlib
import itertools
import logging
import os
import re
import time
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.options import pipeline_options
from apache_beam.runners.portability import fn_api_runner, portable_runner

from albert.pretrained import model_vocabulary
from albert.pretraining import documents as text_documents
from albert.pretraining import shards
from albert.pretraining.documents import RawDocument, TextBlock, TextRange
from albert.pretraining.instances import Counts, InstanceMaker, keyed_records, prepare, total
from albert.pretraining.settings import BeamFlags, DataSettings
from albert.util import files, many_files, provenance
from albert.util.errors import UserError

MAKER = "create_pretraining_data_beam"
FORMAT = 2  # raise it when the same settings give other records than before

_SHARD_TEXT = 1 << 26  # bytes in a shard, where the number is not given; records have about twice
_RANGE_BYTES = 1 << 24  # of text that a worker reads at a time
_UNPACKED = 4  # size of text divided by that of its gzip file
_KEY_BYTES = 8
_COUNTS = -1  # stands where the number of a shard does, before counts
# Their job server has options of its own, and refuses those that it does not know.
_WITH_JOB_SERVER = ("portablerunner", "flinkrunner", "sparkrunner", "prismrunner")

_LOGGER = logging.getLogger("albert")

FileState = Tuple[str, int, float]  # path, bytes and time of change


class Job(NamedTuple):
    """What a pipeline is to do."""

    ranges: List[TextRange]
    text_field: str
    maker: InstanceMaker
    vocabulary: model_vocabulary.Vocabulary
    outputs: shards.Shards


def create_pretraining_data(settings: BeamFlags) -> str:
    """Makes the records by the runner that `pipeline_options` name, unless they are there already.

    Returns:
      The path of the file of counts.

    Raises:
      ValueError: as `make_job`, `parse_options`, `Shards.make_way` and `run`.
    """
    started = time.time()
    options = parse_options(settings.pipeline_options)
    job = make_job(settings)
    outputs = job.outputs
    key, path, _ = job.vocabulary
    folder = os.path.dirname(outputs.base)
    copy = model_vocabulary.beside_records(folder, files.sha256(path), key)
    STORAGE.write(copy, [files.read_bytes(path)])
    if outputs.report():
        _LOGGER.info("Nothing to do: the output was made from the same text and settings.")
    else:
        outputs.make_way(overwrite=settings.overwrite)
        run(job, options)
    shards.report(Counts(**outputs.report()["counts"]), started)
    _LOGGER.info("Files: %d; %s", outputs.count, outputs.counts)
    return outputs.counts


def make_job(settings: BeamFlags) -> Job:
    """Returns the job that the flags describe.

    Raises:
      ValueError: a setting out of its range or that needs one machine, no text, names of output
        that cannot be used, an unfit vocabulary.
    """
    if settings.random_next_sentence:
        raise UserError(
            "--random_next_sentence needs neighbouring documents, which a cluster does not read "
            "together. Use create_pretraining_data on one machine."
        )
    # One bad line does not stop a job of hours: the line, or its bad bytes, are left out.
    bad_lines = "lines" if settings.input_file_mode == "r" else "rb"
    maker, vocabulary = prepare(settings, bad_lines=bad_lines)
    outputs = shards.shards_of(settings.output_file, STORAGE)
    but = filter(None, [vocabulary.path, settings.user_dictionary, outputs.counts])
    paths = find_input(settings.input_file, list(but))
    states = list(many_files.each(_state, paths, "Looking at the text"))
    outputs = outputs._replace(
        count=settings.num_shards or default_shards(states, settings),
        fingerprint=_fingerprint(states, maker.fingerprint(vocabulary.path)),
    )
    ranges: List[TextRange] = []
    for path, size, _ in states:
        ranges += text_documents.split(path, size, _RANGE_BYTES)
    if not ranges:
        raise UserError("--input_file: every file is empty.")
    return Job(ranges, settings.text_field, maker, vocabulary, outputs)


def find_input(patterns: str, but: Sequence[str] = ()) -> List[str]:
    """Returns the text files that names, patterns and folders stand for, sorted, each once.

    Raises:
      ValueError: a pattern that matches nothing.
    """
    found: Set[str] = set()
    for pattern in files.split_paths(patterns):
        if "://" in pattern:
            paths = list(STORAGE.find(pattern))
        else:
            paths = text_documents.find_files(pattern, "input_file", but=but)
        if not paths:
            raise UserError(
                f"--input_file: no file matches '{pattern}'. Check the path; name a remote folder "
                "by a pattern such as gs://bucket/text/*."
            )
        found.update(map(shards.absolute, paths))
    return sorted(found)


def _state(path: str) -> FileState:
    return path, FileSystems.get_filesystem(path).size(path), FileSystems.last_updated(path)


def default_shards(states: Sequence[FileState], settings: DataSettings) -> int:
    """Returns a number of shards with about 128 MiB of records each."""
    text = sum(
        size * (_UNPACKED if text_documents.is_compressed(path) else 1) for path, size, _ in states
    )
    return 1 + text * settings.dupe_factor // _SHARD_TEXT


def _fingerprint(states: Sequence[FileState], made_from: Dict[str, Any]) -> Dict[str, Any]:
    """What the records are made from, for their metadata.

    The text is too large to be hashed, and the list of files too long to be kept with each shard; a
    file is taken for the same while its name, size and time are.
    """
    named = sorted((os.path.basename(path), size, changed) for path, size, changed in states)
    names = provenance.digest([name for name, _, _ in named])[:12]
    text = {"name": f"{len(named)} files ({names})", "states": provenance.digest(named)[:12]}
    return dict(made_from, maker=MAKER, format=[FORMAT, made_from["format"]], text=[text])


# ------------------------------------------------------------------------------------------- steps


def add_steps(pipeline: beam.Pipeline, job: Job) -> None:
    """Adds the steps of `job` to a pipeline, from reading to the file of counts."""
    outputs = job.outputs
    made = (
        pipeline
        | "Ranges" >> beam.Create(job.ranges)
        | "SpreadRanges" >> beam.Reshuffle()
        | "Read" >> beam.FlatMap(_read, job.text_field)
        | "SpreadBlocks" >> beam.Reshuffle()
        | "MakeRecords" >> beam.FlatMap(_make_records, job.maker, outputs.count)
    )
    counts = (
        made
        | "Counts" >> beam.Filter(lambda row: row[0] == _COUNTS)
        | "WithoutKey" >> beam.Values()
        | "SumCounts" >> beam.CombineGlobally(lambda rows: tuple(total(rows)))
    )
    records = made | "Records" >> beam.Filter(lambda row: row[0] != _COUNTS)
    # A shard without a record is a file, too.
    empty = pipeline | "Empty" >> beam.Create([(number, []) for number in range(outputs.count)])
    written = (
        (records, empty)
        | "AllRecords" >> beam.Flatten()
        | "GroupByShard" >> beam.GroupByKey()
        | "WriteShards" >> beam.Map(_write_shard, outputs, beam.pvalue.AsSingleton(counts))
    )
    _ = counts | "WriteCounts" >> beam.Map(_write_counts, outputs, beam.pvalue.AsDict(written))


def _read(one: TextRange, text_field: str) -> Iterator[TextBlock]:
    """A range -> blocks of documents."""
    with _open(one[0]) as stream:
        found = text_documents.read_range(one, stream, text_field=text_field)
        keyed = (document._replace(index=document_index(document)) for document in found)
        yield from map(TextBlock, text_documents.grouped(keyed))


def document_index(document: RawDocument) -> int:
    """Returns a number below 2^63 that names a document: the key of its random numbers."""
    name = os.path.basename(document.path)
    place = f"{name}\n{document.first_line}\n{document.part}\n"
    digest = hashlib.sha256(place.encode("utf-8") + document.text).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _make_records(
    block: TextBlock, maker: InstanceMaker, num_shards: int
) -> Iterator[Tuple[int, Any]]:
    """A block -> (number of a shard, its records, each behind its key), and (_COUNTS, counts).

    The maker is pickled with its tables, so workers read no vocabulary.
    """
    records, counts = keyed_records(maker, block)
    rows = collections.defaultdict(list)
    for key, record in records:
        shard = key * num_shards >> (8 * _KEY_BYTES)
        rows[shard].append(key.to_bytes(_KEY_BYTES, "big") + record)
    yield from rows.items()
    yield _COUNTS, tuple(counts)


def _write_shard(
    element: Tuple[int, Iterable[List[bytes]]], outputs: shards.Shards, counts: Tuple[int, ...]
) -> Tuple[int, int]:
    """Writes a shard if the counts are good; returns its number and bytes."""
    number, batches = element
    ordered = sorted(itertools.chain.from_iterable(batches))
    records = (record[_KEY_BYTES:] for record in ordered)
    return number, outputs.write(number, records, Counts(*counts))


def _write_counts(counts: Tuple[int, ...], outputs: shards.Shards, sizes: Dict[int, int]) -> None:
    """Writes the file that marks the output as complete."""
    outputs.write_counts(Counts(*counts), [sizes[number] for number in sorted(sizes)])


# ------------------------------------------------------------------------------------------- files
# Wherever Apache Beam can reach them: local, gs://, hdfs://, s3://.


def _open(path: str) -> Any:
    """A seekable stream of a file's bytes, without decompressing them."""
    return FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)


def _find(pattern: str) -> Dict[str, int]:
    (match,) = FileSystems.match([pattern])
    return {metadata.path: metadata.size_in_bytes for metadata in match.metadata_list}


def _content(path: str) -> Optional[bytes]:
    if not FileSystems.exists(path):
        return None
    with _open(path) as stream:
        return stream.read()


def _remove(path: str) -> None:
    if FileSystems.exists(path):
        FileSystems.delete([path])


def _write(path: str, chunks: Iterable[bytes]) -> None:
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
            _remove(path)  # some file systems do not replace one that is there (HDFS)
            FileSystems.rename([temporary], [path])
    finally:
        _remove(temporary)


STORAGE = shards.Storage(find=_find, read=_content, write=_write, remove=_remove)


# ------------------------------------------------------------------------------------------ running


def parse_options(arguments: Sequence[str]) -> pipeline_options.PipelineOptions:
    """Returns the options that `arguments` stand for.

    Raises:
      ValueError: an argument that neither the program nor Beam knows. A runner with a job server
        gets those it may know, with a warning.
    """
    parser = pipeline_options._BeamArgumentParser(MAKER, "see --help", allow_abbrev=False)
    for kind in pipeline_options.PipelineOptions.__subclasses__():
        kind._add_argparse_args(parser)  # as Beam does it
    known, unknown = parser.parse_known_args(list(arguments))
    if unknown and str(known.runner).lower() in _WITH_JOB_SERVER:
        _LOGGER.warning("Unknown options go to the job server: %s.", " ".join(unknown))
    elif unknown:
        raise UserError(f"'{unknown[0]}' is neither a flag of {MAKER} nor an option of Beam.")
    return pipeline_options.PipelineOptions(list(arguments))


def run(job: Job, options: pipeline_options.PipelineOptions) -> None:
    """Does a job.

    Raises:
      ValueError: raised so by a step (a worker's error comes as text; its sentence is found in it),
        or the job ended early.
    """
    runner = options.view_as(pipeline_options.StandardOptions).runner or "DirectRunner"
    if runner.lower() in ("direct", "directrunner"):
        runner = _python_runner(options)
    pipeline = beam.Pipeline(runner=runner, options=options)
    add_steps(pipeline, job)
    try:
        state = pipeline.run().wait_until_finish()
    except Exception as error:
        pattern = r"UserError: (.*?)(?: \[while running .*)?$"
        sentences = re.findall(pattern, str(error), re.MULTILINE)
        if not sentences:
            raise
        raise UserError(sentences[-1]) from error
    if not job.outputs.report():
        raise UserError(f"The job ended as {state}. The log of its runner says why.")


def _python_runner(options: pipeline_options.PipelineOptions) -> fn_api_runner.FnApiRunner:
    """Beam's own runner in Python; its workers get the options, and log warnings only.

    From Beam 2.65 on, DirectRunner hands a pipeline to Prism, a program that it downloads for that.
    --runner=PrismRunner does so if that is wanted.
    """
    values = options.get_all_options()
    values["default_sdk_harness_log_level"] = values["default_sdk_harness_log_level"] or "WARNING"
    encoded = portable_runner.JobServiceHandle.encode_pipeline_options(values)
    runner = fn_api_runner.fn_runner
    information = runner.beam_provision_api_pb2.ProvisionInfo(pipeline_options=encoded)
    return fn_api_runner.FnApiRunner(provision_info=runner.ExtendedProvisionInfo(information))
