# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining data of Chinese with whole words by jieba, and of text in every format."""

import pathlib

import pytest

from albert.data import record_files
from albert.pretraining import job
from albert.pretraining.settings import JobFlags
from albert.util import flags
from tests.support.shared import sha256

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
VOCAB = str(FIXTURES / "chinese_vocab.txt")
CORPUS = FIXTURES / "corpus_zh.txt"
SETTINGS = {
    "vocab_file": VOCAB,
    "max_seq_length": 64,
    "max_predictions_per_seq": 10,
    "dupe_factor": 2,
    "random_seed": 7,
    "language": "zh",
    "num_processes": 1,
}


def create(path, output, **changes):
    values = dict(SETTINGS, input_file=str(path), output_file=str(output), **changes)
    return job.create_pretraining_data(flags.make(JobFlags, **values))


# ---- bytes ---------------------------------------------------------------------------------------

# Python 3.7 and 3.11 gave these. A change means that data made before cannot be made again.
KNOWN_BYTES = {
    "whole words": ({}, "014db258c023cc63eb5cdfa1593f8ca68e4eb036b0c0e73c94817dd654785aa4"),
    "characters": (
        {"do_whole_word_mask": False, "ngram": 1},
        "9eee2ad1ad234eef55089dad97bc4aa653fc0e31ee63819bd97bb6801572c403",
    ),
    "paragraphs": (
        {"split_sentences": True},
        "31118539fbed2a2fad6bdf03453022ae569bc9d1c747a710d50146625a1129d3",
    ),
}


@pytest.mark.parametrize("name", sorted(KNOWN_BYTES))
def test_both_runtimes_write_the_same_known_bytes(name, tmp_path):
    changes, expected = KNOWN_BYTES[name]
    path = CORPUS
    if changes.get("split_sentences"):
        path = tmp_path / "paragraphs.txt"
        text = CORPUS.read_text(encoding="utf-8")
        text = text.replace("\n\n", "\0").replace("\n", "").replace("\0", "\n\n")
        path.write_text(text, encoding="utf-8")
    create(path, tmp_path / "a", **changes)
    assert sha256(tmp_path / "a") == expected


# ---- fingerprints --------------------------------------------------------------------------------


def made_from(output):
    return record_files.read_sidecar(str(output)).fingerprint


def test_language_and_dictionary_are_part_of_what_records_are_made_from(tmp_path):
    dictionary, output = tmp_path / "words.txt", tmp_path / "a"
    dictionary.write_text("准确率\n", encoding="utf-8")
    create(CORPUS, output, user_dictionary=str(dictionary))
    assert made_from(output)["settings"]["language"] == "zh"
    assert made_from(output)["words"]["user_dictionary"]["name"] == "words.txt"
    moved = tmp_path / "deep" / "words.txt"
    moved.parent.mkdir()
    dictionary.rename(moved)
    assert create(CORPUS, output, user_dictionary=str(moved)) is None
    moved.write_text("准确率\n语言模型\n", encoding="utf-8")
    assert create(CORPUS, output, user_dictionary=str(moved))
    assert create(CORPUS, output)
