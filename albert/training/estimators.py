# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs estimators: resumes, trains, evaluates and predicts, on TPUs and in several processes.

This module has no code for single tasks. Only this module and program.py use tf_estimator.
"""

import contextlib
import os
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Tuple,
)
from unittest import mock

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.configs.shared_flags import TrainingFlags
from albert.data import record_files
from albert.formats import model_folder
from albert.models import network
from albert.runtimes import compat, devices
from albert.runtimes import estimator as tf_estimator
from albert.training import distribution, origin, resuming
from albert.training import hooks as training_hooks
from albert.util import files, log, progress, stop_signals
from albert.util.errors import UserError, in_one_line

# If a worker is silent for longer than this, the others stop.
_WORKER_PATIENCE_SECONDS = 60.0
_TPU_PATIENCE_MILLISECONDS = 300000
# In the error message of a training step with a NaN or infinite gradient.
_GRADIENT_STOP = "gradient norm is not finite"

ModelFn = Callable[..., Any]  # (features, labels, mode, params) -> TPUEstimatorSpec
InputFn = Callable[[Mapping[str, Any]], tf.data.Dataset]  # params, with batch_size -> batches


def announce(flags: TrainingFlags, config: modeling.AlbertConfig, data: str) -> None:
    """Logs the first line of a run: model, data in a few words, precision and device.

    With --use_tpu, it does not initialize GPUs, not even to count them.
    """
    does = "Training" if flags.do_train else "Running"
    if flags.use_tpu:
        tpu = flags.tpu_name or flags.master or "of this host"
        device = f"{does} on TPU {tpu} ({flags.num_tpu_cores} cores)."
    else:
        is_alone = not flags.do_train or flags.distribution_strategy == distribution.NONE
        device = devices.training_line(1 if is_alone else flags.num_devices, does)
    model = model_folder.model_summary(config, not getattr(flags, "do_lower_case", True))
    log.info("%s on %s in %s. %s", model, data, flags.precision, device)


def run_config(
    flags: TrainingFlags,
    *,
    keep_checkpoint_max: int = 0,
    strategy: Optional[tf.distribute.Strategy] = None,
) -> "tf_estimator.tpu.RunConfig":
    """Returns the estimator's configuration for the training, TPU and runtime flags.

    With use_tpu, each host reads its own input (PER_HOST_V2). The address of the TPU comes from
    tpu_name, tpu_zone and gcp_project, or from master. Checkpoints are written between two TPU
    loops, so a loop is at most as long as the steps between checkpoints. The seed becomes the
    graph's seed.

    Args:
      keep_checkpoint_max: newest checkpoints to keep; 0 keeps all.
      strategy: the strategy for several devices.
    """
    resolver = None
    if flags.use_tpu and flags.tpu_name:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(
            tpu=flags.tpu_name, zone=flags.tpu_zone, project=flags.gcp_project
        )
    with mock.patch.dict(os.environ):
        if not strategy or flags.distribution_strategy != distribution.MULTI_WORKER:
            os.environ.pop("TF_CONFIG", None)  # the chief evaluates alone
        return tf_estimator.tpu.RunConfig(
            cluster=resolver,
            master=None if resolver else flags.master,
            model_dir=flags.output_dir,
            keep_checkpoint_max=keep_checkpoint_max,
            # With a strategy, the chief's SaverHook saves.
            save_checkpoints_steps=None if strategy else flags.save_checkpoints_steps,
            save_summary_steps=0,  # TrainingHook reports instead
            log_step_count_steps=None,
            tf_random_seed=flags.seed,
            session_config=distribution.session_config(flags),
            train_distribute=strategy,
            tpu_config=tf_estimator.tpu.TPUConfig(
                iterations_per_loop=training_hooks.steps_per_call(flags),
                num_shards=flags.num_tpu_cores,
                per_host_input_for_training=tf_estimator.tpu.InputPipelineConfig.PER_HOST_V2,
            ),
        )


def _estimator(
    flags: TrainingFlags,
    model_fn: ModelFn,
    config: Any = None,
    *,
    init_checkpoint: Optional[str] = None,
    **sizes: int,
) -> "tf_estimator.tpu.TPUEstimator":
    """Returns an estimator for a TPU, a CPU or one GPU; `sizes` are batch sizes over all cores."""
    config = config or run_config(flags)
    if flags.use_tpu and config.master:
        _connect(config.master)
    return tf_estimator.tpu.TPUEstimator(
        model_fn=model_fn,
        config=config,
        use_tpu=flags.use_tpu,
        params={"model_dir": flags.output_dir, "init_checkpoint": init_checkpoint},
        train_batch_size=flags.train_batch_size,
        **sizes,
    )


def _connect(master: str) -> None:
    """Waits for the TPU's server. A signal ends this wait; it would not end TPUEstimator's wait."""
    log.info("Connecting to the TPU at %s.", master)
    config = tf.ConfigProto(operation_timeout_in_ms=_TPU_PATIENCE_MILLISECONDS)
    try:
        with tf.Graph().as_default(), tf.Session(master, config=config) as session:
            session.run(tf.no_op())
    except tf.errors.OpError as error:
        raise UserError(f"No TPU answers at {master} ({in_one_line(error)}).") from error


def check_batch_sizes(flags: TrainingFlags) -> None:
    """Raises UserError if batches cannot be split evenly, or device flags contradict each other."""
    strategy, use_tpu = flags.distribution_strategy, flags.use_tpu
    multi_worker = strategy == distribution.MULTI_WORKER
    cores = flags.num_tpu_cores if use_tpu else 1
    parts = cores if use_tpu else distribution.num_replicas(flags)
    conflicts: List[Tuple[Any, str]] = [
        (use_tpu and not tf_estimator.HAS_TF_ESTIMATOR, f"--use_tpu: {tf_estimator.NO_TPU}"),
        (
            multi_worker and flags.padding != "max" and not compat.is_tf2(),
            f"On TensorFlow 1.15, --distribution_strategy={strategy} does not support "
            f"--padding={flags.padding or 'longest'}. Give --padding=max, or use TensorFlow 2.",
        ),
        (
            flags.worker_patience_seconds and not multi_worker,
            f"--worker_patience_seconds={flags.worker_patience_seconds} needs "
            f"--distribution_strategy={distribution.MULTI_WORKER}.",
        ),
        (
            flags.num_devices and strategy != distribution.MIRRORED,
            f"--num_devices={flags.num_devices} needs --distribution_strategy="
            f"{distribution.MIRRORED}. You can also limit the GPUs with CUDA_VISIBLE_DEVICES.",
        ),
        (
            flags.do_train and not (use_tpu or multi_worker) and distribution.count_processes() > 1,
            f"TF_CONFIG names {distribution.count_processes()} processes, but each would train "
            "alone and write into the same --output_dir. Give --distribution_strategy="
            f"{distribution.MULTI_WORKER}, or unset TF_CONFIG.",
        ),
    ]
    on_tpu = {"precision": "bfloat16", "distribution_strategy": "none", "padding": "max"}
    for name, value in on_tpu.items() if use_tpu else ():
        chosen = getattr(flags, name)
        is_wrong = chosen not in (None, "float32", value)
        conflicts.append(
            (is_wrong, f"--use_tpu does not work with --{name}={chosen}. Give {value}.")
        )
    parts *= flags.gradient_accumulation_steps
    for name, multiple in (("train", parts), ("eval", cores), ("predict", cores)):
        size = getattr(flags, f"{name}_batch_size")
        message = (
            f"--{name}_batch_size={size} must be a multiple of {multiple}: the number of devices, "
            "in training times --gradient_accumulation_steps."
        )
        conflicts.append((size % multiple, message))
    for is_wrong, message in conflicts:
        if is_wrong:
            raise UserError(message)


@contextlib.contextmanager
def _explained(flags: TrainingFlags) -> Iterator[None]:
    """Replaces errors of an estimator's sessions by errors with advice. Sessions do not restart.

    Raises:
      UserError: a session or the TPU is lost, there is no TPU, or a record is damaged.
    """
    try:
        with tf_estimator.lost_sessions_raise(), record_files.explained():
            yield
    except (tf.errors.AbortedError, tf.errors.UnavailableError) as error:
        raise UserError(
            f"Lost the session ({in_one_line(error)}). Run the same command to resume."
        ) from error
    except RuntimeError as error:
        if not flags.use_tpu or "TPU" not in str(error):
            raise
        raise UserError(f"--use_tpu: {error} Check --tpu_name or --master.") from error


# ---------------------------------------------------------------------------------------------
# Training.


def train(
    flags: TrainingFlags,
    model_fn: ModelFn,
    input_fn: Callable[[int], InputFn],
    *,
    max_steps: int,
    documents: Mapping[str, bytes],
    input_hashes: Mapping[str, Any] = {},
    keep_checkpoint_max: int = 0,
    on_saved: Callable[[], bool] = lambda: False,
) -> Optional[training_hooks.TrainingSummary]:
    """Trains to step `max_steps` in --output_dir, from the newest checkpoint or initial weights.

    Args:
      model_fn: model function; its params name the checkpoint of the initial weights, if any.
      input_fn: finished steps -> input function that begins with the next batch.
      documents: files to write beside the checkpoints: name -> content.
      input_hashes: hashes of the training's inputs, such as "training_data"; see origin.py.
      keep_checkpoint_max: newest checkpoints to keep; 0 keeps all.
      on_saved: is called after each checkpoint of a step; returns whether to stop.

    Returns a summary; None if training was already finished.

    Raises:
      hooks.TrainingDivergedError: the loss or the gradient is NaN or infinite.
      UserError: a checkpoint or the data do not fit, or another process trains in the folder.
      stop_signals.Stopped: a signal stopped the training; the last step is saved.
    """
    hashes = {**input_hashes, "initial_weights": origin.weights_hash(flags.init_checkpoint)}
    resumed = resuming.agreed_resume_point(flags, hashes)
    if resumed:
        hashes["initial_weights"] = origin.check(flags, hashes, resumed.step, last_step=max_steps)
        if resumed.step >= max_steps:
            log.info(
                "Nothing to train: %s is at step %d of %d.", resumed.path, resumed.step, max_steps
            )
            return None
        log.info("Resuming from %s, step %d.", resumed.path, resumed.step)
    elif not flags.init_checkpoint:
        log.info("Starting from random weights. Seed %d.", flags.seed)
    training = training_hooks.TrainingHook(
        flags,
        max_steps=max_steps,
        resumed=resumed,
        on_saved=on_saved,
        documents={origin.RECORD_NAME: files.json_text(hashes).encode("utf-8"), **documents},
    )
    batches = input_fn(resumed.step if resumed else 0)
    with _explained(flags), _explained_training(training):
        _run_estimator(model_fn, batches, training, keep=keep_checkpoint_max)
    summary = training.summary()
    stop_signals.resume(
        f"Step {summary.last_step} of {max_steps} is saved. Run the same command to resume."
    )
    return summary


@contextlib.contextmanager
def _explained_training(training: training_hooks.TrainingHook) -> Iterator[None]:
    """Adds advice to the errors of a training."""
    try:
        with files.naming_path(training.flags.output_dir):
            yield
    except (tf.errors.AbortedError, tf.errors.UnavailableError) as error:
        again = "Run the same command in every process to resume from the last checkpoint."
        stop_signals.resume(again)
        lost = f"the session ({in_one_line(error)})"
        for peer in distribution.peers(training.flags):
            if not distribution.is_reachable(peer):
                lost = f"worker {peer}"
        raise UserError(f"Lost {lost} after step {training.step}. {again}") from error
    except tf.errors.InvalidArgumentError as error:
        if _GRADIENT_STOP not in error.message:
            raise
        # The step did not finish, so it changed nothing.
        reason = f"the {_GRADIENT_STOP} (loss of the step before: {training.loss})"
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
) -> None:
    """Trains on the devices that the flags name.

    `keep`: newest checkpoints to keep; 0 keeps all.
    """
    flags = training.flags
    hooks: List[tf.train.SessionRunHook] = [training]
    if training.is_chief and not flags.use_tpu:  # on a TPU, TPUEstimator saves
        hooks.append(training_hooks.SaverHook(training))
    options = {"max_steps": training.max_steps, "hooks": hooks}
    strategy = distribution.build_strategy(flags)
    config = run_config(flags, keep_checkpoint_max=keep, strategy=strategy)
    if flags.use_xla and not (strategy or flags.use_tpu or devices.gpus()):
        # The graph is run as built. Training on a CPU then starts earlier, and is as fast.
        config.session_config.graph_options.rewrite_options.disable_meta_optimizer = True
    start = None if training.resumed else flags.init_checkpoint
    if strategy is None:
        estimator = _estimator(flags, model_fn, config, init_checkpoint=start)
        estimator.train(input_fn, **options)
        return

    def replica_model_fn(features, mode, params):
        return model_fn(features, None, mode, params).as_estimator_spec()

    def replica_input_fn(params, input_context=None):
        return input_fn(dict(params, input_context=input_context))

    size = flags.train_batch_size // distribution.num_replicas(flags)
    params = {"init_checkpoint": start, "batch_size": size}
    estimator = tf_estimator.Estimator(replica_model_fn, config=config, params=params)
    if flags.distribution_strategy == distribution.MIRRORED:
        estimator.train(replica_input_fn, **options)
        return
    heartbeat = distribution.heartbeat(
        distribution.peers(flags),
        is_over=training.is_over,
        patience_seconds=flags.worker_patience_seconds or _WORKER_PATIENCE_SECONDS,
    )
    with heartbeat, tf.Graph().as_default():
        tf_estimator.train_on_workers(estimator, replica_input_fn, **options)


# ---------------------------------------------------------------------------------------------
# Metrics in the graph, and outputs for each example.


def evaluator(
    flags: TrainingFlags,
    model_fn: ModelFn,
    input_fn: InputFn,
    *,
    batch_size: int,
    steps: int,
) -> Callable[[str], Dict[str, Any]]:
    """Returns a function: checkpoint -> metrics of the model function over `steps` batches."""
    estimator = _estimator(flags, model_fn, eval_batch_size=batch_size)

    def evaluate(checkpoint: str) -> Dict[str, Any]:
        bar = progress.Progress("Evaluating", steps, unit="batches")
        hook = tf.train.SessionRunHook()
        hook.after_run = lambda run_context, run_values: bar.update(1)
        with bar, _explained(flags):
            return estimator.evaluate(
                input_fn, steps=steps, checkpoint_path=checkpoint, hooks=[hook]
            )

    return evaluate


def tpu_outputs(
    flags: TrainingFlags,
    model_fn: ModelFn,
    input_fn: InputFn,
    *,
    checkpoint: str,
    batch_size: int,
) -> Dict[str, np.ndarray]:
    """Returns predictions for all examples on a TPU, by name: [N, ...], in the examples' order.

    The predictions of model_fn must have example_index and is_real_example.
    """
    estimator = _estimator(flags, model_fn, predict_batch_size=batch_size)
    parts = []
    with _explained(flags):
        for batch in estimator.predict(
            input_fn, checkpoint_path=checkpoint, yield_single_examples=False
        ):
            real = batch["is_real_example"] > 0
            parts.append({name: value[real] for name, value in batch.items()})
    outputs = network.joined(parts)
    order = np.argsort(outputs.pop("example_index"), kind="stable")
    del outputs["is_real_example"]
    return {name: value[order] for name, value in outputs.items()}
