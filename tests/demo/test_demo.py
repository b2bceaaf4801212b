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
import tensorflow.compat.v1 as tf

from albert import configs, modeling, run_pretraining, tokenization, train_vocab
from albert.data import batches as input_pipeline
from albert.demo import __main__ as demo
from albert.demo import corpus as demo_corpus
from albert.demo import findings as demo_findings
from albert.demo import finetuning as demo_finetuning
from albert.demo import page as demo_page
from albert.demo import pretraining as demo_pretraining
from albert.demo import runs as demo_runs
from albert.demo import tour as demo_tour
from albert.pretrained import inference
from albert.pretraining import model as pretraining_utils
from albert.training import evaluation as checkpoint_evaluator
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


def write_library(folder, documents):
    """A library whose modules' documentation strings are the given lists of sentences."""
    for number, sentences in enumerate(documents):
        text = "\n\n".join(sentences)
        (folder / f"module{number:03d}.py").write_text(f'"""{text}"""\n', encoding="utf-8")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Made-up sentences of made-up order: the first of a document begins with another word."""
    folder = tmp_path_factory.mktemp("library")
    random = np.random.RandomState(0)
    documents = []
    for _ in range(120):
        words = [random.choice(WORDS) for _ in range(12)]
        documents.append(
            [
                f"Once the {words[0]} {words[1]} near the {words[2]} of a {words[3]}.",
                f"Then it {words[4]} with the {words[5]} and a {words[6]} {words[7]}.",
                f"Finally the {words[8]} and the {words[9]} {words[10]} to the {words[11]}.",
            ]
        )
    write_library(folder, documents)
    return str(folder)


# ---------------------------------------------------------------------------------------------
# The corpus.


@pytest.fixture
def spam_library(tmp_path):
    (tmp_path / "spam.py").write_text(SPAM, encoding="utf-8")
    (tmp_path / "broken.py").write_text("def :\n", encoding="utf-8")
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "ham.py").write_text(SPAM, encoding="utf-8")
    (tmp_path / "pydoc_data").mkdir()
    (tmp_path / "pydoc_data" / "topics.py").write_text(TOPICS, encoding="utf-8")
    return str(tmp_path)


def documents_of(corpus):
    return sorted(corpus.training + corpus.held_out)


def test_corpus_holds_the_prose_of_a_library_once_and_no_code(spam_library):
    topic, fry, spam = documents_of(demo_corpus.read_corpus(spam_library))
    assert spam == demo_corpus.Document(
        "spam.py",
        [
            "This module keeps spam fresh for as long as it is needed.",
            "It was written by hand.",
        ],
    )
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


@pytest.fixture(scope="module")
def python_corpus():
    return demo_corpus.read_corpus()


@pytest.mark.slow
def test_corpus_of_this_python_is_large_and_the_same_each_time(python_corpus):
    assert python_corpus == demo_corpus.read_corpus()
    sentences = [text for document in python_corpus.training for text in document.sentences]
    assert sum(map(len, sentences)) > 500000
    assert 0.05 < len(python_corpus.held_out) / len(python_corpus.training) < 0.25


def test_nothing_held_out_was_seen_in_training(python_corpus):
    training, held_out = (
        {text.lower() for document in part for text in document.sentences} for part in python_corpus
    )
    assert held_out and not training & held_out
    sources, held_out_sources = ({document.source for document in part} for part in python_corpus)
    assert sources & held_out_sources <= {"pydoc_data/topics.py"}


def test_documents_are_written_as_data_creation_reads_them(tmp_path):
    documents = [demo_corpus.Document("a", ["One.", "Two."]), demo_corpus.Document("b", ["Three."])]
    demo_corpus.write_documents(documents, str(tmp_path / "text.txt"))
    assert (tmp_path / "text.txt").read_text() == "One.\nTwo.\n\nThree.\n\n"


# ---------------------------------------------------------------------------------------------
# The command line.


def test_help_needs_no_phase_and_lists_all(capsys):
    for argument in ("help", "-h", "--help"):
        assert demo.main([argument]) == 0
        shown = capsys.readouterr().out
        assert all(name in shown for name in demo.PHASES)


@pytest.mark.parametrize("phase", sorted(demo.PHASES))
def test_each_phase_explains_its_options(phase, capsys):
    with pytest.raises(SystemExit) as caught:
        demo.main([phase, "-h"])
    assert caught.value.code == 0
    assert "-o DIR" in capsys.readouterr().out


def test_unknown_phase_is_named_with_those_there_are(capsys):
    assert demo.main(["sculpture"]) == 2
    message = capsys.readouterr().err
    assert "'sculpture'" in message and "tour, pretraining, finetuning" in message


def test_unknown_choice_ends_with_code_two(capsys):
    with pytest.raises(SystemExit) as caught:
        demo.main(["pretraining", "-m", "huge"])
    assert caught.value.code == 2
    assert "xxlarge" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["tour", "--steps", "0"], "--steps 0 must be at least 1"),
        (["pretraining", "-b", "0"], "-b 0 must be at least 1"),
        (["pretraining", "-c", "-5"], "-c -5 must be at least 1"),
        (["pretraining", "-w", "-1"], "-w -1 must not be negative"),
        (["pretraining", "-e", "0"], "-e 0.0 must be above 0"),
        (["pretraining", "-e", "1", "--steps", "9"], "not both"),
        (["pretraining", "-s", "513"], "-s 513 must be between 8 and 512"),
        (["pretraining", "-i", "/no/such/folder"], "/no/such/folder is not a folder"),
    ],
)
def test_wrong_numbers_and_folders_are_refused_in_one_line(arguments, part, capsys):
    assert demo.main(arguments) == 2
    message = capsys.readouterr().err
    assert message.startswith("ERROR: ") and part in message and message.count("\n") == 1


def test_interrupt_ends_with_code_130(monkeypatch, capsys):
    def interrupted(options):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_tour, "run", interrupted)
    assert demo.main([]) == 130
    assert "Interrupted" in capsys.readouterr().err


def test_help_comes_without_loading_tensorflow(tmp_path):
    program = (
        "import sys; from albert.demo import __main__ as demo; demo.main(['help']); "
        "print(list(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE)
    assert b"'tensorflow'" not in shown.stdout


# ---------------------------------------------------------------------------------------------
# Folders and commands.


def test_each_run_gets_a_folder_of_its_own(tmp_path):
    names = [os.path.basename(demo_runs.new_folder("run", str(tmp_path))) for _ in range(3)]
    assert names == ["run-001", "run-002", "run-003"]


def test_too_many_runs_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(demo_runs, "_MOST_RUNS", 1)
    demo_runs.new_folder("run", str(tmp_path))
    with pytest.raises(ValueError, match="holds 1 runs"):
        demo_runs.new_folder("run", str(tmp_path))


def test_folder_with_foreign_files_or_another_run_is_refused(tmp_path):
    demo_runs.claim_folder(str(tmp_path / "new"), {"model": "base"})
    demo_runs.claim_folder(str(tmp_path / "new"), {"model": "base"})
    with pytest.raises(ValueError, match="another kind .*model"):
        demo_runs.claim_folder(str(tmp_path / "new"), {"model": "large"})
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(ValueError, match="not a demo's"):
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


# ---------------------------------------------------------------------------------------------
# The report page.


def findings_of(**changes):
    metrics = {"loss": 1.0, "masked_lm_accuracy": 0.5, "sentence_order_accuracy": 0.5}
    candidates = [("dog", 0.6), ("<w>", 0.3)]
    fields = {
        "evaluations": [checkpoint_evaluator.Evaluation(step, metrics) for step in (0, 1234)],
        "baselines": demo_findings.Baselines(0.4, 0.6),
        "gaps": [demo_findings.Gap("<a", "<w>", "b>", candidates, was=0.1, became=0.3)],
        "orders": [demo_findings.Order("x < y", "h<", 0.7, 0.2)],
        "curve": [dict(metrics, step=step) for step in (1, 2)],
        "characters": 1,
        "held_out_documents": 1,
        "config": modeling.AlbertConfig(10),
        "parameters": 1,
    }
    return demo_findings.Findings(**dict(fields, **changes))


def page_of(folder, findings):
    names = ("train_vocab", "create_pretraining_data", "all")
    demo_page.write_page(
        folder / "page.html",
        findings,
        commands=["cat <in >out"],
        seconds=dict(dict.fromkeys(names, 1.0), run_pretraining=754.0),
        examples_per_second=None,
    )
    return (folder / "page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_page_needs_nothing_beside_it_and_escapes_what_it_shows(tmp_path):
    page = page_of(tmp_path, findings_of())
    for raw in ("<a<", "b><", "<w>", "x < y", "h<<", "<in", ">out"):
        assert raw not in page.replace("</", "@"), raw
    assert not re.search(r"(src|href)=\"(?!#)", page) and "@import" not in page
    assert "$" not in page
    # The word that was meant is marked among the proposals.
    assert page.count("candidate right") == 1
    assert 'candidate right" style="--share: 30%">&lt;w&gt; 30.0%' in page
    # No two charts have an id in common.
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert ids and len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)
    assert page.count("<table>") == page.count('<div class="scroll"><table>') == 2


def test_the_page_says_how_long_training_took(tmp_path, monkeypatch):
    monkeypatch.setattr(demo_page, "draw_chart", lambda chart: "")
    assert re.search(r"After 1,234\s+steps \(12:34", page_of(tmp_path, findings_of()))


def test_page_without_matplotlib_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ValueError, match="pip install"):
        demo_page.check_matplotlib()


# ---------------------------------------------------------------------------------------------
# What is asked of a model.


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


def test_baseline_copies_what_is_seen_and_answers_the_most_frequent_word_behind_masks(tmp_path):
    # Place 1 shows the piece 5 and place 2 [MASK], which is 4; weight 0 is padding.
    rows = [([7, 8], [1.0, 1.0], 1), ([7, 0], [1.0, 0.0], 1), ([5, 8], [1.0, 1.0], 0)]
    rows.append(([6, 9], [0.0, 1.0], 1))
    spec = write_records(tmp_path / "records", rows)
    baselines = demo_findings.baselines_without_reading(str(tmp_path / "records"), spec, 4)
    # Right: the 5 that is seen, and the 8 behind two of three masks. Orders: 1 1 0 1.
    assert baselines == demo_findings.Baselines(0.5, 0.75)


@pytest.fixture(scope="module")
def small_model(tmp_path_factory, library):
    """A model with random weights and its tokenizer."""
    folder = tmp_path_factory.mktemp("model")
    corpus = demo_corpus.read_corpus(library)
    demo_corpus.write_documents(corpus.training, str(folder / "text.txt"))
    made = train_vocab.train(str(folder / "text.txt"), str(folder / "vocabulary"), VOCAB_SIZE)
    config = modeling.AlbertConfig(
        VOCAB_SIZE,
        8,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    spec = pretraining_utils.feature_spec(6, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        features = {
            feature.name: tf.zeros([1] + list(feature.shape), tf.int32) for feature in spec.features
        }
        features["masked_lm_weights"] = tf.ones([1, 2])
        model_fn = run_pretraining.model_fn_builder(config, None, 0.1, 1, 0, False, False)
        model_fn(features, None, tf.estimator.ModeKeys.EVAL, {})
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(tf.trainable_variables())
        checkpoint = saver.save(session, str(folder / "model.ckpt"))
    tokenizer = tokenization.FullTokenizer(None, spm_model_file=made.model_file)
    with inference.PretrainedModel(config, checkpoint, tokenizer) as model:
        yield model


@pytest.mark.slow
def test_proposals_are_probabilities_in_descending_order(small_model):
    ((proposals,),) = small_model.fill(["Once the [MASK] near the garden."])
    probabilities = [proposal.probability for proposal in proposals]
    assert sum(probabilities) == pytest.approx(1, abs=1e-4)
    assert probabilities == sorted(probabilities, reverse=True)
    by_word = small_model.probability("Once the ", " near the garden.", "the")
    assert by_word == pytest.approx({item.word: item.probability for item in proposals}["the"])
    assert not any("\u2581" in proposal.word for proposal in proposals if len(proposal.word) > 1)


def test_order_probability_depends_on_the_order(small_model):
    one, other = "Once the cat sleeps.", "Then it runs to a house."
    there, back = (
        small_model.order_probability(one, other),
        small_model.order_probability(other, one),
    )
    assert 0 < there < 1 and there != back


def test_text_that_is_too_long_for_the_model_is_refused(small_model):
    assert small_model.fits("Once the cat.", "Then it sleeps.")
    assert not small_model.fits("Once the cat. " * 200)
    with pytest.raises(ValueError, match="Shorten"):
        small_model.fill(["Once the cat. " * 200 + "[MASK]"])


def test_word_of_several_pieces_has_no_piece(small_model):
    assert small_model.piece_of("the") is not None
    assert small_model.piece_of("incomprehensibilities") is None


# ---------------------------------------------------------------------------------------------
# Short runs.

TINY = demo_tour.Recipe(
    vocab_size=VOCAB_SIZE,
    max_seq_length=32,
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
def test_tour_goes_from_text_to_report_and_can_be_run_again(library, tmp_path, capsys):
    recipe = TINY._replace(library=library)
    folder = str(tmp_path / "run")
    findings = demo_tour.run_tour(folder, recipe)
    assert [evaluation.step for evaluation in findings.evaluations] == [0, 4]
    assert findings.curve[-1]["step"] == 4
    shown = capsys.readouterr().out
    assert "python -m albert.run_pretraining" in shown and "without reading" in shown
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Masked words found" in page and "python -m albert.train_vocab" in page
    again = demo_tour.run_tour(folder, recipe)
    assert again.evaluations == findings.evaluations


def test_tour_refuses_a_python_without_its_library(tmp_path):
    (tmp_path / "library").mkdir()
    recipe = TINY._replace(library=str(tmp_path / "library"))
    with pytest.raises(ValueError, match="0 documents"):
        demo_tour.run_tour(str(tmp_path / "run"), recipe)


def pretraining_options(*arguments):
    parser = argparse.ArgumentParser()
    demo_pretraining.add_arguments(parser)
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
def test_plan_follows_the_options(arguments, expected):
    assert demo_pretraining.plan(pretraining_options(*arguments), 100, 8) == expected


def test_every_size_has_its_preset_and_batch_sizes():
    assert {f"albert_{size}_v2" for size in demo_runs.BATCH_SIZES} <= set(configs.preset_names())
    assert demo_runs.BATCH_SIZES["base"] == {"fp32": 32, "bf16": 64}
    assert demo_runs.BATCH_SIZES["xxlarge"] == {"fp32": 4, "bf16": 8}


@pytest.fixture
def tiny_preset(tmp_path, monkeypatch):
    config = modeling.AlbertConfig(
        30000, 8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    path = tmp_path / "tiny.json"
    path.write_text(config.to_json_string())
    monkeypatch.setattr(demo_runs, "preset", lambda size: str(path))


@pytest.mark.slow
def test_pretraining_on_the_task_reports_its_speed(tiny_preset, tmp_path, capsys):
    folder = str(tmp_path / "out")
    command = ["pretraining", "-b", "4", "-s", "64", "--steps", "2", "-o", folder]
    assert demo.main(command) == 0
    shown = capsys.readouterr().out
    assert re.search(r"Speed: \d+\.\d\d sentences/s", shown)
    assert "--max_predictions_per_seq=10" in shown and "--optimizer=lamb" in shown
    # Again: nothing to train, and the same evaluation.
    assert demo.main(command) == 0
    again = capsys.readouterr().out
    assert "Speed" not in again
    assert shown.splitlines()[-2:] == again.splitlines()[-2:]


@pytest.fixture
def no_training(monkeypatch):
    """Leaves out the training of the phase, and shows what it would have been given."""
    trained_on = []

    def record(path, options, commands, *, data):
        trained_on.append(data)

    monkeypatch.setattr(demo_pretraining, "_train", record)
    monkeypatch.setattr(demo_pretraining, "_report", lambda outcome, path: None)
    return trained_on


def test_pretraining_takes_text_with_or_without_a_vocabulary_and_records(
    no_training, tmp_path, capsys
):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "text.txt").write_text("\n\n".join(demo_pretraining.OVERFIT.documents))
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
    assert demo.main([*options, "-s", "64", "-o", str(tmp_path / "d")]) == 2
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
    assert demo.main(["pretraining", "-i", str(mine), "-o", str(tmp_path / "out")]) == 2
    assert part in capsys.readouterr().err


# ---------------------------------------------------------------------------------------------
# Fine-tuning.


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
@pytest.mark.parametrize(
    "task, length, score", [("squad", 384, "exact_match"), ("mrpc", 128, "eval_accuracy")]
)
def test_finetuning_reports_speed_and_scores(
    tiny_preset, data, tmp_path, capsys, task, length, score
):
    folder = str(tmp_path / "out")
    command = ["finetuning", "-t", task, "-i", data, "-b", "2", "-w", "1", "-o", folder]
    assert demo.main(command) == 0
    shown = capsys.readouterr().out
    assert re.search(r"Speed: \d+\.\d\d sentences/s", shown)
    assert re.search(rf"Scores of the best checkpoint: .*{score} \d", shown)
    assert f"--max_seq_length={length}" in shown and "first weights are random" in shown


@pytest.mark.slow
def test_finetuning_takes_the_model_from_a_released_archive(tiny_preset, data, tmp_path, capsys):
    first = str(tmp_path / "first")
    assert (
        demo.main(["finetuning", "-t", "mrpc", "-i", data, "-b", "4", "-e", "1", "-o", first]) == 0
    )
    trained = os.path.join(first, "model")
    capsys.readouterr()
    command = ["finetuning", "-i", data, "-b", "2", "-e", "1", "--model", trained]
    assert demo.main([*command, "-o", str(tmp_path / "second")]) == 0
    shown = capsys.readouterr().out
    assert f"--albert_dir={trained}" in shown and "random" not in shown


@pytest.mark.parametrize("steps, share", [(22, 15), (7, 3), (399, 14), (5, 5)])
def test_as_many_steps_are_warm_up_as_are_asked_for(steps, share):
    task = demo_finetuning.TASKS["squad"]._replace(count=lambda data: steps)
    options = argparse.Namespace(w=share, e=1.0)
    found = demo_finetuning._warmup_share(options, task, {}, batch_size=1)
    assert int(steps * found) == share


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["-i", "absent"], "-i absent is not a folder"),
        (["-i", "{data}", "--model", "absent"], "--model absent is not a folder"),
        (["-i", "{data}", "-w", "9"], "-w 9 is more than all 2 steps"),
        (["-i", "{data}", "--model", "{data}"], "-m base has hidden size 768, but --model"),
        (["-i", "{data}", "-s", "7"], "-s 7 must be between 8 and"),
        (["-i", "{data}/MRPC"], "needs one file train*.json; it has none"),
        (["-i", "{data}/MRPC", "-t", "mrpc"], "holds no vocabulary"),
    ],
)
def test_finetuning_explains_what_cannot_be_used(data, capsys, arguments, part):
    filled = [argument.format(data=data) for argument in arguments]
    assert demo.main(["finetuning", "-b", "2", *filled]) == 2
    assert part in capsys.readouterr().err
