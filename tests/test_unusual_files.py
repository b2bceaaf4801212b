# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is no file, no UTF-8 or no JSON is refused in a sentence; a full disk names the file."""

import json
import os
import resource

import pytest
import tensorflow.compat.v1 as tf

import albert
from albert import modeling, predictor, tokenization
from albert.classification import examples, tasks
from albert.data import batches, record_files, text_lines
from albert.pretraining import documents
from albert.squad import examples as squad_examples
from albert.training import evaluation, hooks
from albert.util import files
from albert.util.errors import UserError
from tests.support import squad_data

DEEP = b"[" * 100000
LATIN = '{"name": "Åse"}'.encode("latin-1")


def read_squad(path):
    return squad_examples.read_squad_examples(path, is_training=True)


JSON_READERS = {
    "config": modeling.AlbertConfig.from_json_file,
    "squad": read_squad,
    "task": tasks.custom_task,
    "classifier": lambda path: predictor.Predictor(os.path.dirname(path)),
}
READERS = {
    **JSON_READERS,
    "vocabulary": tokenization.load_vocab,
    "text": lambda path: list(documents.read_documents([path])),
    "table": examples.read_rows,
    "records": record_files.count_records,
    "hash": files.sha256,
    "lines": lambda path: text_lines.open_input(path).__enter__(),
    "curve": hooks.read_curve,
}


@pytest.mark.parametrize("kind", ["fifo", "zero"])
@pytest.mark.parametrize("name", sorted(set(READERS) - {"classifier"}))
def test_what_would_never_end_is_refused_by_each_reader(tmp_path, name, kind):
    path = "/dev/zero" if kind == "zero" else str(tmp_path / "x.json")
    if kind == "fifo":
        os.mkfifo(path)
    with pytest.raises(ValueError, match=path):
        READERS[name](path)


# ---------------------------------------------------------------------------------------------
# Neither UTF-8 nor JSON.


@pytest.mark.parametrize("content", [LATIN, DEEP, b"[1]", b"{"], ids=["latin", "deep", "list", "{"])
@pytest.mark.parametrize("name", JSON_READERS)
def test_a_garbled_json_file_is_named(tmp_path, content, name):
    path = tmp_path / "classifier.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="classifier.json"):
        JSON_READERS[name](str(path))


CLASSIFIER = {
    "format_version": 1,
    "task": "x",
    "max_seq_length": 8,
    "do_lower_case": True,
    "labels": ["a"],
    "is_regression": False,
}
LEDGER = {"format_version": 1, "fingerprint": {}, "best_step": None, "results": []}


@pytest.mark.parametrize(
    "read, name, content, key",
    [
        (albert.load, "classifier.json", dict(CLASSIFIER, max_seq_length="x"), "max_seq_length"),
        (albert.load, "vocabulary.json", {"vocab_file": {"path": 1}}, "vocab_file"),
        (evaluation.read_results, "eval_results.json", dict(LEDGER, best_step="x"), "best_step"),
    ],
)
def test_json_with_a_value_of_a_wrong_type_names_file_and_key(tmp_path, read, name, content, key):
    (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match=f"{name}.*{key}"):
        read(str(tmp_path))


# ---------------------------------------------------------------------------------------------
# SQuAD.


@pytest.mark.parametrize("start", [10**30, -1, 1.0, True, "4", None, [4]])
def test_an_impossible_answer_start_names_file_and_question(tmp_path, start):
    question = squad_data.question("q7", "?", ("dog", start))
    path = squad_data.write_squad(tmp_path, [squad_data.paragraph("the cat sat", question)])
    with pytest.raises(ValueError, match="(?s)squad.json.*q7"):
        read_squad(path)


# ---------------------------------------------------------------------------------------------
# Temporary files, and full disks.


@pytest.fixture
def small_disk():
    """Files of this process hold at most 64 KiB: the system refuses more as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def write_records(path):
    with batches.AtomicRecordWriter(path, {}) as writer:
        for _ in range(100):
            writer.write(b"x" * 5000)


def write_checkpoint(path):
    with tf.Graph().as_default(), tf.Session() as session, files.naming_path(path):
        tf.get_variable("v", [50000])
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, path)


@pytest.mark.parametrize(
    "write",
    [
        lambda path: files.atomic_write_text(path, "x" * 500000),
        write_records,
        write_checkpoint,
    ],
    ids=["text", "records", "checkpoint"],
)
def test_full_disk_names_the_file_and_leaves_nothing_half(tmp_path, small_disk, write):
    with pytest.raises(UserError, match="the_file"):
        write(str(tmp_path / "the_file"))
    assert not (tmp_path / "the_file").exists()
    assert not [name for name in os.listdir(str(tmp_path)) if ".tmp-" in name]
