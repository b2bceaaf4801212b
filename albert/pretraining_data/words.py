# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Splits paragraphs into sentences, and finds the tokens that begin a word.

    split_sentences("He paid $3.50 to Dr. Smith. “它好吗？”他问。")
    # ['He paid $3.50 to Dr. Smith.', '“它好吗？”', '他问。']
    ChineseSegmenter().words("使用语言模型")    # ["使用", "语言", "模型"]

Sentences are found by rules for English and Chinese that need no model. A sentence ends behind a
full stop, question or exclamation mark, or an ellipsis, and the quotes and brackets that close
behind it, where

* the mark is one that has no other use: 。！？ and the full stops of other scripts (danda, Arabic
  question mark, ...), with or without space behind it; but not inside 《...》 or （...）, and not
  before a comma;
* or it is a mark of ASCII between Chinese characters;
* or it is a mark of ASCII with space behind it, and what follows does not go on in small letters. A
  full stop does not end a sentence behind a title (Dr.), an abbreviation before a number (No. 5),
  the number of an item (1.) at a sentence's start; and behind initials, acronyms and the like only
  before a word that often begins a sentence.

A semicolon ends none. Nothing is changed or lost but white space at the borders.

Words begin where the vocabulary marks it. For Chinese, jieba finds them: the tokens of a text stay
what they are, and the places of tokens and words in the text say which tokens begin a word. jieba
keeps its tables in a cache that it loads by `marshal` from the folder for temporary files, where
another user may put one. Here they are made from the dictionary, and no cache is read or written.

Legend: V vocabulary, T tokens of a block of text.
"""

import io
import re
import warnings
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    List,
    Mapping,
    Match,
    NamedTuple,
    Optional,
)

import numpy as np

from albert import tokenization
from albert.util import files, provenance
from albert.util.errors import UserError

# --------------------------------------------------------------------------------------- sentences

# Marks that end sentences and do nothing else: Chinese, Arabic, Indic, Armenian, Ethiopic, Burmese,
# Khmer, Tibetan, Mongolian.
_PLAIN_MARKS = (
    "。｡！？\u061f\u06d4\u0964\u0965\u0589\u1362\u1367\u1368\u104b\u17d4\u17d5\u0f0e\u1803\u1809"
)
_DOTS = "…⋯"
_CLOSING = "\"'”’»›」』）)】]》〉〕｝}"
_OPENING = "\"'“‘«‹「『（([【《〈〔{"
_CHINESE = (
    "\u2e80-\u2fdf\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uffee"
    "\U00020000-\U0003ffff"
)
_BRACKETS = {"》": "《", "〉": "〈", "）": "（"}
# In characters; what is longer is not looked at, so that no text takes long.
_LONGEST_ASIDE = 80
_LONGEST_QUOTE = 500

# Runs of marks, each perhaps with what closes behind it and the number of a note ([3]). Marks of
# ASCII only count with a space or a Chinese character behind them. Runs begin where no mark is in
# front, and their parts exclude each other, so that the time searching takes is linear.
_MARKS = f".!?．{_PLAIN_MARKS}{_DOTS}"
_CLOSINGS, _OPENINGS = re.escape(_CLOSING), re.escape(_OPENING)
_END = re.compile(
    rf"[{_MARKS}](?<![{_MARKS}]{{2}})[{_MARKS}]*(?:[{_CLOSINGS}]+[{_MARKS}]+)*[{_CLOSINGS}]*(?:\[\d{{1,3}}\])*"
    rf"(?=\s|[{_CHINESE}{_OPENINGS}]|(?<=[{_PLAIN_MARKS}{_DOTS}{_CLOSINGS}])"
    rf"|(?<=[{_CHINESE}][!?]))"
)
_IS_PLAIN = re.compile(f"[{_PLAIN_MARKS}]")
_IS_CHINESE = re.compile(f"[{_CHINESE}]")
_FOLLOWING = re.compile(rf"[\s{_OPENINGS}\u2013\u2014-]*(\w*)(\S?)")
_NEXT = re.compile(r"\s*(\S?)")
_GOES_ON = frozenset("，、；：,;:")
_LOOK_BACK = 40  # characters: no word that matters is longer


def _set_of(words: str) -> FrozenSet[str]:
    return frozenset(words.split())


# Before a name; these never end a sentence.
_TITLES = _set_of(
    "adm capt cmdr col cpl dr drs fr gen gov hon lieut lt maj messrs mlle mme mr mrs ms msgr mt"
    " pres prof rep rev sen sgt st supt vs cf viz e.g i.e"
)
# No end of a sentence where a number follows.
_BEFORE_NUMBERS = _set_of(
    "no nos vol vols p pp fig figs eq eqs sec secs ch chap art arts ex para pt ref refs ver v n"
    " ca approx jan feb mar apr jun jul aug sep sept oct nov dec"
)
# These end a sentence only before a word that often begins one.
_UNCERTAIN = _set_of("inc ltd co corp bros jr sr esq ph.d m.d b.a m.a d.c dept univ al")
_BEGINNERS = _set_of(
    "A After All Although An And Another As At Because Before Both But By Each Even For From He Her"
    " Here His How However I If In It Its Many Most My No Not Now On One Or Our She Since So Some"
    " Such That The Their Then There These They This Those Though Thus To Today Two Under Until"
    " Upon We What When Where Which While Who Why With Yet You Your"
)
_INITIALS = re.compile(r"(?:[A-Z]\.)*[A-Z]|(?:[a-z]\.)+[a-z]")
_ITEM = re.compile(r"\d{1,3}|[ivxIVX]{1,5}|[a-zA-Z]")


def split_sentences(text: str) -> List[str]:
    """Returns the sentences of a paragraph, without white space at their borders."""
    sentences, start = [], 0
    for match in _END.finditer(text):
        end = _end_of_sentence(text, start, match)
        if end > start:
            sentences.append(text[start:end])
            start = end
    sentences.append(text[start:])
    return [sentence for sentence in map(str.strip, sentences) if sentence]


def _end_of_sentence(text: str, start: int, match: Match) -> int:
    """The end of the sentence from `start` on, or 0 if these marks do not end it."""
    end, marks = match.end(), match.group()
    if end == len(text):
        return end
    if _IS_PLAIN.search(marks):
        return _end_at_plain_mark(text, start, match)
    if not text[end].isspace():
        return end if _is_between_chinese(text, match) else 0
    word, sign = _FOLLOWING.match(text, end).groups()
    if word[:1].islower() or (not word and sign in _GOES_ON):
        return 0
    if marks.rstrip(_CLOSING) != ".":
        return end
    before = text[max(start, match.start() - _LOOK_BACK) : match.start()]
    # The number of an item is short: all of the sentence is in `before` then.
    if match.start() - start < _LOOK_BACK and _ITEM.fullmatch(before.strip().strip(_OPENING)):
        return 0
    last = (before.split() or [""])[-1].lstrip(_OPENING)
    lower = last.lower()
    if lower in _TITLES or (lower in _BEFORE_NUMBERS and word[:1].isdigit()):
        return 0
    is_uncertain = lower in _UNCERTAIN or _INITIALS.fullmatch(last)
    return 0 if is_uncertain and word not in _BEGINNERS else end


def _end_at_plain_mark(text: str, start: int, match: Match) -> int:
    """The same behind 。 and the like."""
    end = match.end()
    quote = text[end - 1]
    if quote in "\"'" and text.count(quote, max(start, end - _LONGEST_QUOTE), end) % 2:
        end -= len(match.group()) - len(match.group().rstrip(quote))  # it opens what follows
    following = _NEXT.match(text, end).group(1)
    if following in _GOES_ON or _is_aside(text, max(start, end - _LONGEST_ASIDE), end):
        return 0
    return end


def _is_aside(text: str, start: int, end: int) -> bool:
    """Whether it is in a bracket that closes soon, or in one that closes here inside a sentence."""
    last = text[end - 1]
    if last in _BRACKETS:
        opened = text.rfind(_BRACKETS[last], start, end)
        return last != "）" or bool(opened >= 0 and text[start:opened].strip())
    for closing, opening in _BRACKETS.items():
        is_open = text.rfind(opening, start, end) > text.rfind(closing, start, end)
        if is_open and text.find(closing, end, end + _LONGEST_ASIDE) >= 0:
            return True
    return False


def _is_between_chinese(text: str, match: Match) -> bool:
    """Whether marks of ASCII and dots without space behind them end a sentence."""
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end()]
    if after in _GOES_ON or (before.isdigit() and after.isdigit()):
        return False
    is_behind = bool(_IS_CHINESE.match(before)) or before in tuple(_CLOSING)
    is_before = bool(_IS_CHINESE.match(after)) or after in _OPENING
    is_dot = match.group()[0] in ".．"
    return (is_behind and is_before) if is_dot else (is_behind or is_before)


# ------------------------------------------------------------------------------------ Chinese words


def _import_jieba() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it uses deprecated modules
        import jieba
    return jieba


def fingerprint(user_dictionary: Optional[str]) -> Dict[str, Any]:
    """Returns version and dictionaries of the segmenter, as JSON values."""
    return {
        "segmenter": "jieba",
        "version": _import_jieba().__version__,
        "user_dictionary": provenance.stamp(user_dictionary) if user_dictionary else None,
    }


class ChineseSegmenter:
    """Finds the words of Chinese text by jieba. May be pickled, and used in forked processes."""

    def __init__(self, user_dictionary: Optional[str] = None):
        """Loads the dictionaries, which takes a second.

        Args:
          user_dictionary: file with a word a line, in UTF-8, as for jieba: the word, and perhaps
            its frequency and part of speech, with spaces between them.

        Raises:
          ValueError: user_dictionary is not UTF-8.
        """
        self._user_words = files.read_text(user_dictionary) if user_dictionary else ""
        self._load()

    def __getstate__(self) -> Dict[str, Any]:
        return {"_user_words": self._user_words}

    def __setstate__(self, state: Dict[str, Any]):
        self.__dict__.update(state)
        self._load()

    def _load(self):
        self._jieba = tables = _import_jieba().Tokenizer()
        tables.FREQ, tables.total = tables.gen_pfdict(tables.get_dict_file())
        tables.initialized = True  # otherwise it would look for its cache
        tables.load_userdict(io.StringIO(self._user_words))
        tables.total = sum(tables.FREQ.values())  # a word of the user's may replace another

    def words(self, text: str) -> List[str]:
        """Returns the words, spaces and signs that `text` is made of: joined, they are the text."""
        return list(self._jieba.cut(text))

    def word_starts(self, text: str, encoding: tokenization.Encoding) -> List[bool]:
        """Returns for each token of `text` whether it begins a word.

        It does if its first character belongs to another word than the last character of the token
        before it.
        """
        # The number of the word that each character belongs to.
        numbers = [number for number, word in enumerate(self._jieba.cut(text)) for _ in word]
        # A token that stands for a space at the text's end has its place behind the last character.
        numbers.append(len(numbers))
        starts, last = [], -1
        for start, end in zip(encoding.starts, encoding.ends):
            starts.append(numbers[start] > last)
            last = numbers[max(start, end - 1)]
        return starts


# ------------------------------------------------------------------------------------- vocabularies

# What counts as punctuation in the English models: no apostrophe, "<", ">" or "=".
_PUNCTUATION = frozenset('!"#$%&()*+,-./:;?@[\\]^_`{|}~\u00a3\u20ac')
_INSIDE_WORDS = _PUNCTUATION.union("abcdefghijklmnopqrstuvwxyz")
_RESERVED = re.compile(r"|\[(PAD|UNK|CLS|SEP|MASK|unused\d+)\]|<[^<>\s]+>")


class PieceTable(NamedTuple):
    """The properties of a vocabulary's tokens for masking; on the fly, the first two suffice."""

    mask_id: int
    ordinary: np.ndarray  # int32: ids that may replace a token at random
    cls_id: int = -1
    sep_id: int = -1


def piece_table(vocab: Dict[str, int], model: Any = None) -> PieceTable:
    """Returns the table for the tokens of a SentencePiece model, or without one of WordPiece.

    Raises:
      ValueError: the vocabulary lacks [CLS], [SEP] or [MASK], or has no ordinary token.
    """

    def is_special(piece: str, number: int) -> bool:
        if model is None:
            return bool(_RESERVED.fullmatch(piece))
        return model.IsControl(number) or model.IsUnknown(number) or model.IsUnused(number)

    names = ["[MASK]", "[CLS]", "[SEP]"]
    mask_id, *others = tokenization.convert_tokens_to_ids(vocab, names)
    ordinary = [number for piece, number in vocab.items() if not is_special(piece, number)]
    if not ordinary:
        raise UserError("The vocabulary holds no ordinary token, only special ones.")
    return PieceTable(mask_id, np.array(ordinary, np.int32), *others)


def describe_vocabulary(vocabulary: PieceTable) -> Dict[str, Any]:
    """Returns the JSON values of a vocabulary for masking on the fly.

    {"mask_id": id of [MASK], "ordinary": [[first, one past the last], ...]: the ids that may
    replace a token at random}.
    """
    ordinary = vocabulary.ordinary
    runs = np.split(ordinary, np.flatnonzero(np.diff(ordinary) != 1) + 1)
    ranges = [[int(run[0]), int(run[-1]) + 1] for run in runs]
    return {"mask_id": vocabulary.mask_id, "ordinary": ranges}


def described_vocabulary(description: Mapping[str, Any]) -> PieceTable:
    """Reads the JSON values of `describe_vocabulary`."""
    ranges = [np.arange(first, last, dtype=np.int32) for first, last in description["ordinary"]]
    return PieceTable(description["mask_id"], np.concatenate(ranges))


def starts_word(piece: str) -> bool:
    """Returns whether a SentencePiece token starts a word by the English models' rule.

    It does if it begins with the underline or "<", is a punctuation mark, or holds a character that
    is neither a letter a-z nor punctuation (so every token of another script starts a word).
    """
    if piece.startswith((tokenization.SPIECE_UNDERLINE, "<")) or piece in _PUNCTUATION:
        return True
    return not _INSIDE_WORDS.issuperset(piece.lower())


def word_start_rule(is_sentencepiece: bool, word_start: str) -> Callable[[str], bool]:
    """Returns whether a token starts a word, as a function of the token.

    Args:
      word_start: "reference", see `starts_word`; or "underline": a word starts at the underline
        only, in every language. In WordPiece vocabularies a word starts at a token without "##".

    Raises:
      ValueError: "underline" was asked for with WordPiece.
    """
    if is_sentencepiece:
        if word_start == "reference":
            return starts_word
        return lambda piece: piece.startswith(tokenization.SPIECE_UNDERLINE)
    if word_start == "underline":
        raise UserError(
            "--word_start=underline is for SentencePiece models. WordPiece marks continuations by "
            "## in every language. Use --word_start=reference."
        )
    return lambda piece: not piece.startswith("##")
