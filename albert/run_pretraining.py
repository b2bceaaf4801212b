# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretrains ALBERT on records made by create_pretraining_data, and evaluates it.

  python -m albert.run_pretraining --albert_config_file=albert/configs/albert_base_v2.json \\
      --input_file='data/train*.tf_record' --eval_file='data/eval*.tf_record' \\
      --output_dir=output/base --max_seq_length=128 --train_batch_size=32 --do_train --do_eval

Training goes on from the newest checkpoint in --output_dir, exactly as if it had never stopped: the
same command after a crash ends in the same weights. Evaluation writes eval_results.txt and
eval_results.json, and keeps the checkpoint with the best masked_lm_accuracy as model.ckpt-best.
Progress is shown on the terminal, recorded for TensorBoard, and kept in training_curve.csv.
"""

import dataclasses
import functools
import logging
import math
import os
from typing import Any, Callable, List, NamedTuple, Optional, Tuple, Type

from absl import flags

from albert.command_line import process_flags, script
from albert.training.settings import TrainingSettings
from albert.util import flags as flags_lib
from albert.util.errors import UserError


@dataclasses.dataclass(frozen=True)
class PretrainingSettings(TrainingSettings):
    """The script's flags."""

    input_file: str
    eval_file: Optional[str]
    do_eval: bool
    eval_batch_size: int
    keep_checkpoint_max: int
    max_predictions_per_seq: int
    masked_lm_budget: float
    spm_model_file: Optional[str]
    vocab_file: Optional[str]
    poly_power: float
    num_train_steps: int
    num_warmup_steps: int
    start_warmup_step: int
    max_eval_steps: int
    eval_untrained: bool
    share_type: Optional[str]
    init_from_group0: bool
    padding: str
    until_step: Optional[int]
    train_layers: Optional[int]

    @property
    def last_step(self) -> int:
        """The step at which this run ends; the schedule may go on."""
        return min(self.until_step or self.num_train_steps, self.num_train_steps)


_INTEGERS = (
    (
        "max_predictions_per_seq",
        20,
        1,
        "Slots for masked tokens in a record; twice that of the data creation when the records "
        "were made with --do_permutation.",
    ),
    ("num_train_steps", 125000, 1, "Updates to make in all."),
    ("num_warmup_steps", 3125, 0, "Updates of the warm-up."),
    ("start_warmup_step", 0, 0, "Step at which warm-up begins."),
    ("max_eval_steps", 100, 1, "Batches to evaluate at most."),
)  # name, default, lower bound, help


def define_flags(flag_values: flags.FlagValues) -> Type[PretrainingSettings]:
    """Defines the script's flags; returns the class of its settings."""
    flags_lib.define_model_flags(flag_values)
    flags_lib.path(
        flag_values,
        "input_file",
        required=True,
        help="Records to train on: files and patterns, with commas between them.",
    )
    flags_lib.path(
        flag_values,
        "eval_file",
        help="Records to evaluate on; without it, those of --input_file.",
    )
    flags_lib.define_training_flags(
        flag_values,
        do_train=True,
        do_eval=False,
        max_seq_length=512,
        train_batch_size=4096,
        eval_batch_size=64,
        optimizer="lamb",
        learning_rate=0.00176,
        save_checkpoints_steps=5000,
        save_checkpoints_minutes=0.0,
        keep_checkpoint_max=5,
        wait_for_checkpoints_minutes=0.0,
        padding="max",
    )
    for name, default, lower_bound, text in _INTEGERS:
        flags_lib.integer(flag_values, name, default, lower_bound=lower_bound, help=text)
    flags_lib.floating(
        flag_values, "poly_power", 1.0, lower_bound=0.0, help="Power of the learning rate's decay."
    )
    _define_masking_flags(flag_values)
    flags_lib.add_help(
        flag_values,
        max_seq_length="Records must have been made with this length.",
        padding="With bucket each host reads all records.",
    )
    flags_lib.boolean(
        flag_values,
        "eval_untrained",
        False,
        help="Evaluate model.ckpt-0 too, from before the first step. It is never the best.",
    )
    _define_layer_flags(flag_values)
    flags_lib.define_tpu_flags(flag_values)
    flags_lib.define_runtime_flags(flag_values)
    return PretrainingSettings


def _define_layer_flags(flag_values: flags.FlagValues):
    """What layers share, and what lets runs follow each other that train more and more of them."""
    flags_lib.string(
        flag_values,
        "share_type",
        None,
        help="What the layers share, in place of the configuration's share_type: all, attention, "
        "ffn or none.",
    )
    flags_lib.boolean(
        flag_values,
        "init_from_group0",
        False,
        help="Start every layer group from the one group of --init_checkpoint.",
    )
    flags_lib.integer(
        flag_values,
        "until_step",
        None,
        lower_bound=1,
        help="End at this step of --num_train_steps; the next run with the same --output_dir goes "
        "on, also with longer records or more layers.",
    )
    flags_lib.integer(
        flag_values,
        "train_layers",
        None,
        lower_bound=1,
        help="Train with so many of the layers, which share their weights (arXiv:2010.12562). "
        "Checkpoints are those of the whole model, and are evaluated with all layers.",
    )


def _define_masking_flags(flag_values: flags.FlagValues):
    """Masks that are drawn on the fly."""
    flags_lib.floating(
        flag_values,
        "masked_lm_budget",
        0.0,
        lower_bound=0.0,
        upper_bound=1.0,
        help="If above 0: masks are drawn anew in each pass, those in the records are undone. The "
        "number is the ratio of masked tokens to unmasked ones: 0.1765 masks 15%. What is masked "
        "together (n-grams, whole words) is as the records' creation was told.",
    )
    flags_lib.path(
        flag_values,
        "spm_model_file",
        help="SentencePiece model of the records, which is put into --output_dir. Only for records "
        "that were not made by create_pretraining_data, or without its hidden files beside them.",
    )
    flags_lib.path(
        flag_values,
        "vocab_file",
        help="WordPiece vocabulary of the records, in place of --spm_model_file.",
    )


if __name__ == "__main__":  # before TensorFlow is imported
    script.answer_early(define_flags, usage=__doc__)

import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.configs import published
from albert.data import batches, record_files
from albert.pretrained import model_vocabulary, released
from albert.pretraining import model as pretraining_utils
from albert.pretraining import words
from albert.training import distribution, estimators, hooks, model_fn
from albert.training import evaluation as checkpoint_evaluator
from albert.util import config_files, wording

_LOGGER = logging.getLogger("albert")

# Names under which existing programs know these.
get_masked_lm_output = modeling.get_masked_lm_output
get_sentence_order_output = modeling.get_sentence_order_output
gather_indexes = modeling.gather_indexes

# ---------------------------------------------------------------------------------------------
# Functions that existing programs call by these names and arguments.


def model_fn_builder(
    albert_config,
    init_checkpoint,
    learning_rate,
    num_train_steps,
    num_warmup_steps,
    use_tpu,
    use_one_hot_embeddings,
    optimizer="lamb",
    poly_power=1.0,
    start_warmup_step=0,
    **settings,
):
    """Returns `model_fn` for a TPUEstimator; more keywords: pretraining.model.ModelSettings."""
    return pretraining_utils.build_model_fn(
        pretraining_utils.ModelSettings(
            config=albert_config,
            init_checkpoint=init_checkpoint,
            learning_rate=learning_rate,
            num_train_steps=num_train_steps,
            num_warmup_steps=num_warmup_steps,
            use_tpu=use_tpu,
            use_one_hot_embeddings=use_one_hot_embeddings,
            optimizer=optimizer,
            poly_power=poly_power,
            start_warmup_step=start_warmup_step,
            **settings,
        )
    )


def input_fn_builder(
    input_files, max_seq_length, max_predictions_per_seq, is_training, num_cpu_threads=4, **settings
):
    """Returns `input_fn` for a TPUEstimator; more keywords: pretraining.model.InputSettings.

    num_cpu_threads is taken for existing callers: tf.data finds the number itself.
    """
    del num_cpu_threads
    return pretraining_utils.build_input_fn(
        pretraining_utils.InputSettings(
            files=input_files,
            max_seq_length=max_seq_length,
            max_predictions_per_seq=max_predictions_per_seq,
            is_training=is_training,
            **settings,
        )
    )


def _decode_record(record, name_to_features):
    """Returns the features of a serialized tf.Example, whole numbers as int32."""
    return batches.integers_to_int32(tf.io.parse_single_example(record, name_to_features))


# ---------------------------------------------------------------------------------------------
# The script.


class Outcome(NamedTuple):
    """The results of a run; None for what was not requested or was done already."""

    training: Optional[hooks.TrainingSummary]
    evaluation: Optional[checkpoint_evaluator.EvaluationSummary]


class Data(NamedTuple):
    """The record files, checked."""

    training: List[str]
    evaluation: List[str]
    vocabularies: List[pretraining_utils.RecordsVocabulary]  # of training, as far as known


@estimators.sole_trainer
def pretrain(settings: PretrainingSettings) -> Outcome:
    """Trains and evaluates as the settings say.

    Raises:
      ValueError: flags, records or checkpoints that do not fit each other.
      hooks.TrainingDivergedError: the loss or the gradient is not finite any more.
    """
    check_flags(settings)
    flags = settings
    settings = released.completed(settings, with_vocabulary=False)
    config = modeling.AlbertConfig.from_json_file(settings.albert_config_file or "")
    if settings.share_type:
        config = modeling.AlbertConfig.from_dict(
            dict(config.to_dict(), share_type=settings.share_type.lower())
        )
    config_to_train(settings, config)
    data = find_data(settings, config)
    if settings.spm_model_file or settings.vocab_file:
        tokenization.check_vocab_size(_tokenizer(settings), config.vocab_size)
    estimators.check_output_dir(settings.output_dir, config.to_dict())
    read = data.training if settings.do_train else data.evaluation
    names = wording.listed(read, most=1)
    records = f"{wording.counted(len(read), 'file')} of records ({names})"
    estimators.announce(settings, config, records)
    is_chief, vocabulary = distribution.is_chief(settings), None
    if settings.do_train and is_chief:
        vocabulary = find_vocabulary(settings, data.vocabularies)

    def record() -> None:
        """Leaves the flags and the vocabulary in --output_dir."""
        folder = settings.output_dir
        if is_chief:
            path = os.path.join(folder, config_files.RECORD_NAME)
            config_files.record(path, flags.given_values())
        if vocabulary:
            model_vocabulary.put(folder, *vocabulary)

    training = None
    if settings.do_train:
        training = train(settings, config, data.training, flags=flags, on_start=record)
    if not training:
        record()
    evaluation = evaluate(settings, config, data.evaluation) if settings.do_eval else None
    return Outcome(training, evaluation)


def check_flags(settings: PretrainingSettings) -> None:
    """Checks flags against each other; raises ValueError."""
    if not settings.do_train and not settings.do_eval:
        raise UserError("Nothing to do: give --do_train, --do_eval, or both.")
    if settings.spm_model_file and settings.vocab_file:
        raise UserError("--spm_model_file and --vocab_file are two vocabularies; give one.")
    estimators.check_batch_sizes(settings)
    if settings.do_train and settings.num_warmup_steps >= settings.num_train_steps:
        _LOGGER.warning(
            "--num_warmup_steps=%d is not below --num_train_steps=%d: the learning rate never "
            "reaches its peak.",
            *(settings.num_warmup_steps, settings.num_train_steps),
        )


def find_data(settings: PretrainingSettings, config: modeling.AlbertConfig) -> Data:
    """Finds the record files and looks into them; raises ValueError if they do not fit."""
    if settings.max_seq_length > config.max_position_embeddings:
        raise UserError(
            f"--max_seq_length={settings.max_seq_length} is longer than the model's "
            f"max_position_embeddings, {config.max_position_embeddings}."
        )
    training, evaluation = [], []
    if settings.do_train or not settings.eval_file:
        training = batches.expand_patterns(settings.input_file, "input_file")
    if settings.do_eval and settings.eval_file:
        evaluation = batches.expand_patterns(settings.eval_file, "eval_file")
    told = pretraining_utils.check_records(
        sorted(set(training + evaluation)),
        max_seq_length=settings.max_seq_length,
        max_predictions_per_seq=settings.max_predictions_per_seq,
        config=config,
        masks_on_the_fly=settings.masked_lm_budget > 0,
    )
    in_training = set(training)
    return Data(training, evaluation or training, [one for one in told if one.file in in_training])


def find_vocabulary(
    settings: PretrainingSettings, told: List[pretraining_utils.RecordsVocabulary]
) -> Optional[Tuple[model_vocabulary.Vocabulary, str]]:
    """Returns the records' vocabulary and its name; ValueError if --output_dir has another."""
    named = None
    for key in model_vocabulary.KEYS:
        if getattr(settings, key):
            named = model_vocabulary.Vocabulary(key, getattr(settings, key))
    found = pretraining_utils.vocabulary_of_records(told, named)
    if found:
        model_vocabulary.check_same(settings.output_dir, found[0])
    return found


def build_model_fn(
    settings: PretrainingSettings,
    config: modeling.AlbertConfig,
    init_checkpoint: Optional[str] = None,
) -> Callable:
    """Returns the model function; it starts from `init_checkpoint` if there is no other."""
    model = pretraining_utils.ModelSettings(
        config=config,
        init_checkpoint=init_checkpoint,
        num_train_steps=settings.num_train_steps,
        num_warmup_steps=settings.num_warmup_steps,
        poly_power=settings.poly_power,
        start_warmup_step=settings.start_warmup_step,
        init_from_group0=settings.init_from_group0,
        **model_fn.of_flags(settings),
    )
    return pretraining_utils.build_model_fn(model)


def config_to_train(
    settings: PretrainingSettings, config: modeling.AlbertConfig
) -> modeling.AlbertConfig:
    """Returns the configuration with --train_layers; ValueError if layers share too little."""
    layers = settings.train_layers
    if layers is None or layers == config.num_hidden_layers:
        return config
    if config.num_hidden_groups > 1 or config.share_type != "all":
        raise UserError(
            f"--train_layers={layers} needs layers that share all weights; this model has "
            f"{config.num_hidden_groups} groups and share_type={config.share_type!r}."
        )
    if layers > config.num_hidden_layers:
        raise UserError(
            f"--train_layers={layers}: the model has {config.num_hidden_layers} layers."
        )
    return modeling.AlbertConfig.from_dict(dict(config.to_dict(), num_hidden_layers=layers))


def train(
    settings: PretrainingSettings, config: modeling.AlbertConfig, files: List[str], **more: Any
) -> Optional[hooks.TrainingSummary]:
    """Trains to the last step of this run, from the newest checkpoint if there is one.

    `more` are further arguments of estimators.train.
    """
    used = config_to_train(settings, config)
    if used is not config:
        numbers = used.num_hidden_layers, config.num_hidden_layers
        _LOGGER.info("Training with %d of %d layers.", *numbers)

    def input_fn(start_step: int) -> Callable:
        return _input_fn(settings, config, files, is_training=True, start_step=start_step)

    return estimators.train(
        settings,
        functools.partial(build_model_fn, settings, used),
        input_fn,
        max_steps=settings.last_step,
        documents={estimators.CONFIG_NAME: config.to_json_string().encode("utf-8")},
        keep_checkpoint_max=settings.keep_checkpoint_max,
        watch=hooks.PlateauWatch(
            config.vocab_size,
            first_steps=settings.start_warmup_step + settings.num_warmup_steps,
            num_train_steps=settings.num_train_steps,
            remedy=functools.partial(remedy, settings),
        ),
        **more,
    )


def remedy(settings: PretrainingSettings, kind: str) -> str:
    """Returns what to try where pretraining learns nothing; `kind`: see hooks.PlateauWatch.

    The published learning rate is scaled by the square root of the batch, as arXiv:1904.00962
    does.
    """
    rate, batch = settings.learning_rate, settings.train_batch_size
    recipe = published.recipes("pretraining")[0]
    usual = recipe.learning_rate * math.sqrt(batch / recipe.train_batch_size)
    said = f"{usual:.2g} is the published rate, scaled to a batch of {batch}"
    if kind == "lost" or rate > 1.5 * usual:
        tries = [f"a lower --learning_rate than {rate:g} ({said})", "a longer --num_warmup_steps"]
    elif rate < 0.2 * usual:
        tries = [f"a higher --learning_rate than {rate:g} ({said})"]
    else:
        tries = ["more updates, as a plateau of thousands is usual", "a larger --train_batch_size"]
    if settings.optimizer != "lamb" and kind == "plateau":
        tries.append("--optimizer=lamb")
    return wording.advice(tries)


def _tokenizer(settings: PretrainingSettings) -> tokenization.FullTokenizer:
    """The vocabulary that the flags name, of which only the ids count."""
    return tokenization.FullTokenizer(settings.vocab_file, False, settings.spm_model_file)


def _input_fn(
    settings: PretrainingSettings,
    config: modeling.AlbertConfig,
    files: List[str],
    *,
    is_training: bool,
    **more: Any,
) -> Callable:
    """Training or evaluation input; `more` are fields of InputSettings."""
    if settings.masked_lm_budget:
        more.update(masked_lm_budget=settings.masked_lm_budget, vocab_size=config.vocab_size)
        if settings.spm_model_file or settings.vocab_file:
            more["vocabulary"] = words.piece_table(_tokenizer(settings))
    return input_fn_builder(
        files,
        settings.max_seq_length,
        settings.max_predictions_per_seq,
        is_training,
        seed=settings.seed,
        padding=settings.padding,
        index_folder=settings.output_dir,
        **more,
    )


def evaluate(
    settings: PretrainingSettings, config: modeling.AlbertConfig, files: List[str]
) -> checkpoint_evaluator.EvaluationSummary:
    """Evaluates each checkpoint once and keeps the best."""
    folder, batch_size = settings.output_dir, settings.eval_batch_size
    files, steps = pretraining_utils.evaluation_part(
        files, batch_size, settings.max_eval_steps, index_folder=folder
    )
    fingerprint = {
        "files": record_files.content_identities(files),
        "batches": steps,
        "batch_size": batch_size,
        "precision": settings.precision,
    }
    if settings.masked_lm_budget and pretraining_utils.lack_masks(files):
        for name in ("masked_lm_budget", "max_predictions_per_seq"):
            fingerprint[name] = getattr(settings, name)
    evaluate_checkpoint = estimators.evaluator(
        settings,
        build_model_fn(settings, config),
        _input_fn(settings, config, files, is_training=False, max_batches=steps),
        batch_size=batch_size,
        steps=steps,
    )
    return checkpoint_evaluator.evaluate_checkpoints(
        folder,
        lambda path: pretraining_utils.evaluation_results(evaluate_checkpoint(path)),
        best_metric="masked_lm_accuracy",
        fingerprint=fingerprint,
        untrained_too=settings.eval_untrained,
        wait_seconds=60.0 * settings.wait_for_checkpoints_minutes,
        final_step=settings.last_step,
    )


@process_flags.reads_flags(define_flags)
def main(settings: PretrainingSettings):
    """Runs the script."""
    estimators.run_own_part(pretrain, settings)


def cli():
    """Runs the script with the process's own arguments."""
    script.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
