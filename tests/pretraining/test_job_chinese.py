# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining data of Chinese with whole words by jieba, and of text in every format."""

import gzip
import hashlib
import json
import pathlib

import numpy as np
import pytest

from albert import tokenization
from albert.data import record_files
from albert.pretraining import documents as text_documents
from albert.pretraining import instances, job

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
VOCAB = str(FIXTURES / "chinese_vocab.txt")
CORPUS = FIXTURES / "corpus_zh.txt"
SETTINGS = instances.DataSettings(
    max_seq_length=64, max_predictions_per_seq=10, dupe_factor=2, random_seed=7, language="zh"
)


def create(path, output, **changes):
    return job.create_pretraining_data(
        [str(path)],
        [str(output)],
        tokenizer=tokenization.FullTokenizer(VOCAB),
        tokenizer_file=VOCAB,
        settings=SETTINGS.replace(**changes),
        num_processes=1,
    )


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


# ---- tokens and words ----------------------------------------------------------------------------


def test_words_work_with_sentencepiece_too():
    text = "The model 模型 is here. "
    tokenizer = tokenization.FullTokenizer(None, True, str(FIXTURES / "tiny.model"))
    raw = text_documents.RawDocument(0, 0, 0, "", 1, text.encode("utf-8"))
    found, _ = instances.InstanceMaker(tokenizer, SETTINGS).tokenize(
        text_documents.TextBlock(0, 0, 0, (raw,))
    )
    encoding = tokenizer.encode_with_offsets(text)
    starts = {encoding.starts[place] for place in np.flatnonzero(found.word_starts)}
    assert starts == {text.index(word) for word in ("The", "model", "模型", "is", "here", ".")}


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
    assert digest(tmp_path / "a") == expected


@pytest.mark.parametrize("name", ["a.txt.gz", "a.jsonl", "a.json.gz"])
def test_the_same_documents_in_any_format_give_the_same_bytes(name, tmp_path):
    content = CORPUS.read_bytes()
    if "json" in name:
        documents = content.decode("utf-8").strip().split("\n\n")
        lines = [json.dumps({"body": document}, ensure_ascii=False) for document in documents]
        content = "\n".join(lines).encode("utf-8")
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    create(path, tmp_path / "out", text_field="body")
    assert digest(tmp_path / "out") == KNOWN_BYTES["whole words"][1]


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


# ---- mistakes ------------------------------------------------------------------------------------


def write_lines(tmp_path, good, bad):
    path = tmp_path / "a.jsonl"
    lines = [json.dumps({"text": "清晨，小镇的街道。\n面包店的老板。"})] * good + ["{'bad'"] * bad
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("mode, message", [("r", r"a\.jsonl', line 21"), ("rb", "5 of 25")])
def test_bad_lines_of_json_are_refused_or_too_many_of_them(mode, message, tmp_path):
    path = write_lines(tmp_path, 20, 5)
    with pytest.raises(ValueError, match=message):
        create(path, tmp_path / "out", language="any", input_file_mode=mode)
    assert [path.name for path in tmp_path.glob("[!.]*")] == ["a.jsonl"]
