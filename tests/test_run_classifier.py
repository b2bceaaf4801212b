# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script run_classifier: flags, files, and what it says to mistakes."""

import json
import logging
import pathlib
import random
import shutil

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import run_classifier, tokenization
from albert.pretrained import model_vocabulary
from albert.util import flags as flags_lib
from tests.support import classification_data as data
from tests.support import fine_tuned_models, pretrained_models
from tests.support.classification_data import contents, read_json, steps_in


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a configuration and the data of a pair task."""
    path = tmp_path_factory.mktemp("data")
    data.write_config(path)
    data.write_mrpc(path)
    return path


def settings_for(folder, output_dir, *arguments):
    defaults = [
        "--task_name=MRPC",
        f"--data_dir={folder}",
        f"--output_dir={output_dir}",
        f"--albert_config_file={folder / 'config.json'}",
        f"--spm_model_file={data.VOCABULARY}",
        "--max_seq_length=32",
        "--train_batch_size=8",
        "--learning_rate=0.01",
        "--train_step=6",
        "--warmup_step=2",
        "--save_checkpoints_steps=2",
        "--keep_checkpoint_max=0",
        "--nouse_xla",
    ]
    return flags_lib.parse(run_classifier.Flags, defaults + list(arguments))


def run(folder, output_dir, *arguments):
    return run_classifier.classify(settings_for(folder, output_dir, *arguments))


OWN = ["--task_name=custom", "--text_a_column=first", "--label_column=answer"]


@pytest.mark.parametrize(
    "arguments,words",
    [
        ([], "--do_train"),
        (["--do_train", "--data_dir=/absent"], "'/absent'"),
        (["--do_train", "--gradient_accumulation_steps=3"], "multiple of 3"),
        (["--do_train", "--labels=a,b"], "--labels"),
        (["--do_train", "--task_name=custom"], "text_a"),
        (["--do_train", "--albert_config_file="], "--albert_config_file"),
        (["--do_train", "--max_seq_length=65"], "max_position_embeddings"),
        (["--do_train", "--spm_model_file="], "vocabulary"),
        (["--do_train", "--num_train_epochs=0.1"], "one batch of 8"),
        (["--do_train", "--do_eval", "--dev_file=gone.tsv", "--labels=0,1", *OWN], "gone.tsv"),
        (["--do_train", "--predict_file=/absent.tsv"], "/absent.tsv"),
        (["--do_eval"], "no checkpoint"),
        (["--do_predict"], "no checkpoint"),
        (["--do_predict", "--export_dir=new"], "no checkpoint"),
        (["--do_predict", "--checkpoint=gone"], "gone"),
        (["--do_train", "--do_eval", "--checkpoint=/absent/model.ckpt"], "/absent/model.ckpt"),
        (["--do_train", "--init_checkpoint={other}"], "model.ckpt"),
        (["--do_train", "--albert_config_file=", "--albert_hub_module_handle=/absent"], "/absent"),
        (["--do_train", "--albert_config_file={small}"], "vocab_size"),
        (["--do_train", "--output_dir={folder}/config.json"], "config.json"),
    ],
)
def test_mistakes_are_named_before_features_are_made(folder, tmp_path, arguments, words):
    places = {
        "folder": folder,
        "small": data.write_config(tmp_path, vocab_size=50),
        "other": fine_tuned_models.write_classifier(tmp_path / "other"),
    }
    given = [argument.format(**places) for argument in arguments]
    with pytest.raises((ValueError, OSError), match=words.format(**places)):
        run(folder, tmp_path / "out", f"--cached_dir={tmp_path}", *given)
    assert steps_in(tmp_path / "out") == [] and not (tmp_path / "out" / "run.toml").exists()
    # Only examples tell how many steps an epoch has.
    assert "--num_train_epochs=0.1" in arguments or not list(tmp_path.glob("**/*.tf_record*"))


def test_a_vocabulary_other_than_the_pretrained_models_is_refused(folder, tmp_path):
    model = pathlib.Path(pretrained_models.write_archive(tmp_path / "model"))
    own, other = model / "30k-clean.model", tmp_path / "other.model"
    model_vocabulary.put(str(model), model_vocabulary.Vocabulary("spm_model_file", str(own)))
    other.write_bytes(tokenization.with_keep_accents(own.read_bytes(), True))
    for start in (model, model / "model.ckpt-best"):
        named = [f"--init_checkpoint={start}", f"--spm_model_file={other}"]
        with pytest.raises(ValueError, match="another vocabulary"):
            run(folder, tmp_path / "out", "--do_train", *named)


# ---------------------------------------------------------------------------------------------
# Training, evaluation and prediction.


@pytest.fixture(scope="module")
def trained(folder, tmp_path_factory):
    """The folder of a training of six steps, evaluated, with predictions."""
    path = tmp_path_factory.mktemp("trained")
    outcome = run(folder, path, "--do_train", "--do_eval", "--do_predict")
    return path, outcome


def test_one_command_trains_evaluates_and_predicts(trained):
    path, outcome = trained
    assert (outcome.training.first_step, outcome.training.last_step) == (0, 6)
    assert steps_in(path) == [0, 2, 4, 6]
    assert [result.step for result in outcome.evaluation.results] == [2, 4, 6]
    names = {file.rsplit("/", 1)[-1] for file in outcome.predictions}
    assert names == {"test_results.tsv", "submit_results.tsv", "MRPC.tsv"}
    assert {"training_curve.csv", "albert_config.json", "run.toml"} <= set(contents(path))
    lines = (path / "eval_results.txt").read_text(encoding="utf-8").splitlines()
    names = ["eval_accuracy", "eval_loss", "f1", "global_step"]
    assert [line.split(" = ")[0] for line in lines[:4]] == names
    best = outcome.evaluation.best
    trial = (path / "best_trial.txt").read_text(encoding="utf-8")
    assert trial == f"6:{best.step}:{best.metrics['eval_accuracy']}"
    # The summary has what a sweep compares.
    summary = read_json(path / "run_summary.json")
    expected = {
        "task": "mrpc",
        "seed": 12345,
        "metric": "eval_accuracy",
        "best_step": best.step,
        "value": best.metrics["eval_accuracy"],
        "num_train_steps": 6,
    }
    assert {name: summary[name] for name in expected} == expected
    assert summary["metrics"]["f1"] == best.metrics["f1"]
    for name in ("train_examples_per_second", "train_seconds", "eval_seconds", "wall_seconds"):
        assert summary[name] > 0, name


def test_predictions_have_the_tests_order_and_the_confusion_matrix_is_the_bests(trained):
    path, outcome = trained
    results = np.loadtxt(str(path / "test_results.tsv"))
    assert results.shape == (13, 2)
    np.testing.assert_allclose(results.sum(axis=1), 1, atol=1e-5)
    rows = (path / "submit_results.tsv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "index\tprediction"
    assert [row.split("\t")[0] for row in rows[1:]] == [str(number) for number in range(13)]
    assert [int(row.split("\t")[1]) for row in rows[1:]] == results.argmax(axis=1).tolist()
    confusion, best = read_json(path / "confusion_matrix.json"), outcome.evaluation.best
    matrix = np.array(confusion["matrix"])
    assert confusion["step"] == best.step and matrix.sum() == 21
    assert matrix.trace() / matrix.sum() == pytest.approx(best.metrics["eval_accuracy"])


def test_each_evaluation_is_an_event_for_tensorboard(trained):
    path, outcome = trained
    events = {
        event.step: {value.tag: value.simple_value for value in event.summary.value}
        for file in (path / "eval").glob("events.*")
        for event in tf.train.summary_iterator(str(file))
        if event.summary.value
    }
    results = outcome.evaluation.results
    assert sorted(events) == [result.step for result in results]
    for result in results:
        found = dict(events[result.step], global_step=result.step)
        assert found == pytest.approx(result.metrics)


def test_weights_without_a_step_are_evaluated_by_the_number_in_their_name(
    folder, trained, tmp_path
):
    reader = tf.train.load_checkpoint(str(trained[0]))
    with tf.Graph().as_default(), tf.Session() as session:
        for name in set(reader.get_variable_to_shape_map()) - {"global_step"}:
            tf.get_variable(name, initializer=reader.get_tensor(name))
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model.ckpt-3"), write_state=False)
    outcome = run(folder, tmp_path, "--do_eval")
    assert outcome.metrics["global_step"] == 3


def test_the_folder_says_what_was_trained(trained):
    described = read_json(trained[0] / "classifier.json")
    vocabulary = described.pop("spm_model_file")
    assert vocabulary["path"] == data.VOCABULARY.name and len(vocabulary["sha256"]) == 64
    assert (trained[0] / vocabulary["path"]).read_bytes() == data.VOCABULARY.read_bytes()
    assert described == {
        "format_version": 1,
        "task": "mrpc",
        "labels": ["0", "1"],
        "is_regression": False,
        "is_pair": True,
        "columns": ["#1 String", "#2 String"],
        "max_seq_length": 32,
        "do_lower_case": True,
    }


def test_run_again_everything_is_as_it_was(folder, trained):
    path, _ = trained
    before = contents(path)
    outcome = run(folder, path, "--do_train", "--do_eval", "--do_predict")
    assert outcome.training is None and outcome.evaluation.evaluated_steps == []
    assert contents(path) == before


def test_one_checkpoint_is_evaluated_elsewhere_with_equal_results_for_any_batches(
    folder, trained, tmp_path
):
    path, outcome = trained
    before = contents(path)
    checkpoint = f"--checkpoint={path / 'model.ckpt-2.index'}"
    batches = ("--padding=max", "--eval_batch_size=5")
    again = run(folder, tmp_path, "--do_eval", checkpoint, *batches)
    assert again.evaluation is None and contents(path) == before
    found = read_json(tmp_path / "eval_results.model.ckpt-2.json")
    expected = outcome.evaluation.results[0].metrics
    for name in ("eval_loss", "eval_accuracy", "f1"):
        assert found[name] == pytest.approx(expected[name], abs=1e-6), name
    text = (tmp_path / "eval_results.model.ckpt-2.txt").read_text(encoding="utf-8")
    assert "global_step = 2" in text


def test_one_checkpoint_can_predict_a_file_of_ones_own(folder, trained, tmp_path):
    path, _ = trained
    own = tmp_path / "own.jsonl"
    rows = [{"text_a": "the king", "text_b": "a king", "id": "x"}, {"text_a": "b", "text_b": ""}]
    own.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    outcome = run(
        folder,
        tmp_path / "out",
        f"--predict_file={own}",
        f"--checkpoint={path / 'model.ckpt-4'}",
        "--data_dir=",
    )
    assert len(outcome.predictions) == 2
    results = np.loadtxt(str(tmp_path / "out" / "test_results_own.tsv"))
    assert results.shape == (2, 2)
    assert not (tmp_path / "out" / "test_results.tsv").exists()


@pytest.mark.parametrize(
    "arguments,words",
    [
        (["--task_name=rte"], "another run.*mrpc"),
        (["--do_train", "--max_seq_length=16"], "another run.*max_seq_length"),
        (["--albert_config_file={other}"], "another configuration"),
        (["--albert_config_file={other}", "--output_dir=x", "--checkpoint={trained}"], "ckpt-6"),
    ],
)
def test_a_folder_or_checkpoint_of_another_run_is_refused(
    folder, trained, tmp_path, monkeypatch, arguments, words
):
    monkeypatch.chdir(tmp_path)
    other = data.write_config(tmp_path, hidden_size=20)
    places = {"other": other, "trained": trained[0] / "model.ckpt-6"}
    with pytest.raises(ValueError, match=words):
        run(folder, trained[0], "--do_predict", *(one.format(**places) for one in arguments))


# ---------------------------------------------------------------------------------------------
# Other kinds of tasks.


@pytest.mark.slow
def test_every_dev_split_is_measured_and_the_first_decides(folder, tmp_path):
    data.write_nli(tmp_path / "MNLI", ["train", "dev_matched", "dev_mismatched"])
    outcome = run(
        folder,
        tmp_path / "out",
        "--do_train",
        "--do_eval",
        "--task_name=MNLI",
        f"--data_dir={tmp_path}",
        "--train_step=2",
    )
    measured = set(outcome.evaluation.best.metrics)
    assert {"eval_accuracy", "eval_accuracy_mismatched", "eval_loss_mismatched"} <= measured


NAMES = ("bird", "king", "river")


def write_kind(folder, is_pair, labels):
    """64 examples; of a pair, the second text says it. They are evaluated on, too."""
    generator = random.Random(2)
    rows = [["first", "second", "answer"]]
    for number in range(64):
        answer = number % 5 if labels == "regression" else NAMES[number % (labels.count(",") + 1)]
        times = answer if labels == "regression" else 1
        word = "king" if labels == "regression" else answer
        said = data.text(generator, word, times)
        other = data.text(generator, "the")
        rows.append([other, said, answer] if is_pair else [said, other, answer])
    for name in ("train", "dev", "test"):
        data.write_rows(folder / f"{name}.tsv", rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    "is_pair, labels", [(True, "bird,king"), (False, "bird,king,river"), (False, "regression")]
)
def test_the_examples_of_any_kind_of_task_can_be_learnt_by_heart(tmp_path, is_pair, labels):
    write_kind(tmp_path, is_pair, labels)
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    data.write_config(tmp_path, hidden_size=32, intermediate_size=64, **no_dropout)
    task_file = tmp_path / "task.json"
    described = {"labels": labels, "text_b": "second" if is_pair else None}
    task_file.write_text(json.dumps(described), encoding="utf-8")
    arguments = [
        *OWN,
        f"--task_file={task_file}",
        "--learning_rate=0.003",
        "--train_batch_size=32",
        "--train_step=200",
        "--warmup_step=20",
        "--save_checkpoints_steps=200",
        "--max_seq_length=48",
        "--do_predict",
    ]
    arguments += ["--metrics=spearman,MSE"] if labels == "regression" else []
    outcome = run(tmp_path, tmp_path / "out", "--do_train", "--do_eval", *arguments)
    best = outcome.evaluation.best.metrics
    if labels == "regression":
        assert set(best) == {"pearson", "spearman", "MSE", "eval_loss", "global_step"}
        assert best["MSE"] == pytest.approx(best["eval_loss"], rel=1e-5)
    assert best["pearson" if labels == "regression" else "eval_accuracy"] > 0.95
    has_matrix = (tmp_path / "out" / "confusion_matrix.json").exists()
    assert has_matrix == (labels != "regression")
    assert (tmp_path / "out" / "custom_predict.json").exists()


# ---------------------------------------------------------------------------------------------
# Early exit.


@pytest.fixture(scope="module")
def early(folder, tmp_path_factory):
    """The folder of a training with a head after each of four layers, and its evaluation."""
    path = tmp_path_factory.mktemp("early")
    config = data.write_config(path, num_hidden_layers=4)
    arguments = [f"--albert_config_file={config}", "--early_exit"]
    outcome = run(folder, path / "out", "--do_train", "--do_eval", *arguments)
    return path / "out", config, outcome


def measured(early, folder, tmp_path, *arguments):
    """What one checkpoint of the early model scores elsewhere."""
    path, config, _ = early
    return run(
        folder,
        path,
        "--do_eval",
        f"--albert_config_file={config}",
        f"--checkpoint={path / 'model.ckpt-6'}",
        *arguments,
    ).metrics


def test_examples_leave_early_where_patience_is_asked_for(folder, early, tmp_path, caplog):
    path, config, outcome = early
    last = next(one.metrics for one in outcome.evaluation.results if one.step == 6)
    assert "mean_layers" not in last
    assert read_json(path / "classifier.json")["early_exit"] is True
    full = measured(early, folder, tmp_path, "--exit_patience=4")
    assert (full.pop("mean_layers"), full.pop("exit_patience")) == (4, 4)
    assert full == pytest.approx(last)
    found = measured(early, folder, tmp_path, "--exit_patience=1")
    assert 2 <= found["mean_layers"] < 4
    recorded = (path / "eval_results.model.ckpt-6.txt").read_text(encoding="utf-8")
    assert f"mean_layers = {found['mean_layers']}" in recorded and "exit_patience = 1" in recorded
    caplog.set_level(logging.INFO)
    run(folder, path, "--do_predict", f"--albert_config_file={config}", "--exit_patience=4")
    assert "4.00 layers" in caplog.text


def test_checkpoints_are_measured_anew_for_another_patience(folder, early, tmp_path):
    path, config, _ = early
    copy = tmp_path / "out"
    shutil.copytree(str(path), str(copy))
    arguments = ["--do_eval", f"--albert_config_file={config}", "--exit_patience=1"]
    outcome = run(folder, copy, *arguments)
    assert all("mean_layers" in one.metrics for one in outcome.evaluation.results)
    # Labels have no threshold.
    before = (copy / "eval_results.json").read_text(encoding="utf-8")
    run(folder, copy, *arguments, "--exit_threshold=0.5")
    assert (copy / "eval_results.json").read_text(encoding="utf-8") == before
    assert not list(copy.glob("eval_results.json.old-2"))


def test_early_exit_where_it_cannot_be_is_refused(folder, trained, early):
    path, config, _ = early
    with pytest.raises(ValueError, match="--exit_patience=2.*--early_exit"):
        run(folder, trained[0], "--do_predict", "--exit_patience=2")
    with pytest.raises(ValueError, match="another run.*early_exit"):
        run(folder, path, "--do_train", f"--albert_config_file={config}")
    with pytest.raises(ValueError, match="another run.*early_exit"):
        run(folder, trained[0], "--do_predict", "--early_exit")
    with pytest.raises(ValueError, match="--exit_patience.*--use_tpu"):
        run(folder, path, "--do_eval", "--exit_patience=2", "--use_tpu", "--tpu_name=t")
    with pytest.raises(ValueError, match="--exit_threshold=0.5.*--exit_patience"):
        run(folder, path, "--do_eval", "--exit_threshold=0.5")
