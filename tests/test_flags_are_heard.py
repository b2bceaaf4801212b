# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Every flag is read: a short run of its script asks for its value.

The flags come from the fields. What handles flags as such (albert/util) does not count as a reader.
"""

import importlib
import sys

import pytest

from albert import commands
from albert.util import flags as flags_lib
from tests.support import fine_tuned_models, pretrained_models, scripts, training_scripts

TEXTS = """--albert_config_file={model}/albert_config.json --spm_model_file={model}/30k-clean.model
    --init_checkpoint={model}/model.ckpt-best --output_file={out} --input_file={data}/text
    --max_seq_length=32"""
EXPORT = "--albert_directory={model} --export_path={out}"
# Script -> arguments of a short run; {model} is a pretrained model and {classifier} a trained one.
RUNS = {
    "embed": TEXTS,
    "export_checkpoints": EXPORT,
    "export_to_tfhub": EXPORT,
    "fill_mask": TEXTS,
    "plan": "--name=base_v2",
    "predict": "--model_dir={classifier} --input_file={data}/text --output_file={out}",
    "show_changes": "--text_a=He --text_b=left.",
    **{name: script.phases for name, script in training_scripts.SCRIPTS.items()},
}
# Flags that such a run has no use for; test_tpu.py has those of TPUs.
LEFT_OUT = {"tpu_name", "tpu_zone", "gcp_project", "iterations_per_loop"}
LEFT_OUT |= {"threshold_to_export", "init_from_group0", "albert_dir", "albert_hub_module_handle"}


@pytest.fixture
def names_read(monkeypatch):
    """The names of the settings that were read."""
    names = set()

    def getting(self, name):
        frame = sys._getframe(1)
        while frame.f_code.co_name.startswith("<"):  # a comprehension
            frame = frame.f_back
        if not frame.f_globals["__name__"].startswith(("albert.util.", "dataclasses")):
            names.add(name)
        return object.__getattribute__(self, name)

    monkeypatch.setattr(flags_lib.BaseFlags, "__getattribute__", getting, raising=False)
    return names


@pytest.mark.slow
@pytest.mark.parametrize("script", RUNS)
def test_every_flag_is_read(script, names_read, training_data, tmp_path):
    module = importlib.import_module(commands.module_of(script))
    if script in training_scripts.SCRIPTS:
        training_scripts.run(script, training_data, tmp_path / "out", RUNS[script])
    else:
        (tmp_path / "text").write_text("a [MASK] bird\n")
        arguments = RUNS[script].format(
            data=tmp_path,
            out=tmp_path / "out",
            model=pretrained_models.write_archive(tmp_path / "model"),
            classifier=fine_tuned_models.write_classifier(tmp_path / "classifier"),
        )
        scripts.run(module, arguments)
    flags = flags_lib.describe(module.Flags).items()
    heard = {
        name
        for name, options in flags
        if "help" in options and options.get("group") != flags_lib.WITHOUT_EFFECT
    }
    assert heard - LEFT_OUT - names_read == set()
