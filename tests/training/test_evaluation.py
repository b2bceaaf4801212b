# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Each checkpoint is evaluated once, the best is kept, and no file of a user is lost."""

import json
import logging
import math
import os

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.training import evaluation
from albert.training.evaluation import Checkpoint, Evaluation
from tests.support import damaged_files


def _save(folder, *steps, weight=0.0, path=None):
    """Writes checkpoints whose only weight is step + `weight`, as training does."""
    with tf.Graph().as_default(), tf.Session() as session:
        value = tf.get_variable("value", [], tf.float32, use_resource=False)
        saver = tf.train.Saver(max_to_keep=None)
        for step in steps:
            value.load(step + weight, session)
            saver.save(session, path or str(folder / f"model.ckpt-{step}"))


def _weight(path):
    """The only weight of a checkpoint."""
    return float(tf.train.load_checkpoint(path).get_tensor("value"))


def _remove(folder, step):
    for name in os.listdir(str(folder)):
        if name.startswith(f"model.ckpt-{step}."):
            os.remove(str(folder / name))


class Evaluator:
    """Scores a checkpoint by a table from its weight, and remembers which ones it was given."""

    def __init__(self, scores):
        self.scores = scores
        self.seen = []

    def __call__(self, path):
        self.seen.append(os.path.basename(path))
        return {"accuracy": self.scores[_weight(path)], "loss": np.float32(0.1)}


def _evaluate(folder, scores, **settings):
    """Runs an evaluation; returns its summary and the names of the checkpoints it looked at."""
    evaluator = Evaluator(scores)
    settings = dict({"best_metric": "accuracy"}, **settings)
    summary = evaluation.evaluate_checkpoints(str(folder), evaluator, **settings)
    return summary, evaluator.seen


def _contents(folder):
    """File name -> (content, time of the last change)."""
    return {
        name: ((folder / name).read_bytes(), os.stat(str(folder / name)).st_mtime_ns)
        for name in os.listdir(str(folder))
    }


def _best_weight(folder):
    return _weight(str(folder / "model.ckpt-best"))


SCORES = {100: 0.5, 200: 0.75, 300: 0.25, 1000: 0.75}


# ---- checkpoints on disk ----


def test_complete_checkpoints_are_listed_in_step_order_without_the_best(tmp_path):
    assert evaluation.list_checkpoints(str(tmp_path / "absent")) == []
    _save(tmp_path, 1000, 200, 0)
    _save(tmp_path, 5, path=str(tmp_path / "model.ckpt-best"))
    files = ["7.index", "7.data-00000-of-00002", "7.data-00001-of-00002"]
    files += ["300.index", "400.index", "400.data-00000-of-00002", "500.data-00000-of-00001"]
    for name in files:
        (tmp_path / f"model.ckpt-{name}").write_text("")
    (tmp_path / "other.ckpt-600.index").write_text("")
    assert evaluation.list_checkpoints(str(tmp_path)) == [
        Checkpoint(step, str(tmp_path / f"model.ckpt-{step}")) for step in (0, 7, 200, 1000)
    ]


# -------------------------------------------------------------------------------- the usual course


def test_each_checkpoint_is_evaluated_once_in_step_order_and_the_best_is_copied(tmp_path):
    _save(tmp_path, 100, 200, 300, 1000)
    summary, seen = _evaluate(tmp_path, SCORES)
    assert seen == ["model.ckpt-100", "model.ckpt-200", "model.ckpt-300", "model.ckpt-1000"]
    assert summary.evaluated_steps == [100, 200, 300, 1000]
    assert [result.metrics["accuracy"] for result in summary.results] == [0.5, 0.75, 0.25, 0.75]
    assert summary.best == Evaluation(
        1000, {"accuracy": 0.75, "loss": 0.1, "global_step": 1000}
    )  # of equal ones the latest
    assert summary.best_checkpoint == str(tmp_path / "model.ckpt-best")
    assert _best_weight(tmp_path) == 1000
    for suffix in ("index", "meta", "data-00000-of-00001"):
        copy = (tmp_path / f"model.ckpt-best.{suffix}").read_bytes()
        assert copy == (tmp_path / f"model.ckpt-1000.{suffix}").read_bytes()
    assert evaluation.read_results(str(tmp_path)) == summary.results


def test_results_are_written_as_sorted_lines_of_key_and_value(tmp_path):
    _save(tmp_path, 100, 200, 300)
    _evaluate(tmp_path, SCORES)
    assert (tmp_path / "eval_results.txt").read_text() == (
        "accuracy = 0.5\nglobal_step = 100\nloss = 0.1\n"
        "accuracy = 0.75\nglobal_step = 200\nloss = 0.1\n"
        "accuracy = 0.25\nglobal_step = 300\nloss = 0.1\n"
    )
    assert not (tmp_path / "best_trial.txt").exists()
    _evaluate(tmp_path, SCORES, write_best_trial=True)
    assert (tmp_path / "best_trial.txt").read_text() == "300:200:0.75"


def test_a_second_evaluation_changes_nothing_and_gives_the_same_result(tmp_path):
    _save(tmp_path, 100, 200, 300)
    state = (tmp_path / "checkpoint").read_bytes()  # from which training resumes
    settings = {"write_best_trial": True, "fingerprint": {"files": ("a", 1)}}
    first, _ = _evaluate(tmp_path, SCORES, **settings)
    before = _contents(tmp_path)
    second, seen = _evaluate(tmp_path, SCORES, **settings)
    assert seen == []
    assert second == first._replace(evaluated_steps=[])
    assert _contents(tmp_path) == before
    assert (tmp_path / "checkpoint").read_bytes() == state
    assert not [name for name in before if ".tmp-" in name]


def test_new_checkpoints_are_added_and_deleted_ones_keep_their_results_and_the_copy(tmp_path):
    _save(tmp_path, 100, 200)
    _evaluate(tmp_path, SCORES)
    _remove(tmp_path, 100)
    _remove(tmp_path, 200)
    _save(tmp_path, 300)
    summary, seen = _evaluate(tmp_path, SCORES)
    assert seen == ["model.ckpt-300"]
    assert [result.step for result in summary.results] == [100, 200, 300]
    assert summary.best.step == 200
    assert _best_weight(tmp_path) == 200


def test_an_interrupted_evaluation_goes_on_where_it_was(tmp_path):
    _save(tmp_path, 100, 200, 300)
    with pytest.raises(KeyError):
        _evaluate(tmp_path, {100: 0.5, 200: 0.75})  # the third raises
    assert _best_weight(tmp_path) == 200
    summary, seen = _evaluate(tmp_path, SCORES)
    assert seen == ["model.ckpt-300"]
    assert len(summary.results) == 3


def test_lower_is_better_when_asked_and_a_removed_copy_is_made_again(tmp_path):
    _save(tmp_path, 100, 200, 300)
    summary, _ = _evaluate(tmp_path, SCORES, higher_is_better=False)
    assert (summary.best.step, _best_weight(tmp_path)) == (300, 300)
    os.remove(str(tmp_path / "model.ckpt-best.index"))
    for higher, best in ((False, 300), (True, 200)):
        summary, seen = _evaluate(tmp_path, SCORES, higher_is_better=higher)
        assert (seen, summary.best.step, _best_weight(tmp_path)) == ([], best, best)


def test_nan_and_infinity_are_recorded_but_never_best(tmp_path):
    _save(tmp_path, 100, 200, 300)
    scores = {100: math.nan, 200: math.inf, 300: 0.0}
    summary, _ = _evaluate(tmp_path, scores)
    assert summary.best.step == 300
    assert "accuracy = nan\n" in (tmp_path / "eval_results.txt").read_text()
    json.loads((tmp_path / "eval_results.json").read_text(), parse_constant=pytest.fail)
    read = evaluation.read_results(str(tmp_path))
    assert math.isnan(read[0].metrics["accuracy"])
    assert read[1].metrics["accuracy"] == math.inf


def test_there_is_no_best_when_no_value_is_finite(tmp_path):
    _save(tmp_path, 100)
    summary, _ = _evaluate(tmp_path, {100: math.nan}, write_best_trial=True)
    assert summary.best is None
    assert summary.best_checkpoint is None
    assert not (tmp_path / "model.ckpt-best.index").exists()
    again, seen = _evaluate(tmp_path, {}, write_best_trial=True)
    assert (again.best, seen) == (None, [])


def test_nothing_to_evaluate_and_a_metric_that_is_not_measured_are_errors(tmp_path):
    with pytest.raises(ValueError, match=str(tmp_path)):
        _evaluate(tmp_path, SCORES)
    _save(tmp_path, 100)
    with pytest.raises(ValueError, match="'f1'.*'accuracy', 'global_step'"):
        _evaluate(tmp_path, SCORES, best_metric="f1")


def test_results_without_a_ledger_are_none_and_a_broken_ledger_is_an_error(tmp_path):
    assert evaluation.read_results(str(tmp_path)) == []
    (tmp_path / "eval_results.json").write_text("[]")
    with pytest.raises(ValueError, match=r"eval_results\.json"):
        evaluation.read_results(str(tmp_path))


# ------------------------------------------------------------------------------- which one is best


@pytest.mark.parametrize("loss", ["loss", "eval_loss"])
def test_of_equal_ones_the_lower_loss_decides_and_then_the_later_step(tmp_path, loss):
    _save(tmp_path, 100, 200, 300, 400)
    losses = {100: 0.3, 200: 0.2, 300: 0.2, 400: math.nan}
    summary = evaluation.evaluate_checkpoints(
        str(tmp_path),
        lambda path: {"accuracy": 0.5, loss: losses[_weight(path)]},
        best_metric="accuracy",
    )
    assert summary.best.step == 300
    assert _best_weight(tmp_path) == 300


def test_the_untrained_checkpoint_is_measured_if_asked_for_and_never_best(tmp_path):
    _save(tmp_path, 0, 100)
    summary, seen = _evaluate(tmp_path, {100: 0.5})
    assert (seen, summary.best.step) == (["model.ckpt-100"], 100)
    summary, seen = _evaluate(tmp_path, {0: 0.75, 100: 0.5}, untrained_too=True)
    assert seen == ["model.ckpt-0"]
    assert [result.step for result in summary.results] == [0, 100]
    assert summary.best.step == 100
    _save(tmp_path, 200)
    summary, seen = _evaluate(tmp_path, {200: math.nan})
    assert (seen, summary.best.step) == (["model.ckpt-200"], 100)


def test_the_untrained_checkpoint_alone_is_measured_with_a_warning(tmp_path, caplog):
    _save(tmp_path, 0)
    summary, seen = _evaluate(tmp_path, {0: 0.5})
    assert (seen, summary.best.step) == (["model.ckpt-0"], 0)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    _save(tmp_path, 100)
    summary, seen = _evaluate(tmp_path, {100: 0.25})
    assert (seen, summary.best.step) == (["model.ckpt-100"], 100)
    assert _best_weight(tmp_path) == 100


# --------------------------------------------------------------------------------- what is damaged


@pytest.mark.parametrize("kind", damaged_files.DAMAGES)
def test_a_damaged_checkpoint_is_passed_over_and_named(tmp_path, caplog, kind):
    _save(tmp_path, 100, 200, 300)
    damaged_files.damage(tmp_path / "model.ckpt-200", kind)
    summary, _ = _evaluate(tmp_path, SCORES)
    assert summary.evaluated_steps == [100, 300]
    assert summary.best.step == 100
    # Without its data it is none, as while training deletes it.
    assert kind == "no data" or "model.ckpt-200 cannot be read" in caplog.text


@pytest.mark.parametrize("kind", damaged_files.DAMAGES)
def test_damage_after_the_evaluation_loses_no_results(tmp_path, kind):
    _save(tmp_path, 100, 200, 300)
    _evaluate(tmp_path, SCORES)
    _remove(tmp_path, 100)
    damaged_files.damage(tmp_path / "model.ckpt-200", kind)
    summary, seen = _evaluate(tmp_path, {})
    assert seen == [] and [result.step for result in summary.results] == [100, 200, 300]
    assert (summary.best.step, _best_weight(tmp_path)) == (200, 200)  # of which there is the copy
    summary, seen = _evaluate(tmp_path, SCORES, fingerprint={"data": 2})
    assert seen[-2:] == ["model.ckpt-best", "model.ckpt-300"]
    assert (summary.best.step, _best_weight(tmp_path)) == (200, 200)


@pytest.mark.parametrize("kind", damaged_files.DAMAGES)
def test_a_damaged_copy_of_the_best_is_made_again(tmp_path, kind):
    _save(tmp_path, 100, 200)
    _evaluate(tmp_path, SCORES)
    damaged_files.damage(tmp_path / "model.ckpt-best", kind)
    summary, seen = _evaluate(tmp_path, SCORES)
    assert (seen, summary.best.step) == ([], 200)
    assert _best_weight(tmp_path) == 200


def test_what_is_damaged_is_not_copied_as_the_best(tmp_path):
    _save(tmp_path, 100, 200)
    _evaluate(tmp_path, SCORES)
    damaged_files.damage(tmp_path / "model.ckpt-100")
    summary, _ = _evaluate(tmp_path, SCORES, higher_is_better=False)
    assert (summary.best.step, _best_weight(tmp_path)) == (200, 200)


@pytest.mark.parametrize("is_evaluated", [False, True])
def test_where_all_is_damaged_an_error_names_it(tmp_path, is_evaluated):
    _save(tmp_path, 0, 100)
    if is_evaluated:
        _evaluate(tmp_path, SCORES)
        damaged_files.damage(tmp_path / "model.ckpt-best")
    damaged_files.damage(tmp_path / "model.ckpt-100")
    for data in (1, 2):
        with pytest.raises(ValueError, match=r"model\.ckpt-100"):
            _evaluate(tmp_path, SCORES, fingerprint={"data": data})


# ----------------------------------------------------------------------- what was changed meanwhile


def test_other_data_or_settings_evaluate_again_the_copy_of_a_deleted_best_first(tmp_path, caplog):
    _save(tmp_path, 100, 200, 300)
    scores = {100: 0.1, 200: 0.2, 300: 0.3}
    _evaluate(tmp_path, scores, fingerprint={"batch_size": 8})
    _remove(tmp_path, 300)
    with caplog.at_level(logging.INFO, logger="albert"):
        summary, seen = _evaluate(tmp_path, scores, fingerprint={"batch_size": 16})
    assert seen == ["model.ckpt-best", "model.ckpt-100", "model.ckpt-200"]
    assert (summary.best.step, _best_weight(tmp_path)) == (300, 300)
    assert "batch_size was 8 and is 16" in caplog.text
    kept = json.loads((tmp_path / "eval_results.json.old-1").read_text())
    assert kept["fingerprint"] == {"batch_size": 8}


def test_training_anew_in_the_same_folder_replaces_all_old_results(tmp_path):
    _save(tmp_path, 100, 200, 300)
    _evaluate(tmp_path, {100: 0.9, 200: 0.8, 300: 0.7})
    for step in (100, 200, 300):
        _remove(tmp_path, step)
    _save(tmp_path, 200, weight=0.5)
    summary, seen = _evaluate(tmp_path, {200.5: 0.1})
    assert seen == ["model.ckpt-200"]
    assert [result.step for result in summary.results] == [200]
    assert _best_weight(tmp_path) == 200.5


def test_a_checkpoint_deleted_during_its_evaluation_is_passed_over(tmp_path, caplog):
    _save(tmp_path, 100, 200)

    def evaluate(path):
        if path.endswith("-100"):
            _remove(tmp_path, 100)
        return {"accuracy": _weight(path)}

    summary = evaluation.evaluate_checkpoints(str(tmp_path), evaluate, best_metric="accuracy")
    assert summary.evaluated_steps == [200]
    assert "was deleted before it was evaluated" in caplog.text


def test_a_best_checkpoint_deleted_while_it_is_copied_gives_way_to_the_next_best(
    tmp_path, monkeypatch, caplog
):
    _save(tmp_path, 100, 200)
    copy = tf.io.gfile.copy

    def deleted(source, target, overwrite=False):
        if "model.ckpt-200.data" in source:
            _remove(tmp_path, 200)
        copy(source, target, overwrite=overwrite)

    monkeypatch.setattr(tf.io.gfile, "copy", deleted)
    summary, _ = _evaluate(tmp_path, SCORES)
    assert summary.best.step == 100
    assert [result.step for result in summary.results] == [100, 200]
    assert _best_weight(tmp_path) == 100
    assert "was deleted before it was copied" in caplog.text


# ---------------------------------------------------------------------- what others have put there


def test_a_best_checkpoint_that_was_not_made_here_is_not_overwritten(tmp_path):
    _save(tmp_path, 100, 200)
    _save(tmp_path, 7, path=str(tmp_path / "model.ckpt-best"))
    evaluator = Evaluator(SCORES)
    with pytest.raises(ValueError, match=r"model\.ckpt-best"):
        evaluation.evaluate_checkpoints(str(tmp_path), evaluator, best_metric="accuracy")
    assert evaluator.seen == [] and _best_weight(tmp_path) == 7
    _save(tmp_path, 100, path=str(tmp_path / "model.ckpt-best"))  # which is not lost
    _evaluate(tmp_path, SCORES)
    assert _best_weight(tmp_path) == 200
    _save(tmp_path, 7, path=str(tmp_path / "model.ckpt-best"))  # in place of ours
    with pytest.raises(ValueError, match=r"model\.ckpt-best"):
        _evaluate(tmp_path, SCORES)
    assert _best_weight(tmp_path) == 7


@pytest.mark.parametrize(
    "content", ["", "not JSON", "[]", "{}", '{"format_version": 2}', '{"format_version": 1}']
)
def test_an_unreadable_ledger_is_kept_and_everything_is_evaluated_again(tmp_path, caplog, content):
    _save(tmp_path, 100)
    first, _ = _evaluate(tmp_path, SCORES)
    (tmp_path / "eval_results.json").write_text(content)
    summary, seen = _evaluate(tmp_path, SCORES)
    assert seen == ["model.ckpt-100"]
    assert summary == first
    assert (tmp_path / "eval_results.json.old-1").read_text() == content
    assert "is no record of evaluations" in caplog.text


# -------------------------------------------------------------------------- killed half-way through


@pytest.mark.parametrize("killed_at", ["eval_results.txt", "model.ckpt-best.index", "copy"])
def test_a_process_killed_while_it_writes_leaves_a_folder_that_is_mended(
    tmp_path, monkeypatch, killed_at
):
    _save(tmp_path, 100)
    _evaluate(tmp_path, SCORES)
    _save(tmp_path, 200)

    def stopping(function, place):
        def stopped(*arguments, **options):
            if killed_at == "copy" if place is None else arguments[place].endswith(killed_at):
                raise KeyboardInterrupt
            return function(*arguments, **options)

        return stopped

    with monkeypatch.context() as patch:
        for owner, name, place in (
            (evaluation.files, "atomic_write_text", 0),
            (tf.io.gfile, "rename", 1),
            (tf.io.gfile, "copy", None),
        ):
            patch.setattr(owner, name, stopping(getattr(owner, name), place))
        with pytest.raises(KeyboardInterrupt):
            _evaluate(tmp_path, SCORES)
    summary, seen = _evaluate(tmp_path, SCORES)
    assert seen == []
    assert summary.best.step == 200
    assert _best_weight(tmp_path) == 200
    assert "global_step = 200" in (tmp_path / "eval_results.txt").read_text()
    assert not [name for name in os.listdir(str(tmp_path)) if "old-" in name or ".tmp-" in name]


# ------------------------------------------------------------------------- while another one trains


class Trainer:
    """Stands for time: every sleep lets another process write its next checkpoint."""

    def __init__(self, monkeypatch, folder, steps):
        self.now = 0.0
        self._folder, self._steps = folder, list(steps)
        monkeypatch.setattr(evaluation.time, "sleep", self.sleep)
        monkeypatch.setattr(evaluation.time, "monotonic", lambda: self.now)

    def sleep(self, seconds):
        self.now += seconds
        step = self._steps.pop(0) if self._steps else None
        if step is not None:
            _save(self._folder, step)


@pytest.mark.parametrize(
    "options,seen,now",
    [
        ({}, [100], 0.0),
        ({"wait_seconds": 30}, [100, 200, 300], 60.0),
        ({"wait_seconds": 30, "final_step": 200}, [100, 200], 10.0),
    ],
)
def test_waiting_ends_with_the_final_step_or_when_none_comes(
    tmp_path, monkeypatch, options, seen, now
):
    _save(tmp_path, 100)
    trainer = Trainer(monkeypatch, tmp_path, [200, None, 300])
    _, found = _evaluate(tmp_path, SCORES, **options)
    assert found == [f"model.ckpt-{step}" for step in seen]
    assert trainer.now == now


def test_the_untrained_and_damaged_checkpoints_do_not_end_the_waiting(tmp_path, monkeypatch):
    _save(tmp_path, 0, 100)
    damaged_files.damage(tmp_path / "model.ckpt-100")
    trainer = Trainer(monkeypatch, tmp_path, [None, None, 200])
    _, seen = _evaluate(tmp_path, SCORES, wait_seconds=30)
    assert seen == ["model.ckpt-200"]
    assert trainer.now == 60.0


def test_a_damaged_checkpoint_that_training_writes_again_is_measured(tmp_path, monkeypatch):
    _save(tmp_path, 100, 300)
    damaged_files.damage(tmp_path / "model.ckpt-300")
    for file in tmp_path.glob("model.ckpt-300*"):
        os.utime(str(file), (1, 1))
    Trainer(monkeypatch, tmp_path, [None, 200, 300])
    _, seen = _evaluate(tmp_path, SCORES, wait_seconds=30, final_step=300)
    assert seen == ["model.ckpt-100", "model.ckpt-200", "model.ckpt-300"]


def test_the_untrained_checkpoint_alone_is_measured_when_the_waiting_is_over(tmp_path, monkeypatch):
    _save(tmp_path, 0)
    trainer = Trainer(monkeypatch, tmp_path, [])
    _, seen = _evaluate(tmp_path, {0: 0.5}, wait_seconds=30)
    assert (seen, trainer.now) == (["model.ckpt-0"], 30.0)


def test_another_process_may_evaluate_while_one_waits(tmp_path, monkeypatch):
    _save(tmp_path, 100)
    seen_by_other = []

    class Other(Trainer):
        def sleep(self, seconds):
            super().sleep(seconds)
            assert not list(tmp_path.glob(".albert_evaluation.lock"))
            seen_by_other.extend(_evaluate(tmp_path, SCORES)[1])

    Other(monkeypatch, tmp_path, [200, 300])
    summary, seen = _evaluate(tmp_path, SCORES, wait_seconds=30, final_step=300)
    assert (seen, seen_by_other) == (["model.ckpt-100"], ["model.ckpt-200", "model.ckpt-300"])
    assert [result.step for result in summary.results] == [100, 200, 300]
    assert summary.best.step == 200 and summary.evaluated_steps == [100]


# ---- what is recorded of one checkpoint ----


@pytest.mark.parametrize("has_identity", [True, False])
def test_recorded_metrics_are_those_of_the_weights_that_are_there(tmp_path, has_identity):
    """After more training, an older result of model.ckpt-best is of other weights."""

    def measure(path):
        return {"accuracy": _weight(path)}

    folder, best = str(tmp_path), str(tmp_path / "model.ckpt-best")
    for step in (100, 200):
        _save(tmp_path, step)
        evaluation.evaluate_checkpoints(folder, measure, best_metric="accuracy")
        assert evaluation.recorded_metrics(best, folder)["accuracy"] == step
        evaluation.evaluate_one(folder, lambda path: {"accuracy": -1.0}, best)  # of other data
        path = tmp_path / "eval_results.model.ckpt-best.json"
        if not has_identity:
            content = json.loads(path.read_text())
            del content["identity"]
            path.write_text(json.dumps(content))
        assert evaluation.recorded_metrics(best, folder)["accuracy"] == step
    assert evaluation.recorded_metrics(str(tmp_path / "model.ckpt-100"), folder)["accuracy"] == 100
    (tmp_path / "eval_results.json").unlink()
    assert evaluation.recorded_metrics(best, folder)["accuracy"] == -1.0
    _save(tmp_path, 300, path=best)
    known = evaluation.recorded_metrics(best, folder).get("accuracy")
    assert known == (None if has_identity else -1.0)
