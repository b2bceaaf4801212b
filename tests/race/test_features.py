# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From questions of multiple choice to records, and equality with the reference."""

import functools
import json
import pathlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import race_utils, tokenization
from albert.data.records import PaddingInputExample
from albert.race import examples as race_examples
from albert.race import features as race_features
from tests.support import race_data
from tests.support.shared import canonical_sha256, needs_shared, shared_path

FIXTURES = pathlib.Path(__file__).parents[1] / "fixtures"


@functools.lru_cache(maxsize=None)
def _spm():
    return tokenization.FullTokenizer(None, True, str(FIXTURES / "tiny.model"))


@functools.lru_cache(maxsize=None)
def _wordpiece():
    return tokenization.FullTokenizer(str(FIXTURES / "wordpiece_vocab.txt"), True)


def _example(article="the old man", endings=("a cat", "a dog", "the cat", "the dog"), label=1):
    return race_examples.InputExample("high1.txt", article, None, list(endings), label)


def _convert(example, length=32, qa_length=8, tokenizer=None):
    tokenizer = tokenizer or _spm()
    return race_features.convert_single_example(0, example, 4, length, tokenizer, qa_length)


def _ids(text):
    return _spm().convert_tokens_to_ids(_spm().tokenize(text))


def test_each_option_is_a_sequence_of_article_and_ending():
    first, separator = _spm().required_ids(["[CLS]", "[SEP]"])
    features = _convert(_example())
    article = _ids("the old man")
    for row, ending in enumerate(["a cat", "a dog", "the cat", "the dog"]):
        ids = [first, *article, separator, *_ids(ending), separator]
        padding = [0] * (32 - len(ids))
        ones = len(_ids(ending)) + 1
        assert features.input_ids[row] == ids + padding
        assert features.input_mask[row] == [1] * len(ids) + padding
        assert features.segment_ids[row] == [0] * (len(ids) - ones) + [1] * ones + padding
    assert (features.label_id, features.example_id, features.is_real_example) == (
        1,
        "high1.txt",
        True,
    )


def test_of_a_long_ending_the_last_tokens_are_kept_and_of_a_long_article_the_first():
    article, ending = "the old man went home with his friend", "the cat saw a dog and a bird"
    features = _convert(_example(article, [ending] * 4), length=16, qa_length=5)
    first, separator = _spm().required_ids(["[CLS]", "[SEP]"])
    expected = [first, *_ids(article)[:8], separator, *_ids(ending)[-5:], separator]
    assert len(_ids(article)) > 8 and len(_ids(ending)) > 5
    assert features.input_ids == [expected] * 4
    assert features.segment_ids == [[0] * 10 + [1] * 6] * 4


def test_a_padding_example_is_all_zeros_and_not_real():
    features = _convert(PaddingInputExample())
    assert np.array(features.input_ids).shape == (4, 32)
    assert not np.array([features.input_ids, features.input_mask, features.segment_ids]).any()
    assert (features.label_id, features.is_real_example) == (0, False)


def test_another_number_of_endings_is_refused():
    with pytest.raises(ValueError, match="high1.txt: .* 3 endings"):
        _convert(_example(endings=["a", "b", "c"]))


@pytest.mark.parametrize("length,qa_length", [(16, 13), (16, 0), (16, 20)])
def test_lengths_without_room_for_an_article_are_refused(length, qa_length):
    with pytest.raises(ValueError, match=f"--max_qa_length={qa_length} "):
        _convert(_example(), length, qa_length)


# ------------------------------------------------------------------------------------------- files


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return race_data.write_race(tmp_path_factory.mktemp("data"), splits=("dev",), passages=80)


def _write(split, path, **options):
    settings = {"max_seq_length": 40, "max_qa_length": 12, "tokenizer": _spm()}
    settings.update(options)
    return race_features.write_features(split, output_file=str(path), **settings)


@pytest.mark.parametrize("kind", ["sentencepiece", "wordpiece"])
def test_the_fast_way_gives_the_records_of_prepared_examples(folder, tmp_path, kind):
    tokenizer = {"sentencepiece": _spm, "wordpiece": _wordpiece}[kind]()
    split = race_examples.read_split(folder, "dev")
    paths = [
        _write(
            split,
            tmp_path / str(processes),
            tokenizer=tokenizer,
            num_processes=processes,
            exact_path=True,
        ).path
        for processes in (1, 2)
    ]
    processor = race_utils.RaceProcessor(kind == "sentencepiece", True, False, False)
    prepared = tmp_path / "prepared"
    race_utils.file_based_convert_examples_to_features(
        processor.get_dev_examples(folder),
        processor.get_labels(),
        40,
        tokenizer,
        str(prepared),
        12,
    )
    assert pathlib.Path(paths[0]).read_bytes() == pathlib.Path(paths[1]).read_bytes()
    assert pathlib.Path(paths[0]).read_bytes() == prepared.read_bytes()
    spec = race_features.feature_spec(40)
    spec.check_file(paths[0])
    records = list(tf.python_io.tf_record_iterator(paths[0]))
    with tf.Graph().as_default(), tf.Session() as session:
        parsed = session.run(spec.parse_batch(tf.constant(records[:3])))
    assert parsed["input_ids"].shape == (3, 4, 40)
    assert parsed["label_ids"].tolist() == [key.answer for key in split.questions[:3]]


def test_records_are_made_again_when_what_they_are_made_from_changed(folder, tmp_path):
    split = race_examples.read_split(folder, "dev")
    path = tmp_path / "eval.tf_record"
    assert not _write(split, path, exact_path=True).was_current
    assert _write(split, path, exact_path=True).was_current
    for change in (
        {"max_qa_length": 10},
        {"max_seq_length": 30},
        {"tokenizer": _wordpiece()},
        {"split": race_examples.read_split(folder, "dev", levels=("high",))},
    ):
        changed = change.pop("split", split)
        made = _write(changed, path, exact_path=True, **change)
        assert made.path == str(path) and not made.was_current, change
        assert made.count == len(changed.questions)


# --------------------------------------------------------------------------------------- reference


@functools.lru_cache(maxsize=None)
def _golden():
    lines = shared_path("golden/race_features.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


@functools.lru_cache(maxsize=None)
def _golden_tokenizer():
    return tokenization.FullTokenizer(None, True, str(shared_path("data/spm/30k-clean.model")))


@pytest.fixture(scope="module")
def golden_data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden")
    for level, names in _golden()[0]["passages"].items():
        target = folder / "RACE" / "dev" / level
        target.mkdir(parents=True)
        texts = [
            shared_path(f"data/race/dev/{level}/{name}").read_text(encoding="utf-8").strip()
            for name in names
        ]
        (target / "all.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    return str(folder)


@needs_shared
def test_features_equal_the_references_token_for_token_either_way(golden_data, tmp_path):
    run, *expected = _golden()
    processor = race_utils.RaceProcessor(True, True, False, False)
    examples = processor.get_dev_examples(golden_data)
    assert len(examples) == len(expected) == run["num_examples"]
    for row, example in zip(expected, examples):
        assert (example.example_id, example.endings) == (row["example_id"], row["endings"])
        features = race_utils.convert_single_example(
            row["index"],
            example,
            4,
            run["max_seq_length"],
            _golden_tokenizer(),
            run["max_qa_length"],
        )
        assert features.label_id == row["label_id"]
        assert features.input_ids == row["input_ids"]
        ones = np.sum(features.input_mask, axis=1)
        second = np.array(row["segment_ids_sums"])
        assert ones.tolist() == row["input_mask_sums"]
        places = np.arange(run["max_seq_length"])
        assert (np.array(features.input_mask) == (places < ones[:, None])).all()
        start = np.array(row["segment_first_one"])[:, None]
        in_second = (places >= start) & (places < start + second[:, None])
        assert (np.array(features.segment_ids) == in_second).all()
    path = tmp_path / "records"
    race_utils.file_based_convert_examples_to_features(
        examples,
        processor.get_labels(),
        run["max_seq_length"],
        _golden_tokenizer(),
        str(path),
        run["max_qa_length"],
    )
    assert canonical_sha256(path) == run["canonical_sha256"]
    assert path.stat().st_size == run["tf_record_bytes"]
    made = _write(
        race_examples.read_split(golden_data, "dev"),
        tmp_path / "fast",
        max_seq_length=run["max_seq_length"],
        max_qa_length=run["max_qa_length"],
        tokenizer=_golden_tokenizer(),
    )
    assert pathlib.Path(made.path).read_bytes() == path.read_bytes()
