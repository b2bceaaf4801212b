# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A model in memory: load once, then call it many times.

    with InferenceModel(task, "output/mine/model.ckpt-best") as model:
        model.predict(["He left.", "It rains."])

Scripts predict with this class too.

Dimensions: N examples, R records (an example may have several), B batch.
"""

import collections
import collections.abc
import contextlib
from concurrent import futures
from typing import Any, Callable, Counter, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from albert.data import feature_cache
from albert.data.packing import SEQUENCES, Arrays
from albert.data.record_format import FeatureSpec
from albert.models.network import Network, check_finite, joined
from albert.util import UserError, log, parallel

POOL = 4096  # records to encode together, and to sort by length

Outputs = Arrays  # the network's outputs [R, ...] by name
Text = Union[str, Sequence[str]]


class InferenceTask:
    """Converts texts to records, and the outputs of the network to answers.

    Subclasses build the network in `build(features, **options)`; see Task.build.

    Attributes:
      sequences: the features with one value per token, such as input_mask. The network cuts them
        to the longest example of a batch.
      padding: "longest"; "bucket": larger batches of short examples; "max": no cut.
      precision_name: the number format of activations.
      output: the output to decode, which the network must have; "": any.
    """

    sequences: Sequence[str] = SEQUENCES
    padding = "longest"
    precision_name = "float32"
    output = ""

    def parse(self, text: Any) -> Any:
        """Returns the example for a program's input; raises UserError for wrong input."""
        raise NotImplementedError

    def spec(self, is_training: bool) -> FeatureSpec:
        """Returns the declaration of the records."""
        raise NotImplementedError

    def items(self, examples: Sequence[Any], is_training: bool) -> Sequence[Any]:
        """Splits examples into items for `encode`, one per record."""
        return examples

    def encode(self, items: Sequence[Any], is_training: bool) -> feature_cache.Conversion:
        """Returns the records of consecutive items."""
        raise NotImplementedError

    def merge(self, outputs: Outputs) -> Outputs:
        """Returns the outputs for `decode` from those of the records."""
        return outputs

    def decode(self, examples: Sequence[Any], outputs: Outputs) -> Any:
        """Returns the answer to each example, a NamedTuple or JSON value."""
        raise NotImplementedError


class InferenceModel(contextlib.AbstractContextManager):
    """A task's network with its weights. Calls from several threads take turns.

    Attributes:
      task: an InferenceTask.
      checkpoint: path prefix of the weights, or the file of an exported model.
      network: a Network with these weights.
      notes: numbers of texts that were cut or empty. The end of the `with` statement logs them.
    """

    def __init__(self, task: Any, checkpoint: Optional[str] = None, *, batch_size: int = 32):
        """Takes an InferenceTask, a checkpoint to load, and the batch size for long records.

        Raises:
          UserError: batch_size is wrong, or the weights do not fit.
        """
        self.task = task
        self.notes: Counter[str] = collections.Counter()
        self.network = Network(task, batch_size)
        if checkpoint:
            self.load(checkpoint)

    def load(self, checkpoint: str) -> None:
        """Loads weights. Raises UserError if they do not fit."""
        self.checkpoint = checkpoint
        self.network.load(checkpoint)
        outputs, needed = self.network.outputs, self.task.output
        if needed and needed not in outputs:
            raise UserError(
                f"{checkpoint} has no {needed}, only {', '.join(outputs)}. Use the model from "
                "which it was exported."
            )

    def __exit__(self, *_) -> None:
        self.network.close()
        notes = feature_cache.in_words(self.notes)
        if notes:
            log.warning("Texts: %s.", notes)

    def __reduce__(self) -> str:
        raise UserError("A loaded model cannot be pickled. Call albert.load in each process.")

    def predict(self, texts: Sequence[Any]) -> Any:
        """Returns the task's answers, in the order of the texts. Cuts long texts as training does.

        Raises:
          UserError: the task cannot read a text.
        """
        examples = parse_texts(texts, self.task.parse)
        return self.task.decode(examples, self.outputs(examples)) if examples else []

    def outputs(self, examples: Sequence[Any]) -> Outputs:
        """Returns the network's outputs. Raises UserError if a value is not finite."""
        return check_finite(self.run(self.task.items(examples, False)))

    def run(self, items: Sequence[Any], **options: Any) -> Outputs:
        """Returns the merged outputs for items of `encode`. For the options, see Network.run."""
        parts = [self.network.run(records, **options) for records in self._records(items)]
        return self.task.merge(joined(parts))

    def _records(self, items: Sequence[Any]) -> Iterator[Arrays]:
        """Yields the records of POOL items at a time.

        While the network runs, a thread encodes the next items.
        """
        if len(items) <= POOL:  # Nothing to encode while the network runs.
            yield self._encode(items)
            return
        pools = (items[first : first + POOL] for first in range(0, len(items), POOL))
        with futures.ThreadPoolExecutor(1) as thread:
            yield from parallel.in_order(thread, self._encode, pools, ahead=1)

    def _encode(self, items: Sequence[Any]) -> Arrays:
        records, counts = self.task.encode(items, False)
        self.notes.update(counts)
        columns = {}
        for name, shape, dtype, _ in self.task.spec(False).features:
            values = np.asarray(records[name], np.int32 if dtype.is_integer else np.float32)
            # A label may be a number or a list with one number.
            columns[name] = values if shape else values.reshape([-1])
        return columns


# ---- a program's texts ----


def parse_texts(texts: Sequence[Any], parse: Callable[[Any], Any]) -> List[Any]:
    """Applies `parse` to each text. Raises UserError with the number of a wrong text."""
    is_unordered = isinstance(texts, (str, bytes, collections.abc.Mapping, collections.abc.Set))
    is_frame = hasattr(texts, "columns")  # of pandas; a loop over it gives the columns' names
    if is_unordered or is_frame or not isinstance(texts, collections.abc.Iterable):
        raise UserError(
            f"A list of texts is needed, not a {type(texts).__name__}. Write [text] or, for a "
            "pandas frame, frame['column'].tolist()."
        )
    parsed = []
    for number, text in enumerate(texts, 1):
        try:
            parsed.append(parse(text))
        except (TypeError, ValueError) as error:
            reason = (
                error
                if isinstance(error, UserError)
                else "docs/python.md says what `predict` takes."
            )
            raise UserError(f"Text number {number} is {str(text)[:60]!r}. {reason}") from error
    return parsed


def parts_of(text: Text) -> Tuple[str, ...]:
    """Returns a text, or a pair of texts, as a tuple. Raises UserError for anything else."""
    parts = tuple(text) if isinstance(text, (list, tuple, np.ndarray)) else (text,)
    if len(parts) not in (1, 2) or not all(isinstance(part, str) for part in parts):
        raise UserError("It must be a text or a pair of texts.")
    return parts
