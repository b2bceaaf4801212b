# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script create_pretraining_data: flags and messages."""

import gzip
import json

import pytest

from albert import create_pretraining_data
from albert.data import record_files
from tests.support import FIXTURES, scripts

VOCAB = f"{FIXTURES}/wordpiece_vocab.txt"
CORPUS = f"{FIXTURES}/corpus.txt"
SMALL = "--max_seq_length=32 --max_predictions_per_seq=5 --dupe_factor=2"


def run_here(arguments):
    scripts.run(create_pretraining_data, arguments)


def test_input_file_of_folder(tmp_path):
    (tmp_path / "in").mkdir()
    line = json.dumps({"body": "One two three. Four five six.", "text": ""})
    (tmp_path / "in" / "1.jsonl").write_text(line + "\n" + line + "\n", encoding="utf-8")
    with gzip.open(tmp_path / "in" / "2.txt.gz", "wb") as stream:
        stream.write(b"Seven eight nine. Ten eleven.\n")
    output = f"{tmp_path}/in/a.txt"
    arguments = f"""--input_file={tmp_path}/in --output_file={output} --vocab_file={VOCAB}
        --text_field=body --split_sentences {SMALL}"""
    run_here(arguments)
    assert record_files.count_records(output) == 6  # two passes
    run_here(arguments)  # its own output is no input
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
