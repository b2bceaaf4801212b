# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Compares the variables of a model and a checkpoint, for warm starts, resumed runs and exports.

Conversions from other projects raise the same error.
"""

import re
from typing import Iterable, List, NamedTuple, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.formats import checkpoints
from albert.util import wording
from albert.util.errors import UserError

# Prefix of variable names if Google's scripts trained the model from a TF-Hub module.
_MODULE_SCOPE = "module/"
# Pattern in variable names of another layout -> advice.
_CONVERT = "Convert it: python -m albert convert_checkpoint {}."
_FOREIGN_LAYOUTS = {
    "^bert/encoder/layer_shared/": _CONVERT.format("from_albert_zh"),
    r"^bert/encoder/layer_\d+/": "This is a BERT checkpoint. Use an ALBERT checkpoint.",
    "albert_layer_groups": _CONVERT.format("from_huggingface"),
    r"\.ATTRIBUTES/VARIABLE_VALUE$": "This is from tf.train.Checkpoint or Keras. Save it with "
    "tf.compat.v1.train.Saver.",
}
USE_ITS_CONFIG = (
    "Use the albert_config.json and the vocabulary of the checkpoint, or random weights. If the "
    "model has more layer groups, add --init_from_group0."
)
_TRAIN_FIRST = (
    "It has no head for this task. Train first with --do_train, or name a trained checkpoint."
)


class Entry(NamedTuple):
    """A variable of the model or of the checkpoint."""

    name: str
    shape: Sequence[int]
    source: str = ""  # the checkpoint's variable that initializes it
    remark: str = ""  # shape and dtype in the checkpoint if they differ, or the converted name

    def __str__(self) -> str:
        return f"{self.name} {list(self.shape)}{self.remark}"


def compare(
    checkpoint: str,
    variables: Sequence[tf.Variable],
    *,
    required: Tuple[str, ...] = ("",),
    init_from_group0: bool = False,
    remedy: str = USE_ITS_CONFIG,
) -> Tuple[List[Entry], List[Entry]]:
    """Returns an entry for each variable, and the checkpoint's variables that are not used.

    Args:
      checkpoint: its prefix.
      variables: the model's variables.
      required: name prefixes of variables that the checkpoint must have; ("",) means all.
      init_from_group0: initialize every group (and each inner group that the checkpoint lacks)
        from group 0.
      remedy: the advice in the error message.

    Raises:
      UserError: the checkpoint is corrupt, has none of the variables, or lacks a required variable
        or has it with another shape or type.
    """
    with checkpoints.explained(checkpoint):
        reader = checkpoints.open_reader(checkpoint)
        dtypes = reader.get_variable_to_dtype_map()
        shapes = reader.get_variable_to_shape_map()
    entries = []
    for variable in variables:
        name, shape = variable.name.split(":")[0], variable.shape.as_list()
        candidates = [name, _MODULE_SCOPE + name]
        if init_from_group0:
            group0 = re.sub(r"/group_\d+/", "/group_0/", name)
            first_block = re.sub(r"/(attention|ffn)_\d+/", r"/\1_1/", group0)
            first_inner = re.sub(r"/inner_group_\d+/", "/inner_group_0/", first_block)
            candidates = [group0, first_block, first_inner]
        source, remark = next((name for name in candidates if name in shapes), ""), ""
        if source and (shapes[source], dtypes[source]) != (shape, variable.dtype.base_dtype):
            remark = f" (the checkpoint has {dtypes[source].name} {shapes[source]})"
            source = ""
        entries.append(Entry(name, shape, source, remark))
    taken = {entry.source for entry in entries} - {""}
    unused = [Entry(name, shapes[name]) for name in sorted(set(shapes) - taken)]
    lacking = [entry for entry in entries if not entry.source and entry.name.startswith(required)]
    if lacking or not taken:
        has_encoder = not any(entry.name.startswith("bert/") for entry in lacking)
        if lacking and has_encoder and remedy == USE_ITS_CONFIG:
            remedy = _TRAIN_FIRST
        for pattern, advice in _FOREIGN_LAYOUTS.items():
            if any(re.search(pattern, name) for name in shapes):
                remedy = advice
        raise misfit(f"The checkpoint {checkpoint!r}", remedy, lacking=lacking, unknown=unused)
    return entries, unused


def misfit(
    checkpoint: str, remedy: str, *, lacking: Iterable[Entry], unknown: Iterable[Entry]
) -> UserError:
    """Returns the error for a checkpoint that does not have the variables of a model."""
    return UserError(
        f"{checkpoint} does not fit the model. {remedy}\n"
        f"  It lacks {wording.listed(list(map(str, lacking)), most=12)}.\n"
        f"  It also has {wording.listed(list(map(str, unknown)), most=3)}."
    )
