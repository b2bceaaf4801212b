# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Models in memory: loaded once, then asked call after call.

    with Embedder(source) as model:
        model.embed(["He left.", "It rains."])  # float32 [2, H]
    with MaskFiller(source) as model:
        model.fill(["The [MASK] sang."])

The sequences of a call are sorted by length, so that short ones need little padding. The models of
the tasks are built on `Network` too.

Dimensions: B batch, S sequence, P positions of [MASK] in a text, H hidden, N texts, V vocabulary.
"""

import logging
import os
import sys
import threading
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
)

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling, tokenization
from albert.checkpoints import checkpoint_files
from albert.configs.flags import EncoderFlags
from albert.data import text_lines
from albert.pretrained import exported, model_vocabulary, released, warm_start
from albert.pretrained.settings import LAST_LAYER, POOLINGS, TextFlags
from albert.runtimes import compat, devices
from albert.util import files, progress
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

MASK = "[MASK]"
SEQUENCES = ("input_ids", "input_mask", "segment_ids")
POSITIONS = "mlm_positions"
FORMAT_VERSION = 1  # of the files that describe fine-tuned models

Text = Union[str, Sequence[str]]
Texts = List[Tuple[str, ...]]
Tensors = Mapping[str, tf.Tensor]
Row = Dict[str, List[int]]

_LENGTH_STEP = 8  # batches are padded to a multiple of this
_READ = "ReadVariableOp"
_OF_VARIABLES = {"VarHandleOp", _READ, "ResourceGather"}  # operations
_CONTROL_FLOW = {"Enter", "Switch", "Merge"}
_SPACE = "\u2581"  # in SentencePiece's tokens


# ---------------------------------------------------------------------------------------------
# What all models have in common.


class Runner:
    """A program with its weights in memory. Calls from several threads take turns.

    Attributes:
      outputs: what is known of each output, by name.
    """

    outputs: Dict[str, Any]

    def __init__(self, *, max_length: int, batch_size: int):
        """Takes the length S of the longest batch, and the most sequences to run together."""
        if batch_size < 1:
            raise UserError(f"batch_size is {batch_size}; it must be at least 1.")
        self._max_length, self._batch_size = max_length, batch_size
        self._lock = threading.Lock()

    def close(self) -> None:
        """Frees the weights; no call may follow."""

    def run(self, rows: Sequence[Mapping[str, Sequence[int]]]) -> List[Dict[str, np.ndarray]]:
        """Returns the outputs for each row, by name and in the order of the rows.

        A row has input_ids and segment_ids of one length without padding, and perhaps POSITIONS.
        Raises ValueError where an output is not finite.
        """
        results: List[Any] = [None] * len(rows)
        order = np.argsort([len(row["input_ids"]) for row in rows], kind="stable")
        with self._lock:
            for start in range(0, len(order), self._batch_size):
                places = order[start : start + self._batch_size]
                outputs = self._compute(self._feed([rows[place] for place in places]))
                _check_finite(outputs)
                for number, place in enumerate(places):
                    results[place] = {name: value[number] for name, value in outputs.items()}
        return results

    def _compute(self, feed: Dict[str, Any]) -> Dict[str, np.ndarray]:
        """The outputs for inputs by name."""
        raise NotImplementedError

    def _feed(self, rows: Sequence[Mapping[str, Sequence[int]]]) -> Dict[str, Any]:
        longest = max(len(row["input_ids"]) for row in rows)
        length = min(-(-longest // _LENGTH_STEP) * _LENGTH_STEP, self._max_length)
        positions = [row.get(POSITIONS, ()) for row in rows]
        count = max(1, *map(len, positions))
        values = {name: [_padded(row[name], length) for row in rows] for name in SEQUENCES[::2]}
        values["input_mask"] = [_padded([1] * len(row["input_ids"]), length) for row in rows]
        values[POSITIONS] = [_padded(places, count) for places in positions]
        return values


class Network(Runner):
    """A TensorFlow graph with its weights in memory."""

    def __init__(
        self,
        build: Callable[[Tensors], Tensors],
        load: Callable[[tf.Session], None],
        *,
        max_length: int,
        batch_size: int,
    ):
        """Builds the graph and loads the weights.

        Args:
          build: takes inputs int32 [B, S] named as SEQUENCES and [B, P] named POSITIONS; returns
            outputs by name, with the leading dimension B.
          load: gives the variables of a session their values.
          max_length: S of the longest batch.
          batch_size: most sequences to run together, at least 1.
        """
        super().__init__(max_length=max_length, batch_size=batch_size)
        self.graph = tf.Graph()
        with self.graph.as_default(), tf.variable_scope("", use_resource=True):
            names = (*SEQUENCES, POSITIONS)
            self._inputs = {name: tf.placeholder(tf.int32, [None, None], name) for name in names}
            outputs = build(self._inputs)
            self._session = tf.Session(graph=self.graph, config=compat.session_config())
            load(self._session)
            self.outputs = _prepared(outputs, self._inputs, session=self._session)

    def close(self) -> None:
        """Frees the weights; no call may follow."""
        self._session.close()

    def _compute(self, feed: Dict[str, Any]) -> Dict[str, np.ndarray]:
        values = {self._inputs[name]: value for name, value in feed.items()}
        return self._session.run(self.outputs, values)


def _prepared(outputs: Tensors, inputs: Tensors, *, session: tf.Session) -> Dict[str, tf.Tensor]:
    """Returns the outputs of a copy of the graph that keeps what it makes of its weights alone.

    Joined and cast weights would be made again in each call. The weights must be loaded. A graph
    with other state than variables, an order of its own, or loops is left as it is.
    """
    needed = _needed(outputs)
    types = {op.type for op in needed}
    states = {op.type for op in needed if op.op_def.is_stateful} - _OF_VARIABLES
    if states or types & _CONTROL_FLOW or any(op.control_inputs for op in needed):
        return dict(outputs)
    replaced = {tensor.name: tensor for tensor in inputs.values() if tensor.op in needed}
    of_inputs = _reached(needed, {tensor.op for tensor in inputs.values()})
    of_weights = _reached(needed, {op for op in needed if op.type == _READ}) - of_inputs
    for tensor in [tensor for op in needed if op in of_inputs for tensor in op.inputs]:
        if tensor.op in of_weights and tensor.op.type != _READ and tensor.name not in replaced:
            kept = tf.Variable(tensor, trainable=False, collections=[], use_resource=True)
            session.run(kept.initializer)
            replaced[tensor.name] = kept.read_value()
    definition = session.graph.as_graph_def()
    del definition.node[:]
    definition.node.extend(op.node_def for op in needed)
    for node in definition.node:
        node.attr.pop("_class", None)  # places beside operations that may not be in the copy
    _multiply_cubes(definition)
    copies = tf.import_graph_def(
        definition, replaced, [tensor.name for tensor in outputs.values()], name="prepared"
    )
    return dict(zip(outputs, copies))


def _multiply_cubes(definition: tf.GraphDef) -> None:
    """Writes x^3 as square times x, in place.

    TensorFlow 2's graph optimizer recognises gelu in this form only, and joins it with the product
    before it.
    """
    constants = [node for node in definition.node if node.op == "Const"]
    values = {node.name: tf.make_ndarray(node.attr["value"].tensor) for node in constants}
    threes = {name for name, value in values.items() if value.shape == () and value == 3}
    for node in list(definition.node):
        if node.op == "Pow" and node.input[1] in threes:
            square = definition.node.add(op="Square", name=f"{node.name}/square_of_cube")
            square.input.append(node.input[0])
            square.attr["T"].CopyFrom(node.attr["T"])
            node.op, node.input[:] = "Mul", [square.name, node.input[0]]


def _reached(ordered: Sequence[tf.Operation], first: Set[tf.Operation]) -> Set[tf.Operation]:
    """The first operations and all that take something from them, directly or not."""
    found = set(first)
    for op in ordered:
        if any(tensor.op in found for tensor in op.inputs):
            found.add(op)
    return found


def _needed(outputs: Tensors) -> List[tf.Operation]:
    """The operations that outputs need, each after its inputs."""
    waiting = [tensor.op for tensor in outputs.values()]
    found: Set[tf.Operation] = set()
    while waiting:
        op = waiting.pop()
        if op not in found:
            found.add(op)
            waiting += [*(tensor.op for tensor in op.inputs), *op.control_inputs]
    graph = next(iter(outputs.values())).graph
    return [op for op in graph.get_operations() if op in found]


class Exported(Runner):
    """A file of export_model in memory, in place of a graph and its weights."""

    def __init__(
        self,
        path: str,
        *,
        max_length: int,
        batch_size: int,
        precision_name: str = "float32",
        names: Optional[Mapping[str, str]] = None,
    ):
        """Loads the file; `names` gives outputs to take other names than the file's.

        Raises ValueError where the file cannot be read, has other outputs, or a precision is asked.
        """
        if precision_name != "float32":
            raise UserError(
                f"--precision={precision_name} does not apply to {path}, whose numbers are those "
                "it was exported with. Leave the flag out."
            )
        self._program = exported.open_program(path)
        self._names = names or {name: name for name in self._program.outputs}
        self.outputs = {}
        for name, source in self._names.items():
            if source not in self._program.outputs:
                raise UserError(
                    f"{path} has no {source}; it has {', '.join(sorted(self._program.outputs))}."
                )
            self.outputs[name] = self._program.outputs[source]
        longest = min(max_length, self._program.length or max_length)
        super().__init__(max_length=longest, batch_size=batch_size)

    def _compute(self, feed: Dict[str, Any]) -> Dict[str, np.ndarray]:
        found = self._program({name: np.array(feed[name], np.int32) for name in SEQUENCES})
        return {name: found[source] for name, source in self._names.items()}


def _check_finite(outputs: Mapping[str, np.ndarray]) -> None:
    for name, value in outputs.items():
        if not np.isfinite(value).all():
            raise UserError(
                f"The model gives NaN or infinity ({name}). In float16 (--precision) activations "
                "above 65,504 are infinite: choose float32 or bfloat16. In these, look at the "
                "checkpoint."
            )


def _padded(values: Sequence[int], length: int) -> List[int]:
    return [*values, *[0] * (length - len(values))]


class Model:
    """A `Runner` with what turns texts into its rows. Use it in a `with` statement."""

    network: Runner

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Frees the weights; no call may follow."""
        self.network.close()


def checked(texts: Sequence[Text]) -> Texts:
    """Returns each text, or pair of texts, as a tuple.

    Raises:
      ValueError: an item is neither; or a single text is given, which is a sequence too.
    """
    if isinstance(texts, str):
        raise UserError("A list of texts is needed, not a single text: write [text].")
    found = [(text,) if isinstance(text, str) else text for text in texts]
    for number, parts in enumerate(found, 1):
        is_sequence = isinstance(parts, (tuple, list)) and len(parts) in (1, 2)
        if not is_sequence or not all(isinstance(part, str) for part in parts):
            raise UserError(
                f"Text number {number} is {str(parts)[:60]!r}. Each must be a text or a pair of "
                "texts."
            )
    return [tuple(parts) for parts in found]


# ---------------------------------------------------------------------------------------------
# Texts from files and pipes.


def read_texts(
    settings: TextFlags, given: Sequence[str] = (), known: Sequence[str] = ()
) -> Iterator[Texts]:
    """Yields the texts of --input_file in groups that arrived together; or `given` alone.

    `known` is that of `text_lines.TextReader`.
    """
    path = settings.input_file
    reader = text_lines.TextReader(path, settings.columns, known)
    if given:
        yield [tuple(given)]
        return
    is_piped = path == text_lines.STANDARD
    with text_lines.open_input(path) as stream, progress.Progress(
        "Answering", None, unit="texts", has_bar=not is_piped
    ) as bar:
        if is_piped and sys.stdin.isatty():
            _LOGGER.info("Type a text, or two with a TAB between them, and Enter; Ctrl-D ends.")
        for lines in text_lines.read_lines(stream, path):
            texts = reader.texts(lines)
            yield texts
            bar.update(len(texts), "")


def announce(
    config: Optional[modeling.AlbertConfig], checkpoint: Optional[str], settings: TextFlags
) -> None:
    """Logs the first line of a script that answers texts: model, input, precision and device."""
    if _LOGGER.isEnabledFor(logging.INFO):
        model, place = released.model_summary(config), settings.input_file
        model += f" on {place}" if place != text_lines.STANDARD else ""
        if checkpoint and exported.is_program(checkpoint):
            runs = f"{exported.describe(checkpoint)}. Running on {devices.describe([])}."
        else:
            runs = f"{settings.precision}. {devices.training_line(1, 'Running')}"
        _LOGGER.info("%s in %s", model, runs)


def answer_texts(
    settings: TextFlags,
    answer: Callable[[Texts], Iterable[str]],
    *,
    heading: str = "",
    given: Sequence[str] = (),
    known: Sequence[str] = (),
) -> int:
    """Writes the line that `answer` gives for each text to --output_file, below a heading.

    `known` is that of `text_lines.TextReader`.

    Returns:
      The number of texts: those of --input_file, or the one text or pair `given`.

    Raises:
      ValueError: texts that cannot be read or answered.
    """
    count = 0
    with text_lines.open_output(settings.output_file) as output:
        if heading:
            output.write(f"{heading}\n")
        for texts in read_texts(settings, given, known):
            for line in answer(texts):
                output.write(f"{line}\n")
            output.flush()
            count += len(texts)
    return count


# ---------------------------------------------------------------------------------------------
# Fine-tuned models.


class Trained(NamedTuple):
    """A fine-tuned model, as its folder describes it."""

    description: Dict[str, Any]  # of the file that run_classifier, run_squad or run_race wrote
    config: Optional[modeling.AlbertConfig]  # None of a TF-Hub module that has none with it
    checkpoint: str  # path prefix of the weights, or the file of an exported model
    vocabulary: Dict[str, Optional[str]]  # path for each of model_vocabulary.KEYS

    def tokenizer(self) -> tokenization.FullTokenizer:
        """Returns the tokenizer that the model was trained with."""
        lower = self.description["do_lower_case"]
        tokenizer = tokenization.FullTokenizer(do_lower_case=lower, **self.vocabulary)
        if self.config is not None:
            tokenization.check_vocab_size(tokenizer, self.config.vocab_size)
        return tokenizer

    def encoder(self, dtype: tf.DType) -> fine_tuning_utils.Encoder:
        """Returns the encoder, to build a head on."""
        return fine_tuning_utils.Encoder(self.config, False, compute_dtype=dtype)

    def network(
        self,
        build: Callable[[Tensors, tf.DType], Tensors],
        *,
        precision_name: str,
        batch_size: int,
    ) -> Runner:
        """Loads the model; `build` makes outputs of the inputs, with products of a type."""
        sizes = {"max_length": self.description["max_seq_length"], "batch_size": batch_size}
        if exported.is_program(self.checkpoint):
            return Exported(self.checkpoint, precision_name=precision_name, **sizes)
        dtype = compat.compute_dtype(precision_name)
        return Network(
            lambda inputs: build(inputs, dtype),
            lambda session: warm_start.restore_weights(session, self.checkpoint),
            **sizes,
        )


def read_trained(
    folder: str, name: str, checkpoint: Optional[str] = None, *, types: Mapping[str, Any] = {}
) -> Trained:
    """Returns the fine-tuned model in a folder.

    Args:
      folder: output_dir of a fine-tuning script.
      name: of the file that describes the model, such as "classifier.json".
      checkpoint: for resolve_checkpoint; None takes the file of export_model, model.ckpt-best, or
        else the newest.
      types: of the task's keys in the description, for files.check_types.

    Raises:
      ValueError: the folder holds no such model, or its vocabulary is gone or has changed.
    """
    folder = os.path.expanduser(str(folder))
    _check_is_trained(folder, name)
    description = _read_description(os.path.join(folder, name), types)
    config = modeling.AlbertConfig.from_json_file(os.path.join(folder, released.CONFIG_NAME))
    vocabulary = model_vocabulary.recorded_files(folder, description)
    program = None if checkpoint else exported.find(folder)
    weights = program or warm_start.resolve_checkpoint(checkpoint or folder)
    return Trained(description, config, weights, vocabulary)


def _check_is_trained(folder: str, name: str) -> None:
    """Refuses a folder without the file that describes a fine-tuned model."""
    if tf.io.gfile.exists(os.path.join(folder, name)):
        return
    found = f"model_dir {folder!r} "
    if not tf.io.gfile.isdir(folder):
        found += f"does not exist.{released.folders_like(folder)}"
    else:
        _, other = model_vocabulary.read_description(folder)
        found += f"holds no fine-tuned model of this kind: it has no {name}"
        found += f", but {other}, which describes another." if other else "."
    raise UserError(f"{found} Give the --output_dir of a training.")


def _read_description(path: str, types: Mapping[str, Any]) -> Dict[str, Any]:
    usual = {"task": str, "max_seq_length": int, "do_lower_case": bool, "hub_module": (str, None)}
    try:
        version = files.read_json_object(path).get("format_version")
        if version != FORMAT_VERSION:
            raise UserError(f"format_version is {version} and should be {FORMAT_VERSION}")
        return files.read_json_object(path, {**model_vocabulary.TYPES, **usual, **types})
    except ValueError as error:
        raise UserError(
            f"{path} does not describe a fine-tuned model of this version of albert ({error}). "
            "Copy the folder again, or use the version that wrote it."
        ) from error


# ---------------------------------------------------------------------------------------------
# Pretrained models.


class Source(NamedTuple):
    """A pretrained model."""

    config: modeling.AlbertConfig
    checkpoint: str  # path prefix of a checkpoint, or the file of an exported model
    tokenizer: tokenization.FullTokenizer
    max_seq_length: int  # longer texts are cut


def find_source(settings: EncoderFlags) -> Source:
    """Returns the model that the flags of a script name.

    Raises:
      ValueError: none, or files that do not belong together.
    """
    settings = released.resolve_model_files(settings)
    config = fine_tuning_utils.load_config(settings)
    vocabulary = fine_tuning_utils.load_vocabulary(settings, config)
    checkpoint = settings.init_checkpoint
    if not checkpoint:
        raise UserError(
            "No weights: give --init_checkpoint or --albert_dir (or --albert_hub_module_handle)."
        )
    if not exported.is_program(checkpoint):
        checkpoint = warm_start.resolve_checkpoint(checkpoint)
    longest = settings.max_seq_length or config.max_position_embeddings
    return Source(config, checkpoint, vocabulary.tokenizer, longest)


def folder_source(place: str, checkpoint: Optional[str] = None) -> Source:
    """Returns the model of a folder, or the released one of a name; raises ValueError as above."""
    program, length = None if checkpoint else exported.find(place), None
    if program:
        checkpoint, length = program, exported.max_seq_length(program)
    return find_source(
        EncoderFlags(albert_dir=place, init_checkpoint=checkpoint, max_seq_length=length)
    )


def _albert(
    config: modeling.AlbertConfig,
    inputs: Tensors,
    *,
    is_training: bool = False,
    dtype: tf.DType = tf.float32,
) -> modeling.AlbertModel:
    return modeling.AlbertModel(
        config,
        is_training,
        inputs["input_ids"],
        input_mask=inputs["input_mask"],
        token_type_ids=inputs["segment_ids"],
        scope="bert",
        compute_dtype=dtype,
    )


class _Pretrained(Model):
    """A pretrained model; subclasses say in `_build` what is computed with it."""

    def __init__(self, source: Source, *, precision_name: str, batch_size: int):
        self.source = source
        if exported.is_program(source.checkpoint) and not isinstance(self, Embedder):
            raise UserError(
                f"{source.checkpoint} gives vectors of texts only. Take the model that it was "
                "exported from."
            )
        self._dtype = compat.compute_dtype(precision_name)
        self._first, self._separator, self._mask = source.tokenizer.required_ids(
            ["[CLS]", "[SEP]", MASK]
        )
        sizes = {"max_length": source.max_seq_length, "batch_size": batch_size}
        self.network = self._network(precision_name, sizes)

    def _network(self, precision_name: str, sizes: Dict[str, int]) -> Runner:
        return Network(self._build, self._load, **sizes)

    def _build(self, inputs: Tensors) -> Tensors:
        raise NotImplementedError

    def _load(self, session: tf.Session) -> None:
        warm_start.restore_weights(session, self.source.checkpoint)

    def _row(self, segments: Sequence[Sequence[int]]) -> Row:
        """[CLS] a [SEP], or [CLS] a [SEP] b [SEP], cut at the end to the longest length."""
        ids, types = [self._first], [0]
        for number, segment in enumerate(segments):
            ids += [*segment, self._separator]
            types += [number] * (len(segment) + 1)
        longest = self.source.max_seq_length
        if len(ids) > longest:
            ids = [*ids[: longest - 1], self._separator]
        return {"input_ids": ids, "segment_ids": types[:longest]}


class Embedder(_Pretrained):
    """Gives texts, or pairs of texts, their vectors."""

    def __init__(
        self,
        source: Source,
        *,
        pooling: str = "pooled",
        layer: int = LAST_LAYER,
        precision_name: str = "float32",
        batch_size: int = 32,
    ):
        """Loads the model.

        Args:
          source: the model.
          pooling: "pooled", what classifiers build on (of the last layer); "mean", over the tokens
            of the text without [CLS] and [SEP]; "first", the vector of [CLS].
          layer: 1 is the first layer and -1 the last.
          precision_name: "float32", or "bfloat16" or "float16" where the device is faster with it.
          batch_size: most texts to run together.

        Raises:
          ValueError: an unknown pooling or layer, or a model that does not fit.
        """
        if pooling not in POOLINGS:
            raise UserError(f"Unknown pooling {pooling!r}. There are: {', '.join(POOLINGS)}.")
        is_fixed = exported.is_program(source.checkpoint)
        if layer != LAST_LAYER and (pooling == "pooled" or is_fixed):
            reason = "pooled vectors are" if pooling == "pooled" else "the model's file gives"
            raise UserError(
                f"layer {layer} cannot be taken: {reason} of the last layer only. Use mean or "
                "first, with a checkpoint."
            )
        self._pooling, self._layer = pooling, layer
        super().__init__(source, precision_name=precision_name, batch_size=batch_size)

    def embed(self, texts: Sequence[Text]) -> np.ndarray:
        """Returns the vectors, float32 [N, H], in the order of the texts.

        Each is a text or a pair, else ValueError; what is too long is cut at its end.
        """
        parts = checked(texts)
        ids = iter(
            self.source.tokenizer.encode_ids_batch([part for item in parts for part in item])
        )
        found = self.network.run([self._row([next(ids) for _ in item]) for item in parts])
        vectors = [row["vector"] for row in found]
        return np.array(vectors, np.float32).reshape([len(found), self.width])

    predict = embed  # the name that all models have

    @property
    def width(self) -> int:
        """Returns H."""
        return int(self.network.outputs["vector"].shape[-1])

    def _network(self, precision_name: str, sizes: Dict[str, int]) -> Runner:
        if not exported.is_program(self.source.checkpoint):
            return super()._network(precision_name, sizes)
        names = {"vector": f"{self._pooling}_output"}
        path = self.source.checkpoint
        return Exported(path, precision_name=precision_name, names=names, **sizes)

    def _build(self, inputs: Tensors) -> Tensors:
        model = _albert(self.source.config, inputs, dtype=self._dtype)
        pooled, sequence = model.get_pooled_output(), self._chosen_layer(model)
        if self._pooling == "mean":
            return {"vector": _mean(sequence, inputs)}
        return {"vector": pooled if self._pooling == "pooled" else sequence[:, 0]}

    def _chosen_layer(self, model: modeling.AlbertModel) -> tf.Tensor:
        layers = model.get_all_encoder_layers()
        if not 1 <= abs(self._layer) <= len(layers):
            raise UserError(
                f"There is no layer {self._layer}; the model has {len(layers)}, counted from 1, or "
                "from -1 backwards."
            )
        return layers[self._layer - 1 if self._layer > 0 else self._layer]


def encoder_outputs(config: modeling.AlbertConfig, inputs: Tensors) -> Dict[str, tf.Tensor]:
    """Builds the encoder; returns pooled_output and mean_output [B, H], sequence_output [B, S, H].

    They are float32, of inputs int32 [B, S] named as SEQUENCES; the mean is that of `Embedder`.
    """
    model = _albert(config, inputs)
    sequence = model.get_sequence_output()
    return {
        "pooled_output": model.get_pooled_output(),
        "mean_output": _mean(sequence, inputs),
        "sequence_output": sequence,
    }


def _mean(sequence: tf.Tensor, inputs: Tensors) -> tf.Tensor:
    """The mean [B, H] over the positions of a sequence [B, S, H] that hold tokens of the text.

    [CLS] is the first position, [SEP] the last one in use and, of pairs, the last of segment 0.
    """
    used = tf.cast(inputs["input_mask"], tf.float32)
    segment = tf.cast(inputs["segment_ids"], tf.float32)
    following = tf.pad(used[:, 1:], [[0, 0], [0, 1]])  # 0 at the last position in use
    changes = tf.pad(segment[:, 1:], [[0, 0], [0, 1]]) - segment
    is_border = tf.maximum(changes, 0.0)  # 1 where segment 0 ends
    weights = used * following * (1.0 - is_border)
    weights = tf.concat([tf.zeros_like(weights[:, :1]), weights[:, 1:]], axis=1)
    total = tf.maximum(tf.reduce_sum(weights, axis=1, keepdims=True), 1.0)
    # No product of matrices: TensorFlow Lite of 1.15 has none for batches.
    return tf.reduce_sum(tf.expand_dims(weights, -1) * sequence, axis=1) / total


class Proposal(NamedTuple):
    """A token of the vocabulary in place of [MASK]; `word` is it without the sign of a space."""

    word: str
    piece: str
    probability: float


class MaskFiller(_Pretrained):
    """Proposes words for each [MASK] in a text; several are filled independently."""

    def __init__(
        self,
        source: Source,
        *,
        count: int = 5,
        precision_name: str = "float32",
        batch_size: int = 32,
    ):
        """Loads the model to give `count` proposals; ValueError if it has no head for them."""
        self._count = count
        super().__init__(source, precision_name=precision_name, batch_size=batch_size)

    def fill(self, texts: Sequence[str]) -> List[List[List[Proposal]]]:
        """Returns for each text, for each [MASK] in it, the most probable words, the best first.

        Raises:
          ValueError: a text without [MASK], or one that is too long for the model.
        """
        rows = [self._masked_row(text) for text in texts]
        return [
            [self._proposals(found, number) for number in range(len(row[POSITIONS]))]
            for row, found in zip(rows, self.network.run(rows))
        ]

    def _build(self, inputs: Tensors) -> Tensors:
        model = _albert(self.source.config, inputs, dtype=self._dtype)
        return self._best(_word_logits(self.source.config, model, inputs[POSITIONS]), inputs)

    def _best(self, logits: tf.Tensor, inputs: Tensors) -> Dict[str, tf.Tensor]:
        """The most probable tokens and their probabilities, [B, P, count]."""
        count = min(self._count, int(logits.shape[-1]))
        shares, ids = tf.nn.top_k(tf.nn.softmax(logits), k=count)
        shape = [-1, tf.shape(inputs[POSITIONS])[1], count]
        return {"ids": tf.reshape(ids, shape), "shares": tf.reshape(shares, shape)}

    def _masked_row(self, text: str) -> Row:
        first, *others = text.split(MASK)
        if not others:
            raise UserError(f"{text[:60]!r} has no {MASK}. Write it where a word is missing.")
        ids = self._ids(first)
        for part in others:
            ids += [self._mask, *self._ids_after_mask(part)]
        longest = self.source.max_seq_length - 2
        if len(ids) > longest:
            raise UserError(
                f"{text[:60]!r} has {len(ids)} tokens; the model takes {longest}. Shorten the "
                "text, or raise max_seq_length."
            )
        row = self._row([ids])
        row[POSITIONS] = [
            place for place, token in enumerate(row["input_ids"]) if token == self._mask
        ]
        return row

    def _ids(self, text: str) -> List[int]:
        return list(self.source.tokenizer.encode_ids_batch([text])[0])

    def _ids_after_mask(self, part: str) -> List[int]:
        """Punctuation that follows [MASK] without a space has no token for the space either."""
        ids, space = self._ids(part), self.source.tokenizer.vocab.get(_SPACE)
        return ids[1:] if ids and ids[0] == space and not part[:1].isspace() else ids

    def _proposals(self, found: Mapping[str, np.ndarray], number: int) -> List[Proposal]:
        pieces = self.source.tokenizer.convert_ids_to_tokens(found["ids"][number].tolist())
        words = (piece.replace(_SPACE, "") or piece for piece in pieces)
        return [Proposal(*row) for row in zip(words, pieces, found["shares"][number].tolist())]


class OrderJudge(_Pretrained):
    """Tells in which order two texts stand; the model needs its head for sentence order."""

    def __init__(self, source: Source):
        """Loads the model; ValueError if it has no head for this."""
        super().__init__(source, precision_name="float32", batch_size=32)

    def in_order(self, texts: Sequence[Sequence[str]]) -> List[float]:
        """Returns for each pair of texts the probability that the second follows the first."""
        encode = self.source.tokenizer.encode_ids_batch
        found = self.network.run([self._row(encode(list(pair))) for pair in texts])
        return [float(row["order"][0]) for row in found]

    def _build(self, inputs: Tensors) -> Tensors:
        pooled = _albert(self.source.config, inputs).get_pooled_output()
        logits = modeling.sentence_order_logits(self.source.config, pooled)
        return {"order": tf.nn.softmax(logits)}  # [B, 2]


def has_order_head(source: Source) -> bool:
    """Returns whether OrderJudge can take a model: fine-tuning leaves the head out."""
    with checkpoint_files.explained(source.checkpoint):
        names = [name for name, _ in tf.train.list_variables(source.checkpoint)]
    return any(name.startswith("cls/seq_relationship/") for name in names)


def pretraining_outputs(
    config: modeling.AlbertConfig,
    inputs: Tensors,
    is_training: bool,
    *,
    with_attention: bool = False,
) -> Dict[str, tf.Tensor]:
    """Builds the encoder and both pretraining heads; returns all outputs, float32, by name.

    Inputs are int32 [B, S] named as SEQUENCES and [B, P] named POSITIONS.
    """
    model = _albert(config, inputs, is_training=is_training)
    pooled = model.get_pooled_output()
    words = _word_logits(config, model, inputs[POSITIONS])
    outputs = {
        "pooled_output": pooled,  # [B, H]
        "sequence_output": model.get_sequence_output(),  # [B, S, H]
        "sop_log_probs": tf.nn.log_softmax(
            modeling.sentence_order_logits(config, pooled)
        ),  # [B, 2]
        "mlm_logits": words,  # [B * P, V]
    }
    if with_attention:  # [B, L, N, S, S] of L blocks
        outputs["attention_probs"] = tf.stack(model.get_attention_probs(), axis=1)
    return outputs


def _word_logits(
    config: modeling.AlbertConfig, model: modeling.AlbertModel, positions: tf.Tensor
) -> tf.Tensor:
    return modeling.masked_lm_logits(
        config,
        model.get_sequence_output(),
        model.get_embedding_table(),
        positions=positions,
        projection=model.get_embedding_projection(),
    )
