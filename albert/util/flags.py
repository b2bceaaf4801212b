# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Flags as fields: a script's flags are a frozen dataclass with a field for each.

    @dataclasses.dataclass(frozen=True)
    class Flags(BaseFlags):
        learning_rate: float = flag(2e-5, "Peak learning rate.", lower=0, group="Training")

A subclass changes a default by declaring the field again, and inherits the rest. `parse` reads a
command line; `--config=run.toml` gives flags from a file, and a run writes its own flags to one.
Nothing here imports TensorFlow.
"""

import dataclasses
import json
import logging
import math
import operator
import os
import re
import shlex
import sys
from typing import Any, Dict, FrozenSet, Iterable, List, Mapping, Optional, Sequence, Type, TypeVar

import tomli
from absl import flags as absl_flags

from albert.util import files, wording
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

CONFIG = "config"
VERBOSE = "verbose"
# The flags of every script.
OWN = {
    "--config": "TOML file of flags, such as train_batch_size = 32. The command line overrides it.",
    "--[no]verbose": "Also show TensorFlow's messages and tracebacks.",
}
# Other names of flags, also in other projects (docs/relatives.md) -> the names here. A script takes
# the first if it has the second only.
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
    "non_chinese": "language",  # whose error says what to give
    "num_train_steps": "train_step",
    "num_warmup_steps": "warmup_step",
    "save_steps": "save_checkpoints_steps",
    "spm_model_path": "spm_model_file",
    "train_max_seq_length": "max_seq_length",
    "train_step": "num_train_steps",
    "vocab_path": "vocab_file",
    "warmup_step": "num_warmup_steps",
    "weight_decay": "weight_decay_rate",
}
WITHOUT_EFFECT = "Without effect, for published commands"  # a group of flags
_CLOSE = 0.86  # similarity of a flag to suggest: --num_train_steps is not --num_train_epochs
_LARGEST = 2**31 - 1  # of a whole number, unless its flag has another bound
_NOUNS = {bool: "true or false", int: "a whole number", float: "a number"}
_BOUNDS: Dict[str, Any] = {
    "lower": ("at least", operator.ge),
    "upper": ("at most", operator.le),
    "above": ("above", operator.gt),
    "below": ("below", operator.lt),
}


def flag(default: Any = None, help: Optional[str] = None, **options: Any) -> Any:
    """Returns a dataclass field that is a flag.

    Args:
      default: the flag's value where it is not given.
      help: one line.
      **options: any of
        group: the heading of --help under which the flag stands.
        lower, upper: the smallest and the largest value.
        above, below: bounds that are no values themselves.
        choices: the values of a flag for text.
        required: whether a value must be given.
        path: whether "~" is expanded.
        records_of: the split of a task whose records are in the file that the flag names.
        several: takes several values, separated by commas; the setting is their text.
        kind: the type of one of several values.
        needs: a flag that must have a value if this one is given.
        replaces: flags that exclude this one. If one of a pair is given, the other is None.
        positional: takes the argument without a flag's name; a Tuple takes all such arguments.
    """
    return dataclasses.field(
        default=default, metadata={"help": help, **options} if help else options
    )


class BaseFlags:
    """The base of a script's flags. `given` names those that were set, not left at a default."""

    given = frozenset()  # type: FrozenSet[str]
    _command_line = None  # type: Any

    def check(self) -> None:
        """Checks flags against each other; a subclass adds its own. Raises UserError."""
        for name, options in describe(type(self)).items():
            if options.get("required") and not getattr(self, name):
                raise UserError(f"--{name} must be given: {options.get('help', '')}")
            needed = options.get("needs")
            if needed and name in self.given and getattr(self, needed) in (None, 0):
                raise UserError(f"--{name} needs --{needed}. Give both.")
            if name in self.given and options.get("group") == WITHOUT_EFFECT:
                _LOGGER.info("--%s has no effect here.", name)

    def to_dict(self) -> Dict[str, Any]:
        """Returns the values by name, as a new dict."""
        return {name: getattr(self, name) for name in describe(type(self))}

    def given_values(self) -> Dict[str, Any]:
        """Returns the values of the flags that were set, by name."""
        return {name: value for name, value in self.to_dict().items() if name in self.given}

    def replace(self: "AnyFlags", **changes: Any) -> "AnyFlags":
        """Returns a copy with some values changed; they count as given."""
        excluded = replaced(type(self), changes)
        values = {**dict.fromkeys(excluded), **changes}
        changed = dataclasses.replace(self, **values)  # type: ignore[type-var]
        object.__setattr__(changed, "given", self.given - excluded | set(changes))
        return changed

    def fill_in(self: "AnyFlags", **changes: Any) -> "AnyFlags":
        """Returns a copy with values from a model's folder; its `command_line` stays the same."""
        changed = self.replace(**changes)
        object.__setattr__(changed, "_command_line", self.command_line)
        return changed

    @property
    def command_line(self: "AnyFlags") -> "AnyFlags":
        """The flags before `fill_in` changed them."""
        return self._command_line or self


AnyFlags = TypeVar("AnyFlags", bound=BaseFlags)


def replaced(kind: Type[BaseFlags], names: Iterable[str]) -> FrozenSet[str]:
    """Returns the flags that are None because others are given."""
    excluded = set()
    for name, options in describe(kind).items():
        for other in options.get("replaces", ()):
            if name in names:
                excluded.add(other)
            if other in names:
                excluded.add(name)
    return frozenset(excluded)


def describe(kind: Type[BaseFlags]) -> Dict[str, Dict[str, Any]]:
    """Returns {name: {"kind": type, "default": value, and what `flag` was told}} of the fields."""
    described: Dict[str, Dict[str, Any]] = {}
    for base in reversed(kind.__mro__):
        for name, field in getattr(base, "__dataclass_fields__", {}).items():
            options = {"kind": _type_of(field.type), **field.metadata, "default": field.default}
            described.setdefault(name, {}).update(options)
    return described


def _type_of(hint: Any) -> Any:
    """int of int and of Optional[int]; tuple of Tuple[str, ...]."""
    if isinstance(hint, type):
        return hint
    return tuple if hint.__origin__ is tuple else hint.__args__[0]


def takes(options: Mapping[str, Any]) -> str:
    """Returns what a flag takes, in words; "" for any text."""
    if "choices" in options:
        return f"one of {', '.join(options['choices'])}"
    bounds = [
        f"{word} {options[name]}"
        for name, (word, _) in _BOUNDS.items()
        if math.isfinite(options.get(name, math.inf))
    ]
    return f"{_NOUNS.get(options['kind'], '')} {' and '.join(bounds)}".strip()


def schema(kind: Type[BaseFlags], names: Iterable[str]) -> Dict[str, Any]:
    """Returns the schema (see json_files) of a JSON object that may have values of these flags."""
    kinds = {}
    for name in names:
        options = describe(kind)[name]
        is_whole = options["kind"] is int
        kind_or_range = range(options.get("lower", 0), 1 << 31) if is_whole else options["kind"]
        kinds[name] = kind_or_range, None
    return kinds


class _Parser(absl_flags.ArgumentParser):
    """Reads the text of a flag."""

    def __init__(self, options: Mapping[str, Any]):
        bounds = {"upper": _LARGEST} if options["kind"] is int else {}
        self._options = {**bounds, **options}

    def parse(self, argument: Any) -> Any:
        """Returns the value; ValueError says what the flag takes."""
        if not self._options.get("several"):
            return self._parse_one(str(argument))
        parts = [part.strip() for part in str(argument).split(",")]
        if len(set(map(self._parse_one, parts))) < len(parts):
            raise ValueError("a value is given twice.")
        return ",".join(parts)

    def _parse_one(self, text: str) -> Any:
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
    """Defines those flags of a class that `flag_values` does not have yet."""
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
      fallback: values of flags that neither the command line nor a --config gives.

    Raises:
      UserError: an unknown flag, a wrong value, an unexpected argument, or what `check` raises.
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
    values = {f"--{CONFIG}={path}, ": read_config(path) for path in flag_values[CONFIG].value}
    for prefix, layer in {"": fallback, **values}.items():
        if CONFIG in layer:
            raise UserError(f"{prefix}{CONFIG}: a flag file cannot include another one.")
        words = [f"--{name}={value}" for name, value in layer.items()]
        _parse(kind, flag_values, [program, *words], prefix=prefix)
    # The command line wins.
    _parse(kind, flag_values, [program, *command_line], known_only=takes_rest)
    flags = of_flags(kind, flag_values, **({positional: tuple(rest)} if takes_rest else {}))
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
    """Sets flags and returns the other arguments; `prefix` begins an error's text."""
    names = [re.sub("^--?|=.*", "", word) for word in arguments if word[:1] == "-"]
    for name in replaced(kind, _check_pairs(kind, names, prefix)):
        flag_values[name].unparse()  # what an earlier call set
    try:
        return flag_values(arguments, known_only=known_only)[1:]
    except absl_flags.UnrecognizedFlagError as error:
        name = error.flagname
        hint = wording.did_you_mean(name, describe(kind), cutoff=_CLOSE)
        raise UserError(f"{prefix}Unknown flag --{name}.{hint}") from error
    except (absl_flags.Error, ValueError) as error:  # ValueError: --noflag=value
        raise UserError(f"{prefix}{re.sub(r'^flag |[ ?.]+$', '', str(error))}.") from error


def _check_pairs(kind: Type[BaseFlags], names: Iterable[str], prefix: str = "") -> Iterable[str]:
    """Returns the flags that names stand for; UserError if two names exclude each other."""
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
    """Returns the present values of flags, which a program may have set."""
    values: Dict[str, Any] = {}
    for name in set(describe(kind)) & set(flag_values):
        is_default = flag_values[name].using_default_value
        (more if is_default else values)[name] = flag_values[name].value
    return _changed(kind(**more), values)


def make(kind: Type[AnyFlags], **values: Any) -> AnyFlags:
    """Returns flags with a program's values; UserError for a wrong value."""
    return _changed(kind(), values)


def _changed(flags: AnyFlags, values: Dict[str, Any]) -> AnyFlags:
    """The flags with values that are checked first; None is no value."""
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

    The process's own flags are not touched.
    """
    return read(kind, absl_flags.FlagValues(), ["albert", *arguments], fallback=fallback)


# ---- TOML files ----
#
#     # run.toml: names of flags and their values
#     train_batch_size = 32
#     do_train = true
#     tasks = ["mrpc", "rte"]        # as --tasks=mrpc,rte
#
# Relative paths begin at the folder where the command is started.

RECORD_NAME = "run.toml"  # in the output folder of a run
_HEADER = "# Repeat this run: "
_TRAINED = "\ndo_train = true\n"


def read_config(path: str) -> Dict[str, str]:
    """Returns a TOML file's keys and values as flag values in text form.

    Raises:
      UserError: the file cannot be read, is no TOML, or holds a table.
    """
    path = os.path.expanduser(path)
    try:
        values = tomli.loads(files.read_text(path))
        return {key: _text(value) for key, value in values.items()}
    except (ValueError, RecursionError) as error:
        raise UserError(f"--config={path}: {error}") from error


def _text(value: Any) -> str:
    """A value as a flag takes it."""
    if isinstance(value, list):
        return ",".join(map(_text, value))
    if not isinstance(value, (str, int, float)):
        raise UserError(f"{value!r} is not a flag value.")
    return str(value).lower() if isinstance(value, bool) else str(value)


def write_config(path: str, values: Mapping[str, Any], *, is_training: bool = False) -> None:
    """Writes the flags that were given to a run, so that --config repeats it.

    A file of this name stays as it is if a user wrote it. That of a training stays unless
    `is_training`: it says how the model beside it was made.
    """
    present = files.read_text(path) if files.gfile().exists(path) else _HEADER
    if not present.startswith(_HEADER) or _TRAINED in present and not is_training:
        return
    if is_training:
        values = {**values, "do_train": True}  # which is the default of a script
    module = getattr(sys.modules["__main__"], "__spec__", None)
    command = f"{wording.command_of(module.name)} " if module else ""
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
    """A flag's value in TOML, whose strings are JSON's, except DEL."""
    if isinstance(value, (int, float)):
        return str(value).lower() if isinstance(value, bool) else repr(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
