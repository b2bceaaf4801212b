# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining data by the functions that programs import from create_pretraining_data."""

import hashlib
import json
import random

import pytest
import tensorflow.compat.v1 as tf
from absl import flags
from absl.testing import flagsaver

from albert import create_pretraining_data as data
from albert import tokenization
from tests.support import FIXTURES, recorded
from tests.support.shared import english_tokenizer, json_lines, needs_shared, shared_path

FLAGS = flags.FLAGS
SPM = f"{FIXTURES}/tiny.model"
TOKENIZER = tokenization.FullTokenizer(None, True, SPM)
CORPUS = f"{FIXTURES}/corpus.txt"
VOCAB = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]"]
VOCAB += [f"w{number}" for number in range(60)] + [f"##c{number}" for number in range(20)]


@pytest.fixture(autouse=True)
def _restored_flags():
    with flagsaver.flagsaver():
        yield


def sentence(generator, words):
    """Words of which every third has a second piece."""
    pieces = []
    for _ in range(words):
        pieces.append(f"w{generator.randrange(60)}")
        pieces += [f"##c{generator.randrange(20)}"] * (generator.random() < 1 / 3)
    return pieces


def masked(tokens, rng=None, vocab=VOCAB):
    return data.create_masked_lm_predictions(tokens, 0.15, 20, vocab, rng or random.Random(1))


# ---- masks ----


def test_masked_lm_predictions_without_words():
    assert masked(["[CLS]", "[SEP]"]) == (["[CLS]", "[SEP]"], [], [], [1, 1])
    with pytest.raises(ValueError):
        masked(["[CLS]", "w1", "[SEP]"], vocab=["[MASK]"])


# ---- from text to records ----


def examples_in(path):
    return [*map(tf.train.Example.FromString, tf.python_io.tf_record_iterator(str(path)))]


def from_text(**changes):
    arguments = {
        "tokenizer": TOKENIZER,
        "max_seq_length": 32,
        "dupe_factor": 2,
        "short_seq_prob": 0.1,
        "masked_lm_prob": 0.15,
        "max_predictions_per_seq": 5,
        "rng": random.Random(7),
    }
    return data.create_training_instances([CORPUS], **dict(arguments, **changes))


# What is masked and cut is tested in pretraining/; here is that all functions pass the flags, the
# state of the generator and the documents on.
@pytest.mark.parametrize(
    "name, flag_values",
    [
        ("plain", {}),
        ("permutation", {"do_permutation": True, "ngram": 1}),
        ("next sentence", {"random_next_sentence": True, "do_whole_word_mask": False}),
        ("sentencepiece", {"spm_model_file": SPM, "favor_shorter_ngram": False}),
    ],
)
def test_functions_give_known_results(name, flag_values):
    for flag, value in flag_values.items():
        setattr(FLAGS, flag, value)
    rng = random.Random(3)
    documents = [[sentence(rng, 9) for _ in range(30)] for _ in range(5)]
    found = [masked(documents[0][0] + ["[SEP]", *documents[0][1]], rng), from_text(rng=rng)]
    found += [
        data.create_instances_from_document(documents, index, 40, 0.1, 0.15, 5, VOCAB, rng)
        for index in range(5)
    ]
    data.truncate_seq_pair(*documents[1][:2], 20, rng)
    text = json.dumps([*found, documents], default=vars, sort_keys=True)
    recorded.assert_checksum(f"instances, {name}", hashlib.sha256(text.encode("utf-8")).hexdigest())


def test_write_instance_to_example_files(tmp_path):
    paths, instances = [f"{tmp_path}/{name}" for name in "ab"], from_text()
    data.write_instance_to_example_files(instances, TOKENIZER, 32, 5, paths)
    first, second = map(examples_in, paths)
    assert len(first) - len(second) in (0, 1)
    ids = second[0].features.feature["input_ids"].int64_list.value
    expected = TOKENIZER.convert_tokens_to_ids(instances[1].tokens)
    assert list(ids) == expected + [0] * (32 - len(expected))
    # Without room for an instance nothing is written.
    with pytest.raises(ValueError):
        data.write_instance_to_example_files(instances, TOKENIZER, 31, 5, [f"{tmp_path}/c"])
    assert not (tmp_path / "c").exists()


@needs_shared
def test_records_equal_reference(tmp_path):
    lines = json_lines("golden/pretraining_sample/sample.jsonl")
    instances = [data.TrainingInstance(**line) for line in lines]
    data.write_instance_to_example_files(
        instances, english_tokenizer(), 128, 20, [f"{tmp_path}/all"]
    )
    expected = examples_in(shared_path("golden/pretraining_sample/sample.tf_record"))
    assert examples_in(tmp_path / "all") == expected
