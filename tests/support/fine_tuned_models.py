# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tiny classifiers with random weights, in folders as run_classifier leaves them."""

import json
import pathlib

import numpy as np
import tensorflow.compat.v1 as tf

from albert import classifier_utils, fine_tuning_utils, modeling
from albert.checkpoints import weights
from albert.classification import model
from albert.classification.run import ClassifierTask
from albert.pretrained import warm_start
from albert.training import fine_tuned
from albert.util import files

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
VOCABULARY = FIXTURES / "tiny.model"
LENGTH = 32

CONFIG = {
    "vocab_size": 400,
    "embedding_size": 8,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 48,
}


def save_random(session, path, seed):
    """Saves large weights for all variables, so that texts differ in what is said of them."""
    generator = np.random.RandomState(seed)
    session.run(tf.global_variables_initializer())
    for variable in tf.trainable_variables():
        centre = 1.0 if variable.op.name.endswith("gamma") else 0.0
        session.run(variable.assign(generator.normal(centre, 0.5, variable.shape.as_list())))
    tf.train.Saver().save(session, str(path), write_meta_graph=False)


def write_model(folder, config, build, *, seed=0, name="model.ckpt-best"):
    """Writes the configuration and random weights of what `build` makes of ids, mask, segments."""
    folder = pathlib.Path(str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    with tf.Graph().as_default(), tf.Session() as session:
        build(config, *[tf.zeros([1, 8], tf.int32)] * 3)
        save_random(session, folder / name, seed)
    (folder / "albert_config.json").write_text(config.to_json_string(), encoding="utf-8")
    return folder


def write_classifier(
    folder,
    *,
    labels=("no", "maybe", "yes"),
    name="model.ckpt-best",
    description=None,
    seed=0,
    layers=None,
):
    """Writes a model for `labels`, () being regression, and returns its folder.

    `layers`: as many, each with a head after it.
    """

    def build_all(config, *inputs):
        if not layers:
            return build(config, labels, *inputs)
        encoder = fine_tuning_utils.Encoder(config, False)
        return model.all_logits(encoder, dict(zip(INPUTS, inputs)), len(labels) or 1)

    size = {"num_hidden_layers": layers} if layers else {}
    config = modeling.AlbertConfig.from_dict(dict(CONFIG, **size))
    folder = write_model(folder, config, build_all, seed=seed, name=name)
    sha256 = files.sha256(str(VOCABULARY))
    content = {
        "format_version": 1,
        "task": "sts-b" if not labels else "custom",
        "labels": list(labels),
        "is_regression": not labels,
        "max_seq_length": LENGTH,
        "do_lower_case": True,
        "spm_model_file": {"path": str(VOCABULARY), "sha256": sha256},
    }
    content.update({"early_exit": True} if layers else {})
    content.update(description or {})
    (folder / "classifier.json").write_text(json.dumps(content), encoding="utf-8")
    return str(folder)


def write_tagger(folder):
    """Writes a tagger with the encoder of `write_classifier`, and returns its folder."""
    folder = pathlib.Path(write_classifier(folder, description={"task": "tagging"}))
    values = weights.read_checkpoint(str(folder / "model.ckpt-best"))
    values["tagging/kernel"] = values.pop("output_weights").T
    values["tagging/bias"] = values.pop("output_bias")
    weights.write_checkpoint(str(folder / "model.ckpt-best"), values)
    description = json.loads((folder / "classifier.json").read_text(encoding="utf-8"))
    del description["is_regression"]
    (folder / "classifier.json").unlink()
    description["labels"] = ["O", "B-PER", "I-PER"]
    (folder / "tagging.json").write_text(json.dumps(description))
    return str(folder)


def build(config, labels, ids, mask, segments):
    """The model of `labels` in the default graph, in the way training builds it."""
    return classifier_utils.create_model(
        config,
        False,
        ids,
        mask,
        segments,
        None,
        len(labels) or 1,
        False,
        "custom",
        None,
    )


# Batches, and what a model makes of them.

_IDS = np.array([[2, 17, 40, 3, 99, 3], [2, 17, 3, 0, 0, 0]], np.int32)
INPUTS = {
    "input_ids": _IDS,
    "input_mask": (_IDS > 0).astype(np.int32),
    "segment_ids": np.array([[0, 0, 0, 0, 1, 1], [0] * 6], np.int32),
}


def serialized(length=LENGTH):
    """The two sequences above as tf.Examples."""
    texts = []
    for row in zip(*INPUTS.values()):
        example = tf.train.Example()
        for name, values in zip(INPUTS, row):
            padded = values.tolist() + [0] * (length - len(values))
            example.features.feature[name].int64_list.value.extend(padded)
        texts.append(example.SerializeToString())
    return texts


def serve(folder, signature, inputs, tags=("serve",)):
    """Serves a SavedModel as TensorFlow 1 does."""
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.loader.load(session, list(tags), folder)
        declared = loaded.signature_def[signature]
        feed = {declared.inputs[name].name: value for name, value in inputs.items()}
        return session.run(
            {name: info.name for name, info in declared.outputs.items()}, feed_dict=feed
        )


def open_folder(folder):
    """What the classifier's folder says of it."""
    return fine_tuned.open_folder(ClassifierTask, str(folder))


def export(folder, out, **options):
    """Exports the classifier in a folder as a SavedModel; returns its folder."""
    checkpoint = warm_start.resolve_checkpoint(str(folder))
    return fine_tuned.export(open_folder(folder), checkpoint, str(out), **options)


def expected_logits(folder):
    """What the trained graph says."""
    labels = open_folder(folder).task.labels
    config = modeling.AlbertConfig.from_dict(CONFIG)
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = build(config, labels, *map(tf.constant, INPUTS.values()))
        tf.train.Saver().restore(session, warm_start.resolve_checkpoint(str(folder)))
        return session.run(outputs[3])
