# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's ALBERT in PyTorch, to measure against: eager, or through torch.compile.

What its users run: their model with scaled_dot_product_attention, cross entropy, clipping to norm 1
and torch's fused AdamW; in bfloat16 under autocast. In pretraining the words' head is applied to
the predicted positions alone, which spares it most of what AlbertForPreTraining computes.
"""

import math
import time

import numpy as np
import torch
import transformers
from torch.nn import functional


def build_model(values, head):
    """Their model for a head, without dropout; `values` are those of albert_config.json."""
    config = transformers.AlbertConfig(
        **{key: values[key] for key in values if hasattr(transformers.AlbertConfig, key)}
    )
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    config.classifier_dropout_prob, config.hidden_act = 0.0, "gelu_new"
    kinds = {
        "classifier": transformers.AlbertForSequenceClassification,
        "squad_v1": transformers.AlbertForQuestionAnswering,
        "pretraining": transformers.AlbertForPreTraining,
    }
    return kinds[head](config), config


def inputs_of(config, arguments):
    """The batch that the other programs have, on tensors."""
    batch, length, count = arguments.batch, arguments.length, arguments.predictions
    random = np.random.RandomState(0)
    ids = random.randint(5, config.vocab_size, [batch, length])
    positions = np.arange(count)[None].repeat(batch, axis=0)
    return {
        "ids": torch.tensor(ids),
        "mask": torch.ones([batch, length], dtype=torch.long),
        "classes": torch.tensor(np.random.RandomState(1).randint(0, 2, [batch])),
        "starts": torch.arange(batch) % length,
        "positions": torch.tensor(positions),
        "words": torch.tensor(np.take_along_axis(ids, positions, axis=1)),
    }


def loss_of(model, data, head):
    """The training loss."""
    if head == "classifier":
        return model(data["ids"], data["mask"], labels=data["classes"]).loss
    if head == "squad_v1":
        starts = data["starts"]
        return model(data["ids"], data["mask"], start_positions=starts, end_positions=starts).loss
    encoded = model.albert(data["ids"], data["mask"])
    places = data["positions"][:, :, None].expand(-1, -1, encoded[0].shape[-1])
    words = model.predictions(encoded[0].gather(1, places))
    order = model.sop_classifier(encoded[1])
    word_loss = functional.cross_entropy(words.float().flatten(0, 1), data["words"].flatten())
    return word_loss + functional.cross_entropy(order.float(), data["classes"])


def build_step(values, arguments, *, is_compiled):
    """A function without arguments that makes one update, or one prediction."""
    model, config = build_model(values, arguments.head)
    data = inputs_of(config, arguments)
    is_training = arguments.mode == "train"
    model.train(is_training)
    autocast = torch.autocast("cpu", torch.bfloat16, enabled=arguments.precision == "bfloat16")

    def forward():
        with autocast:
            return loss_of(model, data, arguments.head)

    def logits():
        with autocast:
            return model(data["ids"], data["mask"])[0]

    if not is_training:
        predict = torch.compile(logits) if is_compiled else logits
        return torch.inference_mode()(predict)
    forward = torch.compile(forward) if is_compiled else forward
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=0.01, fused=True)

    def update():
        loss = forward()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return update


def matrix_rate(precision, *, repeats=20):
    """As train_step.matrix_rate, in PyTorch."""
    rows, inner, columns = 4096, 768, 3072
    dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
    left, right = (torch.randn(shape).to(dtype) for shape in ([rows, inner], [inner, columns]))
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        torch.matmul(left, right)
        best = min(best, time.perf_counter() - start)
    return 2 * rows * inner * columns / best
