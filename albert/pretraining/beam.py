# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining data by Apache Beam: the same instances as on one machine, made by many.

    byte ranges of files -> documents in blocks -> instances -> shards in order of key -> files

The records are those of the one-machine job, in another order: neither runner, number of workers,
bundles nor ranges change an instance, nor does moving the files.

Every instance has a random 64-bit key. Shard n of N holds, sorted, the keys of the n-th N-th of all
keys, equal ones in order of their records: all shards together are one complete shuffle of the
corpus, and the same bytes in every run. A worker holds a shard's records while it writes them.

The counts are summed up as data, because Beam's counters count again what is tried again, and not
every runner returns them.
"""

import collections
import logging
import os
import re
import time
from typing import Any, Dict, Iterator, List, Sequence, Set, Tuple

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.options import pipeline_options
from apache_beam.runners.portability import fn_api_runner, portable_runner

from albert.pretrained import model_vocabulary
from albert.pretraining import documents as text_documents
from albert.pretraining import job, shards
from albert.pretraining.documents import TextBlock, TextRange
from albert.pretraining.instances import Counts, InstanceMaker, keyed_records, prepare, total
from albert.pretraining.settings import BeamFlags
from albert.util import files, many_files, provenance
from albert.util.errors import UserError

MAKER = "create_pretraining_data_beam"
FORMAT = 2  # raise it when the same settings give other records than before

_SHARD_TEXT = 1 << 26  # bytes in a shard, where the number is not given; records have about twice
_RANGE_BYTES = 1 << 24  # of text that a worker reads at a time
_UNPACKED = 4  # size of text divided by that of its gzip file
_COUNTS = -1  # stands where the number of a shard does, before counts
# Their job server has options of its own, and refuses those that it does not know.
_WITH_JOB_SERVER = ("portablerunner", "flinkrunner", "sparkrunner", "prismrunner")

_LOGGER = logging.getLogger("albert")

FileState = Tuple[str, int, float]  # path, bytes and time of change


def create_pretraining_data(settings: BeamFlags) -> str:
    """Makes the records by the runner that `pipeline_options` name, unless they are there already.

    Returns:
      The path of the file of counts.

    Raises:
      ValueError: a setting out of its range or that needs one machine, no text, names of output
        that cannot be used, an unfit vocabulary; or as `parse_options`, `Shards.make_way`, `run`.
    """
    started = time.time()
    options = parse_options(settings.pipeline_options)
    if settings.random_next_sentence:
        raise UserError(
            "--random_next_sentence needs neighbouring documents, which a cluster does not read "
            "together. Use create_pretraining_data on one machine."
        )
    # One bad line does not stop a job of hours: the line, or its bad bytes, are left out.
    bad_lines = "lines" if settings.input_file_mode == "r" else "rb"
    maker, (key, vocabulary, _) = prepare(settings, bad_lines=bad_lines)
    outputs = shards.shards_of(settings.output_file)
    but = list(filter(None, [vocabulary, settings.user_dictionary, outputs.counts]))
    paths = find_input(settings.input_file, but)
    states = list(many_files.each(_state, paths, "Looking at the text"))
    text = sum(size * _UNPACKED ** text_documents.is_compressed(path) for path, size, _ in states)
    outputs = outputs._replace(
        count=settings.num_shards or 1 + text * settings.dupe_factor // _SHARD_TEXT,
        fingerprint=_fingerprint(states, maker.fingerprint(vocabulary)),
    )
    ranges: List[TextRange] = []
    for path, size, _ in states:
        ranges += text_documents.split(path, size, _RANGE_BYTES)
    if not ranges:
        raise UserError("--input_file: every file is empty.")
    folder = os.path.dirname(outputs.base)
    copy = model_vocabulary.beside_records(folder, files.sha256(vocabulary), key)
    shards.write(copy, [files.read_bytes(vocabulary)])
    if outputs.report():
        _LOGGER.info("Nothing to do: the output was made from the same text and settings.")
    else:
        outputs.make_way(overwrite=settings.overwrite)
        pipeline = beam.Pipeline(runner=_runner(options), options=options)
        add_steps(pipeline, ranges, maker, text_field=settings.text_field, outputs=outputs)
        run(pipeline, outputs)
    job.report(Counts(**outputs.report()["counts"]), started)
    _LOGGER.info("Files: %d; %s", outputs.count, outputs.counts)
    return outputs.counts


def find_input(patterns: str, but: Sequence[str] = ()) -> List[str]:
    """Returns the text files that names, patterns and folders stand for, sorted, each once.

    Raises:
      ValueError: a pattern that matches nothing.
    """
    found: Set[str] = set()
    for pattern in files.split_paths(patterns):
        if "://" not in pattern:
            found.update(text_documents.find_files(pattern, "input_file", but=but))
            continue
        remote = shards.find(pattern)
        if not remote:
            raise UserError(
                f"--input_file: no file matches '{pattern}'. Check the path; name a remote folder "
                "by a pattern such as gs://bucket/text/*."
            )
        found.update(remote)
    return sorted(set(map(shards.absolute, found)))


def _state(path: str) -> FileState:
    return path, FileSystems.get_filesystem(path).size(path), FileSystems.last_updated(path)


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


def add_steps(
    pipeline: beam.Pipeline,
    ranges: List[TextRange],
    maker: InstanceMaker,
    *,
    text_field: str,
    outputs: shards.Shards,
) -> None:
    """Adds the steps of a job to a pipeline, from reading to the file of counts."""
    made = (
        pipeline
        | "Ranges" >> beam.Create(ranges)
        | "SpreadRanges" >> beam.Reshuffle()
        | "Read" >> beam.FlatMap(_read, text_field)
        | "SpreadBlocks" >> beam.Reshuffle()
        | "MakeRecords" >> beam.FlatMap(_make_records, maker, outputs.count)
    )
    # Not tagged outputs, which DaskRunner lacks.
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
        | "WriteShards" >> beam.Map(outputs.write_shard, beam.pvalue.AsSingleton(counts))
    )
    _ = counts | "WriteCounts" >> beam.Map(outputs.write_counts, beam.pvalue.AsDict(written))


def _read(one: TextRange, text_field: str) -> Iterator[TextBlock]:
    """A range -> blocks of documents."""
    with shards.open_raw(one[0]) as stream:
        found = text_documents.read_range(one, stream, text_field=text_field)
        yield from map(TextBlock, text_documents.grouped(found))


def _make_records(
    block: TextBlock, maker: InstanceMaker, num_shards: int
) -> Iterator[Tuple[int, Any]]:
    """A block -> (number of a shard, its records, each behind its key), and (_COUNTS, counts).

    The maker is pickled with its tables, so workers read no vocabulary.
    """
    records, counts = keyed_records(maker, block)
    rows = collections.defaultdict(list)
    for key, record in records:
        shard = key * num_shards >> (8 * shards.KEY_BYTES)
        rows[shard].append(key.to_bytes(shards.KEY_BYTES, "big") + record)
    yield from rows.items()
    yield _COUNTS, tuple(counts)


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


def run(pipeline: beam.Pipeline, outputs: shards.Shards) -> None:
    """Runs a pipeline that makes the outputs.

    Raises:
      ValueError: raised so by a step (a worker's error comes as text; its sentence is found in it),
        or the job ended early.
    """
    try:
        state = pipeline.run().wait_until_finish()
    except Exception as error:
        pattern = r"UserError: (.*?)(?: \[while running .*)?$"
        sentences = re.findall(pattern, str(error), re.MULTILINE)
        if not sentences:
            raise
        raise UserError(sentences[-1]) from error
    if not outputs.report():
        raise UserError(f"The job ended as {state}. The log of its runner says why.")


def _runner(options: pipeline_options.PipelineOptions) -> Any:
    """The runner that the options name, or Beam's own in Python.

    The latter's workers get the options, and log warnings only. From Beam 2.65 on, DirectRunner
    hands a pipeline to Prism, a program that it downloads for that; --runner=PrismRunner does so if
    that is wanted.
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
