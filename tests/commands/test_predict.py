# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script that answers texts from files, pipes and the command line."""

import csv
import io
import json
import logging
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from albert.commands import embed, fill_mask, predict
from albert.data import text_lines
from albert.models import text_files
from albert.models.flags import TextFlags
from albert.tasks.classification.task import Predictor
from albert.util import UserError
from albert.util import flags as flags_lib
from tests.support import FIXTURES, ROOT, cases, read_json, readers, scripts
from tests.support import fine_tuned_models as models

PAIRS = [("the king", "went home"), ("he had a dog", "once"), ("a", "b"), ("", "nothing")]
PLAIN = ["\t".join(pair) for pair in PAIRS]
ROWS = read_json(FIXTURES / "rows.json")
LABELS = ("no, never", 'so "so"', "yes")


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    return models.write_classifier(tmp_path_factory.mktemp("model"), labels=LABELS)


@pytest.fixture(scope="module")
def expected(model_dir):
    with Predictor(model_dir) as model:
        return model.predict_array(PAIRS)


def run_predict(model_dir, *arguments):
    scripts.run(predict, [f"--model_dir={model_dir}", *map(str, arguments)])


def answers(text):
    """The probabilities in JSON lines."""
    return [list(json.loads(line)["probabilities"].values()) for line in text.splitlines()]


def texts_in(content, columns, known=()):
    """The texts that are found in a file of this content."""
    reader = text_lines.TextReader("in", columns, known)
    groups = text_lines.read_lines(io.BytesIO(content), "in")
    return [row.texts for lines in groups for row in reader.rows(lines)]


def test_predict_answers_lines_in_order(model_dir, expected, tmp_path, capsys):
    source, target = tmp_path / "in.csv", tmp_path / "out.CSV"
    with open(source, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("the king,\nonce", "went"), *PAIRS])
    run_predict(model_dir, f"--input_file={source}", f"--output_file={target}")
    with open(target, newline="", encoding="utf-8") as stream:
        head, _, *rows = csv.reader(stream)
    assert head == ["label", *LABELS]
    assert [row[0] for row in rows] == [LABELS[place] for place in expected.argmax(1)]
    np.testing.assert_allclose([[*map(float, row[1:])] for row in rows], expected, atol=1e-5)
    run_predict(model_dir, "--text_a=the king", "--text_b=went home", "--output_format=tsv")
    assert [line.split("\t") for line in capsys.readouterr().out.splitlines()] == [head, rows[0]]


def write_rows(path):
    """Writes pairs with an ID and a label, in the format that the file's name tells."""
    ids = [7, 8, 9, 10]
    columns = {
        "id": ids if path.suffix == ".parquet" else list(map(str, ids)),
        "label": ["yes", "", 'a "b",\nc', "yes"],
        "first": [pair[0] for pair in PAIRS],
        "second": [pair[1] for pair in PAIRS],
    }
    if path.suffix == ".parquet":
        path.write_bytes(readers.parquet_bytes(columns))
        return
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([columns, *zip(*columns.values())])


@pytest.mark.parametrize("name", ["in.csv", "in.parquet"])
def test_kept_columns_are_copied_into_a_table(name, model_dir, expected, tmp_path):
    write_rows(tmp_path / name)
    arguments = [
        f"--input_file={tmp_path}/{name}",
        "--columns=first,second",
        "--keep_columns=label,id,label",
        "--batch_size=2",
    ]
    with pytest.raises(UserError, match=f"{name}:[34]:"):
        run_predict(model_dir, *arguments, "--output_format=tsv")
    run_predict(model_dir, *arguments, f"--output_file={tmp_path}/out.csv")
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as stream:
        head, *rows = csv.reader(stream)
    assert head == ["label", "id", "predicted_label", *LABELS]
    assert [row[0] for row in rows] == ["yes", "", 'a "b",\nc', "yes"]
    assert [row[1] for row in rows] == ["7", "8", "9", "10"]
    np.testing.assert_allclose([[*map(float, row[3:])] for row in rows], expected, atol=1e-5)


def test_kept_fields_keep_their_json_values(model_dir, tmp_path, capsys):
    lines = [
        '{"predicted_label": 7, "tags": ["é", null], "label": true, "text_a": "a", "text_b": "b"}'
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(lines), encoding="utf-8")
    run_predict(
        model_dir, f"--input_file={tmp_path}/in.jsonl", "--keep_columns=tags,label,predicted_label"
    )
    answer = json.loads(capsys.readouterr().out)
    assert list(answer)[3:] == ["predicted_predicted_label", "probabilities"]
    assert (answer["tags"], answer["label"]) == (["é", None], True)


def test_kept_columns_may_have_numbers(model_dir, tmp_path, capsys):
    (tmp_path / "in").write_text("7\ta\tb\n", encoding="utf-8")
    columns = ("--columns=1,2", "--keep_columns=0", "--output_format=tsv")
    run_predict(model_dir, f"--input_file={tmp_path}/in", *columns)
    head, row = capsys.readouterr().out.splitlines()
    assert head.split("\t")[:2] == ["0", "label"] and row.split("\t")[0] == "7"


@pytest.mark.parametrize("given", ROWS["lines"], ids=lambda given: given["lines"][0])
def test_text_reader_reads_each_format(given):
    content = "\n".join(given["lines"]).encode("utf-8")
    assert list(map(list, texts_in(content, given["columns"], given["known"]))) == given["expected"]


@pytest.mark.parametrize("content, columns, words", ROWS["wrong lines"])
def test_text_reader_names_a_wrong_line(content, columns, words):
    with pytest.raises(ValueError, match=words):
        texts_in(content.encode("latin-1"), columns)


def test_first_line_is_a_header_only_with_all_names(caplog):
    caplog.set_level(logging.INFO)
    for lines in (["None", "hello"], ["0", "1"], ["text", "a vote"], ["body", "label"]):
        content = "\n".join(lines).encode("utf-8")
        assert texts_in(content, "", ("body", "title")) == [(line,) for line in lines]
    assert not caplog.records
    assert texts_in(b"title\tbody\na\tb\n", "", ("body", "title")) == [("b", "a")]
    assert "title, body" in caplog.text


def test_empty_texts_are_counted_and_named(tmp_path, caplog):
    (tmp_path / "in").write_text("a\tb\n\tb\na\t \n", encoding="utf-8")
    assert sum(map(len, text_files.read_texts(TextFlags(input_file=str(tmp_path / "in"))))) == 3
    (record,) = caplog.records
    assert record.args == ("2 empty texts", f"{tmp_path}/in:2, {tmp_path}/in:3")


def test_long_line_is_read_in_linear_time():
    content = b"a" * (1000 << 16) + b"\nbc"
    began = time.process_time()
    groups = list(text_lines.read_lines(io.BytesIO(content), "in"))
    lines = [(line.number, len(line.text)) for group in groups for line in group]
    assert lines == [(1, 1000 << 16), (2, 2)]
    assert time.process_time() - began < 3


def test_predict_exit_threshold_of_a_regression(tmp_path, caplog, capsys):
    folder = models.write_classifier(tmp_path, labels=(), layers=3)
    caplog.set_level(logging.INFO)
    for threshold, layers in ((1e9, 2), (1e-9, 3)):
        run_predict(
            folder, "--text_a=the king", "--exit_patience=1", f"--exit_threshold={threshold}"
        )
        assert f"{layers}.00 layers" in caplog.text
        assert "score" in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "arguments, words",
    cases.table("""
        --text_b=x                      | --text_a
        --text_a=x --input_file=y       | --input_file
        --input_file=/nowhere/x         | /nowhere/x
        --text_a=x --exit_threshold=0.5 | --exit_patience
        --input_file={0}/in             | in:2
        --input_file={0}/in.json --keep_columns=c | in.json:2
        --input_file={0}/in.json --keep_columns=b --output_format=tsv | 1.*2
        --text_a=x --keep_columns=y     | --keep_columns
    """),
)
def test_predict_names_a_wrong_flag(model_dir, tmp_path, arguments, words):
    (tmp_path / "in").write_text("a\tb\na\tb\tc\n", encoding="utf-8")
    row = '{"text_a": "a", "text_b": "b", "b": "1\\n2"%s}\n'
    (tmp_path / "in.json").write_text(row % ', "c": 0' + row % "", encoding="utf-8")
    with pytest.raises(ValueError, match=words):
        run_predict(model_dir, f"--output_file={tmp_path}/out", *arguments.format(tmp_path).split())
    assert {path.name for path in tmp_path.iterdir()} == {"in", "in.json"}


@pytest.mark.parametrize("script", [predict, embed, fill_mask])
def test_output_may_not_replace_the_input(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("in")
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "in").write_text("a", encoding="utf-8")
    model = f"--{'model' if script is predict else 'albert'}_dir=m"

    def parse(source, target):
        flags_lib.parse(script.Flags, [model, f"--input_file={source}", f"--output_file={target}"])

    for source, target in (("in", "./in"), ("link", "in"), ("gs://x", "gs://x")):
        with pytest.raises(UserError, match="--output_file"):
            parse(source, target)
    for source, target in (("-", "-"), ("in", "m/in"), ("m/in", "in")):
        parse(source, target)


@pytest.mark.slow
def test_predict_answers_a_pipe_by_line(model_dir, expected):
    """The second line is written only after the answer to the first was read."""
    received = ""
    with subprocess.Popen(
        [sys.executable, "-m", "albert", "predict", f"--model_dir={model_dir}"],
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
