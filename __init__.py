# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Lets `python -m albert...` run from the folder above a clone that is called albert.

There Python takes this folder for the package. This module leaves its place to what is meant: the
package inside, or in a clone of another name (pytest imports its folder too) what Python has by it.
"""

import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.realpath(__file__)
_clone = os.path.dirname(_here)
_others = [path for path in sys.path if os.path.realpath(os.path.join(path, __name__)) != _clone]
_spec = importlib.machinery.PathFinder.find_spec(__name__, [_clone] + _others)
if _spec and _spec.loader and os.path.realpath(_spec.origin) != _here:
    sys.modules[__name__] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[__name__])
