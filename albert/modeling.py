# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The ALBERT model (arXiv:1909.11942): encoder and the two pretraining heads.

Variables have the names of the released checkpoints and TF-Hub modules. Dimensions: B batch, S
sequence, T = B * S tokens, E embedding, H hidden, I intermediate, N heads, D = H / N head size, V
vocabulary, P predictions per sequence.
"""

import dataclasses
import re
import zlib
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import six
import tensorflow.compat.v1 as tf

from albert.configs.model_config import (
    ACTIVATIONS,
    AlbertConfig,
    check_activation,
    check_heads,
    layer_groups,
)
from albert.ops import fused, onednn, plain
from albert.ops.plain import Dense, Norm, gelu
from albert.runtimes import compat
from albert.util import UserError

_ACTIVATIONS: Dict[str, Any] = dict.fromkeys(ACTIVATIONS, gelu)
_ACTIVATIONS.update(linear=None, relu=tf.nn.relu, tanh=tf.tanh)
MASK_BIAS = -10000.0  # added to the attention scores of padding


# ---- encoder -------------------------------------------------------------------------------------

# The collection of the variables that hold joined and cast weights, if AlbertModel has
# `keep_weights`. Run their initializers whenever the weights change.
KEPT_WEIGHTS = "kept_weights"


class _LayerWeights(NamedTuple):
    """The weights of one block."""

    query_key_value: Dense  # [H, 3H], [3H]; the query part is divided by sqrt(D)
    attention_output: Dense  # [H, H], [H]
    attention_norm: Norm
    intermediate: Dense  # [H, I], [I]
    output: Dense  # [I, H], [H]
    output_norm: Norm


class _SharedWeights:
    """Creates the variables of blocks, and the tensors computed from them, once each.

    Layers share weights. To save time, each step casts them to the compute dtype, and joins query,
    key and value, once for all layers. With `keeps`, this runs only when KEPT_WEIGHTS are
    initialized. With `accumulates`, each layer takes its weights from the layer before, so that the
    backward pass adds up their gradients layer by layer (`fused.shared`).
    """

    def __init__(
        self,
        config: AlbertConfig,
        dtype: tf.DType,
        *,
        accumulates: bool = False,
        keeps: bool = False,
    ):
        self._config = config
        self._dtype = dtype
        self._accumulates = accumulates
        self._keeps = keeps
        # (float32 weights for the next layer, the weights in the compute dtype)
        self._weights: Dict[Tuple[Callable, str], Tuple[Any, Any]] = {}

    def block(self, attention: str, feed_forward: str) -> _LayerWeights:
        """Returns the next layer's weights, below a path for each of its two parts."""
        attention_part = self._part(self._attention, attention)
        return _LayerWeights(*attention_part, *self._part(self._feed_forward, feed_forward))

    def _part(self, create: Callable, path: str) -> Tuple[Dense, Dense, Norm]:
        """Returns the weights for the next layer; the first layer that uses them creates them."""
        if (create, path) not in self._weights:
            *dense, norm = weights = create(path)
            cast = tf.nest.map_structure(self._cast, dense)
            self._weights[create, path] = weights, (*cast, norm)  # LayerNorm stays float32
        weights, cast = self._weights[create, path]
        if not self._accumulates:
            return cast
        flat = fused.shared(tf.nest.flatten(weights), tf.nest.flatten(cast))
        current, following = (tf.nest.pack_sequence_as(weights, tensors) for tensors in flat)
        self._weights[create, path] = following, cast
        return current

    def _cast(self, weight: Any) -> tf.Tensor:
        cast = tf.cast(weight, self._dtype)
        is_copy = isinstance(weight, tf.Tensor) or weight.dtype.base_dtype != self._dtype
        if not (self._keeps and is_copy):
            return cast
        return tf.Variable(
            cast, trainable=False, collections=[KEPT_WEIGHTS], use_resource=True
        ).read_value()

    def _attention(self, path: str) -> Tuple[Dense, Dense, Norm]:
        hidden = self._config.hidden_size
        query, key, value = (
            self._dense(f"{path}attention_1/self/{name}", hidden, hidden)
            for name in ("query", "key", "value")
        )
        # Scaling the query's weights once replaces scaling the scores in every layer.
        scale = 1.0 / np.sqrt(hidden // self._config.num_attention_heads)
        joined = Dense(
            tf.concat([query.kernel * scale, key.kernel, value.kernel], axis=1),  # [H, 3H]
            tf.concat([query.bias * scale, key.bias, value.bias], axis=0),  # [3H]
        )
        return (
            joined,
            self._dense(f"{path}attention_1/output/dense", hidden, hidden),
            get_norm(f"{path}LayerNorm", hidden),
        )

    def _feed_forward(self, path: str) -> Tuple[Dense, Dense, Norm]:
        hidden, inner = self._config.hidden_size, self._config.intermediate_size
        return (
            self._dense(f"{path}ffn_1/intermediate/dense", hidden, inner),
            self._dense(f"{path}ffn_1/intermediate/output/dense", inner, hidden),
            get_norm(f"{path}LayerNorm_1", hidden),
        )

    def _dense(self, path: str, rows: int, columns: int) -> Dense:
        return get_dense(path, [rows, columns], self._config.initializer_range)


class _Dropout(NamedTuple):
    """Dropout whose masks are a function of (seed, step, position in the network)."""

    seed: Optional[tf.Tensor]  # int32 [2], or None for TensorFlow's stateful random numbers
    ops: Any

    def __call__(self, tensor: tf.Tensor, rate: float, position: int) -> tf.Tensor:
        if rate == 0:
            return tensor
        if self.seed is None:
            return tf.nn.dropout(tensor, rate=rate)
        # A large odd factor keeps the keys of neighbouring positions and neighbouring seeds apart.
        key = self.seed + tf.constant([(position * 0x3504F333) % (1 << 31), 0], tf.int32)
        uniform = tf.random.stateless_uniform(get_shape_list(tensor), seed=key)
        return self.ops.dropout(tensor, uniform >= rate, rate)


class _EncoderContext(NamedTuple):
    """The settings and tensors that all layers of a model use, except weights."""

    config: AlbertConfig
    dropout: _Dropout
    batch_and_length: List
    attention_bias: tf.Tensor  # float32 [B, 1, 1, S]
    attention: List[tf.Tensor]  # each layer appends its probabilities [B, N, S, S]

    def select(self, rows: tf.Tensor, hidden: tf.Tensor) -> Tuple["_EncoderContext", tf.Tensor]:
        """Reduces the batch to the sequences `rows`, int [c]: [T, H] -> [c * S, H]."""
        width, length = self.config.hidden_size, self.batch_and_length[1]
        encoder = self._replace(
            batch_and_length=[tf.shape(rows)[0], length],
            attention_bias=tf.gather(self.attention_bias, rows),
        )
        sequences = tf.gather(tf.reshape(hidden, [-1, length * width]), rows)
        return encoder, tf.reshape(sequences, [-1, width])


def _operations(use_xla: bool, use_onednn: bool = False, dtype: Any = tf.float32) -> Any:
    """Returns the module with the model's operations; `plain` has those for exports.

    `onednn` is not for early exit, which changes the number of tokens: it compiles gelu for each.
    """
    if use_onednn and dtype != tf.float16 and compat.has_onednn():
        return onednn
    return fused if use_xla else plain


def _attention_bias(mask: tf.Tensor, batch_and_length: List) -> tf.Tensor:
    """Returns the bias [B, 1, 1, S] of attention scores: 0 for mask 1, MASK_BIAS for mask 0."""
    batch, length = batch_and_length
    mask = tf.reshape(mask, [batch, 1, 1, length])
    return (1.0 - tf.cast(mask, tf.float32)) * MASK_BIAS


def _encoder_layer(
    encoder: _EncoderContext, inputs: tf.Tensor, weights: _LayerWeights, *, position: int
) -> tf.Tensor:
    """Builds one attention and one feed-forward sub-layer: [T, H] -> [T, H]."""
    config, dropout, ops = encoder.config, encoder.dropout, encoder.dropout.ops
    heads, size = config.num_attention_heads, config.hidden_size // config.num_attention_heads
    rate, preln = config.hidden_dropout_prob, config.ln_type == "preln"

    x = ops.layer_norm(inputs, weights.attention_norm) if preln else inputs
    joined = ops.dense(x, weights.query_key_value)  # [T, 3H]
    query, key, value = ops.split_heads(joined, [*encoder.batch_and_length, heads, size])
    scores, probabilities = ops.attention(query, key, encoder.attention_bias)  # [B, N, S, S]
    encoder.attention.append(probabilities)
    dropped = dropout(probabilities, config.attention_probs_dropout_prob, position)
    context = ops.attend(scores, probabilities, dropped, value=value)  # [B, S, N, D]
    context = tf.reshape(context, [-1, config.hidden_size])  # [T, H]
    update = dropout(ops.dense(context, weights.attention_output), rate, position + 1)
    residual = ops.residual_layer_norm
    middle = inputs + update if preln else residual(inputs, update, weights.attention_norm)

    x = ops.layer_norm(middle, weights.output_norm) if preln else middle
    activation = get_activation(config.hidden_act)
    update = ops.feed_forward(x, weights.intermediate, weights.output, activation=activation)
    update = dropout(update, rate, position + 2)
    return middle + update if preln else residual(middle, update, weights.output_norm)


def _never(tensors: Sequence[tf.Tensor]) -> tf.Tensor:
    """Returns false, bool [], computed from the tensors so that a compiler does not notice it."""
    numbers = [tf.cast(tf.reshape(tensor, [-1])[0], tf.float32) for tensor in tensors]
    return tf.sin(tf.clip_by_value(tf.add_n(numbers), -1.0, 1.0)) > 2.0


def _recomputed_layer(
    encoder: _EncoderContext, inputs: tf.Tensor, weights: _LayerWeights, *, position: int
) -> tf.Tensor:
    """`_encoder_layer` that keeps only its inputs for the backward pass (arXiv:1604.06174)."""
    dropout = encoder.dropout
    seed, config = [] if dropout.seed is None else [dropout.seed], encoder.config
    if not seed and (config.hidden_dropout_prob or config.attention_probs_dropout_prob):
        raise ValueError("Recomputing activations under dropout needs `dropout_seed`.")

    def run(tensors):
        x, *rest = tensors
        layer_dropout = dropout._replace(seed=rest.pop()) if seed else dropout
        layer_weights = tf.nest.pack_sequence_as(weights, rest)
        layer_encoder = encoder._replace(dropout=layer_dropout)
        return _encoder_layer(layer_encoder, x, layer_weights, position=position)

    @tf.custom_gradient
    def recomputed(*tensors):
        def gradient(upstream):
            # The second forward pass must wait until its gradient is due, and the graph optimizer
            # must not merge it with the first. The control dependencies do this. XLA drops them,
            # so the inputs also depend on the gradient, through a condition that is always false.
            with tf.control_dependencies([upstream]):
                copies = [tf.identity(tensor) for tensor in tensors]
            never = _never([upstream])
            copies[0] = tf.where(never, upstream, copies[0])
            if seed:
                copies[-1] = tf.where(never, -copies[-1], copies[-1])
            input_gradient, *others = tf.gradients(run(copies), copies, grad_ys=upstream)
            # Without this condition, XLA computes the weights' gradients at the end of the backward
            # pass, and keeps the inputs of all layers until then.
            never = _never([gradient for gradient in others if gradient is not None])
            return [tf.where(never, upstream, input_gradient), *others]

        return run(list(tensors)), gradient

    return recomputed(inputs, *tf.nest.flatten(weights), *seed)


def _encode(
    encoder: _EncoderContext,
    hidden: tf.Tensor,
    weights: _SharedWeights,
    *,
    path: str = "",
    recompute: bool = False,
    after_layer: Optional[Callable] = None,
) -> List[tf.Tensor]:
    """Runs all layers on [T, H], and returns the output [T, H] of every inner block.

    `after_layer` takes a layer's number, from 1, and its output. It returns the sequences to run
    through the next layers, or None for all.
    """
    config, outputs = encoder.config, []  # type: Tuple[AlbertConfig, List[tf.Tensor]]
    run_layer = _recomputed_layer if recompute else _encoder_layer
    for layer in range(config.num_hidden_layers):
        for inner in range(config.inner_group_num):
            paths = [
                f"{path}transformer/group_{group}/inner_group_{inner}/"
                for group in layer_groups(config, layer)
            ]
            # Three dropouts a block; position 0 is the embedding's.
            position = 1 + 3 * len(outputs)
            hidden = run_layer(encoder, hidden, weights.block(*paths), position=position)
            outputs.append(hidden)
        rows = after_layer(layer + 1, hidden) if after_layer else None
        if rows is not None:
            encoder, hidden = encoder.select(rows, hidden)
    return outputs


class AlbertModel:
    """The encoder: token ids in; sequence, pooled and per-layer outputs out.

    Example: AlbertModel(config, is_training=False, input_ids=ids).get_pooled_output()
    """

    _pooler: Optional[Dense] = None

    def __init__(
        self,
        config,
        is_training,
        input_ids,
        input_mask=None,
        token_type_ids=None,
        use_one_hot_embeddings=False,
        use_einsum=True,
        scope=None,
        *,
        compute_dtype=tf.float32,
        recompute=False,
        use_xla=False,
        dropout_seed=None,
        after_layer=None,
        use_onednn=False,
        keep_weights=False,
    ):
        """Builds the graph of the encoder.

        Args:
          is_training: Python bool; False sets both dropout rates to 0.
          input_ids: int32 [B, S].
          input_mask: int32 [B, S], 1 for tokens and 0 for padding; None: ones.
          token_type_ids: int32 [B, S]; None: zeros.
          use_one_hot_embeddings: look words up by a product with one-hot rows (TPU).
          use_einsum: ignored.
          scope: variable scope; None: "bert".
          compute_dtype: dtype of matrix products and activations.
          recompute: keep only each block's input and compute the rest again in the backward pass.
          use_xla: use the compiled operations of `ops.fused`; not for graphs to export.
          dropout_seed: int32 [2], such as (seed, global step), for dropout; None: stateful.
          after_layer: takes a layer's number, from 1, and its pooled output, float32 [b, H].
            Returns the sequences to run through the next layers, int [c], or None for all.
          use_onednn: use `ops.onednn` where it runs: for prediction, not for gradients or exports.
          keep_weights: join and cast weights only when KEPT_WEIGHTS are initialized, not each time.

        Raises:
          ValueError: wrong config, input rank or length; `recompute` without dropout_seed.
        """
        config.validate()
        self._config = config = config if is_training else _without_dropout(config)
        ops = _operations(use_xla, use_onednn and not after_layer, compute_dtype)
        dropout = _Dropout(dropout_seed, ops)
        sizes = get_shape_list(input_ids, expected_rank=2)
        self._shape = [-1, sizes[1]] if after_layer else sizes  # later layers may have fewer rows
        _check_length(sizes[1], config.max_position_embeddings)
        mask = tf.ones(sizes, tf.int32) if input_mask is None else input_mask
        types = tf.zeros(sizes, tf.int32) if token_type_ids is None else token_type_ids
        with tf.variable_scope(scope, default_name="bert"):
            inputs = self._embed(input_ids, types, dropout=dropout, one_hot=use_one_hot_embeddings)
            encoder = _EncoderContext(config, dropout, sizes, _attention_bias(mask, sizes), [])
            weight_options = {"accumulates": is_training and use_xla, "keeps": keep_weights}
            weights = _SharedWeights(config, compute_dtype, **weight_options)
            callback = after_layer and (lambda layer, x: after_layer(layer, self._pool(x)))
            options = {"path": "encoder/", "recompute": recompute, "after_layer": callback}
            self._layers = _encode(encoder, tf.cast(inputs, compute_dtype), weights, **options)
            self._attention = encoder.attention[:]
            self._pooled_output = self._pool(self._layers[-1])

    def _embed(self, input_ids, token_type_ids, *, dropout: _Dropout, one_hot: bool) -> tf.Tensor:
        """Returns the encoder's input, float32 [T, H]: words + types + positions."""
        config, stddev = self._config, self._config.initializer_range
        embedding, hidden = config.embedding_size, config.hidden_size
        is_zh = config.embedding_layout == "albert_zh"
        words, self._embedding_table = embedding_lookup(
            input_ids, config.vocab_size, embedding, stddev, "embeddings/word_embeddings", one_hot
        )
        self._word_embeddings, self._projection = words, None
        if is_zh and embedding != hidden:
            self._projection = get_weight(f"{_MAPPING}/kernel", [embedding, hidden], stddev)
            words = einsum_via_matmul(words, self._projection, 1)  # [B, S, H]
        width = int(words.shape[-1])
        shape = [config.type_vocab_size, width]
        types = get_weight("embeddings/token_type_embeddings", shape, stddev)
        shape = [config.max_position_embeddings, width]
        positions = get_weight("embeddings/position_embeddings", shape, stddev)
        total = _add_positions(_add_types(words, types, token_type_ids, one_hot=one_hot), positions)
        # To compile it takes 0.15 s for each length: too much for narrow embeddings.
        layer_norm = (dropout.ops if width == hidden else plain).layer_norm
        output = layer_norm(reshape_to_matrix(total), get_norm("embeddings/LayerNorm", width))
        output = self._embeddings = dropout(output, config.hidden_dropout_prob, 0)
        if is_zh or embedding == hidden:
            return output
        return plain.dense(output, get_dense(_MAPPING, [embedding, hidden], stddev))  # [T, H]

    def _pool(self, tokens: tf.Tensor) -> tf.Tensor:
        """Returns a dense layer with tanh on each first token of a layer: [T, H] -> [B, H]."""
        hidden = self._config.hidden_size
        if self._pooler is None:
            sizes = [hidden, hidden]
            self._pooler = get_dense("pooler/dense", sizes, self._config.initializer_range)
        return tf.tanh(plain.dense(self._as_sequence(tokens)[:, 0, :], self._pooler))

    def _as_sequence(self, tokens: tf.Tensor) -> tf.Tensor:
        """Returns [T, width], in any dtype, as float32 [B, S, width]."""
        return tf.reshape(tf.cast(tokens, tf.float32), [*self._shape, int(tokens.shape[-1])])

    def get_pooled_output(self) -> tf.Tensor:
        """Returns the pooled first token, float32 [B, H]."""
        return self._pooled_output

    def get_sequence_output(self) -> tf.Tensor:
        """Returns the last layer's output, float32 [B, S, H]."""
        return self._as_sequence(self._layers[-1])

    def get_all_encoder_layers(self) -> List[tf.Tensor]:
        """Returns the output of every inner block of every layer, float32 [B, S, H] each."""
        return [self._as_sequence(layer) for layer in self._layers]

    def get_attention_probs(self) -> List[tf.Tensor]:
        """Returns the attention of every inner block, before dropout: float32 [B, N, S, S] each.

        Element [b, n, i, j] is the weight of token j's value in head n's output for token i.
        """
        return [tf.cast(probabilities, tf.float32) for probabilities in self._attention]

    def get_word_embedding_output(self) -> tf.Tensor:
        """Returns the word embeddings before positions and types, float32 [B, S, E]."""
        return self._as_sequence(self._word_embeddings)

    def get_embedding_output(self) -> tf.Tensor:
        """Returns the embedding layer's output, float32 [B, S, E] (albert_zh: [B, S, H])."""
        return self._as_sequence(self._embeddings)

    def get_embedding_table(self) -> tf.Variable:
        """Returns the word embedding table, float32 [V, E]."""
        return self._embedding_table

    def get_embedding_projection(self) -> Optional[tf.Variable]:
        """Returns albert_zh's projection of words, float32 [E, H]; None in Google's layout."""
        return self._projection

    # The names of the attributes in google-research/albert.
    pooled_output = property(get_pooled_output)
    sequence_output = property(get_sequence_output)
    all_encoder_layers = property(get_all_encoder_layers)
    word_embedding_output = property(get_word_embedding_output)
    embedding_output = property(get_embedding_output)
    output_embedding_table = property(get_embedding_table)


_MAPPING = "encoder/embedding_hidden_mapping_in"


def _check_length(length: Any, max_position_embeddings: int) -> None:
    """Checks that a static length does not exceed the table of positions."""
    if isinstance(length, int) and length > max_position_embeddings:
        raise UserError(
            f"The sequence length {length} exceeds max_position_embeddings"
            f" {max_position_embeddings}."
        )


def _without_dropout(config: AlbertConfig) -> AlbertConfig:
    values = dict(config.__dict__, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return AlbertConfig.from_dict(values)


def _look_up(table: tf.Variable, ids: tf.Tensor, *, one_hot: bool) -> tf.Tensor:
    """Returns the rows of a table [V, width] for ids [T]: [T, width]."""
    if one_hot:
        return tf.matmul(tf.one_hot(ids, int(table.shape[0])), table)
    return tf.nn.embedding_lookup(table, ids)


def _add_types(
    inputs: tf.Tensor, table: tf.Variable, token_type_ids: tf.Tensor, *, one_hot: bool
) -> tf.Tensor:
    """Adds the rows of a table for types [B, S] to [B, S, W]."""
    # The product with one-hot rows is faster, but the default is a lookup: the clipping norm of a
    # lookup counts repeated ids separately, as in the published implementation.
    types = _look_up(table, tf.reshape(token_type_ids, [-1]), one_hot=one_hot)
    return inputs + tf.reshape(types, get_shape_list(inputs))


def _add_positions(inputs: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    """Adds the first S rows of a table to [B, S, W]."""
    length = get_shape_list(inputs)[1]
    _check_length(length, int(table.shape[0]))
    return inputs + tf.slice(table, [0, 0], [length, -1])


# ---- pretraining heads ---------------------------------------------------------------------------


class PretrainingHeadOutput(NamedTuple):
    """The output of a pretraining head."""

    loss: tf.Tensor  # float32 []
    per_example_loss: tf.Tensor  # float32 [B * P] (masked words) or [B] (sentence order)
    log_probs: tf.Tensor  # float32 [B * P, V] or [B, 2]


def get_masked_lm_output(
    albert_config,
    input_tensor,
    output_weights,
    positions,
    label_ids,
    label_weights,
    *,
    projection=None,
    compute_dtype=tf.float32,
    use_xla=False,
):
    """Predicts masked words (arXiv:1909.11942, section 3; arXiv:1810.04805, section 3.1).

    Args:
      albert_config: AlbertConfig.
      input_tensor: sequence output, float32 [B, S, H].
      output_weights: word embedding table, float32 [V, E].
      positions: masked positions, int32 [B, P].
      label_ids: the original tokens at these positions, int32 [B, P].
      label_weights: float32 [B, P]; 0 for padding.
      projection: the projection of words, [E, H], in albert_zh's layout. The head then transforms
        in H, and projects to E.
      compute_dtype: with `use_xla`, the dtype of matrix products in the backward pass.
      use_xla: use the compiled operations of `ops.fused`. log_probs then have no gradient.

    Returns:
      PretrainingHeadOutput; loss = sum(weight * cross entropy) / (sum(weight) + 1e-5).
    """
    transformed, weights = _masked_lm_transform(
        albert_config, input_tensor, output_weights, positions=positions, projection=projection
    )
    labels = tf.reshape(label_ids, [-1])
    example_weights = tf.cast(tf.reshape(label_weights, [-1]), tf.float32)
    per_example, logits = _operations(use_xla).vocabulary_loss(
        transformed, weights, labels, compute_dtype=compute_dtype
    )
    total = tf.reduce_sum(example_weights * per_example)
    loss = total / (tf.reduce_sum(example_weights) + 1e-5)
    return PretrainingHeadOutput(loss, per_example, tf.nn.log_softmax(logits))


def masked_lm_logits(
    albert_config: AlbertConfig,
    input_tensor: tf.Tensor,
    output_weights: tf.Tensor,
    *,
    positions: tf.Tensor,
    projection: Optional[tf.Tensor] = None,
) -> tf.Tensor:
    """Returns the logits, float32 [B * P, V]; arguments as for `get_masked_lm_output`."""
    return plain.logits(
        *_masked_lm_transform(
            albert_config, input_tensor, output_weights, positions=positions, projection=projection
        )
    )


def _masked_lm_transform(
    albert_config: AlbertConfig,
    input_tensor: tf.Tensor,
    output_weights: tf.Tensor,
    *,
    positions: tf.Tensor,
    projection: Optional[tf.Tensor],
) -> Tuple[tf.Tensor, Dense]:
    """Returns (transformed masked tokens [B * P, E], output layer: word table and bias)."""
    hidden, is_zh = albert_config.hidden_size, albert_config.embedding_layout == "albert_zh"
    width = hidden if is_zh else albert_config.embedding_size
    masked = gather_indexes(input_tensor, positions)  # [B * P, H]
    path = "cls/predictions/transform"
    weights = get_dense(f"{path}/dense", [hidden, width], albert_config.initializer_range)
    activation = get_activation(albert_config.hidden_act)
    transformed = plain.dense(masked, weights)
    transformed = activation(transformed) if activation else transformed
    transformed = plain.layer_norm(transformed, get_norm(f"{path}/LayerNorm", width))
    if projection is not None:
        transformed = tf.matmul(transformed, projection, transpose_b=True)  # [B * P, E]
    shape = [albert_config.vocab_size]
    bias = tf.get_variable("cls/predictions/output_bias", shape, initializer=tf.zeros_initializer())
    return transformed, Dense(output_weights, bias)


def get_sentence_order_output(albert_config, input_tensor, labels):
    """Predicts whether two segments were swapped (arXiv:1909.11942, section 3.1).

    `input_tensor` is the pooled output [B, H]; labels are int32 [B] or [B, 1], 1 for swapped.
    Returns a PretrainingHeadOutput, whose loss is the mean cross entropy over the batch.
    """
    logits = sentence_order_logits(albert_config, input_tensor)
    per_example = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.reshape(labels, [-1]), logits=logits
    )
    return PretrainingHeadOutput(
        tf.reduce_mean(per_example), per_example, tf.nn.log_softmax(logits)
    )


def sentence_order_logits(albert_config: AlbertConfig, input_tensor: tf.Tensor) -> tf.Tensor:
    """Returns the logits of the two orders for a pooled output [B, H]: float32 [B, 2]."""
    path, shape = "cls/seq_relationship/output", [2, albert_config.hidden_size]
    weights = get_weight(f"{path}_weights", shape, albert_config.initializer_range)
    bias = tf.get_variable(f"{path}_bias", [2], initializer=tf.zeros_initializer())
    return tf.nn.bias_add(tf.matmul(input_tensor, weights, transpose_b=True), bias)


def gather_indexes(sequence_tensor: tf.Tensor, positions: tf.Tensor) -> tf.Tensor:
    """Returns the vectors [B * P, H] at `positions` [B, P] of a sequence [B, S, H]."""
    batch, length, width = get_shape_list(sequence_tensor, expected_rank=3)
    offsets = tf.reshape(tf.range(0, batch, dtype=positions.dtype.base_dtype) * length, [-1, 1])
    flat_positions = tf.reshape(positions + offsets, [-1])  # [B * P]
    return tf.gather(tf.reshape(sequence_tensor, [-1, width]), flat_positions)


# ---- weights -------------------------------------------------------------------------------------


def create_initializer(initializer_range=0.02, name=None):
    """Returns the initializer of kernels and tables: a normal, truncated at two deviations.

    With the variable's full `name` and a graph seed (tf.set_random_seed, RunConfig.tf_random_seed),
    the values depend only on seed and name, and are the same in every graph and runtime.
    """
    graph_seed = tf.get_default_graph().seed
    if name is None or graph_seed is None:
        return tf.truncated_normal_initializer(stddev=initializer_range)
    key = [graph_seed, zlib.crc32(six.ensure_binary(name))]

    def initializer(shape, dtype=tf.float32, partition_info=None):
        return tf.random.stateless_truncated_normal(
            shape, seed=tf.constant(key, tf.int64), stddev=initializer_range, dtype=dtype
        )

    return initializer


def get_weight(path: str, shape: List[int], initializer_range: float) -> tf.Variable:
    """Returns the variable `path` below the current scope, drawn from a truncated normal."""
    scope = tf.get_variable_scope().name
    name = f"{scope}/{path}" if scope else path
    return tf.get_variable(
        path, shape, dtype=tf.float32, initializer=create_initializer(initializer_range, name)
    )


def get_dense(path: str, shape: List[int], initializer_range: float) -> Dense:
    """Returns the float32 variables `path`/kernel, with this shape, and `path`/bias, zeros."""
    kernel = get_weight(f"{path}/kernel", shape, initializer_range)
    bias = tf.get_variable(f"{path}/bias", [shape[1]], initializer=tf.zeros_initializer())
    return Dense(kernel, bias)


def get_norm(path: str, size: int) -> Norm:
    """Returns the float32 variables of a LayerNorm: `path`/beta, zeros, and `path`/gamma, ones."""
    prefix = f"{path}/" if path else ""
    beta = tf.get_variable(f"{prefix}beta", [size], initializer=tf.zeros_initializer())
    gamma = tf.get_variable(f"{prefix}gamma", [size], initializer=tf.ones_initializer())
    return Norm(beta, gamma)


def get_assignment_map_from_checkpoint(tvars, init_checkpoint, num_of_group=0):
    """Maps the values of a checkpoint to variables.

    With num_of_group > 1, a variable of group n that is not in the checkpoint takes group 0's
    value.

    Returns:
      (assignment map, initialised names). The map goes from checkpoint name to variable name, for
      tf.train.init_from_checkpoint. With num_of_group > 0, it is a list with a map for each group,
      because a value can go to several variables. The initialised names are the keys of a dict,
      with and without ":0".
    """
    in_checkpoint = {name for name, _ in tf.train.list_variables(init_checkpoint)}
    maps: List[Dict[str, str]] = [{} for _ in range(max(num_of_group, 1))]
    initialized: Dict[str, int] = {}
    for variable in tvars:
        name = re.sub(r":\d+$", "", variable.name)
        group = re.search(r"/group_(\d+)/", name)
        source = name
        if name not in in_checkpoint and group and num_of_group > 1:
            source = name.replace(group.group(0), "/group_0/")
        if source not in in_checkpoint:
            continue
        number = int(group.group(1)) if group and num_of_group > 0 else 0
        maps[min(number, len(maps) - 1)][source] = name
        initialized.update({name: 1, f"{name}:0": 1})
    return (maps if num_of_group > 0 else maps[0]), initialized


# ---- functions of the public script that user code imports ---------------------------------------


def get_activation(activation_string) -> Optional[Callable]:
    """Returns an activation by its name: "linear", "relu", "gelu" or "tanh", in any case.

    "gelu_new" and "gelu_pytorch_tanh", Hugging Face's names for the tanh form of gelu, mean "gelu".
    Returns None for "", and a function or None unchanged. Raises ValueError for other names.
    """
    if not isinstance(activation_string, six.string_types):
        return activation_string
    check_activation(activation_string)
    return _ACTIVATIONS.get(activation_string.lower())


def dropout(
    input_tensor, dropout_prob, *, seed: Optional[tf.Tensor] = None, position: int = -1
) -> tf.Tensor:
    """Applies dropout, unless the probability is None or 0.

    The mask depends only on `seed`, int32 [2], and `position`. (The encoder uses positions from 0.)
    Without a seed, random numbers are stateful.
    """
    return _Dropout(seed, plain)(input_tensor, dropout_prob or 0, position)


def layer_norm(input_tensor: tf.Tensor, name: Optional[str] = None) -> tf.Tensor:
    """Returns LayerNorm over the last axis, with variables `name`/beta and `name`/gamma.

    Without a name, the first LayerNorm in a scope is LayerNorm, the second LayerNorm_1, and so on.
    """
    with tf.variable_scope(name, default_name="LayerNorm"):
        norm = get_norm("", int(input_tensor.shape[-1]))
    return plain.layer_norm(input_tensor, norm)


def layer_norm_and_dropout(input_tensor, dropout_prob, name=None) -> tf.Tensor:
    """Returns dropout(LayerNorm(input))."""
    return dropout(layer_norm(input_tensor, name), dropout_prob)


def get_shape_list(tensor, expected_rank=None, name=None) -> List:
    """Returns the dimensions of a tensor: ints for static, scalar tensors for dynamic dimensions.

    Raises ValueError if the rank is not `expected_rank` (an int or a list of ints).
    """
    if expected_rank is not None:
        assert_rank(tensor, expected_rank, name)
    static = tensor.shape.as_list()
    if None not in static:
        return static
    dynamic = tf.shape(tensor)
    return [dynamic[i] if size is None else size for i, size in enumerate(static)]


def assert_rank(tensor, expected_rank, name=None) -> None:
    """Raises ValueError if the rank is not `expected_rank` (an int or a list of ints)."""
    allowed = [expected_rank] if isinstance(expected_rank, int) else list(expected_rank)
    if tensor.shape.ndims not in allowed:
        raise ValueError(
            f"Tensor {name or tensor.name!r} has rank {tensor.shape.ndims} (shape"
            f" {tensor.shape}), expected rank {' or '.join(map(str, allowed))}."
        )


def reshape_to_matrix(input_tensor: tf.Tensor) -> tf.Tensor:
    """Reshapes [..., W] to a matrix [T, W]. Raises ValueError if the rank is below 2."""
    if input_tensor.shape.ndims < 2:
        raise ValueError(f"A matrix needs at least rank 2, not shape {input_tensor.shape}.")
    return tf.reshape(input_tensor, [-1, int(input_tensor.shape[-1])])


def reshape_from_matrix(output_tensor: tf.Tensor, orig_shape_list: List) -> tf.Tensor:
    """Reshapes a matrix [T, W] to [*orig_shape_list[:-1], W]."""
    return tf.reshape(output_tensor, [*orig_shape_list[:-1], int(output_tensor.shape[-1])])


# ---- the parts of the model as functions, for programs that compose their own --------------------
#
# Names, arguments and variables are as in google-research/albert. AlbertModel computes the same
# numbers faster, because it joins and casts shared weights once per step.


def get_timing_signal_1d_given_position(
    channels, position, min_timescale=1.0, max_timescale=1.0e4
) -> tf.Tensor:
    """Returns sines, then cosines, of positions (arXiv:1706.03762, section 3.5).

    Positions [B, S] -> float32 [B, S, channels]; an odd last channel is 0. From one position to the
    next, the angle grows by min_timescale in the first channel, and by min_timescale^2 /
    max_timescale in the last.
    """
    count = channels // 2
    step = np.log(float(max_timescale) / float(min_timescale)) / max(count - 1, 1)
    factors = (min_timescale * np.exp(-step * np.arange(count))).astype(np.float32)
    angles = tf.cast(position, tf.float32)[:, :, tf.newaxis] * factors  # [B, S, count]
    signal = tf.concat([tf.sin(angles), tf.cos(angles)], axis=2)  # [B, S, 2 * count]
    return tf.pad(signal, [[0, 0], [0, 0], [0, channels % 2]])


def embedding_lookup(
    input_ids,
    vocab_size,
    embedding_size=128,
    initializer_range=0.02,
    word_embedding_name="word_embeddings",
    use_one_hot_embeddings=False,
):
    """Creates an embedding table, and looks up int32 ids [B, S] (or [B, S, n]) in it.

    With `use_one_hot_embeddings`, the lookup is a product with one-hot rows (TPU). Returns (words,
    float32 [B, S, E] or [B, S, n * E], table [V, E]).
    """
    table = get_weight(word_embedding_name, [vocab_size, embedding_size], initializer_range)
    words = _look_up(table, tf.reshape(input_ids, [-1]), one_hot=use_one_hot_embeddings)
    batch, length, *counts = get_shape_list(input_ids, expected_rank=[2, 3])
    width = embedding_size * (counts[0] if counts else 1)
    return tf.reshape(words, [batch, length, width]), table


def embedding_postprocessor(
    input_tensor,
    use_token_type=False,
    token_type_ids=None,
    token_type_vocab_size=16,
    token_type_embedding_name="token_type_embeddings",
    use_position_embeddings=True,
    position_embedding_name="position_embeddings",
    initializer_range=0.02,
    max_position_embeddings=512,
    dropout_prob=0.1,
    use_one_hot_embeddings=True,
) -> tf.Tensor:
    """Returns dropout(LayerNorm(words + types + positions)), float32 [B, S, E].

    Words are float32 [B, S, E], types int32 [B, S]. `use_token_type` adds an embedding for each
    type, `use_position_embeddings` for each position; both tables use initializer_range. With
    `use_one_hot_embeddings`, the lookup of types is a product with one-hot rows.

    Raises:
      ValueError: use_token_type is set without token_type_ids, or the sequence is longer than
        max_position_embeddings.
    """
    width = get_shape_list(input_tensor, expected_rank=3)[-1]
    output = input_tensor
    if use_token_type:
        if token_type_ids is None:
            raise ValueError("use_token_type needs token_type_ids. Give them, or leave both out.")
        shape = [token_type_vocab_size, width]
        table = get_weight(token_type_embedding_name, shape, initializer_range)
        output = _add_types(output, table, token_type_ids, one_hot=use_one_hot_embeddings)
    if use_position_embeddings:
        shape = [max_position_embeddings, width]
        table = get_weight(position_embedding_name, shape, initializer_range)
        output = _add_positions(output, table)
    return layer_norm_and_dropout(output, dropout_prob)


def einsum_via_matmul(input_tensor, w, num_inner_dims) -> tf.Tensor:
    """Multiplies [*outer, *inner] by `w`, [*inner, *new], as matrices: [*outer, *new].

    inner are the last `num_inner_dims` dimensions of `input_tensor`. `w` must have a static shape.
    """
    inner, new = np.split(w.shape.as_list(), [num_inner_dims])
    outer = get_shape_list(input_tensor)[:-num_inner_dims]
    rows = tf.reshape(input_tensor, [-1, np.prod(inner)])
    product = tf.matmul(rows, tf.reshape(w, [np.prod(inner), -1]))
    return tf.reshape(product, [*outer, *new])


def dense_layer_3d(
    input_tensor, num_attention_heads, head_size, initializer, activation, use_einsum, name=None
) -> tf.Tensor:
    """Returns a dense layer of [B, S, H] split into heads, [B, S, N, D].

    The variables are kernel [H, N * D] and bias [N * D] below `name`. use_einsum is ignored.
    """
    width = num_attention_heads * head_size
    flat = dense_layer_2d(input_tensor, width, initializer, None, use_einsum, name=name)
    split = tf.reshape(flat, [*get_shape_list(flat)[:-1], num_attention_heads, head_size])
    return activation(split) if activation else split


def dense_layer_3d_proj(
    input_tensor, hidden_size, head_size, initializer, activation, use_einsum, name=None
) -> tf.Tensor:
    """Returns a dense layer on all heads together, [B, S, N, D] -> [B, S, H].

    The variables are kernel [N * D, H] and bias [H] below `name`. use_einsum is ignored.
    """
    width = int(input_tensor.shape[2]) * head_size
    flat = tf.reshape(input_tensor, [*get_shape_list(input_tensor)[:2], width])
    return dense_layer_2d(flat, hidden_size, initializer, activation, use_einsum, name=name)


def dense_layer_2d(
    input_tensor, output_size, initializer, activation, use_einsum, num_attention_heads=1, name=None
) -> tf.Tensor:
    """Returns a dense layer, [B, S, H] -> [B, S, output_size].

    The variables are kernel and bias below `name`. use_einsum and num_attention_heads are ignored.
    """
    shape = [int(input_tensor.shape[-1]), output_size]
    with tf.variable_scope(name, default_name="dense"):
        kernel = tf.get_variable("kernel", shape, initializer=initializer)
        bias = tf.get_variable("bias", [output_size], initializer=tf.zeros_initializer())
    output = plain.dense(reshape_to_matrix(input_tensor), Dense(kernel, bias))
    output = reshape_from_matrix(output, get_shape_list(input_tensor))
    return activation(output) if activation else output


def dot_product_attention(q, k, v, bias, dropout_rate=0.0) -> tf.Tensor:
    """Returns attention (arXiv:1706.03762, section 3.2.1) with dropout on its probabilities.

    Args:
      q: [..., F, D]; the result has the same shape.
      k, v: [..., T, D].
      bias: mask [B, 1, T, 1], 1 for tokens and 0 for padding; None: no padding.
      dropout_rate: dropout rate of the probabilities.
    """
    scores = tf.matmul(q, k, transpose_b=True) / np.sqrt(int(q.shape[-1]))  # [..., F, T]
    attention_bias = 0.0 if bias is None else _attention_bias(bias, get_shape_list(bias)[::2])
    return tf.matmul(dropout(plain.masked_softmax(scores, attention_bias), dropout_rate), v)


def attention_layer(
    from_tensor,
    to_tensor,
    attention_mask=None,
    num_attention_heads=1,
    query_act=None,
    key_act=None,
    value_act=None,
    attention_probs_dropout_prob=0.0,
    initializer_range=0.02,
    batch_size=None,
    from_seq_length=None,
    to_seq_length=None,
    use_einsum=True,
) -> tf.Tensor:
    """Returns multi-head attention without its output layer: [B, F, N, D].

    `from_tensor` is [B, F, H] and `to_tensor` [B, T, H], or matrices [B * F, H] and [B * T, H] with
    batch_size, from_seq_length and to_seq_length. The mask is int32 [B, T], 1 for tokens and 0 for
    padding. The variables are kernel and bias of query, key and value. use_einsum is ignored.

    Raises:
      ValueError: the ranks differ, or sizes of matrices are missing.
    """
    rank = len(get_shape_list(from_tensor, expected_rank=[2, 3]))
    assert_rank(to_tensor, rank)
    if rank == 2:
        if None in (batch_size, from_seq_length, to_seq_length):
            raise ValueError("Matrices need batch_size, from_seq_length and to_seq_length.")
        width = int(from_tensor.shape[-1])
        from_tensor = tf.reshape(from_tensor, [batch_size, from_seq_length, width])
        to_tensor = tf.reshape(to_tensor, [batch_size, to_seq_length, int(to_tensor.shape[-1])])
    size = int(from_tensor.shape[-1]) // num_attention_heads
    initializer = create_initializer(initializer_range)

    def heads(tensor, activation, name):
        sizes = num_attention_heads, size
        split = dense_layer_3d(tensor, *sizes, initializer, activation, use_einsum, name)
        return plain.swap_heads(split)  # [B, N, S, D]

    query = heads(from_tensor, query_act, "query")
    key, value = heads(to_tensor, key_act, "key"), heads(to_tensor, value_act, "value")
    if attention_mask is not None:
        batch, length = get_shape_list(to_tensor)[:2]
        attention_mask = tf.reshape(attention_mask, [batch, 1, length, 1])
    context = dot_product_attention(query, key, value, attention_mask, attention_probs_dropout_prob)
    return plain.swap_heads(context)  # [B, F, N, D]


def attention_ffn_block(
    layer_input,
    hidden_size=768,
    attention_mask=None,
    num_attention_heads=1,
    attention_head_size=64,
    attention_probs_dropout_prob=0.0,
    intermediate_size=3072,
    intermediate_act_fn=None,
    initializer_range=0.02,
    hidden_dropout_prob=0.0,
    use_einsum=True,
) -> tf.Tensor:
    """Returns one block of the encoder, attention and feed-forward: [B, S, H] -> [B, S, H].

    `attention_mask` is int32 [B, S]; `intermediate_act_fn` is an activation's name, a function, or
    None. `hidden_dropout_prob` is the dropout rate of each sub-layer's output.
    """
    config = _config_of(locals())
    encoder, hidden = _plain_encoder(config, layer_input, attention_mask)
    weights = _SharedWeights(config, tf.float32).block("", "")
    output = _encoder_layer(encoder, hidden, weights, position=0)
    return reshape_from_matrix(output, get_shape_list(layer_input))


def _config_of(arguments: Dict[str, Any]) -> AlbertConfig:
    """Returns the AlbertConfig with the settings among a function's arguments."""
    names = [field.name for field in dataclasses.fields(AlbertConfig)]
    values = {name: arguments[name] for name in names if name in arguments}
    return AlbertConfig(vocab_size=0, hidden_act=arguments["intermediate_act_fn"], **values)


def _plain_encoder(
    config: AlbertConfig, inputs: tf.Tensor, mask: Optional[tf.Tensor]
) -> Tuple[_EncoderContext, tf.Tensor]:
    """Returns (encoder of plain operations with stateful dropout, inputs as [T, H])."""
    batch, length, _ = get_shape_list(inputs, expected_rank=3)
    mask = tf.ones([batch, length]) if mask is None else mask
    sizes = [batch, length]
    encoder = _EncoderContext(
        config, _Dropout(None, plain), sizes, _attention_bias(mask, sizes), []
    )
    return encoder, reshape_to_matrix(inputs)


def transformer_model(
    input_tensor,
    attention_mask=None,
    hidden_size=768,
    num_hidden_layers=12,
    num_hidden_groups=12,
    num_attention_heads=12,
    intermediate_size=3072,
    inner_group_num=1,
    intermediate_act_fn="gelu",
    hidden_dropout_prob=0.1,
    attention_probs_dropout_prob=0.1,
    initializer_range=0.02,
    do_return_all_layers=False,
    use_einsum=True,
):
    """Returns the encoder's last output [B, S, H], or a list of the output of every block.

    The input [B, S, E] is projected to H if E is not H. The mask is int32 [B, S], 1 for tokens;
    None: no padding. Layers share weights as in `layer_groups`. `do_return_all_layers` returns the
    list. For the other arguments, see `attention_ffn_block`.

    Raises:
      ValueError: hidden_size is not a multiple of num_attention_heads.
    """
    config = _config_of(locals())
    check_heads(hidden_size, num_attention_heads)
    batch, length, width = get_shape_list(input_tensor, expected_rank=3)
    if width != hidden_size:
        options = (create_initializer(initializer_range), None, use_einsum)
        name = "embedding_hidden_mapping_in"
        input_tensor = dense_layer_2d(input_tensor, hidden_size, *options, name=name)
    encoder, hidden = _plain_encoder(config, input_tensor, attention_mask)
    weights = _SharedWeights(config, tf.float32)
    outputs = [
        tf.reshape(output, [batch, length, hidden_size])
        for output in _encode(encoder, hidden, weights)
    ]
    return outputs if do_return_all_layers else outputs[-1]
