# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Estimators: TensorFlow's, or a replacement for TensorFlow 2.16 and later, which have none.

Model functions, input functions and hooks are the same on every runtime. The replacement runs a
tf.train.MonitoredTrainingSession on one device, or tf.distribute on several devices of one or more
hosts. TPUs need tf.estimator.
"""

import contextlib
import os
import sys
import time
import types
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)
from unittest import mock

import numpy as np
import tensorflow.compat.v1 as tf

from albert.runtimes import compat
from albert.util import files

HAS_TF_ESTIMATOR = hasattr(tf, "estimator")
NO_TPU = (
    f"TPUs need tf.estimator, which TensorFlow {tf.__version__} does not have. Use TensorFlow "
    "2.15.1 (Python 3.9 to 3.11) or 1.15.5 (Python 3.7)."
)

_STEP_READER = "global_step_read_op_cache"  # the collection that TensorFlow's hooks search
_Hooks = Sequence[tf.train.SessionRunHook]
_InputFn = Callable[..., tf.data.Dataset]


class _ModeKeys:
    """The modes of a model function."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class _EstimatorSpec(NamedTuple):
    """The result of a model function: the fields of TPUEstimatorSpec that a mode needs.

    Attributes:
      predictions: tensors [B, ...] by name.
      loss, train_op: a scalar, and the operation that runs one update.
      eval_metrics: (function, tensors). The tensors are its arguments, by name or by position. It
        returns {name: (value, update)}, as from tf.metrics.
      scaffold_fn: returns the tf.train.Scaffold that initializes the variables.
      host_call: only TPUs use it.
    """

    mode: str
    predictions: Optional[Mapping[str, tf.Tensor]] = None
    loss: Optional[tf.Tensor] = None
    train_op: Optional[tf.Operation] = None
    eval_metrics: Optional[Tuple[Callable, Any]] = None
    scaffold_fn: Optional[Callable[[], tf.train.Scaffold]] = None
    host_call: Any = None

    def as_estimator_spec(self) -> "_EstimatorSpec":
        """Returns itself, because TPUs and other devices share this class."""
        return self


class _RunConfig(NamedTuple):
    """How an estimator runs.

    Attributes:
      model_dir: the folder of checkpoints and TensorBoard's events.
      save_checkpoints_steps: steps between checkpoints; None: save none. Ignored if a hook of
        `train` saves.
      keep_checkpoint_max: the number of newest checkpoints to keep; 0 keeps all.
      tf_random_seed: the graph's random seed.
      train_distribute: the tf.distribute.Strategy for training on several devices.
      save_summary_steps, log_step_count_steps: steps between summaries, and between log lines.
      master: the address of TensorFlow's server; None: this process.
      cluster, tpu_config: only TPUs use them.
    """

    model_dir: str
    save_checkpoints_steps: Optional[int] = 1000
    keep_checkpoint_max: int = 5
    tf_random_seed: Optional[int] = 1
    session_config: Optional[tf.ConfigProto] = None
    train_distribute: Optional[tf.distribute.Strategy] = None
    save_summary_steps: int = 100
    log_step_count_steps: Optional[int] = 100
    master: Optional[str] = None
    cluster: Any = None
    tpu_config: Any = None


class _ServingInputReceiver(NamedTuple):
    """Inputs of an exported model.

    Attributes:
      features: tensors by name, for the model function.
      receiver_tensors: the tensor, or tensors by name, that callers feed.
    """

    features: Mapping[str, tf.Tensor]
    receiver_tensors: Any


class _Estimator:
    """Trains, evaluates and predicts with a model function. Checkpoints are in config.model_dir."""

    def __init__(
        self,
        model_fn: Callable[..., _EstimatorSpec],
        *,
        config: _RunConfig,
        params: Optional[Mapping[str, Any]] = None,
        use_tpu: bool = False,
        **batch_sizes: int,
    ):
        """Creates an estimator.

        Args:
          model_fn: (features, labels, mode, params), by these names -> specification. With a
            strategy there are no labels.
          config: the run's configuration.
          params: passed to the model and input functions, together with batch_size.
          use_tpu: must be False.
          batch_sizes: train_batch_size, eval_batch_size, predict_batch_size.

        Raises:
          ValueError: use_tpu is True.
        """
        if use_tpu:
            raise ValueError(NO_TPU)
        self._model_fn, self._batch_sizes = model_fn, batch_sizes
        self.config, self.model_dir = config, str(config.model_dir)
        self.params = dict(params or {})

    def train(
        self,
        input_fn: _InputFn,
        hooks: _Hooks = (),
        *,
        max_steps: Optional[int] = None,
    ) -> "_Estimator":
        """Trains from the newest checkpoint or, if there is none, from new weights. Returns itself.

        Args:
          input_fn: params -> batches, each features or (features, labels). With a strategy, it also
            takes input_context.
          hooks: called in this order. A CheckpointSaverHook replaces the estimator's own.
          max_steps: the global step to stop at; None trains to the end of the input.
        """
        newest, config = self.latest_checkpoint(), self.config
        done = tf.train.load_variable(newest, tf.GraphKeys.GLOBAL_STEP) if newest else -1
        if max_steps is not None and done >= max_steps:
            return self
        strategy = config.train_distribute
        if strategy:
            strategy.configure(config.session_config)
        with tf.Graph().as_default(), strategy.scope() if strategy else contextlib.ExitStack():
            if strategy:
                spec = self._build_replicas(input_fn)
            else:
                spec = self._model_fn(**self._arguments(input_fn, _ModeKeys.TRAIN))
            tf.add_to_collection(tf.GraphKeys.LOSSES, spec.loss)
            hooks = [*hooks, tf.train.NanTensorHook(spec.loss)]
            if max_steps is not None:
                hooks.append(tf.train.StopAtStepHook(last_step=max_steps))
            has_saver = any(isinstance(hook, tf.train.CheckpointSaverHook) for hook in hooks)
            with tf.train.MonitoredTrainingSession(
                master=config.master or "",
                checkpoint_dir=self.model_dir,
                scaffold=self._training_scaffold(spec),
                hooks=hooks,
                save_checkpoint_secs=None,
                save_checkpoint_steps=None if has_saver else config.save_checkpoints_steps,
                save_summaries_secs=None,
                save_summaries_steps=config.save_summary_steps,
                log_step_count_steps=config.log_step_count_steps,
                config=config.session_config,
            ) as session:
                while not session.should_stop():
                    session.run([spec.train_op, spec.loss])
        return self

    def evaluate(
        self,
        input_fn: _InputFn,
        steps: Optional[int] = None,
        hooks: _Hooks = (),
        *,
        checkpoint_path: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Returns {name: metric}, with the mean of the batches' losses and global_step.

        Also writes them for TensorBoard, into the folder eval.

        Args:
          input_fn: see `train`.
          steps: the number of batches; None for all.
          hooks: called in this order.
          checkpoint_path: None for the newest checkpoint.
        """

        with tf.Graph().as_default():
            spec = self._model_fn(**self._arguments(input_fn, _ModeKeys.EVAL, steps=steps))
            metrics = {"loss": tf.metrics.mean(spec.loss)}
            if spec.eval_metrics:
                function, tensors = spec.eval_metrics
                is_named = isinstance(tensors, Mapping)
                metrics.update(function(**tensors) if is_named else function(*tensors))
            values = {name: value for name, (value, _) in metrics.items()}
            last = tf.train.FinalOpsHook(dict(values, global_step=tf.train.get_global_step()))
            with self._session(spec, checkpoint_path, [*hooks, last]) as session:
                while not session.should_stop():
                    session.run([update for _, update in metrics.values()])
        compat.write_evaluation(self.model_dir, last.final_ops_values)
        return last.final_ops_values

    def predict(
        self,
        input_fn: _InputFn,
        *,
        hooks: _Hooks = (),
        checkpoint_path: Optional[str] = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Dict[str, np.ndarray]]:
        """Yields the predictions of each example, or of each batch, by name."""
        with tf.Graph().as_default():
            spec = self._model_fn(**self._arguments(input_fn, _ModeKeys.PREDICT))
            with self._session(spec, checkpoint_path, hooks) as session:
                while not session.should_stop():
                    batch = session.run(spec.predictions)
                    rows = (dict(zip(batch, row)) for row in zip(*batch.values()))
                    yield from rows if yield_single_examples else [batch]

    def export_saved_model(
        self,
        export_dir_base: str,
        serving_input_receiver_fn: Callable[[], _ServingInputReceiver],
        *,
        checkpoint_path: Optional[str] = None,
    ) -> bytes:
        """Exports predictions as a SavedModel to a new folder, named by the time, and returns it.

        Args:
          export_dir_base: the folder for the new folder.
          serving_input_receiver_fn: returns the model's inputs.
          checkpoint_path: None for the newest checkpoint.

        Raises:
          ValueError: there is no checkpoint.
        """
        folder = os.path.join(export_dir_base, str(int(time.time())))
        while files.exists(folder):
            folder = os.path.join(export_dir_base, str(int(os.path.basename(folder)) + 1))
        with tf.Graph().as_default(), tf.Session(config=self.config.session_config) as session:
            tf.train.create_global_step()
            receiver = serving_input_receiver_fn()
            spec = self._model_fn(
                features=receiver.features,
                labels=None,
                mode=_ModeKeys.PREDICT,
                params=self._params_of(_ModeKeys.PREDICT),
            )
            inputs = receiver.receiver_tensors
            inputs = inputs if isinstance(inputs, Mapping) else {"input": inputs}
            tf.train.Saver().restore(session, checkpoint_path or self.latest_checkpoint())
            with files.atomic_path(folder) as temporary:
                tf.saved_model.simple_save(session, temporary, inputs, spec.predictions)
        return tf.compat.as_bytes(folder)

    def latest_checkpoint(self) -> Optional[str]:
        """Returns the path of the newest checkpoint; None if there is no checkpoint."""
        return tf.train.latest_checkpoint(self.model_dir)

    def get_variable_names(self) -> List[str]:
        """Returns the names of the variables in the newest checkpoint."""
        return [name for name, _ in tf.train.list_variables(self.model_dir)]

    def get_variable_value(self, name: str) -> np.ndarray:
        """Returns a variable's value in the newest checkpoint."""
        return tf.train.load_variable(self.model_dir, name)

    # ---- used by several modes ----

    def _params_of(self, mode: str) -> Dict[str, Any]:
        """Returns the params of the model and input functions in a mode."""
        size = self._batch_sizes.get(f"{mode}_batch_size".replace("infer", "predict"))
        return dict(self.params, batch_size=size) if size else dict(self.params)

    def _arguments(
        self, input_fn: _InputFn, mode: str, steps: Optional[int] = None
    ) -> Dict[str, Any]:
        """Builds the input, of at most `steps` batches, and returns the model function's arguments.

        Call it first in a new graph: it sets the seed and creates the global step.
        """
        tf.set_random_seed(self.config.tf_random_seed)
        tf.train.create_global_step()
        params = self._params_of(mode)
        with tf.device("/cpu:0"):
            dataset = input_fn(params)
            if steps:
                dataset = dataset.take(steps)
            iterator = tf.data.make_initializable_iterator(dataset)
            batch = iterator.get_next()
        # So each new session starts with the first batch.
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
        features, labels = batch if isinstance(batch, tuple) else (batch, None)
        return {"features": features, "labels": labels, "mode": mode, "params": params}

    def _build_replicas(self, input_fn: _InputFn) -> _EstimatorSpec:
        """Builds the graph for training on all devices. The loss is the mean of their losses."""
        tf.set_random_seed(self.config.tf_random_seed)
        mode, strategy = _ModeKeys.TRAIN, self.config.train_distribute
        params = self._params_of(mode)
        iterator = strategy.make_input_fn_iterator(
            lambda context: input_fn(params, input_context=context)
        )
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, tf.group(iterator.initialize()))
        step = tf.train.create_global_step()
        # If this collection is empty, hooks create a reader that runs the initializer, also on the
        # other workers.
        tf.add_to_collection(_STEP_READER, strategy.extended.read_var(step))
        specs: List[_EstimatorSpec] = []

        def replica(features: Any) -> Tuple[tf.Tensor, tf.Operation]:
            specs.append(self._model_fn(features=features, mode=mode, params=params))
            return specs[-1].loss, specs[-1].train_op

        loss, train_op = strategy.extended.call_for_each_replica(
            replica, args=(iterator.get_next(),)
        )
        loss = strategy.reduce(tf.distribute.ReduceOp.MEAN, loss, axis=None)
        return specs[0]._replace(loss=loss, train_op=strategy.group(train_op))

    def _training_scaffold(self, spec: _EstimatorSpec) -> tf.train.Scaffold:
        scaffold = (spec.scaffold_fn or tf.train.Scaffold)()
        if not scaffold.saver and not tf.get_collection(tf.GraphKeys.SAVERS):
            saver = tf.train.Saver(
                sharded=True,  # one shard per device, as in tf.estimator
                max_to_keep=self.config.keep_checkpoint_max,
                defer_build=True,
                save_relative_paths=True,
            )
            tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
        return scaffold

    def _session(
        self, spec: _EstimatorSpec, checkpoint: Optional[str], hooks: _Hooks
    ) -> tf.train.SingularMonitoredSession:
        """Opens a session that restores a checkpoint, or if there is none, initializes variables.

        After a lost connection, other kinds of sessions would start again, and repeat rows.
        """
        return tf.train.SingularMonitoredSession(
            hooks,
            scaffold=(spec.scaffold_fn or tf.train.Scaffold)(),
            master=self.config.master or "",
            config=self.config.session_config,
            checkpoint_filename_with_path=checkpoint or self.latest_checkpoint(),
        )


_OURS = types.SimpleNamespace(
    Estimator=_Estimator,
    EstimatorSpec=_EstimatorSpec,
    ModeKeys=_ModeKeys,
    RunConfig=_RunConfig,
    export=types.SimpleNamespace(ServingInputReceiver=_ServingInputReceiver),
    tpu=types.SimpleNamespace(
        TPUEstimator=_Estimator,
        TPUEstimatorSpec=_EstimatorSpec,
        RunConfig=_RunConfig,
        TPUConfig=types.SimpleNamespace,
        InputPipelineConfig=types.SimpleNamespace(PER_HOST_V2=3),
    ),
)


def __getattr__(name: str) -> Any:
    """Returns a class by TensorFlow's name for it.

    Looks it up on use, because tf.estimator imports Keras, which takes a second, and prediction
    needs neither.
    """
    if name in vars(_OURS):
        return getattr(tf.estimator if HAS_TF_ESTIMATOR else _OURS, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@contextlib.contextmanager
def lost_sessions_raise() -> Iterator[None]:
    """In this context, an estimator raises the error (Aborted, Unavailable) of a lost session.

    Otherwise TensorFlow would start a new session, again and again if the error persists, and train
    on the first batches again. TPUEstimator would end as if training were complete.
    """
    from tensorflow.python.training import monitored_session

    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(monitored_session, "_PREEMPTION_ERRORS", ()))
        if HAS_TF_ESTIMATOR:
            module = sys.modules[tf.estimator.tpu.TPUEstimator.__module__]
            stack.enter_context(mock.patch.object(module.error_handling, "_IGNORED_ERRORS", ()))
        yield


def train_on_workers(estimator: Any, input_fn: _InputFn, **options: Any) -> None:
    """Trains as one of the processes that TF_CONFIG lists. `options` are arguments of `train`.

    The estimator's strategy must be a MultiWorkerMirroredStrategy. Each process restores the newest
    checkpoint in its own folder.
    """
    if HAS_TF_ESTIMATOR:
        # Only this call starts the worker's server. No worker has the task "evaluator".
        training = tf.estimator.TrainSpec(input_fn, **options)
        try:
            tf.estimator.train_and_evaluate(estimator, training, tf.estimator.EvalSpec(input_fn))
        finally:
            if not compat.is_tf2():
                # At exit, the interpreter's release of the server logs an error.
                from tensorflow.python.distribute import distribute_coordinator

                distribute_coordinator._thread_local.server = None
        return
    config = estimator.config
    defaults = config.train_distribute.update_config_proto(config.session_config)
    del defaults.device_filters[:]  # The filters are for this worker's sessions, not its server.
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    server = tf.distribute.Server(
        resolver.cluster_spec(),
        job_name=resolver.task_type,
        task_index=resolver.task_id,
        protocol="grpc",
        config=defaults,
    )
    estimator.config = config._replace(master=server.target)
    estimator.train(input_fn, **options)
