# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads and writes TF-Hub modules of the TensorFlow 1 format, on every TensorFlow.

Such a module is a SavedModel with a meta graph for each set of tags, and a file that names the
format. tensorflow-hub 0.16 no longer has the class hub.Module for it, but still finds and downloads
modules.
"""

import os
from typing import Callable, Dict, Iterable, Mapping, Optional

import tensorflow.compat.v1 as tf
from tensorflow.core.framework import variable_pb2
from tensorflow.core.protobuf import meta_graph_pb2, saved_model_pb2

Tensors = Mapping[str, tf.Tensor]
# signature -> (inputs, outputs)
Signatures = Mapping[str, "tuple[Tensors, Tensors]"]

_FORMAT_FILE = "tfhub_module.pb"
_FORMAT = b"\x08\x03"  # field 1, the format: 3, a SavedModel
_VARIABLE_OPS = ("VariableV2", "Variable", "VarHandleOp")


class Module:
    """A module in the current graph: its variables are made at once, its operations at each call.

    The variables are called `name`/NAME IN THE MODULE; their first values are the module's.
    """

    def __init__(
        self,
        handle: str,
        *,
        tags: Optional[Iterable[str]] = None,
        trainable: bool = False,
        name: str = "module",
    ):
        """Args:
          handle: folder or address; where modules are kept, TFHUB_CACHE_DIR says.
          tags: of the meta graph.
          trainable: whether the variables are trained that the module says to be trainable.
          name: the scope of variables and operations.

        Raises:
          ValueError: there is no module, or none with these tags.
        """
        self._path = _resolve(handle)
        self._meta_graph = _read(self._path, frozenset(tags or ()))
        self._name = name
        collections = self._meta_graph.collection_def
        listed = _variables(collections["trainable_variables"]) if trainable else {}
        nodes = {node.name: node for node in self._meta_graph.graph_def.node}
        self.variable_map: Dict[str, tf.Variable] = {}
        for key in _variables(collections["variables"]):
            attributes = nodes[key].attr
            self.variable_map[key] = tf.get_variable(
                f"{name}/{key}",
                shape=tf.TensorShape(attributes["shape"].shape),
                dtype=tf.as_dtype(attributes["dtype"].type),
                initializer=tf.zeros_initializer(),
                trainable=key in listed,
                use_resource=True,
            )
        if self.variable_map:
            weights = os.path.join(self._path, "variables", "variables")
            tf.train.init_from_checkpoint(weights, self.variable_map)

    def __call__(
        self, inputs: Optional[Tensors] = None, signature: str = "default", as_dict: bool = True
    ) -> Dict[str, tf.Tensor]:
        """Returns a signature's outputs by name."""
        del as_dict
        definition = self._meta_graph.signature_def[signature]
        outputs = {key: info.name for key, info in definition.outputs.items()}
        graph_def = tf.graph_util.extract_sub_graph(
            self._meta_graph.graph_def, sorted({name.split(":")[0] for name in outputs.values()})
        )
        fed = {definition.inputs[key].name: tensor for key, tensor in (inputs or {}).items()}
        kept = []
        for node in graph_def.node:
            if node.op in _VARIABLE_OPS:
                variable = self.variable_map[node.name]
                is_handle = node.op == "VarHandleOp"
                fed[f"{node.name}:0"] = variable.handle if is_handle else variable.read_value()
            elif f"{node.name}:0" not in fed:
                node.attr.pop("_class", None)  # the place of a variable, which is elsewhere now
                kept.append(node)
        fed.update(self._assets({node.name for node in kept}))
        del graph_def.node[:]
        graph_def.node.extend(kept)
        tensors = tf.import_graph_def(
            graph_def,
            fed,
            [outputs[key] for key in outputs],
            name=f"{self._name}_apply_{signature}",
        )
        return dict(zip(outputs, tensors))

    def _assets(self, nodes: Iterable[str]) -> Dict[str, tf.Tensor]:
        """The paths of the module's files, where they are now, by the tensors that name them."""
        paths = {}
        for packed in self._meta_graph.collection_def["saved_model_assets"].any_list.value:
            asset = meta_graph_pb2.AssetFileDef()
            packed.Unpack(asset)
            name = asset.tensor_info.name
            if name.split(":")[0] in nodes:
                paths[name] = tf.constant(os.path.join(self._path, "assets", asset.filename))
        return paths


def _resolve(handle: str) -> str:
    import tensorflow_hub as hub  # takes long to import

    return hub.resolve(handle)


def _read(path: str, tags: frozenset) -> meta_graph_pb2.MetaGraphDef:
    """The meta graph with these tags."""
    file = os.path.join(path, "saved_model.pb")
    saved_model = saved_model_pb2.SavedModel()
    with tf.io.gfile.GFile(file, "rb") as stream:
        saved_model.ParseFromString(stream.read())
    for meta_graph in saved_model.meta_graphs:
        if frozenset(meta_graph.meta_info_def.tags) == tags:
            return meta_graph
    found = ", ".join(str(sorted(graph.meta_info_def.tags)) for graph in saved_model.meta_graphs)
    raise ValueError(f"{file} has no graph with the tags {sorted(tags)}, but {found}.")


def _variables(collection) -> Dict[str, variable_pb2.VariableDef]:
    """The variables of a collection by name."""
    definitions = map(variable_pb2.VariableDef.FromString, collection.bytes_list.value)
    return {definition.variable_name.split(":")[0]: definition for definition in definitions}


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
            if is_training:
                builder.add_meta_graph(tags, signatures, files, strip_default_attrs=True)
            else:
                load(session)
                builder.add_meta_graph_and_variables(
                    session, tags, signatures, files, strip_default_attrs=True
                )
    builder.save()
    with tf.io.gfile.GFile(os.path.join(path, _FORMAT_FILE), "wb") as stream:
        stream.write(_FORMAT)


def _infos(tensors: Tensors) -> Dict[str, meta_graph_pb2.TensorInfo]:
    return {name: tf.saved_model.build_tensor_info(tensor) for name, tensor in tensors.items()}
