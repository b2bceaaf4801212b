# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining and its evaluation, for run_pretraining."""

import functools
import logging
import os
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from albert import fine_tuning_utils, modeling, tokenization
from albert.fine_tuning_utils import Vocabulary
from albert.formats import checkpoints, model_folder, model_vocabulary
from albert.pretrained import released
from albert.pretraining import records as pretraining_records
from albert.pretraining import words
from albert.pretraining.program import PretrainingProgram, evaluation_results
from albert.pretraining.settings import PretrainingFlags
from albert.training import distribution, estimators, hooks
from albert.training import evaluation as checkpoint_evaluator
from albert.util import files as file_utils
from albert.util import many_files, provenance, wording
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")


class Outcome(NamedTuple):
    """The results of a run; None for steps that were not requested or already done."""

    training: Optional[hooks.TrainingSummary]
    evaluation: Optional[checkpoint_evaluator.EvaluationSummary]


RecordFiles = List[pretraining_records.RecordFile]


def pretrain(settings: PretrainingFlags) -> Outcome:
    """Trains and evaluates as the settings say.

    Raises:
      ValueError: flags, records or checkpoints that do not fit each other.
      hooks.TrainingDivergedError: the loss or the gradient is not finite any more.
    """
    with estimators.output_lock(settings):
        estimators.check_batch_sizes(settings)
        if settings.do_train and settings.num_warmup_steps >= settings.num_train_steps:
            _LOGGER.warning(
                "--num_warmup_steps=%d is not below --num_train_steps=%d: the learning rate never "
                "reaches its peak.",
                settings.num_warmup_steps,
                settings.num_train_steps,
            )
        flags = settings
        settings = released.resolve_model_files(settings)
        config = modeling.AlbertConfig.from_json_file(settings.albert_config_file or "")
        if settings.share_type:
            config = modeling.AlbertConfig.from_dict(
                dict(config.to_dict(), share_type=settings.share_type.lower())
            )
        config_to_train(settings, config)
        training_files, evaluation_files = find_data(settings, config)
        if settings.spm_model_file or settings.vocab_file:
            tokenization.check_vocab_size(_tokenizer(settings), config.vocab_size)
        estimators.check_output_dir(settings.output_dir, config.to_dict())
        paths = [file.path for file in training_files or evaluation_files]
        records = (
            f"{wording.counted(len(paths), 'file')} of records ({wording.listed(paths, most=1)})"
        )
        estimators.announce(settings, config, records)
        is_chief, vocabulary = distribution.is_chief(settings), None
        if settings.do_train and is_chief:
            vocabulary = find_vocabulary(settings, training_files)
        training = evaluation = None
        if settings.do_train:
            training = train(settings, config, training_files, flags=flags, vocabulary=vocabulary)
        if is_chief and not training:
            estimators.record_flags(flags)
            if vocabulary:  # of a training that has ended
                model_vocabulary.put(settings.output_dir, vocabulary)
        if settings.do_eval and is_chief:
            evaluation = evaluate(settings, config, evaluation_files)
        return Outcome(training, evaluation)


def find_data(
    settings: PretrainingFlags, config: modeling.AlbertConfig
) -> Tuple[RecordFiles, RecordFiles]:
    """Returns the files to train and to evaluate on; raises ValueError if they do not fit."""
    fine_tuning_utils.check_length(settings.max_seq_length, config)

    def read(flag: str) -> RecordFiles:
        paths = file_utils.expand_patterns(getattr(settings, flag), flag)
        return pretraining_records.read_files(paths, settings, config)

    training = read("input_file") if settings.do_train or not settings.eval_file else []
    has_own = settings.do_eval and settings.eval_file
    return training, read("eval_file") if has_own else training


def find_vocabulary(settings: PretrainingFlags, files: RecordFiles) -> Optional[Vocabulary]:
    """Returns the vocabulary of records; None, with a warning, if it is missing.

    Raises ValueError if --output_dir has another one.
    """
    vocabulary = None
    for key in model_vocabulary.KEYS:
        if getattr(settings, key):
            vocabulary = Vocabulary(key, getattr(settings, key))
    with_tokenizer = [file.metadata for file in files if "tokenizer" in file.metadata]
    recorded = {
        (content["tokenizer"]["sha256"], content.get("do_lower_case")): content
        for content in with_tokenizer
    }
    if len(recorded) > 1:
        vocabulary = None
    elif recorded:
        (((sha256, lower_case), metadata),) = recorded.items()
        name = metadata["tokenizer"]["name"]
        if not vocabulary or file_utils.sha256(vocabulary.path) != sha256:
            folder = os.path.dirname(files[0].path)
            vocabulary = model_vocabulary.find_beside_records(folder, sha256)
        vocabulary = vocabulary and vocabulary._replace(do_lower_case=lower_case, name=name)
    if not vocabulary:
        _LOGGER.warning(
            "No vocabulary copied to --output_dir: the records' vocabulary is unknown, missing or "
            "differs between files. Give --spm_model_file or --vocab_file."
        )
        return None
    model_vocabulary.check_same(settings.output_dir, vocabulary)
    model_vocabulary.path_in(settings.output_dir, vocabulary)
    return vocabulary


def config_to_train(
    settings: PretrainingFlags, config: modeling.AlbertConfig
) -> modeling.AlbertConfig:
    """Returns the configuration with --train_layers; ValueError if its layers share too little."""
    layers, most = settings.train_layers, config.num_hidden_layers
    if layers in (None, most):
        return config
    if config.num_hidden_groups > 1 or config.share_type != "all" or layers > most:
        raise UserError(
            f"--train_layers={layers} needs {layers} or more layers that share all weights. This "
            f"model has {most}, num_hidden_groups={config.num_hidden_groups} and "
            f"share_type={config.share_type}."
        )
    return modeling.AlbertConfig.from_dict(dict(config.to_dict(), num_hidden_layers=layers))


def train(
    settings: PretrainingFlags,
    config: modeling.AlbertConfig,
    files: RecordFiles,
    *,
    flags: PretrainingFlags,
    vocabulary: Optional[Vocabulary],
) -> Optional[hooks.TrainingSummary]:
    """Trains to the last step of this run, from the newest checkpoint if there is one.

    `flags` are those of estimators.train.
    """
    return estimators.train(
        settings,
        functools.partial(_model_fn, settings, config_to_train(settings, config)),
        lambda step: _input_fn(settings, files, is_training=True, start_step=step),
        max_steps=settings.last_step,
        documents=model_folder.portable_files(config, vocabulary),
        made_from=made_from(settings, config, files),
        keep_checkpoint_max=settings.keep_checkpoint_max,
        flags=flags,
    )


def made_from(
    settings: PretrainingFlags, config: modeling.AlbertConfig, files: RecordFiles
) -> Dict[str, Any]:
    """Returns hashes of what a training is made from, for estimators.train."""

    def content(file: pretraining_records.RecordFile) -> List[Any]:
        stamp = provenance.stamp(file.path)
        return [stamp["size"], stamp["sample"], settings.masked_lm_budget and file.metadata]

    records = list(many_files.each(content, files, "Comparing the records"))
    vocabulary = settings.spm_model_file or settings.vocab_file
    return {
        "training_data": provenance.digest(records),
        "configuration": provenance.digest(config.to_dict()),
        "vocabulary": file_utils.sha256(vocabulary) if vocabulary else "",
        "last_step": settings.last_step,
    }


def _tokenizer(settings: PretrainingFlags) -> tokenization.FullTokenizer:
    """The vocabulary that the flags name; only its ids are used."""
    return tokenization.FullTokenizer(settings.vocab_file, False, settings.spm_model_file)


def _model_fn(
    settings: PretrainingFlags,
    config: modeling.AlbertConfig,
    init_checkpoint: Optional[str] = None,
) -> Callable:
    """The model function; training starts from `init_checkpoint`, not from that of the flags."""
    settings = settings.replace(init_checkpoint=init_checkpoint)
    # On a TPU looking up rows is slower than a product.
    return PretrainingProgram(settings, config, use_one_hot_embeddings=settings.use_tpu).model_fn


def _input_fn(
    settings: PretrainingFlags, files: RecordFiles, *, is_training: bool, **more: Any
) -> Callable:
    """Training or evaluation input; `more` are arguments of input_fn_builder."""
    vocabulary = None
    if settings.masked_lm_budget and (settings.spm_model_file or settings.vocab_file):
        tokenizer = _tokenizer(settings)
        vocabulary = words.piece_table(tokenizer.vocab, tokenizer.sp_model)
    return pretraining_records.input_fn_builder(
        [file.path for file in files],
        settings.max_seq_length,
        settings.max_predictions_per_seq,
        is_training,
        seed=settings.seed,
        padding=settings.padding,
        index_folder=settings.output_dir,
        transform=pretraining_records.masks_on_the_fly(
            settings, files, is_training=is_training, vocabulary=vocabulary
        ),
        **more,
    )


def warn_of_deleted(settings: PretrainingFlags) -> None:
    """Warns if training deleted checkpoints that no evaluation has measured."""
    folder = settings.output_dir
    steps = [checkpoint.step for checkpoint in checkpoints.list_checkpoints(folder)]
    oldest = min(steps, default=0)
    results = checkpoint_evaluator.read_results(folder)
    evaluated = max((result.step for result in results if result.step < oldest), default=0)
    deleted = evaluated + settings.save_checkpoints_steps
    if settings.keep_checkpoint_max and deleted < oldest:
        _LOGGER.warning(
            f"Not evaluating checkpoints from step {deleted} on, before step {oldest}: "
            f"--keep_checkpoint_max={settings.keep_checkpoint_max} has deleted them. To measure "
            "all, keep more, or evaluate in another process while training runs "
            "(--wait_for_checkpoints_minutes)."
        )


def evaluate(
    settings: PretrainingFlags, config: modeling.AlbertConfig, files: RecordFiles
) -> checkpoint_evaluator.EvaluationSummary:
    """Evaluates each checkpoint once and keeps the best."""
    folder, batch_size = settings.output_dir, settings.eval_batch_size
    warn_of_deleted(settings)
    paths, steps = pretraining_records.evaluation_part(
        [file.path for file in files], batch_size, settings.max_eval_steps, index_folder=folder
    )
    files = files[: len(paths)]
    fingerprint = {
        "files": list(many_files.each(provenance.stamp, paths)),
        "batches": steps,
        "batch_size": batch_size,
        "precision": settings.precision,
    }
    if settings.masked_lm_budget and not all(file.has_masks for file in files):
        for name in ("masked_lm_budget", "max_predictions_per_seq"):
            fingerprint[name] = getattr(settings, name)
    evaluate_checkpoint = estimators.evaluator(
        settings,
        _model_fn(settings, config),
        _input_fn(settings, files, is_training=False, max_batches=steps),
        batch_size=batch_size,
        steps=steps,
    )
    return checkpoint_evaluator.evaluate_checkpoints(
        folder,
        lambda path: evaluation_results(evaluate_checkpoint(path)),
        best_metric="masked_lm_accuracy",
        fingerprint=fingerprint,
        untrained_too=settings.eval_untrained,
        wait_seconds=60.0 * settings.wait_for_checkpoints_minutes,
        final_step=settings.last_step,
    )
