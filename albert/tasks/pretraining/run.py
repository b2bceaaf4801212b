# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining and its evaluation, for run_pretraining.

outcome = Pretraining(flags).run()
"""

import os
from typing import Any, Dict, List, Mapping, Optional, Tuple

from albert import tokenization
from albert.configs import model_config
from albert.formats import model_folder, model_paths, model_vocabulary
from albert.formats.model_vocabulary import Vocabulary
from albert.models import released
from albert.pretraining_data import words
from albert.tasks.pretraining import features as pretraining_features
from albert.tasks.pretraining.flags import PretrainingFlags
from albert.tasks.pretraining.head import PretrainingProgram, evaluation_results
from albert.training import estimators, evaluation, hooks, program, resuming, workflow
from albert.training.evaluation import EvaluationSummary
from albert.util import UserError, log, parallel, provenance, wording
from albert.util import files as file_utils

PretrainingFiles = List[pretraining_features.PretrainingFile]


class Pretraining(workflow.Workflow):
    """Trains on records, and evaluates each checkpoint on records."""

    flags: PretrainingFlags

    def __init__(self, flags: PretrainingFlags):
        """Checks the flags and finds the model; raises ValueError."""
        super().__init__(flags)
        if flags.do_train:
            program.check_warmup(flags.num_train_steps, flags.num_warmup_steps)
        self.flags = flags = released.resolve_model_files(flags)
        config = model_config.AlbertConfig.from_json_file(flags.albert_config_file or "")
        if flags.share_type:
            config = model_config.AlbertConfig.from_dict(
                dict(config.to_dict(), share_type=flags.share_type.lower())
            )
        self.config, self._config_to_train = config, config_to_train(flags, config)
        self.vocabulary: Optional[Vocabulary] = None
        # From --spm_model_file or --vocab_file. Only its ids are used.
        self._tokenizer: Optional[tokenization.FullTokenizer] = None

    def check(self) -> None:
        """Checks the first records of each file; raises ValueError if they do not fit the model."""
        flags, config = self.flags, self.config
        model_config.check_length(flags.max_seq_length, config)
        self.training_files: PretrainingFiles = []
        if flags.do_train or not flags.eval_file:
            self.training_files = self._read_files("input_file")
        self.evaluation_files = self.training_files
        if flags.do_eval and flags.eval_file:
            self.evaluation_files = self._read_files("eval_file")
        if flags.spm_model_file or flags.vocab_file:
            self._tokenizer = tokenization.FullTokenizer(
                flags.vocab_file, False, flags.spm_model_file
            )
            tokenization.check_vocab_size(self._tokenizer, config.vocab_size)
        resuming.check_output_dir(flags.output_dir, config)
        paths = [file.path for file in self.training_files or self.evaluation_files]
        count, names = wording.counted(len(paths), "file"), wording.listed(paths, most=1)
        estimators.announce(flags, config, f"{count} of records ({names})")
        if flags.do_train and self.is_chief:
            self.vocabulary = find_vocabulary(flags, self.training_files)
        if self.vocabulary and not self._tokenizer:
            named: Dict[str, Any] = {"vocab_file": None, self.vocabulary.key: self.vocabulary.path}
            tokenization.check_vocab_size(tokenization.FullTokenizer(**named), config.vocab_size)

    def _read_files(self, flag: str) -> PretrainingFiles:
        paths = file_utils.expand_patterns(getattr(self.flags, flag), flag)
        return pretraining_features.read_files(paths, self.flags, self.config)

    # ---- training ----

    def train(self) -> Optional[hooks.TrainingSummary]:
        """Trains to the last step of this run, and records the vocabulary."""
        flags, vocabulary = self.flags, self.vocabulary
        summary = estimators.train(
            flags,
            PretrainingProgram(flags, self._config_to_train).model_fn,
            lambda step: self._input_fn(self.training_files, is_training=True, start_step=step),
            max_steps=flags.last_step,
            documents=model_folder.portable_files(self.config, vocabulary),
            input_hashes=self.input_hashes(),
            keep_checkpoint_max=flags.keep_checkpoint_max,
        )
        if vocabulary and not summary:  # training was already finished
            model_vocabulary.put(flags.output_dir, vocabulary)
        return summary

    def input_hashes(self) -> Dict[str, Any]:
        """Returns hashes of records, configuration and vocabulary, and the last step."""
        flags = self.flags

        def fingerprint(file: pretraining_features.PretrainingFile) -> List[Any]:
            stamp = provenance.stamp(file.path)
            return [stamp["size"], stamp["sample"], flags.masked_lm_budget and file.metadata]

        records = parallel.in_threads(fingerprint, self.training_files, "Comparing the records")
        vocabulary = flags.spm_model_file or flags.vocab_file
        return {
            "training_data": provenance.digest(list(records)),
            "configuration": provenance.digest(self.config.to_dict()),
            "vocabulary": file_utils.sha256(vocabulary) if vocabulary else "",
            "last_step": flags.last_step,
        }

    def _input_fn(
        self, files: PretrainingFiles, *, is_training: bool, **options: Any
    ) -> estimators.InputFn:
        """Returns the input function; `options` are arguments of input_fn_builder."""
        flags, tokenizer, vocabulary = self.flags, self._tokenizer, None
        if flags.masked_lm_budget and tokenizer:
            vocabulary = words.piece_table(tokenizer.vocab, tokenizer.sp_model)
        return pretraining_features.input_fn_builder(
            [file.path for file in files],
            flags.max_seq_length,
            flags.max_predictions_per_seq,
            is_training,
            seed=flags.seed,
            padding=flags.padding,
            index_folder=flags.output_dir,
            transform=pretraining_features.masks_on_the_fly(
                flags, files, is_training=is_training, vocabulary=vocabulary
            ),
            **options,
        )

    # ---- evaluation ----

    def evaluate(self) -> Tuple[Optional[EvaluationSummary], Mapping[str, Any]]:
        """With --do_eval, evaluates each checkpoint once, and keeps the best."""
        flags = self.flags
        if not flags.do_eval:
            return None, {}
        folder, batch_size = flags.output_dir, flags.eval_batch_size
        warn_of_deleted(flags)
        paths = [file.path for file in self.evaluation_files]
        paths, steps = pretraining_features.evaluation_part(
            paths, batch_size, flags.max_eval_steps, index_folder=folder
        )
        files = self.evaluation_files[: len(paths)]
        fingerprint = {
            "files": list(parallel.in_threads(provenance.stamp, paths)),
            "batches": steps,
            "batch_size": batch_size,
            "precision": flags.precision,
        }
        if flags.masked_lm_budget and not all(file.has_masks for file in files):
            for name in ("masked_lm_budget", "max_predictions_per_seq"):
                fingerprint[name] = getattr(flags, name)
        if not flags.sentence_order:
            fingerprint["sentence_order"] = False
        evaluate_checkpoint = estimators.evaluator(
            flags,
            PretrainingProgram(flags, self.config).model_fn,
            self._input_fn(files, is_training=False, max_batches=steps),
            batch_size=batch_size,
            steps=steps,
        )
        summary = evaluation.evaluate_checkpoints(
            folder,
            lambda path: evaluation_results(evaluate_checkpoint(path)),
            best_metric="masked_lm_accuracy",
            fingerprint=fingerprint,
            untrained_too=flags.eval_untrained,
            wait_seconds=60.0 * flags.wait_for_checkpoints_minutes,
            final_step=flags.last_step,
        )
        return summary, summary.best.metrics if summary.best else {}


def find_vocabulary(flags: PretrainingFlags, files: PretrainingFiles) -> Optional[Vocabulary]:
    """Returns the records' vocabulary. If it is missing, logs a warning and returns None.

    Raises ValueError if --output_dir or the folder of the first weights has another vocabulary.
    """
    vocabulary = None
    for key in model_vocabulary.KEYS:
        if getattr(flags, key):
            vocabulary = Vocabulary(key, getattr(flags, key))
    tokenizers = [
        (file.metadata["tokenizer"], file.metadata.get("do_lower_case"))
        for file in files
        if "tokenizer" in file.metadata
    ]
    names = {(item["sha256"], lower_case): item["name"] for item, lower_case in tokenizers}
    if len(names) > 1:
        vocabulary = None
    elif names:
        (((sha256, lower_case), name),) = names.items()
        if not vocabulary or file_utils.sha256(vocabulary.path) != sha256:
            folder = os.path.dirname(files[0].path)
            vocabulary = model_vocabulary.find_beside_records(folder, sha256)
        vocabulary = vocabulary and vocabulary._replace(do_lower_case=lower_case, name=name)
    if not vocabulary:
        log.warning(
            "No vocabulary copied to --output_dir: the records' vocabulary is unknown, missing or "
            "differs between files. Give --spm_model_file or --vocab_file."
        )
        return None
    model_vocabulary.check_same(flags.output_dir, vocabulary)
    if flags.init_checkpoint and not model_paths.list_checkpoints(flags.output_dir):
        start = model_paths.resolve(flags.init_checkpoint)
        model_vocabulary.check_same(os.path.dirname(start), vocabulary)
    model_vocabulary.path_in(flags.output_dir, vocabulary)
    return vocabulary


def config_to_train(
    flags: PretrainingFlags, config: model_config.AlbertConfig
) -> model_config.AlbertConfig:
    """Returns the configuration with --train_layers; ValueError if the model does not allow it."""
    layers, num_layers = flags.train_layers, config.num_hidden_layers
    if layers in (None, num_layers):
        return config
    if config.num_hidden_groups > 1 or config.share_type != "all" or layers > num_layers:
        raise UserError(
            f"--train_layers={layers} needs {layers} or more layers that share all weights. This "
            f"model has {num_layers}, num_hidden_groups={config.num_hidden_groups} and "
            f"share_type={config.share_type}."
        )
    return model_config.AlbertConfig.from_dict(dict(config.to_dict(), num_hidden_layers=layers))


def warn_of_deleted(flags: PretrainingFlags) -> None:
    """Warns if training deleted checkpoints that no evaluation has measured."""
    folder = flags.output_dir
    steps = [checkpoint.step for checkpoint in model_paths.list_checkpoints(folder)]
    oldest = min(steps, default=0)
    results = evaluation.read_results(folder)
    evaluated = max((result.step for result in results if result.step < oldest), default=0)
    deleted = evaluated + flags.save_checkpoints_steps
    if flags.keep_checkpoint_max and deleted < oldest:
        log.warning(
            f"Not evaluating checkpoints from step {deleted} on, before step {oldest}: "
            f"--keep_checkpoint_max={flags.keep_checkpoint_max} has deleted them. To measure "
            "all, keep more checkpoints, or evaluate in another process while training runs "
            "(--wait_for_checkpoints_minutes)."
        )
