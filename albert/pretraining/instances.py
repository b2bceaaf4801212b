# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Instances of pretraining data: what decides them, and how blocks of text become records.

Every random number is a function of (random_seed, document, pass, what it decides): neither
processes nor blocks nor runtimes change an instance. A document longer than 256 KiB is worked in
parts of that size; the passes' shorter target lengths are drawn for each part.

Legend: N instances, S sequence length, P predictions a sequence.
"""

import itertools
import logging
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from albert import tokenization
from albert.pretraining import documents as text_documents
from albert.pretraining import masking as ngram_masking
from albert.pretraining import pairs as segment_pairs
from albert.pretraining import random_keys as random_streams
from albert.pretraining import words
from albert.pretraining.pairs import DataSettings
from albert.util import files

INPUT_MODES = ("r", "rb")
LANGUAGES = ("any", "zh")
FORMAT = 1  # raise it when the same settings give other records than before

_LOGGER = logging.getLogger("albert")

_MOST_BAD_LINES = 0.1  # as a share of the lines
_CELLS = 1 << 17  # instances times length that are masked together: arrays that fit a core's cache
_MANY_COPIES = 10  # of text without masks
_NEWER_SETTINGS = ("language", "split_sentences", "text_field")


class Counts(NamedTuple):
    """What was read and made."""

    documents: int = 0
    empty_documents: int = 0  # nothing in them gave a token
    sentences: int = 0
    bad_lines: int = 0  # not UTF-8, and mended (input_file_mode rb)
    left_out: int = 0  # single tokens at a document's end, over all passes
    instances: int = 0
    label_one: int = 0
    predictions: int = 0
    bad_documents: int = 0  # JSON lines that were dropped (input_file_mode rb)

    def plus(self, other: Iterable[int]) -> "Counts":
        """Returns the sum."""
        return Counts(*(mine + theirs for mine, theirs in zip(self, other)))


def check_settings(settings: DataSettings) -> None:
    """Checks ranges; warns where few of the tokens meant to be predicted have a slot.

    Raises:
      ValueError: a value is out of its range, or does not go with another.
    """
    _check_ranges(settings)
    if settings.language == "any" and settings.user_dictionary:
        raise ValueError(
            "--user_dictionary holds words for jieba, which segments with --language=zh only. Give "
            "that too, or leave the dictionary out."
        )
    if settings.language == "zh" and settings.word_start == "underline":
        raise ValueError(
            "--word_start=underline is not for --language=zh, where jieba finds the words. Leave "
            "out one of them."
        )
    if settings.masked_lm_prob == 0 and settings.do_permutation:
        raise ValueError(
            "--do_permutation moves as many tokens as are masked, and --masked_lm_prob=0 masks "
            "none. Leave one of them out."
        )
    if settings.masked_lm_prob == 0 and settings.dupe_factor > _MANY_COPIES:
        _LOGGER.warning(
            "--masked_lm_prob=0 makes records that run_pretraining masks anew in each pass: "
            "--dupe_factor=%d copies on disk are hardly better than a few.",
            settings.dupe_factor,
        )
    wanted = int(round(settings.max_seq_length * settings.masked_lm_prob))
    if wanted > settings.max_predictions_per_seq:
        _LOGGER.warning(
            "A full sequence of %d tokens gets %d predictions, not the %d that "
            "--masked_lm_prob=%g asks for: --max_predictions_per_seq=%d would make room for them.",
            settings.max_seq_length,
            settings.max_predictions_per_seq,
            wanted,
            settings.masked_lm_prob,
            wanted,
        )


def _check_ranges(settings: DataSettings) -> None:
    """What a single value may be."""
    counts = ("max_predictions_per_seq", "ngram", "dupe_factor", "shuffle_window_mb")
    # [CLS] A [SEP] B [SEP] are five tokens.
    for name, bound in dict(dict.fromkeys(counts, 1), max_seq_length=5).items():
        if getattr(settings, name) < bound:
            raise ValueError(f"--{name} is {getattr(settings, name)}; it must be {bound} or more.")
    for name in ("masked_lm_prob", "short_seq_prob"):
        if not 0.0 <= getattr(settings, name) <= 1.0:
            raise ValueError(f"--{name} is {getattr(settings, name)}; it must lie in 0 .. 1.")
    choices = {
        "word_start": words.WORD_STARTS,
        "input_file_mode": INPUT_MODES,
        "language": LANGUAGES,
    }
    for name, known in choices.items():
        if getattr(settings, name) not in known:
            raise ValueError(
                f"--{name} is '{getattr(settings, name)}'; it must be one of {', '.join(known)}."
            )


def check_counts(counts: Counts) -> None:
    """Refuses text that was no text.

    Raises:
      ValueError: too many bad lines, or no instance.
    """
    if counts.bad_lines > counts.sentences * _MOST_BAD_LINES:
        raise ValueError(
            f"--input_file: {counts.bad_lines} of {counts.sentences} lines are not UTF-8. Is the "
            "text in another encoding? Convert it first."
        )
    documents = counts.documents + counts.empty_documents + counts.bad_documents
    if counts.bad_documents > documents * _MOST_BAD_LINES:
        raise ValueError(
            f"--input_file: {counts.bad_documents} of {documents} documents are bad lines of JSON "
            "files. Do the files hold an object a line, and the text in the field of --text_field?"
        )
    if not counts.instances:
        raise ValueError(
            "--input_file: the text gives no instance. Every document is empty or a single token; "
            "is the vocabulary the right one?"
        )


class Tokenized(NamedTuple):
    """A block of tokens, and what was read for it."""

    block: segment_pairs.TokenizedBlock
    counts: Counts


class Instances(NamedTuple):
    """What a block gave, in the order of the shuffle."""

    features: Iterator[Dict[str, np.ndarray]]  # in batches, see ngram_masking.masked_features
    keys: np.ndarray  # uint64 [N], ascending: the place of each instance in the shuffle
    counts: Counts  # but for `predictions`, which is known when the features are


class InstanceMaker:
    """Text blocks to instances: holds the tokeniser and the tables made from it."""

    def __init__(
        self,
        tokenizer: tokenization.FullTokenizer,
        settings: DataSettings,
        *,
        bad_lines: Optional[str] = None,
    ):
        """Loads what segments words, if it is needed.

        Args:
          tokenizer: cuts the text.
          settings: see DataSettings.
          bad_lines: the mode of text_documents.decode_lines; by default input_file_mode.

        Raises:
          ValueError: the vocabulary cannot be used, see words.piece_table; or the segmenter cannot
            be loaded, see words.ChineseSegmenter.
        """
        self._bad_lines = bad_lines or settings.input_file_mode
        self._tokenizer = tokenizer
        self._settings = settings
        self._segmenter = None
        if settings.language == "zh":
            self._segmenter = words.ChineseSegmenter(settings.user_dictionary)
        self._table = words.piece_table(tokenizer, settings.word_start)
        self.vocabulary = words.describe_vocabulary(self._table)

    def instances(self, block: text_documents.TextBlock) -> Instances:
        """Returns the instances of all passes over `block`.

        Raises:
          ValueError: bad UTF-8, with file and line (input_file_mode r).
        """
        tokenized, counts = self.tokenize(block)
        pairs, left_out = segment_pairs.make_pairs(tokenized, self._settings)
        counts = counts._replace(
            left_out=left_out, instances=len(pairs.key), label_one=int(pairs.label.sum())
        )
        keys = random_streams.fold(pairs.key, ngram_masking.PAIR_DRAWS)
        order = np.argsort(keys, kind="stable")
        pairs = segment_pairs.Pairs(*(column[order] for column in pairs))
        return Instances(self._features(tokenized, pairs), keys[order], counts)

    def _features(
        self, tokenized: segment_pairs.TokenizedBlock, pairs: segment_pairs.Pairs
    ) -> Iterator[Dict[str, np.ndarray]]:
        """The features, as many instances at a time as fit the cache."""
        rows = max(1, _CELLS // self._settings.max_seq_length)
        for start in range(0, len(pairs.key), rows):
            yield ngram_masking.masked_features(
                tokenized,
                pairs.slice(start, start + rows),
                table=self._table,
                settings=self._settings,
            )

    def tokenize(self, block: text_documents.TextBlock) -> Tokenized:
        """Returns the tokens of all documents but empty ones."""
        flat: List[int] = []
        starts: List[np.ndarray] = []
        borders = [0]
        documents: List[segment_pairs.Document] = []
        counts = Counts()
        for raw in block.documents + ((block.neighbour,) if block.neighbour else ()):
            lines, bad = text_documents.decode_lines(raw, self._bad_lines)
            if self._settings.split_sentences:
                lines = [one for line in lines for one in words.split_sentences(line)]
            first = len(borders) - 1
            batch, word_starts = self._encode(lines)
            starts.append(word_starts)
            for ids in filter(None, batch):
                flat += ids
                borders.append(len(flat))
            last = len(borders) - 1
            documents.append(segment_pairs.Document(raw.index, raw.source, first, last))
            if raw is not block.neighbour:
                whole = int(raw.part == 0)  # later parts are not counted again
                counts = counts.plus(
                    Counts(
                        documents=whole if last > first else 0,
                        empty_documents=whole if last == first else 0,
                        sentences=last - first,
                        bad_lines=bad,
                    )
                )
        own = len(block.documents)
        tokenized = segment_pairs.TokenizedBlock(
            ids=np.array(flat, np.int32),
            word_starts=np.concatenate(starts),
            borders=np.array(borders, np.int64),
            documents=tuple(one for one in documents[:own] if one.last > one.first),
            neighbours=tuple(one for one in documents[own:] if one.last > one.first),
        )
        return Tokenized(tokenized, counts)

    def fingerprint(self, tokenizer_file: str) -> Dict[str, Any]:
        """Returns what records are made from but for the text, as JSON values.

        Args:
          tokenizer_file: the vocabulary or model that the tokenizer was loaded from.
        """
        # What older versions did not have counts where it does something, so that their files stay.
        values, unset = dict(self._settings._asdict()), DataSettings._field_defaults
        del values["user_dictionary"]  # its content counts, not its path
        newer = [name for name in _NEWER_SETTINGS if values[name] == unset[name]]
        made_from = {
            "format": FORMAT,
            "blocks": [text_documents.DOCUMENT_BYTES, text_documents.BLOCK_BYTES],
            "tokenizer": files.file_fingerprint(tokenizer_file),
            "vocab_size": len(self._tokenizer.vocab),
            "do_lower_case": self._tokenizer.do_lower_case,
            "vocabulary": self.vocabulary,  # for masking on the fly
            "settings": {name: value for name, value in values.items() if name not in newer},
        }
        if self._settings.language == "zh":
            made_from["words"] = words.fingerprint(self._settings.user_dictionary)
        return made_from

    def _encode(self, lines: Sequence[str]) -> Tuple[List[List[int]], np.ndarray]:
        """The ids of each line, and bool [pieces of all lines]: where words begin."""
        if self._segmenter is None:
            ids = self._tokenizer.encode_ids_batch(lines)
            starts = words.word_starts(self._tokenizer, self._table, lines=lines, ids=ids)
            return ids, starts
        encodings = [self._tokenizer.encode_with_offsets(line) for line in lines]
        ids = [encoding.ids for encoding in encodings]
        starts = itertools.chain.from_iterable(map(self._segmenter.word_starts, lines, encodings))
        starts = np.fromiter(starts, bool)
        if self._tokenizer.sp_model is None:
            # A word of letters that the vocabulary cuts is one even where jieba would cut it too.
            flat = np.fromiter(itertools.chain.from_iterable(ids), np.int64)
            starts &= self._table.is_word_start[flat]
        return ids, starts
