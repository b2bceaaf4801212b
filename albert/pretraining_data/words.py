# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds the tokens that begin a word.

    ChineseSegmenter().words("使用语言模型")    # ["使用", "语言", "模型"]

Usually the tokens themselves show which of them begin a word (`word_start_rule`). For Chinese,
jieba cuts the text into words, and a token begins a word unless it continues the word of the token
before it. jieba stores its tables in the folder for temporary files and loads them with `marshal`,
so another user could plant a file there. This module computes the tables from the dictionary
instead, and neither reads nor writes that cache.
"""

import io
import re
import warnings
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional

import numpy as np

from albert import tokenization
from albert.util import UserError, files, provenance

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

    mask_id, *others = tokenization.convert_tokens_to_ids(vocab, ["[MASK]", "[CLS]", "[SEP]"])
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
