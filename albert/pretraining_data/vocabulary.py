# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Trains a SentencePiece vocabulary; see albert/commands/train_vocab.py."""

import functools
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import time
import unicodedata
from typing import Callable, Iterable, Iterator, List, NamedTuple, Sequence

import numpy as np
import sentencepiece as spm

from albert import tokenization
from albert.pretraining_data import documents
from albert.pretraining_data.flags import VocabularyFlags
from albert.util import UserError, files, log, progress, wording

_RECIPE = {
    "model_type": "unigram",
    "pad_id": 0,
    "unk_id": 1,
    "bos_id": -1,
    "eos_id": -1,
    "control_symbols": ["[CLS]", "[SEP]", "[MASK]"],
    "user_defined_symbols": ["(", ")", '"', "-", ".", "\u2013", "\u00a3", "\u20ac"],
    # A constant, because the number of threads changes how the sums of the EM steps are rounded.
    "num_threads": 16,
}
_LONGEST_PART = 1000  # characters; SentencePiece drops sentences longer than 4192 bytes
_MAX_UNDECODABLE = 0.01  # fraction of the lines
_SAMPLE_SENTENCES = 2000  # sentences that measure the fraction of unknown tokens
_MANY_ACCENTS = 0.01  # fraction of the characters
# Runs in a temporary folder. SentencePiece gets an iterator and a writer, because it would write
# the paths of files into the model.
_SENTENCES, _MODEL = "sentences.txt", "model"
_TRAINER = f"""
import json, sys
settings, *sys.path[:] = json.loads(sys.argv[1])
import sentencepiece
with open("{_SENTENCES}", encoding="utf-8", newline="\\n") as lines:
    with open("{_MODEL}", "wb") as model:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(line.rstrip("\\n") for line in lines),
            model_writer=model,
            **settings,
        )
"""


class TrainedVocabulary(NamedTuple):
    """The result of `train_vocabulary`."""

    model_file: str
    vocab_file: str
    sentences: int  # lines with text in the input
    used_sentences: int  # lines that the model was trained on
    unknown_share: float  # fraction of unknown tokens in a sample of the text


def _lines(paths: Sequence[str], text_field: str) -> Iterator[bytes]:
    """Yields the lines with text that create_pretraining_data would read."""
    for document in documents.read_documents(paths, text_field=text_field):
        yield from document.text.split(b"\n")


def _count_sentences(paths: Sequence[str], text_field: str) -> int:
    """Counts the lines with text. Checks that (almost) all are UTF-8."""
    count = undecodable = 0
    for line in _lines(paths, text_field):
        count += 1
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            undecodable += 1
    if undecodable > _MAX_UNDECODABLE * count:
        raise UserError(
            f"--input_file: {undecodable} of {count} lines are not UTF-8. Convert the text."
        )
    if undecodable:
        log.warning("Dropping bytes that are not UTF-8 from %d lines.", undecodable)
    if not count:
        raise UserError(f"--input_file: no text in {wording.listed(paths)}.")
    return count


def _drawn(lines: Iterable[bytes], *, total: int, count: int, seed: int) -> Iterator[bytes]:
    """Draws `count` of `total` lines. Each set of lines is equally likely; none is held in memory.

    Selection sampling (Knuth, The Art of Computer Programming, 3.4.2, algorithm S): a line is drawn
    with the probability (lines still to draw) / (lines still to read).
    """
    random = np.random.RandomState(seed)
    for unread, line in zip(range(total, 0, -1), lines):
        if count == unread or random.random_sample() * unread < count:
            count -= 1
            yield line


def _prepare(
    drawn: Iterable[bytes], path: str, *, count: int, prepare: Callable[[bytes], str]
) -> List[bytes]:
    """Writes the preprocessed sentences to a local file. Returns a sample of the lines."""
    sample = []
    bar = progress.Progress("Reading", count, unit="sentences")
    with bar, files.naming_path(path), open(path, "w", encoding="utf-8", newline="\n") as stream:
        for number, line in enumerate(bar.counting(drawn)):
            text = prepare(line)
            if number % max(1, count // _SAMPLE_SENTENCES) == 0:
                sample.append(line)
            if len(text) > _LONGEST_PART:
                text = "\n".join(textwrap.wrap(text, _LONGEST_PART, break_on_hyphens=False))
            stream.write(text + "\n")
    return sample


def _warn_of_accents(sample: Sequence[bytes]) -> None:
    """Warns if the text has many accents, which a vocabulary without --keep_accents drops."""
    text = unicodedata.normalize("NFKD", b"".join(sample).decode("utf-8", "ignore"))
    accents = sum(unicodedata.combining(character) > 0 for character in text)
    share = accents / max(1, len(text))
    if share > _MANY_ACCENTS:
        log.warning(
            "%.1f%% of the characters in the text are accents, which this command drops. Use "
            "--keep_accents if accents matter in your language.",
            100 * share,
        )


def _train_on(folder: str, flags: VocabularyFlags) -> bytes:
    """Trains in another process. Ctrl-C can stop it; if memory is short, only that process dies.

    A forked process would not do: SentencePiece cannot train if TensorFlow 1.15 was loaded first.
    """
    size, coverage = flags.vocab_size, flags.character_coverage
    recipe = dict(_RECIPE, vocab_size=size, character_coverage=coverage)
    arguments = json.dumps([recipe, *map(os.path.abspath, sys.path)])
    process = subprocess.Popen(
        [sys.executable, "-c", _TRAINER, arguments],
        stderr=subprocess.PIPE,
        cwd=folder,
        encoding="utf-8",
        errors="replace",
    )
    error = ""
    try:
        for line in process.stderr:
            if "EM sub_iter" in line:
                log.info("Training: %s", line[line.index("EM ") :].strip())
            error = line.strip() or error
    finally:
        process.kill()
    if process.wait():
        largest = re.search(r"size too high \(\d+\)\. .* <= (\d+)", error)
        smallest = re.search(r"smaller than required_chars\. \d+ vs (\d+)", error)
        if largest:
            raise UserError(
                f"--vocab_size={size} is too large for --input_file. Use at most {largest[1]}, or "
                "add text."
            )
        if smallest:
            raise UserError(
                f"--vocab_size={size} is too small for the characters in --input_file. Use at "
                f"least {smallest[1]}, or a smaller --character_coverage."
            )
        raise UserError(
            f"SentencePiece cannot train --vocab_size={size} on --input_file with "
            f"--character_coverage={coverage} (exit code "
            f"{process.returncode}; -9 means that memory is short: use a smaller "
            f"--input_sentence_size): {error}"
        )
    return files.read_bytes(os.path.join(folder, _MODEL))


def train_vocabulary(flags: VocabularyFlags) -> TrainedVocabulary:
    """Trains a SentencePiece model on text files and writes <prefix>.model and <prefix>.vocab.

    Writes both files atomically.

    Raises:
      UserError: there is no input, or no UTF-8 text in it; vocab_size does not fit the text; or the
        output files exist.
    """
    model_file, vocab_file = (f"{flags.model_prefix}.{end}" for end in ("model", "vocab"))
    for path in (model_file, vocab_file):
        if not flags.overwrite and files.exists(path):
            raise UserError(f"'{path}' exists. Choose another --model_prefix, or add --overwrite.")
    keep_accents, text_field = flags.keep_accents, flags.text_field
    prepare = functools.partial(
        tokenization.preprocess_text, lower=flags.do_lower_case, keep_accents=keep_accents
    )
    paths = documents.find_text_files(flags.input_file)
    total = _count_sentences(paths, text_field)
    used = min(total, flags.input_sentence_size)
    log.info("Training %d tokens on %d of %d sentences.", flags.vocab_size, used, total)
    start = time.time()
    with tempfile.TemporaryDirectory(prefix="train_vocab-") as folder:
        drawn = _drawn(_lines(paths, text_field), total=total, count=used, seed=flags.seed)
        sample = _prepare(drawn, os.path.join(folder, _SENTENCES), count=used, prepare=prepare)
        if not keep_accents:
            _warn_of_accents(sample)
        model = _train_on(folder, flags)
    model = tokenization.with_keep_accents(model, keep_accents)
    processor = spm.SentencePieceProcessor()
    processor.LoadFromSerializedProto(model)
    size = processor.GetPieceSize()
    # Tokens and scores, in the format of SentencePiece's own tools.
    rows = (
        f"{processor.IdToPiece(index)}\t{processor.GetScore(index):g}\n" for index in range(size)
    )
    files.atomic_write_text(vocab_file, "".join(rows))
    files.atomic_write_bytes(model_file, model)  # last, because other programs may wait for it
    ids = [index for line in sample for index in processor.EncodeAsIds(prepare(line))]
    unknown = ids.count(processor.unk_id()) / max(1, len(ids))
    log.info(
        f"Wrote {model_file} and .vocab: {size} tokens after "
        f"{progress.format_seconds(time.time() - start)}. In a sample of the text, {unknown:.3%} "
        "of the tokens are unknown."
    )
    return TrainedVocabulary(model_file, vocab_file, total, used, unknown)
