# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Flags and settings."""

import importlib
import pickle

import pytest
from absl import flags

from albert import optimization
from albert.command_line import commands
from albert.runtimes import compat
from albert.util import files
from albert.util import flags as flags_lib

SCRIPTS = [name.split(".")[1] for name in commands.COMMANDS.values() if "demo" not in name]


def define_all(flag_values):
    flags_lib.define_model_flags(flag_values)
    flags_lib.define_tokenizer_flags(flag_values, required=["spm_model_file"])
    flags_lib.define_training_flags(
        flag_values, do_train=True, train_batch_size=32, learning_rate=0.5, optimizer="adamw"
    )
    flags_lib.define_tpu_flags(flag_values)
    flags_lib.define_runtime_flags(flag_values, log_steps=7)


REQUIRED = ["--albert_config_file=c.json", "--spm_model_file=s.model", "--output_dir=out"]


def parse(*arguments):
    return flags_lib.parse(define_all, REQUIRED + list(arguments))


def test_arguments_replace_the_defaults_a_script_gives():
    settings = parse("--nodo_train", "--learning_rate=0.25", "--precision=bfloat16", "--seed=3")
    assert (settings.do_train, settings.train_batch_size, settings.optimizer) == (
        False,
        32,
        "adamw",
    )
    assert (settings.learning_rate, settings.precision, settings.seed) == (0.25, "bfloat16", 3)
    assert (settings.log_steps, settings.use_tpu) == (7, False)
    assert not hasattr(settings, "do_predict"), "no default was given"
    assert {"learning_rate", "seed"} < settings.given and "log_steps" not in settings.given


def test_parsing_leaves_the_flags_of_the_process_alone():
    before = set(flags.FLAGS)
    flags_lib.parse(lambda values: flags_lib.integer(values, "x_only_here", 1, help="x"), [])
    assert set(flags.FLAGS) == before


@pytest.mark.parametrize(
    "argument, named",
    [
        ("--train_batch_size=0", "--train_batch_size='0'"),
        ("--train_batch_size=many", "--train_batch_size='many'"),
        ("--optimizer=lmb", "Did you mean 'lamb'?"),
        ("--optimizer=sgd", "lamb, adamw"),
        ("--learning_rate=-1", "--learning_rate='-1'"),
        ("--learning_rate=x", "--learning_rate='x'"),
        ("--do_train=ture", "--do_train='ture' is not true or false. Did you mean 'true'?"),
        ("--learning_rate=nan", "--learning_rate"),
        ("--weight_decay_rate=-0.1", "--weight_decay_rate='-0.1'"),
        ("--adam_beta_1=1", "--adam_beta_1"),
        ("--adam_beta_2=-0.1", "--adam_beta_2='-0.1'"),
        ("--adam_beta_2=nan", "--adam_beta_2"),
        ("--adam_epsilon=0", "--adam_epsilon"),
        ("--max_grad_norm=0", "--max_grad_norm"),
        ("--max_grad_norm=inf", "--max_grad_norm"),
        ("--max_grad_norm=1e300", "--max_grad_norm"),
        ("--adam_beta_2=0.9999999999", "--adam_beta_2"),
        ("--adam_epsilon=1e39", "--adam_epsilon"),
        ("--seed=4294967296", "--seed"),
        ("--train_bach_size=3", "train_batch_size"),
        ("--output_dir=", "--output_dir"),
        ("--spm_model_file=", "--spm_model_file"),
        ("True", "--noflag"),
    ],
)
def test_a_bad_argument_is_named_in_the_error(argument, named):
    with pytest.raises(ValueError) as error:
        parse(argument)
    assert named in str(error.value) and "\n" not in str(error.value)
    assert not str(error.value).startswith("flag")


def test_an_argument_that_ends_the_flags_is_told_before_what_it_hides():
    with pytest.raises(ValueError, match="'true'"):
        flags_lib.parse(define_all, ["--do_train", "true", *REQUIRED])
    with pytest.raises(ValueError, match="--output_dir") as error:
        flags_lib.parse(define_all, ["--do_train", *REQUIRED[:2]])
    assert "Unexpected" not in str(error.value)
    with pytest.raises(ValueError, match="--log_steps"):
        flags_lib.parse(define_all, ["--log_steps=x", "true", *REQUIRED])


def test_other_projects_names_are_those_of_our_flags():
    def parsed(*arguments):
        required = ["--output_dir=o", "--spm_model_file=s"]
        return flags_lib.parse(define_all, [*required, *arguments])

    ours = parsed("--albert_config_file=c", "--init_checkpoint=m", "--weight_decay_rate=0.5")
    assert parsed("-bert_config_file", "c", "--model_path=m", "--weight_decay=0.5") == ours
    assert "albert_config_file" in parsed("--bert_config_file=c").given
    twice = ["--bert_config_file=c", "--albert_config_file", "c"]
    assert parsed(*twice, "--model_path=m", "--weight_decay=0.5") == ours
    with pytest.raises(ValueError, match="--bert_config_file=d and --albert_config_file=c"):
        parsed("--bert_config_file=d", "--albert_config_file=c")
    with pytest.raises(ValueError, match="ngram"):  # which define_all has not
        parsed("--bert_config_file=c", "--max_ngram=3")


def test_other_projects_names_are_flags_that_scripts_have_and_no_flags_of_ours():
    known = set()
    for name in SCRIPTS:
        flag_values = flags.FlagValues()
        importlib.import_module(f"albert.{name}").define_flags(flag_values)
        known |= set(flag_values)
    assert set(flags_lib.ALIASES.values()) <= known and not set(flags_lib.ALIASES) & known


def test_arguments_of_others_are_handed_on_wherever_they_stand():
    arguments = ["--runner=Flink", "--train_batch_size=8", "--workers", "2", "--nodo_train"]
    settings = flags_lib.parse(define_all, REQUIRED + arguments, others="runner_options")
    assert settings.runner_options == ("--runner=Flink", "--workers", "2")
    assert (settings.train_batch_size, settings.do_train) == (8, False)


def test_a_path_stays_as_written_but_for_the_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    settings = parse("--output_dir=gs://bucket/run", "--vocab_file=~/Smith, J/b ,c")
    assert settings.output_dir == "gs://bucket/run"
    assert settings.vocab_file == "/home/me/Smith, J/b ,c"
    several = [" ~/a, ~/b,,c ", "~/d"]
    assert files.split_paths(several) == ["/home/me/a", "/home/me/b", "c", "/home/me/d"]


@pytest.mark.parametrize("folder", ["a*b", "a?b", "[c]", "a\\b"])
def test_an_output_dir_that_tensorflow_takes_for_a_pattern_is_refused(folder):
    with pytest.raises(ValueError, match="--output_dir"):
        parse(f"--output_dir=x/{folder}")


@pytest.mark.parametrize(
    "arguments, ours",
    [
        (["--do_predict", "--do_test"], ["--do_predict", "--do_predict"]),
        (["--do_test", "--max_steps", "3"], ["--do_predict", "--train_step", "3"]),
        (["--nodo_test", "--nodo_predict"], ["--nodo_predict", "--nodo_predict"]),
        (["--do_test=false", "--x"], ["--do_predict=false", "--x"]),
        (["--do_test", "--do_predict=true"], ["--do_predict", "--do_predict=true"]),
        (["--nomax_steps", "--no"], ["--nomax_steps", "--no"]),
        (["--do_test", "--nodo_predict"], None),
        (["--do_test", "--do_predict=false"], None),
        (["--max_steps", "3", "--train_step=4"], None),
    ],
)
def test_flags_of_other_projects_get_our_names_and_one_value(arguments, ours):
    flag_values = flags.FlagValues()
    flags_lib.boolean(flag_values, "do_predict", False, help="x")
    flags_lib.integer(flag_values, "train_step", 1, help="x")
    if ours is None:
        with pytest.raises(ValueError):
            flags_lib.with_our_names(flag_values, arguments)
    else:
        assert flags_lib.with_our_names(flag_values, arguments) == ours


def test_unknown_shared_flags_are_refused():
    for define in (flags_lib.define_training_flags, flags_lib.define_runtime_flags):
        with pytest.raises(ValueError, match="batch_size"):
            define(flags.FlagValues(), batch_size=3)


def test_settings_are_frozen_and_changed_by_copy():
    settings = parse()
    with pytest.raises(AttributeError):
        settings.seed = 1
    with pytest.raises(AttributeError):
        print(settings.sead)
    changed = settings.replace(seed=99)
    assert (settings.seed, changed.seed) == (12345, 99) and "seed" in changed.given
    assert settings != changed and settings == changed.replace(seed=12345)
    with pytest.raises(AttributeError, match="sead"):
        settings.replace(sead=1)


def test_settings_travel_between_processes():
    settings = parse("--seed=3")
    copy = pickle.loads(pickle.dumps(settings))
    assert (copy, copy.given) == (settings, settings.given)
    assert settings.to_dict()["train_batch_size"] == 32


def test_choices_are_those_the_library_has():
    assert set(flags_lib.OPTIMIZERS) == set(optimization.OPTIMIZERS)
    assert set(flags_lib.PRECISIONS) == set(compat.COMPUTE_DTYPES)
