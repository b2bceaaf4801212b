# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Paragraphs to sentences, by rules for English and Chinese that need no model.

    split("He paid $3.50 to Dr. Smith. “它好吗？”他问。")
    # ['He paid $3.50 to Dr. Smith.', '“它好吗？”', '他问。']

A sentence ends behind a full stop, question or exclamation mark, or dots in place of what is left
out, and the quotes and brackets that close behind it, where

* the mark is one that stands for nothing else: 。！？ and the full stops of other scripts (danda,
  Arabic question mark, ...), with or without space behind it; but not inside 《...》 or （...）,
  and not before a comma;
* or it is a mark of ASCII between Chinese characters;
* or it is a mark of ASCII with space behind it, and what follows does not go on in small letters. A
  full stop does not end a sentence behind a title (Dr.), an abbreviation before a number (No. 5),
  the number of an item (1.) at a sentence's start; and behind initials, acronyms and the like only
  before a word that often begins a sentence.

A semicolon ends none. Nothing is changed or lost but white space at the borders.
"""

import re
from typing import FrozenSet, Iterable, List, Match

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
_TITLE_BRACKETS = {"》": "《", "〉": "〈"}
_BRACKETS = dict(_TITLE_BRACKETS, **{"）": "（"})
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
_ASCII_MARKS = frozenset(".!?\"'")
_IS_PLAIN = re.compile(f"[{_PLAIN_MARKS}]")
_IS_CHINESE = re.compile(f"[{_CHINESE}]")
_FOLLOWING = re.compile(rf"[\s{_OPENINGS}\u2013\u2014-]*(\w*)(\S?)")
_NEXT = re.compile(r"\s*(\S?)")
_GOES_ON = frozenset("，、；：,;:")
_LOOK_BACK = 40  # characters: no word that matters is longer


def _set_of(words: str) -> FrozenSet[str]:
    """The words in a text."""
    return frozenset(words.split())


# Before a name; these never end a sentence.
_TITLES = _set_of(
    "adm capt cmdr col cpl dr drs fr gen gov hon lieut lt maj messrs mlle mme mr mrs ms msgr mt"
    " pres prof rep rev sen sgt st supt vs cf viz e.g i.e"
)
# These go on where a number follows.
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


def split(text: str) -> List[str]:
    """Returns the sentences of a paragraph, without white space at their borders."""
    sentences, start = [], 0
    for match in _END.finditer(text):
        end = _end_of_sentence(text, start, match)
        if end > start:
            sentences.append(text[start:end])
            start = end
    sentences.append(text[start:])
    return [sentence for sentence in map(str.strip, sentences) if sentence]


def split_all(paragraphs: Iterable[str]) -> List[str]:
    """Returns the sentences of paragraphs, one after another."""
    return [sentence for paragraph in paragraphs for sentence in split(paragraph)]


def _end_of_sentence(text: str, start: int, match: Match) -> int:
    """Where the sentence from `start` on ends if it does at these marks; 0 if it does not."""
    end, marks = match.end(), match.group()
    if end == len(text):
        return end
    if not _ASCII_MARKS.issuperset(marks) and _IS_PLAIN.search(marks):
        return _end_at_plain_mark(text, start, match)
    if not text[end].isspace():
        return _end_between_chinese(text, match)
    word, sign = _FOLLOWING.match(text, end).groups()
    if word[:1].islower() or (not word and sign in _GOES_ON):
        return 0
    if marks.rstrip(_CLOSING) != ".":
        return end
    first = match.start()
    is_end = _is_full_stop(text[max(start, first - _LOOK_BACK) : first], word)
    return end if is_end and not (first - start < _LOOK_BACK and _is_item(text[start:first])) else 0


def _end_at_plain_mark(text: str, start: int, match: Match) -> int:
    """Behind 。 and the like."""
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
        return last in _TITLE_BRACKETS or bool(opened >= 0 and text[start:opened].strip())
    for closing, opening in _BRACKETS.items():
        is_open = text.rfind(opening, start, end) > text.rfind(closing, start, end)
        if is_open and text.find(closing, end, end + _LONGEST_ASIDE) >= 0:
            return True
    return False


def _end_between_chinese(text: str, match: Match) -> int:
    """Marks of ASCII and dots without space behind them: the end between Chinese characters."""
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end()]
    if after in _GOES_ON or (before.isdigit() and after.isdigit()):
        return 0
    is_behind = bool(_IS_CHINESE.match(before)) or before in tuple(_CLOSING)
    is_before = bool(_IS_CHINESE.match(after)) or after in _OPENING
    is_dot = match.group()[0] in ".．"
    is_end = (is_behind and is_before) if is_dot else (is_behind or is_before)
    return match.end() if is_end else 0


def _is_full_stop(before: str, following: str) -> bool:
    """Whether a dot between `before` and the word `following` ends a sentence."""
    word = (before.split() or [""])[-1].lstrip(_OPENING)
    lower = word.lower()
    if lower in _TITLES:
        return False
    if lower in _BEFORE_NUMBERS and following[:1].isdigit():
        return False
    if lower in _UNCERTAIN or _INITIALS.fullmatch(word):
        return following in _BEGINNERS
    return True


def _is_item(sentence: str) -> bool:
    """Whether it is the number of an item in a list."""
    return _ITEM.fullmatch(sentence.strip().strip(_OPENING)) is not None
