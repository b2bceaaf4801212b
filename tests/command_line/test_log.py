# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The log of a script."""

import logging
import pathlib
import subprocess
import sys

import pytest

from albert.command_line import log

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_log_lines_carry_their_level_only_from_warnings_on(capsys):
    try:
        log.configure(0)
        logging.getLogger("albert.module").info("a notice")
        logging.getLogger("albert.module").warning("a warning")
        logging.getLogger("albert.module").debug("a detail")
    finally:
        logger = logging.getLogger("albert")
        logger.handlers.clear()
        logger.propagate = True
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith(" a notice") and second.endswith(" WARNING: a warning")


UNWRITABLE = ["2>&-", "2>/dev/full", "2> >(head -c 9 >&-)", "2>&- 0>&- >&-"]


def in_shell(command, redirection):
    line = f"{command} {redirection}"
    return subprocess.run(["bash", "-c", line], cwd=str(ROOT), check=False).returncode


@pytest.mark.parametrize("redirection", UNWRITABLE)
def test_guard_stderr_drops_what_cannot_be_written(tmp_path, redirection):
    program = tmp_path / "program.py"
    program.write_text(
        "import logging, os, sys, warnings, tqdm\n"
        "from albert.command_line import log\n"
        "log.guard_stderr()\n"
        "log.show_own(0)\n"
        "kept = open(sys.argv[1], 'wb')\n"
        "for number in tqdm.tqdm(range(1000), mininterval=0):\n"
        "    logging.getLogger('albert').info('a line')\n"
        "    print('another', file=sys.stderr, flush=True)\n"
        "    warnings.warn(str(number))\n"
        "if '2>&-' in sys.argv[2]: os.write(2, b'into no file')\n"
        "kept.close()\n"
        "sys.exit(3)\n",
        encoding="utf-8",
    )
    kept = tmp_path / "kept"
    command = f"PYTHONPATH=. {sys.executable} {program} {kept} '{redirection}'"
    assert in_shell(command, redirection) == 3
    assert kept.read_bytes() == b""


@pytest.mark.slow
def test_a_script_whose_stderr_cannot_be_written_does_its_work_and_keeps_exit_codes(tmp_path):
    text, model = ROOT / "tests/fixtures/corpus.txt", ROOT / "tests/fixtures/tiny.model"
    command = f"{sys.executable} -m albert.create_pretraining_data --spm_model_file={model}"
    written = set()
    for number, redirection in enumerate(["2>/dev/null", *UNWRITABLE]):
        output = tmp_path / str(number)
        flags = f"--input_file={text} --dupe_factor=1 --max_seq_length=64 --output_file={output}"
        assert in_shell(f"{command} {flags}", redirection) == 0
        written.add(output.read_bytes())
    assert len(written) == 1
    for redirection in UNWRITABLE:
        assert in_shell(f"{command} --nonsense", redirection) == 1
