# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Estimators: TensorFlow's own where it has them, and the same small surface where it has none.

TensorFlow 2.16 removed tf.estimator. This is the only module that knows: model functions, input
functions and hooks are the same on every runtime. Without tf.estimator they run on
tf.train.MonitoredTrainingSession and tf.distribute, on one device or on several of this host.
"""

import contextlib
import dataclasses
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf


class _ModeKeys:
    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


@dataclasses.dataclass
class _Spec:
    """What a model function returns: the fields of TPUEstimatorSpec that mean something here.

    eval_metrics is (function, tensors): the function takes the tensors, by name or position, and
    returns (value, update) of each metric by name.
    """

    mode: str
    predictions: Any = None
    loss: Optional[tf.Tensor] = None
    train_op: Any = None
    eval_metrics: Optional[Tuple[Callable, Any]] = None
    export_outputs: Any = None
    scaffold_fn: Optional[Callable[[], tf.train.Scaffold]] = None
    host_call: Any = None
    training_hooks: Sequence[tf.train.SessionRunHook] = ()
    evaluation_hooks: Sequence[tf.train.SessionRunHook] = ()
    prediction_hooks: Sequence[tf.train.SessionRunHook] = ()

    def as_estimator_spec(self) -> "_Spec":
        """Returns itself: TPUs and other devices share one class."""
        return self

    def metrics(self) -> Dict[str, Tuple[tf.Tensor, Any]]:
        """Returns value and update of each metric of evaluation, the loss among them."""
        metrics = {"loss": tf.metrics.mean(self.loss)}
        if self.eval_metrics:
            metric_fn, tensors = self.eval_metrics
            by_name = isinstance(tensors, Mapping)
            metrics.update(metric_fn(**tensors) if by_name else metric_fn(*tensors))
        return metrics

    def scaffold(self, max_to_keep: Optional[int] = None) -> tf.train.Scaffold:
        """Returns what creates and restores the session's variables."""
        scaffold = self.scaffold_fn() if self.scaffold_fn else tf.train.Scaffold()
        if not scaffold.saver and not tf.get_collection(tf.GraphKeys.SAVERS):
            # One file a device, and names relative to the folder, as tf.estimator has them.
            saver = tf.train.Saver(
                sharded=True, max_to_keep=max_to_keep, defer_build=True, save_relative_paths=True
            )
            tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
        return scaffold


@dataclasses.dataclass
class _RunConfig:
    """How an estimator runs; what TensorFlow's has for TPUs and clusters is not used."""

    model_dir: Optional[str] = None
    save_checkpoints_steps: Optional[int] = None
    keep_checkpoint_max: int = 5
    tf_random_seed: Optional[int] = None
    session_config: Optional[tf.ConfigProto] = None
    train_distribute: Any = None
    save_summary_steps: int = 0
    log_step_count_steps: Optional[int] = None
    cluster: Any = None
    master: Optional[str] = None
    tpu_config: Any = None


class _Estimator:
    """Trains, evaluates and predicts with a model function.

    Args:
      model_fn: (features, labels, mode, params) -> _Spec.
      config: the folder, the seed and the devices.
      params: given to the model function, and with batch_size to the input function.
      train_batch_size, eval_batch_size, predict_batch_size: params["batch_size"] of each mode.
    """

    def __init__(
        self,
        model_fn: Callable,
        config: _RunConfig,
        params: Optional[Mapping[str, Any]] = None,
        **batch_sizes: int,
    ):
        self._model_fn = model_fn
        self._params = dict(params or {})
        self._batch_sizes = batch_sizes
        self.config = config
        self.model_dir = config.model_dir

    def train(
        self,
        input_fn: Callable,
        hooks: Sequence[tf.train.SessionRunHook] = (),
        max_steps: Optional[int] = None,
    ) -> "_Estimator":
        """Trains from the newest checkpoint, or from the first step, until step `max_steps`."""
        newest = tf.train.latest_checkpoint(self.model_dir)
        if newest and max_steps is not None and _stored_step(newest) >= max_steps:
            return self
        strategy = self.config.train_distribute
        params = self._params_of("train")
        if strategy:
            strategy.configure(self.config.session_config)
        with tf.Graph().as_default(), strategy.scope() if strategy else contextlib.ExitStack():
            self._seed_graph()
            if strategy:
                spec, input_hook = self._replicas(strategy, input_fn, params)
            else:
                features, labels, input_hook = _read(input_fn(params))
                spec = self._model_fn(features, labels, _ModeKeys.TRAIN, params)
            tf.add_to_collection(tf.GraphKeys.LOSSES, spec.loss)
            if max_steps is not None:
                hooks = [*hooks, tf.train.StopAtStepHook(last_step=max_steps)]
            with tf.train.MonitoredTrainingSession(
                checkpoint_dir=self.model_dir,
                scaffold=spec.scaffold(self.config.keep_checkpoint_max),
                hooks=[input_hook, *hooks, *spec.training_hooks],
                save_checkpoint_secs=None,
                save_checkpoint_steps=None,
                save_summaries_steps=None,
                save_summaries_secs=None,
                log_step_count_steps=None,
                config=self.config.session_config,
            ) as session:
                while not session.should_stop():
                    session.run(spec.train_op)
        return self

    def evaluate(
        self,
        input_fn: Callable,
        steps: Optional[int] = None,
        hooks: Sequence[tf.train.SessionRunHook] = (),
        checkpoint_path: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Returns the metrics over `steps` batches (None: all), and global_step."""
        params = self._params_of("eval")
        with tf.Graph().as_default():
            self._seed_graph()
            features, labels, input_hook = _read(input_fn(params))
            spec = self._model_fn(features, labels, _ModeKeys.EVAL, params)
            metrics = spec.metrics()
            values = {name: value for name, (value, _) in metrics.items()}
            result = tf.train.FinalOpsHook(dict(values, global_step=tf.train.get_global_step()))
            every = [input_hook, *hooks, *spec.evaluation_hooks, result]
            with self._restored(spec, checkpoint_path, every) as session:
                done = 0
                while not session.should_stop() and (steps is None or done < steps):
                    session.run([update for _, update in metrics.values()])
                    done += 1
        return dict(result.final_ops_values)

    def predict(
        self,
        input_fn: Callable,
        hooks: Sequence[tf.train.SessionRunHook] = (),
        checkpoint_path: Optional[str] = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Dict[str, np.ndarray]]:
        """Yields the predictions of each example, or of each batch."""
        params = self._params_of("predict")
        with tf.Graph().as_default():
            self._seed_graph()
            features, _, input_hook = _read(input_fn(params))
            spec = self._model_fn(features, None, _ModeKeys.PREDICT, params)
            every = [input_hook, *hooks, *spec.prediction_hooks]
            with self._restored(spec, checkpoint_path, every) as session:
                while not session.should_stop():
                    batch = session.run(spec.predictions)
                    yield from _rows(batch) if yield_single_examples else [batch]

    def _params_of(self, kind: str) -> Dict[str, Any]:
        """What the input and model functions of a mode are given."""
        size = self._batch_sizes.get(f"{kind}_batch_size")
        return dict(self._params, **({"batch_size": size} if size else {}))

    def _seed_graph(self) -> None:
        tf.set_random_seed(self.config.tf_random_seed)
        tf.train.create_global_step()

    def _restored(
        self, spec: _Spec, checkpoint: Optional[str], hooks: Sequence[tf.train.SessionRunHook]
    ) -> tf.train.MonitoredSession:
        """A session with the values of a checkpoint, or of the newest."""
        creator = tf.train.ChiefSessionCreator(
            scaffold=spec.scaffold(),
            checkpoint_filename_with_path=checkpoint or tf.train.latest_checkpoint(self.model_dir),
            config=self.config.session_config,
        )
        return tf.train.MonitoredSession(creator, hooks=hooks)

    def _replicas(
        self, strategy: Any, input_fn: Callable, params: Mapping[str, Any]
    ) -> Tuple[_Spec, tf.train.SessionRunHook]:
        """One update on all devices of a strategy; the loss is the mean of theirs."""
        iterator = strategy.make_input_fn_iterator(
            lambda context: input_fn(params, input_context=context)
        )
        kept: List[_Spec] = []

        def one_replica(features: Any) -> Tuple[tf.Tensor, Any]:
            spec = self._model_fn(features, None, _ModeKeys.TRAIN, params)
            kept.append(spec)
            return spec.loss, spec.train_op

        loss, train_op = strategy.extended.call_for_each_replica(
            one_replica, args=(iterator.get_next(),)
        )
        loss = strategy.reduce(tf.distribute.ReduceOp.MEAN, loss, axis=None)
        spec = dataclasses.replace(kept[0], loss=loss, train_op=strategy.group(train_op))
        return spec, _InitializerHook(iterator.initialize())


def _rows(batch: Mapping[str, np.ndarray]) -> Iterator[Dict[str, np.ndarray]]:
    """The predictions of each example of a batch."""
    for row in range(len(next(iter(batch.values())))):
        yield {name: value[row] for name, value in batch.items()}


def _stored_step(checkpoint: str) -> int:
    """The global step of a checkpoint."""
    return int(tf.train.load_variable(checkpoint, tf.GraphKeys.GLOBAL_STEP))


def _read(dataset: Any) -> Tuple[Any, Any, tf.train.SessionRunHook]:
    """Features and labels of the next batch, and the hook that begins to read."""
    with tf.device("/cpu:0"):
        iterator = tf.data.make_initializable_iterator(dataset)
        batch = iterator.get_next()
    features, labels = batch if isinstance(batch, tuple) else (batch, None)
    return features, labels, _InitializerHook(iterator.initializer)


class _InitializerHook(tf.train.SessionRunHook):
    """Runs an operation once the session is there."""

    def __init__(self, initializer: Any):
        self._initializer = initializer

    def after_create_session(self, session, coord):
        """Begins to read."""
        del coord
        session.run(self._initializer)


class _Tpu:
    """What stands under tf.estimator.tpu; off TPUs all of it means something."""

    TPUEstimatorSpec = _Spec
    RunConfig = _RunConfig

    class InputPipelineConfig:
        """How the hosts of a TPU read their input."""

        PER_HOST_V2 = 3

    class TPUConfig:
        """The settings of a TPU, which are not used here."""

        def __init__(self, **settings: Any):
            del settings

    class TPUEstimator(_Estimator):
        """An estimator off TPUs; it takes what TensorFlow's takes."""

        def __init__(self, *args: Any, use_tpu: bool = False, **options: Any):
            if use_tpu:
                raise ValueError(NO_TPU)
            super().__init__(*args, **options)


HAS_TPUS = hasattr(tf, "estimator")
NO_TPU = (
    f"TPUs need tf.estimator, which TensorFlow {tf.__version__} does not have. Use TensorFlow "
    "2.15.1 (Python 3.9 to 3.11) or 1.15.5 (Python 3.7)."
)
if HAS_TPUS:
    Estimator = tf.estimator.Estimator
    EstimatorSpec = tf.estimator.EstimatorSpec
    ModeKeys = tf.estimator.ModeKeys
    RunConfig = tf.estimator.RunConfig
    tpu = tf.estimator.tpu
else:
    Estimator, EstimatorSpec, ModeKeys, RunConfig = _Estimator, _Spec, _ModeKeys, _RunConfig
    tpu = _Tpu


def train_on_workers(estimator: Any, input_fn: Callable, **options: Any) -> None:
    """Trains as one of several processes that TF_CONFIG names; `options` are those of train.

    Raises:
      ValueError: this TensorFlow has no tf.estimator, which starts their servers.
    """
    if not HAS_TPUS:
        raise ValueError(NO_WORKERS)
    # The one call that starts this worker's server. No task evaluates.
    training = tf.estimator.TrainSpec(input_fn, **options)
    tf.estimator.train_and_evaluate(estimator, training, tf.estimator.EvalSpec(input_fn))


NO_WORKERS = (
    f"Several workers need tf.estimator, which TensorFlow {tf.__version__} does not have. Use "
    "TensorFlow 2.15.1 (Python 3.9 to 3.11) or 1.15.5 (Python 3.7), or train on the devices of one "
    "host: --distribution_strategy=mirrored."
)
