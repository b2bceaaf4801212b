# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes masked, shuffled records for run_pretraining from text files.

  python -m albert.create_pretraining_data --input_file='text/*.txt' \\
      --output_file=data/train-1.tf_record,data/train-2.tf_record \\
      --spm_model_file=30k-clean.model --max_seq_length=128 --dupe_factor=5

  python -m albert.create_pretraining_data --input_file=corpus --output_file=zh.tf_record \\
      --vocab_file=vocab_chinese.txt --language=zh --split_sentences --max_seq_length=128

The text has one sentence a line, or a paragraph with --split_sentences, and a blank line between
documents; or JSON lines, a document in each. All processors work; memory does not grow with the
text, disk needs room for the output twice. The same command resumes after a crash, and has nothing
to do when all is done. The same text, settings and --random_seed give the same bytes, whatever the
number of processes.

Masking has the distribution of the published script. What is different: a chunk of one sentence is
split inside the sentence, where it was paired with another document's text before; labels are
balanced on average; the border between the segments ends a word; random replacements are ordinary
tokens; the end of a file ends a document. See pretraining/pairs.py and
masking.py.
"""

import contextlib
import dataclasses
import functools
import logging
import random
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
)

import numpy as np
import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.command_line import cli
from albert.data import batches
from albert.pretraining import documents as text_documents
from albert.pretraining import instances as pretraining_instances
from albert.pretraining import job, masking, model, random_keys, words
from albert.pretraining import pairs as segment_pairs
from albert.pretraining.settings import DataSettings, RecordFlags
from albert.util import config_files, files, wording
from albert.util.errors import UserError
from albert.util.flags import flag


@dataclasses.dataclass(frozen=True)
class Flags(RecordFlags):
    """The script's flags."""

    num_processes: Optional[int] = flag(
        None, "Processes; default: one per processor.", lower=1, group="Memory and speed"
    )
    shuffle_window_mb: int = flag(
        256, "Megabytes of records that are shuffled at a time.", lower=1, group="Data"
    )
    work_dir: Optional[str] = flag(
        None,
        "Local folder for unfinished work; default: that of --output_file.",
        path=True,
        group="Output",
    )


_LOGGER = logging.getLogger("albert")

# ---------------------------------------------------------------------------------------------
# Functions that existing programs call by these names and arguments. As in the reference, they read
# from FLAGS what is not an argument (ngram, do_whole_word_mask, spm_model_file and so on), and keep
# all instances in memory. The state of `rng`, a random.Random, decides all random numbers. The data
# differ from the reference's as the first lines of this file say.

_SPECIAL = ("[CLS]", "[SEP]")
_OTHER_DOCUMENTS = 8  # from which random_next_sentence takes text, in a call for one document


@dataclasses.dataclass(eq=False, repr=False)
class TrainingInstance:
    """A pair of segments, masked."""

    tokens: List[str]  # with [CLS] and [SEP]
    segment_ids: List[int]  # 0 or 1 for each token
    masked_lm_positions: List[int]  # ascending
    masked_lm_labels: List[str]  # the tokens that stood there
    is_random_next: bool  # swapped, or with --random_next_sentence: B is from another document
    token_boundary: List[int]  # 1 for a token that starts a word, and for [CLS] and [SEP]

    def __repr__(self) -> str:
        lines = []
        for name, value in vars(self).items():
            values = value if isinstance(value, (list, tuple)) else [value]
            lines.append(f"{name}: {' '.join(map(str, values))}\n")
        return "".join(lines)


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
    """Returns the shuffled instances of all passes over text files; for settings see the flags.

    Raises:
      ValueError: a setting out of its range, or text that cannot be read.
    """
    settings = _settings(
        rng,
        max_seq_length=max_seq_length,
        dupe_factor=dupe_factor,
        short_seq_prob=short_seq_prob,
        masked_lm_prob=masked_lm_prob,
        max_predictions_per_seq=max_predictions_per_seq,
    )
    pretraining_instances.check_settings(settings)
    maker = pretraining_instances.InstanceMaker(tokenizer, settings)
    instances: List[TrainingInstance] = []
    for block in job.read_blocks(input_files, settings):
        for features in maker.instances(block).features:
            instances.extend(_instances(features, tokenizer.convert_ids_to_tokens))
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
    """Returns the instances of one pass over a document (of lists of tokens), in its order."""
    settings = _settings(
        rng,
        max_seq_length=max_seq_length,
        dupe_factor=1,
        short_seq_prob=short_seq_prob,
        masked_lm_prob=masked_lm_prob,
        max_predictions_per_seq=max_predictions_per_seq,
    )
    chosen = [document_index]
    if settings.random_next_sentence:
        count = len(all_documents)
        others = rng.sample(range(count), min(count, _OTHER_DOCUMENTS + 1))
        chosen += [number for number in others if number != document_index]
    pieces = _Pieces(vocab_words)
    block = pieces.block([all_documents[number] for number in chosen])
    if not block.documents:
        return []
    pairs = segment_pairs.make_pairs(block, settings).pairs
    features = masking.masked_features(block, pairs, table=pieces.table(), settings=settings)
    names = pieces.names()
    return list(_instances(features, lambda ids: [names[number] for number in ids]))


def create_masked_lm_predictions(
    tokens, masked_lm_prob, max_predictions_per_seq, vocab_words, rng
) -> Tuple[List[str], List[int], List[str], List[int]]:
    """Masks one sequence; [CLS] and [SEP] stay, and end a word.

    Returns:
      The tokens after masking, the positions to predict in ascending order, the tokens that stood
      there, and token_boundary (see TrainingInstance).

    Raises:
      ValueError: vocab_words has no ordinary token to replace others by.
    """
    starts = _starts_word(tokens)
    boundary = [int(start or piece in _SPECIAL) for start, piece in zip(starts, tokens)]
    if masked_lm_prob == 0:
        return list(tokens), [], [], boundary
    settings = _settings(
        rng, masked_lm_prob=masked_lm_prob, max_predictions_per_seq=max_predictions_per_seq
    )
    pieces = _Pieces(vocab_words)
    ids, places = masking.mask_sequence(
        pieces.numbers(tokens),
        starts,
        key=random_keys.seed_key(settings.random_seed),
        table=pieces.table(),
        settings=settings,
    )
    names, positions = pieces.names(), places.tolist()
    output = [names[number] for number in ids]
    return output, positions, [tokens[place] for place in positions], boundary


def write_instance_to_example_files(
    instances, tokenizer, max_seq_length, max_predictions_per_seq, output_files
) -> None:
    """Writes instances as records, in turn to each of the files, which appear when all is written.

    They are padded to max_seq_length and max_predictions_per_seq (twice with --do_permutation).

    Raises:
      ValueError: an instance is longer, or has more predictions.
    """
    slots = max_predictions_per_seq * (1 + _flags().do_permutation)
    spec = model.feature_spec(max_seq_length, slots)
    made_by = {"maker": "write_instance_to_example_files"}
    count = 0
    with contextlib.ExitStack() as stack:
        writers = [
            stack.enter_context(batches.AtomicRecordWriter(path, made_by)) for path in output_files
        ]
        for count, instance in enumerate(instances, start=1):
            record = _record(instance, tokenizer, spec=spec, number=count)
            writers[(count - 1) % len(writers)].write(spec.encode(record))
    _LOGGER.info(
        "Wrote %s into %s.",
        wording.counted(count, "instance"),
        wording.counted(len(output_files), "file"),
    )


def create_int_feature(values) -> tf.train.Feature:
    """Returns whole numbers as a part of a tf.train.Example."""
    return tf.train.Feature(int64_list=tf.train.Int64List(value=list(values)))


def create_float_feature(values) -> tf.train.Feature:
    """Returns numbers as a part of a tf.train.Example."""
    return tf.train.Feature(float_list=tf.train.FloatList(value=list(values)))


def is_start_piece(piece) -> bool:
    """Returns whether a token starts a word; --spm_model_file decides between the two rules."""
    return bool(_starts_word([piece])[0])


def truncate_seq_pair(tokens_a, tokens_b, max_num_tokens, rng) -> None:
    """Cuts the longer of two lists, at front or back, until both together fit max_num_tokens."""
    zero, length_a, length_b = np.array([[0], [len(tokens_a)], [len(tokens_b)]])
    key = random_keys.seed_key(rng.getrandbits(64))
    pairs = segment_pairs.Pairs(zero, length_a, zero, length_b, label=zero, key=key)
    cut = segment_pairs.truncate(pairs, max_num_tokens)
    tokens_a[:] = tokens_a[cut.start_a[0] : cut.start_a[0] + cut.length_a[0]]
    tokens_b[:] = tokens_b[cut.start_b[0] : cut.start_b[0] + cut.length_b[0]]


# ---- what they share


def _flags() -> Flags:
    return cli.of_process(Flags)


def _settings(rng: random.Random, **arguments: Any) -> DataSettings:
    """The settings that arguments and FLAGS make, with a seed that `rng` draws."""
    return _flags().replace(random_seed=rng.getrandbits(64), **arguments)


def _starts_word(pieces: Sequence[str]) -> np.ndarray:
    """bool [number of tokens]; [CLS] and [SEP] start none."""
    settings = _flags()
    rule = words.word_start_rule(bool(settings.spm_model_file), settings.word_start)
    return np.array([piece not in _SPECIAL and rule(piece) for piece in pieces], bool)


@functools.lru_cache(maxsize=2)
def _known(vocab_words: Tuple[str, ...]) -> Tuple[Dict[str, int], np.ndarray]:
    """Numbers for the tokens of a vocabulary, and the numbers (int32) that may replace a token."""
    numbers = {piece: number for number, piece in enumerate(dict.fromkeys(vocab_words))}
    ordinary = [number for piece, number in numbers.items() if words.is_ordinary(piece)]
    if not ordinary:
        raise UserError(
            "vocab_words holds no ordinary token to replace others by; give the vocabulary's: "
            "list(tokenizer.vocab)."
        )
    return numbers, np.array(ordinary, np.int32)


class _Pieces:
    """Numbers for tokens, also for those that are not in the vocabulary."""

    def __init__(self, vocab_words: Sequence[str]):
        known, self._ordinary = _known(tuple(vocab_words))
        self._numbers = dict(known)

    def _number(self, piece: str) -> int:
        return self._numbers.setdefault(piece, len(self._numbers))

    def numbers(self, pieces: Sequence[str]) -> np.ndarray:
        """int32."""
        return np.array([self._number(piece) for piece in pieces], np.int32)

    def names(self) -> List[str]:
        """The tokens by number."""
        return list(self._numbers)

    def table(self) -> words.PieceTable:
        """What masking needs to know, except for where words start."""
        special = [self._number(piece) for piece in (*_SPECIAL, "[MASK]")]
        return words.PieceTable(np.zeros([0], bool), None, -1, self._ordinary, *special)

    def block(self, documents: Sequence[Sequence[List[str]]]) -> segment_pairs.TokenizedBlock:
        """The first document, with the others as its neighbours."""
        flat: List[str] = []
        borders, parts = [0], []
        for index, sentences in enumerate(documents):
            first = len(borders) - 1
            for sentence in filter(None, sentences):
                flat += sentence
                borders.append(len(flat))
            parts.append(segment_pairs.Document(index, index, first, len(borders) - 1))
        return segment_pairs.TokenizedBlock(
            ids=self.numbers(flat),
            word_starts=_starts_word(flat),
            borders=np.array(borders, np.int64),
            documents=tuple(part for part in parts[:1] if part.last > part.first),
            neighbours=tuple(part for part in parts[1:] if part.last > part.first),
        )


def _instances(
    features: Mapping[str, np.ndarray], names: Callable[[List[int]], List[str]]
) -> Iterator[TrainingInstance]:
    """The rows of masking.masked_features; `names` gives the tokens of ids."""
    lengths = features["input_mask"].sum(axis=1, dtype=np.int64)
    nothing = np.zeros([len(lengths), 0], np.int32)
    weights = features.get("masked_lm_weights", nothing)
    for row, (length, count) in enumerate(zip(lengths, weights.sum(axis=1).astype(np.int64))):
        yield TrainingInstance(
            tokens=names(features["input_ids"][row, :length].tolist()),
            segment_ids=features["segment_ids"][row, :length].tolist(),
            masked_lm_positions=features.get("masked_lm_positions", nothing)[row, :count].tolist(),
            masked_lm_labels=names(features.get("masked_lm_ids", nothing)[row, :count].tolist()),
            is_random_next=bool(features["next_sentence_labels"][row, 0]),
            token_boundary=features["token_boundary"][row, :length].tolist(),
        )


def _record(
    instance: TrainingInstance,
    tokenizer: tokenization.FullTokenizer,
    *,
    spec: batches.FeatureSpec,
    number: int,
) -> Dict[str, List[Any]]:
    """The features, padded to the lengths that records have."""
    labels = tokenizer.convert_tokens_to_ids(instance.masked_lm_labels)
    record: Dict[str, List[Any]] = {
        "input_ids": tokenizer.convert_tokens_to_ids(instance.tokens),
        "input_mask": [1] * len(instance.tokens),
        "segment_ids": list(instance.segment_ids),
        "token_boundary": list(instance.token_boundary),
        "masked_lm_positions": list(instance.masked_lm_positions),
        "masked_lm_ids": labels,
        "masked_lm_weights": [1.0] * len(labels),
        "next_sentence_labels": [int(instance.is_random_next)],
    }
    for feature in spec.features:
        values, length = record[feature.name], feature.shape[0]
        if len(values) > length:
            raise UserError(
                f"Instance {number} has {len(values)} {feature.name}, and records have room for "
                f"{length}. Give the max_seq_length and max_predictions_per_seq it was made with."
            )
        record[feature.name] = values + [0] * (length - len(values))
    return record


# ---------------------------------------------------------------------------------------------
# The script.


@cli.reads_flags(Flags)
def main(settings: Flags):
    """Runs the script."""
    output_files = files.split_paths(settings.output_file)
    tokenizer_file = settings.spm_model_file or settings.vocab_file
    input_files = text_documents.find_files(
        settings.input_file,
        "input_file",
        but=[path for path in (*output_files, tokenizer_file, settings.user_dictionary) if path],
    )
    tokenizer = tokenization.FullTokenizer(
        settings.vocab_file, settings.do_lower_case, settings.spm_model_file
    )
    job.create_pretraining_data(
        input_files,
        output_files,
        tokenizer=tokenizer,
        tokenizer_file=tokenizer_file,
        settings=settings,
        num_processes=settings.num_processes,
        overwrite=settings.overwrite,
        work_dir=settings.work_dir,
    )
    config_files.record(config_files.beside(output_files[0]), settings.given_values())


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
