# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The tutorial's task is short, and trains, evaluates, predicts and goes on as the others do."""

import ast
import importlib.util
import json
import pathlib
import random
import re
import sys

import pytest

from albert.training import fine_tuning
from albert.util import flags as flags_lib
from tests.support import classification_data

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "new_task.md"
WORDS = {"money": "king", "sport": "bird", "weather": "river"}


def code(number=0):
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)[number]


@pytest.fixture(scope="module")
def topics(tmp_path_factory):
    """The module, and a folder with its data."""
    folder = tmp_path_factory.mktemp("topics")
    (folder / "topics.py").write_text(code(), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("topics", str(folder / "topics.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    generator = random.Random(0)
    for split, count in (("train", 32), ("dev", 8), ("test", 5)):
        lines = []
        for _ in range(count):
            chosen = [topic for topic in module.TOPICS if generator.random() < 0.5]
            text = " ".join(["the", *(WORDS[topic] for topic in chosen)])
            lines.append(json.dumps({"text": text, "topics": chosen}) + "\n")
        (folder / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8")
    return module, folder


def run(topics, arguments):
    module, folder = topics
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    config = classification_data.write_config(
        folder, hidden_size=32, intermediate_size=64, **no_dropout
    )
    given = f"""--data_dir={folder} --output_dir={folder}/out --albert_config_file={config}
        --spm_model_file={classification_data.VOCABULARY} --max_seq_length=16 --train_batch_size=4
        --train_step=4 --warmup_step=1 --save_checkpoints_steps=2 --nouse_xla {arguments}"""
    return fine_tuning.run(flags_lib.parse(module.Flags, given.split()), module.Topics)


def test_the_tutorials_task_trains_evaluates_and_predicts(topics):
    outcome = run(topics, "--do_train --do_eval --do_predict")
    out = topics[1] / "out"
    assert outcome.training.last_step == 4
    assert [result.step for result in outcome.evaluation.results] == [2, 4]
    assert set(outcome.metrics) == {"exact", "eval_loss", "global_step"}
    assert len((out / "topics_test.jsonl").read_text(encoding="utf-8").splitlines()) == 5
    summary = json.loads((out / "run_summary.json").read_text(encoding="utf-8"))
    assert (summary["task"], summary["value"]) == ("topics", outcome.metrics["exact"])
    again = run(topics, "--do_train --do_eval --do_predict")
    assert again.training is None and again.evaluation.evaluated_steps == []


def test_the_tutorials_program_answers_as_the_script_predicts(topics, monkeypatch, capsys):
    module, folder = topics
    run(topics, "--do_train --do_predict")
    monkeypatch.setitem(sys.modules, "topics", module)
    texts = [json.loads(line)["text"] for line in (folder / "test.jsonl").open(encoding="utf-8")]
    program = re.sub(r"predict\(\[.*\]\)", "predict(texts)", code(1))
    program = program.replace("output/topics", str(folder / "out"))
    exec(program, {"texts": texts})
    expected = (folder / "out" / "topics_test.jsonl").read_text(encoding="utf-8").splitlines()
    assert ast.literal_eval(capsys.readouterr().out) == list(map(json.loads, expected))
