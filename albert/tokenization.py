# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Text to tokens to ids, by SentencePiece or by WordPiece, with each token's place in the text.

    tokenizer = FullTokenizer(vocab_file=None, spm_model_file="30k-clean.model")
    tokenizer.tokenize_text("A café.")            # ['▁a', '▁cafe', '.']
    tokenizer.encode_with_offsets("A café.")      # the same with ids and character offsets

"Piece" is SentencePiece's word for a token. `FullTokenizer.preprocess` applies do_lower_case:

* SentencePiece sees `preprocess_text(text, lower=do_lower_case)`. `tokenize` takes text that is
  prepared already, as in the published code; `tokenize_text`, `encode_with_offsets` and
  `encode_ids_batch` take raw text. Accents are dropped unless the model file says that they are
  kept (`train_vocab --keep_accents`).
* WordPiece: `BasicTokenizer` does all of it.

Python's own Unicode tables decide what white space, punctuation and combining characters are.
TensorFlow is not imported, so that worker processes start quickly. TensorFlow 1.15's symbols shadow
those of a SentencePiece that is loaded after it: to sample there, import this module first.
"""

import collections
import itertools
import logging
import re
import string
import unicodedata
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

import sentencepiece as spm

from albert.util import files
from albert.util.errors import UserError

SPIECE_UNDERLINE = "\u2581"  # what SentencePiece writes for a space

_LOGGER = logging.getLogger(__name__)

_REPLACEMENT = "\ufffd"
_MAX_REMEMBERED_WORDS = 1 << 16


class Encoding(NamedTuple):
    """The tokens of a text; piece n covers the characters text[starts[n]:ends[n]].

    Offsets count characters of the text as it was passed in, before any normalisation. Neither
    starts nor ends ever decrease. A span holds no white space at its edges; a piece that stands for
    a space alone has the empty span before the next character. Pieces that come from one character
    (as "1", "⁄", "2" from "½") all have its span; combining marks that are dropped belong to the
    character before them.
    """

    pieces: List[str]
    ids: List[int]
    starts: List[int]
    ends: List[int]


# ------------------------------------------------------------------------------ text and characters


def convert_to_unicode(text: Union[str, bytes]) -> str:
    """Returns `text` as str; bytes are decoded as UTF-8, and other bytes in them are dropped.

    Raises ValueError where it is neither str nor bytes.
    """
    if isinstance(text, str):
        return text
    if isinstance(text, bytes):
        return text.decode("utf-8", "ignore")
    raise UserError(f"Text must be str or bytes, not {type(text).__name__}: {text!r}.")


def printable_text(text: Union[str, bytes]) -> str:
    """Returns `text` as the str that print and log functions take."""
    return convert_to_unicode(text)


def whitespace_tokenize(text: str) -> List[str]:
    """Returns the runs of characters between white space."""
    return text.split()


def _is_whitespace(char: str) -> bool:
    """Tab, line ends, and the Unicode class Zs, to which the space belongs."""
    return char in "\t\n\r" or unicodedata.category(char) == "Zs"


def _is_control(char: str) -> bool:
    """Control and format characters, except those that count as white space."""
    return char not in "\t\n\r" and unicodedata.category(char) in ("Cc", "Cf")


def _is_punctuation(char: str) -> bool:
    """ASCII signs (also "$") and the classes P*."""
    return char in string.punctuation or unicodedata.category(char).startswith("P")


# The blocks whose characters are words by themselves in BERT's vocabularies: Chinese, not Japanese
# kana or Korean hangul.
_CHINESE = (
    "\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f"
    "\U0002b740-\U0002b81f\U0002b820-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f"
)
# White space as WordPiece sees it: tab, line ends, and the Unicode classes Zs, Zl and Zp.
_SPACES = "\t\n\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_WORD = re.compile(f"[{_CHINESE}]|[^{_SPACES}{_CHINESE}]+")


def _words(text: str) -> List[str]:
    """What WordPiece cuts one by one: what stands between white space, and Chinese characters."""
    return text.split() if text.isascii() and text.isprintable() else _WORD.findall(text)


class _CharacterTable(dict):
    """A table for str.translate that computes each character's replacement once."""

    def __init__(self, replacement):
        super().__init__()
        self._replacement = replacement
        self._uneven = set()

    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = replacement = self._replacement(char)
        if len(replacement.replace(" ", "")) != 1 and not char.isspace():
            self._uneven.add(char)
        return replacement

    def is_even(self, text: str) -> bool:
        """Returns whether each visible character of `text` becomes one."""
        text.translate(self)
        return self._uneven.isdisjoint(text)


def _kept(char: str) -> str:
    """The character itself; half of a surrogate pair is no text at all."""
    return _REPLACEMENT if "\ud800" <= char <= "\udfff" else char


def _decomposed(char: str) -> str:
    """NFKD without combining characters."""
    parts = unicodedata.normalize("NFKD", _kept(char))
    return "".join(part for part in parts if not unicodedata.combining(part))


def _cleaned(char: str) -> str:
    """Drops control and format characters."""
    return "" if char == _REPLACEMENT or _is_control(char) else char


def _without_accents(text: str) -> str:
    """NFD without the combining marks (class Mn)."""
    parts = unicodedata.normalize("NFD", text)
    return "".join(part for part in parts if unicodedata.category(part) != "Mn")


def _apart(char: str) -> str:
    """Puts spaces around punctuation."""
    return f" {char} " if _is_punctuation(char) else char


# Decomposing character by character gives the same as decomposing the text: what could change
# places across characters are combining ones, and those are dropped.
_DECOMPOSED = _CharacterTable(_decomposed)
_KEPT = _CharacterTable(_kept)
_LOWER = _CharacterTable(str.lower)
_CLEANED = _CharacterTable(_cleaned)
_FOLDED = _CharacterTable(lambda char: _without_accents(_cleaned(char).lower()))
_APART = _CharacterTable(_apart)


def preprocess_text(
    inputs: Union[str, bytes],
    remove_space: bool = True,
    lower: bool = False,
    keep_accents: bool = False,
) -> str:
    """Returns text as SentencePiece models of ALBERT expect it.

    With remove_space each run of white space becomes one space, and none is left at both ends. This
    comes before the decomposition, so spaces that a character decomposes to stay. With keep_accents
    (Hugging Face's AlbertTokenizer has the same option) characters are not decomposed, and keep
    their combining marks; the model's own table composes them (NFKC).
    """
    outputs = convert_to_unicode(inputs)
    if remove_space:
        outputs = " ".join(outputs.split())
    if not outputs.isascii():
        outputs = outputs.translate(_KEPT if keep_accents else _DECOMPOSED)
    return outputs.lower() if lower else outputs


# ---------------------------------------------------------------------------------------- alignment
# White space comes and goes in each step from the text to the pieces, so only visible characters
# are followed: the n-th of the pieces is the n-th of the translated text.


_Spans = Tuple[List[int], List[int]]  # where each of some characters or pieces starts and ends


def _sources(text: str, table: _CharacterTable) -> _Spans:
    """The characters of `text` that the visible ones of text.translate(table) come from."""
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
            ends[-1] = index + 1  # a mark belongs to the letter before it
    return starts, ends


def _place(lengths: Sequence[int], sources: _Spans, text_end: int) -> _Spans:
    """The places of pieces, each of which takes the next `length` visible characters."""
    limits = [0, *itertools.accumulate(lengths)]
    following, before = [*sources[0], text_end], sources[1]
    starts = [following[first] for first in limits[:-1]]
    ends = [before[limit - 1] if limit else 0 for limit in limits[1:]]
    # A space has no length. Where one character became several words, it must not step back.
    return starts, list(itertools.accumulate(map(max, starts, ends), max))


# ------------------------------------------------------------------------------------ SentencePiece

# A field at the end of the model. sentencepiece_model.proto leaves numbers from 200 on to others:
# readers skip such a field, and keep it when they write the model.
_KEEP_ACCENTS = b"\xc2\x0c\x14albert: keep accents"


def keeps_accents(model: bytes) -> bool:
    """Returns whether a SentencePiece model keeps accents."""
    return _KEEP_ACCENTS in model


def with_keep_accents(model: bytes, keep_accents: bool) -> bytes:
    """Returns the content of a SentencePiece model with its setting of keep_accents changed."""
    return model.replace(_KEEP_ACCENTS, b"") + (_KEEP_ACCENTS if keep_accents else b"")


def _cut_digit_comma(sp_model: Any, piece: str) -> List[str]:
    """Cuts "▁1993," into the pieces of "1993" and a comma; other pieces stay whole.

    Cutting "1993" by itself adds an underline even where `piece` had none. The published code means
    to remove it but does not under Python 3; the models in use were trained so.
    """
    if piece[-1:] == "," and piece[-2:-1].isdigit():
        return sp_model.EncodeAsPieces(piece[:-1].replace(SPIECE_UNDERLINE, "")) + [","]
    return [piece]


def encode_pieces(
    sp_model: Any, text: Union[str, bytes], return_unicode: bool = True, sample: bool = False
) -> List[str]:
    """Returns the pieces of `text`, with a comma behind a digit always a piece of its own.

    Args:
      sp_model: a sentencepiece.SentencePieceProcessor.
      text: text that `preprocess_text` has prepared.
      return_unicode: ignored; pieces are always str.
      sample: draw one of the 64 best segmentations (alpha 0.1) in place of the best.
    """
    del return_unicode
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


def encode_ids(sp_model: Any, text: Union[str, bytes], sample: bool = False) -> List[int]:
    """Returns the ids of `encode_pieces(sp_model, text, sample=sample)`."""
    return [sp_model.PieceToId(piece) for piece in encode_pieces(sp_model, text, sample=sample)]


class _SentencePieceEncoder:
    """FullTokenizer's work with a SentencePiece model."""

    def __init__(self, sp_model: Any, vocab: Dict[str, int]):
        self._model = sp_model
        self._vocab = vocab
        self._unknown = sp_model.unk_id()
        ids = {index: self.ids(_cut_digit_comma(sp_model, piece)) for piece, index in vocab.items()}
        self._cut_ids = {index: parts for index, parts in ids.items() if len(parts) > 1}
        self._special_ids = {self._unknown, *self._cut_ids}
        # With byte fallback a character is several pieces; the first one stands for it.
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
        """Lets the model find the ids, and corrects those that `encode_pieces` cuts otherwise."""
        batch = self._model.Encode(texts, out_type=int, num_threads=num_threads)
        for row, ids in enumerate(batch):
            if self._special_ids.isdisjoint(ids):
                continue
            if self._unknown in ids:  # whose text may spell a control symbol or end in a comma
                batch[row] = self.ids(self.pieces(texts[row]))
            else:
                batch[row] = [part for index in ids for part in self._cut_ids.get(index, (index,))]
        return batch

    def encode(self, text: str, prepared: str, table: _CharacterTable) -> Encoding:
        """Encodes `prepared`, whose characters are those of `text` by `table`, but for spaces."""
        pieces = self.pieces(prepared)
        joined = "".join(pieces)
        is_even = len(text) == len(prepared) and (text.isascii() or table.is_even(text))
        if is_even and joined == f" {prepared}".replace(" ", SPIECE_UNDERLINE):
            # Only an underline was put in front. This is the usual case; the rest is slower.
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
        return Encoding(pieces, self.ids(pieces), *_place(lengths, sources, len(text.rstrip())))

    def _normalized(self, prepared: str, sources: _Spans) -> _Spans:
        """The sources of what the model makes of `prepared` before it cuts."""
        normalized, offsets = self._model.Normalize(prepared, with_offsets=True)
        following = dict(zip(offsets, offsets[1:]))  # the last of equal offsets counts
        rank = [0, *itertools.accumulate(not char.isspace() for char in prepared)]
        order = [
            position for char, position in zip(normalized, offsets) if char != SPIECE_UNDERLINE
        ]
        return (
            [sources[0][rank[position]] for position in order],
            [sources[1][rank[following[position]] - 1] for position in order],
        )


# ---------------------------------------------------------------------------------------- WordPiece


class BasicTokenizer:
    """Cuts text at white space and punctuation; optionally lower-cases it and drops accents."""

    def __init__(self, do_lower_case: bool = True):
        """Takes whether to make text lower case and strip accents from it."""
        self.do_lower_case = do_lower_case

    def tokenize(self, text: Union[str, bytes]) -> List[str]:
        """Returns the tokens of `text`: words, punctuation signs and Chinese characters."""
        words = _words(convert_to_unicode(text))
        return [token for word in words for token in self.cut(word)]

    def cut(self, word: str) -> List[str]:
        """Returns the tokens of a word: what stands between white space, or a Chinese character."""
        word = word.translate(_CLEANED)
        if self.do_lower_case:
            word = _without_accents(word.lower())
        return word.translate(_APART).split()


class WordpieceTokenizer:
    """Cuts a word into the longest pieces of the vocabulary, from left to right."""

    def __init__(
        self,
        vocab: Dict[str, int],
        unk_token: str = "[UNK]",
        max_input_chars_per_word: int = 200,
    ):
        """Takes the vocabulary, the token for words it does not cover, and the longest word."""
        self.vocab = vocab
        self.unk_token = unk_token
        self.max_input_chars_per_word = max_input_chars_per_word
        self._longest = max(map(len, vocab), default=0)

    def tokenize(self, text: Union[str, bytes]) -> List[str]:
        """Returns the pieces of each word of `text`; all but a word's first begin with "##"."""
        words = whitespace_tokenize(convert_to_unicode(text))
        return [piece for word in words for piece, _ in self.cut(word)]

    def cut(self, word: str) -> List[Tuple[str, int]]:
        """Returns the pieces of one word, each with the number of characters it stands for.

        A word that cannot be covered is unknown as a whole.
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
    """FullTokenizer's work with a WordPiece vocabulary; each new word is cut only once."""

    def __init__(self, basic: BasicTokenizer, wordpiece: WordpieceTokenizer):
        self._basic = basic
        self._wordpiece = wordpiece
        self._remembered: Dict[str, Encoding] = {}

    def pieces(self, text: str) -> List[str]:
        return [piece for word in _words(text) for piece in self._word(word).pieces]

    def ids(self, pieces: Iterable[str]) -> List[int]:
        return convert_by_vocab(self._wordpiece.vocab, pieces)

    def ids_batch(self, texts: List[str], num_threads: int) -> List[List[int]]:
        del num_threads  # all of it is Python, which runs on one thread
        return [
            [index for word in _words(text) for index in self._word(word).ids] for text in texts
        ]

    def encode(self, text: str, *_: Any) -> Encoding:
        encoding = Encoding([], [], [], [])
        for match in _WORD.finditer(text):
            first, word = match.start(), self._word(match.group())
            encoding.pieces.extend(word.pieces)
            encoding.ids.extend(word.ids)
            encoding.starts.extend([first + start for start in word.starts])
            encoding.ends.extend([first + end for end in word.ends])
        return encoding

    def _word(self, word: str) -> Encoding:
        """The pieces of what stands between two spaces."""
        encoding = self._remembered.get(word)
        if encoding is None:
            parts = [part for token in self._basic.cut(word) for part in self._wordpiece.cut(token)]
            pieces = [piece for piece, _ in parts]
            sources = _sources(word, _FOLDED if self._basic.do_lower_case else _CLEANED)
            spans = _place([length for _, length in parts], sources, len(word))
            encoding = Encoding(pieces, self.ids(pieces), *spans)
            if len(self._remembered) >= _MAX_REMEMBERED_WORDS:
                self._remembered.clear()
            self._remembered[word] = encoding
        return encoding


# ------------------------------------------------------------------------------------- vocabularies


def load_vocab(vocab_file: str) -> "collections.OrderedDict[str, int]":
    """Returns token -> id from a file with one token a line, in the order of the file.

    Lines end in "\\n" only: published vocabularies hold other line separators as tokens. What
    follows a token after white space (the scores of SentencePiece's .vocab files) is ignored. A
    line of nothing but white space is the token " "; others count, but no text has their tokens.
    Empty lines at the end do not count.

    Raises:
      ValueError: the file cannot be read, is not UTF-8 text, or repeats a token, which would give
        the tokens below it wrong ids.
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
    """Returns vocab[item] for each item (ids of tokens, or tokens of ids), else ValueError."""
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


# ---------------------------------------------------------------------------------- the whole thing


class FullTokenizer:
    """Text to tokens to ids, by SentencePiece if a model is given and by WordPiece otherwise.

    Attributes:
      vocab, inv_vocab: token -> id, and id -> token.
      sp_model: the sentencepiece.SentencePieceProcessor; None for WordPiece.
      do_lower_case, keep_accents: see the module's docstring.
      basic_tokenizer, wordpiece_tokenizer: the two steps of WordPiece; not there otherwise.

    A tokenizer may be pickled, and used in forked processes.
    """

    def __init__(
        self,
        vocab_file: Optional[str],
        do_lower_case: bool = True,
        spm_model_file: Optional[str] = None,
    ):
        """Loads the SentencePiece model, or else the WordPiece vocabulary.

        Raises:
          ValueError: neither is given, or the file is not what it should be.
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
        """Returns the tokenizer of a TF1 hub module, by its signature `tokenization_info`.

        `use_spm` says whether the module's vocab_file is a SentencePiece model.
        """
        from albert.runtimes import hub_module as hub

        _, _, path, do_lower_case = hub.read(hub_module)
        return cls(path, do_lower_case, path if use_spm else None)

    def preprocess(self, text: Union[str, bytes]) -> str:
        """Returns `text` as `tokenize` wants it, in lower case if do_lower_case says so."""
        if self.sp_model is not None:
            return preprocess_text(text, True, self.do_lower_case, self.keep_accents)
        return convert_to_unicode(text)

    def tokenize(self, text: Union[str, bytes]) -> List[str]:
        """Returns the pieces of text that `preprocess` has prepared."""
        return self._encoder.pieces(convert_to_unicode(text))

    def tokenize_text(self, text: Union[str, bytes]) -> List[str]:
        """Returns the pieces of text as it was written: tokenize(preprocess(text))."""
        return self.tokenize(self.preprocess(text))

    def encode_with_offsets(self, text: Union[str, bytes]) -> Encoding:
        """Returns the pieces of tokenize_text(text), their ids and their places in `text`.

        Bytes are decoded first; offsets count characters of the decoded text.
        """
        text = convert_to_unicode(text)
        table = _DECOMPOSED
        if self.keep_accents:
            table = _LOWER if self.do_lower_case else _KEPT
        return self._encoder.encode(text, self.preprocess(text), table)

    def encode_ids_batch(
        self, lines: Sequence[Union[str, bytes]], *, num_threads: int = 1
    ) -> List[List[int]]:
        """Returns the ids of tokenize_text(line) for each line, in the fastest way.

        SentencePiece may use `num_threads` cores; 1 is right inside worker processes. WordPiece
        uses one.
        """
        return self._encoder.ids_batch([self.preprocess(line) for line in lines], num_threads)

    def convert_tokens_to_ids(self, tokens: Iterable[Union[str, bytes]]) -> List[int]:
        """Returns the id of each token; SentencePiece gives unknown ones the id of <unk>.

        Raises ValueError for a token that a WordPiece vocabulary does not hold.
        """
        return self._encoder.ids([printable_text(token) for token in tokens])

    def convert_ids_to_tokens(self, ids: Iterable[int]) -> List[str]:
        """Returns the token of each id; ValueError for an id outside the vocabulary."""
        return convert_by_vocab(self.inv_vocab, ids)

    def required_ids(self, pieces: Iterable[str]) -> List[int]:
        """Returns the ids of tokens that must be there, such as [CLS], [SEP] and [MASK].

        Raises ValueError where one is missing; SentencePiece would treat it as unknown.
        """
        return convert_by_vocab(self.vocab, pieces)


def is_sentencepiece(path: str) -> bool:
    """Returns whether a vocabulary is a SentencePiece model, not a list of tokens."""
    try:
        _load_model(path)
    except ValueError:
        return False
    return True


MOST_ROUNDING = 128  # rows, to the next multiple of a power of two


def check_vocab_size(tokenizer: FullTokenizer, vocab_size: int):
    """Checks that vocab_size of the model is enough for the tokenizer.

    Raises ValueError if not. Rows to spare do no harm: some models round their size up. More than
    that are worth a warning, since the vocabulary may be another model's.
    """
    pieces = 1 + max(tokenizer.vocab.values())
    if pieces > vocab_size:
        raise UserError(
            f"The tokenizer has {pieces} pieces, but the model's vocab_size is {vocab_size}: they "
            "do not belong together. Use the vocabulary that came with the model, or a "
            f"configuration with vocab_size {pieces}."
        )
    if vocab_size - pieces >= MOST_ROUNDING:
        _LOGGER.warning(
            "The tokenizer has %d pieces and the model's vocab_size is %d: make sure that they "
            "belong together.",
            pieces,
            vocab_size,
        )
