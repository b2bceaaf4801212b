# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Sweeps: what they plan, refuse and skip, a failed run, and the table."""

import math
import os
import pathlib
import shutil
import zipfile

import pytest

from albert.commands import sweep as sweep_command
from albert.tasks.classification import registry, sweep, sweep_plan
from albert.tasks.classification.flags import ClassifierFlags, SweepFlags
from albert.util import flags as flags_lib
from tests.support import FIXTURES, cases, classification_data, read_json
from tests.support import fine_tuned_models as models

# From the public run_glue.sh: warm-up, learning rate, steps, steps between checkpoints, batch.
RECIPES = read_json(FIXTURES / "task_files.json")["recipes"]
# Stands in for run_classifier: leaves what a run leaves, fails for seed 13, and is killed for 14.
RUNNER = """
import json, os, pathlib, sys
flags = dict(item[2:].partition("=")[::2] for item in sys.argv[1:])
print("starting", flags["task_name"], flush=True)
task, seed, folder = flags["task_name"], int(flags["seed"]), pathlib.Path(flags["output_dir"])
with open(folder / "started", "a") as stream:
    stream.write("x")
if seed == 13:
    sys.exit("ERROR: unlucky")
if seed == 14:
    os.kill(os.getpid(), 9)
summary = {"task": task, "seed": seed, "metric": "eval_accuracy"}
summary["metrics"] = {"eval_accuracy": seed / 10}
(folder / "run_summary.json").write_text(json.dumps(summary))
assert task != "ax" or pathlib.Path(flags["checkpoint"]).parent.is_dir()
name = {"mrpc": "MRPC", "mnli": "MNLI-m", "ax": "AX"}[task]
(folder / f"{name}.tsv").write_text(f"{task} {seed}")
"""


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    """As a released archive is unpacked."""
    folder = tmp_path_factory.mktemp("albert_tiny")
    models.write_classifier(folder)
    # They name the folder in which the model was trained, and its vocabulary.
    (folder / "classifier.json").unlink()
    shutil.copy(models.VOCABULARY, folder / "30k-clean.model")
    return folder


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("glue")
    classification_data.write_mrpc(folder)
    classification_data.write_nli(folder / "MNLI", ["train", "dev_matched", "test_matched"])
    classification_data.write_nli(folder / "diagnostic", ["diagnostic"])
    return folder


@pytest.fixture
def make(model_dir, data_dir, tmp_path):
    """Settings of a sweep into tmp_path/out; later arguments win."""

    def flags(*arguments):
        usual = [f"--data_dir={data_dir}", f"--output_dir={tmp_path / 'out'}"]
        usual += [f"--model_dir={model_dir}", "--max_seq_length=32", "--train_step=4"]
        return flags_lib.parse(SweepFlags, [*usual, *arguments])

    return flags


@pytest.fixture
def fake_runs(tmp_path, monkeypatch):
    (tmp_path / "runner.py").write_text(RUNNER)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sweep_plan, "SCRIPT", "runner")


def started(run):
    """How often the run was started."""
    path = pathlib.Path(run.folder, "started")
    return len(path.read_text()) if path.exists() else 0


def flags_of(run):
    """The flags of a run as run_classifier reads them."""
    return flags_lib.parse(ClassifierFlags, run.command[3:])


# ---- Plans.


def test_plan_of_tasks_and_seeds(make, model_dir):
    assert sweep_plan.parse_seeds(" 3, 1 5-6 ") == [3, 1, 5, 6]
    assert list(sweep_plan.find_tasks(make())) == ["mrpc", "mnli", "ax"]
    plan = sweep_plan.make_plan(make("--tasks=mrpc", "--seeds=3,1"))
    assert [(run.task.name, run.seed) for run in plan] == [("mrpc", 3), ("mrpc", 1)]
    first, model, folder = flags_of(plan[0]), str(model_dir), plan[0].folder
    assert folder.endswith(os.path.join("mrpc", "seed-3"))
    expected = {"do_train": True, "do_eval": True, "do_predict": True, "albert_dir": model}
    expected.update(seed=3, max_seq_length=32, train_step=4, output_dir=folder)
    expected["warmup_proportion"] = 0.25  # a shorter run keeps the warm-up's share
    assert {name: getattr(first, name) for name in expected} == expected


@pytest.fixture
def plan_of_ax(make):
    """The runs for one task and four settings; those of MNLI come first."""
    arguments = ["--tasks=ax", "--learning_rate=1e-5, 3e-5", "--train_batch_size=2,4"]
    return sweep_plan.make_plan(
        make(*arguments, "--adam_beta_1=0.8", "--seeds=2", "--nodo_predict")
    )


def test_plan_trains_mnli_for_ax(plan_of_ax):
    assert len({run.folder for run in plan_of_ax}) == len(plan_of_ax) == 8
    lender, flags = plan_of_ax[3], flags_of(plan_of_ax[3])
    setting = "learning_rate=3e-5,train_batch_size=4"
    assert (lender.task.name, lender.setting, lender.seed) == ("mnli", setting, 2)
    assert lender.folder.endswith(os.path.join("out", "mnli", setting, "seed-2"))
    assert (flags.train_batch_size, flags.learning_rate, flags.adam_beta_1) == (4, 3e-5, 0.8)
    assert not flags.do_predict


def test_plan_predicts_ax_by_mnli(plan_of_ax):
    flags = flags_of(plan_of_ax[7])
    assert (flags.do_train, flags.do_eval, flags.do_predict) == (False, False, True)
    assert flags.checkpoint == os.path.join(plan_of_ax[3].folder, "model.ckpt-best")


@pytest.mark.parametrize("name", RECIPES)
def test_recipe_flags_are_the_published_ones(name):
    flags = sweep_plan.recipe_flags(registry.get_task(name), {}, 5000)
    names = ("warmup_step", "learning_rate", "train_step", "save_checkpoints_steps")
    values = zip((*names, "train_batch_size"), RECIPES[name])
    assert flags == dict(values, max_seq_length=512)


@pytest.mark.parametrize(
    "given, expected",
    [
        ({}, {"num_train_epochs": 3, "warmup_proportion": 0.1, "save_checkpoints_steps": 62}),
        ({"train_step": "50", "warmup_step": "5"}, {"train_step": "50", "warmup_step": "5"}),
        ({"train_step": "50"}, {"train_step": "50", "warmup_proportion": 0.1}),
        ({"train_batch_size": "100", "learning_rate": "1"}, {"save_checkpoints_steps": 10}),
    ],
)
def test_recipe_flags_yield_to_given_flags(given, expected):
    flags = sweep_plan.recipe_flags(registry.get_task("afqmc"), given, 1000)
    assert {name: flags[name] for name in expected} == expected
    assert ("train_step" in flags) != ("num_train_epochs" in flags)
    assert ("warmup_step" in flags) != ("warmup_proportion" in flags)


def test_environment_flags(tmp_path):
    names = ["data_dir", "output_dir", "model_dir", "init_checkpoint", "albert_hub_module_handle"]

    def found(**environment):
        return sweep_command.environment_flags(names, environment)

    root = str(tmp_path)
    usual = {"data_dir": f"{root}/glue", "output_dir": f"{root}/output"}
    assert found(DATA_DIR="a b", MODEL_DIR="", HOME="/", data_dir="x") == {"data_dir": "a b"}
    assert found(ALBERT_ROOT=root, DATA_DIR="d") == dict(usual, data_dir="d", model_dir="base_v1")
    for name in ("ALBERT_HUB_MODULE_HANDLE", "MODEL_DIR", "INIT_CHECKPOINT"):
        assert found(ALBERT_ROOT=root, **{name: "m"}) == {**usual, name.lower(): "m"}
    (tmp_path / "albert_config.json").touch()
    whole = dict(usual, model_dir=root)
    assert found(ALBERT_ROOT=root) == whole
    assert found(ALBERT_ROOT=root, INIT_CHECKPOINT="c") == dict(whole, init_checkpoint="c")


def test_plan_of_a_custom_task_has_its_flags(make, data_dir):
    own = "--text_a_column=3 --text_b_column=4 --label_column=0 --labels=0,1 --train_step=4,5"
    arguments = ["--tasks=custom", f"--data_dir={data_dir}/MRPC", "--header"]
    plan = sweep_plan.make_plan(
        make(*own.split(), *arguments, "--run_flags=--recompute --log_steps=3")
    )
    names = [f"custom, train_step={steps}, seed 12345" for steps in (4, 5)]
    assert [run.name for run in plan] == names
    flags = flags_of(plan[1])
    assert (flags.task_name, flags.labels, flags.header) == ("custom", "0,1", True)
    assert (flags.train_step, flags.learning_rate, flags.train_batch_size) == (5, 2e-5, 32)
    assert (flags.recompute, flags.log_steps) == (True, 3)


def test_run_flags_replace_the_recipe(make):
    flags = make("--tasks=mrpc", "--run_flags=--num_train_epochs=2 --warmup_step=7")
    with pytest.raises(ValueError, match="--train_step and --num_train_epochs"):
        sweep_plan.make_plan(flags)
    values = flags.explicit_values()
    del values["train_step"]
    (run,) = sweep_plan.make_plan(flags_lib.make(SweepFlags, **values))
    flags = flags_of(run)
    assert (flags.num_train_epochs, flags.train_step) == (2, None)
    assert (flags.warmup_step, flags.warmup_proportion) == (7, None)


# ---- Refusals: before anything is started.


@pytest.mark.parametrize(
    "arguments, words",
    cases.table("""
        --tasks=rte                         | train
        --seeds=1,x                         | 1,x
        --seeds=1,5-2                       | 5-2
        --seeds=1-1000000                   | 1-1000000
        --tasks=mrpc --labels=0,1           | labels
        --learning_rate=1e-5,1e-05          | learning_rate
        --max_seq_length=64                 | max_position_embeddings
        --run_flags=--nosuch                | nosuch
        --model_dir=                        | --albert_dir
        --albert_config_file={}/config.json | model.ckpt-best
        --data_dir={}/glue                  | dev_matched.tsv:8.*perhaps
        --tasks=mrpc --output_dir={}/used   | used/mrpc/seed-12345
    """),
)
def test_sweep_names_a_wrong_input(make, data_dir, tmp_path, fake_runs, arguments, words):
    classification_data.write_config(tmp_path, hidden_size=8)
    shutil.copytree(data_dir, tmp_path / "glue")
    with (tmp_path / "glue" / "MNLI" / "dev_matched.tsv").open("a") as stream:
        stream.write("\t".join(["x"] * 10 + ["perhaps"]) + "\n")
    (tmp_path / "used" / "mrpc" / "seed-12345" / "thesis").mkdir(parents=True)
    with pytest.raises(ValueError, match=words):
        sweep.sweep(make(*arguments.format(tmp_path).split()))
    assert not (tmp_path / "out").exists()


# ---- Runs.


@pytest.mark.slow
def test_sweep_writes_table_and_submission(make, tmp_path, fake_runs, capsys):
    sweep.sweep(make("--seeds=1,3,2"))
    out = tmp_path / "out"
    text = (out / "results.txt").read_text()
    assert "20.00      10.00" in text
    captured = capsys.readouterr()
    assert captured.out == text
    assert "[mrpc, seed 3] starting mrpc" in captured.err
    with zipfile.ZipFile(out / "glue_submission.zip") as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    assert content == {"AX.tsv": b"ax 3", "MNLI-m.tsv": b"mnli 3", "MRPC.tsv": b"mrpc 3"}
    assert "starting mnli" in (out / "mnli" / "seed-2" / "log.txt").read_text()
    assert flags_lib.read_toml(f"{out}/run.toml")["seeds"] == "1,3,2"


@pytest.mark.slow
def test_sweep_resumes_at_a_failed_run(make, tmp_path, fake_runs):
    data = f"--data_dir={classification_data.write_mrpc(tmp_path / 'data')}"
    arguments = ("--seeds=2,13,1", "--tasks=mrpc", data)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"mrpc, seed 13 .*log\.txt.*unlucky"):
            sweep.sweep(make(*arguments))
        assert "20.00" in (tmp_path / "out" / "results.txt").read_text()
    assert [started(run) for run in sweep_plan.make_plan(make(*arguments))] == [1, 2, 0]
    # The folder is of these settings and data only.
    with pytest.raises(ValueError, match="mrpc/seed-2 .*learning_rate"):
        sweep.sweep(make(*arguments, "--learning_rate=0.5"))
    classification_data.write_mrpc(tmp_path / "data", dev=22)
    with pytest.raises(ValueError, match="dev.tsv"):
        sweep.sweep(make(*arguments))


@pytest.mark.slow
def test_killed_run_ends_the_sweep(make, fake_runs):
    with pytest.raises(ValueError, match="mrpc, seed 14 failed with exit code -9"):
        sweep.sweep(make("--seeds=14", "--tasks=mrpc"))


def test_dry_run_prints_commands_and_starts_none(make, tmp_path, capsys):
    data = classification_data.write_mrpc(tmp_path)
    (tmp_path / "MRPC" / "test.tsv").unlink()  # as the published data of several tasks comes
    sweep.sweep(make(f"--data_dir={data}", "--dry_run"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "# mrpc, seed 12345: to do" and "--task_name=mrpc" in lines[1]
    assert "--do_predict=False" in lines[1]
    assert not (tmp_path / "out").exists()


# ---- The table.


def result(task, seed, value, *, metric="eval_accuracy", setting="", **metrics):
    about = {"task": task, "seed": seed, "setting": setting, "model": None}
    return dict(about, metric=metric, metrics={metric: value, "eval_loss": 0.5, **metrics})


def test_tabulate_means_and_deviations_over_seeds():
    runs = [result("rte", seed, value) for seed, value in ((1, 0.5), (2, 0.75), (3, 0.7))]
    runs.append(result("mrpc", 1, 0.875, f1=0.9, MSE=3.0))
    runs.append(dict(result("sts-b", 1, 0), metric="pearson", metrics={}))  # no best checkpoint
    runs.append(result("own", 1, 0.25, metric="MSE"))
    text, content = sweep.tabulate(runs)
    assert [" ".join(line.split()) for line in text.splitlines()[2:]] == [
        # Deviations -0.15, 0.1, 0.05: squares sum to 0.035, over two degrees of freedom.
        f"rte eval_accuracy 3 65.00 {100 * math.sqrt(0.0175):.2f}",
        "mrpc eval_accuracy 1 87.50 -",
        "mrpc f1 1 90.00 -",  # losses, counts and errors are no scores
        "sts-b pearson 1 - -",
        "own MSE 1 0.2500 -",  # not in per cent
    ]
    assert content["rows"][0]["values"] == {1: 0.5, 2: 0.75, 3: 0.7}


@pytest.mark.parametrize("metric, best", [("eval_accuracy", "b"), ("MSE", "a")])
def test_tabulate_marks_the_best_setting(metric, best):
    scores = {"a": (0.1, 0.6), "b": (0.4, 0.5), "c": (0.3, 0.5), "d": (math.nan, 0.9)}
    runs = [
        result("custom", seed, value, metric=metric, setting=f"x={name}")
        for name, values in scores.items()
        for seed, value in enumerate(values)
    ]
    text, _ = sweep.tabulate(runs)
    marked = [line.split("  ")[0] for line in text.splitlines() if "(best)" in line]
    assert marked == [f"custom, x={best} (best)"]
