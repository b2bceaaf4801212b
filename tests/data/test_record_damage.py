# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A damaged record in the middle of a file is named, wherever it is come across."""

import functools

import pytest

from albert.data import record_files, shuffling
from tests.support import (
    classification_data,
    damaged_files,
    number_records,
    pretraining_records,
    training_scripts,
)

TRAINING = functools.partial(shuffling.seeded_batches, seed=1)


def flip(path, number):
    """Damages the content of a record, and leaves the records before and after it whole."""
    records = list(record_files.records(str(path)))
    start = sum(len(record) + 16 for record in records[:number])
    damaged_files.flip_bit(path, start + 12 + len(records[number]) // 2)


EVALUATION = shuffling.evaluation_batches


@pytest.mark.parametrize("serve, number", [(TRAINING, 63), (EVALUATION, 1), (EVALUATION, 99)])
def test_batches_name_damaged_record(tmp_path, serve, number):
    paths = number_records.write(tmp_path, [100] * 2)
    flip(paths[1], number)
    found = pytest.raises(ValueError, match=f"{paths[1]}.* record {number} ")
    with found, record_files.explained():
        number_records.served(lambda: serve(paths, number_records.NUMBER, batch_size=10), 1000)


@pytest.mark.slow
def test_script_names_record_and_keeps_checkpoint(tmp_path):
    pretraining_records.write_config(tmp_path / "tiny.json")
    for number in (0, 1):
        path = tmp_path / f"train-{number}.tf_record"
        pretraining_records.write_records(path, 400, seed=number)

    def pretrain(flags):
        given = f"--num_warmup_steps=0 --eval_file= {flags}"
        training_scripts.run("run_pretraining", tmp_path, tmp_path / "out", given)

    pretrain("--do_train --num_train_steps=3")
    flip(path, 222)
    for flags in ("--num_train_steps=200", "--nodo_train --do_eval --max_eval_steps=1000"):
        with pytest.raises(ValueError, match=r"train-1\.tf_record.* record 222 "):
            pretrain(flags)
    assert 3 in classification_data.steps_in(tmp_path / "out")
