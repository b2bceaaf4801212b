# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""ALBERT: A Lite BERT for Self-supervised Learning of Language Representations."""

import os

__version__ = "0.1.0"

# TensorFlow's C++ side prints dozens of lines about devices and libraries that it did not find.
# What goes wrong comes back as an exception. Set the variable to 0 to read them.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
