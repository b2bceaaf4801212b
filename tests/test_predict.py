# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script that answers texts from files, pipes and the command line."""

import csv
import io
import json
import logging
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from albert import predict, predictor
from albert.data import text_lines
from albert.util import flags as flags_lib
from tests.support import fine_tuned_models as models

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAIRS = [("the king", "went home"), ("he had a dog", "once"), ("a", "b"), ("", "nothing")]
PLAIN = ["\t".join(pair) for pair in PAIRS]
JSON = [json.dumps({"text_a": a, "text_b": b, "id": 7}) for a, b in PAIRS]
LABELS = ("no, never", 'so "so"', "yes")


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    return models.write_classifier(tmp_path_factory.mktemp("model"), labels=LABELS)


@pytest.fixture(scope="module")
def expected(model_dir):
    with predictor.Predictor(model_dir) as model:
        return model.predict_array(PAIRS)


def run(model_dir, *arguments):
    settings = flags_lib.parse(predict.Flags, [f"--model_dir={model_dir}", *map(str, arguments)])
    predict.main(settings)


def answers(text):
    """The probabilities in JSON lines."""
    return [list(json.loads(line)["probabilities"].values()) for line in text.splitlines()]


def texts_in(content, columns, known=()):
    """The texts that are found in a file of this content."""
    reader = text_lines.TextReader("in", columns, known)
    groups = text_lines.read_lines(io.BytesIO(content), "in")
    return [text for lines in groups for text in reader.texts(lines)]


def test_predict_answers_lines_in_order(model_dir, expected, tmp_path, capsys):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    with open(str(source), "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("the king,\nonce", "went"), *PAIRS])
    run(model_dir, f"--input_file={source}", f"--output_file={target}")
    with open(str(target), newline="", encoding="utf-8") as stream:
        head, _, *rows = csv.reader(stream)
    assert head == ["label", *LABELS]
    assert [row[0] for row in rows] == [LABELS[place] for place in expected.argmax(1)]
    np.testing.assert_allclose([[*map(float, row[1:])] for row in rows], expected, atol=1e-5)
    run(model_dir, "--text_a=the king", "--text_b=went home", "--output_format=tsv")
    table = capsys.readouterr().out.splitlines()
    assert [line.split("\t") for line in table] == [head, rows[0]]


@pytest.mark.parametrize(
    "lines, columns, known, expected",
    [
        (JSON, "", [], PAIRS),
        ([f"7\t{b}\tx\t{a}" for a, b in PAIRS], "3,1", [], PAIRS),
        (["", "id\tsecond\tfirst", *(f"7\t{b}\t{a}" for a, b in PAIRS)], "first,second", [], PAIRS),
        ([f"\ufeff{PLAIN[0]}\r", *PLAIN[1:]], "", [], PAIRS),
        # A first line with the names of the training's columns is a header.
        (["text", "a king"], "", ["text"], [("a king",)]),
        (["label\ttext", "yes\ta king"], "", ["text"], [("a king",)]),
        (['{"text": "a", "text_a": "b"}', '{"text_a": "b"}'], "", ["text"], [("a",), ("b",)]),
        (["text", "a king"], "", ["body"], [("text",), ("a king",)]),
    ],
)
def test_text_reader_reads_each_format(lines, columns, known, expected):
    assert texts_in("\n".join(lines).encode("utf-8"), columns, known) == expected


@pytest.mark.parametrize(
    "content, columns, words",
    [
        (b'{"text": "a"}\n', "", "text_a"),
        (b'{"text_a": "a"}\n', "text_a,text_b", "text_b"),
        (b'{"text_a": 7}\n', "", "in:1"),
        (b"a\nb\xff\n", "", "in:2"),
        (b"a\tb\n", "first", "first"),
        (b"a\tb\n", "2", "in:1"),
        (b"a\tb\na\tb\tc\n", "", "in:2"),
        (b'{"text_a": "a"}\n"text_a"\n', "", "in:2"),
        (b'\n{"text_a": "a"}\n \n{"text_a": "a"}\n', "", "in:3"),
        (b"a\tb\tc\n", "1,2,3", "1,2,3"),
    ],
)
def test_text_reader_names_a_wrong_line(content, columns, words):
    with pytest.raises(ValueError, match=words):
        texts_in(content, columns)


def test_read_lines_keeps_the_numbers():
    groups = list(text_lines.read_lines(io.BytesIO(b"x\n" * 10000), "in"))
    assert [line.number for group in groups for line in group] == list(range(1, 10001))


def test_predict_exit_threshold_of_a_regression(tmp_path, caplog, capsys):
    folder = models.write_classifier(tmp_path, labels=(), layers=3)
    caplog.set_level(logging.INFO)
    for threshold, layers in ((1e9, 2), (1e-9, 3)):
        run(folder, "--text_a=the king", "--exit_patience=1", f"--exit_threshold={threshold}")
        assert f"{layers}.00 layers" in caplog.text
        assert "score" in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--text_b=x"], "--text_a"),
        (["--text_a=x", "--input_file=y"], "--input_file"),
        (["--input_file=/nowhere/x"], "/nowhere/x"),
        (["--text_a=x", "--exit_threshold=0.5"], "--exit_patience"),
        (["--input_file={0}/in"], "in:2"),
    ],
)
def test_predict_names_a_wrong_flag(model_dir, tmp_path, arguments, words):
    (tmp_path / "in").write_text("a\tb\na\tb\tc\n", encoding="utf-8")
    arguments = [item.format(tmp_path) for item in arguments]
    with pytest.raises(ValueError, match=words):
        run(model_dir, f"--output_file={tmp_path / 'out'}", *arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.slow
def test_predict_answers_a_pipe_by_line(model_dir, expected):
    """The second line is written only after the answer to the first was read."""
    received = ""
    with subprocess.Popen(
        [sys.executable, "-m", "albert.predict", f"--model_dir={model_dir}"],
        env=dict(os.environ, PYTHONPATH=str(ROOT)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        universal_newlines=True,
    ) as process:
        for line in PLAIN[:2]:
            print(line, file=process.stdin, flush=True)
            received += process.stdout.readline()
        assert process.communicate()[0] == "" and process.returncode == 0
    np.testing.assert_allclose(answers(received), expected[:2], atol=1e-5)
