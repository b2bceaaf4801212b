# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The demo: its corpus, its command line, its report page, and a short run of each phase."""

import html
import os
import re
import sys

import numpy as np
import pytest

from albert.commands.demo import __main__ as demo
from albert.commands.demo import corpus as demo_corpus
from albert.commands.demo import findings as demo_findings
from albert.commands.demo import finetuning as demo_finetuning
from albert.commands.demo import page as demo_page
from albert.commands.demo import pretraining as demo_pretraining
from albert.commands.demo import runs as demo_runs
from albert.commands.demo import tour as demo_tour
from albert.util import UserError
from tests.support import (
    classification_data,
    pages,
    pretrained_models,
    pretraining_records,
    squad_data,
)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with SQuAD's files, MRPC's and a vocabulary."""
    folder = tmp_path_factory.mktemp("data")
    context = "the old man went home with the king ."
    asked = [squad_data.answered(f"q{n}", context, word) for n, word in enumerate(["man", "king"])]
    for name in ("train-v1.1.json", "dev-v1.1.json"):
        squad_data.write_squad(folder, [squad_data.paragraph(context, *asked)], name)
    classification_data.write_mrpc(folder, train=8, dev=4, test=2)
    return pretrained_models.write_archive(folder, max_position_embeddings=512)


# ---- The command line.


@pytest.mark.parametrize(
    "arguments, code, named",
    [
        ("sculpture", 2, "sculpture"),
        ("--text python --language zh", 1, "--language zh"),
        ("pretraining -e 1 --steps 9", 2, "--steps"),
        ("pretraining -i /no/such/folder", 1, "/no/such/folder"),
        ("pretraining -c -5", 1, "=-5"),
        ("pretraining -s 513 -b 2", 1, "513"),
        ("finetuning -b 2 -i absent --model {0}", 1, "absent"),
        ("finetuning -b 2 -i {0} --model absent", 1, "absent"),
        ("finetuning -b 2 -i {0}/MRPC --model {0}", 1, "v1.1.json"),
    ],
)
def test_demo_names_wrong_argument(data, tmp_path, capsys, arguments, code, named):
    given = arguments.format(data).split()
    with pytest.raises(SystemExit) as ended:
        sys.exit(demo.main([*given, "-o", f"{tmp_path}/out"]))
    assert ended.value.code == code
    assert named in capsys.readouterr().err


# ---- Folders.


def claim(path, model):
    with demo_runs.open_run(str(path), "name", model=model) as run:
        assert run.path == path


def test_folder_of_another_run(tmp_path):
    for _ in range(2):
        claim(tmp_path / "new", "base")
    with pytest.raises(UserError, match="model"):
        claim(tmp_path / "new", "large")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(UserError, match="mine"):
        claim(tmp_path / "mine", "base")
    assert os.listdir(tmp_path / "mine") == ["thesis.txt"]


# ---- What is found.


@pytest.mark.parametrize(
    "five, order, failed", [(0.38, 0.9, 1), (0.39, 0.9, 0), (0.9, 0.54, 1), (0.3, 0.5, 2)]
)
def test_verdict_follows_scores(five, order, failed):
    # The margin of 400 questions is 5 points; the scores of the baseline are a third and a half.
    score = demo_findings.Score(1234, 0.1, 1 / 3, 0.5, 2.0)
    rest = dict.fromkeys(("guesses", "orders", "neighbours", "attention"))
    scores = [score._replace(five=five, order=order)]
    said = demo_findings.Findings(scores, score, [None] * 400, **rest).verdict
    assert ("1,234 steps" in said) == bool(failed)
    assert (" or " in said) == (failed == 2)


def test_loss_baseline_is_entropy(tmp_path):
    path = pretraining_records.write_records(tmp_path / "records", 9, is_uneven=True)
    made = pretraining_records.read(path, 16, 3)
    words = made["masked_lm_ids"][made["masked_lm_weights"] > 0]
    shares = np.unique(words, return_counts=True)[1] / len(words)
    expected = np.log(2) - np.sum(shares * np.log(shares))
    assert demo_findings.loss_baseline(path) == pytest.approx(expected)


def test_word_finder_leaves_out_genitive_endings():
    text = "In Anna's pond: 'yes', we'll see."
    words = [text[start:end] for start, end in demo_corpus.word_finder()(text)]
    assert words == ["In", "Anna", "pond", "yes", "we", "see"]


def test_page_escapes_text():
    question = demo_findings.Question(("<x", "<x"), "<x<x", "<x", 0, 2, [(0, 2), (2, 4)], [0], [])
    page = demo_page._gap(question, {"<x": 0.5}) + demo_page._pair(question, (0.5, 0.5))
    page += demo_page._look(question, [0.5, 0.5]) + demo_page._near("<x", {"<x": 0.5})
    assert "<x" not in page and page.count("&lt;x") == 9


# ---- Short runs.


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(demo_tour, "STORIES", 200)
    monkeypatch.setattr(demo_tour, "EVALUATIONS", 1)
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    monkeypatch.setattr(demo_tour, "MODEL", {**demo_tour.MODEL, **small})


@pytest.mark.slow
@pytest.mark.parametrize("text", ["python", "zh"])
def test_tour_from_text_to_report(tiny, tmp_path, capsys, text):
    run = demo_runs.DemoRun(tmp_path)
    findings = demo_tour.run_tour(run, text, 4)
    assert [score.step for score in findings.scores] == [0, 4]
    page, said = (tmp_path / "report.html").read_text(encoding="utf-8"), capsys.readouterr().out
    for shown in (said, page):
        assert "python -m albert.run_pretraining" in shown
        assert text == "zh" or "python -m albert train_vocab" in shown
        assert "##" not in shown  # Chinese words are whole
    assert "src=" not in page
    lines = html.unescape(page).replace("<pre>", "\n    ")
    *_, guessing, drawing, training = pages.commands(lines.replace("</pre>", "\n"))
    assert pages.parse(training).text == "python"
    assert pages.parse(drawing).folders == (f"{tmp_path}/model",)
    pages.run(guessing, {})
    assert '"gaps": [[{' in capsys.readouterr().out
    assert "4 steps" in page  # they teach nothing, and the page says so
    for question, guesses in zip(findings.questions, findings.guesses):
        assert text != "zh" or set(map(len, guesses)) == {len(question.word)}
    again = demo_tour.run_tour(run, text, 4)
    assert (again.scores, again.guesses) == (findings.scores, findings.guesses)


def test_pretraining_with_or_without_vocabulary(monkeypatch, tmp_path, capsys):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "text.txt").write_text(demo_pretraining.OVERFIT_TEXT)
    monkeypatch.setattr(demo_pretraining, "train", lambda *_: None)

    def shown(name):
        given = ["pretraining", "-i", str(mine), "-o", f"{tmp_path}/{name}", "-s", "32"]
        assert demo.main([*given, "--vocab_size", "150"]) == 0
        assert (tmp_path / name / "train.tf_record").exists()
        return capsys.readouterr().out

    assert "train_vocab" in shown("a")
    assert "train_vocab" not in shown("a")
    (tmp_path / "a" / "vocabulary.model").rename(mine / "mine.model")
    assert "train_vocab" not in shown("b")


# ---- Fine-tuning.


@pytest.mark.slow
def test_finetuning_reports_speed_and_scores(data, tmp_path, capsys):
    trained = tmp_path / "first" / "model"
    for name, arguments, length, score in (
        ("first", f"-t mrpc -b 4 -w 1 --model {data}", 128, "eval_accuracy"),
        ("second", f"-b 2 --model {trained}", 384, "exact_match"),
    ):
        given = ["-i", data, "-e", "1", *arguments.split(), "-o", f"{tmp_path}/{name}"]
        assert demo.main(["finetuning", *given]) == 0
        shown = capsys.readouterr()
        assert f"--max_seq_length={length}" in shown.out
        assert re.search(r"\d examples/s", shown.err)
        assert re.search(rf"{score} = \d", shown.err)


def test_options_of_habanas_later_demo(monkeypatch, capsys):
    started = []
    monkeypatch.setattr(demo_finetuning, "run_phase", lambda options: started.append(vars(options)))
    later = "--data_type bf16 --model_variant large --test_set mrpc --batch_size 8 --epochs 3"
    later += " --max_seq_length 64 --dataset_path D --output_dir O --use_horovod"
    assert demo.main(["--command", "finetuning", *later.split()]) == 0
    assert capsys.readouterr().err.count("no effect") == 1
    short = "finetuning -d bf16 -m large -t mrpc -b 8 -e 3 -s 64 -i D -o O -v"
    assert demo.main(short.split()) == 0 and started[0] == started[1]
