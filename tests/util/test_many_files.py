# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Looking at many files at a time."""

import threading

import pytest

from albert.util import many_files


def test_each_works_in_parallel_and_in_order():
    meeting = threading.Barrier(4)

    def met(number):
        meeting.wait(timeout=60)
        return -number

    assert list(many_files.each(met, range(8))) == [0, -1, -2, -3, -4, -5, -6, -7]
    assert list(many_files.each(met, [])) == []


def test_each_raises_first_error():
    later = threading.Event()

    def fail(number):
        if number == 30:
            later.set()
            raise ValueError(30)
        if number == 3:
            later.wait(timeout=60)
            raise ValueError(3)

    with pytest.raises(ValueError, match="^3$"):
        list(many_files.each(fail, range(100)))


def test_each_starts_few_items_ahead():
    started = []
    results = many_files.each(started.append, range(10000))
    next(results)
    results.close()
    assert len(started) < 200
