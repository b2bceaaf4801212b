# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script run_pretraining: golden losses, runs in parts, and records without masks.

What it has in common with other scripts is in test_training_scripts.py.
"""

import functools
import re
import shutil

import numpy as np
import pytest

from albert import create_pretraining_data
from albert.tasks.pretraining import run as pretraining_run
from albert.tasks.pretraining.features import read_files
from albert.util import files
from tests.support import (
    FIXTURES,
    fine_tuned_models,
    one_weight,
    processes,
    read_json,
    scripts,
    training_scripts,
)
from tests.support import pretraining_records as records
from tests.support.classification_data import steps_in

slow = pytest.mark.slow

run_pretrain = functools.partial(training_scripts.run, "run_pretraining")


# ---- training and evaluation ----


@slow
def test_results_have_published_names(trained):
    folder, _ = trained("run_pretraining")
    lines = (folder / "eval_results.txt").read_text().splitlines()
    results = dict(line.split(" = ") for line in lines[-6:])
    means = ["masked_lm_accuracy", "masked_lm_loss"]
    means += ["sentence_order_accuracy", "sentence_order_loss"]
    assert list(results) == ["global_step", "loss", *means]
    # Ten records in batches of four.
    assert read_json(folder / "eval_results.json")["fingerprint"]["batches"] == 3
    for name in ("sentence_order_accuracy", "masked_lm_accuracy"):  # of 10 pairs and 20 words
        share = float(results[name]) * 20
        assert share == pytest.approx(round(share), abs=1e-4)


@slow
def test_golden_losses_of_200_steps(training_data, tmp_path):
    flags = "--num_train_steps=200 --save_checkpoints_steps=100 --learning_rate=0.01 --eval_file="
    outcome = run_pretrain(training_data, tmp_path, f"{flags} --do_eval --log_steps=200")
    means = [outcome.training.scalars[name] for name in ("loss", "gradient_norm")]
    means += [result.metrics["loss"] for result in outcome.evaluation.results]
    expected = [4.0400420, 1.1003151, 4.0056480, 3.9158542]  # of TensorFlow 2.15
    assert means == pytest.approx(expected, rel=1e-6)


@slow
def test_checkpoints_deleted_before_evaluation_are_named(training_data, tmp_path, caplog):
    flags = "--num_train_steps=8 --save_checkpoints_steps=2 --do_eval --keep_checkpoint_max="
    for kept, evaluated, deleted in ((2, [6, 8], ["2"]), (0, [2, 4, 6, 8], [])):
        caplog.clear()
        outcome = run_pretrain(training_data, tmp_path / str(kept), f"{flags}{kept}")
        assert outcome.evaluation.evaluated_steps == evaluated
        warnings = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
        named = [re.search(r"\d+", text)[0] for text in warnings if "keep_checkpoint_max" in text]
        assert named == deleted


@slow
def test_train_layers_grows_model(training_data, trained, tmp_path):
    log = "--log_steps=1 --do_eval"
    shallow = run_pretrain(training_data, tmp_path, f"--until_step=3 --train_layers=1 {log}")
    assert shallow.training.last_step == 3 and steps_in(tmp_path) == [0, 3]
    again = run_pretrain(training_data, tmp_path, log)
    rates = [0.0, *(0.00176 * part for part in (1 / 2, 4 / 6, 3 / 6, 2 / 6, 1 / 6))]
    found = [float(row["learning_rate"]) for row in one_weight.curve_of(tmp_path)]
    assert found == pytest.approx(rates, rel=1e-4)
    folders = (trained("run_pretraining")[0], tmp_path)
    names = [set(processes.weights(path / "model.ckpt-6")) for path in folders]
    assert names[0] == names[1]
    # Checkpoints are evaluated with all layers, whichever are trained.
    (early,), (same, late) = shallow.evaluation.results, again.evaluation.results
    assert (early.step, same.step, late.step) == (3, 3, 6)
    assert early.metrics["loss"] == same.metrics["loss"] != late.metrics["loss"]


# ---- what it is made from ----


def test_hashes_are_of_content(training_data, tmp_path):
    data, vocabulary = tmp_path / "data", tmp_path / "vocab.txt"
    vocabulary.write_text("[PAD]\n")
    shutil.copytree(training_data, data, copy_function=shutil.copyfile)

    def hashes(folder, **changes):
        arguments = f"--vocab_file={vocabulary} --input_file={folder}/train-*.tf_record"
        flags = training_scripts.settings_for("run_pretraining", folder, tmp_path / "o", arguments)
        training = pretraining_run.Pretraining(flags)
        paths = files.expand_patterns(flags.input_file, "input_file")
        training.training_files = read_files(paths, flags, training.config)
        for name, value in changes.items():
            setattr(training.config, name, value)
        return training.input_hashes()

    def changed(other):
        return [name for name, value in first.items() if other[name] != value]

    first = hashes(training_data)
    assert changed(hashes(data)) == []
    assert changed(hashes(data, hidden_size=8)) == ["configuration"]
    vocabulary.write_text("[UNK]\n")
    assert changed(hashes(data)) == ["vocabulary"]
    records.write_records(data / "train-1.tf_record", 24, seed=9)
    assert changed(hashes(data)) == ["training_data", "vocabulary"]


# ---- records of single segments ----


@slow
def test_results_of_single_segments_have_no_orders(training_data, tmp_path):
    single = write_unmasked(tmp_path / "train.tf_record", "--nosentence_order")
    flags = f"{single} --masked_lm_budget=0.2 --do_eval --num_train_steps=3"
    with pytest.raises(ValueError, match="train.tf_record.*--nosentence_order"):
        run_pretrain(training_data, tmp_path / "pairs", flags)
    outcome = run_pretrain(training_data, tmp_path / "out", f"{flags} --nosentence_order")
    assert set(outcome.evaluation.best.metrics) == {
        "global_step",
        "loss",
        "masked_lm_accuracy",
        "masked_lm_loss",
    }
    assert "sentence_order" not in (tmp_path / "out" / "training_curve.csv").read_text()
    assert "sentence_order" not in (tmp_path / "out" / "eval_results.txt").read_text()
    assert (
        read_json(tmp_path / "out" / "eval_results.json")["fingerprint"]["sentence_order"] is False
    )


# ---- records without masks ----


def write_unmasked(path, more=""):
    """Writes records without masks; returns the flags of a training on them."""
    flags = f"""--input_file={FIXTURES}/corpus.txt --output_file={path} --dupe_factor=1
        --spm_model_file={fine_tuned_models.VOCABULARY} --masked_lm_prob=0
        --max_seq_length={records.LENGTH} --max_predictions_per_seq={records.PREDICTIONS} {more}"""
    scripts.run(create_pretraining_data, flags)
    return f"--input_file={path} --albert_config_file={{data}}/config.json"


@pytest.fixture(scope="module")
def without_masks(training_data, tmp_path_factory):
    """Runs a training of three steps on records that hold no masks."""
    path = tmp_path_factory.mktemp("unmasked") / "train.tf_record"
    files = write_unmasked(path) + f" --eval_file={path}"

    def run_on_them(output_dir, flags=""):
        return run_pretrain(
            training_data, output_dir, f"{files} --num_train_steps=3 --do_eval {flags}"
        )

    return run_on_them


@slow
def test_float16_recompute_accumulation_combine(without_masks, tmp_path):
    flags = "--precision=float16 --recompute --use_xla --gradient_accumulation_steps=2"
    outcome = without_masks(tmp_path, f"{flags} --masked_lm_budget=0.2 --optimizer=adamw")
    assert np.isfinite(outcome.training.scalars["gradient_norm"])
    assert outcome.training.scalars["loss_scale"] == 2.0**15
    assert np.isfinite(outcome.evaluation.best.metrics["loss"])


@slow
def test_unmasked_records_evaluate_alike(without_masks, tmp_path):
    masks = "--masked_lm_budget=0.25 --max_predictions_per_seq=4"
    first = without_masks(tmp_path / "0", f"{masks} --seed=1").evaluation.results[-1]
    start = f"--init_checkpoint={tmp_path}/0/model.ckpt-3 --eval_untrained"
    second = without_masks(tmp_path / "1", f"{masks} --seed=2 {start}").evaluation.results[0]
    assert (first.step, second.step) == (3, 0)
    loss = first.metrics["masked_lm_loss"]
    assert second.metrics["masked_lm_loss"] == pytest.approx(loss) and loss > 1.0
    # Another number of masks is another measurement.
    fewer = "--masked_lm_budget=0.25 --max_predictions_per_seq=1"
    again = without_masks(tmp_path / "0", fewer).evaluation
    assert again.evaluated_steps == [3] and again.best.metrics["masked_lm_loss"] != loss


def test_unmasked_records_need_a_budget(without_masks, tmp_path):
    with pytest.raises(ValueError, match="tf_record.*--masked_lm_budget="):
        without_masks(tmp_path)


def test_unmasked_records_refuse_other_settings(training_data, tmp_path):
    train, other = tmp_path / "train.tf_record", tmp_path / "other.tf_record"
    flags = write_unmasked(train) + " --masked_lm_budget=0.25 "
    write_unmasked(other, "--ngram=1")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *map(str, range(400))]
    (tmp_path / "vocab.txt").write_text("\n".join(vocabulary))
    larger = f"--vocab_file={tmp_path}/vocab.txt"
    for wrong, word in ((f"--input_file={train},{other}", "ngram"), (larger, "405 .* 400")):
        with pytest.raises(ValueError, match=word):
            run_pretrain(training_data, tmp_path / "out", flags + wrong)
