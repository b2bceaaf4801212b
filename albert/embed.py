# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Turns texts, or pairs of texts, into vectors with a pretrained (or fine-tuned) encoder.

  python -m albert.embed --albert_dir=base_v2 --input_file=sentences.txt --output_file=out.npy
  python -m albert.embed --albert_hub_module_handle=modules/albert_base --pooling=mean < in > out

Input is a line for each text: the text (TAB a second text), or a JSON object with text_a (and
text_b). Output is an array of floats [texts, hidden size] in a NumPy file (*.npy), or a JSON list
on a line for each text. Vectors of a model that was only pretrained say little about meaning before
it is fine-tuned; of the three kinds --pooling=mean is the most useful then.
"""

import dataclasses
import json
import logging
from typing import BinaryIO

from absl import flags

from albert.command_line import script
from albert.pretrained.settings import LAST_LAYER, POOLINGS, PretrainedSettings, TextSettings
from albert.util import flags as flags_lib
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

_ARRAY_SUFFIX = ".npy"
_DIGITS = 7  # of a float32


@dataclasses.dataclass(frozen=True)
class EmbedSettings(TextSettings, PretrainedSettings):
    """The script's flags."""

    pooling: str
    layer: int


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags and returns the class of its settings."""
    flags_lib.define_encoder_flags(flag_values)
    flags_lib.define_text_flags(
        flag_values, output="vectors (an array if its name ends in .npy, else JSON lines)"
    )
    flags_lib.choice(
        flag_values,
        "pooling",
        "pooled",
        choices=POOLINGS,
        help="pooled: what classifiers build on; mean: over the tokens of the text; first: the "
        "vector of [CLS].",
    )
    flags_lib.integer(
        flag_values,
        "layer",
        LAST_LAYER,
        help="Layer to take: 1 is the first one, -1 the last; with mean and first only.",
    )
    return EmbedSettings


if __name__ == "__main__":  # before TensorFlow is imported
    script.answer_early(define_flags, usage=__doc__)

import numpy as np

from albert.data import text_lines
from albert.pretrained import inference
from albert.util import files, wording


def embed(settings: EmbedSettings) -> int:
    """Writes the vectors of all texts; returns how many.

    Raises:
      ValueError: flags, model or input that cannot be used.
    """
    source = inference.find_source(settings)
    inference.announce(source.config, source.checkpoint, settings)
    with inference.Embedder(
        source,
        pooling=settings.pooling,
        layer=settings.layer,
        precision_name=settings.precision,
        batch_size=settings.predict_batch_size,
    ) as model:
        if settings.output_file.endswith(_ARRAY_SUFFIX):
            return _write_array(settings, model)
        return inference.answer_texts(settings, lambda texts: map(_line, model.embed(texts)))


def _line(vector: np.ndarray) -> str:
    return json.dumps([float(f"{value:.{_DIGITS}g}") for value in vector])


def _write_array(settings: EmbedSettings, model: inference.Embedder) -> int:
    path, count = settings.output_file, 0
    if "://" in path:
        raise UserError(
            f"--output_file={path}: a NumPy file is written on a local disk only. Take another "
            "name for JSON lines, or copy it afterwards."
        )
    with files.atomic_path(path) as temporary, open(temporary, "wb") as array:
        _write_header(array, 0, model.width)
        for texts in inference.read_texts(settings):
            array.write(np.ascontiguousarray(model.embed(texts), "<f4").tobytes())
            count += len(texts)
        _write_header(array, count, model.width)
    return count


def _write_header(stream: BinaryIO, count: int, width: int) -> None:
    """Writes a header, whose length does not depend on the number of rows."""
    described = {"descr": "<f4", "fortran_order": False, "shape": (count, width)}
    stream.seek(0)
    np.lib.format.write_array_header_1_0(stream, described)


def main(settings: EmbedSettings):
    """Runs the script."""
    count = embed(settings)
    if settings.output_file != text_lines.STANDARD:
        _LOGGER.info("Wrote %s to %s.", wording.counted(count, "vector"), settings.output_file)


def cli():
    """Runs the script with the process's own arguments."""
    script.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
