# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The commands that ALBERT's projects publish, as they are written, each run to its end.

What follows a published command names small files and numbers; of a flag that is given twice the
last value counts.
"""

import importlib
import json
import os
import pathlib
import re
import shlex
import shutil
from typing import Dict, List

import pytest

from albert import modeling
from albert.util import flags as flags_lib
from tests.support import (
    classification_data,
    hub_modules,
    pretraining_records,
    race_data,
    released_archives,
    squad_data,
)
from tests.support.squad_runs import CONTEXT

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "tests" / "fixtures"


def published() -> Dict[str, List[str]]:
    """The words of each command by its title, "project: what"."""
    text = (FIXTURES / "published_commands.txt").read_text(encoding="utf-8")
    blocks = (block.split("\n", 1) for block in re.split(r"(?m)^# ", text)[1:])
    return {title: shlex.split(command) for title, command in blocks}


COMMANDS = published()
# Scripts that have another name here.
OUR_NAMES = {"test_changes": "show_changes"}
MODEL = "--albert_config_file=google/albert_config.json --init_checkpoint=google/model.ckpt-best"
SMALL = "--max_seq_length=32 --train_batch_size=4 --nouse_xla"
STEPS = "--train_step=2 --warmup_step=1"
PRETRAINING = f"{SMALL} --num_train_steps=2 --num_warmup_steps=1 --max_eval_steps=1"
SQUAD = f"{SMALL} --train_batch_size=1 --num_train_epochs=1 --doc_stride=8 --max_query_length=8"
CHINESE = "--max_predictions_per_seq=8"
# Title -> what the command needs besides what it says.
ADDED = {
    "google: pretraining": f"--max_predictions_per_seq=3 {PRETRAINING} --max_seq_length=16",
    "google: MNLI": f"{SMALL} {STEPS}",
    "google: notebook": f"{SMALL} {STEPS}",
    "google: SQuAD 1.1": SQUAD,
    "google: SQuAD 2.0": SQUAD,
    "google: RACE": f"{SMALL} {STEPS} --max_qa_length=16 --train_batch_size=2 "
    "--train_file=race_features",
    "albert_zh: create_pretrain_data.sh": f"{CHINESE} --max_seq_length=32 --language=zh",
    "albert_zh: pretraining": f"{CHINESE} {PRETRAINING}",
    "albert_zh: pretraining on a TPU": f"{CHINESE} {PRETRAINING} --use_tpu=false",
    "albert_zh: LCQMC": f"{SMALL} --num_train_epochs=1",
    "albert_zh: the three changes": "",
    "albert_pytorch: pretraining": f"{PRETRAINING} --albert_dir=google --input_file=counting "
    "--output_dir=pretrained --max_predictions_per_seq=3 --max_seq_length=16",
    "albert_pytorch: training": f"{SMALL} --max_steps=2 --model_name_or_path=google "
    "--task_name=MRPC --data_dir=glue_data --output_dir=pytorch",
    "albert_pytorch: test": f"{SMALL} --model_name_or_path=google --task_name=MRPC "
    "--data_dir=glue_data --output_dir=pytorch",
}
# Where a published command has dots.
PLACES = {
    "input_file": "counting",
    "data_dir": "glue_data",
    "albert_config_file": "google/albert_config.json",
    "init_checkpoint": "google/model.ckpt-best",
    "spm_model_file": "google/30k-clean.model",
    "train_file": "squad.json",
    "predict_file": "squad.json",
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


def run(title: str) -> None:
    """Runs a published command with what is added to it."""
    program, *arguments = COMMANDS[title]
    assert program.startswith("python")
    if arguments[0] == "-m":
        arguments[:2] = [arguments[1].split(".")[1] + ".py"]
    name = arguments[0][: -len(".py")]
    places = dict(PLACES, output_dir=re.sub(r"\W+", "-", title))

    def filled(word: str) -> str:
        word = re.sub(r"^--(\w+)=\.\.\.$", lambda dots: f"--{dots[1]}={places[dots[1]]}", word)
        return os.path.expandvars(word)

    arguments = [filled(word) for word in arguments[1:] + ADDED[title].split()]
    module = importlib.import_module(f"albert.{OUR_NAMES.get(name, name)}")
    settings = flags_lib.parse(module.define_flags, arguments)
    module.main(settings)
    if name in LEAVES:
        assert os.path.exists(os.path.join(settings.output_dir, LEAVES[name]))


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
    pretraining_records.write_records("counting", 8)
    glue = classification_data.write_mrpc(folder / "glue_data", train=8, dev=4, test=2)
    names = ["train", "dev_matched", "test_matched"]
    classification_data.write_nli(folder / "glue_data" / "MNLI", names)
    race_data.write_race(glue, passages=1)
    asked = [squad_data.answered(word, CONTEXT, word) for word in ("king", "small bird")]
    squad_data.write_squad(folder, [squad_data.paragraph(CONTEXT, *asked)])
    return folder


def titles(project: str) -> List[str]:
    found = [title for title in COMMANDS if title.startswith(f"{project}: ")]
    assert found
    return found


@pytest.mark.slow
def test_commands_of_google_albert(google):
    hub_modules.export("google", "module")
    for title in titles("google"):
        run(title)


@pytest.mark.slow
def test_commands_of_albert_pytorch(google):
    for title in titles("albert_pytorch"):
        run(title)
    assert (google / "pytorch" / "test_results.tsv").exists()


@pytest.mark.slow
def test_commands_of_albert_zh(folder, capsys):
    config = dict(released_archives.CONFIG, vocab_size=439)
    for name in ("bert_config", "albert_config", "data", "text"):
        (folder / name).mkdir()
        shutil.copy(str(FIXTURES / "chinese_vocab.txt"), str(folder / name / "vocab.txt"))
    for path in (
        "bert_config/albert_config_xxlarge.json",
        "albert_config/albert_config_large.json",
    ):
        (folder / path).write_text(json.dumps(config), encoding="utf-8")
    released_archives.write_checkpoint(
        "bert_config/bert_model.ckpt", modeling.AlbertConfig.from_dict(config)
    )
    shutil.copy(str(FIXTURES / "corpus_zh.txt"), "data/news_zh_1.txt")
    for name in ("train", "dev"):
        rows = [("清晨的街道", "早上的街道", number % 2) for number in range(4)]
        classification_data.write_rows(folder / "text" / f"{name}.txt", rows)
    for title in titles("albert_zh"):
        run(title)
