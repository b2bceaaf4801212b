# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Training, evaluation, prediction and export for SQuAD, as run_squad_v1 and run_squad_v2 do it.

What the two versions differ in is a `Version`: a head, and what becomes of the model's outputs.

Dimensions: F windows, S max_seq_length.
"""

import contextlib
import logging
import os
import time
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.data import padded_batches
from albert.pretrained import released as released_models
from albert.squad import decoding as squad_decoding
from albert.squad import examples as squad_examples
from albert.squad import export as squad_export
from albert.squad import features as squad_features
from albert.squad import heads as squad_heads
from albert.squad import metrics as squad_metrics
from albert.squad.decoding import Predictions
from albert.training import estimators as estimator_utils
from albert.training import evaluation as checkpoint_evaluator
from albert.training import fine_tuning_flow, fine_tuning_runs, run_summary
from albert.util import files

_LOGGER = logging.getLogger("albert")

DESCRIPTION_NAME = "squad.json"
_FORMAT_VERSION = 1
_BEST_METRIC = "f1"
_THRESHOLD_KEY = "null_score_diff_threshold"


# ---------------------------------------------------------------------------------------------
# The two versions.


class Decoded(NamedTuple):
    """What a checkpoint answers.

    Attributes:
      predictions: the answers.
      scores: none where the right answers are unknown.
      num_found: questions for which the model found an answer, given or not.
    """

    predictions: Predictions
    scores: Dict[str, float]
    num_found: int


class Version(NamedTuple):
    """A version of SQuAD.

    Attributes:
      name: of the task, as squad.json has it.
      has_impossible: whether there are questions without an answer.
      build_head: (settings, width) -> the head; a width is what predicted logits are padded to.
      has_lite_model: whether a TensorFlow Lite model is exported too.
      check_flags: refuses flags of its own that make no sense.
      decode: (outputs of the head by name, [F, ...] each, features, gold answers or None,
        settings=settings) -> `Decoded`.
    """

    name: str
    has_impossible: bool
    has_lite_model: bool
    check_flags: Callable[[Any], None]
    build_head: Callable[[Any, Optional[int]], fine_tuning_utils.Head]
    decode: Callable[..., Decoded]


Gold = Optional[squad_metrics.GoldAnswers]
Outputs = Mapping[str, np.ndarray]


def _best_answers(
    spans: squad_decoding.Spans, features: squad_features.SquadFeatures, settings: Any
) -> List[List[squad_decoding.Answer]]:
    return squad_decoding.best_answers(
        spans, features.windows, features.data.examples, n_best_size=settings.n_best_size
    )


def _decode_v1(
    outputs: Outputs, features: squad_features.SquadFeatures, gold: Gold, *, settings: Any
) -> Decoded:
    limits = squad_decoding.Limits(settings.n_best_size, settings.max_answer_length)
    logits = outputs["start_logits"], outputs["end_logits"]
    spans = squad_decoding.v1_spans(*logits, features.windows, limits=limits)
    answers = _best_answers(spans, features, settings)
    predictions = squad_decoding.v1_predictions(answers, features.data.examples)
    scores = {} if gold is None else squad_metrics.evaluate_v1(gold, predictions.answers)
    return Decoded(predictions, scores, sum(map(bool, answers)))


def _decode_v2(
    outputs: Outputs, features: squad_features.SquadFeatures, gold: Gold, *, settings: Any
) -> Decoded:
    examples = features.data.examples
    beams = squad_decoding.Beams(**{name: outputs[name] for name in squad_decoding.Beams._fields})
    spans = squad_decoding.v2_spans(beams, features.windows, settings.max_answer_length)
    answers = _best_answers(spans, features, settings)
    odds = squad_decoding.null_scores(beams.cls_logits, features.windows, len(examples))
    threshold = settings.null_score_diff_threshold
    if threshold is None:
        every = squad_decoding.v2_predictions(answers, odds, examples)
        threshold = squad_metrics.usable_threshold(gold, every.answers, every.null_odds)
    predictions = squad_decoding.v2_predictions(answers, odds, examples, threshold=threshold)
    num_found = sum(map(bool, predictions.answers.values()))
    if gold is None:
        return Decoded(predictions, {}, num_found)
    scores = squad_metrics.evaluate_v2(gold, predictions.answers, predictions.null_odds)
    return Decoded(predictions, dict(scores, **{_THRESHOLD_KEY: threshold}), num_found)


def _known_threshold(settings: Any, checkpoint: str) -> float:
    """The null score up to which answers are kept where the right ones are not known."""
    metrics = fine_tuning_flow.recorded_metrics(checkpoint, settings.output_dir)
    threshold = metrics.get(_THRESHOLD_KEY)
    if threshold is None:
        _LOGGER.warning(
            "No evaluation of %s is at hand that would say from which null score on there is no "
            "answer; taking 0. --null_score_diff_threshold names another.",
            checkpoint,
        )
        return 0.0
    _LOGGER.info(
        "Answers with a null score above %.4g are left empty, as its evaluation has found.",
        threshold,
    )
    return threshold


def _check_v2_flags(settings: Any) -> None:
    for name in ("start_n_top", "end_n_top"):
        if getattr(settings, name) > settings.max_seq_length:
            raise ValueError(
                f"--{name}={getattr(settings, name)} is more than there are positions in "
                f"--max_seq_length={settings.max_seq_length}. Usual is 5."
            )
    threshold = settings.null_score_diff_threshold
    if threshold is not None and not np.isfinite(threshold):
        raise ValueError(f"--null_score_diff_threshold={threshold} is no number to compare with.")


V1 = Version(
    name="squad_v1",
    has_impossible=False,
    has_lite_model=True,
    check_flags=lambda settings: None,
    build_head=lambda settings, width: squad_heads.v1_head(width),
    decode=_decode_v1,
)
V2 = Version(
    name="squad_v2",
    has_impossible=True,
    has_lite_model=False,
    check_flags=_check_v2_flags,
    build_head=lambda settings, width: squad_heads.v2_head(
        squad_heads.BeamSize(settings.start_n_top, settings.end_n_top), settings.dropout_prob
    ),
    decode=_decode_v2,
)


# ---------------------------------------------------------------------------------------------
# A run.


class Run(NamedTuple):
    """What the parts of a run have in common."""

    settings: Any
    version: Version
    config: Optional[modeling.AlbertConfig]
    vocabulary: fine_tuning_utils.Vocabulary
    length: fine_tuning_runs.TrainingLength

    def description(self) -> Dict[str, Any]:
        """Returns the content of squad.json."""
        content = {
            "format_version": _FORMAT_VERSION,
            "task": self.version.name,
            "doc_stride": self.settings.doc_stride,
            "max_query_length": self.settings.max_query_length,
        }
        content.update(fine_tuning_flow.model_description(self.settings, self.vocabulary))
        return content

    def model_fn(self, init_checkpoint: Optional[str] = None) -> Callable:
        """Returns the model function; it starts from `init_checkpoint` if there is no other."""
        model = fine_tuning_flow.model_settings(
            self.settings, self.config, self.length, init_checkpoint=init_checkpoint
        )
        head = self.version.build_head(self.settings, self.settings.max_seq_length)
        return fine_tuning_utils.build_model_fn(model, head)

    def input_fn(self, file: str, batch_size: int, *, is_training: bool, start_step: int = 0):
        """Returns the input function for a record file."""
        settings = self.settings
        mode = settings.padding or padded_batches.default_mode(settings.use_tpu)
        return padded_batches.input_fn(
            file,
            squad_features.feature_spec(settings.max_seq_length, is_training),
            is_training=is_training,
            batch_size=batch_size,
            padding=padded_batches.Padding(mode, features=squad_features.SEQUENCES),
            seed=settings.seed,
            start_step=start_step,
        )

    def features(self, data: squad_examples.SquadData, use: str) -> squad_features.SquadFeatures:
        """Returns the features of questions; `use` is "train" or "predict"."""
        settings = self.settings
        is_training = use == "train"
        folder = settings.cached_dir or settings.output_dir
        named = settings.train_feature_file if is_training else settings.predict_feature_file
        default = os.path.join(folder, f"{self.version.name}_{use}.{settings.max_seq_length}")
        return squad_features.write_features(
            data,
            output_file=named or f"{default}.tf_record",
            left_file=settings.predict_feature_left_file,
            exact_path=bool(named),
            max_seq_length=settings.max_seq_length,
            doc_stride=settings.doc_stride,
            max_query_length=settings.max_query_length,
            tokenizer=self.vocabulary.tokenizer,
            is_training=is_training,
            description=f"{self.version.name} {use}",
        )


def check_output_dir(run: Run) -> None:
    """Checks that the output folder is new, or was made for this model, version and vocabulary.

    Raises:
      ValueError: it belongs to something else.
    """
    fine_tuning_flow.check_output_dir(
        run.settings,
        run.config,
        name=DESCRIPTION_NAME,
        description=run.description(),
        training_only=("max_seq_length", "doc_stride", "max_query_length"),
    )


def read_data(run: Run, path: str, *, is_training: bool) -> squad_examples.SquadData:
    """Returns the questions of a file.

    Raises:
      ValueError: the file cannot be read, or has unanswerable questions where v1 is trained.
    """
    limit = run.settings.max_misaligned_answers
    data = squad_examples.read_dataset(path, is_training, max_misaligned=limit)
    impossible = [item for item in data.examples if item.has_gold and not item.answers]
    if impossible and not run.version.has_impossible:
        raise ValueError(
            f"{path}: {len(impossible)} of {len(data.examples)} questions have no answer, the "
            f"first is {impossible[0].qas_id}. SQuAD v1.1 has no such questions: use run_squad_v2."
        )
    return data


# ---------------------------------------------------------------------------------------------
# The parts.


def train(
    run: Run,
    features: squad_features.SquadFeatures,
    on_progress: Optional[Callable[[estimator_utils.TrainingSummary], None]] = None,
) -> Optional[estimator_utils.TrainingSummary]:
    """Trains to the last step, from the newest checkpoint if there is one."""
    settings = run.settings
    path = features.records.path

    def input_fn(start_step: int) -> Callable:
        size = settings.train_batch_size
        return run.input_fn(path, size, is_training=True, start_step=start_step)

    return fine_tuning_flow.train(
        settings,
        run.model_fn,
        input_fn,
        config=run.config,
        length=run.length,
        documents={DESCRIPTION_NAME: run.description()},
        examples=features.records.count,
        on_progress=on_progress,
    )


class _Answering:
    """What checkpoints answer to the questions of --predict_file."""

    def __init__(self, run: Run, features: squad_features.SquadFeatures, stack: Any):
        """`stack`: closes what is opened here."""
        settings = run.settings
        self._run = run
        self._features = features
        path = self._features.records.path
        collector = fine_tuning_runs.OutputCollector(
            settings,
            run.model_fn(),
            run.input_fn(path, settings.predict_batch_size, is_training=False),
            batch_size=settings.predict_batch_size,
            examples=self._features.records.count,
            name="predict",
        )
        self._collector = stack.enter_context(collector)
        self.gold = _gold(features.data)
        self._best: Dict[str, Decoded] = {}  # one entry: thousands of n-best lists are large

    def fingerprint(self) -> Dict[str, Any]:
        """Returns what the scores depend on, beside the checkpoint."""
        settings = self._run.settings
        names = ("precision", "n_best_size", "max_answer_length")
        if self._run.version.has_impossible:
            names += ("start_n_top", "end_n_top", _THRESHOLD_KEY)
        content = {name: getattr(settings, name) for name in names}
        # The records do not say what is right.
        content["questions"] = files.file_fingerprint(self._features.data.path)
        content["predict"] = files.file_fingerprint(self._features.records.path)
        return content

    def measure(self, checkpoint: str) -> Dict[str, float]:
        """Returns a checkpoint's scores."""
        decoded = self._decode(checkpoint)
        best = next(iter(self._best.values()), None)
        if best is None or decoded.scores[_BEST_METRIC] > best.scores[_BEST_METRIC]:
            self._best = {checkpoint: decoded}
        return decoded.scores

    def knows(self, checkpoint: str) -> bool:
        """Returns whether the checkpoint's answers are at hand."""
        return checkpoint in self._best

    def answers(self, checkpoint: str) -> Decoded:
        """Returns a checkpoint's answers."""
        return self._best.get(checkpoint) or self._decode(checkpoint)

    def _decode(self, checkpoint: str) -> Decoded:
        settings, version = self._run.settings, self._run.version
        is_open = version.has_impossible and settings.null_score_diff_threshold is None
        if is_open and self.gold is None:
            known = _known_threshold(settings, checkpoint)
            settings = settings.replace(null_score_diff_threshold=known)
        outputs = self._collector.run(checkpoint)
        return version.decode(outputs, self._features, self.gold, settings=settings)


def _gold(data: squad_examples.SquadData) -> Gold:
    """The right answers; None if they are not known for all questions."""
    unknown = sum(not item.has_gold for item in data.examples)
    if not unknown:
        return {item.qas_id: item.answers for item in data.examples}
    _LOGGER.info(
        "%d of %d questions in %s come without answers: predicting without scores.",
        unknown,
        len(data.examples),
        data.path,
    )
    return None


class Prediction(NamedTuple):
    """What prediction did."""

    evaluation: Optional[checkpoint_evaluator.EvaluationSummary]
    scores: Dict[str, float]  # of the checkpoint that was chosen
    predictions: List[str]  # the files written


def predict(
    run: Run,
    features: squad_features.SquadFeatures,
    times: run_summary.RunSummary,
    *,
    final_step: Optional[int] = None,
) -> Prediction:
    """Evaluates the checkpoints of the output folder, and writes what the best one answers.

    With --checkpoint, or where there is only model.ckpt-best, that one is evaluated. Without the
    right answers there is no evaluation.

    Args:
      run: what to predict with.
      features: of the questions of --predict_file.
      times: gets the results and the time they took.
      final_step: the last one that will come, if it is known.
    """
    with contextlib.ExitStack() as stack:
        answering = _Answering(run, features, stack)
        evaluation, checkpoint = _choose(run, answering, times, final_step=final_step)
        decoded = answering.answers(checkpoint)
    _warn_of_empty_answers(decoded, answering.gold)
    names = (
        squad_decoding.PREDICTIONS_NAME,
        squad_decoding.NBEST_NAME,
        squad_decoding.NULL_ODDS_NAME,
    )
    paths = {name: os.path.join(run.settings.output_dir, name) for name in names}
    _keep_other_answers(paths, decoded.predictions)
    written = decoded.predictions.write(paths)
    _LOGGER.info("Wrote what %s answers to %s.", checkpoint, ", ".join(written))
    return Prediction(evaluation, decoded.scores, written)


def _keep_other_answers(paths: Mapping[str, str], predictions: Predictions) -> None:
    """Sets answers to other questions, of an earlier start, aside."""
    present = run_summary.read_document(paths[squad_decoding.PREDICTIONS_NAME])
    if present is None or set(present) == set(predictions.answers):
        return
    for path in paths.values():
        if tf.io.gfile.exists(path):
            kept = files.unused_name(path)
            tf.io.gfile.rename(path, kept)
            _LOGGER.info("Kept answers to other questions as %s.", kept)


class _Choice(NamedTuple):
    """The checkpoint to answer with, and the evaluation that found it."""

    evaluation: Optional[checkpoint_evaluator.EvaluationSummary]
    checkpoint: str


def _choose(
    run: Run, answering: _Answering, times: run_summary.RunSummary, *, final_step: Optional[int]
) -> _Choice:
    settings = run.settings
    several = checkpoint_evaluator.list_checkpoints(settings.output_dir)
    waiting = settings.wait_for_checkpoints_minutes
    if answering.gold is None or settings.checkpoint or not (several or waiting):
        checkpoint = fine_tuning_runs.chosen_checkpoint(settings)
        if answering.gold is not None:
            fine_tuning_flow.evaluate_one(settings, answering.measure, checkpoint)
        return _Choice(None, checkpoint)
    evaluation = fine_tuning_flow.evaluate(
        settings,
        answering.measure,
        times,
        best_metric=_BEST_METRIC,
        fingerprint=answering.fingerprint(),
        keep_checkpoints=settings.keep_checkpoint_max,
        final_step=final_step,
    )
    best = os.path.join(settings.output_dir, f"model.ckpt-{evaluation.best.step}")
    if answering.knows(best):
        return _Choice(evaluation, best)
    return _Choice(evaluation, fine_tuning_runs.chosen_checkpoint(settings))


def _warn_of_empty_answers(decoded: Decoded, gold: Gold) -> None:
    """Says so if no question got an answer, though some should have."""
    if decoded.num_found or (gold is not None and not any(gold.values())):
        return
    _LOGGER.warning(
        "None of the %d questions got an answer: the model has not learnt to answer, was not "
        "loaded, or its outputs are not finite (or --null_score_diff_threshold is too low). Train "
        "longer or with another --seed, and check the report on the first weights.",
        len(decoded.predictions.answers),
    )


def _export(run: Run) -> str:
    """Exports the chosen checkpoint; returns the folder of the SavedModel."""
    settings = run.settings
    checkpoint = fine_tuning_runs.chosen_checkpoint(settings)
    model = squad_export.SquadModel(
        run.config, checkpoint, settings.albert_hub_module_handle, settings.max_seq_length
    )
    head = run.version.build_head(settings, None)
    folder = squad_export.export_saved_model(
        settings.export_dir,
        model,
        head,
        extra_files=fine_tuning_flow.portable_files(
            DESCRIPTION_NAME,
            run.description(),
            {run.vocabulary.kind: run.vocabulary.file},
            config=run.config,
        ),
    )
    if run.version.has_lite_model:
        squad_export.export_tflite(settings.export_dir, model, head)
    return folder


class Outcome(NamedTuple):
    """What a run did; None for what was not asked for, or was done already."""

    training: Optional[estimator_utils.TrainingSummary]
    prediction: Optional[Prediction]
    export: Optional[str]  # the folder written


@estimator_utils.sole_trainer
def run_squad(settings: Any, version: Version) -> Outcome:
    """Trains, evaluates, predicts and exports as the settings say.

    Args:
      settings: util.flags.Settings with the flags of squad.flags.
      version: V1 or V2.

    Raises:
      ValueError: flags, data or checkpoints that do not fit each other.
      estimator_utils.TrainingDivergedError: the loss or the gradient is not finite any more.
    """
    began = time.time()
    check_flags(settings)
    version.check_flags(settings)
    settings = released_models.completed(settings)
    config = fine_tuning_utils.load_config(settings)
    vocabulary = fine_tuning_utils.load_vocabulary(settings, config)
    nothing = fine_tuning_runs.TrainingLength(1, 0)
    run = Run(settings, version, config, vocabulary, nothing)
    check_output_dir(run)
    if settings.do_predict or settings.export_dir:
        fine_tuning_runs.check_checkpoint(settings)
    about = {"task": version.name, "metric": _BEST_METRIC}
    times = fine_tuning_flow.start_summary(settings, about, began)
    questions, final_step = None, None
    training, prediction, export = None, None, None
    if settings.do_predict:  # mistakes in it show before hours of training
        data = read_data(run, settings.predict_file, is_training=False)
        questions = run.features(data, "predict")
    if settings.do_train:
        data = read_data(run, settings.train_file, is_training=True)
        length = fine_tuning_runs.training_length(settings, len(data.examples))
        run, final_step = run._replace(length=length), length.num_train_steps
        training = train(run, run.features(data, "train"), times.add_training)
        if training:
            times.add_training(training)
    if settings.do_predict:
        prediction = predict(run, questions, times, final_step=final_step)
    if settings.export_dir:
        export = _export(run)
    return Outcome(training, prediction, export)


def check_flags(settings: Any) -> None:
    """Checks flags against each other.

    Raises:
      ValueError: nothing to do, a file that is not named, or sizes that do not fit.
    """
    if not (settings.do_train or settings.do_predict or settings.export_dir):
        raise ValueError(
            "Nothing to do: give some of --do_train, --do_predict (which evaluates too) and "
            "--export_dir."
        )
    for part, name in (("do_train", "train_file"), ("do_predict", "predict_file")):
        if getattr(settings, part) and not getattr(settings, name):
            raise ValueError(f"--{name} must be given with --{part}: the SQuAD file to read.")
    if settings.do_train and not settings.num_train_epochs > 0:
        raise ValueError(
            f"--num_train_epochs={settings.num_train_epochs:g} trains nothing; usual is 2 or 3."
        )
    if settings.max_query_length + 3 >= settings.max_seq_length:
        raise ValueError(
            f"--max_query_length={settings.max_query_length} leaves no room for the paragraph in "
            f"--max_seq_length={settings.max_seq_length}: [CLS] question [SEP] paragraph [SEP]. "
            "Lower the first (24 is enough for most questions) or raise the second."
        )
    _check_distinct(settings)
    estimator_utils.check_batch_sizes(settings)


def _check_distinct(settings: Any) -> None:
    """Refuses one name for several files.

    Raises:
      ValueError: with both flags.
    """
    known: Dict[str, str] = {}
    for name in (
        "train_file",
        "train_feature_file",
        "predict_feature_file",
        "predict_feature_left_file",
        "predict_file",
    ):
        path = getattr(settings, name)
        other = known.setdefault(os.path.abspath(path), name) if path else name
        if other != name and {name, other} != {"train_file", "predict_file"}:
            raise ValueError(f"--{name} and --{other} are both {path}. Name different files.")
