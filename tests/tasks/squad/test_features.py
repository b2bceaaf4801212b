# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From questions to the model's inputs and back: characters, windows, targets, records."""

import pytest

from albert.data import record_files
from albert.tasks.squad import features as squad_features
from albert.tasks.squad import task as squad_task
from albert.tasks.squad.examples import SquadExample
from albert.training import fine_tuning
from albert.util import flags as flags_lib
from albert.util import parallel
from tests.support.squad_data import sentencepiece, wordpiece

TEN = "a b c d e f g h i j"  # ten tokens of one letter in WordPiece
# Of the question "q ?" and the paragraph "a b c", whose answer is "b c".
LAYOUT = dict(
    line.split(": ", 1)
    for line in """unique_id: 1000000000
example_index: None
doc_span_index: 0
tokens: ['[CLS]', 'q', '?', '[SEP]', 'a', 'b', 'c', '[SEP]']
input_mask: [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
segment_ids: [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]
p_mask: [0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1]
paragraph_len: 8
tok_start_to_orig_index: [0, 2, 4]
tok_end_to_orig_index: [0, 2, 4]
token_is_max_context: {4: True, 5: True, 6: True}
start_position: 5
end_position: 6
is_impossible: False""".splitlines()
)
every_tokenizer = pytest.mark.parametrize(
    "tokenizer", [make(lower) for make in (sentencepiece, wordpiece) for lower in (True, False)]
)


def _convert(examples, *, length=16, stride=4, query=64, training=True, tokenizer=None, **options):
    features = []
    tokenizer = tokenizer or wordpiece()
    lower = options.get("do_lower_case", tokenizer.do_lower_case)
    squad_features.convert_examples_to_features(
        examples, tokenizer, length, stride, query, training, features.append, lower
    )
    return features


def _example(text=TEN, answer="a", asked="q ?", name="q"):
    return SquadExample(name, asked, text, answer, text.index(answer), answers=(answer,))


def _impossible(text=TEN, asked="q ?", name="i"):
    return SquadExample(name, asked, text, "", -1, is_impossible=True)


# ------------------------------------------------------------------------------------- characters


def _shown(tokenizer, text):
    (feature,) = _convert([_impossible(text)], length=512, tokenizer=tokenizer)
    spans = zip(feature.tok_start_to_orig_index, feature.tok_end_to_orig_index)
    return [text[first : last + 1] for first, last in spans]


def test_token_characters_include_leading_space():
    text = "  The old\t\n town,  the  cat"
    shown = _shown(sentencepiece(), text)
    pieces = sentencepiece().encode_with_offsets(text).pieces
    assert "".join(shown) == text
    assert [piece[0] == "▁" for piece in pieces] == [part[0].isspace() for part in shown]
    shown = _shown(wordpiece(), " The  old town")
    assert "".join(shown) == "Theoldtown"


def _covering(tokenizer, text, answer):
    """What the tokens of the answer stand for, as decoding would show it."""
    (feature,) = _convert([_example(text, answer)], length=512, tokenizer=tokenizer)
    offset = min(feature.token_is_max_context)
    first = feature.tok_start_to_orig_index[feature.start_position - offset]
    last = feature.tok_end_to_orig_index[feature.end_position - offset]
    return text[first : last + 1].strip()


@every_tokenizer
@pytest.mark.parametrize(
    "text, answer",
    [
        ("The old town lies by the river.", "river."),
        ("It  is\t\tforty   two\n now ", "forty   two"),
        ("Caf\u00e9 Zo\u00eb sold cr\u00e8me br\u00fbl\u00e9e.", "cr\u00e8me br\u00fbl\u00e9e"),
        ("We say e\u0301te\u0301 in France.", "e\u0301te\u0301"),
        ("We laughed \U0001f600 a lot.", "\U0001f600"),
        ("The flag \U0001f1e9\U0001f1ea and more.", "\U0001f1e9\U0001f1ea"),
        ("He lives in \u5317\u4eac now.", "\u5317\u4eac"),
        ("\u05e9\u05dc\u05d5\u05dd \u05dc\u05da \u05e2\u05d9\u05e8.", "\u05dc\u05da"),
        ("An area of 25\u33a1 there.", "25\u33a1"),
        ("Tests: 1,000,000, 3, and 45, failed.", "1,000,000, 3, and 45,"),
        ("a soft\u00adhyphen b", "soft\u00adhyphen"),
        ("The counterrevolutionaries.", "revolution"),
    ],
)
def test_answer_tokens_cover_the_answer(tokenizer, text, answer):
    shown = _covering(tokenizer, text, answer)
    assert answer in shown
    # A sign that no vocabulary knows may be one token with what it touches.
    more = len("aries") if answer == "revolution" else 1
    assert len(shown) <= len(answer) + more


# ------------------------------------------------------------------------------------ one sequence


def test_convert_lays_out_question_and_paragraph():
    (feature,) = _convert([_example("a b c", "b c")], length=12)
    assert feature.input_ids == wordpiece().convert_tokens_to_ids(feature.tokens) + [0] * 4
    found = vars(feature).items()
    assert {name: str(value) for name, value in found if name != "input_ids"} == LAYOUT


def test_unanswerable_question_points_to_cls():
    (feature,) = _convert([_impossible("a b c")])
    assert (feature.start_position, feature.end_position, feature.is_impossible) == (0, 0, True)
    for example in (_example("a b c", "b"), _impossible("a b c")):
        (feature,) = _convert([example], training=False)
        assert (feature.start_position, feature.end_position) == (None, None)
        assert feature.is_impossible is False and feature.example_index == 0


@pytest.mark.parametrize("text", ["", "  \n", "\u200b"])
def test_paragraph_without_tokens_has_a_window(text):
    (feature,) = _convert([_impossible(text)], training=False)
    assert feature.tokens == ["[CLS]", "q", "?", "[SEP]", "[SEP]"]
    assert feature.token_is_max_context == {}
    assert feature.tok_start_to_orig_index == [] and feature.example_index == 0


def test_long_question_is_cut_at_its_end():
    for asked, shown in (("a b c d e ?", "a b c"), ("", "")):
        (feature,) = _convert([_example("a b", "b", asked)], query=3)
        assert feature.tokens == ["[CLS]", *shown.split(), "[SEP]", "a", "b", "[SEP]"]


# ---------------------------------------------------------------------------------------- windows


def test_long_paragraph_has_overlapping_windows():
    features = _convert([_example(TEN, "a")], length=11, stride=3, training=False)  # 6 tokens fit
    names = ("doc_span_index", "unique_id", "paragraph_len")
    found = [
        ("".join(one.tokens[4:-1]), *(getattr(one, name) for name in names)) for one in features
    ]
    assert found == [
        ("abcdef", 0, 1000000000, 11),
        ("defghi", 1, 1000000001, 11),
        ("ghij", 2, 1000000002, 9),
    ]
    assert features[1].tok_start_to_orig_index == [6, 8, 10, 12, 14, 16]
    assert features[2].tok_end_to_orig_index == [12, 14, 16, 18]
    # "e" has 1 on its shorter side in both; the first window counts. "g" has 2 in the second.
    shown = [
        "".join(one.tokens[n] for n, is_max in one.token_is_max_context.items() if is_max)
        for one in features
    ]
    assert shown == ["abcde", "fgh", "ij"]


@pytest.mark.parametrize(
    "example, impossible",
    [
        (_example(TEN, "e f"), [False, False, True]),  # whole in two windows
        (_example(TEN, "f g"), [True, False, True]),  # cut by the first
        (_example(TEN, TEN), [True] * 3),  # longer than any
        (_impossible(TEN), [True] * 3),
        (_example(f"a \u200b{TEN[1:]}", "\u200b"), [True] * 3),  # has no token
    ],
)
def test_answer_in_several_windows(example, impossible):
    features = _convert([example], length=11, stride=3)
    assert [feature.is_impossible for feature in features] == impossible
    for feature in features:
        start, end = feature.start_position, feature.end_position
        expected = ["[CLS]"] if feature.is_impossible else example.orig_answer_text.split()
        assert feature.tokens[start : end + 1] == expected


@pytest.mark.parametrize(
    "tokens, room, stride, counts",
    # In the last, two windows of lengths so different that a hundredth of them decides.
    [
        (65, 40, 20, [30, 20, 15]),
        (40, 9, 9, [9, 9, 9, 9, 4]),
        (7, 9, 2, [7]),
        (350, 300, 200, [251, 99]),
    ],
)
def test_maximal_context_in_one_window(tokens, room, stride, counts):
    features = _convert([_example("a " * tokens)], length=room + 5, stride=stride)
    assert [sum(feature.token_is_max_context.values()) for feature in features] == counts


# ----------------------------------------------------------------------------------- bad settings


@pytest.mark.parametrize("flags", [{"length": 5}, {"stride": 0}])
def test_convert_refuses_sizes_without_room(flags):
    with pytest.raises(ValueError, match="leaves no room"):
        _convert([_example("a b", "b")], **flags)


def test_convert_keeps_case():
    example = _example("The Town", "Town")
    options = {"length": 32, "tokenizer": sentencepiece()}
    lower, cased = (_convert([example], do_lower_case=value, **options) for value in (True, False))
    assert lower[0].tokens != cased[0].tokens


# ---------------------------------------------------------------------------------------- records


def _write(data, path, *, length=48, stride=16, query=64, training=True, tokenizer=None):
    names = ("output_dir", "train_feature_file", "predict_feature_file")
    flags = flags_lib.make(
        squad_task.SquadV2.flags_class,
        max_seq_length=length,
        doc_stride=stride,
        max_query_length=query,
        **dict.fromkeys(names, str(path)),
    )
    task = squad_task.SquadV2(flags, tokenizer or sentencepiece(), {})
    task.examples = lambda split: data
    return fine_tuning.read_split(task, "train" if training else "predict").records


def _data(count=12):
    """Several questions a paragraph, some of them unanswerable."""
    data = []
    for number in range(count):
        text = f"The king of town {number} " + "lies by the river and " * (number % 5) + "sleeps."
        data += [_example(text, word, name=f"{number}{word}") for word in ("king", "sleeps")]
        data.append(_impossible(text, "who ?", f"{number}"))
    return data


@pytest.mark.slow
@pytest.mark.parametrize("training", [True, False])
def test_records_of_several_processes(training, tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "_WORTH_FORKING", 0)
    data, path = _data(300), tmp_path / "slow"
    writer = squad_features.FeatureWriter(str(path), training)
    options = {"length": 48, "stride": 16, "training": training, "tokenizer": sentencepiece()}
    for feature in _convert(data, **options):
        writer.process_feature(feature)
    assert not path.exists()
    writer.close()
    assert record_files.count_records(str(path)) == writer.num_features
    _write(data, tmp_path / "fast", training=training)
    assert (tmp_path / "fast").read_bytes() == path.read_bytes()


# -------------------------------------------------------------------------------------- the cache


@pytest.mark.parametrize(
    "change",
    [
        {"length": 40},
        {"stride": 12},
        {"query": 3},
        {"training": False},
        {"tokenizer": wordpiece()},
        lambda data: data[:-1],
    ],
)
def test_fingerprint_depends_on(change, tmp_path):
    given = {"data": _data(), "path": tmp_path / "a"}
    first = _write(**given).fingerprint
    given.update({"data": change(given["data"])} if callable(change) else change)
    assert _write(**given).fingerprint != first
