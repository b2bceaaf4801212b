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
import dataclasses
import glob
import hashlib
import itertools
import logging
import os
import re
import tempfile
import time
from typing import (
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

import apache_beam as beam
import tensorflow.compat.v1 as tf
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.options import pipeline_options
from apache_beam.runners.portability import fn_api_runner, portable_runner

from albert.data import record_files
from albert.pretrained import model_vocabulary
from albert.pretraining import documents as text_documents
from albert.pretraining import job as pretraining_job
from albert.pretraining.documents import BadLines, RawDocument, TextBlock, TextRange
from albert.pretraining.instances import Counts, InstanceMaker, check_counts, total
from albert.pretraining.settings import BeamFlags, DataSettings
from albert.util import files, many_files, provenance, wording
from albert.util.errors import UserError

MAKER = "create_pretraining_data_beam"
FORMAT = 2  # raise it when the same settings give other records than before

_SHARD_TEXT = 1 << 26  # bytes in a shard, where the number is not given; records have about twice
_RANGE_BYTES = 1 << 24  # of text that a worker reads at a time
_UNPACKED = 4  # size of text divided by that of its gzip file
_CHUNK_BYTES = 1 << 22
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
    outputs: "Shards"


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
    _keep_vocabulary(job.vocabulary, os.path.dirname(outputs.base))
    if outputs.report():
        _LOGGER.info("Nothing to do: the output was made from the same text and settings.")
    else:
        outputs.make_way(overwrite=settings.overwrite)
        run(job, options)
    pretraining_job.report(Counts(**outputs.report()["counts"]), started)
    _LOGGER.info("%s; %s", wording.counted(outputs.count, "file"), outputs.counts)
    return outputs.counts


def make_job(settings: BeamFlags) -> Job:
    """Returns the job that the flags describe.

    Raises:
      ValueError: a setting out of its range or that needs one machine, no text, names of output
        that cannot be used, an unfit vocabulary.
    """
    if settings.random_next_sentence:
        raise UserError(
            "--random_next_sentence takes text from the documents beside one, which a cluster "
            "does not read together. Use create_pretraining_data on one machine."
        )
    # One bad line does not stop a job of hours: the line, or its bad bytes, are left out.
    bad_lines = "lines" if settings.input_file_mode == "r" else "rb"
    maker, vocabulary = pretraining_job.prepare(settings, bad_lines=bad_lines)
    outputs = shards_of(settings.output_file)
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
            paths = list(_find(pattern))
        else:
            paths = text_documents.find_files(pattern, "input_file", but=but)
        if not paths:
            raise UserError(
                f"--input_file: no file matches '{pattern}'. Check the path; name a remote folder "
                "by a pattern such as gs://bucket/text/*."
            )
        found.update(map(_absolute, paths))
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
    _ = counts | "WriteCounts" >> beam.Map(_write_counts, outputs, beam.pvalue.AsList(written))


def _read(one: TextRange, text_field: str) -> Iterator[Any]:
    """A range -> blocks of documents, and the number of bad lines beside the last, empty one."""
    bad_lines = BadLines("byte")
    with _open(one[0]) as stream:
        found = text_documents.read_range(one, stream, text_field=text_field, bad_lines=bad_lines)
        keyed = (document._replace(index=document_index(document)) for document in found)
        for block in text_documents.grouped(keyed):
            yield TextBlock(0, 0, 0, tuple(block)), 0
    yield TextBlock(0, 0, 0, ()), bad_lines.count


def document_index(document: RawDocument) -> int:
    """Returns a number below 2^63 that names a document: the key of its random numbers."""
    name = os.path.basename(document.path)
    place = f"{name}\n{document.first_line}\n{document.part}\n"
    digest = hashlib.sha256(place.encode("utf-8") + document.text).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _make_records(
    element: Tuple[TextBlock, int], maker: InstanceMaker, num_shards: int
) -> Iterator[Tuple[int, Any]]:
    """A block -> (number of a shard, its records, each behind its key), and (_COUNTS, counts).

    The maker is pickled with its tables, so workers read no vocabulary.
    """
    block, bad_documents = element
    records, counts = pretraining_job.keyed_records(maker, block)
    shards = collections.defaultdict(list)
    for key, record in records:
        shard = key * num_shards >> (8 * _KEY_BYTES)
        shards[shard].append(key.to_bytes(_KEY_BYTES, "big") + record)
    yield from shards.items()
    if counts.bad_lines:
        first = block.documents[0]
        message = "%d lines are not UTF-8, in '%s' from byte %d on."
        _LOGGER.warning(message, counts.bad_lines, first.path, first.first_line)
    yield _COUNTS, tuple(counts._replace(bad_documents=bad_documents))


def _write_shard(
    element: Tuple[int, Iterable[List[bytes]]], outputs: "Shards", counts: Tuple[int, ...]
) -> Tuple[int, int]:
    """Writes a shard if the counts are good; returns its number and bytes."""
    check_counts(Counts(*counts))
    number, batches = element
    path = outputs.paths[number]
    sidecar = record_files.sidecar_path(path)
    made_from = dict(outputs.fingerprint, shard=number, shards=outputs.count)
    blocks = record_files.RecordFile(path, fingerprint=made_from)
    with tempfile.NamedTemporaryFile() as local:
        with tf.io.TFRecordWriter(local.name) as writer:
            for record in sorted(itertools.chain.from_iterable(batches)):
                writer.write(record[_KEY_BYTES:])
                blocks.add(len(record) - _KEY_BYTES)
        size = os.path.getsize(local.name)
        _remove(sidecar)  # the old one must never describe the new file
        _write(path, iter(lambda: local.read(_CHUNK_BYTES), b""))
    _write(sidecar, [files.json_text(blocks.as_json()).encode("utf-8")])
    return number, size


def _write_counts(
    counts: Tuple[int, ...], outputs: "Shards", written: List[Tuple[int, int]]
) -> None:
    """Writes the file that marks the output as complete."""
    report = {
        "counts": Counts(*counts)._asdict(),
        "shards": outputs.count,
        "bytes": [size for _, size in sorted(written)],
        "fingerprint": outputs.fingerprint,
    }
    _write(outputs.counts, [files.json_text(report).encode("utf-8")])


# ----------------------------------------------------------------------------------------- outputs


def shards_of(output_file: str) -> "Shards":
    """Returns the files of data/train, or of data/train-*.tf_record for names that end like this.

    Raises:
      ValueError: a name that cannot be used.
    """
    match = re.fullmatch(r"([^,*?\[]*[^,*?\[/-])(?:-\*([^,*?\[/]*))?", output_file)
    if not match:
        raise UserError(
            f"--output_file={output_file} must be one name, to which -00000-of-00016 is added, "
            "or one with '-*' where this is to stand, such as data/train-*.tf_record."
        )
    return Shards(_absolute(match.group(1)), match.group(2) or "")


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
        ours = [path for path in self.paths if path in there]
        if not overwrite:
            sidecars = many_files.each(_read_sidecar, ours, "Looking at the output")
            found = dict(zip(ours, sidecars))
            if FileSystems.exists(self.counts) and "fingerprint" not in self._read_report():
                there[self.counts] = 0
            for path, size in there.items():
                pretraining_job.check_ours(
                    path, found.get(path), size, fingerprint=self.fingerprint
                )
        for path in set(there) - set(ours):
            _remove(path)
            _remove(record_files.sidecar_path(path))
        _remove(self.counts)

    def _there(self) -> Dict[str, int]:
        """The shards of this name that are there, of whatever number, with their bytes."""
        digits = "[0-9]" * 5
        names = f"{glob.escape(self.base)}-{digits}-of-{digits}{glob.escape(self.ending)}"
        return _find(names)

    def _read_report(self) -> Dict[str, Any]:
        """The content of the file of counts; {} if there is none."""
        return files.parse_json(_content(self.counts) or "{}", f"'{self.counts}'")


# ------------------------------------------------------------------------------------------- files
# Wherever Apache Beam can reach them: local, gs://, hdfs://, s3://.


def _open(path: str) -> Any:
    """A seekable stream of a file's bytes, without decompressing them."""
    return FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)


def _content(path: str) -> Optional[bytes]:
    """The bytes of a file; None if there is none."""
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
    kind = CompressionTypes.UNCOMPRESSED
    try:
        with files.naming_path(path):
            with FileSystems.create(temporary, compression_type=kind) as target:
                target.writelines(chunks)
            _remove(path)  # some file systems do not replace one that is there (HDFS)
            FileSystems.rename([temporary], [path])
    finally:
        _remove(temporary)


def _keep_vocabulary(vocabulary: model_vocabulary.Vocabulary, folder: str) -> None:
    """Copies the vocabulary into the folder of the records, or raises ValueError."""
    sha256 = files.sha256(vocabulary.path)
    copy = model_vocabulary.beside_records(folder, sha256, vocabulary.key)
    _write(copy, [files.read_bytes(vocabulary.path)])


def _read_sidecar(path: str) -> Optional[record_files.RecordFile]:
    """The metadata of a record file; None if there is none or it is unreadable."""
    sidecar = record_files.sidecar_path(path)
    content = _content(sidecar)
    return record_files.parse_sidecar(content, path) if content else None


def _find(pattern: str) -> Dict[str, int]:
    """The files that a pattern matches, with their bytes."""
    (match,) = FileSystems.match([pattern])
    return {metadata.path: metadata.size_in_bytes for metadata in match.metadata_list}


def _absolute(path: str) -> str:
    """A path that means the same in every process on this machine."""
    return path if "://" in path else os.path.abspath(path)


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
        name = unknown[0].split("=")[0]
        own = [f"--{field.name}" for field in dataclasses.fields(BeamFlags)]
        guess = wording.did_you_mean(name, [*parser._option_string_actions, *own])
        raise UserError(f"'{name}' is neither a flag of {MAKER} nor an option of Beam.{guess}")
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
