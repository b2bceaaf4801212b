# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The functions of google-research/albert's create_pretraining_data, for programs.

As in google-research/albert, they read other settings (ngram, do_whole_word_mask, spm_model_file
and so on) from FLAGS, and keep all instances in memory. All random numbers depend only on the state
of `rng`, a random.Random. docs/from_google_albert.md lists differences in the data.
"""

import contextlib
import dataclasses
import functools
import itertools
import random
from typing import Any, Dict, List, Mapping, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.pretraining_data import documents as text_documents
from albert.pretraining_data import instances as pretraining_instances
from albert.pretraining_data import masking, random_keys, words
from albert.pretraining_data import pairs as segment_pairs
from albert.pretraining_data.flags import RecordFlags
from albert.tasks.pretraining import features as pretraining_features
from albert.util import cli

_SPECIAL = ("[CLS]", "[SEP]")
_MASKS = ("masked_lm_positions", "masked_lm_ids", "masked_lm_weights")  # missing without masks
_OTHER_DOCUMENTS = 8  # documents from which random_next_sentence takes segments


@dataclasses.dataclass(eq=False, repr=False)
class TrainingInstance:
    """A masked pair of segments."""

    tokens: List[str]  # with [CLS] and [SEP]
    segment_ids: List[int]  # 0 or 1 for each token
    masked_lm_positions: List[int]  # ascending
    masked_lm_labels: List[str]  # the original tokens at these positions
    is_random_next: bool  # swapped, or with --random_next_sentence: B is from another document
    token_boundary: List[int]  # 1 for a token that starts a word, and for [CLS] and [SEP]

    def __repr__(self) -> str:
        rows = vars(self).items()
        return "".join(f"{name}: {' '.join(map(str, np.ravel(row)))}\n" for name, row in rows)


def create_training_instances(
    input_files,
    tokenizer,
    max_seq_length,
    dupe_factor,
    short_seq_prob,
    masked_lm_prob,
    max_predictions_per_seq,
    rng,
) -> List[TrainingInstance]:
    """Returns the shuffled instances of all passes over text files.

    Raises:
      ValueError: a setting is out of range, or a file cannot be read.
    """
    flags = _flags_with(
        rng,
        max_seq_length=max_seq_length,
        dupe_factor=dupe_factor,
        short_seq_prob=short_seq_prob,
        masked_lm_prob=masked_lm_prob,
        max_predictions_per_seq=max_predictions_per_seq,
    )
    pretraining_instances.check_flags(flags)
    maker = pretraining_instances.InstanceMaker(tokenizer, flags)
    instances: List[TrainingInstance] = []
    for block in text_documents.read_blocks(input_files, flags):
        for features in maker.instances(block)[0]:
            instances += _instances(features, tokenizer.inv_vocab)
    rng.shuffle(instances)
    return instances


def create_instances_from_document(
    all_documents,
    document_index,
    max_seq_length,
    short_seq_prob,
    masked_lm_prob,
    max_predictions_per_seq,
    vocab_words,
    rng,
) -> List[TrainingInstance]:
    """Returns the instances of one pass over a document (lists of tokens), in document order."""
    flags = _flags_with(
        rng,
        max_seq_length=max_seq_length,
        dupe_factor=1,
        short_seq_prob=short_seq_prob,
        masked_lm_prob=masked_lm_prob,
        max_predictions_per_seq=max_predictions_per_seq,
    )
    documents = [all_documents[document_index]]
    if flags.random_next_sentence:
        count = len(all_documents)
        sample = rng.sample(range(count), min(count, _OTHER_DOCUMENTS + 1))
        documents += [all_documents[index] for index in sample if index != document_index]
    tokens = [token for sentences in documents for sentence in sentences for token in sentence]
    ids, inv_vocab, table = _ids(tokens, vocab_words)
    rest = iter(ids.tolist())
    texts = [
        (number, number, [list(itertools.islice(rest, len(sentence))) for sentence in sentences])
        for number, sentences in enumerate(documents)
    ]
    block = segment_pairs.tokenized_block(texts, _starts_word(tokens))
    pairs, _ = segment_pairs.make_pairs(block, flags, 1)
    if not len(pairs.key):
        return []
    return _instances(masking.masked_features(block, pairs, table=table, flags=flags), inv_vocab)


def create_masked_lm_predictions(
    tokens, masked_lm_prob, max_predictions_per_seq, vocab_words, rng
) -> Tuple[List[str], List[int], List[str], List[int]]:
    """Masks one sequence. [CLS] and [SEP] are never masked, and end a word.

    Returns:
      (masked tokens, ascending positions to predict, original tokens at these positions,
      token_boundary); see TrainingInstance.

    Raises:
      ValueError: vocab_words has no ordinary token to use as a replacement.
    """
    is_token = np.array([[piece not in _SPECIAL for piece in tokens]])
    boundary = (_starts_word(tokens) | ~is_token).astype(int)
    if masked_lm_prob == 0:
        return list(tokens), [], [], boundary[0].tolist()
    flags = _flags_with(
        rng, masked_lm_prob=masked_lm_prob, max_predictions_per_seq=max_predictions_per_seq
    )
    ids, inv_vocab, table = _ids(tokens, vocab_words)
    features = masking.draw_masks(
        {"input_ids": ids[None], "input_mask": np.ones_like(is_token), "token_boundary": boundary},
        is_token,
        keys=random_keys.seed_key(flags.random_seed),
        vocabulary=table,
        flags=flags,
    )
    positions = features["masked_lm_positions"][features["masked_lm_weights"] > 0].tolist()
    labels = [tokens[position] for position in positions]
    masked = [inv_vocab[token_id] for token_id in features["input_ids"][0]]
    return masked, positions, labels, boundary[0].tolist()


def write_instance_to_example_files(
    instances, tokenizer, max_seq_length, max_predictions_per_seq, output_files
) -> None:
    """Writes instances as records, to each file in turn. The files appear when all are complete.

    Records are padded to max_seq_length and max_predictions_per_seq (with --do_permutation, twice
    max_predictions_per_seq).

    Raises:
      ValueError: an instance does not fit max_seq_length and max_predictions_per_seq.
    """
    predictions = max_predictions_per_seq * (1 + _flags().do_permutation)
    spec = pretraining_features.feature_spec(max_seq_length, predictions)
    fingerprint = {"maker": "write_instance_to_example_files"}

    def row(instance: TrainingInstance) -> Dict[str, Any]:
        labels = tokenizer.convert_tokens_to_ids(instance.masked_lm_labels)
        values = {
            "input_ids": tokenizer.convert_tokens_to_ids(instance.tokens),
            "input_mask": [1] * len(instance.tokens),
            "segment_ids": instance.segment_ids,
            "token_boundary": instance.token_boundary,
            "masked_lm_positions": instance.masked_lm_positions,
            "masked_lm_ids": labels,
            "masked_lm_weights": [1.0] * len(labels),
            "next_sentence_labels": [int(instance.is_random_next)],
        }
        sizes = {feature.name: feature.shape[0] for feature in spec.features}
        return {
            name: list(numbers) + [0] * (sizes[name] - len(numbers))
            for name, numbers in values.items()
        }

    with contextlib.ExitStack() as stack:
        outputs = [
            stack.enter_context(record_files.create(path, fingerprint)) for path in output_files
        ]
        records = spec.encode_each(map(row, instances))
        for record, output in zip(records, itertools.cycle(outputs)):
            output.write(record)


def create_int_feature(values) -> tf.train.Feature:
    """Returns integers as a feature of a tf.train.Example."""
    return tf.train.Feature(int64_list=tf.train.Int64List(value=list(values)))


def create_float_feature(values) -> tf.train.Feature:
    """Returns floats as a feature of a tf.train.Example."""
    return tf.train.Feature(float_list=tf.train.FloatList(value=list(values)))


def is_start_piece(piece) -> bool:
    """Returns whether a token starts a word. --spm_model_file chooses SentencePiece's rule."""
    return bool(_starts_word([piece])[0])


def truncate_seq_pair(tokens_a, tokens_b, max_num_tokens, rng) -> None:
    """Removes tokens at either end of the longer list until both fit max_num_tokens together."""
    zero, length_a, length_b = np.array([[0], [len(tokens_a)], [len(tokens_b)]])
    key = random_keys.seed_key(rng.getrandbits(64))
    pairs = segment_pairs.Pairs(zero, length_a, zero, length_b, label=zero, key=key)
    cut = segment_pairs.truncate(pairs, max_num_tokens)
    tokens_a[:] = tokens_a[cut.start_a[0] : cut.start_a[0] + cut.length_a[0]]
    tokens_b[:] = tokens_b[cut.start_b[0] : cut.start_b[0] + cut.length_b[0]]


# ---- shared functions


def _flags() -> RecordFlags:
    return cli.current_flags(RecordFlags)


def _flags_with(rng: random.Random, **arguments: Any) -> RecordFlags:
    """Returns FLAGS with these values, and a seed that `rng` draws."""
    return _flags().replace(random_seed=rng.getrandbits(64), **arguments)


def _starts_word(tokens: Sequence[str]) -> np.ndarray:
    """Returns bool [number of tokens]: whether a token starts a word; [CLS] and [SEP] do not."""
    flags = _flags()
    rule = words.word_start_rule(bool(flags.spm_model_file), flags.word_start)
    return np.array([token not in _SPECIAL and rule(token) for token in tokens], bool)


@functools.lru_cache(maxsize=2)
def _vocabulary(vocab_words: Tuple[str, ...]) -> Tuple[Dict[str, int], words.PieceTable]:
    """Returns (token -> id, table for masking) of a vocabulary."""
    tokens = dict.fromkeys([*vocab_words, *_SPECIAL, "[MASK]"])
    vocabulary = {token: token_id for token_id, token in enumerate(tokens)}
    return vocabulary, words.piece_table(vocabulary)


def _ids(
    tokens: Sequence[str], vocab_words: Sequence[str]
) -> Tuple[np.ndarray, List[str], words.PieceTable]:
    """Returns (int32 ids of tokens, token of each id, table for masking)."""
    vocabulary, table = _vocabulary(tuple(vocab_words))
    vocabulary = dict(vocabulary)
    ids = [vocabulary.setdefault(token, len(vocabulary)) for token in tokens]
    return np.array(ids, np.int32), list(vocabulary), table


def _instances(features: Mapping[str, np.ndarray], inv_vocab: Any) -> List[TrainingInstance]:
    """Returns the rows of masking.masked_features as instances. `inv_vocab`: id -> token."""
    rows = len(features["input_ids"])
    columns = {name: np.zeros([rows, 0]) for name in _MASKS}
    columns.update(features)
    instances = []
    for row in range(rows):
        values = {name: column[row].tolist() for name, column in columns.items()}
        length, predictions = sum(values["input_mask"]), int(sum(values["masked_lm_weights"]))
        instances.append(
            TrainingInstance(
                tokens=[inv_vocab[token_id] for token_id in values["input_ids"][:length]],
                segment_ids=values["segment_ids"][:length],
                masked_lm_positions=values["masked_lm_positions"][:predictions],
                masked_lm_labels=[
                    inv_vocab[token_id] for token_id in values["masked_lm_ids"][:predictions]
                ],
                is_random_next=bool(values["next_sentence_labels"][0]),
                token_boundary=values["token_boundary"][:length],
            )
        )
    return instances
