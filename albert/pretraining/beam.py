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
every runner returns them. The counters are there for watching a job.
"""

import collections
import glob
import hashlib
import io
import itertools
import json
import logging
import math
import os
import re
import shutil
import tempfile
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
from apache_beam.runners import runner as runners
from apache_beam.runners.portability import fn_api_runner, portable_runner

from albert import tokenization
from albert.data import record_files
from albert.pretrained import model_vocabulary
from albert.pretraining import documents as text_documents
from albert.pretraining import job as pretraining_job
from albert.pretraining.instances import Counts, InstanceMaker, check_counts, check_settings
from albert.pretraining.settings import DataSettings
from albert.util import files, many_files, wording
from albert.util.errors import UserError

MAKER = "create_pretraining_data_beam"
FORMAT = 2  # raise it when the same settings give other records than before

_MOST_SHARDS = 99999
_SHARD_BYTES = 1 << 27  # of records, where the number of shards is not given
_LARGEST_RANGE = 1 << 26
_SMALLEST_RANGE = 1 << 20
_RANGES_A_FILE = 64
_BYTES_A_TOKEN = 3.5  # of text; a low estimate, so that shards are rather small
_UNPACKED = 4  # size of text divided by that of its gzip file
_SHOWN_LINES = 5
_KEY_BYTES = 8
_COUNTS = -1  # stands where the number of a shard does, before counts
# The last line of a traceback, perhaps with what Beam adds; a worker's error is text by then.
_USER_ERROR = re.compile(
    r"^(?:RuntimeError: )*(?:[\w.]+\.)?UserError: (.*?)(?: \[while running '.*)?$", re.MULTILINE
)
# Their job server has options of its own, and refuses those that it does not know.
_WITH_JOB_SERVER = ("portablerunner", "flinkrunner", "sparkrunner", "prismrunner")

_LOGGER = logging.getLogger("albert")


class Job(NamedTuple):
    """What a pipeline is to do."""

    ranges: List[text_documents.TextRange]
    text_field: str
    maker: InstanceMaker
    outputs: "Shards"


def make_job(
    input_file: str,
    output_file: str,
    *,
    tokenizer: tokenization.FullTokenizer,
    tokenizer_file: str,
    settings: DataSettings,
    num_shards: Optional[int] = None,
) -> Job:
    """Returns the job; the arguments are the flags of these names.

    Raises:
      ValueError: a setting out of its range or that needs one machine, no text, names of output
        that cannot be used, an unfit vocabulary.
    """
    check_settings(settings)
    if settings.random_next_sentence:
        raise UserError(
            "--random_next_sentence takes text from the documents beside one, which a cluster "
            "does not read together. Use create_pretraining_data on one machine, or "
            "--norandom_next_sentence."
        )
    # One bad line does not stop a job of hours: the line, or its bad bytes, are left out.
    bad_lines = "lines" if settings.input_file_mode == "r" else "rb"
    maker = InstanceMaker(tokenizer, settings, bad_lines=bad_lines)
    outputs = shards_of(output_file)
    but = [tokenizer_file, *filter(None, [settings.user_dictionary])]
    paths = [path for path in find_input(input_file, but) if not outputs.is_one(path)]
    states = list(many_files.each(_state, paths, "Looking at the text"))
    if not sum(size for _, size, _ in states):
        raise UserError(f"--input_file: there is no text in {wording.listed(paths)}.")
    outputs = outputs._replace(
        count=num_shards or default_shards(states, settings),
        fingerprint=_fingerprint(states, maker.fingerprint(tokenizer_file)),
    )
    ranges = []
    for path, size, _ in states:
        range_bytes = max(_SMALLEST_RANGE, min(_LARGEST_RANGE, size // _RANGES_A_FILE))
        ranges += text_documents.split(path, size, range_bytes)
    return Job(ranges, settings.text_field, maker, outputs)


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
                f"--input_file: no file matches '{pattern}'. Check the path; name a folder on a "
                "remote file system by a pattern such as gs://bucket/text/*."
            )
        found.update(map(_absolute, paths))
    return sorted(found)


def _state(path: str) -> Tuple[str, int, float]:
    """A file's path, size and time in seconds: what shows that it has changed."""
    return path, FileSystems.get_filesystem(path).size(path), FileSystems.last_updated(path)


def default_shards(states: Sequence[Tuple[str, int, float]], settings: DataSettings) -> int:
    """Returns a number of shards with about 128 MiB of records each, or fewer."""
    text = sum(
        size * (_UNPACKED if text_documents.is_compressed(path) else 1) for path, size, _ in states
    )
    instances = text / _BYTES_A_TOKEN / settings.max_seq_length * settings.dupe_factor
    # Ids of two bytes and three flags for each token; id, position and weight of each prediction.
    record = 5 * settings.max_seq_length + 8 * settings.slots + 200
    return max(1, min(math.ceil(instances * record / _SHARD_BYTES), _MOST_SHARDS))


def _fingerprint(
    states: Sequence[Tuple[str, int, float]], made_from: Dict[str, Any]
) -> Dict[str, Any]:
    """What the records are made from, for their metadata.

    The text is too large to be hashed, and the list of files too long to be kept with each shard; a
    file is taken for the same while its name, size and time are.
    """
    named = sorted((os.path.basename(path), size, changed) for path, size, changed in states)
    names, content = (
        hashlib.sha256(json.dumps(value).encode("utf-8")).hexdigest()
        for value in ([name for name, _, _ in named], named)
    )
    text = [{"name": f"{len(named)} files ({names[:12]})", "states": content}]
    return files.normalized_fingerprint(
        dict(made_from, maker=MAKER, format=[FORMAT, made_from["format"]], text=text)
    )


# ------------------------------------------------------------------------------------------- steps


def add_steps(pipeline: beam.Pipeline, job: Job) -> None:
    """Adds the steps of `job` to a pipeline, from reading to the file of counts."""
    outputs = job.outputs
    made = (
        pipeline
        | "Ranges" >> beam.Create([tuple(one) for one in job.ranges])
        | "SpreadRanges" >> beam.Reshuffle()
        | "Read" >> beam.FlatMap(_read, job.text_field)
        | "SpreadBlocks" >> beam.Reshuffle()
        | "MakeRecords" >> beam.FlatMap(_make_records, job.maker, outputs.count)
    )
    counts = (
        made
        | "Counts" >> beam.Filter(lambda row: row[0] == _COUNTS)
        | "WithoutKey" >> beam.Values()
        | "SumCounts" >> beam.CombineGlobally(_sum)
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


def _read(one: Tuple[str, int, int], text_field: str) -> Iterator[Tuple[List[Any], int]]:
    """A range -> blocks of documents, and the number of bad lines beside the last, empty one."""
    text_range = text_documents.TextRange(*one)
    bad: List[text_documents.BadLine] = []
    with _open(text_range.path) as stream:
        found = text_documents.read_range(
            text_range, stream, text_field=text_field, on_bad_line=bad.append
        )
        keyed = (document._replace(index=document_index(document)) for document in found)
        for block in text_documents.grouped(keyed):
            yield [tuple(document) for document in block], 0
    for line in bad[:_SHOWN_LINES]:
        _LOGGER.warning("Dropped: '%s', the line at byte %d %s.", *line[:3])
    yield [], len(bad)


def document_index(document: text_documents.RawDocument) -> int:
    """Returns a number below 2^63 that names a document: the key of its random numbers."""
    name = os.path.basename(document.path)
    place = f"{name}\n{document.first_line}\n{document.part}\n"
    digest = hashlib.sha256(place.encode("utf-8") + document.text).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _make_records(
    element: Tuple[List[Any], int], maker: InstanceMaker, num_shards: int
) -> Iterator[Tuple[int, Any]]:
    """A block -> (number of a shard, its records, each behind its key), and (_COUNTS, counts).

    The maker is pickled with its tables, so workers read no vocabulary.
    """
    block, bad_documents = element
    counts = Counts(bad_documents=bad_documents)
    if block:
        documents = tuple(text_documents.RawDocument(*document) for document in block)
        records, counts = pretraining_job.keyed_records(
            maker, text_documents.TextBlock(0, 0, 0, documents)
        )
        shards = collections.defaultdict(list)
        for key, record in records:
            shard = key * num_shards >> (8 * _KEY_BYTES)
            shards[shard].append(key.to_bytes(_KEY_BYTES, "big") + record)
        yield from shards.items()
        if counts.bad_lines:
            message = "%d lines are not UTF-8, in '%s' from byte %d on."
            _LOGGER.warning(message, counts.bad_lines, documents[0].path, documents[0].first_line)
    for name, value in counts._asdict().items():
        if value:
            beam.metrics.Metrics.counter(MAKER, name).inc(value)
    yield _COUNTS, tuple(counts)


def _sum(rows: Iterable[Tuple[int, ...]]) -> Tuple[int, ...]:
    return tuple(map(sum, zip(Counts(), *rows)))


def _write_shard(
    element: Tuple[int, Iterable[List[bytes]]], outputs: "Shards", counts: Tuple[int, ...]
) -> Tuple[int, int]:
    """Writes a shard if the counts are good; returns its number and bytes."""
    check_counts(Counts(*counts))
    number, batches = element
    path = outputs.shard(number)
    blocks = record_files.BlockOffsets()
    with tempfile.NamedTemporaryFile() as local:
        with tf.io.TFRecordWriter(local.name) as writer:
            for record in sorted(itertools.chain.from_iterable(batches)):
                writer.write(record[_KEY_BYTES:])
                blocks.add(len(record) - _KEY_BYTES)
        size = os.path.getsize(local.name)
        _remove(record_files.sidecar_path(path))  # the old one must never describe the new file
        _write(path, local)
    made_from = dict(outputs.fingerprint, shard=number, shards=outputs.count)
    _write_text(record_files.sidecar_path(path), record_files.sidecar_text(blocks, size, made_from))
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
    _write_text(outputs.counts, files.json_text(report))


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
    def pattern(self) -> str:
        """The pattern of all record files, for run_pretraining."""
        return f"{self.base}-*{self.ending}"

    def shard(self, number: int) -> str:
        """Returns the path of a record file."""
        return f"{self.base}-{number:05d}-of-{self.count:05d}{self.ending}"

    def is_one(self, path: str) -> bool:
        """Returns whether a path is one of a job's files, whatever the number of shards."""
        name = f"{re.escape(self.base)}-[0-9]{{5}}-of-[0-9]{{5}}{re.escape(self.ending)}"
        return path == self.counts or bool(re.fullmatch(name, path))

    def report(self) -> Optional[Dict[str, Any]]:
        """Returns the content of the file of counts if all files are there and current."""
        report = self._read_report()
        if report.get("fingerprint") != self.fingerprint or report["shards"] != self.count:
            return None
        there = self._there()
        sizes = [there.get(self.shard(number)) for number in range(self.count)]
        return report if sizes == report["bytes"] else None

    def make_way(self, *, overwrite: bool) -> None:
        """Removes what an earlier run left that would not be replaced.

        Raises:
          ValueError: without `overwrite`, a file was not made here, was changed since, was made
            from other text, or is of another number of shards.
        """
        there = self._there()
        ours = [self.shard(number) for number in range(self.count) if self.shard(number) in there]
        others = sorted(set(there) - set(ours))
        if not overwrite:
            foreign = list(others)
            if FileSystems.exists(self.counts) and "fingerprint" not in self._read_report():
                foreign.append(self.counts)
            if foreign:
                raise UserError(
                    f"--output_file: '{foreign[0]}' is of a run with another number of shards than "
                    f"{self.count}, or this program did not make it. Remove it, choose another "
                    "name, or replace it by --overwrite."
                )
            sidecars = many_files.each(_read_sidecar, ours, "Looking at the output")
            for path, sidecar in zip(ours, sidecars):
                pretraining_job.check_ours(path, sidecar, there[path], fingerprint=self.fingerprint)
        for path in others:
            _remove(path)
            _remove(record_files.sidecar_path(path))
        _remove(self.counts)

    def keep_vocabulary(self, vocabulary: model_vocabulary.Vocabulary) -> None:
        """Copies the vocabulary into the folder of the shards, or raises ValueError."""
        sha256 = files.sha256(vocabulary.path)
        folder = os.path.dirname(self.base)
        path = model_vocabulary.beside_records(folder, sha256, vocabulary.key)
        if not FileSystems.exists(path):
            _write(path, io.BytesIO(files.read_bytes(vocabulary.path)))

    def _there(self) -> Dict[str, int]:
        """The shards of this name that are there, of whatever number, with their bytes."""
        found = _find(f"{glob.escape(self.base)}-*")
        return {path: size for path, size in found.items() if self.is_one(path)}

    def _read_report(self) -> Dict[str, Any]:
        """The content of the file of counts; {} if there is none."""
        if not FileSystems.exists(self.counts):
            return {}
        with _open(self.counts) as stream:
            return files.parse_json(stream.read(), f"'{self.counts}'")


# ------------------------------------------------------------------------------------------- files
# Wherever Apache Beam can reach them: local, gs://, hdfs://, s3://.


def _open(path: str) -> Any:
    """A seekable stream of a file's bytes, without decompressing them."""
    return FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)


def _remove(path: str) -> None:
    if FileSystems.exists(path):
        FileSystems.delete([path])


def _write(path: str, content: Any) -> None:
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
                shutil.copyfileobj(content, target, 1 << 22)
            _remove(path)  # some file systems do not replace one that is there (HDFS)
            FileSystems.rename([temporary], [path])
    finally:
        _remove(temporary)


def _write_text(path: str, text: str) -> None:
    _write(path, io.BytesIO(text.encode("utf-8")))


def _read_sidecar(path: str) -> Optional[record_files.Sidecar]:
    """The metadata of a record file; None if there is none or it is unreadable."""
    sidecar = record_files.sidecar_path(path)
    if not FileSystems.exists(sidecar):
        return None
    with _open(sidecar) as stream:
        return record_files.parse_sidecar(stream.read(), sidecar)


def _find(pattern: str) -> Dict[str, int]:
    """The files that a pattern matches, with their bytes."""
    (match,) = FileSystems.match([pattern])
    return {metadata.path: metadata.size_in_bytes for metadata in match.metadata_list}


def _absolute(path: str) -> str:
    """A path that means the same in every process on this machine."""
    return path if "://" in path else os.path.abspath(path)


# ------------------------------------------------------------------------------------------ running


class _Parser(pipeline_options._BeamArgumentParser):
    """Knows the options of Beam; mistakes are ValueErrors."""

    def error(self, message: str) -> None:
        raise UserError(f"Options of Apache Beam: {message}.")


def parse_options(
    arguments: Sequence[str], *, own_flags: Sequence[str]
) -> pipeline_options.PipelineOptions:
    """Returns the options that `arguments` stand for.

    Args:
      own_flags: names of the program's flags, to suggest for a misspelt one.

    Raises:
      ValueError: an argument that neither the program nor Beam knows. A runner with a job server
        gets those it may know, with a warning.
    """
    parser = _Parser(allow_abbrev=False, add_help=False)
    for kind in pipeline_options.PipelineOptions.__subclasses__():
        kind._add_argparse_args(parser)  # as Beam does it
    known, unknown = parser.parse_known_args(list(arguments))
    if unknown and str(known.runner).lower() in _WITH_JOB_SERVER:
        _LOGGER.warning("Unknown options go to the job server: %s.", " ".join(unknown))
    elif unknown:
        name = unknown[0].split("=")[0]
        names = [*parser._option_string_actions, *(f"--{flag}" for flag in own_flags)]
        raise UserError(
            f"'{name}' is neither a flag of {MAKER} nor an option of Apache Beam "
            f"{beam.__version__}.{wording.did_you_mean(name, names)}"
        )
    return pipeline_options.PipelineOptions(list(arguments))


def run(job: Job, options: pipeline_options.PipelineOptions) -> runners.PipelineResult:
    """Does a job, and returns Beam's result.

    Raises:
      ValueError: raised so by a step (a worker's error comes as text; its sentence is found in it),
        or the job failed.
    """
    pipeline = beam.Pipeline(runner=_direct_runner(options), options=options)
    add_steps(pipeline, job)
    try:
        result = pipeline.run()
        state = result.wait_until_finish()
    except Exception as error:
        sentences = _USER_ERROR.findall(str(error))
        if not sentences:
            raise
        raise UserError(sentences[-1]) from error
    if state not in (None, runners.PipelineState.DONE):
        raise UserError(f"The job ended as {state}. The log of its runner says why.")
    return result


def _direct_runner(options: pipeline_options.PipelineOptions) -> Optional[runners.PipelineRunner]:
    """Beam's own runner in Python for DirectRunner; None for all others, which Beam finds.

    From Beam 2.65 on, DirectRunner hands a pipeline to Prism, a program that it downloads for that.
    --runner=PrismRunner does so if that is wanted.
    """
    name = options.view_as(pipeline_options.StandardOptions).runner or "direct"
    if name.lower() not in ("direct", "directrunner"):
        return None
    worker_options = options.view_as(pipeline_options.WorkerOptions)
    if not worker_options.default_sdk_harness_log_level:
        worker_options.default_sdk_harness_log_level = "WARNING"  # workers share this terminal
    encoded = portable_runner.JobServiceHandle.encode_pipeline_options(options.get_all_options())
    runner = fn_api_runner.fn_runner
    information = runner.beam_provision_api_pb2.ProvisionInfo(pipeline_options=encoded)
    return fn_api_runner.FnApiRunner(provision_info=runner.ExtendedProvisionInfo(information))
