# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A model as a file of TensorFlow Lite or ONNX, compared with itself on data before it is kept.

The new folder has the file in place of a checkpoint, and what turns texts into its inputs: the
vocabulary, the configuration and the description. albert.load takes it as any model's folder.

Dimensions: N texts, H hidden.
"""

import os
import time
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.checkpoints import checkpoint_files, weights
from albert.classification import examples, task_table, tasks
from albert.classification import run as classifier
from albert.conversion import onnx_model
from albert.conversion.settings import ModelExportFlags
from albert.data import text_lines
from albert.pretrained import exported, inference, model_vocabulary, released, warm_start
from albert.pretrained.saved_model import Inputs
from albert.squad import examples as squad_examples
from albert.squad import heads
from albert.squad import metrics as squad_metrics
from albert.squad import run as squad
from albert.training import fine_tuned, fine_tuning, metrics
from albert.util import files
from albert.util.errors import UserError

_MOST_TIMED = 50  # texts
_UNTIMED = 3  # before them

Texts = List[Tuple[str, ...]]
Models = Sequence[Any]


class Measured(NamedTuple):
    """What was found of a model and of its export."""

    metric: str
    examples: int
    scores: Tuple[float, float]  # times 100: the model's and the export's
    milliseconds: np.ndarray  # [2, N], of one text at a time, from text to answer
    sizes: Tuple[int, int]  # bytes of the weights as float32, and of the file

    def lost(self) -> float:
        """Returns how much worse the export is."""
        before, after = self.scores
        return before - after if task_table.METRICS.get(self.metric, True) else after - before

    def record(self) -> Dict[str, Any]:
        """Returns it as JSON values."""
        sides = []
        for score, times, size in zip(self.scores, self.milliseconds, self.sizes):
            p50, p95 = np.percentile(times, [50, 95]).tolist()
            sides.append({self.metric: score, "p50_ms": p50, "p95_ms": p95, "bytes": size})
        return {"examples": self.examples, "model": sides[0], "export": sides[1]}

    def table(self) -> str:
        """Returns it as lines of text."""
        record = self.record()
        keys = [self.metric, "p50_ms", "p95_ms", "bytes"]
        rows = [("", self.metric, "p50 ms", "p95 ms", "MB")]
        for side in ("model", "export"):
            score, p50, p95, size = (record[side][key] for key in keys)
            rows.append((side, f"{score:.2f}", f"{p50:.1f}", f"{p95:.1f}", f"{size / 1e6:.1f}"))
        lines = [f"{row[0]:<8}" + "".join(f"{cell:>16}" for cell in row[1:]) for row in rows]
        times = record["model"]["p50_ms"] / record["export"]["p50_ms"]
        return "\n".join([*lines, f"{times:.1f} times as fast, one text at a time"])


# ---------------------------------------------------------------------------------------------
# What can be exported.


class _Kind:
    """A fine-tuned model: how it is loaded, built, written and scored.

    Attributes:
      metric: what is measured, times 100.
      ours: the model in memory, perhaps in several ways; the first is timed.
    """

    metric = ""
    kind: Any  # of the models

    def __init__(self, folder: str, checkpoint: Optional[str], max_seq_length: Optional[int]):
        if max_seq_length:
            raise UserError(
                f"--max_seq_length={max_seq_length} is for encoders: a fine-tuned model is "
                "exported for the length that it was trained with. Leave the flag out."
            )
        self._folder = folder
        self.ours: Models = self.load(folder, checkpoint)

    def load(self, folder: str, checkpoint: Optional[str] = None) -> Models:
        return [self.kind(folder, checkpoint)]

    def about(self) -> Tuple[modeling.AlbertConfig, str, int]:
        """The configuration, the checkpoint and the longest length."""
        setup = self.ours[0].setup
        return setup.config, self.ours[0].checkpoint, setup.settings.max_seq_length

    def build(self, inputs: Inputs) -> Mapping[str, tf.Tensor]:
        return self.ours[0].setup.serving_outputs(inputs)

    def onnx(self, graph: onnx_model.Graph, config: modeling.AlbertConfig) -> bytes:
        raise NotImplementedError

    def files(self) -> Dict[str, bytes]:
        """What the new folder has beside the model's file."""
        return self.ours[0].setup.portable_files(**self.ours[0].task.served())

    def read(self, path: str, count: int) -> Texts:
        """The first texts of --eval_file (0: all); keeps what is right."""
        raise NotImplementedError

    def score(self, models: Models, texts: Texts) -> float:
        raise NotImplementedError


class _Classifier(_Kind):
    kind = classifier.Predictor

    def files(self) -> Dict[str, bytes]:
        return self.ours[0].setup.portable_files(early_exit=False)

    def onnx(self, graph: onnx_model.Graph, config: modeling.AlbertConfig) -> bytes:
        task = self.ours[0].task
        return onnx_model.classifier(
            graph,
            config,
            output_count=len(task.labels) or 1,
            is_regression=task.is_regression,
        )

    def read(self, path: str, count: int) -> Texts:
        about = self.ours[0].task
        task = self._task(about, path)
        data = examples.read_file(task, path, task.split("dev"))
        found = data.examples[: count or None]
        numbers = {label: number for number, label in enumerate(about.labels)}
        self._right = np.array([numbers.get(item.label, item.label) for item in found])
        self.metric = task.best_metric
        return [(item.text_a, item.text_b)[: 1 + task.is_pair] for item in found]

    def _task(self, about: Any, path: str) -> tasks.Task:
        if about.name in tasks.TASKS:
            return tasks.get_task(about.name)
        path_of_summary = os.path.join(self._folder, fine_tuning.SUMMARY_NAME)
        is_there = tf.io.gfile.exists(path_of_summary)
        summary = files.read_json_object(path_of_summary) if is_there else {}
        return tasks.custom_task(
            metric=summary.get("metric"),
            text_a="text_a",
            text_b="text_b" if about.is_pair else None,
            labels=list(about.labels) or "regression",
            dev_file=os.path.basename(path),
        )

    def score(self, models: Models, texts: Texts) -> float:
        found = models[0].predict_array(texts)
        if models[0].task.is_regression:
            answers = found[:, 0]
            losses = (answers - self._right) ** 2
        else:
            answers = found.argmax(-1)
            shares = found[np.arange(len(texts)), self._right]
            losses = -np.log(np.maximum(shares, np.finfo(np.float32).tiny))
        outcome = metrics.Outcome(self._right, answers, losses)
        return 100 * metrics.compute([self.metric], outcome)[self.metric]


class _Reader(_Kind):
    metric = "f1"
    kind = squad.Reader

    def onnx(self, graph: onnx_model.Graph, config: modeling.AlbertConfig) -> bytes:
        settings = self.ours[0].setup.settings
        if self._is_v2():
            beam = heads.BeamSize(settings.start_n_top, settings.end_n_top)
            return onnx_model.beams(graph, config, beam)
        return onnx_model.spans(graph, config, max_seq_length=settings.max_seq_length)

    def _is_v2(self) -> bool:
        return self.ours[0].task.has_impossible

    def read(self, path: str, count: int) -> Texts:
        found = squad_examples.read_squad_examples(path, False)[: count or None]
        unknown = [item.qas_id for item in found if not item.has_gold]
        if unknown:
            raise UserError(
                f"--eval_file={path}: the question {unknown[0]} has no answers to compare with. "
                "Give the dev set."
            )
        self._gold = {item.qas_id: item.answers for item in found}
        return [(item.question_text, item.paragraph_text) for item in found]

    def score(self, models: Models, texts: Texts) -> float:
        answers = dict(zip(self._gold, models[0].predict(texts)))
        found = {name: answer.text for name, answer in answers.items()}
        if not self._is_v2():
            return squad_metrics.evaluate_v1(self._gold, found)["f1"]
        odds = {name: answer.null_odds for name, answer in answers.items()}
        return squad_metrics.evaluate_v2(self._gold, found, odds)["f1"]


class _Encoder(_Kind):
    """A pretrained model: an export is as good as its vectors are alike."""

    metric = "cosine"

    def __init__(self, folder: str, checkpoint: Optional[str], max_seq_length: Optional[int]):
        self._length = max_seq_length
        self._right: Optional[np.ndarray] = None
        self._folder = released.local_folder(folder, f"--model_dir={folder}")
        self.ours = self.load(self._folder, checkpoint)

    def load(self, folder: str, checkpoint: Optional[str] = None) -> Models:
        source = inference.folder_source(folder, checkpoint)
        longest = source.max_seq_length
        if self._length and self._length > longest:
            raise UserError(
                f"--max_seq_length={self._length} is longer than the model takes, {longest}."
            )
        source = source._replace(max_seq_length=self._length or longest)
        return [inference.Embedder(source, pooling=pooling) for pooling in ("pooled", "mean")]

    def about(self) -> Tuple[modeling.AlbertConfig, str, int]:
        source = self.ours[0].source
        return source.config, source.checkpoint, source.max_seq_length

    def build(self, inputs: Inputs) -> Mapping[str, tf.Tensor]:
        return inference.encoder_outputs(self.ours[0].source.config, inputs._asdict())

    def onnx(self, graph: onnx_model.Graph, config: modeling.AlbertConfig) -> bytes:
        return onnx_model.vectors(graph, config)

    def files(self) -> Dict[str, bytes]:
        source = self.ours[0].source
        found = released.find_files(self._folder, label=f"--model_dir={self._folder}")
        vocabulary = {key: getattr(found, key) for key in model_vocabulary.KEYS}
        description = {"do_lower_case": source.tokenizer.do_lower_case}
        return fine_tuned.portable_files(
            model_vocabulary.RECORD_NAME, description, vocabulary, config=source.config
        )

    def read(self, path: str, count: int) -> Texts:
        lines = text_lines.TextReader(path, None)
        with files.open_to_read(path) as stream:
            found = [
                text for group in text_lines.read_lines(stream, path) for text in lines.texts(group)
            ]
        return found[: count or None]

    def score(self, models: Models, texts: Texts) -> float:
        found = np.array([model.embed(texts) for model in models], np.float64)  # [2, N, H]
        if self._right is None:
            self._right = found
        norms = np.linalg.norm(found, axis=-1) * np.linalg.norm(self._right, axis=-1)
        cosines = (found * self._right).sum(-1) / norms
        return 100 * float(cosines.mean(-1).min())


_KINDS = {
    "classifier.json": _Classifier,
    "squad.json": _Reader,
    model_vocabulary.RECORD_NAME: _Encoder,
    "": _Encoder,
}


# ---------------------------------------------------------------------------------------------
# Export.


def export(settings: ModelExportFlags) -> Measured:
    """Writes settings.output_dir and returns what was measured of it.

    Raises:
      ValueError: no model, or none that can be exported; the new folder is there already; the data
        cannot be read; or the export loses more than settings.max_loss. Nothing is written.
    """
    place = settings.output_dir.rstrip("/")
    if tf.io.gfile.exists(place):
        raise UserError(f"--output_dir={place} exists. Name a new folder, or remove it.")
    _, name = model_vocabulary.read_description(settings.model_dir)
    if name not in _KINDS:
        raise UserError(
            f"--model_dir={settings.model_dir} has {name}: only models of run_classifier, "
            "run_squad_v1 and run_squad_v2 and pretrained ones are exported."
        )
    if exported.find(settings.model_dir) and not settings.checkpoint:
        raise UserError(
            f"--model_dir={settings.model_dir} is an exported model. Give the folder of the "
            "training."
        )
    kind = _KINDS[name](settings.model_dir, settings.checkpoint, settings.max_seq_length)
    texts = _read(kind, settings)
    content = _content(kind, settings)
    with files.atomic_folder(place) as folder:
        tf.io.gfile.makedirs(folder)
        for file, value in {**kind.files(), exported.NAMES[settings.format]: content}.items():
            with tf.io.gfile.GFile(os.path.join(folder, file), "wb") as stream:
                stream.write(value)
        record = {name: settings.to_dict()[name] for name in ("format", "quantize")}
        record["max_seq_length"] = kind.about()[2]
        path = os.path.join(folder, exported.RECORD_NAME)
        files.atomic_write_json(path, record)
        measured = _measured(kind, folder, texts, size=len(content))
        print(measured.table())
        _check_loss(measured, settings)
        record.update(measured.record(), eval_file=os.path.basename(settings.eval_file))
        record["tensorflow"] = tf.__version__
        files.atomic_write_json(path, record)
    return measured


def _read(kind: _Kind, settings: ModelExportFlags) -> Texts:
    path = settings.eval_file
    if not tf.io.gfile.exists(path) or tf.io.gfile.isdir(path):
        raise UserError(f"--eval_file={path} was not found.")
    texts = kind.read(path, settings.eval_examples)
    if not texts:
        raise UserError(f"--eval_file={path} holds no text to compare on.")
    return texts


def _content(kind: _Kind, settings: ModelExportFlags) -> bytes:
    """The model's file."""
    config, checkpoint, length = kind.about()
    is_int8 = settings.quantize == "int8"
    if settings.format == "onnx":
        values = weights.read_checkpoint(checkpoint).values
        return kind.onnx(onnx_model.Graph(values, is_int8=is_int8), config)
    return exported.to_tflite(
        kind.build,
        lambda session: warm_start.restore_weights(session, checkpoint),
        max_length=length,
        is_int8=is_int8,
    )


def _measured(kind: _Kind, folder: str, texts: Texts, *, size: int) -> Measured:
    theirs = kind.load(folder)
    scores = (kind.score(kind.ours, texts), kind.score(theirs, texts))
    times: List[List[float]] = [[], []]
    for text in [*texts[:_UNTIMED], *texts[:_MOST_TIMED]]:
        for side, models in zip(times, (kind.ours, theirs)):  # in turn: what else runs slows both
            start = time.perf_counter()
            models[0].predict([text])
            side.append(1000 * (time.perf_counter() - start))
    known = tf.train.load_checkpoint(kind.about()[1]).get_variable_to_shape_map()
    shapes = [known[name] for name in known if not checkpoint_files.is_optimizer_state(name)]
    for model in theirs:
        model.close()
    untimed = min(_UNTIMED, len(texts))
    size_before = 4 * sum(int(np.prod(shape)) for shape in shapes)
    return Measured(
        kind.metric, len(texts), scores, np.array(times)[:, untimed:], (size_before, size)
    )


def _check_loss(measured: Measured, settings: ModelExportFlags) -> None:
    before, after = measured.scores
    if measured.lost() <= settings.max_loss:
        return
    raise UserError(
        f"--max_loss={settings.max_loss}: {measured.metric} of the {settings.format} file is "
        f"{after:.2f} on {settings.eval_file}, that of the model {before:.2f}. Nothing was "
        "written. Try another --format, --quantize=none, or a higher --max_loss."
    )
