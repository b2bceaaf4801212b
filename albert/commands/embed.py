# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Turns texts into vectors with a pretrained or fine-tuned model.

  python -m albert embed --albert_dir=base_v2 --input_file=sentences.txt --output_file=out.npy
  python -m albert embed --albert_hub_module_handle=modules/albert_base --pooling=mean < in > out

The input has one text per line, a pair of texts separated by a TAB, or a JSON object with text_a
(and text_b). If --output_file ends in .npy, the output is a NumPy array of floats [texts, hidden
size]. Otherwise it is one JSON list per text. Vectors of a model that is not fine-tuned say little
about the meaning of a text; --pooling=mean gives the best ones.
"""

import dataclasses
import json
from typing import Any, BinaryIO

from albert.configs.shared_flags import EncoderFlags, output_flag
from albert.models.flags import LAST_LAYER, POOLINGS, TextFlags
from albert.util import UserError, cli, files, log

_DIGITS = 7  # of a float32


@dataclasses.dataclass(frozen=True)
class Flags(EncoderFlags, TextFlags):
    """The script's flags."""

    pooling: str = output_flag(
        "pooled",
        "pooled: the pooler's output; mean: mean of all tokens; first: [CLS].",
        choices=POOLINGS,
    )
    layer: int = output_flag(LAST_LAYER, "Layer to use: 1 is the first, -1 the last.")


def main(flags: Flags) -> None:
    """Writes the vectors of all texts. Raises UserError."""
    from albert.models import pretrained, text_files

    with pretrained.Embedder(
        pretrained.find_model(flags),
        pooling=flags.pooling,
        layer=flags.layer,
        precision_name=flags.precision,
        batch_size=flags.batch_size,
    ) as model:
        text_files.announce(model, flags)
        if files.ending(flags.output_file) == ".npy":
            _write_array(flags, model)
        else:
            groups = text_files.read_texts(flags)
            text_files.answer_texts(
                flags.output_file, groups, lambda texts: map(_line, model.embed(texts))
            )


def _line(vector: Any) -> str:
    return json.dumps([float(f"{value:.{_DIGITS}g}") for value in vector])


def _write_array(flags: Flags, model: Any) -> None:
    import numpy as np

    from albert.models import text_files

    path, count, width = flags.output_file, 0, model.task.config.hidden_size
    if "://" in path:
        raise UserError(f"--output_file={path}: write a .npy file on a local disk, then copy it.")

    def write_header(stream: BinaryIO) -> None:
        # The header's length does not depend on the number of rows.
        header = {"descr": "<f4", "fortran_order": False, "shape": (count, width)}
        stream.seek(0)
        np.lib.format.write_array_header_1_0(stream, header)

    with files.atomic_path(path) as temporary, open(temporary, "wb") as array:
        write_header(array)
        for texts in text_files.read_texts(flags):
            array.write(np.ascontiguousarray(model.embed(texts), "<f4").tobytes())
            count += len(texts)
        write_header(array)
    log.info("Wrote %s.", path)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
