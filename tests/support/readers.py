# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The functions that read files, in one table: a valid file of each kind, and what reads it.

    files = Files(tmp_path)
    READERS["classifier.json"].read(files.write("classifier.json"))

`make fuzz` and tests/test_readers.py give them changed files: each must return a result, or raise a
UserError that names the file.
"""

import contextlib
import dataclasses
import gzip
import hashlib
import io
import json
import os
import pathlib
import tarfile
import tempfile
import typing
import zipfile

import numpy as np

from albert import modeling, tokenization
from albert.checkpoints import checkpoint_files, weights
from albert.classification import examples, sweep, tasks
from albert.classification.run import ClassifierTask
from albert.conversion import huggingface_files
from albert.data import parquet, record_files
from albert.demo import runs
from albert.downloads import archives, cache, transfer
from albert.downloads.settings import Source, TransferFlags
from albert.pretrained import exported, inference, model_vocabulary, warm_start
from albert.pretrained.settings import TextFlags
from albert.pretraining import cluster, documents, instances, job
from albert.race import examples as race_examples
from albert.race.run import RaceTask
from albert.squad import examples as squad_examples
from albert.squad.run import SquadV1, SquadV2
from albert.tagging import sentences
from albert.tagging.run import TaggingTask
from albert.training import distribution, evaluation, fine_tuned, fine_tuning, hooks
from albert.util import config_files, flags
from albert.util import files as files_lib
from tests.support import fine_tuned_models


class Reader(typing.NamedTuple):
    """How a kind of file is read."""

    content: typing.Any  # of a valid file: bytes, or a JSON value
    read: typing.Callable  # takes the path; returns what can be compared
    plain: typing.Any = None  # reads the bytes another way; the results must be equal
    place: typing.Any = None  # puts the bytes into the file that holds them
    names: typing.Tuple[str, ...] = ()  # what a message may name in place of the file


SHA256 = 64 * "a"
RECORDS = bytes.fromhex(
    "020000000000000078270b3461305190a7a8020000000000000078270b346131862ca6a2"
    "020000000000000078270b346132e7514e8a"
)
VOCABULARY = fine_tuned_models.VOCABULARY


def checkpoint_bytes():
    """The index and the data of a checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "model.ckpt-1")
        weights.write_checkpoint(prefix, {"a": np.float32([1, 2]), "b/c": np.float32([[3]])})
        return [path.read_bytes() for path in sorted(pathlib.Path(folder).glob("*.ckpt-1.*"))][::-1]


INDEX, DATA = checkpoint_bytes()
BESIDE = {  # in each folder
    "albert_config.json": json.dumps(fine_tuned_models.CONFIG).encode("ascii"),
    VOCABULARY.name: VOCABULARY.read_bytes(),
    "spiece.model": VOCABULARY.read_bytes(),
    f"{warm_start.BEST_CHECKPOINT}.index": b"",
    "model.ckpt-1.index": INDEX,
    "model.ckpt-1.data-00000-of-00001": DATA,
    "data": RECORDS,
    "data-00000-of-00001": RECORDS,
    "x.tar.gz": b"123",
}
SIDECAR = {
    "format_version": 1,
    "bytes": len(RECORDS),
    "count": 3,
    "fingerprint": {
        "maker": "create_pretraining_data",
        "text": [{"name": "a.txt"}],
        "counts": [1] * len(instances.Counts._fields),
    },
    "blocks": {"records": 64, "offsets": "0"},
}
DESCRIPTION = {
    "format_version": 1,
    "max_seq_length": 32,
    "do_lower_case": True,
    "spm_model_file": {
        "path": VOCABULARY.name,
        "sha256": files_lib.sha256(str(VOCABULARY)),
    },
}
METRICS = {"eval_accuracy": 0.5, "eval_loss": "NaN", "global_step": 1}
JSON_TASK = tasks.custom_task(text_a="text_a", label="label", labels="no,yes")
RUN = sweep.Run(tasks.get_task("cola"), "", 1, "", [], {"seed": 1, "files": {}, "samples": []})


class Files:
    """A folder for each kind of file, with what else its reader needs."""

    def __init__(self, folder):
        self._folder = pathlib.Path(str(folder))

    def write(self, kind, content=None):
        """Writes a file of a kind, by default the valid one; returns its path."""
        reader = READERS[kind]
        content = reader.content if content is None else content
        if not isinstance(content, bytes):
            content = json.dumps(content).encode("ascii")
        folder = self._folder / kind.split(" ")[-1].replace("/", "-")
        path = folder / kind.split(" ")[0]
        if not folder.exists():
            path.parent.mkdir(parents=True)
            for name, other in BESIDE.items():
                (folder / name).write_bytes(other)
        path.write_bytes(reader.place(content) if reader.place else content)
        return str(path)


MODEL_NAMES = ("--max_seq_length", "spm_model_file", "is missing or has changed")


def folder_of(path):
    return os.path.dirname(path)


# ---------------------------------------------------------------------------------------- readers


def read_model(kind, *names):
    """Reads the description of a model of a task; the flags that it decides."""

    def read(path):
        settings = flags.make(kind.flags, output_dir=folder_of(path), do_train=False)
        task = fine_tuned.set_up(settings, kind)
        task.served() or fine_tuned.check_description(task)
        recorded = [getattr(task.settings, name) for name in ("max_seq_length", *names)]
        return recorded, list(task.labels), task.vocabulary

    return read


def read_sidecar(path):
    base = os.path.join(folder_of(path), "data")
    record_files.why_stale(base, SIDECAR["fingerprint"])
    sidecar = record_files.read_sidecar(base)
    if sidecar:
        made_from = dict(SIDECAR["fingerprint"])
        job.check_ours(base, sidecar, sidecar.bytes, fingerprint=made_from)
    job.read_counts(base)
    return [len(file.offsets) for file in record_files.load([base])]


def read_index(path):
    base = os.path.join(folder_of(path), "data")
    return [file.count for file in record_files.load([base], folder=folder_of(path))]


def read_single(path):
    checkpoint = os.path.join(folder_of(path), "model.ckpt-1")
    return sorted(evaluation.recorded_metrics(checkpoint, folder_of(path)))


def read_summary(path):
    content = fine_tuning.read_summary(path)
    sweep.tabulate([dict(content, setting="")])
    return content["metric"]


def read_download(path):
    folder = path[: -len(".json")]
    os.makedirs(folder, exist_ok=True)
    cache.obtain(folder, [Source("https://localhost/x", SHA256)], lambda *_: None)


def read_note(path):
    settings = TransferFlags(time_limit_minutes=0.0001)
    transfer.fetch("http://localhost:1/x.tar.gz", path[: -len(".json")], settings)


def read_demo(path):
    with contextlib.redirect_stdout(io.StringIO()), runs.held(folder_of(path), "", m="base"):
        return "held"


def read_cluster(path):
    shards = dataclasses.replace(cluster.shards_of(path[: -len(".counts.json")]), count=1)
    return shards.report().get("counts")


def in_environment(read):
    """Reads TF_CONFIG from the environment."""

    def run(path):
        os.environ["TF_CONFIG"] = (
            pathlib.Path(path).read_bytes().decode("latin-1").replace("\0", "")
        )
        try:
            return read()
        finally:
            del os.environ["TF_CONFIG"]

    return run


def in_parquet(content):
    """A Parquet file with this metadata of the library `datasets`."""
    import pyarrow
    from pyarrow import parquet as writer

    table = pyarrow.table({"tags": [[0, 1]]})
    stream = io.BytesIO()
    writer.write_table(table.replace_schema_metadata({"huggingface": content}), stream)
    return stream.getvalue()


def parquet_bytes():
    import pyarrow
    from pyarrow import parquet as writer

    stream = io.BytesIO()
    writer.write_table(pyarrow.table({"text": ["a", "b"], "label": [0, 1]}), stream)
    return stream.getvalue()


def read_archive(path):
    with tempfile.TemporaryDirectory(dir=folder_of(path)) as folder:
        return sorted(archives.unpack(path, folder))


def read_lines(path):
    groups = inference.read_texts(flags.make(TextFlags, input_file=path))
    return [text for group in groups for text in group]


def tar_bytes():
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name in ("model/a", "model/" + 30 * "long/"):
            info = tarfile.TarInfo(name)
            info.size = 3
            archive.addfile(info, io.BytesIO(b"abc"))
    return stream.getvalue()


def zip_bytes():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model/a", "abc")
        archive.writestr("b", 100 * "abc")
    return stream.getvalue()


def safetensors_bytes():
    import safetensors.numpy

    return safetensors.numpy.save({"a": np.float32([[1, 2]]), "b": np.float16([3])})


# ------------------------------------------------------------------------- other ways to read


def plain_words(content):
    """The first word of each line of a vocabulary."""
    lines = content.decode("utf-8-sig").rstrip("\r\n").split("\n")
    return [(line.split() or [" "])[0] for line in lines]


def plain_documents(content):
    """The lines of a text that are not blank."""
    lines = content.decode("utf-8-sig").split("\n")
    return [line for line in (line.strip("\ufeff \t\r") for line in lines) if line.strip()]


def plain_records(content):
    """A changed record is none of those that were written."""
    known = [b"a0", b"a1", b"a2"]
    return known if content == RECORDS else None


def read_custom(path):
    task = tasks.custom_task(path)
    return task.labels, task.columns, task.metrics, task.files


CUSTOM = tasks.custom_task(text_a="0", label="1", labels="no,yes")
SQUAD = {
    "version": "1.1",
    "data": [
        {
            "title": "t",
            "paragraphs": [
                {
                    "context": "the king saw a bird",
                    "qas": [
                        {
                            "id": "1",
                            "question": "who ?",
                            "answers": [{"text": "king", "answer_start": 4}],
                            "is_impossible": False,
                        }
                    ],
                }
            ],
        }
    ],
}
RACE = {
    "id": "high1.txt",
    "article": "He left.",
    "questions": ["Who ?"],
    "options": [["he", "she", "it", "we"]],
    "answers": ["A"],
}
HUGGING_FACE = {
    **fine_tuned_models.CONFIG,
    "hidden_act": "gelu_new",
    "model_type": "albert",
    "architectures": ["AlbertForTokenClassification"],
    "id2label": {"0": "O", "1": "B-PER"},
    "tie_word_embeddings": True,
    "problem_type": None,
}


def lines_of(*values):
    return "".join(json.dumps(value) + "\n" for value in values).encode("ascii")


READERS = {
    # ---- JSON of ours
    ".data.meta.json": Reader(SIDECAR, read_sidecar),
    "record_index.json": Reader(
        {"files": {"data": {**SIDECAR, "state": [len(RECORDS), 1, 4096]}}}, read_index
    ),
    "eval_results.json": Reader(
        {
            "format_version": 1,
            "fingerprint": {},
            "best_step": 1,
            "results": [{"step": 1, "checkpoint": SHA256, "metrics": METRICS}],
        },
        lambda path: evaluation.read_results(folder_of(path)) is None,
    ),
    "eval_results.model.ckpt-1.json": Reader(
        {**METRICS, "checkpoint": "x/model.ckpt-1", "identity": hashlib.sha256(INDEX).hexdigest()},
        read_single,
    ),
    "run_summary.json": Reader(
        {
            "task": "cola",
            "metric": "matthew_corr",
            "seed": 1,
            "metrics": {"matthew_corr": 0.5},
            "model": {"size": "base", "presets": ["albert_base_v2"]},
        },
        read_summary,
    ),
    "sweep_run.json": Reader(
        {**RUN.identity, "is_finished": True},
        lambda path: sweep.is_finished(RUN._replace(folder=folder_of(path))),
    ),
    "model.json": Reader(
        {"format_version": 2, "sources": [{"url": "u", "size": 3, "sha256": SHA256}]},
        read_download,
        names=("--sha256",),
    ),
    "x.tar.gz.json": Reader(
        {"url": "http://localhost:1/x.tar.gz", "version": '"a"', "size": 3},
        read_note,
        names=("http://localhost:1/x.tar.gz",),
    ),
    "classifier.json": Reader(
        {
            **DESCRIPTION,
            "task": "custom",
            "labels": ["no", "yes"],
            "is_regression": False,
            "is_pair": False,
            "early_exit": True,
            "columns": ["text"],
        },
        read_model(ClassifierTask),
        names=MODEL_NAMES,
    ),
    "tagging.json": Reader(
        {**DESCRIPTION, "task": "tagging", "labels": ["O", "B-PER", "I-PER"], "tag_scheme": "BIO"},
        read_model(TaggingTask),
        names=(*MODEL_NAMES, "--tag_scheme", "--data_dir"),
    ),
    "squad.json 1": Reader(
        {
            **DESCRIPTION,
            "task": "squad_v1",
            "doc_stride": 8,
            "max_query_length": 8,
            "n_best_size": 20,
            "max_answer_length": 30,
        },
        read_model(SquadV1, *SquadV1.recorded_flags),
        names=MODEL_NAMES,
    ),
    "squad.json 2": Reader(
        {
            **DESCRIPTION,
            "task": "squad_v2",
            "doc_stride": 8,
            "max_query_length": 8,
            "n_best_size": 20,
            "max_answer_length": 30,
            "start_n_top": 5,
            "end_n_top": 5,
            "null_score_diff_threshold": -1.5,
        },
        read_model(SquadV2, *SquadV2.recorded_flags),
        names=MODEL_NAMES,
    ),
    "race.json": Reader(
        {**DESCRIPTION, "task": "race", "max_qa_length": 8},
        read_model(RaceTask, "max_qa_length"),
        names=(*MODEL_NAMES, "--max_qa_length"),
    ),
    "vocabulary.json": Reader(
        DESCRIPTION,
        lambda path: model_vocabulary.recorded(folder_of(path)),
        names=("missing",),
    ),
    "albert_config.json": Reader(
        fine_tuned_models.CONFIG,
        lambda path: modeling.parameter_counts(modeling.AlbertConfig.from_json_file(path)),
    ),
    "export.json": Reader(
        {"format": "onnx", "max_seq_length": 32},
        lambda path: exported.max_seq_length(os.path.join(folder_of(path), "model.onnx")),
    ),
    "data.counts.json": Reader(
        {
            "counts": dict.fromkeys(instances.Counts._fields, 1),
            "shards": 1,
            "bytes": [len(RECORDS)],
            "fingerprint": {},
        },
        read_cluster,
    ),
    "demo.json": Reader({"m": "base"}, read_demo),
    # ---- JSON that people or other programs write
    "task.json": Reader(
        {
            "name": "mine",
            "text_a": "text",
            "text_b": 2,
            "label": "label",
            "labels": ["no", "yes"],
            "metrics": ["f1"],
            "metric": "eval_accuracy",
            "header": True,
            "train_file": "a.tsv",
        },
        read_custom,
    ),
    "TF_CONFIG": Reader(
        {"cluster": {"worker": ["a:1", "b:2"]}, "task": {"type": "worker", "index": 0}},
        in_environment(distribution.read_cluster),
        names=("TF_CONFIG",),
    ),
    "config.json": Reader(
        HUGGING_FACE,
        lambda path: modeling.parameter_counts(huggingface_files.read_config(folder_of(path))[0]),
    ),
    "tokenizer_config.json": Reader(
        {"do_lower_case": True, "keep_accents": False, "model_max_length": 512},
        lambda path: huggingface_files.find_vocabulary(folder_of(path))[0],
    ),
    "tags.parquet": Reader(
        {
            "info": {
                "features": {
                    "tags": {
                        "feature": {"names": ["O", "B-PER"], "_type": "ClassLabel"},
                        "_type": "Sequence",
                    },
                }
            }
        },
        parquet.label_names,
        place=in_parquet,
    ),
    # ---- data
    "squad-data.json": Reader(
        SQUAD, lambda path: list(map(vars, squad_examples.read_squad_examples(path, True)))
    ),
    "RACE/dev/high/1.txt": Reader(
        RACE,
        lambda path: list(
            map(
                vars,
                race_examples.read_examples(
                    path[: -len("RACE/dev/high/1.txt")], "dev", levels=["high"]
                ),
            )
        ),
    ),
    "dev.jsonl": Reader(
        lines_of(
            {"text_a": "He left.", "label": "no"}, {"text_a": "It \ud83d\ude00", "label": "yes"}
        ),
        lambda path: list(map(vars, examples.read_file(JSON_TASK, path, "dev").examples)),
    ),
    "dev.tsv": Reader(
        b"He left .\tno\nIt rains .\tyes\n",
        lambda path: list(map(vars, examples.read_file(CUSTOM, path, "dev").examples)),
    ),
    "dev.csv": Reader(
        b'"He left, ""then""",no\r\n"It\nrains.",yes\r\n',
        lambda path: list(map(vars, examples.read_file(CUSTOM, path, "dev").examples)),
    ),
    "dev.parquet": Reader(parquet_bytes(), lambda path: list(parquet.read_rows(path))),
    "tags.conll": Reader(
        b"# x\nHe\tB-PER\nleft\tO\n\nIt\tO\n", lambda path: sentences.read(path, needs_tags=True)
    ),
    "tags.conllu": Reader(
        b"# text = Vamos\n1-2\tal\t_\n1\tVamos\tVERB\n2\tmar\tNOUN\n3\t.\tPUNCT\n",
        lambda path: sentences.read(path, 1),
    ),
    "tags.jsonl": Reader(
        lines_of({"tokens": ["He", "left"], "tags": ["B-PER", "O"]}), sentences.read
    ),
    "texts.txt": Reader(b"He left .\nIt rains .\n", read_lines),
    "texts.jsonl": Reader(lines_of({"text_a": "a"}, {"text_a": "b"}), read_lines),
    "texts.csv": Reader(b'text\n"a ""b"""\nc\n', read_lines),
    "text.txt": Reader(
        b"He left .\nIt rains , in Oslo .\n\nA bird sings .\n",
        lambda path: [
            line.strip("\ufeff \t\r")
            for document in documents.read_documents([path])
            for line in document.text.decode("utf-8", "replace").split("\n")
        ],
        plain=plain_documents,
    ),
    "text.jsonl": Reader(
        lines_of({"text": "He left .\nIt rains ."}, {"text": "A"}),
        lambda path: [document.text for document in documents.read_documents([path])],
    ),
    "text.txt.gz lines": Reader(
        b"He left .\n\nIt rains .\n",
        lambda path: [document.text for document in documents.read_documents([path])],
        place=gzip.compress,
    ),
    "text.txt.gz": Reader(
        gzip.compress(b"He left .\n\nIt rains .\n"),
        lambda path: [document.text for document in documents.read_documents([path])],
    ),
    # ---- other formats
    "vocab.txt": Reader(
        b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\t-1.5\n##s\n",
        lambda path: list(tokenization.load_vocab(path)),
        plain=plain_words,
    ),
    "tiny.model": Reader(
        VOCABULARY.read_bytes(),
        lambda path: tokenization.FullTokenizer(None, True, path).tokenize_text("the king"),
    ),
    "data": Reader(RECORDS, lambda path: list(record_files.records(path)), plain=plain_records),
    "data walked": Reader(RECORDS, record_files.count_records),
    "training_curve.csv": Reader(
        b"step,loss,learning_rate\n10,1.5,0.1\n20,1.25,\n", hooks.read_curve
    ),
    "checkpoint": Reader(
        b'model_checkpoint_path: "model.ckpt-best"\n',
        lambda path: checkpoint_files.named_in_state(folder_of(path)),
    ),
    "model.ckpt-1.index": Reader(
        INDEX, lambda path: sorted(weights.read_checkpoint(path[: -len(".index")]))
    ),
    "model.ckpt-1.data-00000-of-00001": Reader(
        DATA, lambda path: sorted(weights.read_checkpoint(path[: -len(".data-00000-of-00001")]))
    ),
    "run.toml": Reader(b'# x\ntrain_batch_size = 32\ntasks = ["mrpc"]\n', config_files.read),
    "archive.tar.gz": Reader(gzip.compress(tar_bytes()), read_archive),
    "archive.tar.gz members": Reader(tar_bytes(), read_archive, place=gzip.compress),
    "archive.zip": Reader(zip_bytes(), read_archive),
    "model.safetensors": Reader(
        safetensors_bytes(), lambda path: sorted(huggingface_files.read_weights(folder_of(path)))
    ),
}
JSON = [kind for kind, reader in READERS.items() if isinstance(reader.content, dict)]
FROM_PEOPLE = ("task.json", "squad-data.json", "RACE/dev/high/1.txt", "albert_config.json")
