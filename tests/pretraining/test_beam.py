# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining data by Apache Beam, run in this process: the same data as on one machine."""

import collections
import random
import shutil

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.data import record_files
from albert.pretraining import beam, instances, model
from albert.pretraining import documents as text_documents
from albert.pretraining.settings import BeamFlags
from albert.util import flags
from tests.support.shared import sha256

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ","]
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
CHARACTERS = list("\u6211\u5728\u5317\u4eac\u4e0a\u5927\u5b66\u4eca\u5929\u6c14\u597d\u3002")
SETTINGS = flags.make(
    BeamFlags,
    max_seq_length=32,
    max_predictions_per_seq=5,
    dupe_factor=2,
    random_seed=7,
    num_shards=3,
)
THREADS = ["--direct_num_workers=2", "--direct_running_mode=multi_threading"]


@pytest.fixture(scope="module")
def vocab_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocab") / "vocab.txt"
    path.write_text("\n".join(PIECES + WORDS + ["##s", "##ed"] + CHARACTERS) + "\n", "utf-8")
    return str(path)


def make_text(documents):
    """Made-up sentences, the same on every Python."""

    def sentence(generator):
        def pick(options):
            return options[int(generator.random() * len(options))]

        count = 2 + int(generator.random() * 9)
        return " ".join(pick(WORDS) + pick(["", "s", "ed"]) for _ in range(count)) + "."

    generators = [random.Random(number) for number in range(documents)]
    return "\n\n".join(
        "\n".join(sentence(one) for _ in range(1 + number % 9))
        for number, one in enumerate(generators)
    )


@pytest.fixture(scope="module")
def text_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text(make_text(60) + "\n", "utf-8")
    return str(path)


def make_job(input_file, output_file, vocab_file, **changes):
    files = {"input_file": str(input_file), "output_file": str(output_file)}
    return beam.make_job(SETTINGS.replace(vocab_file=vocab_file, **files, **changes))


# What a run left: the paths of its shards, and the counts of the data.
Made = collections.namedtuple("Made", "paths counts")


def records_in(made):
    return [record for path in made.paths for record in tf.python_io.tf_record_iterator(path)]


def create(input_file, output_file, vocab_file, *arguments, **changes):
    """Makes the data by the pipeline in this process."""
    job = make_job(input_file, output_file, vocab_file, **changes)
    job.outputs.make_way(overwrite=False)
    beam.run(job, beam.parse_options(arguments))
    return Made(job.outputs.paths, instances.Counts(**job.outputs.report()["counts"]))


def features_of(made):
    spec = model.feature_spec(SETTINGS.max_seq_length, SETTINGS.slots)
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(spec.parse_batch(tf.constant(records_in(made))))


@pytest.fixture(scope="module")
def made(tmp_path_factory, text_file, vocab_file):
    """The data of text_file."""
    return create(text_file, tmp_path_factory.mktemp("made") / "a", vocab_file)


# ---- the records ---------------------------------------------------------------------------------

# Beam 2.48 on Python 3.7 and Beam 2.77 on Python 3.11 both gave these. A change means that data
# made before cannot be made again: raise beam.FORMAT with it.
KNOWN_BYTES = "dc8991751936222504ad663210a41b5cef342fdecd75478b1c4ddb06ef74ace7"


def test_both_runtimes_write_the_same_known_bytes_however_the_work_is_cut(
    made, tmp_path, text_file, vocab_file, monkeypatch
):
    assert sha256(*made.paths) == KNOWN_BYTES
    monkeypatch.setattr(text_documents, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(beam, "_RANGE_BYTES", 700)
    again = create(text_file, tmp_path / "b", vocab_file, *THREADS)
    assert sha256(*again.paths) == KNOWN_BYTES
    assert again.counts == made.counts


def test_records_are_those_of_the_single_machines_functions(made, text_file, vocab_file):
    maker = instances.InstanceMaker(tokenization.FullTokenizer(vocab_file), SETTINGS)
    with open(text_file, "rb") as stream:
        offsets = np.cumsum([0] + [len(line) for line in stream])
    expected = []
    for document in text_documents.read_documents([text_file]):
        placed = document._replace(first_line=offsets[document.first_line - 1])
        block_document = document._replace(index=beam.document_index(placed))
        features, keys, _ = maker.instances(text_documents.TextBlock([block_document]))
        ids = np.concatenate([batch["input_ids"] for batch in features])
        expected += zip(keys.tolist(), ids.tolist())
    assert features_of(made)["input_ids"].tolist() == [ids for _, ids in sorted(expected)]


def test_counts_are_those_of_the_records(made):
    features = features_of(made)
    assert made.counts.documents == 60
    assert made.counts.instances == sum(map(record_files.count_records, made.paths))
    assert made.counts.instances == len(features["input_ids"])
    assert made.counts.predictions == features["masked_lm_weights"].sum()
    assert made.counts.label_one == features["next_sentence_labels"].sum()


def test_the_number_of_shards_only_cuts_the_same_shuffle(made, tmp_path, text_file, vocab_file):
    one = create(text_file, tmp_path / "b", vocab_file, num_shards=1)
    assert records_in(one) == records_in(made) != sorted(records_in(one))


def test_moving_the_text_changes_nothing_and_each_copy_has_masks_of_its_own(
    made, tmp_path, text_file, vocab_file
):
    for name in ("moved/text.txt", "copy/other.txt"):
        (tmp_path / name).parent.mkdir()
        shutil.copy(text_file, str(tmp_path / name))
    moved = create(tmp_path / "moved/*", tmp_path / "b", vocab_file)
    assert sha256(*moved.paths) == KNOWN_BYTES
    both = create(f"{text_file},{tmp_path}/copy", tmp_path / "c", vocab_file)
    assert both.counts.documents == 120
    once, twice = set(records_in(made)), set(records_in(both))
    assert once < twice and len(twice) > 1.8 * len(once)


# ---- bad lines -----------------------------------------------------------------------------------


def test_bad_lines_are_left_out_counted_and_named(tmp_path, vocab_file, caplog):
    (tmp_path / "a.txt").write_bytes(make_text(9).encode() + b"\n\nb\xe9ta beta.\nalpha eta.\n")
    (tmp_path / "b.jsonl").write_bytes(b'{"text": "alpha beta gamma."}\n{"no": 1}\n')
    made = create(f"{tmp_path}/*", f"{tmp_path}/out/train-*.tf", vocab_file)
    assert made.counts.documents == 11
    assert (made.counts.bad_lines, made.counts.bad_documents) == (1, 1)
    assert f"{tmp_path}/b.jsonl" in caplog.text and f"{tmp_path}/a.txt" in caplog.text


@pytest.mark.parametrize("text", [b"b\xe9ta.\n" * 20, b"eta\n\nalpha\n"])
def test_text_that_is_none_is_a_one_line_error_of_the_whole_job_and_leaves_no_shard(
    text, tmp_path, vocab_file
):
    (tmp_path / "a.txt").write_bytes(text)
    with pytest.raises(ValueError, match="^--input_file: ") as error:
        create(tmp_path / "a.txt", tmp_path / "out/train", vocab_file, *THREADS)
    assert "\n" not in str(error.value)
    assert not list(tmp_path.glob("out/*"))


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "input_file, output_file, changes",
    [
        ("text.txt", "a", {"random_next_sentence": True}),
        ("text.txt", "a", {"max_seq_length": 4}),
        ("nothing*", "a", {}),
        ("empty.txt", "a", {}),
        ("text.txt", "a,b", {}),
        ("text.txt", "tr*in", {}),
        ("text.txt", "", {}),
    ],
)
def test_mistakes_are_found_before_the_work_begins(
    input_file, output_file, changes, tmp_path, vocab_file
):
    (tmp_path / "text.txt").write_text("eta.\n\ntheta.\n")
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(ValueError):
        make_job(f"{tmp_path}/{input_file}", f"{tmp_path}/{output_file}", vocab_file, **changes)
