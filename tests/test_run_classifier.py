# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script run_classifier: flags, files, and what it says to mistakes."""

import json
import logging
import math
import random
import re
import shutil

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import run_classifier
from albert.classification import run as classifier_run
from albert.training import estimators as estimator_utils
from albert.training import evaluation as checkpoint_evaluator
from albert.training import fine_tuning
from albert.util import flags as flags_lib
from tests.support import classification_data as data


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
    return flags_lib.parse(run_classifier.define_flags, defaults + list(arguments))


def run(folder, output_dir, *arguments):
    return run_classifier.classify(settings_for(folder, output_dir, *arguments))


def steps_in(folder):
    return [item.step for item in checkpoint_evaluator.list_checkpoints(str(folder))]


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def contents(folder):
    """The bytes of every file that is no log."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and not path.name.startswith("events")
    }


OWN = [
    "--task_name=custom",
    "--text_a_column=words",
    "--label_column=answer",
    "--learning_rate=0.003",
    "--train_batch_size=20",
    "--train_step=40",
    "--save_checkpoints_steps=20",
]


# ---------------------------------------------------------------------------------------------
# Flags.

PUBLISHED_DEFAULTS = dict(
    data.PUBLISHED_DEFAULTS,
    cached_dir=None,
    max_seq_length=512,
    do_eval=False,
    eval_batch_size=8,
    train_step=1000,
    warmup_step=0,
    keep_checkpoint_max=5,
    optimizer="adamw",
    export_dir=None,
)


def test_the_published_flags_have_their_published_defaults():
    settings = flags_lib.parse(
        run_classifier.define_flags,
        ["--task_name=t", "--output_dir=o", "--data_dir=d", "--spm_model_file=s"],
    ).to_dict()
    assert {name: settings[name] for name in PUBLISHED_DEFAULTS} == PUBLISHED_DEFAULTS
    assert math.isnan(settings["threshold_to_export"])


@pytest.mark.parametrize("missing", ["task_name", "output_dir"])
def test_task_and_output_folder_are_required(missing):
    names = {"task_name", "output_dir"} - {missing}
    with pytest.raises(ValueError, match=f"--{missing} must be given"):
        flags_lib.parse(run_classifier.define_flags, [f"--{name}=x" for name in names])


@pytest.mark.parametrize(
    "arguments,words",
    [
        ([], "Nothing to do"),
        (["--do_train", "--task_name=mprc"], "Unknown task 'mprc'. Did you mean 'mrpc'"),
        (["--do_train", "--data_dir="], "--data_dir must be given"),
        (["--do_train", "--data_dir=/absent"], "'/absent' is not a folder"),
        (["--do_train", "--gradient_accumulation_steps=3"], "must be a multiple of 3"),
        (["--do_train", "--labels=a,b"], "--labels describes a task of your own"),
        (["--do_train", "--task_name=custom"], "needs text_a"),
        (["--do_train", "--albert_config_file="], "Give either --albert_config_file"),
        (["--do_train", "--albert_hub_module_handle=/m"], "not both"),
        (["--do_train", "--max_seq_length=65"], "max_position_embeddings, 64"),
        (["--do_train", "--spm_model_file="], "No vocabulary"),
        (["--do_train", "--num_train_epochs=0.1"], "is less than one batch of 8"),
        (["--do_train", "--do_eval", "--dev_file=gone.tsv", "--labels=0,1", *OWN], "gone.tsv"),
        (["--do_train", "--predict_file=/absent.tsv"], "/absent.tsv"),
        (["--do_eval"], "no checkpoint model.ckpt-<step>"),
        (["--do_predict"], "no checkpoint"),
    ],
)
def test_mistakes_are_named_before_anything_is_trained(folder, tmp_path, arguments, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        run(folder, tmp_path / "out", *arguments)
    assert steps_in(tmp_path / "out") == []


@pytest.mark.parametrize(
    "asked", ["--do_predict", "--predict_file=texts.tsv", "--export_dir=new", "--checkpoint=gone"]
)
def test_without_a_checkpoint_nothing_is_made_for_prediction(folder, tmp_path, asked):
    with pytest.raises(ValueError, match="--output_dir=.*--do_train.*--checkpoint=|no .*gone"):
        run(folder, tmp_path / "out", "--do_predict", asked)
    assert not (tmp_path / "out").exists()


def test_a_model_with_fewer_rows_than_the_vocabulary_has_pieces_is_refused(folder, tmp_path):
    config = data.write_config(tmp_path, vocab_size=50)
    with pytest.raises(ValueError, match="vocab_size is 50"):
        run(folder, tmp_path / "out", "--do_train", f"--albert_config_file={config}")


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
    assert {"best_trial.txt", "training_curve.csv", "albert_config.json"} <= set(contents(path))


def test_results_have_the_published_names_and_format(trained):
    path, outcome = trained
    lines = (path / "eval_results.txt").read_text(encoding="utf-8").splitlines()
    assert [line.split(" = ")[0] for line in lines[:4]] == [
        "eval_accuracy",
        "eval_loss",
        "f1",
        "global_step",
    ]
    best = outcome.evaluation.best
    trial = (path / "best_trial.txt").read_text(encoding="utf-8")
    assert trial == f"6:{best.step}:{best.metrics['eval_accuracy']}"


def test_predictions_are_in_the_order_of_the_test_data(trained):
    path, _ = trained
    results = np.loadtxt(str(path / "test_results.tsv"))
    assert results.shape == (13, 2)
    np.testing.assert_allclose(results.sum(axis=1), 1, atol=1e-5)
    rows = (path / "submit_results.tsv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "index\tprediction"
    assert [row.split("\t")[0] for row in rows[1:]] == [str(number) for number in range(13)]
    assert [int(row.split("\t")[1]) for row in rows[1:]] == results.argmax(axis=1).tolist()


def test_the_folder_says_what_was_trained(trained):
    described = read_json(trained[0] / "classifier.json")
    vocabulary = described.pop("spm_model_file")
    assert vocabulary["path"] == str(data.VOCABULARY) and len(vocabulary["sha256"]) == 64
    assert described == {
        "format_version": 1,
        "task": "mrpc",
        "labels": ["0", "1"],
        "is_regression": False,
        "is_pair": True,
        "max_seq_length": 32,
        "do_lower_case": True,
    }


def test_the_summary_has_what_a_sweep_compares(trained):
    path, outcome = trained
    summary = read_json(path / "run_summary.json")
    best = outcome.evaluation.best
    assert (summary["task"], summary["seed"], summary["metric"]) == (
        "mrpc",
        12345,
        "eval_accuracy",
    )
    assert summary["best_step"] == best.step
    assert summary["value"] == best.metrics["eval_accuracy"]
    assert summary["metrics"]["f1"] == best.metrics["f1"]
    assert summary["num_train_steps"] == 6
    for name in ("train_examples_per_second", "train_seconds", "eval_seconds", "wall_seconds"):
        assert summary[name] > 0, name


@pytest.mark.slow
def test_the_summary_knows_of_a_training_in_an_earlier_process(folder, tmp_path):
    run(folder, tmp_path, "--do_train", "--train_step=2")
    before = read_json(tmp_path / "run_summary.json")
    assert (before["best_step"], before["num_train_steps"]) == (None, 2)
    run(folder, tmp_path, "--do_eval")
    summary = read_json(tmp_path / "run_summary.json")
    assert summary["train_seconds"] == before["train_seconds"] > 0
    assert summary["value"] is not None


@pytest.mark.slow
def test_the_summary_adds_up_the_time_of_all_starts(folder, tmp_path, monkeypatch):
    arguments = ("--do_train", "--do_eval", "--do_predict", "--log_steps=1")
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_evaluator, "evaluate_checkpoints", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):  # stopped after the training
            run(folder, tmp_path, *arguments, "--train_step=4")
    first = read_json(tmp_path / "run_summary.json")
    assert (first["num_train_steps"], first["value"], first["train_examples"]) == (4, None, 32)
    outcome = run(folder, tmp_path, *arguments)
    second = read_json(tmp_path / "run_summary.json")
    assert second["train_examples"] == 48
    for name in ("train_seconds", "wall_seconds"):
        assert second[name] > first[name] > 0, name
    assert second["train_seconds"] == pytest.approx(
        first["train_seconds"] + outcome.training.seconds
    )
    parts = sum(second[f"{part}_seconds"] for part in ("train", "eval", "predict"))
    assert parts < second["wall_seconds"]
    speeds = (first["train_examples_per_second"], outcome.training.examples_per_second)
    assert second["train_examples_per_second"] == pytest.approx(
        48 / (32 / speeds[0] + 16 / speeds[1])
    )


@pytest.mark.slow
def test_the_summary_knows_of_a_training_that_was_killed(folder, tmp_path, monkeypatch):
    """Nothing can be written then: what counts is what was written on the way."""
    monkeypatch.setattr(estimator_utils, "train", train_and_die)
    with pytest.raises(KeyboardInterrupt):
        run(folder, tmp_path, "--do_train", "--log_steps=2")
    summary = read_json(tmp_path / "run_summary.json")
    assert summary["num_train_steps"] == 6 and summary["wall_seconds"] > 0
    assert summary["train_seconds"] > 0 and summary["train_examples"] == 48


def train_and_die(*arguments, **options):
    TRAIN(*arguments, **options)
    raise KeyboardInterrupt


TRAIN = estimator_utils.train


@pytest.mark.slow
@pytest.mark.parametrize("content", ["{", "[1]", ""])
def test_results_of_ours_that_are_damaged_are_written_anew(
    folder, trained, tmp_path, caplog, content
):
    copy = tmp_path / "copy"
    shutil.copytree(str(trained[0]), str(copy))
    before = {
        name: read_json(copy / name) for name in ("run_summary.json", "confusion_matrix.json")
    }
    for name in before:
        (copy / name).write_text(content, encoding="utf-8")
    run(folder, copy, "--do_eval")
    for name in before:
        assert name in caplog.text
    assert "written anew" in caplog.text
    assert read_json(copy / "confusion_matrix.json") == before["confusion_matrix.json"]
    summary = read_json(copy / "run_summary.json")
    for name in ("task", "seed", "metric", "best_step", "value", "metrics", "num_train_steps"):
        assert summary[name] == before["run_summary.json"][name], name


@pytest.mark.slow
def test_training_alone_needs_training_data_alone(folder, tmp_path):
    (tmp_path / "data").mkdir()
    train = (folder / "MRPC" / "train.tsv").read_bytes()
    (tmp_path / "data" / "train.tsv").write_bytes(train)
    outcome = run(
        folder, tmp_path / "out", "--do_train", f"--data_dir={tmp_path / 'data'}", "--train_step=1"
    )
    assert outcome.training.last_step == 1
    assert (outcome.evaluation, outcome.predictions) == (None, [])


@pytest.mark.slow
def test_a_training_that_would_fill_the_disk_is_refused(folder, tmp_path, monkeypatch):
    usage = shutil.disk_usage(str(tmp_path))._replace(free=100000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(ValueError, match="would write 4 checkpoints.*--save_checkpoints_steps"):
        run(folder, tmp_path / "out", "--do_train")
    assert not (tmp_path / "out" / "classifier.json").exists()
    assert steps_in(tmp_path / "out") == []


@pytest.mark.slow
def test_the_room_asked_for_is_that_which_checkpoints_take(folder, trained, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(fine_tuning, "check_room", lambda _, *room: asked.append(room))
    run(folder, tmp_path, "--do_train")
    ((count, size),) = asked
    assert count == len(steps_in(tmp_path)) == 4
    written = (tmp_path / "model.ckpt-6.data-00000-of-00001").stat().st_size
    assert size == pytest.approx(written, rel=0.05)


def test_the_confusion_matrix_is_the_best_checkpoints(trained):
    path, outcome = trained
    confusion = read_json(path / "confusion_matrix.json")
    matrix = np.array(confusion["matrix"])
    assert confusion["step"] == outcome.evaluation.best.step and matrix.sum() == 21
    accuracy = matrix.trace() / matrix.sum()
    assert accuracy == pytest.approx(outcome.evaluation.best.metrics["eval_accuracy"])


def test_run_again_everything_is_as_it_was(folder, trained):
    path, _ = trained
    before = contents(path)
    outcome = run(folder, path, "--do_train", "--do_eval", "--do_predict")
    assert outcome.training is None and outcome.evaluation.evaluated_steps == []
    assert contents(path) == before


def test_the_confusion_matrix_is_made_again_where_it_is_missing(folder, trained):
    path, _ = trained
    before = (path / "confusion_matrix.json").read_bytes()
    (path / "confusion_matrix.json").unlink()
    run(folder, path, "--do_eval")
    assert (path / "confusion_matrix.json").read_bytes() == before


@pytest.mark.slow
def test_padding_and_batch_size_change_no_result(folder, trained, tmp_path):
    path, outcome = trained
    expected = outcome.evaluation.results[-1].metrics
    for padding in ("max", "bucket"):
        run(
            folder,
            tmp_path / padding,
            "--do_eval",
            f"--checkpoint={path / 'model.ckpt-6'}",
            f"--padding={padding}",
            "--eval_batch_size=5",
        )
        found = read_json(tmp_path / padding / "eval_results.model.ckpt-6.json")
        for name in ("eval_loss", "eval_accuracy", "f1"):
            assert found[name] == pytest.approx(expected[name], abs=1e-6), name


def test_one_checkpoint_can_be_evaluated_without_touching_the_records(folder, trained, tmp_path):
    path, outcome = trained
    before = contents(path)
    again = run(
        folder, tmp_path / "elsewhere", "--do_eval", f"--checkpoint={path / 'model.ckpt-2.index'}"
    )
    assert again.evaluation is None and contents(path) == before
    text = (tmp_path / "elsewhere" / "eval_results.model.ckpt-2.txt").read_text(encoding="utf-8")
    assert f"eval_accuracy = {outcome.evaluation.results[1].metrics['eval_accuracy']}" in text
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


@pytest.mark.slow
def test_without_evaluation_the_newest_checkpoint_predicts(folder, tmp_path, caplog):
    with caplog.at_level(logging.INFO, "albert"):
        run(folder, tmp_path, "--do_train", "--do_predict", "--train_step=1")
    assert "predicting with the newest" in caplog.text
    assert (tmp_path / "test_results.tsv").exists()


@pytest.mark.slow
def test_pruning_waits_for_evaluation_and_spares_what_another_process_trained(folder, tmp_path):
    run(folder, tmp_path, "--do_train", "--keep_checkpoint_max=1")
    assert steps_in(tmp_path) == [0, 2, 4, 6]
    run(folder, tmp_path, "--do_eval", "--keep_checkpoint_max=1")
    assert steps_in(tmp_path) == [0, 2, 4, 6]
    outcome = run(folder, tmp_path, "--do_train", "--do_eval", "--keep_checkpoint_max=2")
    assert steps_in(tmp_path) == [4, 6]
    assert [result.step for result in outcome.evaluation.results] == [2, 4, 6]
    again = run(folder, tmp_path, "--do_eval")
    assert again.evaluation == outcome.evaluation
    assert (tmp_path / "model.ckpt-best.index").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments,words",
    [
        (["--task_name=rte"], "mrpc"),
        (["--nodo_lower_case"], "do_lower_case"),
        (["--do_train", "--max_seq_length=16"], "max_seq_length"),
    ],
)
def test_a_folder_of_another_run_is_refused(folder, trained, arguments, words):
    with pytest.raises(ValueError, match=f"belongs to another run.*{words}"):
        run(folder, trained[0], "--do_predict", *arguments)


def test_a_folder_of_another_model_is_refused(folder, trained, tmp_path):
    config = data.write_config(tmp_path, hidden_size=20)
    with pytest.raises(ValueError, match="another configuration"):
        run(folder, trained[0], "--do_eval", f"--albert_config_file={config}")


def test_a_checkpoint_of_another_model_cannot_predict(folder, trained, tmp_path):
    config = data.write_config(tmp_path, intermediate_size=20)
    with pytest.raises(ValueError, match="no predicting with .*model.ckpt-6.* do not fit"):
        run(
            folder,
            tmp_path / "out",
            "--do_predict",
            f"--checkpoint={trained[0] / 'model.ckpt-6'}",
            f"--albert_config_file={config}",
        )


# ---------------------------------------------------------------------------------------------
# Other kinds of tasks.


@pytest.mark.slow
def test_a_task_of_ones_own_is_learnt(tmp_path):
    data.write_own(tmp_path)
    data.write_config(tmp_path, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    outcome = run(tmp_path, tmp_path / "out", "--do_train", "--do_eval", "--labels=bird,king", *OWN)
    assert outcome.evaluation.best.metrics["eval_accuracy"] >= 0.75


@pytest.mark.slow
def test_a_task_of_numbers_is_learnt_and_described_by_a_file(tmp_path):
    data.write_own(tmp_path, scores=True)
    data.write_config(tmp_path, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    task_file = tmp_path / "task.json"
    task_file.write_text(
        json.dumps({"text_a": "words", "label": "answer", "labels": "regression"}),
        encoding="utf-8",
    )
    outcome = run(
        tmp_path,
        tmp_path / "out",
        "--do_train",
        "--do_eval",
        "--do_predict",
        "--task_name=custom",
        f"--task_file={task_file}",
        "--metrics=spearman,MSE",
        *OWN[3:],
    )
    best = outcome.evaluation.best.metrics
    assert set(best) == {"pearson", "spearman", "MSE", "eval_loss", "global_step"}
    assert best["pearson"] > 0.8
    assert best["MSE"] == pytest.approx(best["eval_loss"], rel=1e-5)
    assert not (tmp_path / "out" / "confusion_matrix.json").exists()


@pytest.mark.slow
def test_every_dev_split_is_measured_and_the_first_decides(folder, tmp_path):
    mnli = tmp_path / "MNLI"
    mnli.mkdir()
    labels = ("contradiction", "entailment", "neutral")
    for name, count in (("train", 12), ("dev_matched", 7), ("dev_mismatched", 5)):
        rows = [[f"c{column}" for column in range(11)] + ["gold_label"]]
        for number in range(count):
            row = [str(number)] + ["-"] * 7 + ["the old man", "a dog", "-", labels[number % 3]]
            rows.append(row)
        data.write_rows(mnli / f"{name}.tsv", rows)
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
KINDS = {
    "single": (False, "bird,king"),
    "pair": (True, "bird,king"),
    "three": (False, "bird,king,river"),
    "numbers": (False, "regression"),
}


def write_kind(folder, kind):
    """64 examples; of a pair, the second text says it. They are evaluated on, too."""
    is_pair, labels = KINDS[kind]
    generator = random.Random(2)
    rows = [["first", "second", "answer"]]
    for number in range(64):
        answer = number % 5 if labels == "regression" else NAMES[number % (labels.count(",") + 1)]
        times = answer if labels == "regression" else 1
        word = "king" if labels == "regression" else answer
        told = data.text(generator, word, times)
        other = data.text(generator, "the")
        rows.append([other, told, answer] if is_pair else [told, other, answer])
    for name in ("train", "dev"):
        data.write_rows(folder / f"{name}.tsv", rows)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_examples_of_any_kind_of_task_can_be_learnt_by_heart(tmp_path, kind):
    is_pair, labels = KINDS[kind]
    write_kind(tmp_path, kind)
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    data.write_config(tmp_path, hidden_size=32, intermediate_size=64, **no_dropout)
    arguments = [
        "--task_name=custom",
        "--text_a_column=first",
        "--label_column=answer",
        f"--labels={labels}",
        "--learning_rate=0.003",
        "--train_batch_size=32",
        "--train_step=200",
        "--warmup_step=20",
        "--save_checkpoints_steps=200",
        "--max_seq_length=48",
    ]
    if is_pair:
        arguments.append("--text_b_column=second")
    outcome = run(tmp_path, tmp_path / "out", "--do_train", "--do_eval", *arguments)
    last = outcome.evaluation.results[-1].metrics
    assert last["pearson" if labels == "regression" else "eval_accuracy"] > 0.95


# ---------------------------------------------------------------------------------------------
# What is said of training.


@pytest.mark.slow
def test_a_training_that_learns_nothing_is_called_collapsed(folder, tmp_path, caplog):
    with caplog.at_level(logging.WARNING, "albert"):
        run(folder, tmp_path, "--do_train", "--do_eval", "--learning_rate=0", "--train_step=2")
    assert "may have collapsed" in caplog.text
    assert "predicts" in caplog.text and "learnt nothing that counts" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.INFO, "albert"):
        run(folder, tmp_path, "--do_train", "--do_eval", "--learning_rate=0", "--train_step=2")
    assert "Nothing to train" in caplog.text
    assert "may have collapsed" in caplog.text
    assert "learnt nothing that counts" in caplog.text


@pytest.mark.slow
def test_epochs_and_proportions_go_before_steps(folder, tmp_path):
    outcome = run(
        folder,
        tmp_path,
        "--do_train",
        "--num_train_epochs=0.6",
        "--warmup_proportion=0.5",
        "--log_steps=1",
    )
    assert outcome.training.last_step == 3
    curve = (tmp_path / "training_curve.csv").read_text(encoding="utf-8").splitlines()
    column = curve[0].split(",").index("learning_rate")
    rates = [float(row.split(",")[column]) for row in curve[1:]]
    assert rates == pytest.approx([0, 0.01 * 2 / 3, 0.01 / 3], rel=1e-4)


def tensors_of(folder, step):
    """Weights, the optimiser's moments and the step."""
    reader = tf.train.load_checkpoint(str(folder / f"model.ckpt-{step}"))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


@pytest.mark.slow
@pytest.mark.parametrize("padding", ["longest", "bucket"])
def test_a_run_in_two_parts_ends_in_the_bytes_of_one(folder, tmp_path, padding):
    arguments = ("--do_train", f"--padding={padding}", "--train_step=6")
    run(folder, tmp_path / "whole", *arguments)
    parts = tmp_path / "parts"
    run(folder, parts, *arguments)
    for file in [*parts.glob("model.ckpt-6.*"), *parts.glob("model.ckpt-4.*")]:
        file.unlink()
    run(folder, parts, *arguments)
    whole, resumed = tensors_of(tmp_path / "whole", 6), tensors_of(parts, 6)
    assert len([name for name in whole if name.endswith("adam_v")]) > 10
    assert set(whole) == set(resumed)
    assert [name for name in whole if (whole[name] != resumed[name]).any()] == []


def test_the_names_of_metrics_of_a_run_are_the_tasks_and_the_loss():
    task = run_classifier.classifier_tasks.get_task("cola")
    names = classifier_run.measured(task)
    assert names[0] == "matthew_corr" and names[-1] == "eval_loss"
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("handle", ["some/module", "/some/module", "https://hub/albert/1"])
def test_a_hub_module_is_recorded_so_that_it_is_found_from_anywhere(
    folder, tmp_path, monkeypatch, handle
):
    settings = settings_for(
        folder, tmp_path / "out", "--do_train", f"--albert_hub_module_handle={handle}"
    ).replace(albert_config_file=None)
    hub_run = fine_tuning.FineTuning(settings, classifier_run.ClassifierTask)
    monkeypatch.chdir(str(tmp_path))
    found = hub_run.description()["hub_module"]
    assert found == (str(tmp_path / handle) if handle == "some/module" else handle)
    # A folder of an earlier version has the handle as it was given, and does not know of pairs.
    earlier = dict(hub_run.description(), hub_module=handle)
    del earlier["is_pair"]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "classifier.json").write_text(json.dumps(earlier), encoding="utf-8")
    hub_run.check_output_dir()
