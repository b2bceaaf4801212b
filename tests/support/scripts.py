# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Scripts in the process of the tests."""

from albert.util import flags as flags_lib


def run(script, arguments):
    """Runs a script's main on words, or on a list of them; returns what it returns."""
    words = arguments.split() if isinstance(arguments, str) else arguments
    return script.main(flags_lib.parse(script.Flags, words))
