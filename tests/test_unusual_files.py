# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A file without an end or a name in UTF-8 is refused; a full disk names the file."""

import os

import pytest
import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.checkpoints import checkpoint_files
from albert.classification import examples, tasks
from albert.data import parquet, record_files, text_lines
from albert.pretraining import documents
from albert.pretraining.settings import JobFlags
from albert.util import files, flags
from albert.util.errors import UserError
from tests.support import graphs
from tests.support.damaged_files import small_disk

READERS = {
    "vocabulary": tokenization.load_vocab,
    "text": lambda path: list(documents.read_documents([path])),
    "table": examples.read_rows,
    "records": record_files.count_records,
    "lines": lambda path: text_lines.open_input(path).__enter__(),
}


@pytest.mark.parametrize("name", READERS)
def test_reader_refuses_a_file_without_an_end(name):
    with pytest.raises(ValueError, match="/dev/zero"):
        READERS[name]("/dev/zero")


# ---------------------------------------------------------------------------------------------
# Names that are not UTF-8.

LISTERS = {
    "parquet": lambda folder: parquet.find(f"{folder}/*.parquet"),
    "task": lambda folder: tasks.task_folders(tasks.get_task("mrpc"), folder),
    "checkpoints": checkpoint_files.list_checkpoints,
    "text": lambda folder: documents.find_files(folder, "input_file"),
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
