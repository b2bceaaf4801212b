# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script create_pretraining_data: flags, messages, and real processes."""

import gzip
import json
import pathlib
import signal

import pytest

from albert import create_pretraining_data
from albert.data import record_files
from albert.util import files
from albert.util import flags as flags_lib
from tests.support import processes

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
MODEL = str(FIXTURES / "tiny.model")
VOCAB = str(FIXTURES / "wordpiece_vocab.txt")
CORPUS = str(FIXTURES / "corpus.txt")
SMALL = "--max_seq_length=32 --max_predictions_per_seq=5 --dupe_factor=2"


def run_here(arguments):
    settings = flags_lib.parse(create_pretraining_data.Flags, arguments.split())
    create_pretraining_data.main(settings)


def run_process(arguments, prelude):
    script = "create_pretraining_data"
    return processes.run_script(script, *arguments.split(), prelude=prelude)


# ---- flags ---------------------------------------------------------------------------------------


def test_input_file_may_be_a_folder_of_json_lines_and_text(tmp_path):
    (tmp_path / "in").mkdir()
    line = json.dumps({"body": "One two three. Four five six.", "text": ""})
    (tmp_path / "in" / "1.jsonl").write_text(line + "\n" + line + "\n", encoding="utf-8")
    with gzip.open(str(tmp_path / "in" / "2.txt.gz"), "wb") as stream:
        stream.write(b"Seven eight nine. Ten eleven.\n")
    output = f"{tmp_path}/in/a.txt"
    arguments = f"""--input_file={tmp_path}/in --output_file={output} --vocab_file={VOCAB}
        --text_field=body --split_sentences {SMALL}"""
    run_here(arguments)
    assert record_files.count_records(output) == 6  # two passes
    run_here(arguments)  # its own output is no input
    # BERT's usual pattern: the flags that lie beside the records are none.
    assert files.expand_patterns(f"{output}*", "input_file") == [output]
    text = record_files.read_sidecar(output).fingerprint["text"]
    assert [source["name"] for source in text] == ["1.jsonl", "2.txt.gz"]


@pytest.mark.parametrize(
    "arguments, named",
    [
        (f"--input_file=missing/*.txt --output_file=b --vocab_file={VOCAB}", "--input_file"),
        (f"--input_file={CORPUS} --output_file=b", "vocabulary"),
        (f"--input_file={CORPUS} --output_file=b --vocab_file=gone.txt", "gone.txt"),
        ("--input_file=a --output_file=b --word_start=x", "word_start"),
    ],
)
def test_wrong_flag_is_named(arguments, named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=named):
        run_here(arguments)


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


@pytest.mark.slow
def test_killed_process_resumes_to_the_same_bytes(tmp_path):
    killed, whole = tmp_path / "killed", tmp_path / "whole"

    def arguments(folder):
        return f"""--input_file={CORPUS} --output_file={folder}/a,{folder}/b {SMALL}
            --spm_model_file={MODEL} --num_processes=2"""

    ended = run_process(arguments(killed), KILL)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    assert len(list(killed.rglob("*.part"))) >= 2
    assert not (killed / "a").exists()
    again = run_process(arguments(killed), SMALL_BLOCKS)
    assert again.returncode == 0, again.stderr.decode()
    assert b"Resuming" in again.stderr
    # In this process, with one process and large blocks: the same bytes.
    run_here(arguments(whole) + " --num_processes=1")
    for name in ("a", "b"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()
    assert not list(killed.glob(".a.work*"))
