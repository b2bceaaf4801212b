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
TensorFlow is imported only to read a file, so that worker processes start without it.
"""

import collections
import functools
import itertools
import logging
import re
import sys
import unicodedata
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Pattern, Sequence, Tuple, Union

# TensorFlow 1.15's symbols shadow those of a SentencePiece that is loaded after it: sampling would
# end the process. So this is asked before SentencePiece is loaded.
_SAMPLING_CRASHES = "tensorflow" in sys.modules and "sentencepiece" not in sys.modules

import sentencepiece as spm  # noqa: E402

from albert.util import files  # noqa: E402
from albert.util.errors import UserError  # noqa: E402

SPIECE_UNDERLINE = "\u2581"  # what SentencePiece writes for a space

_LOGGER = logging.getLogger(__name__)

_WORD = re.compile(r"\S+")
_REPLACEMENT = "\ufffd"
_MAX_REMEMBERED_WORDS = 1 << 16
_LONGEST_REMEMBERED_WORD = 64  # longer ones are addresses and the like, which rarely repeat


class Encoding(NamedTuple):
    """The tokens of a text; piece n stands for the characters text[starts[n]:ends[n]].

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
    """White space as WordPiece sees it: space, tab, line ends, and the Unicode class Zs."""
    return char in " \t\n\r" or unicodedata.category(char) == "Zs"


def _is_control(char: str) -> bool:
    """Control and format characters, but for those that count as white space."""
    return char not in "\t\n\r" and unicodedata.category(char) in ("Cc", "Cf")


def _is_punctuation(char: str) -> bool:
    """All ASCII signs (also "$") but letters, digits and space, and the classes P*."""
    code = ord(char)
    if code < 128:
        return 33 <= code <= 126 and not char.isalnum()
    return unicodedata.category(char).startswith("P")


# The blocks whose characters are words by themselves in BERT's vocabularies: Chinese, not Japanese
# kana or Korean hangul.
_CHINESE = (
    "\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f"
    "\U0002b740-\U0002b81f\U0002b820-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f"
)
_CHINESE_CHARACTER = re.compile(f"[{_CHINESE}]")
_CHINESE_OR_WORD = re.compile(rf"[{_CHINESE}]|[^\s{_CHINESE}]+")


class _CharacterTable(dict):
    """A table for str.translate that computes each character's replacement once."""

    def __init__(self, replacement):
        super().__init__()
        self._replacement = replacement

    def __missing__(self, code: int) -> str:
        self[code] = self._replacement(chr(code))
        return self[code]


def _kept(char: str) -> str:
    """The character itself; half of a surrogate pair is no text at all."""
    return _REPLACEMENT if "\ud800" <= char <= "\udfff" else char


def _decomposed(char: str) -> str:
    """NFKD without combining characters."""
    parts = unicodedata.normalize("NFKD", _kept(char))
    return "".join(part for part in parts if not unicodedata.combining(part))


def _cleaned(char: str) -> str:
    """Drops control characters, unifies white space, sets Chinese characters apart."""
    if char in ("\0", _REPLACEMENT) or _is_control(char):
        return ""
    if _is_whitespace(char):
        return " "
    return f" {char} " if _CHINESE_CHARACTER.match(char) else char


def _without_accents(text: str) -> str:
    """NFD without the combining marks (class Mn)."""
    parts = unicodedata.normalize("NFD", text)
    return "".join(part for part in parts if unicodedata.category(part) != "Mn")


# Decomposing character by character gives the same as decomposing the text: what could change
# places across characters are combining ones, and those are dropped.
_DECOMPOSED = _CharacterTable(_decomposed)
_CLEANED = _CharacterTable(_cleaned)
_FOLDED = _CharacterTable(lambda char: _without_accents(char.lower()))
_KEPT = _CharacterTable(_kept)
_LOWER = _CharacterTable(str.lower)


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


class _Spans(NamedTuple):
    """For each character of a derived text, the characters of its source that it stands for."""

    starts: List[int]
    ends: List[int]


def _translation_spans(text: str, table: _CharacterTable) -> Optional[_Spans]:
    """Spans in `text` for text.translate(table); None where every character gives just one."""
    uneven = {char for char in set(text) if len(table[ord(char)]) != 1}
    if not uneven:
        return None
    starts: List[int] = []
    ends: List[int] = []
    for index, char in enumerate(text):
        count = len(table[ord(char)]) if char in uneven else 1
        if count == 0 and ends and ends[-1] == index and not char.isspace():
            ends[-1] = index + 1  # a mark belongs to the letter before it
        starts.extend([index] * count)
        ends.extend([index + 1] * count)
    return _Spans(starts, ends)


def _collapse_spans(text: str, collapsed: str) -> Optional[_Spans]:
    """Spans in `text` for " ".join(text.split()); None where nothing moves."""
    if len(text) == len(collapsed):
        return None
    starts: List[int] = []
    for word in _WORD.finditer(text):
        if starts:
            starts.append(word.start() - 1)
        starts.extend(range(word.start(), word.end()))
    return _Spans(starts, [start + 1 for start in starts])


def _normalizer_spans(offsets: Sequence[int], text: str) -> _Spans:
    """Spans in `text` for what SentencePiece made of it, from where each new character starts."""
    starts = offsets[:-1]
    ends = [0] * len(starts)
    following = offsets[-1]
    for index in range(len(starts) - 1, -1, -1):
        if offsets[index + 1] > offsets[index]:
            following = offsets[index + 1]
        end = following
        while end - 1 > starts[index] and text[end - 1].isspace():
            end -= 1
        ends[index] = end
    return _Spans(list(starts), ends)


def _to_source(pieces: _Spans, characters: Optional[_Spans]) -> _Spans:
    """Moves the spans of pieces from a derived text to its source."""
    if characters is None:
        return pieces
    count = len(characters.starts)
    starts = [
        characters.starts[start] if start < count else characters.ends[-1]
        for start in pieces.starts
    ]
    ends = [
        characters.ends[end - 1] if end > start else source
        for start, end, source in zip(pieces.starts, pieces.ends, starts)
    ]
    return _Spans(starts, ends)


# ------------------------------------------------------------------------------------ SentencePiece

# A field at the end of the model. sentencepiece_model.proto leaves numbers from 200 on to others:
# readers skip such a field, and keep it when they write the model.
_KEEP_ACCENTS = b"\xc2\x0c\x14albert: keep accents"


def keeps_accents(model: bytes) -> bool:
    """Returns whether a SentencePiece model is for text with accents."""
    return _KEEP_ACCENTS in model


def with_keep_accents(model: bytes, keep_accents: bool) -> bytes:
    """Returns the content of a SentencePiece model that says whether accents are kept."""
    return model.replace(_KEEP_ACCENTS, b"") + (_KEEP_ACCENTS if keep_accents else b"")


def _ends_in_digit_comma(piece: str) -> bool:
    """Whether the piece is cut once more, such as "▁1993,"."""
    return len(piece) > 1 and piece[-1] == "," and piece[-2].isdigit()


def _split_digit_comma(sp_model: Any, piece: str) -> List[str]:
    """Cuts "▁1993," into the pieces of "1993" and a comma.

    Cutting "1993" by itself adds an underline even where `piece` had none. The published code means
    to remove it but does not under Python 3; the models in use were trained so.
    """
    return sp_model.EncodeAsPieces(piece[:-1].replace(SPIECE_UNDERLINE, "")) + [","]


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
        if _SAMPLING_CRASHES and sys.version_info < (3, 8):
            raise RuntimeError(
                "SentencePiece cannot sample where TensorFlow 1.15 was imported first. Import "
                "albert.tokenization (or sentencepiece) before tensorflow."
            )
        pieces = sp_model.SampleEncodeAsPieces(text, 64, 0.1)
    else:
        pieces = sp_model.EncodeAsPieces(text)
    output = []
    for piece in pieces:
        if _ends_in_digit_comma(piece):
            output.extend(_split_digit_comma(sp_model, piece))
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
        self._digit_comma_ids = {
            index: self.ids(_split_digit_comma(sp_model, piece))
            for piece, index in vocab.items()
            if _ends_in_digit_comma(piece)
        }
        # Unknown characters may spell a control symbol or end in a comma: their text decides.
        self._special_ids = frozenset(self._digit_comma_ids) | {self._unknown}
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
        ordinary = self._special_ids.isdisjoint
        return [
            ids if ordinary(ids) else self._mended(ids, text) for ids, text in zip(batch, texts)
        ]

    def _mended(self, ids: List[int], text: str) -> List[int]:
        """Corrects the model's ids of a text to those of `encode_pieces`."""
        if self._unknown in ids:
            return self.ids(self.pieces(text))
        cut = self._digit_comma_ids
        return [part for index in ids for part in cut.get(index, (index,))]

    def pieces_and_spans(self, text: str) -> Tuple[List[str], _Spans]:
        """Returns the pieces of `text` and the characters of it that each stands for."""
        raw = self._model.EncodeAsPieces(text)
        pieces, spans = self._place(raw)
        if "".join(raw) == SPIECE_UNDERLINE + text.replace(" ", SPIECE_UNDERLINE):
            # The model only put its underline in front.
            moved = _Spans([start - 1 for start in spans.starts], [end - 1 for end in spans.ends])
            return pieces, moved
        normalized, offsets = self._model.Normalize(text, with_offsets=True)
        assert sum(map(self._length, raw)) == len(normalized), (raw, normalized)
        return pieces, _to_source(spans, _normalizer_spans(offsets, text))

    def _length(self, piece: str) -> int:
        """How many characters of the normalised text the piece stands for."""
        return self._byte_lengths.get(piece, len(piece))

    def _place(self, raw: List[str]) -> Tuple[List[str], _Spans]:
        """Returns the model's pieces, cut at digit-commas, and their places in the normal form."""
        length = self._length if self._byte_lengths else len
        ends = list(itertools.accumulate(map(length, raw)))
        starts = [end - length(piece.lstrip(SPIECE_UNDERLINE)) for piece, end in zip(raw, ends)]
        if not any(map(_ends_in_digit_comma, raw)):
            return raw, _Spans(starts, ends)
        pieces: List[str] = []
        spans = _Spans([], [])
        for piece, start, end in zip(raw, starts, ends):
            if _ends_in_digit_comma(piece):
                self._place_parts(piece, start, end, pieces=pieces, spans=spans)
            else:
                pieces.append(piece)
                spans.starts.append(start)
                spans.ends.append(end)
        return pieces, spans

    def _place_parts(self, piece, first, last, *, pieces, spans):
        """Adds the parts of a digit-comma piece that fills first:last, counted from its end."""
        parts = _split_digit_comma(self._model, piece)
        end = last - sum(map(len, parts))  # before `first` by the underline that cutting added
        for part in parts:
            end += len(part)
            pieces.append(part)
            spans.starts.append(max(first, end - len(part.lstrip(SPIECE_UNDERLINE))))
            spans.ends.append(max(first, end))


# ---------------------------------------------------------------------------------------- WordPiece


def _token_spans(text: str) -> List[Tuple[int, int]]:
    """Cuts around punctuation and at white space; returns (start, end) of each token."""
    if text.isalnum():
        return [(0, len(text))]
    spans = []
    start = None
    for index, char in enumerate(text):
        is_space = char.isspace()
        if not is_space and not _is_punctuation(char):
            start = index if start is None else start
            continue
        if start is not None:
            spans.append((start, index))
            start = None
        if not is_space:
            spans.append((index, index + 1))
    if start is not None:
        spans.append((start, len(text)))
    return spans


class BasicTokenizer:
    """Cuts text at white space and punctuation; lower case without accents if asked for."""

    def __init__(self, do_lower_case: bool = True):
        """Takes whether to make text lower case and strip accents from it."""
        self.do_lower_case = do_lower_case

    def tokenize(self, text: Union[str, bytes]) -> List[str]:
        """Returns the tokens of `text`: words, punctuation signs and Chinese characters."""
        words = convert_to_unicode(text).translate(_CLEANED).split()
        folded = [self.fold(word) for word in words]
        return [word[start:end] for word in folded for start, end in _token_spans(word)]

    def fold(self, word: str) -> str:
        """Returns `word` in lower case without accents, or as it is if cased."""
        if not self.do_lower_case:
            return word
        lower = word.lower()
        return lower if lower.isascii() else _without_accents(lower)

    def fold_spans(self, word: str) -> Optional[_Spans]:
        """Returns which characters of `word` each one of fold(word) stands for; None: the same."""
        if not self.do_lower_case or word.isascii():
            return None
        return _translation_spans(word, _FOLDED)


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
        return [piece for word in words for piece in self._cut(word)]

    def _cut(self, word: str) -> List[str]:
        """The pieces of one word; a word that cannot be covered is unknown as a whole."""
        pieces = []
        start = 0
        while start < len(word):
            piece = self._longest_piece(word, start)
            if piece is None or len(word) > self.max_input_chars_per_word:
                return [self.unk_token]
            pieces.append(piece)
            start += len(piece) - (2 if start else 0)
        return pieces

    def _longest_piece(self, word: str, start: int) -> Optional[str]:
        """The longest piece that word[start:] begins with."""
        prefix = "##" if start else ""
        for end in range(min(len(word), start + self._longest), start, -1):
            piece = prefix + word[start:end]
            if piece in self.vocab:
                return piece
        return None


class _WordPieceEncoder:
    """FullTokenizer's work with a WordPiece vocabulary; each new word is cut only once."""

    def __init__(self, basic: BasicTokenizer, wordpiece: WordpieceTokenizer):
        self._basic = basic
        self._wordpiece = wordpiece
        self._remembered: Dict[str, Encoding] = {}

    def pieces(self, text: str) -> List[str]:
        words = text.translate(_CLEANED).split()
        return [piece for word in words for piece in self._word(word).pieces]

    def ids(self, pieces: Iterable[str]) -> List[int]:
        return convert_by_vocab(self._wordpiece.vocab, pieces)

    def ids_batch(self, texts: List[str], num_threads: int) -> List[List[int]]:
        del num_threads  # all of it is Python, which runs on one thread
        return [
            [index for word in text.translate(_CLEANED).split() for index in self._word(word).ids]
            for text in texts
        ]

    def pieces_and_spans(self, text: str) -> Tuple[List[str], _Spans]:
        """Returns the pieces of `text` and the characters of it that each stands for."""
        cleaned = text.translate(_CLEANED)
        if len(cleaned) == len(text) + 2 * len(_CHINESE_CHARACTER.findall(text)):
            # Spaces around Chinese characters are all that was added, and nothing was dropped.
            return self._placed(text, _CHINESE_OR_WORD)
        pieces, spans = self._placed(cleaned, _WORD)
        return pieces, _to_source(spans, _translation_spans(text, _CLEANED))

    def _placed(self, text: str, words: Pattern) -> Tuple[List[str], _Spans]:
        """The pieces of what `words` finds in `text`, and their places in it."""
        pieces, starts, ends = [], [], []
        for match in words.finditer(text):
            word = self._word(match.group())
            first = match.start()
            pieces += word.pieces
            starts += [first + start for start in word.starts]
            ends += [first + end for end in word.ends]
        return pieces, _Spans(starts, ends)

    def _word(self, word: str) -> Encoding:
        """The pieces of what stands between two spaces."""
        known = self._remembered.get(word)
        if known is not None:
            return known
        encoding = self._encode_word(word)
        if len(self._remembered) >= _MAX_REMEMBERED_WORDS:
            self._remembered.clear()
        if len(word) <= _LONGEST_REMEMBERED_WORD:
            self._remembered[word] = encoding
        return encoding

    def _encode_word(self, word: str) -> Encoding:
        folded = self._basic.fold(word)
        pieces, starts, ends = [], [], []
        for start, end in _token_spans(folded):
            parts = self._wordpiece.tokenize(folded[start:end])
            lengths = [len(part) - (2 if index else 0) for index, part in enumerate(parts)]
            if parts == [self._wordpiece.unk_token]:
                lengths = [end - start]
            limits = list(itertools.accumulate([start] + lengths))
            pieces.extend(parts)
            starts.extend(limits[:-1])
            ends.extend(limits[1:])
        spans = _to_source(_Spans(starts, ends), self._basic.fold_spans(word))
        return Encoding(pieces, self.ids(pieces), *spans)


# ------------------------------------------------------------------------------------- vocabularies

_MOST_UPPER_CASE = 0.05  # of the tokens of an uncased vocabulary


@functools.lru_cache(maxsize=None)  # said once
def _warn_of_upper_case(path: str, share: float):
    _LOGGER.warning(
        "%.0f%% of the tokens of %s have upper-case letters, which never occur in lower-case text. "
        "If the vocabulary is cased, use --nodo_lower_case (do_lower_case=False).",
        *(100 * share, path),
    )


def _read_file(path: str, flag: str) -> bytes:
    """Reads a file that a flag names; a ValueError names the flag."""
    import tensorflow.compat.v1 as tf

    try:
        return files.read_bytes(path)
    except (ValueError, tf.errors.OpError) as error:
        reason = getattr(error, "message", str(error))
        raise UserError(
            f"{flag} '{path}' cannot be read ({reason}). Give the path of the file itself, "
            "local or on gs://."
        ) from error


def load_vocab(vocab_file: str) -> "collections.OrderedDict[str, int]":
    """Returns token -> id from a file with one token a line, in the order of the file.

    Lines end in "\\n" only: published vocabularies hold other line separators as tokens. What
    follows a token after white space (the scores of SentencePiece's .vocab files) is ignored. A
    line of nothing but white space is the token " "; empty lines at the end do not count.

    Raises:
      ValueError: the file cannot be read, is not UTF-8 text, is empty, or has an empty or repeated
        line, which would give the tokens below it wrong ids.
    """
    try:
        text = _read_file(vocab_file, "vocab_file").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            f"vocab_file '{vocab_file}' is not UTF-8 text ({error.reason} at byte {error.start}). "
            "A SentencePiece model goes into spm_model_file."
        ) from error
    vocab: collections.OrderedDict[str, int] = collections.OrderedDict()
    for number, line in enumerate(text.rstrip("\r\n").split("\n"), start=1):
        words = line.split()
        token = words[0] if words else " "
        if not line.rstrip("\r"):
            problem = "is empty"
        elif token in vocab:
            problem = f"repeats the token {token!r} of line {vocab[token] + 1}"
        else:
            vocab[token] = len(vocab)
            continue
        raise UserError(
            f"Line {number} of vocab_file '{vocab_file}' {problem}, so ids would not be line "
            "numbers. Use the file that came with the model, one different token a line."
        )
    return vocab


def _load_model(path: str) -> Any:
    """Returns the SentencePiece processor for a model file."""
    content = _read_file(path, "spm_model_file")
    model = spm.SentencePieceProcessor()
    try:
        model.LoadFromSerializedProto(content)
    except RuntimeError as error:
        raise UserError(
            f"spm_model_file '{path}' ({len(content)} bytes) is not a SentencePiece model. Give "
            "the .model file of a released archive or of train_vocab, not its .vocab list."
        ) from error
    return model


def _load_wordpiece_vocab(path: str) -> Dict[str, int]:
    """Loads a vocabulary, which must have the token for unknown words."""
    vocab = load_vocab(path)
    if "[UNK]" in vocab:
        return vocab
    if any(piece.startswith(SPIECE_UNDERLINE) for piece in vocab):
        raise UserError(
            f"vocab_file '{path}' lists the tokens of a SentencePiece model. Give the model itself "
            "(such as 30k-clean.model) as spm_model_file."
        )
    raise UserError(
        f"vocab_file '{path}' has no token [UNK] among its {len(vocab)}, so words it does not "
        "cover have no id. Use the WordPiece vocabulary that came with the model."
    )


def convert_by_vocab(vocab: Dict[Any, Any], items: Iterable[Any]) -> List[Any]:
    """Returns vocab[item] for each item (ids of tokens, or tokens of ids), else ValueError."""
    try:
        return [vocab[item] for item in items]
    except KeyError as error:
        raise UserError(
            f"{error.args[0]!r} is not in the vocabulary of {len(vocab)} entries. Text and "
            "vocabulary must belong to the same model."
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
        if spm_model_file:
            self.sp_model = _load_model(spm_model_file)
            self.keep_accents = keeps_accents(self.sp_model.serialized_model_proto())
            size = self.sp_model.GetPieceSize()
            self.vocab = {self.sp_model.IdToPiece(index): index for index in range(size)}
        elif vocab_file:
            self.vocab = _load_wordpiece_vocab(vocab_file)
            self.basic_tokenizer = BasicTokenizer(do_lower_case=self.do_lower_case)
            self.wordpiece_tokenizer = WordpieceTokenizer(vocab=self.vocab)
        else:
            raise UserError(
                "No vocabulary: give spm_model_file (English ALBERT: 30k-clean.model) or "
                "vocab_file (Chinese ALBERT: vocab_chinese.txt). It is in the released archive."
            )
        self.inv_vocab = {index: piece for piece, index in self.vocab.items()}
        upper = [piece for piece in self.vocab if piece[0] not in "[<" and piece != piece.lower()]
        if self.do_lower_case and len(upper) > _MOST_UPPER_CASE * len(self.vocab):
            _warn_of_upper_case(str(spm_model_file or vocab_file), len(upper) / len(self.vocab))
        self._encoder = self._make_encoder()

    def _make_encoder(self) -> Union[_SentencePieceEncoder, _WordPieceEncoder]:
        if self.sp_model is not None:
            return _SentencePieceEncoder(self.sp_model, self.vocab)
        return _WordPieceEncoder(self.basic_tokenizer, self.wordpiece_tokenizer)

    def __getstate__(self) -> Dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_encoder"}

    def __setstate__(self, state: Dict[str, Any]):
        self.__dict__.update(state)
        self._encoder = self._make_encoder()

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
        info = hub_vocabulary(hub_module)
        if use_spm:
            return cls(None, info.do_lower_case, info.vocab_file)
        return cls(info.vocab_file, info.do_lower_case)

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
        return self._encoder.pieces(self.preprocess(text))

    def encode_with_offsets(self, text: Union[str, bytes]) -> Encoding:
        """Returns the pieces of tokenize_text(text), their ids and their places in `text`.

        Bytes are decoded first; offsets count characters of the decoded text.
        """
        text = convert_to_unicode(text)
        if self.sp_model is None:
            pieces, spans = self._encoder.pieces_and_spans(text)
        else:
            prepared = self.preprocess(text)
            pieces, spans = self._encoder.pieces_and_spans(prepared)
            collapsed = " ".join(text.split())
            if not text.isascii():
                kept = _LOWER if self.do_lower_case else _KEPT
                table = kept if self.keep_accents else _DECOMPOSED
                spans = _to_source(spans, _translation_spans(collapsed, table))
            spans = _to_source(spans, _collapse_spans(text, collapsed))
        # Where one character became several words, a space between them must not step back.
        ends = list(itertools.accumulate(spans.ends, max))
        return Encoding(pieces, self._encoder.ids(pieces), list(spans.starts), ends)

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
        pieces = list(pieces)
        missing = [piece for piece in pieces if piece not in self.vocab]
        if missing:
            raise UserError(
                f"The vocabulary of {len(self.vocab)} pieces lacks {', '.join(missing)}, so it was "
                "not made for ALBERT. Use the model's own vocabulary, or make one by train_vocab."
            )
        return [self.vocab[piece] for piece in pieces]


class HubVocabulary(NamedTuple):
    """The vocabulary of a TF-Hub module."""

    vocab_file: str
    do_lower_case: bool

    @property
    def is_sentencepiece(self) -> bool:
        """Whether the file is a SentencePiece model, not a list of tokens."""
        try:
            _load_model(self.vocab_file)
        except ValueError:
            return False
        return True


def hub_vocabulary(hub_module: str) -> HubVocabulary:
    """Returns the vocabulary of a TF1 hub module, as its signature `tokenization_info` says."""
    from albert.runtimes import hub_module as hub

    module = hub.read(hub_module)
    return HubVocabulary(module.vocab_file, module.do_lower_case)


MOST_ROUNDING = 128  # rows, to the next multiple of a power of two


def check_vocab_size(tokenizer: FullTokenizer, vocab_size: int):
    """Checks that the model's embedding table, of vocab_size rows, has one for each id.

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
