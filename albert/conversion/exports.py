# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A model as a file of TensorFlow Lite or ONNX, compared with itself on data before it is kept.

The new folder has the file in place of a checkpoint, and what turns texts into its inputs: the
vocabulary, the configuration and the description. albert.load takes it as any model's folder.

Dimensions: N examples, B batch, S sequence, H hidden.
"""

import importlib
import os
import pathlib
import tempfile
import time
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.checkpoints import checkpoint_files
from albert.configs.flags import TaskFlags
from albert.conversion.settings import ModelExportFlags
from albert.data import text_lines
from albert.pretrained import exported, inference, model_vocabulary, released, warm_start
from albert.pretrained.saved_model import Inputs
from albert.runtimes import compat
from albert.training import fine_tuned
from albert.training.task import Task
from albert.util import config_files, files, flags
from albert.util.errors import UserError

_MOST_TIMED = 50  # examples
_UNTIMED = 3  # before them
_OPSET = 13  # ONNX Runtime reads it from 1.10 on


class Measured(NamedTuple):
    """What was found of a model and of its export."""

    metric: str
    examples: int
    scores: Tuple[float, float]  # the model's and the export's, in per cent
    milliseconds: np.ndarray  # [2, N], of one example at a time
    sizes: Tuple[int, int]  # bytes of the weights as float32, and of the file

    def lost(self, higher_is_better: bool) -> float:
        """Returns how much worse the export is."""
        before, after = self.scores
        return before - after if higher_is_better else after - before

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
        lines = [f"{'':8}{self.metric:>16}{'p50 ms':>16}{'p95 ms':>16}{'MB':>16}"]
        for side in ("model", "export"):
            score, p50, p95, size = record[side].values()
            lines.append(f"{side:8}{score:16.2f}{p50:16.1f}{p95:16.1f}{size / 1e6:16.1f}")
        times = record["model"]["p50_ms"] / record["export"]["p50_ms"]
        return "\n".join([*lines, f"{times:.1f} times as fast, one text at a time"])


# ---- what can be exported ----


class _FineTuned:
    """A model of a task, which measures model and export as an evaluation does.

    Attributes:
      model: in memory.
      examples: of --eval_file.
      metric, higher_is_better: what is compared.
      shape: of an example's inputs, [S] or [C, S] of C options.
    """

    def __init__(self, model: fine_tuned.Model, settings: ModelExportFlags):
        if settings.max_seq_length:
            raise UserError(
                f"--max_seq_length={settings.max_seq_length} is for encoders: a fine-tuned model "
                "is exported for the length that it was trained with. Leave the flag out."
            )
        self.model, self.setup, self.checkpoint = model, model.setup, model.checkpoint
        self.config, self.max_seq_length = self.setup.config, self.setup.settings.max_seq_length
        self._reader, examples = _task_with_data(model.task, settings)
        self.examples = examples[: settings.eval_examples or None]
        self.metric, self.higher_is_better = self._reader.best_metric, self._reader.higher_is_better
        shapes = {feature.name: feature.shape for feature in model.task.spec(False).features}
        self.shape = shapes[Inputs._fields[0]]

    def build(self, inputs: Inputs) -> Mapping[str, tf.Tensor]:
        return self.setup.serving_outputs(inputs)

    def files(self) -> Dict[str, bytes]:
        return self.setup.portable_files(**self.model.task.served())

    def answer(self, model: Any, example: Any) -> None:
        examples = [example]
        model.task.decode(examples, model.outputs(examples))

    def score(self, model: Any) -> float:
        losses = np.full(len(self.examples), np.nan)  # which an export does not know
        outputs = {"per_example_loss": losses, **model.outputs(self.examples)}
        scores = self._reader.measure(self.examples, outputs)
        return self._reader.metric_scale * scores[self.metric]


def _task_with_data(task: Task, settings: ModelExportFlags) -> Tuple[Task, Sequence[Any]]:
    """The task as it was trained, and what it reads in --eval_file."""
    path, record = settings.eval_file, os.path.join(settings.model_dir, config_files.RECORD_NAME)
    known = flags.describe(task.flags)
    values: Dict[str, Any] = {"task_name": task.name} if "task_name" in known else {}
    trained = config_files.read(record) if tf.io.gfile.exists(record) else {}
    values.update({name: trained[name] for name in set(trained) - set(flags.describe(TaskFlags))})
    is_file = "data_dir" in known and not tf.io.gfile.isdir(path)
    if "data_dir" in known:
        values["data_dir"] = os.path.dirname(path) or "." if is_file else path
    else:  # of SQuAD
        values["predict_file"] = path
    values.update({name: True for name in ("do_eval", "do_predict") if name in known})
    own = flags.make(task.flags, **{**task.settings.given_values(), **values})
    reader = type(task)(own, task.tokenizer, task.description)
    return reader, reader.read_file(path) if is_file else reader.examples(reader.splits("dev")[0])


class _Encoder:
    """A pretrained model: an export is as good as its vectors are alike."""

    metric, higher_is_better = "cosine", True

    def __init__(self, model: inference.Embedder, settings: ModelExportFlags):
        self.model, self._folder = model, settings.model_dir
        source, length = model.source, settings.max_seq_length
        if length and length > source.max_seq_length:
            raise UserError(
                f"--max_seq_length={length} is longer than the model takes, "
                f"{source.max_seq_length}."
            )
        self.config, self.max_seq_length = source.config, length or source.max_seq_length
        self.checkpoint, self.shape = source.checkpoint, (self.max_seq_length,)
        model.source = source._replace(max_seq_length=self.max_seq_length)
        self.examples = _lines(settings.eval_file)[: settings.eval_examples or None]
        self._right: Optional[np.ndarray] = None

    def build(self, inputs: Inputs) -> Mapping[str, tf.Tensor]:
        return inference.encoder_outputs(self.config, inputs._asdict())

    def files(self) -> Dict[str, bytes]:
        folder = released.local_folder(self._folder, f"--model_dir={self._folder}")
        found = released.find_files(folder, label=f"--model_dir={folder}")
        vocabulary = {key: getattr(found, key) for key in model_vocabulary.KEYS}
        description = {"do_lower_case": self.model.source.tokenizer.do_lower_case}
        return fine_tuned.portable_files(
            model_vocabulary.RECORD_NAME, description, vocabulary, config=self.config
        )

    def answer(self, model: Any, example: Any) -> None:
        model.embed([example])

    def score(self, model: Any) -> float:
        vectors = model.embed(self.examples).astype(np.float64)  # [N, H]
        if self._right is None:
            self._right = vectors
        norms = np.linalg.norm(vectors, axis=-1) * np.linalg.norm(self._right, axis=-1)
        return 100 * float(np.mean((vectors * self._right).sum(-1) / norms))


def _lines(path: str) -> List[Any]:
    lines = text_lines.TextReader(path, None)
    with files.open_to_read(path) as stream:
        groups = [lines.texts(group) for group in text_lines.read_lines(stream, path)]
    return [text for group in groups for text in group]


# ---- export ----


def export(settings: ModelExportFlags, load: Callable[..., Any]) -> Measured:
    """Writes settings.output_dir and returns what was measured of it; `load` is predictor.load.

    Raises:
      UserError: no model, or none that can be exported; the new folder is there already; the data
        cannot be read; or the export loses more than settings.max_loss. Nothing is written.
    """
    output_dir, place = settings.output_dir.rstrip("/"), settings.model_dir
    if tf.io.gfile.exists(output_dir):
        raise UserError(f"--output_dir={output_dir} exists. Name a new folder, or remove it.")
    if not tf.io.gfile.exists(settings.eval_file):
        raise UserError(f"--eval_file={settings.eval_file} was not found.")
    if exported.find(place) and not settings.checkpoint:
        raise UserError(
            f"--model_dir={place} is an exported model. Give the folder of the training."
        )
    task = _task_class(settings.task) if settings.task else None
    model = load(place, settings.checkpoint, task=task)
    kind: Any = _Encoder if isinstance(model, inference.Embedder) else _FineTuned
    subject = kind(model, settings)
    if not subject.examples:
        raise UserError(f"--eval_file={settings.eval_file} holds nothing to compare on.")
    content = _converted(subject, settings)
    with files.atomic_folder(output_dir) as folder:
        tf.io.gfile.makedirs(folder)
        named = {**subject.files(), exported.NAMES[settings.format]: content}
        for name, value in named.items():
            files.atomic_write_bytes(os.path.join(folder, name), value)
        record = {name: getattr(settings, name) for name in ("format", "quantize")}
        record["max_seq_length"] = subject.max_seq_length
        path = os.path.join(folder, exported.RECORD_NAME)
        files.atomic_write_json(path, record)
        with load(folder, task=task) as small:
            measured = _measure(subject, small, len(content))
        print(measured.table())
        _check_loss(measured, settings, measured.lost(subject.higher_is_better))
        record.update(measured.record(), eval_file=os.path.basename(settings.eval_file))
        record["tensorflow"] = tf.__version__
        files.atomic_write_json(path, record)
    return measured


def _task_class(name: str) -> Any:
    """The class that --task=module:Class names."""
    module, _, kind = name.partition(":")
    try:
        return getattr(importlib.import_module(module), kind)
    except (ImportError, AttributeError, ValueError) as error:
        raise UserError(f"--task={name} must be module:Class of a task. ({error})") from error


def _measure(subject: Any, small: Any, size: int) -> Measured:
    """Compares the model with `small`, its export."""
    models = (subject.model, small)
    scores = (subject.score(models[0]), subject.score(models[1]))
    times: List[List[float]] = [[], []]
    for example in [*subject.examples[:_UNTIMED], *subject.examples[:_MOST_TIMED]]:
        for side, model in zip(times, models):  # in turn: what else runs slows both
            start = time.perf_counter()
            subject.answer(model, example)
            side.append(1000 * (time.perf_counter() - start))
    shapes = tf.train.load_checkpoint(subject.checkpoint).get_variable_to_shape_map().items()
    counts = [
        np.prod(shape) for name, shape in shapes if not checkpoint_files.is_optimizer_state(name)
    ]
    count = len(subject.examples)
    timed = np.array(times)[:, min(_UNTIMED, count) :]
    return Measured(subject.metric, count, scores, timed, (4 * int(sum(counts)), size))


def _check_loss(measured: Measured, settings: ModelExportFlags, lost: float) -> None:
    before, after = measured.scores
    if not lost <= settings.max_loss:
        raise UserError(
            f"--max_loss={settings.max_loss}: {measured.metric} of the {settings.format} file is "
            f"{after:.2f} on {settings.eval_file}, that of the model {before:.2f}. Nothing was "
            "written. Try another --format, --quantize=none, or a higher --max_loss."
        )


# ---- the file ----


def _converted(subject: Any, settings: ModelExportFlags) -> bytes:
    """The model's file; it reads int32 [B, ..., S] of any batch and length.

    TensorFlow 1.15 can only write TensorFlow Lite for [1, ..., max_seq_length].
    """
    is_int8, is_lite = settings.quantize == "int8", settings.format == "tflite"
    is_fixed = is_lite and not compat.is_tf2()
    shape = [1, *subject.shape] if is_fixed else [None] * (1 + len(subject.shape))
    with tf.Graph().as_default(), tf.Session(config=compat.session_config()) as session:
        inputs = Inputs(*(tf.placeholder(tf.int32, shape, name) for name in Inputs._fields))
        with tf.name_scope("model"):  # the names of the outputs are theirs alone
            built = subject.build(inputs)
        outputs = {name: tf.identity(value, name=name) for name, value in built.items()}
        warm_start.restore_weights(session, subject.checkpoint)
        if is_lite:
            return _to_lite(session, inputs, outputs, is_int8=is_int8)
        graph = tf.graph_util.convert_variables_to_constants(
            session, session.graph_def, list(outputs)
        )
    return _to_onnx(graph, list(outputs), is_int8=is_int8)


def _to_lite(
    session: tf.Session, inputs: Inputs, outputs: Mapping[str, tf.Tensor], *, is_int8: bool
) -> bytes:
    """TensorFlow Lite; with is_int8 weights are bytes, and activations become so as they come."""
    try:
        return exported.converted(session, inputs, outputs, is_int8=is_int8)
    except Exception as error:  # the converters have classes of their own
        raise UserError(
            f"TensorFlow {tf.__version__} cannot convert this model to TensorFlow Lite. Use "
            f"--format=onnx, or TensorFlow 2.15 or later. ({error})"
        ) from error


def _to_onnx(graph: tf.GraphDef, outputs: Sequence[str], *, is_int8: bool) -> bytes:
    """ONNX of a graph with its weights in it; with is_int8 as of `_to_lite`."""
    try:
        import onnx
        import tf2onnx
        from onnxruntime import quantization
    except ImportError as error:
        raise UserError(f"--format=onnx {exported.HOW_TO_INSTALL}") from error
    tensors = {f"{name}:0": name for name in (*Inputs._fields, *outputs)}
    model, _ = tf2onnx.convert.from_graph_def(
        graph,
        input_names=[f"{name}:0" for name in Inputs._fields],
        output_names=[f"{name}:0" for name in outputs],
        opset=_OPSET,
        tensors_to_rename=tensors,
    )
    if not is_int8:
        return model.SerializeToString()
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, name) for name in ("float32.onnx", "int8.onnx")]
        onnx.save(model, str(paths[0]))
        quantization.quantize_dynamic(
            *paths,
            op_types_to_quantize=["MatMul", "Gemm", "Gather"],
            per_channel=True,
            reduce_range=True,  # processors without VNNI add two products of bytes in 16 bits
            weight_type=quantization.QuantType.QInt8,
        )
        return paths[1].read_bytes()
