# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Making pretraining data: settings, output files, resumption, the same bytes everywhere."""

import hashlib
import logging
import multiprocessing
import os
import pathlib
import random
import time

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.data import batches as input_pipeline
from albert.data import records as example_batches
from albert.pretrained import model_vocabulary
from albert.pretraining import documents as text_documents
from albert.pretraining import instances as pretraining_instances
from albert.pretraining import job as pretraining_data
from albert.pretraining import model as pretraining_utils
from albert.util import files

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ","]
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
SETTINGS = pretraining_instances.DataSettings(
    max_seq_length=32, max_predictions_per_seq=5, dupe_factor=3, random_seed=7
)


@pytest.fixture(scope="module")
def vocab_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocab") / "vocab.txt"
    endings = [f"##{ending}" for ending in ("s", "ed", "ing", "er")]
    path.write_text("\n".join(PIECES + WORDS + endings) + "\n", encoding="utf-8")
    return str(path)


def make_text(documents, *, seed=0):
    """A text of made-up sentences, the same on every Python."""
    generator = random.Random(seed)

    def pick(options):
        return options[int(generator.random() * len(options))]

    lines = []
    for _ in range(documents):
        for _ in range(1 + int(generator.random() * 12)):
            words = [
                pick(WORDS) + pick(["", "", "", "s", "ed", "ing", "er"])
                for _ in range(2 + int(generator.random() * 14))
            ]
            lines.append(" ".join(words) + pick([".", ".", ", eta."]))
        lines.append("")
    return "\n".join(lines)


@pytest.fixture
def text_file(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(make_text(120), encoding="utf-8")
    return str(path)


@pytest.fixture
def small_blocks(monkeypatch):
    """Many blocks of little text, so that several processes and parts have work."""
    monkeypatch.setattr(text_documents, "BLOCK_BYTES", 3000)


def create(text_files, outputs, vocab_file, **options):
    settings = options.pop("settings", SETTINGS)
    return pretraining_data.create_pretraining_data(
        [text_files] if isinstance(text_files, str) else text_files,
        outputs,
        tokenizer=tokenization.FullTokenizer(vocab_file),
        tokenizer_file=vocab_file,
        settings=settings,
        **dict({"num_processes": 1}, **options),
    )


def outputs_in(folder, count=3):
    return [str(folder / f"{number}.tf_record") for number in range(count)]


def digest(paths):
    """SHA-256 over the bytes of the files."""
    value = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as stream:
            value.update(stream.read())
    return value.hexdigest()


def records_in(path):
    return list(tf.python_io.tf_record_iterator(path))


# ---- the records ---------------------------------------------------------------------------------


# Python 3.7 with NumPy 1.18 and Python 3.11 with NumPy 1.26 both gave these. A change means that
# data made before cannot be made again: raise pretraining_data.FORMAT with it.
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
def test_both_runtimes_write_the_same_known_bytes(
    name, tmp_path, text_file, vocab_file, small_blocks
):
    changes, expected = KNOWN_BYTES[name]
    outputs = outputs_in(tmp_path, 2)
    create(text_file, outputs, vocab_file, settings=SETTINGS._replace(**changes))
    assert digest(outputs) == expected


@pytest.mark.parametrize("permutation", [False, True])
def test_records_are_what_run_pretraining_reads(tmp_path, text_file, vocab_file, permutation):
    settings = SETTINGS._replace(do_permutation=permutation)
    outputs = outputs_in(tmp_path, 1)
    summary = create(text_file, outputs, vocab_file, settings=settings)
    spec = pretraining_utils.feature_spec(32, settings.slots)
    with tf.Graph().as_default(), tf.Session() as session:
        parsed = session.run(spec.parse_batch(tf.constant(records_in(outputs[0]))))
    assert {name: value.shape[0] for name, value in parsed.items()} == dict.fromkeys(
        spec.names, summary.counts.instances
    )
    assert parsed["masked_lm_weights"].sum() == summary.counts.predictions
    assert parsed["next_sentence_labels"].sum() == summary.counts.label_one
    assert (parsed["input_ids"][:, 0] == 2).all()
    assert ((parsed["input_ids"] == 3).sum(axis=1) == 2).all()
    assert (parsed["token_boundary"] <= parsed["input_mask"]).all()


def test_output_files_share_the_instances_evenly_and_are_shuffled(
    tmp_path, text_file, vocab_file, small_blocks
):
    outputs = outputs_in(tmp_path, 4)
    summary = create(text_file, outputs, vocab_file)
    counts = [files.count_records(path) for path in outputs]
    assert counts == [len(records_in(path)) for path in outputs]
    assert sum(counts) == summary.counts.instances
    assert counts == sorted(counts, reverse=True)
    assert max(counts) - min(counts) <= 1
    one = outputs_in(tmp_path / "one", 1)
    create(text_file, one, vocab_file)
    assert records_in(one[0]) == [record for path in outputs for record in records_in(path)]
    # Passes over one document lie far apart: the sorted places of its records are not neighbours.
    assert records_in(one[0]) != sorted(records_in(one[0]))


def test_the_shuffle_stays_within_its_window_and_mixes_it(
    tmp_path, vocab_file, small_blocks, monkeypatch
):
    # Each document has a word of its own; its place in the text is that of the document.
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
    path = tmp_path / "text.txt"
    path.write_text("".join(f"{(word + ' ') * 6}.\n" * 300 + "\n" for word in words))
    outputs = outputs_in(tmp_path, 1)
    settings = SETTINGS._replace(masked_lm_prob=0.0, dupe_factor=2)
    create(str(path), outputs, vocab_file, settings=settings)
    order = [example_word(record) for record in records_in(outputs[0])]
    whole = [np.mean([place for place, one in enumerate(order) if one == n]) for n in range(8)]
    assert np.ptp(whole) < 0.15 * len(order)
    monkeypatch.setattr(pretraining_data, "_MEGABYTE", 20000)  # a window of 2.5 documents or so
    create(
        str(path),
        outputs_in(tmp_path / "b", 1),
        vocab_file,
        settings=settings._replace(shuffle_window_mb=1),
    )
    order = [example_word(record) for record in records_in(outputs_in(tmp_path / "b", 1)[0])]
    places = [[place for place, one in enumerate(order) if one == n] for n in range(8)]
    assert max(places[0]) < min(places[7])
    assert np.mean(places[0]) < np.mean(places[3]) < np.mean(places[7])


def example_word(record):
    """Which of the ten words a record is about."""
    ids = tf.train.Example.FromString(record).features.feature["input_ids"].int64_list.value
    return ids[1] - len(PIECES) if ids[1] >= len(PIECES) else ids[2] - len(PIECES)


def test_memory_of_a_block_does_not_grow_with_dupe_factor(text_file, vocab_file, monkeypatch):
    # Features are made batch by batch; nothing but the offsets is held for all passes.
    monkeypatch.setattr(pretraining_instances, "_CELLS", 32 * 50)
    maker = pretraining_instances.InstanceMaker(
        tokenization.FullTokenizer(vocab_file), SETTINGS._replace(dupe_factor=30)
    )
    (block,) = pretraining_data.read_blocks([text_file], SETTINGS)
    instances = maker.instances(block)
    sizes = [len(batch["input_ids"]) for batch in instances.features]
    assert sum(sizes) == instances.counts.instances == len(instances.keys)
    assert max(sizes) == 50


def test_counts_say_what_was_read(tmp_path, vocab_file):
    path = tmp_path / "text.txt"
    text = b"alpha beta gamma.\n" * 8 + b"\n\xe2\x80\x8b\n\neta\n\nb\xe9ta beta beta.\n"
    path.write_bytes(text)
    settings = SETTINGS._replace(input_file_mode="rb", dupe_factor=2)
    counts = create(str(path), outputs_in(tmp_path), vocab_file, settings=settings).counts
    assert counts.documents == 3
    assert counts.empty_documents == 1  # a zero-width space
    assert counts.sentences == 10
    assert counts.bad_lines == 1
    assert counts.left_out == 2  # "eta" alone, in both passes
    assert counts.instances >= 4


# ---- output files --------------------------------------------------------------------------------


def test_current_output_is_left_alone_and_this_is_said(tmp_path, text_file, vocab_file, caplog):
    caplog.set_level(logging.INFO, logger="albert")
    outputs = outputs_in(tmp_path)
    first = create(text_file, outputs, vocab_file)
    before = [os.stat(path).st_mtime_ns for path in outputs]
    second = create(text_file, outputs, vocab_file, num_processes=2, overwrite=True)
    assert second.was_current
    assert second.counts.instances == first.counts.instances
    assert [os.stat(path).st_mtime_ns for path in outputs] == before
    assert caplog.records[-1].getMessage().startswith("Nothing to do")


def test_a_changed_setting_text_vocabulary_or_number_of_files_makes_the_output_again(
    tmp_path, text_file, vocab_file, caplog
):
    caplog.set_level(logging.INFO, logger="albert")
    outputs = outputs_in(tmp_path, 2)
    create(text_file, outputs, vocab_file, settings=SETTINGS._replace(dupe_factor=2))
    assert not create(text_file, outputs, vocab_file).was_current
    assert "dupe_factor was 2 and is 3" in caplog.text
    with open(text_file, "a", encoding="utf-8") as stream:
        stream.write("\nalpha beta.\nbeta alpha.\n")
    assert not create(text_file, outputs, vocab_file).was_current
    other = tmp_path / "vocab.txt"
    with open(vocab_file, encoding="utf-8") as stream:
        other.write_text(stream.read() + "omega\n", encoding="utf-8")
    assert not create(text_file, outputs, str(other)).was_current
    assert create(text_file, outputs, str(other)).was_current
    assert not create(text_file, outputs[:1], str(other)).was_current


@pytest.mark.parametrize("what", ["of others", "changed since", "of other text"])
def test_files_that_are_not_ours_as_they_are_are_replaced_only_when_told_to(
    what, tmp_path, text_file, vocab_file
):
    outputs = outputs_in(tmp_path, 2)
    if what == "of others":
        (tmp_path / "1.tf_record").write_bytes(b"precious")
    else:
        create(text_file, outputs, vocab_file)
    if what == "changed since":
        with open(outputs[1], "ab") as stream:
            stream.write(b"appended by hand")
    if what == "of other text":
        other = tmp_path / "other.txt"
        os.rename(text_file, str(other))
        text_file = str(other)
    before = digest(outputs[1:])
    with pytest.raises(ValueError, match="--overwrite"):
        create(text_file, outputs, vocab_file)
    assert digest(outputs[1:]) == before
    assert not create(text_file, outputs, vocab_file, overwrite=True).was_current
    assert files.count_records(outputs[1]) > 0


def test_a_large_text_is_not_read_again_when_all_is_done(
    tmp_path, text_file, vocab_file, monkeypatch
):
    with open(text_file, "a", encoding="utf-8") as stream:
        stream.write(("\n" + " " * ((1 << 20) - 2)) * 18)
    os.utime(text_file, (1e9, 1e9))
    outputs = outputs_in(tmp_path / "out", 1)
    create(text_file, outputs, vocab_file)
    opened, original = [], files.open_to_read
    monkeypatch.setattr(files, "open_to_read", lambda path: opened.append(path) or original(path))
    assert create(text_file, outputs, vocab_file).was_current
    assert opened and text_file not in opened


def test_nothing_but_the_output_and_its_sidecars_remains(tmp_path, text_file, vocab_file):
    folder = tmp_path / "out"
    create(text_file, outputs_in(folder, 2), vocab_file)
    vocabulary = model_vocabulary.sha256_of(str(vocab_file))
    assert sorted(os.listdir(str(folder))) == [
        ".0.tf_record.meta.json",
        ".1.tf_record.meta.json",
        f".vocabulary-{vocabulary[:16]}.txt",
        "0.tf_record",
        "1.tf_record",
    ]


def test_more_files_than_instances_leave_some_empty(tmp_path, vocab_file, caplog):
    path = tmp_path / "text.txt"
    path.write_text("alpha beta.\nbeta.\n", encoding="utf-8")
    outputs = outputs_in(tmp_path, 5)
    create(str(path), outputs, vocab_file)
    assert [files.count_records(path) for path in outputs] == [1, 1, 1, 0, 0]
    assert "some will be empty" in caplog.text


# ---- resumption ----------------------------------------------------------------------------------


class StoppedError(Exception):
    """Stands for whatever ends a process."""


@pytest.fixture
def stop_after(monkeypatch):
    """Makes the job fail after a number of parts, as a machine that goes down would."""

    original = pretraining_data.make_part

    def arrange(parts):
        done = []

        def make_part(maker, block, path):
            if len(done) == parts:
                raise StoppedError
            done.append(block.number)
            return original(maker, block, path)

        monkeypatch.setattr(pretraining_data, "make_part", make_part)
        return done

    return arrange


def test_a_stopped_job_goes_on_but_for_damaged_parts_and_ends_in_the_same_bytes(
    tmp_path, text_file, vocab_file, small_blocks, stop_after, caplog
):
    caplog.set_level(logging.INFO, logger="albert")
    create(text_file, outputs_in(tmp_path / "whole"), vocab_file)
    outputs = outputs_in(tmp_path / "stopped")
    stop_after(4)
    with pytest.raises(StoppedError):
        create(text_file, outputs, vocab_file)
    work = tmp_path / "stopped" / ".0.tf_record.work"
    part = sorted(path for path in work.iterdir() if path.suffix == ".part")[1]
    part.write_bytes(part.read_bytes()[:-100])
    done = stop_after(10**6)
    create(text_file, outputs, vocab_file)
    assert done[:3] == [1, 4, 5]
    assert "finished when this job was stopped" in caplog.text
    assert digest(outputs) == digest(outputs_in(tmp_path / "whole"))


def test_a_job_stopped_while_writing_keeps_the_finished_files(
    tmp_path, text_file, vocab_file, small_blocks, monkeypatch
):
    create(text_file, outputs_in(tmp_path / "whole"), vocab_file)
    outputs = outputs_in(tmp_path / "stopped")
    original = input_pipeline.AtomicRecordWriter

    def stop_at_the_second(path, made_from):
        if path == outputs[1]:
            raise StoppedError
        return original(path, made_from)

    with monkeypatch.context() as patched, pytest.raises(StoppedError):
        patched.setattr(input_pipeline, "AtomicRecordWriter", stop_at_the_second)
        create(text_file, outputs, vocab_file)
    first = os.stat(outputs[0]).st_mtime_ns
    # Killed between the file and its sidecar: it is ours all the same.
    with open(outputs[1], "wb") as stream:
        stream.write(b"half")
    create(text_file, outputs, vocab_file)
    assert os.stat(outputs[0]).st_mtime_ns == first
    assert digest(outputs) == digest(outputs_in(tmp_path / "whole"))


def test_parts_of_other_settings_are_not_taken_over(
    tmp_path, text_file, vocab_file, small_blocks, stop_after
):
    outputs = outputs_in(tmp_path / "stopped")
    stop_after(4)
    with pytest.raises(StoppedError):
        create(text_file, outputs, vocab_file)
    done = stop_after(10**6)
    settings = SETTINGS._replace(random_seed=99)
    create(text_file, outputs, vocab_file, settings=settings)
    assert done[0] == 0
    create(text_file, outputs_in(tmp_path / "whole"), vocab_file, settings=settings)
    assert digest(outputs) == digest(outputs_in(tmp_path / "whole"))
    assert not [name for name in os.listdir(str(tmp_path / "stopped")) if "work" in name]


def test_unfinished_work_can_lie_elsewhere_and_strange_files_there_stay(
    tmp_path, text_file, vocab_file, small_blocks, stop_after
):
    outputs = outputs_in(tmp_path / "out")
    work = tmp_path / "work"
    stop_after(2)
    with pytest.raises(StoppedError):
        create(text_file, outputs, vocab_file, work_dir=str(work))
    assert os.listdir(str(tmp_path / "out")) == []
    (folder,) = work.iterdir()
    (folder / "notes.txt").write_text("mine")
    done = stop_after(10**6)
    create(text_file, outputs, vocab_file, work_dir=str(work))
    assert done[0] == 2
    assert os.listdir(str(folder)) == ["notes.txt"]


def test_two_jobs_do_not_make_the_same_output_at_once(tmp_path, text_file, vocab_file):
    outputs = outputs_in(tmp_path / "out")
    lock = tmp_path / "out" / ".0.tf_record.work" / "lock"
    lock.parent.mkdir(parents=True)
    # The lock is between processes: another one has to hold it.
    holder = multiprocessing.get_context("fork").Process(target=hold, args=(str(lock),))
    holder.start()
    while not (tmp_path / "held").exists() and holder.is_alive():
        time.sleep(0.01)
    try:
        with pytest.raises(ValueError, match="Another process"):
            create(text_file, outputs, vocab_file)
    finally:
        holder.terminate()
        holder.join()


def hold(lock):
    with open(lock, "a") as stream:
        pretraining_data.fcntl.lockf(stream, pretraining_data.fcntl.LOCK_EX)
        (pathlib.Path(lock).parents[2] / "held").touch()
        time.sleep(60)


# ---- parts ---------------------------------------------------------------------------------------


def batch(records):
    ends = np.cumsum([len(record) for record in records], dtype=np.int64)
    return example_batches.EncodedExamples(b"".join(records), ends)


def make_parts(folder, sizes, *, seed=0):
    """Parts with records that tell their key; returns them and all (key, record) in order."""
    random = np.random.RandomState(seed)
    parts, everything = [], []
    for number, size in enumerate(sizes):
        keys = np.sort(random.randint(0, 2**63, size).astype(np.uint64) * np.uint64(2))
        records = [b"%d:%d" % (number, key) * random.randint(1, 9) for key in keys.tolist()]
        batches = [batch(records[start : start + 7]) for start in range(0, size, 7)]
        path = str(folder / f"{number}.part")
        parts.append(pretraining_data.write_part(path, keys, batches, note={"window": 0}))
        everything += zip(keys.tolist(), records)
    return parts, sorted(everything, key=lambda pair: pair[0])


def test_a_part_is_read_as_it_was_written_and_only_if_it_is_whole(tmp_path):
    parts, _ = make_parts(tmp_path, [20, 0, 1])
    assert [pretraining_data.read_part(part.path) for part in parts] == parts
    assert [part.count for part in parts] == [20, 0, 1]
    other = tmp_path / "other.part"
    assert pretraining_data.read_part(str(other)) is None
    content = (tmp_path / "0.part").read_bytes()
    changed = content[:10] + b"?" + content[11:]
    for damaged in (b"", content[:-1], content[:100], content[5:-30], changed):
        other.write_bytes(damaged)
        assert pretraining_data.read_part(str(other)) is None


def test_a_part_appears_only_when_it_is_whole(tmp_path):
    def failing():
        yield batch([b"one"])
        raise StoppedError

    with pytest.raises(StoppedError):
        pretraining_data.write_part(
            str(tmp_path / "a.part"), np.zeros(2, np.uint64), failing(), note={}
        )
    assert os.listdir(str(tmp_path)) == []


@pytest.mark.parametrize("range_bytes", [1, 100, 1000, 1 << 20])
def test_records_of_all_parts_come_in_order_of_key_in_stretches_of_any_length(
    tmp_path, range_bytes
):
    parts, expected = make_parts(tmp_path, [50, 0, 33, 1, 70])
    records = [record for _, record in expected]
    for stretch in (154, 50, 7):
        shuffled = pretraining_data.Shuffled(parts, range_bytes=range_bytes)
        for start in range(0, 154, stretch):
            count = min(stretch, 154 - start)
            if start // stretch % 3 == 1:
                shuffled.skip(count)
            else:
                assert list(shuffled.records(count)) == records[start : start + count]


def test_only_one_range_of_records_is_in_memory_and_those_passed_over_are_not_read(
    tmp_path, monkeypatch
):
    parts, _ = make_parts(tmp_path, [400, 300])
    read, original = [], pretraining_data._read_rows

    def counting(part, first, last):
        read.append(last - first)
        return original(part, first, last)

    monkeypatch.setattr(pretraining_data, "_read_rows", counting)
    size = sum(part.bytes for part in parts)
    shuffled = pretraining_data.Shuffled(parts, range_bytes=size // 10)
    shuffled.skip(350)
    assert not read
    records = shuffled.records(350)
    next(records)
    assert sum(read) < 700 / 5
    assert len(list(records)) == 349


def test_records_with_equal_keys_stay_in_order_of_part(tmp_path):
    keys = np.array([5, 5], np.uint64)
    parts = [
        pretraining_data.write_part(
            str(tmp_path / name), keys, [batch(records)], note={"window": 0}
        )
        for name, records in (("a", [b"1", b"2"]), ("b", [b"3", b"4"]))
    ]
    assert list(pretraining_data.Shuffled(parts).records(4)) == [b"1", b"2", b"3", b"4"]


# ---- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"max_seq_length": 4},
        {"max_predictions_per_seq": 0},
        {"ngram": 0},
        {"dupe_factor": 0},
        {"shuffle_window_mb": 0},
        {"masked_lm_prob": 1.5},
        {"masked_lm_prob": float("nan")},
        {"short_seq_prob": -0.1},
        {"word_start": "spaces"},
        {"input_file_mode": "w"},
        {"language": "ja"},
        {"user_dictionary": "w.txt"},
        {"word_start": "underline"},
        {"word_start": "underline", "language": "zh"},
        {"masked_lm_prob": 0.0, "do_permutation": True},
    ],
    ids=str,
)
def test_settings_out_of_range_or_that_do_not_fit_are_refused(
    changes, tmp_path, text_file, vocab_file
):
    with pytest.raises(ValueError, match=f"--{next(iter(changes))}"):
        create(text_file, outputs_in(tmp_path), vocab_file, settings=SETTINGS._replace(**changes))


def test_too_few_slots_for_the_wanted_predictions_are_warned_of(caplog):
    pretraining_instances.check_settings(pretraining_instances.DataSettings(max_seq_length=512))
    assert "--max_predictions_per_seq=77 would make room" in caplog.text
    caplog.clear()
    pretraining_instances.check_settings(pretraining_instances.DataSettings(max_seq_length=128))
    assert not caplog.records


def test_bad_output_names_are_refused_before_any_work(tmp_path, text_file, vocab_file):
    for outputs, message in (
        ([], "--output_file names no file"),
        (["a", "a"], "--output_file names 'a' more than once"),
        ([text_file], "is also an input file"),
        ([str(tmp_path)], "is a folder; name a file in it"),
        ([text_file + "/x/out"], "--output_file: cannot write in the folder"),
    ):
        with pytest.raises(ValueError, match=message):
            create(text_file, outputs, vocab_file)
    for name, value in {"num_processes": 0, "work_dir": "gs://bucket/x"}.items():
        with pytest.raises(ValueError, match=f"--{name} is"):
            create(text_file, outputs_in(tmp_path), vocab_file, **{name: value})


@pytest.mark.parametrize("text", ["eta\n\neta\n", "\u200b\n\n\u200b\n"])
def test_text_without_instances_is_refused_and_nothing_remains(text, tmp_path, vocab_file):
    path = tmp_path / "text.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="--input_file: the text gives no instance"):
        create(str(path), outputs_in(tmp_path / "out"), vocab_file)
    assert os.listdir(str(tmp_path / "out")) == []


def test_text_in_another_encoding_is_refused_even_if_bad_bytes_may_be_dropped(tmp_path, vocab_file):
    path = tmp_path / "text.txt"
    path.write_bytes("alpha beta \u4e2d\u6587.\n".encode("gbk") * 20 + b"alpha beta.\n" * 20)
    with pytest.raises(ValueError, match="20 of 40 lines are not UTF-8"):
        create(
            str(path),
            outputs_in(tmp_path / "out"),
            vocab_file,
            settings=SETTINGS._replace(input_file_mode="rb"),
        )


def test_text_that_changes_while_it_is_read_is_refused(
    tmp_path, text_file, vocab_file, monkeypatch
):
    original = pretraining_data.make_part

    def make_part(*arguments):
        with open(text_file, "a", encoding="utf-8") as stream:
            stream.write("one more.\n")
        return original(*arguments)

    monkeypatch.setattr(pretraining_data, "make_part", make_part)
    with pytest.raises(ValueError, match=r"text\.txt' was changed"):
        create(text_file, outputs_in(tmp_path / "out"), vocab_file)


@pytest.mark.parametrize("processes", [1, 2])
def test_bad_utf8_is_reported_from_wherever_it_is_read(processes, tmp_path, vocab_file):
    path = tmp_path / "text.txt"
    path.write_bytes(b"alpha beta.\n\nb\xe9ta.\n")
    with pytest.raises(ValueError, match=r"text\.txt', line 3 is not UTF-8"):
        create(str(path), outputs_in(tmp_path / "out"), vocab_file, num_processes=processes)
    assert os.listdir(str(tmp_path / "out")) == []
