# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Odd files and names of files are refused by name; an ending may be in capitals."""

import gzip
import json
import os

import pytest
import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.data import parquet, record_files, rows
from albert.formats import model_paths
from albert.pretraining_data import documents
from albert.pretraining_data.flags import JobFlags
from albert.tasks.classification import registry
from albert.tasks.squad import examples as squad_examples
from albert.tasks.tagging import examples
from albert.util import UserError, files, flags
from tests.support import graphs, parquet_files
from tests.support.classification_data import texts_in
from tests.support.damaged_files import small_disk


def read_table(path):
    return [row.values for row in rows.read_rows([path])]


TEXT_READERS = {
    "vocabulary.txt": tokenization.load_vocab,
    "text.txt": lambda path: list(documents.read_documents([path])),
    "table.tsv": read_table,
    "tags.conll": examples.read,
    "lines.txt": texts_in,
}
READERS = {**TEXT_READERS, "records": record_files.count_records}


@pytest.mark.parametrize("name", READERS)
def test_reader_refuses_a_file_without_an_end(name):
    with pytest.raises(ValueError, match="/dev/zero"):
        READERS[name]("/dev/zero")


@pytest.mark.parametrize("name", TEXT_READERS)
def test_reader_refuses_lines_that_end_in_cr_alone(name, tmp_path):
    (tmp_path / name).write_bytes(b"a\rb\r")
    with pytest.raises(UserError, match=name):
        TEXT_READERS[name](str(tmp_path / name))


ROW = {"context": "a", "id": "1", "question": "a", "answers": {"text": ["a"], "answer_start": [0]}}


def test_ending_may_be_in_capitals(tmp_path):
    table = str(tmp_path / "IN.CSV")
    (tmp_path / "IN.CSV").write_text('"a, b",c\n', encoding="ascii")
    assert texts_in(table) == [("a, b", "c")]
    assert read_table(table) == [["a, b", "c"]]
    (tmp_path / "IN.JSONL").write_text('[\n{"text_a": "a"}\n]\n', encoding="ascii")
    for read in (texts_in, read_table):
        with pytest.raises(UserError, match="IN.JSONL:1"):
            read(str(tmp_path / "IN.JSONL"))
    path = parquet_files.write(tmp_path / "IN.PARQUET", {"text": ["a"]})
    assert read_table(path) == [{"text": "a"}]
    path = parquet_files.write(tmp_path / "DEV.PARQUET", {name: [ROW[name]] for name in ROW})
    assert [item.qas_id for item in squad_examples.read_squad_examples(path, True)] == ["1"]
    (tmp_path / "DEV.JSON.GZ").write_bytes(gzip.compress(json.dumps([ROW]).encode("ascii")))
    assert squad_examples.read_squad_examples(str(tmp_path / "DEV.JSON.GZ"), True)


# ---------------------------------------------------------------------------------------------
# Names that are not UTF-8.

LISTERS = {
    "parquet": lambda folder: parquet.find(f"{folder}/*.parquet"),
    "task": lambda folder: registry.task_folders(registry.get_task("mrpc"), folder),
    "checkpoints": model_paths.list_checkpoints,
    "text": documents.find_text_files,
    "pattern": lambda folder: files.expand_patterns(f"{folder}/*", "input_file"),
    "flag": lambda folder: flags.make(JobFlags, input_file=f"{folder}/{ODD_NAME}"),
}
ODD_NAME = os.fsdecode(b"\xff.txt")


@pytest.mark.parametrize("name", LISTERS)
def test_file_name_that_is_not_utf8_is_refused(name, tmp_path):
    (tmp_path / ODD_NAME).write_text("text")
    with pytest.raises(UserError, match=tmp_path.name):
        LISTERS[name](str(tmp_path))


# ---------------------------------------------------------------------------------------------
# Temporary files, and full disks.


def write_records(path):
    with record_files.create(path) as file:
        for _ in range(100):
            file.write(b"x" * 5000)


def write_checkpoint(path):
    with graphs.new_session() as session, files.naming_path(path):
        tf.get_variable("v", [50000])
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, path)


def write_text(path):
    files.atomic_write_text(path, "x" * 500000)


@pytest.mark.parametrize("write", [write_text, write_records, write_checkpoint])
def test_writer_on_a_full_disk_names_the_file(tmp_path, write):
    with small_disk(1 << 16), pytest.raises(UserError, match="the_file"):
        write(f"{tmp_path}/the_file")
    assert not (tmp_path / "the_file").exists()
    assert not [name for name in os.listdir(tmp_path) if ".tmp-" in name]
