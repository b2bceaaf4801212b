# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script create_pretraining_data_beam: options, messages, outputs, and worker processes."""

import functools
import shutil

import pytest

from albert.commands import create_pretraining_data_beam
from albert.pretraining_data import beam
from albert.util import flags as flags_lib
from tests.support import FIXTURES, processes, read_json

SHARD = "train-00000-of-00002.tf"
CORPUS = f"--input_file={FIXTURES}/corpus.txt"
SMALL = f"""--vocab_file={FIXTURES}/wordpiece_vocab.txt --max_seq_length=32 --dupe_factor=1
    --max_predictions_per_seq=5"""


def arguments_for(folder, more=""):
    """The flags that make two shards."""
    return f"{CORPUS} --output_file={folder}/train-*.tf --num_shards=2 {SMALL} {more}".split()


def parse(arguments):
    return flags_lib.parse(create_pretraining_data_beam.Flags, arguments)


def run_here(folder, more=""):
    create_pretraining_data_beam.main(parse(arguments_for(folder, more)))


run_process = functools.partial(processes.run_script, "create_pretraining_data_beam")


def contents(folder):
    """The bytes of the files that are not hidden."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name[0] != "."}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the output for CORPUS in two shards, made in this process."""
    folder = tmp_path_factory.mktemp("made")
    run_here(folder)
    assert flags_lib.read_toml(f"{folder}/.train.counts.json.run.toml")["num_shards"] == "2"
    return folder


@pytest.fixture
def again(made, tmp_path):
    """A copy of it that a test may change."""
    folder = tmp_path / "again"
    shutil.copytree(made, folder)
    return folder


# ---- real processes ------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_workers_write_the_bytes_of_one(made, tmp_path):
    workers = "--direct_num_workers=2 --direct_running_mode=multi_processing"
    done = run_process(*arguments_for(tmp_path, f"--runner DirectRunner {workers}"))
    assert done.returncode == 0, done.stderr.decode()
    assert contents(tmp_path) == contents(made)
    counts = read_json(made / "train.counts.json")["counts"]
    assert f"instances: {counts['instances']:,}".encode() in done.stderr


@pytest.mark.slow
def test_missing_beam_is_one_line(tmp_path):
    done = run_process(*arguments_for(tmp_path), prelude="sys.modules['apache_beam'] = None")
    last = done.stderr.decode().splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith("ERROR: ") and "pip install 'albert-tf[beam]'" in last


# ---- options -------------------------------------------------------------------------------------


def test_beam_options_are_taken_anywhere():
    given = "--runner=Flink --input_file=a --parallelism 8 --output_file=b --ngram=1"
    flags = parse(given.split())
    assert flags.pipeline_options == ("--runner=Flink", "--parallelism", "8")
    assert beam.parse_options(flags.pipeline_options).get_all_options()["parallelism"] == 8


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


def test_current_output_is_kept_and_shown(made, caplog):
    before = {path.name: path.stat().st_mtime_ns for path in made.glob("train*")}
    caplog.set_level("INFO", logger="albert")
    run_here(made)
    assert {path.name: path.stat().st_mtime_ns for path in made.glob("train*")} == before
    assert "Nothing to do" in caplog.text
    assert "instances: " in caplog.text


@pytest.mark.slow
def test_incomplete_or_stale_output_is_made_again(again, made):
    (again / SHARD).unlink()
    run_here(again)
    assert contents(again) == contents(made)
    run_here(again, "--random_seed=8")
    assert sorted(contents(again)) == sorted(contents(made))
    assert contents(again)[SHARD] != contents(made)[SHARD]


@pytest.mark.parametrize("name", ["train.counts.json", SHARD])
def test_foreign_file_is_not_replaced(again, name):
    (again / name).write_text('{"mine": 1}')
    (copy,) = again.glob(".vocabulary-*")
    copy.unlink()
    before = contents(again)
    with pytest.raises(ValueError, match="--overwrite"):
        run_here(again)
    assert contents(again) == before and not copy.exists()


def test_unwritable_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ValueError, match=f"{tmp_path}/file"):
        run_here(tmp_path / "file")
