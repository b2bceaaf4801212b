# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Sweeps: what they plan, refuse and skip, and what happens when a run fails."""

import json
import os
import pathlib
import shutil
import sys
import zipfile

import pytest

import albert.sweep
from albert.classification import sweep, sweep_table
from albert.classification import tasks as classifier_tasks
from albert.classification.settings import ClassifierFlags, SweepFlags
from albert.util import config_files
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
    return flags_lib.parse(
        SweepFlags, [*folders, "--max_seq_length=32", "--train_step=4", *arguments]
    )


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
    return flags_lib.parse(ClassifierFlags, run.arguments)


# ---- Plans.


def test_plan_has_every_seed_of_the_tasks_with_data(make, model_dir):
    plan = sweep.make_plan(make("--seeds=1-2"))
    tasks = ["mrpc", "mnli", "ax"]
    assert [(run.task, run.seed) for run in plan] == [(task, n) for task in tasks for n in (1, 2)]
    first = flags_of(plan[0])
    assert (first.do_train, first.do_eval, first.do_predict) == (True, True, True)
    assert (first.albert_dir, first.output_dir) == (str(model_dir), plan[0].folder)
    assert plan[0].folder.endswith(os.path.join("mrpc", "seed-1"))
    # A shorter run keeps the warm-up's share.
    assert (first.seed, first.max_seq_length, first.train_step) == (1, 32, 4)
    assert first.warmup_proportion == 0.25


def test_ax_is_predicted_by_mnli_of_the_same_setting_and_seed(make):
    arguments = ["--tasks=ax,mnli", "--learning_rate=1e-5, 3e-5", "--train_batch_size=2,4"]
    plan = sweep.make_plan(make(*arguments, "--precision=bfloat16", "--seeds=1-2"))
    assert len({run.folder for run in plan}) == len(plan) == 16
    setting = "train_batch_size=4,learning_rate=3e-5"
    assert (plan[7].task, plan[7].setting, plan[7].seed) == ("mnli", setting, 2)
    assert plan[7].folder.endswith(os.path.join("out", "mnli", setting, "seed-2"))
    flags = flags_of(plan[7])
    assert (flags.train_batch_size, flags.learning_rate, flags.precision) == (4, 3e-5, "bfloat16")
    flags = flags_of(plan[15])
    assert (flags.do_train, flags.do_eval, flags.do_predict) == (False, False, True)
    assert flags.checkpoint == os.path.join(plan[7].folder, "model.ckpt-best")


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
def test_recipe_flags_are_the_published_ones(name):
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
def test_recipe_flags_give_way_and_keep_their_shares(given, expected):
    flags = sweep.recipe_flags(classifier_tasks.get_task("afqmc"), given, 1000)
    assert {name: flags[name] for name in expected} == expected
    assert ("train_step" in flags) != ("num_train_epochs" in flags)
    assert ("warmup_step" in flags) != ("warmup_proportion" in flags)


def test_environment_variables_are_flags_and_empty_ones_are_not(tmp_path):
    names = ["data_dir", "output_dir", "model_dir", "init_checkpoint", "albert_config_file"]
    names += ["albert_hub_module_handle", "spm_model_file", "vocab_file"]

    def found(**environment):
        return albert.sweep.environment_flags(names, environment)

    root = str(tmp_path)
    usual = {"data_dir": f"{root}/glue", "output_dir": f"{root}/output"}
    assert found(DATA_DIR="a b", MODEL_DIR="", HOME="/", data_dir="x") == {"data_dir": "a b"}
    assert found(ALBERT_ROOT=root, DATA_DIR="d") == dict(usual, data_dir="d", model_dir="base_v1")
    for name in ("ALBERT_HUB_MODULE_HANDLE", "MODEL_DIR", "INIT_CHECKPOINT"):
        assert found(ALBERT_ROOT=root, **{name: "m"}) == {**usual, name.lower(): "m"}
    for name in ("albert_config.json", "30k-clean.model"):
        (tmp_path / name).touch()
    assert found(ALBERT_ROOT=root) == dict(usual, model_dir=root)
    assert found(ALBERT_ROOT=root, INIT_CHECKPOINT="c", SPM_MODEL_FILE="s") == {
        **usual,
        "init_checkpoint": "c",
        "albert_config_file": f"{root}/albert_config.json",
        "spm_model_file": "s",
    }


def test_a_custom_task_is_planned_with_its_flags(model_dir, data_dir, tmp_path):
    own = ["--text_a_column=3", "--text_b_column=4", "--label_column=0", "--labels=0,1"]
    arguments = ["--tasks=custom", *own, "--train_step=4,5", "--header", "--metric=eval_loss"]
    more = "--run_flags=--recompute --keep_checkpoint_max=3"
    settings = settings_of(model_dir, data_dir / "MRPC", tmp_path, *arguments, more)
    plan = sweep.make_plan(settings)
    names = [f"custom, train_step={steps}, seed 12345" for steps in (4, 5)]
    assert [run.name for run in plan] == names
    flags = flags_of(plan[1])
    assert (flags.task_name, flags.labels, flags.header) == ("custom", "0,1", True)
    assert (flags.train_step, flags.learning_rate, flags.train_batch_size) == (5, 2e-5, 32)
    assert (flags.recompute, flags.keep_checkpoint_max) == (True, 3)


def test_random_weights_need_a_configuration_in_place_of_the_folder(model_dir, data_dir, tmp_path):
    named = [f"--albert_config_file={model_dir}/albert_config.json"]
    named += [f"--spm_model_file={models.VOCABULARY}", "--tasks=mrpc"]
    flags = flags_of(sweep.make_plan(settings_of(None, data_dir, tmp_path, *named))[0])
    assert (flags.albert_dir, flags.init_checkpoint) == (None, None)


def test_seeds_may_be_listed_or_a_range():
    assert sweep.parse_seeds(" 3, 1 5-7 ") == [3, 1, 5, 6, 7]


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
        (["--learning_rate=1e-5,x"], "learning_rate"),
        (["--learning_rate=1e-5,1e-05"], "learning_rate"),
        (["--learning_rate=1e-5,"], "learning_rate"),
        (["--data_dir=/nowhere"], "/nowhere"),
        (["--max_seq_length=64"], "max_position_embeddings"),
        (["--run_flags=--nosuch"], "mrpc.*nosuch"),
        (["--run_flags='"], "run_flags"),
        (["--run_flags=--gradient_accumulation_steps=5"], "5"),
        (["--model_dir=/nowhere"], "/nowhere"),
        (["--albert_dir=/nowhere"], "--albert_dir"),
        (["--model_dir="], "--albert_dir"),
        (["--albert_hub_module_handle=/x"], "albert_hub_module_handle"),
        (["--init_checkpoint=/nowhere/model.ckpt"], "/nowhere/model.ckpt"),
        (["--albert_config_file={}/config.json"], "model.ckpt-best"),
        (["--data_dir={}/glue"], "dev_matched.tsv:8.*perhaps"),
        (["--tasks=mrpc", "--output_dir={}/used"], "used/mrpc/seed-12345"),
    ],
)
def test_sweep_refuses_what_cannot_work_at_once(
    make, data_dir, tmp_path, fake_runs, arguments, words
):
    config = dict(models.CONFIG, hidden_size=8)
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    shutil.copytree(str(data_dir), str(tmp_path / "glue"))
    with (tmp_path / "glue" / "MNLI" / "dev_matched.tsv").open("a") as stream:
        stream.write("\t".join(["x"] * 10 + ["perhaps"]) + "\n")
    (tmp_path / "used" / "mrpc" / "seed-12345" / "thesis").mkdir(parents=True)
    with pytest.raises(ValueError, match=words):
        sweep.sweep(make(*(argument.format(tmp_path) for argument in arguments)))
    assert not (tmp_path / "out" / "run.toml").exists()


@pytest.mark.parametrize(
    "missing", ["albert_config.json", "30k-clean.model", "model.ckpt-best.index"]
)
def test_a_model_folder_that_lacks_a_part_is_refused(model_dir, data_dir, tmp_path, missing):
    folder = tmp_path / "model"
    shutil.copytree(str(model_dir), str(folder))
    (folder / missing).unlink()
    with pytest.raises(ValueError, match=str(folder)):
        sweep.sweep(settings_of(folder, data_dir, tmp_path / "out"))


# ---- Runs.


@pytest.mark.slow
def test_a_sweep_ends_with_the_table_and_the_best_seeds_submission(
    make, tmp_path, fake_runs, capsys
):
    assert sweep.sweep(make("--seeds=1,3,2")) == {}
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
    assert config_files.read(str(out / "run.toml"))["seeds"] == "1,3,2"


@pytest.mark.slow
def test_a_second_start_skips_what_is_finished_and_resumes_the_rest(make, fake_runs):
    plan = sweep.make_plan(make("--seeds=1,2"))
    sweep.sweep(make("--seeds=1", "--tasks=mrpc"))
    sweep.sweep(make("--seeds=1,2", "--run_flags=--log_steps=7"))
    sweep.mark(plan[0], is_finished=False)  # as of a run that was killed
    sweep.sweep(make("--seeds=1,2"))
    assert [started(run) for run in plan] == [2, 1, 1, 1, 1, 1]


@pytest.mark.slow
def test_a_failure_does_not_stop_the_others_and_is_named_at_the_end(make, fake_runs, capsys):
    settings = make("--seeds=13,2", "--tasks=mrpc")
    assert albert.sweep.main(settings) == 1
    captured = capsys.readouterr()
    last = captured.err.splitlines()[-1]
    assert "mrpc, seed 13" in last and "unlucky" in last
    assert "mrpc  eval_accuracy      1  20.00" in captured.out
    albert.sweep.main(settings)
    assert [started(run) for run in sweep.make_plan(settings)] == [2, 1]


@pytest.mark.slow
def test_other_settings_or_data_need_another_folder(make, model_dir, tmp_path, fake_runs):
    arguments = ("--tasks=mnli,ax", "--seeds=1")
    sweep.sweep(make(*arguments))
    other = ("--learning_rate=0.5",)
    with pytest.raises(ValueError, match="mnli/seed-1 .*learning_rate"):
        sweep.sweep(make(*arguments, *other))
    shutil.rmtree(str(tmp_path / "out" / "mnli"))  # as the message says
    with pytest.raises(ValueError, match="ax/seed-1 .*learning_rate"):
        sweep.sweep(make(*arguments, *other))
    sweep.sweep(make("--tasks=mrpc"))
    data = classification_data.write_mrpc(tmp_path / "other", dev=22)
    with pytest.raises(ValueError, match="dev.tsv"):
        sweep.sweep(settings_of(model_dir, data, tmp_path / "out", "--tasks=mrpc"))


def test_a_dry_run_shows_the_commands_and_starts_none(make, tmp_path, fake_runs, capsys):
    sweep.sweep(make("--tasks=mrpc", "--dry_run"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "# mrpc, seed 12345: new" and "--task_name=mrpc" in lines[1]
    assert not (tmp_path / "out").exists()


def test_the_seed_without_a_number_is_never_the_best():
    runs = [sweep.PlannedRun("cola", "", seed, f"cola/{seed}", (), {}) for seed in (1, 2, 3)]
    results = [
        sweep_table.Run("cola", seed, "matthew_corr", 1, {"matthew_corr": value}, None, 1.0)
        for seed, value in ((1, float("nan")), (2, -0.1), (3, -0.2))
    ]
    assert sweep.best_folders(runs, results) == ["cola/2"]
