# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The command that tells what a training run will take."""

import json
import shutil

import pytest

from albert import configs, machine_rates, modeling, plan, training_plan
from albert.util import flags as flags_lib


def rates(products):
    return training_plan.Rates(products, elements=1e9)


def run(*arguments):
    plan.main(flags_lib.parse(plan.define_flags, list(arguments)))


def as_json(capsys, *arguments):
    run("--json", *arguments)
    return json.loads(capsys.readouterr().out)


def test_tables_tell_parameters_operations_memory_and_time(capsys):
    run(
        "--name=base_v2",
        "--task=classification",
        "--max_seq_length=128",
        "--gflops=300",
        "--utilisation=0.8",
        "--num_examples=3668",
        "--num_train_steps=800",
    )
    printed = capsys.readouterr().out
    lines = {line.strip()[:32].strip(): line for line in printed.splitlines()}
    assert lines["total"].split()[-1] == "2,147.9"
    assert "11,685,122" in printed
    assert "46.7 MB" in lines["checkpoint, weights alone"]
    assert "140.2 MB" in lines["checkpoint with slots"]
    # Of the four ways the rate of one precision is known.
    assert lines["seconds an update"].split()[3:] == ["8.95", "11.93", "-", "-"]
    assert lines["an epoch"].split()[2] == "0:17:06"
    assert lines["800 updates"].split()[2] == "1:59:20"
    assert lines["fits 12 GB"].split()[3:] == ["yes"] * 4


def test_json_holds_the_same_numbers(capsys):
    found = as_json(
        capsys,
        "--name=albert_zh_tiny",
        "--batch=64",
        "--max_seq_length=128",
        "--gradient_accumulation_steps=2",
        "--recompute",
        "--precision=bfloat16",
        "--gflops=500",
        "--num_train_steps=10",
        "--memory_gb=2",
    )
    assert found["parameters"]["total"] == 4295186
    chosen = [way for way in found["ways"] if way["is_chosen"]]
    assert [(way["precision"], way["recompute"]) for way in chosen] == [("bfloat16", True)]
    way = chosen[0]
    assert way["largest_batch"] == 2 * way["largest_micro_batch"] > 0
    assert way["seconds"]["10 updates"] == pytest.approx(10 * way["step_seconds"])
    assert way["fits"] == (way["memory_bytes"]["peak"] <= 2e9)


def test_a_folder_and_a_file_name_the_model_as_well(capsys, tmp_path):
    path = tmp_path / "albert_config.json"
    shutil.copy(configs.preset_path("albert_large_v2"), str(path))
    for flag in (f"--albert_config_file={path}", f"--albert_dir={tmp_path}"):
        assert as_json(capsys, flag)["parameters"]["total"] == 17847474


def test_the_runtimes_share_can_be_given(capsys):
    ways = as_json(capsys, "--name=base_v2", "--runtime_gb=0.5")["ways"]
    assert [way["memory_bytes"]["runtime"] for way in ways] == [5e8] * 4


def test_the_list_shows_every_published_size(capsys):
    run("--list")
    printed = capsys.readouterr().out
    assert [line.split()[0] for line in printed.splitlines()[1:]] == configs.preset_names()
    assert "223,158,450" in printed
    rows = as_json(capsys, "--list")
    assert [row["name"] for row in rows] == configs.preset_names()


def test_the_rate_can_be_measured(capsys, monkeypatch):
    monkeypatch.setattr(
        machine_rates, "measure", lambda dtype: rates(1e11 if dtype.size == 4 else 4e11)
    )
    ways = as_json(capsys, "--name=base_v2", "--measure", "--utilisation=1")["ways"]
    assert ways[0]["step_seconds"] == pytest.approx(4 * ways[2]["step_seconds"])


@pytest.mark.parametrize("is_tf2", [False, True])
def test_measured_rates_tell_times_by_the_runtimes_constants(is_tf2, capsys, monkeypatch):
    monkeypatch.setattr(machine_rates, "measure", lambda dtype: rates(1e11 * 4 / dtype.size))
    monkeypatch.setattr(plan.precision, "is_tf2", lambda: is_tf2)
    ways = as_json(capsys, "--name=base_v2", "--task=classification", "--measure")["ways"]
    for way in ways:
        job = training_plan.Job(
            modeling.AlbertConfig.from_json_file(configs.preset_path("albert_base_v2")),
            "classification",
            batch=32,
            length=512,
            precision=way["precision"],
            recompute=way["recompute"],
        )
        is_half = way["precision"] == "bfloat16"
        handlings = 11.5 if not is_tf2 else 7.5 if is_half else 12.0
        products = training_plan.work(job).total / (2e11 if is_half else 1e11)
        between = handlings * training_plan.touched_elements(job) / 1e9
        assert way["step_seconds"] == pytest.approx(products + between)


def test_measured_rates_are_of_the_order_of_machines():
    import tensorflow.compat.v1 as tf

    found = machine_rates.measure(tf.float32, repeats=1)
    assert 1e8 < found.products < 1e15
    assert 1e6 < found.elements < 1e13


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "Name one model.*Found: nothing"),
        (["--name=base_v2", "--albert_dir=x"], "Found: --name and --albert_dir"),
        (["--name=bse_v2"], "Unknown preset 'bse_v2'. Did you mean 'albert_base_v"),
        (["--albert_dir=nowhere"], "nowhere/albert_config.json' was not found"),
        (["--name=base_v2", "--gflops=1", "--measure"], "--gflops or --measure, not both"),
        (["--name=base_v2", "--utilisation=0.5"], "give --gflops or --measure too"),
        (["--name=base_v2", "--utilisation=0"], "utilisation"),
        (["--name=base_v2", "--memory_gb=inf"], "memory_gb must be a finite number"),
        (["--name=base_v2", "--gflops=0"], "gflops"),
        (["--name=base_v2", "--max_seq_length=600"], "--max_seq_length=600 is longer"),
    ],
)
def test_mistakes_are_told(arguments, message):
    with pytest.raises(ValueError, match=message):
        run(*arguments)
