# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the pages say is run as it stands there, with small numbers."""

import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.formats import huggingface_tokenizer
from albert.formats.model_vocabulary import Vocabulary
from albert.runtimes import hub_module
from albert.tasks.classification.examples import InputExample
from albert.tasks.classification.features import convert_examples_to_features
from tests.support import (
    FIXTURES,
    classification_data,
    pages,
    read_json,
    released_archives,
    squad_data,
    write_json,
)

pytestmark = pytest.mark.slow

# Small values of flags, which replace the page's or are added.
SMALL = {
    "train_vocab": "--vocab_size=200",
    "create_pretraining_data": "--max_seq_length=32 --dupe_factor=1 --num_processes=1",
    "run_pretraining": "--albert_config_file=tiny.json --max_seq_length=32 --train_batch_size=4 "
    "--num_train_steps=2 --num_warmup_steps=1 --max_eval_steps=2 --nouse_xla",
    "run_classifier": "--max_seq_length=32 --train_batch_size=4 --nouse_xla",
    "run_squad_v1": "--max_seq_length=64 --max_query_length=20 --train_batch_size=2 --nouse_xla",
}
STEPS = "--train_step=2 --warmup_step=1"
CHINESE_VOCABULARY = FIXTURES / "chinese_vocab.txt"
STREET = "清晨，小镇的街道上还没有多少行人。面包店的老板已经打开了大门，新鲜面包的香味飘到了路口。"
LIBRARY = "图书馆位于城市的中心，每天上午九点开门。读者可以在二楼借书，也可以在三楼的阅览室学习。"
TRAIN = (
    "火车从北京出发，大约需要四个半小时到达上海。车厢里很安静，乘客们有的看书，有的用手机看电影。"
)
QUESTIONS = (
    ("谁已经打开了大门？", STREET, "面包店的老板"),
    ("图书馆每天什么时候开门？", LIBRARY, "上午九点"),
    ("读者可以在哪里借书？", LIBRARY, "二楼"),
    ("火车从哪里出发？", TRAIN, "北京"),
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder a reader is in: text, a few sentences, a task's data."""
    monkeypatch.chdir(tmp_path)
    corpus = (FIXTURES / "corpus.txt").read_text(encoding="utf-8")
    (tmp_path / "text").mkdir()
    for name in ("train-1.txt", "eval-1.txt"):
        (tmp_path / "text" / name).write_text(corpus, encoding="utf-8")
    (tmp_path / "sentences.txt").write_text("One sentence.\nAnother one.\n")
    (tmp_path / "glue").mkdir()
    classification_data.write_mrpc(tmp_path / "glue", train=8, dev=4, test=2)
    config = dict(released_archives.CONFIG, vocab_size=200, max_position_embeddings=512)
    write_json(tmp_path / "tiny.json", config)
    return tmp_path


def test_pretraining_page(folder, capsys):
    chain = [step for step in pages.commands(pages.read("pretraining")) if step.module != "demo"]
    for command in chain:
        pages.run(command, dict(SMALL, run_classifier=f"{SMALL['run_classifier']} {STEPS}"))
    assert "Paris" in capsys.readouterr().out
    assert np.load("vectors.npy").shape == (2, released_archives.CONFIG["hidden_size"])
    vocabulary = (folder / "vocab" / "my-30k.model").read_bytes()
    for place in ("output/base", "albert_mine", "modules/albert_mine/assets"):
        assert (folder / place / "my-30k.model").read_bytes() == vocabulary
    assert hub_module.read("modules/albert_mine").do_lower_case
    assert (folder / "output" / "mine-mrpc" / "eval_results.json").exists()


def follow(page: str, length: str = STEPS) -> None:
    """Does what the page says, from top to bottom; `length` is that of a fine-tuning."""
    names = {"__name__": page}
    for step in pages.steps(pages.read(page)):
        if isinstance(step, pages.Command) and step.module == "download_data":
            continue  # the data are there
        if isinstance(step, pages.Command):
            pages.run(step, dict(SMALL, run_classifier=f"{SMALL['run_classifier']} {length}"))
        else:
            exec(compile(step, page, "exec"), names)


# What README's blocks are pasted into: the data are there, and flags make each command short.
SHELL = """set -e
pip() { :; }
python() {
    module=${2#albert.}
    if [ "$module" = albert ]; then module=$3; fi
    small=SMALL_$module
    if [ "$module" != download_data ]; then "$PYTHON" "$@" ${!small}; fi
}
"""


def run_in_shell(text, small):
    """Runs a page's blocks with short flags by module. Returns what they print."""
    environment = {f"SMALL_{name}": flags for name, flags in small.items()}
    environment.update(os.environ, PYTHON=sys.executable, PYTHONPATH=str(pages.ROOT))
    command = ["bash", "-c", SHELL + pages.script(text)]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout


def test_readme(folder):
    released_archives.write_model(folder / "base_v2", max_position_embeddings=512)
    (folder / "data" / "squad_v1").mkdir(parents=True)
    for name in ("train-v1.1.json", "dev-v1.1.json"):
        answer = squad_data.answered("q", "He left the house .", "house")
        paragraph = squad_data.paragraph("He left the house .", answer)
        squad_data.write_squad(folder / "data" / "squad_v1", [paragraph], name)
    small = {
        "demo": "--steps=2",
        "run_pretraining": "--num_train_steps=2 --train_batch_size=2 --nouse_xla",
        "run_classifier": f"{SMALL['run_classifier']} {STEPS}",
        "run_squad_v1": SMALL["run_squad_v1"],
    }
    printed = run_in_shell(pages.text_of(pages.ROOT / "README.md"), small)
    for shown in (b"eval_accuracy = ", b"Prediction(label=", b'"gaps"', b"\n["):
        assert shown in printed
    assert (folder / "demo" / "report.html").exists()


def test_own_language_tutorial(folder, capsys):
    for name in ("train", "eval"):
        (folder / "text" / name).mkdir()
        (folder / "text" / f"{name}-1.txt").rename(folder / "text" / name / "1.txt")
    (folder / "topics").mkdir()
    classification_data.write_own(folder / "topics")
    follow("tutorials/own_language", "--num_train_epochs=0.2")
    assert "Prediction(label=" in capsys.readouterr().out


def test_own_domain_tutorial(folder):
    small = {
        "demo": "--steps=2",
        "create_pretraining_data": "--dupe_factor=1",
        "run_pretraining": "--num_train_steps=2 --num_warmup_steps=1 --nouse_xla",
        "sweep": "--num_train_epochs=1 --seeds=1",
    }
    run_in_shell(pages.read("tutorials/own_domain"), small)
    results = read_json(folder / "output" / "field" / "eval_results.json")["results"]
    assert [row["step"] for row in results] == [0, 2]
    for model in ("demo-python/model", "output/demo-python", "output/field"):
        assert "eval_accuracy" in (folder / "results" / model / "results.txt").read_text()


def test_chinese_squad_tutorial(folder, capsys):
    words = len(CHINESE_VOCABULARY.read_text(encoding="utf-8").splitlines())
    released_archives.write_model(folder / "base_zh", vocab_size=words)
    for path in (folder / "base_zh").glob("30k-clean.*"):
        path.unlink()
    shutil.copy(CHINESE_VOCABULARY, folder / "base_zh" / "vocab_chinese.txt")
    (folder / "cmrc").mkdir()
    paragraphs = [
        squad_data.paragraph(context, squad_data.answered(str(n), context, answer, text))
        for n, (text, context, answer) in enumerate(QUESTIONS)
    ]
    for name in ("train.json", "dev.json"):
        squad_data.write_squad(folder / "cmrc", paragraphs, name)
    follow("tutorials/chinese_squad")
    answer = capsys.readouterr().out.splitlines()[-1]
    assert answer and answer in LIBRARY
    (results,) = read_json(folder / "output" / "cmrc" / "eval_results.json")["results"]
    assert 0 <= results["metrics"]["character_f1"] <= 100


def test_hugging_face_tutorial(folder, capsys):
    released_archives.write_model(folder / "ours")
    arguments = ["to_huggingface", "--input_dir=ours", "--output_dir=albert-base-v2"]
    pages.run(pages.Command("convert_checkpoint", arguments), {})
    follow("tutorials/hugging_face")
    assert len(capsys.readouterr().out.splitlines()) > 2


def test_roads_from_a_csv(folder, capsys):
    released_archives.write_model(folder / "base_v2")
    for name in ("train.csv", "dev.csv"):
        (folder / name).write_text("text,opinion\n" + "It rains.,bad\nHe sang.,good\n" * 4)
    length = f"{SMALL['run_classifier']} --num_train_epochs=0.5"
    small = {"run_classifier": length, "export_model": "--max_loss=100"}
    for command in pages.commands(pages.read("README")):
        if "output/reviews" in str(command.arguments):
            pages.run(command, small)
    assert '"label"' in capsys.readouterr().out
    for path in (
        "phone/model.tflite",
        "browser/onnx/model_quantized.onnx",
        "server/*/saved_model.pb",
    ):
        assert list((folder / "export").glob(path))
    assert (folder / "export" / "browser" / "tokenizer.json").exists()


@pytest.mark.skipif(tuple(map(int, tf.__version__.split(".")[:2])) < (2, 16), reason="no Keras 3")
def test_keras_3_program_trains_and_reloads(folder):
    """In the page's order: fits the encoder, predicts, saves, and loads a model that agrees."""
    released_archives.write_model(folder / "base_v2", hidden_dropout_prob=0.1)
    section = pages.read("serving").split("### In Keras 3")[1]
    export, program = pages.steps(section)
    pages.run(export, {})
    checks = """
assert np.array_equal(again.predict(inputs_of(texts)), model.predict(inputs_of(texts)))
start = keras.layers.TFSMLayer(MODULE, "__call__").weights
trained = [not np.array_equal(old, new) for old, new in zip(start, encoder.weights)]
assert sum(trained) == 25, trained
batch = {name: value[:2] for name, value in inputs_of(texts).items()}
plain, dropped = encoder(batch), encoder(batch, training=True)
assert not np.array_equal(plain["pooled_output"], dropped["pooled_output"])
"""
    done = subprocess.run(
        [sys.executable, "-c", program + checks],
        env=dict(os.environ, PYTHONPATH=str(pages.ROOT)),
        stderr=subprocess.PIPE,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]


# How to run serving.md's programs; 77 says that a library is missing.
PROGRAMS = {
    "ids.py": f"{sys.executable} ids.py tiny.model 16",
    "ids.cjs": "node -e 'require(\"sentencepiece-js\")' || exit 77; node ids.cjs tiny.model 16",
    "ids.cc": "echo '#include <sentencepiece_processor.h>' | g++ -E -x c++ - >include || exit 77; "
    "g++ ids.cc -o ids -lsentencepiece -licuuc && ./ids tiny.model 16",
    "tokens.cjs": "node -e 'require(\"@huggingface/tokenizers\")' || exit 77; node tokens.cjs .",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_without_this_package_gives_our_ids(name, tmp_path):
    """NODE_PATH names the folder of JavaScript's libraries."""
    page, vocabulary = pages.read("serving"), tmp_path / "tiny.model"
    shutil.copy(classification_data.VOCABULARY, vocabulary)
    huggingface_tokenizer.write_vocabulary(
        str(tmp_path), Vocabulary("spm_model_file", str(vocabulary), True), 512
    )
    source = re.search(f"^```\\w+\n\\S+ {name}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (tmp_path / name).write_text(source.group(1), encoding="utf-8")
    table = re.findall(r"^\| `(.+)` \| `?(.*?)`? \| `([\d /]+)` \|$", page, re.MULTILINE)
    lines = ["\t".join(filter(None, row[:2])) for row in table]
    if name == "tokens.cjs":
        lines.pop()  # it does not cut
    else:
        languages = (FIXTURES / "languages.txt").read_text(encoding="utf-8")
        texts = languages.replace("\t", " ").splitlines()
        lines += [*texts, *map("{}\t{}".format, texts, texts[1:])]
    result = subprocess.run(
        PROGRAMS[name],
        shell=True,
        cwd=str(tmp_path),
        input="".join(f"{line}\n" for line in lines).encode("utf-8"),
        stdout=subprocess.PIPE,
    )
    if result.returncode == 77:
        pytest.skip(f"the libraries of {name} are not installed")
    rows = convert_examples_to_features(
        [InputExample("", *line.split("\t")) for line in lines],
        [None],
        16,
        tokenization.FullTokenizer(None, True, str(vocabulary)),
        "",
        is_raw=True,
    )
    used = [sum(row.input_mask) for row in rows]
    expected = [
        " ".join(map(str, [*row.input_ids[:length], "/", *row.segment_ids[:length]]))
        for row, length in zip(rows, used)
    ]
    assert result.stdout.decode("utf-8").splitlines() == expected
    assert expected[:5] == [ids for *_, ids in table][: len(expected)]
