# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs estimators: where training goes on, TPU or not, training, outputs, and several processes.

Nothing here knows what is trained. Beside model_fn.py this is the only module that uses
tf_estimator.
"""

import contextlib
import functools
import logging
import os
import tempfile
from typing import Any, Callable, Dict, Mapping, Optional, Sequence

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.checkpoints import checkpoint_files
from albert.configs.flags import TrainingFlags
from albert.data import record_files
from albert.pretrained import network, released
from albert.runtimes import compat, devices
from albert.runtimes import estimator as tf_estimator
from albert.training import distribution, peer_watch
from albert.training import hooks as training_hooks
from albert.util import files, folder_lock, progress, provenance, stop_signals
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

CONFIG_NAME = "albert_config.json"

# How long a worker may be silent before the others end.
_WORKER_PATIENCE_SECONDS = 60.0
# How the names of the temporary folders begin in which all but the chief train.
_WORKER_FOLDER = "albert_worker_"
# After so many lost sessions without a new checkpoint a training ends.
_MOST_RECOVERIES = 3
# What the training step says when it refuses an update.
_GRADIENT_STOP = "gradient norm is not finite"

ModelFn = Callable[..., Any]  # (features, labels, mode, params) -> TPUEstimatorSpec
InputFn = Callable[[Mapping[str, Any]], tf.data.Dataset]  # of params, which has batch_size


# ---------------------------------------------------------------------------------------------
# Output folder: ownership and resumption.


def check_output_dir(output_dir: str, config: Mapping[str, Any]) -> None:
    """Raises ValueError if the folder belongs to a model of another configuration."""
    path = os.path.join(output_dir, CONFIG_NAME)
    if not tf.io.gfile.exists(path):
        return
    # Read as a configuration, so that a key that is left out equals its default.
    present = modeling.AlbertConfig.from_json_file(path).to_dict()
    differences = provenance.difference(present, config)
    if differences:
        raise UserError(
            f"--output_dir={output_dir} belongs to a model of another configuration: "
            f"{differences}. Choose another --output_dir (with --init_checkpoint to start from "
            f"the weights in this one); if the change is meant, remove {path} first."
        )


def lock_output_dir(script: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a script's main part, which takes settings: training locks --output_dir."""

    @functools.wraps(script)
    def run(settings: TrainingFlags, *arguments: Any) -> Any:
        if not settings.do_train or not distribution.is_chief(settings):
            return script(settings, *arguments)
        with folder_lock.held(settings.output_dir):
            return script(settings, *arguments)

    return run


def announce(settings: TrainingFlags, config: Optional[modeling.AlbertConfig], data: str) -> None:
    """Logs the first line of a run: model, data, precision and device.

    Args:
      config: of the model; None for a hub module without one.
      data: what is read, in a few words.
    """
    is_cased = not getattr(settings, "do_lower_case", True)
    model, device = released.model_summary(config, is_cased), device_line(settings)
    _LOGGER.info("%s on %s in %s. %s", model, data, settings.precision, device)


def device_line(settings: TrainingFlags) -> str:
    """Returns what this process runs on; with --use_tpu no GPU is touched, not even to count."""
    does = "Training" if settings.do_train else "Running"
    if settings.use_tpu:
        tpu = settings.tpu_name or settings.master or "of this host"
        return f"{does} on TPU {tpu} ({settings.num_tpu_cores} cores)."
    is_alone = not settings.do_train or settings.distribution_strategy == distribution.NONE
    return devices.training_line(1 if is_alone else settings.num_devices, does)


def resume_point(output_dir: str, is_ours: bool = True) -> Optional[checkpoint_files.Checkpoint]:
    """Returns the checkpoint from which training goes on, if there is one.

    It is the one that the file `checkpoint` names, or else the newest, whose values are all finite
    and equal their checksums. Every process of a run finds the same. What was left half-written is
    removed, and the file `checkpoint`, by which TensorFlow finds what to restore, is mended if need
    be. Checkpoints that are skipped stay where they are.

    Args:
      is_ours: whether this process is the one that writes there, and may mend things.

    Raises:
      UserError: none is whole, and training from the first step on would overwrite them.
    """
    if not tf.io.gfile.isdir(output_dir):
        return None
    state = checkpoint_files.read_state(output_dir)
    present = checkpoint_files.list_checkpoints(output_dir, incomplete_too=True)
    resumed, faults = None, []
    # The one that the state names goes first, then the newest.
    for checkpoint in sorted(
        present, key=lambda found: (os.path.basename(found.path) != state.name, -found.step)
    ):
        damage = checkpoint_files.find_damage(checkpoint.path, must_be_finite=True)
        damage = damage or checkpoint_files.find_damage(checkpoint.path, ["global_step"])
        if not damage:
            resumed = checkpoint
            break
        faults.append(f"corrupt checkpoint {checkpoint.path} ({damage})")
    if not resumed and any(checkpoint.step for checkpoint in present):
        raise UserError(
            f"--output_dir={output_dir} has no readable checkpoint, and training from the first "
            f"step would overwrite what is there: {faults[0]}. Put whole ones there, or choose "
            "another --output_dir."
        )
    for fault in faults:
        start = f"Resuming from step {resumed.step}" if resumed else "Starting anew"
        _LOGGER.warning("Skipping %s. %s.", fault, start)
    if is_ours:
        for leftover in tf.io.gfile.glob(os.path.join(output_dir, "model.ckpt-*_temp*")):
            tf.io.gfile.rmtree(leftover)
        if resumed and os.path.basename(resumed.path) != state.name:
            older = [checkpoint.path for checkpoint in present if checkpoint.step <= resumed.step]
            tf.train.update_checkpoint_state(output_dir, resumed.path, older)
        elif state.exists and not resumed:
            path = os.path.join(output_dir, checkpoint_files.STATE_NAME)
            tf.io.gfile.rename(path, files.unused_name(path))  # it may be another program's
    return resumed


def agreed_resume_point(
    settings: TrainingFlags, flags: TrainingFlags
) -> Optional[checkpoint_files.Checkpoint]:
    """Returns what `resume_point` finds, where several workers train once all are there.

    Args:
      flags: the settings of the command line, which all workers have to share.

    Raises:
      UserError: workers have different flags, or begin at different steps.
    """
    resumed = resume_point(settings.output_dir)
    if settings.distribution_strategy != distribution.MULTI_WORKER:
        return resumed
    cluster = distribution.read_cluster()
    # As text, because NaN != NaN.
    ours = {f"--{name}": str(x) for name, x in flags.to_dict().items() if name not in _OWN}
    ours["the step of the newest checkpoint in --output_dir"] = str(resumed.step if resumed else 0)
    first, *others = peer_watch.roll_call(cluster.addresses, cluster.rank, ours)
    for address, theirs in zip(cluster.addresses[1:], others):
        differences = [
            f"{name} is {value} at {cluster.addresses[0]} and {theirs.get(name)} at {address}"
            for name, value in first.items()
            if value != theirs.get(name)
        ]
        if differences:
            raise UserError(
                f"The workers differ: {'; '.join(differences)}. Give every worker the same flags, "
                "and the same --output_dir on a file system that all share, or gs://."
            )
    return resumed


# ---------------------------------------------------------------------------------------------
# Estimators.


def run_config(
    settings: TrainingFlags,
    *,
    keep_checkpoint_max: int = 0,
    strategy: Optional[tf.distribute.Strategy] = None,
) -> "tf_estimator.tpu.RunConfig":
    """Returns the estimator's configuration for the training, TPU and runtime flags.

    With use_tpu, each host reads its own input (PER_HOST_V2), and the TPU is found by tpu_name,
    tpu_zone and gcp_project, or by master. A TPU's loop is no longer than the steps between
    checkpoints, which are written between two loops. The seed becomes the graph's seed.

    Args:
      keep_checkpoint_max: newest checkpoints to keep; 0 keeps all.
      strategy: of training on several devices.
    """
    resolver = None
    if settings.use_tpu and settings.tpu_name:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(
            tpu=settings.tpu_name, zone=settings.tpu_zone, project=settings.gcp_project
        )
    joins_others = strategy and settings.distribution_strategy == distribution.MULTI_WORKER
    with contextlib.ExitStack() if joins_others else distribution.alone():
        return tf_estimator.tpu.RunConfig(
            cluster=resolver,
            master=None if resolver else settings.master,
            model_dir=settings.output_dir,
            keep_checkpoint_max=keep_checkpoint_max,
            # With a strategy a hook of the chief saves.
            save_checkpoints_steps=None if strategy else settings.save_checkpoints_steps,
            save_summary_steps=0,  # TrainingHook reports instead
            log_step_count_steps=None,
            tf_random_seed=settings.seed,
            session_config=distribution.session_config(settings),
            train_distribute=strategy,
            tpu_config=tf_estimator.tpu.TPUConfig(
                iterations_per_loop=training_hooks.steps_per_call(settings),
                num_shards=settings.num_tpu_cores,
                per_host_input_for_training=tf_estimator.tpu.InputPipelineConfig.PER_HOST_V2,
            ),
        )


def _estimator(
    settings: TrainingFlags, model_fn: ModelFn, config: Any = None, **sizes: int
) -> "tf_estimator.tpu.TPUEstimator":
    """An estimator for a TPU, a CPU or one GPU; `sizes` are of batches, over all cores."""
    return tf_estimator.tpu.TPUEstimator(
        model_fn=model_fn,
        config=config or run_config(settings),
        use_tpu=settings.use_tpu,
        params={"model_dir": settings.output_dir},
        train_batch_size=settings.train_batch_size,
        **sizes,
    )


def check_batch_sizes(settings: TrainingFlags) -> None:
    """Raises UserError where batches cannot be split as asked, or devices exclude each other."""
    strategy, use_tpu = settings.distribution_strategy, settings.use_tpu
    multi_worker = strategy == distribution.MULTI_WORKER
    padding = getattr(settings, "padding", "max")
    cores = settings.num_tpu_cores if use_tpu else 1
    parts = cores if use_tpu else distribution.num_replicas(settings)
    multiple = settings.gradient_accumulation_steps * parts
    conflicts = [
        (use_tpu and not tf_estimator.HAS_TF_ESTIMATOR, f"--use_tpu: {tf_estimator.NO_TPU}"),
        (
            use_tpu and settings.precision == "float16",
            "--use_tpu excludes --precision=float16. Give --precision=bfloat16.",
        ),
        (
            use_tpu and strategy != distribution.NONE,
            f"--use_tpu excludes --distribution_strategy={strategy}.",
        ),
        (
            use_tpu and padding not in (None, "max"),
            f"--use_tpu excludes --padding={padding}. Give --padding=max.",
        ),
        (
            multi_worker and padding != "max" and not compat.is_tf2(),
            f"On TensorFlow 1.15 --distribution_strategy={strategy} excludes "
            f"--padding={padding or 'longest'}. Give --padding=max, or use TensorFlow 2.",
        ),
        (
            settings.worker_patience_seconds and not multi_worker,
            f"--worker_patience_seconds={settings.worker_patience_seconds} needs "
            f"--distribution_strategy={distribution.MULTI_WORKER}.",
        ),
        (
            settings.num_devices and strategy != distribution.MIRRORED,
            f"--num_devices={settings.num_devices} needs --distribution_strategy="
            f"{distribution.MIRRORED}. Otherwise limit the GPUs by CUDA_VISIBLE_DEVICES.",
        ),
        (
            settings.train_batch_size % multiple,
            f"--train_batch_size={settings.train_batch_size} must be a multiple of {multiple}: "
            f"--gradient_accumulation_steps={settings.gradient_accumulation_steps} times {parts} "
            "devices.",
        ),
        (
            settings.do_train
            and not (use_tpu or multi_worker)
            and distribution.count_processes() > 1,
            f"TF_CONFIG names {distribution.count_processes()} processes, but each would train "
            "alone and write into the same --output_dir. Give --distribution_strategy="
            f"{distribution.MULTI_WORKER}, or unset TF_CONFIG.",
        ),
    ]
    for name in ("eval_batch_size", "predict_batch_size"):
        size = getattr(settings, name, cores)
        conflicts.append(
            (size % cores, f"--{name}={size} must be a multiple of the {cores} cores.")
        )
    for is_wrong, message in conflicts:
        if is_wrong:
            raise UserError(message)


# ---------------------------------------------------------------------------------------------
# Training.


def train(
    settings: TrainingFlags,
    model_fn: Callable[[Optional[str]], ModelFn],
    input_fn: Callable[[int], InputFn],
    *,
    max_steps: int,
    documents: Mapping[str, bytes],
    flags: Optional[TrainingFlags] = None,
    keep_checkpoint_max: int = 0,
    hooks: Sequence[tf.train.SessionRunHook] = (),
    on_start: Callable[[], None] = lambda: None,
) -> Optional[training_hooks.TrainingSummary]:
    """Trains to step `max_steps` in --output_dir, from its newest checkpoint or the first weights.

    Args:
      model_fn: checkpoint of the first weights, or None -> model function.
      input_fn: number of steps done before -> input function that begins with the next batch.
      documents: content by file name, written beside the checkpoints for later steps to use.
      flags: the settings of the command line, before the parts of --albert_dir were found.
      keep_checkpoint_max: newest checkpoints to keep; 0 keeps all.
      on_start: called before the first step; `hooks` are called before those of the training.

    Returns what was done; None if that had been done before.

    Raises:
      hooks.TrainingDivergedError: the loss or the gradient is not finite any more.
      UserError: a checkpoint does not fit the model, or another process trains there.
      stop_signals.Stopped: a signal asked for it; the last step is saved.
    """
    resumed = agreed_resume_point(settings, flags or settings)
    if resumed and resumed.step >= max_steps:
        _LOGGER.info(
            "Nothing to train: %s is at step %d of %d.", resumed.path, resumed.step, max_steps
        )
        return None
    if resumed:
        _LOGGER.info("Resuming from %s, step %d.", resumed.path, resumed.step)
    elif not settings.init_checkpoint:
        _LOGGER.info("Starting from random weights. Seed %d.", settings.seed)
    function = model_fn(None if resumed else settings.init_checkpoint)

    def write() -> None:
        for name, content in documents.items():
            files.atomic_write_bytes(os.path.join(settings.output_dir, name), content)
        on_start()

    training = training_hooks.TrainingHook(settings, max_steps, write)
    training.resumed = resumed

    def train_from(step: int) -> None:
        options = {"max_steps": max_steps, "hooks": [*hooks, *training.with_saver()]}
        _run_estimator(function, input_fn(step), training, keep=keep_checkpoint_max, **options)

    with folder_lock.held(settings.output_dir), tf_estimator.lost_sessions_raise():
        _recover(train_from, training)
    summary = training.summary()
    stop_signals.resume(
        f"Step {summary.last_step} of {max_steps} is saved; the same command goes on from there."
    )
    return summary


def _recover(train_from: Callable[[int], None], training: training_hooks.TrainingHook) -> None:
    """Trains, and after a lost session goes on from the newest checkpoint and its batch."""
    settings, recoveries = training.settings, 0
    while True:
        resumed = training.resumed
        try:
            with files.naming_path(settings.output_dir), record_files.explained():
                return train_from(resumed.step if resumed else 0)
        except (tf.errors.AbortedError, tf.errors.UnavailableError) as error:
            stop_signals.resume("The same command resumes from the last checkpoint.")
            reason = error.message.split("\n")[0]
            lost = f"Lost the session after step {training.step} ({reason})."
            is_joint = settings.distribution_strategy == distribution.MULTI_WORKER
            if not is_joint:
                training.resumed = resume_point(settings.output_dir)
            recoveries = recoveries + 1 if training.resumed == resumed else 1
            if is_joint or recoveries > _MOST_RECOVERIES:
                where = " in every process" if is_joint else ""
                message = f"{lost} Run the same command{where} to resume from the last checkpoint."
                raise UserError(message) from error
            _LOGGER.warning("%s Resuming from the last checkpoint.", lost)
        except tf.errors.InvalidArgumentError as error:
            if _GRADIENT_STOP not in error.message:
                raise
            # The step was not finished, and nothing was changed by it.
            reason = f"the {_GRADIENT_STOP}"
            if training.loss is not None:
                reason += f" (loss of the step before: {training.loss})"
            raise training_hooks.diverged(f"in step {training.step + 1}", reason) from error
        finally:
            training.close()
            stop_signals.resume()


def _run_estimator(
    model_fn: ModelFn,
    input_fn: InputFn,
    training: training_hooks.TrainingHook,
    *,
    keep: int,
    **options: Any,
) -> None:
    """Trains on the devices that the flags name, by the call that TensorFlow wants for them.

    `keep`: newest checkpoints to keep, 0 keeps all; `options` are max_steps and hooks.
    """
    settings = training.settings
    strategy = distribution.build_strategy(settings)
    config = run_config(settings, keep_checkpoint_max=keep, strategy=strategy)
    if strategy is None:
        _estimator(settings, model_fn, config).train(input_fn, **options)
        return

    def replica_model_fn(features, mode, params):
        return model_fn(features, None, mode, params).as_estimator_spec()

    def replica_input_fn(params, input_context=None):
        return input_fn(dict(params, input_context=input_context))

    size = settings.train_batch_size // distribution.num_replicas(settings)
    params = {"model_dir": settings.output_dir, "batch_size": size}
    estimator = tf_estimator.Estimator(replica_model_fn, config=config, params=params)
    if settings.distribution_strategy == distribution.MIRRORED:
        estimator.train(replica_input_fn, **options)
        return
    addresses, rank = distribution.read_cluster()
    folder = settings.output_dir
    heartbeat = peer_watch.heartbeat(
        addresses[:rank] + addresses[rank + 1 :],
        is_over=training.is_over,
        patience_seconds=settings.worker_patience_seconds or _WORKER_PATIENCE_SECONDS,
        leftovers=[folder] if os.path.basename(folder).startswith(_WORKER_FOLDER) else [],
    )
    with heartbeat, tf.Graph().as_default():
        tf_estimator.train_on_workers(estimator, replica_input_fn, **options)


# ---------------------------------------------------------------------------------------------
# Metrics in the graph, and what a model gives for every example.


class _CountingHook(tf.train.SessionRunHook):
    """Counts batches."""

    def __init__(self, bar: progress.Progress):
        self._bar = bar

    def after_run(self, run_context, run_values):
        del run_context, run_values
        self._bar.update(1, "")


def evaluator(
    settings: TrainingFlags,
    model_fn: ModelFn,
    input_fn: InputFn,
    *,
    batch_size: int,
    steps: int,
) -> Callable[[str], Dict[str, Any]]:
    """Returns checkpoint -> the model function's own metrics over `steps` batches."""
    estimator = _estimator(settings, model_fn, eval_batch_size=batch_size)

    def evaluate(checkpoint: str) -> Dict[str, Any]:
        bar = progress.Progress("Evaluating", steps, unit="batches")
        with bar, record_files.explained():
            return estimator.evaluate(
                input_fn, steps=steps, checkpoint_path=checkpoint, hooks=[_CountingHook(bar)]
            )

    return evaluate


def tpu_outputs(
    settings: TrainingFlags,
    model_fn: ModelFn,
    input_fn: InputFn,
    *,
    checkpoint: str,
    batch_size: int,
) -> Dict[str, np.ndarray]:
    """Returns a checkpoint's predictions on a TPU for all examples, [N, ...] each, in their order.

    The predictions of model_fn have example_index and is_real_example.
    """
    estimator = _estimator(settings, model_fn, predict_batch_size=batch_size)
    parts = []
    options = {"checkpoint_path": checkpoint, "yield_single_examples": False}
    explained = checkpoint_files.explained(checkpoint), record_files.explained()
    with explained[0], explained[1], tf_estimator.lost_sessions_raise():
        for batch in estimator.predict(input_fn, **options):
            real = batch["is_real_example"] > 0
            parts.append({name: value[real] for name, value in batch.items()})
    outputs = network.joined(parts)
    order = np.argsort(outputs.pop("example_index"), kind="stable")
    del outputs["is_real_example"]
    return {name: value[order] for name, value in outputs.items()}


# ---------------------------------------------------------------------------------------------
# What each process of a distributed training does.

# Settings overridden on workers, which leave this to the first one or do it in their own folder.
_CHIEF_ONLY_FLAGS = {
    "do_eval": False,
    "do_predict": False,
    "predict_file": None,
    "export_dir": None,
    "cached_dir": None,
    "train_feature_file": None,
    "predict_feature_file": None,
    "predict_feature_left_file": None,
}
# Flags that may differ between workers.
_OWN = ("output_dir", *_CHIEF_ONLY_FLAGS)


def run_as_worker(script: Callable[[Any], Any], settings: TrainingFlags) -> None:
    """Runs a script's main part as far as it is this process's, where several train together.

    The chief does all that the flags say. The others train, in a temporary folder that begins as a
    copy of what the chief goes on from, and end with the training: they write nothing that stays.

    Raises:
      UserError: TF_CONFIG is not as it must be, and what `script` raises.
    """
    if distribution.is_chief(settings):
        script(settings)
        return
    addresses, rank = distribution.read_cluster()
    name = f"Worker {rank + 1} of {len(addresses)}"
    if not settings.do_train:
        _LOGGER.info("%s has nothing to do: the first worker evaluates and predicts.", name)
        return
    _LOGGER.info("%s. %s The first worker writes the log and results.", name, device_line(settings))
    own = {flag: value for flag, value in _CHIEF_ONLY_FLAGS.items() if hasattr(settings, flag)}
    level = _LOGGER.level
    with tempfile.TemporaryDirectory(prefix=_WORKER_FOLDER) as folder:
        copy_resume_point(settings.output_dir, folder)
        _LOGGER.setLevel(logging.WARNING)
        try:
            script(settings.replace(output_dir=folder, **own))
        finally:
            _LOGGER.setLevel(level)
    _LOGGER.info("%s has finished the training; the first worker does the rest.", name)


def copy_resume_point(output_dir: str, folder: str) -> None:
    """Gives a worker's folder the checkpoint that the chief goes on from, and its description.

    Which one that is does not change before all workers have made a step. Of a local checkpoint the
    folder gets symbolic links, so that a process that is killed leaves no weights behind; a remote
    one, as in gs://, is copied.
    """
    resumed = resume_point(output_dir, is_ours=False)
    # Not by gfile.glob: on TensorFlow 1.15 it fails if the chief makes the folder at that moment.
    names = tf.io.gfile.listdir(output_dir) if tf.io.gfile.isdir(output_dir) else []
    weights = f"{os.path.basename(resumed.path)}." if resumed else None
    for name in names:
        if name.endswith(".json") or (weights and name.startswith(weights)):
            path, copy = os.path.join(output_dir, name), os.path.join(folder, name)
            if "://" in path:
                tf.io.gfile.copy(path, copy)
            else:
                os.symlink(os.path.abspath(path), copy)
