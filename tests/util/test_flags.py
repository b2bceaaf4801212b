# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Flags as fields of settings, on a command line and in a TOML file."""

import dataclasses
import importlib
from typing import Optional, Tuple

import pytest
from absl import flags

from albert.command_line import commands
from albert.configs import flags as shared
from albert.util import config_files
from albert.util import flags as flags_lib
from albert.util.errors import UserError
from albert.util.flags import flag
from tests.support import cases

SCRIPTS = [name.split(".")[1] for name in commands.COMMANDS.values() if "demo" not in name]
STRANGE = 'tab\t "quoted" back\\slash \x7f \U0001f600 # [a] = 1'


@dataclasses.dataclass(frozen=True)
class Base(flags_lib.Settings):
    """Flags of every kind."""

    output_dir: str = flag(None, "Folder.", path=True, required=True)
    count: int = flag(1, "Count.", lower=0, upper=9, group="Numbers")
    rate: Optional[float] = flag(None, "Rate.", above=0, below=1)
    is_on: bool = flag(False, "Switch.")
    optimizer: str = flag("adamw", "Optimizer.", choices=("lamb", "adamw"))
    train_step: int = flag(1, "Steps.")
    free: float = flag(0.0, "Any number.")


@dataclasses.dataclass(frozen=True)
class Derived(Base):
    """Another default, several values, and an argument without a name."""

    count: int = flag(5)
    rate: Optional[str] = flag(None, several=True)
    name: Optional[str] = flag(None, "Name.", positional=True)

    def check(self):
        super().check()
        if self.name == "unwanted":
            raise UserError("--name=unwanted")


@dataclasses.dataclass(frozen=True)
class WithRest(Base):
    rest: Tuple[str, ...] = flag((), positional=True)


def parse(*arguments, kind=Base):
    return flags_lib.parse(kind, ["--output_dir=o", *arguments])


def test_parse_values():
    settings = parse("--count=3", "--is_on", "--rate=0.5", "--free=nan")
    assert settings.replace(free=0.0) == Base("o", 3, 0.5, True)
    assert settings.given == {"output_dir", "count", "is_on", "rate", "free"}
    assert not parse("--nois_on").is_on and not set(flags.FLAGS) & {"count"}


def test_parse_inherits_from_base():
    assert parse(kind=Derived).count == 5
    described = flags_lib.describe(Derived)["count"]
    assert [described[key] for key in ("help", "lower", "group")] == ["Count.", 0, "Numbers"]
    assert parse("--rate=0.5, 0.25", kind=Derived).rate == "0.5,0.25"


def test_parse_positional_arguments():
    assert parse("x", "--count=2", kind=Derived).name == "x"
    settings = parse("--runner=Flink", "--count=8", "--workers", "2", kind=WithRest)
    assert settings.rest == ("--runner=Flink", "--workers", "2") and settings.count == 8
    assert settings.given == {"output_dir", "count"}  # a --config cannot give the others


@pytest.mark.parametrize(
    "kind, arguments, named",
    cases.table("""
        Base    | --count=10        | --count=10
        Base    | --count=many      | --count=many
        Base    | --count=1.5       | --count=1.5
        Base    | --is_on=ture      | --is_on=ture
        Base    | --rate=0          | --rate=0
        Base    | --rate=1          | --rate=1
        Base    | --rate=nan        | --rate=nan
        Base    | --rate=inf        | --rate=inf
        Base    | --optimizer=lmb   | 'lamb'
        Base    | --cuont=3         | count
        Base    | --output_dir=     | --output_dir
        Base    | --is_on True      | 'True'
        Base    | --count           | count
        Base    | --nois_on=true    | --nois_on
        Base    | --max_steps=3 --train_step=4 | max_steps and train_step
        Base    | --config=/nowhere.toml | /nowhere.toml
        Derived | --count=-1        | --count=-1
        Derived | --rate=0.5,2      | 0.5,2
        Derived | --rate=0.5,0.5    | twice
        Derived | unwanted          | unwanted
        Derived | x --name=y        | x
    """),
)
def test_parse_names_wrong_argument(kind, arguments, named):
    with pytest.raises(UserError) as error:
        parse(*arguments.split(), kind=globals()[kind])
    assert named in str(error.value) and "\n" not in str(error.value)


def test_parse_aliases():
    assert parse("--max_steps=3", "-is_on") == parse("--train_step", "3", "--is_on")
    assert parse("--output_dir=a-max_steps=3").output_dir == "a-max_steps=3"
    assert parse("--max_steps", "3").given == {"output_dir", "train_step"}
    known = {name for script in SCRIPTS for name in flags_lib.describe(script_flags(script))}
    assert set(flags_lib.ALIASES.values()) <= known and not set(flags_lib.ALIASES) & known


def script_flags(script):
    return importlib.import_module(f"albert.{script}").Flags


def test_parse_expands_home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert parse("--output_dir=~/Smith, J/b ,c").output_dir == "/home/me/Smith, J/b ,c"
    with pytest.raises(UserError, match="--output_dir"):
        flags_lib.parse(shared.TrainingFlags, ["--output_dir=x/a*b"])


# ---- TOML files ----


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return f"--config={path}"


def test_config_yields_to_command_line(tmp_path):
    first = write(tmp_path / "a.toml", "\ufeffcount = 3\nrate = 1e-5\nis_on = true\nmax_steps = 7")
    second = write(tmp_path / "b.toml", "count = 4\nrest = [1, 2]")
    settings = parse(first)
    assert settings == Base("o", 3, 1e-5, True, train_step=7)
    assert settings.given == {"output_dir", "count", "rate", "is_on", "train_step"}
    assert parse(first, "--count=5", "--nois_on").replace(is_on=True) == settings.replace(count=5)
    flag_file = tmp_path / "flags.txt"
    flag_file.write_text(f"{first}\n--count=6\n")
    assert parse(f"--flagfile={flag_file}").count == 6
    with pytest.raises(UserError, match="rest"):
        parse(second)
    write(tmp_path / "b.toml", "count = 4")
    assert parse(first, second).count == 4 and parse(second, first).count == 3
    assert parse("x", write(tmp_path / "c.toml", 'name = "y"'), kind=Derived).name == "x"


@pytest.mark.parametrize(
    "content, named",
    [
        *cases.table("""
            cuont = 2                      | count
            count = -1                     | count
            max_steps = 3 & train_step = 4 | max_steps and train_step
            is_on = 3.5                    | is_on
            [text] & a = 1                 | {'a': 1}
            output_dir = 1979-05-27        | date
            count = = 1                    | line 1
            config = "other.toml"          | config
        """),
        ("output_dir = '\udcff'", "UTF-8"),
        ("output_dir = " + "[" * 3000 + "]" * 3000, ""),
    ],
    ids=range(10),
)
def test_config_names_file_and_fault(tmp_path, content, named):
    path = tmp_path / "run.toml"
    path.write_bytes(content.replace("&", "\n").encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError, match=f"{path}.*{named}"):
        parse(f"--config={path}")


def test_record_of_a_run(tmp_path):
    settings = parse("--free=nan", "--rate=1e-30", "--is_on", "--count=7")
    settings = settings.replace(output_dir=STRANGE)
    path = tmp_path / config_files.RECORD_NAME
    config_files.record(str(path), settings.given_values())
    again = flags_lib.parse(Base, [f"--config={path}"])
    assert again.given == settings.given
    assert again.replace(free=0.0) == settings.replace(free=0.0)
    config_files.record(str(path), {"count": 2})
    assert config_files.read(str(path)) == {"count": "2"}
    config_files.record(str(path), {"count": 4, "do_train": True}, is_training=True)
    config_files.record(str(path), {"count": 5, "do_eval": True})
    config_files.record(str(path), {"count": 6, "do_train": True})  # there was nothing to train
    assert config_files.read(str(path))["count"] == "4"
    config_files.record(str(path), {"count": 7, "do_train": True}, is_training=True)
    assert config_files.read(str(path))["count"] == "7"
    write(path, "count = 3  # mine")
    config_files.record(str(path), {"count": 2})
    assert config_files.read(str(path)) == {"count": "3"}
