# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Plants the faults of mutations.txt in copies of the repository; counts what quick tests catch.

    make mutations                     # all of them, JOBS=2 at a time
    make mutations ARGS=dropout        # those whose name or part has this word

Each fault is planted alone, in a copy without the reference outputs, as in a clone, where the quick
tests of the fault's part run until one fails. Exits with 1 if the tests of a part fail without any
fault, if an old line is not found, or if fewer than 95% of the faults are caught.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from tests.support import ROOT

LONGEST_SECONDS = 300
PASSED, CAUGHT = "passed", "caught"

# In a function of `file` (below albert/), `old` code becomes `new`; without a file it is no fault.
Fault = collections.namedtuple(
    "Fault", "part name file function old new", defaults=["(no fault)", *[""] * 4]
)
_ENTRY = re.compile(
    r"(?m)^\[(?P<part>.+)\] (?P<tests>.+)|^(?P<file>\w\S+)(?: (?P<function>\w+))?$"
    r"|^  (?P<name>\S.*)\n(?P<lines>(?: {4}.*\n?)+)",
)


def read(path):
    """Returns the parts' tests (below tests/) by name, and the faults that they are to catch."""
    tests, faults, part, place = {}, [], "", ()
    for entry in _ENTRY.finditer(path.read_text(encoding="utf-8")):
        if entry["tests"]:
            part = entry["part"]
            tests[part] = entry["tests"].split()
        elif entry["file"]:
            place = entry["file"], entry["function"]
        elif entry["name"]:
            lines = entry["lines"].splitlines()
            old, new = ("\n".join(line[6:] for line in lines if line[4] == sign) for sign in "-+")
            faults.append(Fault(part, entry["name"], *place, old, new))
    return tests, faults


TESTS, FAULTS = read(pathlib.Path(__file__).with_suffix(".txt"))


def pattern_of(code):
    """Matches code whose lines may be wrapped elsewhere, with a comma before a closing bracket."""
    parts = []
    for token in re.findall(r'"[^"\n]*"|[\w.]+|\S', code):
        part = re.escape(token)
        if re.match(r"\w", token):
            part = rf"(?<!\w){part}(?!\w)"
        elif token in ")]}":
            part = rf",?\s*{part}"
        parts.append(part)
    return re.compile(r"\s*".join(parts))


def planted(fault, text):
    """Returns the file's text with the fault, or None if the old code is not found exactly once.

    It is looked for in the named function, then in the whole file: the function may be renamed.
    """
    old = pattern_of(fault.old)
    # A function goes to the next line that is not further in.
    function = rf"(?ms)^( *)(?:def|class) {fault.function}\b.*?(?=^(?!\1\s) *[\w@#]|\Z)"
    for scope in (function, r"(?s).+"):
        parts = [part.span() for part in re.finditer(scope, text)]
        places = [place.span() for part in parts for place in old.finditer(text, *part)]
        if len(places) == 1:
            start, end = places[0]
            return text[:start] + fault.new + text[end:]
    return None


def result_of(fault):
    """Plants a fault in a copy of the repository; says whether the tests of its part fail."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = pathlib.Path(folder) / "albert"
        skipped = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "output")
        shutil.copytree(ROOT, checkout, ignore=skipped)
        if not fault.file:
            return "TESTS FAIL WITHOUT A FAULT" if run_tests(fault, checkout) else PASSED
        file = checkout / "albert" / fault.file
        text = planted(fault, file.read_text(encoding="utf-8"))
        if text is None:
            return "NO LONGER APPLIES"
        file.write_text(text, encoding="utf-8")
        return CAUGHT if run_tests(fault, checkout) else "SURVIVED"


def run_tests(fault, checkout):
    """The status of pytest; not 0 either if it does not end."""
    command = [sys.executable, "-m", "pytest", "-x", f"--basetemp={checkout}.tmp"]
    process = subprocess.Popen(
        command + [f"tests/{name}" for name in TESTS[fault.part]],
        cwd=str(checkout),
        env=dict(os.environ, ALBERT_SHARED=f"{checkout}.none", PYTHONPATH=str(checkout)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(LONGEST_SECONDS)
    except subprocess.TimeoutExpired:
        return 1
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # and what the tests have started
        process.wait()


def main():
    """Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("words", nargs="*", help="only faults whose part or name has one of these")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="how many at a time")
    arguments = parser.parse_args()
    words = arguments.words or [""]
    faults = [item for item in FAULTS if any(word in f"{item.part}: {item.name}" for word in words)]
    without = list(dict.fromkeys(Fault(item.part) for item in faults))

    def report(fault):
        result = result_of(fault)
        print(f"{result:<9} {fault.part}: {fault.name}", flush=True)
        return result

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(report, without + faults))
    caught = results.count(CAUGHT)
    print(f"{caught} of {len(faults)} faults are caught")
    is_known = {*results} <= {PASSED, CAUGHT, "SURVIVED"}
    return 0 if faults and is_known and caught >= 0.95 * len(faults) else 1


if __name__ == "__main__":
    sys.exit(main())
