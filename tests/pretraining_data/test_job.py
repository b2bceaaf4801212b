# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Making pretraining data: bytes, output files, resumption and mistakes."""

import os
import pathlib
import shutil

import numpy as np
import pytest

from albert.data import record_files
from albert.pretraining_data import documents, job
from albert.pretraining_data.flags import JobFlags
from albert.util import flags
from tests.support import FIXTURES, pretraining_records, processes
from tests.support.pretraining_records import records_in
from tests.support.recorded import assert_checksum
from tests.support.shared import sha256

CORPUS = FIXTURES / "corpus.txt"
VOCABULARY = FIXTURES / "wordpiece_vocab.txt"
SMALL = f"""--vocab_file={VOCABULARY} --max_seq_length=32 --max_predictions_per_seq=5
    --dupe_factor=3 --random_seed=7 --num_processes=1"""
CHINESE = f"""--vocab_file={FIXTURES}/chinese_vocab.txt --language=zh --dupe_factor=2
    --max_seq_length=64 --max_predictions_per_seq=10"""


@pytest.fixture
def text_file(tmp_path):
    return pathlib.Path(shutil.copy(CORPUS, tmp_path / "text.txt"))


@pytest.fixture
def small_blocks(monkeypatch):
    """Many blocks and ranges of little text, so that several processes and parts have work."""
    monkeypatch.setattr(documents, "BLOCK_BYTES", 500)
    monkeypatch.setattr(job, "_BUCKET_BYTES", 1000)


def create(outputs, arguments="", text=CORPUS):
    given = f"""--input_file={text} --output_file={",".join(map(str, outputs))} {SMALL}
        {arguments}"""
    return job.create_pretraining_data(flags.parse(JobFlags, given.split()))


def outputs_in(folder, count=3):
    return [folder / f"{number}.tf_record" for number in range(count)]


# ---- the records ---------------------------------------------------------------------------------


# If the bytes are others, data made before cannot be made again: raise instances.FORMAT.
@pytest.mark.parametrize(
    "name, arguments",
    [
        ("defaults", ""),
        ("permutation", "--do_permutation --nofavor_shorter_ngram"),
        ("next sentence", "--random_next_sentence --nodo_whole_word_mask"),
        ("chinese words", f"--input_file={FIXTURES}/corpus_zh.txt {CHINESE}"),
    ],
)
def test_job_writes_known_bytes(name, arguments, tmp_path, small_blocks):
    create(outputs_in(tmp_path, 2), arguments)
    assert_checksum(f"job, {name}", sha256(*outputs_in(tmp_path, 2)))


def test_job_divides_instances_evenly(tmp_path, small_blocks):
    outputs, (one,) = outputs_in(tmp_path / "out", 4), outputs_in(tmp_path / "one", 1)
    made = create(outputs)
    counts = [record_files.count_records(str(path)) for path in outputs]
    assert sum(counts) == made.instances and counts == sorted(counts)[::-1]
    assert counts[0] - counts[3] <= 1
    assert len(os.listdir(tmp_path / "out")) == 9  # with metadata and the vocabulary
    create([one])
    assert records_in(one) == records_in(*outputs) != sorted(records_in(one))


def test_shuffle_mixes_one_window(tmp_path, small_blocks, monkeypatch):
    # Each document has a word of its own; its place in the text is that of the document.
    letters = VOCABULARY.read_text().splitlines().index("a")
    text, (output,) = tmp_path / "text.txt", outputs_in(tmp_path, 1)
    text.write_text("".join(f"{(letter + ' ') * 6}.\n" * 300 + "\n" for letter in "abcdefgh"))

    def places(arguments=""):
        """Where the records of each document lie in the output, as shares of its length."""
        create([output], f"--masked_lm_prob=0 --dupe_factor=2 {arguments}", text)
        ids = pretraining_records.read(output, 32, 5)["input_ids"].max(axis=1) - letters
        return [np.flatnonzero(ids == number) / len(ids) for number in range(8)]

    assert np.ptp([place.mean() for place in places()]) < 0.15
    monkeypatch.setattr(documents, "_MEGABYTE", 8000)  # a window of 2.5 documents or so
    found = places("--shuffle_window_mb=1")
    assert found[0].max() < found[7].min()
    assert found[0].mean() < found[3].mean() < found[7].mean()


def test_counts_of_job(tmp_path):
    text, outputs = tmp_path / "text.txt", outputs_in(tmp_path, 20)
    text.write_bytes(b"the clock was.\n" * 8 + b"\n\xe2\x80\x8b\n\nb\n\nb\xe9ta and to.\n")
    counts = create(outputs, "--input_file_mode=rb --dupe_factor=2", text)
    # The empty document is a zero-width space; "b" alone is left out in both passes.
    assert counts[:5] == (3, 1, 10, 1, 2)
    assert counts.instances >= 4
    assert record_files.count_records(str(outputs[-1])) == 0  # more files than instances


def test_tokens_of_long_lines_are_counted(tmp_path, caplog):
    text, rows = tmp_path / "text.txt", {}
    text.write_text("\n".join(["The king was in the old town. " * 30] * 3))
    for number, arguments in enumerate(["", "--split_sentences"]):
        caplog.clear()
        counts = create([tmp_path / f"{number}.tf_record"], arguments, text)
        warnings = [one for one in caplog.records if one.levelname == "WARNING"]
        rows[arguments] = (counts.tokens, counts.cut_tokens, len(warnings))
    tokens = counts.tokens  # 9 of each sentence
    assert tokens == 3 * 30 * 9
    assert rows == {"": (tokens, tokens - 3 * (32 - 3), 1), "--split_sentences": (tokens, 0, 0)}


# ---- output files --------------------------------------------------------------------------------


def test_stale_output_is_made_again(tmp_path, text_file):
    outputs, other = outputs_in(tmp_path, 2), tmp_path / "vocab.txt"
    create(outputs, text=text_file)
    before = [os.stat(path).st_mtime_ns for path in outputs]
    assert create(outputs, "--num_processes=2 --overwrite", text_file) is None
    assert [os.stat(path).st_mtime_ns for path in outputs] == before
    assert create(outputs, "--dupe_factor=2", text_file)
    with open(text_file, "a", encoding="utf-8") as stream:
        stream.write("\nThe clock.\nThe sea.\n")
    assert create(outputs, "--dupe_factor=2", text_file)
    other.write_text(VOCABULARY.read_text("utf-8") + "omega\n", "utf-8")
    assert create(outputs, f"--vocab_file={other}", text_file)
    assert create(outputs[:1], f"--vocab_file={other}", text_file)


@pytest.mark.slow
def test_changed_user_dictionary_makes_records_again(tmp_path):
    words, moved = tmp_path / "words.txt", tmp_path / "deep" / "words.txt"
    text, moved_words = FIXTURES / "corpus_zh.txt", f"{CHINESE} --user_dictionary={moved}"
    words.write_text("准确率\n", encoding="utf-8")
    create([tmp_path / "a"], f"{CHINESE} --user_dictionary={words}", text)
    moved.parent.mkdir()
    words.rename(moved)
    assert create([tmp_path / "a"], moved_words, text) is None
    moved.write_text("准确率\n语言模型\n", encoding="utf-8")
    assert create([tmp_path / "a"], moved_words, text)


@pytest.mark.parametrize("what", ["of others", "changed since", "of other text"])
def test_foreign_file_is_replaced_only_with_overwrite(what, tmp_path, text_file):
    outputs = outputs_in(tmp_path, 2)
    if what != "of others":
        create(outputs, text=text_file)
    if what == "of other text":
        text_file = text_file.rename(tmp_path / "other.txt") or tmp_path / "other.txt"
    else:
        with open(outputs[1], "ab") as stream:
            stream.write(b"precious")
    before = sha256(outputs[1]), sorted(tmp_path.iterdir())
    with pytest.raises(ValueError, match="--overwrite"):
        create(outputs, text=text_file)
    assert (sha256(outputs[1]), sorted(tmp_path.iterdir())) == before
    assert create(outputs, "--overwrite", text_file)
    assert record_files.count_records(str(outputs[1])) > 0


# ---- resumption ----------------------------------------------------------------------------------


class StoppedError(Exception):
    """Stands for whatever ends a process."""


def stop_at(monkeypatch, module, name, call):
    """Makes a function fail in one of its calls, as a machine that goes down would."""
    original, calls = getattr(module, name), []

    def function(*arguments):
        calls.append(arguments)
        if len(calls) == call:
            raise StoppedError
        return original(*arguments)

    monkeypatch.setattr(module, name, function)
    return calls


def test_stopped_job_resumes_to_same_bytes(tmp_path, small_blocks, monkeypatch):
    whole, outputs = outputs_in(tmp_path / "whole"), outputs_in(tmp_path / "stopped")
    create(whole)
    with monkeypatch.context() as patched, pytest.raises(StoppedError):
        stop_at(patched, job, "make_part", 5)
        create(outputs)
    part = sorted((tmp_path / "stopped").rglob("*.part"))[1]
    part.write_bytes(part.read_bytes()[:-100])
    with monkeypatch.context() as patched, pytest.raises(StoppedError):
        made = stop_at(patched, job, "make_part", None)
        stop_at(patched, job, "write_file", 2)
        create(outputs)
    # Parts that are whole are not made again, nor are files.
    assert [block.number for _, block, _ in made][:3] == [1, 4, 5]
    first = os.stat(outputs[0]).st_mtime_ns
    outputs[1].write_bytes(b"half")  # killed between the file and its metadata
    create(outputs)
    assert os.stat(outputs[0]).st_mtime_ns == first
    assert sha256(*outputs) == sha256(*whole)


def test_unfinished_work_of_other_settings_is_not_used(tmp_path, small_blocks, monkeypatch):
    outputs, whole = outputs_in(tmp_path / "out"), outputs_in(tmp_path / "whole")
    work, other = f"--work_dir={tmp_path}/work", "--random_seed=99"
    with monkeypatch.context() as patched, pytest.raises(StoppedError):
        stop_at(patched, job, "make_part", 3)
        create(outputs, work)
    create(outputs, f"{work} {other}")
    create(whole, other)
    assert sha256(*outputs) == sha256(*whole)
    assert not os.listdir(tmp_path / "work")


def test_second_job_is_refused(tmp_path):
    outputs = outputs_in(tmp_path / "out")
    work = job.work_folder(None, str(outputs[0]))
    with processes.holding(work) as other, pytest.raises(ValueError, match=str(other.pid)):
        create(outputs)


# ---- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        "--user_dictionary=w.txt",
        "--word_start=underline",
        "--word_start=underline --language=zh",
        "--masked_lm_prob=0 --do_permutation",
    ],
)
def test_conflicting_settings_are_refused(arguments, tmp_path):
    with pytest.raises(ValueError, match=arguments[2:].split("=")[0]):
        create(outputs_in(tmp_path), arguments)


@pytest.mark.parametrize("names", [["{}/a", "{}/b/../a"], ["{}/text.txt"], ["{}/text.txt/a"]])
def test_bad_output_names_are_refused(names, tmp_path, text_file):
    with pytest.raises(ValueError, match=r"--output_file|text\.txt"):
        create([name.format(tmp_path) for name in names], "--overwrite", text_file)
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


@pytest.mark.parametrize(
    "text, arguments, message",
    [
        (b"b\n\nb\n", "", "--input_file"),
        (b"one.\ntwo.\n", "--random_next_sentence", "--random_next_sentence"),
        (b"a.\n", "--random_next_sentence --nosentence_order", "--nosentence_order"),
        (b"\xe2\x80\x8b\n\n\xe2\x80\x8b\n", "", "--input_file"),
        (b"b\xe9.\n" * 20 + b"a b.\n" * 20, "--input_file_mode=rb", "20 of 40"),
        (b"alpha beta.\n\nb\xe9ta.\n", "", r"text\.txt', line 3 "),
        (b"alpha beta.\n\nb\xe9ta.\n", "--num_processes=2", r"text\.txt', line 3 "),
    ],
)
def test_empty_text_is_refused(text, arguments, message, tmp_path):
    (tmp_path / "text.txt").write_bytes(text)
    with pytest.raises(ValueError, match=message):
        create(outputs_in(tmp_path / "out"), arguments, tmp_path / "text.txt")
    assert not list((tmp_path / "out").glob("[!.]*"))
