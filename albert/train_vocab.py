# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Trains a SentencePiece vocabulary by ALBERT's recipe.

    python -m albert.train_vocab --input_file=corpus/*.txt --model_prefix=my-30k --vocab_size=30000

writes my-30k.model (for --spm_model_file) and my-30k.vocab (the same tokens as text). The recipe is
the published one: unigram tokens, <pad> 0, <unk> 1, [CLS] 2, [SEP] 3, [MASK] 4, some signs always
tokens of their own, at most ten million sentences. The text is prepared exactly as the other
commands prepare it, so --do_lower_case must have the same value there. --keep_accents is recorded
in the model file: every command that uses it, albert.load and Hugging Face's models obey it.

Input is the text that create_pretraining_data takes: one sentence a line, empty lines ignored, in
plain text or JSON lines. It is read twice; a prepared copy of the drawn sentences lies in the
folder for temporary files ($TMPDIR) while it runs, and SentencePiece holds them in memory. The same
input, flags and version of sentencepiece give the same bytes.
"""

import collections
import contextlib
import dataclasses
import functools
import logging
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import time
import unicodedata
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Sequence, Tuple, Union

import numpy as np
import sentencepiece as spm
from tqdm import tqdm

from albert import tokenization
from albert.command_line import cli
from albert.pretraining import documents
from albert.pretraining.settings import TEXT_FIELD
from albert.util import config_files, files, progress, wording
from albert.util.errors import UserError
from albert.util.flags import Settings, flag


@dataclasses.dataclass(frozen=True)
class Flags(Settings):
    """The script's flags."""

    input_file: str = flag(
        None,
        "Text or JSON lines, one sentence per line: files, patterns, folders.",
        path=True,
        required=True,
    )
    model_prefix: str = flag(
        None, "Where to write: <model_prefix>.model and .vocab.", path=True, required=True
    )
    vocab_size: int = flag(30000, "Number of tokens, special ones included.", lower=1)
    do_lower_case: bool = flag(True, "Lower-case the text; give later commands the same value.")
    keep_accents: bool = flag(False, "Keep accents, which Google's models drop.")
    input_sentence_size: int = flag(
        10000000, "Maximum sentences to train on, drawn at random and held in memory.", lower=1
    )
    character_coverage: float = flag(
        0.99995, "Fraction of the characters that get tokens.", lower=0.98, upper=1
    )
    seed: int = flag(12345, "Random seed of the drawn sentences.", lower=0, upper=2**32 - 1)
    overwrite: bool = flag(False, "Replace existing files.")
    text_field: str = flag(TEXT_FIELD, "Field of JSON lines that holds the text.")


# Not __name__: that is "__main__" in `python -m albert.train_vocab`.
_LOGGER = logging.getLogger("albert.train_vocab")

# The number of threads changes how the sums of the EM steps are rounded, so it is part of the
# recipe and not taken from the machine.
_THREADS = 16
_RECIPE = {
    "model_type": "unigram",
    "pad_id": 0,
    "unk_id": 1,
    "bos_id": -1,
    "eos_id": -1,
    "control_symbols": ["[CLS]", "[SEP]", "[MASK]"],
    "user_defined_symbols": ["(", ")", '"', "-", ".", "\u2013", "\u00a3", "\u20ac"],
    "num_threads": _THREADS,
}
_LONGEST_PART = 1000  # characters; SentencePiece drops what is longer than 4192 bytes
_MOST_UNDECODABLE = 0.01  # of all lines
_SAMPLE_SENTENCES = 2000  # whose text is cut with the new model, to say how well it does
_MOST_COLLAPSING = 0.02  # of the sample's distinct words
# In characters. Longer words are text without spaces, such as Thai, and compared in pieces.
_LONGEST_WORD, _PIECE_OF_WORD = 20, 4
# Files in the folder of the trainer's process. SentencePiece is given an iterator and a writer,
# because the paths of files would become part of the model.
_SENTENCES, _SETTINGS, _MODEL, _LOG = "sentences.txt", "settings.json", "model", "log"
_TRAINER = f"""
import json, sys
sys.path[:] = sys.argv[1:]  # the search path of the parent
import sentencepiece
with open("{_SETTINGS}", encoding="utf-8") as stream:
    settings = json.load(stream)
with open("{_SENTENCES}", encoding="utf-8", newline="\\n") as lines:
    with open("{_MODEL}", "wb") as model:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(line.rstrip("\\n") for line in lines),
            model_writer=model,
            **settings,
        )
"""
_FAILED = re.compile(r"^RuntimeError: (.*)", re.MULTILINE | re.DOTALL)
_POLL_SECONDS = 0.2
_LOG_SECONDS = 60


class TrainedVocabulary(NamedTuple):
    """What `train` made."""

    model_file: str
    vocab_file: str
    vocab_size: int
    sentences: int  # lines with text in the input
    used_sentences: int  # of these, the drawn ones
    characters_per_piece: float  # in a sample of the text
    unknown_share: float  # of the sample's tokens


def _lines(paths: Sequence[str], text_field: str) -> Iterator[bytes]:
    """The lines with text that create_pretraining_data would read."""
    for document in documents.read_documents(paths, text_field=text_field):
        yield from document.text.split(b"\n")


def _count_sentences(paths: Sequence[str], text_field: str) -> int:
    """Counts the lines with text, and checks that they are UTF-8."""
    count = undecodable = 0
    for line in _lines(paths, text_field):
        count += 1
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            undecodable += 1
    if undecodable > _MOST_UNDECODABLE * count:
        raise UserError(
            f"{undecodable} of {count} lines of --input_file are not UTF-8 (at most "
            f"{_MOST_UNDECODABLE:.0%} may be). Convert the text to UTF-8."
        )
    if undecodable:
        _LOGGER.warning(
            "%d of %d lines are not UTF-8; the bytes at fault are left out.", undecodable, count
        )
    if not count:
        raise UserError(
            f"--input_file holds no text ({len(paths)} files, all empty). Give files with one "
            "sentence a line."
        )
    return count


def _drawn(lines: Iterable[bytes], *, total: int, wanted: int, seed: int) -> Iterator[bytes]:
    """Draws `wanted` of `total` lines, each set of them equally likely, without holding any.

    Selection sampling (Knuth, The Art of Computer Programming, 3.4.2, algorithm S): a line is taken
    with probability (still wanted) / (still to come).
    """
    random = np.random.RandomState(seed)
    for to_come, line in zip(range(total, 0, -1), lines):
        if wanted == to_come or random.random_sample() * to_come < wanted:
            wanted -= 1
            yield line


def _prepare(
    drawn: Iterable[bytes], path: str, *, count: int, prepare: Callable[[bytes], str]
) -> List[bytes]:
    """Writes the prepared sentences to a local file; returns a sample of the lines."""
    sample = []
    with files.naming_path(path), open(path, "w", encoding="utf-8", newline="\n") as stream:
        bar = tqdm(drawn, total=count, unit=" sentences", desc="reading", disable=None)
        for number, line in enumerate(bar):
            text = prepare(line)
            if number % max(1, count // _SAMPLE_SENTENCES) == 0:
                sample.append(line)
            if len(text) > _LONGEST_PART:
                text = "\n".join(textwrap.wrap(text, _LONGEST_PART, break_on_hyphens=False))
            stream.write(text + "\n")
    return sample


def _warn_of_equal_words(sample: Sequence[bytes], lower: bool):
    """Warns if many distinct words become the same when accents are dropped."""
    basic = tokenization.BasicTokenizer(do_lower_case=False)
    by_plain = collections.defaultdict(set)
    for line in sample:
        text = tokenization.preprocess_text(line, lower=lower, keep_accents=True)
        for word in basic.tokenize(unicodedata.normalize("NFKC", text)):
            size = _PIECE_OF_WORD if len(word) > _LONGEST_WORD else len(word)
            for start in range(0, len(word), size):
                part = word[start : start + size]
                by_plain[tokenization.preprocess_text(part)].add(part)
    total = sum(map(len, by_plain.values()))
    equal = [sorted(words) for words in by_plain.values() if len(words) > 1]
    share = sum(map(len, equal)) / max(1, total)
    if share > _MOST_COLLAPSING:
        _LOGGER.warning(
            "Without accents, %.1f%% of the distinct words in this text become the same as another "
            "word (such as %s). Use --keep_accents if accents matter in your language.",
            *(100 * share, ", ".join(max(equal, key=len)[:4])),
        )


def _read_bytes(folder: str, name: str) -> bytes:
    with open(os.path.join(folder, name), "rb") as stream:
        return stream.read()


def _train_on(folder: str, settings: Dict[str, Any]) -> bytes:
    """Runs the trainer in another process, which Ctrl-C can stop and a lack of memory can kill.

    It is not a fork: SentencePiece cannot train where TensorFlow 1.15 was loaded before it.
    """
    files.atomic_write_json(os.path.join(folder, _SETTINGS), {**_RECIPE, **settings})
    with open(os.path.join(folder, _LOG), "wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", _TRAINER, *map(os.path.abspath, sys.path)],
            stdout=log,
            stderr=log,
            cwd=folder,
        )
    try:
        _watch(process, folder)
    finally:
        process.kill()
        process.wait()
    if process.returncode == 0:
        return _read_bytes(folder, _MODEL)
    failed = _FAILED.search(_read_bytes(folder, _LOG).decode("utf-8", "replace"))
    if failed:
        raise UserError(_trainer_message(failed.group(1).strip(), settings["vocab_size"]))
    raise UserError(
        f"The trainer was killed (exit code {process.returncode}), mostly because memory ran out. "
        "Train on fewer sentences: a smaller --input_sentence_size."
    )


def _watch(process: subprocess.Popen, folder: str):
    """Shows the trainer's progress until it ends."""
    started = logged = time.time()
    with tqdm(desc="training", disable=None, bar_format="{desc}: {elapsed}{postfix}") as bar:
        while process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_SECONDS)
            sizes = re.findall(rb" size=(\d+) ", _read_bytes(folder, _LOG))
            left = sizes[-1].decode("ascii") if sizes else "all"
            bar.set_postfix_str(f"{left} candidates left")
            if time.time() - logged > _LOG_SECONDS:
                logged = time.time()
                _LOGGER.info("Training: %s candidates left, %.0f s.", left, logged - started)


def _trainer_message(text: str, vocab_size: int) -> str:
    """SentencePiece's error in terms of the flags."""
    too_large = re.search(r"too high .* <= (\d+)", text)
    if too_large:
        return (
            f"--vocab_size={vocab_size} is too large for this text: {too_large.group(1)} tokens is "
            f"the most it gives. Use --vocab_size={too_large.group(1)} or less, or more text."
        )
    too_small = re.search(r"smaller than required_chars\. \d+ vs (\d+)", text)
    if too_small:
        return (
            f"--vocab_size={vocab_size} is too small for this text: its characters and the special "
            f"tokens alone are {too_small.group(1)}. Use a larger --vocab_size, or a lower "
            "--character_coverage."
        )
    return f"SentencePiece could not train on --input_file: {text}"


def _write(model_file: str, vocab_file: str, model: bytes):
    """Writes both files; the model, which others wait for, comes last."""
    import tensorflow.compat.v1 as tf

    processor = spm.SentencePieceProcessor()
    processor.LoadFromSerializedProto(model)
    # Tokens and scores as SentencePiece's own tools list them.
    vocab = "".join(
        f"{processor.IdToPiece(index)}\t{processor.GetScore(index):g}\n"
        for index in range(processor.GetPieceSize())
    )
    with files.atomic_path(model_file) as temporary:
        with tf.io.gfile.GFile(temporary, "wb") as stream:
            stream.write(model)
        files.atomic_write_text(vocab_file, vocab)


def _quality(tokenizer: tokenization.FullTokenizer, texts: Sequence[str]) -> Tuple[float, float]:
    """Returns the characters per token of prepared texts, and the share of unknown tokens."""
    ids = [index for text in texts for index in tokenizer.sp_model.EncodeAsIds(text)]
    unknown = ids.count(tokenizer.sp_model.unk_id())
    return sum(map(len, texts)) / max(1, len(ids)), unknown / max(1, len(ids))


def train(
    input_file: Union[str, Sequence[str]],
    model_prefix: str,
    vocab_size: int = 30000,
    *,
    do_lower_case: bool = True,
    keep_accents: bool = False,
    input_sentence_size: int = 10000000,
    character_coverage: float = 0.99995,
    seed: int = 12345,
    overwrite: bool = False,
    text_field: str = TEXT_FIELD,
) -> TrainedVocabulary:
    """Trains a SentencePiece model on text files and writes <prefix>.model and <prefix>.vocab.

    The arguments are the flags of these names; input_file may be a list. Files appear whole.

    Raises:
      ValueError: no such input, no text in it or none in UTF-8, a vocab_size that the text
        cannot give, or output files that are there already.
    """
    model_file, vocab_file = f"{model_prefix}.model", f"{model_prefix}.vocab"
    import tensorflow.compat.v1 as tf

    for path in (model_file, vocab_file):
        if not overwrite and tf.io.gfile.exists(path):
            raise UserError(
                f"'{path}' exists. Models trained with it need it as it is: choose another "
                "--model_prefix, or replace it by --overwrite."
            )
    prepare = functools.partial(
        tokenization.preprocess_text, lower=do_lower_case, keep_accents=keep_accents
    )
    paths = documents.find_files(input_file, "input_file")
    total = _count_sentences(paths, text_field)
    used = min(total, input_sentence_size)
    _LOGGER.info(
        "Training %d tokens on %d of %s in %s.",
        *(vocab_size, used, wording.counted(total, "sentence")),
        wording.counted(len(paths), "file"),
    )
    start = time.time()
    with tempfile.TemporaryDirectory(prefix="train_vocab-") as folder:
        drawn = _drawn(_lines(paths, text_field), total=total, wanted=used, seed=seed)
        sample = _prepare(drawn, os.path.join(folder, _SENTENCES), count=used, prepare=prepare)
        if not keep_accents:
            _warn_of_equal_words(sample, do_lower_case)
        settings = {"vocab_size": vocab_size, "character_coverage": character_coverage}
        model = _train_on(folder, settings)
    _write(model_file, vocab_file, tokenization.with_keep_accents(model, keep_accents))
    # Loaded as any other command will load it.
    tokenizer = tokenization.FullTokenizer(None, do_lower_case, model_file)
    characters, unknown = _quality(tokenizer, list(map(prepare, sample)))
    size = len(tokenizer.vocab)
    _LOGGER.info(
        f"Wrote {model_file} and .vocab: {size} tokens after "
        f"{progress.format_seconds(time.time() - start)}. They hold {characters:.2f} characters "
        f"each on average, and {unknown:.3%} of the tokens of a text like this are unknown."
    )
    return TrainedVocabulary(model_file, vocab_file, size, total, used, characters, unknown)


def main(settings: Flags):
    """Trains by the flags."""
    trained = train(**settings.to_dict())
    config_files.record(config_files.beside(trained.model_file), settings.given_values())


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
