# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Plants the faults of mutations.txt in copies of the repository; counts what quick tests catch.

    make mutations                     # all of them, JOBS=2 at a time
    make mutations ARGS=dropout        # those whose name or part has this word

Each fault is planted alone, in a copy without the reference outputs, as in a clone. A forked
process, which has imported TensorFlow already, runs the quick tests of the fault's part until one
fails. Exits with 1 if the tests of a part fail without any fault, if an old line is not found, or
if fewer than 95% of the faults are caught.
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
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
WANTED_SHARE = 0.95
_LONGEST_SECONDS = 300


class Fault(NamedTuple):
    """A wrong line: `old`, which occurs once in `file`, becomes `new`."""

    name: str
    file: str  # below albert/
    old: str
    new: str


class Part(NamedTuple):
    """Faults, and the tests (below tests/) that are to catch them."""

    tests: Tuple[str, ...]
    faults: List[Fault]


def read_parts(path: pathlib.Path) -> Dict[str, Part]:
    """Returns the parts by name; mutations.txt describes its format."""
    parts: Dict[str, Part] = {}
    faults: List[Fault] = []
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
            faults.append(Fault(line.strip(), file, None, None))  # type: ignore[arg-type]
        elif line and line[0] != "#":
            file = line
    return parts


PARTS = read_parts(pathlib.Path(__file__).with_name("mutations.txt"))


# ---- planting ------------------------------------------------------------------------------------


def planted(fault: Fault, text: str) -> Optional[str]:
    """Returns the file's text with the fault, or None unless the old line occurs exactly once."""
    return text.replace(fault.old, fault.new) if text.count(fault.old) == 1 else None


class Task(NamedTuple):
    """The tests of a part, to be run with a fault or (None) without one."""

    part: str
    fault: Optional[Fault]


CAUGHT, SURVIVED, STALE, PASSED = "caught", "SURVIVED", "NO LONGER APPLIES", "passed"
BROKEN = "TESTS FAIL WITHOUT A FAULT"
_checkout = pathlib.Path()  # of this worker, once it has begun


def _begin(folder: str) -> None:
    """Makes a worker's copy of the repository's files, and imports what is slow to import.

    It imports no module of the project, because that would hide a fault.
    """
    global _checkout
    _checkout = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "checkout"
    listed = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    names = subprocess.check_output(listed, cwd=str(ROOT)).decode("utf-8").split("\0")
    for name in names:
        if name and (ROOT / name).is_file():
            target = _checkout / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(ROOT / name), str(target))
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # warnings of TensorFlow and NumPy
    import sentencepiece  # noqa: F401  before TensorFlow, see tests/conftest.py

    import pytest  # noqa: F401  # isort: skip
    import scipy.stats  # noqa: F401
    import sklearn.metrics  # noqa: F401
    import tensorflow.compat.v1  # noqa: F401
    import tensorflow_hub  # noqa: F401

    for name in [name for name in sys.modules if name.split(".")[0] in ("albert", "tests")]:
        del sys.modules[name]


def _result_of(task: Task) -> Tuple[str, str]:
    """Plants the task's fault, runs the tests and removes it; returns the result and the log."""
    tests = PARTS[task.part].tests
    if task.fault is None:
        failed = _run_tests(tests)
        log = (_checkout.parent / "log").read_text(encoding="utf-8", errors="replace")
        return (BROKEN, log) if failed else (PASSED, "")
    path = _checkout / "albert" / task.fault.file
    before = path.read_text(encoding="utf-8")
    text = planted(task.fault, before)
    if text is None:
        return STALE, ""
    path.write_text(text, encoding="utf-8")
    try:
        return (CAUGHT if _run_tests(tests) else SURVIVED), ""
    finally:
        path.write_text(before, encoding="utf-8")


def _run_tests(tests: Sequence[str]) -> int:
    """The status of pytest in a forked process; not 0 either if it does not end."""
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.alarm(_LONGEST_SECONDS)
        _become_pytest(tests)
    try:
        return os.waitpid(child, 0)[1]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # and what the tests have started


def _become_pytest(tests: Sequence[str]) -> None:
    """Never returns."""
    output = os.open(str(_checkout.parent / "log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(str(_checkout))
    os.environ["ALBERT_SHARED"] = str(_checkout.parent / "none")
    own = {"", str(ROOT), str(ROOT / "tests")}
    sys.path[:] = [str(_checkout), *(path for path in sys.path if path not in own)]
    sys.dont_write_bytecode = True  # of a fault that is gone
    code = 1
    try:
        import pytest

        arguments = ["-x", "-p", "no:cacheprovider", f"--basetemp={_checkout.parent / 'tmp'}"]
        code = int(pytest.main([*arguments, *(f"tests/{name}" for name in tests)]))
    finally:
        sys.stdout.flush()
        os._exit(code)


def chosen(words: Sequence[str]) -> List[Task]:
    """Returns a task per part without a fault, then the faults whose part or name has a word."""
    tasks = [
        Task(name, fault)
        for name, part in PARTS.items()
        for fault in part.faults
        if not words or any(word in f"{name}: {fault.name}" for word in words)
    ]
    parts = {PARTS[task.part].tests: task.part for task in tasks}
    return [Task(part, None) for part in parts.values()] + tasks


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("words", nargs="*", help="only faults whose part or name has one of these")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="how many at a time")
    arguments = parser.parse_args()
    counts = collections.Counter()  # type: collections.Counter
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(
        arguments.jobs, initializer=_begin, initargs=(folder,)
    ) as pool:
        waiting = {pool.submit(_result_of, task): task for task in chosen(arguments.words)}
        for done in concurrent.futures.as_completed(waiting):
            task, (result, log) = waiting[done], done.result()
            counts[result] += 1
            name = task.fault.name if task.fault else "(no fault)"
            print(f"{result:<9} {task.part}: {name}", flush=True)
            print("\n".join(log.splitlines()[-30:]), end="\n" if log else "", flush=True)
    faults = counts[CAUGHT] + counts[SURVIVED] + counts[STALE]
    print(f"{counts[CAUGHT]} of {faults} faults are caught")
    is_whole = faults > 0 and not counts[STALE] + counts[BROKEN]
    return 0 if is_whole and counts[CAUGHT] >= WANTED_SHARE * faults else 1


if __name__ == "__main__":
    sys.exit(main())
