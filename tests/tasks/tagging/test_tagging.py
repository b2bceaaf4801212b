# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tags of words: files, records, and what the script and a program say."""

import json

import numpy as np
import pytest

import albert
from albert import run_tagger
from albert.data import split_files
from albert.tasks.tagging import examples as tagging_examples
from albert.tasks.tagging import schemes
from albert.tasks.tagging import task as tagging_task
from albert.training import metrics
from albert.util import UserError
from albert.util import flags as flags_lib
from tests.support import cases, classification_data, parquet_files, squad_data

TAGS = ("B-PER", "I-PER", "O", "S-LOC")
WORDS = ("the", "king", "left", "Rome")
CONLL = "-DOCSTART- O\n\n" + "".join(f"{w} x {t}\n" for w, t in zip(WORDS, TAGS))


def write(path, content):
    path.parent.mkdir(exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return str(path)


def parquet_file(path, names, column="ner_tags", numbers=None):
    label = {"feature": {"names": names, "_type": "ClassLabel"}, "_type": "Sequence"}
    numbers = numbers or [names.index(tag) for tag in TAGS]
    columns = {"id": ["0"], "tokens": [list(WORDS)], column: [numbers]}
    answers = {"feature": {"text": {"_type": "Value"}}, "_type": "Sequence"}  # a structure
    return parquet_files.write(path, columns, {column: label, "answers": answers})


def test_read_each_format(tmp_path):
    line = json.dumps({"tokens": WORDS, "tags": TAGS})
    paths = [
        write(tmp_path / "a.conll", CONLL),
        write(tmp_path / "b.txt", CONLL.replace(" ", "\t") + "\n\n"),
        write(tmp_path / "c.JSONL", line + "\n\n"),
        parquet_file(tmp_path / "d.parquet", sorted(TAGS)),
    ]
    for path in paths:
        ((text, words, tags, where),) = tagging_examples.read(path)
        assert text == " ".join(WORDS) and path in where
        assert (tuple(words), tuple(tags)) == (WORDS, TAGS), path
    assert tagging_examples.read(paths[0], 1, 0)[0].tags == WORDS


@pytest.mark.parametrize(
    "name, content, words",
    [
        ("a.conll", "king B-PER\n\nking\n", ":3"),
        ("a.jsonl", '{"tokens": [], "tags": []}\n{"tags": []}\n', ":2.*tokens"),
        ("a.jsonl", '{"tokens": ["a"], "tags": []}\n', ":1.*1 tokens and 0 tags"),
        ("a.jsonl", '{"tokens": ["a"]}\n', "'a'"),
        ("a.jsonl", '{"tokens": ["a\\tb"], "tags": ["O"]}\n', ":1"),
        ("a.txt", "king O\n\na\rb O\n", ":3"),
        ("a.conll", "Ana NNP B-PER\nlives VBZ O\nhere O\n. . O\n", ":3"),
        ("a.tsv", "a\tO\n\nking\tB\nthe\t\n", "'king the'"),
        ("a.tsv", "a\tO\n\tB\n", ":2"),
        ("a.conllu", "1\tGo\tgo\tV\n2\t!\t!\tP\n", "column 0"),
    ],
)
def test_read_names_file_and_line(tmp_path, name, content, words):
    path = write(tmp_path / name, content)
    with pytest.raises(ValueError, match=f"{name}.*{words}"):
        tagging_examples.read(path, 0, 1, needs_tags=True)


GERMEVAL = """#\thttp://example.org/a [2001-02-03]
1\tThe\tO\tO
2\tOslo\tB-ORG\tB-LOC
3\t#\tO\tO

# a comment
1\tRome\tB-LOC\tO
"""
CONLL_U = """# text = Vamos al mar
1\tVamos\tir\tVERB
2-3\tal\t_\t_
2\ta\ta\tADP
3\tel\tel\tDET
4.1\t_\t_\t_
"""


@pytest.mark.parametrize(
    "content, columns, expected",
    [
        (GERMEVAL, (1, 2), "The/O Oslo/B-ORG #/O | Rome/B-LOC"),
        (CONLL_U, (1, 3), "Vamos/VERB a/ADP el/DET"),
        ("# a comment\there\n3.5 O\n1990-1995 O\n# O\n", (0, -1), "3.5/O 1990-1995/O #/O"),
        ("1 O\n4.1 O\n", (0, -1), "1/O 4.1/O"),
        ("a\u00a0b B\n\n\u3000 O\n", (0, -1), "a\u00a0b/B | \u3000/O"),
        ("a\u00a0b\tB\n\t\n\u3000\tO\n", (0, -1), "a\u00a0b/B | \u3000/O"),
        ("New York\tB\r\n \t \r\n Rome\tB\r\n", (0, 1), "New York/B | Rome/B"),
        ("-DOCSTART- -X- O O\n\na\tB\n-DOCSTART-\nb\tB\n", (0, 1), "a/B | b/B"),
        ("# O\n# O\n", (0, 1), "#/O #/O"),
        ("id\tForm\tx\tPOS\n1\ta\tx\tB\n", (1, 3), "a/B"),
        ("word words\n\ntext B\n", (0, 1), "word/words | text/B"),
        ("a neg\nwords pos\n\ntext pos\n", (0, 1), "a/neg words/pos | text/pos"),
        ("", (0, 1), ""),
    ],
)
def test_read_takes_words_alone(content, columns, expected, tmp_path):
    found = tagging_examples.read(write(tmp_path / "a.bio", content), *columns, needs_tags=True)
    lines = [[f"{word}/{tag}" for word, tag in zip(words, tags)] for _, words, tags, _ in found]
    assert " | ".join(map(" ".join, lines)) == expected


def test_test_data_may_lack_the_column_of_tags(tmp_path):
    path = write(tmp_path / "a.tsv", "1\tking\n2\tleft\n")
    assert tagging_examples.read(path, 1, 2)[0].words == ("king", "left")
    with pytest.raises(ValueError, match="a.tsv"):
        tagging_examples.read(path, 1, 2, needs_tags=True)


@pytest.mark.parametrize("column", ["tags", "ner_tags", "labels"])
def test_numbered_tags_are_named_or_refused(column, tmp_path):
    names = ["O", "B-PER"]
    good = parquet_file(tmp_path / "a.parquet", names, column, [0, 1, 1, 0])
    assert tagging_examples.read(good, needs_tags=True)[0].tags == ["O", "B-PER", "B-PER", "O"]
    for number in (-2, 2):
        wrong = parquet_file(tmp_path / "b.parquet", names, column, [0, 1, number, 0])
        with pytest.raises(ValueError, match=f"b.parquet:1: {column}"):
            tagging_examples.read(wrong)
    none = parquet_file(tmp_path / "c.parquet", names, column, [-1] * 4)
    assert tagging_examples.read(none)[0].tags == [""] * 4
    with pytest.raises(ValueError, match="c.parquet"):
        tagging_examples.read(none, needs_tags=True)


@pytest.mark.parametrize(
    "names, expected",
    cases.table("""
        my_train.txt dev.conllu test contest.txt latest.conll | my_train.txt dev.conllu test
        eng.train eng.testa eng.testb train.md | eng.train eng.testa eng.testb
        train.bmes validation.iob test.tsv .train.txt | train.bmes validation.iob test.tsv
        train-0-of-1.parquet x-valid.bio Test.json | train-0-of-1.parquet x-valid.bio Test.json
    """),
)
def test_find_takes_whole_words_of_names(names, expected, tmp_path):
    (tmp_path / "train").mkdir()
    for name in names.split():
        write(tmp_path / name, "")
    paths = [
        split_files.find(run_tagger.Flags(data_dir=str(tmp_path)), split, tagging_examples.ENDINGS)
        for split in ("train", "dev", "test")
    ]
    assert paths == [[f"{tmp_path}/{name}"] for name in expected.split()]


@pytest.mark.parametrize("name, split", [("train_dev.txt", "dev"), ("contest.txt", "test")])
def test_find_refuses_doubtful_names(name, split, tmp_path):
    write(tmp_path / name, "")
    with pytest.raises(ValueError, match=f"--{split}_file"):
        split_files.find(run_tagger.Flags(data_dir=str(tmp_path)), split, tagging_examples.ENDINGS)


def test_flags_name_the_files_and_the_log_too(tmp_path, caplog):
    for name, tag in (("train_dev.txt", "B-PER"), ("a.txt", "I-PER"), ("b.txt", "PER")):
        write(tmp_path / name, f"Ana {tag}\n")
    flags = run_tagger.Flags(
        data_dir=str(tmp_path), do_train=True, train_file="train_dev.txt", dev_file="a.txt"
    )
    caplog.set_level("INFO", "albert")
    task = tagging_task.TaggingTask(flags, None, {})
    assert task.examples("dev")[0].tags == ("I-PER",)
    assert all(text in caplog.text for text in ("train_dev.txt", "a.txt", "BIO"))
    assert task.describe()["tag_scheme"] == "BIO"
    other = tagging_task.TaggingTask(flags.replace(dev_file="b.txt"), None, {})
    with pytest.raises(ValueError, match="b.txt.*'PER'"):
        other.examples("dev")
    plain = tagging_task.TaggingTask(flags, None, {"labels": ["O", "B-PER"], "tag_scheme": "plain"})
    assert plain.scheme.entities(["B-PER"]) == [("B-PER", 0, 0)]


def test_tag_that_fits_no_scheme_is_named_with_its_line(tmp_path):
    write(tmp_path / "train.tsv", "# x\nWort\tArt\nAna\tB-PER\n\nAna\tB-PER\n")
    flags = run_tagger.Flags(data_dir=str(tmp_path), do_train=True)
    with pytest.raises(UserError, match="train.tsv:2.*'Art'"):
        tagging_task.TaggingTask(flags, None, {})


@pytest.mark.parametrize("word", ["", " ", "\t", "a\nb"])
def test_list_with_a_word_that_is_none_is_refused(word):
    task = tagging_task.TaggingTask(run_tagger.Flags(), None, {"labels": ["O", "B-PER"]})
    assert task.parse(["a", "\u3000"]).words == ["a", "\u3000"]
    with pytest.raises(UserError):
        task.parse(["a", word])


@pytest.mark.parametrize(
    "text, words",
    [
        ("मैं दिल्ली में रहता हूँ।", "मैं|दिल्ली|में|रहता|हूँ|।"),
        ("น้ำ ที่กรุงเทพ", "น้ำ|ที่กรุงเทพ"),
        ("Scho\u0308nes Mu\u0308nchen!", "Scho\u0308nes|Mu\u0308nchen|!"),
        ("שָׁלוֹם, مَكتَبَة", "שָׁלוֹם|,|مَكتَبَة"),
        ("क्\u200dष नी\u200cम !\u0301", "क्\u200dष|नी\u200cम|!\u0301"),
        ("👩\u200d💻 ❤\ufe0f👍🏽", "👩\u200d💻|❤\ufe0f|👍🏽"),
        ("He left the U.S. for 3.14, 1,000.", "He|left|the|U.S.|for|3.14|,|1,000|."),
        ("O'Brien’s 'U.S.A', J. Smith.", "O'Brien’s|'|U.S.A|'|,|J|.|Smith|."),
        ("in B.Big 3.5. A1. 東京́x", "in|B|.|Big|3.5|.|A1|.|東|京\u0301|x"),
        ("\u0301a", "\u0301|a"),
    ],
)
def test_words_keep_their_marks(text, words):
    assert list(tagging_examples.of_text(text).words) == words.split("|")


@pytest.mark.parametrize("columns", [(0, -1), (0, 0), (-1, 0)])
def test_read_refuses_one_column_for_words_and_tags(tmp_path, columns):
    path = write(tmp_path / "a.conll", "king\nleft\n")
    assert tagging_examples.read(path, *columns)[0].words == ("king", "left")
    with pytest.raises(ValueError, match="a.conll"):
        tagging_examples.read(path, *columns, needs_tags=True)


def test_entities_have_character_offsets():
    text = "He  saw Rome, and 東京."
    assert tagging_examples.of_text(text).words == [
        "He",
        "saw",
        "Rome",
        ",",
        "and",
        "東",
        "京",
        ".",
    ]
    tags = ["O", "O", "S-LOC", "O", "O", "B-LOC", "E-LOC", "O"]
    entities = schemes.find(tags).entities(tags)
    found = tagging_examples.spans(text, tagging_examples.of_text(text).words, entities)
    assert [(one["type"], one["text"]) for one in found] == [("LOC", "Rome"), ("LOC", "東京")]
    assert all(text[one["start"] : one["end"]] == one["text"] for one in found)


@pytest.mark.parametrize("length", [4, 9, 64])
def test_encode_labels_first_pieces(length):
    flags = run_tagger.Flags(max_seq_length=length)
    task = tagging_task.TaggingTask(flags, squad_data.sentencepiece(), {"labels": ["O", "B-PER"]})
    words = ["the", "\u200b", *["wonderfulness"] * 5, "king"]
    examples = [
        tagging_examples.of_words(words, ["O", *["B-PER"] * 7]),
        tagging_examples.of_words(["a"], None),
    ]
    records = task.encode(examples, False).records
    labels = np.array(records["label_ids"])
    assert labels[labels > 0].tolist() == [1, *[2] * 7, 1]
    assert (len(labels) > 2) == (length < 64)
    assert {np.shape(records[name])[1] for name in task.sequences} == {length}
    for ids, mask in zip(records["input_ids"], records["input_mask"]):
        assert (ids[0], ids[sum(mask) - 1]) == (2, 3)


def f1_of(right, found):
    """The F1 of BIOES tags that are all well formed, by their text."""
    count = [
        [tag[0] in "BS" for tags in side for tag in tags].count(True) for side in (right, found)
    ]
    same = sum(
        a == b for ours, theirs in zip(right, found) for a, b in zip(ours, theirs) if a[0] in "BS"
    )
    return 2 * same / sum(count)


def run_tagging(arguments):
    return run_tagger.tag(flags_lib.parse(run_tagger.Flags, arguments.split()))


@pytest.mark.slow
def test_tagger_learns_and_predicts(tmp_path):
    rows = ["king B-PER\n", "went O\n", "to O\n", "river S-LOC\n"]
    text = "\n".join("".join((rows * 3)[start:][:6]) for start in (0, 1, 2, 3) * 2)
    for split in ("train", "dev", "test"):
        write(tmp_path / f"my_{split}.conll", text)
    config = classification_data.write_config(
        tmp_path, hidden_size=32, intermediate_size=64, **classification_data.NO_DROPOUT
    )

    outcome = run_tagging(
        f"""--do_train --do_eval --do_predict --data_dir={tmp_path} --output_dir={tmp_path}/out
        --albert_config_file={config} --spm_model_file={classification_data.VOCABULARY}
        --max_seq_length=16 --train_batch_size=8 --num_train_epochs=100 --learning_rate=3e-3
        --save_checkpoints_steps=50 --nouse_xla --export_dir={tmp_path}/export"""
    )
    right = [list(one.tags) for one in tagging_examples.read(f"{tmp_path}/my_dev.conll")]
    predictions = tmp_path / "out" / "predictions.conll"
    written = tagging_examples.read(str(predictions))
    found = [list(one.tags) for one in written]
    assert outcome.metrics["f1"] == f1_of(right, found) > 0.9
    # The description beside --checkpoint says the rest, without training data.
    new = tmp_path / "new"
    write(new / "test.conll", text)
    checkpoint = tmp_path / "out" / "model.ckpt-best"
    run_tagging(f"--do_predict --output_dir={new} --data_dir={new} --checkpoint={checkpoint}")
    assert (new / "predictions.conll").read_text("utf-8") == predictions.read_text("utf-8")
    with albert.load(f"{tmp_path}/out") as model:
        assert [one.tags for one in model.predict([one.words for one in written])] == found
        tagged = model.tag("king went to river")
    assert tagged.entities == [
        {"type": "PER", "text": "king", "start": 0, "end": 4},
        {"type": "LOC", "text": "river", "start": 13, "end": 18},
    ]


def tagging_outputs(task, tags, length):
    """The examples and outputs of a model that prefers these tags, and then O."""
    sentences = [tagging_examples.of_words(["king"] * len(one), one) for one in tags]
    label_ids = np.array(task.encode(sentences, False).records["label_ids"])
    logits = np.zeros([*label_ids.shape, len(task.labels)], np.float32)
    logits[..., 0] = 0.5
    logits[label_ids > 0, label_ids[label_ids > 0] - 1] = 1
    return sentences, {
        "label_ids": label_ids,
        "predictions": logits.argmax(axis=-1),
        "logits": logits[:, :length],
    }


def test_only_invalid_sequences_change(tmp_path):
    labels = {"labels": ["O", "B-PER", "I-PER"], "valid_tags": True}
    tags = [["B-PER", "I-PER", "O"], ["O", "I-PER", "O"], ["I-PER"] * 5, ["B-PER", "I-PER"] * 2]
    for valid_tags in (True, False):
        flags = run_tagger.Flags(max_seq_length=4, valid_tags=valid_tags)  # parts of two words
        task = tagging_task.TaggingTask(flags, squad_data.sentencepiece(), labels)
        sentences, outputs = tagging_outputs(task, tags, 4)
        found = [one.tags for one in task.decode(sentences, outputs)]
        assert found[0] == tags[0] and found[3] == tags[3]
        assert (found == tags) != valid_tags
        assert found[1] == (["O"] * 3 if valid_tags else tags[1])
        assert found[2][1:] == tags[2][1:] and (found[2][0] == "B-PER") == valid_tags
        _, predicted = task.label_pairs(sentences, outputs)
        assert [task.labels[number] for number in predicted] == sum(found, [])
        decoding = {"tag_scheme": "BIO", "valid_tags": valid_tags}
        assert task.decoding() == decoding and decoding.items() <= task.describe().items()


def test_training_data_decide_whether_tags_are_valid_unless_a_flag_does(tmp_path):
    descriptions = [{"labels": ["O", "B-PER", "I-PER"]}]  # an older model's: its data may be IOB1
    for text in ("a I-PER\nb B-PER\n\na I-PER\n", "a B-PER\nb I-PER\n"):
        write(tmp_path / "train.conll", text)
        flags = run_tagger.Flags(data_dir=str(tmp_path), do_train=True)
        descriptions.append(tagging_task.TaggingTask(flags, None, {}).describe())
    are_valid = [[], [], []]
    for values in ({}, {"valid_tags": True}, {"valid_tags": False}):
        flags = flags_lib.make(run_tagger.Flags, do_train=False, output_dir="a", **values)
        for answers, description in zip(are_valid, descriptions):
            decoding = tagging_task.TaggingTask(flags, None, description).decoding()
            answers.append(decoding["valid_tags"])
    assert are_valid == [[False, True, False], [False, True, False], [True, True, False]]


def test_label_pairs_are_those_of_words():
    outputs = {
        "predictions": np.array([[1, 0], [1, 1]]),
        "label_ids": np.array([[0, 1, 0], [2, 1, 0]]),
    }
    assert [numbers.tolist() for numbers in metrics.label_pairs(outputs)] == [[0, 1, 0], [0, 1, 1]]


@pytest.mark.slow
def test_tagger_that_finds_no_entity_is_warned_of(tmp_path, caplog):
    text = ("the O\n" * 9 + "king B-PER\n\n") * 8
    for split in ("train", "dev"):
        write(tmp_path / f"{split}.conll", text)
    config = classification_data.write_config(tmp_path)
    outcome = run_tagging(
        f"""--do_train --do_eval --data_dir={tmp_path} --output_dir={tmp_path}/out
        --albert_config_file={config} --spm_model_file={classification_data.VOCABULARY}
        --max_seq_length=16 --train_batch_size=8 --num_train_epochs=8 --learning_rate=1e-3
        --save_checkpoints_steps=8 --nouse_xla"""
    )
    warnings = [record.args for record in caplog.records if record.levelname == "WARNING"]
    assert outcome.metrics["f1"] == 0 and ("O", 1e-3) in warnings
