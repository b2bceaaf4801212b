# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The shared timer: programs in processes of their own, and tables of what they took.

A benchmark names the programs that it compares as words with options, such as
ours:bfloat16:layers=2. Each runs in a process of its own, `python BENCHMARK --worker SETTINGS`,
and answers questions in turns, so that a slow spell of the machine affects all of them alike.
Compare ratios rather than seconds.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import select
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
ENVIRONMENT = dict(os.environ, PYTHONUNBUFFERED="1", TF_CPP_MIN_LOG_LEVEL="3")


def clock():
    """Seconds by the clock, and of processors, with those of child processes that have ended."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return time.perf_counter(), sum(one.ru_utime + one.ru_stime for one in used)


def timed(function, *arguments):
    """Seconds that a call takes, by the clock and of processors."""
    begin = clock()
    function(*arguments)
    return [after - before for before, after in zip(begin, clock())]


def options_of(program):
    """A program's name and options: ours, {bfloat16: "", layers: "2"} of ours:bfloat16:layers=2."""
    name, *words = program.split(":")
    return name, dict(word.partition("=")[::2] for word in words)


def run_program(words, python=sys.executable, until="", **flags):
    """Runs a Python program to its end, or kills it when it prints a line that matches `until`.

    Ends with the last lines if it fails or has no such line.

    Returns:
      Seconds by the clock, processor seconds, bytes of memory of the largest process, and lines.
    """
    command = [os.path.abspath(python), *words, *(f"--{name}={flags[name]}" for name in flags)]
    begin, lines, is_there = time.perf_counter(), [], not until
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    for line in process.stdout:
        lines.append(line)
        if until and re.search(until, line):
            is_there = True
            process.kill()
            break
    seconds = time.perf_counter() - begin
    _, process.returncode, used = os.wait4(process.pid, 0)
    if not is_there or process.returncode and not until:
        sys.exit(f"{' '.join(command)} failed:\n{''.join(lines[-30:])}")
    return seconds, used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss, lines


def albert(module, **flags):
    """Runs a script of the project; returns the lines that it prints."""
    return run_program(["-m", "albert", module], **flags)[-1]


def print_table(rows):
    """Prints rows of {column: value}, as they come."""
    for number, row in enumerate(rows):
        if not number:
            print(f"| {' | '.join(row)} |\n|{'---|' * len(row)}")
        print(f"| {' | '.join(map(str, row.values()))} |", flush=True)


class Worker:
    """A program in a process of its own.

    Attributes:
      program: name and options.
      about: what the program says of itself when it is ready.
    """

    def __init__(self, python, program, arguments):
        self.program = program
        flags = json.dumps(dict(vars(arguments), program=program))
        self._process = subprocess.Popen(
            [python, sys.argv[0], "--worker", flags],
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if arguments.verbose else subprocess.DEVNULL,
            universal_newlines=True,
        )
        self.about = self._read()

    def _read(self):
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"{self.program} failed; --verbose shows why.")
        return json.loads(line)

    def ask(self, question=None):
        """The answer to a question."""
        print(json.dumps(question), file=self._process.stdin, flush=True)
        return self._read()

    def ask_watched(self):
        """An answer, and the most bytes of memory that the program took until then."""
        print("null", file=self._process.stdin, flush=True)
        peak = 0
        while not select.select([self._process.stdout], [], [], 0.05)[0]:
            peak = max(peak, memory_in_use(self._process.pid))
        return self._read(), peak

    def close(self):
        """Ends the process."""
        self._process.communicate()


def memory_in_use(root):
    """Bytes of a process, and of what each process below it does not share, on Linux."""
    found, total = [root], 0
    for process in found:
        try:
            children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text()
            lines = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:  # it has ended
            continue
        found += map(int, children.split())
        fields = {line.split()[0]: int(line.split()[1]) for line in lines if line.endswith("kB")}
        names = ["Rss:"] if process == root else ["Private_Clean:", "Private_Dirty:"]
        total += 1024 * sum(fields[name] for name in names)
    return total


def cases(arguments):
    """Each Python with each of its programs; program@2 is for the second Python only."""
    words = [program.partition("@") for program in arguments.programs]
    return [
        (python, program)
        for number, python in enumerate(arguments.pythons, 1)
        for program, _, only in words
        if only in ("", str(number))
    ]


def workers(arguments):
    """Starts the programs in each of the Pythons."""
    for python, program in cases(arguments):
        print(f"starting {program} in {python}", file=sys.stderr)
        yield Worker(python, program, arguments)


def parser(description, *programs):
    """A parser with the arguments of all benchmarks; `programs` run by default."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--pythons", nargs="+", default=[sys.executable], help="interpreters")
    made.add_argument("--programs", nargs="+", default=programs)
    made.add_argument("--turns", type=int, default=3)
    made.add_argument("--verbose", action="store_true", help="show the programs' stderr")
    return made


def run(measure, start, parse):
    """Runs a benchmark, or in a worker one of its programs.

    Args:
      measure: prints the tables; takes the arguments.
      start: takes them with the `program`; returns what it says of itself, and its function from
        questions to answers.
      parse: returns the arguments.
    """
    if sys.argv[1:2] != ["--worker"]:
        measure(parse())
        return
    answers, sys.stdout = sys.stdout, sys.stderr  # a library's output is no answer
    about, answer = start(argparse.Namespace(**json.loads(sys.argv[2])))
    print(json.dumps(about), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
