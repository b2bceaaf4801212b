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

import argparse
import collections
import contextlib
import glob
import hashlib
import itertools
import json
import logging
import math
import os
import re
import shutil
import tempfile
import uuid
from typing import (
    Any,
    Callable,
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
from albert.data import records as example_batches
from albert.pretrained import model_vocabulary
from albert.pretraining import documents as text_documents
from albert.pretraining import instances as pretraining_instances
from albert.pretraining import job as pretraining_job
from albert.pretraining import masking
from albert.util import files, many_files, wording
from albert.util.errors import UserError

MAKER = "create_pretraining_data_beam"
MOST_SHARDS = 99999
FORMAT = 2  # raise it when the same settings give other records than before

_SHARD_BYTES = 1 << 27  # of records, where the number of shards is not given
_LARGEST_RANGE = 1 << 26
_SMALLEST_RANGE = 1 << 20
_RANGES_A_FILE = 64
_BYTES_A_TOKEN = 3.5  # of text; a low estimate, so that shards are rather small
_UNPACKED = 4  # size of text divided by that of its gzip file
_SHOWN_LINES = 5
_KEY_BYTES = 8
_COUNTS = "counts"
# The last line of a traceback, perhaps with what Beam adds; a worker's error is text by then.
_USER_ERROR = re.compile(
    r"^(?:RuntimeError: )*(?:[\w.]+\.)?"
    r"(?:ValueError|\w*IOError|OSError|PermissionError|FileNotFoundError): "
    r"(.*?)(?: \[while running '.*)?$",
    re.MULTILINE,
)
# Their job server has options of its own, and refuses those that it does not know.
_WITH_JOB_SERVER = ("portablerunner", "flinkrunner", "sparkrunner", "prismrunner")

_LOGGER = logging.getLogger("albert")


class FileState(NamedTuple):
    """What shows that a file has changed, without reading it."""

    path: str
    size: int
    changed: float  # when, in seconds since 1970


class Job(NamedTuple):
    """What a pipeline is to do."""

    ranges: List[text_documents.TextRange]
    settings: pretraining_instances.DataSettings
    maker: pretraining_instances.InstanceMaker
    outputs: "Shards"


def make_job(
    input_file: str,
    output_file: str,
    *,
    tokenizer: tokenization.FullTokenizer,
    tokenizer_file: str,
    settings: pretraining_instances.DataSettings,
    num_shards: Optional[int] = None,
) -> Job:
    """Returns the job; the arguments are the flags of these names.

    Raises:
      ValueError: a setting out of its range or that needs one machine, no text, names of output
        that cannot be used, an unfit vocabulary.
    """
    pretraining_instances.check_settings(settings)
    if settings.random_next_sentence:
        raise UserError(
            "--random_next_sentence takes text from the documents beside one, which a cluster "
            "does not read together. Use create_pretraining_data on one machine, or "
            "--norandom_next_sentence."
        )
    # One bad line does not stop a job of hours: the line, or its bad bytes, are left out.
    bad_lines = "lines" if settings.input_file_mode == "r" else "rb"
    maker = pretraining_instances.InstanceMaker(tokenizer, settings, bad_lines=bad_lines)
    outputs = Shards(output_file, 1 if num_shards is None else num_shards)
    but = [tokenizer_file, *filter(None, [settings.user_dictionary])]
    paths = [path for path in find_input(input_file, but=but) if not outputs.is_one(path)]
    states = list(many_files.each(file_state, paths, "Looking at the text"))
    if not sum(state.size for state in states):
        raise UserError(f"--input_file: there is no text in {', '.join(paths[:3])}.")
    if num_shards is None:
        outputs.count = default_shards(states, settings)
    outputs.fingerprint = _fingerprint(states, maker.fingerprint(tokenizer_file))
    ranges = []
    for path, size, _ in states:
        range_bytes = max(_SMALLEST_RANGE, min(_LARGEST_RANGE, size // _RANGES_A_FILE))
        ranges += text_documents.split(path, size, range_bytes)
    return Job(ranges, settings, maker, outputs)


def find_input(patterns: str, *, but: Sequence[str] = ()) -> List[str]:
    """Returns the text files that names, patterns and folders stand for, sorted, each once.

    Raises:
      ValueError: a pattern that matches nothing.
    """
    found: Set[str] = set()
    for pattern in files.split_paths(patterns):
        if "://" in pattern:
            paths = list(_find(pattern))
        else:
            paths = text_documents.find_files(pattern, "input_file", but=list(but))
        if not paths:
            raise UserError(
                f"--input_file: no file matches '{pattern}'. Check the path; name a folder on a "
                "remote file system by a pattern such as gs://bucket/text/*."
            )
        found.update(map(_absolute, paths))
    return sorted(found)


def default_shards(
    states: Sequence[FileState], settings: pretraining_instances.DataSettings
) -> int:
    """Returns a number of shards with about 128 MiB of records each, or fewer."""
    text = sum(
        size * (_UNPACKED if text_documents.is_compressed(path) else 1) for path, size, _ in states
    )
    instances = text / _BYTES_A_TOKEN / settings.max_seq_length * settings.dupe_factor
    # Ids of two bytes and three flags for each token; id, position and weight of each prediction.
    record = 5 * settings.max_seq_length + 8 * settings.slots + 200
    return max(1, min(math.ceil(instances * record / _SHARD_BYTES), MOST_SHARDS))


def _fingerprint(states: Sequence[FileState], made_from: Dict[str, Any]) -> Dict[str, Any]:
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
    count = job.outputs.count
    blocks, counts_of_reading = (
        pipeline
        | "Ranges" >> beam.Create([tuple(one) for one in job.ranges])
        | "SpreadRanges" >> beam.Reshuffle()
        | "Read" >> beam.ParDo(_read, job.settings.text_field).with_outputs(_COUNTS, main="blocks")
    )
    records, counts_of_making = (
        blocks
        | "SpreadBlocks" >> beam.Reshuffle()
        | "MakeInstances"
        >> beam.ParDo(_make_instances, job.maker, count).with_outputs(_COUNTS, main="records")
    )
    counts = (
        (counts_of_reading, counts_of_making)
        | "AllCounts" >> beam.Flatten()
        | "SumCounts" >> beam.CombineGlobally(_sum)
        | "CheckCounts" >> beam.Map(_checked)
    )
    # A shard without a record is a file, too.
    empty = pipeline | "EmptyShards" >> beam.Create([(number, []) for number in range(count)])
    written = (
        (records, empty)
        | "AllRecords" >> beam.Flatten()
        | "GroupByShard" >> beam.GroupByKey()
        | "WriteShards" >> beam.Map(_write_shard, job.outputs, beam.pvalue.AsSingleton(counts))
    )
    _ = counts | "WriteCounts" >> beam.Map(_write_counts, job.outputs, beam.pvalue.AsList(written))


def _read(one: Tuple[str, int, int], text_field: str) -> Iterator[Any]:
    """A range -> blocks of documents; counts."""
    text_range = text_documents.TextRange(*one)
    bad: List[text_documents.BadLine] = []
    with open_to_read(text_range.path) as stream:
        found = text_documents.read_range(
            text_range, stream, text_field=text_field, on_bad_line=bad.append
        )
        keyed = (document._replace(index=document_index(document)) for document in found)
        # An empty group comes last, because Beam 2.48 with several processes fails without any.
        for block in itertools.chain(text_documents.grouped(keyed), [[]]):
            yield [tuple(document) for document in block]
    for line in bad[:_SHOWN_LINES]:
        _LOGGER.warning("Dropped: '%s', the line at byte %d %s.", *line[:3])
    yield _counted(pretraining_instances.Counts(bad_documents=len(bad)))


def document_index(document: text_documents.RawDocument) -> int:
    """Returns a number below 2^63 that names a document: the key of its random numbers."""
    name = os.path.basename(document.path)
    place = f"{name}\n{document.first_line}\n{document.part}\n"
    digest = hashlib.sha256(place.encode("utf-8") + document.text).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _make_instances(
    block: List[Tuple[Any, ...]], maker: pretraining_instances.InstanceMaker, num_shards: int
) -> Iterator[Any]:
    """A block -> (shard, its records, each behind its key); counts.

    The maker is pickled with its tables, so workers read no vocabulary.
    """
    if not block:
        return
    documents = tuple(text_documents.RawDocument(*document) for document in block)
    features, keys, counts = maker.instances(text_documents.TextBlock(0, 0, 0, documents))
    if counts.bad_lines:
        path, first = documents[0].path, documents[0].first_line
        message = "%d lines are not UTF-8, in '%s' from byte %d on."
        _LOGGER.warning(message, counts.bad_lines, path, first)
    shards = collections.defaultdict(list)
    key, predictions = iter(keys.tolist()), 0
    for batch in features:
        predictions += masking.count_predictions(batch)
        for record in _records(example_batches.encode_examples(batch)):
            place = next(key)
            shard = place * num_shards >> (8 * _KEY_BYTES)
            shards[shard].append(place.to_bytes(_KEY_BYTES, "big") + record)
    yield from shards.items()
    yield _counted(counts._replace(predictions=predictions))


def _records(encoded: example_batches.EncodedExamples) -> Iterator[bytes]:
    ends = encoded.ends.tolist()
    return (encoded.data[start:end] for start, end in zip([0] + ends, ends))


def _write_shard(
    element: Tuple[int, Iterable[List[bytes]]], outputs: "Shards", _: Tuple[int, ...]
) -> Tuple[int, int, int]:
    """Writes a shard once the counts are checked; returns its number, records and bytes."""
    number, batches = element
    path = outputs.shard(number)
    blocks = record_files.BlockOffsets()
    remove(record_files.sidecar_path(path))  # the old one must never describe the new file
    with replacement(path) as temporary:
        with tf.io.TFRecordWriter(temporary) as writer:
            for record in sorted(itertools.chain.from_iterable(batches)):
                writer.write(record[_KEY_BYTES:])
                blocks.add(len(record) - _KEY_BYTES)
        size = os.path.getsize(temporary)
    made_from = dict(outputs.fingerprint, shard=number, shards=outputs.count)
    write_text(record_files.sidecar_path(path), record_files.sidecar_text(blocks, size, made_from))
    return number, blocks.count, size


def _write_counts(
    counts: Tuple[int, ...], outputs: "Shards", written: List[Tuple[int, int, int]]
) -> None:
    """Writes the file that marks the output as complete."""
    named = pretraining_instances.Counts(*counts)
    records = sum(count for _, count, _ in written)
    if records != named.instances:
        raise RuntimeError(f"{named.instances} instances were made, and {records} written.")
    report = {
        "counts": dict(named._asdict()),
        "shards": outputs.count,
        "bytes": [size for _, _, size in sorted(written)],
        "fingerprint": outputs.fingerprint,
    }
    write_text(outputs.counts, files.json_text(report))


def _sum(rows: Iterable[Tuple[int, ...]]) -> Tuple[int, ...]:
    return tuple(map(sum, zip(pretraining_instances.Counts(), *rows)))


def _checked(counts: Tuple[int, ...]) -> Tuple[int, ...]:
    pretraining_instances.check_counts(pretraining_instances.Counts(*counts))
    return counts


def _counted(counts: pretraining_instances.Counts) -> beam.pvalue.TaggedOutput:
    """Adds to Beam's counters; returns the counts as data."""
    for name, value in counts._asdict().items():
        if value:
            beam.metrics.Metrics.counter(MAKER, name).inc(value)
    return beam.pvalue.TaggedOutput(_COUNTS, tuple(counts))


# ----------------------------------------------------------------------------------------- outputs


class Shards:
    """The record files NAME-00000-of-00016 and so on, and beside them NAME.counts.json.

    The counts are written last: when they are there, everything is.
    """

    def __init__(self, output_file: str, count: int):
        """Takes data/train, or data/train-*.tf_record for names that end like this.

        Raises:
          ValueError: a name that cannot be used, or a number of shards.
        """
        if not 1 <= count <= MOST_SHARDS:
            raise UserError(f"--num_shards is {count}; it must be between 1 and {MOST_SHARDS}.")
        folder, name = os.path.split(output_file)
        base, star, ending = name.partition("*")
        is_clear = base.endswith("-") if star else base
        if "," in output_file or set("*?[") & set(folder + ending) or not is_clear or base == "-":
            raise UserError(
                f"--output_file={output_file} must be one name, to which -00000-of-00016 is added, "
                "or one with '-*' where this is to stand, such as data/train-*.tf_record."
            )
        self.count = count
        self.folder = _absolute(folder)
        self._ending = ending
        self._base = os.path.join(self.folder, base[:-1] if star else base)
        self.fingerprint: Dict[str, Any] = {}
        self.counts = f"{self._base}.counts.json"
        self.pattern = f"{self._base}-*{ending}"  # of all record files, for run_pretraining

    def shard(self, number: int) -> str:
        """Returns the path of a record file."""
        return f"{self._base}-{number:05d}-of-{self.count:05d}{self._ending}"

    def is_one(self, path: str) -> bool:
        """Returns whether a path is one of a job's files, whatever the number of shards."""
        return path == self.counts or self._count_in(path) is not None

    def _count_in(self, path: str) -> Optional[int]:
        """How many shards there are by the name of one; None if it is none."""
        pattern = f"{re.escape(self._base)}-[0-9]{{5}}-of-([0-9]{{5}}){re.escape(self._ending)}"
        match = re.fullmatch(pattern, path)
        return int(match.group(1)) if match else None

    def report(self) -> Optional[Dict[str, Any]]:
        """Returns the content of the file of counts if all files are there and current."""
        report = self._read_report()
        if not report or report["fingerprint"] != self.fingerprint:
            return None
        if report["shards"] != self.count:
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
        others = [path for path in there if self._count_in(path) != self.count]
        if others and not overwrite:
            raise UserError(
                f"--output_file: '{others[0]}' is of a run with another number of shards than "
                f"{self.count}, and training would read both. Remove those files, choose another "
                "name, or replace them by --overwrite."
            )
        if not overwrite and exists(self.counts) and not self._read_report():
            raise UserError(
                f"--output_file: '{self.counts}' exists, and this program did not make it. Choose "
                "another name, or replace it by --overwrite."
            )
        ours = [] if overwrite else sorted(set(there) - set(others))
        sidecars = many_files.each(read_sidecar, ours, "Looking at the output")
        for path, sidecar in zip(ours, sidecars):
            pretraining_job.check_ours(path, sidecar, there[path], fingerprint=self.fingerprint)
        for path in others:
            remove(path)
            remove(record_files.sidecar_path(path))
        remove(self.counts)

    def keep_vocabulary(self, vocabulary: model_vocabulary.Vocabulary) -> None:
        """Copies the vocabulary into the folder of the shards, or raises ValueError."""
        sha256 = files.sha256(vocabulary.path)
        path = model_vocabulary.beside_records(self.folder, sha256, vocabulary.key)
        try:
            if not exists(path):
                with replacement(path) as temporary:
                    tf.io.gfile.copy(vocabulary.path, temporary, overwrite=True)
        except (OSError, beam.io.filesystem.BeamIOError, tf.errors.OpError) as error:
            raise UserError(
                f"--output_file: cannot write in the folder '{self.folder}' ({error})."
            ) from error

    def _there(self) -> Dict[str, int]:
        """The shards of this name that are there, with their bytes."""
        found = _find(f"{glob.escape(self._base)}-*")
        return {path: size for path, size in found.items() if self._count_in(path) is not None}

    def _read_report(self) -> Optional[Dict[str, Any]]:
        """The content of the file of counts; None if there is none or it is no such file."""
        if not exists(self.counts):
            return None
        try:
            with open_to_read(self.counts) as stream:
                text = files.decode(stream.read(), self.counts)
            report = files.parse_json(text, self.counts)
        except ValueError:
            return None
        fields = {"counts", "shards", "bytes", "fingerprint"}
        return report if isinstance(report, dict) and fields <= set(report) else None


# ------------------------------------------------------------------------------------------- files
# Wherever Apache Beam can reach them: local, gs://, hdfs://, s3://.


def file_state(path: str) -> FileState:
    """Returns name, size and time of a file."""
    size = FileSystems.get_filesystem(path).size(path)
    return FileState(path, size, FileSystems.last_updated(path))


def exists(path: str) -> bool:
    """Returns whether a file or folder is there."""
    return FileSystems.exists(path)


def open_to_read(path: str) -> Any:
    """Returns a seekable stream of a file's bytes, without decompressing them."""
    files.check_is_file(path)
    return FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)


def remove(path: str) -> None:
    """Removes a file if it is there."""
    if exists(path):
        FileSystems.delete([path])


@contextlib.contextmanager
def replacement(path: str) -> Iterator[str]:
    """Yields the path of a local file to write, which becomes `path` if the block succeeds.

    Runners may let two workers write the same file at the same time when one is slow: each has a
    name of its own until the last step.
    """
    folder, name = os.path.split(path)
    if not exists(folder):
        with contextlib.suppress(FileExistsError):  # another worker made it now
            FileSystems.mkdirs(folder)
    temporary = os.path.join(folder, f".{name}.tmp-{uuid.uuid4().hex}")
    with contextlib.ExitStack() as stack:
        stack.enter_context(files.naming_path(path))
        stack.callback(remove, temporary)
        if "://" not in path:
            yield temporary
        else:
            local = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "content")
            yield local
            kind = CompressionTypes.UNCOMPRESSED
            with open(local, "rb") as source, FileSystems.create(
                temporary, compression_type=kind
            ) as target:
                shutil.copyfileobj(source, target, 1 << 22)
            remove(path)  # some file systems do not replace one that is there (HDFS)
        FileSystems.rename([temporary], [path])


def write_text(path: str, text: str) -> None:
    """Replaces `path` by `text` (UTF-8) in one step."""
    with replacement(path) as temporary, open(temporary, "wb") as stream:
        stream.write(text.encode("utf-8"))


def read_sidecar(path: str) -> Optional[record_files.Sidecar]:
    """Returns the sidecar of a record file; None if there is none or it is unreadable."""
    sidecar = record_files.sidecar_path(path)
    if not exists(sidecar):
        return None
    with open_to_read(sidecar) as stream:
        return record_files.parse_sidecar(stream.read(), sidecar)


def _find(pattern: str) -> Dict[str, int]:
    """The files that a pattern matches, with their bytes."""
    (match,) = FileSystems.match([pattern])
    return {metadata.path: metadata.size_in_bytes for metadata in match.metadata_list}


def _absolute(path: str) -> str:
    """A path that means the same in every process on this machine."""
    return path if "://" in path else os.path.abspath(path)


# ------------------------------------------------------------------------------------------ running


class _Parser(argparse.ArgumentParser):
    """Knows the options of Beam; mistakes are ValueErrors."""

    def add_value_provider_argument(self, *names: str, **settings: Any) -> None:
        """Defines an option that a template may leave open; here it is like the others."""
        self.add_argument(*names, **settings)

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
        kind._add_argparse_args(parser)  # type: ignore[arg-type]  # as Beam does it
    known, unknown = parser.parse_known_args(list(arguments))
    if unknown and str(known.runner).lower() in _WITH_JOB_SERVER:
        _LOGGER.warning("Unknown options go to the job server: %s.", " ".join(unknown))
    elif unknown and not unknown[0].startswith("-"):
        raise UserError(
            f"Unexpected argument '{unknown[0]}': every value needs its flag. Write --flag or "
            "--noflag or --flag=true, not '--flag true', for a flag that is on or off."
        )
    elif unknown:
        name = "--" + unknown[0].split("=")[0].lstrip("-")
        names = [*parser._option_string_actions, *(f"--{flag}" for flag in own_flags)]
        hint = wording.did_you_mean(name, names)
        raise UserError(
            f"{name} is neither a flag of {MAKER} nor an option of Apache Beam "
            f"{beam.__version__}.{hint}"
        )
    return pipeline_options.PipelineOptions(list(arguments))


def run(
    options: pipeline_options.PipelineOptions, add_to: Callable[[beam.Pipeline], None]
) -> runners.PipelineResult:
    """Runs the pipeline that `add_to` adds its steps to, and returns Beam's result.

    Raises:
      ValueError: raised so by a step (a worker's error comes as text; its sentence is found in it),
        or the job failed.
    """
    pipeline = beam.Pipeline(runner=_direct_runner(options), options=options)
    add_to(pipeline)
    try:
        result = pipeline.run()
        state = result.wait_until_finish()
    except Exception as error:
        message = user_error(str(error))
        if message is None:
            raise
        raise UserError(message) from error
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


def user_error(text: str) -> Optional[str]:
    """Returns the sentence of a ValueError or OSError in a traceback; None for other errors."""
    found = _USER_ERROR.findall(text)
    return found[-1] if found else None
