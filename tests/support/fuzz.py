# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Changes valid files at random, and reads them: each must be read, or refused by name.

    make fuzz                          # ten minutes, each reader as long as the others
    make fuzz MINUTES=1 ARGS=conll     # those whose name has one of these words

A reader must return within ten seconds: a result, or a UserError that names the file. Where the
table has another way to read a file (readers.py), the results must be equal. Faulty inputs are kept
and named. Exits with 1 if there is one.
"""

import argparse
import collections
import contextlib
import faulthandler
import io
import json
import logging
import os
import pathlib
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback

from albert.util import UserError
from tests.support import readers

LONGEST_SECONDS = 10
MOST_BYTES = 1 << 33  # of memory beyond what is used at the start
READ, REFUSED = "read", "refused"
VALUES = json.loads(
    '[null, true, false, 0, 1, -1, 1.0, 0.5, 1e999, NaN, 2147483648, 9223372036854775808, "", "x", '
    '"-1", "a\\u0000b", "\\ud800", "../x", "http://localhost:1/x", "99999999999999999999", '
    '"NaN", [], [1], ["x"], [[]], {}, {"x": 1}, {"": null}]'
)
CELLS = (
    b'| |\0|\xff|\xed\xa0\x80|\xef\xbb\xbf|\r|\n|\t|"|#|\xc2\xa0|\xe2\x80\xa8|\x1c|\\|nan|-1'
    b"|1e999|_|1-2|0.1|B-PER|I-|O|B|U-X|PER-B|-DOCSTART-|[PAD]|step|text"
).split(b"|")


class HangError(Exception):
    """A reader does not come back."""


# ------------------------------------------------------------------------------------- changes


def change_bytes(draw, content):
    """Flips, removes, doubles or inserts bytes, or cuts the end."""
    place = draw.randrange(len(content) + 1)
    end = place + draw.choice([1, 1, 2, 4, 16])
    new = draw.choice(
        [
            bytes([draw.randrange(256)]),
            b"",
            content[place:end] * 2,
            draw.choice(CELLS) + content[place:end],
            bytes(draw.randrange(256) for _ in range(4)),
        ]
    )
    return content[:place] + new + (content[end:] if draw.random() < 0.95 else b"")


def change_lines(draw, content):
    """Removes, doubles, joins or moves a line, or inserts an empty one."""
    lines = content.split(b"\n")
    place = draw.randrange(len(lines))
    line = lines.pop(place)
    new = draw.choice([[], [line, line], [b"", line], [line + b"\r"], [line * 2]])
    lines[place:place] = new
    if draw.random() < 0.2:
        draw.shuffle(lines)
    return b"\n".join(lines)


def change_cells(draw, content):
    """Replaces, removes or adds a cell of a line."""
    lines = content.split(b"\n")
    place = draw.randrange(len(lines))
    separator = draw.choice([mark for mark in (b"\t", b",", b" ") if mark in content] or [b" "])
    cells = lines[place].split(separator)
    cells[draw.randrange(len(cells))] = draw.choice(CELLS)
    if draw.random() < 0.3:
        cells.insert(draw.randrange(len(cells)), draw.choice(CELLS))
    lines[place] = separator.join(cells)
    return b"\n".join(lines)


def places_of(value, path=()):
    """Yields the paths of all values in a JSON value."""
    yield path
    items = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else items:
        yield from places_of(item, (*path, key))


def replaced(value, path, new):
    """A copy of a JSON value with another value at a path; KeyError removes it."""
    if not path:
        return new
    key, *rest = path
    copy = value.copy()
    if new is KeyError and not rest:
        del copy[key]
    else:
        copy[key] = replaced(value[key], rest, new)
    return copy


def change_values(draw, content):
    """Replaces or removes a value of a JSON line, renames or adds a key, or nests a value."""
    lines = content.split(b"\n")
    place = draw.randrange(len(lines))
    with contextlib.suppress(ValueError, RecursionError):
        value = json.loads(lines[place])
        path = draw.choice(list(places_of(value)))
        new = draw.choice([*VALUES, KeyError])
        if new is KeyError and not path:
            new = []
        changed = json.dumps(replaced(value, path, new)).encode("ascii")
        if draw.random() < 0.05:
            deep = draw.choice(["[", '{"a":'])
            changed = changed.replace(b'"x"', deep.encode("ascii") * draw.choice([900, 100000]))
        lines[place] = changed
    return b"\n".join(lines)


CHANGES = [change_bytes, change_lines, change_cells, change_values]


def changed(draw, kind):
    """A changed file of a kind, as bytes."""
    content = readers.CONTENTS[kind]
    is_json = not isinstance(content, bytes)
    if is_json:
        content = json.dumps(content).encode("ascii")
    weights = [1, 1, 1, 12 if is_json or kind.endswith(".jsonl") else 0]
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        (change,) = draw.choices(CHANGES, weights)
        content = change(draw, content)
    return content


# ------------------------------------------------------------------------------------- reading


@contextlib.contextmanager
def limited(seconds):
    """Raises HangError after some seconds."""

    def stop(number, frame):
        raise HangError(f"It takes longer than {seconds} s.")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def fault_of(files, kind, content):
    """Returns READ or REFUSED, and what is wrong with that: a traceback, or ""."""
    reader = readers.READERS[kind]
    try:
        path = files.write(kind, content)
    except Exception:
        return REFUSED, ""  # no such file can be written
    try:
        with limited(LONGEST_SECONDS), contextlib.redirect_stdout(io.StringIO()):
            result = reader.read(path)
    except UserError as error:
        names = os.path.basename(path), *reader.names
        is_named = any(name in str(error) for name in names)
        return REFUSED, "" if is_named else f"The file is not named: {error}"
    except Exception:
        return REFUSED, traceback.format_exc()
    if reader.plain:
        with contextlib.suppress(ValueError):
            expected = reader.plain(content)
            if expected is not None and expected != result:
                return READ, f"It is read as {result}, and should be {expected}."
    return READ, ""


def place_of(fault):
    """The last lines of a fault, which tell faults apart."""
    lines = [line for line in fault.split("\n") if line.startswith("  File")]
    return (lines[-1] if lines else "", fault.strip().split("\n")[-1][:40])


def run(kinds, folder, *, seed, minutes=0.0, inputs=0):
    """Reads changed files, each kind as long as the others; returns counts and faults by kind."""
    logging.getLogger("albert").setLevel(logging.CRITICAL)
    files, counts = readers.Files(folder), {kind: collections.Counter() for kind in kinds}
    seconds, faults = dict.fromkeys(kinds, 0.0), collections.defaultdict(dict)
    end = time.monotonic() + 60 * minutes
    done = 0
    while done < inputs or time.monotonic() < end:
        kind = min(kinds, key=seconds.get)
        draw = random.Random(f"{seed} {kind} {sum(counts[kind].values())}")
        content = changed(draw, kind)
        began = time.monotonic()
        outcome, fault = fault_of(files, kind, content)
        seconds[kind] += time.monotonic() - began
        counts[kind][outcome] += 1
        if fault:
            faults[kind].setdefault(place_of(fault), (content, fault))
        done += 1
        if done % 1000 == 0:
            # Where a reader hangs in C++, the process ends and says where.
            faulthandler.dump_traceback_later(60 * LONGEST_SECONDS, exit=True)
            shutil.rmtree(folder, ignore_errors=True)  # what readers leave, such as locks
    faulthandler.cancel_dump_traceback_later()
    return counts, faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", default=str(int(time.time())))
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    soft = resource.getrlimit(resource.RLIMIT_AS)
    used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES, soft[1]))
    kinds = [
        kind
        for kind in readers.READERS
        if not options.words or any(word in kind for word in options.words)
    ]
    memory = "/dev/shm"  # a disk takes longer than the readers
    folder = pathlib.Path(tempfile.mkdtemp(dir=memory if os.path.isdir(memory) else None))
    counts, faults = run(kinds, folder / "files", seed=options.seed, minutes=options.minutes)
    print(f"{'file':32}{'read':>9}{'refused':>9}{'faults':>8}")
    for kind in kinds:
        print(f"{kind:32}{counts[kind][READ]:>9}{counts[kind][REFUSED]:>9}{len(faults[kind]):>8}")
    print(f"{sum(sum(each.values()) for each in counts.values())} inputs of seed {options.seed}")
    for kind, found in faults.items():
        for number, (content, fault) in enumerate(found.values()):
            path = folder / f"{number} {kind.replace('/', '-')}"
            path.write_bytes(content)
            print(f"\n{path}\n{fault}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
