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
import sys
from typing import Any, Callable, List, Optional, Sequence, Tuple

from absl import flags

from albert import predictor
from albert.data import text_lines
from albert.util import flags as flags_lib
from albert.util import progress

_LOGGER = logging.getLogger("albert")

OUTPUT_FORMATS = ("jsonl", "tsv")

Texts = List[Tuple[str, ...]]


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
    flags_lib.string(flag_values, "text_a", None, help="One text, in place of --input_file.")
    flags_lib.string(flag_values, "text_b", None, help="The second text of a pair.")
    flags_lib.choice(
        flag_values,
        "output_format",
        "jsonl",
        choices=OUTPUT_FORMATS,
        help="jsonl: an object with label and probabilities (regression: score) for each line; "
        "tsv: label and probabilities in columns, below a line that names them.",
    )
    define_text_flags(flag_values, output="answers")


# ---------------------------------------------------------------------------------------------
# Texts in, answers out: what embed and fill_mask do too.


def define_text_flags(flag_values: flags.FlagValues, *, output: str) -> None:
    """Defines the flags of a script that answers texts; `output` says what it writes."""
    flags_lib.path(
        flag_values,
        "input_file",
        text_lines.STANDARD,
        help="Texts, one line each; - is standard input.",
    )
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
        text_lines.STANDARD,
        help=f"File for the {output}, which is there when it is complete. - is standard output.",
    )
    flags_lib.integer(
        flag_values, "predict_batch_size", 32, lower_bound=1, help="Texts to run together at most."
    )
    flags_lib.choice(
        flag_values,
        "precision",
        "float32",
        choices=flags_lib.PRECISIONS,
        help="Type of the products and activations; a hub module has float32 alone.",
    )


def answer_texts(
    settings: Any,
    answer: Callable[[Texts], Any],
    write: Callable[[Texts, Any], None],
    *,
    given: Optional[Tuple[str, ...]] = None,
) -> int:
    """Answers the texts of --input_file in groups that have come together.

    Args:
      settings: has the flags of `define_text_flags`.
      answer: gives the answers of a group.
      write: takes a group and its answers.
      given: the one text, or pair, to answer in place of those of --input_file.

    Returns:
      The number of texts.

    Raises:
      ValueError: texts that cannot be read or answered.
    """
    path, count = settings.input_file, 0
    reader = text_lines.TextReader(path, settings.columns)
    if given is not None:
        write([given], answer([given]))
        return 1
    with text_lines.open_input(path) as stream, progress.Progress(
        "Answering", None, unit="texts", has_bar=path != text_lines.STANDARD
    ) as bar:
        if path == text_lines.STANDARD and sys.stdin.isatty():
            _LOGGER.info("Type a text, or two with a TAB between them, and Enter; Ctrl-D ends.")
        for lines in text_lines.read_lines(stream, path):
            texts = reader.texts(lines)
            write(texts, answer(texts))
            count += len(texts)
            bar.update(len(texts), "")
    return count


# ---------------------------------------------------------------------------------------------
# The script.


def format_prediction(prediction: predictor.Prediction, output_format: str) -> str:
    """Returns a line for a prediction; `output_format` is one of OUTPUT_FORMATS."""
    if output_format == "tsv":
        values = prediction.probabilities.values()
        cells = [str(prediction.label), *(f"{value:.6f}" for value in values)]
        return f"{prediction.score:.6f}" if prediction.score is not None else "\t".join(cells)
    if prediction.score is not None:
        return json.dumps({"score": round(prediction.score, 6)})
    rounded = {label: round(value, 6) for label, value in prediction.probabilities.items()}
    content = {"label": prediction.label, "probabilities": rounded}
    return json.dumps(content, ensure_ascii=False)


def predict(settings: Any) -> int:
    """Answers as the settings say.

    Args:
      settings: flags_lib.Settings with the flags of `define_flags`.

    Returns:
      The number of answers.

    Raises:
      ValueError: flags, model or input that cannot be used.
    """
    given = tuple(text for text in (settings.text_a, settings.text_b) if text is not None)
    if settings.text_b is not None and settings.text_a is None:
        raise ValueError("--text_b is the second text of a pair: give --text_a too.")
    if given and settings.input_file != text_lines.STANDARD:
        raise ValueError("Give either --text_a (and --text_b) or --input_file, not both.")
    with contextlib.ExitStack() as stack:
        model = predictor.Predictor(
            settings.model_dir,
            settings.checkpoint,
            precision_name=settings.precision,
            batch_size=settings.predict_batch_size,
        )
        stack.enter_context(model)
        output = stack.enter_context(text_lines.open_output(settings.output_file))
        if settings.output_format == "tsv":
            labels = model.classifier.labels
            output.write("\t".join(["label", *labels] if labels else ["score"]) + "\n")

        def write(_: Texts, predictions: Sequence[predictor.Prediction]) -> None:
            for prediction in predictions:
                output.write(format_prediction(prediction, settings.output_format) + "\n")
            output.flush()

        return answer_texts(settings, model.predict, write, given=given or None)


def main(settings: Any):
    """Runs the script."""
    count = predict(settings)
    if settings.output_file != text_lines.STANDARD:
        _LOGGER.info("Wrote %d answers to %s.", count, settings.output_file)


def cli():
    """Runs the script with the process's own arguments."""
    flags_lib.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
