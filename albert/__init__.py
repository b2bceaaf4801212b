# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""ALBERT: A Lite BERT for Self-supervised Learning of Language Representations."""

import glob
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:  # it imports TensorFlow
    from albert.predictor import AnyModel

__version__ = "0.1.0"

_NEEDED = (
    "Install Python 3.10 to 3.13 with TensorFlow 2.16 or later, Python 3.9 to 3.11 with TensorFlow "
    "2.15.1, or Python 3.7 with TensorFlow 1.15.5: pip install -r requirements.txt takes what fits."
)


def _unsupported() -> str:
    """What is wrong with this Python or its TensorFlow; "" if nothing is."""
    python = sys.version_info[:2]
    if python < (3, 7) or python == (3, 8) or python > (3, 13):
        return "Python {}.{} does not run albert. {}".format(*python, _NEEDED)
    if python == (3, 7) or "tensorflow" in sys.modules:
        return ""
    from importlib import metadata, util

    if util.find_spec("tensorflow") is None:
        return f"albert needs TensorFlow, which is not installed for {sys.executable}. {_NEEDED}"
    try:
        version = metadata.version("tensorflow")
    except metadata.PackageNotFoundError:
        return ""  # a build under another name
    if tuple(map(int, version.split(".")[:2])) < (2, 15):
        return f"TensorFlow {version} does not run albert. {_NEEDED}"
    return ""


def _other_package() -> str:
    """Where another project's package of this name is installed too; "" if there is none.

    In the same folder its files and ours lie side by side, and elsewhere the first one is imported.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    beside = glob.glob(os.path.join(os.path.dirname(here), "albert-*.dist-info"))
    for place in sys.path:
        other = os.path.join(os.path.abspath(place), "albert")
        if os.path.isfile(os.path.join(other, "__init__.py")) and not os.path.isfile(
            os.path.join(other, "modeling.py")
        ):
            return other
    return beside[0] if beside else ""


_mistake = _unsupported()
if _mistake:
    if sys.argv[:1] == ["-m"]:  # a script: one sentence, no traceback
        sys.exit(_mistake)
    raise ImportError(_mistake)
_other = _other_package()
if _other:
    warnings.warn(
        f"Another project's package albert is installed, too: {_other}. Remove it "
        "(pip uninstall albert), or give each an environment of its own."
    )

# TensorFlow's C++ side prints dozens of lines about devices and libraries that it did not find.
# What goes wrong comes back as an exception. Set the variable to 0 to read them.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def load(place: str, checkpoint: Optional[str] = None, **options: Any) -> "AnyModel":
    """Returns the model in a folder, in memory; see predictor.load.

    Args:
      place: output_dir of a fine-tuning script, the folder of a pretrained model, or the name of a
        released one, such as base_v2.
      checkpoint: weights to take in place of model.ckpt-best.
      **options: precision_name and batch_size; of an encoder also pooling and layer.
    """
    from albert import predictor

    return predictor.load(place, checkpoint, **options)
