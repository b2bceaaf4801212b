# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Several labels per example: reading, the loss, the threshold, and a run with its exports."""

import functools
import json
import random
import types

import numpy as np
import pytest
import sklearn.metrics
import tensorflow.compat.v1 as tf

import albert
from albert.commands import predict
from albert.tasks.classification import examples, registry
from albert.tasks.classification import head as classification_head
from albert.tasks.classification.task import Prediction
from tests.support import classification_data, graphs, parquet_files, read_json, training_scripts
from tests.support import fine_tuned_models as models

LABELS = ("joy", "fear", "love it")
LISTS = {"text": ["a", "b", "c"], "labels": [["love it", "joy"], [], ["fear"]]}
EXPECTED = [["joy", "love it"], [], ["fear"]]


def declare(**fields):
    values = {"text_a": "text", "labels": list(LABELS), "multi_label": True, **fields}
    return registry.custom_task(**values)


def labels_in(task, path):
    data = examples.read_file(task, str(path), "train")
    return [sorted(example.label, key=LABELS.index) for example in data.examples]


# ---- reading ----

CELLS = "text\tlabels\na\tlove it| joy\nb\t\nc\tfear\n"
IN_COLUMNS = {"labels": None, "multi_label": None, "label_columns": ",".join(LABELS)}
COLUMNS = "joy\ttext\tfear\tlove it\n1\ta\t0\t1.0\n0\tb\t0\t0\n0\tc\t1\t0.0\n"


@pytest.mark.parametrize(
    "fields, name, text",
    [
        ({"label": "labels"}, "train.tsv", CELLS),
        ({"text_a": 0, "label": 1}, "train.tsv", CELLS.split("\n", 1)[1]),
        (
            {"label": "labels", "label_separator": ","},
            "train.csv",
            'text,labels\na,"love it, joy"\nb,\nc,fear\n',
        ),
        (IN_COLUMNS, "train.tsv", COLUMNS),
        ({"text_a": 1, **IN_COLUMNS}, "train.tsv", COLUMNS),
        (
            IN_COLUMNS,
            "train.jsonl",
            '{"text": "a", "joy": true, "fear": false, "love it": 1}\n'
            '{"text": "b", "joy": 0, "fear": 0, "love it": 0}\n'
            '{"text": "c", "joy": 0, "fear": 1, "love it": 0}',
        ),
        (
            {"label": "labels"},
            "train.json",
            "\n".join(json.dumps(dict(zip(LISTS, row))) for row in zip(*LISTS.values())),
        ),
    ],
)
def test_labels_are_lists_separated_texts_or_columns(fields, name, text, tmp_path):
    (tmp_path / name).write_text(text)
    assert labels_in(declare(**fields), tmp_path / name) == EXPECTED


def test_labels_are_lists_in_parquet(tmp_path):
    path = parquet_files.write(tmp_path / "train.parquet", LISTS)
    assert labels_in(declare(label="labels"), path) == EXPECTED


def test_labels_are_numbers_in_parquet(tmp_path):
    numbers = [list(map(LABELS.index, present)) for present in LISTS["labels"]]
    feature = {"_type": "ClassLabel", "names": list(LABELS)}
    features = {"labels": {"feature": feature, "_type": "Sequence"}}
    columns = {**LISTS, "labels": numbers}
    path = parquet_files.write(tmp_path / "train.parquet", columns, features)
    assert labels_in(declare(label="labels"), path) == EXPECTED


def test_text_to_predict_needs_no_labels(tmp_path):
    path = tmp_path / "test.tsv"
    path.write_text("text\na\n")
    for split in ("test", ""):
        (example,) = examples.read_file(declare(**IN_COLUMNS), str(path), split).examples
        assert not example.label


@pytest.mark.parametrize(
    "fields, text, named",
    [
        ({"label": "labels"}, "text\tlabels\na\tjoy|fea\n", "train.tsv:2: .*'joy.fea'.*joy, fear"),
        (IN_COLUMNS, COLUMNS + "2\tx\t0\t0\n", "train.tsv:5: joy is '2'"),
        ({**IN_COLUMNS, "label_columns": "joy,love"}, COLUMNS, "train.tsv:1: .*no columns love[.]"),
    ],
)
def test_wrong_labels_are_named(fields, text, named, tmp_path):
    (tmp_path / "train.tsv").write_text(text)
    with pytest.raises(ValueError, match=named):
        labels_in(declare(**fields), tmp_path / "train.tsv")


@pytest.mark.parametrize(
    "fields, named",
    [
        ({"label_columns": list(LABELS)}, "--label_columns alone"),
        ({"labels": "regression"}, "regression.*two"),
        ({"metric": "eval_accuracy"}, "eval_accuracy.*micro_f1"),
    ],
)
def test_wrong_settings_are_named(fields, named):
    with pytest.raises(ValueError, match=named):
        declare(**fields)


# ---- the model ----


@pytest.mark.parametrize("weights", [None, [[1.0, 3.0], [0.5, 2.0], [2.0, 0.5]]])
def test_loss_is_the_mean_binary_cross_entropy(weights, monkeypatch):
    logits = np.float32([[2, -1, 0.5], [-3, 30, -20]])
    labels = np.array([[1, 0, 1], [0, 0, 1]])
    monkeypatch.setattr(classification_head, "_make_head", lambda *_: lambda pooled: pooled)
    monkeypatch.setattr(classification_head, "_encode", lambda *_: tf.constant(logits))
    head = classification_head.classification_head(3, decision_threshold=0.6, class_weights=weights)
    with graphs.new_session() as session:
        output = head({"label_ids": tf.constant(labels)}, types.SimpleNamespace(is_training=True))
        loss, outputs = session.run([output.per_example_loss, output.outputs])
    probabilities = 1 / (1 + np.exp(-logits.astype(np.float64)))
    losses = np.where(labels, np.logaddexp(0, -logits), np.logaddexp(0, logits))
    if weights:
        losses *= np.array(weights)[range(3), labels]
    np.testing.assert_allclose(loss, losses.mean(axis=1), rtol=1e-5)
    np.testing.assert_allclose(outputs["probabilities"], probabilities, atol=1e-6)
    assert outputs["predictions"].tolist() == (probabilities >= 0.6).astype(int).tolist()


def random_outputs():
    generator = np.random.RandomState(2)
    labels = generator.randint(0, 2, [50, 3])
    scores = generator.uniform(0, 0.6, [50, 3]) + 0.2 * labels
    losses = np.zeros(50, np.float32)
    return {
        "label_ids": labels.astype(np.int32),
        "probabilities": scores.astype(np.float32),
        "predictions": np.zeros([50, 3], np.int32),
        "per_example_loss": losses,
        "num_windows": np.full(50, 2),  # they are merged already
    }


@pytest.fixture
def task(tmp_path):
    folder = models.write_classifier(
        tmp_path / "model", labels=LABELS, description={"label_separator": "|"}
    )
    return models.open_folder(folder)


def test_metrics_are_those_of_scikit_learn_at_the_best_threshold(task):
    outputs = random_outputs()
    labels, scores = outputs["label_ids"], outputs["probabilities"]
    f1 = functools.partial(sklearn.metrics.f1_score, labels)
    thresholds = [percent / 100 for percent in range(5, 100, 5)]
    micro = [f1(scores >= threshold, average="micro") for threshold in thresholds]
    found = task.measure([], outputs)
    threshold = found["decision_threshold"]
    assert micro[thresholds.index(threshold)] == max(micro) and threshold < 0.5
    predicted = scores >= np.float32(threshold)
    expected = {
        f"{name}_f1": f1(predicted, average=name, zero_division=0)
        for name in ("micro", "macro", "samples")
    }
    expected["exact_match"] = sklearn.metrics.accuracy_score(labels, predicted)
    expected["average_precision"] = sklearn.metrics.average_precision_score(labels, scores)
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert (task.label_pairs([], outputs)[1] == predicted).all()


def test_prediction_has_labels_from_the_threshold_on(task):
    task.metrics = {"decision_threshold": 0.25}
    rows = np.float32([[0.25, 0.2, 0.9], [0.1, 0.1, 0.1]])
    first, second = task.decode([None] * 2, task.merge({"probabilities": rows}))
    assert (first.label, second.label) == (("joy", "love it"), ())
    assert first.probabilities == dict(zip(LABELS, rows[0].tolist()))
    assert task.describe(is_export=True)["decision_threshold"] == 0.25


def test_prediction_is_a_line_of_labels():
    prediction = Prediction(("a", "c"), {"a": 0.75, "b": 0.0, "c": 1.0}, None)
    line = json.loads(predict.format_prediction(prediction, "jsonl"))
    assert line == {"label": ["a", "c"], "probabilities": prediction.probabilities}
    expected = "a;c\t0.750000\t0.000000\t1.000000"
    assert predict.format_prediction(prediction, "tsv", separator=";") == expected


# ---- a run ----


WORDS = ("king", "bird", "ship")


def write_data(folder):
    """Writes texts with up to two of the words that are their labels."""
    generator = random.Random(5)
    for name, count in (("train", 96), ("dev", 40)):
        rows = [["words", *WORDS]]
        for _ in range(count):
            present = [generator.random() < 0.4 for _ in WORDS]
            words = [word for word, is_present in zip(WORDS, present) if is_present]
            texts = [classification_data.text(generator, word) for word in words or ["old"]]
            rows.append([" ".join(texts), *map(int, present)])
        classification_data.write_rows(folder / f"{name}.tsv", rows)
    classification_data.write_config(
        folder, hidden_size=32, intermediate_size=64, **classification_data.NO_DROPOUT
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """(folder of the data, folder of the run, its outcome)."""
    folder = tmp_path_factory.mktemp("multi_label")
    write_data(folder)
    flags = f"""--do_train --do_eval --do_predict --task_name=custom --multi_label
        --text_a_column=words --label_columns=king,bird,ship --predict_file={folder}/dev.tsv
        --learning_rate=0.003 --train_batch_size=32 --train_step=60 --warmup_step=6
        --save_checkpoints_steps=30 --max_seq_length=48 --export_dir={folder}/export"""
    outcome = training_scripts.run("run_classifier", folder, folder / "out", flags)
    return folder, folder / "out", outcome


def gold(folder):
    rows = [line.split("\t")[1:] for line in (folder / "dev.tsv").read_text().splitlines()]
    return np.array(rows[1:], int)


@pytest.mark.slow
def test_f1_is_that_of_scikit_learn_on_the_written_predictions(trained):
    folder, run, outcome = trained
    lines = (run / "submit_results_dev.tsv").read_text().splitlines()[1:]
    answers = [line.split("\t")[1].split("|") for line in lines]
    predicted = [[label in answer for label in WORDS] for answer in answers]
    assert np.array(predicted).any() and len({tuple(row) for row in predicted}) > 2
    for average in ("micro", "macro", "samples"):
        expected = sklearn.metrics.f1_score(
            gold(folder), predicted, average=average, zero_division=0
        )
        assert outcome.metrics[f"{average}_f1"] == pytest.approx(expected)
    probabilities = np.loadtxt(run / "test_results_dev.tsv")
    expected = sklearn.metrics.log_loss(gold(folder).ravel(), probabilities.ravel())
    assert outcome.metrics["eval_loss"] == pytest.approx(expected, rel=1e-4)
    report = sklearn.metrics.classification_report(
        gold(folder), predicted, target_names=WORDS, digits=4, zero_division=0
    )
    assert (run / "classification_report.txt").read_text() == report
    matrices = sklearn.metrics.multilabel_confusion_matrix(gold(folder), predicted).tolist()
    assert read_json(run / "confusion_matrix.json")["matrices"] == dict(zip(WORDS, matrices))


@pytest.mark.slow
def test_threshold_is_used_by_loaded_models_and_exports(trained):
    folder, run, outcome = trained
    texts = [line.split("\t")[0] for line in (folder / "dev.tsv").read_text().splitlines()[1:]]
    threshold = outcome.metrics["decision_threshold"]
    (description,) = (folder / "export").glob("*/assets.extra/classifier.json")
    assert read_json(description)["decision_threshold"] == threshold
    with albert.load(str(run)) as model:
        assert model.task.threshold() == threshold
        found = model.predict(texts)
    lines = (run / "submit_results_dev.tsv").read_text().splitlines()[1:]
    assert [line.split("\t")[1] for line in lines] == ["|".join(item.label) for item in found]
    with albert.load(str(run), decision_threshold=0.99) as model:
        strict = model.predict(texts)
    assert sum(len(item.label) for item in strict) < sum(len(item.label) for item in found)
    served = models.serve(str(description.parents[1]), "ids", _served(run, texts[:8]))
    expected = [[int(label in item.label) for label in item.probabilities] for item in found[:8]]
    assert served["predictions"].tolist() == expected


def _served(run, texts):
    task = models.open_folder(run)
    records, _ = task.encode([task.parse(text) for text in texts], False)
    return {name: records[name] for name in models.INPUTS}


@pytest.mark.slow
def test_evaluation_is_done_once_for_a_threshold(trained):
    folder, run, _ = trained
    flags = """--do_eval --task_name=custom --multi_label --text_a_column=words
        --label_columns=king,bird,ship --max_seq_length=48 --max_seq_length=48"""
    again = functools.partial(training_scripts.run, "run_classifier", folder, run)
    assert again(flags).evaluation.evaluated_steps == []
    outcome = again(f"{flags} --decision_threshold=0.9")
    assert outcome.evaluation.evaluated_steps == [30, 60]
    assert outcome.metrics["decision_threshold"] == 0.9


def test_early_exit_is_refused(tmp_path):
    write_data(tmp_path)
    flags = "--do_train --task_name=custom --text_a_column=words --label_columns=king,bird"
    with pytest.raises(ValueError, match="--early_exit.*--multi_label"):
        training_scripts.run("run_classifier", tmp_path, tmp_path / "out", f"{flags} --early_exit")
