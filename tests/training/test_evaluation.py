# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Each checkpoint is evaluated once, the best is kept, and no file of a user is lost."""

import json
import logging
import math
import shutil
import types
from unittest import mock

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.training import evaluation, run_files
from albert.training.evaluation import Evaluation
from albert.util import files
from tests.support import damaged_files, read_json, write_json
from tests.support.one_weight import save, weight_in

BEST = "model.ckpt-best"
SCORES = {100: 0.5, 200: 0.75, 300: 0.25, 1000: 0.75}


def _remove(folder, *steps):
    for step in steps:
        for path in folder.glob(f"model.ckpt-{step}.*"):
            path.unlink()


def _evaluate(folder, scores, **rules):
    """Scores checkpoints by their weight; returns the summary and which were looked at."""
    seen = []

    def measure(path):
        seen.append(path.rpartition("-")[2])
        return {"accuracy": scores[weight_in(path)[0]], "loss": np.float32(0.1)}

    rules = {"best_metric": "accuracy", "fingerprint": {}, **rules}
    return evaluation.evaluate_checkpoints(str(folder), measure, **rules), seen


def _check_best(folder, summary, step):
    assert (summary.best.step, weight_in(folder / BEST)[0]) == (step, step)


# ---- the usual course ----


def test_evaluate_measures_each_once_and_copies_best(tmp_path):
    save(tmp_path, 100, 200, 300, 1000)
    summary, seen = _evaluate(tmp_path, SCORES)
    assert seen == ["100", "200", "300", "1000"]
    assert summary.evaluated_steps == [100, 200, 300, 1000]
    assert [result.metrics["accuracy"] for result in summary.results] == [0.5, 0.75, 0.25, 0.75]
    # Of equal ones the latest.
    best = Evaluation(1000, {"accuracy": 0.75, "loss": 0.1, "global_step": 1000})
    assert (summary.best, summary.best_checkpoint) == (best, f"{tmp_path}/{BEST}")
    for suffix in ("index", "meta", "data-00000-of-00001"):
        copy = (tmp_path / f"{BEST}.{suffix}").read_bytes()
        assert copy == (tmp_path / f"model.ckpt-1000.{suffix}").read_bytes()
    assert evaluation.read_results(str(tmp_path)) == summary.results


def test_copied_folder_keeps_results_and_best(tmp_path):
    """As on another machine, where every file is new."""
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.mkdir()
    save(source, 100, 200)
    _evaluate(source, SCORES)
    _remove(source, 200)
    shutil.copytree(source, copy, copy_function=shutil.copyfile)
    summary, seen = _evaluate(copy, SCORES)
    _check_best(copy, summary, 200)
    assert seen == []
    assert evaluation.recorded_metrics(f"{copy}/{BEST}", str(copy))["accuracy"] == 0.75


@pytest.mark.parametrize("number", range(5))
def test_killed_evaluation_continues(tmp_path, monkeypatch, number):
    """Killed as it writes the ledger, the results, and the three files of the copy."""
    save(tmp_path, 100)
    _evaluate(tmp_path, SCORES)
    save(tmp_path, 200)
    killed = mock.Mock(
        side_effect=[mock.DEFAULT] * number + [KeyboardInterrupt], wraps=files.rename
    )
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(files, "rename", killed)
        _evaluate(tmp_path, SCORES)
    summary, seen = _evaluate(tmp_path, SCORES)
    assert seen == ([] if number else ["200"])
    _check_best(tmp_path, summary, 200)
    assert "global_step = 200" in (tmp_path / "eval_results.txt").read_text()


# ---- which one is best ----


def test_lowest_loss_is_best_and_removed_copy_is_made_again(tmp_path, monkeypatch):
    save(tmp_path, 100, 200, 300)
    for losses, best in ((["accuracy"], 300), ([], 200)):
        monkeypatch.setattr(run_files, "LOSSES", losses)
        summary, seen = _evaluate(tmp_path, SCORES)
        _check_best(tmp_path, summary, best)
        _remove(tmp_path, "best")
    assert seen == []


def test_nan_is_recorded_but_never_best(tmp_path):
    save(tmp_path, 100, 200)
    scores = {100: math.nan, 200: math.inf, 300: 0.0}
    summary, _ = _evaluate(tmp_path, scores)
    assert (summary.best, summary.best_checkpoint) == (None, None)
    assert not list(tmp_path.glob(f"{BEST}*"))
    save(tmp_path, 300)
    summary, seen = _evaluate(tmp_path, scores)
    assert (seen, summary.best.step) == (["300"], 300)
    assert "accuracy = nan\n" in (tmp_path / "eval_results.txt").read_text()
    json.loads((tmp_path / "eval_results.json").read_text(), parse_constant=pytest.fail)
    read = [result.metrics["accuracy"] for result in evaluation.read_results(str(tmp_path))]
    assert math.isnan(read[0]) and read[1:] == [math.inf, 0.0]


@pytest.mark.parametrize("loss", ["loss", "eval_loss"])
def test_equal_scores_rank_by_loss(loss):
    losses = [math.nan, 0.3, 0.2]
    ranks = [evaluation.rank_of({"f1": 0.5, loss: value}, "f1") for value in losses]
    assert sorted(ranks) == ranks and len(set(ranks)) == 3


def test_untrained_checkpoint_is_never_best(tmp_path):
    save(tmp_path, 0, 100)
    assert _evaluate(tmp_path, {100: math.nan})[1] == ["100"]
    summary, seen = _evaluate(tmp_path, {0: 0.75}, untrained_too=True)
    assert (seen, summary.best) == (["0"], None)
    assert [result.step for result in summary.results] == [0, 100]


# ---- corrupt, lost, changed ----


@pytest.mark.parametrize("kind", damaged_files.DAMAGES)
def test_corrupt_checkpoint_is_skipped_with_one_line(tmp_path, caplog, kind):
    save(tmp_path, 100, 200, 300)
    damaged_files.damage(tmp_path / "model.ckpt-100", kind)
    summary, _ = _evaluate(tmp_path, SCORES)
    assert summary.evaluated_steps == [200, 300]
    assert len([one for one in caplog.messages if f"{tmp_path}/model.ckpt-100" in one]) == 1
    damaged_files.damage(tmp_path / "model.ckpt-200", "empty index")
    summary, _ = _evaluate(tmp_path, {})
    assert [result.step for result in summary.results] == [200, 300]
    _check_best(tmp_path, summary, 200)  # of which there is the copy


def test_copy_of_a_checkpoint_that_became_corrupt_stays(tmp_path):
    save(tmp_path, 200)
    _evaluate(tmp_path, SCORES)
    damaged_files.damage(tmp_path / "model.ckpt-200", "empty index")
    save(tmp_path, 100)
    summary, seen = _evaluate(tmp_path, SCORES)
    assert seen == ["100", "200"]
    _check_best(tmp_path, summary, 200)


def test_results_of_other_data_are_kept(tmp_path, caplog):
    save(tmp_path, 100, 200, 300)
    scores = {100: 0.1, 200: 0.2, 300: 0.3}
    _evaluate(tmp_path, scores, fingerprint={"batch_size": 8})
    _remove(tmp_path, 300)
    with caplog.at_level(logging.INFO, logger="albert"):
        summary, seen = _evaluate(tmp_path, scores, fingerprint={"batch_size": 16})
    assert seen == ["best", "100", "200"]
    _check_best(tmp_path, summary, 300)
    assert "batch_size was 8 and is 16" in caplog.text
    assert read_json(tmp_path / "eval_results.json.old-1")["fingerprint"] == {"batch_size": 8}


def test_results_of_an_older_version_are_measured_again(tmp_path):
    save(tmp_path, 100)
    _evaluate(tmp_path, SCORES)
    path = tmp_path / "eval_results.json"
    ledger = read_json(path)
    ledger["results"][0]["checkpoint"] = {"data_bytes": 1, "index_sha256": "ab"}
    write_json(path, ledger)
    summary, seen = _evaluate(tmp_path, SCORES)
    assert seen == ["100"]
    _check_best(tmp_path, summary, 100)


def test_rewritten_checkpoint_is_measured_again(tmp_path):
    save(tmp_path, 100, 200)
    _evaluate(tmp_path, {100: 0.9, 200: 0.8})
    save(tmp_path, 100, weight=0.5)
    summary, seen = _evaluate(tmp_path, {100.5: 0.85})
    assert (seen, summary.best.metrics["accuracy"]) == (["100"], 0.85)
    assert weight_in(tmp_path / BEST)[0] == 100.5


def test_deleted_checkpoint_is_skipped(tmp_path, monkeypatch):
    save(tmp_path, 100, 200, 300)
    copy = tf.io.gfile.copy

    class Scores(dict):
        def __getitem__(self, weight):
            if weight == 200:
                _remove(tmp_path, 300)
            return weight

    def delete_and_copy(source, target, overwrite=False):
        if "model.ckpt-200.data" in source:
            _remove(tmp_path, 200)
        copy(source, target, overwrite=overwrite)

    monkeypatch.setattr(tf.io.gfile, "copy", delete_and_copy)
    summary, _ = _evaluate(tmp_path, Scores())
    assert [result.step for result in summary.results] == [100, 200]
    _check_best(tmp_path, summary, 100)


# ---- what is refused ----


def test_foreign_best_checkpoint_is_not_overwritten(tmp_path):
    save(tmp_path, 100, 200)
    save(tmp_path, 7, name=BEST)
    with pytest.raises(ValueError, match=r"model\.ckpt-best"):
        _evaluate(tmp_path, {})
    assert weight_in(tmp_path / BEST)[0] == 7
    save(tmp_path, 100, name=BEST)  # which is not lost
    _check_best(tmp_path, _evaluate(tmp_path, SCORES)[0], 200)


def test_evaluate_refuses_without_checkpoint_metric_or_ledger(tmp_path):
    with pytest.raises(ValueError, match=str(tmp_path)):
        _evaluate(tmp_path, SCORES)
    assert evaluation.read_results(str(tmp_path)) == []
    save(tmp_path, 100)
    with pytest.raises(ValueError, match="acuracy"):
        _evaluate(tmp_path, SCORES, best_metric="acuracy")
    assert evaluation.read_results(str(tmp_path)) == []
    (tmp_path / "eval_results.json").write_text("{}")
    with pytest.raises(ValueError, match=r"eval_results\.json"):
        _evaluate(tmp_path, SCORES)


# ---- while another one trains ----


@pytest.mark.parametrize(
    "rules, seen, end",
    [
        ({}, ["100"], 0.0),
        ({"wait_seconds": 30}, ["100", "200", "300"], 60.0),
        ({"wait_seconds": 30, "final_step": 200}, ["100", "200"], 10.0),
    ],
)
def test_waiting_ends_with_final_step_or_time(tmp_path, monkeypatch, rules, seen, end):
    now, steps = [0.0], iter([[200], [], [300]])

    def sleep(seconds):
        """Another process trains meanwhile."""
        now.append(now[-1] + seconds)
        save(tmp_path, *next(steps, ()))

    # Not the module of all threads: those of other libraries sleep too.
    clock = types.SimpleNamespace(sleep=sleep, monotonic=lambda: now[-1])
    monkeypatch.setattr(evaluation, "time", clock)
    save(tmp_path, 0, 100)
    assert _evaluate(tmp_path, SCORES, **rules)[1] == seen
    assert now[-1] == end


# ---- what is recorded of one checkpoint ----


def test_recorded_metrics_belong_to_the_weights(tmp_path):
    folder, best = str(tmp_path), f"{tmp_path}/{BEST}"

    def recorded(path):
        return evaluation.recorded_metrics(str(path), folder).get("accuracy")

    for step in (100, 200):
        save(tmp_path, step)
        _evaluate(tmp_path, {100: 0.1, 200: 0.2})
        evaluation.evaluate_one(folder, lambda path: {"accuracy": -1.0}, best)  # of other data
        assert recorded(best) == step / 1000
    assert recorded(tmp_path / "model.ckpt-100") == 0.1
    (tmp_path / "other").mkdir()
    save(tmp_path / "other", 100, weight=0.5)  # not the one of the ledger in --output_dir
    assert recorded(tmp_path / "other" / "model.ckpt-100") is None
    (tmp_path / "eval_results.json").unlink()
    assert recorded(best) == -1.0
    save(tmp_path, 300, name=BEST)
    assert recorded(best) is None


def test_copy_without_own_result_is_measured(tmp_path, monkeypatch):
    """The result is recorded, the copy is an older one, and the checkpoint was deleted."""
    save(tmp_path, 100)
    _evaluate(tmp_path, {100: 0.5})
    save(tmp_path, 100, weight=0.5)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(tf.io.gfile, "copy", mock.Mock(side_effect=KeyboardInterrupt))
        _evaluate(tmp_path, {100.5: 0.9})
    _remove(tmp_path, 100)
    summary, seen = _evaluate(tmp_path, {100: 0.5})
    assert (seen, summary.best.metrics["accuracy"]) == (["best"], 0.5)
