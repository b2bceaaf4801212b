# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The functions that read files, in one table: a valid file of each kind, and what reads it.

    files = Files(tmp_path)
    READERS["classifier.json"].read(files.write("classifier.json"))

`make fuzz` and tests/test_readers.py give them changed files: each must return a result, or raise a
UserError that names the file.
"""

import contextlib
import gzip
import hashlib
import io
import json
import os
import pathlib
import tempfile
import typing

import numpy as np
import pyarrow
import safetensors.numpy
from pyarrow import parquet as pyarrow_parquet

from albert import tokenization
from albert.commands.demo import runs
from albert.configs import model_config
from albert.data import parquet, record_files
from albert.downloads import archives, transfer, verified_cache
from albert.downloads.flags import Source, TransferFlags
from albert.formats import (
    checkpoints,
    exported,
    huggingface_files,
    huggingface_tokenizer,
    model_paths,
    model_vocabulary,
)
from albert.formats.flags import ConversionFlags
from albert.formats.model_vocabulary import Vocabulary
from albert.pretraining_data import cluster, documents, instances, job
from albert.tasks.classification import examples, registry, sweep, sweep_run
from albert.tasks.classification.task import ClassifierTask
from albert.tasks.race import choice_rows
from albert.tasks.race import examples as race_examples
from albert.tasks.race.task import RaceTask
from albert.tasks.squad import examples as squad_examples
from albert.tasks.squad.task import SquadV1, SquadV2
from albert.tasks.tagging import examples as tagging_examples
from albert.tasks.tagging.task import TaggingTask
from albert.training import distribution, evaluation, fine_tuned, fine_tuning, hooks
from albert.util import flags as flags_lib
from tests.support import (
    FIXTURES,
    classification_data,
    fine_tuned_models,
    public_archives,
    read_json,
)


class Reader(typing.NamedTuple):
    """How a kind of file is read."""

    read: typing.Callable  # takes the path; returns what can be compared
    names: typing.Tuple[str, ...] = ()  # what a message may name in place of the file
    plain: typing.Any = None  # reads the bytes another way; the results must be equal
    place: typing.Any = None  # puts the bytes into the file that holds them


# ------------------------------------------------------------------------------- valid files

VOCABULARY = fine_tuned_models.VOCABULARY
# By kind: a file's name, and perhaps a word behind it. Bytes, or JSON values.
CONTENTS = read_json(FIXTURES / "readers.json")
CONTENTS = {
    kind: content.encode("utf-8") if isinstance(content, str) else content
    for kind, content in CONTENTS.items()
}
JSON = [kind for kind, content in CONTENTS.items() if not isinstance(content, bytes)]
FROM_PEOPLE = ("task.json", "squad-data.json", "RACE/dev/high/1.txt", "albert_config.json")
RECORDS = bytes.fromhex(
    "020000000000000078270b3461305190a7a8020000000000000078270b346131862ca6a2"
    "020000000000000078270b346132e7514e8a"
)


def parquet_bytes(columns, metadata=None):
    stream = io.BytesIO()
    pyarrow_parquet.write_table(pyarrow.table(columns).replace_schema_metadata(metadata), stream)
    return stream.getvalue()


def checkpoint_files_of(prefix, **values):
    """The bytes of a checkpoint's files by their ends."""
    with tempfile.TemporaryDirectory() as folder:
        checkpoints.write(os.path.join(folder, prefix), values)
        return {path.name: path.read_bytes() for path in pathlib.Path(folder).glob(f"{prefix}.*")}


CHECKPOINT = checkpoint_files_of("model.ckpt-1", a=np.float32([1, 2]), b=np.float32([[3]]))
CONTENTS.update(CHECKPOINT)
index = hashlib.sha256(CHECKPOINT["model.ckpt-1.index"]).hexdigest()
CONTENTS["eval_results.model.ckpt-1.json"]["identity"] = index
CONTENTS["data.counts.json"]["counts"] = dict.fromkeys(instances.Counts._fields, 1)
TAR = public_archives.tarred(dict.fromkeys(("model/a", "model/" + 30 * "long/"), "abc"))
CONTENTS.update(
    {
        "archive.tar.gz": TAR,
        "archive.tar.gz members": gzip.decompress(TAR),
        "archive.zip": public_archives.zipped({"model/a": "abc", "b": 100 * "abc"}),
        "data": RECORDS,
        "data walked": RECORDS,
        "dev.parquet": parquet_bytes({"text": ["a", "b"], "label": [0, 1]}),
        "texts.parquet": parquet_bytes({"text_a": ["a", "b"]}),
        "model.safetensors": safetensors.numpy.save({"a": np.float32([[1, 2]])}),
        "text.txt.gz": gzip.compress(CONTENTS["text.txt"]),
        "tiny.model": VOCABULARY.read_bytes(),
    }
)
BESIDE = {  # in each folder
    **CHECKPOINT,
    "albert_config.json": json.dumps(fine_tuned_models.CONFIG).encode("ascii"),
    VOCABULARY.name: VOCABULARY.read_bytes(),
    "spiece.model": VOCABULARY.read_bytes(),
    f"{model_paths.BEST_CHECKPOINT}.index": b"",
    "data": RECORDS,
    "data-00000-of-00001": RECORDS,
    "x.tar.gz": b"123",
}


class Files:
    """A folder for each kind of file, with what else its reader needs."""

    def __init__(self, folder):
        self._folder = pathlib.Path(folder)

    def write(self, kind, content=None):
        """Writes a file of a kind, by default the valid one; returns its path."""
        place = READERS[kind].place
        content = CONTENTS[kind] if content is None else content
        if not isinstance(content, bytes):
            content = json.dumps(content).encode("ascii")
        folder = self._folder / kind.split(" ")[-1].replace("/", "-")
        path = folder / kind.split(" ")[0]
        if not folder.exists():
            path.parent.mkdir(parents=True)
            for name, other in BESIDE.items():
                (folder / name).write_bytes(other)
        path.write_bytes(place(content) if place else content)
        return str(path)


def folder_of(path):
    return os.path.dirname(path)


# ---------------------------------------------------------------------------------- JSON of ours


def model(kind, *names):
    """Reads the description of a model of a task: the flags that it decides, and the vocabulary."""

    def read(path):
        flags = flags_lib.make(kind.flags_class, output_dir=folder_of(path), do_train=False)
        task = fine_tuned.set_up(flags, kind)
        task.describe(is_export=True)
        fine_tuned.check_description(task)
        recorded = [getattr(task.flags, name) for name in kind.recorded_flags]
        return task.flags.max_seq_length, recorded, list(task.labels), task.vocabulary

    usual = ("--max_seq_length", "spm_model_file", "is missing or has changed")
    return Reader(read, (*usual, *names))


def read_sidecar(path):
    base = os.path.join(folder_of(path), "data")
    made_from = CONTENTS[".data.meta.json"]["fingerprint"]
    record_files.why_stale(base, made_from)
    sidecar = record_files.read_sidecar(base)
    if sidecar:
        job.check_replaceable(base, sidecar, sidecar.bytes, fingerprint=dict(made_from))
    return [len(file.offsets) for file in record_files.load_metadata([base])]


def read_index(path):
    folder = folder_of(path)
    return [item.count for item in record_files.load_metadata([f"{folder}/data"], folder=folder)]


def read_ledger(path):
    ledger = evaluation.read_ledger(folder_of(path))
    return ledger.get("best_step"), [sorted(result["metrics"]) for result in ledger["results"]]


def read_single(path):
    folder = folder_of(path)
    return sorted(evaluation.recorded_metrics(os.path.join(folder, "model.ckpt-1"), folder))


def read_summary(path):
    content = fine_tuning.read_summary(path)
    sweep.tabulate([dict(content, setting="")])
    return content["metric"]


def read_marker(path):
    identity = {"seed": 1, "files": {}, "samples": []}
    cola = registry.get_task("cola")
    return sweep_run.is_finished(sweep_run.SweepRun(cola, "", 1, folder_of(path), [], identity))


def read_download(path):
    folder = path[: -len(".json")]
    os.makedirs(folder, exist_ok=True)
    verified_cache.obtain(folder, [Source("https://localhost/x", 64 * "a")], lambda *_: None)


def read_note(path):
    flags = TransferFlags(time_limit_minutes=0.0001)
    transfer.fetch("http://localhost:1/x.tar.gz", path[: -len(".json")], flags)


def read_counts(path):
    base, ending = cluster.split_name(path[: -len(".counts.json")])
    return cluster.Shards(base, ending, 1, {}, cluster.Storage).report().get("counts")


def read_demo(path):
    with contextlib.redirect_stdout(io.StringIO()), runs.open_run(folder_of(path), "", m="base"):
        return True


# ------------------------------------------------------------- JSON of people and other programs


def read_custom(path):
    task = registry.custom_task(path)
    return task.labels, task.columns, task.metrics, task.files


def read_cluster(path):
    content = pathlib.Path(path).read_bytes().decode("latin-1")
    os.environ["TF_CONFIG"] = content.replace("\0", "")
    try:
        return distribution.read_cluster()
    finally:
        del os.environ["TF_CONFIG"]


def read_config(path):
    return model_config.parameter_counts(huggingface_files.read_model_config(folder_of(path))[0])


def read_tokenizer(path):
    flags = {"direction": "from_huggingface", "input_dir": folder_of(path), "output_dir": "x"}
    return huggingface_tokenizer.read_vocabulary(flags_lib.make(ConversionFlags, **flags))


def tokenizer_json():
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = Vocabulary("spm_model_file", str(VOCABULARY), True)
        huggingface_tokenizer.write_vocabulary(folder, vocabulary, 32)
        return read_json(f"{folder}/tokenizer.json")


def read_race(path):
    folder = path[: -len("RACE/dev/high/1.txt")]
    return list(map(vars, race_examples.read_examples(folder, "dev", levels=["high"])))


# ------------------------------------------------------------------------------------------ data


def labelled(text, label):
    """Reads texts of two labels from a file."""
    task = registry.custom_task(text_a=text, label=label, labels="no,yes")
    return Reader(lambda path: list(map(vars, examples.read_file(task, path, "dev").examples)))


def read_text(path):
    texts = [
        document.text.decode("utf-8", "replace") for document in documents.read_documents([path])
    ]
    lines = (line.strip("\ufeff \t\r") for text in texts for line in text.split("\n"))
    return list(filter(None, lines))


def plain_text(content):
    """The lines of a text that are not blank."""
    lines = [line.strip("\ufeff \t\r") for line in content.decode("utf-8-sig").split("\n")]
    return [line for line in lines if line.strip()]


# ------------------------------------------------------------------------------- other formats


def plain_words(content):
    """The first word of each line of a vocabulary."""
    lines = content.decode("utf-8-sig").rstrip("\r\n").split("\n")
    words = [(line.split() or [" "])[0] for line in lines]
    return words if words.count(" ") < 2 else None


def read_checkpoint(path):
    prefix = os.path.join(folder_of(path), "model.ckpt-1")
    return {name: value.tolist() for name, value in checkpoints.read(prefix).items()}


def read_archive(path):
    with tempfile.TemporaryDirectory(dir=folder_of(path)) as folder:
        return sorted(archives.unpack(path, folder))


READERS = {
    ".data.meta.json": Reader(read_sidecar),
    "record_index.json": Reader(read_index),
    "eval_results.json": Reader(read_ledger),
    "eval_results.model.ckpt-1.json": Reader(read_single),
    "run_summary.json": Reader(read_summary),
    "sweep_run.json": Reader(read_marker),
    "model.json": Reader(read_download, ("--sha256",)),
    "x.tar.gz.json": Reader(read_note, ("http://localhost:1/x.tar.gz",)),
    "classifier.json": model(ClassifierTask),
    "tagging.json": model(TaggingTask, "--tag_scheme", "--data_dir"),
    "squad.json 1": model(SquadV1),
    "squad.json 2": model(SquadV2),
    "race.json": model(RaceTask, "--max_qa_length"),
    "vocabulary.json": Reader(
        lambda path: model_vocabulary.recorded(folder_of(path)), ("is missing or has changed",)
    ),
    "albert_config.json": Reader(
        lambda path: model_config.parameter_counts(model_config.AlbertConfig.from_json_file(path))
    ),
    "export.json": Reader(
        lambda path: exported.max_seq_length(f"{folder_of(path)}/onnx/model.onnx")
    ),
    "data.counts.json": Reader(read_counts),
    "demo.json": Reader(read_demo),
    "task.json": Reader(read_custom),
    "TF_CONFIG": Reader(read_cluster),
    "config.json": Reader(read_config),
    "tokenizer_config.json": Reader(read_tokenizer),
    "tokenizer.json": Reader(read_tokenizer, ("spiece.model",)),
    "tags.parquet": Reader(
        parquet.label_names,
        place=lambda content: parquet_bytes({"tags": [[0, 1]]}, {"huggingface": content}),
    ),
    "squad-data.json": Reader(
        lambda path: list(map(vars, squad_examples.read_squad_examples(path, True)))
    ),
    "RACE/dev/high/1.txt": Reader(read_race),
    "dev.jsonl": labelled("text_a", "label"),
    "dev.tsv": labelled("0", "1"),
    "dev.csv": labelled("0", "1"),
    "dev.parquet": Reader(lambda path: list(parquet.read_rows(path))),
    "tags.conll": Reader(tagging_examples.read),
    "tags.conllu": Reader(lambda path: tagging_examples.read(path, 1)),
    "tags.jsonl": Reader(tagging_examples.read),
    "choices.jsonl": Reader(lambda path: list(map(vars, choice_rows.read([path])))),
    "texts.txt": Reader(classification_data.texts_in),
    "texts.jsonl": Reader(classification_data.texts_in),
    "texts.csv": Reader(classification_data.texts_in),
    "texts.parquet": Reader(classification_data.texts_in),
    "text.txt": Reader(read_text, plain=plain_text),
    "text.jsonl": Reader(read_text),
    "text.txt.gz": Reader(read_text),
    "text.txt.gz lines": Reader(read_text, plain=plain_text, place=gzip.compress),
    "vocab.txt": Reader(lambda path: list(tokenization.load_vocab(path)), plain=plain_words),
    "tiny.model": Reader(
        lambda path: tokenization.FullTokenizer(None, True, path).tokenize_text("the king")
    ),
    # What is changed is none of the records.
    "data": Reader(
        lambda path: list(record_files.records(path)),
        plain=lambda content: [b"a0", b"a1", b"a2"] if content == RECORDS else None,
    ),
    "data walked": Reader(record_files.count_records),
    "training_curve.csv": Reader(hooks.read_curve),
    "checkpoint": Reader(lambda path: model_paths.named_in_state(folder_of(path))),
    "model.ckpt-1.index": Reader(read_checkpoint),
    "model.ckpt-1.data-00000-of-00001": Reader(read_checkpoint),
    "run.toml": Reader(flags_lib.read_toml),
    "archive.tar.gz": Reader(read_archive),
    "archive.tar.gz members": Reader(read_archive, place=gzip.compress),
    "archive.zip": Reader(read_archive),
    "model.safetensors": Reader(
        lambda path: sorted(huggingface_files.read_weights(folder_of(path)))
    ),
}
CONTENTS["tokenizer.json"] = tokenizer_json()
