# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Sweeps: what they plan, refuse and leave out, what comes of failures, and the table."""

import json
import math
import os
import pathlib
import re
import shutil
import sys
import zipfile

import pytest

from albert import run_classifier, sweep
from albert.classification import tasks as classifier_tasks
from albert.command_line import script
from albert.util import config_files, progress
from albert.util import flags as flags_lib
from tests.support import classification_data
from tests.support import fine_tuned_models as models

# Stands in for run_classifier: leaves what a run leaves, and fails for seed 13.
RUNNER = """
import json, os, sys
flags = dict(item[2:].partition("=")[::2] for item in sys.argv[1:])
print("starting", flags["task_name"], flush=True)
seed, folder = int(flags["seed"]), flags["output_dir"]
with open(os.path.join(folder, "started"), "a") as stream:
    stream.write("x")
if seed == 13:
    print("ERROR: unlucky", file=sys.stderr)
    sys.exit(1)
if "do_train" in flags:
    summary = {"task": flags["task_name"], "seed": seed, "metric": "eval_accuracy",
               "best_step": 3, "value": seed / 10, "metrics": {"eval_accuracy": seed / 10},
               "train_examples_per_second": 8.0, "wall_seconds": 3.0}
    with open(os.path.join(folder, "run_summary.json"), "w") as stream:
        json.dump(summary, stream)
else:
    assert os.path.isdir(os.path.dirname(flags["checkpoint"])), flags["checkpoint"]
names = {"mrpc": ["MRPC"], "mnli": ["MNLI-m"], "ax": ["AX"]}[flags["task_name"]]
for name in names:
    with open(os.path.join(folder, name + ".tsv"), "w") as stream:
        stream.write(f"{flags['task_name']} {seed}")
"""


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    """As a released archive is unpacked."""
    folder = tmp_path_factory.mktemp("albert_tiny")
    models.write_classifier(folder)
    # They name the folder in which the model was trained, and its vocabulary.
    (folder / "checkpoint").unlink()
    (folder / "classifier.json").unlink()
    shutil.copy(str(models.VOCABULARY), str(folder / "30k-clean.model"))
    return folder


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("glue")
    classification_data.write_mrpc(folder)
    classification_data.write_nli(folder / "MNLI", ["train", "dev_matched", "test_matched"])
    classification_data.write_nli(folder / "diagnostic", ["diagnostic"])
    return folder


def settings_of(model_dir, data_dir, output_dir, *arguments):
    named = [] if model_dir is None else [f"--model_dir={model_dir}"]
    folders = [f"--data_dir={data_dir}", f"--output_dir={output_dir}", *named]
    sizes = ["--max_seq_length=32", "--train_step=4"]
    return flags_lib.parse(sweep.Flags, [*folders, *sizes, *arguments])


@pytest.fixture
def make(model_dir, data_dir, tmp_path):
    """Settings of a sweep into tmp_path/out."""
    return lambda *arguments: settings_of(model_dir, data_dir, tmp_path / "out", *arguments)


@pytest.fixture
def fake_runs(tmp_path, monkeypatch):
    script = tmp_path / "runner.py"
    script.write_text(RUNNER, encoding="utf-8")
    monkeypatch.setattr(sweep, "command", lambda run: [sys.executable, str(script), *run.arguments])


def started(run):
    """How often the run was started."""
    path = pathlib.Path(run.folder, "started")
    return len(path.read_text()) if path.exists() else 0


def flags_of(run):
    """The flags of a run as run_classifier reads them."""
    return flags_lib.parse(run_classifier.Flags, run.arguments)


# ---- Plans.


def test_tasks_are_those_whose_data_is_there_and_each_has_every_seed(make, model_dir):
    plan = sweep.make_plan(make("--seeds=1-2"))
    tasks = ["mrpc", "mnli", "ax"]
    assert [(run.task, run.seed) for run in plan] == [(task, n) for task in tasks for n in (1, 2)]
    first = flags_of(plan[0])
    assert (first.do_train, first.do_eval, first.do_predict) == (True, True, True)
    assert first.albert_dir == str(model_dir)
    assert first.output_dir.endswith(os.path.join("mrpc", "seed-1"))
    assert (first.seed, first.optimizer, first.max_seq_length) == (1, "adamw", 32)
    # A shorter run keeps the warm-up's share.
    assert (first.train_step, first.warmup_proportion) == (4, 0.25)


def test_the_diagnostic_data_is_predicted_by_mnli_of_the_same_seed(make):
    plan = sweep.make_plan(make("--seeds=1-2", "--tasks=ax mnli"))
    assert [run.task for run in plan] == ["mnli", "mnli", "ax", "ax"]
    flags = flags_of(plan[3])
    assert (flags.do_train, flags.do_eval, flags.do_predict) == (False, False, True)
    assert flags.checkpoint == os.path.join(plan[1].folder, "model.ckpt-best")


@pytest.mark.slow
def test_predictions_of_the_diagnostic_data_belong_to_one_model_of_mnli(make, fake_runs):
    arguments = ("--tasks=mnli,ax", "--seeds=1,2")
    before = {run.name: run.identity for run in sweep.make_plan(make(*arguments))}
    other = sweep.make_plan(make(*arguments, "--learning_rate=0.5"))
    for run in other:
        assert run.identity != before[run.name]
    assert before["ax, seed 1"]["mnli.seed"] == 1
    sweep.sweep(make(*arguments))
    with pytest.raises(ValueError, match="seed-1 .*learning_rate"):
        sweep.sweep(make(*arguments, "--learning_rate=0.5"))
    for run in other[:2]:  # the user removes what MNLI's folders hold, as the message says
        shutil.rmtree(run.folder)
    with pytest.raises(ValueError, match="ax.*mnli.learning_rate was"):
        sweep.sweep(make(*arguments, "--learning_rate=0.5"))


@pytest.mark.slow
def test_a_task_without_test_data_is_not_predicted(model_dir, tmp_path):
    """As the published data of several Chinese tasks comes."""
    news = {"label": "102", "label_desc": "news_entertainment", "sentence": "the king"}
    pair = {"sentence1": "the king", "sentence2": "a king", "label": "0"}
    tasks = {"tnews": (news, ["train", "dev"]), "AFQMC": (pair, ["train", "dev", "test"])}
    for folder, (row, names) in tasks.items():
        (tmp_path / "clue" / folder).mkdir(parents=True)
        for name in names:
            path = tmp_path / "clue" / folder / f"{name}.json"
            path.write_text(json.dumps(dict(row, keywords="")) + "\n", encoding="utf-8")
    settings = settings_of(model_dir, tmp_path / "clue", tmp_path / "out", "--suite=clue")
    predicted = {run.task: flags_of(run).do_predict for run in sweep.make_plan(settings)}
    assert predicted == {"tnews": False, "afqmc": True}


@pytest.mark.parametrize("name", sorted(classification_data.PUBLISHED_RECIPES))
def test_the_published_hyper_parameters_are_the_defaults(name):
    flags = sweep.recipe_flags(classifier_tasks.get_task(name), {}, 5000)
    warmup, rate, steps, save, batch = classification_data.PUBLISHED_RECIPES[name]
    assert flags == {
        "max_seq_length": 512,
        "train_batch_size": batch,
        "learning_rate": rate,
        "train_step": steps,
        "warmup_step": warmup,
        "save_checkpoints_steps": save,
    }


@pytest.mark.parametrize(
    "given, expected",
    [
        ({}, {"num_train_epochs": 3, "warmup_proportion": 0.1, "save_checkpoints_steps": 62}),
        ({"num_train_epochs": "1"}, {"num_train_epochs": "1", "warmup_proportion": 0.1}),
        ({"train_step": "50", "warmup_step": "5"}, {"train_step": "50", "warmup_step": "5"}),
        ({"train_step": "50"}, {"train_step": "50", "warmup_proportion": 0.1}),
        ({"train_batch_size": "100", "learning_rate": "1"}, {"save_checkpoints_steps": 10}),
    ],
)
def test_overrides_replace_the_recipe_and_leave_its_shares(given, expected):
    flags = sweep.recipe_flags(classifier_tasks.get_task("afqmc"), given, 1000)
    assert {name: flags[name] for name in expected} == expected
    assert ("train_step" in flags) != ("num_train_epochs" in flags)
    assert ("warmup_step" in flags) != ("warmup_proportion" in flags)


def test_environment_variables_are_flags_and_empty_ones_are_not():
    environment = {"TASKS": "rte mrpc", "DATA_DIR": "a b", "SEEDS": "", "tasks": "x", "HOME": "/"}
    names = ["tasks", "data_dir", "seeds"]
    assert sweep.environment_arguments(names, environment) == ["--tasks=rte mrpc", "--data_dir=a b"]


def test_flags_of_a_file_win_over_the_environment_and_the_command_line_over_both(
    tmp_path, monkeypatch
):
    config = tmp_path / "run.toml"
    config.write_text('data_dir = "of file"\nseeds = "2"\n', encoding="utf-8")
    for name, value in {"DATA_DIR": "e", "SEEDS": "1", "TASKS": "rte", "OUTPUT_DIR": "e"}.items():
        monkeypatch.setenv(name, value)
    given = {}
    monkeypatch.setattr(script, "run", lambda *_, **options: given.update(options))
    sweep.cli()
    arguments = [f"--config={config}", "--seeds=3"]
    settings = flags_lib.parse(sweep.Flags, arguments, fallback=given["fallback"])
    assert (settings.data_dir, settings.seeds, settings.tasks) == ("of file", "3", "rte")


def test_the_folder_of_the_published_script_stands_for_what_is_not_named(tmp_path):
    def found(**environment):
        names = ["data_dir", "output_dir", "model_dir", "init_checkpoint", "albert_config_file"]
        names += ["albert_hub_module_handle", "spm_model_file", "vocab_file"]
        arguments = sweep.environment_arguments(names, dict(environment, ALBERT_ROOT=root))
        flags = dict(item[2:].split("=") for item in arguments)
        assert flags.pop("data_dir") == environment.get("DATA_DIR", f"{root}/glue")
        assert flags.pop("output_dir") == f"{root}/output"
        return flags

    root = str(tmp_path)
    assert found(DATA_DIR="d") == {"model_dir": "base_v1"}
    assert found(ALBERT_HUB_MODULE_HANDLE="m") == {"albert_hub_module_handle": "m"}
    assert found(MODEL_DIR="m") == {"model_dir": "m"}
    assert found(INIT_CHECKPOINT="c") == {"init_checkpoint": "c"}
    for name in ("albert_config.json", "30k-clean.model"):
        (tmp_path / name).touch()
    assert found() == {"model_dir": root}
    assert found(INIT_CHECKPOINT="c", SPM_MODEL_FILE="s") == {
        "init_checkpoint": "c",
        "albert_config_file": f"{root}/albert_config.json",
        "spm_model_file": "s",
    }


def test_several_values_make_a_folder_for_each_combination(make):
    arguments = ["--tasks=ax,mnli", "--learning_rate=1e-5, 3e-5", "--train_batch_size=2,4"]
    plan = sweep.make_plan(make(*arguments, "--precision=bfloat16", "--seeds=1-2"))
    assert len({run.folder for run in plan}) == len(plan) == 16
    setting = "train_batch_size=4,learning_rate=3e-5"
    assert (plan[7].setting, plan[7].seed) == (setting, 2)
    assert plan[7].folder.endswith(os.path.join("out", "mnli", setting, "seed-2"))
    flags = flags_of(plan[7])
    assert (flags.train_batch_size, flags.learning_rate, flags.precision) == (4, 3e-5, "bfloat16")
    assert flags_of(plan[15]).checkpoint == os.path.join(plan[7].folder, "model.ckpt-best")


@pytest.mark.parametrize("values", ["1e-5,x", "1e-5,1e-05", "1e-5,", "-1"])
def test_a_value_of_a_list_that_the_flag_does_not_take_is_refused(make, values):
    with pytest.raises(ValueError, match="learning_rate"):
        make(f"--learning_rate={values}")


def test_a_custom_task_is_planned_with_its_flags(model_dir, data_dir, tmp_path):
    own = ["--text_a_column=3", "--text_b_column=4", "--label_column=0", "--labels=0,1"]
    arguments = ["--tasks=custom", *own, "--train_step=4,5", "--header", "--metric=eval_loss"]
    plan = sweep.make_plan(settings_of(model_dir, data_dir / "MRPC", tmp_path, *arguments))
    assert [run.name for run in plan] == [
        "custom, train_step=4, seed 12345",
        "custom, train_step=5, seed 12345",
    ]
    flags = flags_of(plan[1])
    assert (flags.task_name, flags.labels, flags.header) == ("custom", "0,1", True)
    assert (flags.train_step, flags.learning_rate, flags.train_batch_size) == (5, 2e-5, 32)


def test_seeds_may_be_listed_or_a_range():
    assert sweep.parse_seeds(" 3, 1 5-7 ") == [3, 1, 5, 6, 7]


def test_further_flags_go_to_every_run_and_before_the_sweeps_own(make):
    plan = sweep.make_plan(make("--tasks=mrpc", "--run_flags=--recompute --keep_checkpoint_max=3"))
    flags = flags_of(plan[0])
    assert (flags.recompute, flags.keep_checkpoint_max) == (True, 3)


def test_random_weights_need_a_configuration_in_place_of_the_folder(model_dir, data_dir, tmp_path):
    parts = {
        "albert_config_file": model_dir / "albert_config.json",
        "spm_model_file": models.VOCABULARY,
    }
    named = [f"--{flag}={path}" for flag, path in parts.items()]
    settings = settings_of(None, data_dir, tmp_path, "--tasks=mrpc", *named)
    flags = flags_of(sweep.make_plan(settings)[0])
    assert (flags.albert_dir, flags.init_checkpoint) == (None, None)


# ---- Refusals: before anything is started.


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--tasks=mprc"], "mprc"),
        (["--tasks=mrpc,MRPC"], "mrpc,MRPC"),
        (["--tasks=ax"], "mnli"),
        (["--tasks=rte"], "train"),
        (["--suite=clue"], "clue"),
        (["--seeds=1,x"], "1,x"),
        (["--seeds=1,1"], "1,1"),
        (["--seeds=5-1"], "5-1"),
        (["--seeds=1-100000000000"], "1-100000000000"),
        (["--tasks=custom"], "text_a"),
        (["--tasks=mrpc", "--labels=0,1"], "labels"),
        (["--learning_rate=nan"], "nan"),
        (["--data_dir=/nowhere"], "/nowhere"),
        (["--max_seq_length=64"], "max_position_embeddings"),
        (["--run_flags=--nosuch"], "mrpc.*nosuch"),
        (["--run_flags='"], "run_flags"),
        (["--run_flags=--gradient_accumulation_steps=5"], "5"),
        (["--model_dir=/nowhere"], "/nowhere"),
        (["--albert_hub_module_handle=/x"], "albert_hub_module_handle"),
        (["--init_checkpoint=/nowhere/model.ckpt"], "/nowhere/model.ckpt"),
    ],
)
def test_what_cannot_work_is_refused_at_once(make, tmp_path, fake_runs, arguments, words):
    with pytest.raises(ValueError, match=words):
        sweep.sweep(make(*arguments))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "missing", ["albert_config.json", "30k-clean.model", "model.ckpt-best.index"]
)
def test_a_model_folder_that_lacks_a_part_is_refused(model_dir, data_dir, tmp_path, missing):
    folder = tmp_path / "model"
    shutil.copytree(str(model_dir), str(folder))
    (folder / missing).unlink()
    for model in (folder, None):  # none at all is refused as well
        with pytest.raises(ValueError, match=str(folder) if model else "albert_dir"):
            sweep.sweep(settings_of(model, data_dir, tmp_path / "out"))


def test_each_tasks_length_is_looked_at(make, monkeypatch, tmp_path):
    """Recipes differ in length: a later task's may be too long where the first one's is not."""
    recipe_flags = sweep.recipe_flags

    def longer(task, *arguments, **options):
        flags = recipe_flags(task, *arguments, **options)
        return dict(flags, max_seq_length=64) if task.name == "mnli" else flags

    monkeypatch.setattr(sweep, "recipe_flags", longer)
    with pytest.raises(ValueError, match="mnli.*--max_seq_length=64"):
        sweep.sweep(make("--tasks=mrpc,mnli"))


def test_weights_that_do_not_fit_the_configuration_are_refused(make, tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps(dict(models.CONFIG, hidden_size=8)), encoding="utf-8")
    with pytest.raises(ValueError, match="model.ckpt-best"):
        sweep.sweep(make(f"--albert_config_file={config}"))


def test_a_damaged_row_of_any_task_stops_the_sweep_before_it_starts(
    model_dir, data_dir, tmp_path, fake_runs
):
    folder = tmp_path / "glue"
    shutil.copytree(str(data_dir), str(folder))
    with (folder / "MNLI" / "dev_matched.tsv").open("a") as stream:
        stream.write("\t".join(["x"] * 10 + ["perhaps"]) + "\n")
    with pytest.raises(ValueError, match="dev_matched.tsv:8.*perhaps"):
        sweep.sweep(settings_of(model_dir, folder, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


# ---- Runs.


@pytest.mark.slow
def test_a_sweep_ends_with_the_table_and_the_best_seeds_submission(
    make, tmp_path, fake_runs, capsys
):
    settings = make("--seeds=1,3,2")
    assert sweep.sweep(settings) == {}
    out = tmp_path / "out"
    text = (out / "results.txt").read_text(encoding="utf-8")
    assert "20.00      10.00" in text
    captured = capsys.readouterr()
    assert captured.out == text
    assert "[mrpc 3] starting mrpc" in captured.err
    with zipfile.ZipFile(str(out / "glue_submission.zip")) as archive:
        content = {name: archive.read(name).decode() for name in archive.namelist()}
    assert content == {"AX.tsv": "ax 3", "MNLI-m.tsv": "mnli 3", "MRPC.tsv": "mrpc 3"}
    assert "starting mnli" in (out / "mnli" / "seed-2" / "log.txt").read_text()
    assert (out / "results.png").exists() and (out / "results.json").exists()
    assert config_files.read(str(out / "run.toml"))["seeds"] == "1,3,2"


@pytest.mark.slow
def test_a_second_start_leaves_out_what_is_finished(make, fake_runs):
    plan = sweep.make_plan(make("--seeds=1,2"))
    sweep.sweep(make("--seeds=1", "--tasks=mrpc"))
    sweep.sweep(make("--seeds=1,2", "--run_flags=--log_steps=7"))
    sweep.sweep(make("--seeds=1,2"))
    assert [started(run) for run in plan] == [1] * 6


@pytest.mark.slow
def test_a_run_that_was_cut_off_is_started_again(make, fake_runs):
    settings = make("--tasks=mrpc")
    (run,) = sweep.make_plan(settings)
    sweep.mark(run, is_finished=False)
    sweep.sweep(settings)
    assert started(run) == 1
    os.remove(os.path.join(run.folder, "run_summary.json"))
    sweep.sweep(settings)
    assert started(run) == 2


@pytest.mark.slow
def test_a_failure_does_not_stop_the_others_and_is_named_at_the_end(make, fake_runs, capsys):
    settings = make("--seeds=13,2", "--tasks=mrpc")
    assert sweep.main(settings) == 1
    captured = capsys.readouterr()
    last = captured.err.splitlines()[-1]
    assert "mrpc, seed 13" in last and "unlucky" in last
    assert "mrpc  eval_accuracy      1  20.00" in captured.out
    sweep.main(settings)
    assert [started(run) for run in sweep.make_plan(settings)] == [2, 1]


@pytest.mark.slow
def test_other_settings_and_other_data_need_another_folder(make, model_dir, tmp_path, fake_runs):
    sweep.sweep(make("--tasks=mrpc"))
    with pytest.raises(ValueError, match="train_step.*4.*5"):
        sweep.sweep(make("--tasks=mrpc", "--train_step=5"))
    other = classification_data.write_mrpc(tmp_path / "other", dev=22)
    with pytest.raises(ValueError, match="dev.tsv"):
        sweep.sweep(settings_of(model_dir, other, tmp_path / "out", "--tasks=mrpc"))


def test_a_folder_of_something_else_is_refused(make, tmp_path):
    folder = tmp_path / "out" / "mrpc" / "seed-12345"
    folder.mkdir(parents=True)
    (folder / "thesis.txt").write_text("x")
    with pytest.raises(ValueError, match=str(folder)):
        sweep.sweep(make("--tasks=mrpc"))


def test_a_dry_run_shows_the_commands_and_starts_none(make, tmp_path, fake_runs, capsys):
    sweep.sweep(make("--tasks=mrpc", "--dry_run"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "# mrpc, seed 12345: new" and "--task_name=mrpc" in lines[1]
    assert not (tmp_path / "out").exists()


def test_the_seed_without_a_number_is_never_the_best():
    runs = [sweep.PlannedRun("cola", "", seed, f"cola/{seed}", (), {}) for seed in (1, 2, 3)]
    results = [
        sweep.Run("cola", seed, "matthew_corr", 1, {"matthew_corr": value}, None, 1.0)
        for seed, value in ((1, float("nan")), (2, -0.1), (3, -0.2))
    ]
    assert sweep.best_folders(runs, results) == ["cola/2"]


# ---- The table.


def make_run(task, seed, value, *, speed=100.0, **metrics):
    metrics.update(eval_accuracy=value, eval_loss=0.5, global_step=20)
    return sweep.Run(task, seed, "eval_accuracy", 10 * seed, metrics, speed * seed, 60.0 + seed)


RUNS = [
    make_run("rte", 1, 0.5),
    make_run("rte", 2, 0.75),
    make_run("rte", 3, 0.7),
    make_run("mrpc", 1, 0.875, f1=0.9, MSE=3.0, speed=0),
]


def test_mean_and_deviation_are_those_of_the_seeds():
    rte, accuracy, f1 = sweep.make_rows(RUNS)
    assert (rte.task, rte.metric, rte.decides) == ("rte", "eval_accuracy", True)
    assert rte.values == {1: 0.5, 2: 0.75, 3: 0.7}
    assert rte.mean == pytest.approx(0.65)
    # Deviations -0.15, 0.1, 0.05: squares sum to 0.035, over two degrees of freedom.
    assert rte.deviation == pytest.approx(math.sqrt(0.0175))
    assert (rte.best_step, rte.examples_per_second, rte.wall_seconds) == (20, 200, 62)
    assert (accuracy.task, accuracy.mean, accuracy.deviation) == ("mrpc", 0.875, None)
    assert (f1.metric, f1.mean, f1.decides) == ("f1", 0.9, False)
    assert accuracy.examples_per_second is None  # and losses, counts and errors are no scores


@pytest.mark.parametrize("metric, best", [("eval_accuracy", "b"), ("eval_loss", "a")])
def test_the_best_setting_is_that_of_the_best_mean(tmp_path, metric, best):
    scores = {"a": (0.1, 0.6), "b": (0.4, 0.5), "c": (0.3, 0.6), "d": (0.6, 0.1)}
    runs = [
        sweep.Run("custom", seed, metric, 1, {metric: value}, None, 1.0, setting=f"x={name}")
        for name, values in scores.items()
        for seed, value in enumerate(values)
    ]
    rows = sweep.make_rows(runs)
    assert [row.setting for row in rows if row.is_best] == [f"x={best}"]
    assert [row.mean for row in rows] == pytest.approx([0.35, 0.45, 0.45, 0.35])
    lines = sweep.format_table(rows).splitlines()
    assert [line.split("  ")[0] for line in lines if "(best)" in line] == [
        f"custom, x={best} (best)"
    ]


def test_a_metric_that_some_seed_lacks_is_left_out():
    runs = [make_run("mnli", 1, 0.5, eval_accuracy_mismatched=0.4), make_run("mnli", 2, 0.5)]
    assert [row.metric for row in sweep.make_rows(runs)] == ["eval_accuracy"]


def test_the_text_has_a_line_for_each_score():
    lines = sweep.format_table(sweep.make_rows(RUNS)).splitlines()
    assert [re.split(r"  +", line.strip()) for line in lines[2:]] == [
        ["rte", "eval_accuracy", "3", "65.00", "13.23", "20", "200.0", progress.format_seconds(62)],
        ["mrpc", "eval_accuracy", "1", "87.50", "-", "10", "-", progress.format_seconds(61)],
        ["f1", "1", "90.00", "-"],
    ]
    assert len({line.index("65.00") for line in lines if "65.00" in line}) == 1
    assert lines[0].index("mean") + len("mean") == lines[2].index("65.00") + len("65.00")


def test_a_run_without_a_best_checkpoint_is_shown_as_not_a_number(tmp_path):
    content = {"task": "cola", "seed": 1, "metric": "matthew_corr", "metrics": {}}
    content.update(value=None, best_step=None, train_examples_per_second=10.0, wall_seconds=5.0)
    path = tmp_path / "run_summary.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    run = sweep.read_run(str(path))
    other = make_run("rte", 1, 0.5)
    sweep.write_results(str(tmp_path), [run, run._replace(seed=2), other], title="x")
    assert "nan" in (tmp_path / "results.txt").read_text(encoding="utf-8")
    rows = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["rows"]
    assert rows[0]["mean"] is None and rows[0]["values"] == {"1": None, "2": None}


@pytest.mark.parametrize("content", ["", "[]", '{"task": "rte"}', '{"task": "rte", "seed": "x"}'])
def test_a_file_that_is_no_summary_is_refused(tmp_path, content):
    path = tmp_path / "run_summary.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match="run_summary.json"):
        sweep.read_run(str(path))


@pytest.mark.parametrize("has_plots", [False, True])
def test_the_picture_is_a_png_where_there_is_matplotlib(monkeypatch, tmp_path, has_plots):
    if has_plots:
        pytest.importorskip("matplotlib")
    else:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
    paths = sweep.write_results(str(tmp_path), [*RUNS, make_run("cola", 1, -0.1)], title="A sweep")
    assert set(paths) == {str(path) for path in tmp_path.iterdir()}
    assert len(paths) == 2 + has_plots
    if has_plots:
        content = (tmp_path / "results.png").read_bytes()
        assert content.startswith(b"\x89PNG") and len(content) > 10000


# ---- Beside published results, and what the runs have said.

BASE = {"size": "base", "presets": ["albert_base_v2"]}


def results_of(folder, runs):
    sweep.write_results(str(folder), runs, title="x")
    content = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return content["published"], (folder / "results.txt").read_text(encoding="utf-8")


def test_seeds_are_compared_with_what_is_published_of_the_model(tmp_path):
    values = (0.84, 0.85, 0.86)
    runs = [make_run("mnli", seed, value)._replace(model=BASE) for seed, value in enumerate(values)]
    (found,), text = results_of(tmp_path, [*runs, make_run("rte", 1, 0.7)._replace(model=BASE)])
    assert (found["published"], found["runs"], found["verdict"]) == (84.6, 3, "within")
    assert found["mean"] == pytest.approx(85) and found["deviation"] == pytest.approx(1)
    assert found["tolerance"] == pytest.approx(2 * math.sqrt(4 / 3) + 0.05)
    assert "google-research/albert" in text


@pytest.mark.parametrize("models", [(None, None), (BASE, None), (BASE, dict(BASE, size="large"))])
def test_runs_of_unknown_or_several_models_are_compared_with_nothing(tmp_path, models):
    runs = [make_run("mnli", 1, 0.8)._replace(model=model) for model in models]
    found, text = results_of(tmp_path, runs)
    assert found == [] and "google-research" not in text


def test_a_run_that_has_learnt_nothing_is_named_below_the_table(tmp_path):
    said = {"kind": "flat", "step": 400, "text": "Step 400: nothing", "recovered_step": None}
    runs = [
        make_run("rte", 1, 0.53)._replace(warnings=[said]),
        make_run("rte", 2, 0.7)._replace(warnings=[dict(said, recovered_step=500)]),
    ]
    lines = results_of(tmp_path, runs)[1].splitlines()
    assert [line for line in lines if "Step" in line] == ["rte, seed 1: Step 400: nothing"]
