# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Answers with a fine-tuned classifier: texts or pairs of texts in, labels and probabilities out.

  python -m albert.predict --model_dir=output/mrpc --text_a='He left.' --text_b='He went away.'
  python -m albert.predict --model_dir=output/mrpc --input_file=pairs.tsv --output_file=answers
  some_program | python -m albert.predict --model_dir=output/mrpc | another_program

--model_dir is the --output_dir of run_classifier. Input is a line for each text: JSON objects with
text_a (and text_b), or the text (TAB the second text). --columns names other fields or columns. A
file that ends in .csv is read as CSV.
A first line with the names of the training file's columns is a header, which needs no --columns.
Output is a line for each line of input, in order: jsonl has an object with label and probabilities
(regression: score); tsv and csv have these as columns, below a line that names them. Blank lines
before the first text and after the last one are left out; one between texts is an error, because
it cannot be answered. From a pipe, each line is answered as soon as it arrives; lines that arrive
faster are answered together.
"""

import csv
import dataclasses
import io
import json
import logging
import os
from typing import List, Optional, Sequence

from absl import flags

from albert.classification.settings import check_exit_flags, define_exit_flags
from albert.command_line import script
from albert.pretrained.settings import TextSettings
from albert.util import flags as flags_lib
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

OUTPUT_FORMATS = ("jsonl", "tsv", "csv")


@dataclasses.dataclass(frozen=True)
class PredictSettings(TextSettings):
    """The script's flags."""

    model_dir: str
    checkpoint: Optional[str]
    text_a: Optional[str]
    text_b: Optional[str]
    output_format: Optional[str]
    exit_patience: Optional[int]
    exit_threshold: float


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags and returns the class of its settings."""
    flags_lib.path(
        flag_values,
        "model_dir",
        required=True,
        help="Folder of the fine-tuned model: the --output_dir of run_classifier or export_model.",
    )
    flags_lib.path(
        flag_values,
        "checkpoint",
        help="Weights to take in place of model.ckpt-best in --model_dir.",
    )
    flags_lib.string(flag_values, "text_a", None, help="One text, in place of --input_file.")
    flags_lib.string(flag_values, "text_b", None, help="The second text of a pair.")
    flags_lib.choice(
        flag_values,
        "output_format",
        None,
        choices=OUTPUT_FORMATS,
        help="Format of the answers; by default the ending of --output_file, else jsonl.",
    )
    define_exit_flags(flag_values)
    flags_lib.define_text_flags(flag_values, output="answers")
    return PredictSettings


if __name__ == "__main__":  # before TensorFlow is imported
    script.answer_early(define_flags, usage=__doc__)

from albert import predictor
from albert.classification import model_folder
from albert.data import text_lines
from albert.pretrained import inference
from albert.util import wording


def format_prediction(prediction: predictor.Prediction, output_format: str) -> str:
    """Returns a line for a prediction; `output_format` is one of OUTPUT_FORMATS."""
    is_table = output_format != "jsonl"
    if prediction.score is not None:
        score = prediction.score
        return f"{score:.6f}" if is_table else json.dumps({"score": round(score, 6)})
    if is_table:
        values = prediction.probabilities.values()
        return _row([str(prediction.label), *(f"{value:.6f}" for value in values)], output_format)
    rounded = {label: round(value, 6) for label, value in prediction.probabilities.items()}
    content = {"label": prediction.label, "probabilities": rounded}
    return json.dumps(content, ensure_ascii=False)


def _row(cells: Sequence[str], output_format: str) -> str:
    if output_format == "tsv":
        return "\t".join(cells)
    row = io.StringIO()
    csv.writer(row, lineterminator="").writerow(cells)
    return row.getvalue()


def predict(settings: PredictSettings) -> int:
    """Answers all texts; returns how many.

    Raises:
      ValueError: flags, model or input that cannot be used.
    """
    given = tuple(text for text in (settings.text_a, settings.text_b) if text is not None)
    if settings.text_b is not None and settings.text_a is None:
        raise UserError("--text_b is the second text of a pair: give --text_a too.")
    if given and settings.input_file != text_lines.STANDARD:
        raise UserError("Give either --text_a (and --text_b) or --input_file, not both.")
    check_exit_flags(settings)
    model = predictor.Predictor(
        settings.model_dir,
        settings.checkpoint,
        precision_name=settings.precision,
        batch_size=settings.predict_batch_size,
        exit_patience=settings.exit_patience,
        exit_threshold=settings.exit_threshold,
    )
    inference.announce(model.classifier.config, model.classifier.checkpoint, settings)
    heading, labels = "", model.classifier.labels
    ending = os.path.splitext(settings.output_file)[1][1:]
    output_format = settings.output_format or (ending if ending in OUTPUT_FORMATS else "jsonl")
    if output_format != "jsonl":
        heading = _row(["label", *labels], output_format) if labels else "score"
    layers: List[int] = []

    def answer(texts: inference.Texts) -> List[str]:
        found = model.predict(texts)
        layers.extend(one.layers for one in found if one.layers is not None)
        return [format_prediction(prediction, output_format) for prediction in found]

    with model:
        count = inference.answer_texts(
            settings, answer, heading=heading, given=given, known=model.classifier.columns or ()
        )
    if layers:
        _LOGGER.info("%s", model_folder.describe_layers(layers))
    return count


def main(settings: PredictSettings):
    """Runs the script."""
    count = predict(settings)
    if settings.output_file != text_lines.STANDARD:
        _LOGGER.info("Wrote %s to %s.", wording.counted(count, "answer"), settings.output_file)


def cli():
    """Runs the script with the process's own arguments."""
    script.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
