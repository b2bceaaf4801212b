# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The parts of a fine-tuning script that are the same for every task, from its flags on.

    check_output_dir(settings, config, name="race.json", description=description)
    times = start_summary(settings, {"task": "race", "metric": "eval_accuracy"}, began)
    training = train(settings, model_fn, input_fn, ..., on_progress=times.add_training)
    evaluation = evaluate(settings, measure, times, best_metric="eval_accuracy", ...)

A task brings the model function (with `model_settings`), the input function (with
`padded_batches.input_fn`), and what it measures; it is never named here.

Legend: B batch.
"""

import json
import logging
import os
import time
from typing import Any, Callable, Dict, Mapping, Optional, Sequence

import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.data import padded_batches
from albert.pretrained import checkpoint_files, model_vocabulary
from albert.pretrained import warm_start as checkpoint_init
from albert.training import estimators as estimator_utils
from albert.training import evaluation as checkpoint_evaluator
from albert.training import fine_tuning_runs, run_summary
from albert.util import files
from albert.util import runtime as precision

_LOGGER = logging.getLogger("albert")

CONFIG_NAME = "albert_config.json"
RESULTS_NAME = "eval_results.json"

# Compiled clusters pay on TensorFlow 1.15 from so many examples times width on for each length that
# there may be (one in 16 pieces), but the first few, whose time the larger graph without clusters
# takes too. Fitted to processor seconds of whole runs: docs/results.md.
_WORTH_COMPILING = 8.5e3
_LENGTHS_FOR_NOTHING = 5
# Pieces of an update times layers times width for which TensorFlow's own gradients, which keep more
# than those of the clusters, fit into about a gigabyte.
_SMALL_UPDATE = 1e7


# ---------------------------------------------------------------------------------------------
# The model and its input, as the flags want them.


def compiles(
    settings: Any,
    config: Optional[modeling.AlbertConfig],
    length: fine_tuning_runs.TrainingLength,
) -> bool:
    """Returns whether training compiles the element-wise parts (--use_xla).

    Each length of a batch is compiled for itself. On TensorFlow 1.15 a short training of small
    batches or a small model would lose by it; there --use_xla has to be given.

    Args:
      settings, config, length: as of `model_settings`.
    """
    if settings.use_tpu or not settings.use_xla:
        return False
    if precision.is_tf2() or config is None or "use_xla" in getattr(settings, "given", ()):
        return True
    size = config.num_hidden_layers * config.hidden_size
    batch, longest = settings.train_batch_size, settings.max_seq_length
    if settings.padding == "max" or batch * longest * size > _SMALL_UPDATE:
        return True
    lengths = longest / padded_batches.LENGTH_MULTIPLE - _LENGTHS_FOR_NOTHING
    width = length.num_train_steps * batch * config.hidden_size
    return width > _WORTH_COMPILING * lengths


def model_settings(
    settings: Any,
    config: Optional[modeling.AlbertConfig],
    length: fine_tuning_runs.TrainingLength,
    *,
    init_checkpoint: Optional[str] = None,
) -> fine_tuning_utils.ModelSettings:
    """Returns what fine_tuning_utils.build_model_fn takes beside a head.

    Args:
      settings: the training, fine-tuning, TPU and runtime flags.
      config: of the encoder; None with a hub module.
      length: of training.
      init_checkpoint: where the first weights are, if there is no other checkpoint.
    """
    return fine_tuning_utils.ModelSettings(
        config=config,
        init_checkpoint=init_checkpoint,
        learning_rate=settings.learning_rate,
        num_train_steps=length.num_train_steps,
        num_warmup_steps=length.num_warmup_steps,
        use_tpu=settings.use_tpu,
        # On a TPU looking up rows is slower than a product.
        use_one_hot_embeddings=settings.use_tpu,
        hub_module=settings.albert_hub_module_handle,
        optimizer=settings.optimizer,
        compute_dtype=precision.compute_dtype(settings.precision),
        recompute=settings.recompute,
        use_xla=compiles(settings, config, length),
        gradient_accumulation_steps=settings.gradient_accumulation_steps,
        seed=settings.seed,
        layerwise_lr_decay=settings.layerwise_lr_decay,
    )


# ---------------------------------------------------------------------------------------------
# The output folder.


def absolute_handle(handle: str) -> str:
    """Returns a hub module's handle that means the same in any working directory."""
    return handle if "://" in handle else os.path.abspath(handle)


def model_description(settings: Any, vocabulary: fine_tuning_utils.Vocabulary) -> Dict[str, Any]:
    """Returns what a folder's description says of any model: length, vocabulary, hub module.

    Args:
      settings: has max_seq_length and albert_hub_module_handle.
      vocabulary: the model's.
    """
    content = {"max_seq_length": settings.max_seq_length}
    content.update(vocabulary.description())
    if settings.albert_hub_module_handle:
        content["hub_module"] = absolute_handle(settings.albert_hub_module_handle)
    return content


def portable_files(
    name: str,
    description: Mapping[str, Any],
    vocabulary: Mapping[str, Optional[str]],
    *,
    config: Optional[modeling.AlbertConfig],
) -> Dict[str, bytes]:
    """Returns the content of the files that, with the weights, make a model usable elsewhere.

    Args:
      name: of the JSON file with the description.
      description: its content but for the vocabulary, which lies beside it.
      vocabulary: the path for each of model_vocabulary.KEYS, or None.
      config: of the encoder; None with a hub module.
    """
    content = {key: value for key, value in description.items() if key not in model_vocabulary.KEYS}
    contents = {}
    for key in model_vocabulary.KEYS:
        path = vocabulary.get(key)
        if path:
            base = os.path.basename(path)
            contents[base] = files.read_bytes(path)
            content[key] = {"path": base, "sha256": files.file_fingerprint(path)["sha256"]}
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    contents[name] = text.encode("utf-8")
    if config is not None:
        contents[CONFIG_NAME] = config.to_json_string().encode("utf-8")
    return contents


def check_output_dir(
    settings: Any,
    config: Optional[modeling.AlbertConfig],
    *,
    name: str,
    description: Mapping[str, Any],
    earlier: Optional[Mapping[str, Any]] = None,
    training_only: Sequence[str] = ("max_seq_length",),
) -> None:
    """Checks that the output folder is new, or was made for this model, task and vocabulary.

    Args:
      settings: has output_dir and do_train.
      config: of the encoder; None with a hub module.
      name: of the folder's JSON file with the description.
      description: what that file says after this run.
      earlier: values that earlier versions did not record.
      training_only: what only training may not change.

    Raises:
      ValueError: it belongs to something else.
    """
    folder = settings.output_dir
    if config is not None:
        estimator_utils.check_output_dir(folder, config.to_dict())
    path = os.path.join(folder, name)
    if not tf.io.gfile.exists(path):
        return
    present = dict(earlier or {})
    present.update(files.read_json_object(path))
    wanted = dict(description)
    for content in (present, wanted):
        if content.get("hub_module"):
            content["hub_module"] = absolute_handle(content["hub_module"])
        for key in model_vocabulary.KEYS:
            content[key] = content.get(key) and content[key]["sha256"]
    for key in () if settings.do_train else training_only:
        trained, now = present.pop(key, None), wanted.pop(key, None)
        if trained != now:
            _LOGGER.warning(
                "The model in %s was trained with --%s=%s, and is run with %s now.",
                folder,
                key,
                trained,
                now,
            )
    difference = files.fingerprint_difference(present, wanted)
    if difference:
        raise ValueError(
            f"--output_dir={folder} belongs to another run: {difference}. Choose another "
            f"--output_dir; if the change is meant, remove {path} first."
        )


# ---------------------------------------------------------------------------------------------
# Training.


def start_summary(settings: Any, about: Mapping[str, Any], began: float) -> run_summary.RunSummary:
    """Returns what keeps run_summary.json during this start of the run.

    Args:
      settings: has output_dir, seed and train_batch_size.
      about: task and metric.
      began: the time of the start, in seconds since 1970.
    """
    about = dict(about, seed=settings.seed)
    return run_summary.RunSummary(
        settings.output_dir, about, batch_size=settings.train_batch_size, began=began
    )


def train(
    settings: Any,
    model_fn: Callable[[Optional[str]], Callable],
    input_fn: Callable[[int], Callable],
    *,
    config: Optional[modeling.AlbertConfig],
    length: fine_tuning_runs.TrainingLength,
    documents: Mapping[str, Any],
    examples: int,
    constant_loss: Optional[float] = None,
    on_progress: Optional[Callable[[estimator_utils.TrainingSummary], None]] = None,
) -> Optional[estimator_utils.TrainingSummary]:
    """Trains to the last step, from the newest checkpoint if there is one.

    Says so where training ended with a loss as if the input had not been looked at.

    Args:
      settings: the training, TPU and runtime flags.
      model_fn: checkpoint to start from, or None -> a model function.
      input_fn: step to start with -> an input function.
      config: of the encoder; None with a hub module.
      length: of training.
      documents: JSON values by file name, to be left in the output folder.
      examples: of the training data.
      constant_loss: the lowest loss of a constant prediction, see metrics.constant_loss; None
        where that is not known.
      on_progress: called with what was done so far, each time the log has a line.

    Returns:
      What was done; None if that had been done before. Errors are those of fine_tuning_runs.train.
    """

    def announced_model_fn(checkpoint: Optional[str]) -> Callable:
        """Called if there is something to train."""
        _announce_compilation(settings, config, length)
        return model_fn(checkpoint)

    summary = fine_tuning_runs.train(
        settings,
        announced_model_fn,
        input_fn,
        num_train_steps=length.num_train_steps,
        model_config=config and config.to_dict(),
        documents=documents,
        on_progress=on_progress,
    )
    epoch_steps = -(-examples // settings.train_batch_size)
    loss = fine_tuning_runs.recent_loss(settings.output_dir, epoch_steps)
    if loss is not None and constant_loss is not None:
        fine_tuning_runs.warn_of_collapse(loss, constant_loss)
    return summary


def _announce_compilation(
    settings: Any,
    config: Optional[modeling.AlbertConfig],
    length: fine_tuning_runs.TrainingLength,
) -> None:
    if settings.albert_hub_module_handle:
        return  # a module is run as it is
    if compiles(settings, config, length):
        lengths = 1
        if settings.padding != "max":
            lengths = -(-settings.max_seq_length // padded_batches.LENGTH_MULTIPLE)
        _LOGGER.info(
            "Element-wise parts are compiled (--use_xla): a step takes some seconds longer where a "
            "batch is the first of its length, of which there may be %d.",
            lengths,
        )
    elif settings.use_xla and not settings.use_tpu:
        _LOGGER.info(
            "Element-wise parts are not compiled: so short a training gains less than each length "
            "of a batch takes to compile. --use_xla compiles them all the same."
        )


# ---------------------------------------------------------------------------------------------
# Evaluation.


class _StopWatch:
    """Seconds since it was looked at before."""

    def __init__(self):
        self._last = time.time()

    def lap(self) -> float:
        """Returns the seconds since the last call."""
        last, self._last = self._last, time.time()
        return self._last - last


def evaluate(
    settings: Any,
    measure: Callable[[str], Mapping[str, float]],
    times: run_summary.RunSummary,
    *,
    best_metric: str,
    higher_is_better: bool = True,
    fingerprint: Mapping[str, Any],
    keep_checkpoints: int = 0,
    final_step: Optional[int] = None,
    finish: Optional[Callable[[checkpoint_evaluator.EvaluationSummary], None]] = None,
) -> Optional[checkpoint_evaluator.EvaluationSummary]:
    """Evaluates --checkpoint, or each checkpoint of the output folder, of which it keeps the best.

    Args:
      settings: has output_dir, checkpoint, do_train and wait_for_checkpoints_minutes.
      measure: checkpoint path -> {metric: number}.
      times: gets the results and the time they took.
      best_metric, higher_is_better, fingerprint, final_step: see
        checkpoint_evaluator.evaluate_checkpoints.
      keep_checkpoints: how many of the newest checkpoints stay where this process trained; 0 keeps
        all.
      finish: called once all checkpoints are evaluated.

    Returns:
      The summary; None for --checkpoint, whose results are in a file of their own.
    """
    if settings.checkpoint:
        evaluate_one(settings, measure)
        return None
    watch = _StopWatch()

    def timed(checkpoint: str) -> Mapping[str, float]:
        measurements = measure(checkpoint)
        times.add_evaluation(watch.lap())
        return measurements

    summary = fine_tuning_runs.evaluate(
        settings,
        timed,
        best_metric=best_metric,
        higher_is_better=higher_is_better,
        fingerprint=fingerprint,
        final_step=final_step,
    )
    if finish:
        finish(summary)
    results = _results(summary, best_metric)
    if times.has_news or times.lacks(results):
        times.add_evaluation(watch.lap(), **results)
    if settings.do_train:
        # model.ckpt-0 has served its purpose too.
        steps = [0, *(result.step for result in summary.results)]
        fine_tuning_runs.prune_checkpoints(settings.output_dir, keep_checkpoints, steps)
    return summary


def evaluate_one(
    settings: Any,
    measure: Callable[[str], Mapping[str, float]],
    checkpoint: Optional[str] = None,
) -> Dict[str, Any]:
    """Evaluates one checkpoint, and writes eval_results.<its name>.txt and .json.

    Args:
      settings: has output_dir and checkpoint.
      measure: checkpoint path -> {metric: number}.
      checkpoint: path prefix; None takes --checkpoint.

    Returns:
      The results and, where the checkpoint has one, its global_step.
    """
    checkpoint = checkpoint or checkpoint_init.resolve_checkpoint(settings.checkpoint)
    results = dict(measure(checkpoint))
    with checkpoint_files.explained(checkpoint):
        reader = tf.train.load_checkpoint(checkpoint)
        if reader.has_tensor("global_step"):
            results["global_step"] = int(reader.get_tensor("global_step"))
    lines = [f"{name} = {value}" for name, value in sorted(results.items())]
    _LOGGER.info("%s: %s", checkpoint, ", ".join(lines))
    stem = os.path.join(settings.output_dir, f"eval_results.{os.path.basename(checkpoint)}")
    files.atomic_write_text(stem + ".txt", "".join(line + "\n" for line in lines))
    files.atomic_write_json(stem + ".json", dict(results, checkpoint=checkpoint))
    return results


def recorded_metrics(checkpoint: str, output_dir: str) -> Dict[str, Any]:
    """Returns what evaluation, whenever it was, has found for a checkpoint; {} if nothing.

    Args:
      checkpoint: path prefix; results are looked for beside it.
      output_dir: where `evaluate_one` may have left them.
    """
    folder, name = os.path.split(checkpoint)
    for place in (output_dir, folder):
        found = run_summary.read_document(os.path.join(place, f"eval_results.{name}.json"))
        if found and found.get("checkpoint") == checkpoint:
            return found
    ledger = run_summary.read_document(os.path.join(folder, RESULTS_NAME)) or {}
    step = ledger.get("best_step")
    if name != checkpoint_evaluator.BEST_CHECKPOINT:
        step = int(name.rpartition("-")[2]) if name.rpartition("-")[2].isdigit() else None
    for result in ledger.get("results", []):
        if step is not None and result.get("step") == step:
            return dict(result["metrics"])
    return {}


def _results(summary: checkpoint_evaluator.EvaluationSummary, best_metric: str) -> Dict[str, Any]:
    """What run_summary.json says of an evaluation."""
    best = summary.best
    return {
        "num_train_steps": max(result.step for result in summary.results),
        "best_step": best and best.step,
        "metrics": dict(best.metrics) if best else {},
        "value": best and best.metrics[best_metric],
    }
