# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Warm start: takes a model's initial weights from a checkpoint.

The checkpoint must have every variable of the encoder, with its shape. Heads that it does not have
are initialized at random.
"""

import contextlib
from typing import (
    Callable,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

import tensorflow.compat.v1 as tf

from albert.formats import checkpoints
from albert.formats.comparison import Entry, compare
from albert.runtimes import compat
from albert.util import wording

Tensors = Mapping[str, tf.Tensor]


class WarmStart(NamedTuple):
    """The source of each variable in a warm start."""

    checkpoint: str  # prefix
    loaded: List[Entry]  # variables of the model that take a value from it
    new: List[Entry]  # variables of the model that keep their random initial values
    left_over: List[Entry]  # variables of the checkpoint that nothing takes, but for an optimizer's
    scaffold_fn: Optional[Callable[[], tf.train.Scaffold]]  # of a TPUEstimatorSpec, with use_tpu

    def __str__(self) -> str:
        new, left_over = (
            wording.listed(list(map(str, items))) for items in (self.new, self.left_over)
        )
        count = wording.counted(len(self.loaded), "variable")
        return f"Loaded {count} from {self.checkpoint}. Random: {new}. Not used: {left_over}"


def warm_start(
    init_checkpoint: str,
    variables: Sequence[tf.Variable],
    *,
    init_from_group0: bool = False,
    use_tpu: bool = False,
) -> WarmStart:
    """Makes variables take their initial values from a checkpoint.

    Every variable below bert/ has to be there with its shape. Others (the heads) are loaded if they
    fit, and new if not.
    Optimizer slots and the global step are never taken: resuming in the same output_dir does that.

    Args:
      init_checkpoint: whatever `checkpoints.resolve` takes.
      variables: the model's variables, usually tf.trainable_variables().
      init_from_group0: gives every layer group (and inner group the checkpoint lacks) the values of
        the checkpoint's group 0.
      use_tpu: leaves the initialisation to `scaffold_fn`, where TPUEstimator needs it; otherwise
        the variables' initialisers do it.

    Raises:
      UserError: no such checkpoint, an unreadable one, or one that does not fit the model.
    """
    checkpoint = checkpoints.resolve(init_checkpoint)
    entries, unused = compare(
        checkpoint,
        variables,
        required=("bert/",),
        init_from_group0=init_from_group0,
    )
    taken = [(entry.source, item) for entry, item in zip(entries, variables) if entry.source]
    # Checked here, because TensorFlow's own error would not name the file.
    checkpoints.check_whole(checkpoint, {source for source, _ in taken})

    def initialise() -> tf.train.Scaffold:
        for source, variable in taken:  # one by one, because several may take the same value
            tf.train.init_from_checkpoint(checkpoint, {source: variable})
        return tf.train.Scaffold()

    if not use_tpu:
        initialise()
    return WarmStart(
        checkpoint,
        loaded=[entry for entry in entries if entry.source],
        new=[entry for entry in entries if not entry.source],
        left_over=[item for item in unused if not checkpoints.is_optimizer_state(item.name)],
        scaffold_fn=initialise if use_tpu else None,
    )


def restore_weights(session: tf.Session, checkpoint: str) -> None:
    """Restores every variable of the session's graph from a checkpoint, also those of heads.

    Args:
      session: of a graph without an optimizer.
      checkpoint: prefix of a checkpoint that a training script wrote.

    Raises:
      UserError: it is unreadable, or lacks a variable, or has it in another shape.
    """
    variables = tf.global_variables()
    entries, _ = compare(checkpoint, variables)
    with checkpoints.explained(checkpoint):
        sources = {entry.source: variable for entry, variable in zip(entries, variables)}
        tf.train.Saver(sources).restore(session, checkpoint)


@contextlib.contextmanager
def open_graph(
    build: Callable[[Tensors], Tensors],
    inputs: Iterable[str],
    checkpoint: str,
    *,
    shape: Sequence[Optional[int]] = (None, None),
) -> Iterator[Tuple[tf.Session, Tensors, Tensors]]:
    """Yields a session of a new graph with the weights of a checkpoint, its inputs and outputs.

    Args:
      build: takes the inputs by name, and returns the outputs like that.
      inputs: their names; they are int32.
      checkpoint: see restore_weights.
      shape: of the inputs.

    Raises:
      UserError: see restore_weights.
    """
    with tf.Graph().as_default(), tf.Session(config=compat.session_config()) as session:
        fed = {name: tf.placeholder(tf.int32, shape, name) for name in inputs}
        # Every TensorFlow then writes the same kind of variables.
        with tf.variable_scope(tf.get_variable_scope(), use_resource=True):
            outputs = build(fed)
        restore_weights(session, checkpoint)
        yield session, fed, outputs
