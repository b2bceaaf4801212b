# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A file with anything in it is read, or refused by name; a value of a wrong type is never read."""

import os

import pytest

from albert.util import UserError
from tests.support import fuzz, readers

# Values that may also be of another type, by the last key.
FLEXIBLE = {"id", "text_a", "text_b", "label", "metrics", "labels", "train_file", "name", "state"}
DEEP = {"a": None}
for _ in range(500):
    DEEP = {"a": DEEP}
WRONG = [None, True, -1, 1.5, 10**400, "x", "\ud800", float("nan"), [], [[]], {}, {"x": []}, DEEP]


@pytest.mark.parametrize("kind", readers.READERS)
def test_valid_file_is_read(tmp_path, kind):
    content = readers.CONTENTS[kind]
    assert fuzz.fault_of(readers.Files(tmp_path), kind, content) == (fuzz.READ, "")


# Metadata of records that cannot be read are those of nobody, and made again.
@pytest.mark.parametrize("content", [b"", b"{", b'{"name": "\xc5se"}'])
@pytest.mark.parametrize("kind", readers.JSON)
def test_file_that_is_no_json_is_refused_and_named(tmp_path, kind, content):
    outcome, fault = fuzz.fault_of(readers.Files(tmp_path), kind, content)
    is_made_again = kind in (".data.meta.json", "record_index.json", "data.counts.json")
    assert (outcome == fuzz.REFUSED or is_made_again) and fault == ""


@pytest.mark.parametrize("kind", readers.JSON)
def test_value_of_a_wrong_type_is_refused_and_the_file_named(tmp_path, kind):
    reader, valid = readers.READERS[kind], readers.CONTENTS[kind]
    files = readers.Files(tmp_path)
    expected = reader.read(files.write(kind))
    for path in fuzz.places_of(valid):
        right = valid
        for key in path:
            right = right[key]
        for wrong in WRONG:
            content = fuzz.replaced(valid, path, wrong)
            try:
                result = reader.read(files.write(kind, content))
            except UserError as error:
                names = os.path.basename(kind.split(" ")[0]), *reader.names
                assert any(name in str(error) for name in names), (path, wrong)
            else:
                # NaN, which no JSON has, is null.
                is_other = type(wrong) not in (type(right), type(None)) and wrong == wrong
                is_free = FLEXIBLE.intersection(path) and kind in readers.FROM_PEOPLE
                is_unread = not result or result == expected
                assert is_unread or not is_other or is_free, (path, wrong)


@pytest.mark.slow
@pytest.mark.parametrize("kind", readers.READERS)
def test_changed_file_is_read_or_refused_by_name(tmp_path, kind):
    _, faults = fuzz.run([kind], tmp_path / "files", seed=0, inputs=500)
    assert not faults, faults
