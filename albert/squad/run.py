# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The two versions of SQuAD as tasks of training.fine_tuning.

    outcome = fine_tuning.run(settings, SquadV1)

Dimensions: F windows.
"""

import logging
import os
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, tokenization
from albert.data import batches
from albert.pretrained import saved_model
from albert.squad import decoding, heads
from albert.squad import examples as squad_examples
from albert.squad import export as squad_export
from albert.squad import features as squad_features
from albert.squad import metrics as squad_metrics
from albert.squad.decoding import Predictions
from albert.squad.settings import SquadFlags, SquadV2Flags
from albert.training import evaluation, fine_tuning
from albert.util import files
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

_FILES = (
    "train_file",
    "predict_file",
    "train_feature_file",
    "predict_feature_file",
    "predict_feature_left_file",
    "export_dir",
)
_THRESHOLD_KEY = "null_score_diff_threshold"


# ---- the task ----


class Decoded(NamedTuple):
    """The answers of a checkpoint."""

    predictions: Predictions
    scores: Dict[str, float]  # none where the right answers are unknown
    num_found: int  # questions for which the model found an answer, given or not


class SquadTask(fine_tuning.Task):
    """Questions on paragraphs; a subclass is a version of SQuAD.

    --do_predict evaluates every checkpoint on --predict_file, where its right answers are known,
    and writes the answers of the best one.
    """

    settings: SquadFlags
    description_name = "squad.json"
    best_metric = "f1"
    per_cent = 1.0
    sequences = squad_features.SEQUENCES
    training_only = ("max_seq_length", "doc_stride", "max_query_length")
    decoding_keys: Tuple[str, ...] = ("n_best_size", "max_answer_length")
    has_impossible = False  # whether there may be questions without an answer
    has_lite_model = False  # whether a TensorFlow Lite model is exported too

    def __init__(self, settings: SquadFlags, tokenizer: tokenization.FullTokenizer):
        super().__init__(settings, tokenizer)
        self._questions: Optional[squad_features.SquadFeatures] = None
        self._gold: Optional[squad_metrics.GoldAnswers] = None
        self._best: Dict[str, Decoded] = {}  # one entry: thousands of n-best lists are large

    @classmethod
    def check_flags(cls, settings: SquadFlags) -> None:  # type: ignore[override]
        """Checks that there is something to do, with its own file each, and that lengths fit."""
        if not (settings.do_train or settings.do_predict or settings.export_dir):
            raise UserError(
                "Nothing to do: give some of --do_train, --do_predict (which evaluates too) and "
                "--export_dir."
            )
        for part, name in (("do_train", "train_file"), ("do_predict", "predict_file")):
            if getattr(settings, part) and not getattr(settings, name):
                raise UserError(f"--{name} must be given with --{part}: the SQuAD file to read.")
        if settings.do_train and not settings.num_train_epochs > 0:
            raise UserError(
                f"--num_train_epochs={settings.num_train_epochs:g} trains nothing; usual is 2 or 3."
            )
        if settings.max_query_length + 3 >= settings.max_seq_length:
            raise UserError(
                f"--max_query_length={settings.max_query_length} leaves no room for the paragraph "
                f"in --max_seq_length={settings.max_seq_length}: [CLS] question [SEP] paragraph "
                "[SEP]. Lower the first (24 is enough for most questions) or raise the second."
            )
        known: Dict[str, str] = {}
        for name in _FILES:
            path = getattr(settings, name)
            other = known.setdefault(os.path.abspath(path), name) if path else name
            if other != name and {name, other} != {"train_file", "predict_file"}:
                raise UserError(f"--{name} and --{other} are both {path}. Name different files.")

    @property
    def eval_batch_size(self) -> int:
        """Evaluation is part of prediction."""
        return self.settings.predict_batch_size

    def description(self) -> Dict[str, Any]:
        """Returns what squad.json says of the task."""
        names = ("doc_stride", "max_query_length", *self.decoding_keys)
        return dict(super().description(), **{name: getattr(self.settings, name) for name in names})

    # ---- data and model ----

    def check_data(self) -> None:
        """Reads the questions to answer, so that mistakes in them show before the training."""
        if not self.settings.do_predict:
            return
        self._questions = self.features("predict")
        data = self._questions.data
        unknown = sum(not item.has_gold for item in data.examples)
        if not unknown:
            self._gold = {item.qas_id: item.answers for item in data.examples}
            return
        _LOGGER.info(
            "%d of %d questions in %s come without answers: predicting without scores.",
            *(unknown, len(data.examples), data.path),
        )

    def features(self, split: str) -> squad_features.SquadFeatures:
        """Returns the features of --train_file or --predict_file."""
        settings, is_training = self.settings, split == "train"
        data = self._read(getattr(settings, f"{split}_file"), is_training)
        named = getattr(settings, f"{split}_feature_file")
        folder = settings.cached_dir or settings.output_dir
        if settings.predict_feature_left_file and not is_training:
            _LOGGER.info("--predict_feature_left_file is not used.")
        usual = os.path.join(folder, f"{self.name}_{split}.{settings.max_seq_length}.tf_record")
        return squad_features.write_features(
            data,
            output_file=named or usual,
            exact_path=bool(named),
            max_seq_length=settings.max_seq_length,
            doc_stride=settings.doc_stride,
            max_query_length=settings.max_query_length,
            tokenizer=self.tokenizer,
            is_training=is_training,
            description=f"{self.name} {split}",
        )

    def _read(self, path: str, is_training: bool) -> squad_examples.SquadData:
        limit = self.settings.max_misaligned_answers
        data = squad_examples.read_dataset(path, is_training, max_misaligned=limit)
        impossible = [item for item in data.examples if item.has_gold and not item.answers]
        if impossible and not self.has_impossible:
            raise UserError(
                f"{path}: {len(impossible)} of {len(data.examples)} questions have no answer, the "
                f"first is {impossible[0].qas_id}. SQuAD v1.1 has no such questions: use "
                "run_squad_v2."
            )
        return data

    def spec(self, is_training: bool) -> batches.FeatureSpec:
        """Returns the declaration of the records."""
        return squad_features.feature_spec(self.settings.max_seq_length, is_training)

    def count(self, features: squad_features.SquadFeatures) -> int:
        """Returns the number of questions; each has one window or several."""
        return len(features.data.examples)

    def build_head(self, width: Optional[int]) -> fine_tuning_utils.Head:
        """Returns the head; `width` is what predicted logits are padded to."""
        raise NotImplementedError

    def head(self) -> fine_tuning_utils.Head:
        """Returns the head with outputs of one width."""
        return self.build_head(self.settings.max_seq_length)

    # ---- evaluation ----

    def eval_splits(self) -> Dict[str, Any]:
        """Returns the questions of --predict_file if the right answers are known."""
        return {} if self._gold is None else {"predict": self._questions}

    def fingerprint(self) -> Dict[str, Any]:
        """Returns the flags of decoding and the file, as its records do not hold the answers."""
        names = [*self.decoding_keys, *[_THRESHOLD_KEY] * self.has_impossible]
        content = {name: getattr(self.settings, name) for name in names}
        content["questions"] = files.file_fingerprint(self._questions.data.path)
        return content

    def decode(self, checkpoint: str, outputs: fine_tuning.Outputs) -> Decoded:
        """Returns the answers of a checkpoint, given the outputs of the head, [F, ...] each."""
        raise NotImplementedError

    def limits(self) -> decoding.Limits:
        """Returns how many answers are looked at."""
        return decoding.Limits.of(self.description())

    def measure(
        self, checkpoint: str, outputs: Mapping[str, fine_tuning.Outputs]
    ) -> Dict[str, float]:
        """Returns a checkpoint's scores, and keeps the answers of the best one."""
        decoded = self.decode(checkpoint, outputs["predict"])
        best = next(iter(self._best.values()), None)
        # Of equal ones the later is the best, see training.evaluation.
        if best is None or decoded.scores[self.best_metric] >= best.scores[self.best_metric]:
            self._best = {checkpoint: decoded}
        return decoded.scores

    def after_evaluation(
        self,
        summary: evaluation.EvaluationSummary,
        fingerprint: Mapping[str, Any],
        measure: Callable[[str], Mapping[str, float]],
    ) -> None:
        """Knows the answers of the best checkpoint by the name of its copy."""
        if summary.best:
            best = f"model.ckpt-{summary.best.step}"
            known = self._best.get(os.path.join(self.settings.output_dir, best))
            if known:
                self._best[summary.best_checkpoint] = known

    # ---- prediction and export ----

    def predict(
        self, checkpoint: str, outputs_of: Callable[[Any], Dict[str, np.ndarray]]
    ) -> List[str]:
        """Answers the questions of --predict_file."""
        decoded = self._best.get(checkpoint)
        if not decoded:
            decoded = self.decode(checkpoint, outputs_of(self._questions))
        predictions = decoded.predictions
        if not decoded.num_found and (self._gold is None or any(self._gold.values())):
            _LOGGER.warning(
                "None of the %d questions got an answer: the model has not learnt to answer, was "
                "not loaded, or its outputs are not finite (or --null_score_diff_threshold is too "
                "low). Train longer or with another --seed, and check the report on the first "
                "weights.",
                len(predictions.answers),
            )
        folder = self.settings.output_dir
        paths = {name: os.path.join(folder, name) for name in decoding.NAMES}
        _keep_other_answers(paths, predictions)
        return predictions.write(paths)

    def export(self, run: fine_tuning.FineTuning, checkpoint: str) -> str:
        """Exports a SavedModel and, for version 1.1, a TensorFlow Lite file."""
        settings = self.settings
        model = squad_export.SquadModel(
            run.config, checkpoint, settings.albert_hub_module_handle, settings.max_seq_length
        )
        head = self.build_head(None)
        folder = saved_model.export_saved_model(
            settings.export_dir,
            lambda inputs: squad_export.outputs_of(model, head, inputs),
            checkpoint,
            max_seq_length=settings.max_seq_length,
            extra_files=run.portable_files(more=self.found_by_evaluation(checkpoint)),
        )
        if self.has_lite_model:
            squad_export.export_tflite(settings.export_dir, model, head)
        return folder

    def found_by_evaluation(self, checkpoint: str) -> Dict[str, Any]:
        """Returns what an exported model's description says of its checkpoint."""
        del checkpoint
        return {}


class SquadV1(SquadTask):
    """SQuAD v1.1: every question has an answer."""

    name = "squad_v1"
    has_lite_model = True

    def build_head(self, width: Optional[int]) -> fine_tuning_utils.Head:
        """Returns a start and an end for each window."""
        return heads.v1_head(width)

    def decode(self, checkpoint: str, outputs: fine_tuning.Outputs) -> Decoded:
        """Returns the most likely spans."""
        questions = self._questions
        examples = questions.data.examples
        answers = decoding.v1_answers(outputs, questions.windows, examples, limits=self.limits())
        predictions = decoding.v1_predictions(answers, examples)
        gold = self._gold
        scores = {} if gold is None else squad_metrics.evaluate_v1(gold, predictions.answers)
        return Decoded(predictions, scores, sum(map(bool, answers)))


class SquadV2(SquadTask):
    """SQuAD v2.0: questions may have no answer."""

    settings: SquadV2Flags
    name = "squad_v2"
    decoding_keys = decoding.Limits._fields
    has_impossible = True

    @classmethod
    def check_flags(cls, settings: SquadV2Flags) -> None:  # type: ignore[override]
        """Checks also the beams and the threshold."""
        super().check_flags(settings)
        for name in ("start_n_top", "end_n_top"):
            if getattr(settings, name) > settings.max_seq_length:
                raise UserError(
                    f"--{name}={getattr(settings, name)} is more than there are positions in "
                    f"--max_seq_length={settings.max_seq_length}. Usual is 5."
                )
        threshold = settings.null_score_diff_threshold
        if threshold is not None and not np.isfinite(threshold):
            raise UserError(f"--null_score_diff_threshold={threshold} is not a finite number.")

    def build_head(self, width: Optional[int]) -> fine_tuning_utils.Head:
        """Returns the best starts, and the best ends of each of them, for each window."""
        settings = self.settings
        beam = heads.BeamSize(settings.start_n_top, settings.end_n_top)
        return heads.v2_head(beam, settings.dropout_prob)

    def found_by_evaluation(self, checkpoint: str) -> Dict[str, Any]:
        """Returns the threshold."""
        return {_THRESHOLD_KEY: _threshold(self.settings, checkpoint)}

    def decode(self, checkpoint: str, outputs: fine_tuning.Outputs) -> Decoded:
        """Returns the most likely spans, and none where the null score is above the threshold."""
        settings, questions, gold = self.settings, self._questions, self._gold
        examples = questions.data.examples
        answers, odds = decoding.v2_answers(
            outputs, questions.windows, examples, limits=self.limits()
        )
        threshold = settings.null_score_diff_threshold
        if gold is None:
            threshold = _threshold(settings, checkpoint)
        elif threshold is None:
            every = decoding.v2_predictions(answers, odds, examples)
            threshold = squad_metrics.usable_threshold(gold, every.answers, every.null_odds)
        predictions = decoding.v2_predictions(answers, odds, examples, threshold=threshold)
        scores = {}
        if gold is not None:
            scores = squad_metrics.evaluate_v2(gold, predictions.answers, predictions.null_odds)
            scores = dict(scores, **{_THRESHOLD_KEY: threshold})
        return Decoded(predictions, scores, sum(map(bool, predictions.answers.values())))


def _threshold(settings: SquadV2Flags, checkpoint: str) -> float:
    """The null score up to which answers are kept: the flag's, the evaluation's, or 0."""
    if settings.null_score_diff_threshold is not None:
        return settings.null_score_diff_threshold
    metrics = evaluation.recorded_metrics(checkpoint, settings.output_dir)
    threshold = metrics.get(_THRESHOLD_KEY)
    if threshold is None:
        _LOGGER.warning(
            "There is no evaluation of %s to take the threshold of the null score from; taking 0. "
            "--null_score_diff_threshold sets another.",
            checkpoint,
        )
        return 0.0
    _LOGGER.info(
        "Answers with a null score above %.4g are left empty, as its evaluation found.", threshold
    )
    return threshold


def _keep_other_answers(paths: Mapping[str, str], predictions: Predictions) -> None:
    """Renames answers to other questions, of an earlier run."""
    present = evaluation.read_document(paths[decoding.PREDICTIONS_NAME])
    if present is None or set(present) == set(predictions.answers):
        return
    for path in paths.values():
        if tf.io.gfile.exists(path):
            kept = files.unused_name(path)
            tf.io.gfile.rename(path, kept)
            _LOGGER.info("Kept answers to other questions as %s.", kept)
