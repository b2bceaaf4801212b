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
import multiprocessing
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
WANTED_SHARE = 0.95
_LONGEST_SECONDS = 300.0


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


class Outcome(NamedTuple):
    """The result of a task."""

    task: Task
    result: str
    seconds: float
    log: str


CAUGHT, SURVIVED, STALE, PASSED = "caught", "SURVIVED", "NO LONGER APPLIES", "passed"
BROKEN = "TESTS FAIL WITHOUT A FAULT"


def _copied(folder: pathlib.Path) -> pathlib.Path:
    """A copy of the files that are, or would be, in the repository."""
    listed = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=str(ROOT), stdout=subprocess.PIPE, check=True).stdout
    for name in names.decode("utf-8").split("\0"):
        if name and (ROOT / name).is_file():
            target = folder / "checkout" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(ROOT / name), str(target))
    return folder / "checkout"


def _work(tasks: "multiprocessing.Queue", outcomes: "multiprocessing.Queue") -> None:
    """A worker: makes a copy, imports what is slow to import, and does tasks until none is left."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = _copied(pathlib.Path(folder))
        _import_libraries()
        while True:
            try:
                task = tasks.get(timeout=1)
            except queue.Empty:
                return
            outcomes.put(_done(task, checkout))


def _import_libraries() -> None:
    """Imports no module of the project, because it would hide a fault."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import sentencepiece  # noqa: F401  before TensorFlow, see tests/conftest.py

    silent = os.open(os.devnull, os.O_WRONLY)
    shown = os.dup(2)
    os.dup2(silent, 2)  # warnings of TensorFlow and NumPy
    import pytest  # noqa: F401
    import scipy.stats  # noqa: F401
    import sklearn.metrics  # noqa: F401
    import tensorflow.compat.v1  # noqa: F401
    import tensorflow_hub  # noqa: F401

    os.dup2(shown, 2)
    for name in [name for name in sys.modules if name.split(".")[0] in ("albert", "tests")]:
        del sys.modules[name]


def _done(task: Task, checkout: pathlib.Path) -> Outcome:
    """Plants the fault, runs the tests of its part, and removes it."""
    start = time.monotonic()
    log = checkout.parent / "log"
    tests = PARTS[task.part].tests
    if task.fault is None:
        code = _run_tests(checkout, tests, log, writes_bytecode=True)
        result = PASSED if code == 0 else BROKEN
    else:
        result = _result_of(task.fault, checkout, tests, log)
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return Outcome(task, result, time.monotonic() - start, text)


def _result_of(fault, checkout, tests, log) -> str:
    path = checkout / "albert" / fault.file
    before = path.read_text(encoding="utf-8")
    times = (path.stat().st_atime, path.stat().st_mtime)
    text = planted(fault, before)
    if text is None:
        return STALE
    path.write_text(text, encoding="utf-8")
    os.utime(str(path), (times[0], times[1] + 60))  # Python compares this time with the bytecode's
    try:
        code = _run_tests(checkout, tests, log, writes_bytecode=False)
    finally:
        path.write_text(before, encoding="utf-8")
        os.utime(str(path), times)
    return SURVIVED if code == 0 else CAUGHT


def _run_tests(checkout: pathlib.Path, tests: Sequence[str], log: pathlib.Path, **options) -> int:
    """The exit code of pytest in a forked process; 1 if it does not end."""
    child = os.fork()
    if child == 0:
        os.setsid()
        _become_pytest(checkout, tests, log, **options)
    end = time.monotonic() + _LONGEST_SECONDS
    pid = 0
    try:
        while not pid and time.monotonic() < end:
            time.sleep(0.05)
            pid, status = os.waitpid(child, os.WNOHANG)
        return status if pid else 1
    finally:
        if not pid:  # it hangs, or this process was interrupted
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _become_pytest(checkout, tests, log, *, writes_bytecode: bool) -> None:
    """Never returns."""
    output = os.open(str(log), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(str(checkout))
    os.environ["ALBERT_SHARED"] = str(checkout.parent / "none")
    own = {"", str(ROOT), str(ROOT / "tests")}
    sys.path[:] = [str(checkout), *(path for path in sys.path if path not in own)]
    sys.dont_write_bytecode = not writes_bytecode
    code = 1
    try:
        import pytest

        arguments = ["-x", "-p", "no:cacheprovider", f"--basetemp={checkout.parent / 'tmp'}"]
        code = int(pytest.main([*arguments, *(f"tests/{name}" for name in tests)]))
    finally:
        sys.stdout.flush()
        os._exit(code)


# ---- the table -----------------------------------------------------------------------------------


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


def _run_all(tasks: Sequence[Task], jobs: int) -> List[Outcome]:
    """Distributes the tasks to workers, and prints each outcome."""
    context = multiprocessing.get_context("fork")
    waiting, outcomes = context.Queue(), context.Queue()
    for task in tasks:
        waiting.put(task)
    workers = [context.Process(target=_work, args=(waiting, outcomes)) for _ in range(jobs)]
    for worker in workers:
        worker.start()
    found: List[Outcome] = []
    while len(found) < len(tasks):
        try:
            outcome = outcomes.get(timeout=5)
        except queue.Empty:
            if any(worker.is_alive() for worker in workers):
                continue
            raise RuntimeError("The workers ended before their work did.") from None
        found.append(outcome)
        fault = outcome.task.fault
        name = f"{outcome.task.part}: {fault.name if fault else '(no fault)'}"
        print(f"{outcome.result:<9}{outcome.seconds:7.1f} s  {name}", flush=True)
        if outcome.result == BROKEN:
            print("\n".join(outcome.log.splitlines()[-30:]), flush=True)
    for worker in workers:
        worker.join()
    return found


def _summary(outcomes: Sequence[Outcome]) -> bool:
    """Prints the counts of each part; returns whether enough faults are caught."""

    def row(name: str, rows: Sequence[Outcome]) -> Tuple[int, int]:
        faults = sum(bool(outcome.task.fault) for outcome in rows)
        caught = sum(outcome.result == CAUGHT for outcome in rows)
        seconds = sum(outcome.seconds for outcome in rows)
        print(f"{name:<16}{faults:>8}{caught:>8}{seconds:>9.0f}")
        return faults, caught

    print(f"\n{'part':<16}{'faults':>8}{'caught':>8}{'seconds':>9}")
    for name in dict.fromkeys(outcome.task.part for outcome in outcomes):
        row(name, [outcome for outcome in outcomes if outcome.task.part == name])
    faults, caught = row("all", outcomes)
    print(f"{caught / max(faults, 1):.1%} caught")
    is_whole = not any(outcome.result in (STALE, BROKEN) for outcome in outcomes)
    return is_whole and faults > 0 and caught >= WANTED_SHARE * faults


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("words", nargs="*", help="only faults whose part or name has one of these")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="how many at a time")
    arguments = parser.parse_args()
    start = time.monotonic()
    is_well = _summary(_run_all(chosen(arguments.words), arguments.jobs))
    print(f"{(time.monotonic() - start) / 60:.1f} minutes")
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
