# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Making pretraining data: settings, output files, resumption, the same bytes everywhere."""

import hashlib
import logging
import os
import random

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.pretrained import model_vocabulary
from albert.pretraining import job as pretraining_data
from albert.pretraining import model as pretraining_utils
from albert.pretraining import text_blocks
from albert.util import files
from tests.support.shared import needs_shared, shared_path

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ","]
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
SETTINGS = pretraining_data.DataSettings(
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
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 3000)


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


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_for_any_number_of_processes(
    tmp_path, text_file, vocab_file, small_blocks
):
    digests = set()
    for processes in (1, 2, 3):
        outputs = outputs_in(tmp_path / str(processes))
        summary = create(text_file, outputs, vocab_file, num_processes=processes)
        assert not summary.was_current
        digests.add(digest(outputs))
    assert len(digests) == 1
    other = outputs_in(tmp_path / "other")
    create(text_file, other, vocab_file, settings=SETTINGS._replace(random_seed=8))
    assert digest(other) not in digests


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


@needs_shared
def test_records_have_the_features_of_the_references(tmp_path, text_file, vocab_file):
    settings = SETTINGS._replace(max_seq_length=128, max_predictions_per_seq=20)
    outputs = outputs_in(tmp_path, 1)
    create(text_file, outputs, vocab_file, settings=settings)
    reference = str(shared_path("golden/pretraining_sample/sample.tf_record"))
    shapes = []
    for path in (outputs[0], reference):
        features = tf.train.Example.FromString(records_in(path)[0]).features.feature
        shapes.append(
            {
                name: (len(value.int64_list.value), len(value.float_list.value))
                for name, value in features.items()
            }
        )
    assert shapes[0] == shapes[1]


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
    monkeypatch.setattr(pretraining_data, "_CELLS", 32 * 50)
    maker = pretraining_data.InstanceMaker(
        tokenization.FullTokenizer(vocab_file), SETTINGS._replace(dupe_factor=30)
    )
    (block,) = maker.read_blocks([text_file])
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


@pytest.mark.parametrize(
    "changes", [{"dupe_factor": 2}, {"random_seed": 9}, {"shuffle_window_mb": 5}]
)
def test_output_of_other_settings_is_made_again_with_a_line_that_says_why(
    changes, tmp_path, text_file, vocab_file, caplog
):
    caplog.set_level(logging.INFO, logger="albert")
    outputs = outputs_in(tmp_path, 1)
    create(text_file, outputs, vocab_file)
    summary = create(text_file, outputs, vocab_file, settings=SETTINGS._replace(**changes))
    assert not summary.was_current
    lines = [record.getMessage() for record in caplog.records]
    (name,) = changes
    reason = f"will be made again: {name} was {getattr(SETTINGS, name)} and is {changes[name]}."
    assert any(reason in line for line in lines)


def test_a_changed_text_vocabulary_or_number_of_files_makes_the_output_again(
    tmp_path, text_file, vocab_file
):
    outputs = outputs_in(tmp_path, 2)
    create(text_file, outputs, vocab_file)
    with open(text_file, "a", encoding="utf-8") as stream:
        stream.write("\nalpha beta.\nbeta alpha.\n")
    assert not create(text_file, outputs, vocab_file).was_current
    other = tmp_path / "vocab.txt"
    with open(vocab_file, encoding="utf-8") as stream:
        other.write_text(stream.read() + "omega\n", encoding="utf-8")
    assert not create(text_file, outputs, str(other)).was_current
    assert create(text_file, outputs, str(other)).was_current
    assert not create(text_file, outputs[:1], str(other)).was_current


def test_a_file_of_others_is_replaced_only_when_told_to(tmp_path, text_file, vocab_file):
    outputs = outputs_in(tmp_path, 2)
    with open(outputs[1], "w", encoding="utf-8") as stream:
        stream.write("precious")
    with pytest.raises(ValueError, match=r"1\.tf_record' is there already.*--overwrite"):
        create(text_file, outputs, vocab_file)
    with open(outputs[1], encoding="utf-8") as stream:
        assert stream.read() == "precious"
    assert sorted(os.listdir(str(tmp_path))) == ["1.tf_record", "text.txt"]
    create(text_file, outputs, vocab_file, overwrite=True)
    assert files.count_records(outputs[1]) > 0


def test_records_of_other_text_are_replaced_only_when_told_to(tmp_path, text_file, vocab_file):
    outputs = outputs_in(tmp_path, 1)
    create(text_file, outputs, vocab_file)
    with open(outputs[0], "rb") as stream:
        before = stream.read()
    other = tmp_path / "other.txt"
    with open(text_file, encoding="utf-8") as stream:
        other.write_text(stream.read() + "\nOne more sentence.\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"made from text\.txt, and --input_file is other\.txt"):
        create(str(other), outputs, vocab_file)
    with open(outputs[0], "rb") as stream:
        assert stream.read() == before
    assert not create(str(other), outputs, vocab_file, overwrite=True).was_current


def test_our_own_file_that_was_changed_since_is_not_replaced_silently(
    tmp_path, text_file, vocab_file
):
    outputs = outputs_in(tmp_path, 1)
    create(text_file, outputs, vocab_file)
    with open(outputs[0], "ab") as stream:
        stream.write(b"appended by hand")
    with pytest.raises(ValueError, match="did not make it as it is"):
        create(text_file, outputs, vocab_file)


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

    original = pretraining_data.InstanceMaker.make_part

    def arrange(parts):
        done = []

        def make_part(self, block, path):
            if len(done) == parts:
                raise StoppedError
            done.append(block.number)
            return original(self, block, path)

        monkeypatch.setattr(pretraining_data.InstanceMaker, "make_part", make_part)
        return done

    return arrange


def test_a_stopped_job_goes_on_and_ends_in_the_same_bytes(
    tmp_path, text_file, vocab_file, small_blocks, stop_after, caplog
):
    caplog.set_level(logging.INFO, logger="albert")
    create(text_file, outputs_in(tmp_path / "whole"), vocab_file)
    outputs = outputs_in(tmp_path / "stopped")
    done = stop_after(4)
    with pytest.raises(StoppedError):
        create(text_file, outputs, vocab_file)
    assert done == [0, 1, 2, 3]
    done = stop_after(10**6)
    create(text_file, outputs, vocab_file)
    assert done[:2] == [4, 5]
    assert digest(outputs) == digest(outputs_in(tmp_path / "whole"))
    assert "finished when this job was stopped" in caplog.text


def test_a_part_that_was_damaged_is_made_again(
    tmp_path, text_file, vocab_file, small_blocks, stop_after
):
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
    assert done[:2] == [1, 4]
    assert digest(outputs) == digest(outputs_in(tmp_path / "whole"))


def test_a_job_stopped_while_writing_keeps_the_finished_files(
    tmp_path, text_file, vocab_file, small_blocks, monkeypatch
):
    create(text_file, outputs_in(tmp_path / "whole"), vocab_file)
    outputs = outputs_in(tmp_path / "stopped")
    original = pretraining_data._Outputs._write_file

    def stop_at_the_second(self, number, records):
        if number == 1:
            raise StoppedError
        original(self, number, records)

    with monkeypatch.context() as patched, pytest.raises(StoppedError):
        patched.setattr(pretraining_data._Outputs, "_write_file", stop_at_the_second)
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


def test_a_remote_work_dir_is_refused(tmp_path, text_file, vocab_file):
    with pytest.raises(
        ValueError, match="--work_dir is 'gs://bucket/x'; it must be a local folder"
    ):
        create(text_file, outputs_in(tmp_path), vocab_file, work_dir="gs://bucket/x")


def test_two_jobs_do_not_make_the_same_output_at_once(tmp_path, text_file, vocab_file):
    outputs = outputs_in(tmp_path)
    held = pretraining_data._Outputs(outputs, {})
    with pretraining_data._WorkFolder(None, outputs=held):
        # The lock is between processes: another one has to try.
        ours, theirs = pretraining_data.worker_pool.multiprocessing.get_context("fork").Pipe()

        def attempt():
            try:
                create(text_file, outputs, vocab_file)
            except ValueError as error:
                theirs.send(str(error))

        context = pretraining_data.worker_pool.multiprocessing.get_context("fork")
        process = context.Process(target=attempt)
        process.start()
        assert ours.poll(60)
        assert "Another process is making the same output now" in ours.recv()
        process.join()


# ---- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes,message",
    [
        ({"max_seq_length": 4}, "--max_seq_length is 4; it must be at least 5"),
        ({"max_predictions_per_seq": 0}, "--max_predictions_per_seq is 0; it must be at least 1"),
        ({"ngram": 0}, "--ngram is 0"),
        ({"dupe_factor": 0}, "--dupe_factor is 0"),
        ({"shuffle_window_mb": 0}, "--shuffle_window_mb is 0"),
        ({"masked_lm_prob": 0.0, "do_permutation": True}, "--masked_lm_prob=0 masks none"),
        ({"masked_lm_prob": 1.5}, "--masked_lm_prob is 1.5; it is a share"),
        ({"masked_lm_prob": float("nan")}, "--masked_lm_prob is nan"),
        ({"short_seq_prob": -0.1}, "--short_seq_prob is -0.1"),
        ({"word_start": "spaces"}, "--word_start is 'spaces'; it must be one of reference"),
        ({"input_file_mode": "w"}, "--input_file_mode is 'w'; it must be r"),
        ({"word_start": "underline"}, "--word_start=underline is for SentencePiece"),
    ],
)
def test_settings_out_of_range_are_refused(changes, message, tmp_path, text_file, vocab_file):
    with pytest.raises(ValueError, match=message):
        create(text_file, outputs_in(tmp_path), vocab_file, settings=SETTINGS._replace(**changes))


def test_too_few_slots_for_the_wanted_predictions_are_warned_of(caplog):
    pretraining_data.check_settings(pretraining_data.DataSettings(max_seq_length=512))
    assert "--max_predictions_per_seq=77 would make room" in caplog.text
    caplog.clear()
    pretraining_data.check_settings(pretraining_data.DataSettings(max_seq_length=128))
    assert not caplog.records


def test_no_processes_are_refused(tmp_path, text_file, vocab_file):
    with pytest.raises(ValueError, match="--num_processes is 0; it must be at least 1"):
        create(text_file, outputs_in(tmp_path), vocab_file, num_processes=0)


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
    original = pretraining_data.InstanceMaker.make_part

    def make_part(self, block, path):
        with open(text_file, "a", encoding="utf-8") as stream:
            stream.write("one more.\n")
        return original(self, block, path)

    monkeypatch.setattr(pretraining_data.InstanceMaker, "make_part", make_part)
    with pytest.raises(ValueError, match=r"text\.txt' was changed while it was read"):
        create(text_file, outputs_in(tmp_path / "out"), vocab_file)


@pytest.mark.parametrize("processes", [1, 2])
def test_bad_utf8_is_reported_from_wherever_it_is_read(processes, tmp_path, vocab_file):
    path = tmp_path / "text.txt"
    path.write_bytes(b"alpha beta.\n\nb\xe9ta.\n")
    with pytest.raises(ValueError, match=r"text\.txt', line 3 is not UTF-8"):
        create(str(path), outputs_in(tmp_path / "out"), vocab_file, num_processes=processes)
    assert os.listdir(str(tmp_path / "out")) == []
