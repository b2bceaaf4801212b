# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Proposes words for each [MASK] in texts.

  python -m albert.fill_mask --albert_dir=albert_base --text='The [MASK] of France is Paris.'
  python -m albert.fill_mask --albert_dir=albert_base --input_file=gaps.txt --output_file=words

Input is a line for each text: the text, or a JSON object with text_a. Output is a JSON object for
each text: the text, and for each [MASK] the most probable tokens of the vocabulary with their
probabilities. Several in a text are filled independently. The model needs its head for masked
words, as pretraining and the released archives have it.
"""

import json
import logging
from typing import Any, Sequence

from absl import flags

from albert import embed, predict
from albert.data import text_lines
from albert.pretrained import inference
from albert.util import flags as flags_lib

_LOGGER = logging.getLogger("albert")


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags."""
    embed.define_encoder_flags(flag_values)
    predict.define_text_flags(flag_values, output="answers")
    flags_lib.string(flag_values, "text", None, help="One text, in place of --input_file.")
    flags_lib.integer(
        flag_values, "count", 5, lower_bound=1, help="Words to propose for each [MASK]."
    )


def fill_mask(settings: Any) -> int:
    """Answers all texts; returns how many.

    Args:
      settings: flags_lib.Settings with the flags of `define_flags`.

    Raises:
      ValueError: flags, model or input that cannot be used.
    """
    if settings.text is not None and settings.input_file != text_lines.STANDARD:
        raise ValueError("Give either --text or --input_file, not both.")
    model = inference.MaskFiller(
        inference.find_source(settings),
        count=settings.count,
        precision_name=settings.precision,
        batch_size=settings.predict_batch_size,
    )
    with model, text_lines.open_output(settings.output_file) as output:

        def write(texts: predict.Texts, answers: Sequence[Any]) -> None:
            for (text, *_), proposals in zip(texts, answers):
                output.write(_line(text, proposals) + "\n")
            output.flush()

        return predict.answer_texts(
            settings,
            lambda texts: model.fill([_single(text) for text in texts]),
            write,
            given=None if settings.text is None else (settings.text,),
        )


def _single(text: Sequence[str]) -> str:
    """The one text of a line.

    Raises:
      ValueError: there are two.
    """
    if len(text) != 1:
        raise ValueError(
            f"{text[0][:60]!r} comes with a second text. One with [MASK] is filled alone: name its "
            "column by --columns."
        )
    return text[0]


def _line(text: str, proposals: Sequence[Sequence[inference.Proposal]]) -> str:
    """The answer for a text, as JSON."""
    words = [
        [{"word": item.word, "probability": round(item.probability, 6)} for item in of_one]
        for of_one in proposals
    ]
    return json.dumps({"text": text, "gaps": words}, ensure_ascii=False)


def main(settings: Any):
    """Runs the script."""
    count = fill_mask(settings)
    if settings.output_file != text_lines.STANDARD:
        _LOGGER.info("Wrote %d answers to %s.", count, settings.output_file)


def cli():
    """Runs the script with the process's own arguments."""
    flags_lib.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
