# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Configuration, resumption and the stop on NaN, on a model of one variable."""

import logging
import pathlib
import shutil
from unittest import mock

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import modeling, run_pretraining
from albert.runtimes import devices
from albert.training import distribution, estimators, evaluation, hooks, origin, resuming
from albert.util import UserError, progress
from albert.util import flags as flags_lib
from tests.support import damaged_files, workers, write_json
from tests.support.one_weight import (
    CONFIG,
    curve_of,
    model_fn,
    save,
    settings_for,
    steps_in,
    train,
    weight_in,
)

# ---------------------------------------------------------------------------------------------
# What is trained on.


# The GPUs of a TPU's host are left alone.
@pytest.mark.parametrize(
    "flags, used",
    [
        ("", [1]),
        ("--distribution_strategy=mirrored", [None]),
        ("--distribution_strategy=mirrored --num_devices=2", [2]),
        ("--use_tpu --tpu_name=pod", []),
        ("--distribution_strategy=mirrored --nodo_train --do_eval", [1]),
    ],
)
def test_first_line_has_the_devices_in_use(monkeypatch, caplog, tmp_path, flags, used):
    asked = []
    monkeypatch.setattr(devices, "training_line", lambda at_most, _: asked.append(at_most))
    required = ["--albert_config_file=c", "--input_file=i", f"--output_dir={tmp_path}"]
    parsed = flags_lib.parse(run_pretraining.Flags, [*required, *flags.split()])
    with caplog.at_level(logging.INFO, logger="albert"):
        estimators.announce(parsed, modeling.AlbertConfig.from_dict(CONFIG), "records")
    assert asked == used and (used or "TPU pod" in caplog.text)


# ---------------------------------------------------------------------------------------------
# The output folder.


def test_output_dir_of_another_configuration_is_refused(tmp_path):
    path = str(tmp_path)
    # What is left out has its default.
    written = {"vocab_size": 10, "hidden_size": 4, "num_attention_heads": 2, "share_type": "all"}
    write_json(tmp_path / "albert_config.json", written)
    resuming.check_output_dir(path, modeling.AlbertConfig.from_dict(CONFIG))
    wider = modeling.AlbertConfig.from_dict(dict(CONFIG, hidden_size=8))
    with pytest.raises(UserError, match=f"{path}.*hidden_size"):
        resuming.check_output_dir(path, wider)


def test_failed_start_does_not_claim_the_folder(tmp_path, monkeypatch):
    def failing(features, labels, mode, params):
        raise ValueError("the checkpoint does not fit")

    calls = []
    monkeypatch.setattr(
        flags_lib, "write_config", lambda *_, **__: calls.append(steps_in(tmp_path))
    )
    with pytest.raises(ValueError, match="does not fit"):
        train(tmp_path, max_steps=1, function=failing)
    assert not (tmp_path / "albert_config.json").exists() and not calls
    train(tmp_path, max_steps=1)
    assert (tmp_path / "albert_config.json").exists() and calls == [[]]


def restored_by_tensorflow(folder):
    """The name of the checkpoint that Estimator would restore, None if there is none."""
    state = tf.train.get_checkpoint_state(str(folder))
    return state and pathlib.Path(state.model_checkpoint_path).name


def test_resume_point_is_newest_whole_checkpoint(tmp_path, caplog):
    save(tmp_path, 0, 4, 8, 12)
    save(tmp_path, 16, weight=np.nan)
    damaged_files.damage(tmp_path / "model.ckpt-8")
    damaged_files.damage(tmp_path / "model.ckpt-12")
    before = {path.name: path.read_bytes() for path in tmp_path.glob("model.*")}
    (tmp_path / "model.ckpt-20_temp_abc").mkdir()  # of a process that was killed
    # Workers, who mend nothing, find the same.
    assert resuming.resume_point(str(tmp_path), is_ours=False).step == 4
    assert restored_by_tensorflow(tmp_path) == "model.ckpt-16"
    caplog.clear()
    assert resuming.resume_point(str(tmp_path)).step == 4
    assert restored_by_tensorflow(tmp_path) == "model.ckpt-4"
    named = [f"model.ckpt-{step}" in line for step, line in zip((16, 12, 8), caplog.messages)]
    assert named == [True] * 3 and len(caplog.messages) == 3
    assert {path.name: path.read_bytes() for path in tmp_path.glob("model.*")} == before


def test_resume_point_without_whole_checkpoint_is_none_at_step_0_only(tmp_path):
    for step in (0, 4):
        save(tmp_path, step)
        damaged_files.damage(tmp_path / f"model.ckpt-{step}")
        if not step:
            assert resuming.resume_point(str(tmp_path)) is None
            assert restored_by_tensorflow(tmp_path) is None
    with pytest.raises(ValueError, match="model.ckpt-4"):
        resuming.resume_point(str(tmp_path))


@pytest.mark.parametrize("kind", damaged_files.STATES)
def test_resume_point_is_found_despite_damaged_state(tmp_path, kind):
    content = damaged_files.STATES[kind]
    (tmp_path / "checkpoint").write_bytes(content)
    assert resuming.resume_point(str(tmp_path)) is None
    assert restored_by_tensorflow(tmp_path) is None
    save(tmp_path, 0, 4)
    (tmp_path / "checkpoint").write_bytes(content)
    assert resuming.resume_point(str(tmp_path), is_ours=False).step == 4
    assert (tmp_path / "checkpoint").read_bytes() == content
    assert resuming.resume_point(str(tmp_path)).step == 4
    assert restored_by_tensorflow(tmp_path) == "model.ckpt-4"


def test_resume_point_is_found_in_copied_folder_or_without_state(tmp_path):
    original, copy = tmp_path / "original", tmp_path / "copy"
    assert resuming.resume_point(str(original)) is None
    save(original, 4, 8)
    shutil.copytree(original, copy)
    assert resuming.resume_point(str(copy)).path == f"{copy}/model.ckpt-8"
    paths = tf.train.get_checkpoint_state(str(copy)).all_model_checkpoint_paths
    # Those that TensorFlow deletes by and by.
    assert {pathlib.Path(path).parent for path in paths} == {copy}
    (original / "checkpoint").unlink()
    assert resuming.resume_point(str(original)).step == 8


def test_checkpoint_of_another_model_is_refused(tmp_path):
    train(tmp_path, max_steps=1)

    def wider(features, labels, mode, params):
        tf.get_variable("weights", [3])
        return model_fn(features, labels, mode, params)

    with pytest.raises(ValueError, match=r"(?s)model.ckpt-1.*weights \[3\]"):
        train(tmp_path, max_steps=8, function=wider)


# ---------------------------------------------------------------------------------------------
# What a training is made from.


def model_fn_from_five(features, labels, mode, params):
    """As a model from another --init_checkpoint."""
    spec = model_fn(features, labels, mode, params)
    weight = tf.trainable_variables()[0]
    weight._initializer_op = weight.assign(5.0).op
    return spec


def test_initial_weights_are_those_of_the_flags(tmp_path):
    stopped, expected = tmp_path / "stopped", tmp_path / "expected"
    for folder in (stopped, tmp_path / "foreign"):
        with pytest.raises(UserError, match="storage"):
            train(folder, max_steps=9, hook=LostHook(2))
        assert steps_in(folder) == [0]
    train(stopped, max_steps=9, function=model_fn_from_five)
    train(expected, max_steps=9, function=model_fn_from_five)
    assert weight_in(stopped) == weight_in(expected) == 9.5
    # Weights of step 0 that another program wrote are used.
    (tmp_path / "foreign" / "made_from.json").unlink()
    train(tmp_path / "foreign", max_steps=9, function=model_fn_from_five)
    assert weight_in(tmp_path / "foreign") == 4.5


def test_changed_flags_are_warned_of(tmp_path, caplog):
    train(tmp_path, max_steps=2)
    train(tmp_path, "--do_train", "--max_seq_length=512", max_steps=4)  # the default
    assert "run.toml" not in caplog.text
    changes = ("--seed=7", "--learning_rate=0.1", "--init_checkpoint=v")
    train(tmp_path, "--do_train", *changes, max_steps=6)
    (warning,) = [record for record in caplog.records if "--seed" in record.getMessage()]
    text = warning.getMessage()
    assert warning.levelname == "WARNING" and "12345" in text and "7" in text
    assert (
        "--learning_rate" in text and "--init_checkpoint" not in text and "--do_train" not in text
    )


def test_unused_init_checkpoint_is_warned_of(tmp_path, caplog):
    def warnings(*arguments, steps):
        caplog.clear()
        train(tmp_path, *arguments, max_steps=steps)
        return [record.message for record in caplog.records if "not used" in record.message]

    assert warnings("--init_checkpoint=a", steps=4) == []
    assert warnings(steps=8) == []
    for steps in (12, 12):
        (warning,) = warnings("--init_checkpoint=b", steps=steps)
        assert "--init_checkpoint=b" in warning
    # So is a model of --albert_dir, whose name may be the same.
    (tmp_path / "weights").mkdir()
    save(tmp_path / "weights", 1)
    with mock.patch.object(origin, "weights_hash", lambda path: "other"):
        assert len(warnings(steps=16)) == 1


def test_training_data_may_change_between_phases_only(tmp_path):
    def run(data, last_step, **more):
        made_from = {"training_data": data, "last_step": last_step}
        return train(tmp_path, max_steps=last_step, input_hashes=made_from, **more)

    run("a", 4)
    with pytest.raises(UserError, match="storage"):
        run("b", 12, hook=LostHook(6))
    with pytest.raises(UserError, match="made_from.json"):
        run("c", 12)
    assert run("b", 12).last_step == 12
    (tmp_path / "made_from.json").unlink()  # as of an older version
    assert run("c", 16).last_step == 16


def test_new_training_has_no_results_of_an_earlier_one(tmp_path):
    def evaluate(scores):
        return evaluation.evaluate_checkpoints(
            str(tmp_path),
            lambda path: {"score": scores[int(path.rpartition("-")[2])]},
            best_metric="score",
            fingerprint={},
        )

    train(tmp_path, max_steps=12)
    assert evaluate({4: 0.1, 8: 0.9, 12: 0.2}).best.step == 8
    (tmp_path / "run_summary.json").write_text("{}")
    for step in steps_in(tmp_path):
        tf.train.remove_checkpoint(f"{tmp_path}/model.ckpt-{step}")
    train(tmp_path, max_steps=4)
    assert not (tmp_path / "model.ckpt-best.index").exists()
    summary = evaluate({4: 0.3})
    assert [result.step for result in summary.results] == [4] and summary.best.step == 4
    earlier = tmp_path / "results.old-1"
    assert [result.step for result in evaluation.read_results(str(earlier))] == [4, 8, 12]
    assert {"model.ckpt-best.index", "run_summary.json"} <= {
        path.name for path in earlier.iterdir()
    }


# ---------------------------------------------------------------------------------------------
# A lost session.


LOST = tf.errors.UnavailableError(None, None, "the storage does not answer")


class LostHook(tf.train.SessionRunHook):
    """Loses the session before a step, counted as this process makes them."""

    def __init__(self, step):
        self.seen, self._step = 0, step

    def before_run(self, run_context):
        self.seen += 1
        if self.seen == self._step:
            raise LOST


def failing_at(number, method):
    """The method, of which one call fails."""
    effects = [mock.DEFAULT] * (number - 1) + [LOST] + [mock.DEFAULT] * 9
    called = mock.Mock(side_effect=effects, wraps=method)
    return lambda *arguments, **named: called(*arguments, **named)


def without_speed(folder):
    return [dict(row, examples_per_second="") for row in curve_of(folder)]


@pytest.mark.parametrize("lost_step, lost_save", [(1, 99), (7, 99), (0, 1), (0, 4)])
def test_training_resumes_bit_exact_after_lost_session(
    tmp_path, caplog, monkeypatch, lost_step, lost_save
):
    values = [0.1 * number for number in range(1, 12)]
    train(tmp_path / "whole", max_steps=9, values=values)
    with monkeypatch.context() as patch, pytest.raises(UserError, match="storage does not answer"):
        patch.setattr(tf.train.Saver, "save", failing_at(lost_save, tf.train.Saver.save))
        train(tmp_path / "lost", max_steps=9, values=values, hook=LostHook(lost_step))
    caplog.set_level(logging.INFO, "albert")
    caplog.clear()
    before = steps_in(tmp_path / "lost")
    train(tmp_path / "lost", max_steps=9, values=values)
    assert steps_in(tmp_path / "lost") == steps_in(tmp_path / "whole") == [4, 8, 9]
    assert weight_in(tmp_path / "lost") == weight_in(tmp_path / "whole")
    assert without_speed(tmp_path / "lost") == without_speed(tmp_path / "whole")
    saved = [record.args[0] for record in caplog.records if "Saved" in record.msg]
    # Nothing is lost at step 0: initial weights are made anew.
    done = max([0, *before])
    assert saved == [step for step in (0, 4, 8, 9) if step > done or not done]


def test_evaluation_that_loses_its_session_does_not_begin_again(tmp_path, monkeypatch):
    train(tmp_path, max_steps=1)
    update = mock.Mock(side_effect=[LOST, AssertionError("began again")])
    monkeypatch.setattr(progress.Progress, "update", update)
    evaluate = estimators.evaluator(
        settings_for(tmp_path),
        model_fn,
        lambda params: tf.data.Dataset.from_tensors({"x": np.float32([0.5])}),
        batch_size=1,
        steps=1,
    )
    with pytest.raises(UserError, match="storage does not answer"):
        evaluate(f"{tmp_path}/model.ckpt-1")


def test_full_disk_is_named_in_one_line(tmp_path):
    def larger(features, labels, mode, params):
        tf.get_variable("weights", [1000000])
        return model_fn(features, labels, mode, params)

    full = pytest.raises(UserError, match=f"{tmp_path}.*File too large")
    with damaged_files.small_disk(1000000), full as error:
        train(tmp_path, max_steps=1, function=larger)
    assert "\n" not in str(error.value)


def test_worker_that_loses_its_session_ends_at_once(tmp_path, monkeypatch):
    monkeypatch.setenv("TF_CONFIG", workers.tf_config(workers.free_addresses(1), 0))
    monkeypatch.setattr(distribution, "peers", lambda flags: ["localhost:1"])
    hook = LostHook(6)
    with pytest.raises(UserError, match="worker localhost:1 after step 5"):
        train(tmp_path, workers.MULTI_WORKER, max_steps=9, hook=hook)
    assert hook.seen == 6


# ---------------------------------------------------------------------------------------------
# Errors in a step.


def test_nonfinite_gradient_stops_with_step_and_advice(tmp_path):
    with pytest.raises(hooks.TrainingDivergedError) as error:
        train(tmp_path, max_steps=9, values=(1.0, 2.0, 3.0, 4.0, 5.0, -1.0))
    for part in ("step 6", "5.0", "--learning_rate"):
        assert part in str(error.value)
    assert steps_in(tmp_path) == [0, 4]
    assert weight_in(tmp_path) == 10.0
