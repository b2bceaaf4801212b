# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Words in text that is written without spaces, for whole-word masking: jieba for Chinese.

    segmenter = ChineseSegmenter()
    segmenter.word_numbers("使用语言模型")    # [0, 0, 1, 1, 2, 2]

The pieces of a text stay what they are without segmentation: a character is a piece in the Chinese
vocabularies. What is added is, from the places of pieces and words in the text, which pieces begin
a word. So ids and labels are those of the plain characters.

jieba keeps its tables in a cache that it loads by `marshal` from the folder for temporary files,
where anybody may put one. Here they are made from the dictionary, and no cache is read or written.
"""

import functools
import os
import re
import warnings
from typing import Any, Dict, List, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.util import files

# A word, perhaps how often it occurs, perhaps its part of speech, which nothing here uses.
_USER_ENTRY = re.compile(r"(\S.*?)(?: ([0-9]+))?(?: [a-z]+)?")


def _import_jieba() -> Any:
    """Imports it when it is needed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it uses modules that are about to go
            import jieba
    except ImportError:
        raise ValueError(
            "--language=zh segments words by the package jieba, which is not installed. Install it "
            "by: pip install jieba"
        ) from None
    return jieba


def _dictionary_path() -> str:
    """The dictionary that comes with jieba."""
    return os.path.join(os.path.dirname(_import_jieba().__file__), "dict.txt")


@functools.lru_cache(maxsize=1)
def _frequencies() -> Tuple[Dict[str, int], int]:
    """How often each word of jieba's dictionary occurs (0: it only begins words), and the sum."""
    with open(_dictionary_path(), "rb") as stream:
        return _import_jieba().Tokenizer.gen_pfdict(stream)


def fingerprint(user_dictionary: Optional[str]) -> Dict[str, Any]:
    """Returns what decides the words, as JSON values: version and dictionaries."""
    return {
        "segmenter": "jieba",
        "version": _import_jieba().__version__,
        "dictionary": files.file_fingerprint(_dictionary_path()),
        "user_dictionary": files.file_fingerprint(user_dictionary) if user_dictionary else None,
    }


class ChineseSegmenter:
    """Finds the words of Chinese text by jieba. May be pickled, and used in forked processes."""

    def __init__(self, user_dictionary: Optional[str] = None):
        """Loads the dictionaries, which takes a second.

        Args:
          user_dictionary: file with a word a line, in UTF-8, as for jieba: the word, and perhaps
            its frequency and part of speech, with spaces between them.

        Raises:
          ValueError: jieba is not installed; a line of user_dictionary is no entry.
        """
        self._user_words = _read_user_words(user_dictionary) if user_dictionary else []
        self._load()

    def _load(self):
        self._jieba = _import_jieba().Tokenizer()
        frequencies, self._jieba.total = _frequencies()
        self._jieba.FREQ = dict(frequencies) if self._user_words else frequencies
        self._jieba.initialized = True  # otherwise it would look for its cache
        for word, frequency in self._user_words:
            self._add(word, frequency)

    def _add(self, word: str, frequency: Optional[int]):
        """Adds a word; without a frequency, one that keeps it from being cut."""
        tables = self._jieba
        if frequency is None:
            frequency = tables.suggest_freq(word)
        tables.total += frequency - tables.FREQ.get(word, 0)
        tables.FREQ[word] = frequency
        for end in range(1, len(word)):
            tables.FREQ.setdefault(word[:end], 0)

    def __getstate__(self) -> Dict[str, Any]:
        return {"_user_words": self._user_words}

    def __setstate__(self, state: Dict[str, Any]):
        self.__dict__.update(state)
        self._load()

    def words(self, text: str) -> List[str]:
        """Returns the words, spaces and signs that `text` is made of: joined, they are the text."""
        return list(self._jieba.cut(text))

    def word_numbers(self, text: str) -> List[int]:
        """Returns for each character of `text` the number of the word it belongs to."""
        numbers: List[int] = []
        for number, word in enumerate(self._jieba.cut(text)):
            numbers += [number] * len(word)
        assert len(numbers) == len(text), text
        return numbers

    def word_starts(self, text: str, encoding: tokenization.Encoding) -> List[bool]:
        """Returns for each piece of `text` whether it begins a word.

        It does if its first character belongs to another word than the last character of the piece
        before it.
        """
        return piece_starts(self.word_numbers(text), encoding)


def piece_starts(numbers: Sequence[int], encoding: tokenization.Encoding) -> List[bool]:
    """Returns which pieces begin a word, given the number of each character's word."""
    starts, last = [], -1
    # A piece that stands for a space at the text's end has its place behind the last character.
    numbers = [*numbers, len(numbers)]
    for start, end in zip(encoding.starts, encoding.ends):
        starts.append(numbers[start] > last)
        last = numbers[max(start, end - 1)]
    return starts


def _read_user_words(path: str) -> List[Tuple[str, Optional[int]]]:
    """Pairs of a word and its frequency or None."""
    try:
        lines = files.read_bytes(path).decode("utf-8-sig").split("\n")
    except tf.errors.OpError as error:
        raise ValueError(
            f"--user_dictionary: '{path}' cannot be read ({error.message})."
        ) from error
    except UnicodeDecodeError as error:
        raise ValueError(
            f"--user_dictionary: '{path}' is not UTF-8 ({error.reason} at byte {error.start})."
        ) from error
    words = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if "\t" in line.strip():
            raise ValueError(
                f"--user_dictionary: '{path}', line {number} holds a TAB. Word, frequency and part "
                "of speech have spaces between them."
            )
        word, frequency = _USER_ENTRY.fullmatch(line.strip()).groups()
        if frequency is not None and int(frequency) == 0:
            raise ValueError(
                f"--user_dictionary: '{path}', line {number} gives '{word}' the frequency 0. Give "
                "one above 0, or none, for a frequency that keeps the word together."
            )
        words.append((word, int(frequency) if frequency else None))
    return words
