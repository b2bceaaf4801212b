# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converting folders in tests, and looking into them."""

import contextlib
import io
import os

import tensorflow.compat.v1 as tf

from albert.commands import convert_checkpoint
from albert.formats import checkpoints
from albert.util import flags as flags_lib
from tests.support import graphs, pretrained_models
from tests.support.conversion_check import config_in


def convert(direction, source, target, *arguments):
    """Converts a folder; returns the variables in the printed report, by title."""
    flags = flags_lib.parse(
        convert_checkpoint.Flags,
        [f"--direction={direction}", f"--input_dir={source}", f"--output_dir={target}", *arguments],
    )
    with contextlib.redirect_stdout(io.StringIO()) as output:
        convert_checkpoint.main(flags)
    report, title = {}, ""
    for line in output.getvalue().splitlines():
        if line.startswith("  "):
            report[title].append(line.split()[0])
        else:
            title = line.split(":")[0]
            report[title] = []
    return report


def values_in(folder, name="model.ckpt-best"):
    return checkpoints.read(os.path.join(folder, name))


def restore(folder):
    """The shapes of a pretraining model's variables, restored with nothing missing."""
    config = config_in(folder)
    with graphs.new_session() as session:
        pretrained_models.build(config, *[tf.zeros([1, 4], tf.int32)] * 3)
        tf.train.Saver().restore(session, os.path.join(folder, "model.ckpt-best"))
        return {item.op.name: item.shape.as_list() for item in tf.trainable_variables()}
