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
import re
import shutil
import tempfile
import warnings
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Sequence

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.checkpoints import checkpoint_files
from albert.configs.flags import TrainingFlags
from albert.data import record_damage
from albert.pretrained import network, released
from albert.runtimes import compat, devices
from albert.runtimes import estimator as tf_estimator
from albert.training import distribution, peer_watch
from albert.training import hooks as training_hooks
from albert.util import files, folder_lock, progress, stop_signals
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

CONFIG_NAME = "albert_config.json"

# How long a worker may be silent before the others end.
_WORKER_PATIENCE_SECONDS = 60.0
# After so many lost sessions without a new checkpoint a training ends.
_MOST_RECOVERIES = 3
# What the training step says when it refuses an update: the words, the step, the norm.
_GRADIENT_STOP = re.compile(r"gradient norm is not finite.*?\] \[\d+\] \[(.*?)\]")

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
    differences = files.fingerprint_difference(present, config)
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
    if _LOGGER.isEnabledFor(logging.INFO):
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
      ValueError: none is whole, and training from the first step on would overwrite them.
    """
    if not tf.io.gfile.isdir(output_dir):
        return None
    leftovers = tf.io.gfile.glob(os.path.join(output_dir, "model.ckpt-*_temp*"))
    for leftover in leftovers if is_ours else ():
        tf.io.gfile.rmtree(leftover)
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
    if is_ours and not (resumed and os.path.basename(resumed.path) == state.name):
        if state.exists and not (resumed and state.name):
            path = os.path.join(output_dir, checkpoint_files.STATE_NAME)
            kept = files.unused_name(path)
            tf.io.gfile.rename(path, kept)
            _LOGGER.info("%s is kept as %s.", path, os.path.basename(kept))
        if resumed:
            older = [checkpoint.path for checkpoint in present if checkpoint.step <= resumed.step]
            tf.train.update_checkpoint_state(output_dir, resumed.path, older)
    return resumed


def agreed_resume_point(
    settings: TrainingFlags, flags: TrainingFlags
) -> Optional[checkpoint_files.Checkpoint]:
    """Returns what `resume_point` finds, where several workers train once all are there.

    Args:
      flags: the settings of the command line, which all workers have to share.

    Raises:
      ValueError: workers have different flags, or begin at different steps.
    """
    resumed = resume_point(settings.output_dir)
    if settings.distribution_strategy != distribution.MULTI_WORKER:
        return resumed
    cluster = distribution.read_cluster()
    addresses = cluster.addresses
    # As text, because NaN != NaN.
    shared = {name: str(value) for name, value in flags.to_dict().items() if name not in _OWN}
    ours = {"step": resumed.step if resumed else 0, "flags": shared}
    starts = peer_watch.roll_call(addresses, cluster.index, ours)
    first = starts[0]
    for address, start in zip(addresses, starts):
        differences = [
            f"--{name}={value} at {addresses[0]} and {start['flags'].get(name)} at {address}"
            for name, value in first["flags"].items()
            if value != start["flags"].get(name)
        ]
        if differences:
            raise UserError(
                f"The workers have different flags: {'; '.join(differences)}. Give every worker "
                "the same flags."
            )
        if start["step"] != first["step"]:
            raise UserError(
                f"The worker at {addresses[0]} would begin after step {first['step']}, the one at "
                f"{address} after step {start['step']}. Each takes the newest checkpoint of "
                "--output_dir, which has to be the same folder for all: on a file system that they "
                "share, or gs://."
            )
    return resumed


def first_weights(
    settings: TrainingFlags, resumed: Optional[checkpoint_files.Checkpoint]
) -> Optional[str]:
    """Returns the checkpoint of the first weights, if any, and logs where they come from."""
    if resumed:
        _LOGGER.info("Going on from %s, step %d.", resumed.path, resumed.step)
        return None
    if not settings.init_checkpoint:
        _LOGGER.info("Starting from random weights. Seed %d.", settings.seed)
    return settings.init_checkpoint or None


# ---------------------------------------------------------------------------------------------
# Estimators.


def run_config(
    settings: TrainingFlags, *, keep_checkpoint_max: int = 0
) -> "tf_estimator.tpu.RunConfig":
    """Returns the estimator's configuration for the training, TPU and runtime flags.

    With use_tpu, each host reads its own input (PER_HOST_V2), and the TPU is found by tpu_name,
    tpu_zone and gcp_project, or by master. A TPU's loop is no longer than the steps between
    checkpoints, which are written between two loops. The seed becomes the graph's seed.

    Args:
      keep_checkpoint_max: newest checkpoints to keep; 0 keeps all.
    """
    resolver = None
    if settings.use_tpu and settings.tpu_name:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(
            tpu=settings.tpu_name, zone=settings.tpu_zone, project=settings.gcp_project
        )
    with distribution.alone():
        return tf_estimator.tpu.RunConfig(
            cluster=resolver,
            master=None if resolver else settings.master,
            save_checkpoints_steps=settings.save_checkpoints_steps,
            session_config=compat.session_config(),
            tpu_config=tf_estimator.tpu.TPUConfig(
                iterations_per_loop=_steps_per_loop(settings),
                num_shards=settings.num_tpu_cores,
                per_host_input_for_training=tf_estimator.tpu.InputPipelineConfig.PER_HOST_V2,
            ),
            **_common_config(settings, keep_checkpoint_max),
        )


def _common_config(settings: TrainingFlags, keep_checkpoint_max: int) -> Dict[str, Any]:
    return {
        "model_dir": settings.output_dir,
        "keep_checkpoint_max": keep_checkpoint_max,
        "tf_random_seed": settings.seed,
        # ProgressHook reports instead.
        "save_summary_steps": 0,
        "log_step_count_steps": None,
    }


def _steps_per_loop(settings: TrainingFlags) -> int:
    return min(settings.iterations_per_loop, settings.save_checkpoints_steps)


def _single_estimator(
    settings: TrainingFlags, model_fn: ModelFn, *, keep_checkpoint_max: int = 0, **sizes: int
) -> "tf_estimator.tpu.TPUEstimator":
    """An estimator for a TPU, a CPU or one GPU; `sizes` are of batches, over all cores."""
    return tf_estimator.tpu.TPUEstimator(
        model_fn=model_fn,
        config=run_config(settings, keep_checkpoint_max=keep_checkpoint_max),
        use_tpu=settings.use_tpu,
        params={"model_dir": settings.output_dir},
        train_batch_size=settings.train_batch_size,
        **sizes,
    )


def _training_estimator(
    settings: TrainingFlags, model_fn: ModelFn, *, keep_checkpoint_max: int
) -> "tf_estimator.Estimator":
    """An estimator that trains on the devices the flags name."""
    strategy = distribution.build_strategy(settings)
    if strategy is None:
        return _single_estimator(settings, model_fn, keep_checkpoint_max=keep_checkpoint_max)

    def replica_model_fn(features, mode, params):
        return model_fn(features, None, mode, params).as_estimator_spec()

    is_alone = settings.distribution_strategy != distribution.MULTI_WORKER
    with distribution.alone() if is_alone else contextlib.ExitStack():
        config = tf_estimator.RunConfig(
            save_checkpoints_steps=None,  # a hook of the chief saves
            session_config=distribution.session_config(settings),
            train_distribute=strategy,
            **_common_config(settings, keep_checkpoint_max),
        )
    size = settings.train_batch_size // distribution.num_replicas(settings)
    params = {"model_dir": settings.output_dir, "batch_size": size}
    return tf_estimator.Estimator(replica_model_fn, config=config, params=params)


def check_batch_sizes(settings: TrainingFlags) -> None:
    """Raises ValueError where batches cannot be split as asked, or devices exclude each other."""
    _check_strategy(settings)
    cores = settings.num_tpu_cores if settings.use_tpu else 1
    parts = cores if settings.use_tpu else distribution.num_replicas(settings)
    accumulated = settings.gradient_accumulation_steps
    if settings.train_batch_size % (accumulated * parts):
        raise UserError(
            f"--train_batch_size={settings.train_batch_size} must be a multiple of "
            f"{accumulated * parts}: it is the batch of all devices together, and is split over "
            f"--gradient_accumulation_steps={accumulated} and {parts} "
            f"{'cores' if settings.use_tpu else 'replicas'}."
        )
    if not settings.use_tpu:
        distribution.check_unused_cluster(settings)
    for name in ("eval_batch_size", "predict_batch_size"):
        size = getattr(settings, name, cores)
        if size % cores:
            raise UserError(f"--{name}={size} must be a multiple of the {cores} cores.")
    if settings.use_tpu:
        return
    if settings.precision == "float16" and not tf.config.experimental.list_physical_devices("GPU"):
        _LOGGER.warning(
            "--precision=float16 is for GPUs: on a CPU it is right, but with TensorFlow 1.15 and "
            "2.15 hundreds of times slower than float32."
        )
    elif settings.precision == "bfloat16" and not compat.is_tf2():
        _LOGGER.warning(
            "--precision=bfloat16 is right but not faster on a CPU with TensorFlow 1.15; with "
            "TensorFlow 2 it is."
        )


def _check_strategy(settings: TrainingFlags) -> None:
    """Checks what goes together with --distribution_strategy and --use_tpu."""
    strategy, use_tpu = settings.distribution_strategy, settings.use_tpu
    patience = settings.worker_patience_seconds
    named = getattr(settings, "padding", "max")
    padding = named or "longest"  # None becomes "longest"
    is_multi_worker = strategy == distribution.MULTI_WORKER
    conflicts = (
        (use_tpu and not tf_estimator.HAS_TF_ESTIMATOR, f"--use_tpu: {tf_estimator.NO_TPU}"),
        (
            use_tpu and settings.precision == "float16",
            "--precision=float16 does not work with --use_tpu: TPUs multiply in bfloat16. Give "
            "--precision=bfloat16.",
        ),
        (
            use_tpu and strategy != distribution.NONE,
            f"--use_tpu and --distribution_strategy={strategy} exclude each other: the cores of a "
            "TPU, of all its hosts, are found by --tpu_name.",
        ),
        (
            use_tpu and named not in (None, "max"),
            f"--padding={named} does not work with --use_tpu: a TPU takes batches of one length. "
            "Give --padding=max.",
        ),
        (
            is_multi_worker and padding != "max" and not compat.is_tf2(),
            f"--padding={padding} does not work with --distribution_strategy={strategy} on "
            "TensorFlow 1.15, whose collectives abort where workers' batches differ in length. "
            "Give --padding=max, or use TensorFlow 2.",
        ),
        (
            patience is not None and not is_multi_worker,
            f"--worker_patience_seconds={patience or 0:g} is for "
            f"--distribution_strategy={distribution.MULTI_WORKER}: there is no other worker.",
        ),
    )
    for is_wrong, message in conflicts:
        if is_wrong:
            raise UserError(message)


# ---------------------------------------------------------------------------------------------
# Training.


@contextlib.contextmanager
def _explained(reporter: training_hooks.ProgressHook, folder: str) -> Iterator[None]:
    """Turns TensorFlow's errors (NaN, full disks, damaged records) into ones that say where."""
    try:
        with files.naming_path(folder), record_damage.explained():
            yield
    except tf.errors.InvalidArgumentError as error:
        refused = _GRADIENT_STOP.search(error.message)
        if not refused:
            raise
        # The step was not finished, and nothing was changed by it.
        reason = f"the gradient norm is {refused.group(1).lstrip('-')}"
        if reporter.loss is not None:
            reason += f" (the loss was {reporter.loss:.4g} in the step before)"
        raise training_hooks.diverged(f"in step {reporter.step + 1}", reason) from error


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
    on_progress: Optional[Callable[[training_hooks.TrainingSummary], None]] = None,
) -> Optional[training_hooks.TrainingSummary]:
    """Trains to step `max_steps` in --output_dir, from its newest checkpoint or the first weights.

    Args:
      model_fn: checkpoint of the first weights, or None -> model function.
      input_fn: number of steps done before -> input function that begins with the next batch.
      documents: content by file name, written beside the checkpoints for later steps to use.
      flags: the settings of the command line, before the parts of --albert_dir were found.
      keep_checkpoint_max: newest checkpoints to keep; 0 keeps all.
      hooks: further hooks.
      on_start, on_progress: called before the first step, and for each row of the curve.

    Returns what was done; None if that had been done before.

    Raises:
      hooks.TrainingDivergedError: the loss or the gradient is not finite any more.
      ValueError: a checkpoint does not fit the model, or another process trains there.
      stop_signals.Stopped: a signal asked for it; the last step is saved.
    """
    resumed = agreed_resume_point(settings, flags or settings)
    if resumed and resumed.step >= max_steps:
        _LOGGER.info(
            "Nothing to train: %s is at step %d of %d. To train anew, with other settings, choose "
            "another --output_dir.",
            *(resumed.path, resumed.step, max_steps),
        )
        return None
    function = model_fn(first_weights(settings, resumed))
    estimator = _training_estimator(settings, function, keep_checkpoint_max=keep_checkpoint_max)
    reporter = _reporter(settings, max_steps=max_steps, on_progress=on_progress)

    def write() -> None:
        for name, content in documents.items():
            files.atomic_write_bytes(os.path.join(settings.output_dir, name), content)
        on_start()

    def run_from(checkpoint: Optional[checkpoint_files.Checkpoint]) -> None:
        ours = training_hooks.around(reporter, settings, on_start=write, resumed=checkpoint)
        options = {"max_steps": max_steps, "hooks": [*hooks, *ours]}
        start = checkpoint.step if checkpoint else 0
        with _explained(reporter, settings.output_dir):
            _run_estimator(estimator, input_fn(start), settings, reporter=reporter, options=options)

    with folder_lock.held(settings.output_dir), tf_estimator.lost_sessions_raise():
        _recover(run_from, resumed, settings, reporter=reporter)
    return _summary(reporter, max_steps)


def _reporter(settings: TrainingFlags, **options: Any) -> training_hooks.ProgressHook:
    return training_hooks.ProgressHook(
        settings.output_dir,
        batch_size=settings.train_batch_size,
        log_steps=settings.log_steps,
        has_bar=distribution.is_chief(settings),
        steps_per_loop=_steps_per_loop(settings) if settings.use_tpu else None,
        **options,
    )


def _recover(
    run_from: Callable[[Optional[checkpoint_files.Checkpoint]], None],
    resumed: Optional[checkpoint_files.Checkpoint],
    settings: TrainingFlags,
    *,
    reporter: training_hooks.ProgressHook,
) -> None:
    """Trains from a checkpoint, and after a lost session from the newest one and its batch."""
    recoveries = 0
    while True:
        try:
            run_from(resumed)
            return
        except (tf.errors.AbortedError, tf.errors.UnavailableError) as error:
            stop_signals.resume("The same command resumes from the last checkpoint.")
            before, resumed = resumed, resume_point(settings.output_dir)
            recoveries = recoveries + 1 if resumed == before else 1
            reason = error.message.split("\n")[0]
            lost = f"Lost the session after step {reporter.step} ({reason})."
            if settings.distribution_strategy == distribution.MULTI_WORKER:
                remedy = "Start the same command in every process again"
            elif recoveries > _MOST_RECOVERIES:
                lost += f" {_MOST_RECOVERIES} recoveries reached no new checkpoint."
                remedy = "Start the same command again"
            else:
                _LOGGER.warning("%s Resuming from step %d.", lost, resumed.step if resumed else 0)
                continue
            message = f"{lost} {remedy}: it resumes from the last checkpoint."
            raise UserError(message) from error
        finally:
            reporter.close()
            stop_signals.resume()


def _summary(
    reporter: training_hooks.ProgressHook, max_steps: int
) -> training_hooks.TrainingSummary:
    """Logs and returns what was done."""
    summary = reporter.summary()
    speed = f"{summary.examples_per_second:.1f} examples/s (the first step left out), "
    _LOGGER.info(
        "Trained steps %d to %d in %s: %speak memory %.2f GB.",
        summary.first_step + 1,
        summary.last_step,
        progress.format_seconds(summary.seconds),
        speed if summary.examples_per_second else "",
        summary.peak_memory_bytes / 1e9,
    )
    stop_signals.resume(
        f"Step {summary.last_step} of {max_steps} is saved; the same command goes on from there."
    )
    return summary


def _run_estimator(
    estimator: "tf_estimator.Estimator",
    input_fn: InputFn,
    settings: TrainingFlags,
    *,
    reporter: training_hooks.ProgressHook,
    options: Mapping[str, Any],
) -> None:
    """Trains by the call that TensorFlow wants for the strategy."""
    if settings.distribution_strategy == distribution.NONE:
        estimator.train(input_fn, **options)
        return

    def replicated_input_fn(params, input_context=None):
        return input_fn(dict(params, input_context=input_context))

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="To make it possible to preserve tf.data options")
        if settings.distribution_strategy == distribution.MIRRORED:
            estimator.train(replicated_input_fn, **options)
            return
        cluster = distribution.read_cluster()
        watch = peer_watch.heartbeat(
            cluster.peers,
            is_over=lambda: reporter.is_last_step or reporter.step >= options["max_steps"],
            patience_seconds=settings.worker_patience_seconds or _WORKER_PATIENCE_SECONDS,
            leftovers=[] if cluster.is_chief else [estimator.model_dir],
        )
        with watch, tf.Graph().as_default(), distribution.server_of_this_process():
            tf_estimator.train_on_workers(estimator, replicated_input_fn, **options)


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
    estimator = _single_estimator(settings, model_fn, eval_batch_size=batch_size)

    def evaluate(checkpoint: str) -> Dict[str, Any]:
        bar = progress.Progress("Evaluating", steps, unit="batches")
        with bar, record_damage.explained():
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
    estimator = _single_estimator(settings, model_fn, predict_batch_size=batch_size)
    parts = []
    options = {"checkpoint_path": checkpoint, "yield_single_examples": False}
    with checkpoint_files.explained(checkpoint), record_damage.explained():
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
      ValueError: TF_CONFIG is not as it must be, and what `script` raises.
    """
    if distribution.is_chief(settings):
        script(settings)
        return
    cluster = distribution.read_cluster()
    name = f"Worker {cluster.index + 1} of {len(cluster.addresses)}"
    if not settings.do_train:
        _LOGGER.info(
            "%s has nothing to do: without --do_train only the first worker evaluates and "
            "predicts.",
            name,
        )
        return
    _LOGGER.info("%s", device_line(settings))  # what follows logs warnings only
    _LOGGER.info("%s: the log, checkpoints and results are written by the first worker.", name)
    own = {name: value for name, value in _CHIEF_ONLY_FLAGS.items() if hasattr(settings, name)}
    level = _LOGGER.level
    folder = tempfile.mkdtemp(prefix=distribution.WORKERS_FOLDER)
    try:
        copy_resume_point(settings.output_dir, folder)
        _LOGGER.setLevel(logging.WARNING)
        script(settings.replace(output_dir=folder, **own))
    finally:
        _LOGGER.setLevel(level)
        shutil.rmtree(folder, ignore_errors=True)
    _LOGGER.info("%s has finished the training; the first worker does the rest.", name)


def copy_resume_point(output_dir: str, folder: str) -> None:
    """Gives a worker's folder the checkpoint that the chief goes on from, and its description.

    Which one that is does not change before all workers have made a step. Of a local checkpoint the
    folder gets symbolic links, so that a process that is killed leaves no weights behind; a remote
    one, as in gs://, is copied.
    """
    if not tf.io.gfile.isdir(output_dir):
        return
    for path in tf.io.gfile.glob(os.path.join(output_dir, "*.json")):
        tf.io.gfile.copy(path, os.path.join(folder, os.path.basename(path)))
    resumed = resume_point(output_dir, is_ours=False)
    if resumed:
        for path in tf.io.gfile.glob(resumed.path + ".*"):
            copy = os.path.join(folder, os.path.basename(path))
            if "://" in path:
                tf.io.gfile.copy(path, copy)
            else:
                os.symlink(os.path.abspath(path), copy)
