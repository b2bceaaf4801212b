# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From questions to the model's inputs: windows, targets, records, and what decoding needs."""

import copy
import logging
import os
import pickle

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.data import batches as input_pipeline
from albert.squad import features as squad_features
from albert.squad import windows as squad_windows
from albert.squad.examples import SquadData, SquadExample, read_dataset
from tests.support.shared import needs_shared, shared_path
from tests.support.squad_data import (
    answered,
    paragraph,
    question,
    sentencepiece,
    wordpiece,
    write_squad,
)

TEN = "a b c d e f g h i j"  # ten pieces of one letter in WordPiece


def _convert(examples, *, length=16, stride=4, query=64, training=True, tokenizer=None, **options):
    features = []
    tokenizer = tokenizer or wordpiece()
    squad_features.convert_examples_to_features(
        examples,
        tokenizer,
        length,
        stride,
        query,
        training,
        features.append,
        options.get("do_lower_case", tokenizer.do_lower_case),
    )
    return features


def _example(text=TEN, answer="a", asked="q ?", name="q", start=None):
    start = text.index(answer) if start is None else start
    return SquadExample(name, asked, text, answer, start, answers=[answer])


def _impossible(text=TEN, asked="q ?", name="i"):
    return SquadExample(name, asked, text, "", -1, is_impossible=True)


def _learnt(feature):
    """What stands where the answer is said to be."""
    return feature.tokens[feature.start_position : feature.end_position + 1]


# ------------------------------------------------------------------------------------ one sequence


def test_a_sequence_is_the_question_and_the_paragraph_padded():
    (feature,) = _convert([_example("a b c", "b c")], length=12)
    tokens = ["[CLS]", "q", "?", "[SEP]", "a", "b", "c", "[SEP]"]
    assert feature.tokens == tokens
    ids = wordpiece().convert_tokens_to_ids(tokens)
    assert feature.input_ids == ids + [0] * 4
    assert feature.input_mask == [1] * 8 + [0] * 4
    assert feature.segment_ids == [0] * 4 + [1] * 4 + [0] * 4
    assert feature.p_mask == [0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1]
    assert feature.paragraph_len == 8
    assert feature.tok_start_to_orig_index == [0, 2, 4]
    assert feature.tok_end_to_orig_index == [0, 2, 4]
    assert feature.token_is_max_context == {4: True, 5: True, 6: True}
    assert (feature.start_position, feature.end_position, feature.is_impossible) == (5, 6, False)
    assert (feature.unique_id, feature.doc_span_index) == (1000000000, 0)


@pytest.mark.parametrize("tokenizer", [sentencepiece, wordpiece])
def test_an_answer_at_the_very_start_and_at_the_very_end_is_found(tokenizer):
    text = "the old town"
    first, last, whole = _convert(
        [_example(text, "the"), _example(text, "town"), _example(text, text)],
        length=24,
        tokenizer=tokenizer(),
    )
    begin, end = first.tokens.index("[SEP]") + 1, last.paragraph_len - 2
    assert (first.start_position, last.end_position) == (begin, end)
    assert (whole.start_position, whole.end_position) == (begin, end)


def test_an_unanswerable_question_has_its_answer_at_the_first_position():
    (feature,) = _convert([_impossible("a b c")])
    assert (feature.start_position, feature.end_position, feature.is_impossible) == (0, 0, True)


def test_for_prediction_nothing_is_said_of_answers():
    for example in (_example("a b c", "b"), _impossible("a b c")):
        (feature,) = _convert([example], training=False)
        assert (feature.start_position, feature.end_position) == (None, None)
        assert feature.is_impossible is False
        assert feature.example_index == 0


def test_training_features_do_not_say_which_example_they_are_of():
    assert _convert([_example("a b c", "b")])[0].example_index is None


def test_an_empty_question_has_its_mark():
    (feature,) = _convert([_example("a b", "b", asked="")])
    assert feature.tokens == ["[CLS]", "[SEP]", "a", "b", "[SEP]"]
    assert _learnt(feature) == ["b"]


@pytest.mark.parametrize("text", ["", "  \n", "\u200b"])
def test_a_paragraph_without_pieces_still_has_its_window(text):
    (feature,) = _convert([_impossible(text)])
    assert feature.tokens == ["[CLS]", "q", "?", "[SEP]", "[SEP]"]
    assert feature.token_is_max_context == {}
    windows = squad_features.windows_of([feature], 16)
    assert (windows.start_chars == -1).all()


def test_an_answer_that_leaves_no_piece_is_learnt_as_none(tmp_path):
    text = "a \u200b b"
    (feature,) = _convert([_example(text, "\u200b")])
    assert (feature.start_position, feature.end_position, feature.is_impossible) == (0, 0, True)
    data = SquadData([_example(text, "\u200b")], "", [])
    notes = _write(data, tmp_path / "a", tokenizer=wordpiece()).records.notes
    assert notes["answer that no piece stands for"] == 1


def test_a_long_question_is_cut_at_its_end(tmp_path):
    example = _example("a b", "b", asked="a b c d e ?")
    (feature,) = _convert([example], query=3)
    assert feature.tokens == ["[CLS]", "a", "b", "c", "[SEP]", "a", "b", "[SEP]"]
    data = SquadData([example], "", [])
    built = _write(data, tmp_path / "a", query=3, tokenizer=wordpiece())
    assert built.records.notes["question cut to 3 pieces"] == 1


@pytest.mark.parametrize("tokenizer", [sentencepiece, wordpiece])
@pytest.mark.parametrize(
    "text, answer",
    [
        ("It  is\t forty   two\n now ", "forty   two"),
        ("cre\u0300me bru\u0302le\u0301e now", "bru\u0302le\u0301e"),
        ("so \U0001f600 we", "\U0001f600"),
        ("in \u5317\u4eac now", "\u5317\u4eac"),
        ("\u05e9\u05dc\u05d5\u05dd \u05dc\u05da \u05e2\u05d9\u05e8", "\u05dc\u05da"),
    ],
)
def test_the_answer_learnt_is_the_answer_in_all_kinds_of_text(tokenizer, text, answer):
    (feature,) = _convert([_example(text, answer)], length=48, tokenizer=tokenizer())
    offset = min(feature.token_is_max_context)
    first = feature.tok_start_to_orig_index[feature.start_position - offset]
    last = feature.tok_end_to_orig_index[feature.end_position - offset]
    assert text[first : last + 1].strip() == answer


# ---------------------------------------------------------------------------------------- windows


def _pieces(feature):
    return "".join(feature.tokens[4:-1])


def test_a_long_paragraph_is_cut_into_windows_that_overlap():
    features = _convert([_example(TEN, "a")], length=11, stride=3)  # 6 pieces fit
    assert [_pieces(feature) for feature in features] == ["abcdef", "defghi", "ghij"]
    assert [feature.doc_span_index for feature in features] == [0, 1, 2]
    assert [feature.unique_id - 1000000000 for feature in features] == [0, 1, 2]
    assert [feature.tok_start_to_orig_index[0] for feature in features] == [0, 6, 12]
    assert [feature.paragraph_len for feature in features] == [11, 11, 9]


def test_a_stride_beyond_a_window_leaves_nothing_out():
    features = _convert([_example(TEN, "a")], length=9, stride=100)  # 4 pieces fit
    assert [_pieces(feature) for feature in features] == ["abcd", "efgh", "ij"]


def test_a_window_of_one_piece_is_the_least():
    features = _convert([_example("a b c", "b")], length=6, stride=1)
    assert [_pieces(feature) for feature in features] == ["a", "b", "c"]
    assert [feature.is_impossible for feature in features] == [True, False, True]


def test_an_answer_is_learnt_in_every_window_that_holds_it_whole():
    features = _convert([_example(TEN, "e f")], length=11, stride=3)
    assert [feature.is_impossible for feature in features] == [False, False, True]
    assert [_learnt(feature) for feature in features[:2]] == [["e", "f"], ["e", "f"]]
    assert (features[2].start_position, features[2].end_position) == (0, 0)


def test_an_answer_cut_by_a_window_is_not_learnt_there():
    features = _convert([_example(TEN, "f g")], length=11, stride=3)
    assert [feature.is_impossible for feature in features] == [True, False, True]
    assert _learnt(features[1]) == ["f", "g"]


def test_an_answer_longer_than_any_window_is_counted(tmp_path):
    example = _example(TEN, TEN)
    features = _convert([example], length=11, stride=3)
    assert [feature.is_impossible for feature in features] == [True] * 3
    built = _write(
        SquadData([example], "", []), tmp_path / "a", length=11, stride=3, tokenizer=wordpiece()
    )
    assert built.records.notes["answer that no window holds whole"] == 1
    assert built.records.notes["paragraph longer than a window"] == 1


def test_every_window_of_an_unanswerable_question_is_impossible():
    features = _convert([_impossible(TEN)], length=11, stride=3)
    assert [feature.is_impossible for feature in features] == [True] * 3


def test_a_piece_counts_where_it_has_the_most_around_it():
    features = _convert([_example(TEN, "a")], length=11, stride=3)
    shown = [
        "".join(
            feature.tokens[place] for place, flag in feature.token_is_max_context.items() if flag
        )
        for feature in features
    ]
    # "e" has 1 on its shorter side in both; the first window counts. "g" has 2 in the second.
    assert shown == ["abcde", "fgh", "ij"]


def _plain_max_context(windows):
    """The rule of the public run_squad.py word for word, piece by piece."""
    flags = []
    for number, (first, count) in enumerate(windows):
        flags.append([])
        for piece in range(first, first + count):
            scores = [
                min(piece - start, start + length - 1 - piece) + 0.01 * length
                if start <= piece < start + length
                else None
                for start, length in windows
            ]
            best = max(score for score in scores if score is not None)
            flags[-1].append(scores.index(best) == number)
    return flags


@pytest.mark.parametrize(
    "pieces, room, stride",
    # In the last, two windows of lengths so different that a hundredth of them decides.
    [(50, 10, 3), (65, 40, 20), (40, 9, 9), (7, 9, 2), (350, 300, 200)],
)
def test_maximal_context_equals_a_search_piece_by_piece(pieces, room, stride):
    text = " ".join("abcdefghij"[n % 10] for n in range(pieces))
    features = _convert([_example(text, "a")], length=room + 5, stride=stride)
    windows = [
        (feature.tok_start_to_orig_index[0] // 2, len(feature.tok_start_to_orig_index))
        for feature in features
    ]
    flags = [list(feature.token_is_max_context.values()) for feature in features]
    assert flags == _plain_max_context(windows)
    assert sum(map(sum, flags)) == pieces


def test_a_paragraph_much_longer_than_any_window_is_no_trouble(tmp_path):
    text = "the old town lies by the river . " * 3000
    data = SquadData([_example(text, "river", start=text.rindex("river"))], "", [])
    built = _write(data, tmp_path / "a", length=64, stride=16, training=False)
    windows = built.windows
    assert built.records.count == len(windows.unique_ids) > 1000
    assert windows.end_chars.max() == len(text.rstrip()) - 1
    assert windows.is_max_context.sum() == len(sentencepiece().tokenize_text(text))


# ----------------------------------------------------------------------------------- bad settings


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"length": 3}, "max_seq_length is 3; .* at least 4"),
        ({"stride": 0}, "doc_stride is 0; .* at least 1"),
        ({"query": -1}, "max_query_length is -1"),
        ({"length": 5}, "A question of 2 pieces leaves no place for its paragraph in 5. Lower"),
    ],
)
def test_numbers_that_leave_no_place_are_refused(settings, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        _convert([_example("a b", "b")], **settings)
    data = SquadData([_example("a b", "b")], "", [])
    with pytest.raises(ValueError, match=message):
        _write(data, tmp_path / "a", tokenizer=wordpiece(), **settings)
    assert os.listdir(str(tmp_path)) == []


def test_a_vocabulary_without_the_marks_is_refused(tmp_path):
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("[UNK]\na\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"lacks \[CLS\], \[SEP\]"):
        _convert([_example()], tokenizer=tokenization.FullTokenizer(str(vocabulary), True))


def test_sentencepiece_keeps_case_if_asked_to_and_wordpiece_if_made_to():
    example = _example("The Town", "Town")
    lower, cased = (
        _convert([example], length=32, tokenizer=sentencepiece(), do_lower_case=value)[0].tokens
        for value in (True, False)
    )
    assert lower != cased
    assert sentencepiece().do_lower_case
    with pytest.raises(ValueError, match="do_lower_case is False, but the tokenizer was made with"):
        _convert([example], do_lower_case=False)
    assert "[UNK]" in _convert([example], tokenizer=wordpiece(False))[0].tokens


# ---------------------------------------------------------------------------------------- records


def _write(data, path, *, length=48, stride=16, query=64, training=True, **options):
    options.setdefault("tokenizer", sentencepiece())
    return squad_features.write_features(
        data,
        output_file=str(path),
        max_seq_length=length,
        doc_stride=stride,
        max_query_length=query,
        is_training=training,
        **options,
    )


def _data(folder, count=12):
    """A real file, with several questions a paragraph, some of them unanswerable."""
    paragraphs = []
    for number in range(count):
        text = f"The king of town {number} " + "lies by the river and " * (number % 5) + "sleeps."
        questions = [answered(f"{number}a", text, "king"), answered(f"{number}b", text, "sleeps")]
        questions.append(question(f"{number}c", "who ?", is_impossible=True))
        paragraphs.append(paragraph(text, *questions))
    return read_dataset(write_squad(folder, paragraphs), is_training=True)


def _records(path):
    return list(tf.python_io.tf_record_iterator(str(path)))


def _as_the_slow_way_writes(data, path, *, length=48, stride=16, training=True):
    writer = squad_features.FeatureWriter(str(path), training)
    squad_features.convert_examples_to_features(
        data.examples, sentencepiece(), length, stride, 64, training, writer.process_feature, True
    )
    writer.close()
    assert writer.num_features == len(_records(path))
    return path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("training", [True, False])
def test_records_are_the_same_bytes_for_any_number_of_processes_and_either_way(training, tmp_path):
    data = _data(tmp_path)
    contents = {_as_the_slow_way_writes(data, tmp_path / "slow", training=training)}
    for processes in (1, 2, 3):
        path = tmp_path / str(processes)
        _write(data, path, training=training, num_processes=processes)
        contents.add(path.read_bytes())
    assert len(contents) == 1


def test_windows_are_numbered_on_across_the_chunks_that_features_are_made_in(monkeypatch, tmp_path):
    data = _data(tmp_path)
    whole = _convert(data.examples, length=32, tokenizer=sentencepiece(), training=False)
    monkeypatch.setattr(squad_features, "_CHUNK_EXAMPLES", 5)
    parts = _convert(data.examples, length=32, tokenizer=sentencepiece(), training=False)
    assert [vars(feature) for feature in parts] == [vars(feature) for feature in whole]
    assert [f.unique_id for f in whole] == list(range(1000000000, 1000000000 + len(whole)))


@pytest.mark.parametrize("training", [True, False])
def test_the_declaration_parses_what_was_written(training, tmp_path):
    data = _data(tmp_path)
    built = _write(data, tmp_path / "a", training=training)
    spec = squad_features.feature_spec(48, training)
    spec.check_file(built.records.path)
    with tf.Graph().as_default(), tf.Session() as session:
        parsed = session.run(spec.parse_batch(tf.constant(_records(built.records.path))))
    features = _convert(
        data.examples, length=48, stride=16, training=training, tokenizer=sentencepiece()
    )
    names = {"unique_ids": "unique_id", "start_positions": "start_position"}
    names["end_positions"] = "end_position"
    assert ("is_impossible" in parsed) is training
    for name, values in parsed.items():
        assert values.dtype == np.int32
        expected = [getattr(feature, names.get(name, name)) for feature in features]
        np.testing.assert_array_equal(values, np.array(expected, np.int32), err_msg=name)


def test_a_file_that_is_not_closed_does_not_appear(tmp_path):
    writer = squad_features.FeatureWriter(str(tmp_path / "a"), True)
    writer.process_feature(_convert([_example()], length=32)[0])
    assert not (tmp_path / "a").exists()
    writer.close()
    assert input_pipeline.count_records(str(tmp_path / "a")) == 1


# ---------------------------------------------------------------------------------------- the cache


def _never(*_, **__):
    raise AssertionError("nothing needs to be tokenised")


def test_features_are_made_once_and_keep_their_names(tmp_path, monkeypatch):
    data = _data(tmp_path)
    files = {"left_file": str(tmp_path / "left"), "training": False}
    first = _write(data, tmp_path / "records", **files)
    assert (first.records.path, first.records.was_current) == (str(tmp_path / "records"), False)
    monkeypatch.setattr(squad_features.squad_alignment, "encode_questions", _never)
    again = _write(data, tmp_path / "records", **files)
    assert (again.records.was_current, again.records.count) == (True, first.records.count)
    for before, after in zip(first.windows, again.windows):
        np.testing.assert_array_equal(before, after)


def test_training_needs_no_windows(tmp_path):
    built = _write(_data(tmp_path), tmp_path / "a", left_file=str(tmp_path / "left"))
    assert built.windows is None
    assert not (tmp_path / "left").exists()


def _shorter(data):
    return data._replace(examples=data.examples[:-1])


def _other_answer(data):
    examples = list(data.examples)
    examples[0] = _example(examples[0].paragraph_text, "The", asked=examples[0].question_text)
    return data._replace(examples=examples)


def _other_paragraphs(data):
    examples = [copy.copy(example) for example in data.examples]
    for example in examples:
        example.paragraph_text += "!"
    return data._replace(examples=examples)


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"length": 40}, "max_seq_length was 48 and is 40"),
        ({"stride": 12}, "doc_stride was 16 and is 12"),
        ({"query": 3}, "max_query_length was 64 and is 3"),
        ({"training": False}, "is_training was true and is false"),
        ({"tokenizer": wordpiece}, "tokenizer was"),
        ({"tokenizer": lambda: sentencepiece(False)}, "tokenizer was"),
        ({"data": _shorter}, "examples was"),
        ({"data": _other_answer}, "examples was"),
        ({"data": _other_paragraphs}, "examples was"),
    ],
)
def test_whatever_decides_the_features_rebuilds_them_with_one_line(
    change, reason, tmp_path, caplog
):
    data = _data(tmp_path)
    _write(data, tmp_path / "a")
    change = dict(change)
    data = change.pop("data", lambda same: same)(data)
    if "tokenizer" in change:
        change["tokenizer"] = change["tokenizer"]()
    with caplog.at_level(logging.INFO):
        assert not _write(data, tmp_path / "a", **change).records.was_current
        assert _write(data, tmp_path / "a", **change).records.was_current
    place = f"creating {tmp_path / 'a'},"  # and not what lies beside it
    (line,) = [line for line in caplog.messages if place in line]
    assert line.startswith(f"a: creating {tmp_path / 'a'}, because ")
    assert reason in line


def test_a_changed_source_file_rebuilds(tmp_path, caplog):
    data = _data(tmp_path)
    _write(data, tmp_path / "a")
    with open(data.path, "a", encoding="utf-8") as stream:
        stream.write("\n")
    with caplog.at_level(logging.INFO):
        assert not _write(data, tmp_path / "a").records.was_current
    assert "the content of squad.json changed" in caplog.text


@pytest.mark.parametrize("damage", ["missing", "pickle", "cut off", "stale"])
def test_windows_that_cannot_be_used_are_made_again_and_the_records_stay(damage, tmp_path, caplog):
    data, left = _data(tmp_path), tmp_path / "left"
    settings = {"left_file": str(left), "training": False}
    first = _write(data, tmp_path / "records", **settings)
    whole = left.read_bytes()
    if damage == "missing":
        left.unlink()
    elif damage == "pickle":
        left.write_bytes(pickle.dumps(["features of another program"]))
    elif damage == "cut off":
        left.write_bytes(whole[: len(whole) // 2])
    else:
        squad_windows.save_windows(str(left), first.windows, {"max_seq_length": 1})
    with caplog.at_level(logging.INFO):
        again = _write(data, tmp_path / "records", **settings)
    assert again.records.was_current
    assert left.read_bytes() == whole
    assert sum(f"creating {left}, because" in line for line in caplog.messages) == 1
    for before, after in zip(first.windows, again.windows):
        np.testing.assert_array_equal(before, after)


def test_windows_lie_beside_the_records_unless_a_file_is_named_for_them(tmp_path):
    data = _data(tmp_path)
    settings = {"training": False, "exact_path": False}
    first, again = (_write(data, tmp_path / "a.tf_record", **settings) for _ in range(2))
    assert again.records.was_current and first.records.path != str(tmp_path / "a.tf_record")
    for before, after in zip(first.windows, again.windows):
        np.testing.assert_array_equal(before, after)
    assert os.path.exists(f"{first.records.path}.windows.npz")


def test_no_questions_make_no_windows(tmp_path):
    built = _write(SquadData([], "", []), tmp_path / "a", training=False)
    assert built.records.count == 0
    assert built.windows.start_chars.shape == (0, 48)


def test_a_number_of_processes_below_one_is_refused(tmp_path):
    with pytest.raises(ValueError, match="num_processes is 0"):
        _write(_data(tmp_path), tmp_path / "a", num_processes=0)


# ------------------------------------------------------------------------------ what decoding needs


@pytest.mark.parametrize("tokenizer", [sentencepiece, wordpiece])
def test_windows_are_those_of_the_features(tokenizer, tmp_path):
    data, tokenizer = _data(tmp_path), tokenizer()
    built = _write(data, tmp_path / "a", length=32, training=False, tokenizer=tokenizer)
    features = _convert(data.examples, length=32, stride=16, training=False, tokenizer=tokenizer)
    assert built.records.count == len(features) > len(data.examples)
    for name, fast, slow in zip(
        squad_features.Windows._fields, built.windows, squad_features.windows_of(features, 32)
    ):
        assert fast.dtype == slow.dtype
        np.testing.assert_array_equal(fast, slow, err_msg=name)


def test_windows_say_which_characters_each_position_stands_for():
    features = _convert([_example(TEN, "a")], length=11, stride=3, training=False)
    windows = squad_features.windows_of(features, 11)
    assert windows.unique_ids.tolist() == [1000000000, 1000000001, 1000000002]
    assert windows.example_index.tolist() == [0, 0, 0]
    assert windows.start_chars[1].tolist() == [-1] * 4 + [6, 8, 10, 12, 14, 16, -1]
    assert windows.end_chars[2].tolist() == [-1] * 4 + [12, 14, 16, 18] + [-1] * 3
    assert windows.is_max_context[1].tolist() == [False] * 6 + [True] * 3 + [False] * 2


def test_windows_of_training_features_belong_to_no_example():
    windows = squad_features.windows_of(_convert([_example()]), 16)
    assert set(windows.example_index.tolist()) == {-1}


# ------------------------------------------------------------------------------- other languages


@needs_shared
@pytest.mark.parametrize("vocabulary", ["zh_vocab.txt", "uncased_vocab.txt"])
def test_chinese_paragraphs_have_their_answers_where_they_are(vocabulary):
    tokenizer = tokenization.FullTokenizer(str(shared_path(f"data/wordpiece/{vocabulary}")), True)
    data = read_dataset(str(shared_path("data/squad/xquad.zh.json")), is_training=True)
    data = data._replace(examples=data.examples[:100])
    features = _convert(data.examples, length=384, stride=128, tokenizer=tokenizer)
    held = [feature for feature in features if not feature.is_impossible]
    assert len(held) >= 100
    expected = {
        "".join(tokenizer.tokenize(example.orig_answer_text)).replace("##", "")
        for example in data.examples
    }
    assert {"".join(_learnt(feature)).replace("##", "") for feature in held} == expected
