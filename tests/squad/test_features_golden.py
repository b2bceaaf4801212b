# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""SQuAD features against the reference's.

The reference aligns a paragraph with its tokens by a longest common subsequence of characters;
DIFFERENCES lists where that is wrong.
"""

import functools
import gzip
import itertools
import json

import pytest

from albert.squad import examples as squad_examples
from albert.squad import features as squad_features
from tests.support.shared import canonical_sha256, english_tokenizer, needs_shared, shared_path

SOURCES = {
    "xquad.en": "data/squad/xquad.en.json",
    "dev-v2.0-part": "data/squad/dev-v2.0-part.json",
    "squad_edge": "golden/squad_edge.json",
}
every_run = pytest.mark.parametrize(
    "source, is_training, length", list(itertools.product(SOURCES, (True, False), (384, 128)))
)


_MARKS = "e\u0301te\u0301 and n\u0303"
# Token (its number in the paragraph that begins with _MARKS), name, first and last character here
# and in the reference, and what these are here. Marks belong to their letter; a zero-width space
# and a byte order mark belong to no word.
DIFFERENCES = [
    (1, "ete", (0, 4), (0, 3), "e\u0301te\u0301"),
    (4, "n", (10, 11), (10, 10), "n\u0303"),
    (10, "\u2581width", (39, 43), (38, 43), "width"),
    (25, "\u2581bo", (95, 96), (93, 96), "BO"),
]
# The reference drops the question on this paragraph, 25 signs that decompose to five times as many
# characters, because too few of these are found in the original. (It is answered with "empty".)
DROPPED = "edge-9-0"


@functools.lru_cache(maxsize=None)
def _golden():
    """(settings, features) of each run."""
    runs = {}
    with gzip.open(str(shared_path("golden/squad_features.jsonl.gz")), "rt") as stream:
        for row in map(json.loads, stream):
            if row["kind"] == "run":
                features = []
                runs[row["source"], row["is_training"], row["max_seq_length"]] = row, features
            else:
                features.append(row)
    return runs


def _data(settings):
    path = str(shared_path(SOURCES[settings["source"]]))
    examples = squad_examples.read_squad_examples(path, settings["is_training"])
    examples = examples[: settings["num_examples"]]
    assert len(examples) == settings["num_examples"]
    assert examples[0].qas_id == settings["first_qas_id"]
    assert examples[-1].qas_id == settings["last_qas_id"]
    return examples


def _without_dropped(examples):
    return [example for example in examples if example.qas_id != DROPPED]


def _convert(examples, settings, output):
    squad_features.convert_examples_to_features(
        examples,
        english_tokenizer(),
        settings["max_seq_length"],
        settings["doc_stride"],
        settings["max_query_length"],
        settings["is_training"],
        output,
        settings["do_lower_case"],
    )


@needs_shared
@every_run
def test_features_and_their_records_equal_the_references(source, is_training, length, tmp_path):
    settings, expected = _golden()[source, is_training, length]
    features, path = [], tmp_path / "records"
    writer = squad_features.FeatureWriter(str(path), is_training)
    _convert(_without_dropped(_data(settings)), settings, features.append)
    assert len(features) == len(expected) == settings["num_features"]
    names = ("input_ids", "segment_ids", "p_mask", "paragraph_len", "doc_span_index", "unique_id")
    names += ("start_position", "end_position", "is_impossible")
    for feature, row in zip(features, expected):
        assert [getattr(feature, name) for name in names] == [row[name] for name in names]
        used = row["input_mask_sum"]
        assert feature.input_mask == [1] * used + [0] * (length - used)
        flags = feature.token_is_max_context
        assert list(flags) == [row["max_context_offset"] + place for place in range(len(flags))]
        assert "".join(str(int(flag)) for flag in flags.values()) == row["max_context_flags"]
        writer.process_feature(feature)
    writer.close()
    assert canonical_sha256(path) == settings["canonical_sha256"]
    assert path.stat().st_size == settings["tf_record_bytes"]


@pytest.mark.slow
@needs_shared
@every_run
def test_characters_equal_the_references_but_for_the_list(source, is_training, length):
    settings, expected = _golden()[source, is_training, length]
    features, owners = [], []
    for example in _without_dropped(_data(settings)):
        _convert([example], settings, features.append)
        owners.extend([example.paragraph_text] * (len(features) - len(owners)))
    found = set()
    for feature, row, text in zip(features, expected, owners):
        ours = zip(feature.tok_start_to_orig_index, feature.tok_end_to_orig_index)
        theirs = zip(row["tok_start_to_orig_index"], row["tok_end_to_orig_index"])
        tokens = feature.tokens[row["max_context_offset"] :]
        for number, (token, one, other) in enumerate(zip(tokens, ours, theirs)):
            if one != other:
                assert text.startswith(_MARKS)
                found.add((number, token, one, other, text[one[0] : one[1] + 1]))
    assert found == set(DIFFERENCES if source == "squad_edge" else ())
