# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A damaged record in the middle of a file is named, wherever it is come across."""

import pytest
import tensorflow.compat.v1 as tf

from albert import run_pretraining
from albert.data import batches as input_pipeline
from albert.data import record_damage
from albert.training import evaluation
from albert.util import flags as flags_lib
from tests.support import pretraining_records
from tests.support.script_process import run_process

SPEC = input_pipeline.FeatureSpec([input_pipeline.Feature("number", (), tf.int64)])


def flip(path, number):
    """Damages the content of a record, and leaves the records before and after it whole."""
    records = list(record_damage.records(str(path)))
    start = sum(len(record) + 16 for record in records[:number])
    with open(str(path), "r+b") as stream:
        place = start + 12 + len(records[number]) // 2
        stream.seek(place)
        byte = stream.read(1)[0]
        stream.seek(place)
        stream.write(bytes([byte ^ 4]))


def number_files(folder, counts):
    """Record files that hold the numbers from 0."""
    paths = []
    for index, count in enumerate(counts):
        paths.append(str(folder / f"n-{index}.tfrecord"))
        with input_pipeline.AtomicRecordWriter(paths[-1], {}) as writer:
            for number in range(count):
                writer.write(SPEC.encode({"number": [number]}))
    return paths


def read_all(make_dataset, batches):
    with tf.Graph().as_default(), tf.Session() as session:
        batch = tf.data.make_one_shot_iterator(make_dataset()).get_next()
        for _ in range(batches):
            session.run(batch)


@pytest.mark.parametrize("number", [1, 63, 99])
@pytest.mark.parametrize("serve", ["seeded_batches", "evaluation_batches"])
def test_training_and_evaluation_name_file_and_record(tmp_path, serve, number):
    paths = number_files(tmp_path, [100] * 3)
    flip(paths[1], number)
    settings = {"seed": 1} if serve == "seeded_batches" else {}
    found = pytest.raises(ValueError, match=rf"n-1\.tfrecord.* record {number} ")
    with found, record_damage.explained():
        make = getattr(input_pipeline, serve)
        read_all(lambda: make(paths, SPEC, batch_size=10, **settings), 1000)


def test_a_damaged_first_record_is_named_before_anything_runs(tmp_path):
    paths = number_files(tmp_path, [5])
    flip(paths[0], 0)
    with pytest.raises(ValueError, match=r"n-0\.tfrecord.* record 0 "):
        input_pipeline.evaluation_batches(paths, SPEC, batch_size=2)


def test_another_loss_of_data_stays_what_it_is(tmp_path):
    with pytest.raises(tf.errors.DataLossError), record_damage.explained():
        raise tf.errors.DataLossError(None, None, "Checksum does not match: a checkpoint")


# ---------------------------------------------------------------------------------------------
# The script as a whole.


@pytest.fixture(scope="module")
def pretraining(tmp_path_factory):
    """A folder with a training of three steps, which then has a damaged record to go on with."""
    folder = tmp_path_factory.mktemp("damage")
    pretraining_records.write_config(folder / "tiny.json")
    pretraining_records.write_records(folder / "train-0.tf_record", 400, seed=0)
    pretraining_records.write_records(folder / "train-1.tf_record", 400, seed=1)
    run_pretraining.pretrain(flags_lib.parse(run_pretraining.Flags, flags(folder, 3)))
    flip(folder / "train-1.tf_record", 222)
    return folder


def flags(folder, steps):
    return [
        f"--albert_config_file={folder / 'tiny.json'}",
        f"--input_file={folder / 'train-*.tf_record'}",
        f"--output_dir={folder / 'out'}",
        f"--max_seq_length={pretraining_records.LENGTH}",
        f"--max_predictions_per_seq={pretraining_records.PREDICTIONS}",
        "--train_batch_size=8",
        "--eval_batch_size=4",
        "--num_warmup_steps=0",
        "--nouse_xla",
        f"--num_train_steps={steps}",
    ]


@pytest.mark.slow
def test_training_and_evaluation_end_with_one_line_and_keep_the_checkpoint(pretraining):
    process = run_process("run_pretraining", *flags(pretraining, 200))
    text = process.stderr.decode("utf-8")
    lines = text.strip().splitlines()
    assert process.returncode == 1
    errors = [line for line in lines if "train-1.tf_record" in line and "record 222 " in line]
    assert errors == lines[-1:]
    assert "Traceback" not in text and "stack" not in text
    steps = [one.step for one in evaluation.list_checkpoints(str(pretraining / "out"))]
    assert 3 in steps
    arguments = [*flags(pretraining, 3), "--nodo_train", "--do_eval", "--max_eval_steps=1000"]
    with pytest.raises(ValueError, match=r"train-1\.tf_record.* record 222 "):
        run_pretraining.pretrain(flags_lib.parse(run_pretraining.Flags, arguments))
