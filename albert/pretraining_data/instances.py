# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Instances of pretraining data: their settings, and how blocks of text become records.

Every random number is a function of (random_seed, document, pass, what it decides): neither
processes nor blocks nor runtimes change an instance. A document longer than 256 KiB is treated in
parts of that size, each with its own draw of shorter target lengths.
"""

import functools
import logging
import operator
import os
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Sequence, Tuple

import numpy as np

from albert import fine_tuning_utils, tokenization
from albert.data import records as example_batches
from albert.pretraining_data import documents as text_documents
from albert.pretraining_data import masking, random_keys, words
from albert.pretraining_data import pairs as segment_pairs
from albert.pretraining_data.flags import DataFlags, RecordFlags
from albert.util import files
from albert.util import flags as flags_lib
from albert.util.errors import UserError

FORMAT = 2  # raise it when the same settings give other records than before

_LOGGER = logging.getLogger("albert")

_MOST_BAD = 0.1  # as a share of the lines or documents
_MUCH_CUT = 0.02  # as a share of the tokens
_CELLS = 1 << 17  # instances times length that are masked together: arrays that fit a core's cache


class Counts(NamedTuple):
    """What was read and made."""

    documents: int = 0
    empty_documents: int = 0  # no tokens
    sentences: int = 0
    bad_lines: int = 0  # not UTF-8, and repaired (input_file_mode rb)
    left_out: int = 0  # single tokens at a document's end, over all passes
    instances: int = 0
    label_one: int = 0
    predictions: int = 0
    bad_documents: int = 0  # JSON lines that were dropped (input_file_mode rb)
    tokens: int = 0  # of the text, in one pass
    cut_tokens: int = 0  # of lines longer than a sequence: in no record of a pass


def total(rows: Iterable[Iterable[int]]) -> Counts:
    """Returns the sum of counts."""
    return functools.reduce(
        lambda counts, other: Counts(*map(operator.add, counts, other)), rows, Counts()
    )


def check_flags(flags: DataFlags) -> None:
    """Raises ValueError for values out of range or in conflict; warns of too few slots."""
    flags_lib.make(DataFlags, **_record_settings(flags))
    if flags.language == "any" and flags.user_dictionary:
        raise UserError(
            "--user_dictionary needs --language=zh, because jieba reads it. Give both or neither."
        )
    if flags.language == "zh" and flags.word_start == "underline":
        raise UserError(
            "--word_start=underline does not work with --language=zh: jieba finds the words. "
            "Leave out one of them."
        )
    if flags.masked_lm_prob == 0 and flags.do_permutation:
        raise UserError(
            "--do_permutation moves as many tokens as are masked, and --masked_lm_prob=0 masks "
            "none. Leave out one of them."
        )
    warn_of_few_slots(flags)


def _record_settings(flags: DataFlags) -> Dict[str, Any]:
    return {name: getattr(flags, name) for name in DataFlags().to_dict()}


def warn_of_few_slots(flags: DataFlags) -> None:
    """Warns where a full sequence has room for fewer masks than its share of masked tokens."""
    num_masked = int(round(flags.max_seq_length * flags.masked_lm_prob))
    if num_masked > flags.max_predictions_per_seq:
        _LOGGER.warning(
            f"Long sequences get fewer masks: {100 * flags.masked_lm_prob:.3g}% of "
            f"{flags.max_seq_length} tokens are {num_masked}, and there is room for "
            f"{flags.max_predictions_per_seq}. Use --max_predictions_per_seq={num_masked}."
        )


def check_counts(counts: Counts) -> None:
    """Raises ValueError if the input had too many bad lines, or gave no instance.

    Warns if many tokens are in lines longer than a sequence, which are cut.
    """
    documents = counts.documents + counts.empty_documents + counts.bad_documents
    for bad, read, what in (
        (counts.bad_lines, counts.sentences, "lines are not UTF-8"),
        (counts.bad_documents, documents, "documents are not JSON objects with text"),
    ):
        if bad > read * _MOST_BAD:
            raise UserError(f"--input_file: {bad} of {read} {what}. Check the format of the files.")
    if not counts.instances:
        raise UserError(
            "--input_file: no instance in the text. Every document is empty or one token. Check "
            "the files and the vocabulary."
        )
    if counts.cut_tokens > counts.tokens * _MUCH_CUT:
        _LOGGER.warning(
            "%s of %s tokens reach no record: their lines are longer than --max_seq_length. Raise "
            "it, or split lines that are paragraphs with --split_sentences.",
            *map("{:,}".format, (counts.cut_tokens, counts.tokens)),
        )


KeyedRecord = Tuple[int, bytes]  # a place in the shuffle, below 2^64, and a tf.train.Example


class InstanceMaker:
    """Turns text blocks into instances: holds the tokenizer and the tables made from it."""

    def __init__(self, tokenizer: tokenization.FullTokenizer, flags: DataFlags):
        """Loads the segmenter if the language needs it.

        Raises:
          ValueError: unfit vocabulary (words.piece_table) or segmenter (words.ChineseSegmenter).
        """
        self._tokenizer = tokenizer
        self._settings = flags
        self._segmenter = None
        if flags.language == "zh":
            self._segmenter = words.ChineseSegmenter(flags.user_dictionary)
        model = tokenizer.sp_model
        self._table = words.piece_table(tokenizer.vocab, model)
        rule = words.word_start_rule(model is not None, flags.word_start)
        self._is_word_start = list(map(rule, tokenizer.vocab))
        # Whether an unknown token starts a word depends on its text in the line.
        self._unknown = model.unk_id() if rule is words.starts_word else None
        self._warnings_left = 5  # in each process

    def instances(
        self, block: text_documents.TextBlock
    ) -> Tuple[Iterator[Dict[str, np.ndarray]], np.ndarray, Counts]:
        """Returns the instances of all passes over `block`, in the order of the shuffle.

        Returns:
          The features in batches, see masking.masked_features; the place of each instance in the
          shuffle, uint64 [instances], ascending; and the counts, without `predictions`, which are
          known only when the features are made.

        Raises:
          ValueError: bad UTF-8, with file and line (input_file_mode r).
        """
        tokenized, counts = self._tokenize(block)
        pairs, left_out = segment_pairs.make_pairs(tokenized, self._settings, len(block.documents))
        keys = random_keys.fold(pairs.key, masking.PAIR_DRAWS)
        order = np.argsort(keys, kind="stable")
        rows = max(1, _CELLS // self._settings.max_seq_length)
        features = (
            masking.masked_features(
                tokenized,
                pairs.take(order[start : start + rows]),
                table=self._table,
                flags=self._settings,
            )
            for start in range(0, len(order), rows)
        )
        counts = counts._replace(
            left_out=left_out, instances=len(keys), label_one=int(pairs.label.sum())
        )
        return features, keys[order], counts

    def _tokenize(
        self, block: text_documents.TextBlock
    ) -> Tuple[segment_pairs.TokenizedBlock, Counts]:
        """The tokens of the documents, the neighbour's last, and what was read."""
        texts, starts, rows = [], [], []
        longest = segment_pairs.longest(self._settings)
        for raw in filter(None, [*block.documents, block.neighbour]):
            lines, bad = text_documents.decode_lines(raw, self._settings.bad_lines)
            if self._settings.split_sentences:
                lines = [text for line in lines for text in words.split_sentences(line)]
            sentences, word_starts = self._encode(lines)
            texts.append((raw.key, raw.source, sentences))
            starts += word_starts
            lengths = [len(sentence) for sentence in sentences if sentence]
            row = Counts(
                documents=raw.is_counted and bool(lengths),
                empty_documents=raw.is_counted and not lengths,
                sentences=len(lengths),
                bad_lines=bad,
                bad_documents=bool(raw.bad),
                tokens=sum(lengths),
                cut_tokens=sum(max(0, length - longest) for length in lengths),
            )
            rows.append(row)
            if (raw.bad or bad) and self._warnings_left:
                self._warnings_left -= 1
                what = raw.bad or f"{bad} lines that are not UTF-8"
                _LOGGER.warning("%s: dropped (%s).", raw.place, what)
        return segment_pairs.tokenized_block(texts, starts), total(rows[: len(block.documents)])

    def fingerprint(self, tokenizer_file: str) -> Dict[str, Any]:
        """Returns what records are made from, except for the text, as JSON values."""
        values = _record_settings(self._settings)
        del values["user_dictionary"]  # its content counts, not its path
        identity = {
            "format": FORMAT,
            "blocks": [text_documents.DOCUMENT_BYTES, text_documents.BLOCK_BYTES],
            "tokenizer": {
                "name": os.path.basename(tokenizer_file),
                "sha256": files.sha256(tokenizer_file),
            },
            "vocab_size": len(self._tokenizer.vocab),
            "do_lower_case": self._tokenizer.do_lower_case,
            "vocabulary": words.describe_vocabulary(self._table),  # for masking on the fly
            "settings": values,
        }
        if self._settings.language == "zh":
            identity["words"] = words.fingerprint(self._settings.user_dictionary)
        return identity

    def _encode(self, lines: Sequence[str]) -> Tuple[List[List[int]], List[bool]]:
        """The ids of each line, and for each token of all lines: whether it begins a word."""
        starts: List[bool] = []
        if self._segmenter is None:
            ids = self._tokenizer.encode_ids_batch(lines)
            for line, numbers in zip(lines, ids):
                if self._unknown in numbers:
                    starts += map(words.starts_word, self._tokenizer.tokenize_text(line))
                else:
                    starts += map(self._is_word_start.__getitem__, numbers)
            return ids, starts
        encodings = list(map(self._tokenizer.encode_with_offsets, lines))
        for line, encoding in zip(lines, encodings):
            begins = self._segmenter.word_starts(line, encoding)
            if self._tokenizer.sp_model is None:
                # A word of letters that WordPiece splits stays one word; jieba may split it.
                own = map(self._is_word_start.__getitem__, encoding.ids)
                begins = list(map(operator.and_, begins, own))
            starts += begins
        return [encoding.ids for encoding in encodings], starts


def prepare(flags: RecordFlags) -> Tuple[InstanceMaker, fine_tuning_utils.Vocabulary]:
    """Returns what makes the instances, and the vocabulary to keep beside the records.

    For errors see check_settings, load_vocabulary and InstanceMaker.
    """
    check_flags(flags)
    tokenizer, vocabulary = fine_tuning_utils.load_vocabulary(flags)
    return InstanceMaker(tokenizer, flags), vocabulary


def keyed_records(
    maker: InstanceMaker, block: text_documents.TextBlock
) -> Tuple[List[KeyedRecord], Counts]:
    """Returns the records of all passes over a block, sorted by key, and what was read and made.

    This is what every engine does with the text: one machine, Apache Beam and the others.
    """
    features, keys, counts = maker.instances(block)
    records: List[bytes] = []
    predictions = 0
    for batch in features:
        predictions += int(np.sum(batch.get("masked_lm_weights", 0)))
        records += example_batches.encode_examples(batch)
    return list(zip(keys.tolist(), records)), counts._replace(predictions=predictions)
