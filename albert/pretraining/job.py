# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining data: from text files to shuffled, masked tf.train.Example records.

The text, one sentence a line and a blank line between documents, is read as a stream of blocks of
a few documents. A worker process tokenises a block once, makes the instances of all passes over it
(`segment_pairs`, `ngram_masking`) and writes them as a part, sorted by random keys
(`record_shuffle`). When all parts are there, they are read together in order of key, which is the
shuffle, and cut into the output files.

* Memory depends neither on the size of the text nor on dupe_factor. On disk the parts need as much
  room as the output, until it is finished.
* Every random number is a function of (random_seed, document, pass, what it decides). The output is
  the same bytes whatever the number of processes, on every runtime.
* A job that was stopped in any way goes on after the parts and output files that are finished.
* The shuffle is complete over `shuffle_window_mb` megabytes of text (all passes over it); windows
  follow one another in the order of the text. The output files get consecutive stretches of
  the shuffled sequence, as many instances each as if they were dealt in turn.
* A document longer than 256 KiB is worked in parts of that size; the passes' shorter target lengths
  are drawn for each part.

Legend: N instances, S sequence length, P predictions a sequence.
"""

import collections
import contextlib
import hashlib
import itertools
import json
import logging
import os
import re
import stat
import tempfile
import time
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

import numpy as np
import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.data import batches as input_pipeline
from albert.data import records as example_batches
from albert.pretrained import model_vocabulary
from albert.pretraining import documents as text_documents
from albert.pretraining import masking as ngram_masking
from albert.pretraining import pairs as segment_pairs
from albert.pretraining import random_keys as random_streams
from albert.pretraining import record_shuffle, sentence_splitting, text_blocks, word_segmentation
from albert.util import files, many_files, progress
from albert.util import parallel as worker_pool

try:
    import fcntl
except ImportError:  # not a POSIX system: two jobs on one output are then not told apart
    fcntl = None

INPUT_MODES = ("r", "rb")
LANGUAGES = ("any", "zh")

_LOGGER = logging.getLogger(__name__)

FORMAT = 1  # raise it when the same settings give other records than before
_MEGABYTE = 1 << 20
_MOST_BAD_LINES = 0.1  # as a share of the lines
_SHOWN_LINES = 5
_CELLS = 1 << 17  # instances times length that are masked together: arrays that fit a core's cache
_MANY_COPIES = 10  # of text without masks
_MAKER = "create_pretraining_data"
_NEWER_SETTINGS = ("language", "split_sentences", "text_field")
_PART_NAME = re.compile(r"[0-9a-f]{16}-\d+\.part(\.tmp-[0-9a-f]+)?|[0-9a-f]{16}\.started")


class DataSettings(NamedTuple):
    """What decides the records; names and defaults are those of the flags."""

    max_seq_length: int = 512
    max_predictions_per_seq: int = 20
    masked_lm_prob: float = 0.15
    ngram: int = 3
    favor_shorter_ngram: bool = True
    do_whole_word_mask: bool = True
    do_permutation: bool = False
    random_next_sentence: bool = False
    short_seq_prob: float = 0.1
    dupe_factor: int = 40
    random_seed: int = 12345
    word_start: str = "reference"
    input_file_mode: str = "r"
    shuffle_window_mb: int = 256
    language: str = "any"
    user_dictionary: Optional[str] = None
    split_sentences: bool = False
    text_field: str = text_documents.TEXT_FIELD

    @property
    def slots(self) -> int:
        """Predictions a record has room for."""
        return self.max_predictions_per_seq * (1 + self.do_permutation)


class Counts(NamedTuple):
    """What was read and made."""

    documents: int = 0
    empty_documents: int = 0  # nothing in them gave a piece
    sentences: int = 0
    bad_lines: int = 0  # not UTF-8, and mended (input_file_mode rb)
    left_out: int = 0  # single pieces at a document's end, over all passes
    instances: int = 0
    label_one: int = 0
    predictions: int = 0
    bad_documents: int = 0  # JSON lines that were dropped (input_file_mode rb)

    def plus(self, other: Iterable[int]) -> "Counts":
        """Returns the sum."""
        return Counts(*(mine + theirs for mine, theirs in zip(self, other)))


class Summary(NamedTuple):
    """What a job did."""

    counts: Counts
    was_current: bool  # all output files were there already
    seconds: float
    peak_megabytes: float  # of all processes together; 0 where the system does not tell


def check_settings(settings: DataSettings) -> None:
    """Checks ranges; warns where few of the pieces meant to be predicted have a slot.

    Raises:
      ValueError: a value is out of its range.
    """
    _at_least(settings, "max_seq_length", bound=5, why="[CLS] A [SEP] B [SEP], a piece each")
    for name in ("max_predictions_per_seq", "ngram", "dupe_factor", "shuffle_window_mb"):
        _at_least(settings, name, bound=1, why="none at all makes no records")
    for name in ("masked_lm_prob", "short_seq_prob"):
        value = getattr(settings, name)
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"--{name} is {value}; it is a share and must lie in 0 .. 1.")
    if settings.word_start not in ngram_masking.WORD_STARTS:
        raise ValueError(
            f"--word_start is '{settings.word_start}'; it must be one of "
            f"{', '.join(ngram_masking.WORD_STARTS)}."
        )
    if settings.input_file_mode not in INPUT_MODES:
        raise ValueError(
            f"--input_file_mode is '{settings.input_file_mode}'; it must be r (bad UTF-8 is an "
            "error) or rb (bytes that are not UTF-8 are dropped and counted)."
        )
    _check_language(settings)
    if settings.masked_lm_prob == 0 and settings.do_permutation:
        raise ValueError(
            "--do_permutation moves pieces as many as are masked, and --masked_lm_prob=0 masks "
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
            "A full sequence of %d pieces gets %d predictions, not the %d that "
            "--masked_lm_prob=%g asks for: --max_predictions_per_seq=%d would make room for them.",
            settings.max_seq_length,
            settings.max_predictions_per_seq,
            wanted,
            settings.masked_lm_prob,
            wanted,
        )


def _check_language(settings: DataSettings) -> None:
    """What depends on how words are found."""
    if settings.language not in LANGUAGES:
        raise ValueError(
            f"--language is '{settings.language}'; it must be any (the vocabulary marks the words) "
            "or zh (jieba finds them)."
        )
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


def _at_least(settings: DataSettings, name: str, *, bound: int, why: str) -> None:
    """Checks one lower bound."""
    value = getattr(settings, name)
    if value < bound:
        raise ValueError(f"--{name} is {value}; it must be at least {bound} ({why}).")


def part_of(settings: DataSettings, kind: Any) -> Any:
    """Returns the NamedTuple `kind` with those of `settings` that it has fields for."""
    return kind(**{name: getattr(settings, name) for name in kind._fields})


# -------------------------------------------------------------------------------- text to instances


class Tokenized(NamedTuple):
    """A block of pieces, and what was read for it."""

    block: segment_pairs.TokenizedBlock
    counts: Counts


class Instances(NamedTuple):
    """What a block gave, in the order of the shuffle."""

    features: Iterator[Dict[str, np.ndarray]]  # in batches, see ngram_masking.masked_features
    keys: np.ndarray  # uint64 [N], ascending: the place of each instance in the shuffle
    counts: Counts  # but for `predictions`, which is known when the features are


class InstanceMaker:
    """Text blocks to instances: holds the tokeniser and the tables made from it."""

    def __init__(self, tokenizer: tokenization.FullTokenizer, settings: DataSettings):
        """Loads what segments words, if it is needed.

        Raises:
          ValueError: the vocabulary cannot be used, see ngram_masking.piece_table; or the segmenter
            cannot be loaded, see word_segmentation.ChineseSegmenter.
        """
        self._tokenizer = tokenizer
        self._settings = settings
        self._segmenter = None
        if settings.language == "zh":
            self._segmenter = word_segmentation.ChineseSegmenter(settings.user_dictionary)
        self._table = ngram_masking.piece_table(tokenizer, settings.word_start)
        self.vocabulary = ngram_masking.describe_vocabulary(self._table)
        self._pair_settings = part_of(settings, segment_pairs.PairSettings)
        self._mask_settings = part_of(settings, ngram_masking.MaskSettings)

    @property
    def drops_bad(self) -> bool:
        """Returns whether what is wrong with the text is dropped and counted, not an error."""
        return self._settings.input_file_mode == "rb"

    def instances(self, block: text_blocks.TextBlock) -> Instances:
        """Returns the instances of all passes over `block`.

        Raises:
          ValueError: bad UTF-8, with file and line (input_file_mode r).
        """
        tokenized, counts = self.tokenize(block)
        pairs, left_out = segment_pairs.make_pairs(tokenized, self._pair_settings)
        counts = counts._replace(
            left_out=left_out, instances=len(pairs.key), label_one=int(pairs.label.sum())
        )
        keys = random_streams.fold(pairs.key, ngram_masking.PAIR_DRAWS)
        order = np.argsort(keys, kind="stable")
        pairs = segment_pairs.Pairs(*(column[order] for column in pairs))
        return Instances(self._features(tokenized, pairs), keys[order], counts)

    def read_blocks(
        self,
        paths: Sequence[str],
        on_bad_line: Callable[[text_documents.BadLine], None] = text_documents.raise_bad_line,
    ) -> Iterator[text_blocks.TextBlock]:
        """Yields the blocks of text files; see text_blocks.read_blocks."""
        return text_blocks.read_blocks(
            paths,
            window_bytes=self._settings.shuffle_window_mb * _MEGABYTE,
            with_neighbours=self._settings.random_next_sentence,
            text_field=self._settings.text_field,
            on_bad_line=on_bad_line,
        )

    def make_part(self, block: text_blocks.TextBlock, path: str) -> record_shuffle.Part:
        """Writes the records of `block` as a part and returns it."""
        features, keys, counts = self.instances(block)
        note = {"number": block.number, "window": block.window, "bytes": block.bytes}

        def encoded() -> Iterator[example_batches.EncodedExamples]:
            predictions = 0
            for batch in features:
                predictions += ngram_masking.count_predictions(batch)
                yield example_batches.encode_examples(batch)
            note["counts"] = counts._replace(predictions=predictions)

        return record_shuffle.write_part(path, keys, encoded(), note=note)

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
                settings=self._mask_settings,
            )

    def tokenize(self, block: text_blocks.TextBlock) -> Tokenized:
        """Returns the pieces of all documents but empty ones."""
        flat: List[int] = []
        starts: List[np.ndarray] = []
        borders = [0]
        documents: List[segment_pairs.Document] = []
        counts = Counts()
        for raw in block.documents + ((block.neighbour,) if block.neighbour else ()):
            lines, bad = text_blocks.decode_lines(raw, drop_bad=self.drops_bad)
            if self._settings.split_sentences:
                lines = sentence_splitting.split_all(lines)
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
            "blocks": [text_documents.DOCUMENT_BYTES, text_blocks.BLOCK_BYTES],
            "tokenizer": files.file_fingerprint(tokenizer_file),
            "vocab_size": len(self._tokenizer.vocab),
            "do_lower_case": self._tokenizer.do_lower_case,
            "vocabulary": self.vocabulary,  # for masking on the fly
            "settings": {name: value for name, value in values.items() if name not in newer},
        }
        if self._settings.language == "zh":
            made_from["words"] = word_segmentation.fingerprint(self._settings.user_dictionary)
        return made_from

    def _encode(self, lines: Sequence[str]) -> Tuple[List[List[int]], np.ndarray]:
        """The ids of each line, and bool [pieces of all lines]: where words begin."""
        if self._segmenter is None:
            ids = self._tokenizer.encode_ids_batch(lines)
            starts = ngram_masking.word_starts(self._tokenizer, self._table, lines=lines, ids=ids)
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


# --------------------------------------------------------------------------------------------- job


def create_pretraining_data(
    input_files: Sequence[str],
    output_files: Sequence[str],
    *,
    tokenizer: tokenization.FullTokenizer,
    tokenizer_file: str,
    settings: DataSettings,
    num_processes: Optional[int] = None,
    overwrite: bool = False,
    work_dir: Optional[str] = None,
) -> Summary:
    """Makes the records of `output_files` from the text of `input_files`.

    Args:
      input_files: text files; their order is that of the text.
      output_files: TFRecord files to write, each in one step when it is finished, with a sidecar
        (see `files`). If all are there already, made from the same text by the same settings,
        nothing is done.
      tokenizer: cuts the text.
      tokenizer_file: the vocabulary or model it was loaded from, for the fingerprint.
      settings: see DataSettings.
      num_processes: worker processes; all processors by default. 1 works in this process.
      overwrite: replace output files that this function did not make.
      work_dir: local folder for unfinished work. By default a hidden folder beside the first
        output file, or one in the system's folder for temporary files if that is remote.

    Raises:
      ValueError: settings out of range, no text, bad UTF-8, an output file that must not be
        overwritten or cannot be written.
    """
    started = time.time()
    check_settings(settings)
    if num_processes is not None and num_processes < 1:
        raise ValueError(f"--num_processes is {num_processes}; it must be at least 1.")
    _check_outputs(input_files, output_files)
    maker = InstanceMaker(tokenizer, settings)
    fingerprint = _fingerprint(input_files, output_files, maker.fingerprint(tokenizer_file))
    outputs = _Outputs(output_files, fingerprint)
    vocabulary = vocabulary_of(tokenizer, tokenizer_file)
    if outputs.all_current():
        outputs.put_beside(vocabulary)
        return _nothing_to_do(outputs, started)
    memory = progress.PeakMemory()
    with _WorkFolder(work_dir, outputs=outputs) as work:
        outputs.make_way(overwrite=overwrite or work.is_resumed)
        work.mark_started()
        processes = num_processes or worker_pool.default_processes()
        made = _make_parts(work, input_files, maker=maker, processes=processes, memory=memory)
        counts = _total(made)
        _check_text(input_files, counts, sizes=[one["size"] for one in fingerprint["text"]])
        outputs.put_beside(vocabulary)
        outputs.write(made.parts, counts, memory=memory)
        work.remove()
    summary = Summary(counts, False, time.time() - started, memory.megabytes())
    _report(summary, reused=made.reused)
    return summary


def vocabulary_of(
    tokenizer: tokenization.FullTokenizer, tokenizer_file: str
) -> model_vocabulary.Vocabulary:
    """Returns what is kept beside the records, so that the model they train gets it."""
    key = "vocab_file" if tokenizer.sp_model is None else "spm_model_file"
    return model_vocabulary.Vocabulary(key, tokenizer_file, tokenizer.do_lower_case)


def _check_text(input_files: Sequence[str], counts: Counts, *, sizes: Sequence[int]) -> None:
    """Refuses text that was no text, or that is not what the fingerprint says."""
    for path, size, length in zip(input_files, sizes, many_files.each(_size, input_files)):
        if length != size:
            raise ValueError(f"--input_file: '{path}' was changed while it was read. Start again.")
    check_counts(counts)


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
            "--input_file: the text gives no instance. Every document is empty or a single piece; "
            "is the vocabulary the right one?"
        )


def _nothing_to_do(outputs: "_Outputs", started: float) -> Summary:
    """Says so."""
    instances = outputs.count_records()
    _LOGGER.info(
        "Nothing to do: the output (%s, %d instances) was made from the same text by the same "
        "settings.",
        _number(len(outputs.paths), "file"),
        instances,
    )
    return Summary(Counts(instances=instances), True, time.time() - started, 0.0)


def _number(count: int, noun: str) -> str:
    """The count with its noun: 1 file, 2 files."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _fingerprint(
    input_files: Sequence[str], output_files: Sequence[str], made_from: Mapping[str, Any]
) -> Dict[str, Any]:
    """What the records are made from, for the sidecars."""
    folder, name = os.path.split(output_files[0])
    kept_in = os.path.join(folder, f".{name}.hashes.json")
    text = many_files.fingerprints(input_files, kept_in, "Hashing the text")
    return dict(made_from, maker=_MAKER, text=text)


def _check_outputs(input_files: Sequence[str], output_files: Sequence[str]) -> None:
    """Refuses, before any work is done, what cannot be written at its end."""
    if not output_files:
        raise ValueError("--output_file names no file. Give one path, or several with commas.")
    twice = [path for path, count in collections.Counter(output_files).items() if count > 1]
    if twice:
        raise ValueError(f"--output_file names '{twice[0]}' more than once.")
    both = {os.path.abspath(path) for path in input_files}
    folders = many_files.each(text_documents.is_folder, output_files)
    for path, is_folder in zip(output_files, folders):
        if os.path.abspath(path) in both:
            raise ValueError(f"--output_file: '{path}' is also an input file; choose another name.")
        if is_folder:
            raise ValueError(f"--output_file: '{path}' is a folder; name a file in it.")
    for folder in sorted({os.path.dirname(path) for path in output_files}):
        _check_folder(folder)


def _listed(names: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _check_folder(folder: str) -> None:
    """Creates the folder if need be and writes a file into it."""
    probe = os.path.join(folder, f".write-test-{files.random_suffix()}")
    try:
        if folder:
            tf.io.gfile.makedirs(folder)
        with tf.io.gfile.GFile(probe, "w") as stream:
            stream.write("?")
        tf.io.gfile.remove(probe)
    except tf.errors.OpError as error:
        raise ValueError(
            f"--output_file: cannot write in the folder '{folder or '.'}' ({error.message})."
        ) from error


class _WorkFolder:
    """The folder of the parts: locked while a job works in it, gone when the job is done.

    The names of the parts hold a hash of what they are made from: those of other jobs are never
    taken for this one's, not even if a worker of a job that was killed finishes its last part now.
    """

    def __init__(self, base: Optional[str], *, outputs: "_Outputs"):
        output = outputs.paths[0]
        name = f".{os.path.basename(output)}.work"
        if base is None and "://" not in output:
            base = os.path.dirname(output)
        elif base is None or "://" not in base:
            # Here the outputs of other jobs may have the same name.
            name = f"{name}-{hashlib.sha256(os.path.abspath(output).encode()).hexdigest()[:12]}"
            base = base or tempfile.gettempdir()
        else:
            raise ValueError(f"--work_dir is '{base}'; it must be a local folder.")
        self.path = os.path.join(base, name)
        self._key = outputs.key()
        self._started = os.path.join(self.path, f"{self._key}.started")
        self._lock = None
        self.is_resumed = False

    def __enter__(self) -> "_WorkFolder":
        os.makedirs(self.path, exist_ok=True)
        self._check_owner()
        self._lock = open(os.path.join(self.path, "lock"), "a")  # noqa: SIM115, closed in __exit__
        try:
            if fcntl is not None:
                # This kind of lock is not inherited by workers and ends with this process.
                fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise ValueError(
                f"Another process is making the same output now ('{self.path}' is locked). Wait "
                "for it, or choose another --output_file."
            ) from None
        self.is_resumed = os.path.exists(self._started)
        self._remove_files(but=self._key)
        return self

    def __exit__(self, kind, *_) -> None:
        # After a mistake in the text or the flags, what is mended makes other parts.
        is_mistake = kind is not None and issubclass(kind, ValueError)
        is_made = os.path.isdir(self.path)
        if is_made and (is_mistake or not os.path.exists(self._started)):
            self.remove()
        self._lock.close()

    def _check_owner(self) -> None:
        """The name can be foreseen, and in a shared folder others could have made it first."""
        found, parent = os.lstat(self.path), os.stat(os.path.dirname(self.path) or ".")
        is_shared = bool(parent.st_mode & stat.S_IWOTH) and found.st_uid != os.geteuid()
        if stat.S_ISLNK(found.st_mode) or is_shared:
            raise ValueError(
                f"The folder for unfinished work, '{self.path}', is a link or another user's. "
                "Remove it, or choose another --work_dir."
            )

    def mark_started(self) -> None:
        """From here on, an output file without a sidecar is this job's own."""
        with open(self._started, "w", encoding="ascii") as stream:
            stream.write("The parts in this folder are unfinished work of " + _MAKER + ".\n")

    def part_path(self, number: int) -> str:
        """Returns where the part of a block lies."""
        return os.path.join(self.path, f"{self._key}-{number:06d}.part")

    def remove(self) -> None:
        """Removes what this class made, and the folder if nothing else is in it."""
        self._remove_files(but=None)
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(self.path, "lock"))
        if not os.listdir(self.path):
            os.rmdir(self.path)

    def _remove_files(self, *, but: Optional[str]) -> None:
        """Parts of all jobs but one, and whatever killed workers were writing."""
        for name in os.listdir(self.path):
            if _PART_NAME.fullmatch(name) and (not name.startswith(but or "-") or ".tmp" in name):
                os.remove(os.path.join(self.path, name))


class _MadeParts(NamedTuple):
    """All parts in the order of the text, and how many instances were there before."""

    parts: List[record_shuffle.Part]
    reused: int
    bad_documents: int


class _DroppedLines:
    """Counts the JSON lines that are no documents, and shows the first of them."""

    def __init__(self):
        self.count = 0

    def __call__(self, bad: text_documents.BadLine) -> None:
        self.count += 1
        if self.count <= _SHOWN_LINES:
            _LOGGER.warning("Dropped: '%s', line %d %s.", bad.path, bad.line, bad.reason)


def _make_parts(
    work: _WorkFolder,
    input_files: Sequence[str],
    *,
    maker: InstanceMaker,
    processes: int,
    memory: progress.PeakMemory,
) -> _MadeParts:
    """Makes the parts that are not there yet."""
    total = _megabytes_of_text(input_files)
    dropped = _DroppedLines() if maker.drops_bad else text_documents.raise_bad_line
    parts: Dict[int, record_shuffle.Part] = {}
    started = time.time()
    with progress.Progress("Making instances", total, unit="MB") as bar:

        def missing() -> Iterator[text_blocks.TextBlock]:
            for block in maker.read_blocks(input_files, dropped):
                # A part may have been cut off by a crash of the whole machine.
                part = record_shuffle.read_part(work.part_path(block.number), verify=True)
                if part is None:
                    yield block
                else:
                    parts[block.number] = part
                    bar.skip(block.bytes / 1e6)

        def make(block: text_blocks.TextBlock) -> record_shuffle.Part:
            return maker.make_part(block, work.part_path(block.number))

        instances = 0
        for part in worker_pool.ordered_map(make, missing(), processes):
            parts[part.note["number"]] = part
            instances += part.count
            rate = instances / (time.time() - started)
            bar.update(part.note["bytes"] / 1e6, f"{rate:,.0f} instances/s")
            memory.sample(now=len(parts) == processes + 1)
    reused = sum(part.count for part in parts.values()) - instances
    if reused:
        _LOGGER.info("%d instances were finished when this job was stopped.", reused)
    bad_documents = dropped.count if maker.drops_bad else 0
    return _MadeParts([parts[number] for number in sorted(parts)], reused, bad_documents)


def _megabytes_of_text(input_files: Sequence[str]) -> Optional[float]:
    """How much there is to read; None where compressed files do not tell."""
    if any(map(text_documents.is_compressed, input_files)):
        return None
    return sum(many_files.each(_size, input_files)) / 1e6


def _size(path: str) -> int:
    return tf.io.gfile.stat(path).length


def _total(made: _MadeParts) -> Counts:
    """The counts of all parts."""
    counts = Counts()
    for part in made.parts:
        counts = counts.plus(part.note["counts"])
    return counts._replace(bad_documents=made.bad_documents)


class _Outputs:
    """The output files: whether they are current, may be replaced, and their writing."""

    def __init__(self, paths: Sequence[str], fingerprint: Dict[str, Any]):
        self.paths = list(paths)
        self._fingerprint = files.normalized_fingerprint(fingerprint)

    def key(self) -> str:
        """Returns a hash of what the records are made from and of where they go.

        Unfinished work may replace what it left at its own outputs, and at no others.
        """
        text = json.dumps([self._fingerprint, self.paths], sort_keys=True)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]

    def _fingerprint_of(self, number: int) -> Dict[str, Any]:
        """That of one file: it also tells which share of the records it holds."""
        return dict(self._fingerprint, file=number, files=len(self.paths))

    def _why_stale(self, number: int) -> str:
        return files.why_stale(self.paths[number], self._fingerprint_of(number))

    def all_current(self) -> bool:
        """Returns whether there is nothing to do."""
        return not any(self._reasons())

    def _reasons(self) -> Iterator[str]:
        """Why each file is stale, or ""."""
        return many_files.each(self._why_stale, range(len(self.paths)), "Looking at the output")

    def put_beside(self, vocabulary: model_vocabulary.Vocabulary) -> None:
        """Copies the vocabulary into each folder of output, where training finds it."""
        for folder in sorted({os.path.dirname(path) for path in self.paths}):
            model_vocabulary.put_beside_records(folder, vocabulary)

    def count_records(self) -> int:
        """Returns the number of instances in files that are current."""
        return sum(sidecar.count for sidecar in many_files.each(files.read_sidecar, self.paths))

    def make_way(self, *, overwrite: bool) -> None:
        """Says what will be replaced.

        Raises:
          ValueError: a file is there that was not made here, or was changed since.
        """
        for path, reason in zip(self.paths, self._reasons()):
            if reason == files.NOT_THERE:
                continue
            sidecar = files.read_sidecar(path)
            is_ours = sidecar is not None and sidecar.fingerprint.get("maker") == _MAKER
            is_whole = sidecar is not None and sidecar.bytes == tf.io.gfile.stat(path).length
            if not overwrite and not (is_ours and is_whole):
                raise ValueError(
                    f"--output_file: '{path}' is there already, and this program did not make it "
                    f"as it is ({reason}). Choose another name, or replace it by --overwrite."
                )
            if not overwrite:
                self._check_same_text(path, sidecar.fingerprint)
            if reason:
                _LOGGER.info("%s will be made again: %s.", path, reason)

    def _check_same_text(self, path: str, made_from: Mapping[str, Any]) -> None:
        """Other settings make a file anew; other text is rather a name that was mistyped."""
        old, new = (
            sorted(text["name"] for text in one.get("text", []))
            for one in (made_from, self._fingerprint)
        )
        if old != new:
            raise ValueError(
                f"--output_file: '{path}' was made from {_listed(old)}, and --input_file is "
                f"{_listed(new)}. Choose another name, or replace it by --overwrite."
            )

    def write(
        self,
        parts: Sequence[record_shuffle.Part],
        counts: Counts,
        *,
        memory: progress.PeakMemory,
    ) -> None:
        """Writes those files that are not current."""
        if counts.instances < len(self.paths):
            _LOGGER.warning(
                "There are %d instances for %d output files: some will be empty.",
                counts.instances,
                len(self.paths),
            )
        shuffled = _Shuffled(parts)
        end = 0
        with progress.Progress("Writing", counts.instances, unit="instances") as bar:
            for number in range(len(self.paths)):
                # As many as if they were dealt in turn.
                share = (counts.instances - number - 1) // len(self.paths) + 1
                start, end = end, end + share
                if self._why_stale(number):
                    self._write_file(number, bar.counting(shuffled.records(start, end)))
                else:
                    bar.skip(share)
                memory.sample()
        memory.sample(now=True)

    def _write_file(self, number: int, records: Iterable[bytes]) -> None:
        """Writes one file and its sidecar."""
        path, fingerprint = self.paths[number], self._fingerprint_of(number)
        with input_pipeline.AtomicRecordWriter(path, fingerprint) as writer:
            for record in records:
                writer.write(record)


class _Shuffled:
    """The records of all windows, one window after another."""

    def __init__(self, parts: Sequence[record_shuffle.Part]):
        windows: Dict[int, List[record_shuffle.Part]] = collections.OrderedDict()
        for part in parts:
            windows.setdefault(part.note["window"], []).append(part)
        self._windows = list(windows.values())
        self._open = (-1, record_shuffle.WindowShuffle([]))

    def records(self, start: int, end: int) -> Iterator[bytes]:
        """Yields the records start .. end - 1."""
        offset = 0
        for number, parts in enumerate(self._windows):
            count = sum(part.count for part in parts)
            if start < offset + count and end > offset:
                if self._open[0] != number:
                    self._open = (number, record_shuffle.WindowShuffle(parts))
                yield from self._open[1].records(max(0, start - offset), min(count, end - offset))
            offset += count


def _report(summary: Summary, *, reused: int) -> None:
    """Says what was read and made."""
    counts = summary.counts
    _LOGGER.info(
        "%s, %s -> %s with %s in %s (%s instances/s).",
        _number(counts.documents, "document"),
        _number(counts.sentences, "sentence"),
        _number(counts.instances, "instance"),
        _number(counts.predictions, "prediction"),
        progress.format_seconds(summary.seconds),
        f"{(counts.instances - reused) / summary.seconds:,.0f}",
    )
    _LOGGER.info(
        "Label 1: %.2f%%. Memory of all processes together: at most %.0f MB.",
        100.0 * counts.label_one / counts.instances,
        summary.peak_megabytes,
    )
    oddities = [
        (counts.empty_documents, "empty document"),
        (counts.bad_documents, "JSON line without a document, now left out"),
        (counts.bad_lines, "line that was not UTF-8, now without the bad bytes"),
        (counts.left_out, "single piece at a document's end without a pair, over all passes"),
    ]
    for count, what in oddities:
        if count:
            _LOGGER.warning("%d times: %s.", count, what)
