# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Flags as fields of settings, on a command line and in a TOML file."""

import dataclasses
import importlib
import itertools
import re
from typing import Optional, Tuple

import pytest
from absl import flags as absl_flags

from albert import commands
from albert.configs import shared_flags
from albert.util import UserError
from albert.util import flags as flags_lib
from albert.util.flags import flag
from tests.support import ROOT, cases

SCRIPTS = [name for name in commands.NAMES if name != "demo"]
STRANGE = 'tab\t "quoted" back\\slash \x7f \U0001f600 # [a] = 1'


@dataclasses.dataclass(frozen=True)
class Base(flags_lib.BaseFlags):
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
    rate: Optional[str] = flag(None, several=True, kind=float)
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
    flags = parse("--count=3", "--is_on", "--rate=0.5", "--free=nan")
    assert flags.replace(free=0.0) == Base("o", 3, 0.5, True)
    assert flags.explicit == {"output_dir", "count", "is_on", "rate", "free"}
    assert not parse("--nois_on").is_on and not set(absl_flags.FLAGS) & {"count"}


def test_parse_inherits_from_base():
    assert parse(kind=Derived).count == 5
    described = flags_lib.describe(Derived)["count"]
    assert [described[key] for key in ("help", "lower", "group")] == ["Count.", 0, "Numbers"]
    assert parse("--rate=0.5, 0.25", kind=Derived).rate == "0.5,0.25"


def test_parse_positional_arguments():
    assert parse("x", "--count=2", kind=Derived).name == "x"
    flags = parse("--runner=Flink", "--count=8", "--workers", "2", kind=WithRest)
    assert flags.rest == ("--runner=Flink", "--workers", "2") and flags.count == 8
    assert flags.explicit == {"output_dir", "count"}  # a --config cannot give the others


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
        Base    | --optimiser=adamw | 'optimizer'
        Base    | --output_dir=     | --output_dir
        Base    | --is_on True      | 'True'
        Base    | --count           | count
        Base    | --nois_on=true    | --nois_on
        Base    | --max_steps=3 --train_step=4 | --max_steps and --train_step
        Base    | --count=1 --max_steps=3 --num_train_steps=3 | --max_steps and --num_train_steps
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
    assert parse("--max_steps", "3").explicit == {"output_dir", "train_step"}
    with pytest.raises(UserError, match="max_steps"):  # stands for a flag that is an alias there
        flags_lib.parse(script_flags("run_pretraining"), ["--max_steps=3"])
    known = [set(flags_lib.describe(script_flags(script))) for script in SCRIPTS]
    for alias, name in flags_lib.ALIASES.items():
        assert any(name in flags for flags in known)
        assert not any({alias, name} <= flags for flags in known)


def script_flags(script):
    return importlib.import_module(commands.module_of(script)).Flags


# ---- flags that replace each other ----

EXAMPLES = {int: 3, float: 0.5, str: "x", bool: True}


def pairs_of(described):
    return [
        (name, other)
        for name, options in described.items()
        for other in options.get("replaces", ())
    ]


@pytest.mark.parametrize("script", SCRIPTS)
def test_given_flag_replaces_the_other_of_a_pair(script, monkeypatch, tmp_path):
    kind = script_flags(script)
    described = flags_lib.describe(kind)
    monkeypatch.setattr(kind, "check", lambda flags: None)
    for pair in pairs_of(described):
        assert any(not described[name]["default"] for name in pair)
        for name, other in (pair, pair[::-1]):
            values = {flag: EXAMPLES[described[flag]["kind"]] for flag in pair}
            check_pair(kind, name, other, values, config=tmp_path / "run.toml")


def check_pair(kind, name, other, values, *, config):
    """The first flag wins where it is given; both together are refused."""
    words = [f"--{flag}={values[flag]}" for flag in (name, other)]
    flags_lib.write_config(str(config), {other: values[other]})
    for flags in (
        flags_lib.parse(kind, words[:1]),
        flags_lib.parse(kind, [f"--config={config}", words[0]]),
        flags_lib.parse(kind, words[:1], fallback={other: values[other]}),
        flags_lib.make(kind, **{name: values[name]}),
        flags_lib.make(kind, **{other: values[other]}).replace(**{name: values[name]}),
    ):
        assert str(getattr(flags, name)) == str(values[name])
        assert getattr(flags, other) is None and flags.explicit == {name}
    for refused in (
        lambda: flags_lib.parse(kind, words),
        lambda: flags_lib.make(kind, **values),
    ):
        with pytest.raises(UserError, match=f"--{name}\\b") as error:
            refused()
        assert f"--{other}" in str(error.value)


def test_flags_of_a_program_follow_pairs():
    values = absl_flags.FlagValues()
    flags_lib.define(shared_flags.FineTuningFlags, values)
    values(["program", "--num_train_epochs=2"])
    flags = flags_lib.of_flags(shared_flags.FineTuningFlags, values)
    assert (flags.num_train_epochs, flags.train_step) == (2.0, None)


@pytest.mark.parametrize("script", SCRIPTS)
def test_flag_replaces_what_its_help_says(script):
    described = flags_lib.describe(script_flags(script))
    pairs = pairs_of(described)
    for name, options in described.items():
        words = "replaces|in place of|instead of|name of|not both"
        for other in re.findall(f"(?:{words}) --(\\w+)", options.get("help", "")):
            assert (name, other) in pairs


@pytest.mark.parametrize("script", SCRIPTS)
def test_whole_numbers_are_bounded(script):
    kind = script_flags(script)
    for name, options in flags_lib.describe(kind).items():
        if options["kind"] is int:
            with pytest.raises(UserError, match=name):
                flags_lib.make(kind, **{name: 10**40})


# ---- flags of other projects ----


def rows_of_relatives():
    """(flag of another project, whether it works here, flags here) for docs/relatives.md."""
    page = ROOT / "docs" / "relatives.md"
    rows = re.findall(r"(?m)^\| (.*?) \| (.*) \|$", page.read_text(encoding="utf-8"))
    for there, here in rows:
        for name, star in re.findall(r"`--(\w+)[^`]*`(\*?)", there):
            yield name, bool(star), set(re.findall(r"--(?:no)?(\w+)", here))


def test_flags_of_other_projects():
    scripts = ["run_pretraining", "run_classifier", "create_pretraining_data", "run_squad_v1"]
    rows = list(rows_of_relatives())
    assert len(rows) > 40
    taken = set()
    for script, (name, _, here) in itertools.product(scripts, rows):
        with pytest.raises(UserError) as error:  # other flags are required
            flags_lib.parse(script_flags(script), [f"--{name}=1"])
        assert set(re.findall(r"'(\w+)'", str(error.value))) <= here, (script, name)
        if not str(error.value).startswith(f"Unknown flag --{name}."):
            taken.add(name)
    assert {name for name, works, _ in rows if works} <= taken


def test_parse_expands_home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert parse("--output_dir=~/Smith, J/b ,c").output_dir == "/home/me/Smith, J/b ,c"
    with pytest.raises(UserError, match="--output_dir"):
        flags_lib.parse(shared_flags.TrainingFlags, ["--output_dir=x/a*b"])
    with pytest.raises(UserError, match="--output_dir"):
        flags_lib.parse(shared_flags.TrainingFlags, [f"--output_dir={__file__}"])


# ---- TOML files ----


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return f"--config={path}"


FIRST = "\ufeffcount = 3\nrate = 1e-5\nis_on = true\nmax_steps = 7"


def test_config_gives_flags(tmp_path):
    flags = parse(write(tmp_path / "a.toml", FIRST))
    assert flags == Base("o", 3, 1e-5, True, train_step=7)
    assert flags.explicit == {"output_dir", "count", "rate", "is_on", "train_step"}


def test_config_yields_to_command_line(tmp_path):
    flags = parse(write(tmp_path / "a.toml", FIRST), "--count=5", "--nois_on")
    assert flags == Base("o", 5, 1e-5, False, train_step=7)


def test_config_yields_to_argument_without_a_name(tmp_path):
    assert parse("x", write(tmp_path / "a.toml", 'name = "y"'), kind=Derived).name == "x"


def test_flagfile_yields_to_its_later_lines(tmp_path):
    path = tmp_path / "flags.txt"
    path.write_text(f"{write(tmp_path / 'a.toml', FIRST)}\n--count=6\n")
    assert parse(f"--flagfile={path}").count == 6


def test_last_config_wins_and_has_flags_of_the_script_alone(tmp_path):
    first = write(tmp_path / "a.toml", "count = 3")
    second = write(tmp_path / "b.toml", "count = 4\nrest = [1, 2]")
    with pytest.raises(UserError, match="rest"):
        parse(second)
    write(tmp_path / "b.toml", "count = 4")
    assert parse(first, second).count == 4 and parse(second, first).count == 3


@pytest.mark.parametrize(
    "content, named",
    [
        *cases.table("""
            optimiser = 2                  | 'optimizer'
            count = -1                     | count
            max_steps = 3 & train_step = 4 | --max_steps and --train_step
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


RECORDED = parse("--free=nan", "--rate=1e-30", "--is_on", "--count=7").replace(output_dir=STRANGE)


def test_record_of_a_run_is_a_config(tmp_path):
    path = str(tmp_path / flags_lib.RECORD_NAME)
    flags_lib.write_config(path, RECORDED.explicit_values())
    again = flags_lib.parse(Base, [f"--config={path}"])
    assert again.explicit == RECORDED.explicit
    assert again.replace(free=0.0) == RECORDED.replace(free=0.0)


def test_record_is_of_the_last_run_that_trained(tmp_path):
    path, trains = str(tmp_path / flags_lib.RECORD_NAME), {"do_train": True}
    flags_lib.write_config(path, RECORDED.explicit_values())
    flags_lib.write_config(path, {"count": 2})
    assert flags_lib.read_toml(path) == {"count": "2"}
    flags_lib.write_config(path, {"count": 4, **trains}, is_training=True)
    flags_lib.write_config(path, {"count": 5, "do_eval": True})
    flags_lib.write_config(path, {"count": 6, **trains})  # there was nothing to train
    assert flags_lib.read_toml(path)["count"] == "4"
    flags_lib.write_config(path, {"count": 7, **trains}, is_training=True)
    assert flags_lib.read_toml(path)["count"] == "7"


def test_record_keeps_a_users_file(tmp_path):
    path = tmp_path / flags_lib.RECORD_NAME
    write(path, "count = 3  # mine")
    flags_lib.write_config(str(path), {"count": 2})
    assert flags_lib.read_toml(str(path)) == {"count": "3"}
