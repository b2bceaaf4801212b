# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Flags, settings, help, and how a script starts and fails."""

import importlib
import logging
import os
import pathlib
import pickle
import re
import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf
from absl import flags

from albert import optimization
from albert.runtimes import compat
from albert.util import flags as flags_lib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = [
    path.stem
    for path in sorted((ROOT / "albert").glob("*.py"))
    if "flags_lib.run(main" in path.read_text(encoding="utf-8")
]

SCRIPT = '''"""Says what the script is for."""

from albert.util import flags as flags_lib


def define_flags(flag_values):
    flags_lib.define_training_flags(flag_values, do_train=False, train_batch_size=32)


def main(settings):
    if settings.train_batch_size == 13:
        raise ValueError("13 brings bad luck")
    if settings.train_batch_size == 14:
        raise KeyboardInterrupt
    if settings.train_batch_size == 15:
        return 3
    print(settings)


if __name__ == "__main__":
    flags_lib.run(main, define_flags, usage=__doc__)
'''


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
        ("--train_batch_size=0", "--train_batch_size=0"),
        ("--train_batch_size=many", "--train_batch_size=many"),
        ("--optimizer=sgd", "lamb|adamw"),
        ("--learning_rate=-1", "--learning_rate=-1"),
        ("--learning_rate=nan", "--learning_rate"),
        ("--weight_decay_rate=-0.1", "--weight_decay_rate=-0.1"),
        ("--adam_beta_1=1", "--adam_beta_1"),
        ("--adam_beta_2=-0.1", "--adam_beta_2=-0.1"),
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
    assert named in str(error.value)


def test_an_argument_that_ends_the_flags_is_told_before_what_it_hides():
    with pytest.raises(ValueError, match="'true'"):
        flags_lib.parse(define_all, ["--do_train", "true", *REQUIRED])
    with pytest.raises(ValueError, match="--output_dir") as error:
        flags_lib.parse(define_all, ["--do_train", *REQUIRED[:2]])
    assert "Unexpected" not in str(error.value)
    with pytest.raises(ValueError, match="--log_steps"):
        flags_lib.parse(define_all, ["--log_steps=x", "true", *REQUIRED])


def test_an_argument_wins_over_the_file_that_names_its_flag(tmp_path, monkeypatch, capsys):
    class Named(flags_lib.Settings):
        def __init__(self, **values):
            super().__init__(**values)
            raise ValueError(f"named {self.name}")  # what is wrong is told before TensorFlow

    def define(flag_values):
        flags_lib.string(flag_values, "name", None, help="x")
        return Named

    def said(*arguments):
        monkeypatch.setattr(sys, "argv", ["script", *arguments])
        with pytest.raises(SystemExit):
            flags_lib.answer_early(define, usage="x", positional="name")
        return capsys.readouterr().err

    config = tmp_path / "run.toml"
    config.write_text('name = "b"', encoding="utf-8")
    assert said("a", f"--config={config}") == "ERROR: named a\n"
    assert said(f"--config={config}") == said("b") == said("--name=b") == "ERROR: named b\n"


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


def test_a_home_folder_is_expanded_in_each_of_several_paths(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    settings = parse("--output_dir=gs://bucket/run", "--vocab_file=~/a, ~/b,c")
    assert settings.output_dir == "gs://bucket/run"
    assert settings.vocab_file == "/home/me/a,/home/me/b,c"


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


def test_an_error_of_tensorflow_loses_its_graph_and_stack():
    error = tf.errors.InvalidArgumentError(
        None, None, "words of sense\n\t [[{{node x}}]]\n\nOriginal stack trace for x"
    )
    assert flags_lib._message(error) == "words of sense"
    lines = "Detected at node 'x' defined at (most recent call last):\n  File \"a.py\", line 1"
    text = f"Graph execution error:\n\n{lines}\nNode: 'x'\n{error.message}"
    assert flags_lib._message(tf.errors.DataLossError(None, None, text)) == "words of sense"
    assert flags_lib._message(ValueError()) == "ValueError"


def test_log_lines_carry_their_level_only_from_warnings_on(capsys):
    try:
        flags_lib.configure_logging(0)
        logging.getLogger("albert.module").info("a notice")
        logging.getLogger("albert.module").warning("a warning")
        logging.getLogger("albert.module").debug("a detail")
    finally:
        logger = logging.getLogger("albert")
        logger.handlers.clear()
        logger.propagate = True
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith(" a notice") and second.endswith(" WARNING: a warning")


# ---------------------------------------------------------------------------------------------
# Help.


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_shows_each_flag_once_by_group_and_refers_to_none_before_it(script):
    values = flags.FlagValues()
    importlib.import_module(f"albert.{script}").define_flags(values)
    text = flags_lib.help_text(values, list(values))
    shown = [line.split(":")[0].strip() for line in text.splitlines() if line.startswith("  --")]
    assert sorted(name[2:].replace("[no]", "") for name in shown) == sorted(values)
    assert "he same for" not in text
    headings = [line for line in text.splitlines() if line and not line.startswith(" ")]
    assert len(headings) == len(set(headings)) > 1


def test_help_marks_what_is_required_and_tells_defaults_and_bounds():
    values = flags.FlagValues()
    define_all(values)
    help_of = {
        part.split(":")[0]: part
        for part in flags_lib.help_text(values, list(values))
        .replace("\n      ", " ")
        .split("\n  --")
    }
    marked = {name for name, text in help_of.items() if "(required)" in text}
    assert marked == {"output_dir", "spm_model_file"}
    assert "required" in help_of["albert_dir"]
    assert "positive" in help_of["train_batch_size"] and "32" in help_of["train_batch_size"]


# Script -> flags of other scripts that its help speaks of.
OF_OTHERS = {
    "plan": {"train_batch_size"},
    "predict": {"output_dir"},
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


# ---------------------------------------------------------------------------------------------
# Whole scripts.


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    environment = dict(os.environ, PYTHONPATH=str(ROOT), TF_CPP_MIN_LOG_LEVEL="3")

    def start(*arguments):
        """Exit code, standard output, and the last line and the whole of standard error."""
        done = subprocess.run(
            [sys.executable, str(path), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return done.returncode, done.stdout, last, done.stderr

    return start


@pytest.mark.slow
def test_a_script_gets_its_settings_and_exits_with_what_main_returns(run):
    code, printed, _, _ = run("--output_dir=x")
    assert code == 0
    assert printed == "Settings(do_train=False, output_dir='x', train_batch_size=32)\n"
    assert run("--output_dir=x", "--train_batch_size=15")[0] == 3
    assert run("--output_dir=x", "--train_batch_size=14")[0] == 130


@pytest.mark.slow
def test_a_mistake_is_one_line_and_exit_code_one(run):
    code, _, last, whole = run("--output_dir=x", "--train_batch_size=13")
    assert (code, last) == (1, "ERROR: 13 brings bad luck") and "Traceback" not in whole
    code, _, last, whole = run("--output_dir=x", "--train_batch_size=13", "--verbosity=1")
    assert (code, last) == (1, "ERROR: 13 brings bad luck") and "Traceback" in whole
    code, _, _, whole = run("--train_batch_size=4")
    assert code == 1 and "--output_dir" in whole
    code, _, last, _ = run("--output_dir=x", "--do_train", "True")
    assert code == 1 and "--noflag" in last


@pytest.mark.slow
def test_help_shows_the_purpose_and_the_flags_of_the_script(run):
    code, printed, _, _ = run("--help")
    assert code == 0
    for text in ("Says what the script is for.", "--output_dir: (required)", "--[no]do_train"):
        assert text in printed
    assert "--[no]verbose" in printed and "--alsologtostderr" not in printed
