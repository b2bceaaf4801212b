# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the fine-tuning scripts share: whose a folder is, times, and one checkpoint's results."""

import json
import types

import pytest
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.training import fine_tuning_flow, fine_tuning_runs
from albert.util import runtime as precision

VOCABULARY = {"path": "/a/model", "sha256": "1"}
DESCRIPTION = {"task": "t", "max_seq_length": 8, "spm_model_file": VOCABULARY}


def settings(folder, **changes):
    values = {
        "output_dir": str(folder),
        "do_train": False,
        "checkpoint": None,
        "seed": 1,
        "train_batch_size": 4,
        "wait_for_checkpoints_minutes": 0.0,
    }
    values.update(changes)
    return types.SimpleNamespace(**values)


def check(folder, description, **options):
    training = options.pop("do_train", False)
    fine_tuning_flow.check_output_dir(
        settings(folder, do_train=training),
        None,
        name="description.json",
        description=description,
        **options,
    )


@pytest.fixture
def described(tmp_path):
    check(tmp_path, DESCRIPTION)  # a new folder is nobody's
    (tmp_path / "description.json").write_text(json.dumps(DESCRIPTION), encoding="utf-8")
    return tmp_path


def test_a_folder_of_another_task_or_vocabulary_is_refused(described):
    check(described, DESCRIPTION, do_train=True)
    for change in ({"task": "u"}, {"spm_model_file": dict(VOCABULARY, sha256="2")}):
        with pytest.raises(ValueError, match=f"belongs to another run: {list(change)[0]}"):
            check(described, dict(DESCRIPTION, **change))


def test_a_vocabulary_is_known_by_its_content_not_by_its_path(described):
    check(described, dict(DESCRIPTION, spm_model_file=dict(VOCABULARY, path="/b/model")))


def test_the_length_binds_training_only(described):
    changed = dict(DESCRIPTION, max_seq_length=16)
    check(described, changed)
    with pytest.raises(ValueError, match="max_seq_length was 8 and is 16"):
        check(described, changed, do_train=True)


def test_what_an_earlier_version_did_not_record_is_taken_to_be_as_given(described):
    newer = dict(DESCRIPTION, is_pair=True)
    check(described, newer, earlier={"is_pair": True})
    with pytest.raises(ValueError, match="is_pair"):
        check(described, newer)


def test_settings_of_the_model_are_those_of_the_flags(tmp_path):
    flags = settings(
        tmp_path,
        learning_rate=0.5,
        use_tpu=False,
        albert_hub_module_handle=None,
        optimizer="lamb",
        precision="bfloat16",
        recompute=True,
        use_xla=True,
        gradient_accumulation_steps=2,
        layerwise_lr_decay=0.75,
    )
    length = fine_tuning_runs.TrainingLength(10, 3)
    found = fine_tuning_flow.model_settings(flags, None, length, init_checkpoint="c")
    assert (found.num_train_steps, found.num_warmup_steps, found.init_checkpoint) == (10, 3, "c")
    assert found.compute_dtype == precision.compute_dtype("bfloat16")
    assert found.use_xla and found.recompute and not found.use_one_hot_embeddings
    assert (found.optimizer, found.seed, found.layerwise_lr_decay) == ("lamb", 1, 0.75)
    on_tpu = fine_tuning_flow.model_settings(
        types.SimpleNamespace(**dict(vars(flags), use_tpu=True)), None, length
    )
    assert on_tpu.use_one_hot_embeddings and not on_tpu.use_xla


@pytest.mark.parametrize("is_tf2", [False, True])
def test_a_short_training_compiles_nothing_on_tensorflow_1_unless_told_to(monkeypatch, is_tf2):
    monkeypatch.setattr(precision, "is_tf2", lambda: is_tf2)
    config = modeling.AlbertConfig(
        30000, hidden_size=256, num_hidden_layers=4, num_attention_heads=4
    )
    short = fine_tuning_runs.TrainingLength(60, 0)

    def compiles(length=short, config=config, **changes):
        values = {"use_tpu": False, "use_xla": True, "padding": None}
        values.update(train_batch_size=2, max_seq_length=384)
        asked = types.SimpleNamespace(**dict(values, **changes))
        return fine_tuning_flow.compiles(asked, config, length)

    assert compiles() == is_tf2
    assert compiles(fine_tuning_runs.TrainingLength(800, 0))
    assert compiles(given=["use_xla"]) and compiles(padding="max")
    assert compiles(max_seq_length=512, train_batch_size=32)  # for the sake of memory
    assert compiles(max_seq_length=128)  # which has fewer lengths
    tiny = modeling.AlbertConfig(30000, hidden_size=128, num_hidden_layers=2, num_attention_heads=2)
    of_mrpc = fine_tuning_runs.TrainingLength(344, 0)
    assert compiles(of_mrpc, tiny, train_batch_size=32, max_seq_length=128)
    assert not compiles(use_xla=False, given=["use_xla"]) and not compiles(use_tpu=True)


# ---------------------------------------------------------------------------------------------
# Evaluation.


@pytest.fixture
def checkpoints(tmp_path):
    """A folder with the checkpoints 0 to 3."""
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.train.get_or_create_global_step()
        saver = tf.train.Saver(max_to_keep=None)
        for number in range(4):
            session.run(step.assign(number))
            saver.save(session, str(tmp_path / "model.ckpt"), global_step=number)
    return tmp_path


def evaluate(folder, finished, **changes):
    flags = settings(folder, **changes)
    times = fine_tuning_flow.start_summary(flags, {"task": "t", "metric": "score"}, 0.0)
    return fine_tuning_flow.evaluate(
        flags,
        lambda path: {"score": 1.0 if path.endswith("2") else 0.5},
        times,
        best_metric="score",
        fingerprint={},
        keep_checkpoints=1,
        finish=finished.append,
    )


def test_all_checkpoints_are_evaluated_timed_and_then_pruned(checkpoints):
    finished = []
    summary = evaluate(checkpoints, finished, do_train=True)
    assert finished == [summary] and summary.best.step == 2
    recorded = json.loads((checkpoints / "run_summary.json").read_text(encoding="utf-8"))
    assert (recorded["task"], recorded["metric"], recorded["seed"]) == ("t", "score", 1)
    assert (recorded["best_step"], recorded["value"], recorded["num_train_steps"]) == (2, 1.0, 3)
    assert recorded["eval_seconds"] > 0
    assert sorted(path.name for path in checkpoints.glob("*.index")) == [
        "model.ckpt-3.index",
        "model.ckpt-best.index",
    ]


def test_checkpoints_that_another_process_trained_stay(checkpoints):
    evaluate(checkpoints, [])
    assert len(list(checkpoints.glob("model.ckpt-?.index"))) == 4


def test_one_checkpoint_gets_files_of_its_own(checkpoints, tmp_path):
    finished = []
    named = str(checkpoints / "model.ckpt-2")
    assert evaluate(tmp_path / "out", finished, checkpoint=named) is None
    text = (tmp_path / "out" / "eval_results.model.ckpt-2.txt").read_text(encoding="utf-8")
    assert text == "global_step = 2\nscore = 1.0\n"
    recorded = (tmp_path / "out" / "eval_results.model.ckpt-2.json").read_text(encoding="utf-8")
    assert json.loads(recorded)["checkpoint"] == named
    assert finished == [] and not (tmp_path / "out" / "run_summary.json").exists()
