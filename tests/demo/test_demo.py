# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The demo: its corpus, its command line, its report page, and a short run of each phase."""

import argparse
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from albert import modeling, train_vocab
from albert.data import batches as input_pipeline
from albert.demo import __main__ as demo
from albert.demo import corpus as demo_corpus
from albert.demo import findings as demo_findings
from albert.demo import finetuning as demo_finetuning
from albert.demo import options as demo_options
from albert.demo import page as demo_page
from albert.demo import pretraining as demo_pretraining
from albert.demo import questions as demo_questions
from albert.demo import runs as demo_runs
from albert.demo import tour as demo_tour
from albert.pretraining import model as pretraining_utils
from albert.training import evaluation as checkpoint_evaluator
from albert.util import stop_signals
from tests.support import classification_data, squad_data

# A library of two source files: prose in every shape the standard library has it in.
SPAM = '''
"""Keep spam fresh.

This module keeps spam fresh for as long as it is needed.  It was written by hand.

    >>> import spam

Name      Meaning
====      =======
fresh     It was made today.
"""

def fry(spam, *, minutes):
    """Fry spam for some minutes, e.g. Three of them.

    - Return the pan to its place when the work is done.
    - The `spam` must be :class:`Fresh`, or ``ValueError`` is raised.

    fry(spam, minutes=3)
    """

class Can:
    """Hold a portion of spam."""

    async def open(self):
        """Open the can with great care.

        This module keeps spam fresh for as long as it is needed.
        """
'''
TOPICS = """
topics = {
    "assert": 'The "assert" statement\\n**********************\\n\\n'
              'Assert statements are a convenient way to insert assertions.\\n\\n'
              '   assert_stmt ::= "assert" expression\\n\\n'
              'The simple form of the statement is equivalent to an "if" statement.\\n',
}
"""
WORDS = ["cat", "dog", "bird", "fish", "red", "green", "small", "sleeps", "runs", "swims", "house"]
VOCAB_SIZE = 45


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Made-up sentences in a fixed order: each place in a document has its own first word."""
    folder = tmp_path_factory.mktemp("library")
    random = np.random.RandomState(0)
    for number in range(120):
        words = [random.choice(WORDS) for _ in range(12)]
        text = (
            f"Once the {words[0]} {words[1]} near the {words[2]} of a {words[3]}.\n\n"
            f"Then it {words[4]} with the {words[5]} and a {words[6]} {words[7]}.\n\n"
            f"Finally the {words[8]} and the {words[9]} {words[10]} to the {words[11]}."
        )
        (folder / f"module{number:03d}.py").write_text(f'"""{text}"""\n', encoding="utf-8")
    return str(folder)


# ---- The corpus.


def test_corpus_holds_the_prose_of_a_library_once_and_no_code(tmp_path):
    files = {"spam.py": SPAM, "broken.py": "def :", "test/ham.py": SPAM}
    for name, content in dict(files, **{"pydoc_data/topics.py": TOPICS}).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    corpus = demo_corpus.read_corpus(str(tmp_path))
    topic, fry, spam = sorted(corpus.training + corpus.held_out)
    sentences = ["This module keeps spam fresh for as long as it is needed."]
    assert spam == demo_corpus.Document("spam.py", [*sentences, "It was written by hand."])
    assert fry.sentences == [
        "Fry spam for some minutes, e.g. Three of them.",
        "Return the pan to its place when the work is done.",
        "The spam must be Fresh, or ValueError is raised.",
    ]
    assert topic.sentences == [
        "Assert statements are a convenient way to insert assertions.",
        "The simple form of the statement is equivalent to an if statement.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Too short indeed.",
        "no capital letter at the start of this one.",
        "No full stop at the end of this one",
        "spam = fry(pan[0], 3) * minutes if x_y else {}.",
        "Name A_B C_D E_F g_h.",
    ],
)
def test_what_does_not_look_like_a_sentence_is_left_out(text):
    assert demo_corpus.extract_sentences(text) == []


# ---- The command line.


def test_help_lists_the_phases_without_loading_tensorflow():
    program = (
        "import sys; from albert.demo import __main__ as demo; demo.main(['help']); "
        "assert 'tensorflow' not in sys.modules"
    )
    shown = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE)
    assert all(name.encode() in shown.stdout for name in demo.PHASES)


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["sculpture"], "'sculpture'"),
        (["finetunin"], "'finetuning'"),
        (["tour", "--steps", "0"], "--steps 0"),
        (["--text", "python", "--language", "zh"], "--language zh"),
        (["pretraining", "-b", "0"], "-b 0"),
        (["pretraining", "-c", "-5"], "-c -5"),
        (["pretraining", "-w", "-1"], "-w -1"),
        (["pretraining", "-e", "0"], "-e 0.0"),
        (["pretraining", "-e", "1", "--steps", "9"], "not both"),
        (["pretraining", "-s", "513"], "-s 513"),
        (["pretraining", "-i", "/no/such/folder"], "/no/such/folder"),
    ],
)
def test_wrong_phases_numbers_and_folders_are_refused_in_one_line(arguments, part, capsys):
    assert demo.main(arguments) in (1, 2)
    message = capsys.readouterr().err
    assert message.startswith("ERROR: ") and part in message and message.count("\n") == 1


# ---- Folders and commands.


def test_folder_with_foreign_files_or_another_run_is_refused(tmp_path):
    demo_runs.claim_folder(str(tmp_path / "new"), {"model": "base"})
    demo_runs.claim_folder(str(tmp_path / "new"), {"model": "base"})
    with pytest.raises(ValueError, match="model"):
        demo_runs.claim_folder(str(tmp_path / "new"), {"model": "large"})
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(ValueError, match="mine"):
        demo_runs.claim_folder(str(tmp_path / "mine"), {"model": "base"})
    assert os.listdir(str(tmp_path / "mine")) == ["thesis.txt"]


def test_commands_are_shown_as_one_would_type_them(capsys):
    commands = demo_runs.Commands()
    settings = commands(
        train_vocab, lambda flags: flags, input_file="my text.txt", model_prefix="v", overwrite=True
    )
    assert (settings.input_file, settings.overwrite) == ("my text.txt", True)
    line = "python -m albert.train_vocab '--input_file=my text.txt' --model_prefix=v --overwrite"
    assert commands.lines == [line]
    assert line in capsys.readouterr().out
    assert commands.seconds["train_vocab"] >= 0


# ---- The report page.

GAP = demo_questions.Gap(("Ann has a <key>.", "She opens < it."), part=0, start=11, end=14)


def made_findings(trained):
    """Findings that need escaping; the scores of the baseline are a third and a half."""
    metrics = {"loss": 1.0, "masked_lm_accuracy": 0.5, "sentence_order_accuracy": 0.5}
    weights = [[("Ann has a <", 0.1), ("key", 0.0), (">.", 0.0)], [("She opens < it.", 0.9)]]
    return demo_findings.Findings(
        evaluations=[checkpoint_evaluator.Evaluation(step, metrics) for step in (0, 1234)],
        scores={0: demo_findings.Score(0, 0, 0.5), 1234: trained},
        baseline=demo_findings.Score(0.1, 1 / 3, 0.5),
        loss_baseline=2.0,
        questions=400,
        fills=[demo_findings.Filled(GAP, [("dog", 0.6), ("key", 0.3), ("<w>", 0.1)])],
        orders=[demo_findings.Order("x < y", "h<", 0.7, 0.2)],
        neighbours=[demo_findings.Neighbours("<key", [("<door", 0.5)])],
        similarity=(0.1, 0.4),
        attention=demo_findings.Attention(
            1, 2, share=0.4, even=0.02, near=0.5, looks=[demo_findings.Look(GAP, weights)]
        ),
        curve=[dict(metrics, step=step) for step in (1, 2)],
        characters=1,
        documents=(9, 1),
        seen_sentences=0.5,
        config=modeling.AlbertConfig(10),
        parameters=1,
    )


@pytest.fixture
def page(tmp_path):
    """A page on findings that need escaping."""
    names = ("train_vocab", "create_pretraining_data", "all")
    demo_page.write_page(
        tmp_path / "page.html",
        made_findings(demo_findings.Score(0.3, 0.6, 0.9)),
        text="a <made> text",
        language="en",
        commands=["cat <in >out"],
        seconds=dict(dict.fromkeys(names, 754.0), run_pretraining=600.0),
        examples_per_second=None,
    )
    return (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_page_needs_nothing_beside_it_and_escapes_what_it_shows(page):
    for raw in ("<key", "< it", "<w>", "x < y", "h<<", "<door", "<made", "<in", ">out"):
        assert raw not in page.replace("</", "@"), raw


def test_what_is_said_follows_from_what_was_measured():
    def said(*trained):
        return " ".join(
            demo_findings.explanations(made_findings(demo_findings.Score(0.1, *trained)))
        )

    # The baseline's share of 400 has a standard error of 2.4 and 2.5 points.
    assert "has not learnt to fill" in said(0.37, 0.9) and "not learnt" not in said(0.39, 0.9)
    assert "not learnt to tell the order" in said(0.9, 0.54)
    assert "55%" in said(0.9, 0.5501) and "not learnt" not in said(0.9, 0.5501)


# ---- What is asked of a model.


def write_records(path, rows):
    """Records of length 6 with 2 predictions: (ids, weights, label)."""
    spec = pretraining_utils.feature_spec(6, 2)
    with input_pipeline.AtomicRecordWriter(str(path), {}) as writer:
        for ids, weights, label in rows:
            features = {
                "input_ids": [2, 5, 4, 3, 6, 3],
                "input_mask": [1] * 6,
                "segment_ids": [0, 0, 0, 0, 1, 1],
                "token_boundary": [1] * 6,
                "masked_lm_positions": [1, 2],
                "masked_lm_ids": ids,
                "masked_lm_weights": weights,
                "next_sentence_labels": [label],
            }
            writer.write(spec.encode(features))
    return spec


def test_loss_without_reading_is_the_entropy_of_the_words_and_a_guess(tmp_path):
    # Weight 0 is padding. The words are 7, 7, 8 and 8.
    rows = [([7, 8], [1.0, 1.0], 1), ([7, 0], [1.0, 0.0], 1), ([5, 8], [0.0, 1.0], 0)]
    spec = write_records(tmp_path / "records", rows)
    found = demo_findings.loss_baseline(str(tmp_path / "records"), spec)
    assert found == pytest.approx(2 * np.log(2))


def test_the_ending_of_a_genitive_is_no_word_to_guess():
    text = "In Anna's pond: 'yes', we'll see."
    places = demo_questions.WordFinder("en").places(text)
    words = [text[start:end] for start, end in places]
    assert words == ["In", "Anna", "pond", "yes", "we", "see"]


# ---- Short runs.

TINY = demo_tour.Recipe(
    stories=200,
    vocab_size=VOCAB_SIZE,
    max_seq_length=64,
    max_predictions_per_seq=5,
    dupe_factor=1,
    hidden_size=16,
    num_hidden_layers=1,
    num_attention_heads=2,
    train_batch_size=4,
    num_train_steps=4,
    num_warmup_steps=1,
    evaluations=1,
)


@pytest.mark.slow
def test_tour_of_prose_goes_from_text_to_report_and_can_be_run_again(library, tmp_path, capsys):
    recipe = TINY._replace(text="python", library=library)
    findings = demo_tour.run_tour(tmp_path / "run", recipe)
    assert [evaluation.step for evaluation in findings.evaluations] == [0, 4]
    assert findings.curve[-1]["step"] == 4 and sorted(findings.scores) == [0, 4]
    shown = capsys.readouterr().out
    assert "python -m albert.run_pretraining" in shown and "python -m albert.train_vocab" in shown
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "python -m albert.train_vocab" in page
    again = demo_tour.run_tour(tmp_path / "run", recipe)
    assert (again.evaluations, again.scores) == (findings.evaluations, findings.scores)


@pytest.mark.slow
def test_chinese_tour_shows_whole_words(tmp_path, capsys):
    options = ["--language", "zh", "--steps", "4", "-o", str(tmp_path / "run")]
    names = ("stories", "hidden_size", "num_hidden_layers", "train_batch_size", "evaluations")
    tiny = {name: getattr(TINY, name) for name in names}
    findings = demo_tour.run_tour(
        tmp_path / "run", demo_tour.recipe_of(tour_options(*options))._replace(**tiny)
    )
    shown = capsys.readouterr().out
    assert "--language=zh" in shown and "##" not in shown and "\u2581" not in shown
    assert {len(item.gap.word) for item in findings.fills} > {1}
    for item in findings.fills:
        assert {len(word) for word, _ in item.candidates} == {len(item.gap.word)}
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert 'lang="zh"' in page and "##" not in page
    # Four steps teach nothing, and the page says so.
    assert "has not learnt to fill gaps" in page


def tour_options(*arguments):
    parser = argparse.ArgumentParser()
    demo_options.tour(parser)
    return parser.parse_args(list(arguments))


@pytest.mark.parametrize("signal", [KeyboardInterrupt(), stop_signals.Stopped("Stopped.")])
def test_one_who_stops_the_demo_is_told_the_folder(signal, tmp_path, capsys):
    for given, hint in ((None, f"-o {tmp_path}"), (str(tmp_path), "")):
        with pytest.raises(type(signal)), demo_runs.held(tmp_path, given):
            raise signal
        shown = capsys.readouterr().err
        assert hint in shown and bool(hint) == bool(shown)


def pretraining_options(*arguments):
    parser = argparse.ArgumentParser()
    demo_options.pretraining(parser)
    return parser.parse_args(list(arguments))


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ([], (200, 10)),
        (["-e", "3"], (38, 3)),
        (["--steps", "7", "-w", "2"], (7, 2)),
        (["-i", "."], (25, 2)),
        (["-i", ".", "-e", "8"], (100, 10)),
    ],
)
def test_steps_follow_the_options(arguments, expected):
    assert demo_pretraining.steps_of(pretraining_options(*arguments), 100, 8) == expected


@pytest.fixture
def tiny_preset(tmp_path, monkeypatch):
    config = modeling.AlbertConfig(
        30000, 8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    path = tmp_path / "tiny.json"
    path.write_text(config.to_json_string())
    monkeypatch.setattr(demo_runs, "preset", lambda size: str(path))


@pytest.fixture
def no_training(monkeypatch):
    """Leaves out the training of the phase; returns the data it would have had."""
    trained_on = []
    monkeypatch.setattr(
        demo_pretraining._Phase, "train", lambda phase, data: trained_on.append(data)
    )
    return trained_on


def test_pretraining_takes_text_with_or_without_a_vocabulary_and_records(
    no_training, tmp_path, capsys
):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "text.txt").write_text(demo_pretraining.OVERFIT_TEXT)
    options = ["pretraining", "-i", str(mine)]
    assert demo.main([*options, "-s", "32", "-o", str(tmp_path / "a"), "--vocab_size", "150"]) == 0
    assert "train_vocab" in capsys.readouterr().out
    os.rename(str(tmp_path / "a" / "vocabulary.model"), str(mine / "mine.model"))
    assert demo.main([*options, "-s", "32", "-o", str(tmp_path / "b")]) == 0
    assert "train_vocab" not in capsys.readouterr().out
    os.rename(str(tmp_path / "b" / "train.tf_record"), str(mine / "train.tf_record"))
    assert demo.main([*options, "-o", str(tmp_path / "c")]) == 0
    assert "create_pretraining_data" not in capsys.readouterr().out
    assert [data[1:] for data in no_training] == [(32, 5)] * 3
    assert demo.main([*options, "-s", "64", "-o", str(tmp_path / "d")]) == 1
    assert "have length 32" in capsys.readouterr().err


@pytest.mark.parametrize(
    "names, part",
    [
        ([], "neither text"),
        (["vocab.txt"], "neither text"),
        (["text.txt", "a.model", "b.model"], "several vocabularies"),
    ],
)
def test_folder_of_data_that_cannot_be_used_is_explained(names, part, tmp_path, capsys):
    mine = tmp_path / "mine"
    mine.mkdir()
    for name in names:
        (mine / name).write_text("One sentence.\n")
    assert demo.main(["pretraining", "-i", str(mine), "-o", str(tmp_path / "out")]) == 1
    assert part in capsys.readouterr().err


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
    config = modeling.AlbertConfig(400, hidden_size=32, num_attention_heads=2)
    (folder / "albert_config.json").write_text(config.to_json_string())
    shutil.copy(str(classification_data.VOCABULARY), str(folder / "tiny.model"))
    for ending in ("index", "data-00000-of-00001"):
        (folder / f"model.ckpt-best.{ending}").touch()
    return str(folder)


@pytest.mark.slow
def test_finetuning_reports_speed_and_scores_of_random_and_given_weights(
    tiny_preset, data, tmp_path, capsys
):
    first, trained = str(tmp_path / "first"), str(tmp_path / "first" / "model")
    shared = ["finetuning", "-i", data, "-e", "1"]
    assert demo.main([*shared, "-t", "mrpc", "-b", "4", "-w", "1", "-o", first]) == 0
    shown = capsys.readouterr().out
    assert "--max_seq_length=128" in shown and "random" in shown
    assert re.search(r"Speed: \d+\.\d\d sentences/s", shown)
    assert re.search(r"Scores of the best checkpoint: eval_accuracy \d", shown)
    second = str(tmp_path / "second")
    assert demo.main([*shared, "-b", "2", "--model", trained, "-o", second]) == 0
    shown = capsys.readouterr().out
    assert "--max_seq_length=384" in shown and "random" not in shown
    assert f"--albert_dir={trained}" in shown
    assert re.search(r"Scores of the best checkpoint: .*exact_match \d", shown)


@pytest.mark.parametrize("steps, warmup_steps", [(22, 15), (7, 3), (399, 14), (5, 5)])
def test_as_many_steps_are_warm_up_as_are_asked_for(steps, warmup_steps):
    assert int(steps * demo_finetuning.warmup_share(warmup_steps, steps)) == warmup_steps


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["-i", "absent"], "-i absent"),
        (["-i", "{data}", "--model", "absent"], "--model absent"),
        (["-i", "{data}", "-w", "9"], "-w 9"),
        (["-i", "{data}", "--model", "{data}"], "-m base"),
        (["-i", "{data}", "-s", "7"], "-s 7"),
        (["-i", "{data}/MRPC"], "train*.json"),
    ],
)
def test_finetuning_explains_what_cannot_be_used(data, capsys, arguments, part):
    filled = [argument.format(data=data) for argument in arguments]
    assert demo.main(["finetuning", "-b", "2", *filled]) == 1
    assert part in capsys.readouterr().err
