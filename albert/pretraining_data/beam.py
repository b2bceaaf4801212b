# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes pretraining data with Apache Beam: the steps, file operations and runners of the job."""

import importlib
import os
import shutil
from typing import Any, Dict, Iterator, List, Optional, Sequence, Set

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.options import pipeline_options
from apache_beam.runners.portability import fn_api_runner, portable_runner

from albert.pretraining_data import cluster
from albert.pretraining_data import documents as text_documents
from albert.pretraining_data.documents import TextBlock, TextRange
from albert.pretraining_data.flags import BeamFlags
from albert.pretraining_data.instances import InstanceMaker, total
from albert.util import UserError, files, log, parallel, provenance

_SCRIPT = "create_pretraining_data_beam"
_RANGE_BYTES = 1 << 24  # bytes of text that a worker reads at a time
_COPY_BYTES = 1 << 22  # bytes to copy at a time
# Runners with a job server. The server has its own options, and checks them.
_WITH_JOB_SERVER = ("portablerunner", "flinkrunner", "sparkrunner", "prismrunner")


class BeamStorage(cluster.Storage):
    """File operations by Beam: local, gs://, s3://, hdfs://."""

    @staticmethod
    def find(pattern: str) -> Dict[str, int]:
        """Returns the paths that match a pattern, with the sizes in bytes."""
        (match,) = FileSystems.match([pattern])
        return {metadata.path: metadata.size_in_bytes for metadata in match.metadata_list}

    @staticmethod
    def read(path: str) -> Optional[bytes]:
        """Returns the content of a file; None if it does not exist."""
        if not FileSystems.exists(path):
            return None
        with _open(path) as stream:
            return stream.read()

    @staticmethod
    def remove(path: str) -> None:
        """Removes a file if it exists."""
        if FileSystems.exists(path):
            FileSystems.delete([path])

    @staticmethod
    def copy(source: str, path: str) -> None:
        """Copies a local file to `path`. Several workers may do so at a time."""
        if "://" not in path:
            cluster.Storage.copy(source, path)
            return
        folder, name = os.path.split(path)
        temporary = os.path.join(folder, f".{name}.tmp-{files.random_suffix()}")
        raw = CompressionTypes.UNCOMPRESSED
        try:
            with files.naming_path(path):
                with files.open_to_read(source) as content, FileSystems.create(
                    temporary, compression_type=raw
                ) as target:
                    shutil.copyfileobj(content, target, _COPY_BYTES)
                BeamStorage.remove(path)  # HDFS cannot rename to the name of an existing file
                FileSystems.rename([temporary], [path])
        finally:
            BeamStorage.remove(temporary)


def _open(path: str) -> Any:
    """Opens a file as a seekable stream, without decompression."""
    return FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)


class BeamEngine(cluster.Engine):
    """Beam, with the runner in `pipeline_options`."""

    storage = BeamStorage

    def __init__(self, flags: BeamFlags):
        self._flags = flags
        self._options = parse_options(flags.pipeline_options)
        values = self._options.get_all_options()
        self.name = " at ".join(filter(None, [values["runner"], values["job_endpoint"]])) or "Beam"

    def find_text(self, excluded: Sequence[str]) -> List[cluster.FileState]:
        """Returns the text files of --input_file."""
        paths = find_input(self._flags.input_file, excluded)
        return list(parallel.in_threads(_state, paths, "Looking at the text"))

    def run(
        self, text: List[cluster.FileState], maker: InstanceMaker, outputs: cluster.Shards
    ) -> None:
        """Runs the pipeline to its end."""
        ranges: List[TextRange] = []
        for path, size, _ in text:
            ranges += text_documents.split(path, size, _RANGE_BYTES)
        pipeline = beam.Pipeline(runner=_runner(self._options), options=self._options)
        add_steps(pipeline, ranges, maker, text_field=self._flags.text_field, outputs=outputs)
        pipeline.run().wait_until_finish()


def find_input(patterns: str, excluded: Sequence[str] = ()) -> List[str]:
    """Returns the sorted paths of text files, without duplicates.

    Args:
      patterns: comma-separated paths, patterns and local folders.
      excluded: files in folders to leave out.

    Raises:
      UserError: a pattern matches nothing.
    """
    paths: Set[str] = set()
    for pattern in files.split_paths(patterns):
        if "://" not in pattern:
            paths.update(text_documents.find_text_files(pattern, excluded=excluded))
            continue
        remote_paths = BeamStorage.find(pattern)
        if not remote_paths:
            raise UserError(
                f"--input_file: no file matches '{pattern}'. Check the path; name a remote folder "
                "by a pattern such as gs://bucket/text/*."
            )
        paths.update(remote_paths)
    return sorted(set(map(cluster.absolute, paths)))


def _state(path: str) -> cluster.FileState:
    size, mtime = FileSystems.get_filesystem(path).size(path), FileSystems.last_updated(path)
    with _open(path) as stream:
        return path, size, [mtime, provenance.sample(stream, size)]


# ------------------------------------------------------------------------------------------- steps


def add_steps(
    pipeline: beam.Pipeline,
    ranges: List[TextRange],
    maker: InstanceMaker,
    *,
    text_field: str,
    outputs: cluster.Shards,
) -> None:
    """Adds the steps of a job to a pipeline, from reading the text to NAME.counts.json.

    The steps use no tagged outputs, which DaskRunner lacks, and no side inputs, which DaskRunner
    computes again in each task.
    """
    keyed_records = (
        pipeline
        | "Ranges" >> beam.Create(ranges)
        | "SpreadRanges" >> beam.Reshuffle()
        | "Read" >> beam.FlatMap(_read, text_field)
        | "SpreadBlocks" >> beam.Reshuffle()
        # Workers get the maker as a pickle with all tables, so they do not read the vocabulary.
        | "MakeRecords" >> beam.FlatMap(cluster.shard_records, maker, outputs.count)
    )
    # Shards without records become files, too.
    empty = pipeline | "Empty" >> beam.Create([(number, []) for number in range(outputs.count)])
    _ = (
        (keyed_records, empty)
        | beam.Flatten()
        | "GroupByShard" >> beam.GroupByKey()
        | "WriteShards" >> beam.Map(_write, outputs)
        | "Gather" >> beam.GroupByKey()
        | "WriteCounts" >> beam.Map(lambda row: outputs.write_counts(dict(row[1])))
    )


def _read(text_range: TextRange, text_field: str) -> Iterator[TextBlock]:
    """Turns a range into blocks of documents."""
    with _open(text_range[0]) as stream:
        yield from cluster.blocks(text_range, stream, text_field)


def _write(row: Any, outputs: cluster.Shards) -> Any:
    """Writes a shard, (number, batches of records) -> (number, size), or adds up the counts."""
    number, values = row
    if number == cluster.COUNTS:
        return None, (number, tuple(total(values)))
    records = sorted(record for batch in values for record in batch)
    return None, (number, outputs.write_shard(number, records))


# ------------------------------------------------------------------------------------------ running


def parse_options(arguments: Sequence[str]) -> pipeline_options.PipelineOptions:
    """Returns the options of Beam in `arguments`.

    A runner with a job server also gets unknown options, with a warning.

    Raises:
      UserError: an argument is neither a flag of the script nor an option of Beam, or the runner
        cannot be imported.
    """
    standard = pipeline_options.PipelineOptions(list(arguments)).view_as(
        pipeline_options.StandardOptions
    )
    if "." in (standard.runner or ""):  # a class; its module may add options
        try:
            importlib.import_module(standard.runner.rpartition(".")[0])
        except ImportError as error:
            raise UserError(f"--runner={standard.runner}: {error}.") from error
    parser = pipeline_options._BeamArgumentParser(_SCRIPT, "see --help", allow_abbrev=False)
    for kind in pipeline_options.PipelineOptions.__subclasses__():
        kind._add_argparse_args(parser)  # as PipelineOptions does
    parsed, unknown = parser.parse_known_args(list(arguments))
    if unknown and str(parsed.runner).lower() in _WITH_JOB_SERVER:
        log.warning("Unknown options go to the job server: %s.", " ".join(unknown))
    elif unknown:
        raise UserError(f"'{unknown[0]}' is neither a flag of {_SCRIPT} nor an option of Beam.")
    return pipeline_options.PipelineOptions(list(arguments))


def _runner(options: pipeline_options.PipelineOptions) -> Any:
    """Returns the runner that the options name. The default is Beam's runner in Python.

    The default runner passes the options to its workers, and they log only warnings. From Beam 2.65
    on, Beam's DirectRunner downloads the program Prism and runs the pipeline on it. Here this needs
    --runner=PrismRunner.
    """
    values = options.get_all_options()
    name = values["runner"] or "direct"
    if name.lower() not in ("direct", "directrunner"):
        return name
    values["default_sdk_harness_log_level"] = values["default_sdk_harness_log_level"] or "WARNING"
    encoded = portable_runner.JobServiceHandle.encode_pipeline_options(values)
    runner = fn_api_runner.fn_runner
    information = runner.beam_provision_api_pb2.ProvisionInfo(pipeline_options=encoded)
    return fn_api_runner.FnApiRunner(provision_info=runner.ExtendedProvisionInfo(information))
