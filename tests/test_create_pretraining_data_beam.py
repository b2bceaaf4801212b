# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script create_pretraining_data_beam: options, messages, outputs, and worker processes."""

import functools
import json
import os
import pathlib
import shutil

import pytest

from albert import create_pretraining_data_beam
from albert.data import record_files
from albert.pretraining import beam
from albert.util import config_files
from albert.util import flags as flags_lib
from tests.support import script_process

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
CORPUS = str(FIXTURES / "corpus.txt")
VOCAB = f"--vocab_file={FIXTURES / 'wordpiece_vocab.txt'}"
SMALL = ["--max_seq_length=32", "--max_predictions_per_seq=5", "--dupe_factor=1"]


def parse(*arguments):
    return flags_lib.parse(create_pretraining_data_beam.Flags, arguments)


def run_here(*arguments):
    create_pretraining_data_beam.main(parse(*arguments, VOCAB, *SMALL))


run_process = functools.partial(script_process.run_process, "create_pretraining_data_beam")


def arguments_for(folder, *others):
    return [f"--input_file={CORPUS}", f"--output_file={folder}/train-*.tf", *others]


def contents(folder):
    """The bytes of the files that are not hidden."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name[0] != "."}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the output for CORPUS in two shards, made in this process."""
    folder = tmp_path_factory.mktemp("made")
    run_here(*arguments_for(folder, "--num_shards=2"))
    record = config_files.read(f"{folder}/.train.counts.json.run.toml")
    assert record["num_shards"] == "2"
    return folder


@pytest.fixture
def again(made, tmp_path):
    """A copy of it that a test may change."""
    folder = tmp_path / "again"
    shutil.copytree(str(made), str(folder))
    return folder


# ---- real processes ------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_worker_processes_write_the_bytes_of_one(made, tmp_path):
    done = run_process(
        *arguments_for(tmp_path, "--num_shards=2", VOCAB, *SMALL),
        *("--runner", "DirectRunner"),
        "--direct_num_workers=2",
        "--direct_running_mode=multi_processing",
    )
    assert done.returncode == 0, done.stderr.decode()
    assert contents(tmp_path) == contents(made)
    counts = json.loads((made / "train.counts.json").read_text("utf-8"))["counts"]
    printed = done.stdout.decode()
    for name, value in counts.items():
        assert f"{name.replace('_', ' ')}: {value:,}\n" in printed
    assert f"{tmp_path}/train-*.tf (2 files)" in printed


@pytest.mark.slow
def test_a_mistake_is_one_line_and_beam_may_be_missing(tmp_path):
    prelude = "sys.modules['apache_beam'] = None"
    done = run_process(*arguments_for(tmp_path, VOCAB), prelude=prelude)
    last = done.stderr.decode().splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith("ERROR: ") and "pip install 'albert-tf[beam]'" in last


# ---- options -------------------------------------------------------------------------------------


def test_options_of_beam_reach_it_wherever_they_stand():
    settings = parse(
        "--runner=Flink", "--input_file=a", "--parallelism", "8", "--output_file=b", "--ngram=1"
    )
    assert settings.pipeline_options == ("--runner=Flink", "--parallelism", "8")
    options = beam.parse_options(settings.pipeline_options, own_flags=[])
    assert options.get_all_options()["parallelism"] == 8


@pytest.mark.parametrize(
    "argument, message",
    [
        ("--dupe_facto=3", "--dupe_factor"),
        ("--direct_num_worker=2", "--direct_num_workers"),
        ("--zzzzzzzz", "--zzzzzzzz"),
        ("true", "'true'"),
        ("--direct_num_workers=many", "--direct_num_workers"),
        ("--direct_running_mode=fast", "'fast'"),
    ],
)
def test_unknown_options_are_refused(argument, message):
    with pytest.raises(ValueError, match=message):
        beam.parse_options([argument], own_flags=["dupe_factor"])


def test_options_of_a_job_server_are_left_to_it_with_a_warning(caplog):
    arguments = ["--runner=FlinkRunner", "--checkpointing_interval=1000"]
    options = beam.parse_options(arguments, own_flags=[])
    assert options.get_all_options(retain_unknown_options=True)["checkpointing_interval"] == "1000"
    assert "--checkpointing_interval=1000" in caplog.text


# ---- outputs -------------------------------------------------------------------------------------


def outputs_of(folder, shards=2, text="t", maker="create_pretraining_data_beam"):
    fingerprint = {"maker": maker, "text": [{"name": text}]}
    return beam.shards_of(f"{folder}/train-*.tf")._replace(count=shards, fingerprint=fingerprint)


def test_current_output_is_left_alone_and_shown_again(made, capsys, caplog):
    before = {path.name: path.stat().st_mtime_ns for path in made.glob("train*")}
    caplog.set_level("INFO", logger="albert")
    run_here(*arguments_for(made, "--num_shards=2"))
    assert {path.name: path.stat().st_mtime_ns for path in made.glob("train*")} == before
    assert "Nothing to do" in caplog.text
    assert "instances: " in capsys.readouterr().out


@pytest.mark.slow
def test_output_that_is_not_whole_or_of_other_settings_is_made_again(again, made):
    pathlib.Path(outputs_of(again).shard(0)).unlink()
    run_here(*arguments_for(again, "--num_shards=2"))
    assert contents(again) == contents(made)
    run_here(*arguments_for(again, "--num_shards=2", "--random_seed=8"))
    assert sorted(contents(again)) == sorted(contents(made))
    assert contents(again)["train-00000-of-00002.tf"] != contents(made)["train-00000-of-00002.tf"]


@pytest.mark.parametrize("change", ["foreign", "appended", "counts", "shards", "text", "maker"])
def test_what_was_made_otherwise_is_replaced_only_when_told_to(again, change):
    shard = outputs_of(again).shard(0)
    made_from = record_files.read_sidecar(shard).fingerprint
    options = {"text": made_from["text"][0]["name"]}
    if change == "foreign":
        os.remove(record_files.sidecar_path(shard))
    elif change == "appended":
        with open(shard, "ab") as stream:
            stream.write(b"by hand")
    elif change == "counts":
        (again / "train.counts.json").write_text('{"mine": 1}')
    else:
        options[change] = 3 if change == "shards" else "another"
    before = contents(again)
    with pytest.raises(ValueError, match="--overwrite"):
        outputs_of(again, **options).make_way(overwrite=False)
    assert contents(again) == before
    outputs_of(again, **options).make_way(overwrite=True)
    left = {name for name in contents(again) if name.endswith(".tf")}
    assert left == (set() if change == "shards" else {n for n in before if ".tf" in n})


def test_a_folder_that_cannot_be_written_in_is_refused_before_the_work(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ValueError, match=f"{tmp_path}/file"):
        run_here(f"--input_file={CORPUS}", f"--output_file={tmp_path}/file/a")
