# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The process's own FLAGS, for programs that call a script's main as google-research/albert's.

Programs written for that project import a script, set tf.flags.FLAGS or parse a command line, and
call `main(None)` or `app.run(script.main)`. A script of that project decorates its main by
`@process_flags.reads_flags(define_flags)`, which defines its flags on FLAGS when it is imported.
Any two scripts, and a program's own flags, go together: a name that is there already stays as it
is, and a program may define it anew later. Every `main` reads the values that were set on FLAGS;
where none was set it takes the script's own default, whatever FLAGS shows. Values are checked when
`main` runs.
"""

import copy
import functools
import logging
import sys
from typing import Any, Callable, Dict, NamedTuple

from absl import app, flags

from albert.command_line import log
from albert.util import flags as flags_lib
from albert.util.errors import UserError


class _Declared(NamedTuple):
    """A flag that `_declare` put on FLAGS."""

    flag: flags.Flag
    default: Any


_DECLARED: Dict[str, _Declared] = {}


def _declare(define_flags: flags_lib.DefineFlags, module_name: str):
    """Defines on FLAGS those of a script's flags that are not there."""
    own = flags.FlagValues()
    define_flags(own)
    for name in own:
        if name not in flags.FLAGS:
            flag = own[name]
            flag.allow_override = True  # by a program's own flag of that name
            flag.validators = []  # another script's required flags are not required of a program
            flags.DEFINE_flag(flag, flags.FLAGS, module_name)
            _DECLARED[name] = _Declared(flag, flag.default)


def of_script() -> flags.FlagValues:
    """Returns FLAGS for a script that was started: with absl's flags, and no other script's."""
    for name, declared in _DECLARED.items():
        if name in flags.FLAGS and flags.FLAGS[name] is declared.flag:
            delattr(flags.FLAGS, name)
    _DECLARED.clear()
    app.define_help_flags()
    return flags.FLAGS


def _is_set(name: str) -> bool:
    """Whether a flag on FLAGS has a value other than a script's default."""
    if name not in flags.FLAGS:
        return False
    flag, declared = flags.FLAGS[name], _DECLARED.get(name)
    if declared and declared.flag is flag:
        return not flag.using_default_value or flag.default != declared.default
    return flag.value is not None  # a program's own flag


def _value_on_flags(own: flags.Flag) -> Any:
    """The value that FLAGS has for a script's flag."""
    value = flags.FLAGS[own.name].value
    if value is None:
        return None
    try:
        return own.parser.parse(value)
    except (ValueError, TypeError) as error:
        raise UserError(f"--{own.name}: {error}") from error


def _read_command_line():
    """Reads the process's arguments, if that was not done yet, as tf.flags does.

    A program that has arguments of another kind (pytest, argparse) reads them itself.
    """
    if flags.FLAGS.is_parsed():
        return
    try:
        copy.deepcopy(flags.FLAGS)(sys.argv)
    except flags.Error:
        flags.FLAGS.mark_as_parsed()
    else:
        flags.FLAGS(sys.argv)


def read_settings(define_flags: flags_lib.DefineFlags, *, whole: bool = True) -> flags_lib.Settings:
    """Returns the settings that the process's FLAGS make for a script.

    Args:
      define_flags: the script's function of that name.
      whole: whether they are for a run, which has required flags, or only for a part of one.

    Raises:
      ValueError: a value that the flag does not take, or a required flag that was not given.
    """
    _read_command_line()
    own = flags.FlagValues()
    kind = define_flags(own)
    for name in filter(_is_set, own):
        own[name].value = _value_on_flags(own[name])
        declared, flag = _DECLARED.get(name), flags.FLAGS[name]
        # A default of the program's own flag was not chosen by the user.
        own[name].using_default_value = flag.using_default_value and not (
            declared and declared.flag is flag
        )
    try:
        if whole:
            own.validate_all_flags()
    except flags.Error as error:
        raise UserError(flags_lib.message(error, own)) from error
    return flags_lib.settings_of(own, list(own), kind)


def reads_flags(define_flags: flags_lib.DefineFlags) -> Callable:
    """Decorates a script's `main(settings)`, so that it takes what existing programs give it.

    `main(None)` and `main(argv)`, as app.run calls it, read the process's FLAGS, on which the
    script's flags are defined from here on; anything else is the settings. Mistakes are raised.
    """

    def decorate(main: Callable[[flags_lib.Settings], Any]) -> Callable:
        _declare(define_flags, main.__module__)

        @functools.wraps(main)
        def main_of_flags(settings: Any) -> Any:
            if settings is not None and not isinstance(settings, (list, tuple)):
                return main(settings)
            # Where reading ended at a value without its flag, what follows was not read.
            rest = list(settings or ())[1:]
            if rest and not rest[0].startswith("-"):
                flags_lib.refuse_arguments(rest)
            read = read_settings(define_flags)
            if not logging.getLogger("albert").handlers:
                log.show_own(flags.FLAGS.verbosity)
            return main(read)

        return main_of_flags

    return decorate
