# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""SQuAD features against the reference's.

The reference aligns a paragraph with its tokens by a longest common subsequence of characters;
DIFFERENCES lists where that is wrong.
"""

import collections
import functools
import gzip
import itertools
import json

import pytest

from albert.tasks.squad import examples as squad_examples
from albert.tasks.squad import features as squad_features
from tests.support import cases
from tests.support.shared import canonical_sha256, english_tokenizer, needs_shared, shared_path

pytestmark = needs_shared

SOURCES = {
    "xquad.en": "data/squad/xquad.en.json",
    "dev-v2.0-part": "data/squad/dev-v2.0-part.json",
    "squad_edge": "golden/squad_edge.json",
}
NAMES = ("input_ids", "segment_ids", "p_mask", "paragraph_len", "doc_span_index", "unique_id")
NAMES += ("start_position", "end_position", "is_impossible")
ALL = list(itertools.product(SOURCES, (True, False), (384, 128)))
# The unusual texts are the quick ones.
RUNS = cases.slow_but([run for run in ALL if run[0] == "squad_edge"], ALL)
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
    """(flags, features) of each run."""
    runs = {}
    with gzip.open(shared_path("golden/squad_features.jsonl.gz"), "rt") as stream:
        for row in map(json.loads, stream):
            if row["kind"] == "run":
                features = []
                runs[row["source"], row["is_training"], row["max_seq_length"]] = row, features
            else:
                features.append(row)
    return runs


_Run = collections.namedtuple("_Run", "flags expected examples features")


@pytest.fixture(scope="module", params=RUNS)
def run(request):
    """A run of the reference, and ours."""
    source, is_training, _ = request.param
    flags, expected = _golden()[request.param]
    path = str(shared_path(SOURCES[source]))
    examples = squad_examples.read_squad_examples(path, is_training)[: flags["num_examples"]]
    examples = [example for example in examples if example.qas_id != DROPPED]
    names = ("max_seq_length", "doc_stride", "max_query_length", "is_training")
    features, options = [], [flags[name] for name in names]
    squad_features.convert_examples_to_features(
        examples, english_tokenizer(), *options, features.append, flags["do_lower_case"]
    )
    return _Run(flags, expected, examples, features)


def test_features_equal_the_reference(run):
    assert len(run.features) == len(run.expected) == run.flags["num_features"]
    for feature, row in zip(run.features, run.expected):
        assert [getattr(feature, name) for name in NAMES] == [row[name] for name in NAMES]
        used = row["input_mask_sum"]
        assert feature.input_mask == [1] * used + [0] * (len(feature.input_ids) - used)


def test_maximal_contexts_equal_the_reference(run):
    for feature, row in zip(run.features, run.expected):
        flags = feature.token_is_max_context
        assert list(flags) == [row["max_context_offset"] + place for place in range(len(flags))]
        assert "".join(str(int(flag)) for flag in flags.values()) == row["max_context_flags"]


def test_characters_equal_the_reference(run):
    numbers = itertools.accumulate(feature.doc_span_index == 0 for feature in run.features)
    texts = [run.examples[number - 1].paragraph_text for number in numbers]
    differences = _differences(run.features, run.expected, texts)
    assert differences == set(DIFFERENCES if run.flags["source"] == "squad_edge" else ())


def test_records_equal_the_reference(run, tmp_path):
    path = tmp_path / "records"
    writer = squad_features.FeatureWriter(str(path), run.flags["is_training"])
    for feature in run.features:
        writer.process_feature(feature)
    writer.close()
    assert canonical_sha256(path) == run.flags["canonical_sha256"]
    assert path.stat().st_size == run.flags["tf_record_bytes"]


def _differences(features, expected, texts):
    """Where a token's characters are not the reference's."""
    found = set()
    for feature, row, text in zip(features, expected, texts):
        ours = zip(feature.tok_start_to_orig_index, feature.tok_end_to_orig_index)
        theirs = zip(row["tok_start_to_orig_index"], row["tok_end_to_orig_index"])
        tokens = feature.tokens[row["max_context_offset"] :]
        for number, (token, one, other) in enumerate(zip(tokens, ours, theirs)):
            if one != other:
                assert text.startswith(_MARKS)
                found.add((number, token, one, other, text[one[0] : one[1] + 1]))
    return found
