# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes the instances of pretraining data: checks flags, and turns blocks of text into records.

Each random number depends only on random_seed, the document, the pass, and the purpose of the
number. So the instances are the same with any number of processes, any blocks and any runtime. A
document longer than 256 KiB is processed in parts of that size. Each part draws its own target
lengths.
"""

import functools
import operator
import os
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Sequence, Tuple

import numpy as np

from albert import tokenization
from albert.data.records import encode_examples
from albert.formats import model_vocabulary
from albert.pretraining_data import documents as text_documents
from albert.pretraining_data import masking, random_keys, words
from albert.pretraining_data import pairs as segment_pairs
from albert.pretraining_data.flags import DataFlags, RecordFlags
from albert.pretraining_data.sentences import split_sentences
from albert.util import UserError, files, log
from albert.util import flags as flags_lib

FORMAT = 2  # raise it if the records change although the flags are the same


_MOST_BAD = 0.1  # maximum fraction of bad lines or documents
_MUCH_CUT = 0.02  # fraction of cut tokens that gives a warning
_CELLS = 1 << 17  # instances times length to mask at a time: the arrays fit into a core's cache


class Counts(NamedTuple):
    """The numbers of documents, sentences, instances and so on, for the log."""

    documents: int = 0
    empty_documents: int = 0  # documents without tokens
    sentences: int = 0
    bad_lines: int = 0  # lines that are not UTF-8
    left_out: int = 0  # single tokens at the end of a document, in all passes
    instances: int = 0
    label_one: int = 0  # instances with label 1
    predictions: int = 0
    bad_documents: int = 0  # JSON lines that were dropped (input_file_mode rb)
    tokens: int = 0  # tokens of the text, once
    cut_tokens: int = 0  # tokens of too long lines that are in no record of a pass


def total(rows: Iterable[Iterable[int]]) -> Counts:
    """Returns the sums of the counts."""
    return functools.reduce(
        lambda counts, other: Counts(*map(operator.add, counts, other)), rows, Counts()
    )


def check_flags(flags: DataFlags) -> None:
    """Raises UserError if flags are out of range or in conflict. Warns of too few slots."""
    flags_lib.make(DataFlags, **_record_flags(flags))
    if flags.language == "any" and flags.user_dictionary:
        raise UserError(
            "--user_dictionary needs --language=zh, because jieba reads it. Give both or neither."
        )
    if flags.language == "zh" and flags.word_start == "underline":
        raise UserError(
            "--word_start=underline does not work with --language=zh: jieba finds the words. "
            "Leave out one of them."
        )
    if flags.random_next_sentence and not flags.sentence_order:
        raise UserError(
            "--random_next_sentence needs pairs of segments, which --nosentence_order leaves out. "
            "Leave out one of them."
        )
    if flags.masked_lm_prob == 0 and flags.do_permutation:
        raise UserError(
            "--do_permutation moves as many tokens as --masked_lm_prob masks, so it cannot be used "
            "with --masked_lm_prob=0. Leave out one of them."
        )
    warn_of_few_slots(flags)


def _record_flags(flags: DataFlags) -> Dict[str, Any]:
    return {name: getattr(flags, name) for name in DataFlags().to_dict()}


def warn_of_few_slots(flags: DataFlags) -> None:
    """Warns if long sequences have more tokens to mask than max_predictions_per_seq."""
    num_masked = int(round(flags.max_seq_length * flags.masked_lm_prob))
    if num_masked > flags.max_predictions_per_seq:
        log.warning(
            f"Long sequences get fewer masks: {100 * flags.masked_lm_prob:.3g}% of "
            f"{flags.max_seq_length} tokens are {num_masked}, and there is room for "
            f"{flags.max_predictions_per_seq}. Use --max_predictions_per_seq={num_masked}."
        )


def check_counts(counts: Counts) -> None:
    """Raises UserError if the input has too many bad lines, or gives no instance.

    Warns if many tokens are lost because their lines are longer than a sequence.
    """
    documents = counts.documents + counts.empty_documents + counts.bad_documents
    for bad, total_count, problem in (
        (counts.bad_lines, counts.sentences, "lines are not UTF-8"),
        (counts.bad_documents, documents, "documents are not JSON objects with text"),
    ):
        if bad > total_count * _MOST_BAD:
            raise UserError(
                f"--input_file: {bad} of {total_count} {problem}. Check the format of the files."
            )
    if not counts.instances:
        raise UserError(
            "--input_file: the text gives no instance. Each document is empty or only one token. "
            "Check the files and the vocabulary."
        )
    if counts.cut_tokens > counts.tokens * _MUCH_CUT:
        log.warning(
            "%s of %s tokens are in no record, because their lines are longer than "
            "--max_seq_length. Use a larger --max_seq_length, or split lines that are paragraphs "
            "with --split_sentences.",
            *map("{:,}".format, (counts.cut_tokens, counts.tokens)),
        )


KeyedRecord = Tuple[int, bytes]  # shuffle key, below 2^64, and a serialised tf.train.Example


class InstanceMaker:
    """Turns text blocks into instances. Holds the tokenizer and tables of its tokens."""

    def __init__(self, tokenizer: tokenization.FullTokenizer, flags: DataFlags):
        """Loads the segmenter if the language needs it.

        Raises:
          UserError: see words.piece_table, words.word_start_rule and words.ChineseSegmenter.
        """
        self._tokenizer = tokenizer
        self._flags = flags
        self._segmenter = None
        if flags.language == "zh":
            self._segmenter = words.ChineseSegmenter(flags.user_dictionary)
        model = tokenizer.sp_model
        self._table = words.piece_table(tokenizer.vocab, model)
        rule = words.word_start_rule(model is not None, flags.word_start)
        self._is_word_start = list(map(rule, tokenizer.vocab))
        # Whether an unknown token starts a word depends on its characters.
        self._unknown = model.unk_id() if rule is words.starts_word else None
        self._warnings_left = 5  # in each process

    def instances(
        self, block: text_documents.TextBlock
    ) -> Tuple[Iterator[Dict[str, np.ndarray]], np.ndarray, Counts]:
        """Returns the instances of all passes over `block`, sorted by random shuffle keys.

        Returns:
          (features, shuffle keys, counts). The features are an iterator of batches, see
          masking.masked_features. The keys are uint64 [instances], ascending. The counts have no
          `predictions`, because the iterator draws the masks later.

        Raises:
          UserError: bad UTF-8, with file and line (input_file_mode r).
        """
        tokenized, counts = self._tokenize(block)
        pairs, left_out = segment_pairs.make_pairs(tokenized, self._flags, len(block.documents))
        keys = random_keys.fold(pairs.key, masking.PAIR_DRAWS)
        order = np.argsort(keys, kind="stable")
        rows = max(1, _CELLS // self._flags.max_seq_length)
        features = (
            masking.masked_features(
                tokenized,
                pairs.take(order[start : start + rows]),
                table=self._table,
                flags=self._flags,
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
        """Returns the tokens and counts of the documents. The neighbour's tokens come last."""
        texts, starts, counts = [], [], []
        longest = segment_pairs.longest(self._flags)
        for raw in filter(None, [*block.documents, block.neighbour]):
            lines, bad_lines = text_documents.decode_lines(raw, self._flags.bad_lines)
            if self._flags.split_sentences:
                lines = [text for line in lines for text in split_sentences(line)]
            sentences, word_starts = self._encode(lines)
            texts.append((raw.key, raw.source, sentences))
            starts += word_starts
            lengths = [len(sentence) for sentence in sentences if sentence]
            counts.append(
                Counts(
                    documents=raw.is_counted and bool(lengths),
                    empty_documents=raw.is_counted and not lengths,
                    sentences=len(lengths),
                    bad_lines=bad_lines,
                    bad_documents=bool(raw.error),
                    tokens=sum(lengths),
                    cut_tokens=sum(max(0, length - longest) for length in lengths),
                )
            )
            if (raw.error or bad_lines) and self._warnings_left:
                self._warnings_left -= 1
                problem = raw.error or f"{bad_lines} lines that are not UTF-8"
                log.warning("%s: dropped (%s).", raw.location, problem)
        return segment_pairs.tokenized_block(texts, starts), total(counts[: len(block.documents)])

    def fingerprint(self, tokenizer_file: str) -> Dict[str, Any]:
        """Returns all that records depend on, except for the text, as JSON values."""
        values = _record_flags(self._flags)
        del values["user_dictionary"]  # replaced below by a hash of its content
        if values["sentence_order"]:
            del values["sentence_order"]  # older records lack it, and remain current
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
        if self._flags.language == "zh":
            identity["words"] = words.fingerprint(self._flags.user_dictionary)
        return identity

    def _encode(self, lines: Sequence[str]) -> Tuple[List[List[int]], List[bool]]:
        """Returns the ids of each line, and whether each token of all lines begins a word."""
        starts: List[bool] = []
        if self._segmenter is None:
            ids_of_lines = self._tokenizer.encode_ids_batch(lines)
            for line, ids in zip(lines, ids_of_lines):
                if self._unknown in ids:
                    starts += map(words.starts_word, self._tokenizer.tokenize_text(line))
                else:
                    starts += map(self._is_word_start.__getitem__, ids)
            return ids_of_lines, starts
        encodings = list(map(self._tokenizer.encode_with_offsets, lines))
        for line, encoding in zip(lines, encodings):
            word_starts = self._segmenter.word_starts(line, encoding)
            if self._tokenizer.sp_model is None:
                # jieba may split a word of Latin letters. For WordPiece it stays one word.
                in_vocabulary = map(self._is_word_start.__getitem__, encoding.ids)
                word_starts = list(map(operator.and_, word_starts, in_vocabulary))
            starts += word_starts
        return [encoding.ids for encoding in encodings], starts


def prepare(flags: RecordFlags) -> Tuple[InstanceMaker, model_vocabulary.Vocabulary]:
    """Returns the InstanceMaker, and the vocabulary to copy to the records' folder.

    For errors, see check_flags, load_vocabulary and InstanceMaker.
    """
    check_flags(flags)
    tokenizer, vocabulary = model_vocabulary.load_vocabulary(flags)
    return InstanceMaker(tokenizer, flags), vocabulary


def keyed_records(
    maker: InstanceMaker, block: text_documents.TextBlock
) -> Tuple[List[KeyedRecord], Counts]:
    """Returns the records of all passes over a block, sorted by key, and the counts.

    Every engine calls it: one machine, Apache Beam and Spark.
    """
    features, keys, counts = maker.instances(block)
    records: List[bytes] = []
    predictions = 0
    for batch in features:
        predictions += int(np.sum(batch.get("masked_lm_weights", 0)))
        records += encode_examples(batch)
    return list(zip(keys.tolist(), records)), counts._replace(predictions=predictions)
