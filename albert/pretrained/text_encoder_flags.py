# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the scripts embed and fill_mask have in common: the model, the texts, the answers."""

import contextlib
import logging
import sys
from typing import Any, Callable, Iterable, Iterator, List, Tuple

from absl import flags

from albert import fine_tuning_utils
from albert.pretrained import released as released_models
from albert.pretrained import text_encoder
from albert.pretrained import warm_start as checkpoint_init
from albert.util import flags as flags_lib
from albert.util import progress, text_lines

_LOGGER = logging.getLogger("albert")

Texts = List[Tuple[str, ...]]


def define_flags(flag_values: flags.FlagValues) -> None:
    """Defines the flags of both scripts."""
    flags_lib.define_model_flags(flag_values, config_required=False)
    flags_lib.define_tokenizer_flags(flag_values)
    flags_lib.integer(
        flag_values,
        "max_seq_length",
        512,
        lower_bound=4,
        help="Pieces of a text, with its marks, that the model reads at most.",
    )
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
        help="Where the input holds the text (for embed also two, with a comma): numbers of "
        "columns (from 0), or names of JSON fields or of columns, which the first line then names.",
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


def find_source(settings: Any) -> text_encoder.Source:
    """Returns the model that the flags name.

    Raises:
      ValueError: none, or files that do not belong together.
    """
    settings = released_models.completed(settings)
    config = fine_tuning_utils.load_config(settings)
    vocabulary = fine_tuning_utils.load_vocabulary(settings, config)
    checkpoint = None
    if not settings.albert_hub_module_handle:
        if not settings.init_checkpoint:
            raise ValueError(
                "No weights: give --init_checkpoint or --albert_dir (or "
                "--albert_hub_module_handle)."
            )
        checkpoint = checkpoint_init.resolve_checkpoint(settings.init_checkpoint)
    return text_encoder.Source(
        config,
        checkpoint,
        settings.albert_hub_module_handle,
        vocabulary.tokenizer,
        settings.max_seq_length,
    )


@contextlib.contextmanager
def open_texts(settings: Any) -> Iterator[Iterator[Texts]]:
    """Yields the texts in groups that have come together; a line of the log says how far it is."""
    reader = text_lines.TextReader(settings.input_file, settings.columns)
    with text_lines.open_input(settings.input_file) as stream:
        if settings.input_file == text_lines.STANDARD and sys.stdin.isatty():
            _LOGGER.info("Type a text and Enter; Ctrl-D ends.")
        groups = text_lines.read_lines(stream, settings.input_file)
        yield (reader.texts(lines) for lines in groups)


def answer_all(
    groups: Iterable[Texts],
    answer: Callable[[Texts], Any],
    write: Callable[[Texts, Any], None],
    *,
    name: str,
) -> int:
    """Answers the groups one after the other, with progress; returns the number of texts.

    Args:
      groups: texts that are answered together.
      answer: gives the answers of a group.
      write: takes a group and its answers.
      name: of the progress bar.
    """
    count = 0
    with progress.Progress(name, None, unit="texts") as bar:
        for texts in groups:
            write(texts, answer(texts))
            count += len(texts)
            bar.update(len(texts), "")
    return count
