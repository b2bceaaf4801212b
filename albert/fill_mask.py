# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Proposes words for each [MASK] in texts.

  python -m albert.fill_mask --albert_dir=base_v2 --text='The [MASK] of France is Paris.'
  python -m albert.fill_mask --albert_dir=base_v2 --input_file=gaps.txt --output_file=words

Input is a line for each text: the text, or a JSON object with text_a. Output is a JSON object for
each text: the text, and for each [MASK] the most probable tokens of the vocabulary with their
probabilities. Several in a text are filled independently. The model needs its head for masked
words, which pretraining and the released archives have.
"""

import dataclasses
import json
import logging
from typing import List, Optional, Sequence

from absl import flags

from albert.command_line import script
from albert.pretrained.settings import PretrainedSettings, TextSettings
from albert.util import flags as flags_lib
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")


@dataclasses.dataclass(frozen=True)
class FillMaskSettings(TextSettings, PretrainedSettings):
    """The script's flags."""

    text: Optional[str]
    count: int


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags and returns the class of its settings."""
    flags_lib.define_encoder_flags(flag_values)
    flags_lib.define_text_flags(flag_values, output="answers")
    flags_lib.string(flag_values, "text", None, help="One text, in place of --input_file.")
    flags_lib.integer(
        flag_values, "count", 5, lower_bound=1, help="Words to propose for each [MASK]."
    )
    return FillMaskSettings


if __name__ == "__main__":  # before TensorFlow is imported
    script.answer_early(define_flags, usage=__doc__)

from albert.data import text_lines
from albert.pretrained import inference
from albert.util import wording


def fill_mask(settings: FillMaskSettings) -> int:
    """Answers all texts; returns how many.

    Raises:
      ValueError: flags, model or input that cannot be used.
    """
    if settings.text is not None and settings.input_file != text_lines.STANDARD:
        raise UserError("Give either --text or --input_file, not both.")
    source = inference.find_source(settings)
    inference.announce(source.config, source.checkpoint, settings)
    with inference.MaskFiller(
        source,
        count=settings.count,
        precision_name=settings.precision,
        batch_size=settings.predict_batch_size,
    ) as model:

        def answer(texts: inference.Texts) -> List[str]:
            for first, *others in texts:
                if others:
                    raise UserError(
                        f"{first[:60]!r} comes with a second text. A text with [MASK] is filled "
                        "alone: name its column by --columns."
                    )
            singles = [text for (text,) in texts]
            return [_line(*item) for item in zip(singles, model.fill(singles))]

        given = () if settings.text is None else (settings.text,)
        return inference.answer_texts(settings, answer, given=given)


def _line(text: str, proposals: Sequence[Sequence[inference.Proposal]]) -> str:
    words = [
        [{"word": item.word, "probability": round(item.probability, 6)} for item in of_one]
        for of_one in proposals
    ]
    return json.dumps({"text": text, "gaps": words}, ensure_ascii=False)


def main(settings: FillMaskSettings):
    """Runs the script."""
    count = fill_mask(settings)
    if settings.output_file != text_lines.STANDARD:
        _LOGGER.info("Wrote %s to %s.", wording.counted(count, "answer"), settings.output_file)


def cli():
    """Runs the script with the process's own arguments."""
    script.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
