# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Flags, settings, and how a script starts and fails."""

import logging
import os
import pathlib
import pickle
import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf
from absl import flags

from albert import optimization
from albert.util import flags as flags_lib
from albert.util import runtime as precision

ROOT = pathlib.Path(__file__).resolve().parents[2]

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


def test_shared_flags_have_the_defaults_a_script_gives():
    settings = parse()
    assert (settings.do_train, settings.train_batch_size, settings.optimizer) == (True, 32, "adamw")
    assert (settings.log_steps, settings.precision, settings.use_tpu) == (7, "float32", False)
    assert not hasattr(settings, "do_predict"), "no default was given"


def test_arguments_replace_defaults():
    settings = parse("--nodo_train", "--learning_rate=0.25", "--precision=bfloat16", "--seed=3")
    assert (settings.do_train, settings.learning_rate, settings.seed) == (False, 0.25, 3)
    assert settings.precision == "bfloat16"


def test_parsing_leaves_the_flags_of_the_process_alone():
    before = set(flags.FLAGS)
    flags_lib.parse(lambda values: flags_lib.integer(values, "x_only_here", 1, help="x"), [])
    assert set(flags.FLAGS) == before


@pytest.mark.parametrize(
    "argument, words",
    [
        ("--train_batch_size=0", "--train_batch_size=0"),
        ("--train_batch_size=many", "--train_batch_size=many"),
        ("--optimizer=sgd", "lamb|adamw"),
        ("--learning_rate=-1", "--learning_rate=-1"),
        ("--precision=float8", "float32|bfloat16"),
        ("--seed=4294967296", "--seed"),
        ("--train_bach_size=3", "train_batch_size"),
        ("--output_dir=", "--output_dir must be given"),
        ("True", "--noflag"),
    ],
)
def test_a_bad_argument_is_named_in_the_error(argument, words):
    with pytest.raises(ValueError) as error:
        parse(argument)
    assert words in str(error.value)


def test_arguments_of_others_are_handed_on_wherever_they_stand():
    arguments = ["--runner=Flink", "--train_batch_size=8", "--workers", "2", "--nodo_train"]
    settings = flags_lib.parse(define_all, REQUIRED + arguments, others="runner_options")
    assert settings.runner_options == ("--runner=Flink", "--workers", "2")
    assert (settings.train_batch_size, settings.do_train) == (8, False)


def test_a_required_flag_that_is_absent_is_named():
    with pytest.raises(ValueError, match="--spm_model_file must be given"):
        flags_lib.parse(define_all, ["--albert_config_file=c", "--output_dir=out"])


def test_a_home_folder_is_expanded_in_each_of_several_paths(monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    settings = parse("--output_dir=gs://bucket/run", "--vocab_file=~/a, ~/b,c")
    assert settings.output_dir == "gs://bucket/run"
    assert settings.vocab_file == "/home/somebody/a,/home/somebody/b,c"


def test_unknown_shared_flags_are_refused():
    for define in (flags_lib.define_training_flags, flags_lib.define_runtime_flags):
        with pytest.raises(ValueError, match="batch_size"):
            define(flags.FlagValues(), batch_size=3)


def test_settings_are_frozen():
    settings = parse()
    with pytest.raises(AttributeError, match="replace"):
        settings.seed = 1
    with pytest.raises(AttributeError):
        del settings.seed
    with pytest.raises(AttributeError):
        print(settings.sead)


def test_settings_are_changed_by_copy():
    settings = parse()
    changed = settings.replace(seed=99)
    assert (settings.seed, changed.seed) == (12345, 99)
    assert settings != changed and settings == changed.replace(seed=12345)
    with pytest.raises(AttributeError, match="sead"):
        settings.replace(sead=1)


def test_settings_travel_between_processes():
    settings = parse()
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert settings.to_dict()["train_batch_size"] == 32
    assert "train_batch_size=32" in repr(settings)


def test_a_flag_cannot_hide_a_method_of_settings():
    with pytest.raises(ValueError, match="replace"):
        flags_lib.Settings(replace=1)


def test_choices_are_those_the_library_has():
    assert set(flags_lib.OPTIMIZERS) == set(optimization.OPTIMIZERS)
    assert set(flags_lib.PRECISIONS) == set(precision.COMPUTE_DTYPES)


def test_an_error_of_tensorflow_loses_its_graph_and_stack():
    error = tf.errors.InvalidArgumentError(
        None, None, "words of sense\n\t [[{{node x}}]]\n\nOriginal stack trace for x"
    )
    assert flags_lib._message(error) == "words of sense"
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


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return str(path)


def run(script, *arguments):
    environment = dict(os.environ, PYTHONPATH=str(ROOT), TF_CPP_MIN_LOG_LEVEL="3")
    return subprocess.run(
        [sys.executable, script] + list(arguments),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def last_line(text):
    return text.strip().splitlines()[-1]


@pytest.mark.slow
def test_a_script_gets_its_settings_and_exits_with_what_main_returns(script):
    done = run(script, "--output_dir=x")
    assert done.returncode == 0
    assert done.stdout == "Settings(do_train=False, output_dir='x', train_batch_size=32)\n"
    assert run(script, "--output_dir=x", "--train_batch_size=15").returncode == 3


@pytest.mark.slow
def test_a_mistake_of_the_user_is_one_line_and_exit_code_one(script):
    done = run(script, "--output_dir=x", "--train_batch_size=13")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert last_line(done.stderr) == "ERROR: 13 brings bad luck"


@pytest.mark.slow
def test_verbosity_shows_the_traceback_of_a_mistake(script):
    done = run(script, "--output_dir=x", "--train_batch_size=13", "--verbosity=1")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert last_line(done.stderr) == "ERROR: 13 brings bad luck"


@pytest.mark.slow
def test_an_interrupted_script_exits_with_130(script):
    done = run(script, "--output_dir=x", "--train_batch_size=14")
    assert (done.returncode, last_line(done.stderr)) == (130, "Interrupted.")


@pytest.mark.slow
def test_help_shows_the_purpose_and_the_flags_of_the_script(script):
    done = run(script, "--help")
    assert done.returncode == 0
    assert "Says what the script is for." in done.stdout
    for flag in ("--output_dir", "--[no]do_train", "--train_batch_size", "--verbosity"):
        assert flag in done.stdout


@pytest.mark.slow
def test_a_bad_flag_exits_with_one(script):
    done = run(script, "--train_batch_size=4")
    assert done.returncode == 1
    assert "--output_dir must be given" in done.stderr
    done = run(script, "--output_dir=x", "--do_train", "True")
    assert done.returncode == 1
    assert "--noflag" in last_line(done.stderr)
