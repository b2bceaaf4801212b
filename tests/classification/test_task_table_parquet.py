# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Data sets as the hubs keep them, in Parquet files, beside the files of their publishers."""

import json
import pathlib
import sys

import pytest

from albert import tokenization
from albert.classification import features, predictions, tasks
from albert.data import parquet

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
PAIRS = [
    ('He said "the king left.', "The king  left . "),
    ("A bird, \u00e9t\u00e9", "the old man"),
    ("a" * 90, "b c d"),
]
HIDDEN = -1


def tsv(header, *rows):
    lines = ["\t".join(map(str, row)) for row in ([header] if header else []) + list(rows)]
    return "\n".join(lines) + "\n"


def json_lines(*rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def two(names, labels):
    """Columns of pairs and labels on a hub."""
    first, second = zip(*PAIRS)
    return {names[0]: first, names[1]: second, "label": labels, "idx": [0, 1, 2]}


def glue_pair(labels, names=("sentence1", "sentence2")):
    """GLUE's layout of a pair: index, texts, label; without `labels` as in test data."""
    header = ["index", *names, *(["label"] if labels else [])]
    rows = [[n, *pair, *labels[n : n + 1]] for n, pair in enumerate(PAIRS)]
    return tsv(header, *rows)


def mnli(labels):
    header = ["index", *"abcdefg", "sentence1", "sentence2", *(["gold_label"] if labels else [])]
    rows = [[n, *"1234567", *pair, *labels[n : n + 1]] for n, pair in enumerate(PAIRS)]
    return tsv(header, *rows)


MRPC_HEADER = ["Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"]
NLI = ["neutral", "entailment", "contradiction"]
SPANS = {"span1_text": "\u706b\u8f66", "span1_index": 0, "span2_text": "\u5b83", "span2_index": 2}
WSC = [{"text": "\u706b\u8f66\u5b83\u6765", "target": SPANS, "label": x} for x in ("true", "false")]
CMNLI = [
    dict(zip(("sentence1", "sentence2", "label"), (*pair, label)))
    for pair, label in zip(PAIRS, ["neutral", "-", "contradiction"])
]


def columns(rows, **changes):
    return {**{name: [row[name] for row in rows] for name in rows[0]}, **changes}


# Task, split, the publisher's file and its content, the name on a hub, and the columns there. The
# numbers of the labels are those of the hub: nyu-mll/glue, clue/clue, facebook/xnli.
CASES = [
    (
        "mrpc",
        "train",
        "train.tsv",
        "\ufeff" + tsv(MRPC_HEADER, *([1 - n % 2, n, n, *pair] for n, pair in enumerate(PAIRS))),
        "train-00000-of-00001.parquet",
        two(("sentence1", "sentence2"), [1, 0, 1]),
    ),
    (
        "mrpc",
        "test",
        "test.tsv",
        tsv(["index", *MRPC_HEADER[1:]], *([n, n, n, *pair] for n, pair in enumerate(PAIRS))),
        "test-00000-of-00001.parquet",
        two(("sentence1", "sentence2"), [1, 0, 1]),
    ),
    (
        "rte",
        "train",
        "train.tsv",
        glue_pair(["not_entailment", "entailment", "entailment"]),
        "train-00000-of-00001.parquet",
        two(("sentence1", "sentence2"), [1, 0, 0]),
    ),
    (
        "mnli",
        "dev_mismatched",
        "dev_mismatched.tsv",
        mnli(NLI),
        "validation_mismatched-00000-of-00001.parquet",
        two(("premise", "hypothesis"), [1, 0, 2]),
    ),
    (
        "mnli",
        "test_matched",
        "test_matched.tsv",
        mnli([]),
        "test_matched-00000-of-00001.parquet",
        two(("premise", "hypothesis"), [HIDDEN] * 3),
    ),
    (
        "cmnli",
        "train",
        "train.json",
        json_lines(*CMNLI),
        "train-00000-of-00001.parquet",
        columns(CMNLI, label=[0, HIDDEN, 2]),
    ),
    (
        "wsc",
        "train",
        "train.json",
        json_lines(*WSC),
        "train-00000-of-00001.parquet",
        columns(WSC, label=[0, 1]),
    ),
    (
        "xnli",
        "test",
        "test.tsv",
        tsv(("premise", "hypo", "label"), *([*pair, NLI[n]] for n, pair in enumerate(PAIRS))),
        "test-00000-of-00001.parquet",
        two(("premise", "hypothesis"), [1, 0, 2]),
    ),
]


def write(path, content, names=None):
    """`names`: of labels that are numbers, as the library `datasets` writes them."""
    pyarrow = pytest.importorskip("pyarrow")
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        features = {"x": [{"dtype": "int64", "_type": "Value"}]}
        features["label"] = {"names": names, "_type": "ClassLabel"}
        metadata = {"huggingface": json.dumps({"info": {"features": features}})} if names else None
        table = pyarrow.table(content).replace_schema_metadata(metadata)
        pytest.importorskip("pyarrow.parquet").write_table(table, str(path))
    else:
        path.write_text(content, encoding="utf-8")


def records(task, data, path):
    tokenizer = tokenization.FullTokenizer(None, True, str(FIXTURES / "tiny.model"))
    written = features.write_features(
        task,
        data,
        output_file=str(path),
        max_seq_length=24,
        tokenizer=tokenizer,
        num_processes=1,
    )
    return pathlib.Path(written.path).read_bytes()


def ids(case):
    return f"{case[0]} {case[1]}"


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_records_are_the_same_bytes_from_either_file(tmp_path, case):
    name, split, file, text, hub_file, content = case
    task, made, found = tasks.get_task(name), [], []
    for kind, path, value in (("theirs", file, text), ("hub", hub_file, content)):
        write(tmp_path / kind / task.folder.lower() / path, value)
        data = tasks.read_examples(task, str(tmp_path / kind), split)
        found.append([(item.text_a, item.text_b, item.label) for item in data.examples])
        made.append(records(task, data, tmp_path / f"{kind}.tf_record"))
    assert found[0] == found[1] and made[0] == made[1]
    assert tasks.has_split(task, str(tmp_path / "hub"), split)


def test_scores_are_the_numbers_that_were_rounded(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    scores = pyarrow.array([5.0, 3.8, 0.0], pyarrow.float32())
    write(tmp_path / "stsb" / "train.parquet", two(("sentence1", "sentence2"), scores))
    write(tmp_path / "STS" / "test.parquet", two(("sentence1", "sentence2"), [-1.0] * 3))
    task = tasks.get_task("sts-b")
    data = tasks.read_examples(task, str(tmp_path / "stsb"), "train")
    assert [item.label for item in data.examples] == [5.0, 3.8, 0.0]
    data = tasks.read_examples(task, str(tmp_path / "STS"), "test")
    assert [(item.guid, item.label) for item in data.examples] == [
        ("0", None),
        ("1", None),
        ("2", None),
    ]


def test_the_parts_of_a_split_are_read_in_order_and_tsv_comes_first(tmp_path):
    task = tasks.get_task("sst-2")
    for part, text in ((1, "second"), (0, "first")):
        name = f"train-0000{part}-of-00002.parquet"
        write(tmp_path / f"{part}" / name, {"sentence": [text], "label": [part]})
    target = tmp_path / "sst2"
    target.mkdir()
    for path in tmp_path.glob("*/*.parquet"):
        path.rename(target / path.name)
    data = tasks.read_examples(task, str(tmp_path), "train")
    assert [item.text_a for item in data.examples] == ["first", "second"]
    assert [pathlib.Path(path).name[:11] for path in data.files] == ["train-00000", "train-00001"]
    (target / "train.tsv").write_text("sentence\tlabel\nthird\t0\n", encoding="utf-8")
    assert tasks.read_examples(task, str(tmp_path), "train").examples[0].text_a == "third"


@pytest.mark.parametrize(
    "names",
    [
        ["00000-of-00003", "00002-of-00003"],
        ["00000-of-00001", "00000-of-00002", "00001-of-00002"],
        ["00000-of-00001", "00000-of-00001 (1)"],
        ["00000-of-00001", "00000-of-00001-0123456789abcdef"],
        ["00000-of-00001", "more"],
    ],
)
def test_only_the_parts_of_one_table_are_read_together(tmp_path, names):
    for name in names:
        content = two(("sentence1", "sentence2"), [1, 0, 1])
        write(tmp_path / name / "x.parquet", content)
        (tmp_path / name / "x.parquet").rename(tmp_path / f"train-{name}.parquet")
    with pytest.raises(ValueError, match=f"train-{names[-1][:14]}"):
        tasks.read_examples(tasks.get_task("mrpc"), str(tmp_path), "train")
    assert tasks.has_split(tasks.get_task("mrpc"), str(tmp_path), "train")
    (own,) = parquet.parts(str(tmp_path / f"train-{names[0]}.parquet"))
    assert own == str(tmp_path / f"train-{names[0]}.parquet")


def test_labels_may_be_whole_numbers_with_a_point(tmp_path):
    names = ("sentence1", "sentence2")
    write(tmp_path / "mrpc" / "train.parquet", two(names, [1.0, 0.0, 1.0]))
    data = tasks.read_examples(tasks.get_task("mrpc"), str(tmp_path), "train")
    assert [item.label for item in data.examples] == ["1", "0", "1"]
    write(tmp_path / "own" / "train.parquet", {"q": ["a", "b"], "label": [1.0, 0.0]})
    write(tmp_path / "stars" / "train.parquet", {"q": ["a", "b"], "label": [1.0, 2.5]})
    for name, names in (("own", "0,1"), ("stars", "2.5,1.0")):
        own = tasks.custom_task(text_a="q", labels=names, train_file="train.parquet")
        data = tasks.read_examples(own, str(tmp_path / name), "train")
        assert {item.label for item in data.examples} == set(names.split(","))


@pytest.mark.parametrize("label", [-1, -1.0, 2, 0.5])
def test_an_unknown_label_is_named_as_it_stands_with_its_part_and_row(tmp_path, label):
    names = ("sentence1", "sentence2")
    for part, labels in enumerate(([1, 0, 1], [0, label, 1])):
        write(tmp_path / str(part) / "x.parquet", two(names, labels))
        (tmp_path / f"{part}" / "x.parquet").rename(tmp_path / f"train-0000{part}-of-00002.parquet")
    with pytest.raises(
        ValueError, match=rf"train-00001-of-00002.parquet:2: .*{int(label) or label}"
    ):
        tasks.read_examples(tasks.get_task("mrpc"), str(tmp_path), "train")


def test_a_users_own_files_may_be_parquet(tmp_path):
    write(tmp_path / "own" / "mine.parquet", {"q": ["a", "b"], "good": ["yes", "no"]})
    task = tasks.custom_task(text_a="q", label="good", labels="no,yes", train_file="mine.parquet")
    data = tasks.read_examples(task, str(tmp_path / "own"), "train")
    assert [(item.text_a, item.label) for item in data.examples] == [("a", "yes"), ("b", "no")]
    write(tmp_path / "new" / "x.parquet", {"sentence1": ["a"], "sentence2": ["b"], "idx": [7]})
    found = predictions.read_predict_file(
        tasks.get_task("mrpc"), str(tmp_path / "new" / "x.parquet")
    )
    (example,) = found.examples
    assert (example.guid, example.text_a, example.text_b, example.label) == ("7", "a", "b", None)


@pytest.mark.parametrize(
    "names, labels, expected",
    [
        (["neg", "pos"], "pos,neg", ["neg", "pos"]),
        (["neg", "pos"], "0,1", ["0", "1"]),
        (["1", "2", "3"], "1,2,3", ["1", "2"]),
        (["1", "2", "3"], "0,1,2", ["0", "1"]),
        (["1", "0"], "0,1", ["1", "0"]),
        (["neg", "pos"], "regression", [0.0, 1.0]),
        (None, "0,1", ["0", "1"]),
    ],
)
def test_labels_have_the_names_in_the_file_unless_the_tasks_are_numbers(
    tmp_path, names, labels, expected
):
    write(tmp_path / "train.parquet", {"q": ["a", "b"], "label": [0, 1]}, names)
    task = tasks.custom_task(text_a="q", labels=labels)
    data = tasks.read_examples(task, str(tmp_path), "train")
    assert [item.label for item in data.examples] == expected


@pytest.mark.parametrize("name", ["chnsenticorp", "own"])
def test_the_folder_of_a_data_set_of_a_hub_is_read_as_it_is(tmp_path, name):
    names = {"train": "train", "validation": "dev", "test": "test"}
    for there in names:
        file = tmp_path / "data" / f"{there}-00000-of-00001.parquet"
        write(file, {"text": [there, "b"], "label": [0, 1]}, ["negative", "positive"])
    own = tasks.custom_task(text_a="text", labels="negative,positive")
    task = own if name == "own" else tasks.get_task(name)
    for there, split in names.items():
        assert tasks.has_split(task, str(tmp_path), split)
        data = tasks.read_examples(task, str(tmp_path), split)
        assert [item.text_a for item in data.examples] == [there, "b"]
        assert [item.label for item in data.examples] == list(task.labels)


def test_without_pyarrow_only_parquet_files_are_refused(tmp_path, monkeypatch):
    (tmp_path / "train.tsv").write_text("sentence\tlabel\nthird\t0\n", encoding="utf-8")
    (tmp_path / "validation.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    task = tasks.get_task("sst-2")
    assert tasks.read_examples(task, str(tmp_path), "train").examples
    with pytest.raises(ValueError, match="validation.parquet.*pip install"):
        tasks.read_examples(task, str(tmp_path), "dev")


def test_what_is_no_parquet_file_is_named(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "validation.parquet"
    for content in (b"", b"text", b"PAR1" * 9):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="validation.parquet"):
            list(parquet.read_rows(str(path)))
