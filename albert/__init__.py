# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""ALBERT: A Lite BERT for Self-supervised Learning of Language Representations."""

import os
import sys
import warnings

from albert.runtimes import support

TYPE_CHECKING = False  # typing takes longer to load than all of this
if TYPE_CHECKING:
    from typing import Any, Optional  # noqa: F401  for the type of load, which is a comment

    from albert.predictor import AnyModel  # noqa: F401

__version__ = "0.1.0"

_refusal = support.refusal(sys.version_info[:2], support.installed_tensorflow)
if _refusal:
    if support.is_started_as_script():  # no traceback
        sys.exit("ERROR: " + _refusal)
    raise ImportError(_refusal)
_other = support.other_package()
if _other:
    warnings.warn(
        "Another project's package albert is in {}, and only one of the two can be imported: "
        "remove it (pip uninstall albert), or give each an environment of its own.".format(_other)
    )

# TensorFlow's C++ side prints dozens of lines about devices and libraries that it did not find.
# What goes wrong comes back as an exception. Set the variable to 0 to read them.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def load(place, checkpoint=None, **options):
    # type: (str, Optional[str], Any) -> AnyModel
    """Returns the model in a folder, in memory; see predictor.load.

    Args:
      place: output_dir of a fine-tuning script, the folder of a pretrained model, or the name of a
        released one, such as base_v2.
      checkpoint: weights to take in place of model.ckpt-best.
      **options: precision_name and batch_size; of an encoder also pooling and layer.
    """
    from albert import predictor

    return predictor.load(place, checkpoint, **options)
