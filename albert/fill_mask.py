# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Proposes words for the gaps, written [MASK], in texts.

  python -m albert.fill_mask --albert_dir=albert_base --text='The [MASK] of France is Paris.'
  python -m albert.fill_mask --albert_dir=albert_base --input_file=gaps.txt --output_file=words

Input is a line for each text: the text, or a JSON object with text_a. Output is a JSON object for
each text: the text, and for each of its gaps the most probable pieces of the vocabulary with their
probabilities. Several gaps of a text are filled independently. The model needs its head for masked
words, as pretraining and the released archives have it.
"""

import json
import logging
from typing import Any, List, Sequence

from absl import flags

from albert.pretrained import text_encoder, text_encoder_flags
from albert.util import flags as flags_lib
from albert.util import text_lines

_LOGGER = logging.getLogger("albert")


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags."""
    text_encoder_flags.define_flags(flag_values)
    flags_lib.string(flag_values, "text", None, help="One text, in place of --input_file.")
    flags_lib.path(
        flag_values,
        "output_file",
        text_lines.STANDARD,
        help="Where the answers go; a file is there when it is complete. - is standard output.",
    )
    flags_lib.integer(flag_values, "count", 5, lower_bound=1, help="Words to propose for each gap.")


def fill_mask(settings: Any) -> int:
    """Answers all texts; returns how many.

    Args:
      settings: flags_lib.Settings with the flags of `define_flags`.

    Raises:
      ValueError: flags, model or input that cannot be used.
    """
    if settings.text is not None and settings.input_file != text_lines.STANDARD:
        raise ValueError("Give either --text or --input_file, not both.")
    model = text_encoder.MaskFiller(
        text_encoder_flags.find_source(settings),
        count=settings.count,
        precision_name=settings.precision,
        batch_size=settings.predict_batch_size,
    )
    with model, text_lines.open_output(settings.output_file) as output:

        def write(texts: text_encoder_flags.Texts, answers: Sequence[Any]) -> None:
            for (text, *_), gaps in zip(texts, answers):
                output.write(_line(text, gaps) + "\n")
            output.flush()

        def answer(texts: text_encoder_flags.Texts) -> List[Any]:
            return model.fill([_single(text) for text in texts])

        if settings.text is not None:
            write([(settings.text,)], answer([(settings.text,)]))
            return 1
        with text_encoder_flags.open_texts(settings) as groups:
            return text_encoder_flags.answer_all(groups, answer, write, name="fill_mask")


def _single(text: Sequence[str]) -> str:
    """The one text of a line.

    Raises:
      ValueError: there are two.
    """
    if len(text) != 1:
        raise ValueError(
            f"{text[0][:60]!r} comes with a second text. One with gaps is filled alone: name its "
            "column by --columns."
        )
    return text[0]


def _line(text: str, gaps: Sequence[Sequence[text_encoder.Proposal]]) -> str:
    """The answer for a text, as JSON."""
    words = [
        [{"word": item.word, "probability": round(item.probability, 6)} for item in gap]
        for gap in gaps
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
