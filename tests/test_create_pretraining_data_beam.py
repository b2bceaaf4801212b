# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining data by Apache Beam: the same data as on one machine, by a script with options."""

import collections
import functools
import json
import pathlib
import shutil

import pytest
import tensorflow.compat.v1 as tf

from albert import create_pretraining_data_beam
from albert.data import record_files
from albert.pretraining import beam, documents
from albert.util import config_files
from albert.util import flags as flags_lib
from tests.support import pretraining_records, processes
from tests.support.shared import sha256
from tests.support.squad_data import FIXTURES

CORPUS = FIXTURES / "corpus.txt"
# Beam 2.48 on Python 3.7 and Beam 2.77 on Python 3.11 both gave these. A change means that data
# made before cannot be made again: raise beam.FORMAT with it.
KNOWN_BYTES = "72a6cb9cc54427df5405d1e7827f58ac7add71798a9ca7e0182484b79aa5466a"
SHARD = "a-00000-of-00003.tf"
Made = collections.namedtuple("Made", "paths counts")

run_process = functools.partial(processes.run_script, "create_pretraining_data_beam")


def arguments_for(folder, more="", *, text=CORPUS, output="a-*.tf"):
    """The flags that make three shards."""
    return f"""--input_file={text} --output_file={folder}/{output} --num_shards=3 --random_seed=7
        --vocab_file={FIXTURES}/wordpiece_vocab.txt --max_seq_length=32 --dupe_factor=2
        --max_predictions_per_seq=5 {more}""".split()


def parse(arguments):
    return flags_lib.parse(create_pretraining_data_beam.Flags, arguments)


def create(folder, more="", **names):
    create_pretraining_data_beam.main(parse(arguments_for(folder, more, **names)))
    (counts,) = folder.glob("[!.]*.counts.json")
    paths = sorted(map(str, folder.glob("[!.]*-of-*")))
    return Made(paths, json.loads(counts.read_text("utf-8"))["counts"])


def records_in(made):
    return [record for path in made.paths for record in tf.python_io.tf_record_iterator(path)]


def contents(folder):
    """The bytes of the files that are not hidden."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name[0] != "."}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("made")


@pytest.fixture(scope="module")
def made(folder):
    """The output for CORPUS, made in this process."""
    return create(folder)


@pytest.fixture
def again(made, folder, tmp_path):
    """A copy of it that a test may change."""
    shutil.copytree(str(folder), str(tmp_path / "again"))
    return tmp_path / "again"


# ---- the records ---------------------------------------------------------------------------------


def test_both_runtimes_write_the_same_known_bytes_however_the_work_is_cut(
    made, folder, tmp_path, monkeypatch
):
    assert sha256(*made.paths) == KNOWN_BYTES
    assert config_files.read(f"{folder}/.a.counts.json.run.toml")["num_shards"] == "3"
    monkeypatch.setattr(documents, "BLOCK_BYTES", 500)
    monkeypatch.setattr(beam, "_RANGE_BYTES", 400)
    threads = "--direct_num_workers=2 --direct_running_mode=multi_threading"
    again = create(tmp_path, threads, output="b")
    assert sha256(*again.paths) == KNOWN_BYTES
    assert again.counts == made.counts


def test_counts_are_those_of_the_records_and_shards_cut_one_shuffle(made, tmp_path):
    one = create(tmp_path, "--num_shards=1")
    assert records_in(one) == records_in(made) != sorted(records_in(one))
    features = pretraining_records.read(one.paths[0], 32, 5)
    assert made.counts["documents"] == 15
    assert made.counts["instances"] == sum(map(record_files.count_records, made.paths))
    assert made.counts["predictions"] == features["masked_lm_weights"].sum()
    assert made.counts["label_one"] == features["next_sentence_labels"].sum()


def test_moving_the_text_changes_nothing_and_each_copy_has_masks_of_its_own(made, tmp_path):
    for name in ("moved/corpus.txt", "copy/other.txt"):
        (tmp_path / name).parent.mkdir()
        shutil.copy(str(CORPUS), str(tmp_path / name))
    moved = create(tmp_path / "b", text=tmp_path / "moved/*")
    assert sha256(*moved.paths) == KNOWN_BYTES
    both = create(tmp_path / "c", text=f"{CORPUS},{tmp_path}/copy")
    assert both.counts["documents"] == 30
    once, twice = set(records_in(made)), set(records_in(both))
    assert once < twice and len(twice) > 1.8 * len(once)


def test_bad_lines_are_left_out_counted_and_named(tmp_path, caplog):
    (tmp_path / "a.txt").write_bytes(CORPUS.read_bytes() + b"\n\nb\xe9ta beta.\nThe sea.\n")
    (tmp_path / "b.jsonl").write_bytes(b'{"text": "The clock was old."}\n{"no": 1}\n')
    counts = create(tmp_path / "out", text=f"{tmp_path}/*").counts
    assert (counts["documents"], counts["bad_lines"], counts["bad_documents"]) == (17, 1, 1)
    assert f"{tmp_path}/b.jsonl" in caplog.text and f"{tmp_path}/a.txt" in caplog.text


def test_text_that_is_none_is_a_one_line_error_of_the_whole_job_and_leaves_no_shard(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"b\xe9ta.\n" * 20)
    with pytest.raises(ValueError, match="^--input_file: .*$"):
        create(tmp_path / "out", text=tmp_path / "a.txt")
    assert not list(tmp_path.glob("out/*-of-*"))


@pytest.mark.parametrize(
    "text, output, more",
    [
        ("text.txt", "a", "--random_next_sentence"),
        ("nothing*", "a", ""),
        ("empty.txt", "a", ""),
        ("text.txt", "a,b", ""),
        ("text.txt", "tr*in", ""),
        ("text.txt", "text.txt/a", ""),
    ],
)
def test_mistakes_are_found_before_the_work_begins(text, output, more, tmp_path):
    (tmp_path / "text.txt").write_text("The sea.\n\nThe sun.\n")
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(ValueError):
        create(tmp_path, more, text=tmp_path / text, output=output)
    assert len(list(tmp_path.iterdir())) == 2


# ---- real processes ------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_workers_write_the_bytes_of_one(made, folder, tmp_path):
    workers = "--direct_num_workers=2 --direct_running_mode=multi_processing"
    done = run_process(*arguments_for(tmp_path, f"--runner DirectRunner {workers}"))
    assert done.returncode == 0, done.stderr.decode()
    assert contents(tmp_path) == contents(folder)
    assert f"instances: {made.counts['instances']:,}".encode() in done.stderr


@pytest.mark.slow
def test_missing_beam_is_one_line(tmp_path):
    done = run_process(*arguments_for(tmp_path), prelude="sys.modules['apache_beam'] = None")
    last = done.stderr.decode().splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith("ERROR: ") and "pip install 'albert-tf[beam]'" in last


# ---- options -------------------------------------------------------------------------------------


def test_beam_options_are_taken_anywhere():
    given = "--runner=Flink --input_file=a --parallelism 8 --output_file=b --ngram=1"
    settings = parse(given.split())
    assert settings.pipeline_options == ("--runner=Flink", "--parallelism", "8")
    options = beam.parse_options(settings.pipeline_options)
    assert options.get_all_options()["parallelism"] == 8


@pytest.mark.parametrize(
    "argument", ["--dupe_facto=3", "--direct_num_worker=2", "--zzzzzzzz", "true"]
)
def test_unknown_option_is_refused(argument):
    with pytest.raises(ValueError, match=argument):
        beam.parse_options([argument])


def test_job_server_options_are_kept_with_a_warning(caplog):
    arguments = ["--runner=FlinkRunner", "--checkpointing_interval=1000"]
    options = beam.parse_options(arguments)
    assert options.get_all_options(retain_unknown_options=True)["checkpointing_interval"] == "1000"
    assert "--checkpointing_interval=1000" in caplog.text


# ---- outputs -------------------------------------------------------------------------------------


def test_current_output_is_kept_and_shown(made, folder, caplog):
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("a*")}
    caplog.set_level("INFO", logger="albert")
    create(folder)
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("a*")} == before
    assert "Nothing to do" in caplog.text
    assert "instances: " in caplog.text


@pytest.mark.slow
def test_incomplete_or_stale_output_is_made_again(again, folder):
    (again / SHARD).unlink()
    create(again)
    assert contents(again) == contents(folder)
    create(again, "--random_seed=8")
    assert sorted(contents(again)) == sorted(contents(folder))
    assert contents(again)[SHARD] != contents(folder)[SHARD]


@pytest.mark.parametrize("name", ["a.counts.json", SHARD])
def test_foreign_file_is_not_replaced(again, name):
    (again / name).write_text('{"mine": 1}')
    before = contents(again)
    with pytest.raises(ValueError, match="--overwrite"):
        create(again)
    assert contents(again) == before
