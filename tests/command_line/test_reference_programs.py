# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Programs that set FLAGS and call a script's main, as google-research/albert's own test does."""

import random
import sys

import pytest
import tensorflow.compat.v1 as tf
from absl import flags
from absl.testing import flagsaver

from albert import (
    create_pretraining_data,
    export_checkpoints,
    export_to_tfhub,
    modeling,
    run_classifier,
    run_pretraining,
    run_race,
    run_squad_v1,
    run_squad_v2,
)
from albert.command_line import cli
from albert.data import record_files
from albert.util import flags as flags_lib
from tests.support import classification_data, pretraining_records, squad_data

FLAGS = flags.FLAGS
SCRIPTS = (
    run_pretraining,
    run_classifier,
    run_squad_v1,
    run_squad_v2,
    run_race,
    create_pretraining_data,
    export_to_tfhub,
    export_checkpoints,
)
every_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__[7:])
CORPUS = str(squad_data.FIXTURES / "corpus.txt")


@pytest.fixture(autouse=True)
def _restored_flags():
    was_parsed = FLAGS.is_parsed()
    with flagsaver.flagsaver():
        FLAGS.mark_as_parsed()
        yield
    if not was_parsed:
        FLAGS.unparse_flags()


def set_flags(**values):
    for name, value in values.items():
        setattr(FLAGS, name, value)


def heard(script, *names):
    values = cli.of_process(script.Flags).to_dict()
    return {name: values[name] for name in names}


# ---------------------------------------------------------------------------------------------
# What is heard.


@every_script
def test_reads_flags_defines_the_flags_of_a_script(script):
    shown = {name for name, o in flags_lib.describe(script.Flags).items() if "help" in o}
    assert sorted(shown - set(FLAGS)) == []


@every_script
def test_main_without_its_required_flags_raises(script):
    for given in (None, ["program"]):
        with pytest.raises(ValueError, match="must be given"):
            script.main(given)


def test_of_process_reads_what_a_program_set():
    set_flags(max_seq_length=13, do_train=True, learning_rate=0.25)
    FLAGS.set_default("train_batch_size", 7)
    expected = {
        "max_seq_length": 13,
        "do_train": True,
        "learning_rate": 0.25,
        "train_batch_size": 7,
    }
    for script in (run_pretraining, run_classifier, run_squad_v2, run_race):
        assert heard(script, *expected) == expected
    assert "train_batch_size" not in cli.of_process(run_race.Flags).given


def test_of_process_keeps_a_programs_own_flag():
    try:
        flags.DEFINE_integer("seed", 99, "A program's own.")
        assert heard(run_classifier, "seed") == {"seed": 99}
    finally:
        delattr(FLAGS, "seed")
        cli.reads_flags(run_classifier.Flags)


@pytest.mark.parametrize(
    "name, value", [("train_batch_size", 0), ("optimizer", "sgd"), ("max_seq_length", "long")]
)
def test_of_process_names_a_wrong_value(name, value):
    set_flags(**{name: value})
    with pytest.raises(ValueError, match=f"--{name}.*{value}"):
        heard(run_pretraining, name)


def test_main_takes_settings():
    FLAGS.do_train = True
    required = ["--albert_config_file=c", "--input_file=i", "--output_dir=o", "--nodo_train"]
    settings = flags_lib.parse(run_pretraining.Flags, required)
    with pytest.raises(ValueError, match="Nothing to do"):
        run_pretraining.main(settings)


def test_of_process_passes_over_arguments_of_another_program(monkeypatch):
    FLAGS.unparse_flags()
    monkeypatch.setattr(sys, "argv", ["pytest", "--learning_rate=3", "-q", "--no_such_flag"])
    assert heard(run_pretraining, "learning_rate") == {"learning_rate": 0.00176}
    FLAGS.unparse_flags()
    monkeypatch.setattr(sys, "argv", ["program", "--learning_rate=3"])
    assert heard(run_pretraining, "learning_rate") == {"learning_rate": 3.0}


# ---------------------------------------------------------------------------------------------
# Runs.


def write_random_records(path, count, length, *, predictions, vocab_size):
    """Records without token_boundary, with holes in their masks."""
    generator = random.Random(0)

    def numbers(size, end):
        values = [generator.randrange(end) for _ in range(size)]
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    with tf.io.TFRecordWriter(str(path)) as writer:
        for _ in range(count):
            ones = tf.train.FloatList(value=[1.0] * predictions)
            feature = {
                "input_ids": numbers(length, vocab_size),
                "input_mask": numbers(length, 2),
                "segment_ids": numbers(length, 1),
                "masked_lm_positions": numbers(predictions, length),
                "masked_lm_ids": numbers(predictions, vocab_size),
                "masked_lm_weights": tf.train.Feature(float_list=ones),
                "next_sentence_labels": numbers(1, 2),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())


@pytest.mark.slow
def test_pretraining_by_flags_trains_and_evaluates_with_the_published_batch(tmp_path):
    config = modeling.AlbertConfig(
        97,
        embedding_size=5,
        hidden_size=14,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=19,
        hidden_dropout_prob=0,
        attention_probs_dropout_prob=0,
        max_position_embeddings=13,
    )
    (tmp_path / "config.json").write_text(config.to_json_string(), encoding="utf-8")
    write_random_records(tmp_path / "records", 100, 13, predictions=7, vocab_size=97)
    set_flags(
        max_predictions_per_seq=7,
        max_seq_length=13,
        output_dir=str(tmp_path / "out"),
        albert_config_file=str(tmp_path / "config.json"),
        input_file=str(tmp_path / "records"),
        do_train=True,
        do_eval=True,
        num_train_steps=1,
        save_checkpoints_steps=1,
    )
    run_pretraining.main(None)
    written = {path.name for path in (tmp_path / "out").iterdir()}
    parts = (".meta", ".index", ".data-00000-of-00001")
    checkpoints = {name + part for name in ("model.ckpt-best", "model.ckpt-1") for part in parts}
    assert checkpoints | {"eval_results.txt", "checkpoint"} <= written


def test_data_creation_by_flags_or_a_command_line_writes_records(tmp_path):
    values = {
        "input_file": CORPUS,
        "output_file": str(tmp_path / "records"),
        "spm_model_file": str(classification_data.VOCABULARY),
        "max_seq_length": 32,
        "max_predictions_per_seq": 5,
        "dupe_factor": 1,
        "num_processes": 1,
    }
    set_flags(**values)
    create_pretraining_data.main([])
    assert record_files.count_records(str(tmp_path / "records")) > 0
    values["output_file"] = str(tmp_path / "more")
    arguments = [f"--{name}={value}" for name, value in values.items()]
    create_pretraining_data.main(FLAGS(["program", *arguments]))  # as app.run does
    assert record_files.count_records(str(tmp_path / "more")) > 0


def test_pretraining_and_data_creation_check_what_flags_name(tmp_path):
    set_flags(input_file=str(tmp_path / "none"), output_file="o", output_dir=str(tmp_path / "out"))
    with pytest.raises(ValueError, match="--input_file"):
        create_pretraining_data.main(None)
    FLAGS.albert_config_file = pretraining_records.write_config(tmp_path / "config.json")
    FLAGS.max_seq_length = 16
    with pytest.raises(ValueError, match="--input_file"):
        run_pretraining.main(None)


def test_fine_tuning_scripts_check_what_flags_name(tmp_path):
    set_flags(
        albert_config_file=classification_data.write_config(tmp_path),
        spm_model_file=str(classification_data.VOCABULARY),
        output_dir=str(tmp_path / "out"),
        max_seq_length=32,
        train_batch_size=2,
        train_step=1,
        data_dir=str(tmp_path / "none"),
        task_name="mrpc",
    )
    with pytest.raises(ValueError, match="Nothing to do"):
        run_classifier.main(None)
    set_flags(do_train=True, max_qa_length=16)
    for script in (run_classifier, run_race):
        with pytest.raises(ValueError, match="none"):
            script.main(None)
    set_flags(train_file=str(tmp_path / "none.json"), max_query_length=8)
    for script in (run_squad_v1, run_squad_v2):
        with pytest.raises(ValueError, match="none.json"):
            script.main(None)
