# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Command-line flags: each shared flag defined once, and the way every script starts.

A script has a function `define_flags(flag_values)`, which may return the class of its settings (a
frozen dataclass below `Settings` with a field for each flag), a function `main(settings)`, and

    def cli():
        flags_lib.run(main, define_flags, usage=__doc__)

TensorFlow takes seconds to import. A script therefore imports first what its flags need, which is
light; then, if it is what was started, answers --help and what is wrong with the command line:

    if __name__ == "__main__":
        flags_lib.answer_early(define_flags, usage=__doc__)

and imports the rest below. This module and the settings modules import nothing heavy.

Programs and tests in the same process call `main(parse(define_flags, ["--flag=value", ...]))`.

Programs written for google-research/albert import a script, set tf.flags.FLAGS or parse a command
line, and call `main(None)` or `app.run(script.main)`. A script of that project decorates its main
by `@flags_lib.reads_flags(define_flags)`, which defines its flags on FLAGS when it is imported. Any
two scripts, and a program's own flags, go together: a name that is there already stays as it is,
and a program may define it anew later. Every `main` reads the values that were set on FLAGS; where
none was set it takes the script's own default, whatever FLAGS shows. Values are checked when `main`
runs.

Library modules report through `logging.getLogger(__name__)`; `run` shows the lines of this package
from the level INFO on, and TensorFlow's own notices only with `--verbose`.
"""

import copy
import dataclasses
import functools
import logging
import math
import os
import re
import sys
import traceback
from typing import (
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

from absl import app, flags

from albert import __version__
from albert.runtimes import quiet
from albert.util import commands, config_files, stop_signals

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
    """Expands "~" in a path, or in each of several paths with commas between them."""

    def parse(self, argument: str) -> str:
        paths = os.fspath(argument).split(",")
        return ",".join(os.path.expanduser(part.strip()) for part in paths)


def boolean(flag_values: flags.FlagValues, name: str, default: Optional[bool], *, help: str):
    """Defines a flag that is on (`--name`) or off (`--noname`)."""
    flags.DEFINE_boolean(name, default, help, flag_values=flag_values)


def integer(
    flag_values: flags.FlagValues, name: str, default: Optional[int], *, help: str, **bounds: Any
):
    """Defines a flag for a whole number from `lower_bound` to `upper_bound`, where given."""
    flags.DEFINE_integer(name, default, help, flag_values=flag_values, **bounds)


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
    if is_bounded:  # NaN lies between any bounds
        limits = [f"above {above}"] * (above > -math.inf) + [f"below {below}"] * (below < math.inf)
        flags.register_validator(
            name,
            lambda value: value is None or above < value < below,
            message=" ".join([f"--{name} must be a finite number", *limits]),
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
    """Makes each of the flags `names` one that must be given, and not empty; help says so."""
    for name in names:
        flags.register_validator(name, bool, f"--{name} must be given.", flag_values=flag_values)
    mark(flag_values, "required", *names)


def check(flag_values: flags.FlagValues, name: str, function: Callable[[str], Any]):
    """Makes a value of a flag one that `function` takes, or raises ValueError with the message."""

    def is_taken(value: Any) -> bool:
        try:
            return value is None or function(value) is not False
        except ValueError as error:
            raise flags.ValidationError(str(error)) from error

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
        "also, inputs of like length share a batch; max: all as long as --max_seq_length. By "
        "default longest, on a TPU max.",
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
        raise ValueError(f"No shared flags of these names: {unknown}. There are {sorted(_SHARED)}.")
    for name, default in defaults.items():
        define, text, options = _SHARED[name]
        define(flag_values, name, default, help=text, **options)


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
        flags.register_multi_flags_validator(
            names,
            lambda values: any(values.values()),
            "--albert_config_file must be given, or --albert_dir, or --init_checkpoint with "
            "albert_config.json beside it.",
            flag_values=flag_values,
        )
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
            mark(flag_values, "one of four required", *names, "albert_config_file")
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
    _define(flag_values, defaults)


def define_task_flags(flag_values: flags.FlagValues, **defaults: Any):
    """Defines all that fine-tuning scripts share; `defaults`: those that differ, and further ones.

    Raises:
      ValueError: a name that is no shared flag.
    """
    define_model_flags(flag_values, config_required=False)
    define_tokenizer_flags(flag_values)
    define_training_flags(flag_values, **{**_TASK_DEFAULTS, **defaults})
    define_tpu_flags(flag_values)
    define_runtime_flags(flag_values)
    text = "By default not on TensorFlow 1.15 where compiling takes longer than it saves."
    add_help(flag_values, use_xla=text)
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


# ---------------------------------------------------------------------------------------------
# Help.

_OWN = "This script"  # what no other group has
_GROUPS = {
    "What to do": "direction do_train do_eval do_predict list dry_run",
    "Data": "suite tasks task_name data_dir input_dir input_file input_file_mode text_field "
    "columns text text_a text_b eval_file train_file dev_file test_file predict_file task_file "
    "text_a_column text_b_column label_column guid_column header labels max_seq_length "
    "max_query_length max_qa_length doc_stride max_misaligned_answers high_only middle_only "
    "padding cached_dir train_feature_file predict_feature_file predict_feature_left_file "
    "split_sentences language user_dictionary dupe_factor short_seq_prob random_next_sentence "
    "random_seed shuffle_window_mb",
    "Masking": "masked_lm_prob masked_lm_budget max_predictions_per_seq do_whole_word_mask "
    "word_start ngram favor_shorter_ngram do_permutation",
    "Model": "name model_dir albert_directory albert_dir albert_config_file init_checkpoint "
    "albert_hub_module_handle share_type init_from_group0 checkpoint_name config_name "
    "spm_model_name spm_vocab_name vocab_file spm_model_file do_lower_case",
    _OWN: "",
    "Output": "output_dir output_file output_format pooling layer count json export_dir "
    "threshold_to_export export_path format model_prefix num_shards work_dir overwrite",
    "Training": "task num_labels batch train_batch_size train_step num_train_steps "
    "num_train_epochs warmup_step num_warmup_steps start_warmup_step warmup_proportion optimizer "
    "learning_rate weight_decay_rate adam_beta_1 adam_beta_2 adam_epsilon max_grad_norm poly_power "
    "layerwise_lr_decay dropout_prob seed seeds run_flags",
    "Evaluation and prediction": "checkpoint eval_batch_size predict_batch_size max_eval_steps "
    "eval_untrained metric metrics wait_for_checkpoints_minutes max_answer_length n_best_size "
    "start_n_top end_n_top null_score_diff_threshold",
    "Checkpoints": "save_checkpoints_steps save_checkpoints_minutes keep_checkpoint_max "
    "num_keep_checkpoint",
    "Memory and speed": "memory_gb runtime_gb precision recompute use_xla "
    "gradient_accumulation_steps num_processes",
    "Distribution": "distribution_strategy num_devices worker_patience_seconds master",
    "TPU": "use_tpu tpu_name tpu_zone gcp_project num_tpu_cores iterations_per_loop",
    "Log": "log_steps verbose",
    "This command line": "config",
}


def help_text(flag_values: flags.FlagValues, names: Sequence[str]) -> str:
    """Returns what --help shows of the flags `names`, by group."""
    groups = {
        group: [name for name in text.split() if name in names] for group, text in _GROUPS.items()
    }
    grouped = {name for members in groups.values() for name in members}
    groups[_OWN] = [name for name in names if name not in grouped]
    lines = []
    for group, members in groups.items():
        if members:
            lines.append(f"\n{group}:")
        for name in members:
            flag = flag_values[name]
            start = f"--[no]{name}" if flag.boolean else f"--{name}"
            default = "" if flag.default is None else f"default: {flag.default_as_str}"
            notes = "; ".join(filter(None, [flag.parser.syntactic_help, default]))
            text = f"{start}: {flag.help} ({notes})" if notes else f"{start}: {flag.help}"
            lines.append(flags.text_wrap(text, indent="      ", firstline_indent="  "))
    return "\n".join(lines)


def define_encoder_flags(flag_values: flags.FlagValues):
    """Defines the flags that name a pretrained model to run: embed's and fill_mask's."""
    define_model_flags(flag_values, config_required=False, is_trained=False)
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
# From flags to a running script.

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
        used = match.group(1) if match else None
        name = used if used in flag_values else ALIASES.get(used)
        if name not in flag_values:
            continue
        following = "=".join(["", *arguments[place + 1 : place + 2]])
        values.setdefault(name, {})[used] = match.group(2) or following
        if used != name:
            renamed[place] = f"--{name}{match.group(2) or ''}"
    for name, given in values.items():
        if len(set(given.values())) > 1:
            both = " and ".join(f"--{used}{value}" for used, value in given.items())
            raise ValueError(f"{both} are two values of one flag, --{name}. Give one.")
    return renamed


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
    fallback: Sequence[str] = (),
) -> Settings:
    """Returns the settings for the arguments `argv`, without touching the process's own flags.

    Args:
      define_flags: the script's function of that name.
      argv: arguments without the program's name, such as ["--output_dir=/tmp/x", "--do_eval"].
      others, fallback: see `run`.

    Raises:
      ValueError: an unknown flag, a bad value, a required flag that is absent, a stray argument.
    """
    flag_values = flags.FlagValues()
    kind = define_flags(flag_values)
    flag_values.set_gnu_getopt(others is not None)
    try:
        arguments = _in_order(flag_values, ["albert", *argv], fallback)
        rest = _set_flags(flag_values, arguments, known_only=others is not None)
    except flags.Error as error:
        raise ValueError(str(error)) from error
    settings = _settings(flag_values, list(flag_values), kind)
    if others:
        return _with_others(settings, others, rest[1:])
    _refuse_arguments(rest[1:])
    return settings


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
        _refuse_arguments(unchecked(arguments)[1:])
        raise


def _with_others(settings: Settings, name: str, arguments: Sequence[str]) -> Settings:
    """The settings with the arguments that are not ours, for which their class has a default."""
    values = dict(settings.to_dict(), **{name: tuple(arguments)})
    return _with_given(type(settings)(**values), settings.given)


# ---------------------------------------------------------------------------------------------
# The process's own FLAGS, for programs that call a script's main as google-research/albert's.


class _Declared(NamedTuple):
    """A flag that `_declare` put on FLAGS."""

    flag: flags.Flag
    default: Any


_DECLARED: Dict[str, _Declared] = {}


def _declare(define_flags: DefineFlags, module_name: str):
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


def _withdraw_declared():
    """Takes from FLAGS what `_declare` put there: a command line has its own script's alone."""
    for name, declared in _DECLARED.items():
        if name in flags.FLAGS and flags.FLAGS[name] is declared.flag:
            delattr(flags.FLAGS, name)
    _DECLARED.clear()


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
        raise ValueError(f"--{own.name}={value}: {error}") from error


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


def process_settings(define_flags: DefineFlags, *, whole: bool = True) -> Settings:
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
        raise ValueError(str(error)) from error
    return _settings(own, list(own), kind)


def reads_flags(define_flags: DefineFlags) -> Callable:
    """Decorates a script's `main(settings)`, so that it takes what existing programs give it.

    `main(None)` and `main(argv)`, as app.run calls it, read the process's FLAGS, on which the
    script's flags are defined from here on; anything else is the settings. Mistakes are raised.
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
        from tqdm import tqdm

        tqdm.write(self.format(record), file=sys.stderr)


class _LineFormatter(logging.Formatter):
    """The time and the message; the level only from warnings on."""

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
    """Shows this package's log lines on standard error, and TensorFlow's own from verbosity 1."""
    import tensorflow.compat.v1 as tf

    _show_log(verbosity)
    tf.logging.set_verbosity(tf.logging.INFO if verbosity >= 1 else tf.logging.ERROR)
    # Parts of TensorFlow and tensorflow-hub log there.
    logging.getLogger("absl").setLevel(logging.INFO if verbosity >= 1 else logging.WARNING)
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


def user_errors() -> Tuple[Type[BaseException], ...]:
    """Returns the exceptions that a script shows as one-line errors: a user's mistakes."""
    import tensorflow.compat.v1 as tf

    return (ValueError, OSError, ArithmeticError, tf.errors.OpError)


def _message(error: BaseException) -> str:
    """An error's own words: without the graph node and stack TensorFlow adds to its errors."""
    import tensorflow.compat.v1 as tf

    text = error.message if isinstance(error, tf.errors.OpError) else str(error)
    # TensorFlow 2 begins with the lines of Python that made the node.
    text = re.sub(r"(?s)^Graph execution error:.*\nNode: '[^']*'\n", "", text)
    for noise in ("\n\t [[", "\n\nOriginal stack trace", "\n\nErrors may have originated"):
        text = text.split(noise)[0]
    return text.strip() or type(error).__name__


def _guarded(main: Callable[[Settings], Optional[int]], settings: Settings, verbosity: int) -> int:
    """Calls `main`; a user's mistake becomes a line on standard error and a non-zero code."""
    try:
        return main(settings) or 0
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    except user_errors() as error:
        if verbosity >= 1:
            traceback.print_exc()
        print(f"ERROR: {_message(error)}", file=sys.stderr)
        return 1


class _HelpFlag(flags.BooleanFlag):
    """Prints a text and ends the script with 0; absl's own ends with 1, as a mistake would."""

    def __init__(self, name: str, purpose: str, text: Callable[[], str]):
        short = "?" if name == "help" else None
        super().__init__(name, False, purpose, short_name=short, allow_override=True)
        self._text = text

    def parse(self, argument: Any) -> None:
        """Called where the flag is given."""
        if self._parse(argument):
            commands.show(self._text())
            sys.exit(0)


class _CommandLine(NamedTuple):
    """How a script reads its arguments; see `run`."""

    define_flags: DefineFlags
    usage: str
    positional: Optional[str]
    others: Optional[str]
    fallback: Sequence[str]

    def define(self, flag_values: flags.FlagValues) -> Tuple[Optional[Type[Settings]], List[str]]:
        """Defines the script's flags and --help; returns the settings' class and flags' names."""
        before = set(flag_values)
        kind = self.define_flags(flag_values)
        names = [name for name in flag_values if name not in before]
        flags.DEFINE_multi_string(
            config_files.FLAG,
            None,
            "TOML file with flags: train_batch_size = 32. Flags of the command line win, and of "
            "several files the last.",
            flag_values=flag_values,
        )
        flags.DEFINE_boolean(
            "verbose",
            False,
            "Show TensorFlow's own lines, and tracebacks.",
            flag_values=flag_values,
        )
        own = functools.partial(help_text, flag_values, [*names, config_files.FLAG, "verbose"])
        helps: Dict[str, Callable[[], str]]
        helps = {"help": own, "h": own, "helpshort": own, "helpfull": flag_values.get_help}
        for name, text in helps.items():
            answer = functools.partial(self._help, text)
            flags.DEFINE_flag(_HelpFlag(name, "Show the flags.", answer), flag_values)
        version = _HelpFlag("version", "Show albert's version.", lambda: __version__)
        flags.DEFINE_flag(version, flag_values)
        # Flags may come after an argument only where there may be one: elsewhere it is a mistake.
        flag_values.set_gnu_getopt(self.positional is not None or self.others is not None)
        return kind, names

    def _help(self, flags_text: Callable[[], str]) -> str:
        return f"{commands.as_started(self.usage)}\n{flags_text()}"

    def read(self, flag_values: flags.FlagValues, arguments: List[str]) -> List[str]:
        """Sets the flags; returns the other arguments, after the first; exits at a mistake."""
        matches = map(_ARGUMENT.fullmatch, arguments)
        is_named = self.positional in [match.group(1) for match in matches if match]
        try:
            arguments = _in_order(flag_values, arguments, self.fallback)
            rest = _set_flags(flag_values, arguments, known_only=self.others is not None)
            if self.positional and len(rest) == 2 and not is_named:
                flag = flag_values[self.positional]
                flag.parse(rest.pop())
                flag.using_default_value = False
                flag_values.validate_all_flags()
        except (flags.Error, ValueError) as error:
            print(f"FATAL Flags parsing error: {error}\n--help shows the flags.", file=sys.stderr)
            sys.exit(1)
        return rest

    def completed(self, settings: Settings, arguments: List[str]) -> Settings:
        """Returns the settings with the arguments that are no flags; ValueError for stray ones."""
        if self.others:
            return _with_others(settings, self.others, arguments)
        _refuse_arguments(arguments)
        return settings


def answer_early(
    define_flags: DefineFlags,
    *,
    usage: str,
    positional: Optional[str] = None,
    others: Optional[str] = None,
    fallback: Sequence[str] = (),
):
    """Exits where the process's arguments ask for help or have a mistake that flags can tell.

    Otherwise TensorFlow is imported, without its notices unless they are asked for.

    For a script's head, above the imports that take seconds; the arguments are those of `run`,
    which reads the command line again, into FLAGS. That is left as it is: flags that may be given
    several times would have each value twice.
    """
    command_line = _CommandLine(define_flags, usage, positional, others, fallback)
    app.define_help_flags()
    early = copy.deepcopy(flags.FLAGS)  # has the flags of absl
    kind, names = command_line.define(early)
    arguments = command_line.read(early, list(sys.argv))[1:]
    try:
        command_line.completed(_settings(early, names, kind), arguments)
    except ValueError as error:
        print(f"ERROR: {error}", file=sys.stderr)
        sys.exit(1)
    quiet.import_tensorflow(is_verbose=_verbosity(early) >= 1)


def _verbosity(flag_values: flags.FlagValues) -> int:
    return max(flag_values.verbosity, int(flag_values.verbose))


def run(
    main: Callable[[Any], Optional[int]],
    define_flags: DefineFlags,
    *,
    usage: str,
    positional: Optional[str] = None,
    others: Optional[str] = None,
    fallback: Sequence[str] = (),
):
    """Runs a script: reads the process's arguments, calls `main`, and exits with its code.

    A mistake of the user's (see user_errors) prints one line and exits with 1, with a traceback
    only under --verbose; Ctrl-C exits with 130; SIGTERM and SIGUSR1 with 143, see stop_signals.

    Args:
      main: the script's function; what it returns, if anything, is the exit code.
      define_flags: defines the script's flags on the FlagValues it is given.
      usage: what --help prints above the flags.
      positional: the flag that an argument without a name stands for, if there is one.
      others: the name under which the settings hold, as a tuple, the arguments that are not flags
        of the script; `main` passes them on. Without it they are refused.
      fallback: arguments over which those of the process and of --config win.
    """
    command_line = _CommandLine(define_flags, usage, positional, others, fallback)
    _withdraw_declared()
    app.define_help_flags()
    kind, names = command_line.define(flags.FLAGS)

    def start(argv: List[str]) -> int:
        verbosity = _verbosity(flags.FLAGS)
        configure_logging(verbosity)

        def completed_main(settings: Settings) -> Optional[int]:
            return main(command_line.completed(settings, argv[1:]))

        with stop_signals.handled():
            return _guarded(completed_main, _settings(flags.FLAGS, names, kind), verbosity)

    app.run(start, flags_parser=functools.partial(command_line.read, flags.FLAGS))
