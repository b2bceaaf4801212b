# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The commands that ALBERT's projects publish, as they are written, each run to its end.

What is added to a published command names small files and numbers; of a flag that is given twice
the last value counts.
"""

import importlib
import os
import pathlib
import re
import shlex
import shutil

import pytest

from albert import commands, configs, modeling
from albert.commands.demo import __main__ as demo
from albert.downloads import data_set_table
from albert.models import released
from albert.util import flags as flags_lib
from tests.support import (
    FIXTURES,
    classification_data,
    file_server,
    hub_modules,
    released_archives,
    squad_data,
    training_scripts,
    write_json,
)
from tests.support.squad_data import CONTEXT

slow = pytest.mark.slow


def published():
    """The words of each command, and those added to it, by its title, "project: what"."""
    text = (FIXTURES / "published_commands.txt").read_text(encoding="utf-8")
    blocks = (block.split("\n", 1) for block in re.split(r"(?m)^# ", text)[1:])
    parts = {title: command.partition("\n+ ") for title, command in blocks}
    return {title: (shlex.split(part[0]), shlex.split(part[2])) for title, part in parts.items()}


COMMANDS = published()
# Scripts that have another name here.
OUR_NAMES = {
    "prepare_lm_data_ngram": "create_pretraining_data",
    "test_changes": "show_changes",
}
LEFT_OUT = {"--do_data"}  # what albert_pytorch's script does with it, ours does always
# Where a published command has dots.
PLACES = {
    "input_file": "glue_data/train-0.tf_record",
    "data_dir": "glue_data",
    "albert_config_file": "google/albert_config.json",
    "init_checkpoint": "google/model.ckpt-best",
    "spm_model_file": "google/30k-clean.model",
    "train_file": "glue_data/v1.json",
    "predict_file": "glue_data/v1.json",
    "eval_file": "eval_features",
    "train_feature_file": "train_features",
    "predict_feature_file": "predict_features",
    "predict_feature_left_file": "left_features",
}
VARIABLES = {
    "BERT_BASE_DIR": "./bert_config",
    "TEXT_DIR": "text",
    "OUTPUT_DIR": "notebook",
    "ALBERT_MODEL_HUB": "module",
    "TASK": "MRPC",
}
# What each leaves in its output folder.
LEAVES = {
    "run_pretraining": "model.ckpt-2.index",
    "run_classifier": "checkpoint",
    "run_squad_v1": "predictions.json",
    "run_squad_v2": "null_odds.json",
    "run_race": "eval_results.txt",
}


def ours(title):
    """The module that a published command runs, and its arguments with what is added to them."""
    (program, *arguments), added = COMMANDS[title]
    assert program.startswith("python")
    if arguments[0] == "-m":
        arguments[:2] = [arguments[1].split(".")[1] + ".py"]
    name = arguments[0][: -len(".py")]
    places = dict(PLACES, output_dir=re.sub(r"\W+", "-", title))

    def filled(word):
        word = re.sub(r"^--(\w+)=\.\.\.$", lambda dots: f"--{dots[1]}={places[dots[1]]}", word)
        return os.path.expandvars(word)

    words = [word for word in arguments[1:] if word not in LEFT_OUT]
    return OUR_NAMES.get(name, name), list(map(filled, words + added))


def run_published(title):
    """Runs a published command in this process."""
    name, arguments = ours(title)
    module = importlib.import_module(commands.module_of(name))
    flags = flags_lib.parse(module.Flags, arguments)
    module.main(flags)
    if name in LEAVES:
        assert os.path.exists(os.path.join(flags.output_dir, LEAVES[name]))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Models, texts, tasks and records where the commands look for them."""
    monkeypatch.chdir(tmp_path)
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    return tmp_path


@pytest.fixture
def google(folder):
    released_archives.write_model(folder / "google")
    data = folder / "glue_data"
    data.mkdir()
    training_scripts.write_data(data)
    classification_data.write_nli(data / "MNLI", ["train", "dev_matched", "test_matched"])
    return folder


SWEEP = "google: run_glue.sh"  # is run by tests/end_to_end/test_sweep.py
PROJECTS = ("google", "albert_zh", "albert_pytorch", "habana")


def titles(project):
    found = [title for title in COMMANDS if title.startswith(f"{project}: ")]
    assert found
    return found


@slow
def test_commands_of_google_albert(google):
    hub_modules.export("google", "module")
    for title in titles("google"):
        if title != SWEEP:
            run_published(title)


@slow
def test_commands_of_albert_pytorch(google):
    shutil.copy(FIXTURES / "corpus.txt", "text.txt")
    shutil.copy(FIXTURES / "wordpiece_vocab.txt", "vocab.txt")
    for title in titles("albert_pytorch"):
        run_published(title)
    assert (google / "pytorch" / "test_results.tsv").exists()


@slow
def test_commands_of_albert_zh(folder, capsys):
    config = dict(released_archives.CONFIG, vocab_size=439)
    for name in ("bert_config", "albert_config", "data", "text"):
        (folder / name).mkdir()
        shutil.copy(FIXTURES / "chinese_vocab.txt", folder / name / "vocab.txt")
    for path in ("bert_config/albert_config_xxlarge", "albert_config/albert_config_large"):
        write_json(folder / f"{path}.json", config)
    released_archives.write_checkpoint(
        "bert_config/bert_model.ckpt", modeling.AlbertConfig.from_dict(config)
    )
    shutil.copy(FIXTURES / "corpus_zh.txt", "data/news_zh_1.txt")
    for name in ("train", "dev"):
        rows = [("清晨的街道", "早上的街道", number % 2) for number in range(4)]
        classification_data.write_rows(folder / "text" / f"{name}.txt", rows)
    for title in titles("albert_zh"):
        run_published(title)


@pytest.fixture
def small_sizes(monkeypatch):
    """The published sizes of the demo are tiny."""
    config = dict(released_archives.CONFIG, max_position_embeddings=512, vocab_size=30000)
    write_json("tiny.json", config)
    monkeypatch.setattr(configs, "preset_path", lambda name: "tiny.json")
    parse = flags_lib.parse

    def without_xla(kind, arguments):  # compiling takes longer than the run
        if "use_xla" in flags_lib.describe(kind):
            arguments = [*arguments, "--nouse_xla"]
        return parse(kind, arguments)

    monkeypatch.setattr(flags_lib, "parse", without_xla)


def demonstrate(title):
    (program, *arguments), added = COMMANDS[title]
    assert program == "demo_albert"
    return demo.main(arguments + added)


@slow
def test_commands_of_habanas_demo(folder, small_sizes, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(folder))
    model = released_archives.write_model(folder / "model", max_position_embeddings=512)
    archive = released_archives.write_archive(folder / "archive", model)
    asked = [squad_data.answered(word, CONTEXT, word) for word in ("king", "small bird")]
    data = squad_data.write_squad(folder, [squad_data.paragraph(CONTEXT, *asked)])
    names = data_set_table.DATA_SETS["squad_v1"].files
    with file_server.serving() as server:
        server.files = {f"/{name}": pathlib.Path(data).read_bytes() for name in names}
        sources = tuple(data_set_table.Source(f"{server.url}/{name}") for name in names)
        monkeypatch.setitem(
            data_set_table.DATA_SETS,
            "squad_v1",
            data_set_table.DATA_SETS["squad_v1"]._replace(sources=sources),
        )
        server.files["/albert_base_v2.tar.gz"] = archive.read_bytes()
        monkeypatch.setattr(released, "BASE_URL", server.url)
        assert demonstrate("habana: SQuAD, speed") == 0, capsys.readouterr().err
        assert len(server.ranges) == 3
    for title in titles("habana")[1:]:  # without the server
        assert demonstrate(title) == 0, capsys.readouterr().err
    shown = capsys.readouterr().err
    assert len(re.findall(r": \d+\.\d+ examples/s", shown)) == 6
    assert len(re.findall("f1 = ", shown)) >= 4
    assert len(list((folder / "tmp" / "albert_demo").iterdir())) == 6


def test_every_published_command_is_run():
    assert [title for project in PROJECTS for title in titles(project)] == list(COMMANDS)
