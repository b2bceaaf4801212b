# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script create_pretraining_data: flags, messages, and real processes."""

import functools
import gzip
import json
import pathlib
import signal

import pytest

from albert import create_pretraining_data
from albert.data import record_files
from albert.util import config_files, files
from albert.util import flags as flags_lib
from tests.support import script_process

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
MODEL = str(FIXTURES / "tiny.model")
VOCAB = str(FIXTURES / "wordpiece_vocab.txt")
CORPUS = str(FIXTURES / "corpus.txt")
SMALL = ["--max_seq_length=32", "--max_predictions_per_seq=5", "--dupe_factor=2"]


def parse(*arguments):
    return flags_lib.parse(create_pretraining_data.Flags, list(arguments))


def run_here(*arguments):
    create_pretraining_data.main(parse(*arguments))


run_process = functools.partial(script_process.run_process, "create_pretraining_data")


def content(path):
    with open(str(path), "rb") as stream:
        return stream.read()


# ---- flags ---------------------------------------------------------------------------------------


def test_flags_of_the_reference_are_there_with_its_defaults():
    settings = parse("--input_file=a", "--output_file=b").to_dict()
    reference = {
        "vocab_file": None,
        "spm_model_file": None,
        "input_file_mode": "r",
        "do_lower_case": True,
        "do_whole_word_mask": True,
        "do_permutation": False,
        "favor_shorter_ngram": True,
        "random_next_sentence": False,
        "max_seq_length": 512,
        "ngram": 3,
        "max_predictions_per_seq": 20,
        "random_seed": 12345,
        "dupe_factor": 40,
        "masked_lm_prob": 0.15,
        "short_seq_prob": 0.1,
    }
    assert {name: settings[name] for name in reference} == reference


def test_a_folder_of_json_lines_and_text_may_be_named(tmp_path):
    (tmp_path / "in").mkdir()
    line = json.dumps({"body": "One two three. Four five six.", "text": ""})
    (tmp_path / "in" / "1.jsonl").write_text(line + "\n" + line + "\n", encoding="utf-8")
    with gzip.open(str(tmp_path / "in" / "2.txt.gz"), "wb") as stream:
        stream.write(b"Seven eight nine. Ten eleven.\n")
    arguments = [
        f"--input_file={tmp_path}/in",
        f"--output_file={tmp_path}/in/a.txt",
        f"--vocab_file={VOCAB}",
        "--text_field=body",
        "--split_sentences",
        *SMALL,
    ]
    run_here(*arguments)
    assert record_files.count_records(str(tmp_path / "in" / "a.txt")) == 6  # two passes
    run_here(*arguments)  # its own output is no input
    # BERT's usual pattern: the flags that lie beside the records are none.
    pattern = str(tmp_path / "in" / "a.txt*")
    assert files.expand_patterns(pattern, "input_file") == [str(tmp_path / "in" / "a.txt")]
    record = config_files.beside(str(tmp_path / "in" / "a.txt"))
    assert config_files.read(record)["text_field"] == "body"
    text = record_files.read_sidecar(str(tmp_path / "in" / "a.txt")).fingerprint["text"]
    assert [source["name"] for source in text] == ["1.jsonl", "2.txt.gz"]


@pytest.mark.parametrize(
    "arguments,message",
    [
        (["--output_file=b"], "--input_file"),
        (["--input_file=a"], "--output_file"),
        (["--input_file=missing/*.txt", "--output_file=b"], "--input_file"),
        ([f"--input_file={CORPUS}", "--output_file=b"], "vocabulary"),
        ([f"--input_file={CORPUS}", "--output_file=b", "--vocab_file=gone.txt"], "gone.txt"),
        (["--input_file=a", "--output_file=b", "--word_start=x"], "word_start"),
    ],
)
def test_mistakes_are_named_with_their_flag(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        run_here(*arguments)


# ---- real processes ------------------------------------------------------------------------------


# A worker kills its parent when it begins the part with the number 3; with the small blocks the
# text has about ten.
SMALL_BLOCKS = "from albert.pretraining import documents; documents.BLOCK_BYTES = 1500\n"
KILL = (
    SMALL_BLOCKS
    + """
import os, signal
from albert.pretraining import job
original = job.make_part
def make_part(maker, block, path):
    if block.number == 3:
        os.kill(os.getppid(), signal.SIGKILL)
    return original(maker, block, path)
job.make_part = make_part
"""
)


def test_a_killed_process_goes_on_and_ends_in_the_same_bytes(tmp_path):
    def arguments(folder):
        outputs = f"{tmp_path}/{folder}/a,{tmp_path}/{folder}/b"
        return [
            f"--input_file={CORPUS}",
            f"--output_file={outputs}",
            f"--spm_model_file={MODEL}",
            "--num_processes=2",
            *SMALL,
        ]

    killed = run_process(*arguments("killed"), prelude=KILL)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    work = tmp_path / "killed" / ".a.work"
    assert len(list(work.rglob("*.part"))) >= 2
    assert not (tmp_path / "killed" / "a").exists()
    again = run_process(*arguments("killed"), prelude=SMALL_BLOCKS)
    assert again.returncode == 0, again.stderr.decode()
    assert b"Resuming" in again.stderr
    # In this process, with one process and large blocks: the same bytes.
    run_here(*arguments("whole"), "--num_processes=1")
    for name in ("a", "b"):
        assert content(tmp_path / "killed" / name) == content(tmp_path / "whole" / name)
    assert not work.exists()
