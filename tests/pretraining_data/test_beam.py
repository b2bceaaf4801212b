# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining data by Apache Beam, run in this process: the same data as on one machine."""

import collections
import pathlib
import shutil

import pytest

from albert.data import record_files
from albert.pretraining_data import beam, cluster, documents
from albert.pretraining_data.flags import BeamFlags
from albert.util import flags as flags_lib
from tests.support import FIXTURES, cases, damaged_files, pretraining_records, read_json
from tests.support.pretraining_records import records_in
from tests.support.recorded import assert_checksum
from tests.support.shared import sha256

CORPUS = FIXTURES / "corpus.txt"
Made = collections.namedtuple("Made", "paths counts")


def create(text, output, arguments=""):
    given = f"""--input_file={text} --output_file={output} --num_shards=3 --random_seed=7
        --vocab_file={FIXTURES}/wordpiece_vocab.txt --max_seq_length=32 --dupe_factor=2
        --max_predictions_per_seq=5 {arguments}"""
    flags = flags_lib.parse(BeamFlags, given.split())
    counts = pathlib.Path(cluster.create_pretraining_data(flags, beam.BeamEngine(flags)))
    paths = sorted(map(str, counts.parent.glob("[!.]*-of-*")))
    return Made(paths, read_json(counts)["counts"])


def assert_known_bytes(paths):
    """If the bytes are others, data made before cannot be made again: raise cluster._FORMAT."""
    assert_checksum("records by Beam", sha256(*paths))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return create(CORPUS, tmp_path_factory.mktemp("made") / "a")


def test_beam_writes_known_bytes_for_any_blocks(made, tmp_path, monkeypatch):
    assert_known_bytes(made.paths)
    monkeypatch.setattr(documents, "BLOCK_BYTES", 500)
    monkeypatch.setattr(beam, "_RANGE_BYTES", 400)
    threads = "--direct_num_workers=2 --direct_running_mode=multi_threading"
    again = create(CORPUS, tmp_path / "b", threads)
    assert_known_bytes(again.paths)
    assert again.counts == made.counts


def test_beam_shards_are_one_shuffle(made, tmp_path):
    one = create(CORPUS, tmp_path / "b", "--num_shards=1")
    assert records_in(*one.paths) == records_in(*made.paths) != sorted(records_in(*one.paths))
    features = pretraining_records.read(one.paths[0], 32, 5)
    assert made.counts["documents"] == 15
    assert made.counts["instances"] == sum(map(record_files.count_records, made.paths))
    assert made.counts["predictions"] == features["masked_lm_weights"].sum()
    assert made.counts["label_one"] == features["next_sentence_labels"].sum()


def test_beam_records_do_not_depend_on_folder(made, tmp_path):
    for name in ("moved/corpus.txt", "copy/other.txt"):
        (tmp_path / name).parent.mkdir()
        shutil.copy(CORPUS, tmp_path / name)
    assert_known_bytes(create(tmp_path / "moved/*", tmp_path / "b/b").paths)
    both = create(f"{CORPUS},{tmp_path}/copy", tmp_path / "c/c")
    assert both.counts["documents"] == 30
    once, twice = set(records_in(*made.paths)), set(records_in(*both.paths))
    assert once < twice and len(twice) > 1.8 * len(once)


def test_beam_reads_text_of_equal_size_and_time_again(tmp_path):
    text = pathlib.Path(shutil.copy(CORPUS, tmp_path / "text.txt"))
    before = records_in(*create(text, tmp_path / "a").paths)
    damaged_files.replace_silently(text, b"the", b"one")
    assert records_in(*create(text, tmp_path / "a").paths) != before


def test_beam_counts_bad_lines(tmp_path, caplog):
    (tmp_path / "a.txt").write_bytes(CORPUS.read_bytes() + b"\n\nb\xe9ta beta.\nThe sea.\n")
    (tmp_path / "b.jsonl").write_bytes(b'{"text": "The clock was old."}\n{"no": 1}\n')
    counts = create(f"{tmp_path}/*", f"{tmp_path}/out/train-*.tf").counts
    assert (counts["documents"], counts["bad_lines"], counts["bad_documents"]) == (17, 1, 1)
    assert f"{tmp_path}/b.jsonl" in caplog.text and f"{tmp_path}/a.txt" in caplog.text


def test_fault_of_the_package_is_raised_unchanged():
    with pytest.raises(TypeError), cluster.explained("Beam"):
        documents.is_json(None)


@pytest.mark.parametrize("content", [b"b\xe9ta.\n" * 20, b" \n\n"])
def test_beam_refuses_bad_text(content, tmp_path):
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(ValueError, match="^--input_file: .*$"):
        create(tmp_path / "a.txt", tmp_path / "out/train")
    assert not list(tmp_path.glob("out/*-of-*"))


@pytest.mark.parametrize(
    "text, output, arguments",
    cases.table("""
        text.txt  | a     | --random_next_sentence
        nothing*  | a     |
        empty.txt | a     |
        text.txt  | a,b   |
        text.txt  | tr*in |
    """),
)
def test_beam_refuses_wrong_flag(text, output, arguments, tmp_path):
    (tmp_path / "text.txt").write_text("The sea.\n\nThe sun.\n")
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(ValueError):
        create(tmp_path / text, f"{tmp_path}/{output}", arguments)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("storage", [cluster.Storage, beam.BeamStorage])
def test_storage_copies_file_without_content(storage, tmp_path):
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "b").write_bytes(b"old")
    storage.copy(f"{tmp_path}/a", f"{tmp_path}/b")
    assert (tmp_path / "b").read_bytes() == b""


def test_beam_names_unreachable_service(tmp_path):
    paths = create(CORPUS, tmp_path / "a").paths
    options = "--runner=PortableRunner --job_endpoint=127.0.0.1:1 --job_server_timeout=1"
    with pytest.raises(ValueError, match="127.0.0.1:1"):
        create(CORPUS, tmp_path / "a", f"--ngram=1 {options}")
    assert_known_bytes(paths)
