# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script create_pretraining_data_spark, with Spark's workers on this machine."""

import functools
import gzip
import json
import pathlib
import shutil

import pytest

from albert import create_pretraining_data
from albert.commands import create_pretraining_data_spark
from tests.support import FIXTURES, ROOT, damaged_files, processes, read_json, scripts
from tests.support.pretraining_records import records_in

pytestmark = pytest.mark.slow

SMALL = f"""--vocab_file={FIXTURES}/wordpiece_vocab.txt --max_seq_length=32 --dupe_factor=2
    --max_predictions_per_seq=5 --input_file_mode=rb"""
needs_java = pytest.mark.skipif(
    not shutil.which("java"), reason="Spark needs Java: apt-get install default-jre-headless"
)


def run(script, text, output, more=""):
    scripts.run(script, f"--input_file={text} --output_file={output} {SMALL} {more}")


def shards(folder):
    return records_in(*sorted(folder.glob("a-*-of-*")))


@pytest.fixture(autouse=True, scope="module")
def _environment():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYTHONPATH", str(ROOT))
        yield


run_spark = functools.partial(run, create_pretraining_data_spark)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with `text`, plain, compressed and JSON files with bad lines, and its records."""
    folder = tmp_path_factory.mktemp("made")
    text = folder / "text"
    (text / "below").mkdir(parents=True)
    corpus = (FIXTURES / "corpus.txt").read_bytes()
    (text / "a.txt").write_bytes(corpus + b"\n\nb\xe9ta beta.\nThe sea.\n")
    (text / "below" / "b.txt.gz").write_bytes(gzip.compress(corpus))
    lines = [json.dumps({"text": "The clock was old.\nThe bell rang."}), '{"no": 1}', ""]
    (text / "c.jsonl").write_text("\n".join(lines * 3))
    (text / "d.model").write_bytes(b"\xff" * 9999)  # is no text
    run_spark(text, folder / "a", "--num_shards=3 --master=local[2]")
    return folder


@needs_java
def test_records_equal_one_machine(made, tmp_path):
    run(create_pretraining_data, made / "text", tmp_path / "a")
    assert len(shards(made)) > 200
    assert sorted(shards(made)) == sorted(records_in(tmp_path / "a"))


@needs_java
def test_bad_lines_are_counted(made):
    counts = read_json(made / "a.counts.json")["counts"]
    assert (counts["documents"], counts["bad_lines"], counts["bad_documents"]) == (34, 1, 3)
    assert counts["instances"] == len(shards(made))


@needs_java
def test_second_start_does_nothing(made, caplog):
    caplog.set_level("INFO", logger="albert")
    run_spark(made / "text", made / "a", "--num_shards=3")
    assert "Nothing to do" in caplog.text


@needs_java
def test_changed_text_of_equal_size_and_time_is_read_again(tmp_path):
    text = pathlib.Path(shutil.copy(FIXTURES / "corpus.txt", tmp_path / "text.txt"))
    run_spark(text, tmp_path / "a")
    before = shards(tmp_path)
    damaged_files.replace_silently(text, b"the", b"one")
    run_spark(text, tmp_path / "a")
    assert shards(tmp_path) != before


@needs_java
@pytest.mark.parametrize(
    "name, content, flags, named",
    [
        ("a.txt", b"\xff\n" * 99, "--input_file_mode=r", "^--input_file: 99 of "),
        ("b.txt.gz", b"no gzip", "", "^'.*b.txt.gz' "),
        ("gone", None, "", "gone"),
    ],
)
def test_text_that_cannot_be_read_is_named(tmp_path, capfd, name, content, flags, named):
    if content:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=named):
        run_spark(tmp_path / name, tmp_path / "b", flags)
    assert not list(tmp_path.glob("b-*-of-*"))
    # Java's log of what is no error.
    assert "FileStreamSink" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "prelude, named",
    [
        ("sys.modules['pyspark'] = None", "pip install 'albert-tf[spark]'"),
        ("import os; os.environ.update(PATH='', JAVA_HOME='')", "Java"),
    ],
)
def test_missing_spark_or_java_is_named(prelude, named, tmp_path):
    arguments = f"--input_file=a --output_file={tmp_path}/b {SMALL}".split()
    done = processes.run_script("create_pretraining_data_spark", *arguments, prelude=prelude)
    assert done.returncode == 1 and named in done.stderr.decode().splitlines()[-1]
