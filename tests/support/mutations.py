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

ROOT = pathlib.Path(__file__).resolve().parents[2]
WANTED_SHARE = 0.95
LONGEST_SECONDS = 300
CAUGHT, SURVIVED, STALE = "caught", "SURVIVED", "NO LONGER APPLIES"
PASSED, BROKEN = "passed", "TESTS FAIL WITHOUT A FAULT"

# A wrong line: `old`, which occurs once in `file` (below albert/), becomes `new`.
Fault = collections.namedtuple("Fault", "name file old new")
# Faults, and the tests (below tests/) that are to catch them.
Part = collections.namedtuple("Part", "tests faults")


def read_parts(path):
    """Returns the parts by name; mutations.txt describes its format."""
    parts = {}
    faults = []
    file = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        part = re.match(r"\[(.+)\] (.+)", line)
        if part:
            faults = []
            parts[part.group(1)] = Part(tuple(part.group(2).split()), faults)
        elif line[:4] == "    ":
            fault, field = faults[-1], {"-": "old", "+": "new"}[line[4]]
            before = getattr(fault, field)
            text = line[6:] if before is None else f"{before}\n{line[6:]}"
            faults[-1] = fault._replace(**{field: text})
        elif line[:2] == "  ":
            faults.append(Fault(line.strip(), file, None, None))
        elif line and line[0] != "#":
            file = line
    return parts


PARTS = read_parts(pathlib.Path(__file__).with_name("mutations.txt"))


def planted(fault, text):
    """Returns the file's text with the fault, or None unless the old line occurs exactly once."""
    return text.replace(fault.old, fault.new) if text.count(fault.old) == 1 else None


def result_of(name, fault):
    """Plants a fault in a copy of the repository; says whether the tests of its part fail."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = pathlib.Path(folder) / "albert"
        listed = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
        for path in subprocess.check_output(listed, cwd=str(ROOT)).decode("utf-8").split("\0"):
            if (ROOT / path).is_file():
                (checkout / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(str(ROOT / path), str(checkout / path))
        if fault:
            file = checkout / "albert" / fault.file
            text = planted(fault, file.read_text(encoding="utf-8"))
            if text is None:
                return STALE
            file.write_text(text, encoding="utf-8")
        has_failed = run_tests(PARTS[name].tests, checkout)
        return (CAUGHT if fault else BROKEN) if has_failed else (SURVIVED if fault else PASSED)


def run_tests(tests, checkout):
    """The status of pytest; not 0 either if it does not end."""
    command = [sys.executable, "-m", "pytest", "-x", f"--basetemp={checkout}.tmp"]
    process = subprocess.Popen(
        command + [f"tests/{name}" for name in tests],
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
    faults = [
        (name, fault)
        for name, part in PARTS.items()
        for fault in part.faults
        if any(word in f"{name}: {fault.name}" for word in arguments.words or [""])
    ]

    def check(given):
        name, fault = given
        result = result_of(name, fault)
        print(f"{result:<9} {name}: {fault.name if fault else '(no fault)'}", flush=True)
        return result

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        without = list(pool.map(check, dict.fromkeys((name, None) for name, _ in faults)))
        results = list(pool.map(check, faults))
    caught = results.count(CAUGHT)
    print(f"{caught} of {len(faults)} faults are caught")
    is_whole = faults and BROKEN not in without and STALE not in results
    return 0 if is_whole and caught >= WANTED_SHARE * len(faults) else 1


if __name__ == "__main__":
    sys.exit(main())
