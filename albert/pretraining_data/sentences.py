# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Splits paragraphs into sentences.

    split_sentences("He paid $3.50 to Dr. Smith. “它好吗？”他问。")
    # ['He paid $3.50 to Dr. Smith.', '“它好吗？”', '他问。']

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
"""

import re
from typing import FrozenSet, List, Match

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
