# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Turns text into tokens and ids, by SentencePiece or WordPiece, with the tokens' offsets.

    tokenizer = FullTokenizer(vocab_file=None, spm_model_file="30k-clean.model")
    tokenizer.tokenize_text("A café.")            # ['▁a', '▁cafe', '.']
    tokenizer.encode_with_offsets("A café.")      # the same with ids and character offsets

"Piece" is SentencePiece's word for a token. `tokenize` takes preprocessed text, as in the published
code. `tokenize_text`, `encode_with_offsets` and `encode_ids_batch` take raw text.
`FullTokenizer.preprocess` does this:

* For SentencePiece, it calls `preprocess_text(text, lower=do_lower_case)`. This drops accents,
  unless the model file is marked to keep them (`train_vocab --keep_accents`).
* For WordPiece, it does nothing: `BasicTokenizer` does all the work.

Python's Unicode tables define white space, punctuation and combining characters. This module does
not import TensorFlow, so that worker processes start quickly. TensorFlow 1.15's symbols replace
the symbols of SentencePiece if SentencePiece is loaded later. So if you sample segmentations with
TensorFlow 1.15, import this module first.
"""

import collections
import itertools
import re
import string
import unicodedata
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

import sentencepiece as spm

from albert.util import UserError, files, log

Text = Union[str, bytes]  # bytes are UTF-8

SPIECE_UNDERLINE = "\u2581"  # the character that SentencePiece writes for a space


_REPLACEMENT = "\ufffd"
_MAX_REMEMBERED_WORDS = 1 << 16


class Encoding(NamedTuple):
    """The tokens of a text. Piece n covers the characters text[starts[n]:ends[n]], its span.

    Offsets count characters of the text before any normalisation. Starts and ends never decrease.
    Spans neither begin nor end with white space. A piece that is only a space has the empty span
    before the next character. If one character becomes several pieces ("½" becomes "1", "⁄", "2"),
    all of them have the span of this character. Dropped combining marks belong to the span of the
    character before them.
    """

    pieces: List[str]
    ids: List[int]
    starts: List[int]
    ends: List[int]


# ------------------------------------------------------------------------------ text and characters


def convert_to_unicode(text: Text) -> str:
    """Returns `text` as str. Decodes bytes as UTF-8 and drops invalid bytes.

    Raises UserError if `text` is neither str nor bytes.
    """
    if isinstance(text, str):
        return text
    if isinstance(text, bytes):
        return text.decode("utf-8", "ignore")
    raise UserError(f"Text must be str or bytes, not {type(text).__name__}: {text!r}.")


def printable_text(text: Text) -> str:
    """Returns `text` as str, for print and log functions."""
    return convert_to_unicode(text)


def whitespace_tokenize(text: str) -> List[str]:
    """Returns the runs of characters between white space."""
    return text.split()


def _is_whitespace(char: str) -> bool:
    """Whether a character is tab, a line end, or in the Unicode class Zs, as the space is."""
    return char in "\t\n\r" or unicodedata.category(char) == "Zs"


def _is_control(char: str) -> bool:
    """Whether a character is a control or format character, but not tab or a line end."""
    return char not in "\t\n\r" and unicodedata.category(char) in ("Cc", "Cf")


def _is_punctuation(char: str) -> bool:
    """Whether a character is an ASCII sign (also "$") or in one of the Unicode classes P*."""
    return char in string.punctuation or unicodedata.category(char).startswith("P")


# In BERT's vocabularies each character of these blocks is a word: Chinese, but not Japanese kana or
# Korean hangul.
_CHINESE = (
    "\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f"
    "\U0002b740-\U0002b81f\U0002b820-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f"
)
# White space for WordPiece: tab, line ends, and the Unicode classes Zs, Zl and Zp.
_SPACES = "\t\n\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_WORD = re.compile(f"[{_CHINESE}]|[^{_SPACES}{_CHINESE}]+")


def _words(text: str) -> List[str]:
    """Returns the words that WordPiece cuts: runs between white space, and Chinese characters."""
    return text.split() if text.isascii() and text.isprintable() else _WORD.findall(text)


class _CharacterTable(dict):
    """A table for str.translate that computes the replacement of each character once."""

    def __init__(self, replace):
        super().__init__()
        self._replace = replace
        self._uneven = set()

    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = replacement = self._replace(char)
        if len(replacement.replace(" ", "")) != 1 and not char.isspace():
            self._uneven.add(char)
        return replacement

    def is_even(self, text: str) -> bool:
        """Returns whether each visible character of `text` becomes one visible character."""
        text.translate(self)
        return self._uneven.isdisjoint(text)


def _replace_surrogates(char: str) -> str:
    """Replaces half of a surrogate pair, which is no valid text."""
    return _REPLACEMENT if "\ud800" <= char <= "\udfff" else char


def _decompose(char: str) -> str:
    """Applies NFKD and drops combining characters."""
    parts = unicodedata.normalize("NFKD", _replace_surrogates(char))
    return "".join(part for part in parts if not unicodedata.combining(part))


def _clean(char: str) -> str:
    """Drops control and format characters."""
    return "" if char == _REPLACEMENT or _is_control(char) else char


def _strip_accents(text: str) -> str:
    """Applies NFD and drops combining marks (class Mn)."""
    parts = unicodedata.normalize("NFD", text)
    return "".join(part for part in parts if unicodedata.category(part) != "Mn")


def _separate(char: str) -> str:
    """Puts spaces around punctuation."""
    return f" {char} " if _is_punctuation(char) else char


# NFKD of each character gives the same as NFKD of the text. Only the order of combining characters
# could differ, and those are dropped.
_DECOMPOSED = _CharacterTable(_decompose)
_WITH_ACCENTS = _CharacterTable(_replace_surrogates)
_LOWER = _CharacterTable(str.lower)
_CLEANED = _CharacterTable(_clean)
_FOLDED = _CharacterTable(lambda char: _strip_accents(_clean(char).lower()))
_SEPARATED = _CharacterTable(_separate)


def preprocess_text(
    inputs: Text,
    remove_space: bool = True,
    lower: bool = False,
    keep_accents: bool = False,
) -> str:
    """Returns text in the form that SentencePiece models of ALBERT expect.

    Args:
      inputs: any text.
      remove_space: replace each run of white space with one space, and strip both ends. This comes
        before the decomposition (NFKD), which may add more spaces.
      lower: convert the text to lower case.
      keep_accents: do not decompose characters, and keep combining marks, as the option of Hugging
        Face's AlbertTokenizer does. The model itself then composes characters (NFKC).
    """
    outputs = convert_to_unicode(inputs)
    if remove_space:
        outputs = " ".join(outputs.split())
    if not outputs.isascii():
        outputs = outputs.translate(_WITH_ACCENTS if keep_accents else _DECOMPOSED)
    return outputs.lower() if lower else outputs


# ---------------------------------------------------------------------------------------- alignment
# Each step from the text to the pieces adds and drops white space, so the alignment counts only
# visible characters: the n-th in the pieces is the n-th in the translated text.


_Spans = Tuple[List[int], List[int]]  # (starts, ends) of characters or pieces, as offsets


def _sources(text: str, table: _CharacterTable) -> _Spans:
    """Returns the span in `text` of each visible character of text.translate(table)."""
    visible = [index for index, char in enumerate(text) if not char.isspace()]
    if table.is_even(text):
        return visible, [index + 1 for index in visible]
    starts: List[int] = []
    ends: List[int] = []
    for index in visible:
        replacement = table[ord(text[index])]
        count = len(replacement.replace(" ", ""))
        starts += [index] * count
        ends += [index + 1] * count
        if not replacement and ends and ends[-1] == index:
            ends[-1] = index + 1  # a dropped mark belongs to the letter before it
    return starts, ends


def _piece_spans(lengths: Sequence[int], sources: _Spans, text_end: int) -> _Spans:
    """Returns the spans of pieces in the text.

    Args:
      lengths: the number of visible characters of each piece; 0 for a space.
      sources: the span in the text of each visible character of all pieces.
      text_end: the start of a space after all visible characters.
    """
    limits = [0, *itertools.accumulate(lengths)]
    char_starts, char_ends = [*sources[0], text_end], sources[1]
    starts = [char_starts[first] for first in limits[:-1]]
    ends = [char_ends[limit - 1] if limit else 0 for limit in limits[1:]]
    # A space ends where it starts. If one character became several words with spaces between them,
    # such a space must not end before the piece in front of it.
    return starts, list(itertools.accumulate(map(max, starts, ends), max))


# ------------------------------------------------------------------------------------ SentencePiece

# A field at the end of the model file. sentencepiece_model.proto reserves the numbers from 200 on
# for extensions. SentencePiece ignores such a field, and keeps it when it writes the model.
_KEEP_ACCENTS = b"\xc2\x0c\x14albert: keep accents"


def keeps_accents(model: bytes) -> bool:
    """Returns whether a SentencePiece model keeps accents."""
    return _KEEP_ACCENTS in model


def with_keep_accents(model: bytes, keep_accents: bool) -> bytes:
    """Returns the content of a SentencePiece model, with the field for keep_accents or without."""
    return model.replace(_KEEP_ACCENTS, b"") + (_KEEP_ACCENTS if keep_accents else b"")


def _cut_digit_comma(sp_model: Any, piece: str) -> List[str]:
    """Cuts "▁1993," into the pieces of "1993" and a comma. Other pieces stay whole.

    The model adds an underline to "1993" even if `piece` has none. The published code tries to
    remove it, but fails in Python 3. The published models were trained this way.
    """
    if piece[-1:] == "," and piece[-2:-1].isdigit():
        return sp_model.EncodeAsPieces(piece[:-1].replace(SPIECE_UNDERLINE, "")) + [","]
    return [piece]


def encode_pieces(
    sp_model: Any, text: Text, return_unicode: bool = True, sample: bool = False
) -> List[str]:
    """Returns the pieces of `text`. A comma after a digit is always a separate piece.

    Args:
      sp_model: a sentencepiece.SentencePieceProcessor.
      text: the output of `preprocess_text`.
      return_unicode: ignored; pieces are always str.
      sample: draw one of the 64 best segmentations (alpha 0.1) instead of the best.
    """
    text = convert_to_unicode(text)
    if sample:
        pieces = sp_model.SampleEncodeAsPieces(text, 64, 0.1)
    else:
        pieces = sp_model.EncodeAsPieces(text)
    output = []
    for piece in pieces:
        if piece[-1:] == ",":
            output += _cut_digit_comma(sp_model, piece)
        else:
            output.append(piece)
    return output


def encode_ids(sp_model: Any, text: Text, sample: bool = False) -> List[int]:
    """Returns the ids of `encode_pieces(sp_model, text, sample=sample)`."""
    return [sp_model.PieceToId(piece) for piece in encode_pieces(sp_model, text, sample=sample)]


class _SentencePieceEncoder:
    """Encodes text for FullTokenizer with a SentencePiece model."""

    def __init__(self, sp_model: Any, vocab: Dict[str, int]):
        self._model = sp_model
        self._vocab = vocab
        self._unknown = sp_model.unk_id()
        ids = {index: self.ids(_cut_digit_comma(sp_model, piece)) for piece, index in vocab.items()}
        self._cut_ids = {index: parts for index, parts in ids.items() if len(parts) > 1}
        self._special_ids = {self._unknown, *self._cut_ids}
        # With byte fallback, a character may be several pieces. Its first byte has the length 1.
        self._byte_lengths = {
            piece: int(int(piece[1:-1], 16) & 0xC0 != 0x80)
            for piece, index in vocab.items()
            if sp_model.IsByte(index)
        }

    def pieces(self, text: str) -> List[str]:
        return encode_pieces(self._model, text)

    def ids(self, pieces: Iterable[str]) -> List[int]:
        find, unknown = self._vocab.get, self._unknown
        return [find(piece, unknown) for piece in pieces]

    def ids_batch(self, texts: List[str], num_threads: int) -> List[List[int]]:
        """Encodes with the model, which is fast. Corrects ids if `encode_pieces` cuts otherwise."""
        batch = self._model.Encode(texts, out_type=int, num_threads=num_threads)
        for row, ids in enumerate(batch):
            if self._special_ids.isdisjoint(ids):
                continue
            if self._unknown in ids:
                # The text of an unknown piece may be a control symbol, or end in a comma.
                batch[row] = self.ids(self.pieces(texts[row]))
            else:
                batch[row] = [part for index in ids for part in self._cut_ids.get(index, (index,))]
        return batch

    def encode(self, text: str, prepared: str, table: _CharacterTable) -> Encoding:
        """Encodes `prepared`, whose visible characters align with text.translate(table)."""
        pieces = self.pieces(prepared)
        joined = "".join(pieces)
        is_even = len(text) == len(prepared) and (text.isascii() or table.is_even(text))
        if is_even and joined == f" {prepared}".replace(" ", SPIECE_UNDERLINE):
            # In the usual case, the model only adds an underline at the start. This is fast.
            ends = [limit - 1 for limit in itertools.accumulate(map(len, pieces))]
            starts = [end - len(piece.lstrip(SPIECE_UNDERLINE)) for piece, end in zip(pieces, ends)]
            return Encoding(pieces, self.ids(pieces), starts, ends)
        sources = _sources(text.replace(SPIECE_UNDERLINE, " "), table)
        prepared = prepared.replace(SPIECE_UNDERLINE, " ")
        if joined.replace(SPIECE_UNDERLINE, "") != prepared.replace(" ", ""):
            sources = self._normalized(prepared, sources)
        lengths = [
            self._byte_lengths.get(piece, len(piece.replace(SPIECE_UNDERLINE, "")))
            for piece in pieces
        ]
        spans = _piece_spans(lengths, sources, len(text.rstrip()))
        return Encoding(pieces, self.ids(pieces), *spans)

    def _normalized(self, prepared: str, sources: _Spans) -> _Spans:
        """Returns the spans in the text of each visible character of the model's normalised text.

        `sources` has the spans of each visible character of `prepared`, which is not normalised.
        """
        normalized, offsets = self._model.Normalize(prepared, with_offsets=True)
        # From each offset to the next larger one. If offsets are equal, the last entry counts.
        end_of = dict(zip(offsets, offsets[1:]))
        rank = [0, *itertools.accumulate(not char.isspace() for char in prepared)]
        visible = [offset for char, offset in zip(normalized, offsets) if char != SPIECE_UNDERLINE]
        return (
            [sources[0][rank[offset]] for offset in visible],
            [sources[1][rank[end_of[offset]] - 1] for offset in visible],
        )


# ---------------------------------------------------------------------------------------- WordPiece


class BasicTokenizer:
    """Cuts text at white space and punctuation, and optionally lower-cases it without accents."""

    def __init__(self, do_lower_case: bool = True):
        """With do_lower_case, converts the text to lower case and drops accents."""
        self.do_lower_case = do_lower_case

    def tokenize(self, text: Text) -> List[str]:
        """Returns the tokens of `text`: words, punctuation signs and Chinese characters."""
        return [token for word in _words(convert_to_unicode(text)) for token in self.cut(word)]

    def cut(self, word: str) -> List[str]:
        """Returns the tokens of a word: a run between white space, or a Chinese character."""
        word = word.translate(_CLEANED)
        if self.do_lower_case:
            word = _strip_accents(word.lower())
        return word.translate(_SEPARATED).split()


class WordpieceTokenizer:
    """Cuts a word from left to right, each time into the longest piece in the vocabulary."""

    def __init__(
        self,
        vocab: Dict[str, int],
        unk_token: str = "[UNK]",
        max_input_chars_per_word: int = 200,
    ):
        """Takes the vocabulary, the token for unknown words, and the maximum length of a word."""
        self.vocab = vocab
        self.unk_token = unk_token
        self.max_input_chars_per_word = max_input_chars_per_word
        self._longest = max(map(len, vocab), default=0)

    def tokenize(self, text: Text) -> List[str]:
        """Returns the pieces of all words in `text`. Later pieces of a word begin with "##"."""
        words = whitespace_tokenize(convert_to_unicode(text))
        return [piece for word in words for piece, _ in self.cut(word)]

    def cut(self, word: str) -> List[Tuple[str, int]]:
        """Returns (piece, number of its characters in the word) for all pieces of a word.

        If no pieces cover the word, the result is only the unknown token.
        """
        pieces: List[Tuple[str, int]] = []
        start = 0
        while start < len(word) <= self.max_input_chars_per_word:
            prefix = "##" if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                if prefix + word[start:end] in self.vocab:
                    break
            else:
                break
            pieces.append((prefix + word[start:end], end - start))
            start = end
        return pieces if start == len(word) else [(self.unk_token, len(word))]


class _WordPieceEncoder:
    """Encodes text for FullTokenizer with a WordPiece vocabulary. Remembers words."""

    def __init__(self, basic: BasicTokenizer, wordpiece: WordpieceTokenizer):
        self._basic = basic
        self._wordpiece = wordpiece
        self._remembered: Dict[str, Encoding] = {}

    def pieces(self, text: str) -> List[str]:
        return [piece for word in _words(text) for piece in self._word(word).pieces]

    def ids(self, pieces: Iterable[str]) -> List[int]:
        return convert_by_vocab(self._wordpiece.vocab, pieces)

    def ids_batch(self, texts: List[str], num_threads: int) -> List[List[int]]:
        return [
            [index for word in _words(text) for index in self._word(word).ids] for text in texts
        ]

    def encode(self, text: str, *_: Any) -> Encoding:
        encoding = Encoding([], [], [], [])
        for match in _WORD.finditer(text):
            offset, word = match.start(), self._word(match.group())
            encoding.pieces.extend(word.pieces)
            encoding.ids.extend(word.ids)
            encoding.starts.extend([offset + start for start in word.starts])
            encoding.ends.extend([offset + end for end in word.ends])
        return encoding

    def _word(self, word: str) -> Encoding:
        """Encodes a word: a run between white space, or a Chinese character."""
        encoding = self._remembered.get(word)
        if encoding is None:
            parts = [part for token in self._basic.cut(word) for part in self._wordpiece.cut(token)]
            pieces = [piece for piece, _ in parts]
            sources = _sources(word, _FOLDED if self._basic.do_lower_case else _CLEANED)
            spans = _piece_spans([length for _, length in parts], sources, len(word))
            encoding = Encoding(pieces, self.ids(pieces), *spans)
            if len(self._remembered) >= _MAX_REMEMBERED_WORDS:
                self._remembered.clear()
            self._remembered[word] = encoding
        return encoding


# ------------------------------------------------------------------------------------- vocabularies


def load_vocab(vocab_file: str) -> "collections.OrderedDict[str, int]":
    """Returns {token: id} of a file with one token per line, in the order of the file.

    Only "\\n" ends a line, because published vocabularies have other line separators as tokens. In
    each line, text after white space (the scores in SentencePiece's .vocab files) is ignored. The
    first blank line is the token " ". Later blank lines use up an id, for a token that no text has.
    Empty lines at the end of the file are ignored.

    Raises:
      UserError: the file cannot be read, is not UTF-8, or repeats a token, so that ids would not be
        line numbers.
    """
    vocab: collections.OrderedDict[str, int] = collections.OrderedDict()
    for line in files.read_text(vocab_file).rstrip("\r\n").split("\n"):
        token = (line.split() or [" "])[0]
        if token == " " and token in vocab:
            token = f" {len(vocab)}"
        if token in vocab:
            raise UserError(
                f"Line {len(vocab) + 1} of '{vocab_file}' repeats the token {token!r} of line "
                f"{vocab[token] + 1}, so ids would not be line numbers. Use the model's own file."
            )
        vocab[token] = len(vocab)
    return vocab


def _load_model(path: str) -> Tuple[Any, Dict[str, int]]:
    """Returns the SentencePiece processor for a model file, and the id of each piece."""
    model = spm.SentencePieceProcessor()
    try:
        model.LoadFromSerializedProto(files.read_bytes(path))
        vocab = {model.IdToPiece(index): index for index in range(model.GetPieceSize())}
    except (RuntimeError, UnicodeDecodeError) as error:
        raise UserError(
            f"'{path}' is not a SentencePiece model. Give the .model file of a released archive or "
            "of train_vocab as spm_model_file."
        ) from error
    return model, vocab


def convert_by_vocab(vocab: Dict[Any, Any], items: Iterable[Any]) -> List[Any]:
    """Returns vocab[item] for each item. Raises UserError if the vocabulary lacks an item."""
    try:
        return [vocab[item] for item in items]
    except KeyError as error:
        raise UserError(
            f"{error.args[0]!r} is not in the vocabulary of {len(vocab)} entries. Use the model's "
            "own vocabulary, or make one by train_vocab."
        ) from error


def convert_tokens_to_ids(vocab: Dict[str, int], tokens: Iterable[str]) -> List[int]:
    """Returns the id of each token; see `convert_by_vocab`."""
    return convert_by_vocab(vocab, tokens)


def convert_ids_to_tokens(inv_vocab: Dict[int, str], ids: Iterable[int]) -> List[str]:
    """Returns the token of each id; see `convert_by_vocab`."""
    return convert_by_vocab(inv_vocab, ids)


# ---------------------------------------------------------------------------------- full tokenizer


class FullTokenizer:
    """Turns text into tokens and ids, by SentencePiece if there is a model, or else by WordPiece.

    Attributes:
      vocab, inv_vocab: {token: id}, and {id: token}.
      sp_model: the sentencepiece.SentencePieceProcessor; None for WordPiece.
      do_lower_case, keep_accents: see the module's docstring.
      basic_tokenizer, wordpiece_tokenizer: the two steps of WordPiece; only for WordPiece.

    A tokenizer works in forked processes and with pickle.
    """

    def __init__(
        self,
        vocab_file: Optional[str],
        do_lower_case: bool = True,
        spm_model_file: Optional[str] = None,
    ):
        """Loads the SentencePiece model, or else the WordPiece vocabulary.

        Raises:
          UserError: both are None, or the file has the wrong format.
        """
        self.do_lower_case = bool(do_lower_case)
        self.sp_model = None
        self.keep_accents = False
        self._encoder: Any
        if spm_model_file:
            model, self.vocab = _load_model(spm_model_file)
            self.sp_model = model
            self.keep_accents = keeps_accents(model.serialized_model_proto())
            self._encoder = _SentencePieceEncoder(model, self.vocab)
        elif vocab_file:
            self.vocab = load_vocab(vocab_file)
            if "[UNK]" not in self.vocab:
                raise UserError(
                    f"'{vocab_file}' has no token [UNK]. Give the model's WordPiece vocabulary; a "
                    "SentencePiece model goes into spm_model_file."
                )
            self.basic_tokenizer = BasicTokenizer(do_lower_case=self.do_lower_case)
            self.wordpiece_tokenizer = WordpieceTokenizer(vocab=self.vocab)
            self._encoder = _WordPieceEncoder(self.basic_tokenizer, self.wordpiece_tokenizer)
        else:
            raise UserError(
                "No vocabulary: give spm_model_file (English ALBERT: 30k-clean.model) or "
                "vocab_file (Chinese ALBERT: vocab_chinese.txt). It is in the released archive."
            )
        self.inv_vocab = {index: piece for piece, index in self.vocab.items()}

    @classmethod
    def from_scratch(
        cls, vocab_file: Optional[str], do_lower_case: bool, spm_model_file: Optional[str]
    ) -> "FullTokenizer":
        """Returns FullTokenizer(vocab_file, do_lower_case, spm_model_file)."""
        return cls(vocab_file, do_lower_case, spm_model_file)

    @classmethod
    def from_hub_module(cls, hub_module: str, use_spm: bool = True) -> "FullTokenizer":
        """Returns the tokenizer of a TF1 hub module, from its signature `tokenization_info`.

        `use_spm`: whether the module's vocab_file is a SentencePiece model.
        """
        from albert.runtimes import hub_module as hub

        _, _, path, do_lower_case = hub.read(hub_module)
        return cls(path, do_lower_case, path if use_spm else None)

    def preprocess(self, text: Text) -> str:
        """Returns `text` in the form that `tokenize` takes; see the module's docstring."""
        if self.sp_model is not None:
            return preprocess_text(text, True, self.do_lower_case, self.keep_accents)
        return convert_to_unicode(text)

    def tokenize(self, text: Text) -> List[str]:
        """Returns the pieces of the output of `preprocess`."""
        return self._encoder.pieces(convert_to_unicode(text))

    def tokenize_text(self, text: Text) -> List[str]:
        """Returns the pieces of raw text: tokenize(preprocess(text))."""
        return self.tokenize(self.preprocess(text))

    def encode_with_offsets(self, text: Text) -> Encoding:
        """Returns the pieces of tokenize_text(text), with ids, and offsets in `text`.

        If `text` is bytes, offsets count characters of the decoded text.
        """
        text = convert_to_unicode(text)
        table = _DECOMPOSED
        if self.keep_accents:
            table = _LOWER if self.do_lower_case else _WITH_ACCENTS
        return self._encoder.encode(text, self.preprocess(text), table)

    def encode_ids_batch(self, lines: Sequence[Text], *, num_threads: int = 1) -> List[List[int]]:
        """Returns the ids of tokenize_text(line) for each line. Faster than single calls.

        SentencePiece uses `num_threads` threads. Use 1 in worker processes. WordPiece always uses
        one thread.
        """
        return self._encoder.ids_batch([self.preprocess(line) for line in lines], num_threads)

    def convert_tokens_to_ids(self, tokens: Iterable[Text]) -> List[int]:
        """Returns the id of each token. For SentencePiece, unknown tokens get the id of <unk>.

        Raises UserError if a WordPiece vocabulary lacks a token.
        """
        return self._encoder.ids([printable_text(token) for token in tokens])

    def convert_ids_to_tokens(self, ids: Iterable[int]) -> List[str]:
        """Returns the token of each id. Raises UserError if an id is not in the vocabulary."""
        return convert_by_vocab(self.inv_vocab, ids)

    def required_ids(self, pieces: Iterable[str]) -> List[int]:
        """Returns the ids of tokens that must exist, such as [CLS], [SEP] and [MASK].

        Raises UserError if a token is missing. (convert_tokens_to_ids may return <unk>.)
        """
        return convert_by_vocab(self.vocab, pieces)


def is_sentencepiece(path: str) -> bool:
    """Returns whether a vocabulary is a SentencePiece model, not a list of tokens."""
    try:
        _load_model(path)
    except ValueError:
        return False
    return True


MOST_ROUNDING = 128  # models round vocab_size up to a multiple of at most this number


def check_vocab_size(tokenizer: FullTokenizer, vocab_size: int):
    """Raises UserError if the model's vocab_size is too small for the tokenizer.

    Some models round vocab_size up. If there are more unused rows than that, warns that the
    vocabulary may be from another model.
    """
    pieces = 1 + max(tokenizer.vocab.values())
    if pieces > vocab_size:
        raise UserError(
            f"The tokenizer has {pieces} pieces, but the model's vocab_size is {vocab_size}: they "
            "do not belong together. Use the vocabulary that came with the model, or a "
            f"configuration with vocab_size {pieces}."
        )
    if vocab_size - pieces >= MOST_ROUNDING:
        log.warning(
            "The tokenizer has %d pieces and the model's vocab_size is %d: make sure that they "
            "belong together.",
            pieces,
            vocab_size,
        )
