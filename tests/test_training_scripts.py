# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What every script that trains does: its files, a second start, and mistakes."""

import shutil

import pytest

from albert.tasks.classification.task import ClassifierTask
from albert.training import fine_tuning
from tests.support import cases, damaged_files, one_weight, pretraining_records, read_json
from tests.support.classification_data import contents, steps_in, write_config
from tests.support.runtimes import needs_tf_estimator
from tests.support.training_scripts import SCRIPTS, run, settings_for

# What race and SQuAD 1.1 do here, a classifier and SQuAD 2.0 do as well.
QUICK = ("run_pretraining", "run_classifier", "run_squad_v2")


def for_each(scripts):
    return pytest.mark.parametrize("script", cases.slow_but(QUICK, scripts))


# Task and metric in the summary, and files of a script's own.
FINE_TUNING = {
    "run_classifier": ("mrpc", "eval_accuracy", {"test_results.tsv", "classifier.json"}),
    "run_race": ("race", "eval_accuracy", {"predictions.json", "predict_results.txt", "race.json"}),
    "run_squad_v1": ("squad_v1", "f1", {"predictions.json", "nbest_predictions.json"}),
    "run_squad_v2": ("squad_v2", "f1", {"predictions.json", "null_odds.json", "squad.json"}),
}


@for_each(SCRIPTS)
def test_script_evaluates_every_checkpoint(trained, script):
    folder, outcome = trained(script)
    last, every = outcome.training.last_step, 3 if script == "run_pretraining" else 2
    steps = sorted({*range(0, last + 1, every), last})
    assert outcome.training.first_step == 0 and steps_in(folder) == steps
    assert [result.step for result in outcome.evaluation.results] == steps[1:]
    files = {"albert_config.json", "eval_results.json", "eval_results.txt", "model.ckpt-best.index"}
    assert files | {"run.toml", "training_curve.csv"} <= set(contents(folder))


@for_each(FINE_TUNING)
def test_fine_tuning_summarizes_best_checkpoint(trained, script):
    folder, outcome = trained(script)
    task, metric, files = FINE_TUNING[script]
    assert files <= set(contents(folder))
    best, last = outcome.evaluation.best, outcome.training.last_step
    value = best.metrics[metric]
    assert (folder / "best_trial.txt").read_text() == f"{last}:{best.step}:{value}"
    summary = read_json(folder / "run_summary.json")
    expected = {"task": task, "metric": metric, "value": value, "best_step": best.step}
    expected.update(seed=12345, num_train_steps=last, metrics=best.metrics)
    assert {name: summary[name] for name in expected} == expected
    assert summary["train_examples_per_second"] > 0


@for_each(SCRIPTS)
def test_second_start_changes_nothing(training_data, trained, script):
    folder, outcome = trained(script)
    before = contents(folder)
    for flags in ("--log_steps=7", "--log_steps=8 --nodo_train"):
        again = run(script, training_data, folder, f"{SCRIPTS[script].phases} {flags}")
        assert again.training is None and again.evaluation.evaluated_steps == []
        assert again.evaluation.results == outcome.evaluation.results
        assert contents(folder) == before


@pytest.mark.parametrize("is_pretrained", [False, True])
def test_random_weights_are_a_warning(training_data, trained, tmp_path, caplog, is_pretrained):
    start = trained("run_classifier")[0] / "model.ckpt-best" if is_pretrained else ""
    arguments = f"--do_train --init_checkpoint={start}"
    flags = settings_for("run_classifier", training_data, tmp_path / "out", arguments)
    fine_tuning.FineTuning(flags, ClassifierTask).check()
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert any("--init_checkpoint" in text for text in warnings) != is_pretrained


# Training files, the bytes that are replaced in them, and the replacement.
CHANGES = {
    "run_pretraining": ("train-1.tf_record", None, None),
    "run_classifier": ("MRPC/train.tsv", b"bird", b"ring"),
    "run_race": ("RACE/train/high/0.txt", b"bird", b"ring"),
    "run_squad_v1": ("v1.json", b"king", b"ring"),
    "run_squad_v2": ("v2.json", b"king", b"ring"),
}


@pytest.mark.parametrize("script", cases.slow_but(["run_pretraining"], SCRIPTS))
def test_training_never_goes_on_with_other_data(training_data, trained, tmp_path, caplog, script):
    source, outcome = trained(script)
    folder, data = tmp_path / "out", tmp_path / "data"
    shutil.copytree(source, folder)
    shutil.copytree(training_data, data, copy_function=shutil.copyfile)
    name, old, new = CHANGES[script]
    original = (data / name).read_bytes()
    if old:
        damaged_files.replace_silently(data / name, old, new)
    else:
        pretraining_records.write_records(data / name, 24, seed=9)
    before = contents(folder)

    def is_unchanged():
        after = contents(folder)  # also features of the changed data
        # The file `checkpoint` names the newest checkpoint that is there.
        return all(after[name] == before[name] for name in before if name != "checkpoint")

    assert run(script, data, folder, "--do_train").training is None
    assert [record.levelname for record in caplog.records if "training data" in record.message]
    assert is_unchanged()
    last = outcome.training.last_step
    for path in folder.glob(f"model.ckpt-{last}.*"):  # as if it had been killed before
        path.unlink()
    before = contents(folder)
    with pytest.raises(ValueError, match="made_from.json"):
        run(script, data, folder, "--do_train")
    assert is_unchanged()
    # The same data in another folder.
    (data / name).write_bytes(original)
    assert run(script, data, folder, "--do_train").training.last_step == last
    expected = one_weight.values_in(source / f"model.ckpt-{last}")
    found = one_weight.values_in(folder / f"model.ckpt-{last}")
    assert all((found[key] == expected[key]).all() for key in expected)


# The flag or file that is named; {small} is a configuration for fewer words, and {records} are of
# pretraining.
MISTAKES = cases.table("""
    run_pretraining | --nodo_train | --do_train, --do_eval
    run_pretraining | --gradient_accumulation_steps=3 | --train_batch_size=8 .* 3
    run_pretraining | --max_seq_length=64 | --max_seq_length=64 .* 32
    run_pretraining | --do_eval --eval_file=nothing* | --eval_file: 'nothing
    run_pretraining | --train_layers=3 | --train_layers=3
    run_pretraining | --train_layers=1 --share_type=none | --train_layers=1 .*share_type
    run_pretraining | --vocab_file=a --spm_model_file=b | --vocab_file and --spm_model_file
    run_pretraining | --masked_lm_budget=nan | masked_lm_budget
    run_pretraining | --masked_lm_budget=0.2 --use_tpu --tpu_name=a | masked_lm_budget.* TPU
    run_classifier | | --do_train
    run_classifier | --do_train --labels=a,b | --labels
    run_classifier | --do_train --max_seq_length=65 | max_position_embeddings
    run_classifier | --do_train --predict_file=/absent.tsv | /absent.tsv
    run_classifier | --do_eval | no checkpoint
    run_classifier | --do_train --do_eval --checkpoint=/absent/m | /absent/m
    run_classifier | --do_train --albert_config_file={small} | vocab_size
    run_race | --high_only --middle_only | --high_only
    run_race | --max_qa_length=45 | --max_qa_length=45
    run_squad_v1 | | --do_train.*--do_predict.*--export_dir
    run_squad_v2 | --do_predict --null_score_diff_threshold=nan | null_score_diff_threshold
    run_squad_v1 | --do_train --train_file={data}/v2.json | run_squad_v2
    run_squad_v2 | --do_train --max_query_length=384 | --max_query_length=384.*--max_seq_length=
    run_squad_v1 | --do_train --train_feature_file={data}/bare.json | bare.json
    run_squad_v1 | --do_train --train_feature_file={records} | eval.tf_record
    run_squad_v2 | --do_predict --do_train --predict_feature_file={records} | eval.tf_record
    run_race | --do_train --train_file={records} | eval.tf_record
    run_race | --do_train --do_eval --eval_file={records} | eval.tf_record
    run_race | --do_train --do_predict --predict_file={records} | eval.tf_record
""")
CORES = ("run_pretraining", "--use_tpu --num_tpu_cores=16", "--train_batch_size=8 .* 16")


@pytest.mark.parametrize(
    "script, arguments, named", [*MISTAKES, pytest.param(*CORES, marks=needs_tf_estimator)]
)
def test_wrong_flag_is_named(training_data, tmp_path, script, arguments, named):
    before = contents(training_data)
    arguments = arguments.format(
        data=training_data,
        records=training_data / "eval.tf_record",
        small=write_config(tmp_path, vocab_size=50),
    )
    with pytest.raises((ValueError, OSError), match=f"(?i){named}"):
        run(script, training_data, tmp_path / "out", arguments)
    made = [path for path in tmp_path.rglob("*") if path.suffix in (".tf_record", ".toml")]
    assert steps_in(tmp_path / "out") == made == [] and contents(training_data) == before


@pytest.mark.parametrize("script", SCRIPTS)
def test_unwritable_folder_is_named(training_data, script):
    with pytest.raises(ValueError, match=r"config\.json"):
        run(script, training_data, training_data / "config.json" / "out", "--do_train")


@pytest.mark.parametrize(
    "script, arguments, named",
    cases.table("""
        run_pretraining | --albert_config_file={data}/config.json | num_hidden_layers
        run_classifier | --do_predict --task_name=rte | output_dir=.*mrpc
        run_classifier | --do_train --max_seq_length=16 | output_dir=.*max_seq_length
        run_classifier | --do_predict --exit_patience=2 | --exit_patience=2.*--early_exit
        run_classifier | --do_predict --albert_config_file={wide} | another configuration
        run_classifier | --do_predict --albert_config_file={wide} {elsewhere} | ckpt-6
    """),
)
def test_folder_of_another_run_is_refused(
    training_data, trained, tmp_path, monkeypatch, script, arguments, named
):
    monkeypatch.chdir(tmp_path)
    folder, _ = trained(script)
    wide = write_config(tmp_path, hidden_size=20)
    elsewhere = f"--output_dir=x --checkpoint={folder}/model.ckpt-6"
    arguments = arguments.format(data=training_data, wide=wide, elsewhere=elsewhere)
    with pytest.raises(ValueError, match=named):
        run(script, training_data, folder, arguments)
