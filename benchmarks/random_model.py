# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes a fine-tuned classifier of random weights, and random texts, for other benchmarks.

    python benchmarks/random_model.py albert_base_v2 30k-clean.model FOLDER

The folder gets what `albert.run_classifier` leaves of a model of pairs with two labels. The
configuration's vocabulary is that of the SentencePiece model.
"""

import json
import os
import random
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def configuration(name, vocabulary_size):
    """The values of a preset or of a file, for a vocabulary of another size."""
    path = name if os.path.exists(name) else os.path.join(ROOT, "albert", "configs", name + ".json")
    with open(path, encoding="utf-8") as stream:
        return dict(json.load(stream), vocab_size=vocabulary_size)


def texts(processor, count, *, mean_words=20, seed=0):
    """Sentences of whole words; their lengths vary as those of news do, from 3 words to 60."""
    pieces = map(processor.IdToPiece, range(200, min(8000, processor.GetPieceSize())))
    words = [piece[1:] for piece in pieces if piece[0] == "\u2581" and piece[1:].isalpha()]
    draw = random.Random(seed)
    lengths = (round(draw.lognormvariate(0, 0.4) * mean_words) for _ in range(count))
    return [" ".join(draw.choices(words, k=min(60, max(3, length)))) for length in lengths]


def write(config_name, spm_model_file, folder):
    """Writes the model."""
    import sentencepiece
    import tensorflow.compat.v1 as tf

    from albert import modeling
    from albert.classification.run import ClassifierTask
    from albert.pretrained.saved_model import Inputs
    from albert.training import fine_tuned
    from albert.util import files

    size = sentencepiece.SentencePieceProcessor(spm_model_file).GetPieceSize()
    os.makedirs(folder)
    config_path = os.path.join(folder, "albert_config.json")
    files.atomic_write_json(config_path, configuration(config_name, size))
    vocabulary = os.path.abspath(spm_model_file)
    description = {
        "format_version": 1,
        "task": "custom",
        "labels": ["no", "yes"],
        "is_regression": False,
        "is_pair": True,
        "max_seq_length": 128,
        "do_lower_case": True,
    }
    config = modeling.AlbertConfig.from_json_file(config_path)
    paths = {"spm_model_file": vocabulary}
    contents = fine_tuned.portable_files("classifier.json", description, paths, config=config)
    for name, content in contents.items():
        with open(os.path.join(folder, name), "wb") as stream:
            stream.write(content)
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.zeros([1, 4], tf.int32)] * len(Inputs._fields)
        fine_tuned.open_folder(ClassifierTask, folder).serving_outputs(Inputs(*inputs))
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, os.path.join(folder, "model.ckpt-best"))


if __name__ == "__main__":
    sys.path.insert(0, ROOT)
    write(*sys.argv[1:])
