# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The part of train_vocab that runs in a process of its own; it does not load TensorFlow."""

import io
import json
import os

import sentencepiece as spm

# Files in the folder that is handed over.
SENTENCES = "sentences.txt"  # prepared text, one sentence a line
SETTINGS = "settings.json"  # of SentencePiece's trainer
MODEL = "model"  # what was made,
ERROR = "error"  # or why it was not


def run(folder: str):
    """Trains on folder/sentences.txt; leaves there either `model` or `error`."""
    with open(os.path.join(folder, SETTINGS), encoding="utf-8") as stream:
        settings = json.load(stream)
    model = io.BytesIO()
    try:
        with open(os.path.join(folder, SENTENCES), encoding="utf-8", newline="\n") as stream:
            # An iterator and a writer, since the paths of files would become part of the model.
            spm.SentencePieceTrainer.train(
                sentence_iterator=(line.rstrip("\n") for line in stream),
                model_writer=model,
                **settings,
            )
    except RuntimeError as error:
        _write(os.path.join(folder, ERROR), str(error).encode("utf-8"))
    else:
        _write(os.path.join(folder, MODEL), model.getvalue())


def _write(path: str, content: bytes):
    with open(path, "wb") as stream:
        stream.write(content)
