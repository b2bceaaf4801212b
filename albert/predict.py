# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Answers with a fine-tuned classifier: texts or pairs of texts in, labels and probabilities out.

  python -m albert.predict --model_dir=output/mrpc --text_a='He left.' --text_b='He went away.'
  python -m albert.predict --model_dir=output/mrpc --input_file=pairs.tsv --output_file=answers
  some_program | python -m albert.predict --model_dir=output/mrpc | another_program

--model_dir is the --output_dir of run_classifier. Input is a line for each text: JSON objects with
text_a (and text_b), or the text (TAB the second text). --columns names other fields or columns.
Output is a line for each line of input, in order. Blank lines before the first text and after the
last one are left out; one between texts is an error, for it cannot be answered. From a pipe, each
line is answered as soon as it has come; what comes faster than it can be answered is answered
together.
"""

import contextlib
import json
import logging
import queue
import re
import sys
import threading
from typing import Any, Callable, Iterator, List, NamedTuple, Optional, Sequence, TextIO, Tuple

import tensorflow.compat.v1 as tf
from absl import flags

from albert import files, flags_lib, predictor

_LOGGER = logging.getLogger("albert")

STANDARD = "-"
OUTPUT_FORMATS = ("jsonl", "tsv")
_MOST_LINES = 4096  # in memory, and answered together
_LATER = object()  # the next line may not have come yet
_JSON_FIELDS = ("text_a", "text_b")


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags."""
    flags_lib.path(
        flag_values,
        "model_dir",
        required=True,
        help="Folder of the fine-tuned model: the --output_dir of run_classifier.",
    )
    flags_lib.path(
        flag_values,
        "checkpoint",
        help="Weights to take in place of model.ckpt-best in --model_dir.",
    )
    flags_lib.path(
        flag_values, "input_file", STANDARD, help="Texts, one line each; - is standard input."
    )
    flags_lib.string(flag_values, "text_a", None, help="One text, in place of --input_file.")
    flags_lib.string(flag_values, "text_b", None, help="The second text of a pair.")
    flags_lib.string(
        flag_values,
        "columns",
        None,
        help="Where the input holds the text, or with a comma the two texts: numbers of columns "
        "(from 0), or names of JSON fields or of columns, which the first line then names.",
    )
    flags_lib.path(
        flag_values,
        "output_file",
        STANDARD,
        help="Where the answers go; a file is there when it is complete. - is standard output.",
    )
    flags_lib.choice(
        flag_values,
        "output_format",
        "jsonl",
        choices=OUTPUT_FORMATS,
        help="jsonl: an object with label and probabilities (regression: score) for each line; "
        "tsv: label and probabilities in columns, below a line that names them.",
    )
    flags_lib.integer(
        flag_values,
        "predict_batch_size",
        32,
        lower_bound=1,
        help="Texts to run together at most.",
    )
    flags_lib.choice(
        flag_values,
        "precision",
        "float32",
        choices=flags_lib.PRECISIONS,
        help="Type of the products and activations.",
    )


# ---------------------------------------------------------------------------------------------
# Input.


class Line(NamedTuple):
    """A line of input and its number, from 1."""

    number: int
    text: str


def read_lines(stream: Any, name: str) -> Iterator[List[Line]]:
    """Yields the lines of a stream of bytes in groups: at least one, and all that have come.

    Args:
      stream: iterable of lines in UTF-8; read in a thread of its own.
      name: for the error message.

    Raises:
      ValueError: a line is not UTF-8.
    """
    lines = queue.Queue(_MOST_LINES)  # of lines, then None or an error
    threading.Thread(target=_read, args=(stream, name, lines.put), daemon=True).start()
    while True:
        group, item = [], lines.get()
        while isinstance(item, Line):
            group.append(item)
            item = _present(lines) if len(group) < _MOST_LINES else _LATER
        if group:
            yield group
        if isinstance(item, Exception):
            raise item
        if item is None:
            return


def _present(lines: Any) -> Any:
    """What is in a queue already."""
    try:
        return lines.get_nowait()
    except queue.Empty:
        return _LATER


def _read(stream: Any, name: str, put: Callable[[Any], None]) -> None:
    """Puts each line, and None at the end; an error takes the place of the rest."""
    try:
        for number, content in enumerate(stream, 1):
            put(Line(number, _decoded(content, f"{name}:{number}", is_first=number == 1)))
        put(None)
    except (ValueError, OSError, tf.errors.OpError) as error:
        put(error)


def _decoded(content: bytes, where: str, *, is_first: bool) -> str:
    try:
        text = content.decode("utf-8-sig" if is_first else "utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{where}: the line is not UTF-8 ({error}). Convert the input.") from error
    return text.rstrip("\r\n")


def _is_number(name: str) -> bool:
    """Whether a column is given by its number; digits of other scripts are none."""
    return re.fullmatch("[0-9]+", name) is not None


class _Reader:
    """Finds the texts in a line; the first line decides on the format."""

    def __init__(self, name: str, columns: Optional[str]):
        self._name = name
        self._columns = [part.strip() for part in (columns or "").split(",") if part.strip()]
        if len(self._columns) > 2:
            raise ValueError(
                f"--columns={columns} names more than two; give one, or two for pairs."
            )
        self._find: Optional[Callable[[Line], Any]] = None
        self._blank: Optional[Line] = None  # the first of those that may be the input's end

    def texts(self, lines: Sequence[Line]) -> List[Tuple[str, ...]]:
        """Returns a text or a pair for each line; a header line has none, nor have blank ones."""
        found = []
        for line in lines:
            if not line.text.strip():
                self._blank = self._blank or (self._find and line)
                continue
            if self._blank:
                raise ValueError(
                    f"{self._where(self._blank)}: the line is blank, though others follow. Every "
                    "line is answered: give it a text, or remove it."
                )
            if self._find is None and self._is_header(line):
                continue
            found.append(self._find(line))
        return found

    def _is_header(self, line: Line) -> bool:
        """Looks at the first line that is not blank, and at no other."""
        if line.text.lstrip().startswith("{"):
            self._find = self._from_json
            return False
        named = [name for name in self._columns if not _is_number(name)]
        places = [int(name) for name in self._columns if _is_number(name)]
        if named:
            header = line.text.split("\t")
            missing = [name for name in self._columns if name not in header]
            if missing:
                raise ValueError(
                    f"{self._where(line)}: no column is named {', '.join(missing)}; there are "
                    f"{', '.join(header)}."
                )
            places = [header.index(name) for name in self._columns]
        self._find = lambda row: self._from_cells(row, places)
        return bool(named)

    def _where(self, line: Line) -> str:
        return f"{self._name}:{line.number}"

    def _from_json(self, line: Line) -> Tuple[str, ...]:
        try:
            values = json.loads(line.text)
        except ValueError as error:
            raise ValueError(f"{self._where(line)}: not a JSON object ({error}).") from error
        if not isinstance(values, dict):
            shown = line.text.strip()[:60]
            raise ValueError(f"{self._where(line)}: not a JSON object, as others are, but {shown}.")
        names = self._columns or [name for name in _JSON_FIELDS if name in values]
        texts = tuple(values[name] for name in names if name in values)
        if not texts or len(texts) < len(names) or not all(isinstance(t, str) for t in texts):
            raise ValueError(
                f"{self._where(line)}: the object needs texts named "
                f"{' and '.join(names or _JSON_FIELDS)}; it has {', '.join(values)}. --columns "
                "names other fields."
            )
        return texts

    def _from_cells(self, line: Line, places: Sequence[int]) -> Tuple[str, ...]:
        cells = line.text.split("\t")
        if not places and len(cells) <= 2:
            return tuple(cells)
        if not places or max(places) >= len(cells):
            raise ValueError(
                f"{self._where(line)}: the line has {len(cells)} columns. A text, or two with "
                "a TAB between them, are expected; --columns names the columns of others."
            )
        return tuple(cells[place] for place in places)


# ---------------------------------------------------------------------------------------------
# Output.


def format_prediction(prediction: predictor.Prediction, output_format: str) -> str:
    """Returns a line for a prediction; `output_format` is one of OUTPUT_FORMATS."""
    if output_format == "tsv":
        values = prediction.probabilities.values()
        cells = [prediction.label, *(f"{value:.6f}" for value in values)]
        return f"{prediction.score:.6f}" if prediction.score is not None else "\t".join(cells)
    if prediction.score is not None:
        return json.dumps({"score": round(prediction.score, 6)})
    rounded = {label: round(value, 6) for label, value in prediction.probabilities.items()}
    content = {"label": prediction.label, "probabilities": rounded}
    return json.dumps(content, ensure_ascii=False)


def _header(labels: Sequence[str]) -> str:
    return "\t".join(["label", *labels]) if labels else "score"


@contextlib.contextmanager
def _input(path: str) -> Iterator[Any]:
    if path == STANDARD:
        yield sys.stdin.buffer
        return
    if not tf.io.gfile.exists(path) or tf.io.gfile.isdir(path):
        raise ValueError(f"--input_file={path} was not found.")
    with tf.io.gfile.GFile(path, "rb") as stream:
        yield stream


@contextlib.contextmanager
def _output(path: str) -> Iterator[TextIO]:
    if path == STANDARD:
        yield sys.stdout
        return
    with files.atomic_path(path) as temporary, tf.io.gfile.GFile(temporary, "w") as stream:
        yield stream


# ---------------------------------------------------------------------------------------------
# The script.


def predict(settings: Any) -> int:
    """Answers as the settings say.

    Args:
      settings: flags_lib.Settings with the flags of `define_flags`.

    Returns:
      The number of answers.

    Raises:
      ValueError: flags, model or input that cannot be used.
    """
    if settings.text_b is not None and settings.text_a is None:
        raise ValueError("--text_b is the second text of a pair: give --text_a too.")
    if settings.text_a is not None and settings.input_file != STANDARD:
        raise ValueError("Give either --text_a (and --text_b) or --input_file, not both.")
    reader = _Reader(settings.input_file, settings.columns)
    with contextlib.ExitStack() as stack:
        model = stack.enter_context(
            predictor.Predictor(
                settings.model_dir,
                settings.checkpoint,
                precision_name=settings.precision,
                batch_size=settings.predict_batch_size,
            )
        )
        groups = _groups(settings, reader, stack)
        output = stack.enter_context(_output(settings.output_file))
        return _answer(model, groups, output, output_format=settings.output_format)


def _groups(
    settings: Any, reader: _Reader, stack: contextlib.ExitStack
) -> Iterator[List[Tuple[str, ...]]]:
    """Texts to answer together."""
    if settings.text_a is not None:
        pair = (settings.text_a, settings.text_b)
        return iter([[tuple(text for text in pair if text is not None)]])
    stream = stack.enter_context(_input(settings.input_file))
    if settings.input_file == STANDARD and sys.stdin.isatty():
        _LOGGER.info("Type a text, or two with a TAB between them, and Enter; Ctrl-D ends.")
    return (reader.texts(lines) for lines in read_lines(stream, settings.input_file))


def _answer(
    model: predictor.Predictor,
    groups: Iterator[List[Tuple[str, ...]]],
    output: TextIO,
    *,
    output_format: str,
) -> int:
    """Writes a line for each text; returns how many."""
    if output_format == "tsv":
        output.write(_header(model.classifier.labels) + "\n")
    count = 0
    for texts in groups:
        for prediction in model.predict(texts):
            output.write(format_prediction(prediction, output_format) + "\n")
        output.flush()
        count += len(texts)
    return count


def main(settings: Any):
    """Runs the script."""
    count = predict(settings)
    if settings.output_file != STANDARD:
        _LOGGER.info("Wrote %d answers to %s.", count, settings.output_file)


def cli():
    """Runs the script with the process's own arguments."""
    flags_lib.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
