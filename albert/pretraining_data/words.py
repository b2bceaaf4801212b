# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Splits paragraphs into sentences, and finds the tokens that begin a word.

    split_sentences("He paid $3.50 to Dr. Smith. “它好吗？”他问。")
    # ['He paid $3.50 to Dr. Smith.', '“它好吗？”', '他问。']
    ChineseSegmenter().words("使用语言模型")    # ["使用", "语言", "模型"]

Rules for English and Chinese find the sentences, without a model. A sentence may end after a full
stop, question mark, exclamation mark or ellipsis, and the closing quotes and brackets that follow
it. The mark ends the sentence if one of these is true:

* The mark has no other use: 。！？ and marks of other scripts (danda, Arabic question mark, ...).
  It needs no space after it. Inside 《...》 or （...）, or before a comma, it does not count.
* The mark is ASCII and stands between Chinese characters.
* The mark is ASCII, white space follows, and the next word does not begin with a small letter.
  After a title (Dr.), an abbreviation before a number (No. 5), or the number of an item at the
  start of a sentence (1.), a full stop does not count. After initials, acronyms and the like, it
  counts only if the next word is a frequent first word of sentences.

A semicolon does not end a sentence. Sentences lose only the white space around them.

Usually the tokens themselves show which of them begin a word (`word_start_rule`). For Chinese,
jieba cuts the text into words, and a token begins a word unless it continues the word of the token
before it. jieba stores its tables in the folder for temporary files and loads them with `marshal`,
so another user could plant a file there. This module computes the tables from the dictionary
instead, and neither reads nor writes that cache.
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
# In characters. Limits the search for the other bracket or quote, so that no text takes long.
_LONGEST_ASIDE = 80
_LONGEST_QUOTE = 500

# A run of marks, the quotes and brackets that close after it, and numbers of notes ([3]). If it
# ends in an ASCII mark, white space, an opening quote or bracket, or a Chinese character must
# follow; or it is ! or ? after a Chinese character. The search takes linear time: a run begins only
# where no mark precedes it, and marks, closing signs and notes begin with different characters.
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
_LOOK_BACK = 40  # characters: longer than each abbreviation and item number


def _set_of(words: str) -> FrozenSet[str]:
    return frozenset(words.split())


# Titles before a name, and others that never end a sentence.
_TITLES = _set_of(
    "adm capt cmdr col cpl dr drs fr gen gov hon lieut lt maj messrs mlle mme mr mrs ms msgr mt"
    " pres prof rep rev sen sgt st supt vs cf viz e.g i.e"
)
# These do not end a sentence if a number follows.
_BEFORE_NUMBERS = _set_of(
    "no nos vol vols p pp fig figs eq eqs sec secs ch chap art arts ex para pt ref refs ver v n"
    " ca approx jan feb mar apr jun jul aug sep sept oct nov dec"
)
# These end a sentence only before one of _BEGINNERS, the frequent first words of sentences.
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
    """Returns the sentences of a paragraph, without white space around them."""
    sentences, start = [], 0
    for match in _END.finditer(text):
        end = _end_of_sentence(text, start, match)
        if end > start:
            sentences.append(text[start:end])
            start = end
    sentences.append(text[start:])
    return [sentence for sentence in map(str.strip, sentences) if sentence]


def _end_of_sentence(text: str, start: int, match: Match) -> int:
    """Returns the end of the sentence that begins at `start`, or 0 if the marks do not end it."""
    end, marks = match.end(), match.group()
    if end == len(text):
        return end
    if _IS_PLAIN.search(marks):
        return _end_at_plain_mark(text, start, match)
    if not text[end].isspace():
        return end if _is_between_chinese(text, match) else 0
    next_word, sign = _FOLLOWING.match(text, end).groups()
    if next_word[:1].islower() or (not next_word and sign in _GOES_ON):
        return 0
    if marks.rstrip(_CLOSING) != ".":
        return end
    before = text[max(start, match.start() - _LOOK_BACK) : match.start()]
    # If `before` is the whole sentence so far, it may be only the number of an item.
    if match.start() - start < _LOOK_BACK and _ITEM.fullmatch(before.strip().strip(_OPENING)):
        return 0
    last_word = (before.split() or [""])[-1].lstrip(_OPENING)
    lower = last_word.lower()
    if lower in _TITLES or (lower in _BEFORE_NUMBERS and next_word[:1].isdigit()):
        return 0
    is_uncertain = lower in _UNCERTAIN or _INITIALS.fullmatch(last_word)
    return 0 if is_uncertain and next_word not in _BEGINNERS else end


def _end_at_plain_mark(text: str, start: int, match: Match) -> int:
    """Does the work of _end_of_sentence for marks with no other use, such as 。."""
    end = match.end()
    quote = text[end - 1]
    if quote in "\"'" and text.count(quote, max(start, end - _LONGEST_QUOTE), end) % 2:
        # The quote opens the next sentence.
        end -= len(match.group()) - len(match.group().rstrip(quote))
    next_sign = _NEXT.match(text, end).group(1)
    if next_sign in _GOES_ON or _is_aside(text, max(start, end - _LONGEST_ASIDE), end):
        return 0
    return end


def _is_aside(text: str, start: int, end: int) -> bool:
    """Whether the mark before `end` is in brackets that close at `end` or soon after it.

    A sentence that is （...） as a whole is no aside.
    """
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
    """Whether ASCII marks or dots that no white space follows end a sentence."""
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end()]
    if after in _GOES_ON or (before.isdigit() and after.isdigit()):
        return False
    chinese_before = bool(_IS_CHINESE.match(before)) or before in tuple(_CLOSING)
    chinese_after = bool(_IS_CHINESE.match(after)) or after in _OPENING
    is_dot = match.group()[0] in ".．"
    return (chinese_before and chinese_after) if is_dot else (chinese_before or chinese_after)


# ------------------------------------------------------------------------------------ Chinese words


def _import_jieba() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba uses deprecated modules
        import jieba
    return jieba


def fingerprint(user_dictionary: Optional[str]) -> Dict[str, Any]:
    """Returns what Chinese words depend on, the version and the dictionary, as JSON values."""
    return {
        "segmenter": "jieba",
        "version": _import_jieba().__version__,
        "user_dictionary": provenance.stamp(user_dictionary) if user_dictionary else None,
    }


class ChineseSegmenter:
    """Finds the words of Chinese text with jieba. Works in forked processes and with pickle."""

    def __init__(self, user_dictionary: Optional[str] = None):
        """Loads the dictionaries, which takes a second.

        Args:
          user_dictionary: a UTF-8 file in jieba's format. Each line has a word and, optionally, its
            frequency and part of speech, separated by spaces.

        Raises:
          UserError: user_dictionary is not UTF-8.
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
        tables.initialized = True  # otherwise jieba would look for its cache
        tables.load_userdict(io.StringIO(self._user_words))
        # jieba counts both frequencies of a word that is in both dictionaries.
        tables.total = sum(tables.FREQ.values())

    def words(self, text: str) -> List[str]:
        """Returns the words, spaces and signs of `text`. Joined, they are the text."""
        return list(self._jieba.cut(text))

    def word_starts(self, text: str, encoding: tokenization.Encoding) -> List[bool]:
        """Returns for each token of `text` whether it begins a word.

        A token begins a word if its first character and the last character of the token before it
        belong to different words.
        """
        # The number of each character's word.
        numbers = [number for number, word in enumerate(self._jieba.cut(text)) for _ in word]
        # A token for a space at the end of the text has the offset len(text).
        numbers.append(len(numbers))
        starts, last = [], -1
        for start, end in zip(encoding.starts, encoding.ends):
            starts.append(numbers[start] > last)
            last = numbers[max(start, end - 1)]
        return starts


# ------------------------------------------------------------------------------------- vocabularies

# The punctuation of the English models' rule for words: no apostrophe, "<", ">" or "=".
_PUNCTUATION = frozenset('!"#$%&()*+,-./:;?@[\\]^_`{|}~\u00a3\u20ac')
_INSIDE_WORDS = _PUNCTUATION.union("abcdefghijklmnopqrstuvwxyz")
_RESERVED = re.compile(r"|\[(PAD|UNK|CLS|SEP|MASK|unused\d+)\]|<[^<>\s]+>")


class PieceTable(NamedTuple):
    """The token ids that masking needs. Masking on the fly needs only the first two fields."""

    mask_id: int
    ordinary: np.ndarray  # int32: ids that may replace a token at random
    cls_id: int = -1
    sep_id: int = -1


def piece_table(vocab: Dict[str, int], model: Any = None) -> PieceTable:
    """Returns the table of a vocabulary. `model`: the SentencePiece model; None for WordPiece.

    Raises:
      UserError: the vocabulary lacks [CLS], [SEP] or [MASK], or has no ordinary token.
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
    """Returns the part of a vocabulary that masking on the fly needs, as JSON values.

    {"mask_id": id of [MASK], "ordinary": [[first, one past the last], ...]}; the ranges are the ids
    that may replace a token at random.
    """
    ordinary = vocabulary.ordinary
    runs = np.split(ordinary, np.flatnonzero(np.diff(ordinary) != 1) + 1)
    ranges = [[int(run[0]), int(run[-1]) + 1] for run in runs]
    return {"mask_id": vocabulary.mask_id, "ordinary": ranges}


def described_vocabulary(description: Mapping[str, Any]) -> PieceTable:
    """Returns the table from the JSON values of `describe_vocabulary`."""
    ranges = [np.arange(first, last, dtype=np.int32) for first, last in description["ordinary"]]
    return PieceTable(description["mask_id"], np.concatenate(ranges))


def starts_word(piece: str) -> bool:
    """Returns whether a SentencePiece token starts a word by the English models' rule.

    A token starts a word if it begins with the underline or "<", is a punctuation mark, or has a
    character that is neither a letter a-z nor punctuation. So each token in another script starts a
    word.
    """
    if piece.startswith((tokenization.SPIECE_UNDERLINE, "<")) or piece in _PUNCTUATION:
        return True
    return not _INSIDE_WORDS.issuperset(piece.lower())


def word_start_rule(is_sentencepiece: bool, word_start: str) -> Callable[[str], bool]:
    """Returns the function that tells whether a token starts a word.

    Args:
      is_sentencepiece: if False, the tokens are WordPiece: a token without "##" starts a word.
      word_start: "reference" for `starts_word`; "underline": a word starts only at the underline,
        in every language.

    Raises:
      UserError: word_start is "underline", with WordPiece.
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
