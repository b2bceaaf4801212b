# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The ALBERT model: configuration, encoder and the two pretraining heads.

Paper: "ALBERT: A Lite BERT for Self-supervised Learning of Language Representations",
arXiv:1909.11942. Variable names are those of the released checkpoints and TF-Hub modules.

Dimensions: B batch, S sequence, T = B * S tokens, E embedding, H hidden, I intermediate, N heads,
D = H / N head size, V vocabulary, P predictions a sequence.
"""

import json
import re
import zlib
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import six
import tensorflow.compat.v1 as tf

from albert.ops import fused as fused_ops
from albert.ops import plain as layers
from albert.ops.plain import Dense, Norm, gelu
from albert.util import files, wording

SHARE_TYPES = ("all", "attention", "ffn", "none")
LAYER_NORM_TYPES = ("postln", "preln")
EMBEDDING_LAYOUTS = ("google", "albert_zh")

_ACTIVATIONS = {"linear": None, "relu": tf.nn.relu, "gelu": gelu, "tanh": tf.tanh}
_MASKED_SCORE = -10000.0


# ---- configuration -------------------------------------------------------------------------------


class AlbertConfig:
    """What decides a model's variables and computation; albert_config.json holds it.

    The defaults are the xxlarge model's. Keys of a JSON file that are not named here are kept and
    written back. Three keys choose variants; without them the model is Google's ALBERT:

      share_type: which part of a layer all layers share: "all", only the "attention" (each with
        its LayerNorm), only the "ffn", or "none". An unshared part has a group a layer.
      ln_type: "postln", or "preln": LayerNorm before each sub-layer and none at the end.
      embedding_layout: "google": LayerNorm(words + types + positions) in E, then projected to H;
        "albert_zh": words projected to H without bias, then types, positions and LayerNorm in H.
    """

    def __init__(
        self,
        vocab_size,
        embedding_size=128,
        hidden_size=4096,
        num_hidden_layers=12,
        num_hidden_groups=1,
        num_attention_heads=64,
        intermediate_size=16384,
        inner_group_num=1,
        down_scale_factor=1,
        hidden_act="gelu",
        hidden_dropout_prob=0,
        attention_probs_dropout_prob=0,
        max_position_embeddings=512,
        type_vocab_size=2,
        initializer_range=0.02,
        *,
        share_type="all",
        ln_type="postln",
        embedding_layout="google",
    ):
        """Keeps the settings; `validate` checks them, when a model is built or a file is read."""
        self.vocab_size = vocab_size
        self.embedding_size = embedding_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_hidden_groups = num_hidden_groups
        self.num_attention_heads = num_attention_heads
        self.intermediate_size = intermediate_size
        self.inner_group_num = inner_group_num
        self.down_scale_factor = down_scale_factor
        self.hidden_act = hidden_act
        self.hidden_dropout_prob = hidden_dropout_prob
        self.attention_probs_dropout_prob = attention_probs_dropout_prob
        self.max_position_embeddings = max_position_embeddings
        self.type_vocab_size = type_vocab_size
        self.initializer_range = initializer_range
        self.share_type = share_type
        self.ln_type = ln_type
        self.embedding_layout = embedding_layout

    @classmethod
    def from_dict(cls, json_object: Dict[str, Any]) -> "AlbertConfig":
        """Returns the config that a dict describes; unknown keys become attributes.

        Raises:
          ValueError: vocab_size is missing, a key is another one misspelt, or a value is out of
            its range.
        """
        if "vocab_size" not in json_object:
            raise ValueError(
                "The model config has no 'vocab_size'. Add the number of pieces in the vocabulary"
                f" (keys found: {', '.join(sorted(json_object)) or 'none'})."
            )
        config = cls(vocab_size=None)
        _check_spelling(json_object, known=list(config.__dict__))
        for key, value in json_object.items():
            setattr(config, key, value)
        config.validate()
        return config

    @classmethod
    def from_json_file(cls, json_file: str) -> "AlbertConfig":
        """Returns the config in a JSON file (local or gs://).

        Raises:
          ValueError: the file is missing, is not JSON, or holds a value out of its range; the
            message names the file.
        """
        if not tf.io.gfile.exists(json_file) or tf.io.gfile.isdir(json_file):
            raise ValueError(f"Model config {json_file!r} was not found.")
        try:
            settings = files.read_json_object(json_file)
        except ValueError as error:
            raise ValueError(f"Model config {error}") from None
        try:
            return cls.from_dict(settings)
        except ValueError as error:
            raise ValueError(f"Model config {json_file!r}: {error}") from error

    def to_dict(self) -> Dict[str, Any]:
        """Returns every setting. A variant's key that has Google's value is left out."""
        standard = {"share_type": "all", "ln_type": "postln", "embedding_layout": "google"}
        return {
            key: value
            for key, value in self.__dict__.items()
            if key not in standard or value != standard[key]
        }

    def to_json_string(self) -> str:
        """Returns the settings as indented JSON with sorted keys and a final newline."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True) + "\n"

    def validate(self) -> None:
        """Checks every setting.

        Raises:
          ValueError: a value is out of its range; the message names the key, the value and what
            is allowed.
        """
        for key in _POSITIVE_INTEGERS:
            _check_positive_integer(key, getattr(self, key))
        for key in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
            _check_probability(key, getattr(self, key))
        if isinstance(self.hidden_act, six.string_types):
            get_activation(self.hidden_act)
        if not _is_number(self.initializer_range) or self.initializer_range <= 0:
            raise ValueError(f"initializer_range must be positive, not {self.initializer_range!r}.")
        if self.hidden_size % self.num_attention_heads:
            raise ValueError(
                f"hidden_size {self.hidden_size} is not a multiple of num_attention_heads"
                f" {self.num_attention_heads}. Each head needs the same size."
            )
        if self.num_hidden_groups > self.num_hidden_layers:
            raise ValueError(
                f"num_hidden_groups {self.num_hidden_groups} exceeds num_hidden_layers"
                f" {self.num_hidden_layers}. Each group needs a layer."
            )
        for key, choices in _CHOICES.items():
            if getattr(self, key) not in choices:
                raise ValueError(
                    f"{key} {getattr(self, key)!r} is unknown. Choose one of: {', '.join(choices)}."
                )


_POSITIVE_INTEGERS = (
    "vocab_size",
    "embedding_size",
    "hidden_size",
    "num_hidden_layers",
    "num_hidden_groups",
    "num_attention_heads",
    "intermediate_size",
    "inner_group_num",
    "max_position_embeddings",
    "type_vocab_size",
)
_CHOICES = {
    "share_type": SHARE_TYPES,
    "ln_type": LAYER_NORM_TYPES,
    "embedding_layout": EMBEDDING_LAYOUTS,
}


def _check_spelling(given: Dict[str, Any], *, known: List[str]) -> None:
    """Refuses a key that is nearly a known one which is absent: its value would go unheard."""
    absent = [key for key in known if key not in given]
    for key in given:
        hint = wording.did_you_mean(key, absent, cutoff=0.85)
        if key not in known and hint:
            raise ValueError(f"Unknown key {key!r}.{hint} It is absent.")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_positive_integer(key: str, value: Any) -> None:
    if not isinstance(value, six.integer_types) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{key} must be a positive whole number, not {value!r}.")


def _check_probability(key: str, value: Any) -> None:
    if not _is_number(value) or not 0 <= value < 1:
        raise ValueError(f"{key} must be at least 0 and below 1, not {value!r}.")


# ---- encoder -------------------------------------------------------------------------------------


class _AttentionWeights(NamedTuple):
    """One block's attention: query, key and value as one product, output, LayerNorm."""

    query_key_value: Dense  # [H, 3H], [3H]; the query part is divided by sqrt(D)
    output: Dense  # [H, H], [H]
    norm: Norm


class _FeedForwardWeights(NamedTuple):
    """One block's feed-forward part with its LayerNorm."""

    intermediate: Dense  # [H, I], [I]
    output: Dense  # [I, H], [H]
    norm: Norm


class _Variables:
    """Makes variables by their path below the current scope, and their use-ready tensors once.

    Layers share weights, so whatever is done to a weight (the cast to the compute dtype, joining
    query, key and value) is done once a step here and not once a layer. With `hands_on` each use
    gets the weight by way of the use before, see `_handed_on`.
    """

    def __init__(self, config: AlbertConfig, dtype: tf.DType, *, hands_on: bool):
        self._config = config
        self._dtype = dtype
        self._hands_on = hands_on
        self._attention: Dict[Tuple[int, int], _AttentionWeights] = {}
        self._feed_forward: Dict[Tuple[int, int], _FeedForwardWeights] = {}

    def table(self, path: str, rows: int, columns: int) -> tf.Variable:
        """An embedding table or kernel, float32 [rows, columns]."""
        return get_weight(path, [rows, columns], self._config.initializer_range)

    def norm(self, path: str, size: int) -> Norm:
        """The weights of a LayerNorm."""
        return get_norm(path, size)

    def dense(self, path: str, rows: int, columns: int) -> Dense:
        """A kernel and a bias in the compute dtype."""
        return self._cast(self._affine(path, rows, columns))

    def attention(self, group: int, inner: int) -> _AttentionWeights:
        """The attention weights of an inner group, for one more layer."""
        return self._used_again(self._attention, (group, inner), self._make_attention)

    def feed_forward(self, group: int, inner: int) -> _FeedForwardWeights:
        """The feed-forward weights of an inner group, for one more layer."""
        return self._used_again(self._feed_forward, (group, inner), self._make_feed_forward)

    def _used_again(self, made: Dict, key: Tuple[int, int], make: Callable):
        """What `make` makes at the first use, or what the last use hands on."""
        if key not in made:
            made[key] = make(_block_path(*key))
        elif self._hands_on:
            made[key] = tf.nest.map_structure(_handed_on, made[key])
        return made[key]

    def _make_attention(self, path: str) -> _AttentionWeights:
        hidden = self._config.hidden_size
        query, key, value = (
            self._affine(f"{path}/attention_1/self/{name}", hidden, hidden)
            for name in ("query", "key", "value")
        )
        # Scaling the query's weights once replaces scaling the scores in every layer.
        scale = 1.0 / np.sqrt(hidden // self._config.num_attention_heads)
        joined = Dense(
            tf.concat([query.kernel * scale, key.kernel, value.kernel], axis=1),  # [H, 3H]
            tf.concat([query.bias * scale, key.bias, value.bias], axis=0),  # [3H]
        )
        return _AttentionWeights(
            query_key_value=self._cast(joined),
            output=self.dense(f"{path}/attention_1/output/dense", hidden, hidden),
            norm=self.norm(f"{path}/LayerNorm", hidden),
        )

    def _make_feed_forward(self, path: str) -> _FeedForwardWeights:
        hidden, inner = self._config.hidden_size, self._config.intermediate_size
        return _FeedForwardWeights(
            intermediate=self.dense(f"{path}/ffn_1/intermediate/dense", hidden, inner),
            output=self.dense(f"{path}/ffn_1/intermediate/output/dense", inner, hidden),
            norm=self.norm(f"{path}/LayerNorm_1", hidden),
        )

    def _affine(self, path: str, rows: int, columns: int) -> Dense:
        return get_dense(path, [rows, columns], self._config.initializer_range)

    def _cast(self, weights: Dense) -> Dense:
        return Dense(tf.cast(weights.kernel, self._dtype), tf.cast(weights.bias, self._dtype))


@tf.custom_gradient
def _handed_on(weight: tf.Tensor):
    """The weight itself, for the next layer that shares it.

    So the gradients of a shared weight are added up one by one while the backward pass goes
    through the layers; else those of all layers would be kept until they are added at once.
    (A Snapshot is a no-op. The graph optimizer would join sums that follow each other directly.)
    """
    return tf.identity(weight), lambda upstream: tf.raw_ops.Snapshot(input=upstream)


def _block_path(group: int, inner: int) -> str:
    return f"encoder/transformer/group_{group}/inner_group_{inner}"


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


def _never(tensors: Sequence[tf.Tensor]) -> tf.Tensor:
    """False (bool []) whatever the tensors hold, but no compiler knows before they are there."""
    firsts = [tf.cast(tf.reshape(tensor, [-1])[0], tf.float32) for tensor in tensors]
    return tf.sin(tf.clip_by_value(tf.add_n(firsts), -1.0, 1.0)) > 2.0


class _Encoder:
    """The stack of layers, on activations of shape [T, H]."""

    def __init__(self, config: AlbertConfig, batch_and_length: List, *, ops: Any, mask: tf.Tensor):
        self._config = config
        self._batch, self._length = batch_and_length
        self._ops = ops
        mask = tf.reshape(mask, [self._batch, 1, 1, self._length])
        self._mask_adder = (1.0 - tf.cast(mask, tf.float32)) * _MASKED_SCORE

    def block(
        self,
        inputs: tf.Tensor,
        attention: _AttentionWeights,
        feed_forward: _FeedForwardWeights,
        *,
        dropout: _Dropout,
        position: int,
    ) -> tf.Tensor:
        """One attention and one feed-forward sub-layer: [T, H] -> [T, H]."""
        ops, rate = self._ops, self._config.hidden_dropout_prob
        pre = self._config.ln_type == "preln"

        def sub_layer(x, function, *, norm, place):
            update = dropout(function(ops.layer_norm(x, norm) if pre else x), rate, place)
            return x + update if pre else ops.residual_layer_norm(x, update, norm)

        def attend(x):
            return self._attend(x, attention, dropout=dropout, position=position)

        def feed(x):
            activation = get_activation(self._config.hidden_act)
            return ops.feed_forward(
                x, feed_forward.intermediate, feed_forward.output, activation=activation
            )

        middle = sub_layer(inputs, attend, norm=attention.norm, place=position + 1)
        return sub_layer(middle, feed, norm=feed_forward.norm, place=position + 2)

    def _attend(self, inputs, weights: _AttentionWeights, *, dropout: _Dropout, position: int):
        """Multi-head self-attention, [T, H] -> [T, H], before its dropout and residual."""
        config, ops = self._config, self._ops
        heads, size = config.num_attention_heads, config.hidden_size // config.num_attention_heads
        joined = ops.dense(inputs, weights.query_key_value)  # [T, 3H]
        # Four dimensions: TensorFlow Lite of 1.15 does not move more.
        split = tf.reshape(joined, [self._batch, self._length, 3 * heads, size])
        split = tf.transpose(split, [0, 2, 1, 3])  # [B, 3N, S, D]
        query, key, value = tf.raw_ops.Split(axis=1, value=split, num_split=3)  # [B, N, S, D] each
        scores = tf.matmul(query, key, transpose_b=True)  # [B, N, S, S]
        probabilities = ops.masked_softmax(scores, self._mask_adder)
        probabilities = dropout(probabilities, config.attention_probs_dropout_prob, position)
        context = tf.matmul(probabilities, value)  # [B, N, S, D]
        context = tf.transpose(context, [0, 2, 1, 3])  # [B, S, N, D]
        return ops.dense(tf.reshape(context, [-1, config.hidden_size]), weights.output)  # [T, H]

    def recomputed_block(
        self,
        inputs: tf.Tensor,
        attention: _AttentionWeights,
        feed_forward: _FeedForwardWeights,
        *,
        dropout: _Dropout,
        position: int,
    ) -> tf.Tensor:
        """`block`, of which only the inputs are kept for the backward pass (arXiv:1604.06174)."""
        seed = [] if dropout.seed is None else [dropout.seed]
        if not seed and (
            self._config.hidden_dropout_prob or self._config.attention_probs_dropout_prob
        ):
            raise ValueError("Recomputing activations under dropout needs `dropout_seed`.")
        weights = tf.nest.flatten([attention, feed_forward])

        def run(tensors):
            x, *rest = tensors
            drop = dropout._replace(seed=rest.pop()) if seed else dropout
            parts = tf.nest.pack_sequence_as([attention, feed_forward], rest)
            return self.block(x, *parts, dropout=drop, position=position)

        @tf.custom_gradient
        def recomputed(*tensors):
            def gradient(upstream):
                # The control dependencies hold the second forward pass back until its gradient is
                # due, and keep the graph optimizer from merging it with the first. XLA drops them,
                # and needs a reason in the numbers: what is chosen here never comes to be.
                with tf.control_dependencies([upstream]):
                    again = [tf.identity(tensor) for tensor in tensors]
                never = _never([upstream])
                again[0] = tf.where(never, upstream, again[0])
                if seed:
                    again[-1] = tf.where(never, -again[-1], again[-1])
                below, *others = tf.gradients(run(again), again, grad_ys=upstream)
                # Or else XLA leaves the weights' gradients to the end, and keeps what they need.
                never = _never([item for item in others if item is not None])
                return [tf.where(never, upstream, below), *others]

            return run(list(tensors)), gradient

        return recomputed(inputs, *weights, *seed)


class AlbertModel:
    """The encoder: token ids in; sequence, pooled and per-layer outputs out.

    Example:

        config = modeling.AlbertConfig.from_json_file("albert_config.json")
        model = modeling.AlbertModel(config, is_training=False, input_ids=ids, input_mask=mask)
        vectors = model.get_pooled_output()  # [B, H]
    """

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
    ):
        """Builds the graph of the encoder.

        Args:
          config: AlbertConfig.
          is_training: Python bool; False sets both dropout rates to 0.
          input_ids: int32 [B, S].
          input_mask: int32 [B, S], 1 for tokens and 0 for padding; ones when None.
          token_type_ids: int32 [B, S]; zeros when None.
          use_one_hot_embeddings: look words up by a product with one-hot rows (TPU).
          use_einsum: taken for the sake of existing callers; there is one graph, of 2-D products.
          scope: variable scope; "bert" when None.
          compute_dtype: dtype of matrix products and activations.
          recompute: keep only each block's input and compute the rest again in the backward pass.
          use_xla: compiled element-wise clusters with gradients of their own (`fused_ops`) in
            place of plain operations (`layers`). Not for graphs that are exported.
          dropout_seed: int32 [2], normally (seed, global step); dropout masks are a function of
            it. None draws stateful random numbers.

        Raises:
          ValueError: the config has a value out of its range, the inputs' rank is wrong, the
            sequence is longer than the position table, or recomputation under stateful dropout.
        """
        del use_einsum
        config.validate()
        self._config = _without_dropout(config) if not is_training else config
        self._ops = fused_ops if use_xla else layers
        self._dropout = _Dropout(dropout_seed, self._ops)
        batch, length = self._shape = _checked_shape(input_ids, config)
        if input_mask is None:
            input_mask = tf.ones([batch, length], tf.int32)
        if token_type_ids is None:
            token_type_ids = tf.zeros([batch, length], tf.int32)

        with tf.variable_scope(scope, default_name="bert"):
            # Graphs of plain operations are differentiated elsewhere, by TensorFlow's gradients.
            variables = _Variables(self._config, compute_dtype, hands_on=is_training and use_xla)
            hidden = self._embed(
                variables, input_ids, token_type_ids, one_hot=use_one_hot_embeddings
            )
            encoder = _Encoder(self._config, self._shape, ops=self._ops, mask=input_mask)
            self._layers = self._encode(
                encoder, variables, tf.cast(hidden, compute_dtype), recompute=recompute
            )
            self._pooled_output = self._pool()

    def _embed(self, variables, input_ids, token_type_ids, *, one_hot: bool) -> tf.Tensor:
        """Sums words, types and positions; gives the encoder's input [T, H] in float32."""
        config = self._config
        embedding, hidden = config.embedding_size, config.hidden_size
        table = variables.table("embeddings/word_embeddings", config.vocab_size, embedding)
        words = _look_up(table, tf.reshape(input_ids, [-1]), one_hot=one_hot)
        self._embedding_table = table
        self._word_embeddings = words
        self._projection = None
        if config.embedding_layout == "google":
            output = self._add_types_and_positions(
                variables, words, token_type_ids, one_hot=one_hot
            )
            self._embeddings = output
            if embedding == hidden:
                return output
            mapping = get_dense(_MAPPING, [embedding, hidden], config.initializer_range)
            return layers.dense(output, mapping)  # [T, H]
        if embedding != hidden:
            self._projection = variables.table(f"{_MAPPING}/kernel", embedding, hidden)
            words = tf.matmul(words, self._projection)  # [T, H]
        output = self._add_types_and_positions(variables, words, token_type_ids, one_hot=one_hot)
        self._embeddings = output
        return output

    def _add_types_and_positions(
        self, variables, words, token_type_ids, *, one_hot: bool
    ) -> tf.Tensor:
        """LayerNorm(words + types + positions) with dropout; [T, width] in float32."""
        config, width = self._config, int(words.shape[-1])
        batch, length = self._shape
        types = variables.table("embeddings/token_type_embeddings", config.type_vocab_size, width)
        positions = variables.table(
            "embeddings/position_embeddings", config.max_position_embeddings, width
        )
        # A lookup, not the faster product with one-hot rows: the clipping norm of a lookup counts
        # repeated ids separately, and training has to follow the published implementation.
        total = words + _look_up(types, tf.reshape(token_type_ids, [-1]), one_hot=one_hot)
        total = tf.reshape(total, [batch, length, width])
        total += tf.slice(positions, [0, 0], [length, -1])  # [S, width] over the batch
        total = tf.reshape(total, [-1, width])  # [T, width]
        output = self._ops.layer_norm(total, variables.norm("embeddings/LayerNorm", width))
        return self._dropout(output, config.hidden_dropout_prob, 0)

    def _encode(self, encoder, variables, hidden, *, recompute) -> List[tf.Tensor]:
        """Runs all layers; gives the output [T, H] of every inner block."""
        config = self._config
        block = encoder.recomputed_block if recompute else encoder.block
        outputs: List[tf.Tensor] = []
        for layer in range(config.num_hidden_layers):
            groups = layer_groups(config, layer)
            for inner in range(config.inner_group_num):
                # Three dropouts a block; position 0 is the embedding's.
                position = 1 + 3 * len(outputs)
                attention = variables.attention(groups.attention, inner)
                feed_forward = variables.feed_forward(groups.feed_forward, inner)
                hidden = block(
                    hidden, attention, feed_forward, dropout=self._dropout, position=position
                )
                outputs.append(hidden)
        return outputs

    def _pool(self) -> tf.Tensor:
        """tanh dense layer on the first token: [B, H]."""
        hidden = self._config.hidden_size
        first = self.get_sequence_output()[:, 0, :]  # [B, H]
        weights = get_dense("pooler/dense", [hidden, hidden], self._config.initializer_range)
        return tf.tanh(layers.dense(first, weights))

    def _as_sequence(self, tokens: tf.Tensor) -> tf.Tensor:
        """[T, width] in any dtype -> float32 [B, S, width]."""
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

    def get_word_embedding_output(self) -> tf.Tensor:
        """Returns the word embeddings before positions and types, float32 [B, S, E]."""
        return self._as_sequence(self._word_embeddings)

    def get_embedding_output(self) -> tf.Tensor:
        """Returns the embedding layer's output, float32 [B, S, E] ([B, S, H] for albert_zh's)."""
        return self._as_sequence(self._embeddings)

    def get_embedding_table(self) -> tf.Variable:
        """Returns the word embedding table, float32 [V, E]."""
        return self._embedding_table

    def get_embedding_projection(self) -> Optional[tf.Variable]:
        """Returns albert_zh's projection of words, float32 [E, H]; None in Google's layout."""
        return self._projection

    # The same by the names of the public script's attributes.
    pooled_output = property(get_pooled_output)
    sequence_output = property(get_sequence_output)
    all_encoder_layers = property(get_all_encoder_layers)
    word_embedding_output = property(get_word_embedding_output)
    embedding_output = property(get_embedding_output)
    output_embedding_table = property(get_embedding_table)


_MAPPING = "encoder/embedding_hidden_mapping_in"


class LayerGroups(NamedTuple):
    """The groups whose weights a layer's two parts use."""

    attention: int
    feed_forward: int


def layer_groups(config: AlbertConfig, layer: int) -> LayerGroups:
    """Returns the groups of a layer.

    A shared part follows num_hidden_groups (section 3.1 of the paper and the public script); an
    unshared part (`share_type`) has the layer's own number.
    """
    shared = layer * config.num_hidden_groups // config.num_hidden_layers
    return LayerGroups(
        attention=shared if config.share_type in ("all", "attention") else layer,
        feed_forward=shared if config.share_type in ("all", "ffn") else layer,
    )


def _checked_shape(input_ids: tf.Tensor, config: AlbertConfig) -> List:
    """[B, S] of the input, which must be no longer than the position table."""
    batch, length = get_shape_list(input_ids, expected_rank=2)
    if isinstance(length, int) and length > config.max_position_embeddings:
        raise ValueError(
            f"The sequence length {length} exceeds max_position_embeddings"
            f" {config.max_position_embeddings} of the model config."
        )
    return [batch, length]


def _without_dropout(config: AlbertConfig) -> AlbertConfig:
    settings = dict(config.__dict__, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return AlbertConfig.from_dict(settings)


def _look_up(table: tf.Variable, ids: tf.Tensor, *, one_hot: bool) -> tf.Tensor:
    """Rows of a table [V, width] for ids [T]: [T, width]."""
    if one_hot:
        return tf.matmul(tf.one_hot(ids, int(table.shape[0])), table)
    return tf.nn.embedding_lookup(table, ids)


# ---- pretraining heads ---------------------------------------------------------------------------


class HeadOutput(NamedTuple):
    """What a pretraining head gives."""

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
):
    """Predicts masked words (arXiv:1909.11942, section 3; arXiv:1810.04805, section 3.1).

    Args:
      albert_config: AlbertConfig.
      input_tensor: sequence output, float32 [B, S, H].
      output_weights: word embedding table, float32 [V, E].
      positions: masked positions, int32 [B, P].
      label_ids: the words there, int32 [B, P].
      label_weights: float32 [B, P]; 0 where a slot is padding.
      projection: albert_zh's projection [E, H]; the head then works in H and shares it.

    Returns:
      HeadOutput: loss = sum(weight * nll) / (sum(weight) + 1e-5).
    """
    logits = masked_lm_logits(
        albert_config, input_tensor, output_weights, positions=positions, projection=projection
    )
    labels = tf.reshape(label_ids, [-1])
    example_weights = tf.cast(tf.reshape(label_weights, [-1]), tf.float32)
    per_example = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    total_weight = tf.reduce_sum(example_weights) + 1e-5
    loss = tf.reduce_sum(example_weights * per_example) / total_weight
    return HeadOutput(loss, per_example, tf.nn.log_softmax(logits))


def masked_lm_logits(
    albert_config: AlbertConfig,
    input_tensor: tf.Tensor,
    output_weights: tf.Tensor,
    *,
    positions: tf.Tensor,
    projection: Optional[tf.Tensor] = None,
) -> tf.Tensor:
    """Returns the logits of the words at positions [B, P]: float32 [B * P, V].

    The arguments are those of `get_masked_lm_output`.
    """
    hidden = albert_config.hidden_size
    width = (
        hidden if albert_config.embedding_layout == "albert_zh" else (albert_config.embedding_size)
    )
    masked = gather_indexes(input_tensor, positions)  # [B * P, H]
    path = "cls/predictions/transform"
    weights = get_dense(f"{path}/dense", [hidden, width], albert_config.initializer_range)
    activation = get_activation(albert_config.hidden_act)
    transformed = layers.dense(masked, weights)
    transformed = activation(transformed) if activation else transformed
    transformed = layers.layer_norm(transformed, get_norm(f"{path}/LayerNorm", width))
    if projection is not None:
        transformed = tf.matmul(transformed, projection, transpose_b=True)  # [B * P, E]
    bias = tf.get_variable(
        "cls/predictions/output_bias",
        [albert_config.vocab_size],
        initializer=tf.zeros_initializer(),
    )
    logits = tf.matmul(transformed, output_weights, transpose_b=True)  # [B * P, V]
    return tf.nn.bias_add(logits, bias)


def get_sentence_order_output(albert_config, input_tensor, labels):
    """Predicts whether two segments were swapped (arXiv:1909.11942, section 3.1).

    Args:
      albert_config: AlbertConfig.
      input_tensor: pooled output, float32 [B, H].
      labels: int32 [B] or [B, 1]; 1 where the segments are swapped.

    Returns:
      HeadOutput: the loss is the mean cross entropy over the batch.
    """
    logits = sentence_order_logits(albert_config, input_tensor)
    per_example = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.reshape(labels, [-1]), logits=logits
    )
    return HeadOutput(tf.reduce_mean(per_example), per_example, tf.nn.log_softmax(logits))


def sentence_order_logits(albert_config: AlbertConfig, input_tensor: tf.Tensor) -> tf.Tensor:
    """Returns the logits of the two orders for a pooled output [B, H]: float32 [B, 2]."""
    weights = get_weight(
        "cls/seq_relationship/output_weights",
        [2, albert_config.hidden_size],
        albert_config.initializer_range,
    )
    bias = tf.get_variable(
        "cls/seq_relationship/output_bias", [2], initializer=tf.zeros_initializer()
    )
    return tf.nn.bias_add(tf.matmul(input_tensor, weights, transpose_b=True), bias)


def gather_indexes(sequence_tensor: tf.Tensor, positions: tf.Tensor) -> tf.Tensor:
    """Returns the vectors [B * P, H] at `positions` [B, P] of a sequence [B, S, H]."""
    batch, length, width = get_shape_list(sequence_tensor, expected_rank=3)
    offsets = tf.reshape(tf.range(0, batch, dtype=positions.dtype) * length, [-1, 1])
    flat_positions = tf.reshape(positions + offsets, [-1])  # [B * P]
    return tf.gather(tf.reshape(sequence_tensor, [-1, width]), flat_positions)


# ---- weights -------------------------------------------------------------------------------------


def create_initializer(initializer_range=0.02, name=None):
    """Returns the initializer of kernels and tables: a normal truncated at two deviations.

    Args:
      initializer_range: the deviation.
      name: the variable's full name. With it, and with a graph seed (tf.set_random_seed, or
        RunConfig.tf_random_seed), the values are a function of seed and name alone: the same on
        every runtime and however the graph is built.

    Returns:
      A function of (shape, dtype) for tf.get_variable.
    """
    graph_seed = tf.get_default_graph().seed
    if name is None or graph_seed is None:
        return tf.truncated_normal_initializer(stddev=initializer_range)
    key = [graph_seed, zlib.crc32(six.ensure_binary(name))]

    def initializer(shape, dtype=tf.float32, partition_info=None):
        del partition_info
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
    """Returns the float32 variables `path`/kernel of a shape and `path`/bias, zeros."""
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
    """Returns which variables take which value of a checkpoint.

    Args:
      tvars: the model's variables.
      init_checkpoint: checkpoint prefix.
      num_of_group: with more than 1, a variable of group n that the checkpoint lacks takes the
        value of group 0.

    Returns:
      (assignment map, initialised names). The map goes from checkpoint name to variable name, as
      tf.train.init_from_checkpoint takes it; with num_of_group > 0 it is a list of such maps, one
      a group, since one value may go to several variables. The second result is a dict that holds
      each initialised variable's name, with and without ":0".
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
        place = int(group.group(1)) if group and num_of_group > 0 else 0
        maps[min(place, len(maps) - 1)][source] = name
        initialized[name] = 1
        initialized[name + ":0"] = 1
    return (maps if num_of_group > 0 else maps[0]), initialized


# ---- functions of the public script that user code imports ---------------------------------------


def get_activation(activation_string) -> Optional[Callable]:
    """Returns the activation function of a name.

    Args:
      activation_string: "linear", "relu", "gelu" or "tanh" in any case; None and "" mean none;
        anything that is not a string is returned as it is.

    Raises:
      ValueError: the name is unknown.
    """
    if not isinstance(activation_string, six.string_types):
        return activation_string
    name = activation_string.lower()
    if not name:
        return None
    if name not in _ACTIVATIONS:
        raise ValueError(
            f"Unknown activation {activation_string!r}. Choose one of: {', '.join(_ACTIVATIONS)}."
        )
    return _ACTIVATIONS[name]


def dropout(
    input_tensor: tf.Tensor,
    dropout_prob: Optional[float],
    *,
    seed: Optional[tf.Tensor] = None,
    position: int = -1,
) -> tf.Tensor:
    """Returns the tensor with dropout; itself for a probability of None or 0.

    Args:
      input_tensor: of any shape.
      dropout_prob: probability of a zero.
      seed: int32 [2], of which the mask is a function; None draws stateful random numbers.
      position: keeps the masks of one seed apart; those of the encoder are not negative.
    """
    return _Dropout(seed, layers)(input_tensor, dropout_prob or 0, position)


def layer_norm(input_tensor: tf.Tensor, name: Optional[str] = None) -> tf.Tensor:
    """Returns LayerNorm over the last axis, with variables `name`/beta and `name`/gamma.

    Without a name the first one in a scope is LayerNorm, the second LayerNorm_1, and so on.
    """
    with tf.variable_scope(name, default_name="LayerNorm"):
        norm = get_norm("", int(input_tensor.shape[-1]))
    return layers.layer_norm(input_tensor, norm)


def layer_norm_and_dropout(input_tensor, dropout_prob, name=None) -> tf.Tensor:
    """Returns dropout(LayerNorm(input))."""
    return dropout(layer_norm(input_tensor, name), dropout_prob)


def get_shape_list(tensor, expected_rank=None, name=None) -> List:
    """Returns the dimensions of a tensor: ints where known, scalar tensors elsewhere.

    Raises:
      ValueError: the rank is not `expected_rank` (an int or a list of ints).
    """
    if expected_rank is not None:
        assert_rank(tensor, expected_rank, name)
    static = tensor.shape.as_list()
    if None not in static:
        return static
    dynamic = tf.shape(tensor)
    return [dynamic[i] if size is None else size for i, size in enumerate(static)]


def assert_rank(tensor, expected_rank, name=None) -> None:
    """Checks a tensor's rank.

    Raises:
      ValueError: the rank is not `expected_rank` (an int or a list of ints).
    """
    allowed = [expected_rank] if isinstance(expected_rank, int) else list(expected_rank)
    if tensor.shape.ndims not in allowed:
        raise ValueError(
            f"Tensor {name or tensor.name!r} has rank {tensor.shape.ndims} (shape"
            f" {tensor.shape}), expected rank {' or '.join(map(str, allowed))}."
        )


def reshape_to_matrix(input_tensor: tf.Tensor) -> tf.Tensor:
    """Returns a tensor of rank 2 or more as a matrix that keeps the last dimension.

    Raises:
      ValueError: the rank is below 2.
    """
    if input_tensor.shape.ndims < 2:
        raise ValueError(f"A matrix needs at least rank 2, not shape {input_tensor.shape}.")
    return tf.reshape(input_tensor, [-1, int(input_tensor.shape[-1])])


def reshape_from_matrix(output_tensor: tf.Tensor, orig_shape_list: List) -> tf.Tensor:
    """Returns a matrix in the original leading dimensions, with its own last dimension."""
    return tf.reshape(output_tensor, [*orig_shape_list[:-1], int(output_tensor.shape[-1])])


# ---- the parts of the model as functions, for programs that compose their own --------------------
#
# With the public script's names, arguments and variables. AlbertModel gives the same numbers in
# less time: it joins and casts shared weights once a step.


def get_timing_signal_1d_given_position(
    channels, position, min_timescale=1.0, max_timescale=1.0e4
) -> tf.Tensor:
    """Returns sines, then cosines, of positions (arXiv:1706.03762, section 3.5).

    Args:
      channels: width; where it is odd the last channel is 0.
      position: [B, S].
      min_timescale, max_timescale: the angles grow by min_timescale a position in the first channel
        and by min_timescale^2 / max_timescale in the last.

    Returns:
      float32 [B, S, channels].
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
    """Looks words up in a table that it makes.

    Args:
      input_ids: int32 [B, S], or [B, S, n] for n words a place.
      vocab_size: V.
      embedding_size: E.
      initializer_range: deviation of the table's first values.
      word_embedding_name: the table's name below the current scope.
      use_one_hot_embeddings: look up by a product with one-hot rows (TPU).

    Returns:
      (float32 [B, S, E] or [B, S, n * E], the table [V, E]).
    """
    table = get_weight(word_embedding_name, [vocab_size, embedding_size], initializer_range)
    words = _look_up(table, tf.reshape(input_ids, [-1]), one_hot=use_one_hot_embeddings)
    batch, length, *several = get_shape_list(input_ids, expected_rank=[2, 3])
    width = embedding_size * (several[0] if several else 1)
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

    Args:
      input_tensor: words, float32 [B, S, E].
      use_token_type: add the embeddings of `token_type_ids`, int32 [B, S].
      token_type_vocab_size, token_type_embedding_name: of the table of types.
      use_position_embeddings: add a learned vector for each position.
      position_embedding_name, max_position_embeddings: of the table of positions.
      initializer_range: deviation of the tables' first values.
      dropout_prob: of the dropout at the end.
      use_one_hot_embeddings: look types up by a product with one-hot rows.

    Raises:
      ValueError: types are asked for and not given, or the sequence is longer than the table.
    """
    batch, length, width = get_shape_list(input_tensor, expected_rank=3)
    output = input_tensor
    if use_token_type:
        if token_type_ids is None:
            raise ValueError("use_token_type needs token_type_ids. Give them, or leave both out.")
        table = get_weight(
            token_type_embedding_name, [token_type_vocab_size, width], initializer_range
        )
        types = _look_up(table, tf.reshape(token_type_ids, [-1]), one_hot=use_one_hot_embeddings)
        output += tf.reshape(types, [batch, length, width])
    if use_position_embeddings:
        if isinstance(length, int) and length > max_position_embeddings:
            raise ValueError(
                f"The sequence length {length} exceeds max_position_embeddings"
                f" {max_position_embeddings}."
            )
        shape = [max_position_embeddings, width]
        positions = get_weight(position_embedding_name, shape, initializer_range)
        output += tf.slice(positions, [0, 0], [length, -1])  # [S, E] over the batch
    return layer_norm_and_dropout(output, dropout_prob)


def einsum_via_matmul(input_tensor, w, num_inner_dims) -> tf.Tensor:
    """Returns the product over the last `num_inner_dims` dimensions, as one of matrices.

    Args:
      input_tensor: [*outer, *inner].
      w: [*inner, *new], of static shape.
      num_inner_dims: the number of inner dimensions.

    Returns:
      [*outer, *new].
    """
    inner, new = np.split(w.shape.as_list(), [num_inner_dims])
    outer = get_shape_list(input_tensor)[:-num_inner_dims]
    rows = tf.reshape(input_tensor, [-1, np.prod(inner)])
    product = tf.matmul(rows, tf.reshape(w, [np.prod(inner), -1]))
    return tf.reshape(product, [*outer, *new])


def _dense_layer(
    input_tensor, shape: List[int], *, num_inner_dims=1, initializer, activation, name
) -> tf.Tensor:
    """An affine layer of that shape whose variables are a matrix and a vector."""
    inner, outer = shape[:num_inner_dims], shape[num_inner_dims:]
    columns = int(np.prod(outer))
    with tf.variable_scope(name, default_name="dense"):
        kernel = tf.get_variable("kernel", [np.prod(inner), columns], initializer=initializer)
        bias = tf.get_variable("bias", [columns], initializer=tf.zeros_initializer())
    output = einsum_via_matmul(input_tensor, tf.reshape(kernel, shape), num_inner_dims)
    output += tf.reshape(bias, outer)
    return activation(output) if activation else output


def dense_layer_3d(
    input_tensor, num_attention_heads, head_size, initializer, activation, use_einsum, name=None
) -> tf.Tensor:
    """Returns a dense layer split into heads, [B, S, N, D].

    Args:
      input_tensor: [B, S, H].
      num_attention_heads, head_size: N and D; the variables are kernel [H, N * D], bias [N * D].
      initializer: of the kernel.
      activation: a function of the output, or None.
      use_einsum: taken for the sake of existing callers; both give the same.
      name: scope of the variables.
    """
    del use_einsum
    shape = [int(input_tensor.shape[-1]), num_attention_heads, head_size]
    return _dense_layer(
        input_tensor, shape, initializer=initializer, activation=activation, name=name
    )


def dense_layer_3d_proj(
    input_tensor, hidden_size, head_size, initializer, activation, use_einsum, name=None
) -> tf.Tensor:
    """Returns a dense layer on all heads together, [B, S, H].

    Args:
      input_tensor: [B, S, N, D].
      hidden_size, head_size: H and D; the variables are kernel [N * D, H], bias [H].
      initializer, activation, use_einsum, name: see `dense_layer_3d`.
    """
    del use_einsum
    return _dense_layer(
        input_tensor,
        [int(input_tensor.shape[2]), head_size, hidden_size],
        num_inner_dims=2,
        initializer=initializer,
        activation=activation,
        name=name,
    )


def dense_layer_2d(
    input_tensor,
    output_size,
    initializer,
    activation,
    use_einsum,
    num_attention_heads=1,
    name=None,
) -> tf.Tensor:
    """Returns a dense layer, [B, S, output_size].

    Args:
      input_tensor: [B, S, H].
      output_size: of the variables kernel [H, output_size] and bias [output_size].
      num_attention_heads: without effect.
      initializer, activation, use_einsum, name: see `dense_layer_3d`.
    """
    del use_einsum, num_attention_heads
    shape = [int(input_tensor.shape[-1]), output_size]
    return _dense_layer(
        input_tensor, shape, initializer=initializer, activation=activation, name=name
    )


def dot_product_attention(q, k, v, bias, dropout_rate=0.0) -> tf.Tensor:
    """Returns attention (arXiv:1706.03762, section 3.2.1), [..., F, D].

    Args:
      q: [..., F, D].
      k, v: [..., T, D].
      bias: the mask, 1 where attention may go and 0 elsewhere, [B, 1, T, 1]; None for no mask.
      dropout_rate: of the probabilities.
    """
    scores = tf.matmul(q, k, transpose_b=True) / np.sqrt(int(q.shape[-1]))  # [..., F, T]
    adder = 0.0
    if bias is not None:
        mask = tf.linalg.matrix_transpose(tf.cast(bias, tf.float32))  # [B, 1, 1, T]
        adder = (1.0 - mask) * _MASKED_SCORE
    return tf.matmul(dropout(layers.masked_softmax(scores, adder), dropout_rate), v)


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
    """Returns attention of many heads, before its output layer: [B, F, N, D].

    Args:
      from_tensor: [B, F, H], or [B * F, H] with the next sizes given.
      to_tensor: [B, T, H] or [B * T, H].
      attention_mask: int32 [B, T], 1 where attention may go and 0 elsewhere.
      num_attention_heads: N; the variables are query, key and value, each kernel and bias.
      query_act, key_act, value_act: activations, or None.
      attention_probs_dropout_prob: of the dropout of the probabilities.
      initializer_range: deviation of the kernels' first values.
      batch_size, from_seq_length, to_seq_length: B, F and T of matrices.
      use_einsum: see `dense_layer_3d`.

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

    def heads(tensor, activation, name):
        initializer = create_initializer(initializer_range)
        split = dense_layer_3d(
            tensor, num_attention_heads, size, initializer, activation, use_einsum, name
        )
        return tf.transpose(split, [0, 2, 1, 3])  # [B, N, S, D]

    query = heads(from_tensor, query_act, "query")
    key, value = heads(to_tensor, key_act, "key"), heads(to_tensor, value_act, "value")
    if attention_mask is not None:
        batch, length = get_shape_list(to_tensor)[:2]
        attention_mask = tf.reshape(attention_mask, [batch, 1, length, 1])
    context = dot_product_attention(query, key, value, attention_mask, attention_probs_dropout_prob)
    return tf.transpose(context, [0, 2, 1, 3])  # [B, F, N, D]


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

    Args:
      layer_input: [B, S, H].
      hidden_size, num_attention_heads, attention_head_size, intermediate_size: H, N, D and I.
      attention_mask, attention_probs_dropout_prob, use_einsum: see `attention_layer`.
      intermediate_act_fn: the activation's name, a function, or None.
      initializer_range: deviation of the kernels' first values.
      hidden_dropout_prob: of the dropout of each sub-layer's output.
    """
    options = {
        "initializer": create_initializer(initializer_range),
        "use_einsum": use_einsum,
        "name": "dense",
    }
    with tf.variable_scope("attention_1"):
        with tf.variable_scope("self"):
            context = attention_layer(
                layer_input,
                layer_input,
                attention_mask,
                num_attention_heads,
                attention_probs_dropout_prob=attention_probs_dropout_prob,
                initializer_range=initializer_range,
                use_einsum=use_einsum,
            )
        with tf.variable_scope("output"):
            attended = dense_layer_3d_proj(
                context, hidden_size, attention_head_size, activation=None, **options
            )
    middle = layer_norm(layer_input + dropout(attended, hidden_dropout_prob))
    with tf.variable_scope("ffn_1/intermediate"):
        activation = get_activation(intermediate_act_fn)
        inner = dense_layer_2d(middle, intermediate_size, activation=activation, **options)
        with tf.variable_scope("output"):
            update = dense_layer_2d(inner, hidden_size, activation=None, **options)
    return layer_norm(middle + dropout(update, hidden_dropout_prob))


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

    Args:
      input_tensor: [B, S, E]; projected to H where E is not H.
      attention_mask: int32 [B, S], 1 for tokens and 0 for padding; None for no padding.
      num_hidden_layers, num_hidden_groups, inner_group_num: see the module's `layer_groups`.
      do_return_all_layers: return the list.
      others: as of `attention_ffn_block`.

    Raises:
      ValueError: hidden_size is not a multiple of num_attention_heads.
    """
    if hidden_size % num_attention_heads:
        raise ValueError(
            f"hidden_size {hidden_size} is not a multiple of num_attention_heads"
            f" {num_attention_heads}. Each head needs the same size."
        )
    hidden, outputs = input_tensor, []
    if get_shape_list(input_tensor, expected_rank=3)[-1] != hidden_size:
        initializer = create_initializer(initializer_range)
        name = "embedding_hidden_mapping_in"
        hidden = dense_layer_2d(hidden, hidden_size, initializer, None, use_einsum, name=name)
    for block in range(num_hidden_layers * inner_group_num):
        layer, inner = divmod(block, inner_group_num)
        group = layer * num_hidden_groups // num_hidden_layers
        path = f"transformer/group_{group}/inner_group_{inner}"
        with tf.variable_scope(path, reuse=tf.AUTO_REUSE):
            hidden = attention_ffn_block(
                hidden,
                hidden_size=hidden_size,
                attention_mask=attention_mask,
                num_attention_heads=num_attention_heads,
                attention_head_size=hidden_size // num_attention_heads,
                attention_probs_dropout_prob=attention_probs_dropout_prob,
                intermediate_size=intermediate_size,
                intermediate_act_fn=intermediate_act_fn,
                initializer_range=initializer_range,
                hidden_dropout_prob=hidden_dropout_prob,
                use_einsum=use_einsum,
            )
        outputs.append(hidden)
    return outputs if do_return_all_layers else hidden
