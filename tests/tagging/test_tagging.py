# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tags of words: files, records, and what the script and a program say."""

import json

import pytest

import albert
from albert import run_tagger
from albert.tagging import run as tagging
from albert.tagging import schemes, sentences
from albert.util import flags as flags_lib
from tests.support import classification_data, parquet_files, squad_data

TAGS = ("B-PER", "I-PER", "O", "S-LOC")
WORDS = ("the", "king", "left", "Rome")
CONLL = "-DOCSTART- O\n\n" + "".join(f"{w} x {t}\n" for w, t in zip(WORDS, TAGS))


def write(path, content):
    path.parent.mkdir(exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return str(path)


def parquet_file(path, names):
    label = {"names": names, "_type": "ClassLabel"}
    numbers = [names.index(tag) for tag in TAGS]
    columns = {"id": ["0"], "tokens": [list(WORDS)], "ner_tags": [numbers]}
    features = {"ner_tags": {"feature": label, "_type": "Sequence"}}
    return parquet_files.write(path, columns, features)


def test_read_each_format(tmp_path):
    line = json.dumps({"tokens": WORDS, "tags": TAGS})
    paths = [
        write(tmp_path / "a.conll", CONLL),
        write(tmp_path / "b.txt", CONLL.replace(" ", "\t") + "\n\n"),
        write(tmp_path / "c.jsonl", line + "\n\n"),
        parquet_file(tmp_path / "d.parquet", sorted(TAGS)),
    ]
    for path in paths:
        ((text, *words_and_tags),) = sentences.read(path)
        assert text == " ".join(WORDS)
        assert [tuple(some) for some in words_and_tags] == [WORDS, TAGS], path
    assert sentences.read(paths[0], 1, 0)[0].tags == WORDS


@pytest.mark.parametrize(
    "name, content, words",
    [
        ("a.conll", "king B-PER\n\nking\n", "line 3"),
        ("a.jsonl", '{"tokens": [], "tags": []}\n{"tags": []}\n', "line 2.*tokens"),
        ("a.jsonl", '{"tokens": ["a"], "tags": []}\n', "line 1.*1 tokens and 0 tags"),
        ("a.jsonl", '{"tokens": ["a"]}\n', "line 1"),
        ("a.jsonl", '{"tokens": ["a\\tb"], "tags": ["O"]}\n', "line 1"),
        ("a.conll", "a O\n\nking\tB\nthe\t\n", "line 4"),
        ("a.conll", "Ana NNP B-PER\nlives VBZ O\nhere O\n. . O\n", "line 3"),
        ("a.tsv", "a\tO\n\nking\tB\nthe\t\n", "line 4"),
        ("a.tsv", "a\tO\n\tB\n", "line 2"),
        ("a.conllu", "1\tGo\tgo\tV\n2\t!\t!\tP\n", "column 0"),
    ],
)
def test_read_names_file_and_line(tmp_path, name, content, words):
    path = write(tmp_path / name, content)
    with pytest.raises(ValueError, match=f"{name}.*{words}"):
        sentences.read(path, 0, 1, needs_tags=True)


@pytest.mark.parametrize("columns", [(0, -1), (0, 0), (-1, 0)])
def test_read_refuses_one_column_for_words_and_tags(tmp_path, columns):
    path = write(tmp_path / "a.conll", "king\nleft\n")
    assert sentences.read(path, *columns)[0].words == ("king", "left")
    with pytest.raises(ValueError, match="a.conll"):
        sentences.read(path, *columns, needs_tags=True)


def test_entities_have_character_offsets():
    text = "He  saw Rome, and 東京."
    assert sentences.of_text(text).words == ["He", "saw", "Rome", ",", "and", "東", "京", "."]
    tags = ["O", "O", "S-LOC", "O", "O", "B-LOC", "E-LOC", "O"]
    entities = schemes.find(tags).entities(tags)
    found = sentences.spans(text, sentences.of_text(text).words, entities)
    assert [(one["type"], one["text"]) for one in found] == [("LOC", "Rome"), ("LOC", "東京")]
    assert all(text[one["start"] : one["end"]] == one["text"] for one in found)


@pytest.mark.parametrize("length", [4, 9, 64])
def test_encode_labels_first_pieces(length):
    flags = run_tagger.Flags(max_seq_length=length)
    task = tagging.TaggingTask(flags, squad_data.sentencepiece(), {"labels": ["O", "B-PER"]})
    words = ["the", "\u200b", *["wonderfulness"] * 5, "king"]
    examples = [sentences.of_words(words, ["O", *["B-PER"] * 7]), sentences.of_words(["a"], None)]
    records = task.encode(examples, False).records
    labels = [number for record in records for number in record["label_ids"] if number]
    assert labels == [1, *[2] * 7, 1]
    assert (len(records) > 2) == (length < 64)
    for record in records:
        assert {len(record[name]) for name in task.sequences} == {length}
        used = record["input_ids"][: sum(record["input_mask"])]
        assert (used[0], used[-1]) == (2, 3)


def f1_of(right, found):
    """The F1 of BIOES tags that are all well formed, by their text."""
    count = [
        [tag[0] in "BS" for tags in side for tag in tags].count(True) for side in (right, found)
    ]
    same = sum(
        a == b for ours, theirs in zip(right, found) for a, b in zip(ours, theirs) if a[0] in "BS"
    )
    return 2 * same / sum(count)


@pytest.mark.slow
def test_tagger_learns_and_predicts(tmp_path):
    rows = ["king B-PER\n", "went O\n", "to O\n", "river S-LOC\n"]
    text = "\n".join("".join((rows * 3)[start:][:6]) for start in (0, 1, 2, 3) * 2)
    for split in ("train", "dev", "test"):
        write(tmp_path / f"my_{split}.conll", text)
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    config = classification_data.write_config(
        tmp_path, hidden_size=32, intermediate_size=64, **no_dropout
    )

    def tag(arguments):
        given = ["--do_predict", *arguments.split()]
        return run_tagger.tag(flags_lib.parse(run_tagger.Flags, given))

    outcome = tag(
        f"""--do_train --do_eval --data_dir={tmp_path} --output_dir={tmp_path}/out
        --albert_config_file={config} --spm_model_file={classification_data.VOCABULARY}
        --max_seq_length=16 --train_batch_size=8 --num_train_epochs=100 --learning_rate=3e-3
        --save_checkpoints_steps=50 --nouse_xla --export_dir={tmp_path}/export"""
    )
    right = [list(one.tags) for one in sentences.read(str(tmp_path / "my_dev.conll"))]
    predictions = tmp_path / "out" / "predictions.conll"
    written = sentences.read(str(predictions))
    found = [list(one.tags) for one in written]
    assert outcome.metrics["f1"] == f1_of(right, found) > 0.9
    # The description beside --checkpoint says the rest, without training data.
    new = tmp_path / "new"
    write(new / "test.conll", text)
    tag(f"--output_dir={new} --data_dir={new} --checkpoint={tmp_path}/out/model.ckpt-best")
    assert (new / "predictions.conll").read_text("utf-8") == predictions.read_text("utf-8")
    with albert.load(str(tmp_path / "out")) as model:
        assert [one.tags for one in model.predict([one.words for one in written])] == found
        tagged = model.tag("king went to river")
    assert tagged.entities == [
        {"type": "PER", "text": "king", "start": 0, "end": 4},
        {"type": "LOC", "text": "river", "start": 13, "end": 18},
    ]
