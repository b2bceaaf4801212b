# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Command-line flags: each shared flag defined once, and what is read from them.

A script has a function `define_flags(flag_values)`, which may return the class of its settings (a
frozen dataclass below `Settings` with a field for each flag), and a function `main(settings)`.
command_line.script starts it. Programs and tests in the same process call
`main(parse(define_flags, ["--flag=value", ...]))`. This module imports nothing heavy.
"""

import copy
import dataclasses
import math
import os
import re
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    List,
    Optional,
    Sequence,
    Tuple,
    Type,
)

from absl import flags

from albert.util import config_files, wording
from albert.util.errors import UserError

OPTIMIZERS = ("lamb", "adamw")
PRECISIONS = ("float32", "bfloat16", "float16")
PADDINGS = ("longest", "bucket", "max")
DISTRIBUTION_STRATEGIES = ("none", "mirrored", "multi_worker")


class Settings:
    """The values of a script's flags: one attribute for each flag, frozen.

    Attributes:
      given: names of the flags that were set; the others have their defaults.
    """

    given: FrozenSet[str] = frozenset()

    def __init__(self, **values: Any):
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any):
        raise AttributeError(f"Settings are frozen; use settings.replace({name}=...).")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in sorted(self.to_dict().items()))
        return f"Settings({values})"

    def to_dict(self) -> Dict[str, Any]:
        """Returns the values by name, as a new dict."""
        return {name: value for name, value in self.__dict__.items() if name != "given"}

    def given_values(self) -> Dict[str, Any]:
        """Returns the values of the flags that were set, by name, as a new dict."""
        return {name: value for name, value in self.to_dict().items() if name in self.given}

    def replace(self, **changes: Any) -> "Settings":
        """Returns a copy with some values changed; AttributeError for a name that is no flag."""
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


@dataclasses.dataclass(frozen=True)
class EncoderSettings(Settings):
    """The flags that name an encoder and its vocabulary, and its length."""

    albert_config_file: Optional[str]
    init_checkpoint: Optional[str]
    albert_hub_module_handle: Optional[str]
    vocab_file: Optional[str]
    spm_model_file: Optional[str]
    do_lower_case: bool
    max_seq_length: int


# ---------------------------------------------------------------------------------------------
# One function for each kind of flag; scripts use them for the flags that are theirs alone.


class _PathParser(flags.ArgumentParser):
    """Expands "~" in a path."""

    def parse(self, argument: str) -> str:
        return os.path.expanduser(argument)


class BadValueError(ValueError):
    """A value that a flag does not take; says which, and what the flag takes."""


class _Parser(flags.ArgumentParser):
    """A parser of absl's, with our words for what it does not take."""

    def __init__(self, *, parser: flags.ArgumentParser, takes: str, words: Sequence[str]):
        self.syntactic_help = parser.syntactic_help
        self._parser, self._takes, self._words = parser, takes, words

    def __getattr__(self, name: str) -> Any:
        """What absl asks of a kind of parser, such as enum_values for --helpxml."""
        if name.startswith("_"):  # a copy that is being made has no parser yet
            raise AttributeError(name)
        return getattr(self._parser, name)

    def flag_type(self) -> str:
        return self._parser.flag_type()

    def parse(self, argument: Any) -> Any:
        try:
            return self._parser.parse(argument)
        except (ValueError, TypeError, OverflowError) as error:
            hint = wording.did_you_mean(str(argument), self._words)
            raise BadValueError(f"{argument!r} is not {self._takes}.{hint}") from error


class _ListParser(flags.ArgumentParser):
    """Takes one or several values of another parser, with commas between them, as a text."""

    def __init__(self, parser: flags.ArgumentParser):
        self.syntactic_help, self._parser = parser.syntactic_help, parser

    def parse(self, argument: Any) -> str:
        parts = [part.strip() for part in str(argument).split(",")]
        if len(set(map(self._parser.parse, parts))) < len(parts):
            raise BadValueError(f"{argument!r} has a value twice.")
        return ",".join(parts)


def _explain(flag: flags.Flag, takes: str, words: Sequence[str] = ()):
    """Makes errors of a flag say what it takes."""
    flag.parser = _Parser(parser=flag.parser, takes=takes, words=words)


def _explain_number(flag: flags.Flag, limits: Sequence[str] = ()):
    parser: Any = flag.parser
    article = f"{parser.number_article} " * parser.syntactic_help.startswith(parser.number_name)
    _explain(flag, " ".join([article + parser.syntactic_help, *limits]))


def boolean(flag_values: flags.FlagValues, name: str, default: Optional[bool], *, help: str):
    """Defines a flag that is on (`--name`) or off (`--noname`)."""
    flags.DEFINE_boolean(name, default, help, flag_values=flag_values)
    _explain(flag_values[name], "true or false", ("true", "false"))


def integer(
    flag_values: flags.FlagValues, name: str, default: Optional[int], *, help: str, **bounds: Any
):
    """Defines a flag for a whole number from `lower_bound` to `upper_bound`, where given."""
    flags.DEFINE_integer(name, default, help, flag_values=flag_values, **bounds)
    _explain_number(flag_values[name])


def floating(
    flag_values: flags.FlagValues,
    name: str,
    default: Optional[float],
    *,
    help: str,
    **bounds: Any,
):
    """Defines a flag for a number from `lower_bound` to `upper_bound`, where given.

    With `below` or `above` among the bounds, these two are no values themselves.
    """
    above, below = bounds.pop("above", -math.inf), bounds.pop("below", math.inf)
    is_bounded = bounds or (above, below) != (-math.inf, math.inf)
    flags.DEFINE_float(name, default, help, flag_values=flag_values, **bounds)
    limits = [f"above {above}"] * (above > -math.inf) + [f"below {below}"] * (below < math.inf)
    _explain_number(flag_values[name], limits)
    if is_bounded:  # NaN lies between any bounds
        takes = " ".join(["a finite number", *limits])

        def is_within(value: float):
            if not above < value < below:
                raise UserError(f"{value} is not {takes}.")

        check(flag_values, name, is_within)


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
    _explain(flag_values[name], f"one of {', '.join(choices)}", choices)


def path(
    flag_values: flags.FlagValues,
    name: str,
    default: Optional[str] = None,
    *,
    help: str,
    required: bool = False,
):
    """Defines a flag for a path, or for several that files.split_paths separates."""
    flags.DEFINE(_PathParser(), name, default, help, flag_values, flags.ArgumentSerializer())
    if required:
        require(flag_values, name)


def several(flag_values: flags.FlagValues, *names: str):
    """Makes each flag take several values, with commas between them; its value is their text."""
    for name in names:
        flag = flag_values[name]
        flag.parser, flag.validators = _ListParser(flag.parser), []


def require(flag_values: flags.FlagValues, *names: str):
    """Makes each of the flags `names` one that must be given, and not empty; help says so."""
    for name in names:
        flags.register_validator(name, bool, f"--{name} must be given.", flag_values=flag_values)
    mark(flag_values, "required", *names)


def check(flag_values: flags.FlagValues, name: str, function: Callable[[Any], Any]):
    """Makes a value of a flag one that `function` takes, or raises ValueError with the message."""

    def is_taken(value: Any) -> bool:
        try:
            return value is None or function(value) is not False
        except ValueError as error:
            raise flags.ValidationError(f"--{name}: {error}") from error

    flags.register_validator(name, is_taken, flag_values=flag_values)


def mark(flag_values: flags.FlagValues, note: str, *names: str):
    """Puts a note, such as "required with --do_train", before the help of each of the flags."""
    for name in names:
        flag_values[name].help = f"({note}) {flag_values[name].help}"


def add_help(flag_values: flags.FlagValues, **texts: str):
    """Adds to the help of flags, by name, what is true of one script only."""
    for name, text in texts.items():
        flag_values[name].help += f" {text}"


# ---------------------------------------------------------------------------------------------
# Flags that several scripts share. A script names those it has, by giving their defaults.

_POSITIVE, _NOT_NEGATIVE, _SHARE = (
    {"lower_bound": 1},
    {"lower_bound": 0},
    {"lower_bound": 0.0, "upper_bound": 1.0},
)
# In float32 more is 1 or infinite, and less is 0: then 0 / 0 where a gradient has always been 0.
_BELOW_ONE = {"lower_bound": 0.0, "below": 0.9999999}
_SMALLEST, _LARGEST = 1e-30, 1e38
# Name -> kind, help, and what else defines it.
_SHARED: Dict[str, Tuple[Callable[..., None], str, Dict[str, Any]]] = {
    "do_train": (boolean, "Train.", {}),
    "do_eval": (boolean, "Evaluate every checkpoint in --output_dir.", {}),
    "do_predict": (boolean, "Predict with the best checkpoint.", {}),
    "max_seq_length": (
        integer,
        "Tokens of an input, special tokens included.",
        {"lower_bound": 4},
    ),
    "train_batch_size": (
        integer,
        "Examples in one update, over all devices, hosts and micro-batches.",
        _POSITIVE,
    ),
    "eval_batch_size": (integer, "Examples in a batch of evaluation.", _POSITIVE),
    "predict_batch_size": (integer, "Examples in a batch of prediction.", _POSITIVE),
    "optimizer": (choice, "The optimiser.", {"choices": OPTIMIZERS}),
    "learning_rate": (floating, "The learning rate at the end of warm-up.", _NOT_NEGATIVE),
    "weight_decay_rate": (
        floating,
        "Weight decay, of all weights but LayerNorm's and biases.",
        _NOT_NEGATIVE,
    ),
    "adam_beta_1": (
        floating,
        "Decay of the moving average of the gradients, of AdamW and LAMB.",
        _BELOW_ONE,
    ),
    "adam_beta_2": (floating, "Decay of the moving average of their squares.", _BELOW_ONE),
    "adam_epsilon": (
        floating,
        "What is added to the root of the latter.",
        {"above": _SMALLEST, "below": _LARGEST},
    ),
    "max_grad_norm": (
        floating,
        "The gradients of an update, all together, are scaled down to this norm where theirs is "
        "larger.",
        {"above": _SMALLEST, "below": _LARGEST},
    ),
    "save_checkpoints_steps": (integer, "Steps between checkpoints.", _POSITIVE),
    "save_checkpoints_minutes": (
        floating,
        "Minutes between further checkpoints, beside those of --save_checkpoints_steps; 0 is off.",
        _NOT_NEGATIVE,
    ),
    "keep_checkpoint_max": (
        integer,
        "Newest checkpoints to keep beside the best one; 0 keeps all.",
        _NOT_NEGATIVE,
    ),
    "wait_for_checkpoints_minutes": (
        floating,
        "To evaluate while another process trains into the same --output_dir: how long to wait "
        "for each next checkpoint. 0 evaluates those there are, and ends.",
        _NOT_NEGATIVE,
    ),
    "train_step": (integer, "Updates to make in all.", _POSITIVE),
    "warmup_step": (integer, "Updates of the warm-up.", _NOT_NEGATIVE),
    "num_train_epochs": (
        floating,
        "Passes over the training data.",
        _NOT_NEGATIVE,
    ),
    "warmup_proportion": (
        floating,
        "Share of the updates that are warm-up.",
        _SHARE,
    ),
    "layerwise_lr_decay": (
        floating,
        "Factor of the learning rate from each group of layers to the one below; the head has "
        "the full rate. 1 is off.",
        _SHARE,
    ),
    "padding": (
        choice,
        "longest: each batch as long as its longest input, with the same results as max (in "
        "training only without dropout in the encoder, whose masks depend on the shape); bucket: "
        "also, inputs of like length share a batch; max: all as long as --max_seq_length.",
        {"choices": PADDINGS},
    ),
    "cached_dir": (path, "Folder for the features of the data; --output_dir by default.", {}),
    "checkpoint": (path, "Checkpoint to evaluate or predict with: a path prefix or a folder.", {}),
    "precision": (
        choice,
        "Type of the products and activations: bfloat16 on TPUs, on GPUs from Ampere (A100, RTX "
        "30) on, and on processors that have it; float16 on older GPUs (V100, T4), where training "
        "has a loss scale that adapts itself; float32 elsewhere. Weights, optimiser state, "
        "statistics of LayerNorm and losses are float32 in any case.",
        {"choices": PRECISIONS},
    ),
    "recompute": (
        boolean,
        "Compute a layer's activations again in the backward pass: less memory.",
        {},
    ),
    "use_xla": (
        boolean,
        "Compile element-wise parts by XLA. Without effect on a TPU, which compiles all.",
        {},
    ),
    "gradient_accumulation_steps": (
        integer,
        "Split the batch of one update into this many, one after another: less memory.",
        _POSITIVE,
    ),
    "distribution_strategy": (
        choice,
        "none: train on one device, or on a TPU; mirrored: on the GPUs of this host; "
        "multi_worker: on those of several hosts, a process on each, which TF_CONFIG names. "
        "--train_batch_size is that of all together. Evaluation and prediction run on one device "
        "of the first host.",
        {"choices": DISTRIBUTION_STRATEGIES},
    ),
    "num_devices": (
        integer,
        "Devices that --distribution_strategy=mirrored uses; by default all GPUs. On a CPU: "
        "the number of logical devices.",
        _POSITIVE,
    ),
    "worker_patience_seconds": (
        floating,
        "With --distribution_strategy=multi_worker: how long a worker may be out of reach "
        "before the others end; by default 60.",
        _POSITIVE,
    ),
    "seed": (
        integer,
        "First weights, order and dropout depend on this number and the step alone.",
        {"lower_bound": 0, "upper_bound": 2**31 - 1},
    ),
    "log_steps": (integer, "Steps between two lines of the log.", _POSITIVE),
}

_UPDATE_DEFAULTS = {"precision": "float32", "recompute": False, "gradient_accumulation_steps": 1}
_RUNTIME_DEFAULTS = {
    **_UPDATE_DEFAULTS,
    "weight_decay_rate": 0.01,
    "adam_beta_1": 0.9,
    "adam_beta_2": 0.999,
    "adam_epsilon": 1e-6,
    "max_grad_norm": 1.0,
    "use_xla": True,
    "distribution_strategy": "none",
    "num_devices": None,
    "worker_patience_seconds": None,
    "seed": 12345,
    "log_steps": 100,
}
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
    "num_train_epochs": None,
    "warmup_proportion": None,
    "layerwise_lr_decay": 1.0,
    "padding": None,
    "cached_dir": None,
    "checkpoint": None,
}


def _define(flag_values: flags.FlagValues, defaults: Dict[str, Any]):
    """Defines the shared flags for which there is a default."""
    unknown = sorted(set(defaults) - set(_SHARED))
    if unknown:
        raise UserError(f"No shared flags of these names: {unknown}. There are {sorted(_SHARED)}.")
    for name, default in defaults.items():
        define, text, options = _SHARED[name]
        define(flag_values, name, default, help=text, **options)


def _require_one(flag_values: flags.FlagValues, names: Sequence[str], message: str):
    """Requires one of the flags, or --nodo_train; `message` is shown with those of other flags."""
    flags.register_multi_flags_validator(
        names,
        lambda values: not values.pop("do_train", True) or any(values.values()),
        message,
        flag_values=flag_values,
    )


def _require_model(flag_values: flags.FlagValues, *others: str, only: Sequence[str] = ()):
    named = ", ".join(f"--{name}" for name in others)
    text = f"--albert_dir must be given (a name such as base_v2, or a folder), or one of {named}."
    _require_one(flag_values, ["albert_dir", *others, *only], text)


def define_model_flags(
    flag_values: flags.FlagValues, *, config_required: bool = True, is_trained: bool = True
):
    """Defines the flags that name a model.

    With `config_required` the configuration must be given by one of them; without, there is also
    albert_hub_module_handle. `is_trained`: weights may be random, and are what training starts
    from. `pretrained.released.completed` fills in what the named folder has.
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
        help=f"Weights{' to start from' if is_trained else ''}: a checkpoint's path prefix, its "
        ".index file, or a folder such as a released archive's.",
    )
    if is_trained:
        text = "With --albert_config_file alone the first weights are random."
        add_help(flag_values, init_checkpoint=text)
    if config_required:
        names = ["albert_config_file", "albert_dir", "init_checkpoint"]
        text = "or --albert_dir, or --init_checkpoint with albert_config.json beside it."
        _require_one(flag_values, names, f"--albert_config_file must be given, {text}")
        mark(flag_values, "one of three required", *names)
    else:
        path(
            flag_values,
            "albert_hub_module_handle",
            help="TF-Hub module (a folder or an address) in place of --albert_config_file and "
            "--init_checkpoint; unless a vocabulary is named, its own is taken.",
        )
        names = ["albert_dir", "init_checkpoint", "albert_hub_module_handle"]
        if is_trained:
            mark(flag_values, "one of four to train", *names, "albert_config_file")
        else:
            mark(flag_values, "one of three required", *names)


def define_tokenizer_flags(
    flag_values: flags.FlagValues, *, do_lower_case: bool = True, required: Sequence[str] = ()
):
    """Defines vocab_file, spm_model_file and do_lower_case; `required`: which must be given."""
    path(
        flag_values,
        "vocab_file",
        help="Vocabulary, one token a line. Without --spm_model_file text is cut by WordPiece.",
    )
    path(flag_values, "spm_model_file", help="SentencePiece model to cut the text with.")
    if "albert_hub_module_handle" in flag_values:
        add_help(flag_values, spm_model_file="from_tf_hub: that of the module.")
    boolean(
        flag_values,
        "do_lower_case",
        do_lower_case,
        help="Make the text lower case. Must agree with what the model was trained on; where its "
        "folder records that, it need not be given.",
    )
    require(flag_values, *required)


def _refuse_pattern(folder: str):
    if set(folder) & set("*?[\\"):
        raise UserError(f"TensorFlow takes {folder!r} for a pattern. Leave out *, ?, [ and \\.")


def define_training_flags(flag_values: flags.FlagValues, **defaults: Any):
    """Defines output_dir (required) and those shared flags for which a default is given.

    Raises:
      ValueError: a name that is no shared flag.
    """
    path(
        flag_values,
        "output_dir",
        help="Folder for checkpoints, logs and results. Training goes on from what is in it.",
        required=True,
    )
    check(flag_values, "output_dir", _refuse_pattern)
    _define(flag_values, defaults)


def define_task_flags(flag_values: flags.FlagValues, **defaults: Any):
    """Defines all that fine-tuning scripts share; `defaults`: those that differ, and further ones.

    Raises:
      ValueError: a name that is no shared flag.
    """
    define_model_flags(flag_values, config_required=False)
    define_tokenizer_flags(flag_values)
    define_training_flags(flag_values, **{**_TASK_DEFAULTS, **defaults})
    names = ("albert_config_file", "init_checkpoint", "albert_hub_module_handle")
    _require_model(flag_values, *names, only=["do_train"])
    define_tpu_flags(flag_values)
    define_runtime_flags(flag_values)
    text = "By default not on TensorFlow 1.15 where compiling takes longer than it saves."
    add_help(flag_values, use_xla=text, padding="By default longest, on a TPU max.")
    if "keep_checkpoint_max" in defaults:
        text = "All are kept until they have been evaluated."
        add_help(flag_values, keep_checkpoint_max=text)
    if "train_step" in defaults:
        add_help(
            flag_values,
            num_train_epochs="Above 0 it takes the place of --train_step.",
            warmup_proportion="It takes the place of --warmup_step.",
        )


def define_tpu_flags(flag_values: flags.FlagValues):
    """Defines use_tpu, the flags that say which TPU, and iterations_per_loop."""
    boolean(flag_values, "use_tpu", False, help="Train on a TPU; else on the CPU or a GPU.")
    for name, text in (
        ("tpu_name", "Name or grpc:// address of the Cloud TPU."),
        ("tpu_zone", "Zone of the Cloud TPU, if not this machine's."),
        ("gcp_project", "Project of the TPU, if not this machine's."),
        ("master", "Address of the TensorFlow master, if any."),
    ):
        string(flag_values, name, None, help=text)
    for name, default, text in (
        ("num_tpu_cores", 8, "Cores of the TPU; only with a TPU."),
        (
            "iterations_per_loop",
            1000,
            "Updates a TPU makes for each call from the host; at most --save_checkpoints_steps.",
        ),
    ):
        integer(flag_values, name, default, lower_bound=1, help=text)


def define_runtime_flags(flag_values: flags.FlagValues, **defaults: Any):
    """Defines the numbers of an update, precision, how batches are split, seed and the like.

    Raises:
      ValueError: a name that is no shared flag.
    """
    _define(flag_values, {**_RUNTIME_DEFAULTS, **defaults})


def define_update_flags(flag_values: flags.FlagValues):
    """Defines the runtime flags that decide the memory of an update."""
    _define(flag_values, _UPDATE_DEFAULTS)


def define_encoder_flags(flag_values: flags.FlagValues):
    """Defines the flags that name a pretrained model to run: embed's and fill_mask's."""
    define_model_flags(flag_values, config_required=False, is_trained=False)
    _require_model(flag_values, "init_checkpoint", "albert_hub_module_handle")
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
        help="Type of the products and activations: bfloat16 or float16 where the device is faster "
        "with it; a hub module has float32 alone.",
    )


# ---------------------------------------------------------------------------------------------
# From a command line to settings.

# Names that other projects give to flags of ours (docs/relatives.md) -> ours. A script takes those
# of the flags that it has.
ALIASES = {
    "bert_config_file": "albert_config_file",
    "config_path": "albert_config_file",
    "do_test": "do_predict",
    "max_ngram": "ngram",
    "max_seq_len": "max_seq_length",
    "max_steps": "train_step",
    "model_name_or_path": "albert_dir",
    "model_path": "init_checkpoint",
    "spm_model_path": "spm_model_file",
    "train_max_seq_length": "max_seq_length",
    "vocab_path": "vocab_file",
    "weight_decay": "weight_decay_rate",
}
_ARGUMENT = re.compile(r"--?(\w+)(=.*)?", re.DOTALL)


def with_our_names(flag_values: flags.FlagValues, arguments: Sequence[str]) -> List[str]:
    """Returns a script's arguments with our names in place of those in ALIASES.

    Raises:
      ValueError: a flag is given by two names with two values.
    """
    renamed = list(arguments)
    values: Dict[str, Dict[str, str]] = {}  # our name -> the name that was used -> its value
    for place, match in enumerate(map(_ARGUMENT.fullmatch, arguments)):
        used, value = match.groups() if match else ("", None)
        is_off = not {used} & {*flag_values, *ALIASES} and used.startswith("no")
        used = used[2 * is_off :]
        name = used if used in flag_values else ALIASES.get(used)
        if name not in flag_values or is_off > flag_values[name].boolean:
            continue
        if used != name:
            renamed[place] = f"--{'no' * is_off}{name}{value or ''}"
        if flag_values[name].boolean:
            value = (value or f"={not is_off}").lower()
        following = "=".join(["", *arguments[place + 1 : place + 2]])
        values.setdefault(name, {})[used] = value or following
    for name, given in values.items():
        if len(set(given.values())) > 1:
            both = " and ".join(f"--{used}{value}" for used, value in given.items())
            raise UserError(f"{both} are two values of one flag, --{name}. Give one.")
    return renamed


def settings_of(
    flag_values: flags.FlagValues,
    names: Sequence[str],
    kind: Optional[Type[Settings]],
    *,
    others: Optional[str] = None,
    rest: Sequence[str] = (),
) -> Settings:
    """Returns the settings of the flags `names`, of the class `kind`.

    They hold `rest`, the arguments that are no flags, under the name `others`; without that name
    such an argument is a ValueError.
    """
    values = {name: flag_values[name].value for name in names}
    if others:
        values[others] = tuple(rest)
    else:
        refuse_arguments(rest)
    given = (name for name in names if not flag_values[name].using_default_value)
    return _with_given((kind or Settings)(**values), given)


def refuse_arguments(arguments: Sequence[str]):
    """Raises ValueError for any; mostly it is `--flag True` for a flag that is on or off."""
    if arguments:
        raise UserError(
            f"Unexpected arguments {list(arguments)}: every value needs its flag. Write "
            "--flag or --noflag or --flag=true, not '--flag true', for a flag that is on or off."
        )


def parse(
    define_flags: DefineFlags,
    argv: Sequence[str],
    *,
    others: Optional[str] = None,
    fallback: Sequence[str] = (),
) -> Settings:
    """Returns the settings for the arguments `argv`, without touching the process's own flags.

    Args:
      define_flags: the script's function of that name.
      argv: arguments without the program's name, such as ["--output_dir=/tmp/x", "--do_eval"].
      others, fallback: see command_line.script.run.

    Raises:
      ValueError: an unknown flag, a bad value, a required flag that is absent, a stray argument.
    """
    flag_values = flags.FlagValues()
    kind = define_flags(flag_values)
    names = list(flag_values)
    flag_values.set_gnu_getopt(others is not None)
    arguments = ["albert", *argv]
    rest = read(flag_values, arguments, known_only=others is not None, fallback=fallback)
    return settings_of(flag_values, names, kind, others=others, rest=rest[1:])


def read(
    flag_values: flags.FlagValues,
    arguments: Sequence[str],
    *,
    positional: Optional[str] = None,
    known_only: bool = False,
    fallback: Sequence[str] = (),
) -> List[str]:
    """Sets the flags; returns the program's name and the arguments that are no flags.

    Args:
      positional: the flag that an argument without a name stands for, if there is one.
      known_only: leaves flags that are not defined among the other arguments.
      fallback: arguments over which the others win.

    Raises:
      ValueError: an unknown flag, a bad value, or a required flag that is absent.
    """
    matches = map(_ARGUMENT.fullmatch, arguments)
    is_named = positional in [match.group(1) for match in matches if match]
    try:
        ordered = _in_order(flag_values, arguments, fallback)
        rest = _set_flags(flag_values, ordered, known_only=known_only)
        if positional and len(rest) == 2 and not is_named:
            flag_values[positional].parse(rest.pop())
            flag_values[positional].using_default_value = False
            flag_values.validate_all_flags()
    except flags.Error as error:
        raise UserError(message(error, flag_values)) from error
    return rest


def message(error: flags.Error, flag_values: flags.FlagValues) -> str:
    """Returns an error of absl's in our words, in one line."""
    if isinstance(error, flags.UnrecognizedFlagError):
        hint = wording.did_you_mean(
            error.flagname, [name for name in flag_values if name[1:]], cutoff=0.6
        )
        return f"There is no flag --{error.flagname}.{hint}"
    text = str(error)
    if isinstance(error.__context__, BadValueError):
        return f"{text[len('flag ') : text.index('=')]}={error.__context__}"
    # Validators: a line for each, with the flags' values before the message, which names a flag.
    return " ".join(re.sub(r"^flags? (.*?: (?=--))?", "", line) for line in text.splitlines())


def _in_order(
    flag_values: flags.FlagValues, arguments: Sequence[str], fallback: Sequence[str]
) -> List[str]:
    """The program's name, and the flags of all origins, of which the later ones win."""
    # Here, and not when the flags are parsed: a flag file may hold a --config.
    rest = flag_values.read_flags_from_files(arguments[1:], force_gnu=False)
    arguments = with_our_names(flag_values, [*arguments[:1], *rest])
    arguments = config_files.expanded(arguments, flag_values, ALIASES)
    return [*arguments[:1], *fallback, *arguments[1:]]


def _set_flags(
    flag_values: flags.FlagValues, arguments: Sequence[str], *, known_only: bool
) -> List[str]:
    """Sets the flags; returns the program's name and the arguments that are no flags.

    Where such an argument ends the flags, a flag after it is not missing: it was not read. The
    error then names the argument.
    """
    try:
        return flag_values(arguments, known_only=known_only)
    except flags.Error:
        if flag_values.is_gnu_getopt():
            raise
        unchecked = copy.deepcopy(flag_values)
        for name in unchecked:
            unchecked[name].validators = []
        refuse_arguments(unchecked(arguments)[1:])
        raise
