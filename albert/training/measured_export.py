# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exports a model to TensorFlow Lite or ONNX, and compares the export with the model on data.

The new folder has the exported file in place of a checkpoint, and the vocabulary, configuration and
description of the model. albert.load reads it.

Dimensions: N examples, B batch, S sequence, H hidden.
"""

import functools
import importlib
import os
import time
from typing import Any, Callable, Dict, Mapping, Sequence

import numpy as np
import tensorflow.compat.v1 as tf

from albert.configs import model_config, published
from albert.formats import checkpoints, exported, huggingface, model_folder, model_paths, onnx
from albert.formats.flags import ModelExportFlags
from albert.models import pretrained, text_files
from albert.models.flags import TextFlags
from albert.training import fine_tuned, labelled_data
from albert.training.run_files import LOSSES
from albert.util import UserError, files, wording
from albert.util import flags as flags_lib

_MOST_TIMED = 50  # examples


# ---- what can be exported ----


class _FineTunedExport:
    """A model of a task: compares the scores of the model and the export.

    Attributes:
      examples: of --eval_file.
      metric: what is compared.
      shape: of an example's inputs, [S] or [C, S] of C options.
      build: builds the network on SEQUENCES; returns the outputs by name.
      files: what the new folder holds beside the file.
      model: the model's configuration, vocabulary and maximum length.
    """

    def __init__(self, model: fine_tuned.FineTunedModel, flags: ModelExportFlags):
        task, self.checkpoint = model.task, model.checkpoint
        self.max_seq_length, self.build = task.flags.max_seq_length, task.build
        self.files = fine_tuned.portable_files(task, is_export=True)
        self.model = model_folder.PretrainedModel(
            task.config, self.checkpoint, task.tokenizer, self.max_seq_length, task.vocabulary
        )
        shapes = {feature.name: feature.shape for feature in task.spec(False).features}
        self.shape = shapes["input_ids"]
        self._task, self.examples = labelled_data.read(task, flags.model_dir, flags.eval_file)
        self.metric = self._task.best_metric

    def score(self, outputs: Mapping[str, np.ndarray], _: Any) -> float:
        losses = np.full(len(self.examples), np.nan)  # which an export does not know
        metrics = self._task.measure(self.examples, {"per_example_loss": losses, **outputs})
        return published.per_cent(self._task.published_name, metrics[self.metric])


class _EncoderExport:
    """A pretrained model. Compares vectors of the model and the export; see _FineTunedExport."""

    metric = "cosine"

    def __init__(self, model: pretrained.Embedder, flags: ModelExportFlags):
        original, length = model.task.model, flags.max_seq_length
        model_config.check_length(length, original.config)
        self.max_seq_length = length or original.max_seq_length
        self.checkpoint, self.shape = original.checkpoint, (self.max_seq_length,)
        self._output = model.task.output
        self.model = model.task.model = original._replace(max_seq_length=self.max_seq_length)
        self.files = model_folder.portable_files(original.config, original.vocabulary)
        self.build = functools.partial(pretrained.pretraining_outputs, original.config, heads=())
        texts = text_files.read_texts(flags_lib.make(TextFlags, input_file=flags.eval_file))
        self.examples = [text for group in texts for text in group]

    def score(self, *outputs: Mapping[str, np.ndarray]) -> float:
        vectors, right = (part[self._output].astype(np.float64) for part in outputs)  # [N, H]
        lengths = np.linalg.norm(vectors, axis=-1) * np.linalg.norm(right, axis=-1)
        return 100 * float(((vectors * right).sum(-1) / lengths).mean())


# ---- export ----


def export(flags: ModelExportFlags, load: Callable[..., Any]) -> Dict[str, Any]:
    """Writes flags.output_dir and returns the content of its export.json.

    `load` is albert.load.

    Raises:
      UserError: no model, or none that can be exported; the new folder is there already; the data
        cannot be read; or the export loses more than flags.max_loss. Nothing is written.
    """
    if model_paths.find_program(flags.model_dir) and not flags.checkpoint:
        raise UserError(f"--model_dir={flags.model_dir} is an export. Give the original model.")
    task = None
    if flags.task:
        module, _, kind = flags.task.partition(":")
        task = getattr(importlib.import_module(module), kind)
    with files.atomic_folder(flags.output_dir) as folder:
        model = load(flags.model_dir, flags.checkpoint, task=task)
        is_encoder = isinstance(model, pretrained.Embedder)
        subject: Any = (_EncoderExport if is_encoder else _FineTunedExport)(model, flags)
        subject.examples = subject.examples[: flags.eval_examples or None]
        if not len(subject.examples):
            raise UserError(f"--eval_file={flags.eval_file} has no examples to measure.")
        size = _write(folder, subject, flags)
        record = {
            "format": flags.format,
            "quantize": flags.quantize,
            "max_seq_length": subject.max_seq_length,
            "examples": len(subject.examples),
            "eval_file": os.path.basename(flags.eval_file),
            "tensorflow": tf.__version__,
        }
        path = os.path.join(folder, exported.RECORD_NAME)
        files.atomic_write_json(path, record)
        with load(folder, task=task) as small:
            record.update(_compared(subject, (model, small), size))
            if flags.format == "onnx":
                dtype = "q8" if flags.quantize == "int8" else "fp32"
                huggingface.write_onnx_settings(folder, subject.model, dtype)
            example = exported.example(
                model.task.tokenizer,
                subject.max_seq_length,
                small.network.run,
                batch=(1, *subject.shape[:-1]),
                names=onnx.NAMES if flags.format == "onnx" else {},
            )
        files.atomic_write_bytes(os.path.join(folder, exported.EXAMPLE_NAME), example)
        before, after = (record[side][subject.metric] for side in ("model", "export"))
        lost = after - before if subject.metric in LOSSES else before - after
        if not lost <= flags.max_loss:
            raise UserError(
                f"On {flags.eval_file}, {subject.metric} changes from {before:.2f} (model) to "
                f"{after:.2f} (export): more than --max_loss={flags.max_loss}. Nothing was "
                "written. Try another --format, --quantize=none, or a higher --max_loss."
            )
        files.atomic_write_json(path, record)
    return record


def _write(folder: str, subject: Any, flags: ModelExportFlags) -> int:
    """Writes the model's file, and those beside it; returns its size in bytes."""
    content = exported.convert(
        subject.build,
        subject.checkpoint,
        flags.format,
        shape=subject.shape,
        is_int8=flags.quantize == "int8",
    )
    path = model_paths.PATHS[flags.format, flags.quantize]
    files.atomic_write_all(folder, {**subject.files, path: content})
    return len(content)


def _compared(subject: Any, models: Sequence[Any], size: int) -> Dict[str, Dict[str, float]]:
    """Score, times and size of the model and of its export, which has `size` bytes; prints them."""
    sizes = (sum(x.nbytes for x in checkpoints.read(subject.checkpoint).values()), size)
    outputs = [model.outputs(subject.examples) for model in models]
    sides = {}
    rows = [("", subject.metric, "p50 ms", "p95 ms", "MB")]
    for name, model, output, size in zip(("model", "export"), models, outputs, sizes):
        score, times = subject.score(output, outputs[0]), []
        for example in subject.examples[:_MOST_TIMED]:
            began = time.perf_counter()
            model.outputs([example])
            times.append(1000 * (time.perf_counter() - began))
        p50, p95 = np.percentile(times, [50, 95]).tolist()
        sides[name] = {subject.metric: score, "p50_ms": p50, "p95_ms": p95, "bytes": size}
        rows.append((name, f"{score:.2f}", f"{p50:.1f}", f"{p95:.1f}", f"{size / 1e6:.1f}"))
    print("\n".join(wording.table(rows, left={0})))
    return sides
