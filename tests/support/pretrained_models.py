# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tiny pretrained models with random weights, in folders laid out as released archives."""

import functools
import shutil

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from tests.support import FIXTURES, fine_tuned_models

VOCABULARY = fine_tuned_models.VOCABULARY
WORDPIECES = FIXTURES / "wordpiece_vocab.txt"


inputs = fine_tuned_models.inputs


def config(**changes):
    return modeling.AlbertConfig.from_dict(dict(fine_tuned_models.CONFIG, **changes))


HEADS = ("cls/predictions", "cls/seq_relationship")


def build(config, *inputs, heads=HEADS):
    """The model on ids, mask and segments; its outputs by name, for masked position 1."""
    model = modeling.AlbertModel(config, False, *inputs, scope="bert")
    sequence, pooled = model.get_sequence_output(), model.get_pooled_output()
    outputs = {"pooled_output": pooled, "sequence_output": sequence}
    if HEADS[0] in heads:
        outputs["mlm_logits"] = modeling.masked_lm_logits(
            config,
            sequence,
            model.get_embedding_table(),
            positions=tf.ones_like(inputs[0][:, :1]),
            projection=model.get_embedding_projection(),
        )
    if HEADS[1] in heads:
        outputs["sop_logits"] = modeling.sentence_order_logits(config, pooled)
        outputs["sop_log_probs"] = tf.nn.log_softmax(outputs["sop_logits"])
    return outputs


def write_archive(folder, *, wordpiece=False, slots=None, **changes):
    """Writes configuration, checkpoint and vocabulary, and returns the folder."""
    folder = fine_tuned_models.write_model(folder, config(**changes), build, slots=slots)
    if wordpiece:
        shutil.copy(WORDPIECES, folder / "vocab_chinese.txt")
    else:
        for ending in (".model", ".vocab"):
            shutil.copy(VOCABULARY.with_suffix(ending), folder / f"30k-clean{ending}")
    return str(folder)


def outputs(folder, batch):
    """What the model in the folder makes of a batch, as arrays."""
    of_config = modeling.AlbertConfig.from_json_file(f"{folder}/albert_config.json")
    return fine_tuned_models.run(
        functools.partial(build, of_config), batch.values(), f"{folder}/model.ckpt-best"
    )


def batch_of(tokenizer, *texts):
    """The batch of one text or pair, [CLS] a [SEP] b [SEP]."""
    first, separator = tokenizer.required_ids(["[CLS]", "[SEP]"])
    ids, segments = [first], [0]
    for number, part in enumerate(tokenizer.encode_ids_batch(texts)):
        ids += [*part, separator]
        segments += [number] * (len(part) + 1)
    rows = {"input_ids": ids, "input_mask": [1] * len(ids), "segment_ids": segments}
    return {name: np.array([row], np.int32) for name, row in rows.items()}
