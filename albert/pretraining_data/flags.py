# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of the scripts that make pretraining records."""

import dataclasses
import functools
from typing import Optional, Tuple

from albert.configs.shared_flags import TokenizerFlags, data_flag, output_flag, speed_flag
from albert.util.flags import BaseFlags, flag

TEXT_FIELD = "text"  # the default field of JSON lines

_masking = functools.partial(flag, group="Masking")
_file = functools.partial(flag, None, path=True, required=True)


@dataclasses.dataclass(frozen=True)
class DataFlags(BaseFlags):
    """The flags that decide the content of records."""

    max_seq_length: int = data_flag(
        512, "Maximum tokens per sequence, including [CLS] and each [SEP].", lower=5
    )
    max_predictions_per_seq: int = _masking(20, "Maximum masked tokens per sequence.", lower=1)
    masked_lm_prob: float = _masking(0.15, "Fraction of tokens to mask.", lower=0, upper=1)
    ngram: int = _masking(3, "Maximum words to mask together.", lower=1)
    favor_shorter_ngram: bool = _masking(
        True, "Mask n words together with a probability proportional to 1/n."
    )
    do_whole_word_mask: bool = _masking(True, "Mask all tokens of a word or none.")
    do_permutation: bool = _masking(
        False, "Shuffle as many tokens as are masked, and predict them too."
    )
    sentence_order: bool = data_flag(
        True,
        "Write pairs of segments; --nosentence_order: single segments, for masked words alone.",
    )
    random_next_sentence: bool = data_flag(
        False, "Train on BERT's next-sentence task instead of sentence order."
    )
    short_seq_prob: float = data_flag(
        0.1, "Fraction of sequences with a random, shorter length.", lower=0, upper=1
    )
    dupe_factor: int = data_flag(40, "Passes over the text, each with new masks.", lower=1)
    random_seed: int = data_flag(12345, "Random seed.", upper=2**64 - 1)
    word_start: str = _masking(
        "reference",
        "reference: words start as in Google's English data; underline: at spaces.",
        choices=("reference", "underline"),
    )
    input_file_mode: str = data_flag(
        "r",
        "Text that is not UTF-8 or JSON: r stops (on a cluster: drops the line); rb drops it.",
        choices=("r", "rb"),
    )
    shuffle_window_mb: int = flag(256, lower=1)
    language: str = data_flag(
        "any",
        "zh: find Chinese words for masking with jieba; tokens stay the same.",
        choices=("any", "zh"),
    )
    user_dictionary: Optional[str] = data_flag(
        None, "File with more words for --language=zh.", path=True
    )
    split_sentences: bool = data_flag(False, "Split lines into sentences (English and Chinese).")
    text_field: str = data_flag(TEXT_FIELD, "Field of JSON lines that holds the text.")

    @property
    def slots(self) -> int:
        """The maximum number of predictions per record."""
        return self.max_predictions_per_seq * (1 + self.do_permutation)

    @property
    def bad_lines(self) -> str:
        """The mode of documents.decode_lines: what to do if a line is not UTF-8."""
        return self.input_file_mode


@dataclasses.dataclass(frozen=True)
class RecordFlags(DataFlags, TokenizerFlags):
    """The flags of text, tokenizer and records, for one machine and for clusters."""

    input_file: str = _file("Text or JSON lines: files, patterns and folders.", group="Data")
    output_file: str = _file("Record files to write, comma-separated.", group="Output")
    overwrite: bool = output_flag(
        False, "Replace record files of another program or of other text."
    )


@dataclasses.dataclass(frozen=True)
class JobFlags(RecordFlags):
    """The flags of create_pretraining_data."""

    num_processes: Optional[int] = speed_flag(
        None, "Number of processes; default: one per processor.", lower=1
    )
    shuffle_window_mb: int = data_flag(256, "Megabytes of text to shuffle together.", lower=1)
    work_dir: Optional[str] = output_flag(
        None,
        "Local folder for temporary files; default: the folder of --output_file.",
        path=True,
    )


@dataclasses.dataclass(frozen=True)
class ClusterFlags(RecordFlags):
    """The flags of the scripts that make records on a cluster."""

    output_file: str = flag(
        None, "Record files, such as train-*.tf_record; * becomes 00000-of-00016.", path=True
    )
    num_shards: Optional[int] = output_flag(
        None,
        "Number of record files; default: files of about 128 MiB.",
        lower=1,
        upper=99999,
    )

    @property
    def bad_lines(self) -> str:
        """Drops bad lines, or their bad bytes: one bad line must not stop a job of hours."""
        return "lines" if self.input_file_mode == "r" else "rb"


@dataclasses.dataclass(frozen=True)
class BeamFlags(ClusterFlags):
    """The flags of create_pretraining_data_beam."""

    pipeline_options: Tuple[str, ...] = flag((), positional=True)


@dataclasses.dataclass(frozen=True)
class SparkFlags(ClusterFlags):
    """The flags of create_pretraining_data_spark."""

    master: Optional[str] = flag(
        None, "URL of the cluster; default: spark-submit's, or local[*].", group="Cluster"
    )


@dataclasses.dataclass(frozen=True)
class VocabularyFlags(BaseFlags):
    """The flags of train_vocab."""

    input_file: str = _file("Text or JSON lines, one sentence per line: files, patterns, folders.")
    model_prefix: str = _file("Write MODEL_PREFIX.model and MODEL_PREFIX.vocab.")
    vocab_size: int = flag(30000, "Number of tokens, including special tokens.", lower=14)
    do_lower_case: bool = flag(True, "Lower-case the text; use the same value in other commands.")
    keep_accents: bool = flag(False, "Keep accents, which Google's models drop.")
    input_sentence_size: int = flag(
        10000000, "Maximum sentences to train on; more are sampled at random.", lower=1
    )
    character_coverage: float = flag(
        0.99995, "Fraction of the text's characters to give a token.", lower=0.98, upper=1
    )
    seed: int = flag(12345, "Random seed of the sample.", lower=0, upper=2**32 - 1)
    overwrite: bool = flag(False, "Replace existing files.")
    text_field: str = flag(TEXT_FIELD, "Field of JSON lines that holds the text.")
