# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Turns texts, or pairs of texts, into vectors with a pretrained (or fine-tuned) encoder.

  python -m albert.embed --albert_dir=albert_base --input_file=sentences.txt --output_file=out.npy
  python -m albert.embed --albert_hub_module_handle=modules/albert_base --pooling=mean < in > out

Input is a line for each text: the text (TAB a second text), or a JSON object with text_a (and
text_b). Output is an array of floats [texts, hidden size] in a NumPy file (*.npy), or a JSON list
on a line for each text. Vectors of a model that was only pretrained say little about meaning before
it is fine-tuned; of the three kinds --pooling=mean is the most useful then.
"""

import contextlib
import json
import logging
from typing import Any, BinaryIO, Callable, Iterator

import numpy as np
from absl import flags

from albert import predict
from albert.data import text_lines
from albert.pretrained import inference
from albert.util import files
from albert.util import flags as flags_lib

_LOGGER = logging.getLogger("albert")

_ARRAY_SUFFIX = ".npy"
_DIGITS = 7  # of a float32


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags."""
    define_encoder_flags(flag_values)
    predict.define_text_flags(
        flag_values, output="vectors (an array if its name ends in .npy, else JSON lines)"
    )
    flags_lib.choice(
        flag_values,
        "pooling",
        "pooled",
        choices=inference.POOLINGS,
        help="pooled: what classifiers build on; mean: over the tokens of the text; first: the "
        "vector of [CLS].",
    )
    flags_lib.integer(
        flag_values,
        "layer",
        inference.LAST_LAYER,
        help="Layer to take: 1 is the first one, -1 the last; with mean and first only.",
    )


def define_encoder_flags(flag_values: flags.FlagValues):
    """Defines the flags that name a pretrained model, here and in fill_mask."""
    flags_lib.define_model_flags(flag_values, config_required=False)
    flags_lib.define_tokenizer_flags(flag_values)
    flags_lib.integer(
        flag_values,
        "max_seq_length",
        None,
        lower_bound=4,
        help="Tokens of a text, with its special ones, that the model reads at most; by default as "
        "many as it has positions for.",
    )


def embed(settings: Any) -> int:
    """Writes the vectors of all texts; returns how many.

    Args:
      settings: flags_lib.Settings with the flags of `define_flags`.

    Raises:
      ValueError: flags, model or input that cannot be used.
    """
    model = inference.Embedder(
        inference.find_source(settings),
        pooling=settings.pooling,
        layer=settings.layer,
        precision_name=settings.precision,
        batch_size=settings.predict_batch_size,
    )
    with model, _writer(settings.output_file, model.width) as write:
        return predict.answer_texts(settings, model.embed, lambda _, rows: write(rows))


@contextlib.contextmanager
def _writer(path: str, width: int) -> Iterator[Callable[[np.ndarray], None]]:
    """Yields what takes arrays [., width]."""
    if not path.endswith(_ARRAY_SUFFIX):
        with text_lines.open_output(path) as stream:

            def write_lines(rows: np.ndarray) -> None:
                for row in rows:
                    shown = [float(f"{value:.{_DIGITS}g}") for value in row]
                    stream.write(json.dumps(shown) + "\n")
                stream.flush()

            yield write_lines
        return
    if "://" in path:
        raise ValueError(
            f"--output_file={path}: a NumPy file is written on a local disk only. Take another "
            "name for JSON lines, or copy it afterwards."
        )
    with files.atomic_path(path) as temporary, open(temporary, "wb") as array:
        _write_header(array, 0, width)
        start = array.tell()

        def write_rows(rows: np.ndarray) -> None:
            array.write(np.ascontiguousarray(rows, "<f4").tobytes())

        yield write_rows
        _write_header(array, (array.tell() - start) // (4 * width), width)


def _write_header(stream: BinaryIO, count: int, width: int) -> None:
    """Writes a header, whose length does not depend on the number of rows."""
    described = {"descr": "<f4", "fortran_order": False, "shape": (count, width)}
    stream.seek(0)
    np.lib.format.write_array_header_1_0(stream, described)


def main(settings: Any):
    """Runs the script."""
    count = embed(settings)
    if settings.output_file != text_lines.STANDARD:
        _LOGGER.info("Wrote %d vectors to %s.", count, settings.output_file)


def cli():
    """Runs the script with the process's own arguments."""
    flags_lib.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
