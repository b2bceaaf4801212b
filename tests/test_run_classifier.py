# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script run_classifier: its files, kinds of tasks, and early exit.

What it has in common with other scripts is in test_training_scripts.py.
"""

import functools
import json
import pathlib
import random
import shutil

import numpy as np
import pytest
import sklearn.metrics

from albert import run_classifier, tokenization
from albert.formats import model_vocabulary
from albert.models import inference
from albert.util import flags as flags_lib
from tests.support import classification_data as data
from tests.support import pretrained_models, read_json, training_scripts, write_json
from tests.support.classification_data import contents

slow = pytest.mark.slow

run_classify = functools.partial(training_scripts.run, "run_classifier")


@pytest.fixture
def finished(trained):
    return trained("run_classifier")


def test_training_refuses_another_vocabulary(training_data, tmp_path):
    model = pathlib.Path(pretrained_models.write_archive(tmp_path / "model"))
    own, other = model / "30k-clean.model", tmp_path / "other.model"
    model_vocabulary.put(str(model), model_vocabulary.Vocabulary("spm_model_file", str(own)))
    other.write_bytes(tokenization.with_keep_accents(own.read_bytes(), True))
    for start in (model, model / "model.ckpt-best"):
        named = f"--do_train --init_checkpoint={start} --spm_model_file={other}"
        with pytest.raises(ValueError, match="another vocabulary"):
            run_classify(training_data, tmp_path / "out", named)


# ---- files ----


def test_predictions_are_of_the_best_checkpoint(finished):
    path, outcome = finished
    results = np.loadtxt(path / "test_results.tsv")
    np.testing.assert_allclose(results.sum(axis=1), np.ones(13), atol=1e-5)
    rows = (path / "submit_results.tsv").read_text().splitlines()
    predictions = [f"{number}\t{label}" for number, label in enumerate(results.argmax(axis=1))]
    assert rows == ["index\tprediction", *predictions]
    assert (path / "MRPC.tsv").exists()
    confusion, best = read_json(path / "confusion_matrix.json"), outcome.evaluation.best
    matrix = np.array(confusion["matrix"])
    assert confusion["step"] == best.step and matrix.sum() == 21
    assert matrix.trace() / matrix.sum() == pytest.approx(best.metrics["eval_accuracy"])
    assert (confusion["rows"], confusion["columns"]) == ("labels", "predictions")
    right, predicted = np.repeat(np.indices([2, 2]).reshape(2, -1), matrix.ravel(), axis=1)
    report = sklearn.metrics.classification_report(right, predicted, digits=4, zero_division=0)
    assert (path / "classification_report.txt").read_text() == report


@slow
def test_published_task_has_further_metrics_and_class_weights(training_data, tmp_path):
    flags = "--do_train --do_eval --metrics=macro_f1,recall --class_weights=balanced --train_step=2"
    outcome = run_classify(training_data, tmp_path, flags)
    assert {"macro_f1", "recall_0", "recall_1", "eval_accuracy", "f1"} < set(outcome.metrics)
    assert read_json(tmp_path / "run_summary.json")["metric"] == "macro_f1"


def test_only_training_writes_records(finished):
    (path,) = finished[0].glob("*.tf_record")
    assert "mrpc_train." in path.name


@slow
def test_predictions_do_not_depend_on_what_is_encoded_together(
    training_data, finished, tmp_path, monkeypatch
):
    monkeypatch.setattr(inference, "POOL", 5)
    run_classify(
        training_data, tmp_path, f"--do_predict --checkpoint={finished[0]}/model.ckpt-best"
    )
    results = [np.loadtxt(folder / "test_results.tsv") for folder in (tmp_path, finished[0])]
    np.testing.assert_allclose(*results, atol=1e-6)


def test_killed_evaluation_writes_its_details_later(training_data, finished, tmp_path):
    folder = tmp_path / "out"
    shutil.copytree(finished[0], folder)
    before = contents(folder)
    (folder / "confusion_matrix.json").unlink()
    summary = read_json(folder / "run_summary.json")
    for name in ("metrics", "value", "best_step"):  # what evaluation writes at its end
        del summary[name]
    write_json(folder / "run_summary.json", summary)
    run_classify(training_data, folder, "--do_eval")
    assert contents(folder) == before


def test_checkpoint_is_evaluated_into_another_folder(training_data, finished, tmp_path):
    path, outcome = finished
    before = contents(path)
    elsewhere = f"--do_eval --checkpoint={path}/model.ckpt-2.index --padding=max"
    again = run_classify(training_data, tmp_path, f"{elsewhere} --eval_batch_size=5")
    assert again.evaluation is None and contents(path) == before
    found = read_json(tmp_path / "eval_results.model.ckpt-2.json")
    assert found["global_step"] == 2
    expected = outcome.evaluation.results[0].metrics
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-6)
    assert (tmp_path / "eval_results.model.ckpt-2.txt").exists()


def test_checkpoint_predicts_a_file(training_data, finished, tmp_path):
    own = tmp_path / "own.jsonl"
    rows = [{"text_a": "the king", "text_b": "a king", "id": "x"}, {"text_a": "b", "text_b": ""}]
    own.write_text("".join(json.dumps(row) + "\n" for row in rows))
    flags = f"--predict_file={own} --checkpoint={finished[0]}/model.ckpt-4 --data_dir="
    assert len(run_classify(training_data, tmp_path, flags).predictions) == 2
    assert np.loadtxt(tmp_path / "test_results_own.tsv").shape == (2, 2)
    assert not (tmp_path / "test_results.tsv").exists()


def test_init_checkpoint_predicts_into_another_folder(training_data, finished, tmp_path):
    trained = f"--do_predict --init_checkpoint={finished[0]}/model.ckpt-best"
    run_classify(training_data, tmp_path / "new", trained)
    predicted = [folder / "test_results.tsv" for folder in (tmp_path / "new", finished[0])]
    assert predicted[0].read_bytes() == predicted[1].read_bytes()
    arguments = f"--task_name=MRPC --data_dir={training_data} --nouse_xla {trained}".split()
    flags = flags_lib.parse(run_classifier.Flags, [*arguments, f"--output_dir={tmp_path}/alone"])
    run_classifier.classify(flags)  # with the length, the vocabulary and so on of the training
    assert (tmp_path / "alone" / "test_results.tsv").read_bytes() == predicted[0].read_bytes()
    swapped = """--task_name=custom --labels=1,0 --text_a_column=3 --text_b_column=4
        --label_column=0 --header --data_dir={data}/MRPC"""
    with pytest.raises(ValueError, match="labels"):
        run_classify(training_data, tmp_path / "swapped", f"{trained} {swapped}")
    assert not (tmp_path / "swapped").exists()


def test_pretrained_model_does_not_predict(training_data, tmp_path):
    model = pathlib.Path(pretrained_models.write_archive(tmp_path / "model"))
    before, config = contents(model), f"--albert_config_file={model}/albert_config.json"
    own = f"{config} --spm_model_file={model}/30k-clean.model"
    for flags in (
        f"--output_dir={tmp_path}/new {own} --init_checkpoint={model}/model.ckpt-best",
        f"--output_dir={tmp_path}/new {own} --checkpoint={model}/model.ckpt-best",
        f"--output_dir={model} {own}",
    ):
        for phase in ("--do_predict", "--do_eval"):
            with pytest.raises(ValueError, match="--do_train"):
                run_classify(training_data, tmp_path / "new", f"{flags} {phase}")
    assert contents(model) == before and not (tmp_path / "new").exists()


# ---- other kinds of tasks ----


@slow
def test_evaluation_measures_every_dev_split(training_data, tmp_path):
    data.write_nli(tmp_path / "MNLI", ["train", "dev_matched", "dev_mismatched"])
    flags = f"--do_train --do_eval --task_name=MNLI --data_dir={tmp_path} --train_step=2"
    measured = set(run_classify(training_data, tmp_path / "out", flags).evaluation.best.metrics)
    assert {"eval_accuracy", "eval_accuracy_mismatched", "eval_loss_mismatched"} <= measured


@slow
def test_custom_regression_is_learnt(tmp_path):
    generator = random.Random(2)
    rows = [[data.text(generator, "king", n % 5), n % 5] for n in range(64)]
    for name in ("train", "dev", "test"):
        data.write_rows(tmp_path / f"{name}.tsv", [["first", "answer"], *rows])
    data.write_config(tmp_path, hidden_size=32, intermediate_size=64, **data.NO_DROPOUT)
    (tmp_path / "task.json").write_text('{"labels": "regression"}')
    flags = """--do_train --do_eval --do_predict --task_name=custom --task_file={data}/task.json
        --text_a_column=first --label_column=answer --learning_rate=0.003 --train_batch_size=32
        --train_step=200 --warmup_step=20 --save_checkpoints_steps=200 --max_seq_length=48
        --metrics=spearman,MSE"""
    best = run_classify(tmp_path, tmp_path / "out", flags).evaluation.best.metrics
    assert set(best) == {"pearson", "spearman", "MSE", "eval_loss", "global_step"}
    assert best["MSE"] == pytest.approx(best["eval_loss"], rel=1e-5)
    assert best["pearson"] > 0.95
    assert (tmp_path / "out" / "custom_predict.json").exists()


# ---- early exit ----


@pytest.fixture(scope="module")
def early_exit(training_data, tmp_path_factory):
    """(arguments to run in a folder, metrics) of a training of three layers with early exit."""
    folder = tmp_path_factory.mktemp("early_exit")
    config = data.write_config(folder, num_hidden_layers=3)
    flags = f"--albert_config_file={config} --train_step=2 --warmup_step=0"
    training = run_classify(
        training_data, folder / "out", f"{flags} --early_exit --do_train --do_eval"
    )
    (result,) = training.evaluation.results
    return functools.partial(_run_in, training_data, flags), folder / "out", result.metrics


def _run_in(training_data, flags, folder, arguments):
    return run_classify(training_data, folder, f"{flags} {arguments}")


@slow
def test_training_for_early_exit_measures_the_last_layer(early_exit):
    _, trained, metrics = early_exit
    assert "mean_layers" not in metrics
    assert read_json(trained / "classifier.json")["early_exit"] is True


@slow
def test_another_patience_evaluates_again(early_exit, tmp_path):
    run_in, trained, _ = early_exit
    folder = shutil.copytree(trained, tmp_path / "out")
    (patient,) = run_in(folder, "--do_eval --exit_patience=1").evaluation.results
    assert patient.metrics["exit_patience"] == 1 and 2 <= patient.metrics["mean_layers"] < 3
    # A threshold does not: labels have none.
    again = run_in(folder, "--do_eval --exit_patience=1 --exit_threshold=0.5")
    assert again.evaluation.evaluated_steps == []


@slow
@pytest.mark.parametrize(
    "arguments, named",
    [
        ("--do_train", "output_dir=.*early_exit"),
        ("--do_eval --exit_patience=2 --use_tpu --tpu_name=t", "--exit_patience.*--use_tpu"),
    ],
)
def test_early_exit_refuses(early_exit, arguments, named):
    run_in, trained, _ = early_exit
    with pytest.raises(ValueError, match=named):
        run_in(trained, arguments)
