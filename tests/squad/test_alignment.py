# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Which characters a piece stands for, in all kinds of text, and which pieces cover an answer."""

import random

import pytest

from albert import tokenization
from albert.squad import alignment as squad_alignment
from albert.squad.alignment import Span
from albert.squad.examples import SquadExample
from tests.support.shared import needs_shared, shared_path
from tests.support.squad_data import sentencepiece, wordpiece

TOKENIZERS = {
    "SentencePiece": sentencepiece,
    "SentencePiece, cased": lambda: sentencepiece(False),
    "WordPiece": wordpiece,
    "WordPiece, cased": lambda: wordpiece(False),
}
every_tokenizer = pytest.mark.parametrize("name", list(TOKENIZERS))


def _align(tokenizer, text):
    return squad_alignment.align(text, tokenizer.encode_with_offsets(text))


def _covering(tokenizer, text, answer):
    """What the pieces of the answer stand for, as decoding would show it."""
    start = text.index(answer)
    encoding = tokenizer.encode_with_offsets(text)
    span = squad_alignment.pieces_of(Span(start, start + len(answer) - 1), encoding)
    aligned = squad_alignment.align(text, encoding)
    return text[aligned.starts[span.first] : aligned.lasts[span.last] + 1].strip()


# --------------------------------------------------------------------------------- characters


def test_a_piece_for_a_space_begins_with_all_the_white_space_before_it():
    text = "  The old\t\n town,  the  cat"
    aligned = _align(sentencepiece(), text)
    pieces = sentencepiece().encode_with_offsets(text).pieces
    shown = [text[first : last + 1] for first, last in zip(aligned.starts, aligned.lasts)]
    assert "".join(shown) == text
    assert [piece[0] == "▁" for piece in pieces] == [part[0].isspace() for part in shown]


def test_a_piece_of_wordpiece_begins_with_its_first_letter():
    text = " The  old town"
    aligned = _align(wordpiece(), text)
    shown = [text[first : last + 1] for first, last in zip(aligned.starts, aligned.lasts)]
    assert all(part == part.strip() for part in shown)
    assert "".join(shown) == "Theoldtown"


def test_an_underline_that_stands_for_nothing_has_the_character_behind_it():
    text = "\u4e2d town"
    pieces = sentencepiece().encode_with_offsets(text).pieces
    assert pieces[0] == "▁"
    aligned = _align(sentencepiece(), text)
    assert (aligned.starts[0], aligned.lasts[0]) == (0, 0)
    assert (aligned.starts[1], aligned.lasts[1]) == (0, 0)


def test_marks_belong_to_the_letter_before_them():
    text = "e\u0301te\u0301 town"
    for tokenizer in (sentencepiece(), wordpiece()):
        aligned = _align(tokenizer, text)
        assert 1 in aligned.lasts
        assert 4 in aligned.lasts
        assert not {0, 3} & set(aligned.lasts[aligned.starts < aligned.lasts])


SIGNS = "é e\u0301 ñ ½ ㎡ ﬁ № 中 文 한 ा क ש ל م ר 😀 🇩🇪 👩\u200d👧 ¨ ´ ㌀ İ ß Å ﷺ 1,000 2,"
ALPHABET = [
    *"abcdefgh  \t\n ,.1290$()'\"",
    *SIGNS.split(" "),
    *"\u200b\ufeff\xad\xa0\u3000\u0301\u2028\x00\ufffd",
]


@every_tokenizer
def test_any_text_is_aligned_in_order_and_within_its_bounds(name):
    tokenizer = TOKENIZERS[name]()
    numbers = random.Random(1)
    for _ in range(500):
        text = "".join(numbers.choices(ALPHABET, k=numbers.randrange(30)))
        aligned = _align(tokenizer, text)
        starts, lasts = aligned.starts.tolist(), aligned.lasts.tolist()
        assert len(starts) == len(lasts) == len(aligned.ids)
        assert starts == sorted(starts), repr(text)
        assert lasts == sorted(lasts), repr(text)
        assert all(0 <= first <= last < len(text) for first, last in zip(starts, lasts)), text


# ------------------------------------------------------------------------------------ answers

ANSWERS = [
    ("The old town lies by the river.", "The"),
    ("The old town lies by the river.", "river."),
    ("The old town lies by the river.", "The old town lies by the river."),
    ("It  is\t\tforty   two\n now ", "forty   two"),
    ("Caf\u00e9 Zo\u00eb sold cr\u00e8me br\u00fbl\u00e9e.", "cr\u00e8me br\u00fbl\u00e9e"),
    ("We say e\u0301te\u0301 in France.", "e\u0301te\u0301"),
    ("We laughed \U0001f600 a lot.", "\U0001f600"),
    ("The flag \U0001f1e9\U0001f1ea and more.", "\U0001f1e9\U0001f1ea"),
    ("He lives in \u5317\u4eac now.", "\u5317\u4eac"),
    ("\u05e9\u05dc\u05d5\u05dd \u05dc\u05da \u05e2\u05d9\u05e8.", "\u05dc\u05da"),
    ("\u0647\u0630\u0627 \u0628\u064a\u062a \u0642\u062f\u064a\u0645.", "\u0628\u064a\u062a"),
    ("It was \u00bd mile.", "\u00bd mile"),
    ("An area of 25\u33a1 there.", "25\u33a1"),
    ("Tests: 1,000,000, 3, and 45, failed.", "1,000,000, 3, and 45,"),
    ("no\u00a0break here", "no\u00a0break"),
    ("a soft\u00adhyphen b", "soft\u00adhyphen"),
]


@every_tokenizer
@pytest.mark.parametrize("text, answer", ANSWERS)
def test_the_pieces_of_an_answer_stand_for_the_answer(name, text, answer):
    shown = _covering(TOKENIZERS[name](), text, answer)
    assert answer in shown
    # A sign that no vocabulary knows may be one piece with what it touches.
    assert len(shown) <= len(answer) + 1


def test_an_answer_inside_a_word_is_covered_by_as_few_pieces_as_there_are():
    text = "The counterrevolutionaries."
    for tokenizer in (wordpiece(), sentencepiece()):
        shown = _covering(tokenizer, text, "revolution")
        assert "revolution" in shown
        assert len(shown) < len("counterrevolutionaries")


def test_white_space_around_an_answer_adds_no_piece():
    text = "The old town lies"
    encoding = sentencepiece().encode_with_offsets(text)
    for answer in (Span(3, 7), Span(4, 6), Span(3, 6), Span(4, 7)):
        span = squad_alignment.pieces_of(answer, encoding)
        assert text[encoding.starts[span.first] : encoding.ends[span.last]] == "old"


def test_an_answer_that_leaves_no_trace_has_no_pieces():
    text = "old \u200b\u200b town"
    encoding = wordpiece().encode_with_offsets(text)
    assert squad_alignment.pieces_of(Span(4, 5), encoding) is None
    assert squad_alignment.pieces_of(Span(3, 2), wordpiece().encode_with_offsets("old")) is None
    assert squad_alignment.pieces_of(Span(0, 0), wordpiece().encode_with_offsets("")) is None


def test_the_answers_end_is_what_the_example_says_or_its_length_tells():
    answer_of = squad_alignment.answer_of
    assert answer_of(SquadExample("q", "?", "the old", "old", 4)) == (4, 6)
    assert answer_of(SquadExample("q", "?", "the  old", "the old", 0, 7)) == (0, 7)
    assert answer_of(SquadExample("q", "?", "the old", "", -1, is_impossible=True)) is None
    assert answer_of(SquadExample("q", "?", "the old")) is None


# --------------------------------------------------------------------------------- many questions


def _examples(count, paragraphs):
    """Questions in turns on some paragraphs."""
    texts = [f"The old town number {n} lies by the river ." for n in range(paragraphs)]
    return [
        SquadExample(str(n), f"what is {n} ?", texts[n % paragraphs], "old town", 4)
        for n in range(count)
    ]


class _Counting:
    """A tokenizer that counts the texts it cuts."""

    def __init__(self, tokenizer):
        self._tokenizer = tokenizer
        self.aligned = []

    def encode_with_offsets(self, text):
        self.aligned.append(text)
        return self._tokenizer.encode_with_offsets(text)

    def encode_ids_batch(self, texts):
        return self._tokenizer.encode_ids_batch(texts)


def test_a_paragraph_is_cut_once_for_all_its_questions():
    tokenizer = _Counting(sentencepiece())
    questions = squad_alignment.encode_questions(_examples(50, 7), tokenizer)
    assert len(tokenizer.aligned) == 7
    assert questions[0].paragraph is questions[7].paragraph


@pytest.mark.parametrize("name", ["SentencePiece", "WordPiece"])
def test_questions_are_in_order_and_the_same_for_any_number_of_processes(name):
    tokenizer, examples = TOKENIZERS[name](), _examples(300, 100)
    one, two = (
        squad_alignment.encode_questions(examples, tokenizer, num_processes=count)
        for count in (1, 2)
    )
    for example, first, second in zip(examples, one, two):
        assert first.ids == second.ids == tokenizer.encode_ids_batch([example.question_text])[0]
        encoding = tokenizer.encode_with_offsets(example.paragraph_text)
        assert first.answer == second.answer == squad_alignment.pieces_of(Span(4, 11), encoding)
        assert first.paragraph.ids.tolist() == second.paragraph.ids.tolist() == encoding.ids


def test_bytes_are_text():
    (question,) = squad_alignment.encode_questions(
        [SquadExample("q", b"what ?", "the caf\u00e9".encode("utf-8"), "caf\u00e9", 4)],
        sentencepiece(),
    )
    assert question.paragraph.lasts[-1] == 7


# ------------------------------------------------------------------------------------- real text

VOCABULARIES = {
    "30k-clean": lambda: tokenization.FullTokenizer(
        None, True, str(shared_path("data/spm/30k-clean.model"))
    ),
    "uncased": lambda: tokenization.FullTokenizer(
        str(shared_path("data/wordpiece/uncased_vocab.txt")), True
    ),
    "zh": lambda: tokenization.FullTokenizer(str(shared_path("data/wordpiece/zh_vocab.txt")), True),
    "zh, cased": lambda: tokenization.FullTokenizer(
        str(shared_path("data/wordpiece/zh_vocab.txt")), False
    ),
}


@needs_shared
@pytest.mark.parametrize(
    "vocabulary, language, wider",
    [
        # The one answer ends inside a number: (2,70 of (2,700,000.
        ("30k-clean", "en", 1),
        ("uncased", "en", 1),
        ("zh", "zh", 0),
        ("zh, cased", "zh", 0),
        ("uncased", "zh", 0),
        # An English vocabulary has no piece between two Chinese punctuation marks.
        ("30k-clean", "zh", 252),
    ],
)
def test_answers_of_real_files_come_back_from_their_pieces(vocabulary, language, wider):
    from albert.squad import examples as squad_examples

    path = str(shared_path(f"data/squad/xquad.{language}.json"))
    examples = squad_examples.read_dataset(path, is_training=True).examples
    questions = squad_alignment.encode_questions(
        examples, VOCABULARIES[vocabulary](), num_processes=1
    )
    different = 0
    for example, question in zip(examples, questions):
        first = question.paragraph.starts[question.answer.first]
        last = question.paragraph.lasts[question.answer.last]
        shown = example.paragraph_text[first : last + 1].strip()
        assert example.orig_answer_text.strip() in shown
        different += shown != example.orig_answer_text.strip()
    assert different == wider
