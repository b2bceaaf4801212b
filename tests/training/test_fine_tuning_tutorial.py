# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The tutorial's task trains, evaluates and predicts, and its program answers alike."""

import ast
import importlib
import json
import random
import re

import pytest

from albert.training import fine_tuning
from albert.util import flags as flags_lib
from tests.support import ROOT, classification_data, read_json

PAGE = ROOT / "docs" / "new_task.md"
WORDS = {"money": "king", "sport": "bird", "weather": "river"}


def code(number=0):
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)[number]


def write_data(folder, topics):
    generator = random.Random(0)
    for split, count in (("train", 32), ("dev", 8), ("test", 5)):
        lines = []
        for _ in range(count):
            chosen = [topic for topic in topics if generator.random() < 0.5]
            text = " ".join(["the", *(WORDS[topic] for topic in chosen)])
            lines.append(json.dumps({"text": text, "topics": chosen}) + "\n")
        (folder / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8")


@pytest.mark.slow
def test_tutorial_task_trains_and_its_program_answers(tmp_path, monkeypatch, capsys):
    (tmp_path / "topics.py").write_text(code(), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("topics")
    write_data(tmp_path, module.TOPICS)
    config, out = classification_data.write_config(tmp_path), tmp_path / "out"
    given = f"""--do_train --do_eval --do_predict --data_dir={tmp_path} --output_dir={out}
        --albert_config_file={config} --spm_model_file={classification_data.VOCABULARY}
        --max_seq_length=16 --train_batch_size=4 --train_step=4 --warmup_step=1
        --save_checkpoints_steps=2 --nouse_xla"""
    outcome = fine_tuning.run(flags_lib.parse(module.Flags, given.split()), module.Topics)
    assert outcome.training.last_step == 4
    assert [result.step for result in outcome.evaluation.results] == [2, 4]
    assert set(outcome.metrics) == {"exact", "eval_loss", "global_step"}
    summary = read_json(out / "run_summary.json")
    assert (summary["task"], summary["value"]) == ("topics", outcome.metrics["exact"])
    # The program answers as the script predicted.
    lines = (out / "topics_test.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in (tmp_path / "test.jsonl").open(encoding="utf-8")]
    program = re.sub(r"predict\(\[.*\]\)", "predict(texts)", code(1))
    exec(program.replace("output/topics", str(out)), {"texts": texts})
    answers = ast.literal_eval(capsys.readouterr().out)
    assert answers == list(map(json.loads, lines)) and len(answers) == 5
