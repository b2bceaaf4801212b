# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From questions of multiple choice to records, and equality with the reference."""

import types

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import race_utils
from albert.data.inputs import PaddingInputExample
from albert.tasks.race import examples as race_examples
from albert.tasks.race import features as race_features
from albert.tasks.race.flags import RaceFlags
from tests.support import graphs, race_data, squad_data
from tests.support.shared import (
    canonical_sha256,
    english_tokenizer,
    json_lines,
    needs_shared,
    shared_path,
)

SPM, WORDPIECE = squad_data.sentencepiece(), squad_data.wordpiece()
FIRST, SEPARATOR = SPM.required_ids(["[CLS]", "[SEP]"])
ENDINGS = ["a cat", "a dog", "the cat", "the dog"]


def _convert(length=32, qa_length=8):
    example = race_examples.InputExample("high1.txt", "the old man", None, ENDINGS, 1)
    return race_features.convert_single_example(0, example, 4, length, SPM, qa_length)


def _ids(text):
    return SPM.convert_tokens_to_ids(SPM.tokenize(text))


def test_convert_pairs_article_and_option():
    features = _convert()
    for row, ending in enumerate(ENDINGS):
        first = [FIRST, *_ids("the old man"), SEPARATOR]
        second = [*_ids(ending), SEPARATOR]
        padding = [0] * (32 - len(first) - len(second))
        assert features.input_ids[row] == [*first, *second, *padding]
        assert features.input_mask[row] == [1] * (32 - len(padding)) + padding
        assert features.segment_ids[row] == [0] * len(first) + [1] * len(second) + padding
    assert (features.label_id, features.example_id) == (1, "high1.txt")
    assert features.is_real_example


def test_convert_padding_example():
    features = race_features.convert_single_example(0, PaddingInputExample(), 4, 32, SPM, 8)
    found = np.array([features.input_ids, features.input_mask, features.segment_ids])
    assert found.shape == (3, 4, 32) and not found.any()
    assert (features.label_id, features.is_real_example) == (0, False)


@pytest.mark.parametrize(
    "wrong,words",
    [
        ({"length": 16, "qa_length": 13}, "--max_qa_length=13 "),
        ({"qa_length": 0}, "--max_qa_length=0 "),
    ],
)
def test_convert_names_a_wrong_size(wrong, words):
    with pytest.raises(ValueError, match=words):
        _convert(**wrong)


def _records(examples, sizes):
    flags = types.SimpleNamespace(truncation="end", **sizes)
    return race_features.convert_examples(examples, flags.tokenizer, flags).records


def _file_records(examples, path, sizes):
    race_features.file_based_convert_examples_to_features(
        examples,
        race_examples.LETTERS,
        sizes["max_seq_length"],
        sizes["tokenizer"],
        str(path),
        sizes["max_qa_length"],
    )
    return list(tf.python_io.tf_record_iterator(str(path)))


@pytest.mark.parametrize("tokenizer", [SPM, WORDPIECE])
def test_records_equal_prepared_examples(tmp_path, tokenizer):
    folder = race_data.write_race(tmp_path, splits=("dev",), passages=20)
    sizes = {"max_seq_length": 40, "max_qa_length": 12, "tokenizer": tokenizer}
    read = race_examples.read_examples(folder, "dev")
    spec = race_features.feature_spec(40)
    records = spec.encode_all(_records(read, sizes))
    processor = race_utils.RaceProcessor(tokenizer is SPM, True, False, False)
    prepared = processor.get_dev_examples(folder)
    assert records == _file_records(prepared, tmp_path / "records", sizes)
    with graphs.new_session() as session:
        parsed = session.run(spec.parse_batch(tf.constant(records[:3])))
    assert parsed["input_ids"].shape == (3, 4, 40)
    assert parsed["label_ids"].tolist() == [item.label for item in read[:3]]


# --------------------------------------------------------------------------------------- reference


@needs_shared
def test_features_equal_the_reference(tmp_path):
    run, *expected = json_lines("golden/race_features.jsonl")
    for level, names in run["passages"].items():
        texts = [shared_path(f"data/race/dev/{level}/{name}").read_text("utf-8") for name in names]
        target = tmp_path / "RACE" / "dev" / level
        target.mkdir(parents=True)
        (target / "all.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    sizes = {name: run[name] for name in ("max_seq_length", "max_qa_length")}
    sizes["tokenizer"] = english_tokenizer()
    examples = race_utils.RaceProcessor(True, True, False, False).get_dev_examples(str(tmp_path))
    assert len(examples) == len(expected) == run["num_examples"]
    spec = race_features.feature_spec(run["max_seq_length"])
    converted = _records(race_examples.read_examples(str(tmp_path), "dev"), sizes)
    for row, example, ids in zip(expected, examples, converted["input_ids"]):
        assert (example.example_id, example.endings) == (row["example_id"], row["endings"])
        assert ids.tolist() == row["input_ids"]
    path = tmp_path / "records"
    assert _file_records(examples, path, sizes) == spec.encode_all(converted)
    assert canonical_sha256(path) == run["canonical_sha256"]
    assert path.stat().st_size == run["tf_record_bytes"]


@pytest.mark.parametrize("truncation", ["end", "head_tail", "windows"])
def test_truncation_decides_what_is_kept_of_a_long_article(truncation):
    text, question = "the old man went home with his friend", "the cat saw a dog and a bird"
    ids = _ids(text)
    windows = [ids[:8], ids[6:14], ids[-8:]]
    kept, kept_with_short_question = {
        "end": ([ids[:8]], [ids[:12]]),
        "head_tail": ([ids[:4] + ids[-4:]], [ids[:6] + ids[-6:]]),
        "windows": (windows, windows),
    }[truncation]
    example = race_examples.InputExample("", text, None, [question, question, "a"], 1)
    flags = RaceFlags(max_seq_length=16, max_qa_length=5, truncation=truncation)
    records, notes = race_features.convert_examples([example], SPM, flags)
    assert records["num_windows"] == [len(kept)] * len(kept)
    assert records["segment_ids"][:, 0].tolist() == [[0] * 10 + [1] * 6] * len(kept)
    for ids, part, short in zip(records["input_ids"].tolist(), kept, kept_with_short_question):
        first, second, last = ids
        assert first == second == [FIRST, *part, SEPARATOR, *_ids(question)[-5:], SEPARATOR]
        assert last[: len(short) + 2] == [FIRST, *short, SEPARATOR]
    assert list(notes.values()) == [1, 0, truncation == "windows"]  # the question is cut, too
