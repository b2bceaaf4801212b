# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Flags from TOML files, and the record of a run."""

import json
import math
import shlex
import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf

from albert.util import config_files, files
from albert.util import flags as flags_lib


def define_flags(flag_values):
    flags_lib.string(flag_values, "text", None, help="x")
    flags_lib.path(flag_values, "input_file", help="x")
    flags_lib.integer(flag_values, "count", 1, help="x", lower_bound=0)
    flags_lib.floating(flag_values, "rate", None, help="x")
    flags_lib.boolean(flag_values, "is_on", False, help="x")
    flags_lib.boolean(flag_values, "is_off", True, help="x")


def parse(*arguments):
    return flags_lib.parse(define_flags, [str(argument) for argument in arguments])


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return f"--config={path}"


def test_a_file_gives_flags_of_every_kind(tmp_path):
    text = 'text = "a b"\ninput_file = ["x/*.txt", "y.txt"]\ncount = 3\nrate = 2e-5\n'
    config = write(tmp_path / "run.toml", text + "is_on = true\nis_off = false\n")
    settings = parse(config)
    assert settings.to_dict() == {
        "text": "a b",
        "input_file": "x/*.txt,y.txt",
        "count": 3,
        "rate": 2e-5,
        "is_on": True,
        "is_off": False,
    }
    assert settings.given == set(settings.to_dict())
    assert parse("--config", config.split("=")[1]) == settings


def test_a_byte_order_mark_is_passed_over(tmp_path):
    assert parse(write(tmp_path / "run.toml", "\ufeffcount = 3")).count == 3


def test_the_command_line_wins_and_of_several_files_the_last(tmp_path):
    first = write(tmp_path / "a.toml", "count = 3\nrate = 1.0\nis_on = true")
    second = write(tmp_path / "b.toml", "count = 4")
    assert parse(first, second).count == 4 and parse(second, first).count == 3
    settings = parse("--count=5", "--nois_on", first, second)
    assert (settings.count, settings.rate, settings.is_on) == (5, 1.0, False)


def test_a_flag_file_may_name_a_configuration_file(tmp_path):
    config = write(tmp_path / "a.toml", "count = 3\nrate = 1.0")
    flag_file = tmp_path / "flags.txt"
    flag_file.write_text(f"{config}\n--count=4\n")
    settings = parse(f"--flagfile={flag_file}")
    assert (settings.count, settings.rate) == (4, 1.0)


@pytest.mark.parametrize(
    "content, named",
    [
        ("count = 1\ncuont = 2", ["line 2", "cuont", "'count'"]),
        ("\ncount = -1", ["line 2", "count", "-1"]),
        ('count = "many"', ["count", "many"]),
        ("is_on = 3.5", ["is_on", "3.5"]),
        ("count = 1\n[text]\na = 1", ["line 2", "text", "table"]),
        ("text = 1979-05-27", ["text", "date"]),
        ("count = = 1", ["line 1"]),
        ('config = "other.toml"', ["config"]),
        ("text = '\udcff'", []),
        ("text = " + "[" * 3000 + "]" * 3000, []),
    ],
)
def test_a_mistake_names_the_file_and_the_key(tmp_path, content, named):
    path = tmp_path / "run.toml"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError) as error:
        parse(f"--config={path}")
    assert [part for part in (str(path), *named) if part not in str(error.value)] == []


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match="nothere.toml"):
        parse(f"--config={tmp_path}/nothere.toml")
    with pytest.raises(ValueError, match="--config"):
        parse("--config")


READER = """
import json, sys
from albert.util import flags as flags_lib
from tests.util.test_config_files import define_flags
settings = flags_lib.parse(define_flags, sys.argv[1:])
print(json.dumps([settings.to_dict(), sorted(settings.given)]))
"""
STRANGE = 'tab\t "quoted" back\\slash \n \x7f \x01 \U0001f600 # [a] = 1'


@pytest.mark.slow
def test_the_record_of_a_run_repeats_it_in_another_process(tmp_path):
    settings = parse(
        f"--text={STRANGE}", "--rate=1e-30", "--is_on", "--input_file=a,b", "--count=7"
    )
    path = tmp_path / config_files.RECORD_NAME
    config_files.record(str(path), settings.given_values())
    command = [sys.executable, "-c", READER, f"--config={path}"]
    read = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    assert read == [settings.to_dict(), sorted(settings.given)]


def test_a_record_has_the_given_flags_alone_and_numbers_exactly(tmp_path):
    path = tmp_path / "run.toml"
    settings = parse("--rate=nan", f"--text={STRANGE}", "--count=7")
    config_files.record(str(path), settings.given_values())
    again = parse(f"--config={path}")
    assert again.given == settings.given and again.text == STRANGE
    assert math.isnan(again.rate) and again.count == 7


def test_flags_of_an_earlier_run_are_kept_once(tmp_path):
    path = tmp_path / "run.toml"

    def ran(**values):
        config_files.record(str(path), values)
        return sorted(item.name for item in tmp_path.iterdir())

    assert ran(count=1) == ["run.toml"]
    before = path.stat().st_ino
    assert ran(count=1) == ["run.toml"] and path.stat().st_ino == before
    assert ran(count=2) == ["run.toml", "run.toml.old-1"]
    assert config_files.read(f"{path}.old-1") == {"count": 1}
    assert ran(count=1) == ["run.toml", "run.toml.old-1", "run.toml.old-2"]
    assert ran(count=2) == ["run.toml", "run.toml.old-1", "run.toml.old-2"]
    assert config_files.read(str(path)) == {"count": 2}


def test_an_earlier_file_that_is_no_record_is_kept_and_told_once(tmp_path, caplog):
    folder = tmp_path / "my runs"
    folder.mkdir()
    path = folder / "run.toml"
    path.write_bytes(b"\xff\xfe\x00")
    for count in (1, 2):
        config_files.record(str(path), {"count": count})
    assert config_files.read(str(path)) == {"count": 2}
    assert (folder / "run.toml.old-1").read_bytes() == b"\xff\xfe\x00"
    assert caplog.text.count("old-1") == 1
    command = path.read_text(encoding="utf-8").splitlines()[0].split(": ", 1)[1]
    assert shlex.split(command)[-1] == f"--config={path}"


def test_where_there_are_no_results_nothing_is_written(tmp_path):
    config_files.record(str(tmp_path / "none" / "run.toml"), {"count": 1})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fault", [OSError("gone"), tf.errors.NotFoundError(None, None, "gone")])
@pytest.mark.parametrize("name", ["exists", "rename"])
def test_a_run_does_not_fail_because_of_its_record(tmp_path, monkeypatch, caplog, fault, name):
    path = str(tmp_path / "run.toml")
    config_files.record(path, {"count": 1})

    def fail(*_, **__):
        raise fault

    with monkeypatch.context() as patched:
        patched.setattr(tf.io.gfile, name, fail)
        config_files.record(path, {"count": 2})
    assert path in caplog.text and config_files.read(path) == {"count": 1}


def test_a_file_elsewhere_is_read_by_its_address(tmp_path):
    write(tmp_path / "run.toml", "count = 3\nrate = true")
    with pytest.raises(ValueError, match="line 2"):
        parse(f"--config=file://{tmp_path}/run.toml")
    write(tmp_path / "run.toml", "count = 3")
    assert parse(f"--config=file://{tmp_path}/run.toml").count == 3
    with pytest.raises(ValueError, match="nothere.toml"):
        parse(f"--config=file://{tmp_path}/nothere.toml")


def test_a_file_may_have_names_of_other_projects_and_the_command_line_still_wins(tmp_path):
    def define(flag_values):
        flags_lib.path(flag_values, "albert_config_file", help="x")

    config = write(tmp_path / "run.toml", 'bert_config_file = "a.json"')
    assert flags_lib.parse(define, [config]).albert_config_file == "a.json"
    settings = flags_lib.parse(define, [config, "--albert_config_file=b.json"])
    assert settings.albert_config_file == "b.json"


def test_the_record_beside_a_file_is_not_among_the_files_that_its_pattern_names(tmp_path):
    (tmp_path / "a.tfrecord").write_bytes(b"")
    config_files.record(config_files.beside(str(tmp_path / "a.tfrecord")), {"count": 1})
    assert len(list(tmp_path.iterdir())) == 2
    pattern = str(tmp_path / "a.tfrecord*")
    assert files.expand_patterns(pattern, "input_file") == [str(tmp_path / "a.tfrecord")]
