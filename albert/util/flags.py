# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Command-line flags: each shared flag defined once, and the way every script starts.

A script has a function `define_flags(flag_values)`, which may return the class of its settings (a
frozen dataclass below `Settings` with a field for each flag), a function `main(settings)`, and

    def cli():
        flags_lib.run(main, define_flags, usage=__doc__)

`main` gets a frozen `Settings` object with one attribute for each flag. A program or a test that
calls a script in its own process builds one by `parse(define_flags, ["--flag=value", ...])`.

Programs written for google-research/albert import a script, set tf.flags.FLAGS or parse a command
line, and call `main(None)` or `app.run(script.main)`. For them a script of that project says

    @flags_lib.reads_flags(define_flags)
    def main(settings):

Its flags are then defined on FLAGS when it is imported. Any two scripts, and a program's own flags,
go together: a name that is there already is left as it is, and a program may define it anew later.
What was set on FLAGS is heard by every `main`. What was not is the script's own default, whatever
default FLAGS shows for that name. A value is checked when `main` runs, and not before.

Library modules report through `logging.getLogger(__name__)`; `run` shows the lines of this package
from the level INFO on, and keeps TensorFlow's own notices back unless `--verbosity` asks for them.
"""

import copy
import functools
import logging
import math
import os
import sys
import traceback
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Type,
)

import tensorflow.compat.v1 as tf
from absl import app, flags
from tqdm import tqdm

from albert.util import stop_signals

_HELP_FLAGS = frozenset(
    dashes + name for dashes in ("-", "--") for name in ("help", "helpshort", "helpfull", "helpxml")
) | {"-?"}

# What a user's mistake looks like by the time it reaches a script.
USER_ERRORS = (ValueError, OSError, ArithmeticError, tf.errors.OpError)

OPTIMIZERS = ("lamb", "adamw")
PRECISIONS = ("float32", "bfloat16")
PADDINGS = ("longest", "bucket", "max")
DISTRIBUTION_STRATEGIES = ("none", "mirrored", "multi_worker")


class Settings:
    """The values of a script's flags: one attribute for each flag, and not to be changed.

    Attributes:
      given: names of those that somebody chose; the others are defaults.
    """

    given: FrozenSet[str] = frozenset()

    if TYPE_CHECKING:  # what the flags of a script are is not known before it runs

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, **values: Any):
        clash = sorted(set(values) & {"given", "replace", "to_dict"})
        if clash:
            raise ValueError(f"{clash} cannot be names of flags: Settings has others so named.")
        self.__dict__.update(values, given=frozenset())

    def __setattr__(self, name: str, value: Any):
        raise AttributeError(f"Settings are frozen; use settings.replace({name}=...).")

    def __delattr__(self, name: str):
        raise AttributeError(f"Settings are frozen; {name!r} cannot be removed.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in sorted(self.to_dict().items()))
        return f"Settings({values})"

    def to_dict(self) -> Dict[str, Any]:
        """Returns the values by name, as a new dict."""
        return {name: value for name, value in self.__dict__.items() if name != "given"}

    def replace(self, **changes: Any) -> "Settings":
        """Returns a copy with some values changed.

        Raises:
          AttributeError: a name that is no flag of these settings.
        """
        values = self.to_dict()
        unknown = sorted(set(changes) - set(values))
        if unknown:
            raise AttributeError(f"No such settings: {unknown}. There are {sorted(values)}.")
        values.update(changes)
        return _with_given(type(self)(**values), self.given | set(changes))


def _with_given(settings: Settings, names: Iterable[str]) -> Settings:
    settings.__dict__["given"] = frozenset(names)
    return settings


DefineFlags = Callable[[flags.FlagValues], Optional[Type[Settings]]]


# ---------------------------------------------------------------------------------------------
# One function for each kind of flag; scripts use them for the flags that are theirs alone.


class _PathParser(flags.ArgumentParser):
    """Expands "~" in a path, or in each of several paths with commas between them."""

    syntactic_help = "a path, relative, absolute, or gs://"

    def parse(self, argument: str) -> str:
        paths = os.fspath(argument).split(",")
        return ",".join(os.path.expanduser(part.strip()) for part in paths)


def boolean(flag_values: flags.FlagValues, name: str, default: Optional[bool], *, help: str):
    """Defines a flag that is on (`--name`) or off (`--noname`)."""
    flags.DEFINE_boolean(name, default, help, flag_values=flag_values)


def integer(
    flag_values: flags.FlagValues,
    name: str,
    default: Optional[int],
    *,
    help: str,
    lower_bound: Optional[int] = None,
    upper_bound: Optional[int] = None,
):
    """Defines a flag for a whole number between the bounds, both included."""
    flags.DEFINE_integer(
        name,
        default,
        help,
        lower_bound=lower_bound,
        upper_bound=upper_bound,
        flag_values=flag_values,
    )


def floating(
    flag_values: flags.FlagValues,
    name: str,
    default: Optional[float],
    *,
    help: str,
    lower_bound: Optional[float] = None,
    upper_bound: Optional[float] = None,
):
    """Defines a flag for a number between the bounds, both included."""
    flags.DEFINE_float(
        name,
        default,
        help,
        lower_bound=lower_bound,
        upper_bound=upper_bound,
        flag_values=flag_values,
    )
    if lower_bound is not None or upper_bound is not None:  # NaN lies between any bounds
        flags.register_validator(
            name,
            lambda value: value is None or math.isfinite(value),
            message=f"--{name} must be a finite number",
            flag_values=flag_values,
        )


def string(flag_values: flags.FlagValues, name: str, default: Optional[str], *, help: str):
    """Defines a flag for a text that is no path."""
    flags.DEFINE_string(name, default, help, flag_values=flag_values)


def choice(
    flag_values: flags.FlagValues,
    name: str,
    default: Optional[str],
    *,
    choices: Sequence[str],
    help: str,
):
    """Defines a flag that takes one of a few words."""
    flags.DEFINE_enum(name, default, list(choices), help, flag_values=flag_values)


def path(
    flag_values: flags.FlagValues,
    name: str,
    default: Optional[str] = None,
    *,
    help: str,
    required: bool = False,
):
    """Defines a flag for a path, or paths with commas between them; "~" is the home folder."""
    flags.DEFINE(_PathParser(), name, default, help, flag_values, flags.ArgumentSerializer())
    if required:
        require(flag_values, name)


def require(flag_values: flags.FlagValues, *names: str):
    """Makes each of the flags `names` one that must be given, and not empty."""
    for name in names:
        flags.register_validator(name, bool, f"--{name} must be given.", flag_values=flag_values)


# ---------------------------------------------------------------------------------------------
# Flags that several scripts share. A script names those it has, by giving their defaults.

_Table = Dict[str, Tuple[Callable[..., None], Dict[str, Any]]]

_TRAINING_FLAGS: _Table = {
    "do_train": (boolean, {"help": "Train."}),
    "do_eval": (boolean, {"help": "Evaluate every checkpoint in --output_dir."}),
    "do_predict": (boolean, {"help": "Predict with the best checkpoint."}),
    "max_seq_length": (
        integer,
        {
            "lower_bound": 4,
            "help": "Length of an input in pieces, the separators included. Longer input is cut, "
            "shorter input is padded. Records must have been made with the same length.",
        },
    ),
    "train_batch_size": (
        integer,
        {
            "lower_bound": 1,
            "help": "Examples in one update, over all devices, hosts and micro-batches.",
        },
    ),
    "eval_batch_size": (
        integer,
        {"lower_bound": 1, "help": "Examples in a batch of evaluation."},
    ),
    "predict_batch_size": (
        integer,
        {"lower_bound": 1, "help": "Examples in a batch of prediction."},
    ),
    "optimizer": (choice, {"choices": OPTIMIZERS, "help": "The optimiser."}),
    "learning_rate": (
        floating,
        {"lower_bound": 0.0, "help": "The learning rate at the end of warm-up."},
    ),
    "save_checkpoints_steps": (
        integer,
        {"lower_bound": 1, "help": "Steps between checkpoints."},
    ),
    "save_checkpoints_minutes": (
        floating,
        {
            "lower_bound": 0.0,
            "help": "Minutes after which a checkpoint is written beside those of "
            "--save_checkpoints_steps; 0 is off.",
        },
    ),
    "keep_checkpoint_max": (
        integer,
        {"lower_bound": 0, "help": "Newest checkpoints to keep; 0 keeps all."},
    ),
    "wait_for_checkpoints_minutes": (
        floating,
        {
            "lower_bound": 0.0,
            "help": "With --do_eval while another process trains into the same --output_dir: how "
            "long to wait for each next checkpoint. 0 evaluates those there are, and ends.",
        },
    ),
}

_FINE_TUNING_FLAGS: _Table = {
    "train_step": (integer, {"lower_bound": 1, "help": "Updates to make in all."}),
    "warmup_step": (integer, {"lower_bound": 0, "help": "Updates of the warm-up."}),
    "num_train_epochs": (
        floating,
        {
            "lower_bound": 0.0,
            "help": "Passes over the training data; where it is above 0, in place of the number "
            "of updates.",
        },
    ),
    "warmup_proportion": (
        floating,
        {
            "lower_bound": 0.0,
            "upper_bound": 1.0,
            "help": "Share of the updates that are warm-up, in place of the number.",
        },
    ),
    "layerwise_lr_decay": (
        floating,
        {
            "lower_bound": 0.0,
            "upper_bound": 1.0,
            "help": "Factor of the learning rate from each group of layers to the one below; the "
            "head has the full rate. 1 is off.",
        },
    ),
    "padding": (
        choice,
        {
            "choices": PADDINGS,
            "help": "longest: each batch as long as its longest input, with the same results as "
            "max (in training only without dropout in the encoder, whose masks depend on the "
            "shape); bucket: also, inputs of like length share a batch; max: all as long as "
            "--max_seq_length. By default longest, on a TPU max.",
        },
    ),
    "keep_checkpoint_max": (
        integer,
        {
            "lower_bound": 0,
            "help": "Newest checkpoints to keep beside the best one; 0 keeps all. Training keeps "
            "all, for evaluation needs them: the rest goes after --do_train with --do_eval.",
        },
    ),
    "cached_dir": (
        path,
        {"help": "Folder for the features of the data; --output_dir by default."},
    ),
    "checkpoint": (
        path,
        {"help": "Evaluate or predict with this one: a checkpoint's path prefix or a folder."},
    ),
}

_FINE_TUNING_DEFAULTS = {
    "num_train_epochs": None,
    "warmup_proportion": None,
    "layerwise_lr_decay": 1.0,
    "padding": None,
    "cached_dir": None,
    "checkpoint": None,
}

_RUNTIME_FLAGS: _Table = {
    "precision": (
        choice,
        {
            "choices": PRECISIONS,
            "help": "Type of the products and activations. Weights, optimiser state, statistics of "
            "LayerNorm and losses are float32 in any case.",
        },
    ),
    "recompute": (
        boolean,
        {"help": "Compute a layer's activations again in the backward pass: less memory."},
    ),
    "use_xla": (
        boolean,
        {
            "help": "Compile element-wise parts by XLA. Without effect on a TPU, where all is. By "
            "default fine-tuning on TensorFlow 1.15 leaves it where it would take longer than it "
            "saves.",
        },
    ),
    "gradient_accumulation_steps": (
        integer,
        {
            "lower_bound": 1,
            "help": "Split the batch of one update into this many, one after another: less memory.",
        },
    ),
    "distribution_strategy": (
        choice,
        {
            "choices": DISTRIBUTION_STRATEGIES,
            "help": "none: train on one device, or on a TPU; mirrored: on the GPUs of this host; "
            "multi_worker: on those of several hosts, a process on each, which TF_CONFIG names. "
            "--train_batch_size is that of all together. Evaluation and prediction run on one "
            "device of the first host.",
        },
    ),
    "num_devices": (
        integer,
        {
            "lower_bound": 1,
            "help": "Devices that --distribution_strategy=mirrored uses; by default all GPUs. "
            "Without a GPU, so many parts of the CPU, to try it.",
        },
    ),
    "worker_patience_seconds": (
        floating,
        {
            "lower_bound": 1.0,
            "help": "With --distribution_strategy=multi_worker: how long a worker may be out of "
            "reach before the others end; by default 60.",
        },
    ),
    "seed": (
        integer,
        {
            "lower_bound": 0,
            "upper_bound": 2**31 - 1,
            "help": "First weights, order and dropout depend on this number and the step alone.",
        },
    ),
    "log_steps": (
        integer,
        {"lower_bound": 1, "help": "Steps between two lines of the log."},
    ),
}

_RUNTIME_DEFAULTS = {
    "precision": "float32",
    "recompute": False,
    "use_xla": True,
    "gradient_accumulation_steps": 1,
    "distribution_strategy": "none",
    "num_devices": None,
    "worker_patience_seconds": None,
    "seed": 12345,
    "log_steps": 100,
}


def _define(
    table: _Table,
    flag_values: flags.FlagValues,
    defaults: Dict[str, Any],
):
    """Defines the flags of `table` for which there is a default."""
    unknown = sorted(set(defaults) - set(table))
    if unknown:
        raise ValueError(f"No shared flags of these names: {unknown}. There are {sorted(table)}.")
    for name, default in defaults.items():
        define, keywords = table[name]
        define(flag_values, name, default, **keywords)


def define_model_flags(flag_values: flags.FlagValues, *, config_required: bool = True):
    """Defines albert_dir, albert_config_file, init_checkpoint and perhaps albert_hub_module_handle.

    A script hands its settings to pretrained.released.completed, which fills in what the
    folder has.

    Args:
      flag_values: where to define them.
      config_required: False where a hub module may take the configuration's place.
    """
    path(
        flag_values,
        "albert_dir",
        help="Folder of a released archive, or of another model, or the name of a released model, "
        "such as base_v2: stands for --albert_config_file, --init_checkpoint and the vocabulary, "
        "where these are not given.",
    )
    path(
        flag_values,
        "albert_config_file",
        help="JSON file with the model's architecture; if it lies beside --init_checkpoint, it "
        "need not be named.",
    )
    path(
        flag_values,
        "init_checkpoint",
        help="Weights to start from: a checkpoint's path prefix, its .index file, or a folder such "
        "as a released archive's. Without it the first weights are random.",
    )
    if config_required:
        flags.register_multi_flags_validator(
            ["albert_config_file", "albert_dir", "init_checkpoint"],
            lambda values: any(values.values()),
            "--albert_config_file must be given, or --albert_dir, or --init_checkpoint with "
            "albert_config.json beside it.",
            flag_values=flag_values,
        )
    else:
        path(
            flag_values,
            "albert_hub_module_handle",
            help="TF-Hub module (a folder or an address) in place of --albert_config_file and "
            "--init_checkpoint; unless a vocabulary is named, its own is taken.",
        )


def define_tokenizer_flags(
    flag_values: flags.FlagValues,
    *,
    do_lower_case: bool = True,
    required: Sequence[str] = (),
):
    """Defines vocab_file, spm_model_file and do_lower_case.

    Args:
      flag_values: where to define them.
      do_lower_case: the default of that flag.
      required: which of the two files must be given.
    """
    path(
        flag_values,
        "vocab_file",
        help="Vocabulary, one piece a line. Without --spm_model_file text is cut by WordPiece.",
    )
    path(flag_values, "spm_model_file", help="SentencePiece model to cut the text with.")
    boolean(
        flag_values,
        "do_lower_case",
        do_lower_case,
        help="Make the text lower case. Must agree with what the model was trained on; where its "
        "folder records that, it need not be given.",
    )
    require(flag_values, *required)


def define_training_flags(flag_values: flags.FlagValues, **defaults: Any):
    """Defines output_dir (required) and those training flags for which a default is given.

    Args:
      flag_values: where to define them.
      **defaults: default by name; the names are the keys of the table above.

    Raises:
      ValueError: a name that is no shared flag.
    """
    path(
        flag_values,
        "output_dir",
        help="Folder for checkpoints, logs and results. Training goes on from what is in it.",
        required=True,
    )
    _define(_TRAINING_FLAGS, flag_values, defaults)


def define_fine_tuning_flags(flag_values: flags.FlagValues, **defaults: Any):
    """Defines the flags of every fine-tuning script, and those others a default is given for.

    Args:
      flag_values: where to define them.
      **defaults: default by name; the names are the keys of the table above.

    Raises:
      ValueError: a name that is no such flag.
    """
    values = dict(_FINE_TUNING_DEFAULTS)
    values.update(defaults)
    _define(_FINE_TUNING_FLAGS, flag_values, values)


_TASK_DEFAULTS = {
    "do_train": False,
    "do_predict": False,
    "max_seq_length": 512,
    "train_batch_size": 32,
    "predict_batch_size": 8,
    "optimizer": "adamw",
    "learning_rate": 5e-5,
    "save_checkpoints_steps": 1000,
    "save_checkpoints_minutes": 0.0,
    "wait_for_checkpoints_minutes": 0.0,
}


def define_task_flags(flag_values: flags.FlagValues, **defaults: Any):
    """Defines all that fine-tuning scripts share: the groups above, and those of TPU and runtime.

    Args:
      flag_values: where to define them.
      **defaults: those that differ, and of further training and fine-tuning flags.

    Raises:
      ValueError: a name that is no such flag.
    """
    values = dict(_TASK_DEFAULTS, **defaults)
    own = [name for name in values if name in _FINE_TUNING_FLAGS]
    of_fine_tuning = {name: values.pop(name) for name in own}
    define_model_flags(flag_values, config_required=False)
    define_tokenizer_flags(flag_values)
    define_training_flags(flag_values, **values)
    define_fine_tuning_flags(flag_values, **of_fine_tuning)
    define_tpu_flags(flag_values)
    define_runtime_flags(flag_values)


def define_tpu_flags(flag_values: flags.FlagValues, *, iterations_per_loop: int = 1000):
    """Defines use_tpu, the flags that say which TPU, and iterations_per_loop."""
    boolean(flag_values, "use_tpu", False, help="Train on a TPU; else on the CPU or a GPU.")
    string(flag_values, "tpu_name", None, help="Name or grpc:// address of the Cloud TPU.")
    string(
        flag_values,
        "tpu_zone",
        None,
        help="Zone of the Cloud TPU, if not this machine's.",
    )
    string(
        flag_values,
        "gcp_project",
        None,
        help="Project of the TPU, if not this machine's.",
    )
    string(flag_values, "master", None, help="Address of the TensorFlow master, if any.")
    integer(
        flag_values,
        "num_tpu_cores",
        8,
        lower_bound=1,
        help="Cores of the TPU; only with a TPU.",
    )
    integer(
        flag_values,
        "iterations_per_loop",
        iterations_per_loop,
        lower_bound=1,
        help="Updates a TPU makes for each call from the host; at most --save_checkpoints_steps.",
    )


def define_runtime_flags(flag_values: flags.FlagValues, **defaults: Any):
    """Defines precision, recompute, use_xla, how batches are split, seed and log_steps.

    Args:
      flag_values: where to define them.
      **defaults: defaults that differ from the usual ones.

    Raises:
      ValueError: a name that is no runtime flag.
    """
    values = dict(_RUNTIME_DEFAULTS)
    values.update(defaults)
    _define(_RUNTIME_FLAGS, flag_values, values)


def define_update_flags(flag_values: flags.FlagValues):
    """Defines the runtime flags that decide the memory of an update.

    These are precision, recompute and gradient_accumulation_steps.
    """
    names = ("precision", "recompute", "gradient_accumulation_steps")
    _define(_RUNTIME_FLAGS, flag_values, {name: _RUNTIME_DEFAULTS[name] for name in names})


def define_encoder_flags(flag_values: flags.FlagValues):
    """Defines the flags that name a pretrained model to run: embed's and fill_mask's."""
    define_model_flags(flag_values, config_required=False)
    define_tokenizer_flags(flag_values)
    integer(
        flag_values,
        "max_seq_length",
        None,
        lower_bound=4,
        help="Tokens of a text, with its special ones, that the model reads at most; by default as "
        "many as it has positions for.",
    )


def define_text_flags(flag_values: flags.FlagValues, *, output: str):
    """Defines the flags of a script that answers texts; `output` says what it writes."""
    path(flag_values, "input_file", "-", help="Texts, one line each; - is standard input.")
    string(
        flag_values,
        "columns",
        None,
        help="Where the input holds the text, or with a comma the two texts: numbers of columns "
        "(from 0), or names of JSON fields or of columns, which the first line then names.",
    )
    path(
        flag_values,
        "output_file",
        "-",
        help=f"File for the {output}, which is there when it is complete. - is standard output.",
    )
    integer(
        flag_values, "predict_batch_size", 32, lower_bound=1, help="Texts to run together at most."
    )
    choice(
        flag_values,
        "precision",
        "float32",
        choices=PRECISIONS,
        help="Type of the products and activations; a hub module has float32 alone.",
    )


# ---------------------------------------------------------------------------------------------
# From flags to a running script.


def _settings(
    flag_values: flags.FlagValues, names: Sequence[str], kind: Optional[Type[Settings]]
) -> Settings:
    settings = (kind or Settings)(**{name: flag_values[name].value for name in names})
    return _with_given(
        settings, (name for name in names if not flag_values[name].using_default_value)
    )


def _refuse_arguments(arguments: Sequence[str]):
    """Mostly these are `--flag True`, where a boolean flag needs `--flag=True`."""
    if arguments:
        raise ValueError(
            f"Unexpected arguments {list(arguments)}: every value needs its flag. Write "
            "--flag or --noflag or --flag=true, not '--flag true', for a flag that is on or off."
        )


def parse(
    define_flags: DefineFlags,
    argv: Sequence[str],
    *,
    others: Optional[str] = None,
) -> Settings:
    """Returns the settings for the arguments `argv`, without touching the process's own flags.

    Args:
      define_flags: the script's function of that name.
      argv: arguments without the program's name, such as ["--output_dir=/tmp/x", "--do_eval"].
      others: see `run`.

    Raises:
      ValueError: an unknown flag, a bad value, a required flag that is absent, a stray argument.
    """
    flag_values = flags.FlagValues()
    kind = define_flags(flag_values)
    flag_values.set_gnu_getopt(others is not None)
    try:
        rest = flag_values(["albert"] + list(argv), known_only=others is not None)
    except flags.Error as error:
        raise ValueError(str(error)) from error
    settings = _settings(flag_values, list(flag_values), kind)
    if others:
        return _with_others(settings, others, rest[1:])
    _refuse_arguments(rest[1:])
    return settings


def _with_others(settings: Settings, name: str, arguments: Sequence[str]) -> Settings:
    """The settings with the arguments that are not ours."""
    values = dict(settings.to_dict(), **{name: tuple(arguments)})
    return _with_given(Settings(**values), settings.given)


# ---------------------------------------------------------------------------------------------
# The process's own FLAGS, for programs that call a script's main as google-research/albert's.


class _Declared(NamedTuple):
    """A flag that `_declare` put on FLAGS."""

    flag: flags.Flag
    default: Any


_DECLARED: Dict[str, _Declared] = {}


class _OwnFlags(NamedTuple):
    """A script's flags, and the class of its settings, if it has one."""

    values: flags.FlagValues
    kind: Optional[Type[Settings]]


def _own_flags(define_flags: DefineFlags) -> _OwnFlags:
    flag_values = flags.FlagValues()
    return _OwnFlags(flag_values, define_flags(flag_values))


def _declare(define_flags: DefineFlags, module_name: str):
    """Defines on FLAGS those of a script's flags that are not there."""
    own = _own_flags(define_flags).values
    for name in own:
        if name not in flags.FLAGS:
            flag = own[name]
            flag.allow_override = True  # by a program's own flag of that name
            flag.validators = []  # another script's required flags are none of a program's concern
            flags.DEFINE_flag(flag, flags.FLAGS, module_name)
            _DECLARED[name] = _Declared(flag, flag.default)


def _withdraw_declared():
    """Takes from FLAGS what `_declare` put there: a command line has its own script's alone."""
    for name, declared in _DECLARED.items():
        if name in flags.FLAGS and flags.FLAGS[name] is declared.flag:
            delattr(flags.FLAGS, name)
    _DECLARED.clear()


def _is_set(name: str) -> bool:
    """Whether somebody chose a value for a flag on FLAGS."""
    if name not in flags.FLAGS:
        return False
    flag, declared = flags.FLAGS[name], _DECLARED.get(name)
    if declared and declared.flag is flag:
        return not flag.using_default_value or flag.default != declared.default
    return flag.value is not None  # a program's own flag


def _heard(own: flags.Flag) -> Any:
    """The value that FLAGS has for a script's flag."""
    value = flags.FLAGS[own.name].value
    if value is None:
        return None
    try:
        return own.parser.parse(value)
    except (ValueError, TypeError) as error:
        raise ValueError(f"--{own.name}={value}: {error}") from error


def _read_command_line():
    """Reads the process's arguments if nobody has, as tf.flags does.

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


def process_settings(define_flags: DefineFlags, *, whole: bool = True) -> Settings:
    """Returns the settings that the process's FLAGS make for a script.

    Args:
      define_flags: the script's function of that name.
      whole: whether they are for a run, which has required flags, or only for a part of one.

    Raises:
      ValueError: a value that the flag does not take, or a required flag that was not given.
    """
    _read_command_line()
    own, kind = _own_flags(define_flags)
    for name in filter(_is_set, own):
        own[name].value = _heard(own[name])
        declared, flag = _DECLARED.get(name), flags.FLAGS[name]
        # A default of the program's own flag is nobody's choice.
        own[name].using_default_value = flag.using_default_value and not (
            declared and declared.flag is flag
        )
    try:
        if whole:
            own.validate_all_flags()
    except flags.Error as error:
        raise ValueError(str(error)) from error
    return _settings(own, list(own), kind)


def reads_flags(define_flags: DefineFlags) -> Callable:
    """Decorates a script's `main(settings)`, so that it takes what existing programs give it.

    `main(None)` and `main(argv)`, as app.run calls it, read the process's FLAGS, on which the
    script's flags are defined from here on; anything else is the settings. Mistakes are raised.

    Args:
      define_flags: the script's function of that name.
    """

    def decorate(main: Callable[[Settings], Any]) -> Callable:
        _declare(define_flags, main.__module__)

        @functools.wraps(main)
        def main_of_flags(settings: Any) -> Any:
            if settings is not None and not isinstance(settings, (list, tuple)):
                return main(settings)
            # Where reading ended at a value without its flag, what follows was not read.
            rest = list(settings or ())[1:]
            if rest and not rest[0].startswith("-"):
                _refuse_arguments(rest)
            read = process_settings(define_flags)
            if not logging.getLogger("albert").handlers:
                _show_log(flags.FLAGS.verbosity)
            return main(read)

        return main_of_flags

    return decorate


# ---------------------------------------------------------------------------------------------
# Scripts that are started by themselves.


class _BarFriendlyHandler(logging.Handler):
    """Writes log lines above a progress bar instead of through it."""

    def emit(self, record: logging.LogRecord):
        tqdm.write(self.format(record), file=sys.stderr)


class _LineFormatter(logging.Formatter):
    """The time and the message; the level only where it is more than a notice."""

    def __init__(self):
        super().__init__("%(asctime)s %(message)s", "%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        if record.levelno < logging.WARNING:
            return line
        clock, message = line[:8], line[8:]
        return f"{clock} {record.levelname}:{message}"


def _is_news(record: logging.LogRecord) -> bool:
    """TPUEstimator logs, with a long stack, the error that it raises and that we report."""
    is_repeated = str(record.msg).startswith("Error recorded from")
    return not is_repeated or logging.getLogger("albert").level <= logging.DEBUG


def configure_logging(verbosity: int):
    """Shows this package's log lines on standard error, and TensorFlow's own as asked for.

    Args:
      verbosity: absl's --verbosity. Below 1 TensorFlow shows errors only, from 1 on everything.
    """
    _show_log(verbosity)
    tf.logging.set_verbosity(tf.logging.INFO if verbosity >= 1 else tf.logging.ERROR)
    logging.getLogger("tensorflow").addFilter(_is_news)


def _show_log(verbosity: int):
    logger = logging.getLogger("albert")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
    handler = _BarFriendlyHandler()
    handler.setFormatter(_LineFormatter())
    logger.addHandler(handler)
    logger.propagate = False
    logger.setLevel(logging.DEBUG if verbosity >= 1 else logging.INFO)


def _message(error: BaseException) -> str:
    """An error's own words: without the graph node and stack TensorFlow adds to its errors."""
    text = error.message if isinstance(error, tf.errors.OpError) else str(error)
    for noise in (
        "\n\t [[",
        "\n\nOriginal stack trace",
        "\n\nErrors may have originated",
    ):
        text = text.split(noise)[0]
    return text.strip() or type(error).__name__


def _guarded(main: Callable[[Settings], Optional[int]], settings: Settings, verbosity: int) -> int:
    """Calls `main`; a user's mistake becomes a line on standard error and a non-zero code."""
    try:
        return main(settings) or 0
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    except USER_ERRORS as error:
        if verbosity >= 1:
            traceback.print_exc()
        print(f"ERROR: {_message(error)}", file=sys.stderr)
        return 1


def _known_flags(arguments: List[str]) -> List[str]:
    """Reads the process's flags and returns the other arguments, where those are not mistakes."""
    try:
        return flags.FLAGS(arguments, known_only=True)
    except flags.Error as error:
        print(f"FATAL Flags parsing error: {error}", file=sys.stderr)
        sys.exit(1)


def run(
    main: Callable[[Any], Optional[int]],
    define_flags: DefineFlags,
    *,
    usage: str,
    positional: Optional[str] = None,
    others: Optional[str] = None,
):
    """Runs a script: reads the process's arguments, calls `main`, and exits with its code.

    A mistake of the user's (see USER_ERRORS) prints one line and exits with 1, with a traceback
    only under --verbosity=1; Ctrl-C exits with 130; SIGTERM and SIGUSR1 with 143, see stop_signals.

    Args:
      main: the script's function; what it returns, if anything, is the exit code.
      define_flags: defines the script's flags on the FlagValues it is given.
      usage: what --help prints above the flags.
      positional: the flag that an argument without a name stands for, if there is one.
      others: the name under which the settings hold, as a tuple, the arguments that are not flags
        of the script; `main` passes them on to what knows them. Without it they are refused.
    """
    _withdraw_declared()
    before = set(flags.FLAGS)
    kind = define_flags(flags.FLAGS)
    names = [name for name in flags.FLAGS if name not in before]
    for name in names + ["verbosity"]:
        # --help lists the flags that belong to the program that was started.
        flags.FLAGS.register_key_flag_for_module(sys.argv[0], flags.FLAGS[name])
    sys.modules["__main__"].__doc__ = usage
    # Flags may come after an argument only where there may be one: elsewhere it is a mistake.
    flags.FLAGS.set_gnu_getopt(positional is not None or others is not None)

    def start(argv: List[str]) -> int:
        verbosity = flags.FLAGS.verbosity
        configure_logging(verbosity)

        def checked(settings: Settings) -> Optional[int]:
            arguments = argv[1:]
            if positional and len(arguments) == 1 and not getattr(settings, positional):
                settings = settings.replace(**{positional: arguments.pop()})
            if others:
                return main(_with_others(settings, others, arguments))
            _refuse_arguments(arguments)
            return main(settings)

        with stop_signals.handled():
            return _guarded(checked, _settings(flags.FLAGS, names, kind), verbosity)

    try:
        app.run(start, flags_parser=_known_flags if others else app.parse_flags_with_usage)
    except SystemExit:
        # absl ends --help with 1, as if it were a mistake.
        if _HELP_FLAGS.isdisjoint(sys.argv[1:]):
            raise
        sys.exit(0)
