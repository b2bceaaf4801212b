# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs models before and after their conversion on random input, and compares the outputs.

Models of Hugging Face are run by transformers.

Dimensions: B batch, S sequence, H hidden, V vocabulary, C labels.
"""

import collections
import functools
import json
import os

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.formats import model_paths
from tests.support import (
    fine_tuned_models,
    huggingface_models,
    pretrained_models,
    read_json,
    squad_models,
)

# Input, int32 [B, S].
Batch = collections.namedtuple("Batch", "input_ids input_mask segment_ids")


def random_batch(config):
    """Sequences of different lengths, with both segments; place 1 of each is a masked token."""
    length = min(24, config.max_position_embeddings)
    lengths = np.array([[length], [max(2, length - 5)], [max(2, length // 3)]])
    places = np.arange(length)[None]  # [1, S]
    mask = (places < lengths).astype(np.int32)  # [B, S]
    segments = (places >= lengths // 2) * mask * min(1, config.type_vocab_size - 1)
    ids = np.random.RandomState(0).randint(0, config.vocab_size, mask.shape) * mask
    return Batch(*(values.astype(np.int32) for values in (ids, mask, segments)))


def largest_differences(before, after):
    """Output -> its largest difference, of outputs above 1 as a share; both have the same heads."""
    assert set(before) ^ set(after) <= {"pooled_output"}
    return {
        name: float(np.max(np.abs(before[name] - after[name])) / max(1, np.max(np.abs(value))))
        for name, value in before.items()
        if name in after
    }


def config_in(folder):
    return modeling.AlbertConfig.from_json_file(os.path.join(folder, "albert_config.json"))


# ---- ours ----


def our_outputs(folder, batch):
    """What our model says of a batch.

    These are sequence_output [B, S, H], pooled_output [B, H] and, of the heads there are:
    mlm_logits [B, V] of place 1, sop_logits [B, 2], logits [B, C] or of tags
    [B, S, C], start_logits, end_logits [B, S].
    """
    config, checkpoint = config_in(folder), model_paths.resolve(str(folder))
    shapes = dict(tf.train.list_variables(checkpoint))
    scopes = {name.rpartition("/")[0] for name in shapes}
    (count,) = shapes.get("output_bias", shapes.get("tagging/bias", [0]))

    def logits_of(config, *inputs):
        logits = fine_tuned_models.build(config, range(count) if count > 1 else (), *inputs)[3]
        return {"logits": tf.reshape(logits, [-1, count])}

    heads = {
        "output_bias": logits_of,
        "cls/squad/output_bias": squad_models.build,
        "tagging/bias": functools.partial(fine_tuned_models.build_tagger, count=count),
    }
    result = {}
    encoder = functools.partial(pretrained_models.build, heads=scopes)
    for build in (encoder, *(heads[name] for name in heads if name in shapes)):
        outputs = functools.partial(build, config)
        result.update(fine_tuned_models.run(outputs, batch, checkpoint))
    result.pop("sop_log_probs", None)
    return result


# ---- Hugging Face ----

_RUN = """
import json, sys, numpy as np, torch, transformers
folder, architecture, read, written = sys.argv[1:]
model, info = getattr(transformers, architecture).from_pretrained(
    folder, output_loading_info=True, local_files_only=True)
model = model.float().eval()
with np.load(read) as batch:
    tensors = {name: torch.from_numpy(batch[name]) for name in batch.files}
with torch.no_grad():
    encoded = getattr(model, "albert", model)(**tensors)
    if architecture == "AlbertForMultipleChoice":
        tensors = {name: value[:, None] for name, value in tensors.items()}
    found = dict(model(**tensors).items())
found.update(last_hidden_state=encoded["last_hidden_state"])
found.update(pooler_output=encoded.get("pooler_output"))
np.savez(written, **{k: v.numpy() for k, v in found.items() if isinstance(v, torch.Tensor)})
print(json.dumps({key: sorted(map(str, value)) for key, value in info.items() if value}))
"""
_THEIR_NAMES = {
    "sequence_output": "last_hidden_state",
    "pooled_output": "pooler_output",
    **{name: name for name in ("sop_logits", "start_logits", "end_logits")},
}


def huggingface_outputs(folder, batch, scratch):
    """What transformers computes, with the names of ours; all weights have to be found."""
    inputs = zip(("input_ids", "attention_mask", "token_type_ids"), batch)
    np.savez(f"{scratch}/in.npz", **{name: value.astype(np.int64) for name, value in inputs})
    (architecture,) = read_json(os.path.join(folder, "config.json"))["architectures"]
    paths = [f"{scratch}/{name}" for name in ("in.npz", "out.npz")]
    said = huggingface_models.run(_RUN, str(folder), architecture, *paths)
    info = json.loads(said.splitlines()[-1])
    assert not {"missing_keys", "mismatched_keys", "error_msgs"} & set(info), info
    with np.load(paths[1]) as found:
        theirs = {name: found[name] for name in found.files}
    result = {ours: theirs[name] for ours, name in _THEIR_NAMES.items() if name in theirs}
    if "prediction_logits" in theirs or architecture == "AlbertForMaskedLM":
        result["mlm_logits"] = theirs.get("prediction_logits", theirs.get("logits"))[:, 1]
    elif "logits" in theirs:
        result["logits"] = theirs["logits"]
    return result
