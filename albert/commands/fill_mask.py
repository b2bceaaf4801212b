# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Proposes words for each [MASK] in texts.

  python -m albert fill_mask --albert_dir=base_v2 --text='The [MASK] of France is Paris.'
  python -m albert fill_mask --albert_dir=base_v2 --input_file=gaps.txt --output_file=words

The input has one text per line, or a JSON object with text_a. The output has one JSON object per
text: the text, and for each [MASK] the most probable tokens with their probabilities. If a text has
several [MASK], the command fills each independently. The model must be pretrained and not
fine-tuned, because only pretrained models have the head that predicts masked words.
"""

import dataclasses
import json
from typing import Any, Iterable, List, Optional, Sequence

from albert.configs.shared_flags import EncoderFlags, data_flag, output_flag
from albert.models.flags import TextFlags
from albert.util import UserError, cli


@dataclasses.dataclass(frozen=True)
class Flags(EncoderFlags, TextFlags):
    """The script's flags."""

    text: Optional[str] = data_flag(
        None, "One text; replaces --input_file.", replaces=("input_file", "columns")
    )
    count: int = output_flag(5, "Words to propose for each [MASK].", lower=1)


def main(flags: Flags) -> None:
    """Answers all texts. Raises UserError."""
    from albert.models import pretrained, text_files
    from albert.models.inference import InferenceModel

    encoder = pretrained.find_model(flags)
    task = pretrained.MaskTask(encoder, count=flags.count, precision_name=flags.precision)
    with InferenceModel(task, encoder.checkpoint, batch_size=flags.batch_size) as model:
        text_files.announce(model, flags)

        def answer(texts: Sequence[Sequence[str]]) -> List[str]:
            for first, *others in texts:
                if others:
                    raise UserError(
                        f"{first[:60]!r} has a second text, but fill_mask reads one text per line. "
                        "Choose the column with --columns."
                    )
            singles = [text for (text,) in texts]
            return [_line(*item) for item in zip(singles, model.predict(singles))]

        groups: Iterable[text_files.Texts] = text_files.read_texts(flags)
        if flags.text is not None:
            groups = [[(flags.text,)]]
        text_files.answer_texts(flags.output_file, groups, answer)


def _line(text: str, proposals: Sequence[Sequence[Any]]) -> str:
    gaps = [
        [{"word": item.word, "probability": round(item.probability, 6)} for item in gap]
        for gap in proposals
    ]
    return json.dumps({"text": text, "gaps": gaps}, ensure_ascii=False)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
