# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Masking n-grams of whole words in many pairs of segments at once.

For one sequence, the public create_pretraining_data.py works like this (arXiv:1909.11942, section
4.1): visit the words in random order; at each draw a length n in 1 .. ngram with p(n) proportional
to 1/n (or reversed); take as many of the n words from there on as still fit the number of pieces to
predict; pass on if none fits or if one of them is taken already; stop when the number is reached.
Of the pieces taken 80% become [MASK], 10% stay, 10% become a random piece.

Here the k-th visited word of all sequences is treated in one step with arrays, which gives each
sequence exactly what it would get alone: its random numbers come from its own key. Two differences:

* The border between the segments ends a word: a continuation piece that truncation left at the
  start of B does not belong to the last word of A.
* Random replacements are ordinary pieces: never padding, unknown, control or unused ones.

Legend: N sequences, S their length, M = S - 3 pieces of both segments at most, W words of a
sequence at most, P predictions at most, V vocabulary, T pieces of a block of text.
"""

import itertools
import re
import string
from typing import Any, Callable, Dict, NamedTuple, Optional, Pattern, Sequence, Tuple

import numpy as np

from albert.pretraining import pairs as segment_pairs
from albert.pretraining import random_keys as random_streams

WORD_STARTS = ("reference", "underline")
# Of the chosen pieces these shares become [MASK], and become [MASK] or stay.
MASKED, MASKED_OR_KEPT = 0.8, 0.9

_UNDERLINE = "\u2581"  # SentencePiece's mark of a space
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
# What counts as punctuation in the English models: no apostrophe, "<", ">" or "=".
_PUNCTUATION = frozenset('!"#$%&()*+,-./:;?@[\\]^_`{|}~\u00a3\u20ac')
_RESERVED = re.compile(r"\[(PAD|UNK|CLS|SEP|MASK|unused\d+)\]|<[^<>\s]+>")
_LAST = np.uint64(0xFFFFFFFFFFFFFFFF)

# What is drawn from the key of a pair; segment_pairs draws the numbers below.
WORDS, ACTIONS, _PERMUTED_WORDS, _PERMUTATION, PAIR_DRAWS = range(
    segment_pairs.PAIR_DRAWS, segment_pairs.PAIR_DRAWS + 5
)


# -------------------------------------------------------------------------------------- vocabulary


class PieceTable(NamedTuple):
    """What masking needs to know about a vocabulary."""

    is_word_start: np.ndarray  # bool [V]
    # Where SentencePiece's unknown piece, that of the text below it, does not start a word.
    odd_unknown: Optional[Pattern]
    unknown_id: int
    ordinary: np.ndarray  # int32: ids that may replace a piece at random
    cls_id: int
    sep_id: int
    mask_id: int


def starts_word(piece: str) -> bool:
    """Returns whether a SentencePiece piece starts a word by the English models' rule.

    It does if it begins with the underline or "<", is a punctuation mark, or holds a character that
    is neither a letter a-z nor punctuation (so every piece of another script starts a word).
    """
    if piece.startswith((_UNDERLINE, "<")) or piece in _PUNCTUATION:
        return True
    return any(
        character.lower() not in _LETTERS and character not in _PUNCTUATION for character in piece
    )


def word_start_rule(is_sentencepiece: bool, word_start: str = "reference") -> Callable[[str], bool]:
    """Returns whether a piece starts a word, as a function of the piece; see `piece_table`."""
    if not is_sentencepiece:
        return lambda piece: not piece.startswith("##")
    if word_start == "underline":
        return lambda piece: piece.startswith(_UNDERLINE)
    return starts_word


def is_ordinary(piece: str) -> bool:
    """Returns whether a WordPiece piece may replace another: it is none of [CLS], <pad> and so."""
    return bool(piece) and not _RESERVED.fullmatch(piece)


def piece_table(tokenizer: Any, word_start: str = "reference") -> PieceTable:
    """Returns the table for a `tokenization.FullTokenizer`.

    Args:
      tokenizer: has `vocab` (piece -> id) and `sp_model` (None for WordPiece).
      word_start: "reference", see `starts_word`; or "underline": a word starts at the underline
        only, in every language. In WordPiece vocabularies a word starts at a piece without "##".

    Raises:
      ValueError: the vocabulary lacks [CLS], [SEP] or [MASK], has no ordinary piece, or is a
        WordPiece vocabulary where "underline" was asked for.
    """
    vocab, model = tokenizer.vocab, tokenizer.sp_model
    missing = [piece for piece in ("[CLS]", "[SEP]", "[MASK]") if piece not in vocab]
    if missing:
        raise ValueError(
            f"The vocabulary has no {', '.join(missing)}; pretraining needs them. Use a "
            "vocabulary made for BERT or ALBERT, or make one with train_vocab."
        )
    if word_start == "underline" and model is None:
        raise ValueError(
            "--word_start=underline is for SentencePiece models (--spm_model_file); a WordPiece "
            "vocabulary marks continuations by ## in every language. Use --word_start=reference."
        )
    pieces = [""] * (max(vocab.values()) + 1)
    for piece, number in vocab.items():
        pieces[number] = piece
    is_special = np.array(
        [_is_special(model, number, piece) for number, piece in enumerate(pieces)]
    )
    rule = word_start_rule(model is not None, word_start)
    starts = [rule(piece) for piece in pieces]
    odd_unknown = _odd_unknown(vocab) if rule is starts_word else None
    ordinary = np.flatnonzero(~is_special).astype(np.int32)
    if not len(ordinary):
        raise ValueError("The vocabulary holds no ordinary piece, only special ones.")
    return PieceTable(
        is_word_start=np.array(starts, bool),
        odd_unknown=odd_unknown,
        unknown_id=model.unk_id() if model else -1,
        ordinary=ordinary,
        cls_id=vocab["[CLS]"],
        sep_id=vocab["[SEP]"],
        mask_id=vocab["[MASK]"],
    )


def describe_vocabulary(table: PieceTable) -> Dict[str, Any]:
    """Returns what masking on the fly must know of a vocabulary, as JSON values.

    Returns:
      {"mask_id": id of [MASK], "ordinary": [[first, one past the last], ...]: the ids that may
      replace a piece at random}.
    """
    breaks = np.flatnonzero(np.diff(table.ordinary) != 1)
    firsts = table.ordinary[np.concatenate([[0], breaks + 1])]
    lasts = table.ordinary[np.concatenate([breaks, [len(table.ordinary) - 1]])] + 1
    return {"mask_id": table.mask_id, "ordinary": np.stack([firsts, lasts], axis=1).tolist()}


def _odd_unknown(vocab: Dict[str, int]) -> Optional[Pattern]:
    """Finds runs of letters and punctuation that are not in the vocabulary and start no word.

    The rule of `starts_word` looks at a piece's text. For an unknown piece that is a run of
    characters without a piece; it starts a word but for the runs that this pattern finds.
    """
    letters = [letter for letter in _LETTERS | set(string.ascii_uppercase) if letter not in vocab]
    others = [mark for mark in _PUNCTUATION if mark not in vocab]
    if not letters + others:
        return None
    pattern = "[" + "".join(map(re.escape, sorted(letters + others))) + "]{2}"
    if letters:
        pattern += "|[" + "".join(sorted(letters)) + "]"
    return re.compile(pattern)


def word_starts(
    tokenizer: Any, table: PieceTable, *, lines: Sequence[str], ids: Sequence[Sequence[int]]
) -> np.ndarray:
    """Returns bool [T]: which pieces of some lines, one after another, start a word.

    Args:
      tokenizer: the `tokenization.FullTokenizer` of the table.
      table: of the vocabulary.
      lines: the text.
      ids: of the pieces of each line, T in all.
    """
    flat = np.fromiter(itertools.chain.from_iterable(ids), np.int64)
    starts = table.is_word_start[flat]
    if table.odd_unknown is None:
        return starts
    place = 0
    for line, numbers in zip(lines, ids):
        if table.unknown_id in numbers and table.odd_unknown.search(tokenizer.preprocess(line)):
            pieces = tokenizer.tokenize_text(line)
            starts[place : place + len(numbers)] = [starts_word(piece) for piece in pieces]
        place += len(numbers)
    return starts


def _is_special(model: Any, number: int, piece: str) -> bool:
    """Whether a piece stands for something other than text."""
    if model is None:
        return not is_ordinary(piece)
    return model.IsControl(number) or model.IsUnknown(number) or model.IsUnused(number)


# --------------------------------------------------------------------------------------- sequences


class MaskSettings(NamedTuple):
    """What decides the masking; the names are those of the flags."""

    max_seq_length: int
    max_predictions_per_seq: int
    masked_lm_prob: float
    ngram: int
    favor_shorter_ngram: bool
    do_whole_word_mask: bool
    do_permutation: bool


class _Words(NamedTuple):
    """The words of N sequences, in positions 0 .. M-1 that leave out [CLS] and [SEP]."""

    of_piece: np.ndarray  # int [N, M]: the word a piece belongs to
    count: np.ndarray  # int [N]
    start: np.ndarray  # int [N, W + ngram]: first piece; from `count` on, the sequence's length


class _Sequences(NamedTuple):
    """N sequences before masking, without [CLS] and [SEP]."""

    ids: np.ndarray  # int32 [N, M]
    is_piece: np.ndarray  # bool [N, M]: not padding
    starts_word: np.ndarray  # bool [N, M]
    length: np.ndarray  # int64 [N]


def masked_features(
    block: segment_pairs.TokenizedBlock,
    pairs: segment_pairs.Pairs,
    *,
    table: PieceTable,
    settings: MaskSettings,
) -> Dict[str, np.ndarray]:
    """Returns the features of N pretraining records, padded with zeros.

    Args:
      block: the text the pairs point into.
      pairs: N pairs, at most S - 3 pieces each.
      table: of the vocabulary.
      settings: see MaskSettings.

    Returns:
      input_ids, input_mask, segment_ids, token_boundary [N, S]; masked_lm_positions,
      masked_lm_ids, masked_lm_weights (float32) [N, P] (2 P with do_permutation) in ascending
      order of position; next_sentence_labels [N, 1]. Without the masked_lm_* features where
      masked_lm_prob is 0: such records are masked on the fly, see `dynamic_masking`.
    """
    sequences = _gather(block, pairs, settings)
    words = _find_words(sequences, pairs.length_a, settings)
    output, chosen = _mask(sequences, words, keys=pairs.key, table=table, settings=settings)
    features = _lay_out(output, sequences, length_a=pairs.length_a, table=table, settings=settings)
    if settings.masked_lm_prob > 0:
        features.update(
            _predictions(chosen, sequences.ids, length_a=pairs.length_a, settings=settings)
        )
    features["next_sentence_labels"] = pairs.label[:, None]
    return features


class MaskedSequence(NamedTuple):
    """One sequence after masking."""

    ids: np.ndarray  # int32 [S]
    positions: np.ndarray  # int64: those to predict, ascending


def mask_sequence(
    ids: np.ndarray,
    starts_word: np.ndarray,
    *,
    key: np.ndarray,
    table: PieceTable,
    settings: MaskSettings,
) -> MaskedSequence:
    """Masks one sequence of any layout, as `masked_features` does it with pairs.

    Args:
      ids: int32 [S]; [CLS] and [SEP] end words and stay.
      starts_word: bool [S]: which pieces start a word.
      key: uint64 [1], of the random numbers.
      table: of the vocabulary; is_word_start is not looked at.
      settings: see MaskSettings; max_seq_length does not matter.
    """
    place = np.flatnonzero((ids != table.cls_id) & (ids != table.sep_id))  # [M]
    if not len(place):
        return MaskedSequence(ids, place)
    # A gap in the places is a [CLS] or [SEP]: there a word ends.
    opens = starts_word[place] | (np.diff(place, prepend=-2) > 1)
    length = np.array([len(place)])
    is_piece = np.ones([1, len(place)], bool)
    sequence = _Sequences(ids[place][None, :], is_piece, starts_word[place][None, :], length)
    words = _words(opens[None, :] | (not settings.do_whole_word_mask), length, settings)
    settings = settings._replace(max_seq_length=len(ids))
    wanted = _number_to_predict(np.array([len(ids) - 3]), settings)
    output, chosen = _mask(sequence, words, keys=key, table=table, settings=settings, wanted=wanted)
    result = ids.copy()
    result[place] = output[0]
    return MaskedSequence(result, place[chosen[0]])


def _mask(
    sequences: _Sequences,
    words: _Words,
    *,
    keys: np.ndarray,
    table: PieceTable,
    settings: MaskSettings,
    wanted: Optional[np.ndarray] = None,
) -> Tuple[np.ndarray, np.ndarray]:
    """The ids after masking and which pieces are to be predicted, [N, M] both."""
    if wanted is None:
        wanted = _number_to_predict(sequences.length, settings)
    order = random_streams.fold(keys, WORDS)
    masked_words = _choose_words(words, wanted, keys=order, settings=settings)
    output = sequences.ids.copy()
    chosen = _pieces_of(words, masked_words, sequences.is_piece)  # bool [N, M]
    _replace(output, chosen, keys=keys, table=table)
    if settings.do_permutation:
        order = random_streams.fold(keys, _PERMUTED_WORDS)
        moved_words = _choose_words(
            words, wanted, keys=order, settings=settings, taken=masked_words
        )
        moved = _pieces_of(words, moved_words, sequences.is_piece)
        _permute(output, moved, random_streams.fold(keys, _PERMUTATION))
        chosen = chosen | moved
    return output, chosen


def count_predictions(features: Dict[str, np.ndarray]) -> int:
    """Returns how many pieces the features of `masked_features` predict."""
    return int(features["masked_lm_weights"].sum()) if "masked_lm_weights" in features else 0


def _gather(
    block: segment_pairs.TokenizedBlock, pairs: segment_pairs.Pairs, settings: MaskSettings
) -> _Sequences:
    """A and B one after the other, without [CLS] and [SEP]."""
    position = np.arange(settings.max_seq_length - 3)[None, :]  # [1, M]
    length_a, length = pairs.length_a[:, None], (pairs.length_a + pairs.length_b)[:, None]
    source = position + np.where(
        position < length_a, pairs.start_a[:, None], pairs.start_b[:, None] - length_a
    )
    is_piece = position < length
    source = np.where(is_piece, source, 0)
    pieces = np.where(is_piece, block.ids[source], 0)  # [N, M]
    starts = block.word_starts[source] & is_piece
    return _Sequences(pieces, is_piece, starts, length[:, 0])


def _find_words(sequences: _Sequences, length_a: np.ndarray, settings: MaskSettings) -> _Words:
    """Words open at word starts and at the start of a segment; without whole words, anywhere."""
    is_start = sequences.is_piece.copy()
    if settings.do_whole_word_mask:
        is_start = sequences.starts_word.copy()
        is_start[:, 0] = True
        rows = np.flatnonzero(length_a < sequences.length)
        is_start[rows, length_a[rows]] = True
    return _words(is_start, sequences.length, settings)


def _words(is_start: np.ndarray, length: np.ndarray, settings: MaskSettings) -> _Words:
    """The words that open at the pieces is_start [N, M] of sequences of these lengths [N]."""
    of_piece = np.cumsum(is_start, axis=1, dtype=np.int32) - 1
    count = of_piece[:, -1].astype(np.int64) + 1
    start = np.repeat(length[:, None], count.max() + settings.ngram, axis=1)
    rows, columns = np.nonzero(is_start)
    start[rows, of_piece[rows, columns]] = columns
    return _Words(of_piece, count, start)


def _number_to_predict(length: np.ndarray, settings: MaskSettings) -> np.ndarray:
    """int64 [N]; the length that counts includes [CLS] and [SEP]. Rounds halves to even."""
    if settings.masked_lm_prob == 0:
        return np.zeros_like(length)
    number = np.rint((length + 3) * settings.masked_lm_prob).astype(np.int64)
    return np.minimum(settings.max_predictions_per_seq, np.maximum(1, number))


# ----------------------------------------------------------------------------------------- choosing


def ngram_thresholds(settings: MaskSettings) -> np.ndarray:
    """float64 [ngram - 1]: u below the first means n = 1, below the second n = 2, and so on."""
    weights = [1.0 / n for n in range(1, settings.ngram + 1)]
    if not settings.favor_shorter_ngram:
        weights.reverse()
    total = sum(weights)
    return np.array([sum(weights[:n]) / total for n in range(1, settings.ngram)])


def _visits(keys: np.ndarray, words: _Words, longest: int) -> Tuple[np.ndarray, np.ndarray]:
    """Random orders of the words, and a random number in [0, 1) for each visit, both [N, W].

    One 64-bit number for each word: the upper bits order the words, 24 bits in the middle are the
    random number, the lowest name the word, so that one sort brings everything into place.
    """
    width = int(words.count.max())
    # As for the longest sequence, so that no number depends on the other sequences.
    index_bits = np.uint64(int(longest).bit_length())
    index = np.arange(width, dtype=np.uint64)[None, :]
    visits = random_streams.fold(keys[:, None], index)
    visits = (visits >> index_bits) << index_bits | index
    visits[index >= words.count[:, None].astype(np.uint64)] = _LAST
    visits.sort(axis=1)
    word = (visits & np.uint64((1 << int(index_bits)) - 1)).astype(np.int32)
    draw = (visits >> index_bits).astype(np.uint32) & np.uint32(0xFFFFFF)
    return word, draw * 2.0**-24


def _choose_words(
    words: _Words,
    wanted: np.ndarray,
    *,
    keys: np.ndarray,
    settings: MaskSettings,
    taken: Optional[np.ndarray] = None,
) -> np.ndarray:
    """bool [N, W + ngram]: words chosen n-gram by n-gram until `wanted` pieces are reached.

    Words in `taken` count as chosen already but do not add to the number.
    """
    order, draws = _visits(keys, words, settings.max_seq_length)
    thresholds = ngram_thresholds(settings)
    chosen = np.zeros(words.start.shape, bool)
    blocked = chosen if taken is None else taken.copy()
    width, visits_width = words.start.shape[1], order.shape[1]
    # Everything below indexes flattened arrays by row offset + column: one lookup instead of two.
    flat_start, flat_blocked, flat_chosen = (
        words.start.reshape(-1),
        blocked.reshape(-1),
        chosen.reshape(-1),
    )
    flat_order, flat_draws = order.reshape(-1), draws.reshape(-1)
    row = np.flatnonzero(wanted > 0)
    room = wanted[row]  # pieces still to be chosen
    for visit in range(visits_width):
        active = (room > 0) & (visit < words.count[row])
        row, room = row[active], room[active]
        if not len(row):
            break
        at = row * visits_width + visit
        word = row * width + flat_order[at]
        first = flat_start[word]
        drawn = 1 + (flat_draws[at][:, None] >= thresholds).sum(axis=1)
        fitting = np.zeros(len(row), np.int64)  # how many of the words from here on fit
        for n in range(settings.ngram):
            fitting += flat_start[word + n + 1] - first <= room
        length = np.minimum(drawn, fitting)
        is_taken = np.zeros(len(row), bool)
        for n in range(settings.ngram):
            is_taken |= (n < length) & flat_blocked[word + n]
        length[is_taken] = 0
        room = room - (flat_start[word + length] - first)
        for n in range(settings.ngram):
            inside = word[n < length] + n
            flat_chosen[inside] = True
            flat_blocked[inside] = True
    return chosen


def _pieces_of(words: _Words, chosen: np.ndarray, is_piece: np.ndarray) -> np.ndarray:
    """bool [N, M]: the pieces of the chosen words."""
    rows = np.arange(len(chosen))[:, None]
    return chosen[rows, words.of_piece] & is_piece


# ---------------------------------------------------------------------------------------- replacing


def _replace(
    output: np.ndarray, chosen: np.ndarray, *, keys: np.ndarray, table: PieceTable
) -> None:
    """80% [MASK], 10% unchanged, 10% a random ordinary piece, in place."""
    rows, columns = np.nonzero(chosen)
    keys = random_streams.fold(random_streams.fold(keys, ACTIONS)[rows], columns)
    action = (keys >> np.uint64(32)).astype(np.float64) * 2.0**-32
    other = ((keys & np.uint64(0xFFFFFFFF)) * np.uint64(len(table.ordinary))) >> np.uint64(32)
    values = output[rows, columns]
    values[action < MASKED] = table.mask_id
    is_random = action >= MASKED_OR_KEPT
    values[is_random] = table.ordinary[other[is_random].astype(np.int64)]
    output[rows, columns] = values


def _permute(output: np.ndarray, moved: np.ndarray, keys: np.ndarray) -> None:
    """Shuffles the pieces at the `moved` positions of each row among themselves, in place."""
    rows, columns = np.nonzero(moved)
    draws = random_streams.fold(keys[rows], columns)
    shuffled = np.lexsort((draws, rows))  # within each row, the positions in random order
    output[rows, columns] = output[rows, columns[shuffled]]


# ------------------------------------------------------------------------------------------ layout


def _lay_out(
    output: np.ndarray,
    sequences: _Sequences,
    *,
    length_a: np.ndarray,
    table: PieceTable,
    settings: MaskSettings,
) -> Dict[str, np.ndarray]:
    """[CLS] A [SEP] B [SEP] and what goes with it, [N, S]."""
    count, width = len(output), settings.max_seq_length
    row = np.arange(count)
    rows, columns = np.nonzero(sequences.is_piece)
    target = columns + 1 + (columns >= length_a[rows])
    input_ids = np.zeros([count, width], np.int32)
    boundary = np.zeros([count, width], np.uint8)
    input_ids[rows, target] = output[rows, columns]
    boundary[rows, target] = sequences.starts_word[rows, columns]
    for position, piece in (
        (np.zeros_like(row), table.cls_id),
        (length_a + 1, table.sep_id),
        (sequences.length + 2, table.sep_id),
    ):
        input_ids[row, position] = piece
        boundary[row, position] = 1
    place = np.arange(width)[None, :]
    in_sequence = place < sequences.length[:, None] + 3
    return {
        "input_ids": input_ids,
        "input_mask": in_sequence.astype(np.uint8),
        "segment_ids": (in_sequence & (place >= length_a[:, None] + 2)).astype(np.uint8),
        "token_boundary": boundary,
    }


def _predictions(
    chosen: np.ndarray, labels: np.ndarray, *, length_a: np.ndarray, settings: MaskSettings
) -> Dict[str, np.ndarray]:
    """The masked_lm_* features: positions in ascending order, what stood there, weight one."""
    slots = settings.max_predictions_per_seq * (1 + settings.do_permutation)
    count = len(chosen)
    rows, columns = np.nonzero(chosen)
    per_row = chosen.sum(axis=1)
    slot = np.arange(len(rows)) - np.repeat(np.cumsum(per_row) - per_row, per_row)
    positions = np.zeros([count, slots], np.int32)
    ids = np.zeros([count, slots], np.int32)
    weights = np.zeros([count, slots], np.float32)
    positions[rows, slot] = columns + 1 + (columns >= length_a[rows])
    ids[rows, slot] = labels[rows, columns]
    weights[rows, slot] = 1.0
    return {
        "masked_lm_positions": positions,
        "masked_lm_ids": ids,
        "masked_lm_weights": weights,
    }
