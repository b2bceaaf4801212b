# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What --help shows of the flags of each script."""

import importlib
import re

import pytest
from absl import flags

from albert.command_line import commands, flags_help
from albert.util import flags as flags_lib

SCRIPTS = [name.split(".")[1] for name in commands.COMMANDS.values() if "demo" not in name]


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_shows_each_flag_once_by_group_and_refers_to_none_before_it(script):
    values = flags.FlagValues()
    importlib.import_module(f"albert.{script}").define_flags(values)
    text = flags_help.text(values, list(values))
    shown = [line.split(":")[0].strip() for line in text.splitlines() if line.startswith("  --")]
    assert sorted(name[2:].replace("[no]", "") for name in shown) == sorted(values)
    assert "he same for" not in text
    headings = [line for line in text.splitlines() if line and not line.startswith(" ")]
    assert len(headings) == len(set(headings)) >= 1


def test_help_marks_what_is_required_and_tells_defaults_and_bounds():
    values = flags.FlagValues()
    flags_lib.define_model_flags(values)
    flags_lib.define_tokenizer_flags(values, required=["spm_model_file"])
    flags_lib.define_training_flags(values, train_batch_size=32)
    help_of = {
        part.split(":")[0]: part
        for part in flags_help.text(values, list(values)).replace("\n      ", " ").split("\n  --")
    }
    marked = {name for name, text in help_of.items() if "(required)" in text}
    assert marked == {"output_dir", "spm_model_file"}
    assert "required" in help_of["albert_dir"]
    assert "positive" in help_of["train_batch_size"] and "32" in help_of["train_batch_size"]


# Script -> flags of other scripts that its help speaks of.
OF_OTHERS = {
    "plan": {"train_batch_size"},
    "predict": {"output_dir", "early_exit"},
    "run_pretraining": {"do_permutation"},
    "sweep": {"recompute", "layerwise_lr_decay"},
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_names_only_flags_that_the_script_has(script):
    values = flags.FlagValues()
    importlib.import_module(f"albert.{script}").define_flags(values)
    named = {name for flag in values for name in re.findall(r"--(\w+)", values[flag].help)}
    assert named - set(values) == OF_OTHERS.get(script, set())


@pytest.mark.parametrize(
    "script, note, expected",
    [
        ("embed", "one of three", "albert_dir albert_hub_module_handle init_checkpoint"),
        ("run_classifier", "required, except", "data_dir"),
        ("download_model", "required, except", "name"),
        ("download_data", "required, except", "name"),
        ("run_squad_v1", "required with --do_train", "train_file"),
        ("run_squad_v2", "required with --do_predict", "predict_file"),
        ("create_pretraining_data", "one of two required", "spm_model_file vocab_file"),
        ("plan", "one of three required", "albert_config_file albert_dir name"),
        ("convert_checkpoint", "required", "direction input_dir output_dir"),
    ],
)
def test_help_marks_what_is_required_in_some_cases(script, note, expected):
    values = flags.FlagValues()
    importlib.import_module(f"albert.{script}").define_flags(values)
    marked = sorted(name for name in values if values[name].help.startswith(f"({note}"))
    assert marked == expected.split()
