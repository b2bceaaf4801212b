# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Making pretraining data: settings, output files, resumption, the same bytes everywhere."""

import os
import pathlib
import random

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.data import batches as input_pipeline
from albert.data import record_files
from albert.pretraining import documents, job
from albert.pretraining.settings import JobFlags
from albert.util import flags
from tests.support import processes
from tests.support.shared import sha256

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ","]
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
SETTINGS = {
    "max_seq_length": 32,
    "max_predictions_per_seq": 5,
    "dupe_factor": 3,
    "random_seed": 7,
    "num_processes": 1,
}


@pytest.fixture(scope="module")
def vocab_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocab") / "vocab.txt"
    endings = [f"##{ending}" for ending in ("s", "ed", "ing", "er")]
    path.write_text("\n".join(PIECES + WORDS + endings) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def text_file(tmp_path):
    """Made-up sentences, the same on every Python."""
    generator = random.Random(0)

    def pick(options):
        return options[int(generator.random() * len(options))]

    lines = []
    for _ in range(120):
        for _ in range(1 + int(generator.random() * 12)):
            words = [
                pick(WORDS) + pick(["", "", "", "s", "ed", "ing", "er"])
                for _ in range(2 + int(generator.random() * 14))
            ]
            lines.append(" ".join(words) + pick([".", ".", ", eta."]))
        lines.append("")
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def small_blocks(monkeypatch):
    """Many blocks and ranges of little text, so that several processes and parts have work."""
    monkeypatch.setattr(documents, "BLOCK_BYTES", 3000)
    monkeypatch.setattr(job, "_BUCKET_BYTES", 1000)


@pytest.fixture
def create(text_file, vocab_file):
    def create(outputs, text=text_file, vocab=vocab_file, **changes):
        values = dict(
            SETTINGS, input_file=str(text), output_file=",".join(outputs), vocab_file=str(vocab)
        )
        settings = flags.make(JobFlags, **dict(values, **changes))
        settings.check()
        return job.create_pretraining_data(settings)

    return create


def outputs_in(folder, count=3):
    return [str(folder / f"{number}.tf_record") for number in range(count)]


def records_in(path):
    return list(tf.python_io.tf_record_iterator(path))


# ---- the records ---------------------------------------------------------------------------------


# Python 3.7 with NumPy 1.18 and Python 3.11 with NumPy 1.26 both gave these. A change means that
# data made before cannot be made again: raise instances.FORMAT with it.
KNOWN_BYTES = {
    "defaults": ({}, "9dad0105ecc3dcc537210ff10bc90be4d47cbad01b67ca669ae86d163dc018e9"),
    "permutation": (
        {"do_permutation": True, "favor_shorter_ngram": False},
        "42ba3fdfede8659cc165ada9ed87fabd07198fd247e181f327f51fbb2d49ee63",
    ),
    "next sentence": (
        {"random_next_sentence": True, "do_whole_word_mask": False},
        "61f5595df9311978795a720ea1b61b34972ee519f2ad3554178efe1d6c70728f",
    ),
}


@pytest.mark.parametrize("name", sorted(KNOWN_BYTES))
def test_both_runtimes_write_the_same_known_bytes(name, tmp_path, create, small_blocks):
    changes, expected = KNOWN_BYTES[name]
    outputs = outputs_in(tmp_path, 2)
    create(outputs, **changes)
    assert sha256(*outputs) == expected


def test_output_files_share_the_shuffled_instances_evenly_and_nothing_else_remains(
    tmp_path, create, small_blocks
):
    outputs = outputs_in(tmp_path / "out", 4)
    made = create(outputs)
    counts = [len(records_in(path)) for path in outputs]
    assert counts == [record_files.count_records(path) for path in outputs] == sorted(counts)[::-1]
    assert sum(counts) == made.instances and counts[0] - counts[3] <= 1
    assert len(os.listdir(str(tmp_path / "out"))) == 9  # with metadata and the vocabulary
    (one,) = outputs_in(tmp_path / "one", 1)
    create([one])
    together = [record for path in outputs for record in records_in(path)]
    assert records_in(one) == together != sorted(together)


def test_more_files_than_instances_leave_some_empty(tmp_path, create):
    (tmp_path / "text.txt").write_text("alpha beta.\nbeta.\n", encoding="utf-8")
    outputs = outputs_in(tmp_path, 5)
    create(outputs)
    assert [record_files.count_records(path) for path in outputs] == [1, 1, 1, 0, 0]


def test_the_shuffle_stays_within_its_window_and_mixes_it(
    tmp_path, create, small_blocks, monkeypatch
):
    # Each document has a word of its own; its place in the text is that of the document.
    text = "".join(f"{(word + ' ') * 6}.\n" * 300 + "\n" for word in WORDS[:8])
    (tmp_path / "text.txt").write_text(text)

    def places(**changes):
        """Where the records of each document lie in the output, as shares of its length."""
        (output,) = outputs_in(tmp_path, 1)
        create([output], masked_lm_prob=0.0, dupe_factor=2, **changes)
        examples = map(tf.train.Example.FromString, records_in(output))
        ids = [max(one.features.feature["input_ids"].int64_list.value) for one in examples]
        return [np.flatnonzero(np.array(ids) == len(PIECES) + n) / len(ids) for n in range(8)]

    assert np.ptp([place.mean() for place in places()]) < 0.15
    monkeypatch.setattr(documents, "_MEGABYTE", 20000)  # a window of 2.5 documents or so
    found = places(shuffle_window_mb=1)
    assert found[0].max() < found[7].min()
    assert found[0].mean() < found[3].mean() < found[7].mean()


def test_counts_say_what_was_read(tmp_path, create):
    text = b"alpha beta gamma.\n" * 8 + b"\n\xe2\x80\x8b\n\neta\n\nb\xe9ta beta beta.\n"
    (tmp_path / "text.txt").write_bytes(text)
    counts = create(outputs_in(tmp_path), input_file_mode="rb", dupe_factor=2)
    # The empty document is a zero-width space; "eta" alone is left out in both passes.
    assert counts[:5] == (3, 1, 10, 1, 2)
    assert counts.instances >= 4


# ---- output files --------------------------------------------------------------------------------


def test_current_output_is_left_alone_and_stale_output_is_made_again(
    tmp_path, create, text_file, vocab_file
):
    outputs = outputs_in(tmp_path, 2)
    create(outputs)
    before = [os.stat(path).st_mtime_ns for path in outputs]
    assert create(outputs, num_processes=2, overwrite=True) is None
    assert [os.stat(path).st_mtime_ns for path in outputs] == before
    assert create(outputs, dupe_factor=2)
    with open(text_file, "a", encoding="utf-8") as stream:
        stream.write("\nalpha beta.\nbeta alpha.\n")
    assert create(outputs, dupe_factor=2)
    other = tmp_path / "vocab.txt"
    other.write_text(pathlib.Path(vocab_file).read_text("utf-8") + "omega\n", "utf-8")
    assert create(outputs, vocab=other)
    assert create(outputs, vocab=other) is None
    assert create(outputs[:1], vocab=other)


@pytest.mark.parametrize("what", ["of others", "changed since", "of other text"])
def test_files_that_are_not_ours_as_they_are_are_replaced_only_when_told_to(
    what, tmp_path, create, text_file
):
    outputs, text = outputs_in(tmp_path, 2), text_file
    if what != "of others":
        create(outputs)
    if what == "of other text":
        text = str(tmp_path / "other.txt")
        os.rename(text_file, text)
    else:
        with open(outputs[1], "ab") as stream:
            stream.write(b"precious")
    before = sha256(*outputs[1:])
    with pytest.raises(ValueError, match="--overwrite"):
        create(outputs, text)
    assert sha256(*outputs[1:]) == before
    assert create(outputs, text, overwrite=True)
    assert record_files.count_records(outputs[1]) > 0


# ---- resumption ----------------------------------------------------------------------------------


class StoppedError(Exception):
    """Stands for whatever ends a process."""


@pytest.fixture
def stop_after(monkeypatch):
    """Makes the job fail after a number of parts, as a machine that goes down would."""
    original = job.make_part

    def arrange(parts=10**6):
        done = []

        def make_part(maker, block, path):
            if len(done) == parts:
                raise StoppedError
            done.append(block.number)
            return original(maker, block, path)

        monkeypatch.setattr(job, "make_part", make_part)
        return done

    return arrange


def test_a_stopped_job_goes_on_except_for_damaged_parts_and_ends_in_the_same_bytes(
    tmp_path, create, small_blocks, stop_after
):
    create(outputs_in(tmp_path / "whole"))
    outputs = outputs_in(tmp_path / "stopped")
    stop_after(4)
    with pytest.raises(StoppedError):
        create(outputs)
    part = sorted((tmp_path / "stopped").rglob("*.part"))[1]
    part.write_bytes(part.read_bytes()[:-100])
    done = stop_after()
    create(outputs)
    assert done[:3] == [1, 4, 5]
    assert sha256(*outputs) == sha256(*outputs_in(tmp_path / "whole"))


def test_a_job_stopped_while_writing_keeps_the_finished_files(
    tmp_path, create, small_blocks, monkeypatch
):
    create(outputs_in(tmp_path / "whole"))
    outputs = outputs_in(tmp_path / "stopped")
    writer = input_pipeline.AtomicRecordWriter

    def stop_at_the_second(path, made_from):
        if path == outputs[1]:
            raise StoppedError
        return writer(path, made_from)

    with pytest.raises(StoppedError), monkeypatch.context() as patched:
        patched.setattr(input_pipeline, "AtomicRecordWriter", stop_at_the_second)
        create(outputs)
    first = os.stat(outputs[0]).st_mtime_ns
    # Killed between the file and its metadata: it is ours all the same.
    pathlib.Path(outputs[1]).write_bytes(b"half")
    create(outputs)
    assert os.stat(outputs[0]).st_mtime_ns == first
    assert sha256(*outputs) == sha256(*outputs_in(tmp_path / "whole"))


def test_unfinished_work_is_of_the_same_settings_only_and_goes_when_all_is_done(
    tmp_path, create, small_blocks, stop_after
):
    outputs, whole = outputs_in(tmp_path / "out"), outputs_in(tmp_path / "whole")
    other = {"random_seed": 99}
    stop_after(2)
    with pytest.raises(StoppedError):
        create(outputs, work_dir=str(tmp_path / "work"))
    done = stop_after()
    create(outputs, work_dir=str(tmp_path / "work"), **other)
    assert done[0] == 0
    create(whole, **other)
    assert sha256(*outputs) == sha256(*whole)
    assert not os.listdir(str(tmp_path / "work"))


def test_two_jobs_do_not_make_the_same_output_at_once(tmp_path, create):
    outputs = outputs_in(tmp_path / "out")
    work = job.work_folder(None, outputs[0])
    with processes.holding(work) as other, pytest.raises(ValueError, match=str(other.pid)):
        create(outputs)


# ---- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"max_seq_length": 4},
        {"dupe_factor": 0},
        {"shuffle_window_mb": 0},
        {"masked_lm_prob": float("nan")},
        {"word_start": "spaces"},
        {"language": "ja"},
        {"user_dictionary": "w.txt"},
        {"word_start": "underline"},
        {"word_start": "underline", "language": "zh"},
        {"masked_lm_prob": 0.0, "do_permutation": True},
    ],
)
def test_settings_out_of_range_or_in_conflict_are_refused(changes, tmp_path, create):
    with pytest.raises(ValueError, match=next(iter(changes))):
        create(outputs_in(tmp_path), **changes)


@pytest.mark.parametrize("names", [[], ["{}/a", "{}/b/../a"], ["{}/text.txt"], ["{}/text.txt/a"]])
def test_bad_output_names_are_refused_before_any_work(names, tmp_path, create, text_file):
    with pytest.raises(ValueError, match=r"--output_file|text\.txt"):
        create([name.format(tmp_path) for name in names], overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


@pytest.mark.parametrize(
    "text, options, message",
    [
        (b"eta\n\neta\n", {}, "--input_file"),
        (b"\xe2\x80\x8b\n\n\xe2\x80\x8b\n", {}, "--input_file"),
        (b"b\xe9.\n" * 20 + b"a b.\n" * 20, {"input_file_mode": "rb"}, "20 of 40"),
        (b"alpha beta.\n\nb\xe9ta.\n", {}, r"text\.txt', line 3 "),
        (b"alpha beta.\n\nb\xe9ta.\n", {"num_processes": 2}, r"text\.txt', line 3 "),
    ],
)
def test_text_that_is_none_is_refused(text, options, message, tmp_path, create):
    (tmp_path / "text.txt").write_bytes(text)
    with pytest.raises(ValueError, match=message):
        create(outputs_in(tmp_path / "out"), **options)
    assert not list((tmp_path / "out").glob("[!.]*"))
