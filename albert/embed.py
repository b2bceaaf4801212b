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
from typing import Any, Callable, Iterator, Tuple

import numpy as np
from absl import flags

from albert.pretrained import text_encoder, text_encoder_flags
from albert.util import files, text_lines
from albert.util import flags as flags_lib

_LOGGER = logging.getLogger("albert")

_ARRAY_SUFFIX = ".npy"
_HEADER_BYTES = 128
_DIGITS = 7  # of a float32


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags."""
    text_encoder_flags.define_flags(flag_values)
    flags_lib.path(
        flag_values,
        "output_file",
        text_lines.STANDARD,
        help="Where the vectors go: a NumPy file if it ends in .npy, else JSON lines; - is "
        "standard output. A file is there when it is complete.",
    )
    flags_lib.choice(
        flag_values,
        "pooling",
        "pooled",
        choices=text_encoder.POOLINGS,
        help="pooled: what classifiers build on; mean: over the pieces of the text; first: the "
        "vector of [CLS].",
    )
    flags_lib.integer(
        flag_values,
        "layer",
        text_encoder.LAST_LAYER,
        help="Layer to take: 1 is the first one, -1 the last; with mean and first only.",
    )


def embed(settings: Any) -> int:
    """Writes the vectors of all texts; returns how many.

    Args:
      settings: flags_lib.Settings with the flags of `define_flags`.

    Raises:
      ValueError: flags, model or input that cannot be used.
    """
    model = text_encoder.Embedder(
        text_encoder_flags.find_source(settings),
        pooling=settings.pooling,
        layer=settings.layer,
        precision_name=settings.precision,
        batch_size=settings.predict_batch_size,
    )
    with model, text_encoder_flags.open_texts(settings) as groups, _writer(
        settings.output_file, model.width
    ) as write:
        return text_encoder_flags.answer_all(
            groups, model.embed, lambda _, rows: write(rows), name="embed"
        )


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
    with files.atomic_path(path) as temporary, open(temporary, "wb") as stream:
        written = _Rows(stream, width)
        yield written.add
        written.finish()


class _Rows:
    """A NumPy file whose number of rows is known at the end only.

    Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, version 1.0.
    """

    def __init__(self, stream: Any, width: int):
        self._stream = stream
        self._shape: Tuple[int, int] = (0, width)
        stream.write(self._header())

    def add(self, rows: np.ndarray) -> None:
        """Appends rows."""
        self._stream.write(np.ascontiguousarray(rows, "<f4").tobytes())
        self._shape = (self._shape[0] + len(rows), self._shape[1])

    def finish(self) -> None:
        """Writes the number of rows."""
        self._stream.seek(0)
        self._stream.write(self._header())

    def _header(self) -> bytes:
        described = {"descr": "<f4", "fortran_order": False, "shape": self._shape}
        prefix = b"\x93NUMPY\x01\x00" + (_HEADER_BYTES - 10).to_bytes(2, "little")
        return prefix + str(described).encode("ascii").ljust(_HEADER_BYTES - 11) + b"\n"


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
