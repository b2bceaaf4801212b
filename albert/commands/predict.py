# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Predicts labels of texts or pairs with a fine-tuned classifier.

  python -m albert predict --model_dir=output/mrpc --text_a='He left.' --text_b='He went away.'
  python -m albert predict --model_dir=output/mrpc --input_file=pairs.tsv --output_file=answers
  some_program | python -m albert predict --model_dir=output/mrpc | another_program

--model_dir is the --output_dir of run_classifier. The input has one text per line, a pair of texts
separated by a TAB, or a JSON object with text_a (and text_b). To use other columns or fields, give
--columns. You can leave out --columns if the first line has the column names of the training file.
If the file name ends in .csv, the input is CSV; in .json or .jsonl, each line is a JSON object; in
.parquet, it is a Parquet file.

The output has one line per input line, in the same order. jsonl writes the label and probabilities
(for regression: the score) as a JSON object. tsv and csv write them as columns below a header.
--keep_columns=id,text copies columns of the input before them. A blank line between texts is an
error. If the input is a pipe, the command predicts each line as soon as it arrives.
"""

import csv
import dataclasses
import io
import json
from typing import Any, Collection, Dict, List, Mapping, Optional, Sequence

from albert.configs.shared_flags import data_flag, model_flag, output_flag
from albert.models.flags import TextFlags
from albert.tasks.classification.flags import DecodingFlags
from albert.util import UserError, cli, files, log

_DIALECTS: Dict[str, Dict[str, Any]] = {
    "csv": {},
    "tsv": {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None},
}
OUTPUT_FORMATS = ("jsonl", *_DIALECTS)


@dataclasses.dataclass(frozen=True)
class Flags(TextFlags, DecodingFlags):
    """The script's flags."""

    model_dir: str = model_flag(None, "Folder of the fine-tuned model.", path=True, required=True)
    checkpoint: Optional[str] = model_flag(
        None, "Weights to use in place of model.ckpt-best.", path=True
    )
    text_a: Optional[str] = data_flag(
        None,
        "One text; replaces --input_file.",
        replaces=("input_file", "columns", "keep_columns"),
    )
    text_b: Optional[str] = data_flag(None, "The second text of a pair.", needs="text_a")
    keep_columns: Optional[str] = output_flag(
        None, "Columns or JSON fields of the input to copy into the output, comma-separated."
    )
    output_format: Optional[str] = output_flag(
        None,
        "Format of the output; default: the ending of --output_file, or jsonl.",
        choices=OUTPUT_FORMATS,
    )


def format_prediction(
    prediction: Any,
    output_format: str,
    kept: Mapping[str, Any] = {},
    *,
    separator: str = "|",
    where: str = "",
) -> str:
    """Returns a line for a task.Prediction.

    Args:
      prediction: what to write.
      output_format: one of OUTPUT_FORMATS.
      kept: the columns of the input to write before it, by name.
      separator: between several labels in a cell.
      where: the file and line of the input, for an error.
    """
    label, numbers = prediction.label, prediction.probabilities or {"score": prediction.score}
    if output_format != "jsonl":
        cells = list(kept.values())
        if label is not None:
            cells.append(label if isinstance(label, str) else separator.join(label))
        cells += [f"{value:.6f}" for value in numbers.values()]
        return _row(cells, output_format, where)
    rounded = {name: round(value, 6) for name, value in numbers.items()}
    content = rounded if label is None else {"label": label, "probabilities": rounded}
    renamed = {_output_name(name, kept): value for name, value in content.items()}
    return json.dumps({**kept, **renamed}, ensure_ascii=False, default=str)


def _output_name(name: str, kept: Collection[str]) -> str:
    """Returns a name that no kept column has, such as "predicted_label"."""
    while name in kept:
        name = f"predicted_{name}"
    return name


def _row(cells: Sequence[Any], output_format: str, where: str) -> str:
    row = io.StringIO()
    try:
        csv.writer(row, **_DIALECTS[output_format]).writerow(cells)
    except csv.Error as error:
        raise UserError(
            f"{where}: {cells!r:.200} has a tab or line break, which a TSV file cannot hold. Give "
            "--output_format=csv."
        ) from error
    return row.getvalue()[: -len("\r\n")]


def main(flags: Flags) -> None:
    """Answers all texts. Raises UserError."""
    from albert.data.text_lines import TextRow, split_columns
    from albert.models import text_files
    from albert.tasks.classification import task

    pair = tuple(text for text in (flags.text_a, flags.text_b) if text is not None)
    ending = files.ending(flags.output_file)[1:]
    output_format = flags.output_format or (ending if ending in OUTPUT_FORMATS else "jsonl")
    kept = list(dict.fromkeys(split_columns(flags.keep_columns)))
    layers: List[int] = []
    with task.Predictor(
        flags.model_dir,
        flags.checkpoint,
        precision_name=flags.precision,
        batch_size=flags.batch_size,
        exit_patience=flags.exit_patience,
        exit_threshold=flags.exit_threshold,
        decision_threshold=flags.decision_threshold,
    ) as model:

        def answer(rows: List[TextRow]) -> List[str]:
            predictions = model.predict([row.texts for row in rows])
            layers.extend(item.layers for item in predictions if item.layers is not None)
            return [
                format_prediction(
                    prediction, output_format, row.kept, separator=separator, where=row.where
                )
                for prediction, row in zip(predictions, rows)
            ]

        heading, separator = "", model.task.declared.label_separator
        text_files.announce(model, flags)
        if output_format != "jsonl":
            labels = model.task.labels
            names = ["label", *labels] if labels else ["score"]
            names = [*kept, *(_output_name(name, kept) for name in names)]
            heading = _row(names, output_format, "The heading") + "\n"
        groups = text_files.read_rows(flags, model.task.columns, kept)
        if pair:
            groups = iter([[TextRow(pair)]])
        text_files.answer_texts(flags.output_file, groups, answer, heading=heading)
    if layers:
        log.info("%s", task.describe_layers(layers))


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
