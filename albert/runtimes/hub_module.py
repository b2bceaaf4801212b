# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads TF-Hub modules of the TensorFlow 1 format as model folders.

assets/ has the configuration and the vocabulary. variables/ is a checkpoint with the usual variable
names. The module's own graph is not used.
"""

import os
from typing import NamedTuple

import tensorflow.compat.v1 as tf
from google.protobuf import message as protobuf
from tensorflow.core.protobuf import meta_graph_pb2, saved_model_pb2

from albert.util import UserError, files

VOCABULARY_SIGNATURE = "tokenization_info"


class HubModule(NamedTuple):
    """The model in a module."""

    config_file: str
    checkpoint: str  # prefix
    vocab_file: str  # SentencePiece model or list of tokens
    do_lower_case: bool


def read(handle: str) -> HubModule:
    """Returns the model in a module.

    Args:
      handle: a folder or an address. TFHUB_CACHE_DIR sets the folder for downloads.

    Raises:
      UserError: there is no module, or it is not an ALBERT in the TensorFlow 1 format.
    """
    folder = _fetch(handle)
    path = os.path.join(folder, "saved_model.pb")
    try:
        graph = saved_model_pb2.SavedModel.FromString(files.read_bytes(path)).meta_graphs[0]
        outputs = graph.signature_def[VOCABULARY_SIGNATURE].outputs
        nodes = {f"{node.name}:0": node for node in graph.graph_def.node}
        lower = nodes[outputs["do_lower_case"].name].attr["value"].tensor
        packed = graph.collection_def["saved_model_assets"].any_list.value
        assets = [meta_graph_pb2.AssetFileDef.FromString(asset.value) for asset in packed]
        names = {asset.tensor_info.name: asset.filename for asset in assets}
        vocabulary = names[outputs["vocab_file"].name]
    except (protobuf.DecodeError, LookupError) as error:
        raise UserError(
            f"{path} is damaged, or not a hub module of ALBERT for TensorFlow 1 ({error}). Use one "
            "of export_to_tfhub --format=tf1, or a checkpoint (--albert_dir)."
        ) from error
    return HubModule(
        os.path.join(folder, "assets", "albert_config.json"),
        os.path.join(folder, "variables", "variables"),
        os.path.join(folder, "assets", vocabulary),
        bool(tf.make_ndarray(lower)),
    )


def _fetch(handle: str) -> str:
    """Returns the folder of a module; downloads it if needed."""
    if "://" not in handle or files.is_folder(handle):
        return handle
    import tensorflow_hub as hub  # slow to import

    try:
        return hub.resolve(handle)
    except Exception as error:  # errors of networks, archives and file systems
        raise UserError(f"The hub module {handle} cannot be fetched: {error}") from error
