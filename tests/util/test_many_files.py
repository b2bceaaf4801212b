# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Looking at many files at a time."""

import pathlib
import threading

import pytest

from albert import modeling, tokenization
from albert.data import batches, record_files
from albert.pretraining import documents, instances, job, model
from albert.util import many_files
from tests.support import pretraining_records

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"


def test_each_gives_results_in_order_while_several_are_worked_on():
    meeting = threading.Barrier(4)

    def met(number):
        meeting.wait(timeout=60)
        return -number

    assert list(many_files.each(met, range(8))) == [0, -1, -2, -3, -4, -5, -6, -7]
    assert list(many_files.each(met, [])) == []


def test_each_raises_the_error_of_the_first_item():
    later = threading.Event()

    def fail(number):
        if number == 30:
            later.set()
            raise ValueError(30)
        if number == 3:
            later.wait(timeout=60)
            raise ValueError(3)

    with pytest.raises(ValueError, match="^3$"):
        list(many_files.each(fail, range(100)))


def test_each_starts_few_items_ahead():
    started = []
    results = many_files.each(started.append, range(10000))
    next(results)
    results.close()
    assert len(started) < 200


def texts_in_a_folder(folder, meet):
    has_met = meet(record_files, "read_sidecar")
    assert len(documents.find_files(str(folder), "input_file")) == 8
    return has_met


def texts_of_a_pattern(folder, meet):
    has_met = meet(documents, "is_folder", after=1)  # the pattern
    assert len(documents.find_files(f"{folder}/*.txt", "input_file")) == 8
    return has_met


def records(folder, meet):
    paths = [pretraining_records.write_records(folder / f"{n}.tf", 2) for n in range(8)]
    has_met = meet(batches, "records")
    model.check_records(
        paths,
        max_seq_length=pretraining_records.LENGTH,
        max_predictions_per_seq=pretraining_records.PREDICTIONS,
        config=modeling.AlbertConfig.from_dict(pretraining_records.CONFIG),
    )
    return has_met


def finished_output(folder, meet):
    vocabulary = str(FIXTURES / "tiny.model")

    def create():
        return job.create_pretraining_data(
            [str(FIXTURES / "corpus.txt")],
            [str(folder / f"{number}.tf_record") for number in range(8)],
            tokenizer=tokenization.FullTokenizer(None, spm_model_file=vocabulary),
            tokenizer_file=vocabulary,
            settings=instances.DataSettings(max_seq_length=32),
            num_processes=1,
        )

    create()
    has_met = meet(record_files, "why_stale")
    assert create() is None
    return has_met


@pytest.mark.parametrize(
    "look_at", [texts_in_a_folder, texts_of_a_pattern, records, finished_output]
)
def test_files_are_looked_at_together(tmp_path, meet, look_at):
    for number in range(8):
        (tmp_path / f"{number}.txt").write_text("A sentence, and so on.\n", encoding="utf-8")
    has_met = look_at(tmp_path, meet)
    assert has_met()
