# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The demo: its corpus, its command line, its report page, and a short run of each phase."""

import os
import re
import sys

import numpy as np
import pytest

from albert import modeling, train_vocab
from albert.data import record_files
from albert.demo import __main__ as demo
from albert.demo import corpus as demo_corpus
from albert.demo import findings as demo_findings
from albert.demo import finetuning as demo_finetuning
from albert.demo import page as demo_page
from albert.demo import pretraining as demo_pretraining
from albert.demo import runs as demo_runs
from albert.demo import tour as demo_tour
from albert.pretraining import model as pretraining_model
from albert.util.errors import UserError
from tests.support import classification_data, pretrained_models, squad_data

# ---- The command line.


@pytest.mark.parametrize(
    "arguments, named",
    [
        ("sculpture", "sculpture"),
        ("--text python --language zh", "--language zh"),
        ("pretraining -e 1 --steps 9", "--steps"),
        ("pretraining -i /no/such/folder", "/no/such/folder"),
        ("pretraining -c -5", "=-5"),
        ("pretraining -w -1", "=-1"),
        ("pretraining -s 513 -b 2", "513"),
    ],
)
def test_wrong_phases_numbers_and_folders_are_refused(
    arguments, named, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        sys.exit(demo.main(arguments.split()))
    assert ended.value.code in (1, 2)
    assert named in capsys.readouterr().err


# ---- Folders and commands.


def claim(path, model):
    with demo_runs.held(str(path), "name", model=model) as command:
        assert command.path == path


def test_folder_with_foreign_files_or_another_run_is_refused(tmp_path):
    for _ in range(2):
        claim(tmp_path / "new", "base")
    with pytest.raises(UserError, match="model"):
        claim(tmp_path / "new", "large")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(UserError, match="mine"):
        claim(tmp_path / "mine", "base")
    assert os.listdir(str(tmp_path / "mine")) == ["thesis.txt"]


def test_commands_are_shown_as_one_would_type_them(tmp_path, capsys, monkeypatch):
    called = []
    monkeypatch.setattr(train_vocab, "main", called.append)
    command = demo_runs.Run(tmp_path)
    command(train_vocab, input_file="my text.txt", model_prefix="v")
    assert called[0].input_file == "my text.txt"
    (line,) = command.lines
    assert line.startswith("python -m albert.train_vocab '--input_file=my text.txt' ")
    assert line in capsys.readouterr().out


# ---- The report page.

PLACES = [(0, 0), (0, 10), (11, 14), (14, 16), (0, 0), (17, 32), (0, 0)]
QUESTION = demo_findings.Question(
    ("Ann has a <key>.", "She opens < it."),
    *("Ann has a <key>. She opens < it.", "key", 11, 14),
    places=PLACES,
    masked=[2],
    rows=[],
)


def made_findings(five, order):
    """Findings that need escaping; the scores of the baseline are a third and a half."""
    score = demo_findings.Score(0, 0.1, 1 / 3, 0.5, 2.0)
    attention = {"layer": 1, "head": 2, "share": 0.4, "even": 0.02, "near": 0.5}
    return demo_findings.Findings(
        scores=[score, score._replace(step=1234, five=five, order=order)],
        baseline=score,
        questions=[QUESTION] * 400,
        guesses=[{"dog": 0.6, "key": 0.3, "<w>": 0.1}],
        orders=np.array([[0.7], [0.2]]),
        neighbours={"<near": {"<door": 0.5}},
        attention={**attention, "looks": np.ones([400, 7])},
    )


def test_page_needs_nothing_beside_it_and_escapes_what_it_shows(tmp_path):
    row = {"step": "1", "loss": "1.5", "sentence_order_accuracy": "0.5"}
    demo_page.write_page(
        tmp_path / "page.html",
        made_findings(0.6, 0.9),
        [row, dict(row, step="2")],
        **dict.fromkeys(["text", "language", "tensorflow", "commands", "time"], "words"),
        **dict.fromkeys(["parameters", "characters", "seen", "speed"], 1),
        config=modeling.AlbertConfig(10),
        documents=[9, 1],
        times={"create_pretraining_data": "0:01", "run_pretraining": "0:02"},
    )
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    shown = page.partition("<body>")[2]
    assert not re.findall("<key|< it|<w>|<near|<door|src=", shown)
    assert "33%" in shown and "60%" in shown


def test_what_is_said_follows_from_what_was_measured():
    # The margin of 400 questions is 5 points.
    for five, order, failed in ((0.38, 0.9, 1), (0.39, 0.9, 0), (0.9, 0.54, 1), (0.3, 0.5, 2)):
        said = made_findings(five, order).verdict
        assert ("1,234 steps" in said) == bool(failed)
        assert (" or " in said) == (failed == 2)


# ---- What is asked of a model.


def write_records(path, rows):
    """Records of length 6 with 2 predictions: (ids, weights)."""
    spec = pretraining_model.feature_spec(6, 2)
    rest = dict.fromkeys(("input_ids", "input_mask", "segment_ids", "token_boundary"), [1] * 6)
    rest.update(masked_lm_positions=[1, 2], next_sentence_labels=[1])
    with record_files.create(str(path)) as file:
        for ids, weights in rows:
            file.write(spec.encode(dict(rest, masked_lm_ids=ids, masked_lm_weights=weights)))


def test_loss_without_reading_is_the_entropy_of_the_words_and_a_guess(tmp_path):
    # Weight 0 is padding. The words are 7, 7, 8 and 8.
    rows = [([7, 8], [1.0, 1.0]), ([7, 0], [1.0, 0.0]), ([8, 5], [1.0, 0.0])]
    write_records(tmp_path / "records", rows)
    found = demo_findings.loss_baseline(str(tmp_path / "records"))
    assert found == pytest.approx(2 * np.log(2))


def test_the_ending_of_a_genitive_is_no_word_to_guess():
    text = "In Anna's pond: 'yes', we'll see."
    words = [text[start:end] for start, end in demo_corpus.word_finder()(text)]
    assert words == ["In", "Anna", "pond", "yes", "we", "see"]


# ---- Short runs.


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(demo_tour, "STORIES", 200)
    monkeypatch.setattr(demo_tour, "EVALUATIONS", 1)
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    monkeypatch.setattr(demo_tour, "MODEL", {**demo_tour.MODEL, **small})


@pytest.mark.slow
def test_tour_of_prose_goes_from_text_to_report_and_can_be_run_again(tiny, tmp_path, capsys):
    command = demo_runs.Run(tmp_path)
    findings = demo_tour.run_tour(command, "python", 4)
    assert [score.step for score in findings.scores] == [0, 4]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for text in (capsys.readouterr().out, page):
        assert "python -m albert.run_pretraining" in text and "albert.train_vocab" in text
    again = demo_tour.run_tour(command, "python", 4)
    assert (again.scores, again.guesses) == (findings.scores, findings.guesses)


@pytest.mark.slow
def test_chinese_tour_shows_whole_words(tiny, tmp_path, capsys):
    findings = demo_tour.run_tour(demo_runs.Run(tmp_path), "zh", 4)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "##" not in capsys.readouterr().out + page
    assert {len(question.word) for question in findings.questions} > {1}
    for question, guesses in zip(findings.questions, findings.guesses):
        assert set(map(len, guesses)) == {len(question.word)}
    assert "4 steps" in page  # they teach nothing, and the page says so


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ("", (200, 10)),
        ("-e 3", (38, 3)),
        ("--steps 7 -w 2", (7, 2)),
        ("-i .", (25, 2)),
        ("-i . -e 8", (100, 10)),
    ],
)
def test_steps_follow_the_options(arguments, expected):
    options = demo.parser_of("pretraining").parse_args([*arguments.split(), "-b", "8"])
    assert demo_pretraining.steps_of(options, 100) == expected


def test_pretraining_takes_text_with_or_without_a_vocabulary(monkeypatch, tmp_path, capsys):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "text.txt").write_text(demo_pretraining.OVERFIT_TEXT)
    monkeypatch.setattr(demo_pretraining, "train", lambda *_: None)

    def shown(name):
        given = ["pretraining", "-i", str(mine), "-o", str(tmp_path / name), "-s", "32"]
        assert demo.main([*given, "--vocab_size", "150"]) == 0
        assert (tmp_path / name / "train.tf_record").exists()
        return capsys.readouterr().out

    assert "train_vocab" in shown("a")
    assert "train_vocab" not in shown("a")
    (tmp_path / "a" / "vocabulary.model").rename(mine / "mine.model")
    assert "train_vocab" not in shown("b")


# ---- Fine-tuning.


@pytest.fixture
def data(tmp_path):
    """A folder with SQuAD's files, MRPC's and a vocabulary."""
    folder = tmp_path / "data"
    folder.mkdir()
    context = "the old man went home with the king ."
    asked = [squad_data.answered(f"q{n}", context, word) for n, word in enumerate(["man", "king"])]
    for name in ("train-v1.1.json", "dev-v1.1.json"):
        squad_data.write_squad(folder, [squad_data.paragraph(context, *asked)], name)
    classification_data.write_mrpc(folder, train=8, dev=4, test=2)
    return pretrained_models.write_archive(folder, max_position_embeddings=512)


@pytest.mark.slow
def test_finetuning_reports_speed_and_scores(data, tmp_path, capsys):
    trained = tmp_path / "first" / "model"
    for name, arguments, length, score in (
        ("first", f"-t mrpc -b 4 -w 1 --model {data}", 128, "eval_accuracy"),
        ("second", f"-b 2 --model {trained}", 384, "exact_match"),
    ):
        given = ["-i", data, "-e", "1", *arguments.split(), "-o", str(tmp_path / name)]
        assert demo.main(["finetuning", *given]) == 0
        shown = capsys.readouterr()
        assert f"--max_seq_length={length}" in shown.out
        assert re.search(r"\d examples/s", shown.err)
        assert re.search(rf"{score} = \d", shown.err)


@pytest.mark.parametrize("steps, warmup_steps", [(22, 15), (7, 3), (399, 14), (5, 5), (9, 0)])
def test_as_many_steps_are_warm_up_as_are_asked_for(steps, warmup_steps):
    assert int(steps * demo_finetuning.warmup_proportion(warmup_steps, steps)) == warmup_steps


@pytest.mark.parametrize(
    "arguments, named",
    [
        ("-i absent --model {0}", "absent"),
        ("-i {0} --model absent", "absent"),
        ("-i {0} --model {0} -w 9", "warmup_proportion"),
        ("-i {0}/MRPC --model {0}", "v1.1.json"),
    ],
)
def test_finetuning_explains_what_cannot_be_used(data, tmp_path, capsys, arguments, named):
    given = arguments.format(data).split()
    assert demo.main(["finetuning", "-b", "2", *given, "-o", str(tmp_path / "out")]) == 1
    assert named in capsys.readouterr().err
