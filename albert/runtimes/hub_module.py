# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads and writes TF-Hub modules of the TensorFlow 1 format, on every TensorFlow.

Such a module is a SavedModel with a meta graph for each set of tags, and a file that names the
format. tensorflow-hub 0.16 no longer has the class hub.Module for it, but still finds and downloads
modules.
"""

import contextlib
import os
import re
import warnings
import zlib
from typing import (
    Any,
    Callable,
    Container,
    Dict,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
)

import tensorflow.compat.v1 as tf
from google.protobuf import message as protobuf
from tensorflow.core.framework import variable_pb2
from tensorflow.core.protobuf import control_flow_pb2, meta_graph_pb2, saved_model_pb2
from tensorflow.python.framework import meta_graph as meta_graph_lib

from albert.util.errors import UserError

Tensors = Mapping[str, tf.Tensor]
Signatures = Mapping[str, Tuple[Tensors, Tensors]]  # name -> (inputs, outputs)

_FORMAT_FILE = "tfhub_module.pb"
_FORMAT = b"\x08\x03"  # field 1, the format: 3, a SavedModel
_VARIABLE_OPS = ("VariableV2", "Variable", "VarHandleOp")
_ASSET_PATH = b"SAVEDMODEL-ASSET"  # in a module, in place of the path that its writer read
_CONTEXTS = {
    tf.GraphKeys.COND_CONTEXT: control_flow_pb2.CondContextDef,
    tf.GraphKeys.WHILE_CONTEXT: control_flow_pb2.WhileContextDef,
}


class Module:
    """A module in the current graph, as hub.Module makes it.

    Variables and tables are made at once, operations at each call. Neither losses of regularization
    nor updates such as those of batch normalization are read.

    Attributes:
      variable_map: the variables by their names in the module; in the graph, these follow the
        current variable scope and `name`, which becomes name_1 and so on for further modules.
    """

    def __init__(
        self,
        spec: str,
        trainable: bool = False,
        name: str = "module",
        *,
        tags: Optional[Iterable[str]] = None,
    ):
        """Args:
          spec: folder or address; where modules are kept, TFHUB_CACHE_DIR says.
          trainable: whether the variables are trained that the module says to be trainable.
          name: of the scopes of its variables and operations.
          tags: of the meta graph; none for prediction.

        Raises:
          ValueError: there is no module, none with these tags, or a damaged one.
        """
        self._handle = spec
        self._path = _resolve(spec)
        self._meta_graph = _read(spec, self._path, frozenset(tags or ()))
        self._name = name
        self.variable_map: Dict[str, tf.Variable] = self._variables(trainable)
        initializers = self._meta_graph.collection_def["table_initializer"].node_list.value
        if initializers:
            with tf.control_dependencies(None):
                for made in self._import(initializers, {}, name):
                    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, made)

    def __call__(
        self,
        inputs: Optional[Tensors] = None,
        signature: Optional[str] = None,
        as_dict: bool = False,
    ) -> Any:
        """Returns the outputs of a signature by name, or without as_dict the one called "default".

        Args:
          inputs: tensors, or what becomes tensors, by name.
          signature: by default "default".
          as_dict: whether all outputs are wanted.

        Raises:
          ValueError: no such signature, or inputs that are not its own.
        """
        signature = signature or "default"
        signatures = self._meta_graph.signature_def
        if signature not in signatures:
            has = ", ".join(sorted(signatures)) or "none"
            raise UserError(
                f"The hub module {self._handle} has no signature {signature!r}; it has {has}."
            )
        definition = signatures[signature]
        given, wanted = sorted(inputs or ()), sorted(definition.inputs)
        if given != wanted:
            raise UserError(
                f"The signature {signature!r} of the hub module {self._handle} reads "
                f"{', '.join(wanted) or 'nothing'}, not {', '.join(given) or 'nothing'}."
            )
        fed = {
            info.name: tf.convert_to_tensor(inputs[key], info.dtype)
            for key, info in definition.inputs.items()
        }
        keys = sorted(definition.outputs)
        names = [definition.outputs[key].name for key in keys]
        scope = f"{self._name}_apply_{signature.replace(':', '_')}"
        outputs = dict(zip(keys, self._import(names, fed, scope)))
        return outputs if as_dict else outputs["default"]

    def _variables(self, trainable: bool) -> Dict[str, tf.Variable]:
        """The module's variables, whose first values are read from its files."""
        collections = self._meta_graph.collection_def
        trained = _definitions(collections["trainable_variables"]) if trainable else {}
        nodes = {node.name: node.attr for node in self._meta_graph.graph_def.node}
        with tf.variable_scope(None, self._name, auxiliary_name_scope=False) as scope:
            pass
        # Nothing but its name is of the scope around, nor new variables refused where it is reused.
        reuse = tf.AUTO_REUSE if scope.reuse else False
        own = tf.VariableScope(reuse=reuse, name=scope.name)
        definitions = _definitions(collections["variables"])
        initializers = self._initializers(definitions)
        with self._named(), tf.variable_scope(own, auxiliary_name_scope=False):
            return {
                key: tf.get_variable(
                    key,
                    tf.TensorShape(nodes[key]["shape"].shape),
                    tf.as_dtype(nodes[key]["dtype"].type),
                    initializer=initializers[key],
                    trainable=key in trained,
                    use_resource=True,
                )
                for key in definitions
            }

    def _initializers(self, definitions: Mapping[str, variable_pb2.VariableDef]):
        """What reads the first value of each variable."""
        weights = os.path.join(self._path, "variables", "variables")
        stored = {}
        if definitions:
            try:
                reader = tf.train.load_checkpoint(weights)
                stored = reader.get_variable_to_shape_map()
                for name in stored:  # or what is damaged is told in the middle of a training
                    reader.get_tensor(name)
            except (ValueError, IndexError, RuntimeError, tf.errors.OpError) as error:
                raise UserError(
                    f"The hub module {self._handle} has no readable values in {weights}: {error}. "
                    f"{_advice(self._handle, self._path)}"
                ) from error
        initializers = {}
        for key, definition in definitions.items():
            name, part = key, ""
            if definition.save_slice_info_def.full_name:  # the file has the parts as one
                name, described = key.rpartition("/")[0], definition.save_slice_info_def
                part = tf.Variable.SaveSliceInfo(save_slice_info_def=described).spec
            if name not in stored:
                raise UserError(
                    f"The hub module {self._handle} has no values of {name} in {weights}."
                )
            initializers[key] = _restore(weights, name, part)
        return initializers

    def _import(self, names: Sequence[str], fed: Tensors, scope: str) -> List[Any]:
        """Adds to the graph what computes these tensors or operations, and returns them."""
        with self._named():
            meta_graph = _part(self._meta_graph, names)
            present = {node.name for node in meta_graph.graph_def.node}
            fed = {name: fed[name] for name in fed if name.split(":")[0] in present}
            fed.update(self._assets(present))
            for node in meta_graph.graph_def.node:
                node.attr.pop("_class", None)  # places are those of the variables of this graph
                if node.op in _VARIABLE_OPS:
                    variable = self.variable_map[node.name]
                    is_handle = node.op == "VarHandleOp"
                    value = variable.handle if is_handle else variable.read_value()
                    fed[f"{node.name}:0"] = value
                    node.op = "Placeholder"  # it stays, because contexts may name it
                    node.attr.clear()
                    node.attr["dtype"].type = value.dtype.as_datatype_enum
            replaced = {f"^{name.split(':')[0]}" for name in fed}
            for node in meta_graph.graph_def.node:
                for control in replaced.intersection(node.input):
                    node.input.remove(control)  # a placeholder that would have to be fed
            _, made = meta_graph_lib.import_scoped_meta_graph_with_return_elements(
                meta_graph,
                clear_devices=True,
                import_scope=scope,
                input_map=fed,
                return_elements=list(names),
            )
        return [fed.get(name, one) for name, one in zip(names, made)]

    def _assets(self, nodes: Container[str]) -> Dict[str, tf.Tensor]:
        """The paths of the module's files, where they are now, by the tensors that name them."""
        return {
            asset.tensor_info.name: tf.constant(os.path.join(self._path, "assets", asset.filename))
            for asset in _asset_files(self._meta_graph)
            if asset.tensor_info.name.split(":")[0] in nodes
        }

    @contextlib.contextmanager
    def _named(self):
        """Names the module where its graph is not whole or does not fit this TensorFlow."""
        try:
            yield
        except (KeyError, ValueError, tf.errors.OpError) as error:
            raise UserError(
                f"The hub module {self._handle} cannot be used with TensorFlow {tf.__version__}: "
                f"{error}"
            ) from error


def _restore(weights: str, name: str, part: str) -> Callable:
    """An initializer that reads a part of a stored tensor, or with "" all of it."""

    def restore(shape, dtype=None, partition_info=None):
        del partition_info
        with tf.device("/cpu:0"):
            read = tf.raw_ops.RestoreV2(
                prefix=weights, tensor_names=[name], shape_and_slices=[part], dtypes=[dtype]
            )
        return tf.reshape(read[0], shape)

    return restore


def _resolve(handle: str) -> str:
    """The folder of a module, which is downloaded if need be."""
    if tf.io.gfile.isdir(handle):
        return handle
    if "://" not in handle:
        raise UserError(f"There is no hub module {handle}: it is not a folder.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it uses deprecated modules
        import tensorflow_hub as hub  # takes long to import

    try:
        return hub.resolve(handle)
    except (OSError, EOFError, zlib.error, tf.errors.OpError) as error:
        raise UserError(f"The hub module {handle} cannot be fetched: {error}") from error


def _advice(handle: str, path: str) -> str:
    """What to do where files of a module are missing or damaged."""
    if "://" in handle and handle != path:
        return f"Remove {path} and run the same command again, which fetches it anew."
    return "Name another folder, or copy the module again."


def _read(handle: str, path: str, tags: frozenset) -> meta_graph_pb2.MetaGraphDef:
    """The meta graph with these tags."""
    file = os.path.join(path, "saved_model.pb")
    if not tf.io.gfile.exists(file):
        raise UserError(
            f"{handle} is not a hub module: {path} has no saved_model.pb. {_advice(handle, path)}"
        )
    if not tf.io.gfile.exists(os.path.join(path, _FORMAT_FILE)):
        raise UserError(
            f"{handle} is a SavedModel, but not a hub module of the TensorFlow 1 format, which has "
            f"a file {_FORMAT_FILE}. Take one that export_to_tfhub --format=tf1 wrote, or start "
            "from a checkpoint (--albert_dir)."
        )
    try:
        with tf.io.gfile.GFile(file, "rb") as stream:
            saved_model = saved_model_pb2.SavedModel.FromString(stream.read())
    except protobuf.DecodeError as error:
        raise UserError(f"{file} is damaged ({error}). {_advice(handle, path)}") from error
    found = [frozenset(meta_graph.meta_info_def.tags) for meta_graph in saved_model.meta_graphs]
    if tags not in found:
        there = ", ".join(str(sorted(one)) for one in found) or "none"
        raise UserError(
            f"The hub module {handle} has no graph with the tags {sorted(tags)}; it has {there}."
        )
    return saved_model.meta_graphs[found.index(tags)]


def _definitions(collection) -> Dict[str, variable_pb2.VariableDef]:
    """The variables of a collection by name."""
    definitions = map(variable_pb2.VariableDef.FromString, collection.bytes_list.value)
    return {definition.variable_name.split(":")[0]: definition for definition in definitions}


def _asset_files(meta_graph: meta_graph_pb2.MetaGraphDef) -> Iterable[meta_graph_pb2.AssetFileDef]:
    for packed in meta_graph.collection_def["saved_model_assets"].any_list.value:
        asset = meta_graph_pb2.AssetFileDef()
        packed.Unpack(asset)
        yield asset


def _part(
    meta_graph: meta_graph_pb2.MetaGraphDef, names: Sequence[str]
) -> meta_graph_pb2.MetaGraphDef:
    """What computes these tensors or operations, and the contexts of its loops and branches.

    Loops have gradients by their contexts alone, which name operations that nothing else needs.
    """
    everything = {node.name for node in meta_graph.graph_def.node}
    contexts = [
        (key, kind.FromString(value))
        for key, kind in _CONTEXTS.items()
        for value in meta_graph.collection_def[key].bytes_list.value
    ]
    needed = {name.split(":")[0] for name in names}
    part = meta_graph_pb2.MetaGraphDef(meta_info_def=meta_graph.meta_info_def)
    while True:
        graph_def = tf.graph_util.extract_sub_graph(meta_graph.graph_def, sorted(needed))
        present = {node.name for node in graph_def.node}
        entered = [(key, context) for key, context in contexts if _own(context) & present]
        named = {name for _, context in entered for name in re.findall(r'"(.+?)"', str(context))}
        needed |= {name.split(":")[0] for name in named} & everything
        if needed <= present:
            break
    part.graph_def.CopyFrom(graph_def)
    for key, context in entered:
        part.collection_def[key].bytes_list.value.append(context.SerializeToString())
    return part


def _own(context) -> set:
    """The operations inside a context."""
    values = context.values_def
    return {name.split(":")[0] for name in set(values.values) - set(values.external_values)}


def write(
    path: str, build: Callable[[bool], Signatures], load: Callable[[tf.Session], None]
) -> None:
    """Writes a module with a graph for prediction and one, with the tag "train", for training.

    Args:
      path: the new folder, which may be there already and be empty.
      build: is_training -> the signatures of the graph that it makes; files that are to lie in the
        module are in the collection ASSET_FILEPATHS.
      load: gives the variables in a session their values.
    """
    builder = tf.saved_model.Builder(path)
    for is_training, tags in ((False, []), (True, ["train"])):
        with tf.Graph().as_default(), tf.Session() as session:
            signatures = {
                name: tf.saved_model.build_signature_def(_infos(inputs), _infos(outputs))
                for name, (inputs, outputs) in build(is_training).items()
            }
            files = tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)
            # TensorFlow 1.15's own saver would write a random number into the graph.
            options = {"strip_default_attrs": True, "saver": tf.train.Saver(allow_empty=True)}
            if is_training:
                builder.add_meta_graph(tags, signatures, files, **options)
            else:
                load(session)
                builder.add_meta_graph_and_variables(session, tags, signatures, files, **options)
    _forget_paths(builder.save())
    with tf.io.gfile.GFile(os.path.join(path, _FORMAT_FILE), "wb") as stream:
        stream.write(_FORMAT)


def _infos(tensors: Tensors) -> Dict[str, meta_graph_pb2.TensorInfo]:
    return {name: tf.saved_model.build_tensor_info(tensor) for name, tensor in tensors.items()}


def _forget_paths(file: str) -> None:
    """Removes the paths of this machine that a SavedModel names its assets by."""
    with tf.io.gfile.GFile(file, "rb") as stream:
        saved_model = saved_model_pb2.SavedModel.FromString(stream.read())
    for meta_graph in saved_model.meta_graphs:
        names = {asset.tensor_info.name.split(":")[0] for asset in _asset_files(meta_graph)}
        for node in meta_graph.graph_def.node:
            if node.name in names:
                node.attr["value"].tensor.string_val[:] = [_ASSET_PATH]
    with tf.io.gfile.GFile(file, "wb") as stream:
        stream.write(saved_model.SerializeToString(deterministic=True))
