# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script that answers texts from files, pipes and the command line."""

import io
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from albert import predict, predictor
from albert.util import flags as flags_lib
from albert.util import text_lines
from tests.support import fine_tuned_models as models

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAIRS = [("the king", "went home"), ("he had a dog", "once"), ("a", "b"), ("", "nothing")]


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    return models.write_classifier(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def expected(model_dir):
    with predictor.Predictor(model_dir) as model:
        return model.predict_array(PAIRS)


def run(model_dir, *arguments):
    settings = flags_lib.parse(
        predict.define_flags, [f"--model_dir={model_dir}", *map(str, arguments)]
    )
    return predict.predict(settings)


def answers(text):
    """The probabilities in JSON lines."""
    lines = [json.loads(line) for line in text.splitlines()]
    return [list(line["probabilities"].values()) for line in lines]


def write(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.slow
def test_every_line_of_a_tab_separated_file_is_answered_in_order(model_dir, expected, tmp_path):
    source = write(tmp_path / "in.tsv", ["\t".join(pair) for pair in PAIRS])
    target = tmp_path / "out.jsonl"
    count = run(model_dir, f"--input_file={source}", f"--output_file={target}")
    text = target.read_text(encoding="utf-8")
    assert count == len(PAIRS)
    np.testing.assert_allclose(answers(text), expected, atol=1e-5)
    assert json.loads(text.splitlines()[0])["label"] in ("no", "maybe", "yes")


@pytest.mark.parametrize(
    "lines, columns",
    [
        ([json.dumps({"text_a": a, "text_b": b, "id": 7}) for a, b in PAIRS], ""),
        ([json.dumps({"first": a, "second": b}) for a, b in PAIRS], "first,second"),
        ([f"7\t{b}\tx\t{a}" for a, b in PAIRS], "3,1"),
        (["id\tsecond\tfirst"] + [f"7\t{b}\t{a}" for a, b in PAIRS], "first,second"),
        (["", " \r"] + [json.dumps({"text_a": a, "text_b": b}) for a, b in PAIRS] + ["", ""], ""),
        (["", "id\tsecond\tfirst"] + [f"7\t{b}\t{a}" for a, b in PAIRS] + [""], "first,second"),
        (["\ufeff" + "\t".join(PAIRS[0]) + "\r"] + ["\t".join(pair) for pair in PAIRS[1:]], ""),
    ],
    ids=["json", "json-named", "numbers", "header", "blank-json", "blank-header", "mark"],
)
def test_texts_are_found_in_each_kind_of_line(model_dir, expected, tmp_path, lines, columns):
    source = write(tmp_path / "in", lines)
    target = tmp_path / "out.jsonl"
    run(model_dir, f"--input_file={source}", f"--output_file={target}", f"--columns={columns}")
    np.testing.assert_allclose(answers(target.read_text(encoding="utf-8")), expected, atol=1e-5)


def test_tsv_output_names_its_columns(model_dir, expected, tmp_path, capsys):
    source = write(tmp_path / "in.tsv", ["\t".join(pair) for pair in PAIRS])
    run(model_dir, f"--input_file={source}", "--output_format=tsv")
    head, *lines = capsys.readouterr().out.splitlines()
    assert head == "label\tno\tmaybe\tyes"
    values = [[float(cell) for cell in line.split("\t")[1:]] for line in lines]
    np.testing.assert_allclose(values, expected, atol=1e-5)


def test_a_text_on_the_command_line_is_answered(model_dir, expected, capsys):
    run(model_dir, f"--text_a={PAIRS[0][0]}", f"--text_b={PAIRS[0][1]}")
    np.testing.assert_allclose(answers(capsys.readouterr().out), expected[:1], atol=1e-5)


@pytest.mark.slow
def test_a_regressor_answers_with_scores(tmp_path, capsys):
    folder = models.write_classifier(tmp_path, labels=())
    run(folder, "--text_a=the king")
    run(folder, "--text_a=the king", "--output_format=tsv")
    first, head, second = capsys.readouterr().out.splitlines()
    assert list(json.loads(first)) == ["score"] and head == "score"
    assert json.loads(first)["score"] == pytest.approx(float(second))


def test_an_error_leaves_no_output_file(model_dir, tmp_path):
    source = write(tmp_path / "in", ["a\tb", "a\tb\tc"])
    with pytest.raises(ValueError, match="in:2: the line has 3 columns"):
        run(model_dir, f"--input_file={source}", f"--output_file={tmp_path / 'out'}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "content, columns, words",
    [
        (b'{"text": "a"}\n', "", "needs texts named text_a and text_b; it has text"),
        (b'{"text_a": "a"}\n', "text_a,text_b", "needs texts named text_a and text_b"),
        (b'{"text_a": 7}\n', "", "needs texts"),
        (b'{"text_a": "a"}\n{"text_a"\n', "", "in:2: not a JSON object"),
        (b"a\nb\xff\n", "", "in:2: the line is not UTF-8"),
        (b"a\tb\n", "first", "no column is named first; there are a, b"),
        (b"a\tb\n", "2", "in:1: the line has 2 columns"),
        (b'{"text_a": "a"}\n5\n', "", "in:2: not a JSON object, as others are, but 5"),
        (b'{"text_a": "a"}\nnull\n', "", "in:2: not a JSON object, as others are, but null"),
        (b'{"text_a": "a"}\n[1]\n', "", r"in:2: not a JSON object, as others are, but \[1\]"),
        (
            b'{"text_a": "a"}\n"text_a"\n',
            "",
            'in:2: not a JSON object, as others are, but "text_a"',
        ),
        (b"\na\tb\n\n\t\na\tb\n", "", "in:3: the line is blank, though others follow"),
        (b'\n{"text_a": "a"}\n \n{"text_a": "a"}\n', "", "in:3: the line is blank"),
        (b"a\tb\n", "\u00b2", "no column is named \u00b2; there are a, b"),
    ],
)
def test_lines_without_texts_are_named(model_dir, tmp_path, content, columns, words):
    source = tmp_path / "in"
    source.write_bytes(content)
    with pytest.raises(ValueError, match=words):
        run(model_dir, f"--input_file={source}", f"--columns={columns}")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--text_b=x"], "give --text_a too"),
        (["--text_a=x", "--input_file=y"], "not both"),
        (["--input_file=/nowhere/x"], "/nowhere/x was not found"),
        (["--text_a=x", "--columns=1,2,3"], "more than two"),
    ],
)
def test_flags_that_contradict_are_refused(model_dir, arguments, words):
    with pytest.raises(ValueError, match=words):
        run(model_dir, *arguments)


def test_lines_that_have_come_are_answered_together_and_the_first_at_once():
    groups = list(text_lines.read_lines(io.BytesIO(b"x\n" * 10000), "in"))
    numbers = [line.number for group in groups for line in group]
    assert numbers == list(range(1, 10001))
    assert max(map(len, groups)) <= 4096


@pytest.mark.slow
def test_a_pipe_is_answered_line_by_line(model_dir, expected):
    """The second line is written only after the answer to the first was read."""
    command = [sys.executable, "-m", "albert.predict", f"--model_dir={model_dir}"]
    environment = dict(os.environ, PYTHONPATH=str(ROOT), TF_CPP_MIN_LOG_LEVEL="3")
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        universal_newlines=True,
    )
    received = []
    for pair in PAIRS[:2]:
        process.stdin.write("\t".join(pair) + "\n")
        process.stdin.flush()
        received.append(process.stdout.readline())
    rest, _ = process.communicate()
    assert process.returncode == 0 and rest == ""
    np.testing.assert_allclose(answers("".join(received)), expected[:2], atol=1e-5)
