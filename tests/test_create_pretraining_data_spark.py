# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The script create_pretraining_data_spark, with Spark's workers on this machine."""

import gzip
import json
import shutil

import pytest
import tensorflow.compat.v1 as tf

from albert import create_pretraining_data, create_pretraining_data_spark
from tests.support import FIXTURES, ROOT, damaged_files, processes, read_json, scripts

SMALL = f"""--vocab_file={FIXTURES}/wordpiece_vocab.txt --max_seq_length=32 --dupe_factor=2
    --max_predictions_per_seq=5 --input_file_mode=rb"""
needs_java = pytest.mark.skipif(
    not shutil.which("java"), reason="Spark needs Java: apt-get install default-jre-headless"
)


def run(script, text, output, more=""):
    scripts.run(script, f"--input_file={text} --output_file={output} {SMALL} {more}")


def records_in(folder):
    paths = sorted(map(str, folder.glob("a*-of-*")) or [f"{folder}/a"])
    return [one for path in paths for one in tf.python_io.tf_record_iterator(path)]


@pytest.fixture
def text(tmp_path):
    """A folder of plain, compressed and JSON files with bad lines, beside what is no text."""
    folder = tmp_path / "text"
    (folder / "below").mkdir(parents=True)
    corpus = (FIXTURES / "corpus.txt").read_bytes()
    (folder / "a.txt").write_bytes(corpus + b"\n\nb\xe9ta beta.\nThe sea.\n")
    (folder / "below" / "b.txt.gz").write_bytes(gzip.compress(corpus))
    lines = [json.dumps({"text": "The clock was old.\nThe bell rang."}), '{"no": 1}', ""]
    (folder / "c.jsonl").write_text("\n".join(lines * 3))
    (folder / "d.model").write_bytes(b"\xff" * 9999)
    return folder


@pytest.mark.slow
@needs_java
def test_records_equal_one_machine(text, tmp_path, caplog, monkeypatch, capfd):
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    run(create_pretraining_data, text, tmp_path / "one" / "a")
    run(create_pretraining_data_spark, text, tmp_path / "a", "--num_shards=3 --master=local[2]")
    made = records_in(tmp_path)
    assert len(made) > 200 and sorted(made) == sorted(
        tf.python_io.tf_record_iterator(f"{tmp_path}/one/a")
    )
    counts = read_json(tmp_path / "a.counts.json")["counts"]
    assert (counts["documents"], counts["bad_lines"], counts["bad_documents"]) == (34, 1, 3)
    assert counts["instances"] == len(made)
    caplog.set_level("INFO", logger="albert")
    run(create_pretraining_data_spark, text, tmp_path / "a", "--num_shards=3")
    assert "Nothing to do" in caplog.text
    damaged_files.replace_silently(text / "a.txt", b"the", b"one")
    run(create_pretraining_data_spark, text, tmp_path / "a", "--num_shards=3")
    assert caplog.text.count("Nothing to do") == 1 and records_in(tmp_path) != made
    (text / "a.txt").write_bytes(b"\xff\n" * 99)
    with pytest.raises(ValueError, match="^--input_file: 99 of "):
        run(create_pretraining_data_spark, text / "*.txt", tmp_path / "b", "--input_file_mode=r")
    # Java's log of what is no error.
    assert "FileStreamSink" not in capfd.readouterr().err
    (text / "below" / "b.txt.gz").write_bytes(b"no gzip")
    with pytest.raises(ValueError, match="^'.*b.txt.gz' "):
        run(create_pretraining_data_spark, text, tmp_path / "b")
    assert not list(tmp_path.glob("b*-of-*"))
    with pytest.raises(ValueError, match="gone"):
        run(create_pretraining_data_spark, tmp_path / "gone", tmp_path / "c")


@pytest.mark.parametrize(
    "prelude, named",
    [
        ("sys.modules['pyspark'] = None", "pip install 'albert-tf[spark]'"),
        ("import os; os.environ.update(PATH='', JAVA_HOME='')", "Java"),
    ],
)
@pytest.mark.slow
def test_missing_spark_or_java_is_named(prelude, named, tmp_path):
    arguments = f"--input_file=a --output_file={tmp_path}/b {SMALL}".split()
    done = processes.run_script("create_pretraining_data_spark", *arguments, prelude=prelude)
    assert done.returncode == 1 and named in done.stderr.decode().splitlines()[-1]
