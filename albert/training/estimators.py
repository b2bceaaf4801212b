# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs estimators: resumption, configuration, TPU or not, training, and several processes.

Nothing here knows what is trained.
"""

import contextlib
import functools
import logging
import os
import re
import shutil
import tempfile
import warnings
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.data import record_damage
from albert.data.padded_batches import InputShard, input_shard  # noqa: F401  for input functions
from albert.pretrained import checkpoint_files
from albert.pretrained import warm_start as checkpoint_init
from albert.training import distribution, peer_watch
from albert.training import hooks as training_hooks
from albert.training.settings import TrainingSettings
from albert.util import files, folder_lock, progress, stop_signals
from albert.util import runtime as precision

_LOGGER = logging.getLogger("albert")

CONFIG_NAME = "albert_config.json"

# How long a worker may be silent before the others end.
_WORKER_PATIENCE_SECONDS = 60.0
# What the training step says when it refuses an update: the words, the step, the norm.
_GRADIENT_STOP = re.compile(r"gradient norm is not finite.*?\] \[\d+\] \[(.*?)\]")


# ---------------------------------------------------------------------------------------------
# The output folder: whose it is, and where training in it goes on.


def check_output_dir(output_dir: str, config: Mapping[str, Any]):
    """Checks that `output_dir` is new, or was made for a model of this configuration.

    Raises:
      ValueError: the folder belongs to a model of another configuration.
    """
    path = os.path.join(output_dir, CONFIG_NAME)
    if not tf.io.gfile.exists(path):
        return
    # Read as a configuration, so that a key that is left out equals its default.
    present = modeling.AlbertConfig.from_json_file(path).to_dict()
    differences = files.fingerprint_difference(present, config)
    if differences:
        raise ValueError(
            f"--output_dir={output_dir} belongs to a model of another configuration: "
            f"{differences}. Choose another --output_dir (with --init_checkpoint to start from "
            f"the weights in this one); if the change is meant, remove {path} first."
        )


def sole_trainer(script: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a script's main part so that, where it trains, it has --output_dir to itself.

    Args:
      script: takes settings with output_dir, do_train and distribution_strategy, and more.
    """

    @functools.wraps(script)
    def run(settings: TrainingSettings, *arguments: Any) -> Any:
        if not settings.do_train or not distribution.is_chief(settings):
            return script(settings, *arguments)
        with folder_lock.held(settings.output_dir):
            return script(settings, *arguments)

    return run


def resume_point(output_dir: str, is_ours: bool = True) -> Optional[checkpoint_files.Checkpoint]:
    """Returns the checkpoint from which training goes on, if there is one.

    It is the one that the file `checkpoint` names, or else the newest, whose values are all finite
    and equal their checksums. Every process of a run finds the same. What was left half-written is
    removed, and the file `checkpoint`, by which TensorFlow finds what to restore, is mended if need
    be. Checkpoints that are passed over stay where they are.

    Args:
      output_dir: where they are.
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
        damage = _damage(checkpoint.path)
        if not damage:
            resumed = checkpoint
            break
        faults.append(
            f"Checkpoint {checkpoint.path}, step {checkpoint.step}, is of no use ({damage})"
        )
    if not resumed and any(checkpoint.step for checkpoint in present):
        raise ValueError(
            f"--output_dir={output_dir} has no checkpoint of use, and to train from the first step "
            f"on would overwrite them. {faults[0]}. Put whole ones there, or choose another "
            "--output_dir."
        )
    for fault in faults:
        goes_on = f"goes on from step {resumed.step}" if resumed else "begins anew"
        _LOGGER.warning("%s; passed over: training %s.", fault, goes_on)
    if is_ours:
        _mend_state(output_dir, state, resumed, present=present)
    return resumed


def agreed_resume_point(settings: TrainingSettings) -> Optional[checkpoint_files.Checkpoint]:
    """Returns what `resume_point` finds, where several workers train once all are there.

    Args:
      settings: has output_dir and distribution_strategy.

    Raises:
      ValueError: workers begin at different steps, for which they would wait for ever; and what
        `resume_point` raises.
    """
    resumed = resume_point(settings.output_dir)
    if settings.distribution_strategy != distribution.MULTI_WORKER:
        return resumed
    addresses, index = distribution.read_cluster()
    steps = peer_watch.roll_call(addresses, index, resumed.step if resumed else 0)
    others = [at for at, step in enumerate(steps) if step != steps[0]]
    if others:
        raise ValueError(
            f"The worker at {addresses[0]} would begin after step {steps[0]}, the one at "
            f"{addresses[others[0]]} after step {steps[others[0]]}. Each takes the newest "
            "checkpoint of --output_dir, which has to be the same folder for all: on a file system "
            "that they share, or gs://."
        )
    return resumed


def _damage(checkpoint: str) -> str:
    """What is wrong with it; a step is what training cannot do without."""
    damage = checkpoint_files.find_damage(checkpoint, must_be_finite=True)
    return damage or checkpoint_files.find_damage(checkpoint, ["global_step"])


def _mend_state(
    output_dir: str,
    state: checkpoint_files.State,
    resumed: Optional[checkpoint_files.Checkpoint],
    *,
    present: Sequence[checkpoint_files.Checkpoint],
):
    """Makes TensorFlow restore `resumed`, or nothing."""
    if resumed and os.path.basename(resumed.path) == state.name:
        return
    if state.exists and not (resumed and state.name):
        path = os.path.join(output_dir, checkpoint_files.STATE_NAME)
        kept = files.unused_name(path)
        tf.io.gfile.rename(path, kept)
        _LOGGER.info("%s is kept as %s.", path, os.path.basename(kept))
    if resumed:
        older = [checkpoint.path for checkpoint in present if checkpoint.step <= resumed.step]
        tf.train.update_checkpoint_state(output_dir, resumed.path, older)


def first_weights(settings: TrainingSettings, resumed: Any) -> Optional[str]:
    """Returns the checkpoint to take the first weights from, if any, and says where they come from.

    Args:
      settings: has init_checkpoint and seed.
      resumed: what `resume_point` returned.
    """
    if resumed:
        _LOGGER.info("Going on from %s, step %d.", resumed.path, resumed.step)
        if settings.init_checkpoint:
            _LOGGER.warning(
                "--init_checkpoint=%s is not used: --output_dir holds weights already. To start "
                "from it, choose another --output_dir.",
                settings.init_checkpoint,
            )
        return None
    if not settings.init_checkpoint:
        _LOGGER.info("%s Seed %d.", checkpoint_init.format_report(None), settings.seed)
    return settings.init_checkpoint or None


# ---------------------------------------------------------------------------------------------
# Estimators.


def run_config(
    settings: TrainingSettings, *, keep_checkpoint_max: int
) -> "tf.estimator.tpu.RunConfig":
    """Returns the estimator's configuration for the training, TPU and runtime flags.

    With use_tpu, input is read by each host on its own (PER_HOST_V2) and the TPU is found by
    tpu_name, tpu_zone and gcp_project, or by master. A TPU's loop is no longer than the steps
    between checkpoints, which are written between two loops. The seed becomes the graph's seed.

    Args:
      settings: has output_dir, save_checkpoints_steps, seed and the TPU flags.
      keep_checkpoint_max: newest checkpoints to keep; 0 keeps all.
    """
    resolver = None
    if settings.use_tpu and settings.tpu_name:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(
            tpu=settings.tpu_name, zone=settings.tpu_zone, project=settings.gcp_project
        )
    with distribution.alone():
        return tf.estimator.tpu.RunConfig(
            cluster=resolver,
            master=None if resolver else settings.master,
            model_dir=settings.output_dir,
            save_checkpoints_steps=settings.save_checkpoints_steps,
            keep_checkpoint_max=keep_checkpoint_max,
            tf_random_seed=settings.seed,
            session_config=precision.session_config(),
            # Progress is ours to report.
            save_summary_steps=0,
            log_step_count_steps=None,
            tpu_config=tf.estimator.tpu.TPUConfig(
                iterations_per_loop=_steps_per_loop(settings),
                num_shards=settings.num_tpu_cores,
                per_host_input_for_training=tf.estimator.tpu.InputPipelineConfig.PER_HOST_V2,
            ),
        )


def _steps_per_loop(settings: TrainingSettings) -> int:
    """The updates a TPU makes between two looks of the host, which is when it can save."""
    return min(settings.iterations_per_loop, settings.save_checkpoints_steps)


def build_estimator(
    model_fn: Callable, config: "tf.estimator.tpu.RunConfig", *, use_tpu: bool, **batch_sizes: int
) -> "tf.estimator.tpu.TPUEstimator":
    """Returns an estimator for TPU, CPU or one GPU.

    Args:
      model_fn: (features, labels, mode, params) -> TPUEstimatorSpec; params has model_dir.
      config: see run_config.
      use_tpu: whether to run on the TPU.
      **batch_sizes: any of train_batch_size, eval_batch_size, predict_batch_size, over all cores.
    """
    return tf.estimator.tpu.TPUEstimator(
        model_fn=model_fn,
        config=config,
        use_tpu=use_tpu,
        params={"model_dir": config.model_dir},
        **batch_sizes,
    )


def build_training_estimator(
    model_fn: Callable, settings: TrainingSettings, *, keep_checkpoint_max: int, **batch_sizes: int
) -> "tf.estimator.Estimator":
    """Returns an estimator that trains on the devices the flags name.

    Args:
      model_fn: (features, labels, mode, params) -> TPUEstimatorSpec; params has model_dir.
      settings: has output_dir, save_checkpoints_steps, train_batch_size, and the TPU and runtime
        flags.
      keep_checkpoint_max: newest checkpoints to keep; 0 keeps all.
      **batch_sizes: eval_batch_size, if evaluation may follow.
    """
    strategy = distribution.build_strategy(settings)
    if strategy is None:
        return build_estimator(
            model_fn,
            run_config(settings, keep_checkpoint_max=keep_checkpoint_max),
            use_tpu=settings.use_tpu,
            train_batch_size=settings.train_batch_size,
            **batch_sizes,
        )

    def replica_model_fn(features, mode, params):
        return model_fn(features, None, mode, params).as_estimator_spec()

    is_alone = settings.distribution_strategy != distribution.MULTI_WORKER
    with distribution.alone() if is_alone else contextlib.ExitStack():
        config = tf.estimator.RunConfig(
            model_dir=settings.output_dir,
            # `train` saves, on the chief.
            save_checkpoints_steps=None,
            keep_checkpoint_max=keep_checkpoint_max,
            tf_random_seed=settings.seed,
            session_config=distribution.session_config(settings),
            save_summary_steps=0,
            log_step_count_steps=None,
            train_distribute=strategy,
        )
    size = settings.train_batch_size // distribution.num_replicas(settings)
    params = {"model_dir": settings.output_dir, "batch_size": size}
    return tf.estimator.Estimator(replica_model_fn, config=config, params=params)


def check_batch_sizes(settings: TrainingSettings):
    """Checks that batches can be split as asked, and says where bfloat16 is not faster.

    Args:
      settings: has train_batch_size, eval_batch_size, perhaps predict_batch_size, and the TPU and
        runtime flags.

    Raises:
      ValueError: a batch size that is not a multiple of the parts it is split into, or devices that
        are not there or exclude each other.
    """
    _check_strategy(settings)
    cores = settings.num_tpu_cores if settings.use_tpu else 1
    parts = cores if settings.use_tpu else distribution.num_replicas(settings)
    accumulated = settings.gradient_accumulation_steps
    if settings.train_batch_size % (accumulated * parts):
        raise ValueError(
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
            raise ValueError(f"--{name}={size} must be a multiple of the {cores} cores.")
    if settings.precision != "float32" and not settings.use_tpu and not precision.is_tf2():
        _LOGGER.warning(
            "--precision=%s is right but not faster on a CPU with TensorFlow 1.15; with "
            "TensorFlow 2.15 it is.",
            settings.precision,
        )


def _check_strategy(settings: TrainingSettings):
    """Checks what goes together with --distribution_strategy."""
    if settings.use_tpu and settings.distribution_strategy != distribution.NONE:
        raise ValueError(
            f"--use_tpu and --distribution_strategy={settings.distribution_strategy} exclude each "
            "other: the cores of a TPU, of all its hosts, are found by --tpu_name."
        )
    padding = getattr(settings, "padding", "max") or "longest"  # what it then becomes
    is_multi_worker = settings.distribution_strategy == distribution.MULTI_WORKER
    if is_multi_worker and padding != "max" and not precision.is_tf2():
        raise ValueError(
            f"--padding={padding} does not work with "
            f"--distribution_strategy={distribution.MULTI_WORKER} on TensorFlow 1.15, whose "
            "collectives abort where workers' batches differ in length. "
            "Give --padding=max, or use TensorFlow 2.15."
        )
    minutes = getattr(settings, "save_checkpoints_minutes", 0.0)
    if settings.use_tpu and minutes:
        raise ValueError(
            f"--save_checkpoints_minutes={minutes:g} does not work with --use_tpu, where the host "
            "hears of a step each --iterations_per_loop. Give --save_checkpoints_steps alone."
        )
    patience = getattr(settings, "worker_patience_seconds", None)
    if patience is not None and not is_multi_worker:
        raise ValueError(
            f"--worker_patience_seconds={patience:g} is for "
            f"--distribution_strategy={distribution.MULTI_WORKER}: there is no other worker."
        )
    module = getattr(settings, "albert_hub_module_handle", None)
    if module and settings.distribution_strategy != distribution.NONE:
        raise ValueError(
            f"--albert_hub_module_handle={module} trains on one device only, not with "
            f"--distribution_strategy={settings.distribution_strategy}. Start from a checkpoint."
        )


@contextlib.contextmanager
def _explained(reporter: training_hooks.ProgressHook, folder: str) -> Iterator[None]:
    """Turns TensorFlow's errors (NaN, full disks, damaged records) into ones that say where."""
    try:
        with files.naming_full_disk(folder), record_damage.explained(
            lambda: reporter.step - reporter.first_step
        ):
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
    estimator: "tf.estimator.Estimator",
    input_fn: Callable,
    settings: TrainingSettings,
    *,
    max_steps: int,
    model_config: Optional[Mapping[str, Any]],
    documents: Optional[Mapping[str, Any]] = None,
    resumed: Optional[checkpoint_files.Checkpoint] = None,
    hooks: Sequence[tf.train.SessionRunHook] = (),
    on_progress: Optional[Callable[[training_hooks.TrainingSummary], None]] = None,
) -> training_hooks.TrainingSummary:
    """Trains until `max_steps` and reports.

    Args:
      estimator: see build_training_estimator.
      input_fn: must begin with the batch of the resumed step.
      settings: has train_batch_size, log_steps, use_tpu, distribution_strategy, when to save.
      max_steps: the last global step.
      model_config, documents: written beside the checkpoints, for later steps to use: the
        configuration unless it is None, and JSON values by file name.
      resumed, hooks: what `resume_point` returned; further ones, which begin before any writing.
      on_progress: called with what was done so far, for each row of the curve.

    Raises:
      training_hooks.TrainingDivergedError: the loss or the gradient is not finite any more.
      ValueError: the resumed checkpoint is another model's, or another process trains there.
      stop_signals.Stopped: a signal asked for it; the last step is saved.
    """
    reporter = training_hooks.ProgressHook(
        estimator.model_dir,
        max_steps=max_steps,
        batch_size=settings.train_batch_size,
        log_steps=settings.log_steps,
        on_progress=on_progress,
        has_bar=distribution.is_chief(settings),
        steps_per_loop=_steps_per_loop(settings) if settings.use_tpu else None,
    )
    documents = dict(documents or {}, **({CONFIG_NAME: model_config} if model_config else {}))
    folder = estimator.model_dir
    hooks = [
        *hooks,
        *training_hooks.around(
            reporter, settings, folder=folder, documents=documents, resumed=resumed
        ),
    ]
    try:
        with folder_lock.held(folder), _explained(reporter, folder):
            _run_estimator(
                estimator, input_fn, settings, max_steps=max_steps, hooks=hooks, reporter=reporter
            )
    finally:
        reporter.close()
        stop_signals.resume()
    summary = reporter.summary()
    _log_summary(summary)
    stop_signals.resume(
        f"Step {summary.last_step} of {max_steps} is saved; the same command goes on from there."
    )
    return summary


def _run_estimator(
    estimator: "tf.estimator.Estimator",
    input_fn: Callable,
    settings: TrainingSettings,
    *,
    max_steps: int,
    hooks: Sequence[tf.train.SessionRunHook],
    reporter: training_hooks.ProgressHook,
):
    """Trains by the call that TensorFlow wants for the strategy."""
    if settings.distribution_strategy == distribution.NONE:
        estimator.train(input_fn, hooks=hooks, max_steps=max_steps)
        return

    def replicated_input_fn(params, input_context=None):
        return input_fn(dict(params, input_context=input_context))

    with warnings.catch_warnings():
        # TensorFlow's own way to its devices; nobody reads the options there.
        warnings.filterwarnings("ignore", message="To make it possible to preserve tf.data options")
        if settings.distribution_strategy == distribution.MIRRORED:
            estimator.train(replicated_input_fn, hooks=hooks, max_steps=max_steps)
            return
        # The one call that starts this worker's server. There is no task that would evaluate.
        training = tf.estimator.TrainSpec(replicated_input_fn, max_steps=max_steps, hooks=hooks)
        cluster = distribution.read_cluster()
        watch = peer_watch.PeerWatch(
            cluster.peers,
            is_over=lambda: reporter.is_last_step or reporter.step >= max_steps,
            is_stopping=stop_signals.is_requested,
            patience_seconds=settings.worker_patience_seconds or _WORKER_PATIENCE_SECONDS,
            leftovers=[] if cluster.is_chief else [estimator.model_dir],
        )
        with watch, tf.Graph().as_default(), distribution.server_of_this_process():
            tf.estimator.train_and_evaluate(
                estimator, training, tf.estimator.EvalSpec(replicated_input_fn)
            )


def _log_summary(summary: training_hooks.TrainingSummary):
    speed = f"{summary.examples_per_second:.1f} examples/s (the first step left out), "
    _LOGGER.info(
        "Trained steps %d to %d in %s: %speak memory %.2f GB.",
        summary.first_step + 1,
        summary.last_step,
        training_hooks.duration(summary.seconds),
        speed if summary.examples_per_second else "",
        summary.peak_memory_bytes / 1e9,
    )


# ---------------------------------------------------------------------------------------------
# What a model gives for every example.


class OutputCollector:
    """Runs checkpoints over a data set; builds the graph once.

    with OutputCollector(settings, model_fn, input_fn, examples=408, ...) as collector:
        outputs = collector.run("model.ckpt-100")  # name -> [N, ...]
    """

    def __init__(
        self,
        settings: TrainingSettings,
        model_fn: Callable,
        input_fn: Callable,
        *,
        batch_size: int,
        examples: int,
        name: str,
    ):
        """Remembers what to run; nothing is built before the first checkpoint.

        Args:
          settings: the TPU flags, output_dir and seed.
          model_fn: model function whose predictions have example_index and is_real_example.
          input_fn: input function that serves each example once.
          batch_size: B.
          examples: N.
          name: of the data, for progress.
        """
        self._settings = settings
        self._model_fn = model_fn
        self._input_fn = input_fn
        self._batch_size = batch_size
        self._examples = examples
        self._name = name
        self._session: Optional[tf.Session] = None
        self._readings: List[record_damage.Reading] = []

    def __enter__(self) -> "OutputCollector":
        return self

    def __exit__(self, *_) -> None:
        if self._session is not None:
            self._session.close()

    def run(self, checkpoint: str) -> Dict[str, np.ndarray]:
        """Returns the model's predictions for all examples, in their order.

        Raises:
          ValueError: the checkpoint does not fit the model.
        """
        if self._settings.use_tpu:
            batches = self._tpu_batches(checkpoint)
        else:
            batches = self._batches(checkpoint)
        parts: Dict[str, List[np.ndarray]] = {}
        bar = progress.Progress(self._name, self._examples, unit="examples")
        with bar, record_damage.explained(readings=self._readings):
            for batch in batches:
                real = batch["is_real_example"] > 0
                for name, value in batch.items():
                    parts.setdefault(name, []).append(value[real])
                bar.update(int(real.sum()), "")
        outputs = {name: np.concatenate(values) for name, values in parts.items()}
        order = np.argsort(outputs.pop("example_index"), kind="stable")
        del outputs["is_real_example"]
        return {name: value[order] for name, value in outputs.items()}

    def _build(self) -> None:
        """The graph of prediction, and a session in it."""
        graph = tf.Graph()
        with graph.as_default():
            tf.set_random_seed(self._settings.seed)
            dataset = self._input_fn({"batch_size": self._batch_size})
            self._iterator = tf.data.make_initializable_iterator(dataset)
            features = self._iterator.get_next()
            spec = self._model_fn(features, None, tf.estimator.ModeKeys.PREDICT, {})
            self._predictions = spec.predictions
            self._variables = tf.global_variables()
            self._saver = tf.train.Saver(self._variables)
            self._tables = tf.tables_initializer()
            graph.finalize()
        self._session = tf.Session(graph=graph, config=precision.session_config())

    def _batches(self, checkpoint: str) -> Iterator[Dict[str, np.ndarray]]:
        """The predictions of each batch."""
        if self._session is None:
            self._build()
        with checkpoint_files.explained(checkpoint), self._session.graph.as_default():
            # Outside of a graph, TensorFlow 2 means eager mode.
            purpose = "There is no predicting with"
            training_hooks.check_restorable(checkpoint, self._variables, purpose)
            self._saver.restore(self._session, checkpoint)
        self._session.run([self._iterator.initializer, self._tables])
        while True:
            try:
                yield self._session.run(self._predictions)
            except tf.errors.OutOfRangeError:
                return

    def _tpu_batches(self, checkpoint: str) -> Iterator[Dict[str, np.ndarray]]:
        """The same by a TPUEstimator."""
        estimator = build_estimator(
            self._model_fn,
            run_config(self._settings, keep_checkpoint_max=0),
            use_tpu=True,
            train_batch_size=self._settings.train_batch_size,
            predict_batch_size=self._batch_size,
        )
        with checkpoint_files.explained(checkpoint):
            yield from estimator.predict(
                self._input_fn, checkpoint_path=checkpoint, yield_single_examples=False
            )


# ---------------------------------------------------------------------------------------------
# What each process of a distributed training does.

# What a worker does not do, or does in its folder, and the value that says so.
_CHIEFS_OWN = {
    "do_eval": False,
    "do_predict": False,
    "predict_file": None,
    "export_dir": None,
    "cached_dir": None,
    "train_feature_file": None,
    "predict_feature_file": None,
    "predict_feature_left_file": None,
}


def run_own_part(
    script: Callable[[TrainingSettings], Any],
    settings: TrainingSettings,
    *,
    chiefs_own: Optional[Mapping[str, Any]] = None,
) -> None:
    """Runs a script's main part as far as it is this process's, where several train together.

    The chief does all that the flags say. The others train, in a temporary folder that begins as a
    copy of what the chief goes on from, and end with the training: they write nothing that stays.

    Args:
      script: takes the settings.
      chiefs_own: further settings of this script that a worker leaves alone, with the value for it.
      settings: has distribution_strategy, do_train and output_dir.

    Raises:
      ValueError: TF_CONFIG is not as it must be, and what `script` raises.
    """
    if distribution.is_chief(settings):
        script(settings)
        return
    cluster = distribution.read_cluster()
    name = f"Worker {cluster.index + 1} of {len(cluster.addresses)}"
    if not settings.do_train:
        _LOGGER.info("%s has nothing to do: without --do_train the first one does all.", name)
        return
    _LOGGER.info("%s: the log, checkpoints and results are the first one's.", name)
    level = _LOGGER.level
    folder = tempfile.mkdtemp(prefix=distribution.WORKERS_FOLDER)
    try:
        copy_resume_point(settings.output_dir, folder)
        _LOGGER.setLevel(logging.WARNING)
        script(workers_settings(settings, folder, chiefs_own))
    finally:
        _LOGGER.setLevel(level)
        shutil.rmtree(folder, ignore_errors=True)
    _LOGGER.info("%s has finished the training; the rest is the first one's.", name)


def workers_settings(
    settings: TrainingSettings, folder: str, chiefs_own: Optional[Mapping[str, Any]] = None
) -> TrainingSettings:
    """Returns the settings by which a worker trains and leaves no traces outside of `folder`."""
    present = settings.to_dict()
    changes = {name: value for name, value in _CHIEFS_OWN.items() if name in present}
    changes.update(chiefs_own or {})
    return settings.replace(output_dir=folder, **changes)


def copy_resume_point(output_dir: str, folder: str) -> None:
    """Gives a worker's folder the checkpoint that the chief goes on from, and its description.

    Which one that is does not change before all workers have made a step. Of a local checkpoint the
    folder gets symbolic links, so that a process that is killed leaves no weights behind; one far
    away, as in gs://, is copied.
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
