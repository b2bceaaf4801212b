# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Plants faults of one line in copies of the repository and counts how many the quick tests catch.

    make mutations                     # all of them, JOBS=2 at a time
    make mutations ARGS=dropout        # those whose name or part has this word

Each fault is planted alone, in a copy beside which there are no reference outputs: what a clone
proves by itself. A process of its own, forked where TensorFlow is imported already, then runs the
quick tests of the fault's part until one fails. Ends with 1 where the tests of a part fail without
any fault, an old text is not found, or fewer than 95% of the faults are caught.
"""

import argparse
import multiprocessing
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Dict, List, NamedTuple, Optional, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[2]
WANTED_SHARE = 0.95
_LONGEST_SECONDS = 300.0


class Fault(NamedTuple):
    """One line that is wrong: `old`, which occurs once in `file`, becomes `new`."""

    name: str
    file: str  # below albert/
    old: str
    new: str


class Part(NamedTuple):
    """Faults, and the tests (below tests/) that are to catch them; the likeliest come first."""

    tests: Sequence[str]
    faults: Sequence[Fault]


PARTS: Dict[str, Part] = {
    "model": Part(
        ("test_numpy_albert.py", "test_modeling.py"),
        (
            Fault(
                "mask adder -1", "modeling.py", "_MASKED_SCORE = -10000.0", "_MASKED_SCORE = -1.0"
            ),
            Fault(
                "no 1/sqrt(d)",
                "modeling.py",
                "scale = 1.0 / np.sqrt(hidden // self._config.num_attention_heads)",
                "scale = 1.0",
            ),
            Fault(
                "scaled by the root of H",
                "modeling.py",
                "scale = 1.0 / np.sqrt(hidden // self._config.num_attention_heads)",
                "scale = 1.0 / np.sqrt(hidden)",
            ),
            Fault(
                "query's bias not scaled",
                "modeling.py",
                "tf.concat([query.bias * scale, key.bias, value.bias], axis=0)",
                "tf.concat([query.bias, key.bias, value.bias], axis=0)",
            ),
            Fault(
                "pooler without tanh",
                "modeling.py",
                "return tf.tanh(layers.dense(first, weights))",
                "return layers.dense(first, weights)",
            ),
            Fault(
                "pooler on the last token",
                "modeling.py",
                "self.get_sequence_output()[:, 0, :]",
                "self.get_sequence_output()[:, -1, :]",
            ),
            Fault(
                "one dropout mask for both sub-layers",
                "modeling.py",
                "norm=feed_forward.norm, place=position + 2)",
                "norm=feed_forward.norm, place=position + 1)",
            ),
            Fault(
                "one dropout mask for all layers",
                "modeling.py",
                "position = 1 + 3 * len(outputs)",
                "position = 1",
            ),
            Fault(
                "dropout without the step",
                "modeling.py",
                "key = self.seed + tf.constant(",
                "key = self.seed * [1, 0] + tf.constant(",
            ),
            Fault(
                "dropout keeps what it should drop",
                "modeling.py",
                "uniform >= rate, rate)",
                "uniform < rate, rate)",
            ),
            Fault(
                "dropout in evaluation",
                "modeling.py",
                "self._config = _without_dropout(config) if not is_training else config",
                "self._config = config",
            ),
            Fault(
                "hidden rate on the attention probabilities",
                "modeling.py",
                "dropout(probabilities, config.attention_probs_dropout_prob, position)",
                "dropout(probabilities, config.hidden_dropout_prob, position)",
            ),
            Fault(
                "no residual",
                "modeling.py",
                "return x + update if pre else ops.residual_layer_norm(x, update, norm)",
                "return x + update if pre else ops.layer_norm(update, norm)",
            ),
            Fault(
                "LayerNorms swapped",
                "modeling.py",
                'norm=get_norm(f"{path}/LayerNorm_1", hidden)',
                'norm=get_norm(f"{path}/LayerNorm", hidden)',
            ),
            Fault(
                "positions from one on",
                "modeling.py",
                "tf.slice(positions, [0, 0], [length, -1])  # [S, width]",
                "tf.slice(positions, [1, 0], [length, -1])  # [S, width]",
            ),
            Fault(
                "types left out",
                "modeling.py",
                "_look_up(types, tf.reshape(token_type_ids, [-1]), one_hot=one_hot)",
                "0 * _look_up(types, tf.reshape(token_type_ids, [-1]), one_hot=one_hot)",
            ),
            Fault(
                "groups by remainder",
                "modeling.py",
                "shared = layer * config.num_hidden_groups // config.num_hidden_layers",
                "shared = layer % config.num_hidden_groups",
            ),
            Fault(
                "heads not put together in order",
                "modeling.py",
                "context = tf.transpose(context, [0, 2, 1, 3])  # [B, S, N, D]",
                "context = tf.reshape(context, [self._batch, self._length, heads, size])",
            ),
            Fault(
                "masked words' loss over all slots",
                "modeling.py",
                "loss = tf.reduce_sum(example_weights * per_example) / total_weight",
                "loss = tf.reduce_mean(per_example) + 0 * total_weight",
            ),
            Fault(
                "masked words without activation",
                "modeling.py",
                "transformed = activation(transformed) if activation else transformed",
                "transformed = transformed if activation else transformed",
            ),
            Fault(
                "vectors of the next example",
                "modeling.py",
                "tf.range(0, batch, dtype=positions.dtype) * length",
                "tf.range(0, batch, dtype=positions.dtype) * (length - 1)",
            ),
            Fault(
                "initial values not truncated at their own deviation",
                "modeling.py",
                "seed=tf.constant(key, tf.int64), stddev=initializer_range, dtype=dtype",
                "seed=tf.constant(key, tf.int64), stddev=1.0, dtype=dtype",
            ),
        ),
    ),
    "operations": Part(
        ("test_numpy_albert.py", "test_modeling.py"),
        (
            Fault(
                "softmax's gradient without its sum",
                "ops/fused.py",
                "return tf.cast(weighted - _float32(probabilities) * total, probabilities.dtype)",
                "return tf.cast(weighted, probabilities.dtype)",
            ),
            Fault(
                "softmax over queries",
                "ops/fused.py",
                "total = tf.reduce_sum(exponentials, axis=-1, keepdims=True)",
                "total = tf.reduce_sum(exponentials, axis=-2, keepdims=True)",
            ),
            Fault(
                "gelu's slope with 2 for 3",
                "ops/fused.py",
                "slope = _GELU_SCALE * (1.0 + 3.0 * _GELU_CUBIC * x * x)",
                "slope = _GELU_SCALE * (1.0 + 2.0 * _GELU_CUBIC * x * x)",
            ),
            Fault(
                "gelu's constant, compiled",
                "ops/fused.py",
                "_GELU_CUBIC = np.float32(0.044715)",
                "_GELU_CUBIC = np.float32(0.44715)",
            ),
            Fault(
                "gelu's constant, plain",
                "ops/plain.py",
                "cubic = tf.constant(0.044715, x.dtype)",
                "cubic = tf.constant(0.44715, x.dtype)",
            ),
            Fault(
                "LayerNorm's gradient without the mean",
                "ops/fused.py",
                "d_total = inverse_deviation * (scaled - mean - standard * projection)",
                "d_total = inverse_deviation * (scaled - standard * projection)",
            ),
            Fault(
                "gamma's gradient without the standardised input",
                "ops/fused.py",
                "tf.reduce_sum(upstream * standard, axis=0)",
                "tf.reduce_sum(upstream, axis=0)",
            ),
            Fault(
                "the residual's gradient lost",
                "ops/fused.py",
                "return d_total, d_total, d_beta, d_gamma",
                "return d_total, 0 * d_total, d_beta, d_gamma",
            ),
            Fault(
                "LayerNorm without beta",
                "ops/plain.py",
                "tf.cast(standard * norm.gamma + norm.beta, inputs.dtype)",
                "tf.cast(standard * norm.gamma, inputs.dtype)",
            ),
            Fault(
                "epsilon of other models",
                "ops/plain.py",
                "LAYER_NORM_EPSILON = 1e-12",
                "LAYER_NORM_EPSILON = 1e-2",
            ),
            Fault(
                "dropout does not keep the mean",
                "ops/plain.py",
                "kept = inputs * tf.cast(1.0 / (1.0 - rate), inputs.dtype)",
                "kept = inputs * tf.cast(1.0 / rate, inputs.dtype)",
            ),
            Fault(
                "dropout's gradient not dropped",
                "ops/fused.py",
                "return drop(x, keep), lambda upstream: drop(upstream, keep)",
                "return drop(x, keep), lambda upstream: upstream",
            ),
            Fault(
                "plain softmax without the mask",
                "ops/plain.py",
                "tf.nn.softmax(tf.cast(scores, tf.float32) + adder)",
                "tf.nn.softmax(tf.cast(scores, tf.float32) + 0 * adder)",
            ),
            Fault(
                "the first bias's gradient is the second's",
                "ops/fused.py",
                "activated, d_hidden = _gelu_backward(hidden, d_activated)",
                "activated, d_hidden = _gelu_forward(hidden), d_activated",
            ),
        ),
    ),
    "optimization": Part(
        ("test_optimization.py", "test_numpy_albert.py"),
        (
            Fault(
                "rate of the step after",
                "optimization.py",
                "step = tf.cast(global_step, tf.float32)",
                "step = tf.cast(global_step, tf.float32) + 1",
            ),
            Fault(
                "warm-up counted from step zero",
                "optimization.py",
                "since_start = step - float(start_warmup_step)",
                "since_start = step",
            ),
            Fault(
                "warm-up one step longer",
                "optimization.py",
                "tf.where_v2(since_start < float(num_warmup_steps), rising, decayed)",
                "tf.where_v2(since_start <= float(num_warmup_steps), rising, decayed)",
            ),
            Fault(
                "linear decay whatever the power",
                "optimization.py",
                "decayed = init_lr * tf.pow(remaining, poly_power)",
                "decayed = init_lr * remaining",
            ),
            Fault(
                "decay of LayerNorm",
                "optimization.py",
                'NEVER_DECAYED = ("LayerNorm", "layer_norm", "bias")',
                'NEVER_DECAYED = ("layer_norm", "bias")',
            ),
            Fault(
                "decay in the gradient",
                "optimization.py",
                "return m, v, direction + self.weight_decay_rate * tensors[-1]",
                "return m, v, direction - self.weight_decay_rate * tensors[-1]",
            ),
            Fault(
                "second moment of the gradient itself",
                "optimization.py",
                "(1.0 - self.beta_2) * tf.square(gradient)",
                "(1.0 - self.beta_2) * tf.abs(gradient)",
            ),
            Fault(
                "epsilon under the root",
                "optimization.py",
                "m / (tf.sqrt(v) + self.epsilon)",
                "m / tf.sqrt(v + self.epsilon)",
            ),
            Fault(
                "trust ratio upside down",
                "optimization.py",
                "weight_norm / tf.where_v2(both, direction_norm, tf.ones_like(direction_norm))",
                "direction_norm / tf.where_v2(both, weight_norm, tf.ones_like(weight_norm))",
            ),
            Fault(
                "trust ratio for biases",
                "optimization.py",
                "exclude_from_layer_adaptation or self.exclude_from_weight_decay",
                "exclude_from_layer_adaptation or ()",
            ),
            Fault(
                "clipping off",
                "optimization.py",
                "return CLIP_NORM / tf.maximum(norm, CLIP_NORM)",
                "return tf.ones_like(norm)",
            ),
            Fault(
                "every gradient scaled to norm 1",
                "optimization.py",
                "return CLIP_NORM / tf.maximum(norm, CLIP_NORM)",
                "return CLIP_NORM / norm",
            ),
            Fault(
                "repeated ids summed before the norm",
                "optimization.py",
                "            squared_norm = _sum_of_squares(gradient.values)",
                "            gradient = _dense(gradient, variable)",
            ),
            Fault(
                "half the norm",
                "optimization.py",
                "return 2.0 * tf.nn.l2_loss(tensor)",
                "return tf.nn.l2_loss(tensor)",
            ),
            Fault(
                "only the last micro-batch counts",
                "optimization.py",
                "gradients[place] += _dense(gradient, self._variables[place])",
                "gradients[place] = _dense(gradient, self._variables[place])",
            ),
        ),
    ),
    "training": Part(
        ("pretraining/test_model.py",),
        (
            Fault(
                "the same dropout in each step",
                "training/model_fn.py",
                "step = tf.cast(tf.train.get_or_create_global_step(), tf.int32)",
                "step = tf.constant(0)",
            ),
            Fault(
                "the same dropout in each micro-batch",
                "training/model_fn.py",
                "settings.gradient_accumulation_steps + micro_batch",
                "settings.gradient_accumulation_steps + 0 * micro_batch",
            ),
        ),
    ),
    "masking": Part(
        ("pretraining/test_masking.py",),
        (
            Fault(
                "70% masked",
                "pretraining/masking.py",
                "MASKED, MASKED_OR_KEPT = 0.8, 0.9",
                "MASKED, MASKED_OR_KEPT = 0.7, 0.9",
            ),
            Fault(
                "random pieces for kept ones",
                "pretraining/masking.py",
                "is_random = action >= MASKED_OR_KEPT",
                "is_random = (action >= MASKED) & (action < MASKED_OR_KEPT)",
            ),
            Fault(
                "all n-grams equally likely",
                "pretraining/masking.py",
                "weights = [1.0 / n for n in range(1, settings.ngram + 1)]",
                "weights = [1.0 for n in range(1, settings.ngram + 1)]",
            ),
            Fault(
                "longer n-grams favoured",
                "pretraining/masking.py",
                "if not settings.favor_shorter_ngram:",
                "if settings.favor_shorter_ngram:",
            ),
            Fault(
                "marks not counted",
                "pretraining/masking.py",
                "number = np.rint((length + 3) * settings.masked_lm_prob)",
                "number = np.rint(length * settings.masked_lm_prob)",
            ),
            Fault(
                "halves rounded up",
                "pretraining/masking.py",
                "number = np.rint((length + 3) * settings.masked_lm_prob)",
                "number = np.floor((length + 3) * settings.masked_lm_prob + 0.5)",
            ),
            Fault(
                "one piece more than wanted",
                "pretraining/masking.py",
                "fitting += flat_start[word + n + 1] - first <= room",
                "fitting += flat_start[word + n + 1] - first <= room + 1",
            ),
            Fault(
                "words cut apart",
                "pretraining/masking.py",
                "if settings.do_whole_word_mask:\n        is_start =",
                "if not settings.do_whole_word_mask:\n        is_start =",
            ),
            Fault(
                "positions of B off by one",
                "pretraining/masking.py",
                "positions[rows, slot] = columns + 1 + (columns >= length_a[rows])",
                "positions[rows, slot] = columns + 1 + (columns > length_a[rows])",
            ),
            Fault(
                "[SEP] in segment B",
                "pretraining/masking.py",
                "(place >= length_a[:, None] + 2)",
                "(place >= length_a[:, None] + 1)",
            ),
            Fault(
                "labels are what is seen",
                "pretraining/masking.py",
                "_predictions(chosen, sequences.ids, length_a=",
                "_predictions(chosen, output, length_a=",
            ),
            Fault(
                "the word after A belongs to it",
                "pretraining/masking.py",
                "is_start[rows, length_a[rows]] = True",
                "is_start[rows, length_a[rows]] |= False",
            ),
            Fault(
                "on the fly: no word is taken already",
                "pretraining/masking.py",
                "is_taken = tf.reduce_any(tf.logical_and(inside, chosen), axis=1)",
                "is_taken = tf.reduce_any(tf.logical_and(inside, chosen), axis=1) & False",
            ),
            Fault(
                "on the fly: at least two pieces",
                "pretraining/masking.py",
                "number = tf.maximum(1, tf.cast(number, tf.int32))",
                "number = tf.maximum(2, tf.cast(number, tf.int32))",
            ),
            Fault(
                "on the fly: 90% masked",
                "pretraining/masking.py",
                "changed = tf.where(action < MASKED, masks, changed)",
                "changed = tf.where(action < MASKED_OR_KEPT, masks, changed)",
            ),
            Fault(
                "on the fly: the same masks in each pass",
                "pretraining/masking.py",
                "graph_fold(tf.constant(base.astype(np.int64)), positions)",
                "graph_fold(tf.constant(base.astype(np.int64)), 0 * positions)",
            ),
        ),
    ),
    "pairs": Part(
        ("pretraining/test_pairs.py", "pretraining/test_job.py"),
        (
            Fault(
                "swapped pairs labelled 0",
                "pretraining/pairs.py",
                "label=swap.astype(np.int64)",
                "label=(~swap).astype(np.int64)",
            ),
            Fault(
                "two thirds swapped",
                "pretraining/pairs.py",
                "random_streams.uniform(random_streams.fold(keys, _DRAW_LABEL)) < 0.5",
                "random_streams.uniform(random_streams.fold(keys, _DRAW_LABEL)) < 0.67",
            ),
            Fault(
                "never a shorter target",
                "pretraining/pairs.py",
                "return np.where(is_short, shorter, longest)",
                "return np.where(is_short, longest, longest)",
            ),
            Fault(
                "short targets from three on",
                "pretraining/pairs.py",
                "shorter = 2 + random_streams.below(",
                "shorter = 3 + random_streams.below(",
            ),
            Fault(
                "a sentence more a chunk",
                "pretraining/pairs.py",
                "bisect.bisect_left(borders, borders[first] + target",
                "bisect.bisect_right(borders, borders[first] + target",
            ),
            Fault(
                "cut behind the first sentence always",
                "pretraining/pairs.py",
                "cut = block.borders[np.minimum(first + 1 + inner, last)]",
                "cut = block.borders[np.minimum(first + 1 + 0 * inner, last)]",
            ),
            Fault(
                "the shorter segment is cut",
                "pretraining/pairs.py",
                "half = (longest + 1) // 2",
                "half = longest // 2",
            ),
            Fault(
                "pieces cut at the end only",
                "pretraining/pairs.py",
                "start_a=pairs.start_a + front_a,",
                "start_a=pairs.start_a,",
            ),
            Fault(
                "B from the same document",
                "pretraining/pairs.py",
                "return self._block.documents[number if number < first else number + last - first]",
                "return self._block.documents[number]",
            ),
        ),
    ),
    "tokenization": Part(
        ("test_tokenization.py",),
        (
            Fault(
                "the shortest piece first",
                "tokenization.py",
                "for end in range(min(len(word), start + self._longest), start, -1):",
                "for end in range(start + 1, min(len(word), start + self._longest) + 1):",
            ),
            Fault(
                "digits and commas together",
                "tokenization.py",
                "        if _ends_in_digit_comma(piece):\n            output.extend(",
                "        if False:\n            output.extend(",
            ),
            Fault(
                "long words cut",
                "tokenization.py",
                "max_input_chars_per_word: int = 200",
                "max_input_chars_per_word: int = 100",
            ),
            Fault(
                "accents kept",
                "tokenization.py",
                "return lower if lower.isascii() else _without_accents(lower)",
                "return lower",
            ),
        ),
    ),
    "classifier": Part(
        ("classification/test_features.py", "test_numpy_heads.py"),
        (
            Fault(
                "a tie shortens the first text",
                "classification/features.py",
                "return PairLengths(length_a - rest // 2, length_b - (rest + 1) // 2)",
                "return PairLengths(length_a - (rest + 1) // 2, length_b - rest // 2)",
            ),
            Fault(
                "the shorter text is cut",
                "classification/features.py",
                "if length_a > length_b:",
                "if length_a < length_b:",
            ),
            Fault(
                "[SEP] of the first text in segment 1",
                "classification/features.py",
                "segment_ids=[0] * len(first) + [1] * len(second) + padding",
                "segment_ids=[0] * (len(first) - 1) + [1] * (len(second) + 1) + padding",
            ),
            Fault(
                "a single text one piece too short",
                "classification/features.py",
                "list(ids_a[: self.length - 2])",
                "list(ids_a[: self.length - 3])",
            ),
            Fault(
                "padding attended to",
                "classification/features.py",
                "input_mask=[1] * used + padding,",
                "input_mask=[1] * self.length,",
            ),
            Fault(
                "no dropout before the head",
                "classification/model.py",
                "HEAD_DROPOUT = 0.1",
                "HEAD_DROPOUT = 0.0",
            ),
            Fault(
                "the head on the wrong axis",
                "classification/model.py",
                "predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)",
                "predictions = tf.argmin(logits, axis=-1, output_type=tf.int32)",
            ),
            Fault(
                "absolute error",
                "classification/model.py",
                "return tf.square(logits - tf.cast(labels, tf.float32))",
                "return tf.abs(logits - tf.cast(labels, tf.float32))",
            ),
        ),
    ),
    "race": Part(
        ("race/test_features.py", "test_numpy_heads.py"),
        (
            Fault(
                "the question's beginning kept",
                "race/features.py",
                "second = list(ending[-self._qa_length :])",
                "second = list(ending[: self._qa_length])",
            ),
            Fault(
                "one piece of the article too few",
                "race/features.py",
                "room = self._length - 2 - len(second)",
                "room = self._length - 3 - len(second)",
            ),
            Fault(
                "segments swapped",
                "race/features.py",
                "segments = [0] * len(first) + [1] * len(second) + padding",
                "segments = [1] * len(first) + [0] * len(second) + padding",
            ),
            Fault(
                "options of other questions",
                "race/model.py",
                "logits = tf.reshape(scores, [-1, num_choices])  # [B, C]",
                "logits = tf.transpose(tf.reshape(scores, [num_choices, -1]))",
            ),
        ),
    ),
    "squad features": Part(
        ("squad/test_features.py",),
        (
            Fault(
                "maximal context without the window's length",
                "squad/features.py",
                "score = np.minimum(left, left[::-1]) + 0.01 * window.count",
                "score = np.minimum(left, left[::-1]) + 0.0 * window.count",
            ),
            Fault(
                "maximal context of the longer side",
                "squad/features.py",
                "score = np.minimum(left, left[::-1]) + 0.01 * window.count",
                "score = np.maximum(left, left[::-1]) + 0.01 * window.count",
            ),
            Fault(
                "of equal contexts the last",
                "squad/features.py",
                "is_better = score > best_score[here]",
                "is_better = score >= best_score[here]",
            ),
            Fault(
                "an answer cut by the window",
                "squad/features.py",
                "answer.last >= window.first + window.count",
                "answer.first >= window.first + window.count",
            ),
            Fault(
                "an answer that ends a window is out",
                "squad/features.py",
                "answer.last >= window.first + window.count",
                "answer.last >= window.first + window.count - 1",
            ),
            Fault(
                "target one piece off",
                "squad/features.py",
                "shift = offset - window.first",
                "shift = offset - window.first - 1",
            ),
            Fault(
                "windows side by side",
                "squad/features.py",
                "first += min(count, stride)",
                "first += count",
            ),
            Fault(
                "one window too many",
                "squad/features.py",
                "if first + count >= tokens:",
                "if first + count > tokens or not count:",
            ),
            Fault(
                "the question's end kept",
                "squad/features.py",
                "asked = ids[index][: layout.max_query_length]",
                "asked = ids[index][-layout.max_query_length :]",
            ),
            Fault(
                "[CLS] ruled out",
                "squad/features.py",
                '"p_mask": [0] + [1] * (len(begin) - 1)',
                '"p_mask": [1] + [1] * (len(begin) - 1)',
            ),
        ),
    ),
    "squad heads": Part(
        ("test_numpy_heads.py", "squad/test_heads.py"),
        (
            Fault(
                "start and end swapped",
                "squad/heads.py",
                "start, end = tf.unstack(logits, axis=-1)",
                "end, start = tf.unstack(logits, axis=-1)",
            ),
            Fault(
                "sum in place of mean of start and end",
                "squad/heads.py",
                'watched = {"span_accuracy": _both(found, start, end)}',
                'watched, losses = {"span_accuracy": _both(found, start, end)}, losses * 2',
            ),
            Fault(
                "the end's state without tanh",
                "squad/heads.py",
                "states = layers.layer_norm(tf.tanh(tokens + chosen), weights.norm)",
                "states = layers.layer_norm(tokens + chosen, weights.norm)",
            ),
            Fault(
                "the paragraph masked, the rest not",
                "squad/heads.py",
                "return logits * (1 - mask) + _IMPOSSIBLE * mask",
                "return logits * mask + _IMPOSSIBLE * (1 - mask)",
            ),
        ),
    ),
    "decoding": Part(
        ("squad/test_decoding.py",),
        (
            Fault(
                "answers one piece longer",
                "squad/decoding.py",
                "length = pairs.end - pairs.start + 1",
                "length = pairs.end - pairs.start",
            ),
            Fault(
                "reversed spans",
                "squad/decoding.py",
                "fits &= (length >= 1) & (length <= max_answer_length)",
                "fits &= length <= max_answer_length",
            ),
            Fault(
                "of equal logits the later",
                "squad/decoding.py",
                'return np.argsort(-np.asarray(logits), axis=1, kind="stable")[:, :count]',
                'return np.argsort(logits, axis=1, kind="stable")[:, ::-1][:, :count]',
            ),
            Fault(
                "starts without the most context",
                "squad/decoding.py",
                "fits = windows.is_max_context[pairs.window, pairs.start] & (",
                "fits = windows.is_max_context[pairs.window, pairs.start] | (",
            ),
            Fault(
                "the last character lost",
                "squad/decoding.py",
                "item.paragraph_text[start_chars[place] : end_chars[place] + 1]",
                "item.paragraph_text[start_chars[place] : end_chars[place]]",
            ),
            Fault(
                "the worst score of a text",
                "squad/decoding.py",
                "if text not in found:",
                "if text is not None:",
            ),
            Fault(
                "the highest no-answer score",
                "squad/decoding.py",
                "scores = np.full([count], np.inf)",
                "scores = np.full([count], -np.inf)",
            ),
            Fault(
                "no answer at the threshold",
                "squad/decoding.py",
                "threshold is None or by_question[qas_id] <= threshold",
                "threshold is None or by_question[qas_id] < threshold",
            ),
        ),
    ),
    "metrics": Part(
        ("training/test_metrics.py", "squad/test_metrics.py"),
        (
            Fault(
                "F1 of label 0",
                "training/metrics.py",
                "sklearn_metrics.f1_score(outcome.labels, outcome.predictions, zero_division=0)",
                "sklearn_metrics.f1_score(1 - outcome.labels, 1 - outcome.predictions)",
            ),
            Fault(
                "Pearson for Spearman",
                "training/metrics.py",
                "_correlation(stats.spearmanr, outcome)",
                "_correlation(stats.pearsonr, outcome)",
            ),
            Fault(
                "in the graph: Matthews without the labels' variance",
                "training/metrics.py",
                "variances = (1 - tf.reduce_sum(labels**2)) * (1 - tf.reduce_sum(guesses**2))",
                "variances = (1 - tf.reduce_sum(guesses**2)) * (1 - tf.reduce_sum(guesses**2))",
            ),
            Fault(
                "in the graph: missed ones count twice in F1",
                "training/metrics.py",
                'share["label"] + share["guess"]',
                'share["label"] + share["label"]',
            ),
            Fault(
                "articles count",
                "squad/metrics.py",
                'return " ".join(_ARTICLES.sub(" ", bare).split())',
                'return " ".join(bare.split())',
            ),
            Fault(
                "each word once",
                "squad/metrics.py",
                "(collections.Counter(found) & collections.Counter(wanted)).values()",
                "(collections.Counter(set(found)) & collections.Counter(wanted)).values()",
            ),
            Fault(
                "recall for precision",
                "squad/metrics.py",
                "precision, recall = common / len(found), common / len(wanted)",
                "precision, recall = common / len(wanted), common / len(wanted)",
            ),
            Fault(
                "of equal thresholds the last",
                "squad/metrics.py",
                "if current > best and not (ties_as_one and splits_tie):",
                "if current >= best and not (ties_as_one and splits_tie):",
            ),
            Fault(
                "wrong answers cost nothing",
                "squad/metrics.py",
                "wrong = -1.0 if predictions[qas_id] else 0.0",
                "wrong = 0.0",
            ),
        ),
    ),
    "input": Part(
        (
            "data/test_batches.py",
            "data/test_record_index.py",
            "data/test_padded_batches.py",
            "pretraining/test_job.py",
        ),
        (
            Fault(
                "the same order in each epoch",
                "data/batches.py",
                "key = (epoch * self._lanes + lane) * self._windows_of_lane + number",
                "key = lane * self._windows_of_lane + number",
            ),
            Fault(
                "all shards the same records",
                "data/batches.py",
                "lambda _, place: tf.equal(place % count, index)",
                "lambda _, place: tf.equal(place % count, 0)",
            ),
            Fault(
                "a restart one batch late",
                "data/batches.py",
                "start = start_batch * batch_size * shard_count",
                "start = (start_batch + 1) * batch_size * shard_count",
            ),
            Fault(
                "passed records passed twice",
                "data/batches.py",
                "tf.maximum(begin - (ends[number] - counts[number]), 0)",
                "tf.maximum(begin, 0)",
            ),
            Fault(
                "what a lane has too much served twice",
                "data/batches.py",
                "passed = tf.zeros_like(counts) if counts is dealt.own else dealt.own",
                "passed = tf.zeros_like(counts)",
            ),
            Fault(
                "files always in one order",
                "data/batches.py",
                "dealt = self._deal(self._run_order(epoch))",
                "dealt = self._deal(tf.range(len(self._runs.paths)))",
            ),
            Fault(
                "one file is one run",
                "data/batches.py",
                "if total > window:",
                "if total > 1 << 60:",
            ),
            Fault(
                "an index is never renewed",
                "data/record_index.py",
                'kept.get("state") != many_files.state_of(path)',
                "False",
            ),
            Fault(
                "copies that fill a batch count",
                "data/batches.py",
                "is_real = tf.sequence_mask(tf.size(texts), batch_size, tf.int32)  # [B]",
                "is_real = tf.ones([batch_size], tf.int32)",
            ),
            Fault(
                "weights of copies kept",
                "data/batches.py",
                "return values * tf.cast(mask, values.dtype)",
                "return values * tf.cast(tf.ones_like(mask), values.dtype)",
            ),
            Fault(
                "cut one place short",
                "data/padded_batches.py",
                "places = tf.range(1, tf.shape(mask)[-1] + 1)",
                "places = tf.range(0, tf.shape(mask)[-1])",
            ),
            Fault(
                "lengths by counting the mask",
                "data/padded_batches.py",
                "used = tf.cast(mask > 0, tf.int32) * places",
                "used = tf.cumsum(tf.cast(mask > 0, tf.int32), axis=-1)",
            ),
            Fault(
                "example_index from each pool's start",
                "data/padded_batches.py",
                "index = tf.cast(start, tf.int32) + tf.range(size)",
                "index = tf.range(size)",
            ),
            Fault(
                "the shortest first",
                "data/padded_batches.py",
                "order = tf.argsort(-_lengths(features, padding) * real, stable=True)",
                "order = tf.argsort(_lengths(features, padding) * real, stable=True)",
            ),
            Fault(
                "buckets always in the same turn",
                "data/padded_batches.py",
                "turns = tf.argsort(tf.random.stateless_uniform([pool], seed=key))  # [K]",
                "turns = tf.range(pool)",
            ),
            Fault(
                "parts in their own order",
                "pretraining/job.py",
                'order = np.argsort(np.concatenate(keys), kind="stable")',
                "order = np.arange(sum(map(len, keys)))",
            ),
            Fault(
                "a range's first record with those before it",
                "pretraining/job.py",
                "before = 1 if first else 0",
                "before = 0",
            ),
        ),
    ),
    "checkpoints": Part(
        ("training/test_evaluation.py", "pretrained/test_warm_start.py"),
        (
            Fault(
                "the worst is the best",
                "training/evaluation.py",
                "sign = 1.0 if self._higher_is_better else -1.0",
                "sign = -1.0 if self._higher_is_better else 1.0",
            ),
            Fault(
                "steps in order of their digits",
                "pretrained/checkpoint_files.py",
                "    return sorted(found)\n",
                "    return sorted(found, key=lambda checkpoint: checkpoint.path)\n",
            ),
            Fault(
                "checkpoints without all data files",
                "pretrained/checkpoint_files.py",
                "len(shards) >= int(count.group(1))",
                "bool(shards)",
            ),
            Fault(
                "everything measured again each time",
                "training/evaluation.py",
                "if step not in self._ledger.metrics and (step or untrained_too)",
                "if step or untrained_too",
            ),
            Fault(
                "results of other data kept",
                "training/evaluation.py",
                "self._ledger.forget(list(self._ledger.metrics))",
                "self._ledger.forget([])",
            ),
            Fault(
                "NaN is the best",
                "training/evaluation.py",
                "if is_there and math.isfinite(value) and (step or not is_trained):",
                "if is_there and (step or not is_trained):",
            ),
            Fault(
                "the untrained model may be the best",
                "training/evaluation.py",
                "if is_there and math.isfinite(value) and (step or not is_trained):",
                "if is_there and math.isfinite(value):",
            ),
            Fault(
                "of equal ones that of the higher loss",
                "training/evaluation.py",
                "gains = [-loss if math.isfinite(loss) else -math.inf for loss in losses]",
                "gains = [loss if math.isfinite(loss) else -math.inf for loss in losses]",
            ),
            Fault(
                "waits for ever",
                "training/evaluation.py",
                "evaluator.last_step() >= final_step",
                "evaluator.last_step() > final_step",
            ),
            Fault(
                "a missing weight of the backbone is new",
                "pretrained/warm_start.py",
                'elif name.startswith(tuple(f"{scope}/" for scope in required_scopes)):',
                "elif False:",
            ),
            Fault(
                "any shape will do",
                "pretrained/warm_start.py",
                "if tensor.shape != tuple(variable.shape.as_list()):",
                "if len(tensor.shape) != len(variable.shape.as_list()):",
            ),
            Fault(
                "inner groups from the last",
                "pretrained/warm_start.py",
                "source = next((name for name in candidates if name in tensors), candidates[0])",
                "source = next((n for n in candidates[::-1] if n in tensors), candidates[0])",
            ),
            Fault(
                "the newest for the best",
                "pretrained/warm_start.py",
                "    if best in found:\n",
                "    if best in found and not tf.train.latest_checkpoint(folder):\n",
            ),
            Fault(
                "Adam's state taken for weights",
                "pretrained/warm_start.py",
                'OPTIMIZER_SLOTS = ("adam_m", "adam_v", "lamb_m", "lamb_v", "Adam", "Adam_1")',
                'OPTIMIZER_SLOTS = ("adam_v", "lamb_m", "lamb_v", "Adam", "Adam_1")',
            ),
        ),
    ),
    "hub": Part(
        ("test_export_to_tfhub.py",),
        (
            Fault(
                "the train tag without dropout",
                "pretrained/hub.py",
                '({"train"}, {"is_training": True})',
                '({"train"}, {"is_training": False})',
            ),
            Fault(
                "dropout by default",
                "pretrained/hub.py",
                '(set(), {"is_training": False})',
                '(set(), {"is_training": True})',
            ),
            Fault(
                "segments for the mask",
                "pretrained/hub.py",
                'input_mask=inputs["input_mask"],',
                'input_mask=inputs["segment_ids"],',
            ),
        ),
    ),
}


# ---- planting ------------------------------------------------------------------------------------


def planted(fault: Fault, text: str) -> Optional[str]:
    """Returns the file's text with the fault; None where the old text does not occur just once."""
    return text.replace(fault.old, fault.new) if text.count(fault.old) == 1 else None


class Task(NamedTuple):
    """Some tests to run, without a fault (None) first."""

    part: str
    fault: Optional[Fault]


class Outcome(NamedTuple):
    """What came of a task."""

    task: Task
    result: str
    seconds: float
    log: str


CAUGHT, SURVIVED, STALE, PASSED = "caught", "SURVIVED", "NO LONGER APPLIES", "passed"
BROKEN = "TESTS FAIL WITHOUT A FAULT"


def _copied(folder: pathlib.Path) -> pathlib.Path:
    """A copy of what is, or would be, in the repository; none of the reference outputs."""
    listed = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=str(ROOT), stdout=subprocess.PIPE, check=True).stdout
    for name in names.decode("utf-8").split("\0"):
        if name and (ROOT / name).is_file():
            target = folder / "checkout" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(ROOT / name), str(target))
    return folder / "checkout"


def _work(tasks: "multiprocessing.Queue", outcomes: "multiprocessing.Queue") -> None:
    """A worker: makes a copy, imports what is slow to import, and does one task after another."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = _copied(pathlib.Path(folder))
        _import_libraries()
        while True:
            try:
                task = tasks.get(timeout=1)
            except queue.Empty:
                return
            outcomes.put(_done(task, checkout))


def _import_libraries() -> None:
    """None of the project's own modules: a fault would not be seen in those."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import sentencepiece  # noqa: F401  before TensorFlow, see tests/conftest.py

    silent = os.open(os.devnull, os.O_WRONLY)
    shown = os.dup(2)
    os.dup2(silent, 2)  # what TensorFlow and NumPy say of each other
    import pytest  # noqa: F401
    import scipy.stats  # noqa: F401
    import sklearn.metrics  # noqa: F401
    import tensorflow.compat.v1  # noqa: F401
    import tensorflow_hub  # noqa: F401

    os.dup2(shown, 2)
    for name in [name for name in sys.modules if name.split(".")[0] in ("albert", "tests")]:
        del sys.modules[name]


def _done(task: Task, checkout: pathlib.Path) -> Outcome:
    """Plants the fault, runs the tests of its part, and takes it out again."""
    start = time.monotonic()
    log = checkout.parent / "log"
    tests = PARTS[task.part].tests
    if task.fault is None:
        code = _run_tests(checkout, tests, log, writes_bytecode=True)
        result = PASSED if code == 0 else BROKEN
    else:
        result = _result_of(task.fault, checkout, tests, log)
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return Outcome(task, result, time.monotonic() - start, text)


def _result_of(fault, checkout, tests, log) -> str:
    path = checkout / "albert" / fault.file
    before = path.read_text(encoding="utf-8")
    times = (path.stat().st_atime, path.stat().st_mtime)
    text = planted(fault, before)
    if text is None:
        return STALE
    path.write_text(text, encoding="utf-8")
    os.utime(str(path), (times[0], times[1] + 60))  # compiled modules are known by this time
    try:
        code = _run_tests(checkout, tests, log, writes_bytecode=False)
    finally:
        path.write_text(before, encoding="utf-8")
        os.utime(str(path), times)
    return SURVIVED if code == 0 else CAUGHT


def _run_tests(checkout: pathlib.Path, tests: Sequence[str], log: pathlib.Path, **options) -> int:
    """The exit code of pytest in a forked process; 1 where it does not end."""
    child = os.fork()
    if child == 0:
        os.setsid()
        _become_pytest(checkout, tests, log, **options)
    end = time.monotonic() + _LONGEST_SECONDS
    pid = 0
    try:
        while not pid and time.monotonic() < end:
            time.sleep(0.05)
            pid, status = os.waitpid(child, os.WNOHANG)
        return status if pid else 1
    finally:
        if not pid:  # it hangs, or somebody stopped this process
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _become_pytest(checkout, tests, log, *, writes_bytecode: bool) -> None:
    """Never returns."""
    output = os.open(str(log), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(str(checkout))
    os.environ["ALBERT_SHARED"] = str(checkout.parent / "none")
    own = {"", str(ROOT), str(ROOT / "tests")}
    sys.path[:] = [str(checkout), *(path for path in sys.path if path not in own)]
    sys.dont_write_bytecode = not writes_bytecode
    code = 1
    try:
        import pytest

        arguments = ["-x", "-p", "no:cacheprovider", f"--basetemp={checkout.parent / 'tmp'}"]
        code = int(pytest.main([*arguments, *(f"tests/{name}" for name in tests)]))
    finally:
        sys.stdout.flush()
        os._exit(code)


# ---- the table -----------------------------------------------------------------------------------


def chosen(words: Sequence[str]) -> List[Task]:
    """Returns the tasks of the faults whose part or name has one of the words (none: of all)."""
    tasks = [
        Task(name, fault)
        for name, part in PARTS.items()
        for fault in part.faults
        if not words or any(word in f"{name}: {fault.name}" for word in words)
    ]
    parts = {PARTS[task.part].tests: task.part for task in tasks}
    return [Task(part, None) for part in parts.values()] + tasks


def _run_all(tasks: Sequence[Task], jobs: int) -> List[Outcome]:
    """Shares the tasks out to workers, and shows each outcome as it comes."""
    context = multiprocessing.get_context("fork")
    waiting, outcomes = context.Queue(), context.Queue()
    for task in tasks:
        waiting.put(task)
    workers = [context.Process(target=_work, args=(waiting, outcomes)) for _ in range(jobs)]
    for worker in workers:
        worker.start()
    found = []
    while len(found) < len(tasks):
        try:
            outcome = outcomes.get(timeout=5)
        except queue.Empty:
            if any(worker.is_alive() for worker in workers):
                continue
            raise RuntimeError("The workers ended before their work did.") from None
        found.append(outcome)
        fault = outcome.task.fault
        name = f"{outcome.task.part}: {fault.name if fault else '(no fault)'}"
        print(f"{outcome.result:<9}{outcome.seconds:7.1f} s  {name}", flush=True)
        if outcome.result == BROKEN:
            print("\n".join(outcome.log.splitlines()[-30:]), flush=True)
    for worker in workers:
        worker.join()
    return found


def _summary(outcomes: Sequence[Outcome]) -> bool:
    """Prints the counts of each part; returns whether all is well."""
    faults = [outcome for outcome in outcomes if outcome.task.fault]
    print(f"\n{'part':<16}{'faults':>8}{'caught':>8}{'seconds':>9}")
    for name in dict.fromkeys(outcome.task.part for outcome in outcomes):
        rows = [row for row in outcomes if row.task.part == name]
        counts = [sum(bool(row.task.fault) for row in rows), _count(rows, CAUGHT)]
        seconds = sum(row.seconds for row in rows)
        print(f"{name:<16}{counts[0]:>8}{counts[1]:>8}{seconds:>9.0f}")
    share = _count(faults, CAUGHT) / max(len(faults), 1)
    print(f"{'all':<16}{len(faults):>8}{_count(faults, CAUGHT):>8}  {share:.1%}")
    wrong = _count(outcomes, STALE) + _count(outcomes, BROKEN)
    return bool(faults) and not wrong and share >= WANTED_SHARE


def _count(outcomes: Sequence[Outcome], result: str) -> int:
    return sum(outcome.result == result for outcome in outcomes)


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("words", nargs="*", help="only faults whose part or name has one of these")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="how many at a time")
    arguments = parser.parse_args()
    start = time.monotonic()
    well = _summary(_run_all(chosen(arguments.words), arguments.jobs))
    print(f"{(time.monotonic() - start) / 60:.1f} minutes")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
