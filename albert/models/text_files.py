# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads texts from files and pipes, and writes the answers."""

from typing import Any, Callable, Iterable, Iterator, List, Sequence, Tuple

from albert.data import text_lines
from albert.data.text_lines import TextRow
from albert.formats import exported, model_folder
from albert.models.flags import TextFlags
from albert.models.inference import InferenceModel
from albert.runtimes import devices
from albert.util import log, progress, wording

Texts = List[Tuple[str, ...]]


def read_rows(
    flags: TextFlags, training_columns: Sequence[str] = (), keep_columns: Sequence[str] = ()
) -> Iterator[List[TextRow]]:
    """Yields the rows of --input_file in groups that arrived together.

    For the other arguments, see `text_lines.TextReader`.
    """
    path = flags.input_file
    reader = text_lines.TextReader(path, flags.columns, training_columns, keep_columns=keep_columns)
    has_bar = path != text_lines.STANDARD
    bar = progress.Progress("Answering", None, unit="texts", has_bar=has_bar)
    with text_lines.open_input(path) as stream, bar:
        for lines in text_lines.read_lines(stream, path):
            rows = reader.rows(lines)
            yield rows
            bar.update(len(rows), "")
    if reader.empty:
        count, names = len(reader.empty), wording.listed(reader.empty)
        log.warning("%s: %s.", wording.counted(count, "empty text"), names)


def read_texts(flags: TextFlags) -> Iterator[Texts]:
    """Yields the texts of `read_rows`."""
    for rows in read_rows(flags):
        yield [row.texts for row in rows]


def announce(model: InferenceModel, flags: TextFlags) -> None:
    """Logs the model, its precision and its device."""
    is_program = exported.is_program(model.checkpoint)
    runs = f"as {model.checkpoint}" if is_program else f"in {flags.precision}"
    where = devices.training_line(0 if is_program else 1, "Running")
    log.info("%s %s. %s", model_folder.model_summary(model.task.config), runs, where)


def answer_texts(
    path: str,
    groups: Iterable[List[Any]],
    answer: Callable[[List[Any]], Iterable[str]],
    *,
    heading: str = "",
) -> None:
    """Writes a heading and the line of `answer` for each text or row to a file, group by group.

    Raises:
      UserError: a text cannot be read or answered.
    """
    with text_lines.open_output(path) as output:
        output.write(heading)
        for texts in groups:
            output.write("".join(f"{line}\n" for line in answer(texts)))
            output.flush()
    if path != text_lines.STANDARD:
        log.info("Wrote %s.", path)
