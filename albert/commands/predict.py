# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Predicts labels of texts or pairs with a fine-tuned classifier.

  python -m albert predict --model_dir=output/mrpc --text_a='He left.' --text_b='He went away.'
  python -m albert predict --model_dir=output/mrpc --input_file=pairs.tsv --output_file=answers
  some_program | python -m albert predict --model_dir=output/mrpc | another_program

--model_dir is the --output_dir of run_classifier. The input has one text per line, a pair of texts
separated by a TAB, or a JSON object with text_a (and text_b). To use other columns or fields, give
--columns. You can leave out --columns if the first line has the column names of the training file.
If the file name ends in .csv, the input is CSV; in .json or .jsonl, each line is a JSON object.

The output has one line per input line, in the same order. jsonl writes the label and probabilities
(for regression: the score) as a JSON object. tsv and csv write them as columns below a header. A
blank line between texts is an error. If the input is a pipe, the command predicts each line as soon
as it arrives.
"""

import csv
import dataclasses
import io
import json
import logging
from typing import Any, List, Optional, Sequence

from albert.configs.shared_flags import data_flag, model_flag, output_flag
from albert.models.flags import TextFlags
from albert.tasks.classification.flags import ExitFlags
from albert.util import cli, files

_LOGGER = logging.getLogger("albert")
OUTPUT_FORMATS = ("jsonl", "tsv", "csv")


@dataclasses.dataclass(frozen=True)
class Flags(TextFlags, ExitFlags):
    """The script's flags."""

    model_dir: str = model_flag(None, "Folder of the fine-tuned model.", path=True, required=True)
    checkpoint: Optional[str] = model_flag(
        None, "Weights to use in place of model.ckpt-best.", path=True
    )
    text_a: Optional[str] = data_flag(
        None, "One text; replaces --input_file.", replaces=("input_file", "columns")
    )
    text_b: Optional[str] = data_flag(None, "The second text of a pair.", needs="text_a")
    output_format: Optional[str] = output_flag(
        None,
        "Format of the output; default: the ending of --output_file, or jsonl.",
        choices=OUTPUT_FORMATS,
    )


def format_prediction(prediction: Any, output_format: str) -> str:
    """Returns a line for a task.Prediction; `output_format` is one of OUTPUT_FORMATS."""
    label, numbers = prediction.label, prediction.probabilities or {"score": prediction.score}
    if output_format != "jsonl":
        cells = [f"{value:.6f}" for value in numbers.values()]
        return _row(cells if label is None else [label, *cells], output_format)
    rounded = {name: round(value, 6) for name, value in numbers.items()}
    content = rounded if label is None else {"label": label, "probabilities": rounded}
    return json.dumps(content, ensure_ascii=False)


def _row(cells: Sequence[str], output_format: str) -> str:
    if output_format == "tsv":
        return "\t".join(cells)
    row = io.StringIO()
    csv.writer(row, lineterminator="").writerow(cells)
    return row.getvalue()


def main(flags: Flags) -> None:
    """Answers all texts. Raises UserError."""
    from albert.models import text_files
    from albert.tasks.classification import task

    pair = tuple(text for text in (flags.text_a, flags.text_b) if text is not None)
    ending = files.ending(flags.output_file)[1:]
    output_format = flags.output_format or (ending if ending in OUTPUT_FORMATS else "jsonl")
    layers: List[int] = []
    with task.Predictor(
        flags.model_dir,
        flags.checkpoint,
        precision_name=flags.precision,
        batch_size=flags.predict_batch_size,
        exit_patience=flags.exit_patience,
        exit_threshold=flags.exit_threshold,
    ) as model:

        def answer(texts: text_files.Texts) -> List[str]:
            predictions = model.predict(texts)
            layers.extend(item.layers for item in predictions if item.layers is not None)
            return [format_prediction(prediction, output_format) for prediction in predictions]

        heading = ""
        text_files.announce(model, flags)
        if output_format != "jsonl":
            labels = model.task.labels
            heading = _row(["label", *labels] if labels else ["score"], output_format) + "\n"
        groups = iter([[pair]]) if pair else text_files.read_texts(flags, model.task.columns)
        text_files.answer_texts(flags.output_file, groups, answer, heading=heading)
    if layers:
        _LOGGER.info("%s", task.describe_layers(layers))


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
