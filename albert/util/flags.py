# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A script's flags are a frozen dataclass with one field per flag.

    @dataclasses.dataclass(frozen=True)
    class Flags(BaseFlags):
        learning_rate: float = flag(2e-5, "Peak learning rate.", lower=0, group="Training")

A subclass changes a default by declaring the field again, and inherits the rest. `parse` reads a
command line; `--config=run.toml` gives flags from a file, and each run writes its flags to a file.
Nothing here imports TensorFlow.
"""

import dataclasses
import json
import math
import operator
import os
import re
import shlex
import sys
from typing import Any, Dict, FrozenSet, Iterable, List, Mapping, Optional, Sequence, Type, TypeVar

import tomli
from absl import flags as absl_flags

from albert.util import UserError, files, log, wording

CONFIG = "config"
VERBOSE = "verbose"
# The flags of every script.
OWN = {
    "--config": "TOML file of flags, such as train_batch_size = 32. The command line overrides it.",
    "--[no]verbose": "Also show TensorFlow's messages and tracebacks.",
}
# Names of flags in other scripts and projects (docs/relatives.md) -> our names. A script that has
# only our name accepts both.
ALIASES = {
    "bert_config_file": "albert_config_file",
    "config_path": "albert_config_file",
    "do_test": "do_predict",
    "logging_steps": "log_steps",
    "max_ngram": "ngram",
    "max_seq_len": "max_seq_length",
    "max_steps": "train_step",
    "model_name_or_path": "albert_dir",
    "model_path": "init_checkpoint",
    "non_chinese": "language",  # --non_chinese=True fails, and the error lists the languages
    "num_train_steps": "train_step",
    "num_warmup_steps": "warmup_step",
    "predict_batch_size": "batch_size",
    "save_steps": "save_checkpoints_steps",
    "spm_model_path": "spm_model_file",
    "train_max_seq_length": "max_seq_length",
    "train_step": "num_train_steps",
    "vocab_path": "vocab_file",
    "warmup_step": "num_warmup_steps",
    "weight_decay": "weight_decay_rate",
}
WITHOUT_EFFECT = "Without effect, for published commands"  # a group of flags
# The least similarity to suggest a flag. For --num_train_steps, do not suggest --num_train_epochs.
_CLOSE = 0.86
_LARGEST = 2**31 - 1  # the upper bound of an int flag that has none
_NOUNS = {bool: "true or false", int: "a whole number", float: "a number"}
_BOUNDS: Dict[str, Any] = {
    "lower": ("of at least", operator.ge),
    "above": ("above", operator.gt),
    "upper": ("at most", operator.le),
    "below": ("below", operator.lt),
}
SMALLEST, LARGEST = 1e-30, 1e38  # positive numbers that float32 can compute with
# The largest decay. In float32, a decay closer to 1 is 1, and a gradient that was always 0 would
# give 0 / 0.
BELOW_ONE = 0.9999999
# --help replaces float32's bounds by plain numbers, and leaves out bounds from here on, which only
# keep a number in its type.
_IN_HELP = {SMALLEST: 0, BELOW_ONE: 1}
_SHOWN_BELOW = 10**6


def flag(default: Any = None, help: Optional[str] = None, **options: Any) -> Any:
    """Returns a dataclass field that is a flag.

    Args:
      default: the value if the user does not set the flag.
      help: one line.
      **options: any of
        group: the flag's heading in --help.
        lower, upper: the smallest and the largest allowed value.
        above, below: bounds that are not allowed themselves.
        choices: the allowed texts.
        required: the user must set the flag.
        path: expand "~".
        several: take several comma-separated values; the flag's value is the text with all.
        kind: the type of each of several values.
        needs: a flag that must also have a value.
        replaces: flags that exclude this one. If the user sets one of a pair, the other is None.
        positional: take the argument without a flag's name; a Tuple takes all such arguments.
    """
    return dataclasses.field(
        default=default, metadata={"help": help, **options} if help else options
    )


class BaseFlags:
    """The base class of a script's flags.

    `explicit` has the names of the flags that users set. `script` is the module that repeats the
    run; "": the program that runs.
    """

    script = ""
    explicit = frozenset()  # type: FrozenSet[str]
    _command_line = None  # type: Any

    def check(self) -> None:
        """Checks that the flags fit together, or raises UserError. Subclasses add checks."""
        for name, options in describe(type(self)).items():
            if options.get("required") and not getattr(self, name):
                raise UserError(f"--{name} must be given: {options.get('help', '')}")
            needed = options.get("needs")
            if needed and name in self.explicit and getattr(self, needed) in (None, 0):
                raise UserError(f"--{name} needs --{needed}. Give both.")
            if name in self.explicit and options.get("group") == WITHOUT_EFFECT:
                log.info("--%s has no effect here.", name)

    def to_dict(self) -> Dict[str, Any]:
        """Returns a new dict of all values by name."""
        return {name: getattr(self, name) for name in describe(type(self))}

    def explicit_values(self) -> Dict[str, Any]:
        """Returns the values of the flags that the user set, by name."""
        return {name: value for name, value in self.to_dict().items() if name in self.explicit}

    def replace(self: "AnyFlags", **changes: Any) -> "AnyFlags":
        """Returns a copy with changed values. The changed flags count as set by the user."""
        excluded = replaced(type(self), changes)
        values = {**dict.fromkeys(excluded), **changes}
        changed = dataclasses.replace(self, **values)  # type: ignore[type-var]
        object.__setattr__(changed, "explicit", self.explicit - excluded | set(changes))
        return changed

    def fill_in(self: "AnyFlags", **changes: Any) -> "AnyFlags":
        """Returns a copy with values from a model's folder, and the same `command_line`."""
        changed = self.replace(**changes)
        object.__setattr__(changed, "_command_line", self.command_line)
        return changed

    def with_script(self: "AnyFlags", script: str) -> "AnyFlags":
        """Returns the flags with the name of a script."""
        object.__setattr__(self, "script", script)
        return self

    @property
    def command_line(self: "AnyFlags") -> "AnyFlags":
        """The flags before `fill_in` changed them."""
        return self._command_line or self


AnyFlags = TypeVar("AnyFlags", bound=BaseFlags)


def replaced(kind: Type[BaseFlags], names: Iterable[str]) -> FrozenSet[str]:
    """Returns the flags that are None because the flags in `names` exclude them."""
    excluded = set()
    for name, options in describe(kind).items():
        for other in options.get("replaces", ()):
            if name in names:
                excluded.add(other)
            if other in names:
                excluded.add(name)
    return frozenset(excluded)


def describe(kind: Type[BaseFlags]) -> Dict[str, Dict[str, Any]]:
    """Returns {name: {"kind": type, "default": value, **options}}; for the options, see `flag`."""
    described: Dict[str, Dict[str, Any]] = {}
    for base in reversed(kind.__mro__):
        for name, field in getattr(base, "__dataclass_fields__", {}).items():
            options = {"kind": _type_of(field.type), **field.metadata, "default": field.default}
            described.setdefault(name, {}).update(options)
    return described


def _type_of(hint: Any) -> Any:
    """Returns int for int and Optional[int], tuple for Tuple[str, ...]."""
    if isinstance(hint, type):
        return hint
    return tuple if hint.__origin__ is tuple else hint.__args__[0]


def takes(options: Mapping[str, Any], *, in_help: bool = False) -> str:
    """Describes the values that a flag allows, such as "a number above 0"; "" for any text.

    `in_help`: without the bounds that only keep a number in its type.
    """
    if "choices" in options:
        return f"one of {', '.join(options['choices'])}"
    limits = []
    for name, (word, _) in _BOUNDS.items():
        bound = options.get(name, math.inf)
        if in_help:
            bound = _IN_HELP.get(bound, bound)
        if abs(bound) < (_SHOWN_BELOW if in_help else math.inf):
            limits.append(f"{word} {bound}")
    text = f"{_NOUNS.get(options['kind'], '')} {' and '.join(limits)}".strip()
    return re.sub("of at least (.*) and at most", r"from \1 to", text)


def schema(kind: Type[BaseFlags], names: Iterable[str]) -> Dict[str, Any]:
    """Returns the schema (see json_files) of a JSON object with optional values for these flags."""
    kinds = {}
    for name in names:
        options = describe(kind)[name]
        allowed = set(options.get("choices", ())) or options["kind"]
        if options["kind"] is int:
            allowed = range(options.get("lower", 0), 1 << 31)
        kinds[name] = allowed, None
    return kinds


class _Parser(absl_flags.ArgumentParser):
    """Parses and checks a flag's value."""

    def __init__(self, options: Mapping[str, Any]):
        bounds = {"upper": _LARGEST} if options["kind"] is int else {}
        self._options = {**bounds, **options}

    def parse(self, argument: Any) -> Any:
        """Returns the value. A program can pass a list or a mapping, such as {"yes": 3, "no": 1}.

        Raises ValueError with the allowed values.
        """
        if isinstance(argument, Mapping):
            argument = [f"{name}:{value}" for name, value in argument.items()]
        if isinstance(argument, (list, tuple)):
            argument = ",".join(map(str, argument))
        if not self._options.get("several"):
            return self._parse_value(str(argument))
        parts = [part.strip() for part in str(argument).split(",")]
        if len(set(map(self._parse_value, parts))) < len(parts):
            raise ValueError("a value occurs twice.")
        return ",".join(parts)

    def _parse_value(self, text: str) -> Any:
        options, kind = self._options, self._options["kind"]
        if re.search("[\0\ud800-\udfff]", text):  # bytes that are not UTF-8, as in a file's name
            raise ValueError("it must be UTF-8 without NUL.")
        try:
            value = absl_flags.BooleanParser().parse(text) if kind is bool else kind(text)
            bounds = set(_BOUNDS) & set(options)
            is_allowed = all(_BOUNDS[name][1](value, options[name]) for name in bounds)
        except ValueError:
            is_allowed = False
        if not is_allowed or text not in options.get("choices", [text]):
            hint = wording.did_you_mean(text, options.get("choices", ()))
            raise ValueError(f"it must be {takes(options)}.{hint}")
        return os.path.expanduser(text) if options.get("path") else value


def define(kind: Type[BaseFlags], flag_values: absl_flags.FlagValues) -> None:
    """Defines the flags of a class that `flag_values` does not have yet."""
    for name, options in describe(kind).items():
        if name in flag_values or options["kind"] is tuple or "help" not in options:
            continue
        absl_flags.DEFINE(
            _Parser(options),
            name,
            options["default"],
            options["help"],
            flag_values,
            absl_flags.ArgumentSerializer(),
            kind.__module__,
            boolean=options["kind"] is bool,
            allow_override=True,
        )


def read(
    kind: Type[AnyFlags],
    flag_values: absl_flags.FlagValues,
    arguments: Sequence[str],
    *,
    fallback: Mapping[str, Any] = {},
) -> AnyFlags:
    """Defines the flags of a class, sets them from a command line, and returns them.

    Args:
      kind: the class.
      flag_values: absl's, such as FLAGS.
      arguments: the command line, with the program's name.
      fallback: values for flags that neither the command line nor --config sets.

    Raises:
      UserError: an unknown flag, a wrong value, or an unexpected argument; or `check` fails.
    """
    define(kind, flag_values)
    absl_flags.DEFINE_multi_string(CONFIG, [], OWN["--config"], flag_values)
    absl_flags.DEFINE_boolean(VERBOSE, False, OWN["--[no]verbose"], flag_values)
    flag_values.set_gnu_getopt(True)
    described = describe(kind)
    for alias, name in ALIASES.items():
        if name in described and alias not in flag_values:
            flag_values[alias] = flag_values[name]
    positional = next((name for name in described if described[name].get("positional")), None)
    takes_rest = bool(positional) and described[positional]["kind"] is tuple
    program, *command_line = arguments
    rest = _parse(kind, flag_values, arguments, known_only=takes_rest)
    if len(rest) == 1 and positional in flag_values and flag_values[positional].using_default_value:
        command_line = [f"--{positional}={rest.pop()}", *command_line]
    if rest and not takes_rest:
        raise UserError(
            f"Unexpected arguments {rest}. Write --flag=value. For a flag without a value, write "
            "--flag or --noflag."
        )
    values = {f"--{CONFIG}={path}, ": read_toml(path) for path in flag_values[CONFIG].value}
    for prefix, layer in {"": fallback, **values}.items():
        if CONFIG in layer:
            raise UserError(f"{prefix}{CONFIG}: a flag file cannot include another one.")
        words = [f"--{name}={value}" for name, value in layer.items()]
        _parse(kind, flag_values, [program, *words], prefix=prefix)
    # The command line wins.
    _parse(kind, flag_values, [program, *command_line], known_only=takes_rest)
    positionals = {positional: tuple(rest)} if takes_rest else {}
    flags = of_flags(kind, flag_values, **positionals)
    flags.check()
    return flags


def _parse(
    kind: Type[BaseFlags],
    flag_values: absl_flags.FlagValues,
    arguments: Sequence[str],
    *,
    prefix: str = "",
    known_only: bool = False,
) -> List[str]:
    """Sets flags and returns the other arguments. Error messages begin with `prefix`."""
    names = [re.sub("^--?|=.*", "", word) for word in arguments if word[:1] == "-"]
    for name in replaced(kind, _check_pairs(kind, names, prefix)):
        flag_values[name].unparse()  # An earlier call may have set the flag.
    try:
        return flag_values(arguments, known_only=known_only)[1:]
    except absl_flags.UnrecognizedFlagError as error:
        name = error.flagname
        hint = wording.did_you_mean(name, describe(kind), cutoff=_CLOSE)
        raise UserError(f"{prefix}Unknown flag --{name}.{hint}") from error
    except (absl_flags.Error, ValueError) as error:  # ValueError: --noflag=value
        raise UserError(f"{prefix}{re.sub(r'^flag |[ ?.]+$', '', str(error))}.") from error


def _check_pairs(kind: Type[BaseFlags], names: Iterable[str], prefix: str = "") -> Iterable[str]:
    """Resolves aliases to flags. Raises UserError if two names exclude each other."""
    spelled: Dict[str, str] = {}
    declared = describe(kind)
    for name in names:
        own_name = name if name in declared else ALIASES.get(name, name)
        for other in spelled.keys() & {own_name, *replaced(kind, [own_name])}:
            if spelled[other] != name:
                raise UserError(
                    f"{prefix}--{spelled[other]} and --{name} exclude each other. Give one of them."
                )
        spelled[own_name] = name
    return spelled


def of_flags(kind: Type[AnyFlags], flag_values: absl_flags.FlagValues, **more: Any) -> AnyFlags:
    """Returns flags with the current values of absl's flags, which a program may have set."""
    values: Dict[str, Any] = {}
    for name in set(describe(kind)) & set(flag_values):
        is_default = flag_values[name].using_default_value
        (more if is_default else values)[name] = flag_values[name].value
    return _changed(kind(**more), values)


def make(kind: Type[AnyFlags], **values: Any) -> AnyFlags:
    """Returns flags with these values. Raises UserError for a wrong value."""
    return _changed(kind(), values)


def _changed(flags: AnyFlags, values: Dict[str, Any]) -> AnyFlags:
    """Checks the values, and returns the flags with them. Ignores None."""
    kind = type(flags)
    declared = describe(kind)
    values = {name: value for name, value in values.items() if value is not None}
    for name in values:
        if name not in declared:
            raise UserError(f"Unknown option {name}.{wording.did_you_mean(name, list(declared))}")
        try:
            values[name] = _Parser(declared[name]).parse(values[name])
        except ValueError as error:
            raise UserError(f"{name} is {values[name]!r}; {error}") from error
    _check_pairs(kind, values)
    return flags.replace(**values)


def parse(
    kind: Type[AnyFlags], arguments: Sequence[str], *, fallback: Mapping[str, Any] = {}
) -> AnyFlags:
    """Returns the flags for arguments such as ["--do_eval"]; see `read`.

    Does not change absl's FLAGS.
    """
    return read(kind, absl_flags.FlagValues(), ["albert", *arguments], fallback=fallback)


# ---- TOML files ----
#
#     # run.toml: names of flags and their values
#     train_batch_size = 32
#     do_train = true
#     tasks = ["mrpc", "rte"]        # as --tasks=mrpc,rte
#
# Relative paths start at the current folder.

RECORD_NAME = "run.toml"  # in the output folder of a run
_HEADER = "# Repeat this run: "
_TRAINED = "\ndo_train = true\n"


def read_toml(path: str) -> Dict[str, str]:
    """Returns a TOML file's keys and values as flag values in text form.

    Raises:
      UserError: the file cannot be read, is not TOML, or has a table.
    """
    path = os.path.expanduser(path)
    try:
        values = tomli.loads(files.read_text(path))
        return {key: _text(value) for key, value in values.items()}
    except (ValueError, RecursionError) as error:
        raise UserError(f"--config={path}: {error}") from error


def _text(value: Any) -> str:
    """Returns a value as the text of a flag."""
    if isinstance(value, list):
        return ",".join(map(_text, value))
    if not isinstance(value, (str, int, float)):
        raise UserError(f"{value!r} is not a flag value.")
    return str(value).lower() if isinstance(value, bool) else str(value)


def write_config(
    path: str, values: Mapping[str, Any], *, is_training: bool = False, script: str = ""
) -> None:
    """Writes a run's flags to a file. `script --config=FILE` repeats the run.

    Does not replace a user's file. Replaces the file of a training only if `is_training`: it
    records how the model in its folder was trained.
    """
    old_text = files.read_text(path) if files.exists(path) else _HEADER
    if not old_text.startswith(_HEADER) or _TRAINED in old_text and not is_training:
        return
    if is_training:
        values = {**values, "do_train": True}  # Some scripts train by default.
    module = getattr(sys.modules["__main__"], "__spec__", None)
    name = script or (module.name if module else "")
    command = f"{wording.command_of(name)} " if name else ""
    lines = [f"{_HEADER}{command}--config={shlex.quote(path)}"]
    for name in sorted(values):
        if values[name] is not None:
            lines.append(f"{name} = {_toml(values[name])}")
    files.atomic_write_text(path, "\n".join(lines) + "\n")


def config_beside(path: str) -> str:
    """Returns the hidden path for the flags of a run that writes one file."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{RECORD_NAME}")


def _toml(value: Any) -> str:
    """Returns a value in TOML. Its strings are JSON's, except DEL."""
    if isinstance(value, (int, float)):
        return str(value).lower() if isinstance(value, bool) else repr(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
