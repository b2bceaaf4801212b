# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The command `albert`, and what every script answers before it imports TensorFlow."""

import json
import subprocess
import sys

import pytest

import albert
from albert import __main__, commands
from tests.support import ROOT, cases, file_server, public_archives, released_archives

# What takes a tenth of a second and more to import.
HEAVY = ("tensorflow", "numpy", "scipy", "sklearn", "requests", "matplotlib", "sentencepiece")
# Runs modules as `python -m` does, each with some arguments; prints what each did as JSON.
RUNNER = f"""
import contextlib, io, json, runpy, sys
from absl import flags, logging
own, answers = set(flags.FLAGS), []
for module, *arguments in json.loads(sys.argv[1]):
    sys.argv[1:] = arguments
    said = io.StringIO()
    for name in set(flags.FLAGS) - own:
        delattr(flags.FLAGS, name)
    flags.FLAGS.unparse_flags()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        heavy = [name for name in {HEAVY} if name in sys.modules]
        answers.append([end.code, said.getvalue(), heavy])
print(json.dumps(answers))
"""


def answers(lines):
    """(exit code, output, heavy modules that were imported) for each module with arguments."""
    process = subprocess.run(
        [sys.executable, "-c", RUNNER, json.dumps([line.split() for line in lines])],
        stdout=subprocess.PIPE,
        check=True,
        cwd=str(ROOT),
        timeout=120,
    )
    return json.loads(process.stdout)


def scripts():
    """The modules below albert/ that are started by themselves, as `python -m` names them."""
    folders = (ROOT / "albert", ROOT / "albert" / "commands")
    sources = [path for folder in folders for path in folder.glob("*.py")]
    started = [path for path in sources if "    cli.run(" in path.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in started]
    return sorted([*names, "albert.commands.demo"])


def test_help_and_unknown_flag_without_tensorflow():
    found = answers(f"{name} {flag}" for name in scripts() for flag in ("--help", "--hlep"))
    assert len(found) == 2 * len(scripts()) > 36
    for script, helped, refused in zip(scripts(), found[::2], found[1::2]):
        assert (script, helped[0], helped[2]) == (script, 0, [])
        assert (script, refused[0] in (0, None), refused[2]) == (script, False, [])
        assert len(helped[1]) > 300
        # Beam's options are not ours: what is missing is told instead.
        assert "hlep" in refused[1] or script.endswith("_beam")


# Module and arguments, exit code and a word of the answer.
EARLY = cases.table(f"""
albert.run_classifier --task_name=mrpc                    | 2 | --output_dir
albert.run_classifier --output_dir=o --task_name=mprc     | 2 | 'mrpc'
albert.run_race --config=/nowhere.toml                    | 2 | /nowhere.toml
albert.run_race --output_dir=o stray                      | 2 | 'stray'
albert demo pretraining -d fp64                  | 2 | fp64
albert demo finetuning --help                    | 0 | --model
albert download_data --list                               | 0 | squad_v1
albert download_model base_v7                             | 2 | 'base_v2'
albert plan base_v7                                       | 2 | 'albert_base_v2'
albert convert_checkpoint to_hugingface --input_dir=i     | 2 | to_huggingface
albert run-classifier -h                                     | 0 | --task_name
albert demo --version                                     | 0 | {albert.__version__}
albert run_pretrian                                         | 2 | 'run_pretraining'
albert                                                    | 0 | run_pretraining
""")


def test_early_answers_without_tensorflow():
    found = answers(line for line, *_ in EARLY)
    for (line, expected, word), (code, said, heavy) in zip(EARLY, found):
        assert (str(code), heavy) == (expected, []) and word in said, (line, said)


@pytest.mark.slow
def test_commands_without_a_graph_never_import_tensorflow(tmp_path):
    model = released_archives.write_model(tmp_path / "model", max_position_embeddings=512)
    archive = released_archives.write_archive(tmp_path / "model.tar.gz", model)
    (tmp_path / "training_curve.csv").write_text("step,loss\n1,2\n")
    with file_server.serving() as state:
        state.files["/albert_base_v2.tar.gz"] = archive.read_bytes()
        state.files["/ocnli_public.zip"] = public_archives.files()["ocnli_public.zip"]
        lines = f"""
            albert train_vocab --vocab_size=300 --model_prefix={tmp_path}/a \
                --input_file=tests/fixtures/corpus.txt
            albert create_pretraining_data --output_file={tmp_path}/b \
                --input_file=tests/fixtures/corpus.txt --spm_model_file=tests/fixtures/tiny.model
            albert plan base_v2
            albert plan --albert_dir={model}
            albert download_model base_v2 --base_url={state.url} --cache_dir={tmp_path}
            albert download_data ocnli --base_url={state.url} --data_dir={tmp_path}
            albert plot {tmp_path} --output_file={tmp_path}/c.png
            albert sweep --suite=clue --data_dir={tmp_path} --model_dir={model} --output_dir=o \
                --dry_run
        """
        found = answers(lines.strip().splitlines())
    assert [(code, "tensorflow" in heavy) for code, _, heavy in found] == [(0, False)] * 8, found


def test_every_script_has_a_command():
    assert sorted(map(commands.module_of, commands.NAMES)) == scripts()


def test_each_command_has_one_line_of_help():
    assert max(map(len, __main__.help_text().splitlines())) <= 100
