# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Warm start: takes a model's initial weights from a checkpoint.

The checkpoint must have every variable of the encoder with the same shape. Heads that it lacks are
initialized at random.
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

from albert.formats import checkpoints, model_paths
from albert.formats.checkpoints import Entry, match_variables
from albert.runtimes import compat
from albert.util import wording

Tensors = Mapping[str, tf.Tensor]


class WarmStart(NamedTuple):
    """The source of each variable in a warm start."""

    checkpoint: str  # prefix
    loaded: List[Entry]  # variables of the model, with values from the checkpoint
    new: List[Entry]  # variables of the model, with random values
    left_over: List[Entry]  # unused variables of the checkpoint, without optimizer state
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
    """Initializes variables from a checkpoint.

    The checkpoint must have every variable below bert/ with the same shape. Other variables (the
    heads) are loaded if they fit; otherwise they stay random. Optimizer slots and the global step
    are never loaded. To restore them, resume in the same output_dir.

    Args:
      init_checkpoint: see `model_paths.resolve`.
      variables: the model's variables, usually tf.trainable_variables().
      init_from_group0: initialize every layer group (and each inner group that the checkpoint
        lacks) from the checkpoint's group 0.
      use_tpu: initialize in `scaffold_fn`, as TPUEstimator needs; otherwise in the variables'
        initializers.

    Raises:
      UserError: the checkpoint is missing or unreadable, or does not fit the model.
    """
    checkpoint = model_paths.resolve(init_checkpoint)
    entries, unused = match_variables(
        checkpoint,
        variables,
        required=("bert/",),
        init_from_group0=init_from_group0,
    )
    taken = [(entry.source, item) for entry, item in zip(entries, variables) if entry.source]
    # Check here, because TensorFlow's own error would not name the file.
    checkpoints.check_whole(checkpoint, {source for source, _ in taken})

    def initialise() -> tf.train.Scaffold:
        for source, variable in taken:  # one by one, because variables can share a source
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
    """Restores all variables of the session's graph from a checkpoint, including the heads.

    Args:
      session: its graph has no optimizer.
      checkpoint: prefix of a checkpoint that a training script wrote.

    Raises:
      UserError: the checkpoint is unreadable, or lacks a variable or has it in another shape.
    """
    variables = tf.global_variables()
    entries, _ = match_variables(checkpoint, variables)
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
    """Yields (session, inputs, outputs) of a new graph with the weights of a checkpoint.

    Args:
      build: builds the network: takes the inputs by name, and returns the outputs by name.
      inputs: names of the inputs, which are int32.
      checkpoint: see restore_weights.
      shape: shape of each input.

    Raises:
      UserError: see restore_weights.
    """
    with tf.Graph().as_default(), tf.Session(config=compat.base_session_config()) as session:
        placeholders = {name: tf.placeholder(tf.int32, shape, name) for name in inputs}
        # Every TensorFlow version then writes the same kind of variables.
        with tf.variable_scope(tf.get_variable_scope(), use_resource=True):
            outputs = build(placeholders)
        restore_weights(session, checkpoint)
        yield session, placeholders, outputs
