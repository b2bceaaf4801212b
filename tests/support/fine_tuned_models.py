# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tiny classifiers with random weights, in folders as run_classifier leaves them."""

import pathlib

import numpy as np
import tensorflow.compat.v1 as tf

from albert import classifier_utils, fine_tuning_utils, modeling
from albert.formats import checkpoints, model_paths, warm_start
from albert.tasks.classification import head as classification_head
from albert.tasks.classification.task import ClassifierTask
from albert.tasks.tagging import task as tagging_task
from albert.training import fine_tuned
from albert.util import files
from albert.util import flags as flags_lib
from tests.support import FIXTURES, graphs, write_json

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
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def random_values(shapes, *, scale=0.5, seed=0):
    """Large values for variables of these shapes, so that texts differ in what is said of them."""
    generator = np.random.RandomState(seed)
    return {
        name: generator.normal(name.endswith("gamma"), scale, shape).astype(np.float32)
        for name, shape in shapes.items()
    }


def random_weights(config, build, *, slots=None, **options):
    """Weights for what `build` makes of ids, mask, segments; with an optimizer's slots if named."""
    with tf.Graph().as_default():
        build(config, *[tf.zeros([1, 8], tf.int32)] * 3)
        shapes = {item.op.name: item.shape.as_list() for item in tf.trainable_variables()}
    if not slots:
        return random_values(shapes, **options)
    of_slots = {f"{name}/{slots}_{kind}": shapes[name] for name in shapes for kind in "mv"}
    step = np.array(70000, np.int64)
    return dict(random_values({**shapes, **of_slots}, **options), global_step=step)


def write_model(folder, config, build, *, name="model.ckpt-best", **options):
    """Writes the configuration and random weights; options are those of random_weights."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    checkpoints.write(f"{folder}/{name}", random_weights(config, build, **options))
    (folder / "albert_config.json").write_text(config.to_json_string())
    return folder


def describe(path, vocabulary=VOCABULARY, **content):
    """Writes the file that training leaves beside a model; returns its folder."""
    shared = {
        "format_version": 1,
        "max_seq_length": LENGTH,
        "do_lower_case": True,
        "spm_model_file": {"path": str(vocabulary), "sha256": files.sha256(str(VOCABULARY))},
    }
    write_json(path, {**shared, **content})
    return str(path.parent)


def write_classifier(
    folder, *, labels=("no", "maybe", "yes"), description=None, layers=None, **options
):
    """Writes a model for `labels`, () being regression, and returns its folder.

    `layers`: as many, each with a head after it. Options are those of write_model.
    """

    def build_all(config, *inputs):
        if not layers:
            return build(config, labels, *inputs)
        encoder = fine_tuning_utils.Encoder(config, False)
        return classification_head.all_logits(encoder, dict(zip(INPUTS, inputs)), len(labels) or 1)

    sizes = {"num_hidden_layers": layers} if layers else {}
    config = modeling.AlbertConfig.from_dict(dict(CONFIG, **sizes))
    content = {
        "task": "custom" if labels else "sts-b",
        "labels": labels,
        "is_regression": not labels,
        **({"early_exit": True} if layers else {}),
        **(description or {}),
    }
    folder = write_model(folder, config, build_all, **options)
    return describe(folder / "classifier.json", **content)


def build_tagger(config, *inputs, count=3):
    """The logits of tags."""
    task = tagging_task.TaggingTask(tagging_task.TaggerFlags(), None, {"labels": ["O"] * count})
    head = task.head(dict(zip(INPUTS, inputs)), fine_tuning_utils.Encoder(config, False))
    return {"logits": head.outputs["logits"]}


def write_tagger(folder):
    """Writes a tagger, and returns its folder."""
    folder = write_model(folder, modeling.AlbertConfig.from_dict(CONFIG), build_tagger)
    return describe(folder / "tagging.json", task="tagging", labels=["O", "B-PER", "I-PER"])


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


def run(build, batch, checkpoint):
    """What `build` makes of arrays of integers, with the weights of a checkpoint."""
    with graphs.new_session() as session:
        # With inputs of one row that are constants, or whose shape is, TensorFlow 2.15 crashes.
        inputs = [tf.placeholder(tf.int32, [None, None]) for _ in batch]
        outputs = build(*inputs)
        warm_start.restore_weights(session, model_paths.resolve(str(checkpoint)))
        return session.run(outputs, dict(zip(inputs, batch)))


def inputs(length=9, batch=3):
    """A batch of different lengths."""
    generator = np.random.RandomState(5)
    places = np.arange(length)[None]
    mask = (places < np.array([[length], [length - 2], [4]])[:batch]).astype(np.int32)
    return {
        "input_ids": generator.randint(0, 200, [batch, length]).astype(np.int32) * mask,
        "input_mask": mask,
        "segment_ids": (places > 2).astype(np.int32) * mask,
    }


INPUTS = inputs(6, 2)


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
    with graphs.new_session() as session:
        declared = tf.saved_model.loader.load(session, list(tags), folder).signature_def[signature]
        feed = {declared.inputs[name].name: value for name, value in inputs.items()}
        return session.run(
            {name: info.name for name, info in declared.outputs.items()}, feed_dict=feed
        )


def open_folder(folder, **options):
    """The task of the classifier in a folder."""
    flags = flags_lib.make(
        ClassifierTask.flags_class, output_dir=str(folder), do_train=False, **options
    )
    return fine_tuned.set_up(flags, ClassifierTask)


def export(folder, out, **options):
    """Exports the classifier in a folder as a SavedModel; returns its folder."""
    checkpoint = model_paths.resolve(str(folder))
    return fine_tuned.export(open_folder(folder, **options), checkpoint, str(out))


def expected(folder, arrays=()):
    """The probabilities and logits of the trained graph, for ids, mask and segments."""
    labels = open_folder(folder).labels
    config = modeling.AlbertConfig.from_dict(CONFIG)
    given = arrays or INPUTS.values()
    return run(lambda *inputs: build(config, labels, *inputs)[2:4], given, folder)
