# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Length of a fine-tuning, its folder and its checkpoints; published scores beside its own."""

import logging
import types

import pytest

from albert import configs, run_classifier, run_race, run_squad_v1, run_squad_v2, run_tagger
from albert.tasks.race.task import RaceTask
from albert.training import evaluation, fine_tuned, fine_tuning, task, workflow
from albert.training.program import training_length
from albert.util import flags as flags_lib
from tests.support import cases, one_weight, race_data, workers, write_json

CONFIG = configs.preset_path("albert_base_v2")


def squad_flags(**changes):
    values = {"num_train_epochs": None, "warmup_proportion": None, "train_batch_size": 32}
    return types.SimpleNamespace(**{"train_step": 1000, "warmup_step": 10, **values, **changes})


# ---------------------------------------------------------------------------------------------
# The folder.

VOCABULARY = {"path": "/a/model", "sha256": 64 * "1"}
DESCRIPTION = {
    "format_version": 1,
    "task": "t",
    "max_seq_length": 8,
    "do_lower_case": True,
    "spm_model_file": VOCABULARY,
}


class SomeTask(task.Task):
    flags_class = run_squad_v1.Flags
    description_name = "description.json"
    recorded_flags, heard_flags = ("doc_stride",), ("n_best_size",)


def check_folder(folder, is_training=True, **changes):
    described = dict(DESCRIPTION, **changes)
    values = {"output_dir": str(folder), "do_train": is_training, "n_best_size": 20}
    values.update(precision="float32", padding=None)
    some = SomeTask(squad_flags(**values), None, {})
    some.describe = lambda: described
    some.vocabulary = types.SimpleNamespace(record=dict)
    fine_tuned.check_description(some)


def test_folder_of_another_task_is_refused(tmp_path):
    check_folder(tmp_path)  # a new folder is nobody's
    write_json(tmp_path / "description.json", DESCRIPTION)
    check_folder(tmp_path, spm_model_file=dict(VOCABULARY, path="/b/model"))  # the content counts
    for change in (
        {"task": "u"},
        {"spm_model_file": dict(VOCABULARY, sha256=64 * "2")},
        {"max_seq_length": 16},
        {"is_pair": True},
    ):
        with pytest.raises(ValueError, match=list(change)[0]):
            check_folder(tmp_path, **change)
    check_folder(
        tmp_path, is_training=False, max_seq_length=16, doc_stride=3
    )  # where it is used only
    check_folder(tmp_path, n_best_size=3)


# ---------------------------------------------------------------------------------------------
# The model and its training.


# int(3668 / 32 * 3) is 343; in the last, the learning rate never reaches its peak.
@pytest.mark.parametrize(
    "changes, steps, warmup",
    [
        ({}, 1000, 10),
        ({"num_train_epochs": 3.0}, 343, 10),
        ({"num_train_epochs": 3.0, "warmup_proportion": 0.1}, 343, 34),
        ({"warmup_proportion": 0.0}, 1000, 0),
        ({"train_step": 10}, 10, 10),
    ],
)
def test_training_length_prefers_epochs_to_steps(changes, steps, warmup, caplog):
    assert training_length(squad_flags(**changes), 3668)[:2] == (steps, warmup)
    assert bool(caplog.records) == (steps <= warmup)
    with pytest.raises(ValueError, match="num_train_epochs"):
        training_length(squad_flags(num_train_epochs=0.5), 20)  # less than a batch


@pytest.mark.parametrize(
    "script", [run_classifier, run_race, run_squad_v1, run_squad_v2, run_tagger]
)
@pytest.mark.parametrize(
    "arguments, expected",
    cases.table("""
        --train_step=40 --warmup_step=3              | 40 3
        --num_train_steps=40 --num_warmup_steps=3    | 40 3
        --max_steps=40 --warmup_proportion=0.25      | 40 10
        --num_train_epochs=2 --warmup_proportion=0.5 | 200 100
        --num_train_epochs=2 --warmup_step=3         | 200 3
    """),
)
def test_every_script_takes_steps_or_epochs(script, arguments, expected, monkeypatch):
    monkeypatch.setattr(script.Flags, "check", lambda flags: None)
    given = flags_lib.parse(script.Flags, ["--train_batch_size=32", *arguments.split()])
    assert training_length(given, 3200)[:2] == tuple(map(int, expected.split()))


def new_fine_tuning(**changes):
    """A fine-tuning of base v2 on RACE before it has read its data."""
    flags = f"""--do_train --data_dir=x --output_dir=x --init_checkpoint=x --learning_rate=3e-5
        --albert_config_file={CONFIG} --spm_model_file={race_data.VOCABULARY}"""
    asked = flags_lib.parse(run_race.Flags, flags.split()).replace(**changes)
    return fine_tuning.FineTuning(asked, RaceTask)


def test_other_workers_only_train(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", workers.tf_config(["here:1", "there:2"], 1))
    other = new_fine_tuning(distribution_strategy="multi_worker", padding="max", do_predict=True)
    monkeypatch.setattr(other, "check", lambda: None)
    monkeypatch.setattr(other, "train", lambda: "trained")
    assert other.run() == workflow.Outcome("trained")


def test_compare_logs_per_cent(caplog):
    run = new_fine_tuning()
    with caplog.at_level(logging.INFO, logger="albert"):
        (found,) = run.compare({"eval_accuracy": 0.67, "eval_loss": 1.0})
    assert (found.mean, found.published) == (67.0, 66.8)
    assert "66.8" in caplog.text
    run.published_model = None
    assert run.compare({"eval_accuracy": 0.67}) == []


# ---------------------------------------------------------------------------------------------
# Checkpoints.


def test_prune_keeps_newest_evaluated(tmp_path):
    one_weight.save(tmp_path, 0, 1, 2, 3)
    evaluation.prune_checkpoints(str(tmp_path), 0, [0, 1, 2, 3])
    assert one_weight.steps_in(tmp_path) == [0, 1, 2, 3]
    evaluation.prune_checkpoints(str(tmp_path), 2, [0, 2, 3])
    assert one_weight.steps_in(tmp_path) == [1, 2, 3]
    assert not list(tmp_path.glob("model.ckpt-0.*"))
    # Step 3 is damaged, for example: the newest that could be evaluated stays too.
    evaluation.prune_checkpoints(str(tmp_path), 1, [1, 2])
    assert one_weight.steps_in(tmp_path) == [2, 3]
