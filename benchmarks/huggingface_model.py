# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's ALBERT in PyTorch, to measure against: eager, or through torch.compile.

What its users run: their model with scaled_dot_product_attention, clipping to norm 1 and torch's
fused AdamW; in bfloat16 under autocast.
"""

import json

import torch
import transformers
from torch.nn import functional

MODELS = {
    "classification": transformers.AlbertForSequenceClassification,
    "pretraining": transformers.AlbertForPreTraining,
}


def build_model(config_file, task, **more):
    """Their model by an albert_config.json, without dropout; `more` replaces values of theirs."""
    with open(config_file, encoding="utf-8") as stream:
        values = json.load(stream)
    dropouts = ("hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout_prob")
    values.update(dict.fromkeys(dropouts, 0.0), hidden_act="gelu_new")
    return MODELS[task](transformers.AlbertConfig(**dict(values, **more)))


def words_loss(model, batch):
    """The loss of pretraining: the words' head sees the predicted positions alone, as in ours."""
    encoded = model.albert(batch["input_ids"], batch["input_mask"])
    places = batch["masked_lm_positions"][:, :, None].expand(-1, -1, encoded[0].shape[-1])
    words = model.predictions(encoded[0].gather(1, places)).float().flatten(0, 1)
    order = model.sop_classifier(encoded[1]).float()
    order_loss = functional.cross_entropy(order, batch["next_sentence_labels"][:, 0])
    return functional.cross_entropy(words, batch["masked_lm_ids"].flatten()) + order_loss


def build_step(arguments, options, features):
    """A function that makes one update, or one prediction; `features` are numpy arrays by name."""
    model = build_model(arguments.config, arguments.task)
    batch = {name: torch.tensor(value).long() for name, value in features.items()}
    autocast = torch.autocast("cpu", torch.bfloat16, enabled="bfloat16" in options)

    def forward():
        with autocast:
            if arguments.mode == "predict":
                return model(batch["input_ids"], batch["input_mask"])[0]
            if arguments.task == "pretraining":
                return words_loss(model, batch)
            return model(batch["input_ids"], batch["input_mask"], labels=batch["label_ids"]).loss

    model.train(arguments.mode == "train")
    forward = torch.compile(forward) if "compile" in options else forward
    if arguments.mode == "predict":
        return torch.inference_mode()(forward)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=0.01, fused=True)

    def update():
        loss = forward()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return update


def build_answers(folder, options, batch_size):
    """A function that answers texts by a classifier of an albert_config.json with random weights.

    Each batch is padded to its longest text, and texts are sorted by length first, as in ours.
    """
    model = build_model(f"{folder}/albert_config.json", "classification").eval()
    tokenizer = transformers.AlbertTokenizer.from_pretrained(folder)
    run = torch.compile(model, dynamic=True) if "compile" in options else model

    @torch.inference_mode()
    def answer(texts):
        encoded = tokenizer(*map(list, zip(*texts)), truncation=True, max_length=128)
        order = sorted(range(len(texts)), key=lambda place: len(encoded["input_ids"][place]))
        found = [None] * len(texts)
        for start in range(0, len(order), batch_size):
            places = order[start : start + batch_size]
            rows = {key: [value[place] for place in places] for key, value in encoded.items()}
            batch = tokenizer.pad(rows, return_tensors="pt")
            with torch.autocast("cpu", torch.bfloat16, enabled="bfloat16" in options):
                logits = run(**batch).logits
            for place, row in zip(places, logits.float().softmax(-1).tolist()):
                found[place] = row
        return found

    return answer
