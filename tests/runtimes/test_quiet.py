# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is written to standard error while TensorFlow is imported."""

import os

import pytest

from albert.runtimes import quiet


def test_what_is_written_meanwhile_is_held_back_and_later_lines_are_not(capfd):
    with quiet.held_back():
        os.write(2, b"noise\n")
    os.write(2, b"a line of ours\n")
    assert capfd.readouterr().err == "a line of ours\n"


def test_it_is_shown_where_the_import_fails(capfd):
    with pytest.raises(ImportError), quiet.held_back():
        os.write(2, b"why it fails\n")
        raise ImportError
    assert capfd.readouterr().err == "why it fails\n"
